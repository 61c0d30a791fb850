"""`course doctor`: one screen that says whether this set-up is sound, and the fix for what is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import typer

from course_lib.cli import machine, material, packages
from course_lib.cli.check import Check
from course_lib.cli.ending import FOLDER_IS_GONE, folder_is_gone
from course_lib.cli.folder import CourseFolderNotFound, find_course_folder
from course_lib.cli.ranks_check import check_ranks

__all__ = ["doctor", "run_checks"]

_MARK = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "bold red")}


def run_checks(folder: Path | None) -> list[Check]:
    """Run every check.

    Parameters
    ----------
    folder : Path or None
        The course folder, whose lock is compared with what is installed; None if there is none.
    """
    lock = folder / "requirements.lock" if folder else None
    return [
        _guarded("Python", machine.check_python),
        _guarded("course folder", machine.check_folder, folder),
        _guarded("environment", packages.check_environment, folder),
        _guarded("home", machine.check_home),
        _guarded("packages", packages.check_versions),
        _guarded("lock", packages.check_lock, lock),
        _guarded("device", machine.check_device),
        _guarded("OpenCL", machine.check_opencl),
        _guarded("digits", material.check_digits),
        _guarded("kernel python3", material.check_kernel),
        _guarded("compiled kernels", material.check_compiled),
        _guarded("nbval", packages.check_nbval),
        _guarded("ranks", check_ranks),
        _guarded("chromium", machine.check_chromium),
        _guarded("sandbox", machine.check_sandbox),
        _guarded("disk", machine.check_disk, folder or Path.home()),
    ]


def _guarded(name: str, check: Callable[..., Check], *args: object) -> Check:
    """Run one check; one that fails itself is broken, and the others still run."""
    try:
        return check(*args)
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return Check(
            name,
            "broken",
            f"{type(error).__name__}: {first}",
            _advice(error),
        )


def _advice(error: Exception) -> str:
    """What helps where a check itself has failed: variables that change Numba come before a damaged copy."""
    if not isinstance(error, OSError) and (names := sorted(name for name in os.environ if name.startswith("NUMBA_"))):
        return f"unset what changes Numba ({', '.join(names)}), and run course doctor again"
    return "restore the file it speaks of from the course's own copy, and run course doctor again"


def doctor() -> None:
    """Check Python, versions, device, data, notebook kernel and disk; exit status 1 if anything is broken."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if folder_is_gone():
        typer.echo(f"course doctor: {FOLDER_IS_GONE}", err=True)
        raise typer.Exit(1)
    try:
        folder = find_course_folder()
    except CourseFolderNotFound:
        folder = None
    checks = run_checks(folder)

    table = Table(title="course doctor", title_justify="left")
    for column in ("what", "state", "found"):
        table.add_column(column, overflow="fold")
    for check in checks:
        word, style = _MARK[check.state]
        table.add_row(check.name, f"[{style}]{word}[/]", escape(check.found))
    console = Console(highlight=False)
    console.print(table)
    for check in checks:
        if check.fix:
            # Not wrapped by rich: a command to copy stays on one line.
            console.print(f"[bold]fix:[/] {check.name}: {escape(check.fix)}", soft_wrap=True)
    broken = [check.name for check in checks if check.state == "broken"]
    if broken:
        console.print(f"[bold red]{len(broken)} of {len(checks)} broken:[/] {', '.join(broken)}")
        raise typer.Exit(1)
    console.print("[green]Ready for the lessons.[/]")
