"""Atomic operations: a lane reads, combines and writes an element while no other lane can come between.

Source: Numba's documentation, "Supported Atomic Operations"; NVIDIA, "CUDA C++ Programming Guide", "Atomic
Functions". The lanes go one after the other, in order; a GPU may take any order.
"""

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.memory import View
from course_lib.simt.operations import ADD, AND, CAS, DEC, EXCH, INC, MAX, MIN, NANMAX, NANMIN, OR, SUB, XOR
from course_lib.simt.values import describe, is_number
from course_lib.simt.vocabulary import register

NUMBERS = {
    "iuf": "int32, uint32, int64, uint64, float32 or float64", "iu": "int32, uint32, int64 or uint64",
    "u": "uint32 or uint64",
}  # fmt: skip
TWO_BYTES_OR_LESS = ("int8", "uint8", "int16", "uint16", "bool", "float16")


@kernel
def combine_numbers(cells, cell, value, expected, what, before):
    """Do operation `what` with value[i] on cells[cell[i]], one i after the other; before[i] gets the old number."""
    for i in range(cell.size):
        old, new = cells[cell[i]], value[i]
        before[i] = old
        if what == ADD:
            new = old + new
        elif what == SUB:
            new = old - new
        elif what in (MAX, NANMAX):
            new = new if new > old or (what == NANMAX and old != old) else old
        elif what in (MIN, NANMIN):
            new = new if new < old or (what == NANMIN and old != old) else old
        elif what == CAS:
            new = new if old == expected[i] else old
        cells[cell[i]] = new


@kernel
def combine_bits(cells, cell, value, expected, what, before):
    """Do an operation on whole numbers' bits, or a wrapping count; as `combine_numbers`."""
    for i in range(cell.size):
        old, new = cells[cell[i]], value[i]
        before[i] = old
        if what == AND:
            new = old & new
        elif what == OR:
            new = old | new
        elif what == XOR:
            new = old ^ new
        elif what == INC:
            new = old - old if old >= new else old + cells.dtype.type(1)
        elif what == DEC:
            new = new if old == 0 or old > new else old - cells.dtype.type(1)
        cells[cell[i]] = new


def _atomic(name, what, kinds):
    """Enter cuda.atomic.`name`(array, index, value), for arrays whose dtype has one of `kinds`."""

    def act(e, mask, node, view, index, value):
        return _act(e, mask, node, view, index, value, None)

    def _act(e, mask, node, view, index, value, expected):
        if not isinstance(view, View):
            raise TypeError("its first argument is an array")
        if view.dtype.kind not in kinds or view.dtype.name in TWO_BYTES_OR_LESS:
            raise TypeError(
                f"{view.name} is an array of {view.dtype}, for which Numba has no atomic {name}; use {NUMBERS[kinds]}"
            )
        if not is_number(value) or (expected is not None and not is_number(expected)):
            raise TypeError(f"{describe(value)} is no number")
        indices = list(index) if isinstance(index, tuple) else [index]
        if len(indices) != view.ndim or not all(is_number(i) and i.dtype.kind in "iub" for i in indices):
            raise TypeError(f"{view.name} is {view.shape} and takes {view.ndim} whole numbers as index")
        combine = combine_bits if what in (AND, OR, XOR, INC, DEC) else combine_numbers
        return e.machine.atomic(view, indices, value, expected, combine, what, mask, node)

    FUNCTIONS[f"cuda.atomic.{name}"] = act
    return _act


for _name, _what, _kinds in (
    ("add", ADD, "iuf"), ("sub", SUB, "iuf"), ("max", MAX, "iuf"), ("min", MIN, "iuf"), ("nanmax", NANMAX, "iuf"),
    ("nanmin", NANMIN, "iuf"), ("exch", EXCH, "iu"), ("and_", AND, "iu"), ("or_", OR, "iu"), ("xor", XOR, "iu"),
    ("inc", INC, "u"), ("dec", DEC, "u"),
):  # fmt: skip
    _atomic(_name, _what, _kinds)
_compare = _atomic("cas", CAS, "iu")


def _cas(e, mask, node, view, index, old, value):
    return _compare(e, mask, node, view, index, value, old)


def _compare_and_swap(e, mask, node, view, old, value):
    return _compare(e, mask, node, view, np.int64(0), value, old)


FUNCTIONS["cuda.atomic.cas"] = _cas
FUNCTIONS["cuda.atomic.compare_and_swap"] = _compare_and_swap
register(FUNCTIONS)
