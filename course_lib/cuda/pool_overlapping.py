"""The gradient of overlapping windows: a thread goes down a column of cells, with what the next lines will need.

`pool_backward` has a thread for each pixel. It works out where it is by two divisions and asks the windows around it:
more than a hundred instructions for each 128 bytes that a warp writes. An H200 issues them, and starts blocks for so
little, at a quarter of the rate at which its memory could take the result. Here a block brings the windows of a band
(`pool_bands`) to shared memory, a thread computes the pixels of some dozens of cells (`pool_strips`), and the block
writes the band: whole sectors, four pixels an access. Each pixel has the bits of `pool_backward`.

Source: K, "Pooling Kernel" (the mask) and "Pooling Layer". Arrays are flat and sizes uint32, as in `pool_forward`;
`Bands.numbers` come behind the padding.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import bits_float, float_bits, ld2, nonneg, st2
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_bands import BATCH, covered, lead, pixels_of, windows_of, writer
from course_lib.cuda.pool_strips import walker
from course_lib.cuda.unroll import unroll

NOBODY = np.uint32(0xFFFFFFFF)
"""The winner of no window: more than any place in a map."""


@functools.cache
def max_bands(size, stride, THREADS):
    """Return the kernel in which pixels add up the dy of the windows that they have won. No errors.

    Source: K, "Pooling Kernel" (the mask).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE = P * s_h * s_w, np.uint32(P - 1)
    S_H, MORE = np.uint32(s_h), np.uint32(BATCH * THREADS)

    @jit(device=True)
    def _won(s, sums, at, q, me, W):
        d, winner = ld2(s, at)
        place = np.uint32(float_bits(winner) - me)
        for k in unroll(SUMS):  # pixel (k // s_w, k % s_w) from the cell's corner on
            inside = k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w
            if inside and place == np.uint32(k // s_w * W + k % s_w):
                sums[k] += d

    walk, write = walker(size, stride, THREADS, 2, _won), writer(THREADS, LEAD)

    @jit(cache=True)
    def _max_pool_bands(
        dy, mask, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on dy and winner of each window
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
        walk(
            s, t, first, count, top, bottom, upper, begin, H, W, H_out, W_out, p_h, p_w,
            across, per_across, strips, per_strips, lines, room,
        )  # fmt: skip
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
def average_bands(size, stride, THREADS):
    """Return the kernel in which pixels add up their share of the dy of all windows around them. No errors.

    Source: K, "Pooling Layer" (average pooling).
    """
    (F_h, F_w), (s_h, s_w), (P, Q), LEAD = size, stride, covered(size, stride), lead(size)
    SUMS, BEFORE, share = P * s_h * s_w, np.uint32(P - 1), quotient(F_h * F_w)
    S_H, MORE = np.uint32(s_h), np.uint32(BATCH * THREADS)

    @jit(device=True)
    def _around(s, sums, at, q, me, W):
        d = s[nonneg(at)]
        for k in unroll(SUMS):
            if k // s_w < F_h and (Q - 1 - q) * s_w + k % s_w < F_w:
                sums[k] += d

    walk, write = walker(size, stride, THREADS, 1, _around), writer(THREADS, LEAD)

    @jit(cache=True)
    def _average_pool_bands(
        dy, H, W, H_out, W_out, p_h, p_w,
        maps, together, down, across, per_across, n, strips, per_strips, lines, room, dx,
    ):  # fmt: skip
        s = cuda.shared.array(0, float32, 16)  # the band; from `room` on what each pixel of a window gets
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
        walk(
            s, t, first, count, top, bottom, upper, begin, H, W, H_out, W_out, p_h, p_w,
            across, per_across, strips, per_strips, lines, room,
        )  # fmt: skip
        cuda.syncthreads()
        write(s, begin, end, t, dx)

    return _average_pool_bands
