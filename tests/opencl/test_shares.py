"""The best share is where both end together, and jobs that are started together do run together."""

import threading

import numpy as np
import pytest

from course_lib.opencl.shares import best_share, together


@pytest.mark.parametrize(("first", "second"), [(10, 30), (1, 1), (5, 0.5), (3e-3, 40)])
def test_both_end_together_and_no_other_share_is_better(first, second):
    best = best_share(first, second)
    assert best.first * first == pytest.approx((1 - best.first) * second)
    assert best.seconds == pytest.approx(first * second / (first + second))
    for s in np.linspace(0, 1, 101):
        assert max(s * first, (1 - s) * second) >= best.seconds - 1e-12


def test_three_times_as_fast_takes_three_quarters():
    best = best_share(10, 30)
    assert (best.first, best.seconds) == (0.75, 7.5)


@pytest.mark.parametrize(("fixed_first", "fixed_second"), [(0, 5), (2, 0), (1, 3), (0, 30), (12, 40)])
def test_what_a_device_needs_before_it_begins_moves_the_share(fixed_first, fixed_second):
    first, second = 10, 30
    best = best_share(first, second, fixed_first, fixed_second)

    def seconds(s):
        return max(fixed_first + s * first if s else 0, fixed_second + (1 - s) * second if s < 1 else 0)

    tried = min(seconds(s) for s in np.linspace(0, 1, 10_001))
    assert best.seconds == pytest.approx(seconds(best.first))
    assert tried >= best.seconds - 1e-9


def test_a_device_that_begins_too_late_gets_nothing():
    assert best_share(10, 30, fixed_second=10.5) == best_share(10, 1e9, fixed_second=1e9)
    assert best_share(10, 30, fixed_second=10.5).first == 1.0


@pytest.mark.parametrize("bad", [(0, 1), (1, -1), (float("nan"), 1)])
def test_times_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        best_share(*bad)
    with pytest.raises(ValueError, match="fixed_second"):
        best_share(1, 1, fixed_second=-1)


def test_jobs_run_at_the_same_time_and_return_in_order():
    meet = threading.Barrier(2, timeout=60)  # neither passes unless both run

    def job(name):
        meet.wait()
        return name

    done = together(lambda: job("a"), lambda: job("b"))
    assert [d.value for d in done] == ["a", "b"]
    assert all(0 <= d.start <= d.end for d in done)


def test_an_error_of_a_job_is_raised_when_all_have_ended():
    ended = []

    def fails():
        raise ZeroDivisionError("in the job")

    with pytest.raises(ZeroDivisionError, match="in the job"):
        together(fails, lambda: ended.append(True))
    assert ended == [True]
