"""The statements of a compiled turn, one after the other.

Source: the course's own (`evaluate`).
"""

import ast

from course_lib.simt import types
from course_lib.simt.alone.writer import NO, NotPlain, Number, checked, literal, name_of
from course_lib.simt.vocabulary import Word


class Statements:
    """The part of a translation that writes statements. `ends` has how a turn of each open loop ends.

    Source: the course's own.
    """

    def block(self, statements):
        """Write statements; return whether something may follow them."""
        for statement in statements:
            act = getattr(self, f"_do_{type(statement).__name__}", None)
            if act is None:
                raise NotPlain(type(statement).__name__)
            self.text.step(self.names.source.text.weight(statement))
            if act(statement) is False:
                return False
        return True

    def _do_Pass(self, node):
        """Nothing."""

    def _do_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            raise NotPlain("a call as a statement")

    def _do_Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _do_AnnAssign(self, node):
        if node.value is not None:
            self._assign(node.target, self.value(node.value))

    def _assign(self, target, value):
        if isinstance(target, ast.Name):
            self._give(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple) and len(value) == len(target.elts):
            for part, item in zip(target.elts, value, strict=True):
                self._assign(part, item)
        elif isinstance(target, ast.Subscript):
            self._store(target, *self._cell(target), value)
        else:
            raise NotPlain("an assignment to something else")

    def _do_AugAssign(self, node):
        name, target = type(node.op).__name__, node.target
        if isinstance(target, ast.Name):
            old = self._variable(target)
            self._give(target.id, self.binary(name, old, self.value(node.value), node))
        elif isinstance(target, ast.Subscript):
            view, cell = self._cell(target)
            old = self._load(target, view, cell)
            self._store(target, view, cell, self.binary(name, old, self.value(node.value), node))
        else:
            raise NotPlain("an assignment to something else")

    def _do_If(self, node):
        condition = self.truth(self.value(node.test))
        self.text.count(self.where(node))
        self.text.branch(self.where(node))
        before = dict(self.names.vectors)
        with self.text.inside(f"if {condition.text}:"):
            self.text.stretch()
            one = self.block(node.body)
        after, self.names.vectors = self.names.vectors, before
        with self.text.inside("else:"):
            self.text.stretch()
            other = self.block(node.orelse)
        self.names.vectors = {n: max(after.get(n, NO), before.get(n, NO)) for n in {**after, **before}}
        if not one and not other:
            return False
        self.text.stretch()
        return True

    def _do_While(self, node):
        self._inner(node, "")
        return True

    def _do_For(self, node):
        call = node.iter
        if not isinstance(call, ast.Call) or self._raw(call.func) != Word("range") or call.keywords:
            raise NotPlain("a loop over something else than a range")
        bounds = [self.value(b) for b in call.args]
        if not 1 <= len(bounds) <= 3 or not all(isinstance(b, Number) and b.dtype.kind in "iu" for b in bounds):
            raise NotPlain("a range of something else than whole numbers")
        dtype = checked(types.range_dtype(*(b.dtype for b in bounds)))
        vector = max(b.vector for b in bounds)
        bounds = [self.cast(b, dtype) for b in bounds]
        zero, one = Number(literal(dtype.type(0)), dtype), Number(literal(dtype.type(1)), dtype)
        start, stop = (zero, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else one
        if len(bounds) == 3:
            self.text.unusual(f"{step.text} == 0")
        own, last = self.text.fresh("i"), self.text.fresh("i")
        self.text.line(f"{own} = {name_of(dtype)}({start.text})")
        self.text.line(f"{last} = {name_of(dtype)}({stop.text})")
        i, stop = Number(own, dtype, vector), Number(last, dtype, vector)
        self._inner(node, f"{own} = {name_of(dtype)}({own} + {step.text})", i, stop, step)
        return True

    def _inner(self, node, end, i=None, stop=None, step=None):
        """Write a loop inside of the one that is compiled."""
        if node.orelse:
            raise NotPlain("else of a loop")
        text = self.text
        with text.inside("while True:"):
            text.stretch()
            self._round(node)
            condition = self._goes_on(i.text, stop, step) if i else self.truth(self.value(node.test)).text
            text.unusual("steps < 0")
            with text.inside(f"if not ({condition}):"):
                text.line("break")
            text.stretch()
            if i is not None:
                self._give(self._target(node), i)
            self.ends.append(end)
            goes_on = self.block(node.body)
            self.ends.pop()
            if goes_on and end:
                text.line(end)
        text.given_up()
        for flag in self.returned_flags():
            with text.inside(f"if {flag}:"):
                text.line("break")
        text.stretch()

    def _do_Break(self, node):
        if len(self.ends) == 1 or self.ends[-1] is None:  # the end of the loop itself is walked
            self.unusual()
        else:
            self.text.line("break")
        return False

    def _do_Continue(self, node):
        if self.ends[-1]:
            self.text.line(self.ends[-1])
        if len(self.ends) == 1:
            self.text.line("turns += 1")
        self.text.line("continue")
        return False
