"""Figures of lesson 04: paths of a weight, the matrices of two layers step by step, learning, checks.

Every number drawn here is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .plots import decision_plane
from .stepper import stepper
from .svg import Svg

ROW, TOP, CELL, SHEET = 22, 70, 37, 402  # a matrix row; top of the first band; width of a cell, and of the sheet
RADIUS = 25  # of a neuron in the path diagram
GAP, STRIP = 4, style.tint("gradient", 0.12)  # behind the gradients, so that their rows look unlike the values'
USED = style.colour("idle")
"""Behind a matrix that the present step reads. Dashed is only what is not computed yet."""


def path_diagram(x, hidden, output, w_hidden, w_output, marked):
    """Return a drawing of one sample's values in a two-layer network and its loss J, with some of its edges marked.

    Parameters
    ----------
    x, hidden, output : arrays (D,), (M,), (C,)
        Values of the neurons, written into the circles below the neurons' names.
    w_hidden, w_output : arrays (D, M), (M, C)
        The weight of each edge; written beside the marked ones.
    marked : list of (layer, i, j)
        Edges to draw thick: layer 0 leads from x[i] to hidden[j], layer 1 from hidden[i] to output[j]. An output
        that a marked edge reaches is joined to J by a thick arrow too.
    """
    layers, weights = (x, hidden, output), (w_hidden, w_output)
    most = max(map(len, layers))
    svg = Svg(400, 62 * most + 8)
    centres = [
        [(28 + 128 * k, 35 + 62 * (i + (most - len(v)) / 2)) for i in range(len(v))] for k, v in enumerate(layers)
    ]
    loss = (372, 35 + 62 * (most - 1) / 2)
    reached = {j for layer, _, j in marked if layer == 1}
    edges = [
        (centres[layer][i], centres[layer + 1][j], (layer, i, j) in marked, f"w = {w[i, j]:g}")
        for layer, w in enumerate(weights)
        for i, j in np.ndindex(w.shape)
    ]
    edges += [(centre, loss, i in reached, "") for i, centre in enumerate(centres[2])]
    for start, end, thick, _ in edges:
        if not thick:
            svg.line(*_shorten(start, end), stroke=style.GRID, line=1.5)
    for start, end, thick, text in edges:
        if thick:
            x1, y1, x2, y2 = _shorten(start, end)
            svg.arrow(x1, y1, x2, y2, stroke="weight" if text else "output", line=3, head=11)
            if text:
                _label(svg, x1 + 0.36 * (x2 - x1), y1 + 0.36 * (y2 - y1), text.replace("-", "−"))
    used = {(k, n) for layer, i, j in marked for k, n in ((layer, i), (layer + 1, j))}
    for k, (letter, role, values) in enumerate(zip("IHO", ("data", "data", "output"), layers, strict=True)):
        for i, (cx, cy) in enumerate(centres[k]):
            bold = (k, i) in used
            svg.circle(cx, cy, RADIUS, fill=style.tint(role), stroke=role, line=3 if bold else 1)
            svg.text(cx, cy - 4, f"{letter}{i + 1}", anchor="middle", bold=True)
            svg.text(cx, cy + 12, f"{values[i]:.2f}".replace("-", "−"), anchor="middle", bold=bold)
    svg.rect(loss[0] - RADIUS, loss[1] - 18, 2 * RADIUS, 36, fill=style.tint("output"), stroke="output", radius=6)
    svg.text(loss[0], loss[1] + 4.3, "loss J", anchor="middle", bold=bool(reached))
    return svg


def _label(svg, cx, cy, text):
    svg.rect(cx - 4 * len(text), cy - 10, 8 * len(text), 19, fill=style.PAPER, stroke="weight", radius=4)
    svg.text(cx, cy + 4, text, anchor="middle")


def matrices(x, w, w2, y, activation="sigmoid"):
    """Return every matrix of a two-layer network and of its backward pass, by name, in the order they are computed.

    x (B, D), w (D, M), w2 (M, C), y (B, C). Names: X W W2 Y (given), Z A G O J (forward),
    dO δG dW2 dA δZ dW (backward). Source: K, "Chain Rule", whose letters for W2, δG, δZ are W', δ1, δ2.
    """
    f_forward, f_backward = getattr(ops, f"{activation}_forward"), getattr(ops, f"{activation}_backward")
    z, dense1 = ops.dense_forward(x, w)
    a, act1 = f_forward(z)
    g, dense2 = ops.dense_forward(a, w2)
    o, act2 = f_forward(g)
    loss, cache = ops.half_squared_sum_forward(o, y)
    d_o = ops.half_squared_sum_backward(cache)
    delta_g = f_backward(d_o, act2)
    d_a, d_w2, _ = ops.dense_backward(delta_g, dense2)
    delta_z = f_backward(d_a, act1)
    _, d_w, _ = ops.dense_backward(delta_z, dense1)
    given = {"X": x, "W": w, "W2": w2, "Y": y}
    forward = {"Z": z, "A": a, "G": g, "O": o, "J": np.array([[loss]])}
    return given | forward | {"dO": d_o, "δG": delta_g, "dW2": d_w2, "dA": d_a, "δZ": delta_z, "dW": d_w}


# What is computed when, from what, and how it reads. The gradient of each matrix stands below it.
FORWARD = {
    "Z": ("X W", "X", "W"),
    "A": ("f(Z)", "Z"),
    "G": ("A W2", "A", "W2"),
    "O": ("f(G)", "G"),
    "J": ("½ Σ (Y − O)²", "O", "Y"),
}
BACKWARD = {
    "dO": ("O − Y", "O", "Y"),
    "δG": ("dO * f'(G)", "dO", "G"),
    "dW2": ("Aᵀ δG", "A", "δG"),
    "dA": ("δG W2ᵀ", "δG", "W2"),
    "δZ": ("dA * f'(Z)", "dA", "Z"),
    "dW": ("Xᵀ δZ", "X", "δZ"),
}
BANDS = (
    (("X", None, 96), ("W", "dW", 116), ("Z", "δZ", 116), ("Y", "J", 84)),
    (("A", "dA", 118), ("W2", "dW2", 94), ("G", "δG", 94), ("O", "dO", 94)),
)
"""Two rows of matrices with their gradients below: two, so that a phone shows them at a readable size."""
WORDS = {
    "Z": "the layer's weighted sums",
    "A": "the hidden activations",
    "G": "the output's weighted sums",
    "O": "the outputs",
    "J": "the loss, one number",
    "dO": "how J changes with each output",
    "δG": "how J changes with each weighted sum G",
    "dW2": "the gradient of W2, summed over the samples",
    "dA": "how J changes with each hidden activation",
    "δZ": "how J changes with each weighted sum Z",
    "dW": "the gradient of W, summed over the samples",
}


def backprop_frames(x, w, w2, y, activation="sigmoid"):
    """Return the twelve pictures of one forward and one backward pass; arguments as `matrices`."""
    values = matrices(x, w, w2, y, activation)
    steps = [None, *FORWARD, *BACKWARD]
    return [_frame(values, steps[: k + 1]) for k in range(len(steps))]


def backprop_stepper(x, w, w2, y, activation="sigmoid"):
    """Return the stepper of `backprop_frames`."""
    title = "Forward fills the matrices, backward the gradient below each, in the opposite order"
    return stepper(backprop_frames(x, w, w2, y, activation), title=title)


def _frame(values, done):
    now = done[-1]
    formula, *sources = (FORWARD | BACKWARD).get(now, ("",))
    tall = 20 + ROW * max(np.shape(v)[0] for v in values.values()) + 50  # of a row of matrices, with what is below
    wide = 8 + max(sum(column[2] for column in _widths(band, values)) for band in BANDS)
    svg = Svg(max(SHEET, wide), TOP + 4 * tall)
    head, shapes = _headline(values, now, formula, sources)
    svg.text(6, 20, head, size=14, bold=True)
    svg.text(6, 40, shapes)
    for k, band in enumerate(BANDS):
        left, first = 4, TOP + 2 * k * tall
        svg.rect(0, first + tall - GAP, svg.width, tall - 14, fill=STRIP, stroke="none")
        for upper, lower, width in _widths(band, values):
            for name, top in ((upper, first), (lower, first + tall)):
                if name is None:
                    svg.text(left, top + 12, "dX: unused", fill=style.MUTED)
                    continue
                known = name in done or name in ("X", "W", "W2", "Y")
                if name in sources:
                    rows, columns = np.shape(values[name])
                    across, down = columns * _cell(name, values[name]), rows * ROW
                    svg.rect(left - 4, top + 15, across + 8, down + 9, fill=USED, stroke="none", radius=4)
                box = _matrix(svg, values[name], left, top, name, known)
                if name in FORWARD | BACKWARD:
                    rule = (FORWARD | BACKWARD)[name][0]
                    svg.text(left, top - 3 if top == first else box.bottom + 16, rule, fill=style.MUTED)
                if name == now:
                    svg.rect(box.x - 2, box.y - 3, box.width + 4, box.height + 6, line=3)
            left += width
    return picture(svg, alt=_alt(values, now, formula, done), caption=_frame_caption(values, now, formula, sources))


def _widths(band, values):
    """The columns of a band, wider where a matrix has more columns than the lesson's."""
    return [(up, low, max(width, _cell(up, values[up]) * values[up].shape[1])) for up, low, width in band]


