"""Rows on the page: an HTML table with a header, numbers aligned, that scrolls by itself where the page is narrow."""

from dataclasses import dataclass
from html import escape
from numbers import Integral, Real

from course_lib.figures import style

SIDES = {"l": "left", "c": "center", "r": "right"}
FLOAT = ",.4g"


@dataclass(frozen=True)
class Table:
    """Cells as text, the names of their columns, and a side for each column; displays itself. Made by `table`.

    Source: the course's own.
    """

    rows: tuple
    columns: tuple
    sides: str
    caption: str

    @property
    def html(self):
        """The `<table>` in a frame that scrolls sideways, by keyboard too."""
        head = "".join(
            f'<th scope="col" style="{_look(side, head=True)}">{escape(name)}</th>'
            for name, side in zip(self.columns, self.sides, strict=True)
        )
        lines = [
            "<tr>" + "".join(f'<td style="{_look(s)}">{escape(c)}</td>' for c, s in zip(row, self.sides, strict=True))
            + "</tr>"
            for row in self.rows
        ]  # fmt: skip
        above = (
            f'<caption style="text-align:left;padding:4px 0">{escape(self.caption)}</caption>' if self.caption else ""
        )
        label = escape(self.caption or f"Table: {', '.join(self.columns)}")
        return "\n".join(
            [f'<div class="course-table" role="region" tabindex="0" aria-label="{label}" style="overflow-x:auto">',
             f'<table style="border-collapse:collapse;margin:8px 0">{above}<thead><tr>{head}</tr></thead><tbody>',
             *lines, "</tbody></table></div>"]
        )  # fmt: skip

    @property
    def text(self):
        """The table as aligned text."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        put = {"l": str.ljust, "c": str.center, "r": str.rjust}
        drawn = ["  ".join(put[s](c, w) for c, s, w in zip(line, self.sides, widths, strict=True)) for line in lines]
        drawn.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(line.rstrip() for line in ([self.caption] if self.caption else []) + drawn)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self):
        return self.text


def table(rows, columns=None, *, caption="", align=None, formats=None):
    """Return a table that displays itself.

    Parameters
    ----------
    rows : list of tuples or lists, or dict
        Rows of cells; or the columns by name, all of one length. Whole numbers are grouped (1,000), floats shown with
        four digits, True and False as yes and no, None as an empty cell.
    columns : list of str
        Names above the columns. Of a dict, its keys unless given.
    caption : str
        What the table shows; also what a screen reader calls it.
    align : str, optional
        A letter for each column: l, c or r. By default columns of numbers are on the right, others on the left.
    formats : dict, optional
        {column: format of its numbers}, such as ``{"error": ".1%", "loss": ".3f"}``.

    Raises
    ------
    ValueError
        Rows or columns of different lengths, no column, `align` or `formats` that do not fit the columns, a ``$`` in
        a cell, a name or the caption: outputs hold no formulas, so it would be shown as it is.

    Source: the course's own.
    """
    if isinstance(rows, dict):
        columns = tuple(rows) if columns is None else tuple(columns)
        lengths = {name: len(column) for name, column in rows.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns have lengths {lengths}; all must have one")
        rows = list(zip(*rows.values(), strict=True))
    columns, rows = tuple(map(str, columns or ())), [tuple(row) for row in rows]
    if not columns:
        raise ValueError("the table has no columns; name them: table(rows, ['n', 'error'])")
    for i, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValueError(f"row {i} has {len(row)} cells, there are {len(columns)} columns: {', '.join(columns)}")
    formats = formats or {}
    if unknown := sorted(set(formats) - set(columns)):
        raise ValueError(f"formats names {unknown}; the columns are {', '.join(columns)}")
    if align is None:
        align = "".join("r" if _numbers(row[i] for row in rows) else "l" for i in range(len(columns)))
    if len(align) != len(columns) or set(align) - set(SIDES):
        raise ValueError(f"align is {align!r}; it needs one of l, c, r for each of the {len(columns)} columns")
    told = [tuple(_told(cell, formats.get(name)) for cell, name in zip(row, columns, strict=True)) for row in rows]
    caption = " ".join(str(caption).split())
    for text in (caption, *columns, *(cell for row in told for cell in row)):
        if "$" in text:
            raise ValueError(f"the table has a $ in {text!r}; its text is shown as it is, so write σ or √2, no formula")
    return Table(tuple(told), columns, align, caption)


def _numbers(cells):
    """Whether there is a number among the cells, and nothing else but empty ones."""
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in filled)


def _told(cell, format_):
    """A cell as text."""
    cell = cell.item() if hasattr(cell, "item") and not getattr(cell, "shape", ()) else cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Real):
        return format(cell, format_ or ("," if isinstance(cell, Integral) else FLOAT))
    return " ".join(str(cell).split())


def _look(side, head=False):
    weight = "bold" if head else "normal"
    digits = ";white-space:nowrap;font-variant-numeric:tabular-nums" if side == "r" and not head else ""
    return (
        f"text-align:{SIDES[side]};padding:4px 10px;border-bottom:1px solid {style.COLOURS['idle']};"
        f"font-weight:{weight}{digits}"
    )
