"""Asynchronous copies of runs of neighbouring numbers, with little arithmetic an access.

A copy is done in the shadow of the multiply-adds, but its instructions take their turns too. So a team of threads walks
a run with additions alone, and with strides that the compiler knows.

Source: NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Data Copies"; the course's own.
"""

import functools

import numpy as np

from course_lib.cuda.intrinsics import cp_async4, cp_async16
from course_lib.cuda.jit import jit


@functools.cache
def make_copies(team):
    """Return the device functions (copy_run, copy_rows) for `team` threads a run. No errors."""
    FOUR = 4 * team

    @jit(device=True)
    def copy_run(shared, to, array, source, count, sixteen, lane):
        """Begin to copy array.flat[source : source + count] to shared.flat[to:]; sixteen: 16 bytes an access.

        With sixteen, `to` and `source` are multiples of 4, and so is the count, rounded up.
        """
        if sixteen:
            k = 4 * lane
            while k < count:
                cp_async16(shared, to + k, array, source + k)
                k += FOUR
        else:
            k = lane
            while k < count:
                cp_async4(shared, to + k, array, source + k)
                k += team

    @jit(device=True)
    def copy_rows(shared, to, array, source, count, fours, lane):
        """As `copy_run`, 16 bytes an access; after each row of 4 fours numbers, 4 places in shared memory stay free."""
        k = 4 * lane
        while k < count:
            row = np.uint32(k) // np.uint32(4 * fours)  # a division of 32 bits: a multiplication
            cp_async16(shared, to + k + 4 * row, array, source + k)
            k += FOUR

    return copy_run, copy_rows
