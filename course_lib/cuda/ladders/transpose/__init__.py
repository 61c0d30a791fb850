"""The transpose of a matrix, from scattered writes to nearly the speed of a copy.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++"; the course's own.
"""

from course_lib.cuda.ladders.rung import Rung
from course_lib.cuda.ladders.transpose import v01_naive, v02_tile, v03_padded, v04_coarsened, v05_ragged_rows

LADDER = (
    Rung(
        "v01_naive",
        v01_naive.transpose_v01_naive,
        "A thread moves one number; a warp reads a row and writes a column.",
        "global_store_sectors: 32 a request, where 4 would do.",
        v01_naive.traffic,
    ),
    Rung(
        "v02_tile",
        v02_tile.transpose_v02_tile,
        "A block turns a tile in shared memory, so that a warp reads a row and writes a row.",
        "global_store_sectors: 32 to 4 a request; shared_load_conflicts: 0 to 31.",
        v02_tile.traffic,
    ),
    Rung(
        "v03_padded",
        v03_padded.transpose_v03_padded,
        "The tile's rows are one word longer, so that a column lies in 32 banks.",
        "shared_load_conflicts: 31 to 0 a request.",
        v03_padded.traffic,
    ),
    Rung(
        "v04_coarsened",
        v04_coarsened.transpose_v04_coarsened,
        "A thread moves eight numbers, four an access.",
        "global_load_requests, global_store_requests: a quarter.",
        v04_coarsened.traffic,
        widths=("LDG.128", "STG.128"),
    ),
    Rung(
        "v05_ragged_rows",
        v05_ragged_rows.transpose_v05_ragged_rows,
        "Each row of y is cut where a sector begins, for rows that begin anywhere.",
        "global_store_sectors: 1.22 to 1.02 of the least, where rows have odd lengths; none is written in two parts.",
        v05_ragged_rows.traffic,
        only=v05_ragged_rows.ragged,
    ),
)
"""All rungs, the lowest first: launch(x, y) writes x (R, C) transposed into y (C, R)."""
