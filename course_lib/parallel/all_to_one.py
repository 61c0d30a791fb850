"""All-reduce by one rank: rank 0 receives everything, adds, and sends everybody the sum.

Two steps of thought, and the slowest way there is for many ranks: all bytes go through rank 0, one after another. With
S bytes on each of n ranks, rank 0 receives (n - 1) S and sends as much.

Source: the field's custom ("parameter server"); W. Gropp, E. Lusk and A. Skjellum, "Using MPI", reduce and broadcast.
"""

from course_lib.parallel.traffic import Traffic


def all_reduce(world, array):
    """Leave the sum over all ranks in `array` (count,) of each, in place; added in the order of the ranks.

    Every rank gets the same bits: those of rank 0. Errors as `world.receive`. Source: the field's custom.
    """
    if world.rank:
        world.send(array, 0)
        world.receive(array, 0)
        return
    part = world.scratch(array)
    for source in range(1, world.size):
        world.receive(part, source)
        world.add(array, part)
    for to in range(1, world.size):
        world.send(array, to)


def traffic(rank, size, count, itemsize):
    """Return the Traffic of one rank for `count` numbers of `itemsize` bytes. No errors.

    Rank 0 sends n - 1 messages of S bytes, each other rank one: 2 (n - 1) messages and 2 (n - 1) S bytes in all.
    Source: the course's own.
    """
    messages = 1 if rank else size - 1
    return Traffic(messages, messages * count * itemsize)


def steps(size):
    """Return how many messages follow one after another, at the rank with the most: 2 (n - 1). No errors.

    Source: the course's own.
    """
    return 2 * (size - 1)
