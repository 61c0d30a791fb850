"""How many machine instructions an operation of each class takes, and how many registers a thread: without a compiler.

The costs are fitted to how many instructions a card's profiler counted: 78 kernels of tests/simt/measured, no time
among them and no kernel of a project. `python tools/fit_classes.py` fits them again, and prints how far off they are:
by a factor of 1.22 on average, 76 of them within a factor of 2, and 3.7 at the worst; of 1.25 for kernels that are
left out of the fit, one in ten at a time. The two beyond 2 are convolutions whose loops over the mask have a length
that only the launch knows: such loops cost a card more than is guessed here.

Source: the course's own; the counts are those of tests/simt/measured/counters.h200.json.
"""

import math

COSTS = {
    "start": 3.6, "integer": 0.0, "multiply": 5.2, "power": 1.7, "constant": 15.0, "divided": 39.5, "address": 13.6,
    "shared": 2.9, "access": 1.1, "turn": 3.0, "range": 20.9, "branch": 0.8, "fma": 2.2, "special": 17.5,
    "together": 1.2,
}  # fmt: skip
"""Class of `classes.CLASSES` -> machine instructions. Sums of whole numbers cost nothing of their own: most of them are
indices, and what they cost is in the addresses."""

REGISTERS, A_DIMENSION, MOST_REGISTERS = 12.7, 2.7, 255
"""Registers of a thread as such, and for each dimension of its arrays in global memory, as it keeps sizes and strides;
fitted (least squares) to what the compiler gave the same kernels. Its own arrays take theirs besides."""


def instructions_of(classes):
    """Return the machine instructions of a warp, from what `classes_of` returns. No errors.

    Source: the course's own.
    """
    return sum(COSTS[name] * number for name, number in classes.items())


def registers_of(report):
    """Return about how many registers a thread needs. No errors. Source: the course's own."""
    own = sum(math.prod(use.shape) for use in report.arrays.values() if use.space == "local")
    dimensions = sum(len(use.shape) for use in report.arrays.values() if use.space == "global")
    return min(MOST_REGISTERS, round(REGISTERS + own + A_DIMENSION * dimensions))
