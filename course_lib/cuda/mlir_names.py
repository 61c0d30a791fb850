"""The names in a kernel's text, bound to numba-cuda-mlir's own objects: the same text for the other compiler.

A kernel names `cuda`, `float32`, device functions. To numba-cuda-mlir those of Numba are strangers, so each is replaced
by its own one before the text is compiled. Source: NVIDIA, "numba-cuda-mlir"; the course's own.
"""

import functools
from types import SimpleNamespace
from unittest import mock

import numba
from numba import cuda as numbas

from course_lib.cuda import hopper, intrinsics
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.unroll import compiled_form

INTRINSICS = {id(getattr(module, name)): name for module in (intrinsics, hopper) for name in module.NAMES}

_devices = {}


@functools.cache
def package():
    """Return numba-cuda-mlir's `cuda`, `tools` and `types`; ImportError without it. Source: NVIDIA, "numba-cuda-mlir".

    Imported here and not above: to look at this module nobody needs it.
    """
    from numba_cuda_mlir import cuda, tools, types

    return SimpleNamespace(cuda=cuda, tools=tools, types=types)


def own_names(names):
    """Return {name: object} with numba-cuda-mlir's own objects in place of Numba's.

    Raises
    ------
    DeviceError
        If one is an intrinsic: they are written for another code generator. `nonneg`, a mere promise, is left out.

    Source: the course's own.
    """
    return {name: _own(value) for name, value in names.items()}


def own_type(kind):
    """Return numba-cuda-mlir's own type for one of Numba's; AttributeError if it has none. Source: the course's own."""
    types = package().types
    if isinstance(kind, numba.types.Array):
        return types.Array(own_type(kind.dtype), kind.ndim, kind.layout)
    return getattr(types, {"bool": "boolean"}.get(str(kind), str(kind)))


def ptx_of(function, signature, cc):
    """Return the PTX of what `compiled_form` returned, for Numba's types; errors as numba-cuda-mlir's.

    Source: NVIDIA, "numba-cuda-mlir".
    """
    own = package()
    with mock.patch.object(own.tools, "_cached_cc", cc):  # it would ask the driver
        types = own.types.void(*map(own_type, signature))
        text, _ = own.cuda.compile(function, types, cc=cc, output="ptx", abi="numba", device=False)
    return text


def _own(value):
    if value is numbas:
        return package().cuda
    if value is numba.types:
        return package().types
    if isinstance(value, numba.types.Type):
        return own_type(value)
    if id(value) in INTRINSICS:
        return _intrinsic(INTRINSICS[id(value)])
    return _device_function(value.py_func) if hasattr(value, "py_func") else value


def _intrinsic(name):
    if name != "nonneg":
        raise DeviceError(
            f"{name} is written for numba-cuda's code generator; numba-cuda-mlir cannot compile a kernel with it",
            "Unset COURSE_COMPILER, or take a kernel without intrinsics: tests/gates/README.md has a table.",
        )
    return _device_function(_nonneg)


def _nonneg(i):
    return i


def _device_function(function):
    if function not in _devices:
        _devices[function] = package().cuda.jit(device=True)(compiled_form(function)[0])
    return _devices[function]
