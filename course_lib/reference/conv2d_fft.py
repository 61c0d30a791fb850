"""The convolution layer by Fourier transforms: a product of frequencies instead of a sum over the mask.

    y   = inverse( X conj(W) )      summed over input maps: this "convolution" does not flip the mask, so it is
    dw  = inverse( X conj(D) )      a correlation, and so is dw, summed over images
    dx  = inverse( D W )            summed over output maps; here the mask is flipped: a convolution in truth

X, W and D are the transforms of an image, a mask and dy, all filled up with zeros to N x N. A transform takes about
N^2 log2(N) steps whatever the mask, where the sum takes K^2 products for each pixel; so large masks gain, and a stride
gains nothing: all places are computed, and those between are left out.

Transforms are periodic: what leaves at one end enters at the other. N is so large that no wanted number is reached.
Rounding: see `course_lib.checks.fft_tolerance`. A NaN or an infinity in an image is in all frequencies, and so in all
of the image's outputs, not only in those that see it.

Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs"; A. V. Oppenheim and
R. W. Schafer, "Discrete-Time Signal Processing" (circular convolution).
"""

import numpy as np

from course_lib.reference.conv2d_check import check_conv2d, check_upstream

BLOCK = 4_000_000
"""Most complex numbers of a block of images' spectra (32 MB in float32)."""


def conv2d_fft_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) as `conv2d_forward`, by Fourier transforms.

    Parameters
    ----------
    x : (B, C, H, W) array, B >= 1
        Images of C maps.
    w : (M, C, K_h, K_w) array
        One mask for each pair of output and input map.
    b : (M,) array, optional
    stride, pad : int or pair (rows, columns)
        Zeros are added on both sides.

    Returns
    -------
    y : (B, M, H_out, W_out) array
        H_out = 1 + floor((H - K_h + 2 pad) / stride), W_out alike.
    cache : tuple
        What `conv2d_fft_backward` needs; no spectra are kept.

    Raises
    ------
    TypeError
        If values are not real numbers, or sizes not whole numbers.
    ValueError
        If the batch is empty, channels differ, or the mask fits nowhere.

    Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs".
    """
    x, w, b, stride, pad, (H_out, W_out) = check_conv2d(x, w, b, stride, pad)
    y = np.empty((x.shape[0], w.shape[0], H_out, W_out), np.result_type(x, w))
    N, there = transform_lengths(x.shape[2:], w.shape[2:], pad), _places((H_out, W_out), stride, pad)
    masks = _transform(w, N, y.dtype).conj()
    for images in _blocks(x.shape[0], max(w.shape[:2]), N):
        spectra = np.einsum("bchf,mchf->bmhf", _transform(x[images], N, y.dtype), masks)
        y[images] = _back(spectra, N, there)
    if b is not None:
        y += b[:, None, None]
    return y, (x, w, b is not None, stride, pad)


def conv2d_fft_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db), each of the shape of x, w, b; db is None where there was no b.

    Parameters
    ----------
    dy : (B, M, H_out, W_out) array
        dE/dy.
    cache : tuple
        From `conv2d_fft_forward`.
    need_dx : bool
        False leaves dx out (it is None then).

    Raises
    ------
    ValueError
        If dy does not have the shape of y.

    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    x, w, has_bias, stride, pad = cache
    dy = check_upstream(dy, x.shape, w.shape, stride, pad)
    kind = np.result_type(dy, x, w)
    N = transform_lengths(x.shape[2:], w.shape[2:], pad)
    masks, dmasks = _transform(w, N, kind), 0
    dx = np.empty(x.shape, np.result_type(dy, w)) if need_dx else None
    for images in _blocks(x.shape[0], max(w.shape[:2]), N):
        upstream = _transform(_spread(dy[images], stride), N, kind)
        dmasks = dmasks + np.einsum("bchf,bmhf->mchf", _transform(x[images], N, kind), upstream.conj())
        if need_dx:
            spectra = np.einsum("bmhf,mchf->bchf", upstream, masks)
            dx[images] = _back(spectra, N, _places(x.shape[2:], (1, 1), (-pad[0], -pad[1])))
    dw = _back(dmasks, N, _places(w.shape[2:], (1, 1), pad)).astype(np.result_type(dy, x), copy=False)
    return dx, dw, dy.sum(axis=(0, 2, 3)) if has_bias else None


def transform_lengths(image, mask, pad):
    """Return (N_h, N_w), the sizes to transform images (H, W) with, for pairs image, mask (K_h, K_w) and pad.

    At least H + p_h rows: row h of y adds up rows h - p_h to h - p_h + K_h - 1 of x, and those before the first or
    behind the last must be zeros. At least K_h, since the mask lies there too. Then the next number that is a product
    of 2, 3, 5 and 7, since libraries transform these fastest; the columns' is even. No errors.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (circular convolution).
    """
    N_h, N_w = (max(n + p, k) for n, k, p in zip(image, mask, pad, strict=True))
    while not _smooth(N_h):
        N_h += 1
    while not _smooth(N_w) or N_w % 2:
        N_w += 1
    return N_h, N_w


def _smooth(n):
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            n //= prime
    return n == 1


def _transform(images, N, kind):
    """Return the spectra (..., N_h, N_w // 2 + 1) of real images, filled up with zeros."""
    return np.fft.rfft2(images.astype(kind, copy=False), s=N)


def _back(spectra, N, there):
    """Return the real images of spectra, at the places (rows, columns) that are wanted."""
    rows, columns = there
    return np.fft.irfft2(spectra, s=N)[..., (rows % N[0])[:, None], columns % N[1]]


def _places(size, step, pad):
    """Return where the rows and columns of a result of `size` lie, before they are taken modulo N."""
    return tuple(np.arange(n) * s - p for n, s, p in zip(size, step, pad, strict=True))


def _spread(dy, stride):
    """Return dy (B, M, H_out, W_out) with zeros between its rows and columns, where the stride left places out."""
    if stride == (1, 1):
        return dy
    B, M, H_out, W_out = dy.shape
    spread = np.zeros((B, M, (H_out - 1) * stride[0] + 1, (W_out - 1) * stride[1] + 1), dy.dtype)
    spread[:, :, :: stride[0], :: stride[1]] = dy
    return spread


def _blocks(B, maps, N):
    """Yield slices of images whose spectra are at most BLOCK numbers."""
    images = max(1, BLOCK // (maps * N[0] * (N[1] // 2 + 1)))
    for first in range(0, B, images):
        yield slice(first, min(B, first + images))
