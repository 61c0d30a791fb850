"""Figures of lesson 03: what a loss measures, weight by weight, and how it differs from counting wrong answers.

Every function takes arrays and returns a `Picture` whose alt text is computed from them. All are as narrow as a phone:
what stands side by side elsewhere stands one below the other here.
"""

import numpy as np

from course_lib.validate import require_some

from . import style
from .picture import picture

WIDTH = 4.2
"""Inches: what a phone shows at a readable size."""

FOLDED = 3.5
"""Inches: the same, within a fold."""


@style.styled
def samples_and_loss(x, y, weights, loss, caption=""):
    """Return a `Picture`: above the samples and the lines o = w x, below J over w.

    Parameters
    ----------
    x, y : (n,) arrays
    weights : (start, best)
        Two lines, and their points on the curve; the start gets its differences and its tangent too.
    loss : callable, w -> (J, dJ/dw)
    """
    require_some("x", x)
    fig, (left, right) = style.new_figure(WIDTH, 5.6, 2, 1)
    reach = np.array([0.0, 1.15 * np.max(x)])
    chosen, best = weights
    (height, slope), lowest = loss(chosen), loss(best)[0]
    gradient = style.cue("gradient")
    for xi, yi in zip(x, y, strict=True):
        left.plot([xi, xi], [chosen * xi, yi], color=gradient.colour, linestyle=":", linewidth=2.5)
        side = -1 if yi > best * xi else 1  # left of a sample above the best line, which rises on its right
        left.annotate(
            f"y − o = {yi - chosen * xi:g}",
            (xi, 0.3 * chosen * xi + 0.7 * yi),
            (6 * side, 0),
            va="center",
            ha="left" if side > 0 else "right",
            textcoords="offset points",
            fontsize=style.SIZE_SMALL,
            color=style.INK,
        )
    left.plot(x, y, linestyle="none", marker="o", color=style.colour("data"), markersize=8, label="samples (x, y)")
    span = abs(chosen - best) * 1.3
    grid = np.linspace(best - span, best + span, 121)
    right.plot(grid, [loss(w)[0] for w in grid], color=style.colour("idle"))
    for i, w in enumerate(weights):
        c = style.cue(("weight", "output")[i % 2])
        left.plot(reach, w * reach, color=c.colour, linestyle=("-", "--")[i % 2], label=f"o = {w:g} x")
        right.plot(
            w,
            loss(w)[0],
            linestyle="none",
            marker=c.marker,
            markersize=9,
            color=c.colour,
            label=f"w = {w:g}: J = {loss(w)[0]:g}",
        )
    near = chosen + np.array([-0.28, 0.28]) * span
    right.plot(
        near,
        height + slope * (near - chosen),
        color=gradient.colour,
        linestyle="--",
        label=f"slope at w = {chosen:g}: {slope:g}".replace("-", "−"),
    )
    left.set(xlabel="x", ylabel="y, o", title="Samples and two lines", xlim=(0, reach[1] * 1.12), ylim=(0, None))
    right.set(xlabel="w", ylabel="J", title="The loss, weight by weight", ylim=(0, None))
    left.legend(loc="upper left" if y[0] < y[-1] else "lower right")
    right.legend(loc="upper center")
    alt = (
        f"Above: {len(x)} samples with the lines o = {chosen:g} x and o = {best:g} x. Below: the loss is a parabola in "
        f"w; at w = {chosen:g} it is {height:g} with the slope {slope:g}, at w = {best:g} it is lowest, {lowest:g}."
    )
    return picture(fig, alt=alt, caption=caption)


