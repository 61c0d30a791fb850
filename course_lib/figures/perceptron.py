"""Pictures of lesson 01: a fitted line, a perceptron's line, how mistakes turn it, and where it never settles.

Everywhere: a filled disc is a sample with label 1, a hollow one has label 0; the green side of the orange line is
where the perceptron answers 1; a purple cross stands beside a sample that is answered wrongly.
"""

import numpy as np
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from course_lib.reference import add_bias_input, perceptron_predict
from course_lib.validate import require_some

from . import style
from .half_plane import boundary, half_plane

LOW, HIGH = -0.6, 1.6  # the square around the corners of a truth table


def vector(values):
    """Write an array as "(−1, 0, 2)", with a real minus sign and no needless zeros."""
    return "(" + ", ".join(f"{v:g}" for v in np.asarray(values, float) + 0.0).replace("-", "\u2212") + ")"


def box_around(x, margin=0.15):
    """Return (low, high), each (2,): the box around the points x (n, 2), widened by `margin` of its longer side."""
    x = np.asarray(x, float)
    pad = margin * ((x.max(0) - x.min(0)).max() or 1.0)  # one point alone has a box around it, too
    return x.min(0) - pad, x.max(0) + pad


def draw_plane(ax, x, y, w, *, low=(LOW, LOW), high=(HIGH, HIGH), shown=None, size=60, judge=True):
    """Draw on `ax` the samples, the region answered with 1, the line at its edge, and a cross beside each wrong answer.

    `shown`: index of one sample; it is ringed, and only it is judged. Without it, every wrong sample is ringed.
    """
    region = half_plane(w, low, high)
    if len(region):
        ax.fill(*region.T, color=style.tint("output", 0.25), linewidth=0, zorder=1)
    _line(ax, w, low, high)
    samples(ax, x, y, size)
    judged = np.arange(len(y)) if shown is None else np.array([shown])
    wrong = judged[perceptron_predict(x[judged], w) != y[judged]] if judge else judged[:0]
    if len(wrong):
        if shown is None:
            _ring(ax, x[wrong], size, style.COLOURS["hazard"])
        aside = 0.1 * (np.asarray(high) - low)  # beside the sample, so that its label stays visible
        ax.scatter(*(x[wrong] + aside).T, s=90, marker="x", color=style.COLOURS["hazard"], linewidth=3, zorder=5)
    if shown is not None:
        _ring(ax, x[[shown]], size, style.INK)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.grid(False)


def samples(ax, x, y, size=60):
    """Draw the samples x (n, 2): filled where y is 1, hollow where it is 0."""
    blue = style.COLOURS["data"]
    for label, face in ((1, blue), (0, style.PAPER)):
        ax.scatter(
            *x[y == label].T, s=size, facecolor=face, edgecolor=blue, linewidth=1.8, zorder=4, label=f"label {label}"
        )


def _ring(ax, points, size, colour):
    ax.scatter(*points.T, s=4.5 * size, facecolor="none", edgecolor=colour, linewidth=1.8, zorder=5)


def _line(ax, w, low, high, **looks):
    ends = boundary(w, low, high)
    if ends is not None:
        ax.plot(*ends.T, **{"color": style.COLOURS["weight"], "linewidth": 2.5, "zorder": 3, **looks})


