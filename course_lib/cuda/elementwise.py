"""One walk over memory for everything that works element by element, 16 bytes an access.

A block takes a tile of neighbouring numbers, and each of its threads four of them: enough bytes are on their way then
to keep memory busy (on an H200, two or four times as many a thread are slower). The last tile, and arrays that do not
begin at a multiple of 16 bytes, go number by number.

Source: K, "RELU Activation Function" (its CUDA_KERNEL_LOOP walks any number of elements with any grid; here a block
takes one tile, and the grid follows from their number); NVIDIA, "CUDA C++ Programming Guide", "Device Memory
Accesses".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.operands import aligned

THREADS, TILE = 256, 1024
"""Threads of a block, and the numbers of its tile."""


def apply(function, out, *arrays, number=0.0):
    """Write out[i] = function(arrays[0][i], ..., number) for every i, flat.

    Parameters
    ----------
    function : device function
        Of one or two float32 numbers, and `number`.
    out, *arrays : float32 device arrays (...)
        C-contiguous and of one size, which the caller has checked; `out` may be one of them.
    number : float
        The same for all elements, such as a slope; float32 in the kernel.

    No errors of its own. Source: the course's own.
    """
    kernel = (_of_one, _of_two)[len(arrays) - 1](function)
    whole = whole_tiles(out.size, out, *arrays)
    kernel[tiles(out.size), THREADS](*map(flat, arrays), np.float32(number), whole, flat(out))


def flat(array):
    """Return a contiguous device array (...) as (n,): a view. No errors. Source: the course's own."""
    return array if array.ndim == 1 else array.reshape(array.size)


def like(array):
    """Return a new float32 device array of an array's shape (...). No errors. Source: the course's own."""
    return gpu.empty(tuple(array.shape), np.float32)


def tiles(count):
    """Return how many tiles hold `count` numbers. No errors. Source: the course's own."""
    return -(-count // TILE)


def whole_tiles(count, *arrays):
    """Return how many of `count` numbers may go 16 bytes at a time: those of whole tiles, if the arrays are aligned.

    No errors. Source: the course's own.
    """
    return count // TILE * TILE if aligned(*arrays) else 0


@functools.cache
def _of_one(f):
    @jit(cache=True)
    def _apply(x, number, whole, out):
        t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
        if first < whole:
            i = first + 4 * t
            a, b, c, d = ld4(x, i)
            st4(out, i, f(a, number), f(b, number), f(c, number), f(d, number))
        else:
            for i in range(first + t, min(first + TILE, out.size), THREADS):
                out[i] = f(x[i], number)

    return _apply


@functools.cache
def _of_two(f):
    @jit(cache=True)
    def _apply_to_both(x, y, number, whole, out):
        t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
        if first < whole:
            i = first + 4 * t
            a, b, c, d = ld4(x, i)
            e, g, h, k = ld4(y, i)
            st4(out, i, f(a, e, number), f(b, g, number), f(c, h, number), f(d, k, number))
        else:
            for i in range(first + t, min(first + TILE, out.size), THREADS):
                out[i] = f(x[i], y[i], number)

    return _apply_to_both
