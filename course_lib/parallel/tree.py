"""All-reduce by a tree: pairs add, then pairs of pairs, until rank 0 has the sum; back down the same tree.

As many messages as with all-to-one, 2 (n - 1), but many at once: after 2 log2(n) steps all is done. Each message is
still the whole array, and rank 0 receives and sends log2(n) S bytes.

Source: R. Thakur, R. Rabenseifner and W. Gropp (2005), "Optimization of Collective Communication Operations in MPICH",
binomial trees.
"""

from course_lib.parallel.traffic import Traffic


def all_reduce(world, array):
    """Leave the sum over all ranks in `array` (count,) of each, in place; added along the tree, always the same way.

    Every rank gets the same bits: those of rank 0. Errors as `world.receive`.
    Source: Thakur, Rabenseifner and Gropp (2005).
    """
    part, distance = world.scratch(array), 1
    while distance < world.size:
        if world.rank % (2 * distance):
            world.send(array, world.rank - distance)
            break  # this rank's part is on its way
        if world.rank + distance < world.size:
            world.receive(part, world.rank + distance)
            world.add(array, part)
        distance *= 2
    broadcast(world, array, 0)


def broadcast(world, array, root):
    """Leave rank `root`'s array (count,) in that of every rank, in place. Errors as `world.receive`.

    Source: Thakur, Rabenseifner and Gropp (2005).
    """
    place, distance = (world.rank - root) % world.size, 1  # as if the root were rank 0
    while distance < world.size:
        if place < distance and place + distance < world.size:
            world.send(array, (world.rank + distance) % world.size)
        elif distance <= place < 2 * distance:
            world.receive(array, (world.rank - distance) % world.size)
        distance *= 2


def traffic(rank, size, count, itemsize):
    """Return the Traffic of one rank for `count` numbers of `itemsize` bytes. No errors.

    One message up, but for rank 0, and one down to each rank that it hands the sum to: rank + 2^k < n for all
    2^k > rank. In all 2 (n - 1) messages of S bytes. Source: the course's own.
    """
    down = sum(1 for k in range(size.bit_length()) if rank < 2**k and rank + 2**k < size)
    messages = down + (rank > 0)
    return Traffic(messages, messages * count * itemsize)


def steps(size):
    """Return how many messages follow one after another: 2 ceil(log2(n)). No errors. Source: the course's own."""
    return 2 * (size - 1).bit_length()
