"""Warps on one scheduler: the slots follow the rule, and their busy share follows Little's law."""

import itertools

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.estimate.scheduling import (
    ISSUES,
    READY,
    WAITS,
    latency_of,
    period,
    simulate,
    warps_needed,
    work_of,
)
from tests.figures.pages import read_svg, svg_texts
from tests.simt import reports

CASES = [(c, latency) for c in (1, 2, 3, 7, 20) for latency in (1, 2, 9, 40, 131)]


def only_writes(out):
    out[cuda.grid(1)] = 1


def slot_by_slot(warps, compute, latency, slots):
    """The rule as its sentence says it, one slot after the other."""
    states, since, left, chosen = np.zeros((warps, slots), int), [0] * warps, [compute] * warps, None
    for slot in range(slots):
        ready = [w for w in range(warps) if since[w] <= slot]
        states[ready, slot] = READY
        if chosen not in ready:
            chosen = min(ready, key=lambda w: (since[w], w), default=None)
        if chosen is None:
            continue
        states[chosen, slot] = ISSUES
        left[chosen] -= 1
        if left[chosen] == 0:
            left[chosen], since[chosen] = compute, slot + latency
    return states


@pytest.mark.parametrize(("compute", "latency"), CASES)
def test_the_slots_are_those_of_the_rule_taken_slot_by_slot(compute, latency):
    for warps in (1, 2, 3, 8, 17):
        made = simulate(warps, compute, latency, 3)
        np.testing.assert_array_equal(made.states, slot_by_slot(warps, compute, latency, made.states.shape[1]))
        assert ((made.states == ISSUES).sum(axis=0) <= 1).all()


@pytest.mark.parametrize(("compute", "latency"), CASES)
def test_the_busy_share_is_that_of_littles_law(compute, latency):
    for warps in (1, 2, 3, 8, 17, 48):
        share = min(1, warps * compute / period(compute, latency))
        assert simulate(warps, compute, latency).share == pytest.approx(share, abs=1e-12)
    assert simulate(warps_needed(compute, latency), compute, latency).share == 1
    if warps_needed(compute, latency) > 1:
        assert simulate(warps_needed(compute, latency) - 1, compute, latency).share < 1


def test_runs_are_the_states_one_after_the_other():
    made = simulate(5, 3, 20)
    for row, runs in zip(made.states, made.runs, strict=True):
        assert np.concatenate([[state] * slots for state, slots in runs]).tolist() == row.tolist()
        assert all(a[0] != b[0] for a, b in itertools.pairwise(runs))
    assert {state for runs in made.runs for state, _ in runs} == {WAITS, ISSUES, READY}


def test_work_comes_from_the_reports_counters():
    report = reports.product()
    t = report.total
    assert work_of(report) == round(t.instructions / t.global_load_requests)
    assert report.schedule().data["compute"] == work_of(report)
    with pytest.raises(ValueError, match="no counted load"):
        work_of(reports.run(only_writes, 1, 64, (np.zeros(64, np.float32),)))


def test_a_latency_without_a_source_must_be_given():
    assert latency_of("H100") == ("H100", 700)
    with pytest.raises(ValueError, match="latency of the T4"):
        simt.schedule(device="T4")
    assert simt.schedule(device="T4", latency=400).data["latency"] == 400


def test_the_static_picture_says_the_shares_and_that_it_is_a_model():
    made = simt.schedule(compute=10, latency=91)
    texts = svg_texts(read_svg(made.static.src))
    for warps, share in ((1, "10 %"), (2, "20 %"), (8, "80 %"), (32, "100 %")):
        assert f"{warps} warp{'s' * (warps > 1)}: {share} of the slots issue" in texts
        assert f"{share} with {warps}" in made.static.alt
    assert "A model: one scheduler" in made.static.alt
    assert made.data["needed"] == 10
    assert made.html == simt.schedule(compute=10, latency=91).html


@pytest.mark.parametrize(
    "given", [{"warps": ()}, {"warps": (49,)}, {"warps": (0,)}, {"compute": 0}, {"latency": 5000}, {"compute": 1.5}]
)
def test_what_cannot_be_drawn_is_refused(given):
    with pytest.raises((ValueError, TypeError), match=r"warps|compute|latency"):
        simt.schedule(**given)
