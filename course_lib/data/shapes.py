"""Ten classes of coloured shapes on small pictures, made here so that colour networks can train offline.

The colours of shape and background are drawn without looking at the class, and either may be the lighter one.
Only the outline tells the class, which is what a convolutional network has to find.
"""

import numpy as np

from .errors import check_count, check_rng
from .synthetic import balanced_labels

SIZE = 32
"""Height and width of a picture in pixels."""


def _disc(u, v):
    return np.hypot(u, v) - 0.9


def _ring(u, v):
    return np.abs(np.hypot(u, v) - 0.75) - 0.22


def _square(u, v):
    return np.maximum(np.abs(u), np.abs(v)) - 0.78


def _triangle(u, v):
    return np.maximum(v, 0.866 * np.abs(u) - 0.5 * v) - 0.55


def _diamond(u, v):
    return 0.53 * (np.abs(u) / 0.62 + np.abs(v) - 1)


def _plus(u, v):
    short, long = np.minimum(np.abs(u), np.abs(v)), np.maximum(np.abs(u), np.abs(v))
    return np.maximum(short - 0.28, long - 0.95)


def _star(u, v):
    # Fold the plane onto half a point of the star: the tip at angle 0 (radius 1), the notch at pi/5 (radius 0.42).
    angle = np.abs(np.mod(np.arctan2(u, -v) + np.pi / 5, 2 * np.pi / 5) - np.pi / 5)
    radius, notch = np.hypot(u, v), 0.42 * np.exp(1j * np.pi / 5)
    normal = np.array([notch.imag, 1 - notch.real]) / abs(1 - notch)
    return normal[0] * (radius * np.cos(angle) - 1) + normal[1] * radius * np.sin(angle)


def _heart(u, v):
    u = np.abs(u)
    lobes = np.hypot(u - 0.45, v + 0.3) - 0.5
    point = np.maximum(0.77 * u + 0.64 * v - 0.6545, 0.02 - v)  # its sides are tangents of the lobes
    middle = np.maximum(u - 0.4, np.abs(v) - 0.3)
    return np.minimum(np.minimum(lobes, point), middle)


def _crescent(u, v):
    return np.maximum(np.hypot(u, v) - 0.95, 0.78 - np.hypot(u - 0.42, v))


def _arrow(u, v):
    shaft = np.maximum(np.abs(v) - 0.2, np.abs(u + 0.4) - 0.55)
    head = np.maximum(0.05 - u, (0.85 * (u - 1) + np.abs(v)) / 1.31)
    return np.minimum(shaft, head)


# Each function gives the distance to the outline at (u, v) - right, down, in units of the shape's radius -
# negative inside. Near the outline it is a true distance, which makes soft edges one line of code.
_OUTLINES = {
    "disc": _disc,
    "ring": _ring,
    "square": _square,
    "triangle": _triangle,
    "diamond": _diamond,
    "plus": _plus,
    "star": _star,
    "heart": _heart,
    "crescent": _crescent,
    "arrow": _arrow,
}

SHAPE_NAMES = tuple(_OUTLINES)
"""Name of each class of `colour_shapes`, in the order of the labels 0..9."""


def colour_shapes(n, *, rng):
    """Pictures of ten shapes with random position, size, tilt, colours, background and noise.

    Parameters
    ----------
    n : int >= 1
        Number of pictures; the classes are balanced (counts differ by at most one) and shuffled.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 3, 32, 32) float32 in [0, 1]
        Red, green and blue planes of each picture.
    y : (n,) int64 in 0..9
        `SHAPE_NAMES[y[i]]` is the shape of picture i.

    Raises
    ------
    TypeError
        If `n` is no whole number or `rng` no Generator.
    ValueError
        If `n` is below 1.

    Notes
    -----
    Source: our own, in the format of CIFAR-10; lecture K's end-to-end network takes such 3 x 32 x 32 inputs.
    """
    n, rng = check_count("n", n), check_rng(rng)
    y = balanced_labels(n, len(SHAPE_NAMES), rng)
    inside = _coverage(y, rng)[:, None]
    light_on_top = rng.random(n) < 0.5
    light = _colours(0.68, 0.85, n, rng)
    dark = _colours(0.15, 0.32, n, rng)
    shape = np.where(light_on_top[:, None], light, dark)[:, :, None, None]
    ground = np.where(light_on_top[:, None], dark, light)[:, :, None, None] + _gradient(n, rng)
    x = ground + inside * (shape - ground)
    x += np.float32(0.04) * rng.standard_normal(x.shape, dtype=np.float32)
    return np.clip(x, 0, 1, out=x), y


def _coverage(y, rng):
    """(n, 32, 32) float32 in [0, 1]: how much of each pixel lies inside the shape of class y[i]."""
    n = len(y)
    radius = rng.uniform(8.5, 12.5, size=n).astype(np.float32)
    # The centre may move so far that the whole shape stays in the picture; corners reach 1.1 radii.
    room = SIZE / 2 - 1.12 * radius
    centre = (SIZE / 2 + room * rng.uniform(-1, 1, size=(2, n))).astype(np.float32)
    tilt = rng.uniform(-0.3, 0.3, size=n)
    cos, sin = np.cos(tilt).astype(np.float32), np.sin(tilt).astype(np.float32)
    pixel = np.arange(SIZE, dtype=np.float32) + np.float32(0.5)
    inside = np.empty((n, SIZE, SIZE), dtype=np.float32)
    for label, name in enumerate(SHAPE_NAMES):
        (rows,) = np.nonzero(y == label)
        r, c, s = (a[rows, None, None] for a in (radius, cos, sin))
        right = (pixel[None, None, :] - centre[0, rows, None, None]) / r
        down = (pixel[None, :, None] - centre[1, rows, None, None]) / r
        distance = r * _OUTLINES[name](c * right + s * down, c * down - s * right)
        inside[rows] = np.clip(0.5 - distance, 0, 1)  # one pixel wide soft edge
    return inside


def _colours(low, high, n, rng):
    """(n, 3) float32 colours of random hue whose mean over red, green, blue lies in [low, high]."""
    hue = rng.uniform(0, 2 * np.pi, size=(n, 1)) + np.array([0, 2, 4]) * np.pi / 3
    colour = rng.uniform(low, high, size=(n, 1)) + rng.uniform(0.05, 0.3, size=(n, 1)) * np.cos(hue)
    return colour.astype(np.float32)


def _gradient(n, rng):
    """(n, 1, 32, 32) float32: a slope of random direction, within 0.1 of zero, that lights the background."""
    direction = rng.uniform(0, 2 * np.pi, size=n)
    ramp = np.linspace(-0.07, 0.07, SIZE)
    slope = np.cos(direction)[:, None, None] * ramp + np.sin(direction)[:, None, None] * ramp[:, None]
    return slope[:, None].astype(np.float32)
