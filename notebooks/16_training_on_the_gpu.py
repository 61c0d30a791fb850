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
# # 16 · Training on the GPU: who waits for whom?
#
# Lesson 09's network now trains on a card, with the kernels of lessons 11 to 15. A fast card makes a fast training,
# one would think. Here is a single step, on 64 digits. Above, the host, your Python program, asks for one kernel after
# the other; below, the card runs them. Move the sliders: how large a batch, how quick a host does it take to keep the
# card busy?

# %% tags=["hide-input"]
import numpy as np
from numba import cuda

from course_lib import cuda as cuda_ops
from course_lib import data, fast, figures, gpu, nn, streams
from course_lib.cuda.recording import record_launches
from course_lib.lesson import measured, measured_training, padded, predict, predicted_launches, table

one_step = measured("one step of LeNet-5", card="h200")
by_batch = measured("steps of LeNet-5 by batch", card="h200")
kernels = {int(B): seconds for B, seconds in by_batch.more["kernels"].items()}
names = [f"{one['kernel'].strip('_')}, {one['part'].lstrip('0123456789 ')}" for one in one_step.more["launches"]]
each_launch = one_step.seconds["host, enqueuing"] / len(names)
launch_costs = measured("a launch", card="h200").seconds
CARD = f"an {one_step.card} ({one_step.date})"
figures.launch_rows(
    kernels, names, batch=64, cost=each_launch,
    costs={"as our host did it": each_launch, "a launch alone": launch_costs["kernel[grid, block](...)"],
           "in a graph": launch_costs["a kernel of a graph"]},
    about=f"Kernels measured on {CARD}.",
)  # fmt: skip

# %% [markdown]
# The kernels' times were measured, and so are the three buttons. *As our host did it* is how the course's own library
# launches, with all its Python between two kernels; the card has time for many others meanwhile. By the end of this
# page the same step runs as the third button says, the next batch is on its way, and you can say what is left to wait
# for.
#
# ## You will be able to
#
# - say where the time of a training step goes, and when a faster kernel would not help;
# - record a step once, replay it, and name what such a recording cannot see;
# - let copies and kernels overlap with streams and events, and find the wait that is missing or one too many;
# - choose the size of a batch, and a way to run, by the time that an experiment takes.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It takes up five remarks of Prof. Hwu's lecture in ECE 508, on mini-batches, streams, the time of a test cycle, the
# two phases of learning, and inference beside training, and the end of Prof. Dey's course plan, efficient training and
# inference. You need lessons 09 and 11, and 13 for fusion. Everything runs without a GPU: kernels on the executor,
# streams in a simulator, with predicted times beside those that were measured on the card that is named. Reading and
# trying takes about 80 minutes.
#
# </details>

# %% [markdown]
# ## The same network, moved
#
# A network asks a *backend* for its operations: `fast` for the processor, `cuda_ops` for the card. (Without a GPU the
# executor takes the card's place. It is slow, so four digits must do here.) Nothing else changes:

# %%
digits = data.load_digits(0)
x, y = padded(digits.x_train[:4]).astype(np.float32), digits.y_train[:4]

def losses_with(ops):
    net = nn.models.lenet5(rng=np.random.default_rng(0), ops=ops)  # the same weights
    options = {"epochs": 2, "batch_size": 2, "lr": 0.05, "rng": np.random.default_rng(1), "progress": False}
    return nn.train(net, (x, y), **options).loss

# %% tags=["hide-input"]
# The losses of both.
on_host, on_card = losses_with(fast), losses_with(cuda_ops)
table([(k, a, b, f"{abs(b / a - 1):.0e}") for k, (a, b) in enumerate(zip(on_host, on_card, strict=True))],
      ["epoch", "processor", "card", "difference"])  # fmt: skip

# %% [markdown]
# The losses agree within rounding: float32 numbers were added in another order. That is the first thing to check, and
# the last time that this page is about what is computed. From here on it is about *when*.
#
# ## A step is a list of launches
#
# Here is a step by hand, much as `nn.train` does it: forward, loss, backward, update. Each line asks for kernels.

# %%
def step_of(net, x, labels, lr=0.05):
    """A function that trains `net` once on what lies in x and labels."""
    params, grads = net.parameters().values(), net.gradients().values()
    velocities = [cuda_ops.zeros_like(p) for p in params]
    def step():
        scores = net.forward(x)
        sums, cache = cuda_ops.softmax_cross_entropy_sums(scores, labels)
        net.zero_grad()
        slope = cuda_ops.softmax_cross_entropy_backward(cache)
        net.backward_parameters(slope)
        cuda_ops.sgd_step([*params], [*grads], lr, 0.9, velocities)
        return sums
    return step

