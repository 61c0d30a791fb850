"""What was handed in becomes submissions: one a student and sheet, with the file that counts and what was noticed.

Source: the course's own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from unicodedata import normalize

from course_lib.grading.archive import SubmissionsError
from course_lib.grading.fit import NONE
from course_lib.grading.listing import LeftOut, list_files
from course_lib.grading.owners import EmptyFolder, Owners, looks_like_several
from course_lib.grading.pick import Handed, Looked, Submission, candidate, look, pick
from course_lib.grading.roster import Student
from course_lib.grading.scripts import answers_a_sheet, by_functions, is_notebook, may_be_script
from course_lib.grading.sections import unwrapped
from course_lib.grading.sheet_names import Names

__all__ = ["Collected", "Submission", "SubmissionsError", "collect"]


@dataclass
class Collected:
    """The students by id, one `Submission` for each student and sheet, and a line for each thing left out or guessed.

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

    def meet(self, id: str, name: str, email: str, section: str = "") -> str:
        """Return the id of who handed something in, as the roster writes it; whoever is new is added. No errors."""
        id = self._forms.setdefault(normalize("NFC", id), id)
        if id not in self.students:
            self.students[id] = Student(id, name, email, section=section)
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
    names, from_zip = Names(known), source.is_file()
    found = Collected(wanted, dict(roster or {}), problems=list(listing.problems))
    whole = source.resolve().stem if from_zip else source.resolve().name
    items = [*(_marked(entry, names, wanted) for entry in listing.entries), *listing.left_out]
    depth = unwrapped(items, from_zip, names)
    owners = Owners([*items, *_empty(listing)], depth, whole, names)
    found.problems += owners.says
    handed = _handed(owners, found)
    for one in handed.values():
        one.sheets = _by_sheet(one, names, wanted, found)
    if not wanted:
        there = {sheet for one in handed.values() for sheet in _opened(one, names)}
        found.sheets = tuple(sheet for sheet in known if sheet in there)
        if not found.sheets:
            raise SubmissionsError(_why_none(source, [item.name for item in items]))
    for id in found.students:
        for sheet in found.sheets:
            submission, doubt = pick(sheet, found.sheets, handed.get(id) or Handed(id))
            found.submissions.append(submission)
            found.problems += [f"{_named(found.students[id])}: {doubt}"] if doubt else []
    found.problems += _astray(found, handed)
    return found


def _named(student: Student) -> str:
    return f"{student.name} ({student.id})" if student.name and student.name != student.id else student.id


def _astray(found: Collected, handed: dict[str, Handed]) -> list[str]:
    """Say who handed in another sheet only, where the instructor named the sheets: the name may be the wrong one."""
    others = defaultdict(list)
    for id, one in handed.items():
        if one.sheets and not {*one.sheets} & {*found.sheets, ""}:
            for sheet in one.sheets:
                others[sheet].append(id)
    return [
        f"{len(ids)} {'student' if len(ids) == 1 else 'students'} handed in {sheet}, which is not graded here, and "
        f"nothing for {' or '.join(found.sheets)}: is the sheet's name right?"
        for sheet, ids in others.items()
    ]


def _marked(entry, names: Names, wanted):
    """Return an `Entry` as one that says whether it is a script that answers a sheet."""
    if not may_be_script(entry):
        return entry
    return replace(entry, script=answers_a_sheet("/".join(entry.parts), look(entry), names, wanted))


def _opened(one: Handed, names: Names) -> set[str]:
    """Return the sheets that a student's files show to be handed in.

    A lesson shows none; nor does a script beside a notebook with answers, if it is not named as its sheet: it may be
    last week's work that the notebook imports.
    """
    worked = any(file.fit.answered and not file.entry.script for several in one.sheets.values() for file in several)
    return {
        sheet
        for sheet, several in one.sheets.items()
        for file in several
        if not file.lesson and not (file.entry.script and worked and names.in_text(file.shown) != sheet)
    }


def _empty(listing) -> list[EmptyFolder]:
    """Return the folders that nothing lies in."""
    full = {item.parts[:depth] for item in (*listing.entries, *listing.left_out) for depth in range(1, len(item.parts))}
    around = {folder[:depth] for folder in listing.folders for depth in range(1, len(folder))}
    return [EmptyFolder(folder, "is empty") for folder in sorted(listing.folders - full - around)]


def _handed(owners: Owners, found: Collected) -> dict[str, Handed]:
    """Return who handed in what, by the ids of the students, all of whom `found` meets here."""
    ids = _ids(owners, found)
    handed: dict[str, Handed] = {}
    written: dict[str, set[str]] = defaultdict(set)
    together: dict[tuple, list[str]] = defaultdict(list)
    # In the order of the folders' names, and within one of them as they were listed.
    for item, its, (id, name, email) in sorted(owners.found, key=lambda one: one[0].parts[: 1 + len(one[0].folders)]):
        mine = ids[its.section, id, name if its.system != "Canvas" else ""]
        student = found.meet(mine, name, email, its.section)
        written[student].add(mine)
        one = handed.setdefault(student, Handed(student))
        one.places.append(item.parts)
        if isinstance(item, EmptyFolder):
            one.empty.append(f"the folder {'/'.join(item.parts)} is empty.")
        elif isinstance(item, LeftOut):
            one.left_out.append(f"Handed in {'/'.join(its.rest) or item.name}, which {item.why}.")
        else:
            one.files.append((item, its))
            together[item.parts, item.path].append(student)
        if its.section and not one.notes:
            one.notes.append(f"Section or group: {its.section}.")
    _say_doubts(found, handed, written, together)
    return handed


