"""Figures of lesson 15: tiles as blocks numbered them, what kernels move on one scale, an error at the seams.

Every number drawn here comes from a report of the executor, or from arrays that kernels wrote.
"""

import numpy as np

from . import style
from .picture import picture
from .svg import Svg

STEP = 16  # pixels of an output in the drawing of tiles
DOT = 7  # and in the maps
GREYS = 8
BAR, NAMES = 215, 118  # pixels of the longest bar, and of what stands left of it


def blocks_along_y(report, array="y"):
    """Return an int array (H_out, W_out): which block along the grid's Y wrote each output of image 0, map 0.

    Parameters
    ----------
    report : simt.Report
        Of a kernel that writes `array`, (B, M, H_out, W_out).

    Raises
    ------
    ValueError
        If nobody wrote one of the outputs, or nobody looked who wrote them.
    """
    shape = report.arrays[array].shape[2:]
    wrote = {at: report.writer(array, (0, 0, *at)) for at in np.ndindex(shape)}
    if missing := [at for at, who in wrote.items() if who is None]:
        raise ValueError(f"nobody is known to have written {array}[0, 0, {missing[0][0]}, {missing[0][1]}].")
    return np.array([block[1] for block, _ in wrote.values()]).reshape(shape)


def tiles(report, array="y"):
    """Return a picture of an output map with a frame around what each block along Y wrote, and the block's number.

    Parameters
    ----------
    report : simt.Report
        As of `blocks_along_y`. ValueError as there, and if the outputs of a block are no rectangle.
    """
    number = blocks_along_y(report, array)
    rows, columns = number.shape
    svg = Svg(columns * STEP + 16, rows * STEP + 16)
    lines = [f"M{8 + STEP * j} 8v{STEP * rows}" for j in range(columns + 1)]
    lines += [f"M8 {8 + STEP * i}h{STEP * columns}" for i in range(rows + 1)]
    svg.path(lines, stroke=style.GRID)
    firsts = []
    for block in np.unique(number):
        i, j = np.nonzero(number == block)
        (top, bottom), (left, right) = (i.min(), i.max() + 1), (j.min(), j.max() + 1)
        if (bottom - top) * (right - left) != i.size:
            raise ValueError(f"block {block} wrote {i.size} outputs, which are no rectangle.")
        place = 8 + STEP * left, 8 + STEP * top, STEP * (right - left), STEP * (bottom - top)
        svg.rect(*place, fill=style.tint("thread"), stroke="thread", line=2)
        svg.text(place[0] + place[2] / 2, place[1] + place[3] / 2 + 6, str(block), anchor="middle", size=18, bold=True)
        firsts.append((top, left))
    across = len({left for _, left in firsts})
    return picture(
        svg,
        alt=f"An output map of {rows} by {columns}: {across} tiles in a row, {len(firsts) // across} rows of them, "
        f"numbered {number.min()} to {number.max()} "
        + ("row by row." if firsts == sorted(firsts) else "in another order than row by row."),
        caption="The number is that of the block along the grid's y axis which wrote the outputs.",
    )


def movement(counted, names):
    """Return a picture of bytes in ways to compute a layer, all on one scale: what is asked for, and what must travel.

    Parameters
    ----------
    counted : dict of str to Counted
        As `course_lib.lesson.count_layer` returns.
    names : dict of str to str
        {name of a way: what to call it}, in the order of the picture. KeyError for a way that was not counted.
    """
    ways = [(called, counted[name]) for name, called in names.items()]
    scale = BAR / max(max(way.asked, way.travels) for _, way in ways)
    svg = Svg(NAMES + BAR + 84, 40 * len(ways) + 60)
    words = {"data": "asked of the caches", "hazard": "must come from the card's memory, or go there"}
    for y, (role, said) in zip((14, 34), words.items(), strict=True):
        svg.rect(8, y - 9, 22, 10, fill=role, stroke="none")
        svg.text(36, y, said)
    for k, (called, way) in enumerate(ways):
        top = 52 + 40 * k
        svg.text(NAMES - 8, top + 18, called, anchor="end")
        for y, size, role in ((top, way.asked, "data"), (top + 14, way.travels, "hazard")):
            svg.rect(NAMES, y, max(scale * size, 1), 11, fill=role, stroke="none")
            svg.text(NAMES + max(scale * size, 1) + 6, y + 10, f"{size / 1000:,.0f} KB")
    told = "; ".join(f"{called} {w.asked / 1000:,.0f} and {w.travels / 1000:,.0f}" for called, w in ways)
    worst = max(ways, key=lambda way: way[1].travels)
    return picture(
        svg,
        alt=f"Bytes asked of the caches, and bytes that must travel, in KB an image: {told}. "
        f"{worst[0].capitalize()} has the most to send to memory and back.",
        caption="One image through layer C1, all bars on one scale, counted by the executor.",
    )


def seams(right, wrong):
    """Return a picture of a map (H, W) and, beside it, of the places where another one differs from it.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    right, wrong = np.asarray(right, float), np.asarray(wrong, float)
    if right.shape != wrong.shape or right.ndim != 2:
        raise ValueError(f"the maps are {right.shape} and {wrong.shape}; they must be two maps of one shape.")
    rows, columns = right.shape
    svg = Svg(2 * DOT * columns + 32, DOT * rows + 36)
    places = 8, 8 + DOT * columns + 16
    for x, words in zip(places, ("with its halo", "where it is wrong without"), strict=True):
        svg.text(x, 16, words, bold=True)
        svg.rect(x, 24, DOT * columns, DOT * rows, stroke=style.GRID)
    level = np.rint((GREYS - 1) * (right - right.min()) / (np.ptp(right) or 1.0)).astype(int)
    for k in range(1, GREYS):
        svg.path(_squares(level == k, places[0]), fill=style.tint("data", k / (GREYS - 1)))
    off = wrong != right
    svg.path(_squares(off, places[1]), fill="hazard")
    whole = off.all(axis=1)  # rows that are wrong from end to end
    cross = np.array_equal(off, whole[:, None] | off.all(axis=0))
    where = f"rows and columns {_runs(np.flatnonzero(whole))}, and no other" if cross and off.any() else "no whole rows"
    return picture(
        svg,
        alt=f"Left a map of {rows} by {columns}. Right the {off.sum()} outputs that are wrong: {where}.",
        caption=f"{off.sum()} of {off.size} outputs are wrong.",
    )


def _squares(which, left):
    """Runs of marked places in a row, as one path."""
    steps = []
    for i, row in enumerate(which):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
        for first, end in edges.reshape(-1, 2):
            wide = DOT * (end - first)
            steps.append(f"M{left + DOT * first} {24 + DOT * i}h{wide}v{DOT}h{-wide}z")
    return steps


def _runs(numbers):
    """[4, 5, 6, 9] as "4 to 6, 9"."""
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return ", ".join(f"{p[0]} to {p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts)
