"""Walk a kernel's syntax tree with all lanes in lock-step.

Source: NVIDIA, "CUDA C++ Programming Guide", "SIMT Architecture". Every statement is done once, for all lanes of a
batch of blocks; an `if` or a loop switches lanes off and on again (`masks`). A variable is a number where all lanes
agree, else a vector with a number per lane (`values`).
"""

import ast

import numpy as np

from course_lib.simt import types
from course_lib.simt.elements import Slice
from course_lib.simt.expressions import Expressions
from course_lib.simt.iteration import Asking, Counting, Range, Taking, has_items, unpacked
from course_lib.simt.masks import Mask
from course_lib.simt.memory import View
from course_lib.simt.parts import taken
from course_lib.simt.refusals import construct, refused
from course_lib.simt.stops import Stops
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.waiting import Block, Branch, Loop, Waiting
from course_lib.simt.watching import Watch


class Evaluator(Expressions, Stops, Waiting):
    """One batch of blocks on its way through a kernel. `machine` has memories, counters and findings (`run`).

    Source: the course's own.
    """

    typing = False

    def __init__(self, source, arguments, lanes, machine, depth=0):
        self.source, self.lanes, self.machine, self.depth = source, lanes, machine, depth
        self.everyone = self.alive = Mask(lanes)  # alive: who was called and has not returned
        self.fixed, self.caller, self.call = frozenset(), None, None
        self.variables = dict(zip(source.parameters, arguments, strict=True))
        self.defined = dict.fromkeys(source.parameters, self.everyone)
        self.result = None
        self.loops, self.path, self.joining = [], [], None  # where the walk is: see `waiting`
        self.static = machine.types_of(source, arguments) if not self.typing else {}

    def run(self, mask):
        """Run the body for the lanes of `mask`; return what the function returns, or None."""
        before, self.alive = self.machine.enter(self.source), mask
        self._block(self.source.tree.body, mask)
        if self.depth == 0 and not self.typing:
            self.finish_parked()
        self.machine.enter(before)
        result = self.result
        if is_number(result) and "return" in self.static:
            result = cast(result, self.static["return"])
        if self.machine.undefined:
            self.machine.follow(result, [(self.result, None)])
            self.machine.is_final(result)
        return result

    def _idle(self, mask):
        """Whether nobody is left to go on."""
        return mask.empty

    # ---------------------------------------------------------------- statements: each returns the lanes that go on

    def _block(self, statements, mask, first=0):
        block = Block(statements)
        self.path.append(block)
        for at in range(first, len(statements)):
            if self._idle(mask):
                break
            block.at = at
            mask = self._statement(statements[at], mask)
            if self.machine.filtering:
                mask = self._still(mask)
        self.path.pop()
        return mask

    def _statement(self, node, mask):
        machine = self.machine
        machine.step(node.lineno, mask, self.source.text.weight(node))
        do = self.acts_of[type(node)]
        if do is None:
            raise self._error(node, refused(node))
        start = len(machine.trail)
        if machine.ahead or machine.parked:
            mask = self.meets(node, mask)
            if mask.empty:
                return mask
        try:
            mask = do(self, node, mask)
        except types.NoSuchOperation as error:
            raise self._error(node, str(error)) from None
        del machine.trail[start:]
        return mask

    def _do_Pass(self, node, mask):
        return mask

    def _do_Global(self, node, mask):
        return mask  # its names mean what they mean outside

    def _do_FunctionDef(self, node, mask):
        if node.decorator_list:
            raise self._error(node, f"{node.name}, a function inside of a kernel, has no decorator.")
        self._set(node.name, self.inner_function(node, mask), mask)
        return mask

    def _do_Expr(self, node, mask):
        if not isinstance(node.value, ast.Constant):  # a docstring does nothing
            self._value(node.value, mask)
        mask = self._still(mask)
        if self.joining is not None:
            mask, self.joining = mask.union(self.joining), None
        return mask

    def _do_Assign(self, node, mask):
        value = self._value(node.value, mask)
        mask = self._still(mask)
        for target in node.targets:
            self._assign(target, value, mask)
        return mask

    def _do_AnnAssign(self, node, mask):
        if node.value is not None:
            value = self._value(node.value, mask)
            mask = self._still(mask)
            self._assign(node.target, value, mask)
        return mask

    def _do_AugAssign(self, node, mask):
        if isinstance(node.target, ast.Name):
            old, place = self._variable(node.target, mask), None
        elif isinstance(node.target, ast.Subscript | ast.Attribute):
            place = self._place(node.target, mask)
            if any(isinstance(i, Slice) for i in place[1]):
                raise self._error(node, "a slice is changed element by element: Numba has no += for a whole slice.")
            old = taken(self.load(*place, mask, node.target), node.target)
        else:
            raise self._error(node, f"{construct(node.target)} cannot be assigned to.")
        new = self._binary(type(node.op).__name__, old, self._value(node.value, mask), mask, node)
        mask = self._still(mask)
        if place is None:
            self._assign(node.target, new, mask)
        else:
            self.store(*place, new, mask, node.target)
        return mask

    def _assign(self, target, value, mask):
        if isinstance(target, ast.Name):
            if value is None:
                raise self._error(target, f"{target.id} is given the result of something that returns nothing.")
            if target.id not in self.source.assigned:
                raise self._error(target, f"{target.id} is a name from outside of the kernel, which cannot change it.")
            if isinstance(value, View) and value.memory.space == "constant":
                value = value.part(value.offset, value.shape, value.strides, target.id)
            self._set(target.id, value, mask)
            if isinstance(value, View) and value.name.startswith("("):
                value.name = value.memory.name = target.id  # shared and local arrays are called after their variable
        elif isinstance(target, ast.Tuple | ast.List):
            for part, item in zip(target.elts, unpacked(self, target, value, mask), strict=True):
                self._assign(part, item, mask)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            view, indices = self._place(target, mask)
            if any(isinstance(i, Slice) for i in indices):
                self._fill(target, view, indices, value, mask)
            else:
                self.store(view, indices, value, mask, target)
        else:
            raise self._error(target, f"{construct(target)} cannot be assigned to.")

    def _set(self, name, value, mask):
        """Give a variable a value in the lanes of a mask, and remember which lanes have one."""
        if self._is_all(mask):
            self.defined[name] = self.everyone  # nobody else will ask
        elif name in self.variables and self.defined[name] is not mask:
            value = self._both(self.variables[name], value, mask)
            defined = self.defined[name]
            if defined.bits is not None:
                self.defined[name] = defined.union(mask)
        else:
            self.defined[name] = mask
        self.variables[name] = value

    def _is_all(self, mask):
        """Whether these are all lanes that this function still has: those that returned do not count."""
        return mask is self.alive or mask.bits is None or mask.count == self.alive.count

    def _do_If(self, node, mask):
        condition = self._truth(node.test, mask)
        mask = self._still(mask)
        self.machine.count(node.lineno, mask)
        self.machine.branch(node.lineno, mask, condition)
        if np.ndim(condition) == 0:
            return self._block(node.body if condition else node.orelse, mask)
        branch = Branch(node, mask.where(~condition))
        self.path.append(branch)
        yes = self._block(node.body, mask.where(condition))
        no, branch.other, branch.done = branch.other, None, yes
        no = self._block(node.orelse, self._still(no))
        self.path.pop()
        return yes.union(no)

    def _do_While(self, node, mask):
        return self._loop(node, mask, Asking(self, node))

    def _do_For(self, node, mask):
        items = self._items(node.iter, mask)
        if not has_items(items):
            raise self._error(
                node, f"{describe(items)} has no items; a for goes over range(...), arrays, tuples, zip and enumerate."
            )
        if isinstance(items, Range):
            return self._loop(node, mask, Counting(self, node, items.start, items.stop, items.step))
        self._check_alike(items, node, "a for goes over")
        if items == ():
            raise self._error(node, "a for goes over no empty tuple: nothing says which type its variable has.")
        return self._loop(node, mask, Taking(self, node, items))

    def _loop(self, node, mask, items):
        """Go round while a lane is in the loop; return the lanes that go on after it."""
        frame = Loop(node, items, self.everyone.none())
        self.path.append(frame)
        self.loops.append(frame)
        self._rounds(frame, mask)
        self.loops.pop()
        self.path.pop()
        finished = self._block(node.orelse, frame.finished) if node.orelse else frame.finished
        return finished.union(frame.broken)

    def _rounds(self, frame, active):
        """Go round; `frame` then has who finished and who broke out."""
        node, items, machine = frame.node, frame.items, self.machine
        turns = [node.lineno, 0]
        machine.turns.append(turns)
        watch = Watch(self, frame)
        while not active.empty:
            if active.count == 1:
                turns[1] += machine.heat.take_over(self, frame, active, watch)
            turns[1] += 1
            machine.step(node.lineno, active, self.source.text.weight(node))
            machine.count(node.lineno, active)
            more = items.more(active)
            machine.branch(node.lineno, active, more)
            if np.ndim(more) == 0:
                if not more:
                    frame.finished = frame.finished.union(active)
                    break
            else:
                frame.finished, active = frame.finished.union(active.where(~more)), active.where(more)
                if active.empty:
                    break
            items.begin(active)
            frame.continued = self.everyone.none()
            active = self._still(self._block(node.body, active).union(frame.continued))
            frame.continued = self.everyone.none()
            items.advance(active)
            if watch.nothing_changed(active):
                active = watch.let_others_go_on(active)
        machine.turns.pop()

    def _check_in_loop(self, node):
        if not self.loops:
            raise self._error(node, f"{type(node).__name__.lower()} stands in a loop only.")

    def _do_Break(self, node, mask):
        self._check_in_loop(node)
        self.loops[-1].broken = self.loops[-1].broken.union(mask)
        return mask.none()

    def _do_Continue(self, node, mask):
        self._check_in_loop(node)
        self.loops[-1].continued = self.loops[-1].continued.union(mask)
        return mask.none()

    def _do_Return(self, node, mask):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            value = self._value(node.value, mask)
            mask = self._still(mask)
            if self.depth == 0:
                raise self._error(node, "a kernel returns nothing; it writes its results into an array.")
            self._return(value, mask)
        if self.depth == 0:
            self.machine.leave(mask)
        self.alive = self.alive.without(mask)
        return mask.none()

    def _return(self, value, mask):
        self.result = value if self.result is None else self._both(self.result, value, mask)
