"""The key of lesson 18: hidden cases, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, plain
from course_lib.grading.keys import Key, Mutant, Part

ROWS = """def my_rows(count, rank, size):
    each, more = divmod(count, size)
    first = rank * each + min(rank, more)
    last = first + each + (rank < more)
    return first, last"""

GRADIENT = """def whole_gradient(gradients, rows):
    some = rows > 0
    weights = rows[some] / rows.sum()
    return weights @ gradients[some]"""

PLAN = """def ring_plan(rank, size):
    first = [((rank - s) % size, (rank - s - 1) % size, True) for s in range(size - 1)]
    second = [((rank - s + 1) % size, (rank - s) % size, False) for s in range(size - 1)]
    return first + second"""

STUCK = """def stuck(programs):
    at = [0] * len(programs)
    def now(rank):
        return programs[rank][at[rank]] if at[rank] < len(programs[rank]) else None
    moved = True
    while moved:
        moved = False
        for a in range(len(programs)):
            if now(a) and now(a)[0] == "send":
                b = now(a)[1]
                if now(b) == ("receive", a):
                    at[a] += 1
                    at[b] += 1
                    moved = True
    ends = [rank for rank in range(len(programs)) if now(rank) is not None]
    return ends"""

SOONEST = """def soonest(rows, row_seconds, fixed, nbytes, latency, rate, most):
    tried = []
    for n in range(1, most + 1):
        message = latency + nbytes / n / rate
        tried.append((fixed + rows / n * row_seconds + 2 * (n - 1) * message, n))
    seconds, n = min(tried)
    return n, seconds"""

PIPELINE = """def pipeline(seconds, micro):
    done = np.zeros((len(seconds) + 1, micro + 1))
    for s, took in enumerate(seconds, start=1):
        for k in range(1, micro + 1):
            done[s, k] = max(done[s - 1, k], done[s, k - 1]) + took
    total = done[-1, -1]
    work, time = micro * sum(seconds), len(seconds) * total
    return total, 1 - work / time"""


def _gradients(*shapes, empty=False):
    """Gradients at random, of (ranks, weights); with `empty` one rank has no rows."""

    def cases(rng):
        found = []
        for ranks, weights in shapes:
            rows, gradients = rng.integers(1, 40, ranks), rng.standard_normal((ranks, weights))
            if empty:
                rows[-1 if ranks % 2 else 0] = 0
                gradients[rows == 0] = np.nan
            found.append(Case((gradients, rows)))
        return found

    return cases


def _programs(*settings):
    """Messages at random, which all arrive; with `trouble` two ranks then wait for each other, and one for them."""

    def cases(rng):
        found = []
        for ranks, messages, trouble in settings:
            programs = [[] for _ in range(ranks)]
            for _ in range(messages):
                a, b = (int(r) for r in rng.choice(ranks, 2, replace=False))
                programs[a].append(("send", b))
                programs[b].append(("receive", a))
            if trouble:
                a, b, c = (int(r) for r in rng.choice(ranks, 3, replace=False))
                programs[a] += [("send", b), ("receive", b)]
                programs[b] += [("send", a), ("receive", a)]
                programs[c].append(("receive", a))
            found.append(Case((programs,)))
        return found

    return cases


def _stages(*settings):
    def cases(rng):
        return [Case(([float(t) for t in rng.integers(1, 9, p)], m)) for p, m in settings]

    return cases


KEYS = (
    Key(
        "18.1",
        (
            Part("batches that do not divide", 1, plain((100, 6, 7), (13, 4, 5), (9, 0, 2), (1000, 63, 64))),
            Part("few rows", 1, plain((3, 2, 5), (3, 4, 5), (0, 1, 3), (7, 6, 7))),
        ),
        (
            Mutant(
                "rounded down", changed(ROWS, (" + min(rank, more)", ""), (" + (rank < more)", "")), "belong to nobody"
            ),
            Mutant(
                "rest to the last",
                "def my_rows(count, rank, size):\n    each = count // size\n"
                "    return rank * each, count if rank == size - 1 else (rank + 1) * each",
                "went to the last rank",
            ),
            Mutant(
                "last ones longer",
                "def my_rows(count, rank, size):\n    each, more = divmod(count, size)\n"
                "    first = rank * each + max(0, rank - (size - more))\n"
                "    return first, first + each + (rank >= size - more)",
                "The last ranks have a row more",
            ),
            Mutant(
                "spread",
                "def my_rows(count, rank, size):\n    return count * rank // size, count * (rank + 1) // size",
                "not to some in the middle",
            ),
            Mutant(
                "rounded up",
                "def my_rows(count, rank, size):\n    each = -(-count // size)\n"
                "    return min(count, rank * each), min(count, (rank + 1) * each)",
                "Each part is rounded up",
            ),
            Mutant("last row", changed(ROWS, ("return first, last", "return first, last - 1")), "as in a slice"),
            Mutant("how many", changed(ROWS, ("return first, last", "return first, last - first")), "how many rows"),
            Mutant(
                "the library's",
                "from course_lib.parallel.traffic import cuts\n\n"
                "def my_rows(count, rank, size):\n    return tuple(cuts(count, size)[rank:rank + 2])",
                "uses cuts",
            ),
        ),
    ),
    Key(
        "18.2",
        (
            Part("other parts", 2, _gradients((4, 3), (1, 5), (7, 2))),
            Part("ranks without rows", 1, _gradients((3, 4), (4, 1), empty=True)),
        ),
        (
            Mutant(
                "mean of means",
                "def whole_gradient(gradients, rows):\n    return gradients.mean(axis=0)",
                "mean of the means",
            ),
            Mutant(
                "sum",
                "def whole_gradient(gradients, rows):\n    return gradients[rows > 0].sum(axis=0)",
                "added and not averaged",
            ),
            Mutant("not divided", changed(GRADIENT, (" / rows.sum()", "")), "not divided by the rows"),
            Mutant(
                "by the ranks", changed(GRADIENT, (" / rows.sum()", " / len(rows)")), "divided by the number of ranks"
            ),
            Mutant("nan", changed(GRADIENT, ("rows > 0", "rows >= 0")), "0 times NaN is NaN"),
            Mutant(
                "inverse",
                changed(
                    GRADIENT,
                    ("rows[some] / rows.sum()", "1 / rows[some]"),
                    ("return ", "weights = weights / weights.sum()\n    return "),
                ),
                "not its inverse",
            ),
            Mutant(
                "another order",
                changed(GRADIENT, ("some = rows > 0", "rows = rows[::-1]\n    some = rows > 0")),
                "of another rank",
            ),
            Mutant(
                "a number",
                changed(GRADIENT, ("weights @ gradients[some]", "float((weights @ gradients[some]).sum())")),
                "whole_gradient(",
            ),
        ),
    ),
    Key(
        "18.3",
        (
            Part("more ranks", 2, plain((4, 6), (0, 7), (7, 8), (2, 5))),
            Part("two ranks, and one", 1, plain((0, 2), (0, 1))),
            Part("many ranks", 1, plain((99, 100), (31, 64))),
        ),
        (
            Mutant("half of it", changed(PLAN, ("first + second", "first")), "have to go round as well"),
            Mutant("always added", changed(PLAN, ("size, False)", "size, True)")), "takes the place of what is there"),
            Mutant(
                "one step more",
                changed(
                    PLAN,
                    ("range(size - 1)]\n    second", "range(size)]\n    second"),
                    ("range(size - 1)]\n    return", "range(size)]\n    return"),
                ),
                "adds something twice",
            ),
            Mutant(
                "no remainder",
                "def ring_plan(rank, size):\n"
                "    first = [(rank - s, rank - s - 1, True) for s in range(size - 1)]\n"
                "    return first + [(rank - s + 1, rank - s, False) for s in range(size - 1)]",
                "take the remainder",
            ),
            Mutant(
                "changed places",
                changed(PLAN, ("return first + second", "return [(b, a, adds) for a, b, adds in first + second]")),
                "have changed places",
            ),
            Mutant(
                "second from rank",
                changed(PLAN, ("(rank - s + 1) % size, (rank - s) % size", "(rank - s) % size, (rank - s - 1) % size")),
                "has completed is rank + 1",
            ),
            Mutant(
                "to the left",
                "def ring_plan(rank, size):\n"
                "    first = [((rank + s) % size, (rank + s + 1) % size, True) for s in range(size - 1)]\n"
                "    return first + [((rank + s - 1) % size, (rank + s) % size, False) for s in range(size - 1)]",
                "the numbers fall",
            ),
            Mutant(
                "all alike",
                changed(PLAN, ("(rank, size):\n", "(rank, size):\n    rank = 0\n")),
                "the same for every rank",
            ),
            Mutant(
                "no flags",
                changed(PLAN, ("return first + second", "return [(a, b) for a, b, _ in first + second]")),
                "ring_plan(",
            ),
        ),
    ),
    Key(
        "18.4",
        (
            Part("few ranks", 2, _programs((4, 5, True), (3, 6, False), (5, 6, True), (2, 4, False))),
            Part("many ranks", 2, _programs((8, 20, True), (12, 40, True), (20, 60, False))),
        ),
        (
            Mutant(
                "sends return",
                "def stuck(programs):\n"
                "    at, boxes = [0] * len(programs), []\n"
                "    moved = True\n"
                "    while moved:\n"
                "        moved = False\n"
                "        for r, program in enumerate(programs):\n"
                "            if at[r] == len(program):\n"
                "                continue\n"
                "            what, peer = program[at[r]]\n"
                "            if what == 'send':\n"
                "                boxes.append((r, peer))\n"
                "            elif (peer, r) in boxes:\n"
                "                boxes.remove((peer, r))\n"
                "            else:\n"
                "                continue\n"
                "            at[r] += 1\n"
                "            moved = True\n"
                "    return [r for r, program in enumerate(programs) if at[r] < len(program)]",
                "if sends return at once",
            ),
            Mutant(
                "circles only",
                changed(
                    STUCK,
                    (
                        "    return ends",
                        "    waits = {r: now(r)[1] for r in ends}\n"
                        "    found = []\n"
                        "    for r in ends:\n"
                        "        other, steps = waits[r], 0\n"
                        "        while other in waits and other != r and steps < len(programs):\n"
                        "            other, steps = waits[other], steps + 1\n"
                        "        if other == r:\n"
                        "            found.append(r)\n"
                        "    return found",
                    ),
                ),
                "Only those in a circle",
            ),
            Mutant(
                "first operation",
                changed(
                    STUCK,
                    ("def stuck(programs):\n", "def stuck(programs):\n    programs = [p[:1] for p in programs]\n"),
                ),
                "Only the first operation",
            ),
            Mutant(
                "all of them",
                changed(STUCK, ("return ends", "return list(range(len(programs))) if ends else []")),
                "not all are",
            ),
            Mutant("those that end", changed(STUCK, ("is not None]", "is None]")), "asked for are the others"),
            Mutant("whether", changed(STUCK, ("return ends", "return bool(ends)")), "whether there is one"),
            Mutant("how many", changed(STUCK, ("return ends", "return len(ends)")), "how many there are"),
            Mutant("what they do", changed(STUCK, ("return ends", "return [now(r) for r in ends]")), "stands at"),
            Mutant("one round", changed(STUCK, ("                    moved = True\n", "")), "stuck("),
        ),
    ),
    Key(
        "18.5",
        (
            Part(
                "other links",
                2,
                plain(
                    (8192, 2e-6, 5e-5, 400_000, 2e-6, 1e10, 64),
                    (1000, 1e-3, 0.0, 1_000_000, 1e-2, 1e6, 8),
                    (512, 1e-3, 0.02, 80_000_000, 1e-5, 1e10, 256),
                ),
            ),
            Part(
                "one device, and all of them",
                1,
                plain((64, 1e-6, 1e-3, 10**6, 1e-3, 1e8, 32), (10**6, 1e-3, 0.0, 1000, 1e-6, 1e9, 12)),
            ),
        ),
        (
            Mutant(
                "whole messages",
                changed(SOONEST, ("nbytes / n / rate", "nbytes / rate")),
                "as large as the whole array",
            ),
            Mutant("half the steps", changed(SOONEST, ("2 * (n - 1)", "(n - 1)")), "Only half of the steps"),
            Mutant("2 n messages", changed(SOONEST, ("2 * (n - 1)", "2 * n")), "nobody to send to"),
            Mutant(
                "latency once",
                changed(
                    SOONEST,
                    ("latency + nbytes / n / rate", "nbytes / n / rate"),
                    ("* message, n", "* message + (latency if n > 1 else 0), n"),
                ),
                "counted once",
            ),
            Mutant("no latency", changed(SOONEST, ("latency + nbytes", "nbytes")), "The latency was left out"),
            Mutant(
                "fixed divided",
                changed(SOONEST, ("fixed + rows / n * row_seconds", "(fixed + rows * row_seconds) / n")),
                "was divided among",
            ),
            Mutant("no fixed", changed(SOONEST, ("(fixed + ", "(")), "was left out"),
            Mutant(
                "all devices", changed(SOONEST, ("seconds, n = min(tried)", "seconds, n = tried[-1]")), "may have fewer"
            ),
            Mutant("no sum", changed(SOONEST, (" + 2 * (n - 1) * message", "")), "more devices always seem better"),
            Mutant("seconds first", changed(SOONEST, ("return n, seconds", "return seconds, n")), "soonest("),
        ),
    ),
    Key(
        "18.6",
        (
            Part("equal stages", 1, plain(([2.0, 2.0, 2.0], 7), ([1.0] * 8, 56), ([3.0], 5))),
            Part("unequal stages", 2, _stages((3, 6), (5, 4), (4, 20), (2, 1))),
        ),
        (
            Mutant(
                "no overlap",
                changed(PIPELINE, ("total = done[-1, -1]", "total = micro * sum(seconds)")),
                "Nothing overlaps",
            ),
            Mutant(
                "slowest always",
                changed(PIPELINE, ("total = done[-1, -1]", "total = (micro + len(seconds) - 1) * max(seconds)")),
                "as long as the slowest stage",
            ),
            Mutant(
                "never busy",
                changed(
                    PIPELINE,
                    (
                        "max(done[s - 1, k], done[s, k - 1]) + took",
                        "(done[s - 1, k] if s > 1 else done[s, k - 1]) + took",
                    ),
                ),
                "may still be busy",
            ),
            Mutant(
                "not filled",
                changed(PIPELINE, ("total = done[-1, -1]", "total = micro * max(seconds)")),
                "the pipeline must fill",
            ),
            Mutant("working share", changed(PIPELINE, ("1 - work / time", "work / time")), "asked for is the idle one"),
            Mutant(
                "formula",
                changed(PIPELINE, ("1 - work / time", "(len(seconds) - 1) / (micro + len(seconds) - 1)")),
                "the formula for equal stages",
            ),
            Mutant("of the work", changed(PIPELINE, ("1 - work / time", "time / work - 1")), "compared with the work"),
            Mutant("in seconds", changed(PIPELINE, ("1 - work / time", "time - work")), "idle time in seconds"),
            Mutant("only the end", changed(PIPELINE, ("return total, 1 - work / time", "return total")), "pipeline("),
        ),
    ),
)
