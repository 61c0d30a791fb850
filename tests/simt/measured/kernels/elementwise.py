"""One thread for each element: guards, strides, divergence, number types (lesson 11)."""

import numpy as np
from numba import cuda, float32, float64, int8

from tests.simt.measured.cases import empty, integers, launch


def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@launch(vector_add, grid=8, block=128)
def _(rng):
    a, b = integers(rng, 1000), integers(rng, 1000)
    return (a, b, empty(1000)), {2: a + b}


def relu_leaky(x, slope, y):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        y[i] = value if value > float32(0) else slope * value


@launch(relu_leaky, grid=4, block=256)
def _(rng):
    x = integers(rng, 1021)
    return (x, np.float32(0.5), empty(1021)), {2: np.where(x > 0, x, x / 2)}


def grid_stride(a, x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = a * x[i] + y[i]
        i += cuda.gridsize(1)


@launch(grid_stride, grid=4, block=96)
def _(rng):
    x, y = integers(rng, 1000), integers(rng, 1000)
    return (np.float32(3), x, y.copy()), {2: 3 * x + y}


def coarsened_add(a, b, c):
    i = cuda.blockIdx.x * cuda.blockDim.x * 4 + cuda.threadIdx.x
    for _ in range(4):
        if i < c.size:
            c[i] = a[i] + b[i]
        i += cuda.blockDim.x


@launch(coarsened_add, grid=4, block=64)
def _(rng):
    a, b = integers(rng, 1000), integers(rng, 1000)
    return (a, b, empty(1000)), {2: a + b}


def divergent_branch(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        if i % 2 == 0:  # noqa: SIM108  two branches to be seen
            value = a[i] + float32(1)
        else:
            value = b[i] * float32(2)
        c[i] = value


@launch(divergent_branch, grid=4, block=128)
def _(rng):
    a, b = integers(rng, 500), integers(rng, 500)
    return (a, b, empty(500)), {2: np.where(np.arange(500) % 2 == 0, a + 1, 2 * b)}


def divergent_loop(first, following, x, y):
    i = cuda.grid(1)
    if i < y.size:
        total = float32(0)
        k = first[i]
        while k > 0:
            total += x[k]
            k = following[k]
        y[i] = total


@launch(divergent_loop, grid=2, block=64)
def _(rng):
    first, x = rng.integers(0, 60, 100).astype(np.int32), integers(rng, 60)
    following = (np.arange(60) // 2).astype(np.int32)
    total, k = np.zeros(100, np.float32), first
    while k.any():
        total, k = total + np.where(k > 0, x[k], 0), following[k]
    return (first, following, x, empty(100)), {3: total}


@cuda.jit(device=True)
def larger(a, b):
    return a if a > b else b


def device_function(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = larger(a[i], b[i])


@launch(device_function, grid=2, block=128)
def _(rng):
    a, b = integers(rng, 200), integers(rng, 200)
    return (a, b, empty(200)), {2: np.maximum(a, b)}


def partial_warps(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + float32(cuda.laneid)


@launch(partial_warps, grid=7, block=33)
def _(rng):
    x = integers(rng, 220)
    return (x, empty(220)), {1: x + (np.arange(220) % 33 % 32).astype(np.float32)}


def bias_relu(z, b, a):
    col, row = cuda.grid(2)
    if row < z.shape[0] and col < z.shape[1]:
        a[row, col] = max(z[row, col] + b[col], float32(0))


@launch(bias_relu, grid=(3, 5), block=(32, 4))
def _(rng):
    z, b = integers(rng, 18, 70), integers(rng, 70)
    return (z, b, empty(18, 70)), {2: np.maximum(z + b, 0)}


def sgd_momentum(w, v, dw, lr, momentum):
    i = cuda.grid(1)
    if i < w.size:
        velocity = momentum * v[i] - lr * dw[i]
        v[i] = velocity
        w[i] += velocity


@launch(sgd_momentum, grid=4, block=128)
def _(rng):
    w, v, dw = integers(rng, 400), integers(rng, 400), integers(rng, 400)
    velocity = v / 2 - dw / 4
    arguments = w.copy(), v.copy(), dw, np.float32(0.25), np.float32(0.5)
    return arguments, {0: w + velocity, 1: velocity}


def add_float64(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] * b[i] + float64(0.5)


@launch(add_float64, grid=3, block=128)
def _(rng):
    a, b = integers(rng, 333).astype(np.float64), integers(rng, 333).astype(np.float64)
    return (a, b, np.full(333, np.nan)), {2: a * b + 0.5}


def uint8_to_float(pixels, x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = float32(pixels[i]) * float32(0.00390625)


@launch(uint8_to_float, grid=4, block=128)
def _(rng):
    pixels = rng.integers(0, 256, 450).astype(np.uint8)
    return (pixels, empty(450)), {1: pixels.astype(np.float32) / 256}


def float_to_int8(x, q):
    i = cuda.grid(1)
    if i < x.size:
        q[i] = int8(min(max(x[i] * float32(50), float32(-128)), float32(127)))


@launch(float_to_int8, grid=4, block=128)
def _(rng):
    x = integers(rng, 450)
    return (x, np.full(450, 99, np.int8)), {1: np.clip(50 * x, -128, 127).astype(np.int8)}


def float16_to_float32(h, x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = float32(h[i]) * float32(2)


@launch(float16_to_float32, grid=4, block=128)
def _(rng):
    h = integers(rng, 450).astype(np.float16)
    return (h, empty(450)), {1: 2 * h.astype(np.float32)}


def grid_3d(v, d):
    x, y, z = cuda.grid(3)
    if z < d.shape[0] and y < d.shape[1] and x < d.shape[2]:
        d[z, y, x] = v[z + 1, y, x] - v[z, y, x]


@launch(grid_3d, grid=(3, 3, 3), block=(8, 4, 2))
def _(rng):
    v = integers(rng, 6, 11, 21)
    return (v, empty(5, 11, 21)), {1: v[1:] - v[:-1]}
