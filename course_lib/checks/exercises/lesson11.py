"""Exercises of lesson 11: kernels with guards and loops, launches, divided warps, the tiles of a grid.

Kernels are judged by their values, their hazards and their traffic; no GPU is needed.
The launches are in `lesson11_launches`.

Source: Dey, "Course Organization", "RELU Activation Function"; Hwu, "Design of a Basic Kernel".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises import lesson11_launches as launches
from course_lib.checks.exercises import lesson11_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.launches import launch_problem
from course_lib.checks.exercises.lesson11_launches import TILE


def _a_launch(rows, columns):
    """One of many right launches: squares of 32 x 32 threads."""
    return (up(columns, 32), up(rows, 32)), (32, 32)


def _brighten_budget(image, gain):
    rows, columns = image.shape  # a row of 16 floats lies in 2 sectors, in 3 where it begins between two
    return {"global_load_sectors": 3 * rows * up(columns, 16), "float64_operations": 0}


def _warp_passes(takes):
    """Count through the warps as they lie, a row of 32 threads each."""
    lanes = np.pad(takes.astype(np.int64), (0, -takes.size % 32), constant_values=-1).reshape(-1, 32)
    passes = int(sum((lanes == side).any(axis=1).sum() for side in (0, 1)))
    return passes, 32 * passes - takes.size


def _numbers(M, H_out, W_out):
    """Number the threads tile by tile: the padded map cut into tiles, and put together again."""
    down, across = up(H_out, TILE), up(W_out, TILE)
    count = np.arange(down * across * TILE * TILE, dtype=np.int32).reshape(down, across, TILE, TILE)
    one = count.swapaxes(1, 2).reshape(down * TILE, across * TILE)[:H_out, :W_out]
    return np.stack([one] * M)


def _alternate_right(a, b):
    y = a + 1
    y[1::2] = 2 * b[1::2]
    return y


THREADS = np.arange(128)
SIGNS = np.float32([-3, -0.5, 0, 0.5, 3])

EXERCISES = (
    KernelExercise(
        "11.1", "guarded_add", "Add two vectors, with a guard", 1, "warm-up", "one thread an element; the guard",
        'Dey, "Course Organization"', 3, lambda a, b: a + b,
        (Case((whole(1, 5), whole(2, 5)), "5 elements, 128 threads"),
         Case((whole(3, 130), whole(4, 130)), "130 elements, 256 threads")),
        launch=launches.add, budget=lambda a, b: {"global_store_requests": 2 * up(a.size, 32)},
    ),
    KernelExercise(
        "11.2", "leaky_relu", "Leaky ReLU with a grid-stride loop", 2, "warm-up", "a grid-stride loop; float32 only",
        'Dey, "RELU Activation Function"', 7, lambda x, slope: np.where(x > 0, x, slope * x),
        (Case((np.float32([-2, -1, 0, 1, 2]), np.float32(0.25)), "5 elements, 3 blocks of 32 threads"),
         Case((whole(5, 300), np.float32(0.125)), "300 elements, 2 blocks of 64 threads"),
         Case((whole(24, 201), np.float32(0.5)), "201 elements, 3 blocks of 32 threads"),
         Case((SIGNS, np.float32(2)), "slope 2"), Case((SIGNS, np.float32(0)), "slope 0"),
         Case((SIGNS, np.float32(-0.5)), "slope -0.5")),
        mistakes.LEAKY, rtol=1e-6, launch=launches.leaky,
        budget=lambda x, slope: {"float64_operations": 0, "global_store_requests": 2 * up(x.size, 32)},
    ),
    KernelExercise(
        "11.3", "row_sum", "The sum of each row", 2, "core", "a loop in a thread; sizes from the array's shape",
        'Dey, "Course Organization"', 6, lambda x: x.sum(axis=1),
        (Case((whole(6, 3, 8),), "3 rows of 8, 64 threads"), Case((whole(7, 40, 120),), "40 rows of 120, 96 threads")),
        mistakes.ROW_SUM, launch=launches.row_sum,
        budget=lambda x: {
            "float64_operations": 0, "global_stores": x.shape[0], "global_loads": x.size,
            "global_load_requests": 2 * up(x.shape[0], 32) * x.shape[1],
        },
    ),
    Exercise(
        "11.4", "launch_for", "Choose a launch", 2, "core", "grid, block, warp; x is the last axis",
        'Hwu, "Design of a Basic Kernel"', 3, _a_launch,
        (Case((100, 300), "100 rows, 300 columns"), Case((64, 64), "64 x 64"), Case((1, 5), "1 row, 5 columns"),
         Case((300_000, 3), "300,000 rows, 3 columns")),
        requires=launch_problem,
    ),
    KernelExercise(
        "11.5", "brighten", "Repair a kernel from its report", 2, "core", "reading a finding; axes and guard",
        "the course's own", 3, lambda image, gain: gain * image,
        (Case((whole(25, 40, 24), np.float32(2)), "40 rows, 24 columns"),
         Case((whole(26, 21, 40), np.float32(3)), "21 rows, 40 columns"),
         Case((whole(27, 32, 32), np.float32(0.5)), "32 x 32")),
        rtol=1e-6, launch=launches.brighten, budget=_brighten_budget,
    ),
    Exercise(
        "11.6", "warp_passes", "What an if costs", 2, "core", "a warp whose lanes do not agree pays for both sides",
        "the course's own", 6, _warp_passes,
        (Case((THREADS[:64] % 2 == 0,), "64 threads, every second one takes the if"),
         Case((THREADS[:40] >= 0,), "40 threads, all take the if"),
         Case((THREADS[:64] // 32 == 0,), "64 threads, the first 32 take the if"),
         Case((THREADS[:100] % 70 == 0,), "100 threads, threads 0 and 70 take the if")),
        mistakes.PASSES, parts=("the number of passes", "the number of idle slots"),
    ),
    KernelExercise(
        "11.7", "number_tiles", "Which block computes what", 2, "core", "from block indices to a tile, and back",
        'Hwu, "Design of a Basic Kernel"', 5, _numbers,
        (Case((4, 8, 8), "4 maps, 8 x 8: a grid of 4 x 4 blocks"), Case((2, 5, 11), "2 maps, 5 x 11: 2 x 3 tiles")),
        mistakes.TILES, launch=launches.number, names={"TILE": TILE},
    ),
    KernelExercise(
        "11.8", "alternate", "No divided warp", 3, "stretch", "dealing out work so that a warp agrees",
        "the course's own", 8, _alternate_right,
        (Case((whole(28, 64), whole(29, 64)), "64 elements, 1 block"),
         Case((whole(30, 192), whole(31, 192)), "192 elements, 3 blocks")),
        mistakes.ALTERNATE, launch=launches.alternate,
        budget=lambda a, b: {
            "divergent_branches": 0, "global_loads": a.size, "global_stores": a.size, "float64_operations": 0,
        },
    ),
    TextQuestion(
        "11.9", "In your own words", 2, "core", "the guard; float32 and float64", 'Dey, "Course Organization"',
    ),
)  # fmt: skip
