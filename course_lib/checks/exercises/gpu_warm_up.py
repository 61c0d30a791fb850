"""GPU warm-up: kernels of lessons to come, judged by their values, their hazards and their traffic.

No GPU is needed. Each launch makes its output with `kernels.output`: NaN, and the executor knows what was
never written.

Source: K, "Course Organization", "Pooling Kernel"; H, "Design of a Basic Kernel", "Tiled Matrix Multiplication".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, KernelExercise
from course_lib.checks.exercises import gpu_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.kernels import output

WIDTH, TILE, SPAN = 128, 16, 64
"""Threads of a block: of the product along each side, of the sum and the smoothing in all."""


def _block_sum(kernel, x):
    sums = output(up(x.size, WIDTH))
    kernel[up(x.size, WIDTH), WIDTH](x, sums)
    return sums


def _block_sum_budget(x):
    return {"global_loads": x.size, "shared_load_requests": 64 * up(x.size, WIDTH), "float64_operations": 0}


def _product(kernel, A, B):
    C = output((A.shape[0], B.shape[1]))
    kernel[(up(B.shape[1], TILE), up(A.shape[0], TILE)), (TILE, TILE)](A, B, C)
    return C


def _product_budget(A, B):
    M, N, K = (TILE * up(n, TILE) for n in (*A.shape[:1], *B.shape[1:], A.shape[1]))
    return {"global_loads": 2 * M * N * K // TILE, "float64_operations": 0}


def _max_pool(kernel, x, size):
    C, H, W = x.shape
    y, mask = output((C, H // size, W // size)), output((C, H // size, W // size), np.int32)
    kernel[(up(W // size, 8), up(H // size, 8), C), (8, 8)](x, size, y, mask)
    return y, mask


def _max_pool_right(x, size):
    y, (_, mask) = reference.max_pool_forward(x[None], size)
    return y[0], mask[0].astype(np.int32)


def _convolve(kernel, x, w):
    B, _, H, W = x.shape
    M, _, K, _ = w.shape
    y = output((B, M, H - K + 1, W - K + 1))
    kernel[(M, up(H - K + 1, 4) * up(W - K + 1, 4), B), (4, 4)](x, w, y)
    return y


def _smooth(kernel, x):
    y = output(x.size)
    kernel[up(x.size, SPAN), SPAN](x, y)
    return y


EXERCISES = (
    KernelExercise(
        "gpu.5", "block_sum", "Sum of a block, as a tree", 3, "core", "shared memory and barriers; a race",
        "K, \"Course Organization\"", 12,
        lambda x: np.pad(x, (0, -x.size % WIDTH)).reshape(-1, WIDTH).sum(axis=1),
        (Case((whole(10, 128),), "one full block"), Case((whole(11, 300),), "3 blocks, the last one not full")),
        mistakes.BLOCK_SUM, launch=_block_sum, names={"WIDTH": WIDTH},
        budget=_block_sum_budget, instead_of=("atomic",),
    ),
    KernelExercise(
        "gpu.6", "tiled_product", "Matrix product within 2N³/T loads", 4, "stretch",
        "tiles, two barriers, ragged edges",
        "H, \"Tiled Matrix Multiplication\"", 20, lambda A, B: A @ B,
        (Case((whole(12, 16, 48), whole(13, 48, 32)), "(16, 48) times (48, 32)"),
         Case((whole(14, 5, 23), whole(15, 23, 19)), "(5, 23) times (23, 19)")),
        mistakes.PRODUCT, launch=_product, budget=_product_budget, names={"TILE": TILE},
    ),
    KernelExercise(
        "gpu.7", "max_pool", "Max pooling with its mask", 3, "core",
        "three-dimensional grids; the first of equals wins",
        "K, \"Pooling Kernel\"", 15, _max_pool_right,
        (Case((whole(16, 1, 4, 6, low=-9, high=-1), 2), "1 map, 4 x 6, all negative"),
         Case((whole(17, 2, 7, 11, low=-1, high=1), 3), "2 maps, 7 x 11, many equal values")),
        mistakes.POOL, launch=_max_pool,
    ),
    KernelExercise(
        "gpu.8", "conv_basic", "The basic convolution kernel", 4, "core", "what X, Y and Z of the grid stand for",
        "H, \"Design of a Basic Kernel\"", 14,
        lambda x, w: reference.conv2d_forward(x, w)[0],
        (Case((whole(18, 1, 2, 4, 5), whole(19, 3, 2, 2, 2)), "1 image, 2 maps in, 3 maps out, 3 x 4 outputs"),
         Case((whole(20, 2, 2, 11, 8), whole(21, 3, 2, 3, 3)), "2 images, 9 x 6 outputs: 3 x 2 tiles of 4 x 4")),
        mistakes.CONV, launch=_convolve, rtol=1e-6,
    ),
    KernelExercise(
        "gpu.9", "smooth_tiled", "A sum of neighbours from a tile with halo", 3, "stretch", "a halo; loads per block",
        "H, \"Reuse in 2D Tiled Convolution\"", 16, lambda x: np.convolve(x, np.ones(5, np.float32))[2:-2],
        (Case((whole(22, 64),), "one block"), Case((whole(23, 150),), "3 blocks, the last one not full")),
        mistakes.SMOOTH, launch=_smooth, names={"SPAN": SPAN},
        budget=lambda x: {"global_loads": up(x.size, SPAN) * (SPAN + 4), "float64_operations": 0},
    ),
)  # fmt: skip
