"""How the kernels of lesson 16 are launched, and what requests and launches must fulfil; no right value is computed.

Students get this module.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.differences import Difference
from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output
from course_lib.streams import RequestError, loading_ahead, read_compute_write, simulate

READ, COMPUTE, WRITE = 10, 12, 8
"""Microseconds of the stages of a piece, in exercises 16.3 and 16.4."""

GATHER, COPY, TRAIN = 6, 4, 20
"""And of a batch, in 16.5."""

ROOM, BATCHES = 3, 2
"""Slots on the card in 16.4; for batches on the host and on the card in 16.5."""

THREADS, WARP = 64, 32

KINDS = ("product", "sum", "map")
"""Kinds of operations in exercise 16.7."""


def overlap_problem(value, pieces, slots):
    """Return the first `Difference` of requests from what exercise 16.3 asks for, or None.

    No errors, whatever the value is. Source: the course's own.
    """
    job = read_compute_write(READ, COMPUTE, WRITE, slots=slots)
    most = pieces * (READ + COMPUTE) + WRITE  # with one place only the write has company
    if slots > 1:
        most = READ + COMPUTE + WRITE + (pieces - 1) * COMPUTE
    return request_problem(value, job, pieces, most)


def flow_problem(value, pieces):
    """Return the first `Difference` of requests from what exercise 16.4 asks for, or None.

    No errors, whatever the value is. Source: the course's own.
    """
    job = read_compute_write(READ, COMPUTE, WRITE, slots=ROOM)
    return request_problem(value, job, pieces, READ + COMPUTE + WRITE + (pieces - 1) * COMPUTE)


def ahead_problem(value, batches):
    """Return the first `Difference` of requests from what exercise 16.5 asks for, or None.

    No errors, whatever the value is. Source: the course's own.
    """
    job = loading_ahead(GATHER, COPY, TRAIN, slots=BATCHES)
    return request_problem(value, job, batches, GATHER + COPY + batches * TRAIN)


def request_problem(value, job, pieces, most):
    """Return the first `Difference` of requests from a job that is whole, safe and quick, or None.

    Parameters
    ----------
    value : anything
        Right is a list of requests, see `streams.requests`.
    job : Job
    pieces : int
    most : float
        Microseconds that the job may take.

    No errors, whatever the value is. Source: the course's own.
    """
    if isinstance(value, list | tuple) and len(value) > 40 * pieces + 40:
        return Difference("far too many requests", f"there are {len(value):,} requests for {pieces} pieces.")
    try:
        run = simulate(job, value)
    except RequestError as error:
        return Difference("a request that no host can make", str(error))
    done = {(span.stage, span.piece) for span in run.spans}
    for piece in range(pieces):
        for stage in job.stages:
            if (stage.name, piece) not in done:
                detail = f"nobody asks for {stage.name} {piece}; there are {pieces} pieces, 0 to {pieces - 1}."
                return Difference("a piece that misses a stage", detail)
    if len(done) > len(job.stages) * pieces:
        stage, piece = next(one for one in sorted(done) if one[1] >= pieces)
        return Difference("a piece that is not there", f"{stage} {piece} is asked for; there are {pieces} pieces.")
    if run.races:
        return Difference("a race", f"{run.races[0]}.", _remedy(run))
    if run.end > most + 1e-9:
        busy = ", ".join(f"{name} {share:.0%}" for name, share in run.busy.items())
        detail = f"the numbers are right, but it takes {run.end:g} µs, and {most:g} are possible. Busy: {busy}."
        return Difference("a job that takes too long", detail, " Who waits for something that it does not need?")
    return None


def _remedy(run):
    race = run.races[0]
    if run.idle_waits:
        event = run.idle_waits[0]
        return f" A wait for {event!r} stands before anybody has recorded it, and such a wait waits for nothing."
    if race.first.stage == race.second.stage:
        return ""
    who = "The host" if race.second.stream is None else f"The stream {race.second.stream!r}"
    return (
        f" {who} must wait for an event that is recorded behind {race.first.name}, before it does {race.second.name}."
    )


def fusion_problem(value, operations, most):
    """Return the first `Difference` of launches from what exercise 16.7 asks for, or None.

    Parameters
    ----------
    value : anything
        Right is a list of lists of names.
    operations : list of (name, kind, shape, inputs)
    most : int
        Launches that there may be.

    No errors, whatever the value is. Source: the course's own.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(launch, list | tuple) for launch in value):
        hint = " Is there a return?" * (value is None)
        return Difference("no list of launches", "the result must be a list of launches, each a list of names.", hint)
    facts = {name: (kind, tuple(shape), inputs) for name, kind, shape, inputs in operations}
    done = set()
    for number, launch in enumerate(value):
        if not launch:
            return Difference("an empty launch", f"launch {number} has no operation.")
        for place, name in enumerate(launch):
            if not isinstance(name, str) or name not in facts:
                detail = f"launch {number} has {name!r:.60}, which is none of the step's operations."
                return Difference("an unknown operation", detail)
            kind, shape, inputs = facts[name]
            if name in done:
                return Difference("an operation that is done twice", f"{name} is in launch {number} once more.")
            if place and kind != "map":
                detail = f"launch {number} has {name} behind {launch[0]}; a {kind} must be the first of its launch."
                return Difference("a product or a sum that is not the first of its launch", detail)
            if place and shape != facts[launch[0]][1]:
                detail = f"launch {number}: {name} is {shape} and {launch[0]} is {facts[launch[0]][1]}."
                return Difference("a map of another shape than its launch", detail)
            if missing := [each for each in inputs if each not in done]:
                detail = f"launch {number} has {name}, which needs {missing[0]}, and that is not there yet."
                return Difference("an operation before what it needs", detail)
            done.add(name)
    if left := [name for name in facts if name not in done]:
        return Difference("an operation that is missing", f"{left[0]} is in no launch.")
    if len(value) > most:
        return Difference("too many launches", f"these are {len(value)} launches; {most} are enough.")
    return None


def tally(kernel, losses, scores, labels):
    """Launch a kernel for one batch after another and return (2,) totals, which begin with 0.

    losses (N, B), scores (N, B, C), labels (N, B) of N batches. Errors as the kernel's. Source: the course's own.
    """
    totals = output(2, begins=0)
    for batch in range(losses.shape[0]):
        rows = losses.shape[1]
        kernel[up(rows, THREADS), THREADS](losses[batch], scores[batch], labels[batch], totals)
    return totals


def update(kernel, grads, starts, decays, lr, momentum):
    """Launch a kernel for two steps and return (w, v), each (n,): w begins with 1, v with 0.

    grads (2, n), of each step; starts (P + 1,), decays (P,). Errors as the kernel's. Source: the course's own.
    """
    w, v = output(grads.shape[1], begins=1), output(grads.shape[1], begins=0)
    for grad in grads:
        kernel[up(grad.size, THREADS), THREADS](w, np.ascontiguousarray(grad), v, starts, decays, lr, momentum)
    return w, v
