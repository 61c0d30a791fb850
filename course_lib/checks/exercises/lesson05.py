"""Exercises of lesson 05, the computation graph: public cases, and the usual mistakes.

Graphs are plain dicts and lists here; no library of nodes is needed.

Source: Dey, "Computation Graph", "Computations for a CG" and "Building a DL Library".
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


def _too_late(parents, order):
    place = {name: i for i, name in enumerate(order)}
    return [p for p in order if any(p in parents[name] and place[name] < place[p] for name in order)]


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


def _first_given(parents):
    order = []
    while ready := [name for name in parents if name not in order and set(parents[name]) <= set(order)]:
        order.append(ready[0])
    return order


def _by_search(parents):
    """The lesson's order: everything that a name needs, then the name; from each name in the alphabet's order."""
    order = []
    for start in sorted(parents):
        open_nodes = [(start, iter(parents[start]))]
        met = {start, *order}
        while start not in order:
            after = next((p for p in open_nodes[-1][1] if p not in met), None)
            if after is None:
                order.append(open_nodes.pop()[0])
            else:
                met.add(after)
                open_nodes.append((after, iter(parents[after])))
    return order


def _turned(parents):
    return {name: [child for child in parents if name in parents[child]] for name in parents}


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


def _by_shares(values, steps, keep=sum, slopes=None, own=True):
    """Derivatives by asking each node's children, where `keep` makes one number of [[shares of a child], ...].

    `slopes`: {operation: (slope of a, slope of b) by their values} in place of the right ones. Without `own` a child
    sends the slope alone, not times its own gradient.
    """
    known, goal = _goal(values, steps)[1], steps[-1][0]

    def slope(step, slot):
        if step[1] in (slopes or {}):
            return slopes[step[1]](*(known[p] for p in step[2:]))[slot]
        return (
            _OPERATIONS[step[1]](*(known[p] + (_STEP * 1j if i == slot else 0) for i, p in enumerate(step[2:]))).imag
            / _STEP
        )

    def gradient(node):
        children = [step for step in steps if node in step[2:]]
        shares = [
            [slope(s, i) * (gradient(s[0]) if own else 1) for i in (0, 1) if s[2 + i] == node] for s in children
        ]
        return (1.0 if node == goal else 0.0) + (keep(shares) if shares else 0.0)

    return {name: gradient(name) for name in known}


def _add_all(shares):
    return sum(map(sum, shares))


def _goal_only(values, steps):
    nothing = dict.fromkeys([*values, *(s[0] for s in steps)], 0.0)
    after = [step for step in steps[-1:]]
    return nothing | {n: g for n, g in _by_shares(_goal(values, steps)[1], after, _add_all).items() if n in after[0]}


def _visits(steps, edges=lambda parents: parents, few=None, counted=None):
    """Visits by the length of the walk: all walks of 0 edges from the goal, of 1 edge, and so on."""
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


def _edges(steps):
    """The number of edges on the way to the goal, and the goal for itself."""
    needed, edges = {steps[-1][0]}, 1
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
            edges += len(parents)
    return edges


def _places(g, shape):
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), np.shape(g))


def _share(g, shape):
    return np.bincount(_places(g, shape).ravel(), np.ravel(g), minlength=math.prod(shape)).reshape(shape)


def _one_share(g, shape, turn=1):
    kept = np.zeros(math.prod(shape))
    kept[_places(g, shape).ravel()[::turn]] = np.ravel(g)[::turn]
    return kept.reshape(shape)


def _from_the_left(g, shape):
    """As if missing axes were put behind: the last ones are summed away."""
    g = np.sum(g, axis=tuple(range(len(shape), np.ndim(g))))
    return np.sum(g, axis=tuple(i for i, size in enumerate(shape) if size == 1), keepdims=True)


_DIAMOND = [("u", "*", "x", "w"), ("v", "+", "x", "w"), ("J", "*", "u", "v")]

EXERCISES = (
    Exercise(
        id="05.1",
        function="too_early",
        title="Who stands too early?",
        points=2,
        level="warm-up",
        concept="what makes a list of nodes a topological order",
        source='Dey, "Computation Graph"',
        lines=5,
        expect=_early,
        cases=(
            Case(
                ({"x": [], "w": [], "u": ["x", "w"], "v": ["x", "w"], "J": ["u", "v"]}, ["w", "u", "x", "v", "J"]),
                "u needs x",
            ),
            Case(({"J": ["b", "a"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "J", "a"]), "J needs a"),
            Case(({"J": ["a", "b"], "a": ["x"], "b": ["x"], "x": []}, ["x", "b", "a", "J"]), "nobody"),
            Case(({"J": ["a", "b"], "a": ["x"], "b": ["x"], "x": []}, ["b", "J", "x", "a"]), "b needs x, J needs a"),
        ),
        section="Build it: an order",
        causes=(
            Cause("Those are the parents that come too late; named are to be their children.", _too_late),
            Cause(
                "Those are the nodes that stand right; the others were asked for.",
                lambda parents, order: [name for name in order if name not in _early(parents, order)],
            ),
            Cause(
                "The right names; list them in the order in which they stand in order, not in the dict's or any other.",
                lambda parents, order: [name for name in parents if name in _early(parents, order)],
            ),
            Cause(
                "The right names in alphabetical order; list them in the order in which they stand in order.",
                lambda parents, order: sorted(_early(parents, order)),
            ),
            Cause(
                "The first node that is too early is not the only one; look through the whole list.",
                lambda parents, order: _early(parents, order)[:1],
            ),
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
        source='Dey, "Computations for a CG"',
        lines=7,
        expect=_order,
        cases=(
            Case(({"J": ["u", "v"], "v": ["x", "w"], "u": ["x", "w"], "w": [], "x": []},), "the lesson's diamond"),
            Case(({"m": [], "z": [], "a": ["m"], "b": ["a"]},), "z is ready all the time, and last in the alphabet"),
            Case(({"x": [], "a": ["x", "c"], "c": ["a"], "b": ["x"]},), "a and c wait for each other"),
        ),
        section="Build it: an order",
        causes=(
            Cause(
                "That is the way back, children before their parents; computing goes the other way.",
                lambda parents: _order(parents)[::-1],
            ),
            Cause(
                "A node was taken when all its children were there; it is ready when all its parents are.",
                lambda parents: _order(_turned(parents)),
            ),
            Cause(
                "Of the nodes that are ready, the first in the dict was taken; take the first in the order of texts.",
                _first_given,
            ),
            Cause(
                "That is the order of the lesson's search, a topological one too; asked for is the one that takes, of "
                "all nodes that are ready, the smallest name.",
                _by_search,
            ),
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
        source='Dey, "Computations for a CG"',
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
        section="Build it: forward and backward",
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
                lambda values, steps: _by_shares(values, steps, _add_all, {"-": lambda a, b: (1, 1)}),
            ),
            Cause(
                "In a - b the signs are exchanged: a acts with a plus, b with a minus.",
                lambda values, steps: _by_shares(values, steps, _add_all, {"-": lambda a, b: (-1, 1)}),
            ),
            Cause(
                "The two shares of a * b are exchanged: a is sent g b, and b is sent g a.",
                lambda values, steps: _by_shares(values, steps, _add_all, {"*": lambda a, b: (a, b)}),
            ),
            Cause(
                "The two shares of a / b are exchanged.",
                lambda values, steps: _by_shares(values, steps, _add_all, {"/": lambda a, b: (-a / b**2, 1 / b)}),
            ),
            Cause(
                "A larger divisor makes a / b smaller: its share has a minus.",
                lambda values, steps: _by_shares(values, steps, _add_all, {"/": lambda a, b: (1 / b, a / b**2)}),
            ),
            Cause(
                "The slope of a / b with respect to b has the square of b below.",
                lambda values, steps: _by_shares(values, steps, _add_all, {"/": lambda a, b: (1 / b, -a / b)}),
            ),
            Cause(
                "A share is the slope of the edge times the gradient of its sender; that gradient is missing.",
                lambda values, steps: _by_shares(values, steps, _add_all, own=False),
            ),
            Cause(
                "A node that is used several times adds up its shares; here the first one stayed alone.",
                lambda values, steps: _by_shares(values, steps, lambda shares: shares[-1][0]),
            ),
            Cause(
                "Those are the values of the nodes, not their gradients.",
                lambda values, steps: _goal(values, steps)[1],
            ),
            Cause(
                "Everything is 0: the way back begins with dJ/dJ = 1.",
                lambda values, steps: dict.fromkeys(_goal(values, steps)[1], 0.0),
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
        source='Dey, "Computations for a CG"; the count is the course\'s own',
        lines=8,
        expect=_visits,
        cases=(
            Case(([("x", []), ("a", ["x"]), ("J", ["a", "a"])],), "J = a + a: the lesson's example"),
            Case(([("x", []), ("w", []), ("u", ["x", "w"]), ("v", ["x", "w"]), ("J", ["u", "v"])],), "the diamond"),
            Case(([("x", []), ("y", []), ("n", ["x", "y"]), ("J", ["x"])],), "n and y do not lead to J"),
        ),
        section="What if a node is visited twice?",
        causes=(
            Cause(
                "The two numbers are exchanged: visits once per node come first, those once per path second.",
                lambda steps: _visits(steps)[::-1],
            ),
            Cause(
                "The goal is visited too, in both walks.",
                lambda steps: tuple(count - 1 for count in _visits(steps)),
            ),
            Cause("Leaves are visited too, in both walks.", lambda steps: _visits(steps, counted="computed")),
            Cause(
                "The second number counts each edge once; everything behind an edge is walked again for each path.",
                lambda steps: (_visits(steps)[0], _edges(steps)),
            ),
            Cause("Nodes that do not lead to the goal are not visited at all.", lambda steps: _visits(steps, few=len)),
            Cause(
                "The same parent twice is two paths.",
                lambda steps: _visits(steps, edges=lambda parents: sorted(set(parents))),
            ),
            Cause(
                "Those are the paths that end at leaves; the nodes on the way are visited too.",
                lambda steps: _visits(steps, counted="leaves"),
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
        source='Dey, "Computations for a CG"; broadcasting is the course\'s addition',
        lines=5,
        expect=_share,
        cases=(
            Case((np.array([[1, 2, 3], [40, 50, 60]]), (3,)), "a bias, added to 2 samples"),
            Case((np.array([[1.0, 2.0, 3.0], [40.0, 50.0, 60.0]]), (2, 1)), "a column, added to 3 columns"),
            Case((np.array([[1.0, -2.0], [0.5, 4.0], [3.0, 0.25]]), (3, 2)), "nothing was repeated"),
            Case((np.array([[1.0, 2.0], [30.0, 40.0]]), (2,)), "as many samples as numbers in the bias"),
        ),
        section="What one plus sign is worth",
        causes=(
            Cause(
                "Shares add up; their mean was taken.",
                lambda g, shape: _share(g, shape) * math.prod(shape) / np.size(g),
            ),
            Cause("That is one of the shares; the number was used in several places, and each sends one.", _one_share),
            Cause(
                "That is the first of the shares; the number was used in several places, and each sends one.",
                lambda g, shape: _one_share(g, shape, -1),
            ),
            Cause(
                "NumPy lines shapes up at their ends: the missing axes are the first ones of g, not the last.",
                _from_the_left,
            ),
            Cause(
                "Only the missing axes were summed; an axis of size 1 was repeated as well, and sums up to size 1.",
                lambda g, shape: np.sum(g, axis=tuple(range(np.ndim(g) - len(shape)))),
            ),
            Cause(
                "The numbers are right, and an axis of size 1 got lost; keepdims=True keeps it.",
                lambda g, shape: np.squeeze(_share(g, shape)),
            ),
            Cause(
                "That is the sum over everything, in every place; each place collects its own shares only.",
                lambda g, shape: np.full(shape, np.sum(g)),
            ),
        ),
    ),
)
"""In the order of the sheet."""
