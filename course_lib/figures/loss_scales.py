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
    found = dict.fromkeys(ZONES, 0.0)
    for e, share in histogram.items():
        found[_zone(e + power, name)] += share
    return found


def _zone(exponent, name):
    zero, normal, over = limits(name)
    return ZONES[(exponent >= zero) + (exponent >= normal) + (exponent >= over)]


def loss_scale(gradients, formats=("fp16", "bf16")):
    """Return a figure: all layers' gradients over a format's range, as histograms; a slider multiplies them by a scale.

    Parameters
    ----------
    gradients : dict
        What they are gradients of -> {layer: array (...)}; as many layers each time.
    formats : tuple of str
        Names of formats to choose from.

    ValueError if the numbers of layers differ; else as `by_exponent` and `limits`.

    Source: Micikevicius et al. (2018), figure 3.
    """
    require_some("gradients", gradients)
    counts = {of: len(layers) for of, layers in gradients.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"numbers of layers are {counts}; they must be equal, so that the figure keeps its height.")
    groups = {of: {name: by_exponent(g) for name, g in layers.items()} for of, layers in gradients.items()}
    data = {
        "groups": [
            {"name": of, "sets": [{"name": k, "bars": sorted(h.items())} for k, h in histograms.items()]}
            for of, histograms in groups.items()
        ],
        "formats": [{"name": TITLES[f], "limits": limits(f)} for f in formats],
        "low": LOW, "high": HIGH, "most": MOST, "zones": list(ZONES), "roles": ROLES,
    }  # fmt: skip
    of, first = next(iter(groups.items()))
    title = "How large may the loss scale be, and how large must it be?"
    return live("loss_scale", data, title=title, static=_static(of, first, formats[0]))


def told(found):
    """Return what of a layer's gradients is lost, such as "30.1 % becomes zero"; shares below 0.05 % are not named.

    `found` as `shares` gives it. No errors. Source: the course's own.
    """
    parts = [f"{100 * found[zone]:.1f} % {zone}" for zone in ZONES if zone != ZONES[2] and found[zone] >= 0.0005]
    return ", ".join(parts) or "all digits"


def _static(of, histograms, format_name):
    left, top, high, row = 10, 34, 20, 38
    s = Panel(WIDTH, top + row * len(histograms) + 46)
    zero, normal, over = limits(format_name)
    end = top + row * len(histograms)

    def at(exponent):
        return left + (min(max(exponent, LOW), HIGH) - LOW) / (HIGH - LOW) * (WIDTH - 2 * left)

    edges = (LOW, zero, normal, over, HIGH)
    for zone, a, b in zip(ZONES, edges[:-1], edges[1:], strict=True):
        s.rect(at(a), top, at(b) - at(a), end - top, fill=style.tint(ROLES[zone], 0.18), stroke="none")
    s.text(left, 16, f"Gradients of {of} in {TITLES[format_name]}, scale 1", bold=True)
    for e in (zero, normal, over):
        s.line(at(e), top, at(e), end + 4)
        s.text(at(e), end + 18, f"{e}", anchor="middle")
    parts = []
    for i, (name, histogram) in enumerate(histograms.items()):
        base, largest = top + row * (i + 1), max(histogram.values())
        for e, share in histogram.items():
            if LOW <= e < HIGH:
                tall = share / largest * high
                s.rect(at(e), base - tall, at(e + 1) - at(e), tall, fill=ROLES[_zone(e, format_name)], stroke="none")
        s.line(left, base, WIDTH - left, base, stroke=style.GRID)
        parts.append(f"{name}: {told(shares(histogram, 0, format_name))}")
        s.text(left + 2, base - row + 14, parts[-1])
    s.text(left, end + 38, "exponent of two of a gradient; bar: share of the layer's gradients")
    caption = f"Gradients of {of} in {TITLES[format_name]} without a scale, layer by layer."
    return picture(s, alt=f"{caption} {'; '.join(parts)}.", caption=caption)
