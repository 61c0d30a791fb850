"""A descriptor as a number of 64 bits: its fields, and what the tensor cores read for it, for lesson 17.

The page's script computes the same once more; a test compares the two. Source: NVIDIA, "PTX ISA", "Matrix Descriptor
Format", "Canonical Layouts".
"""

import numpy as np

from course_lib.cuda import swizzle
from course_lib.simt.show.panel import WIDTH, Panel

from . import style
from .live import live
from .picture import picture

ROWS = 16
"""Of the tile, and columns of the product."""

CHUNKS = swizzle.ROW // swizzle.CHUNK
STARTS, STRIDES = (0, 32, 64, 96), (0, 128, 256, 512, 1024)
"""Bytes that the reader may choose from."""

MODES = {"128 bytes": (1, 3), "64 bytes": (2, 2), "32 bytes": (3, 1), "none": (0, 0)}
"""Swizzle -> its code in the descriptor, and how many address bits it turns over."""

FIELDS = {
    "start": (0, 14, "data"), "leading": (16, 14, "idle"), "stride": (32, 14, "output"), "base": (49, 3, "gradient"),
    "swizzle": (62, 2, "weight"),
}  # fmt: skip
"""Field -> its lowest bit, its bits, its colour."""

BIT, LEFT, TOP, HIGH = 12, 28, 132, 18


def numbered(start, stride, mode):
    """Return the descriptor with a key of `MODES` in place of the swizzle of 128 bytes.

    KeyError for another mode; else as `swizzle.descriptor`. Source: NVIDIA, "PTX ISA", "Matrix Descriptor Format".
    """
    low = FIELDS["swizzle"][0]
    return swizzle.descriptor(start, stride=stride) & ((1 << low) - 1) | MODES[mode][0] << low


def hexadecimal(number):
    """Return a descriptor as text: four digits are 16 bits, and each of its fields has 16 of its own. No errors.

    Source: NVIDIA, "PTX ISA", "Matrix Descriptor Format".
    """
    return f"{number:#021_x}"


def read_at(number, columns=ROWS):
    """Return (columns, 2) int: the byte at which each column's first and second four k are read, for float32.

    Without a swizzle eight rows of 16 bytes follow each other, and the leading offset leads to the second four k; a
    swizzle of 32, 64 or 128 bytes has rows of that length, and turns over one, two or three bits. No errors.

    Source: NVIDIA, "PTX ISA", "Canonical Layouts".
    """
    at = swizzle.fields(number)
    bits = dict(MODES.values())[at["swizzle"]]
    n, half = np.arange(columns)[:, None], np.arange(2)
    within = n % swizzle.ROWS * (swizzle.CHUNK << bits) + half * (swizzle.CHUNK if bits else at["leading"])
    plain = at["start"] + n // swizzle.ROWS * at["stride"] + within
    return plain ^ ((plain >> 7 & (1 << bits) - 1) << 4)


def held_at(address):
    """Return (row, chunk) of the tile, swizzled by 128 bytes, that lie at an address or an array of them. No errors.

    Source: NVIDIA, "PTX ISA", "Shared Memory Matrix Layout".
    """
    return address // swizzle.ROW, swizzle.swizzled(address) % swizzle.ROW // swizzle.CHUNK


def descriptor_bits(start=32, stride=1024, mode="128 bytes"):
    """Return a figure: a descriptor's fields, which the reader changes, and what 16 columns of a product get for it.

    `start` is one of `STARTS`, `stride` of `STRIDES`, `mode` of `MODES`, else ValueError. Source: NVIDIA, "PTX ISA".
    """
    for name, value, allowed in (("start", start, STARTS), ("stride", stride, STRIDES), ("mode", mode, MODES)):
        if value not in allowed:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(str, allowed))}.")
    data = {
        "rows": ROWS, "starts": STARTS, "strides": STRIDES, "leading": swizzle.CHUNK,
        "modes": [{"name": name, "code": code, "bits": bits} for name, (code, bits) in MODES.items()],
        "fields": [{"name": k, "low": low, "wide": wide, "role": role} for k, (low, wide, role) in FIELDS.items()],
        "at": [STARTS.index(start), STRIDES.index(stride), list(MODES).index(mode)], "column": 9,
    }  # fmt: skip
    return live("descriptor_bits", data, title="What is read for this number?", static=_static(start, stride, mode))


