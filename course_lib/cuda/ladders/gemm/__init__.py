"""The product C = A @ B of float32 matrices, climbed from one thread for each element to a pipeline near cuBLAS.

Every rung takes (A, B, C), device arrays (M, K), (K, N), (M, N), and writes the product into C.
From v05 on they may have any size; the four rungs below say how far their grids reach.

Source: K, Z = X W; siboehm, "How to Optimize a CUDA Matmul Kernel"; NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
"""

from course_lib.cuda.ladders.gemm import (
    v01_naive,
    v02_coalesced,
    v03_smem_tiled,
    v04_register_tile_1d,
    v05_register_tile_2d,
    v06_vectorised,
    v07_warp_tiles,
    v08_pipelined,
    v09_3xtf32,
    v10_tf32,
    v11_wgmma_tf32,
    v12_tma_tf32,
    v13_tma_3xtf32,
)
from course_lib.cuda.ladders.rung import Rung

LADDER = (
    Rung(
        "v01_naive",
        v01_naive.gemm_v01_naive,
        "a thread for each element of C; neighbouring threads take neighbouring rows",
        "global_load_sectors: 33 for two requests of a warp",
        v01_naive.traffic,
    ),
    Rung(
        "v02_coalesced",
        v02_coalesced.gemm_v02_coalesced,
        "neighbouring threads take neighbouring columns",
        "global_load_sectors fall from 33 to 5 for two requests",
        v02_coalesced.traffic,
    ),
    Rung(
        "v03_smem_tiled",
        v03_smem_tiled.gemm_v03_smem_tiled,
        "a block brings tiles of A and B into shared memory once, and each number serves 32 threads",
        "global_load_requests fall 32 times, to 2 M N K / 1024, each of 32 numbers",
        v03_smem_tiled.traffic,
    ),
    Rung(
        "v04_register_tile_1d",
        v04_register_tile_1d.gemm_v04_register_tile_1d,
        "eight results a thread, in registers: a number of Bs is read once for eight multiply-adds",
        "shared_load_requests fall from 2 to 9 / 8 for each multiply-add of a warp",
        v04_register_tile_1d.traffic,
    ),
    Rung(
        "v05_register_tile_2d",
        v05_register_tile_2d.gemm_v05_register_tile_2d,
        "eight by eight results a thread: sixteen numbers feed 64 multiply-adds",
        "shared_load_requests fall from 9 / 8 to 1 / 4 for each multiply-add of a warp",
        v05_register_tile_2d.traffic,
        ffma_share=0.70,
        widths=("LDS.128",),
    ),
    Rung(
        "v06_vectorised",
        v06_vectorised.gemm_v06_vectorised,
        "16 bytes an access, but where A is turned on its way into shared memory",
        "global_load_requests and shared_load_requests fall to a quarter",
        v06_vectorised.traffic,
        ffma_share=0.80,
        widths=("LDG.128", "LDS.128", "STS.128", "STG.128"),
    ),
    Rung(
        "v07_warp_tiles",
        v07_warp_tiles.gemm_v07_warp_tiles,
        "a compact part of the tile for each warp, 64 x 32 results of 8 x 4 lanes",
        "none: a warp wants 96 different numbers for each k instead of 144, with the same requests",
        v07_warp_tiles.traffic,
        ffma_share=0.80,
        widths=("LDG.128", "LDS.128", "STS.128", "STG.128"),
    ),
    Rung(
        "v08_pipelined",
        v08_pipelined.gemm_v08_pipelined,
        "asynchronous copies a tile ahead, numbers from shared memory a step ahead, 8 x 16 results a thread",
        "barriers fall from two a tile to one, shared_load_requests from 4 / 64 to 6 / 128 a multiply-add of a warp; "
        "global_load_requests for A rise fourfold, since it is turned while it is copied",
        v08_pipelined.traffic,
        least_cc=(8, 0),
        ffma_share=0.88,
        widths=("LDGSTS.128", "LDS.128", "STG.128"),
    ),
    Rung(
        "v09_3xtf32",
        v09_3xtf32.gemm_v09_3xtf32,
        "tensor cores: each number is cut into two parts for TF32, and three of their products are added",
        "instructions fall: a warp's 1024 multiply-adds are one; flops are three times 2 M N K, and a little",
        v09_3xtf32.traffic,
        least_cc=(8, 0),
        ffma_share=0.22,
        widths=("LDGSTS.128", "LDS.64", "STG.64"),
    ),
    Rung(
        "v10_tf32",
        v10_tf32.gemm_v10_tf32,
        "one product in TF32 instead of three, with three to four correct digits",
        "flops fall to a third, 2 M N K",
        v10_tf32.traffic,
        least_cc=(8, 0),
        ffma_share=0.27,
        widths=("LDGSTS.128", "LDSM.16.M88.4", "LDS.64", "STG.64"),
    ),
    Rung(
        "v11_wgmma_tf32",
        v11_wgmma_tf32.gemm_v11_wgmma_tf32,
        "four warps multiply together, 64 x 8 by 8 x 256, and their right operand stays in shared memory",
        "shared_load_requests fall: no element of A is loaded into registers. On other cards it is v10",
        v11_wgmma_tf32.traffic,
        least_cc=(9, 0),
        widths=("HGMMA", "LDGSTS.128", "LDS.64", "STG.64"),
    ),
    Rung(
        "v12_tma_tf32",
        v12_tma_tf32.gemm_v12_tma_tf32,
        "one thread has whole tiles copied, by a unit of its own; eight warps do nothing but multiply",
        "barriers of a block fall from one a tile to one. On other cards it is v10",
        v12_tma_tf32.traffic,
        least_cc=(9, 0),
        widths=("HGMMA", "UTMALDG", "SYNCS", "USETMAXREG", "LDS.64", "STG.64"),
    ),
    Rung(
        "v13_tma_3xtf32",
        v13_tma_3xtf32.gemm_v13_tma_3xtf32,
        "three products as in v09, by roles as in v12: two warps cut A, sums leave tensor cores after 64 products",
        "flops are three times 2 M N K, and a little. On other cards it is v09",
        v13_tma_3xtf32.traffic,
        least_cc=(9, 0),
        widths=("HGMMA", "UTMALDG", "SYNCS", "USETMAXREG", "LDS.128", "STS.128", "LDS.64", "STG.64"),
    ),
)
"""The only index of this ladder, from the bottom up."""

READABLE = "v05_register_tile_2d"
"""The fastest rung in plain Numba, without an intrinsic: the one to read first."""
