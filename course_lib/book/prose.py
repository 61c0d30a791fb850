"""Title, promise and first picture of a notebook: what the front door shows of a lesson."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote_to_bytes

from nbformat import NotebookNode

__all__ = ["Drawing", "first_picture", "first_sentence", "promise", "title_of"]

_NO_PROSE = re.compile(r"\s*(?:#|<|!\[|[-*+] |\d+\. |\||>|```|\$\$)")
_SENTENCE = re.compile(r".+?[.?](?=[*_)\"]*(?:\s|$))[*_)\"]*", re.DOTALL)
_PROMISES = re.compile(
    r"^## You will be able to\s*?\n+[-*] (?P<first>.+?)(?=\n[-*] |\n\s*\n|\Z)", re.MULTILINE | re.DOTALL
)
_IMG = re.compile(r"<img\b[^>]*>")
_SRC = re.compile(r'\bsrc="data:image/(svg\+xml|png)(;base64)?,([^"]+)"')
_ALT = re.compile(r'\balt="([^"]*)"')


@dataclass(frozen=True)
class Drawing:
    """A picture of a lesson: the bytes of its file, the file's ending, and its alt text."""

    content: bytes
    ending: str
    alt: str


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
                text = " ".join(_bare(paragraph).split())
                return match[0] if (match := _SENTENCE.match(text)) else text
    return ""


def promise(notebook: NotebookNode) -> str:
    """Say what the lesson is good for: the first line of "You will be able to" as a sentence.

    Parameters
    ----------
    notebook : NotebookNode

    Returns
    -------
    str
        Markdown on one line; the first sentence of the lesson where it promises nothing.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := _PROMISES.search(cell.source)):
            text = " ".join(_bare(match["first"]).split()).rstrip(";,.")
            return f"{text[0].upper()}{text[1:]}."
    return first_sentence(notebook)


def first_picture(notebook: NotebookNode) -> Drawing | None:
    """Take the first picture that stands in an output of a notebook, with its alt text; None if there is none."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html", "")
            for img in _IMG.findall(html if isinstance(html, str) else "".join(html)):
                source, alt = _SRC.search(img), _ALT.search(img)
                if source and alt and alt[1]:
                    data = unescape(source[3])
                    content = base64.b64decode(data) if source[2] else unquote_to_bytes(data)
                    return Drawing(content, "svg" if source[1].startswith("svg") else "png", unescape(alt[1]))
    return None


def _bare(text: str) -> str:
    """Leave links and footnotes out of Markdown, but not their words."""
    text = re.sub(r"<sup\b.*?</sup>|<[^>]+>", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
