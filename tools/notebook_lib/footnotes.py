"""Notes: where a fact of a lesson comes from. ``[^Hwu "Tiled Convolution"]`` in a script becomes a raised number.

An address may follow, ``[^Kung 1982 "Why Systolic Architectures?" https://doi.org/...]``: then the list links to it.

The number links to the list "Sources" at the notebook's end, and the list links back. Both are HTML with ids and
hrefs: JupyterLab renames the ids and finds them all the same, web pages use them as they are. The number's title says
the source too, where no link works. The same note twice has one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

CODE = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)\s*$|(?P<tick>`+).+?(?P=tick)", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"""[ \n]?\[\^(?P<who>[^"\]]+?)\s+"(?P<what>[^"]+)"\s*(?P<address>https://[^\s"\]]+)?\s*\]""")
_LEFT = re.compile(r"\[\^[A-Z][^\]]*\]?")
HEADING = "## Sources"


class NoteError(ValueError):
    """A note that does not name its source, or gives it two addresses."""


class Notes:
    """The notes of one lesson, numbered in the order of reading."""

    def __init__(self) -> None:
        self.cited: dict[tuple[str, str], int] = {}  # (who, what): how often; its number is its place
        self.addresses: dict[tuple[str, str], str] = {}

    def __bool__(self) -> bool:
        return bool(self.cited)

    def raised(self, prose: str) -> str:
        """A cell's prose with raised numbers in place of its notes; code stays as it is."""
        return "".join(piece if code else self._raised(piece) for piece, code in _pieces(prose))

    def _raised(self, text: str) -> str:
        text = NOTE.sub(self._number, text)
        if left := _LEFT.search(text):
            raise NoteError(f'the note {left[0]!r} has no words; write who and what: [^Hwu "Title of the slide"]')
        return text

    def _number(self, match: re.Match[str]) -> str:
        note = (" ".join(match["who"].split()), " ".join(match["what"].split()))
        self.cited[note] = self.cited.get(note, 0) + 1
        if (address := match["address"]) and (known := self.addresses.setdefault(note, address)) != address:
            raise NoteError(f"{note[0]}: {note[1]} has two addresses, {known} and {address}; give it one of them")
        number = list(self.cited).index(note) + 1
        says = escape(f"{note[0]}: {note[1]}")
        here = _place(number, self.cited[note])
        return f'<sup><a id="{here}" href="#source-{number}" title="{says}">{number}</a></sup>'

    def sources(self) -> str:
        """The list of all notes as the prose of a cell."""
        return "\n".join([HEADING, "", "<ol>", *self._lines(), "</ol>"])

    def _lines(self) -> Iterator[str]:
        for number, ((who, what), times) in enumerate(self.cited.items(), start=1):
            back = " ".join(
                f'<a href="#{_place(number, k)}" title="Back to the text">&#8617;</a>' for k in range(1, times + 1)
            )
            title = escape(what)
            if address := self.addresses.get((who, what)):
                title = f'<a href="{escape(address)}">{title}</a>'
            yield f'<li id="source-{number}">{escape(who)}: {title} {back}</li>'


def _place(number: int, time: int) -> str:
    """The id of a raised number: the second and later ones of a note have a number of their own."""
    return f"cited-{number}" + (f"-{time}" if time > 1 else "")


def _pieces(prose: str) -> Iterator[tuple[str, bool]]:
    """``(text, whether it is code)``, in order."""
    at = 0
    for code in CODE.finditer(prose):
        yield prose[at : code.start()], False
        yield code[0], True
        at = code.end()
    yield prose[at:], False
