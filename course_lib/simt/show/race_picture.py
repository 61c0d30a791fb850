"""A race as a picture: two threads, one element, one barrier phase, and what a barrier between them would settle.

Source: the course's own; NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions". Who, where and when are
the facts that the executor recorded with the finding; the neighbours are the accesses of the launch's first block.
"""

import numpy as np

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.findings import element
from course_lib.simt.gather import where
from course_lib.simt.show.barrier_picture import barrier_picture
from course_lib.simt.show.launch_map import brief
from course_lib.simt.show.map_sheet import DOTS, cut
from course_lib.simt.show.panel import EDGE, WIDTH, WORKED, Panel

RACES, BARRIERS = ("race", "same value"), ("barrier not reached", "early return")
WAYS = {"writes": "store", "reads": "load", "changes with cuda.atomic": "atomic"}
PAST = {"writes": "wrote", "reads": "read", "changes with cuda.atomic": "changed with cuda.atomic"}
NOW = {past: now for now, past in PAST.items()}
SAME = "Here both orders give the same number, but two threads must not use one element like this."
HOT = style.tint("hazard", 0.35)
BESIDE, BOX, ROW = 8, 43, 46
"""Elements that the picture of the neighbours shows, and pixels of one: its width, and from row to row."""


def race_picture(report, hazard=None):
    """Return a picture of a race, or of a barrier that some threads do not reach; the reader tries the orders.

    Parameters
    ----------
    report : Report
    hazard : Hazard, optional
        One of its findings; by default the first one that is a race or a matter of barriers.

    Returns
    -------
    figures.Live
        Its `static` picture states who, where and when.

    Raises
    ------
    ValueError
        If the report has no such finding, or the finding given is of another kind.

    Source: the course's own.
    """
    if hazard is None:
        every = [h for h in (*report.hazards, *report.advice) if h.kind in RACES + BARRIERS and drawable(h)]
        if not every:
            raise ValueError(f"{report.kernel} has no race and no barrier that threads miss: there is nothing to draw.")
        hazard = every[0]
    if not drawable(hazard):
        raise ValueError(f"a finding of the kind {hazard.kind!r} has no picture of two threads; choose another one.")
    return barrier_picture(report, hazard) if hazard.kind in BARRIERS else _race(report, hazard)


def drawable(hazard):
    """Return whether a finding has the facts that its picture needs. No errors. Source: the course's own."""
    needed = {"other_thread", "other_did", "phase", "block"} if hazard.kind in RACES else {"came", "thread", "block"}
    return hazard.kind in RACES + BARRIERS and needed <= hazard.details.keys()


def _race(report, h):
    facts = _facts(report, h)
    data = {k: facts[k] for k in ("element", "who", "does", "lines", "phase", "scenes", "words", "beside")}
    title = f"{report.kernel}, {where(h)}: two threads, one element"
    return figures.live("race", data, title=title, static=_static(facts))


