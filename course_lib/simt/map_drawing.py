"""How a memory map is drawn: the array with the lanes that touch it, and below it the sectors or the banks.

Source: the course's own. A cell that is touched carries its lanes as text, one that is only moved is shaded, one that
is neither stays white: the map reads without colour too.
"""

import numpy as np

from course_lib.figures import Svg, style
from course_lib.figures.svg import text_width
from course_lib.simt.lanes import WARP
from course_lib.simt.map_numbers import GlobalAccess, SharedAccess, label
from course_lib.simt.traffic import BANKS, SECTOR, WORD
from course_lib.simt.wording import count

WIDTH, EDGE = 760, 10
CELL, HIGH = 19, 17
"""Pixels of a cell, at least as wide and just as high."""

MOST_ROWS, MOST_SHARED_ROWS, MOST_SECTOR_ROWS = 9, 33, 12
ROW_OF_1D = 32
"""A long array with one axis is written in lines of so many elements."""

TOUCHED, IN_VAIN = style.tint("thread", 0.45), style.tint("hazard", 0.3)
TIMES, DOTS = "\N{MULTIPLICATION SIGN}", "\N{HORIZONTAL ELLIPSIS}"
LOOKS = {
    "other": dict(fill=style.PAPER, stroke=style.GRID),
    "in vain": dict(fill=IN_VAIN, stroke=style.COLOURS["idle"]),
    "touched": dict(fill=TOUCHED, stroke=style.COLOURS["thread"]),
    "outline": dict(fill="none", stroke=style.INK, stroke_width=1.5),
    "start": dict(fill="none", stroke=style.INK, stroke_width=2.5),
}
"""How cells and lines look, in the order in which they are drawn on top of each other."""


class Sheet(Svg):
    """A drawing with many boxes of few looks: all boxes of a look are one path, so that a map stays small.

    Source: the course's own.
    """

    def __init__(self, *size, **head):
        super().__init__(*size, **head)
        self._boxes = {look: [] for look in LOOKS}

    def box(self, look, x, y, width, height):
        """Add a box of a look of `LOOKS`; one without width is a line."""
        self._inside("a cell", (x, y), (x + width, y + height))
        x, y, width, height = (f"{round(float(v), 1):g}" for v in (x, y, width, height))
        self._boxes[look].append(f"M{x} {y}v{height}" + (f"h{width}v-{height}z" if width != "0" else ""))

    def draw_boxes(self):
        """Draw the boxes that were added so far; what is drawn later lies on top."""
        for look, boxes in self._boxes.items():
            if boxes:
                self._add("path", d="".join(boxes), **LOOKS[look])
        self._boxes = {look: [] for look in LOOKS}


def draw(numbers, text, size=None):
    """Return the Svg of a `GlobalAccess` or `SharedAccess`; `text` is the source line, `size` a sheet to fill.

    Source: the course's own.
    """
    make = _draw_shared if isinstance(numbers, SharedAccess) else _draw_global
    height = make(Sheet(WIDTH, 4000), numbers, text)
    sheet = Sheet(*(size or (WIDTH, height)), title=f"Memory map of {numbers.access.array}", desc=numbers.finding)
    make(sheet, numbers, text)
    return sheet


def _title(s, numbers, text):
    a = numbers.access
    name = f"{_cut(a.array, 24)} {a.shape}"
    s.text(EDGE, 20, name, bold=True)
    left = EDGE + text_width(name) * 1.1 + 12
    room = int((WIDTH - left - EDGE) / text_width("m"))
    if room > 12:
        s.text(left, 20, _cut(f"line {a.line}: {text}", room), fill=style.MUTED)
    return 34


def _cut(text, length):
    return text if len(text) <= length else text[: length - 1] + DOTS


def pick(touched, size, most):
    """Return which of `size` rows or columns are drawn, ascending, with None where some are left out.

    All that are touched, and one more where there is one. With the gaps between them, more than `most` + 2 are too
    many: then the first and the last two are drawn.

    Source: the course's own.
    """
    drawn, keep = _with_gaps([*touched, *(t + 1 for t in touched[-1:] if t + 1 < size)], size), most - 2
    if len(drawn) > most + 2:
        drawn = _with_gaps(touched, size)
    while len(drawn) > most + 2:
        drawn = _with_gaps(sorted({*touched[:keep], *touched[-2:]}), size)
        keep -= 1
    return drawn


def _with_gaps(wanted, size):
    out, before = [], -1
    for w in wanted:
        if w - before == 2:
            out.append(w - 1)
        elif w - before > 2:
            out.append(None)
        out.append(w)
        before = w
    return out + [None] * (before < size - 1)


# ------------------------------------------------------------------------------------------------ global memory


def _draw_global(s, n: GlobalAccess, text):
    y = _title(s, n, text)
    y = _array(s, n, y)
    y = _sectors(s, n, y + 14)
    lanes = [label([t % WARP for t in who]) for who in n.lanes_of(n.element).values()]
    items = [("3", TOUCHED, "lane 3 of the warp touches it")] * any(w.isdigit() for w in lanes)
    items += [("0\N{EN DASH}3", TOUCHED, "lanes 0 to 3 do")] * any("\N{EN DASH}" in w for w in lanes)
    items += [(f"4{TIMES}", TOUCHED, "4 lanes do")] * any(TIMES in w for w in lanes)
    items += [("", IN_VAIN, "moved, but no lane of the warp uses it")] * (n.used < n.moved)
    items += [("|", style.PAPER, "a sector of 32 bytes begins")] * (n.base is not None)
    return _legend(s, items, y + 10)


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
            s.text(left + cell / 2, y + 11, "\N{VERTICAL ELLIPSIS}", anchor="middle", bold=True)
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
    _write(s, texts)
    return y


