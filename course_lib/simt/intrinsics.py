"""The course's intrinsics on the SIMT executor: what each does to all lanes at once.

Source: NVIDIA, "PTX ISA". The formulas of single lanes are `course_lib.cuda.plain`'s; here are the accesses, which are
counted and checked, and what a whole warp does together.
"""

import numpy as np

from course_lib.cuda import intrinsics, plain
from course_lib.cuda.fragments import DEPTHS, fragment
from course_lib.cuda.unroll import unroll
from course_lib.reference.formats import decode
from course_lib.simt.lanes import WARP
from course_lib.simt.library import twin
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import PATHS
from course_lib.simt.warps import ALL, meet

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


def _of_lanes(formula, dtype, *numbers):
    """Return `formula` of all lanes' numbers as this dtype; one number where all of them are the same for all lanes."""
    found = formula(*(np.atleast_1d(cast(x, np.dtype(dtype))) for x in numbers))
    if any(np.ndim(x) for x in numbers):
        return found
    return tuple(part[0] for part in found) if isinstance(found, tuple) else found[0]


def _numbers(name, formula):
    """Enter a function of one float32 number: `formula` of all lanes'."""

    @_enter(name)
    def act(e, mask, node, x):
        if not is_number(x):
            raise TypeError(f"{describe(x)} is no number")
        e.machine.count(node.lineno, mask)
        return _of_lanes(formula, np.float32, x)


_numbers("float_bits", lambda x: x.view(np.uint32))
_numbers("to_tf32", plain.to_tf32)
_numbers("split_tf32", plain.split_tf32)
_numbers("chop_tf32", plain.chop_tf32)


@_enter("bits_float")
def _bits_float(e, mask, node, u):
    if not is_number(u) or u.dtype.kind not in "iu":
        raise TypeError(f"{describe(u)} is no whole number")
    e.machine.count(node.lineno, mask)
    return _of_lanes(lambda bits: bits.view(np.float32), np.uint32, u)


def _pair(name, formula):
    @_enter(name)
    def act(e, mask, node, low, high):
        for x in (low, high):
            if not is_number(x):
                raise TypeError(f"{describe(x)} is no number")
        e.machine.count(node.lineno, mask)
        return _of_lanes(formula, np.float32, low, high)


_pair("to_fp16_pair", plain.to_fp16_pair)
_pair("to_bf16_pair", plain.to_bf16_pair)


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


def _mma(name, kind, unpack):
    """Enter D = A B + C by whole warps: `unpack` makes of a register (...) uint32 the numbers in it, (..., parts).

    Products of such numbers are exact in float64, in which they are added here; the sum is cut to float32. A card cuts
    earlier: it lines up the addends below the largest one, and cuts what of each lies below the last place that it
    keeps; and it may add a long row in parts. Each of these cuts loses less than 2^-23 of the largest addend, so that a
    result differs from the card's by at most twice the `rounding_bound` of `course_lib.cuda.tensor_bounds`.

    Source: M. Fasi et al., "Numerical behavior of NVIDIA tensor cores" (2021).
    """

    @_enter(name)
    def act(e, mask, node, a, b, c):
        for letter, parts, n in (("a", a, 4), ("b", b, 2), ("c", c, 4)):
            if not isinstance(parts, tuple) or len(parts) != n:
                raise TypeError(f"{letter} is a tuple of {n} numbers, not {describe(parts)}")
        _whole_warps(e, mask, node)

        def matrix(operand, registers, dtype, numbers):
            held = np.stack([numbers(_by_warp(e, r, dtype)) for r in registers], axis=2)
            return fragment(operand, kind).scatter(held.astype(np.float64))

        A, B = matrix("a", a, np.uint32, unpack), matrix("b", b, np.uint32, unpack)
        exact = A @ B + matrix("c", c, np.float32, lambda numbers: numbers[..., None])
        e.machine.count(node.lineno, mask, np.dtype(np.float32), flops=2 * 16 * 8 * DEPTHS[kind] // WARP)
        results = fragment("c", kind)
        D = _toward_zero(exact)[:, results.rows[..., 0], results.columns[..., 0]]
        return tuple(D[..., h].reshape(-1) for h in range(4))


def _tf32(bits):
    """The machine looks at the highest 19 bits only."""
    return (np.ascontiguousarray(bits) & np.uint32(0xFFFFE000)).view(np.float32)[..., None]


def _pairs(name):
    def unpack(bits):
        return np.stack([decode(bits & np.uint32(0xFFFF), name), decode(bits >> np.uint32(16), name)], axis=-1)

    return unpack


_mma("mma_tf32", "tf32", _tf32)
_mma("mma_fp16", "fp16", _pairs("fp16"))
_mma("mma_bf16", "bf16", _pairs("bf16"))


def _toward_zero(exact):
    """Round to float32 as tensor cores do, by cutting off."""
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)
