"""The key of lesson 13: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, plain, sizes, whole
from course_lib.grading.keys import Key, Mutant, Part

LIVE = """
def live_warps(threads, order):
    result, step = [], 1
    while step < threads:
        distance = step if order == "neighbours" else threads // 2 // step
        adding = range(0, threads, 2 * distance) if order == "neighbours" else range(distance)
        result.append(len({t // 32 for t in adding}))
        step *= 2
    return result
"""

GRID_SUM = """
@gpu.jit
def grid_sum(x, total):
    acc = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    step = 16
    while step > 0:
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, acc)
"""

BLOCK_SUM = """
WIDTH = 128

@gpu.jit
def block_sum(x, sums):
    part = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    distance = WIDTH // 2
    while distance > 0:
        cuda.syncthreads()
        if t < distance:
            part[t] += part[t + distance]
        distance //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
"""

BLOCK_MAX = changed(
    BLOCK_SUM, ("block_sum", "block_max"), ("sums", "out"), ("else float32(0)", "else -float32(math.inf)"),
    ("part[t] += part[t + distance]", "part[t] = max(part[t], part[t + distance])"),
)  # fmt: skip

FUSED = """
@gpu.jit
def fused(z, bias, slope, factor, out):
    j, i = cuda.grid(2)
    if i < z.shape[0] and j < z.shape[1]:
        v = z[i, j] + bias[j]
        v = v if v > 0 else slope * v
        out[i, j] = factor * v
"""

ROW_LOSSES = """
@gpu.jit(device=True)
def warp_max(v):
    for step in (16, 8, 4, 2, 1):
        v = max(v, cuda.shfl_xor_sync(0xFFFFFFFF, v, step))
    return v

@gpu.jit
def row_losses(z, labels, loss):
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < z.shape[0]:
        a = z[row, lane] if lane < z.shape[1] else -float32(math.inf)
        b = z[row, lane + 32] if lane + 32 < z.shape[1] else -float32(math.inf)
        top = warp_max(max(a, b))
        total = math.exp(a - top) + math.exp(b - top)
        for k in range(5):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16 >> k)
        label = labels[row]
        if lane == label % 32:
            logit = a if label < 32 else b
            loss[row] = math.log(total) - (logit - top)
"""

POOL = """
@gpu.jit
def max_pool(x, size, stride, pad, y, mask):
    H, W = x.shape[1], x.shape[2]
    for n in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        j = n % y.shape[2]
        i = n // y.shape[2] % y.shape[1]
        c = n // (y.shape[2] * y.shape[1])
        top, left = i * stride - pad, j * stride - pad
        best = -float32(math.inf)
        place = -1
        for row in range(max(top, 0), min(top + size, H)):
            for column in range(max(left, 0), min(left + size, W)):
                if x[c, row, column] > best:
                    best = x[c, row, column]
                    place = row * W + column
        y[c, i, j] = best
        mask[c, i, j] = place
"""

SQUARES = """
FOUR = 4
THREADS = 64

@gpu.jit
def square_sums(x, sums):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for k in range(FOUR):
        i = cuda.blockIdx.x * 256 + 64 * k + t
        if i < x.size:
            v = x[i]
            acc += v * v
    part[t] = acc
    distance = THREADS // 2
    while distance > 0:
        cuda.syncthreads()
        if t < distance:
            part[t] += part[t + distance]
        distance //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
"""


def layers(*shapes, slope=0.25, factor=2.0):
    """Return cases(rng) of numbers (N, F), a bias, a slope and a factor. No errors. Source: the course's own."""
    return lambda rng: [
        Case((whole(rng, *shape), whole(rng, shape[1]), np.float32(slope), np.float32(factor))) for shape in shapes
    ]


def logits(*shapes, low=-8, high=8, scale=0.5, rising=False):
    """Return cases(rng) of logits (N, C), rising in each row or not, and labels (N,). No errors.

    Source: the course's own.
    """

    def case(rng, rows, classes):
        z = whole(rng, rows, classes, low=low, high=high) * np.float32(scale)
        return Case((np.sort(z, axis=1) if rising else z, rng.integers(0, classes, rows).astype(np.int32)))

    return lambda rng: [case(rng, *shape) for shape in shapes]


def pooled(*shapes, low=-9, high=9):
    """Return cases(rng) of maps, each shape followed by size, stride and padding. No errors.

    Source: the course's own.
    """
    return lambda rng: [Case((whole(rng, *shape[:3], low=low, high=high), *shape[3:])) for shape in shapes]


KEYS = (
    Key(
        "13.1",
        (Part("other blocks", 1, plain((1024, "neighbours"), (1024, "halves"), (64, "neighbours"), (128, "halves"))),
         Part("a warp and less", 1, plain((32, "neighbours"), (32, "halves"), (2, "halves"), (4, "neighbours"),
                                          (16, "halves")))),
        (
            Mutant("a fraction of a warp", changed(LIVE, ("len({t // 32 for t in adding})", "len(adding) / 32")),
                   "The threads that add were divided by 32"),
            Mutant("fractions rounded up", changed(LIVE, ("len({t // 32 for t in adding})",
                   "np.ceil(len(adding) / 32)")), "The numbers are right, but they are floats"),
            Mutant("threads instead of warps", changed(LIVE, ("len({t // 32 for t in adding})", "len(adding)")),
                   "These are the threads that add"),
            Mutant("lanes packed", changed(LIVE, ("len({t // 32 for t in adding})", "-(-len(adding) // 32)")),
                   "is enough to keep its warp at work"),
            Mutant("halves the wrong way round", changed(LIVE, ("threads // 2 // step", "step")),
                   "begin with the largest"),
            Mutant("last step missing", changed(LIVE, ("step < threads", "2 * step < threads")),
                   "The last step is missing"),
            Mutant("one step more", changed(LIVE, ("step < threads", "step <= threads")), "4 values, expected 3"),
            Mutant("warps rounded down", changed(LIVE, ("len({t // 32 for t in adding})",
                   "len({t // 32 for t in adding}) if threads >= 32 else 0")), "has a warp all the same"),
            Mutant("the sum of all steps", changed(LIVE, ("return result", "return sum(result)")),
                   "result is a whole number, expected a list"),
            Mutant("t % step", changed(LIVE, ("threads, 2 * distance", "threads, distance")),
                   "result[5] is 4, expected 2"),
            Mutant("warps of 16", changed(LIVE, ("// 32", "// 16")), "result[0] is 2, expected 1"),
        ),
    ),
    Key(
        "13.2",
        (Part("other sizes", 1, sizes((1000,), (999,), (96,), (161,))),
         Part("few elements", 1, sizes((1,), (2,), (31,)))),
        (
            Mutant("an atomic addition for each element", """
@gpu.jit
def grid_sum(x, total):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(total, 0, x[i])
""", "300 atomic rounds; at most 5 are allowed"),
            Mutant("an atomic addition for each thread", """
@gpu.jit
def grid_sum(x, total):
    acc = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    cuda.atomic.add(total, 0, acc)
""", "160 atomic rounds; at most 5 are allowed. Line 7: lanes of a warp"),
            Mutant("no atomic operation", changed(GRID_SUM, ("cuda.atomic.add(total, 0, acc)", "total[0] += acc")),
                   "total[0], which"),
            Mutant("a store", changed(GRID_SUM, ("cuda.atomic.add(total, 0, acc)", "total[0] = acc")),
                   "writes total[0], which"),
            Mutant("every lane adds", changed(GRID_SUM, ("    if cuda.laneid == 0:\n    ", "")),
                   "the sum of the warp is in lane 0 alone"),
            Mutant("first block only", changed(GRID_SUM, ("cuda.laneid == 0", "cuda.grid(1) == 0")),
                   "Only the first block has added"),
            Mutant("no loop", changed(GRID_SUM, ("for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):",
                   "i = cuda.grid(1)\n    if i < x.size:")), "Only as many elements as there are threads"),
            Mutant("begins at 8", changed(GRID_SUM, ("step = 16", "step = 8")), "Half of each warp is missing"),
            Mutant("stops early", changed(GRID_SUM, ("step > 0", "step > 1")), "The shuffles stop one step too early"),
            Mutant("no shuffles", changed(GRID_SUM, ("    while step > 0:\n        acc += cuda.shfl_down_sync("
                   "0xFFFFFFFF, acc, step)\n        step //= 2\n", "")), "were the values shuffled?"),
            Mutant("shuffle in the branch", changed(GRID_SUM, ("        acc += cuda.shfl", "        if cuda.laneid < "
                   "step:\n            acc += cuda.shfl")), "shfl_down_sync"),
            Mutant("sum in float64", changed(GRID_SUM, ("float32(0)", "0.0")), "float64 operations"),
            Mutant("atomics forgotten", changed(GRID_SUM, ("cuda.atomic.add(total, 0, acc)", "acc = acc")),
                   "no thread added to it"),
        ),
    ),
    Key(
        "13.3",
        (Part("other sizes", 1, sizes((256,), (129,), (1000,))), Part("few elements", 1, sizes((1,), (2,), (65,)))),
        (
            Mutant("no barrier", changed(BLOCK_SUM, ("        cuda.syncthreads()\n", "")),
                   "thread 0 of block 0 reads part[64], which"),
            Mutant("one barrier before the loop", changed(BLOCK_SUM, ("        cuda.syncthreads()\n", ""),
                   ("    distance = WIDTH", "    cuda.syncthreads()\n    distance = WIDTH")),
                   "with no barrier between"),
            Mutant("barrier in the branch", changed(BLOCK_SUM, ("        cuda.syncthreads()\n", ""),
                   ("if t < distance:\n", "if t < distance:\n            cuda.syncthreads()\n")),
                   "does not come to this barrier"),
            Mutant("nothing beyond the end", changed(BLOCK_SUM, ("    part[t] = x[i] if i < x.size else float32(0)",
                   "    if i < x.size:\n        part[t] = x[i]")), "which nobody has written yet"),
            Mutant("no guard", changed(BLOCK_SUM, (" if i < x.size else float32(0)", "")), "index 300 on x"),
            Mutant("stops early", changed(BLOCK_SUM, ("distance > 0", "distance > 1")), "one step too early"),
            Mutant("begins at a quarter", changed(BLOCK_SUM, ("WIDTH // 2", "WIDTH // 4")), "Half of each block"),
            Mutant("all threads write", changed(BLOCK_SUM, ("    if t == 0:\n    ", "    cuda.syncthreads()\n")),
                   "writes sums[0], which thread 0"),
            Mutant("one thread alone", """
@gpu.jit
def block_sum(x, sums):
    part = cuda.shared.array(WIDTH, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if t == 0:
        acc = float32(0)
        for k in range(WIDTH):
            acc += part[k]
        sums[cuda.blockIdx.x] = acc
""", "128 shared load requests; at most 64"),
            Mutant("neighbours first", changed(BLOCK_SUM, ("distance = WIDTH // 2", "distance = 1"),
                   ("distance > 0", "distance < WIDTH"), ("if t < distance:", "if t % (2 * distance) == 0:"),
                   ("distance //= 2", "distance *= 2")), "24 divergent branches; at most 8 are allowed. Line 13: "
                   "threads of one warp go both ways at if t % (2 * distance) == 0"),
            Mutant("atomics in shared memory", """
@gpu.jit
def block_sum(x, sums):
    part = cuda.shared.array(1, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        part[0] = float32(0)
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(part, 0, x[i])
    cuda.syncthreads()
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
""", "block_sum uses atomic"),
            Mutant("never ends", changed(BLOCK_SUM, ("        distance //= 2\n", "")), "does not come to an end"),
        ),
    ),
    Key(
        "13.4",
        (Part("other sizes", 1, sizes((256,), (129,), (1000,), low=-9999, high=-9000)),
         Part("few elements", 1, sizes((1,), (2,), (65,), low=-99, high=-1))),
        (
            Mutant("barrier left out", changed(BLOCK_MAX, ("        cuda.syncthreads()\n", "")),
                   "thread 0 of block 0 reads part[64], which"),
            Mutant("one barrier before the loop", changed(BLOCK_MAX, ("        cuda.syncthreads()\n", ""),
                   ("    distance = WIDTH", "    cuda.syncthreads()\n    distance = WIDTH")),
                   "with no barrier between"),
            Mutant("barrier in the branch, as it was", changed(BLOCK_MAX, ("        cuda.syncthreads()\n", ""),
                   ("if t < distance:\n", "if t < distance:\n            cuda.syncthreads()\n")),
                   "of block 0 does not come to this barrier"),
            Mutant("barrier behind the branch only", changed(BLOCK_MAX, ("        cuda.syncthreads()\n", ""),
                   ("        distance //=", "        cuda.syncthreads()\n        distance //=")),
                   "reads part["),
            Mutant("zero beyond the end", changed(BLOCK_MAX, ("-float32(math.inf)", "float32(0)")),
                   "Minus infinity is the number that changes no maximum"),
            Mutant("a thousand beyond the end", changed(BLOCK_MAX, ("-float32(math.inf)", "float32(-1000)")),
                   "block_max on a hidden case returns wrong numbers"),
            Mutant("begins at a quarter", changed(BLOCK_MAX, ("WIDTH // 2", "WIDTH // 4")), "Half of each block"),
            Mutant("no guard", changed(BLOCK_MAX, (" if i < x.size else -float32(math.inf)", "")), "index 300 on x"),
            Mutant("all threads write", changed(BLOCK_MAX, ("    if t == 0:\n    ", "    cuda.syncthreads()\n")),
                   "writes out[0], which thread 0"),
            Mutant("threads leave", changed(BLOCK_MAX, ("    part[t] = x[i] if i < x.size else -float32(math.inf)",
                   "    if i >= x.size:\n        return\n    part[t] = x[i]")), "which nobody has written yet"),
        ),
        untouched="thread 1 of block 0 does not come to this barrier",
    ),
    Key(
        "13.5",
        (Part("other shapes", 1, layers((1, 1), (33, 70), (8, 128))), Part("other numbers", 1,
         layers((7, 35), slope=1.5, factor=-2.0))),
        (
            Mutant("three passes by way of out", """
@gpu.jit
def fused(z, bias, slope, factor, out):
    j, i = cuda.grid(2)
    if i < z.shape[0] and j < z.shape[1]:
        out[i, j] = z[i, j] + bias[j]
        out[i, j] = out[i, j] if out[i, j] > 0 else slope * out[i, j]
        out[i, j] = factor * out[i, j]
""", "costs 600 global loads; at most 240"),
            Mutant("z loaded twice", changed(FUSED, ("v if v > 0", "v if z[i, j] + bias[j] > 0")),
                   "costs 480 global loads; at most 240"),
            Mutant("stored twice", changed(FUSED, ("        v = v if", "        out[i, j] = v\n        v = v if")),
                   "240 global stores; at most 120"),
            Mutant("no guard for the columns", changed(FUSED, (" and j < z.shape[1]", "")), "on axis 1 of z"),
            Mutant("axes exchanged", changed(FUSED, ("j, i =", "i, j =")), "no thread wrote it"),
            Mutant("bias of the row", changed(FUSED, ("bias[j]", "bias[i]")), "out[0, 1] is"),
            Mutant("no bias", changed(FUSED, (" + bias[j]", "")), "The bias is missing"),
            Mutant("bias after the activation", changed(FUSED, (" + bias[j]", ""), ("slope * v\n",
                   "slope * v\n        v += bias[j]\n")), "The bias was added after leaky ReLU"),
            Mutant("factor first", changed(FUSED, ("z[i, j] + bias", "factor * z[i, j] + bias"),
                   ("= factor * v", "= v")), "the factor comes last"),
            Mutant("factor forgotten", changed(FUSED, ("= factor * v", "= v")), "The factor is missing"),
            Mutant("factor for positive ones", changed(FUSED, ("= factor * v", "= v"), ("= v if", "= factor * v if")),
                   "Only positive numbers were scaled"),
            Mutant("no slope", changed(FUSED, ("slope * v", "float32(0)")), "that is ReLU without a slope"),
            Mutant("the larger of both", changed(FUSED, ("v if v > 0 else slope * v", "max(v, slope * v)")),
                   "slope 1.5): out[0, 0]"),
            Mutant("a row for a number", changed(FUSED, ("z[i, j] + bias", "z[i] + bias")),
                   "z[i] is a whole row (40,), since z has two axes; write z[row, column]."),
            Mutant("a number in float64", changed(FUSED, ("factor * v", "1.0 * factor * v")), "float64 operations"),
        ),
    ),
    Key(
        "13.6",
        (Part("other shapes", 1, logits((5, 64), (2, 33), (4, 32), (7, 2), (1, 1))),
         Part("large logits", 1, logits((4, 10), (3, 50), low=-300, high=300, scale=1.0, rising=True)),
         Part("all logits below zero", 1, logits((3, 20), low=-300, high=-200, scale=1.0))),
        (
            Mutant("nothing subtracted", changed(ROW_LOSSES, ("top = warp_max(max(a, b))", "top = float32(0)")),
                   "row_losses on a hidden case returns wrong numbers"),
            Mutant("largest of the row's first half", changed(ROW_LOSSES, ("warp_max(max(a, b))", "warp_max(a)")),
                   "row_losses on a hidden case"),
            Mutant("each lane its own largest", changed(ROW_LOSSES, ("warp_max(max(a, b))", "max(a, b)")),
                   "loss[0] is nan"),
            Mutant("read again", changed(ROW_LOSSES, ("math.exp(a - top)", "(math.exp(z[row, lane] - top) if lane < "
                   "z.shape[1] else float32(0))")), "156 global loads; at most 129"),
            Mutant("zero where no class is", changed(ROW_LOSSES, ("-float32(math.inf)", "float32(0)")),
                   "A lane without a class has changed the sum"),
            Mutant("one class a lane", changed(ROW_LOSSES, ("        b = z[row, lane + 32] if lane + 32 < z.shape[1] "
                   "else -float32(math.inf)\n", "        b = -float32(math.inf)\n")), "loss[0] is 6.04913807"),
            Mutant("probability", changed(ROW_LOSSES, ("math.log(total) - (logit - top)",
                   "math.exp(logit - top) / total")), "This is the probability"),
            Mutant("sign", changed(ROW_LOSSES, ("math.log(total) - (logit - top)", "(logit - top) - math.log(total)")),
                   "The sign is wrong"),
            Mutant("largest forgotten at the label", changed(ROW_LOSSES, ("(logit - top)", "logit")),
                   "but not from the logit of the right class"),
            Mutant("no sum over the warp", changed(ROW_LOSSES, ("range(5)", "range(0)")), "loss[0] is"),
            Mutant("sum with shuffles down", changed(ROW_LOSSES, ("total += cuda.shfl_xor_sync", "total += "
                   "cuda.shfl_down_sync")), "of block 0 wrote it"),
            Mutant("no guard", changed(ROW_LOSSES, ("if row < z.shape[0]:", "if row >= 0:")),
                   "on axis 0 of z, which has 3 elements"),
            Mutant("every lane stores", changed(ROW_LOSSES, ("lane == label % 32", "lane >= 0")),
                   "writes loss[0], which"),
            Mutant("float64", changed(ROW_LOSSES, ("math.log(total)", "1.0 * math.log(total)")), "float64 operations"),
        ),
    ),
    Key(
        "13.7",
        (Part("other shapes", 1, pooled((1, 3, 3, 3, 3, 0), (3, 20, 37, 2, 2, 0), (2, 5, 4, 1, 1, 0),
                                        (2, 9, 8, 3, 1, 0), (1, 7, 9, 2, 3, 0))),
         Part("padding", 1, pooled((2, 6, 7, 3, 2, 1), (1, 5, 5, 5, 1, 2), (2, 4, 9, 2, 2, 1), low=-9999,
                                   high=-9990)),
         Part("equal values", 1, pooled((2, 6, 8, 2, 2, 0), (1, 9, 12, 3, 1, 1), low=0, high=1))),
        (
            Mutant("last of equals", changed(POOL, ("> best", ">= best")), "the last one has won"),
            Mutant("begins with 0", changed(POOL, ("-float32(math.inf)", "float32(0)")), "y[0, 0, 0] is 0"),
            Mutant("begins with -1000", changed(POOL, ("-float32(math.inf)", "float32(-1000)")),
                   "max_pool on a hidden case returns wrong numbers"),
            Mutant("place in the window", changed(POOL, ("= row * W + column", "= (row - top) * size + column - left")),
                   "places within the window"),
            Mutant("width of y", changed(POOL, ("= row * W", "= row * y.shape[2]")), "by the width of y"),
            Mutant("through all maps", changed(POOL, ("= row * W", "= (c * H + row) * W")), "counts through all maps"),
            Mutant("columns first", changed(POOL, (
                "for row in range(max(top, 0), min(top + size, H)):\n            for column in range(max(left, 0), "
                "min(left + size, W)):",
                "for column in range(max(left, 0), min(left + size, W)):\n            for row in range(max(top, 0), "
                "min(top + size, H)):")), "down the columns"),
            Mutant("no cut above", changed(POOL, ("max(top, 0)", "top")), "index -1 on axis 1 of x"),
            Mutant("no cut at the right", changed(POOL, ("min(left + size, W)", "left + size")), "on axis 2 of x"),
            Mutant("size for the stride", changed(POOL, ("i * stride", "i * size"), ("j * stride", "j * size")),
                   "y[0, 0, 3] is -inf"),
            Mutant("no padding", changed(POOL, (" - pad, j * stride - pad", ", j * stride")),
                   "A window begins pad rows above"),
            Mutant("no loop", changed(POOL, ("for n in range(cuda.grid(1), y.size, cuda.gridsize(1)):",
                   "n = cuda.grid(1)\n    if n < y.size:")),
                   "max_pool on a hidden case returns wrong numbers: some of y is never written"),
            Mutant("row and column of the output exchanged", changed(POOL, ("j = n %", "h = n %"),
                   ("i = n //", "j = n //"), ("h = n %", "i = n %")), "axis 1 of y"),
            Mutant("mask forgotten", changed(POOL, ("        mask[c, i, j] = place\n", "")),
                   "Nobody wrote mask[0, 0, 0]"),
        ),
    ),
    Key(
        "13.8",
        (Part("other sizes", 1, sizes((256,), (1000,), (257,), (768,))),
         Part("few elements", 1, sizes((1,), (63,), (65,)))),
        (
            Mutant("four in a row", changed(SQUARES, ("64 * k + t", "4 * t + k")),
                   "costs 256 global load sectors; at most 64"),
            Mutant("the step of the whole grid", changed(SQUARES, ("cuda.blockIdx.x * 256 + 64 * k + t",
                   "cuda.grid(1) + k * cuda.gridsize(1)")), "Your block adds up elements of other blocks"),
            Mutant("a grid-stride loop", changed(SQUARES, ("for k in range(FOUR):\n        i = cuda.blockIdx.x * 256 + "
                   "64 * k + t\n", "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n")), "not the grid's"),
            Mutant("two pairs", changed(SQUARES, ("64 * k + t", "128 * (k // 2) + 2 * t + k % 2")),
                   "costs 128 global load sectors; at most 64"),
            Mutant("loaded twice", changed(SQUARES, ("acc += v * v", "acc += x[i] * x[i]"), ("v = x[i]", "v = 0")),
                   "costs 128 global load sectors"),
            Mutant("the tree adds up all", """
@gpu.jit
def square_sums(x, sums):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        i = cuda.blockIdx.x * 256 + 64 * k + t
        part[64 * k + t] = float32(0)
        if i < x.size:
            v = x[i]
            part[64 * k + t] = v * v
    distance = 128
    while distance > 0:
        cuda.syncthreads()
        for j in range(t, distance, 64):
            part[j] += part[j + distance]
        distance //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
""", "50 shared load requests; at most 32"),
            Mutant("no guard", changed(SQUARES, ("if i < x.size:", "if i >= 0:")), "uses index 300 on x"),
            Mutant("no squares", changed(SQUARES, ("v * v", "v")), "each one must be squared"),
            Mutant("square of the sum", changed(SQUARES, ("v * v", "v"), ("= part[0]", "= part[0] * part[0]")),
                   "The sum was squared"),
            Mutant("square of four", changed(SQUARES, ("v * v", "v"), ("= acc\n", "= acc * acc\n")),
                   "the sum of its four elements"),
            Mutant("one element", changed(SQUARES, ("range(FOUR)", "range(1)")), "has taken one element only"),
            Mutant("no barrier", changed(SQUARES, ("        cuda.syncthreads()\n", "")), "with no barrier between"),
            Mutant("begins at a quarter", changed(SQUARES, ("THREADS // 2", "THREADS // 4")), "Half of each block"),
            Mutant("the store in the guard", changed(SQUARES, ("    part[t] = acc", "    if i < x.size:\n        "
                   "part[t] = acc")), "which nobody has written yet"),
            Mutant("blocks of 64 elements", changed(SQUARES, ("x * 256", "x * 64")),
                   "square_sums on a hidden case returns wrong numbers"),
        ),
    ),
)  # fmt: skip
