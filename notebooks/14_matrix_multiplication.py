# ---
# jupyter:
#   course_form: 2
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · Matrix multiplication: use what you fetched
#
# Nearly everything that a network computes is a product of two matrices. Make this one operation fast, and the network
# is fast. The usual advice is short: *use shared memory*. Below you can follow it. A block computes one tile of the
# product; choose how large the tile is, and how many results each of its threads computes, and see how often a number
# is used once it has been fetched. The picture begins with a tile of 32 × 32, which is where the usual advice ends.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import figures, gpu, simt
from course_lib.cuda.ladders import gemm
from course_lib.lesson import findings, listing, measured, microbench, predict, registers, table

figures.tile_explorer(4096, 4096, 4096)

# %% [markdown]
# You need not understand every number in it yet. By the end of this page you can say what each of them does to the
# running time, and why the first choice leaves seven eighths of the card's arithmetic idle, shared memory and all.
#
# ## You will be able to
#
# - write a tiled product, and say what each of its two barriers is for;
# - count how often a number is fetched, from global and from shared memory, and predict how fast a kernel can be;
# - let a thread compute many results, so that its registers do what shared memory cannot;
# - choose a kernel by the shape of the product, and say when no kernel will help.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Prof. Dey's lecture announces "certain GEMM optimizations" for later; here they are. The page also counts the two
# tilings that Prof. Hwu draws in ECE 508, and takes up Prof. Owens' remark that a dense matrix times a dense vector is
# straightforward to parallelise. The order of the kernels follows Simon Boehm's "How to Optimize a CUDA Matmul Kernel".
# You need lessons 11 and 12, and shuffles from 13. Times are from the card that is named beside them. Reading and
# trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## Where the arithmetic is
#
# A dense layer is a product, `Z = X @ W`. A convolution is one too, once its windows are written as columns (lesson
# 08): a row for each mask, a column for each place. Here are all layers of lesson 09's network, for one digit.

# %% tags=["hide-input"]
# The layers of LeNet-5 as products.
lenet = {"C1": (6, 25, 784), "C3": (16, 150, 100), "C5": (120, 400, 1), "F6": (84, 120, 1), "output": (10, 84, 1)}
multiplications = {name: m * k * n for name, (m, k, n) in lenet.items()}
table(
    [(name, f"{m} × {k}  times  {k} × {n}", multiplications[name]) for name, (m, k, n) in lenet.items()]
    + [("all layers", "", sum(multiplications.values()))],
    ["layer", "as a product", "multiplications"],
)

# %% [markdown]
# These are all 416,520 multiplications that lesson 11 spoke of. What is left, pooling and activations, is lesson 13's
# small change.
#
# LeNet is small. To see what a card can do, take two square matrices with $N = 4{,}096$ rows. Their product $C = A B$
# needs $N^3$ multiplications and as many additions. How long must that take?

# %% tags=["hide-input"]
# What bounds a large product, and what NVIDIA's library needs for it.
large, roof = measured("gemm 4096", card="h200"), simt.roofline("H200")
table(
    [
        ("reading A and B and writing C, once", large.bytes / roof.bandwidth * 1e3),
        ("2 N³ operations in float32", large.flops / roof.peak * 1e3),
        ("NVIDIA's library, cuBLAS, measured", large.seconds["cuBLAS"] * 1e3),
    ],
    ["", "milliseconds"],
    formats={"milliseconds": ".2f"},
    caption=f"N = 4,096 on an {large.card} ({large.date}); the first two rows are what its data sheet allows",
)

# %% [markdown]
# Of all operations in these GPU lessons, this is the first that arithmetic should limit: it lies under the flat part of
# the roof. There is one condition. Each number takes part in 4,096 multiplications, and it must not come all the way
# from the card's memory each time. From where else can it come? There are three answers, and this page takes them one
# after the other.
#
# ## One thread, one result
#
# The kernel that everybody writes first has a thread for each result. It calls the thread's two numbers row and column:

# %%
@gpu.jit
def naive(A, B, C):
    row, col = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc

# %% [markdown]
# It is right, and it has the mistake that lesson 12 called the most expensive one. Exchange the two names in the second
# line, and nothing else:

# %%
@gpu.jit
def coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc

# %% [markdown]
# Think of one warp and one `k`. In `naive` its lanes want 32 numbers of a column of `A`, and all the same number of
# `B`. In `coalesced` they all want the same number of `A`, and 32 neighbours in a row of `B`.

# %% tags=["hide-input"]
swap = predict(
    "Both multiply two matrices with 1,024 rows and columns. How many times faster is `coalesced` on an H200?",
    ["about 1.5 times", "about 3 times", "about 12 times", "about 50 times"],
    answer="about 12 times",
    reveals=2,
)
swap

# %% tags=["hide-output", "hide-input"]
# Sectors counted for 128 rows, times measured for 1,024.
n = 128
rng = np.random.default_rng(0)
A, B = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
C = np.zeros((n, n), np.float32)
reports = {k: gpu.simulate(kernel, (4, 16), (32, 8), A, B, C) for k, kernel in ((1, naive), (2, coalesced))}
small = measured("gemm 1024", card="h200")
RUNG = {rung.number: rung for rung in gemm.LADDER[:8]}
NAMES = {1: "naive", 2: "coalesced", 3: "tiles", 4: "column of 8", 5: "square of 8", 6: "vectorised", 7: "warp tiles",
         8: "pipelined"}  # fmt: skip
