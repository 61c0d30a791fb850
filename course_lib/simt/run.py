"""Run a kernel's source on all its blocks, and report what a GPU would have done.

Source: NVIDIA, "CUDA C++ Programming Guide"; the course's own. Blocks are walked in batches, so that memory stays
bounded; the batches are as concurrent as blocks are on a GPU: a race between two of them is found.
"""

import math

import numpy as np

from course_lib.cuda.launch_checks import check_launch, check_shared
from course_lib.cuda.tracebacks import OneLine, shortened
from course_lib.simt import dictionary  # noqa: F401  all words
from course_lib.simt.advice import advise
from course_lib.simt.arguments import parts_of, views
from course_lib.simt.arrays import is_device_array
from course_lib.simt.calls import default_of
from course_lib.simt.declared import at_launch
from course_lib.simt.evaluate import Evaluator
from course_lib.simt.inference import Tables
from course_lib.simt.lanes import Lanes, check_grid
from course_lib.simt.machine import Machine
from course_lib.simt.masks import Mask
from course_lib.simt.memory import View
from course_lib.simt.report import Report
from course_lib.simt.source import KernelError, kind_name, source_of
from course_lib.simt.values import is_number

BATCH_LANES = 65_536
BATCH_BYTES = 2**29
MOST_COOPERATIVE = 2**20
"""Lanes that walk together, as far as their variables and arrays do not need more bytes; the most of a grid barrier."""

STEPS = 6_000_000
"""Statements of a batch, each of up to 1,024 lanes and eight parts: a minute's work at the most."""

MOST_DYNAMIC = 227 * 1024
"""Bytes of dynamic shared memory that a block of an H100 or H200 can have."""


def run(
    kernel, grid, block, arguments, *, shared=0, on_error="raise", counters=True, races=True, steps=STEPS,
    most_shared=MOST_DYNAMIC, show=None, recorder=None, only=None, watch=None,
):  # fmt: skip
    """Run `kernel` on host arrays, in place, and return its `Report`.

    Parameters
    ----------
    kernel : function, Numba kernel or Source
        Its source is read; it is never called.
    grid, block : int or tuple of one to three ints >= 1
    arguments : sequence
        Arrays (any shape), DeviceArrays and numbers, one for each parameter.
    shared : int >= 0
        Bytes of dynamic shared memory of each block.
    on_error : "raise" or "collect"
        Stop at the first hazard, or go on and list all of them in the report.
    counters : bool
        Whether to count traffic and work. Hazards are looked for all the same.
    races : bool
        Whether to look for races; without, a large launch takes less time.
    steps : int
        The most statements that a batch of blocks walks, so that a loop without an end ends; a statement of more than
        1,024 lanes or eight parts takes several. All batches together have 16 times as many.
    show : function of str, optional
        Gets each line that a kernel prints, when it is printed; the report has them anyway.
    most_shared : int
        Bytes of dynamic shared memory that the device allows.
    recorder : trace.recorder.Recorder, optional
        Watches the launch step by step; without one, nothing is looked at and nothing is slower.
    only : sequence of int, optional
        Numbers of the blocks that are walked, one after the other; the others are left out, and `Report.sampled` says
        so.
    watch : object, optional
        Told of each access to global memory: `estimate.sample.Watch`.

    Raises
    ------
    LaunchError
        If no GPU takes such a grid or block, or so much shared memory.
    KernelError
        If the kernel uses what does not exist, or a step budget is used up; HazardFound for the first hazard.
    TypeError
        If an argument is neither an array nor a number, or not what the kernel's signature declares.

    Source: the course's own.
    """
    source = source_of(kernel)
    grid, block = check_launch(grid, block)
    check_grid(grid, block)
    shared = check_shared(shared, most_shared, "an H200" if most_shared == MOST_DYNAMIC else "this device")
    if on_error not in ("raise", "collect"):
        raise ValueError(f"on_error is {on_error!r}; it must be 'raise' or 'collect'.")
    if not any(type(arguments) is kind for kind in (tuple, list)):
        raise TypeError(f"the arguments are a {kind_name(arguments)}; put them into a tuple.")
    names = [n for n in source.parameters if n != source.rest]
    given, rest = arguments[: len(names)], arguments[len(names) :]
    missing = names[len(given) :]
    if (rest and not source.rest) or any(name not in source.defaults for name in missing):
        raise TypeError(f"{source.name} takes {len(names)} arguments ({', '.join(names)}) and got {len(arguments)}.")
    if source.rest:
        names, given, missing = [*names, source.rest], [*given, *[None] * len(missing), tuple(rest)], []
    values = views(names[: len(given)], given) + [default_of(source, name, source.tree) for name in missing]
    if source.signatures:
        values = at_launch(source.name, source.parameters, source.signatures, values)
    new_machine, walker = (Machine, Evaluator) if recorder is None else (recorder.machine, recorder.walker)
    machine = new_machine(grid, block, on_error=on_error, steps=steps, shared=shared, counting=counters, races=races)
    machine.show, machine.watch = show, watch
    try:
        with np.errstate(all="ignore"):
            _walk(source, grid, block, values, machine, walker, only)
    except OneLine as error:
        raise shortened(error) from None
    except SystemError as error:  # what CPython makes of an interrupt that comes while compiled code returns
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    except (RecursionError, MemoryError) as error:
        line = machine.source.tree.lineno if machine.source else None
        raise KernelError(
            "this is nested too deep; split it into several statements." if isinstance(error, RecursionError) else
            "this needs more memory than there is; use fewer threads or smaller arrays.", line,
        ) from None  # fmt: skip
    report = Report(source, grid, block, machine)
    never = [_never_written(name, a, v) for name, a, v in zip(names, given, values, strict=False)]
    doubles = [name for name, v in zip(names, values, strict=False) if is_number(v) and v.dtype in ("f8", "c16")]
    report.advice = advise(report, source, machine.sites, [n for n in never if n], doubles)
    return report


