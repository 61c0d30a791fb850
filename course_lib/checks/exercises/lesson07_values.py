"""Right values of the exercises of lesson 07, by the library's convolutions, and by arrays that are counted.

Options are what the usual mistakes in `lesson07_mistakes` do otherwise.
"""

import math

import numpy as np

from course_lib import reference as ops


def chain(rule):
    """Return sizes(size, layers), by a rule for the size behind one layer."""

    def sizes(size, layers):
        found = [size]
        for layer in layers:
            found.append(rule(found[-1], *layer))
        return found[1:]

    return sizes


def never_seen(width, mask, stride, pad, more=0):
    """Return where adding back a one from every window leaves 0; `more`: as if the row were longer."""
    row = width + 2 * pad
    seen = np.zeros(row + max(more, 0))
    windows = np.ones((1, mask, ops.output_size(row + more, mask, stride)))
    seen[: row + more] = ops.col2im(windows, (1, 1, 1, row + more), (1, mask), (1, stride))
    return np.flatnonzero(seen[pad : pad + width] == 0).tolist()


def conv1d(x, w, stride, pad):
    """Return (M, W_out), the library's convolution along one direction."""
    return ops.conv1d_forward(x[None], w, stride=stride, pad=pad)[0][0]


def slide(x, w):
    """Return the outputs of one mask of all maps, where a window fits."""
    return ops.conv2d_forward(x[None], w[None])[0][0, 0]


def panorama(x, w):
    """Return the outputs of one mask where columns go on at the other end."""
    return slide(np.concatenate([x, x[:, :, : w.shape[2] - 1]], axis=2), w)


def matrix(w, H, W, stride):
    """Return the matrix column by column, from images with a single 1."""
    ones = np.eye(H * W).reshape(H * W, 1, H, W)
    return ops.conv2d_forward(ones, w[None, None], stride=stride)[0].reshape(H * W, -1).T


def numbers(dense, local, shared):
    """Return how many numbers arrays of these shapes hold."""
    return tuple(sum(math.prod(shape) for shape in shapes) for shapes in (dense, local, shared))


def weights(C, H, W, M, K_h, K_w, bias=True, maps=None, same=False, shared_bias=True):
    """Return how many numbers the three layers learn."""
    y = (M, H, W) if same else (M, ops.output_size(H, K_h), ops.output_size(W, K_w))
    b, seen = [y] if bias else [], (C if maps is None else maps, K_h, K_w)
    b_shared = ([y[:1]] if shared_bias else [y]) if bias else []
    return numbers([(*y, C, H, W), *b], [y + seen, *b], [y[:1] + seen, *b_shared])
