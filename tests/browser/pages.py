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


def root(page, name):
    return page.locator(f"#{name} .course-live")


def data(page, name):
    """Return what a figure says about its state, all as text."""
    return root(page, name).evaluate("e => ({...e.dataset})")


def caption(page, name):
    return root(page, name).locator(".course-live-caption").inner_text()


HTML = "nodes => nodes.map(e => e.innerHTML).join()"

# Moves sliders by their place in the figure and returns the figure's data after each setting.
SWEEP = """([name, settings]) => {
    const root = document.querySelector(`#${name} .course-live`), ranges = root.querySelectorAll('input[type=range]');
    return settings.map(values => {
        values.forEach((v, i) => {
            if (ranges[i].value === String(v)) return;
            ranges[i].value = v;
            ranges[i].dispatchEvent(new Event('input'));
        });
        return {...root.dataset};
    });
}"""


def press(page, name, button):
    root(page, name).get_by_role("button", name=button, exact=True).click()


def assert_fits_a_phone(page, width):
    """At `width` pixels nothing is wider than the page, and text in drawings is 11 pixels high at least."""
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.course-live-stage text')].map(t => {
            const svg = t.ownerSVGElement, scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return parseFloat(getComputedStyle(t).fontSize) * scale;
        })"""
    )
    assert min(sizes) >= 11


def assert_no_text_leaves_its_drawing(page, width, slack=2):
    """At `width` pixels all text of the drawings lies in them, give or take `slack` pixels of rounding."""
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    outside = page.evaluate(
        """slack => [...document.querySelectorAll('.course-live-stage text')].filter(t => {
            const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
            return a.width && (a.left < b.left - slack || a.right > b.right + slack || a.bottom > b.bottom + slack);
        }).map(t => t.textContent)""",
        slack,
    )
    assert outside == [], width
