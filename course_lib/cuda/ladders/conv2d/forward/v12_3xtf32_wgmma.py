"""Hopper's tensor cores for v10's idea: all mask rows and maps are columns of one product, which four warps make.

Here: the checks and the layers that it suits. The kernel, which the gradient for the input shares, is in
`ladders.conv2d.forward.wgmma_rows`.

Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions"; H, "Specialization for the LeNet-5 C1
Layer".
"""


from course_lib.cuda.capability import has_hopper
from course_lib.cuda.ladders.conv2d.forward import v10_3xtf32_rows, wgmma_rows
from course_lib.cuda.ladders.conv2d.forward.planned import launch_planned
from course_lib.cuda.ladders.conv2d.forward.v10_3xtf32_rows import conv2d_forward_v10_3xtf32_rows
from course_lib.cuda.ladders.conv2d.forward.wgmma_plan import plan_wgmma

LEAST_ROWS = 7
"""Mask rows from which on it is taken. A pixel is loaded and split once for K_h rows of results: with 16 maps and 7
rows, an H200 is 2.1 times as fast as by v06, and with 5 rows a little slower."""


def made_for(s):
    """Return the WgmmaPlan for a layer of Sizes with B = 0 that this rung is made for, or None. No errors.

    Source: the course's own.
    """
    return plan_wgmma(s) if s.K_h >= LEAST_ROWS else None


def conv2d_forward_v12_3xtf32_wgmma(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Cards of another compute capability than 9.0, and layers that `plan_wgmma` has no plan for (masks of fewer than 5 or
    more than 7 columns, strides, more than 256 columns of a product, many input maps), are v10's work. What is infinite
    or NaN in x or w gives NaN in y, and may do so in the other columns of a place that sees it.

    Errors: TypeError and ValueError as `check_launch`; DeviceError as v10.

    Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    launch_planned(x, w, b, y, stride, pad, plan_of=plan_wgmma, launch=launch,
                   otherwise=conv2d_forward_v10_3xtf32_rows, here=has_hopper())  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Launch a WgmmaPlan on checked arrays (...). No errors. Source: the course's own."""
    wgmma_rows.launch(plan, x, w, b if biased else None, y)


traffic = v10_3xtf32_rows.traffic
"""What the SIMT executor counts is v10's work: it has no wgmma."""
