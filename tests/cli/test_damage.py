"""A file that is no notebook is told as what it is, by every command that is given one, before any talk of names."""

from __future__ import annotations

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_notebook
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.cli.damage import wrong_with, wrong_with_content
from course_lib.cli.folder import list_lessons
from tests.cli.course import make_course
from tests.setup.project import ROOT

SHEET = (ROOT / "exercises" / "01_perceptron.ipynb").read_bytes()
CONFLICT = SHEET.replace(b'"cells": [', b'<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> theirs', 1)
DAMAGED = {
    "empty": (b"", "it is empty"),
    "spaces": (b" \n\n\t", "it is empty"),
    "zeros": (bytes(4096), "it is empty"),
    "cut": (SHEET[: len(SHEET) // 2], "its JSON ends or breaks at line"),
    "cut to a bracket": (b"{", "its JSON ends or breaks at line 1"),
    "cut in UTF-8": (SHEET[:1000] + b"\xc3", "its JSON ends or breaks"),
    "zeros at its end": (SHEET[:-4096] + bytes(4096), "its JSON ends or breaks"),
    "UTF-16": (SHEET.decode().encode("utf-16"), "its text is UTF-16"),
    "UTF-16 without a mark": (SHEET.decode().encode("utf-16-le"), "its text is UTF-16"),
    "UTF-16, big end first": (SHEET.decode().encode("utf-16-be"), "its text is UTF-16"),
    "HTML": (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "a web page"),
    "HTML with a mark": (b"\xef\xbb\xbf\n<html>", "a web page"),
    "LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
    "conflict": (CONFLICT, "a merge conflict in it, at line"),
    "conflict at the top": (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n", "a merge conflict in it, at line 1"),
    "zip": (b"PK\x03\x04\x14\x00", "a zip archive"),
    "PDF": (b"%PDF-1.7\n", "a PDF"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00", "a picture"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\xff\xfe\x00", "it is no text"),
    "text": (b"def f(x):\n    return x\n", "its JSON ends or breaks at line 1"),
    "JSON without cells": (b'{"a": 1}', "without a list of cells"),
    "a list": (b"[1, 2]", "without a list of cells"),
    "a number": (b"3", "without a list of cells"),
    "cells that are none": (b'{"cells": {}}', "without a list of cells"),
    "deep": (b"[" * 100_000, "no notebook"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_what_a_file_is_instead_of_a_notebook_is_said_with_a_way_out(kind):
    content, words = DAMAGED[kind]
    said = wrong_with_content("homework.ipynb", content)
    assert said.startswith("homework.ipynb is no notebook"), said
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "content",
    [SHEET, b"\xef\xbb\xbf" + SHEET, json.dumps(json.loads(SHEET)).encode(), b'{"worksheets": [{"cells": []}]}'],
)
def test_a_notebook_is_one(content):
    assert wrong_with_content("x.ipynb", content) == ""


def test_a_text_about_conflicts_in_a_cell_is_no_conflict():
    notebook = new_notebook(cells=[nbformat.v4.new_markdown_cell("<<<<<<< HEAD\n=======")])
    assert wrong_with_content("x.ipynb", nbformat.writes(notebook).encode()) == ""


def test_folders_and_missing_files_are_told(tmp_path):
    assert "is a folder" in wrong_with(tmp_path)
    assert "No such file" in wrong_with(tmp_path / "none.ipynb")


@pytest.mark.parametrize("kind", DAMAGED)
def test_course_check_says_so_before_any_talk_of_names(kind, tmp_path):
    file = tmp_path / "final version.ipynb"
    file.write_bytes(DAMAGED[kind][0])
    result = CliRunner().invoke(app, ["check", str(file)])
    assert (result.exit_code, DAMAGED[kind][1] in result.output) == (2, True), result.output
    assert "its name" not in result.output
    file.rename(tmp_path / "01_perceptron.ipynb")
    if "UTF-16" not in kind:  # the grader reads these, where it knows which sheet it is
        assert CliRunner().invoke(app, ["check", str(tmp_path / "01_perceptron.ipynb")]).exit_code == 2


@pytest.mark.parametrize("kind", DAMAGED)
def test_course_run_and_lab_say_so_too(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", lambda argv: pytest.fail("it was opened"))
    root = make_course(tmp_path / "c", l01_a=[])
    (root / "notebooks" / "01_a.ipynb").write_bytes(DAMAGED[kind][0])
    run = CliRunner().invoke(app, ["run", "--folder", str(root), "--out", str(root / "out")])
    assert (run.exit_code, "01_a.ipynb is no notebook" in run.output) == (2, True), run.output
    lab = CliRunner().invoke(app, ["lab", "--folder", str(root), "--open", "notebooks/01_a.ipynb"])
    assert (lab.exit_code, "01_a.ipynb is no notebook" in lab.output) == (1, True), lab.output


def test_a_lesson_can_be_named_by_its_file_and_other_files_are_told_apart(tmp_path, monkeypatch):
    from course_lib.cli.folder import UnknownLesson, pick_lessons

    root = make_course(tmp_path / "c", l01_a=[], l02_b=[])
    shutil.copy(root / "notebooks" / "01_a.ipynb", root / "01_a.ipynb")
    lessons = list_lessons(root)
    monkeypatch.chdir(root / "notebooks")
    for given in ("02_b", "2", "02_b.ipynb", "notebooks/02_b.ipynb", str(root / "notebooks" / "02_b.ipynb")):
        assert pick_lessons(lessons, [given]) == [lessons[1]]
    for given in ("../01_a.ipynb", "none.ipynb"):
        with pytest.raises(UnknownLesson, match="Other notebooks are not run"):
            pick_lessons(lessons, [given])


@pytest.mark.parametrize("place", ["notebooks/01_a.ipynb", "exercises/01_a.ipynb"])
def test_course_release_names_a_damaged_notebook(place, tmp_path):
    root = make_course(tmp_path / "c", l01_a=[])
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).write_bytes(DAMAGED["cut"][0])
    result = CliRunner().invoke(app, ["release", str(tmp_path / "out"), "--folder", str(root)])
    assert (result.exit_code, f"{place} is no notebook" in result.output) == (1, True), result.output
