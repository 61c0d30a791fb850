"""What a kernel's text makes a warp do, by classes of operations that cost a card differently; no compiler is needed.

An operation of the source is no machine instruction. Dividing by a number that only the launch knows takes tens of
them; an index into an array of four dimensions takes some for each; adding numbers that the text names takes none. So
operations are sorted into classes, and a compiler's plainest habits are followed: loops of a small known length are
written out, what does not change in a loop is computed before it, and a remainder is had from the quotient. Only a
division by what may be 0 stays behind the guard before it. How often a line is come to, the report's counters say.

Source: Aho, Lam, Sethi, Ullman, "Compilers", "Machine-Independent Optimizations" (constant folding, code motion).
"""

import ast
import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from course_lib.simt.estimate.known import NONE, Value, dotted, either, folded, outside, space_of, together, turns
from course_lib.simt.source import Source

CLASSES = {
    "start": "a warp as such",
    "integer": "whole numbers added or compared",
    "multiply": "whole numbers multiplied, neither of which the text names",
    "power": "a division by a power of two that the text names",
    "constant": "a division by another number that the text names",
    "divided": "a division by a number that only the launch knows",
    "address": "a dimension of an index into global memory",
    "shared": "a dimension of an index into an array of the kernel's",
    "access": "a request to global or shared memory, or to constant memory where the place is not known before",
    "turn": "a turn of a loop that stays one",
    "range": "the beginning of a range with a step, whose length has to be divided",
    "branch": "an if",
    "fma": "a multiply-add",
    "special": "a function of math, or a division of floating-point numbers",
    "together": "a barrier, shuffle or vote",
}

WRITTEN_OUT, NEST = 32, 1024
"""Turns of a loop that a compiler writes out, at the most; those of all loops of a nest, multiplied."""

DIVIDING = ("divmod", "floordiv", "mod")
"""Functions that divide whole numbers."""

EACH_TURN = 3
"""How often the text is read, at the last time for its costs: names that a loop gives later are known by then."""


def classes_of(source, report, warps):
    """Return {class: how often a warp does it} for a launch.

    Parameters
    ----------
    source : simt.Source
    report : Report
        Of the launch, or of some of its blocks.
    warps : float
        Of the blocks that were walked.

    No errors. Source: the course's own.
    """
    found, t = defaultdict(float), report.total
    for function in reached(source):
        one = _Function(function, report, warps, found)
        if function is source or one.counts:  # others are called by nobody
            one.read()
    found["start"] = 1.0
    found["fma"] = sum(line.counters.flops / 64 / line.counters.active_share for line in report.lines) / warps
    found["branch"] = max(0.0, t.branches / warps - found["asked by loops"])
    found["together"] = (t.barriers + t.warp_operations) / warps
    requests = sum(getattr(t, f"{s}_{way}_requests") for s in ("global", "shared") for way in ("load", "store"))
    found["access"] += (requests + t.atomic_requests) / warps
    return {name: found[name] for name in CLASSES}


def _counted(call):
    """Return how many operations the executor counts for a call."""
    called = dotted(call.func)
    of_all = {"min": len(call.args), "max": len(call.args), "divmod": 2}
    if called.startswith("operator."):
        return 1
    return of_all.get(called, int(called.startswith("math.")))


def reached(source):
    """Return the sources of a kernel and of all functions that it may call: device functions, inner ones, lambdas."""
    found, left = {}, [source]
    while left:
        one = left.pop()
        if id(one) not in found:
            found[id(one)] = one
            held = [*one.family.values(), *one.inner.values(), *one.outside.values(), *one.meanings.values()]
            left += [f for each in held if isinstance(f := getattr(each, "source", each), Source)]
    return list(found.values())


