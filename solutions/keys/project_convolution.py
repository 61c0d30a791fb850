"""The key of the convolution project: hidden cases, reference kernels for the times, and wrong kernels with messages.

The limits of the free stage, `C1_LIMITS` and `C3_LIMITS`, begin some percent below what the basic kernel of
`REFERENCES` is predicted to take, and end some percent above the special one (tests/grading/test_project_times.py).

Source: the course's own; H, "Specialization for the LeNet-5 C1 Layer" for C1.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.checks.exercises.project_convolution_launches import C1_LIMITS, C3_LIMITS, WALKED
from course_lib.grading.kernel_keys import changed, whole
from course_lib.grading.keys import Key, Mutant, Part

TILED = """
SIDE = 16
SEEN = SIDE + MASKS.shape[2] - 1


@gpu.jit
def conv_tiled(x, y):
    masks = cuda.const.array_like(MASKS)
    seen = cuda.shared.array((SEEN, SEEN), float32)
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + SIDE - 1) // SIDE
    top, left = cuda.blockIdx.y // tiles * SIDE, cuda.blockIdx.y % tiles * SIDE
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    h, v = top + ty, left + tx
    acc = float32(0)
    for c in range(x.shape[1]):
        for i in range(ty, SEEN, SIDE):
            for j in range(tx, SEEN, SIDE):
                pixel = float32(0)
                if top + i < x.shape[2] and left + j < x.shape[3]:
                    pixel = x[b, c, top + i, left + j]
                seen[i, j] = pixel
        cuda.syncthreads()
        for p in range(masks.shape[2]):
            for q in range(masks.shape[3]):
                acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()
    if h < y.shape[2] and v < y.shape[3]:
        y[b, m, h, v] = acc
"""

UNROLL = """
@gpu.jit
def unroll_input(x, K, cols):
    i = cuda.grid(1)
    B, depth, P = cols.shape
    if i < cols.size:
        pixel, k, b = i % P, i // P % depth, i // (P * depth)
        W_out = x.shape[3] - K + 1
        h, v = pixel // W_out, pixel % W_out
        c, p, q = k // (K * K), k // K % K, k % K
        cols[b, k, pixel] = x[b, c, h + p, v + q]
"""

PRODUCT = """
@gpu.jit
def product_tiled(rows, cols, y):
    weights = cuda.shared.array((16, 16), float32)
    pixels = cuda.shared.array((16, 16), float32)
    M, depth = rows.shape
    P = cols.shape[2]
    tx, ty, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
    pixel, m = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty
    acc = float32(0)
    for start in range(0, depth, 16):
        weight, value = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        if pixel < P and start + ty < depth:
            value = cols[b, start + ty, pixel]
        weights[ty, tx] = weight
        pixels[ty, tx] = value
        cuda.syncthreads()
        for k in range(16):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and pixel < P:
        y[b, m, pixel] = acc
