"""Rounding on the device is the reference's, bit for bit; scaling is in place; one infinity among many is found."""

import numpy as np
import pytest

from course_lib import cuda, gpu
from course_lib.reference.formats import FORMATS, decode, round_to


def awkward_numbers(name):
    """All numbers of a small format, the halves between them, their neighbours, and random bits."""
    values = decode(np.arange(2 ** min(FORMATS[name].bits, 16)), "bf16" if FORMATS[name].bits > 16 else name)
    values = np.unique(values[np.isfinite(values)])[:: 1 + len(values) // 500]
    middle = ((values[:-1].astype(np.float64) + values[1:]) / 2).astype(np.float32)
    bits = np.random.default_rng(0).integers(0, 2**32, 500, dtype=np.uint64).astype(np.uint32).view(np.float32)
    up, down = (np.nextafter(middle, np.float32(end)) for end in (np.inf, -np.inf))
    return np.concatenate([values, middle, up, down, bits, np.array([0, -0.0, np.inf, -np.inf, np.nan], np.float32)])


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_the_device_rounds_as_the_reference_bit_for_bit(name, saturate):
    x = awkward_numbers(name)
    found = gpu.to_host(cuda.round_to(gpu.to_device(x), name, saturate=saturate))
    expected = round_to(x, name, saturate=saturate)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), expected[numbers].view(np.uint32))


@pytest.mark.parametrize("size", [1, 7, 1024, 2500])
def test_scaling_is_in_place_and_in_float32(size):
    x = np.random.default_rng(1).standard_normal(size).astype(np.float32)
    a = gpu.to_device(x)
    assert cuda.scale_by(a, 1 / 3) is None
    np.testing.assert_array_equal(gpu.to_host(a), x * np.float32(1 / 3))


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 999, 1999])
def test_one_number_that_is_not_finite_is_found_among_many(bad, place):
    good, other = np.full((20, 100), 3e38, np.float32), np.ones(3, np.float32)
    assert cuda.all_finite([gpu.to_device(good), gpu.to_device(other)]) is True
    good.flat[place] = bad
    assert cuda.all_finite([gpu.to_device(other), gpu.to_device(good)]) is False
    assert cuda.all_finite([]) is True


def test_what_is_not_on_the_device_is_refused():
    with pytest.raises(TypeError, match="x is"):
        cuda.round_to(np.ones(3, np.float32), "bf16")
    with pytest.raises(ValueError, match="format is 'half'"):
        cuda.round_to(gpu.to_device(np.ones(3, np.float32)), "half")
    with pytest.raises(TypeError, match=r"arrays\[1\]"):
        cuda.all_finite([gpu.to_device(np.ones(3, np.float32)), np.ones(3, np.float32)])
