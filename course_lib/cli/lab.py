"""`course lab`: JupyterLab on this machine only, with its token, in the course folder, on a lesson."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.folder import CourseFolderNotFound, find_course_folder, list_lessons
from course_lib.cli.kernel import ONE_THREAD

__all__ = ["lab", "lab_arguments", "lab_environment", "start_page"]


def start_page(folder: Path) -> str:
    """Choose the file that opens first: lesson 01, else the README; a path relative to `folder`."""
    lessons = list_lessons(folder)
    return f"notebooks/{lessons[0].path.name}" if lessons else "README.md"


def lab_arguments(folder: Path, page: str, extra: list[str], *, as_root: bool = False) -> list[str]:
    """Put together JupyterLab's arguments.

    Parameters
    ----------
    folder : Path
        The root of the file browser.
    page : str
        What opens first, relative to `folder`.
    extra : list of str
        The user's own arguments. They come last and win, except that the address stays 127.0.0.1
        unless they name one.
    as_root : bool
        Whether the user is root (in a container, say), whom Jupyter refuses unless told.
    """
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{page}",
        "--Application.log_level=WARN",
    ]
    if not any(argument.startswith(("--ip", "--ServerApp.ip")) for argument in extra):
        arguments.append("--ServerApp.ip=127.0.0.1")
    if as_root:
        arguments.append("--allow-root")
    return arguments + extra


def lab_environment(environ: dict[str, str]) -> dict[str, str]:
    """Tell which variables JupyterLab and the terminals in it need, given the present ones.

    The course's own settings (no news, no update check: no request to another host) come first among
    Jupyter's configuration folders, and this Python's commands come first in PATH, so that `course` works in a
    terminal of the Lab though nobody activated the environment. The user's own configuration is not touched.
    Kernels compute with one BLAS thread, as the stored outputs were, unless the user has set another number.
    """

    def first(entry: Path, name: str) -> str:
        return os.pathsep.join([str(entry), *filter(None, [environ.get(name)])])

    settings = Path(__file__).parent / "jupyter"
    threads = {name: count for name, count in ONE_THREAD.items() if name not in environ}
    return threads | {
        "JUPYTER_CONFIG_PATH": first(settings, "JUPYTER_CONFIG_PATH"),
        "PATH": first(Path(sys.executable).parent, "PATH"),
    }


def lab(
    context: typer.Context,
    page: Annotated[
        str | None,
        typer.Option("--open", help="File to open, from the course folder.", show_default="lesson 01"),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="The course folder.", show_default="found from the current folder or the package"),
    ] = None,
) -> None:
    """Open the lessons in JupyterLab; its address is printed. Stop it with Ctrl-C.

    Arguments that are not listed here go to JupyterLab: `course lab --no-browser --port 9999`.
    """
    try:
        root = find_course_folder(folder)
    except CourseFolderNotFound as error:
        typer.echo(f"course lab: {error}", err=True)
        raise typer.Exit(1) from None
    page = page or start_page(root)
    if not (root / page).exists():
        typer.echo(f"course lab: {root} holds no {page}. Name a file of the course: --open README.md", err=True)
        raise typer.Exit(1)

    os.environ.update(lab_environment(dict(os.environ)))
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    typer.echo(f"Starting JupyterLab in {root}. Open the address below in a browser; Ctrl-C stops it.")

    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=lab_arguments(root, page, context.args, as_root=as_root))