@style.styled
def staircase(places, wrong, loss, xlabel="b", caption=""):
    """Return a `Picture`: the number of wrong answers above, a smooth loss below, over the same parameter b.

    A dotted line goes through both where the loss is lowest.

    Parameters
    ----------
    places, wrong, loss : (n,) sequences
    xlabel : str
        What b is called below the axis.
    """
    require_some("loss", loss)
    fig, (top, bottom) = style.new_figure(WIDTH, 4.4, 2, 1, sharex=True)
    at = int(np.argmin(loss))
    for ax, values in ((top, wrong), (bottom, loss)):
        ax.axvline(places[at], color=style.MUTED, linestyle=":", linewidth=1.2)
        ax.plot(
            places[at],
            values[at],
            linestyle="none",
            marker=style.cue("output").marker,
            markersize=9,
            color=style.colour("output"),
            zorder=3,
        )
    top.step(places, wrong, where="mid", color=style.colour("hazard"))
    bottom.plot(places, loss, color=style.colour("data"))
    top.annotate(
        f"{wrong[at]} wrong where\nthe loss is lowest",
        (places[at], wrong[at]),
        (0.03, 0.1),  # below the stairs that come down from the left
        textcoords="axes fraction",
        fontsize=style.SIZE_SMALL,
        color=style.INK,
        bbox=dict(facecolor=style.PAPER, edgecolor="none", pad=1),
        arrowprops=dict(arrowstyle="-", color=style.INK, linewidth=0.9, shrinkB=6),
    )
    top.set(ylabel="wrong answers", title="Counting: no slope to follow", ylim=(0, None))
    bottom.set(ylabel="loss", xlabel=xlabel, title="Squared distance: a slope to follow")
    alt = (
        f"Above: the number of wrong answers over b is a staircase between {min(wrong)} and {max(wrong)}, level except "
        f"at jumps. Below: the loss over b is one smooth curve between {min(loss):.2f} and {max(loss):.2f}. Where it "
        f"is lowest, at b = {places[at]:.1f}, the count is {wrong[at]}."
    )
    return picture(fig, alt=alt, caption=caption)


@style.styled
def loss_against_accuracy(x, y, lines, losses, right, caption=""):
    """Return a `Picture`: two lines through labelled points, and how loss and right answers ran between them.

    Parameters
    ----------
    x, y : (n,) arrays
        Inputs and labels 0 or 1.
    lines : ((w, b), (w, b))
        Slope and bias at the start (drawn solid) and at the end (dashed).
    losses, right : (steps + 1,) arrays
        Loss and number of right answers after each step of the descent from the first line to the second.
    """
    require_some("x", x)
    require_some("losses", losses)
    fig, (left, top, bottom) = style.new_figure(FOLDED, 7.2, 3, 1, height_ratios=(2, 1, 1))
    reach = np.array([x.min() - 0.7, x.max() + 0.7])
    left.axhline(0.5, color=style.MUTED, linewidth=1, linestyle=":")
    left.text(reach[1], 0.53, "above: answer 1", ha="right", va="bottom", fontsize=style.SIZE_SMALL)
    for k in (0, 1):
        left.plot(x[y == k], y[y == k], label=f"class {k}", **style.class_cue(k).plot)
    for (w, b), role, linestyle, when in zip(lines, ("idle", "weight"), ("-", "--"), ("start", "end"), strict=True):
        correct = ((w * x + b >= 0.5) == (y == 1)).sum()
        left.plot(
            reach,
            w * reach + b,
            color=style.colour(role),
            linestyle=linestyle,
            label=f"{when}: {correct} of {len(x)} right",
        )
    lost = (w * x + b >= 0.5) != (y == 1)  # by the last line
    left.plot(
        x[lost],
        y[lost],
        linestyle="none",
        marker="o",
        markersize=14,
        markerfacecolor="none",
        markeredgewidth=2,
        color=style.colour("hazard"),
        label="wrong at the end",
    )
    (w, b), far = lines[0], int(np.argmax(np.abs(lines[0][0] * x + lines[0][1] - y)))  # the largest error of all
    reached = w * x[far] + b
    left.plot([x[far], x[far]], [y[far], reached], color=style.colour("gradient"), linestyle=":", linewidth=2.5)
    left.annotate(
        f"o = {reached:g}:\n{abs(reached - y[far]):g} too {'high' if reached > y[far] else 'low'}",
        (x[far], y[far] + 0.3 * (reached - y[far])),
        (-6, 0),
        textcoords="offset points",
        ha="right",
        fontsize=style.SIZE_SMALL,
    )
    drawn = [value for w, b in lines for value in w * x + b] + [0, 1]
    height = 0.08 * (max(drawn) - min(drawn))
    left.set(xlabel="x", ylabel="y, o", ylim=(min(drawn) - height, max(drawn) + height), xlim=reach)
    left.set_title("One far sample turns the line")
    fig.legend(
        *left.get_legend_handles_labels(), loc="outside lower left", ncols=2, columnspacing=1.2, handlelength=1.8
    )
    steps = np.arange(len(losses))
    top.plot(steps, losses, color=style.colour("data"))
    bottom.step(steps, right, where="post", color=style.colour("hazard"))
    top.set(ylabel="loss C", title="The loss falls, step by step", ylim=(0, None))
    bottom.set(
        ylabel=f"right of {len(x)}",
        title="The right answers do not follow",
        xlabel="step (1, 10, 100 equally far apart)",
        ylim=(min(right) - 0.7, max(right) + 0.7),
        yticks=np.arange(min(right), max(right) + 1),
    )
    for ax in (top, bottom):
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xlim(0, steps[-1])
        ax.set_xticks([0, *10 ** np.arange(0, np.log10(steps[-1]) + 0.01, dtype=int)])
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
    alt = (
        f"The sample at x = {x[far]:g} lies {abs(reached - y[far]):g} from the first line, farther than all others. "
        f"One far sample turns a line until {lost.sum()} of {len(x)} samples is on the wrong side. Meanwhile the loss "
        f"falls from {losses[0]:.2f} to {losses[-1]:.2f}, and the right answers go from {right[0]} to {min(right)} "
        f"and end at {right[-1]}."
    )
    return picture(fig, alt=alt, caption=caption)


