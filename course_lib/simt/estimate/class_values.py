"""What the expressions of a kernel's text cost a warp, by classes of operations, and what is known of their values.

What does not change in a loop is charged once before it, a remainder is had from the quotient, and only a division by
what may be 0 stays behind the guard before it. `classes` reads the statements around them.

Source: Aho, Lam, Sethi, Ullman, "Compilers", "Machine-Independent Optimizations" (constant folding, code motion).
"""

import ast
import math
from collections import Counter
from dataclasses import replace

from course_lib.simt.estimate.known import NONE, Value, dotted, folded, outside, together

DIVIDING = ("divmod", "floordiv", "mod")
"""Functions that divide whole numbers."""


class Expressions:
    """Reads a function's expressions. `now` is how often a warp comes to the statement that is being read.

    `loops` are those around it, `trips` their turns, `guards` the branches around it; `names` and `arrays` are what is
    known of the function's names. `found` is added to only while `charging`. Source: the course's own.
    """

    def __init__(self, source, report, warps, found):
        self.source, self.found, self.warps, self.uses = source, found, warps, report.arrays
        self.loops, self.trips, self.guards, self.now = [], {}, [], 1.0
        self.names, self.arrays, self.done, self.quotients = {}, {}, set(), {}
        self.charging, self.versions = False, Counter()

    def charge(self, name, loops, number=1.0, key=None):
        """Add an operation that is done once for each turn of these loops only; with a key, of each text once."""
        if not self.charging or (key and (name, key, loops) in self.done):
            return
        self.done |= {(name, key, loops)} if key else set()
        apart = math.prod(self.trips[loop] for loop in self.loops if loop not in loops)
        self.found[name] += number * self.now / apart

    def text(self, node):
        """Return a key for an expression: the same text of names that were not given anew is the same value."""
        names = sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)})
        return ast.dump(node), *(self.versions[name] for name in names)

    def value(self, node):
        """Return the `Value` of an expression, and charge what it costs."""
        if isinstance(node, ast.Constant):
            whole = type(node.value) in (int, bool)
            return Value(number=int(node.value) if whole else None, floating=isinstance(node.value, float))
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Tuple | ast.List):
            items = tuple(self.value(e) for e in node.elts)
            return replace(together(items), items=items)
        if isinstance(node, ast.BinOp):
            return self.binary(node.op, self.value(node.left), self.value(node.right), node)
        if isinstance(node, ast.UnaryOp):
            value = self.value(node.operand)
            minus = isinstance(node.op, ast.USub) and value.number is not None
            return replace(value, number=-value.number if minus else None)
        if isinstance(node, ast.Compare | ast.BoolOp):
            value = together([self.value(p) for p in getattr(node, "values", [])] or
                             [self.value(p) for p in (node.left, *node.comparators)])  # fmt: skip
            if isinstance(node, ast.Compare) and not value.known:
                self.charge("integer", value.loops, len(node.ops), self.text(node))
            return replace(value, floating=False)
        if isinstance(node, ast.IfExp):
            return together([self.value(p) for p in (node.test, node.body, node.orelse)])
        if isinstance(node, ast.Subscript):
            return self.element(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        return Value(NONE if isinstance(node, ast.Attribute) else frozenset(self.loops))  # a size, a thread's number

    def name(self, name):
        """Return the `Value` of a name."""
        if name in self.names:
            return self.names[name]
        held = self.source.outside.get(name)
        if isinstance(held, ast.expr):
            return self.value(held)
        return outside(held) or Value(NONE if held is not None else frozenset(self.loops))

    def element(self, node):
        """Return the `Value` of an element: of an array, of a shape, of a tuple."""
        root = dotted(node.value)
        if root in self.arrays:
            return self.access(root, node)
        at, base = self.value(node.slice).number, self.value(node.value)
        if root.endswith(".shape"):
            array = root.removesuffix(".shape")
            use = self.uses.get(array) if self.arrays.get(array, ("global",))[0] != "global" else None
            sizes = getattr(use or self.source.outside.get(array), "shape", ())
            return Value(number=int(sizes[at])) if at is not None and -len(sizes) <= at < len(sizes) else Value(NONE)
        if base.items and at is not None and -len(base.items) <= at < len(base.items):
            return base.items[at]
        return replace(base, items=None, number=None)

    def access(self, root, node):
        """Charge the addresses of an access to an array, and return the `Value` of the element."""
        space, floating = self.arrays[root]
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        values = [self.value(i) for i in index]
        for i, value in enumerate(values):
            key = root, i, self.text(index[i])
            # In global memory a row's length is the launch's: each row of a tile has its own address. What the text
            # adds to the last index, or to one of an array whose sizes it names, is part of the instruction.
            if space == "global" and not (value.known and not value.shift):
                self.charge("address", value.varies or NONE if i == len(values) - 1 else value.loops, key=key)
            elif space != "global" and not value.known:
                self.charge("shared", value.varies, key=key)
        place = together(values)
        if space in ("local", "constant") and not place.known:
            self.charge("access", frozenset(self.loops) if space == "local" else place.loops)
        if space == "constant":
            return replace(place, floating=floating)
        return Value(frozenset(self.loops), floating=floating)

    def binary(self, op, left, right, node):
        """Return the `Value` of an operation with two operands; floating-point ones are counted by the executor."""
        value = together([left, right])
        if isinstance(op, ast.Div) and not value.known:
            self.charge("special", value.loops, key=self.text(node))
        if value.floating or isinstance(op, ast.Div):
            return Value(value.varies if value.known else value.loops, value.shift if value.known else NONE, None, True)
        if value.known:
            both = left.number is not None and right.number is not None
            return replace(value, number=folded(op, left.number, right.number) if both else None)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            self.division(right, value, node)
            return Value(value.loops)
        times = isinstance(op, ast.Mult)
        if isinstance(op, ast.Add | ast.Sub) or (times and (left.known or right.known)):
            self.charge("integer", value.varies, key=self.text(node))
            return value
        self.charge("multiply" if times else "integer", value.loops, key=self.text(node))
        return Value(value.loops)

    def division(self, right, value, node):
        """Charge a quotient or a remainder; what divides by a number of the launch is not done ahead of its guard."""
        name, loops, guards = "divided", value.loops, tuple(g for g, _ in self.guards)
        if right.known:
            n = right.number or 0
            name = "power" if n > 0 and not n & (n - 1) else "constant"
        elif self.guards:
            loops = loops | self.guards[-1][1]
        sides = node.args if isinstance(node, ast.Call) else [getattr(node, "left", None) or node.target,
                                                              getattr(node, "right", None) or node.value]  # fmt: skip
        key = *map(self.text, sides), loops
        before = self.quotients.get(key)
        if before is not None and guards[: len(before)] == before:  # the other one of quotient and remainder is there
            self.charge("integer", loops, key=self.text(node))
        elif self.charging:
            self.quotients[key] = guards if name == "divided" else ()
            self.charge(name, loops)

    def call(self, node):
        """Return the `Value` of a call."""
        called, values = dotted(node.func), [self.value(a) for a in node.args]
        last = called.rpartition(".")[2]
        if last in ("grid", "gridsize"):
            axes = (values[0].number if values else None) or 1
            items = tuple(Value(NONE) for _ in range(min(axes, 3))) if axes > 1 else None
            return Value(NONE, items=items)
        value = together(values) if values else Value(frozenset(self.loops))
        if last.startswith("float"):
            return replace(value, floating=True)
        if last.startswith(("int", "uint")):
            return replace(value, floating=False, number=values[0].number if len(values) == 1 else None)
        if last in DIVIDING and len(values) == 2 and not value.floating:
            if not value.known:
                self.division(values[1], value, node)
            return Value(value.loops, items=(Value(value.loops),) * 2 if last == "divmod" else None)
        if last in ("min", "max", "abs", "selp"):
            return value
        if called.startswith("math."):
            self.charge("special", value.loops)
            return replace(value, floating=True)
        return Value(frozenset(self.loops), floating=True)
