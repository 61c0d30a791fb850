"""Figures of lesson 04: one weight's paths, the matrices of a two-layer network step by step, costs and checks.

Every number drawn here is computed with `course_lib.reference`, the code that the lesson teaches.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .stepper import stepper
from .svg import Svg

ROW, TOP = 24, 66  # height of a matrix row; top of the labels of the forward band
RADIUS = 27  # of a neuron in the path diagram


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
    svg = Svg(760, 68 * most + 12)
    centres = [
        [(50 + 240 * k, 40 + 68 * (i + (most - len(v)) / 2)) for i in range(len(v))] for k, v in enumerate(layers)
    ]
    loss = (712, 40 + 68 * (most - 1) / 2)
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
    """Return every matrix of K's network and of its backward pass, by name, in the order they are computed.

    x (B, D), w (D, M), w2 (M, C), y (B, C). Names: X W W' Y (given), Z A G O J (forward),
    dO δ1 dW' dA δ2 dW (backward). Source: K, "Chain Rule".
    """
    f_forward, f_backward = getattr(ops, f"{activation}_forward"), getattr(ops, f"{activation}_backward")
    z, dense1 = ops.dense_forward(x, w)
    a, act1 = f_forward(z)
    g, dense2 = ops.dense_forward(a, w2)
    o, act2 = f_forward(g)
    loss, cache = ops.half_squared_sum_forward(o, y)
    d_o = ops.half_squared_sum_backward(cache)
    delta1 = f_backward(d_o, act2)
    d_a, d_w2, _ = ops.dense_backward(delta1, dense2)
    delta2 = f_backward(d_a, act1)
    _, d_w, _ = ops.dense_backward(delta2, dense1)
    given = {"X": x, "W": w, "W'": w2, "Y": y}
    forward = {"Z": z, "A": a, "G": g, "O": o, "J": np.array([[loss]])}
    return given | forward | {"dO": d_o, "δ1": delta1, "dW'": d_w2, "dA": d_a, "δ2": delta2, "dW": d_w}


# What is computed when, from what, and how it reads. The gradient of each matrix stands below it.
FORWARD = {
    "Z": ("X W", "X", "W"),
    "A": ("f(Z)", "Z"),
    "G": ("A W'", "A", "W'"),
    "O": ("f(G)", "G"),
    "J": ("½ Σ (Y − O)²", "O", "Y"),
}
BACKWARD = {
    "dO": ("O − Y", "O", "Y"),
    "δ1": ("dO * f'(G)", "dO", "G"),
    "dW'": ("Aᵀ δ1", "A", "δ1"),
    "dA": ("δ1 W'ᵀ", "δ1", "W'"),
    "δ2": ("dA * f'(Z)", "dA", "Z"),
    "dW": ("Xᵀ δ2", "X", "δ2"),
}
COLUMNS = (
    ("X", None, 80),
    ("W", "dW", 134),
    ("Z", "δ2", 134),
    ("A", "dA", 134),
    ("W'", "dW'", 90),
    ("G", "δ1", 84),
    ("O", "dO", 84),
    ("Y", "J", 90),
)
WORDS = {
    "Z": "the layer's weighted sums",
    "A": "the hidden activations",
    "G": "the output's weighted sums",
    "O": "the outputs",
    "J": "the loss, one number",
    "dO": "how J changes with each output",
    "δ1": "how J changes with each weighted sum G",
    "dW'": "the gradient of W', summed over the samples",
    "dA": "how J changes with each hidden activation",
    "δ2": "how J changes with each weighted sum Z",
    "dW": "the gradient of W, summed over the samples",
}


def backprop_frames(x, w, w2, y, activation="sigmoid"):
    """Return the twelve pictures of one forward and one backward pass; arguments as `matrices`."""
    values = matrices(x, w, w2, y, activation)
    steps = [None, *FORWARD, *BACKWARD]
    return [_frame(values, steps[: k + 1]) for k in range(len(steps))]


def backprop_stepper(x, w, w2, y, activation="sigmoid"):
    """Return the stepper of `backprop_frames`."""
    title = "Forward fills the upper row from left to right, backward the lower row from right to left"
    return stepper(backprop_frames(x, w, w2, y, activation), title=title)


def _frame(values, done):
    now = done[-1]
    formula, *sources = (FORWARD | BACKWARD).get(now, ("",))
    rows = max(np.shape(v)[0] for v in values.values())
    second = TOP + 20 + rows * ROW + 44
    svg = Svg(sum(c[2] for c in COLUMNS) + 8, second + 20 + rows * ROW + 28)
    svg.text(8, 20, _headline(values, now, formula, sources), size=14, bold=True)
    left = 8
    for upper, lower, width in COLUMNS:
        for name, top in ((upper, TOP), (lower, second)):
            if name is None:
                svg.text(left, top + 12, "dX: unused", fill=style.MUTED)
                continue
            known = name in done or name in ("X", "W", "W'", "Y")
            rule = (FORWARD | BACKWARD).get(name, ("given",))[0]
            box = _matrix(svg, values[name], left, top, name, known)
            svg.text(left, top - 6 if top == TOP else box.bottom + 16, rule, fill=style.MUTED)
            if name == now:
                svg.rect(box.x - 3, box.y - 3, box.width + 6, box.height + 6, line=3)
            elif name in sources:
                svg.rect(box.x - 3, box.y - 3, box.width + 6, box.height + 6, line=2, dashed=True)
        left += width
    return picture(svg, alt=_alt(values, now, formula, done), caption=_frame_caption(values, now, formula, sources))


def _matrix(svg, value, left, top, name, known):
    role = {"W": "weight", "W'": "weight", "O": "output", "Y": "output", "J": "output"}.get(name, "data")
    whole = np.all(value == np.round(value))
    role, fmt = ("gradient", "{:.2f}") if name in BACKWARD else (role, "{:.0f}" if whole else "{:.2f}")
    if name == "J":
        return svg.matrix(value, left, top, name="J", role=role, fmt="{:.3f}", empty=not known, cell=(50, ROW))
    wide = 30 if name == "X" and whole else 40  # one width for a matrix and its gradient; X has none
    return svg.matrix(value, left, top, name=name, role=role, fmt=fmt, empty=not known, cell=(wide, ROW))


def _headline(values, now, formula, sources):
    if now is None:
        return "Given: the samples X, the weights W and W', the right answers Y"
    arrow = "forward →" if now in FORWARD else "← backward"
    return f"{arrow} {now} = {formula}{_shapes(values, now, formula, sources)}"


def _shapes(values, now, formula, sources):
    """The shapes of a product, in the order in which the formula multiplies."""
    if now == "J" or len(sources) < 2:
        return f",  shape {values[now].shape}"
    shapes = [values[s].shape[::-1] if f"{s}ᵀ" in formula else values[s].shape for s in sources]
    sign = " * " if "*" in formula else " − " if "−" in formula else " @ "
    return f",  shapes {sign.join(map(str, shapes))} → {values[now].shape}"


def _frame_caption(values, now, formula, sources):
    if now is None:
        return "Nothing is computed yet: dashed cells wait. Every gradient will have the shape of the matrix above it."
    return f"{now} = {formula} is computed (solid frame) from {' and '.join(sources)} (dashed frames): {WORDS[now]}."


def _alt(values, now, formula, done):
    if now is None:
        return "Step 1: the matrices X, W, W' and Y are given; the places of all others and of the gradients are empty."
    numbers = "; ".join(", ".join(f"{v:.2f}" for v in row) for row in values[now])
    return f"Step {len(done)}: {now} = {formula}, shape {values[now].shape}, is now {numbers}."


@style.styled
def cost_bars(costs, *, unit):
    """Return a figure of bars on a logarithmic scale.

    Parameters
    ----------
    costs : dict
        What is computed -> number of multiplications.
    unit : float
        Multiplications of one forward pass; the numbers at the bars are multiples of it. Costs of a hundred passes
        and more are marked as a hazard.
    """
    fig, ax = style.new_figure(7.2, 0.5 * len(costs) + 1.0)
    for i, cost in enumerate(costs.values()):
        role = "data" if i == 0 else "gradient" if cost < 100 * unit else "hazard"
        c = style.cue(role)
        ax.barh(i, cost, color=style.tint(role, 0.6), edgecolor=c.colour, hatch=c.hatch, height=0.6)
        times = f"{cost / unit:,.2f}".removesuffix(".00")
        ax.text(cost * 1.25, i, f"{times} forward pass{'' if times == '1' else 'es'}", va="center")
    ax.set_yticks(range(len(costs)), list(costs))
    ax.set(
        xscale="log",
        xlabel="multiplications (each grid line: ten times more)",
        xlim=(unit / 5, 250 * max(costs.values())),
    )
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    return fig


@style.styled
def check_scatter(results):
    """Return a plot per backward pass: what it says against what was measured, for every element.

    Both axes of a panel have one scale, so the diagonal, where both agree, rises by 45 degrees.

    Parameters
    ----------
    results : dict
        Title -> {name of a backward pass: (measured, computed)}, arrays of one size; at most two titles, drawn as
        hollow squares and as crosses; every title with the same names.
    """
    names = list(next(iter(results.values())))
    fig, axes = style.new_figure(8.4, 2.9, 1, len(names))
    looks = (("data", "s", 12), ("gradient", "x", 7))
    for ax, name in zip(np.atleast_1d(axes), names, strict=True):
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
        ax.set(title=name, xlabel="measured", xlim=(-far, far), ylim=(-far, far), aspect="equal")
        ax.locator_params(nbins=4)
    np.atleast_1d(axes)[0].set_ylabel("computed")
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(results))
    return fig


def _shorten(start, end, gap=RADIUS + 2):
    """The part (x1, y1, x2, y2) of a line between the rims of two circles."""
    (x1, y1), (x2, y2) = start, end
    length = np.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    return x1 + gap * ux, y1 + gap * uy, x2 - gap * ux, y2 - gap * uy
