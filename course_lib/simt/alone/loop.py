"""A loop of one lane as the text of a function that does some turns of it.

Source: the course's own. What the walk does not do in every turn, the text does not do at all: it says that the turn is
unusual. What there are no words for raises NotPlain, and the loop stays walked.
"""

import ast

import numpy as np

from course_lib.simt.alone.arrays import Arrays
from course_lib.simt.alone.functions import Functions, Names
from course_lib.simt.alone.statements import Statements
from course_lib.simt.alone.values import Values
from course_lib.simt.alone.writer import NO, UNSURE, YES, NotPlain, Number, Writer, checked, name_of
from course_lib.simt.iteration import Asking, Counting
from course_lib.simt.values import cast, is_number


class Translation(Statements, Values, Functions, Arrays):
    """One loop written out for one lane. Raises NotPlain if it cannot be.

    Source: the course's own.
    """

    def __init__(self, e, frame, active):
        self.e, self.machine, self.mask, self.frame = e, e.machine, active, frame
        self.lane = self.machine.lane_of(active, 0)
        self.text, self.ends = Writer(), []
        node = frame.node
        parts = [*node.body, node.test if isinstance(node, ast.While) else node.target]
        self.names = Names(e.source, e.static, parts)
        self.state = {}  # variables that go in and come out: {name: (name in the code, dtype, name of its flag)}
        self.merged = {}  # {name: whether its numbers are merged with those of other lanes}
        self._enter_variables()
        self._turn(node)
        self.full = [memory.all_written for memory in self.text.memories]

    def where(self, node):
        """Return the place that costs of a node are counted for."""
        return self.names.source, node.lineno

    def unusual(self):
        """The walk does the rest of this turn."""
        self.text.line("bad = True")
        self.text.line("break")

    def _enter_variables(self):
        for name in sorted(self.names.stored):
            value = self.e.variables.get(name)
            if value is not None and not is_number(value):
                raise NotPlain("a variable that is no number")
            there = value is not None and self._is_defined(name)
            dtype = self.names.dtypes.get(name) or (value.dtype if value is not None else None)
            if name in self.names.mixed:
                raise NotPlain("a variable of two types")
            if dtype is not None:  # else it gets a value in the loop, and nobody reads it there
                self._enter_variable(name, checked(dtype), value if there else None)

    def _enter_variable(self, name, dtype, value=None):
        """Let a variable go into the compiled code and come out; with a flag if it has no value yet."""
        own, names = self.text.fresh("v"), self.names
        names.dtypes[name], names.variables[name] = dtype, own
        names.vectors[name] = YES if np.ndim(value) else self._merged(name)
        self.text.parameters[own] = dtype.type(0)
        if value is None:
            names.flags[name] = self.text.fresh("d")
            self.text.parameters[names.flags[name]] = False
        else:
            self.text.parameters[own] = cast(value[self.lane] if np.ndim(value) else value, dtype)
        self.state[name], self.merged[name] = (own, dtype, names.flags.get(name)), self._merged(name)

    def _merged(self, name):
        """Return UNSURE where other lanes have this variable too: merged with an equal number, one number stays one."""
        e = self.e
        alone = name not in e.variables or e.defined[name] is self.mask or e._is_all(self.mask)
        return NO if alone else UNSURE

    def refreshed(self):
        """Take the variables as walked turns have left them; return whether the translation still holds."""
        text, e = self.text, self.e
        for name, (own, dtype, flag) in self.state.items():
            value = e.variables.get(name)
            if (value is not None and not is_number(value)) or self._merged(name) > self.merged[name]:
                return False
            there = value is not None and self._is_defined(name)
            if flag:
                text.parameters[flag] = there
            elif not there:
                return False
            if there:
                text.parameters[own] = cast(value[self.lane] if np.ndim(value) else value, dtype)
        if self.i:
            i = self.frame.items.i
            text.parameters[self.i.text] = i[self.lane] if np.ndim(i) else i
        return all(m.all_written or not full for m, full in zip(text.memories, self.full, strict=True))

    def _is_defined(self, name):
        defined = self.e.defined[name]
        return defined.bits is None or bool(defined.bits[self.lane])

    def _give(self, name, value):
        """Give a variable a number."""
        names = self.names
        if not isinstance(value, Number):
            raise NotPlain("a variable that is no number")
        dtype = names.dtype(name, value)
        if name not in names.variables and names.depth == 0:
            self._enter_variable(name, dtype)
        elif name not in names.variables:
            names.variables[name] = self.text.fresh("v")
        own = names.variables[name]
        self.text.line(f"{own} = {name_of(dtype)}({self.cast(value, dtype).text})")
        merged = NO if names.depth else self._merged(name)
        names.vectors[name] = max(names.vectors.get(name, NO), value.vector, merged)
        if name in names.flags:
            self.text.line(f"{names.flags[name]} = True")

    # ------------------------------------------------------------------------------------------- the turn

    def _turn(self, node):
        text, items = self.text, self.frame.items
        if type(items) is Counting:
            bounds = [items.i, items.stop, items.step]
            self.i, stop, step = (text.number(v, self.lane) for v in bounds)
            with text.inside(f"if not ({self._goes_on(self.i.text, stop, step)}):"):
                text.line("break")
            text.stretch()
            self._round(node)
            self._give(self._target(node), Number(self.i.text, self.i.dtype, self.i.vector))
            self.ends.append(f"{self.i.text} = {name_of(self.i.dtype)}({self.i.text} + {step.text})")
        elif type(items) is Asking:
            self.i = None
            text.stretch()
            self._round(node)
            text.unusual(f"not {self.truth(self.value(node.test)).text}")
            self.ends.append("")
        else:
            raise NotPlain("a loop over something else than a range")
        if self.block(node.body):
            self._do_Continue(node)

    def _goes_on(self, i, stop, step):
        return f"({step.text} > 0 and {i} < {stop.text}) or ({step.text} < 0 and {i} > {stop.text})"

    def _round(self, node):
        self.text.step(self.names.source.text.weight(node))
        self.text.count(self.where(node))
        self.text.branch(self.where(node))

    def _target(self, node):
        if not isinstance(node.target, ast.Name):
            raise NotPlain("a loop with several variables")
        return node.target.id
