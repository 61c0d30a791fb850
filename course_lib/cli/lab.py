"""`course lab`: JupyterLab on this machine only, with its token, in the course folder, on a lesson."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from course_lib.cli.damage import wrong_with
from course_lib.cli.folder import CourseFolderNotFound, find_course_folder, list_lessons
from course_lib.cli.kernel import ONE_THREAD
from course_lib.cli.places import NoPlace, use_usable

__all__ = ["UnfitPage", "lab", "lab_arguments", "lab_environment", "page_in", "start_page"]


def start_page(folder: Path) -> str:
    """Choose the file that opens first: lesson 01, else the README; a path relative to `folder`."""
    lessons = list_lessons(folder)
    return f"notebooks/{lessons[0].path.name}" if lessons else "README.md"


class UnfitPage(Exception):
    """A file was asked for that JupyterLab cannot open in the course folder."""


def page_in(folder: Path, page: str) -> str:
    """Return a file or folder of the course as a path with slashes, relative to `folder`.

    Parameters
    ----------
    folder : Path
        The root of the file browser.
    page : str
        From the course folder, or else from the current one; any character may be in it.

    Raises
    ------
    UnfitPage
        It is not there, lies outside of the course folder, is hidden, or is called a notebook and is none.
    """
    folder = folder.resolve()
    places = [place for place in (folder / page, Path.cwd() / page) if place.exists()]
    if not places:
        raise UnfitPage(f"{folder} holds no {page}. Name a file of the course: --open README.md")
    # Not resolved: a link in the folder that leads out of it is a file of the folder for Jupyter, too.
    inside = [path for path in (Path(os.path.abspath(place)) for place in places) if path.is_relative_to(folder)]
    if not inside:
        raise UnfitPage(
            f"{page} lies outside of {folder}, which is all that JupyterLab shows. Copy it into the course folder."
        )
    found = inside[0].relative_to(folder)
    if any(part.startswith(".") for part in found.parts):
        raise UnfitPage(f"{page} is hidden (its name, or a folder's, begins with a dot); JupyterLab does not show it.")
    if inside[0].suffix == ".ipynb" and (problem := wrong_with(inside[0])):
        raise UnfitPage(problem)
    return found.as_posix() if found.parts else ""


def lab_arguments(folder: Path, page: str, extra: list[str], *, as_root: bool = False) -> list[str]:
    """Put together JupyterLab's arguments.

    Parameters
    ----------
    folder : Path
        The root of the file browser.
    page : str
        What opens first, relative to `folder`, with slashes. Any character may be in its name.
    extra : list of str
        The user's own arguments. They come last and win, except that the address stays 127.0.0.1
        unless they name one.
    as_root : bool
        Whether the user is root (in a container, say), whom Jupyter refuses unless told.
    """
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{quote(page)}",
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
        typer.Option("--open", help="File to open, from the course folder or from here.", show_default="lesson 01"),
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
    try:
        page = page_in(root, page) if page else start_page(root)
    except UnfitPage as error:
        typer.echo(f"course lab: {error}", err=True)
        raise typer.Exit(1) from None

    try:
        if said := use_usable():
            typer.echo(f"course lab: {said}", err=True)
    except NoPlace as error:
        typer.echo(f"course lab: {error}", err=True)
        raise typer.Exit(1) from None
    os.environ.update(lab_environment(dict(os.environ)))
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    typer.echo(f"Starting JupyterLab in {root}. Open the address below in a browser; Ctrl-C stops it.")

    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=lab_arguments(root, page, context.args, as_root=as_root))
