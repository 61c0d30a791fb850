"""What an instructor's lists and options say to `course grade`: points by hand, lateness, platforms' tables."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

__all__ = ["by_hand", "lateness", "platform_tables", "with_attempts"]


def by_hand(manual: Path | None, collected, most) -> dict:
    """Return the points given by hand; `BadTable` if the list is wrong. Source: the course's own."""
    from course_lib.grading.adjust import read_manual

    return read_manual(manual, collected.students, most) if manual else {}


def lateness(late: Path | None, deadline: str, extensions: Path | None, marked: str, collected, source: Path, sheets):
    """Return the `Lateness` of a class; `sheets` are Moodle's worksheets. `BadTable` if a list or a time is wrong.

    Source: the course's own.
    """
    from course_lib.grading.adjust import read_late
    from course_lib.grading.csvfile import BadTable
    from course_lib.grading.deadline import Lateness, Times, read_extensions, read_time, times_of

    listed = read_late(late, collected.students, collected.sheets) if late else {}
    try:
        until = read_time(deadline) if deadline else None
    except BadTable as error:
        raise BadTable(f"--deadline {error}") from None
    extended = read_extensions(extensions, collected.students, collected.sheets, until) if extensions else {}
    times = times_of(collected, source, sheets) if until or extended else Times()
    return Lateness(listed, until, extended, times, _hours(marked) if marked else None)


def _hours(text: str) -> Fraction:
    from course_lib.grading.csvfile import BadTable

    found = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,3})?)\s*(hour|day)s?\s*", text, re.IGNORECASE)
    if not found:
        raise BadTable(f"--late-marked is {text!r}; it says how late that counts: '1 day' or '6 hours'")
    return Fraction(found[1]) * (24 if found[2].lower() == "day" else 1)


def with_attempts(rule: str, collected, late):
    """Return what was collected with the attempt that counts; ValueError if there is no such rule, or no deadline.

    Source: the course's own.
    """
    from course_lib.grading.attempts import RULES, before_deadline, undecided

    if rule not in RULES:
        raise ValueError(f"no rule {rule!r} for several attempts; there are {', '.join(RULES)}")
    if rule == "last":
        return collected
    collected = replace(collected, problems=[undecided(line, rule) for line in collected.problems])
    if rule == "best":
        return collected
    if late.deadline is None and not late.extended:
        raise ValueError("--attempts before-deadline needs the deadline: --deadline '2026-11-30 23:59'")
    return replace(collected, submissions=[before_deadline(one, late) for one in collected.submissions])


def platform_tables(worksheets: list[str], gradebook: Path | None, columns: list[str], sheets: tuple, presets: list):
    """Return the `Wanted` tables: worksheets as FILE or SHEET=FILE, columns as SHEET=NAME. ValueError if one is not so.

    Source: the course's own.
    """
    from course_lib.grading.filled import worksheet
    from course_lib.grading.gradebook import Wanted
    from course_lib.grading.presets import check_gradebook

    files: dict[str, Path] = {}
    for text in worksheets:
        sheet, name = _named(text, sheets)
        if not sheet and len(sheets) != 1:
            raise ValueError(f"--worksheet {text}: {len(sheets)} sheets are graded; say which: {sheets[0]}={text}")
        files[sheet or sheets[0]] = Path(name)
    for path in files.values():
        worksheet(path)  # what is wrong with it is better known before the grading
    called = dict(_named(text, sheets) for text in columns)
    if "" in called:
        raise ValueError(f"--column is SHEET=NAME, with a sheet of {', '.join(sheets)}; there is {called['']!r}")
    if gradebook:
        check_gradebook(gradebook, sheets, called)
    return Wanted(tuple(presets), files, gradebook, called)


def _named(text: str, sheets: tuple) -> tuple[str, str]:
    sheet, equals, name = text.partition("=")
    return (sheet.strip(), name.strip()) if equals and sheet.strip() in sheets else ("", text)
