"""Which word a misspelt one stands for: a near miss of the same module, and never another function that exists.

Source: Damerau, "A technique for computer detection and correction of spelling errors" (four kinds of slip: a letter
too many, one too few, a wrong one, two exchanged); what counts as near is the course's own.
"""

import math

import numba
import numpy as np
from numba import cuda

LONGEST = 40
"""Characters of a name that is looked at: comparing takes the square of them."""

MODULES = {"math": math, "np": np, "cuda": cuda, "numba": numba}
"""Modules whose own names are known, also those that no kernel can use: such a name is not misspelt."""

MEANT = {
    "cuda.atomic": {
        "add": "sum plus increment increase atomic_add atomicadd fetch_add", "sub": "minus subtract decrement decrease",
        "max": "maximum", "min": "minimum", "and_": "and", "or_": "or", "exch": "exchange swap set store",
        "compare_and_swap": "compare_exchange cmpxchg",
    },
    "cuda": {
        "syncthreads": "sync barrier sync_block syncblock synchronize_threads", "syncwarp": "sync_warps",
        "laneid": "lane lane_index", "shared": "smem shared_memory", "local": "private",
        "popc": "popcount", "clz": "count_leading_zeros", "ffs": "find_first_set",
    },
    "cuda.shared": {"array": "zeros empty ones full ndarray"}, "cuda.local": {"array": "zeros empty ones full ndarray"},
    "math": {
        "log": "ln", "pow": "power", "fabs": "abs absolute", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
        "atan2": "arctan2", "fmod": "mod", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    },
    "np": {"float64": "float double", "int64": "int long", "bool_": "bool boolean"},
    "numba": {"float64": "float double", "int64": "int long", "bool_": "bool boolean"},
}  # fmt: skip
"""Word before the last dot -> {what is meant: other names for it that people write}."""


def meant(path, words):
    """Return the one of `words` (names with dots) that a path nearly is, or None.

    The part before the last dot is the same, or itself misspelt; of two words that are equally near, it is neither.

    Source: the course's own.
    """
    parts, at = path.split("."), ""
    for depth, part in enumerate(parts, 1):
        before = f"{at}." if at else ""
        there = {w[len(before) :].split(".")[0] for w in words if w.startswith(before)}
        if part not in there:
            part = _synonym(at, part, there) or near(part, there, _others(at), depth == len(parts))
        if part is None:
            return None
        at = before + part
    return at if at != path else None


def near(name, names, others=(), beginning=False):
    """Return the one of `names` that `name` is a slip of, or None.

    A slip is one letter too many, too few, wrong or exchanged with its neighbour, in a name of at least four letters
    (five for a wrong one, and not the first or last); two in names of at least eight. Capitals, underscores and
    doubled letters do not count.
    `others` are names that `name` could as well be: if one of them is nearer, it is None. With `beginning`, also a
    name that only one of `names` begins with, if it is half of that.

    Source: the course's own.
    """
    if name in others or len(name) > LONGEST:
        return None
    every = {n for n in (*names, *others) if len(n) <= LONGEST}
    for form in (_letters, _undoubled):
        same = sorted(n for n in every if form(n) == form(name))
        if same:
            return same[0] if len(same) == 1 and same[0] in names else None
    far = {n: slips(_letters(name), _letters(n)) for n in every if abs(len(n) - len(name)) <= 3}
    least = min(far.values(), default=99)
    first = [n for n in far if far[n] == least]
    if len(first) == 1 and first[0] in names and _small(least, _letters(name), _letters(first[0])):
        return first[0]
    whole = [n for n in every if n.startswith(name)] if beginning and len(name) >= 3 else []
    return whole[0] if len(whole) == 1 and whole[0] in names and 2 * len(name) >= len(whole[0]) else None


def slips(a, b):
    """Return how many slips make b of a: letters too many, too few, wrong, or exchanged with their neighbour.

    Source: Damerau, "A technique for computer detection and correction of spelling errors".
    """
    before, row = None, list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
            if last and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], last[j - 2] + 1)
    return row[-1]


def _small(count, a, b):
    """Whether so many slips between a and b are few: short names that begin or end otherwise are other names."""
    most = max(len(a), len(b))
    if count == 1 and len(a) == len(b) and sorted(a) != sorted(b):  # a wrong letter: As and Bs, height and weight
        return most >= 5 and a[0] == b[0] and a[-1] == b[-1]
    if count == 1:
        return most >= 4 and (a[0] == b[0] or len(a) == len(b) or most >= 8)  # asinh is no slip of sinh
    return count == 2 and min(len(a), len(b)) >= 8


def _letters(name):
    return name.replace("_", "").lower()


def _undoubled(name):
    text = _letters(name)
    return "".join(c for k, c in enumerate(text) if not k or c != text[k - 1] or c.isdigit())


def _synonym(owner, name, there):
    """Return the word there that another name means; also the one with "_sync", which Numba's older names lack."""
    for word, names in MEANT.get(owner, {}).items():
        if _letters(name) in map(_letters, names.split()) and word in there:
            return word
    return f"{name}_sync" if f"{name}_sync" in there else None


def _others(path):
    """Return the names that a module, or a word of it, has in Python; of these modules only, and nothing is called."""
    root, *parts = path.split(".")
    owner = MODULES.get(root)
    for part in parts:
        owner = vars(owner).get(part) if hasattr(owner, "__dict__") else None
    return [n for n in dir(owner) if not n.startswith("_")] if owner is not None else []
