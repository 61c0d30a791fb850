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
from course_lib.lesson import columns, counts, findings, listing, measured, microbench, predict, registers, table

figures.tile_explorer(4096, 4096, 4096)

# %% [markdown]
# Do not mind every number in it yet. By the end of the page you can say what each of them does to the time, and why the
# first choice, shared memory and all, leaves most of the card idle.
#
# ## You will be able to
#
# - write a tiled product, and say what each of its two barriers is for;
# - count how often a number is fetched, from global and from shared memory, and predict from it how fast a kernel can be;
# - let a thread compute many results, so that its registers do what shared memory cannot;
# - choose a kernel by the shape of the product, and say when no kernel will help.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Prof. Dey's course plan promises "certain GEMM optimisations", and this is that page. It counts the two tilings that
# Prof. Hwu draws in ECE 508, and takes up Prof. Owens' remark that a dense matrix times a dense vector is
# straightforward to parallelise. The order of the first six kernels is that of Simon Boehm's well-known article. You
# need lessons 11 and 12, and shuffles from 13. Times are from the card that is named beside them. Reading and trying
# takes about 80 minutes.
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
# So this is the first operation of the course that arithmetic should limit, and by far: it lies under the flat part of
# the roof. There is one condition. Each number takes part in 4,096 multiplications, and it must not come all the way
# from the card's memory each time. From where else can it come? That question has three answers, and they are the plot
# of this page.
#
# ## One thread, one result
#
# Everybody's first kernel gives each result to a thread, and calls the two numbers of the thread row and column:

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
reports = {"naive": gpu.simulate(naive, (4, 16), (32, 8), A, B, C)}
reports["coalesced"] = gpu.simulate(coalesced, (4, 16), (32, 8), A, B, C)
small = measured("gemm 1024", card="h200")
table(
    [(name, r.total.global_load_requests, r.total.global_load_sectors, 1e3 * small.seconds[rung])
     for (name, r), rung in zip(reports.items(), ("v01_naive", "v02_coalesced"), strict=True)],
    ["kernel", "load requests, 128 rows", "sectors, 128 rows", "milliseconds, 1,024 rows"],
    caption=f"Counted by the executor, and measured on an {small.card} ({small.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>33 sectors or 5</summary>
#
# For each `k` a warp of `naive` touches 32 sectors of `A` and one of `B`, together 33. A warp of `coalesced` touches
# one and four, together 5. The count says 6.6 times less, the card says 12. Counting told us where to look; only
# measuring tells how much it is worth.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
swap.confirm(f"about {small.seconds['v01_naive'] / small.seconds['v02_coalesced']:.0f} times")

# %%
reports["naive"].memory_map(array="A")

# %% [markdown]
# ## Two fetches for a multiplication
#
# Sectors are what memory sends. Count now what threads *ask for*. Each of the $N^2$ threads reads a row and a column,
# so all together ask for $2N^3$ numbers, although there are only $2N^2$:

# %%
loads = {name: use.loads for name, use in reports["coalesced"].arrays.items()}
print(loads, "of", A.size, "numbers each; 2 N³ =", 2 * n**3)

# %% [markdown]
# A multiplication and an addition, two operations, for two numbers of four bytes: 0.25 operations for each byte that is
# asked for, whatever $N$ is. Here is where that puts the two kernels under the roof.

# %% tags=["hide-input"]
# The first two rungs under the roof.
RUNGS = {rung.name: rung for rung in gemm.LADDER[:8]}
SHORT = dict(zip(RUNGS, ("naive", "coalesced", "tiles", "1-D register tiles", "2-D register tiles", "vectorised",
                         "warp tiles", "pipelined"), strict=True))  # fmt: skip

def asked_for(rung, size=4096):
    """FLOP for each byte that the threads of a rung ask global memory for."""
    if rung in ("v01_naive", "v02_coalesced"):
        return 2 / 8
    return 2 * size**3 / RUNGS[rung].traffic(size, size, size)["global_load_bytes"]

def climb(*rungs):
    points = []
    for rung in rungs:
        times = large if rung in large.seconds else small
        name = SHORT[rung] + (", N = 1,024" if times is small else ", N = 4,096")
        points.append((name, asked_for(rung), times.flops / times.seconds[rung], RUNGS[rung].changed))
    rival = "cuBLAS, N = 4,096", large.flops / large.seconds["cuBLAS"]
    return figures.climb(points, "H200", rival=rival, title=f"How far do {len(rungs)} rungs climb?")

climb("v01_naive", "v02_coalesced")

# %% [markdown]
# Rung 2 lies *above* the slope, and that is no mistake. The slope is the speed of far memory, and by no means all that
# is asked for comes from there: neighbouring warps want the same rows and columns, and find them in a cache. Caches are
# the first answer to our question. A poor kernel with caches already does more than memory could deliver. But the flat
# part is far away.
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
# Load, barrier, multiply, barrier. Walk through it with matrices of 8 × 8 and tiles of 4 × 4. A block then has 16
# threads, half a warp, and goes round twice. Press *Next*, and watch `As` fill, serve, and be filled anew:

# %%
first, second = np.arange(64, dtype=np.float32).reshape(8, 8), np.eye(8, dtype=np.float32)
gpu.trace(tiled(4)[(2, 2), (4, 4)], first, second, np.zeros((8, 8), np.float32)).watch("acc", "k", "start")

# %% [markdown]
# Now count the fetches. A thread of the plain kernel asks for two numbers for each multiplication. What does a thread
# of a tile ask for?

# %% tags=["hide-input"]
fetched = predict(
    "N = 128, so 2 N³ = 4,194,304. With tiles of 32 × 32, how many numbers do all threads together ask global memory for?",
    [4096, 32768, 131072, 2097152],
    answer=131072,
    reveals=2,
)
fetched

# %% tags=["hide-output"]
by_tile = {}
for T in (4, 8, 16, 32):
    report = gpu.simulate(tiled(T), (n // T, n // T), (T, T), A, B, C)
    by_tile[T] = report.arrays["A"].loads + report.arrays["B"].loads
rows = [(T, found, 2 * n**3 // T, 2 * n**3 / (4 * found)) for T, found in by_tile.items()]
table(rows, ["T", "loads counted", "2 N³ / T", "FLOP for each byte"])

# %% [markdown]
# <details class="reveal"><summary>2 N³ / T</summary>
#
# Going round once, a thread fetches two numbers and does $T$ multiplications: $T$ times fewer fetches, so
# $2 \cdot 128^3 / 32 = 131{,}072$. Each element of $A$ is wanted by all $T$ threads of its row of the block, and one of
# them fetched it for all. The intensity is $T / 4$, and 32 is the end of that road: $32 \times 32 = 1{,}024$ threads
# are as many as a block may have.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
fetched.confirm(by_tile[32])

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
a, b, c = A[:32, :32].copy(), B[:32, :32].copy(), np.zeros((32, 32), np.float32)
racy = simt.run(one_barrier, (2, 2), (16, 16), [a, b, c], on_error="collect")
right = np.array_equal(c, a @ b)
pairs = sum(hazard.count for hazard in racy.hazards)
print("right:", right, "  pairs of threads that race:", f"{pairs:,}")
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
luxury.confirm(("the right numbers here" if right else "wrong numbers") + (", and a finding" if racy.hazards else ""))

# %%
racy.race_picture()

# %% [markdown]
# ## Ragged edges
#
# `tiled` believes that the sizes are multiples of $T$. Try others:

# %% tags=["nbval-ignore-output"]
def matrices(m):
    return A[:m, :m].copy(), B[:m, :m].copy(), np.zeros((m, m), np.float32)

def in_blocks(m):
    return (-(-m // 16), -(-m // 16)), (16, 16)

unguarded = gpu.try_sizes(tiled(16), [16, 17, 31, 32], make=matrices, expected=np.matmul, launch=in_blocks)
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
        As[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        Bs[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc

# %% [markdown]
# And the same sizes again:

# %% tags=["nbval-ignore-output"]
repaired = gpu.try_sizes(guarded, [16, 17, 31, 32], make=matrices, expected=np.matmul, launch=in_blocks)
repaired

# %% tags=["hide-input"]
# On a GPU the tables say that values only are looked at; what they find is the same.
assert unguarded.smallest == 17 and repaired.smallest is None

# %% [markdown]
# From here on, kernels on this page leave the guards out, to keep the idea in sight. In
# `course_lib/cuda/ladders/gemm` each of them stands as a rung of a ladder, with all its guards. With this you can solve
# the first exercises of the lesson's sheet.
#
# ## What the tiles are worth
#
# Tiles of 32 × 32 are rung 3. Here is its report beside that of rung 2.

# %% tags=["hide-input"]
# Rung 3 beside rung 2.
reports["tiles"] = gpu.simulate(tiled(32), (4, 4), (32, 32), A, B, C)
columns({name: reports[name] for name in ("coalesced", "tiles")}, caption="Products of 128 × 128 numbers")

# %% [markdown]
# An advertisement for shared memory: a 32nd of the requests, a 20th of the sectors. What does the card say?

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
names = {"v01_naive": "1 naive", "v02_coalesced": "2 coalesced", "v03_smem_tiled": "3 tiles in shared memory"}
table(
    [(names.get(rung, rung), 1e3 * small.seconds[rung], small.seconds["cuBLAS"] / small.seconds[rung])
     for rung in (*names, "cuBLAS")],
    ["kernel", "milliseconds", "share of cuBLAS"],
    formats={"milliseconds": ".3f", "share of cuBLAS": ".0%"},
    caption=f"N = 1,024, measured on an {small.card} ({small.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Use shared memory, and you are at a fifth</summary>
#
# Global memory was not what held `coalesced` back: its caches did most of what the tiles do. With shared memory the
# kernel does a fifth of what the library does; with 4,096 rows it is a seventh. The belief was wrong, and not by a
# little. Something else is the limit now.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
worth.confirm(f"about {small.seconds['v02_coalesced'] / small.seconds['v03_smem_tiled']:.1f} times")

# %% tags=["hide-input"]
# Three rungs.
climb("v01_naive", "v02_coalesced", "v03_smem_tiled")

# %% [markdown]
# ## The roof inside
#
# Look at the line that works, `acc += As[ty, k] * Bs[k, tx]`. For one multiply-add a warp makes two requests to shared
# memory. A multiprocessor answers one wavefront (lesson 12) in a clock, and could do *four* multiply-adds of a warp in
# the same clock.[^NVIDIA "CUDA C++ Best Practices Guide, Throughput of Native Arithmetic Instructions"] Two clocks for
# what takes a quarter of one: whatever else is done well, seven eighths of the arithmetic stand idle.

# %%
def wavefronts_per_fma(report):
    """Wavefronts of shared memory for each multiply-add of a warp (32 lanes, 2 operations each)."""
    return report.total.shared_load_wavefronts / (report.total.flops / 64)

w = wavefronts_per_fma(reports["tiles"])
print(f"{w} wavefronts a multiply-add: at most {1 / (4 * w):.1%} of the peak")
reached = large.flops / large.seconds["v03_smem_tiled"] / roof.peak
print(f"measured with 4,096 rows: {reached:.1%}")

# %% [markdown]
# That is a prediction from two counters, made without a card, and the card confirms it. So shared memory is only the
# second answer. It is near, but thirty-two lanes asking twice for each step are too much even for it. The third answer
# is nearer still: a *register* is read in the very clock in which it is needed.
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
F, X, Y = np.ones((2, 12), np.float32), np.ones((12, 4), np.float32), np.zeros((2, 4), np.float32)
reuse = {}
for cols in (2, 4):
    used = gpu.simulate(tile_of(2, cols), (4 // cols, 1), (cols, 2), F, X, Y).arrays
    reuse[f"2 × {cols}"] = int(used["Xs"].reuse), int(used["Fs"].reuse)
table([(tile, *both) for tile, both in reuse.items()], ["tile", "uses of an input", "uses of a weight"])

# %% [markdown]
# The rule behind it: in a tile of $m \times n$ results, a number of the left matrix is used $n$ times, once for each
# column, and one of the right matrix $m$ times. Large tiles use their numbers often. And nothing in this rule says that
# the tile belongs to a *block*. It holds for a single thread just as well.
#
# So give one thread a column of eight results. It reads one number of `Bs` into a register and uses it eight times. And
# since a thread does eight times as much, the same number of threads covers a larger tile. That is rung 4, **1-D
# register tiles**.

# %%
SIDE = 64  # a block's tile of C has 64 x 64 results
DEEP = 8  # the tiles of A and B are 8 deep along k
OWN = 8  # a thread has 8 results of its own, or later 8 x 8

# %% [markdown]
# The eight sums live in a local array. All its indices are known when the kernel is compiled, so it is kept in registers
# (lesson 12).

# %%
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
reports["column of 8"] = gpu.simulate(column_of_eight, (2, 2), 512, A, B, C)
columns({name: reports[name] for name in ("tiles", "column of 8")})

# %% [markdown]
# Better by 1.8, in shared memory; and the larger tile halves what is fetched from global memory. But the eight numbers
# of `As` are still used only once each. Who reads eight numbers of a column should also read eight of a row.

# %% tags=["hide-input"]
square = predict(
    "A thread computes 8 × 8 results. For each k it reads its numbers of As and Bs into registers once. How many reads "
    "are that for its 64 multiply-adds?",
    [8, 16, 64, 128],
    answer=16,
)
square

# %% [markdown]
# <details class="reveal"><summary>A square is the best shape</summary>
#
# Eight numbers of a column and eight of a row: 16 reads for 64 multiply-adds, a quarter of one for each. In a tile of
# $m \times n$ results it is $(m + n) / (m n)$, and for a given number of results the square needs the fewest.
#
# </details>

# %% [markdown]
# That is rung 5, **2-D register tiles**. The block's tile grows to 128 × 128 results, for 256 threads.

# %%
BIG = 128  # a block's tile of C has 128 x 128 results
STEP = 16  # the tiles of A and B are 16 deep along k

# %% [markdown]
# A thread's eight rows and columns lie 16 apart and not side by side, so that neighbouring threads read neighbours in
# `Bs`: no bank conflict.

# %%
@gpu.jit
def square_of_eight(A, B, C):
    As, Bs = cuda.shared.array((BIG, STEP), float32), cuda.shared.array((STEP, BIG), float32)
    acc, b = cuda.local.array((OWN, OWN), float32), cuda.local.array(OWN, float32)
    t, top, left = cuda.threadIdx.x, cuda.blockIdx.y * BIG, cuda.blockIdx.x * BIG
    ty, tx = t // 16, t % 16
    for i in range(OWN * OWN):
        acc[i // OWN, i % OWN] = float32(0)
    for start in range(0, A.shape[1], STEP):
        for p in range(OWN):
            As[ty + 16 * p, tx] = A[top + ty + 16 * p, start + tx]
            Bs[t // BIG + 2 * p, t % BIG] = B[start + t // BIG + 2 * p, left + t % BIG]
        cuda.syncthreads()
        for k in range(STEP):
            for j in range(OWN):
                b[j] = Bs[k, tx + 16 * j]
            for i in range(OWN):
                a = As[ty + 16 * i, k]
                for j in range(OWN):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(OWN * OWN):
        C[top + ty + 16 * (i // OWN), left + tx + 16 * (i % OWN)] = acc[i // OWN, i % OWN]

# %% [markdown]
# Beside rung 4:

# %%
reports["8 × 8"] = gpu.simulate(square_of_eight, (1, 1), 256, A, B, C)
columns({name: reports[name] for name in ("column of 8", "8 × 8")})

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
used = reports["8 × 8"].arrays
steps = n * 256  # each of 256 threads goes through all k
square.confirm((used["As"].loads + used["Bs"].loads) // steps)

# %% [markdown]
# Now put the roof inside beside the clock, for all three:

# %% tags=["hide-input"]
# The bound by shared memory, and what was measured.
inside = {"tiles": "v03_smem_tiled", "column of 8": "v04_register_tile_1d", "8 × 8": "v05_register_tile_2d"}
rows = []
for name, rung in inside.items():
    w, speed = wavefronts_per_fma(reports[name]), large.flops / large.seconds[rung]
    rows.append((name, w, min(1, 1 / (4 * w)), speed / roof.peak, large.seconds["cuBLAS"] / large.seconds[rung]))
heads = ["kernel", "wavefronts a multiply-add", "at most, of the peak", "measured, of the peak", "of cuBLAS"]
table(rows, heads, formats=dict.fromkeys(heads[2:], ".1%"),
      caption=f"Counted on this page; measured: the ladder's rungs 3 to 5, 4,096 rows, on an {large.card}")  # fmt: skip

# %% [markdown]
# Eight by eight is just enough: four multiply-adds for a wavefront, as many as the multiprocessor can do meanwhile. And
# now the kernel is fast. Rung 5 is still plain Python, and it has three quarters of the speed of a library that NVIDIA
# has polished for eighteen years. The measured one differs from ours in three small things that help the compiler: `As` lies
# turned, so that one instruction brings four numbers; indices are unsigned; the loop over `k` is written out.

# %% tags=["hide-input"]
# A folded look at rung 5.
listing(gemm.v05_register_tile_2d, "The kernel of rung 5", start="@jit", end="def gemm_v05")

# %% [markdown]
# ## Three more rungs
#
# What is left is finer work. **Vectorised** (rung 6): one request brings four neighbours for each lane, 16 bytes, so a
# quarter of the requests. **Warp tiles** (rung 7): each warp gets a compact part of the block's tile, 64 × 32, instead
# of lanes that reach all the way across. **Pipelined** (rung 8): two pairs of tiles in shared memory. While the block
# multiplies out of one pair, asynchronous copies fill the other one, so that nobody waits for memory and one barrier a
# tile is enough; and a thread has 8 × 16 results.

# %% tags=["hide-input"]
# Rungs 6 to 8 beside rung 5.
for rung in ("v06_vectorised", "v07_warp_tiles", "v08_pipelined"):
    (reports[SHORT[rung]],) = gpu.simulate_launches(RUNGS[rung].launch, A, B, C)
columns({name: reports[name] for name in ("8 × 8", "vectorised", "warp tiles", "pipelined")})

# %% [markdown]
# Look at warp tiles: nothing that the report counts has moved. It is a step that only prepares the next one. Each rung
# is a file with one idea, and its first lines say which.

# %% tags=["hide-input"]
# A folded look at rung 8.
listing(gemm.v08_pipelined, "The kernel of rung 8", start="@jit(cache=True, launch_bounds", end="return _gemm_v08")

# %% [markdown]
# And this is the whole climb. Walk up rung by rung.

# %% tags=["hide-input"]
# The whole climb.
climb(*RUNGS)

# %% [markdown]
# Note two things. From rung 4 on all kernels stand right of the ridge, where global memory is no limit any more; what
# they gained from there on, they gained inside the multiprocessor. And rung 8 asks global memory for *more* than rungs
# 5 to 7, since its tile is only 64 rows high. Once you are past the ridge, more intensity buys nothing.
#
# The last quarter to the roof is nobody's:

# %% tags=["hide-input"]
# Shares of the peak.
only = microbench("arithmetic", card="h200")["FMA, shared operands, all warps"]
table(
    [("rung 8, pipelined", large.flops / large.seconds["v08_pipelined"] / 1e12), ("cuBLAS", large.flops / large.seconds["cuBLAS"] / 1e12),
     ("nothing but multiply-adds in registers", 64 * only.rate / 1e12), ("data sheet", roof.peak / 1e12)],
    ["kernel", "TFLOP/s"], formats={"TFLOP/s": ".1f"}, caption=f"Products of 4,096 rows; measured on an {large.card}",
)  # fmt: skip

# %% [markdown]
# Even a loop without any memory at all, written in the same Python, does not come to the data sheet's number. Float32
# ends here. What lies beyond are other units, the tensor cores, and rungs 9 and 10 of the ladder: lesson 17.
#
# ## A full house is not the aim
#
# Lesson 12 said that a multiprocessor should hold many warps. The best kernel of this page holds few:

# %% tags=["hide-input"]
# Occupancy of each rung, beside its speed.
need = registers("gemm 4096")
held = {"v03_smem_tiled": (1024, 8192), "v04_register_tile_1d": (512, 4096), "v05_register_tile_2d": (256, 16640),
        "v06_vectorised": (256, 16640), "v07_warp_tiles": (256, 16640), "v08_pipelined": (64, 25088)}  # fmt: skip
rows = []
for rung, (threads, shared) in held.items():
    there = simt.occupancy("H200", threads, shared, need[rung])
    rows.append((SHORT[rung], need[rung], there.warps, there.share, large.seconds["cuBLAS"] / large.seconds[rung]))
table(
    rows, ["kernel", "registers a thread", "warps on a multiprocessor", "occupancy", "of cuBLAS"],
    formats={"occupancy": ".1%", "of cuBLAS": ".0%"}, caption="Registers as the compiler gave them for an H200",
)  # fmt: skip

# %% [markdown]
# The fullest one is the slowest. Warps are there to hide waiting. A thread with 128 sums has so many independent
# multiply-adds that it hardly waits, and it needs the registers for them. They come out of the same 65,536, so whoever
# takes more of them for each thread has fewer threads. Move the registers in the picture.

# %%
simt.occupancy_calculator(device="H200", threads=256, registers=124, shared_bytes=16640)

# %% [markdown]
# ## Which rung for which shape?
#
# Is rung 8 then the best kernel? It was with 4,096 rows. Take 1,024, a 64th of the work.

# %% tags=["hide-input"]
shape = predict(
    "N = 1,024. Which of rungs 5 to 8 is the slowest?",
    ["5, 2-D register tiles", "6, vectorised", "7, warp tiles", "8, pipelined"],
    answer="8, pipelined",
    reveals=2,
)
shape

# %% tags=["hide-output", "hide-input"]
# Blocks, warps and times with 1,024 rows.
upper = [rung for rung in held if rung >= "v05"]
tile = {rung: (64 if rung == "v08_pipelined" else 128, 128) for rung in upper}
rows = []
for rung in upper:
    blocks = (1024 // tile[rung][0]) * (1024 // tile[rung][1])
    there = blocks * held[rung][0] // 32
    rows.append((f"{rung[2]}, {SHORT[rung]}", blocks, held[rung][0] // 32, there, 1e6 * small.seconds[rung]))
table(rows, ["rung", "blocks", "warps of a block", "warps in all", "microseconds"],
      formats={"microseconds": ".0f"}, caption=f"N = 1,024, on an {small.card} with 132 multiprocessors")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Too few blocks to fill a card</summary>
#
# Large tiles make few blocks. With 1,024 rows there are 64 of them for 132 multiprocessors in rungs 5 to 7: half of the
# card has nothing to do. Rung 8 has 128 blocks, but each of two warps, where a multiprocessor has four schedulers, and
# counts on three more blocks beside it that do not come. Few warps that never wait are fine as long as *all* places
# have some.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
slowest = max(upper, key=small.seconds.get)
shape.confirm(f"{slowest[2]}, {SHORT[slowest]}")

# %% [markdown]
# Now a shape out of our network. A hidden layer with 128 neurons, a mini-batch of 128 digits of 784 pixels each.

# %% tags=["hide-input"]
layer = predict(
    "128 × 784 times 784 × 128: which of these rungs is the fastest?",
    ["3, tiles of 32 × 32", "5, 2-D register tiles", "7, warp tiles", "8, pipelined"],
    answer="3, tiles of 32 × 32",
    reveals=2,
)
layer

# %% tags=["hide-output", "hide-input"]
# The same ladder on two other shapes.
dense, deep = (measured(f"product {size}", card="h200") for size in ("128 x 128 x 784", "512 x 512 x 4096"))
sides = {"v03_smem_tiled": (32, 32), "v04_register_tile_1d": (64, 64)} | tile
rows = [
    (f"{rung[2]}, {SHORT[rung]}", -(-128 // m) * -(-128 // k), 1e6 * dense.seconds[rung],
     -(-512 // m) * -(-512 // k), 1e6 * deep.seconds[rung])
    for rung, (m, k) in sides.items()
]  # fmt: skip
rows.append(("cuBLAS", None, 1e6 * dense.seconds["cuBLAS"], None, 1e6 * deep.seconds["cuBLAS"]))
heads = ["rung", "blocks", "128 × 784 × 128, µs", "blocks ", "512 × 4,096 × 512, µs"]
table(rows, heads, formats={heads[2]: ".0f", heads[4]: ".0f"}, align="lrrrr",
      caption=f"Measured on an {dense.card} ({dense.date})")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The top of the ladder at the bottom</summary>
#
# One block of 128 × 128 is the whole product: 131 multiprocessors look on. Sixteen small tiles share the work among
# sixteen of them, and the kernel that loses by seven at 4,096 rows wins by three here. The library beats all of them. It
# is not one kernel. It is a collection of many, with rules for when to take which; where the result is small and $K$
# long, one way is to let several blocks share the *sum*, each over a part of $k$, and add up their results as in lesson
# 13.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
asked = {"v03_smem_tiled": "3, tiles of 32 × 32"} | {rung: f"{rung[2]}, {SHORT[rung]}" for rung in upper}
layer.confirm(asked[min(asked, key=dense.seconds.get)])

# %% [markdown]
# ## One digit at a time
#
# In the table on top, C5 of LeNet-5 stands as 120 × 400 times 400 × **1**. For a single digit it is a matrix times a
# vector.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] Nothing could be easier to parallelise:[^Owens "Straightforward
# to parallelise"] a warp for each row, and lesson 13's shuffles at the end.

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
report = gpu.simulate(matrix_vector, 15, 256, W, W[0].copy(), np.zeros(120, np.float32))
use = report.arrays["W"]
print("loads of each weight:", use.reuse, "  FLOP for each byte of W:", 2 * W.size / (4 * use.loads))

# %% [markdown]
# <details class="reveal"><summary>No tile will help</summary>
#
# Each weight takes part in one multiplication and one addition, and has four bytes: 0.5, whatever the kernel. There is
# nothing to reuse. At 4.8 terabytes a second that allows 2.4 TFLOP/s, less than 4 % of what the card can do. All of
# this page's art is for nothing here; a kernel that reads `W` once, coalesced, is as good as any.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
vector.confirm(2 * W.size / (4 * use.loads))

# %% [markdown]
# What helps is a second digit. Two columns use each weight twice, $B$ columns use it $B$ times. That is why networks are
# trained in mini-batches, and why a service that answers many people collects their questions for a moment. A large
# layer, 4,096 × 4,096:

# %% tags=["hide-input"]
# Time for a sample against the size of the batch.
batch = measured("matrix times batch", card="h200")
times = {int(name.split(", ")[1]): s for name, s in batch.seconds.items() if name.startswith("cuBLAS")}
table(
    [(b, 1e6 * s, 1e6 * s / b, 2 * 4096**2 * b / s / 1e12) for b, s in times.items()],
    ["columns B", "microseconds", "for each column", "TFLOP/s"],
    formats={"microseconds": ",.0f", "for each column": ".2f", "TFLOP/s": ".1f"},
    caption=f"cuBLAS, 4,096 × 4,096 times 4,096 × B, on an {batch.card} ({batch.date}); `matrix_vector` needs "
    f"{1e6 * batch.seconds['matrix_vector, 1']:.0f} microseconds for one column",
)

# %% tags=["hide-input"]
# The same as a curve.
sizes = list(times)
figure = figures.plots.curves({"for each column": [1e6 * times[b] / b for b in sizes]}, x=sizes, log=True,
                              xlabel="columns", ylabel="microseconds")  # fmt: skip
figure.axes[0].set_xscale("log", base=4)
figures.show(
    figure,
    alt=f"Time for each column against the number of columns, both logarithmic: it falls from {1e6 * times[1]:.1f} "
    f"microseconds for a single column to {1e6 * times[4096] / 4096:.2f} in a batch of 4,096, and hardly changes "
    "from 256 columns on.",
)

# %% [markdown]
# Sixteen columns take less than twice as long as one. Then the curve flattens: with a few hundred columns
# the product stands right of the ridge, arithmetic is the limit, and further columns cost what they cost. (The library's
# four columns take longer than its sixteen. Its rules are good, not perfect.)
#
# ## The call
#
# In practice you write none of these kernels. `A @ B` on a card, in any framework, is a call of cuBLAS, and that this call exists is
# the best reason to write a layer as a product.[^Hwu "Advantages of Matrix Multiplication"] The course's own
# `course_lib.cuda.dense_forward` does what this page found out: the top rung where there is work for the whole card,
# small tiles where there is not. What you take with you is the question behind the ladder, and it fits every kernel:
# *how often is a number used where it is, and is that often enough for the place it is in?*
#
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
#   An input once, since the tile has one row; a weight four times. The kernel needs a change as well: only row 0 has
#   threads, so nobody brings the second row of `Xs`.
#
#   </details>
# - Count the bank conflicts of `square_of_eight` if a thread's columns lie side by side, `Bs[k, OWN * tx + j]`.
#   <details><summary>Answer</summary>
#
#   The 16 different lanes of a row then read words 0, 8, 16, ..., 120: they meet in four banks, 0, 8, 16 and 24, four
#   words in each. Four wavefronts where one was enough, and the roof inside falls to 40 %.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - Prof. Hwu's drawings of a 2 × 2 and a 2 × 4 tile show which elements meet; the table on this page counts the same
#   numbers, 2 and 2, then 2 for an input and 4 for a weight. His step 4 of Lab 7, joint register-shared tiling, is
#   rungs 4 and 5 of this ladder; lesson 15 puts a convolution on it.
# - On his slide on reuse, C5 "is actually a matrix-vector multiply": true for one image. With a mini-batch it is a
#   product again.
# - Prof. Dey announces GEMM optimisations "later"; this page is ours, and so are its measurements.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A block computes 64 × 256 results. How many operations for each byte do its threads ask for, and would 128 × 128
# be better?
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
# With a single tile along $k$ nothing is ever overwritten, so these tests cannot fail. From 17 columns of $A$ on there are
# two tiles, and a fast warp fills the second one while a slow warp still reads the first. It may come out right for
# years.
#
# </details>
