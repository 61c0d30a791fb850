"""What a launch costs the host: seconds until the launch of an almost empty kernel returns.

Source: the course's own. Nothing waits for the device in between; the queue of a device takes about 1,000 launches.
"""

import time

import numpy as np
from numba import cuda

from course_lib import gpu
from course_lib.bench.rivals import torch_on_a_card
from course_lib.cuda.jit import jit

LAUNCHES = 400


@jit
def _add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def launch_costs(rounds=20):
    """Return {way of launching: [median, 20 % quantile, 80 % quantile]}, seconds a launch. Errors as any launch.

    Source: the course's own.
    """
    return {name: _host_seconds(call, rounds) for name, call in _ways().items()}


def _ways():
    a, b, c = (gpu.to_device(np.ones(1024, np.float32)) for _ in "abc")
    ways = {"kernel[grid, block](...)": lambda: _add[4, 256](a, b, c)}
    launch = _add[4, 256]
    ways["launch = kernel[grid, block]; launch(...)"] = lambda: launch(a, b, c)
    if hasattr(c, "copy_to_device"):
        own = _add.dispatcher[4, 256]
        ways["Numba's own, configured"] = lambda: own(a, b, c)
    if torch_on_a_card():
        import torch

        x, y, z = (torch.ones(1024, device="cuda") for _ in "xyz")
        ways["PyTorch's add"] = lambda: torch.add(x, y, out=z)
    return ways


def _host_seconds(call, rounds):
    found = []
    for _ in range(rounds + 1):
        gpu.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            call()
        found.append((time.perf_counter() - start) / LAUNCHES)
    gpu.synchronize()
    return [float(q) for q in np.quantile(found[1:], (0.5, 0.2, 0.8))]
