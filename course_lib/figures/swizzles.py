"""A tile in shared memory, plain and swizzled, and the chunks that a product reads of it, for lesson 17.

Where a chunk lies and what is read come from `course_lib.cuda.swizzle`. Source: NVIDIA, "PTX ISA", "Shared Memory
Matrix Layout".
"""

import numpy as np

from course_lib.cuda import swizzle
from course_lib.simt.show.panel import Panel

from . import style
from .descriptors import hexadecimal
from .picture import picture
from .stepper import stepper

CHUNKS = swizzle.ROW // swizzle.CHUNK
CELL, LEFT, BETWEEN, TOP = 20, 22, 14, 46
"""Pixels: a chunk; what stands left of the first grid; between the two; above them."""

WIDTH = LEFT + 2 * CELL * CHUNKS + BETWEEN + 6
"""Of the sheet: no wider than a phone's column."""

STEPS = swizzle.ROW // swizzle.STEP


def wavefronts(banks):
    """Return how many turns eight threads take that read 16 bytes each, from the four banks that begin at `banks`.

    Parameters
    ----------
    banks : array of int (8,)
        Multiples of 4. The chunks are different ones, so that two in the same banks wait for each other.

    No errors. Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
    """
    return int(np.bincount(banks).max())


def tile_banks(layouts, *, row=3, chunk=2):
    """Return a picture: the banks of eight rows' chunks, in one or two layouts, with a row, and a chunk of all, framed.

    Parameters
    ----------
    layouts : dict of str to int array (8, 8)
        What a layout is called -> the first of the four banks of each row's chunks.
    row, chunk : int
        0 to 7.

    ValueError for other shapes, or another number of layouts. Source: NVIDIA, "PTX ISA", "Shared Memory Matrix Layout".
    """
    shapes = [np.shape(banks) for banks in layouts.values()]
    if shapes not in ([(CHUNKS, CHUNKS)], [(CHUNKS, CHUNKS)] * 2):
        raise ValueError(f"layouts has the shapes {shapes}; it must have one or two of {(CHUNKS, CHUNKS)}.")
    beside, below = len(layouts) == 1, TOP + CELL * CHUNKS + 20
    s = Panel(WIDTH, below + (-12 if beside else 44))
    told = []
    for (name, banks), x in zip(layouts.items(), (LEFT, _second()), strict=False):
        _grid(s, x, name, banks, lambda r, c, banks=banks: _shade(banks[r, c]))
        s.rect(x, TOP + CELL * row, CELL * CHUNKS, CELL, line=2.5, dashed=True)
        s.rect(x + CELL * chunk, TOP, CELL, CELL * CHUNKS, line=2.5)
        at, y = (_second(), TOP + CELL * (row + 0.7)) if beside else (x, below)
        turns = wavefronts(banks[row]), wavefronts(banks[:, chunk])
        words = [f"{n} wavefront{'s' * (n > 1)}" for n in turns]
        s.text(at, y, f"row {row}: {words[0]}", bold=turns[0] > 1)
        s.text(at, y + 19, f"chunk {chunk}, all rows:")
        s.text(at, y + 35, words[1], bold=turns[1] > 1)
        told += [f"{name}, row {row}: {words[0]}", f"{name}, chunk {chunk}, all rows: {words[1]}"]
    return picture(
        s,
        alt=f"Eight rows of eight chunks, and in each chunk the first of its four banks. {'; '.join(told)}.",
        caption="Rows of the tile and their chunks, 0 to 7; in each chunk, and as its shade, the first of the four "
        "banks in which it lies. Where a number repeats in a frame, a thread waits.",
    )


def tile_walk():
    """Return a figure that steps through a tile of eight columns of B: what a product m64n8k8 reads in each step of k.

    No errors. Source: NVIDIA, "PTX ISA", "Shared Memory Matrix Layout", "Matrix Descriptor Format".
    """
    return stepper([_step(k) for k in range(STEPS)], title="Four instructions walk through a tile", static=1)


def _step(step):
    number = swizzle.descriptor(swizzle.STEP * step)
    start, rows, high = swizzle.fields(number)["start"], swizzle.ROWS, CELL * CHUNKS
    lies = np.argsort(swizzle.places(rows), axis=1)  # the chunk at each place
    chunks = np.broadcast_to(np.arange(CHUNKS), lies.shape)
    found = np.unique(swizzle.walk(number, rows) // swizzle.CHUNK)
    read = np.isin(np.arange(rows * CHUNKS), found).reshape(rows, CHUNKS)
    wanted = np.isin(chunks, (2 * step, 2 * step + 1))
    first, last = 8 * step, 8 * step + 7
    s = Panel(WIDTH, TOP + high + 58)
    for name, x, numbers, marked in (
        ("chunks along k", LEFT, chunks, wanted), ("places in memory", _second(), lies, read),
    ):  # fmt: skip
        _grid(s, x, name, numbers, lambda r, c, n=numbers, m=marked: _dark(n[r, c] % 2) if m[r, c] else style.PAPER)
    s.text(LEFT, TOP + high + 22, f"descriptor {hexadecimal(number)}", bold=True)
    s.key(
        [(_dark(odd), False, f"k = {first + 4 * odd} to {first + 4 * odd + 3}") for odd in (0, 1)],
        LEFT,
        TOP + high + 34,
    )
    caption = (
        f"k = {first} to {last}: chunks {2 * step} and {2 * step + 1} of each row. The start is {start} bytes, "
        f"{start // swizzle.CHUNK} in the descriptor's lowest field."
    )
    places = "; ".join(f"row {r}: {', '.join(map(str, np.flatnonzero(read[r])))}" for r in range(rows))
    return picture(s, alt=f"{caption} They lie at these places: {places}.", caption=caption)


def _second():
    return LEFT + CELL * CHUNKS + BETWEEN


def _grid(s, x, title, numbers, fill):
    """Draw rows of chunks from x on: a title, the columns' numbers above, the rows' to the left of the first grid."""
    s.text(x, 16, title, bold=True)
    for c in range(CHUNKS):
        s.text(x + CELL * (c + 0.5), TOP - 8, str(c), anchor="middle", fill=style.MUTED)
    for r, row in enumerate(numbers):
        y = TOP + CELL * r
        if x == LEFT:
            s.text(x - 8, y + CELL / 2 + 4.3, str(r), anchor="end", fill=style.MUTED)
        for c, number in enumerate(row):
            ground = fill(r, c)
            s.rect(x + CELL * c, y, CELL, CELL, fill=ground, stroke="idle")
            s.text(x + CELL * (c + 0.5), y + CELL / 2 + 4.3, str(number), anchor="middle", fill=style.ink_on(ground))


def _shade(bank):
    return style.tint("data", 0.06 + 0.94 * bank / swizzle.BANKS)


def _dark(odd):
    return style.tint("data", 0.65 if odd else 1)
