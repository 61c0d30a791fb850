"""What an expression of a kernel is worth, for all lanes at once.

Source: Numba's documentation, "Supported Python features in CUDA Python". Statements are in `evaluate`.
"""

import ast
import operator

import numpy as np

from course_lib.simt import types
from course_lib.simt.bundles import Member
from course_lib.simt.calls import Calls
from course_lib.simt.complexes import flops_of, power
from course_lib.simt.dispatch import Methods
from course_lib.simt.elements import Elements
from course_lib.simt.iteration import has_items, item_of, length_of
from course_lib.simt.memory import View
from course_lib.simt.names import Names
from course_lib.simt.refusals import construct, refused
from course_lib.simt.source import KernelError
from course_lib.simt.values import MOST_PARTS, apply, cast, describe, is_number, kind, merge, remainder, too_long
from course_lib.simt.vocabulary import Cast, DeviceFunction, Nothing, Word


def _mod(a, b):
    return remainder(a, b) if a.dtype.kind == "f" else np.mod(a, b)


NUMPY = {
    "Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.true_divide, "FloorDiv": np.floor_divide,
    "Mod": _mod, "Pow": power, "LShift": np.left_shift, "RShift": np.right_shift, "BitAnd": np.bitwise_and,
    "BitOr": np.bitwise_or, "BitXor": np.bitwise_xor, "Lt": np.less, "LtE": np.less_equal, "Gt": np.greater,
    "GtE": np.greater_equal, "Eq": np.equal, "NotEq": np.not_equal, "USub": np.negative, "UAdd": np.positive,
    "Invert": np.invert,
}  # fmt: skip
WHOLE = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "FloorDiv": operator.floordiv, "Mod": operator.mod,
    **types.COMPARE,
}  # fmt: skip
"""Operations that give with two np.int64 what Numba gives: on two numbers a tenth of the time of a ufunc."""
CONSTANTS = (Cast, Word, DeviceFunction)
"""Classes of what is not a number and can be asked for with ==: a dtype, a word, a function."""


