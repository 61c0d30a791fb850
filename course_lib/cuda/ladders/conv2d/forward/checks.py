"""What all rungs of the forward ladder share: the checks, the sizes, and a bias that may be missing.

Source: H and K for the letters: x (B, C, H, W), w (M, C, K_h, K_w), y (B, M, H_out, W_out).
"""

from dataclasses import dataclass

from course_lib.cuda.operands import operand
from course_lib.reference.conv_sizes import output_size, pair

MOST = 2**31
"""Elements of an array: the kernels count them with 32 bits at places."""


@dataclass(frozen=True)
class Sizes:
    """All sizes of one convolution; s is the stride, p the padding. Source: H and K, as above."""

    B: int
    C: int
    H: int
    W: int
    M: int
    K_h: int
    K_w: int
    s_h: int
    s_w: int
    p_h: int
    p_w: int
    H_out: int
    W_out: int

    @property
    def depth(self):
        """Products in one output: C K_h K_w. No errors."""
        return self.C * self.K_h * self.K_w


def check_conv2d(x, w, b, stride, pad):
    """Return (x, w, b, Sizes) of a convolution of device arrays.

    Raises
    ------
    TypeError
        If one of them is not a float32 device array, or sizes are not whole numbers.
    ValueError
        If one is empty or has gaps, if channels differ, if the mask fits nowhere, or as `countable`.

    Source: the course's own.
    """
    x, w = operand("x", x, ndim=4, empty=True), operand("w", w, ndim=4, empty=True)
    pair(stride, "stride"), pair(pad, "pad", minimum=0)
    B, C, H, W = map(int, x.shape)
    M = int(w.shape[0])
    if B == 0:
        raise ValueError(
            f"x has shape {(B, C, H, W)}: the batch is empty; it needs at least 1 row(s). "
            "Check the slice or the filter that made it."
        )
    if w.shape[1] != C:
        raise ValueError(
            f"x is {(B, C, H, W)}, {C} maps an image, and w is {tuple(w.shape)}, masks for {w.shape[1]}; "
            f"x.shape[1] must equal w.shape[1]. w is (M, C, K_h, K_w): output maps first."
        )
    if M == 0 or C == 0:
        raise ValueError(f"w is {tuple(w.shape)}; a convolution needs at least one input map and one output map.")
    if b is not None:
        b = operand("b", b, ndim=1)
        if b.shape[0] != M:
            raise ValueError(
                f"w is {tuple(w.shape)} and b is {tuple(b.shape)}; b must hold one number for each output map, "
                "w.shape[0]."
            )
    return x, w, b, countable(sizes_of(x.shape, w.shape, stride, pad))


def sizes_of(x_shape, w_shape, stride=1, pad=0):
    """Return the Sizes of a convolution of x (B, C, H, W) with w (M, C, K_h, K_w), from their shapes.

    Errors: TypeError and ValueError as `output_size` and `pair`. Source: H and K for the letters.
    """
    (s_h, s_w), (p_h, p_w) = pair(stride, "stride"), pair(pad, "pad", minimum=0)
    B, C, H, W = map(int, x_shape)
    M, _, K_h, K_w = map(int, w_shape)
    H_out, W_out = output_size(H, K_h, s_h, p_h, name="H"), output_size(W, K_w, s_w, p_w, name="W")
    return Sizes(B, C, H, W, M, K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out)


def countable(s):
    """Return Sizes s of a convolution, forward or backward, whose images kernels can count through.

    Raises
    ------
    ValueError
        If x, with its padding, or y has `MOST` elements or more; their gradients have as many.

    Source: the course's own.
    """
    padded = s.B * s.C * (s.H + 2 * s.p_h) * (s.W + 2 * s.p_w)
    for name, count in (("x", padded), ("y", s.B * s.M * s.H_out * s.W_out)):
        if count >= MOST:
            raise ValueError(
                f"{name} has {count} elements with its padding; kernels take fewer than {MOST}. Split the batch."
            )
    return s


def check_launch(x, w, b, y, stride, pad):
    """Return (x, w, b, y, Sizes), y (B, M, H_out, W_out); TypeError and ValueError as `check_conv2d`.

    Where there is no bias, b comes back as w, flat: a kernel needs an array there, and is told not to read it.

    Source: the course's own.
    """
    x, w, b, s = check_conv2d(x, w, b, stride, pad)
    y = operand("y", y, shape=(s.B, s.M, s.H_out, s.W_out))
    return x, w, w.reshape(w.size) if b is None else b, y, s
