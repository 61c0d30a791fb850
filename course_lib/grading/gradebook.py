"""From submissions to files: which results are kept, which are to be made, and what is written of all of them.

Source: the course's own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from course_lib.checks.registry import sheet as sheet_named
from course_lib.grading.csvfile import write_csv
from course_lib.grading.final import decimal, finish, missing
from course_lib.grading.look_at import write_look_at
from course_lib.grading.notices import given_runs, notices
from course_lib.grading.presets import write_preset
from course_lib.grading.report import write_report
from course_lib.grading.similarity import NOTE, similar_pairs
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
    results : dict of {(student, sheet): result}

    Source: the course's own.
    """

    collected: Collected
    store: Store
    judges: str
    level: str
    questions: dict[str, list[dict]]
    results: dict[tuple[str, str], dict] = field(default_factory=dict)
    notes: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    _keys: dict[tuple[str, str], str] = field(default_factory=dict)

    def to_grade(self, only: set[str], regrade: bool) -> list[Submission]:
        """Take what is kept from the store and return the submissions that have no result.

        With `only`, no other student is graded, and `regrade` passes over kept results of these alone. No errors.
        """
        todo = []
        for submission in self.collected.submissions:
            at = (submission.student, submission.sheet)
            self.notes[at] = submission.notes
            if not submission.entries:
                self.results[at] = missing(*at, self.questions[submission.sheet])
                continue
            files, unread = submission.load()
            self.notes[at] += unread
            self._keys[at] = key_of(self.judges, submission.sheet, self.level, files)
            asked = not only or submission.student in only
            kept = None if regrade and asked else self.store.get(*at, self._keys[at])
            if kept:
                self.results[at] = kept
            elif asked:
                todo.append(submission)
        return todo

    def tasks(self, todo: list[Submission], make: Callable) -> Iterator:
        """Yield make(student, sheet, files) for each submission; its files are read only now. No errors."""
        for submission in todo:
            files, _ = submission.load()
            at = (submission.student, submission.sheet)
            self._keys[at] = key_of(self.judges, submission.sheet, self.level, files)  # it may have changed since
            yield make(*at, files)

    def put(self, task, result: dict, broken: Callable) -> dict:
        """Keep a task's result and return it; one that does not add up is broken(task, why). OSError if that fails."""
        if why := fault(result, task.student, task.sheet):
            result = broken(task, f"The grader's result is not sound: {why}. Please report it.")
        at = (task.student, task.sheet)
        self.store.put(result, self._keys[at])
        self.results[at] = {**result, "key": self._keys[at]}
        return result

    def final(self, manual, late: dict[tuple[str, str], Fraction], rule) -> list[dict]:
        """Return all final results, in the order of the students. No errors."""
        return [
            finish(self.results[at], manual, late.get(at), rule, self.notes[at], self.questions[at[1]])
            for submission in self.collected.submissions
            if (at := (submission.student, submission.sheet)) in self.results
        ]

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

    def pairs(self, given: list[str]) -> list:
        """Return the answers that are alike; what one group handed in together is there once. No errors."""
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        seen = set()
        for submission in self.collected.submissions:
            result = self.results.get((submission.student, submission.sheet))
            if not result or not submission.entries or (submission.sheet, submission.entries) in seen:
                continue
            seen.add((submission.sheet, submission.entries))
            in_words = {question["id"] for question in result["questions"] if question["kind"] == "text"}
            for id, text in result["answers"].items():
                if id not in in_words:
                    answers[id][submission.student] = str(text)
        return similar_pairs(answers, given)


def write_all(out: Path, book: Gradebook, finals: list[dict], given: list[str], presets=()) -> list[Path]:
    """Write all tables, reports and summary.html; return the paths of the tables.

    The files are grades.csv, presets, by_hand.csv, reports/, look_at.csv, similarity.csv and summary.html.

    OSError if one cannot be written. Source: the course's own.
    """
    students, sheets = book.collected.students, book.collected.sheets
    written = [write_grades(out, finals, students, sheets)]
    for preset in presets:
        written += write_preset(preset, out, finals, students, sheets)
    if by_hand := write_by_hand(out, finals):
        written.append(by_hand)
    (out / "reports").mkdir(exist_ok=True)
    for id, results in by_student(finals).items():
        write_report(out / "reports", students[id], list(results.values()))
    looks = book.notices(given)
    for result in finals:
        result["notices"] = looks.get((result["student"], result["sheet"]), [])
    write_look_at(out, finals, students)
    pairs = book.pairs(given)
    rows = [[pair.question, pair.one, pair.other, decimal(pair.share, 2), str(pair.shared)] for pair in pairs]
    head = ["question", "one", "other", "share", "shared fingerprints"]
    write_csv(out / "similarity.csv", [head, *rows, [NOTE]], excel=True)
    written.append(write_summary(out, finals, students, sheets, pairs, book.collected.problems))
    return written


def given_cells(notebook: Path) -> list[str]:
    """Return the source of each code cell of a sheet as students get it, [] if there is no such file. No errors.

    Source: the course's own.
    """
    try:
        cells = json.loads(notebook.read_bytes())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
