"""How the wgmma rungs cut a convolution with few maps: arithmetic on the sizes, once for a shape.

    a place      D neighbouring columns of the output, all its maps: one row of the left operand. It looks at a window
                 of WINDOW columns of the input, K_w + D - 1 of which have weights
    a step       the window in one input map: 8 products in k
    a column     of the right operand is a mask row p, an output map m and one of the D columns d: p `block` + m D + d
    a batch      steps that tensor cores add up, before their sum is added to a thread's: the fewer, the more exact
    a group      64 places, four warps, from top to bottom
    a block      the places of `groups` groups, counted through images, so that all are full
    a stage      RS rows of all images that the block looks at, in shared memory

Weights lie in shared memory as the tensor cores read them: two parts, each of slabs of 32 k, rows of 128 bytes.

Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

PLACES, WINDOW, SLAB = 64, 8, 32
"""Rows of a product; columns of the input that a place looks at; floats in 128 bytes."""

MOST_BYTES, RESERVED = 227 * 1024, 1024
"""Shared memory that a block of an H100 or H200 can have, and what each one costs beside its own."""

REGISTERS = 65_536
"""Of a multiprocessor."""

MOST_COLUMNS, MOST_MASK, MOST_STEPS = 256, 7, 32
"""Columns of a product; mask rows whose sums a thread has registers for; input maps."""

TUNED = {
    (4, 40, 40, 16, 7, 0): (1, 1, 2, 3, 4, 3),
    (16, 34, 34, 4, 7, 6): (3, 2, 2, 3, 4, 1),
    (6, 14, 14, 16, 5, 0): (1, 1, 2, 3, 3, 2),
    (16, 10, 10, 6, 5, 4): (2, 4, 2, 2, 4, 1),
}
"""C, H, W, M, K, padding -> groups, D, RS, STAGES, batch, blocks: the fastest on an H200."""


@dataclass(frozen=True)
class WgmmaPlan:
    """One way to cut a convolution with stride 1. Everything below the fields follows. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    groups: int
    D: int
    RS: int
    STAGES: int
    batch: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @property
    def threads(self):
        """Threads of a block."""
        return 128 * self.groups

    @property
    def places(self):
        """Places of a block."""
        return PLACES * self.groups

    @property
    def across(self):
        """Places of a row of an image's output; the last one may have columns beyond it."""
        return -(-self.s.W_out // self.D)

    @functools.cached_property
    def images(self):
        """The most images that a block looks at: where its first place lies in an image, it lies in all of them."""
        starts = range(0, self.across, gcd(self.across, self.places))
        return max((start + self.places - 1) // self.across for start in starts) + 1

    def grid(self, B):
        """Return the blocks for B images."""
        return -(-B * self.across // self.places)

    @property
    def block(self):
        """Columns of the right operand that belong to a mask row, a multiple of 8."""
        return -(-self.s.M * self.D // 8) * 8

    @property
    def columns(self):
        """Columns of the right operand."""
        return self.s.K_h * self.block

    @property
    def slabs(self):
        """Slabs of 32 k of the right operand."""
        return -(-self.s.C * WINDOW // SLAB)

    @property
    def part(self):
        """Floats of one part of the weights."""
        return self.slabs * self.columns * SLAB

    @property
    def masks(self):
        """Floats of both parts of the weights."""
        return 2 * self.part

    @property
    def piece(self):
        """Floats of one copy: 4 where the rows of every stage begin and end at a multiple of 16 bytes."""
        return 4 if self.RS * self.s.W % 4 == 0 and self.s.H * self.s.W % 4 == 0 else 1

    @property
    def run(self):
        """Floats of a stage that follow each other in an image: RS rows."""
        return self.RS * self.s.W

    @property
    def zeros(self):
        """Whether a place looks beyond a row, or at columns without a weight: there it is led to a zero."""
        last = (self.across - 1) * self.D + WINDOW - 1 - self.s.p_w
        return self.s.p_w > 0 or last >= self.s.W or self.s.K_w + self.D - 1 < WINDOW

    @property
    def zero(self):
        """Where the zero of a stage's first row lies in an input map; that of the next is W further, as its pixels."""
        return self.images * self.run

    @property
    def plane(self):
        """Floats of one input map in a stage."""
        return -(-(self.zero + self.zeros * (self.run - self.s.W + 1)) // 4) * 4

    @property
    def stage(self):
        """Floats of a stage."""
        return self.s.C * self.plane

    @property
    def turns(self):
        """Stages that a block goes through."""
        return -(-self.s.H // self.RS)

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * (self.masks + self.STAGES * self.stage)

    @property
    def batches(self):
        """Batches of an input row."""
        return -(-self.s.C // self.batch)

    @property
    def registers(self):
        """A guess at a thread's registers: products and running sums, one or two batches in two parts, addresses."""
        several = self.batches > 1
        rows = 2 * self.s.K_h - (not several)
        return self.block // 2 * rows + 8 * self.batch * (1 + several) + (48 if several else 32)

    @property
    def fits(self):
        """Whether instructions, registers and shared memory are there for it."""
        s = self.s
        return (
            (s.s_h, s.s_w) == (1, 1)
            and 3 <= s.K_h <= MOST_MASK
            and s.K_w + self.D - 1 <= WINDOW
            and s.C <= MOST_STEPS
            and self.columns <= MOST_COLUMNS
            and max(s.p_h, s.p_w) < min(s.K_h, s.K_w) <= max(s.K_h, s.K_w) <= min(s.H + s.p_h, s.W + s.p_w)
            and self.registers <= min(255, REGISTERS // (self.threads * self.blocks))
            and self.blocks * (self.shared + RESERVED) <= MOST_BYTES + RESERVED
            and self.shared <= executor().shared_limit
        )


@functools.lru_cache(maxsize=256)
def plan_wgmma(s):
    """Return the WgmmaPlan for Sizes with B = 0, or None where nothing fits. No errors.

    Two columns a place double the columns of the product, which tensor cores are slow at if they are few. A window of 8
    columns suits masks of 5 and more; layers of one or two maps do too little for what is loaded.
    """
    if s.K_w < 5 or min(s.C, s.M) < 3:
        return None
    cut = TUNED.get((s.C, s.H, s.W, s.M, s.K_h, s.p_h))
    tuned = cut and s.K_h == s.K_w and s.p_h == s.p_w
    wide = [D for D in (1, 2, 4) if D == 1 or -(-s.M * D // 8) * 8 * s.K_h <= 128]
    candidates = [WgmmaPlan(s, *cut)] if tuned else []
    batch = 4
    cuts = ((1, 3, 3), (3, 2, 1), (1, 2, 2))
    candidates += [WgmmaPlan(s, g, D, 2, n, batch, b) for D in wide[::-1] for g, n, b in cuts]
    return next((p for p in candidates if p.fits), None)
