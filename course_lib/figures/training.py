"""Pictures of training: learning curves with their gap, galleries of digits, where a network is mistaken."""

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.validate import as_float, require_some

from . import style


@style.styled
def learning_curves(history):
    """Return a figure of loss and accuracy per epoch, training against validation, with the gap between them shaded.

    Three panels, one above the other, so that a phone shows them whole. The panel in the middle has the validation loss
    alone, on a linear scale: how it turns cannot be seen over decades.

    Parameters
    ----------
    history : nn.History
        With validation values, else ValueError.
    """
    if not history.val_loss:
        raise ValueError(
            f"{history!r} holds no validation values, so there is no second curve; train with validation=0.2, or draw "
            'one curve: plots.curves({"loss": history.loss}).'
        )
    fig, (top, middle, bottom) = style.new_figure(3.7, 6.3, 3, 1, sharex=True)
    epochs = np.arange(1, history.epochs + 1)
    panels = (top, history.loss, history.val_loss), (bottom, history.accuracy, history.val_accuracy)
    for ax, train, validation in panels:
        _curve(ax, epochs, train, "data", "training")
        _curve(ax, epochs, validation, "output", "validation")
        ax.fill_between(epochs, train, validation, color=style.tint("hazard", 0.35), linewidth=0, label="gap")
    _curve(middle, epochs, history.val_loss, "output", "validation")
    bottom.set(xlabel="epoch", xlim=(0.5, history.epochs + 0.5))
    bottom.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    best, last = history.best_epoch, history.epochs - 1
    for ax in (top, middle):
        ax.plot(
            best + 1,
            history.val_loss[best],
            marker="D",
            color=style.INK,
            linestyle="none",
            label=f"lowest validation loss: epoch {best + 1}",
        )
    low, high = min(history.val_loss), max(history.val_loss)
    room = 0.35 * (high - low) or 1.0
    for epoch, align, place in (best, "center", -16), (last, "right", 8):
        middle.annotate(
            f"{history.val_loss[epoch]:.2f}",
            (epoch + 1, history.val_loss[epoch]),
            xytext=(0, place),
            textcoords="offset points",
            ha=align,
            fontsize=style.SIZE_SMALL,
        )
    top.set(yscale="log", title="Loss (log scale)")
    middle.set(ylim=(low - room, high + room), title="Validation loss (linear)")
    bottom.set(ylim=(0.7, 1.01), title="Accuracy")
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


@style.styled
def gallery(images, texts, *, cols=8, side=1.05):
    """Return a figure of digits large enough to judge each one, with its text above it.

    Parameters
    ----------
    images : array (n, 28, 28) in [0, 1]
    texts : list of n str
        Of the same number of lines each.
    side : float
        Width for one digit, in inches.
    """
    require_some("images", images)
    if len(texts) != len(images):
        raise ValueError(f"there are {len(images)} images and {len(texts)} texts; there must be one text an image.")
    rows, cols = -(-len(images) // cols), min(cols, len(images))
    line = 0.17 * (1 + texts[0].count("\n"))
    fig, axes = style.new_figure(side * cols + 0.1, (side + line) * rows, rows, cols, squeeze=False)
    for ax in np.ravel(axes)[len(images) :]:
        ax.set_axis_off()
    for ax, image, text in zip(np.ravel(axes), images, texts, strict=False):
        _image(ax, image)
        ax.set_title(text, fontsize=style.SIZE_SMALL, loc="center", pad=3, fontweight="normal")
    return fig


@style.styled
def mistakes(images, found, *, cols=5, side=1.45):
    """Return a figure of the digits that a network got wrong, each with its label and the answer given instead.

    Parameters
    ----------
    images : array (n, 28, 28) in [0, 1]
        All images that `found.index` counts in.
    found : nn.Mistakes
        Without any, the figure says so.
    side : float
        Width for one digit and its text, in inches; 1.25 holds the longest text.
    """
    if len(found.index) == 0:
        fig, ax = style.new_figure(4.5, 0.7)
        ax.set_axis_off()
        ax.text(0.5, 0.5, f"No mistakes: all {len(images)} images are answered correctly.", ha="center", va="center")
        return fig
    columns = zip(found.label, found.predicted, found.confidence, strict=True)
    texts = [f"label {label}, saw {predicted}\n{_percent(sure)} sure" for label, predicted, sure in columns]
    return gallery(images[found.index], texts, cols=cols, side=side)


@style.styled
def confusion(counts, *, size=(5.6, 4.6)):
    """Return a figure of a confusion matrix (C, C): row = label, column = answer; mistakes are shaded and bold.

    `size` is width and height in inches; a width of 4 fits a phone. ValueError unless `counts` is square and holds
    whole numbers >= 0, of any type.
    """
    given, counts = as_float("counts", counts, ndim=2, min_rows=1), np.asarray(counts)
    if counts.shape[0] != counts.shape[1]:
        raise ValueError(f"counts has shape {counts.shape}; it needs one row and one column for each class.")
    good = (given >= 0) & (given == np.floor(given)) & np.isfinite(given)
    if not good.all():
        bad = counts[~good][0]
        raise ValueError(f"counts holds {bad:g}; it must hold whole numbers >= 0, as nn.confusion_matrix returns them.")
    n, counts = len(counts), counts.astype(np.int64)
    wrong = np.where(np.eye(n, dtype=bool), 0, counts)
    fig, ax = style.new_figure(*size)
    shades = [style.tint("hazard", amount) for amount in np.linspace(0, 0.85, int(wrong.max()) + 1)]
    for i, j in np.ndindex(n, n):
        face = style.tint("output", 0.25) if i == j else shades[wrong[i, j]]
        edge = style.colour("output") if i == j else style.GRID
        ax.add_patch(_square(j, i, face, edge))
        if counts[i, j]:
            ax.text(
                j,
                i,
                counts[i, j],
                ha="center",
                va="center",
                fontsize=style.SIZE_SMALL,
                fontweight="normal" if i == j else "bold",
            )
    ax.set(
        xlim=(-0.5, n - 0.5),
        ylim=(n - 0.5, -0.5),
        xticks=range(n),
        yticks=range(n),
        aspect="equal",
        xlabel="answer of the network",
        ylabel="label",
        title=f"Confusion matrix {counts.shape}",
    )
    ax.grid(False)
    return fig


def _curve(ax, x, y, role, name):
    c = style.cue(role)
    ax.plot(x, y, color=c.colour, linestyle=c.linestyle, label=name)


def _image(ax, image):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set(visible=True, color=style.GRID)


def _square(x, y, face, edge):
    return Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, facecolor=face, edgecolor=edge)


def _percent(share):
    """A share as text; only all is "100 %" and only none is "0 %", so that rounding never hides a mistake."""
    share = float(share)
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f} %"
