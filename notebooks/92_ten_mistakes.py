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
# # 92 · Ten mistakes and what they look like
#
# Three launches were asked for the negative of the same picture. One of them did it. The other two finished without a
# word of complaint, and a program that only waits for an error message would have gone on with what they left behind.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, figures, gpu, simt
from course_lib.lesson import findings, predict


@gpu.jit
def negative(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]


@gpu.jit
def turned(image, out):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]


digit, second = data.load_digits(0).images("test")[:2]
pair = np.hstack([digit, second])
complete, cut, torn = (simt.empty(pair.shape) for _ in range(3))
simt.run(negative, (4, 2), (16, 16), (pair, complete))
simt.run(negative, (3, 1), (16, 16), (pair, cut), on_error="collect")
simt.run(turned, (4, 2), (16, 16), (pair, torn), on_error="collect")
images = {"as asked for": complete.numbers, "a grid too small": cut.numbers, "axes swapped": torn.numbers}
figures.picture(
    figures.outcomes.outcomes(images, wrong=list(images)[1:]),
    alt="The negative of two digits, three times: complete; with a part missing at the bottom and on the right; "
    "and cut off on the right",
    caption="Hatched: nobody wrote there. None of the three launches raised an error.",
)

# %% [markdown]
# Sooner or later, everybody who writes kernels makes the mistakes on this page. The first time, each of them can cost
# an afternoon. The second time it takes a minute, because you know what it looks like.
#
# ## You will be able to
#
# - go from a symptom to the mistakes that can be behind it;
# - read the finding that the executor gives for each of them, and repair the kernel;
# - say which mistakes no test on small numbers will ever show.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It is a reference for lessons 11 to 13, and takes about 20 minutes to read through. The parts do not depend on each
# other. Reports are explained on [page 91](91_reading_the_report.ipynb). Wrong kernels are never sent to a GPU here:
# they run in the course's executor, also on a machine that has one. The kinds of findings are those of NVIDIA's own
# checker, and some more.[^NVIDIA "Compute Sanitizer, Memcheck, Racecheck, Initcheck and Synccheck"]
#
# </details>

# %% [markdown]
# ## From the symptom to the mistake
#
# | what you see | look at |
# |---|---|
# | right numbers, and later something unrelated breaks | 1 no guard |
# | an edge or a corner is missing | 2 grid too small, 3 axes swapped |
# | right on a square, wrong on a rectangle | 3 axes swapped |
# | right, but slow | 3 axes swapped, 4 float64, 10 bank conflicts |
# | other numbers in every run | 5 lost additions, 6 no barrier, 8 scan in place |
# | right with up to 32 threads, wrong with more | 6 no barrier, 8 scan in place |
# | the kernel never ends | 7 barrier inside an `if` |
# | NaN, or numbers that you have seen before | 9 nobody filled the output |
#
# A **launch** runs a kernel with a **grid** of **blocks** of **threads**; the hardware takes the threads of a block in
# **warps** of 32, and a thread's place in its warp is its **lane** ([lesson 11](11_gpu_programming_model.ipynb)).
#
# `simt.run` does what `gpu.simulate` does, but on the arrays themselves, so that we can look at what is in them
# afterwards. `simt.empty` makes an array that nobody has filled, as `gpu.empty` does.

# %% [markdown]
# ## 1. No guard
#
# The digit as 784 numbers in a row. Blocks of 256 threads: four of them are needed, 1,024 threads for 784 numbers.

# %%
@gpu.jit
def no_guard(x, y):
    i = cuda.grid(1)
    y[i] = float32(1) - x[i]

# %% tags=["continued"]
flat, out = digit.ravel(), simt.empty(784)
report = simt.run(no_guard, 4, 256, (flat, out), on_error="collect")

