"""Whatever tool made a script or a text of a notebook, its cells are found again."""

import ast
import functools
import gzip
import json
import re

import jupytext
import nbformat
import pytest
from nbconvert import PythonExporter

from course_lib.checks.registry import SHEETS, sheet
from course_lib.grading.definitions import Definitions
from course_lib.grading.notebook import defines, read_answers
from course_lib.grading.notebook_file import MOST_CELLS, read_file
from course_lib.grading.script_cells import script_cells
from course_lib.grading.submissions import collect
from tests.setup.project import ROOT

WORDS = "Nobody looked at the test digits before the end."


def solved(name):
    """Return a solved sheet as a notebook, with an answer in words of one line."""
    book = nbformat.read(ROOT / "solutions" / f"{name}.ipynb", 4)
    for cell in book.cells:
        if "answer-" in json.dumps(cell.metadata) and cell.cell_type == "markdown":
            cell.source = WORDS
    return book


def _jupytext(form):
    return lambda book: jupytext.writes(book, form)


def _by_hand(marker, text="# {}"):
    """Return a writer of code cells below a marker, with texts as comments."""

    def write(book):
        parts = []
        for cell in book.cells:
            words = "\n".join(text.format(line).rstrip() for line in cell.source.split("\n"))
            parts.append(f"{marker}\n{cell.source}" if cell.cell_type == "code" else words)
        return "\n\n\n".join(parts) + "\n"

    return write


def _databricks(book):
    cells = [c.source if c.cell_type == "code" else "\n".join(f"# MAGIC {line}".rstrip() for line in
             f"%md {c.source}".split("\n")) for c in book.cells]  # fmt: skip
    return "# Databricks notebook source\n" + "\n\n# COMMAND ----------\n\n".join(cells)


def _plain(book):
    return "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n" + _by_hand("")(book)


def _pressed(book):
    """Return code without an empty line between cells, as somebody types it."""
    return "\n".join(c.source for c in book.cells if c.cell_type == "code") + f"\n\n# {WORDS}\n"


def _marimo(book):
    parts = ["import marimo\n\napp = marimo.App()\n"]
    for cell in book.cells:
        if cell.cell_type == "code":
            inner = "\n".join(f"    {line}".rstrip() for line in cell.source.split("\n"))
            parts.append(f"@app.cell\ndef _(np):\n{inner}\n    return\n")
        else:
            words = cell.source.replace("\\", "\\\\")
            parts.append(f'@app.cell(hide_code=True)\ndef _(mo):\n    mo.md("""\n{words}\n""")\n    return\n')
    return "\n\n".join([*parts, 'if __name__ == "__main__":\n    app.run()\n'])


@functools.cache
def written(writer, name):
    """Return a solved sheet as a tool writes it."""
    return WRITERS[writer][1](solved(name)).encode()


WRITERS = {
    "JupyterLab": (".py", lambda book: PythonExporter().from_notebook_node(book)[0]),
    "executed": (".py", lambda book: re.sub(r"In\[ \]", "In[12]", PythonExporter().from_notebook_node(book)[0])),
    "light": (".py", _jupytext("py:light")), "percent": (".py", _jupytext("py:percent")),
    "hydrogen": (".py", _jupytext("py:hydrogen")), "bare": (".py", _jupytext("py:nomarker")),
    "sphinx": (".py", _jupytext("py:sphinx")), "VS Code": (".py", _by_hand("#%%")),
    "Spyder": (".py", _by_hand("# %% a title")), "IPython": (".py", _by_hand("# <codecell>")),
    "hashes": (".py", _by_hand("#" * 79)), "region": (".py", _by_hand("# region a name")),
    "Databricks": (".py", _databricks), "plain": (".py", _plain), "pressed": (".py", _pressed),
    "text": (".txt", _plain), "wrong name": (".ipynb", _plain),
    "Markdown": (".md", _jupytext("md")), "R Markdown": (".Rmd", _jupytext("Rmd")),
    "Quarto": (".qmd", _jupytext("Rmd")), "marimo": (".py", _marimo),
    "MyST": (".md", _jupytext("md:myst")), "tilde": (".md", lambda book: _jupytext("md")(book).replace("```", "~~~~")),
    "JSON": (".json", nbformat.writes), "browser": (".ipynb.txt", nbformat.writes),
}  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
def test_every_answer_of_every_sheet_is_found_again(writer):
    for name in SHEETS:
        book = solved(name)
        answers = read_answers([(name + WRITERS[writer][0], written(writer, name))], sheet(name))
        assert answers.status == "graded"
        before = Definitions([c.source for c in book.cells if c.cell_type == "code"])
        after = Definitions([c.source for c in answers.cells])
        for exercise in sheet(name).exercises:
            if exercise.kind == "text":
                assert writer == "pressed" or WORDS in answers.texts[exercise.id], (name, answers.texts)
            else:
                same = [ast.dump(ast.parse(d.source(exercise.function))) for d in (before, after)]
                assert same[0] == same[1], exercise.id