def _static(start, stride, mode):
    number = numbered(start, stride, mode)
    read, second = read_at(number), LEFT + 21 * CHUNKS + 60
    rows, chunks = held_at(read)
    s = Panel(WIDTH, TOP + HIGH * ROWS + 8)
    s.text(8, 16, hexadecimal(number), bold=True)
    _bits(s, number)
    s.text(LEFT, TOP - 8, "memory: chunk at its place")
    s.text(second - 26, TOP - 8, "column gets row · chunk")
    lies = np.argsort(swizzle.places(ROWS), axis=1)
    for r in range(ROWS):
        y = TOP + HIGH * r
        s.text(LEFT - 8, y + 13, str(r), anchor="end", fill=style.MUTED)
        s.text(second - 8, y + 13, str(r), anchor="end", fill=style.MUTED)
        for p in range(CHUNKS):
            ground = style.tint("data", 0.3) if np.any(read == r * swizzle.ROW + p * swizzle.CHUNK) else style.PAPER
            s.rect(LEFT + 21 * p, y, 21, HIGH, fill=ground, stroke="idle")
            s.text(LEFT + 21 * p + 10.5, y + 13, str(lies[r, p]), anchor="middle")
        for half in range(2):
            own = rows[r, half] == r and chunks[r, half] == start // swizzle.CHUNK + half
            s.cells([(second + 46 * half, y, 46, HIGH)], fill=style.tint("output" if own else "hazard", 0.3))
            s.text(second + 46 * half + 23, y + 13, f"{rows[r, half]} · {chunks[r, half]}", anchor="middle")
    own = np.all((rows == np.arange(ROWS)[:, None]) & (chunks == start // swizzle.CHUNK + np.arange(2)), axis=1).sum()
    caption = (
        f"Start {start} bytes, stride {stride:,} bytes, swizzle {mode}: {own} of {ROWS} columns get "
        f"k = {start // 4} to {start // 4 + 7} of their row."
    )
    return picture(s, alt=f"A descriptor of 64 bits, {hexadecimal(number)}, in fields. {caption}", caption=caption)


def _bits(s, number):
    """Draw the bits in two rows of 32, the highest first, and below each row what its fields hold."""
    told = told_fields(number)
    for k in range(64):
        role = next((role for low, wide, role in FIELDS.values() if low <= k < low + wide), None)
        x, y, bit = 8 + BIT * (31 - k % 32), 26 if k >= 32 else 66, number >> k & 1
        s.rect(
            x, y, BIT, 16, fill=style.tint(role, 0.6 if bit else 0.15) if role else style.PAPER, stroke=role or "idle"
        )
        s.text(x + BIT / 2, y + 12.5, str(bit), anchor="middle")
    for name, (low, wide, _) in FIELDS.items():
        middle = 8 + BIT * (32 - low % 32 - wide / 2)
        left = name == "swizzle"
        s.text(8 if left else middle, 56 if low >= 32 else 96, told[name], anchor="start" if left else "middle")


def told_fields(number):
    """Return {field: its words} below a descriptor's bits. No errors. Source: the course's own."""
    at = swizzle.fields(number)
    told = {name: f"{name}: {at[name]:,} / 16 = {at[name] // swizzle.CHUNK}" for name in ("start", "leading", "stride")}
    low, wide, _ = FIELDS["base"]
    return told | {"base": f"base: {number >> low & (1 << wide) - 1}", "swizzle": f"swizzle: {at['swizzle']}"}
