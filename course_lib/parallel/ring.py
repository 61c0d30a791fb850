"""All-reduce in a ring: each rank talks to its two neighbours only, and every link carries as much as any other.

The array is cut into n parts. For n - 1 steps each rank hands on a part and adds the one that comes (reduce-scatter):
then each has the whole sum of one part. For n - 1 more steps finished parts go round (all-gather). Each rank sends
2 (n - 1) / n S bytes, nearly 2 S however many ranks there are: the least that is possible. But there are 2 (n - 1)
steps, and each has its latency: for small arrays a tree is quicker.

The two halves are of use by themselves: between them each rank may do something with its part of the sum.

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
    reduce_scatter(world, array)
    all_gather(world, array)


def reduce_scatter(world, array):
    """Leave one part of the sum over all ranks in `array` (count,) of each; return it, a slice: `own`.

    The other parts hold sums of some ranks only. Errors as `world.receive`. Source: Patarasuk and Yuan (2009).
    """
    once_round_adding(world, _parts(array, world.size), range(world.size), world.rank)
    return own(world, len(array))


def all_gather(world, array):
    """Copy each rank's own part of `array` (count,) into the arrays of all others. Errors as `world.receive`.

    Source: Patarasuk and Yuan (2009).
    """
    once_round(world, _parts(array, world.size), range(world.size), world.rank)


def own(world, count):
    """Return the part of `count` numbers that a rank has the whole sum of, a slice. No errors.

    Source: the course's own.
    """
    places, mine = cuts(count, world.size), (world.rank + 1) % world.size
    return slice(places[mine], places[mine + 1])


def once_round_adding(world, parts, members, place):
    """Go once round a ring of ranks, adding: afterwards part (place + 1) % n is whole on member number `place`.

    Parameters
    ----------
    world : World
    parts : list of n arrays (count,)
    members : sequence of n int
        The ranks of the ring.
    place : int
        Of this rank among them.

    Errors as `world.receive`. Source: Patarasuk and Yuan (2009).
    """
    n = len(members)
    if n == 1:
        return
    came = world.scratch(max(parts, key=len))
    for step in range(n - 1):
        out, into = parts[(place - step) % n], parts[(place - step - 1) % n]
        world.exchange(out, members[(place + 1) % n], came[: len(into)], members[(place - 1) % n])
        world.add(into, came[: len(into)])


def once_round(world, parts, members, place):
    """Go once round a ring of ranks, handing on what is whole: part (place + 1) % n at first. As `once_round_adding`.

    Source: Patarasuk and Yuan (2009).
    """
    n = len(members)
    for step in range(n - 1):
        out, into = parts[(place - step + 1) % n], parts[(place - step) % n]
        world.exchange(out, members[(place + 1) % n], into, members[(place - 1) % n])


def _parts(array, size):
    return [array[a:b] for a, b in pairwise(cuts(len(array), size))]


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
