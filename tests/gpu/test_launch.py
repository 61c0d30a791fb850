"""A launch computes what the kernel says, whatever the device, and in all of Numba's ways to write it."""

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from tests.gpu import kernels
from tests.gpu.devices import DEVICE, HERE, nans, needs_gpu, needs_simt, ramp


def test_a_vector_sum():
    a, b, c = ramp(50), ramp(50) * 2, nans(50)
    kernels.add[4, 16](gpu.to_device(a), gpu.to_device(b), c)
    np.testing.assert_array_equal(gpu.to_host(c), a + b)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 13, 9), (4, 8, 4)])
def test_a_tiled_product_of_ragged_sizes(sizes):
    m, n, k = sizes
    a, b, c = ramp(m, k) % 5, ramp(k, n) % 7, nans(m, n)
    grid = (-(-n // kernels.T), -(-m // kernels.T))
    kernels.product_tiled[grid, (kernels.T, kernels.T)](gpu.to_device(a), gpu.to_device(b), c)
    np.testing.assert_array_equal(gpu.to_host(c), a @ b)


@pytest.mark.parametrize(("grid", "block"), [((2, 1, 3), (2, 3, 1)), ([4, 3, 3], [1, 1, 1]), ((1,), (4, 3, 3))])
def test_grids_and_blocks_of_three_axes(grid, block):
    out = nans(3, 3, 4)
    kernels.where_am_i[grid, block](out)
    z, y, x = np.indices((3, 3, 4))
    np.testing.assert_array_equal(gpu.to_host(out), z * 100 + y * 10 + x)


def test_sizes_may_be_numpy_integers():
    a, c = gpu.to_device(ramp(8)), nans(8)
    kernels.add[np.int64(2), np.int32(4)](a, a, c)
    np.testing.assert_array_equal(gpu.to_host(c), 2 * ramp(8))


def test_a_stream_and_dynamic_shared_memory():
    a, out, stream = gpu.to_device(ramp(8)), nans(8), gpu.stream()
    kernels.reverse_dynamic[1, 8, stream, 8 * 4](a, out)
    stream.synchronize()
    np.testing.assert_array_equal(gpu.to_host(out), ramp(8)[::-1])


def test_dynamic_shared_memory_of_one_launch_is_not_that_of_the_next():
    out = nans(8)
    first = kernels.reverse_dynamic[1, 8, 0, 8 * 4]
    kernels.add[1, 8](gpu.to_device(ramp(8)), out, nans(8))
    kernels.reverse_dynamic[1, 4, 0, 4 * 4](gpu.to_device(ramp(4)), nans(4))
    first(gpu.to_device(ramp(8)), out)
    np.testing.assert_array_equal(gpu.to_host(out), ramp(8)[::-1])


@pytest.mark.parametrize("stream", [None, 0])
def test_the_default_stream_has_two_names(stream):
    a, c = gpu.to_device(ramp(4)), nans(4)
    kernels.add[1, 4, stream](a, a, c)
    gpu.synchronize()
    np.testing.assert_array_equal(gpu.to_host(c), 2 * ramp(4))


def test_copies_take_a_stream():
    stream = gpu.stream()
    a, c = gpu.to_device(ramp(4), stream), nans(4)
    kernels.add[1, 4, stream](a, a, c)
    host = gpu.to_host(c, stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, 2 * ramp(4))


@pytest.mark.parametrize("factor", [2, 2.5, np.float32(0.5), np.int32(3)])
def test_numbers_and_booleans_are_arguments(factor):
    out = nans(6)
    kernels.scaled[1, 8](gpu.to_device(ramp(6)), factor, 6, True, out)
    np.testing.assert_array_equal(gpu.to_host(out), ramp(6) * np.float32(factor))


def test_device_functions_call_device_functions():
    out = nans(5)
    kernels.cubes[1, 8](gpu.to_device(ramp(5)), out)
    np.testing.assert_array_equal(gpu.to_host(out), ramp(5) ** 3 + 1)


def test_a_function_that_lacks_device_true_can_be_called_as_in_numba():
    out = nans(5)
    kernels.halves[1, 8](gpu.to_device(ramp(5)), out)
    np.testing.assert_array_equal(gpu.to_host(out), ramp(5) / 2)


def test_a_device_function_of_a_closure():
    for factor in (2, 5):
        out = nans(5)
        kernels.times(factor)[1, 8](gpu.to_device(ramp(5)), out)
        np.testing.assert_array_equal(gpu.to_host(out), factor * ramp(5))


def test_options_change_no_result():
    out = nans(5)
    kernels.with_options[1, 8](gpu.to_device(ramp(5)), out)
    np.testing.assert_array_equal(gpu.to_host(out), kernels.FACTOR * ramp(5))


@pytest.mark.parametrize("options", [{}, {"tpb": 4}])
def test_forall_starts_enough_threads(options):
    a, c = gpu.to_device(ramp(10)), nans(10)
    kernels.add.forall(10, **options)(a, a, c)
    np.testing.assert_array_equal(gpu.to_host(c), 2 * ramp(10))


def test_forall_rounds_up_and_takes_what_a_launch_takes(monkeypatch):
    asked = []
    monkeypatch.setattr(type(kernels.add), "__getitem__", lambda self, configuration: asked.append(configuration))
    kernels.add.forall(513)
    kernels.add.forall(9, tpb=4, stream=0, sharedmem=8)
    assert asked == [(3, 256, 0, 0), (3, 4, 0, 8)]


def test_an_array_given_twice_is_one_array():
    a = gpu.to_device(ramp(6))
    kernels.add[1, 8](a, a, a)
    np.testing.assert_array_equal(gpu.to_host(a), 2 * ramp(6))


def test_views_are_arguments_and_write_through():
    whole = gpu.to_device(np.zeros((3, 8), np.float32))
    kernels.in_place[1, 8](whole[1])
    kernels.in_place[1, 8](whole[2, 2:8:3])
    expected = np.zeros((3, 8), np.float32)
    expected[1] += 1
    expected[2, 2:8:3] += 1
    np.testing.assert_array_equal(gpu.to_host(whole), expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_of_an_array_does_not_change_a_result(order):
    a, out = np.asarray(ramp(3, 5), order=order), nans(3, 5)
    kernels.copy2d[(2, 1), (4, 4)](gpu.to_device(a), out)
    np.testing.assert_array_equal(gpu.to_host(out), a)


def test_a_launch_is_prepared_once():
    first = kernels.add[3, 32]
    assert kernels.add[5, 32] is not first
    assert kernels.add[3, 32] is first
    assert kernels.add[3, 32] is not kernels.add[3, 64]
    assert kernels.add[3, 32, 0, 8] is not kernels.add[3, 32]


def test_prepared_launches_do_not_pile_up():
    for grid in range(1, 600):
        kernels.in_place[grid, 32]
    assert len(kernels.in_place._launches) <= 256


def test_a_kernel_keeps_its_name_text_and_function():
    assert kernels.add.__name__ == "add"
    assert kernels.times.__doc__.startswith("Return a kernel")
    assert repr(kernels.add) == "<kernel add(a, b, c)>"
    assert repr(kernels.cube) == "<device function cube(v)>"
    assert kernels.cube.py_func(3) == 27


def test_the_device_has_a_name_and_a_reason():
    assert gpu.device_name() in HERE
    assert len(gpu.why()) > 10
    assert ("(no GPU)" in gpu.device_name()) == (DEVICE != "gpu")


@needs_gpu
def test_more_than_48_kib_of_dynamic_shared_memory():
    out = nans(8)
    for _ in range(2):
        kernels.reverse_dynamic[1, 8, 0, 64 * 1024](gpu.to_device(ramp(8)), out)
    np.testing.assert_array_equal(gpu.to_host(out), ramp(8)[::-1])


@needs_gpu
def test_a_small_grid_is_no_reason_to_warn(recwarn):
    kernels.add[1, 5](gpu.to_device(ramp(5)), gpu.to_device(ramp(5)), nans(5))
    assert not [w for w in recwarn if "Grid size" in str(w.message)]


@needs_simt
def test_lines_that_a_kernel_prints_are_shown_as_a_gpu_prints_them(capsys):
    @gpu.jit
    def kernel(x):
        i = cuda.grid(1)
        if i >= 2:
            print("thread", i, x[i], i == 2)

    kernel[1, 4](gpu.to_device(np.arange(4, dtype=np.float32) / 2))
    assert capsys.readouterr().out == "thread 2 1.000000 True\nthread 3 1.500000 False\n"
    assert kernel.report.printed == ["thread 2 1.000000 True", "thread 3 1.500000 False"]
