"""One thread for each weight walks over all images and places: H's listing with its four outer loops as threads.

No two threads write the same number, so there is nothing to make atomic. There are only M C K_h K_w threads, though,
2,400 in LeNet-5's C3: most of a card sleeps, and every load of dy and x is made for one multiply-add.

Source: H, "Calculating dE/dW" and "What is dE/dW for a conv layer?".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights, products
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient
from course_lib.cuda.numba_cuda import cuda, float32

THREADS = 64


@jit(cache=True)
def _backward_weights_v01(dy, x, dw, s_h, s_w, p_h, p_w):
    B, H_out, W_out = dy.shape[0], dy.shape[2], dy.shape[3]
    C, H, W, K_h, K_w = x.shape[1], x.shape[2], x.shape[3], dw.shape[2], dw.shape[3]
    k = cuda.grid(1)
    if k < dw.size:
        m, c, p, q = k // (C * K_h * K_w), k // (K_h * K_w) % C, k // K_w % K_h, k % K_w
        total = float32(0)
        for b in range(B):
            for i in range(H_out):
                row = i * s_h + p - p_h
                if row >= 0 and row < H:
                    for j in range(W_out):
                        col = j * s_w + q - p_w
                        if col >= 0 and col < W:
                            total += dy[b, m, i, j] * x[b, c, row, col]
        dw[m, c, p, q] = total


def conv2d_backward_weights_v01_basic(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw[m, c, p, q] = sum of dy[n, m, i, j] x[n, c, i S + p - P, j S + q - P]; db[m] = sum of dy[n, m, i, j].

    Parameters
    ----------
    dy : (B, M, H_out, W_out) float32 device array
        dE/dy.
    x : (B, C, H, W) float32 device array
        What the forward pass got.
    dw : (M, C, K_h, K_w) float32 device array
        dE/dw, written.
    db : (M,) float32 device array or None
        dE/db, written.
    stride, pad : int or pair (rows, columns)

    Raises
    ------
    TypeError
        If one is not a float32 device array.
    ValueError
        If one is empty or has gaps, or shapes do not fit.

    Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    _backward_weights_v01[-(-dw.size // THREADS), THREADS](dy, x, dw, n.s_h, n.s_w, n.p_h, n.p_w)
    bias_gradient(dy, db)


def traffic(n):
    """Return what is counted for Sizes n: a multiply-add for each product of the forward pass, one store a weight.

    Of the kernel for dw alone. No errors. Source: the course's own.
    """
    return {"flops": 2 * products(n), "global_store_bytes": 4 * n.M * n.depth, "shared_load_requests": 0}
