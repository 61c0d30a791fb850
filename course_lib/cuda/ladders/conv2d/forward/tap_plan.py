"""How v09 cuts a convolution into blocks, warps and tiles of a tensor core: arithmetic on the sizes, once for a shape.

    a step     one tap of the mask for DEPTH input maps: the 8 products that one instruction adds up
    a warp     TW tiles of 8 pixels x MG groups of 16 output maps
    a block    the pixels of `warps` warps, counted through rows and images, so that no tile has a gap
    a stage    DEPTH input maps of the rows that a block looks at, and their weights

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.far import PaddedRows, far
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

DEPTH = 8
"""Input maps of a stage."""

MOST_BYTES = 113 * 1024
"""Shared memory of a block, so that a multiprocessor of an H100 or H200 has two."""

TUNED = {(64, 56, 56, 64, 3): (4, 4, 4, 2, 2)}
"""C, H, W, M, K -> warps, MG, TW, STAGES, blocks, for stride 1 and padding 1: the fastest on an H200."""


@dataclass(frozen=True)
class TapPlan(PaddedRows):
    """One way to cut a convolution. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    warps: int
    MG: int
    TW: int
    STAGES: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @property
    def pixels(self):
        """Output pixels of a block."""
        return self.warps * self.TW * 8

    @property
    def map_blocks(self):
        """Blocks that share the output maps."""
        return -(-self.s.M // (16 * self.MG))

    def grid(self, B):
        """Return the blocks for B images."""
        return -(-B * self.s.H_out * self.s.W_out // self.pixels) * self.map_blocks

    @property
    def chunks(self):
        """Stages that a block goes through."""
        return -(-self.s.C // DEPTH)

    @property
    def taps(self):
        """Steps of a stage."""
        return self.s.K_h * self.s.K_w

    @property
    def high(self):
        """Rows of an image with its padding; images are stacked, and rows counted through."""
        return self.s.H + 2 * self.s.p_h

    def row(self, pixel):
        """Return the first row, counted through, that an output pixel looks at."""
        s = self.s
        return pixel // (s.H_out * s.W_out) * self.high + pixel % (s.H_out * s.W_out) // s.W_out * s.s_h

    @functools.cached_property
    def rows(self):
        """The most rows that a block looks at: where its first pixel lies in an image, it lies in all of them."""
        image = self.s.H_out * self.s.W_out
        starts = range(0, image, gcd(image, self.pixels))
        return max(self.row(p + self.pixels - 1) - self.row(p) for p in starts) + self.s.K_h

    @functools.cached_property
    def plane(self):
        """Floats of one input map."""
        return far(self.rows * self.pitch + self.margin)

    @property
    def image(self):
        """Floats of a stage's input maps."""
        return DEPTH * self.plane

    @property
    def masks(self):
        """Floats of a stage's weights: 128 for each tap and group of 16 maps."""
        return self.taps * self.MG * 128

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * self.STAGES * (self.image + self.masks)

    @property
    def fits(self):
        """Whether a block can have so much shared memory."""
        return self.shared <= min(MOST_BYTES, executor().shared_limit)

    @property
    def worth(self):
        """A guess at the share of the products that count; with more tiles, more of them share loads and splits."""
        s = self.s
        useful = s.M * s.C / (16 * self.MG * self.map_blocks * DEPTH * self.chunks)
        loads = 13 * self.MG + 8 * self.TW
        return useful * min(1, 19 * self.TW * self.MG / loads / 2.5)


@functools.lru_cache(maxsize=256)
def plan_taps(s):
    """Return the TapPlan for Sizes with B = 0, or None where v07 or v06 is as good or nothing fits. No errors.

    Few input maps leave steps half empty, and few output maps leave little to do with what was loaded.
    """
    if s.C < DEPTH or s.M < 24:
        return None
    return best_plan(s, TUNED, TapPlan, _candidates(s), pad=(1, 1))


def _candidates(s):
    groups = -(-s.M // 16)
    for MG, TW in ((4, 4), (3, 4), (2, 8)):
        if groups >= MG:
            for stages in (3, 2):  # of plans that are worth the same the first one is taken
                for warps in (4, 2):
                    yield TapPlan(s, warps, MG, TW, stages, 2)
