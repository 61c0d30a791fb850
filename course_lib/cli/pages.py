"""An executed lesson as one web page that loads nothing: no script, font or picture of another host."""

from __future__ import annotations

import copy
import re
from pathlib import Path

from jinja2 import DictLoader, pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from course_lib.cli.clean import clean_outputs
from course_lib.cli.mathml import formula, formulas_to_mathml

__all__ = ["lesson_page", "outside_requests", "title_of"]

# nbconvert's own page without the scripts that it would fetch (require.js, MathJax, mermaid, widgets).
_TEMPLATE = """
{%- extends 'index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block html_head_css -%}
<style>
  main { max-width: 62rem; margin: 0 auto; }
  .course-nav { font-family: system-ui, sans-serif; margin: 1rem; }
  .course-nav a { margin-right: 1.5rem; color: #0645ad; text-decoration: underline; }
  math[display="block"] { margin: 0.8em 0; }
  math { font-size: 1.1em; }
  mtable.brackets, mtable.parentheses {
    border-left: 0.09em solid; border-right: 0.09em solid; padding: 0 0.25em; margin: 0 0.15em;
  }
  mtable.parentheses { border-radius: 0.7em / 50%; }
  mtable.brackets {
    --line: linear-gradient(currentColor, currentColor);
    background: var(--line) 0 0, var(--line) 100% 0, var(--line) 0 100%, var(--line) 100% 100%;
    background-size: 0.3em 0.09em; background-repeat: no-repeat;
  }
  mtable[columnspacing^="0em"] > mtr > mtd { padding-left: 0.1em; padding-right: 0; }
  mtd[columnalign="left"], mtable[columnalign^="left"] mtd { text-align: left; }
  mtd[columnalign="right"] { text-align: right; }
  figure { margin: 0.5rem 0; }
  img, svg { max-width: 100%; height: auto; }
</style>
{%- endblock -%}
{%- block body_header -%}{{ super() }}{{ resources.course_nav }}{%- endblock -%}
"""

# A tag that makes the browser ask another host by itself; a link that a reader may click is none.
_REQUEST = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|image|use)\b[^>]*?"
    r"\b(?:src|href|data|srcset)\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b[^>]*?\bhref\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)"
    r"|(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)",
    re.IGNORECASE,
)


class _PageRenderer(IPythonRenderer):
    """nbconvert's Markdown renderer, with formulas as MathML and links that fit the written pages."""

    problems: list[str]
    link_of: dict[str, str]

    def inline_math(self, body: str) -> str:
        return formula(body, "inline", self.problems)

    def block_math(self, body: str) -> str:
        return formula(body, "block", self.problems)

    def latex_environment(self, name: str, body: str) -> str:
        return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block", self.problems)

    def _html_embed_images(self, html: str) -> str:
        # nbconvert parses each HTML block by itself and closes what it opens, so a folded answer
        # (<details>, text, </details>: three blocks) would come out unfolded.
        return super()._html_embed_images(html) if "<img" in html.lower() else html

    def block_html(self, html: str) -> str:
        return formulas_to_mathml(super().block_html(html), self.problems)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        path, hash_, anchor = url.partition("#")
        if path in self.link_of:
            return super().link(text, self.link_of[path] + hash_ + anchor, title)
        if path and not re.match(r"[a-z]+:", path):
            return text  # a file of the course folder, which does not travel with the page
        return super().link(text, url, title)


class _PageExporter(HTMLExporter):
    """HTML without scripts of other hosts; see the module's docstring."""

    def __init__(self, link_of: dict[str, str]):
        super().__init__(
            extra_loaders=[DictLoader({"course.html.j2": _TEMPLATE})],
            template_file="course.html.j2",
            embed_images=True,
        )
        self.link_of = link_of
        self.problems: list[str] = []

    @pass_context
    def markdown2html(self, context, source):
        cell = context.get("cell", {})
        renderer = _PageRenderer(
            escape=False,
            attachments=cell.get("attachments", {}),
            embed_images=True,
            path=context.get("resources", {}).get("metadata", {}).get("path", ""),
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
        )
        renderer.problems, renderer.link_of = self.problems, self.link_of
        return MarkdownWithMath(renderer=renderer).render(source)


def title_of(notebook: NotebookNode, otherwise: str) -> str:
    """Take the title from the first level-one heading of a notebook, `otherwise` if it has none."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := re.search(r"^# (.+)$", cell.source, re.MULTILINE)):
            return re.sub(r"[*_`$]", "", match[1]).strip()
    return otherwise


def outside_requests(page: str) -> list[str]:
    """List the addresses that a page would ask by itself (scripts, pictures, styles), without a click."""
    return [next(filter(None, match)) for match in _REQUEST.findall(page)]


def lesson_page(
    notebook: NotebookNode, *, name: str, folder: Path, link_of: dict[str, str], nav: str = ""
) -> tuple[str, list[str]]:
    """Turn an executed notebook into a page.

    Parameters
    ----------
    notebook : NotebookNode
        Is not changed. Interactive views are left out, so that the static figure in the same output shows.
    name : str
        The page's title where the notebook has no heading.
    folder : Path
        Where pictures that the text names are found, to be put into the page.
    link_of : dict
        ``{notebook file: page file}``: links from lesson to lesson.
    nav : str
        HTML for the top of the page.

    Returns
    -------
    page : str
    problems : list of str
        Formulas that could not be converted and addresses that the page would still ask, one line each.
    """
    notebook = copy.deepcopy(notebook)
    notebook.metadata["title"] = title_of(notebook, name)
    notebook.metadata.pop("widgets", None)
    exporter = _PageExporter(link_of)
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = clean_outputs(cell.outputs)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/latex" in data and "text/html" not in data:
                data["text/html"] = formulas_to_mathml(data["text/latex"], exporter.problems)
    resources = {"metadata": {"name": name, "path": str(folder)}, "course_nav": nav}
    page, _ = exporter.from_notebook_node(notebook, resources=resources)
    problems = exporter.problems + [f"the page asks {address}" for address in outside_requests(page)]
    return page, problems
