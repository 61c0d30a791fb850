"""Exercises of lesson 14: matrix products, plain, from shared tiles, with several results a thread; one vector.

Kernels are judged by their values, their hazards and their traffic; the tests compare what is counted here with the
executor. No GPU is needed.

Source: Hwu, "Tiled Matrix Multiplication 2×2 example", "Strategies for Lab 7"; Owens, "Matrix Formulation".
"""

import itertools

import numpy as np

from course_lib.checks.exercise import Case, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises import lesson14_launches as launches
from course_lib.checks.exercises import lesson14_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.lesson14_launches import DEEP, SIDE, TILE, WARP, WIDE, tile_problem


def _loads(M, N, K, BM, BN):
    """Count tile by tile: each brings the rows and the columns that exist."""
    rows = [min(BM, M - top) for top in range(0, M, BM)]
    columns = [min(BN, N - left) for left in range(0, N, BN)]
    return 2 * K * M * N, sum((r + c) * K for r in rows for c in columns)


def _plain_budget(A, B):
    (M, K), N = A.shape, B.shape[1]
    return {
        "global_loads": 2 * M * N * K, "global_load_sectors": 6 * M * up(N, WARP) * K, "float64_operations": 0,
    }  # fmt: skip


def _tiled_budget(A, B):
    turns = up(A.shape[0], TILE) * up(B.shape[1], TILE) * up(A.shape[1], TILE)  # of all blocks together
    warps = TILE * TILE // WARP
    return {
        "global_loads": 2 * TILE**2 * turns, "global_load_sectors": 6 * 2 * warps * turns,
        "bank_conflicts": 2 * warps * turns, "float64_operations": 0,
    }  # fmt: skip


def _layer_budget(x, w, b):
    blocks = up(x.shape[0], SIDE) * up(w.shape[1], SIDE)
    return {"global_loads": SIDE**2 * blocks * (2 * up(x.shape[1], SIDE) + 1), "float64_operations": 0}


def _register_budget(sectors, requests):
    """Return budget(A, B) with so many sectors and requests to shared memory for a block in a turn."""

    def budget(A, B):
        down, across, turns = up(A.shape[0], WIDE), up(B.shape[1], WIDE), up(A.shape[1], DEEP)
        return {
            "global_loads": 2 * WIDE * DEEP * down * across * turns,  # of whole tiles: indices may be clamped
            "global_load_sectors": sectors * down * across * turns,
            "shared_load_requests": requests * down * across * turns, "float64_operations": 0,
        }  # fmt: skip

    return budget


def _vector_budget(A, x):
    return {
        "global_loads": 2 * A.size, "global_load_sectors": 9 * A.shape[0] * up(A.shape[1], WARP),
        "global_stores": A.shape[0], "float64_operations": 0,
    }  # fmt: skip


