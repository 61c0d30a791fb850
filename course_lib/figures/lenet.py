"""Figures of lesson 09: LeNet-5's layers in rows, where C3's windows lie, C3's table, F6's drawings, colours.

Every number drawn here comes from `course_lib.nn` and `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np
from matplotlib.patches import Rectangle

from course_lib import reference as ops

from . import plots, style
from .network_layers import PASSIVE, Field, network_layers
from .svg import Svg
from .volumes import box, footprint

NAMES = ("C1", "S2", "C3", "S4", "C5", "F6", "OUTPUT")
"""Hwu's names of the seven layers that compute something; activations and Flatten belong to the layer before."""

COLUMN = 3.75
"""Inches that a phone of 400 pixels leaves to a figure; the text in it cannot shrink, so a wider one must scroll."""

WIDE = 375
"""The same width in pixels, for drawings."""

MADE = {
    "C1": (("convolution 5 × 5",), ("the same",)),
    "S2": (("sum of 2 × 2,", "times w, plus b"), ("maximum", "of 2 × 2")),
    "C3": (("convolution 5 × 5,", "over some of S2"), ("over all", "maps of S2")),
    "S4": (("as S2",), ("as S2",)),
    "C5": (("convolution 5 × 5", "in a single place"), ("the same",)),
    "F6": (("dense layer",), ("the same",)),
    "OUTPUT": (("distances from", "ten drawings"), ("dense layer:", "ten scores")),
}
"""Of each layer, what makes it in the network of 1998 and in today's, as lines."""

C3_FIELD = (
    Field.of_pixels()
    .through((5, 5), (1, 1), (0, 0))
    .through((2, 2), (2, 2), (0, 0))
    .through((5, 5), (1, 1), (0, 0))
)
"""What a number of C3 sees of the image: behind C1, S2 and C3's own mask."""


def layer_rows(net):
    """Return a drawing of LeNet-5 from top to bottom: of each layer its box to scale, its shape, and what makes it.

    What makes it stands in two columns, as in 1998 and as today (`MADE`); the sizes are counted by the network.

    Raises
    ------
    ValueError
        If the network does not have seven layers besides activations and Flatten.

    Source: LeCun et al. (1998), figure 2 and section II; Hwu, "Convolution Layers in LeNet-5".
    """
    layers, scale, middle, named, was, now = network_layers(net, (1, 32, 32), NAMES), 1.25, 40, 88, 150, 286
    heights = [max(v.rows * scale + 16, 46) for v in layers]
    svg = Svg(WIDE, 24 + sum(heights))
    for x, text in ((named, "layer"), (was, "in 1998"), (now, "today")):
        svg.text(x, 14, text, bold=True)
    y = 24
    for v, height in zip(layers, heights, strict=True):
        svg.line(0, y, WIDE, y, stroke=style.GRID, line=1)
        wide, high = footprint(v, scale), footprint(v, scale, rows=True)
        top = y + (height - high) / 2
        box(svg, v, middle - wide / 2, top + high - max(v.rows * scale, 3), scale, False)
        svg.text(named, y + height / 2 - 3, v.name, bold=True)
        svg.text(named, y + height / 2 + 13, v.shape_text if v.rows > 1 or v.name != "C5" else f"{v.maps}@1")
        for x, lines in zip((was, now), MADE.get(v.name, ((), ())), strict=True):
            for k, line in enumerate(lines):
                svg.text(x, y + height / 2 + 5 + 16 * (k - (len(lines) - 1) / 2), line)
        y += height
    return svg


@style.styled
def window_middles(digit, borders=(2, 0)):
    """Return a figure of a digit (28, 28) with the middles of all windows that C3's numbers see, a panel per border.

    A window of 14 x 14 has no pixel in its middle but a block of 2 x 2, which is drawn. One window is dashed.

    Raises
    ------
    ValueError
        As `middle_blocks`.

    Source: LeCun et al. (1998), section II.
    """
    largest = len(digit) + 2 * max(borders)
    fig, axes = style.new_figure(COLUMN, 2.5, 1, len(borders), squeeze=False)
    for ax, border in zip(axes.ravel(), borders, strict=True):
        image = np.pad(digit, border)
        starts = middle_blocks(len(image))
        _map(ax, image, "gray_r", 0, 1.6)
        for top in starts:
            for left in starts:
                ax.add_patch(_square(left, top, 2, color=style.colour("thread"), linewidth=0.5))
        field = C3_FIELD.size[0]
        ax.add_patch(_square(0, 0, field, color=style.INK, linewidth=1.4, linestyle="--"))
        ax.add_patch(_square(starts[0], starts[0], 2, filled=True, color=style.INK, linewidth=1))
        spare = (largest - len(image)) / 2
        edge = spare + 1  # room for the frames' lines
        ax.set(xlim=(-edge, len(image) - 1 + edge), ylim=(len(image) - 1 + edge, -edge))
        ax.spines[:].set(visible=False)
        ax.add_patch(_square(0, 0, len(image), color=style.MUTED, linewidth=1))
        ax.set_title(f"{len(image)} × {len(image)} pixels", fontsize=style.SIZE_TEXT, loc="center")
        reach = 2 * len(starts)
        ax.set_xlabel(f"middles: {reach} × {reach}", fontsize=style.SIZE_TEXT)
    return fig


