"""Rules about the Python of a lesson, read from its syntax tree and never by running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from notebook_lib.guards import code_cells, tagged

# What of numpy.random does not draw from the hidden global generator.
_SEEDABLE = {
    "default_rng",
    "Generator",
    "SeedSequence",
    "BitGenerator",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
    "MT19937",
}
_TIMED_MAGICS = {"timeit", "time"}


def trees(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, ast.Module]]:
    """Number, cell and syntax tree of each code cell; magics become calls, code that does not parse is left out.

    (It does not run either, so the build reports it; a lesson may show a SyntaxError on purpose.)
    """
    for n, cell in code_cells(notebook):
        try:
            yield n, cell, ast.parse(TransformerManager().transform_cell(cell.source))
        except SyntaxError:
            continue


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a chain of attributes, "" for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _imports(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """``(module, name, local name)`` of each import; name is "" in ``import module``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((a.name, "", a.asname or a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", a.name, a.asname or a.name) for a in node.names)


def no_unseeded_randomness(notebook: NotebookNode) -> list[str]:
    """Every random number comes from ``np.random.default_rng(seed)``."""
    found = []
    for n, _, tree in trees(notebook):
        for module, name, _ in _imports(tree):
            if module == "random" or (module == "numpy.random" and name not in {"", *_SEEDABLE}):
                found.append(f"cell {n}: imports {'.'.join(filter(None, (module, name)))}; pass a numpy Generator")
        for node in ast.walk(tree):
            path = dotted(node) if isinstance(node, ast.Attribute) else ""
            if path.startswith(("np.random.", "numpy.random.")) and path.split(".")[2] not in _SEEDABLE:
                found.append(f"cell {n}: {path} draws from the global generator; use np.random.default_rng(seed)")
            if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "default_rng":
                seed = (node.args or [k.value for k in node.keywords] or [ast.Constant(None)])[0]
                if isinstance(seed, ast.Constant) and seed.value is None:
                    found.append(f"cell {n}: default_rng() without a seed")
    return found


def no_untagged_timing(notebook: NotebookNode) -> list[str]:
    """A clock is read only in cells tagged ``nbval-ignore-output``: no two runs take the same time."""
    found, clocks = [], set()
    for n, cell, tree in trees(notebook):
        clocks |= {
            local
            for module, name, local in _imports(tree)
            if (module in ("time", "timeit") and name not in ("", "sleep")) or (module == "datetime" and name == "")
        }
        if tagged(cell, "nbval-ignore-output"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (clock := _clock(node, clocks)):
                found.append(f"cell {n}: reads a clock ({clock}) without the tag nbval-ignore-output")
    return found


def _clock(call: ast.Call, clocks: set[str]) -> str:
    path = dotted(call.func)
    if path.endswith((".run_line_magic", ".run_cell_magic")) or (
        isinstance(call.func, ast.Attribute) and call.func.attr in ("run_line_magic", "run_cell_magic")
    ):
        magic = call.args[0]
        return f"%{magic.value}" if isinstance(magic, ast.Constant) and magic.value in _TIMED_MAGICS else ""
    if path.startswith(("time.", "timeit.")) and path != "time.sleep":
        return path
    return path if path in clocks or path.endswith(("datetime.now", "datetime.today", "date.today")) else ""


def figures_through_show(notebook: NotebookNode) -> list[str]:
    """Figures are shown by ``figures.show(fig, alt=...)``, the only way that keeps an alt text."""
    return [
        f"cell {n}: {dotted(node.func)}() shows a figure without alt text; use figures.show(fig, alt=...)"
        for n, _, tree in trees(notebook)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and dotted(node.func) in ("plt.show", "pyplot.show", "fig.show", "display.Image", "Image")
    ]
