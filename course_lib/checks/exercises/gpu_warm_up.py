"""GPU warm-up: kernels of lessons to come, judged by their values, their hazards and their traffic.

No GPU is needed. Each launch makes its output with `kernels.output`: NaN, and the executor knows what was
never written.

Source: H, "Design of a Basic Kernel", "Tiled Matrix Multiplication", "Reuse in 2D Tiled
Convolution".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, KernelExercise
from course_lib.checks.exercises import gpu_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.kernels import output

TILE, SPAN = 16, 64
"""Threads of a block: of the product along each side, of the smoothing in all."""


def _product(kernel, A, B):
    C = output((A.shape[0], B.shape[1]))
    kernel[(up(B.shape[1], TILE), up(A.shape[0], TILE)), (TILE, TILE)](A, B, C)
    return C


def _product_budget(A, B):
    M, N, K = (TILE * up(n, TILE) for n in (*A.shape[:1], *B.shape[1:], A.shape[1]))
    return {"global_loads": 2 * M * N * K // TILE, "float64_operations": 0}


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
        "gpu.6", "tiled_product", "Matrix product within 2N³/T loads", 4, "stretch",
        "tiles, two barriers, ragged edges",
        "H, \"Tiled Matrix Multiplication\"", 20, lambda A, B: A @ B,
        (Case((whole(12, 16, 48), whole(13, 48, 32)), "(16, 48) times (48, 32)"),
         Case((whole(14, 5, 23), whole(15, 23, 19)), "(5, 23) times (23, 19)")),
        mistakes.PRODUCT, launch=_product, budget=_product_budget, names={"TILE": TILE},
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
