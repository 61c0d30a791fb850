"""`course grade`: grade what students handed in, in a sandbox, and write grades, reports and a summary."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["grade"]

LEVELS = ("A", "B", "C")


def grade(
    submissions: Annotated[
        Path | None,
        typer.Argument(help="A folder or a zip: student folders, one file a student, or an LMS's export."),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder for what is written.")] = None,
    sheet: Annotated[list[str] | None, typer.Option(help="Sheet to grade; those that are found if none.")] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Folder of the keys.", show_default="solutions/keys of the course")
    ] = None,
    roster: Annotated[Path | None, typer.Option(help="CSV: student,name,email,sis_id,login,section.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Grade this student only; again for more.")] = None,
    regrade: Annotated[bool, typer.Option("--regrade", help="Grade again what has a result already.")] = False,
    manual: Annotated[Path | None, typer.Option(help="CSV: student,question,points,comment.")] = None,
    late: Annotated[Path | None, typer.Option(help="CSV: student,hours or days,sheet.")] = None,
    late_rule: Annotated[str, typer.Option(help="What the students in --late lose.")] = "10%/day,max 50%",
    preset: Annotated[list[str] | None, typer.Option(help="Write grades for canvas, moodle or nbgrader too.")] = None,
    level: Annotated[
        str, typer.Option(help="Sandbox: A, B or C; see SECURITY.md.", show_default="the best that works here")
    ] = "",
    unsafe: Annotated[bool, typer.Option("--unsafe", help="No sandbox. Only for files you wrote yourself.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Submissions at a time.", show_default="one a core")] = 0,
    scheduler: Annotated[str, typer.Option(help="Address of a Dask scheduler to grade on.")] = "",
    self_test: Annotated[bool, typer.Option("--self-test", help="Grade hostile submissions and check it.")] = False,
) -> None:
    """Grade submissions; write grades.csv, a report a student, summary.html and similarity.csv.

    A rerun grades only what is new or changed. Exit status 0 if every submission has a result, 1 if the grader itself
    failed with one or a file names no sheet, 2 for wrong usage.
    """
    from rich.console import Console

    for stream in (sys.stdout, sys.stderr):  # a terminal that knows no "ü" must not end the run
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    console = Console(highlight=False)
    wanted = _level(level, unsafe)
    if self_test:
        try:
            from course_lib.grading import selftest
        except ImportError:
            _stop("the self-test is in the instructors' course folder, and not in the students' archive. Run it there.")
        raise typer.Exit(selftest.run(wanted, console))
    if submissions is None or out is None:
        _stop("name what was handed in, and a folder for the results: course grade SUBMISSIONS -o OUT")
    from course_lib.cli.grade_shown import grade_shown, print_line, report_shown
    from course_lib.grading.cluster import NoCluster
    from course_lib.grading.gradebook import Gradebook, given_cells, write_all
    from course_lib.grading.presets import PRESETS
    from course_lib.grading.store import Store, judges_hash
    from course_lib.grading.submissions import SubmissionsError

    if unknown := [name for name in preset or () if name not in PRESETS]:
        _stop(f"no preset {', '.join(unknown)}; there are {', '.join(PRESETS)}")
    if out.resolve() == submissions.resolve() or submissions.resolve() in out.resolve().parents:
        _stop(f"{out} lies in {submissions}; results there would be taken for submissions. Name another folder.")
    root, keys = _keys_folder(keys)
    try:
        collected = _collect(submissions, tuple(sheet or ()), roster)
        questions = {name: questions_of(name) for name in collected.sheets}
        most = {question["id"]: question["of"] for one in questions.values() for question in one}
        corrections, hours, rule = _by_hand(manual, late, late_rule, collected, most)
        _made(out)
        book = Gradebook(collected, Store(out / "results"), judges_hash(keys), wanted, questions)
    except (SubmissionsError, ValueError, OSError) as error:
        _stop(str(error))
    if strangers := [id for id in only or () if id not in collected.students]:
        _stop(f"--only names {', '.join(map(repr, strangers))}, who handed nothing in and is in no roster")
    todo = book.to_grade(set(only or ()), regrade)
    for problem in collected.problems:
        print_line(console, f"note: {problem}")
    handed = sum(bool(one.entries) for one in collected.submissions)
    print_line(console, f"{handed} submissions of {len(collected.students)} students; {len(todo)} to grade")
    if todo and not scheduler and (why := no_sandbox(wanted)):
        _stop(f"{why} course grade --help names the levels.")
    try:
        if not grade_shown(console, book, todo, keys, jobs, scheduler, *grader()):
            raise typer.Exit(130)
    except (NoCluster, OSError) as error:
        _stop(str(error))
    finals = book.final(corrections, hours, rule)
    stubs = [root / "exercises" / f"{name}.ipynb" for name in collected.sheets] if root else []
    given = [cell for stub in stubs for cell in given_cells(stub)]
    try:
        with console.status("writing the reports"):
            written = write_all(out, book, finals, given, preset or ())
    except OSError as error:
        _stop(f"what is graded is kept in {out / 'results'}, but not all tables could be written: {error}")
    if not report_shown(console, book, finals, [*written, out / "reports"]):
        raise typer.Exit(1)


def _made(out: Path):
    """Make the folder of the results; one that takes no file is better found before the grading."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "grades.csv").touch()
    except OSError as error:
        _stop(f"no results can be written to {out} ({error.strerror}). Name another folder: -o build/grades")


