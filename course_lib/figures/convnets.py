"""Figures of lesson 10: masks, what excites a map, and images that climb towards a neuron.

Every number drawn here comes from a trained network and `course_lib.nn`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture

FRAME = (6.6, 2.8)  # inches of the explorer's picture
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


def excited(w, patches, values, labels, maps):
    """Return a picture of several maps of a layer, a row each: its masks, and the real patches that excite it most.

    Parameters
    ----------
    w : array (n, C, K, K)
        The masks of the n maps.
    patches : array (n, k, P, P)
        The strongest of each map first.
    values : array (n, k)
        The map's value there.
    labels : int array (n, k)
        Label of the image that each patch comes from.
    maps : list of n int
        Numbers of the maps.
    """
    kinds = [len(set(np.asarray(line).tolist())) for line in labels]
    alt = "; ".join(
        f"map {m}: {len(masks)} masks like random squares, and {len(line)} patches like each other from "
        f"{n} different {'digit' if n == 1 else 'digits'}"
        for m, masks, line, n in zip(maps, w, patches, kinds, strict=True)
    )
    reach = " and ".join(f"{line[0]:.1f} down to {line[-1]:.1f}" for line in values)
    caption = (
        f"A row for each of the maps {' and '.join(map(str, maps))}. Left its masks, right the patches with its "
        f"largest values ({reach}); below each patch, the digit it was cut from."
    )
    return picture(_draw_excited(w, patches, labels, maps), alt=alt[0].upper() + alt[1:] + ".", caption=caption)


@style.styled
def _draw_excited(w, patches, labels, maps):
    n, C, k = len(w), len(w[0]), len(patches[0])
    fig = style.new_figure(8.4, 0.4 + 0.85 * n)[0]
    fig.clear()
    left, right = fig.subfigures(1, 2, width_ratios=(0.8 * C + 1, k))
    top = float(np.abs(w).max()) or 1.0
    for line, masks, m in zip(left.subplots(n, C, squeeze=False), w, maps, strict=True):
        line[0].set_ylabel(f"map {m}", rotation=0, ha="right", va="center", fontsize=style.SIZE_SMALL)
        for ax, mask in zip(line, masks, strict=True):
            _image(ax, mask, style.DIVERGING, -top, top)
    for line, cut, digits in zip(right.subplots(n, k, squeeze=False), patches, labels, strict=True):
        for ax, patch, digit in zip(line, cut, digits, strict=True):
            _image(ax, patch, "gray_r", 0, 1)
            ax.set_xlabel(f"{digit}", fontsize=style.SIZE_SMALL, labelpad=2)
    left.suptitle("masks", x=0.02, ha="left")
    right.suptitle("what excites the map most", x=0.02, ha="left")
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
    side = min(1.15, (8.2 - 0.085 * widest) / n)
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


@style.styled
def before_after(net, start, end, goal, *, steps):
    """Return a figure of an ascent: its first and its last image, the change, and what the network says to both.

    Parameters
    ----------
    net : Sequential
        With one score for each class.
    start, end : (H, W) arrays
    goal : int
        The class that the ascent wants.
    steps : int
        Steps between the two images.
    """
    k = ops.softmax(net.forward(np.stack([start, end])[:, None]))
    fig, axes = style.new_figure(8.4, 2.4, 1, 4, width_ratios=(1.1, 1.1, 1.3, 1))
    for ax, image, name, share in zip(axes, (start, end), ("start", f"after {steps} steps"), k, strict=False):
        _image(ax, image, "gray_r", 0, 1)
        ax.set_title(name)
        ax.set_xlabel(f"'{goal}': {_percent(share[goal])}")
    change = end - start
    reach = float(np.abs(change).max()) or 1.0
    drawn = _image(axes[2], change, style.DIVERGING, -reach, reach)
    axes[2].set_title("change")
    axes[2].set_xlabel("end minus start")
    fig.colorbar(drawn, ax=axes[2], fraction=0.08, shrink=0.7, pad=0.02)
    for share, name, role, hatch, shift in ((k[0], "start", "idle", "", -0.2), (k[1], "end", "output", "...", 0.2)):
        x = np.arange(len(share)) + shift
        axes[3].bar(x, share, 0.4, label=name, color=style.colour(role), hatch=hatch)
    axes[3].set(xticks=range(k.shape[1]), ylim=(0, 1.1), title="probabilities")
    axes[3].grid(False, axis="x")
    axes[3].legend(fontsize=style.SIZE_SMALL)
    return fig


def painted(net, image, goal):
    """Return a picture of an image (H, W) and the probabilities that the network gives it; goal is the class wanted."""
    k = ops.softmax(net.forward(np.asarray(image)[None, None]))[0]
    other = int(np.argmax(np.where(np.arange(len(k)) == goal, -1, k)))
    said = f"'{goal}' has {_percent(k[goal])}, next is '{other}' with {_percent(k[other])}"
    rough = float(np.abs(np.diff(image, axis=-1)).mean() + np.abs(np.diff(image, axis=-2)).mean())
    return picture(
        _draw_painted(image, k, goal), alt=f"The painted image; {said}.", caption=f"{said}. Roughness {rough:.2f}."
    )


@style.styled
def _draw_painted(image, k, goal):
    fig, (left, right) = style.new_figure(*FRAME, 1, 2, width_ratios=(1, 1.4))
    _image(left, image, "gray_r", 0, 1)
    left.set_title("image")
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
    for values, role, name, filled in ((image, "hazard", "this image", True), (real, "data", "real digits", False)):
        cue = style.cue(role)
        right.hist(
            np.ravel(values),
            bins=bins,
            weights=np.full(np.size(values), 100 / np.size(values)),
            label=name,
            facecolor=style.tint(role, 0.6) if filled else "none",
            edgecolor=cue.colour,
            hatch=cue.hatch if filled else "",
            linewidth=0.8 if filled else 2.5,
        )
    right.set(xlabel="value of a pixel", ylabel="share of pixels in % (log axis)", yscale="log")
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
