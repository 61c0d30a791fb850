"""Right values of the exercises of lesson 17, by the library where it has them.

Options are what the usual mistakes in `lesson17_mistakes` do otherwise.

Source: the course's own.
"""

import numpy as np

from course_lib.cuda.fragments import fragment
from course_lib.nn.pruning import two_of_four_mask
from course_lib.reference.formats import Format, round_to


def limits(exponent_bits, fraction_bits):
    """Return (largest, smallest with all digits, smallest, step after 1)."""
    form = Format("asked", exponent_bits, fraction_bits)
    return form.largest, form.smallest_normal, form.smallest, form.step_at_one


def rounded(x):
    """Return x in BF16."""
    return round_to(x, "bf16")


def holder(row, k):
    """Return (lane, register, half) of A[row, k]."""
    return fragment("a", "bf16").owner(row, k)


def products(A, B, pairs=((1, 0), (0, 1), (0, 0))):
    """Return the sum of products of parts, each pair a part of A and one of B, in float64."""
    parts = []
    for X in (A, B):
        big = round_to(X, "bf16")
        parts.append((big.astype(np.float64), round_to(X - big, "bf16").astype(np.float64)))
    return sum(parts[0][i] @ parts[1][j] for i, j in pairs)


def scaled_step(w, scaled, scale, good, lr, grow_after):
    """Return (w, scale, good) after a step."""
    if not np.isfinite(scaled).all():
        return w, scale / 2, 0
    good += 1
    moved = w - lr * (scaled / scale)
    return (moved, scale * 2, 0) if good == grow_after else (moved, scale, good)


def pruned(w, axis=0):
    """Return w with two of each four along an axis."""
    return w * two_of_four_mask(w, axis)


def beat(moving, sums, entering, B):
    """Return (moving, sums) one beat later, cell by cell."""
    K, N = B.shape
    new, below = np.zeros((K, N)), np.zeros((K, N))
    for k in range(K):
        for n in range(N):
            new[k, n] = entering[k] if n == 0 else moving[k, n - 1]
            below[k, n] = (sums[k - 1, n] if k else 0) + new[k, n] * B[k, n]
    return new, below
