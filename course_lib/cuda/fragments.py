"""Which lane of a warp holds which element of the matrices that a tensor core multiplies.

D = A B + C, with A (16, depth), B (depth, 8), C and D (16, 8). A **fragment** is what one lane holds of one of them: a
few registers, each with one number of four bytes or two numbers of two bytes. With g = lane // 4 and q = lane % 4:

    A   rows g and g + 8; k begins at q (4 bytes) or 2 q (2 bytes), and once more half the depth further on
    B   column g; k as for A
    C   rows g and g + 8, columns 2 q and 2 q + 1

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16".
"""

import functools
from dataclasses import dataclass

import numpy as np

WARP = 32

DEPTHS = {"tf32": 8, "fp16": 16, "bf16": 16}
"""Format of A and B -> how many k one operation adds up."""


@dataclass(frozen=True, eq=False)
class Fragment:
    """Of each lane, register and part of a register, the row and the column of the number that is there.

    Attributes
    ----------
    rows, columns : (32, registers, parts) arrays of int
    shape : (int, int)
        Of the whole matrix.

    Source: PTX ISA, "Matrix Fragments".
    """

    rows: np.ndarray
    columns: np.ndarray
    shape: tuple

    def owner(self, row, column):
        """Return (lane, register, part) of an element; IndexError if the matrix has none there."""
        found = np.argwhere((self.rows == row) & (self.columns == column))
        if len(found) != 1:
            raise IndexError(f"there is no element ({row}, {column}) in a matrix of shape {self.shape}.")
        return tuple(int(n) for n in found[0])

    def gather(self, matrix):
        """Return (32, registers, parts): what each lane holds of a matrix of `shape`, else ValueError."""
        if matrix.shape != self.shape:
            raise ValueError(f"the matrix is {matrix.shape}; this fragment is of one of shape {self.shape}.")
        return matrix[self.rows, self.columns]

    def scatter(self, held):
        """Return the matrices (..., *shape) of what lanes hold, (..., 32, registers, parts). No errors."""
        matrix = np.zeros((*held.shape[:-3], *self.shape), held.dtype)
        matrix[..., self.rows, self.columns] = held
        return matrix


@functools.cache
def fragment(operand, kind):
    """Return the `Fragment` of "a", "b" or "c" (and d) for "tf32", "fp16" or "bf16"; KeyError for other names.

    Source: PTX ISA, "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16".
    """
    depth = DEPTHS[kind]
    parts = depth // 8  # numbers in a register
    lane, part = np.arange(WARP)[:, None, None], np.arange(parts)[None, None]
    g, q = lane // 4, lane % 4
    h = np.arange(4)[None, :, None]
    if operand == "a":
        rows, columns, shape = g + 8 * (h % 2), parts * q + part + depth // 2 * (h // 2), (16, depth)
    elif operand == "b":
        h = h[:, :2]
        rows, columns, shape = parts * q + part + depth // 2 * h, g, (depth, 8)
    else:
        rows, columns, shape = {"c": (g + 8 * (h // 2), 2 * q + h % 2, (16, 8))}[operand]
    rows, columns = (np.ascontiguousarray(n) for n in np.broadcast_arrays(rows, columns))
    return Fragment(rows, columns, shape)
