"""Figures of lesson 03: the steps of gradient descent, on a parabola and on the surfaces of `surfaces.py`.

Every function takes arrays and returns a `Picture` whose alt text is computed from them.
"""

from functools import cache

import numpy as np
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter

from course_lib.validate import require_some

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
def parabola_paths(loss, lowest, paths, reach=None, caption=""):
    """Return a `Picture` of descents on the loss of one weight, a panel for each learning rate, two in a row.

    Parameters
    ----------
    loss : callable, array of w -> array of J
    lowest : float
        The w with the least loss.
    paths : {title: (steps + 1,) array of w}
        All from one start.
    reach : (float, float), optional
        The first and the last w that are shown; by default 1.75 times as far from the lowest as the start.
    """
    require_some("paths", paths)
    span = 1.75 * abs(next(iter(paths.values()))[0] - lowest)
    grid = np.linspace(*(reach or (lowest - span, lowest + span)), 241)  # a narrow dent is seen too
    rows = -(-len(paths) // 2)
    fig, axes = style.new_figure(4.2, 1.75 * rows + 0.1, rows, 2, squeeze=False)
    for ax in axes.flat[len(paths) :]:
        ax.remove()
    for ax, (title, path) in zip(axes.flat, paths.items(), strict=False):
        ax.plot(grid, loss(grid), color=style.colour("idle"), linewidth=1.5)
        ax.plot(path, loss(path), color=style.colour("gradient"), linewidth=1.0, marker="o", markersize=3)
        ax.plot(path[-1], loss(path[-1]), marker="D", markersize=6, color=style.colour("output"), zorder=3)
        ax.plot(path[0], loss(path[0]), zorder=4, **_START)  # open: where the walk comes back, both are seen
        ax.set_title(title, fontsize=style.SIZE_SMALL)
        ax.set(xlim=grid[[0, -1]], ylim=(loss(lowest) - 0.5, max(loss(grid))))
        ax.locator_params(nbins=4)
    for ax in axes[:, 0]:
        ax.set_ylabel("J")
    for ax in list(axes.flat[: len(paths)])[-2:]:
        ax.set_xlabel("w")
    alt = " ".join(
        f"{title}: in {len(path) - 1} steps the distance from the lowest point goes from {abs(path[0] - lowest):.3g} "
        f"to {abs(path[-1] - lowest):.3g}."
        for title, path in paths.items()
    )
    return picture(fig, alt=f"Descents on the loss of one weight. {alt}", caption=caption)


@style.styled
def rates_and_losses(rates, losses, limit, caption=""):
    """Return a `Picture` of the loss after some numbers of steps, for many rates; the lowest are marked, and 2/h.

    Parameters
    ----------
    rates : (n,) array, rising
    losses : {name: (n,) array}
        Such as {"after 10 steps": ...}, all from one start; what is beyond the upper edge is cut off.
    limit : float
        The largest rate that does not diverge; drawn as a dotted line.
    """
    require_some("losses", losses)
    fig, ax = style.new_figure(4.2, 3.3)
    below = rates < limit
    plots.curves({name: (rates, values) for name, values in losses.items()}, ax=ax, log=True)
    lows, highs = zip(*((np.min(v), np.max(v[below])) for v in map(np.asarray, losses.values())), strict=True)
    top = 4 * max(highs)
    ax.axvline(limit, color=style.INK, linestyle=":", linewidth=1.4)
    for values in map(np.asarray, losses.values()):
        best = np.argmin(values)
        ax.plot(rates[best], values[best], marker="o", markersize=6, color=style.INK, zorder=4)
    where = limit + 0.012 * rates[-1], 0.9 * min(lows)
    ax.text(*where, f"2/h =\n{limit:.4f}", ha="left", va="bottom", fontsize=style.SIZE_SMALL)
    ax.set(xlabel="learning rate", ylabel="loss", ylim=(0.8 * min(lows), top), xlim=(0, rates[-1]))
    _plain_log(ax)
    _legend_below(fig, ax)
    ends = "; ".join(
        f"{name}: from {values[0]:.3g} to {np.asarray(values)[below][-1]:.3g}, lowest at {rates[np.argmin(values)]:.3g}"
        for name, values in losses.items()
    )
    alt = (
        f"Loss over the learning rate, from {rates[0]:g} up to the limit {limit:.4f}: {ends}. Beyond the limit the "
        f"curves leave the picture at its upper edge."
    )
    return picture(fig, alt=alt, caption=caption)


def _plain_log(ax):
    """Write the numbers of a logarithmic axis as they are written in a text: 0.02 and not 2 times a power of ten."""
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda v, _: f"{v:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())


_START = dict(
    marker="s",
    markersize=9,
    markerfacecolor="none",
    markeredgewidth=1.8,
    linestyle="none",
    color=style.colour("weight"),
)


@style.styled
def endings_map(paths, caption=""):
    """Return a `Picture` of descents on `foothills`, marked and coloured by where they end.

    Parameters
    ----------
    paths : (steps + 1, n, 2) array
    """
    require_some("paths", paths)
    fig, ax = style.new_figure(4.2, 5.6)
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
    ax.set_title(f"{len(names)} starts (darker is lower)")
    fig.legend(
        *ax.get_legend_handles_labels(), loc="outside lower left", title="Where they are at the end", alignment="left"
    )
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
        "local minimum": [(-2.2, 2.3), (-2.2, -2.3)],
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
    require_some("walks", walks)
    fig, ax = style.new_figure(4.2, 3.6)
    plots.curves(walks, xlabel="step", ylabel="loss J", title="Level, but not finished", ax=ax)
    _legend_below(fig, ax)
    first = {name: np.flatnonzero(np.asarray(walk) < low)[:1] for name, walk in walks.items()}
    below = "; ".join(f"{name}: {step[0] if len(step) else 'never'}" for name, step in first.items())
    steps = len(next(iter(walks.values()))) - 1
    return picture(fig, alt=f"Loss over {steps} steps. First step with a loss below {low:g}: {below}.", caption=caption)


@style.styled
def race(curves, ylabel="loss", caption=""):
    """Return a `Picture` of losses per epoch, counted from 1, on a logarithmic axis.

    Parameters
    ----------
    curves : {name: (epochs,) list}
        A shorter list is a run that continues another one: it is drawn up to the last epoch.
    ylabel : str
        What the losses are.
    """
    require_some("curves", curves)
    epochs = max(len(c) for c in curves.values())
    series = {name: (np.arange(epochs - len(c) + 1, epochs + 1), c) for name, c in curves.items()}
    fig, ax = style.new_figure(4.2, 4.0)
    plots.curves(series, xlabel="epoch", ylabel=ylabel, log=True, ax=ax)
    _plain_log(ax)
    _legend_below(fig, ax)
    whole = {name: c for name, c in curves.items() if len(c) == epochs}
    first, last = min(whole, key=lambda name: whole[name][0]), min(curves, key=lambda name: curves[name][-1])
    alt = f"Loss over {epochs} epochs. Lowest after one epoch: {first}. Lowest after {epochs}: {last}."
    return picture(fig, alt=alt, caption=caption)


def _legend_below(fig, ax):
    ax.get_legend().remove()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center")


@cache
def _heights(name):
    line = np.linspace(-EXTENT, EXTENT, 97)
    u, v = np.meshgrid(line, line)
    return u, v, SURFACES[name][0](np.stack([u, v], axis=-1))


def map_levels(name):
    """Return the 13 heights between which the map of a surface changes its shade.

    In a bowl the height grows with the square of the distance: squared levels give evenly spaced rings.
    """
    height = _heights(name)[2]
    share = np.linspace(0, 1, 13) ** (2 if name == "ravine" else 1)
    return height.min() + (height.max() - height.min()) * share


def map_tints():
    """Return the 12 shades of a map, from the lowest ground to the highest: the darker, the lower."""
    return [style.tint("thread", amount) for amount in np.linspace(0.95, 0.04, 12)]


def _draw_map(ax, name):
    u, v, height = _heights(name)
    levels = map_levels(name)
    ax.contourf(u, v, height, levels=levels, colors=map_tints())
    ax.contour(u, v, height, levels=levels, colors=style.COLOURS["data"], linewidths=0.5)
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
    left.plot(*shown.T, color=style.INK, linewidth=1.1, marker="o", markersize=3.5, label="steps")
    uphill = SURFACES[name][1](path[0])
    if np.hypot(*uphill) > 0.02:  # on level ground there is no arrow to draw
        look = dict(arrowstyle="-|>", color=style.colour("gradient"), linewidth=2, linestyle="--", shrinkA=0, shrinkB=0)
        left.annotate("", path[0] + uphill, path[0], arrowprops=look)
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
    right.plot(heights, color=style.colour("data"), marker="o" if len(path) <= 31 else None, markersize=4)
    right.set(xlabel="step", ylabel="loss J", title="The loss, step by step")
    if heights.max() > 20:
        right.set_yscale("log")
    else:
        right.set_ylim(0, max(1.1, 1.1 * heights.max()))
    return fig


def learning_rate_picture(surface, lr, steps, u, v):
    """Return the static `Picture` of `walk_downhill`: a descent from (u, v), with words for what it did.

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
    u_up, v_up = gradient(path[0])
    words = (
        f"{steps} {'step' if steps == 1 else 'steps'} with learning rate {lr:g} from ({u:g}, {v:g}): the loss goes "
        f"from {first:.3g} to {last:.3g}{rising}. {_verdict(surface, path)}"
    )
    arrow = f"The arrow at the start is the gradient, ({u_up:.2g}, {v_up:.2g}); uphill; the walk goes against it."
    alt = f"A descent on the {surface}. {words} {arrow}"
    return picture(path_and_loss(path, surface), alt=alt, caption=words)


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
