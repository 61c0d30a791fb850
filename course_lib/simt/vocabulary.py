"""The names a kernel may use, and what each means: numbers, types, thread indices, functions.

Source: Numba's documentation, "CUDA Kernel API". What is in none of these tables does not exist for a kernel.
Objects from outside are known by their class or as themselves; nothing of theirs is called.
"""

import builtins
import cmath
import math
import operator
import types as python_types
from dataclasses import dataclass, field

import numba
import numpy as np
from numba import cuda
from numba.core import types as numba_types
from numba.np.numpy_support import as_dtype

from course_lib.simt import type_names, types
from course_lib.simt.bundles import enum_of, is_enum, member_of
from course_lib.simt.lanes import WARP
from course_lib.simt.limits import Limits
from course_lib.simt.records import are_records
from course_lib.simt.source import MODULE_NAMES, Source, is_kernel, is_module, kind_name, source_of
from course_lib.simt.values import MOST_PARTS, too_long


@dataclass(frozen=True)
class Word:
    """A name of the vocabulary, such as cuda.grid; it means something when it is called. Source: the course's own."""

    path: str


@dataclass(frozen=True)
class Cast:
    """A type as a function: float32(x). Source: Numba's documentation, "Numba types".

    An array's dtype (`of_array`) is no function, but its `type` is one.
    """

    dtype: np.dtype
    of_array: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class DeviceFunction:
    """A function that kernels call. Source: Numba's documentation, "Device functions"."""

    source: Source


@dataclass(frozen=True, eq=False)
class ConstantArray:
    """An array from outside of the kernel, frozen into it. Source: Numba's documentation, "Constant memory"."""

    name: str
    array: np.ndarray


@dataclass(frozen=True, eq=False)
class Module:
    """Another module that a kernel names: its numbers and functions, read from its dictionary.

    Source: Numba's documentation, "Global and closure variables".
    """

    path: str
    names: dict


@dataclass(frozen=True)
class Unusable:
    """A name that a kernel cannot use, and why. Source: the course's own."""

    why: str


class Nothing:
    """What the name None means in a kernel. Source: the course's own."""

    path = "None"


MODULES = {
    numba: "numba", numba_types: "numba.types", cuda: "cuda", cuda.cg: "cuda.cg", math: "math", cmath: "cmath",
    operator: "operator", np: "np",
}  # fmt: skip
BUILTINS = (
    "range", "len", "min", "max", "abs", "round", "int", "float", "bool", "pow", "divmod", "complex", "print", "sum",
    "zip", "enumerate",
)  # fmt: skip
REFUSED = {
    **dict.fromkeys(("any", "all", "sorted", "map", "filter", "reversed"), "write the loop, element by element"),
}
"""Builtins that students try, and what to write instead."""

CONSTANTS = {f"math.{name}": getattr(math, name) for name in ("pi", "e", "inf", "nan", "tau")}
CONSTANTS |= {f"cmath.{name}": getattr(cmath, name) for name in ("pi", "e", "inf", "nan", "tau", "infj", "nanj")}
CONSTANTS |= {f"np.{name}": getattr(np, name) for name in ("pi", "e", "inf", "nan", "euler_gamma")}


def _axes(read):
    return {axis: (lambda lanes, i=i: read(lanes)[i]) for i, axis in enumerate("xyz")}


NAMES = {f"cuda.threadIdx.{a}": f for a, f in _axes(lambda lanes: lanes.thread_idx).items()}
NAMES |= {f"cuda.blockIdx.{a}": f for a, f in _axes(lambda lanes: lanes.block_idx).items()}
NAMES |= {f"cuda.blockDim.{a}": f for a, f in _axes(lambda lanes: tuple(map(np.int32, lanes.block_dim))).items()}
NAMES |= {f"cuda.gridDim.{a}": f for a, f in _axes(lambda lanes: tuple(map(np.int32, lanes.grid_dim))).items()}
NAMES |= {"cuda.laneid": lambda lanes: lanes.lane, "cuda.warpsize": lambda lanes: np.int32(WARP)}
FIXED = {path: types.literal(value) for path, value in CONSTANTS.items()}
FIXED |= {path: Cast(dtype) for path, dtype in type_names.NAMES.items()}
"""What means the same for every thread, and outside of kernels: constants of modules, and types."""
NAMES |= {path: (lambda lanes, value=value: value) for path, value in FIXED.items()}
WAYS = {"numba.cuda": "cuda", "numba.core.types": "numba.types", "cuda.libdevice": "libdevice"}
"""Other ways to modules: cuda.libdevice.sqrt is the sqrt of libdevice."""
NAMES |= {path: (lambda lanes, to=to: Word(to)) for path, to in WAYS.items()}

