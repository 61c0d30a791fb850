"""Figures of lesson 03: losses, the steps of gradient descent, and walks on the surfaces of `surfaces.py`.

Every function takes arrays and returns a `Picture` whose alt text is computed from them.
"""

from functools import cache

import numpy as np
from matplotlib.patheffects import withStroke

from . import plots, style
from .picture import picture
from .surfaces import SURFACES, descend, ending, landmarks

EXTENT = 3.2  # the map shows u and v from -EXTENT to EXTENT
ENDING_ROLES = {  # an ending -> the role whose colour and marker it gets
    "deepest minimum": "output",
    "local minimum": "hazard",
    "saddle": "gradient",
    "plateau": "idle",
    "on the way": "thread",
}


@style.styled
def samples_and_loss(x, y, weights, loss, caption=""):
    """Return a `Picture`: on the left the samples and the lines o = w x, on the right J over w.

    Parameters
    ----------
    x, y : (n,) arrays
    weights : (start, best)
        Two lines, and their points on the curve; the start gets its differences and its tangent too.
    loss : callable, w -> (J, dJ/dw)
    """
    fig, (left, right) = style.new_figure(7.6, 3.3, 1, 2)
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
        f"Left: {len(x)} samples with the lines o = {chosen:g} x and o = {best:g} x. Right: the loss is a parabola in "
        f"w; at w = {chosen:g} it is {height:g} with the slope {slope:g}, at w = {best:g} it is lowest, {lowest:g}."
    )
    return picture(fig, alt=alt, caption=caption)


@style.styled
def staircase(places, wrong, loss, caption=""):
    """Return a `Picture`: the number of wrong answers above, a smooth loss below, over the same parameter b.

    A dotted line goes through both where the loss is lowest.
    """
    fig, (top, bottom) = style.new_figure(6.6, 4.2, 2, 1, sharex=True)
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
        f"{wrong[at]} wrong where the loss is lowest",
        (places[at], wrong[at]),
        (8, 8),
        va="bottom",
        textcoords="offset points",
        fontsize=style.SIZE_SMALL,
        color=style.INK,
    )
    top.set(ylabel="wrong answers", title="Counting: flat steps, no slope to follow", ylim=(-0.3, None))
    bottom.set(ylabel="loss", xlabel="b", title="Squared distance: a slope to follow")
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
    fig, axes = style.new_figure(8.2, 4.2, 2, 2, width_ratios=(1.25, 1))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[:, 0]:
        ax.remove()
    left, (top, bottom) = fig.add_subplot(grid[:, 0]), axes[:, 1]
    reach = np.array([x.min() - 0.7, x.max() + 0.7])
    left.axhline(0.5, color=style.MUTED, linewidth=1, linestyle=":")
    left.text(reach[1], 0.47, "o = 0.5: above it the answer is 1", ha="right", va="top", fontsize=style.SIZE_SMALL)
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
    left.set(xlabel="x", ylabel="y, o", ylim=(-0.35, 1.5), xlim=reach, title="One far sample turns the line")
    fig.legend(
        *left.get_legend_handles_labels(), loc="outside lower left", ncols=5, columnspacing=1.2, handlelength=1.8
    )
    steps = np.arange(len(losses))
    top.plot(steps, losses, color=style.colour("data"))
    bottom.step(steps, right, where="post", color=style.colour("hazard"))
    top.set(ylabel="loss C", title="The loss falls, step by step", ylim=(0, None))
    bottom.set(
        ylabel=f"right of {len(x)}",
        title="The right answers do not follow",
        xlabel="step (stretched: 1, 10, 100 equally far apart)",
        ylim=(min(right) - 0.7, max(right) + 0.7),
        yticks=np.arange(min(right), max(right) + 1),
    )
    for ax in (top, bottom):
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xlim(0, steps[-1])
        ax.set_xticks([0, *10 ** np.arange(0, np.log10(steps[-1]) + 0.01, dtype=int)])
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
    alt = (
        f"One far sample turns a line until {lost.sum()} of {len(x)} samples is on the wrong side. Meanwhile the loss "
        f"falls from {losses[0]:.2f} to {losses[-1]:.2f}, and the right answers go from {right[0]} to {min(right)} "
        f"and end at {right[-1]}."
    )
    return picture(fig, alt=alt, caption=caption)


