"""The calls of a compiled turn: a device function is written out in place of its call.

Source: the course's own (`calls`).
"""

import ast

import numpy as np

from course_lib.simt.alone.writer import NO, TYPES, NotPlain, Number, checked, literal, name_of
from course_lib.simt.memory import View
from course_lib.simt.vocabulary import Cast, DeviceFunction, Word

MOST_DEEP = 4
"""How deep functions may call each other in a compiled turn."""


class Names:
    """The variables of one function in a compiled turn. `given` has what its parameters are, in a function called."""

    def __init__(self, source, static, tree, given=None, depth=0):
        self.source, self.static, self.given, self.depth = source, static, given or {}, depth
        nodes = [n for part in tree for n in ast.walk(part)]
        if any(isinstance(n, ast.FunctionDef | ast.Lambda | ast.ListComp) for n in nodes):
            raise NotPlain("a function inside")
        names = [n for n in nodes if isinstance(n, ast.Name)]
        self.stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        loads = {}
        for n in names:
            augmented = isinstance(n.ctx, ast.Store) and id(n) in static
            if n.id in self.stored and (isinstance(n.ctx, ast.Load) or augmented) and id(n) in static:
                loads.setdefault(n.id, set()).add(static[id(n)])
        self.dtypes = {name: next(iter(found)) for name, found in loads.items() if len(found) == 1}
        self.mixed = {name for name, found in loads.items() if len(found) > 1}
        self.variables, self.flags, self.vectors = {}, {}, {}  # names in the compiled code; whether a value is there
        self.returned = self.result = None  # of a function that is called: whether it has returned, and what

    def dtype(self, name, value):
        """Return the dtype of a variable that is given a value: that in which it is read, if it is read."""
        if name in self.mixed:
            raise NotPlain("a variable of two types")
        return self.dtypes.setdefault(name, checked(value.dtype))


class Functions:
    """The part of a translation that writes calls. Source: the course's own."""

    def _of_Call(self, node):
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise NotPlain("a call with names")
        function = self._raw(node.func)
        if isinstance(function, DeviceFunction):
            return self._function_called(function.source, node)
        if isinstance(function, Word) and function.path == "len" and len(node.args) == 1:
            view = self._raw(node.args[0])
            if not isinstance(view, View) or not view.shape or np.ndim(view.shape[0]):
                raise NotPlain("a length")
            return self.text.number(np.int64(view.shape[0]), self.lane)
        values = [self.value(a) for a in node.args]
        if isinstance(function, Cast) and len(values) == 1 and isinstance(values[0], Number):
            return self.cast(values[0], checked(function.dtype))
        if not isinstance(function, Word):
            raise NotPlain("a call")
        return self.called(function.path, values, node)

    def returned_flags(self):
        """Return the flag of the function that is being written, if it returns from inside of a loop."""
        return [self.names.returned] if self.names.returned else []

    def _function_called(self, source, node):
        """Write what a device function does, in place of its call; return its Number."""
        around = self.names
        if source.signatures or source.rest or source.captured or around.depth >= MOST_DEEP:
            raise NotPlain("a function of another kind")
        if len(node.args) != len(source.parameters):
            raise NotPlain("a function with defaults")
        values = [self._held(self.value(a)) for a in node.args]
        if not all(isinstance(v, Number | View) for v in values):
            raise NotPlain("a function of something else than numbers and arrays")
        like = [np.zeros(1, v.dtype)[0] if isinstance(v, Number) else v for v in values]
        static = self.machine.types_of(source, like)
        if "return" not in static or static["return"] not in TYPES:
            raise NotPlain("a function that returns no number")
        given = dict(zip(source.parameters, values, strict=True))
        names = Names(source, static, source.tree.body, given, around.depth + 1)
        self.names, ends, self.ends = names, self.ends, [None]
        names.returned, names.result = self.text.fresh("r"), self.text.fresh("r")
        self.text.line(f"{names.returned} = False")
        self.text.line(f"{names.result} = {literal(np.zeros(1, static['return'])[0])}")
        names.vector = NO
        with self.text.inside("while True:"):
            self.text.stretch()
            for name in sorted(names.stored):
                if name in given:
                    self._give(name, given[name])
                else:
                    names.flags[name] = self.text.fresh("d")
                    self.text.line(f"{names.flags[name]} = False")
            for name in sorted(names.stored - set(given)):
                if name in names.dtypes:
                    names.variables[name], names.vectors[name] = self.text.fresh("v"), NO
                    zero = literal(np.zeros(1, checked(names.dtypes[name]))[0])
                    self.text.line(f"{names.variables[name]} = {zero}")
            if self.block(source.tree.body):
                self.unusual()  # it returns nothing on this path
        self.text.given_up()
        self.text.stretch()
        self.names, self.ends = around, ends
        return Number(names.result, static["return"], names.vector)

    def _do_Return(self, node):
        names = self.names
        if names.depth == 0 or node.value is None:
            self.unusual()
            return False
        value = self.value(node.value)
        if not isinstance(value, Number):
            raise NotPlain("a function that returns no number")
        names.vector = max(names.vector, value.vector)
        dtype = names.static["return"]
        self.text.line(f"{names.result} = {name_of(dtype)}({self.cast(value, dtype).text})")
        self.text.line(f"{names.returned} = True")
        self.text.line("break")
        return False
