"""`course run`: execute lessons top to bottom and hand them to `course_lib.book`, which makes a site of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.damage import wrong_with
from course_lib.cli.ending import told
from course_lib.cli.folder import (
    CourseFolderNotFound,
    Lesson,
    UnknownLesson,
    find_course_folder,
    list_lessons,
    pick_lessons,
)
from course_lib.cli.places import NoPlace, use_usable

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["run"]


def run(
    numbers: Annotated[
        list[str] | None, typer.Argument(help="Lessons to run, e.g. 01 03; all if none is named.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pages.")] = Path("build/html"),
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first lesson that fails.")] = False,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 120,
    folder: Annotated[
        Path | None,
        typer.Option(help="The course folder.", show_default="found from the current folder or the package"),
    ] = None,
) -> None:
    """Run lessons top to bottom, each in a fresh kernel, and write them as a site of web pages.

    Exit status 1 if a lesson fails or something is wrong with a page; the others are still run, and the page of a
    failed one shows how far it came. Pages of lessons that are not named stay. Without the extra "book", which
    makes the pages, lessons are run and reported all the same.
    """
    try:
        root = find_course_folder(folder)
        every = list_lessons(root)
        lessons = pick_lessons(every, numbers or [])
        notebooks = [_read(lesson) for lesson in lessons]
        use_usable()  # the pages are what is kept, so there is nothing to be said
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):  # a folder that takes no file is better found before the lessons run
            pass
    except OSError as error:
        typer.echo(f"course run: {told(error)}", err=True)
        raise typer.Exit(2) from None
    except (CourseFolderNotFound, UnknownLesson, UnreadableLesson, NoPlace) as error:
        typer.echo(f"course run: {error}", err=True)
        raise typer.Exit(2) from None
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows no "≥" must not end the run
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sound = _run_lessons(lessons, notebooks, out, timeout=timeout, fail_fast=fail_fast)
    if not (_write_site(out, root, every) and sound):
        raise typer.Exit(1)


class UnreadableLesson(Exception):
    """A lesson's file is no notebook."""


def _read(lesson: Lesson) -> NotebookNode:
    import nbformat

    problem = wrong_with(lesson.path)
    try:
        if not problem:
            return nbformat.read(lesson.path, as_version=4)
    except Exception as error:  # a notebook of no known kind: nbformat has an error for each
        problem = f"{lesson.path.name} is no notebook that can be read ({type(error).__name__}: {str(error)[:80]})."
    raise UnreadableLesson(
        f"{problem} Or build it anew: make notebooks; or get it back: git checkout -- notebooks/{lesson.path.name}"
    )


def _run_lessons(
    lessons: list[Lesson], notebooks: list[NotebookNode], out: Path, *, timeout: int, fail_fast: bool
) -> bool:
    """Run lessons, report them and keep what came of them for the site; True if every one ran to its end."""
    from rich.console import Console
    from rich.markup import escape as plain
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from course_lib.book.kept import keep
    from course_lib.cli.execute import execute

    console = Console(highlight=False)
    cells = sum(cell.cell_type == "code" for notebook in notebooks for cell in notebook.cells)
    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("cells"))
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=cells)
        for lesson, notebook in zip(lessons, notebooks, strict=True):
            progress.update(task, description=lesson.name)
            outcome = execute(notebook, lesson.path.parent, timeout=timeout, on_cell=lambda: progress.advance(task))
            results.append((lesson, outcome))
            keep(out, lesson, notebook, stopped=str(outcome.failure or ""))
            word = "[bold red]failed[/]" if outcome.failure else "[green]ok[/]"
            console.print(f"{lesson.name}  {word}  {outcome.seconds:.1f} s", soft_wrap=True)
            if outcome.failure:
                console.print(f"lesson {lesson.number}, {plain(str(outcome.failure))}", soft_wrap=True)
                if fail_fast:
                    break

    table = Table(title="course run", title_justify="left", show_footer=True)
    table.add_column("lesson", footer="total")
    table.add_column("state", footer=f"{sum(not o.failure for *_, o in results)} of {len(lessons)} ok")
    table.add_column("seconds", justify="right", footer=f"{sum(o.seconds for *_, o in results):.1f}")
    for lesson, outcome in results:
        table.add_row(lesson.name, "failed" if outcome.failure else "ok", f"{outcome.seconds:.1f}")
    console.print(table)
    return not any(outcome.failure for _, outcome in results)


def _write_site(out: Path, root: Path, every: list[Lesson]) -> bool:
    """Make pages of all lessons that were ever run into this folder; True if nothing is wrong with them."""
    from course_lib import book

    if missing := book.missing_packages():
        typer.echo(f"no pages: they are made by packages that are not here ({', '.join(missing)}). {book.HOW}")
        return True
    try:
        problems = book.build_site(out, root, every)
    except book.BookError as error:
        typer.echo(f"course run: {error}", err=True)
        return False
    for problem in problems:
        typer.echo(str(problem))
    for lesson in book.stopped_lessons(out, every):
        typer.echo(f"lesson {lesson.number} did not reach its end; the page up to there: {book.page_of(out, lesson)}")
    typer.echo(f"pages: {out / 'index.html'}")
    return not problems
