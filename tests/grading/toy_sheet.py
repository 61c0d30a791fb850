"""A small sheet for the tests of the grader: three functions, one kernel-free key, and notebooks that answer it."""

import json
import sys
import types

import numpy as np
import pytest

from course_lib.checks import registry
from course_lib.checks.exercise import Case, Exercise, TextQuestion
from course_lib.grading.levels import level
from course_lib.grading.limits import Limits

NAME = "98_toy"
SHORT = Limits(
    call=1.0, question=4.0, cell=1.0, cells=20.0, grace=1.0, patience=2.0, submission=60.0,
    memory=512 << 20, disk=8 << 20,
)  # fmt: skip

RIGHT = {
    "double": "def double(x):\n    return 2 * x\n",
    "total": "def total(x):\n    return float(np.sum(x))\n",
    "third": "def third(x):\n    return x[2]\n",
}

KEY = """
import numpy as np
from course_lib.checks.exercise import Case
from course_lib.grading.keys import Key, Part

KEYS = (
    Key("98.1", (Part("negative numbers", 2, lambda rng: [Case((-3,)), Case((-SECRET,))]),), ()),
    Key("98.2", (Part("random numbers", 1, lambda rng: [Case((rng.normal(size=5),))]),), ()),
    Key("98.3", (Part("texts", 1, lambda rng: [Case(("abcd",))]),), ()),
)
""".replace("SECRET", "170001")


def _exercise(id, function, expect, *arguments, points=3, **more):
    facts = {"title": function, "points": points, "level": "core", "concept": "", "source": "", "lines": 1}
    cases = tuple(Case((a,)) for a in arguments)
    return Exercise(id, function, expect=expect, cases=cases, **facts, **more)


EXERCISES = (
    _exercise("98.1", "double", lambda x: 2 * x, 1, 5),
    _exercise("98.2", "total", lambda x: float(x.sum()), np.array([1.0, 2.5])),
    _exercise("98.3", "third", lambda x: x[2], [1, 2, 3], points=2, instead_of=("itemgetter",)),
    TextQuestion("98.4", "why", 2, "core", "", ""),
)


def install(monkeypatch, folder):
    """Make the registry know the sheet for one test; return the folder of its key."""
    module = types.ModuleType("course_lib.checks.exercises.toy")
    module.EXERCISES = EXERCISES
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.MODULES, NAME, "toy")
    (folder / "toy.py").write_text(KEY)
    return str(folder)


def code(source, grade_id=None, **metadata):
    if grade_id:
        metadata["nbgrader"] = {"grade_id": grade_id, "solution": True, "grade": False}
    return {"cell_type": "code", "source": source, "metadata": metadata}


def book(*cells):
    return json.dumps({"cells": list(cells), "nbformat": 4}).encode()


def answered(**other):
    """Return the bytes of a notebook with the right answers, but for those given by name."""
    return book(code("import numpy as np\n"), *(code(text) for text in (RIGHT | other).values()))


def needs(letter):
    """Return a mark that skips a test with the reason where a level does not work."""
    found = level(letter)
    return pytest.mark.skipif(not found.works, reason=f"level {letter}: {found.says}")
