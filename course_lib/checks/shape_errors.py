"""NumPy's errors about shapes and dtypes, told with the shapes of the arrays, and what would fit.

Source: the course's own; NumPy's documentation, "Broadcasting" and `numpy.matmul`.
"""

import ast
import inspect
import math
import re

import numpy as np

from course_lib.checks.einsum_errors import einsum_error, is_einsum_error
from course_lib.checks.message_shapes import inner_sizes, shapes_in

ELEMENTWISE = ("operands could not be broadcast together", "non-broadcastable output operand")
PRODUCT = ("mismatch in its core dimension", "not aligned", "does not have enough dimensions")
PUT = ("could not broadcast input array",)
CAST = ("Cannot cast ufunc",)
RESHAPE = re.compile(r"cannot reshape array of size (\d+) into shape \(([^)]*)\)")
OTHER = ("must match exactly", "same number of dimensions", "same shape", "axes don't match")
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**", ast.FloorDiv: "//",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
MOST_LISTED = 8
"""Arrays of a list whose shapes are told."""

PRODUCTS = ("dot", "matmul")
SAME_SHAPE = ("abs", "absolute", "cosh", "exp", "float64", "log", "negative", "sinh", "sqrt", "square", "tanh")
"""Functions whose result has the shape of their argument: what they were given need not be computed again."""

REDUCTIONS = ("max", "mean", "min", "sum")
"""Methods that take an axis away, or leave it with length 1 where keepdims=True."""


def shape_error(error, origin, function, arguments):
    """Return sentences on a NumPy error about shapes or a dtype that does not take a result; "" for other errors.

    Parameters
    ----------
    error : Exception
    origin : Origin or None
    function : callable
        The answer; its parameters name the arguments.
    arguments : sequence
        What it was called with.

    No errors. Source: the course's own.
    """
    text = str(error)
    given = _given(function, arguments)
    if _has(text, CAST):
        return (
            "An array of whole numbers cannot take fractions in place. Work on a copy that can: "
            "`x = x - step` instead of `x -= step`, or begin with `x = x.astype(float)`."
        )
    if isinstance(error, ValueError) and (found := RESHAPE.search(text)):
        return " ".join(filter(None, [_reshape(*found.groups()), given]))
    if isinstance(error, ValueError) and is_einsum_error(text):
        node, names = (origin.expression, origin.names) if origin else (None, {})
        said = einsum_error(node, lambda n: _held(n, names), lambda n: shape_of(n, names))
        return " ".join(filter(None, [said, given]))
    if not isinstance(error, ValueError) or not _has(text, ELEMENTWISE + PRODUCT + PUT + OTHER):
        return ""
    pair = _pair(origin, shapes_in(text)) if _has(text, ELEMENTWISE + PRODUCT) else None
    if pair is not None:
        said = [*(_product(*pair) if pair[0] == "@" else _elementwise(*pair))]
        return " ".join([*said[:1], *(_other_brackets(origin) or said[1:]), given])
    if _has(text, PUT):
        return f"The values and the place that they are to fill have different shapes. {given}"
    if (operands := _operands(origin)) and operands[0] == "@" and (sizes := inner_sizes(text)):
        left, right = (ast.unparse(node) for node in operands[1:])
        said = f"The last size of {left} is {sizes[0]}, and the size that it meets in {right} is {sizes[1]}; in a"
        said += " product they must be equal. Is one of them to be transposed (.T)?"
        return " ".join(filter(None, [said, given]))
    if _has(text, PRODUCT) and "dimensions" not in text:
        rule = "In a product the last size of the left array must equal the first one of the right."
        return " ".join(filter(None, [rule, "Is one of them to be transposed (.T)?", given]))
    return " ".join(filter(None, ["Is one of the arrays to be transposed (.T)?" if _turned(origin) else "", given]))


def _has(text, parts):
    return any(part in text for part in parts)


def _reshape(size, shape):
    """Say why so many numbers do not fill a shape, of which NumPy leaves out an axis that is to be found."""
    size, sizes = int(size), [int(n) for n in re.findall(r"\d+", shape)]
    count = math.prod(sizes)
    exact = shape.endswith(",") or (count and size % count == 0)
    if exact:
        return f"{size} numbers are not the {count} that fill the shape {tuple(sizes)}."
    if len(sizes) == 1:
        return f"{size} numbers do not make whole rows: {size} is no multiple of {count}."
    return f"{size} numbers do not fill the shape {tuple(sizes)}, which takes {count}, nor a number of such."


def _turned(origin):
    """Whether two matrices that the failing expression names have each other's shape, transposed: then .T may help."""
    nodes = ast.walk(origin.expression) if origin and origin.expression else ()
    shapes = {shape for n in nodes if isinstance(n, ast.Name) and (shape := shape_of(n, origin.names))}
    return any(len(s) == 2 and s != s[::-1] and s[::-1] in shapes for s in shapes)


