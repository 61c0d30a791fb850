"""A step's time against the size of the batch: launch by launch, and recorded. Source: the course's own."""

from course_lib import gpu
from tools.steps.clock import row, timed
from tools.steps.step import Step, images, network

SIZES = 1, 4, 16, 64, 256, 1024, 4096


def rows(tiny):
    """Yield a row for each network."""
    for name in ["tiny"] if tiny else ["LeNet-5", "MLP 784-128-10"]:
        timings = {}
        for count in (1, 2) if tiny else SIZES:
            step = Step(network(name), *images(name, count))
            graph = gpu.record(step)
            rounds, calls = (3, 1) if tiny else (7, 5)
            timings[f"one by one, {count}"] = timed(step, rounds=rounds, calls=calls)
            timings[f"recorded, {count}"] = timed(graph, rounds=rounds, calls=calls if tiny else 4 * calls)
            del step, graph
        yield row(f"steps of {name} by batch", f"B = 1 to {max(SIZES):,}", timings)
