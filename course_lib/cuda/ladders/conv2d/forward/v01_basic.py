"""A thread computes one pixel of one output map, straight from global memory. The loads are what to count.

The grid is the lecture's: X is the output map, Y the tile of output pixels, Z the image. Every product loads a pixel
and a weight, and nothing is kept: an input tile is loaded M times, by M blocks.

Source: H, "Design of a Basic Kernel", "Partial Kernel Code for a Convolution Layer".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16
"""TILE_WIDTH in the lecture: a block computes TILE x TILE pixels."""

MOST_BLOCKS = 65_535
"""Along the grid's Y and Z; with more tiles or images, a block takes every 65,535th."""


@jit(cache=True)
def _conv2d_forward_v01(x, w, b, biased, s_h, s_w, p_h, p_w, y):
    B, C, H, W = x.shape
    K_h, K_w = w.shape[2], w.shape[3]
    H_out, W_out = y.shape[2], y.shape[3]
    tiles_a_row = (W_out + TILE - 1) // TILE
    tiles = (H_out + TILE - 1) // TILE * tiles_a_row
    m = cuda.blockIdx.x
    for tile in range(cuda.blockIdx.y, tiles, cuda.gridDim.y):
        h = tile // tiles_a_row * TILE + cuda.threadIdx.y
        v = tile % tiles_a_row * TILE + cuda.threadIdx.x
        if h < H_out and v < W_out:
            for n in range(cuda.blockIdx.z, B, cuda.gridDim.z):
                acc = float32(0)
                for c in range(C):
                    for p in range(K_h):
                        for q in range(K_w):
                            row, col = h * s_h + p - p_h, v * s_w + q - p_w
                            if 0 <= row < H and 0 <= col < W:  # outside lies the padding: zeros
                                acc += x[n, c, row, col] * w[m, c, p, q]
                if biased:
                    acc += b[m]
                y[n, m, h, v] = acc


def conv2d_forward_v01_basic(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Host Code for a Basic Kernel".
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    tiles = -(-s.H_out // TILE) * -(-s.W_out // TILE)
    grid = s.M, min(tiles, MOST_BLOCKS), min(s.B, MOST_BLOCKS)
    _conv2d_forward_v01[grid, (TILE, TILE)](x, w, b, biased, s.s_h, s.s_w, s.p_h, s.p_w, y)


def traffic(s):
    """Return what the executor counts for Sizes of whole tiles without padding, with a bias.

    A warp is two rows of a tile. At each product it asks for its pixels, and all its lanes for the same weight.

    No errors. Source: the course's own.
    """
    warps = s.B * s.M * s.H_out * s.W_out // 32
    return {
        "global_load_requests": warps * (2 * s.depth + 1),
        "global_store_requests": warps,
        "global_store_bytes": warps * 128,
        "shared_load_requests": 0,
        "flops": s.B * s.M * s.H_out * s.W_out * (2 * s.depth + 1),
    }