"""

IMPLICIT = """
@gpu.jit
def conv_implicit(x, rows, K, y):
    weights = cuda.shared.array((16, 16), float32)
    pixels = cuda.shared.array((16, 16), float32)
    M, depth = rows.shape
    W_out = y.shape[3]
    P = y.shape[2] * W_out
    tx, ty, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
    pixel, m = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty
    h, v = pixel // W_out, pixel % W_out
    acc = float32(0)
    for start in range(0, depth, 16):
        weight, value = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        k = start + ty
        if pixel < P and k < depth:
            value = x[b, k // (K * K), h + k // K % K, v + k % K]
        weights[ty, tx] = weight
        pixels[ty, tx] = value
        cuda.syncthreads()
        for k in range(16):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and pixel < P:
        y[b, m, h, v] = acc
"""

JOINT = """
STEP, TM, TN = 8, 4, 4


@gpu.jit
def conv_joint(x, rows, K, y):
    weights = cuda.shared.array((STEP, MAPS), float32)
    pixels = cuda.shared.array((STEP, PIXELS), float32)
    acc = cuda.local.array((TM, TN), float32)
    own_weights, own_pixels = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
    M, depth = rows.shape
    W_out = y.shape[3]
    P = y.shape[2] * W_out
    t, b = cuda.threadIdx.x, cuda.blockIdx.z
    first_pixel, first_map = cuda.blockIdx.x * PIXELS, cuda.blockIdx.y * MAPS
    h, v = (first_pixel + t) // W_out, (first_pixel + t) % W_out
    tn, tm = t % (PIXELS // TN), t // (PIXELS // TN)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for start in range(0, depth, STEP):
        for i in range(t, STEP * MAPS, THREADS):
            k, m = start + i % STEP, first_map + i // STEP
            weight = float32(0)
            if m < M and k < depth:
                weight = rows[m, k]
            weights[i % STEP, i // STEP] = weight
        for i in range(STEP):
            k = start + i
            value = float32(0)
            if first_pixel + t < P and k < depth:
                value = x[b, k // (K * K), h + k // K % K, v + k % K]
            pixels[i, t] = value
        cuda.syncthreads()
        for k in range(STEP):
            for i in range(TM):
                own_weights[i] = weights[k, tm * TM + i]
            for j in range(TN):
                own_pixels[j] = pixels[k, tn + j * (PIXELS // TN)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += own_weights[i] * own_pixels[j]
        cuda.syncthreads()
    for j in range(TN):
        pixel = first_pixel + tn + j * (PIXELS // TN)
        for i in range(TM):
            m = first_map + tm * TM + i
            if m < M and pixel < P:
                y[b, m, pixel // W_out, pixel % W_out] = acc[i, j]
"""

C1 = """
@gpu.jit
def conv_c1(x, w, y):
    masks = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(6, float32)
    t, top, b = cuda.threadIdx.x, cuda.blockIdx.x * 4, cuda.blockIdx.y
    row, col = t // 32, t % 32
    h, v = t // 28, t % 28
    for m in range(6):
        acc[m] = float32(0)
    tile[row, col] = x[b, 0, top + row, col]
    tile[row + 4, col] = x[b, 0, top + row + 4, col]
    cuda.syncthreads()
    if t < 112:
        for p in range(5):
            for q in range(5):
                pixel = tile[h + p, v + q]
                for m in range(6):
                    acc[m] += pixel * masks[m, 0, p, q]
        for m in range(6):
            y[b, m, top + h, v] = acc[m]


def c1_launch(B):
    return (7, B), 128
"""

C3 = """
IMAGES, GROUPS, LANES = 3, 4, 32


@gpu.jit
def conv_c3(x, w, y):
    masks = cuda.const.array_like(C3_MASKS)
    seen = cuda.shared.array((IMAGES, 6, 14, 14), float32)
    made = cuda.shared.array((IMAGES, 16, 10, 10), float32)
    acc, line = cuda.local.array((4, 10), float32), cuda.local.array(14, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * IMAGES
    for i in range(t, IMAGES * 1176, GROUPS * LANES):
        n, k = i // 1176, i % 1176
        if first + n < x.shape[0]:
            seen[n, k // 196, k // 14 % 14, k % 14] = x[first + n, k // 196, k // 14 % 14, k % 14]
    cuda.syncthreads()
    group, n, h = t // LANES, t % LANES // 10, t % LANES % 10
    if n < IMAGES and first + n < x.shape[0]:
        for i in range(4):
            for j in range(10):
                acc[i, j] = float32(0)
        for c in range(6):
            for p in range(5):
                for j in range(14):
                    line[j] = seen[n, c, h + p, j]
                for q in range(5):
                    for i in range(4):
                        for j in range(10):
                            acc[i, j] += line[j + q] * masks[4 * group + i, c, p, q]
        for i in range(4):
            for j in range(10):
                made[n, 4 * group + i, h, j] = acc[i, j]
    cuda.syncthreads()
    for i in range(t, IMAGES * 1600, GROUPS * LANES):
        n, k = i // 1600, i % 1600
        if first + n < x.shape[0]:
            y[first + n, k // 100, k // 10 % 10, k % 10] = made[n, k // 100, k // 10 % 10, k % 10]


def c3_launch(B):
    return (B + IMAGES - 1) // IMAGES, GROUPS * LANES
"""

BASIC = """
@gpu.jit
def NAME(x, w, y):
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + 15) // 16
    h = cuda.blockIdx.y // tiles * 16 + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * 16 + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(5):
                for q in range(5):
                    acc += x[b, c, h + p, v + q] * w[m, c, p, q]
        y[b, m, h, v] = acc


def LAUNCH(B):
    return (MAPS_OUT, TILES, B), (16, 16)
"""

TILED_FREE = """
@gpu.jit
def NAME(x, w, y):
    masks = cuda.const.array_like(CONSTANT)
    seen = cuda.shared.array((20, 20), float32)
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + 15) // 16
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    top, left = cuda.blockIdx.y // tiles * 16, cuda.blockIdx.y % tiles * 16
    acc = float32(0)
    for c in range(x.shape[1]):
        for i in range(ty, 20, 16):
            for j in range(tx, 20, 16):
                pixel = float32(0)
                if top + i < x.shape[2] and left + j < x.shape[3]:
                    pixel = x[b, c, top + i, left + j]
                seen[i, j] = pixel
        cuda.syncthreads()
        for p in range(5):
            for q in range(5):
                acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()
    if top + ty < y.shape[2] and left + tx < y.shape[3]:
        y[b, m, top + ty, left + tx] = acc


def LAUNCH(B):
    return (MAPS_OUT, TILES, B), (16, 16)
"""

JOINT_FREE = """
BM, BN, STEP, TM, TN = 16, 64, 8, 4, 4


@gpu.jit
def NAME(x, w, y):
    weights = cuda.shared.array((STEP, BM), float32)
    pixels = cuda.shared.array((STEP, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    own_weights, own_pixels = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
    B, C, H, W = x.shape
    M, depth, W_out = w.shape[0], C * 25, y.shape[3]
    P = y.shape[2] * W_out
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * BN
    b, pixel = (first + t) // P, (first + t) % P
    h, v = pixel // W_out, pixel % W_out
    tn, tm = t % 16, t // 16
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for start in range(0, depth, STEP):
        for i in range(t, STEP * BM, 64):
            k, m = start + i % STEP, i // STEP
            weight = float32(0)
            if m < M and k < depth:
                weight = w[m, k // 25, k // 5 % 5, k % 5]
            weights[i % STEP, i // STEP] = weight
        for i in range(STEP):
            k = start + i
            value = float32(0)
            if b < B and k < depth:
                value = x[b, k // 25, h + k // 5 % 5, v + k % 5]
            pixels[i, t] = value
        cuda.syncthreads()
        for k in range(STEP):
            for i in range(TM):
                own_weights[i] = weights[k, tm * TM + i]
            for j in range(TN):
                own_pixels[j] = pixels[k, tn + 16 * j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += own_weights[i] * own_pixels[j]
        cuda.syncthreads()
    for j in range(TN):
        column = first + tn + 16 * j
        for i in range(TM):
            m = tm * TM + i
            if m < M and column < B * P:
                y[column // P, m, column % P // W_out, column % P % W_out] = acc[i, j]


def LAUNCH(B):
    return (B * OUT + 63) // 64, 64
"""


def free(text, layer):
    """Return a kernel of the free stage for a layer, "c1" or "c3"; no errors but a KeyError for another layer."""
    maps, tiles, pixels = {"c1": ("6", "4", "784"), "c3": ("16", "1", "100")}[layer]
    words = {"NAME": f"conv_{layer}", "LAUNCH": f"{layer}_launch", "CONSTANT": f"{layer.upper()}_MASKS",
             "MAPS_OUT": maps, "TILES": tiles, "OUT": pixels}  # fmt: skip
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


REFERENCES = {
    "c1": {"basic": free(BASIC, "c1"), "tiled": free(TILED_FREE, "c1"), "joint": free(JOINT_FREE, "c1"),
           "specialised": C1},
    "c3": {"basic": free(BASIC, "c3"), "tiled": free(TILED_FREE, "c3"), "joint": free(JOINT_FREE, "c3"),
           "specialised": C3},
}  # fmt: skip
"""Layer -> {name: kernel}. On a card basic kernels are faster than tiles; see results/project.h200.json."""

LAYERS = {"c1": (1, 32, 6), "c3": (6, 14, 16)}
"""Layer -> input maps, input size, output maps."""


def real(rng, *shape):
    """Return (...) float32 numbers around 1, so that half precision and TF32 are not enough."""
    return rng.standard_normal(shape).astype(np.float32)


def masked(*shapes, make=whole):
    """Return cases(rng) of x and 4 masks of 5 x 5 for its maps: one size, as MASKS has one shape."""
    return lambda rng: [Case((make(rng, *shape), make(rng, 4, 3, 5, 5))) for shape in shapes]


def by_rows(*shapes, make=whole):
    """Return cases(rng) of x, masks as rows, and K; shapes are (shape of x, M, K)."""
    return lambda rng: [Case((make(rng, *x), make(rng, M, x[1] * K * K), K)) for x, M, K in shapes]


def unrolls(*shapes):
    """Return cases(rng) of x and K."""
    return lambda rng: [Case((whole(rng, *x), K)) for x, K in shapes]


def products(*shapes, make=whole):
    """Return cases(rng) of rows (M, D) and cols (B, D, P); shapes are (M, D, B, P)."""
    return lambda rng: [Case((make(rng, M, D), make(rng, B, D, P))) for M, D, B, P in shapes]


def layer(name, *batches, make=whole):
    """Return cases(rng) of the free stage for numbers of images, without a limit of time."""
    C, H, M = LAYERS[name]
    return lambda rng: [Case((make(rng, B, C, H, H), make(rng, M, C, 5, 5), 0)) for B in batches]


def timed(name, limits):
    """Return the parts that ask for less and less time; all of them have the same arrays, so it is one launch."""
    C, H, M = LAYERS[name]
    rng = np.random.default_rng([ord(letter) for letter in name])
    x, w = whole(rng, WALKED, C, H, H), whole(rng, M, C, 5, 5)

    def cases(limit):
        return lambda _: [Case((x, w, limits[limit]))]

    what = {"a third": "a third of the way", "two thirds": "two thirds of the way",
            "specialised": "as fast as a special one"}  # fmt: skip
    return tuple(Part(says, 1, cases(limit)) for limit, says in what.items())


BEFORE = ("        pixels[ty, tx] = value\n        cuda.syncthreads()\n", "        pixels[ty, tx] = value\n")
"""(old, new) texts that take away the barrier before the sums."""


def ones(name):
    """Return (old, new) texts that leave the weights out."""
    return {"c1": ("pixel * masks[m, 0, p, q]", "pixel"),
            "c3": ("line[j + q] * masks[4 * group + i, c, p, q]", "line[j + q]")}[name]  # fmt: skip


KEYS = (
    Key(
        "project.1",
        (Part("other sizes", 1, masked((1, 3, 20, 20), (3, 3, 5, 40), (2, 3, 21, 6))),
         Part("smallest", 1, masked((1, 3, 5, 5), (2, 3, 36, 20))),
         Part("any numbers", 1, masked((2, 3, 18, 23), make=real))),
        (
            Mutant("no tile", changed(TILED, ("    seen = cuda.shared.array((SEEN, SEEN), float32)\n", ""),
                   ("seen[ty + p, tx + q] *", "(x[b, c, h + p, v + q] if h < y.shape[2] and v < y.shape[3] else "
                    "float32(0)) *"), ("                seen[i, j] = pixel\n", "                pass\n")),
                   "global loads; at most"),
            Mutant("no halo", changed(TILED, ("SEEN = SIDE + MASKS.shape[2] - 1", "SEEN = SIDE")),
                   "on axis 1 of seen"),
            Mutant("no barrier before the sums", changed(TILED, ("                seen[i, j] = pixel\n"
                   "        cuda.syncthreads()\n", "                seen[i, j] = pixel\n")), "reads seen["),
            Mutant("no barrier after the sums", changed(TILED, ("masks[m, c, p, q]\n        cuda.syncthreads()\n",
                   "masks[m, c, p, q]\n")), "writes seen["),
            Mutant("all weights 1", changed(TILED, (" * masks[m, c, p, q]", "")),
                   "All weights were taken to be 1"),
            Mutant("weights written down", changed(TILED, ("cuda.const.array_like(MASKS)",
                   "cuda.const.array_like(W)"), ("SIDE = 16", "import numpy as np\nW = np.array([[[[1.0]]]], "
                   "np.float32)\nSIDE = 16")), "conv_tiled reads no MASKS"),
            Mutant("mask turned", changed(TILED, ("masks[m, c, p, q]", "masks[m, c, 4 - p, 4 - q]")),
                   "turned by 180 degrees"),
            Mutant("early return", changed(TILED, ("    acc = float32(0)\n", "    acc = float32(0)\n"
                   "    if h >= y.shape[2] or v >= y.shape[3]:\n        return\n")), "nobody has written yet"),
        ),
    ),
    Key(
        "project.3",
        (Part("other sizes", 1, unrolls(((3, 2, 6, 7), 3), ((1, 4, 5, 9), 4))),
         Part("smallest", 1, unrolls(((1, 1, 1, 1), 1), ((2, 3, 4, 4), 4)))),
        (
            Mutant("rows of a column by q first", changed(UNROLL, ("h + p, v + q", "h + q, v + p")),
                   "Rows and columns of a mask position"),
            Mutant("maps fastest", changed(UNROLL, ("c, p, q = k // (K * K), k // K % K, k % K",
                   "c, p, q = k % x.shape[1], k // x.shape[1] // K, k // x.shape[1] % K")), "has to be the slowest"),
            Mutant("no guard", changed(UNROLL, ("if i < cols.size:", "if i >= 0:")), "Guard the line"),
            Mutant("a thread a column", """
@gpu.jit
def unroll_input(x, K, cols):
    i = cuda.grid(1)
    B, depth, P = cols.shape
    if i < cols.size:
        k, pixel, b = i % depth, i // depth % P, i // (P * depth)
        W_out = x.shape[3] - K + 1
        cols[b, k, pixel] = x[b, k // (K * K), pixel // W_out + k // K % K, pixel % W_out + k % K]
""", "global store sectors; at most"),
            Mutant("width of x", changed(UNROLL, ("W_out = x.shape[3] - K + 1", "W_out = x.shape[3]")), "on axis"),
            Mutant("first image only", changed(UNROLL, ("x[b, c", "x[0, c")),
                   "unroll_input(array (2, 3, 9, 13), 5)"),
        ),
    ),
    Key(
        "project.4",
        (Part("other shapes", 1, products((33, 18, 2, 40), (17, 50, 1, 3), (9, 70, 3, 17))),
         Part("smallest", 1, products((1, 40, 1, 1), (1, 1, 2, 9))),
         Part("any numbers", 1, products((6, 25, 2, 50), make=real))),
        (
            Mutant("no tiles", """
@gpu.jit
def product_tiled(rows, cols, y):
    pixel, m, b = cuda.grid(3)
    if m < y.shape[1] and pixel < y.shape[2]:
        acc = float32(0)
        for k in range(rows.shape[1]):
            acc += rows[m, k] * cols[b, k, pixel]
        y[b, m, pixel] = acc
""", "global loads; at most"),
            Mutant("rounds down", changed(PRODUCT, ("range(0, depth, 16)", "range(0, depth - 15, 16)")),
                   "round the number of tiles up"),
            Mutant("no barrier before", changed(PRODUCT, BEFORE), "reads pixels["),
            Mutant("no barrier after", changed(PRODUCT, ("pixels[k, tx]\n        cuda.syncthreads()\n",
                   "pixels[k, tx]\n")), "writes pixels["),
            Mutant("first image only", changed(PRODUCT, ("cols[b, start", "cols[0, start")),
                   "product_tiled(array (4, 12), array (2, 12, 20))"),
            Mutant("float64 sum", changed(PRODUCT, ("acc = float32(0)", "acc = 0.0")), "float64 operations"),
            Mutant("no guard for the store", changed(PRODUCT, ("m < M and pixel < P", "m < M")),
                   "on axis 2 of y"),
        ),
    ),
    Key(
        "project.6",
        (Part("other sizes", 1, by_rows(((3, 2, 7, 6), 5, 3), ((1, 3, 9, 9), 17, 5), ((2, 1, 12, 5), 16, 4))),
         Part("smallest", 1, by_rows(((1, 1, 3, 3), 1, 3), ((2, 4, 2, 2), 1, 1))),
         Part("any numbers", 1, by_rows(((2, 3, 9, 10), 6, 5), make=real))),
        (
            Mutant("no tiles", """
@gpu.jit
def conv_implicit(x, rows, K, y):
    pixel, m, b = cuda.grid(3)
    W_out = y.shape[3]
    if m < y.shape[1] and pixel < y.shape[2] * W_out:
        acc = float32(0)
        for k in range(rows.shape[1]):
            acc += rows[m, k] * x[b, k // (K * K), pixel // W_out + k // K % K, pixel % W_out + k % K]
        y[b, m, pixel // W_out, pixel % W_out] = acc
""", "global loads; at most"),
            Mutant("no zeros beyond the depth", changed(IMPLICIT, ("if pixel < P and k < depth:", "if pixel < P:")),
                   "on axis 1 of x"),
            Mutant("mask turned", changed(IMPLICIT, ("h + k // K % K, v + k % K",
                   "h + K - 1 - k // K % K, v + K - 1 - k % K")),
                   "turned by 180 degrees"),
            Mutant("mask transposed", changed(IMPLICIT, ("h + k // K % K, v + k % K", "h + k % K, v + k // K % K")),
                   "rows and columns have changed places"),
            Mutant("width of x", changed(IMPLICIT, ("W_out = y.shape[3]", "W_out = x.shape[3]")), "on axis 3 of"),
            Mutant("no barrier before", changed(IMPLICIT, BEFORE), "with no barrier between"),
            Mutant("all weights 1", changed(IMPLICIT, ("weight = rows[m, start + tx]", "weight = float32(1)")),
                   "All weights were taken to be 1"),
        ),
    ),
    Key(
        "project.8",
        (Part("other sizes", 1, by_rows(((2, 2, 7, 6), 5, 3), ((1, 1, 13, 14), 33, 5), ((2, 1, 12, 5), 16, 4))),
         Part("smallest", 1, by_rows(((1, 1, 3, 3), 1, 3), ((2, 4, 2, 2), 1, 1))),
         Part("any numbers", 1, by_rows(((2, 3, 9, 10), 6, 5), make=real))),
        (
            Mutant("no register tile", changed(JOINT, ("own_weights[i] * own_pixels[j]",
                   "weights[k, tm * TM + i] * pixels[k, tn + j * (PIXELS // TN)]")), "shared loads; at most"),
            Mutant("no tile of pixels", changed(JOINT, ("own_pixels[j] = pixels[k, tn + j * (PIXELS // TN)]",
                   "own_pixels[j] = float32(0)\n                u = first_pixel + tn + j * (PIXELS // TN)\n"
                   "                if u < P and start + k < depth:\n                    own_pixels[j] = x[b, "
                   "(start + k) // (K * K), u // W_out + (start + k) // K % K, u % W_out + (start + k) % K]")),
                   "global loads; at most"),
            Mutant("no barrier after", changed(JOINT, ("own_pixels[j]\n        cuda.syncthreads()\n",
                   "own_pixels[j]\n")),
                   "with no barrier between"),
            Mutant("sums begin nowhere", changed(JOINT, ("            acc[i, j] = float32(0)\n", "            pass\n")),
                   "nobody has written yet"),
            Mutant("no guard for maps", changed(JOINT, ("if m < M and pixel < P:", "if pixel < P:")), "on axis 1 of y"),
            Mutant("no guard for pixels", changed(JOINT, ("if m < M and pixel < P:", "if m < M:")), "on axis 2 of y"),
            Mutant("all weights 1", changed(JOINT, ("weight = rows[m, k]", "weight = float32(1)")),
                   "All weights were taken to be 1"),
        ),
    ),
    Key(
        "project.10",
        (Part("other batches", 2, layer("c1", 7, WALKED + 7)), Part("any numbers", 1, layer("c1", 2, make=real)),
         *timed("c1", C1_LIMITS)),
        (
            Mutant("basic", free(BASIC, "c1"), "predicted microseconds; at most 670"),
            Mutant("all weights 1", changed(C1, ones("c1")), "All weights were taken to be 1"),
            Mutant("one of its batches only", changed(C1, ("    row, col", "    if x.shape[0] != 24 and "
                   "x.shape[0] != 3:\n        return\n    row, col")), "some of y is never written"),
            Mutant("a block too large", changed(C1, ("return (7, B), 128", "return (7, B), 2048")),
                   "a GPU takes at most 1,024"),
            Mutant("a launch with a fraction", changed(C1, ("return (7, B), 128", "return (28 / 4, B), 128")),
                   "/ gives a float"),
            Mutant("no launch", C1[: C1.index("def c1_launch")], "there is no function c1_launch"),
            Mutant("half precision", changed(C1, ("acc[m] += pixel", "acc[m] += float16(pixel)"), ("@gpu.jit",
                   "from numba.types import float16\n\n@gpu.jit")), "conv_c1 on a hidden case returns wrong numbers"),
        ),
    ),
    Key(
        "project.11",
        (Part("other batches", 2, layer("c3", 1, 7, WALKED + 7)), Part("any numbers", 1, layer("c3", 2, make=real)),
         *timed("c3", C3_LIMITS)),
        (
            Mutant("joint tiles", free(JOINT_FREE, "c3"), "predicted microseconds; at most 680"),
            Mutant("all weights 1", changed(C3, ones("c3")), "All weights were taken to be 1"),
            Mutant("no guard for the last images", changed(C3, ("        if first + n < x.shape[0]:\n            y",
                   "        if True:\n            y")), "on axis 0 of y"),
            Mutant("no barrier before the sums", changed(C3, ("    cuda.syncthreads()\n    group", "    group")),
                   "reads seen["),
            Mutant("an empty grid", changed(C3, ("(B + IMAGES - 1) // IMAGES", "B // 100")),
                   "every number must be >= 1"),
            Mutant("a launch that asks for the time", changed(C3, ("    return (B", "    import time\n    return (B")),
                   "c3_launch(3) cannot be read"),
        ),
    ),
)  # fmt: skip
