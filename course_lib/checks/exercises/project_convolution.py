"""The convolution project: the lecture's four strategies, then free optimisation for LeNet-5's C1 and C3.

No GPU is needed. Launches are in `project_convolution_launches`, usual mistakes in `project_convolution_mistakes`.

Source: H, "Strategies for Lab 7", "Rules for Lab 7 Performance Boosting", "Specialization for the LeNet-5 C1 Layer".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, KernelExercise, TextQuestion
from course_lib.checks.exercises import project_convolution_launches as launches
from course_lib.checks.exercises import project_convolution_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.project_convolution_launches import (
    BATCH,
    C1_LIMITS,
    C3_LIMITS,
    MAPS,
    PIXELS,
    THREADS,
    TILE,
    WALKED,
)
from course_lib.checks.predicted import COUNTER

LIBRARY = (
    "conv2d_forward", "conv2d_forward_v01_basic", "conv2d_forward_v02_constant_masks", "conv2d_forward_v03_im2col_gemm",
    "conv2d_forward_v04_implicit_gemm", "conv2d_forward_v05_register_tiled", "conv2d_forward_v06_specialised",
    "conv2d_forward_v05b_c1_layer", "conv2d_forward_v07_tensor_cores", "conv2d_forward_v08_fft",
    "conv2d_forward_v09_3xtf32", "conv2d_forward_v10_3xtf32_rows", "conv2d_forward_v11_streamed",
    "conv2d_forward_v12_3xtf32_wgmma", "conv2d_forward_c1_by_pixels", "conv2d", "convolve", "convolve2d", "correlate",
    "correlate2d", "fftconvolve", "matmul", "einsum", "tensordot",
)  # fmt: skip
"""What would do the work instead of a kernel of one's own, of this library and of others."""

WORKS = dict(required=("public", "other sizes", "smallest", "any numbers"))
"""Stages 1 to 4 count as a whole: code must work for any credit."""

ROUNDING = dict(rtol=1e-6, atol=5e-4)
"""Sums of 150 products of numbers around 1 in float32; half precision and TF32 are off by ten times as much."""


def convolved(x, w, *_):
    """Return (B, M, H_out, W_out), the convolution of x with w in float64. Errors as the reference's.

    Source: the course's own.
    """
    return reference.conv2d_forward(x.astype(np.float64), w.astype(np.float64))[0].astype(np.float32)


def by_rows(x, rows, K):
    """Return `convolved` of masks that lie as rows (M, C K K). Errors as the reference's. Source: the course's own."""
    return convolved(x, rows.reshape(rows.shape[0], x.shape[1], K, K))


def unrolled(x, K):
    """Return (B, C K K, H_out W_out): in each column what a pixel of the result is made of. No errors.

    Source: H, "Matrix Multiplication for a Convolution Layer".
    """
    seen = np.lib.stride_tricks.sliding_window_view(x, (K, K), axis=(2, 3))  # (B, C, H_out, W_out, K, K)
    B, C, H_out, W_out = seen.shape[:4]
    return np.ascontiguousarray(seen.transpose(0, 1, 4, 5, 2, 3)).reshape(B, C * K * K, H_out * W_out)


def _tiled_budget(x, masks):
    B, C, H, W = x.shape
    K = masks.shape[2]
    rows, columns = (
        sum(min(first + TILE + K - 1, n) - first for first in range(0, n - K + 1, TILE)) for n in (H, W)
    )
    return {"global_loads": B * masks.shape[0] * C * rows * columns, "float64_operations": 0}


def _loads(B, M, P, depth, maps, pixels):
    """Return the elements that blocks load which each bring maps + pixels for each of `depth` positions."""
    return B * depth * (M * up(P, pixels) + P * up(M, maps))


