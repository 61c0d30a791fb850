"""`course check`: the public checks of a whole sheet, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.child import run_child
from course_lib.cli.damage import wrong_with

__all__ = ["check_file"]


def check_file(
    file: Annotated[Path, typer.Argument(help="The notebook of a sheet, saved.", exists=True, dir_okay=False)],
    sheet: Annotated[
        str, typer.Option(help="Which sheet it is.", show_default="found from its name, or its cells")
    ] = "",
) -> None:
    """Run your notebook from the top in a clean process and check every exercise: what grading's public part gives.

    Exit status 0 if all are right, 1 if not, 2 if there is no sheet in the file.
    """
    problem = wrong_with(file) if file.suffix != ".py" else ""
    # What the grader reads is checked: another encoding, where it is known which sheet it is.
    if problem and (wrong_with(file, any_encoding=True) or not (sheet or _is_named(file))):
        typer.echo(f"course check: {problem}", err=True)
        raise typer.Exit(2)
    raise typer.Exit(run_child(["-m", "course_lib.checks.sheet_run", str(file), sheet]))


def _is_named(file: Path) -> bool:
    """Return whether a file is called like a sheet."""
    from course_lib.checks.registry import SHEETS

    return any(sheet in file.name for sheet in SHEETS)
