"""The warp walking through its kernel: a row for each executed line, a column for each lane.

Source: the course's own. A warp issues one instruction for all its lanes; lanes that are switched off take their slot
all the same. So a row costs as much with one active lane as with 32.
"""

from collections import Counter

from course_lib.figures import style
from course_lib.figures.live import live
from course_lib.figures.picture import picture
from course_lib.figures.svg import Svg, text_width
from course_lib.simt.lanes import WARP
from course_lib.simt.trace.lane_states import BARRIER, EXITED, MEANINGS, NONE, RUNNING, WAITS
from course_lib.simt.trace.words import NOT_HERE

MOST_ROWS, MOST_STATIC = 400, 48
"""Rows of the live figure and of the picture on paper."""

WIDTH, ROW, CELL, LEFT, TOP = 640, 18, 12, 180, 40
"""Pixels of the picture: its width, the height of a row, a lane, the text on the left, the head."""


def walk(trace):
    """Return the Live figure of the first warp of a trace: executed lines by lanes, revealed line by line.

    Raises
    ------
    ValueError
        If the warp executed no line.

    Source: the course's own.
    """
    rows = rows_of(trace)
    if not rows:
        raise ValueError(f"warp {trace.warps[0]} of {trace.kernel} executed no line; there is nothing to walk through.")
    counted = counts(rows)
    summary = in_words(counted)
    data = {
        "rows": [[r["line"], r["text"], r["state"], r["words"]] for r in rows[:MOST_ROWS]], "means": MEANINGS,
        "summary": summary, "more": max(0, len(rows) - MOST_ROWS),
    }  # fmt: skip
    title = f"{trace.kernel}, block {trace.place}, warp {trace.warps[0]}: line by line, lane by lane"
    return live("walk", data, title=title, static=_picture(rows, summary))


def rows_of(trace):
    """Return a dict for each line that the first warp executed: line, text, state (a letter a lane), active, words.

    A line that calls a function is one row, after the rows of that function.
    """
    found = []
    for step in trace.steps:
        letters = step.states[:WARP]
        active = sum(letter in RUNNING for letter in letters)
        if active and step.kind != "call":
            there = sum(letter != NONE for letter in letters)
            words = f"line {step.line}: {active} of {there} lanes active"
            others = Counter(c for c in letters if c not in RUNNING + NONE)
            words += "".join(f"; {n} {NOT_HERE[c][n > 1]}" for c, n in others.items())
            name = "" if step.function == trace.kernel else f"{step.function}: "
            text = indented(trace.document, step) if step.function in trace.document["functions"] else step.text
            found.append({"line": step.line, "text": name + text, "state": letters, "active": active,
                          "there": there, "words": words + "."})  # fmt: skip
    return found


def indented(document, step):
    """Return a step's text, moved in as far as it stands in its function. No errors."""
    lines = document["functions"][step.function]
    column = len(lines[str(step.line)]) - len(lines[str(step.line)].lstrip())
    body = min((len(t) - len(t.lstrip()) for n, t in lines.items() if t.strip() and int(n) > _head(lines)), default=0)
    return "\N{NO-BREAK SPACE}" * max(0, column - body) + step.text


def _head(lines):
    """Return the number of a function's line with its def."""
    return min((int(n) for n, t in lines.items() if t.lstrip().startswith("def ")), default=0)


def counts(rows):
    """Return {"lines", "full", "partly", "slots", "idle"}: of executed lines, and of slots of lanes. No errors."""
    full = sum(r["active"] == r["there"] for r in rows)
    slots = sum(r["there"] for r in rows)
    idle = slots - sum(r["active"] for r in rows)
    return {"lines": len(rows), "full": full, "partly": len(rows) - full, "slots": slots, "idle": idle}


def in_words(counted):
    """Return the counted numbers as a sentence. No errors."""
    c = counted
    partly = f"in {c['partly']} of them some lanes are idle" if c["partly"] else "all lanes are active in each of them"
    share = f"{100 * c['idle'] / c['slots']:.0f} %" if c["slots"] else "0 %"
    return f"{c['lines']} executed lines; {partly}: {c['idle']:,} of {c['slots']:,} lane slots idle ({share})."


def _picture(rows, summary):
    shown = rows[:MOST_STATIC]
    left = LEFT
    svg = Svg(WIDTH, TOP + ROW * len(shown) + 32)
    svg.text(left + WARP * CELL / 2, 14, "lane", anchor="middle", fill=style.MUTED)
    for k in range(0, WARP, 4):
        svg.text(left + (k + 0.5) * CELL, TOP - 8, k, anchor="middle", fill=style.MUTED)
    svg.text(left + WARP * CELL + 8, TOP - 8, "active", fill=style.MUTED)
    paths = {"active": [], "barrier": [], "masked": [], "hatch": [], "gone": []}
    for i, row in enumerate(shown):
        y = TOP + ROW * i
        svg.text(30, y + 13, row["line"], anchor="end", fill=style.MUTED)
        svg.text(38, y + 13, _cut(row["text"], left - 44))
        svg.text(left + WARP * CELL + 8, y + 13, f"{row['active']} of {row['there']}")
        for k, letter in enumerate(row["state"]):
            _cell(paths, left + k * CELL, y, letter)
    svg.path(paths["active"], fill="thread", stroke=style.PAPER)
    svg.path(paths["masked"], fill=style.PAPER, stroke="idle")
    svg.path(paths["hatch"], stroke="idle")
    svg.path(paths["barrier"], fill=style.PAPER, stroke="data", line=2)
    svg.path(paths["gone"], stroke="idle", line=1.5)
    y = TOP + ROW * len(shown) + 18
    svg.text(8, y, KEY, fill=style.MUTED)
    cut = f" The first {len(shown)} are drawn." if len(rows) > len(shown) else ""
    first = next((r for r in rows if r["active"] < r["there"]), rows[-1])
    text = " ".join(first["text"].split())
    alt = f"A strip of {WARP} lanes by executed lines. {summary}"
    if first["active"] < first["there"]:
        alt += f" The first such line is {first['words']} ({text})"
    return picture(svg, alt=alt, caption=f"{summary}{cut}")


KEY = "blue: active;  hatched: switched off;  two bars: waits at a barrier;  cross: has left the kernel"


def _cell(paths, x, y, letter):
    box = f"M{x} {y + 1}h{CELL}v{ROW - 2}h-{CELL}z"
    if letter == EXITED:
        paths["gone"].append(f"M{x + 3} {y + 6}l6 6m0-6l-6 6")
    elif letter == BARRIER:
        paths["barrier"].append(f"M{x + 4} {y + 3}v{ROW - 6}m4 0v-{ROW - 6}")
    elif letter in RUNNING:
        paths["active"].append(box)
    elif letter != NONE:
        paths["masked"].append(box)
        steps = f"M{x + 6} {y + 5}v8" if letter == WAITS else f"M{x} {y + 11}l{CELL}-9m0 6l-{CELL} 9"
        paths["hatch"].append(steps)


def _cut(text, width):
    if text_width(text) <= width:
        return text
    while text_width(text + "…") > width:
        text = text[:-1]
    return text + "…"
