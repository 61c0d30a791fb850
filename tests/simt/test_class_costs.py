"""Costs of classes: as far from a card's counts as `class_costs` says, and a value for everything in the corpora."""

import math

import fit_classes
import numpy as np
import pytest

from course_lib.simt.estimate import class_costs
from course_lib.simt.estimate.class_costs import COSTS, instructions_of
from course_lib.simt.estimate.classes import CLASSES


@pytest.fixture(scope="module")
def rows():
    return fit_classes.rows()


def test_costs_are_those_of_the_fit(rows):
    costs = fit_classes.fitted([(classes, number) for _, classes, number, *_ in rows])
    assert costs == {name: pytest.approx(cost, abs=0.051) for name, cost in COSTS.items()}
    assert set(COSTS) == set(CLASSES) == set(fit_classes.GUESS)


def test_guessed_instructions_are_as_far_off_as_is_said(rows):
    assert len(rows) == 78
    said = f"{fit_classes.typical(rows, COSTS):.2f} on average"
    assert said in " ".join(class_costs.__doc__.split())
    errors = fit_classes.errors(rows, COSTS)
    within = sum(error < math.log(2) for error in errors)
    assert f"{within} of them within a factor of 2, and {math.exp(max(errors)):.1f} at the worst" in " ".join(
        class_costs.__doc__.split()
    )


def test_they_are_nearer_than_a_guess_from_all_operations_alike(rows):
    from course_lib.simt.estimate.by_source import instructions

    by_source = [abs(math.log(instructions(report, math.prod(report.grid) * -(-math.prod(report.block) // 32))[0] / n))
                 for _, _, n, report, _ in rows]  # fmt: skip
    assert fit_classes.typical(rows, COSTS) < 0.95 * math.exp(np.mean(by_source))


def test_a_warp_that_does_nothing_costs_its_start():
    assert instructions_of(dict.fromkeys(CLASSES, 0) | {"start": 1}) == COSTS["start"]
