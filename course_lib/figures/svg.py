"""Our own drawings as SVG text: small, the same bytes every time, with a shape beside every matrix."""

import re
from dataclasses import dataclass
from html import escape

import numpy as np

from . import style

CHAR = 7.3  # pixels one character takes at 12 px in the fonts we name, on the safe side
LABEL = 20  # pixels between the top of a matrix and the top of its grid
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Box:
    """Where something was drawn, in pixels: left `x`, top `y`, `width`, `height`."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self):
        """x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self):
        """y of the lower edge."""
        return self.y + self.height

    @property
    def cx(self):
        """x of the middle."""
        return self.x + self.width / 2

    @property
    def cy(self):
        """y of the middle."""
        return self.y + self.height / 2


class Svg:
    """A drawing of `width` by `height` pixels on white; later calls draw on top of earlier ones.

    `title` and `desc` become the elements of that name. Colours (`fill`, `stroke`) are role names of
    `style.COLOURS`, or colours. Pass the drawing to `picture` or `show`; `to_svg()` gives its text.
    Drawing outside the sheet raises ValueError, because it would be cut off.
    """

    def __init__(self, width, height, *, title="", desc=""):
        self.width, self.height = width, height
        head = {"title": title, "desc": desc}
        self._parts = [f"<{tag}>{_escape(text)}</{tag}>" for tag, text in head.items() if text]
        self.rect(0, 0, width, height, fill=style.PAPER, stroke="none")

    def rect(self, x, y, width, height, *, fill="none", stroke=style.INK, line=1, dashed=False, radius=0):
        """Draw a rectangle with corners rounded by `radius`; returns its `Box`."""
        self._inside("a rectangle", (x, y), (x + width, y + height))
        place = dict(x=x, y=y, width=width, height=height, rx=radius or None)
        self._add("rect", **place, fill=_paint(fill), **_stroke(stroke, line, dashed))
        return Box(x, y, width, height)

    def circle(self, cx, cy, r, *, fill="none", stroke=style.INK, line=1, dashed=False):
        """Draw a circle; returns its `Box`."""
        self._inside("a circle", (cx - r, cy - r), (cx + r, cy + r))
        self._add("circle", cx=cx, cy=cy, r=r, fill=_paint(fill), **_stroke(stroke, line, dashed))
        return Box(cx - r, cy - r, 2 * r, 2 * r)

    def line(self, x1, y1, x2, y2, *, stroke=style.INK, line=1.5, dashed=False):
        """Draw a straight line."""
        self._inside("a line", (x1, y1), (x2, y2))
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **_stroke(stroke, line, dashed))

    def polyline(self, points, *, stroke=style.INK, line=1.5, dashed=False, fill="none"):
        """Draw straight lines through `points`, a list of (x, y)."""
        self._inside("a line", *points)
        path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._add("polyline", points=path, fill=_paint(fill), **_stroke(stroke, line, dashed))

    def path(self, steps, *, fill="none", stroke="none", line=1, dashed=False):
        """Draw many shapes of one look at once, which takes few bytes: `steps` are texts as of SVG's attribute "d".

        Where they reach is not checked.
        """
        self._add("path", d="".join(steps), fill=_paint(fill), **_stroke(stroke, line, dashed))

    def arrow(self, x1, y1, x2, y2, *, stroke=style.INK, line=1.5, dashed=False, head=8):
        """Draw an arrow from (x1, y1) to its tip at (x2, y2). Raises ValueError when they are one point."""
        length = float(np.hypot(x2 - x1, y2 - y1))
        if length == 0:
            raise ValueError(f"an arrow needs two different points, got ({x1}, {y1}) twice")
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - head * ux, y2 - head * uy
        self.line(x1, y1, bx, by, stroke=stroke, line=line, dashed=dashed)
        half = head * 0.45
        corners = [(x2, y2), (bx - half * uy, by + half * ux), (bx + half * uy, by - half * ux)]
        self._inside("an arrow", (x2, y2))
        path = "L".join(f"{_number(x)} {_number(y)}" for x, y in corners)
        self._add("path", d=f"M{path}Z", fill=_paint(stroke))

    def text(self, x, y, text, *, anchor="start", size=style.TEXT_PX, bold=False, fill=style.INK):
        """Write one line; (x, y) is on the baseline. `anchor` is start, middle or end; `size` >= 12 px (9 points).

        Raises ValueError for smaller text, an unknown anchor, or a baseline outside the sheet.
        """
        if size < style.TEXT_PX:
            raise ValueError(f"text size {size} px is below {style.TEXT_PX} px (9 points), too small to read")
        if anchor not in ("start", "middle", "end"):
            raise ValueError(f"anchor is {anchor!r}; use start, middle or end")
        self._inside(f"the text {text!r}", (x, y))
        self._add(
            "text",
            _escape(text),
            x=x,
            y=y,
            text_anchor=anchor if anchor != "start" else None,
            font_size=size if size != style.TEXT_PX else None,
            font_weight="bold" if bold else None,
            fill=_paint(fill) if fill != style.INK else None,
        )

    def matrix(self, values, x, y, *, name, role, fmt="{:.2f}", highlight=(), empty=None, cell=None, shape=None):
        """Draw a matrix as a grid of numbers with "name (rows, columns)" above it; returns the grid's `Box`.

        Parameters
        ----------
        values : array (r, c) or (c,)
            NaN means not yet computed. A 1-D array is drawn as one row and says (c,).
        x, y : float
            Top left corner of the label; the grid starts 20 px below.
        name, role : str
            What is written before the shape; a role of `style.COLOURS`.
        fmt : str or callable
            Format of a number, or what makes its text; "" draws none.
        highlight : iterable of (row, column)
            Cells with a thick dark frame.
        empty : bool or bool array like values
            True: not yet computed, drawn as a grey dashed cell.
        cell : (width, height)
            Pixels of a cell; by default as wide as the longest number, and 24 high.
        shape : tuple
            The shape to write, where it is not that of `values`.

        Raises
        ------
        ValueError, IndexError
            No cell or more than two axes; drawn outside the sheet; a highlight that is no cell.
        """
        values = np.asarray(values, dtype=float)
        if values.ndim not in (1, 2) or values.size == 0:
            raise ValueError(f"matrix {name!r} is {values.shape}; it needs one or two axes and a cell at least")
        grid = np.atleast_2d(values)
        rows, cols = grid.shape
        blank = np.isnan(grid)
        if empty is not None:
            blank = blank | np.broadcast_to(np.atleast_2d(empty), grid.shape)
        words = [[_write(fmt, v) for v in row] for row in grid]
        width, height = cell or (max(24, CHAR * max(len(w) for row in words for w in row) + 10), 24)
        box = Box(x, y + LABEL, cols * width, rows * height)
        self._inside(f"matrix {name!r}", (box.x, y), (box.right, box.bottom))

        self.rect(x, y + 3, 9, 9, fill=role, stroke="none")
        label = _escape(f" {tuple(values.shape if shape is None else shape)}")
        self._add("text", f"<tspan font-weight='bold'>{_escape(name)}</tspan>{label}", x=x + 14, y=y + 12)
        for i, j in np.ndindex(rows, cols):
            corner = (x + j * width, box.y + i * height, width, height)
            if blank[i, j]:
                self.rect(*corner, fill=style.PAPER, stroke="idle", dashed=True)
                continue
            self.rect(*corner, fill=style.tint(role), stroke=role)
            if words[i][j]:
                self.text(corner[0] + width / 2, corner[1] + height / 2 + 4.3, words[i][j], anchor="middle")
        for i, j in highlight:
            if not (0 <= i < rows and 0 <= j < cols):
                raise IndexError(f"highlight ({i}, {j}) is no cell of matrix {name!r} {values.shape}")
            self.rect(x + j * width, box.y + i * height, width, height, line=2.5)
        return box

    def to_svg(self):
        """Return the drawing as SVG text."""
        w, h = _number(self.width), _number(self.height)
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{w}' height='{h}' viewBox='0 0 {w} {h}' role='img' "
            f"font-family='{','.join(style.FONTS)}' font-size='{style.TEXT_PX}' fill='{style.INK}'>"
            f"{''.join(self._parts)}</svg>"
        )

    __str__ = to_svg

    def _add(self, tag, content=None, **attributes):
        written = "".join(
            f" {key.replace('_', '-')}='{_number(v) if isinstance(v, int | float | np.number) else _escape(v, True)}'"
            for key, v in attributes.items()
            if v is not None
        )
        self._parts.append(f"<{tag}{written}/>" if content is None else f"<{tag}{written}>{content}</{tag}>")

    def _inside(self, what, *points):
        for x, y in points:
            if not (-0.5 <= x <= self.width + 0.5 and -0.5 <= y <= self.height + 0.5):
                raise ValueError(
                    f"{what} reaches ({x:.1f}, {y:.1f}) on a sheet of {self.width} by {self.height} pixels; "
                    "it would be cut off. Make the sheet larger or move it."
                )


def text_width(text, size=style.TEXT_PX):
    """Return the pixels that `text` takes at most at `size` px."""
    return len(str(text)) * CHAR * size / style.TEXT_PX


def _number(value):
    """Round to 0.1 and write without a trailing zero: the same bytes on every machine."""
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")


def _write(fmt, value):
    if not fmt or np.isnan(value):
        return ""
    text = fmt(value) if callable(fmt) else fmt.format(value)
    if re.fullmatch(r"-0*\.?0*", text):  # -0.00 from a value such as -1e-17, whose sign is chance
        text = text[1:]
    return text.replace("-", MINUS)


def _escape(text, quote=False):
    """Escape for XML, without the control characters that XML forbids."""
    return escape(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "", str(text)), quote=quote)


def _paint(colour):
    return style.COLOURS.get(colour, colour)


def _stroke(colour, line, dashed):
    if colour == "none":
        return {}
    width = line if line != 1 else None
    return dict(stroke=_paint(colour), stroke_width=width, stroke_dasharray="4 3" if dashed else None)
