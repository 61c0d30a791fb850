"""All-reduce in a ring: each rank talks to its two neighbours only, and every link carries as much as any other.

The array is cut into n parts. For n - 1 steps each rank hands on a part and adds the one that comes (reduce-scatter):
then each has the whole sum of one part. For n - 1 more steps finished parts go round (all-gather). Each rank sends
2 (n - 1) / n S bytes, nearly 2 S however many ranks there are: the least that is possible. But there are 2 (n - 1)
steps, and each has its latency: for small arrays a tree is quicker.

Source: P. Patarasuk and X. Yuan (2009), "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations".
"""

from itertools import pairwise

from course_lib.parallel.traffic import Traffic, cuts


def all_reduce(world, array):
    """Leave the sum over all ranks in `array` (count,) of each, in place.

    Part c is added in the order of the ranks c, c + 1, ... around the ring: another order for each part, and always
    the same. Every rank gets the same bits: each part's sum is made by one rank, and copied. Errors as
    `world.receive`. Source: Patarasuk and Yuan (2009).
    """
    rank, size = world.rank, world.size
    parts = [array[a:b] for a, b in pairwise(cuts(len(array), size))]
    right, left = (rank + 1) % size, (rank - 1) % size
    came = world.scratch(max(parts, key=len))
    for step in range(size - 1):  # reduce-scatter
        out, into = parts[(rank - step) % size], parts[(rank - step - 1) % size]
        world.exchange(out, right, came[: len(into)], left)
        world.add(into, came[: len(into)])
    for step in range(size - 1):  # all-gather
        out, into = parts[(rank - step + 1) % size], parts[(rank - step) % size]
        world.exchange(out, right, into, left)


def traffic(rank, size, count, itemsize):
    """Return the Traffic of one rank for `count` numbers of `itemsize` bytes. No errors.

    2 (n - 1) messages; each way round all parts but one, so 2 (n - 1) / n S bytes if n divides the count. In all
    2 n (n - 1) messages and 2 (n - 1) S bytes. Source: the course's own.
    """
    sizes = [b - a for a, b in pairwise(cuts(count, size))]
    numbers = 2 * count - sizes[(rank + 1) % size] - sizes[(rank + 2) % size]
    return Traffic(2 * (size - 1), numbers * itemsize)


def steps(size):
    """Return how many messages follow one after another: 2 (n - 1). No errors. Source: the course's own."""
    return 2 * (size - 1)
