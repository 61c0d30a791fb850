"""Two outputs are equal if their texts are, except that a decimal number may differ in what a machine may change.

Why: BLAS builds and CPUs add in different orders, so the last digits of a sum differ between machines that are both
right. Everything else is exact: words, integers (counts, labels, shapes), and numbers inside other words such as
colours, ids and the percent-encoded SVG of our figures.
"""

from __future__ import annotations

import math
import re

RELATIVE = 1e-5  # the 3rd significant digit must not change, the 7th may
ABSOLUTE = 1e-12  # round-off that stands for zero: 2.2e-16 here may be -1.1e-16 there

# A number on its own: "12.5" in "loss 12.5, " but nothing of "#1e5000", "%2212.5", "1.2.3", "x2", "12ms".
_NUMBER = re.compile(r"(?<![\w.%#])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.]*\w)")
_DECIMAL = re.compile(r"[.eE]")


def same_output(a: str, b: str) -> bool:
    """Whether `a` and `b` say the same.

    Where a number is written differently, the blanks of the whole text may differ too: NumPy pads its columns to the
    longest number. Where all numbers are written alike, the text must be the same to the last blank.
    """
    if a == b:
        return True
    numbers_a, numbers_b = _NUMBER.findall(a), _NUMBER.findall(b)
    if numbers_a == numbers_b or len(numbers_a) != len(numbers_b):
        return False
    if _blanks_collapsed(_NUMBER.sub("#", a)) != _blanks_collapsed(_NUMBER.sub("#", b)):
        return False
    return all(map(_same_number, numbers_a, numbers_b))


def _same_number(a: str, b: str) -> bool:
    if a == b:
        return True
    if not (_DECIMAL.search(a) and _DECIMAL.search(b)):
        return False
    return math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _blanks_collapsed(text: str) -> str:
    # A blank beside a bracket comes and goes with the padding: "[0.5 1. ]" and "[0.5001 1.    ]", "[ 1.5" and "[-1.5".
    return re.sub(r"\s*([\[\]])\s*", r"\1", " ".join(text.split()))


class TolerantText(str):
    """A string that equals another if they are the `same_output`; nbval compares with ``!=`` and nothing else."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return same_output(str(self), str(other)) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other
