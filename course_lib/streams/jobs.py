"""Jobs that come in pieces: what is done with each piece, by which engine, for how long, and with which memory.

Source: H, "Mini-Batching May be Needed to Fill GPU" (read next, compute present, write previous).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ENGINES = ("host", "in", "card", "out")
"""Who does something: the processor, copies to the card, kernels, copies from the card."""


@dataclass(frozen=True)
class Stage:
    """What is done with each piece.

    Attributes
    ----------
    name : str
    engine : one of `ENGINES`
    takes : float
        Microseconds for a piece.
    reads, writes : tuple of str
        Names of buffers.
    holds : bool
        Whether the host waits until it is done, as it does for a copy from or to memory that is not pinned.

    ValueError for another engine, or a time below 0. Source: the course's own.
    """

    name: str
    engine: str
    takes: float
    reads: tuple = ()
    writes: tuple = ()
    holds: bool = False

    def __post_init__(self):
        if self.engine not in ENGINES:
            raise ValueError(f"stage {self.name!r} has engine {self.engine!r}; it must be one of {', '.join(ENGINES)}.")
        if not self.takes >= 0:
            raise ValueError(f"stage {self.name!r} takes {self.takes!r} microseconds; it must be 0 or more.")


@dataclass(frozen=True)
class Job:
    """Stages, and how many slots each buffer has: piece k uses slot k modulo that number.

    A buffer that is not in `slots` has a place for each piece, as a large array on the host does.
    Source: the course's own.
    """

    stages: tuple
    slots: Mapping = field(default_factory=dict)

    def stage(self, name):
        """Return the stage of this name, None where there is none. No errors."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def place(self, buffer, piece):
        """Return which part of a buffer a piece uses, such as "input[1]". No errors."""
        return f"{buffer}[{piece % self.slots[buffer] if buffer in self.slots else piece}]"

    def taking(self, **times):
        """Return the job with other microseconds for some stages, by name. LookupError for an unknown stage."""
        if unknown := [name for name in times if self.stage(name) is None]:
            names = ", ".join(stage.name for stage in self.stages)
            raise LookupError(f"there is no stage {unknown[0]!r}; the stages are {names}.")
        return replace(self, stages=tuple(replace(s, takes=times.get(s.name, s.takes)) for s in self.stages))


def read_compute_write(read=10, compute=10, write=10, *, slots=2, pinned=True):
    """Return a job: each piece is copied to the card, computed on, and copied back.

    Parameters
    ----------
    read, compute, write : float
        Microseconds for a piece.
    slots : int >= 1
        Pieces that the card has room for, on the way in and on the way out.
    pinned : bool
        Whether the arrays on the host are: where not, the host waits for each copy.

    ValueError for a time below 0 or no slot. Source: H, "Mini-Batching May be Needed to Fill GPU".
    """
    if slots < 1:
        raise ValueError(f"slots is {slots}; the card needs room for a piece at least.")
    return Job(
        (Stage("read", "in", read, ("source",), ("input",), holds=not pinned),
         Stage("compute", "card", compute, ("input",), ("output",)),
         Stage("write", "out", write, ("output",), ("target",), holds=not pinned)),
        {"input": slots, "output": slots},
    )  # fmt: skip


def loading_ahead(gather=6, copy=4, train=10, *, slots=2, pinned=True):
    """Return a job: the host gathers the rows of a batch, they are copied to the card, and a step trains on them.

    Parameters
    ----------
    gather, copy, train : float
        Microseconds for a batch.
    slots : int >= 1
        Batches that there is room for, on the host and on the card alike.
    pinned : bool
        Whether the host's buffer is.

    ValueError for a time below 0 or no slot. Source: the course's own.
    """
    if slots < 1:
        raise ValueError(f"slots is {slots}; there must be room for a batch at least.")
    return Job(
        (Stage("gather", "host", gather, ("data",), ("host",)),
         Stage("copy", "in", copy, ("host",), ("batch",), holds=not pinned),
         Stage("train", "card", train, ("batch",), ("weights",))),
        {"host": slots, "batch": slots, "weights": 1},
    )  # fmt: skip


READ_COMPUTE_WRITE, LOADING_AHEAD = read_compute_write(), loading_ahead()
