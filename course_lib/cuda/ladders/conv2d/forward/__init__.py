"""The ladder of the convolution layer, from H's basic kernel to one that is made for a layer's shape.

Every rung takes `(x, w, b, y, stride=(1, 1), pad=(0, 0))`: x (B, C, H, W), w (M, C, K_h, K_w), b (M,) or None, and
writes y (B, M, H_out, W_out). v02 freezes the masks; v06 and v07 hand what does not fit into shared memory to the rung
below. Before compute capability 8.0, v06 hands over to v05, and v07 raises DeviceError. v05b is a step to the side: H's
kernel for one layer, v06's ancestor, which freezes the masks too and refuses any other layer. Beside the ladder,
`c1_by_pixels` is that layer coarsened the other way.

From v07 on the ladder is a fan: v07, v09, v10 and v12 multiply on tensor cores, v09 for many input maps, v10 for few,
and v12 is v10 for Hopper; v08 multiplies frequencies; v11 is v06 for layers that are bound by memory. Each hands over
what it is not made for, to v06 in the end.

Source: H, "Design of a Basic Kernel", "Strategies for Lab 7", "Specialization for the LeNet-5 C1 Layer".
"""

from course_lib.cuda.ladders.conv2d.forward import (
    v01_basic,
    v02_constant_masks,
    v03_im2col_gemm,
    v04_implicit_gemm,
    v05_register_tiled,
    v05b_c1_layer,
    v06_specialised,
    v07_tensor_cores,
    v08_fft,
    v09_3xtf32,
    v10_3xtf32_rows,
    v11_streamed,
    v12_3xtf32_wgmma,
)
from course_lib.cuda.ladders.rung import Rung

LADDER = (
    Rung(
        "v01_basic",
        v01_basic.conv2d_forward_v01_basic,
        "The formula: a thread computes one pixel of one output map from global memory.",
        "global_load_requests: two for each product",
        v01_basic.traffic,
    ),
    Rung(
        "v02_constant_masks",
        v02_constant_masks.conv2d_forward_v02_constant_masks,
        "An input tile lies in shared memory and the masks in constant memory.",
        "global_load_requests fall 8-fold for 3 x 3, 20-fold for 5 x 5: the halo is loaded too; shared and constant "
        "loads take their place",
        v02_constant_masks.traffic,
    ),
    Rung(
        "v03_im2col_gemm",
        v03_im2col_gemm.conv2d_forward_v03_im2col_gemm,
        "The input is unrolled into a matrix, and a tiled product does the rest: maps share pixels.",
        "global_load_bytes of the product fall with the tile; the unrolled matrix is written and read again",
        v03_im2col_gemm.traffic,
    ),
    Rung(
        "v04_implicit_gemm",
        v04_implicit_gemm.conv2d_forward_v04_implicit_gemm,
        "The matrix is unrolled while a tile of it is loaded, and never written.",
        "global_store_requests: only the output's",
        v04_implicit_gemm.traffic,
    ),
    Rung(
        "v05_register_tiled",
        v05_register_tiled.conv2d_forward_v05_register_tiled,
        "A thread computes several maps x several pixels, so that what it loads serves several products.",
        "shared_load_requests fall from 2 a product to (TM + TN) / (TM TN)",
        v05_register_tiled.traffic,
        ffma_share=0.5,
    ),
    Rung(
        "v05b_c1_layer",
        v05b_c1_layer.conv2d_forward_v05b_c1_layer,
        "The kernel is made for one layer, LeNet-5's C1: all sizes are constants, the masks lie in constant memory.",
        "shared_load_requests fall to one for 6 products; a constant_load_request for each product takes their place",
        v05b_c1_layer.traffic,
        ffma_share=0.35,
        only=v05b_c1_layer.is_c1,
    ),
    Rung(
        "v06_specialised",
        v06_specialised.conv2d_forward_v06_specialised,
        "The kernel is made for the layer's shape: masks slide over an image in shared memory, in registers.",
        "shared_load_requests fall to one for 8 to 30 products; accesses are 16 bytes wide",
        v06_specialised.traffic,
        least_cc=(8, 0),
        ffma_share=0.75,
        widths=("LDS.128",),
    ),
    Rung(
        "v07_tensor_cores",
        v07_tensor_cores.conv2d_forward_v07_tensor_cores,
        "Tensor cores multiply, three TF32 products for one of float32; few maps stay with v06.",
        "shared_load_requests fall to (2 + MG + 2 TW) for 8 products of MG TW tiles of 16 x 8",
        v07_tensor_cores.traffic,
        least_cc=(8, 0),
        ffma_share=0.15,
        widths=("LDS.128",),
    ),
    Rung(
        "v08_fft",
        v08_fft.conv2d_forward_v08_fft,
        "Frequencies are multiplied instead of pixels: the work does not grow with the mask.",
        "flops: for masks of 7 x 7 they fall to a third of v06's; shared memory only turns tiles",
        v08_fft.traffic,
        ffma_share=0.1,
        widths=("LDG.128", "LDS.64"),
        exact=False,
    ),
    Rung(
        "v09_3xtf32",
        v09_3xtf32.conv2d_forward_v09_3xtf32,
        "A step of a tensor core is eight input maps under one position of the mask: no address is computed.",
        "shared_load_requests fall from v07's 12 for 8 products of 16 x 8 tiles to 12 for 16; none has a conflict",
        v09_3xtf32.traffic,
        least_cc=(8, 0),
        ffma_share=0.3,
        widths=("LDGSTS.128", "LDS.128"),
    ),
    Rung(
        "v10_3xtf32_rows",
        v10_3xtf32_rows.conv2d_forward_v10_3xtf32_rows,
        "Tensor cores for few input maps: a row of pixels, once in registers, serves all output rows that see it.",
        "shared_load_requests of pixels fall K_h-fold; those of weights are shared by the tiles of a warp",
        v10_3xtf32_rows.traffic,
        least_cc=(8, 0),
        ffma_share=0.18,
        widths=("LDGSTS.128", "LDS.128"),
    ),
    Rung(
        "v11_streamed",
        v11_streamed.conv2d_forward_v11_streamed,
        "v06 for layers that are bound by memory: blocks stay, and the next images arrive while these are computed.",
        "shared_load_wavefronts fall to half of v06's, and no kernel goes before this one",
        v11_streamed.traffic,
        least_cc=(8, 0),
        ffma_share=0.85,
        widths=("LDGSTS.128", "LDS.128", "STG.128"),
    ),
    Rung(
        "v12_3xtf32_wgmma",
        v12_3xtf32_wgmma.conv2d_forward_v12_3xtf32_wgmma,
        "v10 by wgmma: all mask rows and maps are columns of one product, and weights stay in shared memory.",
        "shared loads are the pixels' alone; instructions fall to 40 for 8 products of 64 x 112. Elsewhere it is v10",
        v12_3xtf32_wgmma.traffic,
        least_cc=(9, 0),
        widths=("HGMMA", "LDGSTS.128", "LDS.32"),
    ),
)
"""All rungs, slowest first: the only index of this ladder."""
