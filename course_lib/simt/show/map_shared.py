"""The map of an access to shared memory: 32 banks as columns, the lanes that want a word, and the words of each bank.

Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
"""

import numpy as np

from course_lib.figures import style
from course_lib.figures.svg import text_width
from course_lib.simt.lanes import WARP
from course_lib.simt.show.map_numbers import label
from course_lib.simt.show.map_sheet import CELL, EDGE, HIGH, IN_VAIN, MORE_ROWS, TIMES, TOUCHED, WIDTH, pick
from course_lib.simt.traffic import BANKS, WORD

MOST_ROWS = 33


def draw_shared(s, n, text):
    """Draw a `SharedAccess` n on a `Sheet` s; returns the height that it takes. Source: the course's own."""
    y = s.title(n.access, text) + 6
    held = n.lanes_of(n.address)
    lanes = {}
    for address, who in held.items():
        for word in n.words(address).tolist():
            lanes.setdefault(word, set()).update(t % WARP for t in who)
    first, last = _extent(n)
    rows = [None if r is None else r + first for r in pick(_rows(lanes, first), last - first + 1, MOST_ROWS)]
    left = WIDTH - EDGE - BANKS * CELL
    s.text(left - 6, y + 12, "bank", anchor="end", bold=True)
    for bank in range(BANKS):
        s.text(left + (bank + 0.5) * CELL, y + 12, bank, anchor="middle", fill=style.MUTED)
    y += 17
    starts, texts, notes = _row_starts(n), [], []
    for row in rows:
        if row is None:
            s.text(left + CELL / 2, y + 11, MORE_ROWS, anchor="middle", bold=True)
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
    s.write(texts)
    for note in notes:
        s.text(*note)
    y = _wanted(s, n, left, y + 8)
    items = [("3", TOUCHED, "lane 3 of the warp wants this word")] * any(len(who) == 1 for who in lanes.values())
    items += [(f"4{TIMES}", TOUCHED, "4 lanes want it")] * any(1 < len(who) < 10 for who in lanes.values())
    items += [(TIMES, TOUCHED, "10 lanes or more want it")] * any(len(who) >= 10 for who in lanes.values())
    items += [("|", style.PAPER, "a row of the array begins")] * bool(starts)
    items += [("2", IN_VAIN, "a bank must give several words")] * bool(n.conflicts)
    return s.legend(items, y + 10)


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
