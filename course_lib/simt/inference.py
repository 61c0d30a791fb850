"""Which type every name has, before a kernel runs: a walk through its text with no lanes at all.

Source: Numba's documentation, "Deviations from Python Semantics" and "Notes on Numba's type inference". Where two
paths meet, a variable gets a type that holds what either gave it, also if a launch takes only one of them. All of the
text is visited, so that what a kernel cannot use is found in branches that are never taken, as a compiler finds it.
"""

import ast

import numpy as np

from course_lib.simt.calls import InnerFunction
from course_lib.simt.evaluate import Evaluator
from course_lib.simt.lanes import Lanes
from course_lib.simt.literals import is_from_outside
from course_lib.simt.machine import Machine
from course_lib.simt.masks import Mask
from course_lib.simt.memory import View
from course_lib.simt.source import KernelError
from course_lib.simt.values import Conflict, is_number, join, kind
from course_lib.simt.vocabulary import Cast, DeviceFunction, Word

MOST_STATEMENTS = 200_000
MOST_ROUNDS = 20


class Inference(Evaluator):
    """An `Evaluator` that goes both ways at every branch, and enters the types that it meets into `static`.

    Source: the course's own.
    """

    typing = True

    def __init__(self, source, arguments, lanes, machine, depth=0):
        super().__init__(source, arguments, lanes, machine, depth)
        self.dead = False  # whether the statements from here on are never reached
        self.waiting = None  # the error of a name that gets its value later in a loop
        self.recursion = None  # the error of a call of the function itself, before it returned anything

    def run(self, mask):
        """Visit the body; return the value of the right type that the function returns, or None."""
        key = self.machine.tables.key(self.source, list(self.variables.values()))
        visiting = self.machine.tables.visiting
        if key in visiting:
            may_change(tuple(self.variables.values()))  # it may do to these what it does to those of the first call
            if visiting[key].result is None:
                raise _Recursion(
                    f"{self.source.name} calls itself on every path; give it one that ends, or use a loop.",
                    self.source.tree.lineno,
                )
            return visiting[key].result
        visiting[key] = self
        before, arguments = self.machine.enter(self.source), dict(self.variables)
        self._block(self.source.tree.body, mask)
        if self.recursion is not None:
            if self.result is None:
                raise self.recursion
            self.variables, self.dead = arguments, False  # again, now that it is known what the function returns
            self._block(self.source.tree.body, mask)
        self.machine.enter(before)
        del visiting[key]
        if is_number(self.result):
            self.static["return"] = self.result.dtype
        self.machine.tables.known[key] = self.static
        return self.result

    def _idle(self, mask):
        return self.dead

    def _value(self, node, mask):
        value = super()._value(node, mask)
        if isinstance(value, tuple):
            may_change(value)
        return value

    def _variable(self, node, mask):
        if node.id not in self.variables and self.loops:
            raise _Later(f"{node.id} has no value here.", node.lineno)
        self.static.pop(id(node), None)  # of an earlier round of a loop
        value = super()._variable(node, mask)
        if is_number(value):
            self.static[id(node)] = value.dtype
        return value

    def _set(self, name, value, mask):
        self.variables[name], self.defined[name] = value, self.everyone

    def _both(self, old, new, mask):
        return join(old, new)

    def _of_IfExp(self, node, mask):
        test, sides = self._truth(node.test, mask), (node.body, node.orelse)
        if np.ndim(test) == 0 and self._is_decided(node.test):
            sides = (node.body,) if test else (node.orelse,)
        values = []
        for side in sides:
            try:
                values.append(self._value(side, mask))
            except _Recursion as recursion:
                self.recursion = recursion
        if not values:
            raise self.recursion
        return self._as_static(node, join(values[0], values[-1]))

    def _as_static(self, node, value):
        if type(value) is Conflict:
            raise self._error(node, value.why)
        if is_number(value):
            self.static[id(node)] = value.dtype
        return value

    # ------------------------------------------------------------------------------------------- statements

    def _statement(self, node, mask):
        try:
            return super()._statement(node, mask)
        except _Later as later:
            self._wait(later)
        except _Recursion as recursion:
            self.recursion = recursion
        return mask

    def _wait(self, later):
        """Note that a name may get its value later in one of the loops around: each of them goes round again."""
        self.waiting = later
        for frame in self.loops:
            frame["again"] = True

    def _is_decided(self, node):
        """Whether a test comes out before the launch: is None, and comparisons of names from outside."""
        if isinstance(node, ast.Compare):
            asks = all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
            return asks or all(is_from_outside(part, self.source) for part in (node.left, *node.comparators))
        if isinstance(node, ast.UnaryOp):
            return self._is_decided(node.operand)
        if isinstance(node, ast.BoolOp):
            return all(self._is_decided(part) for part in node.values)
        return is_from_outside(node, self.source)

    def _do_If(self, node, mask):
        test = self._truth(node.test, mask)
        before, ends = dict(self.variables), []
        sides = (node.body, node.orelse)
        if np.ndim(test) == 0 and self._is_decided(node.test):  # Numba leaves out a branch that is never taken
            sides = (node.body,) if test else (node.orelse,)
        for side in sides:
            self.variables = dict(before)
            self._block(side, mask)
            ends += [] if self.dead else [self.variables]
            self.dead = False
        self._meet(ends)
        return mask

    def _loop(self, node, mask, items):
        frame = {"breaks": [], "continues": [], "again": False}
        self.loops.append(frame)
        for _ in range(MOST_ROUNDS):
            self.waiting, frame["continues"], frame["again"] = None, [], False
            head = dict(self.variables)
            self.machine.step(node.lineno, mask, self.source.text.weight(node))
            try:
                items.more(mask)
                items.begin(mask)
            except _Later as later:
                self._wait(later)
            at_exit = [dict(self.variables)]
            self._block(node.body, mask)
            ends = frame["continues"] + ([] if self.dead else [self.variables])
            self.dead = False
            self._meet([head, *ends])
            same = all(kind(value) == kind(self.variables[name]) for name, value in head.items())
            if same and not (frame["again"] and len(self.variables) > len(head)):
                break  # what the body itself gives a value has it before it is read
        self.loops.pop()
        if self.waiting is not None and not self.loops:
            raise KernelError(self.waiting.text, self.waiting.line)
        self._meet([self.variables, *at_exit])
        if node.orelse:
            self._block(node.orelse, mask)
        self._meet(([] if self.dead else [self.variables]) + frame["breaks"])
        return mask

    def _meet(self, ends):
        """Go on where several paths meet, each with its variables; nowhere if none comes here."""
        self.dead = not ends
        if ends:
            first, *others = ends
            met = dict(first)
            for other in others:
                for name, value in other.items():
                    met[name] = join(met[name], value) if name in met else value
            self.variables = met
            self.defined = dict.fromkeys(met, self.everyone)

    def _do_Break(self, node, mask):
        self._check_in_loop(node)
        self.loops[-1]["breaks"].append(self.variables)
        self.dead = True
        return mask

    def _do_Continue(self, node, mask):
        self._check_in_loop(node)
        self.loops[-1]["continues"].append(self.variables)
        self.dead = True
        return mask

    def _do_Return(self, node, mask):
        super()._do_Return(node, mask)
        self.dead = True
        return mask

    def _return(self, value, mask):
        self.result = value if self.result is None else join(self.result, value)
        if type(self.result) is Conflict:
            raise KernelError(self.result.why)