# %% [markdown]
# Here it is for LeNet-5 and 64 images, whose numbers do not matter now.

# %%
net = nn.models.lenet5(rng=np.random.default_rng(0), ops=cuda_ops)
batch = gpu.empty((64, 1, 32, 32), np.float32)
labels = gpu.empty(64, np.int64)
step = step_of(net, batch, labels)

# %% tags=["hide-input"]
# A prediction.
how_many = predict(
    "LeNet-5 has five layers with weights, two poolings and four ReLUs. How many kernels does one step launch?",
    ["about 11", "about 25", "about 70", "about 600"],
    answer="about 70",
    reveals=2,
)
how_many

# %% tags=["hide-output", "hide-input"]
# What the step launches, by part; nothing is computed.
with record_launches(run=False) as noted:
    step()
parts = [streams.part_of_step(one["part"]) for one in one_step.more["launches"]]
busy = {p: 1e6 * sum(o["seconds"] for o, q in zip(one_step.more["launches"], parts, strict=True) if q == p)
        for p in dict.fromkeys(parts)}  # fmt: skip
table([(p, parts.count(p), busy[p]) for p in busy] + [("all", len(noted), sum(busy.values()))],
      ["part", "launches", "microseconds"], formats={"microseconds": ",.1f"},
      caption=f"One step of LeNet-5, B = 64: launches, and how long their kernels run on {CARD}")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Why so many</summary>
#
# A convolution's backward pass alone takes up to seven: weights in parts, the sum of these parts, the bias in parts,
# their sum, the gradient of the input, and twice an addition to what is there already. Ten arrays of gradients are set
# to zero, and ten of parameters are updated. More than half of these launches have at most thirteen blocks, for a card
# with 132 multiprocessors. They cost a launch all the same.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
how_many.confirm(f"about {round(len(noted), -1)}")

# %% [markdown]
# ## Where the time goes
#
# A launch only *enqueues* a kernel: the host tells the driver, and goes on before the kernel has begun.[^NVIDIA "CUDA
# C++ Programming Guide, Asynchronous Concurrent Execution"] So there are two clocks. (If you time a step from Python,
# wait for the card first, `gpu.synchronize()`, or you time the asking.) On an H200 a step's kernels were timed one by
# one, and so was the host, from call to call.

# %% tags=["hide-input"]
# A prediction.
share = predict(
    "The step is launched kernel by kernel. During which share of it does the card run a kernel?",
    ["less than a tenth", "about a third", "about two thirds", "nearly all of it"],
    answer="less than a tenth",
    reveals=2,
)
share

# %% tags=["hide-output", "hide-input"]
# One step, as it was measured.
figures.measured_step(one_step.more["launches"], CARD)

# %% [markdown]
# <details class="reveal"><summary>A card that waits</summary>
#
# Each kernel is done long before the next one is asked for. Make the kernels twice as fast, and nothing happens: this
# step is **launch-bound**. That is not what lessons 12 to 15 looked at. Their kernels ran for milliseconds on ten
# thousand images, and there a launch is nothing.
#
# Note that the host is only for a part of its time *in* its launches. The rest is Python: which operation comes next,
# do the shapes fit, where shall the result lie?
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
kernels_share = sum(busy.values()) / (1e6 * one_step.seconds["one by one"])
share.confirm("less than a tenth" if kernels_share < 0.1 else f"{kernels_share:.0%}")

# %% [markdown]
# What does a launch cost by itself? That depends on who does it. Numba asks every argument for its type at each launch;
# the course's `kernel[grid, block]` writes down once what the driver needs of an array, and hands that on. Here is the
# host's time for a kernel that adds two short arrays.

# %% tags=["hide-input"]
# What a launch costs the host.
launched = {
    "Numba's own way": "Numba's own, configured", "kernel[grid, block](...)": "kernel[grid, block](...)",
    "PyTorch's add": "PyTorch's add", "one of many in a graph": "a kernel of a graph",
}  # fmt: skip
table([(called, 1e6 * launch_costs[way]) for called, way in launched.items() if way in launch_costs],
      ["a launch by", "microseconds"], formats={"microseconds": ",.1f"},
      caption=f"The host's time of a launch; of a graph, from one small kernel to the next. {CARD}")  # fmt: skip

