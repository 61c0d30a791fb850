"""A descent that the reader starts anywhere: gradient and step as arrows on a map, the loss beside it.

Source: Owens, "Find the global minimum": dC = sum of (dC/dv) dv, so a step of -eta grad C promises to lower C by
eta |grad C|^2.
"""

import math

from course_lib.validate import require_count, require_positive

from .descent import EXTENT, learning_rate_picture, map_levels, map_tints
from .live import live
from .surfaces import DENTS, RAVINE, SURFACES

MOST = 100
"""Steps of the longest walk."""

RATES = (0.05, 2.5)
"""Learning rates that the slider offers, in steps of 0.05."""


def walk_downhill(surface="foothills", *, start=(0.6, 0.8), lr=1.2, steps=0, title="Start a walk anywhere"):
    """Return a map on which the reader starts a descent, with the gradient and the next step drawn as arrows.

    Beside it runs the loss, step by step, with what the linear estimate promises for the next step.

    Parameters
    ----------
    surface : str
        The one shown first, a key of `surfaces.SURFACES`; the reader can change it.
    start : (float, float)
        Where the first walk starts, inside the map: u and v between -3.2 and 3.2.
    lr : float
        The first learning rate, between 0.05 and 2.5.
    steps : int
        How many steps are shown at first, 0 to 100.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        An unknown surface, a start outside of the map, a rate or a number of steps that the sliders do not have.

    Source: Owens, "Find the global minimum"; the surfaces are the course's own.
    """
    if surface not in SURFACES:
        raise ValueError(f"surface is {surface!r}; the surfaces are {', '.join(SURFACES)}.")
    u, v = (float(w) for w in start)
    if not (abs(u) <= EXTENT and abs(v) <= EXTENT):  # nan is refused too
        raise ValueError(f"start is ({u:g}, {v:g}); the map shows u and v from {-EXTENT} to {EXTENT}.")
    require_positive("lr", lr)
    steps = require_count("steps", steps, minimum=0)
    if not RATES[0] <= lr <= RATES[1] or steps > MOST:
        raise ValueError(f"lr is {lr:g} and steps {steps}; the sliders go from {RATES[0]} to {RATES[1]} and to {MOST}.")
    lands = [
        {"name": name, "levels": [float(x) for x in map_levels(name)], **_formula(name)} for name in SURFACES
    ]  # fmt: skip
    data = {
        "lands": lands, "tints": map_tints(), "extent": EXTENT, "most": MOST, "rates": RATES,
        "land": list(SURFACES).index(surface), "start": [u, v], "lr": float(lr), "at": steps,
    }  # fmt: skip
    static = learning_rate_picture(surface, lr, steps or 20, u, v)
    return live("walk_downhill", data, title=title, static=static)


def _formula(name):
    """Return the numbers of a surface's formula, for the script."""
    return {"bowl": [float(h) for h in RAVINE]} if name == "ravine" else {"dents": [list(map(float, d)) for d in DENTS]}


def promise(surface, p, lr):
    """Return (estimate, true): by how much a step from p changes the loss, as the linear estimate says, and really.

    Parameters
    ----------
    surface : str
        A key of `surfaces.SURFACES`.
    p : (2,) array
    lr : float

    Source: Owens, "Find the global minimum".
    """
    height, gradient = SURFACES[surface]
    g = gradient(p)
    return -lr * math.fsum(g * g), float(height(p - lr * g) - height(p))
