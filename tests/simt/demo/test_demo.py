"""A lesson that shows reports, memory maps and a comparison: it runs, keeps the rules of a lesson, and makes a page."""

import asyncio
from pathlib import Path

import pytest
from notebook_lib import clean
from notebook_lib.execute import execute
from notebook_lib.guards import guard
from notebook_lib.lint import lint
from notebook_lib.scripts import read_script

from tests.book.site import site_of
from tests.figures.pages import read_html

SCRIPT = Path(__file__).with_name("naive_and_tiled.py")


@pytest.fixture(scope="module")
def demo():
    """The notebook, executed and cleaned as a lesson is."""
    notebook = read_script(SCRIPT)
    asyncio.run(execute(notebook, SCRIPT.parent))
    return clean.clean(notebook)


@pytest.fixture(scope="module")
def page(demo, tmp_path_factory):
    """The page that `course run` would write."""
    site = site_of(tmp_path_factory.mktemp("site"), l00_demo=demo)
    assert site.problems == []
    return site.text("notebooks/00_demo")


def test_the_demo_keeps_the_rules_of_a_lesson(demo):
    assert guard(demo) == []
    assert lint(demo) == []


def test_no_cell_fails(demo):
    outputs = [o for cell in demo.cells for o in cell.get("outputs", [])]
    assert outputs
    assert not [o for o in outputs if o.output_type in ("error", "stream")]


def test_every_picture_and_table_has_a_plain_text_for_readers_without_html(demo):
    results = [o.data for c in demo.cells for o in c.get("outputs", []) if "data" in o]
    assert len(results) == 6
    for data in results:
        assert "text/html" in data
        assert len(data["text/plain"]) > 40
        assert "object at 0x" not in data["text/plain"]


def test_the_page_shows_reports_maps_and_the_comparison(page):
    tags, attributes, text = read_html(page)
    said = " ".join(" ".join(text).split())
    assert sum(a.get("class") == "course-report" for a in attributes) == 3
    assert sum(a.get("class") == "course-comparison" for a in attributes) == 1
    images = [a for t, a in zip(tags, attributes, strict=True) if t == "img"]
    assert len([a for a in images if a["src"].startswith("data:image/svg+xml,")]) >= 2
    assert all(len(a["alt"]) > 20 for a in images)
    for words in ("What each line cost", "Side by side", "12.5 % of what is moved is used", "Hazard: race"):
        assert words in said, words
