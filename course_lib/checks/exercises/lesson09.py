"""The exercises of lesson 09: what a layer costs, C3's table, subsampling, distances; the project is a small LeNet.

Source: Hwu, "Convolution Layers in LeNet-5" and the slides after it.
"""

import numpy as np

from course_lib import data
from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise, TextQuestion
from course_lib.data.small_lenet import small_lenet

TABLE = np.array([[True, False, True], [True, True, False]])  # two output maps, each sees two of three


def _work(table, K, H, W):
    """Every connected mask of ones on an image of ones: an output's value is the number of its multiply-adds."""
    masks = table[:, :, None, None] * np.ones((K, K))
    return int(ops.conv2d_forward(np.ones((1, table.shape[1], H, W)), masks)[0].sum())


def _cost(table, K, H, W, biases=None):
    weights = _work(table, K, K, K)  # an image as small as the mask: one place
    return weights + (len(table) if biases is None else biases), _work(table, K, H, W)


def _dealt(x, masks, table, b, place, flip=False):
    """The layer where pair (m, c) has the mask of number place[m, c]; pairs without connection have the last, zeros."""
    stock = np.concatenate([masks, np.zeros((1, *masks.shape[1:]))])
    w = stock[np.where(table, place, len(masks))]
    return ops.conv2d_forward(x[None], w[..., ::-1, ::-1] if flip else w, b)[0][0]


def _in_rows(table):
    return (np.cumsum(table) - 1).reshape(table.shape)


def _last_of_each(table):
    """The table with the last True of each row only."""
    last = np.zeros_like(table)
    for row, kept in zip(table, last, strict=True):
        kept[np.flatnonzero(row)[-1:]] = True
    return last


def _subsampled(dy, x, w):
    return ops.subsample_backward(dy, ops.subsample_forward(x, w, 0 * w)[1])


def _corners(x):
    """1 at the upper left pixel of each window, 0 elsewhere."""
    corner = np.zeros(x.shape)
    corner[:, :, ::2, ::2] = 1
    return corner


def _tiled(dy, x, w):
    return np.tile(dy * w[:, None, None], (2, 2)), *_subsampled(dy, x, w)[1:]


def _read(far, limit, beyond=np.greater):
    best = far.argmin(axis=1)
    best[beyond(far.min(axis=1), limit)] = -1
    return best


def _far(f6, prototypes):
    return ops.rbf_forward(f6, prototypes)[0]


def _plan(layers, shape, round_up=False):
    """The sizes of a batch of ones on its way; sums of ones count the products."""
    x, rows = np.ones((1, *shape)), []
    for kind, *numbers in layers:
        counted = (0, 0)
        if kind == "pool":
            spare = [(0, -n % numbers[0] if round_up else 0) for n in x.shape[2:]]
            x = ops.max_pool_forward(np.pad(x, [(0, 0), (0, 0), *spare], constant_values=1), numbers[0])[0]
        else:
            mask = [numbers[1]] * 2 if kind == "conv" else x.shape[2:]
            w = np.ones((numbers[0], x.shape[1], *mask))
            y = ops.conv2d_forward(x, w)[0]
            x, counted = np.ones_like(y), (w.size + len(w), int(y.sum()))
        rows.append((x.shape[1:], *counted))
    return rows


def _changed(layers, shape, change):
    """The right plan, changed row by row: change(layer, shape before, (shape after, parameters, multiply-adds))."""
    rows = _plan(layers, shape)
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
    rows, seen = _plan(layers, shape), shape
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


def _maps(images, w1, b1, w3, b3, pool=ops.max_pool_forward, act=(ops.relu, ops.relu), flip=1, late=False):
    x = images[:, None].astype(float)
    for w, b, f in ((w1, b1, act[0]), (w3, b3, act[1])):
        early, after = (0 * b, b[:, None, None]) if late else (b, 0)
        x = pool(f(ops.conv2d_forward(x, w[..., ::flip, ::flip], early)[0]) + after)[0]
    return x


def _at_every_position(images, w1, b1, w3, b3):
    return _maps(images, w1, b1 * w1[0, 0].size, w3, b3 * w3[0, 0].size)


def _window_sum(x):
    y, cache = ops.average_pool_forward(x)
    return 4 * y, cache


