"""Frequencies are multiplied instead of pixels, and added up over all images before one transform back.

With a stride, the rows of dy lie apart, and zeros between them are transformed with them: nothing is saved.

Source: H, "Calculating dE/dW"; M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through
FFTs".
"""

from dataclasses import replace

from course_lib.cuda.fft import weights
from course_lib.cuda.fft.plan import weight_plan
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient


def conv2d_backward_weights_v08_fft(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw (M, C, K_h, K_w), db (M,) or None, from dy (B, M, H_out, W_out), x (B, C, H, W), float32 device arrays.

    stride, pad: int or pair (rows, columns). Rounding: `course_lib.checks.fft_tolerance`. TypeError unless float32
    device arrays; ValueError if one is empty or has gaps, or shapes do not fit. Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    weights.launch(weight_plan(replace(n, B=0)), dy, x, dw)
    bias_gradient(dy, db)
