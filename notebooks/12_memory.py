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
# # 12 · Memory: what a warp asks for, and what is sent
#
# In lesson 11 a card took as long for ReLU as for copying the numbers: the arithmetic was free. Most kernels of a
# neural network are like that, so what decides is how numbers travel. It is easy to believe that every read costs the
# same. Below, a warp reads 32 numbers. Move the stride, and watch how much memory sends for them. (The lower half of
# the picture is for the section on banks.)

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import figures, gpu, simt
from course_lib.lesson import counts, measured, memory_ladder, microbench, predict, table

simt.address_ruler(stride=1, offset=0)

# %% [markdown]
# ## You will be able to
#
# - say which access of a warp is cheap, from the addresses of its 32 lanes, and count sectors by hand;
# - let a block work together through shared memory, with a barrier in the right place and no bank conflicts;
# - tell what keeps a kernel from going faster: bytes, latency, or arithmetic;
# - choose a block size by what it does to the warps that a multiprocessor can hold.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It covers four points of Prof. Dey's course plan: computer organisation with respect to performance, multi-dimensional
# data and synchronisation, warp scheduling, and memory access coalescing. You need lesson 11. Measured times are from
# the card that is named beside them; counts come from the executor and are the same on every machine. Reading and
# trying takes about 75 minutes.
#
# </details>

# %% [markdown]
# ## Far away and near
#
# Two words first. **Latency** is how long one thing takes, from asking to having. **Throughput** is how many things
# arrive in a second. A lorry full of hard disks has a terrible latency and a splendid throughput. Memory is built in
# layers, because near memory is quick and small, and far memory slow and large. **DRAM** is the card's own far memory;
# a **cache** (L1 in each multiprocessor, L2 for all) keeps copies of what was used lately; a **clock** is the beat of
# the card, here half a nanosecond:

# %% tags=["hide-input"]
# Latency and rate of each memory.
ladder = memory_ladder("H200")
table(
    [(name, f"{1e9 * wait:,.0f}", f"{clocks:,.0f}", f"{rate / 1e12:,.1f}") for name, wait, clocks, rate in ladder]
    + [("the bus to the CPU's memory (PCIe 5)", "", "", f"{16 * 32e9 / 8 / 1e12:.2f}"),
       ("network to another machine", "", "", f"{400e9 / 8 / 1e12:.2f}")],
    ["memory", "latency, ns", "in clocks", "terabytes a second"],
    align="lrrr",
    caption="Measured on an NVIDIA H200, all multiprocessors reading; the last two rows as their makers give them",
)

# %% [markdown]
# The bus carries 32 billion bits a second on each of its 16 pairs of wires,[^PCI-SIG "PCI Express Base Specification
# 5.0"] a fast network 400 billion in all.[^NVIDIA "ConnectX-7 400G Adapters, data sheet"] A register, where a thread
# keeps its variables, is nearer than all of them: it can be read in the very clock in which it is needed.
#
# A thread that adds two numbers from far memory works for a few clocks and waits for several hundred. A CPU fights
# that with caches, and by guessing what will be needed. A GPU does something else: it has other warps ready, and while
# one waits, another one works. That hides *latency*. Nothing hides *throughput*: what has to travel, has to travel.
# The next sections are about making it less, and the last ones about waiting well.
#
# One law of computer organisation is worth having at hand before we start, because it says what is worth a student's
# evening. Try to find it by yourself.

# %% tags=["hide-input"]
amdahl = predict(
    "A training step spends 95 % of its time in matrix products. A GPU makes these take no time at all. How many times "
    "faster is the step?",
    [20, 95, 100, "there is no limit"],
    answer=20,
    reveals=2,
)
amdahl

# %% tags=["hide-output"]
share = 0.95
speedup = 1 / (1 - share)
print(f"at most {speedup:.0f} times")

# %% [markdown]
# <details class="reveal"><summary>Why the remaining 5 % matter from now on</summary>
#
# The remaining 5 % take as long as before, and they are a twentieth of the whole: twenty times, and not more, however
# good the card is. This is Amdahl's law: if a part $p$ of the work becomes free, the whole becomes $1/(1-p)$ times
# faster.[^Amdahl "Validity of the Single Processor Approach"] It is why ReLU, pooling, the loss and the copies deserve
# a lesson of their own, although the matrix products have nearly all of the arithmetic.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
amdahl.confirm(round(speedup))

