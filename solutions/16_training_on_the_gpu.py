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
# # 16 · Exercises: training on the GPU
#
# You compute what a step waits for, let copies and kernels overlap, mend two lists of requests of which one is slow and
# one is wrong, and write two kernels that save launches and looks at the card. The sheet belongs to lesson 16,
# [Training on the GPU](../notebooks/16_training_on_the_gpu.ipynb). A warm-up takes about five minutes, a core exercise
# ten to twenty, a stretch half an hour.
#
# No GPU is needed. Requests are played on a simulated card, kernels run in the course's executor, with a budget that
# each statement names.

# %% [markdown]
# ## The words of this sheet
#
# A host asks a card for one thing after another. Here each **request** is a tuple; beside it stands what it is in
# `course_lib.gpu`:
#
# | request | means |
# |---|---|
# | `("read", 3, "reads")` | piece 3 is copied to the card, in the stream `"reads"`: `gpu.overwrite(x, host, reads)` |
# | `("record", "read 3", "reads")` | an event behind all that is in that stream now: `event.record(reads)` |
# | `("wait", "read 3", "computes")` | this stream waits before all that it is asked for later: `event.wait(computes)` |
# | `("wait", "read 3")` | the host itself waits: `event.synchronize()` |
# | `("synchronize", "reads")` | the host waits for a stream: `reads.synchronize()` |
#
# - Streams and events are named by texts, as you like. A wait for an event that nobody has recorded *yet* waits for
#   nothing. The stream `0` is the default one: it waits for all others, and all others wait for it.
# - The card does three things at the same time: copies in, kernels, copies out. Each of the three does one thing after
#   the other.
# - The card has a few **places** for pieces. With 2 places, piece 0 and piece 2 use the same memory, `input[0]` on the
#   way in and `output[0]` on the way out.
# - Two stages that touch the same memory, at least one of them writing, need an order: the same stream, or a wait.
#   Without one they are a **race**, even if they happen to keep apart.
#
# `streams.simulate(job, requests)` plays a list and shows who did what when, and the first race.

# %%
from numba import cuda, float32

from course_lib import gpu, streams
from course_lib.checks import check

# %% [markdown]
# Two pieces in one stream, as an example: each stage behind the one before.

# %%
one_stream = [(stage, k, "one") for k in range(2) for stage in ("read", "compute", "write")]
streams.simulate(streams.read_compute_write(10, 12, 8, slots=2), one_stream)

# %% [markdown]
# ## 16.1 · What an image costs
#
# *2 points, warm-up. Trains: launches or work; time an image against B. (Hwu, "Mini-Batching May be Needed to Fill
# GPU")*
#
# A training step has `launches` kernels, and each launch costs the host `cost` microseconds. With B images in a batch
# the kernels need `fixed + each * B` microseconds together. The host enqueues ahead while the card computes, so take a
# step as long as whichever of the two takes longer.
#
# Return two things: an array or list with the microseconds *an image* for each B in `batches`, and the least B, from 1
# on, with which the kernels need at least as long as their launches.
#
# Specification, by an example: 20 launches of 10 µs, kernels that need 50 + 2 B µs. With B = 10 the launches take 200
# µs and the kernels 70, so an image takes 20 µs. With B = 75 both take 200.
#
# <details><summary>Hint 1</summary>
#
# `max(launches * cost, fixed + each * B)` is a step.
#
# </details>
# <details><summary>Hint 2</summary>
#
# For the second number a loop will do: begin with B = 1 and go on while the kernels need less than their launches.
#
# </details>
# <details><summary>Hint 3</summary>
#
# A list is right for the first: `[... / B for B in batches]`. Then `while fixed + each * turn < launches * cost:`, and
# in it `turn += 1`; return both, with a comma between them.
#
# </details>

# %% exercise="16.1"
def time_per_image(batches, launches, cost, fixed, each):
    """Return (microseconds an image for each B in batches, the least B whose kernels outlast their launches)."""
    ### BEGIN SOLUTION
    asking = launches * cost
    per_image = [max(asking, fixed + each * B) / B for B in batches]
    turn = 1
    while fixed + each * turn < asking:
        turn += 1
    return per_image, turn
    ### END SOLUTION


# %% check="16.1"
check("16.1", time_per_image)

