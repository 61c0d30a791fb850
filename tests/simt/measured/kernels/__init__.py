"""Kernels whose memory traffic is measured on a card: all that lessons 11-15 need, in plain Numba-CUDA.

Each kernel is followed by its launches. Numbers are small integers, so results are exact in any order of summation;
outputs begin as NaN, or as a number that is no result.
"""

from tests.simt.measured.cases import CASES, Case
from tests.simt.measured.kernels import access, convolutions, elementwise, merged, products, reductions

__all__ = ["CASES", "Case", "access", "convolutions", "elementwise", "merged", "products", "reductions"]
