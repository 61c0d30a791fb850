"""Loops that never end: the message names the loop and who is still in it."""

from numba import cuda, float32, int32

from tests.simt.corpus import broken, floats, ints, minus_ones, nans, refused

SAYS = ("loop", "come to an end", "thread 0 of block 0")


@broken(2, 32, lambda: (ints(333), minus_ones(333)), refused("KernelError", *SAYS), steps=5_000)
def grid_stride_loop_that_stands_still(x, y):
    i = cuda.grid(1)
    while i < x.size:  # bad
        y[i] = 2 * x[i]


@broken(1, 64, lambda: (ints(64), minus_ones(64)), refused("KernelError", *SAYS), steps=5_000)
def while_true_without_break(x, y):
    i = cuda.grid(1)
    while True:  # bad
        y[i] = x[i]


@broken(1, 64, lambda: (ints(64), minus_ones(1)), refused("KernelError", *SAYS), steps=5_000)
def reduction_whose_step_is_never_zero(x, total):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 32
    while step >= 0:  # bad
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        total[0] = s[0]


@broken(1, 8, lambda: (floats(8, start=1), nans(8)), refused("KernelError", *SAYS), steps=5_000)
def newton_that_waits_for_equality(x, y):
    i = cuda.grid(1)
    root = x[i]
    while root * root != float32(2):  # bad
        root = (root + float32(2) / root) * float32(0.5)
    y[i] = root


@broken(1, 8, lambda: (ints(8), minus_ones(8)), refused("KernelError", *SAYS), steps=5_000)
def continue_before_the_step(x, y):
    i = cuda.grid(1)
    total = 0
    k = 0
    while k < x.size:  # bad
        if x[k] % 2 == 1:
            continue
        total += x[k]
        k += 1
    y[i] = total


@broken(
    1, 8, lambda: (ints(8), minus_ones(8)),
    refused("KernelError", "loop", "come to an end", "thread 1 of block 0"), steps=5_000,
)  # fmt: skip
def steps_over_its_end(x, y):
    i = cuda.grid(1)
    k = 0
    while k != x[i]:  # bad
        k += 2
    y[i] = k


@broken(1, 8, lambda: (ints(8), minus_ones(8)), refused("KernelError", *SAYS), steps=5_000)
def loop_inside_a_loop_resets_the_outer_one(x, y):
    i = cuda.grid(1)
    k = 0
    total = 0
    while k < 4:  # bad
        for k in range(2):
            total += x[i] + k
    y[i] = total
