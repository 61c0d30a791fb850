"""Descent by the gradient of all samples at once: how many steps until the loss is low, and how often it rose.

Source: the course's own.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from course_lib.validate import require_count, require_positive


@dataclass(frozen=True)
class Descent:
    """Made by `steps_until`: `steps` (None if the loss never came below), and `rises`, the steps that raised the loss.

    Source: the course's own.
    """

    steps: int | None
    rises: int


def steps_until(net, x, y, *, lr, momentum, below, most):
    """Train `net` in place, each step by the gradient of all samples, until the loss is below a bound.

    There is no chance in it: no order of samples, no batches.

    Parameters
    ----------
    net : Sequential
        Its output are scores.
    x, y : (n, D) array, (n,) int labels
    lr : float > 0, or function step -> rate
        Steps are counted from 0.
    momentum : float in [0, 1)
    below : float
    most : int >= 1
        Steps after which it is given up.

    Returns
    -------
    Descent

    Raises
    ------
    ValueError, TypeError
        As `nn.SGD` for lr and momentum, and for a `below` that is not positive or a `most` below 1.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods" (1964).
    """
    most = require_count("most", most)
    require_positive("below", below)
    params, ops, losses = list(net.parameters().values()), net.ops, []
    velocities = [np.zeros_like(p) for p in params]
    for step in range(most + 1):
        loss, cache = ops.softmax_cross_entropy_forward(net.forward(x), y)
        losses.append(float(loss))
        if not losses[-1] >= below:  # nan ends it too
            break
        net.zero_grad()
        net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
        ops.sgd_step(params, list(net.gradients().values()), lr(step) if callable(lr) else lr, momentum, velocities)
    rises = sum(after > before for before, after in itertools.pairwise(losses))
    return Descent(len(losses) - 1 if losses[-1] < below else None, rises)
