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
# # 18 · Exercises: many devices
#
# You cut a batch among ranks, put their gradients together, write down what a rank of a ring does, find who waits for
# ever, look for the best number of devices, and follow a pipeline. The sheet belongs to lesson 18,
# [Many devices](../notebooks/18_many_devices.ipynb). A warm-up takes about five minutes, a core exercise ten to twenty,
# a stretch half an hour.
#
# No cluster is needed: you write what a rank has to know before it sends anything.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 18.1 · Which rows are mine?
#
# *2 points, warm-up. Trains: a batch that does not divide. (the course's own)*
#
# A batch of `count` rows is cut among `size` ranks, in their order: rank 0 has the first rows, rank 1 the next ones.
# The parts differ by one row at most, and the first ranks have the longer ones. Return the first row of the rank
# `rank`, and the row behind its last one, as for a slice. A rank may have no rows.
#
# Specification, by an example: 10 rows on 4 ranks are `(0, 3)`, `(3, 6)`, `(6, 8)`, `(8, 10)`.
#
# <details><summary>Hint 1</summary>
#
# How many rows has everybody at least, and how many ranks have one more?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `count // size` and `count % size`. Ahead of rank r there are r parts; how many of them are longer ones?
#
# </details>
# <details><summary>Hint 3</summary>
#
# `min(rank, count % size)` of them. So the first row is `rank * (count // size) + min(rank, count % size)`, and the row
# behind the last one is the first row of the next rank.
#
# </details>

# %% exercise="18.1"
def my_rows(count, rank, size):
    """Return (first row, row behind the last one) of a rank; the first ranks have one row more if they must."""
    ### BEGIN SOLUTION
    each, more = divmod(count, size)
    first = rank * each + min(rank, more)
    return first, first + each + (rank < more)
    ### END SOLUTION


# %% check="18.1"
check("18.1", my_rows)

# %% [markdown]
# ## 18.2 · The gradient of the whole batch
#
# *3 points, core. Trains: means of unequal parts. (the course's own)*
#
# The loss is a mean over rows. Rank r has computed its gradient over its own `rows[r]` rows only, and `gradients[r]` is
# that: a mean over them. Return the gradient of the whole batch, an array with one number for each weight. A rank
# without rows has computed the mean of nothing, which is NaN; it does not count.
#
# Specification, by an example: the gradients `[[1, 2], [4, 8]]` with 10 and 30 rows give `[3.25, 6.5]`.
#
# <details><summary>Hint 1</summary>
#
# What is the *sum* over the rows of one rank? And what is the mean over all rows, from these sums?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A rank with $B_r$ rows counts $B_r / B$, with $B$ the sum of all rows. And 0 times NaN is NaN: a weight of zero does
# not make it go away.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `some = rows > 0` picks the ranks that count, `gradients[some]` their gradients. Weights times gradients, added up, is
# a product: `weights @ gradients`.
#
# </details>

# %% exercise="18.2"
def whole_gradient(gradients, rows):
    """Return the gradient (P,) of the batch; gradients (n, P) are means over each rank's rows, rows (n,) how many."""
    ### BEGIN SOLUTION
    some = rows > 0
    weights = rows[some] / rows.sum()
    return weights @ gradients[some]
    ### END SOLUTION


# %% check="18.2"
check("18.2", whole_gradient)

