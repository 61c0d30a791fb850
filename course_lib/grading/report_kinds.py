"""A report as another kind of file, where a platform shows it under the name of what was handed in.

What students wrote stands in fenced blocks and comments, where nothing of it is Markdown, HTML or code.
Source: the course's own; the notebook format 4.5.
"""

from __future__ import annotations

import io
import json
import re
import zipfile

from course_lib.grading.pages import one_line
from course_lib.grading.report import report, sheets_of


def report_as(suffix: str, student, results: list[dict]) -> bytes:
    """Return the report of a `Student` as a file of a kind: ".html", ".ipynb", ".zip", ".py"; plain text for others.

    No errors. Source: the course's own.
    """
    page = report(student, results).encode("utf-8", "backslashreplace")
    kind = suffix.lower()
    if kind in (".html", ".htm"):
        return page
    if kind == ".zip":
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("report.html", (1980, 1, 1, 0, 0, 0)), page)
        return content.getvalue()
    if kind in (".ipynb", ".json"):
        return _notebook(student, results)
    text = "\n\n".join(_lines(student, results))
    if kind == ".py":
        text = "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _notebook(student, results: list[dict]) -> bytes:
    texts = [f"# Report\n\n{_fenced(one_line(student.name or student.id))}"]
    for sheet in sheets_of(results):
        says = [f"## {_plain(sheet['title'])}", f"**{sheet['total']} of {sheet['of']} points**"]
        says += [_fenced(text) for text in (sheet["says"], sheet["late"], *sheet["notes"]) if text]
        texts.append("\n\n".join(says))
        texts += ["\n\n".join(_question(question)) for question in sheet["questions"] if not sheet["whole"]]
    cells = [
        {"cell_type": "markdown", "id": f"report-{at}", "metadata": {"editable": False}, "source": text}
        for at, text in enumerate(texts)
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=True, indent=1).encode("ascii")


def _question(question: dict) -> list[str]:
    points = f"of {question['of']}" if question["open"] else f"{question['points']} of {question['of']}"
    says = [f"### {_plain(question['id'])} {_plain(question['title'])}: {points} points", f"{question['result']}."]
    return says + [_fenced(text) for text in (question["manual"], *question["lost"]) if text]


def _lines(student, results: list[dict]) -> list[str]:
    lines = [f"Report: {one_line(student.name or student.id)}"]
    for sheet in sheets_of(results):
        lines.append(f"{sheet['title']}: {sheet['total']} of {sheet['of']} points")
        lines += [text for text in (sheet["says"], sheet["late"], *sheet["notes"]) if text]
        for question in sheet["questions"] if not sheet["whole"] else ():
            lines.append(
                "\n".join([_question(question)[0].lstrip("# "), question["manual"], *question["lost"]]).strip()
            )
    return lines


def _fenced(text: str) -> str:
    longest = max([2, *(len(run) for run in re.findall("`+", text))])
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&$-])", r"\\\1", text)
