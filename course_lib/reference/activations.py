"""Activation functions f, their derivatives f', and the same as forward and backward steps.

Source: K, slides "Activation Functions" and "RELU Activation Function"; O, "Activation Functions";
H, "Sigmoid/Logistic Function" and "Today's Choice: ReLU".

`f(z)` and `f_prime(z)` are what a formula needs; `f_forward(z) -> (a, cache)` and
`f_backward(da, cache) -> dz` are what a network needs. Everything here works element by element:
z, a, da and dz have one shape, written (...), whatever it is.
"""

import numpy as np

from course_lib.validate import as_float, require_same_shape


def heaviside(z):
    """Step function: 1 where z >= 0, else 0.

    z (...) real numbers, else TypeError; returns (...). Source: K, "Perceptron Algorithm".
    """
    z = as_float("z", z)
    return (z >= 0).astype(z.dtype)


def heaviside_prime(z):
    """Derivative of the step: 0 everywhere (at the jump there is none), so descent never moves.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Why Not Use the Intuitive Measure?".
    """
    return np.zeros_like(as_float("z", z))


def identity(z):
    """f(z) = z: a layer without an activation function.

    z (...) real numbers, else TypeError; returns (...). Source: K, "Activation Functions" (linear).
    """
    return as_float("z", z)


def identity_prime(z):
    """f'(z) = 1.

    z (...) real numbers, else TypeError; returns (...). Source: K, "Activation Functions" (linear).
    """
    return np.ones_like(as_float("z", z))


def sigmoid(z):
    """1 / (1 + e^-z), the logistic function, between 0 and 1.

    The two sides of zero are computed by different, equal formulas, so that e is never raised to
    a positive power: no overflow for any z.

    z (...) real numbers, else TypeError; returns (...). Source: O, "Activation Functions"; H.
    """
    z = as_float("z", z)
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1 / (1 + e), e / (1 + e))


def sigmoid_prime(z):
    """f'(z) = f(z) (1 - f(z)), at most 1/4.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Sigmoid/Logistic Function".
    """
    a = sigmoid(z)
    return a * (1 - a)


def tanh(z):
    """Hyperbolic tangent, between -1 and 1.

    z (...) real numbers, else TypeError; returns (...). Source: K, "Activation Functions".
    """
    return np.tanh(as_float("z", z))


def tanh_prime(z):
    """f'(z) = 1 - f(z)^2, at most 1.

    z (...) real numbers, else TypeError; returns (...). Source: K, "Activation Functions".
    """
    a = tanh(z)
    return 1 - a * a


SCALE, STRETCH = 1.7159, 2 / 3
"""Of `scaled_tanh`: chosen so that f(1) = 1 and f(-1) = -1, and so that |f''| is largest there (LeCun et al., 1998)."""


def scaled_tanh(z):
    """1.7159 tanh(2 z / 3): a tanh between -1.7159 and 1.7159 that is 1 at 1 and -1 at -1, to five digits.

    z (...) real numbers, else TypeError; returns (...). Source: LeCun, Bottou, Bengio and Haffner (1998),
    "Gradient-Based Learning Applied to Document Recognition", section II.B and appendix A.
    """
    z = as_float("z", z)
    return z.dtype.type(SCALE) * np.tanh(z.dtype.type(STRETCH) * z)


def scaled_tanh_prime(z):
    """f'(z) = 2/3 1.7159 (1 - t^2) with t = f(z) / 1.7159, at most 1.144.

    z (...) real numbers, else TypeError; returns (...). Source: as `scaled_tanh`.
    """
    return _scaled_slope(scaled_tanh(z))


def _scaled_slope(a):
    """f' at the place where f is a: exactly 0 where a is as large as it gets."""
    t = a / a.dtype.type(SCALE)
    return a.dtype.type(STRETCH * SCALE) * (1 - t * t)


def relu(z):
    """max(0, z), the rectified linear unit.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Today's Choice: ReLU".
    """
    return np.maximum(as_float("z", z), 0)


def relu_prime(z):
    """1 where z > 0, else 0. At 0, where there is no derivative, it is 0 by convention.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Today's Choice: ReLU".
    """
    z = as_float("z", z)
    return (z > 0).astype(z.dtype)


def leaky_relu(z, negative_slope=0.01):
    """z where z > 0, else negative_slope * z.

    z (...) real numbers, else TypeError; returns (...). Source: K, "RELU Activation Function".
    """
    z = as_float("z", z)
    return np.where(z > 0, z, z * z.dtype.type(negative_slope))


