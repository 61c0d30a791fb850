"""The built sheets are what their scripts give, and unsolved ones run and fail only where they are checked."""

import copy
import json

import nbformat
import pytest
from notebook_lib.fresh_kernel import run_in_fresh_kernel
from notebook_lib.guards import executed_in_order, machine_traces, valid_format
from notebook_lib.scripts import check_pair
from notebook_lib.sheet_build import find_sheets
from notebook_lib.sheets import SheetError, read_sheet, stub_of, student_version

from course_lib.checks.registry import SHEETS, find
from course_lib.grading.keys import load_keys
from tests.setup.project import ROOT

PAIRS = {pair.script.stem: pair for pair in find_sheets(ROOT / "solutions")}
each_sheet = pytest.mark.parametrize("name", SHEETS)


@each_sheet
def test_both_notebooks_are_what_the_script_gives(name):
    assert check_pair(PAIRS[name]) is None


@each_sheet
def test_a_solved_sheet_is_whole_and_names_no_machine(name):
    notebook = nbformat.read(PAIRS[name].notebook, as_version=4)
    assert valid_format(notebook) == executed_in_order(notebook) == []
    assert machine_traces(PAIRS[name].notebook.read_text(encoding="utf-8")) == []


@each_sheet
def test_an_unsolved_sheet_fails_in_its_checks_only_and_says_so_kindly(name):
    keys = load_keys(ROOT / "solutions" / "keys", name)
    untouched = {f"check-{id.replace('.', '-')}": key.untouched for id, key in keys.items()}
    notebook = nbformat.read(PAIRS[name].student, as_version=4)
    run_in_fresh_kernel(notebook, ROOT, timeout=120, allow_errors=True)
    for number, cell in enumerate(notebook.cells, start=1):
        errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            assert [e.ename for e in errors] == ["CheckFailed"], f"cell {number}"
            assert (untouched[cell.metadata["nbgrader"]["grade_id"]] or "is not written yet") in errors[0].evalue
        else:
            assert errors == [], f"cell {number}: {errors}"


@pytest.mark.parametrize("change", ["source", "metadata", "stub", "output in a stub"])
def test_drift_is_found(change, tmp_path):
    pair = next(iter(PAIRS.values()))
    copies = {n: tmp_path / n / pair.script.name for n in ("solutions", "exercises")}
    for path in copies.values():
        path.parent.mkdir()
    script = copies["solutions"]
    script.write_text(pair.script.read_text(encoding="utf-8"), encoding="utf-8")
    moved = type(pair)(script, script.with_suffix(".ipynb"), copies["exercises"].with_suffix(".ipynb"))
    solved, student = (json.loads(p.read_text(encoding="utf-8")) for p in (pair.notebook, pair.student))
    moved.notebook.write_text(pair.notebook.read_text(encoding="utf-8"), encoding="utf-8")
    moved.student.write_text(pair.student.read_text(encoding="utf-8"), encoding="utf-8")
    assert check_pair(moved) is None
    book = copy.deepcopy(solved if change in ("source", "metadata") else student)
    cell = next(c for c in book["cells"] if c["cell_type"] == "code" and c["metadata"].get("nbgrader"))
    if change == "metadata":
        cell["metadata"]["nbgrader"]["points"] = 99
    elif change == "output in a stub":
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["42\n"]}]
    else:
        cell["source"] = [*cell["source"], "\n# more"]
    target = moved.notebook if change in ("source", "metadata") else moved.student
    target.write_text(json.dumps(book), encoding="utf-8")
    assert check_pair(moved) is not None


def test_a_cell_without_a_marked_region_is_refused(tmp_path):
    file = tmp_path / "01_perceptron.py"
    file.write_text('# %% exercise="01.1"\ndef fit_line(x, y):\n    return 1, 2\n', encoding="utf-8")
    with pytest.raises(SheetError, match=r"exercise 01\.1: its cell needs one '### BEGIN SOLUTION'"):
        read_sheet(file)


def test_students_get_no_line_of_a_solution():
    for name, pair in PAIRS.items():
        text = nbformat.writes(student_version(read_sheet(pair.script), name))
        assert "SOLUTION" not in text
        assert "BROKEN" not in text
        assert text.count("NotImplementedError") >= 3


REPAIR = """# %% exercise="11.5"
def brighten(image, gain, out):
    ### BEGIN BROKEN
    return 1
    ### END BROKEN
    ### BEGIN SOLUTION
    return 2
    ### END SOLUTION
"""


def _read(tmp_path, text):
    file = tmp_path / "11_gpu_programming_model.py"
    file.write_text(text, encoding="utf-8")
    return read_sheet(file)


def test_of_an_answer_to_repair_students_get_the_broken_lines_and_instructors_the_solution(tmp_path):
    (cell,) = _read(tmp_path, REPAIR).cells
    head = "def brighten(image, gain, out):"
    assert cell.source == f"{head}\n    ### BEGIN SOLUTION\n    return 2\n    ### END SOLUTION"
    assert stub_of(cell, find("11.5")) == f"{head}\n    return 1"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("    ### END BROKEN\n", ""), "needs one '### BEGIN BROKEN' and one '### END BROKEN', or neither"),
        (("    return 1\n", "    ### BEGIN BROKEN\n"), "needs one '### BEGIN BROKEN'"),
        (("    ### END BROKEN\n", "    ### END BROKEN\n    x = 3\n"), "directly above '### BEGIN SOLUTION'"),
        (("    return 1\n", "\n"), "broken lines that are empty, or equal to the solution"),
        (("    return 1\n", "    return 2\n"), "broken lines that are empty, or equal to the solution"),
        (("# %% exercise", "# %% check"), "in a cell that is no exercise's"),
    ],
    ids=str,
)
def test_broken_lines_that_are_not_as_they_must_be_are_refused(change, says, tmp_path):
    assert change[0] in REPAIR
    with pytest.raises(SheetError, match=says):
        _read(tmp_path, REPAIR.replace(*change))
