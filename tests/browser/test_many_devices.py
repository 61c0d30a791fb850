"""Lesson 18's figures in a page count and clock as Python does."""

import json

import pytest

from course_lib import figures
from course_lib.cluster import Link
from course_lib.cluster.links import Curve
from course_lib.cluster.workloads import Layer, Workload
from course_lib.figures.bucket_rows import Backward, sent_when
from course_lib.figures.reduce_steps import SAID, rounds, waiting
from course_lib.figures.shared_steps import DEVICES, shared
from course_lib.parallel import all_to_one, ring, tree

from .pages import SWEEP, assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root

NET = Workload(
    "a network", (Layer("all", 61_706, 1.0),),
    Curve(((1, 1.1e-4), (16, 1.2e-4), (256, 1.5e-4), (1024, 3e-4), (4096, 7.7e-4))), says="measured on a card",
)  # fmt: skip
LINKS = [Link("cable", 50e-6, 0.125e9), Link("fast", 3e-6, 450e9)]
LAYERS = [
    Backward("OUT", 7e-6, 3400), Backward("C5", 8e-5, 192_480), Backward("ReLU", 1e-5, 0), Backward("C3", 6e-4, 9664),
    Backward("C1", 1.2e-4, 624),
]  # fmt: skip
BUCKETS = {"all at the end": 1 << 30, "buckets": 128 << 10, "each": 1}
RATES = [0.1e9, 1e9, 10e9]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {
        "step": figures.shared_step(NET, LINKS, (4096, 64)),
        "sum": figures.all_reduce_steps((4, 8)),
        "buckets": figures.bucket_timeline(LAYERS, BUCKETS, 50e-6, RATES),
    }
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
@pytest.mark.parametrize("batch", [4096, 64])
@pytest.mark.parametrize("way", ["ring", "tree"])
def test_a_step_takes_what_the_formula_says(page, link, batch, way):
    press(page, "step", way)
    press(page, "step", link.name)
    press(page, "step", f"{batch:,}")
    alone = sum(shared(NET, batch, 1, link))
    found = page.evaluate(SWEEP, ["step", [[k] for k in range(len(DEVICES))]])
    for n, one in zip(DEVICES, found, strict=True):
        compute, exchange = shared(NET, batch, n, link, way)
        assert float(one["compute"]) == pytest.approx(1e6 * compute)
        assert float(one["exchange"]) == pytest.approx(1e6 * exchange)
        assert float(one["gain"]) == pytest.approx(alone / (compute + exchange))


def test_a_slower_step_says_so(page):
    press(page, "step", "ring")
    press(page, "step", "cable")
    press(page, "step", "4,096")
    page.evaluate(SWEEP, ["step", [[3]]])
    says = "Slower than one device: it takes 5.7 times as long. Measured on a card; the sum: by formula."
    assert says in caption(page, "step")


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize(("way", "module"), [("all_to_one", all_to_one), ("tree", tree), ("ring", ring)])
def test_every_way_ends_with_all_sums_and_the_librarys_bytes(page, way, module, size):
    press(page, "sum", SAID[way])
    press(page, "sum", str(size))
    assert data(page, "sum")["at"] == "0"
    press(page, "sum", "Next")
    assert data(page, "sum")["messages"] == str(len(rounds(way, size)[0]))
    press(page, "sum", "To the end")
    found = data(page, "sum")
    assert (found["done"], found["steps"], found["at"]) == ("true", str(module.steps(size)), str(module.steps(size)))
    most = max(module.traffic(r, size, size, 1).bytes for r in range(size)) / size
    assert float(found["busiest"]) == pytest.approx(most)
    assert "every rank has every sum" in caption(page, "sum")


@pytest.mark.parametrize("way", SAID)
@pytest.mark.parametrize("size", [4, 8])
def test_who_waits_for_a_rank_that_stops_is_who_python_says(page, way, size):
    press(page, "sum", SAID[way])
    press(page, "sum", str(size))
    press(page, "sum", "stops")
    for steps in range(1, len(rounds(way, size)) + 1):
        press(page, "sum", "Next")
        assert json.loads(data(page, "sum")["waits"]) == sorted(waiting(way, size, steps, 2))
    assert data(page, "sum")["done"] == "false"
    assert "In vain wait" in caption(page, "sum")
    press(page, "sum", "works")
    press(page, "sum", "To the end")
    assert (data(page, "sum")["done"], data(page, "sum")["waits"]) == ("true", "[]")


def test_steps_go_by_keys(page):
    press(page, "sum", "ring")
    press(page, "sum", "4")
    slider = root(page, "sum").locator("input[type=range]")
    slider.focus()
    for _ in range(9):  # the ring of four has six
        page.keyboard.press("ArrowRight")
    assert data(page, "sum")["at"] == "6"
    page.keyboard.press("Home")
    assert data(page, "sum")["at"] == "0"


@pytest.mark.parametrize("way", BUCKETS)
def test_sums_end_when_python_says(page, way):
    press(page, "buckets", way)
    for rate, found in zip(RATES, page.evaluate(SWEEP, ["buckets", [[0], [1], [2]]]), strict=True):
        sums = sent_when(LAYERS, BUCKETS[way], 50e-6, rate)
        assert found["sums"] == str(len(sums))
        assert float(found["end"]) == pytest.approx(1e6 * sums[-1][2], rel=1e-6)


@pytest.mark.parametrize("width", [360, 400])
def test_on_a_phone_nothing_is_wider_than_the_page(page, width):
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
