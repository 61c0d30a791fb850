"""A tiny course folder with lessons of a few cells."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def text(source: str):
    """Make a Markdown cell."""
    return new_markdown_cell(source)


def code(source: str, *tags: str):
    """Make a code cell."""
    return new_code_cell(source, metadata={"tags": list(tags)} if tags else {})


def make_course(folder: Path, **lessons) -> Path:
    """Write a course folder: ``make_course(path, l01_first=[cells])`` makes notebooks/01_first.ipynb."""
    (folder / "course_lib").mkdir(parents=True)
    (folder / "notebooks").mkdir()
    for name, cells in lessons.items():
        notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
        nbformat.write(notebook, folder / "notebooks" / f"{name.removeprefix('l')}.ipynb")
    return folder
