"""What a kernel does with complex numbers beyond arithmetic: complex(x, y), z.real, z.conjugate(), functions of cmath.

Source: Numba's documentation, "Supported Python features in CUDA Python" (cmath).
"""

import cmath

import numpy as np

from course_lib.simt import types
from course_lib.simt.arithmetic import math_function
from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import register

FUNCTIONS_OF_ALL = {
    "acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "cos": np.cos,
    "exp": np.exp, "sin": np.sin, "sqrt": np.sqrt, "tan": np.tan,
}  # fmt: skip
"""Functions of cmath that take real numbers as well."""

OF_COMPLEX = {
    "acosh": (np.arccosh, "complex128"), "cosh": (np.cosh, None), "sinh": (np.sinh, None),
    "tanh": (np.tanh, "complex128"), "log10": (np.log10, "complex128"),
}  # fmt: skip
"""Those that take complex numbers only, with the dtype of the result where it is not that of the argument."""

FLOPS = 8
"""Of a function of complex numbers: it is made of some four functions of real ones and a product."""

for _name, _numpy in FUNCTIONS_OF_ALL.items():
    FUNCTIONS[f"cmath.{_name}"] = math_function(getattr(cmath, _name), _numpy, FLOPS)
for _name in ("isnan", "isinf", "isfinite"):
    FUNCTIONS[f"cmath.{_name}"] = math_function(getattr(cmath, _name), getattr(np, _name))


def _complex_only(name, numpy_function, dtype):
    def act(e, mask, node, value):
        _check_complex(value, f"math.{name}(x)")
        e.machine.count(node.lineno, mask, value.dtype, FLOPS)
        return cast(numpy_function(value), np.dtype(dtype) if dtype else value.dtype)

    return act


def _check_complex(value, instead):
    if not is_number(value) or value.dtype.kind != "c":
        raise TypeError(f"it takes a complex number, not {describe(value)}; write {instead}, or complex(x)")


for _name, (_numpy, _dtype) in OF_COMPLEX.items():
    FUNCTIONS[f"cmath.{_name}"] = _complex_only(_name, _numpy, _dtype)


@function("cmath.log")
def _log(e, mask, node, value, base=None):
    log = math_function(cmath.log, np.log, FLOPS)
    if base is None:
        return log(e, mask, node, value)
    return e._binary("Div", log(e, mask, node, value), log(e, mask, node, base), mask, node)


@function("cmath.phase")
def _phase(e, mask, node, value):
    _check_complex(value, "math.atan2(y, x)")
    e.machine.count(node.lineno, mask, value.real.dtype)
    return np.arctan2(value.imag, value.real)


@function("cmath.polar")
def _polar(e, mask, node, value):
    _check_complex(value, "math.hypot(x, y)")
    e.machine.count(node.lineno, mask, value.real.dtype, 2)
    return np.abs(value), np.arctan2(value.imag, value.real)


@function("cmath.rect")
def _rect(e, mask, node, r, phi):
    if not all(is_number(v) and v.dtype.kind == "f" for v in (r, phi)):
        raise TypeError("it takes two floats: a length and an angle")
    dtype = types.unify(r.dtype, phi.dtype) if r.dtype != phi.dtype else r.dtype
    r, phi = cast(r, dtype), cast(phi, dtype)
    e.machine.count(node.lineno, mask, dtype, 4)
    return _complex(r * np.cos(phi), r * np.sin(phi))


def _complex(real, imag):
    out = np.empty(np.broadcast(real, imag).shape, np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out[()]


@function("complex")
def _make(e, mask, node, real, imag=None, /):
    if not is_number(real) or not (imag is None or is_number(imag)):
        raise TypeError(f"{describe(real if imag is None or not is_number(real) else imag)} is no number")
    if imag is None:
        return cast(real, types.signature(complex, real.dtype)[0])
    if "c" in (real.dtype.kind, imag.dtype.kind):
        raise TypeError("its two parts are real numbers; write a + 1j * b")
    dtype = types.signature(complex, real.dtype, imag.dtype)[0]
    part = dtype.type(0).real.dtype
    return _complex(cast(real, part), cast(imag, part))


@function("number.conjugate")
def _conjugate(e, mask, node, value):
    return np.conjugate(value)


@function("number.item")
def _item(e, mask, node, value):
    return value


@function("number.view")
def _view(e, mask, node, value, dtype):
    """Return the same bits as a number of another type of the same size."""
    wanted = getattr(dtype, "dtype", None)
    if not isinstance(wanted, np.dtype) or value.dtype.kind not in "iuf" or wanted.kind not in "iuf":
        raise TypeError("it takes a type of numbers, such as np.int32")
    if wanted.itemsize != value.dtype.itemsize:
        raise TypeError(f"the bits of a {value.dtype} are not those of a {wanted}: the sizes differ")
    return np.asarray(value).view(wanted)[()]


register(path for path in FUNCTIONS if path.startswith("cmath."))
