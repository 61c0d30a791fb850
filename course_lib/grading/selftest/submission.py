"""What a hostile submission is, and how notebooks of the selftest's sheet are written.

In texts, @OUTSIDE@, @SECRETS@, @TOKEN@, @PORT@, @VICTIM@ stand for what `world` lays out; they are filled in when a run
begins, since no two runs have the same.

Source: the course's own.
"""

import json
from dataclasses import dataclass
from fractions import Fraction

from course_lib.grading.selftest.sheet import SHEET

FULL = Fraction(8)
"""The points of the whole sheet."""

ONE_LOST = Fraction(6)
"""The points of a submission with one question answered wrongly."""

RIGHT = {
    "00.1": "def line(x):\n    return 2 * x + 1\n",
    "00.2": "def above(x, t):\n    return int((x > t).sum())\n",
    "00.3": "def middle(x):\n    return float(x.sum() / x.size)\n",
    "00.4": "def clipped(x):\n    return x * (x > 0)\n",
}
"""A right answer to each question."""

SETUP = "import numpy as np\n"


@dataclass(frozen=True)
class Submission:
    """One submission: its name, what it tries, the score it deserves and why, its files, the status it must get,
    and the sheet that it answers.

    Source: the course's own.
    """

    name: str
    tries: str
    fair: Fraction
    why: str
    files: tuple[tuple[str, bytes], ...]
    status: str = "graded"
    sheet: str = SHEET


def code(source, grade_id=""):
    """Return a code cell; with nbgrader's metadata where it has a grade_id. No errors. Source: nbformat 4."""
    role = {"schema_version": 3, "grade_id": grade_id, "solution": True, "grade": False, "locked": False, "task": False}
    metadata = {"nbgrader": role} if grade_id else {}
    return {
        "cell_type": "code", "execution_count": None, "id": f"c{abs(hash(source)) % 10**8}", "metadata": metadata,
        "outputs": [], "source": source,
    }  # fmt: skip


def markdown(source):
    """Return a cell of text. No errors. Source: nbformat 4."""
    return {"cell_type": "markdown", "id": f"m{abs(hash(source)) % 10**8}", "metadata": {}, "source": source}


def cells(answers=None, extra="", last=""):
    """Return the cells of a notebook: the right answers, but for those given; `extra` is a cell before them.

    No errors. Source: the course's own.
    """
    answers = RIGHT | (answers or {})
    found = [markdown("# 00 · Exercises"), code(SETUP)] + ([code(extra)] if extra else [])
    for id, text in answers.items():
        found += [markdown(f"## {id}"), code(text, f"exercise-{id.replace('.', '-')}")]
    return found + ([code(last)] if last else [])


def book(some_cells, **more):
    """Return the text of a notebook as bytes. No errors. Source: nbformat 4."""
    content = {"cells": some_cells, "metadata": {"course_sheet": SHEET}, "nbformat": 4, "nbformat_minor": 5} | more
    return json.dumps(content).encode()


def answered(name, tries, fair, why, answers=None, extra="", last=""):
    """Return a `Submission` of one sound notebook with these answers. No errors. Source: the course's own."""
    content = book(cells(answers, extra, last))
    return Submission(name, tries, Fraction(fair), why, ((f"{SHEET}.ipynb", content),))


def in_a_cell(name, tries, text, fair=FULL, why="the cell holds no answer; all answers are right", last=""):
    """Return a submission that is right in all and does something in a cell of its own. No errors.

    Source: the course's own.
    """
    return answered(name, tries, fair, why, extra=text, last=last)


def in_a_call(name, tries, body, why="what the first question's function does is no right answer"):
    """Return a submission whose first answer does something each time that it is called. No errors.

    Source: the course's own.
    """
    text = "def line(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return answered(name, tries, ONE_LOST, why, {"00.1": text})


def intrusion(name, tries, text):
    """Return a submission that is right in all, unless `text` sets `found` to something: then it tells what.

    No errors. Source: the course's own.
    """
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    tried = f"found = ''\ntry:\n{lines}except OSError:\n    pass\n"
    tell = "    if found:\n        raise RuntimeError('BREA' + 'CH: ' + str(found)[:200])\n"
    why = "what it is after is out of reach, and its answers are right"
    return answered(name, tries, FULL, why, {"00.1": f"def line(x):\n{tell}    return 2 * x + 1\n"}, tried)
