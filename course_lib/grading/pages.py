"""Pages from templates: everything that is put in is escaped, and nothing in it can hide or turn the text around.

Source: OWASP, cross-site scripting prevention; Unicode annex 9 for characters that reorder text.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from course_lib import palette

LONGEST = 2000  # letters of one message in a page
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@functools.cache
def _templates() -> Environment:
    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def page(template: str, **values) -> str:
    """Return a template's page, everything escaped. jinja2's errors if the template lacks a value.

    Source: the course's own.
    """
    return _templates().get_template(template).render(colours=palette.COLOURS, **values)


def clean(text: object, longest: int = LONGEST) -> str:
    r"""Return a text for a page: control characters and those that turn text around are shown as \u202e, and it is cut.

    No errors. Source: Unicode annex 9.
    """
    text = str(text)
    if len(text) > longest:
        text = f"{text[:longest]} … ({len(text) - longest:,} more letters)"
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\r\n", "\n"))


def one_line(text: object, longest: int = 300) -> str:
    """Return a text for a line on a terminal or a cell of a table: cleaned, without line breaks. No errors.

    Source: the course's own.
    """
    return " ".join(clean(text, longest).split())
