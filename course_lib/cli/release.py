"""`course release`: the archive for students, after a search for anything that they must not get."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.damage import wrong_with
from course_lib.cli.ending import told
from course_lib.cli.folder import CourseFolderNotFound, find_course_folder

__all__ = ["release"]


def release(
    out: Annotated[Path, typer.Argument(help="Folder for the archive.")] = Path("build/release"),
    folder: Annotated[
        Path | None,
        typer.Option(help="The course folder.", show_default="found from the current folder or the package"),
    ] = None,
) -> None:
    """Write course.zip for students: lessons, exercises, the library. No solution, no key, no right answers.

    Exit status 1 if anything in it would give a solution away: it is then listed, and nothing is written.
    """
    from course_lib.grading.release import ReleaseError
    from course_lib.grading.release import release as write

    try:
        root = find_course_folder(folder)
        for file in (*sorted(root.glob("notebooks/*.ipynb")), *sorted(root.glob("exercises/*.ipynb"))):
            if problem := wrong_with(file):
                raise ReleaseError(f"{file.parent.name}/{problem} Or build it anew: make notebooks")
        path = write(root, out)
    except CourseFolderNotFound as error:
        typer.echo(f"course release: {error}", err=True)
        raise typer.Exit(2) from None
    except (ReleaseError, OSError) as error:
        words = told(error) if isinstance(error, OSError) else error
        typer.echo(f"course release: {words}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB. No solution, marker, key or output is in it.")
    typer.echo("Its checks know the right results of the public cases, and compute no others.")
