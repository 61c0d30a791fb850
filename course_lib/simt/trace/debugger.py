"""The step debugger: a trace as a figure that the reader walks through in the page.

Source: the course's own.
"""

import textwrap

from course_lib.figures.live import MAX_HTML, live
from course_lib.simt.trace.lane_states import MEANINGS
from course_lib.simt.trace.still import still
from course_lib.simt.trace.trace import warps_in_words
from course_lib.simt.trace.words import said


def debugger(trace):
    """Return the Live figure of a trace; without a script, the picture of its most telling step.

    Raises
    ------
    ValueError
        If it takes more than a page holds.

    Source: the course's own.
    """
    d = trace.document
    data = {
        "kernel": d["kernel"], "warps": d["warps"], "threads": d["threads"], "arrays": d["arrays"],
        "frames": d["frames"], "lines": {name: lines_of(d, name) for name in d["functions"]},
        "steps": [{k: v for k, v in step.items() if k != "set" or v} for step in d["steps"]],
        "say": [said(d, n) for n in range(len(d["steps"]))], "watch": list(trace.watched), "at": trace.telling,
        "means": MEANINGS,
    }  # fmt: skip
    try:
        return live("debugger", data, title=title_of(trace), static=still(trace))
    except ValueError as error:
        if "limit" not in str(error):
            raise
        raise ValueError(
            f"{error}. The trace has {len(trace):,} steps. Follow one warp, take a smaller input, or fewer steps: "
            f"gpu.trace(..., steps=200). A page holds {MAX_HTML:,} bytes; trace.steps and trace.save work all the same."
        ) from None


def title_of(trace):
    """Return "transpose, block (1, 0, 0), warp 1, step by step". No errors."""
    return f"{trace.kernel}, block {trace.place}, {warps_in_words(trace.warps)}, step by step"


def lines_of(document, function):
    """Return [(number, text)] of a function, without the indentation that all its lines share. No errors."""
    lines = sorted((int(n), t) for n, t in document["functions"][function].items())
    texts = textwrap.dedent("\n".join(t.rstrip() for _, t in lines)).split("\n")
    return [[n, text] for (n, _), text in zip(lines, texts, strict=True)]
