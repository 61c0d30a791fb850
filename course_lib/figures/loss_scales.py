"""Gradients by their exponents over what a format can hold, with a loss scale to move them, for lesson 17.

Source: P. Micikevicius et al., "Mixed Precision Training" (2018), figure 3.
"""

import numpy as np

from course_lib.reference.formats import find_format
from course_lib.simt.show.panel import WIDTH, Panel
from course_lib.validate import require_some

from . import style
from .live import live
from .number_formats import TITLES
from .picture import picture

LOW, HIGH = -60, 20
"""Exponents that are drawn."""

MOST = 30
"""The largest scale is 2 to this."""

ZONES = ("becomes zero", "loses digits", "all digits", "overflows")
ROLES = {"becomes zero": "hazard", "loses digits": "gradient", "all digits": "output", "overflows": "idle"}


def by_exponent(values):
    """Return {exponent: share} of numbers that are not 0, by the exponent of two below each; shares sum to 1.

    Shares are rounded to a 10,000th. ValueError if there are none. Source: the course's own.
    """
    values = np.abs(np.asarray(values, np.float64).ravel())
    values = values[values > 0]
    require_some("the numbers that are not 0", values)
    exponents, counts = np.unique(np.frexp(values)[1] - 1, return_counts=True)
    return {int(e): round(float(n) / values.size, 4) for e, n in zip(exponents, counts, strict=True)}


def limits(name):
    """Return (zero, normal, over) of a format: below 2^zero a number becomes 0, below 2^normal it loses digits, from
    2^over on it overflows. ValueError if there is no such format. Source: IEEE 754-2008.
    """
    form = find_format(name)
    zero, normal, largest = np.log2([form.smallest / 2, form.smallest_normal, form.largest])
    return int(zero), int(normal), int(np.floor(largest)) + 1


def shares(histogram, power, name):
    """Return {zone: share} of gradients times 2^power in a format; `histogram` as `by_exponent` gives it.

    Errors as `limits`. Source: Micikevicius et al. (2018), 3.2.
    """
    zero, normal, over = limits(name)
    found = dict.fromkeys(ZONES, 0.0)
    for e, share in histogram.items():
        e += power
        zone = ZONES[0] if e < zero else ZONES[1] if e < normal else ZONES[2] if e < over else ZONES[3]
        found[zone] += share
    return found


def loss_scale(gradients, formats=("fp16", "bf16")):
    """Return a figure: a histogram of gradients over a format's range; a slider multiplies them by powers of two.

    Parameters
    ----------
    gradients : dict
        What it is called -> array (...) of gradients.
    formats : tuple of str
        Names of formats to choose from.

    Errors as `by_exponent` and `limits`. Source: Micikevicius et al. (2018), figure 3.
    """
    require_some("gradients", gradients)
    histograms = {name: by_exponent(values) for name, values in gradients.items()}
    data = {
        "sets": [{"name": k, "bars": sorted(h.items())} for k, h in histograms.items()],
        "formats": [{"name": TITLES[f], "limits": limits(f)} for f in formats],
        "low": LOW, "high": HIGH, "most": MOST, "zones": list(ZONES), "roles": ROLES,
    }  # fmt: skip
    name, first = next(iter(histograms.items()))
    title = "How large must the loss scale be?"
    return live("loss_scale", data, title=title, static=_static(name, first, formats[0]))


def _static(name, histogram, format_name):
    s, left, top, high = Panel(WIDTH, 190), 10, 34, 110
    zero, normal, over = limits(format_name)

    def at(exponent):
        return left + (min(max(exponent, LOW), HIGH) - LOW) / (HIGH - LOW) * (WIDTH - 2 * left)

    edges = (LOW, zero, normal, over, HIGH)
    for zone, a, b in zip(ZONES, edges[:-1], edges[1:], strict=True):
        s.rect(at(a), top, at(b) - at(a), high, fill=style.tint(ROLES[zone], 0.18), stroke="none")
    largest = max(histogram.values())
    for e, share in histogram.items():
        if LOW <= e < HIGH:
            tall = share / largest * (high - 8)
            s.rect(at(e), top + high - tall, at(e + 1) - at(e), tall, fill="gradient", stroke="none")
    s.text(left, 16, f"{name}: shares by power of two", bold=True)
    for e in (zero, normal, over):
        s.line(at(e), top, at(e), top + high + 4)
        s.text(at(e), top + high + 18, f"{e}", anchor="middle")
    found = shares(histogram, 0, format_name)
    parts = ", ".join(f"{share:.0%} {zone}" for zone, share in found.items())
    s.text(left, top + high + 38, "exponent of two of a gradient; bar: share")
    caption = f"{name} in {TITLES[format_name]} without a scale: {parts}."
    return picture(s, alt=caption, caption=caption)
