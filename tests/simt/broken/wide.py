"""Wide accesses and asynchronous copies: out of bounds, misaligned, and numbers that have not arrived yet."""

from numba import cuda, float32

from course_lib.cuda.intrinsics import (
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    ld2,
    ld4,
    nonneg,
    st4,
)
from course_lib.simt.arrays import DeviceArray
from tests.simt.corpus import broken, finding, floats, nans, refused


@broken(
    1, 32, lambda: (floats(126), nans(128)),
    finding("out of bounds", "x", thread=31, index=124, says=("4 elements from flat index 124", "126 elements")),
)  # fmt: skip
def last_four_are_two(x, y):
    i = cuda.grid(1) * 4
    a, b, c, d = ld4(x, i)  # bad
    st4(y, i, a, b, c, d)


@broken(
    1, 8, lambda: (floats(40), nans(40)),
    finding("misaligned", "x", thread=1, index=5, says=("16 bytes", "counted flat", "multiple of 4")),
)  # fmt: skip
def rows_of_five(x, y):
    i = cuda.grid(1) * 5
    a, b, c, d = ld4(x, i)  # bad
    y[i] = a + b + c + d


@broken(
    1, 8, lambda: (DeviceArray(floats(40))[1:], nans(40)),
    finding("misaligned", "x", thread=0, index=0, says=("8 bytes at once", "begins at such an address")),
)  # fmt: skip
def pairs_of_a_slice(x, y):
    i = cuda.grid(1) * 2
    a, b = ld2(x, i)  # bad
    y[i] = a + b


@broken(
    1, 32, lambda: (floats(128), nans(32)),
    finding("misaligned", "s", thread=1, index=33, says=("pad its rows",)),
)  # fmt: skip
def rows_padded_by_one(x, y):
    s = cuda.shared.array((4, 33), float32, alignment=16)
    t = cuda.threadIdx.x
    for k in range(4):
        s[k, t] = x[k * 32 + t]
    cuda.syncthreads()
    a, b, c, d = ld4(s, t % 4 * 33)  # bad
    y[t] = a + b + c + d


@broken(
    1, 32, lambda: (floats(128), nans(128)),
    finding("unwritten memory", "s", thread=0, says=("nobody has written", "write before you read")),
)  # fmt: skip
def copy_that_nobody_waits_for(x, y):
    s = cuda.shared.array(128, float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(s, t * 4, x, t * 4)
    cp_async_commit()
    y[t] = s[t * 4]  # bad


@broken(
    1, 32, lambda: (floats(256), nans(128)),
    finding("unwritten memory", "s", thread=0, index=0, says=("nobody has written",)),
)  # fmt: skip
def waits_for_all_but_the_only_group(x, y):
    s = cuda.shared.array(128, float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(s, t * 4, x, t * 4)
    cp_async_commit()
    cp_async_wait1()
    cuda.syncthreads()
    y[t] = s[t]  # bad


@broken(
    1, 64, lambda: (floats(256), nans(64)),
    finding("race", "s", says=("no barrier between", "cuda.syncthreads()")),
)  # fmt: skip
def waits_only_for_its_own_copies(x, y):
    s = cuda.shared.array(256, float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(s, t * 4, x, t * 4)
    cp_async_commit()
    cp_async_wait0()
    y[t] = s[255 - t]  # bad


@broken(
    1, 32, lambda: (floats(126), nans(128)),
    finding("out of bounds", "x", thread=31, index=124, says=("4 elements from flat index 124",)),
)  # fmt: skip
def copies_beyond_the_end(x, y):
    s = cuda.shared.array(128, float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16_part(s, t * 4, x, t * 4, 4)  # bad
    cp_async_commit()
    cp_async_wait0()
    cuda.syncthreads()
    for k in range(4):
        if t * 4 + k < 124:
            y[t * 4 + k] = s[t * 4 + k]


@broken(
    1, 32, lambda: (floats(32), nans(32)), finding("negative index", thread=0, index=-1, says=("nonneg", "promises"))
)
def promise_that_does_not_hold(x, y):
    i = nonneg(cuda.threadIdx.x - 1)  # bad
    if i >= 0:
        y[i] = x[i]


@broken(1, 32, lambda: (floats(128), nans(128)), refused("KernelError", "shared memory", "first argument"))
def copies_into_global_memory(x, y):
    cp_async16(y, cuda.threadIdx.x * 4, x, cuda.threadIdx.x * 4)  # bad


@broken(
    1, 32, lambda: (floats(128), nans(128)),
    finding("misaligned", "s", says=("16 bytes at once", "multiple of 4 bytes only", "alignment=16")),
)  # fmt: skip
def alignment_is_left_to_chance(x, y):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        s[k * 32 + t] = x[k * 32 + t]
    cuda.syncthreads()
    a, b, c, d = ld4(s, t * 4)  # bad
    st4(y, t * 4, a, b, c, d)