class _Unknown(KernelError):
    def __init__(self, text, line):
        super().__init__(text, line)
        self.text = text


class _Recursion(_Unknown):
    """A function that calls itself before it is known what it returns."""


class _Later(_Unknown):
    """A name that has no value yet, in a loop whose end may give it one."""


def _decides(value):
    """Return what decides the types that come out of an argument: its kind, and which function or type it is."""
    if isinstance(value, InnerFunction | DeviceFunction):
        return "function", id(value.source)
    return value if isinstance(value, Cast | Word | str) else kind(value)


def may_change(value):
    """Enter of arrays in a tuple that a kernel may write them: which part of it a store means is not looked at here."""
    for part in value:
        if isinstance(part, tuple):
            may_change(part)
        elif isinstance(part, View):
            part.memory.may_change = True


class Tables:
    """The types of a kernel and of the device functions it calls, each for the types of its arguments.

    Attributes
    ----------
    machine : Machine
        It has seen how many bytes of shared and local arrays there are, and whether the grid has a barrier.

    Raises
    ------
    KernelError
        If something in the text is none of the vocabulary, or its types do not fit.

    Source: the course's own.
    """

    def __init__(self, grid, block, shared):
        self.known, self.visiting = {}, {}
        self.machine = _Silent(grid, block, steps=MOST_STATEMENTS, shared=shared, counting=False)
        self.lanes = Lanes(grid, block, 0, 0)
        self.machine.tables = self
        self.machine.begin(self.lanes)

    def key(self, source, arguments):
        """Return what the types depend on."""
        return id(source), *map(_decides, arguments)

    def of(self, source, arguments):
        """Return {id of a node: dtype} for a function and its arguments."""
        key = self.key(source, arguments)
        if key not in self.known:
            try:
                Inference(source, list(arguments), self.lanes, self.machine).run(Mask(self.lanes))
            except (_Recursion, _Later) as error:
                raise KernelError(error.text, error.line) from None
        return self.known[key]


class _Silent(Machine):
    """A machine on which nothing happens."""

    def step(self, line, mask, weight=1):
        self.budget -= weight
        if self.budget < 0:
            raise KernelError(f"the kernel has more than {MOST_STATEMENTS:,} statements to look at.", line)

    def types_of(self, source, arguments):
        return {}
