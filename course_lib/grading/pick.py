"""Which of the files that a student handed in counts for a sheet.

Source: the course's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_lib.grading.archive import Entry, UnreadableFile

_MOST_OTHERS = 20  # files that are no notebook, handed on so that the grader can say what was found instead


@dataclass(frozen=True)
class Submission:
    """What a student handed in for a sheet: the files, none or usually one, and notes for the report.

    `others` are the student's other attempts, the newest first. Source: the course's own.
    """

    student: str
    sheet: str
    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    late: bool = False
    others: tuple[Submission, ...] = ()

    def load(self) -> tuple[tuple[tuple[str, bytes], ...], tuple[str, ...]]:
        """Read the files: ((name, content), ...) and notes on what could not be read. No errors."""
        files, notes = [], []
        for entry in self.entries:
            try:
                files.append((entry.name, entry.read()))
            except UnreadableFile as error:
                files.append((entry.name, b""))
                notes.append(f"{error}.")
        return tuple(files), tuple(notes)


def is_notebook(entry: Entry) -> bool:
    """Return whether a file's name says that it is a notebook. No errors. Source: the course's own."""
    return ".ipynb" in entry.name.lower()  # browsers save "hw.ipynb.txt" and "hw.ipynb.json"


def pick(id: str, sheet: str, graded: tuple, sheets: dict, handed) -> Submission:
    """Return the `Submission` of a student and sheet, with the file that counts: last turn, newest, last by name.

    `graded` are the sheets that are graded, `sheets` the student's notebooks by sheet as (Entry, Owner), and `handed`
    all files. No errors. Source: the course's own.
    """
    ours = sorted(sheets.get(sheet, ()), key=lambda pair: (pair[1].turn, int(pair[0].modified) // 2, _natural(pair[0])))
    late = any(its.late for _, its in ours)
    notes = []
    if ours:
        entry, its = ours[-1]
        if len(ours) > 1:
            others = ", ".join("/".join(pair[1].rest) for pair in ours[:-1])
            how = "newest" if int(entry.modified) // 2 != int(ours[-2][0].modified) // 2 else "last by name"
            notes.append(f"{len(ours)} notebooks for this sheet: {'/'.join(its.rest)} counts, the {how}; not {others}.")
        if late:
            notes.append("Canvas marks it as late.")
        attempts = tuple(Submission(id, sheet, (file,), (), its.late) for file, its in reversed(ours[:-1]))
        return Submission(id, sheet, (entry,), tuple(notes), late, others=attempts)
    others = [entry for entry, _ in handed if not is_notebook(entry) and entry.size <= 2**20][:_MOST_OTHERS]
    if sheets:  # notebooks of other sheets; those that are not graded now may be meant for this one
        astray = [entry.name for name, pairs in sheets.items() for entry, _ in pairs if name not in graded]
        note = f"Taken for another sheet, by name or cells: {', '.join(astray)}."
        return Submission(id, sheet, (), (note,) if astray else ())
    return Submission(id, sheet, tuple(others))


def _natural(entry: Entry) -> list:
    """Order hw.ipynb, hw (2).ipynb, hw (10).ipynb as a person does."""
    stem = entry.name.rsplit(".", 1)[0]
    pieces = re.split(r"(\d+)", stem)
    return [(1, int(piece[:18]), "") if piece.isdecimal() else (0, 0, piece) for piece in pieces]