@pytest.mark.parametrize("writer", WRITERS)
def test_a_check_that_fails_takes_no_answer_with_it(writer):
    for name in SHEETS:
        answers = read_answers([(name + WRITERS[writer][0], written(writer, name))], sheet(name))
        functions = [e.function for e in sheet(name).exercises if e.kind != "text"]
        for cell in answers.cells:
            below = re.split(r"^check\(", cell.source, flags=re.MULTILINE)[1:]
            assert not any(defines(part, f) for part in below for f in functions), cell.source


BROKEN = """import numpy as np
def one(x):
    return x

    # %% not a cell
y = = 3
%matplotlib inline
def two(x):

    return 2 * x

check("98.2", two)
def three(x): return (
    3 * x)
"""


def test_of_a_script_that_python_cannot_read_the_rest_is_kept():
    sources = [source for _, source, _ in script_cells(BROKEN)]
    read = []
    for source in sources:
        try:
            read += [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        except SyntaxError:
            assert "= =" in source or "%" in source
    assert {"two", "three"} <= set(read)


@pytest.mark.parametrize(
    ("script", "kinds", "first"),
    [
        ("x = 1; y = 2\n", ["code"], "x = 1; y = 2"),
        ("# %%\n# %%time\nx = 1\n# %%\ny = 2", ["code", "code"], "%%time\nx = 1"),
        ("# +\nx = 1\n\ny = 2\n# -\n\nz = 3\n", ["code", "code"], "x = 1\n\ny = 2"),
        ("# a note\n\n# on f\ndef f(): pass\n", ["markdown", "code"], "a note"),
        ('# %% [markdown]\n"""\n# Title\n"""\n# %%\nx = 1', ["markdown", "code"], "# Title"),
        ("a = [\n    1,\n\n    2,\n]\nif a:\n    b = 1\n\nelse:\n    b = 2\n", ["code", "code"],
         "a = [\n    1,\n\n    2,\n]"),
        ("from __future__ import annotations\nx: Y = 1\n", ["code", "code"], "from __future__ import annotations"),
        ("@a\n# why\n@b\ndef f():\n    pass\n\n\n\n", ["code"], "@a\n# why\n@b\ndef f():\n    pass"),
        ("", [], None), ("# %%\n\n# %%\n", [], None), ("# only words", ["markdown"], "only words"),
        ("s = '''\n# a line\n\nx\n'''\n", ["code"], "s = '''\n# a line\n\nx\n'''"),
    ],
)  # fmt: skip
def test_scripts_are_cut_where_their_cells_or_statements_end(script, kinds, first):
    cells = script_cells(script)
    assert [kind for kind, *_ in cells] == kinds
    assert not cells or cells[0][1].strip("\n") == first


def test_a_script_keeps_nbgraders_metadata_and_tags():
    script = """# %% nbgrader={"grade": true, "grade_id": "check-01-1", "solution": false}
check(1)
# + tags=["check:01.2"]
check(2)
# + {"nbgrader": {"grade": false, "grade_id": "exercise-01-1"}}
x = 1
"""
    cells, _, _ = read_file("a.py", script.encode())
    assert [(c.grade_id, c.is_check) for c in cells] == [("check-01-1", True), ("", True), ("exercise-01-1", False)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "is a web page (HTML)"),
        (b"\n<html lang=en>", "is a web page (HTML)"),
        (b"PK\x03\x04\x14\x00", "is a zip archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "pointer of Git LFS"),
        (b'{\n "cells": [\n<<<<<<< HEAD\n  {},\n=======\n>>>>>>> b\n]}', "unfinished Git merge"),
        (gzip.compress(b"x")[:8], "is empty"),
        (gzip.compress(b" " * (30 << 20)), "MiB"),
        (b"%PDF-1.7 def f(x):\n", "no notebook"),
    ],
    ids=["page", "page in small letters", "zip", "LFS", "merge", "cut gzip", "gzip bomb", "PDF"],
)
def test_what_is_called_a_notebook_and_is_none_is_called_by_its_name(content, says):
    cells, _, problem = read_file("a.ipynb", content)
    assert (cells, says in problem) == ((), True), problem


