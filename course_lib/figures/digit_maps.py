"""A map of digits as a layer sees them, to click on: each digit with its saliency, its occlusion map and its reading.

Source: the course's own. Everything that it shows is computed by `nn.saliency`, `nn.occlusion` and the network itself,
and written into the page with 64 shades.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex

from course_lib import nn
from course_lib import reference as ops
from course_lib.validate import as_float, as_labels

from . import style
from .live import live
from .picture import picture
from .signed import signed

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""A character for each of 64 shades."""

MOST = 60
"""Digits with pictures that fit into 100 KB."""

INK = 0.1
"""From this value on a pixel counts as ink."""

SIZE, FILL, STRIDE = 5, 0.5, 2
"""The square of the occlusion maps: its side, its grey, and how far it moves."""


def first_of_each(labels, answers, confidence, *, each=5, mistakes=10):
    """Return the numbers of the digits to show: the first `each` of every label, then the surest mistakes.

    Parameters
    ----------
    labels, answers : (B,) int arrays
    confidence : (B,) array
        How sure the network was of each answer.
    each, mistakes : int >= 0

    Returns
    -------
    list of int
        In that order, none twice.

    No errors. Source: the course's own.
    """
    labels, answers = np.asarray(labels), np.asarray(answers)
    found = [int(i) for label in np.unique(labels) for i in np.flatnonzero(labels == label)[:each]]
    wrong = np.flatnonzero(labels != answers)
    surest = wrong[np.argsort(-np.asarray(confidence)[wrong], kind="stable")][:mistakes]
    return found + [int(i) for i in surest if int(i) not in found]


def digit_map(net, x, labels, points, *, chosen=None, first=None):
    """Return a figure: digits as points of a map; the chosen one with saliency, occlusion map and probabilities.

    Parameters
    ----------
    net : Sequential
        Reads images of 32 x 32, one map, into scores of ten classes.
    x : (B, 1, 32, 32) array
        Digits with ink 1 and a rim of two empty pixels.
    labels : (B,) int array
    points : (B, 2) array
        Where each digit lies on the map.
    chosen : list of int, optional
        Which digits have pictures, 60 at most; `first_of_each` unless given.
    first : int, optional
        Which of them is shown first; the last one unless given.

    Returns
    -------
    figures.Live

    Raises
    ------
    TypeError, ValueError
        Shapes that do not fit each other; too many digits, one twice, or one that is not there.

    Source: the course's own.
    """
    x, points = as_float("x", x, ndim=4, min_rows=1), as_float("points", points, ndim=2)
    labels = as_labels("labels", labels, rows=len(x), classes=10)
    if x.shape[1:] != (1, 32, 32) or points.shape != (len(x), 2):
        raise ValueError(f"x is {x.shape} and points is {points.shape}; they must be (B, 1, 32, 32) and (B, 2).")
    k = ops.softmax(net.ops.to_host(net.forward(net.ops.to_backend(x))).astype(np.float64))
    answers = k.argmax(axis=1)
    chosen = first_of_each(labels, answers, k.max(axis=1)) if chosen is None else [int(i) for i in chosen]
    if not 0 < len(chosen) <= MOST or len(set(chosen)) < len(chosen) or not all(0 <= i < len(x) for i in chosen):
        raise ValueError(
            f"chosen has {len(chosen)} numbers, {len(set(chosen))} of them different; there must be 1 to {MOST} "
            f"different ones, each below {len(x)}."
        )
    first = chosen[-1] if first is None else int(first)
    if first not in chosen:
        raise ValueError(f"first is {first}, which is none of the chosen digits; it must be one of them.")
    shown = [_asked(net, x[i : i + 1], int(answers[i])) for i in chosen]
    low, high = points.min(axis=0), points.max(axis=0)
    places = np.round((64**2 - 1) * (points - low) / np.where(high > low, high - low, 1)).astype(int)
    data = {
        "places": wide_numbers(places), "labels": "".join(map(str, labels)), "answers": "".join(map(str, answers)),
        "signs": [to_hex(colormaps[style.DIVERGING](end)) for end in (0.9, 0.1)],  # for the answer, against it
        "chosen": chosen, "first": chosen.index(first), "size": SIZE, "stride": STRIDE,
        "permille": [np.round(1000 * k[i]).astype(int).tolist() for i in chosen],
        "digits": [{name: one[name] for name in ("ink", "slopes", "falls", "share", "fall", "agree")} for one in shown],
    }  # fmt: skip
    title = "Ask any digit: what did the network read, and how does its score react?"
    static = _static(x, labels, answers, points, places, chosen, first, shown)
    return live("digit_map", data, title=title, static=static)


