"""Rounding to small formats against NumPy's float16, against all numbers of each format, and at the halves between."""

import numpy as np
import pytest

from course_lib.reference.formats import FORMATS, decode, encode, find_format, pack_pairs, round_to, split

SMALL = ("fp16", "bf16", "e5m2", "e4m3")
each = pytest.mark.parametrize("name", SMALL)


def all_numbers(name):
    """All finite numbers of a format, from the smallest to the largest, -0 left out."""
    values = decode(np.arange(2 ** FORMATS[name].bits), name)
    return np.unique(values[np.isfinite(values)])


def random_bits(count=1_000_000):
    return np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(
    ("name", "bits", "largest", "normal", "smallest", "step"),
    [
        ("float32", 32, float(np.finfo(np.float32).max), 2.0**-126, 2.0**-149, 2.0**-23),
        ("tf32", 19, 2.0**127 * (2 - 2.0**-10), 2.0**-126, 2.0**-136, 2.0**-10),
        ("fp16", 16, 65504.0, 2.0**-14, 2.0**-24, 2.0**-10),
        ("bf16", 16, 2.0**127 * (2 - 2.0**-7), 2.0**-126, 2.0**-133, 2.0**-7),
        ("e5m2", 8, 57344.0, 2.0**-14, 2.0**-16, 0.25),
        ("e4m3", 8, 448.0, 2.0**-6, 2.0**-9, 0.125),
    ],
)
def test_the_table_is_that_of_the_standards(name, bits, largest, normal, smallest, step):
    form = FORMATS[name]
    assert (form.bits, form.largest, form.smallest_normal) == (bits, largest, normal)
    assert (form.smallest, form.step_at_one) == (smallest, step)


def test_fp16_is_numpys_float16():
    x = random_bits()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(round_to(x, "fp16"), x.astype(np.float16).astype(np.float32))
    bits = np.arange(65536, dtype=np.uint16)
    np.testing.assert_array_equal(decode(bits, "fp16"), bits.view(np.float16).astype(np.float32))


@each
def test_every_number_of_a_format_stays_what_it_is(name):
    codes = np.arange(2 ** FORMATS[name].bits, dtype=np.uint32)
    values = decode(codes, name)
    rounded = round_to(values, name)
    np.testing.assert_array_equal(rounded, values)
    np.testing.assert_array_equal(np.signbit(rounded), np.signbit(values))
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(encode(values, name)[numbers], codes[numbers])


@each
def test_between_neighbours_the_nearer_wins_and_halves_go_to_the_even_one(name):
    values = all_numbers(name)
    low, high = values[:-1].astype(np.float64), values[1:].astype(np.float64)
    middle = ((low + high) / 2).astype(np.float32)
    inside = (low < middle) & (middle < high)  # next to the smallest numbers of BF16 float32 has no number between
    even = np.where(encode(low, name) % 2 == 0, low, high).astype(np.float32)
    np.testing.assert_array_equal(round_to(middle, name)[inside], even[inside])
    below, above = np.nextafter(middle, np.float32(-np.inf)), np.nextafter(middle, np.float32(np.inf))
    np.testing.assert_array_equal(round_to(below, name)[inside], values[:-1][inside])
    np.testing.assert_array_equal(round_to(above, name)[inside], values[1:][inside])
    assert inside.sum() > 0.99 * len(inside)


@pytest.mark.parametrize("name", ["tf32", "bf16"])
def test_rounding_is_the_nearest_multiple_of_the_step(name):
    x = random_bits()
    x = x[np.isfinite(x) & (np.abs(x) < 1e38) & (np.abs(x) > 1e-37)].astype(np.float64)
    step = 2.0 ** (np.floor(np.log2(np.abs(x))) - FORMATS[name].fraction_bits)
    np.testing.assert_array_equal(round_to(x, name), np.round(x / step) * step)  # np.round goes to even, too


def test_what_is_too_large_becomes_infinite_and_in_e4m3_nan():
    assert round_to(65519.9, "fp16") == 65504
    assert round_to(-65520.0, "fp16") == -np.inf
    assert round_to(3.4e38, "bf16") == np.inf
    assert round_to(61439.0, "e5m2") == 57344
    assert round_to(61440.0, "e5m2") == np.inf
    assert round_to(464.0, "e4m3") == 448  # halfway to 480, which the bits would mean if they did not mean NaN
    assert np.isnan(round_to(np.array([464.1, -1e9, np.inf, -np.inf], np.float32), "e4m3")).all()


@each
def test_with_saturation_the_largest_number_is_the_end(name):
    x = np.array([3.4028234e38, np.inf, -np.inf], np.float32)
    largest = np.float32(FORMATS[name].largest)
    np.testing.assert_array_equal(round_to(x, name, saturate=True), [largest, largest, -largest])


@pytest.mark.parametrize("name", FORMATS)
def test_nan_stays_nan_and_zero_keeps_its_sign(name):
    x = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000], np.uint32).view(np.float32)
    assert np.isnan(round_to(x, name)).all()
    assert np.isnan(decode(encode(x, name), name)).all()
    np.testing.assert_array_equal(np.signbit(round_to(np.array([0.0, -0.0, -1e-45]), name)), [False, True, True])


@each
def test_half_of_the_smallest_number_is_zero_and_a_little_more_is_not(name):
    smallest = np.float32(FORMATS[name].smallest)
    if name != "bf16":  # whose half of it float32 holds, too
        assert round_to(np.nextafter(smallest / 2, np.float32(1)), name) == smallest
    assert round_to(smallest / 2, name) == 0
    assert round_to(smallest, name) == smallest


def test_shapes_stay_and_arguments_are_not_changed():
    x = np.full((2, 3), np.pi, np.float32)
    for name in FORMATS:
        out = round_to(x, name)
        assert out.shape == (2, 3)
        assert out.dtype == np.float32
        assert not np.shares_memory(out, x)
        assert round_to(1.5, name).shape == ()
    assert np.all(x == np.float32(np.pi))
    np.testing.assert_array_equal(round_to(x, "float32"), x)


@pytest.mark.parametrize(("name", "digits"), [("tf32", 10), ("bf16", 7), ("fp16", 10)])
def test_each_part_of_a_split_brings_the_digits_of_a_fraction_and_one_more(name, digits):
    x = np.random.default_rng(1).uniform(1, 2, 100_000).astype(np.float32)
    for parts in (1, 2, 3):
        found = split(x, name, parts)
        assert len(found) == parts
        for part in found:
            np.testing.assert_array_equal(round_to(part, name), part)
        off = np.abs(np.sum(found, axis=0, dtype=np.float64) - x)
        least = FORMATS[name].smallest / 2  # FP16 runs out of exponents
        assert np.max(off) <= max(2.0 ** -(digits + 1) * 2.0 ** -((digits + 2) * (parts - 1)), least)
    np.testing.assert_array_equal(np.sum(split(x, "bf16", 3), axis=0, dtype=np.float64), x)


def test_pairs_lie_low_first():
    assert pack_pairs(1.0, 2.0, "fp16") == 0x40003C00
    assert pack_pairs(1.0, -2.0, "bf16") == 0xC0003F80
    with pytest.raises(ValueError, match="must be one of fp16, bf16"):
        pack_pairs(1.0, 2.0, "tf32")


def test_an_unknown_format_and_what_is_no_number_are_refused():
    with pytest.raises(ValueError, match="format is 'half'; it must be one of float32, tf32, fp16"):
        round_to(1.0, "half")
    with pytest.raises(TypeError):
        round_to("1", "fp16")
    assert find_format("bf16").bias == 127
