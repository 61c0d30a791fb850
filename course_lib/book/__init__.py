"""The course as a site: executed lessons and sheets become pages that load nothing from another host.

Sphinx (with myst-nb and a book theme) makes them. It is an extra, ``book``, and is imported only when a site is built.
Source: the course's own.
"""

from __future__ import annotations

from course_lib.book.build import HOW, BookError, Problem, build_site, missing_packages, page_of
from course_lib.book.kept import keep, kept_notebooks, stopped_lessons
from course_lib.book.outside import outside_requests

__all__ = [
    "HOW",
    "BookError",
    "Problem",
    "build_site",
    "keep",
    "kept_notebooks",
    "missing_packages",
    "outside_requests",
    "page_of",
    "stopped_lessons",
]
