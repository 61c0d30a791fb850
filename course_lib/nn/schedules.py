"""Learning rates that change: plain functions from the number of a step, counted from 0, to a rate.

A step is one batch. `nn.train` takes such a function as `lr`; so does any loop that calls it.

Source: the cosine is Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts"; the warm-up
Goyal et al. (2017), "Accurate, Large Minibatch SGD"; the steps are the field's custom.
"""

import math
from functools import partial

from course_lib.validate import require_count, require_positive

# Partials of functions of this module can be pickled; functions defined inside of others cannot.


def constant(lr):
    """Return the schedule that is always `lr`; TypeError or ValueError unless lr > 0. Source: the course's own."""
    return partial(_constant, require_positive("lr", lr))


def step_decay(lr, every, factor=0.1):
    """Return the schedule that starts with `lr` and is multiplied by `factor` after each `every` steps.

    Raises TypeError or ValueError unless lr > 0, every >= 1 and factor in (0, 1]. Source: the field's custom.
    """
    factor = require_positive("factor", factor)
    if factor > 1:
        raise ValueError(f"factor is {factor:g}; it must lie in (0, 1], or the rate grows without end.")
    return partial(_step_decay, require_positive("lr", lr), require_count("every", every), factor)


def cosine(lr, steps, last=0.0):
    """Return the schedule that goes from `lr` to `last` along half a cosine in `steps` steps, and stays there.

    Raises TypeError or ValueError unless lr > 0, steps >= 1 and 0 <= last <= lr. Source: Loshchilov and Hutter (2017),
    equation 5.
    """
    lr, last = require_positive("lr", lr), require_positive("last", last, zero=True)
    if last > lr:
        raise ValueError(f"last is {last:g} and lr is {lr:g}; the rate must not end above its start.")
    return partial(_cosine, lr, require_count("steps", steps), last)


def warm_up(steps, then):
    """Return the schedule that climbs in a straight line of `steps` steps to the first rate of `then`, which follows.

    Parameters
    ----------
    steps : int >= 1
    then : float > 0 or function step -> rate
        Its steps are counted from the end of the warm-up.

    Raises
    ------
    TypeError, ValueError
        If steps or then is not of that kind.

    Source: Goyal et al. (2017), section 2.2.
    """
    return partial(_warm_up, require_count("steps", steps), then if callable(then) else constant(then))


def count_steps(rows, batch_size, epochs):
    """Return how many steps `nn.train` makes: epochs * ceil(rows / batch_size).

    Raises TypeError or ValueError unless all are whole numbers >= 1. Source: O, "Stochastic gradient descent" (epoch).
    """
    rows, batch_size = require_count("rows", rows), require_count("batch_size", batch_size)
    return require_count("epochs", epochs) * -(-rows // batch_size)


def rate(lr, step):
    """Return the rate of a step: `lr` itself if it is a number, else lr(step), which must be finite and > 0.

    Raises
    ------
    TypeError, ValueError
        If it is none; the message names the step.

    Source: the course's own.
    """
    return require_positive(f"lr({step})", lr(step)) if callable(lr) else require_positive("lr", lr)


def _constant(lr, step):
    return lr


def _step_decay(lr, every, factor, step):
    return lr * factor ** (step // every)


def _cosine(lr, steps, last, step):
    return last + (lr - last) * (1 + math.cos(math.pi * min(step, steps) / steps)) / 2


def _warm_up(steps, then, step):
    return then(0) * (step + 1) / steps if step < steps else then(step - steps)
