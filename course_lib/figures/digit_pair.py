"""Pictures of one neuron on two digits: twenty digits and a mistake, its weights as an image, its outputs by step."""

import numpy as np

from course_lib.validate import require_some

from . import style
from .picture import picture
from .signed import signed
from .stepper import stepper

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
    names : (str, str), optional
        What the labels 0 and 1 stand for; None where the images are no weights, and speak for neither.

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
    if names is not None:
        fig.supxlabel(
            f"orange: ink here speaks for a {names[1]}\npurple with dashes: ink here speaks for a {names[0]}",
            fontsize=style.SIZE_SMALL,
        )
    return fig


def outputs_by_step(walk, x, y, at, *, title, side=28, names=("4", "9")):
    """Return a stepper through a descent: the weights as an image, and how many digits of each kind have which output.

    Parameters
    ----------
    walk : (steps + 1, side * side + 1) array
        The weights after each step, the bias last.
    x : (n, side * side + 1) array
        The digits, with a last column of ones; an output is x @ weights, and 0.5 or more says `names[1]`.
    y : (n,) int array of 0 and 1
    at : list of int
        The steps that are shown.
    title : str
    names : (str, str)
        What the labels 0 and 1 stand for.

    ValueError where a list is empty.
    """
    require_some("x", x)
    require_some("at", at)
    walk, y = np.asarray(walk, float), np.asarray(y)
    outputs = {k: x @ walk[k] for k in at}
    low, high = min(o.min() for o in outputs.values()), max(o.max() for o in outputs.values())
    bins = np.linspace(min(low, 0) - 0.05, max(high, 1) + 0.05, 41)
    most = max(np.histogram(o[y == c], bins)[0].max() for k, o in outputs.items() for c in (0, 1) if k)
    frames = [_outputs_frame(k, walk[k], outputs[k], y, bins, 1.1 * most, side, names) for k in at]
    return stepper(frames, title=title)


@style.styled
def _outputs_frame(step, w, outputs, y, bins, most, side, names):
    fig, (left, right) = style.new_figure(4.2, 2.7, 1, 2, width_ratios=(1, 1.7))
    signed(left, w[:-1].reshape(side, side))
    left.set(xticks=[], yticks=[])
    left.set_title("weights", loc="center")
    left.grid(False)
    left.spines[:].set(visible=True, color=style.GRID)
    right.axvline(0.5, color=style.MUTED, linestyle=":", linewidth=1.2)
    for c, role, look in ((0, "data", "stepfilled"), (1, "hazard", "step")):
        fill = dict(alpha=0.45) if look == "stepfilled" else dict(linewidth=2)
        right.hist(outputs[y == c], bins, histtype=look, color=style.colour(role), label=f"{names[c]}s", **fill)
    right.set(xlabel="output", ylabel="number of digits", ylim=(0, most), yticks=[], xlim=(bins[0], bins[-1]))
    right.grid(False)
    right.set_title(f"outputs, step {step}", loc="center")
    right.legend(loc="upper right")
    means = [outputs[y == c].mean() for c in (0, 1)]
    right_ones = int(np.sum((outputs >= 0.5) == (y == 1)))
    said = f"mean output of {names[0]}s {means[0]:.2f}, of {names[1]}s {means[1]:.2f}; {right_ones} of {len(y)} right"
    when = f"After {step} step{'s' if step != 1 else ''}"
    return picture(fig, alt=f"Step {step}: {said}.", caption=f"{when}: {said}.".replace("-", "\u2212"))


def _ink(ax, image, framed=False):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    look = dict(color=style.colour("hazard"), linewidth=3) if framed else dict(color=style.GRID, linewidth=0.8)
    ax.spines[:].set(visible=True, **look)
