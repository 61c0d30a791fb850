"""Right values of the exercises of lesson 19, by the library where it has them.

Options are what the usual mistakes in `lesson19_mistakes` do otherwise.

Source: the course's own.
"""

import numpy as np

from course_lib.opencl.operations import round_up


def sizes(rows, columns, group):
    """Return (global size (x, y), CUDA's grid (x, y), work-items without a number)."""
    x, y = round_up(columns, group[0]), round_up(rows, group[1])
    return (x, y), (x // group[0], y // group[1]), x * y - rows * columns


def largest_tile(group, local_bytes, arrays):
    """Return the largest power of two T with T * T work-items and `arrays` tiles of T x T float32."""
    tile = 1
    while (2 * tile) ** 2 <= group and 4 * arrays * (2 * tile) ** 2 <= local_bytes:
        tile *= 2
    return tile


def too_early(reads, width):
    """Return the work-items that read a place which is written in a later turn of the loop."""
    reads = np.asarray(reads)
    return np.flatnonzero(reads // width > np.arange(reads.size) // width)


def ends(seconds, after, in_order):
    """Return when each command ends."""
    found = []
    for i, took in enumerate(seconds):
        start = max([found[j] for j in after[i]], default=0.0)
        if in_order and i:
            start = max(start, found[i - 1])
        found.append(start + took)
    return np.array(found, dtype=float)


def waits_for(after):
    """Return for each command the set of all that it waits for, directly or through others."""
    found = []
    for direct in after:
        found.append(set(direct).union(*(found[j] for j in direct)))
    return found


def missing(reads, writes, after, known=waits_for):
    """Return the pairs (i, j), i < j, that touch one buffer, one of them writing, where j does not wait for i."""
    waits = known(after)
    pairs = []
    for j in range(len(after)):
        for i in range(j):
            touched = set(writes[i]) & (set(reads[j]) | set(writes[j])) or set(reads[i]) & set(writes[j])
            if touched and i not in waits[j]:
                pairs.append((i, j))
    return sorted(pairs)


def job(n, images, seconds, fixed):
    """Return the seconds until both are done if the first device gets n images."""
    parts = zip((n, images - n), seconds, fixed, strict=True)
    return max(f + t * k if k else 0.0 for k, t, f in parts)


def cut(images, seconds, fixed, grain, cost=job):
    """Return (images of the first device, seconds of the job), the fewest of the best."""
    best = min(range(0, images + 1, grain), key=lambda n: (cost(n, images, seconds, fixed), n))
    return best, cost(best, images, seconds, fixed)
