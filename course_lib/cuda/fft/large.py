"""Convolution by transforms of whole images: cuFFT transforms, kernels of the course put, multiply and take.

    put       images into zeros of N x N, rows spread by a stride
    multiply  out[i, j, f] = sum over k of P[i, k, f] Q[j, k, f], one of them conjugate: a small product for each f
    take      what no wrapped number reached, every e-th row, plus the bias

One kernel multiplies for y, dx and dw: only which maps are i, j and k differs. A thread has one frequency and a tile of
4 x 4 sums in registers, so that what it loads is used four times; neighbouring threads have neighbouring frequencies.

Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs"; the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.fft import cufft
from course_lib.cuda.intrinsics import ld2, nonneg, st2
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.reference.conv2d_fft import transform_lengths

THREADS, TILE = 128, 4
MOST_NUMBERS = 2**28
"""Float32 of an array of spectra, at most: more images are transformed some at a time (1 GiB)."""

MOST_OF_MASKS = 2**30
"""The same for all masks together, which are transformed at once (4 GiB)."""

PLAIN, CONJUGATE_P, CONJUGATE_Q = 0, 1, 2


@jit(cache=True)
def _put(x, H, W, u_h, u_w, N_h, N_w, full):
    """full[n, h, v] = x[n, h / u_h, v / u_w] where that is an element, else 0: a thread for each."""
    i = nonneg(cuda.grid(1))
    if i < full.size:
        u = uint32(i)  # all sizes fit: `chunks`
        v, line = u % uint32(N_w), uint32(u // uint32(N_w))
        h, n = line % uint32(N_h), uint32(line // uint32(N_h))
        value = float32(0)
        row, col = uint32(h // uint32(u_h)), uint32(v // uint32(u_w))
        if row * uint32(u_h) == h and col * uint32(u_w) == v and row < uint32(H) and col < uint32(W):
            value = x[(n * uint32(H) + row) * uint32(W) + col]
        full[i] = value


@jit(cache=True)
def _take(full, N_h, N_w, o_h, o_w, e_h, e_w, b, biased, M, H, W, y):
    """y[n, h, v] = full[n, (h e_h + o_h) mod N_h, (v e_w + o_w) mod N_w] + b[n mod M]: a thread for each.

    A place is never 2 N_h rows or 2 N_w columns away.
    """
    i = nonneg(cuda.grid(1))
    if i < y.size:
        u = uint32(i)
        v, line = u % uint32(W), uint32(u // uint32(W))
        h, n = line % uint32(H), uint32(line // uint32(H))
        row, col = uint32(h * uint32(e_h) + uint32(o_h)), uint32(v * uint32(e_w) + uint32(o_w))
        if row >= uint32(N_h):
            row -= uint32(N_h)
        if col >= uint32(N_w):
            col -= uint32(N_w)
        value = full[(n * uint32(N_h) + row) * uint32(N_w) + col]
        if biased:
            value += b[n % uint32(M)]
        y[i] = value


@jit(cache=True)
def _multiply(P, p_i, p_k, Q, q_j, q_k, way, F, n_i, n_j, n_k, slices, out):
    """out[slice, i, j, f] = sum over a slice's k of P[i p_i + k p_k, f] Q[j q_j + k q_k, f], one perhaps conjugate."""
    sum_re, sum_im = cuda.local.array(16, float32), cuda.local.array(16, float32)
    q_re, q_im = cuda.local.array(TILE, float32), cuda.local.array(TILE, float32)
    blocks_f, blocks_i = (F + THREADS - 1) // THREADS, (n_i + TILE - 1) // TILE
    block = nonneg(cuda.blockIdx.x)
    f = block % blocks_f * THREADS + cuda.threadIdx.x
    i0, rest = block // blocks_f % blocks_i * TILE, block // blocks_f // blocks_i
    the_slice, j0 = rest % slices, rest // slices * TILE
    per = (n_k + slices - 1) // slices
    if f < F:
        for s in range(16):
            sum_re[s], sum_im[s] = float32(0), float32(0)
        for k in range(the_slice * per, min(n_k, (the_slice + 1) * per)):
            for j in range(TILE):
                row = min(j0 + j, n_j - 1) * q_j + k * q_k
                q_re[j], q_im[j] = ld2(Q, nonneg((row * F + f) * 2))
                if way == CONJUGATE_Q:
                    q_im[j] = -q_im[j]
            for i in range(TILE):
                row = min(i0 + i, n_i - 1) * p_i + k * p_k
                p_re, p_im = ld2(P, nonneg((row * F + f) * 2))
                if way == CONJUGATE_P:
                    p_im = -p_im
                for j in range(TILE):
                    s = i * TILE + j
                    sum_re[s] += p_re * q_re[j]
                    sum_im[s] += p_re * q_im[j]
                    sum_re[s] -= p_im * q_im[j]
                    sum_im[s] += p_im * q_re[j]
        for i in range(TILE):
            for j in range(TILE):
                if i0 + i < n_i and j0 + j < n_j:
                    s = i * TILE + j
                    to = ((the_slice * n_i + i0 + i) * n_j + j0 + j) * F + f
                    st2(out, nonneg(to * 2), sum_re[s], sum_im[s])


def lengths(s):
    """Return (N_h, N_w), the sizes to transform with for Sizes s: `transform_lengths`. No errors."""
    return transform_lengths((s.H, s.W), (s.K_h, s.K_w), (s.p_h, s.p_w))


def fits(s):
    """Return whether the spectra of all masks of Sizes s are at most MOST_OF_MASKS numbers. No errors."""
    N_h, N_w = lengths(s)
    return s.M * s.C * N_h * (N_w + 2) <= MOST_OF_MASKS


