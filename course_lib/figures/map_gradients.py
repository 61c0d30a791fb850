"""The gradients of a convolution with several maps, for lesson 08: which numbers take part, and how they add up.

Every product x w of the forward pass stands in three sums: in an output y (over input maps and the mask), in dE/dx of
its pixel (over output maps and the mask), in dE/dw of its weight (over images and places). Source: H, "Calculating
dE/dX", "Calculating dE/dW"; the drawing is the course's own.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.show.panel import EDGE, WIDTH, Panel, wrapped

from . import style
from .live import live
from .picture import picture
from .svg import MINUS

KINDS = ("x", "w", "dy")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST = 64
"""Numbers of one array that can be read on a phone."""


@dataclass(frozen=True)
class Term:
    """One product: places of its two factors, `first` in dy (in x for an output) and `second` in the other array."""

    group: int
    first: tuple
    second: tuple


@dataclass(frozen=True, eq=False)  # == on arrays has no single truth value
class MapGradients:
    """A convolution with stride 1 and no padding: x (B, C, H, W), w (M, C, K_h, K_w), dy (B, M, H_out, W_out).

    Source: H, "Calculating dE/dX", "Calculating dE/dW".
    """

    x: np.ndarray
    w: np.ndarray
    dy: np.ndarray

    def factors(self, kind):
        """Return the names of the arrays whose numbers are multiplied, in the order of a `Term`."""
        return {"x": ("dy", "w"), "w": ("dy", "x"), "dy": ("x", "w")}[kind]

    def group(self, kind):
        """Return the letter over which the outer sum runs: output maps m, images n, or input maps c."""
        return {"x": "m", "w": "n", "dy": "c"}[kind]

    def terms(self, kind, place):
        """Return the `Term` of each product that takes part in the chosen number's sum, in the order of outputs.

        Parameters
        ----------
        kind : "x", "w" or "dy"
            A pixel (its dE/dx), a weight (its dE/dw), or an output (its y).
        place : tuple of 4 ints
        """
        (B, M, H_out, W_out), (C, K_h, K_w) = self.dy.shape, self.w.shape[1:]
        if kind == "w":
            m, c, p, q = place
            return [Term(n, (n, m, h, v), (n, c, h + p, v + q)) for n, h, v in np.ndindex(B, H_out, W_out)]
        if kind == "dy":
            n, m, h, v = place
            return [Term(c, (n, c, h + p, v + q), (m, c, p, q)) for c, p, q in np.ndindex(C, K_h, K_w)]
        n, c, row, column = place
        return [
            Term(m, (n, m, h, v), (m, c, row - h, column - v))
            for m, h, v in np.ndindex(M, H_out, W_out)
            if 0 <= row - h < K_h and 0 <= column - v < K_w
        ]

    def sums(self, kind, place):
        """Return the outer sum's parts, one for each output map, image or input map: {number: its sum}."""
        first, second = (getattr(self, name) for name in self.factors(kind))
        found = {}
        for term in self.terms(kind, place):
            found[term.group] = found.get(term.group, 0.0) + float(first[term.first] * second[term.second])
        return found


def map_gradients(x, w, dy):
    """Return the `MapGradients` of three arrays.

    Raises
    ------
    ValueError
        Arrays whose shapes do not fit a convolution with stride 1 and no padding; one of more than 64 numbers; a number
        that is not finite.

    Source: the course's own.
    """
    x, w, dy = (np.asarray(array, dtype=float) for array in (x, w, dy))
    for name, array in (("x", x), ("w", w), ("dy", dy)):
        if array.ndim != 4 or not 0 < array.size <= MOST:
            raise ValueError(f"{name} is {array.shape}; it must have 4 axes and from 1 to {MOST} numbers.")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}; all numbers must be finite.")
    (B, C, H, W), (M, _, K_h, K_w) = x.shape, w.shape
    if w.shape[1] != C:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; w.shape[1] must equal x.shape[1], the input maps.")
    if dy.shape != (B, M, H - K_h + 1, W - K_w + 1):
        right = (B, M, H - K_h + 1, W - K_w + 1)
        raise ValueError(f"x is {x.shape} and w is {w.shape}, so dy must be {right}; it is {dy.shape}.")
    return MapGradients(x, w, dy)


def gradient_explorer(x, w, dy, *, kind="x", at=(0, 0, 1, 1)):
    """Return a figure of x, w and dy in which the reader chooses a number and sees the sum of its gradient.

    A chosen pixel shows dE/dx: the sum over output maps of dy times weight. A chosen weight shows dE/dw: the sum over
    images of dy times pixel. A chosen output shows the products of the forward pass, which send its dy back.

    Parameters
    ----------
    x : array (B, C, H, W)
    w : array (M, C, K_h, K_w)
    dy : array (B, M, H - K_h + 1, W - K_w + 1)
        At most 64 numbers each; stride 1, no padding.
    kind : "x", "w" or "dy"
        In which array the first choice lies.
    at : tuple of 4 ints
        Its place there.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        As `map_gradients`; a kind that is none of the three; a place outside of the array.

    Source: the course's own.
    """
    maps = map_gradients(x, w, dy)
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; choose in 'x', 'w' or 'dy'.")
    shape = getattr(maps, kind).shape
    at = tuple(int(i) for i in at)
    if len(at) != 4 or not all(0 <= i < n for i, n in zip(at, shape, strict=True)):
        raise ValueError(f"at is {at}; a place in {kind} {shape} has 4 indices, each from 0 on and below its length.")
    data = {name: getattr(maps, name).tolist() for name in KINDS} | {"kind": kind, "at": list(at)}
    title = "Choose a pixel, a weight or an output: which numbers take part?"
    return live("map_gradients", data, title=title, static=_static(maps, kind, at))


