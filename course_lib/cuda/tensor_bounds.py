"""How far a tensor core's sums may lie from the exact ones, and from the executor's.

Source: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021).
"""

import numpy as np


def rounding_bound(A, B, C):
    """Return (M, N): how far D = A B + C of one operation may lie from the exact sum, element by element.

    A (M, K), B (K, N), C (M, N) hold numbers of the operation's formats, so that every product is exact. There are K
    products and a number of C. Lining them up loses of each less than one unit of the last place that is kept, at most
    2^-23 of the largest; adding in parts and cutting the result to float32 lose as much again at most. All are at most
    |A| |B| + |C|, so the sum is off by less than 2 (K + 1) 2^-23 of that. The executor cuts only once, at the end: it
    is within the bound, and so the two are within twice the bound of each other.

    Raises ValueError, as NumPy does, if the shapes do not fit. Source: Fasi et al. (2021), sections 3 and 4.
    """
    A, B, C = (np.abs(np.asarray(matrix, np.float64)) for matrix in (A, B, C))
    return 2 * (A.shape[1] + 1) * 2.0**-23 * (A @ B + C)
