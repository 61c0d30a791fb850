"""A narrow valley that the reader walks down twice: by plain steps and with momentum, or with momentum and with Adam.

Source: the course's own; Polyak, "Some methods of speeding up the convergence of iteration methods" (1964).
"""

import math

import numpy as np

from course_lib.reference import adam_step
from course_lib.validate import require_count

from . import style
from .live import live
from .picture import picture

CURVATURE = (0.01, 1.0)
"""c of J = 1/2 (c[0] u^2 + c[1] v^2): along the valley, and across it, where it is a hundred times as steep."""

REACH = (10.0, 2.0)
"""The map shows u and v from minus these to these, in one scale."""

BOTTOM = 0.001
"""A walk is at the bottom once its loss stays below this."""

MOST = 1000
"""Steps after which a walk that is not at the bottom is given up."""

LEVELS = (0.001, 0.01, 0.05, 0.15, 0.4, 0.9, 1.6)
"""Losses of the rings; the innermost is the bottom."""

RATES, MOMENTA, SHOWN = (0.1, 4.0), (0.0, 0.98), 200
"""What the sliders offer: rates in steps of 0.1, momentum in steps of 0.02, steps that are drawn."""

ADAM_RATES, POWERS, BETAS = (0.05, 2.0), (-3, 3), (0.9, 0.999)
"""Beside Adam: its rates in steps of 0.05, powers of ten that the loss is multiplied by, its two betas."""


def height(p):
    """Return the loss at points p (..., 2). No errors. Source: the course's own."""
    return 0.5 * np.sum(np.multiply(CURVATURE, np.square(np.asarray(p, float))), axis=-1)


def walk(start, lr, momentum, steps, times=1.0):
    """Return the path (steps + 1, 2) of v <- momentum v - lr gradient, p <- p + v; it may overflow to infinity.

    Parameters
    ----------
    start : (2,) array
    lr, momentum : float
    steps : int
    times : float
        What the loss, and with it each gradient, is multiplied by.

    Source: Polyak (1964), the "heavy ball".
    """
    path, velocity = [np.asarray(start, float)], np.zeros(2)
    for _ in range(steps):
        velocity = momentum * velocity - lr * (times * np.multiply(CURVATURE, path[-1]))
        path.append(path[-1] + velocity)
    return np.array(path)


def adam_walk(start, lr, steps, times=1.0):
    """Return the path (steps + 1, 2) of Adam with the betas 0.9 and 0.999.

    Parameters
    ----------
    start : (2,) array
    lr : float
    steps : int
    times : float
        What the loss, and with it each gradient, is multiplied by.

    Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015), algorithm 1.
    """
    w, m, v = np.array(start, float), np.zeros(2), np.zeros(2)
    path = [w.copy()]
    for t in range(1, steps + 1):
        adam_step([w], [times * np.multiply(CURVATURE, w)], lr, [m], [v], t, *BETAS)
        path.append(w.copy())
    return np.array(path)


