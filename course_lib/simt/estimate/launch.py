"""Predict a launch of any size: some of its blocks are walked, and its machine code is counted where a compiler is.

    print(simt.predict_launch(kernel, grid, block, arguments, "H200"))

Source: the course's own.
"""

import math

from course_lib.cuda.launch_checks import check_launch
from course_lib.simt.estimate.bound import bound_of
from course_lib.simt.estimate.by_source import guesses
from course_lib.simt.estimate.compiled import code_of, compiled
from course_lib.simt.estimate.devices import KIB, find_device
from course_lib.simt.estimate.facts import facts_of
from course_lib.simt.estimate.occupancy import occupancy
from course_lib.simt.estimate.sample import sample

UNIFIED = {(7, 0): 128, (7, 5): 96, (8, 0): 192, (8, 9): 128, (9, 0): 256}
"""Compute capability -> KiB of L1 cache and shared memory of an SM together.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities", shared memory capacity."""


def predict_launch(kernel, grid, block, arguments, device, *, shared=0):
    """Return the `Bound` of a launch, which is not done: some blocks are walked, on copies of nothing.

    Parameters
    ----------
    kernel : Kernel or function
    grid, block, arguments, shared
        As `simt.run` takes them. What the walked blocks write is written.
    device : str or Device
        A name of `DEVICES`.

    Raises
    ------
    ValueError
        For an unknown device, or a block that it cannot run. Other errors as `simt.run`'s, but for hazards.

    Source: the course's own.
    """
    from course_lib.cuda.compile_report import NoCompiler
    from course_lib.cuda.jit import jit
    from course_lib.cuda.kernel import Kernel
    from course_lib.cuda.recording import Launch

    d = find_device(device)
    launch = Launch(
        kernel if isinstance(kernel, Kernel) else jit(kernel), *check_launch(grid, block), 0, shared, tuple(arguments)
    )
    try:
        code = compiled(launch, d.compute_capability)
    except NoCompiler:
        report, watch = walked(launch.kernel.py_func, launch, d)
        return bound_of(report, d, guesses(report, watch))
    report, facts = counted(launch, d, code)
    return bound_of(report, d, (facts,), compiled=True)


def counted(launch, device, code):
    """Return (report, Facts) of a `Launch` and what `compiled` returned for it; errors as `simt.run`'s.

    Source: the course's own.
    """
    from course_lib.cuda.unroll import compiled_form

    registers, found = code
    function, _ = compiled_form(launch.kernel.py_func)  # the text that was compiled, whose lines the code names
    report, watch = walked(function, launch, device, registers)
    return report, facts_of(report, watch, code_of(registers, found, report), found)


def walked(function, launch, device, registers=None):
    """Return (report, Watch) of some blocks of a `Launch`, each with its part of the device's L1 cache.

    Errors as `simt.run`'s. Source: the course's own.
    """
    d, shared = find_device(device), launch.shared or 0
    held = occupancy(d, math.prod(launch.block), shared, registers).blocks
    room = max(0, UNIFIED[d.compute_capability] * KIB // held - shared)
    return sample(function, launch.grid, launch.block, launch.arguments, shared=shared, l1_bytes=room)
