"""Rules about predictions: none is a lie, and each opens exactly what is folded for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from notebook_lib.guards import tagged
from notebook_lib.lint_code import dotted, trees

_REVEAL = re.compile(r'<details class="reveal">')


@dataclass(frozen=True)
class Asked:
    """A call of `predict`: its cell, the name that it is given, and how many folds it opens."""

    cell: int
    name: str
    reveals: int


def asked(notebook: NotebookNode) -> Iterator[Asked]:
    """Every call of `predict`, in order; the name is "" where it has none."""
    for n, _, tree in trees(notebook):
        names = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "predict" and _asks(node):
                given = {k.arg: k.value for k in node.keywords}.get("reveals")
                yield Asked(n, names.get(id(node), ""), given.value if isinstance(given, ast.Constant) else 1)


def _asks(call: ast.Call) -> bool:
    """A question and its choices: a network's ``predict(x)`` is another function."""
    return len(call.args) >= 2 or any(k.arg in ("question", "choices") for k in call.keywords)


def predictions_are_confirmed(notebook: NotebookNode) -> list[str]:
    """Each prediction has a name, and a later cell calls ``name.confirm(measured)`` before the name is used again."""
    found, all_asked = [], list(asked(notebook))
    calls = [
        (n, dotted(node.func).removesuffix(".confirm"))
        for n, _, tree in trees(notebook)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and dotted(node.func).endswith(".confirm")
    ]
    for i, one in enumerate(all_asked):
        if not one.name:
            found.append(f"cell {one.cell}: the prediction has no name; write p = predict(...), and p below it")
            continue
        again = [other.cell for other in all_asked[i + 1 :] if other.name == one.name]
        until = again[0] if again else len(notebook.cells) + 1
        if not any(one.cell < n < until and name == one.name for n, name in calls):
            found.append(f"cell {one.cell}: no later cell calls {one.name}.confirm(...) with what it measured")
    return found


def predictions_open_folds(notebook: NotebookNode) -> list[str]:
    """The next `reveals` things after a prediction that show something are folded, and no fold is left over.

    JupyterLab's page does not tell which cell has which tag, so that there the next outputs are taken for the folds.
    """
    found, all_asked, opened = [], list(asked(notebook)), set()
    for one, end in zip(all_asked, [*(a.cell for a in all_asked[1:]), len(notebook.cells) + 1], strict=True):
        things = [thing for n in range(one.cell + 1, end) for thing in _things(n, notebook.cells[n - 1])]
        for n, what in things[: one.reveals]:
            opened.add((n, what))
            if what == "shown":
                found.append(f"cell {n}: shows what the prediction of cell {one.cell} asks for; tag it hide-output")
        if len(things) < one.reveals:
            found.append(f"cell {one.cell}: the prediction opens {one.reveals} folds, only {len(things)} follow it")
    return found + [
        f"cell {n}: no prediction opens this fold; count it in reveals=, or unfold it"
        for n, cell in enumerate(notebook.cells, start=1)
        for _, what in _things(n, cell)
        if what.startswith("prose") and (n, what) not in opened
    ]


def _things(n: int, cell: NotebookNode) -> Iterator[tuple[int, str]]:
    """What a cell shows: ``(n, "folded")`` or ``(n, "shown")`` of code, ``(n, "prose 0")`` of a fold in prose."""
    if cell.cell_type == "markdown":
        yield from ((n, f"prose {k}") for k in range(len(_REVEAL.findall(cell.source))))
    elif cell.outputs:
        yield n, "folded" if tagged(cell, "hide-output") else "shown"
    elif tagged(cell, "hide-output") and cell.execution_count is None:
        yield n, "folded"  # a script that is not built yet
