"""What all memory maps are drawn with: a sheet of many small boxes, a title, a legend, and which rows are left out.

Source: the course's own. A cell that is touched carries its lanes as text, one that is only moved is shaded, one that
is neither stays white: the map reads without colour too.
"""

from course_lib.figures import Svg, style
from course_lib.figures.svg import text_width
from course_lib.simt.show.wording import shape

WIDTH, EDGE = 760, 10
CELL, HIGH = 19, 17
"""Pixels of a cell, at least as wide and just as high."""

TOUCHED, IN_VAIN = style.tint("thread", 0.45), style.tint("hazard", 0.3)
TIMES, DOTS, MORE_ROWS = "\N{MULTIPLICATION SIGN}", "\N{HORIZONTAL ELLIPSIS}", "\N{VERTICAL ELLIPSIS}"

LOOKS = {
    "other": dict(fill=style.PAPER, stroke=style.GRID),
    "in vain": dict(fill=IN_VAIN, stroke=style.COLOURS["idle"]),
    "touched": dict(fill=TOUCHED, stroke=style.COLOURS["thread"]),
    "outline": dict(fill="none", stroke=style.INK, stroke_width=1.5),
    "start": dict(fill="none", stroke=style.INK, stroke_width=2.5),
}
"""How cells and lines look, in the order in which they are drawn on top of each other."""


class Sheet(Svg):
    """A drawing with many boxes of few looks: all boxes of a look are one path, so that a map stays small.

    Source: the course's own.
    """

    def __init__(self, *size, **head):
        super().__init__(*size, **head)
        self._boxes = {look: [] for look in LOOKS}

    def box(self, look, x, y, width, height):
        """Add a box of a look of `LOOKS`; one without width is a line."""
        self._inside("a cell", (x, y), (x + width, y + height))
        x, y, width, height = (f"{round(float(v), 1):g}" for v in (x, y, width, height))
        self._boxes[look].append(f"M{x} {y}v{height}" + (f"h{width}v-{height}z" if width != "0" else ""))

    def draw_boxes(self):
        """Draw the boxes that were added so far; what is drawn later lies on top."""
        for look, boxes in self._boxes.items():
            if boxes:
                self._add("path", d="".join(boxes), **LOOKS[look])
        self._boxes = {look: [] for look in LOOKS}

    def title(self, access, text):
        """Write the array, its shape, and the source line (cut to fit); returns the y below it."""
        name = f"{cut(access.array, 24)} {shape(access.shape)}"
        self.text(EDGE, 20, name, bold=True)
        left = EDGE + text_width(name) * 1.1 + 12
        room = int((WIDTH - left - EDGE) / text_width("m"))
        if room > 12:
            self.text(left, 20, cut(f"line {access.line}: {text}", room), fill=style.MUTED)
        return 34

    def write(self, texts):
        """Draw the boxes, and the words on top of them; texts are (x of the middle, y, word)."""
        self.draw_boxes()
        for x, y, word in texts:
            self.text(x, y, word, anchor="middle")

    def legend(self, items, y):
        """Explain marks, (text or "|" for a thick line, colour, meaning); returns the height of the whole drawing."""
        x = EDGE
        for mark, fill, meaning in items:
            wide = max(CELL, text_width(mark) + 6) + 8 + text_width(meaning)
            if x > EDGE and x + wide > WIDTH - EDGE:
                x, y = EDGE, y + HIGH + 5
            box = self.rect(x, y, max(CELL, text_width(mark) + 6), HIGH, fill=fill, stroke="idle")
            if mark == "|":
                self.line(x, y, x, y + HIGH, line=2.5)
            elif mark:
                self.text(box.cx, y + 13, mark, anchor="middle")
            self.text(box.right + 6, y + 13, meaning, fill=style.MUTED)
            x += wide + 16
        return y + HIGH + EDGE


def cut(text, length):
    """Return a text of at most `length` characters."""
    return text if len(text) <= length else text[: length - 1] + DOTS


def pick(touched, size, most):
    """Return which of `size` rows or columns are drawn, ascending, with None where some are left out.

    All that are touched, and one more where there is one. With the gaps between them, more than `most` + 2 are too
    many: then the first and the last two are drawn.

    Source: the course's own.
    """
    drawn, keep = _with_gaps([*touched, *(t + 1 for t in touched[-1:] if t + 1 < size)], size), most - 2
    if len(drawn) > most + 2:
        drawn = _with_gaps(touched, size)
    while len(drawn) > most + 2:
        drawn = _with_gaps(sorted({*touched[:keep], *touched[-2:]}), size)
        keep -= 1
    return drawn


def _with_gaps(wanted, size):
    out, before = [], -1
    for w in wanted:
        if w - before == 2:
            out.append(w - 1)
        elif w - before > 2:
            out.append(None)
        out.append(w)
        before = w
    return out + [None] * (before < size - 1)
