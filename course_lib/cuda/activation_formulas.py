"""What an activation does to one number, and its derivative: the formulas that the kernels of `activations` apply.

Source: K, "Activation Functions"; O, "Activation Functions"; H, "Sigmoid/Logistic Function" and "Today's Choice: ReLU".
f(z, slope) on the way forward, f(da, z, slope) on the way back; only the leaky ReLU has a slope.
"""

import math

from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import float32
from course_lib.reference.activations import SCALE, STRETCH


@jit(device=True)
def heaviside(z, slope):
    return float32(1) if z >= float32(0) else float32(0)


@jit(device=True)
def zero(z, slope):
    return float32(0)


@jit(device=True)
def one(z, slope):
    return float32(1)


@jit(device=True)
def sigmoid(z, slope):
    e = math.exp(-abs(z))  # never raised to a positive power: no overflow
    return (float32(1) if z >= float32(0) else e) / (float32(1) + e)


@jit(device=True)
def sigmoid_prime(z, slope):
    a = sigmoid(z, slope)
    return a * (float32(1) - a)


@jit(device=True)
def tanh(z, slope):
    return math.tanh(z)


@jit(device=True)
def tanh_prime(z, slope):
    a = math.tanh(z)
    return float32(1) - a * a


@jit(device=True)
def scaled_tanh(z, slope):
    return float32(SCALE) * math.tanh(float32(STRETCH) * z)


@jit(device=True)
def scaled_tanh_prime(z, slope):
    t = math.tanh(float32(STRETCH) * z)
    return float32(STRETCH * SCALE) * (float32(1) - t * t)


@jit(device=True)
def relu(z, slope):
    return float32(0) if z <= float32(0) else z  # NaN is not <= 0, and stays


@jit(device=True)
def relu_prime(z, slope):
    return float32(1) if z > float32(0) else float32(0)


@jit(device=True)
def leaky_relu(z, slope):
    return z if z > float32(0) else z * slope


@jit(device=True)
def leaky_relu_prime(z, slope):
    return float32(1) if z > float32(0) else slope


@jit(device=True)
def softplus(z, slope):
    return relu(z, slope) + math.log1p(math.exp(-abs(z)))


@jit(device=True)
def sigmoid_backward(da, a, slope):
    return da * (a * (float32(1) - a))


@jit(device=True)
def tanh_backward(da, a, slope):
    return da * (float32(1) - a * a)


@jit(device=True)
def scaled_tanh_backward(da, a, slope):
    t = a / float32(SCALE)  # a quotient: exactly 1 where a is as large as it gets, and the slope exactly 0
    return da * (float32(STRETCH * SCALE) * (float32(1) - t * t))


@jit(device=True)
def relu_backward(da, z, slope):
    return da if z > float32(0) else float32(0)  # a choice: infinity and NaN times 0 would be NaN


@jit(device=True)
def leaky_relu_backward(da, z, slope):
    return da * leaky_relu_prime(z, slope)


@jit(device=True)
def softplus_backward(da, z, slope):
    return da * sigmoid(z, slope)
