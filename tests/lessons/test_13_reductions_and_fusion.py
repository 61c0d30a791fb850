"""Lesson 13: races, trees, fusion and coarsening: right on any size, counted as the page says, measured as it shows."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib import reference as ops
from course_lib.cuda.ladders import reduce
from course_lib.lesson import measured


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def launched(kernel, grid, block, *arguments):
    """Run a kernel on host arrays; return what is in the last one."""
    given = [gpu.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid, block](*given)
    return gpu.to_host(given[-1])


def test_all_threads_on_one_total_is_a_race_also_between_two(lesson):
    report = gpu.simulate(lesson["racy_sum"], 1, 2, np.ones(2, np.float32), np.zeros(1, np.float32), on_error="collect")
    assert [h.kind for h in report.hazards] == ["race"]


def test_two_racing_additions_of_one_end_with_one_or_two():
    ends = set()
    for order in ("LlSs", "LSls", "lLsS", "lsLS", "LlsS"):  # loads and stores of two threads, capitals and small
        total, held = 0, {}
        for step in order:
            if step in "Ll":
                held[step.isupper()] = total
            else:
                total = held[step.isupper()] + 1
        ends.add(total)
    assert ends == {1, 2}


def test_atomics_are_right_and_queue(lesson, shown):
    assert launched(lesson["atomic_sum"], 8, 128, np.ones(1000, np.float32), np.zeros(1, np.float32)) == [1000]
    assert "threads that had to queue: 968" in shown  # 1,000 less the first of each of 32 warps
    seconds = measured("atomics or a tree", card="h200").seconds
    assert 0.09 < seconds["atomic_sum"] < 0.15  # "a tenth of a second"
    assert 0.4e-3 < seconds["tree_of_neighbours"] < 0.6e-3  # "half a millisecond"


def test_the_order_of_a_float32_sum_changes_its_last_digits(lesson):
    one, other = lesson["one_order"], lesson["other_order"]
    assert one != other
    assert abs(one - other) < 1e-2


@pytest.mark.parametrize("name", ["tree_of_neighbours", "tree_of_halves"])
def test_trees_are_right_and_without_findings(lesson, name):
    x = np.random.default_rng(0).integers(-4, 5, 1024).astype(np.float32)
    np.testing.assert_array_equal(
        launched(lesson[name], 4, 256, x, np.zeros(4, np.float32)), x.reshape(4, 256).sum(axis=1)
    )
    report = gpu.simulate(lesson[name], 4, 256, x, np.zeros(4, np.float32))
    assert not report.hazards


def test_a_barrier_in_the_branch_is_not_reached_by_half_of_the_threads(lesson, shown):
    x, out = lesson["numbers"], np.zeros(1, np.float32)
    report = gpu.simulate(lesson["barrier_in_the_branch"], 1, 256, x, out, on_error="collect")
    assert report.hazards[0].kind == "barrier not reached"
    assert "128 of 256 threads do" in shown


@pytest.mark.parametrize(("threads", "spread", "together"), [(256, 47, 12), (512, 95, 20)])
def test_warps_at_work(threads, spread, together):
    steps = [1 << k for k in range(threads.bit_length() - 1)]
    assert sum(len({t // 32 for t in range(threads) if t % (2 * s) == 0}) for s in steps) == spread
    assert sum(len({t // 32 for t in range(s)}) for s in steps) == together


def test_the_page_says_how_many_warps_work(lesson, shown):
    assert sum(lesson["at_work"]) == 95
    assert "in all: 95" in shown
    assert "47 times a warp issues the instruction" in shown
    assert "12 times a warp issues the instruction" in shown
    assert {t // 32 for t in range(256)} - {t // 32 for t in range(128)} == {4, 5, 6, 7}  # half never add


def test_the_table_of_rungs_is_what_the_formulas_say(shown):
    for rung in reduce.LADDER:
        counts = rung.traffic(10_000)
        name = rung.name[4:].split("_")
        numbers = [f"{counts[k]:,}" for k in ("barriers", "shared_load_requests", "global_load_requests")]
        found = [line for line in lines_of(shown) if line[1 : len(name) + 1] == name and line[-3:] == numbers]
        assert found, rung.name


def test_the_measured_rungs_fall_to_the_speed_of_memory(shown):
    sums = measured("reduce", card="h200")
    rungs = [sums.seconds[rung.name] for rung in reduce.LADDER]
    assert rungs == sorted(rungs, reverse=True)
    assert rungs[0] / rungs[-1] > 7
    assert ["6", "one", "pass", f"{1e6 * rungs[-1]:,.0f}", f"{sums.bytes / rungs[-1] / 1e12:.2f}"] in lines_of(shown)


def test_a_warp_adds_itself_up(lesson):
    x = np.random.default_rng(1).integers(-9, 10, 32).astype(np.float32)
    assert launched(lesson["sum_of_a_warp"], 1, 32, x, np.zeros(1, np.float32)) == [x.sum()]


def test_one_kernel_moves_a_third_of_the_bytes_and_takes_well_under_half_the_time(lesson, shown):
    moved = lesson["moved"]
    assert moved["add_bias"] + moved["activate"] + moved["scale"] == 3 * moved["all_in_one"] == 6 * 4 * 2**14
    seconds = measured("three kernels or one", card="h200").seconds
    assert round(seconds["three kernels"] / seconds["one kernel"], 1) == 2.7
    assert f"{1e6 * seconds['one kernel']:,.0f}" in shown


def test_fused_is_equal_to_the_three(lesson):
    rng = np.random.default_rng(2)
    z, bias = rng.normal(size=1000).astype(np.float32), rng.normal(size=128).astype(np.float32)
    slope, factor, out = np.float32(0.25), np.float32(3), np.zeros(1000, np.float32)
    one = launched(lesson["add_bias"], 4, 256, z, bias, out)
    two = launched(lesson["activate"], 4, 256, one, slope, out)
    three = launched(lesson["scale"], 4, 256, two, factor, out)
    np.testing.assert_allclose(launched(lesson["all_in_one"], 4, 256, z, bias, slope, factor, out), three, rtol=1e-6)


@pytest.mark.parametrize(("rows", "classes"), [(1, 1), (7, 10), (40, 32)])
def test_the_loss_kernel_is_stable_and_reads_each_logit_once(lesson, rows, classes):
    rng = np.random.default_rng(rows)
    z, labels = 1000 * rng.normal(size=(rows, classes)), rng.integers(0, classes, rows)
    z = z.astype(np.float32)
    loss = launched(lesson["softmax_loss"], -(-rows // 4), 128, z, labels.astype(np.int32), np.zeros(rows, np.float32))
    for r in range(rows):
        right, _ = ops.softmax_cross_entropy_forward(z[r : r + 1].astype(np.float64), labels[r : r + 1])
        assert loss[r] == pytest.approx(right, rel=1e-5, abs=1e-4)


def test_the_page_says_that_losses_agree(shown):
    assert "2.77441 from the kernel, 2.77441 from lesson 06" in shown
    assert "loads for each logit: 1.0" in shown


@pytest.mark.parametrize(("size", "stride", "pad"), [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 3, 0)])
def test_max_pooling_and_its_mask_are_those_of_the_reference(lesson, size, stride, pad):
    x = np.random.default_rng(3).integers(-3, 4, (3, 11, 9)).astype(np.float32)  # with equal values
    y, (_, mask) = ops.max_pool_forward(x[None], size=size, stride=stride, pad=pad)
    ours, places = gpu.empty(y.shape[1:], np.float32), gpu.empty(y.shape[1:], np.int32)
    lesson["max_pool"][(2, 2, 3), (8, 8, 1)](gpu.to_device(x), size, stride, pad, ours, places)
    np.testing.assert_array_equal(gpu.to_host(ours), y[0])
    np.testing.assert_array_equal(gpu.to_host(places), mask[0])


def test_coarsening_the_wrong_way_fetches_four_times_the_sectors(lesson):
    assert lesson["fetched"] == {"four_in_a_row": 2048, "four_far_apart": 512}
    seconds = measured("coarsening", card="h200").seconds
    assert sorted(seconds, key=seconds.get) == ["four_far_apart", "one each", "four_in_a_row"]
    assert 1.3 < seconds["four_in_a_row"] / seconds["four_far_apart"] < 2.5


def test_a_tree_of_255_numbers_reads_behind_the_end(lesson):
    for size, wrong in ((255, True), (256, False)):
        out = np.zeros(1, np.float32)
        report = gpu.simulate(lesson["tree_of_halves"], 1, 256, np.ones(size, np.float32), out, on_error="collect")
        assert any(h.kind == "out of bounds" for h in report.hazards) == wrong
