"""Checks that raise and explain; used by notebooks, exercises and tests alike."""

from course_lib.checks.close import Mismatch, check_close
from course_lib.checks.gradients import (
    GradientMismatch,
    check_network_gradients,
    check_op_gradients,
    numerical_gradient,
)
from course_lib.checks.tolerance import product_tolerance

__all__ = [
    "GradientMismatch",
    "Mismatch",
    "check_close",
    "check_network_gradients",
    "check_op_gradients",
    "numerical_gradient",
    "product_tolerance",
]
