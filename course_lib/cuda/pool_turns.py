"""The gradient of overlapping windows in turns: a block does some bands, and asks for the next one's windows early.

As `pool_overlapping`, whose pixels it computes in the same way. Windows of the next band are on their way, into
registers, while the pixels of this one are summed up and written: nobody waits for loads but at a block's first band.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer". Arrays are flat and sizes uint32, as in `pool_forward`;
`Bands.numbers` come behind the padding, then the bands of a block.
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
    rows_of,
    strip_of,
    windows_of,
    writer,
)
from course_lib.cuda.pool_overlapping import NOBODY, putter, quotient
from course_lib.cuda.unroll import unroll


@functools.cache
def max_turns(size, stride, THREADS):
    """Return the kernel in which pixels add up the dy of the windows that they have won. No errors.

    Source: K, "Pooling Kernel" (the mask).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE = P * s_h * s_w, np.uint32(P - 1)
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    put, write = putter(stride, SUMS), writer(THREADS, LEAD)

    @jit(cache=True)
    def _max_pool_turns(
        dy, mask, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, turns, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on dy and winner of each window
        sums = cuda.local.array(SUMS, float32)  # of the pixels of a cell, and of those below it
        window, step = cuda.local.array(Q, np.int64), cuda.local.array(Q, np.int64)
        ds, winners = cuda.local.array(BATCH, float32), cuda.local.array(BATCH, np.uint32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * turns * together), np.uint32(cuda.blockIdx.y * n)
        behind, bottom = np.uint32(min(first + turns * together, maps)), np.uint32(min(top + n, down))
        into, pitch = np.int64(np.uint32(room + 2 * t)), np.int64(W)
        if t == 0:
            st2(s, np.uint32(room - 2), float32(0), bits_float(NOBODY))
        there, upper, span = windows_of(
            first, np.uint32(min(together, behind - first)), top, bottom, BEFORE, H_out, W_out
        )
        j = np.int64(np.uint32(there + t))
        for k in unroll(BATCH):
            if np.uint32(t + k * THREADS) < span:
                ds[k], winners[k] = dy[j + k * THREADS], np.uint32(mask[j + k * THREADS])
        while first < behind:
            count = np.uint32(min(together, behind - first))
            for k in unroll(BATCH):
                if np.uint32(t + k * THREADS) < span:
                    st2(s, into + 2 * k * THREADS, ds[k], bits_float(winners[k]))
            i = np.uint32(t + MORE)
            while i < span:  # what the registers do not hold
                st2(
                    s,
                    np.uint32(room + 2 * i),
                    dy[np.uint32(there + i)],
                    bits_float(np.uint32(mask[np.uint32(there + i)])),
                )
                i = np.uint32(i + NEXT)
            cuda.syncthreads()

            after = np.uint32(first + count)
            if after < behind:
                few = np.uint32(min(together, behind - after))
                there, upper, span = windows_of(after, few, top, bottom, BEFORE, H_out, W_out)
                j = np.int64(np.uint32(there + t))
                for k in unroll(BATCH):
                    if np.uint32(t + k * THREADS) < span:
                        ds[k], winners[k] = dy[j + k * THREADS], np.uint32(mask[j + k * THREADS])
            begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
            task = t
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
            first = after

    return _max_pool_turns


@functools.cache
def average_turns(size, stride, THREADS):
    """Return the kernel in which pixels add up their share of the dy of all windows around them. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE, COUNT = P * s_h * s_w, np.uint32(P - 1), F_h * F_w
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    share, put, write = quotient(COUNT), putter(stride, SUMS), writer(THREADS, LEAD)

    @jit(cache=True)
    def _average_pool_turns(
        dy, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, turns, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on what each pixel of a window gets
        sums = cuda.local.array(SUMS, float32)
        window, step = cuda.local.array(Q, np.int64), cuda.local.array(Q, np.int64)
        ds = cuda.local.array(BATCH, float32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * turns * together), np.uint32(cuda.blockIdx.y * n)
        behind, bottom = np.uint32(min(first + turns * together, maps)), np.uint32(min(top + n, down))
        into, pitch = np.int64(np.uint32(room + t)), np.int64(W)
        if t == 0:
            s[np.uint32(room - 1)] = float32(0)
        there, upper, span = windows_of(
            first, np.uint32(min(together, behind - first)), top, bottom, BEFORE, H_out, W_out
        )
        j = np.int64(np.uint32(there + t))
        for k in unroll(BATCH):
            if np.uint32(t + k * THREADS) < span:
                ds[k] = dy[j + k * THREADS]
        while first < behind:
            count = np.uint32(min(together, behind - first))
            for k in unroll(BATCH):
                if np.uint32(t + k * THREADS) < span:
                    s[into + k * THREADS] = share(ds[k])
            i = np.uint32(t + MORE)
            while i < span:  # what the registers do not hold
                s[np.uint32(room + i)] = share(dy[np.uint32(there + i)])
                i = np.uint32(i + NEXT)
            cuda.syncthreads()

            after = np.uint32(first + count)
            if after < behind:
                few = np.uint32(min(together, behind - after))
                there, upper, span = windows_of(after, few, top, bottom, BEFORE, H_out, W_out)
                j = np.int64(np.uint32(there + t))
                for k in unroll(BATCH):
                    if np.uint32(t + k * THREADS) < span:
                        ds[k] = dy[j + k * THREADS]
            begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
            task = t
            while task < np.uint32(count * strips * across):
                m, v, line, stop, h = strip_of(task, across, per_across, strips, per_strips, lines, top, bottom, BEFORE)
                upper_row, lower_row = rows_of(line, stop, S_H, p_h, H)
                row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)
                at = np.int64(
                    np.int32(np.uint32((np.uint32((first + m) * H) + row) * W + column - (begin & WHOLE) + LEAD))
                )
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
            first = after

    return _average_pool_turns
