"""Run a kernel's source on all its blocks, and report what a GPU would have done.

Source: NVIDIA, "CUDA C++ Programming Guide"; the course's own. Blocks are walked in batches, so that memory stays
bounded; the batches are as concurrent as blocks are on a GPU: a race between two of them is found.
"""

import math

import numpy as np

from course_lib.simt.evaluate import Evaluator
from course_lib.simt.lanes import Lanes, check_launch
from course_lib.simt.machine import Machine
from course_lib.simt.masks import Mask
from course_lib.simt.memory import ALIGNMENT, View, global_view
from course_lib.simt.report import Report
from course_lib.simt.source import Source
from course_lib.simt.types import literal

BATCH_LANES = 65_536
STEPS = 5_000_000


def run(kernel, grid, block, arguments, *, on_error="raise", steps=STEPS):
    """Run `kernel` on host arrays, in place, and return its `Report`.

    Parameters
    ----------
    kernel : function
        Its source is read; it is never called.
    grid, block : int or tuple of one to three ints >= 1
    arguments : sequence
        Arrays (any shape) and numbers, one for each parameter.
    on_error : "raise" or "collect"
        Stop at the first hazard, or go on and list all of them in the report.
    steps : int
        The most statements that are walked, so that a loop without an end ends.

    Raises
    ------
    lanes.LaunchError
        If no GPU takes such a grid or block.
    KernelError
        If the kernel uses what does not exist, or a step budget is used up; HazardFound for the first hazard.
    TypeError
        If an argument is neither an array nor a number.

    Source: the course's own.
    """
    source = kernel if isinstance(kernel, Source) else Source(kernel)
    grid, block = check_launch(grid, block)
    if on_error not in ("raise", "collect"):
        raise ValueError(f"on_error is {on_error!r}; it must be 'raise' or 'collect'.")
    if len(arguments) != len(source.parameters):
        raise TypeError(f"{source.name} takes {len(source.parameters)} arguments and got {len(arguments)}.")
    values, base = [], ALIGNMENT
    for name, argument in zip(source.parameters, arguments, strict=True):
        if isinstance(argument, np.ndarray):
            view = global_view(argument, name, base)
            base += -(-(view.memory.cells.nbytes or 1) // ALIGNMENT) * ALIGNMENT
            values.append(view)
        elif isinstance(argument, View):
            values.append(argument)
        else:
            values.append(literal(argument))
    machine = Machine(block, on_error, steps)
    threads, blocks = math.prod(block), math.prod(grid)
    batch = max(1, BATCH_LANES // threads)
    with np.errstate(all="ignore"):
        for first in range(0, blocks, batch):
            lanes = Lanes(grid, block, first, min(batch, blocks - first))
            machine.begin(lanes)
            Evaluator(source, values, lanes, machine).run(Mask(lanes))
    return Report(source, grid, block, machine)
