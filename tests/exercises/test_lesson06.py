"""The causes of sheet 06: none is blamed by chance, each shows in a public case, NaN is compared with NaN."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.checks.card import card_of
from course_lib.checks.differences import difference
from course_lib.checks.exercises.lesson06 import EXERCISES
from course_lib.checks.judge import _as_floats as floats
from course_lib.checks.judge import judge
from course_lib.checks.registry import find as exercise
from course_lib.checks.values import resolve
from tests.exercises.test_card import ROOT, call_here, rows

CODE = [e for e in EXERCISES if e.kind != "text"]


def arguments(case):
    return [resolve(a) for a in case.args]


def value_of(cause, case):
    """What an answer with this mistake returns, or None where the mistake is not possible."""
    try:
        with np.errstate(all="ignore"):
            return floats(cause.wrong(*arguments(case)))
    except Exception:
        return None


def same(one, other, of):
    """As the judge compares an answer with a cause."""
    if one is None or other is None:
        return False
    with np.errstate(all="ignore"):
        return difference(one, other, max(of.rtol, 1e-9), of.atol) is None


@pytest.fixture(scope="module", params=CODE, ids=lambda e: e.id)
def shown(request):
    """An exercise, and {place of a cause: (case where it first shows, places of the causes that fit there)}."""
    of, found = request.param, {}
    for case in of.cases:
        right, values = floats(of.expect(*arguments(case))), [value_of(cause, case) for cause in of.causes]
        for k, mistaken in enumerate(values):
            if k not in found and mistaken is not None and not same(mistaken, right, of):
                found[k] = case, [j for j, other in enumerate(values) if same(mistaken, other, of)]
    return of, found


def test_the_cause_that_is_named_is_the_mistake_that_was_made(shown):
    of, found = shown
    says = [cause.says for cause in of.causes]
    blamed = [(says[k], says[fits[0]], case.note) for k, (case, fits) in found.items() if says[fits[0]] != says[k]]
    assert blamed == []


def test_every_named_mistake_shows_in_a_public_case(shown):
    of, found = shown
    assert [cause.says for k, cause in enumerate(of.causes) if k not in found] == []


def test_every_card_names_a_section_that_the_lesson_has():
    lesson = Path(__file__).parents[2] / "notebooks" / "06_training_an_mlp.py"
    lines = lesson.read_text(encoding="utf-8").splitlines()
    assert [e.id for e in CODE if f"# ## {e.section}" not in lines] == []


def likely(number, answer):
    """The cause that the card of the first wrong public case names."""
    of = exercise(number)
    for case in of.cases:
        if (finding := judge(of, case, call_here(answer, case, 10.0))) is not None:
            return rows(card_of(of, finding, folder=ROOT / "exercises"))["Likely cause"]
    raise AssertionError("right in all public cases")


def one_maximum(z, tau):
    z = z / tau
    powers = np.exp(z - z.max())
    return powers / powers.sum(axis=1, keepdims=True)


def no_columns(z, tau):
    z = z / tau
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1)


def in_place(w, curvature, lr, momentum, steps):
    path, v = [w.copy()], np.zeros(len(w))
    w = w.copy()
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w += v
        path.append(w.copy())
    return np.array(path, dtype=float)


def transposed_product(x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng):
    w1, b1, *_ = params
    return x @ w1.T + b1


@pytest.mark.parametrize(
    ("number", "answer", "says"),
    [
        ("06.1", one_maximum, "each row needs its own maximum"),
        ("06.1", no_columns, "powers is (2, 3) and powers.sum(axis=1) is (2,)"),
        ("06.1", no_columns, "keepdims=True keeps it there, with length 1."),
        ("06.7", transposed_product, "`x @ w1` gives (4, 3)"),
        ("06.3", in_place, "An array of whole numbers cannot take fractions in place."),
    ],
)
def test_what_goes_wrong_with_rows_columns_and_whole_numbers_is_told(number, answer, says):
    with np.errstate(all="ignore"):
        assert says in likely(number, answer)
