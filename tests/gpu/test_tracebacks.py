"""A mistake in a kernel is shown with the reader's own lines, not with the executor's."""

import importlib
import subprocess
import sys
import traceback

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu, simt
from course_lib.cuda import tracebacks
from tests.gpu.devices import needs_simt


@gpu.jit
def beyond(a):
    a[cuda.grid(1)] = 1


@gpu.jit
def unknown(a):
    a[0] = a.nothing


def launch(kernel):
    kernel[1, 32](gpu.to_device(np.zeros(3)))


def run(kernel):
    simt.run(kernel, 1, 32, (np.zeros(3),))


def frames(go, kernel):
    """Return the files of the frames below this one that a traceback shows."""
    with pytest.raises(simt.KernelError) as error:
        go(kernel)
    return [frame.filename for frame in traceback.extract_tb(error.value.__traceback__)][2:]


@needs_simt
@pytest.mark.parametrize("kernel", [beyond, unknown])
@pytest.mark.parametrize("go", [launch, run])
def test_a_launch_adds_one_line_of_its_own(go, kernel):
    (last,) = frames(go, kernel)
    assert last.startswith(tracebacks.OURS)


@needs_simt
@pytest.mark.parametrize("go", [launch, run])
def test_whoever_works_on_the_executor_can_have_all_lines(go, monkeypatch):
    monkeypatch.setenv("COURSE_TRACEBACK", "full")
    assert len(frames(go, beyond)) > 6


@needs_simt
def test_no_other_error_is_cut_short(monkeypatch):
    def broken(*arguments, **options):
        raise AttributeError("a mistake in the executor")

    monkeypatch.setattr(importlib.import_module("course_lib.simt.run"), "_walk", broken)
    with pytest.raises(AttributeError) as error:
        run(beyond)
    assert traceback.extract_tb(error.value.__traceback__)[-1].name == "broken"


def test_frames_of_a_folder_are_left_out_and_never_all_of_them():
    with pytest.raises(IndexError) as error:
        np.testing.assert_array_equal([][0], 0)
    whole = error.value.__traceback__
    assert tracebacks.outside(whole, __file__) is whole
    assert tracebacks.outside(whole, "elsewhere").tb_frame is whole.tb_frame
    assert tracebacks.outside(None) is None


NOTEBOOK = '''
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("""import numpy as np
from numba import cuda
from course_lib import gpu
@gpu.jit
def beyond(a):
    a[cuda.grid(1)] = 1
x = gpu.to_device(np.zeros(3))
""")
shell.run_cell("beyond[1, 32](x)")
'''


@needs_simt
@pytest.mark.slow
def test_a_notebook_shows_the_cell_and_the_message():
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=True, timeout=120)
    assert "beyond[1, 32](x)" in done.stdout
    assert "HazardFound: line 6: thread 3 of block 0" in done.stdout
    assert "course_lib" not in done.stdout
    assert len(done.stdout.strip().splitlines()) < 10
