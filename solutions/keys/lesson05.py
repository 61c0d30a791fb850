"""The key of sheet 05, the computation graph: hidden cases, and wrong answers with what they must be told.

Source: the course's own.
"""

from course_lib.checks.exercise import Case
from course_lib.grading.keys import Key, Mutant, Part


def _random_parents(rng, count):
    names = [f"{letter}{i}" for i, letter in enumerate(rng.permutation(list("abcdefghijklmnop"))[:count])]
    made = {}
    for i, name in enumerate(names):
        some = rng.permutation(names[:i])[: rng.integers(0, 4)]
        made[name] = [str(p) for p in some]
    return {name: made[name] for name in map(str, rng.permutation(names))}


def _shuffled(rng, count):
    parents = _random_parents(rng, count)
    return Case((parents, [str(n) for n in rng.permutation(list(parents))]))


def _formula(rng, leaves, steps):
    """A random formula in which nothing is divided by a number near 0, whatever the generator says."""
    values = {f"x{i}": float(rng.uniform(0.5, 2) * (-1) ** i) for i in range(leaves)}
    known, made = dict(values), []
    for i in range(steps):
        names, op = list(known), "+-*/"[i % 4]
        a, b = names[rng.integers(max(0, len(names) - 5), len(names))], names[rng.integers(len(names))]
        if op == "/" and abs(known[b]) < 0.25:
            b = "x0"
        p, q = known[a], known[b]
        known[f"s{i}"] = p + q if op == "+" else p - q if op == "-" else p * q if op == "*" else p / q
        made.append((f"s{i}", op, a, b))
    return Case((values, made))


def _ladder(rungs):
    return [("n0", [])] + [(f"n{i}", [f"n{i - 1}", f"n{i - 1}"]) for i in range(1, rungs + 1)]


def _chain(length):
    return [("n0", [])] + [(f"n{i}", [f"n{i - 1}"]) for i in range(1, length)]


def _skips(blocks):
    """A node, its block's inside, their sum: as the lesson's skip connection, one after the other."""
    steps = [("x", [])]
    for i in range(blocks):
        before = steps[-1][0]
        steps += [(f"inside{i}", [before]), (f"dead{i}", [before, f"inside{i}"]), (f"sum{i}", [before, f"inside{i}"])]
    return steps


def _shares(rng, shapes):
    return [Case((rng.normal(size=large), small)) for large, small in shapes]


