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
# # 91 · Reading the report
#
# Here a kernel adds up the ink of sixty handwritten digits, one thread to a digit. Each thread reads the pixels of its
# digit one after the other, exactly as they lie in memory. That looks orderly, and the sums are right. Yet seven
# eighths of everything that the memory moves for it is thrown away. Step through what the threads touch.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, gpu, simt
from course_lib.lesson import columns, findings, predict, table
from course_lib.simt.show import wording


@gpu.jit
def ink(x, y):
    n = cuda.grid(1)
    if n < x.shape[0]:
        total = float32(0)
        for p in range(x.shape[1]):
            total += x[n, p]
        y[n] = total


digits, sums = data.load_digits(0).x_test[:60], np.zeros(60, np.float32)
report = gpu.simulate(ink, 2, 32, digits, sums, on_error="collect")
simt.memory_maps(report)

# %% [markdown]
# A stopwatch tells you *that* a kernel is slow. The **report** tells you where, why, and what to do about it. This page
# goes through one report from top to bottom, so that you can come back to any part of it later.
#
# ## You will be able to
#
# - say what each number in a report counts, and make it move;
# - turn a finding into a repair: which line, which thread, which array, what to change;
# - compare two versions of a kernel, and take the numbers into your own code.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It is a reference for lessons 11 to 13, and takes about 20 minutes to read through. You need to know what a kernel
# and a launch are ([lesson 11](11_gpu_programming_model.ipynb)); other words are explained in a sentence where they
# first come up, with the lesson that teaches them. The words are those of NVIDIA's
# profiler.[^NVIDIA "Nsight Compute, Metrics Guide"] You need no GPU: reports come from the course's executor, which
# reads the kernel's text and walks all of its threads. With a GPU, the page shows the same.
#
# </details>

# %% [markdown]
# ## The report in full
#
# `gpu.simulate` takes a kernel, the number of blocks, the number of threads in a block, and the kernel's arguments. It
# works on copies, so your arrays stay as they are. With `on_error="collect"` it goes on after a mistake and lists them
# all; without it, the first mistake stops the run. Put the report on the last line of a cell, and you get this:

# %%
report = gpu.simulate(ink, 2, 32, digits, sums, on_error="collect")
report

# %% [markdown]
# Now part by part.
#
# ## 1. The headline
#
# The first line says what was launched. `grid 2, block 32` means a **grid** of two **blocks**, with 32 **threads**
# each. 64 threads for sixty digits: four have nothing to do, and the `if` in the kernel, the **guard**, keeps them from
# reading behind the array ([lesson 11](11_gpu_programming_model.ipynb)). If a kernel uses shared memory, the headline
# gives its bytes for each block.
#
# Threads do not walk alone. The hardware takes 32 neighbours of a block at a time, a **warp**, and a thread's place in
# it is its **lane**. Nearly every number in the report is counted once for a warp, and not once for each thread.

# %% [markdown]
# ## 2. Findings
#
# There are two kinds. A **hazard** (✖) is a mistake: the result is wrong, or is right only by luck. A piece of
# **advice** (▶) is no mistake; the kernel is right, and costs more than it must. Our kernel has no hazard and one piece
# of advice. In Python they are the lists `report.hazards` and `report.advice`, and each entry has these fields:

# %% tags=["hide-input"]
advice = report.advice[0]
meaning = {
    "kind": "what sort of finding it is", "line": "where, counted from the top of the cell",
    "array": "which array, by its name in the kernel", "count": "how many times it happened",
    "message": "what happened", "fix": "what to do about it",
}  # fmt: skip
table([(f"advice.{name}", getattr(advice, name), text) for name, text in meaning.items()], ["field", "here", "meaning"],
      align="lll")

# %% [markdown]
# Hazards also name a culprit. Leave the guard out, and the four threads without a digit go on all the same:

# %%
@gpu.jit
def no_guard(x, y):
    n = cuda.grid(1)
    total = float32(0)
    for p in range(x.shape[1]):
        total += x[n, p]
    y[n] = total

