"""Which inputs a convolution takes: shared by its three forms.

Source: H and K for the letters: x (B, C, H, W), w (M, C, K_h, K_w), y (B, M, H_out, W_out).
"""

from course_lib.reference.conv_sizes import output_size, pair
from course_lib.validate import as_float


def check_conv2d(x, w, b, stride, pad):
    """Return (x, w, b, stride pair, pad pair, (H_out, W_out)), checked.

    Raises
    ------
    TypeError
        If values are not real numbers, or sizes not whole numbers.
    ValueError
        If axes, channels or sizes do not fit; the message gives the computed size and the fix.
    """
    x, w = as_float("x", x, ndim=4, min_rows=1), as_float("w", w, ndim=4)
    stride, pad = pair(stride, "stride"), pair(pad, "pad", minimum=0)
    if x.shape[1] != w.shape[1]:
        raise ValueError(
            f"x is {x.shape}, {x.shape[1]} maps an image, and w is {w.shape}, masks for {w.shape[1]}; "
            f"x.shape[1] must equal w.shape[1]. w is (M, C, K_h, K_w): output maps first."
        )
    if w.shape[0] == 0 or w.shape[1] == 0:
        raise ValueError(f"w is {w.shape}; a convolution needs at least one input map and one output map.")
    if b is not None:
        b = as_float("b", b, ndim=1)
        if b.shape[0] != w.shape[0]:
            raise ValueError(
                f"w is {w.shape} and b is {b.shape}; b must hold one number for each output map, w.shape[0]."
            )
    H_out = output_size(x.shape[2], w.shape[2], stride[0], pad[0], name="H")
    W_out = output_size(x.shape[3], w.shape[3], stride[1], pad[1], name="W")
    return x, w, b, stride, pad, (H_out, W_out)


def check_upstream(dy, x_shape, w_shape, stride, pad):
    """Return dy as floats; raise ValueError unless it has the shape of the forward pass's output."""
    dy = as_float("dy", dy, ndim=4)
    H_out = output_size(x_shape[2], w_shape[2], stride[0], pad[0], name="H")
    W_out = output_size(x_shape[3], w_shape[3], stride[1], pad[1], name="W")
    expected = (x_shape[0], w_shape[0], H_out, W_out)
    if dy.shape != expected:
        raise ValueError(f"dy is {dy.shape}; it must have the shape of y, {expected}.")
    return dy
