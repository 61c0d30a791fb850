"""The time that a kernel's counts predict for a full batch, as a number that an exercise's budget can limit.

Source: the course's own.
"""

import hashlib

import numpy as np

from course_lib.simt.arrays import DeviceArray
from course_lib.simt.estimate.by_classes import time_by_classes
from course_lib.simt.estimate.model import PARTS

COUNTER = "predicted_microseconds"
"""How budgets and messages call it."""

DIGITS = 3
"""Significant ones: times that are equal in them count as equal."""


def predicted(exercise, source, report, arguments, steps):
    """Return (microseconds, a sentence on what limits them) for `exercise.batch` images on `exercise.device`.

    Parameters
    ----------
    exercise : KernelExercise
    source : simt.Source
    report : simt.Report
        Of the whole launch with the arguments: every block was walked, so it has no other way to work for the time
        than for the values.
    arguments : list
        The launch's. The batch is the first axis of its outputs, and of each array that is as long.
    steps : int
        As `simt.run` takes them.

    ValueError if there is no output. Errors as `time_by_classes`'s. Source: the course's own.
    """
    outputs = [a for a in arguments if type(a) is DeviceArray]
    if not outputs:
        raise ValueError(f"{source.name} was launched without an output; nothing says how many images there are.")
    images = outputs[0].shape[0]
    grow = {n for n, a in zip(source.parameters, arguments, strict=True)
            if getattr(a, "shape", ()) and a.shape[0] == images}  # fmt: skip
    seed = hashlib.sha256(b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))).digest()
    fresh = [DeviceArray.empty(a.shape, a.dtype) if type(a) is DeviceArray else a for a in arguments]
    found = time_by_classes(
        source, report, fresh, exercise.device, times=exercise.batch / images, grow=grow,
        seed=int.from_bytes(seed[:8], "big"), steps=steps,
    )  # fmt: skip
    says = f"So long {exercise.batch:,} images are predicted to take on an {exercise.device}; most of it goes into "
    return significant(1e6 * found.seconds), f"{says}{PARTS[found.limit]}."


def significant(value, digits=DIGITS):
    """Return a positive number rounded to so many significant digits, an int where it is whole. No errors.

    Source: the course's own.
    """
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded
