"""How v06 cuts a convolution into blocks and threads: plain arithmetic on the sizes, done once for a shape.

    a thread   TM output maps x TH rows x TW neighbouring columns; its rows lie RG apart
    a block    MG groups of maps, RG groups of rows, CG groups of columns (a whole row), NI images
    a stage    BC input maps in shared memory, and their masks

Source: H, "Specialization for the LeNet-5 C1 Layer", "Coarsening Does Not Match Tiling Choices"; the course's own.
"""

import functools
from dataclasses import dataclass

from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

SHARED_FLOATS = 49_152 // 4
MOST_SUMS, MOST_THREADS = 64, 640
"""Running sums of a thread, and threads of a block, that leave enough registers for all."""

TUNED = {
    # C, H, W, M, K: TM, TH, TW, RG, MG, NI, BC, blocks a multiprocessor
    (1, 86, 86, 4, 7): (4, 2, 4, 8, 1, 1, 1, 7),
    (4, 40, 40, 16, 7): (4, 2, 4, 17, 4, 1, 4, 1),
    (1, 32, 32, 6, 5): (6, 2, 2, 14, 1, 1, 1, 5),
    (6, 14, 14, 16, 5): (4, 1, 10, 10, 4, 4, 6, 1),
    (64, 56, 56, 64, 3): (8, 1, 8, 4, 8, 1, 4, 2),
}
"""What was fastest on an H200 for stride 1, and padding 0 but for the last (1)."""


@dataclass(frozen=True)
class Plan:
    """One way to cut a convolution. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    TM: int
    TH: int
    TW: int
    RG: int
    MG: int
    NI: int
    BC: int
    blocks: int = 1  # that should share a multiprocessor, for the compiler's choice of registers

    @functools.cached_property
    def CG(self):
        """Groups of columns: a block takes whole rows."""
        return -(-self.s.W_out // self.TW)

    @functools.cached_property
    def units(self):
        """Threads with work."""
        return self.CG * self.RG * self.NI * self.MG

    @functools.cached_property
    def threads(self):
        """Threads of a block, whole warps."""
        return -(-self.units // 32) * 32

    @functools.cached_property
    def bands(self):
        """Blocks that share the rows of an image."""
        return -(-self.s.H_out // (self.RG * self.TH))

    @functools.cached_property
    def map_blocks(self):
        """Blocks that share the output maps."""
        return -(-self.s.M // (self.MG * self.TM))

    @functools.cached_property
    def pitch_maps(self):
        """Weights of one mask position in shared memory: a multiple of 4, so that four are one access."""
        return -(-self.MG * self.TM // 4) * 4

    @functools.cached_property
    def rows(self):
        """Input rows that a block sees."""
        return (self.RG * self.TH - 1) * self.s.s_h + self.s.K_h

    @functools.cached_property
    def window(self):
        """Input columns that a thread sees."""
        return (self.TW - 1) * self.s.s_w + self.s.K_w

    @functools.cached_property
    def whole(self):
        """Whether what a block sees lies in one piece in memory, in units of 16 bytes: then it is copied as it lies."""
        s = self.s
        bands_fit = self.bands == 1 or (s.C == 1 and (self.RG * self.TH * s.s_h * s.W) % 4 == 0)
        pieces = [s.C * s.H * s.W, self.rows * s.W]
        seen = self.bands * self.RG * self.TH == s.H_out and (self.bands > 1 or self.rows == s.H)
        return (s.p_h, s.p_w) == (0, 0) and self.BC == s.C and bands_fit and seen and all(p % 4 == 0 for p in pieces)

    @functools.cached_property
    def pitch(self):
        """Floats from one input row to the next in shared memory."""
        s = self.s
        seen = max(s.W + 2 * s.p_w, (self.CG - 1) * self.TW * s.s_w + self.window)
        return s.W if self.whole else -(-seen // 4) * 4

    @functools.cached_property
    def access(self):
        """Floats of one access when a thread reads its window: 4, 2 or 1."""
        return next(n for n in (4, 2, 1) if self.pitch % n == 0 and self.TW * self.s.s_w % n == 0)

    @functools.cached_property
    def image(self):
        """Floats of one image in a stage."""
        return self.BC * self.rows * self.pitch

    @functools.cached_property
    def stage(self):
        """Floats of a stage; the last window may reach over the end of the last row."""
        reach = (self.CG - 1) * self.TW * self.s.s_w + -(-self.window // self.access) * self.access - self.pitch
        return self.NI * self.image + -(-max(0, reach) // 4) * 4

    @functools.cached_property
    def masks(self):
        """Floats of a stage's masks."""
        return self.BC * self.s.K_h * self.s.K_w * self.pitch_maps

    @functools.cached_property
    def chunks(self):
        """Stages that a block goes through."""
        return self.s.C // self.BC

    @property
    def stages(self):
        """Two, so that one is filled while the other is used, unless one is enough for all input maps."""
        return min(2, self.chunks)

    @property
    def fits(self):
        """Whether a block can have it."""
        aligned_maps = self.TM % 4 == 0 or (self.MG == 1 and self.map_blocks == 1)
        small = self.threads <= MOST_THREADS and self.TM * self.TH * self.TW <= MOST_SUMS
        return aligned_maps and small and (self.stage + self.masks) * self.stages <= SHARED_FLOATS

    @property
    def worth(self):
        """A guess at the share of a multiprocessor's multiply-adds that count: for shapes that nobody has timed."""
        s = self.s
        useful = s.H_out * s.W_out * s.M * self.NI
        issued = self.bands * self.map_blocks * self.threads * self.TM * self.TH * self.TW
        sums = self.TM * self.TH * self.TW
        loads = s.K_w * -(-self.TM // 4) + self.TH * -(-self.window // self.access)
        row = s.K_w * sums  # multiply-adds of one row of a mask, and what stands around them
        around = 3 * loads + 12 + 200 / (self.BC * s.K_h)
        blocks = min(16, SHARED_FLOATS * 4 // ((self.stage + self.masks) * self.stages))
        busy = min(1, blocks * self.threads / 512) * min(1, 65536 / (512 * (sums + self.TH * self.window + 24)))
        return useful / issued * row / (row + around) * busy


@functools.lru_cache(maxsize=256)
def plan(s):
    """Return the Plan for Sizes, or None if no plan fits shared memory. No errors. Source: the course's own."""
    return best_plan(s, TUNED, Plan, _candidates(s), pad=(1, 1) if s.K_h == 3 else (0, 0))


def _candidates(s):
    for TM in (4, 8) if s.M > 8 else sorted({s.M, min(4, -(-s.M // 4) * 4)}):
        groups = -(-s.M // TM)
        for TH, TW in ((1, 1), (1, 2), (1, 4), (2, 4), (1, 8), (2, 2), (1, 5), (1, 7)):
            most_rows = -(-s.H_out // TH)
            if TM * TH * TW > MOST_SUMS:
                continue
            for RG in sorted({most_rows, *(r for r in (1, 2, 4, 8, 16) if r < most_rows)}):
                for MG in sorted({groups, *(g for g in (1, 2, 4, 8) if g < groups)}):
                    for NI in (1, 2, 4) if most_rows == RG else (1,):
                        for BC in sorted({s.C, *(c for c in (1, 2, 4, 8) if c < s.C and s.C % c == 0)}):
                            yield Plan(s, TM, TH, TW, RG, MG, NI, BC)
