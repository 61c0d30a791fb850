"""What a sum over all ranks costs: by hand, beside the counted traffic, and refused where nothing was measured."""

import pytest

from course_lib.parallel import all_to_one, ring, tree
from course_lib.parallel.costs import WAYS, Link, between, step_seconds, sum_seconds

POINTS = {1: 1.0, 4: 1.0, 16: 3.0, 64: 9.0}


def test_a_ring_of_four_by_hand():
    assert sum_seconds("ring", 4, 800, Link(1.0, 100.0)) == pytest.approx(6 * (1.0 + 2.0))


def test_a_tree_of_eight_and_all_to_one_by_hand():
    assert sum_seconds("tree", 8, 100, Link(0.5, 100.0)) == pytest.approx(6 * 1.5)
    assert sum_seconds("all_to_one", 8, 100, Link(0.5, 100.0)) == pytest.approx(14 * 1.5)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 13])
def test_latency_alone_counts_the_steps_of_the_library(by, size):
    steps = {"ring": ring, "tree": tree, "all_to_one": all_to_one}[by].steps(size)
    assert sum_seconds(by, size, 1000, Link(1.0, 1e30)) == pytest.approx(steps)


def test_rate_alone_counts_the_bytes_that_a_rank_of_a_ring_sends():
    for size in (2, 4, 8):
        sent = ring.traffic(0, size, 1000 * size, 4).bytes
        assert sum_seconds("ring", size, 4000 * size, Link(0.0, 1.0)) == pytest.approx(sent)


def test_between_what_was_measured_lie_straight_lines():
    assert [between(POINTS, rows) for rows in (0.5, 1, 2, 10, 40, 64)] == pytest.approx([1, 1, 1, 2, 6, 9])
    with pytest.raises(ValueError, match="65 rows; at most 64 were measured"):
        between(POINTS, 65)


def test_a_step_is_computing_and_a_sum():
    assert step_seconds(POINTS, 64, 1, 800, Link(1.0, 100.0)) == (9.0, 0.0)
    assert step_seconds(POINTS, 64, 4, 800, Link(1.0, 100.0)) == pytest.approx((3.0, 18.0))


@pytest.mark.parametrize(
    ("call", "says"),
    [(lambda: Link(-1, 1), "latency"), (lambda: Link(0, 0), "rate"),
     (lambda: sum_seconds("star", 2, 1, Link(0, 1)), "by is 'star'"),
     (lambda: sum_seconds("ring", 0, 1, Link(0, 1)), "size")],
)  # fmt: skip
def test_what_is_no_link_or_no_way_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
