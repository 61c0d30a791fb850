"""Exercises of lesson 05, the computation graph: public cases, and the usual mistakes.

Graphs are plain dicts and lists here; no library of nodes is needed.

Source: K, "Computation Graph", "Computations for a CG" and "Building a DL Library".
"""

import contextlib
import math
import operator
from graphlib import CycleError, TopologicalSorter

import numpy as np

from course_lib.checks.exercise import Case, Cause, Exercise

_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_STEP = 1e-30
"""A step into the complex plane: so small that the imaginary part is the derivative to the last digit."""


def _early(parents, order, at_fault=lambda place, name, before: any(place[p] > place[name] for p in before)):
    place = {name: i for i, name in enumerate(order)}
    return [name for name in order if at_fault(place, name, parents[name])]


def _never_met(parents, order):
    met = []
    for name in order:
        if all(p in met for p in parents[name]):
            met.append(name)
    return [name for name in order if name not in met]


def _next_to(place, name, before):
    return any(abs(place[p] - place[name]) != 1 or place[p] > place[name] for p in before)


def _order(parents, take=lambda ready: ready[:1]):
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


def _stuck_on_twins(parents):
    return _order({name: p if len(set(p)) == len(p) else [*p, name] for name, p in parents.items()})


def _goal(values, steps, moved=""):
    """The last step's value, with the node `moved` moved by `_STEP`."""
    known = {}
    for name, *formula in [*values.items(), *steps]:
        value = formula[0] if len(formula) == 1 else _OPERATIONS[formula[0]](*(known[p] for p in formula[1:]))
        known[name] = value + (_STEP * 1j if name == moved else 0)
    return known[name], known


def _derivatives(values, steps):
    return {name: _goal(values, steps, name)[0].imag / _STEP for name in [*values, *(s[0] for s in steps)]}


def _by_shares(values, steps, keep=sum, minus=-1):
    """Derivatives by asking each node's children, where `keep` makes one number of [[shares of a child], ...]."""
    known, goal = _goal(values, steps)[1], steps[-1][0]

    def slope(step, slot):
        if step[1] == "-":
            return (1, minus)[slot]
        return (
            _OPERATIONS[step[1]](*(known[p] + (_STEP * 1j if i == slot else 0) for i, p in enumerate(step[2:]))).imag
            / _STEP
        )

    def gradient(node):
        shares = [[slope(s, i) * gradient(s[0]) for i in (0, 1) if s[2 + i] == node] for s in steps if node in s[2:]]
        return (1.0 if node == goal else 0.0) + (keep(shares) if shares else 0.0)

    return {name: gradient(name) for name in known}


def _add_all(shares):
    return sum(map(sum, shares))


def _goal_only(values, steps):
    nothing = dict.fromkeys([*values, *(s[0] for s in steps)], 0.0)
    after = [step for step in steps[-1:]]
    return nothing | {n: g for n, g in _by_shares(_goal(values, steps)[1], after, _add_all).items() if n in after[0]}


def _visits(steps, edges=lambda parents: parents, few=None, ends=False):
    """Visits by the length of the walk: all walks of 0 edges from the goal, of 1 edge, and so on."""
    index = {name: i for i, (name, _) in enumerate(steps)}
    pairs = [(index[name], index[p]) for name, parents in steps for p in edges(parents)]
    child, parent = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    leaves = np.array([not parents for _, parents in steps])
    walks, total = np.zeros(len(steps), dtype=np.int64), np.zeros(len(steps), dtype=np.int64)
    walks[-1] = 1
    while walks.any():
        total += walks
        onward = np.zeros_like(walks)
        np.add.at(onward, parent, walks[child])
        walks = onward
    return int((total > 0).sum()) if few is None else few(steps), int(total[leaves].sum() if ends else total.sum())


def _places(g, shape):
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), np.shape(g))


