"""Launches as dots under a device's roofline: how much they compute for a byte, and what keeps them below the roof.

Source: Williams, Waterman, Patterson, "Roofline" (2009); Yang, Kurth, Williams, "Hierarchical Roofline" (2020), for
the second mark of a launch, which counts all sectors that its warps ask for. Numbers are those of `estimate.bound`.
"""

import math

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.estimate.bound import duration, predict
from course_lib.simt.estimate.devices import DEVICES, find_device
from course_lib.simt.estimate.model import PARTS
from course_lib.simt.estimate.roofline import roofline
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.simt.show.wording import count, percent

MOVES = {
    "DRAM": "It is at the memory's roof already. Only fewer bytes help: fuse it with its neighbours, or use an element "
    "again before it is gone.",
    "L2": "More elements for each sector move it up: neighbouring threads on neighbouring elements.",
    "partial writes": "Whole sectors move it up: neighbouring threads write neighbouring elements.",
    "L1": "Fewer and wider requests move it up: no bank conflicts, and reuse in registers.",
    "issue": "Fewer instructions for each operation move it up: more work a thread, fewer indices.",
    "integer": "Fewer instructions for each operation move it up: more work a thread, fewer indices.",
    "blocks": "More work for each block moves it up: threads that do several elements.",
    "barrier": "Fewer barriers move it up.",
    "atomics": "Fewer atomic operations move it up: add up in a block first.",
    "latency": "More under way at a time moves it up: more warps, or more loads before the first is needed.",
}
ARITHMETIC = "It is at the roof of arithmetic: only fewer operations help, or units that do more of them in a clock."
FEW_BLOCKS = "For {} of {} there is no block: a larger problem, or more and smaller blocks, move it up."

LEFT, RIGHT, TOP, HIGH = 44, 388, 30, 210
"""Edges of the plot in the static picture, and its height."""


def roofline_picture(reports, device="H200", names=None, *, dtype="float32", seconds=None):
    """Return a roofline with a dot for each launch; the reader asks a dot what holds it back, and tries other cards.

    A dot's place is its operations for a byte that must move, and the operations in a second if the launch takes as
    long as predicted; with `seconds`, as measured. Where no time is predicted, the dot is hollow and lies on the roof:
    more it cannot do. The small mark at its left counts all sectors asked for.

    Parameters
    ----------
    reports : sequence of Report
        Such as those of a ladder's rungs.
    device : str or Device
        Whose two lines are drawn.
    names : sequence of str, optional
        What to call them; the kernels' names otherwise.
    dtype : "float32", "float64" or "float16"
        Whose peak is the roof.
    seconds : sequence of float, optional
        Measured times on that device, one for each report.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        No report; a number of names or times that is not theirs; a launch without floating-point operations or global
        traffic, which has no place there; what `predict` and `roofline` refuse.
    TypeError
        Something that is no report.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    reports, first = list(reports), find_device(device)
    for r in reports:
        if not hasattr(r, "total") or not hasattr(r, "arrays"):
            kind = type(r).__name__
            raise TypeError(f"a roofline takes reports of simt.run, not {kind}; name the card with device=...")
    times = [None] * len(reports) if seconds is None else list(seconds)
    names = [r.kernel for r in reports] if names is None else [str(n) for n in names]
    if not reports or len(names) != len(reports) or len(times) != len(reports):
        raise ValueError(
            f"there are {len(reports)} reports, {len(names)} names and {len(times)} times; give one report at least, "
            "and one name and time for each."
        )
    devices = [d for d in DEVICES.values() if d.name != first.name] if seconds is None else []
    cards = [_card(first, dtype, reports, names, times)]
    for d in devices:
        try:
            cards.append(_card(d, dtype, reports, names, times))
        except ValueError:  # a block that this card does not run
            continue
    order = [*DEVICES]
    cards = sorted(cards, key=lambda c: order.index(c["name"]) if c["name"] in order else -1)
    at = next(i for i, c in enumerate(cards) if c["name"] == first.name)
    data = {"cards": cards, "at": at, "dtype": dtype, "measured": seconds is not None}
    return figures.live("roofline", data, title="How far below the roof?", static=_static(cards[at], data))


def _card(device, dtype, reports, names, times):
    roof = roofline(device, dtype)
    dots = [_dot(r, n, t, device, roof) for r, n, t in zip(reports, names, times, strict=True)]
    return {
        "name": device.name, "peak": roof.peak, "bandwidth": roof.bandwidth, "ridge": roof.ridge, "dots": dots,
        "axes": axes(roof, dots),
    }  # fmt: skip


def _dot(report, name, seconds, device, roof):
    """Return where a launch lies, and what is said about it."""
    bound = predict(report, device)
    if not bound.flops or not 0 < bound.intensity < math.inf:
        raise ValueError(
            f"{name} does {bound.flops:,} floating-point operations and moves {bound.dram_bytes:,} bytes of global "
            "memory; without both it has no place under a roofline. Compare its bytes instead."
        )
    took = bound.seconds if seconds is None else float(seconds)
    if took is not None and not took > 0:
        raise ValueError(f"{name} took {seconds} seconds; a time must be more than 0.")
    most = float(roof.attainable(bound.intensity))
    speed = most if took is None else bound.flops / took
    side = "the slope: memory is its roof" if bound.intensity < roof.ridge else "the flat part: arithmetic is its roof"
    says = (
        f"{name}: {bound.intensity:.3g} FLOP for each byte that must move, {bound.sector_intensity:.3g} for each byte "
        f"asked for. It lies under {side}, {flops(most)} at most"
    )
    if took is None:
        says += f". How near it comes is not known: {bound.reason}. {_moves(bound)}"
    else:
        how = "as predicted" if seconds is None else f"{duration(took)}, as measured"
        says += f"; it does {flops(speed)} ({how}), {percent(min(1, speed / most))} of that."
        says += f" The limit is {PARTS[bound.limit]}. {_moves(bound)}" if bound.limit else f" {_moves(bound)}"
    return {
        "name": name, "x": bound.intensity, "y": speed, "asked": bound.sector_intensity, "known": took is not None,
        "says": says.strip(),
    }  # fmt: skip


def _moves(bound):
    idle = bound.device.sms - bound.blocks
    if idle > 0 and bound.limit != "DRAM":
        return FEW_BLOCKS.format(count(idle, "SM"), bound.device.sms)
    return MOVES.get(bound.limit, ARITHMETIC if bound.limit else "")


def flops(value):
    """Return operations in a second as "3.2 TFLOP/s". No errors are raised. Source: the course's own."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if value >= size:
            return f"{value / size:.3g} {unit}FLOP/s"
    return f"{value:.3g} FLOP/s"


