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
# Lessons 11 to 17 wrote kernels for the graphics cards of one maker. But every computer has a CPU that computes, and
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
# one program has to find both devices, give each its part of the numbers, start both, and wait for both. OpenCL's
# *platform layer* finds devices; its *runtime* has the queues, buffers and events. How to split the job it leaves to
# you. Most of this page is about the platform layer and the runtime. Then one program uses two devices, and a clock
# says what a split is worth.
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
# runtime system" and "OpenCL: heterogeneous computing". You need lessons 11 and 12, and at two places 09 (its layer C3)
# and 14 (the tiled product).
#
# You do not need an OpenCL device. Without one, every cell still runs: each launch on this page was carried out on a
# device and recorded, and the recording answers. As soon as you change a kernel or a number, no recording fits,
# and the cell says how to get a device; on Linux it is one line for the two that this page uses,
#
#     python -m pip install "pyopencl[pocl,oclgrind]"
#
# and `course doctor` says whether they work. Times were measured once, on the device that is named beside them. Reading
# and trying takes about 75 minutes.
#
# </details>

# %% [markdown]
# ## Ask what there is
#
# A CUDA program knows what it will run on. An OpenCL program does not. In 2008 several makers of processors agreed on a
# standard.[^Khronos "The OpenCL Specification 1.0 (2008), Acknowledgements, registry.khronos.org/OpenCL"] There are
# implementations of it for CPUs, for graphics processors and for telephones, by their makers or by others; one of them
# is called a **platform**. Which platforms a machine has, and which **devices** they have, a program finds out when it
# runs. What does yours have?

# %% tags=["nbval-ignore-output"]
for found in opencl.find_devices():
    print(f"{found.kind}: {found.name} ({found.platform}), compute units: {found.units}")
if not opencl.live():
    print("none; this page answers from its recording:", opencl.why_none())

# %% [markdown]
# And these are the devices that this page was measured with. Both are programs: **PoCL**, the Portable Computing
# Language, compiles kernels for the CPU, and **Oclgrind** simulates a device and watches every step, as the course's
# executor does for CUDA.

