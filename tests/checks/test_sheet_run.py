"""`course check`: which sheet a file is, and what is said of a file that is none."""

import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from course_lib import simt
from course_lib.checks import calling, sheet_run
from course_lib.checks.kernels import IMPORTS
from course_lib.checks.registry import SHEETS, sheet
from course_lib.checks.sheet_run import main
from course_lib.grading.definitions import Definitions
from course_lib.grading.sheet_names import Names
from tests.setup.project import ROOT

SHEET = ROOT / "exercises" / "01_perceptron.ipynb"


@pytest.mark.parametrize("called", ["01_perceptron.ipynb", "Perceptron (2).ipynb", "x.ipynb"])
def test_a_sheet_is_known_by_its_name_or_its_cells(called, tmp_path, capsys):
    shutil.copyfile(SHEET, tmp_path / called)
    assert main(tmp_path / called) == 1
    assert "0 of 5 are right in the public check." in capsys.readouterr().out


LESSONS = [name for name in SHEETS if (ROOT / "notebooks" / f"{name}.ipynb").exists()]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_not_taken_for_its_sheet(name, capsys):
    assert main(ROOT / "notebooks" / f"{name}.ipynb") == 2
    said = capsys.readouterr().out
    assert f"The sheet is exercises/{name}.ipynb." in said
    assert "NameError" not in said


def test_a_source_that_a_lesson_cites_twice_is_no_exercise():
    assert Names(SHEETS).in_cells(b'<a id=\\"cited-10-2\\" href=\\"#source-10\\">') == ""
    assert Names(SHEETS).in_cells(b'"id": "exercise-10-2"') == "10_what_convnets_learn"


def test_one_answer_without_metadata_is_checked_where_the_sheet_is_named(tmp_path, capsys):
    (tmp_path / "01_perceptron.py").write_text("def margin(x, y, w):\n    return 0.0\n")
    assert main(tmp_path / "01_perceptron.py") == 2
    assert "say so: --sheet 01_perceptron" in capsys.readouterr().out
    assert main(tmp_path / "01_perceptron.py", "01_perceptron") == 1
    assert "0 of 5 are right" in capsys.readouterr().out


def test_a_notebook_without_a_sheets_name_or_cells(tmp_path, capsys):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "x.ipynb")
    assert main(tmp_path / "x.ipynb") == 2
    assert "x.ipynb is no sheet" in capsys.readouterr().out


def test_a_sheet_that_is_not_there(capsys):
    assert main(SHEET, "01_perceptrons") == 2
    assert "There is no sheet 01_perceptrons; there are 01_perceptron, " in capsys.readouterr().out


def test_a_sheet_may_be_named_by_its_number(capsys):
    assert main(SHEET, "01") == 1
    assert "0 of 5 are right" in capsys.readouterr().out


RIGHT = """import numpy as np
from course_lib.checks import check

def margin(x, y, w):
    z = x @ w[:-1] + w[-1]
    return np.min(np.where(y == 1, z, -z)) / np.linalg.norm(w[:-1])
"""
ODD = (
    "import os\nos._exit(0)",
    "import sys\nsys.exit(0)",
    "exit()",
    "class End(BaseException): pass\nraise End",
    "1 / 0",
    "def broken(:",
    "age = int(input())",
    "import threading\nt = threading.Thread(target=check, args=('01.3', margin))\nt.start()\nt.join()",
    "import builtins, sys\nbuiltins.input = sys.modules['__main__'] = None",
    "np = margin = None",
)


def test_an_odd_cell_costs_no_answer_and_every_line_is_said(tmp_path):
    cells = [nbformat.v4.new_code_cell(cell) for cell in (RIGHT, "check('01.3', margin)", *ODD)]
    book = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(book, tmp_path / "01_perceptron.ipynb")
    command = [sys.executable, "-m", "course_lib.checks.sheet_run", "01_perceptron.ipynb", "01_perceptron"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert "right    01.3" in run.stdout
    assert "1 of 5 are right in the public check." in run.stdout
    for told in ("SystemExit", "End", "ZeroDivisionError", "SyntaxError", "ValueError", "answered with an empty text"):
        assert told in run.stdout


def test_an_answer_without_end_is_stopped_and_the_others_are_checked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(calling.call_here, "__defaults__", (0.3,))
    monkeypatch.setattr(sheet_run, "CELL_SECONDS", 0.3)
    (tmp_path / "01_perceptron.py").write_text(
        "import numpy as np\n\n"
        "def corrections_needed(z, x, y, lr):\n    while True:\n        z += 1\n\n"
        "def margin(x, y, w):\n    return np.ones(3) @ x\n\n"
        "while True:\n    pass\n"
    )
    assert main(tmp_path / "01_perceptron.py", "01_perceptron") == 1
    said = capsys.readouterr().out
    assert "does not end; it was stopped after 0.3 s." in said
    assert "not yet  01.2 How often must it be shown? · not right yet\n" in said
    assert "no result: it does not end, and was stopped after 0.3 s" in said
    assert "in line 2: `while True:`" in said or "in line 3: `z += 1`" in said  # of its cell
    assert "0 of 5 are right" in said


@pytest.mark.parametrize("name", LESSONS)
def test_lines_of_a_kernel_are_told_by_the_numbers_of_its_cell(name):
    cells = [c.source for c in nbformat.read(ROOT / "solutions" / f"{name}.ipynb", 4).cells if c.cell_type == "code"]
    definitions = Definitions(cells)
    for exercise in (e for e in sheet(name).exercises if e.kind == "kernel"):
        text, numbers = definitions.answer(exercise), definitions.numbers(exercise)
        (own,) = [c for c in cells if f"def {exercise.function}(" in c]
        written = text.splitlines()
        assert len(numbers) == len(written)
        first = next(i for i, line in enumerate(written) if line.startswith(f"def {exercise.function}("))
        assert numbers[first] == own.splitlines().index(written[first]) + 1
        options = {"names": dict(exercise.names), "imports": IMPORTS, "skip": True}
        said = simt.read(text, exercise.function, numbers=numbers, **options)
        lines = own.splitlines()
        assert said.lines == {n: lines[n - 1] for n in said.lines}
        assert said.tree.lineno == numbers[first]


def test_a_finding_of_course_check_names_the_line_of_the_cell(tmp_path, capsys):
    shutil.copyfile(ROOT / "exercises" / "14_matrix_multiplication.ipynb", tmp_path / "14_matrix_multiplication.ipynb")
    cells = [c.source for c in nbformat.read(tmp_path / "14_matrix_multiplication.ipynb", 4).cells]
    (broken,) = [c.splitlines() for c in cells if "def dense_relu(" in c]
    assert main(tmp_path / "14_matrix_multiplication.ipynb") == 1
    said = " ".join(capsys.readouterr().out.split())
    line = next(n for n, text in enumerate(broken, 1) if "ws[ty, tx] = w" in text)
    other = next(n for n, text in enumerate(broken, 1) if "z += xs[ty, k]" in text)
    assert f"Line {line}, ws[ty, tx] = w" in said
    assert f"read in line {other}, with no barrier" in said
