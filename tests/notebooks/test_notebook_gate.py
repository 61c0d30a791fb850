"""The gate works: nbval under our configuration passes a built notebook, and rejects each kind of corrupted output.

One pytest process tests two notebooks: one as built, and a copy in which every cell's output is corrupted in its own
way. Each cell is its own test, so that one run gives a verdict on every corruption.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import nbformat.v4 as v4
import nbval
import pytest
from gate_cases import CASES, SET_UP
from notebook_lib import clean, nbval_gate
from notebook_lib.execute import CELL_TIMEOUT
from notebook_lib.guards import executed_in_order
from notebook_samples import HEADER, broken, built

from course_lib.cli.clean import ROOT


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The notebook of all cases, as built."""
    script = tmp_path_factory.mktemp("gate") / "01_gate.py"
    cells = [("", SET_UP)] + [(f" tags={list(c.tags)}".replace("'", '"') if c.tags else "", c.source) for c in CASES]
    script.write_text(HEADER + "".join(f"\n# %%{tags}\n{source}\n" for tags, source in cells))
    return built(script)


@pytest.fixture(scope="module")
def verdicts(sample, tmp_path_factory):
    """``{"clean": {case name: passed}, "corrupted": {...}, "report": text}`` of one run of pytest."""
    folder = tmp_path_factory.mktemp("verdicts")

    def corrupt(notebook):
        for case, cell in zip(CASES, notebook.cells[1:], strict=True):
            case.corrupt(cell)

    clean.write(sample, folder / "clean.ipynb")
    clean.write(broken(sample, corrupt), folder / "corrupted.ipynb")
    options = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}", "-p", "conftest", "--junitxml=report.xml"]
    command = [sys.executable, "-m", "pytest", *options, "--color=no", "clean.ipynb", "corrupted.ipynb"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools")])}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    found = {"report": run.stdout}
    for test in ElementTree.parse(folder / "report.xml").iter("testcase"):
        notebook = "clean" if "clean" in test.get("classname") else "corrupted"
        number = int(test.get("name").removeprefix("Cell "))
        name = CASES[number - 1].name if number else "set-up"
        found.setdefault(notebook, {})[name] = len(test) == 0
    return found


def test_built_notebook_passes(verdicts):
    failed = [name for name, passed in verdicts["clean"].items() if not passed]
    assert failed == [], verdicts["report"]
    assert len(verdicts["clean"]) == len(CASES) + 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gate_judges_a_corrupted_output(verdicts, case):
    passed = verdicts["corrupted"][case.name]
    assert passed != case.rejected, verdicts["report"]


def test_a_notebook_without_execution_counts_is_caught_by_the_guard(sample):
    def strip(notebook):
        for cell in notebook.cells:
            cell.execution_count = None

    assert executed_in_order(sample) == []
    assert len(executed_in_order(broken(sample, strip))) == len(CASES) + 1


def test_gate_fits_the_installed_nbval():
    assert nbval_gate.pin_problem() is None


def test_another_nbval_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(nbval, "__version__", "0.12.0")
    assert "written for nbval 0.11.x; installed is 0.12.0. Install nbval==0.11.0" in nbval_gate.pin_problem()
    with pytest.raises(pytest.UsageError, match=r"0\.12\.0"):
        nbval_gate.pytest_configure(None)


def test_a_missing_private_name_is_refused_by_name(monkeypatch):
    monkeypatch.setitem(nbval_gate.USED, nbval.plugin, ("RunningKernel", "gone"))
    assert "without nbval.plugin.gone" in nbval_gate.pin_problem()


def test_a_kernel_that_dies_at_its_start_is_started_again(monkeypatch):
    outcomes = iter([RuntimeError("Kernel died before replying to kernel_info"), ("manager", "client")])

    def start(**options):
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(nbval.kernel, "start_new_kernel", start)
    monkeypatch.setattr(nbval_gate.CourseKernel, "_ensure_iopub_up", lambda self: None)
    kernel = nbval_gate.CourseKernel("python3")
    assert (kernel.km, kernel.kc) == ("manager", "client")
    monkeypatch.undo()
    del kernel.km  # nothing to stop


def test_after_a_timeout_the_other_cells_of_the_notebook_are_not_run():
    cell = object.__new__(nbval_gate.CourseCell)
    cell.cell, cell.options = v4.new_code_cell("1", execution_count=1), {"skip": False}
    cell.parent = SimpleNamespace(timed_out=True)
    with pytest.raises(pytest.xfail.Exception, match="took too long"):
        cell.runtest()


def test_pytest_options_are_those_of_the_gate(pytestconfig):
    assert pytestconfig.option.nbval
    assert pytestconfig.option.nbval_current_env
    assert pytestconfig.option.nbval_cell_timeout == CELL_TIMEOUT
    assert Path(nbval_gate.SANITIZE).exists()
    assert os.environ["COURSE_PROGRESS"] == "0"
