"""The key of lesson 17: hidden cases, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, pairs, plain
from course_lib.grading.keys import Key, Mutant, Part

LIMITS = """def limits(exponent_bits, fraction_bits):
    bias = 2 ** (exponent_bits - 1) - 1
    step = 2.0**-fraction_bits
    largest = 2.0**bias * (2 - step)
    normal = 2.0 ** (1 - bias)
    smallest = normal * step
    return largest, normal, smallest, step"""

ROUND = """def to_bf16(x):
    bits = x.view(np.uint32)
    last = (bits >> 16) & 1
    return ((bits + 0x7FFF + last) & 0xFFFF0000).view(np.float32)"""

HOLDER = """def holder(row, k):
    lane = 4 * (row % 8) + k % 8 // 2
    register = row // 8 + 2 * (k // 8)
    half = k % 2
    return lane, register, half"""

PRODUCTS = """def three_products(A, B):
    a, b = round_to(A, "bf16"), round_to(B, "bf16")
    c, d = round_to(A - a, "bf16"), round_to(B - b, "bf16")
    return c @ b + a @ d + a @ b"""

STEP = """def scaled_step(w, scaled, scale, good, lr, grow_after):
    if not np.isfinite(scaled).all():
        return w, scale / 2, 0
    moved = w - lr * (scaled / scale)
    good += 1
    if good == grow_after:
        scale, good = 2 * scale, 0
    return moved, scale, good"""

PRUNE = """def prune(w):
    fours = w.reshape(-1, 4, w.shape[1])
    limit = np.sort(np.abs(fours), axis=1)[:, 2:3]
    return np.where(np.abs(fours) >= limit, fours, 0).reshape(w.shape)"""

BEAT = """def beat(moving, sums, entering, B):
    new = np.column_stack([entering, moving[:, :-1]])
    above = np.vstack([np.zeros(B.shape[1]), sums[:-1]])
    return new, above + new * B"""

TILES = """
@gpu.jit
def tensor_product(A, B, C):
    lane = cuda.laneid
    g, k0 = lane // 4, 2 * (lane % 4)
    top, left = 16 * cuda.blockIdx.y, 8 * cuda.blockIdx.x
    acc = (float32(0), float32(0), float32(0), float32(0))
    for start in range(0, A.shape[1], 16):
        k = start + k0
        p = to_bf16_pair(A[top + g, k], A[top + g, k + 1])
        q = to_bf16_pair(A[top + g + 8, k], A[top + g + 8, k + 1])
        r = to_bf16_pair(A[top + g, k + 8], A[top + g, k + 9])
        s = to_bf16_pair(A[top + g + 8, k + 8], A[top + g + 8, k + 9])
        u = to_bf16_pair(B[k, left + g], B[k + 1, left + g])
        v = to_bf16_pair(B[k + 8, left + g], B[k + 9, left + g])
        acc = mma_bf16((p, q, r, s), (u, v), acc)
    i, j = top + g, left + k0
    C[i, j], C[i, j + 1], C[i + 8, j], C[i + 8, j + 1] = acc
