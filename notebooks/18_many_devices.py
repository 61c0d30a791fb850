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
# # 18 · Many devices: are two twice as fast?
#
# The largest networks are trained by thousands of graphics cards at the same time, since one card would need
# centuries. So take lesson 09's LeNet-5, which reads digits, and give it more cards. Every card computes its part of a
# batch, and then all of them need the sum of their gradients. Two cards, half the time? Move the slider and find the
# number of cards with which a step is done soonest, on each of the three links. Is it the same for both ways to sum?

# %% tags=["hide-input", "nbval-ignore-output"]
import tempfile
import time
from pathlib import Path

import numpy as np

from course_lib import data, fast, figures, nn, parallel
from course_lib import reference as ops
from course_lib.cluster import Cluster, Link, all_reduce_seconds, compared, step
from course_lib.cluster.workloads import lenet5, transformer
from course_lib.figures.bucket_rows import sent_when
from course_lib.figures.shared_steps import DEVICES, shared
from course_lib.lesson import alexnet, backward_layers, measured, predict, rank_steps, table
from course_lib.opencl.shares import best_share
from course_lib.parallel.trials import grid, run_trials

LENET = lenet5()
GRADIENTS = LENET.nbytes
LINKS = [Link("0.125 GB/s", 50e-6, 0.125e9), Link("12.5 GB/s", 20e-6, 12.5e9), Link("450 GB/s", 4e-6, 450e9)]
figures.shared_step(LENET, LINKS, (4096, 1024), start=2)

# %% [markdown]
# Over the slowest link, an office cable, one card alone is quicker than any number of them. Over the fastest one, which
# joins the cards inside of a machine, a ring of 64 cards is slower than a ring of 4. What stands in the way is the sum.
# How it is made, what it costs, how to hide it, and what else keeps a thousand devices from being a thousand times as
# fast: that is this page.
#
# ## You will be able to
#
# - share a training among several devices so that the result is that of one, and say what has to be weighted;
# - count the messages and bytes of a sum over all devices, made in three ways, and find a deadlock before it happens;
# - predict from a batch, a link and a number of devices whether sharing is worth it, and name what limits it;
# - cut the network instead of the batch, and say what crosses the cut; lose a device, and go on to the same bits.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows a line of Prof. Dey's course plan at IIT Kharagpur, parallel and distributed processing, and a figure of
# Prof. Owens' lecture 11 at UC Davis, the filters of AlexNet. You need lessons 06 and 09, and 16 for the word *step*.
#
# Nothing has to be installed, and you need neither a cluster nor a GPU: the devices are threads of one Python process,
# with the same messages as real ones. Where MPI is installed (`python -m pip install -e '.[mpi]'`), `course ranks -n 4
# script.py` runs the same functions as processes; `course doctor` says whether it works. Times of computing in the
# figures were measured on the devices that are named; times of messages follow from a formula, with links whose rates
# are those on the box and whose latencies are round numbers. Reading and trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## A program that runs four times
#
# Programs for many devices are written in a way that looks strange at first. There is *one* function, and it is run
# several times at once. Each run is called a **rank**. A rank knows how many there are, and its own number; in that
# number alone it differs from the others.

# %%
def who_am_i(world):
    return f"rank {world.rank} of {world.size}"

parallel.run(who_am_i, 4)

# %% [markdown]
# Here the four are threads. With `engine="mpi"` they would be four processes, on one machine or on four; with
# `engine="nccl"` four graphics cards. The function would not know. It sees a `world`, with which it can send an array
# to another rank, and receive one:

# %%
def pass_on(world):
    box = np.array([10.0])
    if world.rank == 0:
        world.send(box, 1)
    else:
        world.receive(box, 0)  # into the array, in place
        box += world.rank
    return float(box[0])

parallel.run(pass_on, 2)

# %% [markdown]
# That is all there is: no rank looks into another one's memory. (Threads could; processes cannot, and cards even less.)
# Everything below is made of such messages. In 1994 forty organisations that built and used large computers agreed on
# one interface for them, the **Message-Passing Interface**, MPI.[^MPI Forum "MPI: A Message-Passing Interface Standard,
# 1.0"]
#
# ## One batch, several ranks
#
# How can ranks train together? The simplest way is called **data parallel**. All ranks have the same network, and each
# takes some rows of the batch. This function computes the gradient of a network for some rows, as one long vector:

# %%
digits = data.load_digits(seed=0)
x, y = digits.x_train[:90], digits.y_train[:90]

def gradient_of(rows, ops=ops):
    net = nn.models.mlp((784, 32, 10), rng=np.random.default_rng(0), ops=ops)  # the same weights each time
    _, cache = net.ops.softmax_cross_entropy_forward(net.forward(x[rows]), y[rows])
    net.zero_grad()
    net.backward_parameters(net.ops.softmax_cross_entropy_backward(cache))
    return np.concatenate([gradient.ravel() for gradient in net.gradients().values()])

def off_by(gradient):
    whole = gradient_of(slice(0, 90))
    return np.linalg.norm(gradient - whole) / np.linalg.norm(whole)

# %% [markdown]
# Three ranks, 30 rows each. `all_reduce` leaves the sum over all ranks in the array of every one of them. Divide it by
# the number of ranks, and compare it with the gradient of all 90 rows that a single rank computes:

# %%
def share_evenly(world):
    gradient = gradient_of(slice(30 * world.rank, 30 * world.rank + 30))
    world.all_reduce(gradient)
    return off_by(gradient / world.size)

print("within rounding:", max(parallel.run(share_evenly, 3)) < 1e-6)

# %% [markdown]
# It has to be so. The loss is a mean over the rows, and so is its gradient; and a mean over 90 rows is the mean of
# three means over 30 rows each. With equal gradients all ranks make the same step, and their weights stay equal
# without ever being sent.
#
# Now the devices are not equally fast, and the batch is cut unevenly: 5 rows for rank 0, 25 for rank 1, 60 for rank 2.

# %% tags=["hide-input"]
uneven = predict(
    "The three gradients are added and divided by 3, as before. What comes out?",
    ["the gradient of the batch, up to rounding", "half of it: the ranks differ too much",
     "another direction: some rows count more than others", "an error: the shapes differ"],
    answer="another direction: some rows count more than others",
    reveals=2,
)  # fmt: skip
uneven

# %% tags=["hide-output", "hide-input"]
# Divided by three, and weighted.
CUTS = [0, 5, 30, 90]

def share_unevenly(world, weighted):
    first, last = CUTS[world.rank : world.rank + 2]
    weight = (last - first) / 90 if weighted else 1 / 3
    gradient = weight * gradient_of(slice(first, last))
    world.all_reduce(gradient)
    return off_by(gradient)

wrong = max(parallel.run(lambda world: share_unevenly(world, weighted=False), 3))
right = max(parallel.run(lambda world: share_unevenly(world, weighted=True), 3))
print(f"divided by 3: off by {wrong:.0%} of its length; weighted by rows, within rounding: {right < 1e-6}")

# %% [markdown]
# <details class="reveal"><summary>A mean of means</summary>
#
# The five rows of rank 0 get a third of all the weight, as much as the sixty of rank 2: each of them counts twelve
# times as much. The gradient is wrong by as much as its own length. Nothing fails, and the loss goes down somehow; it
# is one of the mistakes that nobody notices for months. A rank with $B_r$ of the $B$ rows has to count $B_r / B$:
#
# $$\nabla L = \sum_r \frac{B_r}{B}\,\nabla L_r .$$
#
# Even cutting evenly needs it: 90 rows on four ranks are 22, 23, 22 and 23. (If the loss is a sum over rows and not a
# mean, nothing is weighted. Mix the two up, and the gradient has another length, which acts like another rate.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
assert wrong > 0.5
assert right < 1e-6
assert max(parallel.run(share_evenly, 3)) < 1e-6
uneven.confirm("another direction: some rows count more than others")

