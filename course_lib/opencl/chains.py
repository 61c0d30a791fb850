"""Two chains of two launches, for what a queue may begin when: lesson 19 shows what tools/measure_opencl.py times.

Source: Khronos, "The OpenCL Specification", "Execution Model: Command-Queues", "Event Objects".
"""

import numpy as np

NAMES = "A1", "A2", "B1", "B2"
NUMBERS = 64
"""In each array: one work-group, so that a launch keeps one compute unit busy."""


def two_chains(for_a, for_b, steps, say_so=True):
    """Launch A1 then A2 and B1 then B2, and only then wait; return what A2 and B2 wrote, and the four events.

    Each launch runs the kernel `settle`, whose work-items do `steps` steps one after the other and come to twice what
    they were given, so that right results are 4 x for x = 0, 1, ..., 63.

    Parameters
    ----------
    for_a, for_b : Session
        Where each chain is launched; one session for both, or two.
    steps : int
        How long a launch is busy.
    say_so : bool
        Whether the second launch of a chain is told to wait for the first one.

    Returns
    -------
    (list of 2 arrays (64,), list of 4 events)
        The events of A1, A2, B1, B2.

    Errors are those of `Session.launch`. Source: the course's own.
    """

    def chain(session):
        kernel, n = session.kernel("settle"), np.int32(steps)
        x = session.to_device(np.arange(NUMBERS, dtype=np.float32))
        middle, end = session.empty(NUMBERS), session.empty(NUMBERS)
        first = session.launch(kernel, (NUMBERS,), (NUMBERS,), x, middle, n)
        needed = [first] if say_so else []
        second = session.launch(kernel, (NUMBERS,), (NUMBERS,), middle, end, n, after=needed)
        session.flush()  # hand both to the device, and do not wait
        return end, [first, second]

    a, events_a = chain(for_a)
    b, events_b = chain(for_b)
    # All four are on their way. Copies come last: each blocks until its numbers are there.
    ends = [for_a.to_host(a, after=events_a), for_b.to_host(b, after=events_b)]
    return ends, events_a + events_b


def timeline(events):
    """Return the commands of `two_chains` as `figures.queue_timelines` takes them, in seconds from the first queued.

    Each is a dict with label, lane (its chain), queued, start and end. No errors. Source: Khronos, "The OpenCL
    Specification", "Profiling Operations".
    """
    times = [event.profile for event in events]
    begun = min(p.queued for p in times)
    return [
        {"label": name, "lane": name[0]} | {at: (getattr(p, at) - begun) / 1e9 for at in ("queued", "start", "end")}
        for name, p in zip(NAMES, times, strict=True)
    ]


def right(ends):
    """Return whether both chains of `two_chains` came to 4 x. No errors. Source: the course's own."""
    return all(np.array_equal(end, 4 * np.arange(NUMBERS)) for end in ends)
