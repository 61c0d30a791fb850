"""`check` says at once what is wrong, and how far the sheet is; `course check` says the same of a whole file."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from course_lib.checks import CheckFailed, check
from course_lib.checks.calling import call_answer, call_here
from course_lib.checks.differences import difference
from course_lib.checks.exercise import Case, Cause, Exercise
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import NOT_STARTED, Outcome, judge
from course_lib.checks.registry import SHEETS, find, sheet
from course_lib.cli import app
from tests.setup.project import ROOT


def mean_square(a, b):
    """Return what the exercise of these tests asks for."""
    return float(((a - b) ** 2).mean())


EXERCISE = Exercise(
    "04.1", "mean_square", "Mean square", 2, "core", "losses", "the course's own", 1, mean_square,
    (Case((np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 1.0])), "three numbers"),),
    (Cause("It is the sum: divide by n.", lambda a, b: int(((a - b) ** 2).sum())),),
    instead_of=("quadratic_cost",),
)  # fmt: skip

ANSWERS = {
    "a sum": (lambda a, b: ((a - b) ** 2).sum(), r"result is 10, expected 3\.33333333\. It is the sum: divide by n\."),
    "nothing returned": (lambda a, b: None, r"result is None, expected a number\. Is there a return\?"),
    "no number": (lambda a, b: "3.3", "result is a text, expected a number"),
    "an array": (lambda a, b: (a - b) ** 2, r"result has shape \(3,\), expected a number"),
    "an error": (lambda a, b: a.nothing, "raises AttributeError: 'numpy.ndarray' object has no attribute 'nothing'"),
    "the wrong sign": (lambda a, b: -mean_square(a, b), "It has the wrong sign"),
    "NaN": (lambda a, b: float("nan"), "NaN or infinite"),
    "a changed argument": (lambda a, b: (a.sort(), a.fill(0), mean_square(a, b))[2], "changes argument 1 in place"),
    "too large": (lambda a, b: 10**400, "expected"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_wrong_answer_is_told_why(answer):
    function, message = ANSWERS[answer]
    (case,) = EXERCISE.cases
    finding = judge(EXERCISE, case, call_here(function, case))
    assert finding is not None
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(finding.says)


@pytest.mark.parametrize("answer", ANSWERS)
def test_of_a_hidden_case_no_number_is_told(answer):
    function, _ = ANSWERS[answer]
    (case,) = EXERCISE.cases
    says = judge(EXERCISE, case, call_here(function, case), reveal=False).says
    assert "mean_square on a hidden case" in says
    assert not any(number in says for number in ("3.33", "10,", "[1.", "three numbers"))


def test_a_right_answer_may_be_of_any_kind_of_number():
    (case,) = EXERCISE.cases
    for function in (mean_square, lambda a, b: np.float64(mean_square(a, b)), lambda a, b: np.array(mean_square(a, b))):
        assert judge(EXERCISE, case, call_here(function, case)) is None


def test_a_stub_is_told_kindly():
    (case,) = EXERCISE.cases
    finding = judge(EXERCISE, case, Outcome(error="NotImplementedError: 04.1"))
    assert (finding.cause, "is not written yet" in finding.says) == (NOT_STARTED, True)


@pytest.mark.parametrize(
    ("value", "expected", "same"),
    [
        (1, True, False), (True, 1, False), (1.0, 1, False), (1, 1.0, True), ([1, 2], (1, 2), True),
        ((1,), (1, 2), False),
        (np.arange(3), [0, 1, 2], True), ([0, 1, 2], np.arange(3), True), ([], np.zeros((0, 3)), True),
        (np.zeros((0, 2)), [], True), ([], np.zeros((2, 0)), False), (np.array([]), np.arange(0), True),
        ([[1, 2], [3]], np.zeros((2, 2)), False), ([None, 1], np.zeros(2), False), (np.ones(1), 1.0, False),
        ([np.arange(2), (2, 3)], np.arange(4).reshape(2, 2), True), ([2**70], np.zeros(1), False),
        ("a", "a", True), (None, None, True),
        ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"b": 1}, False), (float("inf"), float("inf"), True),
        (np.zeros((2, 3)), np.zeros((3, 2)), False), (1 + 1e-12, 1.0, True), (1 + 1e-6, 1.0, False),
    ],
    ids=str,
)  # fmt: skip
def test_what_counts_as_equal(value, expected, same):
    assert (difference(value, expected, 1e-9, 1e-12) is None) == same


@pytest.mark.parametrize(
    ("value", "expected", "says"),
    [
        (True, False, "result is True, expected False."),
        (
            np.array([True, False]),
            np.array([True, True]),
            "result[1] is False, expected True; 1 of 2 values are wrong.",
        ),
        ([1, 2], [1], "result is [1, 2]: 2 values, expected 1 value."),
        ([1], [1, 2], "result is [1]: 1 value, expected 2 values."),
        (np.ones((2, 2)), (np.ones((2, 2)), 1), "result is an array of shape (2, 2), expected 2 values."),
        (np.ones((1, 2)), (np.ones((1, 2)), 1), "result is an array of shape (1, 2), expected 2 values."),
        (np.array([3.0]), np.array([4.0]), "result[0] is 3, expected 4."),
        (2**60 + 1, 2**60, f"result is {2**60 + 1}, expected {2**60}."),
        (2**70, 2**71, f"result is {2**70}, expected {2**71}."),
    ],
    ids=str,
)
def test_a_difference_is_said_in_words_that_fit(value, expected, says):
    assert difference(value, expected, 1e-9, 1e-12).detail == says


def test_an_answer_may_not_use_the_librarys_and_may_use_its_name_for_something_else():
    says = "mean_square uses quadratic_cost, which is to be written here without it."
    assert forbidden_use(EXERCISE, "def mean_square(a, b):\n    return ops.quadratic_cost(a, b)") == says
    assert forbidden_use(EXERCISE, "from x import quadratic_cost as q") == says
    own = "def mean_square(a, b):\n    quadratic_cost = a - b\n    return quadratic_cost"
    assert forbidden_use(EXERCISE, own) == ""
    assert forbidden_use(EXERCISE, "no Python (") == ""


def test_sys_exit_in_an_answer_is_an_error_and_an_interrupt_is_not():
    def leaves():
        raise SystemExit(0)

    def stopped():
        raise KeyboardInterrupt

    assert call_answer(leaves, ())[1] == "SystemExit: 0"
    with pytest.raises(KeyboardInterrupt):
        call_answer(stopped, ())


def test_the_parts_of_a_result_are_called_by_their_names():
    exercise, case = find("12.7"), find("12.7").cases[0]
    for value, says in [
        (("memory", 3.0), ": the time is 3, expected 0.002."),
        (("arithmetic", 0.002), ": the roof is 'arithmetic', expected 'memory'."),
        (0.002, ": result is a number, expected 2 values (the roof, the time)."),
    ]:
        assert says in judge(exercise, case, Outcome(value)).says


def test_every_part_of_a_result_with_named_parts_has_its_name():
    for exercise in (e for name in SHEETS for e in sheet(name).exercises if getattr(e, "parts", ())):
        for case in exercise.cases:
            assert len(exercise.expect(*case.args)) == len(exercise.parts)


def test_check_prints_how_far_the_sheet_is_and_raises_what_is_wrong(capsys):
    def fit_line(x, y):
        w = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
        return w, y.mean() - w * x.mean()

    check("01.1", fit_line)
    said = capsys.readouterr().out
    assert said.startswith("01.1 The line of least squares: right in all")
    assert said.rstrip().endswith("Solved: 1 of 5.")
    check("12.5", lambda stride: 32 // len(np.unique(stride * np.arange(32) % 32)) if stride else 1)
    assert capsys.readouterr().out.endswith("Solved: 1 of the 7 that are checked here; 1 more to answer in words.\n")
    with pytest.raises(CheckFailed, match=r"^01\.1: fit_line\("):
        check("01.1", lambda x, y: (0, 0))
    check("01.1", fit_line)
    with pytest.raises(TypeError, match=r"01\.1 needs fit_line itself, without brackets; got int"):
        check("01.1", 3)
    with pytest.raises(LookupError, match=r"there is no exercise '01\.77'; 01_perceptron has 01\.1"):
        check("01.77", fit_line)
    with pytest.raises(LookupError, match="ids begin with 01, 02"):
        check("99.1", fit_line)


def test_a_text_question_cannot_be_checked():
    with pytest.raises(TypeError, match="is answered in words"):
        check("09.8", len)


def _half_solved(tmp_path, change=lambda book: None):
    book = json.loads((ROOT / "solutions" / "01_perceptron.ipynb").read_text(encoding="utf-8"))
    stubs = json.loads((ROOT / "exercises" / "01_perceptron.ipynb").read_text(encoding="utf-8"))
    cells = [i for i, c in enumerate(book["cells"]) if "exercise-01-3" in json.dumps(c["metadata"])]
    book["cells"][cells[0]]["source"] = stubs["cells"][cells[0]]["source"]
    change(book)
    file = tmp_path / "01_perceptron.ipynb"
    file.write_text(json.dumps(book), encoding="utf-8")
    return file


def test_course_check_runs_a_whole_sheet_in_a_process_of_its_own(tmp_path, capfd):
    done = CliRunner().invoke(app, ["check", str(_half_solved(tmp_path))])
    said = capfd.readouterr().out
    assert done.exit_code == 1
    assert "4 of 5 are right in the public check." in said
    assert "to do    01.3" in said


def test_course_check_tells_of_cells_that_fail_and_goes_on(tmp_path, capfd):
    def spoil(book):
        book["cells"].insert(2, {"cell_type": "code", "source": "1 / 0", "metadata": {}, "outputs": []})
        book["cells"].append({"cell_type": "code", "source": "input()", "metadata": {}, "outputs": []})

    CliRunner().invoke(app, ["check", str(_half_solved(tmp_path, spoil))])
    said = capfd.readouterr().out
    assert "raises ZeroDivisionError" in said
    assert "4 of 5 are right" in said


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", "Übung".encode("latin-1")])
def test_course_check_of_no_notebook_says_so(content, tmp_path):
    file = tmp_path / "01_perceptron.ipynb"
    file.write_bytes(content)
    done = CliRunner().invoke(app, ["check", str(file)])
    assert (done.exit_code, "01_perceptron.ipynb is no notebook" in done.output) == (2, True)


def test_course_check_of_another_file_says_which_sheets_there_are(tmp_path, capfd):
    file = tmp_path / "mine.ipynb"
    file.write_text('{"cells": []}')
    assert CliRunner().invoke(app, ["check", str(file)]).exit_code == 2
    assert "its name should be one of 01_perceptron" in capfd.readouterr().out
