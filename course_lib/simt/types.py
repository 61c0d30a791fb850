"""Which type a result has: Numba's rules, asked of Numba itself.

Source: the Numba documentation, "Numba types". NumPy's rules are other ones: in a kernel int32 + int32 is
int64, and a float32 times an int is float64, so that a float64 creeps in where a student sees none. Nothing is
compiled or run to find a type: Numba's table of operators is only looked up.
"""

import cmath
import functools
import math
import operator

import numba
import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.core.target_extension import target_override
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

BINARY = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
    "LShift": operator.lshift, "RShift": operator.rshift,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip
COMPARE = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
    "NotEq": operator.ne,
}  # fmt: skip
LIKE = {
    math.exp2: (math.exp,), math.nextafter: (math.copysign,), np.isnan: (np.logical_not,),
    np.divide: (np.arctan2, operator.truediv),
    **dict.fromkeys((cmath.sinh, cmath.cosh), (cmath.sin,)),
}  # fmt: skip
"""Functions that NVIDIA's numba-cuda has and Numba's own CUDA target has not, and others with the same types."""
UNARY = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert, "Not": operator.not_}
SYMBOLS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&",
    operator.or_: "|", operator.xor: "^",
}  # fmt: skip


class NoSuchOperation(TypeError):
    """Numba has no such operation for these types. Source: the course's own."""


def _context():
    """Return Numba's table of CUDA types, complete; what is made for CUDA is entered only while CUDA is the target."""
    context = cuda_target.typing_context
    with target_override("cuda"):
        context.refresh()
    return context


@functools.cache
def signature(function, *dtypes):
    """Return (result dtype, argument dtypes) that Numba chooses for function(*values of these dtypes).

    Of a function that returns several values, such as math.frexp, the result is a tuple of dtypes.

    Raises
    ------
    NoSuchOperation
        If Numba has none.

    Source: Numba's typing context.
    """
    found = _resolve(function, tuple(map(numba_type, dtypes)))
    if found is None or not (_is_number(found.return_type) or isinstance(found.return_type, types.BaseTuple)):
        name = SYMBOLS.get(function, getattr(function, "__name__", str(function)))
        raise NoSuchOperation(f"Numba has no {name} for {', '.join(str(np.dtype(d)) for d in dtypes)}.")
    # Functions of several values, such as max, take a tuple: each value then becomes the common type.
    kinds = {np.dtype(d).kind for d in dtypes}
    several = isinstance(found.return_type, types.BaseTuple)
    result = tuple(map(as_dtype, found.return_type)) if several else as_dtype(found.return_type)
    if function in BINARY.values() and result.kind in "iu" and kinds <= set("iub"):
        return result, (result,) * len(dtypes)  # signed with unsigned: the bits count, as on the device
    chosen = [as_dtype(a) if _is_number(a) else None for a in found.args]
    return result, tuple(c or result for c in (chosen if len(chosen) == len(dtypes) else [None] * len(dtypes)))


def numba_type(dtype):
    """Return the type that Numba gives to values of a dtype. No errors for dtypes of numbers."""
    return from_dtype(np.dtype(dtype))


def _is_number(found):
    return isinstance(found, types.Number | types.Boolean)


def _resolve(function, arguments):
    """Return Numba's signature, or that of a function of the same types where only newer packages have this one."""
    if function is operator.pos and arguments == (types.float16,):  # as in numba-cuda; else it would be a float32
        return types.float16(types.float16)
    for each in (function, *LIKE.get(function, ())):
        try:
            found = _context().resolve_function_type(each, arguments, {})
        except (TypingError, NotImplementedError):  # the latter for some mixtures with float16
            found = None
        if found is not None:
            return found
    if function in (min, max) and types.float16 in arguments and types.boolean not in arguments:
        common = _context().unify_types(*arguments)  # numba-cuda's rule; Numba's own CUDA target has neither
        return common(*[common] * len(arguments)) if _is_number(common) else None
    return None


