"""A world of ranks: who I am, how many we are, and messages between us.

Three engines have this interface: ranks as threads of one process (`threads`), processes by MPI (`mpi`), and GPUs by
NCCL (`nccl`). A collective operation, one that all ranks must call, is made of messages here, so that it can be read.

Source: MPI Forum, "MPI: A Message-Passing Interface Standard", chapters 3 and 6 (the words, and what they mean).
"""

from contextlib import contextmanager

import numpy as np

from course_lib.parallel import all_to_one, ring, tree
from course_lib.parallel.buckets import Exchange
from course_lib.parallel.traffic import Traffic
from course_lib.validate import require_choice, require_count, require_positive

WAYS = {"ring": ring, "tree": tree, "all_to_one": all_to_one}
"""All-reduce written over messages: a module each, with its traffic by formula."""

PATIENCE = 30.0
"""Seconds without an expected message until a rank gives up: the slowest step must take less."""


class World:
    """One rank's view of all ranks. `parallel.run` makes it.

    Arrays are contiguous, row by row, of numbers; a receiver's has the sender's shape and dtype.

    Parameters
    ----------
    rank, size : int
        This rank, from 0, and how many there are.
    patience : float > 0
        Seconds without an expected message until `RankError`.

    Attributes
    ----------
    engine : str
        "threads", "mpi" or "nccl".
    traffic : Traffic
        What this rank has sent so far.

    Source: MPI Forum, "MPI", chapter 3.
    """

    engine = ""
    way = "ring"
    """How `all_reduce` adds unless it is told."""

    own_all_reduce = False
    """Whether the engine has an all-reduce of its own: `all_reduce(array, "engine")`."""

    overlaps = True
    """Whether a thread beside the main one may send and receive, in a channel of its own."""

    def __init__(self, rank, size, patience=PATIENCE):
        self.rank, self.size = rank, require_count("size", size)
        self.patience = require_positive("patience", patience)
        self.traffic, self._doing, self._collectives = Traffic(), "", 0

    def __repr__(self):
        return f"rank {self.rank} of {self.size} ({self.engine})"

    # ------------------------------------------------------------------------------------------- between two ranks

    def send(self, array, to):
        """Send an array (...) to the rank `to`, which must `receive` it. It may be overwritten when this returns.

        Raises
        ------
        RankError
            If that rank has ended, or does not take it for `patience` seconds.
        TypeError, ValueError
            If the array is no contiguous array of numbers, or there is no such rank.

        Source: MPI Forum, "MPI", 3.2 (MPI_Send).
        """
        self._message(array, self._other("to", to), None, None)

    def receive(self, array, source):
        """Receive into an array (...), in place, what the rank `source` sends.

        Raises
        ------
        RankError
            If that rank has ended, sends nothing for `patience` seconds, or sends another shape or dtype.
        TypeError, ValueError
            As `send`.

        Source: MPI Forum, "MPI", 3.2 (MPI_Recv).
        """
        self._message(None, None, array, self._other("source", source))

    def exchange(self, outgoing, to, incoming, source):
        """Send an array (...) to one rank and receive another (...) from one, both at once.

        In a ring, where each rank sends before it receives, all could wait for each other for ever: this cannot.
        Errors as `send` and `receive`. Source: MPI Forum, "MPI", 3.10 (MPI_Sendrecv).
        """
        self._message(outgoing, self._other("to", to), incoming, self._other("source", source))

    # ------------------------------------------------------------------------------------------------- all ranks

    def all_reduce(self, array, by=None):
        """Leave the sum over all ranks in the array (...) of each, in place. All must call it, with equal shapes.

        Parameters
        ----------
        array : (...) array
        by : "ring", "tree", "all_to_one" or "engine", optional
            How; "engine" is MPI's or NCCL's own. The first three add in a fixed order, so that the bits are the same
            from run to run, and on all ranks; the engines promise neither, and mostly give both.

        Errors as `receive`, and ValueError for another `by`. Source: MPI Forum, "MPI", 6.9 (MPI_Allreduce).
        """
        by = self.way if by is None else by
        require_choice("by", by, (*WAYS, "engine") if self.own_all_reduce else tuple(WAYS))
        self._check("array", array)
        with self._collective(f"all_reduce by {by}"):
            if self.size == 1:
                return
            if by == "engine":
                self._engine_all_reduce(array)
            else:
                WAYS[by].all_reduce(self, self._flat(array))

    def broadcast(self, array, root=0):
        """Leave the array (...) of the rank `root` in that of every rank, in place, along a tree. All must call it.

        Errors as `receive`. Source: MPI Forum, "MPI", 6.4 (MPI_Bcast).
        """
        self._check("array", array)
        root = self._number("root", root)
        with self._collective(f"broadcast from {root}"):
            tree.broadcast(self, self._flat(array), root)

    def barrier(self):
        """Return when every rank has called it. Errors as `receive`. Source: MPI Forum, "MPI", 6.3 (MPI_Barrier)."""
        with self._collective("barrier"):
            tree.all_reduce(self, np.zeros(1, np.uint8))

    def channel(self):
        """Return another World of the same ranks, whose messages never meet those of this one: for a second thread.

        All ranks must call it. Errors as `barrier`. Source: MPI Forum, "MPI", 7.4 (MPI_Comm_dup).
        """
        raise NotImplementedError(f"{type(self).__name__} must define channel().")

    def gradients(self, net):
        """Return what sums a network's gradients over all ranks behind its backward pass, an `Exchange`.

        TypeError or ValueError if its gradients cannot be. Source: S. Li et al. (2020), "PyTorch Distributed".
        """
        return Exchange(self, net)

    def device_sums(self):
        """Return what sums device arrays over all ranks between recordings. No errors. Source: the course's own."""
        from course_lib.parallel.sums import HostSums  # it starts a device

        return HostSums(self)

    # ------------------------------------------------------------------------------- what algorithms do with arrays

    def scratch(self, array):
        """Return an array of the shape (...) and dtype of another, with whatever numbers. No errors."""
        return np.empty_like(array)

    def add(self, total, part):
        """Add `part` (...) to `total` (...), in place. No errors."""
        np.add(total, part, out=total)

    # ------------------------------------------------------------------------------------------------- for engines

    def _transfer(self, outgoing, to, incoming, source):
        """Do what `exchange` says; either pair may be None."""
        raise NotImplementedError

    def _engine_all_reduce(self, array):
        raise NotImplementedError

    def _flat(self, array):
        return array.reshape(-1)

    def _check(self, name, array):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{name} is {type(array).__name__}; ranks exchange NumPy arrays: np.array([value]).")
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{name} has dtype {array.dtype}; ranks exchange numbers.")
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} is a view with gaps; pass np.ascontiguousarray({name}).")

    # ----------------------------------------------------------------------------------------------------- its own

    def _message(self, outgoing, to, incoming, source):
        if outgoing is not None:
            self._check("array" if incoming is None else "outgoing", outgoing)
        if incoming is not None:
            self._check("array" if outgoing is None else "incoming", incoming)
        self._transfer(outgoing, to, incoming, source)
        if outgoing is not None:
            self.traffic += Traffic(1, outgoing.nbytes)

    def _number(self, name, rank):
        rank = require_count(name, rank, minimum=0)
        if rank >= self.size:
            raise ValueError(f"{name} is {rank}; with {self.size} ranks it lies in 0 .. {self.size - 1}.")
        return rank

    def _other(self, name, rank):
        rank = self._number(name, rank)
        if rank == self.rank:
            raise ValueError(f"{name} is {rank}, this rank itself; a message goes to another one.")
        return rank

    @contextmanager
    def _collective(self, what):
        """Remember which collective operation this is, for what an error says."""
        self._collectives += 1
        before, self._doing = self._doing, f"{what}, collective {self._collectives}"
        try:
            yield
        finally:
            self._doing = before

    def _wanted(self, verb, array, peer):
        """Return what this rank is about, in words: "receive of float32 (60,) from rank 2, in all_reduce by ring"."""
        kind = f"{np.dtype(array.dtype)} {tuple(array.shape)}"
        words = f"receive of {kind} from rank {peer}" if verb == "receive" else f"send of {kind} to rank {peer}"
        return f"{words}, in {self._doing}" if self._doing else words
