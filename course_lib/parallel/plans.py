"""An all-reduce that follows a plan: what is sent and received in each step, as exercise 18.3 writes it down.

Source: the course's own.
"""

from itertools import pairwise

from course_lib.parallel.traffic import cuts
from course_lib.validate import require_count


def follow(world, array, plan):
    """Do what a plan says with `array` (count,), in place, in a ring; all ranks must call it.

    Parameters
    ----------
    world : World
    array : (count,) array
        Cut into as many parts as there are ranks.
    plan : list of (int, int, bool)
        Of each step: the part that goes to the right neighbour, the part that comes from the left one, and whether what
        comes is added to what is there, or takes its place.

    Raises
    ------
    ValueError
        If the plan names a part that does not exist.
    RankError
        As `world.exchange`: plans of different lengths wait for ever, and parts of other sizes do not fit.

    Source: the course's own.
    """
    parts = [array[a:b] for a, b in pairwise(cuts(len(array), world.size))]
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    for number, (out, into, adds) in enumerate(plan):
        for part in (out, into):
            if require_count("part", part, minimum=0) >= world.size:
                raise ValueError(f"step {number} names part {part}; there are parts 0 to {world.size - 1}.")
        came = world.scratch(parts[into])
        world.exchange(parts[out], right, came, left)
        if adds:
            world.add(parts[into], came)
        else:
            parts[into][...] = came
