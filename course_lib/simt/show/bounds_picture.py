"""An index out of bounds as a picture: the end of the array's axis, and the thread that goes beyond it.

Source: the course's own. Axis, size, index and thread are the facts that the executor recorded with the finding.
"""

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.show.launch_map import brief
from course_lib.simt.show.map_sheet import DOTS, cut
from course_lib.simt.show.panel import EDGE, WIDTH, WORKED, Panel

KINDS = "out of bounds", "negative index"
CELL, MOST = 42, 9
HOT = style.tint("hazard", 0.4)


def bounds_picture(report, hazard):
    """Return a picture of the end of an axis and of the index that lies beyond it.

    Parameters
    ----------
    report : Report
    hazard : Hazard
        Of the kind "out of bounds" or "negative index".

    Returns
    -------
    figures.Picture

    Raises
    ------
    ValueError
        If the finding is of another kind, or does not say the index.

    Source: the course's own.
    """
    d = hazard.details
    if hazard.kind not in KINDS or not {"index", "size", "thread", "block"} <= d.keys():
        raise ValueError(f"a finding of the kind {hazard.kind!r} has no index beyond an array's end.")
    index, size, axis = int(d["index"]), int(d["size"]), int(d.get("axis", 0))
    who = f"thread {brief(d['thread'], report.block)} of block {brief(d['block'], report.grid)}"
    several = len(shape) > 1 if (shape := _shape(report, hazard.array)) else axis > 0
    along = f"axis {axis} of {hazard.array}" if several else hazard.array
    text = next((x.text.strip() for x in report.lines if (x.function, x.number) == (hazard.function, hazard.line)), "")
    cells = neighbours(index, size)
    s = Panel(WIDTH, 156)
    s.text(EDGE, 18, f"{cut(along, 34)}: {size:,} elements", bold=True)
    s.text(EDGE, 36, cut(f"line {hazard.line}: {text}", 56), fill=style.MUTED)
    left = EDGE + 4
    for k, number in enumerate(cells):
        x = left + k * CELL
        if number is None:
            s.text(x + CELL / 2, 66, DOTS, anchor="middle")
            continue
        inside, hit = 0 <= number < size, number == index
        s.rect(x, 50, CELL, 24, fill=HOT if hit else WORKED if inside else style.PAPER,
               stroke="hazard" if hit else "thread" if inside else "idle", dashed=not inside, line=1.5)  # fmt: skip
        s.text(x + CELL / 2, 66, f"{number}", anchor="middle", bold=hit)
        if hit:
            s.arrow(x + CELL / 2, 104, x + CELL / 2, 76, stroke="hazard", line=2)
            near = "start" if k < 3 else "end" if k > 5 else "middle"
            s.text({"start": left, "end": WIDTH - EDGE, "middle": x + CELL / 2}[near], 118, who, anchor=near, bold=True)
        if number == (size if index >= 0 else 0) and size:
            s.line(x, 44, x, 82, line=3)
    wraps = hazard.kind == "negative index"
    what = f"index {index} counts from the end: it is element {index + size}." if wraps else (
        f"there is no element {index}: a GPU would touch whatever lies there."
    )  # fmt: skip
    s.text(EDGE, 146, what[0].upper() + what[1:])
    last = f"elements 0 to {size - 1:,}" if size else "no element"
    times = f" It happens {hazard.count:,} times." if hazard.count > 1 else ""
    says = f"{along} has {last}; in line {hazard.line} {who} uses index {index}: {what}{times}"
    return figures.picture(s, alt=says, caption=says)


def neighbours(index, size):
    """Return the numbers around an axis's end and an index beyond it, None where some are left out; MOST at most.

    Source: the course's own. No errors are raised.
    """
    if index >= size:
        inside = list(range(max(0, size - 5), size))
        beyond = list(range(size, index + 1)) if index - size < 3 else [size, None, index]
        return [*([None] if size > 5 else []), *inside[-4:], *beyond]
    beyond = list(range(index, 0)) if index >= -3 else [index, None, -1]
    return [*beyond, *range(min(size, 4)), *([None] if size > 4 else [])]


def _shape(report, array):
    use = report.arrays.get(array)
    return use.shape if use is not None else ()
