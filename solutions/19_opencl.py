# ---
# jupyter:
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
# # 19 · Exercises: OpenCL
#
# You choose sizes for a launch, ask a device what it allows, find out which work-items read too early, follow commands
# through a queue, find forgotten events, and cut a batch in two. The sheet belongs to lesson 19,
# [OpenCL](../notebooks/19_opencl.ipynb), and is optional as the lesson is. A warm-up takes about five minutes, a core
# exercise ten to twenty, a stretch half an hour.
#
# No OpenCL device is needed: what is asked for is what a host program has to know before it speaks to one.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 19.1 · From a grid to an NDRange
#
# *2 points, warm-up. Trains: work-items are counted, and rounded up. (Khronos, "The OpenCL Specification",
# "clEnqueueNDRangeKernel")*
#
# An array has `rows` and `columns`, and each of its numbers gets a work-item. A work-group has `group[0]` work-items
# along x and `group[1]` along y; x counts columns. Return three things:
#
# 1. OpenCL's global size, (x, y): as few work-items as cover the array in whole work-groups;
# 2. the grid that a CUDA launch would have instead, (x, y), in blocks;
# 3. how many work-items have no number.
#
# Specification, by an example: `sizes(6, 10, (4, 4))` is `((12, 8), (3, 2), 36)`.
#
# <details><summary>Hint 1</summary>
#
# Which of the two, `rows` or `columns`, belongs to x? Which to `group[0]`?
#
# </details>
# <details><summary>Hint 2</summary>
#
# How many groups does an axis need? A division that rounds up: `-(-10 // 4)` is 3.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The grid is that number for each axis. The global size is the grid times the group, and what is too much is the
# product of the global sizes less `rows * columns`.
#
# </details>

