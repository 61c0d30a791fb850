"""A thread computes a tile of products in registers: shared loads for a multiply-add fall from 2 to 1, 1/2 or 3/8.

Joint register-shared tiling: the block's tile of the unrolled matrix lies in shared memory as in v04, and a thread
takes TM maps x TN pixels of it. For one position of the masks it loads TM weights and TN pixels, and uses each of them
several times. How many maps a block takes depends on how many there are, so that few maps leave no thread idle: a
multiply-add takes 1 load for at most 8 maps, 1/2 for at most 16, 3/8 above.

Source: H, "Strategies for Lab 7", 4 (joint register-shared memory tiling).
"""

import functools

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

BK, THREADS = 8, 256
SHAPES = ((8, 128, 2, 2), (16, 256, 4, 4), (32, 256, 4, 8), (64, 128, 4, 8))
"""BM maps, BN pixels a block, TM x TN a thread, for at most BM maps, or more for the last: all with 256 threads."""


@functools.cache
def make(BM, BN, TM, TN):
    """Return the kernel whose blocks compute BM maps x BN pixels, TM x TN a thread. No errors."""
    A_SIZE, SUMS, ACROSS, STEP = BK * BM, TM * TN, BN // TN, THREADS // BN

    @jit(cache=True)
    def _conv2d_forward_v05(x, rows, b, biased, K_h, K_w, s_h, s_w, p_h, p_w, W_out, y):
        weights = cuda.shared.array((BK, BM), float32)
        pixels = cuda.shared.array((BK, BN), float32)
        acc = cuda.local.array(SUMS, float32)
        w_reg, x_reg = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        B, C, H, W = x.shape
        M, depth = rows.shape
        width = y.shape[2]
        t = nonneg(cuda.threadIdx.x)
        first_col, first_map = nonneg(cuda.blockIdx.x) * BN, nonneg(cuda.blockIdx.y) * BM

        # This thread stages every STEP-th element of one column of the unrolled matrix. It divides once, to find where
        # that column lies and where in a mask it begins, and counts on from there.
        mine, k = t % BN, t // BN
        c, p, q = k // (K_h * K_w), k // K_w % K_h, k % K_w
        n, pixel = (first_col + mine) // width, (first_col + mine) % width
        top, left = pixel // W_out * s_h - p_h, pixel % W_out * s_w - p_w
        tn, tm = t % ACROSS, t // ACROSS
        for i in range(SUMS):
            acc[i] = float32(0)

        for start in range(0, depth, BK):
            for i in range(t, A_SIZE, THREADS):
                k, m = i % BK, i // BK
                weight = float32(0)
                if first_map + m < M and start + k < depth:
                    weight = rows[first_map + m, start + k]
                weights[k, m] = weight
            for k in range(t // BN, BK, STEP):
                h, v = top + p, left + q
                value = float32(0)
                if n < B and c < C and h >= 0 and h < H and v >= 0 and v < W:
                    value = x[n, c, nonneg(h), nonneg(v)]
                pixels[k, mine] = value
                q += STEP
                while q >= K_w:
                    q -= K_w
                    p += 1
                    if p == K_h:
                        p = 0
                        c += 1
            cuda.syncthreads()
            for k in unroll(BK):
                for i in range(TM):
                    w_reg[i] = weights[k, tm * TM + i]
                for j in range(TN):
                    x_reg[j] = pixels[k, tn + j * ACROSS]  # neighbours read neighbours
                for i in range(TM):
                    for j in range(TN):
                        acc[i * TN + j] += w_reg[i] * x_reg[j]
            cuda.syncthreads()

        for j in range(TN):
            at = first_col + tn + j * ACROSS
            image, place = at // width, at % width
            if image < B:
                for i in range(TM):
                    m = first_map + tm * TM + i
                    if m < M:
                        bias = float32(0)
                        if biased:
                            bias = b[m]
                        y[image, m, place] = acc[i * TN + j] + bias

    return _conv2d_forward_v05


def conv2d_forward_v05_register_tiled(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Strategies for Lab 7", 4.
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    BM, BN, TM, TN = shape_for(s.M)
    width = s.H_out * s.W_out
    grid = -(-s.B * width // BN), -(-s.M // BM)
    make(BM, BN, TM, TN)[grid, THREADS](
        x, w.reshape(s.M, s.depth), b, biased, s.K_h, s.K_w, s.s_h, s.s_w, s.p_h, s.p_w, s.W_out,
        y.reshape(s.B, s.M, width),
    )  # fmt: skip


def shape_for(M):
    """Return (BM, BN, TM, TN) for M output maps. No errors. Source: the course's own."""
    return next((shape for shape in SHAPES if shape[0] >= M), SHAPES[-1])


def traffic(s):
    """Return what the executor counts, maps, C K_h K_w and B H_out W_out whole tiles, no padding, with a bias.

    No errors. Source: the course's own.
    """
    BM, BN, TM, TN = shape_for(s.M)
    blocks = s.M // BM * (s.B * s.H_out * s.W_out // BN)
    steps, warps = s.depth // BK, blocks * THREADS // 32
    return {
        "global_load_requests": blocks * steps * BK * (BM + BN) // 32 + warps * TM * TN,
        "global_store_requests": warps * TM * TN,
        "shared_load_requests": warps * s.depth * (TM + TN),
        "shared_store_requests": blocks * steps * BK * (BM + BN) // 32,
        "flops": s.B * s.M * s.H_out * s.W_out * (2 * s.depth + 1),
    }