def _given(function, arguments):
    """Return "Shapes of the arguments: x (4, 3), layers [(2, 3), (1, 2)]." for arrays and lists of arrays."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    names += [f"argument {i + 1}" for i in range(len(names), len(arguments))]
    shapes = [f"{n} {shown}" for n, a in zip(names, arguments, strict=False) if (shown := _shapes_in(a))]
    return f"Shapes of the arguments: {', '.join(shapes)}." if shapes else ""


def _shapes_in(value):
    """Return the shape of an array, those of a short list of arrays, "" of anything else."""
    if isinstance(value, np.ndarray):
        return f"{value.shape}"
    if type(value) in (list, tuple) and 0 < len(value) <= MOST_LISTED and all(isinstance(v, np.ndarray) for v in value):
        return f"[{', '.join(str(v.shape) for v in value)}]"
    return ""


def _operands(origin):
    """Return (sign, left node, right node) of what failed, None if that is not known."""
    node = origin and origin.expression
    if isinstance(node, ast.BinOp):
        sign, left, right = SIGNS.get(type(node.op)), node.left, node.right
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign, left, right = SIGNS.get(type(node.ops[0])), node.left, node.comparators[0]
    elif isinstance(node, ast.AugAssign):
        sign, left, right = SIGNS.get(type(node.op)), node.target, node.value
    elif isinstance(node, ast.Call) and len(node.args) == 2 and isinstance(node.func, ast.Attribute):
        sign, (left, right) = "@" if node.func.attr in PRODUCTS else ",", node.args
    elif isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        sign, left, right = "@" if node.func.attr == "dot" else None, node.func.value, node.args[0]
    else:
        return None
    return sign and (sign, left, right)


def _pair(origin, told=None):
    """Return (sign, left text, its shape, right text, its shape) of what failed, None if that is not known.

    told: the shapes of both, where NumPy's message names them; a function may have returned an operand. It counts for
    an operator and for functions that hand their arguments on as they are, and where it agrees with what is known.
    """
    if not (operands := _operands(origin)):
        return None
    sign, left, right = operands
    shapes = shape_of(left, origin.names), shape_of(right, origin.names)
    if None in shapes and told and _handed_on(origin.expression):
        shapes = told if all(s in (None, t) for s, t in zip(shapes, told, strict=True)) else shapes
    return None if None in shapes else (sign, ast.unparse(left), shapes[0], ast.unparse(right), shapes[1])


def _handed_on(node):
    """Whether the shapes in NumPy's message are those of the operands: not where a function computes with others."""
    called = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    return not isinstance(node, ast.Call) or called in PRODUCTS or isinstance(getattr(np, called, None), np.ufunc)


def shape_of(node, names):
    """Return the shape of a number, a name, an entry of a list, its .T, or of arithmetic on such; else None.

    Parameters
    ----------
    node : ast.AST
        What a line of an answer computes.
    names : dict
        What the variables held then.

    No errors. Source: the course's own.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return shape_of(node.operand, names)
    if isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") in REDUCTIONS:
        named = {keyword.arg: getattr(keyword.value, "value", None) for keyword in node.keywords}
        return _reduced(shape_of(node.func.value, names), named)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        function = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return shape_of(node.args[0], names) if function in SAME_SHAPE else None
    if isinstance(node, ast.Name | ast.Subscript):
        value = _held(node, names)
        return np.shape(value) if isinstance(value, np.ndarray | int | float | np.generic) else None
    if isinstance(node, ast.Attribute) and node.attr == "T":
        shape = shape_of(node.value, names)
        return shape and shape[::-1]
    if isinstance(node, ast.BinOp):
        shapes = shape_of(node.left, names), shape_of(node.right, names)
        if None in shapes:
            return None
        return _times(*shapes) if isinstance(node.op, ast.MatMult) else _beside(*shapes)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:  # a comparison of arrays is an array
        shapes = shape_of(node.left, names), shape_of(node.comparators[0], names)
        return None if None in shapes else _beside(*shapes)
    return None


def _reduced(shape, options):
    """Return the shape of `x.sum(axis=1, keepdims=True)` and the like; None unless one axis is written as a number."""
    axis = options.get("axis")
    if shape is None or type(axis) is not int or not 0 <= axis < len(shape) or set(options) - {"axis", "keepdims"}:
        return None
    return (*shape[:axis], *((1,) if options.get("keepdims") else ()), *shape[axis + 1 :])


def _held(node, names):
    """Return what a name holds, or an entry of a list or tuple such as `layers[i]` or `weights[-1]`, else None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Subscript):
        return None
    box, place = _held(node.value, names), node.slice
    sign = 1
    if isinstance(place, ast.UnaryOp) and isinstance(place.op, ast.USub):
        sign, place = -1, place.operand
    at = names.get(place.id) if isinstance(place, ast.Name) else getattr(place, "value", None)
    if type(box) not in (list, tuple) or type(at) is not int or not -len(box) <= sign * at < len(box):
        return None
    return box[sign * at]


