"""Exact results for `course bench gpu` where PyTorch is not installed: in NumPy, on the host. There are no rivals then.

Source: the course's reference operations, in float64. `with_torch` has the same names.
"""

import numpy as np

from course_lib import gpu, reference


def versions():
    """Return {}: no library of rivals. No errors. Source: the course's own."""
    return {}


def double(array, sizes=False):
    """Return a device array (...) as float64 on the host, or its absolute values. No errors. Source: NumPy."""
    host = gpu.to_host(array).astype(np.float64)
    return np.abs(host) if sizes else host


def nan(shape):
    """Return a float32 device array of this shape (...) full of NaN: what a kernel leaves out is seen. No errors."""
    array = gpu.empty(shape, np.float32)
    spoil(array)
    return array


def spoil(array):
    """Fill a float32 device array (...) with NaN. No errors. Source: the course's own."""
    if hasattr(array, "copy_to_device"):  # the executor's new arrays are full of NaN already
        array.copy_to_device(np.full(array.shape, np.nan, np.float32))


def exact_of(array):
    """Return a float64 host array (...) as what `distance` compares with: itself. No errors."""
    return array


def distance(found, exact, magnitude):
    """Return (largest difference, largest exact number, largest difference as a share of `magnitude`).

    All are arrays (...) of one size. NaN where `found`, a device array, has one. No errors. Source: the course's own.
    """
    far = np.abs(double(found).reshape(exact.shape) - exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(far == 0, 0.0, far / magnitude)
    return float(far.max()), float(np.abs(exact).max()), float(share.max())


def product(a, b):
    """Return (a (M, K) @ b (K, N),). No errors beyond NumPy's. Source: NumPy, "matmul"."""
    return (a @ b,)


def transposed(x):
    """Return (x (M, N) as (N, M),). No errors. Source: NumPy, "transpose"."""
    return (np.ascontiguousarray(x.T),)


def total(x):
    """Return (the sum of x (...) as (1,),). No errors. Source: NumPy, "sum"."""
    return (x.sum().reshape(1),)


def conv_forward(x, w, stride, pad):
    """Return (y (B, M, H_out, W_out),). Errors as the reference's. Source: `reference.conv2d_forward`."""
    return (reference.conv2d_forward(x, w, None, stride, pad)[0],)


def conv_backward_data(dy, w, shape, stride, pad):
    """Return (dx of this shape (B, C, H, W),). Errors as the reference's. Source: `reference.conv2d_backward`."""
    return _backward(np.zeros(shape), dy, w, stride, pad)[:1]


def conv_backward_weights(dy, x, shape, stride, pad):
    """Return (dw of this shape (M, C, K, K), db (M,)). Errors as the reference's. Source: the same."""
    return _backward(x, dy, np.zeros(shape), stride, pad)[1:]


def _backward(x, dy, w, stride, pad):
    _, cache = reference.conv2d_forward(x, w, np.zeros(len(w)), stride, pad)
    return reference.conv2d_backward(dy, cache)


def copy_call(x, y):
    """Return a call that copies device array x (...) to y (...) by the driver. No errors. Source: cuMemcpyDtoD."""
    return lambda: y.copy_to_device(x)


def product_rivals(A, B):
    """Return {}: there are no rivals for A (M, K) @ B (K, N) without PyTorch. No errors."""
    return {}


def product_rivals_bf16(A, B):
    """Return {}: there are no rivals for A (M, K) @ B (K, N) in BF16 without PyTorch. No errors."""
    return {}


def conv_forward_rivals(x, w, stride, pad):
    """Return {}: there are no rivals for x (B, C, H, W) without PyTorch. No errors."""
    return {}


def conv_backward_data_rivals(dy, w, shape, stride, pad):
    """Return {}: there are no rivals for dy (B, M, H_out, W_out) without PyTorch. No errors."""
    return {}


def conv_backward_weights_rivals(dy, x, shape, stride, pad):
    """Return {}: there are no rivals for dy (B, M, H_out, W_out) without PyTorch. No errors."""
    return {}


def kernels_of(call):
    """Return []: nobody can ask which kernels a call launches. No errors."""
    return []
