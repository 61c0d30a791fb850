"""What a convolution costs by each way of doing it, for lesson 15: bytes moved, and time against the size of the mask.

Source: H, "Strategies for Lab 7" and "Analyzing the Amount of Input Replication".
"""

import numpy as np
from matplotlib.ticker import LogFormatter, NullFormatter, ScalarFormatter

from course_lib.simt.show.panel import EDGE, Panel
from course_lib.validate import require_positive, require_some

from . import style
from .picture import picture
from .svg import text_width

KINDS = {
    "input": ("data", False),
    "weights": ("weight", False),
    "unrolled, written": ("hazard", True),
    "unrolled, read": ("hazard", False),
    "output": ("output", False),
}
"""Kind of bytes -> role of its colour, and whether it is hatched."""

WIDTH = 400
BAR, ROW = 18, 46


def data_movement(rows, *, title="Bytes that one layer moves"):
    """Return a picture of the bytes that each way of doing a layer moves, all on one scale, split by kind.

    Parameters
    ----------
    rows : sequence of (str, dict)
        Name and {kind: bytes}; kinds are those of `KINDS`: input, weights, "unrolled, written", "unrolled, read",
        output. A kind that is left out moves nothing.

    Returns
    -------
    Picture

    Raises
    ------
    ValueError, TypeError
        No row; an unknown kind; bytes that are below 0, NaN or no number; a row that moves nothing.

    Source: H, "Analyzing the Amount of Input Replication".
    """
    rows = [(str(name), dict(parts)) for name, parts in rows]
    require_some("rows", rows)
    for name, parts in rows:
        if unknown := [k for k in parts if k not in KINDS]:
            raise ValueError(f"{name} has the kinds {unknown}; the kinds are {', '.join(KINDS)}.")
        for kind, value in parts.items():
            require_positive(f"{kind} of {name}", value, zero=True)
        if not sum(parts.values()):
            raise ValueError(f"{name} moves no bytes; leave it out.")
    shown = [kind for kind in KINDS if any(parts.get(kind) for _, parts in rows)]
    totals = {name: sum(parts.values()) for name, parts in rows}
    most = max(totals.values())
    room = WIDTH - 2 * EDGE - text_width(bytes_(most)) - 8
    s = Panel(WIDTH, 54 + ROW * len(rows) + 20 * len(shown) + 10)
    s.text(EDGE, 18, title, bold=True)
    for k, (name, parts) in enumerate(rows):
        y, x = 34 + ROW * k, EDGE
        s.text(x, y + 12, name)
        for kind in shown:
            wide = room * parts.get(kind, 0) / most
            if wide:
                _swatch(s, kind, x, y + 18, wide)
                _value(s, bytes_(parts[kind]), x, y + 18, wide)
            x += wide
        s.text(x + 6, y + 32, bytes_(totals[name]), bold=True)
    s.text(EDGE, 34 + ROW * len(rows) + 12, "From the left:", fill=style.MUTED)
    for k, kind in enumerate(shown):
        y = 54 + ROW * len(rows) + 20 * k
        _swatch(s, kind, EDGE, y, 24)
        s.text(EDGE + 32, y + 12.5, kind)
    least, worst = min(totals, key=totals.get), max(totals, key=totals.get)
    says = f"{worst} moves most, {bytes_(totals[worst])}; {least} moves least, {bytes_(totals[least])}"
    says += f": {totals[worst] / totals[least]:.3g} to 1." if worst != least else "."
    parts = "; ".join(
        f"{name}: " + ", ".join(f"{kind} {bytes_(p[kind])}" for kind in shown if p.get(kind)) for name, p in rows
    )
    return picture(s, alt=f"{says} {parts}.", caption=says)


def _swatch(s, kind, x, y, wide):
    role, hatched = KINDS[kind]
    s.cells([(x, y, wide, BAR)], fill=style.tint(role, 0.3 if hatched else 0.75), hatched=hatched)


def _value(s, text, x, y, wide):
    """Write the bytes of a part onto it, on white, where there is room."""
    takes = 6.4 * len(text) + 4
    if wide >= takes + 4:
        s.rect(x + (wide - takes) / 2, y + 2, takes, BAR - 4, fill=style.PAPER, stroke="none")
        s.text(x + wide / 2, y + 12.5, text, anchor="middle")


