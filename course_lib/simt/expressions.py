"""What an expression of a kernel is worth, for all lanes at once.

Source: Numba's documentation, "Supported Python features in CUDA Python". Statements are in `evaluate`.
"""

import ast
import difflib
import inspect
from typing import NamedTuple

import numpy as np

from course_lib.simt import types
from course_lib.simt.functions import FUNCTIONS, known
from course_lib.simt.memory import View
from course_lib.simt.source import KernelError
from course_lib.simt.values import (
    MOST_PARTS,
    Conflict,
    apply,
    cast,
    describe,
    is_number,
    merge,
    remainder,
    too_long,
)  # fmt: skip
from course_lib.simt.vocabulary import NAMES, Cast, ConstantArray, DeviceFunction, Unusable, Word, from_outside

NUMPY = {
    "Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.true_divide, "FloorDiv": np.floor_divide,
    "Mod": np.mod, "Pow": np.power, "LShift": np.left_shift, "RShift": np.right_shift, "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor, "Lt": np.less, "LtE": np.less_equal, "Gt": np.greater,
    "GtE": np.greater_equal, "Eq": np.equal, "NotEq": np.not_equal, "USub": np.negative, "UAdd": np.positive,
    "Invert": np.invert,
}  # fmt: skip
MOST_CALLS = 16
"""How deep device functions may call each other."""


class Slice(NamedTuple):
    """The bounds of a slice, each None or a whole number per lane. Source: Numba's documentation, "Arrays"."""

    start: object
    stop: object
    step: object


def _mod(a, b):
    return remainder(a, b) if a.dtype.kind == "f" else np.mod(a, b)


def _clipped(index, size):
    """Return a bound of a slice as Python takes it: from the end if negative, and inside of the axis."""
    index = np.asarray(index).astype(np.int64)
    return np.clip(np.where(index < 0, index + size, index), 0, size)