# %% [markdown]
# ## 16.2 · When is it worth pinning?
#
# *2 points, warm-up. Trains: pageable and pinned memory. (NVIDIA, "CUDA C++ Programming Guide", "Page-Locked Host
# Memory")*
#
# An array of `size` bytes is copied to the card again and again. From usual, pageable memory the processor first copies
# it into a pinned buffer of the driver, `host` bytes a microsecond, and then the link takes it to the card, `link`
# bytes a microsecond. (Take it as one after the other.) If you pin the array itself, once, for `pin` microseconds, only
# the second half is left.
#
# Return three numbers: microseconds of a pageable copy, of a pinned one, and the least number of copies for which
# pinning first and copying then takes *less* time than copying so often from pageable memory.
#
# Specification, by an example: 4,000,000 bytes, 8,000 and 40,000 bytes a µs, 2,000 µs to pin. A pageable copy takes
# 500 + 100 = 600 µs, a pinned one 100. With four copies both ways take 2,400; with five pinning wins.
#
# <details><summary>Hint 1</summary>
#
# What does one pinned copy save?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `pin + n * pinned < n * pageable`. A loop over n finds the least one; `pin // saved + 1` does too.
#
# </details>
# <details><summary>Hint 3</summary>
#
# With `pinned = size / link` and `pageable = size / host + pinned`, begin with one copy and add one while
# `pin + copies * pinned >= copies * pageable`.
#
# </details>

# %% exercise="16.2"
def worth_pinning(size, host, link, pin):
    """Return (microseconds of a pageable copy, of a pinned one, the least number of copies for which pinning pays)."""
    ### BEGIN SOLUTION
    pinned = size / link
    pageable = size / host + pinned
    copies = 1
    while pin + copies * pinned >= copies * pageable:
        copies += 1
    return pageable, pinned, copies
    ### END SOLUTION


# %% check="16.2"
check("16.2", worth_pinning)

# %% [markdown]
# ## 16.3 · Read the next, compute this one, write the last
#
# *3 points, core. Trains: streams and events. (Hwu, "Mini-Batching May be Needed to Fill GPU")*
#
# A job has `pieces` pieces, 0, 1, 2, and so on. Each is read (10 µs), computed (12 µs) and written (8 µs), and the card
# has `slots` places for them. `"compute"` reads the place on the way in and writes the one on the way out.
#
# Return the list of requests of a host that does the job in streams, so that the card reads the next piece while it
# computes this one and writes the last. With two places or more that takes 10 + 12 + 8 µs for the first piece and 12
# for each further one; with one place 10 + 12 for each piece and 8 for the last write.
#
# There are four kinds of waits, and without any one of them there is a race. A piece is computed when it has been read,
# and written when it has been computed. And from the piece on that uses a place again: it is read when the piece
# before it in that place has been computed, and computed when that one has been written.
#
# <details><summary>Hint 1</summary>
#
# Three streams, one for each stage. For each piece `k` in turn: read it, compute it, write it, and behind each of the
# three record an event of its own, such as `f"computed {k}"`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Piece k uses the place of piece k - slots. So for k >= slots there are two more waits:
# `("wait", f"computed {k - slots}", "reads")` before the read, and `("wait", f"written {k - slots}", "computes")`
# before the computation.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Draw what you have: `streams.simulate(streams.read_compute_write(10, 12, 8, slots=2), overlapped(4, 2))`, as the last
# line of a cell draws it.
#
# </details>

# %% exercise="16.3"
def overlapped(pieces, slots):
    """Return the requests that read, compute and write so many pieces, with `slots` places on the card."""
    ### BEGIN SOLUTION
    requests = []
    for k in range(pieces):
        if k >= slots:
            requests.append(("wait", f"computed {k - slots}", "reads"))
        requests += [("read", k, "reads"), ("record", f"read {k}", "reads")]
        requests.append(("wait", f"read {k}", "computes"))
        if k >= slots:
            requests.append(("wait", f"written {k - slots}", "computes"))
        requests += [("compute", k, "computes"), ("record", f"computed {k}", "computes")]
        requests.append(("wait", f"computed {k}", "writes"))
        requests += [("write", k, "writes"), ("record", f"written {k}", "writes")]
    return requests
    ### END SOLUTION


# %% check="16.3"
check("16.3", overlapped)

# %% [markdown]
# ## 16.4 · Repair: a wait that spoils it
#
# *2 points, core. Trains: what a synchronisation costs. (NVIDIA, "CUDA C++ Programming Guide", "Implicit
# Synchronization")*
#
# A colleague has done the same job, with three places and all four kinds of waits. The numbers are right. But it takes
# as long as with a single stream: 30 µs for each piece, where 12 are possible.
#
# Two of its requests keep everything waiting. Find them, and mend the list: 10 + 12 + 8 µs for the first piece, 12 for
# each further one.
#
# <details><summary>Hint 1</summary>
#
# Draw it: `streams.simulate(streams.read_compute_write(10, 12, 8, slots=3), flowing(4))`. Who could begin earlier, and
# has not been asked to yet?
#
# </details>
# <details><summary>Hint 2</summary>
#
# One of them makes the host wait for something that only a stream has to wait for, and there is an event for that
# already. The other one is a stream that waits for all streams, and all for it.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Instead of `("synchronize", ...)` let a third stream wait for `f"computed {k}"`, and write in that stream. The event
# behind the write must be recorded there too.
#
# </details>

