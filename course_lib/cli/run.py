"""`course run`: execute lessons top to bottom and write them as web pages that load nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli import index
from course_lib.cli.folder import (
    CourseFolderNotFound,
    Lesson,
    UnknownLesson,
    find_course_folder,
    list_lessons,
    pick_lessons,
)

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["run"]


def _nav(there: list[Lesson], lesson: Lesson) -> str:
    """Write the links to the lesson before, the index and the lesson after, of those that have a page."""
    at = there.index(lesson)
    links = ['<a href="index.html">All lessons</a>']
    if at > 0:
        links.insert(0, f'<a href="{there[at - 1].name}.html" rel="prev">Lesson {there[at - 1].number}</a>')
    if at + 1 < len(there):
        links.append(f'<a href="{there[at + 1].name}.html" rel="next">Lesson {there[at + 1].number}</a>')
    return f'<nav class="course-nav" aria-label="Lessons">{" ".join(links)}</nav>'


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
    """Run lessons top to bottom, each in a fresh kernel, and write them as web pages with an index.

    Exit status 1 if a lesson fails; the others are still run, and the page of the failed one shows how far it
    came. Pages of lessons that are not named stay, and so do their lines in the index.
    """
    try:
        root = find_course_folder(folder)
        every = list_lessons(root)
        lessons = pick_lessons(every, numbers or [])
        notebooks = [_read(lesson) for lesson in lessons]
        out.mkdir(parents=True, exist_ok=True)
        (out / "index.html").touch()  # a folder that takes no file is better found before the lessons have run
    except (CourseFolderNotFound, UnknownLesson, UnreadableLesson, OSError) as error:
        typer.echo(f"course run: {error}", err=True)
        raise typer.Exit(2) from None
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows no "≥" must not end the run
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not _run_lessons(lessons, notebooks, out, every, timeout=timeout, fail_fast=fail_fast):
        raise typer.Exit(1)


class UnreadableLesson(Exception):
    """A lesson's file is no notebook."""


def _read(lesson: Lesson) -> NotebookNode:
    import nbformat

    try:
        return nbformat.read(lesson.path, as_version=4)
    except Exception as error:  # no JSON, no notebook, another encoding: nbformat has an error for each
        raise UnreadableLesson(
            f"{lesson.path} is no notebook that can be read ({type(error).__name__}: {str(error)[:80]}). "
            "Build it anew: make notebooks, or get it back: git checkout -- notebooks"
        ) from None


def _write(lesson: Lesson, notebook: NotebookNode, out: Path, there: list[Lesson]) -> tuple[Path, list[str]]:
    """Write a lesson's page, with links to the lessons that are `there`; returns its file and its problems."""
    from course_lib.cli.pages import lesson_page

    link_of = {other.path.name: f"{other.name}.html" for other in there}
    page, problems = lesson_page(
        notebook, name=lesson.name, folder=lesson.path.parent, link_of=link_of, nav=_nav(there, lesson)
    )
    target = out / f"{lesson.name}.html"
    target.write_text(page, encoding="utf-8")
    return target, problems


def _run_lessons(
    lessons: list[Lesson],
    notebooks: list[NotebookNode],
    out: Path,
    every: list[Lesson],
    *,
    timeout: int,
    fail_fast: bool,
) -> bool:
    """Run, write and report; True if every lesson ran to its end and its page is complete.

    `every` lists all lessons of the course: the pages that earlier runs left of them stay, and are linked.
    """
    from rich.console import Console
    from rich.markup import escape as plain
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from course_lib.cli.execute import execute
    from course_lib.cli.pages import title_of

    console = Console(highlight=False)
    cells = sum(cell.cell_type == "code" for notebook in notebooks for cell in notebook.cells)
    rows = index.kept_rows(out, every)
    to_come = {lesson.name for lesson in lessons}
    results, sound = [], True
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("cells"))
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=cells)
        for at, (lesson, notebook) in enumerate(zip(lessons, notebooks, strict=True)):
            progress.update(task, description=lesson.name)
            outcome = execute(notebook, lesson.path.parent, timeout=timeout, on_cell=lambda: progress.advance(task))
            if outcome.failure and fail_fast:  # the lessons after it get no page: no earlier one may link them
                to_come = {lesson.name for lesson in lessons[: at + 1]}
                for earlier in range(at):
                    _write(lessons[earlier], notebooks[earlier], out, [o for o in every if o.name in {*to_come, *rows}])
            target, problems = _write(lesson, notebook, out, [o for o in every if o.name in {*to_come, *rows}])
            results.append((lesson, outcome))
            rows[lesson.name] = index.row(lesson, title_of(notebook, lesson.name), outcome)
            word = "[bold red]failed[/]" if outcome.failure else "[green]ok[/]"
            console.print(f"{lesson.name}  {word}  {outcome.seconds:.1f} s  {plain(str(target))}", soft_wrap=True)
            if outcome.failure:
                console.print(f"lesson {lesson.number}, {plain(str(outcome.failure))}", soft_wrap=True)
                console.print(f"the page up to there: {plain(str(target))}", soft_wrap=True)
            for problem in problems:
                console.print(f"lesson {lesson.number}: {plain(problem)}", soft_wrap=True)
            sound = sound and not outcome.failure and not problems
            if outcome.failure and fail_fast:
                break

    (out / "index.html").write_text(index.page([rows[key] for key in sorted(rows)]), encoding="utf-8")
    table = Table(title="course run", title_justify="left", show_footer=True)
    table.add_column("lesson", footer="total")
    table.add_column("state", footer=f"{sum(not o.failure for *_, o in results)} of {len(lessons)} ok")
    table.add_column("seconds", justify="right", footer=f"{sum(o.seconds for *_, o in results):.1f}")
    for lesson, outcome in results:
        table.add_row(lesson.name, "failed" if outcome.failure else "ok", f"{outcome.seconds:.1f}")
    console.print(table)
    console.print(f"pages: {plain(str(out / 'index.html'))}", soft_wrap=True)
    return sound
