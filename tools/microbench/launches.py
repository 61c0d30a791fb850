"""Launches that do nothing: what a launch costs, and what a block costs by its size.

Source: the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda
from tools.microbench.runs import Run


@gpu.jit
def _nothing(y):
    if y.size == 0:
        y[0] = 0


@gpu.jit
def _barriers(turns, y):
    for _ in range(turns):
        cuda.syncthreads()
    if y.size == 0:
        y[0] = 0


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    y = gpu.to_device(np.zeros(1, np.float32))
    found = {"one empty block": Run(lambda: _nothing[1, 32](y), 1, "launches")}
    for threads in (32,) if tiny else (32, 64, 128, 256, 512, 1024):
        blocks = 2 if tiny else 132 * 512
        found[f"empty blocks of {threads} threads"] = Run(
            lambda b=blocks, t=threads: _nothing[b, t](y), blocks, "blocks"
        )
        alone = 1024 if tiny else 200 * 1024  # shared memory for one block on an SM at a time
        found[f"empty blocks of {threads} threads, one on an SM at a time"] = Run(
            lambda b=blocks // 8 or 1, t=threads, s=alone: _nothing[b, t, 0, s](y), blocks // 8 or 1, "blocks"
        )
    for threads in (32,) if tiny else (32, 64, 128, 256, 512, 1024):
        turns = 2 if tiny else 2048
        for name, each in (("one block", 1), ("all blocks", max(1, min(32, 2048 // threads)))):
            grid = each if tiny else 132 * each
            found[f"barriers, blocks of {threads} threads, {name} on an SM"] = Run(
                lambda g=grid, b=threads, t=turns: _barriers[g, b](t, y), grid * turns, "barriers"
            )
    return found
