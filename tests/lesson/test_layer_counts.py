"""Counts of a convolution layer are those of its launches, for one image; predicted times are the estimate's."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.conv2d import forward
from course_lib.lesson import count_layer, estimated, issued, measured

SHAPES = (2, 1, 32, 32), (6, 1, 5, 5), (2, 6, 28, 28)
LADDER = {rung.name: rung.launch for rung in forward.LADDER}


@pytest.fixture(scope="module")
def counted():
    return count_layer({k: LADDER[k] for k in ("v03_im2col_gemm", "v04_implicit_gemm")}, *SHAPES)


def test_counts_are_those_of_all_launches_for_one_image(counted):
    arrays = [np.ones(shape, np.float32) for shape in (*SHAPES[:2], (6,), SHAPES[2])]
    reports = gpu.simulate_launches(LADDER["v03_im2col_gemm"], *arrays)
    found = counted["v03_im2col_gemm"]
    assert found.launches == len(reports) == 2
    assert found.flops == sum(r.total.flops for r in reports) / 2
    sectors = sum(r.total.global_load_sectors + r.total.global_store_sectors for r in reports) / 2
    assert (found.sectors, found.asked) == (sectors, 32 * sectors)


def test_what_travels_is_each_element_once_by_its_kind(counted):
    assert counted["v03_im2col_gemm"].moves == {
        "input": 4096, "output": 18_816, "unrolled, written": 78_400, "unrolled, read": 78_400,
        "weights": 4 * (150 + 6) / 2,
    }  # fmt: skip
    found = counted["v04_implicit_gemm"]
    assert found.travels == 4096 + 18_816 + 312
    assert found.intensity == found.flops / found.travels
    assert found.reuse == pytest.approx(25 * 784 / 1024)


def test_predicted_times_are_within_a_factor_of_two_of_the_measured_ones_for_a_ladder():
    expected, seconds = (f("conv 1->6 k5 forward", card=c) for f, c in ((estimated, "H200"), (measured, "h200")))
    assert all(0.5 < expected[k] / seconds.seconds[k] < 2 for k in seconds.seconds if expected.get(k))


def test_a_case_that_is_not_counted_is_told_which_are():
    with pytest.raises(LookupError, match=r"no case 'conv'; there are gemm 1024, "):
        estimated("conv", card="H200")


def test_a_card_without_rates_predicts_nothing():
    assert set(estimated("conv 1->6 k5 forward", card="T4").values()) == {None}


def test_a_layer_may_have_no_bias_and_then_its_weights_are_all_that_is_read_beside_the_image():
    x_shape, w_shape, y_shape = (1, 1, 32, 32), (6, 1, 5, 5), (1, 6, 28, 28)
    one = count_layer({"v04": LADDER["v04_implicit_gemm"]}, x_shape, w_shape, y_shape, bias=False)["v04"]
    assert one.moves == {"input": 4 * 1024, "weights": 4 * 150, "output": 4 * 4704}


def test_instructions_are_those_of_every_warp_of_every_launch():
    found = issued("conv 1->6 k5 forward")
    unrolled, product = found["v03_im2col_gemm"]
    assert (unrolled.kernel, product.kernel) == ("_im2col", "_rows_times_cols")
    assert unrolled.warps == 10_000 * 25 * 784 / 32  # a lane for each number
    assert product.warps == 10_000 * 784 / 16 * 8  # eight warps for each block of 16 places
    assert unrolled.seconds("H200") == pytest.approx(unrolled.warps * unrolled.of_a_warp / (132 * 4 * 1.98e9))
    assert 0 < product.multiply_adds < product.of_a_warp


def test_instructions_of_a_kernel_that_was_not_counted_are_left_out():
    assert "v02_constant_masks" not in issued("conv 64->64 k3 forward")
    with pytest.raises(LookupError, match=r"no case 'conv'; there are gemm 1024, "):
        issued("conv")
