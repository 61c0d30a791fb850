"""All hostile submissions, by family.

Source: the course's own.
"""

from course_lib.grading.selftest import (
    broken_files,
    endings,
    escapes,
    forgeries,
    greed,
    intrusions,
    kernels,
    lies,
    neighbours,
    shapes,
)
from course_lib.grading.selftest.submission import FULL, answered

FAMILIES = {
    "files": broken_files.SUBMISSIONS,
    "endings": endings.SUBMISSIONS,
    "greed": greed.SUBMISSIONS,
    "lies": lies.SUBMISSIONS,
    "forgeries": forgeries.SUBMISSIONS,
    "intrusions": intrusions.SUBMISSIONS,
    "escapes": escapes.SUBMISSIONS,
    "neighbours": neighbours.SUBMISSIONS,
    "kernels": kernels.SUBMISSIONS,
    "shapes": shapes.SUBMISSIONS,
}
"""Family -> its submissions, in the order in which they are graded."""

HONEST = answered("honest", "answers the questions", FULL, "all answers are right")
"""What is handed in before, between and after them; it must always get full marks."""
