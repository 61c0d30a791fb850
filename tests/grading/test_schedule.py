"""Processes that die, hang or raise cost only their own submission; an interrupt loses nothing that has ended."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest

from course_lib.grading.cluster import NoCluster, run_on_cluster
from course_lib.grading.schedule import run
from tests.grading.fakes import FakeTask, fake_grade
from tests.setup.project import ROOT


def tasks(*says):
    return [FakeTask(f"s{at}", "04_backpropagation", (("hw.ipynb", text.encode()),)) for at, text in enumerate(says)]


def statuses(results):
    return {task.student: result["status"] for task, result in results}


def test_every_task_gets_its_own_result():
    found = list(run(tasks(*["fine"] * 7), fake_grade, 2))
    assert sorted(task.student for task, _ in found) == [f"s{at}" for at in range(7)]
    assert all(task.student == result["student"] for task, result in found)


def test_a_process_that_dies_breaks_its_own_submission_and_no_other(tmp_path):
    log = tmp_path / "log"
    found = dict(
        (task.student, result)
        for task, result in run(tasks("fine", f"die log={log} ", "fine", "raise", "fine"), fake_grade, 2)
    )
    assert {student: result["status"] for student, result in found.items()} == {
        **dict(s0="graded", s1="broken", s2="graded", s3="broken", s4="graded")
    }
    assert log.read_text() == "s1\ns1\n"  # tried twice
    assert "signal 9" in found["s1"]["says"]
    assert "the grader has a bug" in found["s3"]["says"]


def test_a_process_that_dies_once_is_tried_again_at_the_end(tmp_path):
    found = list(run(tasks(f"die once mark={tmp_path / 'mark'} ", "fine", "fine"), fake_grade, 1))
    assert [task.student for task, _ in found] == ["s1", "s2", "s0"]
    assert set(statuses(found).values()) == {"graded"}


def test_a_grader_that_hangs_is_ended():
    found = list(run(tasks("slow=600 ", "fine"), fake_grade, 2, patience=8.0))
    assert statuses(found) == {"s0": "broken", "s1": "graded"}
    assert "no result after 8 s" in dict((t.student, r) for t, r in found)["s0"]["says"]


def test_a_result_that_cannot_be_sent_is_a_broken_one():
    assert statuses(run(tasks("unsendable", "fine"), fake_grade, 1)) == {"s0": "broken", "s1": "graded"}


def test_tasks_are_taken_when_a_process_is_free_and_not_before():
    taken = []

    def source():
        for task in tasks(*["fine"] * 6):
            taken.append(task)
            yield task

    results = run(source(), fake_grade, 1)
    next(results)
    assert len(taken) <= 2
    results.close()


def test_when_it_is_left_early_no_process_stays():
    results = run(tasks("fine", "slow=3600 ", "slow=3600 "), fake_grade, 2)
    next(results)
    results.close()
    assert not [child for child in multiprocessing.active_children() if child.name == "course-grade"]


def test_an_interrupt_is_raised_on_and_no_process_stays():
    def source():
        yield from tasks("fine")
        raise KeyboardInterrupt

    results = run(source(), fake_grade, 1)
    assert next(results)[1]["status"] == "graded"
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert not [child for child in multiprocessing.active_children() if child.name == "course-grade"]


def test_a_cluster_without_dask_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NoCluster, match=r"pip install -e '\.\[cluster\]'"):
        next(run_on_cluster(tasks("fine"), fake_grade, "tcp://127.0.0.1:1"))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here (Windows)")
@pytest.mark.parametrize("moment", ["importing", "grading"])
def test_ctrl_c_at_a_terminal_is_words_and_no_childs_traceback(moment, tmp_path):
    """The child itself presses it for both, so it comes while the child imports what it needs, or while it grades."""
    (tmp_path / "pressing.py").write_text(
        "import multiprocessing, os, signal, time\n"
        "def press():\n    os.killpg(0, signal.SIGINT)\n    time.sleep(1)\n"
        f"if multiprocessing.current_process().name == 'course-grade' and {moment!r} == 'importing':\n    press()\n"
        "def grade(task):\n    press()\n    time.sleep(30)\n"
    )
    (tmp_path / "main.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from course_lib.grading.schedule import run\nfrom pressing import grade\n"
        "from tests.grading.fakes import FakeTask\n"
        "if __name__ == '__main__':\n    try:\n"
        "        list(run([FakeTask('s0', '04_backpropagation', ())], grade, 1))\n"
        "    except KeyboardInterrupt:\n        print('stopped')\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
        text=True, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("stopped\n", "")
