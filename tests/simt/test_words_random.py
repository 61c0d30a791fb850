"""Numba's random numbers: bit by bit those of Numba's own functions on a CPU, and the traffic of their states."""

import numpy as np
import pytest
from numba.cuda import random

from course_lib import simt
from tests.simt.text import function

WORDS = {
    "xoroshiro128p_next": "uint64", "xoroshiro128p_uniform_float32": "float32",
    "xoroshiro128p_uniform_float64": "float64", "xoroshiro128p_normal_float32": "float32",
    "xoroshiro128p_normal_float64": "float64",
}  # fmt: skip


def seeded(n, seed=7):
    states = np.zeros(n, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states_cpu(states, seed, 0)
    return states


@pytest.mark.parametrize("name", WORDS)
def test_numbers_are_numbas_and_so_are_the_states_that_they_leave(name):
    ours, theirs, word = seeded(40), seeded(40), getattr(random, name)
    text = f"""
        def kernel(states, out):
            i = cuda.grid(1)
            for k in range(5):
                if i % 3 or k < 2:
                    out[i, k] = {name}(states, i)
    """
    kernel = function(text, **{name: word})
    out, want = (np.zeros((40, 5), WORDS[name]) for _ in range(2))
    simt.run(kernel, 2, 20, (ours, out))
    for i in range(40):
        for k in range(5):
            if i % 3 or k < 2:
                want[i, k] = word(theirs, i)
    np.testing.assert_array_equal(ours, theirs)
    if "normal" in name:  # of logarithm and cosine the last bits may differ
        np.testing.assert_allclose(out, want, rtol=4 * np.finfo(WORDS[name]).eps, atol=1e-7)
    else:
        np.testing.assert_array_equal(out, want)


def test_jump_and_first_state_are_numbas():
    ours, theirs = seeded(4), seeded(4)
    text = """
        def kernel(states):
            i = cuda.grid(1)
            if i < 3:
                random.xoroshiro128p_jump(states, i)
            else:
                random.init_xoroshiro128p_state(states, i, 12345)
    """
    simt.run(function(text, random=random), 1, 4, (ours,))
    for i in range(3):
        random.xoroshiro128p_jump(theirs, i)
    random.init_xoroshiro128p_state(theirs, 3, 12345)
    np.testing.assert_array_equal(ours, theirs)


def uniform(index):
    """Return a kernel in which each thread takes a number from the state of an index."""
    body = f"out[i] = random.xoroshiro128p_uniform_float32(states, {index})"
    return function(f"def kernel(states, out):\n    i = cuda.grid(1)\n    {body}", random=random)


def test_a_number_costs_two_loads_and_two_stores():
    kernel = uniform("i")
    report = simt.run(kernel, 1, 32, (seeded(32), np.zeros(32, np.float32)))
    total = report.total
    assert (total.global_load_requests, total.global_store_requests) == (2, 2 + 1)
    assert (total.global_load_bytes, total.global_load_sectors) == (512, 32)
    assert total.float64_flops == 32  # the product that makes a fraction of 64 bits
    assert report.hazards == []


def test_one_state_for_all_threads_is_a_race():
    kernel = uniform("0")
    report = simt.run(kernel, 1, 4, (seeded(4), np.zeros(4, np.float32)), on_error="collect")
    assert {(h.kind, h.array) for h in report.hazards} == {("race", "states.s0"), ("race", "states.s1")}


def test_more_threads_than_states_are_out_of_bounds():
    kernel = uniform("i")
    report = simt.run(kernel, 1, 8, (seeded(4), np.zeros(8, np.float32)), on_error="collect")
    assert [(h.kind, h.array, h.count) for h in report.hazards] == [("out of bounds", "states", 4)]


def test_text_has_random_numbers_and_states_in_local_memory():
    source = simt.read("""
from numba import cuda
from numba.cuda.random import xoroshiro128p_uniform_float64, xoroshiro128p_type
import numba.cuda.random as rng

@cuda.jit
def kernel(states, out):
    i = cuda.grid(1)
    own = cuda.local.array(1, xoroshiro128p_type)
    own[0] = states[i]
    for k in range(3):
        out[i, k] = xoroshiro128p_uniform_float64(own, 0)
    out[i, 3] = rng.xoroshiro128p_next(own, 0) >> 11
""")
    states, out = seeded(4), np.zeros((4, 4))
    simt.run(source, 1, 4, (states, out))
    np.testing.assert_array_equal(states, seeded(4))
    for i in range(4):
        want = [random.xoroshiro128p_uniform_float64(states, i) for _ in range(3)]
        np.testing.assert_array_equal(out[i], [*want, random.xoroshiro128p_next(states, i) >> 11])


@pytest.mark.parametrize(("call", "says"), [
    ("xoroshiro128p_next(out, i)", "no array of states"), ("xoroshiro128p_next(states, states)", "no index of a state"),
    ("xoroshiro128p_next(3, i)", "no array of states"), ("xoroshiro128p_next(states)", "missing"),
])  # fmt: skip
def test_wrong_states_are_refused_with_their_line(call, says):
    kernel = function(f"def kernel(states, out):\n    i = cuda.grid(1)\n    out[i] = random.{call}", random=random)
    with pytest.raises(simt.KernelError, match=f"line 3: .*{says}"):
        simt.run(kernel, 1, 4, (seeded(4), np.zeros(4)))


def test_monte_carlo_comes_to_pi():
    kernel = function("""
        def kernel(states, runs, out):
            i = cuda.grid(1)
            inside = 0
            for k in range(runs):
                x = random.xoroshiro128p_uniform_float32(states, i)
                y = random.xoroshiro128p_uniform_float32(states, i)
                if x * x + y * y <= 1.0:
                    inside += 1
            out[i] = 4 * inside / runs
    """, random=random)  # fmt: skip
    out = np.zeros(256)
    simt.run(kernel, 4, 64, (seeded(256), 100, out))
    assert out.mean() == pytest.approx(np.pi, abs=4 * 1.65 / 160)  # four standard errors
