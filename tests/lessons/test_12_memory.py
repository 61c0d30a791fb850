"""Lesson 12: sectors, banks, barriers and waiting: counted as the page says, and measured as the page shows."""

from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders import transpose
from course_lib.cuda.ladders.rung import rungs_for
from course_lib.lesson import measured, memory_ladder, microbench

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "12_memory.py"


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def test_far_memory_is_slower_in_both_ways(shown):
    for name, wait, clocks, rate in memory_ladder("H200"):
        numbers = [f"{1e9 * wait:,.0f}", f"{clocks:,.0f}", f"{rate / 1e12:,.1f}"]
        assert [*name.split(), *numbers] in lines_of(shown)


def test_so_many_bytes_must_be_under_way(lesson, prose):
    _, wait, _, rate = memory_ladder("H200")[-1]
    assert f"reads {rate / 1e12:.1f} terabytes a second" in prose
    assert f"each byte is {1e9 * wait:.0f} nanoseconds" in prose
    assert f"about {wait * rate / 1e6:.1f} million bytes" in prose
    assert f"{wait * rate / 132 / 128:.0f} requests of 128 bytes" in prose


def test_amdahl_leaves_a_factor_of_twenty(shown):
    assert pytest.approx(20) == 1 / (1 - 0.95)
    assert "at most 20 times" in shown


@pytest.mark.parametrize(("step", "sectors"), [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (16, 32)])
def test_a_step_costs_so_many_sectors(lesson, shown, step, sectors):
    assert lesson["sectors"][step] == sectors == len({4 * step * lane // 32 for lane in range(32)})
    assert [str(step), str(sectors)] in [line[:2] for line in lines_of(shown)]


def test_a_shift_by_one_costs_one_sector_more():
    assert len({4 * (lane + 1) // 32 for lane in range(32)}) == 5


def test_the_same_additions_fetch_eight_times_the_sectors(lesson, shown):
    rows, columns = (lesson[name].total for name in ("by_rows", "by_columns"))
    assert rows.flops == columns.flops == 256 * 256
    assert rows.global_load_sectors == 8 * columns.global_load_sectors == 65_536
    assert ["sum_rows", "65,536", "2,048", "65,536"] in lines_of(shown)


@pytest.mark.parametrize("name", ["sum_rows", "sum_columns"])
def test_the_sums_are_right(lesson, name):
    x = np.random.default_rng(0).integers(-4, 5, (70, 45)).astype(np.float32)
    axis = 1 if name == "sum_rows" else 0
    s = gpu.empty((x.shape[1 - axis],), np.float32)
    lesson[name][3, 32](gpu.to_device(x), s)
    np.testing.assert_array_equal(gpu.to_host(s), x.sum(axis=axis))


def test_swapped_indices_are_right_and_cost_eight_times_the_sectors(lesson, shown):
    reports = [lesson["straight"], lesson["swapped"]]
    found = {report.kernel: report.total.global_load_sectors for report in reports}
    assert found == {"negative": 512, "negative_swapped": 4096}
    assert not any(report.hazards for report in reports)


def test_on_a_card_the_caches_save_a_part_and_few_threads_turn_it_round():
    ratio = {}
    for case in ("index order", "many short sums", "few long sums"):
        bad, good = ("negative_swapped", "negative") if case == "index order" else ("sum_rows", "sum_columns")
        seconds = measured(case, card="h200").seconds
        ratio[case] = seconds[bad] / seconds[good]
    assert 3.25 < ratio["index order"] < 3.75  # "three and a half times"
    assert 3.75 < ratio["many short sums"] < 4.25  # "four times"
    assert ratio["few long sums"] < 1  # "upside down"


def test_without_a_barrier_another_warps_number_is_read_too_early(lesson, shown):
    race = lesson["race"]
    assert race.kind == "race"
    assert (race.details["thread"][0] // 32, race.details["other_thread"][0] // 32) == (0, 1)
    x = np.arange(128, dtype=np.float32)
    y = gpu.empty(x.shape, np.float32)
    lesson["backwards_with_barrier"][2, 64](gpu.to_device(x), y)
    np.testing.assert_array_equal(gpu.to_host(y), x.reshape(2, 64)[:, ::-1].ravel())
    assert "findings: 0" in shown


def test_the_tile_turns_32_sectors_into_4_and_makes_31_conflicts(lesson, shown):
    naive, tile = (lesson[name].total for name in ("naive", "tiled"))
    assert (naive.global_store_sectors, tile.global_store_sectors) == (16_384, 2_048)
    assert tile.shared_load_conflicts == 31 * tile.shared_load_requests == 15_872
    assert "512 requests, 16,384 wavefronts, 15,872 too many" in shown
    assert "conflicts: 0\nfindings and advice: 0" in shown


@pytest.mark.parametrize("name", ["turn_naive", "turn_tile", "turn_padded"])
def test_every_turn_is_right_on_ragged_sizes(lesson, name):
    x = np.random.default_rng(1).normal(size=(70, 45)).astype(np.float32)
    y = gpu.empty((45, 70), np.float32)
    lesson[name][(2, 3), (32, 32)](gpu.to_device(x), y)
    np.testing.assert_array_equal(gpu.to_host(y), x.T)


def test_the_lessons_kernels_cost_what_the_ladders_rungs_cost(lesson):
    for rung, name in zip(transpose.LADDER[:3], ("naive", "tiled", "padded"), strict=True):
        total = lesson[name].total
        assert {k: getattr(total, k) for k in rung.traffic(128, 128)} == rung.traffic(128, 128)


def test_the_measured_ladder_climbs_to_the_copy(shown):
    seconds = measured("transpose", card="h200").seconds
    rungs = [seconds[rung.name] for rung in rungs_for(transpose.LADDER)]
    assert rungs == sorted(rungs, reverse=True)
    assert 0.9 < seconds["copy"] / rungs[-1] < 1
    assert 0.3 < 1 - seconds["v03_padded"] / seconds["v02_tile"] < 0.37  # "worth a third"


def test_a_copy_doubles_with_the_warps_and_then_bends():
    streams = microbench("streams", card="h200")
    rates = [streams[f"copy by {n} warps of each SM, one load in flight"].rate for n in (1, 2, 4, 8, 16, 32, 64)]
    growth = np.divide(rates[1:], rates[:-1])
    assert (growth[:4] > 1.8).all()
    assert growth[-1] < 1.5
    assert round(rates[5] / rates[0]) == 23
    assert f"copies {rates[0] / 1e9:.0f} GB a second" in SCRIPT.read_text("utf-8")


def test_the_answers_of_check_yourself():
    assert len({4 * 4 * lane // 32 for lane in range(32)}) == 16
    words = [16 * (lane % 16) + lane // 16 for lane in range(32)]
    assert max(np.bincount([w % 32 for w in words])) == 8
    for shape, sectors in (((8, 128), 4), ((4, 256), 8)):  # threads along x and y of a block, rows of 64 numbers
        touched = {(lane // shape[0], 4 * (lane % shape[0]) // 32) for lane in range(32)}
        assert len(touched) == sectors
    assert pytest.approx(14, abs=0.1) == 67 / 4.8
