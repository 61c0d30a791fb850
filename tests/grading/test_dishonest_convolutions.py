"""Dishonest answers of the convolution project get nothing, and are told the true reason."""

import pytest
from notebook_lib.kill import run_answer

from course_lib.checks.registry import find
from course_lib.grading.keys import score
from tests.grading.dishonest_convolutions import C1, DISHONEST, parts


def graded(id, text):
    """(points, all reasons) of an answer, by the key's parts."""
    exercise = find(id)
    results = run_answer(exercise, parts(id), text, {})
    return score(exercise.points, results, exercise.required), " | ".join(r.says for r in results if not r.passed)


@pytest.mark.parametrize(("id", "text", "says", "most"), DISHONEST.values(), ids=DISHONEST)
def test_it_gets_nothing_and_is_told_why(id, text, says, most):
    points, told = graded(id, text)
    assert says in told
    assert points <= most


def test_nothing_of_the_answers_was_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a decorator that runs something", "a default that runs something", "a patched checker and a printed "
                 "score"):  # fmt: skip
        id, text, *_ = DISHONEST[name]
        graded(id, text)
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


def test_the_honest_kernel_they_were_made_of_has_all_points():
    assert graded("project.10", C1) == (7, "")
