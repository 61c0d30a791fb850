"""All-reduce in two levels: in each host first, then between hosts, so that slow links carry little.

The devices of a host share out the sum of their arrays (reduce-scatter), so that each holds one part of it. Then the
devices with the same part, one a host, add up in a ring; at last each host gathers its parts. Between hosts go
2 (H - 1) / H S bytes a host, however many devices it has, and in 2 (H - 1) steps instead of 2 (n - 1).

Source: NVIDIA, "NCCL", and H. Mikami et al. (2018), "Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash"
(2D-torus all-reduce).
"""

from itertools import pairwise

from course_lib.parallel.ring import once_round, once_round_adding
from course_lib.parallel.traffic import Traffic, cuts


def all_reduce(world, array, per_host=8):
    """Leave the sum over all ranks in `array` (count,) of each, in place. Ranks are numbered host by host.

    ValueError unless per_host divides the number of ranks (or exceeds it); other errors as `world.receive`.
    Source: Mikami et al. (2018).
    """
    h = group(world.size, per_host)
    first, mine = world.rank - world.rank % h, world.rank % h
    parts = [array[a:b] for a, b in pairwise(cuts(len(array), h))]
    host = [first + k for k in range(h)]
    once_round_adding(world, parts, host, mine)
    own = parts[(mine + 1) % h]  # what the reduce-scatter left whole here
    same = list(range(mine, world.size, h))
    pieces = [own[a:b] for a, b in pairwise(cuts(len(own), len(same)))]
    place = world.rank // h
    once_round_adding(world, pieces, same, place)
    once_round(world, pieces, same, place)
    once_round(world, parts, host, mine)


def group(size, per_host):
    """Return how many ranks a host has; ValueError unless hosts are full. Source: the course's own."""
    h = min(per_host, size)
    if size % h:
        raise ValueError(f"{size} ranks on hosts of {h} leave a host with {size % h}; per_host must divide the ranks.")
    return h


def traffic(size, count, itemsize, per_host=8):
    """Return the Traffic of one rank if all parts are equal: h * H divides the count. ValueError as `all_reduce`.

    2 (h - 1) messages of S / h in the host, 2 (H - 1) messages of S / n between hosts. Source: the course's own.
    """
    h = group(size, per_host)
    hosts = size // h
    S = count * itemsize
    return Traffic(2 * (h - 1) + 2 * (hosts - 1), 2 * (h - 1) * S // h + 2 * (hosts - 1) * S // size)


def steps(size, per_host=8):
    """Return how many messages follow one after another: 2 (h - 1) + 2 (H - 1). ValueError as `all_reduce`.

    Source: the course's own.
    """
    h = group(size, per_host)
    return 2 * (h - 1) + 2 * (size // h - 1)
