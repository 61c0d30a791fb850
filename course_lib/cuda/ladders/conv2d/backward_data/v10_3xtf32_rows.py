"""Tensor cores for a gradient of few input maps: the columns of the mask are columns of the product, and added up last.

A tensor core wants 8 columns, and there are 4 input maps. But 4 maps times 7 columns of the mask are 28 sums, over the
output maps and the mask rows, which only rows of dy shift:

    S[c, q, h, u] = sum over m, p of  w[m, c, p, q] dy[m, h - p, u]    on tensor cores, 16 columns u x 8 sums (q, c)
    dx[c, h, v]   = sum over q of  S[c, q, h, v - q]                   in shared memory, one addition for 112 products

28 sums are three tiles and a half, and the halves of two rows are one tile: a row of dy has 25 products of tiles, and
no product with a zero around dy is made. A warp goes down dy as forward's v10 goes down x: two rows of dy, once in
registers, are multiplied by the weights of all K_h mask rows, for the K_h + 1 rows of S that they reach. Rows of dy
arrive stages ahead; the sums of a stage are added up and written while the next one is computed. Column u of a sum of
mask column q lies at u + q in shared memory, where dx needs it: seven accesses of 16 bytes make four pixels.

Columns are counted through images, so that all tiles are full, and a range of columns may end within an image. What
there is of pixels that the next range completes is carried over: a block has many ranges, one after the other, and
where its last one ends, a second kernel adds it.

Source: H, "Back-propagation dE/dX for a convolutional layer"; NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8";
H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical
peak performance" (2022).
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import (
    bits_float,
    cp_async4_part,
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    float_bits,
    ld4,
    mma_tf32,
    nonneg,
    st4,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data
from course_lib.cuda.ladders.conv2d.backward_data.row_plan import MULTIPROCESSORS, ROWS, plan_rows
from course_lib.cuda.ladders.conv2d.backward_data.v06_specialised import conv2d_backward_data_v06_specialised
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_sums(w, whole, mixed, arranged):
    """arranged[step, unit, lane, k] = of the weights b[0] and b[1] of the lane the big parts, then the small ones.

    Rows of `b` are 8 output maps, its columns 8 sums (q, c). Units: each mask row for each tile of one row; then tiles
    of two rows, four sums of each, that begin in a row of dy's own parity, and those that begin a row above. Zeros
    where there is no sum, mask row or map. One thread, one number.
    """
    M, C, K_h, K_w = w.shape
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        units = whole * K_h + 2 * mixed
        k, lane, unit, step = i % 4, i // 4 % 32, i // 128 % units, i // 128 // units
        m, column = step * 8 + lane % 4 + 4 * (k % 2), lane // 4
        p, j = unit % K_h, unit // K_h * 8 + column
        if unit >= whole * K_h:
            other = unit - whole * K_h
            p, j = 2 * (other % mixed) + column // 4 - other // mixed, whole * 8 + column % 4
        value = float32(0)
        if m < M and p >= 0 and p < K_h and j < C * K_w:
            value = w[m, j % C, p, j // C]
        big, small = two_parts(value)
        arranged[i] = bits_float(small if k >= 2 else big)


@jit(cache=True)
def _add_edges(edges, ranges, columns, W_out, p_h, p_w, dx):
    """Add what the last ranges of blocks had of pixels that the next block completed; one thread, one number."""
    blocks, _, rows, C, beyond = edges.shape
    i = nonneg(cuda.grid(1))
    if i < edges.size // 2:
        k, c, r, block = i % beyond, i // beyond % C, i // (beyond * C) % rows, i // (beyond * C * rows)
        last = ranges * (block + 1) // blocks - 1
        end = (last + 1) * columns
        n, v, h = end // W_out, end % W_out + k - p_w, r - p_h
        if end % W_out > 0 and n < dx.shape[0] and v >= 0 and v < dx.shape[3] and h >= 0 and h < dx.shape[2]:
            dx[n, c, h, v] += edges[block, last % 2, r, c, k]


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a RowPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    M, C, H, W, K_h, K_w, H_OUT, W_OUT, p_h, p_w = s.M, s.C, s.H, s.W, s.K_h, s.K_w, s.H_out, s.W_out, s.p_h, s.p_w
    THREADS, BLOCKS, STAGES, COLUMNS, IMAGES = plan.threads, plan.blocks, plan.STAGES, plan.columns, plan.images
    EIGHTS, TURNS, PIECE, PLANE, STAGE, LINE = plan.eights, plan.turns, plan.piece, plan.plane, plan.stage, plan.line
    WHOLE, MIXED, SUM_COUNT, MASKS, RESULTS = plan.whole, plan.mixed, plan.sums, plan.masks, plan.results
    END, AHEAD, SUMS_BEGIN, SUM_ROW = MASKS + STAGES * STAGE, STAGES - 1, MASKS + STAGES * STAGE, SUM_COUNT * LINE
    RUN, PIECES, UNITS, PLACES, WIDE = ROWS * W_OUT, ROWS * W_OUT // PIECE, plan.units * 128, H_OUT * W_OUT, plan.wide
    READ, ACROSS, BEYOND, LAST_ROW = plan.read, plan.wide // plan.read, K_w - 1, plan.rows - 1
    PIXELS, SPAN, FOURS = ROWS * IMAGES * C * ACROSS, IMAGES * PIECES, MASKS // 4
    TEAM = min(SPAN, THREADS)
    TEAMS, EDGES = THREADS // TEAM, plan.rows * C * (K_w - 1)
    ZERO = 0  # ZERO + 3 is no literal: for f(3) and f(2) Numba compiles a device function f twice
    REACH = 4 * (K_h + 1)  # registers of the rows that two rows of dy reach
    PURE, MIX, PARTS, SHARES, MIX_MASKS = WHOLE * REACH, 4 * max(1, MIXED), REACH, -(-K_h // 4), MIXED * 128
    wait = cp_async_wait0 if STAGES == 2 else cp_async_wait1

    @jit(device=True, forceinline=True)
    def fetch(dy, first, turn, to, shared):
        """Begin to copy a stage of dy, of all maps and images, to the stage at `to`; zeros where there is none."""
        t = nonneg(cuda.threadIdx.x + first + turn) % THREADS  # another place each time: registers keep none
        if t < TEAMS * TEAM:  # a team brings a map, and then the next that no other team has
            for i in range(int32(t % TEAM), int32(SPAN), int32(TEAM)):
                i = uint32(i)  # divisions of 32 bits are multiplications
                n, k = i // PIECES, i % PIECES * PIECE
                place = turn * RUN + k
                inside = first + n < dy.shape[0] and place < PLACES
                source, at = (first + n) * (M * PLACES) + place, to + n * RUN + k
                for m in range(int32(t // TEAM), int32(8 * EIGHTS), int32(TEAMS)):
                    there = inside and m < M
                    j = source + m * PLACES if there else 0
                    if PIECE == 4:
                        cp_async16_part(shared, nonneg(at + m * PLANE), dy, nonneg(j), 4 if there else 0)
                    else:
                        cp_async4_part(shared, nonneg(at + m * PLANE), dy, nonneg(j), 1 if there else 0)

    @jit(device=True, forceinline=True)
    def weights(shared, at, count, b):
        """Bring `count` units into registers: b[4 k] and on, two big parts and two small ones."""
        for k in range(count):
            i = 4 * k
            w_0, w_1, w_2, w_3 = ld4(shared, nonneg(at + 128 * k))
            b[i], b[i + 1], b[i + 2], b[i + 3] = float_bits(w_0), float_bits(w_1), float_bits(w_2), float_bits(w_3)

    @jit(device=True, forceinline=True)
    def multiply(part, first, count, a, row, b, of):
        """part[first + k] += 16 columns, operand `row` of a, times unit k's parts from b[4 k + of] on, for all k."""
        for k in range(count):
            i, j, r = 4 * (first + k), 4 * k + of, 4 * row
            part[i], part[i + 1], part[i + 2], part[i + 3] = mma_tf32(
                (a[r], a[r + 1], a[r + 2], a[r + 3]), (b[j], b[j + 1]),
                (part[i], part[i + 1], part[i + 2], part[i + 3]),
            )  # fmt: skip

    @jit(device=True, forceinline=True)
    def four_masks(shared, at, p, big, small, b, part):
        """Add what mask rows 4 p to 4 p + 3, no more for want of registers, make of two rows of dy; `at` is unit 0."""
        count = min(4, K_h - 4 * p)
        weights(shared, at + 4 * p * 128, count, b)
        multiply(part, 4 * p, count, small, 0, b, 0)  # small products first
        multiply(part, 4 * p + 1, count, small, 1, b, 0)  # the second row of dy reaches a row further
        multiply(part, 4 * p, count, big, 0, b, 2)
        multiply(part, 4 * p + 1, count, big, 1, b, 2)
        multiply(part, 4 * p, count, big, 0, b, 0)
        multiply(part, 4 * p + 1, count, big, 1, b, 0)

    @jit(device=True, forceinline=True)
    def whole_tile(shared, at, i, big, small, b, part, pure):
        """Add what all mask rows make of two rows of dy to tile i of one row; `at` is unit 0 of tile 0."""
        for k in range(PARTS):
            part[k] = float32(0)
        for p in unroll(SHARES):
            four_masks(shared, at + i * (K_h * 128), ZERO + p, big, small, b, part)
        for k in range(REACH):
            pure[i * REACH + k] += part[k]

    @jit(device=True, forceinline=True)
    def place(dx, edges, number, carries, row, c, to, v, value, begin, full, end, seen):
        """Write one pixel where it belongs, if the range has something of it, with what was carried over."""
        at, block = (row * C + c) * BEYOND, nonneg(cuda.blockIdx.x) * 2  # two places for each block, in turns
        if v >= begin and v < full:
            if carries and v < begin + BEYOND:
                value += edges[nonneg((block + (number + 1) % 2) * EDGES + at + v - begin)]
            if seen:
                dx[nonneg(to)] = value
        elif v >= full and v < end + BEYOND:
            edges[nonneg((block + number % 2) * EDGES + at + v - end)] = value

    @jit(device=True, forceinline=True)
    def add_up(shared, B, number, carries, turn, edges, dx):
        """dx of the rows whose sums are there: each pixel from the K_w columns that it saw, as far as they are here.

        What the next range will complete goes to edges; there lies, with `carries`, what the range before had of the
        pixels that this one completes. Without it they get the share of this range.
        """
        column = int32(number * COLUMNS)
        for i in range(int32(nonneg(cuda.threadIdx.x + turn) % THREADS), int32(PIXELS), int32(THREADS)):
            i = uint32(i)
            v, c, image, r = i % ACROSS * READ, i // ACROSS % C, i // (ACROSS * C) % IMAGES, i // (ACROSS * C * IMAGES)
            row, n = int32(turn * ROWS + r), column // W_OUT + image
            h, begin, end = row - p_h, int32(column - n * W_OUT), int32(column + COLUMNS - n * W_OUT)  # of the image
            full = end if end < W_OUT else WIDE
            joins = carries and begin > 0
            if n < B and row <= LAST_ROW and end > 0:
                k = nonneg(SUMS_BEGIN + r * SUM_ROW + c * LINE + image * WIDE + v)
                to = ((n * C + c) * H + h) * W + v - p_w
                seen = h >= 0 and h < H and v >= p_w and v < W + p_w
                if READ == 4:
                    d_0, d_1, d_2, d_3 = ld4(shared, k)
                    for q in range(1, K_w):
                        e_0, e_1, e_2, e_3 = ld4(shared, k + q * (C * LINE))
                        d_0, d_1, d_2, d_3 = d_0 + e_0, d_1 + e_1, d_2 + e_2, d_3 + e_3
                    if v >= (begin + BEYOND if joins else begin) and v + 3 < full:
                        if seen:
                            st4(dx, nonneg(to), d_0, d_1, d_2, d_3)
                    else:
                        place(dx, edges, number, joins, row, c, to, v, d_0, begin, full, end, seen)
                        place(dx, edges, number, joins, row, c, to + 1, v + 1, d_1, begin, full, end, seen)
                        place(dx, edges, number, joins, row, c, to + 2, v + 2, d_2, begin, full, end, seen)
                        place(dx, edges, number, joins, row, c, to + 3, v + 3, d_3, begin, full, end, seen)
                else:
                    total = shared[k]
                    for q in range(1, K_w):
                        total += shared[k + q * (C * LINE)]
                    place(dx, edges, number, joins, row, c, to, v, total, begin, full, end, seen)

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _backward_data_v10(dy, w, ranges, edges, dx):
        # who am I
        shared = cuda.shared.array(0, float32, 16)  # weights, stages of dy, sums of a stage
        pure, mix = cuda.local.array(PURE, float32), cuda.local.array(MIX, float32)  # tile, row, register
        part, b = cuda.local.array(PARTS, float32), cuda.local.array(16, uint32)
        big, small = cuda.local.array(8, uint32), cuda.local.array(8, uint32)
        t, block, blocks = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x), nonneg(cuda.gridDim.x)
        lane = t % 32
        g, q = lane // 4, lane % 4
        for i in range(t, FOURS, THREADS):
            cp_async16(shared, 4 * i, w, 4 * i)
        begun = int32(ranges * block // blocks)
        for number in range(begun, int32(ranges * (block + 1) // blocks)):
            first, start = int32(number * COLUMNS // W_OUT), number * COLUMNS % W_OUT + t // 32 * 16
            upper, lower = start + g, start + g + 8  # counted from the first image
            at_upper = int32(q * PLANE + upper // W_OUT * RUN + upper % W_OUT)
            at_lower = int32(q * PLANE + lower // W_OUT * RUN + lower % W_OUT)
            to_upper = int32(upper // W_OUT * WIDE + upper % W_OUT)
            to_lower = int32(lower // W_OUT * WIDE + lower % W_OUT)
            for i in range(PURE):
                pure[i] = float32(0)
            for i in range(MIX):
                mix[i] = float32(0)
            # fill all stages but one
            for turn in range(AHEAD):
                fetch(dy, first, turn, MASKS + turn * STAGE, shared)
                cp_async_commit()
            for i in range(int32(4 * t), int32(RESULTS), int32(4 * THREADS)):  # beside a row of sums there is nothing
                st4(shared, SUMS_BEGIN + i, float32(0), float32(0), float32(0), float32(0))
            stage, free = int32(MASKS), int32(MASKS + AHEAD * STAGE)
            for turn in range(int32(TURNS)):
                wait()  # my copies to this stage are there,
                cuda.syncthreads()  # everybody's are; the sums of the last stage too, and nobody reads the one before
                if turn + AHEAD < TURNS:
                    fetch(dy, first, turn + AHEAD, free, shared)
                cp_async_commit()
                if turn > 0:
                    add_up(shared, dy.shape[0], number, number > begun, turn - 1, edges, dx)
                if turn * ROWS < H_OUT:
                    at_w, at = int32(4 * lane), stage
                    for _ in range(int32(EIGHTS)):
                        for row in range(ROWS):
                            k, above, below = 4 * row, nonneg(at + at_upper), nonneg(at + at_lower)
                            big[k], small[k] = two_parts(shared[above + row * W_OUT])
                            big[k + 1], small[k + 1] = two_parts(shared[below + row * W_OUT])
                            big[k + 2], small[k + 2] = two_parts(shared[above + row * W_OUT + 4 * PLANE])
                            big[k + 3], small[k + 3] = two_parts(shared[below + row * W_OUT + 4 * PLANE])
                        for i in unroll(WHOLE):
                            whole_tile(shared, at_w, ZERO + i, big, small, b, part, pure)
                        if MIXED > 0:
                            for row in range(ROWS):
                                weights(shared, at_w + WHOLE * (K_h * 128) + row * MIX_MASKS, MIXED, b)
                                for k in range(4 * MIXED):
                                    part[k] = float32(0)
                                multiply(part, 0, MIXED, small, row, b, 0)
                                multiply(part, 0, MIXED, big, row, b, 2)
                                multiply(part, 0, MIXED, big, row, b, 0)
                                for k in range(4 * MIXED):
                                    mix[k] += part[k]
                        at_w, at = int32(at_w + UNITS), int32(at + 8 * PLANE)
                cuda.syncthreads()  # nobody reads the sums of the last stage any more
                # a lane has the sums 2 q and 2 q + 1 of a tile, for the columns g and g + 8
                for i in unroll(WHOLE):
                    for e in range(2):
                        k = 8 * i + 2 * q + e
                        if k < SUM_COUNT:
                            for row in range(ROWS):
                                to = SUMS_BEGIN + row * SUM_ROW + k * LINE + k // C
                                shared[nonneg(to + to_upper)] = pure[i * REACH + 4 * row + e]
                                shared[nonneg(to + to_lower)] = pure[i * REACH + 4 * row + 2 + e]
                    for k in range(REACH - 4 * ROWS):  # the next rows of dy reach two rows further
                        pure[i * REACH + k] = pure[i * REACH + k + 4 * ROWS]
                    for k in range(4 * ROWS):
                        pure[i * REACH + REACH - 4 * ROWS + k] = float32(0)
                if MIXED > 0:
                    for e in range(2):
                        k = 8 * WHOLE + 2 * (q % 2) + e
                        if k < SUM_COUNT:
                            to = SUMS_BEGIN + q // 2 * SUM_ROW + k * LINE + k // C
                            shared[nonneg(to + to_upper)] = mix[e]
                            shared[nonneg(to + to_lower)] = mix[2 + e]
                    for k in range(MIX - 4):
                        mix[k] = mix[k + 4]
                    for k in range(4):
                        mix[MIX - 4 + k] = float32(0)
                free = stage
                stage = int32(stage + STAGE if stage + STAGE < END else MASKS)
            cuda.syncthreads()
            add_up(shared, dy.shape[0], number, number > begun, TURNS - 1, edges, dx)
            cuda.syncthreads()  # nobody reads these sums any more, and what is carried over is there

    return _backward_data_v10


def suits(n):
    """Return whether this rung takes a gradient of Sizes itself. No errors. Source: the course's own."""
    return plan_rows(replace(n, B=0)) is not None


def conv2d_backward_data_v10_3xtf32_rows(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). Another stride than 1, few sums or output maps, what does not fit into
    shared memory, and cards before compute capability 8.0 are v06's work. An infinity in dy or w gives NaN in dx.
    TypeError unless float32 device arrays; ValueError if one is empty or has gaps, or shapes do not fit.
    Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    plan = plan_rows(replace(n, B=0))
    if plan is None or not aligned(dy, dx) or compute_capability() < (8, 0):
        conv2d_backward_data_v06_specialised(dy, w, dx, stride, pad)
        return
    launch(plan, dy, w, dx)


def launch(plan, dy, w, dx):
    """Arrange the weights, launch the kernel of a RowPlan on checked arrays (...), and add up what it left open.

    No errors. Source: the course's own.
    """
    s, ranges = plan.s, plan.ranges(int(dy.shape[0]))
    blocks = min(ranges, MULTIPROCESSORS * plan.blocks)
    arranged = gpu.empty(plan.masks, np.float32)
    edges = gpu.empty((blocks, 2, plan.rows, s.C, s.K_w - 1), np.float32)
    _arrange_sums[-(-arranged.size // ARRANGING), ARRANGING](w, plan.whole, plan.mixed, arranged)
    flat = edges.reshape(edges.size), dx.reshape(dx.size)
    make(plan)[blocks, plan.threads, 0, plan.shared](dy, arranged, ranges, *flat)
    if plan.columns % s.W_out:
        grid = -(-edges.size // 2 // ARRANGING)
        _add_edges[grid, ARRANGING](edges, ranges, plan.columns, s.W_out, s.p_h, s.p_w, dx)


def traffic(n):
    """Return what is counted over both launches for Sizes n whose ranges of columns are whole images.

    And: no padding, W divisible by 4, an even number of rows of dy, 8 divides M, and no more ranges than blocks.

    No errors. Source: the course's own.
    """
    p = plan_rows(replace(n, B=0))
    ranges, steps = p.ranges(n.B), n.H_out // ROWS * p.eights * p.warps
    warps, lanes = (sum(found) for found in zip(*(_added(p, turn) for turn in range(p.turns)), strict=True))
    products = ROWS * (p.whole * n.K_h + p.mixed)
    added = ROWS * 4 + 4 * (p.whole * (n.K_h + 1) + ROWS * p.mixed)  # what is split, and sums of tensor cores
    return {
        "global_store_requests": p.masks // 32 + ranges * warps,
        "shared_load_requests": ranges * (steps * (ROWS * 4 + p.whole * n.K_h + ROWS * p.mixed) + warps * n.K_w),
        "flops": ranges * (steps * (3 * products * 2 * 16 * 8 * 8 + 32 * added) + 4 * lanes * (n.K_w - 1)) + p.masks,
    }


def _added(p, turn):
    """Return (warps, lanes) that add up pixels in a turn: a warp or lane once for each time around its loop."""
    quads = p.images * p.s.C * p.wide // p.read
    thread = (np.arange(p.threads) + turn) % p.threads
    i = thread + np.arange(0, ROWS * quads, p.threads)[:, None]
    works = (i < ROWS * quads) & (turn * ROWS + i // quads < p.rows)
    return int(works.reshape(-1, 32).any(axis=1).sum()), int(works.sum())