def middle_blocks(size):
    """Return where the blocks of 2 pixels begin that are the middles of C3's windows along one side of an image.

    Raises
    ------
    ValueError
        If no window fits.

    Source: the course's own.
    """
    field, step = C3_FIELD.size[0], C3_FIELD.step[0]
    if size < field:
        raise ValueError(f"size is {size}; a number of C3 sees {field} pixels, so at least that many are needed.")
    return [start + field // 2 - 1 for start in range(0, size - field + 1, step)]


def named_costs(net, shape=(1, 32, 32)):
    """Return {"C1": LayerCost, ...} for either variant of LeNet-5.

    Raises
    ------
    ValueError
        If the network does not have seven layers besides activations and Flatten.
    """
    costs = [c for layer, c in zip(net, net.costs(shape), strict=True) if not isinstance(layer, PASSIVE)]
    return dict(zip(NAMES, costs, strict=True))


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


def drawings(prototypes, titles=range(10)):
    """Return a figure of drawings (n, 84), 12 rows of 7 pixels each, five in a row, with a title above each."""
    return pictures(np.reshape(prototypes, (-1, 12, 7)), titles, low=-1, cols=5)


@style.styled
def pictures(images, titles, *, low=0, high=1, cols=3):
    """Return a figure of grey images (n, H, W) with a title above each, as wide as a phone's page.

    Parameters
    ----------
    images : array (n, H, W)
    titles : sequence
        One for each.
    low, high : float
        White and black.
    cols : int
        Images side by side.
    """
    rows = -(-len(images) // cols)
    tall = np.shape(images)[1] / np.shape(images)[2]
    fig, axes = style.new_figure(COLUMN, rows * (0.78 * COLUMN / cols * tall + 0.32), rows, cols, squeeze=False)
    for ax in axes.ravel()[len(images) :]:
        ax.set_axis_off()
    for ax, image, title in zip(axes.ravel(), images, titles, strict=False):
        _map(ax, image, "gray_r", low, high)
        ax.set_title(str(title), fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
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
        Told above the images; a cross marks an answer that is another one.
    """
    n = len(images)
    distances = ops.rbf_forward(np.asarray(features, float), prototypes)[0]
    fig, axes = style.new_figure(min(8.5, 0.72 * n + 0.85), 3.9, 3, n, squeeze=False, height_ratios=(8, 12, 12))
    for i in range(n):
        if labels is not None:
            axes[0, i].set_title(f"label {labels[i]}", fontsize=style.SIZE_TEXT, fontweight="normal", loc="center")
        answer = int(distances[i].argmin())
        _map(axes[0, i], images[i], "gray_r", 0, 1)
        _map(axes[1, i], np.reshape(features[i], (12, 7)), "gray_r", -1, 1)
        _map(axes[2, i], np.reshape(prototypes[answer], (12, 7)), "gray_r", -1, 1)
        wrong = labels is not None and answer != labels[i]
        told = f"\N{BALLOT X} {answer}" if wrong else f"{answer}"
        axes[2, i].set_xlabel(f"{told}\n{distances[i, answer]:.0f}", fontsize=style.SIZE_TEXT, labelpad=4)
        if wrong:
            axes[2, i].spines[:].set(color=style.colour("hazard"), linewidth=2.5)
    for ax, text in zip(axes[:, 0], ("input", "F6 as\n12 x 7", "nearest\nprototype"), strict=True):
        ax.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=style.SIZE_TEXT)
    left = dict(xycoords="axes fraction", xytext=(-6, -4), textcoords="offset points", ha="right", va="top")
    axes[2, 0].annotate("answer\ndistance", (0, 0), fontsize=style.SIZE_TEXT, **left)
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


def _square(left, top, side, *, filled=False, **look):
    """A square around pixels of an image that is drawn by `imshow`."""
    return Rectangle((left - 0.5, top - 0.5), side, side, fill=filled, **look)


def _map(ax, values, cmap, low, high):
    ax.imshow(values, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color=style.GRID)
