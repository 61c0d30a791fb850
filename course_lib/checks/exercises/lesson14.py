"""Exercises of lesson 14: matrix products, plain, from shared tiles, with several results a thread; few vectors.

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


def _gradient_budget(X, dZ):
    (S, F), M = X.shape, dZ.shape[1]
    steps = S * max(F * up(M, WARP), M * up(F, WARP))  # of all warps, whichever axis of dW is x
    return {
        "global_loads": 2 * F * M * S, "global_load_sectors": 6 * steps, "global_store_sectors": 5 * F * up(M, WARP),
        "float64_operations": 0,
    }  # fmt: skip


def _tiled_budget(A, B):
    turns = up(A.shape[0], TILE) * up(B.shape[0], TILE) * up(A.shape[1], TILE)  # of all blocks together
    warps = TILE * TILE // WARP
    return {
        "global_loads": 2 * TILE**2 * turns, "global_load_sectors": 6 * 2 * warps * turns,
        "bank_conflicts": 4 * warps * turns, "float64_operations": 0,
    }  # fmt: skip


def _layer_budget(x, w, b):
    blocks = up(x.shape[0], SIDE) * up(w.shape[1], SIDE)
    return {"global_loads": SIDE**2 * blocks * (2 * up(x.shape[1], SIDE) + 1), "float64_operations": 0}


def _register_budget(sectors, requests, **others):
    """Return budget(A, B) with so many sectors and requests to shared memory, and others, for a block in a turn."""

    def budget(A, B):
        down, across, turns = up(A.shape[0], WIDE), up(B.shape[1], WIDE), up(A.shape[1], DEEP)
        return {
            "global_loads": 2 * WIDE * DEEP * down * across * turns,  # of whole tiles: indices may be clamped
            "global_load_sectors": sectors * down * across * turns,
            "shared_load_requests": requests * down * across * turns, "float64_operations": 0,
        } | {name: most * down * across * turns for name, most in others.items()}  # fmt: skip

    return budget


def _vectors_budget(A, X):
    return {
        "global_loads": 5 * A.size, "global_load_sectors": 25 * A.shape[0] * up(A.shape[1], WARP),
        "global_stores": 4 * A.shape[0], "float64_operations": 0,
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
        "14.2", "weight_gradient", "The gradient of the weights", 2, "warm-up",
        "which axis is x; what coalescing asks of stores", 'NVIDIA, "CUDA C++ Best Practices Guide"', 6,
        lambda X, dZ: X.T @ dZ,
        (Case((whole(1, 24, 40), whole(2, 24, 36)), "24 samples, 40 features, 36 outputs"),
         Case((whole(3, 17, 9), whole(4, 17, 50)), "17 samples, 9 features, 50 outputs")),
        mistakes.GRADIENT, launch=launches.gradient, budget=_gradient_budget,
    ),
    KernelExercise(
        "14.3", "tiled_product", "Rows times rows, within 2MNK/T loads", 4, "core",
        "tiles, two barriers, ragged edges, banks", 'Hwu, "Tiled Matrix Multiplication 2×2 example"', 16,
        lambda A, B: A @ B.T,
        (Case((whole(12, 16, 48), whole(13, 32, 48)), "(16, 48) times (32, 48) transposed"),
         Case((whole(14, 5, 23), whole(15, 19, 23)), "(5, 23) times (19, 23) transposed"),
         Case((whole(16, 16, 13), whole(17, 14, 13)), "(16, 13) times (14, 13) transposed")),
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
        budget=_register_budget(8 * 8 * 2, 8 * DEEP * 2, bank_conflicts=12 * DEEP),
    ),
    Exercise(
        "14.7", "choose_tile", "Choose a tile", 3, "core", "intensity, and what limits a tile", "the course's own", 11,
        _a_tile,
        (Case((256, 16.0, 2.0), "256 threads"), Case((1024, 1.0, 1.7), "1,024 threads: registers are few"),
         Case((32, 1.0, 0.5), "32 threads, little is asked"), Case((32, 8.0, 0.5), "32 threads")),
        requires=tile_problem,
    ),
    KernelExercise(
        "14.8", "four_vectors", "Four vectors at once", 3, "core",
        "a product bound by memory; what a batch saves; shuffles", 'Owens, "Matrix Formulation"', 16,
        lambda A, X: X @ A.T,
        (Case((whole(60, 6, 100), whole(61, 4, 100)), "6 rows of 100"),
         Case((whole(62, 4, 20), whole(63, 4, 20)), "4 rows of 20")),
        mistakes.VECTORS, launch=launches.four_vectors, budget=_vectors_budget, names={"IMAGES": 4},
        instead_of=("atomic",),
    ),
    TextQuestion(
        "14.9", "In your own words: one image, or sixteen", 2, "core", "reuse decides; batches", "the course's own",
    ),
)  # fmt: skip
