"""A card as plain text, for a terminal and for screen readers: the same content as on a page.

Source: the course's own.
"""

import textwrap

from course_lib.checks.showing import BEGIN, END

LABEL, WIDTH = 14, 100
"""Columns of a label, and of a line in all; code is never broken."""


def text(card):
    """Return a card as lines; the first difference stands between > and <. No errors. Source: the course's own."""
    lines = [card.title]
    for row in card.rows:
        lines += _row(row.label, row.text, row.look == "prose")
    lines += _row("Hint", _read(card), True)
    if card.urgent:
        try:
            picture = card.draw()
        except Exception:  # the words stand by themselves
            picture = None
        if picture is not None:
            lines += _row("Picture", picture.alt, True)
    return "\n".join(lines)


def _read(card):
    if card.lesson is None:
        return f"The exercise has hints above its cell; it trains {card.concept}."
    where = f" ({card.lesson.href})" if card.lesson.href else ""
    return f"{card.lesson.title}{where}, on {card.concept}. The exercise has hints above its cell."


def _row(label, content, prose):
    content = content.replace(BEGIN, ">").replace(END, "<")
    width = WIDTH - LABEL - 2
    lines = [part for line in content.split("\n") for part in (_wrapped(line, width) if prose else [line])] or [""]
    return [f"  {label if i == 0 else '':<{LABEL}}{line}".rstrip() for i, line in enumerate(lines)]


def _wrapped(line, width):
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
