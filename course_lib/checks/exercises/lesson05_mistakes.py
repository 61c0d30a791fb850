"""Usual mistakes in the exercises of lesson 05 that leave a recognisable value, and what is said of each."""

import math

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson05_values import (
    OPERATIONS,
    STEP,
    computing_order,
    derivatives,
    early,
    goal_value,
    places,
    share,
    visits,
)


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


EARLY = (
    Cause("Those are the parents that come too late; named are to be their children.", _too_late),
    Cause(
        "Those are the nodes that stand right; the others were asked for.",
        lambda parents, order: [name for name in order if name not in early(parents, order)],
    ),
    Cause(
        "The right names; list them in the order in which they stand in order, not in the dict's or any other.",
        lambda parents, order: [name for name in parents if name in early(parents, order)],
    ),
    Cause(
        "The right names in alphabetical order; list them in the order in which they stand in order.",
        lambda parents, order: sorted(early(parents, order)),
    ),
    Cause(
        "The first node that is too early is not the only one; look through the whole list.",
        lambda parents, order: early(parents, order)[:1],
    ),
    Cause(
        "These stand before one of their children, as they should; look at their parents.",
        lambda parents, order: early({n: [c for c in parents if n in parents[c]] for n in parents}, order),
    ),
    Cause(
        "Only the first parent of each node was looked at.",
        lambda parents, order: early({n: p[:1] for n, p in parents.items()}, order),
    ),
    Cause(
        "A node is too early if one parent is missing; not only if all of them are.",
        lambda parents, order: early(
            parents,
            order,
            lambda place, name, before: bool(before) and all(place[p] > place[name] for p in before),
        ),
    ),
    Cause(
        "A leaf is never too early; all(...) of nothing is True.",
        lambda parents, order: early(
            parents, order, lambda place, name, before: all(place[p] > place[name] for p in before)
        ),
    ),
    Cause("A parent that stands too early itself still stands before its child.", _never_met),
    Cause(
        "A parent need not stand directly before its child, only anywhere before it.",
        lambda parents, order: early(parents, order, _next_to),
    ),
)


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
    return computing_order({name: p if len(set(p)) == len(p) else [*p, name] for name, p in parents.items()})


ORDER = (
    Cause(
        "That is the way back, children before their parents; computing goes the other way.",
        lambda parents: computing_order(parents)[::-1],
    ),
    Cause(
        "A node was taken when all its children were there; it is ready when all its parents are.",
        lambda parents: computing_order(_turned(parents)),
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
        lambda parents: computing_order(parents, list),
    ),
    Cause(
        "Of the nodes that are ready, the last in the alphabet was taken.",
        lambda parents: computing_order(parents, lambda ready: ready[-1:]),
    ),
    Cause(
        "In Python's order of texts, capital letters come before all small ones.",
        lambda parents: computing_order(parents, lambda ready: [min(ready, key=str.lower)]),
    ),
    Cause("That is the alphabet; a node must wait for its parents.", sorted),
    Cause(
        "Nodes that wait for each other can never be computed; leave them out.",
        lambda parents: [*computing_order(parents), *sorted(parents.keys() - set(computing_order(parents)))],
    ),
    Cause("A child may have the same parent twice, as in a + a: what is it still waiting for?", _stuck_on_twins),
)


def _by_shares(values, steps, keep=sum, slopes=None, own=True):
    """Derivatives by asking each node's children, where `keep` makes one number of [[shares of a child], ...].

    `slopes`: {operation: (slope of a, slope of b) by their values} in place of the right ones. Without `own` a child
    sends the slope alone, not times its own gradient.
    """
    known, goal = goal_value(values, steps)[1], steps[-1][0]

    def slope(step, slot):
        if step[1] in (slopes or {}):
            return slopes[step[1]](*(known[p] for p in step[2:]))[slot]
        return (
            OPERATIONS[step[1]](*(known[p] + (STEP * 1j if i == slot else 0) for i, p in enumerate(step[2:]))).imag
            / STEP
        )

    def gradient(node):
        children = [step for step in steps if node in step[2:]]
        shares = [[slope(s, i) * (gradient(s[0]) if own else 1) for i in (0, 1) if s[2 + i] == node] for s in children]
        return (1.0 if node == goal else 0.0) + (keep(shares) if shares else 0.0)

    return {name: gradient(name) for name in known}


def _add_all(shares):
    return sum(map(sum, shares))


def _goal_only(values, steps):
    nothing = dict.fromkeys([*values, *(s[0] for s in steps)], 0.0)
    after = [step for step in steps[-1:]]
    return nothing | {
        n: g for n, g in _by_shares(goal_value(values, steps)[1], after, _add_all).items() if n in after[0]
    }


GRADIENTS = (
    Cause("Near, but not exact: a measured derivative has not all digits. Send shares.", derivatives),
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
        lambda values, steps: goal_value(values, steps)[1],
    ),
    Cause(
        "Everything is 0: the way back begins with dJ/dJ = 1.",
        lambda values, steps: dict.fromkeys(goal_value(values, steps)[1], 0.0),
    ),
    Cause("Only the goal's own parents received something: on the way back, which step comes first?", _goal_only),
)


def _edges(steps):
    """The number of edges on the way to the goal, and the goal for itself."""
    needed, edges = {steps[-1][0]}, 1
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
            edges += len(parents)
    return edges


VISITS = (
    Cause(
        "The two numbers are exchanged: visits once per node come first, those once per path second.",
        lambda steps: visits(steps)[::-1],
    ),
    Cause(
        "The goal is visited too, in both walks.",
        lambda steps: tuple(count - 1 for count in visits(steps)),
    ),
    Cause("Leaves are visited too, in both walks.", lambda steps: visits(steps, counted="computed")),
    Cause(
        "The second number counts each edge once; everything behind an edge is walked again for each path.",
        lambda steps: (visits(steps)[0], _edges(steps)),
    ),
    Cause("Nodes that do not lead to the goal are not visited at all.", lambda steps: visits(steps, few=len)),
    Cause(
        "The same parent twice is two paths.",
        lambda steps: visits(steps, edges=lambda parents: sorted(set(parents))),
    ),
    Cause(
        "Those are the paths that end at leaves; the nodes on the way are visited too.",
        lambda steps: visits(steps, counted="leaves"),
    ),
)


def _one_share(g, shape, turn=1):
    kept = np.zeros(math.prod(shape))
    kept[places(g, shape).ravel()[::turn]] = np.ravel(g)[::turn]
    return kept.reshape(shape)


def _from_the_left(g, shape):
    """As if missing axes were put behind: the last ones are summed away."""
    g = np.sum(g, axis=tuple(range(len(shape), np.ndim(g))))
    return np.sum(g, axis=tuple(i for i, size in enumerate(shape) if size == 1), keepdims=True)


SHARE = (
    Cause(
        "Shares add up; their mean was taken.",
        lambda g, shape: share(g, shape) * math.prod(shape) / np.size(g),
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
        lambda g, shape: np.squeeze(share(g, shape)),
    ),
    Cause(
        "That is the sum over everything, in every place; each place collects its own shares only.",
        lambda g, shape: np.full(shape, np.sum(g)),
    ),
)
