"""A launch map tells which threads touched memory, as the guard of the kernel says, for every shape of grid."""

import importlib

import numpy as np
import pytest
from numba import cuda, float32

from course_lib.simt import machine
from course_lib.simt.show.launch_map import axis_note, finding, first_block, idle_threads
from tests.figures.pages import read_svg, svg_texts
from tests.simt import reports


def guarded(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]


def guarded_2d(out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = 1


def guarded_3d(out):
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = 1


def every_third(out):
    """Long loops of single lanes are compiled: their accesses count as well."""
    i = cuda.grid(1)
    if i % 3 == 0:
        for k in range(2000):
            out[i] = k


def local_only(a, out):
    own = cuda.local.array(2, float32)
    i = cuda.grid(1)
    own[0] = 1
    if i == 0:
        out[0] = own[0]


def test_the_last_block_of_a_guarded_launch_has_the_idle_lanes():
    report = reports.run(guarded, 10, 64, reports.vectors(600))
    idle = idle_threads(report)
    assert idle.shape == (10, 64)
    assert np.flatnonzero(idle.ravel()).tolist() == list(range(600, 640))
    assert first_block(report, idle) == 9
    assert finding(report, idle).startswith("10 blocks of 64 threads: 640 threads, 600 elements, 40 lanes idle")


@pytest.mark.parametrize(("shape", "grid", "block"), [((5, 9), (2, 3), (8, 2)), ((20, 40), (3, 2), (16, 16))])
def test_in_two_axes_x_is_the_last_one(shape, grid, block):
    report = reports.run(guarded_2d, grid, block, (np.zeros(shape, np.float32),))
    by, bx = np.divmod(np.arange(grid[0] * grid[1]), grid[0])
    ty, tx = np.divmod(np.arange(block[0] * block[1]), block[0])
    x, y = bx[:, None] * block[0] + tx, by[:, None] * block[1] + ty
    np.testing.assert_array_equal(idle_threads(report), (x >= shape[1]) | (y >= shape[0]))


def test_in_three_axes_every_element_has_one_busy_thread():
    report = reports.run(guarded_3d, (2, 2, 2), (4, 2, 2), (np.zeros((3, 3, 5), np.float32),))
    assert np.count_nonzero(~idle_threads(report)) == 45
    assert "a[z, y, x]" in axis_note(report.grid, report.block)


def test_lanes_that_go_on_alone_are_entered():
    report = reports.run(every_third, 2, 32, (np.zeros(64, np.float32),))
    np.testing.assert_array_equal(idle_threads(report).ravel(), np.arange(64) % 3 != 0)


def test_arrays_of_one_thread_are_no_memory_access():
    report = reports.run(local_only, 1, 64, reports.vectors(64))
    assert np.flatnonzero(~idle_threads(report)).tolist() == [0]


def test_blocks_of_several_batches_are_told_apart(monkeypatch):
    monkeypatch.setattr(importlib.import_module("course_lib.simt.run"), "BATCH_LANES", 128)
    report = reports.run(guarded, 10, 64, reports.vectors(600))
    assert np.flatnonzero(report.worked).tolist() == list(range(600))


def test_nothing_is_written_down_for_many_threads_or_without_counters(monkeypatch):
    assert reports.run(guarded, 10, 64, reports.vectors(600), counters=False).worked is None
    monkeypatch.setattr(machine, "MOST_WORKERS", 639)
    report = reports.run(guarded, 10, 64, reports.vectors(600))
    assert report.worked is None
    assert "Idle lanes were not recorded." in report.launch_map().static.alt


@pytest.mark.parametrize(
    ("grid", "block", "n"), [(1, 1, 1), (1, 1024, 999), (2000, 32, 63_990), (3, 33, 70), (10, 64, 640)]
)
def test_a_map_has_the_same_bytes_every_time_and_states_its_counts(grid, block, n):
    report = reports.run(guarded, grid, block, reports.vectors(n))
    made = report.launch_map()
    assert made.html == report.launch_map().html
    assert len(made.html) < 60_000
    assert f"{grid * block - n:,} lane{'s' * (grid * block - n != 1)} idle" in made.static.alt or grid * block == n
    assert made.data["grid"] == [grid, 1, 1]
    flags = [bin(int(f or "0", 16)).count("1") for f in made.data["idle"]]
    assert sum(flags) == grid * block - n


def test_the_static_picture_of_a_flat_launch_names_blocks_and_warps():
    made = reports.run(guarded_2d, (3, 2), (16, 16), (np.zeros((20, 40), np.float32),)).launch_map()
    texts = svg_texts(read_svg(made.static.src))
    assert "Grid of 6 blocks: (3, 2)" in texts
    assert "Block (2, 1): 8 warps, 32 lanes each" in texts
    assert any(t.startswith("x is the last axis of an array: a[y, x]") for t in texts)


def test_the_block_that_is_shown_lies_in_the_drawn_part_of_a_deep_grid():
    made = reports.run(guarded_3d, (12, 4, 3), (4, 2, 2), (np.zeros((5, 7, 45), np.float32),)).launch_map()
    texts = svg_texts(read_svg(made.static.src))
    assert made.data["first"] == 143
    assert {"2, 3", "11", "7 rows more"} <= set(texts)
