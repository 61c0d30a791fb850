"""Pooling kernels on the way back: each pixel is written once, by one thread, so there are no atomic additions.

Where windows lie apart (stride >= size), a thread takes a window with the gap behind it, and writes its pixels. Where
windows overlap, a thread takes a pixel and gathers from the windows around it, always in the same order.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer". Arrays are flat and sizes uint32, as in `pool_forward`.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import st2
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_forward import place

NOWHERE = np.uint32(0xFFFFFFFF)


@jit(cache=True)
def max_pairs(dy, mask, H, W, H_out, W_out, p_h, p_w, dx):
    """2 x 2 windows that cover the maps: a thread writes the four pixels of one window, two an access."""
    i = np.uint32(cuda.grid(1))
    if i < dy.size:
        d, won = dy[i], np.uint32(mask[i])
        line = np.uint32(i // W_out)
        at = np.uint32(np.uint32(2) * (i + line * W_out))  # H = 2 H_out, so that lines go on from map to map
        won = np.uint32(won - (at - np.uint32(line // H_out) * H * W))
        zero = float32(0)
        st2(dx, at, d if won == 0 else zero, d if won == 1 else zero)
        st2(dx, np.uint32(at + W), d if won == W else zero, d if won == W + 1 else zero)


@jit(cache=True)
def average_pairs(dy, H, W, H_out, W_out, p_h, p_w, dx):
    """2 x 2 windows that cover the maps: a thread writes the four pixels of one window, two an access."""
    i = np.uint32(cuda.grid(1))
    if i < dy.size:
        d = dy[i] / float32(4)
        at = np.uint32(np.uint32(2) * (i + np.uint32(i // W_out) * W_out))
        st2(dx, at, d, d)
        st2(dx, np.uint32(at + W), d, d)


@functools.cache
def max_apart(stride):
    """Return the kernel for windows that lie apart, with `count` threads, `down` x `across` for each map. No errors.

    Source: K, "Pooling Kernel" (the mask).
    """
    s_h, s_w = stride

    @jit(cache=True)
    def _max_pool_back_apart(dy, mask, H, W, H_out, W_out, p_h, p_w, down, across, count, dx):
        i = np.uint32(cuda.grid(1))
        if i < count:
            m, h, v = place(i, down, across)
            d, won = float32(0), NOWHERE
            if h < H_out and v < W_out:
                j = np.uint32((m * H_out + h) * W_out + v)
                d, won = dy[j], np.uint32(mask[j])
            at = np.uint32(m * H * W)
            for p in range(s_h):
                for q in range(s_w):
                    row, column = np.uint32(h * s_h + p - p_h), np.uint32(v * s_w + q - p_w)  # in the padding: huge
                    if row < H and column < W:
                        me = np.uint32(row * W + column)
                        dx[np.uint32(at + me)] = d if me == won else float32(0)

    return _max_pool_back_apart


@functools.cache
def average_apart(size, stride):
    """Return the kernel for windows that lie apart, with `count` threads, `down` x `across` for each map. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w) = size, stride
    COUNT = np.float32(F_h * F_w)

    @jit(cache=True)
    def _average_pool_back_apart(dy, H, W, H_out, W_out, p_h, p_w, down, across, count, dx):
        i = np.uint32(cuda.grid(1))
        if i < count:
            m, h, v = place(i, down, across)
            d = float32(0)
            if h < H_out and v < W_out:
                d = dy[np.uint32((m * H_out + h) * W_out + v)] / COUNT
            at = np.uint32(m * H * W)
            for p in range(s_h):
                for q in range(s_w):
                    row, column = np.uint32(h * s_h + p - p_h), np.uint32(v * s_w + q - p_w)
                    if row < H and column < W:
                        dx[np.uint32(at + row * W + column)] = d if p < F_h and q < F_w else float32(0)

    return _average_pool_back_apart


@functools.cache
def max_overlapping(size, stride):
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
def average_overlapping(size, stride):
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
