"""What ranks tell each other when something is wrong, beside the messages of their work: MPI itself says nothing.

Three kinds of notices go through a communicator of their own. "failed": a rank has given up, for this reason. "ask":
whom do you wait for? "waits": the answer. Who waits looks at them, and answers; a rank that computes, hangs or is dead
does not. How a process ended is told by the launcher, in a folder: a file for each rank.

Source: the course's own; K. Chandy, J. Misra and L. Haas (1983), "Distributed Deadlock Detection" (asking along the
edges of waiting).
"""

import json
import threading
import time
from pathlib import Path

LOOK_AT_FOLDER = 0.05
"""Seconds between two looks at how other ranks ended."""


class Notices:
    """The notices of one process.

    Parameters
    ----------
    mpi : module
        mpi4py.MPI.
    comm : communicator
        For notices only.
    folder : str or None
        Where the launcher writes how ranks ended.

    Attributes
    ----------
    failure : (rank or None, words) or None
        The first that this rank knows of.

    Source: the course's own.
    """

    def __init__(self, mpi, comm, folder):
        self.mpi, self.comm, self.folder = mpi, comm, None if folder is None else Path(folder)
        self.lock, self.failure, self.answers = threading.RLock(), None, {}
        self._sent, self._looked, self._ended = [], 0.0, {}

    def tell(self, to, kind, **content):
        """Send a notice to a rank, and do not wait until it is taken. No errors."""
        text = json.dumps({"kind": kind, **content}).encode()
        with self.lock:
            self._sent = [(request, kept) for request, kept in self._sent if not request.Test()]
            self._sent.append((self.comm.Isend([text, self.mpi.BYTE], to, 0), text))

    def flush(self, most=0.3):
        """Wait until the notices are on their way, at most so many seconds. No errors."""
        until = time.monotonic() + most
        while self._sent and time.monotonic() < until:
            with self.lock:
                self._sent = [(request, kept) for request, kept in self._sent if not request.Test()]

    def fail(self, rank, words):
        """Let the first failure be what all ranks are told; return it. No errors."""
        with self.lock:
            if self.failure is None:
                self.failure = rank, words
                for to in range(self.comm.size):
                    if to != self.comm.rank:
                        self.tell(to, "failed", rank=rank, words=words)
            return self.failure

    def look(self, peer, words):
        """Take what has come; `peer` and `words` say for whom this rank waits, and for what. No errors."""
        with self.lock:
            status = self.mpi.Status()
            while self.comm.Iprobe(self.mpi.ANY_SOURCE, 0, status):
                text = bytearray(status.Get_count(self.mpi.BYTE))
                source = status.Get_source()
                self.comm.Recv([text, self.mpi.BYTE], source, 0)
                self._take(source, json.loads(bytes(text)), peer, words)

    def _take(self, source, notice, peer, words):
        if notice["kind"] == "failed":
            self.failure = self.failure or (notice["rank"], notice["words"])
        elif notice["kind"] == "ask":
            self.tell(source, "waits", peer=peer, words=words)
        else:
            self.answers[source] = notice["peer"], notice["words"]

    def ended(self):
        """Return {rank: how it ended, in words} of those whose process is gone. No errors."""
        with self.lock:
            if self.folder is not None and time.monotonic() - self._looked > LOOK_AT_FOLDER:
                self._looked = time.monotonic()
                for rank in range(self.comm.size):
                    if rank not in self._ended and (how := how_ended(self.folder, rank)) is not None:
                        self._ended[rank] = how["words"]
            return self._ended


def how_ended(folder, rank):
    """Return {"status": int, "words": str} of a rank whose process is gone, None if it is not. No errors.

    Source: the course's own.
    """
    try:
        return json.loads((folder / f"rank-{rank}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