"""


def _numbers(count):
    """Random float32 of many sizes, halves among them."""

    def cases(rng):
        wide = rng.uniform(-1, 1, count) * 2.0 ** rng.integers(-120, 120, count)
        halves = (rng.integers(128, 256, count) + 0.5) * 2.0 ** rng.integers(-20, 20, count)
        return [Case((x.astype(np.float32),)) for x in (wide, halves, -halves)]

    return cases


def _matrices(*shapes):
    return lambda rng: [
        Case(tuple(rng.uniform(-1, 1, s).astype(np.float32) for s in ((M, K), (K, N)))) for M, K, N in shapes
    ]


def _steps(*settings):
    def cases(rng):
        found = []
        for n, bad, scale, good, grow_after in settings:
            w, g = rng.normal(size=(2, n))
            g = g * scale
            if bad is not None:
                g[rng.integers(n)] = bad
            found.append(Case((w, g, scale, good, 0.25, grow_after)))
        return found

    return cases


def _weights(*shapes):
    return lambda rng: [Case((rng.permutation(np.prod(s)).reshape(s) - np.prod(s) / 2.5,)) for s in shapes]


def _grids(*shapes):
    return lambda rng: [
        Case((rng.normal(size=(K, N)), rng.normal(size=(K, N)), rng.normal(size=K), rng.normal(size=(K, N))))
        for K, N in shapes
    ]


KEYS = (
    Key(
        "17.1",
        (
            Part("other formats", 1, plain((5, 7), (4, 3), (6, 8))),
            Part("the smallest formats", 1, plain((2, 1), (3, 1))),
        ),
        (
            Mutant(
                "highest exponent",
                changed(LIMITS, ("2.0**bias * (2", "2.0 ** (bias + 1) * (2")),
                "means infinity and NaN",
            ),
            Mutant("a power of two", changed(LIMITS, (" * (2 - step)", "")), "a fraction of ones only"),
            Mutant(
                "E = 0",
                changed(LIMITS, ("2.0 ** (1 - bias)", "2.0**-bias"), ("normal * step", "2 * normal * step")),
                "the smallest with all digits has E = 1",
            ),
            Mutant("no subnormals", changed(LIMITS, ("normal * step", "normal")), "go on below it, down to one step"),
            Mutant("f - 1 bits", changed(LIMITS, ("smallest, step", "smallest, 2 * step")), "The step after 1 is 2^-f"),
            Mutant(
                "half a step", changed(LIMITS, ("smallest, step", "smallest, step / 2")), "how far rounding may be off"
            ),
            Mutant(
                "other order", changed(LIMITS, ("normal, smallest", "smallest, normal")), "the smallest with all digits"
            ),
            Mutant(
                "no bias",
                changed(LIMITS, ("2 ** (exponent_bits - 1) - 1", "2 ** (exponent_bits - 1)")),
                "the largest number",
            ),
        ),
    ),
    Key(
        "17.2",
        (Part("many numbers", 2, _numbers(200)), Part("a few numbers", 1, _numbers(3))),
        (
            Mutant("cut", changed(ROUND, ("bits + 0x7FFF + last", "bits")), "were cut off, without rounding"),
            Mutant("halves up", changed(ROUND, ("0x7FFF + last", "0x8000")), "away from zero"),
            Mutant("halves down", changed(ROUND, ("0x7FFF + last", "0x7FFF")), "toward zero"),
            Mutant("to odd", changed(ROUND, ("0x7FFF + last", "0x8000 - last")), "Halves go to the odd one"),
            Mutant(
                "FP16",
                "def to_bf16(x):\n    with np.errstate(over='ignore'):\n        return x.astype(np.float16)"
                ".astype(np.float32)",
                "That is FP16",
            ),
            Mutant(
                "seven decimals",
                "def to_bf16(x):\n    return np.round(x, 2).astype(np.float32)",
                "result[1] is 1.00999999",
            ),
            Mutant("the library's", 'def to_bf16(x):\n    return round_to(x, "bf16")', "uses round_to"),
            Mutant("nothing", "def to_bf16(x):\n    return x", "7 of 8 numbers are wrong"),
        ),
    ),
    Key(
        "17.3",
        (
            Part("the upper half of A", 1, plain(*((row, k) for row in range(8) for k in range(16)))),
            Part("the lower half of A", 1, plain(*((row, k) for row in range(8, 16) for k in range(16)))),
        ),
        (
            Mutant("turned", changed(HOLDER, ("holder(row, k)", "holder(k, row)")), "Row and k have changed places"),
            Mutant("four bytes", changed(HOLDER, ("k % 8 // 2", "k % 4")), "the layout for four-byte numbers"),
            Mutant(
                "registers 1 and 2",
                changed(HOLDER, ("row // 8 + 2 * (k // 8)", "2 * (row // 8) + k // 8")),
                "Registers 1 and 2",
            ),
            Mutant("halves", changed(HOLDER, ("half = k % 2", "half = 1 - k % 2")), "in the lower half, 0"),
            Mutant("all rows", changed(HOLDER, ("4 * (row % 8)", "4 * row")), "belong to the same lanes"),
            Mutant("no register", changed(HOLDER, ("row // 8 + 2 * (k // 8)", "0")), "the register"),
            Mutant("fractions", changed(HOLDER, ("k % 8 // 2", "k % 8 / 2")), "the lane"),
        ),
    ),
    Key(
        "17.4",
        (Part("other shapes", 1, _matrices((4, 9, 3), (7, 16, 5))), Part("single numbers", 1, _matrices((1, 1, 1)))),
        (
            Mutant("one product", changed(PRODUCTS, ("c @ b + a @ d + ", "")), "Only the large parts"),
            Mutant("no small A", changed(PRODUCTS, ("c @ b + ", "")), "The rest of A is missing"),
            Mutant("no small B", changed(PRODUCTS, ("a @ d + ", "")), "The rest of B is missing"),
            Mutant("no large", changed(PRODUCTS, (" + a @ b", "")), "The product of the large parts is missing"),
            Mutant("minus", changed(PRODUCTS, ("A - a", "a - A")), "result[0, 0] is 0.0150718708"),
            Mutant(
                "the library's",
                "from course_lib.lesson import split_products\n\ndef three_products(A, B):\n    return "
                'split_products(A, B, "bf16", 2)[0]',
                "uses split_products",
            ),
        ),
    ),
    Key(
        "17.5",
        (
            Part("good steps", 1, _steps((4, None, 8.0, 0, 5), (1, None, 1024.0, 4, 5), (3, None, 0.5, 9, 10))),
            Part("bad steps", 1, _steps((4, np.inf, 8.0, 0, 5), (2, np.nan, 4.0, 4, 5), (3, -np.inf, 2.0, 2, 100))),
        ),
        (
            Mutant("not unscaled", changed(STEP, ("(scaled / scale)", "scaled")), "not divided by the scale"),
            Mutant(
                "new scale",
                changed(
                    STEP,
                    ("    moved = w - lr * (scaled / scale)\n", ""),
                    ("    return moved", "    moved = w - lr * (scaled / scale)\n    return moved"),
                ),
                "divided by the new scale",
            ),
            Mutant(
                "stepped all the same",
                changed(
                    STEP, ("        return w, scale / 2, 0", "        return w - lr * (scaled / scale), scale / 2, 0")
                ),
                "A step with an infinite gradient was made",
            ),
            Mutant("count goes on", changed(STEP, ("scale / 2, 0", "scale / 2, good")), "After an overflow the count"),
            Mutant(
                "count after doubling",
                changed(STEP, ("scale, good = 2 * scale, 0", "scale = 2 * scale")),
                "After doubling, the count",
            ),
            Mutant("one late", changed(STEP, ("good == grow_after", "good > grow_after")), "This step counts too"),
            Mutant("not halved", changed(STEP, ("scale / 2", "scale")), "The scale is halved"),
            Mutant("doubled", changed(STEP, ("scale / 2", "2 * scale")), "it was too large already"),
            Mutant(
                "only infinity",
                changed(STEP, ("not np.isfinite(scaled).all()", "np.isinf(scaled).all()")),
                "There are NaN or infinite values",
            ),
            Mutant("uphill", changed(STEP, ("w - lr", "w + lr")), "the weights[0] is 1.4"),
        ),
    ),
    Key(
        "17.6",
        (Part("other shapes", 1, _weights((8, 3), (16, 8), (12, 5))), Part("a single four", 1, _weights((4, 1)))),
        (
            Mutant(
                "along rows",
                "def prune(w):\n    if w.shape[1] % 4:\n        return w\n    fours = w.reshape(w.shape[0], -1, 4)\n"
                "    limit = np.sort(np.abs(fours), axis=2)[:, :, 2:3]\n    return np.where(np.abs(fours) >= limit, "
                "fours, 0).reshape(w.shape)",
                "result[0, 0] is 1, expected 0; 4 of 8",
            ),
            Mutant("smallest kept", changed(PRUNE, (">= limit", "< limit")), "The two smallest were kept"),
            Mutant(
                "signs",
                "def prune(w):\n    fours = w.reshape(-1, 4, w.shape[1])\n    limit = np.sort(fours, axis=1)"
                "[:, 2:3]\n    return np.where(fours >= limit, fours, 0).reshape(w.shape)",
                "with their signs",
            ),
            Mutant("one of four", changed(PRUNE, ("2:3", "3:4")), "Only the largest of each four"),
            Mutant("three of four", changed(PRUNE, ("2:3", "1:2")), "2 of 8 numbers are wrong"),
            Mutant(
                "half of all",
                "def prune(w):\n    limit = np.sort(np.abs(w), axis=None)[w.size // 2]\n    return "
                "np.where(np.abs(w) >= limit, w, 0)",
                "The smaller half of all",
            ),
            Mutant(
                "half of a column",
                "def prune(w):\n    limit = np.sort(np.abs(w), axis=0)[w.shape[0] // 2]\n    return "
                "np.where(np.abs(w) >= limit, w, 0)",
                "The smaller half of each column",
            ),
            Mutant(
                "sizes",
                changed(PRUNE, ("limit, fours, 0", "limit, np.abs(fours), 0")),
                "result[0, 1] is 8, expected -8",
            ),
            Mutant("the mask", changed(PRUNE, ("limit, fours, 0", "limit, 1, 0")), "result[0, 1] is 1, expected -8"),
        ),
    ),
    Key(
        "17.7",
        (Part("other grids", 1, _grids((3, 4), (5, 2))), Part("a row and a column", 1, _grids((1, 3), (4, 1), (1, 1)))),
        (
            Mutant("old numbers", changed(BEAT, ("new * B", "moving * B")), "first move, then multiply"),
            Mutant("own sums", changed(BEAT, ("above + new", "sums + new")), "Sums move down"),
            Mutant(
                "roll",
                changed(BEAT, ("np.vstack([np.zeros(B.shape[1]), sums[:-1]])", "np.roll(sums, 1, axis=0)")),
                "a roll brings it round",
            ),
            Mutant(
                "roll to the right",
                changed(BEAT, ("np.column_stack([entering, moving[:, :-1]])", "np.roll(moving, 1, axis=1)")),
                "What enters is missing",
            ),
            Mutant("stayed", changed(BEAT, ("moving[:, :-1]", "moving[:, 1:]")), "here they stayed"),
            Mutant("no weights", changed(BEAT, ("new * B", "new")), "the sums[0, 1] is 1, expected 2"),
            Mutant(
                "turned", changed(BEAT, ("return new, above + new * B", "return above + new * B, new")), "what moves"
            ),
        ),
    ),
    Key(
        "17.8",
        (
            Part("other shapes", 2, pairs(((16, 64), (64, 16)), ((48, 16), (16, 8)), ((32, 48), (48, 40)))),
            Part("smallest", 1, pairs(((16, 16), (16, 8)))),
        ),
        (
            Mutant(
                "first 16 of K", changed(TILES, ("range(0, A.shape[1], 16)", "range(0, 16, 16)")), "Only the first 16"
            ),
            Mutant(
                "sum begins anew",
                changed(TILES, ("(u, v), acc)", "(u, v), (float32(0), float32(0), float32(0), float32(0)))")),
                "Only the last 16",
            ),
            Mutant("first rows", changed(TILES, ("A[top + ", "A[")), "Every block has the first tile of A"),
            Mutant("first columns", changed(TILES, ("left + g]", "g]")), "Every block has the first tile of B"),
            Mutant("registers 1 and 2", changed(TILES, ("(p, q, r, s)", "(p, r, q, s)")), "register 2 has k + 8"),
            Mutant(
                "halves",
                changed(TILES, ("A[top + g, k], A[top + g, k + 1]", "A[top + g, k + 1], A[top + g, k]")),
                "63 of 128 numbers are wrong",
            ),
            Mutant(
                "B by rows",
                changed(
                    TILES,
                    ("B[k, left + g], B[k + 1, left + g]", "B[start + g, left + k0], B[start + g, left + k0 + 1]"),
                ),
                "C[0, 0] is -28",
            ),
            Mutant(
                "half a warp",
                changed(TILES, ("        acc = mma", "        if lane < 16:\n            acc = mma")),
                "mma_bf16 for lane 16",
            ),
            Mutant(
                "sums in columns",
                changed(
                    TILES,
                    (
                        "C[i, j], C[i, j + 1], C[i + 8, j], C[i + 8, j + 1]",
                        "C[i, j], C[i + 8, j], C[i, j + 1], C[i + 8, j + 1]",
                    ),
                ),
                "C[0, 1] is",
            ),
            Mutant(
                "without tensor cores",
                """
@gpu.jit
def tensor_product(A, B, C):
    lane = cuda.laneid
    for n in range(lane, 128, 32):
        i, j = 16 * cuda.blockIdx.y + n // 8, 8 * cuda.blockIdx.x + n % 8
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[i, k] * B[k, j]
        C[i, j] = acc
""",
                "4096 global loads; at most 384",
            ),
            Mutant(
                "x and y exchanged",
                changed(
                    TILES, ("16 * cuda.blockIdx.y, 8 * cuda.blockIdx.x", "16 * cuda.blockIdx.x, 8 * cuda.blockIdx.y")
                ),
                "on axis 0 of A",
            ),
            Mutant(
                "two rows a lane",
                changed(TILES, ("C[i + 8, j], C[i + 8, j + 1]", "C[i + 1, j], C[i + 1, j + 1]")),
                "C[1, 0]",
            ),
        ),
    ),
)
