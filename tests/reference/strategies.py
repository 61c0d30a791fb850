"""Inputs that break careless code: odd sizes, batch 1, both float types, Fortran order, strided views."""

import numpy as np
from hypothesis import strategies as st

LAYOUTS = ("C", "F", "batch last", "strided", "reversed", "read-only")
SIZES = st.sampled_from([1, 2, 3, 5, 7, 13])
DTYPES = st.sampled_from([np.float32, np.float64])


def lay_out(array, layout):
    """Return an equal array with another memory layout."""
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "batch last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)
    if layout == "strided":
        wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), np.nan, dtype=array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    if layout == "read-only":
        array = array.copy()
        array.flags.writeable = False
    return array


@st.composite
def matrices(draw, rows=SIZES, cols=SIZES, dtype=DTYPES, scale=2.0):
    """A matrix of distinct, seeded normal numbers, in any layout and type."""
    shape = draw(rows), draw(cols)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return lay_out((scale * rng.standard_normal(shape)).astype(draw(dtype)), draw(st.sampled_from(LAYOUTS)))
