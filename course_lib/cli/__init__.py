"""The `course` command: is the set-up sound (`doctor`), open the lessons (`lab`), make pages of them (`run`),
check a sheet (`check`), hand it out (`release`), grade it (`grade`), measure the library (`bench`), run a script as
several processes (`ranks`).

Each command lives in the module of its name and imports what is heavy only when it runs, so that
`course --help` answers at once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

import course_lib
from course_lib.cli.bench import bench
from course_lib.cli.check_file import check_file
from course_lib.cli.doctor import doctor
from course_lib.cli.ending import CourseApp
from course_lib.cli.grade import grade
from course_lib.cli.lab import lab
from course_lib.cli.places import NoPlace, use_usable
from course_lib.cli.ranks import ranks
from course_lib.cli.release import release
from course_lib.cli.run import run

__all__ = ["app", "main"]

app = CourseApp(
    name="course",
    help="The course at the command line: check the set-up, open the lessons, run them into web pages.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"course {course_lib.__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """The course at the command line: check the set-up, open the lessons, run them into web pages."""
    if context.invoked_subcommand in ("check", "grade", "bench"):  # lab, run and doctor say more about it
        with suppress(NoPlace):  # they may well need none of the folders
            use_usable()


app.command()(doctor)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(lab)
app.command()(run)
app.command("check")(check_file)
app.command()(release)
app.command()(grade)
app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": False})(ranks)
app.add_typer(bench, name="bench")
