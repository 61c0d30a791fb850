"""The gradient for the masks: spectra of x tiles times conjugate spectra of dy tiles, added up as frequencies.

    dw = inverse of ( sum over tiles and images of X conj(D) )

With two images as real and imaginary part, x_1 + i x_2 and d_1 + i d_2, the real part of the inverse is the sum of both
images' gradients, and the imaginary part, which mixes them, is thrown away. A tile's transform is used for MB maps, the
inverse is done once for all images. Each group of threads adds up a slice of the tiles in its registers; the slices are
added in a fixed order by a second kernel, so that equal input gives equal bits; a third transforms back.

Source: the course's own; H, "Calculating dE/dW".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.fft import grids
from course_lib.cuda.fft.plan import THREADS
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel that adds up the spectra of a WeightPlan. No errors of its own. Source: the course's own."""
    s, T, MB, BLOCKS = plan.s, plan.T, plan.MB, plan.blocks
    forward, _ = grids.make(T)
    FLOATS, GROUPS, SUMS, HALF, SPECTRUM = grids.floats(T), plan.groups, MB * T, T // 2, 2 * T * T
    SHARED = FLOATS * GROUPS
    C, H, W, HW, CHW, M = s.C, s.H, s.W, s.H * s.W, s.C * s.H * s.W, s.M
    S_H, S_W, P_H, P_W, W_OUT, MAP = s.s_h, s.s_w, s.p_h, s.p_w, s.W_out, s.H_out * s.W_out
    (ROWS, COLUMNS), (V_H, V_W), (Q_H, Q_W) = plan.cut, plan.valid, plan.piece
    TILES, TILES_W, PIECES, ACROSS, COMBOS = plan.at_once, plan.tiles[1], plan.parts, plan.pieces[1], plan.combos
    IMAGE, DW = M * MAP, M * C * PIECES * SPECTRUM

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _weight_spectra(x, dy, B, slices, parts):
        shared = cuda.shared.array(SHARED, float32, alignment=16)
        x_re, x_im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        re, im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        sum_re, sum_im = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)
        t, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        lane, base = t % T, t // T * FLOATS
        combo, slice_ = block % COMBOS, block // COMBOS * GROUPS + t // T
        piece, c, m0 = combo % PIECES, combo // PIECES % C, combo // (PIECES * C) * MB
        units = (B + 1) // 2 * TILES
        for i in range(SUMS):
            sum_re[i], sum_im[i] = float32(0), float32(0)

        for turn in range((units + slices - 1) // slices):  # as many for all: a warp stays together
            unit = turn * slices + slice_
            works = unit < units
            unit = min(unit, units - 1)
            tile, n = unit % TILES, unit // TILES * 2
            top, left, two = tile // TILES_W * V_H, tile % TILES_W * V_W, n + 1 < B
            row, col = top - P_H + piece // ACROSS * Q_H, left - P_W + piece % ACROSS * Q_W + lane
            beside = uint32(col) < uint32(W)
            at = n * CHW + c * HW + col
            also = at + (CHW if two else 0)
            for k in range(T):
                h = row + k
                x_re[k], x_im[k] = float32(0), float32(0)
                if beside and uint32(h) < uint32(H):  # a negative row is a large number
                    x_re[k], x_im[k] = x[nonneg(at + h * W)], x[nonneg(also + h * W)]
            forward(x_re, x_im, shared, base, lane)
            right = left + lane
            beside = works and lane < V_W and right < COLUMNS and right % S_W == 0
            for m in unroll(MB):
                at = n * IMAGE + min(m0 + m, M - 1) * MAP + right // S_W
                for k in range(T):
                    h = top + k
                    re[k], im[k] = float32(0), float32(0)
                    if beside and k < V_H and h < ROWS and h % S_H == 0:
                        re[k] = dy[nonneg(at + h // S_H * W_OUT)]
                        if two:
                            im[k] = dy[nonneg(at + h // S_H * W_OUT + IMAGE)]
                forward(re, im, shared, base, lane)
                for k in range(T):
                    sum_re[m * T + k] += x_re[k] * re[k]
                    sum_im[m * T + k] += x_im[k] * re[k]
                    sum_re[m * T + k] += x_im[k] * im[k]
                    sum_im[m * T + k] -= x_re[k] * im[k]

        for m in unroll(MB):
            if m0 + m < M:
                at = slice_ * DW + (((m0 + m) * C + c) * PIECES + piece) * SPECTRUM + lane * 4
                for k in range(HALF):
                    i = m * T + 2 * k
                    st4(parts, nonneg(at + k * (4 * T)), sum_re[i], sum_im[i], sum_re[i + 1], sum_im[i + 1])

    return _weight_spectra


@functools.lru_cache(maxsize=8)
def make_back(T):
    """Return the kernel that transforms sums of spectra back into masks. ValueError as `grids.make`."""
    _, backward = grids.make(T)
    FLOATS, GROUPS, SCALE, HALF = grids.floats(T), THREADS // T, 1.0 / T**2, T // 2
    SHARED = FLOATS * GROUPS

    @jit(cache=True)
    def _masks_back(spectra, K_h, K_w, across, P_h, P_w, pieces, dw):
        shared = cuda.shared.array(SHARED, float32, alignment=16)
        re, im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        t = nonneg(cuda.threadIdx.x)
        lane, group = t % T, t // T
        masks = spectra.size // (2 * T * T)
        mask = cuda.blockIdx.x * GROUPS + group
        works = mask < masks
        mask = min(mask, masks - 1)
        for k in range(HALF):
            place = nonneg(mask * (2 * T * T) + (k * T + lane) * 4)
            re[2 * k], im[2 * k], re[2 * k + 1], im[2 * k + 1] = ld4(spectra, place)
        backward(re, im, shared, group * FLOATS, lane)
        piece = mask % pieces
        p0, q = piece // across * P_h, piece % across * P_w + lane
        for k in range(T):
            if works and k < P_h and lane < P_w and p0 + k < K_h and q < K_w:
                dw[nonneg(mask // pieces * (K_h * K_w) + (p0 + k) * K_w + q)] = re[k] * float32(SCALE)

    return _masks_back


def launch(plan, dy, x, dw):
    """Write dw (M, C, K_h, K_w) from dy (B, M, H_out, W_out) and x (B, C, H, W), checked, by a WeightPlan. No errors.

    Source: the course's own.
    """
    B, s = int(x.shape[0]), plan.s
    slices, numbers = plan.slices(B), s.M * s.C * plan.parts * 2 * plan.T**2
    parts, spectra = gpu.empty((slices, numbers), np.float32), gpu.empty(numbers, np.float32)
    make(plan)[plan.grid(B), THREADS](
        x.reshape(x.size), dy.reshape(dy.size), B, slices, parts.reshape(parts.size)
    )
    add_parts(parts, spectra)
    (P_h, P_w), across, masks = plan.piece, plan.pieces[1], s.M * s.C * plan.parts
    make_back(plan.T)[-(-masks // plan.groups), THREADS](
        spectra, s.K_h, s.K_w, across, P_h, P_w, plan.parts, dw.reshape(dw.size)
    )


