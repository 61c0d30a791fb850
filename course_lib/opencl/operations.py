"""ReLU, transpose, matrix product and convolution in OpenCL C, on arrays of a `Session`: check, allocate, launch.

The same results as `course_lib.reference`: ReLU and transpose to the last bit, sums within
`checks.tolerance.product_tolerance`. Copies happen only in `Session.to_device` and `to_host`.

Source: K, "ReLUForward"; M. Harris, "An Efficient Matrix Transpose in CUDA C/C++"; H, "Sequential Code: Forward
Convolutional Layer".
"""

import numpy as np

from course_lib.opencl.arguments import Array
from course_lib.validate import require_choice, require_count, require_number

GROUP = 256
"""Work-items of a group in one dimension."""

SIDE, LANES = 8, 32
"""Work-items of a group along the rows and columns of an image, and along the images."""

TRANSPOSES = ("naive", "tile", "padded")
PRODUCTS = ("naive", "tiled")


def leaky_relu(z, slope=0.0):
    """Return a (...) = z where z > 0, else slope * z, for an Array z (...) of float32.

    Raises
    ------
    TypeError
        If z is no array of a session, or not float32; if slope is no number.

    Source: K, "ReLUForward".
    """
    z = _float32("z", z)
    slope = np.float32(require_number("slope", slope))
    session, a = z.session, z.session.empty(z.shape)
    session.launch(session.kernel("leaky_relu"), (round_up(z.size, GROUP),), (GROUP,), z, slope, a, np.int32(z.size))
    return a


def transpose(x, way="padded", tile=16):
    """Return y (C, R), the transpose of an Array x (R, C) of float32.

    Parameters
    ----------
    x : Array
    way : str
        "naive", or by a tile in local memory, "tile", whose rows are one number longer with "padded".
    tile : int
        Work-items along both sides of a work-group.

    Raises
    ------
    TypeError, ValueError
        If x is no float32 array of a session with two axes; an unknown way; a group too large for the device.

    Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++".
    """
    x = _float32("x", x, ndim=2)
    require_choice("way", way, TRANSPOSES)
    tile = require_count("tile", tile)
    session, (R, C) = x.session, x.shape
    y = session.empty((C, R))
    name = "transpose_naive" if way == "naive" else "transpose_tile"
    kernel = session.kernel(name, TILE=tile, WIDTH=tile + (way == "padded"))
    sizes = (round_up(C, tile), round_up(R, tile)), (tile, tile)
    session.launch(kernel, *sizes, x, y, np.int32(R), np.int32(C))
    return y


def product(A, B, way="tiled", tile=16):
    """Return C (M, N) = A (M, K) @ B (K, N) for Arrays of float32.

    Parameters
    ----------
    A, B : Array
    way : str
        "naive", a work-item for each result, or "tiled", with tiles of both in local memory.
    tile : int
        Work-items along both sides of a work-group, and the side of a tile.

    Raises
    ------
    TypeError, ValueError
        If A or B is no float32 array of one session with two axes, or the inner sizes differ; an unknown way.

    Source: the course's lesson 14.
    """
    A, B = _float32("A", A, ndim=2), _float32("B", B, ndim=2)
    require_choice("way", way, PRODUCTS)
    tile = require_count("tile", tile)
    (M, K), (rows, N) = A.shape, B.shape
    if rows != K:
        fix = f" Did you mean B.T, {B.shape[::-1]}?" if K == N else ""
        raise ValueError(f"A is {A.shape} and B is {B.shape}; A.shape[1] must equal B.shape[0].{fix}")
    session = A.session
    out = session.empty((M, N))
    kernel = session.kernel(f"product_{way}", TILE=tile)
    sizes = (round_up(N, tile), round_up(M, tile)), (tile, tile)
    session.launch(kernel, *sizes, A, B, out, *np.int32([M, N, K]))
    return out


def conv2d(x, w, b):
    """Return y (B, M, H_out, W_out), x (B, C, H, W) convolved with w (M, C, K, K), plus b (M,): stride 1, no padding.

    Raises
    ------
    TypeError, ValueError
        If one is no float32 array of one session with these axes; sizes that do not fit; a mask that is not square or
        larger than the images.

    Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    (B, C, H, W), M, K = _conv_sizes(x, w, b, "(B, C, H, W)", lambda shape: shape)
    session, H_out, W_out = x.session, H - K + 1, W - K + 1
    y = session.empty((B, M, H_out, W_out))
    sizes = (round_up(W_out, SIDE), round_up(H_out, SIDE), B * M), (SIDE, SIDE, 1)
    session.launch(session.kernel("conv2d", MASK=K, MAPS=1), *sizes, x, w, b, y, *np.int32([B, C, H, W, M]))
    return y


def conv2d_images_last(x, w, b):
    """Return y (M, H_out, W_out, B), as `conv2d` with the images' axis last: x (C, H, W, B), w (M, C, K, K), b (M,).

    Neighbouring work-items read neighbouring numbers, and each has up to eight output maps. Errors as `conv2d`.
    Source: the course's `fast.conv2d`.
    """
    (B, C, H, W), M, K = _conv_sizes(x, w, b, "(C, H, W, B)", lambda shape: (shape[3], *shape[:3]))
    session, H_out, W_out = x.session, H - K + 1, W - K + 1
    maps = next(n for n in (8, 4, 2, 1) if M % n == 0)
    y = session.empty((M, H_out, W_out, B))
    sizes = (round_up(B, LANES), H_out * W_out, M // maps), (LANES, 1, 1)
    kernel = session.kernel("conv2d_images_last", MASK=K, MAPS=maps)
    session.launch(kernel, *sizes, x, w, b, y, *np.int32([B, C, H, W, M]))
    return y


def _conv_sizes(x, w, b, axes, images_first):
    x, w, b = _float32("x", x, ndim=4), _float32("w", w, ndim=4), _float32("b", b, ndim=1)
    (M, channels, K, K_w), sizes = w.shape, images_first(x.shape)
    _, C, H, W = sizes
    if channels != C or b.shape != (M,):
        raise ValueError(
            f"x is {x.shape}, w {w.shape}, b {b.shape}; they must be {axes}, (M, C, K, K) and (M,) with one C and M."
        )
    if K_w != K or min(H, W) < K:
        raise ValueError(f"masks are {K} x {K_w} and images {H} x {W}; a mask is square and fits into an image.")
    return sizes, M, K


def round_up(n, unit):
    """Return the smallest multiple of unit that is >= n, both int >= 1. No errors. Source: the course's own."""
    return -(-n // unit) * unit


def _float32(name, array, ndim=None):
    if not isinstance(array, Array):
        fix = "copy it first: session.to_device(...)" if isinstance(array, np.ndarray) else "make it by to_device"
        raise TypeError(f"{name} is a {type(array).__name__}; it must be an array of an OpenCL session: {fix}.")
    if array.dtype != np.float32:
        raise TypeError(
            f"{name} has dtype {array.dtype}; it must be float32. Convert on the host: .astype(np.float32)."
        )
    if ndim is not None and len(array.shape) != ndim:
        raise ValueError(f"{name} has shape {array.shape}, {len(array.shape)} axes; it must have {ndim}.")
    return array