# %% [markdown]
# ## 18.3 · What a rank of a ring does
#
# *4 points, core. Trains: an all-reduce by parts. (P. Patarasuk and X. Yuan (2009), "Bandwidth Optimal All-reduce
# Algorithms for Clusters of Workstations")*
#
# `size` ranks stand in a ring, and each has an array in `size` parts, numbered from 0. In every step a rank sends one
# part to its right neighbour, rank + 1, and receives one from its left neighbour, rank - 1 (the last rank's right
# neighbour is rank 0). Write down what the rank `rank` does: return a list with a tuple for each step, `(the part that
# it sends, the part that it receives, whether what it receives is added)`. Part 3 is received into part 3.
#
# In the first step, rank r sends part r. A part that was received, and added to, is sent on in the next step. After
# size - 1 steps every rank has the whole sum of one part. In size - 1 more steps the finished parts go round in the
# same way; there, what comes takes the place of what was there. One rank alone has nothing to do: `[]`.
#
# Specification, by an example: `ring_plan(1, 3)` is `[(1, 0, True), (0, 2, True), (2, 1, False), (1, 0, False)]`.
#
# With a plan you can see whether it works, with ranks that are threads:
#
# ```python
# from course_lib import parallel
# from course_lib.parallel.plans import follow
#
# def work(world):
#     array = np.arange(6.0) + world.rank
#     follow(world, array, ring_plan(world.rank, world.size))
#     return array
#
# parallel.run(work, 3)
# ```
#
# <details><summary>Hint 1</summary>
#
# Play it with three ranks and a pencil, or step through the lesson's figure. Which part comes to rank r in the first
# step? Who has sent it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# In step 0 rank r sends part r and receives part r - 1, as its left neighbour sends its own number. In step 1 it sends
# what it has just received. So the numbers fall by one in each step; `% size` brings -1 back to size - 1.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Step s of the first half: `((rank - s) % size, (rank - s - 1) % size, True)`. The last part that a rank has received
# there is complete; which number has it? With that one the second half begins.
#
# </details>

# %% exercise="18.3"
def ring_plan(rank, size):
    """Return the steps of a rank, a list of (part to send, part to receive, whether it is added)."""
    ### BEGIN SOLUTION
    first = [((rank - s) % size, (rank - s - 1) % size, True) for s in range(size - 1)]
    second = [((rank - s + 1) % size, (rank - s) % size, False) for s in range(size - 1)]
    return first + second
    ### END SOLUTION


# %% check="18.3"
check("18.3", ring_plan)

# %% [markdown]
# ## 18.4 · Who waits for ever?
#
# *4 points, stretch. Trains: deadlock. (E. Coffman, M. Elphick and A. Shoshani (1971), "System Deadlocks")*
#
# `programs[r]` is the list of what rank r does, one after the other: `("send", to)` or `("receive", source)`. Sends
# wait: a send and its receive happen together, when the one rank has come to its send and the other one to the
# receive that fits. Return the ranks that never come to their end, in rising order.
#
# Specification, by examples: three ranks that all send to the right and then receive from the left are `[0, 1, 2]`. If
# rank 1 receives first and then sends, it is `[]`.
#
# <details><summary>Hint 1</summary>
#
# Let the programs run. For each rank remember how many of its operations are done.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A pair can move if rank a stands at `("send", b)` and rank b at `("receive", a)`. Then both go on by one. Repeat until
# a whole round moves nobody; who is not done then will never be.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `at = [0] * len(programs)`. While something has moved: for each rank a that is not done and stands at a send to b,
# look whether b is not done either, and stands at `("receive", a)`. It does not matter which pair moves first.
#
# </details>

# %% exercise="18.4"
def stuck(programs):
    """Return the ranks, rising, that never end; programs: for each rank a list of ("send" or "receive", other rank)."""
    ### BEGIN SOLUTION
    at = [0] * len(programs)

    def now(rank):
        return programs[rank][at[rank]] if at[rank] < len(programs[rank]) else None

    moved = True
    while moved:
        moved = False
        for a in range(len(programs)):
            if now(a) is None or now(a)[0] != "send":
                continue
            b = now(a)[1]
            if now(b) == ("receive", a):
                at[a] += 1
                at[b] += 1
                moved = True
    return [rank for rank in range(len(programs)) if now(rank) is not None]
    ### END SOLUTION


# %% check="18.4"
check("18.4", stuck)

