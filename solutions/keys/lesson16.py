"""The key of lesson 16: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, plain, whole
from course_lib.grading.keys import Key, Mutant, Part

TIME = """
def time_per_image(batches, launches, cost, fixed, each):
    result = []
    for B in batches:
        kernels = fixed + each * B
        result.append(max(kernels, launches * cost) / B)
    B = 1
    while launches * cost > fixed + each * B:
        B = B + 1
    return result, B
"""

PINNING = """
def worth_pinning(size, host, link, pin):
    quick = size / link
    usual = size / host + quick
    saved = size / host
    return usual, quick, int(pin // saved) + 1
"""

PIECES = """
def overlapped(pieces, slots):
    todo = []
    for k in range(pieces):
        if k >= slots:
            todo.append(("wait", f"c{k - slots}", "in"))
        todo.append(("read", k, "in"))
        todo.append(("record", f"r{k}", "in"))
        todo.append(("wait", f"r{k}", "run"))
        if k >= slots:
            todo.append(("wait", f"w{k - slots}", "run"))
        todo.append(("compute", k, "run"))
        todo.append(("record", f"c{k}", "run"))
        todo.append(("wait", f"c{k}", "out"))
        todo.append(("write", k, "out"))
        todo.append(("record", f"w{k}", "out"))
    return todo
"""

FLOWING = changed(PIECES, ("overlapped(pieces, slots)", "flowing(pieces)"), ("slots", "3"))

BATCHES = """
def loaded_ahead(batches):
    todo = []
    for k in range(batches):
        if k >= 2:
            todo.append(("wait", f"c{k - 2}"))
        todo.append(("gather", k))
        if k >= 2:
            todo.append(("wait", f"t{k - 2}", "copies"))
        todo.append(("copy", k, "copies"))
        todo.append(("record", f"c{k}", "copies"))
        todo.append(("wait", f"c{k}", "steps"))
        todo.append(("train", k, "steps"))
        todo.append(("record", f"t{k}", "steps"))
    return todo
"""

TRAINED = """
def trained_on(actions):
    arrays, x, graph, seen = [], None, None, []
    for action in actions:
        if action[0] == "new":
            arrays.append(action[1])
            x = len(arrays) - 1
        if action[0] == "overwrite":
            arrays[x] = action[1]
        if action[0] == "record":
            graph = x
            seen.append(arrays[x])
        if action[0] == "replay":
            seen.append(arrays[graph])
    return seen
"""

FUSE = """
def fuse(operations, most):
    result, where, shape_of = [], {}, {}
    for name, kind, shape, needs in operations:
        shape_of[name] = tuple(shape)
        first = max([where[n] for n in needs] + [0])
        fits = [k for k in range(first, len(result)) if shape_of[result[k][0]] == tuple(shape)]
        if kind == "map" and fits:
            where[name] = fits[0]
            result[fits[0]].append(name)
        else:
            where[name] = len(result)
            result.append([name])
    return result
"""

TALLY = """
@gpu.jit
def tally(losses, scores, labels, totals):
    row = cuda.grid(1)
    hit, loss = float32(0), float32(0)
    if row < losses.size:
        loss = losses[row]
        best, top = 0, scores[row, 0]
        for c in range(1, scores.shape[1]):
            score = scores[row, c]
            if score > top:
                best, top = c, score
        hit = float32(1) if best == labels[row] else float32(0)
    step = 16
    while step > 0:
        hit += cuda.shfl_down_sync(0xFFFFFFFF, hit, step)
        loss += cuda.shfl_down_sync(0xFFFFFFFF, loss, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(totals, 0, hit)
        cuda.atomic.add(totals, 1, loss)
"""

UPDATE = """
@gpu.jit
def update_all(w, dw, v, starts, decays, lr, momentum):
    i = cuda.grid(1)
    if i < w.size:
        p = 0
        while starts[p + 1] <= i:
            p += 1
        before = w[i]
        move = momentum * v[i] - lr * (dw[i] + decays[p] * before)
        v[i] = move
        w[i] = before + move
"""


def operations_of(layers):
    """Return the forward pass and the updates of so many layers, each with a short way round it and the sum of both."""
    found, before = [], []
    for n in range(layers):
        shape = (4, n + 2)
        found += [
            (f"z{n}", "product", shape, before), (f"b{n}", "map", shape, [f"z{n}"]), (f"a{n}", "map", shape, [f"b{n}"]),
            (f"short{n}", "product", shape, before), (f"both{n}", "map", shape, [f"a{n}", f"short{n}"]),
            (f"mean{n}", "sum", (n + 2,), [f"both{n}"]), (f"less{n}", "map", (n + 2,), [f"mean{n}"]),
        ]  # fmt: skip
        before = [f"both{n}"]
    for n in range(layers):
        found += [(f"dw{n}", "product", (n + 1, n + 2), [f"a{n}"]), (f"w{n}", "map", (n + 1, n + 2), [f"dw{n}"])]
    return found


def batches(*shapes):
    """Return cases(rng) of losses (N, B), scores (N, B, C) and labels (N, B)."""

    def cases(rng):
        return [
            Case((whole(rng, N, B, low=0), whole(rng, N, B, C, low=-2, high=2),
                  rng.integers(0, C, (N, B)).astype(np.int32)))
            for N, B, C in shapes
        ]  # fmt: skip

    return cases


def parameters(*sizes):
    """Return cases(rng) of parameters of these sizes, with decays in quarters."""

    def cases(rng):
        found = []
        for each in sizes:
            starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int32)
            decays = rng.integers(0, 4, len(each)).astype(np.float32) / 4
            found.append(Case((whole(rng, 2, int(starts[-1])), starts, decays, np.float32(0.25), np.float32(0.75))))
        return found

    return cases


KEYS = (
    Key(
        "16.1",
        (
            Part("other networks", 1, plain(([2, 32, 512], 23, 11, 40, 1), ([16], 100, 50, 0, 7))),
            Part("edge cases", 1, plain(([1, 2], 1, 1, 90, 4), ([5], 10, 10, 98, 2), ([3], 7, 3, 20, 1))),
        ),
        (
            Mutant("a step, not an image", changed(TIME, (" / B)", ")")), "Divide it by the images"),
            Mutant(
                "added up",
                changed(TIME, ("max(kernels, launches * cost)", "(kernels + launches * cost)")),
                "whichever of the two is longer",
            ),
            Mutant(
                "kernels alone",
                changed(TIME, ("max(kernels, launches * cost)", "kernels")),
                "the card waits for the launches",
            ),
            Mutant("one launch", changed(TIME, ("launches * cost", "cost")), "One launch was counted"),
            Mutant("one too large", changed(TIME, ("> fixed", ">= fixed")), "one too large"),
            Mutant(
                "fixed part left out",
                changed(TIME, ("> fixed + each * B", "> each * B")),
                "was left out of the second number",
            ),
            Mutant("begins at 0", changed(TIME, ("B = 1\n", "B = 0\n")), "expected 1"),
            Mutant("only the list", changed(TIME, ("return result, B", "return result")), "expected 2"),
            Mutant(
                "the last batch only",
                changed(TIME, ("result.append(max", "result = [(max"), (") / B)", ") / B)]")),
                "shape",
            ),
        ),
    ),
    Key(
        "16.2",
        (
            Part("other sizes", 1, plain((100_000, 5_000, 20_000, 77), (12_345_678, 9_000, 45_000, 9_999))),
            Part("edge cases", 1, plain((1_000, 1_000, 1_000, 3), (1_000, 1_000, 2_000, 0.5), (8, 4, 2, 1))),
        ),
        (
            Mutant(
                "the longer half",
                changed(PINNING, ("size / host + quick", "max(size / host, quick)")),
                "were not added up",
            ),
            Mutant(
                "without the link",
                changed(PINNING, ("usual = size / host + quick", "usual = size / host")),
                "a pageable copy is 500, expected 600",
            ),
            Mutant(
                "a tie counts",
                changed(PINNING, ("int(pin // saved) + 1", "max(1, int(-(-pin // saved)))")),
                "the number of copies is 4, expected 5",
            ),
            Mutant(
                "saves a whole copy",
                changed(PINNING, ("saved = size / host", "saved = usual")),
                "What a pinned copy saves",
            ),
            Mutant("exchanged", changed(PINNING, ("return usual, quick", "return quick, usual")), "exchanged"),
            Mutant(
                "a fraction", changed(PINNING, ("int(pin // saved) + 1", "pin / saved + 1")), "the number of copies is"
            ),
            Mutant(
                "rounded", changed(PINNING, ("int(pin // saved) + 1", "round(pin / saved)")), "number of copies is 4"
            ),
        ),
    ),
    Key(
        "16.3",
        (
            Part("more pieces", 1, plain((12, 2), (9, 3), (20, 4))),
            Part("edge cases", 1, plain((1, 1), (2, 1), (3, 5), (2, 2))),
        ),
        (
            Mutant(
                "one stream",
                """
def overlapped(pieces, slots):
    return [(stage, k, "one") for k in range(pieces) for stage in ("read", "compute", "write")]
""",
                "it takes 120 µs, and 66 are possible",
            ),
            Mutant(
                "a stream for each piece",
                """
def overlapped(pieces, slots):
    return [(stage, k, k) for k in range(pieces) for stage in ("read", "compute", "write")]
""",
                "nothing says which of the two comes first",
            ),
            Mutant(
                "no events",
                """
def overlapped(pieces, slots):
    return [(stage, k, stage) for k in range(pieces) for stage in ("read", "compute", "write")]
""",
                "The stream 'compute' must wait for an event that is recorded behind read 0",
            ),
            Mutant(
                "computed before it is read",
                changed(PIECES, ('        todo.append(("wait", f"r{k}", "run"))\n', "")),
                "compute 0 reads input[0], which read 0 writes",
            ),
            Mutant(
                "written before it is computed",
                changed(PIECES, ('        todo.append(("wait", f"c{k}", "out"))\n', "")),
                "write 0 reads output[0], which compute 0 writes",
            ),
            Mutant(
                "place read into too early",
                changed(
                    PIECES, ('        if k >= slots:\n            todo.append(("wait", f"c{k - slots}", "in"))\n', "")
                ),
                "read 2 writes input[0], which compute 0 reads",
            ),
            Mutant(
                "place computed into too early",
                changed(
                    PIECES, ('        if k >= slots:\n            todo.append(("wait", f"w{k - slots}", "run"))\n', "")
                ),
                "compute 2 writes output[0], which write 0 reads",
            ),
            Mutant(
                "waits for the wrong piece",
                changed(PIECES, ('f"c{k - slots}", "in"', 'f"c{k - slots - 1}", "in"')),
                "A wait for 'c-1' stands before anybody has recorded it",
            ),
            Mutant(
                "waits before the record",
                changed(
                    PIECES,
                    (
                        '        todo.append(("record", f"r{k}", "in"))\n'
                        '        todo.append(("wait", f"r{k}", "run"))\n',
                        '        todo.append(("wait", f"r{k}", '
                        '"run"))\n        todo.append(("record", f"r{k}", "in"))\n',
                    ),
                ),
                "such a wait waits for nothing",
            ),
            Mutant(
                "the host waits",
                changed(PIECES, ('("wait", f"c{k}", "out")', '("wait", f"c{k}")')),
                "it takes 96 µs, and 66 are possible",
            ),
            Mutant(
                "waits for one place",
                changed(PIECES, ("slots}", "1}"), (">= slots", ">= 1")),
                "Who waits for something that it does not need?",
            ),
            Mutant(
                "the event records too early",
                changed(
                    PIECES,
                    (
                        '        todo.append(("compute", k, "run"))\n        todo.append(("record", f"c{k}", "run"))\n',
                        '        todo.append(("record", f"c{k}", "run"))\n        todo.append(("compute", k, "run"))\n',
                    ),
                ),
                "recorded behind compute 0, before it does write 0",
            ),
            Mutant(
                "the last piece not written",
                changed(
                    PIECES,
                    (
                        '        todo.append(("write", k, "out"))\n',
                        '        if k < pieces - 1:\n            todo.append(("write", k, "out"))\n',
                    ),
                ),
                "nobody asks for write 0",
            ),
            Mutant(
                "pieces from 1", changed(PIECES, ("range(pieces)", "range(1, pieces + 1)")), "nobody asks for read 0"
            ),
            Mutant(
                "one piece too many",
                changed(PIECES, ("range(pieces)", "range(pieces + 1)")),
                "is asked for; there are 1 pieces",
            ),
            Mutant("no stream", changed(PIECES, ('("read", k, "in")', '("read", k)')), "needs a stream"),
            Mutant("no return", changed(PIECES, ("    return todo\n", "")), "Is there a return?"),
            Mutant(
                "a misspelt stage",
                changed(PIECES, ('"compute"', '"calculate"')),
                "it begins with none of read, compute, write",
            ),
        ),
    ),
    Key(
        "16.4",
        (Part("more pieces", 1, plain((12,), (20,))), Part("few pieces", 1, plain((1,), (4,), (5,)))),
        (
            Mutant(
                "only the default stream mended",
                changed(FLOWING, ('("wait", f"c{k}", "out")', '("synchronize", "run")')),
                "it takes 74 µs, and 54 are possible",
            ),
            Mutant("only the synchronisation mended", changed(FLOWING, ('"out"', "0")), "it takes 90 µs"),
            Mutant(
                "the wait left out",
                changed(FLOWING, ('        todo.append(("wait", f"c{k}", "out"))\n', "")),
                "write 0 reads output[0], which compute 0 writes",
            ),
            Mutant(
                "writes in the computing stream",
                changed(FLOWING, ('        todo.append(("wait", f"c{k}", "out"))\n', ""), ('"out"', '"run"')),
                "it takes 70 µs, and 54 are possible",
            ),
            Mutant(
                "the record stays behind",
                changed(FLOWING, ('("record", f"w{k}", "out")', '("record", f"w{k}", "run")')),
                "compute 3 writes output[0], which write 0 reads",
            ),
            Mutant(
                "synchronises everything",
                changed(FLOWING, ('("wait", f"c{k}", "out")', '("synchronize",)')),
                "it takes 74 µs, and 54 are possible. Busy: in 41%",
            ),
        ),
        untouched="it takes 90 µs, and 54 are possible",
    ),
    Key(
        "16.5",
        (Part("more batches", 1, plain((12,), (21,))), Part("few batches", 1, plain((1,), (2,), (4,), (5,)))),
        (
            Mutant(
                "the host waits",
                changed(BATCHES, ('("wait", f"t{k - 2}", "copies")', '("synchronize",)')),
                "it takes 74 µs",
            ),
            Mutant(
                "waits for the step before",
                changed(BATCHES, ('f"t{k - 2}", "copies"', 'f"t{k - 1}", "copies"')),
                "it takes 74 µs, and 70 are possible",
            ),
            Mutant(
                "the wrong stream waits",
                changed(BATCHES, ('f"t{k - 2}", "copies"', 'f"t{k - 2}", "steps"')),
                "copy 2 writes batch[0], which train 0 reads",
            ),
            Mutant(
                "waits behind the copy",
                changed(
                    BATCHES,
                    (
                        '        if k >= 2:\n            todo.append(("wait", f"t{k '
                        '- 2}", "copies"))\n        todo.append(("copy", k, "copies"))\n',
                        '        todo.append(("copy", '
                        'k, "copies"))\n        if k >= 2:\n            todo.append(("wait", f"t{k - 2}", "copies"))\n',
                    ),
                ),
                "The stream 'copies' must wait for an event that is recorded behind train 0",
            ),
            Mutant(
                "gathers too early",
                changed(BATCHES, ('        if k >= 2:\n            todo.append(("wait", f"c{k - 2}"))\n', "")),
                "gather 2 writes host[0], which copy 0 reads",
            ),
            Mutant("one stream for all", changed(BATCHES, ('"copies"', '"steps"')), "it takes 78 µs"),
            Mutant(
                "trains before the copy",
                changed(BATCHES, ('        todo.append(("wait", f"c{k}", "steps"))\n', "")),
                "train 0 reads batch[0], which copy 0 writes",
            ),
            Mutant("the default stream", changed(BATCHES, ('"copies"', "0")), "it takes 78 µs, and 70 are possible"),
        ),
        untouched="copy 3 writes batch[1], which train 1 reads",
    ),
    Key(
        "16.6",
        (
            Part(
                "other orders",
                1,
                plain(
                    (
                        [
                            ("new", 3),
                            ("overwrite", 4),
                            ("record",),
                            ("replay",),
                            ("overwrite", 5),
                            ("replay",),
                            ("new", 6),
                            ("overwrite", 7),
                            ("replay",),
                        ],
                    ),
                    ([("new", 1), ("record",), ("record",), ("new", 2), ("record",), ("overwrite", 8), ("replay",)],),
                ),
            ),
            Part(
                "edge cases",
                1,
                plain(
                    ([("new", 5)],),
                    ([("new", 5), ("record",)],),
                    ([("new", 2), ("new", 9), ("record",), ("overwrite", 4), ("new", 1), ("replay",)],),
                ),
            ),
        ),
        (
            Mutant(
                "follows the name",
                changed(TRAINED, ("seen.append(arrays[graph])", "seen.append(arrays[x])")),
                "A graph does not follow the name x",
            ),
            Mutant(
                "the first run left out",
                changed(TRAINED, ("            seen.append(arrays[x])\n", "")),
                "runs the step once for real",
            ),
            Mutant(
                "keeps the numbers",
                changed(TRAINED, ("graph = x", "graph = len(arrays)\n            arrays.append(arrays[x])")),
                "gpu.overwrite changes the numbers in the array",
            ),
            Mutant(
                "overwrite makes a new array",
                changed(
                    TRAINED, ("arrays[x] = action[1]", "arrays.append(action[1])\n            x = len(arrays) - 1")
                ),
                "the next replay reads them there",
            ),
            Mutant(
                "overwrites the graph's",
                changed(TRAINED, ("arrays[x] = action[1]", "arrays[x if graph is None else graph] = action[1]")),
                "expected",
            ),
        ),
    ),
    Key(
        "16.7",
        (
            Part("deeper networks", 1, plain((operations_of(3), 12), (operations_of(6), 24))),
            Part(
                "edge cases",
                1,
                plain(
                    ([("a", "map", (3,), [])], 1),
                    ([("a", "map", (3,), []), ("b", "map", (3,), ["a"])], 1),
                    (
                        [
                            ("a", "product", (2, 2), []),
                            ("b", "sum", (2,), ["a"]),
                            ("c", "map", (2, 2), ["a", "b"]),
                            ("d", "sum", (2, 2), ["c"]),
                        ],
                        4,
                    ),
                ),
            ),
        ),
        (
            Mutant(
                "a launch each",
                """
def fuse(operations, most):
    return [[name] for name, kind, shape, needs in operations]
""",
                "these are 5 launches; 2 are enough",
            ),
            Mutant(
                "all in one",
                """
def fuse(operations, most):
    return [[name for name, kind, shape, needs in operations]]
""",
                "a product must be the first of its launch",
            ),
            Mutant(
                "joins the first that it needs",
                changed(
                    FUSE, ("max([where[n] for n in needs] + [0])", "min([where[n] for n in needs] + [len(result)])")
                ),
                "which needs b, and that is not there yet",
            ),
            Mutant(
                "only the launch before",
                changed(FUSE, ("range(first, len(result))", "range(max(first, len(result) - 1), len(result))")),
                "launches; 8 are enough",
            ),
            Mutant(
                "shapes left out",
                changed(FUSE, ("if shape_of[result[k][0]] == tuple(shape)", "if True")),
                "launch 2: centred is (8, 8) and total is (8,)",
            ),
            Mutant(
                "sums join too",
                changed(FUSE, ('kind == "map"', 'kind != "product"')),
                "a sum must be the first of its launch",
            ),
            Mutant(
                "updates left out",
                changed(
                    FUSE,
                    (
                        "    return result\n",
                        '    return [[n for n in launch if n not in ("W2", "W1", "b2", "b1")] for launch in result]\n',
                    ),
                ),
                "is in no launch",
            ),
            Mutant(
                "names, not launches",
                changed(FUSE, ("    return result\n", "    return [launch[0] for launch in result]\n")),
                "the result must be a list of launches",
            ),
            Mutant(
                "numbers of operations",
                changed(FUSE, ("result[fits[0]].append(name)", "result[fits[0]].append(len(where))")),
                "none of the step's operations",
            ),
            Mutant("no return", changed(FUSE, ("    return result\n", "")), "Is there a return?"),
        ),
    ),
    Key(
        "16.8",
        (
            Part("other batches", 1, batches((2, 33, 3), (1, 130, 4), (4, 20, 7))),
            Part("edge cases", 1, batches((1, 1, 1), (3, 1, 2), (2, 64, 1))),
        ),
        (
            Mutant(
                "every row an atomic",
                changed(
                    TALLY, ("    step = 16\n", "    step = 0\n"), ("if cuda.laneid == 0:", "if row < losses.size:")
                ),
                "atomic rounds; at most",
            ),
            Mutant(
                "every lane adds the warp", changed(TALLY, ("if cuda.laneid == 0:", "if row >= 0:")), "totals[0] is"
            ),
            Mutant(
                "stores, does not add",
                changed(
                    TALLY,
                    ("cuda.atomic.add(totals, 0, hit)", "totals[0] = hit"),
                    ("cuda.atomic.add(totals, 1, loss)", "totals[1] = loss"),
                ),
                "totals",
            ),
            Mutant(
                "adds without an atomic",
                changed(
                    TALLY,
                    ("cuda.atomic.add(totals, 0, hit)", "totals[0] += hit"),
                    ("cuda.atomic.add(totals, 1, loss)", "totals[1] += loss"),
                ),
                "totals[0], which",
            ),
            Mutant("the last of equals", changed(TALLY, ("score > top", "score >= top")), "Of equal scores the first"),
            Mutant(
                "exchanged",
                changed(TALLY, ("totals, 0, hit", "totals, 0, loss"), ("totals, 1, loss", "totals, 1, hit")),
                "have changed places",
            ),
            Mutant("wrong rows", changed(TALLY, ("best == labels", "best != labels")), "Wrong rows were counted"),
            Mutant(
                "shuffles in the guard",
                changed(
                    TALLY,
                    (
                        "    step = 16\n    while step > 0:\n        hit",
                        "    step = 16\n    while step > 0 and row < losses.size:\n        hit",
                    ),
                ),
                "shfl_down_sync",
            ),
            Mutant(
                "no guard",
                changed(TALLY, ("if row < losses.size:", "if row >= 0:")),
                "on losses, which has 45 elements",
            ),
            Mutant("stops early", changed(TALLY, ("step > 0", "step > 1")), "totals["),
            Mutant(
                "scores loaded twice",
                changed(
                    TALLY,
                    (
                        "            if score > top:\n                best, top = c, score\n",
                        "            if scores[row, c] > scores[row, best]:\n                best, top = c, score\n",
                    ),
                ),
                "global loads; at most",
            ),
            Mutant("float64", changed(TALLY, ("else float32(0)", "else 0.0")), "float64 operations"),
            Mutant(
                "begins at the second class",
                changed(TALLY, ("best, top = 0, scores[row, 0]", "best, top = 0, float32(0)")),
                "expected",
            ),
        ),
    ),
    Key(
        "16.9",
        (
            Part("other parameters", 1, parameters((25, 6, 100, 4, 31), (64, 64), (7, 7, 7))),
            Part("edge cases", 1, parameters((1,), (1, 1, 1), (130,))),
        ),
        (
            Mutant("no momentum", changed(UPDATE, ("momentum * v[i] - ", "-")), "Momentum is missing"),
            Mutant("uphill", changed(UPDATE, ("- lr * (", "+ lr * (")), "goes uphill"),
            Mutant(
                "the first decay for all", changed(UPDATE, ("decays[p]", "decays[0]")), "the decay of the first one"
            ),
            Mutant("no decay", changed(UPDATE, (" + decays[p] * before", "")), "No parameter decays"),
            Mutant("one off", changed(UPDATE, ("starts[p + 1] <= i", "starts[p] <= i")), "index 4 on decays"),
            Mutant("one too far", changed(UPDATE, ("<= i:", "< i:")), "w["),
            Mutant(
                "a block belongs to one parameter",
                changed(UPDATE, ("starts[p + 1] <= i", "starts[p + 1] <= i - cuda.threadIdx.x")),
                "expected",
            ),
            Mutant("v not kept", changed(UPDATE, ("        v[i] = move\n", "")), "w[0] is 0.515625, expected"),
            Mutant("w not updated", changed(UPDATE, ("        w[i] = before + move\n", "")), "numbers are wrong"),
            Mutant("no guard", changed(UPDATE, ("if i < w.size:", "if i >= 0:")), "does not come to an end"),
            Mutant(
                "loads all starts",
                changed(
                    UPDATE,
                    (
                        "        p = 0\n        while starts[p + 1] <= i:\n            p += 1\n",
                        "        p = 0\n        for q in range(starts.size - 1):\n            if starts[q] <= i and "
                        "i < starts[q + 1]:\n                p = q\n",
                    ),
                ),
                "global loads; at most",
            ),
            Mutant(
                "columns of threads",
                changed(UPDATE, ("i = cuda.grid(1)", "i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
                "global store sectors; at most",
            ),
            Mutant("float64", changed(UPDATE, ("momentum * v[i]", "1.0 * momentum * v[i]")), "float64 operations"),
        ),
    ),
)
