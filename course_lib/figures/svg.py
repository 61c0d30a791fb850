"""Our own drawings as SVG text: small, the same bytes every time, with a shape beside every matrix."""

from dataclasses import dataclass
from html import escape

import numpy as np

from . import style

CHAR = 7.3  # advance of one character at 12 px in the fonts we name, on the safe side
FONT = 12  # px; 9 points


@dataclass(frozen=True)
class Box:
    """Where something was drawn: left, top, width and height in pixels, and the points arrows start from."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self):
        return self.x + self.width

    @property
    def bottom(self):
        return self.y + self.height

    @property
    def cx(self):
        return self.x + self.width / 2

    @property
    def cy(self):
        return self.y + self.height / 2


class Svg:
    """A drawing of `width` by `height` pixels. Every method draws on top of what is there.

    `title` and `desc` become the elements of that name, which screen readers use.
    Pass the drawing itself to `picture`, `show`; `to_svg()` gives its text.
    """

    def __init__(self, width, height, *, title="", desc=""):
        self.width, self.height = width, height
        self._head = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in (("title", title), ("desc", desc)) if text)
        self._parts = []

    def rect(self, x, y, width, height, *, fill="none", stroke=style.INK, line=1, dashed=False, radius=0):
        """Draw a rectangle; returns its `Box`. `fill` and `stroke` are role names or colours."""
        self._add("rect", x=x, y=y, width=width, height=height, rx=radius or None,
                  fill=_paint(fill), **_stroke(stroke, line, dashed))
        return Box(x, y, width, height)

    def circle(self, cx, cy, r, *, fill="none", stroke=style.INK, line=1, dashed=False):
        """Draw a circle; returns its `Box`."""
        self._add("circle", cx=cx, cy=cy, r=r, fill=_paint(fill), **_stroke(stroke, line, dashed))
        return Box(cx - r, cy - r, 2 * r, 2 * r)

    def line(self, x1, y1, x2, y2, *, stroke=style.INK, line=1.5, dashed=False):
        """Draw a straight line."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **_stroke(stroke, line, dashed))

    def arrow(self, x1, y1, x2, y2, *, stroke=style.INK, line=1.5, dashed=False, head=7):
        """Draw an arrow from (x1, y1) to its tip at (x2, y2)."""
        length = float(np.hypot(x2 - x1, y2 - y1))
        if length == 0:
            raise ValueError(f"an arrow needs two different points, got ({x1}, {y1}) twice")
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - head * ux, y2 - head * uy
        self.line(x1, y1, bx, by, stroke=stroke, line=line, dashed=dashed)
        tip = [(x2, y2), (bx - head * uy * 0.5, by + head * ux * 0.5), (bx + head * uy * 0.5, by - head * ux * 0.5)]
        self._add("path", d="M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in tip) + "Z", fill=_paint(stroke))

    def text(self, x, y, text, *, anchor="start", size=FONT, bold=False, fill=style.INK):
        """Write one line; (x, y) is on the baseline, `anchor` is start, middle or end. At least 12 px (9 points)."""
        if size < FONT:
            raise ValueError(f"text size {size} px is below {FONT} px (9 points), too small to read at 100 %")
        if anchor not in ("start", "middle", "end"):
            raise ValueError(f"anchor is {anchor!r}; use start, middle or end")
        self._add("text", _content=escape(str(text), quote=False), x=x, y=y, fill=_paint(fill),
                  text_anchor=anchor if anchor != "start" else None,
                  font_size=size if size != FONT else None, font_weight="bold" if bold else None)

    def matrix(self, values, x, y, *, name, role, fmt="{:.2f}", highlight=(), empty=None, cell=None, shape=None):
        """Draw a matrix as a grid of its numbers, with "name (rows, columns)" above it; returns the grid's `Box`.

        Parameters
        ----------
        values : array, (r, c) or (c,)
            NaN cells are drawn as not yet computed. A 1-D array is drawn as one row and says (c,).
        x, y : float
            Top left corner of the label; the grid starts 20 px below.
        name, role : str
            Letter written before the shape, and a role of `style.COLOURS`.
        fmt : str
            Format of a number; "" draws no numbers.
        highlight : iterable of (row, column)
            Cells drawn with a thick dark frame.
        empty : bool or bool array like values
            True: not computed yet, drawn as grey dashed cells.
        cell : (width, height)
            Pixels of a cell; by default as wide as the longest number.
        shape : tuple
            The shape to write, when it is not that of `values`.
        """
        values = np.asarray(values, dtype=float)
        if values.ndim not in (1, 2) or values.size == 0:
            raise ValueError(f"matrix {name!r} is {values.shape}; a matrix needs one or two axes and one cell at least")
        grid = np.atleast_2d(values)
        blank = np.isnan(grid) | (False if empty is None else np.broadcast_to(np.atleast_2d(empty), grid.shape))
        words = [["" if blank[i, j] or not fmt else fmt.format(v).replace("-", "\u2212") for j, v in enumerate(row)]
                 for i, row in enumerate(grid)]
        if cell is None:
            widest = max(len((fmt or "{:.0f}").format(v)) for v in np.where(np.isnan(grid), 0, grid).ravel())
            cell = (max(24, CHAR * widest + 10), 24)
        cw, ch = cell
        label = f"{name} {tuple(values.shape if shape is None else shape)}"
        self.rect(x, y + 3, 9, 9, fill=role, stroke="none")
        self.text(x + 14, y + 12, label)
        top, (rows, cols) = y + 20, grid.shape
        for i in range(rows):
            for j in range(cols):
                left, upper = x + j * cw, top + i * ch
                if blank[i, j]:
                    self.rect(left, upper, cw, ch, fill=style.PAPER, stroke="idle", dashed=True)
                else:
                    self.rect(left, upper, cw, ch, fill=style.tint(role), stroke=role)
                    if words[i][j]:
                        self.text(left + cw / 2, upper + ch / 2 + 4.3, words[i][j], anchor="middle")
        for i, j in highlight:
            self.rect(x + j * cw, top + i * ch, cw, ch, stroke=style.INK, line=2.5)
        return Box(x, top, cols * cw, rows * ch)

    def to_svg(self):
        """Return the drawing as SVG text."""
        w, h = _n(self.width), _n(self.height)
        fonts = ",".join(style.FONTS)
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{w}' height='{h}' viewBox='0 0 {w} {h}' "
            f"font-family='{fonts}' font-size='{FONT}' role='img'>{self._head}"
            f"<rect width='{w}' height='{h}' fill='{style.PAPER}'/>{''.join(self._parts)}</svg>"
        )

    __str__ = to_svg

    def _add(self, tag, _content=None, **attributes):
        written = "".join(
            f" {k.replace('_', '-')}='{_n(v) if isinstance(v, (int, float, np.number)) else escape(str(v))}'"
            for k, v in attributes.items() if v is not None
        )
        self._parts.append(f"<{tag}{written}/>" if _content is None else f"<{tag}{written}>{_content}</{tag}>")


def _n(value):
    """Round to 0.1 and write without a trailing zero: same bytes on every machine."""
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")


def _paint(colour):
    return style.COLOURS.get(colour, colour)


def _stroke(colour, line, dashed):
    if colour == "none":
        return {}
    return dict(stroke=_paint(colour), stroke_width=line if line != 1 else None, stroke_dasharray="4 3" if dashed else None)
