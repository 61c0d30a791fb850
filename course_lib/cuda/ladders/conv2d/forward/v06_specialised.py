"""A kernel made for one layer shape: all sizes are constants, and shared memory is read once for 8 to 30 products.

What v05 does for any shape costs divisions at each load. Here the shape is known when the kernel is made, so the input
lies in shared memory as an image: a thread holds its window of a row in registers and slides the mask over it, for
several output maps at a time. Four maps' weights are one access of 16 bytes, which a whole warp shares. Tiny layers
put several images into a block; deep ones fetch the next input maps while they compute with these.

Source: H, "Specialization for the LeNet-5 C1 Layer"; the course's own.
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import cp_async_commit, cp_async_wait1, ld2, ld4, nonneg, st2, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.plan import plan
from course_lib.cuda.ladders.conv2d.forward.planned import AMPERE, launch_planned
from course_lib.cuda.ladders.conv2d.forward.stage import make_fetch
from course_lib.cuda.ladders.conv2d.forward.v05_register_tiled import conv2d_forward_v05_register_tiled
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

THREADS = 256


@jit(cache=True)
def _arrange(w, b, biased, MT, MP, arranged):
    """arranged[block of maps, k, m] = w[block * MT + m, k], zeros where there is no map; behind that the bias.

    One thread, one number.
    """
    M, depth = w.shape
    masks = arranged.size - M
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        value = float32(0)
        if i >= masks:
            if biased:
                value = b[i - masks]
        else:
            m, k, block = i % MP, i // MP % depth, i // MP // depth
            if m < MT and block * MT + m < M:
                value = w[block * MT + m, k]
        arranged[i] = value


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a Plan. No errors of its own. Source: the course's own."""
    s = plan.s
    M, K_h, K_w, s_h, s_w, H_OUT, W_OUT, MAP = s.M, s.K_h, s.K_w, s.s_h, s.s_w, s.H_out, s.W_out, s.H_out * s.W_out
    TM, TH, TW, RG, NI, BC, CG = plan.TM, plan.TH, plan.TW, plan.RG, plan.NI, plan.BC, plan.CG
    THREADS, UNITS, BANDS, MAP_BLOCKS, CHUNKS = plan.threads, plan.units, plan.bands, plan.map_blocks, plan.chunks
    BAND, MT, MP, PITCH, ROWS = RG * TH, plan.MG * TM, plan.pitch_maps, plan.pitch, plan.rows
    IMAGE, STAGE, MASKS, FILLED = plan.image, plan.stage, plan.masks, NI * plan.image
    X_SHARED, W_SHARED = STAGE * plan.stages, MASKS * plan.stages
    READ, WRITE = plan.access, next(n for n in (4, 2, 1) if W_OUT % n == 0 and TW % n == 0)
    WINDOW = -(-plan.window // READ) * READ
    SUMS, SEEN, FOURS, REST = TM * TH * TW, TH * WINDOW, TM // 4, TM % 4
    BIAS, BLOCKS = MAP_BLOCKS * s.depth * MP, plan.blocks
    fetch = make_fetch(plan)

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_forward_v06(x, w, B, y):
        xs = cuda.shared.array(X_SHARED, float32, alignment=16)
        ws = cuda.shared.array(W_SHARED, float32, alignment=16)
        acc = cuda.local.array(SUMS, float32)
        seen = cuda.local.array(SEEN, float32)

        # Who am I: threads without work do the last one's again, and write nothing.
        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        u = min(t, UNITS - 1)
        col, row = u % CG * TW, u // CG % RG
        image, group = u // (CG * RG) % NI, u // (CG * RG * NI)
        map_block, top, first = (
            block % MAP_BLOCKS,
            block // MAP_BLOCKS % BANDS * BAND,
            block // (MAP_BLOCKS * BANDS) * NI,
        )
        for i in range(SUMS):
            acc[i] = float32(0)
        for i in range(FILLED + t, STAGE, THREADS):  # the end of a stage, where the last windows reach over
            for stage in range(0, X_SHARED, STAGE):
                xs[stage + i] = float32(0)

        # While a stage is computed with, the next one is on its way.
        fetch(x, w, B, first, top, map_block, 0, xs, ws)
        cp_async_commit()
        for chunk in range(CHUNKS):
            if chunk + 1 < CHUNKS:
                fetch(x, w, B, first, top, map_block, chunk + 1, xs, ws)
            cp_async_commit()
            cp_async_wait1()
            cuda.syncthreads()
            at_x = chunk % 2 * STAGE + image * IMAGE + row * s_h * PITCH + col * s_w
            at_w = chunk % 2 * MASKS + group * TM
            for _ in range(BC):
                for _ in range(K_h):
                    for i in range(TH):
                        for j in range(0, WINDOW, READ):
                            o, k = i * WINDOW + j, nonneg(at_x + i * (RG * s_h * PITCH) + j)
                            if READ == 4:
                                seen[o], seen[o + 1], seen[o + 2], seen[o + 3] = ld4(xs, k)
                            elif READ == 2:
                                seen[o], seen[o + 1] = ld2(xs, k)
                            else:
                                seen[o] = xs[k]
                    for q in unroll(K_w):
                        for m in range(FOURS):
                            w0, w1, w2, w3 = ld4(ws, nonneg(at_w + q * MP + m * 4))
                            for i in range(TH):
                                for j in range(TW):
                                    pixel = seen[i * WINDOW + j * s_w + q]
                                    acc[((m * 4 + 0) * TH + i) * TW + j] += w0 * pixel
                                    acc[((m * 4 + 1) * TH + i) * TW + j] += w1 * pixel
                                    acc[((m * 4 + 2) * TH + i) * TW + j] += w2 * pixel
                                    acc[((m * 4 + 3) * TH + i) * TW + j] += w3 * pixel
                        for m in range(REST):
                            weight = ws[nonneg(at_w + q * MP + FOURS * 4 + m)]
                            for i in range(TH):
                                for j in range(TW):
                                    acc[((FOURS * 4 + m) * TH + i) * TW + j] += weight * seen[i * WINDOW + j * s_w + q]
                    at_x += PITCH
                    at_w += K_w * MP
                at_x += (ROWS - K_h) * PITCH
            if CHUNKS > 1:
                cuda.syncthreads()  # nobody may fill a stage that others still read

        if t < UNITS and first + image < B:
            for m in range(TM):
                the_map = map_block * MT + group * TM + m
                if the_map < M:
                    bias = w[BIAS + the_map]
                    for i in range(TH):
                        h = top + row + i * RG
                        if h < H_OUT:
                            k = ((first + image) * M + the_map) * MAP + h * W_OUT + col
                            for j in range(0, TW, WRITE):
                                if col + j < W_OUT:
                                    o = (m * TH + i) * TW + j
                                    if WRITE == 4:
                                        st4(y, nonneg(k + j), acc[o] + bias, acc[o + 1] + bias, acc[o + 2] + bias,
                                            acc[o + 3] + bias)  # fmt: skip
                                    elif WRITE == 2:
                                        st2(y, nonneg(k + j), acc[o] + bias, acc[o + 1] + bias)
                                    else:
                                        y[nonneg(k + j)] = acc[o] + bias

    return _conv2d_forward_v06


def conv2d_forward_v06_specialised(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    The first launch for a layer shape makes and compiles a kernel for it. A mask too large for shared memory, and cards
    before compute capability 8.0, are v05's work.

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Specialization for the LeNet-5 C1 Layer".
    """
    launch_planned(x, w, b, y, stride, pad, plan_of=plan, launch=launch,
                   otherwise=conv2d_forward_v05_register_tiled, here=compute_capability() >= AMPERE)  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Arrange the weights, and launch the kernel of a Plan on checked arrays (...).

    No errors. Source: the course's own.
    """
    arranged = gpu.empty(plan.map_blocks * plan.s.depth * plan.pitch_maps + plan.s.M, np.float32)
    rows = w.reshape(plan.s.M, plan.s.depth)
    _arrange[-(-arranged.size // THREADS), THREADS](rows, b, biased, plan.MG * plan.TM, plan.pitch_maps, arranged)
    B = int(x.shape[0])
    blocks = -(-B // plan.NI) * plan.bands * plan.map_blocks
    make(plan)[blocks, plan.threads](x.reshape(x.size), arranged, B, y.reshape(y.size))


def traffic(s):
    """Return what the executor counts over both launches, for Sizes that the plan cuts into whole tiles, with a bias.

    Whole tiles: `plan(s).whole`, NI divides B, TW divides W_out, and MG TM, a multiple of 4, divides M.

    No errors. Source: the course's own.
    """
    p = plan(replace(s, B=0))
    blocks = s.B // p.NI * p.bands * p.map_blocks
    warps, active = p.threads // 32, -(-p.units // 32)
    masks = p.map_blocks * s.depth * p.pitch_maps
    piece = next(n for n in (4, 2, 1) if s.W_out % n == 0 and p.TW % n == 0)
    window = -(-p.window // p.access)
    arranging = -(-masks // 32) + -(-(masks + s.M) // 32) - masks // 32, -(-(masks + s.M) // 32)
    fetching = -(-p.NI * p.image // 128) + -(-p.masks // 128)
    return {
        "global_load_requests": arranging[0] + blocks * (fetching + active * p.TM),
        "global_store_requests": arranging[1] + blocks * active * p.TM * p.TH * (p.TW // piece),
        "shared_load_requests": blocks * warps * s.C * s.K_h * (p.TH * window + s.K_w * (p.TM // 4 + p.TM % 4)),
    }
