"""Usual mistakes in the exercises of lesson 09 that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson09_values import (
    ablated,
    cost,
    count_missed,
    dealt,
    distances,
    feature_maps,
    in_rows,
    multiply_adds,
    plan,
    read,
    subsampled,
)

COST = (
    Cause("Every pair of maps was counted; only the pairs that the table connects have a mask.",
          lambda t, K, H, W: cost(np.ones_like(t), K, H, W)),
    Cause("The biases are missing among the parameters.", lambda t, K, H, W: cost(t, K, H, W, 0)),
    Cause("A bias was counted for each connection; how many does an output map have?",
          lambda t, K, H, W: cost(t, K, H, W, int(t.sum()))),
    Cause("A mask was used at every pixel of the input; count the places where all of it lies on the image.",
          lambda t, K, H, W: (cost(t, K, H, W)[0], multiply_adds(t, K, H + K - 1, W + K - 1))),
    Cause("The output was taken as a square; its rows and its columns are counted separately.",
          lambda t, K, H, W: cost(t, K, H, H)),
    Cause("The biases were multiplied by the places too; a multiply-add is a product with a weight.",
          lambda t, K, H, W: (cost(t, K, H, W)[0], multiply_adds(t, K, H, W) + len(t) * (H - K + 1) * (W - K + 1))),
    Cause("A bias was counted for each input map; a bias belongs to an output map, one to each.",
          lambda t, K, H, W: cost(t, K, H, W, t.shape[1])),
    Cause("A mask was counted with K weights; it has K rows of K.",
          lambda t, K, H, W: (cost(t, K, H, W)[0] - int(t.sum()) * (K * K - K), multiply_adds(t, K, H, W) // K)),
    Cause("A place is missing in each direction: a mask of K rows fits H - K + 1 times.",
          lambda t, K, H, W: (cost(t, K, H, W)[0], multiply_adds(t, K, H - 1, W - 1))),
    Cause("Each weight was counted once; it is used at every place where the mask fits.",
          lambda t, K, H, W: (cost(t, K, H, W)[0], multiply_adds(t, K, K, K))),
)  # fmt: skip


def _last_of_each(table):
    """The table with the last True of each row only."""
    last = np.zeros_like(table)
    for row, kept in zip(table, last, strict=True):
        kept[np.flatnonzero(row)[-1:]] = True
    return last


PARTIAL = (
    Cause("The masks were dealt out column by column; their order is the table's, row by row.",
          lambda x, k, t, b: dealt(x, k, t, b, in_rows(t.T).T)),
    Cause("Each output map began again at the first mask; the numbering goes on from map to map.",
          lambda x, k, t, b: dealt(x, k, t, b, np.cumsum(t, axis=1) - 1)),
    Cause("The bias was added once for each connection; an output map has it once.",
          lambda x, k, t, b: dealt(x, k, t, b * t.sum(axis=1), in_rows(t))),
    Cause("The bias is missing.", lambda x, k, t, b: dealt(x, k, t, 0 * b, in_rows(t))),
    Cause("The masks were turned around; the course's convolution lays them on the image as they are.",
          lambda x, k, t, b: dealt(x, k, t, b, in_rows(t), flip=True)),
    Cause("Rows and columns of the masks were exchanged: mask[p, q] meets x[c, h + p, v + q].",
          lambda x, k, t, b: dealt(x, k.swapaxes(1, 2), t, b, in_rows(t))),
    Cause("Only the last connection of an output map is left; what its connections give is added up.",
          lambda x, k, t, b: dealt(x, k, _last_of_each(t), b, in_rows(t))),
)  # fmt: skip


def _corners(x):
    """1 at the upper left pixel of each window, 0 elsewhere."""
    corner = np.zeros(x.shape)
    corner[:, :, ::2, ::2] = 1
    return corner


def _tiled(dy, x, w):
    return np.tile(dy * w[:, None, None], (2, 2)), *subsampled(dy, x, w)[1:]


SUBSAMPLE = (
    Cause("dx is a quarter of what it must be: this layer takes the sum of a window, not its mean.",
          lambda dy, x, w: (subsampled(dy, x, w)[0] / 4, *subsampled(dy, x, w)[1:])),
    Cause("dw was made with the mean of each window; w multiplies the sum.",
          lambda dy, x, w: (subsampled(dy, x, w)[0], subsampled(dy, x, w)[1] / 4, dy.sum(axis=(0, 2, 3)))),
    Cause("dx does not contain w: by how much does y change when one pixel grows by 1?",
          lambda dy, x, w: (subsampled(dy, x, 0 * w + 1)[0], *subsampled(dy, x, w)[1:])),
    Cause("dw and db were averaged over the images; a gradient of a number that all images use is a sum.",
          lambda dy, x, w: (subsampled(dy, x, w)[0], *(g / len(x) for g in subsampled(dy, x, w)[1:]))),
    Cause("Only one pixel of each window got its gradient; all four are added up, so all four have one.",
          lambda dy, x, w: (subsampled(dy, x, w)[0] * _corners(x), *subsampled(dy, x, w)[1:])),
    Cause("dw does not contain dy: each window's sum counts as much as the loss feels its output.",
          lambda dy, x, w: (subsampled(dy, x, w)[0], subsampled(dy**0, x, w)[1], dy.sum(axis=(0, 2, 3)))),
    Cause("db was counted once for each pixel; the bias is added once to each output.",
          lambda dy, x, w: (*subsampled(dy, x, w)[:2], 4 * dy.sum(axis=(0, 2, 3)))),
    Cause("The gradients lie at the wrong pixels: dy was laid beside itself; each one belongs to its window.",
          _tiled),
    Cause("x held whole numbers and dx was made like it, so that the digits behind the point were cut off.",
          lambda dy, x, w: (subsampled(dy, x, w)[0].astype(x.dtype), *subsampled(dy, x, w)[1:])),
)  # fmt: skip

READ = (
    Cause("Differences were added without squaring them.",
          lambda f, p, limit: read(np.abs(f[:, None] - p).sum(axis=2), limit)),
    Cause("The farthest prototype was taken, for the answer or for the limit; the smallest distance decides.",
          lambda f, p, limit: read(-distances(f, p), -limit, np.less)),
    Cause("The farthest prototype was taken; the smallest distance wins.",
          lambda f, p, limit: np.where(distances(f, p).min(axis=1) > limit, -1, distances(f, p).argmax(axis=1))),
    Cause("The squares were averaged; the distance is their sum.",
          lambda f, p, limit: read(distances(f, p) / f.shape[1], limit)),
    Cause("Of equally near prototypes the last was taken; take the first.",
          lambda f, p, limit: np.where(distances(f, p).min(axis=1) > limit, -1,
                                       len(p) - 1 - distances(f, p)[:, ::-1].argmin(axis=1))),
    Cause("The limit was forgotten: a picture that is far from all prototypes is -1.",
          lambda f, p, limit: read(distances(f, p), np.inf)),
    Cause("The root of the distance was compared with the limit; the output is the square.",
          lambda f, p, limit: read(np.sqrt(distances(f, p)), limit)),
    Cause("A distance of exactly the limit was turned away; only beyond it the answer is -1.",
          lambda f, p, limit: read(distances(f, p), limit, np.greater_equal)),
    Cause("The largest product was taken; it is the smallest distance for prototypes of equal length only.",
          lambda f, p, limit: np.where(distances(f, p).min(axis=1) > limit, -1, (f @ p.T).argmax(axis=1))),
)  # fmt: skip


def _changed(layers, shape, change):
    """The right plan, changed row by row: change(layer, shape before, (shape after, parameters, multiply-adds))."""
    rows = plan(layers, shape)
    befores = [shape, *(row[0] for row in rows)]
    return [change(layer, before, row) for layer, before, row in zip(layers, befores, rows, strict=False)]


def _single_map(layer, before, row):
    if layer[0] != "conv":
        return row
    after, parameters, work = row
    return after, (parameters - after[0]) // before[0] + after[0], work // before[0]


def _narrow_dense(layer, before, row):
    return row if layer[0] != "dense" else (row[0], before[0] * layer[1] + layer[1], before[0] * layer[1])


def _everywhere(layer, before, row):
    if layer[0] != "conv":
        return row
    after, parameters, _ = row
    return after, parameters, (parameters - after[0]) * before[1] * before[2]


def _other_sizes(layers, shape, fits):
    """The plan of convolutions with fits(H, K) rows."""
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        counted = (0, 0)
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, fits(H, K[0]), fits(W, K[0])) if kind == "conv" else (n, 1, 1)
            counted = (weights + n, weights * H * W)
        rows.append(((C, H, W), *counted))
    return rows


def _stale(layers, shape):
    rows, seen = plan(layers, shape), shape
    for i, (layer, row) in enumerate(zip(layers, rows, strict=True)):
        if layer[0] == "dense":
            weights = layer[1] * int(np.prod(seen))
            rows[i] = (row[0], weights + layer[1], weights)
        else:
            seen = row[0]
    return rows


def _no_biases(layer, before, row):
    return row if layer[0] == "pool" else (row[0], row[1] - row[0][0], row[2])


def _busy_biases(layer, before, row):
    return row if layer[0] == "pool" else (*row[:2], row[2] + int(np.prod(row[0])))


PLAN = (
    Cause("The biases are missing among the parameters.",
          lambda layers, shape: _changed(layers, shape, _no_biases)),
    Cause("A convolution was counted as if it had one input map; each output map has a mask for every one.",
          lambda layers, shape: _changed(layers, shape, _single_map)),
    Cause("A dense layer was counted with one number for each map; it sees all pixels of all maps.",
          lambda layers, shape: _changed(layers, shape, _narrow_dense)),
    Cause("Pooling rounded up; a rest of the rows or columns is never seen.",
          lambda layers, shape: plan(layers, shape, round_up=True)),
    Cause("The biases were multiplied by the places too; a multiply-add is a product with a weight.",
          lambda layers, shape: _changed(layers, shape, _busy_biases)),
    Cause("The shape before each layer was returned; the shape after it is asked for.",
          lambda layers, shape: _changed(layers, shape, lambda layer, before, row: (before, *row[1:]))),
    Cause("A mask was used at every pixel that arrives; count the places where all of it lies on the maps.",
          lambda layers, shape: _changed(layers, shape, _everywhere)),
    Cause("A convolution returned as many rows as it got; without padding a mask of K fits H - K + 1 times.",
          lambda layers, shape: _other_sizes(layers, shape, lambda n, K: n)),
    Cause("A place is missing in each direction: a mask of K rows fits H - K + 1 times.",
          lambda layers, shape: _other_sizes(layers, shape, lambda n, K: n - K)),
    Cause("What arrives at a second dense layer is what the first one gives: N numbers.", _stale),
)  # fmt: skip


def _at_every_position(images, w1, b1, w3, b3):
    return feature_maps(images, w1, b1 * w1[0, 0].size, w3, b3 * w3[0, 0].size)


def _window_sum(x):
    y, cache = ops.average_pool_forward(x)
    return 4 * y, cache


MAPS = (
    Cause("The second ReLU is missing: S4 has no negative numbers.",
          lambda *a: feature_maps(*a, act=(ops.relu, ops.identity))),
    Cause("The first ReLU is missing; each of the two convolutions is followed by one.",
          lambda *a: feature_maps(*a, act=(ops.identity, ops.relu))),
    Cause("A window was averaged; S2 and S4 of this network keep its largest number.",
          lambda *a: feature_maps(*a, pool=ops.average_pool_forward)),
    Cause("A window was added up; S2 and S4 of this network keep its largest number.",
          lambda *a: feature_maps(*a, pool=_window_sum)),
    Cause("A bias was added at every position of the mask; an output has it once.", _at_every_position),
    Cause("The bias was added after the ReLU; it belongs to the sum that ReLU looks at.",
          lambda *a: feature_maps(*a, late=True)),
    Cause("Rows and columns of the masks were exchanged: w[m, c, p, q] meets row h + p and column v + q.",
          lambda x, w1, b1, w3, b3: feature_maps(x, w1.swapaxes(2, 3), b1, w3.swapaxes(2, 3), b3)),
    Cause("The biases are missing.", lambda x, w1, b1, w3, b3: feature_maps(x, w1, 0 * b1, w3, 0 * b3)),
    Cause("The masks were turned around; the course's convolution lays them on the image as they are.",
          lambda *a: feature_maps(*a, flip=-1)),
)  # fmt: skip


def _image_off(maps, w5, b5, labels):
    B, C = maps.shape[:2]
    kept = [np.where(np.arange(B)[:, None, None, None] == c, 0, maps) for c in range(C)]
    return count_missed(maps, w5, b5, labels), np.array([count_missed(m, w5, b5, labels) for m in kept])


def _interleaved(maps, w5, b5, labels):
    B, C = maps.shape[:2]
    counts = []
    for c in range(C):
        flat = maps.reshape(B, -1).copy()
        flat[:, c::C] = 0
        counts.append(count_missed(flat, w5, b5, labels))
    return count_missed(maps, w5, b5, labels), np.array(counts)


def _additional(maps, w5, b5, labels):
    whole, without = ablated(maps, w5, b5, labels)
    return whole, without - whole


def _right_ones(maps, w5, b5, labels):
    return ablated(maps, w5, b5, labels, missed=lambda *a: len(labels) - count_missed(*a))


ABLATION = (
    Cause("Right answers were counted; the mistakes are the others.", _right_ones),
    Cause("The maps before it were still off; switch each map on again before the next one.",
          lambda *a: ablated(*a, off=np.greater_equal.outer)),
    Cause("All other maps were switched off, and not the one.",
          lambda *a: ablated(*a, off=np.not_equal.outer)),
    Cause("An image was switched off instead of a map: maps[:, c] is map c of all images, maps[c] is image c.",
          _image_off),
    Cause("The biases b5 are missing.", lambda maps, w5, b5, labels: ablated(maps, w5, 0 * b5, labels)),
    Cause("Additional mistakes were returned; all mistakes are asked for.", _additional),
    Cause("The wrong numbers were switched off: in a flattened row, a map's pixels lie side by side.",
          _interleaved),
)  # fmt: skip
