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
# # 19 · OpenCL (optional): one job, two kinds of device
#
# The lessons before this one spoke to the graphics cards of one maker. But every computer has a CPU that computes, and
# many have a graphics processor by somebody else. **OpenCL** is one language for all of them, and it can keep several
# busy at the same time. Is that worth the trouble? Most people would give the whole job to the faster device, since the
# slower one would only hold it up. Below, a card needs 10 ms for a batch of images and the CPU beside it 30 ms. Give
# the CPU something to do.

# %% tags=["hide-input"]
import numpy as np

from course_lib import data, figures, opencl, reference
from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.shares_of_two import Pair
from course_lib.lesson import Listing, measured, opencl_run, predict, table
from course_lib.opencl import cl

figures.share_explorer({"a card and a CPU": Pair(("Card", "CPU"), (0.010, 0.030))}, start=100)

# %% [markdown]
# Half and half is worse than the card alone. But there is a split with which the batch is done in 7.5 ms. To use it,
# one program has to find both devices, give each its part of the numbers, start both, and wait for both. OpenCL calls
# the machinery for that its *runtime system*, and most of this page is about it. At the end we come back to the split,
# with real devices and a clock.
#
# ## You will be able to
#
# - write an OpenCL program from the first question, "what devices are there?", to the result, and name every object in
#   it;
# - translate a CUDA kernel and its launch, and say what becomes of a work-group on a CPU;
# - tell a queue which commands must wait for which, and read from events what really happened;
# - predict the best split of a job between two devices, and say when a second device is not worth it.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It is optional: no other lesson needs it. It covers five hours of Prof. Dey's course plan at IIT Kharagpur, "OpenCL:
# runtime system" and "OpenCL: heterogeneous computing". You need lessons 11 and 12.
#
# You do not need an OpenCL device. Without one, every cell still runs: each launch on this page was carried out on a
# real device and recorded, and the recording answers. As soon as you change a kernel or a number, no recording fits,
# and the cell says how to get a device; on Linux it is one line,
#
#     python -m pip install "pyopencl[pocl]"
#
# and `course doctor` says whether it works. Times were measured once, on the device that is named beside them. Reading
# and trying takes about 75 minutes.
#
# </details>

# %% [markdown]
# ## Ask what there is
#
# A CUDA program knows what it will run on. An OpenCL program does not. In 2008 several makers of processors agreed on
# a standard,[^Khronos "The OpenCL Specification 1.0, Acknowledgements"] and since then each of them has supplied an
# implementation for its own: for CPUs, for graphics processors, for telephones. Such an implementation is called a
# **platform**. Which platforms a machine has, and which **devices** they have, a program finds out when it runs. What
# does yours have?

# %% tags=["nbval-ignore-output"]
for found in opencl.find_devices():
    print(f"{found.kind}: {found.name} ({found.platform}), {found.units} compute units")
if not opencl.live():
    print("none; this page answers from its recording:", opencl.why_none())

# %% [markdown]
# And these are the devices that this page was measured with. Both are programs: **PoCL** compiles kernels for the CPU,
# and **Oclgrind** simulates a device and watches every step, as the course's executor does for CUDA.

