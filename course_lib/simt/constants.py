"""The constants at the top of a kernel's text, such as T = 16 and W = np.array([1, 2]): computed as Python would.

Source: the course's own. Whole numbers stay within 64 bits before and after each operation, so that no constant can
take the time or the memory of a huge one.
"""

import ast
import math

import numpy as np

from course_lib.simt.limits import Limits, limit, limits_of
from course_lib.simt.records import MOST_FIELDS, are_records
from course_lib.simt.source import KernelError
from course_lib.simt.types import BINARY, UNARY
from course_lib.simt.values import too_long
from course_lib.simt.vocabulary import FIXED, NAMES, WAYS, Cast, DeviceFunction, Unusable, Word, leading, type_named

FUNCTIONS = {"int": int, "float": float, "bool": bool, "complex": complex, "abs": abs, "min": min, "max": max}
FUNCTIONS |= {f"math.{n}": getattr(math, n) for n in ("sqrt", "exp", "log", "log2", "sin", "cos", "floor", "ceil")}
TYPES = ("np.array", "np.dtype", "numba.from_dtype", "np.finfo", "np.iinfo")
MOST_BYTES = 65_536
"""Of a record."""
MOST_PARTS = 1_000
"""Of a tuple of constants, counted with those of the tuples in it."""


def constant(node, names):
    """Return the number, type, word, array, or tuple of them that an expression stands for.

    Parameters
    ----------
    node : ast.expr
    names : dict of str to object
        What earlier names mean.

    Raises
    ------
    KernelError
        If it is no constant, or does not fit into 64 bits.

    Source: the course's own.
    """
    try:
        with np.errstate(all="ignore"):
            return _value(node, names)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise KernelError(f"this constant cannot be computed: {error}.", node.lineno) from None


