"""A kernel made for one shape: a thread keeps a whole row of pixels in registers and spreads each dy over it.

As a formula this is a full convolution of dy with the flipped, transposed masks; read the other way round, dy[j] goes
to the K_w pixels j, j + 1, ..., and no product with a zero of the border is made. All column indices are constants, so
the row of dx never leaves the registers, and a row of dy in shared memory gives TC W_out K_w multiply-adds for W_out
/ width loads. Loads a multiply-add fall more than 10 times below v03; global loads come asynchronously, a stage ahead.

Source: H, "Back-propagation dE/dX for a convolutional layer" and "Specialization for the LeNet-5 C1 Layer"; the
course's own.
"""

import functools
from dataclasses import replace

from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import (
    cp_async_commit,
    cp_async_wait0,
    ld2,
    ld4,
    nonneg,
    st2,
    st4,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data, met
from course_lib.cuda.ladders.conv2d.backward_data.copies import make_copies
from course_lib.cuda.ladders.conv2d.backward_data.plan import plan
from course_lib.cuda.ladders.conv2d.backward_data.v03_product import conv2d_backward_data_v03_product
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll


@functools.lru_cache(maxsize=64)
def make(p):
    """Return the kernel for a Plan, to be launched with its threads and shared bytes, `bands` blocks for NB images.

    No errors. Source: the course's own.
    """
    s, TC, NB, MC, RB, FOLD = p.s, p.TC, p.NB, p.MC, p.RB, p.FOLD
    M, C, H, W, K_h, K_w, H_out, W_out, p_h, p_w = s.M, s.C, s.H, s.W, s.K_h, s.K_w, s.H_out, s.W_out, s.p_h, s.p_w
    THREADS, GROUPS, LANES, BANDS, STEPS = p.threads, p.groups, p.groups * p.NB, p.bands, s.M // p.MC
    PITCH, MAP, IMAGE, STAGE, PLACES = p.pitch, p.map, p.image, p.stage, s.H_out * s.W_out
    WIDTH, LOADS, SUMS, ROW = p.width, s.W_out // p.width, p.sums, p.sums // p.TC
    TAPS, FOURS, MASKS, MASK_MAP = p.taps, p.taps // 4, p.masks, p.groups * s.K_h * p.taps
    SIXTEEN, DENSE, FOURS_A_ROW = p.sixteen, p.pitch == s.W_out, s.W_out // 4
    ONE = p.bands == 1 and DENSE and p.map == PLACES  # then the maps of an image follow each other in both memories
    RUNS, RUN, MOST = (1, p.MC * PLACES, p.MC * PLACES) if ONE else (p.MC, p.y_rows * s.W_out, PLACES)
    STORE = 4 if s.W % 4 == 0 else 2 if s.W % 2 == 0 else 1
    STORES = s.W // STORE
    ZERO = 0  # ZERO + 3 is no literal: for f(3) and f(4) Numba compiles a device function f twice

    ALL_RUNS, WARPS = p.NB * RUNS, p.threads // 32
    TEAM = 32 * max(1, WARPS // ALL_RUNS)
    TEAMS = p.threads // TEAM
    copy_run, copy_rows = make_copies(TEAM)

    @jit(device=True)
    def copy(shared, to, dy, step, n0, y0):
        """Begin to bring MC maps of NB images, from row y0 on: one run an image, or one a map if rows are left out."""
        team, lane = nonneg(cuda.threadIdx.x) // TEAM, nonneg(cuda.threadIdx.x) % TEAM
        if team < TEAMS:
            for run in range(team, ALL_RUNS, TEAMS):
                i, m = run // RUNS, run % RUNS
                if n0 + i < dy.shape[0]:
                    source, at = ((n0 + i) * M + step * MC + m) * PLACES + y0 * W_out, to + i * IMAGE + m * MAP
                    count = min(RUN, MOST - y0 * W_out)
                    if DENSE:
                        copy_run(shared, at, dy, source, count, SIXTEEN, lane)
                    else:
                        copy_rows(shared, at, dy, source, count, FOURS_A_ROW, lane)
        cp_async_commit()

    @jit(device=True)
    def spread(shared, at, j, acc, ws):
        """Send WIDTH numbers of a row of dy, from column j WIDTH on, to the pixels that they came from."""
        ys = cuda.local.array(4, float32)
        if WIDTH == 4:
            ys[0], ys[1], ys[2], ys[3] = ld4(shared, at + 4 * j)
        elif WIDTH == 2:
            ys[0], ys[1] = ld2(shared, at + 2 * j)
        else:
            ys[0] = shared[at + j]
        for c in range(TC):
            for e in range(WIDTH):
                for q in range(K_w):
                    acc[c * ROW + j * WIDTH + e + q] += ys[e] * ws[c * K_w + q]

    @jit(device=True)
    def store(dx, b, c, h, j, acc, k):
        """Write STORE numbers of row k of the thread, from column j STORE on."""
        e = k * ROW + p_w + j * STORE
        at = nonneg(((b * C + c) * H + h) * W) + j * STORE
        if STORE == 4:
            st4(dx, at, acc[e], acc[e + 1], acc[e + 2], acc[e + 3])
        elif STORE == 2:
            st2(dx, at, acc[e], acc[e + 1])
        else:
            dx[b, c, h, j] = acc[e]

    @jit(cache=True, launch_bounds=THREADS)
    def _backward_data_v06(dy, w, dx):
        shared = cuda.shared.array(0, float32)  # masks (M, GROUPS, K_h, TAPS), then two stages
        acc = cuda.local.array(SUMS, float32)
        ws = cuda.local.array(TAPS, float32)
        t, band, n0 = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) % BANDS, nonneg(cuda.blockIdx.x) // BANDS * NB
        i, g, h = t % NB, t // NB % GROUPS, t // LANES + band * RB
        works = t < LANES * RB and h < H and n0 + i < dy.shape[0]
        y0 = max(0, band * RB + p_h - K_h + 1)
        if FOLD:  # rows at both ends have few outputs that saw them: they share a warp, which is done early
            h = h // 2 if h % 2 == 0 else H - 1 - h // 2
        first = max(0, h + p_h - (H_out - 1))  # of the mask rows under which an output saw row h
        rows = min(K_h - 1, h + p_h) - first + 1
        first_y, first_w = MASKS + i * IMAGE + (h + p_h - first - y0) * PITCH, (g * K_h + first) * TAPS

        copy(shared, MASKS, dy, 0, n0, y0)
        k = t
        while k < MASKS:
            e, p, mg = k % TAPS, k // TAPS % K_h, k // (TAPS * K_h)
            value = float32(0)
            if e < TC * K_w:
                value = w[mg // GROUPS, mg % GROUPS * TC + e // K_w, p, e % K_w]
            shared[k] = value
            k += nonneg(cuda.blockDim.x)
        for k in range(SUMS):
            acc[k] = float32(0)

        for step in range(STEPS):
            cp_async_wait0()
            cuda.syncthreads()  # this stage is there, and nobody reads the other any more
            if step + 1 < STEPS:
                copy(shared, MASKS + (step + 1) % 2 * STAGE, dy, step + 1, n0, y0)
            if works:
                for m in range(MC):
                    at_y = first_y + step % 2 * STAGE + m * MAP
                    at_w = first_w + (step * MC + m) * MASK_MAP
                    for _ in range(rows):
                        for k in range(FOURS):
                            ws[4 * k], ws[4 * k + 1], ws[4 * k + 2], ws[4 * k + 3] = ld4(shared, nonneg(at_w) + 4 * k)
                        for j in unroll(LOADS):
                            spread(shared, nonneg(at_y), ZERO + j, acc, ws)
                        at_y -= PITCH
                        at_w += TAPS

        if works:
            for c in range(TC):
                for j in unroll(STORES):
                    store(dx, n0 + i, g * TC + c, h, ZERO + j, acc, c)

    return _backward_data_v06


def conv2d_backward_data_v06_specialised(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). A pixel that no window saw gets 0. Another stride than 1, rows that do not
    fit a thread's registers, and cards before compute capability 8.0 are v03's work. TypeError unless float32 device
    arrays; ValueError if one is empty or has gaps, or shapes do not fit. Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    p = plan(replace(n, B=0))
    if p is None or not aligned(dy, dx) or compute_capability() < (8, 0):
        conv2d_backward_data_v03_product(dy, w, dx, stride, pad)
        return
    make(p)[-(-n.B // p.NB) * p.bands, p.threads, 0, p.shared](dy, w, dx)


def traffic(n):
    """Return what is counted for Sizes n that v06 takes itself: dy comes once, the masks once a block.

    No errors. Source: the course's own.
    """
    p = plan(replace(n, B=0))
    blocks = -(-n.B // p.NB) * p.bands
    rows = sum(min(n.H_out - p.first_y(band), p.y_rows) for band in range(p.bands))
    return {
        "flops": 2 * n.B * n.M * n.C * n.W_out * n.K_w * met(n.H, n.K_h, n.H_out, n.s_h, n.p_h),
        "global_load_bytes": 4 * (n.B * n.M * rows * n.W_out + blocks * n.M * n.depth),
        "global_store_bytes": 4 * n.B * n.C * n.H * n.W,
        "barriers": blocks * n.M // p.MC * p.threads // 32,
    }
