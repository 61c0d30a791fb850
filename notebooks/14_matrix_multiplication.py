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
# Nearly everything that a network computes is a product of two matrices. Until this is fast, nothing else matters. The
# usual advice is short: *use shared memory*. Below you can follow it. A block computes one tile of the
# product; choose how large the tile is, and how many results each of its threads computes, and see how often a number
# is used once it has been fetched. It starts at 32 × 32, the largest tile the usual advice can reach.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32, int64, uint32

from course_lib import figures, gpu, simt
from course_lib.cuda.ladders import gemm
from course_lib.cuda.unroll import unroll
from course_lib.lesson import findings, issued, measured, memory_ladder, predict, registers, table

figures.tile_explorer(4096, 4096, 4096)

# %% [markdown]
# You need not understand every number in it yet. (FLOP are floating-point operations. The *peak* is how many the card
# can do in a second, 67 TFLOP/s on an H200; the *ridge* is the corner of lesson 12's roof; a *round* fills the card
# with blocks once.) By the end you can say why the first choice leaves seven eighths of the card's arithmetic idle,
# shared memory and all.
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
# Prof. Dey's lecture announces "certain GEMM optimizations" for later (GEMM is the general product of two matrices);
# here they are. The page also counts the two tilings that Prof. Hwu draws in ECE 508, and takes up Prof. Owens'
# remark that a dense matrix times a dense vector is straightforward to parallelise. The order of the kernels follows
# Simon Boehm's "How to Optimize a CUDA Matmul Kernel". You need lessons 11 and 12, and shuffles from 13. Times are
# from the card that is named beside them. Reading and trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## Where the arithmetic is
#
# A dense layer is a product, `Z = X @ W`, and so is a convolution, once its windows are written as columns (lesson
# 08): a row for each mask, a column for each place. Here are all layers of lesson 09's network, for one digit. The
# weights stand on the left, so a dense layer is written as $Z^T = W^T X^T$ here.

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
# These are all 416,520 multiplications that lesson 11 spoke of. To see what a card can do, take something larger: two
# square matrices with $N = 4{,}096$ rows. Their product $C = A B$ needs $N^3$ multiplications and as many additions.
# How long must that take?

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
# This is the first operation of the GPU lessons that arithmetic should limit. But only if the 4,096 uses of a number
# do not mean 4,096 journeys from far memory. Three nearer places can supply it: a cache, shared memory, a register.
#
# ## One thread, one result
#
# The kernel that everybody writes first has a thread for each result. Its first line names the thread's x `row` and its
# y `col`:

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
# Its results are right; its warps walk down columns, lesson 12's costliest mistake. Swap those names, nothing else:

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
# Blocks are 32 × 8, so a warp has 32 consecutive x. Think of one warp and one `k`. In `naive` its lanes want 32 numbers
# of a column of `A`, and all the same number of `B`. In `coalesced` they all want the same number of `A`, and 32
# neighbours in a row of `B`.
#
# Neighbouring warps find the same numbers in the L1 cache. Far memory charges by sector, but L1 by wavefront: L1 and
# shared memory are one memory,[^NVIDIA "Hopper Tuning Guide, Unified Shared Memory/L1/Texture Cache"] with lesson 12's
# banks. A request is answered in **wavefronts**, each with at most one word from each bank; so it takes at least as
# many of them as there are different numbers in its fullest bank. A row has 1,024 numbers. Count a warp's wavefronts
# for each `k`.

# %% tags=["hide-input"]
swap = predict(
    "Both multiply two matrices with 1,024 rows and columns. How many times faster is `coalesced` on an H200?",
    ["about 1.5 times", "about 6 times", "about 12 times", "about 50 times"],
    answer="about 12 times",
    reveals=2,
)
swap

# %% tags=["hide-output", "hide-input"]
# What a warp asks for in each k, what L1 allows, and what was measured.
n = 128
rng = np.random.default_rng(0)
A, B = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
C = np.zeros((n, n), np.float32)
reports = {k: gpu.simulate(kernel, (4, 16), (32, 8), A, B, C) for k, kernel in ((1, naive), (2, coalesced))}
small = measured("gemm 1024", card="h200")
RUNG = {rung.number: rung for rung in gemm.LADDER[:8]}
NAMES = {1: "naive", 2: "coalesced", 3: "tiles", 4: "column of 8", 5: "square of 8", 6: "vectorised", 7: "warp tiles",
         8: "pipelined"}  # fmt: skip
own = measured("lesson 14's own kernels", card="h200")
device = roof.device
clocks = device.sms * device.clock * 1e9  # of all multiprocessors, in a second

