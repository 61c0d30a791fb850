"""Figures of lesson 10: masks, what excites a map, and images that climb towards a neuron.

Every number drawn here comes from a trained network and `course_lib.nn`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .signed import signed

WIDTH = 3.6  # inches: fits on a phone, in a fold too, so that text keeps its size there
GREYS = 16  # shades from paper to ink: nobody sees more, and noise in 256 shades makes PNGs three times as large


@style.styled
def mask_rows(rows, *, cols=6):
    """Return a figure of masks, one row for each entry of {name: (M, K, K) array}, all on one scale around 0.

    Orange is positive, purple negative, white 0; the scale stands below.
    """
    count = min(cols, max(len(w) for w in rows.values()))
    top = max(float(np.abs(w).max()) for w in rows.values()) or 1.0
    fig = _empty(0.95 * len(rows) + 0.9)
    *parts, below = fig.subfigures(len(rows) + 1, 1, height_ratios=[0.95] * len(rows) + [0.75])
    for part, (name, masks) in zip(parts, rows.items(), strict=True):
        part.suptitle(name, x=0.01, ha="left", fontsize=style.SIZE_SMALL)
        for m, ax in enumerate(part.subplots(1, count, squeeze=False)[0]):
            drawn = _signs(ax, masks[m], top)
            ax.set_xlabel(f"map {m}", fontsize=style.SIZE_SMALL, labelpad=2)
    below.colorbar(drawn, cax=below.subplots(), orientation="horizontal", label="weight")
    return fig


@style.styled
def digit_and_masks(image, w, answer, share):
    """Return a figure of an image (H, W), what the network says about it, and all masks w (M, C, K, K) of a layer.

    The masks stand in a column per output map and a row per input map. `share` is the probability of the answer.
    """
    M, C, K, _ = w.shape
    sheet = np.full((C * (K + 1) - 1, M * (K + 1) - 1), np.nan)  # one empty pixel between the masks
    for m, c in np.ndindex(M, C):
        sheet[c * (K + 1) : c * (K + 1) + K, m * (K + 1) : m * (K + 1) + K] = w[m, c]
    top = float(np.nanmax(np.abs(sheet))) or 1.0
    fig = _empty(1.7 + WIDTH * (C + 1) / (M + 1))
    above, below = fig.subfigures(2, 1, height_ratios=[1.7, WIDTH * (C + 1) / (M + 1)])
    left, right = above.subplots(1, 2, width_ratios=[1, 1.4])
    _image(left, image, "gray_r", 0, 1)
    right.set_axis_off()
    says = f"The network says:\n{answer}, with {percent(share)}.\n\nWhy? It is all in\nnumbers like these."
    right.text(0, 0.55, says, va="center", fontsize=style.SIZE_TEXT)
    ax = below.subplots()
    _signs(ax, sheet, top)
    ax.spines[:].set(visible=False)
    for axis, count, name in ((ax.xaxis, M, "output map"), (ax.yaxis, C, "input map")):
        named = range(0, count, 1 if count < 10 else 5)  # two digits need more room than a mask has
        axis.set_ticks([m * (K + 1) + (K - 1) / 2 for m in named], labels=list(named))
        axis.set_label_text(name)
    ax.tick_params(length=0)
    return fig


@style.styled
def answers_of(rows, columns, *, square=(5, 2)):
    """Return a figure of images and what they were asked: {name: (n, H, W) array}, a column for each image.

    Parameters
    ----------
    rows : dict
        The first row is drawn as ink in [0, 1], and its outline over all others. Each picture of these has its own
        scale around 0: orange is positive. An array smaller than the images holds a value for each place of a square,
        drawn at the square's middle; there, what is strongly negative has a dash.
    columns : list of n str
    square : pair of int
        Side and stride of that square.

    All pictures have one frame, so that a pixel stands at the same place in each row.
    """
    first = np.asarray(next(iter(rows.values())))
    n, side, name_height, title_height = len(columns), WIDTH / len(columns), 0.24, 0.2
    height = (side + name_height) * len(rows) + title_height
    fig = _empty(height)
    fig.set_layout_engine("none")
    for k, (name, images) in enumerate(rows.items()):
        top = height - k * (side + name_height) - (title_height if k else 0)
        fig.text(0.01, (top - 0.03) / height, name, ha="left", va="top", fontsize=style.SIZE_SMALL, fontweight="bold")
        low = top - name_height - side - (0 if k else title_height)
        for i in range(n):
            box = [(i * side + 0.03) / WIDTH, low / height, (side - 0.06) / WIDTH, (side - 0.06) / height]
            ax, values = fig.add_axes(box), np.asarray(images[i])
            if k == 0:
                _image(ax, values, "gray_r", 0, 1)
                ax.set_title(columns[i], fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
                continue
            reach = float(np.abs(values).max())
            if values.shape == first[i].shape:
                _signs(ax, values, reach)
            else:
                _signs(ax, values, reach, dash=0.4, extent=middles(values.shape, *square))
            ax.contour(first[i], levels=[0.5], colors=style.INK, linewidths=0.9)
            ax.set(xlim=(-0.5, first.shape[2] - 0.5), ylim=(first.shape[1] - 0.5, -0.5))
    return fig


def middles(shape, size, stride):
    """Return (left, right, bottom, top), in pixels, of a map (rows, columns) whose cells lie at the squares' middles.

    shape : how many places a square of side `size` has, moved by `stride`. No errors.
    """
    start = (size - 1 - stride) / 2  # half a stride before the middle of the first square
    return start, start + stride * shape[1], start + stride * shape[0], start


@style.styled
def maps_of(images, found, *, title, maps=None):
    """Return a figure with a row for each image (H, W): the image, then its maps (M, H', W') of one layer.

    Parameters
    ----------
    images : array (n, H, W)
    found : array (n, M, H', W')
    title : str
        Which layer, above all.
    maps : list of int
        Which maps; all unless given. Every map has one scale for all images.
    """
    maps = list(range(found.shape[1])) if maps is None else maps
    n, cols = len(images), len(maps) + 1
    side = min(0.98, WIDTH / cols)
    fig, axes = style.new_figure(side * cols, 0.9 * side * n + 0.6, n, cols, squeeze=False)
    fig.suptitle(title, x=0.01, ha="left", fontsize=style.SIZE_SMALL)
    fig.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
    for i, line in enumerate(axes):
        _image(line[0], images[i], "gray_r", 0, 1)
        for ax, m in zip(line[1:], maps, strict=True):
            _image(ax, found[i, m], style.shades("output"), 0, float(found[:, m].max()) or 1.0)
    for ax, text in zip(axes[0], ("input", *(f"map {m}" for m in maps)), strict=True):
        ax.set_title(text.removeprefix("map "), fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
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
        f"For each of the maps {' and '.join(map(str, maps))} its masks, and the patches with its largest values "
        f"({reach}); below each patch, the digit it was cut from."
    )
    return picture(_draw_excited(w, patches, labels, maps), alt=alt[0].upper() + alt[1:] + ".", caption=caption)


@style.styled
def _draw_excited(w, patches, labels, maps):
    top = float(np.abs(w).max()) or 1.0
    fig = _empty(1.75 * len(w))
    parts = iter(np.ravel(fig.subfigures(2 * len(w), 1, height_ratios=[0.8, 0.95] * len(w))))
    for masks, cut, digits, m in zip(w, patches, labels, maps, strict=True):
        above, below = next(parts), next(parts)
        above.suptitle(f"map {m}: its masks", x=0.01, ha="left", fontsize=style.SIZE_SMALL)
        for ax, mask in zip(above.subplots(1, len(masks), squeeze=False)[0], masks, strict=True):
            _signs(ax, mask, top)
        below.suptitle("what excites it most", x=0.01, ha="left", fontsize=style.SIZE_SMALL)
        for ax, patch, digit in zip(below.subplots(1, len(cut), squeeze=False)[0], cut, digits, strict=True):
            _image(ax, patch, "gray_r", 0, 1)
            ax.set_xlabel(f"{digit}", fontsize=style.SIZE_SMALL, labelpad=2)
    return fig


@style.styled
def image_rows(rows, columns=None):
    """Return a figure of ink images in rows with a name above each: {name: (n, H, W) array in [0, 1]}.

    Parameters
    ----------
    rows : dict
        name -> list or array of n images; an entry may be None.
    columns : list of n str
        Text below the images of the last row.
    """
    n = max(len(images) for images in rows.values())
    side, name_height, below = min(0.95, WIDTH / n), 0.22, 0.22 if columns else 0.02
    height = (side + name_height) * len(rows) + below
    fig = _empty(height)
    fig.set_layout_engine("none")  # every image has its place: a layout would make the last row larger
    for k, (name, images) in enumerate(rows.items()):
        top = height - k * (side + name_height)
        fig.text(0.01, (top - 0.04) / height, name, ha="left", va="top", fontsize=style.SIZE_SMALL, fontweight="bold")
        for i, image in enumerate(images):
            if image is None:
                continue
            left, low = i * WIDTH / n + 0.03, top - name_height - side
            ax = fig.add_axes([left / WIDTH, low / height, (side - 0.06) / WIDTH, side / height])
            _image(ax, image, "gray_r", 0, 1)
            if columns and k == len(rows) - 1:
                ax.set_xlabel(columns[i], fontsize=style.SIZE_SMALL, labelpad=2)
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
    fig, axes = style.new_figure(WIDTH, 1.95, 1, 3)
    for ax, image, name, share in zip(axes, (start, end), ("start", f"after {steps} steps"), k, strict=False):
        _image(ax, image, "gray_r", 0, 1)
        ax.set_title(name, fontsize=style.SIZE_SMALL, loc="center")
        ax.set_xlabel(f"'{goal}': {percent(share[goal])}", fontsize=style.SIZE_SMALL)
    change = end - start
    reach = float(np.abs(change).max()) or 1.0
    _signs(axes[2], change, reach)
    axes[2].set_title("change", fontsize=style.SIZE_SMALL, loc="center")
    axes[2].set_xlabel(f"{-reach:.1f} to {reach:.1f}".replace("-", "\u2212"), fontsize=style.SIZE_SMALL)
    return fig


def painted(net, image, goal):
    """Return a picture of an image (H, W) and the probabilities that the network gives it; goal is the class wanted."""
    k = ops.softmax(net.forward(np.asarray(image)[None, None]))[0]
    other = int(np.argmax(np.where(np.arange(len(k)) == goal, -1, k)))
    said = f"'{goal}' has {percent(k[goal])}, next is '{other}' with {percent(k[other])}"
    rough = float(np.abs(np.diff(image, axis=-1)).mean() + np.abs(np.diff(image, axis=-2)).mean())
    return picture(
        _draw_painted(image, k, goal), alt=f"The painted image; {said}.", caption=f"{said}. Roughness {rough:.2f}."
    )


@style.styled
def _draw_painted(image, k, goal):
    fig, (left, right) = style.new_figure(WIDTH, 2.3, 1, 2, width_ratios=(1, 1.5))
    _image(left, image, "gray_r", 0, 1)
    left.set_title("image")
    colours = [style.colour("output") if d == goal else style.colour("idle") for d in range(len(k))]
    right.bar(range(len(k)), k, color=colours, hatch=["..." if d == goal else "" for d in range(len(k))])
    right.set(xticks=range(len(k)), ylim=(0, 1.12), title="probabilities")
    right.text(goal, float(k[goal]) + 0.02, percent(k[goal]), ha="center", fontsize=style.SIZE_SMALL)
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
    fig = _empty(4.4)
    above, below = fig.subfigures(2, 1, height_ratios=[1.9, 2.5])
    (left, middle), right = above.subplots(1, 2), below.subplots()
    _image(left, image, "gray_r", 0, 1)
    left.set_title("drawn from 0 to 1", fontsize=style.SIZE_SMALL, loc="center")
    reach = float(np.abs(image).max())
    drawn = _signs(middle, image, reach)
    middle.set_title("all its values", fontsize=style.SIZE_SMALL, loc="center")
    above.colorbar(drawn, ax=middle, shrink=0.8)
    least, most = np.floor(min(0, float(image.min()))), np.ceil(max(1, float(image.max())))
    width = max(1, int(np.ceil((most - least) / 40))) if most - least > 20 else 0.5
    bins = np.arange(-np.ceil(-least / width) * width, most + width, width)  # a bin begins at 0, and one ends at 1
    bins[np.isclose(bins, 1)] = 1 + 1e-6  # and holds the 1s
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
    right.set(xlabel="value of a pixel", ylabel="% of pixels (log axis)", yscale="log")
    right.legend()
    return fig


def _empty(height):
    """A figure of a phone's width without axes."""
    fig = style.new_figure(WIDTH, height)[0]
    fig.clear()
    return fig


def _image(ax, values, cmap, low, high):
    _frame(ax)
    shown = _coarse(values, (high - low) / GREYS)
    return ax.imshow(shown, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")


def _signs(ax, values, reach, **options):
    _frame(ax)
    reach = reach or 1.0
    return signed(ax, _coarse(values, 2 * reach / GREYS), reach, **options)


def _frame(ax):
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color=style.GRID)


def _coarse(values, shade):
    return np.round(np.asarray(values) / shade) * shade


def percent(share):
    """Return a share in [0, 1] as text; rounding never makes it all or nothing. No errors. Source: the course's own."""
    share = float(share)
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f} %"
