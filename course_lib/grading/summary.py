"""The class at a glance, one page for the instructor: scores, questions, mistakes, what took long, what looks alike.

Source: the course's own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import median

from course_lib.grading.charts import histogram, meter
from course_lib.grading.csvfile import write_atomically
from course_lib.grading.final import NOTHING, decimal
from course_lib.grading.look_at import look_rows
from course_lib.grading.notices import NOTE as LOOK_NOTE
from course_lib.grading.pages import clean, one_line, page
from course_lib.grading.report import report_path, sheet_title
from course_lib.grading.similarity import NOTE, SIMILAR, Alike, together
from course_lib.grading.similarity_page import MOST_GROUPS, PAGE

MOST_MISTAKES, MOST_SLOW, MOST_PAIRS, MOST_LOOKS, MOST_PROBLEMS, MOST_NAMES = 20, 10, 50, 200, 100, 20


def write_summary(folder: Path, results: list[dict], students: dict, sheets, similar=(), problems=()) -> Path:
    """Write summary.html into a folder and return its path; OSError if that fails. Source: the course's own."""
    path = folder / "summary.html"
    text = summary(results, students, sheets, similar, problems)
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
    return path


def summary(results: list[dict], students: dict, sheets, similar: list[Alike] = (), problems: list[str] = ()) -> str:
    """Return the page on all final results. No errors.

    Parameters
    ----------
    results : list of dict
        Final results, of all students and sheets.
    students : dict of {id: Student}
    sheets : sequence of str
    similar : list of Alike
        Answers that are alike.
    problems : list of str
        What was left out, and what was taken for what.

    Source: the course's own.
    """
    groups = together(similar)
    left = [clean(problem, 400) for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        left.append(f"... and {len(problems) - MOST_PROBLEMS} more.")
    return page(
        "summary.html.j2",
        title=f"Class summary: {', '.join(sheet_title(sheet) for sheet in sheets)}",
        students=len(students),
        submissions=sum(result["status"] != NOTHING for result in results),
        sheets=[_sheet([result for result in results if result["sheet"] == sheet], sheet) for sheet in sheets],
        statuses=_statuses(results, students),
        mistakes=_mistakes(results),
        slowest=[
            {
                **{"student": _name(result["student"], students), "sheet": sheet_title(result["sheet"])},
                **{"seconds": f"{result['seconds']:.1f}", "link": _link(result["student"])},
            }
            for result in sorted(results, key=lambda result: -result["seconds"])[:MOST_SLOW]
            if result["seconds"] > 0
        ],
        note=NOTE,
        groups=[_group(at, *group, students) for at, group in enumerate(groups[:MOST_PAIRS], 1)],
        group_count=len(groups),
        looks=[_look(row, students) for row in look_rows(results, students)[:MOST_LOOKS]],
        look_note=LOOK_NOTE,
        problems=left,
    )


def mistake_of(part: dict) -> str:
    """Return what names the mistake in a part that failed: its cause, else its message with every number as #.

    No errors. Source: the course's own.
    """
    if part.get("cause") and part["cause"] != "not run":  # that says nothing of why
        return str(part["cause"])
    return re.sub(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?", "#", str(part.get("says", "")))


def _sheet(results: list[dict], sheet: str) -> dict:
    graded = [result for result in results if result["status"] not in (NOTHING, "broken")]
    shares = [float(Fraction(result["total"]) / result["of"]) if result["of"] else 0.0 for result in graded]
    counts = [0] * 10
    for share in shares:
        counts[min(9, int(share * 10 + 1e-9))] += 1
    labels = [f"{10 * at}-{10 * at + 9}" for at in range(9)] + ["90-100"]
    says = "No submission has a result."
    chart = ""
    if graded:
        totals = [Fraction(result["total"]) for result in graded]
        of = decimal(graded[0]["of"])
        mean, middle = decimal(sum(totals) / len(totals), 2), decimal(median(totals), 2)
        says = f"{len(graded)} with a result. Mean {mean} of {of} points, median {middle}, "
        says += f"lowest {decimal(min(totals), 2)}, highest {decimal(max(totals), 2)}."
        if unread := sum(result["status"] != "graded" for result in graded):
            says += f" {unread} of them could not be read; see the statuses below."
        chart = histogram(
            counts, labels, f"Scores of {sheet_title(sheet)}", "percent of the points (students above each bar)"
        )
    return {
        **{"title": sheet_title(sheet), "graded": len(graded), "says": says, "histogram": chart},
        "questions": _questions(graded),
    }


def _questions(graded: list[dict]) -> list[dict]:
    points: dict[str, list[Fraction]] = defaultdict(list)
    about: dict[str, dict] = {}
    for result in graded:
        for question in result["questions"]:
            about.setdefault(question["id"], question)
            if not question["open"]:
                points[question["id"]].append(Fraction(question["points"]))
    rows = []
    for id, question in about.items():
        of, row = Fraction(question["of"]), {"id": one_line(id), "title": one_line(question["title"])}
        if not points[id]:
            waits = {"bar": "waits for points by hand", "waits": True}
            rows.append({**row, "mean": "", "of": decimal(of), "full": "", **waits})
            continue
        mean = sum(points[id]) / len(points[id])
        full = sum(value == of for value in points[id]) / len(points[id])
        share = float(mean / of) if of else 0.0
        bar = meter(share, f"{share:.0%} of the points", "data")
        row |= {"mean": decimal(mean, 2), "of": decimal(of), "full": f"{full:.0%}"}
        rows.append({**row, "bar": bar, "waits": False})
    return rows


def _statuses(results: list[dict], students: dict) -> list[tuple[str, int, str]]:
    counts = Counter(result["status"] for result in results)
    rows = []
    for status, count in counts.most_common():
        who = [_name(result["student"], students) for result in results if result["status"] == status]
        more = f" and {count - MOST_NAMES} more" if count > MOST_NAMES else ""
        rows.append((status, count, "" if status == "graded" else ", ".join(who[:MOST_NAMES]) + more))
    return rows


def _mistakes(results: list[dict]) -> list[dict]:
    who: dict[tuple[str, str], set[str]] = defaultdict(set)
    for result in results:
        if _whole(result):
            says = mistake_of(_first_part(result)) if result["status"] == "graded" else mistake_of(result)
            who["all", says].add(result["student"])
            continue
        for question in result["questions"]:
            for part in question["parts"]:
                if not part["passed"] and (mistake := mistake_of(part)):
                    who[question["id"], mistake].add(result["student"])
    most = sorted(who.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_MISTAKES]
    return [
        {"question": one_line(id), "count": len(students), "says": one_line(mistake)}
        for (id, mistake), students in most
    ]


def _whole(result: dict) -> bool:
    """Return whether one reason cost all questions: nothing could be read or run, which is one mistake."""
    if result["status"] == NOTHING:
        return False  # nobody's mistake in a question; it stands among the statuses
    tried = [question["parts"] for question in result["questions"] if question["parts"]]
    failed = [part for parts in tried for part in parts]
    one = len({mistake_of(part) for part in failed}) == 1 and not any(part["passed"] for part in failed)
    return result["status"] != "graded" or (one and len(tried) > 1)


def _first_part(result: dict) -> dict:
    return next(part for question in result["questions"] for part in question["parts"])


def _how(one: Alike, count: int) -> str:
    more = len(one.students) - count
    return one.how + (f", {one.share:.0%}" if one.how == SIMILAR else "") + (f", with {more} more" if more > 0 else "")


def _group(at: int, who: tuple[str, ...], ones: list[Alike], students: dict) -> dict:
    names = [{"name": _name(id, students), "link": _link(id)} for id in who[:MOST_NAMES]]
    questions = ", ".join(one_line(f"{one.question} ({_how(one, len(who))})") for one in ones)
    return {
        **{"names": names, "more": len(who) - len(names), "questions": questions},
        **{"link": f"{PAGE}#g{at}" if at <= MOST_GROUPS else PAGE, "count": len(ones)},
    }


def _look(row: list[str], students: dict) -> dict:
    id, _, questions, says = row
    named = {"student": _name(id, students), "link": _link(id)}
    return {**named, "questions": one_line(questions, 200), "says": one_line(says, 400)}


def _name(id: str, students: dict) -> str:
    student = students.get(id)
    return one_line(f"{student.name} ({id})" if student and student.name else id, 120)


def _link(student: str) -> str:
    return report_path(Path("reports"), student).as_posix()
