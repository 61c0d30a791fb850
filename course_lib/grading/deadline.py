"""When a submission was handed in, by whom that is known, and how late that is: deadlines, extensions, marks.

A time is taken from Moodle's grading worksheet, from Gradescope's list of submissions, or from the files themselves.
The archives of Moodle and Canvas are of no use for it: what they give each file is the moment of the download.
Source: Moodle's files/classes/local/archive_writer/zip_writer.php, Canvas's lib/content_zipper.rb; the course's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from course_lib.grading.adjust import put_for_sheets, read_hours, student_in
from course_lib.grading.archive import UnreadableFile
from course_lib.grading.csvfile import BadTable, read_csv
from course_lib.grading.feedback import came_by
from course_lib.grading.filled import identifier, worksheet
from course_lib.grading.from_spreadsheet import Ids, as_text
from course_lib.grading.listing import list_files

SPREAD = 120.0
"""Seconds: files that all have one time were copied or unpacked then, and do not say when they were handed in."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)


def read_time(text: str) -> datetime:
    """Return the time that a text names, in this machine's time zone where it names none.

    "2026-11-30 23:59", "2026-11-30" (the end of that day), "2026-11-30T23:59+01:00", "30.11.2026 23:59", and
    "Monday, 30 November 2026, 11:59 PM" as Moodle writes it. `BadTable` shows how one is written. Source: ISO 8601.
    """
    plain = as_text(text)
    iso = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d{1,2}:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?)?", plain
    )
    german = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?\s+(\d{1,2}:\d\d(?::\d\d)?))?", plain)
    moodle = re.search(r"(\d{1,2}) ([A-Za-z]+) (\d{4}),? +(\d{1,2}):(\d\d)(?: ?([AP])M)?$", plain, re.IGNORECASE)
    try:
        if iso:
            day, clock, zone = iso[1], iso[2], (iso[3] or "").replace("Z", "+00:00").replace("UTC", "+00:00")
        elif german:
            day, clock, zone = f"{german[3]}-{int(german[2]):02}-{int(german[1]):02}", german[4], ""
        elif moodle and moodle[2].casefold() in _MONTHS:
            hour = int(moodle[4]) % 12 + 12 * (moodle[6].casefold() == "p") if moodle[6] else int(moodle[4])
            month = _MONTHS.index(moodle[2].casefold()) + 1
            day, clock, zone = f"{moodle[3]}-{month:02}-{int(moodle[1]):02}", f"{hour}:{moodle[5]}", ""
        else:
            raise ValueError
        clock = clock or "23:59"
        return datetime.fromisoformat(f"{day}T{clock.zfill(5 if clock.count(':') == 1 else 8)}{zone}").astimezone()
    except (ValueError, OverflowError, OSError):
        raise BadTable(f"{text.strip()!r} is no time; write year, month, day and hour: 2026-11-30 23:59") from None


def read_extensions(path: Path, students, sheets, deadline: datetime | None) -> dict[tuple[str, str], datetime]:
    """Read a CSV with the column student, deadline, or days or hours more, and as wanted sheet.

    Returns {(student, sheet): the deadline for that student}; without a sheet the line is for all of them. `BadTable`
    names the line. Source: the course's own.
    """
    found: dict[tuple[str, str], datetime] = {}
    ids = Ids(students)
    for row in read_csv(path, ("student",), ("deadline", "days", "hours", "sheet")):
        where = f"{path}, line {row.line}"
        student = student_in(where, row.cells["student"], ids)
        given = [name for name in ("deadline", "days", "hours") if row.cells[name].strip()]
        if len(given) != 1:
            raise BadTable(f"{where}: {' and '.join(given) or 'no time'}; give a deadline, or days or hours more.")
        if given != ["deadline"] and deadline is None:
            raise BadTable(f"{where}: {given[0]} more than which deadline? Name it: --deadline '2026-11-30 23:59'.")
        try:
            until = read_time(row.cells["deadline"]) if given == ["deadline"] else None
        except BadTable as error:
            raise BadTable(f"{where}: deadline {error}") from None
        if until is None:
            hours = read_hours(where, given[0], row.cells[given[0]])
            until = datetime.fromtimestamp(deadline.timestamp() + float(hours * 3600)).astimezone()
        put_for_sheets(found, where, student, row.cells["sheet"], sheets, until)
    return found


@dataclass
class Times:
    """When things were handed in.

    Attributes
    ----------
    told : dict of {(student, sheet): datetime}
        As the platform says.
    of_files : bool
        Whether a file's own time counts where nobody says another.
    says : str
        Where the times are from, for the instructor.

    Source: the course's own.
    """

    told: dict[tuple[str, str], datetime] = field(default_factory=dict)
    of_files: bool = False
    says: str = ""

    def of(self, submission, entry=None) -> datetime | None:
        """Return when a file of a `Submission` was handed in, None if that is not known. No errors."""
        if found := self.told.get((submission.student, submission.sheet)):
            return found
        entry = entry or next(iter(submission.entries), None)
        if not self.of_files or entry is None or entry.inner >= 0 or entry.modified <= 0:
            return None  # a time within a student's own archive is the student's
        return datetime.fromtimestamp(entry.modified).astimezone()


