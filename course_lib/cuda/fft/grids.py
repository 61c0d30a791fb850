"""The transform of a T x T tile by T threads: columns in registers, a turn through shared memory, rows in registers.

Thread `lane` holds a column of the tile, row k in its register k. After `forward` it holds one frequency of the columns
and all frequencies of the rows; after `backward` a column again. The turn writes rows and reads columns of an array
whose rows are one number longer than T: neighbouring threads then touch different banks both times. A tile belongs to
one warp, or to half of one, so that a warp waits for itself only, and never a block.

Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory" (banks), "Synchronization Functions" (`__syncwarp`).
"""

import functools

from course_lib.cuda.fft import registers
from course_lib.cuda.intrinsics import ld2, nonneg, st2
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda


def floats(T):
    """Return how many float32 of shared memory a tile of T x T needs. No errors. Source: the course's own."""
    return 2 * T * (T + 1)


@functools.cache
def make(T):
    """Return (forward, backward) of tiles: device functions of (re, im, shared, base, lane), in place.

    `shared` begins at a multiple of 8 bytes, the tile's part of it at `base`, an even number. Every thread of the warp
    must call them. ValueError as `registers.make`. Source: the course's own.
    """
    forward_row, backward_row = registers.make(T)
    PITCH = T + 1

    @jit(device=True, forceinline=True)
    def turn(re, im, shared, base, lane):
        for k in range(T):
            st2(shared, nonneg(base + 2 * lane + 2 * PITCH * k), re[k], im[k])
        cuda.syncwarp()
        for k in range(T):
            re[k], im[k] = ld2(shared, nonneg(base + 2 * PITCH * lane + 2 * k))
        cuda.syncwarp()  # nobody may write what others still read

    @jit(device=True, forceinline=True)
    def forward(re, im, shared, base, lane):
        forward_row(re, im)
        turn(re, im, shared, base, lane)
        forward_row(re, im)

    @jit(device=True, forceinline=True)
    def backward(re, im, shared, base, lane):
        backward_row(re, im)
        turn(re, im, shared, base, lane)
        backward_row(re, im)

    return forward, backward
