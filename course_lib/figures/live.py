"""A picture that the reader moves in the page: a drawing script on data written when the lesson was built.

It needs no kernel, so it is alive in an exported page too; where no script runs, its static picture stays.
"""

import hashlib
import json
from dataclasses import dataclass
from html import escape

from . import style
from .picture import Picture
from .scripts import script
from .stepper import MAX_HTML, TITLE_STYLE, ended, in_script


@dataclass(frozen=True)
class Live:
    """A title, a static picture, and what `name`.js makes of `data`; displays itself. Made by `live`."""

    name: str
    data: object
    title: str
    static: Picture

    @property
    def html(self):
        """The whole element: static figure, frame and drawing script. The same text for the same data."""
        title = escape(self.title)
        look = {"ink": style.INK, "muted": style.MUTED, "grid": style.GRID, "paper": style.PAPER, **style.COLOURS}
        call = f"({script('live')})({in_script(self.key)},{in_script(self.data)},{in_script(look)},{script(self.name)})"
        return (
            f'<div class="course-live" data-live="{self.key}" role="group" aria-label="{title}">'
            f'<p style="{TITLE_STYLE}">{title}</p>{self.static.html}<script>{call};</script></div>'
        )

    @property
    def key(self):
        """A name made from the content."""
        parts = [self.name, self.title, self.static.alt, self.static.caption, self.data]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

    def _repr_mimebundle_(self, include=None, exclude=None):
        plain = " ".join(part for part in (ended(self.title), self.static.caption, self.static.alt) if part)
        return {"text/html": self.html, "text/plain": plain}


def live(name, data, *, title, static):
    """Return a figure that a script in the page draws and the reader moves.

    Parameters
    ----------
    name : str
        `course_lib/figures/<name>.js`: one function `ui => {...}` that draws; `live.js` says what `ui` offers.
    data : dict, list, number or str
        What it draws: plain values that JSON can hold, finite, made by the code that the lesson teaches.
    title : str
        What there is to see or to find out.
    static : Picture
        Shown on paper, on GitHub and wherever no script runs; its alt text states the finding.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        `static` is no picture; data that JSON cannot hold; over 400 KB together; no such script.

    Source: the course's own.
    """
    if not isinstance(static, Picture):
        raise TypeError(f"static is a {type(static).__name__}; make it with figures.picture(..., alt=...)")
    json.dumps(data, allow_nan=False)
    result = Live(name, data, str(title), static)
    size = len(result.html.encode())
    if size > MAX_HTML:
        raise ValueError(f"the figure takes {size:,} bytes, the limit is {MAX_HTML:,}: give it less data")
    return result
