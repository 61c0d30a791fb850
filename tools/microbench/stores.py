"""Stores that write sectors in part, or in columns: what the L2 cache makes of a sector that is not written whole.

Source: the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, float32, int64, uint32
from tools.microbench.runs import Run

SIDE = 32
SIDES = ((1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192), (8192, 8224), (8192, 8200))
"""(rows and columns that are touched, float32 from row to row)."""


@gpu.jit
def _part(y, width):
    """Neighbouring lanes write `width` float32 each of neighbouring sectors."""
    first = int64(cuda.blockIdx.x) * 2048 + int64(cuda.threadIdx.x) * 8
    for k in range(width):
        y[first + k] = float32(k)


@gpu.jit
def _column(y, pitch):
    """A warp writes one float32 in each of 32 rows; the block's other warps write the neighbours to the right."""
    row = uint32(cuda.blockIdx.x * 32 + cuda.threadIdx.x)
    column = uint32(cuda.blockIdx.y * 32 + cuda.threadIdx.y)
    y[int64(row) * pitch + column] = float32(1)


@gpu.jit
def _row(y, pitch):
    """The same block of 32 x 32, each warp a row."""
    column = uint32(cuda.blockIdx.x * 32 + cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.y * 32 + cuda.threadIdx.y)
    y[int64(row) * pitch + column] = float32(1)


@gpu.jit
def _column_load(x, pitch, never, y):
    """As `_column`, but reading."""
    row = uint32(cuda.blockIdx.x * 32 + cuda.threadIdx.x)
    column = uint32(cuda.blockIdx.y * 32 + cuda.threadIdx.y)
    value = x[int64(row) * pitch + column]
    if value == never:
        y[0] = value


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    found = {}
    space = gpu.to_device(np.zeros(1 << 13 if tiny else 1 << 28, np.float32))  # 1 GiB
    out = gpu.to_device(np.zeros(1, np.float32))
    for mib in (0,) if tiny else (16, 1024):
        sectors = 512 if tiny else mib * 2**20 // 32
        for width in (1, 2, 4, 7, 8):
            found[f"{width} of 8 float32 of each sector, {mib} MiB"] = Run(
                lambda b=sectors // 256, w=width: _part[b, 256](space, w), sectors, "sectors"
            )
    for n, pitch in ((64, 64),) if tiny else SIDES:
        grid, sectors = (n // SIDE, n // SIDE), n * n
        name = f"{n} x {n}, pitch {4 * pitch} bytes"
        found[f"column store, {name}"] = Run(lambda g=grid, p=pitch: _column[g, (32, 32)](space, p), sectors, "sectors")
        found[f"row store, {name}"] = Run(lambda g=grid, p=pitch: _row[g, (32, 32)](space, p), sectors // 8, "sectors")
        found[f"column load, {name}"] = Run(
            lambda g=grid, p=pitch: _column_load[g, (32, 32)](space, p, float32(7), out), sectors, "sectors"
        )
    return found
