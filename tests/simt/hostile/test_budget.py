"""The budget of steps bounds the time of whatever never ends: few lanes, many lanes, many blocks, calls, atomics.

Each kernel runs in a process of its own with a limit of processor time; nothing is judged by its seconds.
"""

import textwrap
import time

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.run import STEPS

HEAD = "import math\nfrom numba import cuda, float32, int32\n"
HEAVY = {
    "nothing": "while True:\n    pass",
    "counting": "x = 0\nwhile True:\n    x += 1",
    "lane by lane": "x = i\nwhile x >= 0:\n    x += 1 - x % 2",
    "long sum": "x = i\nwhile True:\n    x = " + "a[i % 64] + " * 80 + "i",
    "comparisons": "while " + "i <= " * 500 + "i:\n    pass",
    "tuple": "while True:\n    x = (" + "i, " * 50 + ")",
    "stores": "while True:\n    out[i] = 1",
    "shared": "s = cuda.shared.array(1024, float32)\nt = cuda.threadIdx.x\nwhile True:\n    s[t] = i\n    cuda.syncthreads()",
    "atomics": "while True:\n    cuda.atomic.add(a, i % 64, 1)",
    "atomics after a fence": "while True:\n    cuda.threadfence()\n    cuda.atomic.add(a, 0, 1)",
    "shuffles": "x = i\nwhile True:\n    x = cuda.shfl_xor_sync(0xffffffff, x, 1)",
    "matches": "x = i\nwhile True:\n    x = cuda.match_any_sync(0xffffffff, x)",
    "gamma": "x = i + 0.5\nwhile True:\n    x = math.gamma(x % 7.0 + 0.5)",
    "fma": "x = i + 0.5\nwhile True:\n    x = cuda.fma(x, 1.0000001, 1e-300)",
    "power": "x = i + 0.5\nwhile True:\n    x = x ** 1.0000001",
    "calls": "x = i\nwhile True:\n    x = f(x)",
    "slices": "while True:\n    x = a[i % 8:i % 8 + 8]",
}


def kernel(statements):
    """Return the Source of a kernel with these statements."""
    device = "@cuda.jit(device=True)\ndef f(x):\n    return x + 1\n"
    body = textwrap.indent(f"i = cuda.grid(1)\n{statements}\n", "    ")
    return simt.read(f"{HEAD}{device}def k(a, out):\n{body}", "k")


def spend(name, grid, block, steps):
    """Return the seconds until the budget of an endless kernel is used up."""
    source, a, out = kernel(HEAVY[name]), np.zeros(64, np.float32), np.zeros(grid * block, np.float32)
    begun = time.process_time()
    with pytest.raises(simt.KernelError, match="does not come to an end"):
        simt.run(source, grid, block, (a, out), steps=steps, on_error="collect")
    return time.process_time() - begun


@pytest.mark.parametrize("name", HEAVY)
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (64, 1024), (4096, 32)])
def test_endless_kernel_ends_within_a_small_budget(name, grid, block):
    spend(name, grid, block, steps=2_000)


def test_default_budget_is_stated():
    assert STEPS <= 2_000_000