def _product(sign, left, a, right, b):
    if not a or not b:
        number = left if not a else right
        yield f"{number} is a single number here; @ needs arrays with axes, and * multiplies by a number."
        return
    yield f"{left} is {a} and {right} is {b}: the last size of {left} must equal the first one of {right}."
    others = [(left, a, _t(right), b[::-1])] if len(b) == 2 else []
    others += [(_t(left), a[::-1], right, b)] if len(a) == 2 else []
    others += [(right, b, left, a)] if len(a) == len(b) == 2 else []
    fits = [
        f"`{_bracketed(x)} @ {_bracketed(y)}` gives {shape}"
        for x, s, y, t in others
        if (shape := _times(s, t)) is not None
    ]
    if fits:
        yield f"Is one of them transposed? {', '.join(fits)}."
    else:
        yield "No transposition makes them fit: is one of them another array than you mean?"


def _elementwise(sign, left, a, right, b):
    both = f"`{_bracketed(left)} {sign} {_bracketed(right)}`" if sign != "," else "the call"
    yield f"{left} is {a} and {right} is {b}: for {both} the sizes must be equal or 1, counted from the last axis."
    if "axis=" in left + right and len(a) != len(b):
        yield "The axis that is named is gone from its result; keepdims=True keeps it there, with length 1."
        return
    pairs = [(left, a, _t(right), b[::-1]), (_t(left), a[::-1], right, b)] if len(a) == len(b) == 2 else []
    if len(b) == 1 and len(a) > 1:
        pairs = [(left, a, f"{_bracketed(right)}[:, None]", (*b, 1)), (_t(left), a[::-1], right, b)]
    if len(a) == 1 and len(b) > 1:
        pairs = [(f"{_bracketed(left)}[:, None]", (*a, 1), right, b)]
    fits = [f"`{_bracketed(x)} {sign} {_bracketed(y)}`" for x, s, y, t in pairs if _beside(s, t) is not None]
    if fits:
        yield f"Is one of them transposed? {' or '.join(fits)} would fit."


def _other_brackets(origin):
    """Return what to say of `x @ y * z`, which is read from left to right, where `x @ (y * z)` fits; [] otherwise."""
    node = origin and origin.expression
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult | ast.Div):
        return []
    sign, chain, left = SIGNS[type(node.op)], [], node.left
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.MatMult):
        chain.insert(0, left.right)
        left = left.left
    chain.insert(0, left)
    last = shape_of(node.right, origin.names)
    for cut in range(1, len(chain)):
        first, second = (_chained(part, origin.names) for part in (chain[:cut], chain[cut:]))
        if None in (first, second, last) or (inner := _beside(second, last)) is None or _times(first, inner) is None:
            continue
        *texts, factor = (_bracketed(ast.unparse(part)) for part in (*chain, node.right))
        before, behind = " @ ".join(texts[:cut]), " @ ".join(texts[cut:])
        return [
            f"@ and {sign} are read from left to right, so the products of matrices came first. With brackets, "
            f"`{before} @ ({_bracketed(behind)} {sign} {factor})` fits and gives {_times(first, inner)}."
        ]
    return []


def _chained(nodes, names):
    """Return the shape of a product of matrices, from left to right; None if it is not known, or there is none."""
    shapes = [shape_of(node, names) for node in nodes]
    while len(shapes) > 1 and None not in shapes[:2]:
        shapes[:2] = [_times(*shapes[:2])]
    return shapes[0] if len(shapes) == 1 else None


def _t(text):
    if isinstance(ast.parse(text, mode="eval").body, ast.Call):
        return f"{text}.T"
    plain = r"\w+(\[-?\w+\])*"  # a name, or an entry of a list
    whole = text.removesuffix(".T")
    return f"{text}.T" if re.fullmatch(plain, text) else whole if re.fullmatch(plain, whole) else f"({text}).T"


def _bracketed(text):
    """Return an operand as it stands beside a sign: one that has signs of its own gets brackets."""
    own = ast.parse(text, mode="eval").body
    return f"({text})" if isinstance(own, ast.BinOp | ast.UnaryOp | ast.Compare) else text


def _times(a, b):
    """Return the shape of a product of arrays with one or two axes, None if there is none."""
    if not (1 <= len(a) <= 2 and 1 <= len(b) <= 2) or a[-1] != b[0]:
        return None
    return a[:-1] + b[1:]


def _beside(a, b):
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None
