"""The gradient for the input by Hopper's tensor cores: forward's v12 on dy, with masks that are turned round.

    dx[c, h, v]  =  sum over m, p, q of  w[m, c, K_h - 1 - p, K_w - 1 - q] dy[m, h + p - P_h, v + q - P_w]

is a convolution of dy, padded by P = K - 1 - pad, with as many input maps as forward has output maps.
2 columns of dx share a place, so that 4 input maps and 7 mask rows are 56 columns of the product.

Source: H, "Back-propagation dE/dX for a convolutional layer"; NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix
Instructions".
"""

from dataclasses import replace

from course_lib.cuda.capability import has_hopper
from course_lib.cuda.ladders.conv2d.backward_data import v06_specialised
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data
from course_lib.cuda.ladders.conv2d.backward_data.v06_specialised import conv2d_backward_data_v06_specialised
from course_lib.cuda.ladders.conv2d.forward import wgmma_rows
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes
from course_lib.cuda.ladders.conv2d.forward.wgmma_plan import plan_wgmma
from course_lib.cuda.operands import aligned


def turned(n):
    """Return the Sizes of the convolution of dy that gives dx, or None: strides, or padding beyond the masks.

    n : Sizes
        Of the forward pass.

    No errors. Source: H, "Back-propagation dE/dX for a convolutional layer".
    """
    p_h, p_w = n.K_h - 1 - n.p_h, n.K_w - 1 - n.p_w
    if (n.s_h, n.s_w) != (1, 1) or min(p_h, p_w) < 0:
        return None
    return Sizes(n.B, n.M, n.H_out, n.W_out, n.C, n.K_h, n.K_w, 1, 1, p_h, p_w, n.H, n.W)


def plan_data(n):
    """Return the WgmmaPlan for the gradient of Sizes n, or None where nothing fits. No errors."""
    s = turned(replace(n, B=0))
    return None if s is None else plan_wgmma(s)


made_for = plan_data
"""Sizes of the forward pass -> the plan for a gradient that this rung is made for, or None."""


def conv2d_backward_data_v11_3xtf32_wgmma(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). Cards of another compute capability than 9.0, another stride than 1, and
    what `plan_wgmma` has no plan for, are v06's work. What is infinite or NaN in dy or w gives NaN in dx, and may do so
    in the other columns of a place that sees it.

    TypeError unless float32 device arrays; ValueError if one is empty or has gaps, or shapes do not fit.
    Source: H, "Calculating dE/dX".
    """
    if has_hopper():
        on_dy, on_w, on_dx, n = check_backward_data(dy, w, dx, stride, pad)
        plan = plan_data(n)
        if plan is not None and aligned(on_dy, on_dx):
            launch(plan, on_dy, on_w, on_dx)
            return
    conv2d_backward_data_v06_specialised(dy, w, dx, stride, pad)


def launch(plan, dy, w, dx):
    """Launch a WgmmaPlan on checked arrays (...). No errors. Source: the course's own."""
    wgmma_rows.launch(plan, dy, w, None, dx, turned=True)


traffic = v06_specialised.traffic
"""What the SIMT executor counts is v06's work: it has no wgmma."""