# %% exercise="19.1"
def sizes(rows, columns, group):
    """Return (global size (x, y), CUDA's grid (x, y), work-items without a number)."""
    ### BEGIN SOLUTION
    grid = -(-columns // group[0]), -(-rows // group[1])
    x, y = grid[0] * group[0], grid[1] * group[1]
    return (x, y), grid, x * y - rows * columns
    ### END SOLUTION


# %% check="19.1"
check("19.1", sizes)

# %% [markdown]
# ## 19.2 · As large as the device allows
#
# *2 points, core. Trains: asking a device before a program is built. (Khronos, "The OpenCL Specification",
# "clGetDeviceInfo")*
#
# In a tiled kernel a work-group has T × T work-items, and keeps `arrays` tiles of T × T numbers in local memory, in
# float32. The device says that a work-group may have `group` work-items at most, and that it has `local_bytes` bytes of
# local memory for a group. Return the largest T that is a power of two and fits both. T = 1 always fits.
#
# Specification, by examples: `largest_tile(64, 2**20, 2)` is 8, and `largest_tile(4096, 4096, 3)` is 16.
#
# <details><summary>Hint 1</summary>
#
# Write down both conditions for one T. How many bytes do all the tiles take?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `T * T <= group` and `4 * arrays * T * T <= local_bytes`. What just fits, fits.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Begin with T = 1 and double it as long as the doubled one still meets both.
#
# </details>

# %% exercise="19.2"
def largest_tile(group, local_bytes, arrays):
    """Return the largest power of two T: T * T work-items, and `arrays` tiles of T x T float32, fit the device."""
    ### BEGIN SOLUTION
    tile = 1
    while 4 * tile**2 <= group and 4 * arrays * 4 * tile**2 <= local_bytes:
        tile *= 2
    return tile
    ### END SOLUTION


# %% check="19.2"
check("19.2", largest_tile)

# %% [markdown]
# ## 19.3 · Which reads come too early?
#
# *3 points, core. Trains: a work-group as a loop. (Jääskeläinen et al., 2015, "pocl: A Performance-Portable OpenCL
# Implementation")*
#
# Work-item i writes place i of local memory, and then reads place `reads[i]`. There should be a barrier in between, and
# there is none. A core of a CPU runs the work-items in a loop, `width` of them in each turn, side by side: first
# work-items 0 to width - 1 write, then they read; then the next `width` begin. Return the numbers of the work-items
# that read a place which nobody has written yet, in rising order, as an array.
#
# With `width` 1 that is the loop of the lesson's picture, with 8 a loop over vectors of eight work-items. With 32 it is
# a warp of a GPU, if warp 0 is done before warp 1 begins.
#
# Specification, by an example: of 8 work-items that read backwards, 7, 6, ..., 0, with two in a turn, 0, 1, 2 and 3
# are too early.
#
# <details><summary>Hint 1</summary>
#
# In which turn does work-item i write and read? In which turn is place `reads[i]` written?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Work-item i has turn `i // width`. A read is too early if the place is written in a later turn. In the same turn it
# is not, since all of them write before one reads.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Compare `reads // width` with `np.arange(reads.size) // width`, and `np.flatnonzero` gives the numbers of those for
# which the comparison holds.
#
# </details>

# %% exercise="19.3"
def too_early(reads, width):
    """Return the work-items, rising, that read a place of a later turn; reads (n,) are places, width is a turn's."""
    ### BEGIN SOLUTION
    turn = np.arange(reads.size) // width
    return np.flatnonzero(reads // width > turn)
    ### END SOLUTION


# %% check="19.3"
check("19.3", too_early)

# %% [markdown]
# ## 19.4 · When is each command done?
#
# *3 points, core. Trains: queues in order and out of order. (Khronos, "The OpenCL Specification", "Execution Model:
# Command-Queues")*
#
# Commands 0, 1, 2, ... are put into a queue at time 0, in this order. Command i takes `seconds[i]`, and `after[i]` is
# the list of the commands, all of them earlier ones, whose events it was given to wait for. The device has room for
# all at the same time, so a command begins as soon as it may. If the queue is in order, a command also waits for the
# one queued just ahead of it. Return when each command ends, as an array.
#
# Specification, by an example: two chains of 30 s each, `after = [[], [0], [], [2]]`: in order 30, 60, 90, 120; out of
# order 30, 60, 30, 60.
#
# <details><summary>Hint 1</summary>
#
# Go through the commands in their order. When you come to one, all that it waits for have their ends already.
#
# </details>
# <details><summary>Hint 2</summary>
#
# It begins when the *last* of those that it waits for has ended, and at 0 if it waits for nobody. `max(..., default=0)`
# helps with an empty list.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `waits = list(after[i])`, and in order, for i > 0, `waits.append(i - 1)`. Then
# `start = max((done[j] for j in waits), default=0.0)`.
#
# </details>

# %% exercise="19.4"
def ends(seconds, after, in_order):
    """Return when each command ends (n,); seconds (n,), after: for each the list of commands that it waits for."""
    ### BEGIN SOLUTION
    done = []
    for i, took in enumerate(seconds):
        waits = list(after[i])
        if in_order and i > 0:
            waits.append(i - 1)
        start = max((done[j] for j in waits), default=0.0)
        done.append(start + took)
    return np.array(done)
    ### END SOLUTION


# %% check="19.4"
check("19.4", ends)

# %% [markdown]
# ## 19.5 · The forgotten events
#
# *4 points, stretch. Trains: races between commands. (Khronos, "The OpenCL Specification", "Event Objects")*
#
# A queue is out of order. Command i reads the buffers `reads[i]` and writes the buffers `writes[i]`, lists of names;
# `after[i]` are the earlier commands that it waits for, as in 19.4. Two commands *meet* if they touch the same buffer
# and at least one of them writes it. If they meet, the later one has to wait for the earlier one: directly, or by
# waiting for somebody who does. Return all pairs (i, j), i < j, that meet and where j does not wait for i, as a sorted
# list of tuples.
#
# Specification, by an example: copy x in, compute y from x, copy y out.
#
# | command | reads | writes | waits for |
# |---|---|---|---|
# | 0 | x_host | x | nobody |
# | 1 | x | y | 0 |
# | 2 | y | y_host | nobody |
#
# The result is `[(1, 2)]`. If 2 waited for 1, it would be `[]`.
#
# <details><summary>Hint 1</summary>
#
# Two questions that are best answered one by one: whom does j wait for, with all detours? And do i and j meet?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Build a list of sets. The set of command j has those in `after[j]`, and all that are in *their* sets. Since `after`
# names earlier commands only, these sets are ready when j's turn comes.
#
# </details>
# <details><summary>Hint 3</summary>
#
# i and j meet if one of three intersections is not empty: `writes[i]` with `reads[j]`, `writes[i]` with `writes[j]`,
# `reads[i]` with `writes[j]`. `set(a) & set(b)` is the intersection.
#
# </details>

# %% exercise="19.5"
def missing(reads, writes, after):
    """Return the sorted list of pairs (i, j), i < j, that meet without j waiting for i."""
    ### BEGIN SOLUTION
    waits = []
    for direct in after:
        known = set(direct)
        for k in direct:
            known |= waits[k]
        waits.append(known)
    pairs = []
    for i in range(len(after)):
        for j in range(i + 1, len(after)):
            touched = set(reads[j]) | set(writes[j])
            meet = set(writes[i]) & touched or set(reads[i]) & set(writes[j])
            if meet and i not in waits[j]:
                pairs.append((i, j))
    return pairs
    ### END SOLUTION


# %% check="19.5"
check("19.5", missing)

# %% [markdown]
# ## 19.6 · Where to cut a batch
#
# *3 points, core. Trains: the best share, in whole pieces. (the course's own)*
#
# Two devices share a batch of `images`. Device k, 0 or 1, needs `fixed[k]` seconds before it begins and `seconds[k]`
# for each image; a device that gets no image needs no time at all. Both work at the same time. Images are handed out in
# pieces of `grain`, and `images` is a multiple of it. Return how many images the first device gets in the best split,
# and how many seconds the job then takes. If several splits are equally good, take the one with the fewest images for
# the first device.
#
# Specification, by an example: `cut(100, (0.1, 0.3), (0.0, 0.0), 5)` is `(75, 7.5)`.
#
# <details><summary>Hint 1</summary>
#
# There are only `images // grain + 1` splits. Try them all.
#
# </details>
# <details><summary>Hint 2</summary>
#
# For n images: the first device is done after `fixed[0] + n * seconds[0]`, or after 0 if n is 0; the second one
# accordingly with `images - n`. The job ends with the slower one.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Collect tuples (seconds, n) for `n in range(0, images + 1, grain)`; `min` of them takes the fewest seconds, and among
# equals the smallest n. Return n first.
#
# </details>

# %% exercise="19.6"
def cut(images, seconds, fixed, grain):
    """Return (images of the first device, seconds of the job) of the best split in pieces of grain."""
    ### BEGIN SOLUTION
    tried = []
    for n in range(0, images + 1, grain):
        parts = zip((n, images - n), seconds, fixed, strict=True)
        took = max(f + k * t if k else 0.0 for k, t, f in parts)
        tried.append((took, n))
    took, n = min(tried)
    return n, took
    ### END SOLUTION


# %% check="19.6"
check("19.6", cut)