def axes(roof, dots):
    """Return (x from, x to, y from, y to) as powers of ten that hold the ridge and all dots.

    No errors are raised. Source: the course's own.
    """
    x = [v for d in dots for v in (d["x"], d["asked"]) if math.isfinite(v)] + [roof.ridge / 8, roof.ridge * 4]
    y = [d["y"] for d in dots] + [roof.peak, roof.peak / 100]
    ends = [min(x), max(x), min(y), max(y)]
    return [round_(math.log10(v)) for round_, v in zip((math.floor, math.ceil) * 2, ends, strict=True)]


def _static(card, data):
    dots, (x0, x1, y0, y1) = card["dots"], card["axes"]
    s = Panel(WIDTH, TOP + HIGH + 46 + 17 * len(dots))

    def place(x, y):
        right = LEFT + (math.log10(x) - x0) / (x1 - x0) * (RIGHT - LEFT)
        return right, TOP + HIGH - (math.log10(y) - y0) / (y1 - y0) * HIGH

    s.text(EDGE, 16, f"{card['name']}, {data['dtype']}", bold=True)
    for power in range(x0, x1 + 1):
        x, _ = place(10.0**power, 10.0**y0)
        s.line(x, TOP, x, TOP + HIGH, stroke=style.GRID, line=1)
        s.text(x, TOP + HIGH + 15, f"{10.0**power:g}", anchor="middle", fill=style.MUTED)
    for power in range(y0, y1 + 1):
        _, y = place(10.0**x0, 10.0**power)
        s.line(LEFT, y, RIGHT, y, stroke=style.GRID, line=1)
        s.text(LEFT - 4, y + 4, _short(power), anchor="end", fill=style.MUTED)
    s.text((LEFT + RIGHT) / 2, TOP + HIGH + 30, "FLOP for each byte", anchor="middle", fill=style.MUTED)
    low = max(10.0**x0, 10.0**y0 / card["bandwidth"])
    s.polyline([place(low, low * card["bandwidth"]), place(card["ridge"], card["peak"]), place(10.0**x1, card["peak"])],
               line=2.5)  # fmt: skip
    _, flat = place(1, card["peak"])
    s.text(RIGHT, flat - 6, flops(card["peak"]), anchor="end")
    s.text(LEFT + 6, TOP + 14, f"slope: {card['bandwidth'] / 1e12:.3g} TB/s")
    for k, dot in enumerate(dots, 1):
        x, y = place(dot["x"], dot["y"])
        other, _ = place(dot["asked"], dot["y"])
        s.line(other, y, x, y, stroke="data", line=1, dashed=True)
        s.circle(other, y, 4, fill=style.PAPER, stroke="data")
        fill, stroke, ink = ("data", style.INK, style.PAPER) if dot["known"] else (style.PAPER, "data", style.INK)
        s.circle(x, y, 8, fill=fill, stroke=stroke, dashed=not dot["known"])
        s.text(x, y + 4, k, anchor="middle", bold=True, fill=ink)
        s.text(EDGE, TOP + HIGH + 34 + 17 * k, f"{k}  {dot['name'][:26]}: {dot['x']:.3g} FLOP/byte, {flops(dot['y'])}")
    says = " ".join(dot["says"] for dot in dots) if len(dots) < 3 else "; ".join(
        f"{dot['name']} {dot['x']:.3g} FLOP/byte and {flops(dot['y'])}" for dot in dots
    )  # fmt: skip
    head = f"Roofline of the {card['name']}: the ridge is at {card['ridge']:.3g} FLOP/byte. "
    how = "Measured" if data["measured"] else "Speeds are predicted; a hollow dot is at most there"
    return figures.picture(s, alt=f"{head}{says}", caption=f"{head}{how}. Small mark: for each byte asked for.")


def _short(power):
    return f"{10 ** (power % 3)}{ {0: '', 1: 'k', 2: 'M', 3: 'G', 4: 'T', 5: 'P'}.get(power // 3, '?')}"