def _facts(report, h):
    """Return what both forms of the picture say; of the two threads, the one whose access came first stands first."""
    d, one_block = h.details, h.details["block"] == h.details["other_block"]
    does = [NOW[d["other_did"]], d["did"]]
    blocks = [d["other_block"], d["block"]]
    who = [f"thread {brief(t, report.block)}" for t in (d["other_thread"], d["thread"])]
    if not one_block:
        who = [f"{w} of block {brief(b, report.grid)}" for w, b in zip(who, blocks, strict=True)]
    name, lines = element(h.array, d["index"]), [int(d["other_line"]), int(h.line)]
    texts = {x.number: x.text.strip() for x in report.lines if x.function == h.function}
    between = "a barrier" if one_block else "the end of a launch"
    home = f" of block {brief(d['block'], report.grid)}" if one_block else ""
    first = f"{who[0][0].upper()}{who[0][1:]} {does[0]} {name}"
    second = f"{who[1]}{home} {does[1]} it"
    if lines[0] == lines[1]:
        says = f"{first} and {second}, both in line {lines[0]}"
    else:
        says = f"{first} in line {lines[0]} and {second} in line {lines[1]}"
    says += ", with no barrier between: either may come first."
    scenes = [
        {"name": "this order", "order": [0, 1], "barrier": "", "says": _outcome(who, does, (0, 1), name)},
        {"name": "the other order", "order": [1, 0], "barrier": "", "says": _outcome(who, does, (1, 0), name)},
        {"name": f"with {between} between", "order": [0, 1], "says": _settled(who, does, one_block, lines),
         "barrier": "cuda.syncthreads(): all wait here" if one_block else "the launch ends, the next begins"},
    ]  # fmt: skip
    if h.kind == "same value":
        says += f" {SAME}"
        for scene in scenes[:2]:
            scene["says"] = f"{who[scene['order'][0]]} comes first. {SAME}"
    words = [f"line {n}: {texts[n]}" for n in dict.fromkeys(lines) if texts.get(n)]
    phase = int(d["phase"]) if one_block else None
    return {
        "element": name, "who": who, "does": does, "lines": lines, "phase": phase, "scenes": scenes, "words": words,
        "says": says, "beside": _beside(report, h, does, lines) if one_block else None,
    }  # fmt: skip


def _outcome(who, does, order, name):
    """What becomes of one order, in a sentence."""
    first, second = order
    if does[second] == "reads":
        return f"{who[first]} comes first: {who[second]} reads what it {PAST[does[first]]}. Nothing makes sure of that."
    if does[first] == "reads":
        return f"{who[first]} comes first: it reads the old {name}. Nothing makes sure of that."
    if does[second] == "writes":
        return f"{who[second]} comes last: its number stays in {name}, the other's is lost. Nothing makes sure of that."
    return f"{who[second]} comes last, and changes what the other wrote. Nothing makes sure of that."


def _settled(who, does, one_block, lines):
    fence = "The barrier" if one_block else "The end of a launch"
    if "reads" in does:
        got = "the old number" if does[0] == "reads" else "the new number"
        text = f"{fence} orders the two: {who[does.index('reads')]} reads {got}, whatever the hardware does."
        split = " In one line: read into a variable, then the barrier, then write."
        return text + split * (one_block and lines[0] == lines[1])
    return (
        f"{fence} orders the two: the number of {who[1]} stays. If both are wanted, a barrier does not help: use "
        "cuda.atomic, or an element for each thread."
    )


# ------------------------------------------------------------------------------------------------ neighbours


