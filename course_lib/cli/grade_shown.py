"""What `course grade` shows while it grades and when it is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["grade_shown", "named", "print_line", "report_shown"]


def grade_shown(
    console: Console, book, todo: list, keys: Path, jobs: int, scheduler: str, make, grade_one, level: str = ""
) -> bool:
    """Grade what has no result, keep each result as soon as it is there, and say how far it is.

    `make` is the class of a task, `grade_one` the function that grades one, and `level` the sandbox's. Returns False if
    Ctrl-C ended it.
    `NoCluster` or OSError if it cannot go on. Source: the course's own.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from course_lib.grading.cluster import run_on_cluster
    from course_lib.grading.schedule import broken, run

    tasks = book.tasks(todo, lambda student, sheet, files: make(student, sheet, files, str(keys), level))
    results = run_on_cluster(tasks, grade_one, scheduler) if scheduler else run(tasks, grade_one, jobs)
    students = book.collected.students
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("left:"), TimeRemainingColumn())
    done = 0
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            bar = progress.add_task("", total=len(todo))
            for task, result in results:
                result, done = book.put(task, result, broken), done + 1
                progress.advance(bar)
                if not console.is_terminal or result["status"] == "broken":
                    who = named(task.student, students)
                    points = f"{result['points']} of {result['of']}  {result['seconds']:.1f} s"
                    print_line(
                        console,
                        f"{done}/{len(todo)}  {who}  {task.sheet}  {result['status']}  {points}",
                    )
    except KeyboardInterrupt:
        print_line(console, f"stopped: {done} of {len(todo)} are graded and kept. The same command grades the others.")
        return False
    return True


def report_shown(console: Console, book, finals: list[dict], written: list[Path]) -> bool:
    """Say what came out; True if every submission has a result. No errors. Source: the course's own."""
    from collections import Counter

    students = book.collected.students
    counts = Counter(result["status"] for result in finals)
    print_line(console, ", ".join(f"{count} {status}" for status, count in counts.most_common()) or "nothing graded")
    for result in finals:
        if result["status"] == "broken":
            print_line(console, f"broken: {named(result['student'], students)}, {result['sheet']}: {result['says']}")
    if waiting := sum(result["open"] for result in finals):
        says = "answer in words waits" if waiting == 1 else "answers in words wait"
        print_line(console, f"{waiting} {says} for points: fill in by_hand.csv and name it with --manual")
    if without := len(book.collected.submissions) - len(finals):
        says = "submission has" if without == 1 else "submissions have"
        print_line(console, f"{without} {says} no result yet; leave out --only to grade them")
    if earlier := len(book.earlier):
        says = "submission has" if earlier == 1 else "submissions have"
        print_line(
            console,
            f"{earlier} {says} the result of an earlier run, with other files or other checks; leave out --only to "
            "grade again",
        )
    for path in written:
        print_line(console, str(path), 4000)
    return not counts["broken"] and not book.collected.lost


def named(id: str, students: dict) -> str:
    """Return a student's name with the id, the id where no name is known. No errors. Source: the course's own."""
    student = students.get(id)
    return f"{student.name} ({id})" if student and student.name and student.name != id else id


def print_line(console: Console, text: str, longest: int = 500) -> None:
    """Print a line in which a student's name can neither be markup nor move the cursor. No errors.

    Source: OWASP, log injection.
    """
    from rich.markup import escape

    from course_lib.grading.pages import one_line

    console.print(escape(one_line(text, longest)), soft_wrap=True)