def _write(s, texts):
    """Draw the boxes, and the words on top of them; texts are (x, y, word)."""
    s.draw_boxes()
    for x, y, word in texts:
        s.text(x, y, word, anchor="middle")


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
    _write(s, texts)
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


# ------------------------------------------------------------------------------------------------ shared memory


def _draw_shared(s, n: SharedAccess, text):
    y = _title(s, n, text) + 6
    held = n.lanes_of(n.address)
    lanes = {}
    for address, who in held.items():
        for word in n.words(address).tolist():
            lanes.setdefault(word, set()).update(t % WARP for t in who)
    first, last = _extent(n)
    rows = [None if r is None else r + first for r in pick(_rows(lanes, first), last - first + 1, MOST_SHARED_ROWS)]
    left = WIDTH - EDGE - BANKS * CELL
    s.text(left - 6, y + 12, "bank", anchor="end", bold=True)
    for bank in range(BANKS):
        s.text(left + (bank + 0.5) * CELL, y + 12, bank, anchor="middle", fill=style.MUTED)
    y += 17
    starts, texts, notes = _row_starts(n), [], []
    for row in rows:
        if row is None:
            s.text(left + CELL / 2, y + 11, "\N{VERTICAL ELLIPSIS}", anchor="middle", bold=True)
            y += HIGH - 3
            continue
        s.text(left - 6, y + 12, f"word {row * BANKS}", anchor="end", fill=style.MUTED)
        for word in range(row * BANKS, (row + 1) * BANKS):
            x, who = left + word % BANKS * CELL, sorted(lanes.get(word, ()))
            s.box("touched" if who else "other", x, y, CELL, HIGH - 2)
            if who:
                texts.append((x + CELL / 2, y + 12, _few(who)))
                beside = f"lanes {label(who)}"
                free = int(min((row + 1) * BANKS, word + 2 + text_width(beside) // CELL)) - word
                if len(who) > 2 and free * CELL > text_width(beside) and not {*range(word + 1, word + free)} & {*lanes}:
                    notes.append((x + CELL + 4, y + 12, beside))
            if word in starts:
                s.box("start", x, y, 0, HIGH - 2)
        y += HIGH - 2
    _write(s, texts)
    for note in notes:
        s.text(*note)
    y = _wanted(s, n, left, y + 8)
    items = [("3", TOUCHED, "lane 3 of the warp wants this word")] * any(len(who) == 1 for who in lanes.values())
    items += [(f"4{TIMES}", TOUCHED, "4 lanes want it")] * any(1 < len(who) < 10 for who in lanes.values())
    items += [(TIMES, TOUCHED, "10 lanes or more want it")] * any(len(who) >= 10 for who in lanes.values())
    items += [("|", style.PAPER, "a row of the array begins")] * bool(starts)
    items += [("2", IN_VAIN, "a bank must give several words")] * bool(n.conflicts)
    return _legend(s, items, y + 10)


def _few(lanes):
    """Return who wants a word in two characters."""
    return str(lanes[0]) if len(lanes) == 1 else f"{len(lanes) if len(lanes) < 10 else ''}{TIMES}"


def _rows(lanes, first):
    return sorted({word // BANKS - first for word in lanes})


def _extent(n):
    """Return the first and the last row of banks that the array lies in."""
    base = int((n.address - n.element * n.itemsize).min())
    size = int(np.prod(n.access.shape)) * n.itemsize
    return max(0, base) // (BANKS * WORD), (base + size - 1) // (BANKS * WORD)


def _row_starts(n):
    """Return the words where a row of an array with several axes begins, as far as rows begin with a word."""
    shape, base = n.access.shape, np.unique(n.address - n.element * n.itemsize)
    if len(shape) < 2 or base.size > 1:
        return set()
    starts = int(base[0]) + np.arange(int(np.prod(shape[:-1]))) * shape[-1] * n.itemsize
    return set((starts[starts % WORD == 0] // WORD).tolist())


def _wanted(s, n, left, y):
    s.text(left - 6, y + 13, "words wanted", anchor="end", bold=True)
    for bank, words in enumerate(n.wanted.tolist()):
        x, more = left + bank * CELL, words > 1
        s.rect(x, y, CELL, HIGH + 2, fill=IN_VAIN if more else TOUCHED if words else style.PAPER, stroke="idle")
        if words:
            s.text(x + CELL / 2, y + 14, words, anchor="middle", bold=more)
    return y + HIGH + 2


# ------------------------------------------------------------------------------------------------ legend


def _legend(s, items, y):
    x = EDGE
    for mark, fill, meaning in items:
        wide = max(CELL, text_width(mark) + 6) + 8 + text_width(meaning)
        if x > EDGE and x + wide > WIDTH - EDGE:
            x, y = EDGE, y + HIGH + 5
        box = s.rect(x, y, max(CELL, text_width(mark) + 6), HIGH, fill=fill, stroke="idle")
        if mark == "|":
            s.line(x, y, x, y + HIGH, line=2.5)
        elif mark:
            s.text(box.cx, y + 13, mark, anchor="middle")
        s.text(box.right + 6, y + 13, meaning, fill=style.MUTED)
        x += wide + 16
    return y + HIGH + EDGE