def _walk(source, grid, block, values, machine, walker, only=None):
    machine.tables = Tables(grid, block, machine.dynamic_bytes)
    machine.tables.of(source, values)
    seen = machine.tables.machine
    threads, blocks = math.prod(block), math.prod(grid)
    variables = sum(len(s.assigned) for s in seen.sources.values())
    cells = seen.static_cells + machine.dynamic_bytes  # each with its number and its shadow
    bytes_a_block = threads * (8 * variables + 2 * seen.local_bytes) + 72 * cells or 1  # a kernel may have nothing
    batch = max(1, min(BATCH_LANES // threads, BATCH_BYTES // bytes_a_block))
    if seen.cooperative:
        batch = blocks
        if blocks * threads > MOST_COOPERATIVE:
            raise KernelError(
                f"a grid with a barrier for all has {blocks * threads:,} threads; at most {MOST_COOPERATIVE:,} can "
                "wait for each other. Use fewer blocks and a loop.", source.tree.lineno,
            )  # fmt: skip
    arrays = {id(v.memory): v.memory for v in parts_of(values) if isinstance(v, View)}
    machine.memories = [m for memory in arrays.values() for m in memory.family]
    if only is not None:
        batch, machine.sampled = 1, (len(only), blocks) if len(only) < blocks else None
    for first in range(0, blocks, batch) if only is None else only:
        lanes = Lanes(grid, block, first, min(batch, blocks - first))
        machine.begin(lanes)
        if machine.watch:
            machine.watch.begin()
        walker(source, values, lanes, machine).run(Mask(lanes))
        machine.tell_unused()
        machine.collect_uses(_memories([*machine.shared.values(), *machine.local.values()]))
    machine.collect_uses([*machine.memories, *_memories(machine.constants.values())])


def _memories(views):
    return [memory for view in views for memory in view.memory.family]


def _never_written(name, argument, view):
    """Return (name, index of the first, how many) elements that nobody wrote of an array that a launch wrote to."""
    if is_device_array(argument) and argument.written is not None and view.memory.touched:
        missing = ~argument.written
        if missing.any():
            index = np.unravel_index(int(missing.argmax()), missing.shape)
            return name, tuple(map(int, index)), int(missing.sum())
    return None
