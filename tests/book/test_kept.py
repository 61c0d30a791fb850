"""A run that is kept is whole or the one before: a full disk leaves no half notebook, and a damaged one is named."""

from __future__ import annotations

import os

import pytest
from nbformat.v4 import new_notebook

from course_lib.book.kept import keep, kept_notebooks, unreadable_lessons
from course_lib.cli.folder import list_lessons
from tests.cli.course import code, make_course

resource = pytest.importorskip("resource", reason="no limit of a file's size here")


@pytest.fixture
def lesson(tmp_path):
    return list_lessons(make_course(tmp_path / "c", l01_a=[]))[0]


def test_a_full_disk_leaves_the_run_before(lesson, tmp_path):
    keep(tmp_path, lesson, new_notebook(cells=[code("1")]))
    pid = os.fork()  # the limit holds for a process until its end
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        try:
            keep(tmp_path, lesson, new_notebook(cells=[code("2\n" * 1000)]))
        except OSError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    ((_, notebook),) = kept_notebooks(tmp_path, [lesson])
    assert notebook.cells[0].source == "1"
    assert [file.name for file in (tmp_path / "_executed").iterdir()] == ["01_a.ipynb"]


@pytest.mark.parametrize("content", [b"", b'{"cells": [', b"\xff\xfe\x00", b"<html>", b"[]"])
def test_a_damaged_run_is_left_out_and_named(lesson, tmp_path, content):
    keep(tmp_path, lesson, new_notebook())
    assert unreadable_lessons(tmp_path, [lesson]) == []
    (tmp_path / "_executed" / "01_a.ipynb").write_bytes(content)
    assert kept_notebooks(tmp_path, [lesson]) == []
    assert unreadable_lessons(tmp_path, [lesson]) == [lesson]


def test_a_full_disk_leaves_the_measurements_before(tmp_path):
    from course_lib.bench.report import Report, write

    def report(threads):
        return Report({"cpu": "made up"}, threads, 1, 0.0, [])

    path = write(report(1), tmp_path)
    before = path.read_text()
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        try:
            write(report(2), tmp_path)
        except OSError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert (path.read_text(), list(tmp_path.iterdir())) == (before, [path])