# %% tags=["hide-input"]
# The devices of the machine that was measured.
run = opencl_run("amd-epyc")
table(
    [(d["name"], d["kind"], d["units"], d["group"], d["local_bytes"] // 1024) for d in run.devices],
    ["device", "kind", "compute units", "work-items in a group, at most", "local memory, KiB"],
    caption=f"Found by pyopencl on a machine with an {run.processor} ({run.date})",
)

# %% [markdown]
# A **compute unit** is a multiprocessor of a graphics card or a core of a CPU. (PoCL counts what the operating system
# calls a processor; here each core is one.) So the first row is an ordinary CPU with two cores.
#
# ## The seven objects
#
# Between that question and the first result stand seven kinds of object. They look like bureaucracy, until one sees
# what each is for. Step through the lines of a host program and watch what they make; what is still missing is dashed.
# (`cl` is the usual name for `pyopencl`, which brings OpenCL to Python.)

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
# `kernel(queue, (12,), (4,), x_buffer, np.float32(0.5), y_buffer, np.int32(10))`. Written by habit, `(3,)` is
# refused: 3 is no multiple of 4. With a local size of 1 or 3 it would run, for three work-items, and seven numbers
# would never be written. 10 is refused as well, since the global size must be a multiple of the local size.[^Khronos
# "The OpenCL Specification 1.2 (2012), clEnqueueNDRangeKernel, registry.khronos.org/OpenCL"] (Programs built as OpenCL
# C 2.0, by the option `-cl-std=CL2.0`, may have a smaller last group; with 3.0 it is up to the device.) So one rounds
# up, and two work-items find nothing to do; the guard `if (i < n)` is for them.
#
# Nothing here waits for the kernel, except the copy: `enqueue_copy` to a host array **blocks**. It returns when the
# numbers are there, and in this queue that is after the kernel.
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
# Numba, too, compiles a kernel at its first launch. Two things here are new. The kernel is a *text*, which a program
# can write and change, and the whole compiler, from the text to the device's instructions, belongs to the platform. And
# nothing in these lines says what kind of device it was.
#
# Context and queue are the same for every job, so the course keeps them in one object, a `Session`, with all the
# programs that were built there. Its arrays remember their shapes; copies are as visible as in lesson 11.

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
#
# | CUDA, in Python | OpenCL, in its C and in Python |
# |---|---|
# | `kernel[grid, block](x, y)` | `kernel(queue, global_size, local_size, x, y)` |
# | thread, block, grid | work-item, work-group, NDRange |
# | `cuda.threadIdx.x` | `get_local_id(0)` |
# | `cuda.blockIdx.x` | `get_group_id(0)` |
# | `cuda.grid(1)` | `get_global_id(0)` |
# | `cuda.shared.array((16, 16), float32)` | `__local float tile[16][16];` |
# | `cuda.const.array_like(w)` | `__constant float *w`, an argument |
# | `cuda.syncthreads()`, for shared memory | `barrier(CLK_LOCAL_MEM_FENCE);` |
# | `cuda.syncthreads()`, for all memory | both `CLK_LOCAL_MEM_FENCE` and `CLK_GLOBAL_MEM_FENCE` there |
# | `gpu.to_device(x)`, `gpu.empty(...)` | `cl.Buffer(context, flags, ...)` |
# | stream | command queue, in order |
# | the size of a grid counts blocks | the global size counts work-items |
# | shared memory | local memory |
# | local memory | private memory |

# %% [markdown]
# ## What is a work-group on a CPU?
#
# On a graphics card the hardware holds all threads of a block and switches between its warps. A core of a CPU has no
# such thing. So what does it do with a kernel like this, lesson 12's transpose by a tile in shared memory? (`TILE` gets
# its value when the text is compiled.)

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
# PoCL's compiler makes a *loop* over the work-items of a group. It may not run from the first line to the last for each
# of them, though: no work-item may pass the barrier before all have come to it. So it makes one loop for what stands
# before the barrier and another one for what stands behind it.[^Jääskeläinen and others "pocl: A Performance-Portable
# OpenCL Implementation, International Journal of Parallel Programming 43 (2015)"] A barrier is the place where the loop
# is cut. Step through both, then take the barrier away.

# %%
figures.group_loop(4)

# %% [markdown]
# A loop over work-items is also what a compiler can **vectorise**: between two barriers no work-item needs what another
# one makes, so a core's vector instructions take 4, 8 or 16 of them at a time, as a warp takes 32 threads. For that a
# group must have enough of them along x. Here is what PoCL's compiler made of the ReLU above:

# %% tags=["hide-input"]
# Wide instructions in what PoCL compiled.
table(
    [(group, count) for group, count in run.wide.items()],
    ["work-items in a group", "instructions on registers of 8 or 16 numbers"],
    caption=f"leaky_relu as it was compiled for an {run.processor} ({run.date})",
)

# %% [markdown]
# How many there are says little. That there are none for groups of four says that such a group cannot fill a vector of
# eight. A loop that is cut at the barriers, and vectors of work-items: that is a work-group on a CPU.
#
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
# <details class="reveal"><summary>One side of the diagonal</summary>
#
# Work-item $(t_x, t_y)$ is number $16\,t_y + t_x$ in the loop, and reads what number $16\,t_x + t_y$ has written. If
# that one comes later, its place still holds what an *earlier* group has left there. So everything on one side of the
# tile's diagonal is wrong, $16 \cdot 15 / 2 = 120$ numbers in each of the four groups. The diagonal itself is right:
# there a work-item reads what it has just written. (Vectors along x change nothing, since a row of the tile is written
# as a whole before it is read.) It was the same 480 in every run.
#
# And now the dangerous case. What if the earlier group left the very numbers that belong there? Take 16 × 16 numbers, a
# single group, and launch the right kernel on them, then the wrong one. The table says what came out. With a single
# group, a test that runs both on the same numbers finds nearly nothing. On a graphics card the mistake may show only
# now and then; in lesson 12 the executor found it although the numbers were right.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was recorded, and by counting; and the single group.
assert wrong_numbers(without) == 4 * wrong_without_barrier(16)
barrier.confirm(f"{wrong_numbers(without) // 4}")
right, tries = run.leftovers
table(
    [("one group, just after the right kernel on the same numbers", tries, right)],
    ["the kernel without its barrier", "runs", "without a wrong number"],
    caption=f"Transpose of 16 × 16 numbers by PoCL ({run.date})",
)

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
# With the barrier, the kernel is right on every device that takes groups of this size, for every $n$ that is a multiple
# of `TILE`. Is it also fast? On a graphics card the tile was worth a lot, and one unused column that avoids bank
# conflicts nearly as much again:

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
# Now the same kernels in OpenCL on a CPU with two cores, for 2,048 × 2,048 numbers. The groups can be small or large,
# and the tile with them.

# %% tags=["hide-input"]
portable = predict(
    "Which transpose is the fastest on the CPU?",
    ["naive, groups of 8 × 8", "naive, groups of 16 × 16", "naive, groups of 32 × 32", "tile of 16 × 16",
     "padded tile of 32 × 32"],
    answer="naive, groups of 8 × 8",
    reveals=2,
)  # fmt: skip
portable

# %% tags=["hide-output", "hide-input"]
# Every way and every size of a group, for rows of two lengths.
ways = {"copy": "a copy", "naive": "naive", "tile": "tile", "padded": "padded tile"}
ms = {(n, *name.split(", ")): 1e3 * t for n, times in run.transposes.items() for name, t in times.items()}
fastest = {n: min((key for key in ms if key[0] == n and key[1] != "copy"), key=ms.get) for n in run.transposes}
table(
    [(f"{ways[way]}, {n:,} × {n:,}", *(ms[n, way, side] for side in ("8", "16", "32")))
     for n in run.transposes for way in ways],
    ["kernel", "8 × 8", "16 × 16", "32 × 32"],
    formats=dict.fromkeys(("8 × 8", "16 × 16", "32 × 32"), ".1f"),
    caption=f"Milliseconds in OpenCL, by the size of a group, on an {run.processor} ({run.date}); other programs were "
    "running, so of many rounds the fastest",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Rows that are too round</summary>
#
# With 2,048 numbers in a row the plainest kernel wins if its groups are small, and is the slowest if they are large. A
# group writes columns, each number into another row. The nearest cache has room for it, even for 32 × 32. But its
# address decides in which **set** of the cache a line of memory may lie, and a set has 12 places. Rows are 8,192 bytes
# apart, so all lines of a column want the *same* set. Eight fit; of 16 or 32, each throws out another one.
#
# With 2,080 numbers, 1.6 % more, they spread over many sets. There "naive 16 × 16" is the fastest, and large groups
# lose far less. (Why the tile of 8 × 8 is slower there we do not know. For local memory PoCL takes a piece of ordinary
# memory, through the cache, and padding made no clear difference.)
#
# On the card the padded tile was best. Here it is the plain kernel, if its groups suit the rows; if not, the tile helps
# here, too. OpenCL carries right results to every device. Which *pair* of kernel and size is fast must be measured.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
_, way, side = fastest[2048]
portable.confirm(f"{ways[way]}, groups of {side} × {side}" if way == "naive" else f"{ways[way]} of {side} × {side}")

# %% [markdown]
# A cache of 48 KiB with 12 places in a set and lines of 64 bytes has 64 sets. How many of them can the lines of one
# column use, 32 rows of it?

# %%
sets = run.first_cache["bytes"] // run.first_cache["ways"] // run.first_cache["line"]
for n in (2048, 2080):
    lines = np.arange(32) * 4 * n // 64  # which line of memory, from row to row
    print(f"{n} numbers in a row: {np.unique(lines % sets).size} of {sets} sets")

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
# Here a tile helps, once it is large enough. (Why, we have not measured. Both kernels walk down columns, but a tile is
# small and stays in the nearest cache, while the 512 numbers of a column of `B` are 2,048 bytes apart and want two sets
# of it.) But look at the last row. NumPy calls OpenBLAS, whose kernels are written by hand for a family of processors.
# A kernel that runs everywhere does not replace the work that lesson 14 put into one for a single kind of device.
#
# As with Numba, a mistake shows when the program *runs*; here it is the platform's compiler that reports it. Somebody
# wrote Numba's `grid(1)` here:

# %% tags=["nbval-ignore-output"]
try:
    session.kernel("twice", "__kernel void twice(__global float *x)\n{\n    x[grid(1)] *= 2;\n}\n")
except opencl.BuildError as error:
    print(error)

# %% [markdown]
# ## Queues, and what must wait
#
# The call that launches a kernel does not wait for it. It puts a **command** into the queue and returns at once, with
# an **event** that stands for the command's future. The device takes commands off the queue; copies are commands, too.
# If the queue was made for it, an event keeps times: when the command was queued, handed to the device, started, and
# ended.[^Khronos "The OpenCL Specification 1.2 (2012), Profiling Operations, registry.khronos.org/OpenCL"] (OpenCL 2.0
# adds a fifth, for kernels that launch kernels.)

# %% tags=["nbval-ignore-output"]
p = event.profile  # of the ReLU of ten numbers above
print(f"waited {(p.start - p.queued) / 1e3:.0f} µs, ran {(p.end - p.start) / 1e3:.0f} µs")

# %% [markdown]
# For ten numbers nearly all of it is waiting. A queue is normally **in order**: a command begins when the one before it
# has ended. That is safe, and it can waste a device. Take two chains of two kernels, A1 then A2 and B1 then B2, as in
# two small networks side by side. Each kernel has a single work-group, so it can use one core. In order, the other core
# looks on.
#
# A queue can also be **out of order**, if the device supports that; then it may begin any command at any time, and
# *you* must say what has to wait: each launch can be given the events that must have happened before, `after=` here,
# `wait_for=` in pyopencl. Here are both chains, as the library has them. `for_a` and `for_b` are sessions, or one and
# the same; `settle` does `n` steps of $h = h/2 + x$, which tend to $2x$, so right results are $4x$.
#
# ```python
# def chain(session):
#     kernel, n = session.kernel("settle"), np.int32(steps)
#     x = session.to_device(np.arange(NUMBERS, dtype=np.float32))
#     middle, end = session.empty(NUMBERS), session.empty(NUMBERS)
#     first = session.launch(kernel, (NUMBERS,), (NUMBERS,), x, middle, n)
#     needed = [first] if say_so else []
#     second = session.launch(kernel, (NUMBERS,), (NUMBERS,), middle, end, n, after=needed)
#     session.flush()  # hand both to the device, and do not wait
#     return end, [first, second]
#
# a, events_a = chain(for_a)
# b, events_b = chain(for_b)
# # All four are on their way. Copies come last: each blocks until its numbers are there.
# ends = [for_a.to_host(a, after=events_a), for_b.to_host(b, after=events_b)]
# return ends, events_a + events_b
# ```

# %%
loose = opencl.Session(out_of_order=True)
ends, events = opencl.two_chains(loose, loose, steps=40)
print("right:", opencl.right(ends))

# %% [markdown]
# Where the copies stand matters. A copy in `chain`, as its last line, would wait for A2 before B1 is even in the queue,
# and no queue could run the two side by side.
#
# On a CPU with two cores this function was measured with many more steps, so that a launch takes about 3 ms. In order,
# the four of them need about 12 ms.

# %% tags=["hide-input"]
overlap = predict(
    "In a queue out of order, if each second kernel waits for its first one: how long do all four take?",
    ["12 ms, as before", "9 ms", "6 ms", "3 ms"],
    answer="6 ms",
    reveals=2,
)
overlap

# %% tags=["hide-output", "hide-input"]
# The times of the events.
figures.queue_timelines(run.queues)

# %% [markdown]
# <details class="reveal"><summary>Side by side, and what a forgotten event does</summary>
#
# 6 ms: A1 and B1 share nothing, so each gets a core; then A2 and B2. It cannot be 3, because A2 needs what A1 makes.
#
# A device need not have queues out of order, and one that has them may still run in order. Look at the button "two
# queues": each chain in a queue of its own, both in order. That needs no events, and every device accepts it, though
# none is bound to run them side by side.
#
# And the last button: nobody said what must wait. It is no quicker. The device began A2 before A1 was done, as it was
# allowed to, and A2 read what was not there yet. Whoever forgets an event has a race between commands. And a test may
# not show it: with 40 steps no run was wrong, most likely since A1 is over before A2 gets to the device. Lesson 12's
# rule for threads holds here as well: what one of them writes and another one reads needs something between the two.
# For threads it is a barrier; for commands it is an event, or a barrier of the queue.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured; and how often a forgotten event showed.
ended = {name: max(bar["end"] for bar in bars) for name, bars in run.queues.items()}
overlap.confirm(f"{3 * round(1e3 * ended['out of order'] / 3)} ms")
table(
    [(steps, runs, wrong) for steps, (wrong, runs) in run.forgotten.items()],
    ["steps of a kernel", "runs", "with wrong numbers"],
    caption=f"Out of order, and nothing said: both chains by PoCL on two cores, other programs beside ({run.date})",
)

# %% [markdown]
# ## Two devices, one job
#
# Now one program with two devices. Each needs a queue of its own, and its own compiled program. Devices of one platform
# may share a context; then one can wait for the other's events and read its buffers. Devices of two platforms cannot,
# such as PoCL's CPU and a card with its maker's driver, or the two that were listed at the top of this page. Then each
# gets a context, and numbers travel from one to the other by way of the host. That works for any two devices, so we do
# it: sixteen numbers, twelve for the first device and four for the second one, through the ReLU from above.
#
# `opencl.two_devices()` takes the first two that compute. If you have only one, it is both, with two queues; if you
# have none, the recording has two.

# %%
devices = opencl.two_devices()
numbers = np.arange(-8, 8, dtype=np.float32)

started = []
for device, part in zip(devices, (numbers[:12], numbers[12:]), strict=True):
    one = opencl.Session(device)  # a context and a queue for this device
    kernel = one.kernel("leaky_relu", text)  # compiled for it
    x_part, y_part = one.to_device(part), one.empty(part.shape)
    event = one.launch(kernel, part.shape, (4,), x_part, np.float32(0.5), y_part, np.int32(part.size))
    one.flush()  # begin now; do not wait
    started.append((one, y_part, event))

for _, _, event in started:
    event.wait()
y = np.concatenate([one.to_host(y_part) for one, y_part, _ in started])
print(y)

# %% tags=["continued", "nbval-ignore-output"]
print(" and ".join(device.name for device in devices), "" if devices[0] != devices[1] else "(one device, two queues)")

# %% tags=["hide-input"]
# What the two made is what one makes.
assert np.array_equal(y, reference.leaky_relu_forward(numbers, 0.5)[0])

# %% [markdown]
# There are two loops. The first one launches on both devices, the second one waits for both. (Sixteen numbers are done
# before the second program is even compiled. With real work one prepares both devices first, and then launches.) With
# `event.wait()` in the first loop the second device would begin when the first is done. (`cl.wait_for_events` takes a
# list, but only of events of one context.) And `flush` is needed: a queue may keep its commands to itself until
# somebody waits for them.

# %% [markdown]
# ## Who gets how much?
#
# How long does it take? A simulator is far slower than the CPU that it runs on, so of this pair a clock says nothing.
# We need two workers of comparable speed. The machine that was measured has two cores, and PoCL gets one. The other
# worker is **NumPy** on the second core. It is no OpenCL device: it has no queue, no context and no events. A graphics
# card would get a session in its place, as above. What split is best follows the same rule.
#
# The job is lesson 09's layer C3 for a batch of images, 6 maps in, 16 out, masks of 5 × 5. This is the kernel that was
# timed. The images' axis is the last one, so that neighbouring work-items read neighbouring numbers, and each work-item
# computes eight output maps.

# %% tags=["hide-input"]
# Folded: the kernel.
layer = opencl.text_of("conv2d_images_last")
Listing("The kernel, in course_lib/opencl/kernels/conv2d.cl", layer[layer.index("// y (M, H_out, W_out, B)") :])

# %% [markdown]
# First each worker does the whole batch alone; for OpenCL that includes both copies, and turning the axes around before
# and after.

# %% tags=["hide-input"]
# Alone.
job = run.jobs["NumPy"]
t1, t2 = job.pair.seconds
table(
    [(f"{name}, one core", 1e3 * t) for name, t in zip(job.pair.names, job.pair.seconds)],
    ["worker", "ms"], formats={"ms": ".1f"},
    caption=f"C3 for {run.batch} images, the fastest of many rounds on an {run.processor} ({run.date})",
)  # fmt: skip

# %% [markdown]
# NumPy is four to five times as fast as this kernel on this core.

# %% tags=["hide-input"]
split = predict(
    "Which share for the slower worker lets the job end soonest?",
    ["about 5 %", "about 20 %", "about 35 %", "50 %"],
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
# Call OpenCL's share of the images $s$. It is done after $s\,t_1$, NumPy after $(1 - s)\,t_2$, and the job when both
# are. If one ends before the other one, it waits, and could have taken a little more. So the best split is the one with
# which both end together:
#
# $$s\,t_1 = (1 - s)\,t_2 \quad\Rightarrow\quad s = \frac{t_2}{t_1 + t_2}, \qquad T = \frac{t_1 t_2}{t_1 + t_2}.$$
#
# Another way to say it: speeds add up, $1/T = 1/t_1 + 1/t_2$. If one has a quarter of the other one's speed, together
# they have 5/4 of it, and the job takes 4/5 of the time. As long as only the work itself takes time, no device is too
# slow to help, if its share is small enough. Below we see what else takes time.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
split.confirm(f"about {10 * round(10 * best.first)} %")

# %% [markdown]
# Does it hold when both really run? NumPy has no queue, so it needs a thread: `opencl.together` starts each function in
# a thread of its own, and returns what they give and when they ended. They do run side by side, since pyopencl lets go
# of Python's lock while it waits for a copy, and NumPy while it multiplies. Here are 32 digits and small whole numbers
# as weights, so that the sums are exact:

# %%
digits = (data.load_digits(0).images("test")[:32, None] > 0.5).astype(np.float32)
w = np.random.default_rng(1).integers(-3, 4, (8, 1, 5, 5)).astype(np.float32)
b = np.zeros(8, np.float32)
masks = session.to_device(w), session.to_device(b)

def by_opencl(images):
    images_last = session.to_device(np.ascontiguousarray(images.transpose(1, 2, 3, 0)))
    y = opencl.conv2d_images_last(images_last, *masks)
    return session.to_host(y).transpose(3, 0, 1, 2)

def by_numpy(images):
    return reference.conv2d_forward(images, w, b)[0]

few, rest = digits[:6], digits[6:]  # about a fifth
done = opencl.together(lambda: by_opencl(few), lambda: by_numpy(rest))
y = np.concatenate([part.value for part in done])
print("equal to NumPy's alone:", np.array_equal(y, by_numpy(digits)))

# %% [markdown]
# And here is the curve, as far as it matters: what the two times alone predict as lines, what the clock said as
# crosses. Move to the best share, then choose the other pair. There, the second core does not use plain NumPy but
# `fast`, the course's own convolution for CPUs.

# %%
figures.share_explorer(
    {f"OpenCL and {name}": other.pair for name, other in run.jobs.items()},
    start=35, title="C3 on two cores, predicted and measured",
)

# %% tags=["hide-input"]
# Each pair with a share near the best one: what the formula says of that share, and what the clock said.
table(
    [(f"OpenCL and {name}", 1e3 * min(j.pair.seconds), j.best, j.ran, 1e3 * j.promised, 1e3 * j.measured, j.kept)
     for name, j in run.jobs.items()],
    ["workers", "faster one alone, ms", "best share", "share that ran", "predicted, ms", "measured, ms", "gain kept"],
    formats={"faster one alone, ms": ".1f", "best share": ".1%", "predicted, ms": ".2f", "share that ran": ".2%",
             "measured, ms": ".2f", "gain kept": ".0%"},
    align="lrrrrrr",
    caption="Both at work at the same time; the fastest of many rounds, on a machine with other programs",
)  # fmt: skip

# %% [markdown]
# Together they are faster than the faster one alone, but only a little more than **half of the predicted gain** is
# there. Do not trust the last digits. The share of the first row was measured twice, and its cross in the picture lies
# almost half a millisecond lower than the table's number: more than the whole gain of the second row. And of four more
# runs three kept between half and three quarters of the first row's gain, and one nearly nothing.

# %% [markdown]
# ## When it is not worth it
#
# $T$ is the least time possible if each time is in proportion to its share. Three things make a real program slower.
#
# - **What does not shrink.** Weights, the launch and the start of each copy cost the same for one image as for all. If
#   that takes $f$ seconds, its line in the picture begins at $f$ and not at 0; once $f$ is as long as the other device
#   needs for everything, the best share is nothing. `best_share` takes such times, too. (On a CPU a copy can be saved:
#   with the flag `USE_HOST_PTR` a buffer may use the memory of the array that it is made from.)
# - **What is shared after all.** Two cores share a memory, two devices a bus. Measured together, both are a little
#   slower than alone.
# - **What changes.** A share that was right this morning is wrong when somebody else uses a core. The remedy is to cut
#   the job into pieces and let whoever is free take the next one; `fast` does that with its threads.

# %% [markdown]
# And look at the table again. A better kernel for *one* core, `fast`, beats NumPy and OpenCL together on two. So first
# make the kernel good, then add devices. The belief from the beginning was that the slower device would only hold the
# job up. It does so if it is given too much. With its right share it helps, by less than the formula promises.

# %% [markdown]
# ## Try it
#
# - In the picture of work-groups, 10 × 6 numbers: which of the picture's local sizes leave no work-item idle? And which
#   others would?
#   <details><summary>Answer</summary>
#
#   Each size must divide its axis. Of the picture's sizes, 1 and 2 divide 10, and 6 as well: 2 × 2, 2 × 1, 1 × 2 or
#   1 × 1. Of all sizes, every divisor of 10 along x with every divisor of 6 along y, up to 10 × 6. Groups of four waste
#   no work-items, but they are too small for most devices: on a graphics card 28 of the 32 lanes of a warp would be
#   idle instead.
#
#   </details>

# %% [markdown]
# - A card needs 10 ms for a batch and 2 ms before it can begin; the CPU needs 30 ms and begins at once. What is the
#   best share? Compute it, then ask `opencl.best_share(10, 30, fixed_first=2)`.
#   <details><summary>Answer</summary>
#
#   $2 + 10\,s = 30\,(1 - s)$ gives $s = 28/40 = 0.7$, and 9 ms. The 2 ms cost the pair 1.5 ms; they cost the card
#   alone 2 ms.
#
#   </details>

# %% [markdown]
# - With a device of your own: in `wrong_numbers` use your own `session`, change `TILE` to 8 and the groups to `(8, 8)`.
#   How many numbers are wrong without a barrier?
#   <details><summary>Answer</summary>
#
#   28 of the 64 in each of the 16 groups, $8 \cdot 7 / 2$: 448, if the device is PoCL's CPU.
#
#   </details>
# - With a device of your own: draw your own queue, `figures.queue_timelines({"mine": opencl.timeline(events)})`, with
#   `steps=50_000` in `two_chains`. Then add `say_so=False`, and run it ten times with 40 steps and with 50,000. How
#   often is it right?
#   <details><summary>Answer</summary>
#
#   With 40 steps perhaps always: a kernel is over before the next launch has been made. With 50,000 it is often wrong,
#   if the device has two compute units and lets queues run out of order. (On the simulator
#   50,000 steps take long.)
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's course plan names the two parts of OpenCL, "the runtime system" (3 hours) and "heterogeneous computing" (2
# hours), without slides of theirs in our sources. This page follows the specification's platform model and execution
# model, and then the programming of several devices; of its memory model only what kernels and copies need. Older texts
# write `clEnqueueTask` for a launch of one work-item; it was deprecated with OpenCL 2.0.
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
# program should ask the device before it builds, `device.max_work_group_size` and `max_work_item_sizes` for each axis,
# and choose its tile by the answer. After building it can ask for *this* kernel: `CL_KERNEL_WORK_GROUP_SIZE` may be
# smaller, since a kernel that needs many registers leaves room for fewer work-items.
#
# </details>

# %% [markdown]
# **3.** Three commands in a queue out of order: copy x to the device, a kernel that reads x and writes y, copy y to the
# host. Which events must be given to which command, and when may the host read y? What if the queue is in order?
#
# <details><summary>Answer</summary>
#
# The kernel waits for the first copy's event, the last copy for the kernel's. The last copy need not name the first
# one: it cannot have begun before the kernel, and the kernel waited. In order, none has to be given. In both cases the
# host must wait for the last copy before it reads y: by a copy that blocks, as pyopencl's does unless told otherwise,
# by its event, or by `queue.finish()`.
#
# </details>
