"""Usual mistakes in the exercises of lesson 18 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson18_values import (
    my_rows,
    pipeline,
    ring_plan,
    soonest,
    step,
    stuck,
    whole_gradient,
)


def _last_ones_more(count, rank, size):
    """The last ranks have one row more."""
    first, last = my_rows(count, size - 1 - rank, size)
    return count - last, count - first


def _rounded_up(count, rank, size):
    part = -(-count // size)
    return min(count, rank * part), min(count, rank * part + part)


ROWS = (
    Cause("The division rounds down, and the rows that are left over belong to nobody.",
          lambda count, rank, size: (rank * (count // size), (rank + 1) * (count // size))),
    Cause("All that is left over went to the last rank; its part would be nearly twice as large as the others'.",
          lambda count, rank, size: (rank * (count // size),
                                     count if rank == size - 1 else (rank + 1) * (count // size))),
    Cause("The last ranks have a row more; the first ones should.", _last_ones_more),
    Cause("The rows are spread evenly, but a row more belongs to the first ranks, and not to some in the middle.",
          lambda count, rank, size: (count * rank // size, count * (rank + 1) // size)),
    Cause("Each part is rounded up, so the last ranks have too little, or nothing.", _rounded_up),
    Cause("The second number is that of the last row; asked for is the one behind it, as in a slice.",
          lambda count, rank, size: (my_rows(count, rank, size)[0], my_rows(count, rank, size)[1] - 1)),
    Cause("The second number is how many rows there are; asked for is where they end.",
          lambda count, rank, size: (my_rows(count, rank, size)[0], int(np.diff(my_rows(count, rank, size))[0]))),
    Cause("Ranks are counted from 0: these are the rows of the next lower rank.",
          lambda count, rank, size: my_rows(count, rank - 1, size)),
)  # fmt: skip


def _mean_of_means(gradients, rows):
    return np.mean(gradients, axis=0)


def _of_numbers(gradients, rows, weights):
    """Return a sum with other weights, where a rank without rows has numbers that do not count."""
    rows = np.asarray(rows)
    some = rows > 0
    return np.asarray(weights(rows))[some] @ np.asarray(gradients)[some]


GRADIENTS = (
    Cause("0 times NaN is NaN: a rank without rows has a mean of nothing, and has to be left out.",
          lambda gradients, rows: np.asarray(rows) / np.sum(rows) @ np.asarray(gradients)),
    Cause("That is the mean of the means: a rank with few rows counts as much as one with many.", _mean_of_means),
    Cause("The gradients are added and not averaged.",
          lambda gradients, rows: _of_numbers(gradients, rows, lambda r: np.ones(len(r)))),
    Cause("Each gradient counts its rows, but the sum is not divided by the rows of the batch.",
          lambda gradients, rows: _of_numbers(gradients, rows, lambda r: r)),
    Cause("The weighted sum is divided by the number of ranks; divide it by the rows of the batch.",
          lambda gradients, rows: _of_numbers(gradients, rows, lambda r: r / len(r))),
    Cause("Whose rows are few counts more: the weight is the share of the rows, not its inverse.",
          lambda gradients, rows: _of_numbers(gradients, rows, _inverse)),
    Cause("The weights are those of another rank: the order was changed.",
          lambda gradients, rows: whole_gradient(gradients, np.asarray(rows)[::-1])),
)  # fmt: skip


def _inverse(rows):
    inverse = np.array([1 / r if r else 0.0 for r in rows])
    return inverse / inverse.sum()


def _plan(rank, size, scatter, gather, steps=None):
    """Return a plan by functions of the step; steps: how many there are in each half."""
    steps = size - 1 if steps is None else steps
    return [(*(p % size for p in scatter(s)), True) for s in range(steps)] + [
        (*(p % size for p in gather(s)), False) for s in range(steps)
    ]


PLANS = (
    Cause("These are the steps in which parts are added. The finished parts have to go round as well.",
          lambda rank, size: ring_plan(rank, size)[: size - 1]),
    Cause("In the second half a finished part comes: it takes the place of what is there, and nothing is added.",
          lambda rank, size: [(out, into, True) for out, into, _ in ring_plan(rank, size)]),
    Cause("After size - 1 steps the sums are complete: one step more adds something twice.",
          lambda rank, size: _plan(rank, size, lambda s: (rank - s, rank - s - 1), lambda s: (rank - s + 1, rank - s),
                                   size)),
    Cause("Parts are numbered 0 to size - 1: take the remainder, % size.",
          lambda rank, size: [(rank - s, rank - s - 1, True) for s in range(size - 1)]
          + [(rank - s + 1, rank - s, False) for s in range(size - 1)]),
    Cause("What is sent and what is received have changed places.",
          lambda rank, size: [(into, out, adds) for out, into, adds in ring_plan(rank, size)]),
    Cause("The second half begins with part `rank`; but the part that this rank has completed is rank + 1.",
          lambda rank, size: _plan(rank, size, lambda s: (rank - s, rank - s - 1), lambda s: (rank - s, rank - s - 1))),
    Cause("What comes from the left is the part before: parts go to the right, so the numbers fall from step to step.",
          lambda rank, size: _plan(rank, size, lambda s: (rank + s, rank + s + 1), lambda s: (rank + s - 1, rank + s))),
    Cause("The plan is the same for every rank: nobody sends what its neighbour expects. Begin with part `rank`.",
          lambda rank, size: ring_plan(0, size)),
)  # fmt: skip


def _first_operations(programs):
    """Only the first operation of each rank is looked at."""
    return stuck([program[:1] for program in programs])


def _in_a_circle(programs):
    """Only ranks that wait for each other in a circle, not those that wait for one of them or for an ended one."""
    left = _left_over(programs)
    waits = {rank: left[rank][1] for rank in stuck(programs)}
    found = []
    for rank in waits:
        seen, at = set(), waits[rank]
        while at in waits and at not in seen and at != rank:
            seen.add(at)
            at = waits[at]
        if at == rank:
            found.append(rank)
    return found


def _left_over(programs):
    """Return the operation at which each stuck rank stands: of all that it could have done, the first that is not."""
    found = {}
    for rank in stuck(programs):
        for length in range(len(programs[rank]) + 1):
            tried = [program[:length] if r == rank else program for r, program in enumerate(programs)]
            if rank in stuck(tried):
                found[rank] = programs[rank][length - 1]
                break
    return found


STUCK = (
    Cause("That is right if sends return at once. Here they wait until the message is taken.",
          lambda programs: stuck(programs, waits=False)),
    Cause("Only those in a circle are there. Who waits for one of them, or for a rank that has ended, is stuck, too.",
          _in_a_circle),
    Cause("Only the first operation of each rank was looked at; go on until nothing moves any more.",
          _first_operations),
    Cause("If one is stuck, not all are: leave out the ranks that come to their end.",
          lambda programs: list(range(len(programs))) if stuck(programs) else []),
    Cause("These are the ranks that come to their end; asked for are the others.",
          lambda programs: [rank for rank in range(len(programs)) if rank not in stuck(programs)]),
    Cause("That says whether there is one; asked for are the ranks.", lambda programs: bool(stuck(programs))),
    Cause("That is how many there are; asked for is which.", lambda programs: len(stuck(programs))),
    Cause("That is what each of them stands at; asked for are their numbers.",
          lambda programs: [_left_over(programs)[rank] for rank in stuck(programs)]),
)  # fmt: skip


def _soonest(cost):
    return lambda *args: soonest(*args, cost=cost)


def _message(n, nbytes, latency, rate, part=None):
    return latency + nbytes / (n if part is None else part) / rate


KNEES = (
    Cause("Every message is as large as the whole array; in a ring it is a part, the n-th of it.",
          _soonest(lambda n, rows, t, f, S, a, b: f + rows / n * t + 2 * (n - 1) * _message(n, S, a, b, 1))),
    Cause("Only half of the steps were counted: sums go round, and then finished parts go round again.",
          _soonest(lambda n, rows, t, f, S, a, b: f + rows / n * t + (n - 1) * _message(n, S, a, b))),
    Cause("One device alone has nobody to send to: there are 2 (n - 1) messages, not 2 n.",
          _soonest(lambda n, rows, t, f, S, a, b: f + rows / n * t + 2 * n * _message(n, S, a, b))),
    Cause("The latency was counted once; each of the messages has its own.",
          _soonest(lambda n, rows, t, f, S, a, b: f + rows / n * t + (a if n > 1 else 0) + 2 * (n - 1) * S / n / b)),
    Cause("The latency was left out.",
          _soonest(lambda n, rows, t, f, S, a, b: f + rows / n * t + 2 * (n - 1) * S / n / b)),
    Cause("What each device does in full, `fixed`, was divided among them.",
          _soonest(lambda n, rows, t, f, S, a, b: (f + rows * t) / n + 2 * (n - 1) * _message(n, S, a, b))),
    Cause("What each device does in full, `fixed`, was left out.",
          _soonest(lambda n, rows, t, f, S, a, b: rows / n * t + 2 * (n - 1) * _message(n, S, a, b))),
    Cause("That is the step with all devices. The best one may have fewer.", lambda *args: _all_devices(*args)),
    Cause("The sum was left out, so that more devices always seem better.",
          lambda rows, t, f, S, a, b, most: (most, f + rows / most * t)),
)  # fmt: skip


def _all_devices(rows, row_seconds, fixed, nbytes, latency, rate, most):
    def only_most(n, *args):
        return step(n, *args) if n == most else float("inf")

    return soonest(rows, row_seconds, fixed, nbytes, latency, rate, most, cost=only_most)


def _with_total(total):
    """Return wrong(seconds, micro): another total, and the idle share that follows from it."""

    def wrong(seconds, micro):
        took = float(total(seconds, micro))
        return took, 1 - micro * sum(seconds) / (len(seconds) * took)

    return wrong


def _other_idle(share):
    """Return wrong(seconds, micro): the right total, and another share."""
    return lambda seconds, micro: (pipeline(seconds, micro)[0], share(seconds, micro))


PIPELINES = (
    Cause("Nothing overlaps: while a stage works on one micro-batch, the stage before it can begin the next one.",
          _with_total(lambda seconds, micro: micro * sum(seconds))),
    Cause("Every step was taken as long as the slowest stage. The first micro-batch goes at each stage's own pace.",
          _with_total(lambda seconds, micro: (micro + len(seconds) - 1) * max(seconds))),
    Cause("A stage begins as soon as a micro-batch comes, though it may still be busy with the one before.",
          _with_total(lambda seconds, micro: sum(seconds) + (micro - 1) * seconds[0])),
    Cause("The stages before the last one have to be waited for, too: the pipeline must fill.",
          _with_total(lambda seconds, micro: micro * max(seconds))),
    Cause("That is the share in which stages work; asked for is the idle one.",
          _other_idle(lambda seconds, micro: 1 - pipeline(seconds, micro)[1])),
    Cause("That is the formula for equal stages, (p - 1) / (m + p - 1). These take different times.",
          _other_idle(lambda seconds, micro: (len(seconds) - 1) / (micro + len(seconds) - 1))),
    Cause("The idle time is compared with the work; asked for is its share of all the time of all stages.",
          _other_idle(lambda seconds, micro: len(seconds) * pipeline(seconds, micro)[0] / (micro * sum(seconds)) - 1)),
    Cause("That is the idle time in seconds; asked for is its share of all the time of all stages.",
          _other_idle(lambda seconds, micro: len(seconds) * pipeline(seconds, micro)[0] - micro * sum(seconds))),
)  # fmt: skip
