"""How v07 cuts a convolution into blocks, warps and tiles of a tensor core: arithmetic on the sizes, once for a shape.

    a warp     TW tiles of 8 neighbouring pixels x MG groups of 16 maps, a few times over
    a block    RG rows of NI images; pixels are counted through, so a tile may reach over the end of a row
    a step     8 products of each output; a stage has those of BC input maps

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass

from course_lib.cuda.ladders.conv2d.forward.plan import SHARED_FLOATS, Plan

INSIDE = 2
"""Steps of 8 products whose sum is left to the tensor cores."""

TUNED = {
    # C, H, W, M, K: RG rows, TW tiles of a warp, MG groups of 16 maps, NI images, BC maps, warps, blocks
    (4, 40, 40, 16, 7): (34, 5, 1, 1, 4, 10, 2),
    (6, 14, 14, 16, 5): (10, 5, 1, 4, 6, 10, 2),
    (64, 56, 56, 64, 3): (4, 4, 2, 1, 8, 7, 2),
}
"""What was fastest on an H200 for stride 1, and padding 0 but for the last (1)."""


@dataclass(frozen=True)
class TensorPlan(Plan):
    """A Plan whose block computes RG rows of NI images for MG x 16 maps, a warp TW tiles of 8 pixels at a time.

    TM is 16 and TH is 1. Source: the course's own.
    """

    warps: int = 8
    inside: int = INSIDE

    @functools.cached_property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @functools.cached_property
    def pitch(self):
        """Floats from one input row to the next in shared memory."""
        return self.s.W if self.whole else -(-(self.s.W + 2 * self.s.p_w) // 4) * 4

    @functools.cached_property
    def stage(self):
        """Floats of a stage, in whole accesses of 16 bytes."""
        return -(-self.NI * self.image // 4) * 4

    @functools.cached_property
    def steps(self):
        """Steps of 8 products in a chunk, the last one filled up with weights of zero."""
        return -(-self.BC * self.s.K_h * self.s.K_w // 8)

    @functools.cached_property
    def masks(self):
        """Floats of a chunk's masks: 128 for each step and group of 16 maps."""
        return self.steps * self.MG * 128

    @functools.cached_property
    def pixels(self):
        """Output pixels of a block in one image."""
        return self.RG * self.s.W_out

    @functools.cached_property
    def passes(self):
        """How often a warp takes TW tiles."""
        return -(-self.NI * self.pixels // (8 * self.TW * self.warps))

    @property
    def fits(self):
        """Whether a block can have it."""
        floats = (self.stage + self.masks) * self.stages + self.steps * 8
        return floats <= SHARED_FLOATS and (self.chunks == 1 or self.passes == 1) and self.TW * self.MG <= 14

    @property
    def worth(self):
        """A guess at the share of a block's products that count."""
        s = self.s
        useful = s.H_out * s.W_out * s.M * self.BC * s.K_h * s.K_w * self.NI
        tiles = self.bands * self.map_blocks * self.passes * self.warps * self.TW
        issued = tiles * 8 * self.MG * 16 * self.steps * 8
        loads = 3 + 13 * self.MG + 8 * self.TW
        resident = SHARED_FLOATS * 4 // ((self.stage + self.masks) * self.stages + self.steps * 8) * self.warps
        fed = min(1, 19 * self.TW * self.MG / loads / 2) * self.steps / (self.steps + 1)
        return useful / issued * fed * min(1, resident / 16)


@functools.lru_cache(maxsize=256)
def plan_tensor_cores(s):
    """Return the TensorPlan for Sizes, or None where v06 is as good: for few maps, or if nothing fits. No errors."""
    tuned = TUNED.get((s.C, s.H, s.W, s.M, s.K_h))
    if tuned and s.K_h == s.K_w and (s.s_h, s.s_w) == (1, 1) and (s.p_h, s.p_w) == ((1, 1) if s.K_h == 3 else (0, 0)):
        return tensor_plan(s, *tuned)
    if s.M < 12:
        return None
    return max((p for p in _candidates(s) if p.fits), key=lambda p: p.worth, default=None)


def tensor_plan(s, RG, TW, MG, NI, BC, warps, blocks, inside=INSIDE):
    """Return the TensorPlan with these fields, of Sizes with B = 0. No errors. Source: the course's own."""
    return TensorPlan(s, 16, 1, TW, RG, MG, NI, BC, blocks, warps, inside)


def _candidates(s):
    groups = -(-s.M // 16)
    for RG in sorted({s.H_out, *(r for r in (1, 2, 4, 8, 16) if r < s.H_out)}):
        for NI in (1, 2, 4) if s.H_out == RG else (1,):
            for BC in sorted({s.C, *(c for c in (1, 2, 4, 8, 16) if c < s.C and s.C % c == 0)}):
                for MG, TW in ((1, 4), (1, 5), (1, 8), (2, 4), (2, 7), (4, 3)):
                    if groups >= MG:
                        for warps in (4, 8):
                            yield tensor_plan(s, RG, TW, MG, NI, BC, warps, 2)
