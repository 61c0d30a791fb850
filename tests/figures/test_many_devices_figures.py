"""Lesson 18's figures: their messages are the library's, their times the formulas', and what they refuse."""

import numpy as np
import pytest

from course_lib import figures, parallel
from course_lib.cluster import Link
from course_lib.cluster.links import Curve
from course_lib.cluster.workloads import Layer, Workload
from course_lib.figures.bucket_rows import Backward, sent_when
from course_lib.figures.reduce_steps import holdings, rounds, waiting

NET = Workload("a network", (Layer("all", 250, 1.0),), Curve(((1, 1e-3), (4, 1e-3), (16, 3e-3), (64, 9e-3))))
LINKS = [Link("slow", 1e-3, 1e6), Link("quick", 1e-5, 1e8)]
LAYERS = [Backward("c", 1.0, 100), Backward("relu", 1.0, 0), Backward("b", 2.0, 100), Backward("a", 4.0, 10)]


@pytest.mark.parametrize("by", ["ring", "tree", "all_to_one"])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8])
def test_rounds_sum_everything_with_the_librarys_messages(by, size):
    held = holdings(by, size, 1000)
    assert all(part == set(range(size)) for parts in held for part in parts)
    assert len(rounds(by, size)) == getattr(parallel, by).steps(size)
    for rank in range(size):
        sent = [m for messages in rounds(by, size) for m in messages if m[0] == rank]
        traffic = getattr(parallel, by).traffic(rank, size, 12 * size, 1)
        assert (len(sent), sum(12 * (size if m[2] < 0 else 1) for m in sent)) == (traffic.messages, traffic.bytes)


def test_in_a_round_no_rank_sends_or_receives_twice():
    for by in ("ring", "tree"):
        for messages in rounds(by, 8):
            for k in (0, 1):
                assert len({m[k] for m in messages}) == len(messages)


def test_in_a_ring_a_rank_that_stops_is_missed_by_one_more_in_each_step():
    for size in (4, 8):
        for steps in range(2 * size - 2):
            late = min(steps, size - 1)
            assert waiting("ring", size, steps, 2) == {(2 + k) % size for k in range(1, late + 1)}


@pytest.mark.parametrize("by", ["tree", "all_to_one"])
def test_in_the_end_all_wait_whatever_the_way(by):
    assert waiting(by, 8, 0, 2) == set()
    assert waiting(by, 8, 1000, 2) == set(range(8)) - {2}


def test_the_ring_is_told_in_words():
    assert "after 3 steps each rank has the whole sum of one part" in figures.all_reduce_steps((4,)).static.alt
    for size in (2, 9):
        with pytest.raises(ValueError, match="must be 3 to 8"):
            figures.all_reduce_steps((4, size))
    with pytest.raises(ValueError, match="numbers of ranks"):
        figures.all_reduce_steps(())


def test_buckets_leave_when_they_are_full_one_after_another():
    assert sent_when(LAYERS, 1, 0.5, 100.0) == [("c", 1.0, 2.5), ("b", 4.0, 5.5), ("a", 8.0, pytest.approx(8.6))]
    assert sent_when(LAYERS, 150, 0.5, 100.0) == [("c + b", 4.0, 6.5), ("a", 8.0, pytest.approx(8.6))]
    assert sent_when(LAYERS, 10_000, 0.5, 100.0) == [("c + b + a", 8.0, pytest.approx(10.6))]
    slow = sent_when(LAYERS, 1, 0.0, 10.0)
    assert [(start, end) for _, start, end in slow] == [(1, 11), (11, 21), (21, 22)]


def test_layers_without_weights_at_the_end_still_send_what_is_held():
    found = sent_when([Backward("b", 1.0, 10), Backward("relu", 1.0, 0)], 1000, 0.0, 10.0)
    assert found == [("b", 2.0, 3.0)]


def test_a_step_is_told_with_its_sum():
    made = figures.shared_step(NET, LINKS, (64, 16), start=4)
    assert made.static.caption == (
        "With slow and 4 devices a step on 64 images takes 10,500 microseconds, 7,500 of them for the sum of gradients."
    )
    assert made.data["links"][1] == {"name": "quick", "latency": 10.0, "rate": 100.0}


@pytest.mark.parametrize(
    ("change", "says"),
    [({"links": []}, "links"), ({"batches": (65,)}, "at most 64"), ({"start": 3}, "start"), ({"batches": ()}, "batch")],
)
def test_steps_that_cannot_be_drawn_are_refused(change, says):
    with pytest.raises(ValueError, match=says):
        figures.shared_step(**{"workload": NET, "links": LINKS, "batches": (64,), **change})


def test_buckets_of_nothing_are_refused():
    for layers, buckets, rates in (([], {"a": 1}, [1.0]), (LAYERS, {}, [1.0]), (LAYERS, {"a": 1}, [])):
        with pytest.raises(ValueError, match="is empty"):
            figures.bucket_timeline(layers, buckets, 1.0, rates)


@pytest.mark.parametrize("made", [
    figures.shared_step(NET, LINKS, (64,)), figures.all_reduce_steps((8, 4)),
    figures.bucket_timeline(LAYERS, {"each": 1, "all": 10**6}, 0.5, [100.0, 10.0]),
], ids=lambda m: m.name)  # fmt: skip
def test_static_pictures_fit_a_phone(made):
    assert made.static.drawn[0] <= 400
    assert np.isfinite(made.static.drawn).all()
