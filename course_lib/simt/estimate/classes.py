"""What a kernel's text makes a warp do, by classes of operations that cost a card differently; no compiler is needed.

An operation of the source is no machine instruction. Dividing by a number that only the launch knows takes tens of
them; an index into an array of four dimensions takes some for each; adding numbers that the text names takes none. So
operations are sorted into classes, and a compiler's plainest habits are followed: loops of a small known length are
written out, what does not change in a loop is computed before it, and a remainder is had from the quotient. Only a
division by what may be 0 stays behind the guard before it. How often a line is come to, the report's counters say.

Source: Aho, Lam, Sethi, Ullman, "Compilers", "Machine-Independent Optimizations" (constant folding, code motion).
"""

import ast
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from course_lib.simt.estimate.class_values import Expressions
from course_lib.simt.estimate.known import NONE, Value, dotted, either, space_of, turns
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


class _Function(Expressions):
    """Reads one function: its statements, and how often a warp comes to them."""

    def __init__(self, source, report, warps, found):
        super().__init__(source, report, warps, found)
        self.counts = {line.number: line.counters for line in report.lines if line.function == source.name}
        self.nests = {}
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