# %% [markdown]
# ## What a warp asks for
#
# The 32 lanes of a warp carry out a load together, so memory sees one **request** with 32 addresses. It answers in
# pieces of 32 bytes, called **sectors**, that is 8 numbers in float32; half a sector cannot be had.[^NVIDIA "CUDA C++
# Best Practices Guide, Coalesced Access to Global Memory"] Count the sectors that the addresses touch, and you know
# what the load costs. If neighbouring lanes touch neighbouring numbers, 32 numbers lie in 4 sectors, and every byte
# that travels is used. The access is **coalesced**.

# %% [markdown]
# The same in a kernel that takes every number, every second one, every third, and so on:

# %%
@gpu.jit
def every(x, y, step):
    i = cuda.grid(1)
    y[i] = x[i * step]

x = np.arange(32 * 32, dtype=np.float32)
sectors = {}
for step in (1, 2, 3, 4, 8, 16):
    report = gpu.simulate(every, 1, 32, x, np.zeros(32, np.float32), step)
    sectors[step] = report.total.global_load_sectors
table(
    [(step, n, 32 * 4 / (n * 32)) for step, n in sectors.items()],
    ["step", "sectors", "bytes used"],
    formats={"bytes used": ".0%"},
)

# %% [markdown]
# From a step of 8 on, every lane has a sector of its own: 32 sectors, of which 4 bytes each are used. An eighth of what
# travels is wanted, seven eighths are thrown away. A shift costs less: if lane i reads `x[i + 1]`, the 32 numbers begin
# in the middle of a sector and touch 5 instead of 4.

# %% [markdown]
# ## Rows and columns
#
# The sums of all rows of a matrix. Give each thread a row, and let it walk along it: then every thread reads numbers
# that lie one behind the other, which is just what a CPU likes.

# %%
@gpu.jit
def sum_rows(x, s):
    r = cuda.grid(1)
    if r < x.shape[0]:
        total = float32(0)
        for c in range(x.shape[1]):
            total += x[r, c]
        s[r] = total

@gpu.jit
def sum_columns(x, s):
    c = cuda.grid(1)
    if c < x.shape[1]:
        total = float32(0)
        for r in range(x.shape[0]):
            total += x[r, c]
        s[c] = total

# %% [markdown]
# The second kernel adds up columns, so each thread jumps from row to row. On a square matrix, both do the same number
# of additions and read each number once. Which of the two makes memory work harder, and by how much?

# %% tags=["hide-input"]
walk = predict(
    "256 × 256 numbers in float32 lie in 8,192 sectors. How many sectors does `sum_rows` fetch, in all?",
    [1024, 8192, 16384, 65536],
    answer=65536,
    reveals=2,
)
walk

# %% tags=["hide-output"]
square = np.ones((256, 256), np.float32)
sums = np.zeros(256, np.float32)
by_rows = gpu.simulate(sum_rows, 8, 32, square, sums)
by_columns = gpu.simulate(sum_columns, 8, 32, square, sums)
counts(
    by_rows, by_columns, additions="flops",
    requests="global_load_requests", sectors="global_load_sectors",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>What the warp sees</summary>
#
# Do not follow one thread through time. Look at all 32 lanes *at one moment*. In `sum_rows` they stand in 32 different
# rows, 1,024 bytes apart: 32 sectors for 32 numbers. In `sum_columns` they stand side by side in one row: 4 sectors. In
# the next turn, the rows' threads want the number next to the last one, which was in a sector that they just threw
# away. (A cache may have kept it. With enough threads in flight it has not.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
walk.confirm(by_rows.total.global_load_sectors)

# %%
simt.walks()

# %% [markdown]
# From this comes the rule for two axes that lesson 11 asked you to remember. x runs along the last axis, since threads
# that are neighbours in x are neighbours in a warp. Exchange the two in a kernel, and every result stays right:

# %%
@gpu.jit
def negative_swapped(image, out):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]

@gpu.jit
def negative(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]

image = np.ones((64, 64), np.float32)
out = np.zeros_like(image)
straight = gpu.simulate(negative, (2, 2), (32, 32), image, out)
swapped = gpu.simulate(negative_swapped, (2, 2), (32, 32), image, out)
counts(straight, swapped, sectors_loaded="global_load_sectors")

# %% [markdown]
# Right numbers, eight times the traffic, and nothing to see without the report. On a real card it looks like this:

