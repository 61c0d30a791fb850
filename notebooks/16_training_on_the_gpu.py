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
# Lesson 09's network now trains on a card, with the kernels of lessons 11 to 15. A fast card should make training fast,
# one would think. Here is a made-up step of eight kernels. Above, the host, your Python program, asks for one kernel
# after the other; below, the card runs them. Move the sliders: how large must the batch be, or how quick the host, to
# keep the card busy?

# %% tags=["hide-input"]
import numpy as np
from numba import cuda

from course_lib import cuda as cuda_ops
from course_lib import data, fast, figures, gpu, nn, streams
from course_lib.cuda.recording import record_launches
from course_lib.lesson import measured, measured_training, padded, predict, predicted_launches, table

made_up = {B: [(2 + B * size / 16) * 1e-6 for size in (1, 2, 1, 3, 2, 1, 1, 1)] for B in (1, 4, 16, 64, 256, 1024)}
figures.launch_rows(
    made_up, [f"kernel {k}" for k in range(1, 9)], batch=16, cost=10e-6,
    costs={"a quick host": 3e-6, "a slow host": 30e-6}, about="A made-up step of eight kernels.",
)  # fmt: skip

# %% [markdown]
# Which of the two waits in a real step? Guess now. This page measures it on a card, and then takes the waiting away,
# piece by piece, until you can say what is left to wait for.
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
# It takes up remarks of Prof. Hwu's lecture in ECE 508 and the end of Prof. Dey's course plan. You need lessons 09
# and 11, the model of 12, and fusion and races from 13. Everything runs without a GPU: kernels on the executor, streams
# in a simulator. Tables were measured one by one, beside hosts that are not equally quick: what the host does may
# differ from table to table. Reading and trying takes about 80 minutes.
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

# %% tags=["hide-input", "nbval-ignore-output"]
# The losses of both; where they differ depends on who rounds.
on_host, on_card = losses_with(fast), losses_with(cuda_ops)
assert np.allclose(on_host, on_card, rtol=1e-5, atol=0)
table([(k, a, b, f"{abs(b / a - 1):.0e}") for k, (a, b) in enumerate(zip(on_host, on_card, strict=True))],
      ["epoch", "processor", "card", "difference"])  # fmt: skip

# %% [markdown]
# The losses agree within rounding: float32 numbers were added in another order. That is the first thing to check. From
# here on the question is mostly *when* something is computed.
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
# For LeNet-5 and 64 images, whatever they show:

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
one_step = measured("one step of LeNet-5", card="h200")
CARD = f"an {one_step.card} ({one_step.date})"
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
# with 132 multiprocessors.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
how_many.confirm(f"about {round(len(noted), -1)}")

# %% [markdown]
# ## Where the time goes
#
# A launch only *enqueues* a kernel: the host tells the driver, and goes on without waiting for it.[^NVIDIA "CUDA
# C++ Programming Guide, Asynchronous Concurrent Execution"] So there are two clocks. (If you time a step from Python,
# call `gpu.synchronize()` before you start the clock and before you stop it, or you time the asking.) On an H200 a
# step's kernels were timed one by one, and so was the host, from call to call.

# %% tags=["hide-input"]
# A prediction.
share = predict(
    "The step is launched kernel by kernel. During which share of it does the card run a kernel?",
    ["less than a tenth", "about a third", "about two thirds", "nearly all of it"],
    answer="less than a tenth",
    reveals=3,
)
share

# %% tags=["hide-output", "hide-input"]
# One step, as it was measured.
figures.measured_step(one_step.more["launches"], CARD)

# %% tags=["hide-output", "hide-input"]
# Eight launches of it, larger.
figures.measured_step(one_step.more["launches"], CARD, shown=(4, 11))

# %% [markdown]
# <details class="reveal"><summary>A card that waits</summary>
#
# Each kernel is done long before the next one is asked for. Make the kernels twice as fast, and nothing happens: this
# step is **launch-bound**. (Others call it CPU-bound, or bound by overhead.) Most kernels of lessons 12 to 15 had so
# much to do that a launch hid behind them.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
kernels_share = sum(busy.values()) / (1e6 * one_step.seconds["one by one"])
share.confirm("less than a tenth" if kernels_share < 0.1 else f"{kernels_share:.0%}")

# %% [markdown]
# What does the host do the whole time? It is *in* the calls that launch, and between them in Python: which operation
# comes next, do the shapes fit, where does the result go? The lower rows are launches by themselves, of a kernel that
# adds two short arrays.

