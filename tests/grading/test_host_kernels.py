"""Kernels are judged beside the grader: in time, in memory, and with no box at all."""

import dataclasses
import time

import pytest

from course_lib.checks.registry import sheet
from course_lib.grading import host_kernels
from course_lib.grading.host import Task, grade
from course_lib.grading.host_kernels import Kernels
from course_lib.grading.limits import Limits
from tests.grading.toy_sheet import book, code, needs

SHEET = "000_selftest"
FIRST = sheet(SHEET).exercises[0]


@pytest.fixture
def kernels():
    made = []

    def start(**limits):
        task = Task("ann", SHEET, (), limits=dataclasses.replace(Limits(), **limits))
        made.append(Kernels(task, time.monotonic() + 60))
        return made[-1]

    yield start
    for each in made:
        each.close()


def test_a_text_that_is_no_kernel_loses_its_question_with_the_reason(kernels):
    results, fault = kernels().run(FIRST, None, "import os\nos._exit(0)\n")
    assert fault == ""
    assert [r.passed for r in results] == [False]
    assert FIRST.function in results[0].says


def test_a_kernel_that_takes_too_long_is_ended_and_the_next_one_is_judged(kernels, monkeypatch):
    each = kernels(question=0.5)
    each._start()
    monkeypatch.setattr(each, "_line", lambda *times: (_ for _ in ()).throw(TimeoutError))
    before = each.process
    results, fault = each.run(FIRST, None, "x = 1\n")
    assert (results[0].says, fault) == ("the kernel takes too long in the executor.", "")
    assert before.poll() is not None
    monkeypatch.undo()
    assert FIRST.function in each.run(FIRST, None, "x = 1\n")[0][0].says


def test_a_process_that_ends_loses_only_the_kernel_it_was_at(kernels):
    each = kernels()
    each._start()
    each.process.kill()
    each.process.wait()
    results, fault = each.run(FIRST, None, "x = 1\n")
    assert (results[0].cause, fault) == ("MemoryError", "")
    assert each.run(FIRST, None, "x = 1\n")[0][0].cause != "MemoryError"


def test_a_process_is_used_again_unless_it_is_at_work(kernels):
    each = kernels()
    each._start()
    first = each.process
    each.close()
    other = kernels()
    other._start()
    assert other.process is first
    other._busy = True
    other.close()
    assert first.poll() is not None


def test_a_process_that_does_not_start_is_the_graders_fault(kernels, monkeypatch):
    monkeypatch.setattr(host_kernels, "_SPARE", [])
    monkeypatch.setattr(host_kernels.sys, "executable", "/bin/false")
    results, fault = kernels().run(FIRST, None, "x = 1\n")
    assert results[0].cause == "the grader failed"
    assert "did not start" in fault


@needs("B")
def test_a_sheet_of_kernels_needs_no_box():
    result = grade(Task("ann", SHEET, ((f"{SHEET}.ipynb", book(code("x = 1"))),), level="B"))
    assert (result["status"], result["boxes"], result["points"]) == ("graded", 0, "0")
    assert all(q["lost"] for q in result["questions"])
