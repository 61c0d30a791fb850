"""The convolution layer by Fourier transforms: `course_lib.reference.conv2d_fft`'s names, for float32 device arrays.

There are two ways, and one rule. Small masks go through tiles of 16 x 16 or 32 x 32, which warps transform in registers
(`fft.tiles`): one kernel does everything, and the SIMT executor runs it. Large masks leave little of such a tile; there
whole images are transformed by cuFFT (`fft.large`), if kernels run on a GPU and CuPy is installed: pip install
"course-lib[cufft]". `algorithm` is the rule; the launchers `conv2d_fft_tiles_...` and `conv2d_fft_cufft_...` take one
way whatever it says.

Rounding: as `course_lib.checks.fft_tolerance` derives. Sums have a fixed order: equal input gives equal bits.

Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs"; the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.fft import cufft, large
from course_lib.cuda.ladders.conv2d.backward_data.v08_fft import conv2d_backward_data_v08_fft
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient
from course_lib.cuda.ladders.conv2d.backward_weights.v08_fft import conv2d_backward_weights_v08_fft
from course_lib.cuda.ladders.conv2d.forward.checks import check_conv2d
from course_lib.cuda.ladders.conv2d.forward.v08_fft import conv2d_forward_v08_fft
from course_lib.cuda.operands import operand

LARGEST_MASK = 17
"""Most rows or columns of a mask in one piece: a tile of 32 x 32 leaves 16 rows for results. Above, cuFFT is taken."""


def algorithm(s):
    """Return "tiles" or "cufft", the way that a layer of Sizes s takes. No errors.

    cuFFT, where it can be had, for masks of more than LARGEST_MASK rows or columns, unless their spectra are too large
    for a card's memory; else tiles.

    Source: the course's own.
    """
    return "cufft" if max(s.K_h, s.K_w) > LARGEST_MASK and large.fits(s) and cufft.available() else "tiles"


def conv2d_fft_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache), y the convolution of x with w, plus b, as `conv2d_forward`, by Fourier transforms.

    Parameters
    ----------
    x : (B, C, H, W) float32 device array, B >= 1
    w : (M, C, K_h, K_w) float32 device array
    b : (M,) float32 device array, optional
    stride, pad : int or pair (rows, columns)
        A stride saves no transform: all places are computed, and the others left out.

    Returns
    -------
    y : (B, M, H_out, W_out) device array
    cache : tuple
        What `conv2d_fft_backward` needs: x and w themselves, no copies and no spectra.

    Raises
    ------
    TypeError, ValueError
        As `conv2d_forward`.

    Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs".
    """
    return _forward(x, w, b, stride, pad, None)


def conv2d_fft_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db) of the shapes of x, w, b, as `conv2d_backward`, by Fourier transforms.

    Parameters
    ----------
    dy : (B, M, H_out, W_out) float32 device array
    cache : tuple
        From `conv2d_fft_forward`.
    need_dx : bool
        False leaves dx out (it is None then).

    Raises
    ------
    TypeError, ValueError
        As `conv2d_backward`.

    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    return _backward(dy, cache, need_dx, None)


def conv2d_fft_tiles_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) as `conv2d_fft_forward`, x (B, C, H, W), by tiles whatever the rule says; errors as there.

    Source: the course's own.
    """
    return _forward(x, w, b, stride, pad, "tiles")


def conv2d_fft_tiles_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db) as `conv2d_fft_backward`, dy (B, M, H_out, W_out), by tiles whatever the rule says.

    Errors as there. Source: the course's own.
    """
    return _backward(dy, cache, need_dx, "tiles")


def conv2d_fft_cufft_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) as `conv2d_fft_forward`, x (B, C, H, W), by cuFFT; DeviceError without a GPU or CuPy.

    Source: NVIDIA, "cuFFT Library".
    """
    return _forward(x, w, b, stride, pad, "cufft")


def conv2d_fft_cufft_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db) as `conv2d_fft_backward`, dy (B, M, H_out, W_out), by cuFFT; DeviceError without it.

    Source: NVIDIA, "cuFFT Library".
    """
    return _backward(dy, cache, need_dx, "cufft")


def _forward(x, w, b, stride, pad, way):
    x, w, b, s = check_conv2d(x, w, b, stride, pad)
    stride, pad = (s.s_h, s.s_w), (s.p_h, s.p_w)
    y = gpu.empty((s.B, s.M, s.H_out, s.W_out), np.float32)
    if (way or algorithm(s)) == "cufft":
        large.forward(s, x, w, b, y)
    else:
        conv2d_forward_v08_fft(x, w, b, y, stride, pad)
    return y, (x, w, b is not None, stride, pad)


def _backward(dy, cache, need_dx, way):
    x, w, has_bias, stride, pad = cache
    *_, s = check_conv2d(x, w, None, stride, pad)
    dy = operand("dy", dy, shape=(s.B, s.M, s.H_out, s.W_out))
    dw, dx = gpu.empty(w.shape, np.float32), gpu.empty(x.shape, np.float32) if need_dx else None
    db = gpu.empty(w.shape[0], np.float32) if has_bias else None
    if (way or algorithm(s)) == "cufft":
        large.backward_weights(s, dy, x, dw)
        bias_gradient(dy, db)
    else:
        conv2d_backward_weights_v08_fft(dy, x, dw, db, stride, pad)
    if need_dx and (way or algorithm(s)) == "cufft":
        large.backward_data(s, dy, w, dx)
    elif need_dx:
        conv2d_backward_data_v08_fft(dy, w, dx, stride, pad)
    return dx, dw, db