def _note(ax, text):
    """Write `text` in the middle of `ax`."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=style.SIZE_SMALL, zorder=6)


def _table_ticks(ax):
    ax.set(xticks=[0, 1], yticks=[0, 1])


@style.styled
def fitted_line(x, y, w, b):
    """Return a figure of points x (n, 1), y (n,), the line w x + b, and each error as a vertical stroke."""
    require_some("x", x)
    fig, ax = style.new_figure(3.85, 3.6)
    x = np.asarray(x, float)[:, 0]
    ends = np.array([x.min(), x.max()])
    ax.vlines(x, x * w[0] + b, y, color=style.COLOURS["hazard"], linewidth=1.4, label="error")
    name = f"y = {w[0]:.2f} x {'-' if b < 0 else '+'} {abs(b):.2f}".replace("-", "\u2212")
    ax.plot(ends, ends * w[0] + b, color=style.COLOURS["weight"], linewidth=2.5, label=name)
    ax.scatter(x, y, color=style.COLOURS["data"], s=28, zorder=3, label="examples")
    ax.set(xlabel="x", ylabel="y")
    ax.legend(loc="upper left")
    return fig


@style.styled
def score_plane(x, y, w):
    """Return a figure: the score w1 x1 + w2 x2 + b as a plane above the four corners, and the same from above."""
    fig, axes = style.new_figure(3.85, 6.6, 2, 1, height_ratios=[1.1, 1])  # one above the other: fits a phone
    axes[0].remove()
    ax = fig.add_subplot(axes[0].get_subplotspec(), projection="3d", computed_zorder=False)
    w, low, high = np.asarray(w, float), (LOW, LOW), (HIGH, HIGH)
    corners = half_plane((0, 0, 0), low, high)
    _sheet(ax, corners, np.zeros(4), None, 1, order=1)
    ax.text(LOW, LOW, 0, "height 0 ", color=style.MUTED, fontsize=style.SIZE_SMALL, ha="right", va="center", zorder=7)
    for part, role in ((half_plane(-w, low, high), "idle"), (half_plane(w, low, high), "output")):
        _sheet(ax, part, part @ w[:2] + w[2], role, 0.5, order=2)
    ends = boundary(w, low, high)
    if ends is not None:
        ax.plot(*ends.T, np.zeros(2), color=style.COLOURS["weight"], linewidth=3.5, zorder=4)
    blue = style.COLOURS["data"]
    for (x1, x2), score, label in zip(x, add_bias_input(x) @ w, y, strict=True):
        ax.plot([x1, x1], [x2, x2], [0, score], color=blue, linewidth=1.8, zorder=5)
        ax.scatter(
            [x1],
            [x2],
            [score],
            s=50,
            facecolor=blue if label else style.PAPER,
            edgecolor=blue,
            linewidth=1.8,
            zorder=6,
            depthshade=False,
        )
        text, left = f"z = {score:g}".replace("-", "\u2212"), x1 < 0.5 and x2 < 0.5  # beside the sample, never above
        ax.text(
            x1, x2, score, f"{text}   " if left else f"   {text}", ha="right" if left else "left", va="center", zorder=7
        )
    heights = corners @ w[:2] + w[2]
    ax.set(
        xlim=(LOW, HIGH),
        ylim=(LOW, HIGH),
        zlim=(min(heights.min(), -1), max(heights.max(), 1)),
        xticks=[0, 1],
        yticks=[0, 1],
        xlabel="$x_1$",
        ylabel="$x_2$",
        title="The score z is a plane",
    )
    ax.zaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.view_init(elev=24, azim=-50)
    ax.set_box_aspect((1, 1, 0.75), zoom=1.0)
    draw_plane(axes[1], x, y, w)
    _table_ticks(axes[1])
    axes[1].set_title("Seen from above")
    return fig


def _sheet(ax, corners, heights, role, alpha, order):
    """Draw a flat piece over `corners`; without a role only its edge, dotted."""
    if len(corners):
        face, line = (style.COLOURS[role], "-") if role else ("none", ":")
        ax.add_collection3d(
            Poly3DCollection(
                [np.column_stack([corners, heights])],
                facecolor=face,
                linestyle=line,
                edgecolor=style.MUTED,
                linewidth=0.8,
                alpha=alpha,
                zorder=order,
            )
        )


@style.styled
def orders(x, y, w_dashed, w_solid, names=("worst order", "best order"), centres=None):
    """Return a figure: two lines over one set of points x (n, 2), y (n,), each with its name in the legend.

    `centres` (k, 2): places marked by a broad cross, where the points were drawn around them.
    """
    require_some("x", x)
    fig, ax = style.new_figure(3.85, 3.6)
    low, high = box_around(x)
    samples(ax, x, y, 34)
    if centres is not None:
        ax.scatter(*np.transpose(centres), s=150, marker="P", color=style.INK, edgecolor=style.PAPER, zorder=5)
    _line(ax, w_dashed, low, high, linestyle="--", label=names[0])
    _line(ax, w_solid, low, high, label=names[1])
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.grid(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return fig


@style.styled
def jumps(fit, x, y):
    """Return a figure with a row for each mistake of a run: the line and the vector (w1, w2), before and after.

    The broad pale arrow is what was added to the weights: the wrong sample, or its negative. ValueError for a run
    without a mistake.
    """
    made = [step for step in fit.steps if np.any(step.w_after != step.w_before)]
    if not made:
        raise ValueError(
            f"the run made no mistake in {fit.epochs} epoch(s), so no jump can be drawn; start it from other weights."
        )
    fig, axes = style.new_figure(3.85, 1.75 * len(made) + 0.3, len(made), 2, sharex="col", sharey="col", squeeze=False)
    low, high = box_around(x, 0.4)
    wlow, whigh = box_around([step.w_before[:2] for step in made] + [made[-1].w_after[:2], (0, 0)], 0.15)
    for k, ((left, right), step) in enumerate(zip(axes, made, strict=True), start=1):
        draw_plane(left, x, y, step.w_after, low=low, high=high, shown=step.index, size=22, judge=False)
        _line(left, step.w_before, low, high, linestyle="--", linewidth=1.8)
        left.set(title=f"Mistake {k}", xlabel="$x_1$" if k == len(made) else "")
        before, after = step.w_before[:2], step.w_after[:2]
        if np.any(before != after):
            band = dict(
                arrowstyle="simple, tail_width=8, head_width=20, head_length=14",
                mutation_scale=1,
                linewidth=0,
                color=style.tint("data", 0.4),
                shrinkA=0,
                shrinkB=0,
            )
            right.annotate("", after, before, arrowprops=band, zorder=1)
        _vector(right, before, "--")
        _vector(right, after, "-")
        right.plot(0, 0, "o", color=style.INK, markersize=4)
        right.set(xlim=(wlow[0], whigh[0]), ylim=(wlow[1], whigh[1]), aspect="equal", ylabel="$w_2$")
        right.set_xlabel("$w_1$" if k == len(made) else "")
        right.set_title("label 1: + x" if y[step.index] else "label 0: \u2212 x", fontweight="normal")
    return fig


def _vector(ax, tip, line):
    if np.any(tip != 0):
        looks = dict(linewidth=2, linestyle=line, shrinkA=0, shrinkB=0, mutation_scale=9)  # short ones have a shaft
        arrow = dict(arrowstyle="-|>", color=style.COLOURS["weight"], **looks)
        ax.annotate("", tip, (0, 0), arrowprops=arrow, zorder=3)


@style.styled
def cycle(steps, x, y):
    """Return a figure with one panel for each step: the line before it, the sample shown, and whether it is wrong."""
    require_some("steps", steps)
    rows = -(-len(steps) // 2)  # two in a row fit on a phone
    fig, axes = style.new_figure(3.85, 2.6 * rows, rows, min(2, len(steps)), sharey=True, squeeze=False)
    for ax in axes.flat[len(steps) :]:
        ax.remove()
    for k, (ax, step) in enumerate(zip(axes.flat, steps, strict=False)):
        draw_plane(ax, x, y, step.w_before, shown=step.index)
        _table_ticks(ax)
        if boundary(step.w_before, (LOW, LOW), (HIGH, HIGH)) is None:
            _note(ax, "(line outside\nthe picture)" if np.any(step.w_before[:2]) else "(w = 0:\nno line)")
        ax.set(title=f"w = {vector(step.w_before)}", xlabel=f"$x_1$\nanswer {step.y_hat}, label {y[step.index]}")
        ax.set_ylabel("" if k % 2 else "$x_2$")
    return fig


@style.styled
def lines_seen(fits, x, y, titles):
    """Return a figure with a panel for each training run: every line it passed through, and its last answers.

    The dashed lines are numbered in the order in which training left them for the last time, and the first are pale.
    """
    require_some("fits", fits)
    fig, axes = style.new_figure(3.85, 3.5 * len(fits), len(fits), 1, squeeze=False)  # fits a phone
    for ax, fit, title in zip(axes.flat, fits, titles, strict=True):
        left = {tuple(step.w_after): k for k, step in enumerate(fit.steps)}  # weights and the last step that had them
        seen = [w for w in sorted(left, key=left.get) if w != tuple(fit.w)]
        places = []
        seen = [w for w in seen if boundary(w, (LOW, LOW), (HIGH, HIGH)) is not None]
        for k, w in enumerate(seen, start=1):
            tint = style.tint("weight", 0.25 + 0.75 * k / len(seen))
            _line(ax, w, (LOW, LOW), (HIGH, HIGH), linestyle="--", linewidth=1.5, zorder=2, color=tint)
            places.append(_free_end(boundary(w, (LOW, LOW), (HIGH, HIGH)), places))
            ax.text(*places[-1], str(k), ha="center", va="center", fontsize=style.SIZE_SMALL, color=style.MUTED)
        draw_plane(ax, x, y, fit.w)
        _table_ticks(ax)
        ax.set_title(title, pad=18)
    return fig


def _free_end(ends, taken):
    """Return a place (2,) just outside of the box, beside the end of a line that is farther from the places taken."""
    outside = []
    for end in ends:
        edge = [(np.isclose(v, HIGH) * 1.0 - np.isclose(v, LOW)) for v in end]
        outside.append(np.asarray(end) + 0.09 * np.array(edge))
    distance = [min((np.hypot(*(place - other)) for other in taken), default=9.0) for place in outside]
    upper = [place[1] + place[0] > 1 for place in outside]  # below and to the left stand the numbers of the axes
    return outside[int(np.argmax([d + u for d, u in zip(distance, upper, strict=True)]))]