def _unroll_budget(x, K):
    B, depth, P = unrolled(x, K).shape
    return {"global_loads": B * depth * P, "global_store_sectors": B * depth * P // 8 + 1, "float64_operations": 0}


def _product_budget(rows, cols):
    (M, depth), (B, _, P) = rows.shape, cols.shape
    return {"global_loads": _loads(B, M, P, depth, TILE, TILE), "float64_operations": 0}


def _implicit_budget(x, rows, K):
    B, M, H_out, W_out = launches.results(x, rows.shape[0], K)
    return {"global_loads": _loads(B, M, H_out * W_out, rows.shape[1], TILE, TILE), "float64_operations": 0}


def _joint_budget(x, rows, K):
    B, M, H_out, W_out = launches.results(x, rows.shape[0], K)
    P, depth = H_out * W_out, rows.shape[1]
    products = B * up(P, PIXELS) * up(M, MAPS) * PIXELS * MAPS * 16 * up(depth, 16)
    loads = _loads(B, M, P, depth, MAPS, PIXELS)
    return {"global_loads": loads, "shared_loads": products // 2, "float64_operations": 0}


def _free_budget(x, w, most):
    return {"float64_operations": 0} | ({COUNTER: most} if most else {})


def layer(seed, B, C, H, M):
    """Return (x (B, C, H, H), w (M, C, 5, 5)) of whole numbers. No errors. Source: the course's own."""
    return whole(seed, B, C, H, H), whole(seed + 1, M, C, 5, 5)


EXERCISES = (
    KernelExercise(
        "project.1", "conv_tiled", "Stage 1: input tiles in shared memory, masks in constant memory", 5, "project",
        "tiles with a halo; constant memory", "H, \"Strategies for Lab 7\", 1", 24, convolved,
        (Case((whole(1, 2, 3, 9, 11), whole(2, 4, 3, 5, 5)), "2 images of 3 x 9 x 11, less than a tile"),
         Case((whole(3, 1, 3, 23, 38), whole(4, 4, 3, 5, 5)), "1 image of 3 x 23 x 38: 2 x 3 tiles a map")),
        mistakes.TILED, launch=launches.tiled, budget=_tiled_budget, constants={"MASKS": 1}, instead_of=LIBRARY,
        **ROUNDING, **WORKS,
    ),
    TextQuestion("project.2", "Stage 1: explain the effect", 2, "project", "what constant memory and tiles save",
                 "H, \"Reuse in 2D Tiled Convolution\""),
    KernelExercise(
        "project.3", "unroll_input", "Stage 2: unroll the input", 3, "project", "the unrolled matrix, coalesced stores",
        "H, \"Matrix Multiplication for a Convolution Layer\"", 12, unrolled,
        (Case((whole(5, 1, 1, 4, 5), 2), "1 image of 1 x 4 x 5, K = 2"),
         Case((whole(6, 2, 3, 9, 13), 5), "2 images of 3 x 9 x 13, K = 5")),
        mistakes.UNROLL, launch=launches.unroll, budget=_unroll_budget, instead_of=LIBRARY, **ROUNDING, **WORKS,
    ),
    KernelExercise(
        "project.4", "product_tiled", "Stage 2: the product of masks and unrolled input", 4, "project",
        "a tiled product for each image", "H, \"Tiled Matrix Multiplication\"", 22,
        lambda rows, cols: (rows.astype(np.float64) @ cols).astype(np.float32),
        (Case((whole(7, 4, 12), whole(8, 2, 12, 20)), "(4, 12) times 2 of (12, 20)"),
         Case((whole(9, 18, 50), whole(10, 2, 50, 35)), "(18, 50) times 2 of (50, 35)")),
        mistakes.PRODUCT, launch=launches.product, budget=_product_budget, instead_of=LIBRARY, **ROUNDING, **WORKS,
    ),
    TextQuestion("project.5", "Stage 2: explain the effect", 2, "project", "what unrolling costs and brings",
                 "H, \"Analyzing the Amount of Input Replication\""),
    KernelExercise(
        "project.6", "conv_implicit", "Stage 3: unroll while loading", 6, "project", "an unrolled matrix in thought",
        "H, \"Conceptual Unrolling May Help Performance\"", 28, by_rows,
        (Case((whole(11, 2, 1, 6, 9), whole(12, 3, 4), 2), "2 images of 1 x 6 x 9, 3 masks of 2 x 2"),
         Case((whole(13, 2, 2, 10, 12), whole(14, 18, 50), 5), "2 images of 2 x 10 x 12, 18 masks of 5 x 5")),
        mistakes.BY_ROWS, launch=launches.implicit, budget=_implicit_budget, instead_of=LIBRARY, **ROUNDING, **WORKS,
    ),
    TextQuestion("project.7", "Stage 3: explain the effect", 2, "project", "unrolling in thought against for real",
                 "H, \"Conceptual Unrolling May Help Performance\""),
    KernelExercise(
        "project.8", "conv_joint", "Stage 4: tiles in shared memory and in registers", 8, "project",
        "joint register-shared tiling", "H, \"Strategies for Lab 7\", 4", 40, by_rows,
        (Case((whole(15, 2, 1, 6, 9), whole(16, 3, 4), 2), "2 images of 1 x 6 x 9, 3 masks of 2 x 2"),
         Case((whole(17, 2, 2, 12, 13), whole(18, 18, 50), 5), "2 images of 2 x 12 x 13, 18 masks of 5 x 5")),
        mistakes.BY_ROWS, launch=launches.joint, budget=_joint_budget, instead_of=LIBRARY,
        names={"MAPS": MAPS, "PIXELS": PIXELS, "THREADS": THREADS},
        stands_for=("project.1", "project.3", "project.4", "project.6"), **ROUNDING, **WORKS,
    ),
    TextQuestion("project.9", "Stage 4: explain the effect", 2, "project", "shared loads for a multiply-add",
                 "H, \"Tiled Matrix Multiplication 2x4 example\""),
    KernelExercise(
        "project.10", "conv_c1", "Free stage: LeNet-5's C1", 7, "project", "a kernel for one layer",
        "H, \"Specialization for the LeNet-5 C1 Layer\"", 28, convolved,
        (Case((*layer(19, 3, 1, 32, 6), 0), "3 images"),
         Case((*layer(21, WALKED, 1, 32, 6), C1_LIMITS["basic"]), "24 images, faster than the basic kernel")),
        mistakes.FREE, launch=launches.free, budget=_free_budget, constants={"C1_MASKS": 1}, launcher="c1_launch",
        batch=BATCH, required=("other batches", "any numbers"), instead_of=LIBRARY, **ROUNDING,
    ),
    KernelExercise(
        "project.11", "conv_c3", "Free stage: LeNet-5's C3", 7, "project", "a kernel for one layer",
        "H, \"Coarsening Does Not Match Tiling Choices\"", 36, convolved,
        (Case((*layer(23, 3, 6, 14, 16), 0), "3 images"),
         Case((*layer(25, WALKED, 6, 14, 16), C3_LIMITS["basic"]), "24 images, faster than the basic kernel")),
        mistakes.FREE, launch=launches.free, budget=_free_budget, constants={"C3_MASKS": 1}, launcher="c3_launch",
        batch=BATCH, required=("other batches", "any numbers"), instead_of=LIBRARY, **ROUNDING,
    ),
    TextQuestion("project.12", "Free stage: what you tried", 2, "project", "measure, change one thing, say why",
                 "H, \"Rules for Lab 7 Performance Boosting\""),
)  # fmt: skip
