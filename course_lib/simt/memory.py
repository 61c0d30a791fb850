"""Memories and the arrays that live in them: global, shared, local and constant.

Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy". A memory is one flat run of numbers; an array is a
place in it with a shape and strides, as on a device. Shared memory exists once per block, local memory once per lane.
"""

import math

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.simt.shadow import Shadow
from course_lib.simt.traffic import mark


class Marks:
    """Which elements of a memory were touched; once all were, nothing is left to enter.

    Source: the course's own.
    """

    def __init__(self, size):
        self.marks, self.size, self.full, self._times = np.zeros(size, np.bool_), size, size == 0, 0

    def enter(self, cells, shift):
        """Enter that the elements in `cells`, each `shift` further on, were touched."""
        mark(cells, self.marks[shift:])
        self._times += 1
        if self._times & (self._times - 1) == 0:  # after the 1st, 2nd, 4th, 8th ... time
            self.full = bool(self.marks.all())

    @property
    def count(self):
        """How many elements were touched."""
        return int(np.count_nonzero(self.marks))


class Memory:
    """A flat run of numbers with a name, a space and a base address in bytes.

    `copies` says how many equal parts it has: one for each block of a batch in shared memory, one for each lane in
    local memory. `shape` and `strides` (in elements) belong to the array that lies in one part, and name its elements.
    Cells begin every `pitch` bytes: one after the other, but for a field of records (`records`).

    Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy".
    """

    def __init__(self, name, space, cells, *, shape, strides, base=0, copies=1, written=True):
        self.name, self.space, self.cells, self.base, self.copies = name, space, cells, base, copies
        self.shape, self.strides = tuple(shape), tuple(strides)
        self.writable = space != "constant" and cells.flags.writeable
        self.shadow = Shadow(cells.size) if space in ("global", "shared") and self.writable else None
        self.written = np.full(cells.size, written, np.bool_) if isinstance(written, bool) else written
        self.all_written, self._writes = bool(self.written.all()), 0
        self.loaded, self.stored = (Marks(0 if space == "local" else cells.size) for _ in range(2))
        self.loads = self.stores = 0
        self.guards = {}  # cell -> the locks that all who touched it held (`locks`)
        self.touched = False  # whether somebody wrote
        self.tainted = None  # elements that were given numbers from unwritten memory (`undefined`)
        self.dtype = cells.dtype  # of its numbers
        self.may_change = space == "shared"  # whether the kernel's text writes it (`inference` finds that out)
        self.compared = False  # whether a compare-and-swap goes on here, which notices what others changed
        self.pitch, self.split = cells.dtype.itemsize, 1  # how many requests one access takes
        self.fields = {}  # memories of parts of its numbers, such as fields of records (`records`)
        self.alignment = cells.dtype.itemsize  # bytes, promised for where an array of a kernel begins

    @property
    def family(self):
        """The memories that have the numbers: itself, and those of the fields of records, which alone have these."""
        return [*([] if self.dtype.names else [self]), *(m for its in self.fields.values() for m in its.family)]

    def look_for_gaps(self):
        """After the 1st, 2nd, 4th, 8th ... write, look whether all is written: then no read needs to be checked."""
        self._writes += 1
        if self._writes & (self._writes - 1) == 0:
            self.all_written = bool(self.written.all())

    def wrote(self, cells):
        """Enter that the elements in `cells` were written."""
        self.touched |= cells.size > 0
        if not self.all_written:
            self.written[cells] = True
            self.look_for_gaps()

    def put(self, cells, values):
        """Write values[i] to cells[i], one after the other; return whether each changed what was there, bit by bit.

        What nobody has written yet is changed by any number.
        """
        changed, size = np.zeros(cells.size, np.bool_), self.dtype.itemsize
        unit = size if size in (1, 2, 4, 8) else 8
        parts = size // unit
        if parts > 1 and not self.cells.flags.c_contiguous:  # a large field of a record
            changed[:] = True
            self.cells[cells] = values
        else:
            there, given = self.cells.view(f"u{unit}"), np.ascontiguousarray(values).view(f"u{unit}")
            for k in range(parts):
                _put(cells, there[k::parts], given[k::parts], _NONE if self.all_written else self.written, changed)
        self.wrote(cells)
        return changed

    @property
    def part(self):
        """Elements of one part."""
        return self.cells.size // max(1, self.copies)

    def index_of(self, cell):
        """Return the index, a tuple, of the element in `cell` (an int, or an int array: then a tuple of arrays).

        An array with steps or reversed axes is walked from its lowest element, with the largest stride first.
        """
        rest = cell % self.part if self.copies > 1 else cell
        index = [0 * rest] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            if (s := abs(self.strides[axis])) and self.shape[axis] > 1:
                index[axis], rest = np.minimum(rest // s, self.shape[axis] - 1), rest % s
        axes = zip(index, self.shape, self.strides, strict=True)
        return tuple(n - 1 - i if s < 0 else i for i, n, s in axes)


class View:
    """An array as a kernel sees it: a memory, an offset (a number, or one per lane), a shape, and strides in elements.

    Source: Numba's documentation, "Memory management" (arrays on a device have strides).
    """

    def __init__(self, memory, offset, shape, strides, name=None, writable=None):
        self.memory, self.offset, self.shape, self.strides = memory, offset, tuple(shape), tuple(strides)
        self.ndim, self.dtype = len(self.shape), memory.dtype
        self.name = name or memory.name
        self.writable = memory.writable if writable is None else writable
        self.there = self.fields = None  # bits of the lanes that have it, if not all; fields of records (`records`)
        self.taken = None  # the subscript in the text that took it from a larger array (`parts`)

    def part(self, offset, shape, strides, name=None):
        """Return the View of a part of this array: a row, or a slice."""
        found = View(self.memory, offset, shape, strides, name or self.name, self.writable)
        found.there = self.there
        return found

    @property
    def size(self):
        """Number of elements."""
        return math.prod(self.shape)


def block_view(name, shape, dtype, blocks, block, base):
    """Return the View of a shared array: one copy for each of `blocks` blocks, lane i in block[i]."""
    size, strides = math.prod(shape), row_major(shape)
    cells = _room(blocks * size, dtype)
    memory = Memory(name, "shared", cells, shape=shape, strides=strides, base=base, copies=blocks, written=False)
    return View(memory, block.astype(np.int64) * size, shape, strides)


def lane_view(name, shape, dtype, lanes):
    """Return the View of a local array: one copy for each of `lanes` lanes."""
    size, strides = math.prod(shape), row_major(shape)
    cells = _room(lanes * size, dtype)
    memory = Memory(name, "local", cells, shape=shape, strides=strides, copies=lanes, written=False)
    return View(memory, np.arange(lanes, dtype=np.int64) * size, shape, strides)


def _room(count, dtype):
    """Return so many cells; behind records there is a spare one."""
    return np.zeros(count + 1, dtype)[:-1] if dtype.names else np.zeros(count, dtype)


def constant_view(name, array, base):
    """Return the View of an array in constant memory: a copy of the host's, as it is at the launch."""
    cells, strides = np.array(array, order="C").reshape(-1), row_major(array.shape)
    memory = Memory(name, "constant", cells, shape=array.shape, strides=strides, base=base)
    return View(memory, np.int64(0), array.shape, strides)


def row_major(shape):
    """Return the strides, in elements, of an array that lies row by row."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides


_NONE = np.zeros(0, np.bool_)


@kernel
def _put(cell, there, given, written, changed):
    for i in range(cell.size):
        c = cell[i]
        if there[c] != given[i]:
            there[c], changed[i] = given[i], True
        if written.size and not written[c]:
            written[c] = changed[i] = True


@kernel
def step(offset, shift, index, size, stride):
    """Return (offset + shift + index * stride per lane, first lane that is outside, first negative one, how many).

    The lanes are -1 if there is none; how many are outside, or else negative. An empty `offset` is 0 everywhere. A
    negative index counts from the end, as in Numba.
    """
    out = np.empty(index.size, np.int64)
    outside = negative = -1
    count = negatives = odd = 0
    for i in range(index.size):
        k = index[i]
        odd += (k < 0) | (k >= size)
        out[i] = k * stride + shift
    if odd:
        for i in range(index.size):
            k = index[i]
            if k < 0:
                k += size
                negatives += 1
                if negative < 0:
                    negative = i
            if k < 0 or k >= size:
                count += 1
                if outside < 0:
                    outside = i
            out[i] = k * stride + shift
    if offset.size:
        out += offset
    return out, outside, negative, count if count else negatives