class Expressions:
    """The half of an `Evaluator` that computes values. Source: the course's own."""

    def _value(self, node, mask):
        evaluate = getattr(self, f"_of_{type(node).__name__}", None)
        if evaluate is None:
            raise self._error(
                node, f"{construct(node)} is not possible in a kernel.{INSTEAD.get(type(node).__name__, '')}"
            )
        return evaluate(node, mask)

    def _of_Constant(self, node, mask):
        if isinstance(node.value, bool | int | float):
            try:
                return types.literal(node.value)
            except TypeError as error:
                raise self._error(node, str(error)) from None
        raise self._error(node, f"{node.value!r} is no number; a kernel computes with numbers and booleans.")

    def _of_Name(self, node, mask):
        if node.id in self.source.assigned:
            return self._variable(node, mask)
        if node.id not in self.source.outside:
            near = difflib.get_close_matches(node.id, [*self.source.assigned, *self.source.outside], 1, 0.75)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise self._error(node, f"{node.id} is not defined, neither in the kernel nor outside of it.{hint}")
        return self._meaning(node)

    def _variable(self, node, mask):
        """Return a variable's value; a lane that reads it and has not set it is a finding."""
        if node.id not in self.variables:
            raise self._error(node, f"{node.id} has no value here.")
        value, defined = self.variables[node.id], self.defined[node.id]
        if type(value) is Conflict:
            raise self._error(node, f"{node.id}: {value.why}")
        if defined.bits is not None and defined is not mask:
            self._check_defined(node, defined, mask)
        dtype = self.static.get(id(node))
        return value if dtype is None or value.dtype == dtype else cast(value, dtype)

    def _check_defined(self, node, defined, mask):
        missing = ~defined.bits[mask.index]
        if missing.any():
            lane = self.machine.lane_of(mask, missing.argmax())
            self.machine.found(
                "unset variable", node.lineno,
                f"{self.lanes.name(lane)} reads {node.id}, which only other threads have set.",
                f"Set {node.id} before the branch or loop, so that every thread has a value; a GPU takes whatever was "
                "in the register.", array=node.id, lane=lane, count=np.count_nonzero(missing),
            )  # fmt: skip

    def _meaning(self, node):
        """Return what a name from outside means, looked up once."""
        name, meanings = node.id, self.source.meanings
        if name not in meanings:
            meanings[name] = from_outside(self.source.outside[name], name, self.source.family)
        value = meanings[name]
        if type(value) is Unusable:
            raise self._error(node, value.why)
        if type(value) is ConstantArray:
            return self.machine.constant(value, node.lineno)
        return NAMES[value.path](self.lanes) if type(value) is Word and value.path in NAMES else value

    def _of_Attribute(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, View):
            simple = {"ndim": np.int64(owner.ndim), "size": np.int64(owner.size), "dtype": Cast(owner.dtype)}
            if node.attr == "shape":
                return tuple(np.int64(s) for s in owner.shape)
            if node.attr in simple:
                return simple[node.attr]
        if isinstance(owner, Word):
            path = f"{owner.path}.{node.attr}"
            if path in NAMES:
                return NAMES[path](self.lanes)
            if known(path) or any(p.startswith(f"{path}.") for p in NAMES):
                return Word(path)
            raise self._error(node, f"{path} is not among the words of a kernel here.{suggestion(path)}")
        loop = " Write the loop, element by element." if isinstance(owner, View) else ""
        raise self._error(node, f"{describe(owner)} has no {node.attr} in a kernel.{loop}")

    def _of_Tuple(self, node, mask):
        return self._short(tuple(self._value(e, mask) for e in node.elts), node)

    def _short(self, value, node):
        if too_long(value):
            raise self._error(node, f"a tuple has at most {MOST_PARTS} parts; use cuda.local.array.")
        return value

    def _of_BinOp(self, node, mask):
        left, right = self._value(node.left, mask), self._value(node.right, mask)
        return self._binary(type(node.op).__name__, left, right, mask, node)

    def _binary(self, name, left, right, mask, node):
        if isinstance(left, tuple) and isinstance(right, tuple) and name == "Add":
            return self._short(left + right, node)
        if name not in types.BINARY:
            raise self._error(node, "@ is not possible in a kernel; write the loop: acc += A[row, k] * B[k, col].")
        if name in ("FloorDiv", "Mod"):  # whole numbers divided with / give a float, and infinity is a float
            self.machine.check_divisor(left, right, mask, node.lineno)
        if name == "Pow":
            return self.power(left, right, mask, node)
        numpy_function = _mod if name == "Mod" else NUMPY[name]
        result = apply(types.BINARY[name], numpy_function, left, right)
        self.machine.count(node.lineno, mask, result.dtype)
        return result

    def power(self, base, exponent, mask, node):
        """Return base ** exponent; a whole number to a negative one is a fraction, and an error here."""
        if is_number(base) and is_number(exponent) and base.dtype.kind in "iub" and exponent.dtype.kind == "i":
            if np.any(np.broadcast_to(exponent, self.lanes.count)[mask.index] < 0):
                raise self._error(node, "a whole number to a negative power is no whole number; use float32(...).")
            exponent = np.maximum(exponent, exponent.dtype.type(0))  # of lanes that do not take part
        result = apply(types.BINARY["Pow"], np.power, base, exponent)
        self.machine.count(node.lineno, mask, result.dtype)
        return result

    def _of_UnaryOp(self, node, mask):
        value = self._value(node.operand, mask)
        if isinstance(node.op, ast.Not):
            return ~self._as_bool(value, node)
        name = type(node.op).__name__
        self.machine.count(node.lineno, mask)
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
            if self._idle(active):
                break
        return result

    def _of_BoolOp(self, node, mask):
        """As in Python, `a and b` is a where a is false, else b; the lanes that know the answer do not look at b."""
        ends = isinstance(node.op, ast.Or)
        result, active = self._value(node.values[0], mask), mask
        for other in node.values[1:]:
            truth = self._as_bool(result, node)
            if np.ndim(truth) == 0 and not self.typing:
                if bool(truth) == ends:
                    break
                result = self._value(other, active)
                continue
            going = np.broadcast_to(~truth if ends else truth, self.lanes.count)
            active = active.where(going)
            if self._idle(active):
                break
            result = self._both(result, self._value(other, active), active)
        return self._as_static(node, result)

    def _of_IfExp(self, node, mask):
        condition = self._truth(node.test, mask)
        if np.ndim(condition) == 0 and not self.typing:
            return self._as_static(node, self._value(node.body if condition else node.orelse, mask))
        condition = np.broadcast_to(condition, self.lanes.count)
        yes, no = mask.where(condition), mask.where(~condition)
        self.machine.branch(node.lineno, mask, condition)
        if not self.typing and (yes.empty or no.empty):
            return self._as_static(node, self._value(node.orelse if yes.empty else node.body, mask))
        other = self._value(node.orelse, no)
        return self._as_static(node, self._both(other, self._value(node.body, yes), yes))

    def _both(self, old, new, mask):
        """Return `new` for the lanes of a mask and `old` for the others."""
        return merge(old, new, mask)

    def _as_static(self, node, value):
        """Return a value in the type that it has on whatever path it comes."""
        dtype = self.static.get(id(node))
        return value if dtype is None or not is_number(value) else cast(value, dtype)

    def _of_Subscript(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, tuple):
            index = self._value(node.slice, mask)
            whole = is_number(index) and not np.ndim(index) and index.dtype.kind in "iub"
            if not whole or not -len(owner) <= int(index) < len(owner):
                raise self._error(node, f"a tuple of {len(owner)} needs one constant index below {len(owner)}.")
            return self._as_static(node, owner[int(index)])
        view, indices = self._place(node, mask, owner)
        if any(isinstance(i, Slice) for i in indices):
            return self._slice(node, view, indices, mask)
        return self.machine.load(view, indices, mask, node)

    def _place(self, node, mask, view=None):
        """Return (view, indices) of a subscript."""
        view = self._value(node.value, mask) if view is None else view
        if not isinstance(view, View):
            raise self._error(node, f"{describe(view)} has no elements.")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = []
        for part in parts:
            index = self._bounds(part, mask) if isinstance(part, ast.Slice) else self._value(part, mask)
            indices += list(index) if isinstance(index, tuple) and not isinstance(index, Slice) else [index]
        for index in indices:
            if not isinstance(index, Slice) and (not is_number(index) or index.dtype.kind not in "iub"):
                raise self._error(
                    node, f"{describe(index)} is no index; an index is a whole number. Divide with //, or use int(...)."
                )
        if len(indices) > view.ndim:
            takes = "1 index" if view.ndim == 1 else f"{view.ndim} indices"
            raise self._error(node, f"{view.name} is {view.shape} and takes {takes}, not {len(indices)}.")
        return view, indices

    def _bounds(self, node, mask):
        values = [None if v is None else self._value(v, mask) for v in (node.lower, node.upper, node.step)]
        for value in values:
            if value is not None and (not is_number(value) or value.dtype.kind not in "iu"):
                raise self._error(node, f"{describe(value)} is no bound of a slice; use whole numbers.")
        if values[2] is not None and (np.ndim(values[2]) or values[2] < 1):
            raise self._error(node, "the step of a slice is a whole number >= 1, the same in all threads.")
        return Slice(*values)

    def _slice(self, node, view, indices, mask):
        """Return the View of a part of an array: numbers pick one place of an axis, slices a stretch of it."""
        offset, shape, strides = np.broadcast_to(view.offset, self.lanes.count).astype(np.int64), [], []
        for axis, size in enumerate(view.shape):
            index, stride = indices[axis] if axis < len(indices) else Slice(None, None, None), view.strides[axis]
            if not isinstance(index, Slice):
                row = self.machine.load(view.part(0, (size, 1), (1, 1)), [index], mask, node)
                offset = offset + row.offset * stride
                continue
            start = np.int64(0) if index.start is None else _clipped(index.start, size)
            stop = np.int64(size) if index.stop is None else _clipped(index.stop, size)
            step = 1 if index.step is None else int(index.step)
            lengths = np.broadcast_to(np.maximum(0, -(-(stop - start) // step)), self.lanes.count)[mask.index]
            if lengths.size and (lengths != lengths[0]).any():
                raise self._error(node, "a slice has the same length in all threads.")
            offset = offset + start * stride
            shape.append(int(lengths[0]) if lengths.size else size)
            strides.append(stride * step)
        return view.part(offset, shape, strides)

    def _of_Call(self, node, mask):
        function = self._value(node.func, mask)
        if type(function) is Word and function == Word("print"):
            raise self._error(
                node, "print is not possible here; write the number into an array, and look at it after the launch."
            )
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
        if isinstance(function, Word) and FUNCTIONS.get(function.path):
            return self._function(FUNCTIONS[function.path], function.path, arguments, options, mask, node)
        raise self._error(node, f"{ast.unparse(node.func)} cannot be called in a kernel.")

    def _function(self, act, path, arguments, options, mask, node):
        try:
            return act(self, mask, node, *arguments, **options)
        except types.NoSuchOperation:
            raise
        except TypeError as error:
            message = str(error)
            try:
                inspect.signature(act).bind(self, mask, node, *arguments, **options)
            except TypeError as wrong:  # too few arguments, or too many
                message = str(wrong)
            raise self._error(node, f"{path}: {message}.") from None
        except (ValueError, ArithmeticError) as error:
            raise self._error(node, f"{path}: {error}.") from None

    def _call(self, function, arguments, mask, node):
        if self.depth >= MOST_CALLS:
            raise self._error(node, f"device functions call each other more than {MOST_CALLS} deep; use a loop.")
        source = function.source
        if len(arguments) != len(source.parameters):
            raise self._error(node, f"{source.name} takes {len(source.parameters)} values and got {len(arguments)}.")
        return type(self)(source, arguments, self.lanes, self.machine, self.depth + 1).run(mask)

    def _truth(self, node, mask):
        return self._as_bool(self._value(node, mask), node)

    def _as_bool(self, value, node):
        if not is_number(value):
            raise self._error(node, f"{describe(value)} is neither true nor false.")
        return value if value.dtype == np.bool_ else value != 0

    def _error(self, node, message):
        return KernelError(message, getattr(node, "lineno", None))


INSTEAD = {
    name: " For a thread's own numbers take cuda.local.array(3, float32)." for name in ("List", "Dict", "Set")
} | {
    "ListComp": " Write the loop.", "GeneratorExp": " Write the loop.",
    "Try": " A GPU has no exceptions: test first, with if.", "Raise": " A GPU has no exceptions.",
    "JoinedStr": " A kernel computes with numbers only.", "Assert": " Test it after the launch.",
}  # fmt: skip
"""What to do instead of a construct of Python that a kernel cannot use."""


def suggestion(path):
    """Return " Did you mean ...?" for a word that is nearly one of the vocabulary, else what to do for NumPy's."""
    words = {".".join(p.split(".")[:n]) for p in (*FUNCTIONS, *NAMES) for n in (1, 2, 3)}
    if path.startswith("np.") and f"math.{path[3:]}" in FUNCTIONS:
        return f" Write math.{path[3:]}."
    near = difflib.get_close_matches(path, sorted(words), 1, 0.8)
    if near:
        return f" Did you mean {near[0]}?"
    if path in ("np.zeros", "np.empty", "np.ones", "np.array", "np.full"):
        return " For a thread's own numbers take cuda.local.array(3, float32)."
    return " Write the loop, element by element." if path.startswith("np.") else ""


def construct(node):
    """How a message calls a construct of Python."""
    return {
        "ListComp": "a list comprehension", "List": "a list", "Dict": "a dict", "Set": "a set", "Lambda": "lambda",
        "With": "with", "Try": "try", "Raise": "raise", "Import": "import", "ImportFrom": "import", "Yield": "yield",
        "FunctionDef": "a function inside the kernel", "ClassDef": "class", "Global": "global", "Delete": "del",
        "JoinedStr": "an f-string", "Assert": "assert", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
        "NamedExpr": ":=", "GeneratorExp": "a generator", "Match": "match", "Starred": "*", "Nonlocal": "nonlocal",
    }.get(type(node).__name__, type(node).__name__)  # fmt: skip