def shades(values, low, high):
    """Return a text with one of 64 characters for each value (any shape), from A at `low` to / at `high`. No errors."""
    steps = np.round(63 * (np.ravel(values).astype(float) - low) / (high - low)).clip(0, 63).astype(int)
    return "".join(ALPHABET[step] for step in steps)


def wide_numbers(values):
    """Return a text with two characters for each whole number from 0 to 4095. No errors."""
    return "".join(ALPHABET[v // 64] + ALPHABET[v % 64] for v in np.ravel(values).tolist())


def pairs(image):
    """Return a text with a character for every two pixels (even count), eight greys each from 0 to 1. No errors."""
    greys = np.round(7 * np.ravel(image).astype(float)).clip(0, 7).astype(int).reshape(-1, 2)
    return "".join(ALPHABET[8 * one + other] for one, other in greys)


def _asked(net, x, answer):
    slopes = nn.saliency(net, x, answer)
    falls = nn.occlusion(net, x, answer, size=SIZE, fill=FILL, stride=STRIDE)[0]
    promised = nn.promised_fall(x, slopes, size=SIZE, fill=FILL, stride=STRIDE)[0]
    slopes, inside = slopes[0, 0], x[0, 0, 2:-2, 2:-2]
    size = np.abs(slopes)
    most, deepest = float(size[2:-2, 2:-2].max()) or 1.0, float(np.abs(falls).max()) or 1.0
    varies = falls.std() > 0 and promised.std() > 0
    return {
        "ink": pairs(inside), "slopes": shades(slopes[2:-2, 2:-2], -most, most),
        "falls": shades(falls, -deepest, deepest), "fall": round(float(falls.max()), 1),
        "share": round(100 * float(size[x[0, 0] > INK].sum() / (size.sum() or 1))),
        "agree": round(float(np.corrcoef(falls.ravel(), promised.ravel())[0, 1]), 2) if varies else 0.0,
        "maps": (inside, slopes[2:-2, 2:-2] / most, falls / deepest),
    }  # fmt: skip


@style.styled
def _sheet(labels, answers, places, chosen, rows):
    fig = style.new_figure(4.1, 3.7 + 1.35 * len(rows))[0]
    fig.clear()
    top, below = fig.subfigures(2, 1, height_ratios=[3.7, 1.35 * len(rows)])
    ax = top.subplots()
    ax.plot(*places.T, linestyle="none", marker=".", markersize=2, color=style.COLOURS["idle"])
    for i in chosen:
        wrong = labels[i] != answers[i]
        frame = dict(
            boxstyle="square,pad=0.15", facecolor=style.PAPER, edgecolor=style.COLOURS["hazard"], linewidth=1.5
        )
        ax.text(*places[i], str(labels[i]), ha="center", va="center", fontsize=style.SIZE_SMALL,
                bbox=frame if wrong else None)  # fmt: skip
    ax.set(xticks=[], yticks=[], xlabel="first direction", ylabel="second direction")
    ax.grid(False)
    for line, (name, maps) in zip(below.subplots(len(rows), 3, squeeze=False), rows, strict=True):
        line[0].imshow(maps[0], cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        for ax, values in zip(line[1:], maps[1:], strict=True):
            signed(ax, values, 1, dash=0.4)
        for ax in line:
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set(visible=True, color=style.GRID)
        for ax, title in zip(line, (name, "saliency", "occlusion"), strict=True):
            ax.set_title(title, fontsize=style.SIZE_SMALL, fontweight="normal", loc="center", pad=3)
    return fig


def _static(x, labels, answers, points, places, chosen, first, shown):
    right = next((i for i in chosen if labels[i] == answers[i] and i != first), None)
    two = [i for i in (right, first) if i is not None]
    rows = [(f"{labels[i]}, read as {answers[i]}", shown[chosen.index(i)]["maps"]) for i in two]
    share = np.mean([one["share"] for one in shown])
    wrong = sum(int(labels[i] != answers[i]) for i in chosen)
    near = nn.neighbour_accuracy(points, labels) if len(points) > 1 else 1
    return picture(
        _sheet(labels, answers, places, chosen, rows),
        alt=f"A map of {len(x):,} digits, {len(chosen)} of them as numerals, {wrong} of these framed because they are "
        f"misread. The nearest neighbour on the map has the same label for {near:.0%} of the digits. Below it, digits "
        f"with two answers about the same score: the saliency is scattered over stroke and paper, {share:.0f} % of it "
        "on ink on average, and the occlusion map has a few soft spots.",
        caption="The map, and below it two digits, each with its saliency and its occlusion map. Orange: ink here "
        "(saliency) raises the score, grey here (occlusion) lowers it; purple with a dash: the other way round.",
    )
