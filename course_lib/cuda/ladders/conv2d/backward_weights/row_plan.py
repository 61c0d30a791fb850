"""How v10 cuts the gradient for the masks into blocks, warps and tiles of a tensor core: arithmetic on the sizes.

    a sum        for each column q of the masks and input map c, of one mask row: over all places of dy
    a tile       16 output maps x 8 sums; what is left over, 4 sums or fewer, goes two mask rows a tile
    a step       8 columns of one row of dy, for all tiles
    a warp       `strips` times 8 columns, all K_w C K_h sums of 16 output maps, from top to bottom
    a range      the columns of `warps` warps, counted through images; a block has many, one after the other
    a stage      ROWS rows of dy and x, of all images that the range looks at

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.far import far
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

ROWS, AHEAD = 2, 2
"""Rows of a stage, and stages that are on their way."""

MULTIPROCESSORS = 132
"""Of an H200: how many partial sums there are is the same on all cards, and so are the bits of dw."""

ALL_BYTES, RESERVED = 228 * 1024, 1024
"""Shared memory of a multiprocessor of an H100 or H200, and what each block costs beside its own."""

MOST_MASK, MOST_TILES = 7, 26
"""Mask rows, and tiles of a warp, for which a thread has registers."""

TUNED = {(4, 40, 40, 16, 7): (4, 2, 2)}
"""C, H, W, M, K -> warps, strips, blocks, for no padding."""


@dataclass(frozen=True)
class RowPlan:
    """One way to cut the work. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    warps: int
    strips: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @property
    def columns(self):
        """Columns of dy of a range."""
        return 8 * self.strips * self.warps

    @functools.cached_property
    def images(self):
        """The most images that a range looks at: where its first column lies in an image, it lies in all of them."""
        starts = range(0, self.s.W_out, gcd(self.s.W_out, self.columns))
        return max((start + self.columns - 1) // self.s.W_out for start in starts) + 1

    @property
    def map_blocks(self):
        """Blocks that share the output maps."""
        return -(-self.s.M // 16)

    @property
    def sums(self):
        """Sums of a mask row."""
        return self.s.C * self.s.K_w

    @property
    def whole(self):
        """Tiles of one mask row."""
        whole, rest = divmod(self.sums, 8)
        return whole + (rest > 4)

    @property
    def mixed(self):
        """Tiles of two mask rows; 0 if no sum is left over."""
        return -(-self.s.K_h // 2) if self.sums > 8 * self.whole else 0

    @property
    def tiles(self):
        """Tiles of a warp."""
        return self.whole * self.s.K_h + self.mixed

    @property
    def rows(self):
        """Rows of x, with the padding, that outputs look at."""
        return self.s.H_out + self.s.K_h - 1

    @property
    def turns(self):
        """Stages of a range."""
        return -(-self.rows // ROWS)

    @property
    def back(self):
        """Stages before this one that its rows of x are multiplied with."""
        return -(-(self.s.K_h - 1) // ROWS)

    @property
    def slots(self):
        """Stages that there is room for."""
        return self.back + 1 + AHEAD

    @property
    def piece_y(self):
        """Floats of one copy of dy: 4 where every stage of every map begins and ends at a multiple of 16 bytes."""
        s = self.s
        return 4 if ROWS * s.W_out % 4 == 0 and s.H_out * s.W_out % 4 == 0 else 1

    @property
    def plane_y(self):
        """Floats of one output map: 4 beyond a multiple of 32, so that 4 columns of 8 maps lie in different banks."""
        return -(-(self.slots * self.images * ROWS * self.s.W_out - 4) // 32) * 32 + 4

    @property
    def piece_x(self):
        """Floats of one copy of x: 4 where every row begins at a multiple of 16 bytes."""
        return 4 if self.s.W % 4 == 0 else 1

    @property
    def margin(self):
        """Zeros before a row of x: its padding, and that of the row before on its other side."""
        return -(-self.s.p_w // self.piece_x) * self.piece_x

    @property
    def pitch(self):
        """Floats from one row of x to the next: those of an image side by side, then those of the next."""
        return self.margin + self.s.W

    @property
    def plane_x(self):
        """Floats of one input map."""
        return far(self.slots * ROWS * self.images * self.pitch + self.margin)

    @property
    def shared(self):
        """Bytes of dynamic shared memory; the last sum reuses it."""
        return 4 * max(16 * self.plane_y + self.s.C * self.plane_x, self.warps * (self.tiles * 128 + 64))

    def ranges(self, B):
        """Return the ranges of columns of B images."""
        return -(-B * self.s.W_out // self.columns)

    def parts(self, B):
        """Return how many partial sums B images get."""
        return min(self.ranges(B), max(1, MULTIPROCESSORS * self.blocks // self.map_blocks))


@functools.lru_cache(maxsize=256)
def plan_rows(s):
    """Return the RowPlan for Sizes with B = 0, or None where v06 is as good or nothing fits. No errors.

    The stride must be 1. Few sums or few output maps leave most of a tensor core idle.
    """
    if (s.s_h, s.s_w) != (1, 1) or not 3 <= s.K_h <= MOST_MASK or s.C * s.K_w < 12 or s.M < 12:
        return None
    cut = TUNED.get((s.C, s.H, s.W, s.M, s.K_h))
    tuned = cut and s.K_h == s.K_w and (s.p_h, s.p_w) == (0, 0)
    candidates = [RowPlan(s, *c) for c in ([cut] if tuned else ((4, 2, 2), (4, 1, 2), (4, 1, 1)))]
    return next((p for p in candidates if _fits(p)), None)


def _fits(p):
    together = p.blocks * (p.shared + RESERVED) <= ALL_BYTES
    return together and p.shared <= executor().shared_limit and p.tiles <= MOST_TILES
