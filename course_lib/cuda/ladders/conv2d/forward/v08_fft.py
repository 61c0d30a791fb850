"""Frequencies are multiplied instead of pixels: a warp transforms tiles in registers, and no product is a sum over K^2.

For a tile of 16 x 16 and a mask of 7 x 7, 100 outputs cost 512 multiply-adds for each pair of maps, 5 an output instead
of 49, and the transforms of the tile, which all pairs share: about 5,000 additions for each map, for two images at
once. `course_lib.cuda.fft.plan` counts both and takes the cheaper of tiles of 16 and of 32; on the lectures' layers:

    layer          tile, outputs   instructions an image   direct: multiply-adds   cuDNN on an H200
    1 -> 6   k5    32, 28 x 28              187,000                118,000                    393 us
    6 -> 16  k5    16, 10 x 10              217,000                240,000                    337 us
    1 -> 4   k7    16, 10 x 10            1,139,000              1,254,000                  6,989 us
    4 -> 16  k7    16, 10 x 10            2,540,000              3,625,000                  5,651 us

The library's times are results/gpu.h200.json's, for 10,000 images; it takes transforms here by its own choice. With
masks of 5 x 5 the transforms cost what they save, and with 7 x 7 they begin to win. All lanes of an H200 would need
0.07 to 0.9 ms for these instructions. The next limit is near: a transform of a warp's two tiles of 16 x 16 is 328
arithmetic instructions, 82 clocks of a multiprocessor, and 4 T = 64 wavefronts of shared memory, a clock each. Masks'
spectra, 16 bytes for 8 multiply-adds of a lane, come from the caches.

Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs"; the course's own.
"""

from dataclasses import replace

from course_lib.cuda.fft import tiles
from course_lib.cuda.fft.plan import forward_of, tile_plan
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch


def conv2d_forward_v08_fft(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    The first launch for a layer shape makes and compiles a kernel for it. Rounding: `course_lib.checks.fft_tolerance`.

    Errors: TypeError and ValueError as `check_launch`.
    Source: M. Mathieu, M. Henaff and Y. LeCun, "Fast Training of Convolutional Networks through FFTs".
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    tiles.launch(tile_plan(forward_of(replace(s, B=0))), x, w, b if biased else None, y)


def traffic(s):
    """Return what the executor counts over both launches, for Sizes that are cut into whole tiles, with a bias.

    Whole tiles: no padding, stride 1, an even B, V rows and columns of a tile divide y's, MB divides M, the tiles of
    two images fill blocks, and the masks, in one piece, fill blocks too.

    No errors. Source: the course's own.
    """
    p = tile_plan(forward_of(replace(s, B=0)))
    T, tiles_of_a_warp = p.T, 32 // p.T
    units = s.B // 2 * p.at_once  # tiles of two images
    warps, masks = units * p.map_blocks // tiles_of_a_warp, p.masks // tiles_of_a_warp
    transforms = warps * (s.C + p.MB) + masks
    line = {16: 8 * 16 + 9 * 6, 32: 2 * (8 * 16 + 9 * 6) + 16 * 10}[T]  # of T numbers, two a lane for each tile
    products, scaled, added = units * p.masks * T**2, p.masks * s.K_h * s.K_w, s.B * s.M * s.H_out * s.W_out
    return {
        "global_load_requests": masks * T + warps * (s.C * (2 * T + p.MB * T // 2) + p.MB),
        "global_store_requests": masks * T // 2 + warps * p.MB * 2 * p.valid[0],
        "shared_load_requests": transforms * T,
        "shared_store_requests": transforms * T,
        "shared_load_wavefronts": transforms * 2 * T,
        "shared_store_wavefronts": transforms * 2 * T,
        "flops": transforms * 2 * 32 * line + 8 * products + scaled + added,
    }
