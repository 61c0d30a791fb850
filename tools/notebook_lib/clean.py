"""Make an executed notebook the same bytes wherever and whenever it was built."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.cli.clean import clean_outputs
from notebook_lib.scripts import FORM, KERNELSPEC, LANGUAGE_INFO, cell_metadata


def clean(notebook: NotebookNode) -> NotebookNode:
    """Normalise metadata and outputs in place, and return the notebook.

    Of the metadata only kernelspec, language, the lesson's form, tags and what follows from them stay; for the outputs
    see `clean_outputs`.
    """
    form = {FORM: notebook.metadata[FORM]} if FORM in notebook.metadata else {}
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO} | form)
    for cell in notebook.cells:
        cell.metadata = cell_metadata(cell.metadata.get("tags", []))
        if cell.cell_type == "code":
            cell.outputs = clean_outputs(cell.outputs)
    return notebook


def to_text(notebook: NotebookNode) -> str:
    """The notebook as JSON with sorted keys, one space of indent and a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def write(notebook: NotebookNode, path: Path) -> None:
    """Write in one step: whoever reads meanwhile sees the old file or the new one, never half of one."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp", delete=False
    ) as file:
        file.write(to_text(notebook))
    try:
        os.chmod(file.name, 0o644)  # a temporary file is private; this one is to be committed
        os.replace(file.name, path)
    except OSError:
        os.unlink(file.name)
        raise
