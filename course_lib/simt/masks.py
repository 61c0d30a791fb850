"""Which lanes are active: a GPU's threads all walk the same instructions, some of them switched off.

Source: H, "SIMD Units and Control Divergence"; NVIDIA, "CUDA C++ Programming Guide", "SIMT Architecture".
"""

import functools
import weakref

import numpy as np

from course_lib.fast.compile import kernel


class Mask:
    """A set of lanes. `bits` is a bool per lane, or None where all are active; no array of bits is ever changed.

    A set that is the same as before is the same Mask, where that is seen at no cost: what is known of it stays known.

    Source: NVIDIA, "CUDA C++ Programming Guide", "SIMT Architecture".
    """

    noted = False  # whether it is written down that these lanes touched memory (`costs`)

    def __init__(self, lanes, bits=None):
        self.lanes, self.bits = lanes, bits
        self._of = self._split = None  # the Mask that this is a part of, weakly; (condition, lanes where it holds)

    @functools.cached_property
    def index(self):
        """The active lanes: an index for arrays over lanes."""
        return slice(None) if self.bits is None else np.flatnonzero(self.bits)

    @functools.cached_property
    def count(self):
        """How many lanes are active."""
        return self.lanes.count if self.bits is None else int(np.count_nonzero(self.bits))

    @functools.cached_property
    def warps(self):
        """How many warps have an active lane: so many times the hardware issues an instruction."""
        lanes = self.lanes
        if self.bits is None or self.count == lanes.count:
            return lanes.blocks * lanes.warps_per_block
        if lanes.threads % 32 or not self.bits.flags.c_contiguous:
            return int(np.count_nonzero(np.bincount(lanes.warp[self.index])))
        eights = self.bits.view(np.uint64)  # eight lanes each, four of them a warp
        return int(np.count_nonzero(eights[0::4] | eights[1::4] | eights[2::4] | eights[3::4]))

    @functools.cached_property
    def has_gaps(self):
        """Whether the active lanes of a block are not all in a row."""
        if self.bits is None:
            return False
        begins = self.bits & ~np.append(False, self.bits[:-1])
        begins |= self.bits & (self.lanes.thread == 0)
        return bool((np.bincount(self.lanes.block[begins], minlength=1) > 1).any())

    @property
    def empty(self):
        """Whether no lane is active."""
        return self.count == 0

    def where(self, condition):
        """Return the lanes of this mask where `condition`, a bool per lane, holds."""
        if self._split is not None and self._split[0] is condition:
            return self._split[1]
        some = Mask(self.lanes, condition if self.bits is None else self.bits & condition)
        if some.count == self.count:
            return self
        some._of = weakref.ref(self)
        return some

    def without(self, other):
        """Return the lanes of this mask that are not in `other`."""
        return self.none() if other.bits is None else self.where(~other.bits)

    def union(self, other):
        """Return the lanes of either; the two sides of a branch are the Mask that came to it."""
        if self is other or self.bits is None or other.empty:
            return self
        if other.bits is None or self.empty:
            return other
        both = Mask(self.lanes, self.bits | other.bits)
        if both.count == self.lanes.count:
            return Mask(self.lanes)
        for part in (self, other):
            whole = part._of and part._of()
            if whole and whole.count == both.count and self.is_part_of(whole) and other.is_part_of(whole):
                return whole
        return both

    def is_part_of(self, whole):
        """Return whether this mask is made from `whole` by leaving lanes out, as far as that is remembered."""
        mask = self
        while mask is not None and mask is not whole:
            mask = mask._of and mask._of()
        return mask is whole

    def none(self):
        """Return the empty mask."""
        if self.lanes.nobody is None:
            self.lanes.nobody = Mask(self.lanes, np.zeros(self.lanes.count, np.bool_))
        return self.lanes.nobody

    def divergent_warps(self, condition):
        """Return how many warps have active lanes on both sides of `condition`."""
        taken = self.where(condition)
        self._split = condition, taken
        if taken is self or taken.empty:
            return 0
        return taken.warps + self.where(~condition).warps - self.warps

    def ballots(self, condition):
        """Return (warps,) int64: for each warp of the batch, the bits of its active lanes where `condition` holds."""
        lanes = self.lanes
        true = np.broadcast_to(condition, lanes.count)[self.index]
        out = np.zeros(lanes.blocks * lanes.warps_per_block, np.int64)
        _set_bits(lanes.warp[self.index][true], lanes.lane[self.index][true], out)
        return out


@kernel
def _set_bits(warp, lane, out):
    for i in range(warp.size):
        out[warp[i]] |= np.int64(1) << np.int64(lane[i])