class _Function:
    """Reads one function. `now` is how often a warp comes to the statement that is being read."""

    def __init__(self, source, report, warps, found):
        self.source, self.found, self.warps, self.uses = source, found, warps, report.arrays
        self.counts = {line.number: line.counters for line in report.lines if line.function == source.name}
        self.loops, self.trips, self.guards, self.now = [], {}, [], 1.0
        self.names, self.arrays, self.done, self.quotients, self.nests = {}, {}, set(), {}, {}
        self.charging, self.versions = False, Counter()
        stored = (n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.given = Counter(stored)

    def read(self):
        """Add to `found` what the function does."""
        for parameter in self.source.parameters:
            if use := self.uses.get(parameter):
                self.arrays[parameter] = "global", np.dtype(use.dtype).kind in "fc"
            else:
                self.names[parameter] = Value(NONE)
        body = self.source.tree.body
        for turn in range(EACH_TURN):
            self.charging = turn == EACH_TURN - 1
            self.body(body, max((self.said(s) or 0.0 for s in body), default=0.0) or 1.0)

    def said(self, s):
        """Return how often a warp comes to a statement, by its counters; None where they do not say."""
        if isinstance(s, ast.For | ast.While):
            return None
        last = s.lineno if hasattr(s, "body") else s.end_lineno
        counted = sum(self.counts[n].instructions for n in range(s.lineno, last + 1) if n in self.counts)
        number = 0
        for node in ast.walk(s.test if isinstance(s, ast.If) else s):
            literal = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
            number += isinstance(node, ast.BinOp | ast.UnaryOp) and not literal
            number += len(node.ops) if isinstance(node, ast.Compare) else 0
            number += 1 + isinstance(node.target, ast.Subscript) if isinstance(node, ast.AugAssign) else 0
            number += isinstance(node, ast.Subscript) and dotted(node.value) in self.arrays
            number += _counted(node) if isinstance(node, ast.Call) else 0
        return counted / self.warps / number if counted and number else None

    def inside(self, body, without):
        """Return how often a warp comes to a body: the most that one of its statements says, else `without`."""
        said = [n for s in body if (n := self.said(s)) is not None]
        said += [self.inside(s.body, 0.0) for s in body if isinstance(s, ast.If)]
        return max(said, default=0.0) or without

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

    def body(self, body, times):
        """Read statements that a warp comes to so often."""
        for s in body:
            said = self.said(s)
            self.now = times if said is None else min(said, times)
            self.statement(s)

    def statement(self, s):
        """Read one statement."""
        if isinstance(s, ast.For | ast.While):
            self.loop(s)
        elif isinstance(s, ast.If):
            self.value(s.test)
            times = self.now
            for part in (s.body, s.orelse):
                self.guards.append((id(part), frozenset(self.loops)))
                self.body(part, self.inside(part, times))
                self.guards.pop()
        elif isinstance(s, ast.Assign):
            value = self.value(s.value)
            for target in s.targets:
                self.give(target, value, s.value)
        elif isinstance(s, ast.AugAssign):
            value = self.binary(s.op, self.value(s.target), self.value(s.value), s)
            if isinstance(s.target, ast.Name):  # carried from turn to turn
                self.versions[s.target.id] += 1
                self.names[s.target.id] = Value(frozenset(self.loops), floating=value.floating)
        elif isinstance(s, ast.Expr | ast.Return | ast.AnnAssign) and s.value is not None:
            value = self.value(s.value)
            if isinstance(s, ast.AnnAssign):
                self.give(s.target, value, s.value)

    def loop(self, s):
        """Read a loop."""
        times, loop, first, trips, parts = self.now, id(s), Value(number=0), None, []
        if isinstance(s, ast.For):
            parts = s.iter.args if isinstance(s.iter, ast.Call) and dotted(s.iter.func) == "range" else []
            values = [self.value(part) for part in parts] or [self.value(s.iter)]
            trips = turns([v.number for v in values]) if parts else None
            first = values[0] if len(parts) > 1 else first
        out = trips is not None and trips <= WRITTEN_OUT and self.nest(s) <= NEST
        counts = self.counts.get(s.lineno)
        asked = counts.branches / self.warps if counts else 0.0
        inside = self.inside(s.body, max(0.0, asked - times) if trips is None else times * trips)
        self.trips[loop] = max(1.0, trips if trips is not None else inside / times if times else 1.0)
        if self.charging:
            self.found["asked by loops"] += asked
            self.found["turn"] += 0.0 if out else inside
            self.found["range"] += 0.0 if out or len(parts) < 3 else times
        self.loops.append(loop)
        if isinstance(s, ast.For):
            mine = frozenset([loop])
            item = replace(first, shift=first.shift | mine, number=None)
            if not out:
                item = replace(item, varies=(first.varies or NONE) | mine, shift=first.shift)
            if parts and isinstance(s.target, ast.Name):
                self.names[s.target.id] = item  # whatever else the name was before
                self.versions[s.target.id] += 1
            else:
                self.give(s.target, Value(frozenset(self.loops), floating=True), None)
        self.now = inside
        if isinstance(s, ast.While):
            self.value(s.test)
        self.body(s.body, inside)
        self.loops.pop()

    def nest(self, s):
        """Return the turns of a loop and of the longest nest of known loops in it, multiplied; 1 for unknown ones."""
        if id(s) not in self.nests:
            known = None
            if isinstance(s, ast.For) and isinstance(s.iter, ast.Call):
                charging, self.charging = self.charging, False
                known = turns([self.value(part).number for part in s.iter.args])
                self.charging = charging
            parts = [part for name in ("body", "orelse") for part in getattr(s, name, [])]
            self.nests[id(s)] = (known or 1) * max(map(self.nest, parts), default=1)
        return self.nests[id(s)]

    def give(self, target, value, text):
        """Give a name, names, or an element of an array a value; `text` is where it comes from, if it is one."""
        if isinstance(target, ast.Subscript):
            self.value(target)
        elif isinstance(target, ast.Tuple | ast.List):
            items = value.items if value.items and len(value.items) == len(target.elts) else None
            texts = text.elts if items and isinstance(text, ast.Tuple | ast.List) else [None] * len(target.elts)
            for i, one in enumerate(target.elts):
                self.give(one, items[i] if items else replace(value, items=None), texts[i])
        elif isinstance(target, ast.Name):
            self.versions[target.id] += 1
            if space := space_of(text):
                words = [dotted(a) for a in (*text.args, *(k.value for k in text.keywords))]
                self.arrays[target.id] = space, not any("int" in word for word in words)
            elif isinstance(text, ast.Name) and text.id in self.arrays:
                self.arrays[target.id] = self.arrays[text.id]
            elif self.given[target.id] > 1 and target.id in self.names:
                self.names[target.id] = either(self.names[target.id], value)
            else:
                self.names[target.id] = value

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
