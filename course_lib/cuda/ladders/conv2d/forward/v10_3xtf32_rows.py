"""Tensor cores for few input maps: a row of pixels, once in registers, serves all output rows that look at it.

In v07 and v09 a pixel is read and split again for every position of the mask. Here a warp has 8 columns of TR output
rows, and goes down the input rows: what it has read of one, 8 products of each output, it multiplies by the weights of
all K_h mask rows, for the K_h output rows that look at this row. The weights of a phase stay in registers, split once.

    input row r, phase f:    for p in 0 ... K_h - 1:    y[:, r - p] += w[:, p, products of f] x[products of f, r]

A mask row has C K_w products an output, and 8 are a phase's; for 4 maps and 7 columns 4 are left over, and those of two
mask rows are one step: 25 steps for 24.5. One step's sum, which tensor cores cut, is added outside, in float32. Rows of
x arrive a few at a time, stages ahead, and columns are counted through images, so that all tiles are full.

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; H, "Specialization for the LeNet-5 C1 Layer"; H. Ootomo
and R. Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
performance" (2022).
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
from course_lib.cuda.ladders.conv2d.forward.row_plan import plan_rows
from course_lib.cuda.ladders.conv2d.forward.v09_3xtf32 import conv2d_forward_v09_3xtf32
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_rows(w, b, biased, phases, steps, arranged):
    """arranged[map block, step, lane, h] = the weight that is a[h] of this lane; behind that the bias.

    Step f K_h + p: products 8 f to 8 f + 7 of mask row p; behind these, two mask rows a step. One thread, one number;
    zeros where there is no map or no product.
    """
    M, C, K_h, K_w = w.shape
    masks = arranged.size - M
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        value = float32(0)
        if i >= masks:
            if biased:
                value = b[i - masks]
        else:
            h, lane, step, block = i % 4, i // 4 % 32, i // 128 % steps, i // 128 // steps
            m = block * 16 + lane // 4 + 8 * (h % 2)
            p, product = step % K_h, step // K_h * 8 + lane % 4 + 4 * (h // 2)
            if step >= phases * K_h:
                p, product = 2 * (step - phases * K_h) + h // 2, phases * 8 + lane % 4
            if m < M and p < K_h and product < C * K_w:
                value = w[m, product % C, p, product // C]
        arranged[i] = value


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a RowPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    C, M, H, W, K_h, s_w, p_h, p_w, H_OUT, W_OUT = s.C, s.M, s.H, s.W, s.K_h, s.s_w, s.p_h, s.p_w, s.H_out, s.W_out
    MAP, HW, THREADS, BLOCKS, TILES = s.H_out * s.W_out, s.H * s.W, plan.threads, plan.blocks, plan.TW
    MAP_BLOCKS, COLUMNS, IMAGES, RS, STAGES = plan.map_blocks, plan.columns, plan.images, plan.RS, plan.STAGES
    MARGIN, PITCH, PLANE, STAGE, MASKS, PIECE = plan.margin, plan.pitch, plan.plane, plan.stage, plan.masks, plan.piece
    PHASES, PAIRS, PRODUCTS, ROWS, TURNS = plan.phases, plan.pairs, plan.products, plan.rows, plan.turns
    END, AHEAD, LINE, ACROSS, LAST = plan.masks + STAGES * STAGE, STAGES - 1, IMAGES * PITCH, W // PIECE, K_h - 1
    COPIES, FOURS, BIAS = C * RS * IMAGES * (W // PIECE), MASKS // 4, MAP_BLOCKS * MASKS
    ROW, SUMS, BY_TWO, PARTS, ZEROS = 4 * TILES, 4 * TILES * K_h, -(-K_h // 2), 8 * TILES, STAGES * STAGE
    PLACED, PAIR_TURNS = 1 if W_OUT % 2 == 0 else 2, max(1, PAIRS)  # 1: neighbours are of one image
    OUTS = PLACED * TILES
    ZERO = 0  # ZERO + 3 is no literal: for f(3) and f(2) Numba compiles a device function f twice
    wait = cp_async_wait0 if STAGES == 2 else cp_async_wait1

    @jit(device=True, forceinline=True)
    def fetch(x, B, first, turn, to, shared):
        """Begin to copy RS rows of all input maps of the images from number `first` on to the stage at `to`."""
        for i in range(nonneg(cuda.threadIdx.x), COPIES, THREADS):
            i = uint32(i)  # divisions of 32 bits are multiplications
            line, across = uint32(i // ACROSS), i % ACROSS * PIECE
            image, r, c = line % IMAGES, uint32(line // IMAGES) % RS, line // (IMAGES * RS)
            h, n = turn * RS + r - p_h, first + image
            inside = h >= 0 and h < H and n < B
            k = (n * C + c) * HW + h * W + across if inside else 0
            at = to + c * PLANE + r * LINE + image * PITCH + MARGIN + across
            if PIECE == 4:
                cp_async16_part(shared, nonneg(at), x, nonneg(k), 4 if inside else 0)
            else:
                cp_async4_part(shared, nonneg(at), x, nonneg(k), 1 if inside else 0)

    @jit(device=True, forceinline=True)
    def weights(shared, at, k, big, small):
        """Bring a step's weights into registers, split: operand k."""
        w_0, w_1, w_2, w_3 = ld4(shared, nonneg(at))
        big[4 * k], small[4 * k] = two_parts(w_0)
        big[4 * k + 1], small[4 * k + 1] = two_parts(w_1)
        big[4 * k + 2], small[4 * k + 2] = two_parts(w_2)
        big[4 * k + 3], small[4 * k + 3] = two_parts(w_3)

    @jit(device=True, forceinline=True)
    def multiply(part, k, a, b_0, b_1):
        """part[k, j] += operand k of `a` times tile j of b, for all tiles."""
        for j in range(TILES):
            i = k * ROW + 4 * j
            part[i], part[i + 1], part[i + 2], part[i + 3] = mma_tf32(
                (a[4 * k], a[4 * k + 1], a[4 * k + 2], a[4 * k + 3]), (b_0[j], b_1[j]),
                (part[i], part[i + 1], part[i + 2], part[i + 3]),
            )  # fmt: skip

    @jit(device=True, forceinline=True)
    def two_masks(shared, at, two, big, small, b_0, b_1, s_0, s_1, part, acc):
        """Add what mask rows 2 two and 2 two + 1 make of operands b and s; their weights lie from `at` on.

        Two mask rows, so that no instruction waits for the one before it.
        """
        for i in range(PARTS):
            part[i] = float32(0)
        for k in range(min(2, K_h - 2 * two)):
            weights(shared, at + (2 * two + k) * 128, k, big, small)
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k, small, b_0, b_1)  # small products first
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k, big, s_0, s_1)
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k, big, b_0, b_1)
        for k in range(min(2, K_h - 2 * two)):
            for i in range(ROW):
                acc[(2 * two + k) * ROW + i] += part[k * ROW + i]

    @jit(device=True, forceinline=True)
    def left_over(shared, at, p, big, small, b_0, b_1, s_0, s_1, part, acc):
        """Add what mask row p makes of operands 1, of a row, and p - 1 of operands 0, of the row above."""
        for i in range(ROW):
            part[i] = float32(0)
        weights(shared, at, 0, big, small)
        multiply(part, 0, small, b_0, b_1)
        multiply(part, 0, big, s_0, s_1)
        multiply(part, 0, big, b_0, b_1)
        for i in range(ROW):
            acc[p * ROW + i] += part[i]

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_forward_v10(x, w, B, y):
        # who am I
        shared = cuda.shared.array(0, float32, 16)  # weights, then stages of x
        acc, part = cuda.local.array(SUMS, float32), cuda.local.array(PARTS, float32)  # acc: mask row, tile, register
        big, small = cuda.local.array(8, uint32), cuda.local.array(8, uint32)
        b_0, b_1 = cuda.local.array(TILES, uint32), cuda.local.array(TILES, uint32)
        s_0, s_1 = cuda.local.array(TILES, uint32), cuda.local.array(TILES, uint32)
        before, rest = cuda.local.array(TILES, uint32), cuda.local.array(TILES, uint32)  # left over of the row above
        base, out = cuda.local.array(TILES, int32), cuda.local.array(OUTS, int32)
        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        lane = t % 32
        g, q = lane // 4, lane % 4
        map_block, column = block % MAP_BLOCKS, block // MAP_BLOCKS * COLUMNS
        first, total = int32(column // W_OUT), B * W_OUT
        tile = column + t // 32 * (8 * TILES)
        upper, lower = map_block * 16 + g, map_block * 16 + 8 + g
        for j in range(TILES):
            column = min(tile + 8 * j + g, total - 1)
            base[j] = (column // W_OUT - first) * PITCH + column % W_OUT * s_w + MARGIN - p_w
            before[j], rest[j] = uint32(0), uint32(0)
            for e in range(PLACED):  # a lane has the columns 2 q and 2 q + 1 of a tile, for the maps g and g + 8
                column = tile + 8 * j + 2 * q + e
                out[PLACED * j + e] = -1
                if column < total:
                    out[PLACED * j + e] = (column // W_OUT * M + upper) * MAP + column % W_OUT
        for i in range(SUMS):
            acc[i] = float32(0)
        if MARGIN > 0:
            for i in range(t, ZEROS, THREADS):
                shared[MASKS + i] = float32(0)
            cuda.syncthreads()
        # fill all stages but one
        for i in range(t, FOURS, THREADS):
            cp_async16(shared, 4 * i, w, nonneg(map_block * MASKS + 4 * i))
        for turn in range(AHEAD):
            fetch(x, B, first, turn, MASKS + turn * STAGE, shared)
            cp_async_commit()
        bias_0, bias_1 = float32(0), float32(0)
        if upper < M:
            bias_0 = w[BIAS + upper]
        if lower < M:
            bias_1 = w[BIAS + lower]
        stage, free = int32(MASKS), int32(MASKS + AHEAD * STAGE)
        for turn in range(int32(TURNS)):
            wait()  # my copies to this stage are there,
            cuda.syncthreads()  # everybody's are, and nobody reads the stage that was used last
            if turn + AHEAD < TURNS:
                fetch(x, B, first, turn + AHEAD, free, shared)
            cp_async_commit()
            for line in range(int32(RS)):
                r = int32(turn * RS + line)
                if r < ROWS:
                    at = int32(stage + line * LINE)
                    for k in unroll(LAST):  # an output row is under the next mask row now
                        for i in range(ROW):
                            acc[(LAST - k) * ROW + i] = acc[(LAST - 1 - k) * ROW + i]
                    for i in range(ROW):
                        acc[i] = float32(0)
                    if PAIRS > 0:  # mask row p of this input row, and p - 1 of the one above
                        product = PHASES * 8 + q
                        product = product if product < PRODUCTS else 0  # a weight of 0 is for any pixel that is seen
                        product = product % C * PLANE + product // C
                        for j in range(TILES):
                            b_1[j], s_1[j] = two_parts(shared[nonneg(at + base[j] + product)])
                        for two in unroll(PAIR_TURNS):
                            p = min(2 * two + 1, LAST)
                            if r - p < H_OUT and r >= p:
                                at_w = (PHASES * K_h + two) * 128 + 4 * lane
                                if 2 * two == LAST:  # it has no second row
                                    left_over(shared, at_w, ZERO + p, big, small, b_1, b_1, s_1, s_1, part, acc)
                                else:
                                    left_over(shared, at_w, ZERO + p, big, small, before, b_1, rest, s_1, part, acc)
                        for j in range(TILES):
                            before[j], rest[j] = b_1[j], s_1[j]
                    at_p = int32(4 * lane)
                    for phase in range(int32(PHASES)):
                        one, other = phase * 8 + q, phase * 8 + q + 4
                        if PRODUCTS < PHASES * 8:
                            one, other = one if one < PRODUCTS else 0, other if other < PRODUCTS else 0
                        one, other = one % C * PLANE + one // C, other % C * PLANE + other // C
                        for j in range(TILES):
                            b_0[j], s_0[j] = two_parts(shared[nonneg(at + base[j] + one)])
                            b_1[j], s_1[j] = two_parts(shared[nonneg(at + base[j] + other)])
                        for two in unroll(BY_TWO):
                            if r - 2 * two - 1 < H_OUT and r >= 2 * two:
                                two_masks(shared, at_p, ZERO + two, big, small, b_0, b_1, s_0, s_1, part, acc)
                        at_p = int32(at_p + K_h * 128)
                    if r >= LAST:  # write
                        for j in range(TILES):
                            for e in range(0, 2, 3 - PLACED):
                                to = out[PLACED * j + e % PLACED]
                                if to >= 0:
                                    i = LAST * ROW + 4 * j + e
                                    if PLACED == 1:
                                        if upper < M:
                                            st2(y, nonneg(to), acc[i] + bias_0, acc[i + 1] + bias_0)
                                        if lower < M:
                                            st2(y, nonneg(to + 8 * MAP), acc[i + 2] + bias_1, acc[i + 3] + bias_1)
                                    else:
                                        if upper < M:
                                            y[nonneg(to)] = acc[i] + bias_0
                                        if lower < M:
                                            y[nonneg(to + 8 * MAP)] = acc[i + 2] + bias_1
                                    out[PLACED * j + e % PLACED] = to + W_OUT
            free = stage
            stage = int32(stage + STAGE if stage + STAGE < END else MASKS)

    return _conv2d_forward_v10


made_for = plan_rows
"""Sizes -> the plan for a layer that this rung is made for, or None."""


def conv2d_forward_v10_3xtf32_rows(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Layers of 8 and more input or fewer than 12 output maps, of masks of fewer than 3 or more than 7 rows, rows that do
    not follow each other, and what does not fit into shared memory, are v09's work. An infinity in x or w gives NaN in
    y: the rest of an infinity is none.

    Errors: TypeError and ValueError as `check_launch`; DeviceError before compute capability 8.0.

    Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8".
    """
    require_tf32()
    launch_planned(x, w, b, y, stride, pad, plan_of=plan_rows, launch=launch,
                   otherwise=conv2d_forward_v09_3xtf32)  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Arrange the weights, and launch the kernel of a RowPlan on checked arrays (...).

    No errors. Source: the course's own.
    """
    arranged = gpu.empty(plan.map_blocks * plan.masks + plan.s.M, np.float32)
    _arrange_rows[-(-arranged.size // ARRANGING), ARRANGING](w, b, biased, plan.phases, plan.steps, arranged)
    B = int(x.shape[0])
    make(plan)[plan.grid(B), plan.threads, 0, plan.shared](x.reshape(x.size), arranged, B, y.reshape(y.size))


def traffic(s):
    """Return what the executor counts over both launches, for Sizes cut into whole tiles, with a bias.

    Whole tiles: the columns of a block divide all columns, W_out is even, 16 divides M, and there is no padding.

    No errors. Source: the course's own.
    """
    p = plan_rows(replace(s, B=0))
    columns, masks = s.B * s.W_out, p.map_blocks * p.masks
    firsts = range(0, columns, p.columns)
    images = [min(p.images, s.B - first // s.W_out) for first in firsts]
    warps = len(firsts) * p.map_blocks * p.warps
    steps = p.phases * sum(
        min(2, s.K_h - k) for r in range(p.rows) for k in range(0, s.K_h, 2) if k <= r < s.H_out + k + 1
    )
    pairs = [min(2 * k + 1, s.K_h - 1) for k in range(p.pairs)]
    in_pairs = sum(k <= r < s.H_out + k for r in range(p.rows) for k in pairs)
    pixels = p.rows * (2 * p.phases + (p.pairs > 0)) * p.TW
    results = warps * s.H_out * p.TW * 2
    copies = p.map_blocks * sum(p.masks // 128 + _copies(p, n) for n in images)
    return {
        "global_load_requests": masks // 32 + -(-s.M // 32) + 2 * warps + copies,
        "global_store_requests": -(-(masks + s.M) // 32) + results,
        "shared_load_requests": warps * (pixels + steps + in_pairs),
        "flops": 3 * warps * (steps + in_pairs) * p.TW * 2 * 16 * 8 * 8
        + 32 * (warps * ((steps + in_pairs) * (4 + 4 * p.TW) + pixels) + 2 * results),
    }


def _copies(p, images):
    """Return the requests that bring so many images to a block: warps of which a lane copies something."""
    across, found = p.s.W // p.piece, 0
    for turn in range(p.turns):
        lines = p.s.C * p.RS * p.images * across
        piece = np.arange(-(-lines // 32) * 32)
        line = np.minimum(piece, lines - 1) // across
        row = line // p.images % p.RS + turn * p.RS
        found += int(((piece < lines) & (line % p.images < images) & (row < p.s.H)).reshape(-1, 32).any(axis=1).sum())
    return found
