"""Exercises of lesson 13: sums and other reductions, fused passes, pooling with its mask, coarsening.

Kernels are judged by their values, their hazards and their traffic; the tests compare what is counted here with the
executor. No GPU is needed.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA"; Dey, "Course Organization", "Pooling Kernel".
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Case, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises import lesson13_launches as launches
from course_lib.checks.exercises import lesson13_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.lesson13_launches import FOUR, PER_BLOCK, WARP, WIDTH


def _live_warps(threads, order):
    """Count the warps of the lanes that add, one array of lanes a step."""
    t = np.arange(threads)
    steps = 2 ** np.arange(threads.bit_length() - 1)
    if order == "neighbours":
        adding = [t[t % (2 * step) == 0] for step in steps]
    else:
        adding = [t[t < step] for step in steps[::-1]]
    return [len(np.unique(lanes // WARP)) for lanes in adding]


def _grid_sum_budget(x):
    warps = launches.warps_of(x)
    return {"atomic_rounds": warps, "global_loads": x.size + warps, "float64_operations": 0}


def _blocks(x, nothing, size=WIDTH):
    return np.pad(x, (0, -x.size % size), constant_values=nothing).reshape(-1, size)


def _tree_budget(x):
    blocks = up(x.size, WIDTH)  # the halves divide 5 warps, the result one, the guard one; neighbours divide 23 for 5
    return {"global_loads": x.size, "shared_load_requests": 64 * blocks, "divergent_branches": 8 * blocks,
            "float64_operations": 0}  # fmt: skip


def _block_max_budget(x):
    blocks = up(x.size, WIDTH)  # a thread that has no element of its own may load another one
    return {"global_loads": WIDTH * blocks, "shared_load_requests": 96 * blocks, "float64_operations": 0}


def _fused_right(z, bias, slope, factor):
    v = z + bias
    return factor * np.where(v > 0, v, slope * v)


def _fused_budget(z, bias, slope, factor):
    sectors = 10 * z.shape[0] * up(z.shape[1], 32)  # 5 for the 32 neighbours of z in a warp, 5 for those of the bias
    return {
        "global_loads": 2 * z.size, "global_stores": z.size, "global_load_sectors": sectors, "float64_operations": 0,
    }  # fmt: skip


def _row_losses_right(z, labels):
    """Compute in float64, with the largest logit taken out."""
    shifted = z.astype(np.float64) - z.max(axis=1, keepdims=True)
    loss = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(z)), labels]
    return loss.astype(np.float32)


def _max_pool_right(x, size, stride, pad):
    y, (_, mask) = reference.max_pool_forward(x[None], size, stride, pad)
    return y[0], mask[0].astype(np.int32)


def _squares_budget(x):
    blocks = up(x.size, PER_BLOCK)
    return {"global_load_sectors": up(x.size, 8), "global_loads": x.size, "shared_load_requests": 16 * blocks,
            "float64_operations": 0}  # fmt: skip


def _labels(seed, *shape):
    """Return (N,) int32 labels for logits of a shape (N, C)."""
    return np.random.default_rng(seed).integers(0, shape[1], shape[0]).astype(np.int32)


def _halves(seed, *shape):
    """Return (N, C) float32 logits in halves, from -4 to 4."""
    return whole(seed, *shape, low=-8, high=8) / np.float32(2)


EXERCISES = (
    Exercise(
        "13.1", "live_warps", "Predict the warps at work", 2, "warm-up",
        "a tree, step by step: lanes and warps", 'M. Harris, "Optimizing Parallel Reduction in CUDA"', 9, _live_warps,
        (Case((8, "neighbours"), "8 threads: one warp"), Case((64, "halves"), "64 threads, halves"),
         Case((128, "neighbours"), "128 threads, neighbours"), Case((256, "halves"), "256 threads, halves")),
        mistakes.LIVE,
    ),
    KernelExercise(
        "13.2", "grid_sum", "One sum, and a short queue", 2, "core", "shuffles; one atomic operation a warp",
        'M. Harris, "Optimizing Parallel Reduction in CUDA"', 11, lambda x: x.sum(keepdims=True),
        (Case((whole(1, 300),), "300 elements, 5 blocks of one warp"),
         Case((whole(2, 45),), "45 elements, 3 blocks of one warp")),
        mistakes.GRID_SUM, launch=launches.grid_sum, budget=_grid_sum_budget,
    ),
    KernelExercise(
        "13.3", "block_sum", "The sum of a block, as a tree", 2, "core", "shared memory and barriers; a race",
        'M. Harris, "Optimizing Parallel Reduction in CUDA"', 12, lambda x: _blocks(x, 0).sum(axis=1),
        (Case((whole(10, 128),), "one full block"), Case((whole(11, 300),), "3 blocks, the last one not full")),
        mistakes.BLOCK_SUM, launch=launches.by_block,
        names={"WIDTH": WIDTH}, budget=_tree_budget, instead_of=("atomic",),
    ),
    KernelExercise(
        "13.4", "block_max", "Repair: a tree that waits in the wrong place", 2, "core",
        "barriers; reading a report; what changes no maximum",
        "the course's own", 12, lambda x: _blocks(x, -np.inf).max(axis=1),
        (Case((whole(3, 128),), "one full block"),
         Case((whole(4, 300, low=-99, high=-1),), "3 blocks, the last one not full, all negative")),
        mistakes.BLOCK_MAX, launch=launches.by_block,
        names={"WIDTH": WIDTH}, budget=_block_max_budget, instead_of=("atomic",),
    ),
    KernelExercise(
        "13.5", "fused", "Three passes in one", 2, "core", "fusion: a value stays in its register",
        'Dey, "Course Organization"', 6, _fused_right,
        (Case((whole(5, 3, 40), whole(6, 40), np.float32(0.25), np.float32(2)), "3 rows, 40 columns"),
         Case((whole(7, 10, 64), whole(8, 64), np.float32(0.5), np.float32(3)), "10 rows, 64 columns"),
         Case((whole(18, 5, 33), whole(19, 33), np.float32(1.5), np.float32(2)), "5 rows, 33 columns, slope 1.5")),
        mistakes.FUSED, rtol=1e-6, launch=launches.fused, budget=_fused_budget,
    ),
    KernelExercise(
        "13.6", "row_losses", "The loss of a row, read once", 3, "stretch", "shuffles; softmax that does not overflow",
        'Dey, "Course Organization"', 16, _row_losses_right,
        (Case((_halves(9, 3, 10), _labels(9, 3, 10)), "3 rows of 10 classes"),
         Case((_halves(12, 6, 40), _labels(12, 6, 40)), "6 rows of 40 classes")),
        mistakes.ROW_LOSSES, rtol=1e-5, atol=1e-4, launch=launches.row_losses,
        budget=lambda z, labels: {"global_loads": z.size + 33 * z.shape[0], "float64_operations": 0},
    ),
    KernelExercise(
        "13.7", "max_pool", "Max pooling with its mask", 3, "core",
        "from one number to an output; padding; the first of equals wins",
        'Dey, "Pooling Kernel"', 18, _max_pool_right,
        (Case((whole(16, 1, 4, 6, low=-9, high=-1), 2, 2, 0), "1 map, 4 x 6, all negative, windows side by side"),
         Case((whole(17, 2, 7, 11, low=-1, high=1), 3, 3, 0), "2 maps, 7 x 11, many equal values"),
         Case((whole(13, 2, 5, 8, low=-9, high=-1), 3, 2, 1), "2 maps, 5 x 8, all negative, overlapping and padded")),
        mistakes.POOL, launch=launches.max_pool,
    ),
    KernelExercise(
        "13.8", "square_sums", "Four elements a thread, before the tree", 2, "core", "coarsening, and which four",
        'Dey, "Course Organization"', 15, lambda x: _blocks(x * x, 0, PER_BLOCK).sum(axis=1),
        (Case((whole(14, 512),), "2 full blocks"), Case((whole(15, 300),), "2 blocks, the last one not full")),
        mistakes.SQUARES, launch=launches.squares, budget=_squares_budget, names={"FOUR": FOUR}, instead_of=("atomic",),
    ),
    TextQuestion(
        "13.9", "In your own words: a sum that changes", 2, "core", "rounding and order", "the course's own",
    ),
)  # fmt: skip
