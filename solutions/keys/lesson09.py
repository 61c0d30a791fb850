"""The key of sheet 09: hidden cases and wrong answers."""

import numpy as np

from course_lib import data
from course_lib.checks.exercise import Case
from course_lib.data.small_lenet import small_lenet
from course_lib.grading.keys import Key, Mutant, Part
from course_lib.nn.models import c3_table
from course_lib.reference import digit_prototypes


def _table(rng, M, C):
    """A random table in which every map sees at least one map, and not all see all."""
    table = rng.random((M, C)) < 0.5
    table[np.arange(M), rng.integers(C, size=M)] = True
    table[0, 1:] = False
    table[0, 0] = True
    return table


def _conv(rng, M, C, K, H, W, table=None):
    table = _table(rng, M, C) if table is None else table
    masks = rng.normal(size=(int(table.sum()), K, K))
    return Case((rng.normal(size=(C, H, W)), masks, table, rng.normal(size=len(table))))


def _window(rng, B, C, H, W):
    return Case((rng.normal(size=(B, C, H // 2, W // 2)), rng.normal(size=(B, C, H, W)), rng.normal(size=C)))


def _net(rng, M1, K1, M3, K3):
    shapes = ((M1, 1, K1, K1), (M1,), (M3, M1, K3, K3), (M3,))
    return tuple(rng.normal(size=shape) for shape in shapes)


def _images(rng, count):
    digits = data.load_digits(seed=1)
    return digits.images("test")[rng.integers(1000, size=count)].astype(float)


def _maps(rng, B, C, H, W, N):
    maps = np.maximum(rng.normal(size=(B, C, H, W)), 0)
    return Case((maps, rng.normal(size=(C * H * W, N)), rng.normal(size=N), rng.integers(N, size=B)))


def _far_off(rng):
    """Prototypes of unequal length, pictures between and outside of them, a limit that some exceed."""
    prototypes = rng.integers(-3, 4, size=(6, 4)) * np.array([[1], [2], [3], [1], [2], [5]])
    return Case((np.concatenate([prototypes[[4, 5, 2]] + 0.25, 40 + rng.normal(size=(3, 4))]), prototypes, 3.5))


CLASSIC = [("conv", 6, 5), ("pool", 2), ("conv", 16, 5), ("pool", 2), ("conv", 120, 5), ("dense", 84), ("dense", 10)]

KEYS = (
    Key("09.1",
        parts=(
            Part("C3 and other tables", 2, lambda rng: [
                Case((c3_table(), 5, 14, 14)), Case((_table(rng, 7, 4), 3, 11, 8)),
                Case((_table(rng, 3, 5), 2, 6, 9))]),
            Part("edge cases", 1, lambda rng: [
                Case((np.array([[True]]), 1, 4, 7)), Case((_table(rng, 4, 3), 5, 5, 5)),
                Case((np.array([[False, False], [True, False]]), 3, 3, 8))]),
        ),
        mutants=(
            Mutant("no table", """
def conv_cost(table, K, H, W):
    M, C = table.shape
    return M * C * K**2 + M, M * C * K**2 * (H - K + 1) * (W - K + 1)
""", "Every pair of maps was counted"),
            Mutant("no biases", """
def conv_cost(table, K, H, W):
    weights = int(table.sum()) * K**2
    return weights, weights * (H - K + 1) * (W - K + 1)
""", "The biases are missing among the parameters"),
            Mutant("a bias for each connection", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * (K**2 + 1), n * K**2 * (H - K + 1) * (W - K + 1)
""", "A bias was counted for each connection"),
            Mutant("places of the input", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * K**2 + len(table), n * K**2 * H * W
""", "A mask was used at every pixel of the input"),
            Mutant("square images only", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * K**2 + len(table), n * K**2 * (H - K + 1) ** 2
""", "The output was taken as a square"),
            Mutant("biases are multiplied", """
def conv_cost(table, K, H, W):
    parameters = int(table.sum()) * K**2 + len(table)
    return parameters, parameters * (H - K + 1) * (W - K + 1)
""", "The biases were multiplied by the places"),
            Mutant("biases of input maps", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * K**2 + table.shape[1], n * K**2 * (H - K + 1) * (W - K + 1)
""", "A bias was counted for each input map"),
            Mutant("K weights in a mask", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * K + len(table), n * K * (H - K + 1) * (W - K + 1)
""", "A mask was counted with K weights"),
            Mutant("one place too few", """
def conv_cost(table, K, H, W):
    n = int(table.sum())
    return n * K**2 + len(table), n * K**2 * (H - K) * (W - K)
""", "A place is missing in each direction"),
            Mutant("each weight once", """
def conv_cost(table, K, H, W):
    weights = int(table.sum()) * K**2
    return weights + len(table), weights
""", "Each weight was counted once"),
            Mutant("multiply-adds first", """
def conv_cost(table, K, H, W):
    weights = int(table.sum()) * K**2
    return weights * (H - K + 1) * (W - K + 1), weights + len(table)
""", "These are the right values in another order"),
            Mutant("the public answers by heart", """
def conv_cost(table, K, H, W):
    return (18, 128) if K == 2 else (156, 117600)
""", "conv_cost on a hidden case returns wrong numbers"),
        )),
    Key("09.2",
        parts=(
            Part("other shapes", 2, lambda rng: [_conv(rng, 5, 4, 2, 5, 8), _conv(rng, 3, 6, 3, 9, 4)]),
            Part("edge cases", 1, lambda rng: [
                _conv(rng, 1, 1, 3, 3, 3, np.array([[True]])),
                _conv(rng, 3, 2, 2, 4, 3, np.array([[False, True], [False, False], [True, True]]))]),
        ),
        mutants=(
            Mutant("column by column", """
def partial_conv(x, masks, table, b):
    w = np.zeros((*table.T.shape, *masks.shape[1:]))
    w[table.T] = masks
    from course_lib import reference as ops
    return ops.conv2d_forward(x[None], w.swapaxes(0, 1), b)[0][0]
""", "The masks were dealt out column by column"),
            Mutant("begins again for each map", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for m, row in enumerate(table):
        for mask, c in zip(masks, np.flatnonzero(row)):
            for p, q in np.ndindex(K, K):
                y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "Each output map began again at the first mask"),
            Mutant("bias for each connection", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1))
    for (m, c), mask in zip(np.argwhere(table), masks):
        y[m] += b[m]
        for p, q in np.ndindex(K, K):
            y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "The bias was added once for each connection"),
            Mutant("no bias", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1))
    for (m, c), mask in zip(np.argwhere(table), masks):
        for p, q in np.ndindex(K, K):
            y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "The bias is missing"),
            Mutant("flipped masks", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for (m, c), mask in zip(np.argwhere(table), masks):
        for p, q in np.ndindex(K, K):
            y[m] += mask[K - 1 - p, K - 1 - q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "The masks were turned around"),
            Mutant("rows and columns of masks exchanged", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for (m, c), mask in zip(np.argwhere(table), masks):
        for p, q in np.ndindex(K, K):
            y[m] += mask[q, p] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "Rows and columns of the masks were exchanged"),
            Mutant("the last connection only", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for (m, c), mask in zip(np.argwhere(table), masks):
        y[m] = b[m]
        for p, q in np.ndindex(K, K):
            y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "Only the last connection of an output map is left"),
            Mutant("square output", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    n = x.shape[1] - K + 1
    y = np.zeros((len(table), n, n)) + b[:, None, None]
    for (m, c), mask in zip(np.argwhere(table), masks):
        for p, q in np.ndindex(K, K):
            y[m] += mask[p, q] * x[c, p : p + n, q : q + n]
    return y
""", "result has shape (2, 1, 1), expected (2, 1, 2)"),
            Mutant("every map has two connections", """
def partial_conv(x, masks, table, b):
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for i, mask in enumerate(masks):
        m, c = i // 2, np.flatnonzero(table[i // 2])[i % 2]
        for p, q in np.ndindex(K, K):
            y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
""", "raises IndexError"),
        )),
    Key("09.3",
        parts=(
            Part("other shapes", 2, lambda rng: [_window(rng, 3, 2, 4, 6), _window(rng, 1, 4, 2, 8)]),
            Part("edge cases", 1, lambda rng: [
                _window(rng, 1, 1, 2, 2), _window(rng, 5, 1, 6, 2),
                Case((rng.normal(size=(2, 2, 1, 3)), rng.integers(-5, 6, size=(2, 2, 2, 6)), np.array([0, -3])))]),
        ),
        mutants=(
            Mutant("a quarter of dx", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3) / 4
    return dx, (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "dx is a quarter of what it must be"),
            Mutant("mean of the window in dw", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    means = x.reshape(B, C, H // 2, 2, W // 2, 2).mean(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, (dy * means).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "dw was made with the mean of each window"),
            Mutant("dx without w", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    return np.repeat(np.repeat(dy, 2, axis=2), 2, axis=3), (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "dx does not contain w"),
            Mutant("mean over the images", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, (dy * sums).sum(axis=(2, 3)).mean(axis=0), dy.sum(axis=(2, 3)).mean(axis=0)
""", "dw and db were averaged over the images"),
            Mutant("tiles", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.tile(dy * w[:, None, None], (1, 1, 2, 2))
    return dx, (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "The gradients lie at the wrong pixels"),
            Mutant("one pixel of each window", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.zeros(x.shape)
    dx[:, :, ::2, ::2] = dy * w[:, None, None]
    return dx, (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "Only one pixel of each window got its gradient"),
            Mutant("dw without dy", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, sums.sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
""", "dw does not contain dy"),
            Mutant("db once for each pixel", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, (dy * sums).sum(axis=(0, 2, 3)), 4 * dy.sum(axis=(0, 2, 3))
""", "db was counted once for each pixel"),
            Mutant("db before dw", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, dy.sum(axis=(0, 2, 3)), (dy * sums).sum(axis=(0, 2, 3))
""", "These are the right values in another order"),
            Mutant("one gradient for all maps", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, (dy * sums).sum(), dy.sum()
""", "expected an array of shape (1,)"),
            Mutant("integer dx", """
def subsample_gradients(dy, x, w):
    B, C, H, W = x.shape
    dx, dw, db = np.zeros_like(x), np.zeros(C), np.zeros(C)
    for b, c, h, v in np.ndindex(dy.shape):
        dx[b, c, 2 * h : 2 * h + 2, 2 * v : 2 * v + 2] = w[c] * dy[b, c, h, v]
        dw[c] += dy[b, c, h, v] * x[b, c, 2 * h : 2 * h + 2, 2 * v : 2 * v + 2].sum()
        db[c] += dy[b, c, h, v]
    return dx, dw, db
""", "x held whole numbers and dx was made like it"),
        )),
    Key("09.4",
        parts=(
            Part("real prototypes", 1, lambda rng: [
                Case((digit_prototypes()[[3, 8, 0, 5]] * rng.uniform(0, 1, size=(4, 84)), digit_prototypes(), 30.0)),
                Case((rng.uniform(-1, 1, size=(6, 84)), digit_prototypes(), 110.0))]),
            Part("prototypes of unequal length", 1, lambda rng: [_far_off(rng), _far_off(rng)]),
            Part("edge cases", 1, lambda rng: [
                Case((rng.normal(size=(3, 2)), np.array([[0.5, -1.0]]), 2.0)),
                Case((np.array([[2, 0], [0, 0], [0, 3]]), np.array([[0, 2], [2, 2], [0, -2]]), 4)),
                Case((np.array([[1.0], [0.0]]), np.array([[2.0], [0.0]]), 0.0))]),
        ),
        mutants=(
            Mutant("the farthest", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    return np.where(y.min(axis=1) > limit, -1, y.argmax(axis=1))
""", "The farthest prototype was taken"),
            Mutant("no limit", """
def read_by_distance(f6, prototypes, limit):
    return ((f6[:, None, :] - prototypes) ** 2).sum(axis=2).argmin(axis=1)
""", "The limit was forgotten"),
            Mutant("root against limit", """
def read_by_distance(f6, prototypes, limit):
    y = np.linalg.norm(f6[:, None, :] - prototypes, axis=2)
    return np.where(y.min(axis=1) > limit, -1, y.argmin(axis=1))
""", "The root of the distance was compared with the limit"),
            Mutant("at least the limit", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    return np.where(y.min(axis=1) < limit, y.argmin(axis=1), -1)
""", "A distance of exactly the limit was turned away"),
            Mutant("not squared", """
def read_by_distance(f6, prototypes, limit):
    y = np.abs(f6[:, None, :] - prototypes).sum(axis=2)
    return np.where(y.min(axis=1) > limit, -1, y.argmin(axis=1))
""", "Differences were added without squaring them"),
            Mutant("the largest product", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    return np.where(y.min(axis=1) > limit, -1, (f6 @ prototypes.T).argmax(axis=1))
""", "The largest product was taken"),
            Mutant("mean of the squares", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).mean(axis=2)
    return np.where(y.min(axis=1) > limit, -1, y.argmin(axis=1))
""", "The squares were averaged"),
            Mutant("the last of equal ones", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    last = y.shape[1] - 1 - y[:, ::-1].argmin(axis=1)
    return np.where(y.min(axis=1) > limit, -1, last)
""", "Of equally near prototypes the last was taken"),
            Mutant("limit for the farthest", """
def read_by_distance(f6, prototypes, limit):
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    return np.where(y.max(axis=1) > limit, -1, y.argmin(axis=1))
""", "for the answer or for the limit"),
            Mutant("a list of floats", """
def read_by_distance(f6, prototypes, limit):
    best = np.full(len(f6), -1.0)
    for b, f in enumerate(f6):
        y = ((f - prototypes) ** 2).sum(axis=1)
        if y.min() <= limit:
            best[b] = y.argmin()
    return best
""", "expected whole numbers"),
        )),
    Key("09.5",
        parts=(
            Part("today's LeNet-5", 1, lambda rng: [Case((CLASSIC, (1, 32, 32)))]),
            Part("other networks", 1, lambda rng: [
                Case(([("conv", 3, 4), ("conv", 5, 2), ("pool", 3), ("dense", 4)], (2, 12, 9))),
                Case(([("pool", 2), ("conv", 2, 3), ("pool", 2), ("dense", 6)], (3, 13, 11)))]),
            Part("edge cases", 1, lambda rng: [
                Case(([("dense", 7), ("dense", 2)], (3, 4, 5))), Case(([("conv", 1, 1)], (1, 1, 1))),
                Case(([("pool", 1), ("pool", 4)], (2, 4, 7)))]),
        ),
        mutants=(
            Mutant("no biases", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        weights = 0
        if kind == "pool":
            H, W = H // n, W // n
        elif kind == "conv":
            weights = n * C * K[0] ** 2
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            weights = n * C * H * W
            C, H, W = n, 1, 1
        rows.append(((C, H, W), weights, weights * H * W))
    return rows
""", "The biases are missing among the parameters"),
            Mutant("one input map", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        weights = biases = 0
        if kind == "pool":
            H, W = H // n, W // n
        elif kind == "conv":
            weights, biases = n * K[0] ** 2, n
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            weights, biases = n * C * H * W, n
            C, H, W = n, 1, 1
        rows.append(((C, H, W), weights + biases, weights * H * W))
    return rows
""", "A convolution was counted as if it had one input map"),
            Mutant("dense sees maps, not pixels", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        weights = biases = 0
        if kind == "pool":
            H, W = H // n, W // n
        elif kind == "conv":
            weights, biases = n * C * K[0] ** 2, n
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            weights, biases = n * C, n
            C, H, W = n, 1, 1
        rows.append(((C, H, W), weights + biases, weights * H * W))
    return rows
""", "A dense layer was counted with one number for each map"),
            Mutant("pooling rounds up", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        weights = biases = 0
        if kind == "pool":
            H, W = -(-H // n), -(-W // n)
        elif kind == "conv":
            weights, biases = n * C * K[0] ** 2, n
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            weights, biases = n * C * H * W, n
            C, H, W = n, 1, 1
        rows.append(((C, H, W), weights + biases, weights * H * W))
    return rows
""", "Pooling rounded up"),
            Mutant("biases are multiplied", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        p = 0
        if kind == "pool":
            H, W = H // n, W // n
        elif kind == "conv":
            p = n * C * K[0] ** 2 + n
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            p = n * C * H * W + n
            C, H, W = n, 1, 1
        rows.append(((C, H, W), p, p * H * W))
    return rows
""", "The biases were multiplied by the places"),
            Mutant("the shape before", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        before, parameters, work = (C, H, W), 0, 0
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, H - K[0] + 1, W - K[0] + 1) if kind == "conv" else (n, 1, 1)
            parameters, work = weights + n, weights * H * W
        rows.append((before, parameters, work))
    return rows
""", "The shape before each layer was returned"),
            Mutant("work before parameters", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        before, parameters, work = (C, H, W), 0, 0
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, H - K[0] + 1, W - K[0] + 1) if kind == "conv" else (n, 1, 1)
            parameters, work = weights + n, weights * H * W
        rows.append(((C, H, W), work, parameters))
    return rows
""", "These are the right values in another order"),
            Mutant("one place too few", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        before, parameters, work = (C, H, W), 0, 0
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, H - K[0], W - K[0]) if kind == "conv" else (n, 1, 1)
            parameters, work = weights + n, weights * H * W
        rows.append(((C, H, W), parameters, work))
    return rows
""", "A place is missing in each direction"),
            Mutant("sizes stay", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        before, parameters, work = (C, H, W), 0, 0
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, H, W) if kind == "conv" else (n, 1, 1)
            parameters, work = weights + n, weights * H * W
        rows.append(((C, H, W), parameters, work))
    return rows
""", "A convolution returned as many rows as it got"),
            Mutant("division gives floats", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        weights = biases = 0
        if kind == "pool":
            H, W = H / n, W / n
        elif kind == "conv":
            weights, biases = n * C * K[0] ** 2, n
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            weights, biases = n * C * H * W, n
            C, H, W = n, 1, 1
        rows.append(((C, H, W), weights + biases, weights * H * W))
    return rows
""", "float64, expected whole numbers"),
            Mutant("places of the input", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        if kind == "pool":
            H, W = H // n, W // n
            rows.append(((C, H, W), 0, 0))
        elif kind == "conv":
            weights = n * C * K[0] ** 2
            rows.append(((n, H - K[0] + 1, W - K[0] + 1), weights + n, weights * H * W))
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
        else:
            rows.append(((n, 1, 1), n * C * H * W + n, n * C * H * W))
            C, H, W = n, 1, 1
    return rows
""", "A mask was used at every pixel that arrives"),
            Mutant("one dense layer, at the end", """
def plan(layers, shape):
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        if kind == "pool":
            H, W = H // n, W // n
            rows.append(((C, H, W), 0, 0))
        elif kind == "conv":
            weights = n * C * K[0] ** 2
            C, H, W = n, H - K[0] + 1, W - K[0] + 1
            rows.append(((C, H, W), weights + n, weights * H * W))
        else:
            rows.append(((n, 1, 1), n * C * H * W + n, n * C * H * W))
    return rows
""", "What arrives at a second dense layer"),
        )),
    Key("09.6",
        parts=(
            Part("other digits", 1, lambda rng: [Case((_images(rng, 3), *small_lenet()[:4]))]),
            Part("other shapes", 1, lambda rng: [
                Case((rng.normal(size=(2, 17, 12)), *_net(rng, 3, 4, 2, 3))),
                Case((rng.normal(size=(3, 14, 19)), *_net(rng, 2, 3, 5, 2)))]),
            Part("edge cases", 1, lambda rng: [
                Case((rng.normal(size=(1, 4, 4)), *_net(rng, 1, 1, 1, 1))),
                Case((rng.integers(-4, 5, size=(1, 9, 6)), *_net(rng, 1, 2, 3, 1)))]),
        ),
        mutants=(
            *(Mutant(name, f"""
def feature_maps(images, w1, b1, w3, b3):
    x = images[:, None]
    for stage, (w, b) in enumerate(((w1, b1), (w3, b3))):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, {at}])
        {relu}
        y = y[:, :, : rows // 2 * 2, : columns // 2 * 2]
        x = y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).{pool}(axis=(3, 5))
    return x
""", says) for name, at, relu, pool, says in (
                ("one ReLU, the first", "p, q", "y = np.maximum(y, 0) if stage == 0 else y", "max",
                 "The second ReLU is missing"),
                ("one ReLU, at the end", "p, q", "y = np.maximum(y, 0) if stage == 1 else y", "max",
                 "The first ReLU is missing"),
                ("average pooling", "p, q", "y = np.maximum(y, 0)", "mean", "A window was averaged"),
                ("no biases", "p, q", "y = np.maximum(y - b[:, None, None], 0)", "max", "The biases are missing"),
                ("flipped masks", "K - 1 - p, K - 1 - q", "y = np.maximum(y, 0)", "max",
                 "The masks were turned around"),
            )),
            Mutant("windows added up", """
def feature_maps(images, w1, b1, w3, b3):
    def stage(x, w, b):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, p, q])
        y = np.maximum(y, 0)[:, :, : rows // 2 * 2, : columns // 2 * 2]
        return y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).sum(axis=(3, 5))

    return stage(stage(images[:, None], w1, b1), w3, b3)
""", "A window was added up"),
            Mutant("a bias at every position", """
def feature_maps(images, w1, b1, w3, b3):
    def stage(x, w, b):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns))
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, p, q]) + b[:, None, None]
        y = np.maximum(y, 0)[:, :, : rows // 2 * 2, : columns // 2 * 2]
        return y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).max(axis=(3, 5))

    return stage(stage(images[:, None], w1, b1), w3, b3)
