"""Build the site of the kept notebooks with Sphinx, and say what is wrong with a page."""

from __future__ import annotations

import importlib.util
import io
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from course_lib.book.kept import kept_notebooks, unreadable_lessons
from course_lib.book.outside import outside_requests
from course_lib.book.source import EXTRA, write_source
from course_lib.cli.folder import Lesson

__all__ = ["HOW", "BookError", "Problem", "build_site", "missing_packages", "page_of"]

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme", "latex2mathml")

HOW = "Install them: pip install -e '.[book]', or let make do all of it: make html"
"""How to get what makes pages, in one sentence."""

_WARNING = re.compile(r"^(?:(?P<path>.+?)(?::(?P<line>\d+))?: )?(?:WARNING|ERROR|CRITICAL|SEVERE): (?P<text>.*)$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_KIND = re.compile(r" \[[\w.-]+\]$")  # of a warning, as in [myst.header]
_CELL = 10_000  # myst-nb counts the lines of the k-th cell from k times this


class BookError(Exception):
    """The site cannot be built: packages are missing, or Sphinx gave up."""


@dataclass(frozen=True)
class Problem:
    """Something is wrong with a page.

    Attributes
    ----------
    page : str
        ``notebooks/01_perceptron``; empty where no page can be named.
    cell : int
        Counted from 1 over all cells of the notebook; 0 where it is not known.
    text : str
    """

    page: str
    cell: int
    text: str

    def __str__(self) -> str:
        """Say it on one line."""
        where = f"{self.page}, cell {self.cell}" if self.cell else self.page
        return f"{where}: {self.text}" if where else self.text


def missing_packages() -> list[str]:
    """List the packages of the extra ``book`` that are not installed."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def page_of(out: Path, lesson: Lesson) -> Path:
    """Return the file of a lesson's page in the site's folder."""
    return out / "notebooks" / f"{lesson.name}.html"


def build_site(out: Path, root: Path, every: list[Lesson]) -> list[Problem]:
    """Write the site of all notebooks that were kept in its folder, and their sheets.

    Parameters
    ----------
    out : Path
        The folder of the site, with notebooks in it from `keep`.
    root : Path
        The course folder.
    every : list of Lesson
        All lessons of the course; the pages of others are removed.

    Returns
    -------
    list of Problem
        Formulas that cannot be drawn, links that lead nowhere, addresses of other hosts, warnings of Sphinx, kept
        runs that cannot be read.

    Raises
    ------
    BookError
        The extra is not installed, or Sphinx cannot build the site; the message says which and what to do.
    """
    if missing := missing_packages():
        raise BookError(f"pages need packages that are not here ({', '.join(missing)}). {HOW}")
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary).resolve() / "source"
        source.mkdir()
        shifts = write_source(source, root, kept_notebooks(out, every))
        said = _run_sphinx(source, Path(temporary) / "doctrees", out, root)
        problems = _problems(said, source, shifts)
    problems += [
        Problem(f"notebooks/{lesson.name}", 0, f"its kept run cannot be read; run it again: course run {lesson.number}")
        for lesson in unreadable_lessons(out, every)
    ]
    for folder in ("notebooks", "exercises"):
        for page in (out / folder).glob("*.html"):
            if f"{folder}/{page.stem}" not in shifts:
                page.unlink()
    for page in ("index", *shifts):
        asked = outside_requests((out / f"{page}.html").read_text(encoding="utf-8"))
        problems += [Problem(page, 0, f"the page asks {address}") for address in asked]
    return problems


def _run_sphinx(source: Path, doctrees: Path, out: Path, root: Path) -> str:
    """Run Sphinx; returns what it warned of."""
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    said = io.StringIO()
    confdir = Path(__file__).parent
    try:
        with patch_docutils(confdir), docutils_namespace(), warnings.catch_warnings():
            for outdated in (DeprecationWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", outdated)  # in the theme and myst: nothing that an author could mend
            application = Sphinx(
                source, confdir, out, doctrees, "html",
                confoverrides={"course_folder": str(root), "html_extra_path": [str(source / EXTRA)]}, status=None,
                warning=said, freshenv=True,
            )  # fmt: skip
            application.build(force_all=True)
    except SphinxError as error:
        raise BookError(f"Sphinx cannot build the pages ({type(error).__name__}: {error})") from error
    return said.getvalue()


def _problems(said: str, source: Path, shifts: dict[str, int]) -> list[Problem]:
    """Read Sphinx's warnings: one a line, or more lines for one."""
    found: list[Problem] = []
    for line in _ANSI.sub("", said).splitlines():
        if match := _WARNING.match(line):
            path = Path(match["path"] or "")
            page = path.relative_to(source).with_suffix("").as_posix() if path.is_relative_to(source) else ""
            number = int(match["line"] or 0)
            cell = number // _CELL - shifts.get(page, 0)
            found.append(Problem(page, max(cell, 0), _KIND.sub("", match["text"])))
        elif found and line.strip():
            found[-1] = Problem(found[-1].page, found[-1].cell, f"{found[-1].text} {line.strip()}")
    return list(dict.fromkeys(found))
