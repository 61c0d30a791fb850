"""How v10 cuts the gradient for the input into blocks, warps and tiles of a tensor core: arithmetic on the sizes.

    a sum        for each column q of the masks and input map c: over the output maps and the mask rows
    a tile       16 columns of dy x 8 sums, one row; what is left over, 4 sums or fewer, goes two rows a tile
    a warp       16 columns, all K_w C sums, from top to bottom
    a range      the columns of `warps` warps, counted through images; a block has many, one after the other
    a stage      ROWS rows of dy, of all output maps and all images that the range looks at

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.far import far
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

ROWS = 2
"""Rows of dy that are multiplied together: a weight that is brought once serves both."""

MULTIPROCESSORS = 132
"""Of an H200: how many blocks there are, in its `blocks` fold, does not depend on the card. They are enough for any."""

ALL_BYTES, RESERVED = 228 * 1024, 1024
"""Shared memory of a multiprocessor of an H100 or H200, and what each block costs beside its own."""

MOST_MASK, MOST_TILES, FEWER_TILES = 7, 28, 20
"""Mask rows, and tiles that a warp adds up at a time, for which a thread has registers: fewer, if it has to keep where
its sums go, which it has not where C divides 8."""

TUNED = {(4, 40, 40, 16, 7): (4, 3, 2)}
"""C, H, W, M, K -> warps, STAGES, blocks, for no padding."""


@dataclass(frozen=True)
class RowPlan:
    """One way to cut the work. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    warps: int
    STAGES: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @property
    def columns(self):
        """Columns of dy of a range."""
        return 16 * self.warps

    @functools.cached_property
    def images(self):
        """The most images that a range looks at: where its first column lies in an image, it lies in all of them."""
        starts = range(0, self.s.W_out, gcd(self.s.W_out, self.columns))
        return max((start + self.columns - 1) // self.s.W_out for start in starts) + 1

    @property
    def sums(self):
        """Sums of a column of dy."""
        return self.s.C * self.s.K_w

    @property
    def whole(self):
        """Tiles of 8 sums of one row."""
        whole, rest = divmod(self.sums, 8)
        return whole + (rest > 4)

    @property
    def mixed(self):
        """Tiles of two rows, one below the other, that a row of dy reaches; 0 if no sum is left over."""
        return self.s.K_h // 2 + 1 if self.sums > 8 * self.whole else 0

    @property
    def tiles(self):
        """Tiles that a warp adds up at a time."""
        return self.whole * (self.s.K_h + 1) + self.mixed

    @property
    def eights(self):
        """Steps of 8 output maps."""
        return -(-self.s.M // 8)

    @property
    def rows(self):
        """Rows of sums: those of dy, and where the mask reaches over the last one."""
        return self.s.H_out + self.s.K_h - 1

    @property
    def turns(self):
        """Stages that a block goes through; in the last ones there is nothing left of dy."""
        return -(-self.rows // ROWS)

    @property
    def piece(self):
        """Floats of one copy: 4 where every stage of every map begins and ends at a multiple of 16 bytes."""
        s = self.s
        return 4 if ROWS * s.W_out % 4 == 0 and s.H_out * s.W_out % 4 == 0 else 1

    @property
    def plane(self):
        """Floats of one output map in a stage."""
        return far(self.images * ROWS * self.s.W_out)

    @property
    def stage(self):
        """Floats of a stage: whole steps of 8 maps."""
        return 8 * self.eights * self.plane

    @property
    def wide(self):
        """Columns of dx with its padding."""
        return self.s.W + 2 * self.s.p_w

    @property
    def read(self):
        """Pixels of dx that a thread adds up at a time."""
        return 4 if self.s.W % 4 == 0 and self.s.p_w % 4 == 0 else 1

    @property
    def line(self):
        """Floats from one sum's row to the next: column u of dy lies at u + q, where dx needs it.

        4 beyond a multiple of 16, so that every second row begins in another quarter of the banks.
        """
        return -(-(self.images * self.wide - 4) // 16) * 16 + 4

    @property
    def results(self):
        """Floats of the sums of a stage's rows."""
        return ROWS * self.sums * self.line

    @property
    def units(self):
        """Steps of 8 output maps and a tile, with those for tiles that begin in odd and in even rows."""
        return self.whole * self.s.K_h + 2 * self.mixed

    @property
    def masks(self):
        """Floats of the weights: for each unit of each step two big parts and two small ones a lane."""
        return self.eights * self.units * 128

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * (self.masks + self.STAGES * self.stage + self.results)

    def ranges(self, B):
        """Return the ranges of columns of B images."""
        return -(-B * self.s.W_out // self.columns)


@functools.lru_cache(maxsize=256)
def plan_rows(s):
    """Return the RowPlan for Sizes with B = 0, or None where v06 is as good or nothing fits. No errors.

    The stride must be 1. Few sums leave most of a tensor core idle, and few output maps leave little to add up.
    """
    if (s.s_h, s.s_w) != (1, 1) or not 3 <= s.K_h <= MOST_MASK or s.C * s.K_w < 12 or s.M < 8:
        return None
    cut = TUNED.get((s.C, s.H, s.W, s.M, s.K_h))
    tuned = cut and s.K_h == s.K_w and (s.p_h, s.p_w) == (0, 0)
    candidates = [RowPlan(s, *c) for c in ([cut] if tuned else ((4, 3, 2), (4, 2, 1), (8, 2, 1)))]
    return next((p for p in candidates if _fits(p)), None)


def _fits(p):
    """Whether a block can have it; an image lies in two ranges at most."""
    together = p.blocks * (p.shared + RESERVED) <= ALL_BYTES
    few = p.tiles <= (MOST_TILES if 8 % p.s.C == 0 else FEWER_TILES)
    return together and few and p.shared <= executor().shared_limit and p.columns >= p.s.W_out