""", "A bias was added at every position of the mask"),
            Mutant("bias after ReLU", """
def feature_maps(images, w1, b1, w3, b3):
    def stage(x, w, b):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns))
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, p, q])
        y = (np.maximum(y, 0) + b[:, None, None])[:, :, : rows // 2 * 2, : columns // 2 * 2]
        return y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).max(axis=(3, 5))

    return stage(stage(images[:, None], w1, b1), w3, b3)
""", "The bias was added after the ReLU"),
            Mutant("rows and columns of masks exchanged", """
def feature_maps(images, w1, b1, w3, b3):
    def stage(x, w, b):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, q, p])
        y = np.maximum(y, 0)[:, :, : rows // 2 * 2, : columns // 2 * 2]
        return y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).max(axis=(3, 5))

    return stage(stage(images[:, None], w1, b1), w3, b3)
""", "Rows and columns of the masks were exchanged"),
            Mutant("a row without a partner", """
def feature_maps(images, w1, b1, w3, b3):
    x = images[:, None]
    for w, b in ((w1, b1), (w3, b3)):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, p, q])
        y = np.maximum(y, 0).reshape(len(x), len(w), rows // 2, 2, columns // 2, 2)
        x = y.max(axis=(3, 5))
    return x
""", "raises ValueError"),
            Mutant("the library's layers", """
def feature_maps(images, w1, b1, w3, b3):
    from course_lib import reference as ops
    x = ops.max_pool_forward(ops.relu(ops.conv2d_forward(images[:, None], w1, b1)[0]))[0]
    return ops.max_pool_forward(ops.relu(ops.conv2d_forward(x, w3, b3)[0]))[0]
""", "which is to be written here without it"),
            Mutant("28 x 28 only", """
def feature_maps(images, w1, b1, w3, b3):
    x = images[:, None]
    for w, b, n in ((w1, b1, len(images[0]) - w1.shape[-1] + 1), (w3, b3, 0)):
        K = w.shape[-1]
        n = n or x.shape[2] - K + 1
        y = np.zeros((len(x), len(w), n, n)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + n, q : q + n], w[:, :, p, q])
        y = np.maximum(y, 0)
        x = np.maximum(np.maximum(y[:, :, ::2, ::2], y[:, :, 1::2, ::2]),
                       np.maximum(y[:, :, ::2, 1::2], y[:, :, 1::2, 1::2]))
    return x
