"""One thread for each pixel asks which outputs saw it, and adds up what they send back: no atomics.

H's listing goes the other way, from each output to the pixels under its mask, and two outputs then add to one pixel at
once. Turned round, every pixel has one owner: output row o saw row h through mask row p if o S + p = h + P. Blocks are
laid out as H's forward kernel, images along X instead of Z, since X takes the most.

Source: H, "Calculating dE/dX", "Back-propagation dE/dX for a convolutional layer" and "Design of a Basic Kernel".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data, products
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16


@jit(cache=True)
def _backward_data_v01(dy, w, dx, s_h, s_w, p_h, p_w):
    M, H_out, W_out = dy.shape[1], dy.shape[2], dy.shape[3]
    H, W, K_h, K_w = dx.shape[2], dx.shape[3], w.shape[2], w.shape[3]
    W_grid = (W + TILE - 1) // TILE
    b, c = cuda.blockIdx.x, cuda.blockIdx.y
    h = cuda.blockIdx.z // W_grid * TILE + cuda.threadIdx.y
    v = cuda.blockIdx.z % W_grid * TILE + cuda.threadIdx.x
    if h < H and v < W:
        total = float32(0)
        for m in range(M):
            for p in range(K_h):
                row = h + p_h - p  # where the window of a seeing output begins
                if row >= 0 and row % s_h == 0 and row // s_h < H_out:
                    for q in range(K_w):
                        col = v + p_w - q
                        if col >= 0 and col % s_w == 0 and col // s_w < W_out:
                            total += dy[b, m, row // s_h, col // s_w] * w[m, c, p, q]
        dx[b, c, h, v] = total


def conv2d_backward_data_v01_basic(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx[b, c, h, v] = sum of dy[b, m, i, j] w[m, c, p, q] over all with i S + p = h + P and j S + q = v + P.

    Parameters
    ----------
    dy : (B, M, H_out, W_out) float32 device array
        dE/dy.
    w : (M, C, K_h, K_w) float32 device array
    dx : (B, C, H, W) float32 device array
        dE/dx, written. A pixel that no window saw gets 0.
    stride, pad : int or pair (rows, columns)

    Raises
    ------
    TypeError
        If one is not a float32 device array.
    ValueError
        If one is empty or has gaps, or shapes do not fit.

    Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    tiles = -(-n.H // TILE) * -(-n.W // TILE)
    _backward_data_v01[(n.B, n.C, tiles), (TILE, TILE)](dy, w, dx, n.s_h, n.s_w, n.p_h, n.p_w)


def traffic(n):
    """Return what is counted for Sizes n: a multiply-add for each product of the forward pass, one store a pixel.

    No errors. Source: the course's own.
    """
    return {"flops": 2 * products(n), "global_store_bytes": 4 * n.B * n.C * n.H * n.W, "shared_load_requests": 0}
