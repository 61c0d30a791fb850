"""The text of a compiled loop, line by line, and what each stretch of it adds to the counters.

Source: the course's own. A *stretch* is a run of lines without a branch: the compiled code counts how often it came
there, and what the walk counts in it is multiplied afterwards.
"""

from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from course_lib.simt import types

TYPES = {
    np.dtype(name) for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    )
}  # fmt: skip
"""The dtypes that compiled turns compute with."""

INT, FLOAT, BOOL = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)


class NotPlain(Exception):
    """The loop has something in it that is only walked."""


class NotYet(NotPlain):
    """What the walk counts hangs on whether a number is the same in all lanes, and that will show."""


NO, UNSURE, YES = range(3)
"""Whether the walk has a number as a vector. Unsure: it is one number as long as the lane gives it the same again."""


@dataclass(frozen=True)
class Number:
    """A number of the lane: its name in the compiled code, its dtype, and whether the walk has it as a vector."""

    text: str
    dtype: np.dtype
    vector: int = NO


@dataclass
class Site:
    """A place in the text where an array is loaded from, or stored to."""

    node: object
    source: object
    view: object
    way: str
    sure: bool = False


@dataclass
class Stretch:
    """What the walk counts each time it comes here: {(Source, line): how much of each counter}, and its steps."""

    counts: dict = field(default_factory=lambda: defaultdict(Counter))
    steps: int = 0


class Writer:
    """Writes the lines; `parameters` has the values that the code gets, by name."""

    def __init__(self):
        self.lines, self.depth, self.names = [], 2, 0
        self.stretches, self.sites, self.parameters = [], [], {}
        self.memories = []  # those that are touched, each once: cells, bits and marks of what is written
        self.known = {}  # what has a parameter already

    def line(self, text):
        """Write a line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def inside(self, head):
        """Write a head; the lines to come are inside of it."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def fresh(self, letter="t"):
        """Return a name that is not used yet."""
        self.names += 1
        return f"{letter}{self.names}"

    def unusual(self, condition):
        """Give this turn back to the walk if a condition holds."""
        with self.inside(f"if {condition}:"):
            self.line("bad = True")
            self.line("break")

    def given_up(self):
        """Behind an inner loop: go on giving the turn back."""
        with self.inside("if bad:"):
            self.line("break")

    def stretch(self):
        """Begin a new stretch."""
        self.stretches.append(Stretch())
        self.line(f"k{len(self.stretches) - 1} += 1")

    def count(self, where, dtype=None, flops=1):
        """Enter what `Machine.count` would."""
        counts = self.stretches[-1].counts[where]
        counts["instructions"] += 1
        if dtype is not None and dtype.kind == "f":
            counts["flops"] += flops
            counts["float64_flops"] += flops * (dtype.itemsize == 8)

    def branch(self, where):
        """Enter what `Machine.branch` would."""
        self.stretches[-1].counts[where]["branches"] += 1

    def step(self, weight):
        """Enter what `Machine.step` would."""
        self.stretches[-1].steps += weight
        self.line(f"steps -= {int(weight)}")

    def let(self, text, dtype, vector=NO):
        """Give a value a name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return Number(name, dtype, vector)

    def parameter(self, value, key=None, letter="p"):
        """Return the name of a value that the code gets from outside."""
        if key is None or key not in self.known:
            name = self.fresh(letter)
            self.parameters[name] = value
            if key is None:
                return name
            self.known[key] = name, value  # the value is kept, so that its id is its own
        return self.known[key][0]

    def number(self, value, lane):
        """Return the Number of a value of the walk: this lane's."""
        vector = YES if np.ndim(value) else NO
        own = value[lane] if vector else value
        return Number(self.parameter(checked(own.dtype).type(own)), own.dtype, vector)

    def memory(self, memory):
        """Return the number of a memory, whose cells are c and bits b, with what is written as w."""
        if not any(m is memory for m in self.memories):
            self.memories.append(memory)
        return next(k for k, m in enumerate(self.memories) if m is memory)


def checked(dtype):
    """Return a dtype, if compiled turns compute with it."""
    if dtype not in TYPES:
        raise NotPlain(f"{dtype}")
    return dtype


def name_of(dtype):
    """Return what a dtype is called in the compiled code."""
    return "np.bool_" if dtype == BOOL else f"np.{checked(dtype).name}"


def literal(value):
    """Return the text of a number that is known: nothing but digits, signs and the names of NumPy."""
    if value.dtype.kind == "b":
        return repr(bool(value))
    if value.dtype.kind != "f":
        return f"{name_of(value.dtype)}({int(value)})"
    own = float(value)
    text = repr(own) if np.isfinite(own) else "np.nan" if np.isnan(own) else "np.inf" if own > 0 else "-np.inf"
    return f"{name_of(value.dtype)}({text})"


def signature(function, *dtypes):
    """Return (result dtype, argument dtypes) as `types.signature`; NotPlain if there is none."""
    try:
        result, arguments = types.signature(function, *dtypes)
    except types.NoSuchOperation:
        raise NotPlain("no such operation") from None
    for dtype in (*(result if type(result) is tuple else [result]), *arguments):
        checked(dtype)
    return result, arguments
