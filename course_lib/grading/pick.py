"""Which of the files that a student handed in counts for a sheet.

Source: the course's own.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from course_lib.checks import registry
from course_lib.grading.archive import Entry, UnreadableFile
from course_lib.grading.fit import NONE, Fit, fit, is_lesson
from course_lib.grading.helpers import beside
from course_lib.grading.layouts import Owner, stem_of
from course_lib.grading.notebook_file import read_file
from course_lib.grading.scripts import MOST_BYTES, may_be_script

CHOSEN = " for this sheet: "
"""Stands in the note on which of several files counts, and in no other note."""

IF_TWO = " If they are two people's, keep them in a folder for each"
"""Ends the instructor's line on them."""

_MOST_OTHERS = 20  # files that are no notebook, handed on so that the grader can say what was found instead


@dataclass(frozen=True)
class Submission:
    """What a student handed in for a sheet.

    Attributes
    ----------
    student, sheet : str
    entries : tuple of Entry
        The notebook that counts, then files beside it that it may need; or what there is instead of a notebook; or
        nothing.
    notes : tuple of str
        For the report.
    late : bool
        Marked as late by the system that exported it.
    names : tuple of str
        What each entry is called as seen from the notebook's folder, "data/x.csv".
    reason : str
        Where there are no entries: why, in a sentence; "" if nothing was handed in.
    refused : bool
        Whether something was handed in that cannot be read.
    modified : float
        When the notebook was changed last, in seconds, as the folder or archive says.
    turn : int
        The system's own number, higher for a later file; 0 where there is none.
    others : tuple of Submission
        The student's other attempts: notebooks that answer something of the sheet too, the newest first.
    places : tuple of tuple of str
        Where no entry counts: the names, in parts, of all that the student handed in, also of what cannot be read.

    Source: the course's own.
    """

    student: str
    sheet: str
    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    late: bool = False
    names: tuple[str, ...] = ()
    reason: str = ""
    refused: bool = False
    modified: float = 0.0
    turn: int = 0
    others: tuple[Submission, ...] = ()
    places: tuple[tuple[str, ...], ...] = ()

    def load(self) -> tuple[tuple[tuple[str, bytes], ...], tuple[str, ...]]:
        """Read the files: ((name, content), ...) and notes on what could not be read. No errors."""
        files, notes = [], []
        for entry, name in zip(self.entries, self.names or [entry.name for entry in self.entries], strict=True):
            try:
                files.append((name, entry.read()))
            except UnreadableFile as error:
                files.append((name, b""))
                notes.append(f"{error}.")
        return tuple(files), tuple(notes)


