"""A bad launch says what is wrong and what to write instead, in the same words on every device."""

import datetime

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.array_checks import check_arguments
from course_lib.cuda.device import executor
from tests.gpu import kernels
from tests.gpu.devices import nans, needs_simt, ramp

LIMIT = executor().shared_limit
KERNEL = kernels.in_place


def refused(error, launch, *words):
    with pytest.raises(error) as info:
        launch()
    text = str(info.value)
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ((1, 2048), ["block is (2048, 1, 1), 2,048 threads", "at most 1,024", "swap grid and block", "256"]),
        (((32, 32), (32, 33)), ["swap grid and block"]),
        ((4096, (64, 64)), ["4,096 threads", "Use a smaller block"]),
        ((1, (1, 1, 128)), ["block is (1, 1, 128)", "along z", "at most 64"]),
        (((1, 70_000), 32), ["grid is (1, 70000, 1)", "along y", "65,535"]),
        (((1, 1, 65_536), 32), ["along z", "65,535"]),
        ((2**31, 32), ["along x", "2,147,483,647"]),
        ((0, 32), ["grid is 0", "must be >= 1", "(n + 255) // 256"]),
        (((2, 0), 32), ["grid is (2, 0)", ">= 1"]),
        ((1, 0), ["block is 0", ">= 1"]),
        ((-1, 32), ["grid is -1", ">= 1"]),
        ((10 / 4, 32), ["grid is 2.5", "//", "(n + 255) // 256"]),
        ((4.0, 32), ["grid is 4.0", "whole numbers"]),
        (((1, np.float64(2)), 32), ["whole numbers"]),
        ((1, 32.0), ["block is 32.0", "whole numbers"]),
        ((1, (8, 8.0)), ["block is (8, 8.0)", "whole numbers"]),
        (("4", 32), ["grid is '4'", "one to three"]),
        ((None, 32), ["grid is None", "one to three"]),
        ((True, 32), ["grid is True", "one to three"]),
        (((1, 1, 1, 1), 32), ["(1, 1, 1, 1)", "one to three"]),
        (((), 32), ["grid is ()", "one to three"]),
        ((1, 32, 4096), ["stream is 4096", "fourth", "kernel[grid, block, 0, shared_bytes]"]),
        ((1, 32, "s"), ["stream is 's'", "gpu.stream()"]),
        ((1, 32, 0, -4), ["shared_bytes is -4", "0 to"]),
        ((1, 32, 0, LIMIT + 1), [f"shared_bytes is {LIMIT + 1:,}", f"{LIMIT:,} bytes", "smaller tiles"]),
        ((1, 32, 0, 64.0), ["shared_bytes is 64.0", "whole number of bytes"]),
        ((1, 32, 0, True), ["shared_bytes is True"]),
        ((1,), ["in_place[(1,)]", "kernel[grid, block](...)"]),
        (256, ["in_place[256]", "kernel[grid, block](...)"]),
        ((1, 32, 0, 0, 0), ["(1, 32, 0, 0, 0)", "shared_bytes](...)"]),
        ([1, 32], ["in_place[[1, 32]]"]),
        (slice(1, 2), ["no launch configuration"]),
    ],
)
def test_a_bad_configuration(configuration, words):
    refused(gpu.LaunchError, lambda: KERNEL[configuration], *words)


def test_a_block_at_the_limits_is_taken():
    for block in (1024, (1, 1, 16), (1, 1024), (4, 4, 64)):
        KERNEL[1, block]
    KERNEL[1, 32, 0, LIMIT]


def test_a_float_grid_is_refused_after_an_equal_whole_one_too():
    KERNEL[6, 32]
    refused(gpu.LaunchError, lambda: KERNEL[6.0, 32], "grid is 6.0")
    refused(gpu.LaunchError, lambda: KERNEL[6, 32.0], "block is 32.0")


def test_no_word_of_swapping_where_swapping_would_not_help():
    with pytest.raises(gpu.LaunchError) as info:
        KERNEL[2048, 2048]
    assert "swap" not in str(info.value)


def test_a_kernel_called_like_a_function():
    refused(gpu.LaunchError, lambda: KERNEL(nans(3)), "in_place is a kernel", "kernel[grid, block](...)")


def test_a_device_function_called_or_launched_from_the_host():
    refused(gpu.LaunchError, lambda: kernels.cube(3), "cube is a device function", "cube.py_func(...)")
    refused(gpu.LaunchError, lambda: kernels.cube[1, 32], "cube is a device function", "@gpu.jit alone")


