"""Threads that wait for others: a lock that somebody holds, a flag that another block will set.

Source: NVIDIA, "CUDA C++ Programming Guide", "Independent Thread Scheduling": since Volta the threads of a warp need
not walk together, and those that have left a loop go on while others are still in it. Here lanes walk together as long
as they can. When a loop goes round and nothing changes, the lanes that are elsewhere go on first: those that have left
the loop, those of the other branch. They go until the kernel ends, until they wait themselves, or until a barrier at
which threads of their block are missing; there they stay, away from the others' walk, until somebody comes.

A place in the text is a *path*: for each function that has been called, the blocks, branches and loops that are open.
"""

import ast

import numpy as np

from course_lib.simt.source import KernelError
from course_lib.simt.vocabulary import DeviceFunction

PATIENCE = 1_000
"""Turns without any change in memory, and without a lane that leaves, after which others go on in any case."""


class Block:
    """Statements one after the other; number `at` is in progress."""

    def __init__(self, statements, at=0):
        self.statements, self.at = statements, at

    def copy(self):
        """Return an own one."""
        return Block(self.statements, self.at)


class Branch:
    """An `if`: `other` has the lanes that will walk its second side, `done` those that have walked its first."""

    def __init__(self, node, other):
        self.node, self.other, self.done = node, other, None

    def copy(self):
        """Return an own one; whoever goes on from it has walked its side."""
        return Branch(self.node, None)


class Loop:
    """A loop in progress: `finished`, `broken` and `continued` have lanes that are out of it, or of this turn."""

    def __init__(self, node, items, none):
        self.node, self.items = node, items
        self.finished = self.broken = self.continued = none
        self.turn = self.heat = self.pause = self.missed = 0  # of turns of one lane: see `alone.handover`
        self.turns_of = None

    def copy(self):
        """Return an own one, with nobody out of it."""
        none = self.finished.none()
        return Loop(self.node, self.items.copy(), none)


class Parked:
    """Lanes that wait at a place: at a barrier, or in front of a loop that they will try again."""

    def __init__(self, evaluator, mask, node, again):
        self.evaluator, self.mask, self.node, self.again = evaluator, mask, node, again
        self.paths = paths_of(evaluator)


def paths_of(evaluator):
    """Return [(evaluator, its path)] from the kernel to the function that is in progress."""
    paths = []
    while evaluator is not None:
        paths.insert(0, (evaluator, [frame.copy() for frame in evaluator.path]))
        evaluator = evaluator.caller
    return paths


class Waiting:
    """The part of an `Evaluator` that lets lanes go on while others wait. Source: the course's own."""

    def others_go_on(self, loop):
        """Let everybody go on who is not in `loop`; return whether anybody could."""
        machine, someone = self.machine, False
        for parked in [p for p in machine.parked if isinstance(p.node, ast.While)]:
            machine.parked.remove(parked)
            machine.away[parked.mask.index] = False
            _resume(parked.paths, parked.mask, again=True)
            someone = True
        evaluator = self
        while evaluator is not None:
            for level in reversed(range(len(evaluator.path))):
                for mask, what in evaluator.elsewhere(level):
                    mask = evaluator._still(mask)
                    if not mask.empty:
                        paths = paths_of(evaluator)
                        paths[-1] = evaluator, _path_at(paths[-1][1], level, what)
                        _resume(paths, mask)
                        someone = True
            evaluator = evaluator.caller
        return someone

    def elsewhere(self, level):
        """Yield (lanes, what they do next) of a frame of the path: lanes that are not where the walk is."""
        frame = self.path[level]
        if isinstance(frame, Branch):
            if frame.other is not None:
                yield frame.other, "other side"
            if frame.done is not None:
                yield frame.done, "after"
        elif isinstance(frame, Loop):
            yield frame.broken, "after"
            yield frame.finished, "else"
            yield frame.continued, "next turn"

    def unwind(self, mask, again):
        """Go on from the end of this function's path to the function's end; return the lanes that come there."""
        while self.path and not mask.empty:
            frame = self.path.pop()
            if isinstance(frame, Block):
                mask = self._block(frame.statements, mask, frame.at if again else frame.at + 1)
            elif isinstance(frame, Loop):
                self.loops.pop()
                frame.items.advance(mask)
                mask = self._loop(frame.node, mask, frame.items)
            again = False
        return mask

    def returned(self, callee, mask):
        """Take what a function returned to lanes that go on alone: its call is a statement, or is given to a name."""
        block = next(f for f in reversed(self.path) if isinstance(f, Block))
        statement = block.statements[block.at]
        if callee.call is not getattr(statement, "value", None) or not isinstance(statement, ast.Expr | ast.Assign):
            raise self._error(
                callee.call, f"{callee.source.name} waits for other threads in the middle of an expression; give its "
                "result to a variable first.",
            )  # fmt: skip
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._assign(target, callee.result, mask)

    def park(self, mask, node, again=False):
        """Let lanes wait here; return that nobody goes on. `again`: they will do the whole statement, else its rest."""
        self.machine.parked.append(Parked(self, mask, node, again))
        self.machine.away[mask.index] = True
        self.machine.filtering = True
        return mask.none()

    def joined(self, mask, node):
        """Return the lanes of a mask and those that have been waiting for them at this barrier."""
        machine = self.machine
        for parked in [p for p in machine.parked if p.node is node and p.evaluator is self]:
            machine.parked.remove(parked)
            machine.away[parked.mask.index] = False
            mask = mask.union(parked.mask)
            self.joining = parked.mask if self.joining is None else self.joining.union(parked.mask)
        return mask

    def waits_for_block(self, mask, node):
        """At a barrier: return the lanes whose whole block is here; the others are parked, if they are ahead."""
        machine = self.machine
        if not (machine.ahead or machine.parked):
            return mask
        mask = self.joined(mask, node)
        if not machine.ahead:
            return mask
        whole = self._whole(mask)
        self.park(mask.where(~whole), node) if not whole[mask.index].all() else None
        return mask.where(whole)

    def _whole(self, mask):
        """Return, for each lane, whether all threads of its block are here or have returned."""
        machine, lanes = self.machine, self.lanes
        there = np.bincount(lanes.block[mask.index], minlength=lanes.blocks)
        left = np.bincount(lanes.block[machine.exited], minlength=lanes.blocks)
        return (there + left == lanes.threads)[lanes.block]

    def meets(self, node, mask):
        """Before a statement in which lanes meet: those that are ahead wait for their block; return who goes on."""
        machine = self.machine
        if not is_meeting(self.source, node):
            return mask
        mask, self.joining = self.joined(mask, node), None
        if machine.ahead:
            whole = self._whole(mask)
            self.park(mask.where(~whole), node, again=True) if not whole[mask.index].all() else None
            mask = mask.where(whole)
        return mask

    def finish_parked(self):
        """At the kernel's end: let those who wait go on, as long as somebody can."""
        machine, tries = self.machine, 0
        while machine.parked and tries <= len(machine.parked):
            before = machine.changes
            parked = machine.parked.pop(0)
            machine.away[parked.mask.index] = False
            if isinstance(parked.node, ast.While):
                _resume(parked.paths, parked.mask, again=True)
            else:
                same = [p for p in machine.parked if p.node is parked.node and p.evaluator is parked.evaluator]
                for other in same:
                    machine.parked.remove(other)
                    machine.away[other.mask.index] = False
                    parked.mask = parked.mask.union(other.mask)
                if not parked.again:
                    machine.barrier(parked.mask, parked.node.lineno)
                _resume(parked.paths, parked.mask, again=parked.again)
            tries = 0 if machine.changes != before else tries + 1
        if machine.parked:
            parked = machine.parked[0]
            raise parked.evaluator.stuck(parked.node, parked.mask)

    def stuck(self, node, mask):
        """Return the error of a loop in which nothing changes any more."""
        who = "" if mask.empty else f" Still in it: {self.lanes.name(self.machine.lane_of(mask, 0))}."
        what = ast.unparse(node.test) if isinstance(node, ast.While) else ast.unparse(node.iter)
        alone = self.lanes.blocks * self.lanes.threads == 1
        some = f" of blocks {self.lanes.first} to {self.lanes.first + self.lanes.blocks - 1}, which run together here,"
        all_run = self.lanes.blocks == self.machine.blocks
        others = "" if alone else f" The other threads{'' if all_run else some} are done, or wait too."
        return KernelError(
            "the kernel does not come to an end: a turn of this loop changes nothing, neither in memory nor in its "
            f"variables, and `{what}` stays as it is. Does the loop change what it waits for?{others}{who}",
            node.lineno,
        )  # fmt: skip


