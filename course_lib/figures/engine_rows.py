"""Who does what when: a row for each engine, a box for each stage of each piece, as they ran or as they would.

Source: H, "Mini-Batching May be Needed to Fill GPU" (read next, compute present, write previous).
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel, wrapped

from . import style
from .picture import picture
from .svg import CHAR

ROLES = {"host": "idle", "in": "data", "card": "thread", "out": "output"}
"""Engine -> the role of its boxes."""

SAYS = {"host": "host", "in": "copies in", "card": "kernels", "out": "copies out"}
LEFT, HIGH, ROW = 78, 26, 34


def stream_rows(run, title=""):
    """Return a picture of a `streams.Run`: engines below each other, microseconds to the right.

    Boxes carry the numbers of pieces. A piece that was computed from other numbers than its own is purple, and in
    brackets.

    Parameters
    ----------
    run : streams.Run
    title : str

    Returns
    -------
    Picture

    No errors. Source: H, "Mini-Batching May be Needed to Fill GPU".
    """
    wrong = set(run.wrong)
    engines = [e for e in SAYS if any(s.engine == e for s in run.spans)]
    rows = [(SAYS[e], [_box(span, wrong) for span in run.spans if span.engine == e]) for e in engines]
    shares = ", ".join(f"{SAYS[e]} {run.busy[e]:.0%}" for e in engines)
    says = f"{run.end:g} µs in all; busy: {shares}."
    if run.races:
        says += f" A race: {run.races[0]}."
    if len(run.races) > 1:
        says += f" And {len(run.races) - 1} more."
    if run.idle_waits:
        says += f" Nobody had recorded {run.idle_waits[0]!r} when it was waited for: such a wait waits for nothing."
    return rows_picture(rows, run.end, title, says, unit="µs")


def _box(span, wrong):
    if span in wrong:
        return span.begin, span.end, f"({span.piece})", "hazard"
    return span.begin, span.end, str(span.piece), ROLES[span.engine]


def rows_picture(rows, end, title, says, *, unit, start=0, legend=()):
    """Return a picture of rows of boxes.

    Parameters
    ----------
    rows : list of (label, [(begin, end, text, role)])
    end : float
        Where the axis ends; it begins at `start`, and boxes lie between the two.
    title, says : str
        `says` is the caption, and with the rows the alt text.
    unit : str
    legend : sequence of (name, role)
        What the colours mean, below the axis.

    No errors. Source: the course's own.
    """
    lines = wrapped(title, char=7.9) if title else []  # bold letters are wider
    top = EDGE + 17 * len(lines)
    keys = _keys(legend, top + ROW * len(rows) + 30)
    s = Panel(WIDTH, max([top + ROW * len(rows) + 24, *(y + 18 for _, y, *_ in keys)]))
    for k, line in enumerate(lines):
        s.text(EDGE, EDGE + 11 + 17 * k, line, bold=True)
    scale = (WIDTH - LEFT - EDGE) / ((end - start) or 1)
    for r, (label, boxes) in enumerate(rows):
        y = top + ROW * r + 4
        s.text(EDGE, y + HIGH / 2 + 4, label)
        s.line(LEFT, y + HIGH, WIDTH - EDGE, y + HIGH, stroke=style.GRID, line=1)
        for begin, stop, text, role in boxes:
            x, wide = LEFT + (begin - start) * scale, max(0.8, (stop - begin) * scale)
            look = (
                {"fill": style.tint(role, 0.45), "stroke": style.PAPER}
                if wide > 3
                else {"fill": role, "stroke": "none"}
            )
            s.rect(x, y, min(wide, WIDTH - EDGE - x), HIGH, line=0.5, **look)
            if text and wide > CHAR * len(text):
                s.text(x + wide / 2, y + HIGH / 2 + 4, text, anchor="middle")
    for share in (0, 0.5, 1):
        at = LEFT + share * (WIDTH - LEFT - EDGE)
        anchor = {0: "start", 0.5: "middle", 1: "end"}[share]
        when = start + share * (end - start)
        s.text(at, top + ROW * len(rows) + 16, f"{_number(when)} {unit}", anchor=anchor, fill=style.MUTED)
    for x, y, name, role in keys:
        s.rect(x, y, 12, 12, fill=role, stroke="none")
        s.text(x + 17, y + 10, name)
    order = "; ".join(f"{label}: {len(boxes)} boxes" for label, boxes in rows)
    return picture(s, alt=f"{title + '. ' if title else ''}Timeline. {order}. {says}", caption=says)


def _keys(legend, y):
    """Where each entry of a legend stands, (x, y, name, role), in as many lines as it takes."""
    keys, x = [], EDGE
    for name, role in legend:
        wide = 17 + CHAR * len(name)
        if x > EDGE and x + wide > WIDTH - EDGE:
            x, y = EDGE, y + 18
        keys.append((x, y, name, role))
        x += wide + 14
    return keys


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measured_rows(spans, title):
    """Return the picture of spans that a card's clock has measured, [(stage, piece, begin, end)] in seconds.

    Stages are "read", "compute" and "write", as `python -m tools.steps` writes them; times begin with the first span.
    ValueError without a span. Source: the course's own.
    """
    if not spans:
        raise ValueError("there is no span to draw.")
    first, last = min(b for _, _, b, _ in spans), max(e for *_, e in spans)
    rows = [
        (SAYS[engine], [(1e3 * (b - first), 1e3 * (e - first), str(piece), ROLES[engine])
                        for stage, piece, b, e in spans if stage == name])
        for name, engine in (("read", "in"), ("compute", "card"), ("write", "out"))
    ]  # fmt: skip
    whole = 1e3 * (last - first)
    shares = ", ".join(f"{label} {sum(e - b for b, e, *_ in boxes) / whole:.0%}" for label, boxes in rows)
    return rows_picture(rows, whole, title, f"{whole:.3g} ms; busy: {shares}.", unit="ms")
