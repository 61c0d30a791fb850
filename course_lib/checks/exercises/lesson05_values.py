"""Right values of the exercises of lesson 05, by walks, by sorting, and by a step into the complex plane.

Options are what the usual mistakes in `lesson05_mistakes` do otherwise.
"""

import contextlib
import math
import operator
from graphlib import CycleError, TopologicalSorter

import numpy as np

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}

STEP = 1e-30
"""A step into the complex plane: so small that the imaginary part is the derivative to the last digit."""


def early(parents, order, at_fault=lambda place, name, before: any(place[p] > place[name] for p in before)):
    """Return the names that stand before a parent of theirs, or that are at fault otherwise."""
    place = {name: i for i, name in enumerate(order)}
    return [name for name in order if at_fault(place, name, parents[name])]


def computing_order(parents, take=lambda ready: ready[:1]):
    """Return the names in the order of computing: `take` chooses among those that are ready, sorted."""
    sorter, ready, order = TopologicalSorter(parents), [], []
    with contextlib.suppress(CycleError):  # it still gives what lies before the cycle
        sorter.prepare()
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        now = list(take(ready))
        ready = [name for name in ready if name not in now]
        order += now
        sorter.done(*now)
    return order


def goal_value(values, steps, moved=""):
    """Return the last step's value, with the node `moved` moved by `STEP`, and all values."""
    known = {}
    for name, *formula in [*values.items(), *steps]:
        value = formula[0] if len(formula) == 1 else OPERATIONS[formula[0]](*(known[p] for p in formula[1:]))
        known[name] = value + (STEP * 1j if name == moved else 0)
    return known[name], known


def derivatives(values, steps):
    """Return {name: derivative of the last step's value}."""
    return {name: goal_value(values, steps, name)[0].imag / STEP for name in [*values, *(s[0] for s in steps)]}


def visits(steps, edges=lambda parents: parents, few=None, counted=None):
    """Return both numbers of visits. Those of paths by the length of the walk: of 0 edges from the goal, of 1, ...."""
    index = {name: i for i, (name, _) in enumerate(steps)}
    pairs = [(index[name], index[p]) for name, parents in steps for p in edges(parents)]
    child, parent = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    leaves = np.array([not parents for _, parents in steps])
    these = {None: leaves | True, "leaves": leaves, "computed": ~leaves}[counted]
    walks, total = np.zeros(len(steps), dtype=np.int64), np.zeros(len(steps), dtype=np.int64)
    walks[-1] = 1
    while walks.any():
        total += walks
        onward = np.zeros_like(walks)
        np.add.at(onward, parent, walks[child])
        walks = onward
    once = total > 0 if counted != "computed" else (total > 0) & these
    return int(once.sum()) if few is None else few(steps), int(total[these].sum())


def places(g, shape):
    """Return, for each number of g, the place in an array of this shape that it comes from."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), np.shape(g))


def share(g, shape):
    """Return the sum of g over what a broadcast has repeated."""
    return np.bincount(places(g, shape).ravel(), np.ravel(g), minlength=math.prod(shape)).reshape(shape)
