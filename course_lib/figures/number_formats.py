"""One number in several formats, for lesson 17: its bits, what it becomes, and how far off that is.

Source: IEEE 754-2008. The numbers are those of `course_lib.reference.formats`, computed once more in the page's script;
a test compares the two.
"""

import numpy as np

from course_lib.reference.formats import FORMATS, encode, round_to

from . import style
from .live import live
from .picture import picture
from .svg import Svg

SHOWN = ("float32", "tf32", "fp16", "bf16", "e5m2", "e4m3")
TITLES = {"float32": "float32", "tf32": "TF32", "fp16": "FP16", "bf16": "BF16", "e5m2": "FP8 E5M2", "e4m3": "FP8 E4M3"}
NUMBERS = {"0.1": 0.1, "π": float(np.pi), "1000": 1000.0, "1 + 1/512": 1 + 1 / 512}
"""What the reader may choose from; a slider multiplies it by powers of two."""

REACH = 40
"""The largest power of two, either way."""

CELL, ROW = 11, 46


def in_formats(x):
    """Return {format: (bits as text, the number that it becomes)} of one number. No errors.

    Source: the course's own.
    """
    x = np.float32(x)
    found = {}
    for name in SHOWN:
        form = FORMATS[name]
        found[name] = f"{int(encode(x, name)):0{form.bits}b}", float(round_to(x, name))
    return found


BIASES = (
    "A stored exponent of n > 0 means 2 to the n − 127 (float32, TF32, BF16), n − 15 (FP16, E5M2) or n − 7 (E4M3)."
)


def number_bits(start="0.1"):
    """Return a figure: a number's bits in each format; the reader chooses the number and a power of two.

    `start` is a key of `NUMBERS`, else KeyError. Source: the course's own.
    """
    formats = [
        {
            "name": name, "title": TITLES[name], "exponent": form.exponent_bits, "fraction": form.fraction_bits,
            "infinity": form.infinity,
        }
        for name, form in ((n, FORMATS[n]) for n in SHOWN)
    ]  # fmt: skip
    data = {
        "formats": formats, "numbers": [{"name": k, "value": float(np.float32(v))} for k, v in NUMBERS.items()],
        "first": list(NUMBERS).index(start), "reach": REACH, "biases": BIASES,
    }  # fmt: skip
    return live("number_bits", data, title="How much of a number stays?", static=_static(start))


def said(value, exact):
    """Return how a rounded number is told: its digits and how far off it is, in percent. No errors."""
    if np.isnan(value):
        return "NaN: too large, and there is no infinity"
    if np.isinf(value):
        return "infinity: too large"
    if value == exact:
        return f"{value:.9g}"
    return f"{value:.7g}, off by {100 * abs(value - exact) / abs(exact):.2g} %" if value else "0: too small"


def _static(start):
    x = float(np.float32(NUMBERS[start]))
    found = in_formats(x)
    s = Svg(400, ROW * len(SHOWN) + 6)
    lines = []
    for i, name in enumerate(SHOWN):
        form, (bits, value) = FORMATS[name], found[name]
        y = ROW * i
        s.text(8, y + 16, f"{TITLES[name]}: {said(value, x)}")
        lines.append(f"{TITLES[name]} {said(value, x)}")
        for k, bit in enumerate(bits):
            role = "idle" if k == 0 else "weight" if k <= form.exponent_bits else "data"
            s.rect(8 + CELL * k, y + 22, CELL, 16, fill=style.tint(role, 0.6 if bit == "1" else 0.12), stroke=role)
            s.text(8 + CELL * (k + 0.5), y + 34.5, bit, anchor="middle")
    caption = f"{start} in six formats: sign (grey), exponent (orange), fraction (blue). {BIASES}"
    return picture(s, alt=f"{caption} {'; '.join(lines)}.", caption=caption)
