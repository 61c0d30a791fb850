"""Pictures of training: learning curves with their gap, what a network read in a digit, where it is mistaken."""

from itertools import pairwise

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.validate import as_float, require_some

from . import style
from .picture import picture
from .svg import Svg

WIDTH, HEIGHT = 660, 412
PIXEL = 8  # side of one pixel of a digit, in pixels on the page
GREYS = 15  # levels of ink: pixels of one level that touch become one rectangle, which keeps the SVG small
LOWEST_DRAWN = 0.7  # accuracies below this sit on the lower edge of the small curves


@style.styled
def learning_curves(history):
    """Return a figure of loss and accuracy per epoch, training against validation, with the gap between them shaded.

    The panel in the middle has the validation loss alone, on a linear scale: how it turns cannot be seen over decades.

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
    fig, (left, middle, right) = style.new_figure(8.5, 3.5, 1, 3)
    epochs = np.arange(1, history.epochs + 1)
    panels = (left, history.loss, history.val_loss), (right, history.accuracy, history.val_accuracy)
    for ax, train, validation in panels:
        _curve(ax, epochs, train, "data", "training")
        _curve(ax, epochs, validation, "output", "validation")
        ax.fill_between(epochs, train, validation, color=style.tint("hazard", 0.35), linewidth=0, label="gap")
    _curve(middle, epochs, history.val_loss, "output", "validation")
    for ax in (left, middle, right):
        ax.set(xlabel="epoch", xlim=(0.5, history.epochs + 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    best, last = history.best_epoch, history.epochs - 1
    for ax in (left, middle):
        ax.plot(
            best + 1,
            history.val_loss[best],
            marker="D",
            color=style.INK,
            linestyle="none",
            label=f"lowest validation loss: epoch {best + 1}",
        )
    low, high = min(history.val_loss), max(history.val_loss)
    room = 0.25 * (high - low) or 1.0
    for epoch, align, place in (best, "center", -16), (last, "right", 8):
        middle.annotate(
            f"{history.val_loss[epoch]:.2f}",
            (epoch + 1, history.val_loss[epoch]),
            xytext=(0, place),
            textcoords="offset points",
            ha=align,
            fontsize=style.SIZE_SMALL,
        )
    left.set(yscale="log", title="Loss (log scale)")
    middle.set(ylim=(low - room, high + room), title="Validation loss (linear)")
    right.set(ylim=(0.7, 1.01), title="Accuracy")
    fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
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
def mistakes(images, found, *, cols=5):
    """Return a figure of the digits that a network got wrong, each with its label and the answer given instead.

    Parameters
    ----------
    images : array (n, 28, 28) in [0, 1]
        All images that `found.index` counts in.
    found : nn.Mistakes
        Without any, the figure says so.
    """
    if len(found.index) == 0:
        fig, ax = style.new_figure(4.5, 0.7)
        ax.set_axis_off()
        ax.text(0.5, 0.5, f"No mistakes: all {len(images)} images are answered rightly.", ha="center", va="center")
        return fig
    columns = zip(found.label, found.predicted, found.confidence, strict=True)
    texts = [f"label {label}, saw {predicted}\n{_percent(sure)} sure" for label, predicted, sure in columns]
    return gallery(images[found.index], texts, cols=cols, side=1.45)


@style.styled
def confusion(counts):
    """Return a figure of a confusion matrix (C, C): row = label, column = answer; mistakes are shaded and bold.

    ValueError unless `counts` is square and holds whole numbers >= 0, of any type.
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
    fig, ax = style.new_figure(5.6, 4.6)
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


def select(labels, probabilities, *, digit="all", wrong_only=False):
    """Return the rows that `watch` can show: of one class or all, all in order or the wrong ones, surest first.

    Parameters
    ----------
    labels : int array (n,)
    probabilities : array (n, 10)
    digit : "all" or int
    wrong_only : bool
    """
    keep = np.ones(len(labels), bool) if digit == "all" else labels == digit
    if not wrong_only:
        return np.flatnonzero(keep)
    rows = np.flatnonzero(keep & (probabilities.argmax(axis=1) != labels))
    return rows[np.argsort(-probabilities[rows].max(axis=1), kind="stable")]


