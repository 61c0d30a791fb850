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
    "14.2 k backwards, with return": """
@gpu.jit
def plain_product(A, B, C):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= C.shape[0] or j >= C.shape[1]:
        return
    total, k = float32(0), A.shape[1] - 1
    while k >= 0:
        total = total + B[k, j] * A[i, k]
        k -= 1
    C[i, j] = total
""",
    "14.2 row of A as an array": """
@gpu.jit
def plain_product(A, B, C):
    j, i = cuda.grid(2)
    if i < len(A) and j < B.shape[1]:
        row, acc = A[i], float32(0.0)
        for k in range(row.size):
            acc += row[k] * B[k, j]
        C[i, j] = acc
""",
    "14.2 with tiles": """
@gpu.jit
def plain_product(A, B, C):
    a = cuda.shared.array((8, 32), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k0 in range(0, A.shape[1], 32):
        a[ty, tx] = A[i, k0 + tx] if i < A.shape[0] and k0 + tx < A.shape[1] else float32(0)
        cuda.syncthreads()
        if i < C.shape[0] and j < C.shape[1]:
            for k in range(min(32, A.shape[1] - k0)):
                acc += a[ty, k] * B[k0 + k, j]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = acc
""",
    "14.3 conditional expressions, indices clamped": """
@gpu.jit
def tiled_product(A, B, C):
    a = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    b = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.y * TILE + y
    j = cuda.blockIdx.x * TILE + x
    total, k0 = float32(0), 0
    while k0 < A.shape[1]:
        p, q = min(k0 + x, A.shape[1] - 1), min(k0 + y, A.shape[1] - 1)
        a[y, x] = A[min(i, A.shape[0] - 1), p] if k0 + x < A.shape[1] else float32(0)
        b[y, x] = B[q, min(j, B.shape[1] - 1)] if k0 + y < A.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a[y, k] * b[k, x]
        cuda.syncthreads()
        k0 += TILE
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
""",
    "14.3 A's tile turned, one number of padding": """
@gpu.jit
def tiled_product(A, B, C):
    At = cuda.shared.array((16, 17), float32)
    Bs = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for turn in range(-(-A.shape[1] // 16)):
        k = turn * 16
        At[tx, ty] = A[row, k + tx] if row < A.shape[0] and k + tx < A.shape[1] else float32(0)
        Bs[ty, tx] = B[k + ty, col] if col < B.shape[1] and k + ty < A.shape[1] else float32(0)
        cuda.syncthreads()
        for p in range(16):
            acc += At[p, ty] * Bs[p, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
""",
    "14.3 both tiles turned, padded": """
@gpu.jit
def tiled_product(A, B, C):
    At = cuda.shared.array((16, 17), float32)
    Bt = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, A.shape[1], 16):
        At[tx, ty] = A[row, k + tx] if row < A.shape[0] and k + tx < A.shape[1] else float32(0)
        Bt[tx, ty] = B[k + ty, col] if col < B.shape[1] and k + ty < A.shape[1] else float32(0)
        cuda.syncthreads()
        for p in range(16):
            acc += At[p, ty] * Bt[tx, p]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
""",
    "14.3 only what exists is multiplied, no zeros": """
@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    K, inside, acc = A.shape[1], row < A.shape[0] and col < B.shape[1], float32(0)
    for k0 in range(0, K, TILE):
        cuda.syncthreads()
        if row < A.shape[0] and k0 + tx < K:
            As[ty, tx] = A[row, k0 + tx]
        if k0 + ty < K and col < B.shape[1]:
            Bs[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        if inside:
            for k in range(min(TILE, K - k0)):
                acc += As[ty, k] * Bs[k, tx]
    if inside:
        C[row, col] = acc
""",
    "14.3 two pairs of tiles in turns, one barrier": """
@gpu.jit
def tiled_product(A, B, C):
    As = cuda.shared.array((2, TILE, TILE), float32)
    Bs = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc, now = float32(0), 0
    for k0 in range(0, A.shape[1], TILE):
        As[now, ty, tx] = A[row, k0 + tx] if row < A.shape[0] and k0 + tx < A.shape[1] else float32(0)
        Bs[now, ty, tx] = B[k0 + ty, col] if k0 + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[now, ty, k] * Bs[now, k, tx]
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
                a = As[4 * ty + i, k]
                for j in range(4):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if row0 + 4 * ty + i < M and col0 + 4 * tx + j < N:
                C[row0 + 4 * ty + i, col0 + 4 * tx + j] = acc[i, j]
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
    "gpu.6 conditional expressions, indices clamped": """
@gpu.jit
def tiled_product(A, B, C):
    a = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    b = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.y * TILE + y
    j = cuda.blockIdx.x * TILE + x
    total, k0 = float32(0), 0
    while k0 < A.shape[1]:
        p, q = min(k0 + x, A.shape[1] - 1), min(k0 + y, A.shape[1] - 1)
        a[y, x] = A[min(i, A.shape[0] - 1), p] if k0 + x < A.shape[1] else float32(0)
        b[y, x] = B[q, min(j, B.shape[1] - 1)] if k0 + y < A.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a[y, k] * b[k, x]
        cuda.syncthreads()
        k0 += TILE
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
""",
    "gpu.8 tiles by constants": """
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
    "gpu.9 four threads bring the halo": """
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
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_right_kernel_of_another_kind_is_right_in_every_case(name):
    exercise = find(name.split()[0])
    for _, hidden, _, cases in parts_of(exercise, KEYS[exercise.id]):
        for case in cases:
            found = judge(exercise, case, run_kernel(exercise, ANSWERS[name], case), reveal=True)
            assert found is None, (found.says, hidden)
