"""Shapes that NumPy's own message names, for operands whose shapes are not known otherwise: `f(x) @ g(w)`, `x[1:] + y`.

Source: the course's own; the wording of NumPy 1.26 to 2.x.
"""

import re

TUPLE = r"(\((?:\d+,? ?)*\))"
ALIGNED = re.compile(rf"shapes {TUPLE} and {TUPLE} not aligned")
TOGETHER = re.compile(rf"could not be broadcast together with shapes {TUPLE} {TUPLE}")
CORE = re.compile(r"[Ii]nput operand 1 has a mismatch in its core dimension 0.*\(size (\d+) is different from (\d+)\)")


def shapes_in(text):
    """Return (left shape, right shape) where a message names both, None otherwise.

    No errors. Source: the course's own.
    """
    found = ALIGNED.search(text) or TOGETHER.search(text)
    return found and tuple(tuple(int(n) for n in re.findall(r"\d+", part)) for part in found.groups())


def inner_sizes(text):
    """Return (last size of the left operand, size of the right one that must equal it), None if it is not told.

    `@` names these two sizes only. No errors. Source: the course's own.
    """
    found = CORE.search(text)
    return found and (int(found[2]), int(found[1]))