def watch(images, labels, snapshots, accuracies, *, epoch, digit="all", wrong_only=False, sample=1):
    """Return a `Picture` of one digit, what the network thought of it after `epoch` epochs, and how good it was then.

    Parameters
    ----------
    images : array (n, 28, 28) in [0, 1]
    labels : int array (n,)
    snapshots : array (epochs + 1, n, 10)
        Probabilities for every image: before training, then after each epoch.
    accuracies : array (epochs + 1, 2)
        Training and validation accuracy at the same moments.
    epoch : int
        0 is before training.
    digit, wrong_only
        Which images to choose from; see `select`.
    sample : int >= 1
        Which of them; counted round and round, so that every value shows one.
    """
    labels, accuracies = np.asarray(labels), np.asarray(accuracies)
    rows = select(labels, snapshots[epoch], digit=digit, wrong_only=wrong_only)
    s = Svg(WIDTH, HEIGHT)
    moment = "Before training" if epoch == 0 else f"After epoch {epoch}"
    what = ("wrong answers" if wrong_only else "digits") + ("" if digit == "all" else f" with label {digit}")
    s.text(16, 22, f"{moment}: {len(rows)} {what}", bold=True, size=14)
    _draw_accuracies(s, accuracies, epoch, 66, 322, 570, 64)
    if len(rows) == 0:
        s.text(16, 46, f"Sample {sample}: none, the network has all of them right at this moment.")
        return picture(s, alt=f"{moment} there are no {what}, so there is no sample {sample} to show.")
    place = (sample - 1) % len(rows)
    row = rows[place]
    k, label = snapshots[epoch][row], int(labels[row])
    answer = int(k.argmax())
    verdict = "right" if answer == label else "wrong"
    again = "" if place == sample - 1 else f" (counted round: number {place + 1})"
    reading = f"label {label}, answer {answer} with {_percent(k[answer])}: {verdict}"
    s.text(16, 46, f"Sample {sample} of {len(rows)}{again}: {reading}")
    _draw_digit(s, images[row], 16, 58)
    _draw_bars(s, k, label, answer, 276, 58)
    train, validation = map(_percent, accuracies[epoch])
    alt = (
        f"{moment}, sample {sample} of {len(rows)} {what}{again}: a digit labelled {label} is read as {answer} with "
        f"probability {_percent(k[answer])}, which is {verdict}. Training accuracy {train}, "
        f"validation accuracy {validation}."
    )
    return picture(s, alt=alt)


def _draw_digit(s, image, x, y):
    """Ink as horizontal runs of equal grey: about 150 rectangles a digit instead of 784."""
    levels = np.rint(np.asarray(image) * GREYS).astype(int)
    for i, line in enumerate(levels):
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(line)], strict=True):
            if line[start]:
                grey = f"{255 - round(line[start] * 255 / GREYS):02X}"
                left, length = x + start * PIXEL, (stop - start) * PIXEL
                s.rect(left, y + i * PIXEL, length, PIXEL, fill=f"#{grey * 3}", stroke="none")
    s.rect(x, y, levels.shape[1] * PIXEL, levels.shape[0] * PIXEL, stroke="idle")


def _draw_bars(s, k, label, answer, x, y, row=22.4, longest=160):
    for i, probability in enumerate(k):
        top = y + i * row
        role = "output" if i == label else "hazard" if i == answer else "idle"
        s.text(x, top + 15, str(i), bold=i in (label, answer))
        s.rect(x + 18, top + 3, longest, row - 6, fill=style.PAPER, stroke=style.GRID)
        if probability * longest >= 0.1:
            s.rect(x + 18, top + 3, float(probability) * longest, row - 6, fill=role, stroke="none")
        notes = [_percent(probability), *(["label"] if i == label else []), *(["answer"] if i == answer else [])]
        s.text(x + longest + 26, top + 15, ", ".join(notes), bold=i in (label, answer))


def _draw_accuracies(s, accuracies, epoch, x, y, width, height):
    """The two learning curves, small, with a line at the epoch that is shown."""
    last = max(len(accuracies) - 1, 1)

    def place(e, accuracy):
        drop = (1 - max(float(accuracy), LOWEST_DRAWN)) / (1 - LOWEST_DRAWN)
        return x + e / last * width, y + 6 + drop * (height - 6)

    s.rect(x, y, width, height, stroke="idle")
    s.text(x - 6, y + 11, "100 %", anchor="end")
    s.text(x - 6, y + height, f"{100 * LOWEST_DRAWN:.0f} %", anchor="end")
    for column, role, name in (0, "data", "training"), (1, "output", "validation"):
        points = [place(e, a) for e, a in enumerate(accuracies[:, column])]
        for (x1, y1), (x2, y2) in pairwise(points[1:]):
            s.line(x1, y1, x2, y2, stroke=role, line=2, dashed=column == 1)
        now = accuracies[epoch, column]
        s.circle(*points[epoch], 4, fill=role, stroke=style.PAPER)
        left = x + 8 + column * 240
        s.rect(left, y - 14, 9, 9, fill=role, stroke="none")
        s.text(left + 14, y - 5, f"{name} accuracy {_percent(now)}" + (" (dashed)" if column else ""))
    at = place(epoch, 1)[0]
    s.line(at, y, at, y + height, stroke=style.INK, line=1)
    s.text(x, y + height + 16, "before")
    s.text(x + width, y + height + 16, f"epoch {len(accuracies) - 1}", anchor="end")


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
