"""What a notebook in an unusual shape is made of: the model answers of a sheet, cut into cells as the shape wants."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from notebook_lib.sheets import BEGIN, END, cells_of, read_sheet

from course_lib.checks.registry import sheet as sheet_named

ROOT = Path(__file__).resolve().parents[2]
SETUP = "import numpy as np\n\nfrom course_lib.checks import check\n"

SHAPES: dict[str, Callable[[], Shape]] = {}
"""Each shape by name, in the order of the modules; a call makes it."""


@dataclass(frozen=True)
class Shape:
    """A notebook as bytes, with its sheet, and the files that lie beside it by name."""

    sheet: str
    content: bytes
    files: dict[str, bytes] = field(default_factory=dict)


def shape(make: Callable[[], Shape]) -> Callable[[], Shape]:
    """Enter a function that makes a shape into `SHAPES`, under its name with blanks."""
    SHAPES[make.__name__.replace("_", " ")] = make
    return make


class Model:
    """The model answers of a sheet: `text` of each by id, and `function`, its name."""

    def __init__(self, name: str = "01_perceptron") -> None:
        self.name = name
        cells = cells_of(read_sheet(ROOT / "solutions" / f"{name}.py"), "exercise")
        self.text = {id: _without_marks(cell.source) for id, cell in cells.items()}
        self.function = {e.id: e.function for e in sheet_named(name).exercises if e.kind != "text"}
        self.setup = SETUP

    def check(self, id: str) -> str:
        """The check of an exercise, as the sheet has it."""
        return f'check("{id}", {self.function[id]})'

    def cells(self, other: dict[str, list] | None = None, first: tuple = (), last: tuple = ()) -> list[NotebookNode]:
        """The cells in the sheet's order: setup, then each answer and its check, or what `other` has for an id.

        A cell is a text, or a node of nbformat; `first` stand before the setup and `last` at the end.
        """
        cells = [*first, self.setup]
        for id, text in self.text.items():
            cells += (other or {}).get(id, [text, self.check(id)])
        return [code(cell) if isinstance(cell, str) else copy.deepcopy(cell) for cell in [*cells, *last]]

    def shape(self, other: dict[str, list] | None = None, first: tuple = (), last: tuple = (), **files: bytes) -> Shape:
        """The shape with the cells of `cells`; files are named by keyword, `helper_py` for helper.py."""
        beside = {name.replace("__", "/").replace("_", "."): content for name, content in files.items()}
        return Shape(self.name, written(self.cells(other, first, last)), beside)


def code(source: str, **metadata: object) -> NotebookNode:
    """A code cell."""
    return nbformat.v4.new_code_cell(source, metadata=metadata)


def text(source: str) -> NotebookNode:
    """A cell of text."""
    return nbformat.v4.new_markdown_cell(source)


def written(cells: list[NotebookNode]) -> bytes:
    """The notebook of these cells, as bytes."""
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same each time
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()


def renamed(source: str, **names: str) -> str:
    """The text with words replaced: `renamed(text, margin="distance")`."""
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return source


def lines(*rows: str) -> str:
    """A cell of these lines."""
    return "\n".join(rows) + "\n"


def without_docstring(source: str) -> str:
    """The text without its docstring's line, for shapes that put it into a string."""
    return re.sub(r'^ *""".*"""\n', "", source, flags=re.MULTILINE)


def _without_marks(source: str) -> str:
    return "\n".join(line for line in source.split("\n") if line.strip() not in (BEGIN, END)) + "\n"
