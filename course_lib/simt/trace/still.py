"""One step of a trace as a picture for paper: its line, its lanes, and what is wrong.

Source: the course's own.
"""

import textwrap

from course_lib.figures import style
from course_lib.figures.picture import picture
from course_lib.figures.svg import Svg, text_width
from course_lib.simt.lanes import WARP
from course_lib.simt.trace import lane_states

WIDTH, LINE, CELL, AROUND, HALF = 640, 18, 30, 4, 16
"""Pixels of the sheet, of a line of text, of a lane; lines of source around the current one; lanes in a row."""

KEY = "blue: active;  hatched: switched off for now;  \N{MULTIPLICATION SIGN}: has left;  ‖: at the barrier"


def still(trace, number=None):
    """Return the Picture of a step, the most telling one unless given. No errors."""
    from course_lib.simt.trace.debugger import lines_of

    number = trace.telling if number is None else number
    step = trace.steps[number]
    lines = lines_of(trace.document, step.function if step.function in trace.document["functions"] else trace.kernel)
    at = next((i for i, (n, _) in enumerate(lines) if n == step.line), 0)
    shown = lines[max(0, at - AROUND) : at + AROUND + 1]
    said = [part for f in step.findings for part in textwrap.wrap(f"{f.kind}: {f.message} {f.fix}", 84)]
    bad = {f.lane for f in step.findings} | {f.other for f in step.findings}
    warps = [w for w in range(0, len(step.states), WARP) if step.active[w : w + WARP].any()][:2] or [0]
    rows = [row for w in warps for row in (w, w + HALF)]
    height = 12 + LINE * (len(shown) + len(said)) + 8 * bool(said) + len(rows) * (CELL + 4) + 34
    svg = Svg(WIDTH, height)
    y = 8
    for n, text in shown:
        here = n == step.line
        if here:
            svg.rect(4, y, WIDTH - 8, LINE, fill=style.tint("thread", 0.3), stroke="none")
            svg.rect(4, y, 4, LINE, fill="data", stroke="none")
        ink = style.INK if here else style.MUTED
        svg.text(52, y + 13, f"{'▶ ' if here else ''}{n}", anchor="end", bold=here, fill=ink)
        svg.text(62, y + 13, _cut(text.replace("    ", "\N{NO-BREAK SPACE}" * 6), WIDTH - 74), bold=here)
        y += LINE
    y += 6
    for first in rows:
        svg.text(52, y + 19, f"lane {first % WARP}", anchor="end", fill=style.MUTED)
        for k in range(HALF):
            _lane(svg, 62 + k * (CELL + 4), y, step.states[first + k], first % WARP + k, first + k in bad)
        y += CELL + 4
    y += 12
    for line in said:
        svg.rect(12, y - 10, 3, LINE, fill="hazard", stroke="none")
        svg.text(20, y + 3, line)
        y += LINE
    svg.text(20, y + 5, KEY, fill=style.MUTED)
    return picture(svg, alt=f"Step {number + 1} of {len(trace)} of {trace.kernel}, {step.words}",
                   caption=f"Step {number + 1} of {len(trace)}, {step.words}")  # fmt: skip


def _lane(svg, x, y, letter, lane, bad):
    """Draw one lane: its number or its sign."""
    if letter == lane_states.NONE:
        return
    edge = dict(stroke="hazard", line=3) if bad else dict(stroke="idle")
    if letter == lane_states.ACTIVE:
        svg.rect(x, y, CELL, CELL, fill="thread", **edge)
    elif letter == lane_states.BARRIER:
        svg.rect(x, y, CELL, CELL, fill=style.PAPER, stroke="hazard" if bad else "data", line=3 if bad else 2)
    else:
        svg.rect(x, y, CELL, CELL, fill=style.PAPER, **edge)
        if letter != lane_states.EXITED:
            for k in range(6, 2 * CELL - 5, 8):
                low, high = max(0, k - CELL), min(k, CELL)
                svg.line(x + low, y + k - low, x + high, y + k - high, stroke=style.GRID, line=2)
    signs = {lane_states.EXITED: "\N{MULTIPLICATION SIGN}", lane_states.BARRIER: "‖", lane_states.WAITS: "…"}
    faint = letter not in lane_states.RUNNING
    svg.text(x + CELL / 2, y + 19, signs.get(letter, lane), anchor="middle", bold=not faint,
             fill=style.MUTED if faint else style.INK)  # fmt: skip


def _cut(text, width):
    while text_width(text) > width:
        text = text[:-2] + "…"
    return text