# %% tags=["hide-input"]
# What a launch costs, in the step and by itself.
each_launch = one_step.seconds["host, enqueuing"] / len(noted)
in_calls = np.mean([end - begin for begin, end in (one["enqueued"] for one in one_step.more["launches"])])
launch_costs = measured("a launch", card="h200").seconds
account = {
    "in the step: one launch with all around it": each_launch, "in the step: the call alone": in_calls,
    "in the step: Python between two calls": each_launch - in_calls,
    "by itself: Numba's own way": launch_costs["Numba's own, configured"],
    "by itself: the course's kernel[grid, block](...)": launch_costs["kernel[grid, block](...)"],
    "by itself: PyTorch's add": launch_costs.get("PyTorch's add"),
    "one of many in a graph": launch_costs["a kernel of a graph"],
}  # fmt: skip
table([(called, 1e6 * seconds) for called, seconds in account.items() if seconds],
      ["a launch", "microseconds"], formats={"microseconds": ",.1f"},
      caption=f"From one launch to the next: the host's time, and in a graph the card's; {CARD}")  # fmt: skip

# %% [markdown]
# Numba asks every argument for its type at each launch. The course writes down once what the driver needs of an array;
# in the step a call costs more than by itself, since most arrays there are new. So two remedies: fewer launches, or one
# request for all of them.
#
# First, fewer: ten launches set gradients to zero, and ten more add the new ones to these zeros. `nn.train` calls
# `net.renew_grad()` in place of `net.zero_grad()`, and the new gradients take the place of the old ones.

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
# Fusion (lesson 13) saves more launches. A recording saves nearly all of their cost.
#
# ## Record it once
#
# Every step makes the same requests; only the arrays in between are new, and need not be. So let the driver keep them:
# `gpu.record` runs a function once for real, then notes its launches, arrays included, as a **graph**, and a call of
# the graph enqueues all of them at once.[^NVIDIA "CUDA C++ Programming Guide, CUDA Graphs"] The host's Python between
# the launches is gone. Try it on a network that is small enough for the executor. (That has no graphs: there a call
# runs the function again.)

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
# Why `overwrite`, and not a new array? A recording has the *addresses* of its arrays, not their names.
# `record_launches` notes what a graph notes, the kernel, its grid and its arrays, and so shows what a replay would do:

# %%
@gpu.jit
def double(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]

source, out = gpu.to_device(np.ones(3, np.float32)), gpu.empty(3, np.float32)

def by_name():
    double[1, 32](source, out)  # whatever is called `source` now

with record_launches() as kept:
    by_name()
source = gpu.to_device(np.full(3, 50, np.float32))  # a new array with the old name
by_name()
print("called again:", gpu.to_host(out))
for launch in kept:
    launch.again()
print("replayed:    ", gpu.to_host(out))

# %% [markdown]
# Called again, the function finds the new array; replayed, it still reads the old one, without an error. A training
# loop that makes new arrays for images *and* labels trains on its first batch for ever, and the loss falls beautifully.
#
# What else does a recording not see?
#
# - **A number.** A learning rate that is passed as a number stays what it was. `nn.train` keeps it in a device array.
# - **An `if` of the host.** It is decided once and for all.
# - **A shape.** The last, smaller batch needs a graph of its own.
# - **The host.** Inside the step it must not wait for the card, nor use one of its values. That is why this step
#   returns `softmax_cross_entropy_sums` and leaves the loss on the device.
#
# Now the times. PyTorch has both ways too.

# %% tags=["hide-input"]
# One step in five ways.
ways = {"one by one": "launched one by one", "recorded": "recorded", "PyTorch": "PyTorch, launched one by one",
        "PyTorch, CUDA graph": "PyTorch, recorded",
        "PyTorch, compiled and CUDA graph": "PyTorch, compiled and recorded"}  # fmt: skip
steps_of = {case: measured_training(f"{case}, B = 64", card="h200") for case in ("LeNet-5", "MLP 784-128-10")}
table(
    [(called, *(1e6 * steps_of[case].seconds[way] for case in steps_of)) for way, called in ways.items()],
    ["a training step", *steps_of], formats=dict.fromkeys(steps_of, ",.0f"),
    caption=f"Microseconds a step, B = 64, float32, measured on an {steps_of['LeNet-5'].card} "
    f"({steps_of['LeNet-5'].date}), all in one run; its host was slower than that of the step above",
)  # fmt: skip

