"""`course check`: the public checks of a whole sheet, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.child import run_child

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
    raise typer.Exit(run_child(["-m", "course_lib.checks.sheet_run", str(file), sheet]))
