"""Lesson 18's figures in a page: efficiencies, knees and pipelines are those that Python computes."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.cluster import ETHERNET_10, INFINIBAND, Cluster, knee, scaling
from course_lib.cluster.pipeline import ORDERS
from course_lib.cluster.workloads import alexnet, lenet5
from course_lib.figures.cluster_sizes import DEVICES, MODES, OWN, SHARED
from course_lib.figures.pipeline_stages import NAMES, timeline

from .pages import SWEEP, assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root

LINKS = {"wide": INFINIBAND.times(8), "narrow": ETHERNET_10}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {
        "cluster": figures.cluster_explorer([lenet5(), alexnet()], LINKS),
        "stages": figures.pipeline_timeline(),
    }
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize(("workload", "link", "grow", "at"), [
    (lenet5, "wide", False, 6), (alexnet, "narrow", False, 10), (alexnet, "wide", True, 4), (lenet5, "narrow", True, 0),
])  # fmt: skip
def test_each_number_of_devices_is_told_as_computed(page, workload, link, grow, at):
    work, batch = workload(), (OWN if grow else SHARED)[at]
    for button in (work.name, link, MODES[grow]):
        press(page, "cluster", button)
    settings = [[i, at] for i in range(len(DEVICES))]
    expected = scaling([Cluster(n, between=LINKS[link]) for n in DEVICES], work, batch, grow=grow)
    last = knee([(n, round(1000 * e) / 1000) for n, _, e in expected])
    for found, (n, one, efficiency) in zip(page.evaluate(SWEEP, ["cluster", settings]), expected, strict=True):
        assert (found["network"], found["link"], found["mode"]) == (work.name, link, MODES[grow])
        assert (int(found["devices"]), int(found["batch"])) == (n, batch)
        assert float(found["efficiency"]) == pytest.approx(1000 * efficiency, abs=0.51)
        assert float(found["seconds"]) == pytest.approx(one.seconds, rel=6e-3)
        assert float(found["waits"]) == pytest.approx(one.waits, rel=6e-3)
        assert int(found["knee"]) == last


def test_a_button_goes_to_the_knee_by_keyboard(page):
    page.evaluate(SWEEP, ["cluster", [[17, 10]]])
    button = root(page, "cluster").get_by_role("button", name="to the knee")
    button.focus()
    page.keyboard.press("Enter")
    found = data(page, "cluster")
    assert found["devices"] == found["knee"]
    assert int(found["efficiency"]) >= 500
    slider = root(page, "cluster").get_by_role("slider", name="devices")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert int(data(page, "cluster")["efficiency"]) < 500


def test_devices_without_a_row_are_told(page):
    press(page, "cluster", MODES[0])
    page.evaluate(SWEEP, ["cluster", [[12, 0]]])
    assert "4,096 devices" in caption(page, "cluster")
    assert "Only 64 of them have a row." in caption(page, "cluster")


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize("slow", [-1, 0])
def test_a_pipeline_runs_as_python_plays_it(page, schedule, slow):
    press(page, "stages", NAMES[schedule])
    for stages, micro in ((1, 1), (2, 5), (4, 4), (8, 16), (7, 2)):
        page.evaluate(SWEEP, ["stages", [[stages, micro]]])
        while int(data(page, "stages")["slow"]) != slow:
            press(page, "stages", "slow the next stage down")
        found, expected = data(page, "stages"), timeline(stages, micro, schedule, None if slow < 0 else slow)
        assert (int(found["stages"]), int(found["micro"]), found["order"]) == (stages, micro, schedule)
        np.testing.assert_allclose(json.loads(found["begins"]), [s.begin for s in expected.spans])
        assert float(found["all"]) == expected.seconds
        assert float(found["bubble"]) == pytest.approx(expected.bubble, abs=1e-12)
        assert int(found["kept"]) == expected.kept[0]
    assert ("takes twice as long" in caption(page, "stages")) == (slow == 0)


@pytest.mark.parametrize("width", [360, 400])
def test_on_a_phone_nothing_is_wider_than_the_page(page, width):
    page.evaluate(SWEEP, ["stages", [[8, 16]]])
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
