"""How v06 cuts the gradient for the input into blocks and threads: plain arithmetic on sizes, once for a shape.

    a thread   one whole row of pixels of TC input maps, in registers
    a block    NB images, all their maps, RB rows
    a stage    of each image MC maps of dy, the rows that the block needs, in shared memory; one of two stages is filled
               while the other is used

Source: H, "Specialization for the LeNet-5 C1 Layer"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

import numpy as np

from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

WARP, BANKS = 32, 32
MOST_SUMS, MOST_THREADS, MOST_PRODUCTS = 96, 640, 640
"""Running sums of a thread, threads of a block, and multiply-adds of the unrolled loop's body."""

SHARED_BYTES = 64 * 1024
"""Of a block, so that a multiprocessor has several: 228 KiB on an H200, 100 KiB at the least where cp.async exists."""

TUNED = {
    (1, 86, 86, 4, 7): (1, 1, 1, 86, False),
    (4, 40, 40, 16, 7): (2, 2, 2, 40, True),
    (1, 32, 32, 6, 5): (1, 2, 1, 32, False),
    (6, 14, 14, 16, 5): (3, 8, 4, 14, True),
}
"""(C, H, W, M, K): TC, NB, MC, RB, FOLD, for stride 1 and no padding.

They were the fastest of those timed on an H200.
"""


@dataclass(frozen=True)
class Plan:
    """One way to cut the work. What lies below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    TC: int
    NB: int
    MC: int
    RB: int
    FOLD: bool

    @functools.cached_property
    def groups(self):
        """Groups of TC input maps."""
        return self.s.C // self.TC

    @functools.cached_property
    def units(self):
        """Threads with work."""
        return self.NB * self.groups * self.RB

    @functools.cached_property
    def threads(self):
        """Threads of a block, whole warps."""
        return -(-self.units // WARP) * WARP

    @functools.cached_property
    def width(self):
        """Floats of one access to a row of dy in shared memory."""
        return gcd(self.s.W_out, 4)

    @functools.cached_property
    def pitch(self):
        """Floats from one row of dy to the next: an odd number of accesses: rows begin in different banks."""
        return self.s.W_out + (self.width == 4 and self.s.W_out % 8 == 0) * 4

    @functools.cached_property
    def sums(self):
        """Running sums of a thread: its rows, with the columns of the padding."""
        return self.TC * (self.s.W_out + self.s.K_w - 1)

    @functools.cached_property
    def taps(self):
        """Floats of one mask row of TC maps, a multiple of 4."""
        return -(-self.TC * self.s.K_w // 4) * 4

    @functools.cached_property
    def masks(self):
        """Floats of all masks in shared memory."""
        return self.s.M * self.groups * self.s.K_h * self.taps

    @functools.cached_property
    def bands(self):
        """Blocks that share the rows of an image."""
        return -(-self.s.H // self.RB)

    @functools.cached_property
    def y_rows(self):
        """Rows of dy in a stage."""
        return min(self.s.H_out, self.RB + self.s.K_h - 1)

    def first_y(self, band):
        """The first row of dy that a band needs: where the output begins that saw its first row last."""
        return max(0, band * self.RB + self.s.p_h - self.s.K_h + 1)

    @functools.cached_property
    def sixteen(self):
        """Whether all that is copied begins at a multiple of 16 bytes."""
        starts = [self.first_y(band) * self.s.W_out for band in range(self.bands)]
        return all(start % 4 == 0 for start in (*starts, self.s.H_out * self.s.W_out))

    @functools.cached_property
    def map(self):
        """Floats of one map in a stage."""
        return -(-self.y_rows * self.pitch // 4) * 4

    @functools.cached_property
    def slots(self):
        """The row of each thread in its band. FOLD: from both ends to the middle, first, last, second, ..."""
        slot = np.minimum(np.arange(self.threads) // (self.NB * self.groups), self.RB - 1)
        return np.where(slot % 2 == 0, slot // 2, self.RB - 1 - slot // 2) if self.FOLD else slot

    @functools.cached_property
    def image(self):
        """Floats of one image in a stage, with the padding that brings the fewest bank conflicts."""
        least = self.MC * self.map
        return min(range(least, least + BANKS, 4), key=self._wavefronts)

    @functools.cached_property
    def stage(self):
        """Floats of a stage."""
        return self.NB * self.image

    @property
    def shared(self):
        """Bytes of shared memory."""
        return 4 * (self.masks + 2 * self.stage)

    def _wavefronts(self, image):
        """Turns that shared memory needs when every warp reads one row of dy, for each access of the row."""
        thread = np.arange(self.threads)
        row = np.minimum(self.slots + min(self.s.K_h - 1, self.y_rows - self.RB), self.y_rows - 1)
        row = np.maximum(0, row)
        address = (thread % self.NB * image + row * self.pitch) // self.width
        lanes = BANKS // self.width  # that are served at once
        total = 0
        for turn in address.reshape(-1, lanes):
            banks = np.unique(turn) % lanes
            total += np.bincount(banks).max()
        return int(total)

    @property
    def fits(self):
        """Whether a block can have so much shared memory, and a thread so many registers."""
        body = self.TC * self.s.W_out * self.s.K_w
        small = self.sums <= MOST_SUMS and self.taps <= 32 and body <= MOST_PRODUCTS and self.threads <= MOST_THREADS
        return small and self.shared <= SHARED_BYTES

    @property
    def worth(self):
        """A guess at the share of a multiprocessor's multiply-adds that count: for shapes that nobody has timed."""
        s = self.s
        turns = 0  # a warp goes on until its last lane is done
        for band in range(self.bands):
            row = np.minimum(self.slots + band * self.RB, s.H - 1) + s.p_h
            taps = np.minimum(s.K_h - 1, row) - np.maximum(0, row - (s.H_out - 1)) + 1
            turns += int(np.maximum(0, taps).reshape(-1, WARP).max(axis=1).sum())
        body = self.TC * s.W_out * s.K_w
        loads = self._wavefronts(self.image) * WARP / self.threads * (s.W_out // self.width) + self.taps // 4
        issued = turns * (body + max(s.W_out // self.width, 2 * loads - body / 4) + self.taps // 4 + 8)
        issued += (
            8 * self.bands * self.NB * self.map / (4 * WARP) + 30 * self.bands * self.masks / s.M / WARP
        )  # the copies
        useful = self.NB * s.C * s.H_out * s.W_out * s.K_h * s.K_w / WARP
        registers = self.sums + self.taps + 30
        blocks = min(65536 // (self.threads * registers), 220 * 1024 // self.shared, 32)
        warps = blocks * self.threads // WARP
        return useful / issued * min(1, (warps / 20) ** 0.5)


@functools.lru_cache(maxsize=256)
def plan(s):
    """Return the Plan for Sizes with B = 0, or None if a row does not fit a thread or the stride is not 1.

    No errors. Source: the course's own.
    """
    if (s.s_h, s.s_w) != (1, 1):
        return None
    return best_plan(s, TUNED, Plan, _candidates(s))


def _candidates(s):
    for TC in (n for n in range(1, min(s.C, 8) + 1) if s.C % n == 0):
        for MC in (n for n in (1, 2, 4) if s.M % n == 0):
            for NB in (1, 2, 4, 8, 16):
                for RB in sorted({s.H, *(n for n in (8, 16, 32) if n < s.H)}):
                    for FOLD in (False, True) if RB == s.H else (False,):
                        yield Plan(s, TC, NB, MC, RB, FOLD)
