"""Kernels that tests of traces follow."""

from numba import cuda, float32, int32

from course_lib import gpu

T = 32


@gpu.jit
def transposed(x, y):
    tile = cuda.shared.array((T, T), float32)
    R, C = x.shape
    top, left = cuda.blockIdx.y * T, cuda.blockIdx.x * T
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    if top + ty < R and left + tx < C:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()

    if left + ty < C and top + tx < R:
        y[left + ty, top + tx] = tile[tx, ty]


@gpu.jit
def branches(x, out):
    t = cuda.threadIdx.x
    if t >= 30:
        return
    acc = float32(0)
    for k in range(t % 3):
        acc += x[k]
    n = t
    while n > 20:
        n -= 4
    if t % 2 == 0:
        out[t] = acc
    else:
        out[t] = -acc - n


@gpu.jit(device=True)
def clipped(v):
    if v > 10:
        return float32(10)
    return v


@gpu.jit
def calls(x, out):
    i = cuda.grid(1)
    y = clipped(x[i])
    out[i] = y + 1


@gpu.jit
def racy(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    out[t] = s[t] + s[63 - t]


@gpu.jit
def late(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 40:
        cuda.syncthreads()
    out[t] = s[t]


@gpu.jit
def block_sum(x, out):
    s = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@gpu.jit
def scan(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t] + (s[t - d] if t >= d else float32(0))
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@gpu.jit
def outside(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


@gpu.jit
def endless(out):
    i = int32(0)
    while i >= 0:
        i = (i + 1) % 7
    out[0] = i


@gpu.jit
def stuck(out):
    i = cuda.threadIdx.x
    while out[0] == 0:
        i = i
    out[i] = 1


@gpu.jit
def long_loop(out):
    acc = float32(0)
    for k in range(20000):
        acc += k
    out[0] = acc


@gpu.jit
def small_arrays(x, out):
    v = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        v[k] = x[t] * k
    out[t] = v[3]


@gpu.jit
def counted(x, out):
    n = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        n[0] = 0
    cuda.syncthreads()
    if x[t] > 0:
        cuda.atomic.add(n, 0, 1)
    cuda.syncthreads()
    if t == 0:
        out[0] = n[0]


@gpu.jit
def many_numbers(x, out):
    t = cuda.threadIdx.x
    acc = x[t]
    for k in range(600):
        acc = acc * float32(1.01) + x[(t + k) % 32]
    out[t] = acc
