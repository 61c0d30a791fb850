"""Ranks as processes, messages by MPI: Open MPI, MPICH or another, through mpi4py.

MPI knows no patience: a receive from a process that is gone waits for ever, or the launcher ends everything. So each
message is a nonblocking call here, asked again and again whether it is done, with a limit; in between this rank looks
whether another has given up or has ended (`notices`).

Source: MPI Forum, "MPI", 3.7 (nonblocking communication); L. Dalcin and Y.-L. Fang (2021), "mpi4py: Status Update After
12 Years of Development".
"""

import atexit
import contextlib
import ctypes
import os
import sys
import time
import zlib

from course_lib.parallel.errors import AGAIN, RankError, told
from course_lib.parallel.notices import Notices
from course_lib.parallel.world import PATIENCE, World

INSTALL = "python -m pip install -e '.[mpi]' in the course folder (Windows: README.md, \"Ranks\")"

SPIN, RATE = 0.0002, 0.25e9
"""Seconds, and bytes a second: so long a message is asked for without a pause. It only moves while it is asked for."""

PAUSE = 0.001
"""Seconds, at most, between two questions after that."""

LAST = 0.5
"""Seconds in which a message of a rank that has ended may still arrive."""

ANSWER = 2.0
"""Seconds in which a rank that waits answers whom it waits for."""

OTHER_KIND = "All ranks must agree on shapes and dtypes: do they have equal networks and batches?"

_LEFT = []
"""Buffers of messages that were given up: MPI may still write into them, so they live as long as the process."""

_state = {"broken": False, "status": 1}


def load():
    """Return the module mpi4py.MPI, started so that threads may use it.

    Raises
    ------
    ImportError
        If mpi4py or an MPI library is missing; the message says how to install them.

    Source: mpi4py's documentation, "mpi4py.rc".
    """
    try:
        import mpi4py

        first = "mpi4py.MPI" not in sys.modules
        if first:
            mpi4py.rc.finalize = False  # it would wait for ranks that are gone: `_end` decides
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        first_line = str(error).splitlines()[0]
        raise ImportError(f"ranks as processes need MPI: {first_line}. Install it: {INSTALL}.") from error
    if first:
        atexit.register(_end, MPI)
    return MPI


def _end(mpi):
    """End MPI together; after a failure leave without it, since it would wait for ever."""
    if not _state["broken"]:
        mpi.Finalize()
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(_state["status"])


@contextlib.contextmanager
def joined(patience=PATIENCE, ranks=None):
    """Give this process's `MpiWorld` for `with`; an error within is told to the other ranks.

    Raises
    ------
    ImportError
        As `load`.
    ValueError
        If `ranks` is given and is not how many there are.
    RuntimeError
        If the launcher and the library are of different MPIs.

    Source: MPI Forum, "MPI", 11.4 (start-up).
    """
    mpi = load()
    comm = mpi.COMM_WORLD
    started = int(os.environ.get("COURSE_RANKS", 0))
    if started and comm.size != started:
        raise RuntimeError(
            f"course ranks started {started} processes and MPI counts {comm.size}: mpiexec and the library that mpi4py "
            f"loads ({mpi.Get_library_version().split(',')[0].strip()}) are of different MPIs. Install one of them."
        )
    if ranks is not None and ranks != comm.size:
        raise ValueError(
            f"ranks is {ranks}, and {comm.size} process(es) run. Start as many: course ranks -n {ranks} script.py."
        )
    notices = Notices(mpi, comm.Dup(), os.environ.get("COURSE_RANKS_FOLDER"))
    world = MpiWorld(mpi, comm.Dup(), notices, patience)
    try:
        yield world
        world.leave()
    except BaseException as error:
        _state["broken"] = True
        _state["status"] = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1
        notices.fail(world.rank, f"rank {world.rank} ended with {told(error)}. {AGAIN}")
        notices.flush()
        raise


