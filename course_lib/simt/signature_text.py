"""The text of a signature, such as "void(float32[:, :], int32)": parsed, and looked up in a closed list of types.

Nothing of it is evaluated. Source: Numba's documentation, "Numba types" ("Signatures").
"""

import ast
from dataclasses import dataclass

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

MOST_CHARACTERS = 2_000
MOST_AXES = 8
MOST_PARTS = 64

NAMES = (
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128", "boolean", "bool_", "byte", "intp", "uintp"),
    *("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "float_", "double"),
    *("char", "uchar", "short", "ushort", "int_", "uint", "intc", "uintc", "long_", "ulong", "longlong", "ulonglong"),
    *("ssize_t", "size_t"),
)
"""Names of numbers that a signature may contain, as far as this Numba has them."""

TYPES = {name: as_dtype(getattr(types, name)) for name in NAMES if hasattr(types, name)}
VOID = ("void", "none")

RULE = 'Write it as "void(float32[:, :], int32)": a type for each parameter, float32[:] for an array with one axis.'


class NotDeclared(TypeError):
    """A value that does not fit to the declared type; or a signature that is none. Source: the course's own."""


@dataclass(frozen=True)
class Type:
    """What is declared: a number, or with axes an array, in the layout "C", "F" or "A" (any). Source: Numba's types."""

    dtype: np.dtype
    ndim: int = 0
    layout: str = ""

    @property
    def is_number(self):
        """Whether it is no array and no record."""
        return not self.ndim and self.dtype.names is None

    def __str__(self):
        name = "boolean" if self.dtype == np.bool_ else str(self.dtype)
        if self.dtype.names:
            name = f"{'records' if self.ndim else 'a record'} of {', '.join(self.dtype.names)}"
        if not self.ndim:
            return name
        axes = [":"] * self.ndim
        if self.layout in "CF":
            axes[-1 if self.layout == "C" else 0] = "::1"
        return f"{name}[{', '.join(axes)}]"


@dataclass(frozen=True)
class Signature:
    """The Types of the parameters (nested tuples for tuples), and of what is returned: a Type, "void", or None: unsaid.

    Source: Numba's documentation, "Signatures".
    """

    parameters: tuple
    returns: object = None

    def __str__(self):
        said = "" if self.returns is None else str(self.returns)
        return f"{said}({', '.join(map(_shown, self.parameters))})"


def _shown(declared):
    return f"({', '.join(map(_shown, declared))})" if type(declared) is tuple else str(declared)


def parsed(text):
    """Return the Signature of a text such as "void(float32[:], int32)"; NotDeclared if it is none."""
    if len(text) > MOST_CHARACTERS:
        raise NotDeclared(f"the signature has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotDeclared(f'"{text[:100]}" is no signature. {RULE}') from None
    return of_tree(tree, lambda node: node.id if type(node) is ast.Name else None)


def of_decorator(node, name_of):
    """Return the Signatures that a decorator's first argument declares in a text: a text, types, or a list of these.

    `name_of` is that of `of_tree`; NotDeclared where it declares something else. Source: the course's own.
    """
    parts = node.elts if type(node) is ast.List else [node]
    return tuple(parsed(p.value) if _is_text(p) else of_tree(p, name_of) for p in parts)


def _is_text(node):
    return type(node) is ast.Constant and type(node.value) is str


def of_tree(node, name_of):
    """Return the Signature of a syntax tree.

    `name_of(node)` is the type that a Name or Attribute stands for: its name, a Type or a tuple of them.

    Raises
    ------
    NotDeclared
        If it is no signature.
    """
    if type(node) is ast.Tuple:
        return Signature(tuple(_parameter(part, name_of) for part in node.elts))
    if type(node) is ast.Call and not node.keywords:
        returns = "void" if _name(node.func, name_of) in VOID else _parameter(node.func, name_of)
        return Signature(tuple(_parameter(part, name_of) for part in node.args), returns)
    raise NotDeclared(f"{_text(node)} is no signature. {RULE}")


def _parameter(node, name_of):
    """Return what a part of a signature's tree declares: a Type, or a tuple of them."""
    if type(node) is ast.Call and not node.keywords and _name(node.func, name_of) in ("Tuple", "UniTuple"):
        return _tuple(node, name_of)
    return _type_of(node, name_of)


def _type_of(node, name_of):
    array = type(node) is ast.Subscript
    found = _name(node.value if array else node, name_of)
    found = Type(TYPES[found]) if type(found) is str and found in TYPES else found
    if array and type(found) is Type and not found.ndim:
        return _array(found.dtype, node)
    if not array and type(found) in (Type, tuple):
        return found
    raise NotDeclared(f"{_text(node)} is no type that a signature can declare. {RULE}")


def _name(node, name_of):
    return name_of(node) if type(node) in (ast.Name, ast.Attribute) else None


def _text(node):
    try:
        return f'"{ast.unparse(node)[:100]}"'
    except RecursionError:
        return "what is nested so deep"


def _array(dtype, node):
    """Return the Type of float32[:, ::1]: an axis for each colon, ::1 on the one that lies element by element."""
    axes = node.slice.elts if type(node.slice) is ast.Tuple else [node.slice]
    steps = []
    for axis in axes:
        plain = type(axis) is ast.Slice and axis.lower is None and axis.upper is None
        step = axis.step if plain else None
        if not plain or not (step is None or (type(step) is ast.Constant and step.value == 1)):
            raise NotDeclared(f"{_text(node)} is no array type: write : for each axis, as in float32[:, :].")
        steps.append(step is not None)
    if len(steps) > MOST_AXES or sum(steps) > 1 or any(steps[1:-1]):
        raise NotDeclared(f"{_text(node)} is no array type; ::1 stands on the last axis, or on the first.")
    layout = "C" if steps[-1] else "F" if steps[0] else "A"
    return Type(dtype, len(steps), layout)


def _tuple(node, name_of):
    wrong = NotDeclared(f"{_text(node)} is no tuple type; write UniTuple(int32, 2) or Tuple((int32, f4)).")
    if _name(node.func, name_of) == "Tuple":
        if len(node.args) != 1 or type(node.args[0]) not in (ast.Tuple, ast.List):
            raise wrong
        return tuple(_type_of(part, name_of) for part in node.args[0].elts)
    if len(node.args) != 2 or type(node.args[1]) is not ast.Constant or type(node.args[1].value) is not int:
        raise wrong
    if not 1 <= node.args[1].value <= MOST_PARTS:
        raise wrong
    return (_type_of(node.args[0], name_of),) * node.args[1].value
