"""Reports, and single accesses made by hand, for the tests of how a report is shown."""

import copy
from types import SimpleNamespace

import numpy as np
from numba import cuda, float32

from course_lib import simt
from course_lib.simt.counters import Access, Counters, Line
from tests.simt import kernels


def reverse_64(a, out):
    """Turn 64 numbers around through shared memory."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[63 - t]


def run(kernel, grid, block, arguments, **options):
    """Return the report of a launch; hazards are collected."""
    return simt.run(kernel, grid, block, arguments, on_error="collect", **options)


def product(kernel=kernels.product_naive, n=64):
    """Return the report of a product of two (n, n) matrices."""
    rng = np.random.default_rng(n)
    A, B = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    return run(kernel, (n // 16, n // 16), (16, 16), (A, B, np.full((n, n), np.nan, np.float32)))


def transpose(kernel=kernels.transpose_tile):
    """Return the report of a transpose of a (128, 128) matrix."""
    A = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    return run(kernel, (4, 4), (32, 32), (A, np.full_like(A, np.nan)))


def vectors(n):
    """Return (a, out) (n,) float32."""
    return np.arange(n, dtype=np.float32), np.full(n, np.nan, np.float32)


def with_hazards(report, hazards):
    """Return a copy of a report with other hazards."""
    other = copy.copy(report)
    other.hazards = hazards
    return other


def lines_with_work(instructions):
    """Return lines of a kernel with so many instructions each."""
    return [Line("kernel", n, "x", Counters(instructions=k)) for n, k in enumerate(instructions, 1)]


def access(
    array, shape, element, *, itemsize=4, space="global", way="load", line=7, base=256, thread=None, strides=None
):
    """Return what one access of a block's threads touched: element (L,) is each thread's row-major element number."""
    element = np.asarray(element, np.int64)
    index = np.unravel_index(element, shape)
    address = element * itemsize if strides is None else sum(i * s for i, s in zip(index, strides, strict=True))
    thread = np.arange(element.size) if thread is None else np.asarray(thread)
    address = base * (space == "global") + address
    return Access(
        "kernel", line, 4, array, space, way, tuple(shape), itemsize, (0, 0, 0), thread=thread, element=element,
        address=address,
    )  # fmt: skip


def report_with(*accesses, text="out[i] = a[i]"):
    """Return the part of a report that a memory map reads."""
    lines = [Line("kernel", n, f"    {text}") for n in sorted({a.line for a in accesses})]
    return SimpleNamespace(kernel="kernel", lines=lines, accesses=list(accesses))
