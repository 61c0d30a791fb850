"""Usual mistakes in the exercises of lesson 13 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause


def _lanes(threads):
    """Return how many lanes add in each step, in either order the same: half of the threads, a quarter, ..., one."""
    return [threads >> k for k in range(1, threads.bit_length())]


def _right(threads, order):
    """Return the live warps: of so many lanes, side by side or as far apart as they can be."""
    warps = -(-threads // 32)
    return [min(warps, n) if order == "neighbours" else -(-n // 32) for n in _lanes(threads)]


LIVE = (
    Cause("These are the threads that add. Count the warps that have at least one of them.",
          lambda threads, order: _lanes(threads)),
    Cause("That is how many warps the adding lanes would fill side by side. With neighbours they lie far apart, and "
          "one such lane is enough to keep its warp at work.",
          lambda threads, order: _right(threads, "halves") if order == "neighbours" else None),
    Cause("The steps of the halves begin with the largest, threads // 2.",
          lambda threads, order: _right(threads, order)[::-1] if order == "halves" else None),
    Cause("The last step is missing, in which one thread adds.", lambda threads, order: _right(threads, order)[:-1]),
    Cause("A block that does not fill a warp has a warp all the same.",
          lambda threads, order: [0 if threads < 32 else n for n in _right(threads, order)]),
    Cause("The threads that add were divided by 32, and / makes fractions. A warp counts whole as soon as one of its "
          "lanes adds: count the different values of adding // 32.",
          lambda threads, order: [n / 32 for n in _lanes(threads)]),
    Cause("The numbers are right, but they are floats: / and np.ceil make floats. A number of warps is whole.",
          lambda threads, order: [float(n) for n in _right(threads, order)]),
)  # fmt: skip


def _dealt(x):
    """Return (turns, warps, 32), the elements of each lane in the grid-stride loop."""
    warps = 3 if x.size % 2 else 5
    return np.pad(x, (0, -x.size % (32 * warps))).reshape(-1, warps, 32)


def _all(x):
    return x.sum().reshape(1)


def _shuffled(x):
    """Return (warps, 32), what each lane holds when it has added the values 16, 8, 4, 2 and 1 places on."""
    held = _dealt(x).sum(axis=0)
    for step in (16, 8, 4, 2, 1):  # beyond lane 31 a shuffle brings the lane's own value
        held = held + np.concatenate([held[:, step:], held[:, 32 - step :]], axis=1)
    return held


GRID_SUM = (
    Cause("total is still what it began with: no thread added to it.", lambda x: 0 * x[:1]),
    Cause("Only as many elements as there are threads are in the sum. Each thread must go on, by steps of all threads.",
          lambda x: _all(_dealt(x)[0]) if len(_dealt(x)) > 1 else None),
    Cause("Half of each warp is missing: the first shuffle brings the value of the lane 16 places on.",
          lambda x: _all(_dealt(x)[..., :16])),
    Cause("The shuffles stop one step too early: at a step of 1 two sums are left to add.",
          lambda x: _all(_dealt(x)[..., ::2])),
    Cause("Only what lane 0 of each warp had is there: were the values shuffled?", lambda x: _all(_dealt(x)[..., 0])),
    Cause("All lanes have added what they hold; the sum of the warp is in lane 0 alone.", lambda x: _all(_shuffled(x))),
    Cause("Only the first block has added its sum. Each block has a lane 0.", lambda x: _all(_dealt(x)[:, 0])),
)  # fmt: skip


def _blocks(x, size=128):
    return np.pad(x, (0, -x.size % size)).reshape(-1, size)


BLOCK_SUM = (
    Cause("Half of each block is missing: the first step of the tree adds elements that are half a block apart.",
          lambda x: _blocks(x)[:, :64].sum(axis=1)),
    Cause("The tree stops one step too early: at a distance of 1 two sums are left to add.",
          lambda x: _blocks(x)[:, ::2].sum(axis=1)),
    Cause("Only the first element of each block is there: was the loop of the tree walked?",
          lambda x: _blocks(x)[:, 0]),
)  # fmt: skip

BLOCK_MAX = (
    Cause("A thread without an element brought a 0, which is larger than any negative number. Minus infinity is the "
          "number that changes no maximum.", lambda x: _blocks(x).max(axis=1)),
    Cause("Half of each block is missing: the first step of the tree compares elements that are half a block apart.",
          lambda x: np.fmax.reduce(np.pad(x, (0, -x.size % 128), constant_values=np.nan).reshape(-1, 128)[:, :64],
                                   axis=1)),
)  # fmt: skip


def _passes(v, slope, factor):
    return factor * np.where(v > 0, v, slope * v)


FUSED = (
    Cause("The bias was added after leaky ReLU; it comes first.",
          lambda z, bias, slope, factor: factor * (np.where(z > 0, z, slope * z) + bias)),
    Cause("The bias is missing.", lambda z, bias, slope, factor: _passes(z, slope, factor)),
    Cause("The factor is missing, or was not applied to all numbers.",
          lambda z, bias, slope, factor: _passes(z + bias, slope, np.float32(1))),
    Cause("Only positive numbers were scaled; the factor is for all of them.",
          lambda z, bias, slope, factor: np.where(z + bias > 0, factor * (z + bias), slope * (z + bias))),
    Cause("The sign of z decided, before the bias was added. It is the sum that may be negative.",
          lambda z, bias, slope, factor: factor * (z + bias) * np.where(z > 0, np.float32(1), slope)),
    Cause("Negative numbers came out as 0: that is ReLU without a slope.",
          lambda z, bias, slope, factor: _passes(z + bias, np.float32(0), factor)),
    Cause("The number was scaled before the bias was added; the factor comes last.",
          lambda z, bias, slope, factor: _passes(factor * z + bias, slope, np.float32(1))),
    Cause("The larger of v and slope v is right for slopes up to 1 only; compare v with 0.",
          lambda z, bias, slope, factor: factor * np.maximum(z + bias, slope * (z + bias))),
)  # fmt: skip


def _probabilities(z):
    e = np.exp(z.astype(np.float64) - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _loss(z, labels):
    return -np.log(_probabilities(z)[np.arange(len(z)), labels])


def _wrapped(z, labels):
    """Return (N,) losses as if only the first 32 classes existed; None where there are no more."""
    return _loss(z[:, :32], labels % 32) if z.shape[1] > 32 and (labels < 32).all() else None


ROW_LOSSES = (
    Cause("This is the probability of the right class; the loss is minus its logarithm.",
          lambda z, labels: _probabilities(z)[np.arange(len(z)), labels].astype(np.float32)),
    Cause("The sign is wrong: the loss is minus the logarithm of a probability, so it is never negative.",
          lambda z, labels: -_loss(z, labels).astype(np.float32)),
    Cause("The largest logit was taken from the exponents, but not from the logit of the right class.",
          lambda z, labels: (_loss(z, labels) - z.max(axis=1)).astype(np.float32)),
    Cause("A lane without a class has changed the sum: it must bring a number whose exponential is 0.",
          lambda z, labels: _loss(np.pad(z, ((0, 0), (0, 64 - z.shape[1]))), labels).astype(np.float32)),
    Cause("Classes from 32 on are missing: each lane has two.", _wrapped),
)  # fmt: skip


def _pooled(x, size, stride, pad, flip=False, turn=False, shift=False):
    """Return (y, row, column, place in the window) of the winners, looked for in another order.

    `flip` lets the last of equals win, `turn` goes down the columns, `shift` has all padding below and at the right.
    """
    around = (0, 2 * pad) if shift else (pad, pad)
    padded = np.pad(x, ((0, 0), around, around), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))[:, ::stride, ::stride]
    flat = (windows.swapaxes(3, 4) if turn else windows).reshape(*windows.shape[:3], size * size)
    at = size * size - 1 - flat[..., ::-1].argmax(axis=3) if flip else flat.argmax(axis=3)
    y = np.take_along_axis(flat, at[..., None], 3)[..., 0]
    at = at % size * size + at // size if turn else at
    _, i, j = np.indices(at.shape)
    return y, i * stride - around[0] + at // size, j * stride - around[0] + at % size, at


def _pool(mask_of, **order):
    """Return wrong(x, size, stride, pad): mask_of(x, y, row, column, at) makes the mask of the winners."""

    def wrong(x, size, stride, pad):
        y, row, column, at = _pooled(x, size, stride, pad, **order)
        return y, mask_of(x, y, row, column, at).astype(np.int32)

    return wrong


def _in_map(x, y, row, column, at):
    return row * x.shape[2] + column


POOL = (
    Cause("Of equal values the last one has won; the first one does, row by row.", _pool(_in_map, flip=True)),
    Cause("Of equal values the first one down the columns has won; go through a window row by row.",
          _pool(_in_map, turn=True)),
    Cause("A window begins pad rows above, and pad columns left of, the place without padding: subtract pad.",
          _pool(_in_map, shift=True)),
    Cause("The mask has places within the window; it wants row * W + column in the map.",
          _pool(lambda x, y, row, column, at: at)),
    Cause("The mask counts through all maps; each map begins with 0.",
          _pool(lambda x, y, row, column, at: _in_map(x, y, row, column, at)
                + np.arange(x.shape[0])[:, None, None] * x.shape[1] * x.shape[2])),
    Cause("The mask multiplies the row by the width of y; it is a place in x.",
          _pool(lambda x, y, row, column, at: row * y.shape[2] + column)),
)  # fmt: skip


def _squares_by_grid(x):
    """Return (blocks,), the sums of squares where thread t of block b goes on by the threads of the whole grid."""
    blocks = -(-x.size // 256)
    dealt = np.pad(x, (0, -x.size % (64 * blocks))).reshape(-1, blocks, 64)
    return (dealt**2).sum(axis=(0, 2)) if blocks > 1 else None


SQUARES = (
    Cause("Your block adds up elements of other blocks: within a block the step is its number of threads, not the "
          "grid's.", _squares_by_grid),
    Cause("The elements themselves were added up; each one must be squared.",
          lambda x: _blocks(x, 256).sum(axis=1)),
    Cause("The sum was squared; it is the squares that are added.", lambda x: _blocks(x, 256).sum(axis=1) ** 2),
    Cause("Each thread has squared the sum of its four elements; square each element first.",
          lambda x: (_blocks(x, 256).reshape(-1, 4, 64).sum(axis=1) ** 2).sum(axis=1)),
    Cause("Each thread has taken one element only.", lambda x: (_blocks(x, 256)[:, :64] ** 2).sum(axis=1)),
    Cause("Half of each block is missing: the first step of the tree adds sums that are 32 threads apart.",
          lambda x: (_blocks(x, 256).reshape(-1, 4, 64)[..., :32] ** 2).sum(axis=(1, 2))),
)  # fmt: skip
