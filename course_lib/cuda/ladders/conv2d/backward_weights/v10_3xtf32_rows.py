"""Tensor cores for the gradient of masks between few maps: places are what is added up, 8 a step.

    dw[m, c, p, q] = sum over images, h, v of  dy[m, h, v] x[c, h + p, v + q]

16 output maps are the rows of a tile, 8 sums (q, c) of one mask row p its columns, and 8 neighbouring columns of a row
what one instruction adds up. A warp goes down the rows of x: one, once in registers, is multiplied with the K_h rows of
dy that looked at it, each for its own mask row. All 196 sums of 4 input maps and 7 x 7 are 25 tiles, since what is left
over of two mask rows shares one; they stay in registers from the first image to the last. A step's sum, which tensor
cores cut, is added outside, in float32.

Columns are counted through images, as in the other v10s. A block's warps add up what they have, and write it to a row
of the block's own; a second kernel adds the rows in a fixed order. The bias is added up on the way, from dy's rows.

Source: H, "Calculating dE/dW"; NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8"; H. Ootomo and R. Yokota,
"Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import (
    cp_async4_part,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait1,
    mma_tf32,
    nonneg,
    st4,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts
from course_lib.cuda.ladders.conv2d.backward_weights.row_plan import AHEAD, ROWS, plan_rows
from course_lib.cuda.ladders.conv2d.backward_weights.v06_specialised import conv2d_backward_weights_v06_specialised
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a RowPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    M, C, H, W, K_h, K_w, H_OUT, W_OUT, p_h, p_w = s.M, s.C, s.H, s.W, s.K_h, s.K_w, s.H_out, s.W_out, s.p_h, s.p_w
    THREADS, WARPS, BLOCKS, STRIPS, COLUMNS = plan.threads, plan.warps, plan.blocks, plan.strips, plan.columns
    IMAGES, MAP_BLOCKS, SUM_COUNT, WHOLE, MIXED = plan.images, plan.map_blocks, plan.sums, plan.whole, plan.mixed
    XROWS, TURNS, BACK, SLOTS, PLACES = plan.rows, plan.turns, plan.back, plan.slots, H_OUT * W_OUT
    PIECE_Y, PLANE_Y, PIECE_X, PLANE_X = plan.piece_y, plan.plane_y, plan.piece_x, plan.plane_x
    MARGIN, PITCH, RUN, HW = plan.margin, plan.pitch, ROWS * W_OUT, H * W
    SLOT_Y, LINE_X, SLOT_X, X_BEGIN = IMAGES * RUN, IMAGES * PITCH, ROWS * IMAGES * PITCH, 16 * PLANE_Y
    SPAN, RUNS, ACROSS = IMAGES * (RUN // PIECE_Y), RUN // PIECE_Y, W // PIECE_X
    TEAM = min(SPAN, THREADS)
    TEAMS = THREADS // TEAM
    COPIES_X, ZEROS, TILES, BY_TWO = C * ROWS * IMAGES * ACROSS, C * PLANE_X, plan.tiles, -(-K_h // 2)
    PURE, MIX, PARTS, OPERANDS = 4 * WHOLE * K_h, 4 * max(1, MIXED), 4 * (2 * WHOLE + 1), 2 * (WHOLE + 1)
    OWN, NUMBERS, NEARBY = TILES * 128 + 64, TILES * 128, BACK + 1
    ZERO = 0  # ZERO + 3 is no literal: for f(3) and f(2) Numba compiles a device function f twice

    @jit(device=True, forceinline=True)
    def fetch(dy, x, map_block, first, turn, shared):
        """Begin to copy a stage of dy, of 16 maps, and of x to its place; zeros where there is none."""
        slot = (turn + SLOTS) % SLOTS
        t = nonneg(cuda.threadIdx.x + first + turn + BACK) % THREADS  # another place each time: registers keep none
        if t < TEAMS * TEAM:  # a team brings a map of dy, and then the next that no other team has
            for i in range(int32(t % TEAM), int32(SPAN), int32(TEAM)):
                i = uint32(i)  # divisions of 32 bits are multiplications
                image, k = i // RUNS, i % RUNS * PIECE_Y
                place, n = turn * RUN + k, first + image
                inside = n < dy.shape[0] and place >= 0 and place < PLACES
                source, at = (n * M + map_block * 16) * PLACES + place, slot * SLOT_Y + image * RUN + k
                for m in range(int32(t // TEAM), int32(16), int32(TEAMS)):
                    there = inside and map_block * 16 + m < M
                    j = source + m * PLACES if there else 0
                    if PIECE_Y == 4:
                        cp_async16_part(shared, nonneg(at + m * PLANE_Y), dy, nonneg(j), 4 if there else 0)
                    else:
                        cp_async4_part(shared, nonneg(at + m * PLANE_Y), dy, nonneg(j), 1 if there else 0)
        for i in range(int32(t), int32(COPIES_X), int32(THREADS)):
            i = uint32(i)
            line, across = uint32(i // ACROSS), i % ACROSS * PIECE_X
            image, row, c = line % IMAGES, uint32(line // IMAGES) % ROWS, line // (IMAGES * ROWS)
            h, n = turn * ROWS + row - p_h, first + image
            inside = h >= 0 and h < H and n < dy.shape[0]
            source = (n * C + c) * HW + h * W + across if inside else 0
            to = X_BEGIN + c * PLANE_X + slot * SLOT_X + row * LINE_X + image * PITCH + MARGIN + across
            if PIECE_X == 4:
                cp_async16_part(shared, nonneg(to), x, nonneg(source), 4 if inside else 0)
            else:
                cp_async4_part(shared, nonneg(to), x, nonneg(source), 1 if inside else 0)

    @jit(device=True, forceinline=True)
    def multiply(part, first, count, a, row, b_0, b_1):
        """part[first + i] += operand `row` of a times operand i of b, for `count` tiles."""
        for i in range(count):
            k, r = 4 * (first + i), 4 * row
            part[k], part[k + 1], part[k + 2], part[k + 3] = mma_tf32(
                (a[r], a[r + 1], a[r + 2], a[r + 3]), (b_0[i], b_1[i]),
                (part[k], part[k + 1], part[k + 2], part[k + 3]),
            )  # fmt: skip

    @jit(device=True, forceinline=True)
    def left_over(part, a, row, b_0, b_1):
        """The same for the tile of two mask rows, the last of part and of b."""
        k, r, i = 8 * WHOLE, 4 * row, WHOLE
        part[k], part[k + 1], part[k + 2], part[k + 3] = mma_tf32(
            (a[r], a[r + 1], a[r + 2], a[r + 3]), (b_0[i], b_1[i]),
            (part[k], part[k + 1], part[k + 2], part[k + 3]),
        )  # fmt: skip

    @jit(device=True, forceinline=True)
    def two_masks(shared, two, to, then, y_0, y_1, big, small, b_0, b_1, s_0, s_1, part, pure, mix):
        """Multiply the row of x, operands b and s, by two rows of dy, for mask rows 2 two and 2 two + 1.

        Return this lane's sums of the first row of dy, of the maps g and g + 8.
        """
        sum_0, sum_1 = float32(0), float32(0)
        for i in range(PARTS):
            part[i] = float32(0)
        for k in range(min(2, K_h - 2 * two)):
            at = then if k else to
            v_0, v_1 = shared[nonneg(at + y_0)], shared[nonneg(at + y_0) + 8 * PLANE_Y]
            v_2, v_3 = shared[nonneg(at + y_1)], shared[nonneg(at + y_1) + 8 * PLANE_Y]
            if k == 0:
                sum_0, sum_1 = v_0 + v_2, v_1 + v_3
            big[4 * k], small[4 * k] = two_parts(v_0)
            big[4 * k + 1], small[4 * k + 1] = two_parts(v_1)
            big[4 * k + 2], small[4 * k + 2] = two_parts(v_2)
            big[4 * k + 3], small[4 * k + 3] = two_parts(v_3)
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k * WHOLE, WHOLE, small, k, b_0, b_1)  # small products first
        if MIXED > 0:
            left_over(part, small, min(1, K_h - 1 - 2 * two), b_0, b_1)
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k * WHOLE, WHOLE, big, k, s_0, s_1)
        if MIXED > 0:
            left_over(part, big, min(1, K_h - 1 - 2 * two), s_0, s_1)
        for k in range(min(2, K_h - 2 * two)):
            multiply(part, k * WHOLE, WHOLE, big, k, b_0, b_1)
        if MIXED > 0:
            left_over(part, big, min(1, K_h - 1 - 2 * two), b_0, b_1)
        for i in range(4 * WHOLE * min(2, K_h - 2 * two)):
            pure[8 * two * WHOLE + i] += part[i]
        if MIXED > 0:
            for i in range(4):
                mix[4 * two + i] += part[8 * WHOLE + i]
        return sum_0, sum_1

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _backward_weights_v10(dy, x, ranges, sums, biases):
        # who am I
        shared = cuda.shared.array(0, float32, 16)  # stages of dy, map by map, and of x; at the end sums of warps
        pure, mix = cuda.local.array(PURE, float32), cuda.local.array(MIX, float32)  # mask row, tile, register
        part, near_y = cuda.local.array(PARTS, float32), cuda.local.array(NEARBY, int32)
        big, small = cuda.local.array(8, uint32), cuda.local.array(8, uint32)
        b_0, b_1 = cuda.local.array(OPERANDS, uint32), cuda.local.array(OPERANDS, uint32)
        s_0, s_1 = cuda.local.array(OPERANDS, uint32), cuda.local.array(OPERANDS, uint32)
        t, block, parts = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x), nonneg(sums.shape[0])
        warp, lane = t // 32, t % 32
        g, q = lane // 4, lane % 4
        map_block, own = block % MAP_BLOCKS, block // MAP_BLOCKS
        bias_0, bias_1 = float32(0), float32(0)
        for i in range(PURE):
            pure[i] = float32(0)
        for i in range(MIX):
            mix[i] = float32(0)
        if MARGIN > 0:
            for i in range(t, ZEROS, THREADS):
                shared[X_BEGIN + i] = float32(0)
            cuda.syncthreads()

        for number in range(int32(ranges * own // parts), int32(ranges * (own + 1) // parts)):
            first = int32(number * COLUMNS // W_OUT)
            for turn in range(int32(-BACK), int32(AHEAD)):  # above the first row are zeros, as below the last one
                fetch(dy, x, map_block, first, turn, shared)
                cp_async_commit()
            for turn in range(int32(TURNS)):
                cp_async_wait1()  # my copies to this stage are there,
                cuda.syncthreads()  # everybody's are, and nobody reads the oldest one any more
                if turn + AHEAD < TURNS:
                    fetch(dy, x, map_block, first, turn + AHEAD, shared)
                cp_async_commit()
                for k in range(NEARBY):  # where this stage of dy lies, and those before
                    near_y[k] = int32((turn + SLOTS - k) % SLOTS * SLOT_Y + g * PLANE_Y)
                this_x, last_x = turn % SLOTS * SLOT_X, (turn + SLOTS - 1) % SLOTS * SLOT_X
                for strip in range(int32(STRIPS)):
                    column = number * COLUMNS % W_OUT + (warp * STRIPS + strip) * 8 + q  # from the first image on
                    y_0 = int32(column // W_OUT * RUN + column % W_OUT)
                    x_0 = int32(X_BEGIN + column // W_OUT * PITCH + column % W_OUT + MARGIN - p_w)
                    column += 4
                    y_1 = int32(column // W_OUT * RUN + column % W_OUT)
                    x_1 = int32(X_BEGIN + column // W_OUT * PITCH + column % W_OUT + MARGIN - p_w)
                    for line in unroll(ROWS):
                        r = int32(turn * ROWS + line)
                        if r < XROWS:
                            at = this_x + line * LINE_X
                            for i in range(WHOLE):
                                j = min(8 * i + g, SUM_COUNT - 1)
                                k = at + j % C * PLANE_X + j // C
                                b_0[i], s_0[i] = two_parts(shared[nonneg(k + x_0)])
                                b_1[i], s_1[i] = two_parts(shared[nonneg(k + x_1)])
                            if MIXED > 0:  # half of the tile is of the row above, and of the mask row above
                                above = this_x if line > 0 or r == 0 else last_x + (ROWS - 1) * LINE_X
                                j = min(8 * WHOLE + g % 4, SUM_COUNT - 1)
                                k = (at if g >= 4 else above) + j % C * PLANE_X + j // C
                                b_0[WHOLE], s_0[WHOLE] = two_parts(shared[nonneg(k + x_0)])
                                b_1[WHOLE], s_1[WHOLE] = two_parts(shared[nonneg(k + x_1)])
                            for two in unroll(BY_TWO):  # two mask rows p, for the rows r - p of dy
                                if r - 2 * two - 1 < H_OUT and r >= 2 * two:
                                    back, more = (2 * two - line + 1) // ROWS, (2 * two - line + 2) // ROWS  # stages
                                    to = near_y[back] + (line + 2 * back - 2 * two) * W_OUT
                                    then = near_y[min(more, BACK)] + (line + 2 * more - 2 * two - 1) * W_OUT
                                    v_0, v_1 = two_masks(
                                        shared, ZERO + two, to, then, y_0, y_1, big, small, b_0, b_1, s_0, s_1, part,
                                        pure, mix,
                                    )  # fmt: skip
                                    if two == 0:
                                        bias_0, bias_1 = bias_0 + v_0, bias_1 + v_1
            cuda.syncthreads()  # nobody reads these stages any more

        # the sums of the block's warps, one after the other
        for i in range(0, PURE, 4):
            st4(shared, nonneg(warp * OWN + i * 32 + 4 * lane), pure[i], pure[i + 1], pure[i + 2], pure[i + 3])
        if MIXED > 0:
            for i in range(0, MIX, 4):
                k = nonneg(warp * OWN + (PURE + i) * 32 + 4 * lane)
                st4(shared, k, mix[i], mix[i + 1], mix[i + 2], mix[i + 3])
        shared[nonneg(warp * OWN + NUMBERS + lane)] = bias_0
        shared[nonneg(warp * OWN + NUMBERS + 32 + lane)] = bias_1
        cuda.syncthreads()
        for i in range(t, NUMBERS, THREADS):
            total = shared[i]
            for k in range(1, WARPS):
                total += shared[k * OWN + i]
            register, tile = i % 4, i // 128
            g, column = i // 16 % 8, 2 * (i // 4 % 4) + register % 2
            m = map_block * 16 + g + 8 * (register // 2)
            p, j = tile // WHOLE, tile % WHOLE * 8 + column
            if tile >= WHOLE * K_h:
                two = tile - WHOLE * K_h
                p, j = min(2 * two + 1, K_h - 1), WHOLE * 8 + column % 4
                if column < 4:
                    p = 2 * two if 2 * two + 1 < K_h else K_h  # the last one has no mask row above
            if m < M and p < K_h and j < SUM_COUNT:
                sums[own, nonneg(((m * C + j % C) * K_h + p) * K_w + j // C)] = total
        if t < 16 and map_block * 16 + t < M:
            total = float32(0)
            for k in range(WARPS):
                for e in range(4):
                    total += shared[k * OWN + NUMBERS + t // 8 * 32 + t % 8 * 4 + e]
            biases[own, map_block * 16 + t] = total

    return _backward_weights_v10


def suits(n):
    """Return whether this rung takes a gradient of Sizes itself. No errors. Source: the course's own."""
    return plan_rows(replace(n, B=0)) is not None


