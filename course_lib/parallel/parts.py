"""Which rows of a batch are a rank's, and what its gradient counts in the sum.

A loss that is a mean over B rows: L = (1/B) sum l_i. Rank r has B_r of the rows, and computes the mean over these; with
the weights B_r / B the sum over ranks is L again, and so it is with gradients, also if the parts are unequal. A loss
that is a sum needs no weights.

Source: H, "Mini-batching"; the weights follow from the mean.
"""

from dataclasses import dataclass

from course_lib.parallel.traffic import cuts


@dataclass(frozen=True)
class Part:
    """A rank's rows of a batch: `rows`, a slice; `weight`, what their loss and gradient count in the batch's.

    Source: the course's own.
    """

    rows: slice
    weight: float


def part(count, rank, size, loss):
    """Return the `Part` of a rank of `size` in a batch of `count` rows. No errors.

    A batch smaller than the ranks leaves some without a row. These compute the batch's first row, with the weight 0:
    so they draw the same random numbers as the others and take part in each exchange.
    Source: H, "Mini-batching".
    """
    first, last = cuts(count, size)[rank : rank + 2]
    if first == last:
        return Part(slice(0, 1), 0.0)
    return Part(slice(first, last), 1.0 if loss == "half_squared_sum" else (last - first) / count)
