"""Pictures of layers: a network with its numbers, the collapse of layers without activation, and a race."""

import numpy as np

from course_lib.reference import add_bias_input, identity, relu

from . import style
from .perceptron import HIGH, LOW, samples
from .svg import Svg, text_width

RADIUS = 25


def network(x, layers, activation):
    """Return a drawing of a small network: the value in every node, the weight on every edge.

    Parameters
    ----------
    x : (D,) array
        The input values.
    layers : list of (M, D) array
        Weights as rows, one row per neuron.
    activation : callable
        Applied to every weighted sum.
    """
    sizes = [len(x), *(len(rows) for rows in layers)]
    tall = max(sizes) * 112 + 40
    svg = Svg(640, tall)
    columns = [[(70 + 235 * k, 40 + (tall - 40) * (i + 0.5) / n) for i in range(n)] for k, n in enumerate(sizes)]
    for k, title in enumerate(["inputs", *["hidden layer"] * (len(layers) - 1), "output layer"]):
        svg.text(columns[k][0][0], 20, f"{title} ({sizes[k]},)", anchor="middle", bold=True)
    values = np.asarray(x, float)
    _nodes(svg, columns[0], values, "data")
    for k, rows in enumerate(layers):
        _edges(svg, columns[k], columns[k + 1], np.asarray(rows, float))
        sums = np.asarray(rows, float) @ values
        values = activation(sums)
        _nodes(svg, columns[k + 1], values, "output" if k == len(layers) - 1 else "data", sums)
    return svg


def _nodes(svg, places, values, role, sums=None):
    for i, (cx, cy) in enumerate(places):
        svg.circle(cx, cy, RADIUS, fill=style.tint(role, 0.25), stroke=role, line=2)
        svg.text(cx, cy + 4, _short(values[i]), anchor="middle", bold=True)
        if sums is not None:
            svg.text(cx, cy + RADIUS + 15, f"z = {_short(sums[i])}", anchor="middle")


def _edges(svg, tails, heads, rows):
    labels = []
    for i, (hx, hy) in enumerate(heads):
        for j, (tx, ty) in enumerate(tails):
            weight = rows[i, j]
            way = np.array([hx - tx, hy - ty]) / np.hypot(hx - tx, hy - ty)
            start, end = np.array([tx, ty]) + RADIUS * way, np.array([hx, hy]) - RADIUS * way
            if weight == 0:
                svg.line(*start, *end, stroke="idle", line=1, dashed=True)
            else:
                svg.line(*start, *end, stroke="weight", line=1 + abs(weight), dashed=weight < 0)
            near = start + 0.82 * (end - start)  # the neuron that the weight belongs to
            labels.append((near, f"{weight:g}".replace("-", "\u2212")))
    for (px, py), text in labels:
        wide = text_width(text) + 4
        svg.rect(px - wide / 2, py - 8, wide, 16, fill=style.PAPER, stroke="none")
        svg.text(px, py + 4.3, text, anchor="middle")


def collapse(x, w, w_out):
    """Return a drawing: two layers with ReLU, the same two without, and the one matrix that equals the latter."""
    z = x @ w
    svg = Svg(640, 492)
    first = [(10, "X", x, "data"), (120, "W", w, "weight"), (220, "Z", z, "data")]
    last = (450, "W'", w_out, "weight")
    with_relu = [*first, (318, "relu(Z)", relu(z), "data"), last, (550, "O", relu(z) @ w_out, "output")]
    without = [*first, last, (550, "O", z @ w_out, "output")]
    one = [(10, "X", x, "data"), (268, "W W'", w @ w_out, "weight"), (550, "O", x @ (w @ w_out), "output")]
    shown = {
        "With ReLU: Z = X W, O = relu(Z) W'": with_relu,
        "Without: Z = X W, O = Z W'": without,
        "One matrix does the same: O = X (W W')": one,
    }
    for top, (title, row) in zip((0, 164, 328), shown.items(), strict=True):
        svg.text(10, top + 18, title, bold=True, size=14)
        if top:
            svg.line(10, top, 630, top, stroke=style.GRID)
        _row(svg, row, top + 92)
    return svg


