"""Products on tensor cores: how many a card does in a second with all warps busy, and how long one of a chain takes.

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import mma_tf32, to_tf32
from course_lib.cuda.numba_cuda import cuda, float32
from tools.microbench.runs import Run

CHAINS = 4
LEAST = (8, 0)
"""The oldest compute capability that has the instruction."""


@gpu.jit
def _products(x, turns, y):
    """Four chains of products of 16 x 8 by 8 x 8 in each warp."""
    p, q = to_tf32(x[0]), to_tf32(x[1])
    zero = float32(0)
    c = d = e = f = (zero, zero, zero, zero)
    for _ in range(turns):
        c = mma_tf32((p, q, p, q), (p, q), c)
        d = mma_tf32((q, q, p, q), (p, q), d)
        e = mma_tf32((p, p, p, q), (p, q), e)
        f = mma_tf32((p, q, q, q), (p, q), f)
    y[cuda.grid(1)] = c[0] + d[0] + e[0] + f[0]


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    if compute_capability() < LEAST:
        return {}
    x, y = gpu.to_device(np.full(32, 0.5, np.float32)), gpu.to_device(np.zeros(132 * 8 * 256, np.float32))
    turns, found = 1 if tiny else 2048, {}
    for who, blocks, threads in (("one warp", 1, 32), ("all warps", 132 * 8, 256)):
        if not tiny or blocks == 1:
            work = blocks * threads // 32 * CHAINS * turns
            found[f"TF32 products of 16 x 8 x 8, {who}"] = Run(
                lambda b=blocks, t=threads: _products[b, t](x, turns, y), work, "operations of a warp"
            )
    return found
