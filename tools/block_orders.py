"""H's basic convolution kernel with its grid turned: which axis of the grid counts maps, tiles and images.

Blocks start in the order of their numbers, X fastest. So the axis that lies in X decides which blocks run side by side,
and which of them find in a cache what another has loaded. `ORDERS` names the axes from X to Z; the first one is H's.

Source: H, "Design of a Basic Kernel", "Observations": the order of blocks should give cache benefits.
"""

import functools
import itertools

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.ladders.conv2d.forward.v01_basic import TILE
from course_lib.cuda.numba_cuda import cuda, float32

AXES = ("maps", "tiles", "images")
ORDERS = tuple(itertools.permutations(AXES))
"""All six, as (X, Y, Z)."""

MOST_IN_Y_AND_Z = 65_535


@functools.cache
def make(order):
    """Return the kernel for one of `ORDERS`: v01's text, with other axes, and one tile and image for each block."""
    MAP, TILE_AT, IMAGE = (order.index(axis) for axis in AXES)

    @jit
    def _conv2d_forward_ordered(x, w, s_h, s_w, p_h, p_w, y):
        _, C, H, W = x.shape
        K_h, K_w = w.shape[2], w.shape[3]
        H_out, W_out = y.shape[2], y.shape[3]
        block = (cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z)
        m, tile, n = block[MAP], block[TILE_AT], block[IMAGE]
        tiles_a_row = (W_out + TILE - 1) // TILE
        h = tile // tiles_a_row * TILE + cuda.threadIdx.y
        v = tile % tiles_a_row * TILE + cuda.threadIdx.x
        if h < H_out and v < W_out:
            acc = float32(0)
            for c in range(C):
                for p in range(K_h):
                    for q in range(K_w):
                        row, col = h * s_h + p - p_h, v * s_w + q - p_w
                        if 0 <= row < H and 0 <= col < W:
                            acc += x[n, c, row, col] * w[m, c, p, q]
            y[n, m, h, v] = acc

    return _conv2d_forward_ordered


def conv2d_forward_ordered(order, x, w, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w) into y (B, M, H_out, W_out), blocks in one of `ORDERS`.

    Errors: TypeError and ValueError as `check_launch`; ValueError for another order, or more than 65,535 blocks in Y
    or Z. Source: H, "Design of a Basic Kernel".
    """
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}; it must be one of {ORDERS}, the axes of the grid from X to Z.")
    x, w, _, y, s = check_launch(x, w, None, y, stride, pad)
    blocks = {"maps": s.M, "tiles": -(-s.H_out // TILE) * -(-s.W_out // TILE), "images": s.B}
    grid = tuple(blocks[axis] for axis in order)
    if max(grid[1:]) > MOST_IN_Y_AND_Z:
        raise ValueError(
            f"the grid would be {grid}; Y and Z take at most {MOST_IN_Y_AND_Z:,} blocks. Take fewer images."
        )
    make(order)[grid, (TILE, TILE)](x, w, s.s_h, s.s_w, s.p_h, s.p_w, y)


def name_of(order):
    """Return ("maps", "tiles", "images") as "maps, tiles, images". No errors."""
    return ", ".join(order)