unguarded = gpu.simulate(no_guard, 2, 32, digits, sums, on_error="collect")
findings(unguarded, most=1)

# %% [markdown]
# What the sentence says is in `details` too, as numbers. Threads and blocks are counted along x, y and z; a
# grid with one axis has zeros for the other two.

# %%
hazard = unguarded.hazards[0]
table([(name, hazard.details[name]) for name in ("thread", "block", "index", "axis", "size")], ["detail", "here"],
      align="lr")

# %% [markdown]
# A finding tells you about the *first* thread that came by, and `count` tells how often it happened in all. Begin with
# the first finding, repair it, and run again: the later ones are often only its consequences.
#
# ## 3. What each line cost
#
# The middle of the report is your kernel, with a column for each kind of work. Bold marks the largest number of a
# column. The percentage behind it is the line's share of the whole launch. Two columns are different: *used* and
# *active lanes* tell which part of the line's own effort was of use, so there a *small* number is bad. A column that a
# kernel has no work for is left out.
#
# The best way to understand a column is to move it, and nothing else. That is what the small launches of this section
# do.

# %% [markdown]
# ### sectors
#
# When a warp reads or writes an array, that is one **request**. Global memory answers in **sectors** of 32 bytes, which
# it moves whole or not at all ([lesson 12](12_memory.ipynb)). The column adds up the sectors of all requests. Eight
# warps copy 256 numbers in float32: each reads 32 × 4 bytes = 4 sectors, and writes as many, 64 in all.

# %%
@gpu.jit
def copy(x, step, y):
    i = cuda.grid(1)
    y[i] = x[step * i]

x, y = np.arange(512, dtype=np.float32), np.zeros(256, np.float32)
narrow = gpu.simulate(copy, 8, 32, x, 1, y)

# %% tags=["hide-input"]
asked = predict(
    "`x` becomes float64, and `y` stays float32. How many sectors are moved now?", [64, 96, 128], answer=96, reveals=2
)
asked

# %% tags=["hide-output", "continued"]
wide = gpu.simulate(copy, 8, 32, x.astype(np.float64), 1, y)
asked.confirm(wide.total.global_load_sectors + wide.total.global_store_sectors)
columns({"float32": narrow, "float64": wide})

# %% [markdown]
# <details class="reveal"><summary>Why 96</summary>
#
# The reads double from 32 to 64 sectors, the writes stay at 32. *Lowers it:* smaller types, fewer reads of the same
# number, and neighbouring threads on neighbouring elements.
#
# </details>

# %% [markdown]
# ### used
#
# Of the bytes in those sectors, the part that some thread asked for. The same kernel again, in float32. Now thread `i`
# reads `x[2 * i]`, so that every second number is skipped.