# %% [markdown]
# `nn.train` does all this if it is given a world: it cuts every batch, weights, sums, and steps. Same network, same
# generators, four epochs, with one rank and with four:

# %%
def train(world=None, **more):
    net = nn.models.mlp((784, 32, 10), rng=np.random.default_rng(0))
    settings = {"epochs": 4, "batch_size": 50, "lr": 0.1, "momentum": 0.9, "progress": False, **more}
    small = digits.x_train[:600], digits.y_train[:600]
    history = nn.train(net, small, rng=np.random.default_rng(1), world=world, **settings)
    return history.loss, np.concatenate([p.ravel() for p in net.parameters().values()])

alone, four = train(), parallel.run(train, 4)

# %% tags=["hide-input", "nbval-ignore-output"]
# Losses of one rank and of four.
table(
    [(k, a, b, f"{abs(b / a - 1):.0e}") for k, (a, b) in enumerate(zip(alone[0], four[0][0], strict=True))],
    ["epoch", "one rank", "four ranks", "difference"],
)

# %% tags=["continued"]
print("the same bits on all four ranks:", all(np.array_equal(weights, four[0][1]) for _, weights in four))

# %% [markdown]
# The losses differ in the last digits only, since float32 numbers were added in another order. And the four ranks
# agree in every bit. They must: if a bit differed, their weights would slowly drift apart, and nothing would pull them
# together again.
#
# ## How is a sum over all ranks made?
#
# Everything rests on this one operation, the **all-reduce**. Its most obvious form: everybody sends to rank 0, which
# adds, and sends the sum back to everybody.

# %%
def all_to_one(world, array):
    if world.rank > 0:
        world.send(array, 0)
        world.receive(array, 0)
        return
    part = np.empty_like(array)
    for source in range(1, world.size):
        world.receive(part, source)
        array += part
    for to in range(1, world.size):
        world.send(array, to)

# %% tags=["hide-input"]
# Every rank ends with the sum of all.
def sum_of_ranks(world):
    array = np.full(12, float(world.rank))
    all_to_one(world, array)
    return array

assert all(np.array_equal(array, np.full(12, 28.0)) for array in parallel.run(sum_of_ranks, 8))

# %% [markdown]
# It is right, and rank 0 is to be pitied. With 1,000 ranks it receives 999 arrays one after the other, and sends as
# many. Can the work be spread, so that no rank is worse off than the others?

# %% tags=["hide-input"]
ring = predict(
    "Each of 1,000 ranks has an array of S bytes, and all want the sum. In the best way that is known, how much does "
    "each rank send?",
    ["about S / 1,000", "about 2 S", "about 10 S", "about 999 S"],
    answer="about 2 S",
    reveals=2,
)
ring

# %% tags=["hide-output", "hide-input"]
# Three ways, step by step.
figures.all_reduce_steps((4, 8))

# %% [markdown]
# <details class="reveal"><summary>In a ring, a part at a time</summary>
#
# Watch a single row of the ring. A part of the array starts at one rank and goes round; every rank adds its own and
# hands it on. Since there are as many parts as ranks, all links are busy in every step. After $n - 1$ steps each rank
# has the whole sum of one part, and after $n - 1$ more steps the finished parts have gone round, too, as copies: that
# is why all ranks have the same bits. (A tree adds pairs, then pairs of pairs, and hands the sum back the same way.)
# Each rank has sent $2 (n - 1)$ parts of $S / n$ bytes:
#
# $$2\,\frac{n - 1}{n}\,S < 2\,S,$$
#
# however many ranks there are. As long as only ranks add, the busiest of them cannot do with less.[^Patarasuk and Yuan
# 2009 "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations"
# https://doi.org/10.1016/j.jpdc.2008.09.002] The ring's price: $2(n-1)$ messages follow one another, 14 with 8 ranks,
# where a tree needs 6; 2,046 with 1,024 ranks, where it needs 20. So for small arrays, where the bytes hardly matter
# and every message has its delay, a tree is quicker. (There are ways that have both, halving the array in each step,
# and switches that add what passes through them.[^Thakur, Rabenseifner and Gropp 2005 "Optimization of Collective
# Communication Operations in MPICH" https://doi.org/10.1177/1094342005051521] Libraries choose by size.)
#
# </details>

# %% [markdown]
# The library has all three, and counts what is sent. Here are 8 ranks with the gradients of LeNet-5:

