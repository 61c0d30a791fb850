"""Exercises of lesson 15: convolutions from tiles, masks in constant memory, unrolling, register tiles, a gradient.

Kernels are judged by their values, their hazards and their traffic; the tests compare what is counted here with the
executor. No GPU is needed.

Source: Hwu, "Design of a Basic Kernel", "Strategies for Lab 7", "Specialization for the LeNet-5 C1 Layer"; Dey, "Im2Col
Operation".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises import lesson15_launches as launches
from course_lib.checks.exercises import lesson15_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.lesson15_launches import SPAN, TILE


def _basic_launch(B, M, H_out, W_out, tile):
    grid = M, len(range(0, H_out, tile)) * len(range(0, W_out, tile)), B
    return grid, B * M * H_out * W_out, int(np.prod(grid)) * tile**2


def _conv(x, masks):
    return reference.conv2d_forward(x[None], masks)[0][0]


def _constant_budget(x, masks):
    M, C, K, _ = masks.shape  # a block brings its pixels with the halo, for each input map once
    loads = M * launches.tiles_of(x, K) * C * (TILE + K - 1) ** 2
    return {"global_loads": loads, "float64_operations": 0}


def _unroll_budget(x, K):
    rows, pixels = x.shape[0] * K * K, (x.shape[1] - K + 1) * (x.shape[2] - K + 1)
    # A row of cols may begin within a sector, and be stored by several warps; an element at a time would cost pixels.
    return {"global_store_sectors": 2 * rows * (up(pixels, 8) + 1), "global_loads": rows * pixels}


def _implicit_budget(x, rows, K):
    pixels = (x.shape[1] - K + 1) * (x.shape[2] - K + 1)
    M, N, depth = (TILE * up(n, TILE) for n in (rows.shape[0], pixels, rows.shape[1]))
    return {"global_loads": 2 * M * N * depth // TILE, "float64_operations": 0}


def _c1_budget(x, masks):
    blocks = 7 * len(x)
    return {"global_loads": 256 * blocks, "shared_load_requests": 4 * 25 * blocks, "float64_operations": 0}


def _gradient_right(dy, w):
    """Convolve dy, with K - 1 zeros around it, with the masks turned by 180 degrees."""
    K = w.shape[2]
    turned = np.ascontiguousarray(w.swapaxes(0, 1)[:, :, ::-1, ::-1])
    return reference.conv2d_forward(dy[None], turned, pad=K - 1)[0][0]


EXERCISES = (
    Exercise(
        "15.1", "basic_launch", "Count the threads, and those with nothing to do", 2, "warm-up",
        "what X, Y and Z of the grid stand for; parallelism of a layer",
        'Hwu, "Parallelism in a Convolution Layer", "Host Code for a Basic Kernel: CUDA Grid"', 5, _basic_launch,
        (Case((1, 4, 8, 8, 4), "4 maps of 8 x 8, tiles of 4 x 4"), Case((1, 6, 28, 28, 16), "C1 of LeNet-5"),
         Case((10, 16, 10, 10, 16), "C3 of LeNet-5, 10 images"), Case((1, 3, 10, 20, 8), "3 maps of 10 x 20"),
         Case((2, 120, 1, 1, 16), "C5 of LeNet-5, 2 images")),
        mistakes.LAUNCH, parts=("the grid", "the number of outputs", "the number of threads"),
    ),
    KernelExercise(
        "15.2", "conv_basic", "The basic convolution kernel", 3, "core", "maps, tiles and images from a block's place",
        'Hwu, "Design of a Basic Kernel"', 14, lambda x, w: reference.conv2d_forward(x, w)[0],
        (Case((whole(18, 1, 2, 4, 5), whole(19, 3, 2, 2, 2)), "1 image, 2 maps in, 3 maps out, 3 x 4 outputs"),
         Case((whole(20, 2, 2, 11, 8), whole(21, 3, 2, 3, 3)), "2 images, 9 x 6 outputs: 3 x 2 tiles of 4 x 4")),
        mistakes.CONV, launch=launches.basic, rtol=1e-6,
    ),
    KernelExercise(
        "15.3", "smooth_tiled", "A sum of neighbours from a tile with halo", 3, "core", "a halo; loads of a block",
        'Hwu, "Reuse in 2D Tiled Convolution"', 16, lambda x: np.convolve(x, np.ones(5, np.float32))[2:-2],
        (Case((whole(22, 64),), "one block"), Case((whole(23, 150),), "3 blocks, the last one not full")),
        mistakes.SMOOTH, launch=launches.smooth, names={"SPAN": SPAN},
        budget=lambda x: {"global_loads": up(x.size, SPAN) * (SPAN + 4), "float64_operations": 0},
    ),
    KernelExercise(
        "15.4", "conv_constant", "A tile in shared memory, the masks in constant memory", 4, "stretch",
        "a halo in two dimensions; constant memory; two barriers", 'Hwu, "Strategies for Lab 7"', 24, _conv,
        (Case((whole(1, 2, 10, 10), whole(2, 3, 2, 3, 3)), "one tile of 8 x 8 outputs a map"),
         Case((whole(3, 2, 9, 16), whole(4, 3, 2, 3, 3)), "7 x 14 outputs: two tiles a map, other masks")),
        mistakes.CONSTANT, launch=launches.constant_masks, budget=_constant_budget, names={"TILE": TILE, "K": 3},
        constants={"MASKS": 1},
    ),
    KernelExercise(
        "15.5", "unroll", "Unroll the input", 3, "core", "rows and columns of the unrolled matrix; who stores what",
        'Dey, "Im2Col Operation"', 10, lambda x, K: reference.im2col(x[None], K)[0],
        (Case((whole(5, 2, 5, 8), 3), "2 maps of 5 x 8, masks of 3 x 3"),
         Case((whole(6, 3, 7, 9), 2), "3 maps of 7 x 9, masks of 2 x 2")),
        mistakes.UNROLL, launch=launches.unroll, budget=_unroll_budget,
    ),
    KernelExercise(
        "15.6", "conv_implicit", "Unroll in thought only", 4, "stretch", "a tiled product whose matrix is not there",
        'Hwu, "Conceptual Unrolling May Help Performance"', 24,
        lambda x, rows, K: (rows @ reference.im2col(x[None], K)[0]).reshape(-1, *(n - K + 1 for n in x.shape[1:])),
        (Case((whole(7, 2, 6, 10), whole(8, 8, 8), 2), "2 maps in, 8 maps out, 5 x 9 outputs, masks of 2 x 2"),
         Case((whole(9, 2, 6, 7), whole(10, 11, 18), 3), "2 maps in, 11 maps out, 4 x 5 outputs, masks of 3 x 3")),
        mistakes.IMPLICIT, launch=launches.implicit, budget=_implicit_budget, names={"TILE": TILE},
    ),
    KernelExercise(
        "15.7", "conv_c1", "One thread, six maps", 4, "stretch", "joint register and shared-memory tiling",
        'Hwu, "Specialization for the LeNet-5 C1 Layer"', 19,
        lambda x, masks: reference.conv2d_forward(x[:, None], masks[:, None])[0],
        (Case((whole(11, 1, 32, 32), whole(12, 6, 5, 5)), "1 image"),
         Case((whole(13, 2, 32, 32), whole(14, 6, 5, 5)), "2 images, other masks")),
        mistakes.C1, launch=launches.c1, budget=_c1_budget, constants={"C1_MASKS": 1},
    ),
    KernelExercise(
        "15.8", "input_gradient", "The gradient of the input, gathered", 3, "core",
        "from scattering to gathering; the mask turned by 180 degrees", 'Hwu, "Calculating dE/dX"', 12, _gradient_right,
        (Case((whole(15, 3, 3, 4), whole(16, 3, 2, 2, 2)), "3 maps out, 2 maps in, 3 x 4 outputs"),
         Case((whole(17, 2, 3, 9), whole(24, 2, 3, 3, 3)), "2 maps out, 3 maps in, 3 x 9 outputs")),
        mistakes.GRADIENT, launch=launches.input_gradient, instead_of=("atomic",),
        budget=lambda dy, w: {"global_stores": w.shape[1] * (dy.shape[1] + w.shape[2] - 1)
                              * (dy.shape[2] + w.shape[3] - 1), "float64_operations": 0},
    ),
    TextQuestion(
        "15.9", "In your own words: what unrolling costs on C1", 2, "core",
        "what a matrix costs that is written and read again", 'Hwu, "Conceptual Unrolling May Help Performance"',
    ),
)  # fmt: skip