def bytes_(value):
    """Return bytes as "3.1 MB", by powers of 1,000. No errors. Source: the course's own."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def crossings(masks, one, other):
    """Return [mask]: where the times `one` and `other` cross, straight between neighbours on logarithmic axes.

    Parameters
    ----------
    masks : array (n,)
        Rising sizes.
    one, other : array (n,)
        Times above 0; NaN where nothing was measured.

    No errors for such arrays. Source: the course's own.
    """
    x, gap = np.log(np.asarray(masks, float)), np.log(np.asarray(one, float)) - np.log(np.asarray(other, float))
    known = np.isfinite(gap)
    x, gap = x[known], gap[known]
    found = [float(np.exp(x[0]))] if len(gap) and gap[0] == 0 else []
    for k in range(len(gap) - 1):
        a, b = gap[k], gap[k + 1]
        if b == 0 or a * b < 0:
            found.append(float(np.exp(x[k] + (x[k + 1] - x[k]) * a / (a - b))))
    return found


@style.styled
def crossing(masks, seconds, *, unit="ms", title="", where=""):
    """Return a picture of time against the size of the mask, a panel for each image size, with the crossings marked.

    Parameters
    ----------
    masks : sequence of int
        Rising sides K of the mask.
    seconds : dict
        {image size: {method: times of all masks, in seconds}}; two or three methods, the same in each panel; NaN or
        None where nothing was measured. The crossings are those of the first method with each of the others.
    unit : "s", "ms" or "µs"
    where : str
        On what it was measured, for the caption, such as "H200, 2026-11-28".

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        No panel; masks that do not rise; methods that differ; a number of times that is not that of the masks; times
        that are not above 0.

    Source: the course's own.
    """
    masks, scale = np.asarray(masks, float), {"s": 1, "ms": 1e3, "µs": 1e6}
    require_some("seconds", seconds)
    if unit not in scale:
        raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(scale)}.")
    if masks.ndim != 1 or len(masks) < 2 or not (np.diff(masks) > 0).all() or masks[0] <= 0:
        raise ValueError(f"masks are {masks.tolist()}; they must be two at least, above 0 and rising.")
    panels = {size: _times(size, lines, len(masks)) for size, lines in seconds.items()}
    methods = list(next(iter(panels.values())))
    for size, lines in panels.items():
        if list(lines) != methods or not 2 <= len(methods) <= 3:
            raise ValueError(f"image {size} has the methods {list(lines)}; all need the same two or three, {methods}.")
    fig, axes = style.new_figure(4.1, 0.5 + 2.2 * len(panels), len(panels), 1, squeeze=False, sharex=True)
    says = []
    for ax, (size, lines) in zip(axes[:, 0], panels.items(), strict=True):
        for role, (name, times) in zip(("data", "gradient", "output"), lines.items(), strict=False):
            cue = style.cue(role)
            look = dict(color=cue.colour, marker=cue.marker, linestyle=cue.linestyle)
            ax.plot(masks, times * scale[unit], **look, label=name)
        says += _marked(ax, size, masks, lines, scale[unit])
        ax.set(xscale="log", yscale="log", ylabel=unit)
        ax.set_title(f"image {size}" if not title else f"{title}, image {size}")
        ax.set_xticks(masks, [f"{k:g}" for k in masks])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_minor_formatter(LogFormatter())  # where a panel holds one power of ten only: 2, 3, 4, 6
    axes[-1, 0].set_xlabel("side K of the mask")
    axes[0, 0].legend(loc="best")
    head = f"Time against the mask{f', {where}' if where else ''}: "
    return picture(fig, alt=head + " ".join(says), caption=head + " ".join(says))


def _times(size, lines, n):
    """Return {method: float array (n,)} of one panel."""
    made = {name: np.asarray([np.nan if t is None else t for t in times], float) for name, times in lines.items()}
    for name, times in made.items():
        if len(times) != n:
            raise ValueError(f"image {size}, {name}: {len(times)} times for {n} masks; each mask needs one.")
        if (times <= 0).any() or np.isinf(times).any():
            raise ValueError(f"image {size}, {name}: times {times.tolist()}; they must be above 0, or None.")
    return made


def _marked(ax, size, masks, lines, scale):
    """Mark the crossings of a panel and return what they say."""
    (first, base), *others = lines.items()
    says = []
    for name, times in others:
        places = crossings(masks, base, times)
        for k in places:
            known = np.isfinite(base)
            y = np.exp(np.interp(np.log(k), np.log(masks[known]), np.log(base[known]))) * scale
            ax.plot(k, y, "o", markersize=13, markerfacecolor="none", markeredgecolor=style.INK, markeredgewidth=1.5)
            ax.annotate(f"K = {k:.1f}", (k, y), (8, -14), textcoords="offset points", fontsize=style.SIZE_SMALL)
        both = np.isfinite(base) & np.isfinite(times)
        if places:
            says.append(f"image {size}: {first} and {name} cross at K = {', '.join(f'{k:.1f}' for k in places)}.")
        elif both.any():
            faster = first if base[both][-1] < times[both][-1] else name
            says.append(f"image {size}: {first} and {name} do not cross, {faster} is faster throughout.")
    return says