# %% exercise="16.4"
def flowing(pieces):
    """Return the requests that read, compute and write so many pieces, with 3 places on the card."""
    ### BEGIN BROKEN
    requests = []
    for k in range(pieces):
        if k >= 3:
            requests.append(("wait", f"computed {k - 3}", "reads"))
        requests += [("read", k, "reads"), ("record", f"read {k}", "reads")]
        requests.append(("wait", f"read {k}", "computes"))
        if k >= 3:
            requests.append(("wait", f"written {k - 3}", "computes"))
        requests += [("compute", k, "computes"), ("record", f"computed {k}", "computes")]
        requests.append(("synchronize", "computes"))
        requests += [("write", k, 0), ("record", f"written {k}", 0)]
    return requests
    ### END BROKEN
    ### BEGIN SOLUTION
    requests = []
    for k in range(pieces):
        if k >= 3:
            requests.append(("wait", f"computed {k - 3}", "reads"))
        requests += [("read", k, "reads"), ("record", f"read {k}", "reads")]
        requests.append(("wait", f"read {k}", "computes"))
        if k >= 3:
            requests.append(("wait", f"written {k - 3}", "computes"))
        requests += [("compute", k, "computes"), ("record", f"computed {k}", "computes")]
        requests.append(("wait", f"computed {k}", "writes"))
        requests += [("write", k, "writes"), ("record", f"written {k}", "writes")]
    return requests
    ### END SOLUTION


# %% check="16.4"
check("16.4", flowing)

# %% [markdown]
# ## 16.5 · Repair: every second batch is a mixture
#
# *3 points, core. Trains: two buffers; what an event orders. (NVIDIA, "CUDA C++ Programming Guide", "Events")*
#
# A training loop loads ahead. For each batch the host **gathers** its rows into a pinned buffer (6 µs, the host's own
# work, so it has no stream), asks for the **copy** to the card (4 µs), and for the step that **trains** on it (20 µs).
# There are two pinned buffers, `host[0]` and `host[1]`, and two on the card, `batch[0]` and `batch[1]`. After every
# second batch the host looks at the loss of the batch before, to print it.
#
# It is as fast as it can be: 6 + 4 µs, and 20 for each batch. The loss falls, a little slowly. But from the second
# batch on every other step trains on a mixture of two batches.
#
# One wait is missing. Run the check before you change anything, and read which two stages nobody keeps in order. Then
# mend it, without making it slower. (The list should be right without the lines that print the loss, too.)
#
# <details><summary>Hint 1</summary>
#
# Draw it: `streams.simulate(streams.loading_ahead(6, 4, 20), loaded_ahead(8))`. Purple steps have read numbers of
# another batch.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Each buffer needs two orders: it is read after it has been written, and it is *written again* after it has been read.
# Which of the four is missing?
#
# </details>
# <details><summary>Hint 3</summary>
#
# A stream has to wait here, not the host: the host would be late with the next batch.
#
# </details>

# %% exercise="16.5"
def loaded_ahead(batches):
    """Return the requests that gather, copy and train so many batches, with two buffers on either side."""
    ### BEGIN BROKEN
    requests = []
    for k in range(batches):
        if k >= 2:
            requests.append(("wait", f"copied {k - 2}"))
        requests.append(("gather", k))
        requests += [("copy", k, "copies"), ("record", f"copied {k}", "copies")]
        requests.append(("wait", f"copied {k}", "steps"))
        requests += [("train", k, "steps"), ("record", f"trained {k}", "steps")]
        if k % 2 == 1:
            requests.append(("wait", f"trained {k - 1}"))  # to print its loss
    return requests
    ### END BROKEN
    ### BEGIN SOLUTION
    requests = []
    for k in range(batches):
        if k >= 2:
            requests.append(("wait", f"copied {k - 2}"))
        requests.append(("gather", k))
        if k >= 2:
            requests.append(("wait", f"trained {k - 2}", "copies"))
        requests += [("copy", k, "copies"), ("record", f"copied {k}", "copies")]
        requests.append(("wait", f"copied {k}", "steps"))
        requests += [("train", k, "steps"), ("record", f"trained {k}", "steps")]
        if k % 2 == 1:
            requests.append(("wait", f"trained {k - 1}"))  # to print its loss
    return requests
    ### END SOLUTION


