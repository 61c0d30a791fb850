"""Usual mistakes in the kernels of the GPU warm-up that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Cause


def _blocks(x):
    return np.pad(x, (0, -x.size % 128)).reshape(-1, 128)


BLOCK_SUM = (
    Cause("Half of each block is missing: the first step of the tree adds elements that are half a block apart.",
          lambda x: _blocks(x)[:, :64].sum(axis=1)),
    Cause("The tree stops one step too early: at a distance of 1 two sums are left to add.",
          lambda x: _blocks(x)[:, ::2].sum(axis=1)),
    Cause("Only the first element of each block is there: was the loop of the tree walked?",
          lambda x: _blocks(x)[:, 0]),
)  # fmt: skip


def _over(k):
    def product(A, B):
        n = k(A, B)
        return A[:, :n] @ B[:n]

    return product


PRODUCT = (
    Cause("As many tiles were added up along K as the grid has blocks along x. The grid covers C and knows nothing of "
          "K; A.shape[1] does.", _over(lambda A, B: 16 * -(-B.shape[1] // 16))),
    Cause("What remains of K beyond whole tiles is missing: round the number of tiles up.",
          _over(lambda A, B: A.shape[1] // 16 * 16)),
    Cause("Only the first tile along K is in the sum.", _over(lambda A, B: 16)),
)  # fmt: skip


def _windows(x, size):
    """Return (C, H_out, W_out, size * size) the values of each window, row by row."""
    C, H, W = (*x.shape[:1], x.shape[1] // size, x.shape[2] // size)
    cut = x[:, : H * size, : W * size].reshape(C, H, size, W, size)
    return cut.transpose(0, 1, 3, 2, 4).reshape(C, H, W, size * size)


def _pool(place, mask_of):
    """Return wrong(x, size): `place(windows)` chooses in a window, `mask_of(x, size, row, column)` makes the mask."""

    def wrong(x, size):
        windows = _windows(x, size)
        at = place(windows, size)
        y = np.take_along_axis(windows, at[..., None], 3)[..., 0]
        c, i, j = np.indices(at.shape)
        mask = mask_of(x, size, i * size + at // size, j * size + at % size, c, at)
        return y, mask.astype(np.int32)

    return wrong


def _first_place(windows, size):
    return windows.argmax(axis=3)


def _last_place(windows, size):
    return windows.shape[3] - 1 - windows[..., ::-1].argmax(axis=3)


def _by_columns(windows, size):
    turned = windows.reshape(*windows.shape[:3], size, size).swapaxes(3, 4).reshape(windows.shape)
    at = turned.argmax(axis=3)
    return at % size * size + at // size


def _in_map(x, size, row, column, c, at):
    return row * x.shape[2] + column


POOL = (
    Cause("Of equal values the last one has won; the first one does, row by row.", _pool(_last_place, _in_map)),
    Cause("Of equal values the first one down the columns has won; go through a window row by row.",
          _pool(_by_columns, _in_map)),
    Cause("The mask has places within the window; it wants row * W + column in the map.",
          _pool(_first_place, lambda x, size, row, column, c, at: at)),
    Cause("The mask counts through all maps; each map begins with 0.",
          _pool(_first_place, lambda x, size, row, column, c, at: (c * x.shape[1] + row) * x.shape[2] + column)),
    Cause("The mask multiplies the row by the width of y; it is a place in x.",
          _pool(_first_place, lambda x, size, row, column, c, at: row * (x.shape[2] // size) + column)),
)  # fmt: skip

CONV = (
    Cause("Only the first input map is in the sum.", lambda x, w: reference.conv2d_forward(x[:, :1], w[:, :1])[0]),
    Cause("The mask is turned by 180 degrees: here w[m, c, p, q] meets x[b, c, h + p, w + q].",
          lambda x, w: reference.conv2d_forward(x, np.ascontiguousarray(w[:, :, ::-1, ::-1]))[0]),
    Cause("The mask's rows and columns have changed places.",
          lambda x, w: reference.conv2d_forward(x, np.ascontiguousarray(w.swapaxes(2, 3)))[0]),
)  # fmt: skip


def _without_halo(x, left=0, right=0):
    """Return (n,) sums in which a block of 64 sees `left` and `right` neighbours beyond its ends."""
    y = np.empty_like(x)
    for i in range(x.size):
        first, last = i // 64 * 64 - left, i // 64 * 64 + 63 + right
        y[i] = x[max(0, i - 2, first) : min(i + 2, last) + 1].sum()
    return y


SMOOTH = (
    Cause("The ends of a block miss the neighbours that belong to the next block: the tile has no halo.",
          _without_halo),
    Cause("Of the halo only the left end was brought.", lambda x: _without_halo(x, left=2)),
    Cause("Of the halo only the right end was brought.", lambda x: _without_halo(x, right=2)),
)  # fmt: skip
