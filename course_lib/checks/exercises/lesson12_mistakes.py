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


def _tiles_stay(x):
    """Each tile is transposed, and put back where it came from."""
    y = np.full(x.shape[::-1], np.nan, np.float32)
    for r in range(0, x.shape[0], 32):
        for c in range(0, x.shape[1], 32):
            part = x[r : r + 32, c : c + 32].T
            y[r : r + 32, c : c + 32] = part
    return y


def _tiles_move(x):
    """Each tile moves to its place, and is not transposed itself."""
    y = np.full(x.shape[::-1], np.nan, np.float32)
    for r in range(0, x.shape[0], 32):
        for c in range(0, x.shape[1], 32):
            y[c : c + 32, r : r + 32] = x[r : r + 32, c : c + 32]
    return y


TRANSPOSE = (
    Cause("Each tile is transposed, but stays where it was: the block's two indices change places as well.",
          _tiles_stay),
    Cause("Each tile came to its place, but lies in it as before: read it with the thread's two indices exchanged.",
          _tiles_move),
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
