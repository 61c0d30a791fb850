"""Usual mistakes in the exercises of lesson 11 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause


def _first_columns(x, n):
    """Return (R,), the sums of n columns only; None where there are no more: that is right."""
    return x[:, :n].sum(axis=1) if n < x.shape[1] else None


LEAKY = (
    Cause("The slope belongs to the negative numbers; here the positive ones are multiplied.",
          lambda x, slope: np.where(x > 0, slope * x, x) if slope < 1 else None),  # else it is max(x, slope x)
    Cause("Negative numbers came out as 0: that is ReLU without a slope.", lambda x, slope: np.maximum(x, 0)),
    Cause("The larger of x and slope x is right for slopes below 1 only; compare x with 0.",
          lambda x, slope: np.maximum(x, slope * x)),
    Cause("Negative numbers came out as positive ones.", lambda x, slope: np.where(x > 0, x, -slope * x)),
)  # fmt: skip

ROW_SUM = (
    Cause("As many columns were added up as the grid has threads. A grid is as large as whoever launches wants it; the "
          "number of columns is x.shape[1].",
          lambda x: _first_columns(x, 32 * (-(-x.shape[0] // 32) + 1))),
    Cause("As many columns were added up as there are rows: the loop runs over x.shape[1].",
          lambda x: _first_columns(x, x.shape[0])),
    Cause("The last column is missing: range(n) ends at n - 1 by itself.", lambda x: x[:, :-1].sum(axis=1)),
    Cause("The first column is missing.", lambda x: x[:, 1:].sum(axis=1)),
)  # fmt: skip


def _lanes(takes):
    """Return (warps, 32): 1 where a lane takes the if, 0 where it does not, -1 where there is no thread."""
    return np.pad(takes.astype(int), (0, -takes.size % 32), constant_values=-1).reshape(-1, 32)


def _divided(takes):
    lanes = _lanes(takes)
    return (lanes == 0).any(axis=1) & (lanes == 1).any(axis=1)


def _with_idle(passes):
    """Return wrong(takes) -> (passes, idle slots) of a wrong count of passes, with the right sum for the slots."""
    return lambda takes: (passes(takes), 32 * passes(takes) - takes.size)


PASSES = (
    Cause("Each warp decides for itself: that some other warp of the block is divided costs it nothing.",
          _with_idle(lambda takes: len(_lanes(takes)) * (1 + (takes.any() and not takes.all())))),
    Cause("A warp whose lanes agree walks one side only; only a divided one walks both.",
          _with_idle(lambda takes: 2 * len(_lanes(takes)))),
    Cause("The last warp need not be full: its missing lanes are idle too.",
          lambda takes: (len(_lanes(takes)) + int(_divided(takes).sum()), 32 * int(_divided(takes).sum()))),
    Cause("A warp that is not full is a warp too.",
          _with_idle(lambda takes: takes.size // 32 + int(_divided(takes)[: takes.size // 32].sum()))),
)  # fmt: skip


def _numbers(tiles_of, place):
    """Return wrong(M, H_out, W_out) with the number of tiles in a row, or the place in a tile, of a mistake."""

    def wrong(M, H_out, W_out):
        _, h, w = np.indices((M, H_out, W_out))
        return (16 * (h // 4 * tiles_of(H_out, W_out) + w // 4) + place(h % 4, w % 4)).astype(np.int32)

    return wrong


TILES = (
    Cause("Within a tile rows and columns have changed places: threadIdx.y counts rows.",
          _numbers(lambda H, W: -(-W // 4), lambda i, j: 4 * j + i)),
    Cause("The number of the tile is right, the thread's place in it is missing.",
          _numbers(lambda H, W: -(-W // 4), lambda i, j: 0 * i)),
)  # fmt: skip


def _by_warp(a, b):
    return np.where(np.arange(a.size) // 32 % 2 == 0, a + 1, 2 * b).astype(np.float32)


ALTERNATE = (
    Cause("The formula follows the warp now, but the elements do not: a warp must also be given all elements of one "
          "kind.", _by_warp),
    Cause("The two formulas have changed places: even elements are a + 1.",
          lambda a, b: np.where(np.arange(a.size) % 2 == 1, a + 1, 2 * b).astype(np.float32)),
)  # fmt: skip
