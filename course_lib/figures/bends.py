"""What ReLU neurons can draw: a curve met bend by bend, zigzags of several layers, and a ring in the plane.

Source: the course's own. That one hidden layer is enough for every continuous function is Cybenko (1989) for sigmoids,
and Leshno, Lin, Pinkus and Schocken (1993) for ReLU.
"""

import numpy as np

from course_lib.reference import relu
from course_lib.validate import as_float, require_count, require_some

from . import style
from .live import live
from .perceptron import samples
from .picture import picture

GRID = 200
"""The curves are known at k / GRID, and only there may a bend stand."""

MOST = 24
"""Hidden neurons that the figure allows."""

CURVES = {
    "a wave": lambda x: 0.5 + 0.38 * np.sin(2 * np.pi * x),
    "a hill": lambda x: 0.12 + 0.75 * np.exp(-(((x - 0.4) / 0.15) ** 2)),
    "a jump": lambda x: 0.15 + 0.7 / (1 + np.exp(-(x - 0.6) / 0.02)),
}
"""Functions from [0, 1] to [0, 1] that the reader may choose."""


def network_through(values, bends):
    """Return (b1, w2, b2) of o = relu(x + b1) w2 + b2, a network that meets a curve at 0, at 1 and at each bend.

    Every hidden neuron has the weight 1, and each changes the slope at its own place -b1.

    Parameters
    ----------
    values : (GRID + 1,) array
        The curve at k / GRID.
    bends : sequence of int
        Places k of the bends, different, each from 1 to GRID - 1. A neuron at 0 gives the first slope.

    Returns
    -------
    b1, w2 : (n,) arrays, n = 1 + len(bends)
    b2 : float

    Raises
    ------
    ValueError
        A place that is not on the curve, or twice the same.

    Source: the course's own.
    """
    values, bends = as_float("values", values, ndim=1), sorted(int(k) for k in bends)
    if values.shape != (GRID + 1,) or len(set(bends)) < len(bends) or not set(bends) <= set(range(1, GRID)):
        raise ValueError(f"bends are {bends} on {len(values)} values; they must differ, from 1 to {GRID - 1}.")
    knots = np.array([0, *bends, GRID])
    slopes = np.diff(values[knots]) / np.diff(knots / GRID)
    return -knots[:-1] / GRID, np.diff(slopes, prepend=0.0), float(values[0])


def drawn(values, bends):
    """Return (GRID + 1,): what the network through these bends puts out at k / GRID; errors as `network_through`."""
    b1, w2, b2 = network_through(values, bends)
    return relu(np.linspace(0, 1, GRID + 1)[:, None] + b1) @ w2 + b2


def worst_place(values, bends):
    """Return (k, miss): where the network is farthest from the curve, and by how much. The first of several places."""
    misses = np.abs(drawn(values, bends) - np.asarray(values, float))
    k = int(np.argmax(misses > misses.max() - 1e-9))
    return k, float(misses[k])


def bent(values, n):
    """Return the places of n - 1 bends, each put where the network misses the curve most. ValueError for n < 1."""
    bends = []
    for _ in range(require_count("n", n) - 1):
        bends.append(worst_place(values, bends)[0])
    return bends


def bend_by_bend(curve="a wave", *, title="Add bends until the network meets the curve"):
    """Return a curve and a network of ReLU neurons to which the reader adds one bend after the other.

    A bend stands where the reader clicks, or where the network misses most; the output weights then follow, so that the
    network meets the curve at every bend. Below stands each neuron's output weight, at its place.

    Parameters
    ----------
    curve : str
        The key of `CURVES` that is shown first.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        An unknown curve.

    Source: the course's own.
    """
    if curve not in CURVES:
        raise ValueError(f"there is no curve {curve!r}; there are {', '.join(CURVES)}.")
    x = np.linspace(0, 1, GRID + 1)
    curves = {name: np.round(f(x), 5).tolist() for name, f in CURVES.items()}
    return live(
        "bends", {"curves": curves, "curve": curve, "most": MOST}, title=title, static=_static(np.array(curves[curve]))
    )


def _static(values):
    shown = (1, 2, 4, 8)
    misses = [worst_place(values, bent(values, n))[1] for n in shown]
    said = ", ".join(f"{miss:.2f}" for miss in misses)
    return picture(
        _panels(values, shown, misses),
        alt="A smooth curve, and networks of 1, 2, 4 and 8 ReLU neurons: lines with a bend for each further neuron. "
        f"The largest distance from the curve is {said}.",
        caption="Pale: the curve. Solid: networks of 1, 2, 4 and 8 hidden neurons. Each but the first adds one bend.",
    )


