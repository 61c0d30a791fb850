"""Which lane of a warp holds which element of a tensor core's matrices, for lesson 17.

The map is the table by which the executor multiplies: `course_lib.cuda.fragments`. Source: NVIDIA, "PTX ISA", "Matrix
Fragments".
"""

import numpy as np

from course_lib.cuda.fragments import fragment
from course_lib.simt.show.panel import Panel

from . import style
from .live import live
from .picture import picture

KINDS = {"TF32, 16 × 8 × 8": "tf32", "FP16 and BF16, 16 × 8 × 16": "bf16"}
GAP = 12


def held(operand, kind):
    """Return the matrix of who holds what: 8 lane + 2 register + part, one whole number an element. No errors.

    `operand` is "a", "b" or "c", `kind` a format. Source: the course's own.
    """
    found = fragment(operand, kind)
    lane, register, part = np.indices(found.rows.shape)
    return found.scatter(8 * lane + 2 * register + part)


def fragment_map(lane=5, kind="bf16"):
    """Return a figure: the matrices of one operation, and in them what one lane holds; the reader chooses the lane.

    `lane` is 0 to 31, `kind` a value of `KINDS`, else ValueError. Source: NVIDIA, "PTX ISA", "Matrix Fragments".
    """
    kinds = list(KINDS.values())
    if lane not in range(32) or kind not in kinds:
        raise ValueError(
            f"lane is {lane!r} and kind is {kind!r}; lane must be 0 to 31, kind one of {', '.join(kinds)}."
        )
    maps = [
        {"name": name, "a": held("a", k).tolist(), "b": held("b", k).tolist(), "c": held("c", k).tolist()}
        for name, k in KINDS.items()
    ]
    data = {"maps": maps, "first": kinds.index(kind), "lane": lane}
    return live("fragment_map", data, title="Which lane holds which element?", static=_static(lane, kind))


def _static(lane, kind):
    a, b, c = (held(operand, kind) for operand in "abc")
    depth, cell = a.shape[1], 15
    x0, y0 = 8 + cell * depth + GAP, 22 + cell * depth + GAP
    s = Panel(x0 + cell * 8 + 16, y0 + cell * 16 + 8)
    drawn = ("A", a, "data", 8, y0), ("B", b, "weight", x0, 22), ("C, D", c, "output", x0, y0)
    for name, matrix, role, x, y in drawn:
        own = matrix // 8 == lane
        boxes = {(i, j): (x + cell * j, y + cell * i, cell, cell) for i, j in np.ndindex(matrix.shape)}
        s.cells([boxes[p] for p in boxes if not own[p]], fill=style.tint(role, 0.15))
        s.cells([boxes[p] for p in boxes if own[p]], fill=style.COLOURS[role])
        s.text(x, y - 6, name, bold=True)
    count = [int(np.count_nonzero(matrix // 8 == lane)) for matrix in (a, b, c)]
    says = f"Lane {lane} holds {count[0]} elements of A, {count[1]} of B and {count[2]} of C and D (dark)."
    return picture(s, alt=f"A is 16 by {depth}, B {depth} by 8, C and D 16 by 8. {says}", caption=says)
