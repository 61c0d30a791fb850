"""What a card's launches keep from one to the next changes nothing: each value arrives as Numba would hand it over."""

import threading

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from tests.gpu.devices import nans, needs_gpu, ramp

NUMBERS = [True, False, 3, -3, 2**62, 2.5, -0.0, *(np.dtype(code).type(5) for code in "?bhilqBHILQfd")]


@gpu.jit
def scaled(a, factor, shift, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * factor + shift


@gpu.jit
def walked(a, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__} {n}")
def test_numbers_of_every_kind_arrive_at_the_first_launch_and_at_later_ones(number):
    a = gpu.to_device(np.arange(8.0))
    for shift in (0, 1, 2):
        out = gpu.to_device(np.full(8, np.nan))
        scaled[1, 8](a, number, shift, out)
        np.testing.assert_array_equal(gpu.to_host(out), np.arange(8.0) * float(number) + shift)


def test_numbers_of_several_kinds_take_turns_in_one_launch():
    launch = scaled[1, 8]
    a, out = gpu.to_device(np.arange(8.0)), gpu.to_device(np.full(8, np.nan))
    for _ in range(3):
        for factor in (2, 2.5, np.float32(0.5), np.int8(-3), True):
            launch(a, factor, 0, out)
            np.testing.assert_array_equal(gpu.to_host(out), np.arange(8.0) * float(factor))


def test_arrays_of_both_orders_arrive():
    host = ramp(6, 8)
    rows, columns = gpu.to_device(host), gpu.to_device(np.asfortranarray(host))
    for _ in range(2):
        for array, want in ((rows, host), (columns, host)):
            out = nans(*want.shape)
            walked[(3, 2), (4, 4)](array, out)
            np.testing.assert_array_equal(gpu.to_host(out), want)


@needs_gpu
def test_a_part_of_an_array_on_a_card_arrives_with_its_own_address_and_strides():
    host = ramp(6, 8)
    whole = gpu.to_device(host)
    for part, want in ((whole[1:4, 2:6], host[1:4, 2:6]), (whole[::2, ::3], host[::2, ::3]), (whole.T, host.T)):
        out = nans(*want.shape)
        for _ in range(2):
            walked[(3, 2), (4, 4)](part, out)
            np.testing.assert_array_equal(gpu.to_host(out), want)


def test_a_whole_number_beyond_64_bits_is_refused_as_ever_and_spoils_nothing():
    a, out = gpu.to_device(np.arange(8.0)), gpu.to_device(np.full(8, np.nan))
    launch = scaled[1, 8]
    launch(a, 1, 0, out)
    with pytest.raises(Exception, match=r"2\*\*64|too large|overflow|Int value|64"):
        launch(a, 2**70, 0, out)
    launch(a, 3, 0, out)
    np.testing.assert_array_equal(gpu.to_host(out), np.arange(8.0) * 3)


def test_memory_used_again_by_another_array_is_not_mistaken_for_the_old_one():
    for k in range(5):
        a, out = gpu.to_device(np.full(8, float(k))), nans(8)
        scaled[1, 8](a, 1.0, 0.0, out)
        np.testing.assert_array_equal(gpu.to_host(out), np.full(8, k))
        del a, out


def test_launches_from_another_thread_work():
    found = []

    def work():
        a, out = gpu.to_device(np.arange(8.0)), gpu.to_device(np.full(8, np.nan))
        for _ in range(2):
            scaled[1, 8](a, 2.0, 0.0, out)
        found.append(gpu.to_host(out))

    work()
    other = threading.Thread(target=work)
    other.start()
    other.join()
    np.testing.assert_array_equal(found[0], found[1])


@needs_gpu
def test_on_a_card_the_second_launch_does_not_ask_numba():
    from course_lib.cuda.thin_launch import ThinLaunch

    a, out = gpu.to_device(np.arange(8.0)), gpu.to_device(np.full(8, np.nan))
    launch = scaled[1, 8]
    launch(a, 2.0, 0.0, out)
    assert isinstance(launch.start, ThinLaunch)
    asked = []
    launch.start.own = lambda *arguments: asked.append(arguments)
    launch(a, 4.0, 0.0, out)
    np.testing.assert_array_equal(gpu.to_host(out), np.arange(8.0) * 4)
    assert asked == []
    launch(a, 4.0 + 0j, 0.0, out)
    assert len(asked) == 1, "complex numbers go Numba's way"