# %% tags=["hide-input"]
# The same kernels on a card.
order, many, few = (measured(case, card="h200") for case in ("index order", "many short sums", "few long sums"))
shapes = {"sum_rows": "2²⁰ × 64", "sum_columns": "64 × 2²⁰"}
rows = [(order.size, "2²⁶", name, s, s / order.seconds["negative"]) for name, s in order.seconds.items()]
rows += [(shapes[name], "2²⁰", name, s, s / many.seconds["sum_columns"]) for name, s in many.seconds.items()]
rows += [(few.size, "8,192", name, s, s / few.seconds["sum_columns"]) for name, s in few.seconds.items()]
table(
    [(shape, threads, name, f"{1e6 * s:,.0f}", f"{times:.1f}") for shape, threads, name, s, times in rows],
    ["matrix", "threads", "kernel", "microseconds", "times the coalesced one"],
    align="lrlrr",
    caption=f"Measured on an {order.card} ({order.date})",
)

# %% [markdown]
# The swapped indices cost three and a half times the time, and a thread for each of a million short rows four times:
# the caches save some of the factor of eight, not all of it. It is the most expensive mistake on this page, and the
# easiest to make. (Even `negative` takes twice as long as the plain copy of lesson 11, 129 microseconds. Its threads
# move one number each and are done; the section on waiting comes back to that.)
#
# The last pair is upside down. There, only 8,192 threads are at work, each on a long row. They are so few that all of
# their sectors fit into the caches together. In `sum_rows`, seven of eight turns then find their number in a cache,
# while `sum_columns` waits for far memory at every turn. Count sectors to know what you ask of memory. Measure to know
# what you get.

# %% [markdown]
# ## A place to meet: shared memory
#
# Sometimes no order is good. Transpose a matrix: what is read along rows has to be written along columns. The way out
# is a small memory inside the multiprocessor that a block has to itself, **shared memory**. All threads of the block
# see the same array there, it is more than twenty times nearer than the card's memory, and sectors do not matter there.
#
# A first example, without a matrix: reverse each run of 64 numbers. Thread $t$ puts a number in, and takes
# another one out, which a *different* thread has put there.

