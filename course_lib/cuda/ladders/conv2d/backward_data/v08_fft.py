"""Frequencies are multiplied instead of pixels: forward's v08 with dy for x, and each mask turned by 180 degrees.

With a stride, the rows of dy lie apart, and zeros between them are transformed with them: nothing is saved.

Source: H, "Back-propagation dE/dX for a convolutional layer"; M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of
Convolutional Networks through FFTs".
"""

from dataclasses import replace

from course_lib.cuda.fft import tiles
from course_lib.cuda.fft.plan import data_of, tile_plan
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data


def conv2d_backward_data_v08_fft(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). Rounding: `course_lib.checks.fft_tolerance`. TypeError unless float32
    device arrays; ValueError if one is empty or has gaps, or shapes do not fit. Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    tiles.launch(tile_plan(data_of(replace(n, B=0))), dy, w, None, dx, turned=True)