class Expressions(Names, Elements, Calls):
    """The half of an `Evaluator` that computes values. Source: the course's own."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.values_of, cls.acts_of = Methods(cls, "_of_"), Methods(cls, "_do_")

    def _value(self, node, mask):
        evaluate = self.values_of[type(node)]
        if evaluate is None:
            raise self._error(node, refused(node))
        machine = self.machine
        start = len(machine.trail)
        value = evaluate(self, node, mask)
        if machine.undefined:
            machine.follow_expression(node, value, mask, start)
        return value

    def _of_Constant(self, node, mask):
        known = self.source.literals.get(node)
        return self._literal(node) if known is None else known

    def _literal(self, node):
        if isinstance(node.value, bool | int | float | complex):
            try:
                found = self.source.literals[node] = types.literal(node.value)
            except TypeError as error:
                raise self._error(node, str(error)) from None
            return found
        if isinstance(node.value, str) or node.value is None:
            return Nothing() if node.value is None else node.value
        raise self._error(node, f"{node.value!r} is no number; a kernel computes with numbers and booleans.")

    def _of_Tuple(self, node, mask):
        return self._short(tuple(self._value(e, mask) for e in node.elts), node)

    def _items(self, node, mask):
        """Return what a `for` goes over, or an `in` looks through: of a list there, Python's compiler makes a tuple."""
        if isinstance(node, ast.List) and not any(isinstance(e, ast.Starred) for e in node.elts):
            node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
        return self._value(node, mask)

    def _of_Lambda(self, node, mask):
        return self.inner_function(node, mask)

    def _short(self, value, node):
        if too_long(value):
            raise self._error(node, f"a tuple has at most {MOST_PARTS} parts; use cuda.local.array.")
        return value

    def _of_BinOp(self, node, mask):
        left, right = self._value(node.left, mask), self._value(node.right, mask)
        return self._binary(type(node.op).__name__, left, right, mask, node)

    def _binary(self, name, left, right, mask, node):
        whole = type(left) is np.int64 and type(right) is np.int64 and name in WHOLE
        if whole and (right or name not in ("FloorDiv", "Mod")):
            result = WHOLE[name](left, right)
            self.machine.count(node.lineno, mask)
            if self.machine.undefined:
                self.machine.follow(result, [(left, mask), (right, mask)])
            return result
        if isinstance(left, tuple):
            if isinstance(right, tuple) and name == "Add":
                return self._short(left + right, node)
            if name == "Mult" and is_number(right) and not np.ndim(right):
                return self._short(left * max(0, min(int(right), MOST_PARTS + 1)), node)
        if name not in types.BINARY:
            raise self._error(node, "@ is not possible in a kernel; write the loop: acc += A[row, k] * B[k, col].")
        if name in ("FloorDiv", "Mod"):  # whole numbers divided with / give a float, and infinity is a float
            self.machine.check_divisor(left, right, mask, node.lineno)
        if name == "Pow":
            return self.power(left, right, mask, node)
        result = apply(types.BINARY[name], NUMPY[name], left, right)
        self.machine.count(node.lineno, mask, result.dtype, flops_of(name, result.dtype))
        if self.machine.undefined:
            self.machine.follow(result, [(left, mask), (right, mask)])
        return result

    def power(self, base, exponent, mask, node):
        """Return base ** exponent; a whole number to a negative one is a fraction, and an error here."""
        if is_number(base) and is_number(exponent) and base.dtype.kind in "iub" and exponent.dtype.kind == "i":
            if np.any(np.broadcast_to(exponent, self.lanes.count)[mask.index] < 0):
                raise self._error(node, "a whole number to a negative power is no whole number; use float32(...).")
            exponent = np.maximum(exponent, exponent.dtype.type(0))  # of lanes that do not take part
        result = apply(types.BINARY["Pow"], NUMPY["Pow"], base, exponent)
        self.machine.count(node.lineno, mask, result.dtype, flops_of("Pow", result.dtype))
        if self.machine.undefined:
            self.machine.follow(result, [(base, mask), (exponent, mask)])
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
        if len(node.ops) == 1 and type(node.ops[0]) not in (ast.In, ast.NotIn):
            return self._compared(type(node.ops[0]).__name__, left, self._value(node.comparators[0], mask), mask, node)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            name, is_last = type(op).__name__, comparator is node.comparators[-1]
            in_it = is_last and name in ("In", "NotIn")
            right = self._items(comparator, active) if in_it else self._value(comparator, active)
            part = self._compared(name, left, right, active, node)
            result, left = part if result is None else result & part, right
            # Where one part is false, the next ones are not looked at.
            active = active.where(np.broadcast_to(result, self.lanes.count)) if len(node.ops) > 1 else active
            if self._idle(active):
                break
        return result

    def _compared(self, name, left, right, mask, node):
        """Return whether two values compare so: numbers, tuples part by part, texts, arrays and None with `is`."""
        if type(left) is np.int64 and type(right) is np.int64 and name in WHOLE:
            self.machine.count(node.lineno, mask)
            return WHOLE[name](left, right)
        if name in ("Is", "IsNot"):
            return np.bool_(self._is(left, right, node) == (name == "Is"))
        if name in ("In", "NotIn"):
            found = self._is_in(left, right, mask, node)
            return ~found if name == "NotIn" else found
        if name not in types.COMPARE:
            raise self._error(node, f"{construct(name)} is not possible in a kernel; use <, <=, >, >=, == and !=.")
        if isinstance(left, tuple) and isinstance(right, tuple):
            return self._compared_tuples(name, left, right, mask, node)
        if type(left) is str and type(right) is str:
            return np.bool_(types.COMPARE[name](left, right))
        if type(left) is Member and type(right) is Member and left.tag == right.tag and name in ("Eq", "NotEq"):
            return self._compared(name, left.parts[0], right.parts[0], mask, node)
        if type(left) in CONSTANTS and type(right) in CONSTANTS and name in ("Eq", "NotEq"):
            return np.bool_((left == right) == (name == "Eq"))
        if not is_number(left) or not is_number(right):
            raise self._error(node, f"{describe(left)} and {describe(right)} cannot be compared.")
        self.machine.count(node.lineno, mask)
        if "c" in (left.dtype.kind, right.dtype.kind) and name not in ("Eq", "NotEq"):
            raise self._error(node, "complex numbers have no order; compare their absolute values, abs(z).")
        return NUMPY[name](left, right)

    def _compared_tuples(self, name, left, right, mask, node):
        """As Python: the first parts that differ decide, else the lengths."""
        equal = np.bool_(len(left) == len(right))
        if name in ("Eq", "NotEq"):
            for a, b in zip(left, right, strict=False):
                equal = equal & self._compared("Eq", a, b, mask, node)
            return ~equal if name == "NotEq" else equal
        result = np.bool_(types.COMPARE[name](len(left), len(right)))
        for a, b in reversed(tuple(zip(left, right, strict=False))):
            same = self._compared("Eq", a, b, mask, node)
            result = (same & result) | (~same & self._compared(name, a, b, mask, node))
        return result

    def _is(self, left, right, node):
        if type(left) is Member and type(right) is Member and left.tag == right.tag:
            return left.parts[0] == right.parts[0]
        if isinstance(left, Nothing) or isinstance(right, Nothing):
            return isinstance(left, Nothing) and isinstance(right, Nothing)
        if isinstance(left, View) and isinstance(right, View):
            return left.memory is right.memory and left.shape == right.shape and np.all(left.offset == right.offset)
        raise self._error(node, f"is compares with None; {describe(left)} and {describe(right)} are compared with ==.")

    def _is_in(self, value, owner, mask, node):
        among_tuples = isinstance(value, tuple) and isinstance(owner, tuple)
        if not (is_number(value) or among_tuples) or not has_items(owner):
            raise self._error(node, f"{describe(value)} in {describe(owner)}: a number is looked for in an array.")
        self._check_alike(owner, node, "an `in` looks through")
        length, found = length_of(owner), np.bool_(False)
        for turn in range(1 if self.typing and owner != () else int(np.max(length, initial=0))):
            here = mask.where(np.broadcast_to(turn < length, self.lanes.count)) if np.ndim(length) else mask
            self.machine.step(node.lineno, here)
            item = item_of(owner, self, turn, here, node)
            if isinstance(item, tuple) != among_tuples or not (is_number(item) or among_tuples):
                raise self._error(node, f"{describe(value)} is looked for among {describe(item)}: compare numbers.")
            equal = self._compared("Eq", value, item, here, node)
            found = found | (equal & (turn < length))
        return found

    def _check_alike(self, items, node, what):
        if self.typing and isinstance(items, tuple) and len({kind(item) for item in items}) > 1:
            raise self._error(node, f"the parts of a tuple that {what} are all of one type.")

    def _of_BoolOp(self, node, mask):
        """As in Python, `a and b` is a where a is false, else b; the lanes that know the answer do not look at b."""
        ends = isinstance(node.op, ast.Or)
        result, active = self._value(node.values[0], mask), mask
        for other in node.values[1:]:
            truth = self._as_bool(result, node)
            if self.machine.undefined:
                self.machine.use(result, active)  # it decides who looks at the next one
            if np.ndim(truth) == 0 and not self.typing:
                if bool(truth) == ends:
                    break
                result = self._value(other, active)
                continue
            going = ~truth if ends else truth
            active = active.where(going if going.ndim else np.broadcast_to(going, self.lanes.count))
            if self._idle(active):
                break
            result = self._both(result, self._value(other, active), active)
        return self._as_static(node, result)

    def _of_IfExp(self, node, mask):
        condition = self._truth(node.test, mask)
        if np.ndim(condition) == 0:
            return self._as_static(node, self._value(node.body if condition else node.orelse, mask))
        yes, no = mask.where(condition), mask.where(~condition)
        self.machine.branch(node.lineno, mask, condition)
        if yes.empty or no.empty:
            return self._as_static(node, self._value(node.orelse if yes.empty else node.body, mask))
        other = self._value(node.orelse, no)
        return self._as_static(node, self._both(other, self._value(node.body, yes), yes))

    def _both(self, old, new, mask):
        """Return `new` for the lanes of a mask and `old` for the others."""
        value = merge(old, new, mask)
        if self.machine.undefined:
            self.machine.follow_merge(value, old, new, mask)
        return value

    def _as_static(self, node, value):
        """Return a value in the type that it has on whatever path it comes."""
        dtype = self.static.get(id(node))
        return value if dtype is None or not is_number(value) else cast(value, dtype)

    def _truth(self, node, mask):
        value = self._value(node, mask)
        if self.machine.undefined:
            self.machine.use(value, mask)
        return self._as_bool(value, node)

    def _as_bool(self, value, node):
        if not is_number(value):
            raise self._error(node, f"{describe(value)} is neither true nor false.")
        return value if value.dtype == np.bool_ else value != 0

    def _error(self, node, message):
        return KernelError(message, getattr(node, "lineno", None))
