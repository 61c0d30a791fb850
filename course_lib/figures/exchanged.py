"""Figure of lesson 08: a convolution of several maps is a matrix product whose entries are maps.

Only the first two axes of each array are drawn; an entry stands for a whole map or mask.
"""

import numpy as np

from .svg import LABEL, Svg

CELL = (38, 26)
SIGN = 20  # room for the sign between two grids
GAP = 34  # from one line to the next, where its sum stands
T = "\N{MODIFIER LETTER CAPITAL T}"  # the first two axes exchanged


def exchanged_axes(images, maps_in, maps_out):
    """Return a drawing of the forward pass, of dx and of dw as products of grids: rows of one meet rows of the other.

    Parameters
    ----------
    images, maps_in, maps_out : int
        B, C and M: the first two axes of x (B, C), w (M, C), dy (B, M).

    Each line frames one entry of the result, and the two rows whose entries are convolved and added up for it.

    ValueError where a size is below 1 or above 3, which a phone has no room for.
    """
    sizes = (images, maps_in, maps_out)
    if not all(1 <= size <= 3 for size in sizes):
        raise ValueError(f"images, maps_in and maps_out are {sizes}; each must be 1 to 3, as wide as a phone.")
    x, w, dy = _grid("x", images, maps_in), _grid("w", maps_out, maps_in), _grid("dy", images, maps_out)
    lines = [
        ("forward", ("x", "data", x), ("w", "weight", w), ("y", "output", _grid("y", images, maps_out))),
        ("dx", ("dy", "gradient", dy), ("w" + T + ", flip", "weight", w.T), ("dx", "gradient", _grid("dx", *x.shape))),
        ("dw", ("x" + T, "data", x.T), ("dy" + T, "gradient", dy.T),
         ("dw" + T, "gradient", _grid("dw", *w.shape).T)),
    ]  # fmt: skip
    widths = [sum(grid.shape[1] * CELL[0] for _, _, grid in grids) for _, *grids in lines]
    heights = [LABEL + CELL[1] * max(len(grid) for _, _, grid in grids) for _, *grids in lines]
    svg = Svg(max(max(widths) + 2 * SIGN + 16, 372), sum(heights) + len(lines) * GAP + 8)
    top = 0
    for (title, *grids), height in zip(lines, heights, strict=True):
        _line(svg, top, title, grids)
        top += height + GAP
    return svg


def sum_of(left, right, row, column):
    """Return the sum that makes entry (row, column), as text: `row` of the left grid meets `column` of the right.

    Parameters
    ----------
    left, right : str arrays (r, k) and (c, k)
    row, column : int

    No errors.
    """
    return " + ".join(f"{a} \N{ASTERISK OPERATOR} {b}" for a, b in zip(left[row], right[column], strict=True))


def _grid(name, rows, columns):
    return np.array([[f"{name}{i}{j}" for j in range(columns)] for i in range(rows)])


def _line(svg, top, title, grids):
    (_, _, left), (_, _, right), (_, _, result) = grids
    row, column = 0, min(1, len(right) - 1)
    svg.text(8, top + 20, f"{title}: {result[row, column]} = {sum_of(left, right, row, column)}", bold=True)
    x, top = 8, top + GAP - 4
    for (name, role, names), framed, sign in zip(
        grids, (row, column, (row, column)), ("\N{ASTERISK OPERATOR}", "=", ""), strict=True
    ):
        numbers = np.arange(names.size, dtype=float).reshape(names.shape)
        box = svg.matrix(
            numbers, x, top, name=name, role=role, fmt=lambda v, names=names: names.flat[int(v)], cell=CELL
        )
        if isinstance(framed, int):
            svg.rect(x, box.y + framed * CELL[1], box.width, CELL[1], line=2.5)
        else:
            svg.rect(x + framed[1] * CELL[0], box.y + framed[0] * CELL[1], *CELL, line=2.5)
        if sign:
            svg.text(box.right + SIGN / 2, box.cy + 5, sign, anchor="middle", size=16)
        x = box.right + SIGN
