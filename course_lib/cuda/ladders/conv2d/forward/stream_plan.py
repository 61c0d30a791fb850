"""How v11 cuts a convolution into blocks and threads: plain arithmetic on the sizes, done once for a shape.

    a thread   all M output maps x TH rows x 4 neighbouring columns; its rows lie `down` apart
    a block    NI whole images at a time, and then the next NI that no other block has
    a stage    NI images in shared memory; two, so that one is filled while the other is used

Source: H, "Specialization for the LeNet-5 C1 Layer"; the course's own.
"""

import functools
from dataclasses import dataclass

from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.best_plan import best_plan
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes

WIDE = 4
"""Neighbouring columns of a thread: one access of 16 bytes."""

MOST_SUMS, MOST_THREADS = 48, 512
"""Running sums of a thread, and threads of a block, that leave enough registers for all."""

MOST_BYTES = 72 * 1024
"""Shared memory of a block, so that a multiprocessor of an H100 or H200 has three."""

MULTIPROCESSORS = 132
"""Of an H200: how many blocks there are, in its `blocks` fold, does not depend on the card. They are enough for any."""

TUNED = {(1, 32, 32, 6, 5): (1, 2, 2)}
"""C, H, W, M, K -> TH, NI, blocks a multiprocessor, for stride 1 and no padding: the fastest on an H200."""


@dataclass(frozen=True)
class StreamPlan:
    """One way to cut a convolution. Everything below the fields follows from them. Source: the course's own."""

    s: Sizes  # with B = 0: a kernel does not depend on the batch
    TH: int
    NI: int
    blocks: int

    @property
    def down(self):
        """Rows from one of a thread's rows to the next."""
        return self.s.H_out // self.TH

    @property
    def across(self):
        """Threads side by side."""
        return self.s.W_out // WIDE

    @property
    def units(self):
        """Threads with work."""
        return self.NI * self.down * self.across

    @property
    def threads(self):
        """Threads of a block, whole warps."""
        return -(-self.units // 32) * 32

    @property
    def pitch(self):
        """Floats from one row to the next in shared memory: threads of two rows go on where those of one left off."""
        return self.s.W + (self.s.W_out - self.s.W) % 32

    @property
    def image(self):
        """Floats of one image."""
        return self.s.C * self.s.H * self.pitch

    @property
    def window(self):
        """Floats of a row that a thread looks at, in whole accesses."""
        return -(-(WIDE + self.s.K_w - 1) // 4) * 4

    @property
    def maps(self):
        """Floats of one mask position's weights: whole accesses."""
        return self.s.M if self.s.M < 3 else -(-self.s.M // 4) * 4

    @property
    def masks(self):
        """Floats of all weights, and of the biases after them, a multiple of 4."""
        return -(-(self.s.depth + 1) * self.maps // 4) * 4

    @property
    def shared(self):
        """Bytes of dynamic shared memory."""
        return 4 * (self.masks + 2 * self.NI * self.image)

    def grid(self, B):
        """Return the blocks for B images: no more than a card holds at a time."""
        return min(-(-B // self.NI), self.blocks * MULTIPROCESSORS)

    @property
    def fits(self):
        """Whether rows divide, a thread's sums fit its registers, and a block can have so much shared memory."""
        small = self.s.M * self.TH * WIDE <= MOST_SUMS and self.threads <= MOST_THREADS and self.window <= 16
        return small and self.s.H_out % self.TH == 0 and self.shared <= min(MOST_BYTES, executor().shared_limit)

    @property
    def worth(self):
        """A guess at the share of a block's multiply-adds that count."""
        return self.units / self.threads * (1 + self.TH / 4)


@functools.lru_cache(maxsize=256)
def plan_stream(s):
    """Return the StreamPlan for Sizes with B = 0, or None for what v10 and v06 are made for. No errors.

    Stride 1, no padding, rows and results in whole accesses of 16 bytes; few maps, so that a thread has all of them.
    """
    if (s.s_h, s.s_w, s.p_h, s.p_w) != (1, 1, 0, 0) or s.W % 4 or s.W_out % WIDE or s.M > 8 or s.C > 4:
        return None
    return best_plan(s, TUNED, StreamPlan, (StreamPlan(s, TH, NI, 3) for NI in (1, 2, 3, 4) for TH in (1, 2)))