# %% [markdown]
# ## 18.5 · The best number of devices
#
# *3 points, core. Trains: what a step costs on n devices. (R. Hockney (1994), "The communication challenge for MPP")*
#
# A batch of `rows` is cut evenly among n devices (fractions of a row are fine here). A device needs `row_seconds` for a
# row, and `fixed` seconds besides, whatever its part is. Then the gradients, `nbytes` bytes, are summed in a ring: one
# after another 2 (n - 1) messages of nbytes / n bytes, each of which takes `latency` plus its bytes divided by `rate`.
# Return the number of devices, from 1 to `most`, with which a step is done soonest, and its seconds. If several are
# equally good, take the fewest.
#
# Specification, by an example: 1,000 rows of 1 ms, nothing fixed, 1 MB, latency 10 ms, 1 MB/s: two devices need 0.5 s
# and 2 · (0.01 + 0.5) s, together 1.52 s. One needs 1 s.
#
# <details><summary>Hint 1</summary>
#
# There are only `most` candidates. Write a function for one n, and try them all.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `fixed + rows / n * row_seconds + 2 * (n - 1) * (latency + nbytes / n / rate)`. For n = 1 the last term is 0.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Collect tuples (seconds, n); `min` of them takes the fewest seconds, and among equals the smallest n. Return n first.
#
# </details>

# %% exercise="18.5"
def soonest(rows, row_seconds, fixed, nbytes, latency, rate, most):
    """Return (number of devices, seconds of a step) of the quickest step with 1 to `most` devices."""
    ### BEGIN SOLUTION
    tried = []
    for n in range(1, most + 1):
        message = latency + nbytes / n / rate
        tried.append((fixed + rows / n * row_seconds + 2 * (n - 1) * message, n))
    seconds, n = min(tried)
    return n, seconds
    ### END SOLUTION


# %% check="18.5"
check("18.5", soonest)

# %% [markdown]
# ## 18.6 · A pipeline of unequal stages
#
# *3 points, core. Trains: the bubble. (Y. Huang et al. (2019), "GPipe: Efficient Training of Giant Neural Networks
# using Pipeline Parallelism")*
#
# A network is cut into stages, each on a device of its own; stage s needs `seconds[s]` for one micro-batch. There are
# `micro` micro-batches, and they go through the stages in order, on the way forward only. A stage begins with a
# micro-batch when the stage before has done it, and when it has itself done the one before. Return two things: the
# seconds until the last stage has done the last micro-batch, and the share of all stages' time, from 0 to then, in
# which they are idle.
#
# Specification, by an example: two stages of 2 s and 1 s, three micro-batches. Stage 0 is done at 2, 4 and 6 s, stage 1
# at 3, 5 and 7 s. Of 2 · 7 s, 9 s are work, so the result is `(7.0, 5 / 14)`.
#
# <details><summary>Hint 1</summary>
#
# When is micro-batch k done at stage s? Two things have to be over before it begins.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `done[s, k] = max(done[s - 1, k], done[s, k - 1]) + seconds[s]`, where what does not exist counts 0. Go through the
# stages, and in each through the micro-batches.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The total is the last of them. Work is `micro * sum(seconds)`, all time is `len(seconds)` times the total, and idle is
# what is left of it: 1 minus the share of work.
#
# </details>

# %% exercise="18.6"
def pipeline(seconds, micro):
    """Return (seconds until all is done, idle share of all stages' time); seconds: of each stage, for a micro-batch."""
    ### BEGIN SOLUTION
    done = np.zeros((len(seconds) + 1, micro + 1))  # row 0 and column 0: what does not exist
    for s, took in enumerate(seconds, start=1):
        for k in range(1, micro + 1):
            done[s, k] = max(done[s - 1, k], done[s, k - 1]) + took
    total = done[-1, -1]
    return total, 1 - micro * sum(seconds) / (len(seconds) * total)
    ### END SOLUTION


# %% check="18.6"
check("18.6", pipeline)
