"""Kernels whose memory traffic is measured on a card: all that lessons 11-15 need, in plain Numba-CUDA.

Each kernel is followed by its launches. Numbers are small integers, so results are exact in any order of summation;
outputs begin as NaN, or as a number that is no result.
"""

from tests.simt.measured.cases import LAUNCHES, Case
from tests.simt.measured.kernels import access, convolutions, elementwise, merged, products, reductions

LESSONS = (elementwise, access, reductions, products, convolutions, merged)
CASES: dict[str, Case] = {
    name: case for lesson in LESSONS for name, case in LAUNCHES.items() if case.make.__module__ == lesson.__name__
}
"""All launches by name, in the order of the lessons."""
