"""What the course adds to Sphinx: formulas as MathML, links to files that are no pages, plain words, wrapped code."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_lib.book.code_lines import code_that_wraps
from course_lib.book.mathml import formula, formulas_to_mathml

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.util.docutils import SphinxTranslator

__all__ = ["setup"]

SHOWN = {"source": "code", "content": "cell", "outputs": "output"}
"""The words of myst-nb's fold buttons, and those that the course uses: "Show the code", "Show the output"."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the additions; Sphinx calls it.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        The site to be built. Its value ``course_folder`` names the folder that links may point into.
    """
    app.add_config_value("course_folder", "", "env", str)
    app.add_html_math_renderer("course_mathml", (_inline, None), (_block, None))
    app.connect("doctree-read", _unlink_files)
    app.connect("doctree-read", _raw_html)
    app.connect("doctree-resolved", _name_the_folds)
    app.connect("html-page-context", _let_folds_say_their_words)
    app.connect("html-page-context", _wrap_code)
    app.connect("html-page-context", _end_the_way)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# ---------------------------------------------------------------------------------------------------------- formulas


def _inline(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(f'<span class="math">{_drawn(node.astext(), "inline", node)}</span>')
    _skip()


def _block(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math course-scroll">{_drawn(node.astext(), "block", node)}</div>\n')
    _skip()


def _drawn(latex: str, display: str, node: nodes.Element) -> str:
    problems: list[str] = []
    drawn = formula(latex, display, problems)
    _warn(problems, node)
    return drawn


def _skip() -> None:
    from docutils import nodes

    raise nodes.SkipNode


def _raw_html(app: Sphinx, doctree: nodes.document) -> None:
    """Draw ``$x$`` in raw HTML of the text, as JupyterLab does, and let its tables scroll; outputs stay as they are."""
    from docutils import nodes

    for node in list(doctree.findall(nodes.raw)):
        if node.get("format") == "html" and not _in_output(node):
            problems: list[str] = []
            html = formulas_to_mathml(node.astext(), problems)
            _warn(problems, node)
            if html.lstrip().startswith("<table") and html.rstrip().endswith("</table>"):
                html = f'<div class="course-scroll">{html}</div>'
            node.replace_self(nodes.raw("", html, **node.attributes))


def _in_output(node: nodes.Node) -> bool:
    while node is not None:
        if getattr(node, "attributes", {}).get("nb_element") == "cell_code_output":
            return True
        node = node.parent
    return False


def _warn(problems: list[str], node: nodes.Element) -> None:
    from sphinx.util import logging

    for problem in problems:
        logging.getLogger(__name__).warning(problem, location=node, type="course", subtype="formula")


# ------------------------------------------------------------------------------------------------------------- links


def _unlink_files(app: Sphinx, doctree: nodes.document) -> None:
    """Turn links to files of the course folder that are no pages of this site into plain text."""
    from sphinx import addnodes

    here = posixpath.dirname(app.env.docname)
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node.get("reftype") == "myst" and node.get("refdomain") is None:  # pages have the domain "doc"
            target = node.get("reftarget", "").partition("#")[0]
            if target and _is_file(app, posixpath.normpath(posixpath.join(here, target))):
                node.replace_self(node.children)


def _is_file(app: Sphinx, place: str) -> bool:
    return not place.startswith(("..", "/")) and (Path(app.config.course_folder) / place).exists()


# ----------------------------------------------------------------------------------------------------- folds and ways


def _name_the_folds(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    from myst_nb.sphinx_ import HideCodeCellNode

    for node in doctree.findall(HideCodeCellNode):
        for prompt in ("prompt_show", "prompt_hide"):
            verb, the, what = node[prompt].split()
            node[prompt] = f"{verb} {the} {SHOWN.get(what, what)}"


def _let_folds_say_their_words(app: Sphinx, pagename: str, template: str, context: dict[str, Any], _: object) -> None:
    """Take myst-nb's own label from the folds: a screen reader shall say the words that are seen."""
    if "body" in context:
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")


def _wrap_code(app: Sphinx, pagename: str, template: str, context: dict[str, Any], _: object) -> None:
    """Let long lines of code go on below instead of being cut."""
    if "body" in context:
        context["body"] = code_that_wraps(context["body"])


def _end_the_way(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Let "next" and "previous" lead through lessons or through sheets, and not from the last of one to the other."""
    for way in ("next", "prev"):
        other = context.get(way)
        if other and {pagename.partition("/")[0], _folder(other, pagename)} == {"notebooks", "exercises"}:
            context[way] = None


def _folder(link: dict[str, str], pagename: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(pagename), link["link"])).partition("/")[0]
