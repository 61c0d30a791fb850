"""The page that links the lessons' pages, kept up over several runs of `course run`."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.cli.execute import Outcome
    from course_lib.cli.folder import Lesson

__all__ = ["kept_rows", "page", "row"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The course: lessons</title>
<style>
  body {{ font: 1.05rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
  table {{ border-collapse: collapse; width: 100%; }}
  th, td {{ text-align: left; padding: 0.4rem 0.8rem; border-bottom: 1px solid #ccc; }}
  td.time {{ text-align: right; }}
</style>
</head>
<body>
<main>
<h1>The course: lessons</h1>
<table>
<thead><tr><th scope="col">Lesson</th><th scope="col">Title</th><th scope="col">Run</th>
<th scope="col">Seconds</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</main>
</body>
</html>
"""
_ROW = re.compile(r'^<tr><td>\d\d</td><td><a href="([^"]+)\.html">.*</tr>$', re.MULTILINE)  # what `row` writes


def row(lesson: Lesson, title: str, outcome: Outcome | None) -> str:
    """Write the line of one lesson.

    Parameters
    ----------
    lesson : Lesson
    title : str
    outcome : Outcome or None
        None where only the page tells that the lesson was run once.
    """
    state, seconds = "earlier", ""
    if outcome is not None:
        state = f"stopped at cell {outcome.failure.cell}" if outcome.failure else "complete"
        seconds = f"{outcome.seconds:.1f}"
    link = f'<a href="{lesson.name}.html">{escape(title)}</a>'
    return f'<tr><td>{lesson.number}</td><td>{link}</td><td>{state}</td><td class="time">{seconds}</td></tr>'


def kept_rows(out: Path, lessons: list[Lesson]) -> dict[str, str]:
    """Collect the lines of the lessons whose pages lie in a folder already, from its index where it has them.

    Parameters
    ----------
    out : Path
        The folder of the pages.
    lessons : list of Lesson
        All lessons of the course; pages of others are not linked.

    Returns
    -------
    dict
        ``{lesson name: line}``.
    """
    index = out / "index.html"
    text = index.read_text(encoding="utf-8", errors="replace") if index.is_file() else ""
    known = {match[1]: match[0] for match in _ROW.finditer(text)}
    there = [lesson for lesson in lessons if (out / f"{lesson.name}.html").is_file()]
    return {lesson.name: known.get(lesson.name) or row(lesson, lesson.name, None) for lesson in there}


def page(rows: list[str]) -> str:
    """Write the whole page from its lines."""
    return _PAGE.format(rows="\n".join(rows))