MEETINGS = ("shfl", "sync", "ballot", "all_sync", "any_sync", "eq_sync", "match_", "activemask", "barrier")
"""How the words begin with which threads meet, after `cuda.`; `this_grid().sync()` is one of them."""


def is_meeting(source, node, seen=()):
    """Return whether threads meet in a statement: in a call of a word, or of a function in which they do.

    A barrier that is the statement itself is none: it looks after those who wait for it on its own.
    """
    if isinstance(node, ast.If | ast.While):
        node = node.test
    elif isinstance(node, ast.For):
        node = node.iter
    elif isinstance(node, ast.Expr) and ast.unparse(node.value) == "cuda.syncthreads()":
        return False
    if id(node) not in source.meetings:
        source.meetings[id(node)] = any(
            _is_meeting_call(source, n.func, seen) for n in ast.walk(node) if isinstance(n, ast.Call)
        )
    return source.meetings[id(node)]


def _is_meeting_call(source, function, seen):
    if isinstance(function, ast.Attribute) and function.attr.startswith(MEETINGS):
        return True
    meaning = source.meanings.get(ast.unparse(function)) if isinstance(function, ast.Name | ast.Attribute) else None
    called = getattr(meaning, "source", None) if type(meaning) is DeviceFunction else None
    if called is None or id(called) in seen:
        return False
    return any(
        _is_meeting_call(called, n.func, (*seen, id(called))) for n in ast.walk(called.tree) if isinstance(n, ast.Call)
    )


def _path_at(path, level, what):
    """Return a path cut at a frame, so that lanes go on behind that frame, or with its other side."""
    path, frame = path[:level], path[level]
    if what in ("other side", "else"):
        path.append(Block(frame.node.orelse, -1))
    elif what == "next turn":
        path.append(frame)
    return path


def _resume(paths, mask, again=False):
    """Go on from a path to the kernel's end, as far as lanes come; `again` begins with the statement in progress."""
    machine = paths[-1][0].machine
    kept = [(e, e.path, e.loops, e.result, e.joining) for e, _ in paths]
    source, machine.ahead = machine.source, machine.ahead + 1
    for e, path in paths:
        e.path, e.loops, e.joining = list(path), [f for f in path if isinstance(f, Loop)], None
    for e, _ in reversed(paths):
        machine.enter(e.source)
        mask = e.unwind(mask, again)
        again = False
        if mask.empty:
            break
        if e.caller is None:
            machine.stop(mask)
        else:
            e.caller.returned(e, mask)
    for e, path, loops, result, joining in kept:
        e.path, e.loops, e.joining = path, loops, joining
        e.result = result if e.result is None or e.caller is None else e.result
    machine.enter(source)
    machine.ahead -= 1
