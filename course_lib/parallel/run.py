"""Start ranks: the same function once for each, with its own `World`.

Source: the course's own; MPI Forum, "MPI", 1.9 ("single program, multiple data").
"""

import threading
import time
from contextlib import contextmanager

from course_lib.fast.products import one_blas_thread
from course_lib.fast.threads import sharing
from course_lib.parallel.errors import RankError, told
from course_lib.parallel.threads import Hall, ThreadWorld
from course_lib.parallel.world import PATIENCE
from course_lib.validate import require_choice, require_count, require_positive

ENGINES = ("threads", "mpi", "nccl")

FAREWELL = 1.0
"""Seconds without a rank's end, after something failed, until the others are thought to hang."""


def run(work, ranks=None, *, engine="threads", patience=PATIENCE, buffer=None):
    """Call work(world) once for each rank, and return what it returned, in the order of the ranks.

    As threads, all ranks are started here. With "mpi" and "nccl" this process is one of several, which `course ranks`
    (or mpiexec) has started with the same script; each calls `run`, and gets its own result only, as a list of one.

    Parameters
    ----------
    work : function (world)
    ranks : int >= 1, optional
        How many threads; with processes it may be left out, and must be right if it is not.
    engine : "threads", "mpi" or "nccl"
    patience : float > 0
        Seconds without an expected message until a rank raises RankError.
    buffer : int >= 0, optional
        For threads: bytes up to which a send returns before anybody receives; see `ThreadWorld`.

    Raises
    ------
    Exception
        What `work` raised, of the first rank whose error is its own; each other rank has raised `RankError` then.
    RankError
        If ranks waited in vain and no rank has an error of its own: one hangs, or all wait for each other.
    ValueError
        If there is no such engine, or another number of ranks.
    ImportError
        If the engine's packages are not installed; the message says how.

    Source: MPI Forum, "MPI", 1.9.
    """
    require_choice("engine", engine, ENGINES)
    require_positive("patience", patience)
    if engine == "threads":
        if buffer is not None:
            require_count("buffer", buffer, minimum=0)
        return _run_threads(work, require_count("ranks", ranks), patience, buffer)
    if buffer is not None:
        raise ValueError(f"buffer is for threads; {engine!r} has buffers of its own.")
    from course_lib.parallel.mpi import joined

    with joined(patience, ranks) as world, _one_thread():
        if engine == "nccl":
            from course_lib.parallel.nccl import NcclWorld

            world = NcclWorld(world)
        return [work(world)]


@contextmanager
def _one_thread():
    with one_blas_thread(), sharing(1):
        yield


def _run_threads(work, ranks, patience, buffer):
    hall, results, errors = Hall(ranks), [None] * ranks, {}

    def body(rank):
        try:
            results[rank] = work(ThreadWorld(hall, rank, patience, buffer))
        except BaseException as error:
            errors[rank] = error
            hall.end(rank, f"ended with {told(error)}")
        else:
            hall.end(rank, "had returned already")

    threads = [threading.Thread(target=body, args=(r,), name=f"rank {r}", daemon=True) for r in range(ranks)]
    with _one_thread():
        for thread in threads:
            thread.start()
        try:
            _join(threads, hall)
        except BaseException:  # Ctrl-C: no rank shall wait for what nobody sends
            hall.fail(None, "the ranks were stopped.")
            raise
    own = [rank for rank in sorted(errors) if not isinstance(errors[rank], RankError)]
    if errors:
        rank = own[0] if own else min(errors)
        if own:
            errors[rank].add_note(f"This was rank {rank} of {ranks}.")
        raise errors[rank]
    return results


def _join(threads, hall):
    """Wait for all ranks. A thread cannot be ended: after a failure, what goes on for ever is left behind."""
    alive, since = threads, time.monotonic()
    while alive:
        alive[0].join(0.05)
        still = [thread for thread in alive if thread.is_alive()]
        if len(still) < len(alive) or hall.failure is None:
            since = time.monotonic()
        elif time.monotonic() - since > FAREWELL:
            return
        alive = still
