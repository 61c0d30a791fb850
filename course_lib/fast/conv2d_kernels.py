"""The three loops of a convolution layer, for images that lie side by side: x (C, H, W, B), y (M, H_out, W_out, B).

Source: H, "Sequential Code: Forward Convolutional Layer" and "Calculating dE/dX", "Calculating dE/dW": the
same sums in another order. With stride 1 the pixels of neighbouring places are neighbours in memory too, so
that a whole output row, W_out * B numbers, is one run of the innermost loop.

All three work on two maps and five taps at a time (a tap is one weight and the pixels it meets). Seven
numbers are loaded then for ten multiply-adds, and what is summed stays in registers: 2 x 5 was measured the
fastest of 1 x 5 ... 4 x 6, at 150-200 GFLOP/s with one thread against 60 for one tap and one map.

A kernel gets the range `first ... last` of the units it shall do (see `threads.share`).
"""

import numpy as np

from course_lib.fast.compile import kernel

RUN = 1024
"""Most numbers of a row that are worked on at a time: seven such rows fit into the first-level cache."""

TAPS = 15
"""Taps of a unit of `weight_gradient`: a multiple of five, so that dy's rows are read once for three fives."""


@kernel
def forward(first, last, x, w, b, y, stride):
    """y[m] = b[m] + the taps of map m; a unit is one row of two maps. w (M, C, K_h, K_w), b (M,), M even."""
    (_, _, W, B), (M, H_out, W_out, _), (s_h, s_w) = x.shape, y.shape, stride
    pixels, weights, rows = x.reshape(-1), w.reshape(M, -1), y.reshape(M, H_out, -1)
    at = _tap_offsets(x, w)
    runs, length = _runs(W_out, s_w, B)
    for unit in range(first, last):
        h, m = unit // (M // 2), unit % (M // 2) * 2
        for run in range(runs):
            for start in range(0, length, RUN):
                here, n = run * B + start, min(RUN, length - start)
                there = (h * s_h * W + run * s_w) * B + start
                y0, y1 = rows[m, h, here : here + n], rows[m + 1, h, here : here + n]
                w0, w1 = weights[m], weights[m + 1]
                if at.size < 5:
                    y0[:], y1[:] = b[m], b[m + 1]
                else:
                    _set_five(y0, y1, b[m], b[m + 1], pixels, there, at, w0, w1)
                _add(y0, y1, pixels, there, at, 5, w0, w1)


