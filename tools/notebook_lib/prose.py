"""What rules ask of a lesson's prose: its cells, headings, folded boxes, and what a reader says aloud of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

ABOUT, ERRATA = "About this page", "For those who know the lectures"  # the folded boxes that a lesson may have

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"(`+).+?\1", re.DOTALL)
_MATH = re.compile(r"\$\$.*?\$\$|(?<![\\$])\$[^$\n]+\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_NUMBER = re.compile(r"<sup>.*?</sup>", re.DOTALL)
_MARKUP = re.compile(r"<!--.*?-->|<[^>]*>|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)", re.DOTALL)
_BOX = re.compile(r"<details[^>]*>\s*<summary>(?P<name>.*?)</summary>(?P<text>.*?)</details>", re.DOTALL)


def prose_cells(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    """Number and text of the markdown cells, without fenced code."""
    return (
        (n, _FENCE.sub("", cell.source))
        for n, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "markdown"
    )


def headings(notebook: NotebookNode) -> list[tuple[int, int, str]]:
    """``(cell, level, text)`` of every heading."""
    return [(n, len(m[1]), m[2]) for n, text in prose_cells(notebook) for m in _HEADING.finditer(text)]


def spoken(text: str) -> str:
    """What a reader says aloud of a markdown text: no code, no formulas, no markup."""
    for pattern in (_FENCE, _CODE_SPAN, _MATH, _NUMBER, _MARKUP):
        text = pattern.sub(" ", text)
    return text


def boxes(notebook: NotebookNode, name: str) -> list[tuple[int, str]]:
    """Number of the cell and text of each folded box ``<details><summary>name</summary> text </details>``."""
    return [
        (n, box["text"])
        for n, text in prose_cells(notebook)
        for box in _BOX.finditer(text)
        if box["name"].strip().lower() == name.lower()
    ]


def without_boxes(text: str, *names: str) -> str:
    """A cell's text without its folded boxes of these names."""
    wanted = {name.lower() for name in names}
    return _BOX.sub(lambda box: "" if box["name"].strip().lower() in wanted else box[0], text)
