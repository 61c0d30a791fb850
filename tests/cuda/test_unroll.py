"""A loop written out does what the loop does, and a kept kernel is never a stale one."""

import inspect
import math
import os
import types

import numpy as np
import pytest
from numba import float32

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.unroll import compiled_form, fingerprint, unroll
from tests.gpu.devices import ramp
from tests.simt.text import function

N = 3


@gpu.jit(device=True)
def same(x):
    return x


def make(n, step=1, device=same):
    @gpu.jit(cache=True)
    def powers(x, y):
        i = cuda.grid(1)
        if i < x.size:
            value = float32(1)
            for k in unroll(n * step):
                value = value * x[i] + float32(k)
            y[i] = device(value)

    return powers


def test_the_loop_is_right_wherever_it_runs():
    x, y = gpu.to_device(ramp(40)), gpu.to_device(np.full(40, np.nan, np.float32))
    make(3)[2, 32](x, y)
    v = ramp(40)
    np.testing.assert_array_equal(gpu.to_host(y), ((v + 0) * v + 1) * v + 2)


def test_the_body_is_written_out_once_for_each_turn():
    function, kept = compiled_form(make(4).py_func)
    text = inspect.getsource(function)
    assert not kept
    assert "unroll" not in text
    assert [f"float32({k})" in text for k in range(5)] == [True] * 4 + [False]


def test_loops_within_loops_are_written_out_too():
    def both(x):
        for i in unroll(2):
            for j in unroll(N):
                x[i, j] = i * 10 + j

    x = np.zeros((2, 3))
    compiled_form(both)[0](x)
    np.testing.assert_array_equal(x, [[0, 1, 2], [10, 11, 12]])
    assert "for" not in inspect.getsource(compiled_form(both)[0])


def test_a_function_without_unroll_stays_as_it_is():
    def plain(x):
        for i in range(2):
            x[i] = i

    assert compiled_form(plain) == (plain, False)


def test_the_text_stays_below_the_most_turns():
    def too_long(x):
        for i in unroll(1000):
            x[i] = i

    with pytest.raises(ValueError, match=r"too_long, line \d+: unroll\(1000\) is 1000 turns; it takes 1 to 256"):
        compiled_form(too_long)


def test_a_size_that_is_known_only_later_is_refused():
    def late(x, n):
        for i in unroll(n):
            x[i] = i

    with pytest.raises(TypeError, match="unroll takes one constant expression"):
        compiled_form(late)


def test_kept_kernels_differ_by_all_that_they_are_made_of(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))

    @gpu.jit(device=True)
    def twice(x):
        return x + x

    @gpu.jit(device=True)
    def thrice(x):
        return x + x + x

    kernels = [make(2), make(3), make(1, 3), make(2, device=twice), make(2, device=thrice), make(2)]
    files = [compiled_form(k.py_func, cache=True)[0].__code__.co_filename for k in kernels]
    assert files[0] == files[-1]
    assert len(set(files)) == 5
    assert {str(p) for p in tmp_path.glob("*.py")} == set(files)


INSIDE = """
def kernel(x, n={default}):
    inner = lambda v: v * K
    x[0] = inner(n) + sizes.WIDTH
"""


def test_what_a_function_inside_reads_is_among_what_a_kernel_is_made_of():
    def digits(default=1, K=2, WIDTH=3):
        sizes = types.ModuleType("sizes")
        sizes.WIDTH = WIDTH
        return fingerprint(function(INSIDE.format(default=default), K=K, sizes=sizes))

    assert digits() == digits()
    assert len({digits(), digits(default=2), digits(K=3), digits(WIDTH=4)}) == 4


@gpu.jit(device=True)
def tanh(x):
    return math.tanh(x)


def test_a_function_named_like_what_it_calls_is_kept_too(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    function, kept = compiled_form(make(2, device=tanh).py_func, cache=True)
    assert kept
    assert function.__code__.co_filename.startswith(str(tmp_path))


def test_what_straight_lines_cannot_do_is_refused():
    def leaves(x):
        for i in unroll(3):
            if x[i] > 0:
                break

    def sets(x):
        for i in unroll(3):
            i = i + 1
            x[i] = 0

    def inner_loops_may(x):
        for i in unroll(3):
            for j in range(5):
                if x[i, j] > 0:
                    break

    with pytest.raises(TypeError, match=r"leaves, line \d+: break in a loop over unroll"):
        compiled_form(leaves)
    with pytest.raises(TypeError, match=r"sets, line \d+: i is set in a loop over unroll"):
        compiled_form(sets)
    compiled_form(inner_loops_may)


def test_arrays_from_outside_differ_by_dtype_and_shape_too(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))

    def make(weights):
        def kernel(x):
            x[0] = weights[0, 0]

        return kernel

    zeros = [np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32), np.zeros((2, 3), np.int32)]
    assert len({compiled_form(make(w), cache=True)[0].__code__.co_filename for w in zeros}) == 3


def test_kernels_of_long_ago_are_forgotten(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    old, young = tmp_path / "old.py", tmp_path / "young.py"
    for file in (old, young):
        file.write_text("")
    os.utime(old, (0, 0))
    compiled_form(make(2).py_func, cache=True)
    assert not old.exists()
    assert young.exists()


def test_other_options_are_another_file(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    function = make(2).py_func
    wanted = [{}, {"launch_bounds": 128}, {"launch_bounds": (128, 2)}, {"max_registers": 64}]
    files = {compiled_form(function, cache=True, options=o)[0].__code__.co_filename for o in wanted}
    assert len(files) == 4


def test_without_a_folder_to_write_to_nothing_is_kept(monkeypatch, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    monkeypatch.setenv("COURSE_CACHE", str(taken))
    function, kept = compiled_form(make(2).py_func, cache=True)
    assert not kept
    assert "float32(1)" in inspect.getsource(function)
