"""An input tile in shared memory and the masks in constant memory: global loads fall, 8-fold for 3 x 3.

A block stages the pixels that its tile of outputs looks at, once for each input map; then all of the mask's positions
read shared memory. Requests fall 8-fold for masks of 3 x 3 and 20-fold for 5 x 5, as the halo of a tile is loaded too;
shared and constant loads take their place. All threads of a warp want the same weight at the same time, which is what
constant memory serves in one turn. Numba freezes constant arrays into the machine code: other weights are another
kernel, which is compiled when it is first launched. That suits a trained network, not training; the rungs above read
weights from memory.

Source: H, "Strategies for Lab 7", 1 (tiled 2D convolution with masks in constant memory).
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.ladders.conv2d.forward.v01_basic import MOST_BLOCKS, TILE
from course_lib.cuda.numba_cuda import cuda, float32

CONSTANT_BYTES, SHARED_BYTES = 65_536, 49_152
"""What a kernel may have of each."""


@functools.lru_cache(maxsize=8)
def make(frozen, shape, s_h, s_w):
    """Return the kernel for masks of a shape (M, C, K_h, K_w), given as bytes of float32. No errors of its own."""
    MASKS = np.frombuffer(frozen, np.float32).reshape(shape)
    _, C, K_h, K_w = shape
    ROWS, COLS = (TILE - 1) * s_h + K_h, (TILE - 1) * s_w + K_w  # what a tile of outputs looks at

    @jit
    def _conv2d_forward_v02(x, b, biased, p_h, p_w, y):
        masks = cuda.const.array_like(MASKS)
        seen = cuda.shared.array((ROWS, COLS), float32)
        B, _, H, W = x.shape
        H_out, W_out = y.shape[2], y.shape[3]
        tiles_a_row = (W_out + TILE - 1) // TILE
        tiles = (H_out + TILE - 1) // TILE * tiles_a_row
        m = cuda.blockIdx.x
        ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
        for tile in range(cuda.blockIdx.y, tiles, cuda.gridDim.y):
            top, left = tile // tiles_a_row * TILE, tile % tiles_a_row * TILE
            for n in range(cuda.blockIdx.z, B, cuda.gridDim.z):
                acc = float32(0)
                for c in range(C):
                    for i in range(ty, ROWS, TILE):
                        for j in range(tx, COLS, TILE):
                            row, col = top * s_h + i - p_h, left * s_w + j - p_w
                            pixel = float32(0)
                            if 0 <= row < H and 0 <= col < W:
                                pixel = x[n, c, row, col]
                            seen[i, j] = pixel
                    cuda.syncthreads()
                    for p in range(K_h):
                        for q in range(K_w):
                            acc += seen[ty * s_h + p, tx * s_w + q] * masks[m, c, p, q]
                    cuda.syncthreads()  # nobody may overwrite a tile that others still read
                if top + ty < H_out and left + tx < W_out:
                    if biased:
                        acc += b[m]
                    y[n, m, top + ty, left + tx] = acc

    return _conv2d_forward_v02


def conv2d_forward_v02_constant_masks(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    The weights are copied to the host at each call, to see whether there is a kernel for them.

    Errors: TypeError and ValueError as `check_launch`; ValueError if the masks exceed constant memory, 64 KiB, or a
    tile exceeds shared memory. Source: H, "Strategies for Lab 7", 1.
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    tile_bytes = 4 * ((TILE - 1) * s.s_h + s.K_h) * ((TILE - 1) * s.s_w + s.K_w)
    for what, size, most in (("masks", 4 * w.size, CONSTANT_BYTES), ("an input tile", tile_bytes, SHARED_BYTES)):
        if size > most:
            raise ValueError(
                f"w is {tuple(w.shape)}, stride {stride}: {what} take {size} bytes, and there are {most}. "
                "Use conv2d_forward_v04_implicit_gemm."
            )
    kernel = make(gpu.to_host(w).tobytes(), tuple(map(int, w.shape)), s.s_h, s.s_w)
    tiles = -(-s.H_out // TILE) * -(-s.W_out // TILE)
    grid = s.M, min(tiles, MOST_BLOCKS), min(s.B, MOST_BLOCKS)
    kernel[grid, (TILE, TILE)](x, b, biased, s.p_h, s.p_w, y)


def traffic(s):
    """Return what the executor counts for Sizes of whole tiles, stride 1, no padding, with a bias.

    A warp is two rows of a tile. A tile's pixels are fetched in pieces of TILE x TILE, of which the last ones are
    narrow or low.

    No errors. Source: the course's own.
    """
    blocks = s.B * s.M * (s.H_out // TILE) * (s.W_out // TILE)
    warps = blocks * TILE * TILE // 32
    rows, columns = TILE - 1 + s.K_h, TILE - 1 + s.K_w
    # Warps that take part in fetching, for each piece of TILE columns; a warp holds the rows ty and ty + 1.
    pieces = sum(-(-min(TILE, rows - i) // 2) for i in range(0, rows, TILE)) * -(-columns // TILE)
    return {
        "global_load_requests": blocks * s.C * pieces + warps,
        "global_load_bytes": 4 * blocks * s.C * rows * columns + 4 * warps,
        "global_store_requests": warps,
        "shared_load_requests": warps * s.depth,
        "constant_load_requests": warps * s.depth,
        "constant_load_wavefronts": warps * s.depth,
        "flops": s.B * s.M * s.H_out * s.W_out * (2 * s.depth + 1),
    }