took = {k: (large if rung.name in large.seconds else small).seconds[rung.name] for k, rung in RUNG.items()}
table(
    [(NAMES[k], reports[k].total.global_load_requests, reports[k].total.global_load_sectors, 1e3 * took[k])
     for k in (1, 2)],
    ["kernel", "load requests, 128 rows", "sectors, 128 rows", "milliseconds, 1,024 rows"],
    formats={"milliseconds, 1,024 rows": ".2f"},
    caption=f"Counted by the executor, and measured on an {small.card} ({small.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>33 sectors or 5</summary>
#
# For each `k` a warp of `naive` touches 32 sectors of `A` and one of `B`, together 33. A warp of `coalesced` touches
# one and four, together 5. By this count the second kernel should be 6.6 times faster; the card says 12. Counting tells
# where to look, and measuring tells what it was worth.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
swap.confirm(f"about {took[1] / took[2]:.0f} times")

# %% [markdown]
# ## Two fetches for a multiplication
#
# Sectors are what memory sends. Count now what threads *ask for*. Each of the $N^2$ threads reads a row and a column,
# so all together ask for $2N^3$ numbers, although there are only $2N^2$:

# %%
def asked(report):
    """Numbers that all threads together ask global memory for."""
    return report.arrays["A"].loads + report.arrays["B"].loads

print(f"{asked(reports[2]):,} asked for; 2 N³ = {2 * n**3:,}; there are {A.size + B.size:,}")

# %% [markdown]
# A multiplication and an addition, two operations (FLOP), for two numbers of four bytes: 0.25 FLOP for each byte that
# is asked for, whatever $N$ is. The corner of the roof, its *ridge*, lies at about 14. Here are both kernels.

# %% tags=["hide-input"]
# The first two rungs under the roof.
def intensity(k, size=4096):
    """FLOP for each byte that the threads of a rung ask global memory for."""
    return 2 / 8 if k <= 2 else 2 * size**3 / RUNG[k].traffic(size, size, size)["global_load_bytes"]

def climb(*rungs):
    rows = {1: "1,024", 2: "1,024"}
    points = [
        (f"{NAMES[k]}, N = {rows.get(k, '4,096')}", intensity(k), (small if k in rows else large).flops / took[k],
         RUNG[k].changed)
        for k in rungs
    ]  # fmt: skip
    rival = "cuBLAS, N = 4,096", large.flops / large.seconds["cuBLAS"]
    return figures.climb(points, "H200", rival=rival, title=f"How far do {len(rungs)} rungs climb?")

climb(1, 2)

# %% [markdown]
# We call each kernel of such a ladder a **rung**. Rung 2 lies *above* the slope, and that is no mistake. The slope is
# the speed of far memory, and most of what is asked for never gets that far: neighbouring warps want the same rows and
# columns, and find them in a cache. Caches are the first answer to our question. They let even a simple kernel go
# faster than far memory alone could feed it. But the flat part is still a long way up.
#
# ## A tile at a time
#
# The second answer: a block fetches numbers *together* and puts them where all of its threads can read them. A block
# computes a tile of $C$, $T$ rows by $T$ columns. It needs $T$ rows of $A$ and $T$ columns of $B$, which are too long
# for shared memory, so it takes them piece by piece: a tile of each, then the next one, along $k$. Each thread brings
# one number of each tile, and uses $T$ of each.
#
# $T$ must be known when the kernel is compiled. So let a function make the kernel:

# %%
def tiled(T):
    @gpu.jit
    def product_by_tiles(A, B, C):
        As = cuda.shared.array((T, T), float32)
        Bs = cuda.shared.array((T, T), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        acc = float32(0)
        for start in range(0, A.shape[1], T):
            As[ty, tx] = A[row, start + tx]
            Bs[ty, tx] = B[start + ty, col]
            cuda.syncthreads()
            for k in range(T):
                acc += As[ty, k] * Bs[k, tx]
            cuda.syncthreads()
        C[row, col] = acc
    return product_by_tiles

# %% [markdown]
# Load, barrier, multiply, barrier. Walk through it with matrices of 8 × 8 and tiles of 4 × 4; `B` is the unit matrix,
# so that `A` comes out again. A block then has 16 threads, half a warp, and goes round twice. Press *First* and
# *values*, then *Next*, and watch `As` and `Bs` fill, serve, and be filled anew:

# %%
left, one = A[:8, :8].copy(), np.eye(8, dtype=np.float32)
trace = gpu.trace(tiled(4)[(2, 2), (4, 4)], left, one, np.zeros_like(one))
trace.watch("acc")

# %% [markdown]
# Now count the fetches. A thread of the plain kernel asks for two numbers for each multiplication. What does a thread
# of a tile ask for?

# %% tags=["hide-input"]
fetched = predict(
    "N = 128, so 2 N³ = 4,194,304. With tiles of 32 × 32, how many numbers do all threads together ask global memory "
    "for?",
    [4096, 32768, 131072, 2097152],
    answer=131072,
    reveals=2,
)
fetched

# %% tags=["hide-output"]
by_tile = {}
for T in (4, 8, 16, 32):
    by_tile[T] = gpu.simulate(tiled(T), (n // T, n // T), (T, T), A, B, C)
rows = [
    (T, asked(r), 2 * n**3 // T, r.total.flops / (4 * asked(r)))
    for T, r in by_tile.items()
]  # fmt: skip
table(rows, ["T", "numbers asked for", "2 N³ / T", "FLOP for each byte"])

# %% [markdown]
# <details class="reveal"><summary>2 N³ / T</summary>
#
# In one turn of the loop a thread fetches two numbers and does $T$ multiplications, where it did one before. So there
# are $T$ times fewer fetches, $2 \cdot 128^3 / 32 = 131{,}072$: of the $T$ threads that want an element, one brings it
# for all. The intensity is $T / 4$, and 32 is the end of that road, since $32 \times 32 = 1{,}024$ threads are as many
# as a block may have.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
fetched.confirm(asked(by_tile[32]))

# %% [markdown]
# ## The second barrier
#
# The first barrier is plain: nobody may multiply before the tiles are there. The second one, after the multiplications,
# looks like a luxury. Here it is left out.

# %%
@gpu.jit
def one_barrier(A, B, C):
    As = cuda.shared.array((16, 16), float32)
    Bs = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], 16):
        As[ty, tx] = A[row, start + tx]
        Bs[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
    C[row, col] = acc

# %% [markdown]
# Try it on matrices of 32 × 32, so that each block goes round twice. `simt.run` is the executor again; unlike
# `gpu.simulate` it works on the arrays themselves, so that we can look at the result.

# %% tags=["hide-input"]
luxury = predict(
    "What comes out without the second barrier?",
    [
        "wrong numbers, and a finding",
        "the right numbers here, and a finding",
        "the right numbers, and no finding: the barrier is a luxury",
    ],
    answer="the right numbers here, and a finding",
    reveals=2,
)
luxury

# %% tags=["hide-output"]
a, b = A[:32, :32].copy(), B[:32, :32].copy()
c = np.zeros_like(a)
racy = simt.run(one_barrier, (2, 2), (16, 16), [a, b, c], on_error="collect")
same, pairs = np.array_equal(c, a @ b), sum(h.count for h in racy.hazards)
print(f"right: {same}; pairs of threads that race: {pairs:,}")
findings(racy)

# %% [markdown]
# <details class="reveal"><summary>Right by luck</summary>
#
# A thread that has finished its 16 multiplications goes on and puts the next number into `As`, while a slower warp may
# still need the old one. In each of the four blocks, each of the 256 elements of a tile is read by 15 other threads
# before it is overwritten: $4 \cdot 256 \cdot 15 = 15{,}360$ pairs for `As`, as many for `Bs`, 30,720 in all.
#
# The executor walks all warps line by line, so nobody is slow and the numbers are right. On a card they are right as
# long as the warps happen to keep together. And with a single tile along $k$ the mistake cannot show at all, which is
# why a test on small matrices lets it pass. So this is the kind of mistake that is found months later. The barrier
# stays.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was found.
luxury.confirm(("the right numbers here" if same else "wrong numbers") + (", and a finding" if racy.hazards else ""))

# %%
racy.race_picture()

# %% [markdown]
# ## Ragged edges
#
# `tiled` takes it for granted that the sizes are multiples of $T$. Try others:

# %% tags=["nbval-ignore-output"]
def matrices(m):
    return A[:m, :m].copy(), B[:m, :m].copy(), np.zeros((m, m), np.float32)

def in_blocks(m):
    return (-(-m // 16), -(-m // 16)), (16, 16)

how = {"make": matrices, "expected": np.matmul, "launch": in_blocks}
unguarded = gpu.try_sizes(tiled(16), [16, 17, 31, 32], **how)
unguarded

# %% [markdown]
# A guard around everything, as in the plain kernel, would be wrong: a thread without a result still has to bring
# numbers for the others, and has to come to the barriers. So guard the accesses one by one, and let what lies outside
# be zero. Zeros add nothing to a sum of products.

# %%
@gpu.jit
def guarded(A, B, C):
    As = cuda.shared.array((16, 16), float32)
    Bs = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    (M, K), N = A.shape, B.shape[1]
    acc = float32(0)
    for start in range(0, K, 16):
        a_in, b_in = row < M and start + tx < K, start + ty < K and col < N
        As[ty, tx] = A[row, start + tx] if a_in else float32(0)
        Bs[ty, tx] = B[start + ty, col] if b_in else float32(0)
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc

# %% [markdown]
# And the same sizes again:

# %% tags=["nbval-ignore-output"]
repaired = gpu.try_sizes(guarded, [16, 17, 31, 32], **how)
repaired

# %% tags=["hide-input"]
# On a GPU the tables say that values only are looked at; what they find is the same.
assert (unguarded.smallest, repaired.smallest) == (17, None)

# %% [markdown]
# From here on, kernels on this page leave the guards out, to keep the idea in sight. In
# `course_lib/cuda/ladders/gemm` every rung is a file of its own, with all its guards. With this you can solve the first
# exercises of the lesson's sheet.
#
# ## What the tiles are worth
#
# Tiles of 32 × 32 are rung 3. Here is what its report counts, beside rung 2.

# %% tags=["hide-input"]
# Rung 3 beside rung 2.
def wavefronts(report):
    """Wavefronts of shared memory for each multiply-add of a warp: 32 lanes, two operations each."""
    return report.total.shared_load_wavefronts / (report.total.flops / 64)

def beside(*rungs):
    totals = [reports[k].total for k in rungs]
    rows = [
        ("numbers asked of global memory", *(asked(reports[k]) for k in rungs)),
        ("requests to global memory, loads", *(t.global_load_requests for t in totals)),
        ("sectors loaded", *(t.global_load_sectors for t in totals)),
        ("requests to shared memory, loads", *(t.shared_load_requests for t in totals)),
        ("wavefronts of shared memory", *(t.shared_load_wavefronts for t in totals)),
        ("barriers, counted for each warp", *(t.barriers for t in totals)),
    ]
    heads = ["", *(f"{k} {NAMES[k]}" for k in rungs)]
    return table(rows, heads, caption=f"Counted by the executor, products of {n} × {n} numbers")

reports[3] = by_tile[32]
beside(2, 3)

# %% [markdown]
# On paper this is a triumph for shared memory: a 32nd of the requests to global memory, a 20th of the sectors. What
# does the card say?

# %% tags=["hide-input"]
worth = predict(
    "1,024 rows again. How many times faster than `coalesced` are the tiles of 32 × 32?",
    ["about 1.4 times", "about 4 times", "about 20 times", "about 32 times"],
    answer="about 1.4 times",
    reveals=2,
)
worth

# %% tags=["hide-output", "hide-input"]
# Three rungs and the library.
shown = {f"{k} {NAMES[k]}": small.seconds[RUNG[k].name] for k in (1, 2, 3)} | {"cuBLAS": small.seconds["cuBLAS"]}
table(
    [(name, 1e3 * s, small.seconds["cuBLAS"] / s) for name, s in shown.items()],
    ["kernel", "milliseconds", "share of cuBLAS"],
    formats={"milliseconds": ".3f", "share of cuBLAS": ".0%"},
    caption=f"N = 1,024, measured on an {small.card} ({small.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Use shared memory, and you are at a fifth</summary>
#
# It cannot have been far memory that held `coalesced` back: the caches had done most of what the tiles do. With shared
# memory the kernel has a fifth of the library's speed, and with 4,096 rows only 15 %. The usual advice ends here, and
# something else is the limit.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
worth.confirm(f"about {small.seconds['v02_coalesced'] / small.seconds['v03_smem_tiled']:.1f} times")

# %% tags=["hide-input"]
# Three rungs.
climb(1, 2, 3)

# %% [markdown]
# ## The roof inside
#
# Look at the line that works, `acc += As[ty, k] * Bs[k, tx]`. For one multiply-add a warp makes two requests to shared
# memory. A multiprocessor answers one wavefront (lesson 12) in a clock, and could do *four* multiply-adds of a warp in
# the same clock.[^NVIDIA "CUDA C++ Best Practices Guide, Throughput of Native Arithmetic Instructions"] So it waits two
# clocks for what it does in a quarter of one. However well the rest is written, seven eighths of the arithmetic stand
# idle.

# %%
w = wavefronts(reports[3])
reached = large.flops / took[3] / roof.peak
print(f"{w} wavefronts a multiply-add: at most {1 / (4 * w):.1%} of the peak")
print(f"measured with 4,096 rows: {reached:.1%}")

# %% [markdown]
# Two counters predicted that, without a card, and the card agrees. So shared memory is only the second answer. It is
# near, but a warp that comes twice for every multiply-add asks too much even of it. The third answer is nearer still: a
# *register* is read in the very clock in which it is needed.
#
# ## Reuse in registers
#
# How often is a number used once it has been fetched? Take a case small enough to see whole: 3 input maps, masks of
# 2 × 2, two output maps of 2 × 2 pixels. As a product, that is a filter matrix of 2 × 12 times unrolled inputs of
# 12 × 4.[^Hwu "Simple Matrix Multiplication"] Let a block compute a tile of 2 × 2 results, and then one of
# 2 × 4:[^Hwu "Tiled Matrix Multiplication 2×4 example"]

# %%
def tile_of(rows, cols):
    @gpu.jit
    def small_layer(F, X, Y):
        Fs = cuda.shared.array((rows, 2), float32)
        Xs = cuda.shared.array((2, cols), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        acc = float32(0)
        for start in range(0, F.shape[1], 2):
            if tx < 2:
                Fs[ty, tx] = F[row, start + tx]
            if ty < 2:
                Xs[ty, tx] = X[start + ty, col]
            cuda.syncthreads()
            acc += Fs[ty, 0] * Xs[0, tx] + Fs[ty, 1] * Xs[1, tx]
            cuda.syncthreads()
        Y[row, col] = acc
    return small_layer

# %% [markdown]
# The executor notes for each array how often a number that was stored is read again:

# %%
F, X, Y = (np.ones(shape, np.float32) for shape in ((2, 12), (12, 4), (2, 4)))
reuse = {}
for cols in (2, 4):
    grid, block = (4 // cols, 1), (cols, 2)
    used = gpu.simulate(tile_of(2, cols), grid, block, F, X, Y).arrays
    reuse[f"2 × {cols}"] = int(used["Xs"].reuse), int(used["Fs"].reuse)
heads = ["tile", "uses of an input", "uses of a weight"]
table([(tile, *both) for tile, both in reuse.items()], heads)

# %% [markdown]
# The rule behind it: in a tile of $m \times n$ results, a number of the left matrix is used $n$ times, once for each
# column, and one of the right matrix $m$ times. Large tiles use their numbers often. And nothing in this rule says that
# the tile belongs to a *block*. It holds for a single thread just as well.
#
# So give one thread a column of eight results. It reads a number of `Bs` into a register and uses it eight times. And
# since a thread does eight times as much, 512 threads cover a tile of 64 × 64. That is rung 4, **1-D register tiles**.
# The eight sums live in a local array; all its indices are known when the kernel is compiled, so the compiler keeps it
# in registers (lesson 12).

# %%
SIDE, DEEP = 64, 8  # a tile of C is 64 x 64, those of A and B are 8 deep
OWN = 8  # results of a thread

@gpu.jit
def column_of_eight(A, B, C):
    As = cuda.shared.array((SIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, SIDE), float32)
    acc = cuda.local.array(OWN, float32)
    t = cuda.threadIdx.x
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    first, col = t // SIDE * OWN, t % SIDE
    for i in range(OWN):
        acc[i] = float32(0)
    for start in range(0, A.shape[1], DEEP):
        As[t // DEEP, t % DEEP] = A[top + t // DEEP, start + t % DEEP]
        Bs[t // SIDE, col] = B[start + t // SIDE, left + col]
        cuda.syncthreads()
        for k in range(DEEP):
            b = Bs[k, col]
            for i in range(OWN):
                acc[i] += As[first + i, k] * b
        cuda.syncthreads()
    for i in range(OWN):
        C[top + first + i, left + col] = acc[i]

# %% [markdown]
# For eight multiply-adds a thread reads nine numbers, eight of `As` and one of `Bs`, instead of sixteen:

# %%
reports[4] = gpu.simulate(column_of_eight, (2, 2), 512, A, B, C)
beside(3, 4)

# %% [markdown]
# There are 1.8 times fewer requests to shared memory, and the larger tile halves what is fetched from global memory.
# But each of the eight numbers of `As` is still used only once. Whoever reads eight numbers of a column should read
# eight of a row as well: 16 reads then feed 64 multiply-adds, a quarter of a read for each. In a tile of $m \times n$
# results it is $(m + n) / (m n)$, and of all shapes with as many results the square needs the fewest.
#
# That is rung 5, **2-D register tiles**. 256 threads with 8 × 8 results each cover a tile of 128 × 128; the tiles of
# `A` and `B` are 16 deep. A thread's rows and columns lie 16 apart and not side by side, so that neighbouring threads
# read neighbours in `Bs` and no bank is asked twice.

# %%
@gpu.jit
def square_of_eight(A, B, C):
    As = cuda.shared.array((128, 16), float32)
    Bs = cuda.shared.array((16, 128), float32)
    acc, b = cuda.local.array(64, float32), cuda.local.array(OWN, float32)
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    ty, tx = cuda.threadIdx.x // 16, cuda.threadIdx.x % 16
    for i in range(64):
        acc[i] = float32(0)
    for start in range(0, A.shape[1], 16):
        for p in range(OWN):
            row, k, col = ty + 16 * p, ty // 8 + 2 * p, ty % 8 * 16 + tx
            As[row, tx] = A[top + row, start + tx]
            Bs[k, col] = B[start + k, left + col]
        cuda.syncthreads()
        for k in range(16):
            for j in range(OWN):
                b[j] = Bs[k, tx + 16 * j]
            for i in range(OWN):
                a = As[ty + 16 * i, k]
                for j in range(OWN):
                    acc[OWN * i + j] += a * b[j]
        cuda.syncthreads()
    for i in range(64):
        C[top + ty + 16 * (i // OWN), left + tx + 16 * (i % OWN)] = acc[i]

# %% [markdown]
# What it counts, beside rung 4:

# %%
reports[5] = gpu.simulate(square_of_eight, (1, 1), 256, A, B, C)
beside(4, 5)

# %% [markdown]
# Now put the roof inside beside the clock, for rungs 3 to 5:

# %% tags=["hide-input"]
# The bound by shared memory, and what was measured.
rows = []
for k in (3, 4, 5):
    w, speed = wavefronts(reports[k]), large.flops / took[k]
    rows.append((f"{k} {NAMES[k]}", w, min(1, 1 / (4 * w)), speed / roof.peak, large.seconds["cuBLAS"] / took[k]))
heads = ["rung", "wavefronts a multiply-add", "at most, of the peak", "measured, of the peak", "of cuBLAS"]
table(rows, heads, formats=dict.fromkeys(heads[2:], ".1%"),
      caption=f"Counted on this page; measured are the ladder's kernels, 4,096 rows, on an {large.card}")  # fmt: skip

# %% [markdown]
# Eight by eight is just enough: a wavefront now feeds four multiply-adds, which is what a multiprocessor does in that
# clock. Rung 5 is plain Python, and it has three quarters of the library's speed. The ladder's version, which was
# measured, differs from ours in small things that help the compiler: `As` lies turned, so that one instruction brings
# four numbers; indices are unsigned; the loop over `k` is written out.

# %% tags=["hide-input"]
# A folded look at rung 5.
listing(gemm.v05_register_tile_2d, "The kernel of rung 5", start="@jit", end="def gemm_v05")

# %% [markdown]
# ## Three more rungs
#
# Shared memory allows the full speed now, and a good half of it is reached. What is left is finer work on the rest: on
# instructions that are no multiply-adds, and on waiting.
#
# - **Vectorised** (rung 6): one request brings four neighbours, 16 bytes, for each lane.
# - **Warp tiles** (rung 7): each warp gets a compact part of the block's tile, 64 × 32, instead of lanes that reach all
#   the way across.
# - **Pipelined** (rung 8): there are two pairs of tiles in shared memory. While the block multiplies out of one pair,
#   asynchronous copies fill the other one, so that nobody waits for memory and one barrier a tile is enough. And a
#   thread has 8 × 16 results.

# %% tags=["hide-input"]
# Rungs 6 to 8 beside rung 5.
for k in (6, 7):
    (reports[k],) = gpu.simulate_launches(RUNG[k].launch, A, B, C)
# Not by its launcher, which refuses cards without asynchronous copies.
reports[8] = gpu.simulate(gemm.v08_pipelined._kernel(True, True), 2, 64, A, B, C)
beside(5, 6, 7, 8)

# %% [markdown]
# Rung 6 makes a quarter of the requests, but each is four times as wide, and the wavefronts stay. In rung 7 nothing
# moves that the report counts: it prepares the next step. Rung 8 needs a quarter fewer wavefronts; what else it saves
# is waiting, which no counter shows.

# %% tags=["hide-input"]
# A folded look at rung 8.
listing(gemm.v08_pipelined, "The kernel of rung 8", start="@jit(cache=True, launch_bounds", end="return _gemm_v08")

# %% [markdown]
# This is the whole climb. Walk up rung by rung.

# %% tags=["hide-input"]
# The whole climb.
climb(*RUNG)

# %% [markdown]
# From rung 4 on, all stand right of the ridge, where global memory is no limit any more. What they gained from there
# on, they gained inside the multiprocessor. Rung 8 even asks global memory for *more* than rungs 5 to 7, since its tile
# is only 64 rows high: past the ridge, more intensity buys nothing. Rungs 6 and 7 hardly gain, since the compiler had
# found wide accesses in rung 5 already. Rung 8, which waits less, is 30 % faster than either.
#
# And neither rung 8 nor the library fills the last quarter below the roof:

# %% tags=["hide-input"]
# Shares of the peak.
only = microbench("arithmetic", card="h200")["FMA, shared operands, all warps"]
speeds = {"rung 8, pipelined": large.flops / took[8], "cuBLAS": large.flops / large.seconds["cuBLAS"],
          "multiply-adds in registers and nothing else": 64 * only.rate, "data sheet": roof.peak}  # fmt: skip
table(
    [(name, speed / 1e12, speed / roof.peak) for name, speed in speeds.items()],
    ["kernel", "TFLOP/s", "of the peak"], formats={"TFLOP/s": ".1f", "of the peak": ".0%"},
    caption=f"Products of 4,096 rows, and a loop in Python without any memory; measured on an {large.card}",
)  # fmt: skip

# %% [markdown]
# Even a loop that touches no memory at all stays below the data sheet's number. This is where float32 ends. Beyond it
# lie other units, the tensor cores, for which the ladder has rungs 9 and 10: lesson 17.
#
# ## A full house is not the aim
#
# Lesson 12 said that a multiprocessor should hold many warps. The best kernel of this page holds few:

# %% tags=["hide-input"]
# Occupancy of each rung, beside its speed.
need, rows = registers("gemm 4096"), []
for k in range(3, 9):
    threads, own = int(np.prod(reports[k].block)), need[RUNG[k].name]
    held = simt.occupancy("H200", threads, reports[k].shared_bytes, own)
    rows.append((f"{k} {NAMES[k]}", own, held.warps, held.share, large.seconds["cuBLAS"] / took[k]))
table(
    rows, ["rung", "registers a thread", "warps on a multiprocessor", "occupancy", "of cuBLAS"],
    formats={"occupancy": ".1%", "of cuBLAS": ".0%"}, caption="Registers as the compiler gave them for an H200",
)  # fmt: skip

# %% [markdown]
# The fullest one is the slowest. Warps are there to hide waiting, and a thread with 128 sums has so many multiply-adds
# that do not depend on each other that it hardly waits. It needs the registers for these sums, and the 65,536 of a
# multiprocessor are then enough for few threads. Move the registers in the picture.

# %%
simt.occupancy_calculator("H200", 256, registers=124, shared_bytes=16640)

# %% [markdown]
# ## Which rung for which shape?
#
# Is rung 8 the best kernel, then? With 4,096 rows it is. Take 1,024, a 64th of the work.

# %% tags=["hide-input"]
shape = predict(
    "N = 1,024. Which of rungs 5 to 8 is the slowest?",
    ["5, square of 8", "6, vectorised", "7, warp tiles", "8, pipelined"],
    answer="8, pipelined",
    reveals=2,
)
shape

# %% tags=["hide-output", "hide-input"]
# Blocks, warps and times with 1,024 rows.
TILE = {3: (32, 32), 4: (64, 64), 5: (128, 128), 6: (128, 128), 7: (128, 128), 8: (64, 128)}

def blocks(k, rows, cols):
    return -(-rows // TILE[k][0]) * -(-cols // TILE[k][1])

at_1024 = {k: small.seconds[RUNG[k].name] for k in (5, 6, 7, 8)}
table(
    [(f"{k} {NAMES[k]}", blocks(k, n, n), np.prod(reports[k].block) // 32, 1e6 * s)
     for n in [1024] for k, s in at_1024.items()],
    ["rung", "blocks", "warps of a block", "microseconds"], formats={"microseconds": ".0f"},
    caption=f"N = 1,024, on an {small.card} with 132 multiprocessors of four schedulers",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Too few blocks to fill a card</summary>
#
# Large tiles make few blocks. In rungs 5 to 7 there are 64 of them for 132 multiprocessors, so half of the card has
# nothing to do. Rung 8 has 128, but each of only two warps for a multiprocessor's four schedulers; it was made for four
# blocks side by side, and here three of them are missing.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
slowest = max(at_1024, key=at_1024.get)
shape.confirm(f"{slowest}, {NAMES[slowest]}")

# %% [markdown]
# Now a shape from lesson 06: a hidden layer of 128 neurons, and a mini-batch of 128 digits with 784 pixels each.

# %% tags=["hide-input"]
layer = predict(
    "128 × 784 times 784 × 128: which of these rungs is the fastest?",
    ["3, tiles", "5, square of 8", "7, warp tiles", "8, pipelined"],
    answer="3, tiles",
    reveals=2,
)
layer

# %% tags=["hide-output", "hide-input"]
# The same ladder on a small layer.
dense = measured("product 128 x 128 x 784", card="h200")
rows = [(f"{k} {NAMES[k]}", blocks(k, 128, 128), 1e6 * dense.seconds[RUNG[k].name]) for k in TILE]
table(
    [*rows, ("cuBLAS", None, 1e6 * dense.seconds["cuBLAS"])], ["rung", "blocks", "microseconds"], align="lrr",
    formats={"microseconds": ".0f"}, caption=f"128 × 784 times 784 × 128, on an {dense.card} ({dense.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The top of the ladder at the bottom</summary>
#
# One block of 128 × 128 is the whole product, and 131 multiprocessors look on. Sixteen small tiles find sixteen of
# them: the kernel that is six times slower than rung 8 at 4,096 rows is three times faster here.
#
# The library beats them all, for it is not one kernel. It is a collection of many, with rules for when to take which.
# One way for such shapes is to let several blocks share the *sum*, each over a part of $k$, and to add up their results
# as in lesson 13.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
best = min((3, 5, 7, 8), key=lambda k: dense.seconds[RUNG[k].name])
layer.confirm(f"{best}, {NAMES[best]}")

# %% [markdown]
# ## One digit at a time
#
# In the table on top, C5 of LeNet-5 stands as 120 × 400 times 400 × **1**. For a single digit it is a matrix times a
# vector.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] Nothing could be easier to parallelise:[^Owens "Matrix
# Formulation"] a warp for each row, and lesson 13's shuffles at the end.

# %%
@gpu.jit
def matrix_vector(W, x, y):
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < W.shape[0]:
        total = float32(0)
        for k in range(lane, W.shape[1], 32):
            total += W[row, k] * x[k]
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
            step //= 2
        if lane == 0:
            y[row] = total

# %% [markdown]
# How often can a weight be used here, once it has been fetched?

# %% tags=["hide-input"]
vector = predict(
    "How many operations, at most, can a kernel do for each byte of W that it fetches, if W has 120 × 400 numbers and "
    "x is one vector?",
    [0.25, 0.5, 8, 100],
    answer=0.5,
    reveals=2,
)
vector

# %% tags=["hide-output"]
W = rng.integers(-4, 5, (120, 400)).astype(np.float32)
x, y = W[0].copy(), np.zeros(120, np.float32)
use = gpu.simulate(matrix_vector, 15, 256, W, x, y).arrays["W"]
per_byte = 2 * W.size / (4 * use.loads)
print(f"loads of each weight: {use.reuse:g}; FLOP for each byte: {per_byte}")

# %% [markdown]
# <details class="reveal"><summary>No tile will help</summary>
#
# Each weight takes part in one multiplication and one addition, and has four bytes: 0.5, whatever the kernel. There is
# nothing to reuse. At 4.8 terabytes a second that allows 2.4 TFLOP/s, less than 4 % of what the card can do. No tile of
# this page helps. What remains is lesson 12: read `W` once, coalesced, with enough under way.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
vector.confirm(per_byte)

# %% [markdown]
# What helps is a second digit. Two columns use each weight twice, $B$ columns use it $B$ times. That is one reason to
# train in mini-batches, and why a service that answers many people collects their questions for a moment. Here is a
# large layer, 4,096 × 4,096:

# %% tags=["hide-input"]
# Time for a sample against the size of the batch.
batch = measured("matrix times batch", card="h200")
runs = [(*name.split(", "), seconds) for name, seconds in batch.seconds.items()]
table(
    [(name, int(b), 1e6 * s, 1e6 * s / int(b), 2 * 4096**2 * int(b) / s / 1e12) for name, b, s in runs],
    ["kernel", "columns", "microseconds", "for each column", "TFLOP/s"],
    formats={"microseconds": ",.0f", "for each column": ".2f", "TFLOP/s": ".1f"},
    caption=f"4,096 × 4,096 numbers times 1 to 4,096 columns, on an {batch.card} ({batch.date})",
)

# %% [markdown]
# Sixteen columns take less than twice as long as one, so a digit in such a batch costs about a ninth. Counting bytes,
# $B$ columns allow about $B / 2$ operations for each, and thirty columns would reach the ridge. In practice it takes
# until 256, for a narrow result has few tiles, as in the last section. From there on arithmetic is the limit, and every
# further column costs the same. (For four columns the library takes longer than for sixteen. Its rules are good, not
# perfect.)
#
# ## The call
#
# In practice you write none of these kernels. On an NVIDIA card `A @ B` ends, in most frameworks, in a call of cuBLAS.
# That such a call exists is a good reason to write a layer as a product.[^Dey "Convolution and Matrix Multiplication"]
# What you take with you is the question behind the ladder, and it fits every kernel: *how often is a number used where
# it lies, and is that often enough for this place?*

# %% [markdown]
# ## Try it
#
# - In the picture on top, find a choice with at least 32 operations for each byte, of which two blocks fit on a
#   multiprocessor of an H200. <details><summary>Answer</summary>
#
#   128 × 128 results, 16 deep, 8 × 8 for each thread: rungs 5 to 7. With 16 × 16 results for each thread the sums alone
#   would take 256 registers, and 255 is the most.
#
#   </details>
# - `tile_of` with a tile of 1 × 4: how often are an input and a weight used? Predict, then try.
#   <details><summary>Answer</summary>
#
#   An input once, since the tile has one row; a weight four times. But the kernel needs a change: with one row of
#   threads, nobody brings the second row of `Xs`.
#
#   </details>
# - Count the bank conflicts of `square_of_eight` if a thread's columns lie side by side, `Bs[k, OWN * tx + j]`.
#   <details><summary>Answer</summary>
#
#   The 16 lanes with different `tx` then read words 0, 8, 16, ..., 120: they meet in four banks, 0, 8, 16 and 24, four
#   words in each. Four wavefronts where one was enough, and the roof inside falls to 40 %.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - Prof. Hwu's drawings of a 2 × 2 and a 2 × 4 tile show which elements meet; the table on this page counts the same
#   numbers, 2 and 2, then 2 for an input and 4 for a weight. His step 4 of Lab 7, joint register-shared tiling, is
#   rungs 4 and 5 of this ladder; lesson 15 puts a convolution on it.
# - On the slide about reuse, C5 "is actually a matrix-vector multiply": true for one image. With a mini-batch it is a
#   product again.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A block computes 64 × 256 results. How many operations does it do for each byte that it asks for? Would 128 ×
# 128 be better?
#
# <details><summary>Answer</summary>
#
# For each $k$ it fetches 64 + 256 = 320 numbers, 1,280 bytes, for 64 · 256 multiply-adds, 32,768 operations: 25.6. The
# square has as many results, fetches 256 numbers, and reaches 32.
#
# </details>

# %% [markdown]
# **2.** A thread computes 4 × 4 results. By the roof inside, which share of the peak can the kernel reach?
#
# <details><summary>Answer</summary>
#
# 8 reads for 16 multiply-adds, half a wavefront each. In the clock of a wavefront four multiply-adds were possible, and
# two are done: 50 %, if no bank conflict makes it worse.
#
# </details>

# %% [markdown]
# **3.** A colleague removes the second barrier from her tiled kernel. All tests pass, on matrices up to 16 × 16 with
# tiles of 16 × 16. What do you tell her?
#
# <details><summary>Answer</summary>
#
# With a single tile along $k$ nothing is ever overwritten, so these tests cannot fail. From 17 columns of $A$ on there
# are two, and a fast warp may fill the second one while a slow warp still reads the first. The executor finds it at
# once.
#
# </details>
