"""A kernel made for one shape: a thread keeps the weights of a mask row for several pairs of maps in registers.

Along a row, the window of x slides by one column a step: x and dy come from shared memory once, and each step of
`width` columns makes width TM TC K_w multiply-adds from width (TM + TC) numbers. A block walks over images and keeps
its sums until the end, adds up those of its threads in a tree, and writes them to a row of its own; a second kernel
adds the rows in a fixed order. Requests to shared memory for a multiply-add fall about 30 times below v03's two, 29 to
36 times for the tuned layers; two runs agree to the last bit.

Source: H, "Calculating dE/dW" and "Specialization for the LeNet-5 C1 Layer"; the course's own.
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import cp_async4, cp_async_commit, cp_async_wait0, ld2, ld4, nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights, met
from course_lib.cuda.ladders.conv2d.backward_data.copies import make_copies
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts, bias_gradient
from course_lib.cuda.ladders.conv2d.backward_weights.plan import plan
from course_lib.cuda.ladders.conv2d.backward_weights.v03_product import conv2d_backward_weights_v03_product
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll


def _make_copy(p):
    """Return the device function that begins to bring a stage: a band of x, then the band of dy, for NB images."""
    s, NB, RB, BANDS = p.s, p.NB, p.RB, p.bands
    M, C, H, W, W_out, p_h, p_w, PITCH = s.M, s.C, s.H, s.W, s.W_out, s.p_h, s.p_w, p.pitch
    X_MAP, Y_MAP, X_STAGE, MB, CB = p.x_map, p.y_map, p.x_stage, p.TM * p.MG, p.TC * p.CG
    PIXELS, PLACES = s.H * s.W, s.H_out * s.W_out
    # A band may come 16 bytes at a time if it begins at a multiple of 16 bytes in every map of every image.
    X16 = p_w == 0 and PIXELS % 4 == 0 and (BANDS == 1 or RB * W % 4 == 0) and p_h * W % 4 == 0
    Y16 = PLACES % 4 == 0 and (BANDS == 1 or RB * W_out % 4 == 0)
    # With one band and no padding, the maps of an image follow each other in both memories: one run.
    X_RUNS, X_RUN = (1, CB * PIXELS) if X16 and X_MAP == PIXELS else (CB, (RB + s.K_h - 1) * W)
    Y_RUNS, Y_RUN = (1, MB * PLACES) if Y16 and Y_MAP == PLACES else (MB, RB * W_out)
    X_RUNS_END, Y_RUNS_END = (CB if X_RUNS == 1 else 1) * PIXELS, (MB if Y_RUNS == 1 else 1) * PLACES
    EVEN = s.H_out % RB == 0 and p_h == 0  # then all bands are alike
    copy_run, _ = make_copies(p.threads)
    X_PIECES = (RB + s.K_h - 1) * PITCH

    @jit(device=True)
    def copy(shared, to, x, dy, unit, m0, c0):
        lane, n, r0 = nonneg(cuda.threadIdx.x), unit // BANDS * NB, unit % BANDS * RB
        for i in range(NB):
            if n + i < x.shape[0]:
                at = to + i * CB * X_MAP
                for c in range(X_RUNS):
                    image = ((n + i) * C + c0 + c) * PIXELS
                    if X16:
                        skip = max(0, p_h - r0) * W  # rows of the padding, which nobody reads
                        count = X_RUN if EVEN else min(X_RUN - skip, X_RUNS_END - (r0 - p_h) * W - skip)
                        copy_run(shared, at + c * X_MAP + skip, x, image + (r0 - p_h) * W + skip, count, True, lane)
                    else:
                        k = nonneg(cuda.threadIdx.x)
                        while k < X_PIECES:
                            row, col = r0 - p_h + k // PITCH, k % PITCH - p_w
                            if row >= 0 and row < H:
                                if col >= 0 and col < W:
                                    cp_async4(shared, at + c * X_MAP + k, x, image + row * W + col)
                                else:
                                    shared[nonneg(at + c * X_MAP + k)] = float32(0)
                            k += nonneg(cuda.blockDim.x)
                at = to + X_STAGE + i * MB * Y_MAP
                for m in range(Y_RUNS):
                    count = Y_RUN if EVEN else min(Y_RUN, Y_RUNS_END - r0 * W_out)
                    copy_run(shared, at + m * Y_MAP, dy, ((n + i) * M + m0 + m) * PLACES + r0 * W_out, count, Y16, lane)
        cp_async_commit()

    return copy


def _make_window(p):
    """Return the device functions that bring `count` columns of x into the window, and that use the next columns."""
    TM, TC, K_w, WIDTH, X_WIDTH, X_MAP, Y_MAP = p.TM, p.TC, p.s.K_w, p.width, p.x_width, p.x_map, p.y_map
    KEPT, WINDOW = p.s.K_w - 1, p.s.K_w - 1 + p.width

    @jit(device=True)
    def bring(shared, at, xs, first, count):
        """xs[c, first : first + count] = the columns of each map from `at` on."""
        for c in range(TC):
            for k in range(count // X_WIDTH):
                e = c * WINDOW + first + k * X_WIDTH
                if X_WIDTH == 4:
                    xs[e], xs[e + 1], xs[e + 2], xs[e + 3] = ld4(shared, at + c * X_MAP + 4 * k)
                elif X_WIDTH == 2:
                    xs[e], xs[e + 1] = ld2(shared, at + c * X_MAP + 2 * k)
                else:
                    xs[e] = shared[at + c * X_MAP + k]

    @jit(device=True)
    def step(shared, at_x, at_y, acc, xs, ys):
        """Multiply-add WIDTH columns of dy from at_y on; the window gets the columns of x from at_x on."""
        bring(shared, at_x, xs, KEPT, WIDTH)
        for m in range(TM):
            if WIDTH == 4:
                e = 4 * m
                ys[e], ys[e + 1], ys[e + 2], ys[e + 3] = ld4(shared, at_y + m * Y_MAP)
            elif WIDTH == 2:
                ys[2 * m], ys[2 * m + 1] = ld2(shared, at_y + m * Y_MAP)
            else:
                ys[m] = shared[at_y + m * Y_MAP]
        for j in range(WIDTH):
            for m in range(TM):
                for c in range(TC):
                    for q in range(K_w):
                        acc[(m * TC + c) * K_w + q] += ys[m * WIDTH + j] * xs[c * WINDOW + j + q]
        for c in range(TC):  # the names move on, not the numbers: the loop around is unrolled
            for k in range(KEPT):
                xs[c * WINDOW + k] = xs[c * WINDOW + k + WIDTH]

    return bring, step


@functools.lru_cache(maxsize=64)
def make(p):
    """Return the kernel for a Plan: launch it with its threads and shared bytes, m_blocks c_blocks blocks a part.

    No errors. Source: the course's own.
    """
    s, TM, TC, CG, RB, NB, RT, STAGES = p.s, p.TM, p.TC, p.CG, p.RB, p.NB, p.RT, p.STAGES
    H, K_h, K_w, H_out, W_out, p_h = s.H, s.K_h, s.K_w, s.H_out, s.W_out, s.p_h
    X_MAP, Y_MAP, X_STAGE, STAGE, PITCH, BANDS = p.x_map, p.y_map, p.x_stage, p.stage, p.pitch, p.bands
    MB, CB, COMBOS, C_BLOCKS, SHARES = p.TM * p.MG, p.TC * p.CG, p.MG * p.CG, p.c_blocks, p.m_blocks * p.c_blocks
    SUMS, HALF, HALF_ROWS, ROWS, WIDTH, KEPT = p.sums, p.half, -(-p.RT // 2), p.NB * p.RB, p.width, s.K_w - 1
    XS, YS, STEPS = p.TC * (s.K_w - 1 + p.width), p.TM * p.width, s.W_out // p.width
    WHOLE = (STEPS - 1) // p.turns  # bodies in a loop, then a rest
    TURNS, REST = p.turns if WHOLE else 1, STEPS - (STEPS - 1) // p.turns * p.turns
    BODY, TAPS, MASK, DEPTH = TURNS * p.width, RT * s.K_h, s.K_h * s.K_w, s.depth
    copy, (bring, step) = _make_copy(p), _make_window(p)

    @jit(cache=True, launch_bounds=p.threads)
    def _backward_weights_v06(x, dy, sums):
        shared = cuda.shared.array(0, float32)  # the stages; at the end, sums of threads
        acc = cuda.local.array(SUMS, float32)
        xs = cuda.local.array(XS, float32)
        ys = cuda.local.array(YS, float32)
        B, parts = x.shape[0], nonneg(sums.shape[0])
        units = (B + NB - 1) // NB * BANDS
        t = nonneg(cuda.threadIdx.x)
        p, h, combo = t % K_h, t // K_h % RT, t // TAPS
        part, share = nonneg(cuda.blockIdx.x) // SHARES, nonneg(cuda.blockIdx.x) % SHARES
        m0, c0 = share // C_BLOCKS * MB, share % C_BLOCKS * CB
        m1, c1 = combo // CG * TM, combo % CG * TC
        for k in range(SUMS):
            acc[k] = float32(0)

        here = 0
        if STAGES == 2:
            copy(shared, here, x, dy, part, m0, c0)
        for unit in range(part, units, parts):
            if STAGES == 2:
                cp_async_wait0()
                cuda.syncthreads()  # this stage is there, and nobody reads the other any more
                if unit + parts < units:
                    copy(shared, STAGE - here, x, dy, unit + parts, m0, c0)
            else:
                cuda.syncthreads()
                copy(shared, here, x, dy, unit, m0, c0)
                cp_async_wait0()
                cuda.syncthreads()
            n, r0 = unit // BANDS * NB, unit % BANDS * RB
            for row in range(h, ROWS, RT):
                i, r = row // RB, row % RB
                line = r0 + r + p - p_h
                if combo < COMBOS and n + i < B and r0 + r < H_out and line >= 0 and line < H:
                    at_x = nonneg(here + (i * CB + c1) * X_MAP + (r + p) * PITCH)
                    at_y = nonneg(here + X_STAGE + (i * MB + m1) * Y_MAP + r * W_out)
                    bring(shared, at_x, xs, 0, KEPT)
                    at_x += KEPT
                    for _ in range(WHOLE):
                        for j in unroll(TURNS):
                            step(shared, at_x + j * WIDTH, at_y + j * WIDTH, acc, xs, ys)
                        at_x += BODY
                        at_y += BODY
                    for j in unroll(REST):
                        step(shared, at_x + j * WIDTH, at_y + j * WIDTH, acc, xs, ys)
            if STAGES == 2:
                here = STAGE - here

        count = RT  # threads with sums of the same weights; the second half hands over to the first
        while count > 1:
            half = (count + 1) // 2
            cuda.syncthreads()
            if combo < COMBOS and h >= half and h < count:
                for k in range(SUMS):
                    shared[k * HALF + nonneg((combo * HALF_ROWS + h - half) * K_h + p)] = acc[k]
            cuda.syncthreads()
            if combo < COMBOS and h + half < count:
                for k in range(SUMS):
                    acc[k] += shared[k * HALF + nonneg((combo * HALF_ROWS + h) * K_h + p)]
            count = half
        if combo < COMBOS and h == 0:
            for m in range(TM):
                for c in range(TC):
                    at = (m0 + m1 + m) * DEPTH + (c0 + c1 + c) * MASK + p * K_w
                    for q in range(K_w):
                        sums[part, nonneg(at + q)] = acc[(m * TC + c) * K_w + q]

    return _backward_weights_v06


def conv2d_backward_weights_v06_specialised(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw (M, C, K_h, K_w), db (M,) or None, from dy (B, M, H_out, W_out), x (B, C, H, W), float32 device arrays.

    stride, pad: int or pair (rows, columns). Another stride than 1, shapes that fit no block, and cards before compute
    capability 8.0 are v03's work. TypeError unless float32 device arrays; ValueError if one is empty or has gaps, or
    shapes do not fit. Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    p = plan(replace(n, B=0))
    if p is None or not aligned(dy, x) or compute_capability() < (8, 0):
        conv2d_backward_weights_v03_product(dy, x, dw, db, stride, pad)
        return
    sums = gpu.empty((p.parts(n.B), dw.size), np.float32)
    make(p)[sums.shape[0] * p.m_blocks * p.c_blocks, p.threads, 0, p.shared](x, dy, sums)
    add_parts(sums, dw)
    bias_gradient(dy, db)


def traffic(n):
    """Return what is counted for Sizes n that v06 takes itself: the stages, and the sums of a block.

    Of the kernel for dw's partial sums alone. No errors. Source: the course's own.
    """
    p = plan(replace(n, B=0))
    rows = sum(min(n.H, r + p.RB + n.K_h - 1) - r for r in range(0, n.H_out, p.RB))
    handed = p.parts(n.B) * p.m_blocks * p.c_blocks * p.sums * p.MG * p.CG * n.K_h * (p.RT - 1)
    return {
        "flops": 2 * n.B * n.M * n.C * n.W_out * n.K_w * met(n.H, n.K_h, n.H_out, n.s_h, n.p_h) + handed,
        "global_load_bytes": 4 * n.B * (p.m_blocks * n.C * rows * n.W + p.c_blocks * n.M * n.H_out * n.W_out),
        "global_store_bytes": 4 * p.parts(n.B) * n.M * n.depth,
    }