class MpiWorld(World):
    """A rank that is a process.

    Parameters
    ----------
    mpi : module
        mpi4py.MPI.
    comm : communicator
        For the messages of this world only.
    notices : Notices
    patience : float
        As `World`.

    Source: MPI Forum, "MPI", 3.7.
    """

    engine = "mpi"
    own_all_reduce = True

    def __init__(self, mpi, comm, notices, patience=PATIENCE):
        super().__init__(comm.rank, comm.size, patience)
        self.mpi, self.comm, self.notices, self._tags = mpi, comm, notices, {}
        self.overlaps = mpi.Query_thread() >= mpi.THREAD_MULTIPLE

    def channel(self):
        """As `World.channel`."""
        with self._collective("channel"):
            comm, request = self.comm.Idup()
            self._wait([_Pending(request, "all", None, None)])
        return MpiWorld(self.mpi, comm, self.notices, self.patience)

    def leave(self):
        """Return when all ranks have done their work, however long that takes; RankError if one fails meanwhile.

        Source: MPI Forum, "MPI", 6.12.1 (MPI_Ibarrier).
        """
        with self._collective("the end of its work"):
            self._wait([_Pending(self.comm.Ibarrier(), "all", None, None)], patience=float("inf"))

    def local_rank(self):
        """Return which of the ranks of this machine this one is, from 0; all ranks must call it. No errors.

        Source: MPI Forum, "MPI", 7.4.2 (MPI_Comm_split_type).
        """
        here = self.comm.Split_type(self.mpi.COMM_TYPE_SHARED)
        try:
            return here.rank
        finally:
            here.Free()

    def wait_until(self, done):
        """Return when done() is true; RankError if it is not in `patience` seconds, or a rank is gone.

        Source: the course's own.
        """
        self._wait([_Pending(_Asked(done), "all", None, None)])

    def _transfer(self, outgoing, to, incoming, source):
        byte, pending = self.mpi.BYTE, []
        if incoming is not None:
            request = self.comm.Irecv([incoming, byte], source, self.mpi.ANY_TAG)
            pending.append(_Pending(request, "receive", incoming, source, self.mpi.Status()))
        if outgoing is not None:
            request = self.comm.Isend([outgoing, byte], to, self._tag(outgoing))
            pending.append(_Pending(request, "send", outgoing, to))
        self._wait(pending)

    def _engine_all_reduce(self, array):
        request = self.comm.Iallreduce(self.mpi.IN_PLACE, array, self.mpi.SUM)
        self._wait([_Pending(request, "all", array, None)])

    def _tag(self, array):
        """Return a number that other shapes and dtypes hardly share: a message of another kind is so recognised."""
        key = array.dtype.str, array.shape
        if key not in self._tags:
            self._tags[key] = zlib.crc32(repr(key).encode()) & 0x3FFF
        return self._tags[key]

    # ------------------------------------------------------------------------------------------------ waiting

    def _wait(self, pending, patience=None):
        """Return when all requests are done; raise RankError if one never will be."""
        begun = time.monotonic()
        size = sum(p.array.nbytes for p in pending if p.array is not None)
        spin_until, give_up, pause = begun + SPIN + size / RATE, begun + (patience or self.patience), 1e-5
        try:
            while True:
                pending = [p for p in pending if not self._done(p)]
                if not pending:
                    return
                now = time.monotonic()
                if now < spin_until:
                    yield_processor()
                    continue
                self._look(pending[0])
                if now > give_up:
                    self._fail_after_patience(pending[0])
                time.sleep(pause)
                pause = min(2 * pause, PAUSE)
        except BaseException:
            _LEFT.extend(pending)
            raise

    def _done(self, p):
        if p.done:
            return True
        try:
            p.done = p.request.Test(p.status)
        except self.mpi.Exception as error:
            kind = error.Get_error_class()
            truncated = kind == self.mpi.ERR_TRUNCATE
            what = "was sent more bytes" if truncated else f"failed: {self.mpi.Get_error_string(kind)}"
            self._raise(p.peer, f"rank {self.rank} waited ({self._words(p)}), and {what}. {OTHER_KIND}")
        if p.done and p.verb == "receive":
            count, tag = p.status.Get_count(self.mpi.BYTE), p.status.Get_tag()
            if count != p.array.nbytes or tag != self._tag(p.array):
                found = f"{count} bytes" if count != p.array.nbytes else "another shape or dtype"
                self._raise(p.peer, f"rank {self.rank} waited ({self._words(p)}), and was sent {found}. {OTHER_KIND}")
        return p.done

    def _words(self, p):
        if p.peer is not None:
            return self._wanted(p.verb, p.array, p.peer)
        return f"for all ranks, in {self._doing}"

    def _look(self, p):
        """Raise RankError if a rank has given up, or the one that is waited for has ended."""
        peer, notices = p.peer, self.notices
        notices.look(peer, self._words(p))
        if notices.failure is not None:
            self._raise(*notices.failure)
        ended = notices.ended()
        gone = peer if peer in ended else min(ended, default=None) if peer is None else None
        if gone is not None:
            p.gone = p.gone or time.monotonic()
            if time.monotonic() - p.gone > LAST:
                self._raise(gone, f"rank {gone} {ended[gone]}, and rank {self.rank} waited ({self._words(p)}). {AGAIN}")

    def _fail_after_patience(self, p):
        """Ask for whom the others wait, along the chain, and name the one that waits for nobody."""
        others = {r for r in range(self.size) if r != self.rank}
        asked, chain, suspects = set(), [], others if p.peer is None else {p.peer}
        while suspects:
            silent, answers = self._ask(sorted(suspects), p)
            if p.done:
                return
            if silent:
                self._raise(
                    silent[0],
                    f"rank {silent[0]} sent nothing for {self.patience:g} s, and does not answer: it computes, hangs "
                    f"or is dead. Rank {self.rank} waited ({self._words(p)}). If its steps take so long, raise "
                    f"patience. {AGAIN}",
                )
            asked |= suspects
            chain += [f"rank {r} waits ({words})" for r, (_, words) in answers.items()]
            suspects = set().union(*(others if peer is None else {peer} for peer, _ in answers.values()))
            suspects -= asked | {self.rank}
        self._raise(
            None,
            f"deadlock, the ranks wait for each other: rank {self.rank} waits ({self._words(p)}); {'; '.join(chain)}. "
            "Let all ranks call the same operations in the same order.",
        )

    def _ask(self, ranks, p):
        """Return (those of `ranks` that do not answer, {rank: (its peer, words)}); ends early if p is done."""
        notices = self.notices
        for rank in ranks:
            notices.answers.pop(rank, None)
            notices.tell(rank, "ask")
        until = time.monotonic() + ANSWER
        while time.monotonic() < until and not self._done(p) and not all(rank in notices.answers for rank in ranks):
            self._look(p)
            time.sleep(PAUSE)
        answers = {rank: notices.answers[rank] for rank in ranks if rank in notices.answers}
        return [rank for rank in ranks if rank not in answers], answers

    def _raise(self, rank, words):
        _state["broken"] = True
        rank, words = self.notices.fail(rank, words)
        raise RankError(f"rank {self.rank}: {words}", rank)


class _Pending:
    """A request that is not done: what it is about, with whom, and since when that rank is gone."""

    def __init__(self, request, verb, array, peer, status=None):
        self.request, self.verb, self.array, self.peer, self.status = request, verb, array, peer, status
        self.done, self.gone = False, None


class _Asked:
    """A function that says whether something is done, as a request of MPI's."""

    def __init__(self, done):
        self.done = done

    def Test(self, status):
        return bool(self.done())


def _processor_yielder():
    """Let another process have the processor, with Python's lock released; time.sleep takes 50 microseconds."""
    if sys.platform == "win32":
        return lambda: time.sleep(0)
    yielder = ctypes.CDLL(None).sched_yield
    yielder.argtypes = ()
    return yielder


yield_processor = _processor_yielder()
"""Give the rest of this processor's turn to who waits for it."""
