"""Tensor cores multiply, in three products of TF32 numbers that add up to float32.

One instruction of a warp makes 1,024 multiply-adds, 32 a lane; three of them do what 32 FFMA do in v06. The implicit
product of v04 once more: 16 maps x 8 pixels, 8 products deep, are one instruction of a warp. The input lies in shared
memory as v06's image, and a table says where in it the k-th product of a pixel is. A TF32 number has 11 of float32's 24
bits, so weights and pixels are split into a big and a small part; small times small is left out. Tensor cores cut sums
off where float32 rounds, so few products are added up inside, and the rest outside, in float32.

Source: H, "Strategies for Lab 7", 3; NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; H. Ootomo and R. Yokota,
"Recovering Single Precision Accuracy from Tensor Cores While Surpassing the FP32 Theoretical Peak Performance".
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import (
    chop_tf32,
    cp_async_commit,
    cp_async_wait1,
    ld4,
    mma_tf32,
    nonneg,
    st2,
)  # fmt: skip
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.planned import launch_planned, require_tf32
from course_lib.cuda.ladders.conv2d.forward.stage import make_fetch
from course_lib.cuda.ladders.conv2d.forward.tensor_plan import plan_tensor_cores
from course_lib.cuda.ladders.conv2d.forward.v06_specialised import conv2d_forward_v06_specialised
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_fragments(w, b, biased, BC_KK, STEPS, MG, arranged):
    """arranged[block, chunk, step, group, lane, h] = the weight that is a[h] of this lane; behind that the bias.

    One thread, one number; zeros where there is no map or no product.
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
            h, lane, group, rest = i % 4, i // 4 % 32, i // 128 % MG, i // (128 * MG)
            step, chunk, block = rest % STEPS, rest // STEPS % (depth // BC_KK), rest // STEPS // (depth // BC_KK)
            m = (block * MG + group) * 16 + lane // 4 + 8 * (h % 2)
            k = step * 8 + lane % 4 + 4 * (h // 2)
            if m < M and k < BC_KK:
                value = w[m, chunk * BC_KK + k]
        arranged[i] = value


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a TensorPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    M, K_h, K_w, s_h, s_w, W_OUT, MAP = s.M, s.K_h, s.K_w, s.s_h, s.s_w, s.W_out, s.H_out * s.W_out
    MG, RG, NI, BC, TILES, WARPS, PASSES = plan.MG, plan.RG, plan.NI, plan.BC, plan.TW, plan.warps, plan.passes
    THREADS, BLOCKS, BANDS, MAP_BLOCKS, CHUNKS = plan.threads, plan.blocks, plan.bands, plan.map_blocks, plan.chunks
    IMAGE, STAGE, MASKS, PITCH, ROWS = plan.image, plan.stage, plan.masks, plan.pitch, plan.rows
    X_SHARED, W_SHARED, STEPS, FILLED = STAGE * plan.stages, MASKS * plan.stages, plan.steps, NI * plan.image
    PIXELS, ALL, TABLE, KK, BC_KK = plan.pixels, NI * plan.pixels, plan.steps * 8, K_h * K_w, BC * K_h * K_w
    SUMS, WEIGHTS, FEW = 4 * MG * TILES, 4 * MG, plan.inside
    PAIRS = MAP % 2 == 0 and PIXELS % 2 == 0
    BIAS = MAP_BLOCKS * CHUNKS * MASKS
    fetch = make_fetch(plan)

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_forward_v07(x, w, B, y):
        xs = cuda.shared.array(X_SHARED, float32, alignment=16)
        ws = cuda.shared.array(W_SHARED, float32, alignment=16)
        table = cuda.shared.array(TABLE, int32)
        acc, part = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)
        big, small = cuda.local.array(WEIGHTS, uint32), cuda.local.array(WEIGHTS, uint32)
        base = cuda.local.array(TILES, int32)

        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        warp, lane = t // 32, t % 32
        g, q = lane // 4, lane % 4
        map_block, first = block % MAP_BLOCKS, block // (MAP_BLOCKS * BANDS) * NI
        top = block // MAP_BLOCKS % BANDS * RG
        for k in range(t, TABLE, THREADS):  # where product k of a pixel lies; behind the last: anywhere, weights are 0
            place = 0
            if k < BC_KK:
                place = (k // KK * ROWS + k // K_w % K_h) * PITCH + k % K_w
            table[k] = place
        for i in range(FILLED + t, STAGE, THREADS):
            for stage in range(0, X_SHARED, STAGE):
                xs[stage + i] = float32(0)

        fetch(x, w, B, first, top, map_block, 0, xs, ws)
        cp_async_commit()
        for turn in range(PASSES):
            begin = (turn * WARPS + warp) * TILES * 8
            for j in range(TILES):
                pixel = min(begin + j * 8 + g, ALL - 1)
                inside = pixel % PIXELS
                base[j] = pixel // PIXELS * IMAGE + inside // W_OUT * (s_h * PITCH) + inside % W_OUT * s_w
            for i in range(SUMS):
                acc[i] = float32(0)
            for chunk in range(CHUNKS):
                if chunk + 1 < CHUNKS:
                    fetch(x, w, B, first, top, map_block, chunk + 1, xs, ws)
                if turn == 0:
                    cp_async_commit()
                    cp_async_wait1()
                    cuda.syncthreads()
                at_x, at_w = chunk % 2 * STAGE, chunk % 2 * MASKS + lane * 4
                for begin_step in range(0, STEPS, FEW):
                    for i in range(SUMS):
                        part[i] = float32(0)
                    for step in range(begin_step, min(begin_step + FEW, STEPS)):
                        lower = nonneg(at_x + table[step * 8 + q])
                        upper = nonneg(at_x + table[step * 8 + 4 + q])
                        for m in range(MG):
                            w0, w1, w2, w3 = ld4(ws, nonneg(at_w + (step * MG + m) * 128))
                            big[4 * m], small[4 * m] = chop_tf32(w0)
                            big[4 * m + 1], small[4 * m + 1] = chop_tf32(w1)
                            big[4 * m + 2], small[4 * m + 2] = chop_tf32(w2)
                            big[4 * m + 3], small[4 * m + 3] = chop_tf32(w3)
                        for j in unroll(TILES):
                            big_0, small_0 = chop_tf32(xs[nonneg(base[j]) + lower])
                            big_1, small_1 = chop_tf32(xs[nonneg(base[j]) + upper])
                            for m in range(MG):
                                i = 4 * (m * TILES + j)
                                a = big[4 * m], big[4 * m + 1], big[4 * m + 2], big[4 * m + 3]
                                rest = small[4 * m], small[4 * m + 1], small[4 * m + 2], small[4 * m + 3]
                                c = part[i], part[i + 1], part[i + 2], part[i + 3]
                                c = mma_tf32(rest, (big_0, big_1), c)
                                c = mma_tf32(a, (small_0, small_1), c)
                                part[i], part[i + 1], part[i + 2], part[i + 3] = mma_tf32(a, (big_0, big_1), c)
                    for i in range(SUMS):
                        acc[i] += part[i]
                if CHUNKS > 1:
                    cuda.syncthreads()  # nobody may fill a stage that others still read

            for j in range(TILES):  # a lane has the pixels 2 q and 2 q + 1 of a tile, for the maps g and g + 8
                for e in range(0, 2, 2 if PAIRS else 1):
                    pixel = begin + j * 8 + 2 * q + e
                    n = first + pixel // PIXELS
                    place = top * W_OUT + pixel % PIXELS
                    if pixel < ALL and n < B and place < MAP:
                        for m in range(MG):
                            for half in range(2):
                                the_map = (map_block * MG + m) * 16 + 8 * half + g
                                if the_map < M:
                                    i = 4 * (m * TILES + j) + 2 * half + e
                                    k, bias = nonneg((n * M + the_map) * MAP + place), w[BIAS + the_map]
                                    if PAIRS:
                                        st2(y, k, acc[i] + bias, acc[i + 1] + bias)
                                    else:
                                        y[k] = acc[i] + bias

    return _conv2d_forward_v07


def conv2d_forward_v07_tensor_cores(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    A layer of fewer than 12 output maps would leave most of a tensor core idle: v06 takes it, and whatever does not
    fit into shared memory.

    Errors: TypeError and ValueError as `check_launch`; DeviceError before compute capability 8.0.

    Source: H, "Strategies for Lab 7", 3.
    """
    require_tf32()
    launch_planned(x, w, b, y, stride, pad, plan_of=plan_tensor_cores, launch=launch,
                   otherwise=conv2d_forward_v06_specialised)  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Arrange the weights, and launch the kernel of a TensorPlan on checked arrays (...).

    No errors. Source: the course's own.
    """
    s = plan.s
    arranged = gpu.empty(plan.map_blocks * plan.chunks * plan.masks + s.M, np.float32)
    _arrange_fragments[-(-arranged.size // ARRANGING), ARRANGING](
        w.reshape(s.M, s.depth), b, biased, plan.BC * s.K_h * s.K_w, plan.steps, plan.MG, arranged
    )
    B = int(x.shape[0])
    blocks = -(-B // plan.NI) * plan.bands * plan.map_blocks
    make(plan)[blocks, plan.threads](x.reshape(x.size), arranged, B, y.reshape(y.size))


def traffic(s):
    """Return what the executor counts over both launches, for Sizes cut into whole tiles, with a bias.

    Whole tiles: `whole`, NI divides B, all tiles of all warps have 8 pixels of one image, 16 MG divides M, and
    8 divides the products of a chunk.

    No errors. Source: the course's own.
    """
    p = plan_tensor_cores(replace(s, B=0))
    blocks = s.B // p.NI * p.bands * p.map_blocks
    masks = p.map_blocks * p.chunks * p.masks
    arranging = -(-masks // 32) + -(-(masks + s.M) // 32) - masks // 32, -(-(masks + s.M) // 32)
    results = p.passes * p.warps * p.TW * p.MG * 2  # halves of tiles, each with a bias of its own
    per_pass = p.chunks * p.steps * (2 + p.MG + 2 * p.TW)
    added = blocks * p.passes * p.threads * 4 * p.MG * p.TW * (p.chunks * -(-p.steps // p.inside) + 1)
    multiplied = blocks * p.passes * p.warps * p.chunks * p.steps * p.TW * p.MG
    return {
        "global_load_requests": arranging[0] + blocks * (-(-p.NI * p.image // 128) + -(-p.masks // 128) + results),
        "global_store_requests": arranging[1] + blocks * results,
        "shared_load_requests": blocks * p.passes * p.warps * per_pass,
        "flops": 3 * multiplied * 2 * 16 * 8 * 8 + added,
    }
