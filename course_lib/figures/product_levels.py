"""A tile in a tile in a tile: what a block, a warp and a thread compute of a matrix product, and what each one reads.

Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA" (hierarchy of tiles).
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_count

from . import style
from .picture import picture

SIDE, BAR, STEP = 112, 15, 172
"""Pixels: the longer side of a tile, the bars of what is read, and from one level to the next."""

WORDS = (
    ("block", "far memory", "one warp"),
    ("warp", "shared memory", "one thread"),
    ("thread", "shared memory", "one sum, in a register"),
)
"""Who computes a tile, from where it reads, and what is coloured in it."""


def tile_levels(block, warp, thread):
    """Return a picture of the tiles of C that a block, a warp and a thread compute, each with what it reads for one k.

    Parameters
    ----------
    block, warp, thread : (rows, columns)
        Sizes of the tiles, in numbers of C. A thread's tile is drawn as rungs 6 to 8 of the ladder spread it: a
        quarter of it in each quarter of the warp's tile.

    Returns
    -------
    Picture

    Raises
    ------
    ValueError, TypeError
        A size that is no pair of whole numbers above 0; a warp's tile that does not divide the block's; a thread's that
        is odd, or of which 32 do not make up a warp's.

    Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
    """
    sizes = [_size(name, size) for name, size in (("block", block), ("warp", warp), ("thread", thread))]
    (M, N), (WM, WN), (TM, TN) = sizes
    if M % WM or N % WN:
        raise ValueError(f"warps of {WM} x {WN} do not fill a block of {M} x {N}: sizes must divide each other.")
    if TM % 2 or TN % 2 or WM % TM or WN % TN or WM * WN != 32 * TM * TN:
        raise ValueError(
            f"32 threads of {TM} x {TN} do not fill a warp of {WM} x {WN}: {32 * TM * TN} results against {WM * WN}, "
            "and sides must be even and divide each other."
        )
    s, says = Panel(WIDTH, 3 * STEP - 12), []
    inside = [_grid(0, 0, sizes[0], sizes[1]), _pieces(sizes[1], sizes[2]), _grid(0, 0, sizes[2], (1, 1))]
    for level, ((who, place, part), size, (first, others)) in enumerate(zip(WORDS, sizes, inside, strict=True)):
        _level(s, level * STEP, (who, place, part), size, first, others)
        says.append(f"a {who} {size[0]} × {size[1]}: {size[0]} + {size[1]} numbers from {place}")
    alt = f"Tiles of C in each other, and what each reads for one k. {'; '.join(says)}."
    return picture(s, alt=alt, caption="What a block, one of its warps and one of its threads compute of C")


def _level(s, y, words, size, first, others):
    """Draw a tile with bars of what it reads at its left and top, the next tile inside in colour, and words beside."""
    (who, place, part), (m, n) = words, size
    scale, left, top = SIDE / max(m, n), EDGE + BAR + 4, y + 24 + BAR + 4
    width, height = n * scale, m * scale
    s.text(EDGE, y + 16, f"a {who}: {m} × {n} results", bold=True)
    for name, role, bar in (("B", "weight", (left, top - BAR - 4, width, BAR)),
                            ("A", "data", (left - BAR - 4, top, BAR, height))):  # fmt: skip
        box = s.rect(*bar, fill=style.tint(role, 0.5), stroke=role)
        s.text(box.cx, box.cy + 4.3, name, anchor="middle")
    scaled = [[(left + c * scale, top + r * scale, w * scale, h * scale) for r, c, h, w in cells]
              for cells in (others, first)]  # fmt: skip
    s.cells(scaled[0])
    s.cells(scaled[1], fill=style.tint("output", 0.6), stroke=style.INK)
    s.rect(left, top, width, height, line=1.5)
    lines = (f"for one k: {m} + {n} numbers", f"from {place},", f"{m * n:,} multiply-adds;",
             f"a number of A serves {n}", f"results, one of B {m}")  # fmt: skip
    for k, line in enumerate(lines):
        s.text(left + SIDE + 14, top + 12 + 18 * k, line)
    s.text(left + SIDE + 14, top + 20 + 18 * len(lines), f"coloured: {part}", fill=style.MUTED)


def _grid(row, col, size, part):
    """Return the parts (row, column, height, width) of a tile: the first one, and all the others."""
    (m, n), (h, w) = size, part
    cells = [(row + r, col + c, h, w) for r in range(0, m, h) for c in range(0, n, w)]
    return cells[:1], cells[1:]


def _pieces(warp, thread):
    """Return the four quarters of the first lane's tile, one in each quarter of the warp's, and those of the others."""
    (m, n), (h, w) = warp, (thread[0] // 2, thread[1] // 2)
    corners = [(r, c) for r in (0, m // 2) for c in (0, n // 2)]
    cells = [(r, c, h, w) for r in range(0, m, h) for c in range(0, n, w)]
    return [(r, c, h, w) for r, c in corners], [cell for cell in cells if cell[:2] not in corners]


def _size(name, size):
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TypeError(f"{name} is {size!r}; it must be (rows, columns) of a tile.")
    return tuple(require_count(f"{part} of {name}", v) for part, v in zip(("rows", "columns"), size, strict=True))
