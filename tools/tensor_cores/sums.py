"""How a card's tensor cores add: lesson 17's long sums on the same operands, and probes of what a sum cuts off.

    long sums   products of split numbers as in `course_lib.lesson.tensor_sums`, whose model stands beside them
    cuts        1 and sixteen (in TF32 eight) products, each a step of float32 over a power of two: the exact sum, cut,
                has all of the whole steps; a card that cuts each addend first has fewer, as few as none

Source: H. Ootomo and R. Yokota (2022); M. Fasi et al. (2021), for the probes.
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import has_hopper
from course_lib.cuda.intrinsics import float_bits, mma_bf16, mma_tf32, to_bf16_pair
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.lesson.tensor_sums import REMEDIES, SPLITS, operands, order_of, tensor_core_products
from course_lib.reference.formats import split
from tools.tensor_cores.instructions import DEPTH, filled, wgmma_kernel

STEP = 2.0**-23
"""From 1 to the next float32."""


@gpu.jit
def _sums_tf32(left, right, order, apart, flush, C):
    g, q = cuda.laneid // 4, cuda.laneid % 4
    row, col = 16 * cuda.blockIdx.x + g, 8 * cuda.blockIdx.y + g
    zero = float32(0)
    large = small = outside = (zero, zero, zero, zero)
    for k0 in range(0, left.shape[2], 8):
        k = k0 + q
        for p in range(order.shape[0]):
            i, j = order[p, 0], order[p, 1]
            a0, a1 = float_bits(left[i, row, k]), float_bits(left[i, row + 8, k])
            a2, a3 = float_bits(left[i, row, k + 4]), float_bits(left[i, row + 8, k + 4])
            b0, b1 = float_bits(right[j, k, col]), float_bits(right[j, k + 4, col])
            if apart > 0 and i + j > 0:
                small = mma_tf32((a0, a1, a2, a3), (b0, b1), small)
            else:
                large = mma_tf32((a0, a1, a2, a3), (b0, b1), large)
        if (k0 + 8) % flush == 0:
            outside = (outside[0] + (small[0] + large[0]), outside[1] + (small[1] + large[1]),
                       outside[2] + (small[2] + large[2]), outside[3] + (small[3] + large[3]))  # fmt: skip
            large = small = (zero, zero, zero, zero)
    n = 8 * cuda.blockIdx.y + 2 * q
    C[row, n], C[row, n + 1], C[row + 8, n], C[row + 8, n + 1] = outside


@gpu.jit
def _sums_bf16(left, right, order, apart, flush, C):
    g, q = cuda.laneid // 4, cuda.laneid % 4
    row, col = 16 * cuda.blockIdx.x + g, 8 * cuda.blockIdx.y + g
    zero = float32(0)
    large = small = outside = (zero, zero, zero, zero)
    for k0 in range(0, left.shape[2], 16):
        k = k0 + 2 * q
        for p in range(order.shape[0]):
            i, j = order[p, 0], order[p, 1]
            a0 = to_bf16_pair(left[i, row, k], left[i, row, k + 1])
            a1 = to_bf16_pair(left[i, row + 8, k], left[i, row + 8, k + 1])
            a2 = to_bf16_pair(left[i, row, k + 8], left[i, row, k + 9])
            a3 = to_bf16_pair(left[i, row + 8, k + 8], left[i, row + 8, k + 9])
            b0 = to_bf16_pair(right[j, k, col], right[j, k + 1, col])
            b1 = to_bf16_pair(right[j, k + 8, col], right[j, k + 9, col])
            if apart > 0 and i + j > 0:
                small = mma_bf16((a0, a1, a2, a3), (b0, b1), small)
            else:
                large = mma_bf16((a0, a1, a2, a3), (b0, b1), large)
        if (k0 + 16) % flush == 0:
            outside = (outside[0] + (small[0] + large[0]), outside[1] + (small[1] + large[1]),
                       outside[2] + (small[2] + large[2]), outside[3] + (small[3] + large[3]))  # fmt: skip
            large = small = (zero, zero, zero, zero)
    n = 8 * cuda.blockIdx.y + 2 * q
    C[row, n], C[row, n + 1], C[row + 8, n], C[row + 8, n + 1] = outside


KERNELS = {"tf32": _sums_tf32, "bf16": _sums_bf16}


def on_the_device(A, B, name, parts, *, flush=None, apart=False):
    """Return C (M, N) float32: A (M, K) @ B (K, N) as `tensor_core_products`, by `mma` on the device.

    M must be a multiple of 16, N of 8, K of what one instruction adds up. KeyError for another format than "tf32" and
    "bf16". Source: Ootomo and Yokota (2022).
    """
    left, right = (gpu.to_device(np.stack(split(matrix, name, parts)).astype(np.float32)) for matrix in (A, B))
    order = gpu.to_device(np.array(order_of(parts), np.int32))
    (M, K), N = A.shape, B.shape[1]
    C = gpu.to_device(np.full((M, N), np.nan, np.float32))
    KERNELS[name][(M // 16, N // 8), 32](left, right, order, int(apart), flush or K, C)
    return gpu.to_host(C)


def long_sums(tiny):
    """Yield rows: the largest error of long sums as a share of the largest result, on the device and by the model."""
    for K in (512, 4096):
        A, B = operands(K)
        if tiny:
            A, B = A[:16], B[:, :8]
        exact = A.astype(np.float64) @ B
        for name, parts in SPLITS:
            for way, kept in REMEDIES.items():
                found = on_the_device(A, B, name, parts, **kept)
                model = tensor_core_products(A, B, name, parts, **kept)
                errors = [float(np.abs(C - exact).max() / np.abs(exact).max()) for C in (found, model)]
                yield {"K": K, "format": name, "parts": parts, "way": way, "error": errors[0], "model": errors[1],
                       "equal": float(np.mean(found == model))}  # fmt: skip
            if tiny and K > 512:
                return


def cuts(products):
    """Yield rows of probes, for `products` {format: kernel (A, B, C, D) of a warp}; of wgmma too, where it is.

    "addends": how many products of `one` step each; "steps": of how many the result is above 1; "exact": the sum
    without cuts. Source: M. Fasi et al. (2021).
    """
    for kind, kernel in products.items():
        call = functools.partial(_by_mma, kernel, DEPTH[kind])
        name = f"mma m16n8k{DEPTH[kind]}"
        yield {"instruction": name, "format": kind, "probe": "three quarters of a step, of 1 and of -1",
               "up": (call(1.5 * 2.0**-12, 2.0**-12, 1, first=True) - 1) / STEP,
               "down": (call(-1.5 * 2.0**-12, 2.0**-12, -1, first=True) + 1) / STEP}  # fmt: skip
        yield from _probes(name, kind, call)
    if has_hopper():
        for kind in ("tf32", "bf16"):
            yield from _probes(f"wgmma m64n64k{DEPTH[kind]}", kind, functools.partial(_by_wgmma, kind))


def _probes(name, kind, call):
    for power in range(7):
        found = (call(2.0**-12, 2.0 ** (-11 - power), 1) - 1) / STEP
        yield {"instruction": name, "format": kind, "probe": "addends", "addends": DEPTH[kind], "one": 2.0**-power,
               "steps": found, "exact": DEPTH[kind] * 2.0**-power}  # fmt: skip


def _by_mma(kernel, depth, a, b, c, *, first=False):
    """Return an element of D = A B + C, where A and B are a and b everywhere, or only in the first product."""
    A, B, C = (np.zeros(s, np.float32) for s in ((1, 16, depth), (1, depth, 8), (1, 16, 8)))
    here = slice(0, 1) if first else slice(None)
    A[:, :, here], B[:, here], C[:] = a, b, c
    D = gpu.to_device(np.zeros_like(C))
    kernel[1, 32](*(gpu.to_device(m) for m in (A, B, C)), D)
    return float(gpu.to_host(D)[0, 0, 0])


def _by_wgmma(kind, a, b, c):
    """Return what one `wgmma` makes of c + a b + ... + a b."""
    x = gpu.to_device(np.append(filled(kind, a, b), np.float32(c)).astype(np.float32))
    found, clocks = gpu.to_device(np.zeros(128, np.float32)), gpu.to_device(np.zeros((1, 4, 2), np.int64))
    wgmma_kernel(kind, 64, True, 128)[1, 128, 0, 64 * 1024](x, 1, found, clocks)
    return float(gpu.to_host(found)[0])
