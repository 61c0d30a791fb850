"""Loss functions on the device: `course_lib.reference.losses`' names, for float32 device arrays.

The loss is a number on the host, as in the reference: the device adds it up, in an order that the sizes fix, and ONE
explicit copy brings the sum, and how many rows were wrong, to the host. That copy waits for the device.

Labels are a device array of int32 or int64. A label out of range is never used as an index: the kernel counts it, and
the launcher, when it has read the count, raises ValueError. Only then are the labels copied, to say which one it was.

Every function raises TypeError for what is not such a device array, and ValueError for shapes that do not fit.

Source: K, "Loss Function"; O, "How good is our network?"; H, "Choosing an Error Function".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.elementwise import apply, flat, like
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, int64
from course_lib.cuda.operands import operand
from course_lib.cuda.probabilities import ONE
from course_lib.cuda.row_kernels import NOTHING, choose
from course_lib.cuda.sums import THREADS, WARPS, add_up, block_total, read_sums
from course_lib.reference.losses import LOSSES  # noqa: F401  the same names
from course_lib.validate import as_labels, require_probabilities, require_same_shape

BLOCKS = 1056
"""Most blocks of a sum over all elements: 8 for each of an H200's 132 multiprocessors."""

MOST = 2**31
"""Numbers that a matrix of scores must stay below."""

TOLERANCE = 1e-3
"""How far a row of probabilities may be from 1 in its sum, as in the reference."""


def half_squared_sum_forward(o, y):
    """J = 1/2 sum (y - o)^2 over all elements; returns (float, cache), the cache o - y.

    o, y (...) of equal shape, else ValueError. Source: K, "Loss Function".
    """
    total, difference = _squares(o, y)
    return 0.5 * total, difference


def half_squared_sum_backward(cache):
    """dJ/do = o - y; returns (...), the shape of o. No errors. Source: K, "Chain Rule"."""
    return cache


def quadratic_cost_forward(a, y):
    """C = 1/(2n) sum ||y - a||^2 over a batch of n rows; returns (float, cache).

    a, y (n, C) of equal shape, else ValueError. Source: O, "How good is our network?".
    """
    total, difference = _squares(a, y)
    if difference.ndim == 0:
        raise ValueError("a is a single number; the quadratic cost averages over the rows of a batch (n, C).")
    return total / (2 * difference.shape[0]), difference


def quadratic_cost_backward(cache):
    """dC/da = (a - y) / n; returns (n, C). No errors. Source: O, "Find the global minimum"."""
    da = like(cache)
    apply(_shared_out, da, cache, number=cache.shape[0])
    return da


def one_minus_probability_forward(k, labels):
    """E = mean of 1 - k[T]; returns (float, cache).

    k (B, C) rows of probabilities, >= 0 with sum 1 (within 0.001); labels (B,) int in 0 .. C - 1; else ValueError.
    Source: H, "Choosing an Error Function".
    """
    return _of_probabilities(_one_minus, k, labels)


def one_minus_probability_backward(cache):
    """dE/dk: -1/B at each row's right class, 0 elsewhere; returns (B, C). No errors. Source: H."""
    return by_label(_right_class, *cache)


def expected_squared_distance_forward(k, labels):
    """E = mean of sum_j k[j] (j - T)^2; returns (float, cache).

    k (B, C) rows of probabilities, >= 0 with sum 1 (within 0.001); labels (B,) int in 0 .. C - 1; else ValueError.
    Source: H, "Choosing an Error Function".
    """
    return _of_probabilities(_squared_distance, k, labels)


def expected_squared_distance_backward(cache):
    """dE/dk = (j - T)^2 / B; returns (B, C). No errors. Source: H, "Choosing an Error Function"."""
    return by_label(_distance, *cache)


def softmax_cross_entropy_forward(z, labels):
    """E = mean of -ln softmax(z)[T]; returns (float, cache): softmax and loss in one walk over z, nothing overflows.

    z (B, C) scores, labels (B,) int in 0 .. C - 1, else ValueError.
    Source: H, "Use Softmax to Produce Probabilities"; the cross-entropy is the course's addition.
    """
    z, labels = rows_and_labels("z", z, labels)
    sums, k = softmax_loss(z, labels, ONE, NOTHING)
    return mean_loss(sums, labels, z.shape), (k, labels)


def softmax_cross_entropy_sums(z, labels):
    """As `softmax_cross_entropy_forward`, without the copy: (sums, cache), sums a device array (1, 2).

    sums[0, 0] is the sum of the rows' losses, where rows with a bad label add 0, and sums[0, 1] says how many labels
    were out of range. A training step that is recorded (`gpu.record`) must not copy; it reads the loss later, or never.
    z (B, C) scores, labels (B,); else TypeError or ValueError. Source: H, "Use Softmax to Produce Probabilities".
    """
    z, labels = rows_and_labels("z", z, labels)
    sums, k = softmax_loss(z, labels, ONE, NOTHING)
    return add_up(sums), (k, labels)


def softmax_cross_entropy_backward(cache):
    """dE/dz = (k - onehot(T)) / B; returns (B, C). No errors. Source: H, "Softmax Derivatives Needed to Train"."""
    return by_label(_too_much, *cache)


