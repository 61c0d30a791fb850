"""Tensor cores for a gradient of few input maps: the columns of the mask are rows of the product, and added up last.

A tensor core wants 16 rows, and there are 4 input maps. But 4 maps times 7 columns of the mask are 28 sums, over the
output maps and the mask rows, which only rows of dy shift:

    S[c, q, h, u] = sum over m, p of  w[m, c, p, q] dy[m, h - p, u]    on tensor cores, 28 rows of 32
    dx[c, h, v]   = sum over q of  S[c, q, h, v - q]                   in shared memory, one addition for 112 products

No product with a zero around dy is made. A warp goes down dy as forward's v10 goes down x: a row of dy, once in
registers, is multiplied by the weights of all K_h mask rows, for the K_h rows of S that it reaches. Rows of dy arrive
stages ahead; the sums of a stage are added up and written while the next one is computed. Column u of a sum of mask
column q lies at u + q in shared memory, where dx needs it: seven accesses of 16 bytes make four pixels.

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
from course_lib.cuda.ladders.conv2d.backward_data.row_plan import plan_rows
from course_lib.cuda.ladders.conv2d.backward_data.v06_specialised import conv2d_backward_data_v06_specialised
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_sums(w, groups, arranged):
    """arranged[step, mask row, group, part, lane, h] = that part, big or small, of the weight that is a[h] of the lane.

    Rows of `a` are the sums (q, c), its columns 8 output maps; zeros where there is no sum or no map. One thread, one
    number.
    """
    M, C, K_h, K_w = w.shape
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        h, lane, part, group, rest = i % 4, i // 4 % 32, i // 128 % 2, i // 256 % groups, i // (256 * groups)
        p, m = rest % K_h, rest // K_h * 8 + lane % 4 + 4 * (h // 2)
        k = group * 16 + lane // 4 + 8 * (h % 2)
        value = float32(0)
        if m < M and k < C * K_w:
            value = w[m, k % C, p, k // C]
        big, small = two_parts(value)
        arranged[i] = bits_float(small if part else big)


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a RowPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    M, C, H, W, K_h, K_w, H_OUT, W_OUT, p_h, p_w = s.M, s.C, s.H, s.W, s.K_h, s.K_w, s.H_out, s.W_out, s.p_h, s.p_w
    THREADS, BLOCKS, TILES, NI, RS, STAGES, GROUPS = (
        plan.threads, plan.blocks, plan.TW, plan.NI, plan.RS, plan.STAGES, plan.groups
    )  # fmt: skip
    EIGHTS, TURNS, PIECE, PLANE, STAGE, LINE = plan.eights, plan.turns, plan.piece, plan.plane, plan.stage, plan.line
    MASKS, RESULTS, COLUMNS, PLACES, LAST = plan.masks, plan.results, plan.columns, H_OUT * W_OUT, K_h - 1
    END, AHEAD, SUMS_BEGIN, SUM_ROW = MASKS + STAGES * STAGE, STAGES - 1, MASKS + STAGES * STAGE, 16 * GROUPS * LINE
    RUN, PIECES, STEP_MASKS, P_MASKS = RS * W_OUT, RS * W_OUT // PIECE, K_h * GROUPS * 256, GROUPS * 256
    ROW, SUMS, PARTS, BY_TWO, IMAGE_ROW = 4 * TILES, 4 * TILES * K_h, 8 * TILES, -(-K_h // 2), RS * W_OUT
    WIDE, READ, ACROSS, FOURS = plan.wide, plan.read, W // plan.read, MASKS // 4
    PIXELS, COPIES, BOTH = RS * NI * C * ACROSS, 8 * EIGHTS * NI * PIECES, 2 * RESULTS
    SUM_COUNT, PLACED = C * K_w, 1 if W_OUT % 2 == 0 else 2  # 1: neighbours are of one image
    OUTS = PLACED * TILES
    wait = cp_async_wait0 if STAGES == 2 else cp_async_wait1

    @jit(device=True, forceinline=True)
    def fetch(dy, first, turn, to, shared):
        """Begin to copy RS rows of dy, of all maps and NI images, to the stage at `to`; zeros where there is none."""
        for i in range(nonneg(cuda.threadIdx.x), COPIES, THREADS):
            i = uint32(i)  # divisions of 32 bits are multiplications
            run, k = uint32(i // PIECES), i % PIECES * PIECE
            m, n = run // NI, run % NI
            place = turn * RUN + k
            inside = m < M and first + n < dy.shape[0] and place < PLACES
            source = ((first + n) * M + m) * PLACES + place if inside else 0
            if PIECE == 4:
                cp_async16_part(shared, nonneg(to + m * PLANE + n * RUN + k), dy, nonneg(source), 4 if inside else 0)
            else:
                cp_async4_part(shared, nonneg(to + m * PLANE + n * RUN + k), dy, nonneg(source), 1 if inside else 0)

    @jit(device=True, forceinline=True)
    def weights(shared, at, k, big, small):
        """Bring both parts of a step's weights into registers: operand k."""
        i = 4 * k
        w_0, w_1, w_2, w_3 = ld4(shared, nonneg(at))
        big[i], big[i + 1], big[i + 2], big[i + 3] = float_bits(w_0), float_bits(w_1), float_bits(w_2), float_bits(w_3)
        w_0, w_1, w_2, w_3 = ld4(shared, nonneg(at + 128))
        small[i], small[i + 1] = float_bits(w_0), float_bits(w_1)
        small[i + 2], small[i + 3] = float_bits(w_2), float_bits(w_3)

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
    def add_up(shared, at, first, turn, dx):
        """dx of the rows whose sums lie at `at`: each pixel from the K_w columns that it saw."""
        for i in range(nonneg(cuda.threadIdx.x), PIXELS, THREADS):
            i = uint32(i)
            v, c, n, r = i % ACROSS * READ, i // ACROSS % C, i // (ACROSS * C) % NI, i // (ACROSS * C * NI)
            h = turn * RS + r - p_h
            if first + n < dx.shape[0] and h >= 0 and h < H:
                k = nonneg(at + r * SUM_ROW + c * LINE + n * WIDE + p_w + v)
                to = nonneg((((first + n) * C + c) * H + h) * W + v)
                if READ == 4:
                    d_0, d_1, d_2, d_3 = ld4(shared, k)
                    for q in range(1, K_w):
                        e_0, e_1, e_2, e_3 = ld4(shared, k + q * (C * LINE))
                        d_0, d_1, d_2, d_3 = d_0 + e_0, d_1 + e_1, d_2 + e_2, d_3 + e_3
                    st4(dx, to, d_0, d_1, d_2, d_3)
                else:
                    total = shared[k]
                    for q in range(1, K_w):
                        total += shared[k + q * (C * LINE)]
                    dx[first + n, c, h, v] = total

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _backward_data_v10(dy, w, dx):
        # who am I
        shared = cuda.shared.array(0, float32, 16)  # weights, stages of dy, sums of two stages
        acc, part = cuda.local.array(SUMS, float32), cuda.local.array(PARTS, float32)  # acc: mask row, tile, register
        big, small = cuda.local.array(8, uint32), cuda.local.array(8, uint32)
        b_0, b_1 = cuda.local.array(TILES, uint32), cuda.local.array(TILES, uint32)
        s_0, s_1 = cuda.local.array(TILES, uint32), cuda.local.array(TILES, uint32)
        base, out = cuda.local.array(TILES, int32), cuda.local.array(OUTS, int32)
        t, first = nonneg(cuda.threadIdx.x), int32(nonneg(cuda.blockIdx.x) * NI)
        warp, lane = t // 32, t % 32
        g, q = lane // 4, lane % 4
        group, tile = warp % GROUPS, warp // GROUPS * TILES
        for j in range(TILES):
            column = min((tile + j) * 8 + g, COLUMNS - 1)
            base[j] = q * PLANE + column // W_OUT * IMAGE_ROW + column % W_OUT
            for e in range(PLACED):  # a lane has the columns 2 q and 2 q + 1 of a tile, for the sums g and g + 8
                column = (tile + j) * 8 + 2 * q + e
                out[PLACED * j + e] = column // W_OUT * WIDE + column % W_OUT if column < COLUMNS else -1
        upper, lower = group * 16 + g, group * 16 + g + 8
        at_upper, at_lower = upper * LINE + upper // C, lower * LINE + lower // C
        for i in range(SUMS):
            acc[i] = float32(0)
        for i in range(4 * t, BOTH, 4 * THREADS):  # beside a row of sums there is nothing, always
            st4(shared, SUMS_BEGIN + i, float32(0), float32(0), float32(0), float32(0))
        # fill all stages but one
        for i in range(t, FOURS, THREADS):
            cp_async16(shared, 4 * i, w, 4 * i)
        for turn in range(AHEAD):
            fetch(dy, first, turn, MASKS + turn * STAGE, shared)
            cp_async_commit()
        stage, free = int32(MASKS), int32(MASKS + AHEAD * STAGE)
        for turn in range(int32(TURNS)):
            wait()  # my copies to this stage are there,
            cuda.syncthreads()  # everybody's are; sums of the last stage too, and nobody reads those before
            if turn + AHEAD < TURNS:
                fetch(dy, first, turn + AHEAD, free, shared)
            cp_async_commit()
            here = int32(SUMS_BEGIN + turn % 2 * RESULTS)
            if turn > 0:
                add_up(shared, SUMS_BEGIN + (turn + 1) % 2 * RESULTS, first, turn - 1, dx)
            for r in range(int32(RS)):
                if turn * RS + r < H_OUT:
                    at_w = group * 256 + 4 * lane
                    for eight in range(int32(EIGHTS)):
                        at = int32(stage + eight * (8 * PLANE) + r * W_OUT)
                        for j in range(TILES):
                            b_0[j], s_0[j] = two_parts(shared[nonneg(at + base[j])])
                            b_1[j], s_1[j] = two_parts(shared[nonneg(at + base[j]) + 4 * PLANE])
                        for two in unroll(BY_TWO):  # two mask rows, so that no instruction waits for the one before it
                            for i in range(PARTS):
                                part[i] = float32(0)
                            for k in range(min(2, K_h - 2 * two)):
                                weights(shared, at_w + (2 * two + k) * P_MASKS, k, big, small)
                            for k in range(min(2, K_h - 2 * two)):
                                multiply(part, k, small, b_0, b_1)  # small products first
                            for k in range(min(2, K_h - 2 * two)):
                                multiply(part, k, big, s_0, s_1)
                            for k in range(min(2, K_h - 2 * two)):
                                multiply(part, k, big, b_0, b_1)
                            for k in range(min(2, K_h - 2 * two)):
                                for i in range(ROW):
                                    acc[(2 * two + k) * ROW + i] += part[k * ROW + i]
                        at_w += STEP_MASKS
                for j in range(TILES):
                    for e in range(2):
                        place = out[PLACED * j + e % PLACED]
                        if place >= 0:
                            k = here + r * SUM_ROW + place + e // PLACED
                            if upper < SUM_COUNT:
                                shared[nonneg(k + at_upper)] = acc[4 * j + e]
                            if lower < SUM_COUNT:
                                shared[nonneg(k + at_lower)] = acc[4 * j + 2 + e]
                for k in unroll(LAST):  # the next row of dy reaches a row further
                    for i in range(ROW):
                        acc[k * ROW + i] = acc[(k + 1) * ROW + i]
                for i in range(ROW):
                    acc[LAST * ROW + i] = float32(0)
            free = stage
            stage = int32(stage + STAGE if stage + STAGE < END else MASKS)
        cuda.syncthreads()
        add_up(shared, SUMS_BEGIN + (TURNS + 1) % 2 * RESULTS, first, TURNS - 1, dx)

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
    """Arrange the weights, and launch the kernel of a RowPlan on checked arrays (...).

    No errors. Source: the course's own.
    """
    arranged = gpu.empty(plan.masks, np.float32)
    _arrange_sums[-(-arranged.size // ARRANGING), ARRANGING](w, plan.groups, arranged)
    blocks = -(-int(dy.shape[0]) // plan.NI)
    make(plan)[blocks, plan.threads, 0, plan.shared](dy, arranged, dx)


def traffic(n):
    """Return what is counted over both launches for Sizes n cut into whole tiles.

    Whole tiles: NI divides B, 8 TW the columns of NI images, RS the rows of dy, 16 the sums and 8 the output maps, and
    there is no padding.

    No errors. Source: the course's own.
    """
    p = plan_rows(replace(n, B=0))
    blocks, copies = n.B // p.NI, -(-8 * p.eights * p.NI * (p.RS * n.W_out // p.piece) // 32)
    rows = blocks * p.warps * n.H_out * p.eights
    quads = -(-p.RS * p.NI * n.C * (n.W // p.read) // 32)
    added = n.B * n.C * n.H * n.W * (n.K_w - 1)
    return {
        "global_load_requests": p.masks // 32 + blocks * (p.masks // 128 + n.H_out // p.RS * copies),
        "global_store_requests": p.masks // 32 + blocks * p.turns * quads,
        "shared_load_requests": rows * 2 * (p.TW + n.K_h) + blocks * p.turns * quads * n.K_w,
        "flops": 3 * rows * n.K_h * p.TW * 2 * 16 * 8 * 8 + 32 * rows * (2 * p.TW + 4 * p.TW * n.K_h) + added + p.masks,
    }
