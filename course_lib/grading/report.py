"""A student's report: one page that loads nothing, with a reason for every lost point.

What students wrote (names, messages, notes) is escaped; of a hidden check only its name and its message are shown.
Source: the course's own.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from course_lib.grading.charts import meter
from course_lib.grading.csvfile import write_atomically
from course_lib.grading.final import NOTHING, decimal
from course_lib.grading.levels import TITLES
from course_lib.grading.pages import clean, one_line, page
from course_lib.grading.store import file_name

_SAYS = {"graded": "Graded.", "broken": "The grader failed; there are no points yet. Your instructor looks into it."}
_REASONS = {NOTHING: "Nothing was handed in.", "broken": "The grader failed; these points are not final."}
_MOST_REASONS = 40


def report_path(folder: Path, student: str) -> Path:
    """Return a report's file in a folder: unique for each id, and safe on every system. No errors.

    Source: the course's own.
    """
    return folder / f"{file_name(student)}.html"


def write_report(folder: Path, student, results: list[dict]) -> Path:
    """Write the report of a `Student` with final results and return its path; OSError if that fails.

    Source: the course's own.
    """
    path = report_path(folder, student.id)
    write_atomically(path, report(student, results).encode("utf-8", "backslashreplace"))
    return path


def report(student, results: list[dict]) -> str:
    """Return the page on a `Student`'s final results, one section a sheet. No errors. Source: the course's own."""
    total, of = (sum(Fraction(result[what]) for result in results) for what in ("total", "of"))
    name = one_line(student.name or student.id)
    shown = sheets_of(results)
    title = f"Report: {name}, {', '.join(sheet['title'] for sheet in shown)}"
    values = dict(name=name, id=one_line(student.id), sheets=shown, total=decimal(total, 2), of=decimal(of))
    return page("report.html.j2", title=title, **values)


def sheets_of(results: list[dict]) -> list[dict]:
    """Return what a report shows of each final result, as texts that are clean but not escaped. No errors.

    Source: the course's own.
    """
    return [_sheet(result) for result in results]


def sheet_title(sheet: str) -> str:
    """Return a sheet's name for a reader: "04 backpropagation". No errors. Source: the course's own."""
    return one_line(sheet.replace("_", " "))


def _sheet(result: dict) -> dict:
    total, of = Fraction(result["total"]), Fraction(result["of"])
    says = f"{decimal(total, 2)} of {decimal(of)} points"
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    level = result["level"]
    facts = [
        ("Status", result["status"]),
        ("File", ", ".join(one_line(name) for name in result["files"]) or "none"),
        ("Sandbox", f"{level}: {TITLES[level]}" if level in TITLES else level or "none was needed"),
        ("Time", f"{result['seconds']:.1f} s"),
        ("Versions", versions or "none"),
        ("Key", result["key"][:16] or "none"),
    ]
    questions = [_question(question, result["status"]) for question in result["questions"]]
    share = float(total / of) if of else 0.0
    by_hand = any(question["manual"] for question in result["questions"])
    whole = result["status"] not in ("graded", "broken") and not by_hand  # one reason for all questions
    waiting = sum(Fraction(question["of"]) for question in result["questions"] if question["open"])
    reason = clean(result["says"])
    if result["status"] in ("unreadable", "no notebook") and not re.search(r"[Hh]and in |Save it|Clear its", reason):
        reason += " Hand in the notebook itself, the .ipynb."
    return {
        **{"title": sheet_title(result["sheet"]), "total": decimal(total, 2), "of": decimal(of)},
        **{"questions": questions, "meter": meter(share, says), "open": result["open"], "late": result["late"]},
        **{"says": _SAYS.get(result["status"], reason)},
        **{"facts": [(term, clean(fact)) for term, fact in facts]},
        **{"whole": whole, "missing": decimal(of - total - waiting, 2)},
        **{"notes": [clean(note) for note in result["notes"]]},
    }


def _question(question: dict, status: str) -> dict:
    points, of = Fraction(question["points"]), Fraction(question["of"])
    failed = [part for part in question["parts"] if not part["passed"]]
    lost = list(question["lost"]) if points < of else []
    if points < of and not question["manual"]:  # a reason for every lost point, also where the grader named none
        lost += [part["says"] for part in failed if part["says"] and not any(part["says"] in reason for reason in lost)]
        lost = lost or [_REASONS.get(status, f"No reason is recorded ({status}).")]
    kind = "wait" if question["open"] else "full" if points == of else "some" if points else "none"
    result = {"full": "all points", "some": "some points", "none": "no points", "wait": "waits for points by hand"}[
        kind
    ]
    return {
        **{"id": one_line(question["id"]), "title": one_line(question["title"]), "kind": kind, "result": result},
        **{"anchor": f"q-{file_name(question['id'])}", "points": decimal(points, 2), "of": decimal(of)},
        **{"lost": [clean(reason) for reason in lost[:_MOST_REASONS]], "open": question["open"]},
        **{"parts": [{**part, "name": one_line(part["name"])} for part in question["parts"]]},
        **{"missing": decimal(of - points, 2), "manual": clean(question["manual"])},
    }