@style.styled
def parabola_paths(loss, lowest, paths, caption=""):
    """Return a `Picture` with one panel per learning rate: the steps of a descent on one parabola.

    Parameters
    ----------
    loss : callable, array of w -> array of J
    lowest : float
        The w with the least loss.
    paths : {title: (steps + 1,) array of w}
        All from one start.
    """
    cols = -(-len(paths) // 2)
    fig, axes = style.new_figure(8.2, 4.6, 2, cols, sharex=True, sharey=True, squeeze=False)
    span = 1.75 * abs(next(iter(paths.values()))[0] - lowest)
    grid = np.linspace(lowest - span, lowest + span, 121)
    for ax, (title, path) in zip(np.ravel(axes), paths.items(), strict=False):
        ax.plot(grid, loss(grid), color=style.colour("idle"), linewidth=1.5)
        ax.plot(path, loss(path), color=style.colour("gradient"), linewidth=1.1, marker="o", markersize=4)
        ax.plot(path[-1], loss(path[-1]), marker="D", markersize=7, color=style.colour("output"), zorder=3)
        ax.plot(path[0], loss(path[0]), zorder=4, **_START)  # open: where the walk comes back, both are seen
        ax.set_title(title, fontsize=style.SIZE_TEXT)
        ax.set(xlim=grid[[0, -1]], ylim=(loss(lowest) - 0.5, loss(grid[-1])))
    for ax in np.ravel(axes)[len(paths) :]:
        ax.set_axis_off()
        ax.legend(handles=_path_handles(), loc="center")
    for ax in np.ravel(axes)[max(0, len(paths) - cols) : len(paths)]:
        ax.set_xlabel("w")
        ax.tick_params(labelbottom=True)
    for ax in axes[:, 0]:
        ax.set_ylabel("J")
    ends = "; ".join(f"{title}: {abs(p[0] - lowest):.3g} to {abs(p[-1] - lowest):.3g}" for title, p in paths.items())
    alt = f"Descents on one parabola. Distance from the lowest point, first to last step: {ends}."
    return picture(fig, alt=alt, caption=caption)


_START = dict(
    marker="s",
    markersize=12,
    markerfacecolor="none",
    markeredgewidth=2.2,
    linestyle="none",
    color=style.colour("weight"),
)


def _path_handles():
    from matplotlib.lines import Line2D

    kinds = (("steps", "o", "gradient", "-"), ("last", "D", "output", ""))
    return [Line2D([], [], label="start", **_START)] + [
        Line2D([], [], marker=m, color=style.colour(role), linestyle=ls, label=name) for name, m, role, ls in kinds
    ]


@style.styled
def endings_map(paths, caption=""):
    """Return a `Picture` of descents on `foothills`, marked and coloured by where they end.

    Parameters
    ----------
    paths : (steps + 1, n, 2) array
    """
    fig, ax = style.new_figure(7.4, 5.0)
    _draw_map(ax, "foothills")
    names = [ending(p) for p in paths[-1]]
    for name, role in ENDING_ROLES.items():
        chosen = [i for i, n in enumerate(names) if n == name]
        c = style.cue(role)
        for i in chosen:
            ax.plot(*paths[:, i].T, color=c.colour, linestyle=c.linestyle, linewidth=1.6)
        if chosen:
            ax.plot(
                *paths[0, chosen].T,
                linestyle="none",
                marker=c.marker,
                markersize=9,
                color=c.colour,
                markeredgecolor=style.INK,
                markeredgewidth=0.8,
                label=f"{len(chosen)} starts: {name}",
            )
    _draw_landmarks(ax)
    ax.set_title(f"{len(names)} starts on one surface (darker is lower)")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="Where they are at the end", alignment="left")
    counts = ", ".join(f"{names.count(name)} {name}" for name in ENDING_ROLES if name in names)
    alt = (
        f"Contour map of a surface with three dents, the deepest on the right, and the paths of {len(names)} descents. "
        f"Where they are after {len(paths) - 1} steps: {counts}."
    )
    return picture(fig, alt=alt, caption=caption)


def _draw_landmarks(ax):
    """Rings, so that a start inside one is seen; names beside them, where no walk goes."""
    halo = [withStroke(linewidth=3, foreground=style.PAPER)]
    beside = {
        "deepest minimum": [(0.25, -0.95)],
        "local minimum": [(-2.35, 2.3), (-2.35, -2.3)],
        "saddle": [(-0.6, 0.5)],
    }
    for name, places in landmarks().items():
        for place, text_at in zip(places, beside[name], strict=True):
            ax.plot(
                *place,
                marker="o" if "minimum" in name else "x",
                markersize=17 if "minimum" in name else 12,
                markerfacecolor="none",
                markeredgewidth=1.8,
                color=style.INK,
            )
            ax.annotate(
                name,
                place,
                text_at,
                ha="center",
                va="center",
                fontsize=style.SIZE_SMALL,
                color=style.INK,
                path_effects=halo,
                arrowprops=dict(arrowstyle="-", color=style.INK, linewidth=0.9, shrinkA=1, shrinkB=9),
            )


@style.styled
def waiting(walks, low=0.5, caption=""):
    """Return a `Picture` of losses step by step, for walks that stand still before they go on.

    Parameters
    ----------
    walks : {name: (steps + 1,) array of losses}
    low : float
        The alt text says at which step each loss is first below it.
    """
    fig = plots.curves(walks, xlabel="step", ylabel="loss J", title="Level, but not finished")
    first = {name: np.flatnonzero(np.asarray(walk) < low)[:1] for name, walk in walks.items()}
    below = "; ".join(f"{name}: {step[0] if len(step) else 'never'}" for name, step in first.items())
    steps = len(next(iter(walks.values()))) - 1
    return picture(fig, alt=f"Loss over {steps} steps. First step with a loss below {low:g}: {below}.", caption=caption)


