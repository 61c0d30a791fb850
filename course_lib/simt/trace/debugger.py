"""The step debugger: a trace as a figure that the reader walks through in the page.

Source: the course's own.
"""

import textwrap

from course_lib.figures.live import live
from course_lib.simt.trace.lane_states import MEANINGS
from course_lib.simt.trace.still import still
from course_lib.simt.trace.trace import warps_in_words
from course_lib.simt.trace.words import said

FEWEST = 20
"""Steps that a page must hold; below, nothing is to be seen."""


def debugger(trace):
    """Return the Live figure of a trace; without a script, the picture of its most telling step.

    Of a trace that is too long for a page it has the first steps, and says how many.

    Raises
    ------
    ValueError
        If not even twenty steps fit.

    Source: the course's own.
    """
    count, static = len(trace), still(trace)
    words = [said(trace.document, n) for n in range(count)]
    while True:
        first = f": the first {count:,} of {len(trace):,} steps" if count < len(trace) else ""
        try:
            return live("debugger", _data(trace, words[:count]), title=title_of(trace) + first, static=static)
        except ValueError as error:
            if "the limit is" not in str(error):
                raise
            if count <= FEWEST:
                raise ValueError(
                    f"{error}. Follow one warp, or take a smaller input; trace.steps and trace.save work all the same."
                ) from None
            count = max(FEWEST, count * 3 // 4)


def _data(trace, words):
    """Return what the script draws of the first steps: as many as there are `words`."""
    d = trace.document
    return {
        "kernel": d["kernel"], "block": d["block"], "warps": d["warps"], "threads": d["threads"],
        "arrays": d["arrays"], "frames": d["frames"], "lines": {name: lines_of(d, name) for name in d["functions"]},
        "steps": d["steps"][: len(words)], "say": words, "watch": list(trace.watched),
        "at": min(trace.telling, len(words) - 1), "means": MEANINGS,
    }  # fmt: skip


def title_of(trace):
    """Return "transpose, block (1, 0, 0), warp 1, step by step". No errors."""
    return f"{trace.kernel}, block {trace.place}, {warps_in_words(trace.warps)}, step by step"


def lines_of(document, function):
    """Return [(number, text)] of a function, without the indentation that all its lines share. No errors."""
    lines = sorted((int(n), t) for n, t in document["functions"][function].items())
    texts = textwrap.dedent("\n".join(t.rstrip() for _, t in lines)).split("\n")
    return [[n, text] for (n, _), text in zip(lines, texts, strict=True)]
