"""Pictures of activation functions: each with its formula, its curve and its slope."""

import numpy as np

from course_lib.reference import ACTIVATIONS

from . import style
from .svg import Svg

NAMES = {
    "heaviside": "step",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "relu": "ReLU",
    "leaky_relu": "leaky ReLU",
    "softplus": "softplus",
}
FORMULAS = {
    "heaviside": ("1 if z \u2265 0, else 0", "0"),
    "sigmoid": ("1 / (1 + e\u207b\u1dbb)", "f (1 \u2212 f)"),
    "tanh": ("(e\u1dbb \u2212 e\u207b\u1dbb) / (e\u1dbb + e\u207b\u1dbb)", "1 \u2212 f\u00b2"),
    "relu": ("z if z > 0, else 0", "1 if z > 0, else 0"),
    "leaky_relu": ("z if z > 0, else s z", "1 if z > 0, else s"),
    "softplus": ("ln(1 + e\u1dbb)", "the sigmoid"),
}
"""f and f' as the picture writes them."""

REACH = 4.0  # z is drawn from -REACH to REACH
LOW, HIGH = -1.2, 2.2
PANEL, TALL = 168, 108  # pixels
JUMP = 0.03  # no function here rises by more than 0.025 from one point of the grid to the next, unless it jumps


def value_and_slope(name, z, negative_slope=0.01):
    """Return f(z) and f'(z) of an activation by its library name; `negative_slope` matters to leaky_relu alone."""
    f, f_prime = ACTIVATIONS[name]
    options = {"negative_slope": negative_slope} if name == "leaky_relu" else {}
    return f(z, **options), f_prime(z, **options)


def curves(negative_slope=0.1):
    """Return a drawing with a panel for each activation: formulas, the function (solid) and its slope (dashed)."""
    svg = Svg(400, 3 * (TALL + 82) + 4)
    z = np.linspace(-REACH, REACH, 321)
    for k, name in enumerate(NAMES):
        left, top = 24 + (PANEL + 36) * (k % 2), 50 + (TALL + 82) * (k // 2)
        svg.text(left, top - 36, NAMES[name], bold=True, size=14)
        svg.text(left, top - 20, f"f = {FORMULAS[name][0]}")
        svg.text(left, top - 5, f"f' = {FORMULAS[name][1]}", fill=style.MUTED)
        for value in (0, 1, 2):
            y = _place(left, top, 0, value)[1]
            svg.line(left, y, left + PANEL, y, stroke=style.GRID if value else style.MUTED, line=1)
            svg.text(left - 5, y + 4, value, anchor="end", fill=style.MUTED)
        for value in (-4, 0, 4):
            x = _place(left, top, value, 0)[0]
            svg.line(x, top, x, top + TALL, stroke=style.GRID, line=1)
            svg.text(x, top + TALL + 14, f"{value}".replace("-", "\u2212"), anchor="middle", fill=style.MUTED)
        svg.rect(left, top, PANEL, TALL, stroke=style.MUTED)
        for values, role in zip(value_and_slope(name, z, negative_slope), ("data", "gradient"), strict=True):
            _curve(svg, left, top, z, values, stroke=role, line=2.5, dashed=role == "gradient")
    return svg


def _place(left, top, z, value):
    return left + PANEL * (z + REACH) / (2 * REACH), top + TALL * (HIGH - value) / (HIGH - LOW)


def _curve(svg, left, top, z, values, **looks):
    """Draw the parts of a curve that are inside; a jump is not connected."""
    inside = (values >= LOW) & (values <= HIGH)
    jump = np.abs(np.diff(values, prepend=values[0])) > JUMP
    part = []
    for k in range(len(z)):
        if part and (jump[k] or not inside[k]):
            svg.polyline(part, **looks)
            part = []
        if inside[k]:
            part.append(_place(left, top, z[k], values[k]))
    if len(part) > 1:
        svg.polyline(part, **looks)
