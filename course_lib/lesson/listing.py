"""A text of the library on the page, folded: what a lesson speaks about and need not be read at once."""

import inspect
import textwrap
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Listing:
    """A title and lines of source; displays itself folded. Made by `listing`.

    Source: the course's own.
    """

    title: str
    text: str

    @property
    def html(self):
        """A `<details>` with the text, which scrolls by itself where it is wide, by keyboard too."""
        look = "overflow-x:auto;line-height:1.3;font-size:13px;margin:6px 0;padding:6px 8px"
        return (
            f"<details><summary>{escape(self.title)}</summary>"
            f'<pre role="region" tabindex="0" aria-label="{escape(self.title)}" style="{look}">'
            f"{escape(self.text)}</pre>"
            "</details>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self):
        return self.text


def listing(source, title, *, start=None, end=None):
    """Show a function or a module of the library, folded under its title.

    Parameters
    ----------
    source : function, module or Rung's launcher
        What `inspect.getsource` takes.
    title : str
        What the fold says.
    start, end : str, optional
        How the first line that is shown begins, and after it the first that is not, without their indents. By default
        all is shown.

    Raises
    ------
    ValueError
        No line begins with `start` or, after it, with `end`.
    TypeError, OSError
        As `inspect.getsource`.

    Source: the course's own.
    """
    lines = inspect.getsource(source).splitlines()
    first = 0 if start is None else _line(lines, start, 0, source)
    last = len(lines) if end is None else _line(lines, end, first + 1, source)
    return Listing(str(title), textwrap.dedent("\n".join(lines[first:last])).strip("\n"))


def _line(lines, begins, after, source):
    for number in range(after, len(lines)):
        if lines[number].lstrip().startswith(begins):
            return number
    raise ValueError(f"{getattr(source, '__name__', source)} has no line that begins with {begins!r}; take one it has.")
