"""A step's time against the size of the batch: launch by launch, recorded, the forward pass, each kernel alone.

Source: the course's own.
"""

from course_lib import gpu
from course_lib.cuda.recording import record_launches
from tools.steps.clock import row, timed
from tools.steps.step import Step, images, network
from tools.steps.timeline import device_seconds

SIZES = 1, 4, 16, 64, 256, 1024, 4096
REPEATS = 10
"""Of a kernel in a graph."""


def rows(tiny):
    """Yield a row for each network, with the seconds of each kernel of a step by batch ("kernels")."""
    for name in ["tiny"] if tiny else ["MLP 784-128-10", "LeNet-5"]:
        timings, kernels = {}, {}
        for count in (1, 2) if tiny else SIZES:
            step = Step(network(name), *images(name, count))
            step()
            with record_launches() as noted:
                step()
            kernels[count] = [device_seconds(launch, 1 if tiny else REPEATS) for launch in noted]
            del noted
            graph = gpu.record(step)
            rounds, calls = (3, 1) if tiny else (7, 5)
            timings[f"one by one, {count}"] = timed(step, rounds=rounds, calls=calls)
            timings[f"recorded, {count}"] = timed(graph, rounds=rounds, calls=calls if tiny else 4 * calls)
            forward = gpu.record(lambda step=step: step.net.forward(step.x))
            timings[f"forward, {count}"] = timed(forward, rounds=rounds, calls=calls if tiny else 4 * calls)
            del step, graph, forward
        yield row(f"steps of {name} by batch", f"B = 1 to {max(SIZES):,}", timings, kernels=kernels)
