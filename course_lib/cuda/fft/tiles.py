"""Convolution by overlap-save: a warp transforms tiles, multiplies spectra in registers and transforms back.

One thread holds a column of a tile. For each input map it loads two images as one complex tile, transforms it, and
multiplies it by the spectra of MB masks into MB sums; when all input maps are in, each sum is transformed back, and the
part of the tile that no number from its other end reached is written. Shared memory is used for the turn between
columns and rows alone: 4 T requests of 8 bytes a transform of a warp, none of them with a bank conflict. Spectra of
masks are made once a call and read from the cache; a request of 16 bytes brings two frequencies.

Source: the course's own; A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (overlap-save).
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.fft import grids
from course_lib.cuda.fft.plan import THREADS
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll


@functools.lru_cache(maxsize=64)
def make_spectra(T, turned):
    """Return the kernel that transforms masks; `turned` for those of dx. ValueError as `grids.make`."""
    forward, _ = grids.make(T)
    FLOATS, GROUPS = grids.floats(T), THREADS // T
    SHARED = FLOATS * GROUPS
    SCALE, HALF = 1.0 / T**2, T // 2

    @jit(cache=True)
    def _mask_spectra(w, C, K_h, K_w, across, P_h, P_w, pieces, spectra):
        shared = cuda.shared.array(SHARED, float32, alignment=16)
        re, im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        t = nonneg(cuda.threadIdx.x)
        lane, group = t % T, t // T
        last = spectra.size // (2 * T * T) - 1
        mask = min(cuda.blockIdx.x * GROUPS + group, last)
        piece, c, m = mask % pieces, mask // pieces % C, mask // pieces // C
        p0, q = piece // across * P_h, piece % across * P_w + lane
        first = (m * C + c) * K_h * K_w
        if turned:  # w is (C, M, K_h, K_w) then
            first = (c * ((last + 1) // (pieces * C)) + m) * K_h * K_w
        for k in range(T):
            p = p0 + k
            inside = k < P_h and lane < P_w and p < K_h and q < K_w
            place = p * K_w + q
            if turned:
                place = K_h * K_w - 1 - place
            value = w[first + place if inside else 0]
            re[k] = value * float32(SCALE) if inside else float32(0)
            im[k] = float32(0)
        forward(re, im, shared, group * FLOATS, lane)
        for k in range(HALF):
            st4(spectra, nonneg(mask * (2 * T * T) + (k * T + lane) * 4), re[2 * k], -im[2 * k], re[2 * k + 1],
                -im[2 * k + 1])  # fmt: skip

    return _mask_spectra


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a TilePlan. No errors of its own. Source: the course's own."""
    s, T, MB, BLOCKS = plan.c, plan.T, plan.MB, plan.blocks
    forward, backward = grids.make(T)
    FLOATS, GROUPS, SUMS = grids.floats(T), plan.groups, MB * T
    SHARED, SPECTRUM, HALF = FLOATS * GROUPS, 2 * T * T, T // 2
    C, H, W, M, HW, CHW = s.C, s.H, s.W, s.M, s.H * s.W, s.C * s.H * s.W
    O_H, O_W, U_H, U_W, E_H, E_W, W_Y = s.o_h, s.o_w, s.u_h, s.u_w, s.e_h, s.e_w, s.W_y
    MAP, IMAGE = s.H_y * s.W_y, s.M * s.H_y * s.W_y
    ROWS, COLUMNS, (V_H, V_W) = s.rows, s.columns, plan.valid
    (P_H, P_W), ACROSS, PIECES, MAP_BLOCKS = plan.piece, plan.pieces[1], plan.parts, plan.map_blocks
    TILES, TILES_W = plan.at_once, plan.tiles[1]
    H_SPREAD, W_SPREAD = (H - 1) * U_H + 1, (W - 1) * U_W + 1

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_tiles(x, spectra, b, biased, B, y):
        shared = cuda.shared.array(SHARED, float32, alignment=16)
        re, im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        sum_re, sum_im = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)

        # Who am I: threads without a tile do the last one again, and write nothing.
        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        lane, base = t % T, t // T * FLOATS
        unit, units = block // MAP_BLOCKS * GROUPS + t // T, (B + 1) // 2 * TILES
        works = unit < units
        unit = min(unit, units - 1)
        tile, n = unit % TILES, uint32(unit // TILES * 2)  # what is kept for long has 32 bits
        top, left = uint32(tile // TILES_W * V_H), uint32(tile % TILES_W * V_W)
        m0 = uint32(block % MAP_BLOCKS * MB)
        two = n + 1 < B
        second = CHW if two else 0  # an odd last image is its own partner, whose result nobody writes
        for i in range(SUMS):
            sum_re[i], sum_im[i] = float32(0), float32(0)

        for c in range(C):
            for piece in range(PIECES):
                row, col = top - O_H, left - O_W + lane
                if PIECES > 1:
                    row, col = row + piece // ACROSS * P_H, col + piece % ACROSS * P_W
                beside = uint32(col) < uint32(W_SPREAD)
                if U_W > 1:
                    beside = beside and col % U_W == 0
                    col = col // U_W
                at = n * CHW + c * HW + col
                also = at + second
                for k in range(T):
                    h = row + k
                    inside = beside and uint32(h) < uint32(H_SPREAD)  # a negative row is a large number
                    if U_H > 1:
                        inside = inside and h % U_H == 0
                        h = h // U_H
                    re[k], im[k] = float32(0), float32(0)
                    if inside:
                        re[k], im[k] = x[nonneg(at + h * W)], x[nonneg(also + h * W)]
                forward(re, im, shared, base, lane)
                for m in unroll(MB):
                    mask = (min(m0 + m, M - 1) * C + c) * PIECES + piece
                    for k in range(HALF):
                        w0, w1, w2, w3 = ld4(spectra, nonneg(mask * SPECTRUM + lane * 4 + k * (4 * T)))
                        i = m * T + 2 * k
                        sum_re[i] += re[2 * k] * w0
                        sum_im[i] += re[2 * k] * w1
                        sum_re[i + 1] += re[2 * k + 1] * w2
                        sum_im[i + 1] += re[2 * k + 1] * w3
                        sum_re[i] -= im[2 * k] * w1
                        sum_im[i] += im[2 * k] * w0
                        sum_re[i + 1] -= im[2 * k + 1] * w3
                        sum_im[i + 1] += im[2 * k + 1] * w2

        right = left + lane
        writes = works and lane < V_W and right < COLUMNS
        if E_W > 1:
            writes = writes and right % E_W == 0
            right = right // E_W
        for m in unroll(MB):
            for k in range(T):
                re[k], im[k] = sum_re[m * T + k], sum_im[m * T + k]
            backward(re, im, shared, base, lane)
            if writes and m0 + m < M:
                bias = float32(0)
                if biased:
                    bias = b[m0 + m]
                to = n * IMAGE + (m0 + m) * MAP + right
                for k in range(V_H):
                    h = top + k
                    if h < ROWS and h % E_H == 0:
                        y[nonneg(to + h // E_H * W_Y)] = re[k] + bias
                        if two:
                            y[nonneg(to + h // E_H * W_Y + IMAGE)] = im[k] + bias

    return _conv2d_tiles


def mask_spectra(plan, w, turned=False):
    """Return the conjugate spectra of masks as a flat device array, for a TilePlan.

    w is (M, C, K_h, K_w), or with `turned` (C, M, K_h, K_w): then each mask is turned by 180 degrees. No errors.
    Source: the course's own.
    """
    spectra = gpu.empty(plan.masks * 2 * plan.T**2, np.float32)
    (P_h, P_w), (_, across) = plan.piece, plan.pieces
    make_spectra(plan.T, turned)[-(-plan.masks // plan.groups), THREADS](
        w.reshape(w.size), plan.c.C, plan.c.K_h, plan.c.K_w, across, P_h, P_w, plan.parts, spectra
    )
    return spectra


def launch(plan, x, w, b, y, turned=False):
    """Write a Correlation into y by its TilePlan, for checked device arrays; b may be None. No errors.

    Source: the course's own.
    """
    spectra, B = mask_spectra(plan, w, turned), int(x.shape[0])
    bias = spectra if b is None else b
    make(plan)[plan.grid(B), THREADS](x.reshape(x.size), spectra, bias, b is not None, B, y.reshape(y.size))