# %% check="16.5"
check("16.5", loaded_ahead)

# %% [markdown]
# ## 16.6 · Which batch does a recorded step see?
#
# *2 points, core. Trains: a graph has addresses, not names. (NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs")*
#
# In a notebook somebody calls these lines, in some order; `step` trains on the array that the name `x` stands for.
#
# | action | the line |
# |---|---|
# | `("new", 5)` | `x = gpu.to_device(batches[5])`: a new array, which is called x from now on |
# | `("overwrite", 5)` | `gpu.overwrite(x, batches[5])`: into the array that is called x now |
# | `("record",)` | `graph = gpu.record(step)`: runs the step once, and keeps it with the addresses that it used |
# | `("replay",)` | `graph()`: the kept step once more, on what lies at its addresses now |
#
# Return the list of the batches that were trained on, in order, those of the real runs too. A list of actions begins
# with `("new", ...)`; a replay comes after a record, and means the last one.
#
# Specification, by examples:
#
# | actions | trained on |
# |---|---|
# | new 0, record, overwrite 1, replay, replay | `[0, 1, 1]` |
# | new 0, record, new 1, replay, new 2, replay | `[0, 0, 0]` |
#
# <details><summary>Hint 1</summary>
#
# Let an array be a list with one number in it, the batch that it holds. Then `x = [5]` makes a new one and `x[0] = 5`
# overwrites.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `("record",)` keeps the array that x is at that moment: `graph = x`, the list itself and no copy of it.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `for what, *batch in actions:` takes an action apart. A record adds `x[0]` to the result, a replay `graph[0]`.
#
# </details>

# %% exercise="16.6"
def trained_on(actions):
    """Return the numbers of the batches that were trained on, in order."""
    ### BEGIN SOLUTION
    x = graph = None
    found = []
    for what, *batch in actions:
        if what == "new":
            x = [batch[0]]
        elif what == "overwrite":
            x[0] = batch[0]
        elif what == "record":
            graph = x
            found.append(x[0])
        else:
            found.append(graph[0])
    return found
    ### END SOLUTION


# %% check="16.6"
check("16.6", trained_on)

# %% [markdown]
# ## 16.7 · A step in eight launches
#
# *3 points, core. Trains: fusion across a whole step; what has to come first. (the course's own)*
#
# `operations` are what a step computes, in an order that works: each is (name, kind, shape of its result, names of what
# it needs). There are three kinds. A **product** of matrices and a **sum** over an axis need many numbers for one. A
# **map** computes each number from those at the same place, as a ReLU does, or an update. A name such as `"W2"` stands
# for the update of W2; what it needs includes those who must have read the old W2.
#
# With a launch for each operation the training step of 784-128-10 has 17. Put operations together, in at most `most`
# launches. Return a list of launches, in order, each a list of names:
#
# - its first operation may be of any kind, all others are maps whose result has the shape of the first one's;
# - everything that an operation needs stands before it, in an earlier launch or earlier in its own;
# - each operation is done once.
#
# Specification, by an example: the forward pass z1, add b1, relu, z2, add b2 (products and maps in turn) is
# `[["z1", "add b1", "relu"], ["z2", "add b2"]]`.
#
# <details><summary>Hint 1</summary>
#
# Go through the operations in their order, and keep a dictionary that says in which launch each name has landed. A
# product or a sum begins a new launch.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A map may join a launch of its shape, if everything that it needs lies in that launch or in an earlier one. So begin
# to look at the *latest* launch of what it needs.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `first = max(at[name] for name in needs)`, and then the first launch from `first` on whose first operation has the
# same shape; if there is none, a new launch.
#
# </details>

# %% exercise="16.7"
def fuse(operations, most):
    """Return at most `most` launches, each a list of names of operations (name, kind, shape, needs)."""
    ### BEGIN SOLUTION
    launches, at, shapes = [], {}, {}
    for name, kind, shape, needs in operations:
        shapes[name] = tuple(shape)
        at[name] = len(launches)
        if kind == "map":
            first = max((at[each] for each in needs), default=0)
            for number in range(first, len(launches)):
                if shapes[launches[number][0]] == tuple(shape):
                    at[name] = number
                    break
        if at[name] == len(launches):
            launches.append([])
        launches[at[name]].append(name)
    return launches
    ### END SOLUTION


# %% check="16.7"
check("16.7", fuse)

