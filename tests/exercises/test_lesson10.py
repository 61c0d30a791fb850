"""Sheet 10: the mistakes that students are likely to make are told by name, and each card points into the lesson."""

import numpy as np
import pytest

from course_lib.checks.exercises.lesson10 import EXERCISES
from course_lib.checks.judge import judge
from course_lib.checks.registry import find as exercise
from tests.exercises.test_card import ROOT, call_here


def told(id, answer):
    """The cause on the card of the first public case that is wrong."""
    of = exercise(id)
    for case in of.cases:
        if (finding := judge(of, case, call_here(answer, case, 10.0))) is not None:
            return finding.cause
    raise AssertionError("right in all public cases")


def test_every_card_names_a_section_that_the_lesson_has():
    lines = (ROOT / "notebooks/10_what_convnets_learn.py").read_text(encoding="utf-8").splitlines()
    assert [e.id for e in EXERCISES if f"# ## {e.section}" not in lines] == []


def eraser(score, image, size, fills):
    return covering(score, image, size, [0.0], min)


def covering(score, image, size, fills, keep):
    H, W = image.shape
    result = np.zeros((H - size + 1, W - size + 1))
    for i, j in np.ndindex(result.shape):
        falls = []
        for fill in fills:
            one = image.astype(float)
            one[i : i + size, j : j + size] = fill
            falls.append(score(image) - score(one))
        result[i, j] = keep(falls)
    return result


def smallest_score(score, image, size, fills):
    """The minimum of the scores, and not of the falls."""
    return covering(score, image, size, fills, max)


def climbing(x, w, c, steps, lr, decay, sign=1, axis=None, clip=True):
    for _ in range(steps):
        z = x @ w
        k = np.exp(z - z.max())
        k /= k.sum()
        k[c] -= 1
        dx = w @ k
        x = (1 - decay) * (x - sign * lr * dx / np.linalg.norm(dx, axis=axis))
        x = np.clip(x, 0, 1) if clip else x
    return x


def farthest(features, bank, k):
    """Sorted by minus the distance."""
    far = ((bank[:, None] - features) ** 2).sum(axis=2)
    return np.argsort(-far.T, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(
    ("id", "answer", "says"),
    [
        ("10.1", lambda w: w / np.abs(w).max(), "These go from -1 to 1"),
        ("10.1", lambda w: 0.5 + w / (2 * np.abs(w).max(axis=0)), "for each place alone"),
        ("10.2", lambda layers, h: (2 * h + 13, 2 * h), "The two are exchanged"),
        ("10.3", eraser, "The squares were filled with 0"),
        ("10.3", smallest_score, "The largest fall was kept"),
        ("10.3", lambda *a: covering(*a, np.mean), "averaged over the greys"),
        ("10.4", lambda *a: climbing(*a, sign=-1), "It walks downhill"),
        ("10.4", lambda *a: climbing(*a, clip=False), "the clip is missing"),
        ("10.5", farthest, "The farthest ones were taken"),
        ("10.6", lambda w1, b1, w3: (w1 / np.sqrt((w1**2).sum(axis=(1, 2, 3), keepdims=True)),
                                     b1 * np.sqrt((w1**2).sum(axis=(1, 2, 3))),
                                     w3 * np.sqrt((w1**2).sum(axis=(1, 2, 3)))[:, None, None]),
         "The biases were multiplied"),
    ],
)  # fmt: skip
def test_the_card_names_the_mistake(id, answer, says):
    assert says in told(id, answer)


def test_a_right_answer_of_another_form_passes_all_public_cases():
    of = exercise("10.3")
    for case in of.cases:
        assert judge(of, case, call_here(lambda *a: covering(*a, min), case, 10.0)) is None


def test_the_example_of_10_3_is_the_one_in_the_statement():
    case = exercise("10.3").cases[0]
    np.testing.assert_array_equal(covering(np.sum, *case.args[1:], min), [[-13, 14]])
    statement = (ROOT / "solutions/10_what_convnets_learn.py").read_text(encoding="utf-8")
    assert "the map is ((-13, 14))" in statement
