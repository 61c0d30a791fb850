"""Right values of the exercises of lesson 09, by the library's layers, which also count.

Options are what the usual mistakes in `lesson09_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops


def multiply_adds(table, K, H, W):
    """Return the multiply-adds: with masks and an image of ones, an output's value is the number of its own."""
    masks = table[:, :, None, None] * np.ones((K, K))
    return int(ops.conv2d_forward(np.ones((1, table.shape[1], H, W)), masks)[0].sum())


def cost(table, K, H, W, biases=None):
    """Return how many numbers are learned, and the multiply-adds."""
    weights = multiply_adds(table, K, K, K)  # an image as small as the mask: one place
    return weights + (len(table) if biases is None else biases), multiply_adds(table, K, H, W)


def dealt(x, masks, table, b, place, flip=False):
    """Return the layer where pair (m, c) has mask place[m, c]; without connection it has the last, zeros."""
    stock = np.concatenate([masks, np.zeros((1, *masks.shape[1:]))])
    w = stock[np.where(table, place, len(masks))]
    return ops.conv2d_forward(x[None], w[..., ::-1, ::-1] if flip else w, b)[0][0]


def in_rows(table):
    """Return each connection's number, row by row."""
    return (np.cumsum(table) - 1).reshape(table.shape)


def subsampled(dy, x, w):
    """Return (dx, dw, db) of a subsampling layer."""
    return ops.subsample_backward(dy, ops.subsample_forward(x, w, 0 * w)[1])


def read(far, limit, beyond=np.greater):
    """Return the nearest prototypes, -1 where all are too far."""
    best = far.argmin(axis=1)
    best[beyond(far.min(axis=1), limit)] = -1
    return best


def distances(f6, prototypes):
    """Return the squared distances to all prototypes."""
    return ops.rbf_forward(f6, prototypes)[0]


def plan(layers, shape, round_up=False):
    """Return the sizes of a batch of ones on its way; sums of ones count the products."""
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


def feature_maps(images, w1, b1, w3, b3, pool=ops.max_pool_forward, act=(ops.relu, ops.relu), flip=1, late=False):
    """Return what two layers with pooling make of images."""
    x = images[:, None].astype(float)
    for w, b, f in ((w1, b1, act[0]), (w3, b3, act[1])):
        early, after = (0 * b, b[:, None, None]) if late else (b, 0)
        x = pool(f(ops.conv2d_forward(x, w[..., ::flip, ::flip], early)[0]) + after)[0]
    return x


def count_missed(maps, w5, b5, labels):
    """Return how many images the last layer reads wrongly."""
    return int(np.count_nonzero((maps.reshape(len(maps), -1) @ w5 + b5).argmax(axis=1) != labels))


def ablated(maps, w5, b5, labels, off=np.equal.outer, missed=count_missed):
    """Return the images missed with all maps, and in counts without some; off[c, k]: is map k off in the c-th?"""
    C = maps.shape[1]
    switched = off(np.arange(C), np.arange(C))
    return missed(maps, w5, b5, labels), np.array(
        [missed(np.where(row[:, None, None], 0, maps), w5, b5, labels) for row in switched]
    )
