"""What an expression of a kernel is worth, for all lanes at once.

Source: Numba's documentation, "Supported Python features in CUDA Python". Statements are in `evaluate`.
"""

import ast

import numpy as np

from course_lib.simt import types
from course_lib.simt.memory import View
from course_lib.simt.source import KernelError
from course_lib.simt.values import apply, cast, describe, is_number, merge
from course_lib.simt.vocabulary import FUNCTIONS, NAMES, Cast, DeviceFunction, Word, from_outside

NUMPY = {
    "Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.true_divide, "FloorDiv": np.floor_divide,
    "Mod": np.mod, "Pow": np.power, "LShift": np.left_shift, "RShift": np.right_shift, "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor, "Lt": np.less, "LtE": np.less_equal, "Gt": np.greater,
    "GtE": np.greater_equal, "Eq": np.equal, "NotEq": np.not_equal, "USub": np.negative, "UAdd": np.positive,
    "Invert": np.invert,
}  # fmt: skip
MOST_CALLS = 16
"""How deep device functions may call each other."""


class Expressions:
    """The half of an `Evaluator` that computes values. Source: the course's own."""

    def _value(self, node, mask):
        evaluate = getattr(self, f"_of_{type(node).__name__}", None)
        if evaluate is None:
            raise self._error(node, f"{construct(node)} is not possible in a kernel.")
        return evaluate(node, mask)

    def _of_Constant(self, node, mask):
        if isinstance(node.value, bool | int | float):
            try:
                return types.literal(node.value)
            except TypeError as error:
                raise self._error(node, str(error)) from None
        raise self._error(node, f"{node.value!r} is no number; a kernel computes with numbers and booleans.")

    def _of_Name(self, node, mask):
        if node.id in self.variables:
            return self.variables[node.id]
        if node.id in self.source.outside:
            value = from_outside(self.source.outside[node.id], node.id)
            if value is not None:
                return value
            raise self._error(node, f"{node.id} is {self.source.outside[node.id]!r}, which a kernel cannot use.")
        raise self._error(node, f"{node.id} has no value here.")

    def _of_Attribute(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, View):
            simple = {"ndim": np.int64(owner.ndim), "size": np.int64(owner.size), "dtype": Cast(owner.dtype)}
            if node.attr == "shape":
                return tuple(np.int64(s) for s in owner.shape)
            if node.attr in simple:
                return simple[node.attr]
        if isinstance(owner, Word):
            word = Word(f"{owner.path}.{node.attr}")
            return NAMES[word.path](self.lanes) if word.path in NAMES else word.checked(self._error, node)
        raise self._error(node, f"{describe(owner)} has no {node.attr} in a kernel.")

    def _of_Tuple(self, node, mask):
        return tuple(self._value(e, mask) for e in node.elts)

    def _of_BinOp(self, node, mask):
        left, right = self._value(node.left, mask), self._value(node.right, mask)
        return self._binary(type(node.op).__name__, left, right, mask, node)

    def _binary(self, name, left, right, mask, node):
        if isinstance(left, tuple) and isinstance(right, tuple) and name == "Add":
            return left + right
        if name not in types.BINARY:
            raise self._error(node, f"{name} is not possible in a kernel.")
        if name in ("FloorDiv", "Mod"):  # whole numbers divided with / give a float, and infinity is a float
            self.machine.check_divisor(self, left, right, mask, node.lineno)
        result = apply(types.BINARY[name], NUMPY[name], left, right)
        self.machine.count(node.lineno, mask, result.dtype)
        return result

    def _of_UnaryOp(self, node, mask):
        value = self._value(node.operand, mask)
        if isinstance(node.op, ast.Not):
            return ~self._as_bool(value, node)
        self.machine.count(node.lineno, mask)
        name = type(node.op).__name__
        return apply(types.UNARY[name], NUMPY[name], value)

    def _of_Compare(self, node, mask):
        left, result, active = self._value(node.left, mask), None, mask
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right, name = self._value(comparator, active), type(op).__name__
            if name not in types.COMPARE:
                raise self._error(node, f"{construct(op)} is not possible in a kernel; use <, <=, >, >=, == and !=.")
            if not is_number(left) or not is_number(right):
                raise self._error(node, f"{describe(left)} and {describe(right)} cannot be compared.")
            self.machine.count(node.lineno, active)
            part = NUMPY[name](left, right)
            result, left = part if result is None else result & part, right
            # Where one part is false, the next ones are not looked at.
            active = active.where(np.broadcast_to(result, self.lanes.count)) if len(node.ops) > 1 else active
            if active.empty:
                break
        return result

    def _of_BoolOp(self, node, mask):
        ends = isinstance(node.op, ast.Or)
        result, active = self._truth(node.values[0], mask), mask
        for other in node.values[1:]:
            if np.ndim(result) == 0:
                if bool(result) == ends:
                    return result
                result = self._truth(other, active)
                continue
            active = mask.where(~result if ends else result)  # the others know the answer, and do not look
            if active.empty:
                return result
            right = np.broadcast_to(self._truth(other, active), result.shape)
            result = result | (active.bits & right) if ends else result & right
        return result

    def _of_IfExp(self, node, mask):
        condition = self._truth(node.test, mask)
        if np.ndim(condition) == 0:
            return self._value(node.body if condition else node.orelse, mask)
        yes, no = mask.where(condition), mask.where(~condition)
        self.machine.branch(node.lineno, mask, mask.divergent_warps(condition))
        if yes.empty or no.empty:
            return self._value(node.orelse if yes.empty else node.body, mask)
        other = self._value(node.orelse, no)
        return merge(other, self._value(node.body, yes), yes)

    def _of_Subscript(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, tuple):
            index = self._value(node.slice, mask)
            if np.ndim(index) or not -len(owner) <= int(index) < len(owner):
                raise self._error(node, f"a tuple of {len(owner)} needs one constant index below {len(owner)}.")
            return owner[int(index)]
        view, indices = self._place(node, mask)
        return self.machine.load(self, view, indices, mask, node.lineno)

    def _place(self, node, mask):
        """Return (view, indices) of a subscript."""
        view = self._value(node.value, mask)
        if not isinstance(view, View):
            raise self._error(node, f"{describe(view)} has no elements.")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = []
        for part in parts:
            if isinstance(part, ast.Slice):
                raise self._error(node, "a slice is not possible here; index single elements.")
            index = self._value(part, mask)
            indices += list(index) if isinstance(index, tuple) else [index]
        for index in indices:
            if not is_number(index) or index.dtype.kind not in "iub":
                raise self._error(node, f"{describe(index)} is no index; an index is a whole number.")
        if len(indices) > view.ndim:
            raise self._error(node, f"{view.name} is {view.shape} and takes {view.ndim} indices, not {len(indices)}.")
        return view, indices

    def _of_Call(self, node, mask):
        function = self._value(node.func, mask)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise self._error(node, "* and ** are not possible in a kernel's calls.")
        arguments = [self._value(a, mask) for a in node.args]
        options = {k.arg: self._value(k.value, mask) for k in node.keywords}
        if isinstance(function, Cast) and len(arguments) == 1 and not options:
            if not is_number(arguments[0]):
                raise self._error(node, f"{describe(arguments[0])} cannot become a {function.dtype}.")
            return cast(arguments[0], function.dtype)
        if isinstance(function, DeviceFunction) and not options:
            return self._call(function, arguments, mask, node)
        if isinstance(function, Word) and function.path in FUNCTIONS:
            try:
                return FUNCTIONS[function.path](self, mask, node, *arguments, **options)
            except TypeError as error:
                raise self._error(node, f"{function.path}: {error}") from None
        raise self._error(node, f"{ast.unparse(node.func)} cannot be called in a kernel.")

    def _call(self, function, arguments, mask, node):
        if self.depth >= MOST_CALLS:
            raise self._error(node, f"device functions call each other more than {MOST_CALLS} deep; use a loop.")
        source = function.source
        if len(arguments) != len(source.parameters):
            raise self._error(node, f"{source.name} takes {len(source.parameters)} values and got {len(arguments)}.")
        inner = type(self)(source, arguments, self.lanes, self.machine, self.depth + 1)
        return inner.run(mask)

    def _truth(self, node, mask):
        return self._as_bool(self._value(node, mask), node)

    def _as_bool(self, value, node):
        if not is_number(value):
            raise self._error(node, f"{describe(value)} is neither true nor false.")
        return value if value.dtype == np.bool_ else value != 0

    def _error(self, node, message):
        return KernelError(message, getattr(node, "lineno", None))


def construct(node):
    """How a message calls a construct of Python."""
    return {
        "ListComp": "a list comprehension", "List": "a list", "Dict": "a dict", "Set": "a set", "Lambda": "lambda",
        "With": "with", "Try": "try", "Raise": "raise", "Import": "import", "ImportFrom": "import", "Yield": "yield",
        "FunctionDef": "a function inside the kernel", "ClassDef": "class", "Global": "global", "Delete": "del",
        "JoinedStr": "an f-string", "Assert": "assert", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
        "NamedExpr": ":=", "GeneratorExp": "a generator", "Match": "match", "Starred": "*", "Nonlocal": "nonlocal",
    }.get(type(node).__name__, type(node).__name__)  # fmt: skip
