"""Pictures of a perceptron on two digits: twenty digits and a mistake, its weights as an image, what it got wrong."""

import numpy as np

from course_lib.validate import require_some

from . import style
from .signed import signed

COLUMNS = 5
"""Digits in a row: with the large one beside them, the figure fits on a phone."""


@style.styled
def front_door(images, mistake, says):
    """Return a figure of handwritten digits in rows of five, and beside them a large one that was read wrongly.

    Parameters
    ----------
    images : (n, H, W) array in [0, 1]
    mistake : (H, W) array in [0, 1]
    says : str
        What stands above the large one, such as "a 9, read as a 4".
    """
    require_some("images", images)
    rows = -(-len(images) // COLUMNS)
    fig = style.new_figure(3.85, 0.47 * rows + 0.1)[0]
    fig.clear()
    grid = fig.add_gridspec(rows, COLUMNS + 2, width_ratios=[1] * COLUMNS + [0.1, 4])
    for k, image in enumerate(images):
        _ink(fig.add_subplot(grid[k // COLUMNS, k % COLUMNS]), image)
    ax = fig.add_subplot(grid[:, COLUMNS + 1])
    _ink(ax, mistake, framed=True)
    ax.set_title("\N{BALLOT X} " + says, loc="center", fontsize=style.SIZE_SMALL)
    return fig


@style.styled
def weight_images(weights, titles, *, side=28, names=("4", "9")):
    """Return a figure of weights as images, one for each moment of a run: orange above 0, purple with a dash below.

    Each image has its own scale, from minus to plus its largest weight; a weight of 0 is nearly white.

    Parameters
    ----------
    weights : sequence of (side * side + 1,) arrays, the bias last
    titles : list of str
    names : (str, str)
        What the labels 0 and 1 stand for.

    ValueError where `weights` is empty, or titles are more or fewer.
    """
    require_some("weights", weights)
    if len(weights) != len(titles):
        raise ValueError(f"there are {len(weights)} weights and {len(titles)} titles; there must be one an image.")
    rows = -(-len(weights) // 2)  # two in a row fit on a phone
    fig, axes = style.new_figure(3.5, 1.95 * rows + 0.45, rows, 2, squeeze=False)
    for ax in axes.flat[len(weights) :]:
        ax.set_axis_off()
    for ax, w, title in zip(axes.flat, weights, titles, strict=False):
        image = np.asarray(w, float)[:-1].reshape(side, side)
        signed(ax, image, dash=0.25)  # told by colour and by a mark
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, loc="center")
        ax.set_xlabel(f"{image.min():g} to {image.max():g}".replace("-", "\u2212"), fontsize=style.SIZE_SMALL)
        ax.spines[:].set(visible=True, color=style.GRID)
        ax.grid(False)
    fig.supxlabel(
        f"orange: ink here speaks for a {names[1]}\npurple with dashes: ink here speaks for a {names[0]}",
        fontsize=style.SIZE_SMALL,
    )
    return fig


def _ink(ax, image, framed=False):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    look = dict(color=style.colour("hazard"), linewidth=3) if framed else dict(color=style.GRID, linewidth=0.8)
    ax.spines[:].set(visible=True, **look)
