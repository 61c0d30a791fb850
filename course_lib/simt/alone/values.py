"""The expressions of a compiled turn: names, operators, conditions.

Source: the course's own (`expressions`, `names`).
"""

import ast

import numpy as np

from course_lib.simt.alone.numbers import Numbers
from course_lib.simt.alone.writer import BOOL, TYPES, UNSURE, YES, NotPlain, NotYet, Number, name_of
from course_lib.simt.memory import View
from course_lib.simt.values import is_number


class Values(Numbers):
    """The part of a translation that writes expressions: the value of one is a Number, a tuple, or what the walk has.

    Source: the course's own.
    """

    def value(self, node):
        """Return what an expression is: a Number, a tuple of them, or what the walk has for it."""
        act = getattr(self, f"_of_{type(node).__name__}", None)
        if act is None:
            raise NotPlain(type(node).__name__)
        return act(node)

    def _of_Constant(self, node):
        return self.literal_of(node)

    def _of_Tuple(self, node):
        return tuple(self._held(self.value(part)) for part in node.elts)

    def _held(self, value):
        """Return a number under a name of its own: what it is read from may be given another value before its use."""
        if isinstance(value, Number) and value.text[0] == "v":
            return self.text.let(value.text, value.dtype, value.vector)
        return value

    def _of_Name(self, node):
        if node.id in self.names.stored or node.id in self.names.given:
            return self._variable(node)
        return self._as_number(self._raw(node))

    def _variable(self, node):
        names = self.names
        if node.id not in names.stored:
            value = names.given[node.id]
            dtype = names.static.get(id(node))
            return self.cast(value, dtype) if isinstance(value, Number) and dtype is not None else value
        if node.id not in names.variables or id(node) not in names.static:
            raise NotPlain("a variable without a value")
        if node.id in names.flags:
            self.text.unusual(f"not {names.flags[node.id]}")
        found = Number(names.variables[node.id], names.dtypes[node.id], names.vectors[node.id])
        return self.text.let(found.text, found.dtype, found.vector)

    def _raw(self, node):
        """Return what the walk has for a name, or a name with dots, that no turn changes."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.names.stored:
            raise NotPlain("a value that is no name")
        if self.names.given and root.id in self.names.given:
            value = self.names.given[root.id]
            if node is root:
                return value
            if not isinstance(value, View) or value.dtype.names or node.value is not root:
                raise NotPlain("an attribute")
            if node.attr not in ("shape", "size", "ndim"):
                raise NotPlain("an attribute")
            found = getattr(value, node.attr)
            return tuple(map(np.int64, found)) if node.attr == "shape" else np.int64(found)
        e, source = self.e, self.names.source
        if root.id in source.assigned:
            if self.names.depth or root.id not in e.variables or not self._is_defined(root.id):
                raise NotPlain("a variable without a value")
        elif root.id not in source.outside:
            raise NotPlain("a name without a meaning")
        evaluator = _Elsewhere(e, source) if self.names.depth else e
        value = evaluator._value(root, self.mask)
        if isinstance(value, View) and value.dtype.names:
            raise NotPlain("records")
        return evaluator._value(node, self.mask)

    def _as_number(self, value):
        """Return a value of the walk as the compiled code has it."""
        if isinstance(value, tuple):
            return tuple(map(self._as_number, value))
        return self.text.number(value, self.lane) if is_number(value) else value

    def _of_Attribute(self, node):
        return self._as_number(self._raw(node))

    def _of_BinOp(self, node):
        left = self.value(node.left)
        return self.binary(type(node.op).__name__, left, self.value(node.right), node)

    def _of_UnaryOp(self, node):
        value = self.value(node.operand)
        if not isinstance(value, Number):
            raise NotPlain("a sign of something else than a number")
        if isinstance(node.op, ast.Not):
            return self.text.let(f"not {self.truth(value).text}", BOOL, value.vector)
        return self.unary(node, value)

    def _of_Compare(self, node):
        left, result = self.value(node.left), None
        for k, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if k:
                self.text.line(f"if {result.text}:")
                self.text.depth += 1
                self.text.stretch()
            right = self.value(comparator)
            part = self.compared(type(op).__name__, left, right, node)
            if k:
                self.text.line(f"{result.text} = {part.text}")
            else:
                result = self.text.let(part.text, BOOL, part.vector)
            left = right
        if len(node.ops) > 1:
            self.text.depth -= len(node.ops) - 1
            self.text.stretch()
        return result

    def _of_BoolOp(self, node):
        stops = "" if isinstance(node.op, ast.And) else "not "
        first = self.value(node.values[0])
        if not isinstance(first, Number) or first.dtype != BOOL:
            raise NotPlain("and, or of something else than conditions")
        result = self.text.let(first.text, BOOL, first.vector)
        for other in node.values[1:]:
            self.text.line(f"if {stops}{result.text}:")
            self.text.depth += 1
            self.text.stretch()
            value = self.value(other)
            if not isinstance(value, Number) or value.dtype != BOOL:
                raise NotPlain("and, or of something else than conditions")
            self.text.line(f"{result.text} = {value.text}")
        self.text.depth -= len(node.values) - 1
        self.text.stretch()
        return result

    def _of_IfExp(self, node):
        condition, dtype = self.truth(self.value(node.test)), self.names.static.get(id(node))
        if dtype not in TYPES:
            raise NotPlain("a choice of something else than numbers")
        if condition.vector == UNSURE:
            raise NotYet("a condition that may be the same in all lanes")
        if condition.vector == YES:
            self.text.branch(self.where(node))
        result, vector = self.text.fresh(), condition.vector
        for head, side in ((f"if {condition.text}:", node.body), ("else:", node.orelse)):
            with self.text.inside(head):
                self.text.stretch()
                value = self.value(side)
                if not isinstance(value, Number):
                    raise NotPlain("a choice of something else than numbers")
                vector = max(vector, value.vector)
                self.text.line(f"{result} = {name_of(dtype)}({self.cast(value, dtype).text})")
        self.text.stretch()
        return Number(result, dtype, vector)


class _Elsewhere:
    """The names from outside of a function that is called, as the walk has them."""

    def __new__(cls, e, source):
        found = type(e).__new__(type(e))
        found.source, found.lanes, found.machine, found.depth = source, e.lanes, e.machine, e.depth + 1
        found.everyone, found.variables, found.defined, found.static = e.everyone, {}, {}, {}
        return found
