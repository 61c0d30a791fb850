"""Usual mistakes in the exercises of lesson 07 that leave a recognisable value, and what is said of each."""

import math

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson07_values import chain, conv1d, matrix, never_seen, panorama, slide, weights

SIZES = (
    Cause(
        "You round to the nearest whole number; whatever is left over, the window that does not fit is not there.",
        chain(lambda n, k, s, p: 1 + round((n - k + 2 * p) / s)),
    ),
    Cause(
        "You round up where pixels are left over; a window that hangs over the edge does not count.",
        chain(lambda n, k, s, p: 1 - (k - n - 2 * p) // s),
    ),
    Cause("The padding stands on both sides, so it counts twice.", chain(lambda n, k, s, p: 1 + (n - k + p) // s)),
    Cause(
        "You count the steps; there is one place more than there are steps between places.",
        chain(lambda n, k, s, p: (n - k + 2 * p) // s),
    ),
    Cause(
        "Each layer is given the size of the first image; it must get what the layer before it put out.",
        lambda size, layers: [ops.output_size(size, *layer) for layer in layers],
    ),
    Cause("The list begins with the first layer's output, not with the input.",
          lambda size, layers: [size, *chain(ops.output_size)(size, layers)]),
    Cause("The padding is left out: it makes the image larger, on both sides.",
          chain(lambda n, k, s, p: 1 + (n - k) // s)),
    Cause("A layer is (mask, stride, pad), in this order; you take the stride for the mask.",
          chain(lambda n, k, s, p: 1 + (n - s + 2 * p) // k)),
    Cause("The 1 is added after the division, it is not divided by the stride.",
          chain(lambda n, k, s, p: (1 + n - k + 2 * p) // s)),
    Cause("The sizes are right, but they are floats; // divides whole numbers and leaves a whole number.",
          lambda size, layers: [float(n) for n in chain(ops.output_size)(size, layers)]),
)  # fmt: skip

UNSEEN = (
    Cause(
        "The padded row has width + 2 * pad places: the padding stands on both sides.",
        lambda n, k, s, p: never_seen(n, k, s, p, -p),
    ),
    Cause(
        "These are places in the padded row; column 0 of the image is the one after the padding.",
        lambda n, k, s, p: [c + p for c in never_seen(n, k, s, p)],
    ),
    Cause(
        "Columns of padding are no columns of the image; count from 0 to width - 1 only.",
        lambda n, k, s, p: never_seen(n + 2 * p, k, s, 0),
    ),
    Cause(
        "The padding is left out: the first window begins before column 0.",
        lambda n, k, s, p: never_seen(n, k, s, 0),
    ),
    Cause(
        "Some of your windows hang over the edge; the last one must fit into the padded row.",
        lambda n, k, s, p: never_seen(n, k, s, p, k - 1),
    ),
    Cause(
        "Your last window is missing: one that ends exactly at the edge still fits.",
        lambda n, k, s, p: never_seen(n, k, s, p, -1),
    ),
    Cause(
        "You find what is left over at the end; with a stride larger than the mask there are gaps too.",
        lambda n, k, s, p: list(range(min(n, n + p - ops.unseen(n, k, s, p)), n)),
    ),
    Cause(
        "What is left over at the right end is padding first, and columns of the image only after that.",
        lambda n, k, s, p: list(range(n - ops.unseen(n, k, s, p), n)),
    ),
    Cause(
        "These are the right columns in decreasing order.",
        lambda n, k, s, p: never_seen(n, k, s, p)[::-1],
    ),
    Cause(
        "Columns are counted from 0; yours are counted from 1.",
        lambda n, k, s, p: [c + 1 for c in never_seen(n, k, s, p)],
    ),
    Cause(
        "These are the columns that a window does see; the others are wanted.",
        lambda n, k, s, p: sorted(set(range(n)) - set(never_seen(n, k, s, p))),
    ),
    Cause(
        "A window sees `mask` columns; yours see one less: range(a, b) ends before b.",
        lambda n, k, s, p: never_seen(n, k - 1, s, p, -1),
    ),
    Cause(
        "The columns are right, but they are floats; columns are whole numbers.",
        lambda n, k, s, p: [float(c) for c in never_seen(n, k, s, p)],
    ),
    Cause(
        "This says of each column whether it is unseen; the numbers of the unseen columns are wanted.",
        lambda n, k, s, p: [c in never_seen(n, k, s, p) for c in range(n)],
    ),
)

NOT_HERE = "this mistake shows on other arguments only"
"""What no answer returns."""


def _cut(x, w, s, p, happens):
    """The values if every sum is kept in an array of whole numbers."""
    y = 0
    for one in np.eye(w[0].size).reshape(-1, *w[0].shape):
        y = np.trunc(y + conv1d(x, w * one, s, p))
    return y if happens else NOT_HERE


SKELETON = (
    Cause(
        "The mask is turned round; weight p meets the number p places after the window's first.",
        lambda x, w, s, p: conv1d(x, w[:, :, ::-1], s, p),
    ),
    Cause(
        "Only the last input map is in it: the products are added over all of them.",
        lambda x, w, s, p: conv1d(x[-1:], w[:, -1:], s, p),
    ),
    Cause(
        "Only the first input map is in it: the products are added over all of them.",
        lambda x, w, s, p: conv1d(x[:1], w[:, :1], s, p),
    ),
    Cause(
        "Your windows begin at 0, 1, 2, ...; output v begins v strides from the left.",
        lambda x, w, s, p: conv1d(x, w, 1, p)[:, : ops.output_size(x.shape[1], w.shape[2], s, p)],
    ),
    Cause(
        "All the padding stands on the right; half of it belongs to the left.",
        lambda x, w, s, p: conv1d(np.pad(x, ((0, 0), (0, 2 * p))), w, s, 0),
    ),
    Cause(
        "The padding has shifted the maps: pad along time only, there are no zeros around the angles.",
        lambda x, w, s, p: conv1d(np.pad(x, p)[: x.shape[0]], w, s, 0),
    ),
    Cause(
        "The results are cut to whole numbers: what you fill has taken over the type of x.",
        lambda x, w, s, p: _cut(x, w, s, p, x.dtype.kind == "i"),
    ),
    Cause("The padding is left out.", lambda x, w, s, p: conv1d(x, w, s, 0)),
    Cause(
        "The padding must be zeros; yours repeats the first and the last moment.",
        lambda x, w, s, p: conv1d(np.pad(x, ((0, 0), (p, p)), mode="edge"), w, s, 0),
    ),
    Cause(
        "Only the last product is left of each sum: add with +=, = forgets what was there.",
        lambda x, w, s, p: conv1d(x[-1:], w[:, -1:] * (np.arange(w.shape[2]) == w.shape[2] - 1), s, p),
    ),
    Cause(
        "You add up the maps before the mask is laid on; each map has a mask of its own.",
        lambda x, w, s, p: conv1d(np.repeat(x.sum(axis=0, keepdims=True), len(x), axis=0), w, s, p),
    ),
    Cause(
        "The last outputs are missing: the padding stands on both sides, so it counts twice in L_out.",
        lambda x, w, s, p: conv1d(x, w, s, p)[:, : 1 + (x.shape[1] - w.shape[2] + p) // s],
    ),
    Cause(
        "There is still an axis for the input maps; the products are added over them.",
        lambda x, w, s, p: np.stack([conv1d(x[c : c + 1], w[:, c : c + 1], s, p) for c in range(len(x))], axis=1),
    ),
)


def _rows_turn_too(x, w):
    whole = np.concatenate([x, x[:, : w.shape[1] - 1]], axis=1)
    return panorama(whole, w)


PANORAMA = (
    Cause(
        "Right of the last column you have zeros; there the picture goes on with column 0.",
        lambda x, w: slide(np.pad(x, ((0, 0), (0, 0), (0, w.shape[2] - 1))), w),
    ),
    Cause(
        "Your windows end at column v; output v is the window that begins there and goes on to the right.",
        lambda x, w: np.roll(panorama(x, w), w.shape[2] - 1, axis=1),
    ),
    Cause(
        "The mask is turned round; weight (p, q) meets the pixel p rows and q columns after the first.",
        lambda x, w: panorama(x, w[:, ::-1, ::-1]),
    ),
    Cause(
        "Only the last map is in it: the products are added over all maps.",
        lambda x, w: panorama(x[-1:], w[-1:]),
    ),
    Cause(
        "Below the last row you go on with row 0; only columns are joined, and a window must fit into the rows.",
        _rows_turn_too,
    ),
    Cause(
        "The windows that need the join are missing: there is an output for every column.",
        slide,
    ),
    Cause(
        "Columns come round after as many as there are rows; look at which size you take the remainder by.",
        lambda x, w: slide(x[:, :, np.arange(x.shape[2] + w.shape[2] - 1) % x.shape[1]], w),
    ),
    Cause(
        "Only the first map is in it: the products are added over all maps.",
        lambda x, w: panorama(x[:1], w[:1]),
    ),
    Cause(
        "Only the last product is left of each sum: add with +=, = forgets what was there.",
        lambda x, w: panorama(x[-1:], w[-1:] * (np.arange(w[0].size).reshape(w[:1].shape) == w[0].size - 1)),
    ),
    Cause(
        "Column v stands in the middle of your window; output v is the window that begins at column v.",
        lambda x, w: np.roll(panorama(x, w), w.shape[2] // 2, axis=1),
    ),
    Cause(
        "There is one output too many in each row: K_w - 1 columns are enough to continue the picture.",
        lambda x, w: slide(np.concatenate([x, x[:, :, : w.shape[2]]], axis=2), w),
    ),
)


def _crowded(w, H, W, stride):
    """The first rows and columns of places of the matrix with stride 1."""
    H_out, W_out = (ops.output_size(n, k, stride) for n, k in zip((H, W), w.shape, strict=True))
    each = matrix(w, H, W, 1).reshape(H - w.shape[0] + 1, W - w.shape[1] + 1, H * W)
    return each[:H_out, :W_out].reshape(H_out * W_out, H * W)


def _places(w, H, W, stride):
    return tuple(ops.output_size(n, k, stride) for n, k in zip((H, W), w.shape, strict=True))


def _short_rows(w, H, W, stride):
    """The right rows, filled in where they would stand if output rows were as long as there are rows."""
    right, (high, wide) = matrix(w, H, W, stride), _places(w, H, W, stride)
    output, pixel = np.nonzero(matrix(np.ones(w.shape), H, W, stride))
    wrong = np.zeros_like(right)
    wrong[output // wide * high + output % wide, pixel] = right[output, pixel]
    return wrong


def _side_by_side(w, H, W, stride):
    """The whole mask as one run that begins at the window's first pixel."""
    firsts = matrix(np.eye(w.size)[0].reshape(w.shape), H, W, stride).argmax(axis=1)
    wrong = np.zeros((len(firsts), H * W))
    wrong[np.arange(len(firsts))[:, None], firsts[:, None] + np.arange(w.size)] = w.ravel()
    return wrong


def _rows_only(w, H, W, stride):
    each = matrix(w, H, W, 1).reshape(H - w.shape[0] + 1, W - w.shape[1] + 1, H * W)
    return each[::stride, : _places(w, H, W, stride)[1]].reshape(-1, H * W)


def _narrow(w, H, W, stride):
    """The right cells, moved to where they would stand if image rows were as long as those of the output."""
    right, wide = matrix(w, H, W, stride), ops.output_size(W, w.shape[1], stride)
    output, pixel = np.nonzero(matrix(np.ones(w.shape), H, W, stride))
    wrong = np.zeros_like(right)
    wrong[output, pixel // W * wide + pixel % W] = right[output, pixel]
    return wrong


MATRIX = (
    Cause("It is the transpose: outputs are rows, pixels are columns.", lambda *a: matrix(*a).T),
    Cause("The mask is turned round in every row.", lambda w, *a: matrix(w[::-1, ::-1], *a)),
    Cause("The mask is transposed in every row.",
          lambda w, *a: matrix(w.T, *a) if w.shape[0] == w.shape[1] else NOT_HERE),
    Cause(
        "Your windows move by one pixel; from one output to the next it is a stride, in both directions.",
        _crowded,
    ),
    Cause(
        "A row of the image has W pixels: going down one row is W columns of the matrix, not W_out.",
        _narrow,
    ),
    Cause(
        "A row of the output has W_out numbers: going down one row is W_out rows of the matrix, not H_out.",
        _short_rows,
    ),
    Cause(
        "Outputs are numbered row after row, as `ravel` does; yours are numbered column after column.",
        lambda w, H, W, s: matrix(w, H, W, s).reshape(*_places(w, H, W, s), -1).swapaxes(0, 1).reshape(-1, H * W),
    ),
    Cause(
        "Pixels are numbered row after row, as `ravel` does; yours are numbered column after column.",
        lambda w, H, W, s: matrix(w, H, W, s).reshape(-1, H, W).swapaxes(1, 2).reshape(-1, H * W),
    ),
    Cause(
        "The rows of the mask stand side by side; the next one meets the next row of the image, W columns further.",
        _side_by_side,
    ),
    Cause("The stride works from row to row only; it is the same in both directions.", _rows_only),
    Cause("The cells are right, but they hold ones; they hold the weights of the mask.",
          lambda w, *a: matrix(np.ones(w.shape), *a)),
)  # fmt: skip

COUNTS = (
    Cause("The biases are missing.", lambda *a: weights(*a, bias=False)),
    Cause(
        "The convolution has one bias for each output map, shared by all its places.",
        lambda *a: weights(*a, shared_bias=False),
    ),
    Cause(
        "Where nothing is shared, each output number has a bias of its own; you have one for each output map.",
        lambda C, H, W, M, *k: tuple(n + M for n in weights(C, H, W, M, *k, bias=False)),
    ),
    Cause("Each output map has a mask for every input map, so C counts there too.", lambda *a: weights(*a, maps=1)),
    Cause("Without padding the output maps are smaller than the image.", lambda *a: weights(*a, same=True)),
    Cause(
        "The layer has M output maps, each with masks and a bias of its own.",
        lambda C, H, W, M, *k: weights(C, H, W, 1, *k),
    ),
    Cause(
        "The convolution has one bias for each output map; you have one for the whole layer.",
        lambda C, H, W, M, *k: (*weights(C, H, W, M, *k)[:2], M * C * math.prod(k) + 1),
    ),
    Cause(
        "In the local layer nothing is shared: each output number has a bias of its own.",
        lambda *a: (weights(*a)[0], weights(*a, bias=False)[1] + a[3], weights(*a)[2]),
    ),
    Cause(
        "In the dense layer the biases are missing: there is one for each output number.",
        lambda *a: (weights(*a, bias=False)[0], *weights(*a)[1:]),
    ),
    Cause(
        "The dense layer looks at the pixels of all C maps.",
        lambda C, H, W, M, *k: (weights(1, H, W, M, *k)[0], *weights(C, H, W, M, *k)[1:]),
    ),
    Cause(
        "The counts are right, but they are floats; numbers that are counted are whole.",
        lambda *a: tuple(float(n) for n in weights(*a)),
    ),
)

POLYNOMIALS = (
    Cause(
        "This is the networks' convolution, which does not turn the mask; here the second one must be turned.",
        lambda a, b: np.correlate(a.astype(float), b.astype(float), "full"),
    ),
    Cause(
        "The result is in reverse order: entry 0 belongs to the sum 0.",
        lambda a, b: np.convolve(a.astype(float), b.astype(float))[::-1],
    ),
    Cause(
        "Both are turned round, so neither is with regard to the other.",
        lambda a, b: np.correlate(b.astype(float), a.astype(float), "full"),
    ),
    Cause(
        "Without padding the ends are missing: the mask must begin where it touches a with one number only.",
        lambda a, b: np.convolve(a.astype(float), b.astype(float), "valid") if a.size >= b.size else NOT_HERE,
    ),
    Cause(
        "Your padding follows the length of a; it depends on the length of the mask.",
        lambda a, b: ops.conv1d_forward(a[None, None], b[None, None, ::-1], pad=len(a) - 1)[0][0, 0],
    ),
    Cause(
        "You pad once too often: at the first place the mask would meet nothing but zeros.",
        lambda a, b: np.pad(np.convolve(a.astype(float), b.astype(float)), 1),
    ),
    Cause(
        "The results are cut to whole numbers; probabilities need floats.",
        lambda a, b: np.trunc(np.convolve(a.astype(float), b.astype(float))),
    ),
    Cause(
        "Only one product is left of each sum: add with +=, = forgets what was there.",
        lambda a, b: np.concatenate([a[:-1] * b[0], a[-1] * b]).astype(float),
    ),
    Cause(
        "There is one entry too many: the largest sum is (len(a) - 1) + (len(b) - 1), and entries begin at 0.",
        lambda a, b: np.append(np.convolve(a.astype(float), b.astype(float)), 0.0),
    ),
    Cause(
        "These are all products in a table; those with the same i + j are still to be added.",
        lambda a, b: np.outer(a, b).astype(float),
    ),
)
