"""Answers in words: found by the metadata of their cell, else below the heading of their question.

A student may answer in the cell that is there for it, in a new one below, in a code cell, or in the question's own
cell; an editor may have taken the metadata away. What the sheet itself says is left out, as far as its text is known.

Source: the course's own.
"""

import ast
import functools
import json
import re
import warnings
from itertools import islice
from pathlib import Path

from course_lib.grading.fit import is_about

STUB = "your answer here"
"""What a sheet has in place of an answer in words."""

SHEETS = Path(__file__).parents[2] / "exercises"
"""The sheets as students get them, where this is a course folder."""

CODE = re.compile(r"^\s*(?:def |class |@|import |from \w+ import|for .*:|print\()|^\w+ = ", re.MULTILINE)
"""A line of code, also in a cell that Python cannot read."""

MOST_READ, MOST_HEADINGS = 200_000, 100
"""Characters of a cell that are looked at, and headings in it."""


def answers_in_words(cells, exercises, sheet=""):
    """Return {exercise id: answer} for the questions of a sheet that are answered in words; "" where there is none.

    Parameters
    ----------
    cells : sequence of notebook_file.Cell
        All of a notebook, in order.
    exercises : sequence
        All of the sheet.
    sheet : str
        Its name.

    No errors. Source: the course's own.
    """
    return {e.id: _answer(e, cells, exercises, _given(sheet)) for e in exercises if e.kind == "text"}


def _answer(exercise, cells, exercises, given):
    graded = [i for i, cell in enumerate(cells) if is_about(cell.grade_id, exercise.id)]
    headings = [i for i, cell in enumerate(cells) if cell.kind != "code" and _heads(cell.source, exercise)]
    question = headings[-1] if headings else None
    begin = question + 1 if headings else graded[0] if graded else len(cells)
    others = [e for e in exercises if e.id != exercise.id]
    ends = (i for i in range(begin, len(cells)) if _begins_another(cells[i], others))
    section = range(begin, next(ends, len(cells)))
    found = [_left(cells[i], given) for i in sorted({*graded, *section})]
    if not any(found) and question is not None:
        found = [_left(cells[question], given)] if given else []
    untouched = given or graded or any(cells[i].kind != "code" for i in section)
    if not any(found) and question is not None and not untouched:
        found = [cells[question].source]  # better too much than nothing: a person reads it
    if not any(found) and not headings:
        found = [cell.source for cell in cells if cell.kind != "code" and _names(cell.source, exercise)]
    return "\n\n".join(text for text in found if text)


def _heads(source, exercise):
    """Return whether a text has a heading with the number or the title of an exercise."""
    return any(_is_of(line, exercise) for line in _headings(source[:MOST_READ]))


def _headings(source):
    """Return the lines of a text that are headings in Markdown or HTML, or bold, at most `MOST_HEADINGS`."""
    lines = source.split("\n")
    below = [*lines[1:], ""]
    found = (
        line for line, under in zip(lines, below, strict=True)
        if re.match(r" {0,3}#{1,6}(?=\s|\d)|\s*<h[1-6]\b|\s*(?:\*\*|__)[^*_]+(?:\*\*|__)\s*$", line)
        or (line.strip() and re.fullmatch(r"(?:-{3,}|={3,})\s*", under))
    )  # fmt: skip
    return list(islice(found, MOST_HEADINGS))


def _is_of(line, exercise):
    number = exercise.id.lstrip("0").replace(".", r"\s?[.\-_]\s?")
    return re.search(rf"(?<![\d.])0?{number}(?![\d])", line) is not None or _plain(exercise.title) in _plain(line)


def _plain(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def _begins_another(cell, others):
    if cell.kind == "code":
        return any(is_about(cell.grade_id, e.id) for e in others)
    headings = _headings(cell.source[:MOST_READ])
    return any(_is_of(line, e) for line in headings for e in others if e.id not in line or _begins(line, e))


def _begins(line, exercise):
    """Return whether a heading begins with an exercise's number: an answer's own may mention one."""
    return re.match(rf"\W*(?:<[^>]*>|\W|exercise|question|task|problem)*0?{re.escape(exercise.id.lstrip('0'))}\b", line,
                    re.IGNORECASE) is not None  # fmt: skip


def _names(source, exercise):
    """Return whether a text begins with the number of an exercise: "06.8: ...", "Answer to 6.8"."""
    first = source.strip().split("\n")[0][:80]
    return _is_of(first, exercise) and _plain(source) not in ("", _plain(first))


def _left(cell, given):
    """Return what a student wrote in a cell: no stub, nothing of the sheet's own, and code only if it is none."""
    source = cell.source[:MOST_READ]
    if cell.kind == "code":
        if not _is_prose(source):
            return ""
        source = re.sub(r"^# ?", "", source, flags=re.MULTILINE).strip().strip("\"'")
    known = given - {""}
    lines = [line for line in source.split("\n") if _plain(line) != STUB and line.strip() not in known]
    text = "\n".join(lines).strip()
    return text if _plain(text) else ""


def _is_prose(source):
    """Return whether the text of a code cell is no code: comments, texts, or nothing that Python can read."""
    if not source.strip() or re.match(r"\s*[%!]", source):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = ast.parse(source[:20_000]).body
    except SyntaxError:
        return not CODE.search(source)
    except (ValueError, MemoryError, RecursionError):
        return False
    return all(isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant | ast.Name) for n in nodes)


@functools.cache
def _given(sheet):
    """Return the lines of text in a sheet as students get it, an empty set where it is not at hand."""
    try:
        cells = json.loads((SHEETS / f"{sheet}.ipynb").read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] != "code"]
    return frozenset(line.strip() for text in texts for line in text.split("\n"))
