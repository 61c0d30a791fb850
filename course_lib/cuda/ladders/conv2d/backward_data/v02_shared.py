"""A block brings the patch of dy that its tile of pixels needs, and one mask, into shared memory, map by map.

Pixels of a tile share most of the outputs that saw them: a number of dy is brought once a block, not K_h K_w times.
Global loads fall by about that factor; shared memory serves the rest.

Source: H, "Strategies for Lab 7" and "Reuse in 2D Tiled Convolution".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16
THREADS = TILE * TILE


@jit(cache=True)
def _backward_data_v02(dy, w, dx, s_h, s_w, p_h, p_w, patch_h, patch_w):
    M, H_out, W_out = dy.shape[1], dy.shape[2], dy.shape[3]
    H, W, K_h, K_w = dx.shape[2], dx.shape[3], w.shape[2], w.shape[3]
    s = cuda.shared.array(0, float32)  # the patch of dy, then the mask
    patch = patch_h * patch_w
    W_grid = (W + TILE - 1) // TILE
    b, c = cuda.blockIdx.x, cuda.blockIdx.y
    t = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    h0, v0 = cuda.blockIdx.z // W_grid * TILE, cuda.blockIdx.z % W_grid * TILE
    h, v = h0 + cuda.threadIdx.y, v0 + cuda.threadIdx.x
    i0 = max(0, h0 + p_h - K_h + s_h) // s_h  # the first output that saw a row of this tile
    j0 = max(0, v0 + p_w - K_w + s_w) // s_w
    total = float32(0)
    for m in range(M):
        for k in range(t, patch, THREADS):
            i, j = i0 + k // patch_w, j0 + k % patch_w
            s[k] = dy[b, m, i, j] if i < H_out and j < W_out else float32(0)
        for k in range(t, K_h * K_w, THREADS):
            s[patch + k] = w[m, c, k // K_w, k % K_w]
        cuda.syncthreads()
        if h < H and v < W:
            for p in range(K_h):
                row = h + p_h - p
                if row >= 0 and row % s_h == 0:
                    for q in range(K_w):
                        col = v + p_w - q
                        if col >= 0 and col % s_w == 0:
                            seen = s[(row // s_h - i0) * patch_w + col // s_w - j0]
                            total += seen * s[patch + p * K_w + q]
        cuda.syncthreads()
    if h < H and v < W:
        dx[b, c, h, v] = total


def _patch(n):
    """Rows and columns of dy that a tile can need: multiples of the stride among TILE + K - 1 numbers."""
    return (TILE + n.K_h - 2) // n.s_h + 1, (TILE + n.K_w - 2) // n.s_w + 1


def conv2d_backward_data_v02_shared(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). A pixel that no window saw gets 0. TypeError unless float32 device arrays;
    ValueError if one is empty or has gaps, or shapes do not fit. Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    patch_h, patch_w = _patch(n)
    tiles = -(-n.H // TILE) * -(-n.W // TILE)
    shared = 4 * (patch_h * patch_w + n.K_h * n.K_w)
    launch = _backward_data_v02[(n.B, n.C, tiles), (TILE, TILE), 0, shared]
    launch(dy, w, dx, n.s_h, n.s_w, n.p_h, n.p_w, patch_h, patch_w)


def traffic(n):
    """Return what is counted for Sizes n: each tile brings its patch of each map, and M masks; one store a pixel.

    No errors. Source: the course's own.
    """
    patch_h, patch_w = _patch(n)
    rows = _brought(n.H, n.K_h, n.H_out, n.s_h, n.p_h, patch_h)
    columns = _brought(n.W, n.K_w, n.W_out, n.s_w, n.p_w, patch_w)
    masks = -(-n.H // TILE) * -(-n.W // TILE) * n.K_h * n.K_w
    return {
        "global_load_bytes": 4 * n.B * n.C * n.M * (rows * columns + masks),
        "global_store_bytes": 4 * n.B * n.C * n.H * n.W,
        "barriers": n.B * n.C * -(-n.H // TILE) * -(-n.W // TILE) * n.M * 2 * (THREADS // 32),
    }


def _brought(size, mask, places, stride, pad, patch):
    """Along one axis, over all tiles: outputs of a patch that exist."""
    firsts = (max(0, first + pad - mask + stride) // stride for first in range(0, size, TILE))
    return sum(max(0, min(places, first + patch) - first) for first in firsts)
