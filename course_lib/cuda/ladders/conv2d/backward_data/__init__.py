"""The ladder of the gradient for the input of a convolution: dx from dy and the masks. No rung uses atomics.

Numbers are forward's: v06 is the specialised kernel in all three ladders, v08 multiplies frequencies, and v11 is
forward's v12, on Hopper's tensor cores; there is no v04, v05, v07, v09 and v10 here.

Source: H, "Calculating dE/dX".
"""

from course_lib.cuda.ladders.conv2d.backward_data import (
    v01_basic,
    v02_shared,
    v03_product,
    v06_specialised,
    v08_fft,
    v11_3xtf32_wgmma,
)
from course_lib.cuda.ladders.rung import Rung

LADDER = (
    Rung(
        "v01_basic",
        v01_basic.conv2d_backward_data_v01_basic,
        "H's listing turned round: a thread for each pixel gathers from the outputs that saw it.",
        "no atomic requests; two global loads for each multiply-add",
        v01_basic.traffic,
        ffma_share=0.15,
    ),
    Rung(
        "v02_shared",
        v02_shared.conv2d_backward_data_v02_shared,
        "A block brings the patch of dy that its tile of pixels needs into shared memory.",
        "global load bytes fall, by up to K_h K_w; shared loads serve the multiply-adds instead, two for each",
        v02_shared.traffic,
        ffma_share=0.28,
    ),
    Rung(
        "v03_product",
        v03_product.conv2d_backward_data_v03_product,
        "A matrix product for all mask positions, 2 x 4 numbers of it a thread, then col2im.",
        "shared loads fall from two a multiply-add to 3/4; global stores grow by K_h K_w",
        v03_product.traffic,
        ffma_share=0.38,
    ),
    Rung(
        "v06_specialised",
        v06_specialised.conv2d_backward_data_v06_specialised,
        "Made for one shape: a row of pixels of a thread stays in registers, dy arrives a stage ahead.",
        "shared loads fall by more than 10; global loads are dy once",
        v06_specialised.traffic,
        least_cc=(8, 0),
        ffma_share=0.85,
    ),
    Rung(
        "v08_fft",
        v08_fft.conv2d_backward_data_v08_fft,
        "Frequencies are multiplied instead of pixels: the work does not grow with the mask.",
        "flops fall for large masks; shared memory only turns tiles",
        ffma_share=0.1,
        widths=("LDG.128", "LDS.64"),
        exact=False,
    ),
    Rung(
        "v11_3xtf32_wgmma",
        v11_3xtf32_wgmma.conv2d_backward_data_v11_3xtf32_wgmma,
        "forward's v12 on dy: two columns of dx share a window of dy's, and nothing is added up in shared memory.",
        "shared loads are dy's alone, two for four pixels and a step of 8 products. Elsewhere it is v06",
        v11_3xtf32_wgmma.traffic,
        least_cc=(9, 0),
        widths=("HGMMA", "LDGSTS.128", "LDS.32", "STG.64"),
    ),
)
"""The rungs, lowest first: the only index."""