def rows_and_labels(name, prediction, labels):
    """Return (prediction (B, C), labels (B,)), checked but for the labels' range; TypeError or ValueError."""
    prediction = operand(name, prediction, ndim=2)
    if prediction.size >= MOST:
        raise ValueError(f"{name} is {tuple(prediction.shape)}; its numbers are counted with 32 bits. Split the batch.")
    return prediction, operand("labels", labels, shape=(prediction.shape[0],), dtype=(np.int64, np.int32))


def softmax_loss(z, labels, sign, extra):
    """Return (parts, k) of rows z (B, C), see `row_kernels`: parts (blocks, 2), losses and bad labels. No errors.

    Source: H, "Use Softmax to Produce Probabilities".
    """
    k = like(z)
    kernel, blocks, threads = choose(z, k, True)
    parts = gpu.empty((blocks, 2), np.float32)
    kernel[blocks, threads](z, labels, sign, extra, k, parts)
    return parts, k


def mean_loss(parts, labels, shape):
    """Return the mean of the losses that blocks found in rows (B, C); ValueError for a label out of range.

    Source: H, "Choosing an Error Function".
    """
    total, bad = read_sums(parts)
    if bad:
        _name_the_label(labels, shape)
    return total / shape[0]


def by_label(f, k, labels):
    """Return f(k[b, j], j - labels[b]) / B for every b and j: (B, C). No errors. Source: the course's own."""
    out = like(k)
    _by_label(f)[-(-k.size // THREADS), THREADS](flat(k), np.uint32(k.shape[1]), labels, flat(out))
    return out


def _name_the_label(labels, shape):
    as_labels("labels", gpu.to_host(labels), rows=shape[0], classes=shape[1])


def _squares(prediction, target):
    prediction, target = operand("prediction", prediction), operand("target", target)
    require_same_shape("prediction", prediction, "target", target)
    difference = like(prediction)
    blocks = min(BLOCKS, -(-prediction.size // THREADS))
    parts = gpu.empty((blocks, 1), np.float32)
    _squared_difference[blocks, THREADS](flat(prediction), flat(target), flat(difference), parts)
    return read_sums(parts)[0], difference


def _of_probabilities(f, k, labels):
    k, labels = rows_and_labels("k", k, labels)
    blocks = -(-k.shape[0] // THREADS)
    parts = gpu.empty((blocks, 3), np.float32)
    _probability_loss(f)[blocks, THREADS](k, labels, parts)
    total, bad_labels, bad_rows = read_sums(parts)
    if bad_labels:
        _name_the_label(labels, k.shape)
    if bad_rows:
        require_probabilities("k", gpu.to_host(k), TOLERANCE)
    return total / k.shape[0], (k, labels)


# What a loss of probabilities adds for class j, d = j - T classes from the right one, and its derivatives.


@jit(device=True)
def _one_minus(k, d):
    return float32(1) - k if d == 0 else float32(0)


@jit(device=True)
def _squared_distance(k, d):
    return k * float32(d * d)


@jit(device=True)
def _right_class(k, d):
    return float32(-1) if d == 0 else float32(0)


@jit(device=True)
def _distance(k, d):
    return float32(d * d)


@jit(device=True)
def _too_much(k, d):
    return k - float32(1) if d == 0 else k


@jit(device=True)
def _shared_out(a, n):
    return a / n


@functools.cache
def _by_label(f):
    @jit(cache=True)
    def _by_label_kernel(k, C, labels, out):
        i = np.uint32(cuda.grid(1))
        if i < out.size:
            row = np.uint32(i // C)
            d = int64(i - row * C) - int64(labels[row])
            out[i] = f(k[i], d) / float32(labels.size)

    return _by_label_kernel


@jit(cache=True)
def _squared_difference(a, y, difference, parts):
    s = cuda.shared.array(WARPS, float32)
    total = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        d = a[i] - y[i]
        difference[i] = d
        total += d * d
    total = block_total(total, s)
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x, 0] = total


@functools.cache
def _probability_loss(f):
    @jit(cache=True)
    def _probability_loss_kernel(k, labels, parts):
        s = cuda.shared.array(WARPS, float32)
        row, C = cuda.grid(1), k.shape[1]
        loss, bad_label, bad_row = float32(0), float32(0), float32(0)
        if row < k.shape[0]:
            T = int64(labels[row])
            total, least = float32(0), k[row, 0]
            for j in range(C):
                total += k[row, j]
                least = min(least, k[row, j])
                loss += f(k[row, j], j - T)
            if T < 0 or T >= C:
                loss, bad_label = float32(0), float32(1)
            if not (abs(total - float32(1)) <= float32(TOLERANCE) and least >= -float32(TOLERANCE)):  # NaN too
                bad_row = float32(1)
        loss, bad_label, bad_row = block_total(loss, s), block_total(bad_label, s), block_total(bad_row, s)
        if cuda.threadIdx.x == 0:
            b = cuda.blockIdx.x
            parts[b, 0], parts[b, 1], parts[b, 2] = loss, bad_label, bad_row

    return _probability_loss_kernel
