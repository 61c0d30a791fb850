"""How many operations of a kind an SM does in a second, with all warps busy, and how long one of a chain takes.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Throughput of Native Arithmetic Instructions", has the peaks.
"""

import math

import numpy as np
from numba import float64

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, float32, int32, int64, uint32
from course_lib.cuda.unroll import unroll
from tools.microbench.runs import Run

CHAINS, BATCH, SIDE = 8, 64, 8


@gpu.jit
def _fma(x, turns, y):
    """Eight sums that share their two other operands."""
    acc = cuda.local.array(CHAINS, float32)
    a, b = x[0], x[1]
    for i in range(CHAINS):
        acc[i] = x[i]
    for _ in range(turns):
        for i in unroll(BATCH):
            acc[i % CHAINS] = acc[i % CHAINS] * a + b
    total = float32(0)
    for i in range(CHAINS):
        total += acc[i]
    y[cuda.grid(1)] = total


@gpu.jit
def _fma_outer(x, turns, y):
    """As in a product with register tiles: 8 x 8 sums of 8 + 8 operands."""
    acc = cuda.local.array((SIDE, SIDE), float32)
    a = cuda.local.array(SIDE, float32)
    b = cuda.local.array(SIDE, float32)
    for i in range(SIDE):
        a[i], b[i] = x[i], x[i + SIDE]
        for j in range(SIDE):
            acc[i, j] = float32(0)
    for _ in range(turns):
        for i in range(SIDE):
            for j in range(SIDE):
                acc[i, j] += a[i] * b[j]
        for i in range(SIDE):
            a[i] = a[i] + b[i]  # else the products would leave the loop
    total = float32(0)
    for i in range(SIDE):
        for j in range(SIDE):
            total += acc[i, j]
    y[cuda.grid(1)] = total


@gpu.jit
def _fma_chain(x, turns, y):
    a, b, acc = x[0], x[1], x[2]
    for _ in range(turns):
        for _i in unroll(BATCH):
            acc = acc * a + b
    y[cuda.grid(1)] = acc


@gpu.jit
def _float64(x, turns, y):
    acc = cuda.local.array(CHAINS, float64)
    a, b = float64(x[0]), float64(x[1])
    for i in range(CHAINS):
        acc[i] = float64(x[i])
    for _ in range(turns):
        for i in unroll(BATCH):
            acc[i % CHAINS] = acc[i % CHAINS] * a + b
    total = float64(0)
    for i in range(CHAINS):
        total += acc[i]
    y[cuda.grid(1)] = float32(total)


@gpu.jit
def _whole(x, turns, y):
    """Exclusive or and sum in turns, which no compiler folds."""
    acc = cuda.local.array(CHAINS, uint32)
    a, b = uint32(x[0]), uint32(x[1])
    for i in range(CHAINS):
        acc[i] = uint32(x[i])
    for _ in range(turns):
        for i in unroll(BATCH // 2):
            acc[i % CHAINS] = uint32(uint32(acc[i % CHAINS] ^ a) + b)
    total = uint32(0)
    for i in range(CHAINS):
        total = uint32(total + acc[i])
    y[cuda.grid(1)] = float32(total)


@gpu.jit
def _whole_products(x, turns, y):
    acc = cuda.local.array(CHAINS, uint32)
    a, b = uint32(x[0]), uint32(x[1])
    for i in range(CHAINS):
        acc[i] = uint32(x[i])
    for _ in range(turns):
        for i in unroll(BATCH):
            acc[i % CHAINS] = uint32(uint32(acc[i % CHAINS] * a) + b)
    total = uint32(0)
    for i in range(CHAINS):
        total = uint32(total + acc[i])
    y[cuda.grid(1)] = float32(total)


@gpu.jit
def _divide_int64(x, turns, y):
    a, acc = int64(x[0]) + 3, int64(x[1])
    for _ in range(turns):
        for _i in unroll(8):
            acc = 123456789 + acc // a
    y[cuda.grid(1)] = float32(acc)


@gpu.jit
def _divide_int32(x, turns, y):
    a, acc = int32(int32(x[0]) + int32(3)), int32(x[1])
    for _ in range(turns):
        for _i in unroll(8):
            acc = int32(int32(123456789) + int32(acc // a))
    y[cuda.grid(1)] = float32(acc)


@gpu.jit
def _divide_uint32(x, turns, y):
    a, acc = uint32(uint32(x[0]) + uint32(3)), uint32(x[1])
    for _ in range(turns):
        for _i in unroll(8):
            acc = uint32(uint32(123456789) + uint32(acc // a))
    y[cuda.grid(1)] = float32(acc)


@gpu.jit
def _divide(x, turns, y):
    a, acc = x[0] + float32(3), x[1]
    for _ in range(turns):
        for _i in unroll(8):
            acc = a / (acc + float32(2))
    y[cuda.grid(1)] = acc


@gpu.jit
def _exp(x, turns, y):
    acc = x[0]
    for _ in range(turns):
        for _i in unroll(8):
            acc = math.exp(-acc)
    y[cuda.grid(1)] = acc


@gpu.jit
def _log(x, turns, y):
    acc = x[0]
    for _ in range(turns):
        for _i in unroll(8):
            acc = math.log(acc + float32(2))
    y[cuda.grid(1)] = acc


@gpu.jit
def _sqrt(x, turns, y):
    acc = x[0]
    for _ in range(turns):
        for _i in unroll(8):
            acc = math.sqrt(acc + float32(2))
    y[cuda.grid(1)] = acc


@gpu.jit
def _tanh(x, turns, y):
    acc = x[0]
    for _ in range(turns):
        for _i in unroll(8):
            acc = math.tanh(acc)
    y[cuda.grid(1)] = acc


KERNELS = {
    "FMA, shared operands": (_fma, BATCH), "FMA, outer product": (_fma_outer, SIDE * SIDE + SIDE),
    "FMA, one chain": (_fma_chain, BATCH), "float64 FMA": (_float64, BATCH),
    "integer xor and sum": (_whole, BATCH), "integer product and sum": (_whole_products, BATCH),
    "int64 //": (_divide_int64, 8), "int32 //": (_divide_int32, 8), "uint32 //": (_divide_uint32, 8),
    "float32 /": (_divide, 8), "exp": (_exp, 8), "log": (_log, 8), "sqrt": (_sqrt, 8), "tanh": (_tanh, 8),
}  # fmt: skip
"""Name -> (kernel, operations of a thread in a turn)."""


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    x = gpu.to_device(np.full(32, 0.5, np.float32))
    y = gpu.to_device(np.zeros(132 * 8 * 256, np.float32))
    found = {}
    for name, (kernel, operations) in KERNELS.items():
        turns = 1 if tiny else 65536 // operations
        for who, blocks, threads in (("one warp", 1, 32), ("all warps", 132 * 8, 256)):
            if tiny and blocks > 1:
                continue
            work = blocks * threads // 32 * operations * turns
            found[f"{name}, {who}"] = Run(
                lambda k=kernel, b=blocks, t=threads, n=turns: k[b, t](x, n, y), work, "operations of a warp"
            )
    return found
