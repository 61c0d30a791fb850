"""The sheet that hostile kernels answer: one small kernel of two points.

It is a sheet of its own, as the executor takes longer to start than all the rest of a submission.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case, KernelExercise
from course_lib.grading.keys import Key, Part

KERNELS = "000_selftest"
"""What the sheet is called; it is no lesson and no student gets it."""


def _launch(kernel, a):
    from course_lib.checks.kernels import output  # the executor is loaded only where a kernel is checked

    out = output(a.shape)
    kernel[(len(a) + 31) // 32, 32](a, out)
    return out


EXERCISES = (
    KernelExercise(
        "000.1", "add_one", "One more, by threads", 2, "core", "grading", "the course's own", 3,
        expect=lambda a: a + np.float32(1), cases=(Case((np.array([1, 2, 4], np.float32),)),), launch=_launch,
        budget=lambda a: {"global_load_requests": -(-len(a) // 32)},
    ),
)  # fmt: skip
"""What is public of the sheet."""


def _several_blocks(rng):
    return [Case((rng.integers(1, 99, n).astype(np.float32),)) for n in (33, 70)]


KEYS = (Key("000.1", (Part("several blocks", 1, _several_blocks),), ()),)
"""What is hidden of the sheet."""
