"""The kernels behind `course_lib.cuda.pooling`: one for each size and stride of the window.

Source: K, "Pooling Kernel" (a thread makes one output, and notes in the mask which input it was).

x is (maps, H, W) and y (maps, H_out, W_out), flat; a map is one channel of one image. `size`, `stride` and whether
there is padding are constants of the kernel, so that the loops over a window become straight lines. Sizes of the
arrays come as uint32: numbers that cannot be negative need no second thought about indices that count from the end.
On the way back each thread gathers what its pixels get; nobody adds to a neighbour's pixel, so no atomics.
"""

import functools

import numpy as np
from numba import cuda, float32

from course_lib.cuda.intrinsics import ld2, st2
from course_lib.cuda.jit import jit

THREADS = 256
"""Threads of a block."""


@jit(device=True)
def place(i, H_out, W_out):
    """Return (map, row, column) of output number i."""
    line = np.uint32(i // W_out)
    m = np.uint32(line // H_out)
    return m, np.uint32(line - m * H_out), np.uint32(i - line * W_out)


@jit(device=True)
def _wins(seen, best):
    """Whether a pixel takes the place of the best one so far: larger, or the first NaN."""
    return seen > best or (seen != seen and best == best)


@functools.cache
def max_forward(size, stride, padded):
    """Return the kernel for these windows; `padded` says whether some reach out of the image. No errors.

    Source: K, "Pooling Kernel".
    """
    (F_h, F_w), (s_h, s_w) = size, stride

    @jit(cache=True)
    def _max_pool(x, H, W, H_out, W_out, p_h, p_w, y, mask):
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            m, h, v = place(i, H_out, W_out)
            corner = np.uint32(h * s_h * W + v * s_w)
            at = np.uint32(m * H * W + corner)
            best, where = x[at], corner
            for p in range(F_h):
                for q in range(F_w):
                    seen = x[np.uint32(at + p * W + q)]
                    if _wins(seen, best):
                        best, where = seen, np.uint32(corner + p * W + q)
            y[i] = best
            mask[i] = where

    @jit(cache=True)
    def _max_pool_padded(x, H, W, H_out, W_out, p_h, p_w, y, mask):
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            m, h, v = place(i, H_out, W_out)
            top, left = np.int32(h * s_h - p_h), np.int32(v * s_w - p_w)
            at = np.uint32(m * H * W)
            where = np.uint32(max(top, 0) * W + max(left, 0))  # the first pixel of the window that is in the image
            best = x[np.uint32(at + where)]
            for p in range(F_h):
                for q in range(F_w):
                    row, column = np.uint32(top + p), np.uint32(left + q)  # above or left of the image: huge
                    if row < H and column < W:
                        seen = x[np.uint32(at + row * W + column)]
                        if _wins(seen, best):
                            best, where = seen, np.uint32(row * W + column)
            y[i] = best
            mask[i] = where

    return _max_pool_padded if padded else _max_pool


@jit(cache=True)
def max_forward_pairs(x, H, W, H_out, W_out, p_h, p_w, y, mask):
    """2 x 2 windows side by side, maps of even width: two pixels an access."""
    i = np.uint32(cuda.grid(1))
    if i < y.size:
        m, h, v = place(i, H_out, W_out)
        corner = np.uint32(np.uint32(2) * (h * W + v))
        at = np.uint32(m * H * W + corner)
        a, b = ld2(x, at)
        c, d = ld2(x, np.uint32(at + W))
        best, where = a, corner
        if _wins(b, best):
            best, where = b, np.uint32(corner + np.uint32(1))
        if _wins(c, best):
            best, where = c, np.uint32(corner + W)
        if _wins(d, best):
            best, where = d, np.uint32(corner + W + np.uint32(1))
        y[i] = best
        mask[i] = where


@functools.cache
def average_forward(size, stride, padded):
    """Return the kernel that averages these windows; padding counts as zeros. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w) = size, stride
    COUNT = np.float32(F_h * F_w)

    @jit(cache=True)
    def _average_pool(x, H, W, H_out, W_out, p_h, p_w, y):
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            m, h, v = place(i, H_out, W_out)
            at = np.uint32(m * H * W + h * s_h * W + v * s_w)
            total = float32(0)
            for p in range(F_h):
                for q in range(F_w):
                    total += x[np.uint32(at + p * W + q)]
            y[i] = total / COUNT

    @jit(cache=True)
    def _average_pool_padded(x, H, W, H_out, W_out, p_h, p_w, y):
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            m, h, v = place(i, H_out, W_out)
            top, left = np.int32(h * s_h - p_h), np.int32(v * s_w - p_w)
            at = np.uint32(m * H * W)
            total = float32(0)
            for p in range(F_h):
                for q in range(F_w):
                    row, column = np.uint32(top + p), np.uint32(left + q)
                    if row < H and column < W:
                        total += x[np.uint32(at + row * W + column)]
            y[i] = total / COUNT

    return _average_pool_padded if padded else _average_pool


@jit(cache=True)
def average_forward_pairs(x, H, W, H_out, W_out, p_h, p_w, y):
    """2 x 2 windows side by side, maps of even width: two pixels an access."""
    i = np.uint32(cuda.grid(1))
    if i < y.size:
        m, h, v = place(i, H_out, W_out)
        at = np.uint32(m * H * W + np.uint32(2) * (h * W + v))
        a, b = ld2(x, at)
        c, d = ld2(x, np.uint32(at + W))
        y[i] = (a + b + c + d) / float32(4)


# ------------------------------------------------------------------------------------------------- the way back


@functools.cache
def max_backward(size, stride):
    """Return the kernel in which each pixel adds up the dy of the windows that it has won. No errors.

    Source: K, "Pooling Kernel" (the mask).
    """
    (F_h, F_w), (s_h, s_w) = size, stride

    @jit(cache=True)
    def _max_pool_back(dy, mask, H, W, H_out, W_out, p_h, p_w, dx):
        i = np.uint32(cuda.grid(1))
        if i < dx.size:
            m, row, column = place(i, H, W)
            me = np.uint32(row * W + column)
            h, v = np.uint32((row + p_h) // s_h), np.uint32((column + p_w) // s_w)  # the last window with this pixel
            total = float32(0)
            for p in range((F_h - 1) // s_h, -1, -1):
                for q in range((F_w - 1) // s_w, -1, -1):
                    h_q, v_q = np.uint32(h - p), np.uint32(v - q)  # before the first window: huge
                    if h_q < H_out and v_q < W_out:
                        j = np.uint32((m * H_out + h_q) * W_out + v_q)
                        if np.uint32(mask[j]) == me:
                            total += dy[j]
            dx[i] = total

    return _max_pool_back


@functools.cache
def average_backward(size, stride):
    """Return the kernel in which each pixel adds up its share of the dy of all windows around it. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w) = size, stride
    COUNT = np.float32(F_h * F_w)

    @jit(cache=True)
    def _average_pool_back(dy, H, W, H_out, W_out, p_h, p_w, dx):
        i = np.uint32(cuda.grid(1))
        if i < dx.size:
            m, row, column = place(i, H, W)
            row, column = np.uint32(row + p_h), np.uint32(column + p_w)
            h, v = np.uint32(row // s_h), np.uint32(column // s_w)
            total = float32(0)
            for p in range((F_h - 1) // s_h, -1, -1):
                for q in range((F_w - 1) // s_w, -1, -1):
                    h_q, v_q = np.uint32(h - p), np.uint32(v - q)
                    if h_q < H_out and v_q < W_out and row - h_q * s_h < F_h and column - v_q * s_w < F_w:
                        total += dy[np.uint32((m * H_out + h_q) * W_out + v_q)] / COUNT
            dx[i] = total

    return _average_pool_back


@jit(cache=True)
def max_backward_pairs(dy, mask, H, W, H_out, W_out, p_h, p_w, dx):
    """2 x 2 windows that cover the map: a thread writes the four pixels of one window, two an access."""
    i = np.uint32(cuda.grid(1))
    if i < dy.size:
        m, h, v = place(i, H_out, W_out)
        corner = np.uint32(np.uint32(2) * (h * W + v))
        at = np.uint32(m * H * W + corner)
        d, won = dy[i], np.uint32(np.uint32(mask[i]) - corner)
        zero = float32(0)
        st2(dx, at, d if won == 0 else zero, d if won == 1 else zero)
        st2(dx, np.uint32(at + W), d if won == W else zero, d if won == W + 1 else zero)


@jit(cache=True)
def average_backward_pairs(dy, H, W, H_out, W_out, p_h, p_w, dx):
    """2 x 2 windows that cover the map: a thread writes the four pixels of one window, two an access."""
    i = np.uint32(cuda.grid(1))
    if i < dy.size:
        m, h, v = place(i, H_out, W_out)
        at = np.uint32(m * H * W + np.uint32(2) * (h * W + v))
        d = dy[i] / float32(4)
        st2(dx, at, d, d)
        st2(dx, np.uint32(at + W), d, d)
