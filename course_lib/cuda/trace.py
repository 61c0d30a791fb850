"""Follow one warp of a launch step by step, on any machine: gpu.trace and gpu.load_trace.

Source: the course's own.
"""

import inspect
from contextlib import suppress

from course_lib.cuda.array_checks import check_arguments
from course_lib.cuda.choice import SIMULATOR, DeviceError
from course_lib.cuda.device import choice
from course_lib.cuda.kernel import Launch
from course_lib.cuda.launch_checks import LaunchError, check_launch, check_shared, is_whole
from course_lib.cuda.simulate import twins_of

FORM = "gpu.trace(kernel[grid, block], *arguments, block=0, warp=0)"
MOST_STEPS = 2_000
MOST_WARPS = 8


def trace(launch, *arguments, block=0, warp=0, steps=MOST_STEPS):
    """Run a launch on the SIMT executor, on copies of its arguments, and return the Trace of one warp.

    Works beside a GPU too, and leaves every array as it is, as `simulate` does: a kernel is looked at, its results are
    thrown away. It goes on after a hazard; the trace has each one at its step. An error that ends the run is what the
    last step says. All warps are walked together, line by line; on a GPU they come in any order between two barriers.

    Parameters
    ----------
    launch : kernel[grid, block] or kernel[grid, block, stream, shared_bytes]
        A kernel made by @gpu.jit, and how many threads.
    *arguments
        Device arrays (...), host arrays (...), and numbers, one for each parameter.
    block : int or (x, y) or (x, y, z)
        Which block to follow, by its number (x fastest) or as cuda.blockIdx.
    warp : int or None
        Which warp of it; None: all of them, at most eight.
    steps : int
        The most steps that are kept; the trace ends there, and says so.

    Raises
    ------
    TypeError, ValueError, LaunchError
        If this is no launch, or there is no such block or warp, or the arguments are none.
    DeviceError
        If Numba's simulator is switched on: it replaces the part of Numba that the executor asks for types.

    Source: the course's own.
    """
    if choice().device == SIMULATOR:
        raise DeviceError("gpu.trace needs Numba without its simulator", "Start Python with COURSE_DEVICE=simt.")
    from course_lib import simt
    from course_lib.cuda.on_simt import Simt
    from course_lib.simt.trace.document import document_of
    from course_lib.simt.trace.recorder import Enough, Recorder
    from course_lib.simt.trace.trace import Trace

    kernel, grid, threads, shared = _parts(launch)
    grid, threads = check_launch(grid, threads)
    shared = check_shared(shared, Simt.shared_limit)
    number = _block_number(block, grid)
    first, warps = _warps(warp, threads)
    if not is_whole(steps) or steps < 1:
        raise ValueError(f"steps is {steps!r}; it must be a whole number >= 1.")
    twins = twins_of(arguments, "gpu.trace")
    check_arguments(kernel.__name__, tuple(inspect.signature(kernel.py_func).parameters), twins, Simt())
    recorder = Recorder(number, first, warps, int(steps))
    complete = False
    try:
        simt.run(kernel, grid, threads, twins, shared=shared, on_error="collect", recorder=recorder)
        recorder.finish()
        complete = True
    except Enough:
        pass
    except simt.KernelError as error:
        with suppress(Enough):
            recorder.stop(error)
    return Trace(document_of(recorder, kernel, grid, threads, complete))


def load_trace(path):
    """Return the Trace that `trace.save(path)` wrote.

    Raises
    ------
    OSError, ValueError
        If there is no such file, or it is damaged or no trace.

    Source: the course's own.
    """
    from course_lib.simt.trace.file import load

    return load(path)


def _parts(launch):
    """Return (kernel, grid, block, shared bytes) of a launch, of the course's kernels or of Numba's."""
    if isinstance(launch, Launch):
        return launch.kernel, *launch.configuration
    if type(launch).__name__ == "_LaunchConfiguration":  # what Numba's kernel[grid, block] is
        return launch.dispatcher, launch.griddim, launch.blockdim, launch.sharedmem
    hint = " A kernel alone does not say how many threads." if hasattr(launch, "py_func") else ""
    raise TypeError(f"gpu.trace got a {type(launch).__name__}; its first argument is a launch.{hint} Write {FORM}.")


def _block_number(block, grid):
    """Return the number of a block given as a number or a triple."""
    count = grid[0] * grid[1] * grid[2]
    if is_whole(block):
        if not 0 <= block < count:
            raise ValueError(f"block is {block}; the grid {grid} has blocks 0 to {count - 1}.")
        return int(block)
    if type(block) is not tuple or not 1 <= len(block) <= 3 or not all(map(is_whole, block)):
        raise TypeError(f"block is {block!r}; it must be a number, or (x, y, z) as cuda.blockIdx.")
    x, y, z = (*(int(v) for v in block), 0, 0)[:3]
    if not (0 <= x < grid[0] and 0 <= y < grid[1] and 0 <= z < grid[2]):
        raise ValueError(f"block is {block}; the grid is {grid}, so x is below {grid[0]}, y {grid[1]}, z {grid[2]}.")
    return x + grid[0] * (y + grid[1] * z)


def _warps(warp, threads):
    """Return (first warp, how many) to follow."""
    count = -(-threads[0] * threads[1] * threads[2] // 32)
    if warp is None:
        if count > MOST_WARPS:
            raise LaunchError(
                f"a block of {threads} has {count} warps; warp=None follows at most {MOST_WARPS}. Take a smaller "
                "block, or one warp: warp=0."
            )
        return 0, count
    if not is_whole(warp):
        raise TypeError(f"warp is {warp!r}; it must be a whole number, or None for all warps.")
    if not 0 <= warp < count:
        raise ValueError(f"warp is {warp}; a block of {threads} has warps 0 to {count - 1}.")
    return int(warp), 1
