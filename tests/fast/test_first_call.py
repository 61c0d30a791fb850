"""The first call compiles and says so, once; the next process finds the machine code on the disk."""

import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

from course_lib import fast
from course_lib.fast.compile import kernel

CODE = """
import numpy as np
from course_lib import fast
assert fast.compile_seconds() == 0.0
for _ in range(2):
    y, _ = fast.conv2d_forward(np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 2, 2), np.float32))
    a, _ = fast.relu_forward(y)
assert (a == 4).all()
print(fast.compile_seconds())
"""


def run(cache):
    environment = {k: v for k, v in os.environ.items() if k != "COURSE_PROGRESS"}
    environment["NUMBA_CACHE_DIR"] = str(cache)
    return subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)


def test_a_first_call_is_announced_once_and_a_second_process_compiles_nothing(tmp_path):
    first = run(tmp_path)
    assert first.stderr.count("compiling kernels for this CPU") == 1
    for name in ("forward", "_relu"):
        assert len(re.findall(rf"^course_lib\.fast: compiled {name} in \d+\.\d s$", first.stderr, re.M)) == 1
    assert first.stderr.index("compiling") < first.stderr.index("compiled")
    assert len(first.stderr.splitlines()) == 3  # the kernels inside `forward` are part of it
    assert float(first.stdout) > 0.1
    second = run(tmp_path)
    assert (second.stderr, second.stdout) == ("", "0.0\n")


def function_without_a_file():
    """A function that Numba has no place to cache: its source is no file."""
    namespace = {}
    exec("def double(first, last, x):\n    for i in range(first, last):\n        x[i] *= 2\n", namespace)
    return namespace["double"]


def test_where_nothing_can_be_cached_a_kernel_still_works(capfd, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    before, double = fast.compile_seconds(), kernel(function_without_a_file())
    x = np.arange(5.0)
    double(1, 4, x)
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 4])
    assert re.search(r"compiled double in \d+\.\d s", capfd.readouterr().err)
    assert fast.compile_seconds() > before
    double(0, 1, x)
    assert capfd.readouterr().err == ""


def test_silent_without_progress_but_counted(capfd, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "0")
    before = fast.compile_seconds()
    kernel(function_without_a_file())(0, 2, np.ones(2))
    assert capfd.readouterr().err == ""
    assert fast.compile_seconds() > before


def test_threads_that_meet_at_a_first_call_compile_once(capfd, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    double, x, errors = kernel(function_without_a_file()), np.ones(40), []

    def call(i):
        try:
            double(10 * i, 10 * i + 10, x)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    np.testing.assert_array_equal(x, 2)
    assert capfd.readouterr().err.count("compiled double") == 1


def test_other_numba_functions_are_not_announced(capfd, monkeypatch):
    import numba

    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    before = fast.compile_seconds()
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert fast.compile_seconds() == before
    assert capfd.readouterr().err == ""


def test_a_kernel_does_not_hold_the_interpreters_lock():
    """Two calls at a time: without the lock's release, threads would take turns."""
    assert kernel(function_without_a_file()).targetoptions["nogil"]


@pytest.mark.parametrize("options", [{"nnan"}, {"ninf"}, {"arcp"}, {"afn"}])
def test_the_compiler_may_not_assume_that_numbers_are_finite_or_exact(options):
    assert not options & set(kernel(function_without_a_file()).targetoptions["fastmath"])
