"""Arrays of numbers with a sign as images, in one colour map all over the course.

White is 0, orange, the colour of weights, is above it, and purple below.
"""

import numpy as np

from . import style


def signed(ax, values, reach=None, *, dash=None, **options):
    """Draw an array (H, W) on `ax`, on a scale from -reach to reach, and return the image.

    Parameters
    ----------
    ax : matplotlib Axes
    values : array (H, W)
    reach : float > 0, optional
        The largest size there is unless given, and 1 where all is 0.
    dash : float, optional
        Pixels below -dash * reach get a dash, so that the sign is told by a mark as well.
    **options
        Passed to `ax.imshow`.

    No errors.
    """
    values = np.asarray(values, float)
    reach = reach or float(np.nanmax(np.abs(values), initial=0)) or 1.0
    drawn = ax.imshow(values, cmap=style.DIVERGING, vmin=-reach, vmax=reach, interpolation="nearest", **options)
    if dash is not None:
        down, across = np.nonzero(values < -dash * reach)
        if "extent" in options:  # where the middles of the pixels lie then
            left, right, bottom, top = options["extent"]
            across = left + (across + 0.5) * (right - left) / values.shape[1]
            down = top + (down + 0.5) * (bottom - top) / values.shape[0]
        ax.scatter(across, down, s=8, marker="_", color=style.PAPER, linewidth=1)
    return drawn