def conv2d_backward_weights_v10_3xtf32_rows(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw (M, C, K_h, K_w), db (M,) or None, from dy (B, M, H_out, W_out), x (B, C, H, W), float32 device arrays.

    stride, pad: int or pair (rows, columns). Another stride than 1, few sums or output maps, what does not fit into
    shared memory, and cards before compute capability 8.0 are v06's work. An infinity in dy or x gives NaN in dw.
    TypeError unless float32 device arrays; ValueError if one is empty or has gaps, or shapes do not fit.
    Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    plan = plan_rows(replace(n, B=0))
    if plan is None or not aligned(dy, x) or compute_capability() < (8, 0):
        conv2d_backward_weights_v06_specialised(dy, x, dw, db, stride, pad)
        return
    launch(plan, dy, x, dw, db)


def launch(plan, dy, x, dw, db):
    """Launch the kernel of a RowPlan on checked arrays (...), and add up its partial sums; db may be None.

    No errors. Source: the course's own.
    """
    B = int(dy.shape[0])
    parts = plan.parts(B)
    sums, biases = gpu.empty((parts, dw.size), np.float32), gpu.empty((parts, plan.s.M), np.float32)
    make(plan)[parts * plan.map_blocks, plan.threads, 0, plan.shared](dy, x, plan.ranges(B), sums, biases)
    add_parts(sums, dw)
    if db is not None:
        add_parts(biases, db)


def traffic(n):
    """Return what the kernel for the partial sums counts, for Sizes n whose columns fill ranges.

    And: no padding, 16 divides M, and the executor's addition of the warps' sums is left out of the loads.

    No errors. Source: the course's own.
    """
    p = plan_rows(replace(n, B=0))
    strips = p.ranges(n.B) * p.warps * p.strips * p.map_blocks
    groups = [min(2, n.K_h - k) for r in range(p.rows) for k in range(0, n.K_h, 2) if k <= r < n.H_out + k + 1]
    tiles = sum(masks * p.whole + (p.mixed > 0) for masks in groups)
    pixels = p.rows * 2 * (p.whole + (p.mixed > 0))
    blocks = p.parts(n.B) * p.map_blocks
    last = blocks * (p.warps - 1) * p.tiles * 128 + blocks * 16 * 4 * p.warps
    bias = 2 * len(groups) + 2 * min(p.rows, n.H_out + 1)  # each pair of rows of dy, and the first pair once more
    return {
        "flops": strips * (3 * tiles * 2 * 16 * 8 * 8 + 32 * (4 * sum(groups) + pixels + 4 * tiles + bias)) + last,
    }
