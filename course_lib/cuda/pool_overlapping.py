"""The gradient of overlapping windows: a thread goes down a column of cells, with what the next lines will need.

`pool_backward` has a thread for each pixel. It works out where it is by two divisions and asks the windows around it:
more than a hundred instructions for each 128 bytes that a warp writes. An H200 issues them, and starts blocks for so
little, at a quarter of the rate at which its memory could take the result. Here a block brings the windows of a band
(`pool_bands`) to shared memory, a thread computes the pixels of some dozens of cells, and the block writes the band:
whole sectors, four pixels an access.

A thread looks at each line of windows once. A window's dy may go to a pixel of its own line, or of the next ones: these
sums wait in registers until the thread is there. Each pixel still adds up its windows row by row and, in a row, from
left to right, so that its bits are those of `pool_backward`.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer". Arrays are flat and sizes uint32, as in `pool_forward`;
`Bands.numbers` come behind the padding.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import bits_float, float_bits, ld2, nonneg, st2
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_bands import (
    BATCH,
    WHOLE,
    covered,
    lead,
    pixels_of,
    registers,
    rows_of,
    strip_of,
    windows_of,
    writer,
)
from course_lib.cuda.unroll import unroll

NOBODY = np.uint32(0xFFFFFFFF)
"""The winner of no window: more than any place in a map."""


@functools.cache
def putter(stride, SUMS):
    """Return the function that puts the pixels of a cell into the band; the cell below becomes this one. No errors."""
    (s_h, s_w), CELL = stride, stride[0] * stride[1]

    @jit(device=True)
    def _put(s, sums, at, pitch, row, rows, column, W):
        for a in unroll(s_h):
            for b in unroll(s_w):
                if np.uint32(row + a) < rows and np.uint32(column + b) < W:
                    s[nonneg(at + a * pitch + b)] = sums[a * s_w + b]
        for k in unroll(SUMS):
            sums[k] = sums[k + CELL] if k + CELL < SUMS else float32(0)

    return _put


@functools.cache
def max_bands(size, stride, THREADS, limited=True):
    """Return the kernel in which pixels add up the dy of the windows that they have won. No errors.

    `limited`: its registers are, see `pool_bands.registers`.

    Source: K, "Pooling Kernel" (the mask).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE = P * s_h * s_w, np.uint32(P - 1)
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    put, write = putter(stride, SUMS), writer(THREADS, LEAD)

    @jit(cache=True, max_registers=registers(size, stride) if limited else None)
    def _max_pool_bands(
        dy, mask, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on dy and winner of each window
        sums = cuda.local.array(SUMS, float32)  # of the pixels of a cell, and of those below it
        window, step = cuda.local.array(Q, np.int64), cuda.local.array(Q, np.int64)
        ds, winners = cuda.local.array(BATCH, float32), cuda.local.array(BATCH, np.uint32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * together), np.uint32(cuda.blockIdx.y * n)
        count, bottom = np.uint32(min(together, maps - first)), np.uint32(min(top + n, down))

        there, upper, span = windows_of(first, count, top, bottom, BEFORE, H_out, W_out)
        if t == 0:
            st2(s, np.uint32(room - 2), float32(0), bits_float(NOBODY))
        i = t
        while i < span:
            j, into = np.int64(np.uint32(there + i)), np.int64(np.uint32(room + 2 * i))
            for k in unroll(BATCH):  # all loads are on their way before the first is waited for
                if np.uint32(i + k * THREADS) < span:
                    ds[k], winners[k] = dy[j + k * THREADS], np.uint32(mask[j + k * THREADS])
            for k in unroll(BATCH):
                if np.uint32(i + k * THREADS) < span:
                    st2(s, into + 2 * k * THREADS, ds[k], bits_float(winners[k]))
            i = np.uint32(i + MORE)
        cuda.syncthreads()

        begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
        pitch, task = np.int64(W), t
        while task < np.uint32(count * strips * across):
            m, v, line, stop, h = strip_of(task, across, per_across, strips, per_strips, lines, top, bottom, BEFORE)
            upper_row, lower_row = rows_of(line, stop, S_H, p_h, H)
            row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)  # in the padding: huge
            me = np.uint32(row * W + column)
            row, rows = np.uint32(row - upper_row), np.uint32(lower_row - upper_row)  # of the strip
            at = np.int64(np.int32(np.uint32((first + m) * H * W + me - (begin & WHOLE) + LEAD)))
            here = np.uint32(room + 2 * np.uint32((m * H_out + h - upper) * W_out + v))
            for k in unroll(Q):  # from left to right
                seen = np.uint32(v - (Q - 1 - k)) < W_out
                window[k] = np.int64(np.uint32(here - 2 * (Q - 1 - k)) if seen else np.uint32(room - 2))
                step[k] = np.int64(np.uint32(2 * W_out) if seen else np.uint32(0))
            for k in unroll(SUMS):
                sums[k] = float32(0)

            last = np.uint32(min(stop, H_out))
            while h < last:
                for q in unroll(Q):
                    d, winner = ld2(s, window[q])
                    place = np.uint32(float_bits(winner) - me)
                    for k in unroll(SUMS):  # pixel (k // s_w, k % s_w) from the cell's corner on
                        inside = k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w
                        if inside and place == np.uint32(k // s_w * W + k % s_w):
                            sums[k] += d
                    window[q] += step[q]
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
                me = np.uint32(me + S_H * W)
            while h < stop:  # windows of the lines above reach further down
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
            task = np.uint32(task + NEXT)
        cuda.syncthreads()
        write(s, begin, end, t, dx)

    return _max_pool_bands


@functools.cache
def quotient(count):
    """Return the function d -> d / count of float32, rounded once as the division is, without its branch.

    A division asks whether its operands are ordinary, and branches: each load before it would be waited for alone. With
    r = fl(1 / count) and q = fl(d r), the rest d - count q is a number of float32 for counts of at most 64, and q +
    rest r, rounded once, is the quotient unless d / count lies halfway between two numbers: for odd counts it never
    does, for powers of two r is exact. By other counts it divides. A rest of 0, or NaN after an infinite d, leaves q.

    No errors. Source: J.-M. Muller and others, "Handbook of Floating-Point Arithmetic", "Division" (Newton-Raphson).
    """
    N, ONCE = np.float32(count), np.float32(1) / np.float32(count)
    if count % 2 == 0 and count & (count - 1):

        @jit(device=True)
        def _divided(d):
            return d / N

        return _divided

    @jit(device=True)
    def _share(d):
        q = d * ONCE
        rest = cuda.fma(-N, q, d)
        return cuda.fma(rest, ONCE, q) if rest < 0 or rest > 0 else q

    return _share


@functools.cache
def average_bands(size, stride, THREADS, limited=True):
    """Return the kernel in which pixels add up their share of the dy of all windows around them. No errors.

    `limited` as for `max_bands`.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE, COUNT = P * s_h * s_w, np.uint32(P - 1), F_h * F_w
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    share, put, write = quotient(COUNT), putter(stride, SUMS), writer(THREADS, LEAD)

    @jit(cache=True, max_registers=registers(size, stride) if limited else None)
    def _average_pool_bands(
        dy, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on what each pixel of a window gets
        sums = cuda.local.array(SUMS, float32)
        window, step = cuda.local.array(Q, np.int64), cuda.local.array(Q, np.int64)
        ds = cuda.local.array(BATCH, float32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * together), np.uint32(cuda.blockIdx.y * n)
        count, bottom = np.uint32(min(together, maps - first)), np.uint32(min(top + n, down))

        there, upper, span = windows_of(first, count, top, bottom, BEFORE, H_out, W_out)
        if t == 0:
            s[np.uint32(room - 1)] = float32(0)
        i = t
        while i < span:
            j, into = np.int64(np.uint32(there + i)), np.int64(np.uint32(room + i))
            for k in unroll(BATCH):  # all loads are on their way before the first is waited for
                if np.uint32(i + k * THREADS) < span:
                    ds[k] = dy[j + k * THREADS]
            for k in unroll(BATCH):
                if np.uint32(i + k * THREADS) < span:
                    s[into + k * THREADS] = share(ds[k])
            i = np.uint32(i + MORE)
        cuda.syncthreads()

        begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
        pitch, task = np.int64(W), t
        while task < np.uint32(count * strips * across):
            m, v, line, stop, h = strip_of(task, across, per_across, strips, per_strips, lines, top, bottom, BEFORE)
            upper_row, lower_row = rows_of(line, stop, S_H, p_h, H)
            row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)
            at = np.int64(np.int32(np.uint32((np.uint32((first + m) * H) + row) * W + column - (begin & WHOLE) + LEAD)))
            here = np.uint32(room + (m * H_out + h - upper) * W_out + v)
            for k in unroll(Q):
                seen = np.uint32(v - (Q - 1 - k)) < W_out
                window[k] = np.int64(np.uint32(here - (Q - 1 - k)) if seen else np.uint32(room - 1))
                step[k] = np.int64(W_out if seen else np.uint32(0))
            row, rows = np.uint32(row - upper_row), np.uint32(lower_row - upper_row)
            for k in unroll(SUMS):
                sums[k] = float32(0)

            last = np.uint32(min(stop, H_out))
            while h < last:
                for q in unroll(Q):
                    d = s[nonneg(window[q])]
                    for k in unroll(SUMS):
                        if k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w:
                            sums[k] += d
                    window[q] += step[q]
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
            while h < stop:
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
            task = np.uint32(task + NEXT)
        cuda.syncthreads()
        write(s, begin, end, t, dx)

    return _average_pool_bands