# %% [markdown]
# So ask for less, or ask less often. Ask for less: ten launches set gradients to zero, and ten more add the new ones to
# these zeros. `nn.train` calls `net.renew_grad()` in place of `net.zero_grad()`, and the new gradients take the
# place of the old ones.

# %% tags=["hide-input"]
# The launches of a step whose gradients are renewed.
class Renewing:
    """A network whose zero_grad renews; the rest is its own."""

    def __init__(self, net):
        self.net, self.zero_grad = net, net.renew_grad

    def __getattr__(self, name):
        return getattr(self.net, name)

with record_launches(run=False) as renewed:
    step_of(Renewing(net), batch, labels)()
renewed = [one for one in renewed if one.kernel.__name__ != "_zero"]  # those of the velocities, which come before
print(f"launches of a step: {len(noted)} with zero_grad, {len(renewed)} with renew_grad")

# %% [markdown]
# Fusing kernels (lesson 13) goes further on that way. Asking less often goes furthest.
#
# ## Record it once
#
# The same requests come in every step, with the same arrays. So let the driver keep them: `gpu.record` runs a
# function once for real, then notes its launches as a **graph**, and a call of the graph enqueues all of them at
# once.[^NVIDIA "CUDA C++ Programming Guide, CUDA Graphs"] The host's Python between the launches is gone. (On the
# executor, which has no graphs, a call runs the function again.) Try it on a network that is small enough for the
# executor:

# %%
rng = np.random.default_rng(0)
small = nn.models.mlp((6, 4, 3), rng=rng, ops=cuda_ops)
rows = rng.random((3, 8, 6), np.float32)  # three batches
answers = np.arange(24).reshape(3, 8) % 3
xs, ts = gpu.to_device(rows[0]), gpu.to_device(answers[0])
graph = gpu.record(step_of(small, xs, ts))  # trains once, on batch 0

# %% [markdown]
# The next batch goes into the same two arrays, and the graph is called again:

# %%
for k in (1, 2):
    gpu.overwrite(xs, rows[k])
    gpu.overwrite(ts, answers[k])
    graph()
    print(f"mean loss of batch {k}: {gpu.to_host(graph.result)[0, 0] / 8:.4f}")

# %% [markdown]
# A recorded step has the *addresses* of its arrays, not their names. New numbers get in by `gpu.overwrite`, into the
# array that is there. Here is the mistake that everybody makes once:
#
# ```python
# xs = gpu.to_device(rows[1])   # a new array with the old name
# graph()                       # trains on what lies in the old one
# ```
#
# No error, and the loss falls beautifully: on the card the network learns the first batch by heart. Numbers are kept as
# they were, too. A learning rate that is passed as a number stays the recorded one, and an `if` of the host is decided
# once and for all. And nothing may go back to the host inside of the step, which is why this one returns
# `softmax_cross_entropy_sums` and leaves the loss on the device.
#
# Now the times. PyTorch has both ways too.

# %% tags=["hide-input"]
# One step in four ways.
ways = {"one by one": "launched one by one", "recorded": "recorded", "PyTorch": "PyTorch, launched one by one",
        "PyTorch, CUDA graph": "PyTorch, recorded"}  # fmt: skip
steps_of = {case: measured_training(f"{case}, B = 64", card="h200") for case in ("LeNet-5", "MLP 784-128-10")}
table(
    [(called, *(1e6 * steps_of[case].seconds[way] for case in steps_of)) for way, called in ways.items()],
    ["a training step", *steps_of], formats=dict.fromkeys(steps_of, ",.0f"),
    caption=f"Microseconds a step, B = 64, float32, measured on an {steps_of['LeNet-5'].card} "
    f"({steps_of['LeNet-5'].date})",
)  # fmt: skip

# %% [markdown]
# A graph does not make a kernel faster. It takes away what was between them, and for a small network that was nearly
# everything. And since a graph is known before it starts, launches that need nothing of each other can run side by
# side, such as the gradients of a layer's weights and of its bias.
#
# ## Without a card: the same step, predicted
#
# A launch on the executor is counted: instructions, sectors, conflicts. The model of lesson 12 makes a time of these
# counts and of the card's measured rates. Here it predicts each kernel of a smaller step, 784-128-10 with 64 images.

