"""The tree of a reduction: levels as rows, elements of a shared array as columns, an edge for what a lane put together.

Source: the course's own; M. Harris, "Optimizing Parallel Reduction in CUDA".
"""

from course_lib.figures.live import live
from course_lib.figures.picture import picture
from course_lib.figures.svg import Svg
from course_lib.simt.trace.levels import levels_of

WIDTH, LEFT, RIGHT, ROW, TOP = 640, 14, 196, 38, 34
"""Pixels of the picture: its width, its sides, a level, the head."""


def tree(trace, array=None):
    """Return the Live figure of a reduction that a trace of all warps of a block has (`levels.levels_of`: errors).

    Source: the course's own.
    """
    name, filled, levels = levels_of(trace, array)
    used = {e for level in levels for element, sources in level.edges.values() for e in (element, *sources)}
    columns = max(used) + 1
    data = {
        "array": name, "columns": columns, "filled": sorted(e for e in filled if e < columns),
        "levels": [
            {"line": v.line, "lanes": v.lanes, "warps": v.warps, "split": v.split, "raced": v.raced,
             "edges": [[lane, element, list(sources)] for lane, (element, sources) in v.edges.items()],
             "words": level_in_words(v, k, name)}
            for k, v in enumerate(levels)
        ],
        "summary": in_words(name, levels),
    }  # fmt: skip
    title = f"{trace.kernel}, block {trace.place}: how {name} is put together"
    return live("tree", data, title=title, static=_picture(name, columns, filled, levels))


def level_in_words(level, k, name):
    """Return what a level does. No errors."""
    lane, (element, sources) = next(iter(level.edges.items()))
    lanes, warps = _many(level.lanes, "lane"), _many(level.warps, "warp")
    some = f"{level.split} of them with" if level.split < level.warps else "each with"
    some = "which has" if level.warps == 1 else some
    inside = f", {some} idle lanes" if level.split else ""
    example = f"lane {lane} puts {' and '.join(f'{name}[{s}]' for s in sources)} into {name}[{element}]"
    race = " There is a race in this level: no barrier orders it." if level.raced else ""
    return f"Level {k + 1}, line {level.line}: {lanes} in {warps}{inside}; {example}.{race}"


def in_words(name, levels):
    """Return the counted numbers of a whole tree as a sentence. No errors."""
    lanes, warps = sum(v.lanes for v in levels), sum(v.warps for v in levels)
    split = sum(v.split for v in levels)
    return (
        f"{_many(len(levels), 'level')}, {_many(lanes, 'operation')}: {_many(warps, 'time')} a warp issues the "
        f"instruction, {split} of them with idle lanes."
    )


def _many(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _picture(name, columns, filled, levels):
    svg = Svg(WIDTH, TOP + ROW * len(levels) + 20)
    wide = (WIDTH - LEFT - RIGHT) / columns
    box = max(1.5, min(10, wide - 1))

    def x(element):
        return round(LEFT + (element + 0.5) * wide, 1)

    def squares(elements, y):
        return [f"M{round(x(e) - box / 2, 1)} {y - 4}h{round(box, 1)}v8h-{round(box, 1)}z" for e in sorted(elements)]

    svg.text(LEFT, 14, f"{name}[0]")
    svg.text(WIDTH - RIGHT, 14, f"{name}[{columns - 1}]", anchor="end")
    svg.path(squares((e for e in filled if e < columns), TOP), fill="idle")
    for k, level in enumerate(levels):
        y = TOP + ROW * (k + 1)
        lines = [
            f"M{x(s)} {y - ROW + 4}L{x(element)} {y - 4}" for element, sources in level.edges.values() for s in sources
        ]
        role = "hazard" if level.raced else "data"
        svg.path(lines, stroke=role, line=0.8 if columns > 64 else 1.2, dashed=level.raced)
        svg.path(squares((element for element, _ in level.edges.values()), y), fill="output")
        words = f"{_many(level.lanes, 'lane')}, {_many(level.warps, 'warp')}"
        more = ", race" if level.raced else ", idle lanes" if level.split else ""
        svg.text(WIDTH - RIGHT + 12, y + 4, words + more)
    summary = in_words(name, levels)
    return picture(svg, alt=f"A tree over {columns} elements of {name}. {summary}", caption=summary)
