"""Right values of the exercises of lesson 18, by the library where it has them.

Options are what the usual mistakes in `lesson18_mistakes` do otherwise.

Source: the course's own.
"""

import numpy as np

from course_lib.cluster import Cluster, Link, all_reduce_seconds
from course_lib.figures.reduce_steps import rounds


def my_rows(count, rank, size):
    """Return (first row, row behind the last one) of a rank; the first ranks have one row more."""
    lengths = [len(part) for part in np.array_split(np.arange(count), size)]
    return sum(lengths[:rank]), sum(lengths[: rank + 1])


def whole_gradient(gradients, rows):
    """Return the gradient of the whole batch from the ranks' means; who has no rows counts nothing."""
    gradients, rows = np.asarray(gradients, float), np.asarray(rows)
    return np.average(gradients[rows > 0], axis=0, weights=rows[rows > 0])


def ring_plan(rank, size):
    """Return (part to send, part to receive, whether it is added) of each step."""
    plan = []
    for messages in rounds("ring", size) if size > 1 else []:
        out = next(part for source, _, part, _ in messages if source == rank)
        into, adds = next((part, adds) for _, to, part, adds in messages if to == rank)
        plan.append((out, into, adds))
    return plan


def stuck(programs, waits=True):
    """Return the ranks that never end; waits: whether a send waits until it is received."""
    at, boxes = [0] * len(programs), {}

    def now(rank):
        return programs[rank][at[rank]] if at[rank] < len(programs[rank]) else (None, None)

    moved = True
    while moved:
        moved = False
        for rank in range(len(programs)):
            what, peer = now(rank)
            if what == "send" and not waits:
                boxes[rank, peer] = boxes.get((rank, peer), 0) + 1
                at[rank] += 1
                moved = True
            elif what == "receive" and not waits and boxes.get((peer, rank), 0):
                boxes[peer, rank] -= 1
                at[rank] += 1
                moved = True
            elif what == "receive" and waits and now(peer) == ("send", rank):
                at[rank] += 1
                at[peer] += 1
                moved = True
    return [rank for rank in range(len(programs)) if now(rank)[0] is not None]


def step(n, rows, row_seconds, fixed, nbytes, latency, rate):
    """Return the seconds of a step of n devices."""
    cluster = Cluster(n, per_host=n, inside=Link("link", latency, rate))
    return fixed + rows / n * row_seconds + all_reduce_seconds(cluster, nbytes, "ring")


def soonest(rows, row_seconds, fixed, nbytes, latency, rate, most, cost=step):
    """Return (devices, seconds) of the quickest step with at most `most` devices, the fewest of the best."""
    times = [cost(n, rows, row_seconds, fixed, nbytes, latency, rate) for n in range(1, most + 1)]
    best = int(np.argmin(times))
    return best + 1, float(times[best])


def pipeline(seconds, micro):
    """Return (seconds until the last micro-batch has left the last stage, share of all stages' time that is idle)."""
    ends = np.zeros(micro)  # of the stage before, for each micro-batch
    for one in seconds:
        free = 0.0
        for k in range(micro):
            free = max(free, ends[k]) + one
            ends[k] = free
    total = float(ends[-1])
    return total, 1 - micro * sum(seconds) / (len(seconds) * total)
