"""More functions that a kernel may call: CUDA's library `libdevice`, float16 by name, and the course's intrinsics.

Source: Numba's documentation, "libdevice functions" and "FP16 intrinsics"; NVIDIA, "libdevice User's Guide". The
numbers are NumPy's: a last bit may differ from a card's, and `fast_` functions are exact here.
"""

import inspect

import numpy as np
from numba.cuda import fp16, libdevice

from course_lib.simt.arithmetic import fused, math_function
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.values import describe, is_number
from course_lib.simt.vocabulary import MODULES, PATHS, register


def _exp10(x):
    return np.power(x.dtype.type(10), x)


def _rsqrt(x):
    return x.dtype.type(1) / np.sqrt(x)


def _round(x):
    """Halves go away from zero, unlike in Python."""
    return np.trunc(x + np.copysign(x.dtype.type(0.5), x))


def _saturate(x):
    return np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1))


FLOATS = {
    "sqrt": np.sqrt, "rsqrt": _rsqrt, "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "exp10": _exp10,
    "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "rint": np.rint, "round": _round, "pow": np.power, "fmod": np.fmod, "hypot": np.hypot,
    "fmax": np.fmax, "fmin": np.fmin, "fma": fused, "copysign": np.copysign, "fdim": lambda x, y: np.fmax(x - y, 0),
}  # fmt: skip
"""Functions of libdevice for float64; with f at the end, for float32."""

FAST = {
    "fast_expf": np.exp, "fast_exp10f": _exp10, "fast_logf": np.log, "fast_log2f": np.log2, "fast_log10f": np.log10,
    "fast_sinf": np.sin, "fast_cosf": np.cos, "fast_tanf": np.tan, "fast_powf": np.power, "fast_fdividef": np.divide,
    "saturatef": _saturate,
}  # fmt: skip

HALVES = {
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hneg": np.negative, "habs": np.abs,
    "hfma": fused, "hmax": np.fmax, "hmin": np.fmin, "hsqrt": np.sqrt, "hrsqrt": _rsqrt, "hexp": np.exp,
    "hexp2": np.exp2, "hlog": np.log, "hlog2": np.log2, "hsin": np.sin, "hcos": np.cos, "hfloor": np.floor,
    "hexp10": _exp10, "hlog10": np.log10, "hrcp": lambda x: np.float16(1) / x, "htanh": np.tanh,
    "hceil": np.ceil, "htrunc": np.trunc, "hrint": np.rint, "heq": np.equal, "hne": np.not_equal,
    "hge": np.greater_equal, "hgt": np.greater, "hle": np.less_equal, "hlt": np.less,
}  # fmt: skip
"""Functions of cuda.fp16, for float16."""


def _half(numpy_function):
    """Return the entry for a function of float16 numbers; Numba has no others, and converts none."""

    def compute(e, mask, node, *values):
        for value in values:
            if not is_number(value) or value.dtype != np.float16:
                raise TypeError(f"it takes float16 numbers, not {describe(value)}; convert with np.float16(x)")
        result = numpy_function(*values)
        e.machine.count(node.lineno, mask, result.dtype)
        return result

    return compute


MODULES[libdevice] = "libdevice"
if inspect.ismodule(fp16):  # in numba-cuda; in Numba it is a class
    MODULES[fp16] = "cuda.fp16"
for _name, _numpy in {**FLOATS, **{f"{name}f": f for name, f in FLOATS.items()}, **FAST}.items():
    if hasattr(libdevice, _name):
        FUNCTIONS[f"libdevice.{_name}"] = math_function(getattr(libdevice, _name), _numpy)
        PATHS[id(getattr(libdevice, _name))] = (getattr(libdevice, _name), f"libdevice.{_name}")
for _name, _numpy in HALVES.items():
    FUNCTIONS[f"cuda.fp16.{_name}"] = _half(_numpy)
register(path for path in FUNCTIONS if path.startswith("cuda.fp16."))


def twin(intrinsic, name):
    """Say what an intrinsic of the course does here, without a GPU.

    An intrinsic is code for the machine; its twin does the same to all lanes at once, with NumPy.

    Parameters
    ----------
    intrinsic : object
        What kernels call; it is never called here.
    name : str
        How messages call it.

    Returns
    -------
    A decorator for twin(evaluator, mask, node, *values), as the entries of `functions.FUNCTIONS`.

    Raises
    ------
    ValueError
        If the name is taken by another intrinsic.

    Source: the course's own.
    """
    path = f"intrinsic.{name}"
    if path in FUNCTIONS and PATHS.get(id(intrinsic)) != (intrinsic, path):
        raise ValueError(f"there is an intrinsic {name} already; give this one another name.")

    def enter(act):
        FUNCTIONS[path] = act
        PATHS[id(intrinsic)] = (intrinsic, path)
        return act

    return enter
