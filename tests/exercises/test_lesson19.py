"""What sheet 19 says is what OpenCL's launches, its queues and the library do."""

from pathlib import Path

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import read_sheet

from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.queue_lanes import early
from course_lib.lesson import opencl_run
from course_lib.opencl.shares import best_share
from tests.setup.project import ROOT

SHEET = read_sheet(Path(ROOT) / "solutions" / "19_opencl.py")
NAMES = sheet_names(SHEET, "19_opencl")
RUN = opencl_run("amd-epyc")
CHAINS = [[], [0], [], [2]]


@pytest.mark.parametrize(("rows", "columns", "group"), [(6, 10, (4, 4)), (1, 1, (8, 2)), (33, 65, (16, 16))])
def test_sizes_cover_the_array_with_whole_groups_and_no_group_too_many(rows, columns, group):
    size, grid, idle = NAMES["sizes"](rows, columns, group)
    y, x = np.mgrid[: size[1], : size[0]]
    assert np.count_nonzero((x < columns) & (y < rows)) == rows * columns == size[0] * size[1] - idle
    assert [s // g for s, g in zip(size, group, strict=True)] == list(grid)
    for axis, n in enumerate((columns, rows)):
        assert size[axis] % group[axis] == 0
        assert size[axis] - group[axis] < n <= size[axis]


def test_the_devices_of_the_lesson_take_the_largest_tile_and_not_twice_as_much():
    for device in RUN.devices:
        tile = NAMES["largest_tile"](device["group"], device["local_bytes"], 2)
        for side, fits in ((tile, True), (2 * tile, False)):
            assert (side**2 <= device["group"] and 2 * 4 * side**2 <= device["local_bytes"]) is fits


@pytest.mark.parametrize("side", [2, 4, 16, 32])
def test_of_a_tile_the_half_beside_the_diagonal_is_too_early(side):
    place = np.arange(side * side).reshape(side, side)
    found = NAMES["too_early"](place.T.ravel(), 1)
    assert found.size == wrong_without_barrier(side)
    ty, tx = np.divmod(found, side)
    assert np.all(tx > ty)
    assert NAMES["too_early"](place.T.ravel(), side * side).size == 0


def test_a_turn_with_all_work_items_writes_before_it_reads():
    rng = np.random.default_rng(0)
    for width in (1, 3, 8, 20):
        reads, filled, expected = rng.permutation(20), set(), []
        for first in range(0, 20, width):
            turn = range(first, min(20, first + width))
            filled |= set(turn)
            expected += [i for i in turn if reads[i] not in filled]
        np.testing.assert_array_equal(NAMES["too_early"](reads, width), expected)


@pytest.mark.parametrize(("name", "in_order"), [("in order", True), ("out of order", False)])
def test_the_measured_queues_end_as_the_rule_says(name, in_order):
    bars = RUN.queues[name]
    took = [bar["end"] - bar["start"] for bar in bars]
    expected = NAMES["ends"](took, CHAINS, in_order)
    np.testing.assert_allclose([bar["end"] for bar in bars], expected, atol=0.05 * sum(took))
    assert early(bars) == []


def test_the_queue_in_which_nothing_was_said_lacks_two_events():
    names = [bar["label"] for bar in RUN.queues["nothing said"]]
    reads, writes = [["a0"], ["a1"], ["b0"], ["b1"]], [["a1"], ["a2"], ["b1"], ["b2"]]
    found = NAMES["missing"](reads, writes, [[], [], [], []])
    assert [names[j] for _, j in found] == ["A2", "B2"] == early(RUN.queues["nothing said"])
    assert NAMES["missing"](reads, writes, CHAINS) == []
    in_order = [[], [0], [1], [2]]
    assert NAMES["missing"](reads, writes, in_order) == []


@pytest.mark.parametrize(
    ("seconds", "fixed"), [((0.1, 0.3), (0.0, 0.0)), ((0.5, 0.2), (3.0, 1.0)), ((1.0, 1.0), (90.0, 2.0))]
)
def test_cuts_of_single_images_are_the_librarys_best_share(seconds, fixed):
    images = 1000
    n, took = NAMES["cut"](images, seconds, fixed, 1)
    best = best_share(images * seconds[0], images * seconds[1], *fixed)
    assert abs(n - best.first * images) <= 1
    assert took - best.seconds == pytest.approx(max(seconds) / 2, abs=max(seconds) / 2 + 1e-9)
