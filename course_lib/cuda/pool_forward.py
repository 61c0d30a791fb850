"""Pooling kernels on the way forward: one for each size and stride of the window, and one for 2 x 2 side by side.

Source: K, "Pooling Kernel" (a thread makes one output, and notes in the mask which input it was).

x is (maps, H, W) and y (maps, H_out, W_out), flat; a map is one channel of one image. `size`, `stride` and whether
there is padding are constants of the kernel, so that the loops over a window become straight lines. Sizes of the
arrays come as uint32: numbers that cannot be negative need no second thought about indices that count from the end.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import ld4, st2
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32

THREADS = 128
"""Threads of a block; on an H200 256 are a little slower, since the last blocks are waited for longer."""


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


@jit(device=True)
def _best_of_four(a, b, c, d, corner, W):
    """Return the largest of a 2 x 2 window and its place; the window's numbers row by row."""
    best, where = a, corner
    if _wins(b, best):
        best, where = b, np.uint32(corner + np.uint32(1))
    if _wins(c, best):
        best, where = c, np.uint32(corner + W)
    if _wins(d, best):
        best, where = d, np.uint32(corner + W + np.uint32(1))
    return best, where


@jit(cache=True)
def max_forward_twos(x, H, W, H_out, W_out, p_h, p_w, y, mask):
    """Two 2 x 2 windows a thread, four pixels an access; H must be even and W a multiple of 4."""
    i = np.uint32(np.uint32(2) * np.uint32(cuda.grid(1)))
    if i < y.size:
        line = np.uint32(i // W_out)
        at = np.uint32(np.uint32(2) * (i + line * W_out))  # H = 2 H_out, so that lines go on from map to map
        a, b, e, f = ld4(x, at)
        c, d, g, h = ld4(x, np.uint32(at + W))
        corner = np.uint32(at - np.uint32(line // H_out) * H * W)
        left, place_left = _best_of_four(a, b, c, d, corner, W)
        right, place_right = _best_of_four(e, f, g, h, np.uint32(corner + np.uint32(2)), W)
        st2(y, i, left, right)
        mask[i] = place_left
        mask[np.uint32(i + np.uint32(1))] = place_right


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
def average_forward_twos(x, H, W, H_out, W_out, p_h, p_w, y):
    """Two 2 x 2 windows a thread, four pixels an access; H must be even and W a multiple of 4."""
    i = np.uint32(np.uint32(2) * np.uint32(cuda.grid(1)))
    if i < y.size:
        at = np.uint32(np.uint32(2) * (i + np.uint32(i // W_out) * W_out))
        a, b, e, f = ld4(x, at)
        c, d, g, h = ld4(x, np.uint32(at + W))
        st2(y, i, (a + b + c + d) / float32(4), (e + f + g + h) / float32(4))
