"""The gradient of overlapping windows as it was before `pool_overlapping`, to be timed beside it.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer". Arrays are flat and sizes uint32, as in `pool_forward`;
`Bands.numbers` come behind the padding.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import bits_float, float_bits, ld2, ld4, st2, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_bands import SECTOR, WHOLE, covered, lead, pixels_of, windows_of
from course_lib.cuda.unroll import unroll

BATCH = 4
"""Windows that a thread asks for before it waits."""

NOBODY = np.uint32(0xFFFFFFFF)
"""The winner of no window: more than any place in a map."""


@jit(device=True)
def strip_of(task, across, strips, lines, top, bottom, before):
    """Return what `pool_bands.strip_of` does, by two divisions."""
    strip = np.uint32(task // across)
    m = np.uint32(strip // strips)
    line = np.uint32(top + np.uint32(strip - m * strips) * lines)
    stop = np.uint32(min(np.uint32(line + lines), bottom))
    return m, np.uint32(task - strip * across), line, stop, np.uint32(line - min(line, before))


@functools.cache
def writer_before(THREADS, LEAD):
    """Return the function that writes a band to dx, whole sectors but at its ends. No errors.

    Source: the course's own.
    """
    STEP = np.uint32(4 * THREADS)

    @jit(device=True)
    def _write(s, begin, end, t, dx):
        """dx[begin:end] = the band, which begins as far behind LEAD in s as `begin` behind a sector's edge."""
        lower, upper = np.uint32(np.uint32(begin + SECTOR - 1) & WHOLE), np.uint32(end & WHOLE)
        shift = np.uint32(LEAD - (begin & WHOLE))  # from a place in dx to that in s
        if t < np.uint32(min(lower, end) - begin):
            dx[np.uint32(begin + t)] = s[np.uint32(begin + t + shift)]
        at = np.uint32(lower + 4 * t)
        while at < upper:
            a, b, c, d = ld4(s, np.uint32(at + shift))
            st4(dx, at, a, b, c, d)
            at = np.uint32(at + STEP)
        if upper >= lower and t < np.uint32(end - upper):
            dx[np.uint32(upper + t)] = s[np.uint32(upper + t + shift)]

    return _write


@functools.cache
def max_bands(size, stride, THREADS):
    """Return the kernel in which pixels add up the dy of the windows that they have won. No errors.

    Source: K, "Pooling Kernel" (the mask).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    CELL, SUMS, BEFORE = s_h * s_w, P * s_h * s_w, np.uint32(P - 1)
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    write = writer_before(THREADS, LEAD)

    @jit(cache=True)
    def _max_pool_bands(
        dy, mask, H, W, H_out, W_out, p_h, p_w, maps, together, down, across, n, strips, lines, room, dx
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on dy and winner of each window
        sums = cuda.local.array(SUMS, float32)  # of the pixels of a cell, and of those below it
        window, step = cuda.local.array(Q, np.uint32), cuda.local.array(Q, np.uint32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * together), np.uint32(cuda.blockIdx.y * n)
        count, bottom = np.uint32(min(together, maps - first)), np.uint32(min(top + n, down))

        there, upper, span = windows_of(first, count, top, bottom, BEFORE, H_out, W_out)
        if t == 0:
            st2(s, np.uint32(room - 2), float32(0), bits_float(NOBODY))
        i = t
        while i < span:
            for k in unroll(BATCH):
                j = np.uint32(i + k * THREADS)
                if j < span:
                    d, winner = dy[np.uint32(there + j)], np.uint32(mask[np.uint32(there + j)])
                    st2(s, np.uint32(room + 2 * j), d, bits_float(winner))
            i = np.uint32(i + MORE)
        cuda.syncthreads()

        begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
        task = t
        while task < np.uint32(count * strips * across):
            m, v, line, stop, h = strip_of(task, across, strips, lines, top, bottom, BEFORE)
            row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)  # in the padding: huge
            me = np.uint32(row * W + column)
            at = np.uint32((first + m) * H * W + me - (begin & WHOLE) + LEAD)
            here = np.uint32(room + 2 * np.uint32((m * H_out + h - upper) * W_out + v))
            for k in unroll(Q):  # from left to right
                seen = np.uint32(v - (Q - 1 - k)) < W_out
                window[k] = np.uint32(here - 2 * (Q - 1 - k)) if seen else np.uint32(room - 2)
                step[k] = np.uint32(2 * W_out) if seen else np.uint32(0)
            for k in unroll(SUMS):
                sums[k] = float32(0)

            while h < stop:
                if h < H_out:
                    for q in unroll(Q):
                        d, winner = ld2(s, window[q])
                        place = np.uint32(float_bits(winner) - me)
                        for k in unroll(SUMS):  # pixel (k // s_w, k % s_w) from the cell's corner on
                            inside = k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w
                            if inside and place == np.uint32(k // s_w * W + k % s_w):
                                sums[k] += d
                        window[q] = np.uint32(window[q] + step[q])
                if h >= line:
                    for a in unroll(s_h):
                        for b in unroll(s_w):
                            if np.uint32(row + a) < H and np.uint32(column + b) < W:
                                s[np.uint32(at + a * W) + b] = sums[a * s_w + b]
                for k in unroll(SUMS):  # the cell below becomes this one
                    sums[k] = sums[k + CELL] if k + CELL < SUMS else float32(0)
                h, row = np.uint32(h + 1), np.uint32(row + S_H)
                me, at = np.uint32(me + S_H * W), np.uint32(at + S_H * W)
            task = np.uint32(task + NEXT)
        cuda.syncthreads()
        write(s, begin, end, t, dx)

    return _max_pool_bands


@functools.cache
def average_bands(size, stride, THREADS):
    """Return the kernel in which pixels add up their share of the dy of all windows around them. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    CELL, SUMS, BEFORE, COUNT = s_h * s_w, P * s_h * s_w, np.uint32(P - 1), np.float32(F_h * F_w)
    S_H, S_W, NEXT, MORE = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS), np.uint32(BATCH * THREADS)
    write = writer_before(THREADS, LEAD)

    @jit(cache=True)
    def _average_pool_bands(dy, H, W, H_out, W_out, p_h, p_w, maps, together, down, across, n, strips, lines, room, dx):
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on what each pixel of a window gets
        sums = cuda.local.array(SUMS, float32)
        window, step = cuda.local.array(Q, np.uint32), cuda.local.array(Q, np.uint32)
        t = np.uint32(cuda.threadIdx.x)
        first, top = np.uint32(cuda.blockIdx.x * together), np.uint32(cuda.blockIdx.y * n)
        count, bottom = np.uint32(min(together, maps - first)), np.uint32(min(top + n, down))

        there, upper, span = windows_of(first, count, top, bottom, BEFORE, H_out, W_out)
        if t == 0:
            s[np.uint32(room - 1)] = float32(0)
        i = t
        while i < span:
            for k in unroll(BATCH):
                j = np.uint32(i + k * THREADS)
                if j < span:
                    s[np.uint32(room + j)] = dy[np.uint32(there + j)] / COUNT
            i = np.uint32(i + MORE)
        cuda.syncthreads()

        begin, end = pixels_of(first, count, top, bottom, S_H, p_h, H, W)
        task = t
        while task < np.uint32(count * strips * across):
            m, v, line, stop, h = strip_of(task, across, strips, lines, top, bottom, BEFORE)
            row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)
            at = np.uint32((np.uint32((first + m) * H) + row) * W + column - (begin & WHOLE) + LEAD)
            here = np.uint32(room + (m * H_out + h - upper) * W_out + v)
            for k in unroll(Q):
                seen = np.uint32(v - (Q - 1 - k)) < W_out
                window[k] = np.uint32(here - (Q - 1 - k)) if seen else np.uint32(room - 1)
                step[k] = W_out if seen else np.uint32(0)
            for k in unroll(SUMS):
                sums[k] = float32(0)

            while h < stop:
                if h < H_out:
                    for q in unroll(Q):
                        d = s[window[q]]
                        for k in unroll(SUMS):
                            if k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w:
                                sums[k] += d
                        window[q] = np.uint32(window[q] + step[q])
                if h >= line:
                    for a in unroll(s_h):
                        for b in unroll(s_w):
                            if np.uint32(row + a) < H and np.uint32(column + b) < W:
                                s[np.uint32(at + a * W) + b] = sums[a * s_w + b]
                for k in unroll(SUMS):
                    sums[k] = sums[k + CELL] if k + CELL < SUMS else float32(0)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), np.uint32(at + S_H * W)
            task = np.uint32(task + NEXT)
        cuda.syncthreads()
        write(s, begin, end, t, dx)

    return _average_pool_bands
