"""Plain plots that several lessons share: a decision plane, curves, a grid of images, a matrix of numbers."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from course_lib.validate import as_float, require_some

from . import style
from .signed import signed


@style.styled
def decision_plane(
    x, y, predict, *, title="", labels=None, axes=("x1", "x2"), margin=0.6, resolution=300, ax=None, below=False
):
    """Return a figure of 2-D points over the regions that a classifier assigns; points on the wrong side are ringed.

    Parameters
    ----------
    x : array (n, 2)
    y : int array (n,)
        Classes 0, 1, ..., or -1 and 1: hollow or full markers of different shapes.
    predict : callable
        (m, 2) -> (m,) int classes; called with resolution**2 points, and with x.
    labels : list of str
        Names of the classes, in rising order of their numbers.
    ax : matplotlib Axes
        Draw here instead of in a new figure.
    below : bool
        Put the key below the plane, where a phone has room for it.
    """
    require_some("x", x)
    x, y = np.asarray(x, float), np.asarray(y)
    fig, ax = style.new_figure(*((4.1, 5.0) if below else (5.6, 4.2))) if ax is None else (ax.figure, ax)
    (x0, y0), (x1, y1) = x.min(0) - margin, x.max(0) + margin
    gx, gy = np.meshgrid(np.linspace(x0, x1, resolution), np.linspace(y0, y1, resolution))
    region = np.asarray(predict(np.column_stack([gx.ravel(), gy.ravel()]))).reshape(gx.shape)
    numbers = _classes(y=y, predict=region)
    region, classes = np.searchsorted(numbers, region), range(len(numbers))
    levels = np.arange(len(classes) + 1) - 0.5
    ax.contourf(gx, gy, region, levels=levels, colors=[style.class_cue(k).region for k in classes])
    if region.min() < region.max():
        ax.contour(gx, gy, region, levels=levels[1:-1], colors=style.INK, linewidths=1.2)
    size = np.clip(70 / np.sqrt(len(x)), 3.5, 7)  # many points: smaller, so that they do not hide each other
    for k in classes:
        name = labels[k] if labels is not None else f"class {numbers[k]}"
        ax.plot(*x[y == numbers[k]].T, **style.class_cue(k).plot, markersize=size, label=f"right answer: {name}")
    wrong = np.asarray(predict(x)) != y
    if wrong.any():
        ring = dict(marker="o", markerfacecolor="none", markeredgecolor=style.colour("hazard"), markeredgewidth=2)
        ax.plot(*x[wrong].T, linestyle="none", **ring, markersize=size + 6, label=f"answered wrongly: {wrong.sum()}")
    for k in classes:
        name = labels[k] if labels is not None else f"class {numbers[k]}"
        ax.fill([], [], facecolor=style.class_cue(k).region, edgecolor=style.MUTED, label=f"area: {name} is answered")
    ax.set(xlim=(x0, x1), ylim=(y0, y1), xlabel=axes[0], ylabel=axes[1], title=title)
    ax.grid(False)
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.16) if below else (1.0, 1.0))
    return fig


def _classes(**answers):
    """Return the class numbers to draw: 0, 1, ... to the largest, or, where one is negative, those that occur."""
    for name, values in answers.items():
        if values.dtype.kind not in "iubf" or not np.all(values == np.round(values)):
            raise ValueError(f"{name} holds {values.ravel()[:4]}...; classes are whole numbers such as 0 and 1.")
    numbers = np.unique(np.concatenate([np.ravel(values) for values in answers.values()])).astype(int)
    return numbers if numbers[0] < 0 else np.arange(numbers[-1] + 1)


@style.styled
def curves(series, *, x=None, roles=None, xlabel="", ylabel="", title="", log=False, ax=None):
    """Return a figure of one line per entry of `series`, told apart in grey too.

    Parameters
    ----------
    series : dict
        name -> values (n,), or name -> (x (n,), values (n,)).
    x : array (n,)
        Common abscissae; by default 0, 1, ...
    roles : dict
        name -> role of `style.COLOURS`, for lines that have one.
    log : bool
        Logarithmic vertical axis.
    ax : matplotlib Axes
        Draw here instead of in a new figure.
    """
    require_some("series", series)
    fig, ax = style.new_figure(6.5, 3.4) if ax is None else (ax.figure, ax)
    for i, (name, values) in enumerate(series.items()):
        xs, ys = values if isinstance(values, tuple) else (np.arange(len(values)) if x is None else x, values)
        c = style.cue((roles or {}).get(name, i))
        marker = c.marker if len(ys) <= 30 else None
        ax.plot(xs, ys, color=c.colour, linestyle=c.linestyle, marker=marker, label=name)
        if np.issubdtype(np.asarray(xs).dtype, np.integer):
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title, yscale="log" if log else "linear")
    ax.legend()
    return fig


@style.styled
def image_grid(images, titles=None, *, cols=10, title="", wrong=None):
    """Return a figure of small images with a line of text above each.

    Parameters
    ----------
    images : array (n, H, W) or (n, 3, H, W)
        Values in [0, 1]; grey ones are drawn as ink on paper.
    titles : list of n str
    wrong : bool array (n,)
        Those get a purple frame and a cross before their text.
    """
    require_some("images", images)
    for name, given in (("titles", titles), ("wrong", wrong)):
        if given is not None and len(given) != len(images):
            raise ValueError(f"there are {len(images)} images and {len(given)} {name}; there must be one an image.")
    images = np.asarray(images)
    if images.ndim not in (3, 4):
        raise ValueError(f"images has shape {images.shape}; it must be (n, H, W) or (n, 3, H, W). Reshape its rows.")
    n, cols = len(images), min(cols, len(images))
    rows = -(-n // cols)
    side = max(0.85, 0.09 * max((len(str(t)) + 2 for t in titles), default=0) if titles is not None else 0)
    height = (side + (0.28 if titles is not None else 0.05)) * rows + (0.35 if title else 0)
    fig, axes = style.new_figure(side * cols + 0.1, height, rows, cols)
    for i, ax in enumerate(np.ravel(axes)):
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        if i >= n:
            ax.set_axis_off()
            continue
        image = images[i] if images[i].ndim == 2 else np.moveaxis(images[i], 0, -1)
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        bad = wrong is not None and bool(wrong[i])
        ax.spines[:].set(
            visible=True, color=style.colour("hazard") if bad else style.GRID, linewidth=2.5 if bad else 0.8
        )
        if titles is not None:
            text = ("\N{BALLOT X} " if bad else "") + str(titles[i])
            ax.set_title(text, fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    if title:
        fig.suptitle(title, x=0.01, ha="left")
    return fig


@style.styled
def matrix(
    values, *, title="", xlabel="", ylabel="", fmt="{:g}", labels=None, diverging=False, numbers=None, role="data"
):
    """Return a figure of a matrix (r, c) as coloured cells with its numbers; its shape is in the title.

    Parameters
    ----------
    values : array (r, c)
    labels : list
        Names of both rows and columns, for a confusion matrix.
    diverging : bool
        Colours centred on 0, for weights.
    numbers : bool
        Write the numbers; by default up to 15 columns.
    role : str
        Colour of the largest values where not diverging.
    """
    as_float("values", values, ndim=2, min_rows=1)  # drawn as they are given: integers without decimals
    values = np.asarray(values)
    rows, cols = values.shape
    require_some("values[0]", values[0])
    numbers = max(rows, cols) <= 15 if numbers is None else numbers
    fig, ax = style.new_figure(*((1.3 + 0.48 * cols, 1.1 + 0.36 * rows) if numbers else (5.2, 4.0)))
    top = float(np.abs(values).max()) or 1.0
    if diverging:
        image = signed(ax, values, top, aspect="auto")
    else:
        look = dict(cmap=style.shades(role), vmin=min(0.0, float(values.min())), vmax=top)
        image = ax.imshow(values, aspect="auto", interpolation="nearest", **look)
    for i, j in np.ndindex(rows, cols) if numbers else ():
        place = dict(ha="center", va="center", fontsize=style.SIZE_SMALL)
        ax.text(j, i, fmt.format(values[i, j]), color=style.ink_on(image.to_rgba(values[i, j])), **place)
    if labels is not None:
        ax.set_xticks(range(cols), labels)
        ax.set_yticks(range(rows), labels)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=f"{title} {values.shape}".strip())
    ax.tick_params(length=0)
    ax.grid(False)
    if not numbers:
        fig.colorbar(image, ax=ax)
    return fig
