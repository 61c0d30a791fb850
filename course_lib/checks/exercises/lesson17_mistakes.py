"""Usual mistakes in the exercises of lesson 17 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson17_values import beat, holder, limits, products, pruned, scaled_step


def _with(place, change):
    """Return wrong(exponent_bits, fraction_bits): the right four numbers with one changed."""

    def wrong(e, f):
        found = list(limits(e, f))
        found[place] = change(e, f, found[place])
        return tuple(found)

    return wrong


LIMITS = (
    Cause("The highest exponent is taken: it means infinity and NaN. The largest number has the one below it.",
          _with(0, lambda e, f, right: 2 * right)),
    Cause("The largest number has a fraction of ones only: 2 - 2^-f, not 1.",
          _with(0, lambda e, f, right: 2.0 ** (2 ** (e - 1) - 1))),
    Cause("An exponent of all zeros is that of the subnormal numbers; the smallest with all digits has E = 1.",
          _with(1, lambda e, f, right: right / 2)),
    Cause("That is the smallest number with all digits; subnormal numbers go on below it, down to one step.",
          _with(2, lambda e, f, right: limits(e, f)[1])),
    Cause("The step after 1 is 2^-f: the fraction has f bits.", _with(3, lambda e, f, right: 2 * right)),
    Cause("That is half of the step after 1: how far rounding may be off.", _with(3, lambda e, f, right: right / 2)),
)  # fmt: skip


def _by_bits(x, add):
    """Return x with add(bits) added to its bits, and the lower 16 cut off."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + add(bits)).astype(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


ROUND = (
    Cause("The lower bits were cut off, without rounding: add to the bits before they are cut.",
          lambda x: _by_bits(x, lambda bits: 0)),
    Cause("Halves were rounded away from zero: add 0x7FFF, and 1 more only if the last bit that stays is 1.",
          lambda x: _by_bits(x, lambda bits: 0x8000)),
    Cause("Halves were rounded toward zero: where the last bit that stays is 1, they must go up.",
          lambda x: _by_bits(x, lambda bits: 0x7FFF)),
    Cause("Halves go to the odd one: 1 is added where the last bit that stays is 0.",
          lambda x: _by_bits(x, lambda bits: 0x7FFF + (1 - (bits >> np.uint64(16) & np.uint64(1))))),
    Cause("That is FP16, which has other bits of exponent; BF16 is the upper half of a float32.",
          lambda x: _fp16(x)),
)  # fmt: skip


def _fp16(x):
    with np.errstate(over="ignore"):
        return x.astype(np.float16).astype(np.float32)


