"""What the static pictures of a launch are drawn with: cells of few looks as one path each, and hatching for idle.

Source: the course's own. A sheet is at most 400 pixels wide, so that its text stays readable on a phone.
"""

import textwrap

from course_lib.figures import Svg, style

WIDTH, EDGE = 400, 8
WORKED, IDLE_FILL = style.tint("thread", 0.55), style.tint("idle", 0.15)


class Panel(Svg):
    """A drawing with many small cells, so that a grid of a thousand threads stays small.

    Source: the course's own.
    """

    def cells(self, boxes, *, fill=style.PAPER, stroke=style.COLOURS["idle"], hatched=False):
        """Draw boxes (x, y, width, height) of one look; hatched ones have strokes across them."""
        if not boxes:
            return
        for x, y, width, height in boxes:
            self._inside("a cell", (x, y), (x + width, y + height))
        path = "".join(f"M{_n(x)} {_n(y)}v{_n(h)}h{_n(w)}v-{_n(h)}z" for x, y, w, h in boxes)
        self._add("path", d=path, fill=fill, stroke=stroke)
        if hatched:
            self._add("path", d="".join(map(_strokes, boxes)), fill="none", stroke=style.COLOURS["idle"])

    def key(self, items, x, y):
        """Explain looks in a row, (fill, hatched, meaning); returns the y below."""
        for fill, hatched, meaning in items:
            self.cells([(x, y, 12, 12)], fill=fill, hatched=hatched)
            self.text(x + 17, y + 10.5, meaning, fill=style.MUTED)
            x += 17 + 6.6 * len(meaning) + 14
        return y + 22


def wrapped(text, width=WIDTH - 2 * EDGE, char=6.6):
    """Return the lines of a text that fit into `width` pixels at 12 px. No errors. Source: the course's own."""
    return textwrap.wrap(text, int(width / char), break_long_words=False) or [""]


def _strokes(box, step=5):
    x, y, width, height = box
    path, k = "", step - 1
    while k < width + height:
        a, b = max(0, k - height), min(k, width)
        path += f"M{_n(x + a)} {_n(y + k - a)}L{_n(x + b)} {_n(y + k - b)}"
        k += step
    return path


def _n(value):
    return f"{round(float(value), 1):g}"
