"""Figures of lesson 10: masks, what excites a map, and images that climb towards a neuron.

Every number drawn here comes from a trained network and `course_lib.nn`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .stepper import stepper

FRAME = (7.8, 2.8)  # inches of each frame of a stepper
GREYS = 16  # shades from paper to ink: nobody sees more, and noise in 256 shades makes PNGs three times as large


@style.styled
def mask_rows(rows, *, title="", cols=6):
    """Return a figure of masks, one row for each entry of {name: (M, K, K) array}, all on one scale around 0.

    Orange is negative, purple positive, white 0; the scale stands beside it.
    """
    count = min(cols, max(len(w) for w in rows.values()))
    top = max(float(np.abs(w).max()) for w in rows.values()) or 1.0
    fig, axes = style.new_figure(1.05 * count + 1.9, 1.2 * len(rows) + 0.5, len(rows), count, squeeze=False)
    for line, (name, masks) in zip(axes, rows.items(), strict=True):
        for m, ax in enumerate(line):
            drawn = _image(ax, masks[m], style.DIVERGING, -top, top)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=style.SIZE_SMALL)
    for m, ax in enumerate(axes[0]):
        ax.set_title(f"map {m}", fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    fig.colorbar(drawn, ax=axes, shrink=0.8, label="weight")
    fig.suptitle(title, x=0.01, ha="left")
    return fig


@style.styled
def mask_table(w, *, title=""):
    """Return a figure of all masks w (M, C, K, K) of a layer: a column per output map, a row per input map."""
    M, C, K, _ = w.shape
    sheet = np.full((C * (K + 1) - 1, M * (K + 1) - 1), np.nan)  # one empty pixel between the masks
    for m, c in np.ndindex(M, C):
        sheet[c * (K + 1) : c * (K + 1) + K, m * (K + 1) : m * (K + 1) + K] = w[m, c]
    top = float(np.nanmax(np.abs(sheet))) or 1.0
    fig, ax = style.new_figure(8.3, 8.3 * (C + 0.9) / (M + 1.5))
    drawn = _image(ax, sheet, style.DIVERGING, -top, top)
    ax.spines[:].set(visible=False)
    ax.set(xticks=np.arange(M) * (K + 1) + (K - 1) / 2, xticklabels=range(M), xlabel="output map", title=title)
    ax.set(yticks=np.arange(C) * (K + 1) + (K - 1) / 2, yticklabels=range(C), ylabel="input map")
    ax.tick_params(length=0)
    fig.colorbar(drawn, ax=ax, shrink=0.7, label="weight", pad=0.01)
    return fig


@style.styled
def maps_of(images, found, *, maps=None):
    """Return a figure with a row for each image (H, W): the image, then its maps (M, H', W') of one layer.

    Parameters
    ----------
    images : array (n, H, W)
    found : array (n, M, H', W')
    maps : list of int
        Which maps; all unless given. Every map has one scale for all images.
    """
    maps = list(range(found.shape[1])) if maps is None else maps
    n, cols = len(images), len(maps) + 1
    fig, axes = style.new_figure(min(8.5, 0.98 * cols + 0.3), 0.98 * n + 0.35, n, cols, squeeze=False)
    for i, line in enumerate(axes):
        _image(line[0], images[i], "gray_r", 0, 1)
        for ax, m in zip(line[1:], maps, strict=True):
            _image(ax, found[i, m], style.shades("output"), 0, float(found[:, m].max()) or 1.0)
    for ax, text in zip(axes[0], ("input", *(f"map {m}" for m in maps)), strict=True):
        ax.set_title(text, fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    return fig


def excited(w, patches, values, labels, m):
    """Return a picture of the masks of one map and of the patches of real images that excite it most.

    Parameters
    ----------
    w : array (C, K, K)
        The map's masks.
    patches : array (k, P, P)
        The strongest first.
    values : array (k,)
        The map's value there.
    labels : int array (k,)
        Label of the image that each patch comes from.
    m : int
        Number of the map.
    """
    kinds = len(set(np.asarray(labels).tolist()))
    alt = (
        f"Map {m}: its {len(w)} masks look like random squares; the {len(patches)} patches that excite it most "
        f"come from {kinds} different {'digit' if kinds == 1 else 'digits'} and look alike."
    )
    caption = (
        f"Map {m}. Left: the masks on the {len(w)} input maps. Right: the patches with the largest values, "
        f"{values[0]:.1f} down to {values[-1]:.1f}; below each, the digit it was cut from."
    )
    return picture(_draw_excited(w, patches, labels, m), alt=alt, caption=caption)


@style.styled
def _draw_excited(w, patches, labels, m):
    fig = style.new_figure(*FRAME)[0]
    fig.clear()
    left, right = fig.subfigures(1, 2, width_ratios=(1, 1.75))
    top = float(np.abs(w).max()) or 1.0
    for c, ax in enumerate(left.subplots(2, -(-len(w) // 2), squeeze=False).ravel()):
        if c < len(w):
            _image(ax, w[c], style.DIVERGING, -top, top)
            ax.set_xlabel(f"input map {c}", fontsize=style.SIZE_SMALL)
        else:
            ax.set_axis_off()
    for i, ax in enumerate(right.subplots(2, -(-len(patches) // 2), squeeze=False).ravel()):
        if i < len(patches):
            _image(ax, patches[i], "gray_r", 0, 1)
            ax.set_xlabel(f"from a {labels[i]}", fontsize=style.SIZE_SMALL)
        else:
            ax.set_axis_off()
    left.suptitle(f"Map {m}: its masks", x=0.02, ha="left")
    right.suptitle("and what excites it most", x=0.02, ha="left")
    return fig


@style.styled
def image_rows(rows, columns=None, *, title=""):
    """Return a figure of ink images in rows with a name each: {name: (n, H, W) array in [0, 1]}; None is left out.

    Parameters
    ----------
    rows : dict
        name -> list or array of n images; an entry may be None.
    columns : list of n str
        Text above the first row.
    """
    n = max(len(images) for images in rows.values())
    widest = max(len(line) for name in rows for line in name.split("\n"))
    side = min(0.78, (8.3 - 0.085 * widest) / n) if n > 5 else 1.15
    fig, axes = style.new_figure(
        side * n + 0.085 * widest + 0.2,
        (side + 0.06) * len(rows) + (0.3 if columns else 0.1) + (0.3 if title else 0),
        len(rows),
        n,
        squeeze=False,
    )
    for line, (name, images) in zip(axes, rows.items(), strict=True):
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=style.SIZE_SMALL)
        for i, ax in enumerate(line):
            if i < len(images) and images[i] is not None:
                _image(ax, images[i], "gray_r", 0, 1)
            else:
                ax.set(xticks=[], yticks=[])
                ax.grid(False)
                ax.spines[:].set(visible=False)
    if columns:
        for ax, text in zip(axes[0], columns, strict=True):
            ax.set_title(text, fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    fig.suptitle(title, x=0.01, ha="left")
    return fig


def climb_frames(net, images, steps, goal):
    """Return one picture for each image of an ascent: image, change since the first, probabilities of the net.

    Parameters
    ----------
    net : Sequential
        With one score for each class.
    images : list of (H, W) arrays
        Of the ascent, the start first.
    steps : list of int
        Steps taken up to each image.
    goal : int
        The class that the ascent wants.
    """
    images = np.asarray(images)
    k = ops.softmax(net.forward(images[:, None]))
    frames = []
    for i, (image, step) in enumerate(zip(images, steps, strict=True)):
        change = image - images[0]
        typical = float(np.sqrt(np.mean(change**2)))
        sure = _percent(k[i, goal])
        alt = f"After {step} steps the pixels have changed by {typical:.2f} on average and {goal} has {sure}."
        other = int(np.argmax(np.where(np.arange(k.shape[1]) == goal, -1, k[i])))
        caption = (
            f"Step {step}: '{goal}' has {sure}, next is '{other}' with {_percent(k[i, other])}. "
            f"Typical change of a pixel: {typical:.2f} of the range from 0 to 1."
        )
        frames.append(picture(_draw_climb(image, change, k[i], step, goal), alt=alt, caption=caption))
    return frames


def climb(net, images, steps, goal, *, static=-1):
    """Return the stepper of `climb_frames`."""
    return stepper(climb_frames(net, images, steps, goal), title=f"Noise on its way to '{goal}'", static=static)


@style.styled
def _draw_climb(image, change, k, step, goal):
    fig, (left, middle, right) = style.new_figure(*FRAME, 1, 3, width_ratios=(1, 1, 1.25))
    _image(left, image, "gray_r", 0, 1)
    _image(middle, change, style.DIVERGING, -1, 1)
    left.set_title(f"image after {step} steps")
    middle.set_title("change (pale: none)")
    colours = [style.colour("output") if d == goal else style.colour("idle") for d in range(len(k))]
    right.bar(range(len(k)), k, color=colours, hatch=["..." if d == goal else "" for d in range(len(k))])
    right.set(xticks=range(len(k)), ylim=(0, 1.12), title="what the network says", ylabel="probability")
    right.text(goal, float(k[goal]) + 0.02, _percent(k[goal]), ha="center", fontsize=style.SIZE_SMALL)
    right.grid(False, axis="x")
    return fig


@style.styled
def outside(image, real):
    """Return a figure of an image that left [0, 1]: as a plot shows it, with what the plot hides, and its values.

    Parameters
    ----------
    image : array (H, W)
        Any values.
    real : array
        Pixels of real images, for the histogram.
    """
    fig, (left, middle, right) = style.new_figure(8.4, 3.2, 1, 3, width_ratios=(1, 1, 1.2))
    _image(left, image, "gray_r", 0, 1)
    left.set_title("drawn from 0 to 1")
    reach = float(np.abs(image).max())
    drawn = _image(middle, image, style.DIVERGING, -reach, reach)
    middle.set_title("drawn to its own limits")
    fig.colorbar(drawn, ax=middle, shrink=0.8)
    bins = np.linspace(min(0, float(image.min())), max(1, float(image.max())), 40)
    for values, role, name in ((real, "data", "real digits"), (image, "hazard", "this image")):
        cue = style.cue(role)
        share = np.full(np.size(values), 100 / np.size(values))
        right.hist(
            np.ravel(values),
            bins=bins,
            weights=share,
            label=name,
            color=style.tint(role, 0.6),
            edgecolor=cue.colour,
            hatch=cue.hatch,
        )
    right.set(xlabel="value of a pixel", ylabel="share of pixels, in %", yscale="log")
    right.legend()
    return fig


def _image(ax, values, cmap, low, high):
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color=style.GRID)
    shade = (high - low) / GREYS
    drawn = np.round(np.asarray(values) / shade) * shade
    return ax.imshow(drawn, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")


def _percent(share):
    """A share as text; rounding never makes it all or nothing."""
    share = float(share)
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f} %"
