"""Rules about a lesson's pictures: someone who cannot see them must be able to follow."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from notebook_lib import html
from notebook_lib.guards import code_cells

ALT_LENGTH = 20  # characters; "a plot" is no alternative to the plot
_MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\]\(")


def no_bare_images(notebook: NotebookNode) -> list[str]:
    """No image output outside HTML: JupyterLab and nbconvert show it without any alt text."""
    return [
        f"cell {n}: a bare {mime} output has no alt text; use figures.show(fig, alt=...)"
        for n, cell in code_cells(notebook)
        for bundle in html.bundles(cell)
        for mime in bundle
        if mime.startswith("image/") and "text/html" not in bundle
    ]


def alt_texts(notebook: NotebookNode) -> list[str]:
    """Every image in HTML or prose has an alt text of at least 20 characters; an inline svg has an aria-label."""
    found = []
    for n, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            alts = [m[1] for m in _MARKDOWN_IMAGE.finditer(cell.source)]
            pages = [cell.source]
        else:
            alts = []
            pages = [bundle["text/html"] for bundle in html.bundles(cell) if "text/html" in bundle]
        for tag, attributes in (image for page in pages for image in html.images(page)):
            if attributes.get("aria-hidden") == "true":
                continue
            alts.append(attributes.get("alt" if tag == "img" else "aria-label") or "")
        found += [
            f"cell {n}: alt text {alt!r} is shorter than {ALT_LENGTH} characters; say what there is to see"
            for alt in alts
            if len(alt.strip()) < ALT_LENGTH
        ]
    return found
