"""Devices that are slower than others, and devices that fail: what that costs depends on how many there are.

All wait for the slowest in each step, and the slowest of many is slower than that of few. One device fails rarely, one
of n is n times as likely to; then all go back to the last checkpoint.

Source: J. Dean and L. Barroso (2013), "The Tail at Scale"; J. Young (1974), "A First Order Approximation to the Optimum
Checkpoint Interval".
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from course_lib.validate import require_count, require_positive, require_rng


def slowness(devices, spread, rng):
    """Return how many times as long as usual each device computes, (devices,): lognormal, half of them above 1.

    Parameters
    ----------
    devices : int
    spread : float >= 0
        Standard deviation of the logarithm: with 0.05, two of three lie within 5 percent.
    rng : numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        If one is none.

    Source: Dean and Barroso (2013).
    """
    devices = require_count("devices", devices)
    return np.exp(require_positive("spread", spread, zero=True) * require_rng(rng).standard_normal(devices))


@dataclass(frozen=True)
class Run:
    """A training that met failures: its seconds, those of steps that stayed, how many failures, steps done again.

    Source: the course's own.
    """

    seconds: float
    useful: float
    failures: int
    again: int

    @property
    def efficiency(self):
        """The share of the time whose work stayed."""
        return self.useful / self.seconds


def best_interval(between_failures, checkpoint):
    """Return the seconds between checkpoints that lose least: sqrt(2 C M), good while it is much less than M.

    Parameters
    ----------
    between_failures : float > 0
        Mean seconds M between failures of any of the devices: that of one device, over how many there are.
    checkpoint : float > 0
        Seconds C that one takes.

    TypeError or ValueError if one is no such number. Source: Young (1974).
    """
    return sqrt(2 * require_positive("checkpoint", checkpoint) * require_positive("between_failures", between_failures))


def train_with_failures(steps, step_seconds, between_failures, checkpoint, restart, every, rng):
    """Return a training of `steps` steps in which devices fail at random, as `Run`.

    After each `every` steps a checkpoint is written. A failure, at any moment, loses what came after the last whole
    checkpoint, and costs a restart.

    Parameters
    ----------
    steps, every : int >= 1
    step_seconds, between_failures, checkpoint, restart : float > 0
        In seconds; between_failures is the mean over all devices.
    rng : numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        If one is no such number.
    RuntimeError
        If failures come so often that the training does not get on.

    Source: Young (1974).
    """
    steps, every = require_count("steps", steps), require_count("every", every)
    for name, value in (("step_seconds", step_seconds), ("between_failures", between_failures)):
        require_positive(name, value)
    for name, value in (("checkpoint", checkpoint), ("restart", restart)):
        require_positive(name, value, zero=True)
    require_rng(rng)
    now, done, failures, again, fails = 0.0, 0, 0, 0, rng.exponential(between_failures)
    while done < steps:
        count = min(every, steps - done)
        end = now + count * step_seconds + checkpoint
        if fails >= end:
            now, done = end, done + count
            continue
        failures, again = failures + 1, again + min(count, int((fails - now) / step_seconds))
        now = fails + restart
        fails = now + rng.exponential(between_failures)
        if failures > 100 * (steps + 10):
            raise RuntimeError(
                f"{failures:,} failures and {done} of {steps} steps done: {every} steps and a checkpoint take "
                f"{every * step_seconds + checkpoint:.3g} s, a failure comes every {between_failures:.3g} s. Write "
                "checkpoints more often."
            )
    return Run(now, steps * step_seconds, failures, again)
