"""The words a kernel may use: Numba-CUDA's names and what each does to all lanes at once.

Source: Numba's documentation, "CUDA Kernel API". What is not in these tables does not exist for a kernel.
"""

import builtins
import inspect
import math
import types as python_types
from dataclasses import dataclass

import numpy as np
from numba import cuda
from numba.core import types as numba_types
from numba.np.numpy_support import as_dtype

from course_lib.simt import types
from course_lib.simt.lanes import WARP
from course_lib.simt.memory import View
from course_lib.simt.source import Source
from course_lib.simt.values import apply, cast, describe, is_number


@dataclass(frozen=True)
class Word:
    """A name of the vocabulary, such as cuda.grid; it means something when it is called. Source: the course's own."""

    path: str

    def checked(self, error, node):
        """Return self if some word begins like this, else raise error(node, message)."""
        if self.path in FUNCTIONS or any(p.startswith(f"{self.path}.") for p in (*FUNCTIONS, *NAMES)):
            return self
        raise error(node, f"{self.path} is not among the words of a kernel here.")


@dataclass(frozen=True)
class Cast:
    """A type as a function: float32(x). Source: Numba's documentation, "Numba types"."""

    dtype: np.dtype


@dataclass(frozen=True)
class DeviceFunction:
    """A function that kernels call. Source: Numba's documentation, "Device functions"."""

    source: Source


MODULES = {"numba.cuda": "cuda", "math": "math", "numpy": "np"}
BUILTINS = ("range", "len", "min", "max", "abs", "round", "int", "float", "bool")
NUMBERS = ("int32", "int64", "uint32", "uint64", "float32", "float64")
CONSTANTS = {f"math.{name}": getattr(math, name) for name in ("pi", "e", "inf", "nan", "tau")}


def from_outside(value, name):
    """Return what a name from outside of the kernel means, or None where a kernel cannot use it.

    Numbers, tuples of numbers, dtypes, modules of the vocabulary and device functions are let in.
    """
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return types.literal(value) if not isinstance(value, int) or -(2**63) <= value < 2**64 else None
    if isinstance(value, tuple):
        parts = tuple(from_outside(v, name) for v in value)
        return None if any(p is None for p in parts) else parts
    if isinstance(value, python_types.ModuleType):
        path = MODULES.get(value.__name__)
        return Word(path) if path else None
    if isinstance(value, numba_types.Number | numba_types.Boolean):
        return Cast(as_dtype(value))
    if inspect.isclass(value) and issubclass(value, np.number | np.bool_):
        return Cast(np.dtype(value))
    if value is bool:
        return Cast(np.dtype(np.bool_))
    for builtin in BUILTINS:
        if value is getattr(builtins, builtin):
            return Word(builtin)
    name_ = getattr(value, "__name__", None)
    if isinstance(name_, str) and getattr(math, name_, None) is value:
        return Word(f"math.{value.__name__}")
    if value is cuda.grid or value is cuda.gridsize:
        return Word(f"cuda.{value.__name__}")
    if getattr(value, "is_device_function", False):
        return DeviceFunction(Source(value.py_func))
    return None


def _axes(read):
    return {axis: (lambda lanes, i=i: read(lanes)[i]) for i, axis in enumerate("xyz")}


NAMES = {f"cuda.threadIdx.{a}": f for a, f in _axes(lambda lanes: lanes.thread_idx).items()}
NAMES |= {f"cuda.blockIdx.{a}": f for a, f in _axes(lambda lanes: lanes.block_idx).items()}
NAMES |= {f"cuda.blockDim.{a}": f for a, f in _axes(lambda lanes: tuple(map(np.int32, lanes.block_dim))).items()}
NAMES |= {f"cuda.gridDim.{a}": f for a, f in _axes(lambda lanes: tuple(map(np.int32, lanes.grid_dim))).items()}
NAMES |= {"cuda.laneid": lambda lanes: lanes.lane, "cuda.warpsize": lambda lanes: np.int32(WARP)}
NAMES |= {path: (lambda lanes, value=value: np.float64(value)) for path, value in CONSTANTS.items()}
NAMES |= {
    f"np.{name}": (lambda lanes, name=name: Cast(np.dtype(name)))
    for name in (*NUMBERS, "int8", "int16", "uint8", "uint16", "float16", "bool_")
}
NAMES |= {f"cuda.{name}": (lambda lanes, name=name: Cast(np.dtype(name))) for name in NUMBERS}


