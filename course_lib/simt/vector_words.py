"""CUDA's vector types as functions: cuda.float32x4(x, y, z, w), also of shorter vectors, under all their names.

Source: Numba's documentation, "CUDA Kernel API" (vector types).
"""

import numpy as np

from course_lib.simt.bundles import Vector
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import register

DTYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)] + ["float32", "float64"]
NAMES = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "uchar": "uint8",
    "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip
"""CUDA C++'s names: float4 is float32x4."""


def _make(dtype, length):
    tag, dtype = (f"{dtype}x{length}", dtype), np.dtype(dtype)

    def act(e, mask, node, *values):
        parts = []
        for value in values:
            if type(value) is Vector and value.tag[1] == tag[1]:
                parts += value.parts
            elif is_number(value) and value.dtype.kind != "c":
                parts.append(cast(value, dtype))
            else:
                raise TypeError(f"{describe(value)} is neither a number nor a vector of {dtype}")
        if len(parts) != length:
            raise TypeError(f"it takes {length} numbers, also as shorter vectors, and got {len(parts)}")
        return Vector(tag, parts)

    return act


for _length in range(1, 5):
    for _name, _dtype in {**{d: d for d in DTYPES}, **NAMES}.items():
        FUNCTIONS[f"cuda.{_name}{'x' if _name in DTYPES else ''}{_length}"] = _make(_dtype, _length)
register(f"cuda.{dtype}x{length}" for dtype in DTYPES for length in range(1, 5))