# %% [markdown]
# PyTorch asks more than twice as fast as the course does, and still its recorded step takes a seventh of the time or
# less. A graph does not make kernels faster. It takes away what was between them, and for a small network that was
# nearly everything. Recorded steps still differ: `torch.compile` fuses some of PyTorch's kernels, the course's are
# compiled for these very sizes, and `gpu.record` lets launches run side by side that need nothing of each other, where
# PyTorch records one stream in order. How much each counts was not measured.
#
# <details><summary>The same in PyTorch</summary>
#
# | here | in PyTorch |
# |---|---|
# | `gpu.record(step)` | `torch.cuda.graph(...)`, or `torch.compile(model, mode="reduce-overhead")` |
# | `gpu.overwrite(xs, rows)` | `static_x.copy_(rows)` |
# | `gpu.pinned`, `gpu.overwrite(.., stream)` | `tensor.pin_memory()`, `.copy_(.., non_blocking=True)` |
# | `gpu.stream(priority=-1)`, `gpu.event()` | `torch.cuda.Stream(priority=-1)`, `torch.cuda.Event()` |
# | `net.renew_grad()` | `zero_grad(set_to_none=True)`, which is its default |
# | gather and copy ahead | `DataLoader(num_workers=.., pin_memory=True)`, and a stream for the copies |
# | `gpu.to_host(loss)` in each step | `loss.item()`, the wait that nobody sees |
#
# </details>
#
# ## Without a card: a step, predicted
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
    + [("all", len(predicted), sum(said.values()), sum(found.values()))]
    + [("launches by themselves", len(predicted), None, 1e6 * len(predicted) * account[
        "by itself: the course's kernel[grid, block](...)"])],
    ["part", "launches", "predicted", "measured"], formats={"predicted": ",.1f", "measured": ",.1f"},
    caption=f"Microseconds of the kernels, one after the other, and of as many launches; measured on {CARD}",
)  # fmt: skip

# %% [markdown]
# The model says about twice what was measured. More than half of the excess is in the three launches of the forward
# pass; of most others it says what it says of an empty kernel. It errs towards slow kernels, so its verdict
# "launch-bound" is safe. That much you can find out without a card: count launches, multiply them by what one costs
# you, and compare.
#
# ## A batch that fills the card
#
# One launch for a larger batch does more work, and that is a reason for mini-batches that has nothing to do with
# learning: put B inputs together and solve them in one go, so that each launch has enough to do.[^Hwu "Mini-Batching
# May be Needed to Fill GPU"]

# %% tags=["hide-input"]
# A prediction.
by_batch = measured("steps of LeNet-5 by batch", card="h200")
fourfold = predict(
    "A recorded step trains on 64 digits. Now give it 256, four times as many. How much longer does the step take?",
    ["less than a tenth longer", "a tenth to a half longer", "about twice as long", "about four times as long"],
    answer="a tenth to a half longer",
    reveals=2,
)
fourfold

# %% tags=["hide-output", "hide-input"]
# An image's time against the batch.
recorded, single = by_batch.along("recorded"), by_batch.along("one by one")
figures.time_of_an_image({"launched one by one": single, "recorded": recorded}, CARD)

# %% [markdown]
# <details class="reveal"><summary>Double the batch, and see</summary>
#
# A step is bound by asking (*overhead*), by arithmetic, or by memory traffic. Horace He's test: double the
# batch.[^He "Making Deep Learning Go Brrrr From First Principles"] If the step hardly takes longer, neither arithmetic
# nor traffic binds it. In this picture that is a line that falls by half.
#
# Then either the card waits for the asking, or its kernels leave most of it idle. The two lines are an example of each.
# Launched one by one, asking takes thousands of microseconds whatever the batch, and the line falls nearly to the right
# end. Recorded, it falls as long as the blocks do not fill the card, and bends where they do. That is not a floor yet:
# from 1,024 to 4,096 images the step takes less than three times as long.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ratio = recorded[256] / recorded[64]
fourfold.confirm("a tenth to a half longer" if 1.1 < ratio < 1.5 else f"{ratio:.2f} times as long")

# %% [markdown]
# Here is the first picture once more, with LeNet-5's measured kernels and three measured costs of a launch:

# %% tags=["hide-input"]
# Who waits for whom, in the real step.
kernels = {int(B): seconds for B, seconds in by_batch.more["kernels"].items()}
kernels[64] = [one["seconds"] for one in one_step.more["launches"]]
names = [f"{one['kernel'].strip('_')}, {one['part'].lstrip('0123456789 ')}" for one in one_step.more["launches"]]
figures.launch_rows(
    kernels, names, batch=64, cost=each_launch,
    costs={"our step": each_launch, "a launch alone": launch_costs["kernel[grid, block](...)"],
           "in a graph": launch_costs["a kernel of a graph"]},
    about=f"Kernels measured on {CARD}.", title="Who waits for whom, in LeNet-5's step?",
)  # fmt: skip

# %% [markdown]
# It is a model: a kernel begins when it has been asked for and the one before is done. The recorded step was even
# quicker than it says, since in its graph some kernels run side by side.

# %% [markdown]
# ## Memory that stays where it is
#
# A batch has to get to the card. Usual memory is **pageable**: the operating system may move it, or put it on the disk,
# at any time. A card cannot fetch from there by itself, so the driver copies each piece into a buffer of its own first,
# and the host waits. **Pinned** memory stays where it is; the card fetches it while the host goes on.[^NVIDIA "CUDA C++
# Programming Guide, Page-Locked Host Memory"] `gpu.pinned(shape, dtype)` is used like any other array. It is slow to
# get, and the system cannot lend its memory to anybody else: make few, and use them again.

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
# Small copies are nearly all latency: from pinned memory 256 KiB, 64 times as many bytes as 4 KiB, take 21 µs instead
# of 15. Large ones show the difference. And what does the host see of it, if the copy is asked for in a stream?

