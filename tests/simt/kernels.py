"""Kernels for the tests of the executor: plain functions in Numba-CUDA's language."""

import math

from numba import cuda, float32, int32, int64

T = 16
OFFSET = 3
PAIR = (2, 5)


# ------------------------------------------------------------------------------------------- anchors


def product_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def product_tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]
        Bs[ty, tx] = B[m * T + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    C[row, col] = acc


def product_no_second_barrier(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]  # bad: As
        Bs[ty, tx] = B[m * T + ty, col]  # bad: Bs
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
    C[row, col] = acc


def product_no_first_barrier(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]
        Bs[ty, tx] = B[m * T + ty, col]
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]  # bad
        cuda.syncthreads()
    C[row, col] = acc


def product_ragged(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for m in range((A.shape[1] + T - 1) // T):
        k = m * T + tx
        As[ty, tx] = A[row, k] if row < A.shape[0] and k < A.shape[1] else float32(0)
        k = m * T + ty
        Bs[ty, tx] = B[k, col] if k < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def transpose_tile(A, C):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = A[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    C[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def transpose_padded(A, C):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = A[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    C[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


# ------------------------------------------------------------------------------------------- language
# Each takes (a, out): whole numbers in, whole numbers out, one thread for each element and some to spare.


def if_elif_else(a, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] > 2:
            out[i] = 1
        elif a[i] > 0:
            out[i] = 2
        elif a[i] == 0:
            out[i] = 3
        else:
            out[i] = 4


def while_per_lane(a, out):
    i = cuda.grid(1)
    if i < out.size:
        n, steps = abs(a[i]) + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps


def for_one_argument(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(abs(a[i])):
            total += k + 1
        out[i] = total


def for_two_arguments(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(a[i], 4):
            total = total * 2 + k
        out[i] = total


def for_three_arguments(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(10, a[i], -3):
            total = total * 2 + k
        out[i] = total


def for_step_per_lane(a, out):
    i = cuda.grid(1)
    if i < out.size:
        step = -2 if a[i] < 0 else 1
        total = 0
        for k in range(0, 5 * step, step):
            total = total * 3 + k
        out[i] = total


def for_keeps_its_variable(a, out):
    i = cuda.grid(1)
    if i < out.size:
        k = -7
        for k in range(abs(a[i])):  # noqa: B007
            pass
        out[i] = k


def for_variable_changed_inside(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(4):
            k = k * a[i]
            total += k
        out[i] = total


def for_else(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0
        for k in range(4):
            if k == a[i]:
                break
        else:
            out[i] = 9


def break_per_lane(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(8):
            if k == a[i]:
                break
            total += k
        out[i] = total


def continue_per_lane(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(8):
            if (k + a[i]) % 3 == 0:
                continue
            total += k
        out[i] = total


def return_per_lane(a, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = 1
    if a[i] < 0:
        return
    for k in range(5):
        if k == a[i]:
            return
        out[i] += k


def nested_loops(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(abs(a[i])):
            for k in range(j):
                if k == 3:
                    break
                if k == 1:
                    continue
                total += j * 10 + k
            total += 1
        out[i] = total


def break_in_while_in_for(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(3):
            k = 0
            while True:
                if k * j >= a[i] + 6:
                    break
                k += 1
                if k > 9:
                    break
            total = total * 11 + k
        out[i] = total


def chained_comparison(a, out):
    i = cuda.grid(1)
    if 0 <= i < out.size:
        out[i] = 1 if -2 < a[i] <= 2 != 5 else 0


def and_short_circuit(a, out):
    i = cuda.grid(1)
    if i < out.size and a[i] > 0:
        out[i] = 5


def or_short_circuit(a, out):
    i = cuda.grid(1)
    if i >= out.size or a[i] < 0:
        return
    out[i] = 6


def and_or_not(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1 if not (a[i] < 0 or a[i] > 3) and (a[i] != 2 or i == 0) else 2


def conditional_expression(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i - 1] if i > 0 else a[i + 1] if out.size > 1 else 0


def tuples(a, out):
    i = cuda.grid(1)
    if i < out.size:
        pair = (a[i], i)
        x, y = pair
        x, y = y, x
        (p, q), r = (x, y), 7
        out[i] = pair[0] * 100 + p * 10 + q + r + len(pair) + PAIR[1]


def augmented(a, out):
    i = cuda.grid(1)
    if i < out.size:
        x = a[i]
        x += 7
        x -= 2
        x *= 3
        x //= 2
        x %= 11
        x <<= 2
        x |= 1
        x ^= 8
        x &= 29
        x >>= 1
        x **= 2
        out[i] = x
        out[i] += 1


def chained_assignment(a, out):
    i = cuda.grid(1)
    if i < out.size:
        x = y = a[i]
        x += 1
        out[i] = x * 10 + y


def annotated(a, out):
    i: int = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def unary(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = -a[i] * 10 + +a[i] + ~a[i]


def floor_division_and_remainder(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[i] // 3) * 100 + (a[i] % 3) * 10 + (a[i] // -2) + a[i] % -2


def stride_loop(a, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] * 2


def stride_while(a, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    while i < out.size:
        out[i] = a[i] * 2
        i += cuda.gridDim.x * cuda.blockDim.x


def casts(a, out):
    i = cuda.grid(1)
    if i < out.size:
        x = float32(a[i]) / float32(2)
        out[i] = int32(x) * 100 + int64(x * float32(2)) + int(float(a[i]) * 1.5) + bool(a[i])


def min_max_abs(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = min(a[i], 2) * 100 + max(a[i], 0, -1) * 10 + abs(a[i])


def local_array(a, out):
    i = cuda.grid(1)
    last = cuda.local.array(4, int32)
    if i < out.size:
        for k in range(4):
            last[k] = a[i] * k
        last[abs(a[i]) % 4] += 100
        total = 0
        for k in range(4):
            total = total * 3 + last[k]
        out[i] = total


def local_array_2d(a, out):
    i = cuda.grid(1)
    m = cuda.local.array((2, 3), int64)
    if i < out.size:
        for r in range(2):
            for c in range(3):
                m[r, c] = r * 10 + c + a[i]
        out[i] = m[1, 2] * 100 + m[0, 1]


def globals_as_constants(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * OFFSET + PAIR[0]


def docstring_and_pass(a, out):
    """A docstring does nothing."""
    i = cuda.grid(1)
    if i >= out.size:
        pass
    else:
        out[i] = a[i]


def attributes_of_arrays(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a.ndim * 100 + a.size * 10 + len(a) + a.shape[0]


def variable_from_both_branches(a, out):
    i = cuda.grid(1)
    if i < out.size:
        if a[i] > 0:
            x = a[i]
            y = 1
        else:
            x = -a[i]
            y = 2
        out[i] = x * 10 + y


def numbering(out):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    out[i] = cuda.blockIdx.x * 1000 + t * 10 + cuda.blockDim.x + cuda.gridDim.x


def grid_2d(out):
    x, y = cuda.grid(2)
    w, h = cuda.gridsize(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = x * 1000 + y * 10 + w + h * 100000 + cuda.threadIdx.y + cuda.blockIdx.y


def grid_3d(out):
    x, y, z = cuda.grid(3)
    w, h, d = cuda.gridsize(3)
    if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
        out[z, y, x] = x + y * 10 + z * 100 + w * h * d * 1000 + cuda.threadIdx.z + cuda.blockIdx.z * cuda.gridDim.z


def rows(A, out):
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        row = A[y]
        out[y][x] = row[x] + A[y][x]


def copy_2d(A, out):
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        out[y, x] = A[y, x]


def last_element(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[-1 - i]


def mathematics(a, out):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[0, i] = math.sqrt(x)
        out[1, i] = math.exp(x)
        out[2, i] = math.log(x)
        out[3, i] = math.sin(x)
        out[4, i] = math.cos(x)
        out[5, i] = math.tanh(x)
        out[6, i] = math.floor(x)
        out[7, i] = math.ceil(x)
        out[8, i] = math.fabs(-x)
        out[9, i] = math.pow(x, 3.0)
        out[10, i] = math.atan2(x, 2.0)
        out[11, i] = math.log2(x)
        out[12, i] = math.exp(-x) * math.pi
        out[13, i] = math.hypot(x, 1.0)
        out[14, i] = math.copysign(x, -1.0)
        out[15, i] = 1.0 if math.isnan(x) or math.isinf(x) else 2.0
        out[16, i] = math.log1p(x) + math.expm1(x) + math.log10(x)


def atomics(a, out, old):
    i = cuda.grid(1)
    if i < a.size:
        old[i] = cuda.atomic.add(out, 0, a[i])
        cuda.atomic.sub(out, 1, a[i])
        cuda.atomic.max(out, 2, a[i])
        cuda.atomic.min(out, 3, a[i])


# ------------------------------------------------------------------------------------------- broken
# `# bad` marks the line of the finding.


def loop_off_by_one(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(a.size + 1):
            total += a[k]  # bad
        out[i] = total


def racy_counter(a, out):
    i = cuda.grid(1)
    if a[i] > 0:
        out[0] += 1  # bad


def stencil_in_place(a, out):
    i = cuda.grid(1)
    if i + 1 < a.size:
        a[i] = a[i] + a[i + 1]  # bad


def stencil_in_place_other_order(a, out):
    i = cuda.grid(1)
    if i + 1 < a.size:
        a[i] = a[i + 1] + a[i]  # bad


def blocks_write_one_element(a, out):
    out[cuda.threadIdx.x] = cuda.blockIdx.x  # bad


def atomic_on_unwritten(a, out):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(s, 0, a[t])  # bad
    cuda.syncthreads()
    out[t] = s[0]


def next_block_reads_halo(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
    cuda.syncthreads()
    if i > 0:
        a[i] = out[i - 1]  # bad


def whole_division_by_zero(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 12 // a[i]  # bad


def remainder_by_zero(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 12 % a[i]  # bad


# ------------------------------------------------------------------------------------------- correct


def in_place_elementwise(a, out):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * 2
        a[i] += 1
        out[i] = a[i]


def warp_shift(a, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    lane = t % 32
    s[t] = a[t]
    cuda.syncwarp()
    for _ in range(3):
        right = s[t + 1] if lane < 31 else 0
        cuda.syncwarp()
        s[t] += right
        cuda.syncwarp()
    out[t] = s[t]
