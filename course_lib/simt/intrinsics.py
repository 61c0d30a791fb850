"""The course's intrinsics on the SIMT executor: what each does to all lanes at once.

Source: NVIDIA, "PTX ISA". The formulas of single lanes are `course_lib.cuda.plain`'s; here are the accesses, which are
counted and checked, and what a whole warp does together.
"""

import numpy as np

from course_lib.cuda import intrinsics, plain
from course_lib.cuda.unroll import unroll
from course_lib.simt.lanes import WARP
from course_lib.simt.library import twin
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import PATHS
from course_lib.simt.warps import ALL, meet

LEFT = np.arange(WARP) // 4, np.arange(WARP) % 4
"""g and q of each lane of a warp: its row of four lanes, and its place there."""

PATHS[id(unroll)] = (unroll, "range")  # the loop as it stands


def _enter(name):
    return twin(getattr(intrinsics, name), name)


def _load(name, width):
    @_enter(name)
    def act(e, mask, node, array, index):
        _check_floats(array)
        return e.machine.load_wide(array, index, width, mask, node)


def _store(name, width):
    @_enter(name)
    def act(e, mask, node, array, index, *values):
        _check_floats(array)
        if len(values) != width:
            raise TypeError(f"it takes an array, an index and {width} numbers")
        e.machine.store_wide(array, index, values, mask, node)


def _check_floats(array):
    if getattr(array, "dtype", None) != np.float32:
        raise TypeError(f"{describe(array)} is no array of float32")


for _width in (2, 4):
    _load(f"ld{_width}", _width)
    _store(f"st{_width}", _width)


@_enter("nonneg")
def _nonneg(e, mask, node, index):
    if not is_number(index) or index.dtype.kind not in "iu":
        raise TypeError(f"{describe(index)} is no whole number")
    below = e.machine.active(index, mask) < 0
    if below.any():
        lane = e.machine.lane_of(mask, int(below.argmax()))
        e.machine.found(
            "negative index", node.lineno,
            f"{e.lanes.name(lane)} gives nonneg the index {e.machine.active(index, mask)[below.argmax()]}, and nonneg "
            "promises that it is never negative.",
            "Leave nonneg out, or guard the line: what a GPU does after a broken promise is not defined.", lane=lane,
            count=int(np.count_nonzero(below)), index=int(e.machine.active(index, mask)[below.argmax()]),
        )  # fmt: skip
    return index


def _copy(name, width, part):
    @_enter(name)
    def act(e, mask, node, shared, i, array, j, *count):
        if len(count) != part:
            raise TypeError(f"it takes {4 + part} values, not {4 + len(count)}")
        e.machine.copy_async(shared, i, array, j, width, count[0] if part else np.int64(width), mask, node)


for _name, _width in (("cp_async16", 4), ("cp_async4", 1)):
    _copy(_name, _width, 0)
    _copy(f"{_name}_part", _width, 1)


@_enter("cp_async_commit")
def _commit(e, mask, node):
    e.machine.copies.commit(mask)


def _wait(newest):
    @_enter(f"cp_async_wait{newest}")
    def act(e, mask, node):
        e.machine.wait_async(newest, mask, node)


for _newest in range(4):
    _wait(_newest)


def _numbers(name, formula):
    """Enter a function of one float32 number: `formula` of all lanes'."""

    @_enter(name)
    def act(e, mask, node, x):
        if not is_number(x):
            raise TypeError(f"{describe(x)} is no number")
        e.machine.count(node.lineno, mask)
        return formula(np.atleast_1d(cast(x, np.dtype(np.float32))))


_numbers("float_bits", lambda x: x.view(np.uint32))
_numbers("to_tf32", plain.to_tf32)
_numbers("split_tf32", plain.split_tf32)
_numbers("chop_tf32", plain.chop_tf32)


# --------------------------------------------------------------------------------------------- a whole warp


def _whole_warps(e, mask, node):
    """Count the operation; all 32 lanes of a warp must come."""
    if e.lanes.threads % WARP:
        raise TypeError(f"it takes whole warps; the block has {e.lanes.threads} threads, no multiple of {WARP}")
    meet(e, mask, node, ALL)


def _by_warp(e, value, dtype):
    """Return (warps, 32): each lane's number."""
    return np.broadcast_to(cast(value, np.dtype(dtype)), e.lanes.count).reshape(-1, WARP)


@_enter("ldmatrix_x4")
def _ldmatrix_x4(e, mask, node, shared, i):
    _whole_warps(e, mask, node)
    if getattr(getattr(shared, "memory", None), "space", "") != "shared":
        raise TypeError(f"{describe(shared)} is no shared array")
    rows = np.stack(e.machine.load_wide(shared, i, 4, mask, node), axis=-1)  # (lanes, 4): a row of a tile each
    rows = rows.view(np.uint32).reshape(-1, 4, 8, 4)  # (warps, tile, row, float)
    return tuple(rows[:, tile].reshape(-1) for tile in range(4))  # lane l gets row l // 4, float l % 4


@_enter("mma_tf32")
def _mma_tf32(e, mask, node, a, b, c):
    for name, parts, n in (("a", a, 4), ("b", b, 2), ("c", c, 4)):
        if not isinstance(parts, tuple) or len(parts) != n:
            raise TypeError(f"{name} is a tuple of {n} numbers, not {describe(parts)}")
    _whole_warps(e, mask, node)
    g, q = LEFT
    count = e.lanes.count // WARP
    A, B, D = np.zeros((count, 16, 8)), np.zeros((count, 8, 8)), np.zeros((count, 16, 8))
    for h in range(4):
        A[:, g + 8 * (h % 2), q + 4 * (h // 2)] = _tf32(_by_warp(e, a[h], np.uint32))
        D[:, g + 8 * (h // 2), 2 * q + h % 2] = _by_warp(e, c[h], np.float32)
    for h in range(2):
        B[:, q + 4 * h, g] = _tf32(_by_warp(e, b[h], np.uint32))
    exact = A @ B + D  # products of TF32 numbers are exact in float64
    D = _toward_zero(exact)
    e.machine.count(node.lineno, mask, np.dtype(np.float32), flops=2 * 16 * 8 * 8 // WARP)
    return tuple(D[:, g + 8 * (h // 2), 2 * q + h % 2].reshape(-1) for h in range(4))


def _tf32(bits):
    """The machine looks at the highest 19 bits only."""
    return (np.ascontiguousarray(bits) & np.uint32(0xFFFFE000)).view(np.float32)


def _toward_zero(exact):
    """Round to float32 as tensor cores do, by cutting off."""
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)
