"""Kernels that a compiler changes: it merges, drops, hoists or unrolls loads, and the card counts fewer or others."""

import numpy as np
from numba import cuda, float32

from tests.simt.measured.cases import empty, integers, launch
from tests.simt.measured.kernels.elementwise import grid_stride


def same_load_twice(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * x[i]


@launch(same_load_twice, grid=2, block=128)
def _(rng):
    x = integers(rng, 256)
    return (x, empty(256)), {1: x * x}


def unused_load(x, b, y):
    i = cuda.grid(1)
    if i < x.size:
        shift = b[i]
        shift = float32(1)
        y[i] = x[i] + shift


@launch(unused_load, grid=2, block=128)
def _(rng):
    x, b = integers(rng, 256), integers(rng, 256)
    return (x, b, empty(256)), {2: x + 1}


def load_in_a_loop(x, k, y):
    i = cuda.grid(1)
    if i < y.size:
        total = float32(0)
        for _ in range(k):
            total += x[i]
        y[i] = total


@launch(load_in_a_loop, grid=2, block=128)
def _(rng):
    x = integers(rng, 256)
    return (x, 5, empty(256)), {2: 5 * x}


@launch(grid_stride, grid=2, block=128, name="grid_stride_unrolled")
def _(rng):
    x, y = integers(rng, 1000), integers(rng, 1000)
    return (np.float32(3), x, y.copy()), {2: 3 * x + y}


def ragged_rows(lengths, x, y):
    i = cuda.grid(1)
    if i < y.size:
        total = float32(0)
        for k in range(lengths[i]):
            total += x[k, i]
        y[i] = total


@launch(ragged_rows, grid=2, block=64)
def _(rng):
    lengths, x = rng.integers(0, 9, 100).astype(np.int32), integers(rng, 9, 100)
    return (lengths, x, empty(100)), {2: np.where(np.arange(9)[:, None] < lengths, x, 0).sum(0)}
