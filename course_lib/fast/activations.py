"""ReLU forward and backward in one pass over memory each: `course_lib.reference.activations`' functions, for speed.

Source: H, "Today's Choice: ReLU"; K, "RELU Activation Function". The kernels walk in the order in which the
numbers lie in memory, so a batch of images that lie side by side stays like that.
"""

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.fast.layout import empty, images_first, images_last, lies_images_last
from course_lib.fast.threads import share
from course_lib.reference.activations import check_upstream
from course_lib.validate import as_float

COST = 8
"""Multiply-adds of a convolution that take as long as one number here, which is as fast as memory gives it."""


def relu_forward(z):
    """Return (max(0, z), cache); the cache is z.

    z (...) real numbers, else TypeError. Source: H, "Today's Choice: ReLU".
    """
    z = as_float("z", z)
    return _elementwise(_relu, z), z


def relu_backward(da, cache):
    """Return dz = da where z > 0, else 0.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return _elementwise(_relu_backward, cache, check_upstream(da, cache))


def leaky_relu_forward(z, negative_slope=0.01):
    """Return (z where z > 0, else negative_slope * z, cache).

    z (...) real numbers, else TypeError. Source: K, "RELU Activation Function".
    """
    z = as_float("z", z)
    return _elementwise(_leaky_relu, z, z.dtype.type(negative_slope)), (z, negative_slope)


def leaky_relu_backward(da, cache):
    """Return dz = da where z > 0, else negative_slope * da.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    z, negative_slope = cache
    return _elementwise(_leaky_relu_backward, z, check_upstream(da, z), z.dtype.type(negative_slope))


def _elementwise(kernel, *arguments):
    """Call kernel(first, last, *arguments, out) on flat arrays, and give `out` the shape and the order of the first."""
    z = arguments[0]
    turned = lies_images_last(z)
    arrange = images_last if turned else np.ascontiguousarray
    arguments = [arrange(a).reshape(-1) if isinstance(a, np.ndarray) else a for a in arguments]
    out = empty(z.size, np.result_type(*arguments))
    share(kernel, z.size, COST * z.size, *arguments, out)
    return images_first(out.reshape(*z.shape[1:], z.shape[0])) if turned else out.reshape(z.shape)


# Each kernel cuts out its part first: where an index may be negative, as Numba must assume of range(first, last),
# it looks at every index, and the loop becomes ten times slower.


@kernel
def _relu(first, last, z, a):
    z, a = z[first:last], a[first:last]
    for i in range(z.size):
        a[i] = 0 if z[i] <= 0 else z[i]  # NaN is not <= 0, and stays


@kernel
def _relu_backward(first, last, z, da, dz):
    z, da, dz = z[first:last], da[first:last], dz[first:last]
    for i in range(z.size):
        dz[i] = da[i] if z[i] > 0 else 0


@kernel
def _leaky_relu(first, last, z, slope, a):
    z, a = z[first:last], a[first:last]
    for i in range(z.size):
        a[i] = z[i] if z[i] > 0 else slope * z[i]


@kernel
def _leaky_relu_backward(first, last, z, da, slope, dz):
    z, da, dz = z[first:last], da[first:last], dz[first:last]
    for i in range(z.size):
        dz[i] = da[i] if z[i] > 0 else slope * da[i]