def grader():
    """Return the class of a task and the function that grades one. No errors. Source: the course's own."""
    from course_lib.grading.host import Task
    from course_lib.grading.host import grade as grade_one

    return Task, grade_one


def no_sandbox(level: str) -> str:
    """Return why a level ("" for the best) does not work on this machine, "" if it does. No errors.

    Source: the course's own.
    """
    from course_lib.grading.levels import NoBox, best_level
    from course_lib.grading.levels import level as level_named

    try:
        found = level_named(level) if level else best_level()
    except NoBox as error:
        return str(error)
    return "" if found.works else f"level {level} does not work on this machine: {found.says}."


def questions_of(sheet: str) -> list[dict]:
    """Return a sheet's questions without points; LookupError if there is no such sheet. Source: the course's own."""
    from course_lib.checks import registry
    from course_lib.grading.final import empty_questions

    return empty_questions(registry.sheet(sheet).exercises)


def _stop(message: str):
    typer.echo(f"course grade: {message}", err=True)
    raise typer.Exit(2)


def _level(level: str, unsafe: bool) -> str:
    if level and unsafe:
        _stop(f"--level {level} and --unsafe exclude each other. Leave one of them out.")
    if level and level not in LEVELS:
        _stop(f"there is no sandbox level {level!r}; there are {', '.join(LEVELS)}, and --unsafe for none")
    return "D" if unsafe else level


def _keys_folder(keys: Path | None) -> tuple[Path | None, Path]:
    """Return the course folder, if there is one, and the folder of the keys."""
    from course_lib.cli.folder import CourseFolderNotFound, find_course_folder

    try:
        root = find_course_folder()
    except CourseFolderNotFound:
        root = None
    folder = keys or (root / "solutions" / "keys" if root else None)
    if folder is None or not folder.is_dir():
        _stop(f"no keys: {folder or 'there is no course folder here'}. Name their folder: --keys DIR")
    return root, folder.resolve()


def _collect(source: Path, sheets: tuple[str, ...], roster: Path | None):
    from course_lib.checks.registry import SHEETS
    from course_lib.grading.roster import read_roster
    from course_lib.grading.submissions import collect

    if unknown := [name for name in sheets if name not in SHEETS]:
        raise ValueError(f"no sheet {', '.join(unknown)}; there are {', '.join(SHEETS)}")
    return collect(source, SHEETS, sheets, read_roster(roster) if roster else None)


def _by_hand(manual, late, late_rule, collected, most):
    from course_lib.grading.adjust import read_late, read_manual, read_rule

    rule = read_rule(late_rule)  # also without --late: a typing error is better found now
    corrections = read_manual(manual, collected.students, most) if manual else {}
    return corrections, read_late(late, collected.students, collected.sheets) if late else {}, rule