# %% tags=["hide-input"]
# The devices of the machine that was measured.
run = opencl_run("amd-epyc")
table(
    [(d["name"], d["kind"], d["units"], d["group"], d["local_bytes"] // 1024) for d in run.devices],
    ["device", "kind", "compute units", "work-items in a group, at most", "local memory, KiB"],
    caption=f"Found by pyopencl on a machine with an {run.processor} ({run.date})",
)

# %% [markdown]
# A **compute unit** is a core of a CPU or a multiprocessor of a graphics card. So the first row is an ordinary CPU with
# two cores.
#
# ## The seven objects
#
# Between that question and the first result stand seven kinds of object. They look like bureaucracy, until one sees
# what each is for. Step through the lines of a host program and watch what they make. (`cl` is the usual name for
# `pyopencl`, which brings OpenCL to Python.)

# %%
figures.opencl_objects()

# %% [markdown]
# ## From text to a result
#
# Lesson 11's first kernel, ReLU with a slope for the negative numbers. In OpenCL a kernel is a *text*, in a dialect of
# the language C:

# %%
text = """
__kernel void leaky_relu(__global const float *x, const float slope,
                         __global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = x[i] > 0 ? x[i] : slope * x[i];
}
"""

# %% [markdown]
# And this is the same in CUDA, as Numba writes it:
#
# ```python
# @gpu.jit
# def leaky_relu(x, slope, y):
#     i = cuda.grid(1)
#     if i < x.size:
#         y[i] = x[i] if x[i] > 0 else slope * x[i]
# ```
#
# What CUDA calls a thread is a **work-item** here, and `get_global_id(0)` is its number along axis 0, which is x.
# `__global` says in which memory a pointer points. And `n` has to be given: a pointer knows where numbers begin, and
# not how many there are. Now the host program, line by line as in the picture.

# %%
x = np.array([3, -1, 4, -1, 5, -9, 2, -6, 5, 3], np.float32)

device = opencl.device()
context = cl.Context([device])
queue = cl.CommandQueue(context)
kernel = cl.Kernel(cl.Program(context, text).build(), "leaky_relu")

flags = cl.mem_flags
x_buffer = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
y_buffer = cl.Buffer(context, flags.WRITE_ONLY, x.nbytes)

# %% [markdown]
# (`opencl.device()` takes the first device that works. Everything else is pyopencl.) What is missing is the launch. It
# needs two sizes, and they are not quite CUDA's. A **work-group** is CUDA's block, a group of work-items that work
# together; the *local size* says how many work-items it has. The **NDRange** is the whole launch, CUDA's grid; its size
# is called the *global size*.

# %% tags=["hide-input"]
two_sizes = predict(
    "Ten numbers. In CUDA the launch is `leaky_relu[3, 4](...)`, three blocks of four threads. In OpenCL the local "
    "size is 4. What is the global size?",
    [3, 4, 10, 12],
    answer=12,
    reveals=2,
)
two_sizes

# %% tags=["hide-output", "hide-input"]
# The launch, and the copy of its result.
global_size, local_size = (12,), (4,)
kernel(queue, global_size, local_size, x_buffer, np.float32(0.5), y_buffer, np.int32(x.size))
y = np.empty_like(x)
cl.enqueue_copy(queue, y, y_buffer)
print(y)

# %% [markdown]
# <details class="reveal"><summary>Work-items are counted, not groups</summary>
#
# CUDA counts the blocks of a grid, OpenCL the work-items of an NDRange: 3 · 4 = 12. The launch, folded above, is
# `kernel(queue, (12,), (4,), x_buffer, np.float32(0.5), y_buffer, np.int32(10))`. Written by habit, `(3,)` would start
# three work-items, and seven numbers would stay as they were. With 10 most devices refuse, because the global size must
# be a multiple of the local size.[^Khronos "The OpenCL Specification 1.2, clEnqueueNDRangeKernel"] (OpenCL 2.0 lets a
# device allow it.) So one rounds up, and two work-items find nothing to do; the guard `if (i < n)` is for them.
#
# And why `np.float32(0.5)`? OpenCL copies an argument byte by byte into the kernel, and a number of Python's does not
# say how many bytes it has.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was launched.
assert np.array_equal(y, reference.leaky_relu_forward(x, 0.5)[0])
two_sizes.confirm(global_size[0])

# %% [markdown]
# Two things happened in these few lines that none of the CUDA lessons had. The text was compiled *now*, by a compiler
# that is part of the device's driver. And nothing in them says what kind of device it was.
#
# Context, queue and program are the same for every job, so the course keeps them in one object, a `Session`.
# Its arrays remember their shapes; copies are as visible as in lesson 11.

# %%
session = opencl.Session()
kernel = session.kernel("leaky_relu", text)
x_device, y_device = session.to_device(x), session.empty(x.shape)
event = session.launch(kernel, (12,), (4,), x_device, np.float32(0.5), y_device, np.int32(10))
print(session.to_host(y_device))

# %% [markdown]
# ## Who is who
#
# A work-item has three numbers on each axis: which group it is in, its place in the group, and its place in the whole
# NDRange. As in CUDA, axis 0 is x and counts columns. Choose sizes and ask any work-item. Then make the groups long and
# flat, and watch how many work-items have nothing to do.

# %%
figures.ndrange_explorer(columns=10, rows=6, group=(4, 4))

# %% [markdown]
# The picture is drawn by a script. Does a device see it the same way? This kernel of the library lets each work-item
# write down what it is told. Here is `get_group_id(0)` for 6 rows and 10 columns:

# %%
ids = [session.empty((6, 10), np.int32) for _ in range(6)]
session.launch(session.kernel("ids"), (12, 8), (4, 4), *ids, np.int32(6), np.int32(10))
global_x, global_y, group_x, group_y, local_x, local_y = map(session.to_host, ids)
print(group_x)

# %% tags=["hide-input"]
# Every id of every work-item is what the picture says.
rows, columns = np.indices((6, 10))
assert np.array_equal(global_x, columns)
assert np.array_equal(global_y, rows)
assert np.array_equal(group_x * 4 + local_x, columns)
assert np.array_equal(group_y * 4 + local_y, rows)
assert local_x.max() == local_y.max() == 3

# %% [markdown]
# So much for the words of a kernel. This is the dictionary; the words that mislead are in the last three rows.

# %% tags=["hide-input"]
table(
    [
        ("kernel[grid, block](x, y)", "kernel(queue, global_size, local_size, x, y)"),
        ("thread, block, grid", "work-item, work-group, NDRange"),
        ("cuda.threadIdx.x", "get_local_id(0)"),
        ("cuda.blockIdx.x", "get_group_id(0)"),
        ("cuda.grid(1)", "get_global_id(0)"),
        ("cuda.shared.array((16, 16), float32)", "__local float tile[16][16];"),
        ("cuda.syncthreads()", "barrier(CLK_LOCAL_MEM_FENCE);"),
        ("gpu.to_device(x), gpu.empty(...)", "cl.Buffer(context, flags, ...)"),
        ("stream", "command queue, in order"),
        ("the size of a grid counts blocks", "the global size counts work-items"),
        ("shared memory", "local memory"),
        ("local memory", "private memory"),
    ],
    ["CUDA, in Python", "OpenCL, in its C and in Python"],
    caption="One idea, two vocabularies",
)

# %% [markdown]
# ## What is a work-group on a CPU?
#
# On a graphics card the threads of a block are switched on and off by hardware. A core of a CPU has no such thing. It
# can do one item after the other. So what does it do with a kernel like this, lesson 12's transpose by a tile in shared
# memory? (`TILE` gets its value when the text is compiled.)

# %%
turn = """
__kernel void turn(__global const float *x, __global float *y, const int n)
{
    __local float tile[TILE][TILE];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    tile[ty][tx] = x[(top + ty) * n + left + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(left + ty) * n + top + tx] = tile[tx][ty];
}
"""

# %% [markdown]
# PoCL's compiler makes a *loop* over the work-items of a group. It may not run from the first line to the last for
# each of them, though: no work-item may pass the barrier before all have come to it. So it makes one loop for what
# stands before the barrier and another one for what stands behind it.[^Jääskeläinen "pocl: A Performance-Portable
# OpenCL Implementation"] A barrier is the place where the loop is cut. Step through both, then take the barrier away.

# %%
figures.group_loop(4)

# %% [markdown]
# Now the real thing: 32 × 32 numbers, groups of 16 × 16 work-items, and the barrier deleted from the text.

# %% tags=["hide-input"]
barrier = predict(
    "Without the barrier, how many of the 256 numbers of a group does the CPU get wrong?",
    ["none: one core does everything in order", "120", "128, exactly half", "now more, now fewer: it is a race"],
    answer="120",
    reveals=2,
)
barrier

# %% tags=["hide-output"]
matrix = np.arange(1, 1025, dtype=np.float32).reshape(32, 32)
on_cpu = opencl.recorded_session()  # PoCL's answer, also where you have another device

def wrong_numbers(text):
    x, y = on_cpu.to_device(matrix), on_cpu.empty((32, 32))
    on_cpu.launch(on_cpu.kernel("turn", text, TILE=16), (32, 32), (16, 16), x, y, np.int32(32))
    return int((on_cpu.to_host(y) != matrix.T).sum())

without = turn.replace("barrier(CLK_LOCAL_MEM_FENCE);", "")
print("with the barrier:", wrong_numbers(turn), "wrong; without:", wrong_numbers(without))

# %% [markdown]
# <details class="reveal"><summary>Always the same half</summary>
#
# Work-item $(t_x, t_y)$ is number $16\,t_y + t_x$ in the loop, and reads what number $16\,t_x + t_y$ has written. If
# that one comes later, there is nothing yet. So everything on one side of the tile's diagonal is wrong, $16 \cdot 15 /
# 2 = 120$ numbers in each of the four groups; the diagonal itself is right, since there a work-item reads what it has
# just written. It is the same 480 in every run. On a graphics card the same mistake may show once a week, and in lesson
# 12 the executor found it although the numbers were right. What is wrong by chance on one device is wrong by rule on
# another: a good reason to test a program on both.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was recorded, and by counting.
assert wrong_numbers(without) == 4 * wrong_without_barrier(16)
barrier.confirm(f"{wrong_numbers(without) // 4}")

# %% [markdown]
# The simulator finds the mistake without looking at the result. `session.findings` runs a launch in Oclgrind, on copies
# of the arrays. Here are 8 × 8 numbers in groups of 4 × 4:

# %%
small = session.to_device(np.arange(64, dtype=np.float32).reshape(8, 8))
kernel = session.kernel("turn", without, TILE=4)
for finding in session.findings(kernel, (8, 8), (4, 4), small, session.empty((8, 8)), np.int32(8)):
    print(finding)

# %% [markdown]
# Twice it points at line 9. There a work-item reads a place of the tile that nobody has filled, on this device at
# least; and it reads what another one writes in line 7, with nothing between the two that makes one wait for the other.
#
# ## Right everywhere, fast somewhere
#
# With the barrier, the kernel is right on every device in the world. Is it also fast? On a graphics card the tile was
# worth a lot, and one unused column that avoids bank conflicts was worth still more:

# %% tags=["hide-input"]
# Lesson 12's ladder on a card, once more.
card = measured("transpose", card="h200")
names = {"copy": "a copy", "v01_naive": "naive", "v02_tile": "tile", "v03_padded": "padded tile"}
table(
    [(names[k], 1e6 * s, card.seconds["copy"] / s) for k, s in card.seconds.items() if k in names],
    ["kernel, groups of 32 × 32", "µs", "of the copy's speed"],
    formats={"µs": ",.0f", "of the copy's speed": ".0%"},
    caption=f"Transpose of {card.size} numbers in CUDA, measured on an {card.card} ({card.date})",
)

# %% [markdown]
# Now the same kernels in OpenCL on a CPU with two cores. A CPU has no local memory.
# PoCL takes a piece of ordinary memory for it, which soon lies in the core's cache, as everything does that is used
# often. The groups can be small or large, and the tile with them.

# %% tags=["hide-input"]
portable = predict(
    "Which transpose is the fastest on the CPU?",
    ["naive, groups of 8 × 8", "naive, groups of 32 × 32", "tile of 16 × 16", "padded tile of 32 × 32"],
    answer="naive, groups of 8 × 8",
    reveals=2,
)
portable

# %% tags=["hide-output", "hide-input"]
# Every way and every size of a group.
ways = {"copy": "a copy", "naive": "naive", "tile": "tile", "padded": "padded tile"}
cpu = measured("OpenCL transpose", card="amd-epyc")
ms = {(way, side): 1e3 * cpu.seconds[f"{way}, {side}"] for way in ways for side in (8, 16, 32)}
fastest = min((key for key in ms if key[0] != "copy"), key=ms.get)
table(
    [(ways[way], *(ms[way, side] for side in (8, 16, 32))) for way in ways],
    ["kernel", "8 × 8", "16 × 16", "32 × 32"],
    formats=dict.fromkeys(("8 × 8", "16 × 16", "32 × 32"), ".1f"),
    caption=f"Milliseconds for {cpu.size} numbers in OpenCL, by the size of a group, on an {cpu.card} ({cpu.date})",
)

# %% [markdown]
# <details class="reveal"><summary>The group is the tile</summary>
#
# The plainest kernel wins, if its groups are small. A core does one group after the other. A group of 8 × 8 reads eight
# short pieces of rows and writes eight others, and all of them fit into the core's cache: the group *is* a tile, and
# the cache holds it without being asked. Copying it to local memory first is work for nothing. With groups of 32 × 32
# the naive kernel falls behind, and there the tile helps. Padding changes little: in ordinary memory there are no
# banks for a column to collide in.
#
# The advice that makes a kernel fast on one device makes it slow on another. What OpenCL carries from device to device
# are right results. Speed it does not carry: it has to be measured on each kind of device, and a size like that of the
# group should be a number that one can change.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
portable.confirm(f"{ways[fastest[0]]}, groups of {fastest[1]} × {fastest[1]}" if fastest[0] == "naive"
                 else f"{ways[fastest[0]]} of {fastest[1]} × {fastest[1]}")  # fmt: skip

# %% [markdown]
# ## Compiled when it runs
#
# That the text is compiled so late is a help here. `session.kernel("product_tiled", TILE=8)` writes the number 8 into
# the text, as the compiler's option `-DTILE=8`, and the loop over a tile has a known length, on each device another one
# if we like. Here is lesson 14's tiled product, with its two barriers, checked and then timed:

# %% tags=["hide-input"]
# Folded: the kernel.
tiled = opencl.text_of("product_tiled")
Listing("The kernel, in course_lib/opencl/kernels/product.cl", tiled[tiled.index("__kernel void product_tiled") :])

# %%
rng = np.random.default_rng(0)
A, B = (rng.integers(-4, 5, (20, 20)).astype(np.float32) for _ in "AB")
for tile in (4, 8):
    C = opencl.product(session.to_device(A), session.to_device(B), tile=tile)
    print("tile", tile, "equals NumPy's:", np.array_equal(session.to_host(C), A @ B))

# %% tags=["hide-input"]
# Products on the CPU.
own = measured("OpenCL product", card="amd-epyc")
shown = {f"naive, {side}": f"naive, groups of {side} × {side}" for side in (8, 32)}
shown |= {f"tiled, {side}": f"tiles of {side} × {side}" for side in (8, 16, 32)} | {"NumPy": "NumPy"}
table(
    [(name, own.flops / own.seconds[key] / 1e9) for key, name in shown.items()],
    ["kernel", "billions of operations a second"], formats={"billions of operations a second": ",.1f"},
    caption=f"{own.size} numbers times {own.size} on two cores of an {own.card} ({own.date})",
)  # fmt: skip

# %% [markdown]
# Here a tile helps, once it is large enough; why, we have not measured. (A likely reason: the naive kernel walks down a
# column of `B` and finds each number in another cache line, the tile has its numbers side by side.) But look at the
# last row. NumPy calls a library that was written for this very processor. A kernel that runs everywhere does not
# replace the work that lesson 14 put into one for a single kind of device.
#
# The price of compiling late: a mistake in the text is an error when the program *runs*, and the message comes from
# the driver. Somebody wrote CUDA's words here:

# %% tags=["nbval-ignore-output"]
try:
    session.kernel("twice", "__kernel void twice(__global float *x)\n{\n    x[grid(1)] *= 2;\n}\n")
except opencl.BuildError as error:
    print(error)

# %% [markdown]
# ## Queues, and what must wait
#
# A launch does not compute anything. It puts a **command** into the queue and returns at once, with an **event** that
# stands for the command's future. The device takes commands off the queue; copies are commands, too. If the queue was
# made for it, an event keeps four times: when the command was queued, handed to the device, started, and done.[^Khronos
# "The OpenCL Specification, Profiling Operations"]

# %% tags=["nbval-ignore-output"]
p = event.profile  # of the ReLU of ten numbers above
print(f"waited {(p.start - p.queued) / 1e3:.0f} µs, ran {(p.end - p.start) / 1e3:.0f} µs")

# %% [markdown]
# For ten numbers nearly all of it is waiting. A queue is normally **in order**: a command begins when the one before it
# has ended. That is safe, and it can waste a device. Take two chains of two kernels, A1 then A2 and B1 then B2, as in
# two small networks side by side. Each kernel has a single work-group, so it can use one core. In order, the other core
# looks on.
#
# A queue can also be **out of order**. Then the device may begin any command at any time, and *you* must say what has
# to wait: each launch can be given the events that must have happened before, `after=` here, `wait_for=` in pyopencl.

# %%
def two_chains(session, say_so):
    kernel, n = session.kernel("settle"), np.int32(40)  # h = h / 2 + x, 40 times: tends to 2 x
    last_ones = []
    for _chain in "AB":
        x = session.to_device(np.arange(64, dtype=np.float32))
        between, last = session.empty(64), session.empty(64)
        first = session.launch(kernel, (64,), (64,), x, between, n)
        after = [first] if say_so else []
        second = session.launch(kernel, (64,), (64,), between, last, n, after=after)
        last_ones.append(session.to_host(last, after=[second]))
    return all(np.array_equal(end, 4 * np.arange(64)) for end in last_ones)

print(two_chains(opencl.Session(out_of_order=True), say_so=True))

# %% [markdown]
# On a CPU with two cores these launches were measured with many more steps, so that one takes about 30 ms. In order,
# the four of them need about 120 ms.

# %% tags=["hide-input"]
overlap = predict(
    "In a queue out of order, if each second kernel waits for its first one: how long do all four take?",
    ["120 ms, as before", "90 ms", "60 ms", "30 ms"],
    answer="60 ms",
    reveals=2,
)
overlap

# %% tags=["hide-output", "hide-input"]
# The times of the events.
figures.queue_timelines(run.queues)

# %% [markdown]
# <details class="reveal"><summary>Side by side, and the wrong way to be faster</summary>
#
# 60 ms: A1 and B1 share nothing, so each gets a core; then A2 and B2. It cannot be 30, because A2 needs what A1 makes.
#
# Look at the third queue, too. There nobody said what must wait. It is as quick, and the device did nothing wrong: it
# began A2 before A1 was done, as it was allowed to, and A2 read what was not there yet. Whoever forgets an event has a
# race between commands. Lesson 12's rule for threads holds here as well: what one of them writes and another one reads
# needs something between the two. For threads it is a barrier, for commands an event.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ended = {name: max(bar["end"] for bar in bars) for name, bars in run.queues.items()}
assert run.wrong > 0
assert round(100 * ended["in order"] / ended["out of order"]) in range(180, 221)
overlap.confirm(f"{30 * round(1e3 * ended['out of order'] / 30)} ms")
print(f"When nothing was said, {run.wrong} of {run.runs} runs gave wrong numbers.")

# %% [markdown]
# ## Two devices, one job
#
# Back to the beginning. The job is lesson 09's layer C3 for a batch of images, 6 maps in, 16 out, masks of 5 × 5. One
# device is a core of the CPU, through OpenCL; the other device is the second core, through NumPy. (PoCL was allowed one
# core only, so that the two do not fight for both.) With a graphics card in the machine it would be the card, and no
# line below would change.
#
# Each device has a queue of its own. Devices of the same platform may share a context, and then one can wait for the
# other's events and read its buffers. Devices of different platforms cannot, such as PoCL's CPU and a card with its
# maker's driver: what one of them has computed travels by way of the host. So it does here. First each does the whole
# batch alone:

# %% tags=["hide-input"]
# Alone.
job = run.jobs["NumPy"]
t1, t2 = job.pair.seconds
table(
    [(f"{name}, one core", 1e3 * t) for name, t in zip(job.pair.names, job.pair.seconds)],
    ["device", "ms"], formats={"ms": ".1f"},
    caption=f"C3 for {run.batch} images, the fastest of many rounds on an {run.processor} ({run.date})",
)  # fmt: skip

# %% [markdown]
# NumPy is four to five times as fast as our kernel. What share of the images should the kernel get, and is it worth it?
# Call the first device's share $s$. It is done after $s\,t_1$, the other one after $(1 - s)\,t_2$, and the job when
# both are.

# %% tags=["hide-input"]
split = predict(
    "Which share for the slower device lets the job end soonest?",
    ["none: it only holds the other one up", "about 20 %", "about 35 %", "50 %"],
    answer="about 20 %",
    reveals=2,
)
split

# %% tags=["hide-output"]
best = opencl.best_share(t1, t2)
print(f"share {best.first:.2f}, done after {1e3 * best.seconds:.1f} ms; alone {1e3 * t2:.1f} ms")

# %% [markdown]
# <details class="reveal"><summary>Nobody should wait</summary>
#
# If one device ends before the other one, it waits, and could have taken a little more. So the best split is the one
# with which both end together:
#
# $$s\,t_1 = (1 - s)\,t_2 \quad\Rightarrow\quad s = \frac{t_2}{t_1 + t_2}, \qquad T = \frac{t_1 t_2}{t_1 + t_2}.$$
#
# Another way to say it: speeds add up, $1/T = 1/t_1 + 1/t_2$. A device with a quarter of the other one's speed makes
# five quarters of it, and the job takes four fifths of the time. No device is too slow to help, as long as its share is
# small enough.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
split.confirm(f"about {10 * round(10 * best.first)} %")

# %% [markdown]
# Does it hold when both really run? `opencl.together` starts each function in a thread of its own, and returns what
# they give and when they ended. They do run side by side, since OpenCL's kernels and NumPy's products release Python's
# lock while they compute. Here are 32 digits and small whole numbers as weights, so that the sums are exact:

# %%
digits = (data.load_digits(0).images("test")[:32, None] > 0.5).astype(np.float32)
w = np.random.default_rng(1).integers(-3, 4, (8, 1, 5, 5)).astype(np.float32)
b = np.zeros(8, np.float32)
masks = session.to_device(w), session.to_device(b)

def by_opencl(images):
    y = opencl.conv2d(session.to_device(images), *masks)
    return session.to_host(y)

def by_numpy(images):
    return reference.conv2d_forward(images, w, b)[0]

few, rest = digits[:6], digits[6:]  # about a fifth
done = opencl.together(lambda: by_opencl(few), lambda: by_numpy(rest))
y = np.concatenate([part.value for part in done])
print("equal to one device's:", np.array_equal(y, by_numpy(digits)))

# %% [markdown]
# And here is the whole curve: what the two times alone predict as lines, what the clock said as crosses. Move to the
# best share, then choose the other pair. There, the second core does not use plain NumPy but `fast`, the course's own
# convolution for CPUs.

# %%
figures.share_explorer(
    {f"OpenCL and {name}": other.pair for name, other in run.jobs.items()},
    title="C3 on two cores, predicted and measured",
)

# %% tags=["hide-input"]
# The best share of each pair, predicted and measured.
table(
    [(f"OpenCL and {name}", 1e3 * min(j.pair.seconds), j.best, 1e3 * j.predicted, 1e3 * j.measured)
     for name, j in run.jobs.items()],
    ["devices", "the faster one alone, ms", "OpenCL's share", "predicted, ms", "measured, ms"],
    formats={"the faster one alone, ms": ".1f", "OpenCL's share": ".0%", "predicted, ms": ".1f", "measured, ms": ".1f"},
    align="lrrrr",
    caption="Both devices at work at the same time, the fastest of many rounds",
)  # fmt: skip

# %% [markdown]
# ## When it is not worth it
#
# The formula is an upper limit. Three things keep a real program below it.
#
# - **What does not shrink.** A device must get its weights, be launched, give its results back, even for one image. If
#   that takes $f$ seconds, its line in the picture begins at $f$ and not at 0; once $f$ is as long as the other device
#   needs for everything, the best share is nothing. `best_share` takes such times, too. (On a CPU a copy can be saved:
#   with the flag `USE_HOST_PTR` a buffer may use the memory of the array that it is made from.)
# - **What is shared after all.** Two cores share a memory, two devices a bus. Measured together, both are a little
#   slower than alone.
# - **What changes.** A share that was right this morning is wrong when somebody else uses a core. The remedy is to cut
#   the job into pieces and let whoever is free take the next one; `fast` does that with its threads.

# %% [markdown]
# And look at the table again. A better kernel for *one* core, `fast`, beats NumPy and OpenCL together on two. So first
# make the kernel good, then add devices. But the belief from the beginning is gone: the slower device holds the job up
# only if it is given too much.

# %% [markdown]
# ## Try it
#
# - In the picture of work-groups, 10 × 6 numbers: which local size leaves no work-item idle?
#   <details><summary>Answer</summary>
#
#   Both sizes must divide: 10 is a multiple of 1 and 2, 6 as well. So 2 × 2, 2 × 1, 1 × 2 or 1 × 1. They waste no
#   work-items, but groups of four are too small for most devices: on a graphics card 28 of the 32 lanes of a warp would
#   be idle instead.
#
#   </details>
# - A card needs 10 ms for a batch and 2 ms before it can begin; the CPU needs 30 ms and begins at once. What is the
#   best share? Compute it, then ask `opencl.best_share(10, 30, fixed_first=2)`.
#   <details><summary>Answer</summary>
#
#   $2 + 10\,s = 30\,(1 - s)$ gives $s = 28/40 = 0.7$, and 9 ms. The 2 ms cost the pair 1.5 ms; they cost the card
#   alone 2 ms.
#
#   </details>
# - With a device of your own: change `TILE` to 8 in `wrong_numbers`. How many numbers are wrong without a barrier?
#   <details><summary>Answer</summary>
#
#   28 of the 64 in each of the 16 groups, $8 \cdot 7 / 2$: 448, if the device is a CPU. (Use your own `session` there,
#   and groups of `(8, 8)`.)
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's course plan names the two parts of OpenCL, "the runtime system" (3 hours) and "heterogeneous computing"
# (2 hours), without slides of theirs in our sources. This page follows the specification's own order: platform model,
# execution model, memory model, and then the programming of several devices. Older texts write `clEnqueueTask` for a
# launch of one work-item; it was deprecated with OpenCL 2.0.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** An image has 480 rows and 640 columns, and groups are to be 16 × 16. What are the global and the local size,
# and what would stand in the brackets of the CUDA launch?
#
# <details><summary>Answer</summary>
#
# Global size (640, 480), local size (16, 16), x first. In CUDA `[(40, 30), (16, 16)]`: the number of blocks instead of
# work-items. Both sizes divide, so no work-item is idle.
#
# </details>

# %% [markdown]
# **2.** A kernel works with 64 × 64 work-items in a group on PoCL, and is refused on a graphics card. Why, and what
# should the program do?
#
# <details><summary>Answer</summary>
#
# 4,096 work-items are as many as PoCL allows in a group; on most graphics cards 1,024 or fewer are the limit. The
# program should ask the device, `device.max_work_group_size`, and choose its tile by the answer when it builds the
# kernel.
#
# </details>

# %% [markdown]
# **3.** Three commands in a queue out of order: copy x to the device, a kernel that reads x and writes y, copy y to the
# host. Which events must be given to which command? What if the queue is in order?
#
# <details><summary>Answer</summary>
#
# The kernel waits for the first copy's event, the last copy for the kernel's. The last copy need not name the first
# one: it cannot have begun before the kernel, and the kernel waited. In order, none has to be given.
#
# </details>
