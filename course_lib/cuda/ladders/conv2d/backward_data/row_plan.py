"""How v10 cuts the gradient for the input into blocks, warps and tiles of a tensor core: arithmetic on the sizes.

    a sum        for each column q of the masks and input map c: over the output maps and the mask rows
    a group      16 such sums, the rows of one instruction; K_w C sums are `groups` of them
    a warp       TW tiles of 8 columns of dy, counted through NI images, one group, from top to bottom
    a stage      RS rows of dy of all output maps and NI images

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; the course's own.
"""

import functools
from dataclasses import dataclass

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.far import far
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

ALL_BYTES, RESERVED = 228 * 1024, 1024
"""Shared memory of a multiprocessor of an H100 or H200, and what each block costs beside its own."""

MOST_MASK, MOST_WARPS = 7, 12
"""Mask rows whose sums fit into a thread's registers; warps of a multiprocessor that have enough of them."""

TUNED = {(4, 40, 40, 16, 7): (3, 4, 2, 3, 1)}
"""C, H, W, M, K -> TW, NI, RS, STAGES, blocks, for no padding."""


@dataclass(frozen=True)
class RowPlan:
    """One way to cut the work. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    TW: int
    NI: int
    RS: int
    STAGES: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def sums(self):
        """Sums of a column of dy."""
        return self.s.C * self.s.K_w

    @property
    def groups(self):
        """Groups of 16 sums."""
        return -(-self.sums // 16)

    @property
    def eights(self):
        """Steps of 8 output maps."""
        return -(-self.s.M // 8)

    @property
    def columns(self):
        """Columns of dy in NI images."""
        return self.NI * self.s.W_out

    @property
    def warps(self):
        """Warps of a block."""
        return self.groups * -(-self.columns // (8 * self.TW))

    @property
    def threads(self):
        """Threads of a block."""
        return 32 * self.warps

    @property
    def rows(self):
        """Rows of sums: those of dy, and where the mask reaches over the last one."""
        return self.s.H_out + self.s.K_h - 1

    @property
    def turns(self):
        """Stages that a block goes through; in the last ones there is nothing left of dy."""
        return -(-self.rows // self.RS)

    @property
    def piece(self):
        """Floats of one copy: 4 where every stage of every map begins and ends at a multiple of 16 bytes."""
        s = self.s
        return 4 if self.RS * s.W_out % 4 == 0 and s.H_out * s.W_out % 4 == 0 else 1

    @property
    def plane(self):
        """Floats of one output map in a stage."""
        return far(self.NI * self.RS * self.s.W_out)

    @property
    def stage(self):
        """Floats of a stage: whole steps of 8 maps."""
        return 8 * self.eights * self.plane

    @property
    def wide(self):
        """Columns of dx with its padding."""
        return self.s.W + 2 * self.s.p_w

    @property
    def line(self):
        """Floats from one sum's row of columns to the next: column u of dy lies at u + q, where dx needs it."""
        return far(self.NI * self.wide)

    @property
    def read(self):
        """Pixels of dx that a thread adds up at a time."""
        return 4 if self.s.W % 4 == 0 and self.s.p_w % 4 == 0 else 1

    @property
    def results(self):
        """Floats of the sums of RS rows."""
        return self.RS * 16 * self.groups * self.line

    @property
    def masks(self):
        """Floats of the weights: for each step, mask row and group 128 big parts and 128 small ones."""
        return self.eights * self.s.K_h * self.groups * 256

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * (self.masks + self.STAGES * self.stage + 2 * self.results)

    @property
    def worth(self):
        """A guess at the share of the products that count."""
        s = self.s
        return s.M * self.sums * self.columns / (8 * self.eights * 16 * 8 * self.TW * self.warps)


@functools.lru_cache(maxsize=256)
def plan_rows(s):
    """Return the RowPlan for Sizes with B = 0, or None where v06 is as good or nothing fits. No errors.

    The stride must be 1. Few sums leave most of a tensor core idle, and few output maps leave little to add up.
    """
    if (s.s_h, s.s_w) != (1, 1) or not 3 <= s.K_h <= MOST_MASK or s.C * s.K_w < 12 or s.M < 8:
        return None
    cut = TUNED.get((s.C, s.H, s.W, s.M, s.K_h))
    tuned = cut and s.K_h == s.K_w and (s.p_h, s.p_w) == (0, 0)
    candidates = [RowPlan(s, *cut)] if tuned else list(_candidates(s))
    return max((p for p in candidates if _fits(p)), key=lambda p: p.worth, default=None)


def _fits(p):
    together = p.blocks * (p.shared + RESERVED) <= ALL_BYTES
    return together and p.shared <= executor().shared_limit and p.warps * p.blocks <= MOST_WARPS


def _candidates(s):
    for NI in (4, 2, 1):
        for TW in (3, 2):
            for STAGES in (3, 2):
                for blocks in (2, 1):
                    yield RowPlan(s, TW, NI, 2, STAGES, blocks)