@kernel
def input_gradient(first, last, dy, w, dx, stride, pad):
    """dx[c] = the sum of dy over every place that saw it; a unit is one row of two maps. w (C, K_h, K_w, M), C even."""
    (M, H_out, W_out, B), (C, H, W, _), (s_h, s_w), (p_h, p_w) = dy.shape, dx.shape, stride, pad
    K_h, K_w = w.shape[1:3]
    above, rows = dy.reshape(-1), dx.reshape(C, H, -1)
    at = np.arange(M) * (H_out * W_out * B)  # the taps are the M maps above
    for unit in range(first, last):
        h, c = unit // (C // 2), unit % (C // 2) * 2
        rows[c : c + 2, h] = 0
        for p in range(K_h):
            g, rest = (h + p_h - p) // s_h, (h + p_h - p) % s_h
            if rest != 0 or g < 0 or g >= H_out:
                continue  # no place sees row h with row p of its mask
            for q in range(K_w):
                # Places v whose column v s_w + q - p_w lies in the image.
                begin = max(0, -((q - p_w) // s_w))
                end = min(W_out, (W - 1 + p_w - q) // s_w + 1)
                runs, length = _runs(max(0, end - begin), s_w, B)
                for run in range(runs):
                    for start in range(0, length, RUN):
                        v, n = begin + run, min(RUN, length - start)
                        here = (v * s_w + q - p_w) * B + start
                        there = (g * W_out + v) * B + start
                        dx0, dx1 = rows[c, h, here : here + n], rows[c + 1, h, here : here + n]
                        _add(dx0, dx1, above, there, at, 0, w[c, p, q], w[c + 1, p, q])


@kernel
def weight_gradient(first, last, x, dy, dw, stride):
    """dw[m, t] = sum of dy[m] times the pixels tap t met; a unit is two maps and TAPS taps. dw has an even length."""
    (_, _, W, B), (M, H_out, W_out, _), (s_h, s_w) = x.shape, dy.shape, stride
    pixels, rows, sums = x.reshape(-1), dy.reshape(M, H_out, -1), dw.reshape(dw.shape[0], -1)
    at = _tap_offsets(x, dw)
    runs, length = _runs(W_out, s_w, B)
    groups = (at.size + TAPS - 1) // TAPS
    for unit in range(first, last):
        m, t = unit // groups * 2, unit % groups * TAPS
        end = min(t + TAPS, at.size)
        sums[m : m + 2, t:end] = 0
        for h in range(H_out):
            for run in range(runs):
                here, there = run * B, (h * s_h * W + run * s_w) * B
                # An odd last map is its own partner, and the partner's sums are thrown away.
                y0, y1 = rows[m, h, here : here + length], rows[min(m + 1, M - 1), h, here : here + length]
                for five in range(t, end - 4, 5):
                    _dot_five(y0, y1, pixels, there, at, five, sums[m], sums[m + 1])
                for one in range(end - (end - t) % 5, end):
                    _dot_one(y0, y1, pixels, there + at[one], one, sums[m], sums[m + 1])


@kernel
def _tap_offsets(x, w):
    """How far tap t = (c, p, q) lies behind the first pixel of its window."""
    (_, H, W, B), (_, C, K_h, K_w) = x.shape, w.shape
    at = np.empty(C * K_h * K_w, np.int64)
    for c in range(C):
        for p in range(K_h):
            for q in range(K_w):
                at[(c * K_h + p) * K_w + q] = ((c * H + p) * W + q) * B
    return at


@kernel
def _runs(places, stride, B):
    """A row of places as (runs, numbers in each): one long run where the pixels are neighbours, else one a place."""
    if places == 0:
        return 0, 0
    return (1, places * B) if stride == 1 else (places, B)


# The innermost loops. Each is a function of its own: joined, or with a loop over the taps inside, the compiler
# made them up to two times slower.


@kernel
def _add(y0, y1, x, start, at, t, w0, w1):
    """y += taps t, t + 1, ..."""
    for five in range(t, at.size - 4, 5):
        _add_five(y0, y1, x, start, at, five, w0, w1)
    for one in range(at.size - at.size % 5, at.size):
        _add_one(y0, y1, x, start + at[one], w0[one], w1[one])


@kernel
def _set_five(y0, y1, b0, b1, x, start, at, w0, w1):
    n = y0.size
    x0, x1, x2 = x[start + at[0] :][:n], x[start + at[1] :][:n], x[start + at[2] :][:n]
    x3, x4 = x[start + at[3] :][:n], x[start + at[4] :][:n]
    a0, a1, a2, a3, a4 = w0[0], w0[1], w0[2], w0[3], w0[4]
    c0, c1, c2, c3, c4 = w1[0], w1[1], w1[2], w1[3], w1[4]
    for i in range(n):
        y0[i] = b0 + a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i] + a4 * x4[i]
        y1[i] = b1 + c0 * x0[i] + c1 * x1[i] + c2 * x2[i] + c3 * x3[i] + c4 * x4[i]


@kernel
def _add_five(y0, y1, x, start, at, t, w0, w1):
    n = y0.size
    x0, x1, x2 = x[start + at[t] :][:n], x[start + at[t + 1] :][:n], x[start + at[t + 2] :][:n]
    x3, x4 = x[start + at[t + 3] :][:n], x[start + at[t + 4] :][:n]
    a0, a1, a2, a3, a4 = w0[t], w0[t + 1], w0[t + 2], w0[t + 3], w0[t + 4]
    c0, c1, c2, c3, c4 = w1[t], w1[t + 1], w1[t + 2], w1[t + 3], w1[t + 4]
    for i in range(n):
        y0[i] += a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i] + a4 * x4[i]
        y1[i] += c0 * x0[i] + c1 * x1[i] + c2 * x2[i] + c3 * x3[i] + c4 * x4[i]


@kernel
def _add_one(y0, y1, x, start, a, c):
    n = y0.size
    x0 = x[start:][:n]
    for i in range(n):
        y0[i] += a * x0[i]
        y1[i] += c * x0[i]


@kernel
def _dot_five(y0, y1, x, start, at, t, d0, d1):
    n = y0.size
    x0, x1, x2 = x[start + at[t] :][:n], x[start + at[t + 1] :][:n], x[start + at[t + 2] :][:n]
    x3, x4 = x[start + at[t + 3] :][:n], x[start + at[t + 4] :][:n]
    a0 = a1 = a2 = a3 = a4 = c0 = c1 = c2 = c3 = c4 = y0.dtype.type(0)
    for i in range(n):
        a0 += y0[i] * x0[i]
        a1 += y0[i] * x1[i]
        a2 += y0[i] * x2[i]
        a3 += y0[i] * x3[i]
        a4 += y0[i] * x4[i]
        c0 += y1[i] * x0[i]
        c1 += y1[i] * x1[i]
        c2 += y1[i] * x2[i]
        c3 += y1[i] * x3[i]
        c4 += y1[i] * x4[i]
    for k, (a, c) in enumerate(((a0, c0), (a1, c1), (a2, c2), (a3, c3), (a4, c4))):
        d0[t + k] += a
        d1[t + k] += c


@kernel
def _dot_one(y0, y1, x, start, t, d0, d1):
    n = y0.size
    x0 = x[start:][:n]
    a = c = y0.dtype.type(0)
    for i in range(n):
        a += y0[i] * x0[i]
        c += y1[i] * x0[i]
    d0[t] += a
    d1[t] += c
