"""A script that was exported from a notebook, or written instead of one, as the cells that it was or could be.

Cells begin where the tools that write such scripts say so: `# %%` (Jupytext percent, VS Code, Spyder, sphinx-gallery),
`# In[3]:` (JupyterLab's Executable Script), `# +` and `# -` (Jupytext light), a line of # (sphinx-gallery),
`# COMMAND ----------` (Databricks), `# <codecell>` (IPython 0.12). What stands outside of such cells is cut at its
statements: a check that fails then ends a cell of one line, not the whole file.

Source: the course's own; https://jupytext.readthedocs.io/en/latest/formats-scripts.html,
https://sphinx-gallery.github.io/stable/syntax.html, and the template "python" of nbconvert.
"""

import ast
import re
import warnings
from itertools import islice

from course_lib.grading.marimo_cells import is_marimo, marimo_cells

MOST_TEXT, MOST_DEEP = 200_000, 60
"""Characters of a text that is cut at its statements, and brackets in brackets in it: Python's parser is recursive."""

MOST_PARTS = 5_000
"""Of a script between markers that are looked at."""

MOST_BLOCKS, MOST_JOINED = 1_000, 8
"""Paragraphs of a text that Python cannot read, and how many of them may be one statement."""

CODE, MARKDOWN = "code", "markdown"

WHOLE = re.compile(r"#(?: *%%+(?=[\s\[]|$)|%%+)|# ?\+(?= *$| *[\[{]| .*=)|# ?region\b")
"""Begins a cell that is one whatever is in it."""

LOOSE = re.compile(
    r"# ?In ?\[[\d *]*\]:?\s*$|#{20,}\s*$|# ?COMMAND -+\s*$|# ?<(?:code|markdown|raw|heading)cell\b.*>|# ?-\s*$|"
    r"# ?endregion\b"
)
"""Begins code with texts between, or ends a cell."""

ENDS = re.compile(r"$|# ?-\s*$|#{20}|# ?endregion")
"""Below such a marker, and above the first one, code is in no cell."""

TEXT = re.compile(r"\[(?:markdown|md|raw)\]|<(?:markdown|raw|heading)cell")
"""In a marker: the cell is a text."""

MAGIC = re.compile(r"^# ?(%%?(?:time|timeit|capture|prun|writefile|file|run|matplotlib|load_ext|autoreload)\b)", re.M)
"""What Jupytext makes a comment of, so that the script is Python; `# %%time` is no beginning of a cell."""


def script_cells(text):
    """Return the cells of a script as (kind, source, marker), in order; the marker may hold metadata.

    No errors, whatever the text is. Source: the course's own.
    """
    if is_marimo(text) and (statements := _statements(text)):
        return marimo_cells(text, statements)
    lines = _without_header(text.split("\n"))
    has_texts = any(line.startswith("#") and WHOLE.match(line) and TEXT.search(line) for line in lines)
    cells = []
    for marker, part in islice(_parts(lines), MOST_PARTS):
        source = MAGIC.sub(r"\1", "\n".join(part))
        light = WHOLE.match(marker) and "+" in marker[:3]
        if TEXT.search(marker):
            cells.append((MARKDOWN, uncommented(source), marker))
        elif any(line.startswith("# MAGIC") for line in part):
            cells.append(_databricks(part, marker))
        elif light or (has_texts and WHOLE.match(marker)):
            cells.append((CODE, source, marker))
        else:  # texts may stand between, as comments
            if WHOLE.match(marker) and (above := _comment(source)):  # sphinx-gallery: the text of a cell, or its title
                cells.append((MARKDOWN, uncommented(above), ""))
            cells += [(kind, piece, marker) for kind, piece in _pieces(source, not ENDS.match(marker))]
    return [cell for cell in cells if cell[1].strip()]


def uncommented(text):
    """Return a text that was written as a comment, or as a string of three quotes. No errors.

    Source: the course's own.
    """
    quoted = re.fullmatch(r"\s*[rR]?(\"\"\"|''')(.*?)\1\s*", text, re.DOTALL)
    return quoted[2].strip("\n") if quoted else re.sub(r"^# ?", "", text, flags=re.MULTILINE).strip("\n")


