"""How v06 cuts the gradient for the masks into blocks and threads: plain arithmetic on sizes, once for a shape.

    a thread   the K_w weights of one mask row, for TM x TC pairs of maps, over every RT-th output row of a stage
    a block    MG x CG groups of maps, all K_h mask rows, RT output rows at a time
    a stage    NB images, or a band of RB output rows of one, in shared memory; one stage or two in turns

Source: H, "Calculating dE/dW" and "Specialization for the LeNet-5 C1 Layer"; the course's own.
"""

import functools
from dataclasses import dataclass
from math import gcd

from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

WARP = 32
MOST_SUMS, MOST_THREADS, MOST_PRODUCTS, LOOP_PRODUCTS = 64, 512, 2000, 600
"""Running sums of a thread, threads of a block, multiply-adds of a row written out whole, or of a loop's body."""

SHARED_BYTES, ALL_SHARED_BYTES = 96 * 1024, 220 * 1024
"""Of a block, and of a multiprocessor of an H100 or H200."""

MULTIPROCESSORS = 132
"""Of an H200: how many partial sums there are is the same on all cards that run v06, and so are the bits of dw."""

TUNED = {
    (1, 86, 86, 4, 7): (4, 1, 1, 1, 16, 1, 16, 2),
    (4, 40, 40, 16, 7): (4, 2, 1, 2, 34, 1, 17, 2),
    (1, 32, 32, 6, 5): (6, 1, 1, 1, 28, 1, 28, 2),
    (6, 14, 14, 16, 5): (4, 3, 4, 2, 10, 3, 6, 2),
}
"""(C, H, W, M, K): TM, TC, MG, CG, RB, NB, RT, STAGES that were fastest on an H200, for stride 1 and no padding."""


@dataclass(frozen=True)
class Plan:
    """One way to cut the work. What lies below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    TM: int
    TC: int
    MG: int
    CG: int
    RB: int
    NB: int
    RT: int
    STAGES: int

    @property
    def m_blocks(self):
        """Blocks that share the output maps."""
        return self.s.M // (self.TM * self.MG)

    @property
    def c_blocks(self):
        """Blocks that share the input maps."""
        return self.s.C // (self.TC * self.CG)

    @property
    def units(self):
        """Threads with work."""
        return self.MG * self.CG * self.RT * self.s.K_h

    @property
    def threads(self):
        """Threads of a block, whole warps."""
        return -(-self.units // WARP) * WARP

    @property
    def bands(self):
        """Parts that the rows of an image are cut into."""
        return -(-self.s.H_out // self.RB)

    @property
    def pitch(self):
        """Floats of a row of x in shared memory, with the zeros of the padding."""
        return self.s.W + 2 * self.s.p_w

    @property
    def x_map(self):
        """Floats of one map of x in a stage."""
        return -(-(self.RB + self.s.K_h - 1) * self.pitch // 4) * 4

    @property
    def y_map(self):
        """Floats of one map of dy in a stage."""
        return -(-self.RB * self.s.W_out // 4) * 4

    @property
    def x_stage(self):
        """Floats of x in a stage; those of dy follow."""
        return self.NB * self.CG * self.TC * self.x_map

    @property
    def stage(self):
        """Floats of a stage."""
        return self.x_stage + self.NB * self.MG * self.TM * self.y_map

    @property
    def sums(self):
        """Running sums of a thread."""
        return self.TM * self.TC * self.s.K_w

    @property
    def half(self):
        """Threads that hand over their sums in the first step of the block's last sum."""
        return self.MG * self.CG * self.s.K_h * -(-self.RT // 2)

    @property
    def shared(self):
        """Bytes of shared memory; the last sum reuses it."""
        return 4 * max(self.STAGES * self.stage, self.sums * self.half if self.RT > 1 else 0)

    @property
    def width(self):
        """Floats of one access to a row of dy: that many columns are a step."""
        return gcd(self.s.W_out, 4)

    @property
    def x_width(self):
        """Floats of one access to a row of x: a window of K_w - 1 is brought first, then `width` more each step."""
        return gcd(self.width, self.pitch, self.s.K_w - 1)

    @property
    def turns(self):
        """Steps of the unrolled body: all of a row, or a part of it and a rest of at least one."""
        steps, body = self.s.W_out // self.width, self.width * self.sums
        return steps if steps * body <= MOST_PRODUCTS else max(1, min(steps, LOOP_PRODUCTS // body))

    @property
    def fits(self):
        """Whether a block can have so much shared memory, and a thread so many registers."""
        return (
            self.sums <= MOST_SUMS
            and self.threads <= MOST_THREADS
            and self.shared <= SHARED_BYTES
            and self.width * self.sums <= MOST_PRODUCTS
        )

    @property
    def blocks(self):
        """Blocks that a multiprocessor has room for, by shared memory and by a guess at the registers."""
        registers = self.sums + self.TM * self.width + self.TC * (self.s.K_w - 1 + self.width) + 28
        room = ALL_SHARED_BYTES // self.shared, 65536 // (self.threads * registers), 2048 // self.threads
        return max(1, min(room))

    def parts(self, B):
        """Return how many partial sums a batch of B images gets. No errors. Source: the course's own."""
        most = max(1, MULTIPROCESSORS * self.blocks // (self.m_blocks * self.c_blocks))
        return min(most, -(-B // self.NB) * self.bands)

    @property
    def worth(self):
        """A guess at the share of a multiprocessor's multiply-adds that count: for shapes that nobody has timed."""
        s = self.s
        steps, rows = s.W_out // self.width, -(-self.NB * self.RB // self.RT)
        loads = self.TM + self.TC * self.width // self.x_width
        row = steps * (self.width * self.sums + loads) + self.TC * (s.K_w - 1) // self.x_width + 30
        copies = (self.stage // 4 + 256) / self.threads * 10
        issued = self.bands * (rows * row + copies) * self.threads * self.m_blocks * self.c_blocks
        useful = self.NB * s.H_out * s.W_out * s.M * s.depth
        warps = self.blocks * self.threads / WARP
        waiting = 1 if self.STAGES == 2 or self.blocks > 2 else 0.9
        again = self.bands * (self.stage // self.NB) * self.m_blocks * self.c_blocks  # floats brought for an image
        slow = useful / self.NB / (useful / self.NB + 8 * again)
        return useful / issued * waiting * slow * min(1, (warps / 14) ** 0.5)


@functools.lru_cache(maxsize=256)
def plan(s):
    """Return the Plan for Sizes with B = 0, or None if no plan fits or the stride is not 1.

    No errors. Source: the course's own.
    """
    if (s.s_h, s.s_w) != (1, 1):
        return None
    return best_plan(s, TUNED, Plan, _candidates(s))


def _candidates(s):
    """Yield plans whose tiles divide the maps."""
    for TM in _divisors(s.M, 8):
        for TC in _divisors(s.C, 4):
            for MG in _divisors(s.M // TM, 8):
                for CG in _divisors(s.C // TC, 8):
                    for RB in {s.H_out, -(-s.H_out // 2), -(-s.H_out // 4)}:
                        for NB in (1, 2, 4) if s.H_out == RB else (1,):
                            for RT in {NB * RB, -(-NB * RB // 2), min(NB * RB, 4), min(NB * RB, 8)}:
                                for STAGES in (1, 2):
                                    yield Plan(s, TM, TC, MG, CG, RB, NB, RT, STAGES)


def _divisors(n, most):
    return [k for k in range(1, min(n, most) + 1) if n % k == 0]