@style.styled
def linear_estimate(loss, gradient, at, lr, *, names=("w", "b"), caption=""):
    """Return a `Picture`: a loss close up, gradient and step as arrows, and the predicted and the actual change.

    Parameters
    ----------
    loss, gradient : callable, (2,) array -> J, (2,) array
    at : (2,) array
        The point that is looked at.
    lr : float
        The step is -lr times the gradient.
    names : (str, str)
        What the two weights are called.

    Source: Owens, "Find the global minimum" (dC = sum of (dC/dv) dv).
    """
    at = np.asarray(at, dtype=float)
    g, here = np.asarray(gradient(at), dtype=float), float(loss(at))
    step = -lr * g
    fig, (left, right) = style.new_figure(WIDTH, 6.4, 2, 1, height_ratios=(1.2, 1))
    reach = 2.0 * np.max(np.abs(step))
    line = np.linspace(-reach, reach, 61)
    heights = np.array([[loss(at + np.array([a, b])) for a in line] for b in line])
    levels = np.linspace(heights.min(), heights.max(), 13)
    tints = [style.tint("thread", amount) for amount in np.linspace(0.95, 0.04, 12)]  # the darker, the lower
    left.contourf(at[0] + line, at[1] + line, heights, levels=levels, colors=tints)
    left.contour(at[0] + line, at[1] + line, heights, levels=levels, colors=style.COLOURS["data"], linewidths=0.7)
    for vector, role, label in ((-step, "gradient", "gradient (shortened)"), (step, None, "step")):
        ink = style.colour(role) if role else style.INK
        look = dict(arrowstyle="-|>", color=ink, linewidth=2.4, linestyle="--" if role else "-", shrinkA=0, shrinkB=0)
        left.annotate("", at + vector, at, arrowprops=look)
        left.annotate(label, at + vector, (0, 8 if vector[1] > 0 else -8), textcoords="offset points",
                      ha="left" if vector[0] < 0 else "center",  # away from the axis
                      va="bottom" if vector[1] > 0 else "top", fontsize=style.SIZE_SMALL,
                      bbox=dict(facecolor=style.PAPER, edgecolor="none", alpha=0.85, pad=1))  # fmt: skip
    left.plot(*at, marker="o", markersize=7, color=style.colour("output"), markeredgecolor=style.INK)
    left.set(xlabel=names[0], ylabel=names[1], aspect="equal", title="Close up, the loss is a slope")
    left.grid(False)
    rates = np.linspace(0, 2.4 * lr, 61)
    square, after = float(g @ g), float(loss(at + step))
    right.plot(rates, [loss(at - r * g) for r in rates], color=style.colour("data"), label="the loss after the step")
    promised = here - lr * square
    right.plot(rates, here - rates * square, color=style.colour("gradient"), linestyle="--", label="linear estimate")
    right.plot([lr, lr], [promised, after], color=style.INK, linewidth=3, solid_capstyle="butt", label="the gap")
    right.plot(lr, after, marker="o", linestyle="none", markerfacecolor=style.PAPER, color=style.colour("data"))
    title = f"Predicted {-lr * square:.3g}, actual {after - here:.3g}".replace("-", "−")
    right.set(xlabel="learning rate", ylabel="J", title=title)
    right.legend(loc="lower left")
    alt = (
        f"Above: the loss close to ({at[0]:g}, {at[1]:g}) has nearly straight contours; the gradient, "
        f"({g[0]:g}, {g[1]:g}), stands at right angles to them and points uphill, the step goes the other way. "
        f"Below: the loss leaves the straight line of the estimate slowly; at lr {lr:g} the estimate predicts "
        f"{-lr * square:.3g} and the loss changes by {after - here:.3g}."
    )
    return picture(fig, alt=alt.replace("-", "−"), caption=caption)
