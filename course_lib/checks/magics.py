"""IPython's own lines in a cell: which can be left out or read as Python, without IPython.

Most notebooks have no other ones. What is left is IPython's to read: `notebook_cells` asks it. The grader, which never
runs a cell, reads with `without_magics` only.

Source: the course's own; the documentation of IPython's magics and of its input syntax.
"""

import ast
import re
import warnings

_SILENT = re.compile(
    r"(?:%(?:matplotlib|config|autoreload|precision|pip|conda|mamba|uv|(?:re)?load_ext +autoreload)\b"
    r"|%timeit\b(?!.*\s-\w*o)"
    r"|!\s*(?:pip3?|conda|mamba|uv|python3?\s+-m\s+pip)\b).*"
)
"""Lines without a value that an answer could need; packages cannot be installed by a grader."""

_TIMED = re.compile(r"%time\s+(?=[^\s-])")
_OF_PYTHON = re.compile(r"%%(?:time|prun|capture)\s*(?:#.*)?$")
"""First lines of cells whose other lines are run as they are."""

_OF_PAGES = re.compile(r"%%(?:html|HTML|markdown|latex|svg|SVG|javascript|js|timeit)\b")
"""First lines of cells that give no name a value: they show something, or are run in a function (timeit)."""


def plain(source):
    """Return a cell without the lines of IPython's that change no name, with as many lines. No errors.

    `%time x = 2` becomes `x = 2`. Source: the course's own.
    """
    return _plain(source)[0]


def _plain(source):
    """Return (text, numbers of the lines that are others now)."""
    head, newline, rest = source.lstrip("\n").partition("\n")
    above = "\n" * (len(source) - len(source.lstrip("\n")))
    if _OF_PAGES.match(head):
        return "", ()
    if _OF_PYTHON.match(head.rstrip()):
        source = above + newline + rest
    lines = source.split("\n")
    new = [_plain_line(line) if "%" in line or "!" in line else line for line in lines]
    return "\n".join(new), [i for i, (old, line) in enumerate(zip(lines, new, strict=True), 1) if old != line]


def _plain_line(line):
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if _SILENT.match(text):
        return f"{indent}pass"
    return indent + _TIMED.sub("", text, count=1) if _TIMED.match(text) else line


def parsed(source, name="<cell>"):
    """Return the syntax tree of a cell, with or without `plain`; SyntaxError where it has more of IPython's.

    Source: the course's own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source, name)
        except SyntaxError:
            other, changed = _plain(source)
            if other == source:
                raise
            tree = ast.parse(other, name)
            begun = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
            if not begun.issuperset(changed):  # a line of a text, or an operator at the beginning of a line
                raise
            return tree


def without_magics(source):
    """Return a cell as Python for a reader that does not run it: what only IPython understands is left out.

    A cell of %%another language is empty; `files = !ls` gives its name the value None. No errors.

    Source: the course's own; IPython's own transformer may take minutes for a text that is made to be slow.
    """
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%") and not _OF_PYTHON.match(first.rstrip()):
        return "\n" * source.count("\n") if not re.match(r"%%(?:time|prun|capture)\b", first) else "\n" + rest
    source = plain(source)
    return "\n".join(line if _MARKS.isdisjoint(line) else _without(line) for line in source.split("\n"))


_MARKS = frozenset("%!?")


def _without(line):
    line = re.sub(r"^(\s*)(?:%%?\w|!(?!=)|\?+\w|[\w.]+\?+\s*$).*", r"\1pass", line)
    return re.sub(r"^(\s*\w[\w, ]*=\s*)(?:%\w|!(?!=)).*", r"\1None", line)
