"""Which device these tests run on; each module runs as it is on a GPU, on SIMT and on Numba's simulator."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.choice import GPU, SIMT, SIMULATOR
from course_lib.cuda.device import choice

DEVICE = choice().device
HERE = f"kernels run on {gpu.device_name()}: {gpu.why()}"
needs_gpu = pytest.mark.skipif(DEVICE != GPU, reason=f"needs a CUDA GPU; {HERE}")
needs_simt = pytest.mark.skipif(DEVICE != SIMT, reason=f"needs the SIMT executor; {HERE}")
needs_numba = pytest.mark.skipif(DEVICE == SIMULATOR, reason=f"needs Numba without its simulator; {HERE}")
needs_warps = pytest.mark.skipif(
    DEVICE == SIMULATOR, reason=f"needs lanes of a warp that work together, and it runs one thread at a time; {HERE}"
)


def each_rung(ladder, warps=()):
    """Parametrise a test by `rung`; those whose numbers are in `warps` shuffle, or multiply by whole warps."""
    marks = {r.name: [needs_warps] if r.number in warps else [] for r in ladder}
    return pytest.mark.parametrize("rung", [pytest.param(r, id=r.name, marks=marks[r.name]) for r in ladder])


def ramp(*shape, dtype=np.float32):
    """Return 0, 1, 2 ... as an array of this shape."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def nans(*shape):
    """Return a device array of NaN that counts as written, for results: what is not computed shows."""
    return gpu.to_device(np.full(shape, np.nan, np.float32))
