"""The budget of steps bounds the time of whatever never ends: few lanes, many lanes, many blocks, calls, atomics.

Nothing is judged by its seconds: what never ends fails by pytest's faulthandler_timeout (pyproject.toml).
`python -m tests.simt.hostile.test_budget` prints how long the default budget lasts on this machine.
"""

import textwrap
import time

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.run import STEPS

LAUNCHES = [(1, 1), (64, 1024), (4096, 32)]
HEAD = "import math\nfrom numba import cuda, float32, int32\n"
SHARED = """
s = cuda.shared.array(1024, float32)
t = cuda.threadIdx.x
while True:
    s[t] = i
    cuda.syncthreads()
"""
HEAVY = {
    "nothing": "while True:\n    pass",
    "counting": "x = 0\nwhile True:\n    x += 1",
    "lane by lane": "x = i\nwhile x >= 0:\n    x += 1 - x % 2",
    "long sum": "x = i\nwhile True:\n    x = " + "a[i % 64] + " * 80 + "i",
    "comparisons": "while " + "i <= " * 500 + "i:\n    pass",
    "tuple": "while True:\n    x = (" + "i, " * 50 + ")",
    "stores": "while True:\n    out[i] = 1",
    "shared": SHARED,
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
    statements = statements.replace("while True:\n", "while True:\n    n += 1\n")  # else a turn changes nothing
    body = textwrap.indent(f"i, n = cuda.grid(1), 0\n{statements}\n", "    ")
    return simt.read(f"{HEAD}{device}def k(a, out):\n{body}", "k")


def spend(name, grid, block, steps):
    """Assert that the budget of an endless kernel ends it; return the seconds of processor time until then."""
    source, a, out = kernel(HEAVY[name]), np.zeros(64, np.float32), np.zeros(grid * block, np.float32)
    begun = time.process_time()
    with pytest.raises(simt.KernelError, match="does not come to an end"):
        simt.run(source, grid, block, (a, out), steps=steps, on_error="collect")
    return time.process_time() - begun


@pytest.mark.parametrize("name", HEAVY)
@pytest.mark.parametrize(("grid", "block"), LAUNCHES)
def test_endless_kernel_ends_when_its_budget_is_used_up(name, grid, block):
    spend(name, grid, block, steps=STEPS // 1000)


def test_typing_ends_when_its_budget_is_used_up():
    loops = "".join("    " * n + f"for j{n} in range(2):\n" for n in range(12))
    changes = "".join("    " * 12 + f"x{n} = x{n + 1}\n" for n in range(20))
    start = "".join(f"x{n} = 1\n" for n in range(20)) + "x20 = 1.5\n"
    with pytest.raises(simt.KernelError):
        simt.run(kernel(start + loops + changes), 1, 1, (np.zeros(64, np.float32),) * 2, steps=1_000)


def main():
    """Print the seconds until the default budget is used up, from a two hundredth of it."""
    for grid, block in LAUNCHES:
        for name in HEAVY:
            spend(name, grid, block, STEPS // 10_000)  # compile
            seconds = spend(name, grid, block, STEPS // 200) * 200
            print(f"{grid:6,} x {block:5,}  {name:24} {seconds:8.0f} s", flush=True)


if __name__ == "__main__":
    main()