# %%
mlp = nn.models.mlp((784, 128, 10), rng=rng, ops=cuda_ops)
pixels = gpu.to_device(digits.x_train[:64].astype(np.float32))
classes = gpu.to_device(digits.y_train[:64])
predicted = predicted_launches(step_of(mlp, pixels, classes), "H200")

# %% tags=["hide-input"]
# Predicted and measured, by part.
mlp_measured = measured("one step of MLP 784-128-10", card="h200")
mlp_parts = [streams.part_of_step(one["part"]) for one in mlp_measured.more["launches"]]
in_part = {p: [k for k, q in enumerate(mlp_parts) if q == p] for p in dict.fromkeys(mlp_parts)}
said = {p: 1e6 * sum(predicted[k][1] for k in members) for p, members in in_part.items()}
found = {p: 1e6 * sum(mlp_measured.more["launches"][k]["seconds"] for k in members) for p, members in in_part.items()}
table(
    [(p, len(in_part[p]), said[p], found[p]) for p in in_part]
    + [("all", len(predicted), sum(said.values()), sum(found.values()))],
    ["part", "launches", "predicted", "measured"], formats={"predicted": ",.1f", "measured": ",.1f"},
    caption=f"Microseconds of the kernels, one after the other, for an H200; measured on {CARD}",
)  # fmt: skip

# %% [markdown]
# Most of these kernels are so small that the model says of them what it says of an empty one. So without a card you
# can find out that a step is launch-bound: count its launches, multiply them by what a launch costs you, and compare.
#
# ## A batch that fills the card
#
# The first picture's other slider is the batch. One launch for a larger batch does more work, and that is a reason for
# mini-batches that has nothing to do with learning: put B inputs together and solve them in one go, so that each launch
# has enough to do.[^Hwu "Mini-Batching May be Needed to Fill GPU"]

# %% tags=["hide-input"]
# A prediction.
fourfold = predict(
    "A recorded step trains on 64 digits. Now give it 256, four times as many. How much longer does the step take?",
    ["hardly longer", "less than twice as long", "about four times as long"],
    answer="less than twice as long",
    reveals=2,
)
fourfold

# %% tags=["hide-output", "hide-input"]
# An image's time against the batch.
recorded, single = by_batch.along("recorded"), by_batch.along("one by one")
figures.time_of_an_image({"launched one by one": single, "recorded": recorded}, CARD)

# %% [markdown]
# <details class="reveal"><summary>A ramp, and then a floor</summary>
#
# At the left an image costs half as much whenever the batch doubles, since the step takes as long as before: the card
# was nearly empty. At the right the curve of the recorded step flattens: the card is full, and every further image
# costs its own work. Launched one by one, even thousands of images do not reach that floor.
#
# Why not always take the largest batch, then? An epoch with batches of 4,096 has 64 times fewer updates than with 64.
# Lesson 06 says what that does to learning. What counts is the time until the network is good, not the time of an
# image.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ratio = recorded[256] / recorded[64]
fourfold.confirm("less than twice as long" if 1.15 < ratio < 2 else f"{ratio:.2f} times as long")

# %% [markdown]
# ## Memory that stays where it is
#
# A batch has to get to the card. Usual memory is **pageable**: the operating system may move it, or put it on the disk,
# at any time. A card cannot fetch from there by itself, so the driver copies each piece into a buffer of its own first,
# and the host waits. **Pinned** memory stays where it is; the card fetches it while the host goes on.[^NVIDIA "CUDA C++
# Programming Guide, Page-Locked Host Memory"] `gpu.pinned(shape, dtype)` is an array like any other.

# %%
pinned = gpu.pinned((64, 784), np.float32)
pinned[...] = digits.x_train[:64]
arrived = gpu.to_device(pinned)
print(arrived.shape, np.array_equal(gpu.to_host(arrived), pinned))

# %% tags=["hide-input"]
# Copies from both kinds of memory.
copies = measured("copies", card="h200")
both = {f"{kind}, {way}": copies.along(f"{way}, {kind}") for kind in ("pinned", "pageable")
        for way in ("to the device", "to the host")}  # fmt: skip
figures.copy_rates(both, CARD)

# %% [markdown]
# Small copies are all latency: a few thousand bytes take as long as a hundred thousand. Large ones show the difference.
# And see what the host has of it. Asked for in a stream, a copy from pinned memory returns at once:

