"""What every rung asks of its operands: C (M, N) = A (M, K) @ B (K, N), on the device, float32, row by row.

Source: the course's own.
"""

import numpy as np

from course_lib.cuda.capability import compute_capability
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.device import executor
from course_lib.cuda.operands import operand

MOST_BLOCKS = 65_535
"""Blocks that a grid has on its y axis, at most."""


def check_gemm(A, B, C, dtype=np.float32):
    """Return (A, B, C, M, N, K): arrays that a kernel can take as they are, and the three sizes.

    Parameters
    ----------
    A : device array (M, K)
    B : device array (K, N)
    C : device array (M, N)
        Overwritten by the product; what it held does not matter. Always float32.
    dtype : numpy dtype or tuple of them
        What A and B may hold.

    Raises
    ------
    TypeError
        If one is a host array, of another device, or of another dtype.
    ValueError
        If the shapes do not fit, one is empty or not C-contiguous, or C shares memory with A or B.

    Source: K, Z = X W.
    """
    A, B = operand("A", A, ndim=2, dtype=dtype), operand("B", B, ndim=2, dtype=dtype)
    (M, K), (rows, N) = A.shape, B.shape
    if rows != K:
        hint = " Did you mean B.T?" if K == N else ""
        raise ValueError(f"A is {(M, K)} and B is {(rows, N)}; A.shape[1] must equal B.shape[0].{hint}")
    C = operand("C", C, ndim=2)
    if tuple(C.shape) != (M, N):
        raise ValueError(
            f"C is {tuple(C.shape)}, A is {(M, K)} and B is {(K, N)}; C must be (A.shape[0], B.shape[1]). Make it by "
            f"gpu.empty(({M}, {N}), np.float32)."
        )
    for name, other in (("A", A), ("B", B)):
        if _overlap(C, other):
            raise ValueError(
                f"C and {name} share memory; a block would overwrite what another one still reads. Give C memory of "
                f"its own: gpu.empty(({M}, {N}), np.float32)."
            )
    return A, B, C, M, N, K


def check_grid(lines, size, side):
    """Raise ValueError where C has more rows or columns than `side` times the blocks on a grid's y axis.

    lines is "rows" or "columns", size their number, side that of one block. Source: NVIDIA, "CUDA C++ Programming
    Guide", "Technical Specifications".
    """
    if size > MOST_BLOCKS * side:
        raise ValueError(
            f"C has {size:,} {lines}, and this rung puts {side} on each of the {MOST_BLOCKS:,} blocks of a grid's y "
            f"axis; there may be {MOST_BLOCKS * side:,} at most. Take a higher rung: from v05 on any size will do."
        )


def check_capability(what):
    """Raise DeviceError on a GPU below compute capability 8.0; `what` says what begins there.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
    """
    if compute_capability() < (8, 0):
        raise DeviceError(f"{what} from compute capability 8.0 on", "Use gemm_v07_warp_tiles here.")


def _overlap(x, y):
    if x is y:
        return True
    if executor().reports:  # the SIMT executor counts addresses from each allocation, and finds the race itself
        return False
    first, second = (executor().address(a) for a in (x, y))
    return first < second + _bytes(y) and second < first + _bytes(x)


def _bytes(x):
    return x.size * np.dtype(x.dtype).itemsize
