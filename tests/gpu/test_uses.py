"""Uses that a student comes to without being told: two threads, an interrupt, a wrong call, and what is left after."""

import signal
import threading

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu
from tests.gpu.devices import nans, needs_numba, needs_simt, ramp


@gpu.jit
def ones(x):
    x[cuda.grid(1)] = 1


@gpu.jit
def counts_up(x, rounds):
    i = cuda.grid(1)
    for _ in range(rounds):
        x[i] += float32(1)


@gpu.jit
def product(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


@gpu.jit
def nothing(x):
    """Nothing."""


@gpu.jit
def sum_of_two(out, two):
    out[0] = two[0] + two[1]


def in_threads(*works):
    """Run functions at once, each in a thread, and return what they returned."""
    found = [None] * len(works)

    def work(i):
        found[i] = works[i]()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@needs_simt
def test_collecting_hazards_is_a_matter_of_one_thread():
    from course_lib.simt import HazardFound

    def launch():
        try:
            ones[1, 64](gpu.to_device(ramp(10)))
        except HazardFound:
            return "stopped"
        return "went on"

    with gpu.collect_hazards():
        assert in_threads(launch) == ["stopped"]
        assert launch() == "went on"
    assert launch() == "stopped"


@needs_numba
def test_simulating_in_several_threads_gives_the_same_reports():
    a = gpu.to_device(np.ones((64, 64), np.float32))

    def one():
        return str(gpu.simulate(product, (4, 4), (16, 16), a, a, nans(64, 64)))

    assert set(in_threads(one, one, one)) == {one()}


@needs_simt
def test_an_interrupt_leaves_what_was_written_and_a_kernel_to_launch_again():
    x = gpu.to_device(np.zeros(64, np.float32))
    counts_up[1, 64](x, 1)
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        counts_up[1, 64](x, 1_000_000)
    timer.join()
    assert counts_up.report is None
    done = gpu.to_host(x)
    assert 1 < done[0] < 1_000_000
    counts_up[1, 64](x, 3)
    assert (gpu.to_host(x) >= done + 3).all()
    assert counts_up.report.total.flops == 3 * 64


@needs_simt
def test_an_interrupt_that_comes_in_compiled_code_is_an_interrupt(monkeypatch):
    from course_lib import simt

    def interrupted(*arguments, **named):
        raise SystemError("a dispatcher returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setitem(simt.run.__globals__, "_walk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ones[1, 64](gpu.to_device(ramp(64)))


@needs_simt
@pytest.mark.parametrize("wrong", [(), (ramp(64),), ([1.0],)])
def test_a_refused_launch_leaves_no_old_report(wrong):
    ones[1, 64](gpu.to_device(ramp(64)))
    assert ones.report is not None
    with pytest.raises((TypeError, ValueError)):
        ones[1, 64](*wrong)
    assert ones.report is None


@needs_simt
def test_a_kernel_that_does_nothing_is_not_said_to_have_run_without_counters():
    nothing[1, 1](gpu.to_device(ramp(3)))
    assert "no thread did anything" in str(nothing.report)


@needs_numba
@pytest.mark.parametrize("thing", [ones.py_func, ones[1, 64], "ones"])
def test_simulate_says_that_it_wants_the_kernel(thing):
    with pytest.raises(TypeError, match=r"gpu.simulate\(kernel, grid, block"):
        gpu.simulate(thing, 1, 64, gpu.to_device(ramp(64)))


@needs_simt
def test_tuples_are_refused_in_the_words_of_every_other_argument():
    with pytest.raises(TypeError, match=r"sum_of_two: two is a tuple.*Pass each part as a parameter of its own"):
        sum_of_two[1, 1](nans(1), (1, 2))
    with pytest.raises(TypeError, match="takes device arrays, numbers and booleans"):
        sum_of_two[1, 1](nans(1), [1, 2])


@needs_simt
@pytest.mark.parametrize(("dtype", "fix"), [([("a", "f4")], r"array\['a'\]"), ("c8", "need a GPU"), ("S3", "astype")])
def test_the_fix_for_a_dtype_can_be_done(dtype, fix):
    with pytest.raises(TypeError, match=fix):
        gpu.to_device(np.zeros(3, dtype))


@needs_simt
def test_a_small_launch_is_told_that_it_does_not_fill_the_gpu():
    ones[1, 64](gpu.to_device(ramp(64)))
    said = " ".join(str(ones.report).split())
    assert "This launch has too few to fill them: 1 block for 132 SMs." in said
    assert "no time is predicted. 1 block does not fill the 132 SMs of the H200: some idle, and starting" in said


@needs_simt
def test_a_map_asked_for_by_name_alone_says_how():
    ones[1, 64](gpu.to_device(ramp(64)))
    with pytest.raises(ValueError, match="A name is meant as array='x'"):
        ones.report.memory_map("x")
