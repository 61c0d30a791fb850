"""Page 91: each column moves where the page says so, and the numbers on the page are the formulas' own."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu
from course_lib.simt.counters import Counters
from course_lib.simt.show.measures import MEASURES

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "91_reading_the_report.py"
PIXELS, DIGITS, SECTOR = 784, 60, 32


def moved(*reports):
    """The titles of the columns in which the launches differ."""
    return [m.title for m in MEASURES if len({m.words(r.total, r.total) for r in reports}) > 1]


def test_the_sums_are_right_and_one_read_wastes_seven_eighths(lesson):
    kernel, y = lesson["ink"], gpu.empty((DIGITS,), np.float32)
    kernel[2, 32](gpu.to_device(lesson["digits"]), y)
    np.testing.assert_allclose(gpu.to_host(y), lesson["digits"].sum(axis=1), rtol=1e-5)
    total = lesson["report"].total
    assert total.global_load_requests == 2 * PIXELS == 1_568
    assert total.global_load_sectors == DIGITS * PIXELS == 47_040
    assert total.load_efficiency == 4 / SECTOR == 1 - 7 / 8
    assert not lesson["report"].hazards
    assert [h.kind for h in lesson["report"].advice] == ["uncoalesced"]


def test_the_page_says_these_numbers(shown, prose):
    assert "1,568 requests, 47,040 sectors" in prose + shown
    assert "60 × 784 = 47,040" in prose
    assert "No hazards, 1 piece of advice." in shown
    assert "12.5 % of what is moved is used" in shown


def test_four_threads_have_no_digit_and_the_first_of_them_is_named(lesson, shown):
    hazard = lesson["hazard"]
    assert 2 * 32 - DIGITS == 4
    assert (hazard.kind, hazard.count) == ("out of bounds", 4 * PIXELS)
    assert (hazard.details["block"], hazard.details["thread"]) == ((1, 0, 0), (28, 0, 0))
    assert (hazard.details["index"], hazard.details["axis"], hazard.details["size"]) == (32 + 28, 0, DIGITS)
    assert "thread 28 of block 1 uses index 60 on axis 0 of x" in shown


def test_wider_numbers_move_sectors_and_gaps_move_what_is_used(lesson):
    narrow, wide, gaps = (lesson[name] for name in ("narrow", "wide", "gaps"))
    assert moved(narrow, wide) == ["sectors"]
    assert moved(wide, gaps) == ["used"]
    assert [r.total.global_load_sectors + r.total.global_store_sectors for r in (narrow, wide, gaps)] == [64, 96, 96]
    assert gaps.total.global_load_bytes + gaps.total.global_store_bytes == 2 * 256 * 4 == 2_048
    assert 96 * SECTOR == 3_072


def test_a_step_moves_bank_conflicts_only(lesson):
    apart = lesson["apart"]
    assert moved(*apart.values()) == ["bank conflicts"]
    for step, report in apart.items():
        most = np.bincount(np.unique(step * np.arange(32)) % 32).max()  # different words of one bank
        assert report.total.shared_load_conflicts == most - 1


def test_a_crowd_moves_atomic_rounds_only(lesson):
    launches = {c: gpu.simulate(lesson["tally"], 8, 32, c, lesson["y"]) for c in (1, 8, 32)}
    assert moved(*launches.values()) == ["atomic rounds"]
    assert {c: r.total.atomic_serialised for c, r in launches.items()} == {c: 8 * (c - 1) for c in (1, 8, 32)}
    assert {r.total.atomic_requests for r in launches.values()} == {8}


def test_a_place_of_ones_own_moves_local_memory_only(lesson):
    launches = [gpu.simulate(lesson[name], 8, 32, lesson["x"], lesson["y"]) for name in ("in_local", "in_shared")]
    assert moved(*launches) == ["local memory"]
    assert launches[0].total.local_load_requests + launches[0].total.local_store_requests == 2 * 8


def test_divergence_moves_three_columns(lesson):
    assert moved(*lesson["sides"].values()) == ["divergent", "active lanes", "instructions"]
    assert [r.total.divergent_branches for r in lesson["sides"].values()] == [0, 8]


def test_short_blocks_leave_lanes_empty(lesson):
    launches = [gpu.simulate(lesson["copy"], 192 // size, size, lesson["x"], 1, lesson["y"]) for size in (32, 24)]
    assert moved(*launches) == ["active lanes", "instructions"]
    assert launches[1].total.active_share == 24 / 32


def test_more_turns_move_instructions_only(lesson):
    launches = [gpu.simulate(lesson["again"], 8, 32, turns, lesson["x"], lesson["y"]) for turns in (1, 3)]
    assert moved(*launches) == ["instructions"]


@pytest.mark.parametrize("title", [m.title for m in MEASURES])
def test_every_column_is_moved_on_the_page(title, shown):
    moves = [line for line in shown.splitlines() if line.startswith(f"{title} ")]
    if title == "atomics":  # the requests stay as they are while the rounds move
        assert any("the same" in line for line in moves)
    else:
        assert any(line.endswith(" moved") for line in moves)


def test_three_neighbours_are_read_three_times_but_for_the_ends(lesson):
    use = lesson["use"]
    assert (use.loads, use.distinct_loaded) == (3 * 256, 256 + 2)


def test_the_repaired_kernel_moves_every_byte_once(lesson, shown, prose):
    kernel, y = lesson["ink_by_warps"], gpu.to_device(np.zeros(DIGITS, np.float32))
    kernel[DIGITS, 32](gpu.to_device(lesson["digits"]), y)
    np.testing.assert_allclose(gpu.to_host(y), lesson["digits"].sum(axis=1), rtol=1e-5)
    total = lesson["repaired"].total
    assert total.global_load_sectors == DIGITS * PIXELS * 4 // SECTOR == DIGITS * 98 == 5_880
    assert total.load_efficiency == 1
    assert total.atomic_serialised == 31 * DIGITS == 1_860
    assert total.divergent_branches == DIGITS
    assert PIXELS == 24 * 32 + 16
    assert 47_040 - 5_880 == 41_160
    assert not lesson["repaired"].hazards + lesson["repaired"].advice
    assert "8.0x less" in shown
    assert "1,860 rounds against 41,160 sectors" in prose


def test_the_last_table_has_every_counter_with_its_value(lesson, shown):
    derived = {name for name, value in vars(Counters).items() if isinstance(value, property)}
    assert set(lesson["every"]) == {f.name for f in fields(Counters)} | derived
    lines = [line.split() for line in shown.splitlines()]
    for name in lesson["every"]:
        value = getattr(lesson["report"].total, name)
        said = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        assert any(line[:2] == [name, said] for line in lines)
