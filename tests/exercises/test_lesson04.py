"""Sheet 04: the mistakes that its statement and its lesson warn of are told in the sheet's own words."""

import numpy as np
import pytest

from course_lib.checks.card import card_of
from course_lib.checks.judge import judge
from course_lib.checks.registry import find as exercise
from tests.exercises.test_card import ROOT, call_here, rows


def card(of, answer):
    """The card of the first public case that is wrong."""
    for case in of.cases:
        if (finding := judge(of, case, call_here(answer, case, 10.0))) is not None:
            return card_of(of, finding, folder=ROOT / "exercises")
    raise AssertionError("right in all public cases")


def chained(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return X.T @ delta1 @ W2.T * (1 - A * A), A.T @ delta1


def chained_with_power(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return (X.T @ delta1 @ W2.T) * (1 - A**2), A.T @ delta1


def chained_with_a_name(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    slope = 1 - A**2
    return X.T @ delta1 @ W2.T * slope, A.T @ delta1


def not_transposed(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return X.T @ ((delta1 @ W2) * (1 - A * A)), A.T @ delta1


def samples_last(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return X.T @ ((delta1 @ W2.T) * (1 - A * A)), A @ delta1


def swapped(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return A.T @ delta1, X.T @ ((delta1 @ W2.T) * (1 - A * A))


def mean_over_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / O.size
    return X.T @ ((delta1 @ W2.T) * (1 - A * A)), A.T @ delta1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (chained, "With brackets, `X.T @ ((delta1 @ W2.T) * (1 - A * A))` fits and gives (2, 2)."),
        (chained_with_power, "With brackets, `X.T @ ((delta1 @ W2.T) * (1 - A ** 2))` fits and gives (2, 2)."),
        (chained_with_a_name, "With brackets, `X.T @ ((delta1 @ W2.T) * slope)` fits and gives (2, 2)."),
        (not_transposed, "delta1 is (3, 1) and W2 is (2, 1)"),
        (not_transposed, "`delta1 @ W2.T` gives (3, 2)"),
        (samples_last, "`A.T @ delta1` gives (2, 1)"),
        (swapped, "The two gradients are swapped: dW comes first, then dW2."),
        (mean_over_outputs, "The mean is over the samples, not over samples and outputs."),
    ],
)
def test_a_mistake_of_04_3_is_told_with_shapes_and_what_would_fit(answer, says):
    assert says in rows(card(exercise("04.3"), answer))["Likely cause"]


def test_a_public_case_of_04_3_has_several_outputs_and_as_many_samples_as_inputs():
    """So that a division by O.size, and the products from left to right, are seen before the sheet is handed in."""
    shapes = [(*case.args[0].shape, *case.args[2].shape) for case in exercise("04.3").cases]
    assert any(B == D and C > 1 and C != B for B, D, _, C in shapes)


@pytest.mark.parametrize("steps", [1e-5, 1e-6])
def test_an_entry_that_is_not_restored_is_said_to_be_so(steps):
    def wrong_entries(f, x, gradient):
        up, down, wrong = x.astype(float), x.astype(float), []
        for place in np.ndindex(x.shape):
            up[place] += steps
            down[place] -= steps
            if abs((f(up) - f(down)) / (2 * steps) - gradient[place]) > 1e-4:
                wrong.append(place)
        return wrong

    made = rows(card(exercise("04.4"), wrong_entries))
    assert made["Likely cause"].startswith("The entry was not restored")
