"""A lesson's page, as `course run` makes it, with figures that a test moves."""

from contextlib import contextmanager

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.book.site import site_of


def page_with(folder, figures):
    """Return the address of a page with {name: figure}, one a cell, each in an element of its name."""
    cells = [new_markdown_cell("# Figures")]
    for name, one in figures.items():
        bundle = one._repr_mimebundle_() | {"text/html": f"<div id='{name.replace(' ', '-')}'>{one.html}</div>"}
        cells.append(new_code_cell("figure", outputs=[new_output("execute_result", bundle, execution_count=1)]))
    site = site_of(folder, l00_figures=cells)
    assert site.problems == []
    return site.page("notebooks/00_figures").as_uri()


@contextmanager
def opened(browser, address):
    """Open a page, and close it again; no script may have failed meanwhile."""
    page = browser.new_page(viewport={"width": 900, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    page.close()
    assert errors == []
