"""Strips, v05 another way: a block goes down a strip of x, and what lies behind a cut waits for its next turn.

Little of x is read twice, but a block has few numbers under way. So along 64 rows of y:

    64 columns of x           one row of y, which begins within a sector
    rows 0 to 31, turn 0      ...|........|........|........|                   27 are written, 5 left over
    rows 32 to 63, turn 1                                   |........|........|........|........|

Sectors of x at the edges of a strip are read twice, by blocks that run at the same time: the L2 cache has them.
Addresses are counted with 32 bits, and nothing is divided but once a block.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Coalesced Access to Global Memory"; the course's own.
"""

import functools

import numpy as np

from course_lib.cuda.device import executor
from course_lib.cuda.elementwise import flat
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

STEP = 32
"""Rows of x that a block reads in a turn: a warp's width of y."""

SLOTS = 2 * STEP
"""Rows of x in shared memory: those of this turn and of the one before."""

WIDTH, CUT, TURNS = 64, 8, 8
"""Columns of a strip; numbers of a sector; turns of a block."""

BUSY = 1024
"""Blocks that keep a large card busy: with fewer each has fewer turns."""


@functools.cache
def strips(WIDTH, CUT):
    """Return (the kernel for strips of WIDTH columns, in which parts of y begin at multiples of CUT; its threads).

    WIDTH is 64 or 128. CUT is 8, a sector; 16 or 32, half a line of 128 bytes or a whole one; or 1, a straight cut for
    comparison. No errors.

    Source: the course's own.
    """
    WARPS = max(8, CUT)  # rows of y that are so far apart begin equally far behind a sector's edge
    THREADS, PITCH, COLUMNS, ROWS = 32 * WARPS, WIDTH + 1, WIDTH // WARPS, 32 * WARPS // WIDTH
    BEFORE, READS, INSIDE, LAST = CUT // ROWS, STEP // ROWS, np.uint32(CUT - 1), np.uint32(SLOTS - 1)

    @jit(cache=True)
    def _transpose_v05(x, y, R, C, across, begin, turns):
        """x and y flat; `across` strips; y begins `begin` numbers behind a line; `turns` a block."""
        tile, held = cuda.shared.array((SLOTS, PITCH), float32), cuda.local.array(READS, float32)
        out = cuda.local.array(COLUMNS, float32)
        b, t = np.uint32(cuda.blockIdx.x), np.uint32(cuda.threadIdx.x)
        part = np.uint32(b // across)
        left, top = np.uint32((b - part * across) * WIDTH), np.uint32(part * turns * STEP)
        tx, ty, warp, lane = np.uint32(t % WIDTH), np.uint32(t // WIDTH), np.uint32(t // 32), np.uint32(t % 32)

        at = np.uint32((top + ty) * C + left + tx)  # in x
        rows = np.int32(min(np.int32(R) - np.int32(top), np.int32(turns * STEP)) - np.int32(ty))  # left for this thread
        if np.uint32(left + tx) >= C:
            rows = np.int32(-STEP)
        first, jump = np.uint32((left + warp) * R), np.uint32(WARPS * R)  # in y: of a warp's first row, to its next
        columns = np.int32(np.int32(C) - np.int32(left + warp))
        back = np.uint32(np.uint32(first + begin) & INSIDE)  # from where a turn would begin to where a sector does
        row, slot = np.uint32(top + lane - back), np.uint32(lane - back)

        for k in range(BEFORE):  # what the block above may have left over
            inside = top > 0 and k * ROWS - CUT < rows
            tile[SLOTS - CUT + ty + k * ROWS, tx] = x[np.uint32(at - (CUT - k * ROWS) * C)] if inside else float32(0)
        half = np.uint32(0)
        for k in unroll(READS):
            held[k] = x[np.uint32(at + k * ROWS * C)] if k * ROWS < rows else float32(0)
        for _ in range(turns):
            for k in unroll(READS):
                tile[half + ty + k * ROWS, tx] = held[k]
            cuda.syncthreads()
            at, rows = np.uint32(at + STEP * C), np.int32(rows - STEP)
            for k in unroll(READS):  # the next turn's are on their way while this one's leave
                held[k] = x[np.uint32(at + k * ROWS * C)] if k * ROWS < rows else float32(0)

            for k in unroll(COLUMNS):
                out[k] = tile[np.uint32(slot & LAST), warp + k * WARPS]
            for k in unroll(COLUMNS):
                if row < R and k * WARPS < columns:
                    y[np.uint32(first + row + k * jump)] = out[k]
            cuda.syncthreads()
            row, slot, half = np.uint32(row + STEP), np.uint32(slot + STEP), np.uint32(STEP - half)

    return _transpose_v05, THREADS


def in_strips(x, y, width=WIDTH, cut=CUT, turns=TURNS):
    """Write x (R, C) transposed into y (C, R), which the caller has checked, of fewer than 2^31 elements.

    width, cut : int, as `strips`. turns : int >= 1, of a block at the most. No errors. Source: the course's own.
    """
    (R, C), across = x.shape, -(-x.shape[1] // width)
    down = -(-(R + cut - 1) // STEP)  # what the last turn leaves over needs another one
    turns = max(1, min(turns, across * down // BUSY))
    begin = executor().address(y) // 4 % 32
    numbers = (np.uint32(n) for n in (R, C, across, begin, turns))
    kernel, threads = strips(width, cut)
    kernel[across * -(-down // turns), threads](flat(x), flat(y), *numbers)