def _missed(maps, w5, b5, labels):
    return int(np.count_nonzero((maps.reshape(len(maps), -1) @ w5 + b5).argmax(axis=1) != labels))


def _without(maps, w5, b5, labels, off=np.equal.outer, missed=_missed):
    """off[c, k] says whether map k is off in the c-th count."""
    C = maps.shape[1]
    switched = off(np.arange(C), np.arange(C))
    return missed(maps, w5, b5, labels), np.array(
        [missed(np.where(row[:, None, None], 0, maps), w5, b5, labels) for row in switched]
    )


def _image_off(maps, w5, b5, labels):
    B, C = maps.shape[:2]
    kept = [np.where(np.arange(B)[:, None, None, None] == c, 0, maps) for c in range(C)]
    return _missed(maps, w5, b5, labels), np.array([_missed(m, w5, b5, labels) for m in kept])


def _interleaved(maps, w5, b5, labels):
    B, C = maps.shape[:2]
    counts = []
    for c in range(C):
        flat = maps.reshape(B, -1).copy()
        flat[:, c::C] = 0
        counts.append(_missed(flat, w5, b5, labels))
    return _missed(maps, w5, b5, labels), np.array(counts)


def _additional(maps, w5, b5, labels):
    whole, without = _without(maps, w5, b5, labels)
    return whole, without - whole


def _right_ones(maps, w5, b5, labels):
    return _without(maps, w5, b5, labels, missed=lambda *a: len(labels) - _missed(*a))


DIGITS = data.load_digits(seed=0)
NET = small_lenet()
SOME = DIGITS.images("test")[[1, 2]].astype(float)
LAST = np.arange(900, 940)  # forty of the test digits
_random = np.random.default_rng(9)

