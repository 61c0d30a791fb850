"""Usual mistakes in the convolution project that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Cause


def _conv(x, w):
    return reference.conv2d_forward(x, np.ascontiguousarray(w))[0]


def _masks(rows, x, K):
    return rows.reshape(rows.shape[0], x.shape[1], K, K)


def _causes(masks_of):
    """Return the mistakes of a convolution; masks_of(*args) -> (x, w (M, C, K, K))."""

    def wrong(change):
        return lambda *args: change(*masks_of(*args))

    return (
        Cause("Only the first input map is in the sum.", wrong(lambda x, w: _conv(x[:, :1], w[:, :1]))),
        Cause("All weights were taken to be 1. The weights that are stored count.",
              wrong(lambda x, w: _conv(x, np.ones_like(w)))),
        Cause("The mask is turned by 180 degrees: here w[m, c, p, q] meets x[b, c, h + p, v + q].",
              wrong(lambda x, w: _conv(x, w[:, :, ::-1, ::-1]))),
        Cause("The mask's rows and columns have changed places.", wrong(lambda x, w: _conv(x, w.swapaxes(2, 3)))),
    )  # fmt: skip


TILED = _causes(lambda x, w, *_: (x, w))

FREE = TILED[1:3]
"""Fewer: the archive for students holds what each would return for a large case."""

BY_ROWS = _causes(lambda x, rows, K: (x, _masks(rows, x, K)))

UNROLL = (
    Cause("Rows and columns of a mask position have changed places: row c K K + p K + q of cols holds x at (p, q).",
          lambda x, K: _unrolled(x, K, (0, 1, 5, 4, 2, 3))),
    Cause("The input map has to be the slowest in a column: row c K K + p K + q.",
          lambda x, K: _unrolled(x, K, (0, 4, 5, 1, 2, 3))),
)  # fmt: skip


def _unrolled(x, K, axes):
    seen = np.lib.stride_tricks.sliding_window_view(x, (K, K), axis=(2, 3))
    B, C, H_out, W_out = seen.shape[:4]
    return np.ascontiguousarray(seen.transpose(axes)).reshape(B, C * K * K, H_out * W_out)


PRODUCT = (
    Cause("What remains of the columns beyond whole tiles is missing: round the number of tiles up.",
          lambda rows, cols: rows[:, : rows.shape[1] // 16 * 16] @ cols[:, : rows.shape[1] // 16 * 16]),
    Cause("Only the first tile along the sum is in it.", lambda rows, cols: rows[:, :16] @ cols[:, :16]),
)  # fmt: skip