@style.styled
def _panels(values, shown, misses):
    fig, axes = style.new_figure(3.85, 3.6, 2, 2, sharex=True, sharey=True)
    x = np.linspace(0, 1, GRID + 1)
    for ax, n, miss in zip(axes.flat, shown, misses, strict=True):
        bends = bent(values, n)
        ax.plot(x, values, color=style.tint("data", 0.5), linewidth=5)
        ax.plot(x, drawn(values, bends), color=style.COLOURS["output"], linewidth=2)
        ax.plot([k / GRID for k in bends], values[bends], "o", color=style.COLOURS["weight"], markersize=6)
        ax.set_title(f"{n}: misses by {miss:.2f}", fontsize=style.SIZE_SMALL)
        ax.set(ylim=(-0.4, 1.4), xticks=[0, 0.5, 1])
    return fig


@style.styled
def zigzags(x, heights):
    """Return a figure with a panel for each of `heights` (each (n,), over x (n,)), one below the other."""
    require_some("heights", heights)
    fig, axes = style.new_figure(3.85, 1.45 * len(heights), len(heights), 1, sharex=True, squeeze=False)
    for k, (ax, y) in enumerate(zip(axes.flat, heights, strict=True), start=1):
        ax.plot(x, y, color=style.COLOURS["output"], linewidth=2)
        ax.set_title(f"{k} layer{'s' if k > 1 else ''}", fontsize=style.SIZE_SMALL)
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 1])
    return fig


# ------------------------------------------------------------------------------------------------ a ring


def ring(n, rng):
    """Return (x (2 n, 2), y): n points inside of a disc, label 1, and n in a ring around it, label 0.

    The disc has the radius 1, the ring goes from 1.6 to 2.2. TypeError, ValueError for an n below 1.

    Source: the course's own.
    """
    n = require_count("n", n)
    radius = np.concatenate([np.sqrt(rng.uniform(0, 1, n)), rng.uniform(1.6, 2.2, n)])
    angle = rng.uniform(0, 2 * np.pi, 2 * n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), np.repeat([1, 0], n)


def fence(n, radius=1.1, slope=2.0):
    """Return (W1 (2, n), b1 (n,), w2 (n,), b2) of o = relu(x W1 + b1) w2 + b2, which falls outside of n straight lines.

    The lines stand around the origin at equal angles, at the distance `radius`; inside of all of them o = 1.

    TypeError, ValueError for an n below 1. Source: the course's own.
    """
    n = require_count("n", n)
    angle = np.pi / 2 + 2 * np.pi * np.arange(n) / n
    return np.array([np.cos(angle), np.sin(angle)]), np.full(n, -float(radius)), np.full(n, -float(slope)), 1.0


def fence_output(x, n):
    """Return (m,): what the network `fence(n)` puts out for x (m, 2)."""
    w1, b1, w2, b2 = fence(n)
    return relu(np.asarray(x, float) @ w1 + b1) @ w2 + b2


@style.styled
def fences(x, y, shown=(1, 2, 3, 5)):
    """Return a figure: the answers of networks with `shown` hidden neurons to a disc in a ring, x (m, 2), y (m,)."""
    reach = 2.5
    side = np.linspace(-reach, reach, 201)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    fig, axes = style.new_figure(3.85, 4.2, 2, 2, sharex=True, sharey=True)
    for ax, n in zip(axes.flat, shown, strict=True):
        o = fence_output(grid.reshape(-1, 2), n).reshape(grid.shape[:2])
        ax.contourf(side, side, o, levels=[0.5, 2], colors=[style.tint("output", 0.25)])
        ax.contour(side, side, o, levels=[0.5], colors=[style.INK], linewidths=2)
        w1, b1, _, _ = fence(n)
        for (u, v), c in zip(w1.T, b1, strict=True):
            along = np.array([-v, u])
            ends = -c * np.array([u, v]) + np.array([[-9.0], [9.0]]) * along
            ax.plot(*ends.T, color=style.COLOURS["weight"], linestyle="--", linewidth=1.2)
        samples(ax, x, y, 16)
        right = np.mean((fence_output(x, n) > 0.5) == y)
        ax.set_title(f"{n} neuron{'s' if n > 1 else ''}: {right:.0%} right", fontsize=style.SIZE_SMALL)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.grid(False)
    return fig
