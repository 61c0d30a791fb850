"""How v10 cuts a convolution into blocks, warps and tiles of a tensor core: arithmetic on the sizes, once for a shape.

    a product    a mask row has C K_w of them for each output: an input map and a column of the mask
    a phase      8 of these products, for all K_h mask rows; what is left over, 4 or fewer, goes two mask rows a step
    a warp       TW tiles of 8 columns of y, for 16 output maps, from top to bottom
    a block      the columns of `warps` warps, counted through images, so that no tile has a gap
    a stage      RS rows of all images that the block looks at

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.far import PaddedRows, far
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

MOST_BYTES = 75 * 1024
"""Shared memory of a block, so that a multiprocessor of an H100 or H200 has three."""

MOST_MASK = 7
"""Mask rows whose sums fit into a thread's registers."""

TUNED = {(4, 40, 40, 16, 7): (4, 3, 4, 3, 3)}
"""C, H, W, M, K -> warps, TW, RS, STAGES, blocks, for stride 1 and no padding."""


@dataclass(frozen=True)
class RowPlan(PaddedRows):
    """One way to cut a convolution. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    warps: int
    TW: int
    RS: int
    STAGES: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @property
    def products(self):
        """Products of one mask row."""
        return self.s.C * self.s.K_w

    @property
    def phases(self):
        """Phases of a whole step a mask row."""
        whole, rest = divmod(self.products, 8)
        return whole + (rest > 4)

    @property
    def pairs(self):
        """Steps of the last phase, each of two mask rows; 0 if nothing is left over."""
        return -(-self.s.K_h // 2) if self.products > 8 * self.phases else 0

    @property
    def steps(self):
        """Steps of 8 products for one output."""
        return self.phases * self.s.K_h + self.pairs

    @property
    def map_blocks(self):
        """Blocks that share the output maps."""
        return -(-self.s.M // 16)

    @property
    def columns(self):
        """Columns of a block."""
        return 8 * self.TW * self.warps

    def grid(self, B):
        """Return the blocks for B images."""
        return -(-B * self.s.W_out // self.columns) * self.map_blocks

    @functools.cached_property
    def images(self):
        """The most images that a block looks at: where its first column lies in an image, it lies in all of them."""
        starts = range(0, self.s.W_out, gcd(self.s.W_out, self.columns))
        return max((start + self.columns - 1) // self.s.W_out for start in starts) + 1

    @property
    def rows(self):
        """Input rows, with the padding, that outputs look at."""
        return self.s.H_out + self.s.K_h - 1

    @property
    def turns(self):
        """Stages that a block goes through."""
        return -(-self.rows // self.RS)

    @property
    def plane(self):
        """Floats of one input map in a stage: rows of an image side by side, then those of the next."""
        return far(self.RS * self.images * self.pitch + self.margin)

    @property
    def stage(self):
        """Floats of a stage."""
        return self.s.C * self.plane

    @property
    def masks(self):
        """Floats of the weights of 16 output maps."""
        return self.steps * 128

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * (self.masks + self.STAGES * self.stage)

    @property
    def fits(self):
        """Whether a block can have so much shared memory."""
        return self.shared <= min(MOST_BYTES, executor().shared_limit)

    @property
    def worth(self):
        """A guess at the share of the products that count; what is loaded of the weights serves TW tiles."""
        return self.s.M * self.products * self.s.K_h / (16 * self.map_blocks * 8 * self.steps) * self.TW / (self.TW + 1)


@functools.lru_cache(maxsize=256)
def plan_rows(s):
    """Return the RowPlan for Sizes with B = 0, or None where an older rung is as good or nothing fits. No errors.

    Rows must follow each other, so that one input row serves K_h output rows; masks of one or two rows gain nothing.
    """
    if s.s_h != 1 or not 3 <= s.K_h <= MOST_MASK or s.M < 12 or s.C >= 8:
        return None
    return best_plan(s, TUNED, RowPlan, (RowPlan(s, 4, *cut, 3) for cut in ((3, 4, 3), (3, 2, 3), (2, 1, 2))))