def _without_header(lines):
    """Return the lines below the first ones, which say how to read the file: #!, coding, and a header in YAML."""
    at, says = 0, re.compile(r"#!|#.*\bcoding[:=]|# Databricks notebook|\s*$")
    while at < len(lines) and says.match(lines[at]):
        at += 1
    if at < len(lines) and re.fullmatch(r"# ?---\s*", lines[at]):
        ends = [i for i in range(at + 1, min(len(lines), at + 100)) if re.fullmatch(r"# ?---\s*", lines[i])]
        at = ends[0] + 1 if ends else at
    return lines[at:]


def _parts(lines):
    """Yield (marker, lines) of each part; the marker of what is above the first one is ""."""
    marker, part = "", []
    for line in lines:
        if line.startswith("#") and (WHOLE.match(line) or LOOSE.match(line)):
            yield marker, part
            marker, part = line, []
        else:
            part.append(line)
    yield marker, part


def _comment(source):
    """Return the comment or string at the top of a cell, "" if there is none."""
    found = re.match(r"\s*((?:#[^\n]*(?:\n|$))+|[rR]?\"\"\".*?\"\"\")", source, re.DOTALL)
    return found[1] if found else ""


def _databricks(part, marker):
    lines = [re.sub(r"^# MAGIC ?", "", line) for line in part]
    first, *rest = "\n".join(lines).strip("\n").split("\n")
    if first.startswith("%md"):
        return MARKDOWN, "\n".join([first.removeprefix("%md").lstrip(), *rest]), marker
    return CODE, "\n".join([first.removeprefix("%python"), *rest]), marker


def _pieces(text, whole):
    """Yield (kind, source) of a text: its comments that stand alone, and the code between.

    The code is cut at its statements, or with `whole` only where a comment is in between.
    """
    blocks = _by_statements(text) or _by_paragraphs(text)
    future = "".join(f"{b}\n" for kind, b in blocks if kind is CODE and b.lstrip().startswith("from __future__ "))
    waiting = []
    for kind, block in blocks:
        if kind is CODE and whole:
            waiting.append(block)
            continue
        if waiting:
            yield CODE, "\n\n".join(waiting)
            waiting = []
        yield kind, (future + block if kind is CODE and block + "\n" not in future else block)
    if waiting:
        yield CODE, "\n\n".join(waiting)


def _statements(text):
    """Return the statements of a text that Python can read, None of another one."""
    depth = most = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        most = max(most, depth)
    if len(text) > MOST_TEXT or most > MOST_DEEP:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _by_statements(text):
    """Return [(kind, source)] of a text that Python can read, else []."""
    if (statements := _statements(text)) is None:
        return []
    lines, blocks, at = text.split("\n"), [], 0
    for node in statements:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        if node.end_lineno <= at:
            continue  # after a semicolon, on a line that was taken
        texts, above = _above(lines[at:first])
        blocks += [(MARKDOWN, uncommented(comment)) for comment in texts]
        blocks.append((CODE, "\n".join([*above, *lines[first : node.end_lineno]])))
        at = node.end_lineno
    texts, above = _above([*lines[at:], ""])
    return blocks + [(MARKDOWN, uncommented(comment)) for comment in texts]


def _above(lines):
    """Return (comments that stand alone, lines that belong to the statement below) of what is above it."""
    groups = [g.strip("\n") for g in re.split(r"\n\s*\n", "\n".join(lines))]
    own = groups.pop() if lines and lines[-1].strip() else ""
    return [g for g in groups if g.strip()], own.split("\n") if own else []


def _by_paragraphs(text):
    """Return [(kind, source)] of a text that Python cannot read as a whole: what it can read of it, as it is."""
    below = r"\n(?=\s*\n(?![ \t)\]}\n])(?!(?:else|elif|except|finally)\b))"  # an empty line, then a line at the margin
    parts = [part.strip("\n") for part in re.split(rf"{below}|\n(?=def |class |@|check\()", text) if part.strip()]
    if len(text) > MOST_TEXT or len(parts) > MOST_BLOCKS:
        return [(CODE, text)]
    blocks = []
    while parts:
        if all(line.startswith("#") for line in parts[0].split("\n") if line.strip()):
            blocks.append((MARKDOWN, uncommented(parts.pop(0))))
            continue
        joined = next((n for n in range(1, MOST_JOINED + 1) if _statements("\n\n".join(parts[:n])) is not None), 1)
        blocks.append((CODE, "\n\n".join(parts[:joined])))
        del parts[:joined]
    return blocks