def _ids(owners: Owners, found: Collected) -> dict[tuple[str, str, str], str]:
    """Return {(section, id, name): the student's id}: one id in two sections, or of two names, is two people's."""
    sections, names = defaultdict(set), defaultdict(set)
    for _, its, (id, name, _) in owners.found:
        sections[normalize("NFC", id)].add(its.section)
        names[its.section, normalize("NFC", id)].add(normalize("NFC", name))
    ids = {}
    for _, its, (id, name, _) in owners.found:
        form, mine = normalize("NFC", id), id
        if len(names[its.section, form] - {""}) > 1 and name:
            mine = f"{mine} ({name})"
        if len(sections[form]) > 1 and its.section:
            mine = f"{mine} ({its.section})"
        ids[its.section, id, name if its.system != "Canvas" else ""] = mine
    for id, several in sections.items():
        if len(several) > 1:
            where = ", ".join(section or "no section" for section in sorted(several))
            found.problems.append(f"{id} is in {where}: taken for {len(several)} people, who have a row each")
    for (_, id), several in names.items():
        if len(several - {""}) > 1:
            found.problems.append(f"{id} stands for {' and for '.join(sorted(several - {''}))}: each has a row")
    return ids


def _say_doubts(found: Collected, handed, written, together) -> None:
    """Say of whom nobody can be sure, from names alone, that it is one person."""
    alike = defaultdict(list)
    for id in found.students:
        alike[" ".join(normalize("NFKC", id).casefold().split())].append(id)
    for several in alike.values():
        if len(several) > 1:
            line = f"{' and '.join(map(repr, several))} differ in capitals or spaces only: each has a row"
            found.problems.append(line)
            for id in set(several) & set(handed):
                handed[id].notes.append(f"{line}.")
    for id, forms in written.items():
        if len(forms) > 1:
            found.problems.append(f"{id} is written in {len(forms)} Unicode forms: taken for one person")
        if looks_like_several(id) or looks_like_several(found.students[id].name):
            found.problems.append(f"{id}: the name looks like several people's, and has one row")
            handed[id].notes.append("The name looks like several people's; there is one result for them.")
    for one in handed.values():
        others = {id for entry, _ in one.files for id in together[entry.parts, entry.path]} - {one.id}
        if others:
            who = ", ".join(found.students[id].name or id for id in sorted(others))
            one.notes.append(f"Handed in together with {who}.")


def _why_none(source, names: list[str]) -> str:
    """Return what to say where no submission of any sheet was found."""
    notebooks = [name for name in names if is_notebook(name)]
    if not names:
        return f"{source} is empty. Name the folder or the zip that the submissions are in."
    if not notebooks:
        return (
            f"{source} holds {len(names)} files such as {names[0]!r}, and none is a notebook, or a script with a "
            "sheet's answers. Is it the right folder?"
        )
    return (
        f"{source} holds {len(notebooks)} notebooks, and none names a sheet or holds a sheet's cells. "
        "Say which sheet they are: --sheet 04_backpropagation"
    )


def _by_sheet(one: Handed, names: Names, wanted, found: Collected) -> dict[str, list]:
    """Sort a student's notebooks by sheet: by their names, else by their cells, else the one sheet that is graded."""
    sheets = defaultdict(list)
    for entry, its in one.files:
        if not is_notebook(entry.name) and not entry.script:
            continue
        named = names.in_text(its.rest[-1]) or names.in_text("/".join(its.rest[:-1])) or its.sheet
        looked = look(entry)
        its_own = candidate(entry, its, named, looked)
        if not named or its_own.fit == NONE:  # its name says nothing, or something else than its cells
            by_cells = _by_cells(looked, names)
            if by_cells and by_cells != named:
                other = candidate(entry, its, by_cells, looked)
                if not named or other.fit > NONE:
                    named, its_own = by_cells, other
        if not named and len(wanted) == 1:
            named, its_own = wanted[0], candidate(entry, its, wanted[0], looked)
        if not named:
            line = f"{'/'.join(entry.parts)} ({one.id}) names no sheet: not graded. Name it with --sheet"
            found.problems.append(line)
            found.lost += 1
        sheets[named].append(its_own)
    return sheets


def _by_cells(looked: Looked, names: Names) -> str:
    """Return the sheet whose exercises a notebook speaks of, else the one of which it answers two or more, or ""."""
    if (sheet := names.in_cells(looked.content)) or b"def " not in looked.content:
        return sheet
    return by_functions(looked, names)
