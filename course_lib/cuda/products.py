"""Matrix products on the device, of matrices as they lie or transposed: small ones by tiles, large ones by the ladder.

    C = A B + b,   A (M, K) or, with A_turned, its transpose as it lies in memory (K, M); B alike

A block computes a T x T tile of C, a thread one number of it. For each STEP numbers of K the block stages a tile of A
and one of B in shared memory, so that a number is read from memory once a tile instead of once a product. The next
tiles are on their way while these are multiplied: small products are too few to hide the wait otherwise. Neighbouring
threads always read neighbours in memory; a transposed tile is turned on its way into shared memory.

Large products go to the top of the ladder `course_lib.cuda.ladders.gemm` that computes in float32 throughout; what is
transposed is turned in memory first, which costs little beside the product.

Source: H, "Tiled Matrix Multiplication 2x2 example"; NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
"""

import functools

import numpy as np

from course_lib.cuda.capability import compute_capability
from course_lib.cuda.device import empty
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

T, STEP = 16, 32
"""Side of a tile of C, and the numbers of K that are staged at a time."""

LOADS = STEP // T
"""Numbers of A, and of B, that a thread brings at a time."""

PITCH = STEP + 2
"""Length of a row of A's tile: a warp that writes down two columns of 16 meets 32 banks."""

LARGE, LEAST_SIDE = 2**27, 128
"""Multiply-adds from which the ladder is used, and the least M and N: v07's blocks make 128 x 128
results each, v08's 64 x 128."""

BUSY = 256
"""Results / (64 x 128) from which v08, whose blocks have two warps, keeps a card busy; an H200 does 1024^3 faster by
v07."""


def product(A, B, b=None, *, A_turned=False, B_turned=False):
    """Return A B, or A B + b: (M, N).

    Parameters
    ----------
    A, B : float32 device arrays (M, K) and (K, N), C-contiguous
        With A_turned A is (K, M), with B_turned B is (N, K).
    b : float32 device array (N,), optional
        Added to every row.

    No errors: the caller has checked. Source: K, Z = X W.
    """
    M = A.shape[1] if A_turned else A.shape[0]
    N, K = B.shape if B_turned else B.shape[::-1]
    C = empty((M, N), np.float32)
    if M * N * K >= LARGE and min(M, N) >= LEAST_SIDE:
        _climbed(_turned(A) if A_turned else A, _turned(B) if B_turned else B, C)
        if b is not None:
            _add_row[-(-M // T) * -(-N // T), (T, T)](b, C)
        return C
    kernel = _tiled(A_turned, B_turned, b is not None)
    kernel[-(-M // T) * -(-N // T), (T, T)](A, B, C if b is None else b.reshape((1, N)), C)
    return C


def _turned(A):
    """Return the transpose of a device array (M, K) as a new one (K, M)."""
    from course_lib.cuda.ladders.transpose.v05_ragged_rows import transpose_v05_ragged_rows

    turned = empty(A.shape[::-1], np.float32)
    transpose_v05_ragged_rows(A, turned)
    return turned


def _climbed(A, B, C):
    """Write A B into C by the highest rung that this card has, or the one below where there are few results."""
    if compute_capability() >= (8, 0) and C.size >= BUSY * 64 * 128:
        from course_lib.cuda.ladders.gemm.v08_pipelined import gemm_v08_pipelined as gemm
    else:
        from course_lib.cuda.ladders.gemm.v07_warp_tiles import gemm_v07_warp_tiles as gemm
    gemm(A, B, C)


@jit(cache=True)
def _add_row(b, C):
    across = (C.shape[1] + T - 1) // T
    row, col = cuda.blockIdx.x // across * T + cuda.threadIdx.y, cuda.blockIdx.x % across * T + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] += b[col]


@functools.cache
def _tiled(A_TURNED, B_TURNED, BIAS):
    PITCH_B = T + 1 if B_TURNED else T  # a warp writes down a column of 32, or along two rows of 16

    @jit(cache=True)
    def _product(A, B, b, C):
        # who am I
        As, Bs = cuda.shared.array((T, PITCH), float32), cuda.shared.array((STEP, PITCH_B), float32)
        a, c = cuda.local.array(LOADS, float32), cuda.local.array(LOADS, float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        t = ty * T + tx
        M, N = C.shape
        K = A.shape[0] if A_TURNED else A.shape[1]
        across = (N + T - 1) // T
        row0, col0 = cuda.blockIdx.x // across * T, cuda.blockIdx.x % across * T  # on y a grid has 65,535 blocks only
        acc = float32(0)
        for k0 in range(-STEP, K, STEP):
            # bring the next tiles into registers: they are on their way while this step multiplies
            for load in unroll(LOADS):
                short, long_ = (t + load * T * T) % T, (t + load * T * T) // T  # along a row of 16, and across
                wide, high = (t + load * T * T) % STEP, (t + load * T * T) // STEP  # along a row of STEP, and across
                k, row = (long_, short) if A_TURNED else (wide, high)
                k, row = k + k0 + STEP, row + row0
                a[load] = float32(0)  # outside of the matrices: a zero adds nothing
                if k < K and row < M:
                    a[load] = A[k, row] if A_TURNED else A[row, k]
                k, col = (wide, high) if B_TURNED else (long_, short)
                k, col = k + k0 + STEP, col + col0
                c[load] = float32(0)
                if k < K and col < N:
                    c[load] = B[col, k] if B_TURNED else B[k, col]
            # multiply
            if k0 >= 0:
                for k in range(STEP):
                    acc += As[ty, k] * Bs[k, tx]
                cuda.syncthreads()  # everybody has read these tiles
            # put the next tiles into shared memory
            for load in unroll(LOADS):
                short, long_ = (t + load * T * T) % T, (t + load * T * T) // T
                wide, high = (t + load * T * T) % STEP, (t + load * T * T) // STEP
                if A_TURNED:
                    As[short, long_] = a[load]
                else:
                    As[high, wide] = a[load]
                if B_TURNED:
                    Bs[wide, high] = c[load]
                else:
                    Bs[long_, short] = c[load]
            cuda.syncthreads()
        # write
        if row0 + ty < M and col0 + tx < N:
            if BIAS:
                acc += b[0, col0 + tx]
            C[row0 + ty, col0 + tx] = acc

    return _product
