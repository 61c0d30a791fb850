"""A climb under the roofline: several launches of one job, in order, with what each changed and what it won.

Source: Williams, Waterman, Patterson, "Roofline" (2009); siboehm, "How to Optimize a CUDA Matmul Kernel" (one ladder,
each rung with its reason).
"""

import itertools
import math

from course_lib.simt.estimate.roofline import roofline
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.simt.show.roofline_picture import flops
from course_lib.simt.show.wording import percent
from course_lib.validate import require_positive, require_some

from . import style
from .live import live
from .picture import picture
from .product_tiles import named_device

LEFT, RIGHT, TOP, HIGH = 44, 388, 30, 250
"""Edges of the plot in the static picture, and its height."""

RADIUS = 8


def climb(points, device="H200", *, dtype="float32", rival=None, marks=None, title="How far does each rung climb?"):
    """Return a roofline with launches as numbered dots, joined by arrows in order; the reader walks from rung to rung.

    A dot's place is what its threads ask of global memory, FLOP for each byte, and its measured speed. Above the slope
    lies who lets caches answer part of what it asks for.

    Parameters
    ----------
    points : sequence of (str, float, float, str)
        Name, FLOP for each byte, FLOP/s, and in a few words what changed, such as ("v03", 8.0, 7.5e12, "tiles in
        shared memory").
    device : str or Device
        Whose lines are drawn, such as "H200" or "h200".
    dtype : "float32", "float64" or "float16"
        Whose peak is the roof.
    rival : (str, float), optional
        A name and its FLOP/s, drawn as a dashed line, such as ("cuBLAS", 51e12).
    marks : sequence of str, optional
        What stands in the dots, two letters at most, such as ("1", "2a", "2b"); their numbers from 1 unless given.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        No point; a point that is no four things; a number that is not above 0 and finite; an unknown device; marks
        that are longer, or not one for each point.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    points = list(points)
    require_some("points", points)
    for point in points:
        if not isinstance(point, tuple | list) or len(point) != 4:
            raise ValueError(f"a point is {point!r}; it must be (name, FLOP for each byte, FLOP/s, what changed).")
    roof = roofline(named_device(device), dtype)
    for name, x, y, _ in points:
        require_positive(f"the FLOP for each byte of {name}", x)
        require_positive(f"the FLOP/s of {name}", y)
    marks = [str(mark) for mark in (range(1, len(points) + 1) if marks is None else marks)]
    if len(marks) != len(points) or not all(0 < len(mark) <= 2 for mark in marks):
        raise ValueError(f"marks are {marks}; each of the {len(points)} points must have one, of 1 or 2 letters.")
    dots = []
    for mark, (name, x, y, changed) in zip(marks, points, strict=True):
        dot = {"mark": mark, "name": str(name), "x": float(x), "y": float(y)}
        dots.append(dot | {"says": _says(dot, str(changed), dots[-1] if dots else None, roof, rival)})
    data = {
        "card": roof.device.name, "dtype": dtype, "peak": roof.peak, "bandwidth": roof.bandwidth, "ridge": roof.ridge,
        "dots": dots, "rival": _rival(rival), "range": _range(roof, dots, rival),
    }  # fmt: skip
    return live("climb", data, title=title, static=_static(data))


def _rival(rival):
    if rival is None:
        return None
    name, speed = rival
    require_positive(f"the FLOP/s of {name}", speed)
    return [str(name), float(speed)]


def _range(roof, dots, rival):
    """Return (least x, most x, least y, most y) of the plot, so narrow that neighbouring rungs are told apart."""
    x, y = [d["x"] for d in dots], [d["y"] for d in dots]
    top = max([roof.peak, *y, *([rival[1]] if rival else [])])
    return [min(*x, roof.ridge / 4) / 1.6, max(*x, roof.ridge) * 2.5, min(*y, top / 10) / 1.5, top * 1.35]


def _says(dot, changed, before, roof, rival):
    """Return the sentence of a rung: what changed, how much faster, and how far below the roof."""
    words = f"{dot['name']}: {changed}. {dot['x']:.3g} FLOP for each byte asked for, {flops(dot['y'])}"
    if before:
        words += f", {dot['y'] / before['y']:.3g} times {before['name']}"
    words += f"; {percent(dot['y'] / roof.peak)} of the peak"
    words += f", {percent(dot['y'] / rival[1])} of {rival[0]}." if rival else "."
    if dot["y"] > dot["x"] * roof.bandwidth:
        words += " It lies above the slope: caches answer part of what it asks for."
    return words


def _static(data):
    dots, (x0, x1, y0, y1) = data["dots"], data["range"]
    s = Panel(WIDTH, TOP + HIGH + 46 + 17 * len(dots))

    def place(x, y):
        across = LEFT + math.log(x / x0) / math.log(x1 / x0) * (RIGHT - LEFT)
        return across, TOP + HIGH - math.log(y / y0) / math.log(y1 / y0) * HIGH

    s.text(EDGE, 16, f"{data['card']}, {data['dtype']}: measured", bold=True)
    for x in _ticks(x0, x1, (1,)):
        s.line(place(x, y0)[0], TOP, place(x, y0)[0], TOP + HIGH, stroke=style.GRID, line=1)
        s.text(place(x, y0)[0], TOP + HIGH + 15, f"{x:g}", anchor="middle", fill=style.MUTED)
    for y in _ticks(y0, y1, (1, 2, 5)):
        s.line(LEFT, place(x0, y)[1], RIGHT, place(x0, y)[1], stroke=style.GRID, line=1)
        s.text(LEFT - 4, place(x0, y)[1] + 4, f"{y / 1e12:g}T", anchor="end", fill=style.MUTED)
    s.text((LEFT + RIGHT) / 2, TOP + HIGH + 30, "FLOP for each byte asked for", anchor="middle", fill=style.MUTED)
    low = max(x0, y0 / data["bandwidth"])
    knee = place(data["ridge"], data["peak"])
    s.polyline([place(low, low * data["bandwidth"]), knee, place(x1, data["peak"])], line=2.5)
    s.text(RIGHT, place(x1, data["peak"])[1] - 6, flops(data["peak"]), anchor="end")
    if data["rival"]:
        name, speed = data["rival"]
        s.line(LEFT, place(x0, speed)[1], RIGHT, place(x0, speed)[1], stroke="weight", dashed=True)
        s.text(LEFT + 4, place(x0, speed)[1] - 5, name)
    for one, two in itertools.pairwise(dots):
        _join(s, place(one["x"], one["y"]), place(two["x"], two["y"]))
    for k, dot in enumerate(dots, 1):
        x, y = place(dot["x"], dot["y"])
        s.circle(x, y, RADIUS, fill="data")
        s.text(x, y + 4, dot["mark"], anchor="middle", bold=True, fill=style.PAPER)
        speed = f"{dot['x']:.3g} FLOP/byte, {flops(dot['y'])}"
        s.text(EDGE, TOP + HIGH + 34 + 17 * k, f"{dot['mark']}  {dot['name'][:26]}: {speed}")
    first, last = dots[0], dots[-1]
    head = f"From {first['name']} with {flops(first['y'])} to {last['name']} with {flops(last['y'])}, "
    head += f"{last['y'] / first['y']:.3g} times as fast; the ridge of the {data['card']} is at {data['ridge']:.3g}."
    return picture(s, alt=f"{head} {' '.join(dot['says'] for dot in dots)}", caption=head)


def _join(s, one, two):
    """Draw an arrow from dot to dot, where there is room between them."""
    length = math.dist(one, two)
    if length > 2 * RADIUS + 6:
        ux, uy = ((b - a) / length * (RADIUS + 1) for a, b in zip(one, two, strict=True))
        s.arrow(one[0] + ux, one[1] + uy, two[0] - ux, two[1] - uy, stroke="gradient", head=7)


def _ticks(low, high, steps):
    """Return the numbers 10**p times `steps` between low and high."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [k * 10.0**p for p in powers for k in steps if low <= k * 10.0**p <= high]
