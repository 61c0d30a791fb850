"""A card as HTML for a notebook or an exported page: no script, no style sheet, readable in a dark theme.

Text takes the colour of the page that it stands on; the edge is in the role's colour, and words say what it means.

Source: the course's own.
"""

import re
from html import escape

from course_lib import palette
from course_lib.checks.showing import BEGIN, END

CROSS, PEN = "\N{HEAVY MULTIPLICATION X}", "\N{LOWER RIGHT PENCIL}"

LEAST_TEXT = 11
"""Pixels of the smallest text of a picture on a narrow page."""

BOX = "border:1px solid {0};border-left:6px solid {0};border-radius:4px;padding:8px 12px;margin:6px 0;line-height:1.45"
ROW = "display:flex;flex-wrap:wrap;gap:0 12px;margin:4px 0"
LABEL = "flex:0 0 7.5em;font-weight:bold"
BODY = "flex:1 1 15em;min-width:0;margin:0"
CODE = "margin:0;padding:0;overflow-x:auto;white-space:pre;background:none;color:inherit;line-height:1.45"
WRAPPED = CODE.replace("white-space:pre", "white-space:pre-wrap;overflow-wrap:anywhere")
MARK = (
    "background:none;color:inherit;font-weight:bold;text-decoration:underline;outline:2px solid {};outline-offset:1px"
)


def page(card):
    """Return a card as HTML; every text of the answer is escaped. No errors. Source: the course's own."""
    role, tone, sign = ("alert", "hazard", CROSS) if card.urgent else ("status", "idle", PEN)
    parts = [
        f'<p style="margin:0 0 6px 0"><strong><span aria-hidden="true">{sign} </span>{escape(card.title)}</strong></p>'
    ]
    parts += [_row(row) for row in card.rows]
    parts.append(_line("Hint", f'<div style="{BODY}">{_read(card)}</div>'))
    if card.urgent:
        parts.append(_picture(card))
    if card.trace:
        look = f"{WRAPPED};margin-top:4px"
        parts.append(
            f'<details style="margin:6px 0 0 0"><summary>Traceback</summary><pre style="{look}">'
            f"{escape(card.trace)}</pre></details>"
        )
    box = BOX.format(palette.colour(tone))
    return f'<section class="course-check" role="{role}" style="{box}">{"".join(parts)}</section>'


def _row(row):
    content = escape(row.text).replace(BEGIN, f'<mark style="{MARK.format(palette.colour("hazard"))}">')
    content = content.replace(END, "</mark>")
    if row.look == "prose":
        content = content.replace("\n", "<br>")
        content = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", content)
        return _line(row.label, f'<div style="{BODY}">{content}</div>')
    code = f'<pre tabindex="0" style="{CODE}">{content}</pre>'  # a box that scrolls is reached by the keyboard
    return _line(row.label, f'<div style="{BODY}">{code}</div>')


def _line(label, body):
    return f'<div style="{ROW}"><div style="{LABEL}">{label}</div>{body}</div>'


def _read(card):
    lesson, concept = card.lesson, escape(card.concept)
    if lesson is None:
        return f"The exercise has hints above its cell; it trains {concept}."
    title = escape(lesson.title)
    link = f'<a href="{escape(lesson.href)}">{title}</a>' if lesson.href else title
    return f"{link}, on {concept}. The exercise has hints above its cell."


def _picture(card):
    """Return the picture, which scrolls on a phone: its smallest text stays readable, and its caption in view."""
    try:
        picture = card.draw()
    except Exception:  # the words stand by themselves
        return ""
    if picture is None:
        return ""
    least = round(picture.width * LEAST_TEXT / palette.TEXT_PX)
    inside = f'<div style="min-width:{least}px">{picture.figure_html("")}</div>'
    return f'<div tabindex="0" style="overflow-x:auto">{inside}</div><p style="margin:0">{escape(picture.caption)}</p>'
