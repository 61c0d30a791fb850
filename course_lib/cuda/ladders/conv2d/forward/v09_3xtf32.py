"""Tensor cores once more, tap by tap: a step is eight input maps under one position of the mask.

In v07 a step is eight positions of one map's mask, and a table says where they lie. Here a step's eight products are
the same tap of eight input maps: from tap to tap all addresses grow by one number, which is part of the instruction,
so that nothing is looked up or added. A warp has 64 maps of 32 pixels and reads 12 times for 48 instructions; v07 has
32 maps and reads 12 times for 24. The input comes by 16 bytes a copy: the padding of a row is the space between rows,
which is zero and stays zero. Pixels are counted through rows and images, so that all tiles are full and blocks alike.

    y[m, pixel] = b[m] + sum over chunks    sum over taps (p, q), maps c of the chunk    w[m, c, p, q] x[c, pixel + p q]
                         outside, in `acc`  inside the tensor cores, which cut where float32 rounds

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; H. Ootomo and R. Yokota, "Recovering single precision
accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import (
    cp_async4_part,
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    ld4,
    mma_tf32,
    nonneg,
    st2,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.planned import launch_planned, require_tf32
from course_lib.cuda.ladders.conv2d.forward.tap_plan import DEPTH, plan_taps
from course_lib.cuda.ladders.conv2d.forward.v07_tensor_cores import conv2d_forward_v07_tensor_cores
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_taps(w, b, biased, MG, arranged):
    """arranged[map block, chunk, tap, group, lane, h] = the weight that is a[h] of this lane; behind that the bias.

    One thread, one number; zeros where there is no output map or no input map.
    """
    M, C, taps = w.shape
    masks, chunks = arranged.size - M, (C + DEPTH - 1) // DEPTH
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        value = float32(0)
        if i >= masks:
            if biased:
                value = b[i - masks]
        else:
            h, lane, group, rest = i % 4, i // 4 % 32, i // 128 % MG, i // (128 * MG)
            tap, chunk, block = rest % taps, rest // taps % chunks, rest // (taps * chunks)
            m = (block * MG + group) * 16 + lane // 4 + 8 * (h % 2)
            c = chunk * DEPTH + lane % 4 + 4 * (h // 2)
            if m < M and c < C:
                value = w[m, c, tap]
        arranged[i] = value


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a TapPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    C, M, H, W, K_h, K_w, W_OUT = s.C, s.M, s.H, s.W, s.K_h, s.K_w, s.W_out
    s_h, s_w, p_h, p_w = s.s_h, s.s_w, s.p_h, s.p_w
    MAP, HW, CHW = s.H_out * s.W_out, s.H * s.W, s.C * s.H * s.W
    THREADS, BLOCKS, MG, TILES, STAGES = plan.threads, plan.blocks, plan.MG, plan.TW, plan.STAGES
    MAP_BLOCKS, CHUNKS, PIXELS, HIGH, ROWS = plan.map_blocks, plan.chunks, plan.pixels, plan.high, plan.rows
    MARGIN, PITCH, PLANE, IMAGE, MASKS, PIECE = plan.margin, plan.pitch, plan.plane, plan.image, plan.masks, plan.piece
    STAGE, END, AHEAD, LOWER = plan.image + plan.masks, STAGES * (plan.image + plan.masks), STAGES - 1, 4 * plan.plane
    ZEROS, TEAM, ACROSS = STAGES * DEPTH * (ROWS + 1) * MARGIN, THREADS // DEPTH, W // PIECE
    SUMS, WEIGHTS, FOURS = 4 * MG * TILES, 4 * MG, MASKS // 4
    WHOLE, PAIRS, BIAS = C % DEPTH == 0, MAP % 2 == 0, MAP_BLOCKS * CHUNKS * MASKS
    wait = cp_async_wait0 if STAGES == 2 else cp_async_wait1

    @jit(device=True, forceinline=True)
    def fetch(x, w, map_block, chunk, to, count, rows, shared):
        """Begin to copy a chunk of input maps, `count` rows of each, and its weights to the stage at `to`."""
        t = nonneg(cuda.threadIdx.x)
        team, member = t // TEAM, t % TEAM  # a team, a map
        source, at = (chunk * DEPTH + team) * HW, to + team * PLANE + MARGIN
        for i in range(member, count * ACROSS, TEAM):
            r, across = i // ACROSS, i % ACROSS * PIECE
            row = rows[r]
            inside = row >= 0 and (WHOLE or chunk * DEPTH + team < C)
            k = source + row + across if inside else 0
            if PIECE == 4:
                cp_async16_part(shared, nonneg(at + r * PITCH + across), x, nonneg(k), 4 if inside else 0)
            else:
                cp_async4_part(shared, nonneg(at + r * PITCH + across), x, nonneg(k), 1 if inside else 0)
        for i in range(t, FOURS, THREADS):
            cp_async16(shared, nonneg(to + IMAGE + 4 * i), w, nonneg((map_block * CHUNKS + chunk) * MASKS + 4 * i))

    @jit(device=True, forceinline=True)
    def multiply(part, j, a, b_0, b_1):
        """Add all maps, operands a, times the tile j, operand (b_0, b_1), to part."""
        for m in range(MG):
            i = 4 * (m * TILES + j)
            part[i], part[i + 1], part[i + 2], part[i + 3] = mma_tf32(
                (a[4 * m], a[4 * m + 1], a[4 * m + 2], a[4 * m + 3]), (b_0, b_1),
                (part[i], part[i + 1], part[i + 2], part[i + 3]),
            )  # fmt: skip

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_forward_v09(x, w, B, y):
        # who am I
        shared = cuda.shared.array(0, float32, 16)  # stages: input maps, then weights
        rows = cuda.shared.array(ROWS, int32)  # where a row lies in x, within its map; -1 for one of the padding
        acc, part = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)
        big, small = cuda.local.array(WEIGHTS, uint32), cuda.local.array(WEIGHTS, uint32)
        base = cuda.local.array(TILES, int32)
        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        lane = t % 32
        g, q = lane // 4, lane % 4
        map_block, first, total = block % MAP_BLOCKS, block // MAP_BLOCKS * PIXELS, B * MAP
        mine = first + t // 32 * (8 * TILES)
        last = min(first + PIXELS, total) - 1
        top = first // MAP * HIGH + first % MAP // W_OUT * s_h
        count = last // MAP * HIGH + last % MAP // W_OUT * s_h + K_h - top
        for r in range(t, count, THREADS):
            n, h = (top + r) // HIGH, (top + r) % HIGH - p_h
            rows[r] = n * CHW + h * W if h >= 0 and h < H else -1
        for i in range(t, ZEROS, THREADS):
            r, k = i // MARGIN, i % MARGIN
            stage, plane = r // ((ROWS + 1) * DEPTH), r // (ROWS + 1) % DEPTH
            shared[stage * STAGE + plane * PLANE + r % (ROWS + 1) * PITCH + k] = float32(0)
        for j in range(TILES):
            pixel = min(mine + 8 * j + g, total - 1)
            row = pixel // MAP * HIGH + pixel % MAP // W_OUT * s_h - top
            base[j] = q * PLANE + row * PITCH + MARGIN - p_w + pixel % W_OUT * s_w
        for i in range(SUMS):
            acc[i] = float32(0)
        cuda.syncthreads()  # the places of rows are there

        # fill all stages but one
        for chunk in range(AHEAD):
            if chunk < CHUNKS:
                fetch(x, w, map_block, chunk, chunk * STAGE, count, rows, shared)
            cp_async_commit()
        stage, free = 0, AHEAD * STAGE
        for chunk in range(CHUNKS):
            wait()  # my copies to this stage are there,
            cuda.syncthreads()  # everybody's are, and nobody reads the stage that was used last
            if chunk + AHEAD < CHUNKS:
                fetch(x, w, map_block, chunk + AHEAD, free, count, rows, shared)
            cp_async_commit()
            for i in range(SUMS):
                part[i] = float32(0)
            at_x, at_w = stage, stage + IMAGE + 4 * lane
            for _ in range(K_h):
                for tap in unroll(K_w):
                    for m in range(MG):
                        w_0, w_1, w_2, w_3 = ld4(shared, nonneg(at_w + (tap * MG + m) * 128))
                        big[4 * m], small[4 * m] = two_parts(w_0)
                        big[4 * m + 1], small[4 * m + 1] = two_parts(w_1)
                        big[4 * m + 2], small[4 * m + 2] = two_parts(w_2)
                        big[4 * m + 3], small[4 * m + 3] = two_parts(w_3)
                    for j in range(0, TILES, 2):  # two tiles, so that no instruction waits for the one before it
                        b_0, s_0 = two_parts(shared[nonneg(at_x + base[j]) + tap])
                        b_1, s_1 = two_parts(shared[nonneg(at_x + base[j]) + tap + LOWER])
                        b_2, s_2 = two_parts(shared[nonneg(at_x + base[j + 1]) + tap])
                        b_3, s_3 = two_parts(shared[nonneg(at_x + base[j + 1]) + tap + LOWER])
                        multiply(part, j, small, b_0, b_1)  # small products first
                        multiply(part, j + 1, small, b_2, b_3)
                        multiply(part, j, big, s_0, s_1)
                        multiply(part, j + 1, big, s_2, s_3)
                        multiply(part, j, big, b_0, b_1)
                        multiply(part, j + 1, big, b_2, b_3)
                at_x += PITCH
                at_w += K_w * MG * 128
            for i in range(SUMS):
                acc[i] += part[i]
            free = stage
            stage = stage + STAGE if stage + STAGE < END else 0

        for j in range(TILES):  # a lane has the pixels 2 q and 2 q + 1 of a tile, for the maps g and g + 8
            for e in range(0, 2, 2 if PAIRS else 1):
                pixel = mine + 8 * j + 2 * q + e
                if pixel < total:
                    k = pixel // MAP * (M * MAP) + pixel % MAP
                    for m in range(MG):
                        for half in range(2):
                            the_map = (map_block * MG + m) * 16 + 8 * half + g
                            if the_map < M:
                                i = 4 * (m * TILES + j) + 2 * half + e
                                to, bias = nonneg(k + the_map * MAP), w[BIAS + the_map]
                                if PAIRS:
                                    st2(y, to, acc[i] + bias, acc[i + 1] + bias)
                                else:
                                    y[to] = acc[i] + bias

    return _conv2d_forward_v09


made_for = plan_taps
"""Sizes -> the plan for a layer that this rung is made for, or None."""


def conv2d_forward_v09_3xtf32(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Layers of fewer than 8 input or 24 output maps, and what does not fit into shared memory, are v07's work. An
    infinity in x or w gives NaN in y: the rest of an infinity is none.

    Errors: TypeError and ValueError as `check_launch`; DeviceError before compute capability 8.0.

    Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8".
    """
    require_tf32()
    launch_planned(x, w, b, y, stride, pad, plan_of=plan_taps, launch=launch,
                   otherwise=conv2d_forward_v07_tensor_cores)  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Arrange the weights, and launch the kernel of a TapPlan on checked arrays (...).

    No errors. Source: the course's own.
    """
    s = plan.s
    arranged = gpu.empty(plan.map_blocks * plan.chunks * plan.masks + s.M, np.float32)
    taps = w.reshape(s.M, s.C, plan.taps)
    _arrange_taps[-(-arranged.size // ARRANGING), ARRANGING](taps, b, biased, plan.MG, arranged)
    B = int(x.shape[0])
    make(plan)[plan.grid(B), plan.threads, 0, plan.shared](x.reshape(x.size), arranged, B, y.reshape(y.size))


def traffic(s):
    """Return what the executor counts over both launches, for Sizes cut into whole tiles, with a bias.

    Whole tiles: the pixels of a block divide all pixels, an image has an even number, and 16 MG divides M.

    No errors. Source: the course's own.
    """
    p = plan_taps(replace(s, B=0))
    pixels, masks = s.B * s.H_out * s.W_out, p.map_blocks * p.chunks * p.masks
    firsts = range(0, pixels, p.pixels)
    blocks, team = len(firsts) * p.map_blocks, p.threads // DEPTH
    rows = [p.row(first + p.pixels - 1) + s.K_h - p.row(first) for first in firsts]
    copies = p.chunks * p.warps * p.map_blocks * sum(-(-n * (s.W // p.piece) // team) for n in rows)
    steps = blocks * p.warps * p.chunks * p.taps
    results = blocks * p.warps * p.TW * p.MG * 2  # halves of tiles, each with a bias of its own
    split, added = 4 * p.MG + 2 * p.TW, 4 * p.MG * p.TW
    return {
        "global_load_requests": masks // 32 + -(-s.M // 32) + copies + blocks * p.chunks * p.masks // 128 + results,
        "global_store_requests": -(-(masks + s.M) // 32) + results,
        "shared_load_requests": copies + steps * (p.MG + 2 * p.TW),
        "flops": 3 * steps * p.TW * p.MG * 2 * 16 * 8 * 8
        + 32 * (steps * split + blocks * p.warps * (p.chunks + 1) * added),
    }
