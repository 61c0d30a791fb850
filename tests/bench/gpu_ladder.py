"""A ladder to test `course bench gpu` with: a right rung, a wrong one, one that fails, one that refuses."""

from numba import cuda, float32

from course_lib import gpu
from course_lib.cuda.ladders.rung import Rung


@gpu.jit
def _product(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@gpu.jit
def _rows_but_the_last(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] - 1 and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@gpu.jit
def _out_of_bounds(A, B, C):
    C[C.shape[0], 0] = A[0, 0]


def _launcher(kernel):
    def launch(A, B, C):
        kernel[(-(-C.shape[1] // 16), -(-C.shape[0] // 16)), (16, 16)](A, B, C)

    launch.__module__ = __name__
    return launch


def _refuses(A, B, C):
    raise ValueError("A is too small.")


RIGHT = Rung("v01_right", _launcher(_product), "", "")
WRONG = Rung("v02_wrong", _launcher(_rows_but_the_last), "", "")
FAILS = Rung("v03_fails", _launcher(_out_of_bounds), "", "")
REFUSES = Rung("v04_refuses", _refuses, "", "")
LADDER = (RIGHT, WRONG, FAILS, REFUSES)