KEYS = (
    Key(
        "05.1",
        parts=(
            Part("larger graphs", 2, lambda rng: [_shuffled(rng, n) for n in (6, 9, 12)]),
            Part(
                "edge cases",
                1,
                lambda rng: [
                    Case(({"x": []}, ["x"])),
                    Case(({"x": [], "a": ["x", "x"]}, ["a", "x"])),
                    Case(({"b": [], "a": []}, ["b", "a"])),
                    Case(({"a": ["b", "c", "d"], "b": [], "c": [], "d": []}, ["c", "b", "a", "d"])),
                    Case(({"a": ["b", "c", "d"], "b": [], "c": [], "d": []}, ["c", "d", "a", "b"])),
                    Case(({"a": ["b", "c", "d"], "b": [], "c": [], "d": []}, ["d", "b", "a", "c"])),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "looks at children",
                """def too_early(parents, order):
    return [n for i, n in enumerate(order) if any(n in parents[later] for later in order[i + 1:])]""",
                "before one of their children, as they should",
            ),
            Mutant(
                "first parent only",
                """def too_early(parents, order):
    return [n for n in order if parents[n] and order.index(parents[n][0]) > order.index(n)]""",
                "Only the first parent of each node",
            ),
            Mutant(
                "all parents must be missing",
                """def too_early(parents, order):
    return [n for n in order if parents[n] and all(order.index(p) > order.index(n) for p in parents[n])]""",
                "not only if all of them are",
            ),
            Mutant(
                "parents must be next door",
                """def too_early(parents, order):
    return [n for i, n in enumerate(order) if any(p not in order[max(0, i - 1):i] for p in parents[n])]""",
                "A parent need not stand directly before its child",
            ),
            Mutant(
                "stops at the first",
                """def too_early(parents, order):
    for i, n in enumerate(order):
        if any(p not in order[:i] for p in parents[n]):
            return [n]
    return []""",
                "The first node that is too early is not the only one",
            ),
            Mutant(
                "in the dict's order",
                """def too_early(parents, order):
    return [n for n in parents if any(order.index(p) > order.index(n) for p in parents[n])]""",
                "not in the dict's or any other",
            ),
            Mutant(
                "in the alphabet's order",
                """def too_early(parents, order):
    return sorted(n for n in parents if any(order.index(p) > order.index(n) for p in parents[n]))""",
                "The right names",
            ),
            Mutant(
                "those that stand right",
                """def too_early(parents, order):
    return [n for i, n in enumerate(order) if all(p in order[:i] for p in parents[n])]""",
                "Those are the nodes that stand right",
            ),
            Mutant(
                "the parents that come too late",
                """def too_early(parents, order):
    return [p for i, p in enumerate(order) if any(p in parents[n] for n in order[:i])]""",
                "Those are the parents that come too late",
            ),
            Mutant(
                "last two parents only",
                """def too_early(parents, order):
    return [n for n in order if any(order.index(p) > order.index(n) for p in parents[n][-2:])]""",
                "too_early on a hidden case returns another number of values.",
            ),
            Mutant(
                "all for any, leaves too",
                """def too_early(parents, order):
    return [n for n in order if all(order.index(p) > order.index(n) for p in parents[n])]""",
                "all(...) of nothing is True",
            ),
            Mutant(
                "remembers only those in their place",
                """def too_early(parents, order):
    seen, early = set(), []
    for n in order:
        if all(p in seen for p in parents[n]):
            seen.add(n)
        else:
            early.append(n)
    return early""",
                "A parent that stands too early itself",
            ),
            Mutant(
                "yes or no",
                """def too_early(parents, order):
    return any(order.index(p) > order.index(n) for n in order for p in parents[n])""",
                "result is True or False, expected a list",
            ),
        ),
    ),
    Key(
        "05.2",
        parts=(
            Part("other graphs", 2, lambda rng: [Case((_random_parents(rng, n),)) for n in (7, 11, 14)]),
            Part(
                "edge cases",
                1,
                lambda rng: [
                    Case(({"a": ["a"]},)),
                    Case(({"d": ["b", "b"], "b": ["c"], "c": [], "a": ["d", "c", "d"]},)),
                    Case(({"n10": [], "n9": [], "k": ["n9"]},)),
                    Case(({"D": [], "C": ["a"], "b": ["a"], "a": []},)),
                    Case(({f"n{i:03}": [f"n{i + 1:03}"] if i < 400 else [] for i in range(401)},)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "layer by layer",
                """def computing_order(parents):
    order = []
    while True:
        ready = sorted(n for n in parents if n not in order and all(p in order for p in parents[n]))
        if not ready:
            return order
        order += ready""",
                "Whole layers were taken at a time",
            ),
            Mutant(
                "the largest name",
                """def computing_order(parents):
    order = []
    while True:
        ready = [n for n in parents if n not in order and all(p in order for p in parents[n])]
        if not ready:
            return order
        order.append(max(ready))""",
                "the last in the alphabet was taken",
            ),
            Mutant(
                "capitals like small letters",
                """def computing_order(parents):
    order = []
    while True:
        ready = [n for n in parents if n not in order and all(p in order for p in parents[n])]
        if not ready:
            return order
        order.append(min(ready, key=str.lower))""",
                "come before all small ones",
            ),
            Mutant(
                "the alphabet",
                """def computing_order(parents):
    return sorted(parents)""",
                "That is the alphabet",
            ),
            Mutant(
                "the cycle at the end",
                """def computing_order(parents):
    order = []
    while len(order) < len(parents):
        ready = [n for n in parents if n not in order and all(p in order for p in parents[n])]
        if not ready:
            return order + sorted(n for n in parents if n not in order)
        order.append(min(ready))
    return order""",
                "Nodes that wait for each other can never be computed",
            ),
            Mutant(
                "counts a double parent once",
                """def computing_order(parents):
    waiting = {n: len(p) for n, p in parents.items()}
    order = []
    while any(count == 0 for count in waiting.values()):
        name = min(n for n, count in waiting.items() if count == 0)
        order.append(name)
        del waiting[name]
        for child in waiting:
            if name in parents[child]:
                waiting[child] -= 1
    return order""",
                "A child may have the same parent twice",
            ),
            Mutant(
                "the lesson's search",
                """def computing_order(parents):
    order, seen = [], set()
    def visit(name):
        if name not in seen:
            seen.add(name)
            for p in parents[name]:
                visit(p)
            order.append(name)
    for name in sorted(parents):
        visit(name)
    return order""",
                "That is the order of the lesson's search",
            ),
            Mutant(
                "no end for a cycle",
                """def computing_order(parents):
    order = []
    while len(order) < len(parents):
        order.append(min(n for n in parents if n not in order and all(p in order for p in parents[n])))
    return order""",
                "raises ValueError: min()",
            ),
            Mutant(
                "the first in the dict",
                """def computing_order(parents):
    order = []
    while True:
        ready = [n for n in parents if n not in order and all(p in order for p in parents[n])]
        if not ready:
            return order
        order.append(ready[0])""",
                "the first in the dict was taken",
            ),
            Mutant(
                "the way back",
                """def computing_order(parents):
    order = []
    while True:
        ready = [n for n in parents if n not in order and all(p in order for p in parents[n])]
        if not ready:
            return order
        order.insert(0, min(ready))""",
                "That is the way back",
            ),
            Mutant(
                "children for parents",
                """def computing_order(parents):
    children = {n: [c for c in parents if n in parents[c]] for n in parents}
    order = []
    while True:
        ready = [n for n in children if n not in order and all(c in order for c in children[n])]
        if not ready:
            return order
        order.append(min(ready))""",
                "A node was taken when all its children were there",
            ),
        ),
    ),
    Key(
        "05.3",
        parts=(
            Part(
                "longer formulas",
                2,
                lambda rng: [
                    *(_formula(rng, n, m) for n, m in ((2, 6), (3, 9), (4, 12))),
                    Case(({"a": 7, "b": 2}, [("q", "/", "a", "b"), ("J", "*", "q", "q")])),
                ],
            ),
            Part(
                "the same node twice, dead ends",
                1,
                lambda rng: [
                    Case(({"x": 2}, [("J", "/", "x", "x")])),
                    Case(({"x": -3, "y": 4}, [("J", "*", "x", "x")])),
                    Case(({"x": 7, "y": 4}, [("d", "-", "x", "y"), ("J", "-", "d", "d"), ("K", "-", "J", "y")])),
                    Case(({"a": 2.5, "b": -1}, [("s", "-", "a", "a"), ("d", "*", "b", "b"), ("J", "/", "d", "a")])),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "the last share wins",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] = {"+": g, "-": g, "*": g * q}.get(op, g / q if op == "/" else 0)
        grad[b] = {"+": g, "-": -g, "*": g * p}.get(op, -g * p / q**2 if op == "/" else 0)
    return grad""",
                "here the last one replaced the others",
            ),
            Mutant(
                "forward again",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in steps:
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "Only the goal's own parents received something",
            ),
            Mutant(
                "minus is lost",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "The second parent of a - b acts with a minus.",
            ),
            Mutant(
                "a dict of shares",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        first = {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        second = {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
        for parent, share in {a: first, b: second}.items():
            grad[parent] += share
    return grad""",
                "The same node as both parents receives two shares",
            ),
            Mutant(
                "the divisor pulls the wrong way",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else g * p / q**2
    return grad""",
                "A larger divisor makes a / b smaller",
            ),
            Mutant(
                "a product's shares exchanged",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * p}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * q}[op] if op != "/" else -g * p / q**2
    return grad""",
                "The two shares of a * b are exchanged",
            ),
            Mutant(
                "a quotient's shares exchanged",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else -g * p / q**2
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else g / q
    return grad""",
                "The two shares of a / b are exchanged",
            ),
            Mutant(
                "a difference's signs exchanged",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": -g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "In a - b the signs are exchanged",
            ),
            Mutant(
                "a divisor without its square",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q
    return grad""",
                "has the square of b below",
            ),
            Mutant(
                "slopes without the gradient",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = 1.0, v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "that gradient is missing",
            ),
            Mutant(
                "values for gradients",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    return v""",
                "Those are the values of the nodes",
            ),
            Mutant(
                "no beginning",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "the way back begins with dJ/dJ = 1",
            ),
            Mutant(
                "the first share stays",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    sent = set()
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        first = {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        second = {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
        for parent, share in ((a, first), (b, second)):
            if parent not in sent:
                sent.add(parent)
                grad[parent] = share
    return grad""",
                "here the first one stayed alone",
            ),
            Mutant(
                "whole division",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] // v[b]
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for n, op, a, b in reversed(steps):
        g, p, q = grad[n], v[a], v[b]
        grad[a] += {"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q
        grad[b] += {"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2
    return grad""",
                "gradients on a hidden case returns wrong numbers.",
            ),
            Mutant(
                "measured",
                """def gradients(values, steps):
    def goal(moved, by):
        v = {n: x + by * (n == moved) for n, x in values.items()}
        for n, op, a, b in steps:
            p, q = v[a], v[b]
            v[n] = p + q if op == "+" else p - q if op == "-" else p * q if op == "*" else p / q
            v[n] += by * (n == moved)
        return v[steps[-1][0]]
    names = [*values, *(step[0] for step in steps)]
    return {n: (goal(n, 1e-5) - goal(n, -1e-5)) / 2e-5 for n in names}""",
                "Near, but not exact",
            ),
            Mutant(
                "only nodes that lead to the goal",
                """def gradients(values, steps):
    v = dict(values)
    for n, op, a, b in steps:
        v[n] = {"+": v[a] + v[b], "-": v[a] - v[b], "*": v[a] * v[b]}[op] if op != "/" else v[a] / v[b]
    grad = {steps[-1][0]: 1.0}
    for n, op, a, b in reversed(steps):
        if n in grad:
            g, p, q = grad[n], v[a], v[b]
            grad[a] = grad.get(a, 0) + ({"+": g, "-": g, "*": g * q}[op] if op != "/" else g / q)
            grad[b] = grad.get(b, 0) + ({"+": g, "-": -g, "*": g * p}[op] if op != "/" else -g * p / q**2)
    return grad""",
                "expected the keys ['J', 'n', 's', 'x', 'y']",
            ),
            Mutant(
                "adds to the values themselves",
                """def gradients(values, steps):
    for n, op, a, b in steps:
        p, q = values[a], values[b]
        values[n] = p + q if op == "+" else p - q if op == "-" else p * q if op == "*" else p / q
    return dict.fromkeys(values, 1.0)""",
                "changes argument 1 in place",
            ),
        ),
    ),
    Key(
        "05.4",
        parts=(
            Part(
                "dead ends, double parents",
                1,
                lambda rng: [
                    Case((_skips(3),)),
                    Case(([("x", [])],)),
                    Case(([("x", []), ("y", []), ("a", ["x", "y", "x"]), ("b", ["a"]), ("J", ["y", "a", "a"])],)),
                ],
            ),
            Part(
                "chains and ladders", 2, lambda rng: [Case((_chain(2500),)), Case((_ladder(58),)), Case((_skips(40),))]
            ),
        ),
        mutants=(
            Mutant(
                "really walks",
                """def visits(steps):
    parents, seen = dict(steps), set()
    def walk(name):
        seen.add(name)
        return 1 + sum(walk(p) for p in parents[name])
    many = walk(steps[-1][0])
    return len(seen), many""",
                "raises RecursionError",
            ),
            Mutant(
                "all nodes",
                """def visits(steps):
    count = {}
    for name, parents in steps:
        count[name] = 1 + sum(count[p] for p in parents)
    return len(steps), count[steps[-1][0]]""",
                "Nodes that do not lead to the goal are not visited",
            ),
            Mutant(
                "parents as a set",
                """def visits(steps):
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = 1 + sum(count[p] for p in set(parents))
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return len(needed), count[steps[-1][0]]""",
                "The same parent twice is two paths.",
            ),
            Mutant(
                "paths to leaves",
                """def visits(steps):
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = sum(count[p] for p in parents) if parents else 1
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return len(needed), count[steps[-1][0]]""",
                "Those are the paths that end at leaves",
            ),
            Mutant(
                "counts edges",
                """def visits(steps):
    needed, edges = {steps[-1][0]}, 0
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
            edges += len(parents)
    return len(needed), edges + 1""",
                "The second number counts each edge once",
            ),
            Mutant(
                "the two numbers exchanged",
                """def visits(steps):
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = 1 + sum(count[p] for p in parents)
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return count[steps[-1][0]], len(needed)""",
                "The two numbers are exchanged",
            ),
            Mutant(
                "without the goal",
                """def visits(steps):
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = 1 + sum(count[p] for p in parents)
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return len(needed) - 1, count[steps[-1][0]] - 1""",
                "The goal is visited too",
            ),
            Mutant(
                "without the leaves",
                """def visits(steps):
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = bool(parents) + sum(count[p] for p in parents)
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return sum(bool(p) for n, p in steps if n in needed), count[steps[-1][0]]""",
                "Leaves are visited too",
            ),
            Mutant(
                "knows ladders only",
                """def visits(steps):
    needed = {steps[-1][0]}
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    n = len(needed)
    known = {3: 5, 5: 7, 2: 2}
    return n, known.get(n, 2**n - 1)""",
                "on a hidden case returns wrong numbers.",
            ),
        ),
    ),
    Key(
        "05.5",
        parts=(
            Part(
                "other shapes",
                2,
                lambda rng: _shares(
                    rng, [((4, 2, 3), (2, 1)), ((2, 5), (1, 5)), ((3, 2, 4), (3, 1, 4)), ((5, 2), (2,))]
                ),
            ),
            Part(
                "numbers and axes of size 1",
                1,
                lambda rng: _shares(rng, [((3, 4), ()), ((4,), (1,)), ((1, 3), (1, 1)), ((2, 1, 3), (1, 3)), ((), ())]),
            ),
        ),
        mutants=(
            Mutant(
                "mean for sum",
                """def share_of(g, shape):
    while g.ndim > len(shape):
        g = g.mean(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.mean(axis=axis, keepdims=True)
    return g""",
                "Shares add up; their mean was taken.",
            ),
            Mutant(
                "the last use only",
                """def share_of(g, shape):
    share = np.empty(shape)
    uses = np.broadcast_to(np.arange(share.size).reshape(shape), g.shape)
    share.reshape(-1)[uses] = g
    return share""",
                "That is one of the shares",
            ),
            Mutant(
                "front axes only",
                """def share_of(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    return g""",
                "Only the missing axes were summed",
            ),
            Mutant(
                "axes of size 1 are lost",
                """def share_of(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis in reversed(range(len(shape))):
        if shape[axis] == 1:
            g = g.sum(axis=axis)
    return g""",
                "an axis of size 1 got lost",
            ),
            Mutant(
                "the last axes for the first",
                """def share_of(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=-1)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g""",
                "NumPy lines shapes up at their ends",
            ),
            Mutant(
                "the first use only",
                """def share_of(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.take([0], axis=axis)
    return g""",
                "That is the first of the shares",
            ),
            Mutant(
                "rows, always",
                """def share_of(g, shape):
    return g.sum(axis=0).reshape(shape)""",
                "raises ValueError: cannot reshape array of size 3 into shape",
            ),
            Mutant(
                "everything everywhere",
                """def share_of(g, shape):
    return np.full(shape, g.sum())""",
                "each place collects its own shares only",
            ),
            Mutant(
                "two axes at most",
                """def share_of(g, shape):
    if g.shape == shape:
        return g
    if len(shape) == 1:
        return g.sum(axis=0)
    return g.sum(axis=shape.index(1), keepdims=True)""",
                "an array of another shape than expected, with more or fewer axes",
            ),
        ),
    ),
)
"""In the order of the sheet."""
