"""A predicted time comes from measured rates, or there is none and the text says why."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.bench.simt_cases import CASES
from course_lib.simt.estimate.bound import duration, predict
from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.roofline import roofline
from tests.simt.measured.kernels import access, elementwise


def report_of(case, size, **options):
    launch = CASES[case].launch(size)
    return simt.run(launch.kernel, launch.grid, launch.block, launch.arguments, **options)


def added(blocks, threads=256):
    n = blocks * threads
    x = np.zeros(n, np.float32)
    return simt.run(elementwise.vector_add, blocks, threads, (x, x.copy(), x.copy()), races=False)


@pytest.fixture(scope="module")
def wide():
    """A launch that fills the SMs of an H200 several times."""
    return added(4096)


def test_a_launch_that_fills_the_card_gets_a_time(wide):
    b = predict(wide, "H200")
    assert b.dram_bytes == 3 * 4 * 4096 * 256 == b.sector_bytes
    assert b.reason == ""
    assert 4096 / 1.7e9 < b.least <= b.seconds <= b.most < 100e-6  # a card starts 1.6 blocks in a nanosecond
    assert b.intensity == pytest.approx(1 / 12) == b.sector_intensity
    assert str(b).startswith("vector_add on H200: predicted ")
    assert "0.0833 FLOP/byte" in str(b)
    assert "microbench.h200.json" in str(b)


def test_a_launch_of_few_blocks_gets_none(wide):
    b = predict(added(16), "H200")
    assert (b.seconds, b.least, b.most) == (None, None, None)
    assert str(b).startswith("vector_add on H200: no time is predicted. 16 blocks do not fill the 132 SMs of the H200")
    assert "ns" not in str(b).split()


def test_a_card_that_nobody_measured_gets_none(wide):
    b = predict(wide, "T4")
    assert b.seconds is None
    assert "The rates of the T4 are not measured" in str(b)


def test_four_blocks_keep_four_sms_busy():
    few = predict(added(4), "H200")
    assert (few.busy_sms, few.busiest) == (4, 1)
    assert (
        "The grid has 4 blocks for 132 SMs: 4 SMs get work, the busiest one 1 block; an SM has room for 8 at a time."
        in str(few)
    )
    assert "1 block for 132 SMs: 1 SM gets work" in str(predict(added(1), "H200"))


def test_one_block_more_than_sms_makes_one_sm_work_twice():
    over = predict(added(133), "H200")
    assert over.busiest == 2
    assert over.busy_sms == 66.5


def test_the_ridge_is_where_the_two_lines_meet():
    r = roofline("A100")
    assert r.ridge == pytest.approx(19.49184e12 / 2.039e12)  # 9.56 FLOP/byte
    np.testing.assert_allclose(r.attainable([0.1, r.ridge, 100]), [0.2039e12, r.peak, r.peak])
    assert r.attainable(1) == 2.039e12
    assert roofline("A100", "float64").peak == pytest.approx(9.74592e12)
    assert roofline(DEVICES["T4"], "float16").ridge == pytest.approx(16.2816e12 / 320e9)


def test_a_real_report_of_a_tiled_product_meets_the_lectures_formulas():
    b = predict(report_of("tiled product", 64), "H200")
    assert b.flops == 2 * 64**3
    assert b.dram_bytes == 3 * 64**2 * 4
    assert b.sector_bytes == (2 * 64**3 / 16 + 64**2) * 4  # each element of A and B is loaded 64 / 16 times
    assert b.blocks == 16
    assert b.occupancy.shared_bytes == 2 * 16 * 16 * 4


def test_the_tiled_product_asks_for_less_than_the_naive_one_and_both_must_move_as_much():
    naive, tiled = (predict(report_of(f"{kind} product", 64), "H200") for kind in ("naive", "tiled"))
    assert naive.intensity == tiled.intensity
    assert naive.sector_intensity < tiled.sector_intensity < tiled.intensity


@pytest.fixture(scope="module")
def transposes():
    """Lesson 12's, at the size that was measured; some blocks are walked, the source's counts are taken."""
    from course_lib.simt.estimate.bound import bound_of
    from course_lib.simt.estimate.by_source import guesses
    from course_lib.simt.estimate.sample import sample

    x = np.zeros((8192, 8192), np.float32)
    found = []
    for kernel, rows in (
        (access.transpose_naive, 32), (access.transpose_tile, 32), (access.transpose_padded, 32),
        (access.transpose_coarsened, 8),
    ):  # fmt: skip
        report, watch = sample(kernel, (256, 256), (32, rows), (x, x))
        found.append(bound_of(report, "H200", guesses(report, watch)))
    return found


def test_the_transposes_of_lesson_12_are_ranked_as_the_card_does(transposes):
    times = [b.seconds for b in transposes]
    assert times == sorted(times, reverse=True)
    assert transposes[0].limit == "partial writes"


def test_a_launch_too_large_to_walk_is_predicted_from_some_of_its_blocks():
    x = np.zeros(2**25, np.float32)
    b = simt.predict_launch(elementwise.vector_add, 2**25 // 128, 128, (x, x, x), "H200")
    assert b.limit == "blocks"  # so many small blocks cannot be started faster
    assert b.least < 1.2 * 161.6e-6  # results/kernels.h200.json
    assert b.most > 161.6e-6 / 1.2
    assert b.flops == 2**25


def test_a_real_report_without_counters_is_refused():
    with pytest.raises(ValueError, match="product_tiled has no counters; run it with counters=True"):
        predict(report_of("tiled product", 16, counters=False), "H200")


def test_what_cannot_be_predicted_is_refused(wide):
    with pytest.raises(ValueError, match="'K80' is not in the table"):
        predict(wide, "K80")
    with pytest.raises(ValueError, match="dtype is 'int32'; it must be one of float32, float64, float16"):
        roofline("H200", "int32")


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0312, "31.2 ms"), (4.56e-6, "4.56 µs"), (1.7e-8, "17 ns"), (0, "0 ns")]
)
def test_a_duration_has_a_unit_that_can_be_read(seconds, text):
    assert duration(seconds) == text
