"""The key of lesson 11: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, pairs, plain, sizes, whole
from course_lib.grading.keys import Key, Mutant, Part

ADD = """
@gpu.jit
def guarded_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
"""

LEAKY = """
@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]
"""

ROW_SUM = """
@gpu.jit
def row_sum(x, s):
    r = cuda.grid(1)
    if r < x.shape[0]:
        acc = float32(0)
        for j in range(x.shape[1]):
            acc += x[r, j]
        s[r] = acc
"""

BRIGHTEN = """
@gpu.jit
def brighten(image, gain, out):
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        out[row, column] = gain * image[row, column]
"""

LAUNCH = """
def launch_for(rows, columns):
    block_x, block_y = 32, 8
    grid_x = (columns + block_x - 1) // block_x
    grid_y = (rows + block_y - 1) // block_y
    return (grid_x, grid_y), (block_x, block_y)
"""

PASSES = """
def warp_passes(takes):
    passes = 0
    for k in range(-(-len(takes) // 32)):
        w = takes[32 * k : 32 * k + 32]
        passes += len(np.unique(w))
    return passes, 32 * passes - len(takes)
"""

NUMBER = """
TILE = 4

@gpu.jit
def number_tiles(y):
    across = (y.shape[2] + 3) // 4
    i, j, tile = cuda.threadIdx.y, cuda.threadIdx.x, cuda.blockIdx.y
    h = tile // across * 4 + i
    w = tile % across * 4 + j
    if h < y.shape[1] and w < y.shape[2]:
        y[cuda.blockIdx.x, h, w] = 16 * tile + 4 * i + j
"""

ALTERNATE = """
@gpu.jit
def alternate(a, b, y):
    lane = cuda.threadIdx.x % 32
    odd = cuda.threadIdx.x // 32
    i = 64 * cuda.blockIdx.x + 2 * lane + odd
    if odd == 0:
        y[i] = a[i] + float32(1)
    else:
        y[i] = b[i] * float32(2)
"""


def images(*shapes, gain=2):
    """Return cases(rng) of an image each, with a gain. No errors. Source: the course's own."""
    return sizes(*shapes, more=(np.float32(gain),))


def choices(*threads):
    """Return cases(rng) of truth values for so many threads, mixed in some warps only. No errors.

    Source: the course's own.
    """

    def cases(rng):
        warps = [rng.integers(0, 3, -(-n // 32)) for n in threads]  # all of them, none, some
        drawn = [rng.integers(0, 2, n) for n in threads]
        kinds = [np.repeat(w, 32)[:n] for w, n in zip(warps, threads, strict=True)]
        return [Case((np.where(k == 2, d, k) == 1,)) for k, d in zip(kinds, drawn, strict=True)]

    return cases


LEAKY_PARTS = (
    Part("other sizes", 1, sizes((1,), (127,), (129,), (998,), (999,), more=(np.float32(0.5),))),
    Part("other slopes", 1,
         lambda rng: [Case((whole(rng, 200), np.float32(s))) for s in (0.0, 2.0, -0.5)]),
)  # fmt: skip

KEYS = (
    Key(
        "11.1",
        (Part("other sizes", 1, pairs(((64,), (64,)), ((200,), (200,)))),
         Part("one element", 1, pairs(((1,), (1,))))),
        (
            Mutant("no guard", changed(ADD, ("    if i < c.size:\n    ", "")),
                   "uses index 5 on a, which has 5 elements (0 to 4)"),
            Mutant("guard with <=", changed(ADD, ("<", "<=")), "thread 5 of block 0 uses index 5"),
            Mutant("last element left out", changed(ADD, ("c.size", "c.size - 1")), "(no thread wrote it)"),
            Mutant("thread's number in its block", changed(ADD, ("cuda.grid(1)", "cuda.threadIdx.x")),
                   "does the index tell all threads of the grid apart"),
            Mutant("block times threads forgotten",
                   changed(ADD, ("cuda.grid(1)", "cuda.blockIdx.x + cuda.threadIdx.x")),
                   "thread 0 of block 1 writes c[1]"),
            Mutant("hard-coded size", changed(ADD, ("c.size", "130")), "Guard the line: if ... < a.size"),
            Mutant("one thread does it all", changed(ADD, ("    i = cuda.grid(1)\n    if i < c.size:\n    ",
                   "    if cuda.grid(1) > 0:\n        return\n    for i in range(c.size):\n    ")),
                   "5 global store requests; at most 2"),
            Mutant("every thread does it all", changed(ADD, ("i = cuda.grid(1)\n    if i < c.size:",
                   "for i in range(c.size):")), "thread 1 of block 0 writes c[0], which thread 0 of the same block"),
            Mutant("not decorated", changed(ADD, ("@gpu.jit\n", "")), "write @gpu.jit in the line above its def"),
            Mutant("writes into a", changed(ADD, ("c[i] =", "a[i] =")), "a is read-only"),
            Mutant("NumPy in the kernel", changed(ADD, ("a[i] + b[i]", "np.add(a[i], b[i])")), "np is not defined"),
        ),
    ),
    Key(
        "11.2", LEAKY_PARTS,
        (
            Mutant("no loop", changed(LEAKY, ("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):",
                                              "i = cuda.grid(1)\n    if i < x.size:")), "y[128] is nan"),
            Mutant("three turns", changed(LEAKY, ("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):",
                   "for i in range(cuda.grid(1), min(x.size, 3 * cuda.gridsize(1)), cuda.gridsize(1)):")),
                   "leaky_relu on a hidden case returns wrong numbers: some of y is never written"),
            Mutant("a constant for the step", changed(LEAKY, ("cuda.gridsize(1)", "128")), "y[96] is nan"),
            Mutant("one thread does it all", changed(LEAKY, ("    for i", "    if cuda.grid(1) > 0:\n        return\n"
                   "    for i"), ("cuda.gridsize(1)", "1")), "5 global store requests"),
            Mutant("steps by one block", changed(LEAKY, ("cuda.gridsize(1)", "cuda.blockDim.x")), "writes y["),
            Mutant("float64 literal", changed(LEAKY, ("slope * x[i]", "slope * x[i] * 1.0")), "float64 operations"),
            Mutant("slope on the wrong side", changed(LEAKY, ("> 0", "<= 0")), "The slope belongs to the negative"),
            Mutant("no slope", changed(LEAKY, ("slope * x[i]", "float32(0)")), "that is ReLU without a slope"),
            Mutant("larger of the two", """
@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = max(x[i], slope * x[i])
""", "right for slopes below 1 only"),
            Mutant("the product's sign for that of x", changed(LEAKY, ("if x[i] > 0:", "if slope * x[i] > 0:")),
                   "(slope 0): y[3] is 0, expected 0.5"),
            Mutant("two halves added up", """
@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = max(x[i], float32(0)) + min(slope * x[i], float32(0))
""", "(slope -0.5): y[0] is 0, expected 1.5"),
            Mutant("hard-coded slope", changed(LEAKY, ("slope *", "float32(0.25) *")),
                   "y[2] is -2.25, expected -1.125"),
        ),
    ),
    Key(
        "11.3",
        (Part("other shapes", 1, sizes((1, 1), (33, 1), (64, 100), (2, 300))), Part("one row", 1, sizes((1, 130)))),
        (
            Mutant("no guard", changed(ROW_SUM, ("if r < x.shape[0]:", "if r >= 0:")), "on axis 0 of x, which has 3"),
            Mutant("rows and columns exchanged", changed(ROW_SUM, ("x[r, j]", "x[j, r]")),
                   "index 3 on axis 0 of x, which has 3 elements"),
            Mutant("length from the grid", changed(ROW_SUM, ("range(x.shape[1])",
                   "range(min(x.shape[1], cuda.gridsize(1)))")), "as large as whoever launches wants it"),
            Mutant("adds into s", changed(ROW_SUM, ("        acc = float32(0)\n", ""), ("acc +=", "s[r] +="),
                   ("        s[r] = acc\n", "")), "s[0], which nobody has written yet"),
            Mutant("adds into s, after a zero", changed(ROW_SUM, ("acc = float32(0)", "s[r] = float32(0)"),
                   ("acc +=", "s[r] +="), ("        s[r] = acc\n", "")),
                   "costs 27 global stores; at most 3 are allowed. An element of s is stored 9.0 times on average."),
            Mutant("stores in every turn", changed(ROW_SUM, ("        s[r] = acc", "            s[r] = acc")),
                   "costs 24 global stores; at most 3"),
            Mutant("a whole number to begin with", changed(ROW_SUM, ("float32(0)", "0")),
                   "Begin acc with float32(0) in line 6"),
            Mutant("Python's sum", changed(ROW_SUM, ("        acc = float32(0)\n        for j in range(x.shape[1]):\n"
                   "            acc += x[r, j]\n        s[r] = acc", "        s[r] = sum(x[r])")),
                   "in a variable that begins with float32(0), instead of by sum()"),
            Mutant("one thread does it all", """
@gpu.jit
def row_sum(x, s):
    if cuda.grid(1) > 0:
        return
    for r in range(x.shape[0]):
        acc = float32(0)
        for j in range(x.shape[1]):
            acc += x[r, j]
        s[r] = acc
""", "24 global load requests; at most 16"),
            Mutant("as many columns as rows", changed(ROW_SUM, ("range(x.shape[1])", "range(x.shape[0])")),
                   "As many columns were added up as there are rows"),
            Mutant("float64 sum", changed(ROW_SUM, ("float32(0)", "0.")), "float64 operations"),
            Mutant("hard-coded columns", changed(ROW_SUM, ("range(x.shape[1])", "range(min(x.shape[1], 130))")),
                   "row_sum on a hidden case returns wrong numbers"),
            Mutant("last column left out", changed(ROW_SUM, ("x.shape[1]", "x.shape[1] - 1")),
                   "The last column is missing"),
            Mutant("store in the loop's else", changed(ROW_SUM, ("        s[r] = acc", "        s[j] = acc")),
                   "writes s["),
        ),
    ),
    Key(
        "11.4",
        (Part("other images", 1, plain((33, 31), (480, 640), (7, 1000), (640, 480))),
         Part("one pixel, one row, one column", 1, plain((1, 1), (1, 3_000_000), (500_000, 1)))),
        (
            Mutant("x counts rows", changed(LAUNCH, ("(grid_x, grid_y), (block_x, block_y)",
                   "((rows + 31) // 32, (columns + 7) // 8), (32, 8)")), "it counts columns"),
            Mutant("rounds down", changed(LAUNCH, ("(columns + block_x - 1) //", "max(1, columns // block_x); 0 //")),
                   "reach 288 of 300 columns. Round the number of blocks up"),
            Mutant("rounds down along y", changed(LAUNCH, ("(rows + block_y - 1) // block_y",
                   "max(1, rows // block_y)")), "reach 96 of 100 rows. Round the number of blocks up"),
            Mutant("one block too many", changed(LAUNCH, ("(columns + block_x - 1) // block_x",
                   "columns // block_x + 1")), "along x, the last one has none of 64 columns"),
            Mutant("one block too many along y", changed(LAUNCH, ("(rows + block_y - 1) // block_y",
                   "rows // block_y + 1")), "along y, the last one has none of 64 rows"),
            Mutant("64 x 32 threads", changed(LAUNCH, ("32, 8", "64, 32")), "has 2048 threads; at most 1,024"),
            Mutant("20 x 20 threads", changed(LAUNCH, ("32, 8", "20, 20")), "whole warps are a multiple of 32"),
            Mutant("one row a block", changed(LAUNCH, ("32, 8", "256, 1")), "300000 blocks along y"),
            Mutant("as large as the image", changed(LAUNCH, ("32, 8", "columns, rows")), "has 30000 threads"),
            Mutant("fractions", changed(LAUNCH, ("+ block_x - 1) //", ") /")), "/ makes one"),
            Mutant("only the grid", changed(LAUNCH, ("(grid_x, grid_y), (block_x, block_y)", "grid_x, grid_y")),
                   "the result must be ((blocks along x"),
            Mutant("nothing returned", changed(LAUNCH, ("return ", "launch = ")), "Is there a return?"),
        ),
    ),
    Key(
        "11.5",
        (Part("other images", 1, images((9, 70), (70, 9), (33, 65))),
         Part("one row, one column", 1, images((1, 50), (50, 1), gain=3))),
        (
            Mutant("only the guard is mended", changed(BRIGHTEN, ("column, row =", "row, column =")),
                   "Nobody wrote out[32, 0]"),
            Mutant("only the axes are mended", changed(BRIGHTEN, ("shape[1]", "shape[0]")),
                   "line 6, out[row, column] = gain * image[row, column]: thread (8, 0) of block (1, 0) uses index 24"),
            Mutant("no guard for rows", changed(BRIGHTEN, ("row < image.shape[0] and ", "")),
                   "uses index 21 on axis 0 of image"),
            Mutant("axes exchanged in the store too", changed(BRIGHTEN, ("out[row, column]", "out[column, row]")),
                   "on axis 1 of out"),
            Mutant("gain in float64", changed(BRIGHTEN, ("gain *", "gain * 1.0 *")),
                   "float64 operations"),
            Mutant("threads of a warp walk down", """
@gpu.jit
def brighten(image, gain, out):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = tx + 16 * ty
    row, column = cuda.blockIdx.y * 8 + t % 8, cuda.blockIdx.x * 16 + t // 8
    if row < image.shape[0] and column < image.shape[1]:
        out[row, column] = gain * image[row, column]
""", "global load sectors"),
        ),
        untouched="Guard the line: if ... < image.shape[1]",
    ),
    Key(
        "11.6",
        (Part("other threads", 1, choices(128, 1024, 200)), Part("less than a warp", 1, choices(1, 31, 33, 7))),
        (
            Mutant("the whole block", changed(PASSES, ("len(np.unique(w))", "len(np.unique(takes))")),
                   "Each warp decides for itself"),
            Mutant("always both sides", changed(PASSES, ("len(np.unique(w))", "2")), "walks one side only"),
            Mutant("only one side is counted", changed(PASSES, ("len(np.unique(w))", "int(w.any())")),
                   "the number of passes is 2, expected 4"),
            Mutant("whole warps only", changed(PASSES, ("-(-len(takes) // 32)", "len(takes) // 32")),
                   "A warp that is not full is a warp too"),
            Mutant("missing lanes are not idle", changed(PASSES, ("32 * passes - len(takes)",
                   "32 * (passes + len(takes) // -32)")), "its missing lanes are idle too"),
            Mutant("busy lanes", changed(PASSES, ("32 * passes - len(takes)", "len(takes)")),
                   "the number of idle slots is 40, expected 24"),
            Mutant("warps of 16", changed(PASSES, ("// 32", "// 16"), ("32 * k : 32 * k + 32", "16 * k : 16 * k + 16")),
                   "the number of passes is 8, expected 4"),
            Mutant("only the passes", changed(PASSES, (", 32 * passes - len(takes)", "")),
                   "expected 2 values (the number of passes, the number of idle slots)"),
        ),
    ),
    Key(
        "11.7",
        (Part("other maps", 1, plain((3, 12, 4), (1, 9, 14), (2, 4, 13))),
         Part("one element, one row", 1, plain((1, 1, 1), (2, 1, 10), (1, 10, 1)))),
        (
            Mutant("no guard", changed(NUMBER, ("if h < y.shape[1] and w < y.shape[2]:", "if h >= 0:")),
                   "uses index 5 on axis 1 of y"),
            Mutant("tiles rounded down", changed(NUMBER, ("(y.shape[2] + 3) // 4", "max(1, y.shape[2] // 4)")),
                   "no thread wrote it"),
            Mutant("tiles of a column", changed(NUMBER, ("(y.shape[2] + 3)", "(y.shape[1] + 3)")),
                   "y[0, 0, 8] is -1"),
            Mutant("tile row and column exchanged", changed(NUMBER, ("tile // across", "tile ? across"),
                   ("tile % across", "tile // across"), ("tile ? across", "tile % across")),
                   "y[0, 0, 4] is 32, expected 16"),
            Mutant("threads exchanged", changed(NUMBER, ("* 4 + i\n", "* 4 + k\n"), ("* 4 + j\n", "* 4 + i\n"),
                   ("* 4 + k\n", "* 4 + j\n")), "threadIdx.y counts rows"),
            Mutant("two tiles in a row, as in the example", changed(NUMBER, ("(y.shape[2] + 3) // 4", "2")),
                   "Nobody wrote y[0, 0, 8]"),
            Mutant("the tile's number only", changed(NUMBER, (" + 4 * i + j", "")), "the thread's place in it"),
            Mutant("maps along y, tiles along x", changed(NUMBER, ("cuda.blockIdx.y", "cuda.blockIdx.x", ),
                   ("y[cuda.blockIdx.x", "y[cuda.blockIdx.y")), "on axis 0 of y"),
        ),
    ),
    Key(
        "11.8",
        (Part("other sizes", 1, pairs(((128,), (128,)), ((640,), (640,)))),
         Part("many blocks", 1, pairs(((1024,), (1024,))))),
        (
            Mutant("every warp divided", """
@gpu.jit
def alternate(a, b, y):
    i = cuda.grid(1)
    if i % 2 == 0:
        y[i] = a[i] + float32(1)
    else:
        y[i] = float32(2) * b[i]
""", "Line 5: threads of one warp go both ways at if i % 2 == 0, and the warp pays"),
            Mutant("a conditional expression", """
@gpu.jit
def alternate(a, b, y):
    i = cuda.grid(1)
    y[i] = a[i] + float32(1) if i % 2 == 0 else float32(2) * b[i]
""", "costs 2 divergent branches; at most 0"),
            Mutant("both formulas", """
@gpu.jit
def alternate(a, b, y):
    i = cuda.grid(1)
    odd = float32(i % 2)
    y[i] = (float32(1) - odd) * (a[i] + float32(1)) + odd * float32(2) * b[i]
""", "costs 128 global loads; at most 64"),
            Mutant("elements not dealt anew", changed(ALTERNATE, ("64 * cuda.blockIdx.x + 2 * lane + odd",
                   "cuda.grid(1)")), "The formula follows the warp now, but the elements do not"),
            Mutant("formulas exchanged", changed(ALTERNATE, ("odd == 0", "odd == 1")), "have changed places"),
            Mutant("both warps even", changed(ALTERNATE, ("2 * lane + odd", "2 * lane")), "writes y[0]"),
            Mutant("block forgotten", changed(ALTERNATE, ("64 * cuda.blockIdx.x + ", "")), "of block 1 writes y["),
            Mutant("runs beyond the block", changed(ALTERNATE, ("2 * lane + odd", "2 * cuda.threadIdx.x + odd")),
                   "on b, which has 64 elements"),
            Mutant("a number in float64", changed(ALTERNATE, ("float32(2)", "2.0")), "float64 operations"),
        ),
    ),
)  # fmt: skip
