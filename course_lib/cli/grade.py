"""`course grade`: grade what students handed in, in a sandbox, and write grades, reports and a summary."""

from __future__ import annotations

import sys
from dataclasses import replace
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
    late_rule: Annotated[str, typer.Option(help="What being late costs.")] = "10%/day,max 50%",
    deadline: Annotated[str, typer.Option(help="When it was due: '2026-11-30 23:59'. Who was late loses points.")] = "",
    extensions: Annotated[Path | None, typer.Option(help="CSV: student,deadline or days or hours more,sheet.")] = None,
    late_marked: Annotated[str, typer.Option(help="How late it counts what Canvas marks as LATE: '1 day'.")] = "",
    attempts: Annotated[str, typer.Option(help="Which of several counts: last, best or before-deadline.")] = "last",
    preset: Annotated[list[str] | None, typer.Option(help="Write grades for canvas, moodle or nbgrader too.")] = None,
    worksheet: Annotated[
        list[str] | None,
        typer.Option(help="Moodle's grading worksheet, to be filled in; of several sheets SHEET=FILE."),
    ] = None,
    gradebook: Annotated[Path | None, typer.Option(help="Canvas's gradebook as exported, to be filled in.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="SHEET=NAME of its column in --gradebook.")] = None,
    leaderboard: Annotated[
        bool, typer.Option("--leaderboard", help="Write leaderboard.html too, for the convolution project.")
    ] = False,
    level: Annotated[
        str, typer.Option(help="Sandbox: A, B or C; see SECURITY.md.", show_default="the best that works here")
    ] = "",
    unsafe: Annotated[bool, typer.Option("--unsafe", help="No sandbox. Only for files you wrote yourself.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Submissions at a time.", show_default="one a core")] = 0,
    scheduler: Annotated[str, typer.Option(help="Address of a Dask scheduler to grade on.")] = "",
    self_test: Annotated[bool, typer.Option("--self-test", help="Grade hostile submissions and check it.")] = False,
) -> None:
    """Grade submissions; write grades.csv, a report a student, an archive to hand them back, and summary.html.

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
    from course_lib.cli.grade_lists import by_hand, lateness, platform_tables, with_attempts
    from course_lib.cli.grade_shown import grade_shown, print_line, report_shown
    from course_lib.grading.adjust import read_rule
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
        rule = read_rule(late_rule)  # also without --late: a typing error is better found now
        corrections = by_hand(manual, collected, most)
        tables = platform_tables(worksheet or [], gradebook, column or [], collected.sheets, preset or [])
        if leaderboard and not _competitions(collected.sheets):
            raise ValueError("--leaderboard is for the project_convolution sheet, and nobody handed that in.")
        times = lateness(late, deadline, extensions, late_marked, collected, submissions, tables.worksheets)
        collected = with_attempts(attempts, collected, times)
        _made(out)
        store, judges = Store(out / "results"), judges_hash(keys)
        book = Gradebook(collected, store, judges, wanted, questions, attempts == "best")
    except (SubmissionsError, ValueError, OSError) as error:
        _stop(str(error))
    asked = _asked(only or (), collected.students)
    todo = book.to_grade(asked, regrade)
    for problem in collected.problems:
        print_line(console, f"note: {problem}")
    if times.deadline or times.extended:
        print_line(console, f"when things were handed in: {times.times.says}")
    if unknown := times.unknown(collected.submissions):
        print_line(console, f"note: {unknown} submissions have no known time; they do not count as late")
    handed = sum(bool(one.entries) for one in collected.submissions)
    print_line(console, f"{handed} submissions of {len(collected.students)} students; {len(todo)} to grade")
    chosen = wanted
    if todo and not scheduler:  # tried once, here, and not by each process; workers of a cluster try for themselves
        chosen, why = sandbox(wanted)
        if why:
            _stop(f"{why} course grade --help names the levels.")
    try:
        if not grade_shown(console, book, todo, keys, jobs, scheduler, *grader(), level=chosen):
            raise typer.Exit(130)
    except (NoCluster, OSError) as error:
        _stop(str(error))
    finals = book.final(corrections, times, rule)
    stubs = [root / "exercises" / f"{name}.ipynb" for name in collected.sheets] if root else []
    given = [cell for stub in stubs for cell in given_cells(stub)]
    tables = replace(tables, models=models_of(root, collected.sheets)) if root else tables
    try:
        with console.status("writing the reports"):
            written, says = write_all(out, book, finals, given, tables)
    except (OSError, ValueError) as error:
        _stop(f"what is graded is kept in {out / 'results'}, but not all tables could be written: {error}")
    if leaderboard:
        try:
            written += _leaderboards(console, out, finals, collected.sheets)
        except OSError as error:
            _stop(f"the grades are written, but the leaderboard is not: {error}")
    for line in says:
        print_line(console, f"note: {line}")
    if not report_shown(console, book, finals, [*written, out / "reports"]):
        raise typer.Exit(1)


def _competitions(sheets) -> list:
    """Return the sheets with exercises whose time counts."""
    from course_lib.checks import registry
    from course_lib.grading.leaderboard import layers_of

    return [one for one in map(registry.sheet, sheets) if layers_of(one.exercises)]


def _leaderboards(console, out: Path, finals: list[dict], sheets) -> list[Path]:
    """Write the leaderboard, with measured times where there is a card; return what was written."""
    import functools

    from course_lib.cli.grade_shown import print_line
    from course_lib.grading.leaderboard_page import write_leaderboard
    from course_lib.grading.on_card import has_card, measure_all

    measure = functools.partial(measure_all, folder=out) if has_card() else None
    if measure is None:
        print_line(console, "note: no GPU here; the leaderboard goes by predicted times")
    (one,) = _competitions(sheets)
    return write_leaderboard(out, finals, one, measure)


def _asked(only, students) -> set[str]:
    """Return the ids that --only means; one that is nobody's is wrong usage."""
    from course_lib.grading.from_spreadsheet import Ids, Unclear

    ids = Ids(students)
    try:
        found = {written: ids.find(written) for written in only}
    except Unclear as error:
        _stop(f"--only {error}")
    if strangers := [written for written, id in found.items() if not id]:
        named = [f"{students[id].name} is {id}" for one in strangers for id in students if one == students[id].name]
        hint = f"; --only takes the id: {', '.join(named)}" if named else ""
        _stop(f"--only names {', '.join(map(repr, strangers))}, who handed nothing in and is in no roster{hint}")
    return set(found.values())


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


def sandbox(level: str) -> tuple[str, str]:
    """Return the letter of a level ("" for the best), and why it does not work here, "" if it does. No errors.

    Source: the course's own.
    """
    from course_lib.grading.levels import NoBox, best_level
    from course_lib.grading.levels import level as level_named

    try:
        found = level_named(level) if level else best_level()
    except NoBox as error:
        return level, str(error)
    return found.letter, "" if found.works else f"level {level} does not work on this machine: {found.says}."


def questions_of(sheet: str) -> list[dict]:
    """Return a sheet's questions without points; LookupError if there is no such sheet. Source: the course's own."""
    from course_lib.checks import registry
    from course_lib.grading.final import empty_questions

    return empty_questions(registry.sheet(sheet).exercises)


def models_of(root: Path, sheets) -> dict[str, str]:
    """Return what the answers in words of some sheets should say, by question. No errors. Source: the course's own."""
    from course_lib.checks import registry
    from course_lib.grading.gradebook import model_answers

    found = [model_answers(root / "solutions" / f"{name}.ipynb", registry.sheet(name)) for name in sheets]
    return {id: text for one in found for id, text in one.items()}


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
    from course_lib.grading.roster import read_roster, with_roster
    from course_lib.grading.submissions import collect

    sheets = tuple(next((one for one in SHEETS if one.partition("_")[0] == name), name) for name in sheets)
    if unknown := [name for name in sheets if name not in SHEETS]:
        raise ValueError(f"no sheet {', '.join(unknown)}; there are {', '.join(SHEETS)}")
    listed = read_roster(roster) if roster else None
    found = collect(source, SHEETS, sheets)
    return found if listed is None else with_roster(found, listed)
