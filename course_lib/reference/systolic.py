"""A systolic array: a grid of multiply-add cells through which numbers move, one cell a beat, as blood with the pulse.

Cell (k, n) keeps the weight B[k, n]. Row i of A enters from the left, its element k into row k of the grid; it moves to
the right, and sums move down. So that a sum meets the right numbers, element k enters k beats later: the rows of A
lean. Nobody fetches anything from a memory inside of the grid: a number that was read once is used in every column.

Source: H. T. Kung, "Why Systolic Architectures?" (1982); N. Jouppi et al., "In-Datacenter Performance Analysis of a
Tensor Processing Unit" (2017), whose grid has 256 x 256 cells.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.validate import as_float


@dataclass(frozen=True, eq=False)
class Beat:
    """One beat: what lies in each cell after it. Source: Kung (1982).

    Attributes
    ----------
    moving : (K, N) array
        The number of A in each cell.
    rows : (K, N) array of int
        The row of A that it belongs to; -1 in a cell that has none.
    sums : (K, N) array
        What each cell hands down.
    """

    moving: np.ndarray
    rows: np.ndarray
    sums: np.ndarray

    @property
    def busy(self):
        """How many cells multiply something in this beat."""
        return int(np.count_nonzero(self.rows >= 0))


def systolic_product(A, B):
    """Return (A @ B, beats): the product of A (M, K) and B (K, N) as a grid of K x N cells makes it.

    Parameters
    ----------
    A : (M, K) array
    B : (K, N) array

    Returns
    -------
    C : (M, N) array
    beats : list of Beat
        M + K + N - 2 of them.

    Raises
    ------
    TypeError, ValueError
        If they are no numbers, or the shapes do not fit.

    Source: Kung (1982); Jouppi et al. (2017).
    """
    A, B = as_float("A", A, ndim=2, min_rows=1), as_float("B", B, ndim=2, min_rows=1)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A is {A.shape} and B is {B.shape}; A.shape[1] must equal B.shape[0]. Did you mean B.T?")
    (M, K), N = A.shape, B.shape[1]
    C, beats = np.zeros((M, N), np.result_type(A, B)), []
    moving, sums, rows = np.zeros((K, N)), np.zeros((K, N)), np.full((K, N), -1)
    k = np.arange(K)
    for t in range(M + K + N - 2):
        entering = t - k  # row k of the grid gets A[t - k, k]: k beats late
        there = (entering >= 0) & (entering < M)
        first = np.where(there, A[np.clip(entering, 0, M - 1), k], 0)
        moving = np.column_stack([first, moving[:, :-1]])  # one cell to the right
        rows = np.column_stack([np.where(there, entering, -1), rows[:, :-1]])
        above = np.vstack([np.zeros(N), sums[:-1]])  # one cell down
        sums = above + moving * B
        for n in range(N):
            if rows[-1, n] >= 0:  # a sum that has passed all cells of its column
                C[rows[-1, n], n] = sums[-1, n]
        beats.append(Beat(moving, rows, sums))
    return C, beats
