"""Title and first sentence of a notebook: what the front door says of a lesson."""

from __future__ import annotations

import re

from nbformat import NotebookNode

__all__ = ["first_sentence", "title_of"]

_NO_PROSE = re.compile(r"\s*(?:#|<|!\[|[-*+] |\d+\. |\||>|```|\$\$)")
_SENTENCE = re.compile(r".+?[.?](?=[*_)\"]*(?:\s|$))[*_)\"]*", re.DOTALL)


def title_of(notebook: NotebookNode, otherwise: str) -> str:
    """Take the title from the first level-one heading of a notebook, `otherwise` if it has none."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := re.search(r"^# (.+)$", cell.source, re.MULTILINE)):
            return re.sub(r"[*_`$]", "", match[1]).strip()
    return otherwise


def first_sentence(notebook: NotebookNode) -> str:
    """Take the first sentence of the first paragraph that is prose: no heading, list, table, formula or HTML.

    Parameters
    ----------
    notebook : NotebookNode

    Returns
    -------
    str
        Markdown on one line, without links and footnotes; empty if there is no prose.
    """
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        folded = re.sub(r"<details.*?</details>|<!--.*?-->", "", cell.source, flags=re.DOTALL)
        for paragraph in re.split(r"\n\s*\n", folded):
            if paragraph.strip() and not _NO_PROSE.match(paragraph):
                text = re.sub(r"<sup\b.*?</sup>|<[^>]+>", "", paragraph, flags=re.DOTALL)
                text = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())
                return match[0] if (match := _SENTENCE.match(text)) else text
    return ""
