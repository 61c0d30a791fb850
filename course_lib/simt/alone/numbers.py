"""What the numbers of a compiled turn are: arithmetic, comparisons, conversions and functions, as the walk has them.

Source: the course's own (`expressions`, `arithmetic`, `values`).
"""

import ast
import math

import numpy as np

from course_lib.simt import types
from course_lib.simt.alone.writer import BOOL, INT, NotPlain, Number, literal, name_of, signature
from course_lib.simt.arithmetic import NO_ARITHMETIC

SYMBOLS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "BitAnd": "&", "BitOr": "|", "BitXor": "^"}
ORDER = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="}
WHOLE = {"FloorDiv": "floor_divide", "Mod": "modulo", "LShift": "left_shift", "RShift": "right_shift"}
FUNCTIONS = {
    getattr(math, name) for name in (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "sinh", "cosh", "asin",
        "acos", "atan", "atan2", "floor", "ceil", "trunc", "fabs", "hypot", "copysign", "isnan", "isinf", "isfinite",
        "pow",
    )
}  # fmt: skip


class Numbers:
    """The part of a translation that computes. `self.text` is its Writer, `self.where(node)` a line of a function."""

    def cast(self, value, dtype):
        """Return a number in another dtype, as `values.cast`."""
        if value.dtype == dtype:
            return value
        if dtype == BOOL:
            return self.text.let(f"{value.text} != 0", BOOL, value.vector)
        text = f"{name_of(dtype)}({value.text})"
        if value.dtype.kind == "f" and dtype.kind in "iu":
            if dtype == INT:
                text = f"whole64(np.float64({value.text}))"
            elif dtype == np.int32:
                text = f"whole32(np.float64({value.text}), {value.dtype.itemsize == 8})"
            else:
                raise NotPlain("a conversion of a float")
        return self.text.let(text, dtype, value.vector)

    def truth(self, value):
        """Return a number as a bool."""
        return self.cast(value, BOOL)

    def binary(self, name, left, right, node):
        """Return what an operator gives, and count it."""
        if not isinstance(left, Number) or not isinstance(right, Number) or name == "MatMult":
            raise NotPlain("an operator of something else than numbers")
        whole = left.dtype.kind in "iub" and right.dtype.kind in "iub"
        if name in ("FloorDiv", "Mod"):
            if not whole:
                raise NotPlain("// and % of floats")
            self.text.unusual(f"{right.text} == 0")
        if name == "Pow" and whole:
            raise NotPlain("a power of whole numbers")
        result, (a, b) = signature(types.BINARY[name], left.dtype, right.dtype)
        vector = max(left.vector, right.vector)
        left, right = self.cast(left, a), self.cast(right, b)
        if name in WHOLE:
            if result.itemsize != 8 or a != result or b != result:
                raise NotPlain("a shift of few bits")
            text = f"{WHOLE[name]}({left.text}, {right.text})"
        elif name == "Pow":
            text = f"{left.text} ** {right.text}"
        else:
            text = f"{left.text} {SYMBOLS[name]} {right.text}"
        self.text.count(self.where(node), result)
        return self.cast(self.text.let(text, self._comes_out(name, a, b, result), vector), result)

    def _comes_out(self, name, a, b, result):
        """Return the dtype that NumPy computes in."""
        if name == "Div" and a.kind != "f":
            raise NotPlain("a quotient that is no float")
        if BOOL in (a, b) and not (a == b == result and name.startswith("Bit")):
            raise NotPlain("arithmetic with booleans")
        if a != b and name != "Pow":
            raise NotPlain("an operator of two types")
        return result if a == result else a

    def unary(self, node, value):
        """Return -x, +x or ~x, and count it."""
        name = type(node.op).__name__
        result, (dtype,) = signature(types.UNARY[name], value.dtype)
        if dtype == BOOL or dtype != result:
            raise NotPlain("a sign of a boolean")
        value = self.cast(value, dtype)
        self.text.count(self.where(node))
        return self.text.let({"USub": "-", "UAdd": "", "Invert": "~"}[name] + value.text, result, value.vector)

    def compared(self, name, left, right, node):
        """Return whether two numbers compare so, and count it."""
        if not isinstance(left, Number) or not isinstance(right, Number) or name not in ORDER:
            raise NotPlain("a comparison of something else than numbers")
        dtype = np.result_type(left.dtype, right.dtype)
        if dtype.kind == "f" and left.dtype.kind in "iu" and right.dtype.kind in "iu":
            raise NotPlain("a comparison of 64 bits with and without sign")
        vector = max(left.vector, right.vector)
        self.text.count(self.where(node))
        left, right = self.cast(left, dtype), self.cast(right, dtype)
        return self.text.let(f"{left.text} {ORDER[name]} {right.text}", BOOL, vector)

    def called(self, path, values, node):
        """Return what a function of numbers gives, and count it."""
        if not values or not all(isinstance(v, Number) for v in values):
            raise NotPlain(f"{path} of something else than numbers")
        if path in ("int", "float") and len(values) == 1:
            return self.cast(values[0], signature({"int": int, "float": float}[path], values[0].dtype)[0])
        if path == "bool" and len(values) == 1:
            return self.truth(values[0])
        if path in ("min", "max") and len(values) > 1:
            return self._extreme(path, values, node)
        if path == "abs" and len(values) == 1:
            return self._function(abs, "abs", values, node)
        module, _, name = path.partition(".")
        if module == "math" and getattr(math, name, None) in FUNCTIONS:
            return self._function(getattr(math, name), f"math.{name}", values, node)
        raise NotPlain(path)

    def _function(self, function, name, values, node):
        result, arguments = signature(function, *(v.dtype for v in values))
        if len(arguments) != len(values) or type(result) is tuple or BOOL in arguments:
            raise NotPlain(name)
        if name != "abs" and any(a.kind != "f" for a in arguments):
            raise NotPlain(f"{name} of whole numbers")
        if function in (math.floor, math.ceil, math.trunc, math.fabs):
            name = f"np.{name[5:]}"
        given = ", ".join(self.cast(v, a).text for v, a in zip(values, arguments, strict=True))
        computed = BOOL if name.startswith("math.is") else arguments[0]
        found = self.text.let(
            f"{name_of(computed)}({name}({given}))", computed, max(v.vector for v in values)
        )  # fmt: skip
        self.text.count(self.where(node), result, 0 if function in NO_ARITHMETIC else 1)
        return self.cast(found, result)

    def _extreme(self, path, values, node):
        result = values[0]
        for value in values[1:]:
            dtype = signature({"min": min, "max": max}[path], result.dtype, value.dtype)[0]
            a, b = self.cast(result, dtype), self.cast(value, dtype)
            if dtype.kind == "f":
                text = f"{'smaller' if path == 'min' else 'larger'}({a.text}, {b.text})"
            else:
                text = f"{path}({a.text}, {b.text})"
            result = self.text.let(text, dtype, max(a.vector, b.vector))
            self.text.count(self.where(node))
        return result

    def literal_of(self, node):
        """Return the Number of a constant in the text."""
        if not isinstance(node, ast.Constant) or type(node.value) not in (bool, int, float):
            raise NotPlain("a constant that is no number")
        value = types.literal(node.value)
        return Number(literal(value), value.dtype)
