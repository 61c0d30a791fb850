"""What sheet 18 says is what ranks that are threads really do, and what the library's formulas give."""

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import read_sheet

from course_lib import parallel
from course_lib.cluster import Cluster, Link, all_reduce_seconds
from course_lib.parallel.plans import follow
from tests.setup.project import ROOT

SHEET = read_sheet(Path(ROOT) / "solutions" / "18_many_devices.py")
NAMES = sheet_names(SHEET, "18_many_devices")


@pytest.mark.parametrize(("count", "size"), [(10, 4), (3, 5), (0, 2), (64, 8), (7, 1)])
def test_rows_cover_the_batch_and_the_first_ranks_have_more(count, size):
    parts = [NAMES["my_rows"](count, rank, size) for rank in range(size)]
    assert [row for first, last in parts for row in range(first, last)] == list(range(count))
    lengths = [last - first for first, last in parts]
    assert lengths == sorted(lengths, reverse=True)
    assert max(lengths) - min(lengths) <= 1


def test_the_gradient_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    of_rows, cuts = rng.standard_normal((20, 3)), [0, 3, 3, 11, 20]
    means = np.array([of_rows[a:b].mean(axis=0) if b > a else np.full(3, np.nan) for a, b in pairwise(cuts)])
    np.testing.assert_allclose(NAMES["whole_gradient"](means, np.diff(cuts)), of_rows.mean(axis=0))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("count", [7, 24])
def test_ranks_that_follow_the_plan_have_all_sums_and_the_rings_traffic(size, count):
    def work(world):
        array = np.arange(float(count)) * (world.rank + 1)
        follow(world, array, NAMES["ring_plan"](world.rank, world.size))
        return array, world.traffic

    for rank, (array, traffic) in enumerate(parallel.run(work, size)):
        np.testing.assert_array_equal(array, np.arange(count) * size * (size + 1) / 2)
        if size > 1:
            assert traffic == parallel.ring.traffic(rank, size, count, 8)


def test_the_example_of_the_statement_is_the_plan_of_rank_1_of_3():
    assert NAMES["ring_plan"](1, 3) == [(1, 0, True), (0, 2, True), (2, 1, False), (1, 0, False)]


def test_a_plan_that_names_no_part_is_refused():
    with pytest.raises(ValueError, match=r"step 0 names part 2; there are parts 0 to 1"):
        parallel.run(lambda world: follow(world, np.zeros(4), [(2, 0, True)]), 2)


def really_stuck(programs):
    """Let threads do it: whoever has not ended when the deadlock, or the missing rank, is told is stuck."""
    done = set()

    def work(world):
        box = np.zeros(1)
        for what, peer in programs[world.rank]:
            world.send(box, peer) if what == "send" else world.receive(box, peer)
        done.add(world.rank)

    with suppress(parallel.RankError):
        parallel.run(work, len(programs), buffer=0, patience=20.0)
    return [rank for rank in range(len(programs)) if rank not in done]


@pytest.mark.parametrize("case", range(12))
def test_threads_are_stuck_where_the_answer_says(case):
    rng = np.random.default_rng(case)
    programs = [[] for _ in range(4)]
    for _ in range(5):
        a, b = (int(r) for r in rng.choice(4, 2, replace=False))
        programs[a].append(("send", b))
        programs[b].append(("receive", a))
    if case % 3:  # everybody waits: threads then know of the circle at once, whatever came before
        programs = [[*own, ("send", (r + 1) % 4), ("receive", (r - 1) % 4)] for r, own in enumerate(programs)]
    assert NAMES["stuck"](programs) == really_stuck(programs) == ([0, 1, 2, 3] if case % 3 else [])


def test_who_waits_for_a_rank_that_has_ended_is_stuck():
    programs = [[("send", 1)], [("receive", 0), ("receive", 0)]]
    assert NAMES["stuck"](programs) == really_stuck(programs) == [1]


@pytest.mark.parametrize("latency", [0.0, 1e-5, 1e-2])
def test_the_best_number_of_devices_is_the_best_of_all(latency):
    link, seconds = Link("link", latency, 1e9), []
    for n in range(1, 41):
        seconds.append(1e-3 + 5000 / n * 1e-6 + all_reduce_seconds(Cluster(n, n, link), 10**6, "ring"))
    n, took = NAMES["soonest"](5000, 1e-6, 1e-3, 10**6, latency, 1e9, 40)
    assert (n, took) == (int(np.argmin(seconds)) + 1, pytest.approx(min(seconds)))


def test_the_example_of_the_statement_has_one_device():
    assert NAMES["soonest"](1000, 1e-3, 0.0, 10**6, 1e-2, 1e6, 2) == (1, 1.0)
    assert 0.5 + 2 * Link("link", 0.01, 1e6).seconds(500_000) == pytest.approx(1.52)


@pytest.mark.parametrize(("stages", "micro"), [(1, 3), (4, 4), (8, 56), (3, 1)])
def test_equal_stages_have_the_lessons_bubble(stages, micro):
    total, idle = NAMES["pipeline"]([2.0] * stages, micro)
    assert total == 2 * (micro + stages - 1)
    assert idle == pytest.approx((stages - 1) / (micro + stages - 1))


def test_the_slowest_stage_sets_the_pace():
    few, many = (NAMES["pipeline"]([1.0, 3.0, 2.0], micro)[0] for micro in (10, 11))
    assert many - few == 3
    assert NAMES["pipeline"]([2.0, 1.0], 3) == (7.0, pytest.approx(5 / 14))
