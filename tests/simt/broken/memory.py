"""Reading what nobody wrote, writing too little, and variables without a value."""

from numba import cuda, float32, int32

from tests.simt.corpus import broken, empty, finding, floats, ints, minus_ones, nans, refused, some

T = 4
NOT_USED = ("nobody has written", "is not used")
WRITE_FIRST = ("nobody has written", "write before you read")
EMPTY = ("nobody has written", "gpu.empty")


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    finding("unwritten memory", "s", thread=63, block=0, index=65, says=WRITE_FIRST),
)  # fmt: skip
def right_halo_never_loaded(x, y):
    s = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    if t == 0:
        s[0] = float32(0)
    cuda.syncthreads()
    y[t] = s[t] + s[t + 1] + s[t + 2]  # bad


@broken(
    1, (T, T), lambda: (floats(3, 4), floats(4, 3), nans(3, 3)),
    advice=(
        finding("unwritten memory", "As", thread=(0, 3), block=0, says=NOT_USED),
        finding("unwritten memory", "Bs", thread=(3, 0), block=0, says=NOT_USED),
    ),
)  # fmt: skip
def ragged_tile_without_zeros(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if row < A.shape[0] and tx < A.shape[1]:
        As[ty, tx] = A[row, tx]
    if ty < B.shape[0] and col < B.shape[1]:
        Bs[ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    for k in range(T):
        acc += As[ty, k] * Bs[k, tx]  # bad
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@broken(
    1, (T, T), lambda: (floats(4, 3), floats(3, 4), nans(4, 4)),
    finding("unwritten memory", "As", thread=(0, 0), block=0, says=WRITE_FIRST),
    finding("unwritten memory", "Bs", thread=(0, 0), block=0, says=WRITE_FIRST),
)  # fmt: skip
def inner_edge_of_a_tile_without_zeros(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if row < A.shape[0] and tx < A.shape[1]:
        As[ty, tx] = A[row, tx]
    if ty < B.shape[0] and col < B.shape[1]:
        Bs[ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    for k in range(T):
        acc += As[ty, k] * Bs[k, tx]  # bad
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("unwritten memory", "bins", thread=0, block=0, index=32, says=WRITE_FIRST),
)  # fmt: skip
def bins_only_half_set_to_zero(x, hist):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 32:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, (x[t] + 32) % 64, 1)  # bad
    cuda.syncthreads()
    hist[t] = bins[t]


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    finding("unwritten memory", "s", thread=0, block=0, index=0, says=WRITE_FIRST),
)  # fmt: skip
def shared_sum_never_begun(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] += x[t]  # bad
    y[t] = s[t]


@broken(
    1, 8, lambda: (floats(8, 4), nans(8, 4)),
    finding("unwritten memory", "acc", thread=0, block=0, index=0, says=WRITE_FIRST),
)  # fmt: skip
def register_tile_never_set_to_zero(x, y):
    acc = cuda.local.array(4, float32)
    i = cuda.grid(1)
    for k in range(4):
        acc[k] += x[i, k]  # bad
    for k in range(4):
        y[i, k] = acc[k]


@broken(
    2, 32, lambda: (floats(64), empty(64)),
    finding("unwritten memory", "y", thread=0, block=0, index=0, says=EMPTY),
)  # fmt: skip
def sum_into_an_empty_array(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += x[i]  # bad


@broken(
    1, 4, lambda: (floats(4), ints(4), empty(8)),
    finding("unwritten memory", "dx", thread=0, block=0, index=0, says=EMPTY),
)  # fmt: skip
def atomics_on_an_empty_array(dy, mask, dx):
    i = cuda.grid(1)
    if i < dy.size:
        cuda.atomic.add(dx, 2 * mask[i], dy[i])  # bad


@broken(
    2, 32, lambda: (floats(64), empty(64), nans(64)),
    finding("unwritten memory", "h", thread=0, block=1, index=32, says=EMPTY),
)  # fmt: skip
def hidden_layer_only_half_computed(x, h, y):
    i = cuda.grid(1)
    if i < 32:
        h[i] = max(x[i], float32(0))
    y[i] = h[i]  # bad


# ------------------------------------------------------------------------------------------- written too little


@broken(
    2, 32, lambda: (floats(100), empty(100)),
    advice=(finding("never written", "y", index=64, says=("y[64]", "35 more", "grid", "guard"), mark=None),),
)  # fmt: skip
def grid_too_small(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = max(x[i], float32(0))


@broken(
    2, 32, lambda: (floats(256), empty(256)),
    advice=(finding("never written", "y", index=64, says=("y[64]", "127 more"), mark=None),),
)  # fmt: skip
def stride_twice_too_long(x, y):
    for i in range(cuda.grid(1), y.size, 2 * cuda.gridsize(1)):
        y[i] = x[i]


@broken(
    1, (8, 8), lambda: (floats(8, 8), empty(8, 8)),
    advice=(finding("never written", "C", says=("C[0, 1]", "55 more"), mark=None),),
)  # fmt: skip
def only_the_diagonal(A, C):
    col, row = cuda.grid(2)
    if row == col:
        C[row, col] = A[row, col]


# ------------------------------------------------------------------------------------------- variables


@broken(
    1, 8, lambda: (floats(8, start=-3), nans(8)),
    finding("unset variable", "slope", thread=0, block=0),
)  # fmt: skip
def variable_set_in_a_branch_only(x, y):
    i = cuda.grid(1)
    if x[i] > 0:
        slope = float32(1)
    y[i] = x[i] * slope  # bad


@broken(
    1, 8, lambda: (ints(8), minus_ones(8)),
    finding("unset variable", "last", thread=0, block=0),
)  # fmt: skip
def variable_set_in_a_loop_without_turns(n, y):
    i = cuda.grid(1)
    for k in range(n[i]):
        last = 10 * k
    y[i] = last  # bad


@broken(
    1, 8, lambda: (some(8), nans(8)),
    refused("KernelError", "total", "has no value"),
)  # fmt: skip
def sum_that_was_never_begun(x, y):
    i = cuda.grid(1)
    for k in range(x.size):
        total += x[k]  # noqa: F821  # bad
    y[i] = total
