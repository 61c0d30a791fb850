"""GPU warm-up: kernels of lessons to come, judged by their values, their hazards and their traffic.

No GPU is needed. The launches are in `gpu_warm_up_launches`.

Source: H, "Design of a Basic Kernel", "Tiled Matrix Multiplication", "Reuse in 2D Tiled
Convolution".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, KernelExercise
from course_lib.checks.exercises import gpu_mistakes as mistakes
from course_lib.checks.exercises import gpu_warm_up_launches as launches
from course_lib.checks.exercises.gpu_warm_up_launches import SPAN, TILE
from course_lib.checks.exercises.kernel_inputs import up, whole


def _product_budget(A, B):
    M, N, K = (TILE * up(n, TILE) for n in (*A.shape[:1], *B.shape[1:], A.shape[1]))
    return {"global_loads": 2 * M * N * K // TILE, "float64_operations": 0}


EXERCISES = (
    KernelExercise(
        "gpu.6", "tiled_product", "Matrix product within 2N³/T loads", 4, "stretch",
        "tiles, two barriers, ragged edges",
        "H, \"Tiled Matrix Multiplication\"", 20, lambda A, B: A @ B,
        (Case((whole(12, 16, 48), whole(13, 48, 32)), "(16, 48) times (48, 32)"),
         Case((whole(14, 5, 23), whole(15, 23, 19)), "(5, 23) times (23, 19)")),
        mistakes.PRODUCT, launch=launches.product, budget=_product_budget, names={"TILE": TILE},
    ),
    KernelExercise(
        "gpu.8", "conv_basic", "The basic convolution kernel", 4, "core", "what X, Y and Z of the grid stand for",
        "H, \"Design of a Basic Kernel\"", 14,
        lambda x, w: reference.conv2d_forward(x, w)[0],
        (Case((whole(18, 1, 2, 4, 5), whole(19, 3, 2, 2, 2)), "1 image, 2 maps in, 3 maps out, 3 x 4 outputs"),
         Case((whole(20, 2, 2, 11, 8), whole(21, 3, 2, 3, 3)), "2 images, 9 x 6 outputs: 3 x 2 tiles of 4 x 4")),
        mistakes.CONV, launch=launches.convolve, rtol=1e-6,
    ),
    KernelExercise(
        "gpu.9", "smooth_tiled", "A sum of neighbours from a tile with halo", 3, "stretch", "a halo; loads per block",
        "H, \"Reuse in 2D Tiled Convolution\"", 16, lambda x: np.convolve(x, np.ones(5, np.float32))[2:-2],
        (Case((whole(22, 64),), "one block"), Case((whole(23, 150),), "3 blocks, the last one not full")),
        mistakes.SMOOTH, launch=launches.smooth, names={"SPAN": SPAN},
        budget=lambda x: {"global_loads": up(x.size, SPAN) * (SPAN + 4), "float64_operations": 0},
    ),
)  # fmt: skip