# %% tags=["hide-input"]
# Until the copy is done, and until the host may go on.
sizes = [2**14, 2**18, 2**22, 2**26]
rows_of_copies = []
for kind in ("pinned", "pageable"):
    done, returns = copies.along(f"to the device, {kind}"), copies.along(f"to the device, {kind}, returns")
    rows_of_copies += [(kind, size // 1024, 1e6 * done[size], 1e6 * returns[size]) for size in sizes]
table(rows_of_copies, ["memory", "KiB", "done after", "host goes on after"],
      formats={"done after": ",.0f", "host goes on after": ",.0f"},
      caption=f"Microseconds of a copy to the card, measured on {CARD}; 256 KiB are 64 padded digits")  # fmt: skip

# %% [markdown]
# From pinned memory the host goes on after about ten microseconds, however large the copy is. From pageable memory it
# is held for most of the time.
#
# ## Read the next, compute this one, write the last
#
# What is asked of a card in one **stream** is done in order. Work in two streams has no order, so it may overlap:
# copies to the card, kernels, and copies back are done by three different units. The idea for a job in pieces: read the
# next set of inputs, process the present one, write the previous outputs.[^Hwu "Some Other Optimizations"] An **event**
# is a mark in a stream that another stream can wait for.
#
# One stream is not like the others. What is asked for without naming a stream goes to the *default* one, which waits
# for all others, and they for it, unless they were made non-blocking. One such launch in each turn of a loop is a
# barrier across all streams, and a common reason why nothing overlaps. (PyTorch's streams are non-blocking. There
# nothing orders them against the default stream, and you write `wait_stream` yourself.)

# %% tags=["hide-input"]
# A prediction.
three = predict(
    "Eight pieces. Reading, computing and writing each take 10 µs a piece, so one stream needs 240 µs. How long do "
    "three streams take?",
    ["80 µs", "100 µs", "160 µs", "240 µs"],
    answer="100 µs",
    reveals=2,
)
three

# %% tags=["hide-output", "hide-input"]
# The job in pieces, to play with.
figures.pipeline(read=10, compute=10, write=10)

# %% [markdown]
# <details class="reveal"><summary>As long as the slowest, and the two ends</summary>
#
# Once the pipeline is full, a piece comes out whenever the slowest of the three units has done one. At both ends the
# others have nothing to do: n pieces take n + 2 turns instead of 3 n. Eight pieces gain 2.4, very many nearly 3. With
# pageable memory the host waits for each copy before it asks for the next thing, and it is as if there were one stream.
#
# Now choose *do not wait* and set `compute` to 20: which pieces are computed from the wrong input?
#
# </details>
#
# <details><summary>Answer</summary>
#
# 0 to 5. Piece k + 2 is read into the place of piece k while that is computed, or before. Nobody comes behind 6 and 7.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the simulator.
whole = streams.simulate(streams.read_compute_write(10, 10, 10, slots=3), figures.pipelines.pipeline_requests(8, 3))
three.confirm(f"{whole.end:g} µs")

# %% [markdown]
# In code, each piece has a place on the card: a buffer for what comes in and one for what goes out.
# `event.wait(stream)` makes that *stream* wait; the host goes on at once. Before a place is used again, its last user
# must be done; those are the two waits at the top.

# %%
@gpu.jit
def squares(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i]

def in_three_streams(host, back, places=2):
    reads, computes, writes = gpu.stream(), gpu.stream(), gpu.stream()
    ins, outs = ([gpu.empty(host.shape[1], np.float32) for _ in range(places)] for _ in range(2))
    read, computed, written = ([gpu.event() for _ in host] for _ in range(3))
    for k in range(len(host)):
        p = k % places
        if k >= places:
            computed[k - places].wait(reads)
            written[k - places].wait(computes)
        gpu.overwrite(ins[p], host[k], reads)
        read[k].record(reads)
        read[k].wait(computes)
        squares[4, 64, computes](ins[p], outs[p])
        computed[k].record(computes)
        computed[k].wait(writes)
        gpu.to_host(outs[p], writes, out=back[k])
        written[k].record(writes)
    writes.synchronize()

# %% tags=["hide-input"]
# It computes the right numbers.
host, back = gpu.pinned((5, 256), np.float32), gpu.pinned((5, 256), np.float32)
host[...] = np.arange(5 * 256, dtype=np.float32).reshape(5, 256)
in_three_streams(host, back)
print("five pieces, all squared:", np.array_equal(back, host * host))

# %% [markdown]
# A card did such a job with pieces of 16 MiB and a kernel that works longer, about three quarters as long as reading a
# piece takes. It noted when each part began and ended, by its own clock. In one stream:

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
# How long the whole job took, and how long by the rule.
stages = [job.seconds[f"only {stage}"] for stage in ("read", "compute", "write")]
by_rule = max(stages) + (sum(stages) - max(stages)) / 8
one_by_one = copies.along("to the device, pageable")[2**24] + copies.along("to the host, pageable")[2**24]
shown_ways = {
    "one stream": job.seconds["one stream"], "three streams": job.seconds["three streams"],
    "three streams, by the rule": by_rule, "only read": stages[0], "only compute": stages[1],
    "only write": stages[2], "three streams, pageable": job.seconds["three streams, pageable"],
    "its pageable copies, by themselves": 8 * one_by_one,
}  # fmt: skip
table([(way, 1e3 * seconds, job.seconds["one stream"] / seconds) for way, seconds in shown_ways.items()],
      ["way", "milliseconds", "times as fast"], formats={"milliseconds": ".2f", "times as fast": ".1f"},
      caption=f"{job.size}, measured on {CARD}. By the rule: the slowest stage, one piece of the others")  # fmt: skip

# %% [markdown]
# The rule explains most of it: the slowest stage for all pieces, and of the two others one piece, which nothing hides.
# From pageable memory the same job takes several times as long as in *one* stream from pinned memory: its copies by
# themselves take most of that time, and the host waits for each.
#
# Streams are no second card. A kernel that fills all multiprocessors leaves no room for another one. What overlaps well
# uses *different* units, or leaves most of the card idle.
#
# ## The wait that is missing
#
# Training can load ahead in the same way: while a step computes, the host gathers the rows of the next batch into a
# pinned buffer, and the card fetches them. There are two places on either side, used in turn. Here is what a host asks
# for. `("wait", event)` makes the host wait, `("wait", event, stream)` that stream. With
# `waits=False` one wait is left out: then nobody tells the copies that the card still trains on what they overwrite.

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
# A step in brackets trained on the wrong numbers: batch k + 2 overwrote its batch k while it ran, or even before.
# Nothing crashes, and the loss even falls. With the wait in its place:

# %%
streams.simulate(JOB, load_ahead(6))

# %% [markdown]
# Both take 130 µs: after the first batch the card never waits, and the copies have time. So a clock does not reveal
# that the wait is missing. Nor need the numbers: with steps shorter than gathering they come out right without it.

# %%
quick = streams.simulate(JOB.taking(train=5), load_ahead(6, waits=False))
print("wrong steps:", len(quick.wrong))
print("a race:", quick.races[0])

# %% [markdown]
# So "it came out right" proves nothing. A race is two accesses to one place, one of them a write, that nothing keeps in
# order, whatever today's result: the definition of lesson 13, with streams in place of threads.
#
# The other mistake is one wait too many. Here the host looks at the loss after each step, to print it:

# %%
def looking(batches):
    asked = []
    for request in load_ahead(batches):
        asked.append(request)
        if request[0] == "record" and request[1].startswith("trained"):
            asked.append(("wait", request[1]))  # the host
    return asked

streams.simulate(JOB, looking(6))

# %% [markdown]
# Right, and nothing overlaps any more: the host waits for the card, and then the card for the host. `nn.train` loads
# ahead on a card, and keeps the losses and the number of right answers on the device until the end of the epoch.
#
# ## Answering while learning
#
# Machine learning has two phases, training and inference.[^Hwu "Machine Learning Separates into Two Phases"] Inference
# is the forward pass alone: about a third of a step's multiplications (lesson 04), no gradients, no velocities. Here
# both are recorded:

# %% tags=["hide-input"]
# What the two phases cost.
forward = by_batch.along("forward")
table([(B, 1e6 * forward[B], 1e6 * recorded[B], forward[B] / recorded[B]) for B in (1, 64, 1024, 4096)],
      ["images", "inference", "training", "share"],
      formats={"inference": ",.0f", "training": ",.0f", "share": ".0%"},
      caption=f"LeNet-5, microseconds of a forward pass and of a step, both recorded, measured on {CARD}")  # fmt: skip

# %% [markdown]
# With large batches the share is about that third. With small ones it is more: hardly anything depends on the
# multiplications there.
#
# Must the two phases come one after the other? A phone can recognise its owner's speech and tune its network to that
# voice at the same time.[^Hwu "New Opportunities Have Arisen from Use of GPUs"] Both then share one card, and an answer
# is urgent: somebody waits for it. A stream may have a **priority**, the lower the number the more urgent: when a
# multiprocessor has room, blocks of that stream go first. Running blocks are not stopped.[^NVIDIA "CUDA C++
# Programming Guide, Stream Priorities"]
#
# ```python
# answer = gpu.record(lambda: net.forward(question))
# answer(gpu.stream(priority=-5))  # -5 goes before 0, the usual one
# ```

# %% tags=["hide-input"]
# A prediction.
serving = measured("answers while training", card="h200")
percentile, pace, answer_parts = (serving.more[key] for key in ("percentiles", "steps_per_second", "parts"))
lone, beside, first = (1e6 * percentile[way]["50"] for way in
                       ("nothing else runs", "in a stream of its own", "in one that goes first"))  # fmt: skip
waits = predict(
    "A card trains without pause, batches of 1,024 digits, three steps always in the queue. Eight digits come and want "
    f"an answer. Alone on the card that takes {lone:.0f} µs; beside training, in a stream of its own, {beside:.0f}. "
    f"How much of these {beside - lone:.0f} µs more does a priority take away?",
    ["hardly any", "about half", "nearly all"],
    answer="hardly any",
    reveals=3,
)
waits

# %% tags=["hide-output", "hide-input"]
# How long answers take.
said = {"nothing else runs": "alone on the card", "in one that goes first": "in a stream of its own, with priority",
        "recorded with priority, in one that goes first": "the same, its kernels recorded with priority"}  # fmt: skip
table(
    [(said.get(way, way), 1e6 * percentile[way]["50"], 1e6 * percentile[way]["99"], pace[way] or None)
     for way in percentile],
    ["an answer", "median", "99 of 100 within", "training steps a second"],
    formats={"median": ",.0f", "99 of 100 within": ",.0f", "training steps a second": ",.0f"},
    caption=f"Microseconds; {serving.size}, measured on {CARD}",
)  # fmt: skip

# %% tags=["hide-output", "hide-input"]
# Where an answer's time goes.
rows_of_answers = [
    (f"{clock}: {part}", *(1e6 * answer_parts[way][clock][part] for way in
                           ("nothing else runs", "in a stream of its own", "in one that goes first")))
    for clock, each in answer_parts["nothing else runs"].items() for part in each
]  # fmt: skip
table(rows_of_answers, ["part of an answer", "alone", "beside training", "with priority"],
      formats=dict.fromkeys(("alone", "beside training", "with priority"), ",.0f"),
      caption=f"Microseconds, medians, by the host's clock and the card's, measured on {CARD}")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Behind whom do you queue?</summary>
#
# In the training's own stream an answer stands behind all steps that were asked for before it. In a stream of its own
# it shares the card with them, and its forward pass takes more than eight times as long as alone.
#
# Why does priority change so little? It chooses among blocks that *wait*; those that run go on to their end, and the
# kernels of an answer come one after the other. So each of the 14 waits. But it is held up for 29 µs, and a kernel of
# this training takes 5 on average, the longest 56: that is part of the reason at most. What else holds them was not
# measured. (A priority recorded in the graph's kernels does no better.) Whoever must answer in time must
# leave multiprocessors free.
#
# For a service the median is not enough: people remember the one slow answer in a hundred. And both use the *same*
# weights here. An answer that runs during an update reads some from before it and some from after, a race. If that
# matters, copy the weights between two steps, and answer from the copy.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
spared = (beside - first) / (beside - lone)
waits.confirm("hardly any" if spared < 0.2 else "about half" if spared < 0.7 else "nearly all")

# %% [markdown]
# ## What's your longest?
#
# You write code, test it, and write on. How long is one turn of that cycle, and what is the longest that you ever
# had?[^Hwu "Test Cycle Time is Important"] Among the answers: half an hour for a compilation or a fresh installation,
# two weeks for a genome.[^Hwu "Your Cycle Times are Probably Small"] For anyone who trains networks, the cycle is an
# experiment.

# %% tags=["hide-input"]
# A prediction.
epoch = measured("an epoch", card="h200")
surprise = predict(
    "An epoch of LeNet-5 on 60,000 digits, batches of 64. The card launches kernel by kernel. How does it compare with "
    "the processor beside it?",
    ["ten times faster and more", "two to ten times faster", "less than twice as fast, or slower"],
    answer="less than twice as fast, or slower",
    reveals=2,
)
surprise

# %% tags=["hide-output", "hide-input"]
# Seconds of an epoch, and what they mean for a day of work.
EPOCHS, EXPERIMENTS = 20, 30
processor = f"a processor with {epoch.more['cores']} cores" if "cores" in epoch.more else "the processor beside it"
order = {
    "nn.train on the processor": "nn.train on the processor", "nn.train on the card": "nn.train, launched one by one",
    "recorded, each batch in turn": "recorded, each batch in turn",
    "recorded, batches ahead": "recorded, batches ahead",
    "nn.train on the card, recorded": "nn.train, recorded, many batches ahead",
    "digits stay on the card": "recorded, digits stay on the card",
    "training alone": "(training alone, always the same batch)", "feeding alone": "(feeding alone, no training)",
}  # fmt: skip
once = ("nn.train on the card, recorded", "training alone", "feeding alone")
table(
    [(called, t := epoch.seconds[way], 1e6 * t / 937.5, EXPERIMENTS * EPOCHS * t / 60 if way not in once else None)
     for way, called in order.items()],
    ["way", "seconds an epoch", "µs a step", f"minutes for {EXPERIMENTS} experiments"],
    formats={"seconds an epoch": ".2f", "µs a step": ",.0f", f"minutes for {EXPERIMENTS} experiments": ",.1f"},
    caption=f"LeNet-5, {epoch.size}, measured on {CARD} and {processor}; slow ways on a part of the images. "
    f"An experiment is {EPOCHS} epochs, and 30 are ten learning rates with three seeds each",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>A card that a processor keeps up with</summary>
#
# Launched one by one, the most powerful card that this course has measured is less than twice as fast as the processor
# beside it, which does the same work without asking anybody. Recorded, the same kernels on the same card change the
# work itself: thirty experiments with batches ahead now take less time than one did. You try ten learning rates instead
# of guessing one, with three seeds each, as lesson 06b recommends.
#
# Compare the lower rows. Feeding takes half as long as training. *In turn*, a part of it comes on top; *ahead*, an
# epoch is hardly longer than training alone. The remedy that everybody thinks of first, to leave the digits on the card
# (246 MB) and gather each batch there, saves no more: what is hidden is saved already. It pays where feeding is the
# longer of the two. (`nn.train` was timed on trainings of a single epoch, with all that comes once a training, such as
# its recording; so it has no time for thirty experiments in the table.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
gain = epoch.seconds["nn.train on the processor"] / epoch.seconds["nn.train on the card"]
surprise.confirm("less than twice as fast, or slower" if gain < 2 else
                 "two to ten times faster" if gain < 10 else "ten times faster and more")  # fmt: skip

# %% [markdown]
# And the batch? Now it can be chosen by what counts, the time until the network is good. LeNet-5 trains until it reads
# 97 of 100 digits that it has never seen, with the digits on the card. (There are 4,000 different digits to learn from,
# each moved a little fifteen times, and 1,000 judge.) Each size of batch has the best of four learning rates.

# %% tags=["hide-input"]
# A prediction.
SHARE = "0.97"
until = {B: measured(f"until enough are right, B = {B}", card="h200") for B in (64, 256, 1024, 4096)}
runs = {B: [run for run in one.more["runs"] if run["lr"] == one.more["best"]] for B, one in until.items()}
quickest = predict(
    "Recorded, an image of a batch of 4,096 costs about a tenth of what it costs in a batch of 64. Which size gets to "
    "97 % in the fewest seconds?",
    ["the smallest, 64", "one in between, 256 or 1,024", "the largest, 4,096"],
    answer="one in between, 256 or 1,024",
    reveals=2,
)
quickest

# %% tags=["hide-output", "hide-input"]
# Epochs and seconds until enough are right: the middle one of three seeds.
middle = {B: tuple(np.median([run["reached"][SHARE] for run in each], axis=0)) for B, each in runs.items()}
spread = {B: [run["reached"][SHARE][1] for run in each] for B, each in runs.items()}
table([(B, until[B].more["best"], epochs, epochs * (60_000 // B), seconds, min(spread[B]), max(spread[B]))
       for B, (epochs, seconds) in middle.items()],
      ["batch", "learning rate", "epochs", "steps", "seconds", "least", "most"],
      formats={"batch": ",d", "epochs": ".1f", "steps": ",.0f"} | dict.fromkeys(("seconds", "least", "most"), ".3f"),
      caption=f"LeNet-5 until 97 % are right: the middle of three seeds, measured on {CARD}")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Neither the cheapest image nor the fewest epochs</summary>
#
# Why not take the largest batch? An epoch with batches of 4,096 has 64 times fewer updates than with 64. With 64 an
# epoch brings the most, since it has the most steps, and costs the most. With 4,096 an image costs the least, but the
# network needs more than ten times as many epochs: a larger batch takes surer steps, but fewer, and none of the four
# learning rates made up for it (twice the best one never arrived). By the middle seed the shortest time lies in
# between. But the ranges of three seeds overlap, even with those at both ends. How sure is "in between"? You would run
# more seeds now: they cost a tenth of a second each.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
quickest.confirm({64: "the smallest, 64", 4096: "the largest, 4,096"}.get(
    min(middle, key=lambda B: middle[B][1]), "one in between, 256 or 1,024"))  # fmt: skip

# %% [markdown]
# In what order would you go about a step of your own?
#
# 1. Count launches, and compare the host's time with the kernels'. If the host is the slower one, record the step, or
#    fuse kernels (lesson 13).
# 2. Look for what waits: a copy from pageable memory, a loss that is read in each step, a `synchronize` for no reason.
# 3. Load ahead, so that training hides feeding. What is longer than training cannot be hidden: copy more at once, or
#    leave the data on the card.
# 4. Only now is it the kernels' turn, and lessons 12 to 15 apply.
#
# On a step of your own you see all this in a profiler: `nsys profile python train.py`, or `torch.profiler` with its
# trace. Both draw the rows of this page, the host's calls above and the card's kernels and copies below. Short kernels
# with wide gaps: launch-bound. A long `cudaStreamSynchronize` or an `.item()` in each step: somebody looks at a value.
# Copies and kernels that never stand above each other: nothing overlaps.

# %% [markdown]
# ## Optional: what overlaps inside a graph
#
# <details><summary>A graph knows who needs whom</summary>
#
# Launches in one stream run in order, whether they need each other or not. A graph has ties instead. `gpu.record` reads
# from a kernel's text which of its arrays it may write, and ties a launch to those that wrote what it reads, and to
# those that read or wrote before what it overwrites: an update of W waits for the backward pass that still reads W. All
# others are free, such as the ten updates among themselves.
#
# To see the gain, compare the kernels' own times, added up (each timed in a graph of many copies of itself), with the
# whole recorded step's:
#
# </details>

# %% tags=["hide-input"]
# Kernels one after the other, and the step as a graph.
rows_of_graphs = []
for called, one in (("LeNet-5", one_step), ("MLP 784-128-10", mlp_measured)):
    alone = sum(launch["seconds"] for launch in one.more["launches"])
    whole_step = measured(f"steps of {called} by batch", card="h200").along("recorded")[64]
    rows_of_graphs.append((called, len(one.more["launches"]), 1e6 * alone, 1e6 * whole_step))
table(rows_of_graphs, ["network", "kernels", "one after the other", "as a graph"],
      formats={"one after the other": ",.0f", "as a graph": ",.0f"},
      caption=f"Microseconds of a step, B = 64, measured on {CARD}")  # fmt: skip

# %% [markdown]
# ## Try it
#
# - In the second picture of who waits for whom, choose *a launch alone*. Does any batch keep the card busy? And how
#   cheap must a launch be for batches of 1,024 to do so, or of 64?
#   <details><summary>Answer</summary>
#
#   Only one of 4,096 does. With 1,024 a launch may cost 5 µs, and with 64 no more than 2.3. Only in a graph is a launch
#   that cheap, and then the card is busy at every batch.
#
#   </details>
# - Change `load_ahead` so that training goes to the default stream, which the simulator calls 0. What does `simulate`
#   say, and does it still need its waits?
#   <details><summary>Answer</summary>
#
#   150 µs: each copy waits for the step before, and each step for its copy; only gathering still overlaps. The waits
#   between copies and steps can all go, since the default stream keeps that order by itself; the host's own wait for
#   its buffer stays. The 20 µs more are the price of that order.
#
#   </details>

# %% tags=["hide-input"]
# What "Try it" says of the default stream, confirmed.
in_default = [tuple(0 if part == "steps" else part for part in one) for one in load_ahead(6)]
assert streams.simulate(JOB, in_default).end == 6 + 6 * (4 + 20)
assert not streams.simulate(JOB, [one for one in in_default if one[0] != "wait" or len(one) == 2]).races

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - The slide on streams says "input feature maps" and "outputs": it thinks of one layer at a time. For a whole network
#   that stays on the card only batches and results cross the border, as here.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A step has 40 launches at 10 µs, and its kernels run for 300 µs together. A colleague makes the kernels three
# times as fast. What is gained if the step is launched one by one, and what if it is recorded, where at most one kernel
# can start every 1.5 µs?
#
# <details><summary>Answer</summary>
#
# One by one the host needs 400 µs before and after: nothing is gained. Recorded, the step took about 300 µs and now
# takes about 100: 40 starts are 60 µs, still less than the work.
#
# </details>

# %% [markdown]
# **2.** Your loop replays a recorded step, and the loss of its batches falls to zero within a hundred steps. The
# validation loss soon stops falling, and then stays high or rises. What do you look at first?
#
# <details><summary>Answer</summary>
#
# How the batch gets into the step. If each turn makes new device arrays, for images and labels, instead of overwriting
# the recorded ones, the graph trains on the first batch again and again. It learns 64 images by heart.
#
# </details>

# %% [markdown]
# **3.** Two streams, one event: in your loop, `copied.record(copies)` comes after `copied.wait(steps)`. The numbers are
# right on your machine. Is the program right?
#
# <details><summary>Answer</summary>
#
# No. A wait means the last record *before* it. In the first turn nobody has recorded the event yet, and it waits for
# nothing; later it waits for the copy of the batch before. Step and copy race in each turn, and on your machine the
# copy happens to win.
#
# </details>
