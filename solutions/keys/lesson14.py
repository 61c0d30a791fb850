"""The key of lesson 14: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

from course_lib.checks.exercise import Case
from course_lib.grading.kernel_keys import changed, pairs, plain, whole
from course_lib.grading.keys import Key, Mutant, Part

LOADS = """
def loads(M, N, K, BM, BN):
    right, down = (N + BN - 1) // BN, (M + BM - 1) // BM
    return 2 * M * N * K, M * K * right + K * N * down
"""

PLAIN = """
@gpu.jit
def plain_product(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
"""

TILED = """
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

LAYER = """
SIDE = 8

@gpu.jit
def dense_relu(x, w, b, a):
    xt = cuda.shared.array((8, 8), float32)
    wt = cuda.shared.array((8, 8), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    z = b[j] if j < b.size else float32(0)
    for turn in range((x.shape[1] + 7) // 8):
        p, q = 8 * turn + tx, 8 * turn + ty
        xt[ty, tx] = x[i, p] if i < x.shape[0] and p < x.shape[1] else float32(0)
        wt[ty, tx] = w[q, j] if q < x.shape[1] and j < w.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            z += xt[ty, k] * wt[k, tx]
        cuda.syncthreads()  # read
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = max(z, float32(0))
"""

FOUR = """
WIDE = 32
DEEP = 8

@gpu.jit
def four_rows(A, B, C):
    As = cuda.shared.array((WIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, WIDE), float32)
    acc = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE + tx
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    r, c = (32 * ty + tx) // 8, (32 * ty + tx) % 8
    for i in range(4):
        acc[i] = float32(0)
    for k0 in range(0, K, DEEP):
        As[r, c] = A[row0 + r, k0 + c] if row0 + r < M and k0 + c < K else float32(0)
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(DEEP):
            b = Bs[k, tx]
            for i in range(4):
                acc[i] += As[4 * ty + i, k] * b
        cuda.syncthreads()  # read
    for i in range(4):
        if row0 + 4 * ty + i < M and col < N:
            C[row0 + 4 * ty + i, col] = acc[i]
"""

SIXTEEN = """
WIDE = 32
DEEP = 8

@gpu.jit
def sixteen(A, B, C):
    As = cuda.shared.array((WIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, WIDE), float32)
    acc = cuda.local.array((4, 4), float32)
    a = cuda.local.array(4, float32)
    b = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    for i in range(4):
        for j in range(4):
            acc[i, j] = float32(0)
    for k0 in range(0, K, DEEP):
        for p in range(4):
            e = 64 * p + 8 * ty + tx
            r, c = e // 8, e % 8
            As[r, c] = A[row0 + r, k0 + c] if row0 + r < M and k0 + c < K else float32(0)
            r, c = e // 32, e % 32
            Bs[r, c] = B[k0 + r, col0 + c] if k0 + r < K and col0 + c < N else float32(0)
        cuda.syncthreads()
        for k in range(DEEP):
            for i in range(4):
                a[i] = As[ty + 8 * i, k]
                b[i] = Bs[k, tx + 8 * i]
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()  # read
    for i in range(4):
        for j in range(4):
            row, col = row0 + ty + 8 * i, col0 + tx + 8 * j
            if row < M and col < N:
                C[row, col] = acc[i, j]
"""

TILE = """
def choose_tile(threads, intensity, reuse):
    sides = [1, 2, 4, 8, 16]
    for TM, TN in [(m, n) for m in sides for n in sides]:
        for down in [2**k for k in range(11) if 2**k <= threads]:
            BM, BN, BK = TM * down, TN * (threads // down), 8
            registers = TM * TN + TM + TN + 24
            if BN % 8 or 4 * (BM + BN) * BK > 49152:
                continue
            if registers > 255 or registers * threads > 65536:
                continue
            if BM * BN >= 2 * intensity * (BM + BN) and TM * TN >= reuse * (TM + TN):
                return BM, BN, BK, TM, TN
"""

VECTOR = """
@gpu.jit
def matrix_vector(A, x, y):
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if row < y.size:
        acc = float32(0)
        for k in range(lane, x.size, 32):
            acc += A[row, k] * x[k]
        step = 16
        while step > 0:
            acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, step)
            step //= 2
        if lane == 0:
            y[row] = acc
"""


def products(*sizes):
    """Return cases(rng) of A (M, K) and B (K, N), for sizes (M, K, N). No errors. Source: the course's own."""
    return pairs(*[((M, K), (K, N)) for M, K, N in sizes])


def layers(*sizes):
    """Return cases(rng) of x (N, F), w (F, M) and b (M,), for sizes (N, F, M). No errors.

    Source: the course's own.
    """
    return lambda rng: [Case((whole(rng, N, F), whole(rng, F, M), whole(rng, M))) for N, F, M in sizes]


SMALLEST = products((1, 40, 1), (20, 1, 9), (1, 1, 1), (24, 24, 24))
"""One row, one step along K, one element, and a square."""

KEYS = (
    Key(
        "14.1",
        (Part("other sizes", 1, plain((64, 64, 64, 16, 16), (100, 30, 7, 32, 8), (33, 65, 5, 32, 32),
                                      (128, 96, 50, 64, 32))),
         Part("tiles larger than the matrix", 1, plain((1, 1, 1, 16, 16), (3, 50, 2, 8, 64), (50, 3, 2, 8, 64)))),
        (
            Mutant("fractions", changed(LOADS, ("M * K * right + K * N * down", "M * N * K / BN + M * N * K / BM")),
                   "The numbers are right, but they are floats"),
            Mutant("fractions rounded down", changed(LOADS, ("M * K * right + K * N * down",
                   "M * N * K // BN + M * N * K // BM")), "which is right for full tiles only"),
            Mutant("tile's sides exchanged", changed(LOADS, ("(N + BN - 1) // BN", "(N + BM - 1) // BM"),
                   ("(M + BM - 1) // BM", "(M + BN - 1) // BN")), "BM and BN have changed places"),
            Mutant("A and B exchanged", changed(LOADS, ("M * K * right", "M * K * down"), ("K * N * down",
                   "K * N * right")), "A and B have changed places"),
            Mutant("full tiles", changed(LOADS, ("M * K * right + K * N * down", "right * down * (BM + BN) * K")),
                   "counted as if they were full"),
            Mutant("rounded down", changed(LOADS, ("(N + BN - 1) // BN", "N // BN"), ("(M + BM - 1) // BM",
                   "M // BM")), "was rounded down"),
            Mutant("once a multiplication", changed(LOADS, ("2 * M * N * K", "M * N * K")), "one of A and one of B"),
            Mutant("once in all", changed(LOADS, ("* right", ""), ("* down", "")), "each element loaded once in all"),
            Mutant("two results in one", changed(LOADS, ("return 2 * M * N * K, M", "return M")),
                   "result is a whole number, expected 2 values"),
        ),
    ),
    Key(
        "14.2",
        (Part("other shapes", 1, products((33, 18, 40), (8, 32, 70), (70, 9, 8))),
         Part("smallest and square", 1, SMALLEST)),
        (
            Mutant("rows along x", changed(PLAIN, ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
                   "36288 global load sectors; at most 11520"),
            Mutant("no guard", changed(PLAIN, ("row < C.shape[0] and col < C.shape[1]", "row >= 0")), "Guard the line"),
            Mutant("guard by the wrong axes", changed(PLAIN, ("row < C.shape[0] and col < C.shape[1]",
                   "row < C.shape[1] and col < C.shape[0]")), "on axis 0 of A"),
            Mutant("guard for rows only", changed(PLAIN, (" and col < C.shape[1]", "")), "on axis 1 of B"),
            Mutant("K from B's columns", changed(PLAIN, ("range(A.shape[1])", "range(B.shape[1])")),
                   "index 24 on axis 1 of A"),
            Mutant("sum in C", changed(PLAIN, ("        acc = float32(0)\n", "        C[row, col] = float32(0)\n"),
                   ("acc += A", "C[row, col] += A"), ("        C[row, col] = acc\n", "")),
                   "global loads; at most 69120"),
            Mutant("only the last product", changed(PLAIN, ("acc += A", "acc = A")), "Only the last product is there"),
            Mutant("last step missing", changed(PLAIN, ("range(A.shape[1])", "range(A.shape[1] - 1)")),
                   "The last step of k is missing"),
            Mutant("B transposed", changed(PLAIN, ("B[k, col]", "B[col, k]")), "on axis 0 of B"),
            Mutant("rows for numbers", changed(PLAIN, ("A[row, k] * B[k, col]", "A[row] * B[k, col]")),
                   "A[row] is a whole row"),
            Mutant("float64 sum", changed(PLAIN, ("float32(0)", "0.0")), "float64 operations"),
            Mutant("products of a matrix library", changed(PLAIN, ("        acc = float32(0)\n        for k in range("
                   "A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = acc",
                   "        C[row, col] = A[row] @ B[:, col]")), "@"),
        ),
    ),
    Key(
        "14.3",
        (Part("other shapes", 1, products((33, 18, 40), (17, 50, 3), (48, 16, 20), (9, 130, 7))),
         Part("smallest and square", 1, SMALLEST)),
        (
            Mutant("no tiles", changed(PLAIN, ("plain_product", "tiled_product")), "49152 global loads; at most 3072"),
            Mutant("no barrier before the sums", changed(TILED, ("        cuda.syncthreads()\n", "")),
                   "reads As[0, 0], which"),
            Mutant("no barrier after the sums", changed(TILED, ("        cuda.syncthreads()  # read\n", "")),
                   "writes As["),
            Mutant("barrier in the guard", changed(TILED, ("        cuda.syncthreads()\n", ""),
                   ("B[m * TILE + ty, col]\n", "B[m * TILE + ty, col]\n            cuda.syncthreads()\n")),
                   "does not come to this barrier"),
            Mutant("early return", changed(TILED, ("    acc = float32(0)\n", "    acc = float32(0)\n"
                   "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n")),
                   "As[0, 3], which nobody has written yet"),
            Mutant("turns from the grid", changed(TILED, ("range((A.shape[1] + TILE - 1) // TILE)",
                   "range(cuda.gridDim.x)")), "knows nothing of K"),
            Mutant("four turns always", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "4")),
                   "tiled_product on a hidden case returns wrong numbers"),
            Mutant("rounds down", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "A.shape[1] // TILE")),
                   "round the number of turns up"),
            Mutant("one turn", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "1")), "Only the first turn along K"),
            Mutant("sum begins anew", changed(TILED, ("        As[ty, tx] = float32(0)\n", "        acc = float32(0)\n"
                   "        As[ty, tx] = float32(0)\n")), "Only the last turn along K"),
            Mutant("row and column exchanged", changed(TILED, ("col, row =", "row, col =")), "Nobody wrote C["),
            Mutant("transposed in the block", changed(TILED, ("col, row = cuda.grid(2)\n    tx, ty = "
                   "cuda.threadIdx.x, cuda.threadIdx.y", "ty, tx = cuda.threadIdx.x, cuda.threadIdx.y\n    col, row = "
                   "cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty")), "global load sectors; at most"),
            Mutant("tile's indices exchanged for the sums", changed(TILED, ("As[ty, k] * Bs[k, tx]",
                   "As[tx, k] * Bs[k, ty]")), "C[0, 1] is"),
            Mutant("tile of A turned, without padding", changed(TILED, ("As[ty, tx]", "As[tx, ty]"), ("As[ty, k]",
                   "As[k, ty]")), "672 bank conflicts; at most 96"),
            Mutant("no guard for the loads", changed(TILED, ("row < A.shape[0] and m * TILE + tx < A.shape[1]",
                   "True")), "on axis 0 of A"),
            Mutant("K of A not guarded", changed(TILED, (" and m * TILE + tx < A.shape[1]", "")), "on axis 1 of A"),
            Mutant("no guard for the store", changed(TILED, ("if row < C.shape[0] and col < C.shape[1]:",
                   "if row >= 0:")), "of C"),
            Mutant("float64 sum", changed(TILED, ("acc = float32(0)", "acc = 0.0")), "float64 operations"),
            Mutant("no zeros in the tile", changed(TILED, ("        Bs[ty, tx] = float32(0)\n", "")),
                   "reads Bs[1, 0], which nobody has written yet"),
        ),
    ),
    Key(
        "14.4",
        (Part("other shapes", 1, layers((9, 33, 6), (17, 8, 30), (5, 50, 13))),
         Part("smallest and square", 1, layers((1, 40, 1), (20, 1, 9), (1, 1, 1), (24, 24, 24)))),
        (
            Mutant("one barrier, at the end of a turn", changed(LAYER, ("        cuda.syncthreads()\n", "")),
                   "with no barrier between"),
            Mutant("one barrier, before the sums", changed(LAYER, ("        cuda.syncthreads()  # read\n", "")),
                   "writes xt["),
            Mutant("the barrier behind the loop", changed(LAYER, ("        cuda.syncthreads()  # read",
                   "    cuda.syncthreads()")), "of block (0, 0) writes"),
            Mutant("threads outside leave", changed(LAYER, ("    z = b[j]", "    if i >= a.shape[0] or j >= a.shape[1]:"
                   "\n        return\n    z = b[j]")), "which nobody has written yet"),
            Mutant("threads outside skip the loop", changed(LAYER, ("range((x.shape[1] + 7) // 8)", "range((x.shape[1] "
                   "+ 7) // 8 if i < a.shape[0] and j < a.shape[1] else 0)")), "does not come to this barrier"),
            Mutant("turns from the grid", changed(LAYER, ("(x.shape[1] + 7) // 8", "cuda.gridDim.x")),
                   "knows nothing of F"),
            Mutant("turns rounded down", changed(LAYER, ("(x.shape[1] + 7) // 8", "x.shape[1] // 8")),
                   "round the number of turns up"),
            Mutant("rows not guarded", changed(LAYER, ("i < x.shape[0] and ", "")), "on axis 0 of x"),
            Mutant("columns not guarded", changed(LAYER, (" and j < w.shape[1]", "")), "on axis 1 of w"),
            Mutant("bias not guarded", changed(LAYER, (" if j < b.size else float32(0)", "")), "on b"),
            Mutant("no bias", changed(LAYER, ("b[j] if j < b.size else float32(0)", "float32(0)")),
                   "The bias is missing"),
            Mutant("no ReLU", changed(LAYER, ("max(z, float32(0))", "z")), "the ReLU is missing"),
            Mutant("bias in each turn", changed(LAYER, ("        p, q =", "        z += b[j] if j < b.size else "
                   "float32(0)\n        p, q =")), "a[0, 0] is"),
            Mutant("no tiles", """
@gpu.jit
def dense_relu(x, w, b, a):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        z = b[j]
        for f in range(x.shape[1]):
            z += x[i, f] * w[f, j]
        a[i, j] = max(z, float32(0))
""", "8448 global loads; at most 1280"),
            Mutant("float64", changed(LAYER, ("max(z, float32(0))", "max(1.0 * z, 0.0)")), "float64 operations"),
        ),
        untouched="writes xs[",
    ),
    Key(
        "14.5",
        (Part("other shapes", 1, products((65, 18, 40), (31, 50, 3), (4, 8, 70), (9, 130, 33))),
         Part("smallest and square", 1, SMALLEST)),
        (
            Mutant("one result a thread, four times", """
@gpu.jit
def four_rows(A, B, C):
    col, top = cuda.blockIdx.x * 32 + cuda.threadIdx.x, cuda.blockIdx.y * 32 + 4 * cuda.threadIdx.y
    for i in range(4):
        if top + i < C.shape[0] and col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1]):
                acc += A[top + i, k] * B[k, col]
            C[top + i, col] = acc
""", "65536 global loads; at most 2048"),
            Mutant("B read for each row", changed(FOUR, ("k] * b\n", "k] * Bs[k, tx]\n"), ("            b = Bs[k, tx]"
                   "\n", "")), "made here, 2,048. Keep a number that a thread needs again"),
            Mutant("i outside, k inside", changed(FOUR, ("        for k in range(DEEP):\n            b = Bs[k, tx]\n"
                   "            for i in range(4):\n                acc[i] += As[4 * ty + i, k] * b",
                   "        for i in range(4):\n            for k in range(DEEP):\n                b = Bs[k, tx]\n"
                   "                acc[i] = acc[i] + As[4 * ty + i, k] * b")),
                   "2048 shared load requests; at most 1280 are"),
            Mutant("no barrier before the sums", changed(FOUR, ("        cuda.syncthreads()\n", "")), "reads Bs["),
            Mutant("no barrier after the sums", changed(FOUR, ("        cuda.syncthreads()  # read\n", "")),
                   "writes As["),
            Mutant("A brought column by column", changed(FOUR, ("(32 * ty + tx) // 8, (32 * ty + tx) % 8",
                   "tx, ty")), "global load sectors; at most"),
            Mutant("A brought as B is", changed(FOUR, ("(32 * ty + tx) // 8, (32 * ty + tx) % 8", "ty, tx")),
                   "on axis 1 of As"),
            Mutant("rows one apart", changed(FOUR, ("4 * ty + i", "ty + i")), "writes C["),
            Mutant("the same row four times", changed(FOUR, ("As[4 * ty + i, k]", "As[4 * ty, k]")),
                   "the row of A must change with i"),
            Mutant("sums not begun", changed(FOUR, ("    for i in range(4):\n        acc[i] = float32(0)\n", "")),
                   "acc"),
            Mutant("one guard for four rows", changed(FOUR, ("if row0 + 4 * ty + i < M and", "if row0 + 4 * ty < M "
                   "and")), "on axis 0 of C"),
            Mutant("early return", changed(FOUR, ("    r, c =", "    if col >= N:\n        return\n    r, c =")),
                   "which nobody has written yet"),
            Mutant("turns rounded down", changed(FOUR, ("range(0, K, DEEP)", "range(0, K // DEEP * DEEP, DEEP)")),
                   "round the number of turns up"),
            Mutant("turns from the grid", changed(FOUR, ("range(0, K, DEEP)", "range(0, DEEP * cuda.gridDim.x, DEEP)")),
                   "knows nothing of K"),
            Mutant("float64 sums", changed("import numpy as np\n" + FOUR, ("acc = cuda.local.array(4, float32)",
                   "acc = cuda.local.array(4, np.float64)")), "since acc is an array of float64"),
        ),
    ),
    Key(
        "14.6",
        (Part("other shapes", 1, products((65, 18, 40), (31, 50, 3), (4, 8, 70), (9, 130, 33))),
         Part("smallest and square", 1, SMALLEST)),
        (
            Mutant("numbers not kept", changed(SIXTEEN, ("a[i] * b[j]", "As[ty + 8 * i, k] * Bs[k, tx + 8 * j]"),
                   ("            for i in range(4):\n                a[i] = As[ty + 8 * i, k]\n                b[i] = "
                    "Bs[k, tx + 8 * i]\n", "")), "2048 shared load requests; at most 512"),
            Mutant("only b kept", changed(SIXTEEN, ("a[i] * b[j]", "As[ty + 8 * i, k] * b[j]"),
                   ("                a[i] = As[ty + 8 * i, k]\n", "")), "made here, 1,024. Keep a number"),
            Mutant("no barrier before the sums", changed(SIXTEEN, ("        cuda.syncthreads()\n", "")), "reads As["),
            Mutant("no barrier after the sums", changed(SIXTEEN, ("        cuda.syncthreads()  # read\n", "")),
                   "writes As["),
            Mutant("one element a thread", changed(SIXTEEN, ("for p in range(4)", "for p in range(1)")),
                   "which nobody has written yet"),
            Mutant("A column by column", changed(SIXTEEN, ("r, c = e // 8, e % 8", "r, c = e % 32, e // 32")),
                   "global load sectors; at most"),
            Mutant("four neighbours a thread", changed(SIXTEEN, ("64 * p + 8 * ty + tx", "4 * (8 * ty + tx) + p")),
                   "1024 global load sectors; at most 512"),
            Mutant("B's tile as wide as A's", changed(SIXTEEN, ("r, c = e // 32, e % 32", "r, c = e // 8, e % 8")),
                   "on axis 0 of Bs"),
            Mutant("rows and columns one apart", changed(SIXTEEN, ("ty + 8 * i", "ty + i"), ("tx + 8 * i", "tx + i"),
                   ("tx + 8 * j", "tx + j")), "writes C["),
            Mutant("rows every eighth in one place only", changed(SIXTEEN, ("row0 + ty + 8 * i", "row0 + 4 * ty + i")),
                   "C[1, 0] is"),
            Mutant("rows and columns of the sums exchanged", changed(SIXTEEN, ("C[row, col] = acc[i, j]",
                   "C[row, col] = acc[j, i]")), "C[0, 8] is"),
            Mutant("one guard for all", changed(SIXTEEN, ("if row < M and col < N:", "if row0 + ty < M and col0 + tx < "
                   "N:")), "on axis 1 of C"),
            Mutant("turns rounded down", changed(SIXTEEN, ("range(0, K, DEEP)", "range(0, K // DEEP * DEEP, DEEP)")),
                   "round the number of turns up"),
            Mutant("turns from the grid", changed(SIXTEEN, ("range(0, K, DEEP)", "range(0, DEEP * cuda.gridDim.x, "
                   "DEEP)")), "knows nothing of K"),
            Mutant("a float64 zero", changed(SIXTEEN, ("a[i] * b[j]", "1.0 * a[i] * b[j]")), "float64 operations"),
        ),
    ),
    Key(
        "14.7",
        (Part("other blocks", 1, plain((256, 32.0, 4.0), (128, 20.0, 4.0), (32, 8.0, 1.0), (64, 10.0, 2.5))),
         Part("close to the limits", 1, plain((512, 42.0, 4.0), (1024, 32.0, 2.0), (256, 42.0, 5.0)))),
        (
            Mutant("always the lesson's", "def choose_tile(threads, intensity, reuse):\n    return 128, 128, 8, 8, 8",
                   "16 x 16 threads, BM / TM times BN / TN, are 256; there are to be 1024"),
            Mutant("intensity left out", changed(TILE, ("BM * BN >= 2 * intensity * (BM + BN) and ", "")),
                   "operations for a byte; at least 8 are wanted"),
            Mutant("reuse left out", changed(TILE, (" and TM * TN >= reuse * (TM + TN)", "")),
                   "multiplications for a number; at least 2 are wanted"),
            Mutant("operations for a number, not a byte", changed(TILE, ("2 * intensity", "0.5 * intensity")),
                   "a tile of 8 x 128 gives 3.76"),
            Mutant("registers left out", changed(TILE, ("registers > 255 or registers * threads > 65536", "False"),
                   ("sides = [1, 2, 4, 8, 16]", "sides = [16, 8, 4, 2, 1]")),
                   "16 x 16 results need 312 registers; a thread has at most 255"),
            Mutant("registers of the block left out", changed(TILE, (" or registers * threads > 65536", ""),
                   ("sides = [1, 2, 4, 8, 16]", "sides = [16, 8, 4, 2, 1]")),
                   "there are 65,536"),
            Mutant("shared memory left out", changed(TILE, ("8\n", "128\n"), (" or 4 * (BM + BN) * BK > 49152", "")),
                   "a block has 49,152"),
            Mutant("turns of one", changed(TILE, ("threads // down), 8", "threads // down), 1")),
                   "BK = 1 is no multiple of 8"),
            Mutant("fractions", changed(TILE, ("threads // down", "threads / down"), ("BN % 8 or ", "")),
                   "the result has a float"),
            Mutant("another order", changed(TILE, ("return BM, BN, BK, TM, TN", "return TM, TN, BM, BN, BK")),
                   "does not divide"),
            Mutant("four numbers", changed(TILE, ("BM, BN, BK, TM, TN\n", "BM, BN, TM, TN\n")),
                   "the result must be BM, BN, BK, TM, TN."),
            Mutant("gives up", changed(TILE, ("sides = [1, 2, 4, 8, 16]", "sides = [1, 2]")), "Is there a return?"),
        ),
    ),
    Key(
        "14.8",
        (Part("other shapes", 1, pairs(((9, 130), (130,)), ((5, 32), (32,)), ((8, 33), (33,)))),
         Part("few elements", 1, pairs(((1, 1), (1,)), ((3, 2), (2,)), ((2, 31), (31,))))),
        (
            Mutant("a thread a row", """
@gpu.jit
def matrix_vector(A, x, y):
    row = cuda.grid(1)
    if row < y.size:
        acc = float32(0)
        for k in range(x.size):
            acc += A[row, k] * x[k]
        y[row] = acc
""", "700 global load sectors; at most 216"),
            Mutant("a run for each lane", changed(VECTOR, ("        for k in range(lane, x.size, 32):\n",
                   "        part = (x.size + 31) // 32\n        for k in range(lane * part, min(lane * part + part, "
                   "x.size)):\n")), "global load sectors; at most 216"),
            Mutant("every lane the whole row", changed(VECTOR, ("range(lane, x.size, 32)", "range(x.size)")),
                   "y[0] is"),
            Mutant("32 elements only", changed(VECTOR, ("for k in range(lane, x.size, 32):", "k = lane\n        if k < "
                   "x.size:")), "Only the first 32 elements"),
            Mutant("steps of all threads", changed(VECTOR, ("x.size, 32)", "x.size, cuda.gridsize(1))")),
                   "Only the first 32 elements of each row"),
            Mutant("no shuffles", changed(VECTOR, ("        while step > 0:\n            acc += cuda.shfl_down_sync("
                   "0xFFFFFFFF, acc, step)\n            step //= 2\n", "")), "were the values shuffled?"),
            Mutant("begins at 8", changed(VECTOR, ("step = 16", "step = 8")), "Half of each warp is missing"),
            Mutant("stops early", changed(VECTOR, ("step > 0", "step > 1")), "The shuffles stop one step too early"),
            Mutant("shuffle in the branch", changed(VECTOR, ("            acc += cuda.shfl", "            if lane < "
                   "step:\n                acc += cuda.shfl")), "shfl_down_sync"),
            Mutant("without x", changed(VECTOR, (" * x[k]", "")), "without those of x"),
            Mutant("every lane stores", changed(VECTOR, ("        if lane == 0:\n    ", "")), "writes y[0], which"),
            Mutant("no guard", changed(VECTOR, ("if row < y.size:", "if row >= 0:")), "on axis 0 of A"),
            Mutant("lanes 0 of blocks only", changed(VECTOR, ("if lane == 0", "if cuda.threadIdx.x == 0")),
                   "Nobody wrote y[1]"),
            Mutant("atomics", changed(VECTOR, ("y[row] = acc", "cuda.atomic.add(y, row, acc)")), "uses atomic"),
            Mutant("float64", changed(VECTOR, ("float32(0)", "0.0")), "float64 operations"),
        ),
    ),
)  # fmt: skip