def _a_tile(threads, intensity, reuse):
    """Return the smallest tile of powers of two that is right."""
    powers = [2**n for n in range(9)]
    tiles = [
        (TM * down, TN * (threads // down), 8, TM, TN)
        for TM, TN, down in itertools.product(powers, powers, powers)
        if down <= threads
    ]
    right = [tile for tile in tiles if tile_problem(tile, threads, intensity, reuse) is None]
    return min(right, key=lambda tile: (tile[0] * tile[1], abs(tile[0] - tile[1]), abs(tile[3] - tile[4])))


def _layer(seed, N, F, M):
    return whole(seed, N, F), whole(seed + 1, F, M), whole(seed + 2, M)


EXERCISES = (
    Exercise(
        "14.1", "loads", "What tiles save", 2, "warm-up", "loads with and without tiles; ragged edges",
        'Hwu, "Tiled Matrix Multiplication 2×2 example"', 3, _loads,
        (Case((4, 4, 12, 2, 2), "4 x 4 results, tiles of 2 x 2"), Case((4, 4, 12, 2, 4), "tiles of 2 x 4"),
         Case((5, 5, 3, 4, 4), "5 x 5 results, tiles not full"), Case((7, 20, 9, 4, 8), "7 x 20 results")),
        mistakes.LOADS, parts=("what the plain kernel loads", "what the tiled kernel loads"),
    ),
    KernelExercise(
        "14.2", "plain_product", "The plain product, the right way round", 2, "core", "which axis is x; coalescing",
        'NVIDIA, "CUDA C++ Best Practices Guide"', 6, lambda A, B: A @ B,
        (Case((whole(1, 40, 24), whole(2, 24, 36)), "(40, 24) times (24, 36)"),
         Case((whole(3, 9, 17), whole(4, 17, 50)), "(9, 17) times (17, 50)")),
        mistakes.PLAIN, launch=launches.plain, budget=_plain_budget,
    ),
    KernelExercise(
        "14.3", "tiled_product", "The product within 2MNK/T loads", 4, "core", "tiles, two barriers, ragged edges",
        'Hwu, "Tiled Matrix Multiplication 2×2 example"', 16, lambda A, B: A @ B,
        (Case((whole(12, 16, 48), whole(13, 48, 32)), "(16, 48) times (48, 32)"),
         Case((whole(14, 5, 23), whole(15, 23, 19)), "(5, 23) times (23, 19)")),
        mistakes.TILED, launch=launches.tiled, budget=_tiled_budget, names={"TILE": TILE},
    ),
    KernelExercise(
        "14.4", "dense_relu", "Repair: a layer that is right on square matrices", 3, "core",
        "the second barrier; what the grid does not know; reading a report", "the course's own", 15,
        lambda x, w, b: np.maximum(x @ w + b, 0),
        (Case(_layer(20, 16, 16, 16), "16 samples, 16 features, 16 outputs"),
         Case(_layer(30, 11, 37, 21), "11 samples, 37 features, 21 outputs")),
        mistakes.LAYER, launch=launches.layer, budget=_layer_budget, names={"SIDE": SIDE},
    ),
    KernelExercise(
        "14.5", "four_rows", "Four results a thread", 3, "stretch", "reuse in a register; who brings what",
        'Hwu, "Strategies for Lab 7"', 25, lambda A, B: A @ B,
        (Case((whole(40, 32, 16), whole(41, 16, 64)), "(32, 16) times (16, 64)"),
         Case((whole(42, 37, 19), whole(43, 19, 21)), "(37, 19) times (19, 21)")),
        mistakes.BY_EIGHTS, launch=launches.four_rows, names={"WIDE": WIDE, "DEEP": DEEP, "ROWS": 4},
        budget=_register_budget((8 + 5) * 8, 5 * DEEP * 8),
    ),
    KernelExercise(
        "14.6", "sixteen", "Sixteen results a thread", 4, "stretch", "reuse in two directions",
        'Hwu, "Strategies for Lab 7"', 32, lambda A, B: A @ B,
        (Case((whole(50, 32, 16), whole(51, 16, 64)), "(32, 16) times (16, 64)"),
         Case((whole(52, 37, 19), whole(53, 19, 21)), "(37, 19) times (19, 21)")),
        mistakes.BY_EIGHTS, launch=launches.sixteen,
        names={"WIDE": WIDE, "DEEP": DEEP, "SIDE": SIDE, "EACH": 4},
        budget=_register_budget(8 * 8 * 2, 8 * DEEP * 2),
    ),
    Exercise(
        "14.7", "choose_tile", "Choose a tile", 3, "core", "intensity, and what limits a tile", "the course's own", 11,
        _a_tile,
        (Case((1024, 8.0, 0.5), "1,024 threads"), Case((256, 16.0, 2.0), "256 threads"),
         Case((64, 16.0, 4.0), "64 threads")),
        requires=tile_problem,
    ),
    KernelExercise(
        "14.8", "matrix_vector", "One vector: a warp for each row", 2, "core", "a product bound by memory; shuffles",
        'Owens, "Matrix Formulation"', 11, lambda A, x: A @ x,
        (Case((whole(60, 6, 100), whole(61, 100)), "6 rows of 100"),
         Case((whole(62, 4, 20), whole(63, 20)), "4 rows of 20")),
        mistakes.VECTOR, launch=launches.matrix_vector, budget=_vector_budget, instead_of=("atomic",),
    ),
    TextQuestion(
        "14.9", "In your own words: one image, or sixty-four", 2, "core", "reuse decides; batches", "the course's own",
    ),
)  # fmt: skip
