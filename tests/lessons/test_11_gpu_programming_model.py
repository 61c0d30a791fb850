"""Lesson 11: who works on what, what a divided warp costs, and the numbers that the page prints."""

from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu, nn
from course_lib.lesson import measured

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "11_gpu_programming_model.py"


def test_the_network_of_lesson_09_has_so_many_multiplications(prose):
    costs = nn.models.lenet5(rng=np.random.default_rng(0)).costs((1, 32, 32))
    assert f"{sum(c.multiply_adds for c in costs):,} multiplications" in prose


def test_relu_on_a_card_takes_what_was_measured(shown):
    relu = measured("ReLU", card="h200")
    seconds = relu.seconds["operation"]
    assert round(1e4 * seconds) == 1  # "a tenth of a millisecond"
    lines = [line.split() for line in shown.splitlines()]
    assert ["ReLU", f"{2**26:,}", f"{1e6 * seconds:.4g}", f"{2**26 / seconds / 1e9:.4g}"] in lines
    assert relu.seconds["copy"] > seconds / 1.05  # lesson 12: as long as a copy


def test_the_loop_the_blocks_and_the_kernel_agree(lesson, shown):
    x, slope = lesson["x"], np.float32(0.5)
    y = gpu.empty(x.shape, np.float32)
    lesson["leaky_relu"][3, 4](gpu.to_device(x), slope, y)
    np.testing.assert_array_equal(gpu.to_host(y), np.where(x > 0, x, slope * x))
    assert shown.count("[ 3.  -0.5  4.  -0.5  5.  -4.5  2.  -3.   5.   3. ]") == 3
    assert "[ 3.  -0.5  4.  -0.5  5.  -4.5  2.  -3.   0.   0. ]" in shown  # two blocks of four


def test_of_three_blocks_of_four_two_threads_are_idle(shown):
    assert 3 * 4 - 10 == 2
    assert "without an element: [10, 11]" in shown
    assert "3 blocks of 4 threads: 12 threads, 10 elements, 2 lanes idle" in shown


def test_without_a_guard_the_finding_names_the_thread(lesson, shown):
    finding = lesson["finding"]
    assert finding.kind == "out of bounds"
    assert (finding.details["block"], finding.details["thread"]) == ((2, 0, 0), (2, 0, 0))
    assert finding.details["index"] == 2 * 4 + 2
    assert "thread 2 of block 2 uses index 10 on x, which has 10 elements (0 to 9)" in shown


def test_a_digit_needs_two_by_two_blocks_of_16_by_16(lesson, shown):
    digit = lesson["digit"]
    out = np.zeros_like(digit)
    assert digit.shape == (28, 28)
    assert not gpu.simulate(lesson["negative"], (2, 2), (16, 16), digit, out).hazards
    assert "4 blocks of 256 threads: 1,024 threads, 784 elements, 240 lanes idle" in shown


def test_the_grid_of_four_maps_is_four_by_four(shown):
    assert "grid: (4, 4)" in shown
    for tile, (row, col) in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
        assert f"tile {tile} begins at row {row}, column {col}" in shown


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (4, 32), (7, 96)])
def test_the_grid_stride_loop_fits_any_launch(lesson, grid, block):
    x = lesson["layer"][:5000]
    y = gpu.empty(x.shape, np.float32)
    lesson["leaky_relu_any"][grid, block](gpu.to_device(x), np.float32(0.5), y)
    np.testing.assert_array_equal(gpu.to_host(y), np.where(x > 0, x, np.float32(0.5) * x))


def test_each_of_128_threads_takes_a_thousand_elements(lesson, shown, prose):
    assert lesson["layer"].size == 1000 * 128
    assert "equal to NumPy's: True" in shown
    assert "132 × 2,048 = 270,336" in prose
    assert 132 * 2048 == 270_336
    assert 1 - 128 / 270_336 > 0.999


def test_the_parity_of_the_thread_divides_all_warps_and_that_of_the_warp_none(lesson, shown):
    totals = {lesson[name].kernel: lesson[name].total for name in ("by_thread", "by_warp")}
    assert {n: t.divergent_branches for n, t in totals.items()} == {"odd_and_even": 8, "warp_by_warp": 0}
    assert {n: t.instructions for n, t in totals.items()} == {"odd_and_even": 72, "warp_by_warp": 56}
    lines = [line.split() for line in shown.splitlines()]
    assert ["odd_and_even", "8", "72", "67%"] in lines
    assert ["warp_by_warp", "0", "56", "100%"] in lines


def test_one_half_in_a_kernel_is_float64(lesson, shown):
    assert lesson["report"].total.float64_flops == 256
    assert "256 operations in float64, and no array is float64" in shown


def test_the_answers_of_check_yourself():
    blocks = -(-1000 // 128)
    warps = np.arange(blocks * 128).reshape(-1, 32) < 1000
    assert (blocks, blocks * 128 - 1000, np.sum(warps.any(1) & ~warps.all(1))) == (8, 24, 1)
    below = np.arange(128).reshape(-1, 32) < 48
    assert np.sum(below.any(1) & ~below.all(1)) == 1
    for width, divided in ((16, 8), (32, 0)):
        even = (np.arange(256) // width % 2 == 0).reshape(-1, 32)
        assert np.sum(even.any(1) & ~even.all(1)) == divided
    multiples = (np.arange(256) % 33 == 0).reshape(-1, 32)
    assert (multiples.sum(axis=1) == 1).all()


def test_try_sizes_finds_the_first_size_that_the_launch_forgets(shown):
    assert "leaky_relu fails at size 65" in shown
    assert "It is right at 4 of 5 sizes" in shown
