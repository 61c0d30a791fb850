"""The key of the GPU warm-up: hidden sizes, and kernels that are wrong in the ways that students' kernels are.

Source: the course's own.
"""

from course_lib.grading.kernel_keys import changed, pairs, sizes
from course_lib.grading.keys import Key, Mutant, Part

PRODUCT = """
TILE = 16

@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for m in range((A.shape[1] + TILE - 1) // TILE):
        As[ty, tx] = float32(0)
        if row < A.shape[0] and m * TILE + tx < A.shape[1]:
            As[ty, tx] = A[row, m * TILE + tx]
        Bs[ty, tx] = float32(0)
        if m * TILE + ty < B.shape[0] and col < B.shape[1]:
            Bs[ty, tx] = B[m * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()  # read
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
"""

NAIVE_PRODUCT = """
@gpu.jit
def tiled_product(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
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

KEYS = (
    Key(
        "gpu.6",
        (Part("other shapes", 1, pairs(((33, 18), (18, 40)), ((17, 50), (50, 3)), ((48, 16), (16, 20)),
                                  ((9, 130), (130, 7)))),
         Part("smallest and square", 1,
              pairs(((1, 40), (40, 1)), ((20, 1), (1, 9)), ((1, 1), (1, 1)), ((24, 24), (24, 24))))),
        (
            Mutant("no tiles", NAIVE_PRODUCT, "global loads; at most"),
            Mutant("no barrier before the sums", changed(PRODUCT, ("        cuda.syncthreads()\n", "")),
                   "reads As[0, 0], which"),
            Mutant("no barrier after the sums", changed(PRODUCT, ("        cuda.syncthreads()  # read\n", "")),
                   "writes As["),
            Mutant("early return", changed(PRODUCT, ("    acc = float32(0)\n", "    acc = float32(0)\n"
                   "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n")),
                   "As[0, 3], which nobody has written yet"),
            Mutant("turns from the grid", changed(PRODUCT, ("range((A.shape[1] + TILE - 1) // TILE)",
                   "range(cuda.gridDim.x)")), "knows nothing of K"),
            Mutant("four turns always", changed(PRODUCT, ("(A.shape[1] + TILE - 1) // TILE", "4")),
                   "tiled_product on a hidden case returns wrong numbers"),
            Mutant("rounds down", changed(PRODUCT, ("(A.shape[1] + TILE - 1) // TILE", "A.shape[1] // TILE")),
                   "round the number of tiles up"),
            Mutant("row and column exchanged", changed(PRODUCT, ("col, row =", "row, col =")), "Nobody wrote C["),
            Mutant("no guard for the loads", changed(PRODUCT, ("row < A.shape[0] and m * TILE + tx < A.shape[1]",
                   "True")), "on axis 0 of A"),
            Mutant("float64 sum", changed(PRODUCT, ("acc = float32(0)", "acc = 0.0")), "float64 operations"),
            Mutant("no zeros in the tile", changed(PRODUCT, ("        Bs[ty, tx] = float32(0)\n", "")),
                   "which nobody has written yet"),
        ),
    ),
    Key(
        "gpu.8",
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
            Mutant("mask's size from the block", changed(CONV, ("range(w.shape[2])", "range(cuda.blockDim.y)")),
                   "on axis 2 of"),
            Mutant("maps and images exchanged", changed(CONV, ("m, b = cuda.blockIdx.x, cuda.blockIdx.z",
                   "b, m = cuda.blockIdx.x, cuda.blockIdx.z")), "on axis 0 of x"),
        ),
    ),
    Key(
        "gpu.9",
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
)  # fmt: skip
