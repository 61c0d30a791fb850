"""Usual mistakes in the exercises of lesson 10 that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson10_values import (
    balanced,
    climbed,
    cover_square,
    field,
    nearest,
    occluded,
    shown,
    strengths,
)


def _each_alone(w):
    return np.stack([shown(mask) for mask in w])


DISPLAY = (
    Cause("The smallest weight became 0 and the largest 1; then a weight of 0 is no longer in the middle.",
          lambda w: shown(w, w.min(), w.max())),
    Cause("Each mask has a scale of its own; a weak mask then looks as strong as the others.", _each_alone),
    Cause("The scale is twice too steep: from 0.5 there is only half a unit to each side.",
          lambda w: 0.5 + w / np.abs(w).max()),
    Cause("The scale was made with the largest weight, and the strongest one is negative: it leaves 0 to 1.",
          lambda w: 0.5 + w / (2 * w.max())),
    Cause("Only the size was kept: negative and positive weights look alike.",
          lambda w: np.abs(w) / np.abs(w).max()),
    Cause("These go from -1 to 1: halve them, then move 0 to the middle.", lambda w: w / np.abs(w).max()),
    Cause("These go from -0.5 to 0.5; 0.5 is not yet added.", lambda w: w / (2 * np.abs(w).max())),
    Cause("The signs are turned: a positive weight must lie above 0.5.",
          lambda w: 0.5 - w / (2 * np.abs(w).max())),
    Cause("The largest value was taken over the masks, for each place alone; take it over all weights at once.",
          lambda w: 0.5 + w / (2 * np.abs(w).max(axis=0))),
)  # fmt: skip


def _last_without_stride(layers, h):
    return field(layers, h)[0], int(h + sum(K - 1 - P for K, _, P in layers))


FIELD = (
    Cause("The padding was forgotten: it moves row 0 of the layer to before the image.",
          lambda layers, h: field(layers, h, padded=False)),
    Cause("The masks were added up as if all strides below were 1; a step in a layer is several pixels below.",
          lambda layers, h: (field(layers, h)[0], field(layers, h)[0] + sum(K - 1 for K, _, _ in layers))),
    Cause("The last row is one too far: it is the last one that is seen, not the first that is not.",
          lambda layers, h: (field(layers, h)[0], field(layers, h)[1] + 1)),
    Cause("Every layer's mask was added whole; a mask of K rows reaches K - 1 rows beyond its first one.",
          lambda layers, h: field(layers, h, reach=0)),
    Cause("The layers were gone through from the image upwards; begin at the top, where the row h is.",
          lambda layers, h: field(layers[::-1], h)),
    Cause("`last` was computed from the new `first`, and knows the lowest mask only; each of the two goes "
          "down on its own.",
          lambda layers, h: (field(layers, h)[0], field(layers, h)[0] + layers[0][0] - 1)),
    Cause("The two are exchanged: the first row comes first.", lambda layers, h: field(layers, h)[::-1]),
    Cause("`last` was not multiplied by the stride before the mask was added.", _last_without_stride),
    Cause("Rows of the padding count with their negative numbers; the statement does not cut them off.",
          lambda layers, h: tuple(max(0, n) for n in field(layers, h))),
)  # fmt: skip

NOT_HERE = "this mistake shows on other arguments only"


def _never_restored(score, image, size, fills):
    places, gone, each = np.subtract(image.shape, size - 1), image, []
    for i, j in np.ndindex(*places):
        falls = []
        for fill in fills:
            gone = cover_square(gone, size, i, j, fill)
            falls.append(score(image) - score(gone))
        each.append(min(falls))
    return np.array(each, dtype=float).reshape(places)


def _cut_off(score, image, size, fills):
    if image.dtype.kind not in "iu":
        return NOT_HERE
    return occluded(score, image, size, [int(fill) for fill in fills])


def _turned(image, size, i, j, fill):
    """Row and column of the square exchanged; NumPy cuts off what hangs over the edge."""
    gone = image.astype(float)
    gone[j : j + size, i : i + size] = fill
    return gone


def _inclusive(image, size, i, j, fill):
    """A square that is one row and one column too large."""
    gone = image.astype(float)
    gone[i : i + size + 1, j : j + size + 1] = fill
    return gone


OCCLUSION = (
    Cause("This is the score of the covered images; the map is how much the score falls by covering.",
          lambda *a: occluded(*a, value=lambda whole, covered: covered)),
    Cause("The squares stay: each place, and each grey, must start from the image as it was.", _never_restored),
    Cause("The squares were filled with 0 and not with the greys in `fills`.",
          lambda score, image, size, fills: occluded(score, image, size, [0])),
    Cause("Only the first grey was tried.",
          lambda score, image, size, fills: occluded(score, image, size, fills[:1])),
    Cause("Only the last grey counts: each one has overwritten the one before.",
          lambda score, image, size, fills: occluded(score, image, size, fills[-1:])),
    Cause("The largest fall was kept; asked for is what remains with every grey, the smallest.",
          lambda *a: occluded(*a, keep=np.max)),
    Cause("The falls were averaged over the greys; asked for is the smallest.",
          lambda *a: occluded(*a, keep=np.mean)),
    Cause("The falls were added over the greys; asked for is the smallest.",
          lambda *a: occluded(*a, keep=np.sum)),
    Cause("The signs were dropped: covering can also raise the score.",
          lambda *a: occluded(*a, value=lambda whole, covered: abs(whole - covered))),
    Cause("The square is one row and one column too large: a slice does not contain its end.",
          lambda *a: occluded(*a, cover=_inclusive)),
    Cause("Rows and columns of the square are exchanged: i counts rows, and they come first.",
          lambda *a: occluded(*a, cover=_turned)),
    Cause("The last row and the last column of places are missing: there are H - size + 1 of the one.",
          lambda *a: occluded(*a)[:-1, :-1] if min(occluded(*a).shape) > 1 else NOT_HERE),
    Cause("The squares lie side by side; they move on by one pixel, and overlap.",
          lambda score, image, size, fills: occluded(score, image, size, fills)[::size, ::size]),
    Cause("The image holds whole numbers, and a grey was cut off to one when it was written in.", _cut_off),
)  # fmt: skip

CLIMB = (
    Cause("The pixels left the range from 0 to 1: the clip is missing.", lambda *a: climbed(*a, clip=None)),
    Cause("The clip came once, at the end; without it in each step the climb takes another way.",
          lambda *a: np.clip(climbed(*a, clip=None), 0, 1)),
    Cause("The steps have the length of the gradient; divide it by its own length first.",
          lambda *a: climbed(*a, length=lambda dx: 1.0)),
    Cause("It walks downhill: a step against dE/dx makes the probability larger.",
          lambda *a: climbed(*a, length=lambda dx: -np.linalg.norm(dx))),
    Cause("It climbs the score of class c, not its probability: the other classes count too.",
          lambda *a: climbed(*a, goal="score")),
    Cause("The decay was left out.", lambda x, w, c, steps, lr, decay: climbed(x, w, c, steps, lr, 0.0)),
    Cause("e_c was not subtracted from k: this lowers all scores, and class c is not asked for.",
          lambda *a: climbed(*a, goal="all scores")),
    Cause("The gradient was taken once, at the start; it is another one at every image.",
          lambda *a: climbed(*a, goal="asked once")),
    Cause("The gradient was divided by its largest entry; its length is the root of the summed squares.",
          lambda *a: climbed(*a, length=lambda dx: np.abs(dx).max())),
    Cause("The gradient was divided by the sum of its sizes; its length is the root of the summed squares.",
          lambda *a: climbed(*a, length=lambda dx: np.abs(dx).sum())),
    Cause("The gradient was divided by its squared length; the root is missing.",
          lambda *a: climbed(*a, length=lambda dx: dx @ dx)),
    Cause("The clip came before the decay; the decay follows the step, and the clip is last.",
          lambda *a: climbed(*a, order="decay last")),
    Cause("The decay multiplies by `decay` itself; what is left is 1 - decay of each pixel.",
          lambda x, w, c, steps, lr, decay: climbed(x, w, c, steps, lr, 1 - decay) if decay else NOT_HERE),
    Cause("The decay came before the step; it follows it, and shrinks what the step has made.",
          lambda *a: climbed(*a, order="decay first")),
)  # fmt: skip


def _cosine(a, b):
    return -(b @ a) / np.linalg.norm(a) / np.linalg.norm(b, axis=-1)


def _wrapped(features, bank, k):
    rows = [((f - bank) ** 2).sum(axis=-1) for f in features]
    return np.argsort(rows, axis=1, kind="stable")[:, :k]


def _unstable(features, bank, k):
    return np.argsort([((f - bank.astype(float)) ** 2).sum(axis=-1) for f in features.astype(float)], axis=1)[:, :k]


NEIGHBOURS = (
    Cause("The farthest ones were taken.",
          lambda f, b, k: nearest(f, b, k, far=lambda x, y: -((x - y) ** 2).sum(-1))),
    Cause("This is the order by angle (cosine); asked for is the distance.",
          lambda f, b, k: nearest(f, b, k, far=_cosine)),
    Cause("This is the order by product; a long row has large products, however far it is.",
          lambda f, b, k: nearest(f, b, k, far=lambda x, y: -(y @ x))),
    Cause("Differences were added without squaring them.",
          lambda f, b, k: nearest(f, b, k, far=lambda x, y: np.abs(x - y).sum(axis=-1))),
    Cause("The right ones, but not in the order of their distance.",
          lambda f, b, k: np.sort(nearest(f, b, k), axis=1)),
    Cause("Of rows that are equally far, the one with the smaller number comes first.",
          lambda f, b, k: nearest(f, b, k, ties=-1)),
    Cause("Of rows equally far, the one with the smaller number comes first; not every sort keeps them so.",
          _unstable),
    Cause("The columns were sorted, over the images; sort each row, over the bank.",
          lambda f, b, k: np.argsort([((x - b.astype(float)) ** 2).sum(-1) for x in f], axis=0)[:, :k]),
    Cause("The nearest one is missing: the rows of `bank` are other images, none is to be left out.",
          lambda f, b, k: nearest(f, b, k + 1)[:, 1:] if k < len(b) else NOT_HERE),
    Cause("These are the distances; asked for are the numbers of the rows.",
          lambda f, b, k: np.sort([np.sqrt(((x - b.astype(float)) ** 2).sum(-1)) for x in f], axis=1)[:, :k]),
    Cause("Only the first feature was compared.",
          lambda f, b, k: nearest(f[:, :1], b[:, :1], k)),
    Cause("The differences were added before they were squared: plus and minus cancel.",
          lambda f, b, k: nearest(f, b, k, far=lambda x, y: (x - y).sum(axis=-1) ** 2)),
    Cause("The result lies on its side: rows are the B images, columns their k neighbours.",
          lambda f, b, k: nearest(f, b, k).T),
    Cause("The numbers are uint8, and 3 - 5 is 254 there: convert them before you subtract.", _wrapped),
)  # fmt: skip


def _sizes(w1, total):
    sizes = total(np.abs(1.0 * w1), axis=(1, 2, 3), keepdims=True)
    return np.where(sizes > 0, sizes, 1.0)


STRENGTH = (
    Cause("The biases kept their size; behind the ReLU the map is then no longer the old one, only scaled.",
          lambda w1, b1, w3: balanced(w1, b1, w3, bias=0)),
    Cause("C3's masks did not change, so what they read is now weaker or stronger than before.",
          lambda w1, b1, w3: balanced(w1, b1, w3, back=0)),
    Cause("C3's masks were divided too; what became smaller before them must be multiplied by them.",
          lambda w1, b1, w3: balanced(w1, b1, w3, back=-1)),
    Cause("C3's output maps were scaled; map c of C1 is read by the masks w3[:, c].",
          lambda w1, b1, w3: (*balanced(w1, b1, w3)[:2], w3 * strengths(w1).reshape(-1, 1, 1, 1))),
    Cause("All masks were divided by one length; each has its own.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=strengths(w1, axes=(0, 1, 2, 3)))),
    Cause("The length was taken over one input map; a mask of C1 has C parts, and its length counts them all.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=strengths(w1[:, :1]))),
    Cause("The masks were divided by their squared length; the root is missing.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=strengths(w1) ** 2)),
    Cause("The masks were divided by the sum of their sizes; the length is the root of the summed squares.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=_sizes(w1, np.sum))),
    Cause("The root of the *mean* square was taken; the length has the sum.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=strengths(w1) / np.sqrt(w1[0].size))),
    Cause("The biases were multiplied; they belong to the map that is divided, so they are divided too.",
          lambda w1, b1, w3: balanced(w1, b1, w3, bias=-1)),
    Cause("C1's masks themselves are as before; divide them as well.",
          lambda w1, b1, w3: (1.0 * w1, *balanced(w1, b1, w3)[1:])),
    Cause("The length was taken over the masks, for each place alone; each mask has one length.",
          lambda w1, b1, w3: (w1 / strengths(w1, axes=0), b1, w3) if len(w1) > 1 else NOT_HERE),
    Cause("The masks were divided by their largest weight and not by their length.",
          lambda w1, b1, w3: balanced(w1, b1, w3, s=np.abs(w1).max(axis=(1, 2, 3), keepdims=True))),
)  # fmt: skip
