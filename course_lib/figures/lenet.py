"""Figures of lesson 09: LeNet-5's costs per layer, C3's connection table, what F6 draws, and colour pictures.

Every number drawn here comes from `course_lib.nn` and `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import plots, style, training
from .network_layers import PASSIVE
from .svg import Svg

NAMES = ("C1", "S2", "C3", "S4", "C5", "F6", "OUTPUT")
"""Hwu's names of the seven layers that compute something; activations and Flatten belong to the layer before."""

COLUMN = 3.75
"""Inches that a phone of 400 pixels leaves to a figure; the text in it cannot shrink, so a wider one must scroll."""


def named_costs(net, shape=(1, 32, 32)):
    """Return {"C1": LayerCost, ...} for either variant of LeNet-5.

    Raises
    ------
    ValueError
        If the network does not have seven layers besides activations and Flatten.
    """
    costs = [c for layer, c in zip(net, net.costs(shape), strict=True) if not isinstance(layer, PASSIVE)]
    return dict(zip(NAMES, costs, strict=True))


@style.styled
def cost_bars(costs, *, title=""):
    """Return a figure with two bars for each layer: its share of the parameters and its share of the multiply-adds.

    Parameters
    ----------
    costs : dict
        name -> LayerCost; see `named_costs`.
    """
    fig, ax = style.new_figure(COLUMN, 0.62 * len(costs) + 1.1)
    rows, thick = np.arange(len(costs)), 0.38
    series = (("parameters", "trainable", "weight", -1), ("multiply-adds", "multiply_adds", "thread", 1))
    for name, field, role, side in series:
        counts = np.array([getattr(c, field) for c in costs.values()])
        shares = 100 * counts / counts.sum()
        cue, place = style.cue(role), rows + side * thick / 2
        ax.barh(place, shares, thick, color=cue.colour, hatch=cue.hatch, edgecolor=style.PAPER, label=name)
        for y, share, count in zip(place, shares, counts, strict=True):
            text = f"{share:.1f} %  ({count:,})" if count else "0"
            ax.text(share + 1, y, text, va="center", fontsize=style.SIZE_SMALL)
    ax.set(yticks=rows, yticklabels=list(costs), xlim=(0, 150), xticks=range(0, 101, 25), title=title)
    ax.set_xlabel("share of the whole net, in %", loc="left")
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.legend(loc="lower right")
    return fig


def connections(table):
    """Return a drawing of a connection table (c_out, c_in) of bool: a filled cell means "sees".

    Below each column stands how many maps that output map sees.
    """
    table = np.asarray(table)
    outputs, inputs = table.shape
    wide, high, left, top = 20, 26, 72, 44  # sixteen columns fit a phone
    svg = Svg(left + outputs * wide + 6, top + inputs * high + 34)
    svg.text(left, 16, f"output map, 0 to {outputs - 1}", bold=True)
    svg.text(0, top - 8, "input map", bold=True)
    svg.text(0, top + inputs * high + 20, "maps seen", bold=True)
    for m in range(outputs):
        x = left + (m + 0.5) * wide
        svg.text(x, top - 8, str(m), anchor="middle")
        svg.text(x, top + inputs * high + 20, str(int(table[m].sum())), anchor="middle", bold=True)
    for c in range(inputs):
        svg.text(left - 12, top + (c + 0.5) * high + 4, str(c), anchor="end")
        for m in range(outputs):
            x, y = left + m * wide, top + c * high
            svg.rect(x, y, wide, high, stroke=style.GRID)
            if table[m, c]:
                svg.rect(x + 2, y + 3, wide - 4, high - 6, fill="weight", stroke="none", radius=4)
    return svg


def narrow_curves(series, **options):
    """Return `plots.curves` of the same arguments, as wide as a phone's page."""
    _, ax = style.new_figure(COLUMN, 3.1)
    return plots.curves(series, ax=ax, **options)


def confusion(counts):
    """Return `training.confusion` of (C, C) counts, as wide as a phone's page; it raises what that raises."""
    fig = training.confusion(counts)
    fig.set_size_inches(COLUMN, COLUMN + 0.1)
    return fig


@style.styled
def drawings(prototypes):
    """Return a figure of ten drawings (10, 84), 12 rows of 7 pixels each, in two rows, with its digit above each."""
    fig, axes = style.new_figure(COLUMN, 2.9, 2, 5)
    for digit, ax in enumerate(axes.ravel()):
        _map(ax, np.reshape(prototypes[digit], (12, 7)), "gray_r", -1, 1)
        ax.set_title(str(digit), fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    return fig


@style.styled
def read_by_distance(images, features, prototypes, *, labels=None):
    """Return a figure of digits (n, H, W), the 12x7 pictures that F6 makes of them, and the nearest prototypes.

    Parameters
    ----------
    images : array (n, H, W)
    features : array (n, 84)
        F6's output, each number from -1 to 1.
    prototypes : array (C, 84)
        Of -1 and +1.
    labels : (n,) int, optional
        Told above the images.
    """
    n = len(images)
    distances = ops.rbf_forward(np.asarray(features, float), prototypes)[0]
    fig, axes = style.new_figure(min(8.5, 0.72 * n + 0.85), 3.9, 3, n, squeeze=False)
    for i in range(n):
        if labels is not None:
            axes[0, i].set_title(f"label {labels[i]}", fontsize=style.SIZE_SMALL, fontweight="normal", loc="center")
        answer = int(distances[i].argmin())
        _map(axes[0, i], images[i], "gray_r", 0, 1)
        _map(axes[1, i], np.reshape(features[i], (12, 7)), "gray_r", -1, 1)
        _map(axes[2, i], np.reshape(prototypes[answer], (12, 7)), "gray_r", -1, 1)
        text = f"answer {answer}\ndistance {distances[i, answer]:.0f}"
        axes[2, i].set_xlabel(text, fontsize=style.SIZE_SMALL)
    for ax, text in zip(axes[:, 0], ("input", "F6 as\n12 x 7", "nearest\nprototype"), strict=True):
        ax.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=style.SIZE_SMALL)
    return fig


@style.styled
def shapes(images, answers, labels, names, *, cols=3):
    """Return a figure of colour images (n, 3, H, W) in [0, 1], the answer above each, the right name below a wrong one.

    Parameters
    ----------
    images : array (n, 3, H, W)
    answers, labels : (n,) int
    names : sequence of str
        The name of each class.
    """
    rows, cols = -(-len(images) // cols), min(cols, len(images))
    fig, axes = style.new_figure(1.2 * cols + 0.1, 1.6 * rows, rows, cols, squeeze=False)
    for ax in axes.ravel()[len(images) :]:
        ax.set_axis_off()
    for ax, image, answer, label in zip(axes.ravel(), images, answers, labels, strict=False):
        _map(ax, np.moveaxis(image, 0, -1), None, 0, 1)
        right = answer == label
        ax.set_title(("" if right else "\N{BALLOT X} ") + names[answer], fontsize=style.SIZE_TEXT, loc="center", pad=4)
        if not right:
            ax.set_xlabel(f"is: {names[label]}", fontsize=style.SIZE_TEXT)
            ax.spines[:].set(color=style.colour("hazard"), linewidth=2.5)
    return fig


def _map(ax, values, cmap, low, high):
    ax.imshow(values, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color=style.GRID)
