"""A launch lies under the roofline where its counts say, and what is said of it follows from the estimate."""

import math

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.show.roofline_picture import axes, flops
from tests.figures.pages import read_svg, svg_texts
from tests.simt import kernels, reports


@pytest.fixture(scope="module")
def rungs():
    return [reports.product(kernels.product_naive), reports.product(kernels.product_tiled)]


def test_a_dot_lies_at_its_counted_work_for_each_byte(rungs):
    data = rungs[1].roofline(device="H100").data
    card = data["cards"][data["at"]]
    roof = simt.roofline("H100")
    assert (card["name"], card["peak"], card["bandwidth"]) == ("H100", roof.peak, roof.bandwidth)
    dot, bound = card["dots"][0], simt.predict(rungs[1], "H100")
    assert dot["x"] == pytest.approx(2 * 64**3 / (3 * 4 * 64**2))  # two operands and a result, each once
    assert dot["asked"] == rungs[1].total.flops / bound.sector_bytes
    assert dot["y"] <= float(roof.attainable(dot["x"])) * (1 + 1e-12)
    assert bound.seconds is None  # 16 blocks on 132 SMs
    assert (dot["known"], dot["y"]) == (False, float(roof.attainable(dot["x"])))
    assert bound.reason in dot["says"]


def test_a_launch_of_few_blocks_is_told_so(rungs):
    assert "For 116 SMs of 132 there is no block" in rungs[0].roofline(device="H100").static.alt


def test_several_launches_are_numbered_and_named(rungs):
    made = rungs[0].roofline(rungs[1], device="H100", names=["naive", "tiled"])
    texts = svg_texts(read_svg(made.static.src))
    assert any(t.startswith("1  naive: 10.7 FLOP/byte") for t in texts)
    assert any(t.startswith("2  tiled: 10.7 FLOP/byte") for t in texts)
    assert "the ridge is at 20 FLOP/byte" in made.static.alt
    assert [c["name"] for c in made.data["cards"]] == list(simt.DEVICES)
    assert made.html == rungs[0].roofline(rungs[1], device="H100", names=["naive", "tiled"]).html


def test_measured_times_take_the_estimates_place(rungs):
    made = simt.roofline_picture(rungs, "H100", seconds=[1e-5, 2e-6], names=["naive", "tiled"])
    assert [d["y"] for d in made.data["cards"][0]["dots"]] == [rungs[0].total.flops / 1e-5, rungs[1].total.flops / 2e-6]
    assert len(made.data["cards"]) == 1
    assert "2 µs, as measured" in made.data["cards"][0]["dots"][1]["says"]


def test_where_no_time_is_predicted_the_dot_is_hollow_and_lies_on_the_roof(rungs):
    for card in rungs[0].roofline().data["cards"]:
        bound, dot = simt.predict(rungs[0], card["name"]), card["dots"][0]
        assert (bound.seconds, dot["known"]) == (None, False)
        assert dot["y"] == float(simt.roofline(card["name"]).attainable(dot["x"]))
        assert bound.reason in dot["says"]


def test_a_launch_that_fills_the_card_lies_where_its_predicted_time_says():
    text = "from numba import cuda\ndef axpy(a, x, y):\n    i = cuda.grid(1)\n    y[i] = a * x[i] + y[i]\n"
    n = 2**20
    report = simt.run(simt.read(text), n // 256, 256, (np.float32(2), *np.ones((2, n), np.float32)), races=False)
    data, bound = report.roofline(device="H200").data, simt.predict(report, "H200")
    dot = data["cards"][data["at"]]["dots"][0]
    assert dot["known"]
    assert dot["y"] == bound.flops / bound.seconds
    assert "as predicted" in dot["says"]


def test_the_axes_hold_every_dot_and_the_ridge(rungs):
    for name in simt.DEVICES:
        roof = simt.roofline(name)
        for x, y in ((1e-4, 1e6), (1.0, 1e12), (4000.0, roof.peak)):
            x0, x1, y0, y1 = axes(roof, [{"x": x, "asked": math.inf, "y": y}])
            assert 10.0**x0 <= min(x, roof.ridge) and max(x, roof.ridge) <= 10.0**x1  # noqa: PT018
            assert 10.0**y0 <= y <= roof.peak <= 10.0**y1


@pytest.mark.parametrize(
    ("value", "words"), [(67e12, "67 TFLOP/s"), (1.5e9, "1.5 GFLOP/s"), (2e6, "2 MFLOP/s"), (10, "10 FLOP/s")]
)
def test_speeds_are_said_in_their_unit(value, words):
    assert flops(value) == words


def test_what_has_no_place_there_is_refused(rungs):
    with pytest.raises(ValueError, match="without both it has no place"):
        reports.transpose().roofline()
    with pytest.raises(ValueError, match="1 names"):
        simt.roofline_picture(rungs, names=["naive"])
    with pytest.raises(ValueError, match="more than 0"):
        simt.roofline_picture(rungs[:1], seconds=[0])
    with pytest.raises(ValueError, match="table of devices"):
        rungs[0].roofline(device="B300")
    with pytest.raises(TypeError, match="not str; name the card with device"):
        rungs[0].roofline("H100")