BOOK = {"cells": [{"cell_type": "code", "source": ["a = 1\n", "b = 2"], "metadata": {}}], "nbformat": 4}
OLD = {"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "code", "input": "a = 1\nb = 2", "language": "python"}]}]}
OLDER = {"nbformat": 1, "cells": [{"cell_type": "code", "code": "a = 1\nb = 2"}, {"cell_type": "text", "text": "x"}]}
TEXT = json.dumps(BOOK)


@pytest.mark.parametrize(
    "content",
    [TEXT.encode(), gzip.compress(TEXT.encode()), TEXT.encode("utf-16"), TEXT.encode("utf-16-le"),
     TEXT.encode("utf-16-be"), TEXT.encode() + b"\0" * 100, (TEXT + "\n" + TEXT).encode(), json.dumps(OLD).encode(),
     json.dumps(OLDER).encode(), TEXT.encode("utf-8-sig"), json.dumps(BOOK | {"nbformat": 5}).encode()],
    ids=["4", "gzip", "utf-16", "le", "be", "zeros", "twice", "2", "1", "bom", "5"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.ipynb", "a.ipynb.json", "a.py", "a"])
def test_a_notebook_in_another_code_or_format_is_read(name, content):
    answers = read_answers([(name, content)])
    assert [cell.source for cell in answers.cells] == ["a = 1\nb = 2"], answers


def test_headings_of_format_3_are_texts_with_their_level():
    cells = [{"cell_type": "heading", "level": 2, "source": ["06.8 ", "Project"]}]
    (cell,), notes, _ = read_file("a.ipynb", json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode())
    assert (cell.kind, cell.source) == ("markdown", "## 06.8 Project")
    assert "format 3" in notes[0]


def test_a_script_beside_a_damaged_notebook_counts_if_it_answers_the_sheet():
    name = "01_perceptron"
    script = _plain(solved(name)).encode()
    damaged = (f"{name}.ipynb", b'{"cells": [')
    assert read_answers([damaged, ("mine.py", script)], sheet(name)).file == "mine.py"
    assert read_answers([damaged, ("helper.py", b"def mean(x): pass\n")], sheet(name)).status == "unreadable"
    assert read_answers([("notes.md", b"# words"), ("data.txt", b"1 2 3")], sheet(name)).status == "no notebook"
    assert "hand in the notebook itself" in read_answers([("a.html", b"<html>")], sheet(name)).says


@pytest.mark.parametrize(
    "text",
    ["# %%\n" * 200_000, "x = 1\n\n" * 140_000, "# a\n\n" * 200_000, "x = = 1\n\n" * 900, "(" * 500_000,
     "```python\n" * 90_000, "'''\n" * 200_001, "@" * 900_000, "def f(\n\n" * 990, "\n" * 999_999,
     "# +\n# -\n" * 100_000],
    ids=range(11),
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.py", "a.md"])
def test_long_scripts_are_read(name, text):
    cells, _, problem = read_file(name, text.encode())
    assert cells or problem or not set(text) - set("#%+- \n")  # read, or told why not, unless it has marks alone
    assert len(cells) <= MOST_CELLS


@pytest.mark.parametrize("writer", WRITERS)
def test_a_class_of_such_files_is_collected_without_naming_the_sheet(writer, tmp_path):
    for name in ("01_perceptron", "08_cnn_layers", "12_memory"):
        for student in ("anna", "ben"):
            (tmp_path / name / student).mkdir(parents=True)
            (tmp_path / name / student / f"hw{WRITERS[writer][0]}").write_bytes(written(writer, name))
        found = collect(tmp_path / name, SHEETS)
        assert found.sheets == (name,)
        assert [one.load()[0][0][1] for one in found.submissions] == [written(writer, name)] * 2
