"""Usual mistakes in the kernels of the GPU warm-up that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Cause


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
