"""A Fourier transform of 16 or 32 complex numbers in the registers of one thread, by butterflies of 4 and 2.

    forward  X[k] = sum over n of x[n] exp(-2 pi i n k / T), natural order in, digits of k reversed out
    backward the inverse without its 1/T, reversed order in, natural order out

Between a transform and its inverse only products of equal frequencies stand, so nobody needs the natural order of
frequencies, and no number is moved for it: a butterfly leaves its results where its operands were. The inverse is the
same butterflies from the last to the first with real and imaginary parts exchanged, since
conj(i conj(z)) exchanges the parts of z.

Every index below is a constant once `unroll` has written the loops out, so that the arrays are registers.

Source: J. W. Cooley and J. W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series"; W. M.
Gentleman and G. Sande, "Fast Fourier Transforms: for fun and profit" (the order that is used forward).
"""

import functools

import numpy as np

from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda


@jit(device=True, forceinline=True)
def _four(re, im, a, step):
    """Replace the four numbers at places a, a + step, ... by their transform."""
    b, c, d = a + step, a + 2 * step, a + 3 * step
    sum_re, sum_im, off_re, off_im = re[a] + re[c], im[a] + im[c], re[a] - re[c], im[a] - im[c]
    two_re, two_im, gap_re, gap_im = re[b] + re[d], im[b] + im[d], re[b] - re[d], im[b] - im[d]
    re[a], im[a] = sum_re + two_re, sum_im + two_im
    re[c], im[c] = sum_re - two_re, sum_im - two_im
    re[b], im[b] = off_re + gap_im, off_im - gap_re  # times -i: (re, im) becomes (im, -re)
    re[d], im[d] = off_re - gap_im, off_im + gap_re


@jit(device=True, forceinline=True)
def _turn(re, im, k, cosine, sine):
    """Multiply the number at place k by cosine - i sine."""
    x, y = re[k], im[k]
    re[k], im[k] = x * cosine + y * sine, y * cosine - x * sine


def frequencies(T):
    """Return, for each place of a forward transform's result, which frequency lies there: (T,) array.

    Errors as `make`. Source: the course's own.
    """
    _check(T)
    places = np.arange(T)
    if T == 16:
        return places % 4 * 4 + places // 4
    half, rest = places // 16, places % 16
    return half + 2 * (rest % 4 * 4 + rest // 4)


def _check(T):
    if T not in (16, 32):
        raise ValueError(f"T is {T}; transforms in registers have 16 or 32 numbers: more do not fit there.")


@functools.cache
def make(T):
    """Return (forward, backward), device functions of the arrays re (T,) and im (T,), in place.

    ValueError unless T is 16 or 32. Source: the course's own.
    """
    _check(T)
    COS, SIN = _table(16)
    COS32, SIN32 = _table(32)

    @jit(device=True, forceinline=True)
    def forward_16(re, im, base):
        cosine, sine = cuda.const.array_like(COS), cuda.const.array_like(SIN)
        for n in range(4):
            _four(re, im, base + n, 4)
        for n in range(1, 4):
            for k in range(1, 4):
                _turn(re, im, base + n + 4 * k, cosine[n * k], sine[n * k])
        for k in range(4):
            _four(re, im, base + 4 * k, 1)

    @jit(device=True, forceinline=True)
    def forward(re, im):
        if T == 32:
            cosine, sine = cuda.const.array_like(COS32), cuda.const.array_like(SIN32)
            for n in range(16):
                x, y = re[n] - re[n + 16], im[n] - im[n + 16]
                re[n], im[n] = re[n] + re[n + 16], im[n] + im[n + 16]
                re[n + 16], im[n + 16] = x, y
                _turn(re, im, n + 16, cosine[n], sine[n])
            forward_16(re, im, 16)
        forward_16(re, im, 0)

    @jit(device=True, forceinline=True)
    def backward_16(re, im, base):
        cosine, sine = cuda.const.array_like(COS), cuda.const.array_like(SIN)
        for k in range(4):
            _four(im, re, base + 4 * k, 1)
        for n in range(1, 4):
            for k in range(1, 4):
                _turn(im, re, base + n + 4 * k, cosine[n * k], sine[n * k])
        for n in range(4):
            _four(im, re, base + n, 4)

    @jit(device=True, forceinline=True)
    def backward(re, im):
        backward_16(re, im, 0)
        if T == 32:
            backward_16(re, im, 16)
            cosine, sine = cuda.const.array_like(COS32), cuda.const.array_like(SIN32)
            for n in range(16):
                _turn(im, re, n + 16, cosine[n], sine[n])
                x, y = re[n + 16], im[n + 16]
                re[n + 16], im[n + 16] = re[n] - x, im[n] - y
                re[n], im[n] = re[n] + x, im[n] + y

    return forward, backward


def _table(n):
    """Return (cosines, sines) of the turns k / n, k < 16, as float32; what is zero is exactly zero."""
    angle = 2 * np.pi * np.arange(16) / n
    return tuple(np.where(abs(f) < 1e-9, 0, f).astype(np.float32) for f in (np.cos(angle), np.sin(angle)))