def number(value):
    """Return a value as it stands in the figure: up to three digits, with a true minus sign. No errors."""
    return f"{value:.3g}".replace("-", MINUS)


def name_of(kind, place):
    """Return what is summed, such as "dx[0, 1, 2, 2]": the gradient of a pixel or weight, or an output y."""
    return f"{dict(x='dx', w='dw', dy='y')[kind]}[{', '.join(map(str, place))}]"


def lines_of(maps, kind, place):
    """Return a line of products for each part of the outer sum: [(letter and number, products, sum)]. No errors."""
    first, second = (getattr(maps, name) for name in maps.factors(kind))
    found = []
    for part, total in maps.sums(kind, place).items():
        products = [
            f"{_factor(first[t.first], start=not k)}·{_factor(second[t.second])}"
            for k, t in enumerate(t for t in maps.terms(kind, place) if t.group == part)
        ]
        found.append((f"{maps.group(kind)} = {part}", " + ".join(products), number(total)))
    return found


def _factor(value, start=False):
    return number(value) if value >= 0 or start else f"({number(value)})"


def _static(maps, kind, at):
    terms, sums = maps.terms(kind, at), maps.sums(kind, at)
    total = number(sum(sums.values()))
    over = {"x": "output map", "w": "image", "dy": "input map"}[kind]
    parts = " + ".join(_factor(v, start=not k) for k, v in enumerate(sums.values()))
    says = f"{name_of(kind, at)} = {parts} = {total}: {len(terms)} products, added up for each {over}, then over all."
    marks = {name: {} for name in KINDS}
    for k, term in enumerate(terms):
        letter = LETTERS[k] if k < len(LETTERS) else "·"
        for name, place in zip(maps.factors(kind), (term.first, term.second), strict=True):
            marks[name][place] = letter
    text = [f"{part}: {products} = {value}" for part, products, value in lines_of(maps, kind, at)]
    text += ["Cells with the same letter are multiplied."]
    lines = [line for one in text for line in wrapped(one)]
    cell = 26
    sizes = {name: _size(getattr(maps, name), cell) for name in KINDS}
    beside = sizes["x"][0] + sizes["w"][0] + 20 <= WIDTH - 2 * EDGE
    rows = [("x", "w"), ("dy",)] if beside else [("x",), ("w",), ("dy",)]
    s = Panel(
        max(WIDTH, 2 * EDGE + max(w for w, _ in sizes.values())),
        sum(max(sizes[name][1] for name in row) + 14 for row in rows) + 17 * len(lines) + 12,
    )
    y = 4
    for row in rows:
        x = EDGE
        for name in row:
            _draw(s, x, y, name, getattr(maps, name), cell, marks[name], at if name == kind else None)
            x += sizes[name][0] + 20
        y += max(sizes[name][1] for name in row) + 14
    for k, line in enumerate(lines):
        s.text(EDGE, y + 17 * k + 10, line)
    head = f"Arrays x {maps.x.shape}, w {maps.w.shape} and dy {maps.dy.shape}, one map beside the other."
    return picture(s, alt=f"{head} {says}", caption=says)


LEFT, TOP, GAP = 40, 34, 8
"""Room for the names of rows and columns of maps, and between maps."""


def _size(array, cell):
    rows, columns, H, W = array.shape
    return LEFT + columns * W * cell + (columns - 1) * GAP + 2, TOP + rows * H * cell + (rows - 1) * GAP + 2


def _draw(s, left, top, name, array, cell, marks, chosen):
    rows, columns, H, W = array.shape
    role = {"x": "data", "w": "weight", "dy": "gradient"}[name]
    s.text(left, top + 12, f"{name} {array.shape}", bold=True)
    row, column = {"x": "nc", "w": "mc", "dy": "nm"}[name]
    for j in range(columns):
        s.text(left + LEFT + j * (W * cell + GAP), top + 28, f"{column} = {j}", fill=style.MUTED)
    for i in range(rows):
        s.text(left, top + TOP + i * (H * cell + GAP) + H * cell / 2 + 4, f"{row} = {i}", fill=style.MUTED)
    for place in np.ndindex(array.shape):
        i, j, h, v = place
        x, y = left + LEFT + j * (W * cell + GAP) + v * cell, top + TOP + i * (H * cell + GAP) + h * cell
        letter = marks.get(place)
        s.rect(x, y, cell, cell, fill=style.tint(role, 0.5) if letter else style.PAPER, stroke="idle")
        seen = bool(letter) or place == chosen
        look = dict(bold=seen, fill=style.INK if seen else style.MUTED)
        s.text(x + cell / 2 + (4 if letter else 0), y + cell - 6, number(array[place]), anchor="middle", **look)
        if letter:
            s.text(x + 2, y + 11, letter)
        if place == chosen:
            s.rect(x, y, cell, cell, line=3)
