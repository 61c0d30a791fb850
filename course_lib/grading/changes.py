"""Each mark that a run changed, with when and why, in changes.csv; a run that changes nothing writes nothing.

What the marks were is kept beside the results, so that a table edited by hand is no change. Source: the course's own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from course_lib.grading.csvfile import guarded, write_atomically
from course_lib.grading.final import decimal, is_exact

HEAD = ("when", "student", "question", "from", "to", "why")


def log_changes(folder: Path, finals: list[dict], files: Mapping[tuple[str, str], str], now: datetime) -> Path | None:
    """Append to changes.csv what is not as after the last run; return its path, None if nothing changed.

    Parameters
    ----------
    folder : Path
        Of grades.csv; the marks are kept in its folder `results`.
    finals : list of dict
        Final results. Who has none in this run keeps the marks of the last one.
    files : mapping of {(student, sheet): str}
        What tells that other files count than last time; who is not in it has the files of last time.
    now : datetime

    The first marks of a submission are no change. OSError if the files cannot be written. Source: the course's own.
    """
    kept = folder / "results" / "marks"
    before = _read(kept)
    after, rows = dict(before), []
    for result in finals:
        at = f"{result['student']}\n{result['sheet']}"
        last = before.get(at, {}).get("files", "")
        marks = _marks(result, files.get((result["student"], result["sheet"]), last))
        if at in before:
            rows += [
                [now.isoformat(" ", "seconds"), result["student"], *change] for change in _changes(before[at], marks)
            ]
        after[at] = marks
    path = folder / "changes.csv"
    if rows:
        _append(path, rows)
    if after != before:
        write_atomically(kept, json.dumps(after, ensure_ascii=True).encode("ascii"))
    return path if rows else None


def _marks(result: dict, files: str) -> dict:
    broken = result["status"] == "broken"
    return {
        **{"sheet": result["sheet"], "key": result["key"], "files": files, "late": result["late"], "broken": broken},
        **{"total": "" if broken else result["total"]},
        "questions": {
            one["id"]: ["" if one["open"] or (broken and not one["manual"]) else one["points"], one["manual"]]
            for one in result["questions"]
        },
    }


def _changes(old: dict, new: dict) -> list[list[str]]:
    """Return [question, from, to, why] for each question that changed, and for the total."""
    rows, whys = [], {}
    for id in {**old["questions"], **new["questions"]}:
        was, by_hand = old["questions"].get(id, ["", ""])
        now, by_hand_now = new["questions"].get(id, ["", ""])
        if was != now:
            why = f"manual: {by_hand_now or 'no longer'}" if by_hand != by_hand_now else _why(old, new)
            rows.append([id, *_numbers(was, now), why])
            whys[why] = None
    if old["total"] != new["total"]:
        if old["late"] != new["late"]:
            whys[f"late: {new['late'] or 'no longer'}"] = None
        rows.append([f"total {new['sheet']}", *_numbers(old["total"], new["total"]), "; ".join(whys) or _why(old, new)])
    return rows


def _why(old: dict, new: dict) -> str:
    if new["broken"]:
        return "the grader failed"
    if old["files"] != new["files"]:
        return "other files: a new submission, or another attempt"
    return "regrade: other checks or another version" if old["key"] != new["key"] else "regrade"


def _numbers(was: str, now: str) -> tuple[str, str]:
    both = [text for text in (was, now) if text]
    as_fractions = not all(is_exact(text) for text in both) and len({decimal(text) for text in both}) < len(both)
    return tuple((str(Fraction(text)) if as_fractions else decimal(text)) if text else "" for text in (was, now))


def _read(path: Path) -> dict:
    try:
        kept = json.loads(path.read_bytes())
        return {at: one for at, one in kept.items() if {"questions", "total", "late", "key", "files"} <= one.keys()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _append(path: Path, rows: list[list[str]]) -> None:
    old = path.read_bytes() if path.exists() else b""
    head = old.partition(b"\n")[0]
    separator = ";" if head.count(b";") > head.count(b",") else ","  # as a spreadsheet left it
    text = io.StringIO()
    table = csv.writer(text, delimiter=separator)
    if not old.strip(b"\xef\xbb\xbf\r\n"):
        old = b"\xef\xbb\xbf"  # for Excel, as in grades.csv
        table.writerow(HEAD)
    elif not old.endswith(b"\n"):
        text.write("\r\n")
    table.writerows([[guarded(cell) for cell in row] for row in rows])
    write_atomically(path, old + text.getvalue().encode("utf-8", "backslashreplace"))
