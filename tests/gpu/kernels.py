"""Kernels for these tests, as a lesson would write them."""

from numba import cuda, float32, int32

from course_lib import gpu

T = 4
FACTOR = 3


@gpu.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@gpu.jit
def product_tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for m in range((A.shape[1] + T - 1) // T):
        As[ty, tx] = float32(0)
        Bs[ty, tx] = float32(0)
        if row < A.shape[0] and m * T + tx < A.shape[1]:
            As[ty, tx] = A[row, m * T + tx]
        if col < B.shape[1] and m * T + ty < B.shape[0]:
            Bs[ty, tx] = B[m * T + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@gpu.jit
def where_am_i(out):
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = z * 100 + y * 10 + x


@gpu.jit
def reverse_dynamic(a, out):
    tile = cuda.shared.array(0, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    cuda.syncthreads()
    out[i] = tile[a.size - 1 - i]


@gpu.jit
def scaled(x, factor, count, flag, out):
    i = cuda.grid(1)
    if i < count and flag:
        out[i] = x[i] * factor


@gpu.jit(device=True)
def cube(v):
    return v * v * v


@gpu.jit(device=True, inline="always")
def cube_and_one(v):
    return cube(v) + float32(1)


@gpu.jit
def cubes(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = cube_and_one(x[i])


@gpu.jit
def half(v):
    return v * float32(0.5)


@gpu.jit
def halves(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = half(x[i])


def times(factor):
    """Return a kernel that multiplies by `factor`, through a device function of its own."""

    @gpu.jit(device=True)
    def scale(v):
        return v * float32(factor)

    @gpu.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = scale(x[i])

    return kernel


@gpu.jit(fastmath=True, max_registers=32, opt=True, lineinfo=False)
def with_options(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * int32(FACTOR)


@gpu.jit
def in_place(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += float32(1)


@gpu.jit
def copy2d(a, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = a[row, col]
