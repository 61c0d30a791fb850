"""A notebook that is kept as Markdown, as its cells: code stands between fences, the rest is text.

Jupytext's Markdown and MyST, R Markdown and Quarto are read: their fences say ```python, ```{code-cell} or ```{python}.

Source: the course's own; https://jupytext.readthedocs.io/en/latest/formats-markdown.html.
"""

import re

ENDINGS = (".md", ".markdown", ".myst", ".rmd", ".qmd")
"""Of such files, in small letters."""

FENCE = re.compile(r" {0,3}(`{3,}|~{3,}) *\{?(code-cell|python3?|py|ipython3?)\b(.*)$", re.IGNORECASE)


def has_code(text):
    """Return whether a text holds Python between fences. No errors. Source: the course's own."""
    return any(FENCE.match(line) for line in text.split("\n"))


def text_cells(text):
    """Return the cells of a Markdown text as (kind, source, what the fence says), in order. No errors.

    What stands between `<!-- #region -->` and `<!-- #endregion -->` is one text, with the examples in it.

    Source: the course's own.
    """
    text = re.sub(r"\A\s*---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)
    lines = text.split("\n")
    braced = any(_is_braced(opened) for line in lines if (opened := FENCE.match(line)))
    cells, part, fence, about, region = [], [], "", "", False
    for line in lines:
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                cells.append(("code", _without_options(part), about))
                part, fence = [], ""
            else:
                part.append(line)
        elif not region and (opened := FENCE.match(line)) and _is_braced(opened) == braced:
            cells.append(("markdown", "\n".join(part), ""))
            part, fence, about = [], opened[1], opened[3]
        elif re.match(r"\+\+\+|<!-- #(?:end)?region\b.*-->", line):
            cells.append(("markdown", "\n".join(part), about if "region" in line else ""))
            part, about, region = [], line, "#region" in line
        else:
            part.append(line)
    cells.append(("code", _without_options(part), about) if fence else ("markdown", "\n".join(part), ""))
    return [(kind, source.strip("\n"), about) for kind, source, about in cells if source.strip()]


def _is_braced(fence):
    """Return whether a fence is ```{python}: where such mark the cells, others are examples in the text."""
    return "{" in fence[0][: fence.start(2)]


def _without_options(lines):
    """Return the code of a cell without the options that MyST writes above it."""
    text = "\n".join(lines)
    return re.sub(r"\A(?:---\n.*?\n---\n|(?::[\w-]+:[^\n]*\n)+)", "", text, count=1, flags=re.DOTALL)