# %% [markdown]
# ## 16.8 · Read once an epoch
#
# *3 points, core. Trains: a loss that stays on the device; one atomic a warp. (the course's own)*
#
# A host that looks at the loss after each step waits for each step. So let a kernel add up, over a whole epoch, how
# many rows are right and what their losses are, in two numbers that stay on the device and are read once at the end.
#
# `losses` is (B,), `scores` is (B, C), `labels` is (B,) int32, and `totals` is (2,). For each row find the class with
# the highest score, the first of equal ones. Add the number of rows whose class is their label to `totals[0]`, and the
# sum of the losses to `totals[1]`. The kernel is launched for one batch after the other with the same `totals`, which
# begin with 0.
#
# Blocks have 64 threads, two warps, and there is a thread for each row. The budget: two atomic operations a warp, one
# for each total, so the lanes of a warp add up first, by shuffles; 2 B C + 2 B loads beside
# those two; nothing in float64.
#
# Specification: `totals[0] += (scores.argmax(1) == labels).sum(); totals[1] += losses.sum()`
#
# <details><summary>Hint 1</summary>
#
# A thread without a row has a hit of 0 and a loss of 0, and takes part in the shuffles all the same.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `best, top = 0, scores[row, 0]`, then a loop over the other classes: a *larger* score takes the place of both.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `cuda.shfl_down_sync(0xFFFFFFFF, hit, step)` with step 16, 8, 4, 2, 1, for both numbers. Then `if cuda.laneid == 0:`
# and in it the two `cuda.atomic.add(totals, ..., ...)`.
#
# </details>

# %% exercise="16.8"
@gpu.jit
def tally(losses, scores, labels, totals):
    """Add to totals (2,) how many of the rows are right, and the sum of their losses; blocks of 64, a thread a row."""
    ### BEGIN SOLUTION
    row = cuda.grid(1)
    hit, loss = float32(0), float32(0)
    if row < losses.size:
        best, top = 0, scores[row, 0]
        for c in range(1, scores.shape[1]):
            score = scores[row, c]
            if score > top:
                best, top = c, score
        loss = losses[row]
        if best == labels[row]:
            hit = float32(1)
    step = 16
    while step > 0:
        hit += cuda.shfl_down_sync(0xFFFFFFFF, hit, step)
        loss += cuda.shfl_down_sync(0xFFFFFFFF, loss, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(totals, 0, hit)
        cuda.atomic.add(totals, 1, loss)
    ### END SOLUTION


# %% check="16.8"
check("16.8", tally)

# %% [markdown]
# ## 16.9 · All parameters in one launch
#
# *3 points, stretch. Trains: many small launches become one. (the course's own)*
#
# A step ends with an update of each parameter: ten launches for LeNet-5, most of them with less work than a block has
# threads. Let all parameters lie in one array `w` (n,), one behind the other: parameter p has the elements
# `starts[p]` to `starts[p + 1]`, and `starts` is (P + 1,). Gradients `dw` and velocities `v` lie in the same order, and
# `decays` (P,) has the weight decay of each parameter, which is 0 for biases.
#
# One kernel updates them all, in place: `v = momentum * v - lr * (dw + decay * w)`, then `w += v`. Blocks have 64
# threads, and there is a thread for each element. A block may belong to several parameters, so each thread finds out to
# which one its element belongs. The budget: P + 5 loads an element; two stores; stores of neighbouring threads in as
# few sectors as neighbours need; nothing in float64.
#
# Specification, for each parameter p with `part = slice(starts[p], starts[p + 1])`:
# `v[part] = momentum * v[part] - lr * (dw[part] + decays[p] * w[part]); w[part] += v[part]`
#
# <details><summary>Hint 1</summary>
#
# `p = 0`, and as long as `i >= starts[p + 1]` the element belongs to a later one.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Load `w[i]` into a variable, since you need it twice, and the new velocity too. `lr` and `momentum` are float32
# already.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Everything stands below `if i < w.size:`. In the end `v[i] = step` and `w[i] = weight + step`.
#
# </details>

# %% exercise="16.9"
@gpu.jit
def update_all(w, dw, v, starts, decays, lr, momentum):
    """Update w and v (n,) in place by gradients dw (n,); parameter p has the elements starts[p] to starts[p + 1]."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < w.size:
        p = 0
        while i >= starts[p + 1]:
            p += 1
        weight = w[i]
        step = momentum * v[i] - lr * (dw[i] + decays[p] * weight)
        v[i] = step
        w[i] = weight + step
    ### END SOLUTION


# %% check="16.9"
check("16.9", update_all)