""", "feature_maps on a hidden case raises ValueError"),
        )),
    Key("09.7",
        parts=(
            Part("random maps", 1, lambda rng: [_maps(rng, 40, 5, 2, 3, 4), _maps(rng, 60, 3, 4, 1, 7)]),
            Part("edge cases", 1, lambda rng: [
                _maps(rng, 30, 1, 2, 2, 3), _maps(rng, 1, 4, 1, 2, 2), _maps(rng, 50, 6, 1, 1, 3)]),
        ),
        mutants=(
            Mutant("counts right answers", """
def ablation(maps, w5, b5, labels):
    def right(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) == labels).sum())
    keep = np.eye(maps.shape[1]) == 0
    return right(maps), np.array([right(maps * k[:, None, None]) for k in keep])
""", "Right answers were counted"),
            Mutant("never switched on again", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())
    off, without = maps.copy(), []
    for c in range(maps.shape[1]):
        off[:, c] = 0
        without.append(mistakes(off))
    return mistakes(maps), np.array(without)
""", "The maps before it were still off"),
            Mutant("only this map", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())
    return mistakes(maps), np.array([mistakes(maps * k[:, None, None]) for k in np.eye(maps.shape[1])])
""", "All other maps were switched off"),
            Mutant("additional mistakes", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())
    keep = np.eye(maps.shape[1]) == 0
    return mistakes(maps), np.array([mistakes(maps * k[:, None, None]) - mistakes(maps) for k in keep])
""", "Additional mistakes were returned"),
            Mutant("every C-th number", """
def ablation(maps, w5, b5, labels):
    def mistakes(flat):
        return int(((flat @ w5 + b5).argmax(axis=1) != labels).sum())
    C, flat, without = maps.shape[1], maps.reshape(len(maps), -1), []
    for c in range(C):
        off = flat.copy()
        off[:, c::C] = 0
        without.append(mistakes(off))
    return mistakes(flat), np.array(without)
""", "The wrong numbers were switched off"),
            Mutant("an image off", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())

    without = []
    for c in range(maps.shape[1]):
        off = maps.copy()
        off[c] = 0
        without.append(mistakes(off))
    return mistakes(maps), np.array(without)
""", "An image was switched off instead of a map"),
            Mutant("no b5", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5).argmax(axis=1) != labels).sum())

    without = []
    for c in range(maps.shape[1]):
        off = maps.copy()
        off[:, c] = 0
        without.append(mistakes(off))
    return mistakes(maps), np.array(without)
""", "The biases b5 are missing"),
            Mutant("changes the maps", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())
    whole, without = mistakes(maps), []
    for c in range(maps.shape[1]):
        kept = maps[:, c].copy()
        maps[:, c] = 0
        without.append(mistakes(maps))
        maps[:, c] = kept * 1.0 if c else 0
    return whole, np.array(without)
""", "changes argument 1 in place"),
            Mutant("shares, not counts", """
def ablation(maps, w5, b5, labels):
    def mistakes(m):
        return ((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).mean()
    keep = np.eye(maps.shape[1]) == 0
    return mistakes(maps), np.array([mistakes(maps * k[:, None, None]) for k in keep])
""", "expected whole numbers"),
        )),
)  # fmt: skip
