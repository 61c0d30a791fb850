"""What launches left behind: images of one shape below each other, and a hatch where nobody wrote."""

import numpy as np

from course_lib.validate import require_some

from . import style

WIDTH, TEXT = 3.3, 0.3
"""Inches: a figure that a phone shows without making it smaller, and the room of a line of text."""


@style.styled
def outcomes(images, wrong=()):
    """Return a figure of grey images (H, W) in [0, 1] below each other, NaN hatched, with a name above each.

    Parameters
    ----------
    images : dict
        name -> array (H, W), all of one shape.
    wrong : collection of str
        Names of those that get a purple frame and a cross.

    Raises
    ------
    ValueError
        No image; images of different shapes; a name in `wrong` that no image has.

    Source: the course's own.
    """
    require_some("images", images)
    shapes = {np.shape(image) for image in images.values()}
    if len(shapes) > 1 or len(min(shapes)) != 2:
        raise ValueError(f"images have shapes {sorted(shapes)}; all must have one, (H, W)")
    if unknown := sorted(set(wrong) - set(images)):
        raise ValueError(f"wrong names {unknown}; the images are {', '.join(images)}")
    (h, w), n = shapes.pop(), len(images)
    side = min(WIDTH - 0.2, 1.7 * w / h)
    fig, axes = style.new_figure(WIDTH, n * (side * h / w + TEXT) + 0.1, n, 1, squeeze=False)
    for ax, (name, image) in zip(axes[:, 0], images.items(), strict=True):
        bad = name in wrong
        ax.set(xticks=[], yticks=[], facecolor=style.PAPER, anchor="W")
        ax.grid(False)
        ax.patch.set(hatch="///", edgecolor=style.colour("idle"))
        ax.imshow(np.ma.masked_invalid(image), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        ax.spines[:].set(visible=True, color=style.colour("hazard" if bad else "idle"), linewidth=2.5 if bad else 0.8)
        text = ("\N{BALLOT X} " if bad else "") + name
        ax.set_title(text, fontsize=style.SIZE_SMALL, fontweight="normal", pad=3)
    return fig
