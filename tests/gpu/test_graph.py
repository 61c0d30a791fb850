"""A recorded function does the same again, to the same arrays, by one call."""

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from tests.gpu.devices import needs_gpu, ramp


@gpu.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def test_a_graph_does_its_work_at_each_call_on_what_lies_in_the_arrays_then():
    a, b, total = gpu.to_device(ramp(100)), gpu.to_device(ramp(100)), gpu.to_device(np.zeros(100, np.float32))

    def step():
        c = gpu.empty(100, np.float32)
        add[1, 128](a, b, c)
        add[1, 128](total, c, total)
        return total

    graph = gpu.record(step)  # runs once
    before = gpu.to_host(total)
    np.testing.assert_array_equal(before, 2 * ramp(100))
    gpu.overwrite(b, ramp(100) * 10)
    graph()
    graph()
    np.testing.assert_array_equal(gpu.to_host(graph.result), before + 2 * 11 * ramp(100))


def test_overwrite_takes_arrays_of_one_shape_and_dtype_only():
    a = gpu.to_device(ramp(6))
    gpu.overwrite(a, ramp(6) + 1)
    np.testing.assert_array_equal(gpu.to_host(a), ramp(6) + 1)
    with pytest.raises(ValueError, match=r"array is \(6,\) of float32 and host is \(3,\) of float32"):
        gpu.overwrite(a, ramp(3))
    with pytest.raises(ValueError, match="float64"):
        gpu.overwrite(a, np.zeros(6))
    with pytest.raises(TypeError, match="host array"):
        gpu.overwrite(ramp(6), ramp(6))


@needs_gpu
def test_a_copy_to_the_host_cannot_be_recorded_and_the_next_recording_works():
    a = gpu.to_device(ramp(6))
    calls = []

    def step():
        calls.append(1)
        if len(calls) == 2:
            gpu.to_host(a)
        add[1, 32](a, a, a)

    with pytest.raises(gpu.DeviceError, match=r"gpu\.to_host within gpu\.record"):
        gpu.record(step)
    gpu.record(lambda: add[1, 32](a, a, a))()
    np.testing.assert_array_equal(gpu.to_host(a), ramp(6) * 8)


@needs_gpu
def test_memory_of_a_graph_is_its_own_until_it_ends():
    a = gpu.to_device(ramp(1000))
    out = gpu.to_device(np.zeros(1000, np.float32))

    def step():
        b = gpu.empty(1000, np.float32)
        add[4, 256](a, a, b)
        c = gpu.empty(1000, np.float32)
        add[4, 256](b, b, c)
        add[4, 256](c, c, out)

    graph = gpu.record(step)
    others = [gpu.to_device(np.full(1000, -1, np.float32)) for _ in range(8)]
    graph()
    np.testing.assert_array_equal(gpu.to_host(out), ramp(1000) * 8)
    for other in others:
        np.testing.assert_array_equal(gpu.to_host(other), np.full(1000, -1, np.float32))


def test_a_graph_keeps_the_arrays_that_its_function_uses():
    def make():
        a, out = gpu.to_device(ramp(1000)), gpu.to_device(np.zeros(1000, np.float32))

        def step():
            add[4, 256](a, a, out)
            return out

        return gpu.record(step)

    graph = make()
    others = [gpu.to_device(np.full(1000, -1, np.float32)) for _ in range(4)]
    graph()
    np.testing.assert_array_equal(gpu.to_host(graph.result), 2 * ramp(1000))
    for other in others:
        np.testing.assert_array_equal(gpu.to_host(other), np.full(1000, -1, np.float32))


def test_arrays_given_back_do_not_disturb_those_in_use():
    kept = []
    for i in range(200):
        array = gpu.to_device(np.full(100 + i % 7, i, np.float32))
        if i % 3 == 0:
            kept.append((i, array))
    for i, array in kept:
        np.testing.assert_array_equal(gpu.to_host(array), np.full(100 + i % 7, i, np.float32))


@needs_gpu
def test_a_graph_does_not_follow_a_name_to_another_array():
    """Without a GPU a call runs the function again, which does: lesson 16 says so."""
    a, out = gpu.to_device(ramp(100)), gpu.to_device(np.zeros(100, np.float32))

    def step():
        add[1, 128](a, a, out)

    graph = gpu.record(step)
    a = gpu.to_device(ramp(100) * 10)
    graph()
    np.testing.assert_array_equal(gpu.to_host(out), 2 * ramp(100))


def test_a_graph_is_launched_in_a_stream_of_its_own():
    stream, out = gpu.stream(), gpu.to_device(np.zeros(100, np.float32))
    a = gpu.to_device(ramp(100))
    graph = gpu.record(lambda: add[1, 128](a, a, out))
    gpu.overwrite(a, ramp(100) * 3, stream)
    graph(stream)
    back = gpu.to_host(out, stream)
    stream.synchronize()
    np.testing.assert_array_equal(back, 6 * ramp(100))


@pytest.mark.parametrize("priority", [0, -5, -100, np.int32(-1)])
def test_a_graph_of_any_priority_does_its_work(priority):
    a, out = gpu.to_device(ramp(100)), gpu.to_device(np.zeros(100, np.float32))
    graph = gpu.record(lambda: add[1, 128](a, a, out), priority)
    gpu.overwrite(a, ramp(100) * 3)
    graph(gpu.stream())
    gpu.synchronize()
    np.testing.assert_array_equal(gpu.to_host(out), 6 * ramp(100))


def test_the_priority_of_a_graph_is_a_whole_number():
    with pytest.raises(TypeError, match=r"priority is 'high'; it must be a whole number"):
        gpu.record(lambda: None, "high")
