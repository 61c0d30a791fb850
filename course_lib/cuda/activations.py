"""Activation functions on the device: `course_lib.reference.activations`' names, for float32 device arrays.

Source: K, "Activation Functions" and "RELU Activation Function" (the kernel with a negative slope); O, "Activation
Functions"; H, "Sigmoid/Logistic Function" and "Today's Choice: ReLU".

z, a, da and dz have one shape, written (...). Every function raises TypeError for what is not a float32 device array,
and ValueError for an empty one or one with gaps. Each but the identity is one launch, and reads and writes every
number once.
"""

from course_lib.cuda import activation_formulas as formulas
from course_lib.cuda.elementwise import apply, like
from course_lib.cuda.operands import operand
from course_lib.validate import require_same_shape


def _new(function, z, slope=0.0):
    z = operand("z", z)
    a = like(z)
    apply(function, a, z, number=slope)
    return a


def _back(function, da, cached, slope=0.0):
    da = check_upstream(da, cached)
    dz = like(da)
    apply(function, dz, da, cached, number=slope)
    return dz


def heaviside(z):
    """Step function: 1 where z >= 0, else 0. z (...) float32 on the device, else TypeError.

    Source: K, "Perceptron Algorithm".
    """
    return _new(formulas.heaviside, z)


def heaviside_prime(z):
    """Derivative of the step: 0 everywhere. z (...) float32 on the device, else TypeError.

    Source: H, "Why Not Use the Intuitive Measure?".
    """
    return _new(formulas.zero, z)


def identity(z):
    """f(z) = z: the array itself; z (...) on the device, else TypeError. Source: K, "Activation Functions" (linear)."""
    return operand("z", z)


def identity_prime(z):
    """f'(z) = 1. z (...) float32 on the device, else TypeError. Source: K, "Activation Functions" (linear)."""
    return _new(formulas.one, z)


def sigmoid(z):
    """1 / (1 + e^-z), between 0 and 1; no overflow for any z. z (...) float32 on the device, else TypeError.

    Source: O, "Activation Functions".
    """
    return _new(formulas.sigmoid, z)


def sigmoid_prime(z):
    """f'(z) = f(z) (1 - f(z)), at most 1/4. z (...) float32 on the device, else TypeError.

    Source: H, "Sigmoid/Logistic Function".
    """
    return _new(formulas.sigmoid_prime, z)


def tanh(z):
    """Hyperbolic tangent, between -1 and 1. z (...) float32 on the device, else TypeError.

    Source: K, "Activation Functions".
    """
    return _new(formulas.tanh, z)


def tanh_prime(z):
    """f'(z) = 1 - f(z)^2, at most 1. z (...) float32 on the device, else TypeError.

    Source: K, "Activation Functions".
    """
    return _new(formulas.tanh_prime, z)


def scaled_tanh(z):
    """1.7159 tanh(2 z / 3), which is 1 at 1 and -1 at -1. z (...) float32 on the device, else TypeError.

    Source: LeCun, Bottou, Bengio and Haffner (1998), "Gradient-Based Learning Applied to Document Recognition".
    """
    return _new(formulas.scaled_tanh, z)


def scaled_tanh_prime(z):
    """f'(z) = 2/3 1.7159 (1 - t^2) with t = f(z) / 1.7159, at most 1.144.

    z (...) float32 on the device, else TypeError.

    Source: as `scaled_tanh`.
    """
    return _new(formulas.scaled_tanh_prime, z)


def relu(z):
    """max(0, z), the rectified linear unit; NaN stays. z (...) float32 on the device, else TypeError.

    Source: H, "Today's Choice: ReLU".
    """
    return _new(formulas.relu, z)


def relu_prime(z):
    """1 where z > 0, else 0, at 0 by convention. z (...) float32 on the device, else TypeError.

    Source: H, "Today's Choice: ReLU".
    """
    return _new(formulas.relu_prime, z)


def leaky_relu(z, negative_slope=0.01):
    """z where z > 0, else negative_slope * z. z (...) float32 on the device, else TypeError.

    Source: K, "RELU Activation Function".
    """
    return _new(formulas.leaky_relu, z, negative_slope)


