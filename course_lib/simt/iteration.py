"""What a `for` goes over: a range, an array, a tuple, or several of them side by side.

Source: Numba's documentation, "Supported Python features in CUDA Python". In lock-step all lanes that are still in the
loop are in the same turn: what has items is asked for item number `turn`, and how many it has is one number for all
lanes or a number per lane.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt import types
from course_lib.simt.memory import View
from course_lib.simt.values import cast, describe, is_number


@dataclass(frozen=True, eq=False)
class Range:
    """range(start, stop, step), each one number or one per lane. Source: Python's documentation, "Ranges"."""

    start: object
    stop: object
    step: object

    @property
    def path(self):
        """How a message calls it."""
        return "a range"

    def length(self):
        """Return how many numbers it has: int64, one or one per lane."""
        start, stop, step = (np.asarray(v).astype(np.int64) for v in (self.start, self.stop, self.step))
        distance = np.where(step > 0, stop - start, start - stop)
        return np.maximum(0, -(-distance // np.maximum(np.abs(step), 1)))[()]

    def item(self, e, turn, mask, node):
        """Return number `turn`."""
        return self.start + self.step.dtype.type(turn) * self.step


@dataclass(frozen=True, eq=False)
class Zip:
    """zip(...): tuples of the items of several. Source: Python's documentation, "Built-in Functions"."""

    parts: tuple

    @property
    def path(self):
        """How a message calls it."""
        return "a zip"

    def length(self):
        """Return how many items the shortest has."""
        lengths = [length_of(p) for p in self.parts]
        return np.minimum.reduce(np.broadcast_arrays(*lengths))[()] if lengths else np.int64(0)

    def item(self, e, turn, mask, node):
        """Return the tuple of items number `turn`."""
        return tuple(item_of(p, e, turn, mask, node) for p in self.parts)


@dataclass(frozen=True, eq=False)
class Enumerate:
    """enumerate(part, start): pairs of a number and an item. Source: Python's documentation, "Built-in Functions"."""

    part: object
    start: object

    @property
    def path(self):
        """How a message calls it."""
        return "an enumerate"

    def length(self):
        """Return how many items there are."""
        return length_of(self.part)

    def item(self, e, turn, mask, node):
        """Return (number, item) number `turn`."""
        return self.start + np.int64(turn), item_of(self.part, e, turn, mask, node)


@dataclass(frozen=True, eq=False)
class Indices:
    """np.ndindex(shape): all indices of a shape, the last one fastest; with an array, np.ndenumerate or array.flat.

    Source: NumPy's documentation, "numpy.ndindex" and "numpy.ndenumerate".
    """

    shape: tuple
    array: object = None
    flat: bool = False

    @property
    def path(self):
        """How a message calls it."""
        return "array.flat" if self.flat else "an np.ndindex" if self.array is None else "an np.ndenumerate"

    def length(self):
        """Return how many indices there are."""
        count = np.int64(1)
        for size in self.shape:
            count = count * np.asarray(size).astype(np.int64)
        return count[()]

    def item(self, e, turn, mask, node):
        """Return index number `turn`; with the element, or the element alone."""
        index, rest = [], np.int64(turn)
        for size in reversed(self.shape):
            size = np.maximum(np.asarray(size).astype(np.int64), 1)[()]
            index.insert(0, rest % size)
            rest = rest // size
        if self.array is None:
            return tuple(index)
        element = e.load(self.array, index, mask, node)
        return element if self.flat else (tuple(index), element)


class Asking:
    """The turns of a `while`: its test is asked again. Source: Python's documentation, "The while statement"."""

    def __init__(self, e, node):
        self.e, self.node = e, node

    def more(self, active):
        """Return whether lanes go round once more."""
        return self.e._truth(self.node.test, active)

    def begin(self, active):
        """Begin a turn."""

    def advance(self, active):
        """End a turn."""

    def copy(self):
        """Return an own one, for lanes that go on alone."""
        return self


class Counting:
    """The turns of a `for` over a range: i, one number or one per lane. Source: Python's documentation, "Ranges"."""

    def __init__(self, e, node, i, stop, step):
        self.e, self.node, self.i, self.stop, self.step = e, node, i, stop, step

    def more(self, active):
        """Return whether lanes go round once more."""
        if np.ndim(self.step) == 0:
            return self.i < self.stop if self.step > 0 else self.i > self.stop
        return np.where(self.step > 0, self.i < self.stop, self.i > self.stop)

    def begin(self, active):
        """Begin a turn: give the loop's variable its number."""
        self.e._assign(self.node.target, self.i, active)

    def advance(self, active):
        """End a turn."""
        self.i = self.i + self.step

    def copy(self):
        """Return an own one, for lanes that go on alone."""
        return Counting(self.e, self.node, self.i, self.stop, self.step)


class Taking:
    """The turns of a `for` over what has items. Source: Python's documentation, "The for statement"."""

    def __init__(self, e, node, items, turn=0):
        self.e, self.node, self.items, self.turn, self.length = e, node, items, turn, length_of(items)

    def more(self, active):
        """Return whether lanes go round once more."""
        return np.bool_(self.turn < self.length) if np.ndim(self.length) == 0 else self.turn < self.length

    def begin(self, active):
        """Begin a turn: give the loop's variables the item."""
        self.e._assign(self.node.target, item_of(self.items, self.e, self.turn, active, self.node.iter), active)

    def advance(self, active):
        """End a turn."""
        self.turn += 1

    def copy(self):
        """Return an own one, for lanes that go on alone."""
        return Taking(self.e, self.node, self.items, self.turn)


OBJECTS = (Range, Zip, Enumerate, Indices)


def has_items(value):
    """Return whether a `for` can go over a value."""
    return isinstance(value, (*OBJECTS, tuple)) or (isinstance(value, View) and value.ndim > 0)


def length_of(value):
    """Return how many items a value has: one number, or one per lane."""
    if isinstance(value, View):
        return np.asarray(value.shape[0]).astype(np.int64)[()]
    return np.int64(len(value)) if isinstance(value, tuple) else value.length()


def item_of(value, e, turn, mask, node):
    """Return item number `turn` (an int) of a value in the lanes of a mask."""
    if isinstance(value, View):
        return e.load(value, [np.int64(turn)], mask, node)
    if isinstance(value, tuple):
        return value[turn] if turn < len(value) else value[-1]
    return value.item(e, turn, mask, node)


def unpacked(e, target, value, mask):
    """Return a tuple of the items of a value, one for each of the names in `target`; KernelError if it has others.

    Arrays, ranges and what else a `for` goes over can be unpacked; an array's elements are read one by one.
    """
    n = len(target.elts)
    cannot = f"{describe(value, as_number=False)} cannot be unpacked into {n} name{'' if n == 1 else 's'}"
    if not has_items(value):
        grid = f" cuda.grid(1) is one number; cuda.grid({n}) has {n}." if 2 <= n <= 3 and is_number(value) else ""
        raise e._error(target, f"{cannot}.{grid}")
    if isinstance(value, tuple):
        if len(value) != n:
            raise e._error(target, f"{cannot}.")
        return value
    if not e.typing:  # how long it is, Numba asks at run time too
        lengths = np.broadcast_to(length_of(value), e.lanes.count)
        wrong = np.flatnonzero(lengths[mask.index] != n)
        if wrong.size:
            lane = e.machine.lane_of(mask, wrong[0])
            here = f" in {e.lanes.name(lane)}" if np.ndim(length_of(value)) else ""
            raise e._error(target, f"{cannot}: its length{here} is {lengths[lane]}, a ValueError in Numba.")
    return tuple(item_of(value, e, turn, mask, target) for turn in range(n))


def range_of(bounds, mask, lanes):
    """Return the Range of one to three numbers; TypeError if it has none, or never ends."""
    wrong = [describe(b) for b in bounds if not is_number(b) or b.dtype.kind not in "iubf"]
    if wrong or not 1 <= len(bounds) <= 3:
        raise TypeError("it takes one to three whole numbers" + (f", not {wrong[0]}" if wrong else ""))
    whole = np.dtype(np.int64)
    bounds = [cast(b, whole) if b.dtype.kind == "f" else b for b in bounds]  # as Numba: the fraction is cut off
    dtype = types.range_dtype(*(b.dtype for b in bounds))
    bounds = [cast(b, dtype) for b in bounds]
    start, stop = (dtype.type(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else dtype.type(1)
    if np.any(np.broadcast_to(step, lanes.count)[mask.index] == 0):
        raise TypeError("a range with step 0 never ends")
    return Range(start, stop, step)
