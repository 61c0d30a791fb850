"""One thread for each pixel asks which outputs saw it, and adds up what they send back: no atomics.

H's listing goes the other way, from each output to the pixels under its mask, and two outputs then add to one pixel at
once. Turned round, every pixel has one owner: output row i saw row h through mask row p if i S + p = h + P. Those that
did are a small rectangle of outputs: its corners take four divisions a thread, and inside of it there is nothing to
ask. The grid's X is the image and its tile of 16 x 16 pixels, Y the input map: H's forward kernel has the map along X,
the tile along Y and the image along Z, but X alone takes more than 65,535 blocks.

Source: H, "Calculating dE/dX", "Back-propagation dE/dX for a convolutional layer" and "Design of a Basic Kernel".
"""

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data, products
from course_lib.cuda.ladders.conv2d.backward_data.seen import TILE, first_and_last, image_and_corner, tiles_of
from course_lib.cuda.numba_cuda import cuda, float32


@jit(cache=True)
def _backward_data_v01(dy, w, dx, s_h, s_w, p_h, p_w):
    M, H_out, W_out = dy.shape[1], dy.shape[2], dy.shape[3]
    H, W, K_h, K_w = dx.shape[2], dx.shape[3], w.shape[2], w.shape[3]
    b, h0, v0 = image_and_corner(H, W)
    b, c = nonneg(b), nonneg(cuda.blockIdx.y)
    h, v = nonneg(h0 + cuda.threadIdx.y), nonneg(v0 + cuda.threadIdx.x)
    if h < H and v < W:
        first_i, last_i = first_and_last(h + p_h, K_h, s_h)
        first_j, last_j = first_and_last(v + p_w, K_w, s_w)
        first_i, end_i = max(0, first_i), min(H_out, last_i + 1)
        first_j, end_j = max(0, first_j), min(W_out, last_j + 1)
        total = float32(0)
        for m in range(M):
            for i in range(first_i, end_i):
                p, q = h + p_h - i * s_h, v + p_w - first_j * s_w
                for j in range(first_j, end_j):
                    total += dy[b, m, nonneg(i), nonneg(j)] * w[m, c, nonneg(p), nonneg(q)]
                    q -= s_w
        dx[b, c, h, v] = total


def conv2d_backward_data_v01_basic(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx[n, c, h, v] = sum of dy[n, m, i, j] w[m, c, p, q] over all with i S + p = h + P and j S + q = v + P.

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
    _backward_data_v01[(n.B * tiles_of(n.H, n.W), n.C), (TILE, TILE)](dy, w, dx, n.s_h, n.s_w, n.p_h, n.p_w)


def traffic(n):
    """Return what is counted for Sizes n: a multiply-add for each product of the forward pass, one store a pixel.

    No errors. Source: the course's own.
    """
    return {"flops": 2 * products(n), "global_store_bytes": 4 * n.B * n.C * n.H * n.W, "shared_load_requests": 0}
