"""The static calculator states what `occupancy` says; the page's arithmetic is compared in tests/browser."""

import pytest

from course_lib import simt
from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.show.occupancy_calculator import settings
from tests.figures.pages import read_svg, svg_texts
from tests.simt import reports


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("threads", "registers", "shared"), [(256, 32, 0), (1024, 64, 0), (33, 255, 40_000), (32, 8, 0)]
)
def test_the_static_picture_says_blocks_limit_and_share(device, threads, registers, shared):
    held = simt.occupancy(device, threads, shared, registers)
    made = simt.occupancy_calculator(device, threads, registers, shared)
    assert held.explanation in made.static.alt
    texts = svg_texts(read_svg(made.static.src))
    assert f"One SM of an {device}: {held.warps} of {held.device.warps_per_sm} warps" in texts
    assert sum(t.endswith("the limit") for t in texts) == len(held.limited_by)
    assert made.html == simt.occupancy_calculator(device, threads, registers, shared).html


def test_the_sliders_offer_even_steps_and_what_was_given():
    every = settings(100, 37, 12_345)
    assert 100 in every["threads"]
    assert 37 in every["registers"]
    assert 12_345 in every["shared"]
    assert (every["threads"][0], every["threads"][-1]) == (32, 1024)
    assert every["registers"][-1] == 255


def test_a_report_gives_its_own_block_and_shared_memory():
    made = reports.transpose().occupancy_calculator(device="A100")
    assert (made.data["threads"], made.data["shared"]) == (1024, 4096)
    assert made.data["devices"][made.data["device"]]["name"] == "A100"


@pytest.mark.parametrize("given", [("B300",), ("H100", 2048), ("H100", 1024, 128), ("T4", 256, 32, 99_999)])
def test_what_no_device_runs_is_refused(given):
    with pytest.raises(ValueError, match=r"B300|threads|registers|shared"):
        simt.occupancy_calculator(*given)
