"""How a kernel of the corpus says what it is launched with and what the executor must find in it.

`@broken` and `@correct` stand over plain Numba-CUDA functions and hand them back unchanged; what they note goes into
`BROKEN` and `CORRECT`, by kernel name. The line that is wrong carries `# bad`.
"""

from dataclasses import dataclass, field

import numpy as np

BROKEN, CORRECT = {}, {}


@dataclass(frozen=True)
class Finding:
    """One hazard that must be found: its kind, its array, facts of `details`, and what a student must be able to read.

    thread, block : int or tuple, or None where either of two threads is as good an answer
    other : the other thread of a race, as the message must name it
    says : parts of message and fix, in any order
    mark : the comment of its line, or None for a finding without a line of its own
    """

    kind: str
    array: str = ""
    thread: object = None
    block: object = None
    index: object = None
    axis: int | None = None
    phase: int | None = None
    other: str | None = None
    says: tuple = ()
    mark: str | None = "# bad"


@dataclass(frozen=True)
class Refused:
    """A launch or a construct that no GPU takes: the error's class name, what it says, and the line it names."""

    error: str
    says: tuple
    mark: str | None = "# bad"


@dataclass(frozen=True)
class Broken:
    """A broken kernel, its launch, and what must come of it."""

    kernel: object
    grid: object
    block: object
    arguments: object
    findings: tuple
    advice: tuple = ()
    options: dict = field(default_factory=dict)

    @property
    def refused(self):
        """The refusal, or None for a kernel that runs and has findings."""
        return next((f for f in self.findings if isinstance(f, Refused)), None)


@dataclass(frozen=True)
class Correct:
    """A correct kernel, its launches, and what its arrays must hold afterwards.

    expected : function of copies of the arguments -> dict of argument number to array
    launches : tuple of tuples of argument numbers, one for each launch; None is one launch with all of them
    unordered : the arrays whose order of elements is free
    decide : why a careful reader could call it undecidable, or "" where it is not
    float64 : whether advice about float64 is right
    """

    kernel: object
    grid: object
    block: object
    arguments: object
    expected: object
    launches: tuple | None = None
    unordered: tuple = ()
    decide: str = ""
    float64: bool = False
    options: dict = field(default_factory=dict)


def finding(kind, array="", **facts):
    """Return a Finding; `says` may be one text."""
    return Finding(kind, array, **{**facts, "says": texts(facts.get("says", ()))})


def refused(error, *says, mark="# bad"):
    """Return a Refused."""
    return Refused(error, says, mark)


def broken(grid, block, arguments, *findings, advice=(), **options):
    """Mark a kernel as broken: launch, arguments (a function that makes them), what must be found, options of run."""

    def enter(kernel):
        where = getattr(kernel, "py_func", kernel)
        assert where.__name__ not in BROKEN, where.__name__
        BROKEN[where.__name__] = Broken(kernel, grid, block, arguments, findings, advice, options)
        return kernel

    return enter


def correct(grid, block, arguments, expected, *, launches=None, unordered=(), decide="", float64=False, **options):
    """Mark a kernel as correct: launch, arguments (a function that makes them), and what must come out."""

    def enter(kernel):
        assert kernel.__name__ not in CORRECT, kernel.__name__
        CORRECT[kernel.__name__] = Correct(
            kernel, grid, block, arguments, expected, launches, unordered, decide, float64, options
        )
        return kernel

    return enter


def texts(value):
    """Return one text or several as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def ints(*shape, start=0):
    """Return (...) int32: start, start + 1, ... ."""
    return np.arange(start, start + np.prod(shape), dtype=np.int32).reshape(shape)


def floats(*shape, start=0):
    """Return (...) float32: start, start + 1, ... ."""
    return ints(*shape, start=start).astype(np.float32)


def some(*shape, seed=0):
    """Return (...) float32 small whole numbers, so that sums in any order are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def nans(*shape):
    """Return (...) float32 NaN: what is not written stays visible."""
    return np.full(shape, np.nan, np.float32)


def minus_ones(*shape):
    """Return (...) int32 -1: what is not written stays visible."""
    return np.full(shape, -1, np.int32)


def empty(*shape, dtype=np.float32):
    """Return a DeviceArray (...) that nobody has written yet, as gpu.empty gives."""
    from course_lib.simt.arrays import DeviceArray

    return DeviceArray(np.zeros(shape, dtype), np.zeros(shape, np.bool_))