def _check(s):
    if not fits(s):
        raise ValueError(
            f"w is {(s.M, s.C, s.K_h, s.K_w)}: the spectra of {s.M * s.C} masks, each filled up to {lengths(s)}, are "
            f"more than {MOST_OF_MASKS} numbers. Use the tile kernels: conv2d_fft_tiles_forward."
        )


def chunks(s):
    """Yield (first, last) of images that are transformed at a time. No errors. Source: the course's own."""
    N_h, N_w = lengths(s)
    at_once = max(1, MOST_NUMBERS // (max(s.C, s.M) * N_h * (N_w + 2)))
    for first in range(0, s.B, at_once):
        yield first, min(s.B, first + at_once)


def put(x, spread, N):
    """Return x (n, maps, H, W) as device array (n maps, N_h, N_w), its rows and columns `spread` apart. No errors."""
    n, maps, H, W = map(int, x.shape)
    full = gpu.empty((n * maps, *N), np.float32)
    _put[-(-full.size // THREADS), THREADS](x.reshape(x.size), H, W, *spread, *N, full.reshape(full.size))
    return full


def take(full, N, offset, step, b, y):
    """Write into y (n, maps, H, W) every `step`-th number of `full`, flat, from `offset` on; b (maps,) or None.

    No errors. Source: the course's own.
    """
    _, maps, H, W = map(int, y.shape)
    start = [o % n for o, n in zip(offset, N, strict=True)]
    bias = full if b is None else b
    _take[-(-y.size // THREADS), THREADS](full, *N, *start, *step, bias, b is not None, maps, H, W, y.reshape(y.size))


def _spectra(x, s, spread=(1, 1)):
    """Return the spectra of images x (n, maps, H, W), their rows spread, flat."""
    return cufft.transform(put(x, spread, lengths(s)))


def _images(spectra, s, offset, step, b, y):
    """Write y (n, maps, H, W) from spectra of its images."""
    N = lengths(s)
    full = cufft.back(spectra, (int(y.shape[0]) * int(y.shape[1]), *N))
    take(full.reshape(full.size), N, offset, step, b, y)


def multiply(P, p_i, p_k, Q, q_j, q_k, way, F, n_i, n_j, n_k, slices=1):
    """Return out (slices, n_i n_j F 2), flat spectra: sums over k of P[i p_i + k p_k] Q[j q_j + k q_k].

    P and Q are flat device arrays of spectra with F complex numbers each; `way` is PLAIN, CONJUGATE_P or CONJUGATE_Q.
    No errors. Source: the course's own.
    """
    out = gpu.empty((slices, n_i * n_j * F * 2), np.float32)
    blocks = -(-F // THREADS) * -(-n_i // TILE) * slices * -(-n_j // TILE)
    _multiply[blocks, THREADS](P, p_i, p_k, Q, q_j, q_k, way, F, n_i, n_j, n_k, slices, out.reshape(out.size))
    return out


def forward(s, x, w, b, y):
    """Write y for Sizes s from checked arrays.

    Errors: DeviceError as `cufft.transform`; ValueError unless `fits`. Source: the course's own.
    """
    _check(s)
    F = _frequencies(s)
    masks = _spectra(w, s)
    for first, last in chunks(s):
        n = last - first
        out = multiply(_spectra(x[first:last], s), s.C, 1, masks, s.C, 1, CONJUGATE_Q, F, n, s.M, s.C)
        _images(out.reshape(out.size), s, (-s.p_h, -s.p_w), (s.s_h, s.s_w), b, y[first:last])


def backward_data(s, dy, w, dx):
    """Write dx for Sizes s from checked arrays: a product without conjugates. Errors as `forward`.

    Source: H, "Back-propagation dE/dX for a convolutional layer".
    """
    _check(s)
    F = _frequencies(s)
    masks = _spectra(w, s)
    for first, last in chunks(s):
        n = last - first
        spectra = _spectra(dy[first:last], s, (s.s_h, s.s_w))
        out = multiply(spectra, s.M, 1, masks, 1, s.C, PLAIN, F, n, s.C, s.M)
        _images(out.reshape(out.size), s, (s.p_h, s.p_w), (1, 1), None, dx[first:last])


def backward_weights(s, dy, x, dw):
    """Write dw for Sizes s from checked arrays: a correlation, summed over the images. Errors as `forward`.

    Source: H, "Calculating dE/dW".
    """
    _check(s)
    F, parts = _frequencies(s), []
    blocks = -(-F // THREADS) * -(-s.M // TILE) * -(-s.C // TILE)
    for first, last in chunks(s):
        n = last - first
        slices = min(n, max(1, SLICES // blocks))
        P, Q = _spectra(dy[first:last], s, (s.s_h, s.s_w)), _spectra(x[first:last], s)
        out = multiply(P, 1, s.M, Q, 1, s.C, CONJUGATE_P, F, s.M, s.C, n, slices)
        part = gpu.empty(out.shape[1], np.float32)
        add_parts(out, part)
        parts.append(part)
    total = parts[0]
    for part in parts[1:]:
        add_to(total, part)
    _images(total, s, (-s.p_h, -s.p_w), (1, 1), None, dw)


SLICES = 1024
"""Blocks that add up the gradient of the masks, about: enough for a large card; no card's choice."""


@jit(cache=True)
def _add_to(part, total):
    i = cuda.grid(1)
    if i < total.size:
        total[i] += part[i]


def add_to(total, part):
    """Add a device array to another (n,), in place. No errors. Source: the course's own."""
    _add_to[-(-part.size // THREADS), THREADS](part, total)


def _frequencies(s):
    N_h, N_w = lengths(s)
    return N_h * (N_w // 2 + 1)