def steps_to_bottom(start, lr, momentum, times=1.0):
    """Return after how many steps the loss stays below `BOTTOM`, or None if it does not within `MOST` steps.

    A walk with momentum may run through the bottom and out again, so the first time below does not count. The loss is
    that before it is multiplied by `times`.

    No errors. Source: the course's own.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return arrived(walk(start, lr, momentum, MOST, times))


def arrived(path):
    """Return after how many steps of a path (`MOST` + 1, 2) the loss stays below `BOTTOM`, None if it does not.

    No errors. Source: the course's own.
    """
    above = np.flatnonzero(~(height(path) < BOTTOM))
    first = int(above[-1]) + 1 if len(above) else 0
    return first if first <= MOST else None


def momentum_valley(*, start=(-9.0, 1.5), lr=1.9, momentum=0.9, shown=30, title="The same valley, walked twice"):
    """Return a map of a narrow valley with two walks from one start: without momentum, and with it.

    The reader chooses rate, momentum and how many steps are drawn, and drags the start.

    Parameters
    ----------
    start : (float, float)
        u from -10 to 10 and v from -2 to 2.
    lr : float
        The learning rate of both walks, 0.1 to 4.
    momentum : float
        Of the second walk, 0 to 0.98.
    shown : int
        How many steps are drawn at first, 0 to 200.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        A start outside of the map, or a value that the sliders do not have.

    Source: the course's own.
    """
    _refuse(start, shown, lr=(lr, RATES), momentum=(momentum, MOMENTA))
    data = _data(start, lr, momentum, shown)
    with np.errstate(over="ignore", invalid="ignore"):
        walks = {
            "Without momentum": walk(start, lr, 0.0, MOST),
            f"Momentum {momentum:g}": walk(start, lr, momentum, MOST),
        }
    return live("valley", data, title=title, static=_static(walks, f"with the rate {lr:g}", shown))


def adam_valley(*, start=(-9.0, 1.5), lr=0.3, power=0, shown=30, title="The same valley, with Adam"):
    """Return the map of `momentum_valley` with two other walks: momentum 0.9 at the rate 1.9, and Adam.

    The reader chooses Adam's rate, what the whole loss is multiplied by, and how many steps are drawn, and drags the
    start.

    Parameters
    ----------
    start : (float, float)
        u from -10 to 10 and v from -2 to 2.
    lr : float
        Adam's rate, 0.05 to 2.
    power : int
        The loss is multiplied by ten to this power, from -3 to 3.
    shown : int
        How many steps are drawn at first, 0 to 200.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        A start outside of the map, or a value that the sliders do not have.

    Source: the course's own.
    """
    _refuse(start, shown, lr=(lr, ADAM_RATES), power=(power, POWERS))
    adam = {"lr": float(lr), "rates": ADAM_RATES, "power": power, "powers": POWERS, "betas": BETAS}
    data = _data(start, 1.9, 0.9, shown) | {"adam": adam}
    with np.errstate(over="ignore", invalid="ignore"):
        walks = {
            "Momentum 0.9": walk(start, 1.9, 0.9, MOST, 10.0**power),
            "Adam": adam_walk(start, lr, MOST, 10.0**power),
        }
    rates = f"with the rates 1.9 and {lr:g}{f', the loss times {10.0**power:g}' if power else ''}"
    return live("valley", data, title=title, static=_static(walks, rates, shown))


def _refuse(start, shown, **sliders):
    """Raise ValueError for a start outside of the map, or for a value that a slider, (value, range), does not have."""
    u, v = (float(w) for w in start)
    if not (abs(u) <= REACH[0] and abs(v) <= REACH[1]):  # nan is refused too
        raise ValueError(f"start is ({u:g}, {v:g}); the map shows u to {REACH[0]:g} and v to {REACH[1]:g}, either way.")
    for name, (value, (low, high)) in sliders.items():
        if not low <= value <= high:
            raise ValueError(f"{name} is {value}; the slider goes from {low} to {high}.")
    if require_count("shown", shown, minimum=0) > SHOWN:
        raise ValueError(f"shown is {shown}; at most {SHOWN} steps are drawn.")


def _data(start, lr, momentum, shown):
    """What the script of both figures needs."""
    return {
        "curvature": CURVATURE, "reach": REACH, "bottom": BOTTOM, "most": MOST, "rates": RATES, "momenta": MOMENTA,
        "drawn": SHOWN, "start": [float(w) for w in start], "lr": float(lr), "momentum": float(momentum),
        "shown": shown, "levels": LEVELS,
    }  # fmt: skip


def _static(walks, rates, shown):
    """The picture where no script runs: both maps, one above the other. walks: {name: path (`MOST` + 1, 2)}."""
    said = []
    with style.context():
        fig, axes = style.new_figure(4.1, 2.7, 2, 1, sharex=True)
        for i, (ax, (name, path)) in enumerate(zip(axes, walks.items(), strict=True)):
            with np.errstate(over="ignore", invalid="ignore"):
                needed = arrived(path)
            told = f"{needed} steps to the bottom" if needed is not None else "never at the bottom"
            who = name.lower() if name.startswith("Without") else f"with {name.replace('Momentum', 'momentum')}"
            said.append(
                f"{who} it is " + ("never at the bottom" if needed is None else f"at the bottom after {needed} steps")
            )
            for level in LEVELS:
                turn = np.linspace(0, 2 * math.pi, 200)
                across = np.sqrt(2 * level / np.array(CURVATURE))
                ax.plot(across[0] * np.cos(turn), across[1] * np.sin(turn), color=style.GRID, linewidth=1)
            role = "gradient" if i == 0 else "data"
            with np.errstate(over="ignore", invalid="ignore"):
                near = path[: shown + 1][np.all(np.abs(path[: shown + 1]) < 50, axis=1)]
            ax.plot(*near.T, color=style.colour(role), linewidth=1.2, marker=style.cue(role).marker, markersize=3)
            ax.plot(*path[0], marker="s", markersize=8, color=style.colour("weight"), linestyle="none")
            ax.plot(0, 0, marker="+", markersize=10, color=style.INK, linestyle="none")
            ax.set(xlim=(-REACH[0], REACH[0]), ylim=(-REACH[1], REACH[1]), aspect="equal", ylabel="v")
            ax.set_title(f"{name}: {told}", fontsize=style.SIZE_TEXT)
            ax.grid(False)
        axes[1].set_xlabel("u")
    alt = (
        f"A valley a hundred times as steep across as along, and two walks {rates}, {shown} steps of each "
        f"drawn: {'; '.join(said)}."
    )
    caption = "Each ring joins points of equal loss; the cross is the bottom. Both walks begin at the square."
    return picture(fig, alt=alt, caption=caption)
