"""A small site, built from notebooks that need no kernel; tests that call it are skipped where no Sphinx is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from course_lib import book
from course_lib.cli.folder import list_lessons
from tests.cli.course import make_course


@dataclass(frozen=True)
class Site:
    """A built site: the course folder, the folder of its pages, and what is wrong with them."""

    root: Path
    out: Path
    problems: list[book.Problem]

    def page(self, name: str) -> Path:
        """Return the file of a page, e.g. of ``notebooks/01_a``."""
        return self.out / f"{name}.html"

    def text(self, name: str) -> str:
        """Return what Sphinx made of the notebook: the article, without the bars around it."""
        html = self.page(name).read_text(encoding="utf-8")
        start = html.index('<article class="bd-article">')
        return html[start : html.index("</article>", start)]


def need_sphinx() -> None:
    """Skip the test where what makes pages is not installed."""
    if missing := book.missing_packages():
        pytest.skip(f"not installed: {', '.join(missing)} (pip install .[book]); no page is built")


def site_of(folder: Path, *, sheets: dict | None = None, stopped: str = "", **lessons) -> Site:
    """Build a site of lessons with their outputs: ``site_of(path, l01_a=[cells])``; a value may be a notebook too."""
    need_sphinx()
    cells = {name: value if isinstance(value, list) else value.cells for name, value in lessons.items()}
    root, out = make_course(folder / "course", **cells), folder / "site"
    if sheets:
        (root / "exercises").mkdir()
    for name, sheet in (sheets or {}).items():
        nbformat.write(nbformat.v4.new_notebook(cells=sheet), root / "exercises" / f"{name}.ipynb")
    every = list_lessons(root)
    for lesson in every:
        book.keep(out, lesson, nbformat.read(lesson.path, as_version=4), stopped=stopped)
    return Site(root, out, book.build_site(out, root, every))