# %%
def sent_by(way):
    def work(world):
        gradients = np.ones(GRADIENTS // 4, np.float32)
        world.all_reduce(gradients, way)
        return world.traffic

    return parallel.run(work, 8)

# %% tags=["hide-input"]
# Messages and bytes, as counted.
ways = {"all_to_one": parallel.all_to_one, "tree": parallel.tree, "ring": parallel.ring}
counted = {way: sent_by(way) for way in ways}
table(
    [(way.replace("_", " "), sum(t.messages for t in sent), ways[way].steps(8), max(t.bytes for t in sent) / GRADIENTS,
      min(t.bytes for t in sent) / GRADIENTS) for way, sent in counted.items()],
    ["way", "messages", "steps", "the busiest rank sends, S", "the laziest rank sends, S"],
    formats={"the busiest rank sends, S": ".2f", "the laziest rank sends, S": ".2f"}, align="lrrrr",
    caption=f"An all-reduce of S = {GRADIENTS:,} bytes over 8 ranks, counted",
)  # fmt: skip

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
largest = max(t.bytes for t in counted["ring"]) / GRADIENTS
assert round(largest, 2) == 1.75
assert round(2 * 999 / 1000) == 2
ring.confirm("about 2 S")

# %% [markdown]
# ## Everybody sends first
#
# A ring is easy to get wrong. Here is a first attempt at one step of it: send to the right, receive from the left.

# %%
def hand_on(world, count):
    mine, theirs = np.full(count, world.rank), np.empty(count, int)
    world.send(mine, (world.rank + 1) % world.size)
    world.receive(theirs, (world.rank - 1) % world.size)
    return int(theirs[0])

# %% [markdown]
# If all goes well, rank 0 returns 3, since its left neighbour is the last rank, and every other rank the number before
# its own. We run it twice: once with three numbers, and once with as many as a real gradient has. As in most systems, a
# message of up to 64 kB may wait in a buffer until it is received.

# %% tags=["hide-input"]
first = predict(
    "Four ranks run `hand_on` with 3 numbers, and then with 60,000. What happens?",
    ["it works both times", "rank 0 gets a wrong number", "all wait for ever, both times",
     "it works with 3, and all wait for ever with 60,000"],
    answer="it works with 3, and all wait for ever with 60,000",
    reveals=2,
)
first

# %% tags=["hide-output", "hide-input"]
# With 3 numbers, and with 60,000.
print(parallel.run(lambda world: hand_on(world, 3), 4, buffer=64_000))
try:
    parallel.run(lambda world: hand_on(world, 60_000), 4, buffer=64_000)
except parallel.RankError as error:
    print(error)

# %% [markdown]
# <details class="reveal"><summary>Who takes a message before anybody receives?</summary>
#
# A send may return as soon as the message lies in a **buffer**, or only when the receiver has taken it. MPI leaves that
# open,[^MPI Forum "MPI: A Message-Passing Interface Standard, Communication Modes"] and libraries decide by size: a
# small array is copied into a buffer, a large one waits for its receiver. So the program passes every test with three
# numbers, and hangs on the first real gradient. There everybody sends, nobody receives, and each rank waits for its
# neighbour, all round the circle: a **deadlock**. The course's threads notice it at once and name the circle. Most
# systems just stand still. The cure is `world.exchange(...)`, which sends and receives at the same time.
#
# A second rule: all ranks call the same collective operations in the same order. `if world.rank == 0:
# world.all_reduce(...)` is worse than a deadlock. Rank 0's extra sum meets the *next* sum of the others, all sums after
# it are wrong, and nothing fails until the end.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed: right with buffers, a circle of four without.
assert parallel.run(lambda world: hand_on(world, 3), 4, buffer=64_000) == [3, 0, 1, 2]
try:
    parallel.run(lambda world: hand_on(world, 60_000), 4, buffer=64_000)
except parallel.RankError as error:
    circle = str(error)
assert all(f"rank {r} waits (send of int64 (60000,) to rank {(r + 1) % 4})" in circle for r in range(4))
first.confirm("it works with 3, and all wait for ever with 60,000")

# %% [markdown]
# ## While the backward pass goes on
#
# The sum can be hidden. The backward pass begins at the last layer, so the last layer's gradients are done first, long
# before those of the first one. They can be on their way while the rest is computed. Here is the backward pass of
# LeNet-5, as it was measured. The layers without weights send nothing.

# %% tags=["hide-input"]
# LeNet-5's backward pass, layer by layer.
layers = backward_layers("LeNet-5")
late = sum(one.nbytes for one in layers if "Conv2d 1 " in one.name or "Conv2d 6 " in one.name)
spent = sum(one.seconds for one in layers[:6]) / sum(one.seconds for one in layers)
table(
    [(one.name, 1e6 * one.seconds, one.nbytes) for one in layers], ["layer", "µs", "bytes of gradients"],
    formats={"µs": ".0f", "bytes of gradients": ",d"}, align="lrr",
    caption="From the last layer to the first; 64 digits, two cores of an AMD EPYC",
)  # fmt: skip

# %% [markdown]
# The three layers with nearly all the weights take an eighth of the time, and they come first. The two convolutions at
# the beginning of the network take most of the time and have hardly any weights.

# %% tags=["hide-input"]
hide = predict(
    "Over a link of 1 GB/s the sum of all 246,824 bytes takes about 300 µs. If gradients leave in pieces of 128 KiB or "
    "more, as soon as these are complete: how much of the 300 µs is still left when the backward pass has ended?",
    ["all of it", "about half", "less than a quarter", "nothing at all"],
    answer="less than a quarter",
    reveals=2,
)
hide

# %% tags=["hide-output", "hide-input"]
# The same bytes, sent at other times.
BUCKETS = {"all at the end": 1 << 30, "in buckets of 128 KiB": 128 << 10, "each layer alone": 1}
timeline = figures.bucket_timeline(
    layers, BUCKETS, latency=50e-6, rates=[0.1e9, 0.25e9, 0.5e9, 1e9, 2.5e9, 10e9],
    about="50 µs for each sum before its bytes count.",
)  # fmt: skip
timeline

# %% [markdown]
# <details class="reveal"><summary>Not too late, and not too small</summary>
#
# Most of it is hidden, except for what the first layers have. Those come last, and there is nothing left to hide them
# behind. Here each layer alone would do as well, since four of its five sums are hidden, too. But a network with a
# hundred layers would have a hundred sums, each with its own delay. So gradients are gathered in **buckets**, large
# enough that a delay does not matter, and small enough that the first one leaves early. The common libraries do just
# that.[^Li 2020 "PyTorch Distributed: Experiences on Accelerating Data Parallel Training"
# https://arxiv.org/abs/2006.15704] So does `nn.train`, with a thread beside the main one that does nothing but sum.
#
# Try the slowest link, too. There the sum is longer than the whole backward pass. Hiding saves 0.8 ms there, but 1.7 ms
# are left: what does not fit behind the backward pass stands in front of the next step.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the same rule.
backward_pass = sum(one.seconds for one in layers)
left = {name: sent_when(layers, size, 50e-6, 1e9)[-1][2] - backward_pass for name, size in BUCKETS.items()}
assert 0 < left["in buckets of 128 KiB"] < left["all at the end"] / 4
assert late / GRADIENTS < 0.05
assert spent < 0.2
hide.confirm("less than a quarter")

# %% [markdown]
# ## When does the network cost more than it gives?
#
# Two numbers describe a link. A message of $b$ bytes takes $\alpha + b / \beta$: first the **latency** $\alpha$,
# however short the message is, then its bytes at the **rate** $\beta$.[^Hockney 1994 "The communication challenge for
# MPP" https://doi.org/10.1016/S0167-8191(06)80021-9] In a ring $2 (n - 1)$ messages of $S / n$ bytes follow one
# another, so a step takes
#
# $$T(n) = t(B / n) + 2 (n - 1) \left( \alpha + \frac{S}{n \beta} \right),$$
#
# where $t(b)$ is the time for $b$ rows on one device. The first term falls with $n$, as long as there is enough to
# divide. The second one rises: first by the bytes, which soon come near $2 S / \beta$ and stay there, then by $2
# \alpha$ for each device more, without end. In a tree the bytes go on to rise, by $2 S / \beta$ for each doubling, and
# the delays rise by $2 \alpha$ for each doubling only. Somewhere there is a best number:

# %% tags=["hide-input"]
# Steps of 4,096 images, by link.
steps = {(link.name, by): {n: sum(shared(LENET, 4096, n, link, by)) for n in DEVICES}
         for link in LINKS for by in ("ring", "tree")}  # fmt: skip
best = {key: min(found, key=found.get) for key, found in steps.items()}
gains = {key: found[1] / found[best[key]] for key, found in steps.items()}
table(
    [(link.name, 1e6 * link.latency, best[link.name, "ring"], gains[link.name, "ring"], best[link.name, "tree"],
      gains[link.name, "tree"]) for link in LINKS],
    ["link, β", "α, µs", "ring: best with", "gain", "tree: best with", "gain"],
    formats={"α, µs": ".0f", "gain": ".1f"}, align="lrrrrr",
    caption="LeNet-5, 4,096 images a step, nothing hidden behind the backward pass",
)  # fmt: skip

# %% [markdown]
# But the formula has two terms. Take the second one away, and suppose that the link were perfect: $\alpha = 0$ and
# $\beta$ infinite. And take the batch of 64 that we have used since lesson 06.

# %% tags=["hide-input"]
strong = predict(
    "A batch of 64 digits, cut among 8 cards, and a sum of gradients that takes no time at all. How many times as fast "
    "as one card?",
    ["8 times", "about 4 times", "about 2 times", "about as fast as one"],
    answer="about as fast as one",
    reveals=2,
)
strong

# %% tags=["hide-output", "hide-input"]
# What one card needs for a batch, as measured.
by_batch = measured("steps of LeNet-5 by batch", card="h200")
table(
    [(rows, 1e6 * s, 1e6 * s / rows) for rows, s in LENET.compute.points], ["images", "µs a step", "µs an image"],
    formats={"µs a step": ".0f", "µs an image": ".2f"},
    caption=f"A recorded step of LeNet-5 on one {by_batch.card} ({by_batch.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Eight images take as long as 64</summary>
#
# A card computes thousands of numbers at the same time. With 64 digits most of it is idle, as lesson 16 has shown, and
# a step is 70 kernels of which each has its own beginning and end. To take work away from a card that has too little of
# it saves nothing. So a fixed batch on ever more devices, which is called **strong scaling**, ends early, with any
# link. The other way is **weak scaling**: each device keeps as many rows as it had, and the batch grows with the
# number of devices. There the time of a step stays nearly the same, and more images are learned from in it.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
gain = LENET.seconds(64) / LENET.seconds(8)
assert 0.9 < gain < 1.15
assert best["0.125 GB/s", "ring"] == 1
strong.confirm("about as fast as one")

# %% [markdown]
# And without any card? Here are two processes with a core each, joined by MPI. The network is lesson 06's, with 784,
# 128 and 10 neurons. With 64 digits a step takes one process 0.29 ms, and the sum of two gradients of 407 kB takes 0.05
# ms.

# %% tags=["hide-input"]
laptop = predict(
    "Two processes with 32 digits each, and then the sum. How long does a step take?",
    ["0.15 ms, half of it", "0.20 ms, half and the sum", "0.26 ms", "0.33 ms: longer than alone"],
    answer="0.33 ms: longer than alone",
    reveals=2,
)
laptop

# %% tags=["hide-output", "hide-input"]
# Two cores, as measured.
ranks = rank_steps("amd-epyc")
nets = [(net, batch) for net in ("MLP 784-128-10", "LeNet-5") for batch in (64, 512)]
ms = {case: [1e3 * s for s in (ranks.seconds[*case, 1, "alone"], ranks.seconds[*case, 2, "alone"],
      ranks.together(*case, 2), ranks.seconds[*case, 1, "none"])] for case in nets}  # fmt: skip
COLUMNS = ["one process", "half its digits", "two, with the sum", "one, both cores"]
table(
    [(f"{net.split()[0]}, {batch}", *ms[net, batch], ranks.gain(net, batch, 2)) for net, batch in nets],
    ["digits", *COLUMNS, "gain"], formats=dict.fromkeys(COLUMNS, ".2f") | {"gain": ".1f"}, align="lrrrrr",
    caption=f"Milliseconds, the quickest step of a run; two cores of an {ranks.processor} ({ranks.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Half a batch is not half the time</summary>
#
# 32 digits take 0.24 ms where 64 take 0.29 ms: a step is a few dozen calls of small operations, and each has a
# beginning and an end that do not shrink with the batch. It is the card's story once more, only smaller. Then comes the
# sum, and whoever is first waits for the other. With 512 digits there is something to share, and LeNet-5 becomes 1.7
# times as fast.
#
# Hiding the sum behind the backward pass makes a step *slower* here, 2.1 ms instead of 1.7 with LeNet-5 and 64 digits,
# since the thread that sums has no core of its own. And could one process not use both cores by itself? That is the
# column *one, both cores*: some of its operations are shared among threads. In one row that is as good as two
# processes; in the other three it brings nothing, or costs a little. Two ranks share *everything* that there is to do.
# And threads stop at the edge of the machine; beyond it one needs ranks.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
one, half, both, _ = ms["MLP 784-128-10", 64]
assert both > one > half > one / 2
assert ranks.gain("LeNet-5", 512, 2) > 1.6
laptop.confirm(f"{both:.2f} ms: longer than alone")

# %% [markdown]
# ## A larger batch is another training
#
# So let every rank keep its rows, and the batch grow. Is that still the same training? One rank trains with batches of
# 32 and the rate 0.1. With eight ranks of 32 rows each the batch has 256, and an epoch has an eighth of the steps.

# %%
def loss_after(batch_size, lr, epochs=5):
    net = nn.models.mlp((784, 64, 10), rng=np.random.default_rng(0))
    fit = digits.x_train[:3200], digits.y_train[:3200]
    settings = {"epochs": epochs, "batch_size": batch_size, "lr": lr, "progress": False}
    return nn.train(net, fit, rng=np.random.default_rng(1), **settings).loss[-1]

small_batch, large_batch = loss_after(32, 0.1), loss_after(256, 0.1)

# %% tags=["hide-input"]
rate = predict(
    "Batches of 32 with the rate 0.1 have reached a loss of about 0.2 after five epochs, batches of 256 with the same "
    "rate only 0.6. Which rate brings the large batches nearest to 0.2?",
    ["0.0125, an eighth", "0.1, the same: only patience helps", "0.28, √8 times as large", "0.8, 8 times as large"],
    answer="0.8, 8 times as large",
    reveals=2,
)
rate

# %% tags=["hide-output", "hide-input", "nbval-ignore-output"]
# Losses after five epochs.
RATES = {"0.0125, an eighth": 0.0125, "0.28, √8 times as large": 0.1 * 8**0.5, "0.8, 8 times as large": 0.8}
losses = {name: loss_after(256, lr) for name, lr in RATES.items()}
too_far = {(1024, 3.2): loss_after(1024, 3.2), (32, 3.2): loss_after(32, 3.2)}
table(
    [(32, 0.1, small_batch), (256, 0.1, large_batch), *((256, RATES[name], loss) for name, loss in losses.items()),
     *((batch, lr, loss) for (batch, lr), loss in too_far.items())],
    ["batch", "rate", "loss after five epochs"], formats={"rate": ".3g", "loss after five epochs": ".2f"},
    caption="3,200 digits, a network of 784, 64 and 10 neurons, no momentum",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>As many times the rate as the batch</summary>
#
# Eight small steps go along eight gradients, each a mean over 32 rows. If the weights hardly change meanwhile, one step
# along the mean over all 256 rows, eight times as long, ends at nearly the same place. That is the **linear scaling
# rule**. With it, and with a gentle start in the first epochs, ImageNet was learned in an hour on 256 cards, with
# batches of 8,192 images.[^Goyal 2017 "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour"
# https://arxiv.org/abs/1706.02677]
#
# The rule stands on that "if". A rate of 0.8 is not quite as good as 0.1 with small batches, and the last rows of the
# table show the end of it. A rate of 3.2 overshoots, and after five epochs the loss is about where it began, at 2.3. It
# is too much for batches of 32 as well: the largest rate that works is set by the network, and a larger batch hardly
# raises it. So there is a largest batch that is worth while. Where it lies depends on the network and on the data.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
tried = {**losses, "0.1, the same: only patience helps": large_batch}
assert min(too_far.values()) > 3 * small_batch
assert large_batch > 2 * small_batch
rate.confirm(min(tried, key=lambda name: abs(tried[name] - small_batch)))

# %% [markdown]
# ## What does not shrink
#
# Gene Amdahl, the chief architect of IBM's System/360, doubted in 1967 that many processors could ever do much for one
# problem.[^Amdahl 1967 "Validity of the single processor approach to achieving large scale computing capabilities"
# https://doi.org/10.1145/1465482.1465560] If a share $f$ of the work cannot be divided, $n$ devices are
#
# $$\frac{1}{f + (1 - f) / n}$$
#
# times as fast as one. In a training, $f$ is what every rank does in full, such as making the step with all weights and
# launching kernels, or what one does while the others wait, such as writing a checkpoint.

# %% tags=["hide-input"]
amdahl = predict(
    "2 % of a step cannot be divided. How many times as fast as one are 1,000 devices?",
    ["980 times", "500 times", "about 50 times", "about 20 times"],
    answer="about 50 times",
    reveals=2,
)
amdahl

# %% tags=["hide-output"]
def times_as_fast(f, n):
    return 1 / (f + (1 - f) / n)

print([round(times_as_fast(0.02, n), 1) for n in (10, 50, 100, 1_000, 1_000_000)])

# %% [markdown]
# <details class="reveal"><summary>Never more than 1 / f</summary>
#
# With endless devices the divided part takes no time, and the 2 % stay: fifty times, and no more. A hundred devices get
# 34 times already; the other 900 raise it to 48. Why do people buy them? Because they do not keep the problem as it is.
# With a thousand devices one trains a larger network on more data, and the part that is divided grows, while the rest
# hardly does.[^Gustafson 1988 "Reevaluating Amdahl's Law" https://doi.org/10.1145/42411.42415]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the formula.
amdahl.confirm(f"about {10 * round(times_as_fast(0.02, 1000) / 10)} times")

# %% [markdown]
# And there is a limit that no formula of averages shows. All wait for the slowest. Suppose that each device needs 10 ms
# for its part of a step, and then a little more, since something else ran on its host, or a message came late. It is
# 1 ms more on average: mostly less, now and then several.

# %% tags=["hide-input"]
straggle = predict(
    "1,000 such devices train together. How long does a step take, on average?",
    ["about 10 ms", "about 11 ms", "about 17 ms", "about 1,000 ms"],
    answer="about 17 ms",
    reveals=2,
)
straggle

# %% tags=["hide-output"]
rng = np.random.default_rng(0)

def mean_step(devices, steps=2_000):
    times = 10 + rng.exponential(1.0, (steps, devices))  # ms: mostly little more than 10, now and then much
    return float(times.max(axis=1).mean())  # a step is done when the last one is

spread = {n: mean_step(n) for n in (1, 10, 100, 1000)}
print({n: round(t, 1) for n, t in spread.items()})

# %% [markdown]
# <details class="reveal"><summary>Somebody is always unlucky</summary>
#
# Each device alone needs 11 ms. But of a thousand, one nearly always has a bad moment. The largest of $n$ delays like
# these (exponentially distributed) is $1 + 1/2 + \dots + 1/n$ on average, about $\ln n + 0.58$ times a single one. A
# device that is late is called a **straggler**. Two remedies are spare devices, whose results are used if others are
# late, and hosts on which nothing else runs.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was drawn.
straggle.confirm(f"about {int(spread[1000])} ms")

# %% [markdown]
# Here is one to look at. Four ranks sum ten times, and rank 2 sleeps for 20 ms before each sum. How long does everybody
# wait in `all_reduce`?

# %% tags=["nbval-ignore-output"]
def with_straggler(world):
    array, waited = np.ones(1000), 0.0
    for _ in range(10):
        if world.rank == 2:
            time.sleep(0.02)
        begun = time.perf_counter()
        world.all_reduce(array, "tree")
        waited += time.perf_counter() - begun
    return round(1e3 * waited)

dict(enumerate(parallel.run(with_straggler, 4)))  # rank: ms

# %% [markdown]
# The one that waits least is the one to look at. On a cluster, that is how one finds the sick device among thousands.
#
# ## A rank dies
#
# A device that fails once in ten years seems reliable. Of 10,000 of them, about three fail every day. So it is not the
# question whether a rank dies during a long training, but what happens then. Here rank 2 loses its disk after the
# second epoch. Every epoch is kept in a checkpoint.

# %%
folder = Path(tempfile.mkdtemp())
kept = folder / "training.npz"

def loses_its_disk(world):
    def after(epoch, history):
        if world.rank == 2 and epoch == 1:
            raise OSError("the disk is gone")
    return train(world, checkpoint=kept, on_epoch=after)

# %% [markdown]
# What do the other ranks see? We ask rank 0; and `run`, which has started them all, raises what has really happened.

# %% tags=["nbval-ignore-output"]
def seen_by_rank_0(world):
    try:
        loses_its_disk(world)
    except parallel.RankError as error:
        if world.rank == 0:
            print(error)

try:
    parallel.run(seen_by_rank_0, 4)
except OSError as error:
    print("\n`run` raises:", repr(error))

# %% [markdown]
# In the figure of the three ways, let rank 2 stop and step on: one more rank waits in each step of the ring, until all
# do. Here, too, all came to wait, but they were not left alone with it. Rank 0 was told within milliseconds, and so
# were the others: which rank it was, what happened to it, who waited for what, and what to do. (With processes it takes
# about half a second, also if a rank was killed and could say nothing; a rank that hangs is named after `patience`
# seconds.) Without such a message the other three would have waited: until somebody looks, or until some limit of many
# minutes is over. With 10,000 cards that is expensive.
#
# Now the training is started again, and goes on from the file.

# %% tags=["hide-input"]
resume = predict(
    "The training goes on from weights as they were after an epoch. What else must the checkpoint hold, so that the "
    "end is the same, bit for bit?",
    ["nothing", "the optimiser's memory", "the generator's state", "both of these"],
    answer="both of these",
    reveals=2,
)
resume

# %% tags=["hide-output"]
again = parallel.run(lambda world: train(world, checkpoint=kept, resume=True), 4)
print("the bits of the training that nothing happened to:", np.array_equal(again[0][1], four[0][1]))
print("what was kept:", *np.load(kept).files)

# %% [markdown]
# <details class="reveal"><summary>All that the next step depends on</summary>
#
# The next step depends on the velocities of the momentum; the next order of the rows depends on the generator. (And a
# dropout layer has a generator of its own; early stopping needs the history.) `nn.train(..., checkpoint=...)` writes
# them all, beside the old file, which is replaced only when the new one is whole. So the end is the same, to the last
# bit, as if nothing had happened. That is worth more than it seems: it is how one knows that *nothing* was forgotten.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed: the same bits, and losses of all four epochs.
assert np.array_equal(again[0][1], four[0][1])
assert again[0][0] == four[0][0]
resume.confirm("both of these")

# %% [markdown]
# ## What has to fit into a device
#
# So far every rank has held everything: weights, gradients, and the optimiser's memory. With momentum these are 12
# bytes a weight. GPT-2, the language model of 2019, needs 19 GB for its 1.5 thousand million weights, GPT-3 of 2020 a
# hundred times as much, and a card has 141 GB. Does every rank need all of it?
#
# Look at the ring once more. After its first half each rank has the whole sum of *one* part; this half is called
# **reduce-scatter**. The second half hands the parts round, **all-gather**. Here is a step of momentum that is made
# between the two:

# %%
def sharded_step(world, weights, gradient, velocity):
    mine = parallel.ring.reduce_scatter(world, gradient)  # the part whose whole sum is here
    velocity[:] = 0.9 * velocity + gradient[mine] / world.size
    weights[mine] -= 0.1 * velocity  # each rank steps with its own part,
    parallel.ring.all_gather(world, weights)  # and weights go round instead of gradients

# %% tags=["hide-input"]
# Ten such steps of four ranks, beside ten of one.
def ten_steps(world):
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(61_706).astype(np.float32)
    velocity = np.zeros_like(weights[parallel.ring.own(world, weights.size)])
    for _ in range(10):
        gradients = rng.standard_normal((4, weights.size)).astype(np.float32)
        sharded_step(world, weights, gradients[world.rank], velocity)
    return weights, velocity.size, world.traffic.bytes / 10

def ten_steps_alone():
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(61_706).astype(np.float32)
    velocity = np.zeros_like(weights)
    for _ in range(10):
        velocity = 0.9 * velocity + rng.standard_normal((4, weights.size)).astype(np.float32).mean(axis=0)
        weights -= 0.1 * velocity
    return weights

sharded, one_alone = parallel.run(ten_steps, 4), ten_steps_alone()
print("the weights of one rank, within rounding:", all(np.allclose(w, one_alone, atol=1e-5) for w, _, _ in sharded))
print("velocities that a rank keeps:", [kept for _, kept, _ in sharded], "of", one_alone.size)
print(f"a rank sends {sharded[0][2] / one_alone.nbytes:.2f} S a step, as before")

# %% [markdown]
# Nothing more is sent than in an all-reduce, and each of $n$ ranks keeps only $1/n$ of the velocities. Gradients and
# weights can be kept in parts, too, if every layer's weights are gathered when it is their turn and thrown away
# afterwards; then a rank sends $3 S$ instead of $2 S$. Large networks have been trained like this since 2020, mostly
# together with the cuts below.[^Rajbhandari 2020 "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models"
# https://arxiv.org/abs/1910.02054] Its names are ZeRO and *fully sharded data parallel*.
#
# What is left is the memory for a batch: what the layers remember for the way back. Against that one can remember less
# and compute it again when it is needed, or add up the gradients of several small batches before a step.

# %% [markdown]
# ## Cutting the network instead
#
# In 2012 a graphics card had 3 GB. Alex Krizhevsky's network, **AlexNet**, did not fit, with all that its layers
# remember for a batch. So he cut the *network* in two, from the top to the bottom. Each card had half of the maps of
# each layer, and the two exchanged maps in some layers only.[^Krizhevsky 2012 "ImageNet Classification with Deep
# Convolutional Neural Networks, 3.2 and 3.5"] This is **model parallel**, and a layer that is cut looks like this. Each
# rank computes half of the maps, and both need all of them afterwards:

# %%
images = digits.images("train")[:4, None]
w, b = np.random.default_rng(0).standard_normal((8, 1, 5, 5)), np.zeros(8)

def half_a_layer(world):
    mine = slice(4 * world.rank, 4 * world.rank + 4)
    maps, _ = ops.conv2d_forward(images, w[mine], b[mine])
    others, other = np.empty_like(maps), 1 - world.rank
    world.exchange(maps, other, others, other)
    return np.concatenate([maps, others] if world.rank == 0 else [others, maps], axis=1)

halves = parallel.run(half_a_layer, 2)
print("both ranks have the whole layer:", all(np.allclose(h, ops.conv2d_forward(images, w, b)[0]) for h in halves))

# %% [markdown]
# Two dense layers, one after the other, can be cut so that they need a single sum: the first by its columns, the second
# by its rows. Each rank has half of the hidden neurons, and what it makes of them is a part of the result:

# %%
rng = np.random.default_rng(0)
w1, w2 = rng.standard_normal((784, 32)) / 28, rng.standard_normal((32, 10))

def two_dense_layers(world):
    mine = slice(16 * world.rank, 16 * world.rank + 16)  # half of the 32 hidden neurons
    z = np.maximum(x @ w1[:, mine], 0) @ w2[mine]
    world.all_reduce(z)
    return z

whole = np.maximum(x @ w1, 0) @ w2
print("both ranks have the result of one:", all(np.allclose(z, whole) for z in parallel.run(two_dense_layers, 2)))

# %% [markdown]
# AlexNet's second, fourth and fifth layers do *not* exchange: there each card looks at its own maps only, and the
# network is built that way. The trained filters, drawn like those of lesson 10, showed something that nobody had
# planned. The first layer's filters on one card are mostly grey and fine, those on the other card coloured and
# coarse.[^Owens "Visualizing what ConvNets learn"] In every run the two **streams** divided the work like that,
# whatever the random weights were at the beginning.[^Krizhevsky 2012 "ImageNet Classification with Deep Convolutional
# Neural Networks, 6.1"]

# %% tags=["hide-input"]
streams = predict(
    "One step with 128 images on two cards. Data parallel, each card sends its gradients. In two streams, each card "
    "sends its maps on the way forward, and their gradients on the way back. What is more?",
    ["the gradients of the weights, about 8 times", "about the same", "the maps, about 8 times"],
    answer="the gradients of the weights, about 8 times",
    reveals=3,
)
streams

# %% tags=["hide-output", "hide-input"]
# AlexNet, layer by layer.
ALEXNET = alexnet()
crossing = sum(layer.crosses for layer in ALEXNET)
table(
    [(layer.name, layer.parameters, 4 * layer.crosses) for layer in ALEXNET]
    + [("all", sum(layer.parameters for layer in ALEXNET), 4 * crossing)],
    ["layer", "weights and biases", "bytes of an image that cross to the other card"],
    formats={"weights and biases": ",d", "bytes of an image that cross to the other card": ",d"}, align="lrr",
    caption="AlexNet in two streams, on the way forward",
)  # fmt: skip

# %% tags=["hide-output"]
data_parallel = 4 * sum(layer.parameters for layer in ALEXNET)  # a ring of two: each sends S
two_streams = 128 * 2 * 4 * crossing  # forward, and back again
print(f"{data_parallel / 1e6:.0f} MB against {two_streams / 1e6:.0f} MB")

# %% [markdown]
# <details class="reveal"><summary>It depends on where the weights are</summary>
#
# 244 MB against 31. Look at the rows: the dense layers have 96 % of the weights, and a few kilobytes cross there. The
# convolutions have few weights and large maps. If each of them exchanged its maps, 133 MB would cross instead of 31. So
# the next idea, two years later, was to use both: data parallel for the convolutions, model parallel for the dense
# layers.[^Krizhevsky 2014 "One weird trick for parallelizing convolutional neural networks"
# https://arxiv.org/abs/1404.5997] What crosses in data parallel does not depend on the batch; what crosses in two
# streams grows with it. At about 1,000 images the two are equal.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by counting.
assert 60e6 < sum(layer.parameters for layer in ALEXNET) < 62e6
assert 950 < data_parallel / (two_streams / 128) < 1050
streams.confirm(f"the gradients of the weights, about {round(data_parallel / two_streams)} times")

# %% [markdown]
# ## A pipeline of stages
#
# The third cut goes across: the first layers on one device, the next ones on another. Now only what flows between two
# neighbours has to be sent. But the second device has nothing to do until the first one is done. The remedy is that of
# every factory. Cut the batch into **micro-batches**, and let the first stage begin with the next one while the second
# stage works on the one before. Here are four stages and six micro-batches, on the way forward:

# %%
def pipeline(stages, micro):
    together = micro + stages - 1  # steps until the last stage has done the last micro-batch
    return [["·"] * s + [str(k) for k in range(micro)] + ["·"] * (together - micro - s) for s in range(stages)]

for stage, row in enumerate(pipeline(4, 6)):
    print(f"stage {stage}:", *row)

# %% tags=["hide-input"]
bubble = predict(
    "The dots are idle devices; their share is called the bubble. How large is it for 4 stages and only 4 "
    "micro-batches?",
    ["25 %", "43 %", "57 %", "75 %"],
    answer="43 %",
    reveals=2,
)
bubble

# %% tags=["hide-output", "hide-input"]
# The bubble by micro-batches, counted in the drawing.
def idle(stages, micro):
    rows = pipeline(stages, micro)
    return sum(row.count("·") for row in rows) / sum(map(len, rows))

table(
    [(m, *(idle(p, m) for p in (2, 4, 8))) for m in (1, 4, 16, 64)],
    ["micro-batches", "2 stages", "4 stages", "8 stages"], formats={f"{p} stages": ".0%" for p in (2, 4, 8)},
    caption="Share of all devices' time that is idle",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The first fills it, the last empties it</summary>
#
# $m$ micro-batches through $p$ stages take $m + p - 1$ steps, and each device works in $m$ of them. So it is idle for
#
# $$\frac{p - 1}{m + p - 1}$$
#
# of the time, with four and four $3/7$. The way back has the same shape, and the same share.[^Huang 2019 "GPipe:
# Efficient Training of Giant Neural Networks using Pipeline Parallelism" https://arxiv.org/abs/1811.06965] More
# micro-batches make the bubble smaller. But each is smaller, too, and the table of the measured card has shown what
# becomes of that. And all of it holds only if every stage takes equally long; otherwise, the slowest one sets the pace.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by counting dots.
for p in (2, 4, 8):
    for m in (1, 4, 16, 64):
        assert np.isclose(idle(p, m), (p - 1) / (m + p - 1))
bubble.confirm(f"{100 * idle(4, 4):.0f} %")

# %% [markdown]
# The way back takes twice as long as the way forward, since each layer has two products to make: one for its weights,
# and one for the layer before. Here is the whole step. Change the order to *one forward, one back*, and compare two
# things: how long the stages wait, and for how many micro-batches stage 0 has to remember what it computed.

# %% tags=["hide-input"]
figures.pipeline_timeline(4, 8)

# %% [markdown]
# <details><summary>What is gained</summary>
#
# They wait equally long. But with *all forward* a stage remembers all eight micro-batches until the way back begins,
# and with *one forward, one back* never more than there are stages.[^Narayanan 2021 "Efficient Large-Scale Language
# Model Training on GPU Clusters Using Megatron-LM" https://arxiv.org/abs/2104.04473]
#
# </details>
#
# Now slow one stage down, and see how many of the others have to wait for it.

# %% [markdown]
# ## Two unequal devices
#
# What if one device is slower than the other? Then cut the batch so that both end together, and let each gradient count
# by its rows, as above. Lesson 19 derives the rule: the share of each is in proportion to its speed. Here rank 0
# computes with `fast`, the course's compiled operations, and rank 1 with plain NumPy. For a step of LeNet-5 with 64
# digits they need 2.4 ms, on one core, and 5.9 ms. (We cut by these times, and check the sum with the small network
# from above.)

# %%
cut = round(90 * best_share(2.4, 5.9).first)
print(f"{cut} rows of 90 for the faster one")

def two_kinds(world):
    rows, backend = (slice(0, cut), fast) if world.rank == 0 else (slice(cut, 90), ops)
    gradient = (rows.stop - rows.start) / 90 * gradient_of(rows, backend)
    world.all_reduce(gradient)
    return off_by(gradient)

print("within rounding:", max(parallel.run(two_kinds, 2)) < 1e-6)

# %% [markdown]
# Is it worth it? Speeds add up: both together need $1 / (1 / 2.4 + 1 / 5.9) = 1.7$ ms. But `fast` needs 1.8 ms if it
# gets the second core itself, and no sum. Speeds add only if the devices share nothing, and these share two cores. A
# card shares little with its host; but if it is ten times as fast, it gains less than a tenth by the host's help, and
# has to pay for it with a sum of gradients over the bus between them. So in practice a batch is cut among *equal*
# devices, and the unequal one is given other work: the host loads the next batch, as in lesson 16.
#
# ## Many trainings: no messages at all
#
# Often there is something easier to divide than one training. In lesson 06 you have tried rates and sizes, one after
# the other. These trials have nothing to say to each other. If there are many of them, a thousand devices really
# are a thousand times as fast. What is needed is somebody who hands out the trials, and a file that keeps what is done:

# %%
def trial(lr, hidden):
    net = nn.models.mlp((784, hidden, 10), rng=np.random.default_rng(0))
    history = nn.train(
        net, (digits.x_train[:800], digits.y_train[:800]), epochs=3, batch_size=32, lr=lr, momentum=0.9,
        validation=(digits.x_train[3200:], digits.y_train[3200:]), rng=np.random.default_rng(1), progress=False,
    )  # fmt: skip
    return {"right": round(100 * history.val_accuracy[-1])}

settings = grid(lr=[0.01, 0.05, 0.2], hidden=[16, 64])
found = run_trials(trial, settings, folder / "trials.jsonl")

# %% tags=["hide-input", "nbval-ignore-output"]
# The results.
table([(one["lr"], one["hidden"], one["right"]) for one in found], ["rate", "hidden neurons", "validation, % right"])

# %% [markdown]
# Each result is written as soon as it is there. Give the same file again, with one more rate, and only what is new is
# run:

# %%
called = []

def counting(lr, hidden):
    called.append((lr, hidden))
    return trial(lr, hidden)

more = run_trials(counting, grid(lr=[0.01, 0.05, 0.1, 0.2], hidden=[16, 64]), folder / "trials.jsonl")
print(len(more), "results, of which", len(called), "were run now:", called)

# %% [markdown]
# Here they ran one after the other. With a scheduler they run wherever there is a free core. The course uses Dask,
# which also grades its exercises (`python -m pip install -e '.[cluster]'`). On one machine or on many, three lines
# change:
#
# ```python
# from distributed import Client
# client = Client()                      # the cores of this machine; Client("tcp://...:8786") is a cluster
# found = run_trials(trial, settings, "trials.jsonl", client)
# ```
#
# The test set has no part in this. Who tries a thousand settings chooses by a thousand validation accuracies, and the
# best of them is partly luck.

# %% [markdown]
# ## A cluster that can be simulated
#
# Nobody can try out 10,000 devices on a laptop. But all that happens there is made of a few things that we know: how
# long a device computes for its rows, what a message costs on each link, and who waits for whom. A program can keep a
# clock and a list of what comes next: *this message arrives, that layer is done*. It takes the earliest event from the
# list, moves the clock there, and enters what follows from it. This is called a **discrete-event simulation**. The
# course's cluster can play every send and receive of `ring` and `tree` in this way, with the library's own code.
#
# A simulation should be distrusted, most of all by those who wrote it. So this one was held against something real: two
# processes on one processor. It was told what single messages cost, and how long a step with half the rows takes,
# without messages. The sums and the steps in the table it had to find out by itself.

# %% tags=["hide-input"]
# Measured beside simulated.
real = [c for c in compared("amd-epyc") if c.judged]
sums = [c for c in real if c.what.startswith("sum")]
near = sum(c.good for c in sums)
worst = max(sums, key=lambda c: abs(c.off))
table(
    [(c.what.removesuffix(", after").replace("_", " "), c.bytes, 1e6 * c.measured, 1e6 * c.predicted,
      round(c.off, 2) + 0.0) for c in real if c.bytes == GRADIENTS or "MLP" in c.what or c is worst],
    ["what", "bytes", "measured, µs", "simulated, µs", "off by"], align="lrrrr",
    formats={"bytes": ",d", "measured, µs": ",.0f", "simulated, µs": ",.0f", "off by": "+.0%"},
    caption=f"Two processes on two cores; {near} of {len(sums)} sums, from 1 kB to 67 MB, within 25 %; with the worst",
)  # fmt: skip

# %% [markdown]
# Good enough to think with, and for steps a little too hopeful: two real processes also wait for each other when one is
# held up, and of that the simulation knows nothing. Now something larger: 128 machines with 8 cards each. Inside of a
# machine a card sends 450 GB/s, and a message is 4 µs late. Each machine has eight cables to the others, of 50 GB/s and
# 6 µs, and half a microsecond more where the way leads over a second level of switches. A sum is made in two levels, in
# each machine and then between them. (All cards do the same here, so `step` need not play them one by one: a formula
# gives the same times.) Each card takes 64 digits:

# %%
cluster = Cluster(1024)
small = step(cluster, LENET, rows=64)
print(f"{1e3 * small.seconds:.1f} ms; the cards work for {small.efficiency:.0%} of it")

# %% [markdown]
# The rest of the time they wait for the sum of 247 kB.

# %% tags=["hide-input"]
waiting = predict(
    "One thing may be changed. With which one do the cards work for more than half of the time?",
    ["links of a thousand times the rate", "a thousandth of the gradients", "links without latency",
     "with none of them"],
    answer="links without latency",
    reveals=2,
)
waiting

# %% tags=["hide-output"]
changed = {
    "links of a thousand times the rate": step(cluster.with_links(rate=1000), LENET, rows=64).waits,
    "a thousandth of the gradients": all_reduce_seconds(cluster, GRADIENTS / 1000),
    "links without latency": step(cluster.with_links(latency=0), LENET, rows=64).waits,
}
works = {what: small.compute / (small.compute + waits) for what, waits in changed.items()}
print({what: f"{share:.0%}" for what, share in works.items()})

# %% [markdown]
# <details class="reveal"><summary>They wait for messages, not for bytes</summary>
#
# The sum takes 1.7 ms, and with a thousandth of the numbers as long. In it 268 messages follow one another, 14 inside
# of a machine and 254 between machines, and each is a few microseconds late. The bytes need a few microseconds in all.
# A tree between the machines, with 14 messages instead of 254, would let the cards work for two fifths of the time.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the simulated steps.
assert [what for what, share in works.items() if share > 0.5] == ["links without latency"]
assert max(share for what, share in works.items() if what != "links without latency") < 0.1
waiting.confirm(max(works, key=works.get))

# %% [markdown]
# A card that computes for 0.1 ms is not worth a cluster. And GPT-2? It has 25,000 times as many gradients, 6 GB. In
# its own training a step had 512 texts of 1,024 tokens. If 1,024 cards take one text each, they work for a quarter
# of the time.

# %% tags=["hide-input"]
busy = predict(
    "GPT-2 on the same 1,024 cards, now with 8 texts on each. For what share of a step do they work?",
    ["26 %, as with one text", "about half", "about three quarters", "nearly all of it"],
    answer="nearly all of it",
    reveals=2,
)
busy

# %% tags=["hide-output", "hide-input"]
# GPT-2 by texts a card.
gpt = transformer()
by_texts = {texts: step(cluster, gpt, rows=texts) for texts in (1, 2, 4, 8)}
table(
    [(texts, texts * 1024**2 / 1e6, 1e3 * one.compute, 1e3 * one.waits, one.efficiency)
     for texts, one in by_texts.items()],
    ["texts a card", "million tokens a step", "computes, ms", "waits, ms", "works"],
    formats={"million tokens a step": ".1f", "computes, ms": ".0f", "waits, ms": ".0f", "works": ".0%"},
    caption="GPT-2's largest network on 1,024 cards",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Time to hide it</summary>
#
# The sum takes as long with 8 texts as with one, 0.11 s in 49 buckets. But the backward pass, behind which it can hide,
# is eight times as long. What counts is how long a card computes between two sums, and so how many rows it has. Two
# things limit them. One is its memory: what the layers remember of 64 such texts is more than 141 GB.[^Korthikanti 2022
# "Reducing Activation Recomputation in Large Transformer Models" https://arxiv.org/abs/2205.05198] The other is the
# batch that still trains well: 8 texts a card are 8 million tokens a step, sixteen times what GPT-2 was trained with.
# Such a cluster pays only if training still works with batches this large.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the simulated steps.
assert 0.2 < by_texts[1].efficiency < 0.3
assert by_texts[8].efficiency > 0.95
busy.confirm("nearly all of it")

# %% [markdown]
# How far does it go? Choose GPT-2, *one batch for all* and 512, its own batch, and go to the right as long as a card
# keeps half of its speed; the last such number is called the **knee**. Then let each card have 8 rows. And try LeNet-5,
# AlexNet, and slower links between the machines.

# %% tags=["hide-input"]
figures.cluster_explorer()

# %% [markdown]
# <details><summary>Why not even 8 texts a card go on for ever</summary>
#
# With 8 texts each, 2,048 cards still work for most of the time, and 8,192 for little more than a quarter. Each has as
# much to do as before, and sends hardly more. But the machines form a ring, and the more there are, the more messages
# follow one another, for each of the 49 buckets. For that reason NCCL, the library that sums on NVIDIA's cards, changes
# to trees when there are many machines.[^Jeaugey 2019 "Massively Scale Your Deep Learning Training with NCCL 2.4"
# https://developer.nvidia.com/blog/massively-scale-deep-learning-training-nccl-2-4/]
#
# </details>
#
# What the simulated cluster does not know: the messages of other people, a cable that is broken, a card that is hot,
# whether a batch fits into a card. It was checked with two processes; what it says of a thousand follows from its
# rules. And steps of GPT-2 were not measured: they are computed as if all of it ran like one large product in TF32.
# Real layers are slower, and then there is more time to hide a sum.
#
# ## What your framework calls it
#
# PyTorch's names for what stands on this page:

# %% tags=["hide-input"]
# Words for words.
table(
    [
        ("parallel.run, course ranks", "torchrun"),
        ("world.all_reduce(array)", "dist.all_reduce(tensor)"),
        ("engine: threads, mpi, nccl", "backend: gloo, mpi, nccl"),
        ("nn.train(..., world=world)", "DistributedDataParallel(net)"),
        ("a bucket of 128 KiB", "bucket_cap_mb, 25 unless given"),
        ("a rank's rows of the batch", "DistributedSampler"),
        ("sharded_step", "ZeroRedundancyOptimizer; FSDP goes further"),
    ],
    ["here", "in PyTorch"],
)

# %% [markdown]
# One thing differs. `DistributedDataParallel` divides by the number of ranks, whatever rows they have; that is the
# mistake from the beginning of this page, and its sampler avoids it by giving all ranks equally many rows, some of them
# twice. And remember that a layer which looks at the whole batch, such as batch normalisation, sees a rank's rows only.

# %% [markdown]
# ## Try it
#
# - In the figure at the top: 1,024 images, a ring, and the link of 450 GB/s. Which number of devices is best, and why
#   so few?
#   <details><summary>Answer</summary>
#
#   Four, and they are only 1.8 times as fast as one: a card needs 0.30 ms for 1,024 images and still 0.14 ms for 256.
#
#   </details>
# - Change `hand_on` so that it works with `buffer=0`, without `exchange`, by letting even ranks send first and
#   odd ranks receive first. Try it with 4 ranks, then with 3.
#   <details><summary>Answer</summary>
#
#   It works with both. With three, ranks 0 and 2 send and rank 1 receives: it takes what rank 0 sends, then rank 0
#   receives from 2, and rank 2 from 1. One rank that receives first is enough to break the circle.
#
#   </details>
# - Let rank 2 of `seen_by_rank_0` sleep for ever instead of raising an error, and call `parallel.run(..., patience=2)`.
#   Who is named?
#   <details><summary>Answer</summary>
#
#   Rank 2, by all others, after two seconds: it sends nothing and waits for nobody, "it computes or hangs".
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's slide "Building a DL Library" asks that a library "should support parallel and distributed processing for
# the computation passes" and names no way to do it; this page takes three that are in use. The figure of AlexNet's
# filters in Prof. Owens' lecture comes from Stanford's course CS231n, whose caption tells of the two streams. It says
# that they are a consequence of the architecture; the paper adds that it came out so in every run.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** Sixteen ranks sum gradients of 100 MB in a ring. How many messages does each rank send, of which size, and how
# many bytes in all? What changes with 32 ranks?
#
# <details><summary>Answer</summary>
#
# 30 messages of 6.25 MB, 187.5 MB in all. With 32 ranks 62 messages of 3.125 MB, 193.75 MB: hardly more bytes, but
# twice as many delays one after the other.
#
# </details>

# %% [markdown]
# **2.** A loss is the *sum* over the rows of a batch. Two ranks have 10 and 30 rows. With which weights are their
# gradients added?
#
# <details><summary>Answer</summary>
#
# With none: the sum over 40 rows is the sum of the two sums. For a mean it would be 1/4 and 3/4.
#
# </details>

# %% [markdown]
# **3.** A training uses a pipeline of 8 stages with 8 micro-batches. Somebody proposes 56 micro-batches. What is
# gained, what is lost, and what becomes of the memory?
#
# <details><summary>Answer</summary>
#
# The bubble shrinks from $7/15$, 47 %, to $7/63$, 11 %, so the same work is done in 0.6 of the time. But a micro-batch
# is a seventh of what it was, and may be too small to keep a device busy. The memory is the same with *all forward*,
# since 56 small micro-batches have as many rows as 8 large ones; with *one forward, one back* at most 8 of the small
# ones are remembered, a seventh.
#
# </details>
