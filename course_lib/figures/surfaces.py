"""Loss surfaces to walk on: two heights over a plane of two weights, with gradients, and what lies where.

Surfaces take points (..., 2), so that one call moves a single walker or a whole grid of them.
Source: Dey, "Minimizing Loss Function" (local minimum, and the flat "foot hill" where one may get stuck).
"""

from functools import cache

import numpy as np

# Centre (u, v), width and depth of each dent: one wide and deep, two narrow and shallow, mirrored at v = 0.
DENTS = ((1.4, 0.0, 0.9, 0.95), (-1.3, 1.2, 0.65, 0.6), (-1.3, -1.2, 0.65, 0.6))
RAVINE = np.array([0.1, 1.25])  # curvatures along u and v


def foothills(p):
    """A flat board at height 1 with three dents: J = 1 - sum_k depth_k exp(-|p - c_k|^2 / (2 s_k^2)).

    It has a deepest minimum, two local ones, a saddle between those, and a plateau around all of them.

    Parameters
    ----------
    p : (..., 2) array

    Returns
    -------
    (...) array
    """
    p = np.asarray(p, dtype=float)
    height = np.ones(p.shape[:-1])
    for *centre, width, depth in DENTS:
        height = height - depth * np.exp(-np.sum((p - centre) ** 2, axis=-1) / (2 * width**2))
    return height


def foothills_gradient(p):
    """dJ/dp of `foothills`: sum_k depth_k exp(...) (p - c_k) / s_k^2; p (..., 2)."""
    p = np.asarray(p, dtype=float)
    gradient = np.zeros(p.shape)
    for *centre, width, depth in DENTS:
        away = p - centre
        dent = depth * np.exp(-np.sum(away**2, axis=-1, keepdims=True) / (2 * width**2))
        gradient = gradient + dent * away / width**2
    return gradient


def ravine(p):
    """A long valley, J = 1/2 (0.1 u^2 + 1.25 v^2): steep across, nearly flat along; p (..., 2)."""
    return 0.5 * np.sum(RAVINE * np.asarray(p, dtype=float) ** 2, axis=-1)


def ravine_gradient(p):
    """dJ/dp of `ravine`: (0.1 u, 1.25 v); p (..., 2), same shape out."""
    return RAVINE * np.asarray(p, dtype=float)


SURFACES = {"foothills": (foothills, foothills_gradient), "ravine": (ravine, ravine_gradient)}


def descend(gradient, start, lr, steps):
    """Return all points of a descent p <- p - lr gradient(p), the start first.

    Parameters
    ----------
    gradient : callable, (..., 2) -> (..., 2)
    start : (..., 2) array
    lr : float
    steps : int

    Returns
    -------
    (steps + 1, ..., 2) array
    """
    path = [np.asarray(start, dtype=float)]
    for _ in range(steps):
        path.append(path[-1] - lr * gradient(path[-1]))
    return np.array(path)


def steps_along_gradient(loss, gradient, H, start, below, most=10_000):
    """Return how many steps it takes until a loss is below a bound, each the best one along its gradient.

    On a parabola with the second derivatives H the best learning rate for a gradient g is g.g / (g.H g).

    Parameters
    ----------
    loss, gradient : callable, (d,) -> float, (d,) -> (d,)
    H : (d, d) array
        The second derivatives, the same everywhere.
    start : (d,) array
    below : float
    most : int
        RuntimeError after that many steps.

    Source: Hwu, "Stochastic Gradient Descent" (the update's eps from the most accurate estimate of the minimum).
    """
    p = np.asarray(start, dtype=float)
    for step in range(most + 1):
        if loss(p) < below:
            return step
        g = gradient(p)
        p = p - (g @ g) / (g @ H @ g) * g
    raise RuntimeError(f"after {most} steps the loss is {loss(p):.3g}, not below {below:g}; is it lower anywhere?")


@cache
def landmarks():
    """Return {"deepest minimum": (1, 2), "local minimum": (2, 2), "saddle": (1, 2)}: where `foothills` is level.

    They are computed: descents from the dents, and for the saddle a descent along the mirror line.
    """
    deep, upper, lower = (np.array(d[:2]) for d in DENTS)
    level = descend(foothills_gradient, [deep, upper, lower, (upper + lower) / 2], 0.4, 400)[-1]
    return {"deepest minimum": level[:1], "local minimum": level[1:3], "saddle": level[3:]}


def ending(p, near=0.05):
    """Name where a walker on `foothills` is: a key of `landmarks()`, "plateau" or "on the way".

    Parameters
    ----------
    p : (2,) array
    near : float
        Within this distance of a landmark, a walker has arrived. Elsewhere, higher than 0.97 is the plateau.
    """
    for name, places in landmarks().items():
        if np.min(np.linalg.norm(places - p, axis=1)) < near:
            return name
    return "plateau" if foothills(p) > 0.97 else "on the way"