def _value(node, names):
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float, complex):
        return _fitting(node.value, node)
    if isinstance(node, ast.Name):
        return _named(node, names)
    if isinstance(node, ast.Attribute):
        return _attribute(node, names)
    if isinstance(node, ast.Tuple):
        return _short(tuple(_value(part, names) for part in node.elts), node)
    if isinstance(node, ast.UnaryOp):
        value = _number(node.operand, names)
        value = int(value) if type(value) is bool and not isinstance(node.op, ast.Not) else value
        return _fitting(UNARY[type(node.op).__name__](value), node)
    if isinstance(node, ast.BinOp) and type(node.op).__name__ in BINARY:
        return _binary(node, names)
    if isinstance(node, ast.Subscript):
        return _part(node, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    raise _no_constant(node)


def _no_constant(node):
    return KernelError(
        "outside of functions only constants have a place: numbers, tuples, arithmetic with them and with earlier "
        "names, and casts such as float32(3).", node.lineno,
    )  # fmt: skip


def _named(node, names):
    meaning = names.get(node.id)
    if meaning is None:
        raise KernelError(f"{node.id} has no value here.", node.lineno)
    if type(meaning) is Unusable:
        raise KernelError(meaning.why, node.lineno)
    if type(meaning) is DeviceFunction:
        raise _no_constant(node)
    return _meaning(meaning.path) if type(meaning) is Word else meaning


def _attribute(node, names):
    owner = _value(node.value, names)
    if type(owner) is Limits and (found := limit(owner, node.attr)) is not None:
        return found
    if type(owner) is np.ndarray and node.attr in ("shape", "ndim", "size"):
        return getattr(owner, node.attr)
    if type(owner) is not Word:
        raise _no_constant(node)
    path = f"{owner.path}.{node.attr}"
    if not any(path in known for known in (NAMES, FUNCTIONS, TYPES, leading(FIXED))):
        raise KernelError(f"{path} is not among the words of a kernel here.", node.lineno)
    return _meaning(path)


def _meaning(path):
    """Return what a word stands for where there is no thread: a number, a type, or the word itself."""
    return Word(WAYS[path]) if path in WAYS else FIXED.get(path, Word(path))


def _number(node, names):
    return _checked(_value(node, names), node)


def _checked(value, node):
    if type(value) not in (bool, int, float, complex) and not isinstance(value, np.number | np.bool_):
        raise KernelError("this is computed with numbers only.", node.lineno)
    return value


def _fitting(value, node):
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise KernelError("this whole number does not fit into 64 bits.", node.lineno)
    return value


def _short(parts, node):
    if too_long(parts, MOST_PARTS):
        raise KernelError(f"this tuple has more than {MOST_PARTS:,} parts; pass an array to the kernel.", node.lineno)
    return parts


def _binary(node, names):
    name, left, right = type(node.op).__name__, _value(node.left, names), _value(node.right, names)
    if isinstance(left, tuple) and isinstance(right, tuple) and name == "Add":
        return _short(left + right, node)
    left, right = _checked(left, node), _checked(right, node)
    whole = type(left) in (bool, int) and type(right) in (bool, int)
    if whole and name == "LShift" and right > 64 and left:
        raise KernelError("this whole number does not fit into 64 bits.", node.lineno)
    if whole and name == "Pow" and abs(left) > 1 and abs(right) > 64:
        raise KernelError("this whole number does not fit into 64 bits.", node.lineno)
    return _fitting(BINARY[name](left, right), node)


def _part(node, names):
    owner, index = _value(node.value, names), _value(node.slice, names)
    if not isinstance(owner, tuple) or type(index) is not int:
        raise _no_constant(node)
    if not -len(owner) <= index < len(owner):
        raise KernelError(f"a tuple of {len(owner)} has no part {index}.", node.lineno)
    return owner[index]


def _call(node, names):
    function = _value(node.func, names)
    path = function.path if type(function) is Word else ""
    if path == "np.array":
        return _array(node, names)
    if path in TYPES:
        return _type(path, node, names)
    arguments = [_number(a, names) for a in node.args]
    if node.keywords or not 1 <= len(arguments) <= 8:
        raise _no_constant(node)
    if type(function) is Cast and len(arguments) == 1:
        return np.asarray(arguments[0]).astype(function.dtype)[()]
    if type(function) is Word and function.path in FUNCTIONS:
        return _fitting(FUNCTIONS[function.path](*arguments), node)
    raise _no_constant(node)


def _type(path, node, names):
    """Return the type of np.dtype(...) or numba.from_dtype(...), or the limits of a type."""
    options = {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
    if len(node.args) != 1 or len(options) != len(node.keywords) or options.keys() - {"align"}:
        raise _no_constant(node)
    if path in ("np.finfo", "np.iinfo"):
        return limits_of(path[3:], getattr(_value(node.args[0], names), "dtype", None))
    given = node.args[0]
    if isinstance(given, ast.List) and path == "np.dtype":
        fields = [_field(part, names) for part in given.elts[: MOST_FIELDS + 1]]
        dtype = np.dtype(fields, align=options.get("align") is True)
        if not are_records(dtype) or dtype.itemsize > MOST_BYTES:
            raise KernelError(f"a record has 1 to {MOST_FIELDS} fields and at most {MOST_BYTES:,} bytes.", node.lineno)
        return Cast(dtype)
    found = type_named(given.value) if isinstance(given, ast.Constant) and type(given.value) is str else None
    found = found or _value(given, names)
    if type(found) is not Cast:
        raise _no_constant(node)
    return found


def _field(node, names):
    """Return (name, dtype) or (name, dtype, shape) of a field of a record."""
    if not isinstance(node, ast.Tuple) or not 2 <= len(node.elts) <= 3:
        raise _no_constant(node)
    name, kind, *shape = node.elts
    if not isinstance(name, ast.Constant) or type(name.value) is not str or not name.value.isidentifier():
        raise KernelError("a field of a record has a name that could be a variable's.", node.lineno)
    text = isinstance(kind, ast.Constant) and type(kind.value) is str
    dtype = type_named(kind.value) if text else _value(kind, names)
    sizes = [_value(s, names) for s in shape]
    sizes = sizes[0] if sizes and isinstance(sizes[0], tuple) else tuple(sizes)
    if type(dtype) is not Cast or any(type(s) is not int or not 1 <= s <= MOST_BYTES for s in sizes):
        raise _no_constant(node)
    if math.prod(sizes) * dtype.dtype.itemsize > MOST_BYTES:
        raise KernelError(f"a record has at most {MOST_BYTES:,} bytes.", node.lineno)
    return (name.value, dtype.dtype, sizes) if sizes else (name.value, dtype.dtype)


def _array(node, names):
    """Return the array of np.array(numbers), np.array(numbers, dtype) or np.array(numbers, dtype=dtype)."""
    options = [node.args[1]] if len(node.args) == 2 else [k.value for k in node.keywords if k.arg == "dtype"]
    if len(node.args) + len(node.keywords) != 1 + len(options) or len(options) > 1 or not node.args:
        raise _no_constant(node)
    dtype = _value(options[0], names) if options else None
    if options and type(dtype) is not Cast:
        raise _no_constant(node)
    array = np.array(_parts(node.args[0], names), dtype.dtype if options else None)
    if array.dtype.kind not in "biufc":
        raise KernelError("an array of constants has numbers only.", node.lineno)
    return array


def _parts(node, names):
    if isinstance(node, ast.List | ast.Tuple):
        return _short(tuple(_parts(part, names) for part in node.elts), node)
    return _value(node, names)
