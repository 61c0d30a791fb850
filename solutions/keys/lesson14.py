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

GRADIENT = """
@gpu.jit
def weight_gradient(X, dZ, dW):
    col, row = cuda.grid(2)
    if row < dW.shape[0] and col < dW.shape[1]:
        acc = float32(0)
        for s in range(X.shape[0]):
            acc += X[s, row] * dZ[s, col]
        dW[row, col] = acc
"""

TILED = """
TILE = 16

@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, 17), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    above = cuda.blockIdx.x * TILE + ty
    acc = float32(0)
    for m in range((A.shape[1] + TILE - 1) // TILE):
        As[ty, tx] = float32(0)
        if row < A.shape[0] and m * TILE + tx < A.shape[1]:
            As[ty, tx] = A[row, m * TILE + tx]
        Bs[ty, tx] = float32(0)
        if above < B.shape[0] and m * TILE + tx < B.shape[1]:
            Bs[ty, tx] = B[above, m * TILE + tx]
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[tx, k]
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

VECTORS = """
@gpu.jit
def four_vectors(A, X, Y):
    acc = cuda.local.array(4, float32)
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if row < Y.shape[1]:
        for n in range(4):
            acc[n] = float32(0)
        for k in range(lane, X.shape[1], 32):
            weight = A[row, k]
            for n in range(4):
                acc[n] += weight * X[n, k]
        for n in range(4):
            step = 16
            while step > 0:
                acc[n] += cuda.shfl_down_sync(0xFFFFFFFF, acc[n], step)
                step //= 2
            if lane == 0:
                Y[n, row] = acc[n]
"""


def products(*sizes):
    """Return cases(rng) of A (M, K) and B (K, N), for sizes (M, K, N). No errors. Source: the course's own."""
    return pairs(*[((M, K), (K, N)) for M, K, N in sizes])


def layers(*sizes):
    """Return cases(rng) of x (N, F), w (F, M) and b (M,), for sizes (N, F, M). No errors.

    Source: the course's own.
    """
    return lambda rng: [Case((whole(rng, N, F), whole(rng, F, M), whole(rng, M))) for N, F, M in sizes]


def gradients(*sizes):
    """Return cases(rng) of X (S, F) and dZ (S, M), for sizes (S, F, M). No errors. Source: the course's own."""
    return pairs(*[((S, F), (S, M)) for S, F, M in sizes])


