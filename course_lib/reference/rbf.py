"""LeNet-5's output layer: how far is the feature vector from each class's prototype?

The output is not a score to be maximised but a squared distance to be made small. Each class has a
fixed prototype, a small picture of its digit with pixels -1 and +1.

Source: H, "OUTPUT Layer in LeNet-5" (Radial Basis Functions). H gives no formula; distance and loss are
those of the paper that H cites (LeCun et al., 1998).
"""

import numpy as np

from course_lib.validate import as_float, as_labels, require_same_shape


def rbf_forward(x, w):
    """Return (y, cache), y[b, i] = sum over j of (x[b, j] - w[i, j])^2.

    x (B, D), B >= 1, and one prototype a row, w (C, D), else ValueError; returns y (B, C), all >= 0.
    Source: H, "OUTPUT Layer in LeNet-5".
    """
    x, w = as_float("x", x, ndim=2, min_rows=1), as_float("w", w, ndim=2)
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; a prototype must be as long as a row of x.")
    difference = x[:, None, :] - w[None, :, :]  # (B, C, D)
    return np.einsum("bcd,bcd->bc", difference, difference), difference


def rbf_backward(dy, cache):
    """Return (dx, dw) of the shapes of x (B, D) and w (C, D), for dy (B, C), else ValueError.

    The prototypes are usually fixed, and dw unused. Source: K, "Chain Rule".
    """
    dy = as_float("dy", dy, ndim=2)
    require_same_shape("dy", dy, "y", cache[:, :, 0])
    weighted = 2 * dy[:, :, None] * cache
    return weighted.sum(axis=1), -weighted.sum(axis=0)


def rbf_loss_forward(y, labels, j=0.1):
    """E = mean of y[T] + ln(e^-j + sum over i of e^-y[i]): near the right prototype, far from the others.

    The first term alone could be made 0 by moving all prototypes to one point; the second pushes the
    wrong ones away, and e^-j keeps it from pushing for ever.

    y (B, C) distances, labels (B,) int in 0 .. C - 1, B >= 1, else ValueError; returns (float, cache).
    Source: LeCun et al. (1998), section II.C, cited by H.
    """
    y = as_float("y", y, ndim=2, min_rows=1)
    labels = as_labels("labels", labels, rows=y.shape[0], classes=y.shape[1])
    terms = np.concatenate([-y, np.full((len(y), 1), -j, dtype=y.dtype)], axis=1)  # (B, C + 1)
    top = terms.max(axis=1, keepdims=True)
    e = np.exp(terms - top)
    total = e.sum(axis=1, keepdims=True)
    value = np.mean(y[np.arange(len(y)), labels] + (top + np.log(total))[:, 0])
    return float(value), ((e / total)[:, :-1], labels)


def rbf_loss_backward(cache):
    """dE/dy = (onehot(T) - e^-y / (e^-j + sum e^-y)) / B; returns (B, C). No errors. Source: as the forward."""
    share, labels = cache
    dy = -share
    dy[np.arange(len(dy)), labels] += 1
    return dy / len(dy)


def digit_prototypes():
    """Return ten prototypes (10, 84) of -1 and +1: drawings of the digits, 12 rows of 7 pixels each.

    No errors. Source: LeCun et al. (1998) use such bitmaps; these drawings are the course's own.
    """
    rows = [line.split() for line in PROTOTYPE_ROWS.strip().splitlines()]
    pictures = ["".join(row[digit] for row in rows) for digit in range(10)]
    return np.array([[1.0 if pixel == "#" else -1.0 for pixel in picture] for picture in pictures])


PROTOTYPE_ROWS = """
.......  .......  .......  .......  .......  .......  .......  .......  .......  .......
..###..  ...#...  .#####.  .#####.  .....#.  #######  ...###.  #######  .#####.  .#####.
.#...#.  ..##...  #.....#  #.....#  ....##.  #......  ..#....  ......#  #.....#  #.....#
#.....#  .#.#...  ......#  ......#  ...#.#.  #......  .#.....  .....#.  #.....#  #.....#
#.....#  ...#...  ......#  ......#  ..#..#.  #......  #......  .....#.  #.....#  #.....#
#.....#  ...#...  .....#.  ..####.  .#...#.  ######.  ######.  ....#..  .#####.  .######
#.....#  ...#...  ....#..  ......#  #....#.  ......#  #.....#  ....#..  #.....#  ......#
#.....#  ...#...  ...#...  ......#  #######  ......#  #.....#  ...#...  #.....#  ......#
#.....#  ...#...  ..#....  ......#  .....#.  ......#  #.....#  ...#...  #.....#  .....#.
.#...#.  ...#...  .#.....  #.....#  .....#.  #.....#  #.....#  ..#....  #.....#  ....#..
..###..  .#####.  #######  .#####.  .....#.  .#####.  .#####.  ..#....  .#####.  .###...
.......  .......  .......  .......  .......  .......  .......  .......  .......  .......
"""