def _share(g, shape):
    return np.bincount(_places(g, shape).ravel(), np.ravel(g), minlength=math.prod(shape)).reshape(shape)


def _last_share(g, shape):
    kept = np.zeros(math.prod(shape))
    kept[_places(g, shape).ravel()] = np.ravel(g)
    return kept.reshape(shape)


_DIAMOND = [("u", "*", "x", "w"), ("v", "+", "x", "w"), ("J", "*", "u", "v")]

EXERCISES = (
    Exercise(
        id="05.1",
        function="too_early",
        title="Who stands too early?",
        points=2,
        level="warm-up",
        concept="what makes a list of nodes a topological order",
        source='K, "Computation Graph"',
        lines=5,
        expect=_early,
        cases=(
            Case(
                ({"x": [], "w": [], "u": ["x", "w"], "v": ["x", "w"], "J": ["u", "v"]}, ["w", "u", "x", "v", "J"]),
                "u needs x",
            ),
            Case(({"J": ["b", "a"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "J", "a"]), "J needs a"),
            Case(({"J": ["a", "b"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "a", "J"]), "nobody"),
        ),
        causes=(
            Cause(
                "These stand before one of their children, as they should; look at their parents.",
                lambda parents, order: _early({n: [c for c in parents if n in parents[c]] for n in parents}, order),
            ),
            Cause(
                "Only the first parent of each node was looked at.",
                lambda parents, order: _early({n: p[:1] for n, p in parents.items()}, order),
            ),
            Cause(
                "A node is too early if one parent is missing; not only if all of them are.",
                lambda parents, order: _early(
                    parents,
                    order,
                    lambda place, name, before: bool(before) and all(place[p] > place[name] for p in before),
                ),
            ),
            Cause(
                "A leaf is never too early; all(...) of nothing is True.",
                lambda parents, order: _early(
                    parents, order, lambda place, name, before: all(place[p] > place[name] for p in before)
                ),
            ),
            Cause("A parent that stands too early itself still stands before its child.", _never_met),
            Cause(
                "A parent need not stand directly before its child, only anywhere before it.",
                lambda parents, order: _early(parents, order, _next_to),
            ),
        ),
    ),
    Exercise(
        id="05.2",
        function="computing_order",
        title="An order without recursion",
        points=3,
        level="core",
        concept="a topological order by asking again and again which node is ready",
        source='K, "Computations for a CG"',
        lines=7,
        expect=_order,
        cases=(
            Case(({"J": ["u", "v"], "v": ["x", "w"], "u": ["x", "w"], "w": [], "x": []},), "the lesson's diamond"),
            Case(({"m": [], "z": [], "a": ["m"], "b": ["a"]},), "z is ready all the time, and last in the alphabet"),
            Case(({"x": [], "a": ["x", "c"], "c": ["a"], "b": ["x"]},), "a and c wait for each other"),
        ),
        causes=(
            Cause(
                "Whole layers were taken at a time; after each single node, look again who is ready.",
                lambda parents: _order(parents, list),
            ),
            Cause(
                "Of the nodes that are ready, the last in the alphabet was taken.",
                lambda parents: _order(parents, lambda ready: ready[-1:]),
            ),
            Cause(
                "In Python's order of texts, capital letters come before all small ones.",
                lambda parents: _order(parents, lambda ready: [min(ready, key=str.lower)]),
            ),
            Cause("That is the alphabet; a node must wait for its parents.", sorted),
            Cause(
                "Nodes that wait for each other can never be computed; leave them out.",
                lambda parents: [*_order(parents), *sorted(parents.keys() - set(_order(parents)))],
            ),
            Cause(
                "A child may have the same parent twice, as in a + a: what is it still waiting for?", _stuck_on_twins
            ),
        ),
        instead_of=("TopologicalSorter", "graphlib", "topological_order"),
    ),
    Exercise(
        id="05.3",
        function="gradients",
        title="Every gradient of a formula",
        points=4,
        level="core",
        concept="values forward, shares backward, a sum where a node is used twice",
        source='K, "Computations for a CG"',
        lines=12,
        expect=_derivatives,
        cases=(
            Case(({"x": 3, "w": 2}, _DIAMOND), "the lesson's diamond: 16 and 21"),
            Case(({"a": 5.0, "b": 2.0}, [("d", "-", "a", "b"), ("q", "/", "d", "b")]), "(a - b) / b"),
            Case(
                ({"x": 3.0, "y": 7.0}, [("s", "*", "x", "x"), ("n", "+", "y", "x"), ("J", "-", "s", "x")]),
                "x x - x; n and y do not lead to J",
            ),
        ),
        causes=(
            Cause("Near, but not exact: a measured derivative has not all digits. Send shares.", _derivatives),
            Cause(
                "The same node as both parents receives two shares, one for each.",
                lambda values, steps: _by_shares(values, steps, lambda shares: sum(s[-1] for s in shares)),
            ),
            Cause(
                "A node that is used several times adds up its shares; here the last one replaced the others.",
                lambda values, steps: _by_shares(values, steps, lambda shares: shares[0][-1]),
            ),
            Cause(
                "The second parent of a - b acts with a minus.",
                lambda values, steps: _by_shares(values, steps, _add_all, minus=1),
            ),
            Cause(
                "Only the goal's own parents received something: on the way back, which step comes first?", _goal_only
            ),
        ),
        rtol=1e-11,  # a measured derivative is further off
    ),
    Exercise(
        id="05.4",
        function="visits",
        title="One visit a node, one visit a path",
        points=3,
        level="core",
        concept="why the order matters for the cost: paths grow like powers of two, nodes do not",
        source='K, "Computations for a CG"; the count is the course\'s own',
        lines=8,
        expect=_visits,
        cases=(
            Case(([("x", []), ("a", ["x"]), ("J", ["a", "a"])],), "J = a + a: the lesson's example"),
            Case(([("x", []), ("w", []), ("u", ["x", "w"]), ("v", ["x", "w"]), ("J", ["u", "v"])],), "the diamond"),
            Case(([("x", []), ("y", []), ("n", ["x", "y"]), ("J", ["x"])],), "n and y do not lead to J"),
        ),
        causes=(
            Cause("Nodes that do not lead to the goal are not visited at all.", lambda steps: _visits(steps, few=len)),
            Cause(
                "The same parent twice is two paths.",
                lambda steps: _visits(steps, edges=lambda parents: sorted(set(parents))),
            ),
            Cause(
                "Those are the paths that end at leaves; the nodes on the way are visited too.",
                lambda steps: _visits(steps, ends=True),
            ),
        ),
    ),
    Exercise(
        id="05.5",
        function="share_of",
        title="Broadcasting is a node used many times",
        points=3,
        level="stretch",
        concept="the share of a bias is a sum over all places that it was added to",
        source='K, "Computations for a CG"; broadcasting is the course\'s addition',
        lines=5,
        expect=_share,
        cases=(
            Case((np.array([[1, 2, 3], [40, 50, 60]]), (3,)), "a bias, added to 2 samples"),
            Case((np.array([[1.0, 2.0, 3.0], [40.0, 50.0, 60.0]]), (2, 1)), "a column, added to 3 columns"),
            Case((np.array([[1.0, -2.0], [0.5, 4.0], [3.0, 0.25]]), (3, 2)), "nothing was repeated"),
        ),
        causes=(
            Cause(
                "Shares add up; their mean was taken.",
                lambda g, shape: _share(g, shape) * math.prod(shape) / np.size(g),
            ),
            Cause("That is one of the shares; the number was used in several places, and each sends one.", _last_share),
            Cause(
                "That is the sum over everything, in every place; each place collects its own shares only.",
                lambda g, shape: np.full(shape, np.sum(g)),
            ),
        ),
    ),
)
"""In the order of the sheet."""