def times_of(collected, source: Path, worksheets: Mapping[str, Path]) -> Times:
    """Return what is known about when a class handed in.

    `BadTable` if a worksheet is none. Source: the platforms' own; see this module.
    """
    told: dict[tuple[str, str], datetime] = {}
    for sheet, path in worksheets.items():
        told |= {(student, sheet): when for student, when in _of_worksheet(path, collected).items()}
    handed = [one for one in collected.submissions if one.entries]
    if told:
        return Times(told, says="as Moodle's grading worksheet says")
    if any(re.fullmatch(r"submission_\d+", part) for one in handed for part in one.entries[0].parts):
        return Times(_of_gradescope(source, handed), says="as Gradescope's list of submissions says")
    if any(came_by(one)[0] for one in handed):
        return Times(says="the archives of Moodle and Canvas do not tell. Name Moodle's --worksheet, or --late")
    files = [tried.entries[0].modified for one in handed for tried in (one, *one.others) if tried.entries]
    if len(files) > 1 and max(files) - min(files) < SPREAD:
        return Times(says="all files have one time, as after a copy, which tells nothing. Name --late")
    return Times(of_files=True, says="the files' own times")


def _of_worksheet(path: Path, collected) -> dict[str, datetime]:
    table, rows = worksheet(path)
    column = table.columns().get("last modified (submission)")
    found: dict[str, datetime] = {}
    for number, row in rows.items():
        cells = table.rows[row]
        text = cells[column].text.strip() if column is not None and column < len(cells) else ""
        if identifier(number) in collected.students and re.search(r"\d", text):
            try:
                found[number] = read_time(text)
            except BadTable:
                raise BadTable(
                    f"{path}: {text!r} is no time in English. Set your language to English in Moodle, and download "
                    "the worksheet again."
                ) from None
    return found


def _of_gradescope(source: Path, handed: list) -> dict[tuple[str, str], datetime]:
    created: dict[str, str] = {}
    for entry in list_files(source).entries:
        if entry.name == "submission_metadata.yml":
            try:
                text = entry.read().decode("utf-8", "replace")
            except UnreadableFile:
                continue
            here = ""
            for line in text.splitlines():
                if start := re.match(r"['\"]?(submission_\d+)['\"]?:\s*$", line):
                    here = start[1]
                elif here and here not in created and (found := re.match(r"  :?created_at:\s*(.+?)\s*$", line)):
                    created[here] = found[1]
    found = {}
    for one in handed:
        for part in one.entries[0].parts:
            if part in created:
                try:
                    found[one.student, one.sheet] = read_time(created[part].strip("'\""))
                except BadTable:
                    continue
    return found


@dataclass(frozen=True)
class Lateness:
    """How late each submission is: by the instructor's list, by its deadline, or because Canvas marks it.

    Attributes
    ----------
    listed : mapping of {(student, sheet): hours}
        The instructor's own list; it counts before all else.
    deadline : datetime, optional
    extended : mapping of {(student, sheet): datetime}
    times : Times
    marked : Fraction, optional
        The hours that count for what Canvas marks as late.

    Source: the course's own.
    """

    listed: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)
    deadline: datetime | None = None
    extended: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    times: Times = field(default_factory=Times)
    marked: Fraction | None = None

    def until(self, submission) -> datetime | None:
        """Return the deadline of a `Submission`, None if it has none. No errors."""
        return self.extended.get((submission.student, submission.sheet), self.deadline)

    def in_time(self, submission, entry=None) -> bool | None:
        """Return whether a file was handed in by its deadline, None if that is not known. No errors."""
        when, until = self.times.of(submission, entry), self.until(submission)
        return None if when is None or until is None else _seconds(until, when) <= 0

    def of(self, submission) -> tuple[Fraction | None, str]:
        """Return the hours late, None if it is not late, and a sentence for the report, "". No errors."""
        at = (submission.student, submission.sheet)
        when, until = self.times.of(submission), self.until(submission)
        note = ""
        if submission.entries and until and when:
            more = " (extended)" if at in self.extended else ""
            note = f"Handed in {when:%Y-%m-%d %H:%M}; the deadline was {until:%Y-%m-%d %H:%M}{more}."
        if at in self.listed:
            return self.listed[at], note
        if note:
            seconds = _seconds(until, when)
            return (Fraction(seconds, 3600), note) if seconds > 0 else (None, note)
        if submission.late and self.marked is not None and submission.entries and at not in self.extended:
            return self.marked, note
        return None, note

    def unknown(self, submissions: Iterable) -> int:
        """Return how many submissions have a deadline and no known time. No errors."""
        return sum(
            bool(one.entries and self.until(one) and not self.times.of(one))
            and (one.student, one.sheet) not in self.listed
            for one in submissions
        )


def _seconds(until: datetime, when: datetime) -> int:
    """Return the seconds that `when` is after the deadline; a deadline of 23:59 is over when that minute is."""
    return int(when.timestamp()) - int(until.timestamp()) - (59 if until.second == 0 else 0)
