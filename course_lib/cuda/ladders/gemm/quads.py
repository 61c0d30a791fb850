"""Four neighbours of a matrix at once: by one access where that is possible, one by one where it is not.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" (size and alignment).
"""

import functools

from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import float32
from course_lib.cuda.operands import aligned


def rows_are_wide(*arrays):
    """Return whether 16-byte accesses fit device arrays (rows, columns): each row begins at a multiple of 16 bytes.

    No errors. Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses".
    """
    return all(array.shape[1] % 4 == 0 for array in arrays) and aligned(*arrays)


@functools.cache
def quads(wide):
    """Return the device functions (load, store) of four neighbours in a row; what lies outside is 0, or not written.

    load(x, r, c) -> x[r, c], ..., x[r, c + 3]; store(x, r, c, p, q, s, t). x is (rows, columns), r and c are not
    negative, c is a multiple of 4. `wide`: what `rows_are_wide` says of x. No errors.

    Source: the course's own.
    """
    if wide:

        @jit(device=True, forceinline=True)
        def load(x, r, c):
            p = q = s = t = float32(0)
            if r < x.shape[0] and c < x.shape[1]:
                p, q, s, t = ld4(x, nonneg(r * nonneg(x.shape[1]) + c))
            return p, q, s, t

        @jit(device=True, forceinline=True)
        def store(x, r, c, p, q, s, t):
            if r < x.shape[0] and c < x.shape[1]:
                st4(x, nonneg(r * nonneg(x.shape[1]) + c), p, q, s, t)

    else:

        @jit(device=True, forceinline=True)
        def load(x, r, c):
            inside, columns = r < x.shape[0], x.shape[1]
            p = x[r, c] if inside and c < columns else float32(0)
            q = x[r, c + 1] if inside and c + 1 < columns else float32(0)
            s = x[r, c + 2] if inside and c + 2 < columns else float32(0)
            t = x[r, c + 3] if inside and c + 3 < columns else float32(0)
            return p, q, s, t

        @jit(device=True, forceinline=True)
        def store(x, r, c, p, q, s, t):
            inside, columns = r < x.shape[0], x.shape[1]
            if inside and c < columns:
                x[r, c] = p
            if inside and c + 1 < columns:
                x[r, c + 1] = q
            if inside and c + 2 < columns:
                x[r, c + 2] = s
            if inside and c + 3 < columns:
                x[r, c + 3] = t

    return load, store
