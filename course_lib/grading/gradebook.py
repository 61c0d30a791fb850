"""From submissions to files: which results are kept, which are to be made, and what is written of all of them.

Source: the course's own.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from course_lib.checks.registry import sheet as sheet_named
from course_lib.grading.attempts import AttemptStore, attempts, best
from course_lib.grading.by_hand_page import write_by_hand_page
from course_lib.grading.changes import log_changes
from course_lib.grading.csvfile import write_csv
from course_lib.grading.deadline import Lateness
from course_lib.grading.feedback import came_by, write_feedback
from course_lib.grading.final import decimal, finish, missing
from course_lib.grading.look_at import write_look_at
from course_lib.grading.notebook import read_answers
from course_lib.grading.notices import given_runs, notices
from course_lib.grading.presets import write_filled, write_preset
from course_lib.grading.report import write_report
from course_lib.grading.similarity import NOTE, Alike, alike
from course_lib.grading.similarity_page import write_similarity
from course_lib.grading.store import Store, fault, key_of
from course_lib.grading.submissions import Collected, Submission
from course_lib.grading.summary import write_summary
from course_lib.grading.tables import by_student, write_by_hand, write_grades


@dataclass
class Gradebook:
    """The results of a class, kept ones and new ones.

    Attributes
    ----------
    collected : Collected
    store : Store
    judges : str
        The hash of all that decides on points, beside a submission's files.
    level : str
        The sandbox level asked for.
    questions : dict of {sheet: list of dict}
        Questions without points, for who handed nothing in.
    all_attempts : bool
        Whether each attempt is graded and the best counts; else the one that was picked.
    results : dict of {(student, sheet): result}
        Of the attempt that was picked.
    earlier : set of (student, sheet)
        Whose result is of an earlier run, with other files or other checks, as `only` names others.

    Source: the course's own.
    """

    collected: Collected
    store: Store
    judges: str
    level: str
    questions: dict[str, list[dict]]
    all_attempts: bool = False
    results: dict[tuple[str, str], dict] = field(default_factory=dict)
    earlier: set[tuple[str, str]] = field(default_factory=set)
    notes: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    _keys: dict[tuple[str, str], str] = field(default_factory=dict)
    _others: dict[tuple[str, str], dict[str, tuple[Submission, dict | None]]] = field(default_factory=dict)

    def to_grade(self, only: set[str], regrade: bool) -> list[Submission]:
        """Take what is kept from the store and return the submissions that have no result.

        With `only`, no other student is graded, and `regrade` passes over kept results of these alone. The others keep
        the result of an earlier run even if their files or the checks have changed: no mark is lost. No errors.
        """
        todo = []
        for submission in self.collected.submissions:
            at = (submission.student, submission.sheet)
            self.notes[at] = submission.notes
            if not submission.entries:
                self.files[at] = ""
                why = dict(reason=submission.reason, refused=submission.refused)
                self.results[at] = missing(*at, self.questions[submission.sheet], **why)
                continue
            files, unread = submission.load()
            self.notes[at] += unread
            self._keys[at] = self._key(submission.sheet, files)
            self.files[at] = key_of("", submission.sheet, "", files)
            asked = not only or submission.student in only
            kept = None if regrade and asked else self.store.get(*at, self._keys[at])
            if kept:
                self.results[at] = kept
            elif asked:
                todo.append(submission)
            elif last := self.store.last(*at):
                self.results[at] = last
                self.earlier.add(at)
                del self.files[at]  # those of the result are in the list of marks
            if self.all_attempts:
                todo += self._others_to_grade(submission, asked, regrade)
        return todo

    def _others_to_grade(self, submission: Submission, asked: bool, regrade: bool) -> list[Submission]:
        at, todo = (submission.student, submission.sheet), []
        others = self._others[at] = {}
        for one in attempts(submission)[:-1]:
            key = self._key(one.sheet, one.load()[0])
            if key == self._keys[at] or key in others:
                continue  # the same file once more
            kept = None if regrade and asked else self._attempts.get(*at, key)
            others[key] = (one, kept)
            if asked and not kept:
                todo.append(one)
        return todo

    @functools.cached_property
    def _attempts(self) -> AttemptStore:
        return AttemptStore(self.store.folder / "attempts")

    def _key(self, sheet: str, files) -> str:
        return key_of(self.judges, sheet, self.level, files)

    def tasks(self, todo: list[Submission], make: Callable) -> Iterator:
        """Yield make(student, sheet, files) for each submission; its files are read only now. No errors."""
        for submission in todo:
            files, _ = submission.load()
            at = (submission.student, submission.sheet)
            key = self._key(submission.sheet, files)
            if key not in self._others.get(at, ()):
                self._keys[at] = key  # it may have changed since
            yield make(*at, files)

    def put(self, task, result: dict, broken: Callable) -> dict:
        """Keep a task's result and return it; one that does not add up is broken(task, why). OSError if that fails."""
        if why := fault(result, task.student, task.sheet):
            result = broken(task, f"The grader's result is not sound: {why}. Please report it.")
        at, key = (task.student, task.sheet), self._key(task.sheet, task.files)
        others = self._others.get(at, {})
        if key in others:
            self._attempts.put(result, key)
            others[key] = (others[key][0], {**result, "key": key})
            return result
        self.store.put(result, self._keys[at])
        self.results[at] = {**result, "key": self._keys[at]}
        return result

    def final(self, manual, late: Lateness, rule) -> list[dict]:
        """Return all final results, in the order of the students. No errors.

        Where all attempts are graded, the one that counts is put in `collected` and `files`.
        """
        finals = []
        for number, submission in enumerate(self.collected.submissions):
            at = (submission.student, submission.sheet)
            others = [made for made in self._others.get(at, {}).values() if made[1]]
            if at not in self.results and not others:
                continue
            tried = [*others, *([(submission, self.results[at])] if at in self.results else [])]
            done = [(one, self._finished(one, result, manual, late, rule)) for one, result in tried]
            counted, result = best(done)
            if counted is not submission:
                self.collected.submissions[number] = counted
                self.files[at] = key_of("", counted.sheet, "", counted.load()[0])
            finals.append(result)
        return finals

    def _finished(self, submission: Submission, result: dict, manual, late: Lateness, rule) -> dict:
        at = (submission.student, submission.sheet)
        hours, said = late.of(submission)
        notes = (*self.notes[at], *([said] if said else []))
        return finish(result, manual, hours, rule, notes, self.questions[at[1]])

    def notices(self, given: list[str]) -> dict[tuple[str, str], list[dict]]:
        """Return {(student, sheet): what an instructor should look at, as {"question", "says"}}. No errors."""
        sheets, known, found = given_runs(given), {}, {}
        for at, result in self.results.items():
            try:
                exercises = {e.id: e for e in sheet_named(at[1]).exercises if e.kind != "text"}
            except LookupError:  # a sheet that a later version has no more
                exercises = {}
            answers = [(id, str(text)) for id, text in result["answers"].items() if id in exercises and text]
            for answer in answers:
                if answer not in known:  # a class writes many answers alike
                    known[answer] = notices(exercises[answer[0]], answer[1], given=sheets)
            found[at] = [{"question": id, "says": says} for id, text in answers for says in known[id, text]]
        return found

    def answers(self, finals: list[dict]) -> dict[str, dict[str, str]]:
        """Return {question: {student: text}} of what is compared: no answers in words; a group's files once."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        entries = {(one.student, one.sheet): one.entries for one in self.collected.submissions}
        seen = set()
        for result in finals:
            files = entries.get((result["student"], result["sheet"]), ())
            if not files or (result["sheet"], files) in seen:
                continue
            seen.add((result["sheet"], files))
            in_words = {question["id"] for question in result["questions"] if question["kind"] == "text"}
            for id, text in result["answers"].items():
                if id not in in_words:
                    found[id][result["student"]] = str(text)
        return dict(found)


@dataclass(frozen=True)
class Wanted:
    """What is to be written beside the usual files.

    Attributes
    ----------
    presets : tuple of str
    worksheets : dict of {sheet: Path}
        Moodle's grading worksheets.
    gradebook : Path, optional
        Canvas's gradebook.
    columns : dict of {sheet: str}
        How the gradebook calls a sheet.
    models : dict of {question: str}
        What an answer in words should say, for who gives the points.

    Source: the course's own.
    """

    presets: tuple[str, ...] = ()
    worksheets: dict[str, Path] = field(default_factory=dict)
    gradebook: Path | None = None
    columns: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)


def write_all(out: Path, book: Gradebook, finals: list[dict], given: list[str], wanted: Wanted | None = None):
    """Write all tables, reports, archives and pages; return the paths of what to look at, and lines on what to know.

    OSError if one cannot be written, `BadTable` if a platform's table is none. Source: the course's own.
    """
    wanted = wanted or Wanted()
    students, sheets, submissions = book.collected.students, book.collected.sheets, book.collected.submissions
    numbers = {system: {one.student for one in submissions if came_by(one)[0] == system} for system in LMS}
    written, says = [write_grades(out, finals, students, sheets)], []
    for preset in wanted.presets:
        made = write_preset(preset, out, finals, students, sheets, numbers.get(preset, ()))
        written += made
        says += [] if made else [NO_NUMBERS]
    moodle, canvas = numbers["moodle"], wanted.gradebook
    filled, more = write_filled(out, finals, students, sheets, moodle, wanted.worksheets, canvas, wanted.columns)
    written, says = [*written, *filled], [*says, *more]
    if by_hand := write_by_hand(out, finals):
        written.append(by_hand)
    write_by_hand_page(out, finals, students, wanted.models)
    (out / "reports").mkdir(exist_ok=True)
    for id, results in by_student(finals).items():
        write_report(out / "reports", students[id], list(results.values()))
    archives, more = write_feedback(out, submissions, finals, students)
    written, says = [*written, *archives], [*says, *more]
    looks = book.notices(given)
    for result in finals:
        result["notices"] = looks.get((result["student"], result["sheet"]), [])
    if look_at := write_look_at(out, finals, students):
        written.append(look_at)
    answers = book.answers(finals)
    found = alike(answers, given)
    write_csv(out / "similarity.csv", similarity_rows(found), excel=True)
    write_similarity(out, found, answers, students, given)
    if changed := log_changes(out, finals, book.files, datetime.now().astimezone()):
        written.append(changed)
    written.append(write_summary(out, finals, students, sheets, found, [*book.collected.problems, *says]))
    return written, says


LMS = ("moodle", "canvas")

NO_NUMBERS = (
    "no file for Moodle: its worksheet needs the participants' numbers, which stand in Moodle's own archive of the "
    "submissions, and its gradebook e-mail addresses or ID numbers: name them with --roster (email, sis_id)"
)


def similarity_rows(found: list[Alike]) -> list[list[str]]:
    """Return the rows of similarity.csv, the head first and the note last. No errors. Source: the course's own."""
    head = ["question", "students", "how many", "share", "how", "shared fingerprints"]
    rows = [
        [one.question, "; ".join(one.students), str(len(one.students)), decimal(one.share, 2), one.how, str(one.shared)]
        for one in found
    ]
    return [head, *rows, [NOTE]]


def model_answers(notebook: Path, sheet) -> dict[str, str]:
    """Return {question: text} of the answers in words of a solved sheet, {} if there is no such file. No errors.

    `sheet` is one of `checks.registry`. Source: the course's own.
    """
    try:
        return dict(read_answers(((notebook.name, notebook.read_bytes()),), sheet).texts)
    except OSError:
        return {}


def given_cells(notebook: Path) -> list[str]:
    """Return the source of each code cell of a sheet as students get it, [] if there is no such file. No errors.

    Source: the course's own.
    """
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
