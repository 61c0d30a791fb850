"""One training step, launch by launch: when the host enqueues each one, and how long each one keeps the device busy.

Source: the course's own. A kernel's time is a recorded graph's that holds it REPEATS times, so the host is out of it.
"""

import time

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu import launch as launch_bench
from course_lib.cuda import kernel
from course_lib.cuda.recording import record_launches
from tools.steps.clock import row, summary, timed
from tools.steps.step import Step, images, network

REPEATS, PASSES = 40, 25


def rows(tiny):
    """Yield the rows of this part."""
    if tiny:
        launch_bench.LAUNCHES = 1
    yield launches(2 if tiny else 11)
    for each in ["tiny"] if tiny else ["LeNet-5", "MLP 784-128-10"]:
        yield one_step(each, 2 if tiny else 64, tiny)


def launches(rounds):
    """The row of what one launch costs: of each way, of a graph with 200 of them, and of a kernel in it."""
    costs = launch_bench.launch_costs(rounds)
    found = {way: {"median": m, "lower": low, "upper": high, "rounds": rounds, "calls": launch_bench.LAUNCHES}
             for way, (m, low, high) in costs.items()}  # fmt: skip
    many = 2 if launch_bench.LAUNCHES == 1 else 200
    a, b, c = (gpu.to_device(np.ones(1024, np.float32)) for _ in "abc")
    graph = gpu.record(lambda: [launch_bench._add[4, 256](a, b, c) for _ in range(many)])
    each = timed(graph, rounds=rounds, calls=20)
    found["a kernel of a graph"] = {k: v / many if isinstance(v, float) else v for k, v in each.items()}
    begun = []
    for _ in range(rounds):
        gpu.synchronize()
        begin = time.perf_counter()
        graph()
        begun.append(time.perf_counter() - begin)
    gpu.synchronize()
    found["a graph's call"] = summary(begun)
    return row("a launch", f"1,024 numbers; graph of {many}", found)


def one_step(name, count, tiny=False):
    """The row of a step: how long it takes both ways, and each of its launches."""
    step = Step(network(name), *images(name, count))
    step()
    labels = []
    with record_launches() as noted:
        step(lambda label: labels.append((len(noted), label)))
    called = [_latest(labels, i) for i in range(len(noted))]
    enqueued, whole = enqueuing(step, len(noted), 2 if tiny else PASSES)
    busy = [device_seconds(launch, 2 if tiny else REPEATS) for launch in noted]
    each = [
        {"kernel": launch.kernel.__name__, "part": part, "grid": launch.grid, "block": launch.block,
         "enqueued": list(span), "seconds": seconds}
        for launch, part, span, seconds in zip(noted, called, enqueued, busy, strict=True)
    ]  # fmt: skip
    graph = gpu.record(step)
    rounds, calls = (3, 1) if tiny else (9, 20)
    timings = {
        "one by one": timed(step, rounds=rounds, calls=calls),
        "recorded": timed(graph, rounds=rounds, calls=calls),
    }
    timings["host, enqueuing"] = whole
    return row(f"one step of {name}", f"B = {count}", timings, launches=each)


def _latest(labels, i):
    """The last label that was set before launch i."""
    return [label for at, label in labels if at <= i][-1]


def enqueuing(step, count, passes):
    """Return ([(begin, end)] of each launch's call, in seconds from the step's begin: medians, the whole's summary)."""
    stamps, original = [], kernel.Launch.__call__

    def stamping(launch, *arguments, **named):
        begin = time.perf_counter()
        original(launch, *arguments, **named)
        stamps.append((begin, time.perf_counter()))

    found, whole = [], []
    kernel.Launch.__call__ = stamping
    try:
        for _ in range(passes):
            gpu.synchronize()
            stamps.clear()
            begin = time.perf_counter()
            step()
            whole.append(time.perf_counter() - begin)
            if len(stamps) != count:
                raise RuntimeError(f"a step had {len(stamps)} launches, and {count} when they were noted.")
            found.append(np.array(stamps) - begin)
    finally:
        kernel.Launch.__call__ = original
    gpu.synchronize()
    return np.median(found[1:] or found, axis=0).tolist(), summary(whole[1:] or whole)


def device_seconds(launch, repeats):
    """Return seconds of one launch within a graph of many, on the device's clock."""
    graph = gpu.record(lambda: [launch.again() for _ in range(repeats)])
    graph()
    found = []
    for _ in range(3):
        start, stop = gpu.event(), gpu.event()
        start.record()
        for _ in range(3):
            graph()
        stop.record()
        stop.synchronize()
        found.append(start.elapsed_time(stop) / 1000 / (3 * repeats))
    return float(np.median(found))