def in_banks(words):
    """Wavefronts of a request: different words in the fullest of 32 banks."""
    return int(np.bincount(np.unique(words) % 32).max())

def allowed(waves):
    """FLOP/s if a multiprocessor answers a wavefront in each clock, and 64 operations take so many."""
    return 64 * clocks / waves

lane = np.arange(32)
waves = {1: in_banks(1024 * lane) + in_banks(0 * lane), 2: in_banks(0 * lane) + in_banks(lane)}
first = {k: small.seconds[RUNG[k].name] for k in (1, 2, 3)}
heads = ["sectors", "wavefronts", "TFLOP/s at most", "N = 1,024", "N = 4,096"]
table(
    [(NAMES[k], reports[k].total.global_load_sectors * 32 // n**3, waves[k], allowed(waves[k]) / 1e12,
      small.flops / first[k] / 1e12, large.flops / own.seconds[NAMES[k]] / 1e12) for k in (1, 2)],
    ["kernel", *heads], formats=dict.fromkeys(heads[2:], ".2f"),
    caption=f"For a warp in each k: sectors and wavefronts; what L1 allows; TFLOP/s measured on an {own.card}",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>33 wavefronts or 2</summary>
#
# In `naive` the 32 numbers of `A` lie 1,024 apart, all in one bank: 32 wavefronts, and one for `B`. In `coalesced` it
# is one and one. The hardware's 132 multiprocessors answer at most 261 billion wavefronts a second, one in each
# clock. With 33 of them for 64 operations that is 0.51 TFLOP/s, with two 8.36. If both ran at what L1 allows, the
# gain would be 16.5. `naive` nearly does, `coalesced` reaches 68 %, and the gain is 12 with 1,024 rows. (By sectors it
# would be 6.6.) With 4,096 rows `coalesced` falls from 5.7 to 3.0, and the gain is 6; why, we have not measured.
#
# Does L1 charge for words in one bank, or for cache lines? Here both counts are 32. The course's microbenchmarks tell:
# with lanes 32 words apart a request to L1 takes 33 clocks; with lanes 33 words apart, again in 32 lines, only 9. So it
# is mostly the banks. (Nine and not one: they are not all of it.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
swap.confirm(f"about {first[1] / first[2]:.0f} times")

# %% [markdown]
# ## Two fetches for a multiplication
#
# Count now what threads *ask* global memory for, wherever it comes from. Each of the $N^2$ threads reads a row and a
# column, so all together ask for $2N^3$ numbers, although there are only $2N^2$:

# %%
def asked(report):
    """Numbers that all threads together ask global memory for."""
    return report.arrays["A"].loads + report.arrays["B"].loads

print(f"{asked(reports[2]):,} asked for; 2 N³ = {2 * n**3:,}; there are {A.size + B.size:,}")

# %% [markdown]
# A multiplication and an addition, two FLOP, for two numbers of four bytes: 0.25 FLOP for each byte that is asked
# for, whatever $N$ is. The ridge lies at about 14. L1 answers most of these requests, but answering takes time too.
#
# ## A tile at a time
#
# The second place is shared memory: a block fetches numbers *together* and puts them where all of its threads can read
# them. A block computes a tile of $C$, $T$ rows by $T$ columns. It needs $T$ rows of $A$ and $T$ columns of $B$, which
# are too long for shared memory, so it takes them piece by piece: a tile of each, then the next one, along $k$. Each
# thread brings one number of each tile, and uses $T$ of each.
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
# Load, barrier, multiply, barrier. Walk through it with matrices of 8 × 8 and tiles of 4 × 4; `B` is the identity
# matrix, so that `A` comes out again. A block then has 16 threads, half a warp, and its loop has two iterations. Press
# *First* and *values*, then *Next*, and watch each tile being loaded, used and replaced:

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
# In one iteration a thread fetches two numbers and does $T$ multiplications, where it did one before. So there
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
# The first barrier is obviously needed: nobody may multiply before the tiles are there. The second one, after the
# multiplications, looks like a luxury. Here it is left out.

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
# Try it on matrices of 32 × 32, so that the loop has two iterations. The executor walks *line by line*: all threads of
# the block finish a line before any begins the next. On a card, warps go on at their own pace, and even the lanes of
# one warp need not be together.[^NVIDIA "CUDA C++ Programming Guide, Independent Thread Scheduling"] (`simt.run` is the
# executor too; it works on the arrays themselves, so that we can look at the result.)

# %% tags=["hide-input"]
luxury = predict(
    "What does the executor say without the second barrier?",
    [
        "wrong numbers, and a finding",
        "the right numbers, and a finding",
        "the right numbers, and no finding",
    ],
    answer="the right numbers, and a finding",
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
# A block of 16 × 16 has eight warps of two rows each. A warp that is done multiplying overwrites its two rows of
# `Bs`, which all eight warps read, while a slower one may still need the old ones. A row of `As` is written and read
# by one and the same warp. That is a race all the same, because its lanes need not be together either. Whoever
# overwrites a number races with 15 other readers: $4 \cdot 256 \cdot 15 = 15{,}360$ pairs in the four blocks for
# `As`, and as many for `Bs`.
#
# Line by line nobody is slow, so the numbers are right here. And with a single tile along $k$ the mistake cannot
# show, so a test on small matrices lets it pass. The barrier stays.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was found.
luxury.confirm(("the right numbers" if same else "wrong numbers") + (", and a finding" if racy.hazards else ""))

# %% [markdown]
# ## Ragged edges
#
# `tiled` works only if the sizes are multiples of $T$: with 17 rows and tiles of 16 it reads past the end of `A`, and
# the executor stops it. A guard around everything, as in the plain kernel, would be wrong: a thread without a result
# still has to bring numbers for the others, and has to come to the barriers. So guard the accesses one by one, and
# let what lies outside be zero. Zeros add nothing to a sum of products.

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
        a_in = row < M and start + tx < K
        b_in = start + ty < K and col < N
        As[ty, tx] = A[row, start + tx] if a_in else float32(0)
        Bs[ty, tx] = B[start + ty, col] if b_in else float32(0)
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc

# %% [markdown]
# It is right at any size, and with it you can solve the first exercises of the sheet. From here on,
# kernels on this page leave the guards out.
#
# ## What the tiles are worth
#
# Such a series of kernels is a **ladder**, and each is a rung: `naive` is rung 1, `coalesced` 2, tiles of 32 × 32 are
# rung 3. In `course_lib/cuda/ladders/gemm` every rung is a file of its own, with all its guards; tables call it "the
# ladder's".
#
# On paper the tiles are a triumph: a 32nd of the requests to global memory. But count requests of both kinds. Both
# kernels make two for each multiply-add of a warp; the tiles merely send them elsewhere. The hardware's limit is the
# same there: 128 bytes in a clock for each of 132 multiprocessors.

# %% tags=["hide-input"]
# What the two places deliver.
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
        ("wavefronts of shared memory, loads", *(t.shared_load_wavefronts for t in totals)),
        ("barriers, counted for each warp", *(t.barriers for t in totals)),
    ]
    heads = ["", *(f"{k} {NAMES[k]}" for k in rungs)]
    return table(rows, heads, caption=f"Counted by the executor, products of {n} × {n} numbers")

reports[3] = by_tile[32]
near, delivers = {2: "L1 cache", 3: "shared memory"}, {name: rate for name, _, _, rate in memory_ladder("H200")}
table(
    [(NAMES[k], place, 128 * clocks / 1e12, delivers[place] / 1e12) for k, place in near.items()],
    ["kernel", "is served by", "TB/s at most", "TB/s, measured in lesson 12"], align="llrr",
    formats={"TB/s at most": ".1f", "TB/s, measured in lesson 12": ".1f"},
    caption="All multiprocessors of an H200 together",
)  # fmt: skip

# %% tags=["hide-input"]
worth = predict(
    "1,024 rows, where `coalesced` does 5.7 TFLOP/s. How many times faster are the tiles of 32 × 32, then?",
    ["about 1.4 times", "about 4 times", "about 20 times", "about 32 times"],
    answer="about 1.4 times",
    reveals=2,
)
worth

# %% tags=["hide-output", "hide-input"]
# What two requests a multiply-add allow, and what was measured.
rivals = {"coalesced": (first[2], own.seconds["coalesced"]), "tiles": (first[3], own.seconds["tiled"]),
          "cuBLAS": (small.seconds["cuBLAS"], own.seconds["cuBLAS"])}  # fmt: skip
speeds = {name: (small.flops / one, large.flops / two) for name, (one, two) in rivals.items()}
heads = ["TFLOP/s at most", "N = 1,024", "N = 4,096"]
shares = [f"of cuBLAS, {head}" for head in heads[1:]]
table(
    [(name, None if name == "cuBLAS" else allowed(wavefronts(reports[3])) / 1e12, *(v / 1e12 for v in both),
      *(v / best for v, best in zip(both, speeds["cuBLAS"], strict=True))) for name, both in speeds.items()],
    ["kernel", *heads, *shares], align="lrrrrr", formats=dict.fromkeys(heads, ".1f") | dict.fromkeys(shares, ".0%"),
    caption=f"TFLOP/s measured on an {own.card}: with 1,024 rows the ladder's kernels, with 4,096 this page's",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Use shared memory, and you are at a fifth</summary>
#
# At 33.5 terabytes a second, two wavefronts of 128 bytes for 64 operations allow 8.4 TFLOP/s, in L1 as in shared
# memory. With 1,024 rows `coalesced` was at 68 % of it already, and the tiles reach 94 %. With 4,096 rows `coalesced`
# has only 36 % and the tiles 97 %: they are 2.7 times faster. So they are worth having. But they end at a fifth of
# the library's speed with 1,024 rows, a sixth with 4,096, and a larger tile would need two wavefronts just the same.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
worth.confirm(f"about {first[2] / first[3]:.1f} times")

# %% [markdown]
# ## Two roofs inside
#
# A multiprocessor answers one wavefront of shared memory in a clock: each of its 32 banks hands out one word.[^NVIDIA
# "CUDA C++ Programming Guide, Shared Memory, Compute Capability 5.x"] In the same clock it could do *four*
# multiply-adds of a warp.[^NVIDIA "CUDA C++ Best Practices Guide, Throughput of Native Arithmetic Instructions"] The
# line `acc += As[ty, k] * Bs[k, tx]` needs two wavefronts: two clocks of reading for a quarter-clock of arithmetic.
# So at most an eighth of the peak can be reached, 12.5 %.
#
# The second roof is the **issue slots**. A multiprocessor has four schedulers, and each issues one instruction in a
# clock.[^NVIDIA "CUDA C++ Programming Guide, Hardware Multithreading"] The peak is reached only if every one of them
# is a multiply-add. That line takes three instructions, two reads and a multiply-add: at most a third of the peak.
#
# Shared memory has become the bottleneck. The third place is nearer still: a *register* is read in the very clock in
# which it is needed.
#
# ## Reuse in registers
#
# How often is a number used once it has been fetched? Take a small layer, two filters of 12 weights on 12 × 4 unrolled
# inputs,[^Hwu "Simple Matrix Multiplication"] and let a block compute a tile of 2 × 2 results, then one of 2 × 4.[^Hwu
# "Tiled Matrix Multiplication 2×4 example"] The executor notes how often a number that was stored is read again:

# %% tags=["hide-input"]
# The tile of a small layer, and how often its numbers are used.
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

F, X, Y = (np.ones(shape, np.float32) for shape in ((2, 12), (12, 4), (2, 4)))
reuse = {}
for cols in (2, 4):
    used = gpu.simulate(tile_of(2, cols), (4 // cols, 1), (cols, 2), F, X, Y).arrays
    reuse[f"2 × {cols}"] = int(used["Xs"].reuse), int(used["Fs"].reuse)
table([(tile, *both) for tile, both in reuse.items()], ["tile", "uses of an input", "uses of a weight"])

# %% [markdown]
# In a tile of $m \times n$ results, a number of the left matrix is used $n$ times, once for each column, and one of the
# right matrix $m$ times. Nothing in this rule says that the tile belongs to a *block*. It holds for a thread as well.
#
# So give one thread a column of eight results. It reads a number of `Bs` into a register and uses it eight times, and
# 512 threads cover a tile of 64 × 64. That is rung 4, **1-D register tiles**. The eight sums live in a local array; all
# its indices are known when the kernel is compiled, so the compiler keeps it in registers (lesson 12).

# %%
SIDE, DEEP = 64, 8  # a tile of C is 64 x 64; tiles of A are 64 x 8, of B 8 x 64
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
# For eight multiply-adds a thread reads nine numbers, eight of `As` and one of `Bs`, instead of sixteen. But each of
# the eight of `As` is still used only once. So read eight of a row as well: 16 reads then feed 64 multiply-adds, a
# quarter of a read for each. In a tile of $m \times n$ results it is $(m + n) / (m n)$, and of all shapes with as
# many results the square needs the fewest.
#
# That is rung 5, **2-D register tiles**. 256 threads with 8 × 8 results each cover a tile of 128 × 128; the tiles of
# `A` are 128 × 16, those of `B` 16 × 128. A thread's rows and columns lie 16 apart and not side by side, so that
# neighbouring threads read neighbours in `Bs` and no bank is asked for two different numbers.

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
# Here are the counts for rungs 2 to 5, then the two roofs beside the measured speed. From here on $N$ is 4,096 unless a
# table says otherwise.

# %%
reports[4] = gpu.simulate(column_of_eight, (2, 2), 512, A, B, C)
reports[5] = gpu.simulate(square_of_eight, (1, 1), 256, A, B, C)
beside(2, 3, 4, 5)

# %% tags=["hide-input"]
# The two roofs of this page's kernels, and what was measured.
took = {1: own.seconds["naive"], 2: own.seconds["coalesced"]}
took |= {k: large.seconds[RUNG[k].name] for k in range(3, 9)}

def slots(report):
    """Share of multiply-adds if nothing but reads of shared memory and multiply-adds were issued."""
    return 1 / (1 + report.total.shared_load_requests / (report.total.flops / 64))

def in_code(case):
    """{kernel: share of multiply-adds among all its machine instructions}, as the compiler made them for an H200."""
    return {name: one.multiply_adds / one.of_a_warp for name, (one, *_) in issued(case).items()}

code, rows = in_code("lesson 14's own kernels"), []
for k, name in {3: "tiled", 4: "column_of_eight", 5: "square_of_eight"}.items():
    w = wavefronts(reports[k])
    rows.append((f"{k} {NAMES[k]}", w, min(1, 1 / (4 * w)), slots(reports[k]), code[name],
                 large.flops / own.seconds[name] / roof.peak, own.seconds["cuBLAS"] / own.seconds[name]))  # fmt: skip
heads = ["rung", "wavefronts a multiply-add", "they allow", "issue slots allow", "in machine code", "measured",
         "of cuBLAS"]  # fmt: skip
table(
    rows, heads, formats=dict.fromkeys(heads[2:], ".1%"),
    caption=f"Shares of the peak, this page's kernels, 4,096 rows on an {own.card}; cuBLAS in the same run",
)  # fmt: skip

# %% [markdown]
# Rung 3 comes close to what wavefronts allow, and rung 4 reaches 85 % of it. For rung 5 eight by eight is just enough:
# a wavefront feeds four multiply-adds, as many as a multiprocessor does in that clock. Now the slots are the lower
# roof: 16 reads and 64 multiply-adds are 80 instructions, so 80 % at most. The compiler adds others, most of them
# whole-number arithmetic, and leaves 59 % in the whole kernel.
#
# We measured 32 %. How large is the gap? One pair of tiles is 16 steps of 64 multiply-adds for each of eight warps:
# 2,048 clocks at the peak, 3,470 with the other instructions, and 6,370 as measured. So 2,900 clocks a tile are spent
# on something else. There is a suspect. A thread takes 164 registers, so this block
# is alone on its multiprocessor: while it loads its next tiles, and while its warps wait for each other at the two
# barriers, nobody else is there to multiply.

# %% [markdown]
# The ladder's rung 5, plain Python too, reaches 57 % of the peak, three quarters of the library's speed. It makes
# five changes. `As` lies *transposed*, so that four of a thread's rows are neighbours in it; its *columns* are grouped
# in fours, too. Then one read can bring four numbers, 16 bytes: such **wide reads** reduce the 80 instructions to 68,
# and raise the roof to 94 %. (Read singly, columns side by side collide in their banks; read wide, they do not.) The
# loop over `k` is *written out*, and indices are *unsigned*, so the compiler need not handle negative ones such as
# `A[-1]`. Finally it must leave registers for *two blocks*: then one can multiply while the other waits. Here is what
# each change alone does to the code of `square_of_eight`.

# %% tags=["hide-input"]
# The ladder's changes to `square_of_eight`, one at a time or all of them.
CHANGES = "As transposed", "columns in fours", "loop written out", "unsigned indices", "two blocks"

def changed_square(name):
    transposed, in_fours, written_out, unsigned, two = (name in (change, "all five") for change in CHANGES)
    shape = (16, 132) if transposed else (128, 16)  # 132: rows begin in different banks
    turns = 16 if written_out else 1
    whole = uint32 if unsigned else int64

    @gpu.jit(launch_bounds=(256, 2 if two else 1))  # so many blocks must find registers
    def square_changed(A, B, C):
        As = cuda.shared.array(shape, float32, alignment=16)
        Bs = cuda.shared.array((16, 128), float32, alignment=16)
        acc, b = cuda.local.array(64, float32), cuda.local.array(OWN, float32)
        top, left, t = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128, whole(cuda.threadIdx.x)
        ty, tx = t // whole(16), t % whole(16)
        for i in range(64):
            acc[i] = float32(0)
        for start in range(0, A.shape[1], 16):
            for p in range(OWN):
                row, k, col = ty + 16 * p, ty // 8 + 2 * p, ty % 8 * 16 + tx
                if transposed:
                    As[tx, row] = A[top + row, start + tx]
                else:
                    As[row, tx] = A[top + row, start + tx]
                Bs[k, col] = B[start + k, left + col]
            cuda.syncthreads()
            for first in range(0, 16, turns):
                for more in unroll(turns):
                    k = first + more
                    for j in range(OWN):
                        b[j] = Bs[k, 4 * tx + j // 4 * 64 + j % 4] if in_fours else Bs[k, tx + 16 * j]
                    for i in range(OWN):
                        a = As[k, 4 * ty + i // 4 * 64 + i % 4] if transposed else As[ty + 16 * i, k]
                        for j in range(OWN):
                            acc[OWN * i + j] += a * b[j]
            cuda.syncthreads()
        for i in range(OWN):
            row = 4 * ty + i // 4 * 64 + i % 4 if transposed else ty + 16 * i
            for j in range(OWN):
                col = 4 * tx + j // 4 * 64 + j % 4 if in_fours else tx + 16 * j
                C[top + row, left + col] = acc[OWN * i + j]
    return square_changed

each = measured(f"{own.case}: one change each", card="h200")
code, needs = in_code(each.case), registers(each.case)
table(
    [(name, share, needs[name], simt.occupancy("H200", 256, reports[5].shared_bytes, needs[name]).blocks,
      1e6 * each.seconds[name], each.seconds[name] / each.seconds["square_of_eight"] - 1)
     for name, share in code.items()],
    ["change", "multiply-adds in its code", "registers a thread", "blocks on a multiprocessor", "µs", "change in time"],
    formats={"multiply-adds in its code": ".1%", "µs": ",.0f", "change in time": "+.1%"},
    caption=f"Code as the compiler makes it for an H200; times of 4,096 rows on an {each.card} ({each.date})",
)  # fmt: skip

# %% [markdown]
# Of the single changes, writing out the loop saves most instructions; all five leave 85 %, more than the ladder's rung
# 5, which has guards to check. Writing out saves most time, too: 18 %. Three others save 12 or 13 % each, and unsigned
# indices alone cost 1.5 %. But the five together halve the time, nearly: 48 % less, a little more than their single
# savings make when multiplied (44 %).

# %% [markdown]
# And the suspect? Room for a second block saves 12 % of the time: of the 2,900 clocks a tile that had no explanation,
# it is worth 760 at most. So it had accomplices.
#
# ## Three more rungs
#
# **Vectorised** (6) requests 16-byte reads explicitly, where rung 5 leaves them to the compiler. **Warp tiles** (7)
# give each warp a compact part of the tile. **Pipelined** (8) has two pairs of tiles in shared memory: while the block
# multiplies out of one, the card fills the other in the background (an *asynchronous copy*). Its blocks have only 64
# threads, with 8 × 16 results each: a tile of 64 × 128.
#
# The rule of $m \times n$ holds on every level: for a block, for a warp, for a thread. In rung 6 the lanes of a warp
# reach across the whole tile: 16 × 128 results, which take 144 different numbers for each $k$. In rung 7 they share
# 64 × 32, as many results from 96. (Requests and wavefronts stay as many, so this
# alone gains nothing; rung 8 builds on it.) Here are the three levels of rung 7:

# %% tags=["hide-input"]
# A tile in a tile in a tile.
warps = gemm.v07_warp_tiles
figures.tile_levels(block=(warps.BM, warps.BN), warp=(warps.WM, warps.WN), thread=(warps.TM, warps.TN))

# %% [markdown]
# This is the whole climb; walk up rung by rung.

# %% tags=["hide-input"]
# The whole climb.
for k in (6, 7):
    (reports[k],) = gpu.simulate_launches(RUNG[k].launch, A, B, C)
# Not by its launcher, which refuses cards without asynchronous copies.
reports[8] = gpu.simulate(gemm.v08_pipelined._kernel(True, True), 2, 64, A, B, C)

def intensity(k, size=4096):
    """FLOP for each byte that the threads of a rung ask global memory for."""
    return 2 / 8 if k <= 2 else 2 * size**3 / RUNG[k].traffic(size, size, size)["global_load_bytes"]

points = [(NAMES[k], intensity(k), large.flops / took[k], RUNG[k].changed) for k in RUNG]
first_five = ("square, this page's", intensity(5), large.flops / own.seconds["square_of_eight"], RUNG[5].changed)
five_changes = "five changes to this page's: " + ", ".join(CHANGES)
points[4:5] = [first_five, ("square, the ladder's", *points[4][1:3], five_changes)]
marks = "1", "2", "3", "4", "5a", "5b", "6", "7", "8"
rival = "cuBLAS", large.flops / large.seconds["cuBLAS"]
figures.climb(points, "H200", rival=rival, marks=marks, title="How far do eight rungs climb with 4,096 rows?")

# %% [markdown]
# Rungs 1 and 2 are this page's kernels, rungs 3 to 8 the ladder's; of rung 5 you see both, 5a and 5b. The slope is the
# speed of far memory. Rung 2 lies above it, since its warps find most of what they ask for in a cache. From rung 4 on,
# all stand right of the ridge, where far memory's *bandwidth* could feed even the peak.
#
# Rungs 6 and 7 take as long as rung 5, whose code has wide reads already. Rung 8 steps back to the left: its tile is
# half as large, and asks far memory for half as much again. It is 30 % faster all the same; we have not measured its
# changes separately. It is as fast as the library, and both leave a quarter of the peak. Beyond float32 lie the tensor
# cores: lesson 17.
#
# ## A full house is not the aim
#
# Lesson 12 said that a multiprocessor should hold many warps. The best kernel of this page holds few:

# %% tags=["hide-input"]
# Occupancy of each rung, its slots and its speed.
need, code, rows = registers("gemm 4096"), in_code("gemm 4096"), []
for k in range(3, 9):
    threads, given = int(np.prod(reports[k].block)), need[RUNG[k].name]
    held = simt.occupancy("H200", threads, reports[k].shared_bytes, given)
    rows.append((f"{k} {NAMES[k]}", given, held.warps, held.share, code[RUNG[k].name],
                 large.flops / took[k] / roof.peak, large.seconds["cuBLAS"] / took[k]))  # fmt: skip
heads = ["rung", "registers a thread", "warps on a multiprocessor", "occupancy", "multiply-adds in its code",
         "of the peak, measured", "of cuBLAS"]  # fmt: skip
table(
    rows, heads, formats=dict.fromkeys(heads[3:6], ".1%") | {"of cuBLAS": ".0%"},
    caption=f"The ladder's kernels; code as the compiler makes it for an H200, measured on an {large.card}",
)  # fmt: skip

# %% [markdown]
# Highest occupancy goes with lowest speed. Warps are there to hide waiting, and a thread with 128 sums has many
# multiply-adds that do not depend on each other. At 249 registers a thread, 65,536 serve 256 threads: eight warps. No
# kernel exceeds what its slots allow; but from rung 5 to 6 the slots rise by an eighth and the speed does not, so it is
# not the slots that rungs 6 and 7 wait for. (The ladder's rung 4, with its guards, has more instructions and fewer
# warps than this page's, and is slower; which is to blame, we have not measured.)

# %% [markdown]
# ## Which rung for which shape?
#
# Is rung 8 the best kernel, then? With 4,096 rows it is. With 1,024 it is the slowest of rungs 5 to 8: 148
# microseconds against 122 to 127. Rungs 5 to 7 have 64 blocks of eight warps, rung 8 has 128 of two, both fewer than
# the 132 multiprocessors, so each block has one to itself. Either way 256 of 528 schedulers have work, but each has
# two warps in rungs 5 to 7 and one in rung 8, which has two with 4,096 rows. A warp alone on its scheduler has nobody
# to take its turn while it waits.
#
# Now a shape from lesson 06, written as `X @ W` again: a mini-batch of 128 digits with 784 pixels each, and a hidden
# layer of 128 neurons.

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
TILE = {3: (32, 32), 4: (64, 64), 5: (128, 128), 6: (128, 128), 7: (128, 128), 8: (64, 128)}

def blocks(k, rows, cols):
    return -(-rows // TILE[k][0]) * -(-cols // TILE[k][1])

def as_fast_as_before(k):
    """Seconds if each multiprocessor that has a block were as fast as with 4,096 rows, where all of them have."""
    one = large.flops / large.seconds[RUNG[k].name] / device.sms
    return 2 * 128 * 128 * 784 / (one * blocks(k, 128, 128))

dense = measured("product 128 x 128 x 784", card="h200")
rows = [(f"{k} {NAMES[k]}", blocks(k, 128, 128), 1e6 * as_fast_as_before(k), 1e6 * dense.seconds[RUNG[k].name])
        for k in TILE]
heads = ["rung", "blocks", "µs expected", "µs measured"]
table(
    [*rows, ("cuBLAS", None, None, 1e6 * dense.seconds["cuBLAS"])], heads, formats=dict.fromkeys(heads[2:], ".0f"),
    align="lrrr", caption="128 × 784 times 784 × 128. Expected: if each multiprocessor that has a block were as fast "
    f"as with 4,096 rows. Measured on an {dense.card} ({dense.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The top of the ladder at the bottom</summary>
#
# Rungs 5 to 7 occupy one multiprocessor of 132, rung 8 two, and sixteen small tiles occupy sixteen. So the kernel that
# is more than six times slower than rung 8 at 4,096 rows is three times faster here. Count the blocks, let each be as
# fast as before, and you have the times of rungs 3 to 7 to within a quarter. Only rung 8 takes three times as long as
# that: with 4,096 rows a multiprocessor has four of its blocks, here one, whose two warps leave half of the schedulers
# idle. The library beats them all: it chooses among many kernels by shape, and may share out a sum over $k$ among
# blocks, as lesson 13 shared out long sums.
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
# How often is a weight used here, once it has been fetched?

# %%
W = rng.integers(-4, 5, (120, 400)).astype(np.float32)
x, y = W[0].copy(), np.zeros(120, np.float32)
use = gpu.simulate(matrix_vector, 15, 256, W, x, y).arrays["W"]
per_byte = 2 * W.size / (4 * use.loads)
print(f"loads of each weight: {use.reuse:g}; FLOP for each byte: {per_byte}")

# %% [markdown]
# Each weight takes part in one multiplication and one addition, and has four bytes: 0.5, whatever the kernel. At 4.8
# terabytes a second that allows 2.4 TFLOP/s, less than 4 % of the peak, and no tile helps. What remains is lesson 12:
# read `W` once, coalesced, with enough under way. Lesson 12 measured 4.2 terabytes a second at best; on 4,096 × 4,096
# numbers this kernel reads 2.1, the library 2.9.
#
# What helps is a second sample, a second column of $x$. Two columns use each weight twice, $n$ columns use it $n$
# times. That is one reason to train in mini-batches, and why a service that answers many people collects their
# questions for a moment. Here is a large layer, 4,096 × 4,096:

# %% tags=["hide-input"]
# Time for a sample against the size of the batch.
batch = measured("matrix times batch", card="h200")
runs = [(*name.split(", "), seconds) for name, seconds in batch.seconds.items() if name != "cuBLAS, 4"]
table(
    [(name, int(b), 1e6 * s, 1e6 * s / int(b), 2 * 4096**2 * int(b) / s / 1e12) for name, b, s in runs],
    ["kernel", "columns", "microseconds", "for each column", "TFLOP/s"],
    formats={"microseconds": ",.0f", "for each column": ".2f", "TFLOP/s": ".1f"},
    caption=f"4,096 × 4,096 numbers times 1 to 4,096 columns, on an {batch.card} ({batch.date})",
)

# %% [markdown]
# Sixteen columns take less than twice as long as one, so a sample in such a batch costs about a ninth. Counting bytes,
# $n$ columns allow about $n / 2$ operations for each, and 28 columns would reach the ridge. In the table the library
# needs about 256: bytes are only the first limit, as you have seen. From there on every further column costs nearly the
# same.
#
# ## The call
#
# In practice you write none of these kernels. On an NVIDIA card `A @ B` ends, in most frameworks, in a call of cuBLAS:
# a good reason to write a layer as a product.[^Dey "Convolution and Matrix Multiplication"] What you take with you is
# the question behind the ladder: *how often is a number used where it lies, and is that often enough for this place?*

# %% [markdown]
# ## Try it
#
# - In the picture on top, find a choice with at least 32 operations for each byte, of which two blocks fit on a
#   multiprocessor of an H200.
#   <details><summary>Answer</summary>
#
#   128 × 128 results, 16 deep, 8 × 8 for each thread: the ladder's rungs 5 to 7. (This page's `square_of_eight` takes
#   too many registers for two.) With 16 × 16 results for each thread the sums alone would take 256 registers, and 255
#   is the most.
#
#   </details>
# - Count the bank conflicts of `square_of_eight` if a thread's columns lie side by side, `Bs[k, OWN * tx + j]`.
#   <details><summary>Answer</summary>
#
#   The 16 lanes with different `tx` then read words 0, 8, 16, ..., 120: they meet in four banks, 0, 8, 16 and 24, four
#   words in each. Four wavefronts where one was enough, and shared memory allows only 40 %.
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
# **2.** A thread computes 4 × 4 results. Which share of the peak do wavefronts allow, and which the issue slots?
#
# <details><summary>Answer</summary>
#
# 8 reads for 16 multiply-adds, half a wavefront each. In the clock of a wavefront four multiply-adds were possible, and
# two are done: 50 %, if no bank conflict makes it worse. 8 reads and 16 multiply-adds are 24 instructions: the slots
# allow two thirds.
#
# </details>

# %% [markdown]
# **3.** A colleague removes the second barrier from her tiled kernel. All tests pass, on matrices up to 16 × 16 with
# tiles of 16 × 16. What do you tell her?
#
# <details><summary>Answer</summary>
#
# With a single tile along $k$ nothing is ever overwritten, so these tests cannot fail. From 17 columns of $A$ on there
# are two, and a fast warp may overwrite the tile while a slow warp still reads it. With 17 columns or more the executor
# finds it at once.
#
# </details>