def _beside(report, h, does, lines):
    """Return boxes and lines of the threads around the two, or None where the first block did not do this.

    {"boxes": [x, y, text, hot], "lines": [x1, y1, x2, y2, hot], "height", "rows": (what each row of threads does)}.
    """
    d, use = h.details, report.arrays.get(h.array)
    if use is None or any(d["block"]) or h.array not in {a.array for a in report.accesses}:
        return None
    pairs = []
    for line, did, thread in zip(lines, does, (d["other_thread"], d["thread"]), strict=True):
        key = h.function, line, h.array, WAYS[did]
        fit = [a for a in report.accesses if (a.function, a.line, a.array, a.way) == key and a.shape == use.shape]
        if len(use.shape) != len(d["index"]):
            return None
        wanted = int(np.ravel_multi_index(d["index"], use.shape))
        number = thread[0] + report.block[0] * (thread[1] + report.block[1] * thread[2])
        every = [dict(zip(a.thread.tolist(), a.element.tolist(), strict=True)) for a in fit]
        every = [there for there in every if there.get(number) == wanted]
        if not every:
            return None
        pairs.append((every[0], number))
    size = int(np.prod(use.shape))
    first = max(0, min(wanted - BESIDE // 2, size - BESIDE))
    shown = range(first, min(size, first + BESIDE))
    boxes = [[(e - first) * BOX, ROW + 18, _name(e, use.shape), e == wanted] for e in shown]
    edges = []
    for k, (there, number) in enumerate(pairs):
        own = sorted((t for t, e in there.items() if e in shown), key=lambda t: (abs(t - number), t))[:BESIDE]
        y = 18 + 2 * k * ROW
        for i, t in enumerate(sorted(own)):
            boxes.append([i * BOX, y, str(t), t == number])
            ends = (y + 18, ROW + 18) if k == 0 else (y, ROW + 36)
            edges.append([i * BOX + 20, ends[0], (there[t] - first) * BOX + 20, ends[1], t == number])
    rows = [f"threads: line {line} {did}" for line, did in zip(lines, does, strict=True)]
    return {"boxes": boxes, "lines": edges, "height": 2 * ROW + 56, "rows": rows}


def _name(number, shape):
    """What stands in an element's box: its index, of several axes the last one."""
    return f"[{number}]" if len(shape) < 2 else f"[{DOTS}{number % shape[-1]}]"


# ------------------------------------------------------------------------------------------------ static picture


def _static(facts):
    words = [part for text in facts["words"] for part in [cut(text, 56)]]
    beside = facts["beside"]
    height = 186 + 18 * len(words) + (beside["height"] + 22 if beside else 0)
    s = Panel(WIDTH, height)
    s.text(EDGE, 18, f"Two threads and {facts['element']}", bold=True)
    s.rect(2, 28, WIDTH - 4, 140, fill=style.tint("idle", 0.15), stroke="none", radius=4)
    phase = facts["phase"]
    s.text(EDGE, 44, "one launch" if phase is None else f"one phase: {_passed(phase)}", fill=style.MUTED)
    for k, x in enumerate((EDGE, WIDTH / 2 + 4)):
        s.rect(x, 52, WIDTH / 2 - 12, 52, fill=style.PAPER, stroke="thread", line=1.5)
        head = facts["who"][k]
        s.text(x + 6, 68, cut(head, 25), bold=True)
        s.text(x + 6, 83, cut(f"{facts['does'][k]} {facts['element']}", 27))
        s.text(x + 6, 98, f"line {facts['lines'][k]}", fill=style.MUTED)
        middle, side = (WIDTH / 4, WIDTH / 2 - 46) if k == 0 else (3 * WIDTH / 4, WIDTH / 2 + 46)
        ends = ((middle, 104), (side, 128))
        if facts["does"][k] == "reads":
            ends = ends[::-1]
        s.arrow(*ends[0], *ends[1], stroke="hazard", line=2)
    box = s.rect(WIDTH / 2 - 62, 128, 124, 20, fill=HOT, stroke="hazard")
    s.text(box.cx, 142, cut(facts["element"], 16), anchor="middle", bold=True)
    s.text(WIDTH / 2, 163, "no barrier between: either may come first", anchor="middle", bold=True)
    y = 186
    for text in words:
        s.text(EDGE, y, text)
        y += 18
    if beside:
        _draw_beside(s, beside, y)
    return figures.picture(s, alt=facts["says"], caption=facts["says"])


def _passed(phase):
    return "no barrier passed yet" if not phase else f"{phase} barrier{'s' * (phase != 1)} passed"


def _draw_beside(s, beside, y):
    s.text(EDGE, y + 12, beside["rows"][0], fill=style.MUTED)
    for x1, y1, x2, y2, hot in sorted(beside["lines"], key=lambda e: e[4]):
        s.line(x1 + EDGE, y + y1, x2 + EDGE, y + y2, stroke="hazard" if hot else "idle", line=3 if hot else 1)
    for x, top, text, hot in beside["boxes"]:
        fill = HOT if hot else style.PAPER if text.startswith("[") else WORKED
        s.rect(x + EDGE, y + top, 40, 18, fill=fill, stroke="hazard" if hot else "idle", line=2 if hot else 1)
        s.text(x + EDGE + 20, y + top + 13, cut(text, 6), anchor="middle")
    s.text(EDGE, y + beside["height"] - 2, beside["rows"][1], fill=style.MUTED)
