"""Arithmetic with complex numbers: what it costs, and the power as Numba's CUDA target computes it.

Source: Numba's documentation, "Numeric types"; LAPACK Working Note 41 (a complex product is six operations, a sum two).
"""

import numpy as np

from course_lib.simt.bundles import WholeMember
from course_lib.simt.calls import Method
from course_lib.simt.functions import FUNCTIONS

FLOPS = {"Add": 2, "Sub": 2, "Mult": 6, "Div": 9, "Pow": 20, "USub": 2}
"""Real operations of one with complex numbers. Numba makes a complex number of a real one first: its product is six
as well; a quotient is Smith's, a power five functions of real numbers and what puts them together."""


def flops_of(name, dtype):
    """Return how many floating-point operations an operation has whose result has this dtype."""
    return FLOPS.get(name, 1) if dtype.kind == "c" else 1


def power(a, b):
    """Return a ** b of vectors of one dtype; of complex numbers by polar coordinates, as Numba does it."""
    if a.dtype.kind != "c":
        return np.power(a, b)
    size, angle = np.hypot(a.real, a.imag), np.arctan2(a.imag, a.real)
    length, phase = np.power(size, b.real), angle * b.real
    turned = b.imag != 0
    length = np.where(turned, length / np.exp(angle * b.imag), length)
    phase = np.where(turned, phase + b.imag * np.log(size), phase)
    out = length * (np.cos(phase) + np.sin(phase) * a.dtype.type(1j))
    out = np.where((a.real == 0) & (b.real == 0), a.dtype.type(0), out)
    return np.where(b == 0, a.dtype.type(1), out).astype(a.dtype)[()]


def part_of(value, name):
    """Return the real or the imaginary part of a number of any dtype but bool, in the dtype that it has in Numba."""
    if value.dtype.kind == "c":
        return np.ascontiguousarray(getattr(value, name))[()] if np.ndim(value) else getattr(value, name)
    return value if name == "real" else value.dtype.type(0)


def attribute_of_number(value, name):
    """Return what a number's attribute is, or its method; None if Numba knows none of that name."""
    if type(value) is WholeMember and name == "value":
        return np.int64(value)
    if value.dtype.kind == "b" and name != "item":
        return None
    if name in ("real", "imag"):
        return part_of(value, name)
    return Method(value, name, "number") if f"number.{name}" in FUNCTIONS else None
