"""The executed notebooks that a site was built of; they lie in the site's folder until their lesson is run again."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.cli.clean import clean_outputs
from course_lib.cli.folder import Lesson

__all__ = ["STOPPED", "keep", "kept_notebooks", "stopped_lessons", "unreadable_lessons"]

STOPPED = "course_stopped"
"""Where a notebook's metadata say at which cell its run stopped."""

_FOLDER = "_executed"


def keep(out: Path, lesson: Lesson, notebook: NotebookNode, stopped: str = "") -> None:
    """Write an executed notebook into a site's folder, for this and later builds of the site.

    Parameters
    ----------
    out : Path
        The folder of the site; is made where it is not there.
    lesson : Lesson
    notebook : NotebookNode
        Is not changed. Interactive views are left out, so that the static figure in the same output shows.
    stopped : str
        Where and why the run stopped; empty if it did not.

    Raises
    ------
    OSError
        The folder takes no file.
    """
    notebook = nbformat.from_dict(notebook)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.pop(STOPPED, None)
    if stopped:
        notebook.metadata[STOPPED] = stopped
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = clean_outputs(cell.outputs)
    file = _file(out, lesson)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    try:
        nbformat.write(notebook, part)
        os.replace(part, file)  # at once, so that a full disk leaves no half notebook
    finally:
        part.unlink(missing_ok=True)


def kept_notebooks(out: Path, lessons: list[Lesson]) -> list[tuple[Lesson, NotebookNode]]:
    """Read what `keep` wrote, in the order of the lessons; of lessons that the course has no more, nothing.

    Parameters
    ----------
    out : Path
    lessons : list of Lesson
        All lessons of the course. A kept run that cannot be read is left out; `unreadable_lessons` lists it.
    """
    found = [(lesson, _read(_file(out, lesson))) for lesson in lessons if _file(out, lesson).is_file()]
    return [(lesson, notebook) for lesson, notebook in found if notebook is not None]


def unreadable_lessons(out: Path, lessons: list[Lesson]) -> list[Lesson]:
    """List the lessons whose kept run is there but damaged: by hand, or by a disk that was full.

    Parameters
    ----------
    out : Path
    lessons : list of Lesson
        All lessons of the course.
    """
    return [lesson for lesson in lessons if _file(out, lesson).is_file() and _read(_file(out, lesson)) is None]


def stopped_lessons(out: Path, lessons: list[Lesson]) -> list[Lesson]:
    """List the lessons whose kept run did not come to its end.

    Parameters
    ----------
    out : Path
    lessons : list of Lesson
        All lessons of the course.
    """
    return [lesson for lesson, notebook in kept_notebooks(out, lessons) if notebook.metadata.get(STOPPED)]


def _file(out: Path, lesson: Lesson) -> Path:
    return out / _FOLDER / lesson.path.name


def _read(file: Path) -> NotebookNode | None:
    try:
        return nbformat.read(file, as_version=4)
    except Exception:  # no JSON, no notebook, another encoding: nbformat has an error for each
        return None