def test_too_many_or_too_few_arguments():
    a = nans(3)
    refused(gpu.LaunchError, lambda: kernels.add[1, 32](a, a), "add(a, b, c) takes 3", "got 2")
    refused(gpu.LaunchError, lambda: kernels.add[1, 32](a, a, a, 3), "got 4")
    refused(gpu.LaunchError, lambda: kernels.add[1, 32](a, a, c=a), "got c by name", "position")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ones(3, np.float32), ["x is a host array", "x = gpu.to_device(x)", "timed"]),
        (np.ones((), np.float32), ["x is a host array"]),
        ([1.0, 2.0], ["x is a list", "gpu.to_device(np.array(x, np.float32))"]),
        (None, ["x is None", "return"]),
        ("text", ["x is a str", "device arrays, numbers"]),
        ({}, ["x is a dict"]),
        (len, ["x is a builtin_function_or_method"]),
        (2**64, ["x is 18446744073709551616", "64 bits"]),
        (-(2**63) - 1, ["64 bits"]),
        (np.datetime64("2026-01-01"), ["datetime64", "numbers and booleans"]),
        (np.str_("t"), ["numbers and booleans"]),
        (datetime.date(2026, 1, 1), ["x is a date"]),
        ((1, np.ones(2)), ["x[1] is a host array"]),
        ((1, (2, None)), ["x[1][1] is None"]),
    ],
)
def test_a_bad_argument(value, words):
    refused(TypeError, lambda: KERNEL[1, 32](value), "in_place: ", *words)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="longdouble is float64 on this machine")
def test_numbers_of_more_than_64_bits():
    refused(TypeError, lambda: KERNEL[1, 32](np.longdouble(1)), "in_place: x", "up to 64 bits")
    refused(TypeError, lambda: gpu.to_device(np.zeros(2, np.longdouble)), "up to 64 bits")


@pytest.mark.parametrize("value", [2**63, -(2**63), 2**64 - 1])
def test_whole_numbers_of_64_bits_are_arguments(value):
    kernels.scaled[1, 1](gpu.to_device(ramp(1)), value, 0, True, nans(1))


def test_tuples_of_numbers_and_device_arrays_pass_the_check_where_the_device_takes_them():
    call = "k", ("x", "y"), ((1, (nans(3), 2.5)), np.float16(3)), executor()
    if executor().tuples:
        check_arguments(*call)
    else:
        refused(TypeError, lambda: check_arguments(*call), "is a tuple", "parameter of its own")


@needs_simt
@pytest.mark.parametrize("value", [1j, np.complex64(1)])
def test_complex_numbers_are_for_gpus(value):
    refused(TypeError, lambda: KERNEL[1, 32](value), "x has dtype complex", "numbers and booleans")


@pytest.mark.parametrize("name", ["DeviceArray", "DeviceNDArray", "FakeCUDAArray"])
def test_an_array_of_another_device(name):
    other = type(name, (), {})()
    words = ["another device", gpu.device_name(), "gpu.to_device"]
    refused(TypeError, lambda: KERNEL[1, 32](other), f"x is a {name}", *words)
    refused(TypeError, lambda: gpu.to_host(other), f"got a {name}", *words)
    refused(TypeError, lambda: gpu.to_device(other), f"got a {name}", *words)


@needs_simt
def test_an_array_of_numbas_simulator_is_refused_on_simt():
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    refused(TypeError, lambda: KERNEL[1, 32](FakeCUDAArray(ramp(3))), "another device")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gpu.jit(fast_math=True), ["no option 'fast_math'", "fastmath"]),
        (lambda: gpu.jit(lambda x: x), ["a function made with def"]),
        (lambda: gpu.jit(len), ["a function made with def"]),
        (lambda: gpu.jit(int), ["a function made with def"]),
        (lambda: gpu.jit(kernels.add), ["add is decorated already", "one decorator"]),
        (lambda: gpu.jit(kernels.cube), ["cube is decorated already"]),
    ],
)
def test_what_jit_refuses(make, words):
    refused(TypeError, make, *words)


def test_a_kernel_has_plain_parameters():
    def default(x, n=3):
        pass

    def star(*x):
        pass

    def named(x, *, n):
        pass

    def stars(**x):
        pass

    for function, parameter in ((default, "n=3"), (star, "*x"), (named, "n"), (stars, "**x")):
        refused(TypeError, lambda f=function: gpu.jit(f), f"the parameter {parameter}", "no defaults")


@pytest.mark.parametrize("option", ["cache", "debug", "fastmath", "inline", "lineinfo", "max_registers", "opt"])
def test_an_option_of_numbas_is_taken(option):
    assert callable(gpu.jit(**{option: False}))
    assert callable(gpu.jit())


def test_forall_needs_a_count():
    refused(gpu.LaunchError, lambda: KERNEL.forall(0), "must be >= 1")
    refused(gpu.LaunchError, lambda: KERNEL.forall(10 / 4), "whole numbers")
    refused(gpu.LaunchError, lambda: KERNEL.forall(8, tpb=2048), "2,048 threads")
