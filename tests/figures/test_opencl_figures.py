"""Lesson 19's figures: what their static pictures say, what they count, and what they refuse."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.host_program import STEPS
from course_lib.figures.queue_lanes import early
from course_lib.figures.shares_of_two import Pair

A_THEN_B = [
    {"label": "A1", "lane": "A", "start": 0.0, "end": 0.03},
    {"label": "A2", "lane": "A", "start": 0.03, "end": 0.06},
    {"label": "B1", "lane": "B", "start": 0.06, "end": 0.09},
]


def test_the_best_share_is_told_in_words():
    made = figures.share_explorer({"a pair": Pair(("Card", "CPU"), (0.01, 0.03))}, start=50)
    assert made.static.caption == "With 50 % for Card the job takes 15 ms."
    assert "It takes 7.5 ms, the least, with 75 % for Card and the rest for CPU" in made.static.alt
    assert made.data["pairs"][0]["alone"] == [10, 30]


def test_what_each_needs_before_it_begins_is_part_of_its_time():
    made = figures.share_explorer({"a pair": Pair(("Card", "CPU"), (0.01, 0.03), (0.005, 0.0))}, start=100)
    assert "With 100 % for Card the job takes 15 ms" in made.static.alt


def test_shares_that_are_none_are_refused():
    pair = Pair(("a", "b"), (1, 2))
    with pytest.raises(ValueError, match="a share lies between 0 and 100"):
        figures.share_explorer({"x": pair}, start=101)
    with pytest.raises(ValueError, match="pairs of devices"):
        figures.share_explorer({})
    with pytest.raises(ValueError, match="upto is 0; the picture ends at a share above 0"):
        figures.share_explorer({"x": Pair(("a", "b"), (1, 2), upto=0)})
    with pytest.raises(ValueError, match="seconds"):
        figures.share_explorer({"x": Pair(("a", "b"), (0, 2))})


@pytest.mark.parametrize("side", [1, 2, 4, 8, 16, 32])
def test_without_a_barrier_the_half_beside_the_diagonal_is_wrong(side):
    assert wrong_without_barrier(side) == side * (side - 1) // 2


def test_the_loop_of_a_group_tells_its_wrong_numbers():
    assert "6 of them read a place" in " ".join(figures.group_loop(4).static.alt.split())
    with pytest.raises(ValueError, match="more than 6"):
        figures.group_loop(8)
    with pytest.raises(ValueError, match="must be >= 2"):
        figures.group_loop(1)


@pytest.mark.parametrize(("columns", "rows", "group"), [(10, 6, (4, 4)), (16, 1, (8, 2)), (1, 16, (1, 1))])
def test_an_ndrange_is_rounded_up_to_whole_groups(columns, rows, group):
    alt = figures.ndrange_explorer(columns, rows, group).static.alt
    gx, gy = (-(-n // side) * side for n, side in zip((columns, rows), group, strict=True))
    assert f"An NDRange of {gx} x {gy} work-items in {gx // group[0] * (gy // group[1])} work-groups" in alt
    assert f"{gx * gy - columns * rows} work-items have no number" in alt


@pytest.mark.parametrize(("columns", "group"), [(17, (4, 4)), (0, (4, 4)), (8, (3, 4))])
def test_an_ndrange_that_cannot_be_drawn_is_refused(columns, group):
    with pytest.raises(ValueError, match=r"sizes go to 16|must be >= 1"):
        figures.ndrange_explorer(columns, 4, group)


def test_a_queue_says_how_long_it_took_and_how_many_ran_at_a_time():
    made = figures.queue_timelines({"in order": A_THEN_B})
    assert made.static.caption == "in order: 3 commands, one after the other; all are done after 90 ms."
    assert "A2 from 30 to 60 ms" in made.static.alt


def test_a_command_that_began_before_what_it_needs_is_named():
    bars = [A_THEN_B[0], A_THEN_B[1] | {"start": 0.01}, A_THEN_B[2]]
    assert early(bars) == ["A2"]
    assert early(A_THEN_B) == []
    made = figures.queue_timelines({"nothing said": bars})
    assert "A2 began before what it needed was there." in made.static.caption
    assert [b["early"] for b in made.data["queues"][0]["bars"]] == [False, True, False]


def test_queues_without_commands_are_refused():
    for queues in ({}, {"empty": []}):
        with pytest.raises(ValueError, match="is empty"):
            figures.queue_timelines(queues)


def test_the_host_program_makes_one_object_a_line():
    made = figures.opencl_objects()
    assert len(made.frames) == len(STEPS) == 9
    for k, frame in enumerate(made.frames):
        assert frame.caption.startswith(STEPS[k][0])
        assert frame.alt.endswith(f"There are now: {', '.join(name for _, name, _ in STEPS[: k + 1])}.")


@pytest.mark.parametrize("made", [
    figures.share_explorer({"x": Pair(("OpenCL", "NumPy"), (0.028, 0.0155), (0, 0), ((0.0, 0.0155), (1.0, 0.028)))}),
    figures.ndrange_explorer(16, 16, (8, 8)), figures.group_loop(6), figures.queue_timelines({"in order": A_THEN_B}),
], ids=lambda m: m.name)  # fmt: skip
def test_static_pictures_fit_a_phone(made):
    assert made.static.drawn[0] <= 400
    assert np.isfinite(made.static.drawn).all()
