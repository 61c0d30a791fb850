"""The sum of an array, from a tree that wastes most threads to one pass at the memory's speed.

Every rung adds in an order that depends on the size only, in v06 also on whether x begins at a multiple of 16 bytes:
the same numbers there give the same bits. Source: M. Harris, "Optimizing Parallel Reduction in CUDA"; the course's own.
"""

from course_lib.cuda.ladders.reduce import (
    v01_interleaved,
    v02_sequential,
    v03_first_add_at_load,
    v04_warp_shuffle,
    v05_grid_stride,
    v06_one_pass,
)
from course_lib.cuda.ladders.rung import Rung

LADDER = (
    Rung(
        "v01_interleaved",
        v01_interleaved.reduce_v01_interleaved,
        "A block adds up 256 numbers in shared memory, as a tree whose partners move apart.",
        "divergent_branches: 48 a block, one for each warp that adds, and one for the result.",
        v01_interleaved.traffic,
    ),
    Rung(
        "v02_sequential",
        v02_sequential.reduce_v02_sequential,
        "The threads that add stand side by side, so that whole warps drop out.",
        "divergent_branches: 48 to 6 a block; shared_load_requests: 95 to 25.",
        v02_sequential.traffic,
    ),
    Rung(
        "v03_first_add_at_load",
        v03_first_add_at_load.reduce_v03_first_add_at_load,
        "A thread adds two numbers while it loads them, so half as many blocks do.",
        "barriers, shared_load_requests, shared_store_requests: halved.",
        v03_first_add_at_load.traffic,
    ),
    Rung(
        "v04_warp_shuffle",
        v04_warp_shuffle.reduce_v04_warp_shuffle,
        "Lanes of a warp pass numbers from register to register; shared memory keeps one word a warp.",
        "shared_load_requests: 25 to 1 a block; barriers: 9 to 1 a warp; warp_operations: 0 to 45 a block.",
        v04_warp_shuffle.traffic,
    ),
    Rung(
        "v05_grid_stride",
        v05_grid_stride.reduce_v05_grid_stride,
        "At most 1,024 blocks walk over all numbers and add in registers; two launches for any size.",
        "barriers, shared_load_requests, warp_operations: no longer grow with n.",
        v05_grid_stride.traffic,
    ),
    Rung(
        "v06_one_pass",
        v06_one_pass.reduce_v06_one_pass,
        "Loads take 16 bytes, and the block that is done last adds up the others' sums: one launch.",
        "global_load_requests: a quarter; atomic_requests: 0 to one a block, on whole numbers.",
        v06_one_pass.traffic,
        widths=("LDG.128",),
    ),
)
"""All rungs, the lowest first: launch(x, out) writes the sum of x (...) into out (1,)."""
