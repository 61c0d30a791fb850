"""The key of lesson 12: hidden sizes, and answers that are wrong in the ways that students' answers are.

Source: the course's own.
"""

from course_lib.grading.kernel_keys import changed, plain, sizes
from course_lib.grading.keys import Key, Mutant, Part

COPY = """
@gpu.jit
def copy_four(x, y):
    t = cuda.threadIdx.x
    for k in range(4):
        i = cuda.blockIdx.x * 256 + 64 * k + t
        if i < x.size:
            y[i] = x[i]
"""

SECTORS = """
def sectors(stride, offset):
    touched = set()
    for lane in range(32):
        touched.add((offset + stride * lane) * 4 // 32)
    return len(touched)
"""

TURN = """
SIDE = 32
PADDED = SIDE + 1

@gpu.jit
def turn_right(x, y):
    tile = cuda.shared.array((SIDE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    c, r = cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx
    if c < x.shape[1] and r < x.shape[0]:
        y[c, x.shape[0] - 1 - r] = tile[tx, ty]
"""

NAIVE_TURN = """
@gpu.jit
def turn_right(x, y):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        y[column, x.shape[0] - 1 - row] = x[row, column]
"""

TILE_SUMS = """
@gpu.jit
def tile_sums(x, s):
    tile = cuda.shared.array((32, 33), float32)
    t, top = cuda.threadIdx.x, cuda.blockIdx.x * 32
    for r in range(32):
        tile[r, t] = x[top + r, t] if top + r < x.shape[0] else float32(0)
    cuda.syncthreads()
    acc = float32(0)
    for k in range(32):
        acc += tile[t, k]
    if top + t < s.size:
        s[top + t] = acc
"""

WAVEFRONTS = """
def wavefronts(stride):
    turns = [set() for bank in range(32)]
    for lane in range(32):
        turns[stride * lane % 32].add(stride * lane)
    return max(len(words) for words in turns)
"""

OCCUPANCY = """
def blocks_per_sm(device, threads, shared_bytes, registers):
    room, most, shared = SM[device]
    warps = (threads + 31) // 32
    taken = (shared_bytes + 1024 + 127) // 128 * 128
    a_warp = (32 * registers + 255) // 256 * 256
    found = [room // warps, most, shared // taken, 16384 // a_warp * 4 // warps]
    names = ["threads", "blocks", "shared memory", "registers"]
    return min(found), names[found.index(min(found))]
"""

BOUND = """
def bound(flops, moved, peak, bandwidth):
    a, m = flops / peak, moved / bandwidth
    if m > a:
        return "memory", m
    return "arithmetic", a
"""

