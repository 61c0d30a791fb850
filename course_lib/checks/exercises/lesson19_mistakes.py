"""Usual mistakes in the exercises of lesson 19 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson19_values import cut, ends, job, largest_tile, missing, sizes, too_early


def _changed(place, change):
    """Return wrong(rows, columns, group): the right three values with one changed."""

    def wrong(rows, columns, group):
        found = list(sizes(rows, columns, group))
        found[place] = change(rows, columns, group, found[place])
        return tuple(found)

    return wrong


SIZES = (
    Cause("x and y have changed places: x counts columns, and comes first.",
          lambda rows, columns, group: sizes(columns, rows, group)),
    Cause("The global size counts work-items; that is the number of work-groups.",
          _changed(0, lambda rows, columns, group, right: sizes(rows, columns, group)[1])),
    Cause("The grid counts blocks; that is the number of threads.",
          _changed(1, lambda rows, columns, group, right: sizes(rows, columns, group)[0])),
    Cause("The division rounds down: the last rows and columns have no work-group. Round up.",
          lambda rows, columns, group: (
              (columns // group[0] * group[0], rows // group[1] * group[1]), (columns // group[0], rows // group[1]),
              (columns // group[0] * group[0]) * (rows // group[1] * group[1]) - rows * columns)),
    Cause("The global size is that of the array; it must be a multiple of the local size.",
          _changed(0, lambda rows, columns, group, right: (columns, rows))),
    Cause("A group is always added; where the size divides, none is missing.",
          lambda rows, columns, group: _one_more(rows, columns, group)),
    Cause("That is the number of all work-items. Those that have a number must be taken off.",
          _changed(2, lambda rows, columns, group, right: right + rows * columns)),
)  # fmt: skip


def _one_more(rows, columns, group):
    grid = columns // group[0] + 1, rows // group[1] + 1
    size = grid[0] * group[0], grid[1] * group[1]
    return size, grid, size[0] * size[1] - rows * columns


def _tile(fits):
    """Return the largest power of two that `fits`."""
    tile = 1
    while fits(2 * tile):
        tile *= 2
    return tile


TILES = (
    Cause("The number of work-items in a group was not looked at: T x T may be too many for the device.",
          lambda group, local_bytes, arrays: _tile(lambda t: 4 * arrays * t * t <= local_bytes)),
    Cause("Local memory was not looked at: the tiles may not fit.",
          lambda group, local_bytes, arrays: _tile(lambda t: t * t <= group)),
    Cause("Only one tile was counted; the kernel keeps several in local memory.",
          lambda group, local_bytes, arrays: largest_tile(group, local_bytes, 1)),
    Cause("A float32 has four bytes.",
          lambda group, local_bytes, arrays: _tile(lambda t: t * t <= group and arrays * t * t <= local_bytes)),
    Cause("T is taken for the number of work-items; a group has T x T.",
          lambda group, local_bytes, arrays: _tile(lambda t: t <= group and 4 * arrays * t * t <= local_bytes)),
    Cause("What just fits is allowed, too: at most, not less than.",
          lambda group, local_bytes, arrays: _tile(lambda t: t * t < group and 4 * arrays * t * t < local_bytes)),
    Cause("That is one power of two too far: it does not fit any more.",
          lambda group, local_bytes, arrays: 2 * largest_tile(group, local_bytes, arrays)),
)  # fmt: skip

EARLY = (
    Cause("The width was not looked at: work-items of the same turn all write before one of them reads.",
          lambda reads, width: too_early(reads, 1)),
    Cause("Those that read what was written in an earlier turn are fine; the later turns are the trouble.",
          lambda reads, width: np.flatnonzero(np.asarray(reads) // width < np.arange(len(reads)) // width)),
    Cause("A place of the same turn has been written when it is read.",
          lambda reads, width: np.flatnonzero(np.asarray(reads) // width >= np.arange(len(reads)) // width)),
    Cause("These are the places; asked for are the work-items that read them.",
          lambda reads, width: np.asarray(reads)[too_early(reads, width)]),
    Cause("That says for each work-item whether it is too early; asked for are their numbers.",
          lambda reads, width: np.isin(np.arange(len(reads)), too_early(reads, width))),
    Cause("That is how many there are; asked for is which.", lambda reads, width: len(too_early(reads, width))),
    Cause("A turn begins at a multiple of the width; i + width is not the end of i's turn.",
          lambda reads, width: np.flatnonzero(np.asarray(reads) >= np.arange(len(reads)) + width)),
)  # fmt: skip


def _starts(seconds, after, in_order):
    return ends(seconds, after, in_order) - np.asarray(seconds, float)


def _last_named(seconds, after, in_order):
    """Each command waits only for the last one that it names."""
    return ends(seconds, [direct[-1:] for direct in after], in_order)


def _added(seconds, after, in_order):
    """The ends of what is waited for are added up."""
    found = []
    for i, took in enumerate(seconds):
        start = sum(found[j] for j in after[i])
        if in_order and i:
            start = max(start, found[i - 1])
        found.append(start + took)
    return np.array(found, float)


ENDS = (
    Cause("These are the starts; asked for is when each has ended.", _starts),
    Cause("In order, a command also waits for the one ahead of it.",
          lambda seconds, after, in_order: ends(seconds, after, False)),
    Cause("Out of order, a command waits only for what it names.",
          lambda seconds, after, in_order: ends(seconds, after, True)),
    Cause("Nobody waits for what was named.",
          lambda seconds, after, in_order: ends(seconds, [[]] * len(seconds), in_order)),
    Cause("A command waits for all that it names, so until the last of them has ended.", _last_named),
    Cause("What is waited for runs side by side: take the latest end, not the sum.", _added),
    Cause("A command waits for the first of those that it names; it must wait for the latest.",
          lambda seconds, after, in_order: _earliest(seconds, after, in_order)),
    Cause("That is when the last one ends; asked for is the end of each.",
          lambda seconds, after, in_order: float(ends(seconds, after, in_order).max())),
)  # fmt: skip


def _earliest(seconds, after, in_order):
    found = []
    for i, took in enumerate(seconds):
        start = min([found[j] for j in after[i]], default=0.0)
        if in_order and i:
            start = max(start, found[i - 1])
        found.append(start + took)
    return np.array(found, float)


def _only(first, second):
    """Return wrong(reads, writes, after): pairs found only where `first` of i meets `second` of j."""

    def wrong(reads, writes, after):
        of = {"reads": reads, "writes": writes}
        ways = list(zip(first, second, strict=True))
        every = missing(reads, writes, after)
        return [(i, j) for i, j in every if any(set(of[a][i]) & set(of[b][j]) for a, b in ways)]

    return wrong


MISSING = (
    Cause("Only what is named directly was looked at: who waits for B, which waits for A, waits for A as well.",
          lambda reads, writes, after: missing(reads, writes, after, known=lambda a: [set(d) for d in a])),
    Cause("A command that writes what an earlier one still reads must wait for it, too.",
          _only(("writes", "writes"), ("reads", "writes"))),
    Cause("Two commands that write the same buffer must not run at the same time either.",
          _only(("writes", "reads"), ("reads", "writes"))),
    Cause("Only a later command that reads what an earlier one writes was looked at. There are two more ways to meet.",
          _only(("writes",), ("reads",))),
    Cause("Two commands that only read the same buffer do not disturb each other.",
          lambda reads, writes, after: _all_meetings(reads, writes, after)),
    Cause("Those that wait already are no mistakes; leave them out.",
          lambda reads, writes, after: missing(reads, writes, [[]] * len(after))),
    Cause("The earlier command stands first in a pair.",
          lambda reads, writes, after: sorted((j, i) for i, j in missing(reads, writes, after))),
)  # fmt: skip


def _all_meetings(reads, writes, after):
    touched = [set(r) | set(w) for r, w in zip(reads, writes, strict=True)]
    return missing(touched, touched, after)


def _paid_always(n, images, seconds, fixed):
    return max(f + t * k for k, t, f in zip((n, images - n), seconds, fixed, strict=True))


def _no_fixed(n, images, seconds, fixed):
    return job(n, images, seconds, (0.0, 0.0))


def _by_formula(images, seconds, fixed, grain):
    """Where both end together, rounded to whole pieces."""
    n = (fixed[1] + seconds[1] * images - fixed[0]) / (seconds[0] + seconds[1])
    n = min(images, max(0, round(n / grain) * grain))
    return n, job(n, images, seconds, fixed)


CUT = (
    Cause("All of it went to the faster device. Were the times added up? Both work at once: the slower decides.",
          lambda images, seconds, fixed, grain: cut(images, seconds, fixed, grain, cost=_sum)),
    Cause("What a device needs before it begins was left out.",
          lambda images, seconds, fixed, grain: cut(images, seconds, fixed, grain, cost=_no_fixed)),
    Cause("A device without images needs nothing, not even its fixed time.",
          lambda images, seconds, fixed, grain: cut(images, seconds, fixed, grain, cost=_paid_always)),
    Cause("The grain was left out: shares come in multiples of it.",
          lambda images, seconds, fixed, grain: cut(images, seconds, fixed, 1)),
    Cause("The job ends when the slower part does, not when the faster one does.",
          lambda images, seconds, fixed, grain: cut(images, seconds, fixed, grain, cost=_faster)),
    Cause("That is the second device's part; asked for is the first one's.",
          lambda images, seconds, fixed, grain: _other(images, seconds, fixed, grain)),
    Cause("The nearest whole piece is not always the best one: try those on both sides.", _by_formula),
)  # fmt: skip


def _sum(n, images, seconds, fixed):
    return sum(f + t * k if k else 0.0 for k, t, f in zip((n, images - n), seconds, fixed, strict=True))


def _faster(n, images, seconds, fixed):
    return min(f + t * k if k else 0.0 for k, t, f in zip((n, images - n), seconds, fixed, strict=True))


def _other(images, seconds, fixed, grain):
    n, best = cut(images, seconds, fixed, grain)
    return images - n, best