def transposed(*sizes):
    """Return cases(rng) of A (M, K) and B (N, K), for sizes (M, K, N). No errors. Source: the course's own."""
    return pairs(*[((M, K), (N, K)) for M, K, N in sizes])


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
        (Part("other shapes", 1, gradients((33, 18, 40), (8, 32, 70), (70, 9, 8))),
         Part("smallest and square", 1, gradients((40, 1, 1), (1, 20, 9), (1, 1, 1), (24, 24, 24)))),
        (
            Mutant("rows along x", changed(GRADIENT, ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
                   "1440 global store sectors; at most 400"),
            Mutant("no guard", changed(GRADIENT, ("row < dW.shape[0] and col < dW.shape[1]", "row >= 0")),
                   "Guard the line"),
            Mutant("guard by the wrong axes", changed(GRADIENT, ("row < dW.shape[0] and col < dW.shape[1]",
                   "row < dW.shape[1] and col < dW.shape[0]")), "uses index 36 on axis 1 of dZ"),
            Mutant("guard for rows only", changed(GRADIENT, (" and col < dW.shape[1]", "")), "(26,880 times)"),
            Mutant("samples from the features", changed(GRADIENT, ("range(X.shape[0])", "range(X.shape[1])")),
                   "index 24 on axis 0 of X"),
            Mutant("sum in dW", changed(GRADIENT, ("        acc = float32(0)\n", "        dW[row, col] = float32(0)\n"),
                   ("acc += X", "dW[row, col] += X"), ("        dW[row, col] = acc\n", "")),
                   "global loads; at most 69120"),
            Mutant("only the last product", changed(GRADIENT, ("acc += X", "acc = X")),
                   "Only the last sample is there"),
            Mutant("last step missing", changed(GRADIENT, ("range(X.shape[0])", "range(X.shape[0] - 1)")),
                   "The last sample is missing"),
            Mutant("X not turned", changed(GRADIENT, ("X[s, row]", "X[row, s]")), "on axis 0 of X"),
            Mutant("the lesson's kernel", """
@gpu.jit
def weight_gradient(X, dZ, dW):
    m, f = cuda.grid(2)
    if f < dW.shape[0] and m < dW.shape[1]:
        z = float32(0)
        for s in range(X.shape[1]):
            z += X[f, s] * dZ[s, m]
        dW[f, m] = z
""", "on axis 0 of"),
            Mutant("rows for numbers", changed(GRADIENT, ("X[s, row] * dZ[s, col]", "X[s] * dZ[s, col]")),
                   "X[s] is a whole row"),
            Mutant("float64 sum", changed(GRADIENT, ("float32(0)", "0.0")), "float64 operations"),
            Mutant("products of a matrix library", changed(GRADIENT, ("        acc = float32(0)\n        for s in "
                   "range(X.shape[0]):\n            acc += X[s, row] * dZ[s, col]\n        dW[row, col] = acc",
                   "        dW[row, col] = X[:, row] @ dZ[:, col]")), "@"),
        ),
    ),
    Key(
        "14.3",
        (Part("other shapes", 1, transposed((33, 18, 40), (17, 50, 3), (48, 16, 20), (9, 130, 7))),
         Part("smallest and square", 1, transposed((1, 40, 1), (20, 1, 9), (1, 1, 1), (24, 24, 24)))),
        (
            Mutant("no tiles", """
@gpu.jit
def tiled_product(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[col, k]
        C[row, col] = acc
""", "49152 global loads; at most 3072"),
            Mutant("the lesson's kernel", """
@gpu.jit
def tiled_product(A, B, C):
    a = cuda.shared.array((16, 16), float32)
    b = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    z = float32(0)
    for p in range(0, A.shape[1], 16):
        a[y, x] = A[i, p + x] if i < A.shape[0] and p + x < A.shape[1] else float32(0)
        b[y, x] = B[p + y, j] if p + y < A.shape[1] and j < B.shape[1] else float32(0)
        cuda.syncthreads()
        for q in range(16):
            z += a[y, q] * b[q, x]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = z
""", "on axis 0 of B"),
            Mutant("B's tile without padding", changed(TILED, ("(TILE, 17)", "(TILE, TILE)")),
                   "bank conflicts; at most 192"),
            Mutant("B down its columns", changed(TILED, ("Bs[ty, tx] = float32(0)", "Bs[tx, ty] = float32(0)"),
                   ("above < B.shape[0] and m * TILE + tx < B.shape[1]", "col < B.shape[0] and m * TILE + ty < "
                    "B.shape[1]"), ("Bs[ty, tx] = B[above, m * TILE + tx]", "Bs[tx, ty] = B[col, m * TILE + ty]")),
                   "global load sectors; at most"),
            Mutant("no barrier before the sums", changed(TILED, ("        cuda.syncthreads()\n", "")),
                   "which thread"),
            Mutant("no barrier after the sums", changed(TILED, ("        cuda.syncthreads()  # read\n", "")),
                   "writes Bs["),
            Mutant("barrier in the guard", changed(TILED, ("        cuda.syncthreads()\n", ""),
                   ("B[above, m * TILE + tx]\n", "B[above, m * TILE + tx]\n            cuda.syncthreads()\n")),
                   "does not come to this barrier"),
            Mutant("early return", changed(TILED, ("    acc = float32(0)\n", "    acc = float32(0)\n"
                   "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n")),
                   "thread (5, 0) of block 0 reads Bs[5, 0], which nobody"),
            Mutant("turns from the grid", changed(TILED, ("range((A.shape[1] + TILE - 1) // TILE)",
                   "range(cuda.gridDim.x)")), "knows nothing of K"),
            Mutant("four turns always", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "4")),
                   "tiled_product on a hidden case is right, but costs"),
            Mutant("rounds down", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "A.shape[1] // TILE")),
                   "round the number of turns up"),
            Mutant("one turn", changed(TILED, ("(A.shape[1] + TILE - 1) // TILE", "1")), "Only the first turn along K"),
            Mutant("sum begins anew", changed(TILED, ("        As[ty, tx] = float32(0)\n", "        acc = float32(0)\n"
                   "        As[ty, tx] = float32(0)\n")), "Only the last turn along K"),
            Mutant("row and column exchanged", changed(TILED, ("col, row =", "row, col =")), "Nobody wrote C["),
            Mutant("B's tile not turned", changed(TILED, ("Bs[tx, k]", "Bs[k, tx]")), "C[0, 0] is"),
            Mutant("tile's indices exchanged for the sums", changed(TILED, ("As[ty, k] * Bs[tx, k]",
                   "As[tx, k] * Bs[ty, k]")), "C[0, 1] is"),
            Mutant("tile of A turned, without padding", changed(TILED, ("As[ty, tx] = float32(0)", "As[tx, ty] = "
                   "float32(0)"), ("As[ty, tx] = A", "As[tx, ty] = A"), ("As[ty, k]", "As[k, ty]")),
                   "bank conflicts; at most 96"),
            Mutant("no guard for the loads", changed(TILED, ("row < A.shape[0] and m * TILE + tx < A.shape[1]",
                   "True")), "on axis 0 of A"),
            Mutant("K of A not guarded", changed(TILED, (" and m * TILE + tx < A.shape[1]", "")), "on axis 1 of A"),
            Mutant("rows of B not guarded", changed(TILED, ("above < B.shape[0] and ", "")),
                   "uses index 19 on axis 0 of B, which has 19"),
            Mutant("no guard for the store", changed(TILED, ("if row < C.shape[0] and col < C.shape[1]:",
                   "if row >= 0:")), "of C"),
            Mutant("float64 sum", changed(TILED, ("acc = float32(0)", "acc = 0.0")), "float64 operations"),
            Mutant("no zeros in the tile", changed(TILED, ("        Bs[ty, tx] = float32(0)\n", "")),
                   "reads Bs[0, 13], which nobody has written yet"),
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
                   "writes wt["),
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
        untouched="writes ws[",
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
                   "writes Bs["),
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
            Mutant("no barrier before the sums", changed(SIXTEEN, ("        cuda.syncthreads()\n", "")), "reads Bs["),
            Mutant("no barrier after the sums", changed(SIXTEEN, ("        cuda.syncthreads()  # read\n", "")),
                   "writes Bs["),
            Mutant("four rows side by side, in rows of 8", changed(SIXTEEN, ("a[i] = As[ty + 8 * i, k]",
                   "a[i] = As[4 * ty + i, k]"), ("row0 + ty + 8 * i", "row0 + 4 * ty + i")),
                   "768 bank conflicts; at most 384"),
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
                   "a tile of 4 x 1024 gives 1.99 operations for a byte; at least 16"),
            Mutant("reuse left out", changed(TILE, (" and TM * TN >= reuse * (TM + TN)", "")),
                   "multiplications for a number; at least 2 are wanted"),
            Mutant("operations for a number, not a byte", changed(TILE, ("2 * intensity", "0.5 * intensity")),
                   "a tile of 16 x 256 gives 7.53"),
            Mutant("registers left out", changed(TILE, ("registers > 255 or registers * threads > 65536", "False"),
                   ("sides = [1, 2, 4, 8, 16]", "sides = [16, 8, 4, 2, 1]")),
                   "16 x 16 results need 312 registers; a thread has at most 255"),
            Mutant("registers of the block left out", changed(TILE, (" or registers * threads > 65536", ""),
                   ("sides = [1, 2, 4, 8, 16]", "sides = [16, 8, 4, 2, 1]")),
                   "there are 65,536"),
            Mutant("registers of the block left out, small parts first", changed(TILE, (" or registers * threads > "
                   "65536", "")), "1024 threads of 74 registers need 75,776"),
            Mutant("whole sectors left out, high tiles first", changed(TILE, ("BN % 8 or ", ""), ("range(11)",
                   "range(10, -1, -1)")), "no multiple of 8"),
            Mutant("shared memory left out, high tiles first", changed(TILE, (" or 4 * (BM + BN) * BK > 49152", ""),
                   ("range(11)", "range(10, -1, -1)"), ("sides = [1, 2, 4, 8, 16]", "sides = [16, 8, 4, 2, 1]")),
                   "shorter turns"),
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
        (Part("other shapes", 1, pairs(((9, 130), (4, 130)), ((5, 32), (4, 32)), ((8, 33), (4, 33)))),
         Part("few elements", 1, pairs(((1, 1), (4, 1)), ((3, 2), (4, 2)), ((2, 31), (4, 31))))),
        (
            Mutant("one vector after the other", """
@gpu.jit
def four_vectors(A, X, Y):
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < A.shape[0]:
        for n in range(4):
            acc = float32(0)
            for k in range(lane, A.shape[1], 32):
                acc += A[row, k] * X[n, k]
            for p in range(5):
                acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, 16 >> p)
            if lane == 0:
                Y[n, row] = acc
""", "4800 global loads; at most 3000"),
            Mutant("a thread a row", """
@gpu.jit
def four_vectors(A, X, Y):
    row = cuda.grid(1)
    if row < A.shape[0]:
        p, q, r, s = float32(0), float32(0), float32(0), float32(0)
        for k in range(A.shape[1]):
            a = A[row, k]
            p += a * X[0, k]
            q += a * X[1, k]
            r += a * X[2, k]
            s += a * X[3, k]
        Y[0, row] = p
        Y[1, row] = q
        Y[2, row] = r
        Y[3, row] = s
""", "1000 global load sectors; at most 600"),
            Mutant("a run for each lane", changed(VECTORS, ("        for k in range(lane, X.shape[1], 32):\n",
                   "        part = (X.shape[1] + 31) // 32\n        for k in range(lane * part, min(lane * part + part"
                   ", X.shape[1])):\n")), "1560 global load sectors; at most 600"),
            Mutant("every lane the whole row", changed(VECTORS, ("range(lane, X.shape[1], 32)", "range(X.shape[1])")),
                   "It is 32 times what was expected"),
            Mutant("32 elements only", changed(VECTORS, ("range(lane, X.shape[1], 32)", "range(lane, min(32, "
                   "X.shape[1]), 32)")), "Only the first 32 elements"),
            Mutant("one sum for all", """
@gpu.jit
def four_vectors(A, X, Y):
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < A.shape[0]:
        acc = float32(0)
        for k in range(lane, A.shape[1], 32):
            a = A[row, k]
            for n in range(4):
                acc += a * X[n, k]
        for p in range(5):
            acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, 16 >> p)
        if lane < 4:
            acc = cuda.shfl_sync(0xF, acc, 0)
            Y[lane, row] = acc
""", "One sum has taken in all four"),
            Mutant("the first vector four times", changed(VECTORS, ("X[n, k]", "X[0, k]")),
                   "X[n, k] has to change with n"),
            Mutant("one vector only", changed(VECTORS, ("range(4)", "range(1)")), "Nobody wrote Y[1, 0]"),
            Mutant("no shuffles", changed(VECTORS, ("            while step > 0:\n                acc[n] += "
                   "cuda.shfl_down_sync(0xFFFFFFFF, acc[n], step)\n                step //= 2\n", "")),
                   "were the values shuffled?"),
            Mutant("begins at 8", changed(VECTORS, ("step = 16", "step = 8")), "Half of each warp is missing"),
            Mutant("stops early", changed(VECTORS, ("step > 0", "step > 1")), "The shuffles stop one step too early"),
            Mutant("step not set anew", changed(VECTORS, ("        for n in range(4):\n            step = 16\n",
                   "        step = 16\n        for n in range(4):\n")), "Y[1, 0] is"),
            Mutant("shuffle in the branch", changed(VECTORS, ("                acc[n] += cuda.shfl", "                "
                   "if lane < step:\n                    acc[n] += cuda.shfl")), "shfl_down_sync"),
            Mutant("sums not begun", changed(VECTORS, ("            acc[n] = float32(0)\n", "            step = n\n")),
                   "reads acc[0], which nobody has written yet"),
            Mutant("Y turned", changed(VECTORS, ("Y[n, row] = acc[n]", "Y[row, n] = acc[n]")), "on axis 0 of Y"),
            Mutant("every lane stores", changed(VECTORS, ("            if lane == 0:\n    ", "")),
                   "writes Y[0, 0], which"),
            Mutant("no guard", changed(VECTORS, ("if row < Y.shape[1]:", "if row >= 0:")), "on axis 0 of A"),
            Mutant("lanes 0 of blocks only", changed(VECTORS, ("if lane == 0", "if cuda.threadIdx.x == 0")),
                   "Nobody wrote Y[0, 1]"),
            Mutant("atomics", changed(VECTORS, ("Y[n, row] = acc[n]", "cuda.atomic.add(Y, (n, row), acc[n])")),
                   "uses atomic"),
            Mutant("float64", changed(VECTORS, ("weight * X[n, k]", "1.0 * weight * X[n, k]")), "float64 operations"),
        ),
    ),
)  # fmt: skip
