"""Whether something orders an access with an earlier one: a barrier of the block or the warp, or a hand-over.

Source: NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions" and "Memory Fence Functions". Threads are
their numbers plus one: a thread's number is its block's, shifted by `bits`, plus its own in the block.
"""

from course_lib.fast.compile import inlined, kernel

WARP = 5
"""Bits of a thread's number below those of its warp."""


@inlined
def ordered_in_block(t, phase, sync, other, other_phase, other_sync, bits):
    """Whether a barrier orders an access of thread t with an earlier one of another thread of its block."""
    if (t - 1) >> bits != (other - 1) >> bits:
        return False
    return phase != other_phase or ((t - 1) >> WARP == (other - 1) >> WARP and sync != other_sync)


@inlined
def unordered(t, phase, sync, other, other_phase, other_sync, clock, order, bits):
    """Whether nothing orders an access of thread t with an earlier one, at `clock`, of another thread."""
    if t == other:
        return False
    if (t - 1) >> bits != (other - 1) >> bits:
        return not (order.size and _handed_over(order, (t - 1) >> bits, (other - 1) >> bits, clock))
    if phase != other_phase:
        return False
    return not ((t - 1) >> WARP == (other - 1) >> WARP and sync != other_sync)


RELEASED_AT, RELEASED_NUMBER, RELEASED_CLOCK, ACQUIRED_AT, ACQUIRED_NUMBER = range(5)
"""Columns of `order`, a row for each block: on which element and as the how-manieth atomic operation it released its
writes until a clock (a fence and then an atomic), and on which it last met those of others."""


@kernel
def _handed_over(order, block, other, clock):
    """Whether block `other` wrote, fenced and counted up an element on which `block` counted later.

    So the last block of a reduction knows that the others are done.
    """
    return (
        order[other, RELEASED_NUMBER] > 0
        and order[block, ACQUIRED_AT] == order[other, RELEASED_AT]
        and order[block, ACQUIRED_NUMBER] > order[other, RELEASED_NUMBER]
        and clock <= order[other, RELEASED_CLOCK]
    )
