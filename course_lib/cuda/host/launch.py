"""Launches of kernels made by @cuda.jit, kernel[grid, block](...): the SIMT executor in the place of Numba's launcher.

The kernel stays Numba's own object; only what it does at a launch is replaced, so that kernels made before `gpu.use()`
can be launched too. Host arrays come back changed, as Numba does it by copies.
Source: Numba's documentation, "CUDA Kernel API".
"""

import warnings

import numpy as np
from numba.core import config
from numba.core.errors import NumbaPerformanceWarning
from numba.core.typing import signature as numba_signature
from numba.cuda.args import ArgHint, In, Out
from numba.cuda.cudadrv import devicearray as numbas

from course_lib import simt
from course_lib.cuda.collect import on_error
from course_lib.cuda.host.arrays import DeviceNDArray
from course_lib.cuda.host.memory import copy_of, empty_like
from course_lib.cuda.launch_checks import LaunchError, check_launch, check_shared
from course_lib.cuda.on_simt import Simt
from course_lib.cuda.tracebacks import OneLine, shortened

THREADS = 256
"""Threads of a block where `forall` may choose."""


class Launch:
    """A kernel with a grid and a block, to be called with arguments. Source: Numba's "Kernel invocation"."""

    def __init__(self, kernel, griddim, blockdim, stream=0, sharedmem=0):
        self.dispatcher, self.stream = kernel, stream
        self.griddim, self.blockdim = check_launch(griddim, blockdim)
        self.sharedmem = check_shared(sharedmem, Simt.shared_limit)

    def __call__(self, *args):
        kernel, after = self.dispatcher, []
        kernel.last_report = None
        parameters = kernel.py_func.__code__.co_argcount
        if len(args) != parameters and not kernel.py_func.__defaults__:
            raise LaunchError(f"{kernel.__name__} takes {parameters} argument(s) and got {len(args)}.")
        if any(type(a) is np.ndarray for a in args):
            _warn_of_copies()
        try:
            given = arguments(args, after, getattr(kernel, "extensions", None) or (), self.stream)
            kernel.last_report = simt.run(
                kernel, self.griddim, self.blockdim, given, shared=self.sharedmem, on_error=on_error(), show=print
            )
        except OneLine as error:
            raise shortened(error) from None
        for finish in after:
            finish()


def arguments(args, after, extensions=(), stream=0):
    """Return the arguments as the executor takes them; `after` gets what is to be called after the launch.

    Host arrays are used in place where they share no memory, which looks as if they were copied both ways.

    Raises
    ------
    ValueError
        As Numba: if a host array has gaps.
    """
    for extension in reversed(tuple(extensions)):
        args = tuple(_extended(extension, a, stream, after) for a in args)
    hosts = [a for a in args if isinstance(a, np.ndarray)]
    shared = {id(a) for i, a in enumerate(hosts) for b in hosts[:i] if np.may_share_memory(a, b)}
    return [_argument(a, after, id(a) in shared) for a in args]


def _extended(extension, value, stream, after):
    import numba

    try:
        numbas_type = numba.typeof(value)
    except ValueError:
        numbas_type = None
    return extension.prepare_args(numbas_type, value, stream=stream, retr=after)[1]


def _argument(value, after, shared):
    hint, value = (value, value.value) if isinstance(value, ArgHint) else (None, value)
    if isinstance(value, tuple):
        return tuple(_argument(part, after, False) for part in value)
    if not isinstance(value, np.ndarray):
        return value
    core = np.asarray(value)  # a class derived from ndarray is its numbers
    if type(value) is np.ndarray:
        numbas.sentry_contiguous(core)
    if type(hint) is Out:
        device = empty_like(core)
    elif type(hint) is In or shared:
        device = copy_of(core)
    else:
        return core
    if type(hint) is not In:
        after.append(lambda: np.copyto(core, device.numbers))
    return device


def _warn_of_copies():
    if config.CUDA_WARN_ON_IMPLICIT_COPY and not config.DISABLE_PERFORMANCE_WARNINGS:
        words = "Host array used in CUDA kernel will incur copy overhead to/from device."
        warnings.warn(NumbaPerformanceWarning(words), stacklevel=3)


class ForAll:
    """A kernel to be called with arguments, for at least `ntasks` threads on one axis. Source: Numba's "forall"."""

    def __init__(self, kernel, ntasks, tpb, stream, sharedmem):
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.dispatcher, self.ntasks, self.stream, self.sharedmem = kernel, ntasks, stream, sharedmem
        self.thread_per_block = tpb or THREADS

    def __call__(self, *args):
        if self.ntasks:
            blocks = -(-self.ntasks // self.thread_per_block)
            Launch(self.dispatcher, blocks, self.thread_per_block, self.stream, self.sharedmem)(*args)


class Declared:
    """What a kernel keeps in the place of machine code for a signature. Source: the course's own."""

    objectmode = False
    entry_point = None

    def __init__(self, signature):
        self.signature = signature


# ------------------------------------------------------------------------------------------- methods of Numba's kernels


def configure(self, griddim, blockdim, stream=0, sharedmem=0):
    """Return the launch of a kernel; LaunchError for what no GPU takes. Source: Numba's documentation."""
    if griddim is None or blockdim is None:
        return self()  # says how a launch is written
    return Launch(self, griddim, blockdim, stream, sharedmem)


def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
    """Return the launch of at least `ntasks` threads on one axis; ValueError for a negative number."""
    return ForAll(self, ntasks, tpb, stream, sharedmem)


def call(self, args, *configuration):
    """Launch the kernel, for a launch that was configured before `gpu.use()`. Errors as a launch."""
    if len(configuration) == 1:
        c = configuration[0]
        configuration = c.griddim, c.blockdim, c.stream, c.sharedmem
    Launch(self, *configuration)(*args)


def specialize(self, *args):
    """Return the kernel for arguments of these types: itself, nothing is compiled. No errors."""
    return self


def compile(self, sig):
    """Keep the types that a signature declares for a kernel. No errors."""
    return _declare(self, sig, None)


def compile_device(self, args, return_type=None):
    """Keep the types that a signature declares for a device function. No errors."""
    return _declare(self, args, return_type)


def _declare(kernel, args, return_type):
    args = tuple(args.args if hasattr(args, "args") else args)
    return kernel.overloads.setdefault(args, Declared(numba_signature(return_type, *args)))


def report(self):
    """The simt.Report of the last launch, None before one. Source: the course's own."""
    return self.last_report


METHODS = {
    "configure": configure, "forall": forall, "call": call, "specialize": specialize, "compile": compile,
    "compile_device": compile_device, "report": property(report), "last_report": None,
}  # fmt: skip
"""What takes the place of the methods of Numba's CUDADispatcher."""

__all__ = ["METHODS", "Declared", "DeviceNDArray", "ForAll", "Launch", "arguments"]
