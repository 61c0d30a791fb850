"""What the keys of kernel exercises share: whole numbers at random, cases of given shapes, a text with changes.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case


def whole(rng, *shape, low=-9, high=9):
    """Return (...) float32 whole numbers: sums of them are exact in any order. No errors.

    Source: the course's own.
    """
    return rng.integers(low, high, shape, endpoint=True).astype(np.float32)


def sizes(*shapes, more=(), low=-9, high=9):
    """Return cases(rng) of one array each, of these shapes, followed by the arguments `more`. No errors.

    Source: the course's own.
    """
    return lambda rng: [Case((whole(rng, *shape, low=low, high=high), *more)) for shape in shapes]


def pairs(*shapes):
    """Return cases(rng) of two arrays each. No errors. Source: the course's own."""
    return lambda rng: [Case((whole(rng, *a), whole(rng, *b))) for a, b in shapes]


def plain(*arguments):
    """Return cases(rng) with these tuples of arguments, which are the same each time. No errors.

    Source: the course's own.
    """
    return lambda rng: [Case(each) for each in arguments]


def changed(text, *changes):
    """Return a text with each (old, new) exchanged; ValueError if an old one is not there. Source: the course's own."""
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{old!r} is not in the answer.")
        text = text.replace(old, new)
    return text
