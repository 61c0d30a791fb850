"""A block for each weight: its 256 threads share the places, walk over the images, and add up as a tree.

Threads of a warp read neighbouring places: a request brings 32 numbers that are all used, and 256 times as many threads
are there to wait for memory. Load requests fall; dy and x still come once for each weight. Images are the inner loop:
where a place lies, and whether it is in the image, is worked out once for all of them.

Source: H, "Parallelism in a Convolution Layer" (tree reduction); the course's own.
"""

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights, products
from course_lib.cuda.ladders.conv2d.backward_data.seen import whole
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.numba_cuda import cuda, float32


@jit(cache=True)
def _backward_weights_v02(dy, x, dw, lanes, W_out, s_h, s_w, p_h, p_w):
    B, places = dy.shape[0], dy.shape[2]
    C, H, W, K_h, K_w = x.shape[1], x.shape[2], x.shape[3], dw.shape[2], dw.shape[3]
    s = cuda.shared.array(WARPS, float32)
    k = nonneg(cuda.blockIdx.x)
    m, c, p, q = k // (C * K_h * K_w), k // (K_h * K_w) % C, k // K_w % K_h, k % K_w
    total = float32(0)
    team = whole(cuda.threadIdx.x, lanes)  # `lanes` threads share an image, so that small ones keep a block busy too
    for place in range(cuda.threadIdx.x - team * lanes, places, lanes):
        i = whole(place, W_out)
        row, col = i * s_h + p - p_h, (place - i * W_out) * s_w + q - p_w
        if row >= 0 and row < H and col >= 0 and col < W:
            for b in range(team, B, whole(THREADS, lanes)):
                total += dy[nonneg(b), m, nonneg(place)] * x[nonneg(b), c, nonneg(row), nonneg(col)]
    total = block_sum(total, s)
    if cuda.threadIdx.x == 0:
        dw[m, c, p, q] = total


def conv2d_backward_weights_v02_block(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw (M, C, K_h, K_w), db (M,) or None, from dy (B, M, H_out, W_out), x (B, C, H, W), float32 device arrays.

    stride, pad: int or pair (rows, columns). TypeError unless float32 device arrays; ValueError if one is empty or has
    gaps, or shapes do not fit. Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    places = n.H_out * n.W_out
    lanes = next((k for k in (32, 64, 128) if k >= places), THREADS)
    launch = _backward_weights_v02[dw.size, THREADS]
    launch(dy.reshape(n.B, n.M, places), x, dw, lanes, n.W_out, n.s_h, n.s_w, n.p_h, n.p_w)
    bias_gradient(dy, db)


def traffic(n):
    """Return what is counted for Sizes n: two numbers brought for each product, one store and one tree a weight.

    Of the kernel for dw alone. No errors. Source: the course's own.
    """
    weights = n.M * n.depth
    return {
        "global_load_bytes": 8 * products(n),
        "global_store_requests": weights,
        "shared_store_requests": weights * WARPS,
        "barriers": weights * WARPS,
    }
