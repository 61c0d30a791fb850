"""The answers that are alike, side by side: one page for the instructor, with the matching lines marked.

Source: the course's own; difflib's longest matching blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from course_lib.grading.csvfile import write_atomically
from course_lib.grading.pages import clean, one_line, page
from course_lib.grading.similarity import NOTE, SAME, Alike, together
from course_lib.grading.tokens import tokens_of

MOST_GROUPS, MOST_LINES, MOST_NAMES = 100, 120, 40
PAGE = "similarity.html"


def write_similarity(folder: Path, found: list[Alike], answers, students: dict, given: Iterable[str] = ()) -> Path:
    """Write similarity.html into a folder and return its path; OSError if that fails. Source: the course's own."""
    text = similarity_page(found, answers, students, given)
    write_atomically(folder / PAGE, text.encode("utf-8", "backslashreplace"))
    return folder / PAGE


def similarity_page(found: list[Alike], answers: Mapping[str, Mapping[str, str]], students: dict, given=()) -> str:
    """Return the page on all groups, those with most questions first. No errors.

    Parameters
    ----------
    found : list of Alike
    answers : mapping of {question: {student: text}}
    students : dict of {id: Student}
    given : iterable of str
        The sheet's own cells: their lines are shown as such.

    Source: the course's own.
    """
    sheet = {line.strip() for cell in given for line in cell.split("\n") if len(line.strip()) > 3}
    groups = together(found)
    shown = [
        {
            **{"anchor": f"g{at}", "names": _names(who, students), "count": len(who)},
            "questions": [_question(one, who, answers.get(one.question, {}), students, sheet) for one in ones],
        }
        for at, (who, ones) in enumerate(groups[:MOST_GROUPS], 1)
    ]
    return page("similarity.html.j2", title="Similar answers", note=NOTE, groups=shown, more=len(groups) - len(shown))


def _names(who: Iterable[str], students: dict) -> list[str]:
    who = list(who)
    names = [_name(id, students) for id in who[:MOST_NAMES]]
    return names + ([f"and {len(who) - MOST_NAMES} more"] if len(who) > MOST_NAMES else [])


def _name(id: str, students: dict) -> str:
    student = students.get(id)
    return one_line(f"{student.name} ({id})" if student and student.name else id, 120)


def _question(one: Alike, who: tuple[str, ...], texts: Mapping[str, str], students: dict, sheet: set[str]) -> dict:
    first, more = who[0], len(one.students) - len(who)
    left = _lines(texts.get(first, ""))
    # Of a group with the same text the second one shows nothing new; of the others the one that differs most in form.
    other = next((id for id in who[1:] if _lines(texts.get(id, "")) != left), who[1])
    right = _lines(texts.get(other, ""))
    rows = [("=", line, line) for line in left] if one.how == SAME else _side_by_side(left, right)
    about = {
        **{
            "id": one_line(one.question),
            "share": f"{one.share:.0%}",
            "how": f"{one.how}{_others(more)}",
            "same": one.how == SAME,
        },
        **{"left": _name(first, students), "right": _name(other, students)},
    }
    rows = [(_mark(mark, a, b, sheet), clean(a, 400), clean(b, 400)) for mark, a, b in rows[:MOST_LINES]]
    return {**about, "rows": rows, "cut": max(0, max(len(left), len(right)) - MOST_LINES)}


def _others(more: int) -> str:
    return f", which {more} more {'has' if more == 1 else 'have'}" if more > 0 else ""


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\r\n", "\n").strip("\n").split("\n")]


def _mark(mark: str, left: str, right: str, sheet: set[str]) -> str:
    given = all(not line.strip() or line.strip() in sheet for line in (left, right)) and (left + right).strip()
    return "." if given else mark if (left + right).strip() else ""


def _side_by_side(left: list[str], right: list[str]) -> list[tuple[str, str, str]]:
    """Return (mark, line, line): "=" the same line, "~" the same but for names and numbers, "" another one."""
    keys = [[tuple(tokens_of(line.strip())) or ("", line.strip()) for line in lines[:2000]] for lines in (left, right)]
    rows = []
    for tag, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs = zip(left[a:b], right[c:d], strict=True)
            rows += [("=" if one.strip() == other.strip() else "~", one, other) for one, other in pairs]
        else:
            long = max(b - a, d - c)
            ours, theirs = (part + [""] * (long - len(part)) for part in (left[a:b], right[c:d]))
            rows += [("", one, other) for one, other in zip(ours, theirs, strict=True)]
    return rows