@dataclass(frozen=True)
class Candidate:
    """A notebook that may be the one for a sheet: how well it fits, and what its bytes are.

    `unread` says why it cannot be read, `lesson` that it is the lesson of the sheet's name. Source: the course's own.
    """

    entry: Entry
    its: Owner
    sheet: str
    fit: Fit
    digest: bytes = b""
    unread: str = ""
    lesson: bool = False

    @property
    def shown(self) -> str:
        """Its name within what the student handed in."""
        return "/".join(self.its.rest)

    @property
    def rank(self) -> tuple:
        """What is better comes last: readable, not Jupyter's own copy, the fit, then `when`.

        A notebook with an answer is better than any script, which is its export or its helper.
        """
        own = not self.unread, "-checkpoint." not in self.entry.name
        return (*own, self.fit.answered > 0, not self.entry.script, self.fit, self.when)

    @property
    def when(self) -> tuple:
        """The system's own number, then the time in steps of zip's two seconds, then the name as a person orders it."""
        return (self.its.turn, int(self.entry.modified) // 2, _natural(self.its.rest[-1]))


@dataclass
class Handed:
    """All that one student handed in: files, the notebooks by sheet, what was left out as sentences, notes, all names.

    Source: the course's own.
    """

    id: str
    files: list[tuple[Entry, Owner]] = field(default_factory=list)
    sheets: dict[str, list[Candidate]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    places: list[tuple[str, ...]] = field(default_factory=list)


class Looked(NamedTuple):
    """A file that was read once: its bytes, its cells, and why it could not be read. Source: the course's own."""

    content: bytes = b""
    cells: tuple = ()
    unread: str = ""


def look(entry: Entry) -> Looked:
    """Read a file. No errors. Source: the course's own."""
    try:
        content = entry.read()
    except UnreadableFile as error:
        return Looked(unread=str(error))
    return Looked(content, read_file(entry.name, content)[0])


def candidate(entry: Entry, its: Owner, sheet: str, looked: Looked) -> Candidate:
    """Return a file as the `Candidate` for a sheet. No errors. Source: the course's own."""
    exercises = registry.sheet(sheet).exercises if looked.cells and sheet in registry.SHEETS else ()
    found = fit(looked.cells, exercises)
    digest = hashlib.sha256(looked.content).digest()
    lesson = found == NONE and is_lesson(looked.cells)
    return Candidate(entry, its, sheet, found, digest, looked.unread, lesson)


def pick(sheet: str, graded: tuple, handed: Handed) -> tuple[Submission, str]:
    """Return the `Submission` of a student and sheet, and a sentence for the instructor where the choice is not sure.

    Of several notebooks the one counts that holds most of the sheet's answers; of those that hold as much the last
    turn, the newest, the last by name. Where no notebook holds an answer, scripts are picked from in the same way.
    `graded` are the sheets that are graded. No errors. Source: the course's own.
    """
    ours = sorted(handed.sheets.get(sheet, ()), key=lambda one: one.rank)
    notes, doubt = list(handed.notes), ""
    if not ours or ours[-1].unread or ours[-1].lesson:
        return replace(_without(sheet, graded, handed, ours, notes), places=tuple(handed.places)), ""
    best = ours[-1]
    if not best.entry.script:  # scripts go along with it
        ours = [one for one in ours if not one.entry.script]
    rivals = [one for one in ours[:-1] if one.rank[:-1] == best.rank[:-1] or (one.fit.answered and not one.unread)]
    rivals.sort(key=lambda one: one.when, reverse=True)
    if len(ours) > 1:
        others = ", ".join(one.shown for one in ours[:-1])
        how, what = _how(best, ours[-2]), "files" if best.entry.script else "notebooks"
        notes.append(f"{len(ours)} {what}{CHOSEN}{best.shown} counts, {how}; not {others}.")
        if any(one.digest != best.digest for one in rivals):
            doubt = notes[-1] + IF_TWO
    if any(one.its.late for one in ours):
        notes.append("Canvas marks it as late.")
    notes += handed.left_out
    attempts = [_attempt(sheet, one, handed, ()) for one in rivals]
    return _attempt(sheet, best, handed, notes, any(one.its.late for one in ours), tuple(attempts)), doubt


def _how(best: Candidate, second: Candidate) -> str:
    if best.rank[:-1] != second.rank[:-1]:
        return "as it holds most of the sheet's answers"
    if best.its.turn != second.its.turn:
        return "the last turn"
    return "the newest" if best.when[1] != second.when[1] else "the last by name"


def _attempt(sheet, one: Candidate, handed: Handed, notes, late=None, others=()) -> Submission:
    try:
        near, left = beside(one.its.rest, handed.files, one.entry.read())
    except UnreadableFile:
        near, left = {}, []
    name = one.its.rest[-1] if one.entry.script else _as_notebook(one.its.rest[-1])
    names, entries = (name, *near), (one.entry, *near.values())
    late = one.its.late if late is None else late
    time = dict(modified=one.entry.modified, turn=one.its.turn)
    return Submission(handed.id, sheet, entries, (*notes, *left), late, names, **time, others=others)


def _as_notebook(name: str) -> str:
    """Return a notebook's name as one that the grader takes first: browsers add .txt, Jupyter -checkpoint."""
    return re.sub(r"-checkpoint(?=\.)", "", f"{stem_of(name)}.ipynb" if not name.lower().endswith(".ipynb") else name)


def _without(sheet, graded, handed: Handed, ours, notes) -> Submission:
    """Return the submission of who handed in no notebook for a sheet that can be read: what there is, or why not."""
    unread = [f"{one.unread}." for one in ours if one.unread]
    lesson = "is the lesson of that name, and holds none of the sheet's answers"
    lessons = [f"{one.shown} {lesson}." for one in ours if one.lesson]
    astray = [one.shown for name, several in handed.sheets.items() if name and name not in graded for one in several]
    astray = [f"Taken for another sheet, by name or cells: {', '.join(astray)}."] if astray else []
    nameless = [one.shown for one in handed.sheets.get("", ())]
    nameless = [f"{', '.join(nameless)}: names no sheet, and holds none of a sheet's cells."] if nameless else []
    if unread or handed.left_out:
        says, notes = " ".join([*unread, *handed.left_out]), (*notes, *lessons, *astray, *nameless)
        return Submission(handed.id, sheet, (), notes, reason=says, refused=True)
    if not handed.sheets and (instead := _instead(sheet, handed)):
        return Submission(handed.id, sheet, tuple(instead.values()), tuple(notes), names=tuple(instead))
    if not handed.sheets and handed.files:
        there = ", ".join(f"{'/'.join(its.rest)} of {entry.size:,} bytes" for entry, its in handed.files[:5])
        says = f"No notebook was handed in; there is {there}."
        return Submission(handed.id, sheet, (), tuple(notes), reason=says, refused=True)
    why = [*lessons, *nameless] or ([] if handed.sheets else handed.empty)
    says = f"Nothing was handed in for this sheet: {' '.join(why)}" if why else ""
    return Submission(handed.id, sheet, (), (*notes, *astray), reason=says)


def _instead(sheet: str, handed: Handed) -> dict[str, Entry]:
    """Return {name: Entry} of files that are no notebooks: a script that fits, with what is beside it, else all."""
    files = [(entry, its) for entry, its in handed.files if entry.size <= MOST_BYTES]
    scripts = [pair for pair in files if may_be_script(pair[0])]
    scripts = [candidate(entry, its, sheet, look(entry)) for entry, its in scripts]
    if scripts and (best := max(scripts, key=lambda one: one.rank)).fit > NONE:
        return {best.its.rest[-1]: best.entry, **beside(best.its.rest, handed.files)[0]}
    return {"/".join(its.rest): entry for entry, its in files[:_MOST_OTHERS]}


def _natural(name: str) -> list:
    """Order hw.ipynb, hw (2).ipynb, hw (10).ipynb as a person does."""
    pieces = re.split(r"(\d+)", name.rsplit(".", 1)[0])
    return [(1, int(piece[:18]), "") if piece.isdecimal() else (0, 0, piece) for piece in pieces]
