"""The ladder of the gradient for the masks of a convolution: dw from dy and x, and db. No rung uses atomics.

Numbers are forward's: v06 is the specialised kernel in all three ladders, v08 multiplies frequencies; there is no
v04, v05 and v07 here, and nothing on tensor cores: v06 is faster than what was tried.

Source: H, "Calculating dE/dW".
"""

from course_lib.cuda.ladders.conv2d.backward_weights import (
    v01_basic,
    v02_block,
    v03_product,
    v06_specialised,
    v08_fft,
)
from course_lib.cuda.ladders.rung import Rung

LADDER = (
    Rung(
        "v01_basic",
        v01_basic.conv2d_backward_weights_v01_basic,
        "H's listing with its four outer loops as threads: one for each weight.",
        "two global loads for each multiply-add, few threads",
        v01_basic.traffic,
    ),
    Rung(
        "v02_block",
        v02_block.conv2d_backward_weights_v02_block,
        "A block for each weight; its threads share the places and add up as a tree.",
        "global load requests fall, since neighbours read neighbours",
        v02_block.traffic,
        ffma_share=0.12,
    ),
    Rung(
        "v03_product",
        v03_product.conv2d_backward_weights_v03_product,
        "im2col, then a tiled matrix product over images and places, in parts.",
        "global load bytes fall by 16; global stores grow by the unrolled images",
        v03_product.traffic,
        ffma_share=0.18,
    ),
    Rung(
        "v06_specialised",
        v06_specialised.conv2d_backward_weights_v06_specialised,
        "Made for one shape: a mask row for several pairs of maps stays in registers over all images.",
        "shared load requests fall by about 30; global loads are x and dy once a block that needs them",
        v06_specialised.traffic,
        least_cc=(8, 0),
        ffma_share=0.85,
    ),
    Rung(
        "v08_fft",
        v08_fft.conv2d_backward_weights_v08_fft,
        "Frequencies are multiplied instead of pixels, and added up over all images before one transform back.",
        "flops fall for large masks; shared memory only turns tiles",
        ffma_share=0.1,
        widths=("LDS.64",),
        exact=False,
    ),
)
"""The rungs, lowest first: the only index."""
