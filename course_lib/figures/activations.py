"""Pictures of activation functions: a function and its slope side by side, and all of them at once."""

import numpy as np

from course_lib.reference import ACTIVATIONS

from . import style
from .half_plane import boundary
from .svg import Svg

NAMES = {
    "heaviside": "step",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "relu": "ReLU",
    "leaky_relu": "leaky ReLU",
    "softplus": "softplus",
}
CHOICES = [(NAMES[name], name) for name in (*list(NAMES)[1:], "heaviside")]  # for a dropdown; sigmoid first
REACH = 4.0  # z is drawn from -REACH to REACH
WIDTH, HEIGHT = 640, 346
PANEL = 262  # pixels, both ways
JUMP = 0.03  # no function here rises by more than 0.025 from one point of the grid to the next, unless it jumps


def value_and_slope(name, z, negative_slope=0.01):
    """Return f(z) and f'(z) of an activation by its library name; `negative_slope` matters to leaky_relu alone."""
    f, f_prime = ACTIVATIONS[name]
    options = {"negative_slope": negative_slope} if name == "leaky_relu" else {}
    return f(z, **options), f_prime(z, **options)


class _Panel:
    """One pair of axes on an `Svg`: places points of the plane, cuts off what is outside."""

    def __init__(self, svg, left, top, low, high, title):
        self.svg, self.left, self.top, self.low, self.high = svg, left, top, low, high
        svg.text(left, top - 8, title, bold=True)
        for value in np.arange(np.ceil(-REACH), REACH + 0.5, 2):
            x = self.place(value, 0)[0]
            svg.line(x, top, x, top + PANEL, stroke=style.GRID, line=1)
            svg.text(x, top + PANEL + 15, _text(value, "g"), anchor="middle")
        for value in np.arange(np.ceil(low), high + 0.01, 1):
            y = self.place(0, value)[1]
            svg.line(left, y, left + PANEL, y, stroke=style.MUTED if value == 0 else style.GRID, line=1)
            svg.text(left - 6, y + 4, _text(value, "g"), anchor="end")
        svg.rect(left, top, PANEL, PANEL, stroke=style.MUTED)

    def place(self, z, value):
        u, v = (z + REACH) / (2 * REACH), (value - self.low) / (self.high - self.low)
        return self.left + PANEL * u, self.top + PANEL * (1 - v)

    def curve(self, z, values, **looks):
        """Draw the parts of a curve that are inside; a jump is not connected."""
        inside = (values >= self.low) & (values <= self.high)
        jump = np.abs(np.diff(values, prepend=values[0])) > JUMP
        part = []
        for k in range(len(z)):
            if part and (jump[k] or not inside[k]):
                self.svg.polyline(part, **looks)
                part = []
            if inside[k]:
                part.append(self.place(z[k], values[k]))
        if len(part) > 1:
            self.svg.polyline(part, **looks)

    def dot(self, z, value, role):
        self.svg.circle(*self.place(z, np.clip(value, self.low, self.high)), 6, fill=role, stroke=style.PAPER, line=2)


def explorer(name, z, negative_slope):
    """Return a drawing: f with its tangent at z on the left, f' on the right, and leaky ReLU behind both.

    Parameters
    ----------
    name : str
        A key of `NAMES`.
    z : float
        Where the tangent touches, between -4 and 4.
    negative_slope : float
        Of leaky ReLU, which is drawn dashed behind any other function.
    """
    a, slope = (float(v) for v in value_and_slope(name, z, negative_slope))
    svg = Svg(WIDTH, HEIGHT)
    svg.text(34, 16, f"{NAMES[name]}:  z = {_text(z)},  f(z) = {_text(a)},  slope f'(z) = {_text(slope)}", size=14)
    left = _Panel(svg, 34, 42, -1.5, 4.0, "f(z) and its tangent")
    right = _Panel(svg, 360, 42, -0.25, 1.25, "the slope f'(z)")
    grid = np.linspace(-REACH, REACH, 321)
    if name != "leaky_relu":
        behind = value_and_slope("leaky_relu", grid, negative_slope)
        for panel, values in zip((left, right), behind, strict=True):
            panel.curve(grid, values, stroke="idle", line=2, dashed=True)
    f, f_prime = value_and_slope(name, grid, negative_slope)
    left.curve(grid, f, stroke="data", line=3)
    right.curve(grid, f_prime, stroke="gradient", line=3)
    tangent = boundary((slope, -1.0, a - slope * z), (-REACH, left.low), (REACH, left.high))
    svg.line(*left.place(*tangent[0]), *left.place(*tangent[1]), stroke="gradient", line=2)
    left.dot(z, a, "data")
    right.dot(z, slope, "gradient")
    if name != "leaky_relu":
        svg.text(34, HEIGHT - 4, f"dashed: leaky ReLU with negative slope {_text(negative_slope)}", fill=style.MUTED)
    return svg


def explorer_texts(name, z, negative_slope):
    """Return the alternative text and the caption that belong to `explorer`."""
    a, slope = (float(v) for v in value_and_slope(name, z, negative_slope))
    fact = f"At z = {_text(z)}, {NAMES[name]} is {_text(a)} and rises by {_text(slope)} per unit of z"
    return dict(alt=f"{fact}; the tangent touches the curve there", caption=f"{fact}.")


@style.styled
def gallery(negative_slope=0.1):
    """Return a figure with a panel for each activation: the function (solid) and its derivative (dash-dotted)."""
    fig, axes = style.new_figure(8.2, 4.4, 2, 3, sharex=True, sharey=True)
    z = np.linspace(-REACH, REACH, 401)
    for ax, name in zip(axes.ravel(), NAMES, strict=True):
        f, f_prime = value_and_slope(name, z, negative_slope)
        if name == "heaviside":  # no line across the jump
            f = np.where(np.abs(z) < 0.005, np.nan, f)
        for values, role, label in ((f, "data", "f"), (f_prime, "gradient", "f'")):
            cue = style.cue(role)
            ax.plot(z, values, color=cue.colour, linestyle=cue.linestyle, label=label)
        ax.set(title=NAMES[name], ylim=(-1.3, 2.6), xticks=[-4, 0, 4], yticks=[-1, 0, 1, 2])
    for ax in axes[1]:
        ax.set_xlabel("z")
    axes[0, 0].legend(loc="upper left")
    return fig


def _text(value, form=".2f"):
    text = format(round(float(value), 6) + 0.0, form)
    return (text[1:] if text in ("-0.00", "-0") else text).replace("-", "\u2212")
