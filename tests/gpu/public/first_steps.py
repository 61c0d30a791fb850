"""Copies, kernels, streams and events, as a first notebook on Numba-CUDA has them."""

import math

import numba
import numpy as np
from numba import cuda, float32

assert cuda.is_available()
RESULTS = {}
rng = np.random.default_rng(0)
THREADS = 256
TILE = 8


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


n = 200
x, y = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
d_x, d_y = cuda.to_device(x), cuda.to_device(y)
d_out = cuda.device_array_like(d_x)
blocks = math.ceil(n / THREADS)
add[blocks, THREADS](d_x, d_y, d_out)
cuda.synchronize()
RESULTS["add"] = d_out.copy_to_host()

out = np.zeros_like(x)
add[blocks, THREADS](x, y, out)  # host arrays: copied there and back
RESULTS["host arrays"] = out

add.forall(n)(d_x, d_x, d_out)
RESULTS["forall"] = d_out.copy_to_host()

configured = add.configure(blocks, THREADS)
configured(d_y, d_y, d_out)
RESULTS["configure"] = d_out.copy_to_host()


@cuda.jit("void(float32[:,:], float32[:,:], float32[:,:])", fastmath=True)
def matmul(A, B, C):
    As = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    Bs = cuda.shared.array(shape=(TILE, TILE), dtype=numba.float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0.0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        As[ty, tx] = 0
        Bs[ty, tx] = 0
        if row < A.shape[0] and t * TILE + tx < A.shape[1]:
            As[ty, tx] = A[row, t * TILE + tx]
        if col < B.shape[1] and t * TILE + ty < B.shape[0]:
            Bs[ty, tx] = B[t * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


A = rng.integers(-4, 4, (19, 30)).astype(np.float32)
B = rng.integers(-4, 4, (30, 21)).astype(np.float32)
C = cuda.device_array((19, 21), dtype=np.float32)
grid = (math.ceil(21 / TILE), math.ceil(19 / TILE))
matmul[grid, (TILE, TILE)](cuda.to_device(A), cuda.to_device(B), C)
RESULTS["matmul"] = C.copy_to_host()
RESULTS["matmul is right"] = bool((C.copy_to_host() == A @ B).all())

stream = cuda.stream()
start, end = cuda.event(), cuda.event(timing=True)
pinned = cuda.pinned_array(n, dtype=np.float32)
pinned[:] = x
with stream.auto_synchronize():
    start.record(stream)
    d_p = cuda.to_device(pinned, stream=stream)
    add[blocks, THREADS, stream](d_p, d_y, d_out)
    d_out.copy_to_host(pinned, stream=stream)
    end.record(stream=stream)
end.synchronize()
RESULTS["stream"] = pinned.copy()
RESULTS["time passed"] = cuda.event_elapsed_time(start, end) > 0 and start.elapsed_time(end) > 0
with cuda.pinned(x):
    RESULTS["pinned"] = cuda.to_device(x, stream=stream).copy_to_host(stream=stream)


@cuda.jit
def scale(a, factor, shift):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * factor + shift


a = np.arange(5, dtype=np.float64)
scale[1, 32](cuda.In(a), 2, 1)
RESULTS["In"] = a.copy()
scale[1, 32](cuda.InOut(a), 2, 1)
RESULTS["InOut"] = a.copy()


@cuda.jit
def fill(a, value):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = value


fill[1, 32](cuda.Out(a), 7)
RESULTS["Out"] = a.copy()


@cuda.jit(device=True, inline=True)
def clamp(value, low, high):
    return min(max(value, low), high)


@cuda.jit("float32(float32, float32)", device=True)
def halved(p, q):
    return (p - q) / 2


@cuda.jit
def use_both(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = clamp(halved(a[i], 1), -1, 1)


out = np.zeros(8)
use_both[1, 8](np.linspace(-9, 9, 8), out)
RESULTS["device functions"] = out


@cuda.jit(["void(int32[:], int32)", "void(float32[:], float32)"])
def typed(a, number):
    a[cuda.grid(1)] = number / 2


for dtype in (np.int32, np.float32):
    a = np.zeros(3, dtype)
    typed[1, 3](a, 5)
    RESULTS[f"typed {a.dtype}"] = a

mapped = cuda.mapped_array(4, dtype=np.int64)
mapped[:] = 3
fill[1, 4](mapped, 9)
cuda.synchronize()
RESULTS["mapped"] = np.array(mapped)
with cuda.gpus[0]:
    RESULTS["limits"] = [
        getattr(cuda.get_current_device(), name)
        for name in ("MAX_THREADS_PER_BLOCK", "MAX_BLOCK_DIM_Z", "MAX_SHARED_MEMORY_PER_BLOCK", "WARP_SIZE")
    ]
RESULTS["devices"] = len(cuda.gpus), cuda.select_device(0).id
RESULTS["memory"] = cuda.current_context().get_memory_info().total > 2**30
