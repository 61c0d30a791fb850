"""What a thread does in the gradient of overlapping windows: it goes down a column of cells, line by line.

It looks at each line of windows once. A window's dy may go to a pixel of its own line, or of the next ones: these sums
wait in registers until the thread is there. Each pixel still adds up its windows row by row and, in a row, from left to
right. Words as in `pool_bands`.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer".
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_bands import WHOLE, covered, lead, rows_of, strip_of
from course_lib.cuda.unroll import unroll


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
def walker(size, stride, THREADS, FLOATS, add):
    """Return the function in which a thread goes down its strips and puts their pixels into the band. No errors.

    A window takes FLOATS numbers of s. add(s, sums, at, q, me, W) adds what the window at s[at], the one of number q
    from the left, gives to the pixels of a cell and to those below, whose first one is at `me` in the map.

    Source: the course's own.
    """
    (s_h, s_w), (P, Q), LEAD = stride, covered(size, stride), lead(size)
    SUMS, BEFORE = P * s_h * s_w, np.uint32(P - 1)
    S_H, S_W, NEXT = np.uint32(s_h), np.uint32(s_w), np.uint32(THREADS)
    put = putter(stride, SUMS)

    @jit(device=True)
    def _walk(
        s, t, first, count, top, bottom, upper, begin, H, W, H_out, W_out, p_h, p_w,
        across, per_across, strips, per_strips, lines, room,
    ):  # fmt: skip
        sums = cuda.local.array(SUMS, float32)  # of the pixels of a cell, and of those below it
        window, step = cuda.local.array(Q, np.int64), cuda.local.array(Q, np.int64)
        pitch, task = np.int64(W), t
        while task < np.uint32(count * strips * across):
            m, v, line, stop, h = strip_of(task, across, per_across, strips, per_strips, lines, top, bottom, BEFORE)
            upper_row, lower_row = rows_of(line, stop, S_H, p_h, H)
            row, column = np.uint32(h * S_H - p_h), np.uint32(v * S_W - p_w)  # in the padding: huge
            me = np.uint32(row * W + column)
            row, rows = np.uint32(row - upper_row), np.uint32(lower_row - upper_row)  # of the strip
            at = np.int64(np.int32(np.uint32((first + m) * H * W + me - (begin & WHOLE) + LEAD)))
            here = np.uint32(room + FLOATS * np.uint32((m * H_out + h - upper) * W_out + v))
            for k in unroll(Q):  # from left to right
                seen = np.uint32(v - (Q - 1 - k)) < W_out
                window[k] = np.int64(np.uint32(here - FLOATS * (Q - 1 - k)) if seen else np.uint32(room - FLOATS))
                step[k] = np.int64(np.uint32(FLOATS * W_out) if seen else np.uint32(0))
            for k in unroll(SUMS):
                sums[k] = float32(0)

            last = np.uint32(min(stop, H_out))
            while h < last:
                for q in unroll(Q):
                    add(s, sums, window[q], q, me, W)
                    window[q] += step[q]
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
                me = np.uint32(me + S_H * W)
            while h < stop:  # windows of the lines above reach further down
                put(s, sums, at, pitch, row, rows, column, W)
                h, row, at = np.uint32(h + 1), np.uint32(row + S_H), at + s_h * pitch
            task = np.uint32(task + NEXT)

    return _walk
