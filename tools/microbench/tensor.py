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


def chains(convert, mma):
    """Return the kernel (x, turns, y): four chains of products by `mma` a warp; convert(a, b) makes an operand."""

    @gpu.jit
    def _products(x, turns, y):
        p, q = convert(x[0], x[1]), convert(x[1], x[2])
        zero = float32(0)
        c = d = e = f = (zero, zero, zero, zero)
        for _ in range(turns):
            c = mma((p, q, p, q), (p, q), c)
            d = mma((q, q, p, q), (p, q), d)
            e = mma((p, p, p, q), (p, q), e)
            f = mma((p, q, q, q), (p, q), f)
        y[cuda.grid(1)] = c[0] + d[0] + e[0] + f[0]

    return _products


@gpu.jit(device=True)
def first_as_tf32(x, y):
    """The first of two numbers as TF32: other formats put both into a register."""
    return to_tf32(x)


_products = chains(first_as_tf32, mma_tf32)


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
