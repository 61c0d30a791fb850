"""Usual mistakes in the exercises of lesson 16 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import math

import numpy as np

from course_lib.checks.exercise import Cause


def _steps(batches, launches, cost, fixed, each):
    return [max(launches * cost, fixed + each * B) for B in batches]


def _turn(launches, cost, fixed, each):
    return max(1, math.ceil((launches * cost - fixed) / each))


TIME = (
    Cause("That is the time of a step. Divide it by the images of its batch.",
          lambda b, n, c, f, e: (np.array(_steps(b, n, c, f, e)), _turn(n, c, f, e))),
    Cause("Launches and kernels were added up. The host enqueues ahead while the card computes, so a step takes "
          "whichever of the two is longer.",
          lambda b, n, c, f, e: (np.array([(n * c + f + e * B) / B for B in b]), _turn(n, c, f, e))),
    Cause("These are the kernels alone; where they are short, the card waits for the launches.",
          lambda b, n, c, f, e: (np.array([(f + e * B) / B for B in b]), _turn(n, c, f, e))),
    Cause("One launch was counted for the whole step.",
          lambda b, n, c, f, e: (np.array([max(c, f + e * B) / B for B in b]), _turn(1, c, f, e))),
    Cause("The second number is one too large: where both need equally long, the kernels need at least as long.",
          lambda b, n, c, f, e: (np.array(_steps(b, n, c, f, e)) / np.array(b),
                                 _turn(n, c, f, e) + 1 if (n * c - f) % e == 0 else None)),
    Cause("The second number is not rounded up: with one image less the launches still need longer.",
          lambda b, n, c, f, e: (np.array(_steps(b, n, c, f, e)) / np.array(b),
                                 (n * c - f) // e if (n * c - f) % e else None)),
    Cause("The part of the kernels' time that no image adds to was left out of the second number.",
          lambda b, n, c, f, e: (np.array(_steps(b, n, c, f, e)) / np.array(b), math.ceil(n * c / e))),
)  # fmt: skip


def _copies(size, host, link, pin):
    return size / host + size / link, size / link, int(pin // (size / host)) + 1


PINNING = (
    Cause("The two halves of a pageable copy were not added up: first the processor copies, then the link.",
          lambda s, h, k, p: (max(s / h, s / k), s / k, _copies(s, h, k, p)[2])),
    Cause("A pageable copy goes over the link too, behind the processor's own copy.",
          lambda s, h, k, p: (s / h, s / k, _copies(s, h, k, p)[2])),
    Cause("With so many copies both ways take equally long; one more is needed to be faster.",
          lambda s, h, k, p: (*_copies(s, h, k, p)[:2], p // (s / h) if p % (s / h) == 0 else None)),
    Cause("What pinning costs was divided by a whole pageable copy. What a pinned copy saves is the processor's half.",
          lambda s, h, k, p: (*_copies(s, h, k, p)[:2], int(p // (s / h + s / k)) + 1)),
    Cause("The two times are exchanged.", lambda s, h, k, p: (s / k, s / h + s / k, _copies(s, h, k, p)[2])),
)  # fmt: skip


def _seen(actions, *, follows=False, first=True, overwrites=True):
    here, recorded, found, held = None, None, [], {}
    for number, (what, *batch) in enumerate(actions):
        if what == "new":
            here = number
            held[here] = batch[0]
        elif what == "overwrite" and overwrites:
            held[here] = batch[0]
        elif what == "record":
            recorded = here
            found += [held[here]] if first else []
        elif what == "replay":
            found.append(held[here if follows else recorded])
    return found


RECORDED = (
    Cause("A graph does not follow the name x: it has the address of the array that x was when it was recorded.",
          lambda actions: _seen(actions, follows=True)),
    Cause("gpu.record runs the step once for real, so it trains on a batch too.",
          lambda actions: _seen(actions, first=False)),
    Cause("gpu.overwrite changes the numbers in the array, and the next replay reads them there.",
          lambda actions: _seen(actions, overwrites=False)),
)  # fmt: skip


def _hits(scores, labels):
    return scores.argmax(axis=-1) == labels


def _last_of_equals(losses, scores, labels):
    last = scores.shape[-1] - 1 - scores[..., ::-1].argmax(axis=-1)
    return np.array([(last == labels).sum(), losses.sum()], np.float32)


TALLY = (
    Cause("Both totals are still what they began with: no thread added to them.",
          lambda losses, scores, labels: np.zeros(2, np.float32)),
    Cause("Right rows and losses have changed places.",
          lambda losses, scores, labels: np.array([losses.sum(), _hits(scores, labels).sum()], np.float32)),
    Cause("These are the totals of the last batch. A launch must add to what is there, since the next batch of the "
          "epoch comes with the same totals.",
          lambda losses, scores, labels: np.array([_hits(scores, labels)[-1].sum(), losses[-1].sum()], np.float32)),
    Cause("Wrong rows were counted.",
          lambda losses, scores, labels: np.array([(~_hits(scores, labels)).sum(), losses.sum()], np.float32)),
    Cause("Of equal scores the first counts, as in np.argmax: look for a larger one with >, not >=.",
          _last_of_equals),
    Cause("Each lane has added the sum of its whole warp, or the same rows were added by every lane.",
          lambda losses, scores, labels: 32 * np.array([_hits(scores, labels).sum(), losses.sum()], np.float32)),
)  # fmt: skip


def _updated(grads, starts, decays, lr, momentum, *, decay_of=None, old_v=True, sign=-1, one_step=False):
    w, v = np.ones(grads.shape[1], np.float32), np.zeros(grads.shape[1], np.float32)
    owner = np.searchsorted(starts, np.arange(grads.shape[1]), side="right") - 1
    decay = decays[owner] if decay_of is None else decays[decay_of(owner)]
    for grad in grads[:1] if one_step else grads:
        v = (momentum * v if old_v else 0) + sign * lr * (grad + decay * w)
        w = w + v
    return w.astype(np.float32), v.astype(np.float32)


UPDATE = (
    Cause("Momentum is missing: v begins with what the step before has left in it.",
          lambda g, s, d, lr, m: _updated(g, s, d, lr, m, old_v=False)),
    Cause("The step goes uphill: it is minus lr times the gradient.",
          lambda g, s, d, lr, m: _updated(g, s, d, lr, m, sign=1)),
    Cause("Every parameter has the decay of the first one. Find the parameter that an element belongs to.",
          lambda g, s, d, lr, m: _updated(g, s, d, lr, m, decay_of=lambda owner: 0 * owner)),
    Cause("Every parameter has the decay of the last one.",
          lambda g, s, d, lr, m: _updated(g, s, d, lr, m, decay_of=lambda owner: 0 * owner - 1)),
    Cause("No parameter decays.", lambda g, s, d, lr, m: _updated(g, s, 0 * d, lr, m)),
    Cause("The parameters are one off: element i belongs to the last parameter that starts at i or before.",
          lambda g, s, d, lr, m: _updated(g, s, d, lr, m, decay_of=lambda owner: np.minimum(owner + 1, len(d) - 1))),
)  # fmt: skip
