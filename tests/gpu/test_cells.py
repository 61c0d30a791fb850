"""A kernel is found in whatever cell of a notebook it is defined."""

import subprocess
import sys

import pytest

from tests.gpu.devices import needs_simt

pytestmark = [needs_simt, pytest.mark.slow]

NOTEBOOK = '''
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
run = lambda text: shell.run_cell(text, store_history=True).raise_error()
run("import numpy as np; from numba import cuda; from course_lib import gpu")
run("""%%time
one = 1

@gpu.jit
def kernel(a):
    a[cuda.grid(1)] = 3
""")
run("x = gpu.to_device(np.zeros(4)); kernel[1, 4](x); print(gpu.to_host(x).tolist())")
run("""%%time
# another one at the same line
@gpu.jit
def other(a):
    a[cuda.grid(1)] = 5
other[1, 4](x)
print(gpu.to_host(x).tolist())
""")
run("""%%time

@gpu.jit
def kernel(a):
    a[cuda.grid(1)] = 7
""")
run("kernel[1, 4](x); print(gpu.to_host(x).tolist())")
run("kernel[1, 4](gpu.to_device(np.zeros(3)))")
'''


def test_a_cell_that_is_timed_has_its_kernels_too():
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert lines == ["[3.0, 3.0, 3.0, 3.0]", "[5.0, 5.0, 5.0, 5.0]", "[7.0, 7.0, 7.0, 7.0]"], done.stdout + done.stderr
    assert "HazardFound: line 4: thread 3 of block 0" in done.stdout
