"""The map of an access to global memory: the array with its lanes and sectors, and below it all that is moved.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses". Where neighbours in a row are no neighbours in
memory (a strided view, Fortran order), only the lower half shows what is moved.
"""

import numpy as np

from course_lib.figures import style
from course_lib.figures.svg import text_width
from course_lib.simt.lanes import WARP
from course_lib.simt.show.map_numbers import label
from course_lib.simt.show.map_sheet import CELL, DOTS, EDGE, HIGH, IN_VAIN, MORE_ROWS, TIMES, TOUCHED, WIDTH, pick
from course_lib.simt.show.wording import count
from course_lib.simt.traffic import SECTOR

MOST_ROWS, MOST_SECTOR_ROWS = 9, 12
ROW_OF_1D = 32
"""A long array with one axis is written in lines of so many elements."""


def draw_global(s, n, text):
    """Draw a `GlobalAccess` n on a `Sheet` s; returns the height that it takes. Source: the course's own."""
    y = s.title(n.access, text)
    y = _array(s, n, y)
    y = _sectors(s, n, y + 14)
    lanes = [label([t % WARP for t in who]) for who in n.lanes_of(n.element).values()]
    items = [("3", TOUCHED, "lane 3 of the warp touches it")] * any(w.isdigit() for w in lanes)
    items += [("0\N{EN DASH}3", TOUCHED, "lanes 0 to 3 touch it")] * any("\N{EN DASH}" in w for w in lanes)
    items += [(f"4{TIMES}", TOUCHED, "4 lanes touch it")] * any(TIMES in w for w in lanes)
    items += [("", IN_VAIN, "moved, but no lane of the warp uses it")] * (n.used < n.moved)
    items += [("|", style.PAPER, "a sector of 32 bytes begins")] * (n.base is not None)
    return s.legend(items, y + 10)


def _array(s, n, y):
    size = int(np.prod(n.access.shape))
    across, long = _columns(n)
    moved = _moved_elements(n, size)
    lanes = {e: label([t % WARP for t in who]) for e, who in n.lanes_of(n.element).items()}
    rows = pick(np.unique(n.element // across).tolist(), -(-size // across), MOST_ROWS)
    names = {r: _row_name(r, n.access.shape, across, long) for r in rows if r is not None}
    left = EDGE + max(text_width(name) for name in names.values()) + 8
    cell = max(CELL, max(text_width(t) for t in lanes.values()) + 4)
    room = int((WIDTH - EDGE - left) / cell) - 2
    columns = pick(list(range(across)) if across <= room else np.unique(moved % across).tolist(), across, room)
    _column_names(s, columns, left, cell, y + 12, long)
    y += 18
    moved, texts = set(moved.tolist()), []
    for row in rows:
        if row is None:
            s.text(left + cell / 2, y + 11, MORE_ROWS, anchor="middle", bold=True)
            y += HIGH
            continue
        s.text(left - 6, y + 13, names[row], anchor="end", fill=style.MUTED)
        for i, column in enumerate(columns):
            x, element = left + i * cell, row * across + (column or 0)
            if column is None:
                s.text(x + cell / 2, y + 12, DOTS, anchor="middle")
            elif element < size:
                texts += _cell(s, x, y, cell, lanes.get(element), element in moved)
                if n.base is not None and (n.base + element * n.itemsize) % SECTOR < n.itemsize:
                    s.box("start", x, y, 0, HIGH)
        y += HIGH
    s.write(texts)
    return y


def _columns(n):
    """Return (how many columns an array is drawn in, whether it is a long one with one axis)."""
    shape = n.access.shape
    if len(shape) > 1:
        return shape[-1], False
    return (ROW_OF_1D, True) if shape[0] > ROW_OF_1D else (shape[0], False)


def _moved_elements(n, size):
    """Return the row-major numbers of the elements that lie in a moved sector, where that can be told."""
    if n.base is None:
        return np.unique(n.element)
    first = np.array(n.touched)[:, None] * SECTOR + np.arange(0, SECTOR, n.itemsize) - n.base
    every = np.unique(np.append(first.ravel() // n.itemsize, n.element))
    return every[(every >= 0) & (every < size)]


def _cell(s, x, y, width, lanes, moved):
    s.box("touched" if lanes else "in vain" if moved else "other", x, y, width, HIGH)
    return [(x + width / 2, y + 13, lanes)] if lanes and text_width(lanes) <= width + 2 else []


def _row_name(row, shape, across, long):
    if long:
        return f"from {row * across}"
    if len(shape) == 1:
        return ""
    return "[" + ", ".join(str(int(i)) for i in np.unravel_index(row, shape[:-1])) + ", :]"


def _column_names(s, columns, left, cell, y, long):
    before, end = None, 0
    for i, column in enumerate(columns):
        name, middle = f"{'+' if long else ''}{column}", left + (i + 0.5) * cell
        half = text_width(name) / 2
        if column is not None and (before is None or column % 8 == 0) and middle - half > end:
            s.text(middle, y, name, anchor="middle", fill=style.MUTED)
            end = middle + half + 3
        before = column


def _sectors(s, n, y):
    s.text(EDGE, y + 12, f"What is moved: {count(n.sectors, 'sector')}, {n.moved:,} bytes", bold=True)
    s.text(WIDTH - EDGE, y + 12, f"used: {n.used:,} bytes", anchor="end")
    y += 22
    slots = max(1, SECTOR // n.itemsize)
    held = n.lanes_of(n.address // n.itemsize * n.itemsize if slots * n.itemsize == SECTOR else n.address)
    words = {address: label([t % WARP for t in who]) for address, who in held.items()}
    names = {sector: _sector_name(n, sector) for sector in n.touched}
    name = max(text_width(t) for t in names.values()) + 6
    slot = max(160 / slots, max(text_width(t) for t in words.values()) + 4 if slots <= 8 else 0)
    wide = name + slot * slots + 14
    across = max(1, int((WIDTH - 2 * EDGE + 14) // wide))
    shown, texts = n.touched[: across * MOST_SECTOR_ROWS], []
    for i, sector in enumerate(shown):
        x, top = EDGE + i % across * wide, y + i // across * (HIGH + 5)
        s.text(x + name - 6, top + 13, names[sector], anchor="end", fill=style.MUTED)
        for k in range(slots):
            texts += _cell(s, x + name + k * slot, top, slot, words.get(sector * SECTOR + k * n.itemsize), True)
        s.box("outline", x + name, top, slot * slots, HIGH)
    s.write(texts)
    y += -(-len(shown) // across) * (HIGH + 5)
    if len(shown) < n.sectors:
        s.text(EDGE, y + 12, f"{DOTS} and {count(n.sectors - len(shown), 'more sector')}")
        y += 18
    return y


def _sector_name(n, sector):
    """Return the index of the first element that lies in a sector."""
    if n.base is not None:
        element = max(0, -(-(sector * SECTOR - n.base) // n.itemsize))
    else:
        element = int(n.element[n.address // SECTOR == sector].min(initial=n.element.max()))
    index = np.unravel_index(min(element, int(np.prod(n.access.shape)) - 1), n.access.shape)
    return "[" + ", ".join(str(int(i)) for i in index) + "]"