# %% tags=["hide-input"]
asked = predict(
    "96 sectors are moved again, 3,072 bytes. How many of these bytes did the threads ask for?",
    [1024, 1536, 2048, 3072], answer=2048, reveals=2,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
gaps = gpu.simulate(copy, 8, 32, x, 2, y)
asked.confirm(gaps.total.global_load_bytes + gaps.total.global_store_bytes)
columns({"float64": wide, "every second float32": gaps})

# %% [markdown]
# <details class="reveal"><summary>Where the other third went</summary>
#
# The threads want 1,024 bytes from `x` and write 1,024 to `y`. But the numbers in between lie in the same sectors, and
# come along for nothing. An access without such gaps is called **coalesced**.[^NVIDIA "CUDA C++ Best Practices Guide,
# Coalesced Access to Global Memory"] *Raises it:* let neighbouring threads touch neighbouring elements.
#
# </details>

# %% [markdown]
# ### bank conflicts
#
# Shared memory belongs to a block. It consists of 32 **banks**, and word `k` (four bytes) lies in bank `k % 32`. A bank
# hands out one word at a time. If two lanes want different words of one bank, one of them waits: a **bank conflict**
# ([lesson 12](12_memory.ipynb)). In the kernel below, `cuda.syncwarp()` waits until the whole warp has filled the
# array; then each thread reads the word `step * t`.

# %%
@gpu.jit
def through_shared(x, step, y):
    tile = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    for k in range(t, 1024, 32):
        tile[k] = x[k]
    cuda.syncwarp()
    y[t] = tile[step * t]

many = np.arange(1024, dtype=np.float32)
apart = {step: gpu.simulate(through_shared, 1, 32, many, step, y) for step in (1, 2, 32)}

# %% tags=["hide-input"]
asked = predict(
    "With step 1 there is no conflict, with step 2 there is one: lanes 0 and 16 want words of one bank, and so on. "
    "How many conflicts are there with step 32?", [2, 16, 31, 32], answer=31, reveals=2,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
asked.confirm(apart[32].total.shared_load_conflicts)
columns({f"step {step}": launch for step, launch in apart.items()})

# %% [markdown]
# <details class="reveal"><summary>Why 31</summary>
#
# All 32 words lie in bank 0, so it takes 32 turns. One turn is needed anyway, and only the other 31 are conflicts.
# *Lowers it:* a row that is one element longer than it needs to be, called padding.
#
# </details>

# %% [markdown]
# ### atomics, and atomic rounds
#
# `cuda.atomic.add` adds to an element without being disturbed by other threads ([lesson
# 13](13_reductions_and_fusion.ipynb)). *Atomics* counts such requests, one for each warp. *Atomic rounds* counts how
# often lanes of a warp had to wait, because they all meant the same element. Here `crowd` threads share one element.

# %%
@gpu.jit
def tally(crowd, y):
    i = cuda.grid(1)
    cuda.atomic.add(y, i // crowd, float32(1))

alone = gpu.simulate(tally, 8, 32, 1, y)
columns({f"crowd {crowd}": gpu.simulate(tally, 8, 32, crowd, y) for crowd in (1, 8, 32)})

# %% [markdown]
# The number of requests never changes: eight warps, eight atomics. In a crowd of 32, each of them takes 31 further
# rounds. *Lowers it:* add up inside the warp first, and let one lane add the result.
#
# ### local memory
#
# `cuda.local.array` gives each thread an array of its own. If it is large, or if its index is known only when the
# kernel runs, it does not fit into registers and lies in global memory, under the name **local memory**. The column
# counts requests to it. Below, each thread puts a number away and takes it out again: once from local memory, once
# from a place of its own in shared memory.

# %%
@gpu.jit
def in_local(x, y):
    i = cuda.grid(1)
    own = cuda.local.array(4, float32)
    own[i % 4] = x[i]
    y[i] = own[i % 4]

@gpu.jit
def in_shared(x, y):
    i = cuda.grid(1)
    own = cuda.shared.array(32, float32)
    own[i % 32] = x[i]
    y[i] = own[i % 32]

columns({kernel.__name__: gpu.simulate(kernel, 8, 32, x, y) for kernel in (in_local, in_shared)})

# %% [markdown]
# The executor counts every access to a local array. A compiler keeps a small one in registers where it can, and then it
# costs nothing: read this column as "at most". *Lowers it:* plain variables, and indices that are fixed numbers.
#
# ### divergent, and active lanes
#
# A warp carries out one instruction at a time. If an `if` holds for some of its lanes only, it walks through both
# sides, each time with the other lanes switched off. That is **divergence** ([lesson
# 11](11_gpu_programming_model.ipynb)), and *divergent* counts it. *Active lanes* is the share of lanes that were
# switched on.

# %%
@gpu.jit
def two_ways(size, x, y):
    i = cuda.grid(1)
    value = x[i]
    if i // size % 2 == 0:
        value *= float32(3)
    else:
        value += float32(1)
    y[i] = value

# %% tags=["hide-input"]
asked = predict(
    "Eight warps. With size 32 none of them is divided. How many are with size 1?", [1, 4, 8, 256], answer=8, reveals=2
)
asked

# %% tags=["hide-output", "continued"]
sides = {f"size {size}": gpu.simulate(two_ways, 8, 32, size, x, y) for size in (32, 1)}
asked.confirm(sides["size 1"].total.divergent_branches)
columns(sides)

# %% [markdown]
# <details class="reveal"><summary>Why three columns move</summary>
#
# This is the one column that cannot move by itself. A divided warp issues both sides, so there are more instructions,
# and on each side half of the lanes stand still. *Lowers it:* conditions that are the same for a whole warp.
#
# </details>

# %% [markdown]
# Lanes can also be missing without any `if`. A block of 24 threads is still a warp, with eight places empty. Here 192
# numbers are copied, by 6 blocks of 32 threads and by 8 blocks of 24. *Raises it:* block sizes that are multiples
# of 32.

# %%
columns({f"blocks of {size}": gpu.simulate(copy, 192 // size, size, x, 1, y) for size in (32, 24)})

# %% [markdown]
# ### instructions
#
# The operations that warps issue, as your source has them: one for each `+`, `*`, comparison, read or write. A compiler
# turns one of them into several machine instructions, or drops it, so compare two kernels by this number, and do not
# take it for the machine's own.

# %%
@gpu.jit
def again(turns, x, y):
    i = cuda.grid(1)
    value = x[i]
    for _ in range(turns):
        value = value * float32(0.5) + float32(1)
    y[i] = value

columns({f"turns {turns}": gpu.simulate(again, 8, 32, turns, x, y) for turns in (1, 3)})

# %% [markdown]
# *Lowers it:* work that several elements share, done once; and more elements for each thread.
#
# ## 4. In all
#
# Below the source stand the sums over all lines. For `ink` they are:

# %% tags=["hide-input"]
table([line.split(": ", 1) for line in wording.totals(report)], ["kind of work", "in all"])

# %% [markdown]
# Read the first line as a calculation. Two warps read once in each of 784 turns, which makes 1,568 requests. The 60
# lanes with a digit stand 784 numbers apart, so each of them needs a sector of its own: 60 × 784 = 47,040. A lane uses
# 4 of the 32 bytes, one eighth.
#
# The last number divides arithmetic by bytes moved. A large GPU can do ten to twenty float32 operations in the time
# that its memory moves one byte. A kernel with far fewer spends nearly all of its time waiting for memory ([lesson
# 12](12_memory.ipynb)).

# %% [markdown]
# ## 5. Arrays, and how often they are used
#
# The next table has a row for each array. *Loads* counts reads by threads; *distinct* counts the elements that were
# read at least once. *Reuse* divides the two. In `ink` it is 1: every pixel is read once, and nothing can be saved by
# keeping it. Here is a kernel for which that is different. It adds up three neighbours.

# %%
@gpu.jit
def three_in_a_row(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] + x[i + 1] + x[i + 2]

# %% tags=["hide-input"]
asked = predict(
    "256 threads read 3 numbers each, 768 in all. How many different numbers are these?", [256, 258, 512, 768],
    answer=258, reveals=2,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
use = gpu.simulate(three_in_a_row, 8, 32, x, y).arrays["x"]
asked.confirm(use.distinct_loaded)
table([(use.name, use.space, use.loads, use.distinct_loaded, use.reuse)],
      ["name", "space", "loads", "distinct", "reuse"])

# %% [markdown]
# <details class="reveal"><summary>What a large reuse is good for</summary>
#
# Each number is read three times, except for those at the two ends. In global memory a large reuse is an invitation:
# load the element once into shared memory, and let the block read it there. In shared memory a large reuse means that
# the invitation was accepted.
#
# </details>

# %% [markdown]
# ## 6. On a GPU, estimated
#
# Everything so far was counted. The last part is worked out from the counts, for a card whose name stands above it.

# %% tags=["hide-input"]
table([(text.splitlines()[0],) for text in wording.estimates(report)], ["what the report says"])

# %% [markdown]
# **Occupancy** is how many of the warps that a multiprocessor (SM) has room for can be there at a time. The sentence
# names what limits it: threads, blocks, or shared memory. Then it says whether the launch is large enough to fill the
# card at all. Ours is not, by far.
#
# Where a time is given, it is an estimate: it supposes that every part of the card works at full speed, and leaves out
# the start of the kernel. Use it to rank two versions of one kernel on a large problem. For a launch of a few blocks a
# time means nothing, because starting takes longer than the work. And there is no time at all if nothing was counted,
# or if no such block fits on the card.
#
# ## 7. The memory map
#
# `report.memory_map()` draws one access of one warp: which thread touches which element, and what has to be moved. By
# itself it picks the global read with the most waste. Say `line=`, `array=`, `way=` ("load", "store" or "atomic") or
# `warp=` to choose another. Here is the write of the sums, where neighbours touch neighbours.

# %%
report.memory_map(array="y", way="store")

# %% [markdown]
# Thirty-two numbers in four sectors: nothing is wasted. `simt.memory_maps(report)` lets you step through all accesses,
# as on top of this page.
#
# ## 8. Numbers for your own code
#
# Everything in the report can be asked for. `report.total` has the sums, `report.line(n)` a single line, and
# `report.to_dict()` all of it as plain numbers and texts, ready for a JSON file.

# %%
print(report.total.global_load_requests, "requests,", report.total.global_load_sectors, "sectors")
line = report.line(report.advice[0].line)
print(f"{line.text.strip()!r}: {line.counters.load_efficiency:.1%} of the bytes used")
print(list(report.to_dict()))

# %% [markdown]
# That is also the way to write a test for speed that needs no clock:
# `assert report.total.shared_load_conflicts == 0` holds on every machine, or fails on every machine.
#
# ## 9. The same kernel, repaired
#
# The advice says: let neighbouring threads touch neighbouring elements. So give a whole warp to each digit. Lane 0
# takes pixels 0, 32, 64 and so on, lane 1 takes pixels 1, 33, 65, and at the end each lane adds its part to the digit's
# sum.

# %%
@gpu.jit
def ink_by_warps(x, y):
    n, lane = cuda.blockIdx.x, cuda.threadIdx.x
    part = float32(0)
    for p in range(lane, x.shape[1], 32):
        part += x[n, p]
    cuda.atomic.add(y, n, part)

# %% tags=["hide-input"]
asked = predict(
    "The first version moved 47,040 sectors to read the pixels. How many does this one move?",
    [1470, 5880, 23520, 47040], answer=5880, reveals=3,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
repaired = gpu.simulate(ink_by_warps, 60, 32, digits, sums, on_error="collect")
asked.confirm(repaired.total.global_load_sectors)
simt.compare(report, repaired)

# %% tags=["hide-output", "continued"]
repaired.memory_map(array="x")

# %% [markdown]
# <details class="reveal"><summary>What was gained, and what it cost</summary>
#
# A digit has 784 × 4 bytes, which is 98 sectors, and sixty digits have 5,880: every byte is moved once, and every byte
# is used. A check mark stands at the better side of each row. There is a new row, too: 32 lanes add to one sum, and
# wait for each other in 31 rounds for each digit. That is 1,860 rounds against 41,160 sectors saved, a good bargain;
# lesson 13 shows how to save the rounds as well. And each of the 60 warps is divided once: 784 is 24 × 32 and 16 more,
# so in the last turn of the loop half of the lanes have no pixel left.
#
# </details>

# %% [markdown]
# ## Every counter
#
# These are the names behind `report.total.` and `report.line(n).counters.`, with their values for the first version.

# %% tags=["hide-input"]
every = {
    "instructions": ("operations issued, once for each warp", "work that elements share, done once"),
    "lanes": ("active lanes of these, added up", "less work"),
    "active_share": ("active lanes / all lanes of these warps; 1 is best", "raised by full warps, no divergence"),
    "branches": ("warps that came to an if or to a loop's test", "more work in each turn of a loop"),
    "divergent_branches": ("those that went both ways", "conditions that are the same for a warp"),
    "global_load_requests": ("warps that read global memory", "numbers kept in variables or shared memory"),
    "global_load_sectors": ("sectors of 32 bytes moved for them", "neighbouring threads on neighbouring elements"),
    "global_load_bytes": ("bytes that lanes asked for", "shared memory, smaller types, one kernel for two"),
    "load_efficiency": ("bytes asked for / bytes moved; 1 is best", "raised by coalesced reads"),
    "global_store_requests": ("warps that wrote global memory", "one write at the end, not one in each turn"),
    "global_store_sectors": ("sectors of 32 bytes moved for them", "neighbouring threads on neighbouring elements"),
    "global_store_bytes": ("bytes that lanes wrote", "smaller types, one kernel for two"),
    "store_efficiency": ("bytes written / bytes moved; 1 is best", "raised by coalesced writes"),
    "shared_load_requests": ("warps that read shared memory", "numbers kept in variables"),
    "shared_load_wavefronts": ("turns that the banks needed for them", "fewer reads, no conflicts"),
    "shared_load_conflicts": ("turns beyond what was needed", "padding, or other indices"),
    "shared_store_requests": ("warps that wrote shared memory", "numbers kept in variables"),
    "shared_store_wavefronts": ("turns that the banks needed for them", "fewer writes, no conflicts"),
    "shared_store_conflicts": ("turns beyond what was needed", "padding, or other indices"),
    "constant_load_requests": ("warps that read constant memory", "numbers kept in variables"),
    "constant_load_wavefronts": ("different addresses in these reads", "the same address for all lanes"),
    "local_load_requests": ("warps that read their threads' own arrays", "plain variables, fixed indices"),
    "local_store_requests": ("warps that wrote them", "plain variables, fixed indices"),
    "atomic_requests": ("warps that used cuda.atomic", "sums added up in the block first"),
    "atomic_serialised": ("further rounds, since lanes meant one element", "sums added up in the warp first"),
    "warp_operations": ("shuffles and votes", "seldom worth it: they are cheap"),
    "barriers": ("warps that came to a barrier", "shuffles inside a warp"),
    "flops": ("floating-point operations of active lanes", "another algorithm"),
    "float64_flops": ("those of them in float64", "float32(0.5) in place of 0.5"),
    "float16_flops": ("those of them in float16", "nothing: half the bytes is a gain"),
}
table(
    [(name, getattr(report.total, name), counts, lowers) for name, (counts, lowers) in every.items()],
    ["counter", "in ink", "what it counts", "what usually lowers it"],
)

# %% [markdown]
# The [next page](92_ten_mistakes.ipynb) shows ten findings that everybody meets sooner or later, each with the kernel
# that earns it.
#
# ## Check yourself
#
# **1.** A line has 100 % in *used*, and still the most sectors of all lines. Is there anything to gain?
#
# <details><summary>Answer</summary>
#
# Not by coalescing: every byte that is moved is wanted by a thread. Look at *reuse*. If it is well above 1, the same
# elements are fetched again and again, and shared memory or a variable can keep them.
#
# </details>
#
# **2.** A kernel has no hazard in its report, but one piece of advice. Is its result right?
#
# <details><summary>Answer</summary>
#
# Nothing spoke against it in this launch: nobody left an array, no two threads got in each other's way. Whether the
# formula is the one you meant, no report can say. Compare with NumPy.
#
# </details>
#
# **3.** One version has fewer instructions, the other fewer sectors. Which one is faster?
#
# <details><summary>Answer</summary>
#
# It depends on what the kernel waits for. With far fewer than ten operations for each byte moved, it waits for
# memory, and fewer sectors win. The estimate names the limit; a measurement decides.
#
# </details>
