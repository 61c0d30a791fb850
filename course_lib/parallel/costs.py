"""What a sum over all ranks costs in time: latency for each message, and bytes at the rate of a link.

A message of b bytes takes alpha + b / beta: the latency alpha passes before the first byte arrives, then beta bytes
come in a second. What follows one after another adds up, what goes at the same time counts once. Adding the numbers is
left out: it is done at the speed of memory, while links are slower.

Source: R. Hockney (1994), "The communication challenge for MPP" (alpha and beta); Patarasuk and Yuan (2009) for rings.
"""

from dataclasses import dataclass
from itertools import pairwise

from course_lib.parallel import all_to_one, tree
from course_lib.validate import require_choice, require_count, require_positive

WAYS = ("ring", "tree", "all_to_one")


@dataclass(frozen=True)
class Link:
    """A link between two ranks: `latency`, seconds a message >= 0, and `rate`, bytes a second > 0, in each direction.

    TypeError or ValueError if they are not. Source: Hockney (1994).
    """

    latency: float
    rate: float

    def __post_init__(self):
        require_positive("latency", self.latency, zero=True)
        require_positive("rate", self.rate)

    def seconds(self, nbytes):
        """Return the seconds of one message of `nbytes` bytes. No errors."""
        return self.latency + nbytes / self.rate


def sum_seconds(by, size, nbytes, link):
    """Return the seconds of an all-reduce of `nbytes` bytes over `size` ranks.

    Parameters
    ----------
    by : "ring", "tree" or "all_to_one"
    size, nbytes : int >= 1
    link : Link
        Of each rank to each other one; a rank sends one message at a time, and may receive one meanwhile.

    Raises
    ------
    TypeError, ValueError
        If there is no such way, or the counts are none.

    Source: Hockney (1994); Patarasuk and Yuan (2009).
    """
    require_choice("by", by, WAYS)
    size, nbytes = require_count("size", size), require_count("nbytes", nbytes)
    if by == "ring":
        return 2 * (size - 1) * link.seconds(nbytes / size)
    return (tree if by == "tree" else all_to_one).steps(size) * link.seconds(nbytes)


def between(points, rows):
    """Return the seconds of `rows` rows, from `points`, {rows: seconds} as measured; straight lines in between.

    Fewer rows than were measured take as long as the fewest; more than the most are refused with a ValueError.
    Source: the course's own.
    """
    known = sorted(points.items())
    if rows > known[-1][0]:
        raise ValueError(f"{rows:g} rows; at most {known[-1][0]:,} were measured.")
    if rows <= known[0][0]:
        return known[0][1]
    for (few, least), (many, most) in pairwise(known):
        if rows <= many:
            return least + (most - least) * (rows - few) / (many - few)
    raise AssertionError("the points are sorted and hold rows")


def step_seconds(points, batch, size, nbytes, link, by="ring"):
    """Return (compute, exchange) of a training step that `size` ranks share, in seconds, one after the other.

    Parameters
    ----------
    points : dict of int to float
        Rows -> seconds of a step on one device, as measured.
    batch : int >= 1
        Rows of all ranks together; each has batch / size.
    size, nbytes, link, by
        As `sum_seconds`; nbytes are those of the gradients.

    Errors as `sum_seconds` and `between`. Source: the course's own.
    """
    size = require_count("size", size)
    return between(points, require_count("batch", batch) / size), sum_seconds(by, size, nbytes, link)
