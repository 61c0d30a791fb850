"""Plain plots that several lessons share: a decision plane, curves, a grid of images, a matrix of counts."""

import numpy as np

from . import style


@style.styled
def decision_plane(x, y, predict, *, title="", labels=None, axes=("x1", "x2"), margin=0.6, resolution=160, ax=None):
    """Return a figure of 2-D points over the regions that a classifier assigns.

    Parameters
    ----------
    x : array (n, 2)
    y : int array (n,)
        Classes 0, 1, ...; each has its own colour and marker.
    predict : callable
        (m, 2) -> (m,) int classes.
    labels : list of str
        Names of the classes.
    """
    x, y = np.asarray(x, float), np.asarray(y)
    fig, ax = style.new_figure(5.2, 4.2) if ax is None else (ax.figure, ax)
    (x0, y0), (x1, y1) = x.min(0) - margin, x.max(0) + margin
    gx, gy = np.meshgrid(np.linspace(x0, x1, resolution), np.linspace(y0, y1, resolution))
    region = np.asarray(predict(np.column_stack([gx.ravel(), gy.ravel()]))).reshape(gx.shape)
    classes = np.arange(int(max(y.max(), region.max())) + 1)
    ax.contourf(gx, gy, region, levels=np.arange(len(classes) + 1) - 0.5, colors=[_tint(k) for k in classes])
    ax.contour(gx, gy, region, levels=classes[:-1] + 0.5, colors=style.INK, linewidths=1.2)
    for k in classes:
        c = style.cue(int(k))
        name = labels[k] if labels else f"class {k}"
        ax.plot(*x[y == k].T, linestyle="none", marker=c.marker, color=c.colour, markeredgecolor="white", label=name)
    ax.set(xlim=(x0, x1), ylim=(y0, y1), xlabel=axes[0], ylabel=axes[1], title=title)
    ax.grid(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig


@style.styled
def curves(series, *, x=None, xlabel="", ylabel="", title="", log=False, ax=None):
    """Return a figure of one line per entry of `series` (name -> values, or name -> (x, y)), told apart in grey too."""
    fig, ax = style.new_figure(6.5, 3.4) if ax is None else (ax.figure, ax)
    for i, (name, values) in enumerate(series.items()):
        xs, ys = values if isinstance(values, tuple) else (np.arange(len(values)) if x is None else x, values)
        c = style.cue(i)
        few = len(ys) <= 30
        ax.plot(xs, ys, color=c.colour, linestyle=c.linestyle, marker=c.marker if few else None, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if log:
        ax.set_yscale("log")
    ax.legend()
    return fig


@style.styled
def image_grid(images, titles=None, *, cols=10, title="", wrong=None):
    """Return a figure of small images (n, H, W) grey or (n, 3, H, W) in [0, 1], with a line of text above each.

    `wrong`: bool array (n,); those get a purple frame and a cross before their text.
    """
    images = np.asarray(images)
    n, cols = len(images), min(cols, len(images))
    rows = -(-n // cols)
    fig, axes = style.new_figure(0.85 * cols, (1.1 if titles is not None else 0.85) * rows + (0.3 if title else 0), rows, cols)
    for i, ax in enumerate(np.ravel(axes)):
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        if i >= n:
            ax.set_axis_off()
            continue
        image = images[i] if images[i].ndim == 2 else np.moveaxis(images[i], 0, -1)
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        bad = wrong is not None and bool(wrong[i])
        ax.spines[:].set(visible=True, color=style.COLOURS["hazard"] if bad else style.GRID, linewidth=2 if bad else 0.8)
        if titles is not None:
            ax.set_title(("\u2717 " if bad else "") + str(titles[i]), fontsize=style.SIZE_SMALL, loc="center", pad=3,
                         fontweight="normal")
    if title:
        fig.suptitle(title, x=0.01, ha="left")
    return fig


@style.styled
def matrix(values, *, title="", xlabel="", ylabel="", fmt="{:g}", labels=None, diverging=False, numbers=None):
    """Return a figure of a matrix (r, c) as coloured cells with its numbers, for confusion matrices and weights.

    `numbers=False` leaves the numbers out (the default above 15 columns); `diverging` centres the colours on 0.
    """
    values = np.asarray(values)
    rows, cols = values.shape
    numbers = cols <= 15 if numbers is None else numbers
    fig, ax = style.new_figure(1.6 + 0.48 * cols if numbers else 5.2, 1.2 + 0.36 * rows if numbers else 4.0)
    top = float(np.abs(values).max()) or 1.0
    cmap = style.DIVERGING if diverging else "Blues"
    image = ax.imshow(values, cmap=cmap, vmin=-top if diverging else min(0, values.min()), vmax=top, aspect="auto")
    for i, j in np.ndindex(rows, cols) if numbers else ():
        dark = sum(image.to_rgba(values[i, j])[:3]) < 1.5
        ax.text(j, i, fmt.format(values[i, j]), ha="center", va="center", fontsize=style.SIZE_SMALL,
                color=style.PAPER if dark else style.INK)
    if labels is not None:
        ax.set_xticks(range(cols), labels)
        ax.set_yticks(range(rows), labels)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=f"{title}  {values.shape}".strip())
    ax.grid(False)
    if not numbers:
        fig.colorbar(image, ax=ax)
    return fig


def _tint(k):
    return style.tint(list(style.COLOURS)[int(k) % len(style.COLOURS)], 0.22)
