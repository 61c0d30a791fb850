"""Pictures of a perceptron on two digits: twenty digits and a mistake, its weights as an image, what it got wrong."""

import numpy as np

from course_lib.validate import require_some

from . import style


@style.styled
def front_door(images, mistake, says):
    """Return a figure of handwritten digits in rows of ten, and beside them a large one that was read wrongly.

    Parameters
    ----------
    images : (n, H, W) array in [0, 1]
    mistake : (H, W) array in [0, 1]
    says : str
        What stands above the large one, such as "a 9, read as a 4".
    """
    require_some("images", images)
    cols, rows = 5, -(-len(images) // 5)
    fig = style.new_figure(7.2, 0.78 * rows + 0.35)[0]
    fig.clear()
    grid = fig.add_gridspec(rows, cols + 4, width_ratios=[1] * cols + [0.4, 1.2, 1.2, 1.2])
    for k, image in enumerate(images):
        _ink(fig.add_subplot(grid[k // cols, k % cols]), image)
    ax = fig.add_subplot(grid[:, cols + 1 :])
    _ink(ax, mistake, framed=True)
    ax.set_title("\N{BALLOT X} " + says, loc="center")
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
    """
    require_some("weights", weights)
    fig, axes = style.new_figure(2.05 * len(weights) + 0.1, 2.75, 1, len(weights), squeeze=False)
    for ax, w, title in zip(axes[0], weights, titles, strict=True):
        image = np.asarray(w, float)[:-1].reshape(side, side)
        most = np.abs(image).max() or 1.0
        ax.imshow(-image, cmap=style.DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
        rows, cols = np.nonzero(image < -most / 4)  # told by colour and by a mark
        ax.scatter(cols, rows, s=8, marker="_", color=style.PAPER, linewidth=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, loc="center")
        ax.set_xlabel(f"{image.min():g} to {image.max():g}".replace("-", "\u2212"), fontsize=style.SIZE_SMALL)
        ax.spines[:].set(visible=True, color=style.GRID)
        ax.grid(False)
    fig.supxlabel(
        f"orange: ink here speaks for a {names[1]}     purple, dashes: ink here speaks for a {names[0]}",
        fontsize=style.SIZE_SMALL,
    )
    return fig


def _ink(ax, image, framed=False):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    look = dict(color=style.colour("hazard"), linewidth=3) if framed else dict(color=style.GRID, linewidth=0.8)
    ax.spines[:].set(visible=True, **look)