def leaky_relu_prime(z, negative_slope=0.01):
    """1 where z > 0, else negative_slope. z (...) float32 on the device, else TypeError.

    Source: K, "RELU Activation Function".
    """
    return _new(formulas.leaky_relu_prime, z, negative_slope)


def softplus(z):
    """ln(1 + e^z), a smooth ReLU; no power overflows. z (...) float32 on the device, else TypeError.

    Source: H, "Today's Choice: ReLU".
    """
    return _new(formulas.softplus, z)


def softplus_prime(z):
    """f'(z) = sigmoid(z). z (...) float32 on the device, else TypeError. Source: H, "Today's Choice: ReLU"."""
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
    """Return (sigmoid(z), cache); the cache is the output. z (...) on the device, else TypeError.

    Source: O, "Activation Functions".
    """
    a = sigmoid(z)
    return a, a


def sigmoid_backward(da, cache):
    """Return dz = da * a (1 - a); da (...) of the shape of z, else ValueError. Source: K, "Chain Rule"."""
    return _back(formulas.sigmoid_backward, da, cache)


def tanh_forward(z):
    """Return (tanh(z), cache); the cache is the output. z (...) on the device, else TypeError.

    Source: K, "Activation Functions".
    """
    a = tanh(z)
    return a, a


def tanh_backward(da, cache):
    """Return dz = da * (1 - a^2); da (...) of the shape of z, else ValueError. Source: K, "Chain Rule"."""
    return _back(formulas.tanh_backward, da, cache)


def scaled_tanh_forward(z):
    """Return (scaled_tanh(z), cache); the cache is the output. z (...) on the device, else TypeError.

    Source: as `scaled_tanh`.
    """
    a = scaled_tanh(z)
    return a, a


def scaled_tanh_backward(da, cache):
    """Return dz = da * 2/3 1.7159 (1 - t^2) with t = a / 1.7159; da (...) of the shape of z, else ValueError.

    Source: K, "Chain Rule".
    """
    return _back(formulas.scaled_tanh_backward, da, cache)


def identity_forward(z):
    """Return (z, cache), both the array itself. z (...) on the device, else TypeError.

    Source: K, "Activation Functions" (linear).
    """
    z = identity(z)
    return z, z


def identity_backward(da, cache):
    """Return dz = da, the array itself; da (...) of the shape of z, else ValueError. Source: K, "Chain Rule"."""
    return check_upstream(da, cache)


def relu_forward(z):
    """Return (max(0, z), cache); the cache is z. z (...) on the device, else TypeError.

    Source: H, "Today's Choice: ReLU".
    """
    z = operand("z", z)
    return relu(z), z


def relu_backward(da, cache):
    """Return dz = da where z > 0, else 0; da (...) of the shape of z, else ValueError. Source: K, "Chain Rule"."""
    return _back(formulas.relu_backward, da, cache)


def leaky_relu_forward(z, negative_slope=0.01):
    """Return (leaky_relu(z), cache). z (...) on the device, else TypeError. Source: K, "RELU Activation Function"."""
    z = operand("z", z)
    return leaky_relu(z, negative_slope), (z, negative_slope)


def leaky_relu_backward(da, cache):
    """Return dz = da where z > 0, else negative_slope * da, for da (...) of the shape of z, else ValueError.

    Source: K, "Chain Rule".
    """
    z, negative_slope = cache
    return _back(formulas.leaky_relu_backward, da, z, negative_slope)


def softplus_forward(z):
    """Return (ln(1 + e^z), cache); the cache is z. z (...) on the device, else TypeError.

    Source: H, "Today's Choice: ReLU".
    """
    z = operand("z", z)
    return softplus(z), z


def softplus_backward(da, cache):
    """Return dz = da * sigmoid(z); da (...) of the shape of z, else ValueError. Source: K, "Chain Rule"."""
    return _back(formulas.softplus_backward, da, cache)


def check_upstream(da, z):
    """Return da; raise TypeError or ValueError unless it is a device array of the shape of z (...)."""
    da = operand("da", da)
    require_same_shape("da", da, "z", z)
    return da
