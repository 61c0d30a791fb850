"""What a rank does in an algorithm, written down: the algorithm's own code runs on a World that only takes notes.

`parallel.ring`, `tree` and `all_to_one` decide by rank, size and count alone, never by values. So each rank's part can
be run by itself, on arrays of no memory, and what it would send, receive and add is a list that a simulator plays. The
code is the same that runs on threads, MPI and NCCL: if it is wrong there, it is wrong here.

Source: the course's own.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.parallel.world import WAYS, World
from course_lib.validate import require_count


@dataclass(frozen=True)
class Op:
    """One thing that a rank does.

    Attributes
    ----------
    kind : "send", "receive", "exchange" or "add"
    bytes : int
        Those sent or added. An exchange may receive another number than it sends.
    to, source : int or None
        The other ranks.
    fresh : int
        Bytes of a new array that is received into for the first time.

    Source: the course's own.
    """

    kind: str
    bytes: int
    to: int | None = None
    source: int | None = None
    fresh: int = 0


class Rehearsal(World):
    """A rank that does nothing and writes it down: `ops`, a list of Op.

    Parameters
    ----------
    rank, size : int

    Source: the course's own.
    """

    engine = "rehearsal"

    def __init__(self, rank, size):
        super().__init__(rank, size)
        self.ops, self._new = [], {}

    def scratch(self, array):
        """Return another array of no memory, of the same shape (...). No errors."""
        new = np.broadcast_to(np.zeros(1, array.dtype), array.shape)
        self._new[_address(new)] = new  # kept, so that no other one gets its address
        return new

    def add(self, total, part):
        """Write down the bytes of `part` (...). No errors."""
        self.ops.append(Op("add", part.nbytes))

    def _transfer(self, outgoing, to, incoming, source):
        kind = (
            "exchange" if outgoing is not None and incoming is not None else "receive" if outgoing is None else "send"
        )
        new = None if incoming is None else self._new.pop(_address(incoming), None)
        fresh = 0 if new is None else new.nbytes
        self.ops.append(Op(kind, (incoming if outgoing is None else outgoing).nbytes, to, source, fresh))

    def _check(self, name, array):
        """Arrays of no memory have gaps."""


def _address(array):
    return array.__array_interface__["data"][0]


def rehearse(by, rank, size, nbytes):
    """Return what one rank does in an all-reduce, a list of Op.

    Parameters
    ----------
    by : str or function (world, array)
        "ring", "tree", "all_to_one", or an all-reduce of one's own.
    rank, size : int
    nbytes : int
        Of the array, of float32; rounded up to whole numbers.

    Raises
    ------
    ValueError, TypeError
        If there is no such way; if the numbers are none.

    Source: the course's own.
    """
    if isinstance(by, str) and by not in WAYS:
        raise ValueError(f"by is {by!r}; it must be one of {', '.join(WAYS)}, or a function (world, array).")
    world = Rehearsal(require_count("rank", rank, minimum=0), size)
    if size > 1:
        count = -(-require_count("nbytes", nbytes) // 4)
        array = np.broadcast_to(np.zeros(1, np.float32), (count,))  # `count` numbers in four bytes
        (by if callable(by) else WAYS[by].all_reduce)(world, array)
    return world.ops