def leaky_relu_prime(z, negative_slope=0.01):
    """1 where z > 0, else negative_slope.

    z (...) real numbers, else TypeError; returns (...). Source: K, "RELU Activation Function".
    """
    z = as_float("z", z)
    return np.where(z > 0, z.dtype.type(1), z.dtype.type(negative_slope))


def softplus(z):
    """ln(1 + e^z), a smooth ReLU, written so that no power overflows.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Today's Choice: ReLU".
    """
    z = as_float("z", z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def softplus_prime(z):
    """f'(z) = sigmoid(z): softplus is the integral of the logistic function.

    z (...) real numbers, else TypeError; returns (...). Source: H, "Today's Choice: ReLU".
    """
    return sigmoid(z)


ACTIVATIONS = {
    "heaviside": (heaviside, heaviside_prime),
    "identity": (identity, identity_prime),
    "sigmoid": (sigmoid, sigmoid_prime),
    "tanh": (tanh, tanh_prime),
    "relu": (relu, relu_prime),
    "leaky_relu": (leaky_relu, leaky_relu_prime),
    "softplus": (softplus, softplus_prime),
}
"""The lectures' elementwise activations: name -> (f, f')."""


def sigmoid_forward(z):
    """Return (sigmoid(z), cache); the cache is the output, which is all the backward step needs.

    z (...) real numbers, else TypeError. Source: O, "Activation Functions".
    """
    a = sigmoid(z)
    return a, a


def sigmoid_backward(da, cache):
    """Return dz = da * a (1 - a).

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return check_upstream(da, cache) * (cache * (1 - cache))


def tanh_forward(z):
    """Return (tanh(z), cache); the cache is the output.

    z (...) real numbers, else TypeError. Source: K, "Activation Functions".
    """
    a = tanh(z)
    return a, a


def tanh_backward(da, cache):
    """Return dz = da * (1 - a^2).

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return check_upstream(da, cache) * (1 - cache * cache)


def scaled_tanh_forward(z):
    """Return (scaled_tanh(z), cache); the cache is the output.

    z (...) real numbers, else TypeError. Source: as `scaled_tanh`.
    """
    a = scaled_tanh(z)
    return a, a


def scaled_tanh_backward(da, cache):
    """Return dz = da * 2/3 1.7159 (1 - t^2) with t = a / 1.7159.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return check_upstream(da, cache) * _scaled_slope(cache)


def identity_forward(z):
    """Return (z, cache).

    z (...) real numbers, else TypeError. Source: K, "Activation Functions" (linear).
    """
    z = identity(z)
    return z, z


def identity_backward(da, cache):
    """Return dz = da.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return check_upstream(da, cache)


def relu_forward(z):
    """Return (max(0, z), cache); the cache is z.

    z (...) real numbers, else TypeError. Source: H, "Today's Choice: ReLU".
    """
    z = as_float("z", z)
    return relu(z), z


def relu_backward(da, cache):
    """Return dz = da where z > 0, else 0.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    # A choice, not a product: infinity and NaN times 0 would be NaN.
    return np.where(cache > 0, check_upstream(da, cache), cache.dtype.type(0))


def leaky_relu_forward(z, negative_slope=0.01):
    """Return (leaky_relu(z), cache).

    z (...) real numbers, else TypeError. Source: K, "RELU Activation Function".
    """
    z = as_float("z", z)
    return leaky_relu(z, negative_slope), (z, negative_slope)


def leaky_relu_backward(da, cache):
    """Return dz = da where z > 0, else negative_slope * da.

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    z, negative_slope = cache
    return check_upstream(da, z) * leaky_relu_prime(z, negative_slope)


def softplus_forward(z):
    """Return (ln(1 + e^z), cache); the cache is z.

    z (...) real numbers, else TypeError. Source: H, "Today's Choice: ReLU".
    """
    z = as_float("z", z)
    return softplus(z), z


def softplus_backward(da, cache):
    """Return dz = da * sigmoid(z).

    da (...) of the shape of z, else ValueError; returns (...). Source: K, "Chain Rule".
    """
    return check_upstream(da, cache) * softplus_prime(cache)


def check_upstream(da, z):
    """Return da as floats; raise ValueError unless it has the shape of z (...)."""
    da = as_float("da", da)
    require_same_shape("da", da, "z", z)
    return da