# %% tags=["hide-input"]
asked = predict(
    "Which of the 784 numbers of the result are wrong?",
    ["none of them", "the last 16", "all from the fourth block", "the last 240"], answer="none of them", reveals=3,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
asked.confirm("none of them" if np.array_equal(out.numbers, 1 - flat) else "some")
print("equal to NumPy's:", np.array_equal(out.numbers, 1 - flat))

# %% tags=["hide-output", "continued"]
findings(report)

# %% [markdown]
# <details class="reveal"><summary>Then where is the harm</summary>
#
# In the 240 numbers behind the array. On a GPU those threads write there, too, into whatever lies next in memory,
# perhaps another array of yours. The result that you look at is right, and something else is broken.
#
# </details>
#
# The repair is a **guard**: a question that keeps threads without an element out.

# %%
@gpu.jit
def guarded(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = float32(1) - x[i]

# %% tags=["continued"]
repaired = simt.run(guarded, 4, 256, (flat, simt.empty(784)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** the kernel has no `if` with a size in it, and the number of elements is no multiple of the
# block size.
#
# ## 2. A grid that is too small
#
# The kernel is right this time. The launch is not: `28 // 16` rounds down.

# %%
out = simt.empty(digit.shape)
report = simt.run(negative, (28 // 16, 28 // 16), (16, 16), (digit, out), on_error="collect")
findings(report)

# %% tags=["hide-input"]
figures.picture(
    figures.outcomes.outcomes({"asked for": 1 - digit, "what came out": out.numbers}, wrong=["what came out"]),
    alt="The negative of a digit, and below it only its upper left part of 16 by 16 pixels; the rest is empty",
    caption="One block of 16 x 16 threads reaches 256 of the 784 pixels.",
)

# %% [markdown]
# It is only advice, because a second launch might write the rest. The repair is a division that rounds up. In Python
# that is `-(-n // block)`.

# %%
blocks = -(-28 // 16)
repaired = simt.run(negative, (blocks, blocks), (16, 16), (digit, simt.empty(digit.shape)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** the end of the array, or the right and lower edge of the image, is not written; and there is
# a `//` in the launch.
#
# ## 3. Axes swapped
#
# Rows come first in an array, so it is tempting to write `row, col = cuda.grid(2)`. But `cuda.grid(2)` gives x first,
# and x should run along the *last* axis, the columns ([lesson 11](11_gpu_programming_model.ipynb)).

# %%
@gpu.jit
def swapped(image, out):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]

# %% tags=["continued"]
square, wide = simt.empty(digit.shape), simt.empty(pair.shape)
reports = {
    "28 x 28": simt.run(swapped, (2, 2), (16, 16), (digit, square), on_error="collect"),
    "28 x 56": simt.run(swapped, (4, 2), (16, 16), (pair, wide), on_error="collect"),
}

# %% tags=["hide-input"]
asked = predict(
    "Is the negative of the square image right? And that of the wide one, launched with 4 × 2 blocks?",
    ["both are right", "only the square one", "only the wide one", "neither"], answer="only the square one", reveals=4,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
right = [np.array_equal(out.numbers, 1 - image) for out, image in ((square, digit), (wide, pair))]
asked.confirm({(True, False): "only the square one"}.get(tuple(right), "another"))
figures.picture(
    figures.outcomes.outcomes({"asked for": 1 - pair, "what came out": wide.numbers}, wrong=["what came out"]),
    alt="The negative of two digits, and below it the same with its right part, from column 32 on, left empty",
    caption="The threads of the two blocks along y reach 32 columns. The image has 56.",
)

# %% tags=["hide-output", "continued"]
findings(reports["28 x 28"], most=1)

# %% tags=["hide-output", "continued"]
findings(reports["28 x 56"], most=1)

# %% [markdown]
# <details class="reveal"><summary>Right on a square, and still not good</summary>
#
# On the square image every pixel is written, so no test on square images finds this mistake. But now neighbouring
# threads touch numbers that lie a whole row apart. Memory moves in **sectors** of 32 bytes
# ([lesson 12](12_memory.ipynb)), and three quarters of what is moved is not used.
#
# </details>
#
# The repair is the order of two names, `col, row = cuda.grid(2)`. That is the kernel `negative` from the top:

# %%
repaired = simt.run(negative, (4, 2), (16, 16), (pair, simt.empty(pair.shape)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** right on squares and wrong on rectangles; or right everywhere and many times slower than it
# should be. Test with a rectangle.
#
# ## 4. A float64 in disguise
#
# There is nothing to see here. The image is float32, and the result is float32.

# %%
@gpu.jit
def doubled(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = 1.0 - image[row, col]

# %% tags=["continued"]
out = simt.empty(digit.shape)
report = simt.run(doubled, (2, 2), (16, 16), (digit, out), on_error="collect")
print(np.array_equal(out.numbers, 1 - digit))
findings(report)

# %% [markdown]
# Python's `1.0` is a float64, so each subtraction is done in float64 and rounded afterwards. On many cards that is 32
# or 64 times slower.[^NVIDIA "CUDA C++ Programming Guide, Arithmetic Instructions"] The repair is `float32(1)`, as in
# `negative`.

# %%
repaired = simt.run(negative, (2, 2), (16, 16), (digit, simt.empty(digit.shape)))
print("float64 operations:", report.total.float64_flops, "before,", repaired.total.float64_flops, "after")
findings(repaired)

# %% [markdown]
# **How to recognise it:** right and slow, with a number such as `1.0` or `0.5` in the kernel, or a `/` between whole
# numbers. The report says how many operations were in float64.
#
# ## 5. Additions that get lost
#
# How many pixels of the digit have ink? Every thread looks at one pixel, and counts.

# %%
@gpu.jit
def count(x, total):
    i = cuda.grid(1)
    if i < x.size and x[i] > float32(0):
        total[0] += 1

# %% tags=["continued"]
total = np.zeros(1, np.int32)
report = simt.run(count, 4, 256, (flat, total), on_error="collect")

# %% tags=["hide-input"]
inked = int((flat > 0).sum())
asked = predict(
    f"{inked} pixels have ink. What is the largest number that `total[0]` can end with, and what is the smallest?",
    [f"{inked} and {inked}", f"{inked} and 1", f"{inked} and 0"], answer=f"{inked} and 1", reveals=2,
)  # fmt: skip
asked

# %% tags=["hide-output", "continued"]
asked.confirm(f"{inked} and {total[0]}")
print("this time:", total[0])
findings(report)

# %% [markdown]
# <details class="reveal"><summary>Three steps in one line</summary>
#
# `total[0] += 1` reads, adds, and writes. If all threads read before anyone has written, all of them read 0, and all of
# them write 1. If they come one after the other, nothing is lost. On a GPU it is something in between, and something
# else in each run. Two threads that touch one element, one of them writing, with nothing that orders them: that is a
# **race** ([lesson 13](13_reductions_and_fusion.ipynb)).
#
# </details>
#
# `cuda.atomic.add` does the three steps without being disturbed.

# %%
@gpu.jit
def count_all(x, total):
    i = cuda.grid(1)
    if i < x.size and x[i] > float32(0):
        cuda.atomic.add(total, 0, 1)

# %% tags=["continued"]
total = np.zeros(1, np.int32)
repaired = simt.run(count_all, 4, 256, (flat, total))
print(total[0], "pixels")
findings(repaired)

# %% [markdown]
# **How to recognise it:** a sum that is far too small and differs from run to run; and `+=` on an element that does not
# depend on the thread.
#
# ## 6. A barrier is missing
#
# The two digits in a mirror. A block takes one row of 56 pixels, puts it into shared memory, which all of its threads
# can see ([lesson 12](12_memory.ipynb)), and reads it backwards.

# %%
@gpu.jit
def mirror(image, out):
    line = cuda.shared.array(56, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    line[t] = image[row, t]
    out[row, t] = line[55 - t]

# %% tags=["continued"]
out = simt.empty(pair.shape)
report = simt.run(mirror, 28, 56, (pair, out), on_error="collect")
print(np.array_equal(out.numbers, pair[:, ::-1]))
findings(report)

# %% [markdown]
# The executor got the right picture, and warns all the same. It happened to let all threads write before it let the
# first one read, and nothing in the kernel demands that. Suppose the first warp (32 threads) runs to its end before the
# second one (24 threads) has begun. NumPy can play that out:

# %% tags=["hide-input"]
line, first_warp = np.full(pair.shape, np.nan, np.float32), np.arange(32)
line[:, first_warp] = pair[:, first_warp]
unlucky = pair[:, ::-1].copy()
unlucky[:, first_warp] = line[:, 55 - first_warp]
figures.picture(
    figures.outcomes.outcomes({"all write first": pair[:, ::-1], "warp 0 is early": unlucky}, ["warp 0 is early"]),
    alt="Two digits in a mirror; below them the same picture with its left 24 columns empty, where warp 0 read what "
    "warp 1 had not yet written",
    caption="Both orders are allowed. Hatched: what warp 1 had not yet written; on a GPU, anything.",
)

# %% [markdown]
# A **barrier** is a line that no thread of a block leaves before all have come to it. It makes the lucky order the only
# one.

# %%
@gpu.jit
def mirror_waiting(image, out):
    line = cuda.shared.array(56, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    line[t] = image[row, t]
    cuda.syncthreads()
    out[row, t] = line[55 - t]

# %% tags=["continued"]
repaired = simt.run(mirror_waiting, 28, 56, (pair, simt.empty(pair.shape)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** right with one warp, wrong now and then with more; and between a write to shared memory and
# a read of *another* thread's element there is no `cuda.syncthreads()`.
#
# ## 7. A barrier inside an `if`
#
# Blocks of 64 threads would be tidier than 56. So there is a guard, and everything goes inside.

# %%
@gpu.jit
def mirror_inside(image, out):
    line = cuda.shared.array(56, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t < image.shape[1]:
        line[t] = image[row, t]
        cuda.syncthreads()
        out[row, t] = line[55 - t]

# %% tags=["continued"]
report = simt.run(mirror_inside, 28, 64, (pair, simt.empty(pair.shape)), on_error="collect")
findings(report)

# %% [markdown]
# Eight threads of each block never come to the barrier. What happens then is not defined:[^NVIDIA "CUDA C++
# Programming Guide, Synchronization Functions"] the block may wait for ever, or go on with wrong numbers, or even give
# the right ones on today's card. The repair: a guard for the write, a guard for the read, and the barrier between them,
# where all threads come by.

# %%
@gpu.jit
def mirror_outside(image, out):
    line = cuda.shared.array(56, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t < image.shape[1]:
        line[t] = image[row, t]
    cuda.syncthreads()
    if t < image.shape[1]:
        out[row, t] = line[55 - t]

# %% tags=["continued"]
repaired = simt.run(mirror_outside, 28, 64, (pair, simt.empty(pair.shape)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** `cuda.syncthreads()` is indented below an `if`, or comes after a `return` that only some
# threads take. A program that hangs is the best known symptom, but not the only one.
#
# ## 8. A scan in place
#
# A **scan** turns numbers into their running sum. Sixty-four threads can do it in six steps: in each, a thread adds
# what stands `d` places to its left, and `d` doubles ([lesson 13](13_reductions_and_fusion.ipynb)). There is a barrier
# after each step, so all looks well.

# %%
@gpu.jit
def running_sum(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for k in range(6):
        d = 1 << k
        if t >= d:
            s[t] += s[t - d]
        cuda.syncthreads()
    y[t] = s[t]

# %% tags=["continued"]
ones, sums = np.ones(64, np.float32), np.zeros(64, np.float32)
report = simt.run(running_sum, 1, 64, (ones, sums), on_error="collect")
findings(report)

# %% [markdown]
# The line with `+=` reads its neighbour's number while the neighbour is changing it. Again suppose that in each step
# warp 0 is done before warp 1 begins. Then warp 1 reads numbers that are one step too new:

# %% tags=["hide-input"]
early = ones.copy()
for d in 2 ** np.arange(6):
    for warp in (np.arange(32), np.arange(32, 64)):
        lanes = warp[warp >= d]
        early[lanes] += early[lanes - d]
fig, ax = figures.new_figure(6.5, 3)
ax.plot(np.arange(1, 65), np.cumsum(ones), color=figures.COLOURS["output"], label="the running sum of 64 ones")
ax.plot(np.arange(1, 65), early, ":", color=figures.COLOURS["hazard"], label="if warp 0 is always early")
ax.set(xlabel="numbers added", ylabel="sum")
ax.legend()
figures.picture(
    fig,
    alt=f"The running sum of 64 ones is a straight line up to 64. If warp 0 is early, it jumps from {early[31]:.0f} to "
    f"{early[32]:.0f} at the 33rd number, reaches {early[47]:.0f} at the 48th, and stays there",
    caption=f"Right up to 32 numbers; the 33rd sum is {early[32]:.0f}. The last one is right again.",
)

# %% [markdown]
# Look at the right end: a test that compares only the total would not have noticed. The repair is a second barrier. All
# threads read into a variable of their own; all wait; all write.

# %%
@gpu.jit
def running_sum_twice(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for k in range(6):
        d = 1 << k
        left = s[t - d] if t >= d else float32(0)
        cuda.syncthreads()
        s[t] += left
        cuda.syncthreads()
    y[t] = s[t]

# %% tags=["continued"]
repaired = simt.run(running_sum_twice, 1, 64, (ones, sums))
print("last sum:", sums[-1])
findings(repaired)

# %% [markdown]
# **How to recognise it:** right with up to 32 threads, too large with more; and one line both reads a neighbour's
# element and writes its own.
#
# ## 9. Adding to what nobody filled
#
# The ink in each column of the two digits. Each column has a thread of its own, so there is no race.

# %%
@gpu.jit
def column_ink(image, y):
    c = cuda.grid(1)
    if c < image.shape[1]:
        for r in range(image.shape[0]):
            y[c] += image[r, c]

# %% tags=["continued"]
y = simt.empty(56)
report = simt.run(column_ink, 2, 32, (pair, y), on_error="collect")
print(y.numbers[:4])
findings(report)

# %% [markdown]
# `gpu.empty` reserves memory and writes nothing into it. The executor fills such arrays with NaN, so that you notice.
# On a GPU you find what the last owner left: often zeros in the first run, so that the test passes, and the sums of the
# first run in the second. The repair is to add in a variable, and to write once. That saves memory traffic as well.

# %%
@gpu.jit
def column_ink_once(image, y):
    c = cuda.grid(1)
    if c < image.shape[1]:
        total = float32(0)
        for r in range(image.shape[0]):
            total += image[r, c]
        y[c] = total

# %% tags=["continued"]
y = simt.empty(56)
repaired = simt.run(column_ink_once, 2, 32, (pair, y))
print("equal to NumPy's:", np.allclose(y.numbers, pair.sum(axis=0)))
findings(repaired)

# %% [markdown]
# **How to recognise it:** NaN, or results that grow each time you run the cell; and a `+=` on an array that came from
# `gpu.empty`.
#
# ## 10. A tile read by columns
#
# A digit with a border, 32 × 32 pixels, is transposed by one block. It fills a tile in shared memory row by row and
# reads it column by column, so that global memory sees only rows.

# %%
@gpu.jit
def transpose(image, out):
    tile = cuda.shared.array((32, 32), float32)
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    tile[row, col] = image[row, col]
    cuda.syncthreads()
    out[row, col] = tile[col, row]

# %% tags=["continued"]
framed, out = np.pad(digit, 2), simt.empty((32, 32))
report = simt.run(transpose, 1, (32, 32), (framed, out), on_error="collect")
print("equal to NumPy's:", np.array_equal(out.numbers, framed.T))

# %% [markdown]
# Shared memory consists of 32 **banks**. Word `k` lies in bank `k % 32`, and a bank hands out one word at a time
# ([lesson 12](12_memory.ipynb)). A warp has 32 threads with neighbouring `col`.

# %% tags=["hide-input"]
asked = predict(
    "How many turns does a warp need to read `tile[col, row]`?", [1, 2, 16, 32], answer=32, reveals=3
)
asked

# %% tags=["hide-output", "continued"]
reads = report.total
asked.confirm(reads.shared_load_wavefronts // reads.shared_load_requests)
findings(report)

# %% tags=["hide-output", "continued"]
report.memory_map(array="tile", way="load")

# %% [markdown]
# <details class="reveal"><summary>Why so many</summary>
#
# The words of a column lie 32 apart, and so all of them lie in one bank. The same count holds for every tile whose rows
# have 32 words, 64, 96 and so on.
#
# </details>
#
# The repair is one column more than is needed, called **padding**. Each row then begins one bank further than the one
# above it, and a column touches every bank once.

# %%
@gpu.jit
def transpose_padded(image, out):
    tile = cuda.shared.array((32, 33), float32)
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    tile[row, col] = image[row, col]
    cuda.syncthreads()
    out[row, col] = tile[col, row]

# %% tags=["continued"]
repaired = simt.run(transpose_padded, 1, (32, 32), (framed, simt.empty((32, 32))))
print("bank conflicts:", report.total.shared_load_conflicts, "before,", repaired.total.shared_load_conflicts, "after")
findings(repaired)

# %% [markdown]
# **How to recognise it:** right and slow; the threads' x stands in the *first* index of a shared array whose rows have
# a multiple of 32 words.

# %% [markdown]
# ## The ten findings together
#
# Six of the ten gave the right result in the executor, and that is the point of this page: a comparison with NumPy is
# necessary, and it is not enough. Run each new kernel once with `gpu.simulate(..., on_error="collect")` on a small
# rectangle whose sizes are no multiples of anything, and read what it says before you measure.
#
# ## Check yourself
#
# **1.** Your kernel is right for 1,024 numbers and crashes, or spoils other arrays, for 1,000. Which mistake is it?
#
# <details><summary>Answer</summary>
#
# The missing guard (1). With 1,024 numbers and blocks of 256 there is no thread without an element.
#
# </details>
#
# **2.** A histogram of a picture comes out with too few pixels in all, and differs from run to run. Which mistake, and
# what is the repair?
#
# <details><summary>Answer</summary>
#
# Lost additions (5): many threads do `bins[value] += 1` on the same bin. Use `cuda.atomic.add(bins, value, 1)`.
#
# </details>
#
# **3.** Why is a test with 32 threads useless against mistakes 6 and 8?
#
# <details><summary>Answer</summary>
#
# Thirty-two threads are one warp, and they mostly walk together, so the lucky order is nearly certain. With two warps
# either may be early.
#
# </details>