EXERCISES = (
    Exercise(
        id="09.1", function="conv_cost", title="What a layer with a table costs", points=2, level="warm-up",
        concept="parameters and multiply-adds", source='Hwu, "Convolution Layers in LeNet-5"', lines=4,
        expect=_cost,
        cases=(
            Case((TABLE, 2, 3, 5), "4 connections, 2 x 2 masks, 3 x 5 pixels"),
            Case((np.ones((6, 1), dtype=bool), 5, 32, 32), "C1 of LeNet-5"),
        ),
        causes=(
            Cause("Every pair of maps was counted; only the pairs that the table connects have a mask.",
                  lambda t, K, H, W: _cost(np.ones_like(t), K, H, W)),
            Cause("The biases are missing among the parameters.", lambda t, K, H, W: _cost(t, K, H, W, 0)),
            Cause("A bias was counted for each connection; how many does an output map have?",
                  lambda t, K, H, W: _cost(t, K, H, W, int(t.sum()))),
            Cause("A mask was used at every pixel of the input; count the places where all of it lies on the image.",
                  lambda t, K, H, W: (_cost(t, K, H, W)[0], _work(t, K, H + K - 1, W + K - 1))),
            Cause("The output was taken as a square; its rows and its columns are counted separately.",
                  lambda t, K, H, W: _cost(t, K, H, H)),
            Cause("The biases were multiplied by the places too; a multiply-add is a product with a weight.",
                  lambda t, K, H, W: (_cost(t, K, H, W)[0], _work(t, K, H, W) + len(t) * (H - K + 1) * (W - K + 1))),
            Cause("A bias was counted for each input map; a bias belongs to an output map, one to each.",
                  lambda t, K, H, W: _cost(t, K, H, W, t.shape[1])),
            Cause("A mask was counted with K weights; it has K rows of K.",
                  lambda t, K, H, W: (_cost(t, K, H, W)[0] - int(t.sum()) * (K * K - K), _work(t, K, H, W) // K)),
            Cause("A place is missing in each direction: a mask of K rows fits H - K + 1 times.",
                  lambda t, K, H, W: (_cost(t, K, H, W)[0], _work(t, K, H - 1, W - 1))),
            Cause("Each weight was counted once; it is used at every place where the mask fits.",
                  lambda t, K, H, W: (_cost(t, K, H, W)[0], _work(t, K, K, K))),
        ),
    ),
    Exercise(
        id="09.2", function="partial_conv", title="C3 with its masks in a row", points=3, level="core",
        concept="a convolution with a connection table", source='Hwu, "Convolution Layers in LeNet-5"', lines=8,
        expect=lambda x, masks, table, b: _dealt(x, masks, table, b, _in_rows(table)),
        cases=(
            Case((np.array([[[1.0, 2]], [[3, 5]], [[7, 11]]]), np.array([[[2.0]], [[10]], [[100]], [[1000]]]), TABLE,
                  np.array([0.5, -0.5])), "masks of 1 x 1, by hand"),
            Case((_random.normal(size=(3, 4, 6)), _random.normal(size=(4, 3, 3)), TABLE, np.array([0.25, -2.0])),
                 "masks of 3 x 3"),
        ),
        causes=(
            Cause("The masks were dealt out column by column; their order is the table's, row by row.",
                  lambda x, k, t, b: _dealt(x, k, t, b, _in_rows(t.T).T)),
            Cause("Each output map began again at the first mask; the numbering goes on from map to map.",
                  lambda x, k, t, b: _dealt(x, k, t, b, np.cumsum(t, axis=1) - 1)),
            Cause("The bias was added once for each connection; an output map has it once.",
                  lambda x, k, t, b: _dealt(x, k, t, b * t.sum(axis=1), _in_rows(t))),
            Cause("The bias is missing.", lambda x, k, t, b: _dealt(x, k, t, 0 * b, _in_rows(t))),
            Cause("The masks were turned around; the course's convolution lays them on the image as they are.",
                  lambda x, k, t, b: _dealt(x, k, t, b, _in_rows(t), flip=True)),
            Cause("Rows and columns of the masks were exchanged: mask[p, q] meets x[c, h + p, v + q].",
                  lambda x, k, t, b: _dealt(x, k.swapaxes(1, 2), t, b, _in_rows(t))),
            Cause("Only the last connection of an output map is left; what its connections give is added up.",
                  lambda x, k, t, b: _dealt(x, k, _last_of_each(t), b, _in_rows(t))),
        ),
    ),
    Exercise(
        id="09.3", function="subsample_gradients", title="Training the two numbers of S2", points=3, level="stretch",
        concept="the gradients of subsampling with a coefficient", source='Hwu, "Subsampling Layers in LeNet-5"',
        lines=6,
        expect=_subsampled,
        cases=(
            Case((np.array([[[[3.0]]]]), np.array([[[[1.0, 2], [4, 8]]]]), np.array([5.0])), "one window, by hand"),
            Case((_random.normal(size=(2, 3, 2, 1)), _random.normal(size=(2, 3, 4, 2)), np.array([0.25, -1.0, 2.0])),
                 "2 images of 3 maps"),
            Case((np.array([[[[0.5, -1.5]]]]), np.array([[[[1, 2, 0, 3], [4, 0, 1, 1]]]]), np.array([1])),
                 "pixels and a weight that are whole numbers"),
        ),
        causes=(
            Cause("dx is a quarter of what it must be: this layer takes the sum of a window, not its mean.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0] / 4, *_subsampled(dy, x, w)[1:])),
            Cause("dw was made with the mean of each window; w multiplies the sum.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0], _subsampled(dy, x, w)[1] / 4, dy.sum(axis=(0, 2, 3)))),
            Cause("dx does not contain w: by how much does y change when one pixel grows by 1?",
                  lambda dy, x, w: (_subsampled(dy, x, 0 * w + 1)[0], *_subsampled(dy, x, w)[1:])),
            Cause("dw and db were averaged over the images; a gradient of a number that all images use is a sum.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0], *(g / len(x) for g in _subsampled(dy, x, w)[1:]))),
            Cause("Only one pixel of each window got its gradient; all four are added up, so all four have one.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0] * _corners(x), *_subsampled(dy, x, w)[1:])),
            Cause("dw does not contain dy: each window's sum counts as much as the loss feels its output.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0], _subsampled(dy**0, x, w)[1], dy.sum(axis=(0, 2, 3)))),
            Cause("db was counted once for each pixel; the bias is added once to each output.",
                  lambda dy, x, w: (*_subsampled(dy, x, w)[:2], 4 * dy.sum(axis=(0, 2, 3)))),
            Cause("The gradients lie at the wrong pixels: dy was laid beside itself; each one belongs to its window.",
                  _tiled),
            Cause("x held whole numbers and dx was made like it, so that the digits behind the point were cut off.",
                  lambda dy, x, w: (_subsampled(dy, x, w)[0].astype(x.dtype), *_subsampled(dy, x, w)[1:])),
        ),
        instead_of=("subsample_backward", "subsample_forward", "average_pool_backward", "Subsample"),
    ),
    Exercise(
        id="09.4", function="read_by_distance", title="Reading by distance, with a way to say no", points=2,
        level="core", concept="the radial-basis output", source='Hwu, "OUTPUT Layer in LeNet-5"', lines=3,
        expect=lambda f6, prototypes, limit: _read(_far(f6, prototypes), limit),
        cases=(
            Case((np.array([[0.5, 1.0], [-1.0, 0.0], [9.0, 9.0]]), np.array([[1.0, 1], [-1, 1], [-1, -1]]), 1.0),
                 "three pictures of two pixels"),
            Case((_random.normal(size=(4, 5)) * np.array([[0.5], [2], [2], [4]]), np.sign(_random.normal(size=(3, 5))),
                  7.0), "4 pictures of five pixels"),
            Case((np.array([[0.0, 0.0], [2.5, 2.0]]), np.array([[2.0, 2], [3, 0], [6, 6]]), 10.0),
                 "prototypes of unequal length"),
        ),
        causes=(
            Cause("Differences were added without squaring them.",
                  lambda f, p, limit: _read(np.abs(f[:, None] - p).sum(axis=2), limit)),
            Cause("The farthest prototype was taken, for the answer or for the limit; the smallest distance decides.",
                  lambda f, p, limit: _read(-_far(f, p), -limit, np.less)),
            Cause("The farthest prototype was taken; the smallest distance wins.",
                  lambda f, p, limit: np.where(_far(f, p).min(axis=1) > limit, -1, _far(f, p).argmax(axis=1))),
            Cause("The squares were averaged; the distance is their sum.",
                  lambda f, p, limit: _read(_far(f, p) / f.shape[1], limit)),
            Cause("Of equally near prototypes the last was taken; take the first.",
                  lambda f, p, limit: np.where(_far(f, p).min(axis=1) > limit, -1,
                                               len(p) - 1 - _far(f, p)[:, ::-1].argmin(axis=1))),
            Cause("The limit was forgotten: a picture that is far from all prototypes is -1.",
                  lambda f, p, limit: _read(_far(f, p), np.inf)),
            Cause("The root of the distance was compared with the limit; the output is the square.",
                  lambda f, p, limit: _read(np.sqrt(_far(f, p)), limit)),
            Cause("A distance of exactly the limit was turned away; only beyond it the answer is -1.",
                  lambda f, p, limit: _read(_far(f, p), limit, np.greater_equal)),
            Cause("The largest product was taken; it is the smallest distance for prototypes of equal length only.",
                  lambda f, p, limit: np.where(_far(f, p).min(axis=1) > limit, -1, (f @ p.T).argmax(axis=1))),
        ),
        instead_of=("rbf_forward", "RadialBasis"),
    ),
    Exercise(
        id="09.5", function="plan", title="Project: the plan of a network", points=2, level="project",
        concept="sizes, parameters and work, layer after layer", source='Hwu, "Convolution Layers in LeNet-5"',
        lines=14,
        expect=_plan,
        cases=(
            Case(([("conv", 4, 5), ("pool", 2), ("conv", 8, 5), ("pool", 2), ("dense", 10)], (1, 28, 28)),
                 "the small LeNet"),
            Case(([("conv", 2, 3), ("pool", 2), ("dense", 3)], (3, 7, 10)), "3 maps of 7 x 10"),
            Case(([("dense", 6), ("dense", 4)], (2, 3, 5)), "two dense layers"),
        ),
        causes=(
            Cause("The biases are missing among the parameters.",
                  lambda layers, shape: _changed(layers, shape, _no_biases)),
            Cause("A convolution was counted as if it had one input map; each output map has a mask for every one.",
                  lambda layers, shape: _changed(layers, shape, _single_map)),
            Cause("A dense layer was counted with one number for each map; it sees all pixels of all maps.",
                  lambda layers, shape: _changed(layers, shape, _narrow_dense)),
            Cause("Pooling rounded up; a rest of the rows or columns is never seen.",
                  lambda layers, shape: _plan(layers, shape, round_up=True)),
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
        ),
    ),
    Exercise(
        id="09.6", function="feature_maps", title="Project: two stages forward", points=3, level="project",
        concept="the forward pass of a convolutional network", source='Hwu, "Convolution Layers in LeNet-5"', lines=14,
        expect=_maps,
        cases=(
            Case((np.arange(0.0, 108, 3).reshape(1, 6, 6) % 18, np.array([[[[1.0]]], [[[-1.0]]]]), np.array([0.0, 3.0]),
                  np.array([[[[1.0, 0], [2, 0]], [[0.0, 0], [0, 3]]]]), np.array([-5.0])), "small masks, to trace"),
            Case((SOME, *NET[:4]), "two digits, the small LeNet"),
        ),
        causes=(
            Cause("The second ReLU is missing: S4 has no negative numbers.",
                  lambda *a: _maps(*a, act=(ops.relu, ops.identity))),
            Cause("The first ReLU is missing; each of the two convolutions is followed by one.",
                  lambda *a: _maps(*a, act=(ops.identity, ops.relu))),
            Cause("A window was averaged; S2 and S4 of this network keep its largest number.",
                  lambda *a: _maps(*a, pool=ops.average_pool_forward)),
            Cause("A window was added up; S2 and S4 of this network keep its largest number.",
                  lambda *a: _maps(*a, pool=_window_sum)),
            Cause("A bias was added at every position of the mask; an output has it once.", _at_every_position),
            Cause("The bias was added after the ReLU; it belongs to the sum that ReLU looks at.",
                  lambda *a: _maps(*a, late=True)),
            Cause("Rows and columns of the masks were exchanged: w[m, c, p, q] meets row h + p and column v + q.",
                  lambda x, w1, b1, w3, b3: _maps(x, w1.swapaxes(2, 3), b1, w3.swapaxes(2, 3), b3)),
            Cause("The biases are missing.", lambda x, w1, b1, w3, b3: _maps(x, w1, 0 * b1, w3, 0 * b3)),
            Cause("The masks were turned around; the course's convolution lays them on the image as they are.",
                  lambda *a: _maps(*a, flip=-1)),
        ),
        instead_of=("conv2d_forward", "conv2d_forward_loops", "conv2d_forward_windows", "max_pool_forward", "im2col",
                    "conv3d_forward", "Conv2d", "MaxPool", "Sequential"),
    ),
    Exercise(
        id="09.7", function="ablation", title="Project: what is each map worth?", points=3, level="project",
        concept="counting mistakes, with and without a part", source='Hwu, "Convolution Layers in LeNet-5"', lines=8,
        expect=_without,
        cases=(
            Case((np.array([[4.0, 1], [3, 1], [1, 3], [3, 3]]).reshape(4, 2, 1, 1), np.eye(2), np.array([0.0, 0.5]),
                  np.array([0, 0, 0, 1])), "4 images, 2 maps of one pixel, by hand"),
            Case((_maps(DIGITS.images("test")[LAST], *NET[:4]), *NET[4:], DIGITS.y_test[LAST]),
                 "40 digits, the small LeNet"),
        ),
        causes=(
            Cause("Right answers were counted; the mistakes are the others.", _right_ones),
            Cause("The maps before it were still off; switch each map on again before the next one.",
                  lambda *a: _without(*a, off=np.greater_equal.outer)),
            Cause("All other maps were switched off, and not the one.",
                  lambda *a: _without(*a, off=np.not_equal.outer)),
            Cause("An image was switched off instead of a map: maps[:, c] is map c of all images, maps[c] is image c.",
                  _image_off),
            Cause("The biases b5 are missing.", lambda maps, w5, b5, labels: _without(maps, w5, 0 * b5, labels)),
            Cause("Additional mistakes were returned; all mistakes are asked for.", _additional),
            Cause("The wrong numbers were switched off: in a flattened row, a map's pixels lie side by side.",
                  _interleaved),
        ),
    ),
    TextQuestion(
        id="09.8", title="Project: read your own counts", points=2, level="project",
        concept="what an ablation says", source='Hwu, "Convolution Layers in LeNet-5"',
    ),
)  # fmt: skip
