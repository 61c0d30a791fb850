"""The smallest padding of a shared array that takes the bank conflicts of its accesses away.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Shared Memory and Memory Banks"; Harris, "An Efficient Matrix
Transpose in CUDA C/C++". What a shape costs is counted, with `traffic`, from the addresses that the executor recorded.
"""

import itertools
import math

import numpy as np

from course_lib.simt.lanes import WARP
from course_lib.simt.traffic import WORD, shared_traffic

MOST = 8
"""Elements that are added to an axis at the most."""


def base_of(access):
    """Return the address of an array's first element: shared arrays lie row by row."""
    return int(access.address[0]) - int(access.element[0]) * access.itemsize


def shape_in(access, itemsize):
    """Return the shape of an access's array in elements of `itemsize` bytes; a wide access counts larger ones."""
    return (*access.shape[:-1], access.shape[-1] * (access.itemsize // itemsize))


def conflicts(access, strides, swizzle=0):
    """Return (warps' requests, bank conflicts) of a recorded access, if its array had `strides` (bytes, one an axis).

    With `swizzle`, an array of two axes would have the element [row, column] at [row, column ^ row % swizzle].

    Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
    """
    index = np.unravel_index(access.element, access.shape)
    if swizzle:
        index = index[0], index[1] ^ index[0] % swizzle
    address = base_of(access) + sum(i * s for i, s in zip(index, strides, strict=True))
    size = access.itemsize
    base = int(address.min()) % size
    warp, lane = access.thread // WARP, access.thread % WARP
    requests, wavefronts = shared_traffic(warp, lane, (address - base) // size, base, 0, size)
    return requests, max(0, wavefronts - requests * max(1, size // WORD))


def cost(accesses, weights, itemsize, shape, order=None):
    """Return the bank conflicts of accesses to an array of `shape`, each weighted, if its axes lay in this order.

    `order` names the axes from the outermost on, as numpy.transpose does; the elements have `itemsize` bytes.

    Source: the course's own.
    """
    order, strides, size = order or range(len(shape)), [0] * len(shape), itemsize
    for axis in reversed(order):
        strides[axis], size = size, size * shape[axis]
    total = 0.0
    for access, weight in zip(accesses, weights, strict=True):
        wide = access.itemsize // itemsize
        requests, extra = conflicts(access, [*strides[:-1], strides[-1] * wide])
        total += weight * extra / requests
    return total


def swizzled_cost(accesses, weights, itemsize, shape):
    """Return the bank conflicts with column ^ row % columns for a column; inf where an array does not allow that.

    It takes two axes, the last of which is a power of two, and accesses of single elements.

    Source: NVIDIA, CUTLASS, "Efficient GEMM in CUDA" (shared memory with a permuted layout).
    """
    single = all(a.itemsize == itemsize for a in accesses)
    if len(shape) != 2 or shape[1] & (shape[1] - 1) or not single:
        return math.inf
    strides = (shape[1] * itemsize, itemsize)
    counts = [conflicts(a, strides, shape[1]) for a in accesses]
    return sum(w * extra / requests for w, (requests, extra) in zip(weights, counts, strict=True))


def best_shape(accesses, weights, itemsize, shape, room=math.inf):
    """Return (shape, conflicts left): the smallest padded shape of an array with the fewest bank conflicts.

    Parameters
    ----------
    accesses : list of Access
        Of one array of `shape`, with elements of `itemsize` bytes.
    weights : list of float
        How often each happens.
    room : float
        Bytes that the array may have.

    Returns
    -------
    tuple
        The shape itself where no padding of the last two axes by up to 8 elements has fewer. The first axis is never
        padded: its size moves nothing.

    Source: Harris, "An Efficient Matrix Transpose in CUDA C/C++".
    """
    step = math.lcm(*(a.itemsize // itemsize for a in accesses))  # wide accesses begin where they may
    few = min(2, len(shape) - 1)  # axes that are padded
    pads = [pad for pad in itertools.product(range(MOST + 1), repeat=few) if sum(pad) <= MOST]
    padded = [(*shape[: len(shape) - few], *map(sum, zip(shape[len(shape) - few :], pad, strict=True))) for pad in pads]
    best, least = shape, cost(accesses, weights, itemsize, shape)
    for other in sorted(padded, key=math.prod):
        if other[-1] % step or math.prod(other) * itemsize > room or not least:
            continue
        now = cost(accesses, weights, itemsize, other)
        if now < least:
            best, least = other, now
    return best, least


def best_order(accesses, weights, itemsize, shape):
    """Return the order of axes without any bank conflict in which one axis has come to the end, or None; see `cost`.

    Source: the course's own.
    """
    if any(a.itemsize != itemsize for a in accesses):
        return None
    axes = range(len(shape))
    orders = [(*(a for a in axes if a != last), last) for last in axes[:-1]]
    return next((o for o in orders if not cost(accesses, weights, itemsize, shape, o)), None)


def distance(access):
    """Return how many elements lie between those of neighbouring threads, in most pairs of them; 0 if in no such.

    Source: the course's own.
    """
    pairs = np.flatnonzero(np.diff(access.thread) == 1)
    apart = np.diff(access.element)[pairs]
    values, times = np.unique(apart, return_counts=True)
    if not times.size or 2 * times.max() <= apart.size:
        return 0
    return int(values[times.argmax()])
