"""An answer's source: the last definition of its name in a notebook, and all that it uses of the notebook.

The text is read with `ast` and never run.

Source: the course's own.
"""

import ast
import warnings

from course_lib.checks.magics import without_magics

MOST_DEEP = 60
"""Brackets in brackets and blocks in blocks of a cell; deeper ones are not read, as Python's parser is recursive."""

MOST_TEXT = 200_000
"""Characters of a cell that are read."""


class Definitions:
    """The names that the cells of a notebook give a meaning at their top level.

    Parameters
    ----------
    sources : sequence of str
        The text of each cell, in order. What Python cannot read is left out.

    No errors. Source: the course's own.
    """

    def __init__(self, sources):
        self._last, self._place = {}, {}
        for source in sources:
            for node in top_level(source):
                self._place[id(node)] = (len(self._place), node, source)
                for name in _names_given(node):
                    self._last[name] = node

    def has(self, name):
        """Return whether a name is defined. No errors. Source: the course's own."""
        return name in self._last

    def nodes(self, name):
        """Return the statements that an answer consists of, in order, as (node, text). No errors.

        Source: the course's own.
        """
        found, waiting = {}, [name]
        while waiting:
            node = self._last.get(waiting.pop())
            if node is not None and id(node) not in found:
                found[id(node)] = node
                waiting += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
        places = sorted((self._place[key] for key in found), key=lambda place: place[0])
        return [(node, _text(source.split("\n"), node)) for _, node, source in places]

    def answer(self, exercise):
        """Return the text of an exercise's answer. No errors. Source: the course's own."""
        return self.source(exercise.function)

    def source(self, name):
        """Return an answer's text, "" if there is none. No errors. Source: the course's own."""
        return "\n\n".join(text for _, text in self.nodes(name)) + "\n" if self.has(name) else ""


def top_level(source):
    """Return the statements of a cell that are run when it is, [] if Python cannot read it. No errors.

    Source: the course's own.
    """
    if len(source) > MOST_TEXT or _deep(source):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            waiting = _parsed(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    found = []
    for node in waiting:
        blocks = [getattr(node, part, []) for part in ("body", "orelse", "finalbody")]
        inner = isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While)
        found += [n for block in blocks for n in block] if inner else [node]
    return found


def _parsed(source):
    try:
        return ast.parse(source).body
    except SyntaxError:
        return ast.parse(without_magics(source)).body


def only_definitions(source):
    """Return a cell without what it does: its imports, functions and classes. No errors. Source: the course's own."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    lines = source.split("\n")
    return "\n".join(_text(lines, node) for node in top_level(source) if isinstance(node, kept))


def _deep(source):
    """Return whether brackets or indents are nested deeper than a person writes them; also in texts and comments."""
    depth = most = 0
    for letter in source:
        if letter in "([{":
            depth += 1
            most = max(most, depth)
        elif letter in ")]}":
            depth = max(0, depth - 1)
    return most > MOST_DEEP


def _text(lines, node):
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.col_offset == 0:
        return "\n".join(lines[first - 1 : node.end_lineno]).rstrip()
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):  # Python writes out no whole number of more than 4,300 digits
        return ""


def _names_given(node):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