PATHS = {}
"""id of an object of Numba's -> (the object, its path): for `grid` after `from numba.cuda import grid`."""


_leading = {}


def leading(table):
    """Return the words that lead to those of a table of paths: cuda and cuda.atomic for cuda.atomic.add."""
    known = _leading.get(id(table))
    if known is None or known[0] != len(table):
        parts = [path.split(".") for path in table]
        words = {".".join(p[:n]) for p in parts for n in range(1, len(p))}
        known = _leading[id(table)] = len(table), words, table
    return known[1]


def register(paths):
    """Enter words, dotted from the module on, so that the objects behind them are known when a name stands for one."""
    roots = {path: module for module, path in MODULES.items()}
    for path in paths:
        parts = path.split(".")
        value = roots.get(parts[0])
        for i, part in enumerate(parts[1:], 2):
            value = getattr(value, part, None)
            if value is None:
                break
            PATHS.setdefault(id(value), (value, ".".join(parts[:i])))


register([path.rpartition(".")[0] for path in NAMES if path.startswith("cuda.") and path.count(".") == 2])
register(["cuda.laneid", "cuda.warpsize"])


def from_outside(value, name, family):
    """Return what a name from outside of the kernel means, or `Unusable`.

    Numbers, tuples of them, dtypes, modules and functions of the vocabulary, device functions and arrays are let in;
    only objects of exactly known classes, since another class may do anything when it is asked something.
    `family` is that of a Source.
    """
    kind = type(value)
    if any(kind is k for k in (bool, int, float, complex, *types.SCALARS)):
        try:
            return types.literal(value)
        except TypeError as error:
            return Unusable(f"{name}: {error}")
    if kind is tuple:
        if too_long(value):
            return Unusable(f"{name} is a tuple of more than {MOST_PARTS} parts; pass an array as an argument.")
        parts = tuple(from_outside(v, f"{name}[{i}]", family) for i, v in enumerate(value))
        return next((p for p in parts if type(p) is Unusable), parts)
    if kind is np.ndarray and (types.computes_with(value.dtype) or are_records(value.dtype)):
        return ConstantArray(name, value)
    if value is None:
        return Nothing()
    if any(kind is k for k in (Word, Cast, DeviceFunction, ConstantArray, Unusable, Limits)):
        return value  # of a kernel that was read as a text
    return _known(value, name, kind, family)


def type_named(text):
    """Return the Cast of a dtype's short name such as "float32" or "f4", or the text itself if it is none."""
    try:
        dtype = np.dtype(text) if text.isalnum() and len(text) <= 12 else None
    except TypeError:
        return text
    return Cast(dtype) if dtype is not None and types.computes_with(dtype) else text


def pythons_own(name):
    """Return what a builtin means that no kernel can call. Source: the course's own."""
    return Unusable(f"{name} is Python's own and does not exist in a kernel.")


def _known(value, name, kind, family):
    if is_module(value):
        path = next((path for module, path in MODULES.items() if value is module), None)
        return Word(path) if path else Module(name, MODULE_NAMES(value))
    if id(value) in type_names.OBJECTS:
        return Cast(type_names.OBJECTS[id(value)][1])
    if any(kind is type(np.dtype(k)) for k in types.SCALARS) and value.isnative:
        return Cast(value)
    if is_enum(value) or is_enum(kind):
        found = enum_of(value) if is_enum(value) else member_of(value)
        return found if found is not None else Unusable(f"{name} is an enumeration of something else than numbers.")
    if kind is numba_types.Record or kind is np.dtypes.VoidDType:
        dtype = as_dtype(value) if kind is numba_types.Record else value
        return Cast(dtype) if are_records(dtype) else Unusable(f"{name} is {dtype}, which a kernel cannot use.")
    for builtin in BUILTINS:
        if value is getattr(builtins, builtin):
            return Word(builtin)
    for builtin, instead in REFUSED.items():
        if value is getattr(builtins, builtin):
            return Unusable(f"{builtin} is not possible in a kernel; {instead}.")
    if value is vars(builtins).get(name):
        return pythons_own(name)
    if id(value) in PATHS:
        return Word(PATHS[id(value)][1])
    if is_kernel(value):
        return DeviceFunction(source_of(value, family))
    if value is numba.prange:
        return Unusable("prange gives a loop to a CPU's threads; a kernel's threads share it by cuda.grid: use range.")
    if kind is python_types.FunctionType:
        return Unusable(f"{name} is a Python function; decorate it with @gpu.jit(device=True) to call it in a kernel.")
    return Unusable(f"{name} is a {kind_name(value)}, which a kernel cannot use; pass numbers and arrays as arguments.")
