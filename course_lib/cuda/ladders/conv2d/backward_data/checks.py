"""What the backward kernels of a convolution ask of their arrays, and how many products they have.

Source: H for the letters: x (B, C, H, W), w (M, C, K_h, K_w), y (B, M, H_out, W_out).
"""

from course_lib.cuda.ladders.conv2d.forward.checks import Sizes, countable
from course_lib.cuda.operands import operand
from course_lib.reference.conv_sizes import output_size, pair


def products(n):
    """Return how many products x w the forward pass with Sizes n has, those with a zero of the padding left out.

    No errors. Source: the course's own.
    """
    rows = met(n.H, n.K_h, n.H_out, n.s_h, n.p_h)
    return n.B * n.M * n.C * rows * met(n.W, n.K_w, n.W_out, n.s_w, n.p_w)


def met(size, mask, places, stride, pad):
    """Return, along one axis, how many pairs of a place and a mask position meet inside of the image. No errors."""
    return sum(0 <= o * stride + k - pad < size for o in range(places) for k in range(mask))


def sizes_of(x_shape, w_shape, stride=1, pad=0):
    """Return the Sizes of a convolution of x (B, C, H, W) with w (M, C, K_h, K_w).

    Raises
    ------
    TypeError
        If stride or pad are not whole numbers.
    ValueError
        If channels differ, or the mask fits nowhere.

    Source: K, "Convolution Layer: Spatial Transformations".
    """
    (s_h, s_w), (p_h, p_w) = pair(stride, "stride"), pair(pad, "pad", minimum=0)
    (B, C, H, W), (M, maps, K_h, K_w) = map(int, x_shape), map(int, w_shape)
    if maps != C:
        raise ValueError(
            f"an image has {C} maps, its shape is {tuple(x_shape)}, and w is {tuple(w_shape)}, masks for {maps}; "
            f"w.shape[1] must be {C}. w is (M, C, K_h, K_w): output maps first."
        )
    H_out, W_out = output_size(H, K_h, s_h, p_h, name="H"), output_size(W, K_w, s_w, p_w, name="W")
    return Sizes(B, C, H, W, M, K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out)


def check_backward_data(dy, w, dx, stride, pad):
    """Return (dy, w, dx, Sizes) for dy (B, M, H_out, W_out), w (M, C, K_h, K_w), dx (B, C, H, W).

    Raises
    ------
    TypeError
        If one is not a float32 device array.
    ValueError
        If one is empty or has gaps, shapes do not fit, or as forward's `countable`.

    Source: the course's own.
    """
    w, dx = operand("w", w, ndim=4), operand("dx", dx, ndim=4)
    n = countable(sizes_of(dx.shape, w.shape, stride, pad))
    return operand("dy", dy, shape=(n.B, n.M, n.H_out, n.W_out)), w, dx, n


def check_backward_weights(dy, x, dw, db, stride, pad):
    """Return (dy, x, dw, db, Sizes) for dy (B, M, H_out, W_out), x (B, C, H, W), dw (M, C, K_h, K_w), db (M,) or None.

    Raises
    ------
    TypeError
        If one is not a float32 device array.
    ValueError
        If one is empty or has gaps, shapes do not fit, or as forward's `countable`.

    Source: the course's own.
    """
    x, dw = operand("x", x, ndim=4), operand("dw", dw, ndim=4)
    n = countable(sizes_of(x.shape, dw.shape, stride, pad))
    db = None if db is None else operand("db", db, shape=(n.M,))
    return operand("dy", dy, shape=(n.B, n.M, n.H_out, n.W_out)), x, dw, db, n