HOLDER = (
    Cause("Row and k have changed places: lane // 4 is the row.", lambda row, k: holder(k, row)),
    Cause("That is the layout for four-byte numbers, where lane % 4 is k itself; here a register has two k.",
          lambda row, k: (4 * (row % 8) + k % 4, row // 8 + 2 * (k // 8), k % 2)),
    Cause("Registers 1 and 2 have changed places: register 1 has row g + 8, register 2 has k + 8.",
          lambda row, k: (holder(row, k)[0], k // 8 + 2 * (row // 8), k % 2)),
    Cause("The first of two numbers lies in the lower half, 0.", lambda row, k: (*holder(row, k)[:2], 1 - k % 2)),
    Cause("Rows 8 to 15 belong to the same lanes as rows 0 to 7, in other registers.",
          lambda row, k: (4 * row + k % 8 // 2, row // 8 + 2 * (k // 8), k % 2)),
)  # fmt: skip

PRODUCTS = (
    Cause("Only the large parts were multiplied.", lambda A, B: products(A, B, ((0, 0),))),
    Cause("The rest of B is missing: large A times small B.", lambda A, B: products(A, B, ((1, 0), (0, 0)))),
    Cause("The rest of A is missing: small A times large B.", lambda A, B: products(A, B, ((0, 1), (0, 0)))),
    Cause("The product of the large parts is missing.", lambda A, B: products(A, B, ((1, 0), (0, 1)))),
)  # fmt: skip


def _always(w, scaled, scale, good, lr, grow_after):
    with np.errstate(invalid="ignore"):
        return w - lr * (scaled / scale), scale / 2, 0


STEP = (
    Cause("The gradients were not divided by the scale: the step is as many times too large.",
          lambda w, g, scale, good, lr, n: (w - lr * g, *scaled_step(w, g, scale, good, lr, n)[1:])),
    Cause("The gradients were divided by the new scale; they were computed with the old one.",
          lambda w, g, scale, good, lr, n: (w - lr * (g / scaled_step(w, g, scale, good, lr, n)[1]),
                                            *scaled_step(w, g, scale, good, lr, n)[1:])),
    Cause("A step with an infinite gradient was made: leave w as it is.", _always),
    Cause("After an overflow the count of good steps begins anew, at 0.",
          lambda w, g, scale, good, lr, n: (*scaled_step(w, g, scale, good, lr, n)[:2],
                                            scaled_step(w, g, scale, good, lr, n)[2] or good)),
    Cause("After doubling, the count of good steps begins anew, at 0.",
          lambda w, g, scale, good, lr, n: (*scaled_step(w, g, scale, good, lr, n)[:2], good + 1)),
    Cause("This step counts too: with it there are enough good ones, and the scale is doubled.",
          lambda w, g, scale, good, lr, n: (scaled_step(w, g, scale, good, lr, n)[0],
                                            scale / 2 if not np.isfinite(g).all() else scale,
                                            good + 1 if np.isfinite(g).all() else 0)),
    Cause("The scale is halved after an overflow, not kept.",
          lambda w, g, scale, good, lr, n: (w, scale, 0)),
    Cause("The scale grows after an overflow; it was too large already.",
          lambda w, g, scale, good, lr, n: (w, 2 * scale, 0)),
)  # fmt: skip


def _in_fours(w, keep):
    """Return w with those of each four along axis 0 that keep(four numbers' columns) marks, (4, N) of bool."""
    out = np.zeros_like(w)
    for top in range(0, w.shape[0], 4):
        four = w[top : top + 4]
        out[top : top + 4] = np.where(keep(four), four, 0)
    return out


PRUNE = (
    Cause("The fours lie along the rows; the sum of x @ w runs down a column, axis 0.",
          lambda w: pruned(w, axis=1) if w.shape[1] % 4 == 0 else np.zeros(0)),
    Cause("The two smallest were kept.", lambda w: w - pruned(w)),
    Cause("The two largest were kept, with their signs; a weight of -5 is larger than one of 1.",
          lambda w: _in_fours(w, lambda four: np.argsort(np.argsort(-four, axis=0), axis=0) < 2)),
    Cause("Only the largest of each four was kept; two may stay.",
          lambda w: _in_fours(w, lambda four: np.argsort(np.argsort(-np.abs(four), axis=0), axis=0) < 1)),
    Cause("The smaller half of each column was dropped: any zeros, and not two in each four.",
          lambda w: np.where(np.argsort(np.argsort(-np.abs(w), axis=0), axis=0) < w.shape[0] // 2, w, 0)),
    Cause("The smaller half of all was dropped: any zeros, and not two in each four.",
          lambda w: np.where(np.abs(w) >= np.sort(np.abs(w), axis=None)[w.size // 2], w, 0)),
)  # fmt: skip


def _late(moving, sums, entering, B):
    """The sums are made of the numbers that were there before."""
    new, _ = beat(moving, sums, entering, B)
    return new, np.vstack([np.zeros(B.shape[1]), sums[:-1]]) + moving * B


BEAT = (
    Cause("The sums were made of the numbers that lay there before the beat: first move, then multiply.", _late),
    Cause("Sums move down: a cell adds to what the cell above had, not to its own.",
          lambda m, s, e, B: (beat(m, s, e, B)[0], s + beat(m, s, e, B)[0] * B)),
    Cause("The cells at the top get what left at the bottom: a roll brings it round. They begin at 0.",
          lambda m, s, e, B: (beat(m, s, e, B)[0], np.roll(s, 1, axis=0) + beat(m, s, e, B)[0] * B)),
    Cause("What enters is missing: the first column gets `entering`.",
          lambda m, s, e, B: beat(m, s, m[:, -1], B)),
    Cause("Numbers move to the right, one cell; here they stayed.",
          lambda m, s, e, B: (np.column_stack([e, m[:, 1:]]),
                              np.vstack([np.zeros(B.shape[1]), s[:-1]]) + np.column_stack([e, m[:, 1:]]) * B)),
)  # fmt: skip


def _first_turns(A, B):
    return A[:, :16] @ B[:16]


def _registers_exchanged(A, B):
    """Of each 16 x 16 of A the upper right and the lower left quarter have changed places."""
    quarters = A.reshape(A.shape[0] // 16, 2, 8, A.shape[1] // 16, 2, 8)
    return np.ascontiguousarray(quarters.swapaxes(1, 4)).reshape(A.shape) @ B


TILES = (
    Cause("Registers 1 and 2 of A have changed places: register 1 has row g + 8, register 2 has k + 8.",
          _registers_exchanged),
    Cause("Only the first 16 of K were multiplied: a loop has to walk along K.", _first_turns),
    Cause("Only the last 16 of K are there: what mma_bf16 returns is the next one's third operand.",
          lambda A, B: A[:, -16:] @ B[-16:]),
    Cause("Every block has the first tile of A: blockIdx.y counts tiles of 16 rows.",
          lambda A, B: np.tile(A[:16], (A.shape[0] // 16, 1)) @ B),
    Cause("Every block has the first tile of B: blockIdx.x counts tiles of 8 columns.",
          lambda A, B: A @ np.tile(B[:, :8], (1, B.shape[1] // 8))),
)  # fmt: skip
