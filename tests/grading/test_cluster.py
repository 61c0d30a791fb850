"""A Dask cluster gets the same function and tasks as the local pool; what fails there costs one submission."""

from __future__ import annotations

import sys
import types

import pytest

from course_lib.grading.cluster import NoCluster, run_on_cluster
from tests.grading.fakes import FakeTask, fake_grade


class Future:
    def __init__(self, key, call):
        self.key, self.call = key, call

    def result(self):
        return self.call()

    def release(self):
        pass


class Client:
    """As much of distributed.Client as is used, in this process."""

    status, loop, sent = "running", None, ()

    def __init__(self, address, **_):
        if address == "tcp://nobody":
            raise OSError("timed out")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def nthreads(self):
        return {"worker": 2}

    def submit(self, function, task, retries, pure):
        assert (retries, pure) == (2, False)  # a grade is no pure function: it takes time, and may be tried again
        Client.sent.append(task.student)
        return Future(task.student, lambda: function(task))


class Completed(list):
    """Futures in the order in which they were sent; more may be added meanwhile."""

    def __init__(self, **_):
        super().__init__()

    def add(self, future):
        self.append(future)

    def __iter__(self):
        while self:
            yield self.pop(0)


@pytest.fixture
def distributed(monkeypatch):
    Client.sent, Client.status = [], "running"
    module = types.SimpleNamespace(Client=Client, as_completed=Completed)
    monkeypatch.setitem(sys.modules, "distributed", module)


def tasks(*says):
    return [FakeTask(f"s{at}", "04_backpropagation", (("hw.ipynb", text.encode()),)) for at, text in enumerate(says)]


@pytest.mark.usefixtures("distributed")
def test_each_task_has_its_result_and_one_that_fails_is_broken():
    found = {task.student: result for task, result in run_on_cluster(tasks("fine", "raise", "fine"), fake_grade, "x")}
    assert {id: result["status"] for id, result in found.items()} == dict(s0="graded", s1="broken", s2="graded")
    assert "the grader has a bug" in found["s1"]["says"]


@pytest.mark.usefixtures("distributed")
def test_only_a_few_are_under_way_at_a_time_and_all_are_sent():
    results = run_on_cluster(tasks(*["fine"] * 30), fake_grade, "x")
    next(results)
    assert len(Client.sent) == 8
    assert len(list(results)) == 29
    assert len(Client.sent) == 30


@pytest.mark.usefixtures("distributed")
def test_nobody_at_the_address_is_an_error_that_says_how_to_start_one():
    with pytest.raises(NoCluster, match="dask scheduler"):
        next(run_on_cluster(tasks("fine"), fake_grade, "tcp://nobody"))


@pytest.mark.usefixtures("distributed")
def test_a_scheduler_that_goes_away_ends_the_run_and_breaks_nothing():
    results = run_on_cluster(tasks("fine", "raise", "fine"), fake_grade, "x")
    next(results)
    Client.status = "closed"
    with pytest.raises(NoCluster, match=r"with 2 submissions under way.*run the command again"):
        next(results)


def test_on_a_real_cluster_of_this_machine():
    distributed = pytest.importorskip("distributed", reason="dask is not installed (pip install -e '.[cluster]')")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        found = run_on_cluster(tasks(*["fine"] * 9, "die", "raise"), fake_grade, cluster.scheduler_address)
        statuses = {task.student: result["status"] for task, result in found}
    assert statuses == {**{f"s{n}": "graded" for n in range(9)}, "s9": "broken", "s10": "broken"}