@style.styled
def race(curves, caption=""):
    """Return a `Picture` of excess losses per epoch, counted from 1, on a logarithmic axis.

    Parameters
    ----------
    curves : {name: (epochs,) list}
        A shorter list is a run that continues another one: it is drawn up to the last epoch.
    """
    epochs = max(len(c) for c in curves.values())
    series = {name: (np.arange(epochs - len(c) + 1, epochs + 1), c) for name, c in curves.items()}
    fig = plots.curves(series, xlabel="epoch", ylabel="excess loss", log=True)
    fig.axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    whole = {name: c for name, c in curves.items() if len(c) == epochs}
    first, last = min(whole, key=lambda name: whole[name][0]), min(curves, key=lambda name: curves[name][-1])
    alt = f"Excess loss over {epochs} epochs. Lowest after one epoch: {first}. Lowest after {epochs}: {last}."
    return picture(fig, alt=alt, caption=caption)


@cache
def _heights(name):
    line = np.linspace(-EXTENT, EXTENT, 97)
    u, v = np.meshgrid(line, line)
    return u, v, SURFACES[name][0](np.stack([u, v], axis=-1))


def _draw_map(ax, name):
    u, v, height = _heights(name)
    # In a bowl the height grows with the square of the distance: squared levels give evenly spaced rings.
    share = np.linspace(0, 1, 13) ** (2 if name == "ravine" else 1)
    levels = height.min() + (height.max() - height.min()) * share
    tints = [style.tint("idle", a) for a in np.linspace(0.75, 0.03, len(levels) - 1)]
    ax.contourf(u, v, height, levels=levels, colors=tints)
    ax.contour(u, v, height, levels=levels, colors=style.MUTED, linewidths=0.5)
    ax.set(xlabel="u", ylabel="v", xlim=(-EXTENT, EXTENT), ylim=(-EXTENT, EXTENT), aspect="equal")
    ax.grid(False)


@style.styled
def path_and_loss(path, name):
    """Return a figure: one descent on a surface's map, and its loss step by step.

    Parameters
    ----------
    path : (steps + 1, 2) array
    name : str
        A key of `SURFACES`.
    """
    fig, (left, right) = style.new_figure(8.2, 3.9, 1, 2, width_ratios=(1.1, 1))
    _draw_map(left, name)
    heights = SURFACES[name][0](path)
    shown = np.clip(path, -50, 50)  # a diverged path would overflow the renderer
    left.plot(*shown.T, color=style.colour("gradient"), linewidth=1.1, marker="o", markersize=3.5, label="steps")
    left.plot(
        *shown[0],
        marker="s",
        markersize=9,
        linestyle="none",
        color=style.colour("weight"),
        markeredgecolor=style.INK,
        label="start",
    )
    left.plot(
        *shown[-1],
        marker="D",
        markersize=9,
        linestyle="none",
        color=style.colour("output"),
        markeredgecolor=style.INK,
        label="last",
    )
    left.set_title("The path on the map (darker is lower)")
    left.legend(
        loc="upper left",
        framealpha=0.85,
        frameon=True,
        edgecolor="none",
        ncols=3,
        columnspacing=0.8,
        handletextpad=0.3,
        borderpad=0.2,
    )
    right.plot(heights, color=style.colour("gradient"), marker="o" if len(path) <= 31 else None, markersize=4)
    right.set(xlabel="step", ylabel="loss J", title="The loss, step by step")
    if heights.max() > 20:
        right.set_yscale("log")
    else:
        right.set_ylim(0, max(1.1, 1.1 * heights.max()))
    return fig


def learning_rate_picture(surface, lr, steps, u, v):
    """Return the `Picture` of the learning-rate explorer: a descent from (u, v), with words for what it did.

    Parameters
    ----------
    surface : str
        A key of `SURFACES`.
    lr : float
    steps : int
    u, v : float
        The start.
    """
    height, gradient = SURFACES[surface]
    path = descend(gradient, (u, v), lr, steps)
    losses = height(path)
    first, last, rises = losses[0], losses[-1], int(np.sum(np.diff(losses) > 1e-12))
    rising = f" and rises in {rises} of the steps" if rises else ", and no step raises it"
    words = (
        f"{steps} {'step' if steps == 1 else 'steps'} with learning rate {lr:g} from ({u:g}, {v:g}): the loss goes "
        f"from {first:.3g} to {last:.3g}{rising}. {_verdict(surface, path)}"
    )
    return picture(path_and_loss(path, surface), alt=f"A descent on the {surface}. {words}", caption=words)


def _verdict(surface, path):
    last = path[-1]
    if np.max(np.abs(last)) > EXTENT:
        return "It has left the map."
    if surface == "ravine":
        across = np.abs(path[[0, -1], 1])
        if across[0] and np.isclose(across[1], across[0], rtol=1e-9):
            return "Across the valley it is exactly as far out as at the start."
        return f"It ends {np.linalg.norm(last):.2g} away from the lowest point."
    where = ending(last)
    return "It is still on the way." if where == "on the way" else f"It ends at: {where}."