def _grid(e, mask, node, ndim):
    lanes = e.lanes
    axes = [
        b.astype(np.int64) * size + t
        for b, size, t in zip(lanes.block_idx, lanes.block_dim, lanes.thread_idx, strict=True)
    ]
    if not 1 <= int(ndim) <= 3:
        raise TypeError("it takes 1, 2 or 3")
    return axes[0] if ndim == 1 else tuple(axes[: int(ndim)])


def _gridsize(e, mask, node, ndim):
    sizes = tuple(np.int64(g * b) for g, b in zip(e.lanes.grid_dim, e.lanes.block_dim, strict=True))
    return sizes[0] if ndim == 1 else sizes[: int(ndim)]


def _array(space):
    def make(e, mask, node, shape, dtype):
        shape = shape if isinstance(shape, tuple) else (shape,)
        whole = all(is_number(s) and np.ndim(s) == 0 and s.dtype.kind in "iu" and s >= 1 for s in shape)
        if not isinstance(dtype, Cast) or not whole:
            raise TypeError("it takes a shape of constant whole numbers >= 1 and a dtype")
        return e.machine.allocate(e, space, tuple(int(s) for s in shape), dtype.dtype, node.lineno, node.col_offset)

    return make


def _syncthreads(e, mask, node):
    e.machine.barrier(e, mask, node.lineno)


def _syncwarp(e, mask, node, membermask=None):
    e.machine.warp_barrier(mask)


def _fence(e, mask, node):
    """A fence orders a thread's own accesses; lock-step has that order anyway."""


def _len(e, mask, node, value):
    if isinstance(value, View):
        return np.int64(value.shape[0])
    if isinstance(value, tuple):
        return np.int64(len(value))
    raise TypeError(f"{describe(value)} has no length")


def _math(function, numpy_function):
    def compute(e, mask, node, *values):
        result = apply(function, numpy_function, *values)
        e.machine.count(node.lineno, mask, result.dtype)
        return result

    return compute


def _conversion(function):
    def convert(e, mask, node, value):
        return cast(value, types.signature(function, value.dtype)[0])

    return convert


def _fma(e, mask, node, a, b, c):
    dtype = np.result_type(a.dtype, b.dtype, c.dtype)
    e.machine.count(node.lineno, mask, dtype, flops=2)
    exact = cast(a, np.float64) * cast(b, np.float64) + cast(c, np.float64)
    return cast(exact, dtype)


def _extreme(function, numpy_function):
    def compute(e, mask, node, *values):
        values = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        if len(values) < 2:
            raise TypeError("it takes at least two values")
        result = values[0]
        for value in values[1:]:
            dtype = types.signature(function, result.dtype, value.dtype)[0]
            result = numpy_function(cast(result, dtype), cast(value, dtype))
            e.machine.count(node.lineno, mask, dtype)
        return result

    return compute


FUNCTIONS = {
    "range": None,  # only in a for
    "len": _len,
    "int": _conversion(int),
    "float": _conversion(float),
    "min": _extreme(min, np.fmin),
    "max": _extreme(max, np.fmax),
    "abs": _math(abs, np.abs),
    "cuda.grid": _grid,
    "cuda.gridsize": _gridsize,
    "cuda.shared.array": _array("shared"),
    "cuda.local.array": _array("local"),
    "cuda.syncthreads": _syncthreads,
    "cuda.syncwarp": _syncwarp,
    "cuda.threadfence": _fence,
    "cuda.threadfence_block": _fence,
    "cuda.fma": _fma,
    **{f"math.{function.__name__}": _math(function, numpy) for function, numpy in types.MATH.items()},
}


def _atomic(name, combine):
    def act(e, mask, node, view, index, value):
        if not isinstance(view, View):
            raise TypeError("its first argument is an array")
        indices = list(index) if isinstance(index, tuple) else [index]
        return e.machine.atomic(e, view, indices, value, combine, mask, node.lineno)

    FUNCTIONS[f"cuda.atomic.{name}"] = act


_atomic("add", lambda old, value: old + value)
_atomic("sub", lambda old, value: old - value)
_atomic("max", lambda old, value: value if value > old else old)
_atomic("min", lambda old, value: value if value < old else old)
_atomic("exch", lambda old, value: value)
