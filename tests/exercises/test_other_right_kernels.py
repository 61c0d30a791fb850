"""Right kernels that are written otherwise than the solution are right: in every case, public and hidden."""

from pathlib import Path

import pytest

from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.registry import SHEETS, find
from course_lib.grading.keys import load_keys, parts_of

FOLDER = Path(__file__).parents[2] / "solutions" / "keys"
KEYS = {id: key for name in SHEETS for id, key in load_keys(FOLDER, name).items()}
ANSWERS = {
    "11.1 by hand, with return": """
@gpu.jit
def guarded_add(left, right, total):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= len(total):
        return
    total[i] = left[i] + right[i]
""",
    "11.1 with Numba's decorator": """
import numba
@numba.cuda.jit
def guarded_add(a, b, c):
    i = cuda.grid(1)
    if i < a.shape[0]:
        c[i] = a[i] + b[i]
""",
    "11.2 while, conditional expression": """
@gpu.jit
def leaky_relu(x, slope, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = x[i] if x[i] > 0 else slope * x[i]
        i += cuda.gridsize(1)
""",
    "11.2 branch-free": """
@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridDim.x * cuda.blockDim.x):
        y[i] = max(x[i], float32(0)) + slope * min(x[i], float32(0))
""",
    "11.2 the larger or the smaller of the two": """
@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = max(x[i], slope * x[i]) if slope <= 1 else min(x[i], slope * x[i])
""",
    "11.2 device function": """
@gpu.jit(device=True)
def leaky(v, slope):
    if v < 0.0:
        return v * slope
    return v

@gpu.jit
def leaky_relu(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = leaky(x[i], slope)
""",
    "11.3 row as an array": """
@gpu.jit
def row_sum(x, s):
    r = cuda.grid(1)
    if r < s.size:
        row, acc, j = x[r], float32(0.0), 0
        while j < row.size:
            acc = acc + row[j]
            j += 1
        s[r] = acc
""",
    "11.5 by hand, with return": """
@gpu.jit
def brighten(image, gain, out):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    out[i, j] = image[i, j] * gain
""",
    "11.7 the number from the element": """
@gpu.jit
def number_tiles(y):
    m, t, b = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockDim.x
    n = -(-y.shape[2] // b)
    h, w = t // n * b + cuda.threadIdx.y, (t - t // n * n) * b + cuda.threadIdx.x
    if h >= y.shape[1] or w >= y.shape[2]:
        return
    y[m, h, w] = b * b * (h // b * n + w // b) + b * (h % b) + w % b
""",
    "11.8 the whole grid is dealt": """
@gpu.jit
def alternate(a, b, y):
    t, half = cuda.grid(1), y.size // 2
    if t < half:
        y[2 * t] = a[2 * t] + float32(1)
    else:
        y[2 * (t - half) + 1] = float32(2) * b[2 * (t - half) + 1]
""",
    "11.8 every second warp": """
@gpu.jit
def alternate(a, b, y):
    warp, lane = cuda.grid(1) // 32, cuda.grid(1) % 32
    i = warp // 2 * 64 + 2 * lane + warp % 2
    y[i] = float32(2) * b[i] if warp % 2 else a[i] + float32(1)
""",
    "12.1 whole sectors a thread": """
@gpu.jit
def copy_four(x, y):
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + t // 8 * 32 + t % 8
    for k in range(i, min(i + 32, x.size), 8):
        y[k] = x[k]
""",
    "12.1 a grid-stride loop": """
@gpu.jit
def copy_four(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i]
""",
    "12.1 whole grids of threads apart": """
@gpu.jit
def copy_four(x, y):
    for k in range(4):
        i = cuda.grid(1) + k * cuda.gridsize(1)
        if i < y.size:
            y[i] = x[i]
""",
    "12.3 turned on the way in": """
@gpu.jit
def turn_right(x, y):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, last = cuda.blockIdx.x * 32, x.shape[0] - 1 - cuda.blockIdx.y * 32
    if last - ty >= 0 and left + tx < x.shape[1]:
        tile[tx, ty] = x[last - ty, left + tx]
    cuda.syncthreads()
    if last - tx >= 0 and left + ty < x.shape[1]:
        y[left + ty, cuda.blockIdx.y * 32 + tx] = tile[ty, tx]
""",
    "12.4 each lane begins with another column": """
@gpu.jit
def tile_sums(x, s):
    tile = cuda.shared.array((32, 32), float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * 32
    for r in range(min(32, x.shape[0] - first)):
        tile[r, t] = x[first + r, t]
    cuda.syncthreads()
    if first + t < s.size:
        acc = float32(0)
        for k in range(32):
            acc += tile[t, (t + k) % 32]
        s[first + t] = acc
""",
    "12.3 swizzled instead of padded": """
@gpu.jit
def turn_right(x, y):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        tile[ty, tx ^ ty] = x[j, i]
    cuda.syncthreads()
    i, j = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    if i < x.shape[0] and j < x.shape[1]:
        y[j, y.shape[1] - 1 - i] = tile[tx, ty ^ tx]
""",
    "12.3 stores the tile turned": """
@gpu.jit
def turn_right(x, y):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    tile[tx, ty] = x[j, i] if i < x.shape[1] and j < x.shape[0] else float32(0)
    cuda.syncthreads()
    i, j = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    if i < x.shape[0] and j < x.shape[1]:
        y[j, y.shape[1] - 1 - i] = tile[ty, tx]
""",
    "13.2 neighbours first, exchanged": """
@gpu.jit
def grid_sum(x, total):
    i, acc = cuda.grid(1), float32(0)
    while i < x.size:
        acc += x[i]
        i += cuda.gridsize(1)
    for k in range(5):
        acc += cuda.shfl_xor_sync(-1, acc, 1 << k)
    if cuda.threadIdx.x == 31:
        cuda.atomic.add(total, 0, acc)
""",
    "13.2 by way of shared memory": """
@gpu.jit
def grid_sum(x, total):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    part[t] = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        part[t] += x[i]
    cuda.syncthreads()
    if t == 0:
        acc = float32(0)
        for k in range(32):
            acc += part[k]
        cuda.atomic.add(total, 0, acc)
""",
    "13.3 neighbours added by threads side by side": """
@gpu.jit
def block_sum(x, sums):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = 0
    if i < x.size:
        s[t] = x[i]
    step = 1
    while step < 128:
        cuda.syncthreads()
        k = 2 * step * t
        if k < 128:
            s[k] += s[k + step]
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]
""",
    "13.3 barrier at the end of a turn, for": """
@gpu.jit
def block_sum(x, sums):
    s = cuda.shared.array(WIDTH, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < len(x) else float32(0)
    cuda.syncthreads()
    for k in range(7):
        half = 64 >> k
        if t < half:
            s[t] = s[t] + s[t + half]
        cuda.syncthreads()
    if t == 0:
        sums[cuda.blockIdx.x] = s[t]
""",
    "13.3 shuffles": """
@gpu.jit
def block_sum(x, sums):
    s = cuda.shared.array(4, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    for k in range(5):
        v += cuda.shfl_down_sync(0xffffffff, v, 16 >> k)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        sums[cuda.blockIdx.x] = (s[0] + s[1]) + (s[2] + s[3])
""",
    "13.4 the first element for those without one": """
@gpu.jit
def block_max(x, out):
    s = cuda.shared.array(WIDTH, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[min(i, x.size - 1)]
    cuda.syncthreads()
    half = 64
    while half:
        if t < half and s[t + half] > s[t]:
            s[t] = s[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
""",
    "13.5 without a branch, with return": """
@gpu.jit
def fused(z, bias, slope, factor, out):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    v = bias[j] + z[i, j]
    out[i, j] = (max(v, float32(0)) + slope * min(v, float32(0))) * factor
""",
    "13.6 largest and sum by shuffles down, the label's logit by a shuffle": """
@gpu.jit
def row_losses(z, labels, loss):
    lane, row = cuda.threadIdx.x % 32, 2 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row >= z.shape[0]:
        return
    a, b = -float32(math.inf), -float32(math.inf)
    if lane < z.shape[1]:
        a = z[row, lane]
    if lane + 32 < z.shape[1]:
        b = z[row, lane + 32]
    top, step = max(a, b), 16
    while step:
        top = max(top, cuda.shfl_down_sync(0xffffffff, top, step))
        step //= 2
    top = cuda.shfl_sync(0xffffffff, top, 0)
    total, step = math.exp(a - top) + math.exp(b - top), 16
    while step:
        total += cuda.shfl_down_sync(0xffffffff, total, step)
        step //= 2
    label = labels[row]
    one, other = cuda.shfl_sync(0xffffffff, a, label % 32), cuda.shfl_sync(0xffffffff, b, label % 32)
    if lane == 0:
        loss[row] = math.log(total) + top - (one if label < 32 else other)
""",
    "13.7 the first element of the window": """
@gpu.jit
def max_pool(x, size, stride, pad, y, mask):
    n = cuda.grid(1)
    while n < y.size:
        c, rest = divmod(n, y.shape[1] * y.shape[2])
        h, w = divmod(rest, y.shape[2])
        r0, q0 = max(h * stride - pad, 0), max(w * stride - pad, 0)
        at = r0 * x.shape[2] + q0
        for r in range(r0, min(h * stride - pad + size, x.shape[1])):
            for q in range(q0, min(w * stride - pad + size, x.shape[2])):
                if x[c, r, q] > x[c, at // x.shape[2], at % x.shape[2]]:
                    at = r * x.shape[2] + q
        y[c, h, w] = x[c, at // x.shape[2], at % x.shape[2]]
        mask[c, h, w] = at
        n += cuda.gridsize(1)
""",
    "13.7 a test in the window, from the end": """
@gpu.jit
def max_pool(x, size, stride, pad, y, mask):
    C, H, W = x.shape
    for n in range(cuda.grid(1), mask.size, cuda.gridsize(1)):
        w, h, c = n % y.shape[2], n // y.shape[2] % y.shape[1], n // (y.shape[2] * y.shape[1])
        best, at = -math.inf, -1
        for k in range(size * size - 1, -1, -1):
            r, q = h * stride - pad + k // size, w * stride - pad + k % size
            if 0 <= r < H and 0 <= q < W and x[c, r, q] >= best:
                best, at = x[c, r, q], r * W + q
        y[c, h, w] = best
        mask[c, h, w] = at
""",
    "13.8 shuffles, written out": """
@gpu.jit
def square_sums(x, sums):
    s = cuda.shared.array(2, float32)
    t, i, n = cuda.threadIdx.x, cuda.blockIdx.x * 256 + cuda.threadIdx.x, x.size
    a = x[i] if i < n else float32(0)
    b = x[i + 64] if i + 64 < n else float32(0)
    c = x[i + 128] if i + 128 < n else float32(0)
    d = x[i + 192] if i + 192 < n else float32(0)
    v = (a * a + b * b) + (c * c + d * d)
    for k in range(5):
        v += cuda.shfl_down_sync(0xffffffff, v, 16 >> k)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        sums[cuda.blockIdx.x] = s[0] + s[1]
""",
    "14.2 s backwards, with return": """
@gpu.jit
def weight_gradient(X, dZ, dW):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= dW.shape[0] or j >= dW.shape[1]:
        return
    total, s = float32(0), X.shape[0] - 1
    while s >= 0:
        total = total + dZ[s, j] * X[s, i]
        s -= 1
    dW[i, j] = total
""",
    "14.2 samples as arrays": """
@gpu.jit
def weight_gradient(X, dZ, dW):
    j, i = cuda.grid(2)
    if i < X.shape[1] and j < dZ.shape[1]:
        acc = float32(0.0)
        for s in range(len(X)):
            x, z = X[s], dZ[s]
            acc += x[i] * z[j]
        dW[i, j] = acc
""",
    "14.2 with tiles": """
@gpu.jit
def weight_gradient(X, dZ, dW):
    z = cuda.shared.array((8, 32), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for s0 in range(0, X.shape[0], 8):
        z[ty, tx] = dZ[s0 + ty, j] if s0 + ty < X.shape[0] and j < dZ.shape[1] else float32(0)
        cuda.syncthreads()
        if i < dW.shape[0] and j < dW.shape[1]:
            for s in range(min(8, X.shape[0] - s0)):
                acc += X[s0 + s, i] * z[s, tx]
        cuda.syncthreads()
    if i < dW.shape[0] and j < dW.shape[1]:
        dW[i, j] = acc
""",
    "14.3 conditional expressions, indices clamped": """
PADDED = TILE + 1

@gpu.jit
def tiled_product(A, B, C):
    a = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    b = cuda.shared.array(shape=(TILE, PADDED), dtype=float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, n = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + y
    j = cuda.blockIdx.x * TILE + x
    total, k0 = float32(0), 0
    while k0 < A.shape[1]:
        p = min(k0 + x, A.shape[1] - 1)
        a[y, x] = A[min(i, A.shape[0] - 1), p] if k0 + x < A.shape[1] else float32(0)
        b[y, x] = B[min(n, B.shape[0] - 1), p]
        cuda.syncthreads()
        for k in range(TILE):
            total += a[y, k] * b[x, k]
        cuda.syncthreads()
        k0 += TILE
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
""",
    "14.3 B's tile turned, one number of padding": """
@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((16, 16), float32)
    Bt = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    n = 16 * cuda.blockIdx.x + ty
    acc = float32(0)
    for turn in range(-(-A.shape[1] // 16)):
        k = turn * 16 + tx
        As[ty, tx] = A[row, k] if row < A.shape[0] and k < A.shape[1] else float32(0)
        Bt[tx, ty] = B[n, k] if n < B.shape[0] and k < A.shape[1] else float32(0)
        cuda.syncthreads()
        for p in range(16):
            acc += As[ty, p] * Bt[p, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
""",
    "14.3 both tiles turned, two numbers of padding": """
@gpu.jit
def tiled_product(A, B, C):
    At = cuda.shared.array((16, 18), float32)
    Bt = cuda.shared.array((16, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    n = 16 * cuda.blockIdx.x + ty
    acc = float32(0)
    for k in range(tx, A.shape[1] + tx, 16):
        At[tx, ty] = A[row, k] if row < A.shape[0] and k < A.shape[1] else float32(0)
        Bt[tx, ty] = B[n, k] if n < B.shape[0] and k < A.shape[1] else float32(0)
        cuda.syncthreads()
        for p in range(16):
            acc += At[p, ty] * Bt[p, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
""",
    "14.3 only what exists is multiplied, no zeros": """
@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    n = cuda.blockIdx.x * TILE + ty
    K, inside, acc = A.shape[1], row < A.shape[0] and col < B.shape[0], float32(0)
    for k0 in range(0, K, TILE):
        cuda.syncthreads()
        if row < A.shape[0] and k0 + tx < K:
            As[ty, tx] = A[row, k0 + tx]
        if k0 + tx < K and n < B.shape[0]:
            Bs[ty, tx] = B[n, k0 + tx]
        cuda.syncthreads()
        if inside:
            for k in range(min(TILE, K - k0)):
                acc += As[ty, k] * Bs[tx, k]
    if inside:
        C[row, col] = acc
""",
    "14.3 two pairs of tiles in turns, one barrier": """
@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((2, TILE, TILE), float32)
    Bs = cuda.shared.array((2, TILE, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    n = cuda.blockIdx.x * TILE + ty
    acc, now = float32(0), 0
    for k0 in range(0, A.shape[1], TILE):
        As[now, ty, tx] = A[row, k0 + tx] if row < A.shape[0] and k0 + tx < A.shape[1] else float32(0)
        Bs[now, ty, tx] = B[n, k0 + tx] if n < B.shape[0] and k0 + tx < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[now, ty, k] * Bs[now, tx, k]
        now = 1 - now
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
""",
    "14.4 bias at the end, barrier at the beginning": """
@gpu.jit
def dense_relu(x, w, b, a):
    X = cuda.shared.array((SIDE, SIDE), float32)
    W = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    z, f = float32(0), 0
    while f < w.shape[0]:
        cuda.syncthreads()
        X[ty, tx] = float32(0)
        W[ty, tx] = float32(0)
        if row < x.shape[0] and f + tx < x.shape[1]:
            X[ty, tx] = x[row, f + tx]
        if f + ty < w.shape[0] and column < w.shape[1]:
            W[ty, tx] = w[f + ty, column]
        cuda.syncthreads()
        for k in range(SIDE):
            z += X[ty, k] * W[k, tx]
        f += SIDE
    if row < x.shape[0] and column < w.shape[1]:
        z += b[column]
        a[row, column] = z if z > 0 else float32(0)
""",
    "14.4 indices clamped": """
@gpu.jit
def dense_relu(x, w, b, a):
    X = cuda.shared.array((8, 8), float32)
    W = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    i, j, F = min(row, x.shape[0] - 1), min(column, w.shape[1] - 1), x.shape[1]
    z = b[j]
    for turn in range((F + 7) // 8):
        X[ty, tx] = x[i, min(8 * turn + tx, F - 1)]
        W[ty, tx] = w[min(8 * turn + ty, F - 1), j]
        cuda.syncthreads()
        for k in range(min(8, F - 8 * turn)):
            z += X[ty, k] * W[k, tx]
        cuda.syncthreads()
    if row >= a.shape[0] or column >= a.shape[1]:
        return
    a[row, column] = max(float32(0), z)
""",
    "14.5 four variables": """
@gpu.jit
def four_rows(A, B, C):
    As = cuda.shared.array((WIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, WIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, j = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x + tx
    t = 32 * ty + tx
    p, q, r, s = float32(0), float32(0), float32(0), float32(0)
    for k0 in range(0, A.shape[1], 8):
        As[t // 8, t % 8] = 0
        if top + t // 8 < A.shape[0] and k0 + t % 8 < A.shape[1]:
            As[t // 8, t % 8] = A[top + t // 8, k0 + t % 8]
        Bs[ty, tx] = 0
        if k0 + ty < B.shape[0] and j < B.shape[1]:
            Bs[ty, tx] = B[k0 + ty, j]
        cuda.syncthreads()
        for k in range(8):
            b = Bs[k, tx]
            p += As[4 * ty, k] * b
            q += As[4 * ty + 1, k] * b
            r += As[4 * ty + 2, k] * b
            s += As[4 * ty + 3, k] * b
        cuda.syncthreads()
    if j < C.shape[1]:
        i = top + 4 * ty
        if i < C.shape[0]:
            C[i, j] = p
        if i + 1 < C.shape[0]:
            C[i + 1, j] = q
        if i + 2 < C.shape[0]:
            C[i + 2, j] = r
        if i + 3 < C.shape[0]:
            C[i + 3, j] = s
""",
    "14.5 A's tile turned and padded, every eighth row, clamped": """
@gpu.jit
def four_rows(A, B, C):
    At = cuda.shared.array((8, 33), float32)
    Bs = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(4, float32)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x + tx
    t = 32 * ty + tx
    for i in range(4):
        acc[i] = 0
    k0 = 0
    while k0 < K:
        At[t % 8, t // 8] = A[min(row0 + t // 8, M - 1), min(k0 + t % 8, K - 1)]
        Bs[ty, tx] = B[min(k0 + ty, K - 1), min(col, N - 1)]
        cuda.syncthreads()
        for k in range(min(8, K - k0)):
            b = Bs[k, tx]
            for i in range(4):
                acc[i] += At[k, ty + 8 * i] * b
        cuda.syncthreads()
        k0 += 8
    for i in range(4):
        row = row0 + ty + 8 * i
        if row < M and col < N:
            C[row, col] = acc[i]
""",
    "14.6 neighbours to a thread, brought by rows and columns of threads": """
@gpu.jit
def sixteen(A, B, C):
    As = cuda.shared.array((32, 9), float32)
    Bs = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array((4, 4), float32)
    b = cuda.local.array(4, float32)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for n in range(16):
        acc[n // 4, n % 4] = 0
    for k0 in range(0, K, 8):
        for p in range(4):
            r, c = row0 + ty + 8 * p, col0 + tx + 8 * p
            As[ty + 8 * p, tx] = A[r, k0 + tx] if r < M and k0 + tx < K else float32(0)
            Bs[ty, tx + 8 * p] = B[k0 + ty, c] if k0 + ty < K and c < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for j in range(4):
                b[j] = Bs[k, 4 * tx + j]
            for i in range(4):
                a = As[4 * ty + i, k]
                for j in range(4):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row0 + 4 * ty + i < M and col0 + 4 * tx + j < N:
                C[row0 + 4 * ty + i, col0 + 4 * tx + j] = acc[i, j]
""",
    "14.6 neighbours to a thread, A's tile turned without padding": """
@gpu.jit
def sixteen(A, B, C):
    As = cuda.shared.array((8, 32), float32)
    Bs = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array((4, 4), float32)
    b = cuda.local.array(4, float32)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for n in range(16):
        acc[n // 4, n % 4] = 0
    for k0 in range(0, K, 8):
        for p in range(4):
            r, c = row0 + ty + 8 * p, col0 + tx + 8 * p
            As[tx, ty + 8 * p] = A[r, k0 + tx] if r < M and k0 + tx < K else float32(0)
            Bs[ty, tx + 8 * p] = B[k0 + ty, c] if k0 + ty < K and c < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for j in range(4):
                b[j] = Bs[k, 4 * tx + j]
            for i in range(4):
                a = As[k, 4 * ty + i]
                for j in range(4):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row0 + 4 * ty + i < M and col0 + 4 * tx + j < N:
                C[row0 + 4 * ty + i, col0 + 4 * tx + j] = acc[i, j]
""",
    "14.6 columns side by side, every eighth row": """
@gpu.jit
def sixteen(A, B, C):
    As = cuda.shared.array((32, 8), float32)
    Bs = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array((4, 4), float32)
    b = cuda.local.array(4, float32)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, col0 = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for n in range(16):
        acc[n // 4, n % 4] = 0
    for k0 in range(0, K, 8):
        for p in range(4):
            r, c = row0 + ty + 8 * p, col0 + tx + 8 * p
            As[ty + 8 * p, tx] = A[r, k0 + tx] if r < M and k0 + tx < K else float32(0)
            Bs[ty, tx + 8 * p] = B[k0 + ty, c] if k0 + ty < K and c < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for j in range(4):
                b[j] = Bs[k, 4 * tx + j]
            for i in range(4):
                a = As[ty + 8 * i, k]
                for j in range(4):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row0 + ty + 8 * i < M and col0 + 4 * tx + j < N:
                C[row0 + ty + 8 * i, col0 + 4 * tx + j] = acc[i, j]
""",
    "14.6 A's tile turned and padded, one row of sums, clamped": """
@gpu.jit
def sixteen(A, B, C):
    At = cuda.shared.array((8, 36), float32)
    Bs = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(16, float32)
    a = cuda.local.array(4, float32)
    M, K, N = A.shape[0], A.shape[1], B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t, row0, col0 = 8 * ty + tx, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for n in range(16):
        acc[n] = 0
    k0 = 0
    while k0 < K:
        e = t
        while e < 256:
            At[e % 8, e // 8] = A[min(row0 + e // 8, M - 1), min(k0 + e % 8, K - 1)]
            Bs[e // 32, e % 32] = B[min(k0 + e // 32, K - 1), min(col0 + e % 32, N - 1)]
            e += 64
        cuda.syncthreads()
        for k in range(min(8, K - k0)):
            for i in range(4):
                a[i] = At[k, ty + 8 * i]
            for j in range(4):
                b = Bs[k, tx + 8 * j]
                for i in range(4):
                    acc[4 * i + j] += a[i] * b
        cuda.syncthreads()
        k0 += 8
    for n in range(16):
        row, col = row0 + ty + n // 4 * 8, col0 + tx + n % 4 * 8
        if row < M and col < N:
            C[row, col] = acc[n]
""",
    "14.8 four variables, exchanged, with return": """
@gpu.jit
def four_vectors(A, X, Y):
    lane, row = cuda.threadIdx.x % 32, 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row >= A.shape[0]:
        return
    p, q, r, s = float32(0), float32(0), float32(0), float32(0)
    k = lane
    while k < A.shape[1]:
        a = A[row, k]
        p += a * X[0, k]
        q += a * X[1, k]
        r += a * X[2, k]
        s += a * X[3, k]
        k += 32
    for n in range(5):
        p += cuda.shfl_xor_sync(-1, p, 1 << n)
        q += cuda.shfl_xor_sync(-1, q, 1 << n)
        r += cuda.shfl_xor_sync(-1, r, 1 << n)
        s += cuda.shfl_xor_sync(-1, s, 1 << n)
    if lane < 4:
        Y[lane, row] = p if lane == 0 else q if lane == 1 else r if lane == 2 else s
""",
    "14.8 by way of shared memory, rows as arrays": """
@gpu.jit
def four_vectors(A, X, Y):
    part = cuda.shared.array((4, 4, 32), float32)
    lane, warp = cuda.laneid, cuda.threadIdx.x // 32
    row = cuda.grid(1) // 32
    for n in range(4):
        part[warp, n, lane] = 0
    if row < A.shape[0]:
        line = A[row]
        for k in range(lane, line.size, 32):
            a = line[k]
            for n in range(4):
                part[warp, n, lane] += a * X[n, k]
    step = 16
    while step:
        cuda.syncthreads()
        if lane < step:
            for n in range(4):
                part[warp, n, lane] += part[warp, n, lane + step]
        step //= 2
    if lane == 0 and row < A.shape[0]:
        for n in range(4):
            Y[n, row] = part[warp, n, 0]
""",
    "14.8 zeros where no element is": """
@gpu.jit
def four_vectors(A, X, Y):
    acc = cuda.local.array(4, float32)
    lane, row, K = cuda.laneid, cuda.grid(1) // 32, X.shape[1]
    for n in range(4):
        acc[n] = 0
    if row < Y.shape[1]:
        for first in range(0, K, 32):
            k = first + lane
            a = A[row, k] if k < K else float32(0)
            for n in range(4):
                v = X[n, k] if k < K else float32(0)
                acc[n] = acc[n] + a * v
        for p in range(5):
            for n in range(4):
                acc[n] += cuda.shfl_down_sync(0xFFFFFFFF, acc[n], 16 >> p)
        if lane == 0:
            for n in range(4):
                Y[n, row] = acc[n]
""",
    "15.2 tiles by constants": """
T = 4
@gpu.jit
def conv_basic(x, w, y):
    m, t, b = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
    across = (y.shape[3] + T - 1) // T
    i = (t // across) * T + cuda.threadIdx.y
    j = (t % across) * T + cuda.threadIdx.x
    if i >= y.shape[2] or j >= y.shape[3]:
        return
    K = w.shape[2]
    total = 0.0
    for k in range(w.shape[1] * K * K):
        c, p, q = k // (K * K), k // K % K, k % K
        total += w[m, c, p, q] * x[b, c, i + p, j + q]
    y[b, m, i, j] = total
""",
    "15.3 four threads bring the halo": """
@gpu.jit
def smooth_tiled(x, y):
    s = cuda.shared.array(68, float32)
    t, i, n = cuda.threadIdx.x, cuda.grid(1), x.size
    s[t + 2] = x[i] if i < n else float32(0)
    if t < 2:
        s[t] = x[i - 2] if i >= 2 else float32(0)
    if t >= 62:
        s[t + 4] = x[i + 2] if i + 2 < n else float32(0)
    cuda.syncthreads()
    if i < n:
        y[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4]
""",
    "15.2 one row of tiles after the other, a row of the mask at a time": """
@gpu.jit
def conv_basic(x, w, y):
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    rows = (y.shape[2] + 3) // 4
    h, v = cuda.blockIdx.y % rows * 4 + cuda.threadIdx.y, cuda.blockIdx.y // rows * 4 + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(w.shape[1]):
            for p in range(w.shape[2]):
                line, weights = x[b, c, h + p], w[m, c, p]
                for q in range(weights.size):
                    acc += line[v + q] * weights[q]
        y[b, m, h, v] = acc
""",
    "15.3 the halo first, then its own": """
FOUR_MORE = SPAN + 4
@gpu.jit(device=True)
def element(x, i):
    return x[i] if i >= 0 and i < x.size else float32(0)

@gpu.jit
def smooth_tiled(x, y):
    s = cuda.shared.array(FOUR_MORE, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * SPAN
    if t < 4:
        s[t if t < 2 else SPAN + t] = element(x, first + (t - 2 if t < 2 else SPAN + t - 2))
    s[2 + t] = element(x, first + t)
    cuda.syncthreads()
    acc = float32(0)
    for v in s[t : t + 5]:
        acc += v
    if first + t < y.size:
        y[first + t] = acc
""",
    "15.4 a flat tile of all maps, one barrier": """
C = MASKS.shape[1]
ALL = C * 100
@gpu.jit
def conv_constant(x, y):
    masks = cuda.const.array_like(MASKS)
    s = cuda.shared.array(ALL, float32)
    t = cuda.threadIdx.y * 8 + cuda.threadIdx.x
    across = -(-y.shape[2] // 8)
    top, left = cuda.blockIdx.y // across * 8, cuda.blockIdx.y % across * 8
    for k in range(t, ALL, 64):
        h, v = top + k % 100 // 10, left + k % 10
        if h < x.shape[1] and v < x.shape[2]:
            s[k] = x[k // 100, h, v]
    cuda.syncthreads()
    h, v = top + cuda.threadIdx.y, left + cuda.threadIdx.x
    if h >= y.shape[1] or v >= y.shape[2]:
        return
    acc = float32(0)
    for k in range(C * 9):
        c, p, q = k // 9, k // 3 % 3, k % 3
        acc += masks[cuda.blockIdx.x, c, p, q] * s[c * 100 + (cuda.threadIdx.y + p) * 10 + cuda.threadIdx.x + q]
    y[cuda.blockIdx.x, h, v] = acc
""",
    "15.4 the masks of one map, read without array_like; clamped loads": """
@gpu.jit
def conv_constant(x, y):
    tile = cuda.shared.array(shape=(10, 10), dtype=float32)
    tx, ty, m = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    n = (y.shape[2] + 7) // 8
    h0, v0 = 8 * (cuda.blockIdx.y // n), 8 * (cuda.blockIdx.y % n)
    acc, c = float32(0), 0
    while c < x.shape[0]:
        if c > 0:
            cuda.syncthreads()
        for i in range(ty, 16, 8):
            for j in range(tx, 16, 8):
                if i < 10 and j < 10:
                    tile[i, j] = x[c, min(h0 + i, x.shape[1] - 1), min(v0 + j, x.shape[2] - 1)]
        cuda.syncthreads()
        for p in range(3):
            acc += tile[ty + p, tx] * MASKS[m, c, p, 0]
            acc += tile[ty + p, tx + 1] * MASKS[m, c, p, 1] + tile[ty + p, tx + 2] * MASKS[m, c, p, 2]
        c += 1
    if h0 + ty < y.shape[1] and v0 + tx < y.shape[2]:
        y[m, h0 + ty, v0 + tx] = acc
""",
    "15.4 a kernel made for its masks": """
def make(masks_of_all, T):
    side = T + 2

    @gpu.jit
    def kernel(x, y):
        masks = cuda.const.array_like(masks_of_all)
        s = cuda.shared.array((side, side), float32)
        tx, ty, m = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
        n = (y.shape[2] + T - 1) // T
        h, v = cuda.blockIdx.y // n * T, cuda.blockIdx.y % n * T
        acc = float32(0)
        for c in range(masks.shape[1]):
            for k in range(ty * T + tx, side * side, T * T):
                i, j = k // side, k % side
                s[i, j] = x[c, h + i, v + j] if h + i < x.shape[1] and v + j < x.shape[2] else float32(0)
            cuda.syncthreads()
            for p in range(masks.shape[2]):
                for q in range(masks.shape[3]):
                    acc += s[ty + p, tx + q] * masks[m, c, p, q]
            cuda.syncthreads()
        if h + ty < y.shape[1] and v + tx < y.shape[2]:
            y[m, h + ty, v + tx] = acc

    return kernel

conv_constant = make(MASKS, 8)
""",
    "15.5 a column of one map a thread, as Dey": """
@gpu.jit
def unroll(x, K, cols):
    H_out, W_out = x.shape[1] - K + 1, x.shape[2] - K + 1
    for n in range(cuda.grid(1), x.shape[0] * H_out * W_out, cuda.gridsize(1)):
        v, h, c = n % W_out, n // W_out % H_out, n // W_out // H_out
        for p in range(K):
            for q in range(K):
                cols[(c * K + p) * K + q, h * W_out + v] = x[c, h + p, v + q]
""",
    "15.5 a column a thread": """
@gpu.jit
def unroll(x, K, cols):
    W_out = x.shape[2] - K + 1
    pixel = cuda.grid(1)
    while pixel < cols.shape[1]:
        for k in range(cols.shape[0]):
            c, place = divmod(k, K * K)
            cols[k, pixel] = x[c, pixel // W_out + place // K, pixel % W_out + place % K]
        pixel += cuda.gridsize(1)
""",
    "15.5 a row a block": """
@gpu.jit
def unroll(x, K, cols):
    W_out = x.shape[2] - K + 1
    for k in range(cuda.blockIdx.x, cols.shape[0], cuda.gridDim.x):
        c, p, q = k // (K * K), k // K % K, k % K
        for pixel in range(cuda.threadIdx.x, cols.shape[1], cuda.blockDim.x):
            cols[k, pixel] = x[c, pixel // W_out + p, pixel % W_out + q]
""",
    "15.6 conditional expressions, sums over what there is": """
@gpu.jit
def conv_implicit(x, rows, K, y):
    a = cuda.shared.array((8, 8), float32)
    b = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m, n = cuda.blockIdx.y * 8 + ty, cuda.blockIdx.x * 8 + tx
    D = rows.shape[1]
    acc, first = float32(0), 0
    while first < D:
        a[ty, tx] = rows[m, first + tx] if m < rows.shape[0] and first + tx < D else float32(0)
        c, place = divmod(first + ty, K * K)
        inside = first + ty < D and n < y.shape[1] * y.shape[2]
        b[ty, tx] = x[c, n // y.shape[2] + place // K, n % y.shape[2] + place % K] if inside else float32(0)
        cuda.syncthreads()
        for k in range(min(8, D - first)):
            acc += a[ty, k] * b[k, tx]
        cuda.syncthreads()
        first += 8
    if m < y.shape[0] and n < y.shape[1] * y.shape[2]:
        y[m, n // y.shape[2], n % y.shape[2]] = acc
""",
    "15.6 indices clamped, two tiles in turns": """
@gpu.jit(device=True)
def pixel_of(x, K, W_out, k, n):
    return x[k // (K * K), n // W_out + k // K % K, n % W_out + k % K]

@gpu.jit
def conv_implicit(x, rows, K, y):
    a = cuda.shared.array((2, TILE, TILE), float32)
    b = cuda.shared.array((2, TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, D = rows.shape
    N, W_out = y.shape[1] * y.shape[2], y.shape[2]
    acc = float32(0)
    for turn in range((D + TILE - 1) // TILE):
        which, start = turn % 2, turn * TILE
        weight = rows[min(m, M - 1), min(start + tx, D - 1)]
        a[which, ty, tx] = weight if start + tx < D else float32(0)
        b[which, ty, tx] = pixel_of(x, K, W_out, min(start + ty, D - 1), min(n, N - 1))
        cuda.syncthreads()
        for k in range(TILE):
            acc += a[which, ty, k] * b[which, k, tx]
    if m < M and n < N:
        y[m, n // W_out, n % W_out] = acc
""",
    "15.7 six variables": """
@gpu.jit
def conv_c1(x, y):
    w = cuda.const.array_like(C1_MASKS)
    s = cuda.shared.array(256, float32)
    t, b, top = cuda.threadIdx.x, cuda.blockIdx.y, cuda.blockIdx.x * 4
    for k in range(t, 256, 128):
        s[k] = x[b, top + k // 32, k % 32]
    cuda.syncthreads()
    if t >= 112:
        return
    h, v = divmod(t, 28)
    a0 = a1 = a2 = a3 = a4 = a5 = float32(0)
    for k in range(25):
        p, q = k // 5, k % 5
        seen = s[(h + p) * 32 + v + q]
        a0 += seen * w[0, p, q]
        a1 += seen * w[1, p, q]
        a2 += seen * w[2, p, q]
        a3 += seen * w[3, p, q]
        a4 += seen * w[4, p, q]
        a5 += seen * w[5, p, q]
    y[b, 0, top + h, v], y[b, 1, top + h, v], y[b, 2, top + h, v] = a0, a1, a2
    y[b, 3, top + h, v], y[b, 4, top + h, v], y[b, 5, top + h, v] = a3, a4, a5
""",
    "15.7 the window in registers, then map by map": """
@gpu.jit
def conv_c1(x, y):
    tile = cuda.shared.array((8, 32), float32)
    window = cuda.local.array((5, 5), float32)
    t = cuda.threadIdx.x
    for row in range(t // 32, 8, 4):
        tile[row, t % 32] = x[cuda.blockIdx.y, 4 * cuda.blockIdx.x + row, t % 32]
    cuda.syncthreads()
    h, v = t // 28, t % 28
    if h < 4:
        for p in range(5):
            for q in range(5):
                window[p, q] = tile[h + p, v + q]
        for m in range(6):
            acc = float32(0)
            for p in range(5):
                for q in range(5):
                    acc += window[p, q] * C1_MASKS[m, p, q]
            y[cuda.blockIdx.y, m, 4 * cuda.blockIdx.x + h, v] = acc
""",
    "15.8 turned mask over a range that fits": """
@gpu.jit
def input_gradient(dy, w, dx):
    j, i = cuda.grid(2)
    c, K = cuda.blockIdx.z, w.shape[2]
    if i >= dx.shape[1] or j >= dx.shape[2]:
        return
    acc = float32(0)
    for h in range(max(0, i - K + 1), min(i + 1, dy.shape[1])):
        for v in range(max(0, j - K + 1), min(j + 1, dy.shape[2])):
            for m in range(w.shape[0]):
                acc += dy[m, h, v] * w[m, c, i - h, j - v]
    dx[c, i, j] = acc
""",
    "15.8 zeros around dy, the mask turned in the index": """
@gpu.jit(device=True)
def padded(dy, m, h, v):
    inside = h >= 0 and h < dy.shape[1] and v >= 0 and v < dy.shape[2]
    return dy[m, h, v] if inside else float32(0)

@gpu.jit
def input_gradient(dy, w, dx):
    v, h = cuda.grid(2)
    last = w.shape[2] - 1
    total = float32(0)
    for m in range(dy.shape[0]):
        for p in range(last + 1):
            for q in range(last + 1):
                total += padded(dy, m, h - last + p, v - last + q) * w[m, cuda.blockIdx.z, last - p, last - q]
    if h < dx.shape[1] and v < dx.shape[2]:
        dx[cuda.blockIdx.z, h, v] = total
""",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_right_kernel_of_another_kind_is_right_in_every_case(name):
    exercise = find(name.split()[0])
    for _, hidden, _, cases in parts_of(exercise, KEYS[exercise.id]):
        for case in cases:
            found = judge(exercise, case, run_kernel(exercise, ANSWERS[name], case), reveal=True)
            assert found is None, (found.says, hidden)
