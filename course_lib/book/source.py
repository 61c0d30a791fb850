"""The folder that Sphinx reads: executed lessons, sheets and pictures, laid out as in the course folder."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course_lib.book.front_door import Entry, front_door
from course_lib.book.kept import STOPPED
from course_lib.book.prose import first_picture, promise, title_of
from course_lib.cli.folder import Lesson

__all__ = ["EXTRA", "write_source"]

EXTRA = "extra"
"""The folder in the source whose content stands in the site as it is."""

PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"}

_WAYS = re.compile(r"(?:- (?:\[Exercises for this lesson\]|(?:Previous|Next): \[[^\]]*\])\([^)\s]+\)\s*)+")

STOPPED_NOTE = """`````{{warning}}
The last run of this lesson did not reach its end, and cells below have no outputs. It stopped here:

````text
{where}
````
`````"""


def write_source(folder: Path, root: Path, lessons: list[tuple[Lesson, NotebookNode]]) -> dict[str, int]:
    """Write what Sphinx reads.

    Parameters
    ----------
    folder : Path
        An empty folder.
    root : Path
        The course folder; sheets are taken from it as they are, those of lessons that have no page left out.
    lessons : list of (Lesson, NotebookNode)
        Executed, in the order of the course.

    Returns
    -------
    dict
        ``{page: cells put in front}``, so that cells can be counted as in the notebook.
    """
    shifts: dict[str, int] = {}
    sheets = _sheets(root, {lesson.name for lesson, _ in lessons})
    shown_sheets, shown_lessons = [], []
    (folder / EXTRA / "pictures").mkdir(parents=True)
    for path in sheets:
        sheet = nbformat.read(path, as_version=4)
        page = f"exercises/{path.stem}"
        shown_sheets.append(Entry(page, title_of(sheet, path.stem)))
        note = f"To work on this sheet, open `{page}.ipynb` in JupyterLab: `make lab` starts it."
        shifts[page] = _write(folder, page, sheet, note=note)
    for lesson, notebook in lessons:
        page = f"notebooks/{lesson.name}"
        sheet = f"exercises/{lesson.name}" if lesson.name in {path.stem for path in sheets} else ""
        stopped = notebook.metadata.get(STOPPED, "")
        title = title_of(notebook, lesson.name)
        picture, alt = _picture(folder, lesson.name, notebook)
        shown_lessons.append(Entry(page, title, promise(notebook), sheet, bool(stopped), picture, alt))
        notebook = _without_ways(notebook)
        end = f"**[Exercises for this lesson](../{sheet}.ipynb)**" if sheet else ""
        if f"../{sheet}.ipynb" in "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"):
            end = ""  # the lesson says it itself
        note = STOPPED_NOTE.format(where=stopped) if stopped else ""
        shifts[page] = _write(folder, page, notebook, note=note, end=end)
    for name in ("notebooks", "exercises"):
        for picture in (root / name).glob("*.*"):
            if picture.suffix.lower() in PICTURES:
                shutil.copy(picture, folder / name / picture.name)
    (folder / "index.md").write_text(front_door(shown_lessons, shown_sheets), encoding="utf-8")
    return shifts


def _sheets(root: Path, lessons: set[str]) -> list[Path]:
    """List the sheets of these lessons, then those that belong to no lesson of the course."""
    every = sorted((root / "exercises").glob("*.ipynb"))
    alone = [path for path in every if not path.stem[:2].isdigit()]
    return [path for path in every if path.stem in lessons] + alone


def _picture(folder: Path, name: str, notebook: NotebookNode) -> tuple[str, str]:
    """Write the first picture of a lesson into a file for the front door; returns its address and its alt text."""
    drawing = first_picture(notebook)
    if drawing is None:
        return "", ""
    address = f"pictures/{name}.{drawing.ending}"
    (folder / EXTRA / address).write_bytes(drawing.content)
    return address, drawing.alt


def _without_ways(notebook: NotebookNode) -> NotebookNode:
    """Leave out the last cell if it only leads to the sheet and to other lessons: a page does so itself."""
    cells = notebook.cells
    if cells and cells[-1].cell_type == "markdown" and _WAYS.fullmatch(cells[-1].source):
        notebook = nbformat.from_dict(notebook)
        del notebook.cells[-1]
    return notebook


def _write(folder: Path, page: str, notebook: NotebookNode, *, note: str = "", end: str = "") -> int:
    """Write a notebook with a note below its title and a last line; returns how many cells were put in front."""
    notebook = nbformat.from_dict(notebook)
    notebook.metadata.setdefault("language_info", {"name": "python", "pygments_lexer": "ipython3"})
    shift = int(not notebook.cells or title_of(notebook, "") == "" or notebook.cells[0].cell_type != "markdown")
    if shift:
        title = "" if title_of(notebook, "") else f"# {folder.joinpath(page).name}"
        notebook.cells.insert(0, new_markdown_cell(title))
    first = notebook.cells[0]
    if note:
        head, _, rest = first.source.partition("\n\n")
        first.source = f"{head}\n\n{note}\n\n{rest}"
    if end:
        notebook.cells.append(new_markdown_cell(end))
    target = folder / f"{page}.ipynb"
    target.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, target)
    return shift
