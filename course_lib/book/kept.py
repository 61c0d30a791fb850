"""The executed notebooks that a site was built of; they lie in the site's folder until their lesson is run again."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.cli.clean import clean_outputs
from course_lib.cli.folder import Lesson

__all__ = ["STOPPED", "keep", "kept_notebooks", "stopped_lessons"]

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
    (out / _FOLDER).mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, out / _FOLDER / lesson.path.name)


def kept_notebooks(out: Path, lessons: list[Lesson]) -> list[tuple[Lesson, NotebookNode]]:
    """Read what `keep` wrote, in the order of the lessons; of lessons that the course has no more, nothing.

    Parameters
    ----------
    out : Path
    lessons : list of Lesson
        All lessons of the course.
    """
    files = [(lesson, out / _FOLDER / lesson.path.name) for lesson in lessons]
    return [(lesson, nbformat.read(file, as_version=4)) for lesson, file in files if file.is_file()]


def stopped_lessons(out: Path, lessons: list[Lesson]) -> list[Lesson]:
    """List the lessons whose kept run did not come to its end.

    Parameters
    ----------
    out : Path
    lessons : list of Lesson
        All lessons of the course.
    """
    return [lesson for lesson, notebook in kept_notebooks(out, lessons) if notebook.metadata.get(STOPPED)]
