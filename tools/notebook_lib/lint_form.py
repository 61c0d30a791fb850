"""Rules of the new form of a lesson: a picture first, sources in notes, boxes folded, code that teaches."""

from __future__ import annotations

import ast
import re

from nbformat import NotebookNode

from notebook_lib import html
from notebook_lib.guards import code_cells, tagged
from notebook_lib.lint_code import dotted, trees
from notebook_lib.prose import ABOUT, ERRATA, boxes, headings, prose_cells, spoken, without_boxes

FIRST_SCREEN = 3  # cells
OPTIONAL = 2
# Dey, and what the old form writes: (K, "Neurons"), (O lecture 3). (K, N) is a shape.
_LECTURES = re.compile(r"\b(?:Dey|Owens|Hwu)\b|\([KOH],?\s+(?:[\"“]|lectures?\b|slides?\b)")
_NOTE = re.compile(r'<a id="cited-\d')
_MINUTES = re.compile(r"\b\d+ (?:to \d+ )?minutes\b")
_WIDTH = re.compile(r"^(?:.?[<>^=])?\d+")


def picture_first(notebook: NotebookNode) -> list[str]:
    """Within the first three cells something is seen, a figure or what moves, and the objectives come after it."""
    seen = [n for n, cell in enumerate(notebook.cells[:FIRST_SCREEN], start=1) if _shows(cell)]
    if not seen:
        return [f"cells 1 to {FIRST_SCREEN} show no figure; a lesson opens with one, before the objectives"]
    told = [n for n, text in prose_cells(notebook) if "You will be able to" in text]
    return [f"cell {n}: the objectives come before the first figure, in cell {seen[0]}" for n in told if n < seen[0]]


def _shows(cell: NotebookNode) -> bool:
    if cell.cell_type == "markdown":
        return "![" in cell.source or bool(html.images(cell.source))
    outputs = [bundle.get("text/html", "") for bundle in html.bundles(cell)]
    # Without outputs, a script that is not built yet: what it calls is all that can be seen.
    return any(html.images(page) for page in outputs) if cell.outputs else "figures." in cell.source


def about_this_page(notebook: NotebookNode) -> list[str]:
    """One folded box "About this page" says how many minutes the page takes."""
    found = boxes(notebook, ABOUT)
    if len(found) != 1:
        return [f"{len(found)} boxes <details><summary>{ABOUT}</summary>, must be 1"]
    n, text = found[0]
    return [] if _MINUTES.search(text) else [f"cell {n}: '{ABOUT}' does not say how many minutes it takes to read"]


def facts_have_notes(notebook: NotebookNode) -> list[str]:
    """At least one fact carries its source as a note."""
    if any(_NOTE.search(text) for _, text in prose_cells(notebook)):
        return []
    return ['no source is named; write [^Hwu "Title of the slide"] at the facts taken from elsewhere']


def lectures_in_notes_only(notebook: NotebookNode) -> list[str]:
    """Lectures are named in notes and in the two folded boxes, never in the text or in code."""
    texts = [(n, spoken(without_boxes(text, ABOUT, ERRATA))) for n, text in prose_cells(notebook)]
    texts += [(n, cell.source) for n, cell in code_cells(notebook)]
    return [
        f"cell {n}: names a lecture, {m[0]!r}; make it a note, or move it to '{ABOUT}' or '{ERRATA}'"
        for n, text in texts
        for m in _LECTURES.finditer(text)
    ]


def errata_at_the_end(notebook: NotebookNode) -> list[str]:
    """The box for those who know the lectures, if there is one, is one cell, before or after "Check yourself"."""
    found = sorted({n for n, _ in boxes(notebook, ERRATA)})
    if len(found) > 1:
        return [f"cells {found}: '{ERRATA}' is there {len(found)} times; put all into one box"]
    later = [(k, text) for n in found for k, level, text in headings(notebook) if k > n and level <= 2]
    return [
        f"cell {found[0]}: '{ERRATA}' stands before the section '{text}' of cell {k}; it belongs at the end"
        for k, text in later
        if text.lower() != "check yourself"
    ]


def few_optional_parts(notebook: NotebookNode) -> list[str]:
    """At most two sections are optional."""
    found = [n for n, _, text in headings(notebook) if text.lower().startswith("optional")]
    return [f"cells {found}: {len(found)} optional sections, at most {OPTIONAL}"] if len(found) > OPTIONAL else []


def tries_have_answers(notebook: NotebookNode) -> list[str]:
    """A section "Try it" has at least one folded answer."""
    sections = [(n, text) for n, level, text in headings(notebook) if level <= 2]
    found = []
    for (n, text), (end, _) in zip(sections, [*sections[1:], (len(notebook.cells) + 1, "")], strict=True):
        prose = "".join(without_boxes(t, ERRATA) for k, t in prose_cells(notebook) if n <= k < max(end, n + 1))
        if text.lower() == "try it" and "<details>" not in prose:
            found.append(f"cell {n}: 'Try it' has no folded answer, <details><summary>Answer</summary>")
    return found


def folds_begin_lines(notebook: NotebookNode) -> list[str]:
    """A fold begins its line: behind other words it ends with their paragraph, and its answer stands below it, open."""
    return [
        f"cell {n}: <details> stands behind other words, which lets its answer out: begin a line with it"
        for n, text in prose_cells(notebook)
        for line in text.splitlines()
        if re.search(r"\S.*<details", re.sub(r"^\s*(?:[-*]|\d+\.)\s", "", line))
    ]


def asserts_are_hidden(notebook: NotebookNode) -> list[str]:
    """No assert in code that the reader sees: it proves the lesson right, and teaches nothing."""
    return [
        f"cell {n}: asserts in sight; move it to a cell tagged hide-input, or let a check of the library say it"
        for n, cell, tree in trees(notebook)
        if not tagged(cell, "hide-input") and any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    ]


def tables_are_tables(notebook: NotebookNode) -> list[str]:
    """No table made of prints: two or more that pad to a width, or one in a loop."""
    found = []
    for n, _, tree in trees(notebook):
        padded = [node for node in ast.walk(tree) if _pads(node)]
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
        if len(padded) > 1 or any(node in padded for loop in loops for node in ast.walk(loop)):
            found.append(f"cell {n}: prints a table; use table(rows, columns) of course_lib.lesson")
    return found


def formulas_are_drawn(notebook: NotebookNode) -> list[str]:
    """No paragraph, item or cell of a table that begins with $ and ends in a digit.

    The book's reader of formulas takes the last digit for one that stands before the dollar, and leaves the formula
    as it is typed.
    """
    found = []
    for n, text in prose_cells(notebook):
        pieces = re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)|(?<!\\)\|", text)
        bare = (re.sub(r"^\s*(?:[-*+]|\d+\.)\s+", "", piece).strip() for piece in pieces)
        found += [f"cell {n}: '{piece}' begins with $ and ends in a digit; the book would leave the $ raw"
                  for piece in bare if re.match(r"\$[^$]", piece) and piece[-1].isdigit()]  # fmt: skip
    return found


def _pads(node: ast.AST) -> bool:
    """Whether a call prints an f-string with a width in it."""
    if not (isinstance(node, ast.Call) and dotted(node.func) == "print"):
        return False
    specs = [s.format_spec for s in ast.walk(node) if isinstance(s, ast.FormattedValue) and s.format_spec]
    return any(isinstance(p, ast.Constant) and _WIDTH.match(str(p.value)) for spec in specs for p in spec.values)
