"""Exercises of lesson 12: sectors and coalescing, shared memory and its banks, occupancy, the roofline.

What a warp costs is counted here by sets of addresses; the tests compare it with the executor and with
`simt.occupancy`. No GPU is needed.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++"; NVIDIA, "CUDA C++ Best Practices Guide".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises import lesson12_launches as launches
from course_lib.checks.exercises import lesson12_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.lesson12_launches import FOUR, SIDE

LANES = np.arange(32)


def _sectors(stride, offset):
    return len({(4 * (offset + stride * lane)) // 32 for lane in range(32)})


def _turn_budget(x):
    rows, columns = x.shape
    return {
        "global_load_sectors": 5 * rows * up(columns, SIDE),
        "global_store_sectors": 5 * columns * up(rows, SIDE),
        "bank_conflicts": 0,
    }


def _wavefronts(stride):
    words = np.unique(stride * LANES)
    return int(np.bincount(words % 32).max())


def _blocks_per_sm(device, threads, shared_bytes, registers):
    from course_lib.simt.estimate.occupancy import occupancy  # the executor is loaded only where it is needed

    found = occupancy(device, threads, shared_bytes, registers)
    return found.blocks, found.limited_by[0]


def _bound(flops, moved, peak, bandwidth):
    by_arithmetic, by_memory = flops / peak, moved / bandwidth
    return ("memory" if by_memory > by_arithmetic else "arithmetic"), max(by_arithmetic, by_memory)


EXERCISES = (
    KernelExercise(
        "12.1", "copy_four", "Four elements a thread", 2, "warm-up", "coalescing: neighbours side by side",
        "the course's own", 5, lambda x: x.copy(),
        (Case((whole(1, 512),), "512 elements: 2 blocks of 64 threads"),
         Case((whole(2, 300),), "300 elements: 2 blocks of 64 threads")),
        launch=launches.copy, names={"FOUR": FOUR},
        budget=lambda x: {"global_load_sectors": up(x.size, 8), "global_store_sectors": up(x.size, 8)},
    ),
    Exercise(
        "12.2", "sectors", "How many sectors", 2, "warm-up", "from addresses to sectors",
        'NVIDIA, "CUDA C++ Best Practices Guide"', 2, _sectors,
        (Case((1, 0), "neighbours"), Case((1, 1), "one element further"), Case((2, 0), "every second element"),
         Case((33, 5), "far apart"), Case((0, 3), "all the same element")),
        mistakes.SECTORS,
    ),
    KernelExercise(
        "12.3", "turn_right", "A quarter turn within a traffic budget", 3, "core",
        "coalescing, a shared tile, its padding", 'M. Harris, "An Efficient Matrix Transpose in CUDA C/C++"', 10,
        lambda x: x[::-1].T.copy(),
        (Case((whole(8, 64, 64),), "2 x 2 tiles"), Case((whole(9, 40, 70),), "ragged: 2 x 3 tiles, not all full")),
        mistakes.TURN, launch=launches.turn, budget=_turn_budget, names={"SIDE": SIDE},
    ),
    KernelExercise(
        "12.4", "tile_sums", "Repair: a kernel that waits for banks", 2, "core", "bank conflicts; reading a report",
        "the course's own", 1, lambda x: x.sum(axis=1),
        (Case((whole(10, 32, 32),), "one tile"), Case((whole(11, 70, 32),), "3 tiles, the last one not full")),
        mistakes.TILE_SUMS, launch=launches.tile_sums, names={"SIDE": SIDE},
        budget=lambda x: {
            "global_load_sectors": 4 * x.shape[0], "global_loads": x.size, "bank_conflicts": 0, "float64_operations": 0,
        },
    ),
    Exercise(
        "12.5", "wavefronts", "How many turns at the banks", 2, "core", "from words to banks; a broadcast",
        'NVIDIA, "CUDA C++ Programming Guide"', 3, _wavefronts,
        (Case((1,), "neighbours"), Case((2,), "every second word"), Case((32,), "a column of a 32 x 32 tile"),
         Case((33,), "a column of a padded tile"), Case((0,), "all the same word")),
        mistakes.WAVEFRONTS,
    ),
    Exercise(
        "12.6", "blocks_per_sm", "What keeps an SM from more blocks", 3, "core", "occupancy and its four limits",
        'NVIDIA, "CUDA C++ Programming Guide"', 13, _blocks_per_sm,
        (Case(("H200", 256, 0, 32), "blocks of 8 warps"), Case(("H200", 32, 0, 32), "blocks of one warp"),
         Case(("H200", 200, 0, 24), "the last warp is not full"), Case(("A100", 96, 4096, 33), "33 registers a thread"),
         Case(("RTX 4090", 128, 33_500, 32), "33,500 bytes of shared memory")),
        mistakes.OCCUPANCY, instead_of=("occupancy",), parts=("the number of blocks", "the limit"),
    ),
    Exercise(
        "12.7", "bound", "Which roof", 2, "core", "the roofline as a time",
        'Williams, Waterman, Patterson, "Roofline"', 5, _bound,
        (Case((4e9, 8e9, 60e12, 4e12), "0.5 operations a byte"), Case((2e12, 4e9, 60e12, 4e12), "500 a byte"),
         Case((60e9, 4e9, 60e12, 4e12), "15 a byte: the ridge"),
         Case((80e9, 4e9, 8e12, 0.32e12), "20 a byte, on a device with the ridge at 25"),
         Case((60e9, 0.0, 60e12, 4e12), "nothing is moved")),
        mistakes.BOUND, parts=("the roof", "the time"),
    ),
    TextQuestion(
        "12.8", "In your own words: the best hit rate, and the slowest", 2, "core", "what a ratio does not say",
        "the course's own",
    ),
)  # fmt: skip
