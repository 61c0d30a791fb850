"""A notebook of marimo, which is a script with a function for each cell, as its cells.

Source: the course's own; https://docs.marimo.io/guides/coming_from/jupyter/, the file format.
"""

import ast
import re
import textwrap


def is_marimo(text):
    """Return whether a script says that it is a marimo notebook. No errors. Source: the course's own."""
    return re.search(r"^(?:import marimo\b|app = marimo\.App\b)", text, re.MULTILINE) is not None


def marimo_cells(text, statements):
    """Return the cells of a marimo notebook as (kind, source, ""), in order; other statements are left out.

    Parameters
    ----------
    text : str
    statements : list of ast.stmt
        Of the text.

    No errors. Source: the course's own.
    """
    lines, cells = text.split("\n"), []
    for node in statements:
        role = _role(node)
        if role == "cell":
            body = [part for part in node.body if not isinstance(part, ast.Return)]  # names for other cells
            cells.append(_cell(lines, body))
        elif role == "setup":
            cells.append(_cell(lines, node.body))
        elif role in ("function", "class_definition"):
            cells.append(("code", "\n".join(lines[node.lineno - 1 : node.end_lineno]), ""))
    return [cell for cell in cells if cell[1].strip()]


def _role(node):
    """Return "cell" of a statement below @app.cell or @app.cell(...), "setup" of one in app.setup, "" of others."""
    marks = [item.context_expr for item in getattr(node, "items", ())] + getattr(node, "decorator_list", [])
    for mark in marks:
        mark = mark.func if isinstance(mark, ast.Call) else mark
        if isinstance(mark, ast.Attribute) and isinstance(mark.value, ast.Name) and mark.value.id == "app":
            return mark.attr
    return ""


def _cell(lines, body):
    if not body:
        return "code", "", ""
    if len(body) == 1 and (words := _words(body[0])) is not None:
        return "markdown", textwrap.dedent(words).strip("\n"), ""
    first = min(part.lineno for part in [body[0], *getattr(body[0], "decorator_list", [])])
    return "code", textwrap.dedent("\n".join(lines[first - 1 : body[-1].end_lineno])), ""


def _words(node):
    """Return the text of mo.md("..."), None of another statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "md"):
        return None
    text = call.args[0] if call.args else None
    return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
