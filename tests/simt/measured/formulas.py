"""Traffic derived by hand from the sizes: the executor is checked against reasoning, before any card.

A warp's access is one request; a sector has 32 bytes, 8 float32; banks are 32 words of 4 bytes. Each entry is
(load requests, load sectors, store requests, store sectors, conflicts of loads, conflicts of stores).
"""

FORMULAS = {
    # n elements in order: ceil(n / 32) warps, ceil(n / 8) sectors, for each array
    "vector_add": (2 * 32, 2 * 125, 32, 125, 0, 0),
    "coarsened_add": (2 * 32, 2 * 125, 32, 125, 0, 0),
    "grid_stride": (2 * 32, 2 * 125, 32, 125, 0, 0),
    "relu_leaky": (32, 128, 32, 128, 0, 0),
    # 4, 16 or 32 elements in a sector
    "add_float64": (2 * 11, 2 * 84, 11, 84, 0, 0),
    "float16_to_float32": (15, 29, 15, 57, 0, 0),
    "uint8_to_float": (15, 15, 15, 57, 0, 0),
    # 16 warps; each runs through both branches, whose lanes touch all of the warp's sectors: 500 / 8 in each array
    "divergent_branch": (2 * 16, 2 * 63, 16, 63, 0, 0),
    # 7 blocks of 33: 6 times a warp and a lane, and 22 lanes; block b begins 4 b bytes after a sector's begin
    "partial_warps": (6 * 2 + 1, 39, 6 * 2 + 1, 4 + 5 * 5 + 6 * 1 + 4, 0, 0),
    # 8 warps; one in stride elements is used, at most one in a sector
    "copy_stride_2": (8, 8 * 8, 8, 8 * 4, 0, 0),
    "copy_stride_8": (8, 8 * 32, 8, 8 * 4, 0, 0),
    "copy_stride_32": (8, 8 * 32, 8, 8 * 4, 0, 0),
    # elements 1 to 32 lie in 5 sectors; the last warp has 20 lanes, elements 481 to 500 in 3
    "copy_offset": (16, 15 * 5 + 3, 16, 63, 0, 0),
    # a lane touches a row of its own, 80 bytes from its neighbour's
    "row_sums": (4 * 20, 100 * 20, 4, 13, 0, 0),
    # rows of 400 bytes begin on a sector, or 16 bytes behind: warps take 4 + 4 + 4 + 1 or 5 + 5 + 5 + 1
    "column_sums": (4 * 20, 10 * 13 + 10 * 16, 4, 13, 0, 0),
    # rows of 200 bytes begin 0, 8, 16, 24 behind a sector: 4 or 5 sectors and 3; columns: each lane its own sector
    "transpose_naive": (70 * 2, 17 * (4 + 3 * 5 + 4 * 3) + 7 + 8, 140, 70 * 50, 0, 0),
    "copy_columns": (2 * 70, 70 * 50, 2 * 70, 70 * 50, 0, 0),
    # 32 lanes in one bank: 31 wavefronts too many; 128 * 128 / 32 requests
    "transpose_tile": (512, 4 * 512, 512, 4 * 512, 31 * 512, 0),
    # gcd(stride, 32) lanes share a bank
    "shared_stride_2": (2, 8, 2, 8, 2 * 1, 2 * 1),
    "shared_stride_12": (2, 8, 2, 8, 2 * 3, 2 * 3),
    "shared_stride_31": (2, 8, 2, 8, 0, 0),
    # 4 blocks of 8 warps load 256 elements each
    "reduce_modulo": (4 * 8, 4 * 32, 4, 4, 0, 0),
    "reduce_sequential": (4 * 8, 4 * 32, 4, 4, 0, 0),
    # step 1: 4 warps, 2 lanes a bank; 2: 2 warps, 4 lanes; 4, 8, 16: 1 warp, 8 lanes; then 4, 2, 1 lanes in one bank
    "reduce_interleaved": (4 * 8, 4 * 32, 4, 4, 2 * 4 * 35, 4 * (4 * 1 + 2 * 3 + 7 + 7 + 7 + 3 + 1)),
    # as before; with atomics there is no store (700 elements are 22 warps and 88 sectors)
    "reduce_shuffle": (4 * 8, 4 * 32, 4, 4, 0, 0),
    "reduce_atomic": (22, 88, 0, 0, 0, 0),
    # 50 rows of 10 classes, two warps: a maximum (1 + 9), a sum (10), label and its score (1 + 1), gradients (10)
    "softmax_cross_entropy": (2 * 32, None, 2 * 11, None, 0, 0),
    # 2 N^3 / T elements, 32 of them in a request of 4 sectors (2 rows of 16)
    "product_tiled_128": (2 * 128**3 // 16 // 32, 2 * 128**3 // 16 // 8, 512, 2_048, 0, 0),
    "product_double_buffered": (2 * 64**3 // 16 // 32, 2 * 64**3 // 16 // 8, 128, 512, 0, 0),
    # 4 maps, 4 tiles, 2 images: blocks of half a warp; C K^2 products of an x and a w
    "conv_basic": (4 * 4 * 2 * 27 * 2, None, 4 * 4 * 2, 4 * 4 * 2 * 4, 0, 0),
    # a block loads 8 rows of 32, a row a warp, and stores 6 maps of 112 elements, in 4 warps and 14 sectors;
    # 3 of its 4 warps reach into the next row of 28 and meet their own banks, at each of 25 elements of the mask
    "conv_c1": (14 * 8, 14 * 8 * 4, 14 * 6 * 4, 14 * 6 * 14, 14 * 25 * 3, 0),
}
