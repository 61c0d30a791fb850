"""The answers in words on one page, each question's beside what an answer should say: for who gives the points.

The points themselves go into by_hand.csv. Source: the course's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from course_lib.grading.csvfile import write_atomically
from course_lib.grading.final import NOTHING, decimal
from course_lib.grading.pages import clean, one_line, page

PAGE = "by_hand.html"
LONGEST = 20_000  # letters of one answer


def write_by_hand_page(folder: Path, results: list[dict], students: dict, models: Mapping[str, str]) -> Path | None:
    """Write by_hand.html into a folder and return its path; None, and no file, if no question asks for words.

    Parameters
    ----------
    folder : Path
    results : list of dict
        Final results.
    students : dict of {id: Student}
    models : mapping of {question: text}
        What an answer should say.

    OSError if it cannot be written. Source: the course's own.
    """
    path = folder / PAGE
    text = by_hand_page(results, students, models)
    if not text:
        path.unlink(missing_ok=True)
        return None
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
    return path


def by_hand_page(results: list[dict], students: dict, models: Mapping[str, str]) -> str:
    """Return the page, "" if no question asks for words. No errors. Source: the course's own."""
    about: dict[str, dict] = {}
    for result in results:
        for question in result["questions"]:
            if question["kind"] == "text" and result["status"] not in (NOTHING, "broken"):
                one = about.setdefault(question["id"], _about(question, models))
                one["answers"].append(_answer(result, question, students))
                one["waiting"] += question["open"]
    if not about:
        return ""
    return page("by_hand.html.j2", title="Answers in words", questions=list(about.values()))


def _about(question: dict, models: Mapping[str, str]) -> dict:
    model = re.sub(r"<!--.*?-->\s*", "", models.get(question["id"], ""), flags=re.DOTALL).strip()
    model = re.sub(r"(?<=\S)\n(?=[\w(\"'$*])(?!\d+\. |\* )", " ", model)  # a line a paragraph, as Markdown shows it
    return {
        **{"id": one_line(question["id"]), "title": one_line(question["title"]), "of": decimal(question["of"])},
        **{"model": clean(model, LONGEST), "answers": [], "waiting": 0},
    }


def _answer(result: dict, question: dict, students: dict) -> dict:
    id = result["student"]
    student = students.get(id)
    says = question["manual"] if not question["open"] else ""
    return {
        "name": one_line(student.name if student and student.name else id, 120),
        **{"id": one_line(id, 120), "text": clean(str(result["answers"].get(question["id"], "")), LONGEST)},
        **{"points": "" if question["open"] else decimal(question["points"], 2), "says": clean(says)},
    }