@functools.cache
def unify(*dtypes):
    """Return the one dtype of a variable that was given values of these dtypes on different paths.

    Raises
    ------
    NoSuchOperation
        If no type holds them all.

    Source: Numba's typing context.
    """
    context = _context()
    found = context.unify_types(*map(numba_type, dtypes))
    if found is None or not _is_number(found):
        raise NoSuchOperation(f"Numba cannot unify {' and '.join(str(np.dtype(d)) for d in dtypes)} in one variable.")
    return as_dtype(found)


@functools.cache
def range_dtype(*dtypes):
    """Return the dtype of the numbers that range(...) of such bounds gives. Source: Numba's typing context."""
    context = _context()
    found = context.resolve_function_type(range, tuple(map(numba_type, dtypes)), {})
    return as_dtype(found.return_type.dtype)


SCALARS = tuple(
    np.dtype(name).type
    for name in (
        "bool",
        *(f"{k}{n}" for k in ("int", "uint") for n in (8, 16, 32, 64)),
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
)


def computes_with(dtype):
    """Return whether a kernel computes with numbers of a dtype: in the host's byte order, none longer than Numba's."""
    return dtype.isnative and (dtype.kind in "biu" or dtype.type in SCALARS)


TWINS = tuple(
    (kind, of_size)
    for kind in (np.dtype(letter).type for letter in "ilqILQ")
    if kind is not (of_size := np.dtype(f"{np.dtype(kind).kind}{np.dtype(kind).itemsize}").type)
)
"""C's second name for whole numbers of a size: NumPy has a class for each, and int64 is but one of the two."""


def literal(value):
    """Return a Python number as Numba types it: int64, float64, complex128 or bool; else TypeError."""
    kind = type(value)  # of exactly these classes: a subclass may do anything when it is computed with
    if kind is bool:
        return np.bool_(value)
    if any(kind is scalar for scalar in SCALARS):
        return value
    for twin, scalar in TWINS:
        if kind is twin:
            return scalar(value)
    if kind is int:
        if not -(2**63) <= value < 2**64:
            raise TypeError(f"{value if value.bit_length() < 100 else 'this whole number'} does not fit into 64 bits.")
        return np.int64(value) if value < 2**63 else np.uint64(value)
    if kind is float:
        return np.float64(value)
    if kind is complex:
        return np.complex128(value)
    name = type.__dict__["__name__"].__get__(kind)
    raise TypeError(f"a {name} is given; a kernel computes with numbers and booleans.")


MATH = {
    getattr(math, name): getattr(np, numpy_name)
    for name, numpy_name in {
        "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
        "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh",
        "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "floor": "floor", "ceil": "ceil",
        "trunc": "trunc", "fabs": "fabs", "pow": "power", "hypot": "hypot", "fmod": "fmod", "copysign": "copysign",
        "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "degrees": "degrees", "radians": "radians",
        "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "exp2": "exp2", "nextafter": "nextafter",
        "frexp": "frexp", "ldexp": "ldexp", "modf": "modf",
    }.items()
}  # fmt: skip
"""Functions of the module `math` that a kernel may call, and NumPy's for a vector of lanes."""


def _compiled(function):
    """Return a function of `math` that NumPy lacks, for vectors; where Python raises an error, C gives inf or NaN."""

    @numba.vectorize
    def for_each(x):
        return function(x)

    return for_each


def ieee_remainder(x, y):
    """Return x - n * y, n being the whole number nearest to x / y, the even one of two: exact, as `fmod` is."""
    rest, y = np.fmod(np.abs(x), 2 * np.abs(y)), np.abs(y)
    for_one = rest > y - rest
    rest = np.where(for_one, rest - y, rest)
    rest = np.where(for_one & (rest >= y - rest), rest - y, rest)
    return np.where(np.signbit(x), -rest, rest)[()]


MATH[math.remainder] = ieee_remainder
MATH |= {function: _compiled(function) for function in (math.erf, math.erfc, math.gamma, math.lgamma)}
