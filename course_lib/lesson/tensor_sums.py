"""Products of split matrices, added as an ordinary unit adds and as a tensor core does, for lesson 17.

A tensor core adds to its float32 sum the products of one instruction, `depth` of them, and cuts off what does not fit:
toward zero, as the executor does it (`course_lib.simt.intrinsics`).

Source: H. Ootomo and R. Yokota (2022); M. Fasi et al. (2021).
"""

import numpy as np

from course_lib.cuda.fragments import DEPTHS
from course_lib.reference.formats import split

SPLITS = (("tf32", 1), ("bf16", 2), ("bf16", 3), ("tf32", 2))
"""Formats, and parts of each number, whose long sums lesson 17 compares."""

REMEDIES = {"cut": {}, "let out": {"flush": 256}, "and apart": {"flush": 256, "apart": True}}
"""What helps against cuts -> the arguments of `tensor_core_products`."""


def operands(K, size=128):
    """Return A (size, K) and B (K, size), normal numbers: the long sums of lesson 17, and those measured on a card.

    No errors for whole numbers. Source: the course's own.
    """
    rng = np.random.default_rng((1, K))
    return rng.standard_normal((size, K), np.float32), rng.standard_normal((K, size), np.float32)


def split_products(A, B, name, parts):
    """Return (C, products): A @ B from numbers of a format, each of A and B cut into `parts`; small products left out.

    Of part i of A and part j of B only those with i + j < parts are multiplied, the smallest first. Sums are float32
    and rounded. Errors as `split`.

    Parameters
    ----------
    A : (M, K) float32 array
    B : (K, N) float32 array
    name : str
    parts : int >= 1

    Returns
    -------
    C : (M, N) float32 array
    products : int

    Source: Ootomo and Yokota (2022).
    """
    left, right = split(A, name, parts), split(B, name, parts)
    pairs = order_of(parts)
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for i, j in pairs:
        C += left[i] @ right[j]
    return C, len(pairs)


def tensor_core_products(A, B, name, parts, *, flush=None, apart=False):
    """Return C (M, N): A (M, K) @ B (K, N) as `split_products`, but added in tensor cores, which cut.

    K must be a multiple of what one instruction adds up, 8 for "tf32" and 16 for "bf16" and "fp16", else ValueError.

    Parameters
    ----------
    A, B : float32 arrays
    name : str
        A format that tensor cores take.
    parts : int >= 1
    flush : int, optional
        Let the sums out after so many k, into sums of float32 that are rounded; None: at the end.
    apart : bool
        Keep the small products, all but those of the first parts, in sums of their own.

    Source: Ootomo and Yokota (2022); Fasi et al. (2021).
    """
    depth, K = DEPTHS[name], A.shape[1]
    if K % depth:
        raise ValueError(
            f"A is {A.shape}; A.shape[1] must be a multiple of {depth}: so many one {name} instruction adds."
        )
    left, right = (
        [part.astype(np.float64) for part in split(matrix, name, parts)] for matrix in (A, B)
    )  # exact products
    large, small, outside = (np.zeros((A.shape[0], B.shape[1]), np.float32) for _ in range(3))
    for k in range(0, K, depth):
        now = slice(k, k + depth)
        for i, j in order_of(parts):
            product = left[i][:, now] @ right[j][now]
            if apart and i + j > 0:
                small = _cut(small + product)
            else:
                large = _cut(large + product)
        if flush is not None and (k + depth) % flush == 0:
            outside = outside + (small + large)
            large, small = np.zeros_like(large), np.zeros_like(small)
    return outside + (small + large)


def float32_in_order(A, B):
    """Return C (M, N): A @ B in float32, one product after the other, each sum rounded. No errors.

    Source: the course's own.
    """
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for k in range(A.shape[1]):
        C += A[:, k : k + 1] * B[k]
    return C


def order_of(parts):
    """Return the list of (i, j) of the parts that are multiplied, those of the smallest products first. No errors.

    Source: Ootomo and Yokota (2022).
    """
    return sorted(((i, j) for i in range(parts) for j in range(parts - i)), key=lambda pair: -sum(pair))


def _cut(exact):
    """Float32 of float64 numbers, toward zero."""
    near = exact.astype(np.float32)
    return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