# %% tags=["hide-input"]
# Until the copy is done, and until the host may go on.
sizes = [2**14, 2**18, 2**22, 2**26]
rows_of_copies = []
for kind in ("pinned", "pageable"):
    done, returns = copies.along(f"to the device, {kind}"), copies.along(f"to the device, {kind}, returns")
    rows_of_copies += [(kind, size // 1024, 1e6 * done[size], 1e6 * returns[size]) for size in sizes]
table(rows_of_copies, ["memory", "KiB", "done after", "host goes on after"],
      formats={"done after": ",.0f", "host goes on after": ",.0f"},
      caption=f"Microseconds of a copy to the card, measured on {CARD}")  # fmt: skip

# %% [markdown]
# ## Read the next, compute this one, write the last
#
# What is asked of a card in one **stream** is done in order. Two streams have nothing to do with each other, so their
# work may overlap: copies to the card, kernels, and copies back are done by three different units. The idea for a job
# in pieces: read the next set of inputs, process the present one, write the previous outputs, all at the same
# time.[^Hwu "Some Other Optimizations"] An **event** is a mark in a stream that another stream can wait for.

# %% tags=["hide-input"]
# A prediction.
three = predict(
    "Reading, computing and writing a piece take equally long. With very many pieces, how many times faster are three "
    "streams than one, at most?",
    ["1.5 times", "2 times", "3 times", "as many times as there are pieces"],
    answer="3 times",
    reveals=2,
)
three

# %% tags=["hide-output", "hide-input"]
# The job in pieces, to play with.
figures.pipeline(read=10, compute=10, write=10)

# %% [markdown]
# <details class="reveal"><summary>As long as the slowest</summary>
#
# Once the pipeline is full, a piece comes out whenever the slowest of the three units has done one. The first piece
# takes all three times, and the last one too. Make one stage longer: the others wait for it, and three streams gain
# less. Switch to pageable memory: the host waits for each copy before it asks for the next thing, and it is as if there
# were one stream.
#
# Then leave the waits away, and give `compute` more time than `read`.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the simulator, with 150 pieces.
many = 150
whole = streams.simulate(streams.read_compute_write(10, 10, 10, slots=3), figures.pipelines.pipeline_requests(many, 3))
three.confirm(f"{many * 30 / whole.end:.0f} times")

# %% [markdown]
# In code, each piece has a slot on the card, a buffer for what comes in and one for what goes out. Before a slot is
# used again, its last user must be done; those are the two waits at the top.

# %%
@gpu.jit
def squares(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i]

def in_three_streams(host, back, slots=2):
    reads, computes, writes = gpu.stream(), gpu.stream(), gpu.stream()
    ins, outs = ([gpu.empty(host.shape[1], np.float32) for _ in range(slots)] for _ in range(2))
    read, computed, written = ([gpu.event() for _ in host] for _ in range(3))
    for k in range(len(host)):
        s = k % slots
        if k >= slots:
            computed[k - slots].wait(reads)
            written[k - slots].wait(computes)
        gpu.overwrite(ins[s], host[k], reads)
        read[k].record(reads)
        read[k].wait(computes)
        squares[4, 64, computes](ins[s], outs[s])
        computed[k].record(computes)
        computed[k].wait(writes)
        gpu.to_host(outs[s], writes, out=back[k])
        written[k].record(writes)
    writes.synchronize()

# %% tags=["hide-input"]
# It computes the right numbers.
host, back = gpu.pinned((5, 256), np.float32), gpu.pinned((5, 256), np.float32)
host[...] = np.arange(5 * 256, dtype=np.float32).reshape(5, 256)
in_three_streams(host, back)
print("five pieces, all squared:", np.array_equal(back, host * host))

# %% [markdown]
# A card did such a job with larger pieces, and noted when each part began and ended, by its own clock. In one stream:

# %% tags=["hide-input"]
# Measured, one stream.
job = measured("read, compute, write", card="h200")
figures.measured_rows(job.more["spans"]["one stream"], f"One stream, {CARD}")

# %% [markdown]
# And in three, with the same kernel and the same pinned memory:

# %% tags=["hide-input"]
# Measured, three streams.
figures.measured_rows(job.more["spans"]["three streams"], f"Three streams, {CARD}")

# %% tags=["hide-input", "continued"]
# How long the whole job took.
shown_ways = ["one stream", "three streams", "three streams, pageable", "only read", "only compute", "only write"]
table([(way, 1e3 * job.seconds[way], job.seconds["one stream"] / job.seconds[way]) for way in shown_ways],
      ["way", "milliseconds", "times as fast"], formats={"milliseconds": ".2f", "times as fast": ".1f"},
      caption=f"{job.size}, measured on {CARD}")  # fmt: skip

# %% [markdown]
# Streams are no second card. A kernel that fills all multiprocessors leaves no room for another one, in whatever stream
# it is. What overlaps well is what uses *different* units, or kernels of which each leaves most of the card idle.
#
# ## The wait that is missing
#
# Training can load ahead in the same way: while a step computes, the host gathers the rows of the next batch into a
# pinned buffer, and the card fetches them. Two buffers on either side, used in turns. Here is the list of what a host
# asks for, with one wait left out: nobody tells the copies that the card still trains on what they overwrite.

# %%
def load_ahead(batches, waits=True):
    asked = []
    for k in range(batches):
        if k >= 2:
            asked.append(("wait", f"copied {k - 2}"))  # the host: its buffer must have been fetched
        asked.append(("gather", k))
        if k >= 2 and waits:
            asked.append(("wait", f"trained {k - 2}", "copies"))
        asked += [("copy", k, "copies"), ("record", f"copied {k}", "copies"), ("wait", f"copied {k}", "steps")]
        asked += [("train", k, "steps"), ("record", f"trained {k}", "steps")]
    return asked

JOB = streams.loading_ahead(gather=6, copy=4, train=20)
streams.simulate(JOB, load_ahead(6, waits=False))

# %% [markdown]
# Steps in brackets have read numbers of other batches: before they are through, the one after the next arrives in their
# place. Nothing crashes, and the loss even falls. What makes it worse: if a step takes less time than gathering, the
# numbers come out right.

# %%
quick = streams.simulate(JOB.taking(train=5), load_ahead(6, waits=False))
print("wrong steps:", len(quick.wrong))
print("a race:", quick.races[0])

# %% [markdown]
# So a race is not what goes wrong today. It is two accesses to one place, one of them writing, without anything that
# keeps them in order: the definition of lesson 13, with streams for threads. With the wait in its place:

# %%
streams.simulate(JOB, load_ahead(6))

# %% [markdown]
# After the first batch the card never waits. `nn.train` works like this on a card: it records a step for each size of
# batch, gathers and copies ahead, and keeps losses and right answers on the device until the end of the epoch. A host
# that looks at the loss after each step spoils the overlap too: it waits for the card, and then the card waits for it.
#
# ## Answering while learning
#
# Learning has two phases, training and inference.[^Hwu "Machine Learning Separates into Two Phases"] Inference is the
# forward pass alone: about a third of a step's multiplications (lesson 04), no gradients, no velocities. Here both are
# recorded:

# %% tags=["hide-input"]
# What the two phases cost.
forward = by_batch.along("forward")
table([(B, 1e6 * forward[B], 1e6 * recorded[B], forward[B] / recorded[B]) for B in (1, 64, 1024, 4096)],
      ["images", "inference", "training", "share"],
      formats={"inference": ",.0f", "training": ",.0f", "share": ".0%"},
      caption=f"LeNet-5, microseconds of a forward pass and of a step, both recorded, measured on {CARD}")  # fmt: skip

# %% [markdown]
# Must the two come one after the other? A phone can recognise its owner's speech and tune its network to that voice at
# the same time.[^Hwu "New Opportunities Have Arisen from Use of GPUs"] Both then share one card, and one of them is in
# a hurry. A stream may have a **priority**: when a multiprocessor becomes free, blocks of the more urgent stream go
# first. Running blocks are not stopped.[^NVIDIA "CUDA C++ Programming Guide, Stream Priorities"]
#
# ```python
# urgent = gpu.stream(priority=-5)
# answer(urgent)  # a recorded forward pass, in that stream
# ```

# %% tags=["hide-input"]
# A prediction.
serving = measured("answers while training", card="h200")
waits = predict(
    "A card trains without pause, batches of 1,024 digits, three steps always in the queue. Eight digits come and want "
    "an answer. In which stream does an answer take longest?",
    ["in the training's stream", "in a stream of its own", "in a stream of its own, with priority"],
    answer="in the training's stream",
    reveals=2,
)
waits

# %% tags=["hide-output", "hide-input"]
# How long answers take.
percentile, pace = serving.more["percentiles"], serving.more["steps_per_second"]
table(
    [(way, 1e6 * percentile[way]["50"], 1e6 * percentile[way]["99"], pace[way] or None) for way in percentile],
    ["an answer", "median", "99 of 100 within", "training steps a second"],
    formats={"median": ",.0f", "99 of 100 within": ",.0f", "training steps a second": ",.0f"},
    caption=f"Microseconds; {serving.size}, measured on {CARD}",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Behind whom do you queue?</summary>
#
# In the training's own stream an answer stands behind all steps that were asked for before it. In a stream of its own
# it only shares the card with them. With priority, its blocks need not stand behind theirs.
#
# For a service the median is not enough: one slow answer in a hundred is what people remember. And note that both use
# the *same* weights here. An answer that runs during an update reads some weights from before it and some from after.
# That is a race, tolerable for a phone and not for a measurement. Who cannot tolerate it copies the weights between two
# steps, and answers from the copy.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
called = {"in one that goes first": "in a stream of its own, with priority"}
slowest = max((way for way in percentile if way != "nothing else runs"), key=lambda way: percentile[way]["50"])
waits.confirm(called.get(slowest, slowest))

# %% [markdown]
# ## What's your longest?
#
# You write code, test it, and write on. How long is one turn of that cycle, and what is the longest that you ever
# had?[^Hwu "Test Cycle Time is Important"] Ten thousand lines once took half an hour to compile; a hundred thousand
# took half an hour on a workstation and two minutes on a cluster; reinstalling a system after a bad bug, half an hour;
# sequencing a genome, two weeks.[^Hwu "Your Cycle Times are Probably Small"] For who trains networks, the cycle is an
# experiment.

# %% tags=["hide-input"]
# A prediction.
epoch = measured("an epoch", card="h200")
surprise = predict(
    "An epoch of LeNet-5 on 60,000 digits, batches of 64. The card launches kernel by kernel. How does it compare with "
    "the processor beside it?",
    ["ten times faster and more", "two to ten times faster", "less than two times faster, or slower"],
    answer="less than two times faster, or slower",
    reveals=2,
)
surprise

# %% tags=["hide-output", "hide-input"]
# Seconds of an epoch, and what they mean for a day of work.
EPOCHS, DAY = 20, 8 * 3600
order = ["nn.train on the processor", "nn.train on the card", "recorded, each batch in turn", "recorded, batches ahead",
         "nn.train on the card, recorded", "feeding alone"]  # fmt: skip
table(
    [(way, t := epoch.seconds[way], EPOCHS * t / 60, None if way == "feeding alone" else int(DAY // (EPOCHS * t)))
     for way in order if way in epoch.seconds],
    ["way", "seconds an epoch", f"minutes for {EPOCHS} epochs", "experiments in 8 hours"],
    formats={"seconds an epoch": ".2f", f"minutes for {EPOCHS} epochs": ".2f"},
    caption=f"LeNet-5, {epoch.size}, measured on {CARD}; slow ways on a part of the images. Feeding alone gathers and "
    "copies batches, and trains on none",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>A card that a processor keeps up with</summary>
#
# Launched one by one, the most powerful card that this course has measured is about as fast as the processor beside it,
# which does the same work without asking anybody. Recorded, the same kernels on the same card change the work itself.
# What took a coffee break an experiment now takes a few breaths. You try ten learning rates instead of guessing one,
# with three seeds each, as lesson 06b recommends.
#
# Now compare the last four rows. With batches ahead an epoch takes as long as the slower of two, training and feeding.
# Here that is feeding: it takes nearly as long alone, so that loading ahead has hardly anything to hide. The card is
# too fast for its host again, and the remedy is the same as before: ask less often. `nn.train` gathers a whole row of
# batches and copies them at once. The next thing to do would be to keep the digits on the card.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
gain = epoch.seconds["nn.train on the processor"] / epoch.seconds["nn.train on the card"]
surprise.confirm("less than two times faster, or slower" if gain < 2 else f"{gain:.1f} times faster")

# %% [markdown]
# In what order would you go about a step of your own?
#
# 1. Count launches, and compare the host's time with the kernels'. If the host is the slower one, record the step, or
#    fuse kernels (lesson 13).
# 2. Look for what waits: a copy from pageable memory, a loss that is read in each step, a `synchronize` for no reason.
# 3. Load ahead, until feeding takes no longer than training.
# 4. Only now is it the kernels' turn, and lessons 12 to 15 apply.

# %% [markdown]
# ## Optional: what overlaps inside of a graph
#
# <details><summary>A graph knows who needs whom</summary>
#
# Launches in one stream run in order, whether they need each other or not. A graph is a list with ties: this kernel
# needs what that one wrote. The course's `gpu.record` reads from a kernel's text which of its arrays it may write, and
# ties a launch only to those whose results it needs. So the ten arrays of gradients are set to zero side by side, and
# so are the updates.
#
# A kernel's own time, alone in a graph of many copies, and the time of the whole step show how much that is:
#
# </details>

# %% tags=["hide-input"]
# Kernels one after the other, and the step as a graph.
rows_of_graphs = []
for called, one in (("LeNet-5", one_step), ("MLP 784-128-10", mlp_measured)):
    alone = sum(launch["seconds"] for launch in one.more["launches"])
    rows_of_graphs.append((called, len(one.more["launches"]), 1e6 * alone, 1e6 * one.seconds["recorded"]))
table(rows_of_graphs, ["network", "kernels", "one after the other", "as a graph"],
      formats={"one after the other": ",.0f", "as a graph": ",.0f"},
      caption=f"Microseconds of a step, B = 64, measured on {CARD}")  # fmt: skip

# %% [markdown]
# ## Try it
#
# - In the first picture, choose *a launch alone*. Does any batch keep the card busy? And what may a launch cost if
#   1,024 digits are to do so, or 64?
#   <details><summary>Answer</summary>
#
#   Even with 4,096 digits the kernels only come level with their launches. With 1,024 a launch may cost 5 µs, and with
#   64 half of that. Only the graph is as cheap, and then the card is busy at every batch.
#
#   </details>
# - In the job in pieces, give `read` 5, `compute` 20 and `write` 5 µs. Does a third place help? And with 10, 20, 15?
#   <details><summary>Answer</summary>
#
#   Neither time. With two places the slowest unit never waits. A third one helps where times vary from piece to piece,
#   which they do not here.
#
#   </details>
# - Change `load_ahead` so that the host waits for `trained {k}` in each turn, to print the loss. What does `simulate`
#   say?
#   <details><summary>Answer</summary>
#
#   Each batch takes 6 + 4 + 20 = 30 µs instead of 20: nothing is asked for while the card trains, so nothing overlaps.
#
#   </details>

# %% tags=["hide-input"]
# What "Try it" says of the three, confirmed.
def looking(batches):
    asked = load_ahead(batches)
    look = {one: [one, ("wait", one[1])] for one in asked if one[0] == "record" and "trained" in one[1]}
    return [request for one in asked for request in look.get(one, [one])]

places = {slots: streams.simulate(streams.read_compute_write(10, 20, 15, slots=slots),
                                  figures.pipelines.pipeline_requests(8, slots)).end for slots in (2, 3)}  # fmt: skip
assert places[2] == places[3]
assert streams.simulate(JOB, looking(6)).end == 6 * 30

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - The slide on streams says "input feature maps" and "outputs": it thinks of one layer at a time. For a whole network
#   that stays on the card only batches and results cross the border, as here.
# - That mini-batching increases the work of a launch is said of convolutions. It holds for every kernel of a step, and
#   most for the smallest ones.
# - Half an hour on a workstation and two minutes on a cluster is a factor of fifteen, by more machines. The table above
#   has its factors on one card, by asking once instead of 70 times.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A step has 40 launches at 10 µs, and its kernels run for 300 µs together. A colleague makes them three times as
# fast. What is gained if the step is launched one by one, and what if it is recorded, with 1.5 µs from kernel to
# kernel?
#
# <details><summary>Answer</summary>
#
# One by one the host needs 400 µs before and after: nothing is gained. Recorded, the step took about 300 µs and now
# takes 100, or a little more: 40 kernels at 1.5 µs are 60 µs, still less than their work.
#
# </details>

# %% [markdown]
# **2.** Your loop replays a recorded step, and the loss of the training data falls to zero within a hundred steps. The
# validation loss rises from the start. What do you look at first?
#
# <details><summary>Answer</summary>
#
# How the batch gets into the step. If each turn makes a new device array instead of overwriting the recorded one, the
# graph trains on the first batch again and again. It learns 64 images by heart.
#
# </details>

# %% [markdown]
# **3.** Two streams, one event: `copied.record(copies)` stands *behind* `copied.wait(steps)` in your loop. The numbers
# are right on your machine. Is the program right?
#
# <details><summary>Answer</summary>
#
# No. A wait means the last record *before* it. In the first turn nobody has recorded the event yet, and it waits for
# nothing; later it waits for the copy of the batch before. Step and copy race in each turn, and on your machine the
# copy happens to win.
#
# </details>
