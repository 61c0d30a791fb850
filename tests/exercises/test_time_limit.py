"""An answer that does not end is stopped, said so, and leaves the process and its signals as they were."""

import signal
import threading
import time

import pytest

from course_lib.checks import Case, Exercise, time_limit
from course_lib.checks.calling import call_here
from course_lib.checks.card import card_of
from course_lib.checks.judge import judge
from course_lib.checks.time_limit import TimeLimit, TimeUp

COUNT = Exercise(
    "01.2", "count", "Count", 1, "core", "loops", "the course's own", 3, lambda n: n, (Case((3,)),)
)  # fmt: skip


def endless(n):
    k = 0
    while k < n:
        k -= 1


def asleep(n):
    time.sleep(1000)


def catches_exceptions(n):
    while True:
        try:
            n += 1
        except Exception:
            n = 0


def catches_once(n):
    try:
        while True:
            n += 1
    except BaseException:
        while True:
            n -= 1


@pytest.fixture(autouse=True)
def handler_stays():
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before
    assert "time limit of a check" not in [t.name for t in threading.enumerate()]


@pytest.mark.parametrize("answer", [endless, asleep, catches_exceptions, catches_once], ids=lambda f: f.__name__)
def test_an_answer_that_does_not_end_is_stopped_and_told(answer, monkeypatch):
    monkeypatch.setattr(time_limit, "AGAIN", 0.1)
    (case,) = COUNT.cases
    outcome = call_here(answer, case, 0.2)
    finding = judge(COUNT, case, outcome)
    assert (finding.cause, outcome.stopped) == ("does not end", 0.2)
    assert finding.says.startswith("count(3) does not end: it was stopped after 0.2 s. It was in line ")
    text = str(card_of(COUNT, finding))
    assert "no result: it does not end, and was stopped after 0.2 s" in text
    assert "a while loop whose condition stays true" in text


def test_of_a_hidden_case_neither_the_call_nor_a_line_is_told():
    (case,) = COUNT.cases
    says = judge(COUNT, case, call_here(endless, case, 0.1), reveal=False).says
    assert says.startswith("count on a hidden case does not end: it was stopped after 0.1 s. The usual cause")


def test_an_answer_that_ends_in_time_is_not_disturbed():
    (case,) = COUNT.cases
    assert judge(COUNT, case, call_here(lambda n: n, case, 30.0)) is None


def test_ctrl_c_is_still_ctrl_c():
    def pressed(n):
        signal.raise_signal(signal.SIGINT)
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        call_here(pressed, COUNT.cases[0], 30.0)


def test_in_another_thread_there_is_no_limit_and_no_error():
    found = []

    def work():
        with TimeLimit(0.05):
            time.sleep(0.2)
        found.append("through")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["through"]


def test_without_signals_between_threads_as_on_windows_a_loop_is_stopped_too(monkeypatch):
    monkeypatch.delattr(signal, "pthread_kill")
    with pytest.raises(TimeUp), TimeLimit(0.1):
        endless(3)


def test_a_limit_that_is_no_time_is_refused():
    with pytest.raises(ValueError, match=r"the limit is 0 s; it must be positive\."):
        TimeLimit(0)
