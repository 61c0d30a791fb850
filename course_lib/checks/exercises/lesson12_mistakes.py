"""Usual mistakes in the exercises of lesson 12 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import math

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.simt.estimate.devices import find_device

LANES = np.arange(32)

SECTORS = (
    Cause("offset moves the warp away from the beginning of a sector, and it may touch one more.",
          lambda stride, offset: len(np.unique(stride * LANES // 8)) if offset else None),
    Cause("A sector has 32 bytes: 8 float32, not 32.",
          lambda stride, offset: len(np.unique((offset + stride * LANES) // 32))),
    Cause("All sectors between the first and the last element were counted. Those that no lane touches do not move.",
          lambda stride, offset: (offset + 31 * stride) // 8 - offset // 8 + 1 if stride > 8 else None),
    Cause("Lanes that touch the same sector share it: count each sector once.", lambda stride, offset: 32),
)  # fmt: skip


def _tiles(places, inside):
    """Return wrong(x), x of whole tiles: `places` moves the tiles, `inside` the elements of each; both the first axes.

    As `_turned` does for both, they make a quarter turn to the right.
    """

    def wrong(x):
        rows, columns = x.shape[0] // 32, x.shape[1] // 32
        tiles = places(x.reshape(rows, 32, columns, 32).transpose(0, 2, 1, 3))
        tiles = inside(tiles.transpose(2, 3, 0, 1))
        return tiles.transpose(2, 0, 3, 1).reshape(x.shape[::-1])

    return wrong


def _same(a):
    return a


def _across(a):
    return a.swapaxes(0, 1)


def _mirrored(a):
    return a[:, ::-1]


def _turned(a):
    return a[::-1].swapaxes(0, 1)


STAYS = "Each tile is turned, but the tiles are not: the block's two indices change places as well."
TURN = (
    Cause("That is the transpose: row 0 of x became the leftmost column of y. After a turn to the right it is the "
          "rightmost one, column R - 1 - r.", lambda x: x.T.copy()),
    Cause("That is a turn to the left. To the right, the last column of x becomes the last row of y.",
          lambda x: x[:, ::-1].T.copy()),
    Cause(STAYS, _tiles(_same, _turned)),
    Cause(STAYS, _tiles(_mirrored, _turned)),
    Cause("Each tile came to its place, but is not turned itself: read it with the thread's two indices exchanged.",
          _tiles(_turned, _mirrored)),
    Cause("Each tile is turned, but the tiles lie as in a transpose: column R - 1 - r counts from the end of the whole "
          "image, not of a tile.", _tiles(_across, _turned)),
    Cause("The tiles came to their places, but each one is only transposed: within a tile the columns are in reverse "
          "order as well.", _tiles(_turned, _across)),
)  # fmt: skip


TILE_SUMS = (
    Cause("The columns of each tile were added up. Thread t adds up row t.",
          lambda x: np.concatenate([tile.sum(axis=0) for tile in np.split(x, range(32, len(x), 32))])[: len(x)]),
    Cause("The last column of the tile is missing: its padding is column 32, its last one column 31.",
          lambda x: x[:, :-1].sum(axis=1)),
)  # fmt: skip

WAVEFRONTS = (
    Cause("Lanes that read the same word share it: a broadcast takes one turn.",
          lambda stride: int(np.bincount(stride * LANES % 32).max()) if stride == 0 else None),
    Cause("These are the additional turns; the first one counts too.",
          lambda stride: math.gcd(stride, 32) - 1 if stride and math.gcd(stride, 32) != 2 else None),  # 1: no conflicts
    Cause("That is how many banks are used. The turns are the most words in one bank.",
          lambda stride: len(np.unique(stride * LANES % 32)) if stride else None),
)  # fmt: skip


def _occupancy(threads_of=None, reserved=1024, unit=256, quarters=4):
    """Return wrong(device, threads, shared_bytes, registers) with one rule exchanged."""

    def wrong(device, threads, shared_bytes, registers):
        d, warps = find_device(device), -(-threads // 32)
        taken = -(-32 * registers // unit) * unit
        limits = {
            "threads": threads_of(d, threads) if threads_of else d.warps_per_sm // warps,
            "blocks": d.blocks_per_sm,
            "shared memory": d.shared_per_sm // max(1, -(-(shared_bytes + reserved) // 128) * 128),
            "registers": 65_536 // quarters // taken * quarters // warps,
        }
        fewest = min(limits.values())
        return fewest, next(name for name, blocks in limits.items() if blocks == fewest)

    return wrong


OCCUPANCY = (
    Cause("A block takes whole warps, also if its last one is not full: 200 threads are 7 warps.",
          _occupancy(threads_of=lambda d, threads: d.threads_per_sm // threads)),
    Cause("The driver takes 1,024 bytes of shared memory for each block as well.", _occupancy(reserved=0)),
    Cause("A warp's registers are rounded up to a multiple of 256.", _occupancy(unit=1)),
    Cause("A warp's registers lie in one quarter of the SM: what is left over in two quarters holds no warp.",
          _occupancy(quarters=1)),
)  # fmt: skip


def _named(name, seconds):
    return lambda *args: (name(*args), seconds(*args))


def _limit(flops, moved, peak, bandwidth):
    return "memory" if moved / bandwidth > flops / peak else "arithmetic"


BOUND = (
    Cause("The two go on at the same time, so the longer one counts, not the sum.",
          _named(_limit, lambda f, m, p, b: f / p + m / b)),
    Cause("The kernel must wait for the slower one: the larger of the two times.",
          _named(_limit, lambda f, m, p, b: min(f / p, m / b))),
    Cause("The names have changed places: few operations a byte, and memory is the limit.",
          _named(lambda f, m, p, b: "arithmetic" if m / b > f / p else "memory", lambda f, m, p, b: max(f / p, m / b))),
)  # fmt: skip
