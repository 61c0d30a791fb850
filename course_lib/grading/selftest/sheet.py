"""The sheet that hostile submissions answer: four small functions, two points each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.grading.keys import Key, Part

SHEET = "00_selftest"
"""What the sheet is called; it is no lesson and no student gets it."""


HIDDEN = 918273645
"""A number of a hidden case; no result may say it."""


def _exercise(number, function, title, expect, cases, **more):
    facts = {"points": 2, "level": "core", "concept": "grading", "source": "the course's own", "lines": 1} | more
    return Exercise(f"00.{number}", function, title, expect=expect, cases=tuple(Case(args) for args in cases), **facts)


EXERCISES = (
    _exercise(1, "line", "Two x plus one", lambda x: 2 * x + 1, [(np.array([1.0, 2.0]),), (np.array([-3.0]),)]),
    _exercise(2, "above", "How many are above t", lambda x, t: int((x > t).sum()), [(np.array([1.0, 5.0, 3.0]), 2.0)]),
    _exercise(3, "middle", "The mean", lambda x: float(x.mean()), [(np.array([1.0, 2.0, 6.0]),)]),
    _exercise(
        4, "clipped", "Negative numbers become zero", lambda x: np.where(x > 0, x, 0.0),
        [(np.array([-1.0, 2.0, 0.0]),)], instead_of=("maximum", "relu_forward"),
    ),
)  # fmt: skip
"""What is public of the sheet."""


def _vectors(rng):
    return [Case((rng.normal(size=n),)) for n in (1, 4, 7)]


def _thresholds(rng):
    return [Case((rng.normal(size=n), t)) for n, t in ((5, 0.0), (9, 0.5), (3, -9.0))]


def _matrices(rng):
    return [*(Case((rng.normal(size=shape),)) for shape in ((2, 3), (3, 1))), Case((np.array([[float(HIDDEN)]]),))]


KEYS = (
    Key("00.1", (Part("other lengths", 1, _vectors), Part("matrices", 2, _matrices)), ()),
    Key("00.2", (Part("other numbers", 1, _thresholds),), ()),
    Key("00.3", (Part("other lengths", 1, _vectors), Part("matrices", 2, _matrices)), ()),
    Key("00.4", (Part("other lengths", 1, _vectors), Part("matrices", 2, _matrices)), ()),
)
"""What is hidden of the sheet."""
