"""Usual mistakes in the exercises of lesson 15 that leave a recognisable value, and what is said of each.

Source: the course's own.
"""

import numpy as np

from course_lib import reference
from course_lib.checks.exercise import Cause


def _grid(B, M, H_out, W_out, tile, *, tiles=None, floor=False, order=(0, 1, 2), maps=None, images=None):
    """Return the launch of the basic kernel, the outputs and the threads, with a mistake."""
    up = (lambda n: n // tile) if floor else (lambda n: -(-n // tile))
    Y = up(H_out) * up(W_out) if tiles is None else tiles(up(H_out), up(W_out))
    grid = tuple((M, Y, B)[axis] for axis in order)
    outputs = (B if images is None else images) * (M if maps is None else maps) * H_out * W_out
    return grid, outputs, M * Y * B * tile * tile


LAUNCH = (
    Cause("Maps and images have changed places: X is the output map, Z the image.",
          lambda *sizes: _grid(*sizes, order=(2, 1, 0))),
    Cause("Maps and tiles have changed places: X is the output map, Y the tile.",
          lambda *sizes: _grid(*sizes, order=(1, 0, 2))),
    Cause("Tiles are rounded down: a tile that is only partly in the map needs its block too.",
          lambda *sizes: _grid(*sizes, floor=True)),
    Cause("Y counts all tiles of a map: the tiles of a row times the rows of tiles.",
          lambda *sizes: _grid(*sizes, tiles=lambda rows, columns: columns)),
    Cause("Y counts all tiles of a map: the tiles of a row times the rows of tiles, not their sum.",
          lambda *sizes: _grid(*sizes, tiles=lambda rows, columns: rows + columns)),
    Cause("The number of tiles comes from H_out W_out / tile^2. A map is cut along each axis on its own: round up rows "
          "and columns first.",
          lambda B, M, H, W, tile: _grid(B, M, H, W, tile, tiles=lambda *_: -(-H * W // tile**2))),
    Cause("The outputs are those of one map; all M maps are computed at once.",
          lambda *sizes: _grid(*sizes, maps=1)),
    Cause("The outputs are those of one image; all B images are computed at once.",
          lambda *sizes: _grid(*sizes, images=1)),
    Cause("A block has tile x tile threads, also where not all of them have an output.",
          lambda *sizes: (*_grid(*sizes)[:2], _grid(*sizes)[1])),
    Cause("The third number is that of the blocks; each has tile x tile threads.",
          lambda B, M, H, W, tile: (*_grid(B, M, H, W, tile)[:2], _grid(B, M, H, W, tile)[2] // tile**2)),
)  # fmt: skip


def _conv(x, w):
    """Return (B, M, H_out, W_out) or, for x (C, H, W), (M, H_out, W_out)."""
    y = reference.conv2d_forward(x if x.ndim == 4 else x[None], np.ascontiguousarray(w))[0]
    return y if x.ndim == 4 else y[0]


CONV = (
    Cause("Only the first input map is in the sum.", lambda x, w: _conv(x[..., :1, :, :], w[:, :1])),
    Cause("Only the last input map is in the sum: it must not begin anew with each map.",
          lambda x, w: _conv(x[..., -1:, :, :], w[:, -1:])),
    Cause("The mask is turned by 180 degrees: here the weight [m, c, p, q] meets the pixel [c, h + p, v + q].",
          lambda x, w: _conv(x, w[:, :, ::-1, ::-1])),
    Cause("The mask's rows and columns have changed places.", lambda x, w: _conv(x, w.swapaxes(2, 3))),
    Cause("All weights count as 1. The stored ones must be used.", lambda x, w: _conv(x, np.ones_like(w))),
    Cause("All maps have the weights of map 0.", lambda x, w: _conv(x, np.broadcast_to(w[:1], w.shape))),
)  # fmt: skip


def _without_halo(x, left=0, right=0):
    """Return (n,) sums in which a block of 64 sees `left` and `right` neighbours beyond its ends."""
    y = np.empty_like(x)
    for i in range(x.size):
        first, last = i // 64 * 64 - left, i // 64 * 64 + 63 + right
        y[i] = x[max(0, i - 2, first) : min(i + 2, last) + 1].sum()
    return y


SMOOTH = (
    Cause("The ends of a block miss the neighbours that belong to the next block: the tile has no halo.",
          _without_halo),
    Cause("Of the halo only the left end was brought.", lambda x: _without_halo(x, left=2)),
    Cause("Of the halo only the right end was brought.", lambda x: _without_halo(x, right=2)),
)  # fmt: skip


def _tile_without_halo(x, masks):
    """Return (M, H_out, W_out) results in which a block sees the 8 x 8 pixels at its own outputs, and else zeros."""
    y = np.empty_like(_conv(x, masks))
    for top in range(0, y.shape[1], 8):
        for left in range(0, y.shape[2], 8):
            seen = np.zeros((x.shape[0], 10, 10), np.float32)
            part = x[:, top : top + 8, left : left + 8]
            seen[:, : part.shape[1], : part.shape[2]] = part
            rows, columns = y[0, top : top + 8, left : left + 8].shape
            y[:, top : top + 8, left : left + 8] = _conv(seen, masks)[:, :rows, :columns]
    return y


CONSTANT = (
    *CONV,
    Cause("The tile has no halo: pixels beyond the block's own 8 x 8 count as 0.", _tile_without_halo),
)  # fmt: skip


def _cols(x, K, order="cpq"):
    """Return the unrolled matrix, its rows in another order of map c, mask row p and mask column q."""
    C, rows, columns = x.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1
    cols = np.lib.stride_tricks.sliding_window_view(x, (K, K), (1, 2))  # (C, H_out, W_out, K, K)
    named = dict(zip("chvpq", range(5), strict=True))
    return cols.transpose(*(named[n] for n in order), 1, 2).reshape(C * K * K, rows * columns)


UNROLL = (
    Cause("The mask's rows and columns have changed places: row c K K + p K + q of cols has x[c, h + p, v + q].",
          lambda x, K: _cols(x, K, "cqp")),
    Cause("The rows of cols have the map as their fastest index; it is the slowest one, c K K + p K + q.",
          lambda x, K: _cols(x, K, "pqc")),
    Cause("Each column of cols is one pixel again and again: the place in the mask is missing.",
          lambda x, K: np.repeat(_cols(x, K)[:: K * K], K * K, axis=0)),
    Cause("Pixels of y are numbered row by row, h W_out + v; here they go down the columns.",
          lambda x, K: _cols(x, K).reshape(-1, x.shape[1] - K + 1, x.shape[2] - K + 1).swapaxes(1, 2)
          .reshape(x.shape[0] * K * K, -1)),
)  # fmt: skip


def _product(x, rows, K, cols=None):
    cols = _cols(x, K) if cols is None else cols
    return (rows[:, : len(cols)] @ cols).reshape(len(rows), x.shape[1] - K + 1, x.shape[2] - K + 1)


IMPLICIT = (
    Cause("The mask's rows and columns have changed places: k = c K K + p K + q.",
          lambda x, rows, K: _product(x, rows, K, _cols(x, K, "cqp"))),
    Cause("k was taken apart with the map as its fastest index; it is the slowest one, k = c K K + p K + q.",
          lambda x, rows, K: _product(x, rows, K, _cols(x, K, "pqc"))),
    Cause("Only the first tile along k is in the sum.", lambda x, rows, K: _product(x, rows, K, _cols(x, K)[:8])),
    Cause("What remains of C K K beyond whole tiles is missing: round the number of tiles up.",
          lambda x, rows, K: _product(x, rows, K, _cols(x, K)[: rows.shape[1] // 8 * 8])),
    Cause("All weights count as 1. The stored ones must be used.",
          lambda x, rows, K: _product(x, np.ones_like(rows), K)),
)  # fmt: skip


def _c1(x, masks):
    return _conv(x[:, None], masks[:, None])


C1 = (
    Cause("The mask is turned by 180 degrees: here the weight [m, p, q] meets the pixel [h + p, v + q].",
          lambda x, masks: _c1(x, masks[:, ::-1, ::-1])),
    Cause("The mask's rows and columns have changed places.", lambda x, masks: _c1(x, masks.swapaxes(1, 2))),
    Cause("All six maps have the weights of map 0.", lambda x, masks: np.repeat(_c1(x, masks[:1]), 6, axis=1)),
    Cause("All images are image 0: blockIdx.y is the image.",
          lambda x, masks: _c1(np.repeat(x[:1], len(x), axis=0), masks)),
    Cause("Every block has computed the rows of block 0: its first row is 4 blockIdx.x.",
          lambda x, masks: np.tile(_c1(x, masks)[:, :, :4], (1, 1, 7, 1))),
)  # fmt: skip


def _plus(dy, w):
    """Return (C, H, W), sums of dy[m, i + p, j + q] w[m, c, p, q]."""
    K, (M, rows, columns) = w.shape[2], dy.shape
    seen = np.zeros((M, rows + 2 * (K - 1), columns + 2 * (K - 1)), np.float32)
    seen[:, :rows, :columns] = dy
    return _conv(seen, w.swapaxes(0, 1))


def scattered(dy, w):
    """Return (C, H, W), dE/dX of dy (M, H_out, W_out): each output gives its part to the pixels that it saw."""
    (_, C, K, _), (_, rows, columns) = w.shape, dy.shape
    dx = np.zeros((C, rows + K - 1, columns + K - 1), np.float32)
    for p in range(K):
        for q in range(K):
            dx[:, p : p + rows, q : q + columns] += np.einsum("mhv,mc->chv", dy, w[:, :, p, q])
    return dx


GRADIENT = (
    Cause("The mask is turned the wrong way round: with dy[m, h - p, v - q] goes w[m, c, p, q]. The two minus signs "
          "are the turn.", lambda dy, w: scattered(dy, w[:, :, ::-1, ::-1])),
    Cause("The mask's rows and columns have changed places.", lambda dy, w: scattered(dy, w.swapaxes(2, 3))),
    Cause("The outputs that saw pixel (i, j) lie above and left of it, at (i - p, j - q); here they lie below and "
          "right.", _plus),
    Cause("Only output map 0 is in the sum. An input map has served all output maps.",
          lambda dy, w: scattered(dy[:1], w[:1])),
    Cause("All weights count as 1. The stored ones must be used.", lambda dy, w: scattered(dy, np.ones_like(w))),
    Cause("Every input map has the gradient of map 0.",
          lambda dy, w: scattered(dy, np.broadcast_to(w[:, :1], w.shape))),
)  # fmt: skip
