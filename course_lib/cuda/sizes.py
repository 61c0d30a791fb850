"""Sizes at which kernels go wrong: one element, one less and one more than whole tiles, primes, sides that differ.

Source: the course's own. A kernel that is right for one size that fills its grid is right for few others.
"""

import itertools
import math

from course_lib.cuda.launch_checks import is_whole

MOST_AXES = 3


def sizes_to_try(axes=1, tile=32):
    """Return sizes around the multiples of a tile: ints for one axis, tuples for two or three; the smallest first.

    Parameters
    ----------
    axes : int, 1 to 3
    tile : int >= 2, or a tuple of them, one for each axis
        Threads of a block, or elements of a tile, along an axis.

    Raises
    ------
    TypeError, ValueError
        If they are not.

    Source: the course's own.
    """
    if not is_whole(axes) or not 1 <= axes <= MOST_AXES:
        raise ValueError(f"axes is {axes!r}; it must be 1, 2 or 3.")
    tiles = tile if type(tile) is tuple else (tile,) * axes
    if len(tiles) != axes or not all(is_whole(t) for t in tiles):
        raise TypeError(f"tile is {tile!r}; it must be a whole number, or {axes} of them.")
    if any(t < 2 for t in tiles):
        raise ValueError(f"tile is {tile!r}; it must be >= 2.")
    if axes == 1:
        t = tiles[0]
        around = {k * t + d for k in (1, 2, 3) for d in (-1, 0, 1)}
        return sorted({1, 2, 3} | around | {prime_above(3 * t + 1)})
    found = {(1,) * axes, (2, 3, 1)[:axes], tiles, tuple(2 * t for t in tiles)}
    for way in itertools.product((-1, 0, 1), repeat=axes):
        found.add(tuple(t + d for t, d in zip(tiles, way, strict=True)))
    for axis in range(axes):  # one long side at a time
        found.add(tuple(2 * t + 1 if k == axis else t for k, t in enumerate(tiles)))
        found.add(tuple(prime_above(2 * t) if k == axis else 1 for k, t in enumerate(tiles)))
    found.add(tuple(prime_above(t * (k + 1)) for k, t in enumerate(tiles)))
    return sorted(found, key=lambda size: (math.prod(size), size))


def prime_above(n):
    """Return the smallest prime above n. No errors. Source: the course's own."""
    n = max(n, 1) + 1
    while any(n % k == 0 for k in range(2, math.isqrt(n) + 1)):
        n += 1
    return n