def _row(svg, row, middle):
    """Draw matrices (left, name, values, role) centred on one height, and an arrow from each to the next."""
    before = None
    for left, name, values, role in row:
        top = middle - 12 * len(values)  # cells are 24 high
        box = svg.matrix(values, left, top - 20, name=name, role=role, fmt="{:g}", cell=(26, 24))
        if before:
            svg.arrow(before + 5, middle, left - 5, middle, stroke=style.MUTED, line=1)
        before = box.right


@style.styled
def outputs(x, y, w, w_out):
    """Return a figure: the output of two layers over the square of inputs, with ReLU between them and without."""
    fig, axes = style.new_figure(8.2, 3.9, 1, 2, sharey=True)
    g1, g2 = np.meshgrid(np.linspace(LOW, HIGH, 111), np.linspace(LOW, HIGH, 111))
    grid = add_bias_input(np.column_stack([g1.ravel(), g2.ravel()]))
    levels = np.arange(-3.75, 4, 0.5)
    panels = ((axes[0], relu, "With ReLU: folded"), (axes[1], identity, "Without: a flat plane"))
    for ax, between, title in panels:
        height = (between(grid @ w) @ w_out).reshape(g1.shape)
        ax.contourf(g1, g2, height, levels=[0.5, 9], colors=[style.tint("output", 0.25)])
        ax.contour(g1, g2, height, levels=levels, colors=style.COLOURS["idle"], linewidths=1, linestyles="-")
        ax.contour(g1, g2, height, levels=[0.5], colors=style.COLOURS["weight"], linewidths=2.5)
        samples(ax, x, y)
        for point, value in zip(x, between(add_bias_input(x) @ w) @ w_out[:, 0], strict=True):
            text = f"{value:g}".replace("-", "\u2212")
            ax.annotate(
                text, point, textcoords="offset points", xytext=(9, 7), fontsize=style.SIZE_TITLE, fontweight="bold"
            )
        ax.set(xlabel="$x_1$", aspect="equal", xticks=[0, 1], yticks=[0, 1], title=title)
        ax.grid(False)
    axes[0].set_ylabel("$x_2$")
    return fig


@style.styled
def race(names, loop_ms, batch_ms):
    """Return a figure: for each layer, how many times longer the loop over samples takes than one product."""
    fig, ax = style.new_figure(7.4, 0.7 * len(names) + 1.0)
    ratios = np.asarray(loop_ms) / np.asarray(batch_ms)
    at = np.arange(len(names))[::-1]
    ax.barh(at, ratios - 1, left=1, height=0.55, color=style.COLOURS["data"])
    for y, ratio in zip(at, ratios, strict=True):
        ax.annotate(
            f"{times(ratio)} times",
            (max(ratio, 1), y),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            bbox=dict(facecolor=style.PAPER, edgecolor="none", pad=1.5),
        )
    rows = zip(names, loop_ms, batch_ms, strict=True)
    labels = [f"{name}\n{loop:.2g} ms : {batch:.2g} ms" for name, loop, batch in rows]
    high = 10 * max(ratios.max(), 10)
    ticks = [10**k for k in range(int(np.log10(high)) + 1)]
    ax.set(xscale="log", xlim=(min(0.8, 0.8 * ratios.min()), high))
    ax.set(yticks=at, yticklabels=labels, xticks=ticks, xticklabels=[f"{t}" for t in ticks])
    ax.set_xlabel("time of the loop / time of one product")
    ax.minorticks_off()
    ax.grid(axis="y", visible=False)
    return fig


def times(ratio):
    """Write a measured ratio with no more digits than a clock can promise: 220, 37, 2.6."""
    return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):.0f}"


def _short(value):
    return f"{value:.2f}".replace("-", "\u2212")
