"""An array where Python wants one value: told on the card with the line and what works on arrays, on every sheet."""

import math

import numpy as np
import pytest

from course_lib.checks import Case, Exercise
from course_lib.checks.calling import call_here
from course_lib.checks.card import card_of
from course_lib.checks.judge import judge
from course_lib.checks.registry import find
from course_lib.checks.single_values import single_value_error
from tests.setup.project import ROOT

X = np.array([1.0, -2.0, 5.0])


def by_if(x):
    if x > 0:
        return x
    return -x


def by_elif(x):
    if x is None:
        return x
    elif abs(x) <= 2:
        return 2 * x
    return -x


def by_ternary(x):
    return x if x > 0 else -x


def by_name(x):
    positive = x > 0
    if positive:
        return x
    return -x


def by_not(x):
    if not x > 0:
        return -x
    return x


def by_while(x):
    while x > 1:
        x = x / 2
    return x


def by_two(x):
    if x > 0 and x < 3:
        return x
    return -x


def by_and(x):
    return (x > 0) and (x < 3)


def by_or(x):
    return x < 0 or x > 3


def by_not_alone(x):
    return not x


def by_chain(x):
    return 0 < x < 3


def by_max(x):
    return max(0, x)


def by_min(x):
    return min(x, 3)


def by_max_of_rows(x):
    return max(np.stack([x, -x]))


def by_any(x):
    return any(np.stack([x, -x]) > 0)


def by_in(x):
    return x in [x + 1]


def by_index(x):
    return [x + 1, x].index(x)


def by_comprehension(x):
    return [i for i in range(3) if x > i]


def by_math(x):
    return math.exp(x)


def by_float(x):
    return float(x)


def by_int(x):
    return int(x)


def by_element(x):
    out = np.zeros(3)
    out[0] = x
    return out


def by_empty(x):
    if x[x > 9]:
        return x
    return -x


SAID = [
    (by_if, 2, "`x > 0` is an array of shape (3,), with one answer for each element; `if` wants"),
    (by_if, 2, "`np.where(x > 0, a, b)` takes a where the condition is True"),
    (by_if, 2, "with a mask, `result[x > 0] = ...` sets only those elements"),
    (by_elif, 4, "`abs(x) <= 2` is an array of shape (3,), with one answer for each element; `elif` wants"),
    (by_ternary, 2, "`np.where(x > 0, a, b)`"),
    (by_name, 3, "`np.where(positive, a, b)`"),
    (by_not, 2, "`np.where(x > 0, a, b)`"),
    (by_while, 2, "`while` wants a single True or False. If you mean all of them, write `np.all(x > 1)`"),
    (by_two, 2, "Between arrays `and` becomes `&`, with each condition in brackets."),
    (by_and, 2, "Element by element it is `&`: `(x > 0) & (x < 3)`"),
    (by_or, 2, "Element by element it is `|`: `(x < 0) | (x > 3)`"),
    (by_not_alone, 2, "`~(x)`"),
    (by_chain, 2, "For arrays: `(0 < x) & (x < 3)`"),
    (by_max, 2, "`np.maximum(0, x)` takes them element by element"),
    (by_min, 2, "`np.minimum(x, 3)` takes them element by element"),
    (by_max_of_rows, 2, "`np.max(np.stack([x, -x]))` takes all elements of an array"),
    (by_any, 2, "`np.any(np.stack([x, -x]) > 0)` takes all elements of an array"),
    (by_in, 2, "`np.array_equal(a, b)`"),
    (by_index, 2, "`np.array_equal(a, b)`"),
    (by_comprehension, 2, "`x > i` is an array of shape (3,)"),
    (by_math, 2, "`math.exp` takes a single number, and `x` is an array. `np.exp(x)` works on each element."),
    (by_float, 2, "For each element: `x.astype(float)`."),
    (by_int, 2, "For each element: `x.astype(int)`."),
    (by_element, 3, "The place on the left takes one number"),
    (by_empty, 2, "The array is empty"),
]


@pytest.mark.parametrize(("answer", "line", "says"), SAID)
def test_the_card_names_the_line_and_what_works_on_arrays(answer, line, says):
    of = Exercise("02.3", "f", "Any", 2, "core", "arrays", "the course's own", 2, np.abs, (Case((X,), "three"),), ())
    (case,) = of.cases
    made = card_of(of, judge(of, case, call_here(answer, case, 10.0)), folder=ROOT / "exercises")
    shown = {row.label: row.text for row in made.rows}
    assert says in shown["Likely cause"]
    first = answer.__code__.co_firstlineno
    assert any(f"line {first + line - 1}: `" in text for text in shown.values())


def robust_by_if(X, y, w, limit):
    error = X @ w - y
    if abs(error) <= limit:  # noqa: SIM108
        slope = error
    else:
        slope = limit * np.sign(error)
    return X.T @ slope


def test_on_sheet_03_an_if_on_the_errors_is_told_with_its_condition():
    of = find("03.2")
    told = [call_here(robust_by_if, case).told for case in of.cases if len(case.args[1]) > 1]
    assert told
    assert all("`np.where(abs(error) <= limit, a, b)`" in text for text in told)


@pytest.mark.parametrize(
    "says",
    [
        "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
        "only size-1 arrays can be converted to Python scalars",
        "only length-1 arrays can be converted to Python scalars",
        "only 0-dimensional arrays can be converted to Python scalars",
        "only integer scalar arrays can be converted to a scalar index",
        "type numpy.ndarray doesn't define __round__ method",
        "setting an array element with a sequence.",
    ],
)
def test_every_wording_is_told_where_the_line_is_not_known(says):
    kind = ValueError if says.startswith(("The truth", "setting")) else TypeError
    assert len(single_value_error(kind(says), None)) > 60


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("truth value of an array"), TypeError("not callable")])
def test_other_errors_are_left_alone(error):
    assert single_value_error(error, None) == ""