KEYS = (
    Key(
        "12.1",
        (Part("other sizes", 1, sizes((1000,), (257,), (1024,))), Part("few elements", 1, sizes((1,), (63,), (65,)))),
        (
            Mutant("four neighbours a thread", changed(COPY, ("64 * k + t", "4 * t + k")),
                   "costs 256 global load sectors"),
            Mutant("half a sector a turn", changed(COPY, ("64 * k + t", "t // 4 * 16 + t % 4 + 4 * k")),
                   "costs 128 global load sectors"),
            Mutant("no guard", changed(COPY, ("if i < x.size:", "if i >= 0:")), "uses index 300 on x"),
            Mutant("steps by one warp", changed(COPY, ("64 * k", "32 * k")), "writes y[32], which thread"),
            Mutant("one turn only", changed(COPY, ("range(4)", "range(1)")), "Nobody wrote y[64]"),
            Mutant("a block's elements are 64", changed(COPY, ("* 256", "* 64")), "writes y[64], which thread"),
            Mutant("a guard for the thread instead of the element", changed(COPY, ("if i < x.size:",
                   "if i - 64 * k + 192 < x.size:")), "Nobody wrote y[256]"),
        ),
    ),
    Key(
        "12.2",
        (Part("other strides", 1, plain((4, 3), (7, 2), (8, 0), (100, 1), (3, 7))),
         Part("stride 0, offset 0", 1, plain((0, 0), (0, 31), (9, 0)))),
        (
            Mutant("always four", changed(SECTORS, ("len(touched)", "4")), "result is 4, expected 5"),
            Mutant("no offset", changed(SECTORS, ("offset + ", "")), "it may touch one more"),
            Mutant("sectors of 32 elements", changed(SECTORS, (" * 4", "")), "8 float32, not 32"),
            Mutant("one a lane", changed(SECTORS, ("len(touched)", "32")), "count each sector once"),
            Mutant("all between first and last", changed(SECTORS, ("len(touched)", "max(touched) - min(touched) + 1")),
                   "Those that no lane touches do not move"),
            Mutant("4 times the stride", changed(SECTORS, ("len(touched)", "min(32, 4 * stride) + (offset % 8 > 0)")),
                   "result is 33, expected 32"),
            Mutant("33 lanes", changed(SECTORS, ("range(32)", "range(33)")), "result is 5, expected 4"),
            Mutant("bytes", changed(SECTORS, ("len(touched)", "32 * len(touched)")), "result is 128, expected 4"),
        ),
    ),
    Key(
        "12.3",
        (Part("other shapes", 1, sizes((96, 64), (33, 100), (90, 31))), Part("one row, one column", 1,
         sizes((1, 50), (50, 1), (1, 1)))),
        (
            Mutant("no tile", NAIVE_TURN, "global store sectors"),
            Mutant("no tile, the other way round", changed(NAIVE_TURN, ("cuda.grid(2)",
                   "cuda.blockIdx.x * 32 + cuda.threadIdx.y, cuda.blockIdx.y * 32 + cuda.threadIdx.x")),
                   "global load sectors"),
            Mutant("no padding", changed(TURN, ("SIDE + 1", "SIDE")), "bank conflicts; at most 0"),
            Mutant("no barrier", changed(TURN, ("    cuda.syncthreads()\n", "")), "with no barrier between"),
            Mutant("barrier in the branch", changed(TURN, ("    cuda.sync", "        cuda.sync")),
                   "does not come to this barrier"),
            Mutant("blocks stay", changed(TURN, ("cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx",
                   "cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx")),
                   "the block's two indices change places as well"),
            Mutant("tile is not turned", changed(TURN, ("tile[tx, ty]", "tile[ty, tx]")), "is not turned itself"),
            Mutant("not mirrored", changed(TURN, ("x.shape[0] - 1 - r", "r")), "That is the transpose"),
            Mutant("mirrored along the wrong axis", changed(TURN, ("y[c, x.shape[0] - 1 - r]",
                   "y[x.shape[1] - 1 - c, r]")), "That is a turn to the left"),
            Mutant("mirrored within each tile only", changed(TURN, ("x.shape[0] - 1 - r",
                   "cuda.blockIdx.y * SIDE + SIDE - 1 - tx")), "the tiles lie as in a transpose"),
            Mutant("only the tiles are mirrored", changed(TURN, ("x.shape[0] - 1 - r",
                   "x.shape[0] - SIDE - cuda.blockIdx.y * SIDE + tx")), "each one is only transposed"),
            Mutant("mirrored at the end of the grid", changed(TURN, ("x.shape[0] - 1 - r",
                   "cuda.gridDim.y * SIDE - 1 - r")), "uses index 63 on axis 1 of y"),
            Mutant("one column too far", changed(TURN, ("x.shape[0] - 1 - r", "x.shape[0] - r")),
                   "uses index 64 on axis 1 of y"),
            Mutant("no guard for the store", changed(TURN, ("    if c < x.shape[1] and r < x.shape[0]:\n",
                   "    if c >= 0:\n")), "on axis 0 of y, which has 70 elements"),
        ),
    ),
    Key(
        "12.4",
        (Part("other numbers of rows", 1, sizes((64, 32), (33, 32), (95, 32))),
         Part("few rows", 1, sizes((1, 32), (31, 32)))),
        (
            Mutant("a row more instead of a column", changed(TILE_SUMS, ("(32, 33)", "(33, 32)")),
                   "costs 992 bank conflicts"),
            Mutant("eight columns more", changed(TILE_SUMS, ("(32, 33)", "(32, 40)")), "costs 224 bank conflicts"),
            Mutant("two columns more", changed(TILE_SUMS, ("(32, 33)", "(32, 34)")), "costs 32 bank conflicts"),
            Mutant("turned tile without padding", changed(TILE_SUMS, ("(32, 33)", "(32, 32)"),
                   ("tile[r, t]", "tile[t, r]"), ("tile[t, k]", "tile[k, t]")), "the stores of tile"),
            Mutant("columns added up", changed(TILE_SUMS, ("tile[t, k]", "tile[k, t]")), "Thread t adds up row t"),
            Mutant("no tile", """
@gpu.jit
def tile_sums(x, s):
    i = cuda.grid(1)
    if i < s.size:
        acc = float32(0)
        for k in range(32):
            acc += x[i, k]
        s[i] = acc
""", "1024 global load sectors"),
            Mutant("the padding is added", changed(TILE_SUMS, ("for k in range(32)", "for k in range(33)")),
                   "which nobody has written yet"),
            Mutant("one column less", changed(TILE_SUMS, ("for k in range(32)", "for k in range(31)")),
                   "its last one column 31"),
            Mutant("no barrier", changed(TILE_SUMS, ("    cuda.syncthreads()\n", "")), "with no barrier between"),
            Mutant("no zeros beyond the end, no guard", changed(TILE_SUMS,
                   (" if top + r < x.shape[0] else float32(0)", "")), "uses index 70 on axis 0 of x"),
        ),
        untouched="Pad the array's last axis",
    ),
    Key(
        "12.5",
        (Part("other strides", 1, plain((4,), (6,), (16,), (31,), (64,), (96,))), Part("odd strides, and twice one", 1,
         plain((3,), (17,), (35,), (1001,), (2 * 17,)))),  # of odd ones alone the answer is always 1
        (
            Mutant("additional turns", changed(WAVEFRONTS, ("for words in turns)", "for words in turns) - 1")),
                   "the first one counts too"),
            Mutant("no broadcast", changed(WAVEFRONTS, ("set()", "[]"), (".add(", ".append(")),
                   "a broadcast takes one turn"),
            Mutant("banks used", changed(WAVEFRONTS, ("max(len(words) for words in turns)",
                   "sum(bool(words) for words in turns)")), "That is how many banks are used"),
            Mutant("only multiples of 32", changed(WAVEFRONTS, ("max(len(words) for words in turns)",
                   "32 if stride and stride % 32 == 0 else 1")), "result is 1, expected 2"),
            Mutant("16 banks", changed(WAVEFRONTS, ("% 32", "% 16")), "result is 2, expected 1"),
            Mutant("the stride", changed(WAVEFRONTS, ("max(len(words) for words in turns)", "max(1, stride)")),
                   "result is 33, expected 1"),
            Mutant("bytes for words", changed(WAVEFRONTS, ("stride * lane % 32", "stride * lane // 4 % 32")),
                   "result is 4, expected 1"),
        ),
    ),
    Key(
        "12.6",
        (Part("other blocks", 1, plain(("H200", 1024, 49_000, 32), ("A100", 512, 0, 128), ("RTX 4090", 96, 2000, 50),
                                       ("H200", 640, 20_000, 50), ("A100", 64, 8192, 20))),
         Part("at the edges", 1, plain(("RTX 4090", 1024, 0, 32), ("H200", 1, 232_448, 255), ("A100", 33, 127, 1),
                                       ("H200", 64, 6272, 32)))),
        (
            Mutant("threads instead of warps", changed(OCCUPANCY, ("[room // warps", "[room * 32 // threads")),
                   "200 threads are 7 warps"),
            Mutant("the driver's share forgotten", changed(OCCUPANCY, (" + 1024", ""), ("// taken,",
                   "// max(1, taken),")), "1,024 bytes of shared memory"),
            Mutant("registers not rounded", changed(OCCUPANCY, (" + 255) // 256 * 256", ")")),
                   "rounded up to a multiple of 256"),
            Mutant("one file of registers", changed(OCCUPANCY, ("16384 // a_warp * 4", "65536 // a_warp")),
                   "in one quarter of the SM"),
            Mutant("no limit of blocks", changed(OCCUPANCY, ("most, shared //", "10**6, shared //")),
                   "is 64, expected 32"),
            Mutant("registers of the block", changed(OCCUPANCY, ("* 4 // warps", "* 4")),
                   "the number of blocks is 21, expected 16"),
            Mutant("the largest", changed(OCCUPANCY, ("min(found)", "max(found)")),
                   "the number of blocks is 228, expected 8"),
            Mutant("the name alone", changed(OCCUPANCY, ("return min(found), ", "return ")), "expected 2 values"),
            Mutant("always threads", changed(OCCUPANCY, ("names[found.index(min(found))]", "names[0]")),
                   "the limit is 'threads', expected 'blocks'"),
            Mutant("the last of equals", changed(OCCUPANCY, ("found.index(min(found))",
                   "3 - found[::-1].index(min(found))")), "the limit is 'registers', expected 'threads'"),
        ),
    ),
    Key(
        "12.7",
        (Part("other kernels", 1, plain((1e12, 1e12, 67e12, 3.35e12), (3e9, 1e6, 8.1e12, 0.32e12),
                                        (5e6, 1e6, 8e12, 2e12))),
         Part("nothing to compute, nothing to move", 1, plain((0.0, 1e9, 1e12, 1e12), (1e9, 0.0, 1e12, 1e12)))),
        (
            Mutant("sum", changed(BOUND, ('"memory", m', '"memory", a + m'), ('"arithmetic", a',
                   '"arithmetic", a + m')), "not the sum"),
            Mutant("the faster one", changed(BOUND, ('"memory", m', '"memory", a'), ('"arithmetic", a',
                   '"arithmetic", m')), "the larger of the two times"),
            Mutant("names exchanged", changed(BOUND, ("memory", "?"), ("arithmetic", "memory"), ("?", "arithmetic")),
                   "The names have changed places"),
            Mutant("the ridge is memory", changed(BOUND, ("m > a", "m >= a")),
                   "the roof is 'memory', expected 'arithmetic'"),
            Mutant("intensity for a time", changed(BOUND, ('"memory", m', '"memory", flops / moved')),
                   "the time is 0.5, expected 0.002"),
            Mutant("intensity against the peak alone", changed(BOUND, ("if m > a:", "if flops < moved:")),
                   "(20 a byte, on a device with the ridge at 25): the roof is 'arithmetic', expected 'memory'"),
            Mutant("the ridge of one device", changed(BOUND, ("if m > a:", "if flops < 15 * moved:")),
                   "with the ridge at 25): the roof is 'arithmetic'"),
            Mutant("intensity divides by what is moved", changed(BOUND, ("if m > a:",
                   "if flops / moved < peak / bandwidth:")), "raises ZeroDivisionError"),
            Mutant("the time alone", changed(BOUND, ('"memory", m', "m"), ('"arithmetic", a', "a")),
                   "result is a number, expected 2 values (the roof, the time)"),
        ),
    ),
)  # fmt: skip
