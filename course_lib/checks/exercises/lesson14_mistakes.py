"""Usual mistakes in the exercises of lesson 14 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Cause


def _up(n, tile):
    return -(-n // tile)


def _tiles(M, N, K, BM, BN):
    """Return the right pair."""
    return 2 * M * N * K, _up(N, BN) * M * K + _up(M, BM) * K * N


LOADS = (
    Cause("BM and BN have changed places: each row of A is loaded once for each tile side by side, and these are BN "
          "wide.", lambda M, N, K, BM, BN: (2 * M * N * K, _up(M, BN) * K * N + _up(N, BM) * M * K)),
    Cause("A and B have changed places: an element of A is loaded once for each tile along N, one of B once for each "
          "tile along M.", lambda M, N, K, BM, BN: (2 * M * N * K, _up(M, BM) * M * K + _up(N, BN) * K * N)),
    Cause("Tiles at the edges were counted as if they were full: what does not exist is not loaded.",
          lambda M, N, K, BM, BN: (2 * M * N * K, _up(M, BM) * _up(N, BN) * (BM + BN) * K)),
    Cause("The number of tiles was rounded down: a tile at the edge loads too.",
          lambda M, N, K, BM, BN: (2 * M * N * K, N // BN * M * K + M // BM * K * N)),
    Cause("The plain kernel loads two elements for each multiplication: one of A and one of B.",
          lambda M, N, K, BM, BN: (M * N * K, _tiles(M, N, K, BM, BN)[1])),
    Cause("That is each element loaded once in all; different tiles load the same rows and columns again.",
          lambda M, N, K, BM, BN: (2 * M * N * K, M * K + K * N)),
    Cause("The loads of the plain kernel were divided, which is right for full tiles only. Count the tiles.",
          lambda M, N, K, BM, BN: (2 * M * N * K, M * N * K // BM + M * N * K // BN)),
    Cause("The numbers are right, but they are floats: / and np.ceil make floats. A number of loads is whole.",
          lambda M, N, K, BM, BN: tuple(map(float, _tiles(M, N, K, BM, BN)))),
)  # fmt: skip


def _over(count):
    """Return wrong(A, B): the product over the first count(A, B) of K."""

    def product(A, B):
        n = count(A, B)
        return A[:, :n] @ B[:n]

    return product


GRADIENT = (
    Cause("Only the last sample is there: add up in a variable, and store behind the loop.",
          lambda X, dZ: X[-1:].T @ dZ[-1:]),
    Cause("The last sample is missing: s goes from 0 to S - 1.", lambda X, dZ: X[:-1].T @ dZ[:-1]),
)  # fmt: skip


def _along_k(tile):
    """Return the causes of turns along K that are too few, for turns of `tile`."""
    return (
        Cause("As many turns were made along K as the grid has blocks along x. The grid covers C and knows nothing of "
              "K; A.shape[1] does.", _over(lambda A, B: tile * _up(B.shape[1], tile))),
        Cause("What remains of K beyond whole tiles is missing: round the number of turns up.",
              _over(lambda A, B: A.shape[1] // tile * tile)),
        Cause("Only the first turn along K is in the sum.", _over(lambda A, B: tile)),
        Cause("Only the last turn along K is in the sum: set the sum to 0 before the loop, not in it.",
              lambda A, B: A[:, (A.shape[1] - 1) // tile * tile :] @ B[(A.shape[1] - 1) // tile * tile :]),
    )  # fmt: skip


def _turned(cause):
    """Return a cause of C = A @ B as one of C = A @ B.T."""
    return Cause(cause.says, lambda A, B: cause.wrong(A, B.T))


TILED = (
    *map(_turned, _along_k(16)),
    Cause("That is A times B: of the tile of B a thread needs the row that belongs to its column of C, Bs[tx, k].",
          lambda A, B: A @ B if A.shape[0] == B.shape[1] else None),
)  # fmt: skip


def _layer(z, b):
    return np.maximum(z + b, 0)


LAYER = (
    Cause("As many turns were made along F as the grid has blocks along x. The grid covers a and knows nothing of F; "
          "x.shape[1] does.",
          lambda x, w, b: _layer(x[:, : 8 * _up(b.size, 8)] @ w[: 8 * _up(b.size, 8)], b)),
    Cause("What remains of F beyond whole tiles is missing: round the number of turns up.",
          lambda x, w, b: _layer(x[:, : x.shape[1] // 8 * 8] @ w[: x.shape[1] // 8 * 8], b)),
    Cause("The bias is missing.", lambda x, w, b: np.maximum(x @ w, 0)),
    Cause("Negative numbers are still there: the ReLU is missing.", lambda x, w, b: x @ w + b),
)  # fmt: skip


def _turns_of_32(A, B):
    return 8 * _up(B.shape[1], 32)


BY_EIGHTS = (
    Cause("As many turns were made along K as the grid has blocks along x. The grid covers C and knows nothing of K; "
          "A.shape[1] does.", _over(_turns_of_32)),
    *_along_k(8)[1:],
    Cause("All of a thread's rows have the sum of its first one: the row of A must change with i.",
          lambda A, B: np.repeat((A @ B)[::4], 4, axis=0)[: A.shape[0]]),
)  # fmt: skip


def _dealt(A, X):
    """Return (4, M, turns, 32), the products of each lane."""
    products = np.pad(A[None] * X[:, None], ((0, 0), (0, 0), (0, -A.shape[1] % 32)))
    return products.reshape(len(X), len(A), -1, 32)


VECTORS = (
    Cause("Only the first 32 elements of each row are in its sum: a lane must go on, by steps of 32.",
          lambda A, X: _dealt(A, X)[:, :, 0].sum(axis=2) if A.shape[1] > 32 else None),
    Cause("The shuffles stop one step too early: at a step of 1 two sums are left to add.",
          lambda A, X: _dealt(A, X)[..., ::2].sum(axis=(2, 3))),
    Cause("Half of each warp is missing: the first shuffle brings the value of the lane 16 places on.",
          lambda A, X: _dealt(A, X)[..., :16].sum(axis=(2, 3)) if A.shape[1] > 16 else None),
    Cause("Only what lane 0 has added up is there: were the values shuffled?",
          lambda A, X: _dealt(A, X)[..., 0].sum(axis=2)),
    Cause("All four results are those of the first vector: X[n, k] has to change with n.",
          lambda A, X: np.tile(X[:1] @ A.T, (4, 1))),
    Cause("One sum has taken in all four vectors: each needs its own.",
          lambda A, X: np.tile(X.sum(axis=0, keepdims=True) @ A.T, (4, 1))),
)  # fmt: skip
