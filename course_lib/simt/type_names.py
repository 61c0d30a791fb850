"""The types that a kernel may name: NumPy's and Numba's, and their short names such as np.intc, numba.f4, types.int32.

Source: Numba's documentation, "Types and signatures". They are found by walking through the modules' own names, so that
all names of one object are known, and the object itself under any name.
"""

import numba
import numpy as np
from numba.core import types as numba_types
from numba.np.numpy_support import as_dtype

from course_lib.simt.types import SCALARS

MODULES = {"np": np, "numba": numba, "cuda": numba, "numba.types": numba_types, "cuda.types": numba_types}
"""Modules by path; in `cuda` NVIDIA's numba-cuda has the names of `numba`."""


def _dtype(value):
    """Return the dtype that one of NumPy's classes or of Numba's types stands for, None for anything else."""
    if isinstance(value, type) and any(value is scalar for scalar in np.sctypeDict.values()):
        found = np.dtype(value)
    elif type(value) in (numba_types.Integer, numba_types.Float, numba_types.Boolean, numba_types.Complex):
        found = as_dtype(value)
    else:
        return None
    return found if found.type in SCALARS or found.kind in "iu" else None


NAMES = {
    f"{path}.{name}": dtype
    for path, module in MODULES.items()
    for name, value in sorted(vars(module).items())
    if not name.startswith(("_", "c_", "np_", "py_")) and (dtype := _dtype(value)) is not None
}
"""Path of a name -> the dtype that it stands for."""

OBJECTS = {
    id(value): (value, dtype)
    for module in MODULES.values()
    for value in vars(module).values()
    if (dtype := _dtype(value)) is not None
}
"""id of an object -> (the object, its dtype): for `float32` after `from numba import float32`."""
