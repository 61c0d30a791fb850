"""Checks that raise and explain; used by notebooks, exercises and tests alike.

`check` is what sheets of exercises call. For a new exercise read `exercise`, `judge`, `differences`, `registry`.
"""

from course_lib.checks.check import CheckFailed, check
from course_lib.checks.close import Mismatch, check_close
from course_lib.checks.exercise import Case, Cause, Exercise, KernelExercise, TextQuestion
from course_lib.checks.gradients import (
    GradientMismatch,
    check_network_gradients,
    check_op_gradients,
    numerical_gradient,
)
from course_lib.checks.tolerance import fft_tolerance, product_tolerance
from course_lib.checks.values import Named, Seeded

__all__ = [
    "Case",
    "Cause",
    "CheckFailed",
    "Exercise",
    "GradientMismatch",
    "KernelExercise",
    "Mismatch",
    "Named",
    "Seeded",
    "TextQuestion",
    "check",
    "check_close",
    "check_network_gradients",
    "check_op_gradients",
    "fft_tolerance",
    "numerical_gradient",
    "product_tolerance",
]
