"""The key of lesson 19: hidden cases, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""


from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, plain
from course_lib.grading.keys import Key, Mutant, Part

SIZES = """def sizes(rows, columns, group):
    across = -(-columns // group[0])
    down = -(-rows // group[1])
    x, y = across * group[0], down * group[1]
    idle = x * y - rows * columns
    return (x, y), (across, down), idle"""

TILE = """def largest_tile(group, local_bytes, arrays):
    T = 1
    while (2 * T) ** 2 <= group and 4 * arrays * (2 * T) ** 2 <= local_bytes:
        T = 2 * T
    return T"""

EARLY = """def too_early(reads, width):
    written = reads // width
    own = np.arange(reads.size) // width
    return np.flatnonzero(written > own)"""

ENDS = """def ends(seconds, after, in_order):
    done = []
    for i, took in enumerate(seconds):
        start = max((done[j] for j in after[i]), default=0.0)
        if in_order and i > 0:
            start = max(start, done[i - 1])
        done.append(start + took)
    return np.array(done)"""

MISSING = """def missing(reads, writes, after):
    waits = []
    for direct in after:
        known = set(direct)
        for k in direct:
            known |= waits[k]
        waits.append(known)
    pairs = []
    for i in range(len(after)):
        for j in range(i + 1, len(after)):
            first = set(writes[i]) & set(reads[j])
            both = set(writes[i]) & set(writes[j])
            back = set(reads[i]) & set(writes[j])
            if (first or both or back) and i not in waits[j]:
                pairs.append((i, j))
    return pairs"""

CUT = """def cut(images, seconds, fixed, grain):
    tried = []
    for n in range(0, images + 1, grain):
        one = fixed[0] + n * seconds[0] if n else 0.0
        two = fixed[1] + (images - n) * seconds[1] if n < images else 0.0
        tried.append((max(one, two), n))
    took, n = min(tried)
    return n, took"""


def _turns(*settings):
    """Permutations and repeated places, (work-items, width) each."""

    def cases(rng):
        found = []
        for n, width in settings:
            found.append(Case((rng.permutation(n), width)))
            found.append(Case((rng.integers(0, n, n), width)))
        return found

    return cases


def _commands(rng, count, most):
    """Return after: for each command a few earlier ones, in any order."""
    after = []
    for i in range(count):
        few = rng.choice(i, size=min(i, int(rng.integers(0, most + 1))), replace=False) if i else []
        after.append([int(j) for j in few])
    return after


def _queues(*counts, in_order):
    def cases(rng):
        found = []
        for count in counts:
            seconds = [float(s) for s in rng.integers(1, 20, count)]
            found.append(Case((seconds, _commands(rng, count, 3), in_order)))
        return found

    return cases


def _buffers(*counts):
    def cases(rng):
        found = []
        for count in counts:
            names = ["a", "b", "c", "d"]
            reads = [sorted({str(n) for n in rng.choice(names, int(rng.integers(0, 3)))}) for _ in range(count)]
            writes = [[str(rng.choice(names))] for _ in range(count)]
            found.append(Case((reads, writes, _commands(rng, count, 2))))
        return found

    return cases


_LONG = ([["a"], ["a", "b"], ["b"], ["c"], ["a", "c"]], [["b"], ["c"], ["a"], ["b"], ["d"]])

KEYS = (
    Key(
        "19.1",
        (
            Part("ragged arrays", 1, plain((7, 13, (4, 2)), (33, 65, (16, 16)), (1, 1, (8, 8)), (100, 3, (1, 64)))),
            Part("sizes that divide", 1, plain((64, 32, (8, 16)), (16, 16, (16, 1)))),
        ),
        (
            Mutant(
                "rows along x",
                changed(SIZES, ("sizes(rows, columns, group)", "sizes(columns, rows, group)")),
                "x counts columns, and comes first",
            ),
            Mutant(
                "groups counted", changed(SIZES, ("return (x, y), ", "return (across, down), ")), "counts work-items"
            ),
            Mutant(
                "threads counted",
                changed(SIZES, ("(x, y), (across, down)", "(x, y), (x, y)")),
                "The grid counts blocks",
            ),
            Mutant(
                "rounded down",
                changed(
                    SIZES,
                    ("-(-columns // group[0])", "columns // group[0]"),
                    ("-(-rows // group[1])", "rows // group[1]"),
                ),
                "rounds down",
            ),
            Mutant(
                "the array's size",
                changed(SIZES, ("return (x, y)", "return (columns, rows)")),
                "a multiple of the local",
            ),
            Mutant(
                "one too many",
                changed(
                    SIZES,
                    ("-(-columns // group[0])", "columns // group[0] + 1"),
                    ("-(-rows // group[1])", "rows // group[1] + 1"),
                ),
                "where the size divides, none is missing",
            ),
            Mutant("all of them", changed(SIZES, ("x * y - rows * columns", "x * y")), "the number of all work-items"),
            Mutant(
                "the library's",
                "from course_lib.opencl.operations import round_up\n\n"
                + changed(SIZES, ("-(-columns // group[0])", "round_up(columns, group[0]) // group[0]")),
                "uses round_up",
            ),
        ),
    ),
    Key(
        "19.2",
        (
            Part("other devices", 1, plain((512, 2**16, 2), (1024, 48 * 1024, 3), (64, 2**14, 1), (2048, 8192, 1))),
            Part("what just fits", 1, plain((256, 2048, 2), (1, 4, 1), (16, 128, 2))),
        ),
        (
            Mutant(
                "no limit of a group",
                changed(TILE, ("(2 * T) ** 2 <= group and ", "")),
                "work-items in a group was not",
            ),
            Mutant(
                "no limit of memory",
                changed(TILE, (" and 4 * arrays * (2 * T) ** 2 <= local_bytes", "")),
                "Local memory was not",
            ),
            Mutant("one tile", changed(TILE, ("4 * arrays * ", "4 * ")), "Only one tile was counted"),
            Mutant("numbers, not bytes", changed(TILE, ("4 * arrays", "arrays")), "A float32 has four bytes"),
            Mutant("T work-items", changed(TILE, ("(2 * T) ** 2 <= group", "2 * T <= group")), "a group has T x T"),
            Mutant(
                "less than", changed(TILE, ("<= group", "< group"), ("<= local", "< local")), "at most, not less than"
            ),
            Mutant("one too far", changed(TILE, ("return T", "return 2 * T")), "does not fit any more"),
            Mutant(
                "no power of two",
                "def largest_tile(group, local_bytes, arrays):\n"
                "    T = 1\n"
                "    while (T + 1) ** 2 <= group and 4 * arrays * (T + 1) ** 2 <= local_bytes:\n"
                "        T += 1\n"
                "    return T",
                "18",
            ),
        ),
    ),
    Key(
        "19.3",
        (
            Part("one at a time", 1, _turns((12, 1), (1, 1))),
            Part("several at a time", 2, _turns((64, 32), (30, 4), (9, 2), (16, 16))),
        ),
        (
            Mutant(
                "one by one",
                changed(
                    EARLY, ("reads // width", "reads"), ("np.arange(reads.size) // width", "np.arange(reads.size)")
                ),
                "The width was not looked at",
            ),
            Mutant(
                "earlier turns", changed(EARLY, ("written > own", "written < own")), "the later turns are the trouble"
            ),
            Mutant(
                "same turn too",
                changed(EARLY, ("written > own", "written >= own")),
                "of the same turn has been written",
            ),
            Mutant(
                "the places",
                changed(EARLY, ("np.flatnonzero(written > own)", "reads[written > own]")),
                "These are the places",
            ),
            Mutant(
                "true or false",
                changed(EARLY, ("np.flatnonzero(written > own)", "written > own")),
                "asked for are their numbers",
            ),
            Mutant(
                "how many",
                changed(EARLY, ("np.flatnonzero(written > own)", "int(np.sum(written > own))")),
                "how many there are",
            ),
            Mutant(
                "turns that slide",
                "def too_early(reads, width):\n    return np.flatnonzero(reads >= np.arange(reads.size) + width)",
                "A turn begins at a multiple",
            ),
            Mutant(
                "half a width",
                changed(EARLY, ("own = np.arange(reads.size) // width", "own = np.arange(reads.size) // (2 * width)")),
                "too_early(",
            ),
        ),
    ),
    Key(
        "19.4",
        (
            Part("out of order", 1, _queues(6, 9, 1, in_order=False)),
            Part("in order", 1, _queues(5, 8, in_order=True)),
            Part("many commands", 1, _queues(40, in_order=False)),
        ),
        (
            Mutant(
                "starts",
                changed(
                    ENDS,
                    (
                        "done.append(start + took)",
                        "done.append(start + took)\n    done = [d - s for d, s in zip(done, seconds)]",
                    ),
                ),
                "These are the starts",
            ),
            Mutant(
                "never in order", changed(ENDS, ("if in_order and i > 0", "if False")), "also waits for the one ahead"
            ),
            Mutant(
                "always in order", changed(ENDS, ("if in_order and i > 0", "if i > 0")), "waits only for what it names"
            ),
            Mutant(
                "nobody waits", changed(ENDS, ("max((done[j] for j in after[i]), default=0.0)", "0.0")), "Nobody waits"
            ),
            Mutant(
                "last named",
                changed(ENDS, ("for j in after[i])", "for j in after[i][-1:])")),
                "until the last of them has ended",
            ),
            Mutant(
                "sum",
                changed(ENDS, ("max((done[j] for j in after[i]), default=0.0)", "sum(done[j] for j in after[i])")),
                "not the sum",
            ),
            Mutant(
                "first to end", changed(ENDS, ("start = max((done", "start = min((done")), "it must wait for the latest"
            ),
            Mutant("only the end", changed(ENDS, ("np.array(done)", "max(done)")), "asked for is the end of each"),
        ),
    ),
    Key(
        "19.5",
        (
            Part("few commands", 2, _buffers(2, 3, 4, 4)),
            Part("many commands", 2, lambda rng: [Case((*_LONG, [[], [], [0], [2], [1]])), *_buffers(9, 14)(rng)]),
        ),
        (
            Mutant(
                "no detours",
                changed(MISSING, ("            known |= waits[k]\n", "            pass\n")),
                "waits for A as well",
            ),
            Mutant(
                "no write after read",
                changed(MISSING, ("first or both or back", "first or both")),
                "still reads must wait",
            ),
            Mutant(
                "no write after write",
                changed(MISSING, ("first or both or back", "first or back")),
                "write the same buffer must",
            ),
            Mutant(
                "only read after write", changed(MISSING, ("first or both or back", "first")), "There are two more ways"
            ),
            Mutant(
                "reads meet",
                changed(
                    MISSING,
                    ("back = set(reads[i]) & set(writes[j])", "back = set(reads[i]) & set(reads[j] + writes[j])"),
                ),
                "do not disturb each other",
            ),
            Mutant("those that wait", changed(MISSING, (" and i not in waits[j]", "")), "no mistakes; leave them out"),
            Mutant(
                "later first",
                changed(MISSING, ("pairs.append((i, j))", "pairs.append((j, i))")),
                "stands first in a pair",
            ),
            Mutant(
                "neighbours only",
                changed(MISSING, ("range(i + 1, len(after))", "range(i + 1, min(i + 2, len(after)))")),
                "missing(",
            ),
        ),
    ),
    Key(
        "19.6",
        (
            Part("without fixed times", 1, plain((60, (0.5, 0.25), (0.0, 0.0), 10), (32, (1.0, 1.0), (0.0, 0.0), 16))),
            Part(
                "with fixed times",
                2,
                plain(
                    (60, (0.5, 0.25), (3.0, 1.0), 1),
                    (48, (0.1, 1.0), (0.0, 6.0), 8),
                    (48, (2.0, 1.0), (60.0, 0.5), 8),
                    (10, (1.0, 1.0), (2.0, 2.0), 10),
                ),
            ),
        ),
        (
            Mutant("sum", changed(CUT, ("max(one, two)", "one + two")), "Were the times added up?"),
            Mutant(
                "no fixed times",
                changed(CUT, ("fixed[0] + ", ""), ("fixed[1] + ", "")),
                "before it begins was left out",
            ),
            Mutant(
                "always paid",
                changed(CUT, (" if n else 0.0", ""), (" if n < images else 0.0", "")),
                "not even its fixed time",
            ),
            Mutant("single images", changed(CUT, ("images + 1, grain)", "images + 1)")), "The grain was left out"),
            Mutant("the faster part", changed(CUT, ("max(one, two)", "min(one, two)")), "when the slower part does"),
            Mutant(
                "the other part",
                changed(CUT, ("return n, took", "return images - n, took")),
                "the second device's part",
            ),
            Mutant(
                "formula",
                "def cut(images, seconds, fixed, grain):\n"
                "    n = (fixed[1] + seconds[1] * images - fixed[0]) / sum(seconds)\n"
                "    n = min(images, max(0, round(n / grain) * grain))\n"
                "    one = fixed[0] + n * seconds[0] if n else 0.0\n"
                "    two = fixed[1] + (images - n) * seconds[1] if n < images else 0.0\n"
                "    return n, max(one, two)",
                "The nearest whole piece is not always the best",
            ),
            Mutant(
                "all to one",
                changed(CUT, ("range(0, images + 1, grain)", "(0, images)")),
                "All of it went to the faster device",
            ),
            Mutant(
                "the library's",
                "from course_lib.opencl import best_share\n\n"
                "def cut(images, seconds, fixed, grain):\n"
                "    best = best_share(images * seconds[0], images * seconds[1], *fixed)\n"
                "    return round(best.first * images / grain) * grain, best.seconds",
                "uses best_share",
            ),
        ),
    ),
)
