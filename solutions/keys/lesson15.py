"""The key of lesson 15: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, pairs, plain, sizes, whole
from course_lib.grading.keys import Key, Mutant, Part

LAUNCH = """
def basic_launch(B, M, H_out, W_out, tile):
    tiles = -(-H_out // tile) * -(-W_out // tile)
    grid = (M, tiles, B)
    outputs = B * M * H_out * W_out
    threads = M * tiles * B * tile * tile
    return grid, outputs, threads
"""

CONV = """
@gpu.jit
def conv_basic(x, w, y):
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + cuda.blockDim.x - 1) // cuda.blockDim.x
    h = cuda.blockIdx.y // tiles * cuda.blockDim.y + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * cuda.blockDim.x + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    acc += x[b, c, h + p, v + q] * w[m, c, p, q]
        y[b, m, h, v] = acc
"""

SMOOTH = """
SPAN = 64
WITH_HALO = SPAN + 4

@gpu.jit
def smooth_tiled(x, y):
    tile = cuda.shared.array(WITH_HALO, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    for k in range(t, WITH_HALO, SPAN):
        j = i - t - 2 + k
        tile[k] = float32(0)
        if 0 <= j < x.size:
            tile[k] = x[j]
    cuda.syncthreads()
    if i < y.size:
        acc = float32(0)
        for d in range(5):
            acc += tile[t + d]
        y[i] = acc
"""

NAIVE_SMOOTH = """
@gpu.jit
def smooth_tiled(x, y):
    i = cuda.grid(1)
    if i < y.size:
        acc = float32(0)
        for j in range(max(0, i - 2), min(x.size, i + 3)):
            acc += x[j]
        y[i] = acc
"""

CONSTANT = """
TILE = 8
K = 3
SEEN = TILE + K - 1

@gpu.jit
def conv_constant(x, y):
    masks = cuda.const.array_like(MASKS)
    seen = cuda.shared.array((SEEN, SEEN), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m = cuda.blockIdx.x
    tiles = (y.shape[2] + TILE - 1) // TILE
    top, left = cuda.blockIdx.y // tiles * TILE, cuda.blockIdx.y % tiles * TILE
    acc = float32(0)
    for c in range(x.shape[0]):
        for i in range(ty, SEEN, TILE):
            for j in range(tx, SEEN, TILE):
                seen[i, j] = float32(0)
                if top + i < x.shape[1] and left + j < x.shape[2]:
                    seen[i, j] = x[c, top + i, left + j]
        cuda.syncthreads()  # written
        for p in range(K):
            for q in range(K):
                acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()  # read
    if top + ty < y.shape[1] and left + tx < y.shape[2]:
        y[m, top + ty, left + tx] = acc
"""

NO_TILE = """
@gpu.jit
def conv_constant(x, y):
    masks = cuda.const.array_like(MASKS)
    tiles = (y.shape[2] + 7) // 8
    h = cuda.blockIdx.y // tiles * 8 + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * 8 + cuda.threadIdx.x
    if h < y.shape[1] and v < y.shape[2]:
        acc = float32(0)
        for c in range(x.shape[0]):
            for p in range(3):
                for q in range(3):
                    acc += x[c, h + p, v + q] * masks[cuda.blockIdx.x, c, p, q]
        y[cuda.blockIdx.x, h, v] = acc
"""

NO_HALO = """
TILE = 8

@gpu.jit
def conv_constant(x, y):
    masks = cuda.const.array_like(MASKS)
    seen = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m = cuda.blockIdx.x
    tiles = (y.shape[2] + TILE - 1) // TILE
    h, v = cuda.blockIdx.y // tiles * TILE + ty, cuda.blockIdx.y % tiles * TILE + tx
    acc = float32(0)
    for c in range(x.shape[0]):
        seen[ty, tx] = x[c, h, v] if h < x.shape[1] and v < x.shape[2] else float32(0)
        cuda.syncthreads()
        for p in range(3):
            for q in range(3):
                if ty + p < TILE and tx + q < TILE:
                    acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()
    if h < y.shape[1] and v < y.shape[2]:
        y[m, h, v] = acc
"""

UNROLL = """
@gpu.jit
def unroll(x, K, cols):
    W_out = x.shape[2] - K + 1
    pixels = cols.shape[1]
    for n in range(cuda.grid(1), cols.size, cuda.gridsize(1)):
        k, pixel = n // pixels, n % pixels
        c, p, q = k // (K * K), k // K % K, k % K
        h, v = pixel // W_out, pixel % W_out
        cols[k, pixel] = x[c, h + p, v + q]
"""

IMPLICIT = """
TILE = 8

@gpu.jit
def conv_implicit(x, rows, K, y):
    weights = cuda.shared.array((TILE, TILE), float32)
    seen = cuda.shared.array((TILE, TILE), float32)
    pixel, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, depth = rows.shape
    W_out = y.shape[2]
    pixels = y.shape[1] * W_out
    h, v = pixel // W_out, pixel % W_out
    acc = float32(0)
    for start in range(0, depth, TILE):
        weights[ty, tx] = float32(0)
        if m < M and start + tx < depth:
            weights[ty, tx] = rows[m, start + tx]
        k = start + ty
        seen[ty, tx] = float32(0)
        if k < depth and pixel < pixels:
            seen[ty, tx] = x[k // (K * K), h + k // K % K, v + k % K]
        cuda.syncthreads()  # written
        for i in range(TILE):
            acc += weights[ty, i] * seen[i, tx]
        cuda.syncthreads()  # read
    if m < M and pixel < pixels:
        y[m, h, v] = acc
"""

NO_PRODUCT = """
@gpu.jit
def conv_implicit(x, rows, K, y):
    pixel, m = cuda.grid(2)
    h, v = pixel // y.shape[2], pixel % y.shape[2]
    if m < y.shape[0] and h < y.shape[1]:
        acc = float32(0)
        for k in range(rows.shape[1]):
            acc += rows[m, k] * x[k // (K * K), h + k // K % K, v + k % K]
        y[m, h, v] = acc
"""

C1 = """
@gpu.jit
def conv_c1(x, y):
    masks = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(6, float32)
    t = cuda.threadIdx.x
    b, top = cuda.blockIdx.y, 4 * cuda.blockIdx.x
    row, col = t // 32, t % 32
    tile[row, col] = x[b, top + row, col]
    tile[row + 4, col] = x[b, top + row + 4, col]
    cuda.syncthreads()
    if t < 112:
        h, v = t // 28, t % 28
        for m in range(6):
            acc[m] = float32(0)
        for p in range(5):
            for q in range(5):
                pixel = tile[h + p, v + q]
                for m in range(6):
                    acc[m] += pixel * masks[m, p, q]
        for m in range(6):
            y[b, m, top + h, v] = acc[m]
"""

MAP_BY_MAP = """
@gpu.jit
def conv_c1(x, y):
    masks = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    t = cuda.threadIdx.x
    b, top = cuda.blockIdx.y, 4 * cuda.blockIdx.x
    for row in range(t // 32, 8, 4):
        tile[row, t % 32] = x[b, top + row, t % 32]
    cuda.syncthreads()
    if t < 112:
        h, v = t // 28, t % 28
        for m in range(6):
            acc = float32(0)
            for p in range(5):
                for q in range(5):
                    acc += tile[h + p, v + q] * masks[m, p, q]
            y[b, m, top + h, v] = acc
"""

GRADIENT = """
@gpu.jit
def input_gradient(dy, w, dx):
    j, i = cuda.grid(2)
    c = cuda.blockIdx.z
    if i < dx.shape[1] and j < dx.shape[2]:
        acc = float32(0)
        for m in range(dy.shape[0]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    h, v = i - p, j - q
                    if 0 <= h < dy.shape[1] and 0 <= v < dy.shape[2]:
                        acc += dy[m, h, v] * w[m, c, p, q]
        dx[c, i, j] = acc
"""

SCATTER = """
@gpu.jit
def input_gradient(dy, w, dx):
    v, h = cuda.grid(2)
    c = cuda.blockIdx.z
    if h < dy.shape[1] and v < dy.shape[2]:
        for m in range(dy.shape[0]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    {}
"""


def products(*sizes):
    """Return cases(rng) of (C, H, W), M and K: x, rows (M, C K K), K."""
    return lambda rng: [Case((whole(rng, C, H, W), whole(rng, M, C * K * K), K)) for C, H, W, M, K in sizes]


KEYS = (
    Key(
        "15.1",
        (Part("layers of one tile", 1, plain((1, 1, 1, 1, 16), (3, 2, 16, 16, 16), (4, 5, 5, 7, 8))),
         Part("ragged maps", 1, plain((2, 3, 17, 33, 16), (5, 7, 31, 4, 4), (1, 64, 55, 55, 32)))),
        (
            Mutant("maps and images exchanged", changed(LAUNCH, ("(M, tiles, B)", "(B, tiles, M)")),
                   "Maps and images have changed"),
            Mutant("tiles first", changed(LAUNCH, ("(M, tiles, B)", "(tiles, M, B)")), "Maps and tiles have changed"),
            Mutant("rounded down", changed(LAUNCH, ("-(-H_out // tile) * -(-W_out // tile)",
                   "(H_out // tile) * (W_out // tile)")), "Tiles are rounded down"),
            Mutant("one row of tiles", changed(LAUNCH, ("-(-H_out // tile) * ", "")), "the tiles of a row times"),
            Mutant("tiles added", changed(LAUNCH, (") * -(", ") + -(")), "not their sum"),
            Mutant("by the area", changed(LAUNCH, ("-(-H_out // tile) * -(-W_out // tile)",
                   "-(-H_out * W_out // (tile * tile))")), "cut along each axis on its own"),
            Mutant("outputs of one map", changed(LAUNCH, ("B * M * H", "B * H")), "those of one map"),
            Mutant("outputs of one image", changed(LAUNCH, ("B * M * H", "M * H")), "those of one image"),
            Mutant("a thread for each output", changed(LAUNCH, ("threads = M * tiles * B * tile * tile",
                   "threads = outputs")), "also where not all of them have an output"),
            Mutant("blocks for threads", changed(LAUNCH, (" * tile * tile", "")), "is that of the blocks"),
            Mutant("fractions", changed(LAUNCH, ("-(-H_out // tile) * -(-W_out // tile)",
                   "float(-(-H_out // tile) * -(-W_out // tile))")), "expected whole numbers"),
        ),
    ),
    Key(
        "15.2",
        (Part("other shapes", 1, pairs(((1, 1, 6, 10), (2, 1, 2, 2)), ((3, 3, 5, 13), (4, 3, 3, 3)),
                                  ((1, 1, 8, 6), (2, 1, 3, 3)))),
         Part("one pixel, one map", 1, pairs(((1, 1, 3, 3), (1, 1, 3, 3)), ((2, 1, 4, 4), (1, 1, 1, 1))))),
        (
            Mutant("no guard", changed(CONV, ("if h < y.shape[2] and v < y.shape[3]:", "if h >= 0:")),
                   "Guard the line"),
            Mutant("tiles rounded down", changed(CONV, ("(y.shape[3] + cuda.blockDim.x - 1) // cuda.blockDim.x",
                   "max(1, y.shape[3] // cuda.blockDim.x)")), "no thread wrote it"),
            Mutant("tiles counted on x", changed(CONV, ("(y.shape[3] + cuda", "(x.shape[3] + cuda")),
                   "conv_basic on a hidden case returns wrong numbers: some of y is never written"),
            Mutant("tile row and column exchanged", changed(CONV, ("y // tiles", "y ? tiles"), ("y % tiles",
                   "y // tiles"), ("y ? tiles", "y % tiles")), "y[0, 0, 8, 0] is nan"),
            Mutant("first input map only", changed(CONV, ("range(x.shape[1])", "range(1)")),
                   "Only the first input map"),
            Mutant("mask turned", changed(CONV, ("w[m, c, p, q]", "w[m, c, w.shape[2] - 1 - p, w.shape[3] - 1 - q]")),
                   "turned by 180 degrees"),
            Mutant("mask transposed", changed(CONV, ("w[m, c, p, q]", "w[m, c, q, p]")),
                   "rows and columns have changed places"),
            Mutant("weights of 1", changed(CONV, (" * w[m, c, p, q]", "")), "The stored ones must be used"),
            Mutant("weights of map 0", changed(CONV, ("w[m, c", "w[0, c")), "the weights of map 0"),
            Mutant("mask's size from the block", changed(CONV, ("range(w.shape[2])", "range(cuda.blockDim.y)")),
                   "on axis 2 of"),
            Mutant("maps and images exchanged", changed(CONV, ("m, b = cuda.blockIdx.x, cuda.blockIdx.z",
                   "b, m = cuda.blockIdx.x, cuda.blockIdx.z")), "on axis 0 of x"),
        ),
    ),
    Key(
        "15.3",
        (Part("other sizes", 1, sizes((128,), (129,), (333,))), Part("few elements", 1, sizes((1,), (3,), (63,)))),
        (
            Mutant("no tile", NAIVE_SMOOTH, "global loads; at most 68"),
            Mutant("no halo", """
SPAN = 64

@gpu.jit
def smooth_tiled(x, y):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if i < y.size:
        acc = float32(0)
        for k in range(max(0, t - 2), min(SPAN, t + 3)):
            acc += tile[k]
        y[i] = acc
""", "the tile has no halo"),
            Mutant("only the left end of the halo", changed(SMOOTH, ("if 0 <= j < x.size:",
                   "if 0 <= j < x.size and k < SPAN + 2:")), "only the left end"),
            Mutant("no barrier", changed(SMOOTH, ("    cuda.syncthreads()\n", "")), "with no barrier between"),
            Mutant("early return", changed(SMOOTH, ("    for k", "    if i >= x.size:\n        return\n    for k")),
                   "which nobody has written yet"),
            Mutant("no guard from below", changed(SMOOTH, ("0 <= j < x.size", "j < x.size")), "counts from the end"),
            Mutant("no guard from above", changed(SMOOTH, ("0 <= j < x.size", "0 <= j")), "index 64 on x"),
            Mutant("tile too short", changed(SMOOTH, ("WITH_HALO = SPAN + 4", "WITH_HALO = SPAN + 2")),
                   "on tile, which has 66 elements"),
        ),
    ),
    Key(
        "15.4",
        (Part("other sizes", 1, pairs(((2, 12, 17), (3, 2, 3, 3)), ((2, 18, 5), (3, 2, 3, 3)))),
         Part("few outputs", 1, pairs(((2, 3, 3), (3, 2, 3, 3)), ((2, 11, 3), (3, 2, 3, 3))))),
        (
            Mutant("no tile", NO_TILE, "global loads; at most"),
            Mutant("no halo", NO_HALO, "The tile has no halo"),
            Mutant("a tile without room for the halo", changed(CONSTANT, ("SEEN = TILE + K - 1", "SEEN = TILE")),
                   "of seen, which has 8"),
            Mutant("one pixel a thread", changed(CONSTANT, ("range(ty, SEEN, TILE)", "range(ty, TILE, TILE)")),
                   "which nobody has written yet"),
            Mutant("no barrier before reading", changed(CONSTANT, ("        cuda.syncthreads()  # written\n", "")),
                   "reads seen["),
            Mutant("no barrier between the maps", changed(CONSTANT, ("        cuda.syncthreads()  # read\n", "")),
                   "writes seen["),
            Mutant("mask turned", changed(CONSTANT, ("[m, c, p, q]", "[m, c, K - 1 - p, K - 1 - q]")),
                   "turned by 180 degrees"),
            Mutant("mask transposed", changed(CONSTANT, ("[m, c, p, q]", "[m, c, q, p]")), "have changed places"),
            Mutant("first map only", changed(CONSTANT, ("range(x.shape[0])", "range(1)")), "Only the first input map"),
            Mutant("sum begins anew", changed(CONSTANT, ("    acc = float32(0)\n    for c in range(x.shape[0]):\n",
                   "    for c in range(x.shape[0]):\n        acc = float32(0)\n")),
                   "Only the last input map"),
            Mutant("weights of 1", changed(CONSTANT, (" * masks[m, c, p, q]", ""),
                   ("    masks = cuda.const.array_like(MASKS)\n", "")), "conv_constant reads no MASKS"),
            Mutant("weights of 1, masks read", changed(CONSTANT, (" * masks[m, c, p, q]", "")),
                   "The stored ones must be used"),
            Mutant("masks turned outside", "W = MASKS[:, :, ::-1, ::-1]" + changed(CONSTANT, ("(MASKS)", "(W)")),
                   "W is nothing that a kernel can use"),
            Mutant("masks as an argument", changed(CONSTANT, ("(x, y)", "(x, masks, y)"),
                   ("    masks = cuda.const.array_like(MASKS)\n", "")), "so write none of their numbers down"),
            Mutant("tile row and column exchanged", changed(CONSTANT, (
                   "y // tiles * TILE, cuda.blockIdx.y % tiles", "y % tiles * TILE, cuda.blockIdx.y // tiles")),
                   "no thread wrote it"),
            Mutant("tiles counted on x", changed(CONSTANT, ("(y.shape[2] + TILE", "(x.shape[2] + TILE")),
                   "conv_constant on a hidden case returns wrong numbers: some of y is never written"),
            Mutant("threads leave", changed(CONSTANT, ("    acc = float32(0)\n", "    if top + ty >= y.shape[1] or "
                   "left + tx >= y.shape[2]:\n        return\n    acc = float32(0)\n")),
                   "of block (0, 1) reads seen[0, 6], which nobody"),
            Mutant("no guard of the loads", changed(CONSTANT, (
                   "if top + i < x.shape[1] and left + j < x.shape[2]:", "if top + i >= 0:")), "on axis 1 of x"),
            Mutant("no guard of the store", changed(CONSTANT, (
                   "if top + ty < y.shape[1] and left + tx < y.shape[2]:", "if top + ty >= 0:")), "on axis 1 of y"),
        ),
    ),
    Key(
        "15.5",
        (Part("other sizes", 1, sizes((1, 4, 9), (3, 8, 6), (2, 3, 12), more=(3,))),
         Part("other masks", 1, lambda rng: [Case((whole(rng, C, H, W), K)) for C, H, W, K in (
             (2, 6, 7, 1), (1, 9, 10, 5), (4, 5, 4, 4))])),
        (
            Mutant("the weight is the fast part", changed(UNROLL, ("n // pixels, n % pixels",
                   "n % cols.shape[0], n // cols.shape[0]")), "costs 199 global store sectors; at most 144"),
            Mutant("a thread a row", """
@gpu.jit
def unroll(x, K, cols):
    W_out = x.shape[2] - K + 1
    for k in range(cuda.grid(1), cols.shape[0], cuda.gridsize(1)):
        c, p, q = k // (K * K), k // K % K, k % K
        for pixel in range(cols.shape[1]):
            cols[k, pixel] = x[c, pixel // W_out + p, pixel % W_out + q]
""", "324 global store sectors"),
            Mutant("mask row and column exchanged", changed(UNROLL, ("h + p, v + q", "h + q, v + p")),
                   "have changed places"),
            Mutant("map the fastest", changed(UNROLL, ("k // (K * K), k // K % K, k % K", "k % x.shape[0], "
                   "k // x.shape[0] // K, k // x.shape[0] % K")), "the map as their fastest index"),
            Mutant("no place in the mask", changed(UNROLL, ("h + p, v + q", "h, v")),
                   "the place in the mask is missing"),
            Mutant("width of x", changed(UNROLL, ("W_out = x.shape[2] - K + 1", "W_out = x.shape[2]")),
                   "thread 25 of block 0 uses index 8 on axis 2 of x"),
            Mutant("height for width", changed(UNROLL, ("W_out = x.shape[2]", "W_out = x.shape[1]")),
                   "uses index 5 on axis 1 of x"),
            Mutant("down the columns", changed(UNROLL, ("W_out = x.shape[2]", "H_out = x.shape[1]"), (
                   "h, v = pixel // W_out, pixel % W_out", "h, v = pixel % H_out, pixel // H_out")),
                   "here they go down the columns"),
            Mutant("no loop", changed(UNROLL, ("for n in range(cuda.grid(1), cols.size, cuda.gridsize(1)):",
                   "n = cuda.grid(1)\n    if n < cols.size:")), "Nobody wrote cols"),
            Mutant("a step that is a constant", changed(UNROLL, ("cuda.gridsize(1)", "128")),
                   "of block 2 wrote in this line too"),
            Mutant("no guard", changed(UNROLL, ("cols.size, cuda", "cols.size + 64, cuda")),
                   "on axis 0 of x, which has 2"),
            Mutant("mask of 3 x 3", changed(UNROLL, ("k // (K * K), k // K % K, k % K", "k // 9, k // 3 % 3, k % 3")),
                   "index 9 on axis 2 of x"),
        ),
    ),
    Key(
        "15.6",
        (Part("other sizes", 1, products((1, 5, 6, 3, 2), (3, 4, 9, 9, 3), (2, 4, 4, 17, 2))),
         Part("small ones", 1, products((1, 1, 1, 1, 1), (1, 3, 3, 2, 3), (5, 2, 8, 8, 1)))),
        (
            Mutant("no product", NO_PRODUCT, "global loads; at most 768"),
            Mutant("mask row and column exchanged", changed(IMPLICIT, ("h + k // K % K, v + k % K",
                   "h + k % K, v + k // K % K")), "have changed places"),
            Mutant("map the fastest", changed(IMPLICIT, ("x[k // (K * K), h + k // K % K, v + k % K]",
                   "x[k % x.shape[0], h + k // x.shape[0] // K, v + k // x.shape[0] % K]")),
                   "the map as its fastest index"),
            Mutant("one tile", changed(IMPLICIT, ("range(0, depth, TILE)", "range(0, TILE, TILE)")),
                   "Only the first tile along k"),
            Mutant("whole tiles only", changed(IMPLICIT, ("range(0, depth, TILE)", "range(0, depth // TILE * TILE, "
                   "TILE)")), "round the number of tiles up"),
            Mutant("turns of the grid", changed(IMPLICIT, ("range(0, depth, TILE)", "range(0, cuda.gridDim.x * TILE, "
                   "TILE)")), "conv_implicit on a hidden case returns wrong numbers"),
            Mutant("no barrier before reading", changed(IMPLICIT, ("        cuda.syncthreads()  # written\n", "")),
                   "reads seen["),
            Mutant("no barrier after reading", changed(IMPLICIT, ("        cuda.syncthreads()  # read\n", "")),
                   "writes seen["),
            Mutant("no guard along k", changed(IMPLICIT, ("if m < M and start + tx < depth:", "if m < M:")),
                   "on axis 1 of rows"),
            Mutant("no guard of the pixel", changed(IMPLICIT, ("if k < depth and pixel < pixels:", "if k < depth:")),
                   "on axis 1 of x"),
            Mutant("no zeros", changed(IMPLICIT, ("        seen[ty, tx] = float32(0)\n", "")),
                   "which nobody has written yet"),
            Mutant("threads leave", changed(IMPLICIT, ("    acc = float32(0)\n", "    if m >= M or pixel >= pixels:\n"
                   "        return\n    acc = float32(0)\n")), "reads weights[0, 5], which nobody"),
            Mutant("width of x", changed(IMPLICIT, ("h, v = pixel // W_out, pixel % W_out",
                   "h, v = pixel // x.shape[2], pixel % x.shape[2]")), "index 10 on axis 2 of x"),
            Mutant("weights of 1", changed(IMPLICIT, ("weights[ty, i] * ", "")), "The stored ones must be used"),
            Mutant("float64 sum", changed(IMPLICIT, ("acc = float32(0)", "acc = 0.0")), "float64 operations"),
        ),
    ),
    Key(
        "15.7",
        (Part("other masks", 1, pairs(((1, 32, 32), (6, 5, 5)))),
         Part("more images", 1, pairs(((3, 32, 32), (6, 5, 5))))),
        (
            Mutant("map by map", MAP_BY_MAP, "4200 shared load requests; at most 700 are allowed. Line 17"),
            Mutant("pixel read six times", changed(C1, ("pixel * masks", "tile[h + p, v + q] * masks"),
                   ("                pixel = tile[h + p, v + q]\n", "")),
                   "4200 shared load requests; at most 700 are allowed. Line 20"),
            Mutant("no tile", changed(C1, ("pixel = tile[h + p, v + q]", "pixel = x[b, top + h + p, v + q]")),
                   "global loads; at most 1792"),
            Mutant("half of the tile", changed(C1, ("    tile[row + 4, col] = x[b, top + row + 4, col]\n", "")),
                   "which nobody has written yet"),
            Mutant("all threads compute", changed(C1, ("if t < 112:", "if t < 128:")), "on axis 0 of tile"),
            Mutant("rows of 32 outputs", changed(C1, ("h, v = t // 28, t % 28", "h, v = t // 32, t % 32")),
                   "on axis 1 of tile, which has 32"),
            Mutant("rows of 28 pixels", changed(C1, ("row, col = t // 32, t % 32", "row, col = t // 28, t % 28")),
                   "thread 112 of block 6 uses index 32 on axis 1 of x"),
            Mutant("no barrier", changed(C1, ("    cuda.syncthreads()\n", "")), "with no barrier between"),
            Mutant("threads without an output leave first", changed(C1, ("    row, col", "    if t >= 112:\n        "
                   "return\n    row, col")), "reads tile[3, 16], which nobody"),
            Mutant("mask turned", changed(C1, ("masks[m, p, q]", "masks[m, 4 - p, 4 - q]")), "turned by 180 degrees"),
            Mutant("mask transposed", changed(C1, ("masks[m, p, q]", "masks[m, q, p]")), "have changed places"),
            Mutant("masks of map 0", changed(C1, ("masks[m, p, q]", "masks[0, p, q]")), "the weights of map 0"),
            Mutant("image 0", changed(C1, ("x[b, ", "x[0, ")), "All images are image 0"),
            Mutant("block 0", changed(C1, ("x[b, top + ", "x[b, ")), "the rows of block 0"),
            Mutant("8 rows a block", changed(C1, ("4 * cuda.blockIdx.x", "8 * cuda.blockIdx.x")), "on axis 1 of x"),
            Mutant("sums begin with nothing", changed(C1, ("            acc[m] = float32(0)\n", "            pass\n")),
                   "reads acc[0], which nobody has written"),
            Mutant("sums in shared memory", changed(C1, ("cuda.local.array", "cuda.shared.array")),
                   "writes acc[0], which thread"),
            Mutant("weights of 1", changed(C1, (" * masks[m, p, q]", ""),
                   ("    masks = cuda.const.array_like(C1_MASKS)\n", "")), "conv_c1 reads no C1_MASKS"),
        ),
    ),
    Key(
        "15.8",
        (Part("other sizes", 1, pairs(((1, 5, 12), (1, 4, 3, 3)), ((4, 2, 6), (4, 1, 2, 2)), ((2, 10, 3),
                                        (2, 2, 4, 4)))),
         Part("small ones", 1, pairs(((1, 1, 1), (1, 1, 1, 1)), ((2, 1, 1), (2, 3, 3, 3)), ((3, 4, 5), (3, 2, 1, 1))))),
        (
            Mutant("mask turned the wrong way", changed(GRADIENT, ("w[m, c, p, q]",
                   "w[m, c, w.shape[2] - 1 - p, w.shape[3] - 1 - q]")), "the turn"),
            Mutant("plus for minus", changed(GRADIENT, ("i - p, j - q", "i + p, j + q")), "lie above and left of it"),
            Mutant("mask transposed", changed(GRADIENT, ("w[m, c, p, q]", "w[m, c, q, p]")), "have changed places"),
            Mutant("map 0 only", changed(GRADIENT, ("range(dy.shape[0])", "range(1)")), "Only output map 0"),
            Mutant("weights of 1", changed(GRADIENT, (" * w[m, c, p, q]", "")), "The stored ones must be used"),
            Mutant("input map 0", changed(GRADIENT, ("w[m, c,", "w[m, 0,")), "the gradient of map 0"),
            Mutant("maps exchanged", changed(GRADIENT, ("w[m, c,", "w[c, m,")), "on axis 1 of w"),
            Mutant("no guard from below", changed(GRADIENT, ("0 <= h < dy.shape[1]", "h < dy.shape[1]")), "index -1"),
            Mutant("no guard from above", changed(GRADIENT, ("0 <= v < dy.shape[2]", "0 <= v")), "on axis 2 of dy"),
            Mutant("no guard of the pixel", changed(GRADIENT, ("if i < dx.shape[1] and j < dx.shape[2]:",
                   "if i >= 0:")), "on axis"),
            Mutant("stored in the loop", changed(GRADIENT, ("        dx[c, i, j] = acc",
                   "            dx[c, i, j] = acc")),
                   "120 global stores; at most 40"),
            Mutant("outputs scatter", SCATTER.format("dx[c, h + p, v + q] += dy[m, h, v] * w[m, c, p, q]"),
                   "reads dx[0, 0, 1], which thread"),
            Mutant("outputs scatter by atomics", SCATTER.format(
                   "cuda.atomic.add(dx, (c, h + p, v + q), dy[m, h, v] * w[m, c, p, q])"),
                   "input_gradient uses atomic"),
            Mutant("rows and columns exchanged", changed(GRADIENT, ("j, i = cuda.grid(2)", "i, j = cuda.grid(2)")),
                   "no thread wrote it"),
        ),
    ),
)  # fmt: skip
