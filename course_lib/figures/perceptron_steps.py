"""Frames of a perceptron at work: the line, the sample shown, and the arithmetic of one update beside it."""

import numpy as np

from course_lib.reference import add_bias_input

from . import style
from .half_plane import boundary, half_plane
from .perceptron import HIGH, LOW, vector
from .picture import picture
from .svg import Svg

WIDTH, HEIGHT = 400, 398  # as narrow as a phone, with the arithmetic below the plot
LEFT, TOP, SIDE = 30, 34, 200  # the square plot


def training_frames(fit, x, y, *, lr=1.0):
    """Return one picture for every sample that was shown during training.

    Parameters
    ----------
    fit : PerceptronFit
        From `perceptron_fit` on two inputs.
    x : (n, 2) array
    y : (n,) array of 0 and 1
    lr : float
        The learning rate of the fit, for the arithmetic.
    """
    return [_frame(step, np.asarray(x, float), np.asarray(y), lr) for step in fit.steps]


def _frame(step, x, y, lr):
    sample, label = x[step.index], int(y[step.index])
    right = step.y_hat == label
    svg = Svg(WIDTH, HEIGHT)
    _plot(svg, step, x, y, right)
    _arithmetic(svg, step, add_bias_input(x)[step.index], label, lr, right)
    verdict = "right, nothing changes" if right else f"wrong, the weights become {vector(step.w_after)}"
    shown = f"sample {vector(sample)}"
    caption = f"Epoch {step.epoch + 1}, {shown}: the answer is {step.y_hat}, the label {label}: {verdict}."
    alt = f"Weights {vector(step.w_before)} answer {step.y_hat} to {shown} with label {label}: {verdict}"
    return picture(svg, alt=alt, caption=caption)


def _plot(svg, step, x, y, right):
    low, high = (LOW, LOW), (HIGH, HIGH)

    def place(point):
        u = (np.asarray(point, float) - LOW) / (HIGH - LOW)
        return LEFT + SIDE * u[0], TOP + SIDE * (1 - u[1])

    region = [place(p) for p in half_plane(step.w_before, low, high)]
    if region:
        svg.polyline(region, stroke="none", fill=style.tint("output", 0.25))
    svg.rect(LEFT, TOP, SIDE, SIDE, stroke=style.MUTED)
    for w, dashed in ((step.w_before, False), (step.w_after, True)):
        ends = boundary(w, low, high)
        if ends is not None and not (dashed and right):
            svg.line(*place(ends[0]), *place(ends[1]), stroke="weight", line=3, dashed=dashed)
    for point, label in zip(x, y, strict=True):
        svg.circle(*place(point), 8, fill="data" if label else style.PAPER, stroke="data", line=2.5)
    cx, cy = place(x[step.index])
    svg.circle(cx, cy, 15, stroke=style.INK, line=2)
    if not right:
        for s in (-1, 1):  # a cross beside the sample, so that its label stays visible
            svg.line(cx + 18, cy - 22 - 7 * s, cx + 32, cy - 22 + 7 * s, stroke="hazard", line=4)
    for v in (0, 1):
        px, py = place((v, v))
        svg.text(px, TOP + SIDE + 15, v, anchor="middle")
        svg.text(LEFT - 8, py + 4, v, anchor="end")
    svg.text(LEFT + SIDE, TOP + SIDE + 15, "x\u2081", anchor="end")
    svg.text(LEFT - 8, TOP + 12, "x\u2082", anchor="end")
    svg.text(LEFT - 22, TOP + SIDE + 34, "filled: label 1, hollow: 0; green: answer 1")


def _arithmetic(svg, step, x, label, lr, right):
    at, cell, below = LEFT + SIDE + 20, (46, 24), TOP + SIDE + 58
    number = "{:g}"
    svg.text(LEFT - 22, 18, f"Epoch {step.epoch + 1}, sample {vector(x[:2])}", bold=True, size=14)
    svg.matrix(step.w_before, at, TOP - 6, name="w", role="weight", fmt=number, cell=cell)
    svg.matrix(x, at, TOP + 54, name="x", role="data", fmt=number, cell=cell)
    changed = [(0, j) for j in np.flatnonzero(step.w_after != step.w_before)]
    svg.matrix(step.w_after, at, TOP + 114, name="w after", role="weight", fmt=number, cell=cell, highlight=changed)
    products = " + ".join(f"{_n(a)}\u00b7{_n(b)}" for a, b in zip(step.w_before, x, strict=True))
    z = float(step.w_before @ x)
    sign = "\u2265" if z >= 0 else "<"
    change = vector((label - step.y_hat) * lr * x)
    note = "solid: the line before this sample" if right else "solid: the line before, dashed: after"
    if boundary(step.w_before, (LOW, LOW), (HIGH, HIGH)) is None:
        note = "no line yet: every point is answered alike" if right else "no line before, dashed: the line after"
    svg.text(LEFT - 22, below - 6, note)
    for k, text in enumerate((
        f"z = w \u00b7 x = {products} = {_n(z)}",
        f"z {sign} 0, so the answer is \u0177 = {step.y_hat}",
        f"the label is y = {label}: {'right' if right else 'wrong'}",
        "w \u2190 w + (y \u2212 \u0177) \u00b7 lr \u00b7 x",
        f"change: ({label} \u2212 {step.y_hat}) \u00b7 {_n(lr)} \u00b7 {vector(x)} = {change}",
    )):  # fmt: skip
        svg.text(LEFT - 22, below + 18 + 20 * k, text, bold=k == 2)


def _n(value):
    text = f"{value + 0.0:g}".replace("-", "\u2212")
    return f"({text})" if value < 0 else text
