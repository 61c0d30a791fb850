"""What the SIMT executor must count for the rungs of this ladder: their formulas, in one place.

All arrays begin at a multiple of 32 bytes, so n neighbouring float32 are n / 8 sectors, and n / 32 warps ask for them.
Source: the course's own.
"""

WARPS = 8
"""Warps of a block."""


def tree_traffic(n, *, a_block, adding, diverging):
    """Return {counter: value} for the passes of a tree in shared memory.

    Parameters
    ----------
    n : int
        Numbers to add up.
    a_block : int
        Numbers of a block.
    adding : int
        Warps with a thread that adds, over the 8 steps; each reads two words and writes one.
    diverging : int
        Those of them that have a thread that does not.

    No errors. Source: the course's own.
    """
    counts = dict.fromkeys(
        ("global_load_requests", "global_load_sectors", "global_store_requests", "shared_load_requests",
         "shared_store_requests", "shared_load_conflicts", "barriers", "warp_operations", "divergent_branches"), 0,
    )  # fmt: skip
    while True:
        blocks = -(-n // a_block)
        counts["global_load_requests"] += -(-n // 32)
        counts["global_load_sectors"] += -(-n // 8)
        counts["global_store_requests"] += blocks
        counts["shared_load_requests"] += blocks * (2 * adding + 1)  # and the result
        counts["shared_store_requests"] += blocks * (WARPS + adding)
        counts["barriers"] += blocks * WARPS * 9
        counts["divergent_branches"] += blocks * (diverging + 1) + (n % 32 > 0)
        if blocks == 1:
            return counts
        n = blocks


def shuffle_traffic(n, blocks):
    """Return ({counter: value}, blocks) for one pass of `block_sum` over n numbers.

    No errors. Source: the course's own.
    """
    return {
        "global_load_requests": -(-n // 32),
        "global_load_sectors": -(-n // 8),
        "global_store_requests": blocks,
        "shared_load_requests": blocks,
        "shared_store_requests": blocks * WARPS,
        "shared_load_conflicts": 0,
        "barriers": blocks * WARPS,
        "warp_operations": blocks * 5 * (WARPS + 1),
    }, blocks


def one_pass_traffic(n, *, tile, blocks):
    """Return {counter: value} of `blocks` blocks that walk over n numbers, whole tiles of them 128 a request.

    The block that is last reads the blocks' sums too, and adds them up by a second `block_sum`. No errors. Source: the
    course's own.
    """
    whole = n // tile * tile
    return {
        "global_load_requests": whole // 128 + -(-(n - whole) // 32) + -(-blocks // 32),
        "global_load_sectors": -(-n // 8) + -(-blocks // 8),
        "global_store_requests": blocks + 1,
        "shared_load_requests": blocks * (1 + WARPS) + 1,  # whether the block is last, for each warp
        "shared_store_requests": blocks * (WARPS + 1) + WARPS,
        "shared_load_conflicts": 0,
        "atomic_requests": blocks,
        "barriers": blocks * WARPS * 2 + WARPS,
        "warp_operations": (blocks + 1) * 5 * (WARPS + 1),
    }
