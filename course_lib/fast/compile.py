"""Compile a kernel for this CPU: at its first call, once; the machine code is kept on disk.

Source: the course's choice. Numba turns a Python function over arrays into machine code. That takes a
second or so per kernel, and a line on stderr says so (not with COURSE_PROGRESS=0).
"""

import contextlib
import functools
import os
import sys
import time

import numba
from numba.core import event

from course_lib.kernel_cache import kept

# The compiler may reorder a sum and fuse a product with an addition, which SIMD instructions need. It may
# not assume that NaN and infinity never occur. A compiled kernel always adds in the same order.
MATHS = {"reassoc", "contract", "nsz"}

_kernels = set()


def kernel(function):
    """Return `function` compiled by Numba at its first call; it runs without the interpreter's lock.

    Shapes, dtypes and errors are those of `function`; what the compiler refuses is a numba.TypingError.
    Source: the course's choice.
    """
    return _compiled(function, fastmath=MATHS)


def exact(function):
    """Return `function` compiled as `kernel` does it, without the licence to reorder and to fuse: each rounding counts.

    Shapes, dtypes and errors are those of `function`; what the compiler refuses is a numba.TypingError.
    Source: the course's choice.
    """
    return _compiled(function)


def _compiled(function, **options):
    compiled = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        dispatcher = kept(compiled(cache=True)(function))
    except RuntimeError:  # no folder can be written, beside the source or in the user's cache: compile every time
        dispatcher = compiled()(function)
    _kernels.add(dispatcher)
    return dispatcher


def kernels():
    """Return the kernels of this process as Numba's dispatchers, compiled or not. No errors.

    Source: the course's own.
    """
    return tuple(_kernels)


def inlined(function):
    """Return `function` for use within kernels, which take in its text: a call with arrays would cost 20 ns.

    Shapes, dtypes and errors are those of `function`; what the compiler refuses is a numba.TypingError.
    Source: the course's choice.
    """
    return numba.njit(inline="always")(function)


class _Announcer(event.Listener):
    """Say what is being compiled and how long it took: a first call must not look like a hang."""

    def __init__(self):
        self.seconds = 0.0
        self._inside = 0
        self._said = False

    def on_start(self, e):
        if e.data["dispatcher"] not in _kernels:
            return
        self._inside += 1
        if self._inside == 1:  # a kernel compiles those it calls inside itself
            self._started = time.perf_counter()
            if not self._said:
                _say("compiling kernels for this CPU, about 10 seconds in all; later runs find them on the disk")
                self._said = True

    def on_end(self, e):
        if e.data["dispatcher"] not in _kernels:
            return
        self._inside -= 1
        if self._inside == 0:
            seconds = time.perf_counter() - self._started
            self.seconds += seconds
            _say(f"compiled {e.data['dispatcher'].py_func.__name__} in {seconds:.1f} s")


def _say(text):
    if os.environ.get("COURSE_PROGRESS") != "0":
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or on a full disk
            print(f"course_lib.fast: {text}", file=sys.stderr, flush=True)


_announcer = _Announcer()
event.register("numba:compile", _announcer)


def compile_seconds():
    """Return the seconds this process has spent compiling kernels; 0.0 when all came from the disk.

    No shapes, raises no errors. Source: the course's choice.
    """
    return _announcer.seconds