def _places(value):
    """Decimal places that a given matrix needs, at most two."""
    return next((n for n in (0, 1) if np.all(value == np.round(value, n))), 2)


def _cell(name, value):
    """Width of a cell: one for a matrix and its gradient; X has none, so its cells are as wide as its numbers."""
    return {"X": (24, 30, CELL)[_places(value)], "J": 50}.get(name, CELL)


def _slope(value):
    """Write a small slope with three places in the room of two: .043 for 0.043."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.2f}"


def _matrix(svg, value, left, top, name, known):
    role = {"W": "weight", "W2": "weight", "O": "output", "Y": "output", "J": "output"}.get(name, "data")
    fmt = "{:.3f}" if name == "J" else f"{{:.{_places(value)}f}}"
    role, fmt = ("gradient", _slope) if name in BACKWARD else (role, fmt)
    cell = (_cell(name, value), ROW)
    return svg.matrix(value, left, top, name=name, role=role, fmt=fmt, empty=not known, cell=cell)


def _headline(values, now, formula, sources):
    if now is None:
        return "Given: X, W, W2 and the right answers Y", "the samples, the weights, what each output should be"
    arrow = "forward →" if now in FORWARD else "← backward"
    return f"{arrow}  {now} = {formula}", _shapes(values, now, formula, sources)


def _shapes(values, now, formula, sources):
    """The shapes of a product, in the order in which the formula multiplies."""
    if now == "J" or len(sources) < 2:
        return f"shape {values[now].shape}"
    shapes = [values[s].shape[::-1] if f"{s}ᵀ" in formula else values[s].shape for s in sources]
    sign = " * " if "*" in formula else " − " if "−" in formula else " @ "
    return f"shapes {sign.join(map(str, shapes))} → {values[now].shape}"


def _frame_caption(values, now, formula, sources):
    if now is None:
        return "Nothing is computed yet: dashed cells wait. Every gradient will have the shape of the matrix above it."
    return f"{now} = {formula} (thick frame) is computed from {' and '.join(sources)} (grey rims): {WORDS[now]}."


def _alt(values, now, formula, done):
    if now is None:
        return "Step 1: the matrices X, W, W2 and Y are given; the places of all others and of the gradients are empty."
    places = 3 if now in BACKWARD else 2
    numbers = "; ".join(", ".join(f"{v:.{places}f}" for v in row) for row in values[now])
    return f"Step {len(done)}: {now} = {formula}, shape {values[now].shape}, is now {numbers}."


@style.styled
def learning(losses, before, after, labels, lines=(None, None)):
    """Return the loss of each step, and below it what two hidden neurons make of each sample, before and after.

    The output neuron says class 1 on one side of its line, which is shaded, and class 0 on the other. Where all samples
    lie close together they are shown from near, and dotted lines join those of a class.

    Parameters
    ----------
    losses : array (steps,)
    before, after : arrays (B, 2)
        The hidden activations of the samples.
    labels : int array (B,)
        Classes 0 and 1.
    lines : ((w, b), (w, b)), optional
        The output neuron's weights (2,) and its bias, before and after: its sum is w . hidden + b.
    """
    fig, axes = style.new_figure(4.2, 4.7, 2, 2, height_ratios=(2, 3))
    grid = axes[0, 0].get_gridspec()
    for ax in axes[0]:
        ax.remove()
    top = fig.add_subplot(grid[0, :])
    top.plot(losses, color=style.colour("gradient"))
    top.set(title="the loss", xlabel="step", ylim=(0, None))
    titles = ("hidden, before", "hidden, after")
    for ax, hidden, title, line in zip(axes[1], (before, after), titles, lines, strict=True):
        low, side = np.array([-0.1, -0.1]), 1.2
        spread = np.ptp(hidden, axis=0).max()
        if 0 < spread < 0.5:  # a crowd is looked at from near
            side = 1.7 * spread
            low = (hidden.min(axis=0) + hidden.max(axis=0) - side) / 2
        if line is not None:
            _half_plane(ax, *line, low, side)
        for k in np.unique(labels):
            cue = style.class_cue(k)
            points = hidden[labels == k]
            if side < 1:
                ax.plot(*points.T, color=cue.edge, linestyle=":", linewidth=1.4)
            hollow = k == 0  # large, without a face and drawn last: what lies inside or below stays visible
            ax.plot(*points.T, linestyle="none", marker=cue.marker, markersize=11 if hollow else 6, markeredgewidth=1.8,
                    markerfacecolor="none" if hollow else cue.face, markeredgecolor=cue.edge, zorder=3 + hollow,
                    label=f"class {k}")  # fmt: skip
        ax.set(title=title, xlabel="H1", xlim=(low[0], low[0] + side), ylim=(low[1], low[1] + side), aspect="equal")
        ax.locator_params(nbins=4)
    axes[1, 0].set_ylabel("H2")
    fig.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def _half_plane(ax, w, b, low, side):
    """Draw the line where w . p + b is 0, and shade its positive side, in a square with a corner at low."""
    h1, h2 = (start + np.linspace(0, side, 121) for start in low)
    sums = w[0] * h1[None, :] + w[1] * h2[:, None] + b
    if sums.min() < 0 < sums.max():
        ax.contour(h1, h2, sums, levels=[0], colors=style.INK, linewidths=1.2)
    ax.contourf(h1, h2, sums, levels=[0, max(sums.max(), 1e-9)], colors=[style.class_cue(1).region])
    ax.grid(False)


@style.styled
def check_scatter(results):
    """Return a plot per backward pass: what it says against what was measured, for every element.

    Both axes of a panel have one scale, so the diagonal, where both agree, rises by 45 degrees. A thin line joins each
    cross to the diagonal: the error.

    Parameters
    ----------
    results : dict
        Title -> {name of a backward pass: (measured, computed)}, arrays of one size; at most two titles, drawn as
        hollow squares and as crosses; every title with the same names.
    """
    names = list(next(iter(results.values())))
    fig, axes = style.new_figure(4.2, 0.5 + 2.15 * ((len(names) + 1) // 2), (len(names) + 1) // 2, 2)
    axes = np.ravel(axes)
    for ax in axes[len(names) :]:
        ax.remove()
    axes = axes[: len(names)]
    looks = (("data", "s", 12), ("gradient", "x", 7))
    for ax, name in zip(axes, names, strict=True):
        far = 1.2 * max(0.1, *(float(np.abs(v).max()) for pairs in results.values() for v in pairs[name]))
        ax.plot([-far, far], [-far, far], color=style.MUTED, linewidth=1)
        for (title, pairs), (role, marker, size) in zip(results.items(), looks, strict=False):  # squares around crosses
            measured, computed = pairs[name]
            ax.plot(
                np.ravel(measured),
                np.ravel(computed),
                linestyle="none",
                marker=marker,
                markersize=size,
                markerfacecolor="none",
                markeredgecolor=style.colour(role),
                markeredgewidth=1.8,
                label=title,
            )
            if marker == "x":  # the error: a mark near the diagonal is told from one on it
                ax.vlines(measured, measured, computed, color=style.colour(role), linewidth=1)
        ax.set(title=name, xlabel="measured", xlim=(-far, far), ylim=(-far, far), aspect="equal")
        ax.locator_params(nbins=4)
    for ax in axes[::2]:
        ax.set_ylabel("computed")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(results))
    return fig


@style.styled
def learned_plane(x, labels, predict, lines=()):
    """Return `plots.decision_plane` in a shape that a phone shows at a readable size: its key stands below.

    Parameters
    ----------
    x, labels, predict
        As `plots.decision_plane`.
    lines : sequence of (name, w, b)
        Hidden neurons, each with its weights (2,) and its bias: the line where its sum is 0 is drawn too.
    """
    fig, ax = style.new_figure(4.0, 4.8 + 0.25 * len(lines))
    decision_plane(x, labels, predict, ax=ax)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    for (name, w, b), role in zip(lines, ("gradient", "output"), strict=False):
        c = style.cue(role)
        if abs(w[1]) >= abs(w[0]):
            across = np.array([x0, x1])
            ends = across, -(w[0] * across + b) / w[1]
        else:
            up = np.array([y0, y1])
            ends = -(w[1] * up + b) / w[0], up
        ax.plot(*ends, color=c.colour, linestyle="--", linewidth=1.8, label=f"{name}: its sum is 0")
    ax.set(xlim=(x0, x1), ylim=(y0, y1))
    ax.get_legend().remove()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig


def _shorten(start, end, gap=RADIUS + 2):
    """The part (x1, y1, x2, y2) of a line between the rims of two circles."""
    (x1, y1), (x2, y2) = start, end
    length = np.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    return x1 + gap * ux, y1 + gap * uy, x2 - gap * ux, y2 - gap * uy
