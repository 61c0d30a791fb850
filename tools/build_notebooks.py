"""Build the lessons: ``notebooks/NN_topic.py`` -> ``notebooks/NN_topic.ipynb``, executed, outputs included; and the
sheets: ``solutions/NN_topic.py`` -> ``solutions/NN_topic.ipynb``, executed, and ``exercises/NN_topic.ipynb``, stubs.

A script says less than its notebook: ``[^Hwu "Title of the slide"]`` becomes a raised number and a line of the list of
sources, the tags hide-input and hide-output become what JupyterLab folds by, and a lesson of the new form
(``course_form: 2`` in its header) ends with links to its sheet and its neighbours. CONTRIBUTING.md shows how to
write one.

python tools/build_notebooks.py              build what differs from its script
python tools/build_notebooks.py 01 03 gpu    only these
python tools/build_notebooks.py --force      all (the library changed, not the scripts)
python tools/build_notebooks.py --check      build nothing, fail where a notebook differs from its script
python tools/build_notebooks.py --lint       build nothing, report what breaks the rules of a lesson
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import nbformat
import typer
from notebook_lib.build import Result, build_all
from notebook_lib.lint import lint
from notebook_lib.scripts import Pair, check_pair, find_pairs, read_script
from notebook_lib.sheet_build import find_sheets
from notebook_lib.sheets import read_sheet, sheet_problems
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
SLOW = 30  # seconds; a lesson should take less on two cores

console = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False)


@app.command()
def main(
    lessons: Annotated[list[str] | None, typer.Argument(help="Beginnings of lesson names: 01 03. None: all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare with the scripts, execute nothing.")] = False,
    lint_only: Annotated[bool, typer.Option("--lint", help="Report broken lesson rules, execute nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Build also what did not change.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Notebooks side by side.")] = os.cpu_count() or 1,
    folder: Annotated[Path, typer.Option(help="Where the lessons are.", exists=True, file_okay=False)] = LESSONS,
    sheets: Annotated[bool, typer.Option(help="The sheets of exercises too, beside the lessons' folder.")] = True,
) -> None:
    """Build, check or lint the lessons and the sheets."""
    solutions = folder.parent / "solutions"
    try:
        found = find_sheets(solutions, lessons) if sheets else []
        pairs = find_pairs(folder, folder, lessons, may_be_none=bool(found)) + found
    except LookupError as error:
        console.print(f"[red]error[/red]: {escape(str(error))}")
        raise typer.Exit(2) from error
    if check or lint_only:
        findings = {p: _stale(p) if check else _broken_rules(p) for p in pairs}
        failed = _report_findings(findings, "out of date" if check else "against the rules")
    else:
        failed = _build([p for p in pairs if force or check_pair(p)], of=len(pairs), jobs=jobs)
    raise typer.Exit(1 if failed else 0)


def _stale(pair: Pair) -> list[str]:
    difference = check_pair(pair)
    return [difference] if difference else []


def _broken_rules(pair: Pair) -> list[str]:
    if pair.student:
        return sheet_problems(read_sheet(pair.script), pair.script.stem)
    # A script that is not built yet has no outputs to lint; all else can be said at once.
    notebook = read_script(pair.script) if check_pair(pair) else nbformat.read(pair.notebook, as_version=4)
    return lint(notebook, pair.script.stem)


def _report_findings(findings: dict[Pair, list[str]], what: str) -> int:
    bad = {pair: found for pair, found in findings.items() if found}
    for pair, found in bad.items():
        console.print(f"[red]{pair.name}[/red] is {what}:")
        _print_list(found)
    console.print(f"{len(findings) - len(bad)} of {len(findings)} notebooks are fine.")
    if bad and what == "out of date":
        console.print("Build them: python tools/build_notebooks.py")
    return len(bad)


def _build(pairs: list[Pair], *, of: int, jobs: int) -> int:
    if not pairs:
        console.print(f"{of} of {of} notebooks are up to date with their scripts. (--force builds them anyway)")
        return 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    quiet = os.environ.get("COURSE_PROGRESS") == "0" or not console.is_terminal
    with Progress(*columns, console=console, disable=quiet, transient=True) as progress:
        bars = {pair: progress.add_task(pair.name, start=False, total=None) for pair in pairs}

        def on_cell(pair: Pair, done: int, total: int) -> None:
            if done == 0:
                progress.start_task(bars[pair])
            progress.update(bars[pair], completed=done, total=total)

        try:
            results = build_all(pairs, jobs, on_cell)
        except KeyboardInterrupt:
            console.print("Stopped. Notebooks that were not finished stay as they were.")
            raise
    for result in results:
        _report_build(result)
    failed = sum(not result.ok for result in results)
    console.print(f"{len(results) - failed} built, {failed} failed, {of - len(results)} were up to date.")
    return failed


def _report_build(result: Result) -> None:
    slow = f"  [yellow]slower than {SLOW} s[/yellow]" if result.seconds > SLOW else ""
    if not result.ok:
        console.print(f"[red]failed[/red]  {result.pair.name}, the old notebook stays:")
        _print_list(result.problems)
        return
    console.print(f"[green]built[/green]   {result.pair.name}  {result.seconds:.1f} s{slow}")
    if broken := _broken_rules(result.pair):
        console.print("        rules that it breaks:")
        _print_list(broken)


def _print_list(lines: list[str]) -> None:
    for line in lines:
        console.print(f"          {escape(line)}")


if __name__ == "__main__":
    app()
