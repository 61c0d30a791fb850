"""Figures of lesson 16: what their static pictures say is what the models count."""

import pytest

from course_lib import figures
from course_lib.figures.pipelines import pipeline_requests
from course_lib.figures.step_rows import breakpoint_of
from course_lib.streams import read_compute_write, simulate, two_rows

KERNELS = {1: [2e-6, 3e-6, 1e-6], 64: [5e-6, 9e-6, 2e-6], 4096: [300e-6, 500e-6, 10e-6]}
NAMES = ["C1 forward", "C1 backward", "update"]


def test_the_static_step_says_how_long_and_how_busy():
    shown = figures.launch_rows(KERNELS, NAMES, batch=64, cost=10e-6, costs={"thin": 10e-6}, about="Made up.")
    rows = two_rows(KERNELS[64], 10e-6)
    assert rows.end == pytest.approx(32e-6)
    assert "a step takes 32 µs, and the card works 50% of it" in shown.static.caption.lower()
    assert "From B = 4,096 on the kernels take longer than their launches." in shown.static.caption
    assert shown.static.caption.endswith("Made up.")
    assert shown.data["costs"][shown.data["cost"]] == 10


def test_the_turning_size_is_where_kernels_outlast_their_launches():
    assert breakpoint_of(KERNELS, 10e-6) == 4096
    assert breakpoint_of(KERNELS, 1e-6) == 1
    assert breakpoint_of(KERNELS, 1) is None


def test_a_batch_without_kernels_is_refused():
    with pytest.raises(ValueError, match="batch is 7; there are kernels for 1, 64, 4096"):
        figures.launch_rows(KERNELS, NAMES, batch=7)


@pytest.mark.parametrize("options", [{"read": 0}, {"slots": 4}, {"streams": 2}, {"compute": 2.5}])
def test_a_pipeline_that_is_not_on_offer_is_refused(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is "):
        figures.pipeline(**options)


def test_the_picture_of_a_run_names_its_first_race_and_its_wrong_pieces():
    run = simulate(read_compute_write(5, 20, 5), pipeline_requests(4, 2, waits=False))
    shown = figures.stream_rows(run, "Without a wait")
    assert f"A race: {run.races[0]}." in shown.caption
    assert run.wrong
    assert "%3E(0)%3C" in shown.src.replace("%28", "(").replace("%29", ")")
    whole = figures.stream_rows(simulate(read_compute_write(5, 20, 5), pipeline_requests(4, 2)))
    assert "race" not in whole.caption
    assert "%3E(0)%3C" not in whole.src.replace("%28", "(").replace("%29", ")")


def test_measured_rows_begin_with_their_first_span():
    shown = figures.measured_rows([("read", 0, 1.0, 1.002), ("compute", 0, 1.002, 1.003)], "A job")
    assert shown.caption == "3 ms; busy: copies in 67%, kernels 33%, copies out 0%."
    with pytest.raises(ValueError, match="no span"):
        figures.measured_rows([], "A job")


STEPS = "0 Conv2d, forward", "loss, forward", "gradients to zero", "0 Conv2d, backward", "update"
LAUNCHES = [
    {"part": part, "enqueued": (k * 1e-4, k * 1e-4 + 3e-5), "seconds": 2e-6}
    for k, part in enumerate(
        ["0 Conv2d, forward", "loss, forward", "gradients to zero", "0 Conv2d, backward", "update"]
    )
]


def test_a_measured_step_names_its_colours_and_a_part_of_it_only_those_that_it_has():
    whole = figures.measured_step(LAUNCHES, "a card")
    assert "5 launches in 432 µs, measured on a card." in whole.caption
    assert all(part in whole.src for part in ("forward", "loss", "gradients", "backward", "update"))
    part = figures.measured_step(LAUNCHES, "a card", shown=(3, 4))
    assert "Launches 4 to 5 of 5, larger: their calls take 30 µs each, their kernels 2.0." in part.caption
    assert "backward" in part.src
    assert "loss" not in part.src
