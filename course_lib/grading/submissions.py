"""What was handed in becomes submissions: one a student and sheet, with the file that counts and what was noticed.

Source: the course's own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from course_lib.grading.archive import Entry, SubmissionsError, UnreadableFile
from course_lib.grading.layouts import Owner, gradescope_people, owner, unwrapped
from course_lib.grading.listing import list_files
from course_lib.grading.pick import Submission, is_notebook, pick
from course_lib.grading.roster import Student
from course_lib.grading.sheet_names import Names

__all__ = ["Collected", "Submission", "SubmissionsError", "collect"]

_METADATA = "submission_metadata.yml"


@dataclass
class Collected:
    """The students by id, one `Submission` for each student and sheet, and a line for each thing left out.

    `lost` counts the notebooks of which nobody can say which sheet they are. Source: the course's own.
    """

    sheets: tuple[str, ...]
    students: dict[str, Student] = field(default_factory=dict)
    submissions: list[Submission] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lost: int = 0

    def __post_init__(self):
        """Remember the ids' composed forms: systems store one name in several (Unicode annex 15)."""
        self._forms = {normalize("NFC", id): id for id in self.students}
        self._has_roster = bool(self.students)

    def meet(self, id: str, name: str, email: str) -> str:
        """Return the id of who handed something in, as the roster writes it; whoever is new is added. No errors."""
        id = self._forms.setdefault(normalize("NFC", id), id)
        if id not in self.students:
            self.students[id] = Student(id, name, email)
            if self._has_roster:
                self.problems.append(f"{id} is not in the roster, and is graded too")
        return id


def collect(source: Path, known: tuple[str, ...], wanted: tuple[str, ...] = (), roster=None) -> Collected:
    """Find the submissions in a folder or a zip.

    Parameters
    ----------
    source : Path
    known : tuple of str
        All sheets of the course, "04_backpropagation".
    wanted : tuple of str
        The sheets to grade; those that are found if none is named.
    roster : dict of {id: Student}, optional
        Students who appear even with nothing handed in.

    Raises `SubmissionsError` if nothing can be listed or nothing is a notebook. Source: the course's own.
    """
    listing = list_files(source)
    names = Names(known)
    from_zip = source.is_file()
    depth = unwrapped([entry.parts for entry in listing.entries], from_zip, names)
    people = _gradescope(listing.entries)
    found = Collected(wanted, dict(roster or {}), problems=list(listing.problems))
    whole = source.resolve().stem if from_zip else source.resolve().name

    files: dict[str, list[tuple[Entry, Owner]]] = defaultdict(list)
    for folder in sorted(listing.folders):
        if len(folder) == depth + 1 and not folder[-1].startswith(".") and not names.in_text(folder[-1]):
            listed = owner((folder[-1], ""), whole, names.without)
            for id, name, email in people.get(folder[-1], [(listed.id, listed.name, "")]):
                found.meet(id, name, email)
    for entry in listing.entries:
        if entry.name == _METADATA or len(entry.parts) <= depth or entry.parts[-1].startswith("."):
            continue
        parts = entry.parts[depth:]
        its = owner(parts, whole, names.without)
        for id, name, email in people.get(parts[0], [(its.id, its.name, "")]):
            files[found.meet(id, name, email)].append((entry, its))

    by_sheet = {id: _by_sheet(id, handed, names, wanted, found) for id, handed in files.items()}
    if not wanted:
        there = {sheet for sheets in by_sheet.values() for sheet in sheets if sheet}
        found.sheets = tuple(sheet for sheet in known if sheet in there)
        if not found.sheets:
            raise SubmissionsError(_why_none(source, [entry.name for entry in listing.entries]))
    for id in found.students:
        for sheet in found.sheets:
            found.submissions.append(pick(id, sheet, found.sheets, by_sheet.get(id, {}), files.get(id, ())))
    return found


def _why_none(source, names: list[str]) -> str:
    """Return what to say where no submission of any sheet was found."""
    notebooks = [name for name in names if name.lower().endswith(".ipynb")]
    if not names:
        return f"{source} is empty. Name the folder or the zip that the submissions are in."
    if not notebooks:
        return (
            f"{source} holds {len(names)} files such as {names[0]!r}, and none is a notebook. Is it the right folder?"
        )
    return (
        f"{source} holds {len(notebooks)} notebooks, and none names a sheet or holds a sheet's cells. "
        "Say which sheet they are: --sheet 04_backpropagation"
    )


def _gradescope(entries: list[Entry]) -> dict:
    for entry in entries:
        if entry.name == _METADATA:
            try:
                return gradescope_people(entry.read().decode("utf-8", "replace"))
            except UnreadableFile:
                return {}
    return {}


def _by_sheet(id: str, handed, names: Names, wanted, found: Collected) -> dict[str, list]:
    """Sort a student's notebooks by sheet: by their names, else by their cells, else the one sheet that is graded."""
    sheets = defaultdict(list)
    for entry, its in handed:
        if not is_notebook(entry):
            continue
        sheet = names.in_text(its.rest[-1]) or names.in_text("/".join(its.rest[:-1]))
        if not sheet:
            try:
                sheet = names.in_cells(entry.read())
            except UnreadableFile:
                sheet = ""
        if not sheet and len(wanted) == 1:
            sheet = wanted[0]
        if not sheet:
            found.problems.append(f"{'/'.join(entry.parts)} ({id}) names no sheet: not graded. Name it with --sheet")
            found.lost += 1
        sheets[sheet].append((entry, its))
    return sheets
