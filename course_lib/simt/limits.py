"""The limits of a type: np.finfo(np.float32).max, np.iinfo(np.int32).min.

Source: Numba's documentation, "Supported NumPy features" (finfo, iinfo).
"""

from typing import NamedTuple

import numpy as np

from course_lib.simt import types

KNOWN = {
    "finfo": (
        "bits", "eps", "epsneg", "iexp", "machep", "max", "maxexp", "min", "minexp", "negep", "nexp", "nmant",
        "precision", "resolution", "tiny",
    ),
    "iinfo": ("bits", "max", "min"),
}  # fmt: skip


class Limits(NamedTuple):
    """What np.finfo or np.iinfo knows of a dtype. Source: NumPy's documentation, "numpy.finfo"."""

    dtype: np.dtype
    word: str


def limits_of(word, dtype):
    """Return the Limits of a dtype; TypeError if finfo or iinfo takes none such."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in ("fc" if word == "finfo" else "iu"):
        raise TypeError(f"it takes a type, such as np.{'float32' if word == 'finfo' else 'int32'}")
    return Limits(dtype, word)


def limit(limits, name):
    """Return a limit: a float is of the type in question, a whole number as a literal; None if Numba knows none."""
    if name not in KNOWN[limits.word]:
        return None
    value = getattr(getattr(np, limits.word)(limits.dtype), name)
    return types.literal(int(value)) if isinstance(value, int | np.integer) else value