# %%
@gpu.jit
def backwards(x, y):
    tile = cuda.shared.array(64, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 64
    tile[t] = x[first + t]
    y[first + t] = tile[63 - t]

# %% [markdown]
# Ask of each number in `tile`: who writes it, who reads it, and what makes sure that the one comes before the other?

# %% tags=["hide-input"]
who = predict(
    "Thread 0 reads tile[63]. Which thread has to have written it by then, and is it sure to have done so?",
    [
        "thread 63, and yes: all threads run line by line together",
        "thread 63, and no: it is in another warp",
        "thread 0 itself",
    ],
    answer="thread 63, and no: it is in another warp",
    reveals=2,
)
who

# %% tags=["hide-output"]
numbers = np.arange(256, dtype=np.float32)
y = np.zeros_like(numbers)
report = gpu.simulate(backwards, 4, 64, numbers, y, on_error="collect")
race = report.hazards[0]
print(race)

# %% [markdown]
# <details class="reveal"><summary>A race, although the numbers may come out right</summary>
#
# Threads 0 to 31 are warp 0, threads 32 to 63 are warp 1. Warp 0 may be through before warp 1 has begun, and then reads
# what nobody has written yet. Which of them is first depends on the card, on the load, on luck. That is a **race**, and
# the executor reports it whether or not the numbers are right this time.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
other, own = (race.details[who_did][0] for who_did in ("other_thread", "thread"))
who.confirm(f"thread {other}, and " + ("yes" if other // 32 == own // 32 else "no: it is in another warp"))

# %% [markdown]
# `cuda.syncthreads()` is a **barrier**: no thread of the block goes on before all have arrived. Between writing
# and reading, it is just what is missing. It must stand where *every* thread of the block comes by, never inside an
# `if` that only some of them enter.

# %%
@gpu.jit
def backwards_with_barrier(x, y):
    tile = cuda.shared.array(64, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 64
    tile[t] = x[first + t]
    cuda.syncthreads()
    y[first + t] = tile[63 - t]

y = np.zeros_like(numbers)
report = gpu.simulate(backwards_with_barrier, 4, 64, numbers, y)
print("findings:", len(report.hazards))
gpu.trace(backwards_with_barrier[4, 64], numbers, y, block=1, warp=0)

# %% [markdown]
# The size of a shared array stands in the kernel's text, as a number or a constant: it belongs to the block's
# equipment, and must be known before the launch. A multiprocessor of an H100 has 227 KB of it for all of its blocks
# together; one array may take 48 KB.
#
# ## Turning a matrix
#
# With that, the transpose. Every rung of this ladder is a file of its own in `course_lib/cuda/ladders/transpose`; here
# are its first three. Rung 1 reads along rows and writes along columns:

# %%
@gpu.jit
def turn_naive(x, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[col, row] = x[row, col]

# %% [markdown]
# Rung 2 brings a tile of 32 × 32 into shared memory, waits, and writes the tile's *columns* as rows. Follow one thread,
# with $t_x = 2$ and $t_y = 5$, in block (1, 0), whose corner is `top = 0`, `left = 32`. It reads `x[5, 34]` and puts it
# into `tile[5, 2]`. After the barrier it writes `y[37, 2]`, and takes for it `tile[2, 5]`: the number `x[2, 37]`, which
# the thread with $t_x = 5$, $t_y = 2$ has brought. Its neighbour with $t_x = 3$ reads `x[5, 35]` and writes `y[37, 3]`.
# So neighbours read neighbours *and* write neighbours.

# %%
@gpu.jit
def turn_tile(x, y):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if top + ty < x.shape[0] and left + tx < x.shape[1]:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < x.shape[1] and top + tx < x.shape[0]:
        y[left + ty, top + tx] = tile[tx, ty]

matrix = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
turned = np.zeros_like(matrix)
naive = gpu.simulate(turn_naive, (4, 4), (32, 32), matrix, turned)
tiled = gpu.simulate(turn_tile, (4, 4), (32, 32), matrix, turned)
counts(naive, tiled, sectors_loaded="global_load_sectors", sectors_stored="global_store_sectors")

# %% [markdown]
# An eighth of the sectors on the way out: the tile does what it was made for. It takes two guards, since a thread at
# the edge may have a number to bring and none to write, or the other way round; and the barrier stands outside both,
# where every thread comes by. But the report has a piece of advice left, on bank conflicts.
#
# ## Banks
#
# Shared memory is fast because it is 32 memories side by side, its **banks**. A word is four bytes, one float32; word
# number $w$ lies in bank $w \bmod
# 32$, and each bank hands out one word at a time. If the 32 lanes want words from 32 different banks, or the same word,
# they all get it at once. If two want *different* words from the *same* bank, one has to wait for the other: a **bank
# conflict**. The number of turns that one request takes is its **wavefronts**.

# %% tags=["hide-input"]
conflicts = predict(
    "The last line of turn_tile reads tile[tx, ty]: the 32 lanes of a warp have the same ty, and tx = 0, 1, ..., 31. "
    "The tile is 32 words wide. How many wavefronts does one request take?",
    [1, 2, 16, 32],
    answer=32,
    reveals=2,
)
conflicts

# %% tags=["hide-output"]
t = tiled.total
requests, wavefronts = t.shared_load_requests, t.shared_load_wavefronts
print(f"{requests} requests, {wavefronts:,} wavefronts,", end=" ")
print(f"{t.shared_load_conflicts:,} too many")

# %% [markdown]
# <details class="reveal"><summary>All of them wait for one bank</summary>
#
# Word `tile[tx, ty]` has number $32\,t_x + t_y$, and $(32\,t_x + t_y) \bmod 32 = t_y$, the same for every lane. One
# bank works 32 times while 31 look on: 31 wavefronts too many for each request. The picture shows it; move the padding.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
conflicts.confirm(t.shared_load_wavefronts // t.shared_load_requests)

# %%
tiled.access_map(line=tiled.lines[-1].number, array="tile")

# %% [markdown]
# One more column, which is never used, cures it. In a tile of 32 × **33** words, `tile[tx, ty]` has number
# $33\,t_x + t_y$ and lies in bank $(t_x + t_y) \bmod 32$: a different one for every lane.

# %%
@gpu.jit
def turn_padded(x, y):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if top + ty < x.shape[0] and left + tx < x.shape[1]:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < x.shape[1] and top + tx < x.shape[0]:
        y[left + ty, top + tx] = tile[tx, ty]

padded = gpu.simulate(turn_padded, (4, 4), (32, 32), matrix, turned)
print("conflicts:", padded.total.shared_load_conflicts)
print("findings and advice:", len(padded.hazards + padded.advice))

# %% [markdown]
# So much for counting. Does the card agree? The ladder was measured on 8,192 × 8,192 numbers; a copy of the same
# numbers is the limit that no transpose can beat. A fourth rung lets each thread move several numbers, four at a time.

# %% tags=["hide-input"]
ladder = measured("transpose", card="h200")
names = {"v01_naive": "naive", "v02_tile": "tile", "v03_padded": "padded tile", "v04_coarsened": "several a thread"}
copy = ladder.seconds["copy"]
table(
    [(names.get(rung, rung), 1e6 * s, copy / s) for rung, s in ladder.seconds.items()],
    ["kernel", "microseconds", "share of the copy's speed"],
    formats={"microseconds": ",.0f", "share of the copy's speed": ".0%"},
    caption=f"Transpose of {ladder.size} float32 numbers, measured on an {ladder.card} ({ladder.date})",
)

# %% [markdown]
# Each defect that the report named was a real one, and removing it paid. Note that the padding is worth a third
# although not one byte less travels from the card's memory: a wait is a wait, wherever it happens. And note the last
# step. The padded tile has no advice left, and still two thirds of the speed are missing. The report sees traffic. What
# it does not see is waiting, and that is the next subject; how the fourth rung waits less stands in `v04_coarsened.py`,
# beside the others.
#
# ## Two more kinds of memory
#
# **Constant memory** holds up to 64 KB that no kernel changes. It is made for numbers that all lanes want *at the same
# time*, such as a convolution's mask: then one look-up serves the warp. If lanes want different places, they queue up.
#
# **Local memory** is a thread's own, such as `cuda.local.array(4, float32)`. The name misleads. If every index is known
# when the kernel is compiled, the compiler keeps such an array in registers, of which a multiprocessor has 65,536. If
# not, it lies in far memory, although it is called local.

# %%
MASK = np.array([0.25, 0.5, 0.25], np.float32)

@gpu.jit
def smooth(x, y):
    i = cuda.grid(1)
    mask = cuda.const.array_like(MASK)
    if 1 <= i < x.size - 1:
        y[i] = mask[0] * x[i - 1] + mask[1] * x[i] + mask[2] * x[i + 1]

report = gpu.simulate(smooth, 8, 32, numbers, np.zeros_like(numbers))
asked = report.total.constant_load_requests
print("requests to constant memory:", asked, "= 8 warps x 3 weights")

# %% [markdown]
# ## Waiting well
#
# A multiprocessor of an H100 has four **schedulers**, and room for 64 warps, so 16 for each. In every clock a scheduler
# looks for a warp that is ready, and lets it do one instruction. A warp that waits for memory costs nothing as long as
# another one is ready. Here is the same kernel with 1, 2, 8 and 16 warps on one scheduler: three instructions and a
# load, which takes as long as far memory does.

# %% tags=["hide-input"]
simt.schedule(warps=(1, 2, 8, 16), compute=4, device="H100")

# %% [markdown]
# Even a full scheduler is idle most of the time here: with so little to do between two loads, more warps would be
# needed than there is room for. How much must be under way follows from Little's law, which holds for every queue, at a
# till as in a memory: what is under way at any moment equals throughput times latency.[^Little "A Proof for the Queuing
# Formula L = λW"] In the table above, an H200 reads 4.2 terabytes a second from its DRAM, and each byte is 339
# nanoseconds on its way. So about 1.4 million bytes must have been asked for and not yet come: 85 requests of 128 bytes
# for every one of its 132 multiprocessors.

# %% tags=["hide-input"]
enough = predict(
    "A copy kernel with one load under way in each warp. One warp on every multiprocessor copies 91 GB a second. "
    "What do you expect of 32 warps?",
    ["the same: memory is the limit", "about 8 times as much", "about 23 times as much", "32 times as much, exactly"],
    answer="about 23 times as much",
    reveals=2,
)
enough

# %% tags=["hide-output", "hide-input"]
streams = microbench("streams", card="h200")
warps = [1, 2, 4, 8, 16, 32, 64]
copies = [streams[f"copy by {n} warps of each SM, one load in flight"] for n in warps]
speeds = [copy.rate / 1e9 for copy in copies]
enough.confirm(f"about {speeds[5] / speeds[0]:.0f} times as much")
figures.show(
    figures.plots.curves({"copied": speeds}, x=warps, xlabel="warps on each multiprocessor", ylabel="GB a second"),
    alt=f"The speed of a copy against the warps on each multiprocessor: from {speeds[0]:.0f} GB a second with one "
    f"warp it nearly doubles with each doubling up to 16 warps; it has {speeds[5]:,.0f} with 32, and "
    f"{speeds[-1]:,.0f} with 64.",
    caption=f"Measured on an {copies[0].card}.",
)

# %% [markdown]
# <details class="reveal"><summary>Reading the curve</summary>
#
# Thirty-two warps copy twenty-three times as much as one. Up to 16, the speed nearly doubles whenever the warps do:
# nobody is in anybody's way, all the time is waiting. Then the curve bends, for now memory has enough to do. More warps
# is one way to have enough under way. Another is more loads by each thread before it needs the first result, which is
# what the fourth rung of the transpose does.
#
# </details>

# %% [markdown]
# So a multiprocessor should hold many warps. How many it does hold, as a share of its 64, is called **occupancy**. Four
# things use up its room: threads, registers, shared memory, and blocks, of which it holds 32 at the most. Whatever runs
# out first is the limit.

# %%
simt.occupancy_calculator(device="H100", threads=256, registers=32, shared_bytes=0)

# %% [markdown]
# Two warnings. High occupancy is a means: a kernel that keeps much under way in few warps can be faster at 25 % than
# another one at 100 %, and lesson 14's best kernels are of that kind. And the number of registers is decided by the
# compiler, so the executor cannot know it.
#
# ## Which roof is it?
#
# Now all of it in one picture. A kernel moves bytes and does operations. Divide the second by the first, and you have
# its **arithmetic intensity**, in operations per byte. The card can do so many operations a second, and bring so many
# bytes. So the best speed that a kernel can have is a roof with a slope and a flat part, the **roofline**: left of the
# corner memory decides, right of it arithmetic.[^Williams "Roofline: An Insightful Visual Performance Model"]

# %%
by_columns.roofline(device="H200")

# %% [markdown]
# `report.roofline()` puts *your* launch there, here the sums of columns: one addition for four bytes. ReLU, sums,
# transposes all stand far to the left; better arithmetic would not help them, fewer bytes would. To move a kernel to
# the right, it must do more with each number that it has fetched. That is the subject of lessons 13 and 14.
#
# ## Try it
#
# - Use blocks of 8 × 128 threads in `negative` instead of 32 × 32. Which of the two counts x? Predict the sectors of
# one request first.
#   <details><summary>Answer</summary>
#
#   x has 8 threads, so a warp covers four rows with eight columns each: four sectors again, every byte used. With
#   4 × 256, a warp covers eight rows with four columns, half of each sector is wasted, and 8 sectors are fetched.
#
#   </details>
# - A tile has rows of $W$ words. For which $W$ does reading `tile[tx, 2 * ty]` cause conflicts?
#   <details><summary>Answer</summary>
#
#   The second index is the same for all lanes, so it only shifts the banks. What matters is the step from lane to lane,
#   $W$, and what it has in common with 32: odd $W$ cause none, even ones do.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's course plan lists these subjects by name only; Prof. Hwu's lecture assumes that his students know
# coalescing and shared memory. Older texts count *transactions* of 128 bytes, a whole cache line. Since compute
# capability 6.0 it is the sectors of 32 bytes that travel, and this page counts those.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** Thread $i$ copies four numbers, `y[4 * i + k] = x[4 * i + k]` for k = 0 to 3. Each thread reads neighbours. Is
# that coalesced?
#
# <details><summary>Answer</summary>
#
# No. Look at one moment, say k = 0: the lanes read numbers 0, 4, 8, ..., 124, a step of 4, so 16 sectors, of which a
# quarter is used. All four turns together fetch each sector four times. `y[i + k * n]`, with n threads in all, does the
# same work with 4 sectors a request.
#
# </details>

# %% [markdown]
# **2.** A shared tile of 16 × 16 numbers is read by columns, by a warp that covers two columns: lanes 0 to 15 read
# column 0, lanes 16 to 31 column 1. How many wavefronts?
#
# <details><summary>Answer</summary>
#
# Word number $16\,r + c$, bank $(16\,r + c) \bmod 32$. For column 0 the banks are 0 and 16 by turns, eight words in
# each; for column 1 they are 1 and 17. Eight different words in the fullest bank: 8 wavefronts, 7 too many.
#
# </details>

# %% [markdown]
# **3.** A kernel does 2 operations for every 8 bytes. The card does 67 TFLOP/s and brings 4.8 TB/s. How much faster
# does the kernel become on a card with twice the arithmetic, and how much on one with twice the bandwidth?
#
# <details><summary>Answer</summary>
#
# Its intensity is 0.25; the corner of the roof lies at 67 / 4.8 ≈ 14. It is far on the slope. Twice the arithmetic
# changes nothing, twice the bandwidth makes it twice as fast.
#
# </details>
