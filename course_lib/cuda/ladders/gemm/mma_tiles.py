"""What the tensor-core rungs share: how tiles come to shared memory, and which lane holds which element.

A tensor core multiplies small matrices that are spread over the registers of a warp. `mma_tf32(a, b, c)` computes a
16 x 8 times an 8 x 8 matrix; with g = lane // 4 and q = lane % 4, a lane holds

    a[h] = left[g + 8 (h % 2), q + 4 (h // 2)]          c[0], c[1] = result[g, 2 q], result[g, 2 q + 1]
    b[h] = right[q + 4 h, g]                            c[2], c[3] = result[g + 8, 2 q], result[g + 8, 2 q + 1]

The rungs compute the transposed product, C.T = B.T @ A.T. `left` is a piece of B.T, 16 columns of B and 8 of its rows;
`right` is a piece of A.T, 8 rows of A and 8 of its columns. Then each load fills the registers of an operand in order:

- A lies in shared memory row by row. b of 8 rows is A[g, q] and A[g, q + 4]: two loads, or half of an `ldmatrix_x4`,
  which hands out 16 rows and 8 columns at once.
- B lies row by row. Which column of B is which row of `left` is free to choose: rows g and g + 8 are columns 2 g and
  2 g + 1. So one `ld2` of row q of B is a[0] and a[1], and one of row q + 4 is a[2] and a[3].
- Then c[0], c[2] are C[2 q, 2 g] and C[2 q, 2 g + 1], and c[1], c[3] the same of row 2 q + 1 of C: a lane writes pairs
  of neighbours, and eight lanes write 64 bytes without a gap.

Rows in shared memory have no padding. Instead groups of four floats change places: group x of row r of A lies at
x ^ (r >> SHIFT & MASK), group x of row r of B at x ^ 2 (r & 3). So lanes that read together never meet in a bank.

Source: NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k8" and "ldmatrix"; NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.cuda.intrinsics import cp_async4_part, cp_async16, cp_async16_part, ld2, ldmatrix_x4, nonneg, st2
from course_lib.cuda.jit import DeviceFunction, jit
from course_lib.cuda.ladders.gemm.checks import check_capability, check_gemm
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.operands import aligned

BAND = 8
"""Block rows that are worked on together, column by column: their part of B stays in the L2 cache."""


@dataclass(frozen=True)
class Tiles:
    """Sizes of a tensor-core kernel's tiles, in elements. Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA".

    Attributes
    ----------
    BM, BN, BK : int
        A block computes BM x BN of C, from tiles of A and B that are BK deep, 16 or 32.
    WM, WN : int
        A warp computes WM x WN of that: multiples of 16 and of 32.
    STAGES : int
        Pairs of tiles in shared memory: one is used, the others are on their way.
    blocks : int
        Blocks for which a multiprocessor shall have registers.
    sums : bool
        Whether BM x BN sums lie in shared memory too, behind the stages.
    """

    BM: int
    BN: int
    BK: int
    WM: int
    WN: int
    STAGES: int
    blocks: int
    sums: bool = False

    @property
    def threads(self):
        """Return the threads of a block. No errors."""
        return self.BM // self.WM * (self.BN // self.WN) * 32

    @property
    def stage(self):
        """Return the floats of one stage. No errors."""
        return (self.BM + self.BN) * self.BK

    @property
    def shared_bytes(self):
        """Return the bytes of shared memory of a block. No errors."""
        return 4 * (self.STAGES * self.stage + self.sums * self.BM * self.BN)

    @property
    def swizzle(self):
        """Return SHIFT and MASK for A: every second row of 16 floats begins in bank 0, of 32 every row. No errors."""
        return {16: (1, 3), 32: (0, 7)}[self.BK]


class Pieces(NamedTuple):
    """The device functions of a kernel, as `make_pieces` describes them. Source: the course's own."""

    place: DeviceFunction
    bring: DeviceFunction
    read_a: DeviceFunction
    matrix_a: DeviceFunction
    read_b: DeviceFunction
    write: DeviceFunction


@functools.cache
def make_pieces(tiles, width, whole):
    """Return the Pieces of a kernel with these Tiles.

    Parameters
    ----------
    tiles : Tiles
    width : int
        Floats that are copied at a time: 4 where rows begin at multiples of 16 bytes, else 1.
    whole : bool
        Whether all tiles are complete, so that nothing is guarded.

    No errors. Source: NVIDIA, "PTX ISA", "cp.async".
    """
    BM, BN, BK, WM, WN, (SHIFT, MASK) = tiles.BM, tiles.BN, tiles.BK, tiles.WM, tiles.WN, tiles.swizzle
    SA = BM * BK  # where B begins in a stage
    WARPS_N = BN // WN
    ACROSS_A, ACROSS_B = BK // width, BN // width  # copies for a row of A's tile, of B's
    DOWN_A, DOWN_B = tiles.threads // ACROSS_A, tiles.threads // ACROSS_B  # rows that the block copies at once
    TURNS_A, TURNS_B = BM // DOWN_A, BK // DOWN_B
    copy_part = cp_async16_part if width == 4 else cp_async4_part

    @jit(device=True, forceinline=True)
    def place(M, N):
        """Return row0, col0 of the block and wm, wn of the warp in it."""
        block = nonneg(cuda.blockIdx.x)
        blocks_m, blocks_n = (M + BM - 1) // BM, (N + BN - 1) // BN
        first = block // (BAND * blocks_n) * BAND
        high = min(blocks_m - first, BAND)
        inside = block % (BAND * blocks_n)
        warp = nonneg(cuda.threadIdx.x) >> 5
        return (first + inside % high) * BM, inside // high * BN, warp // WARPS_N * WM, warp % WARPS_N * WN

    @jit(device=True, forceinline=True)
    def bring(s, to, A, B, row0, col0, k0):
        """Begin to copy the tiles of A and B at k0 to s[to] and on; outside of A and B there are zeros.

        Single floats need many copies; that their number follows from r keeps the compiler from writing them all out.
        """
        M, K, N = A.shape[0], A.shape[1], B.shape[1]
        t = nonneg(cuda.threadIdx.x)
        r, x = t // ACROSS_A, t % ACROSS_A * width
        i = (row0 + r) * K + k0 + x
        for p in range(TURNS_A if width == 4 else (BM - 1 - r) // DOWN_A + 1):
            down = r + p * DOWN_A
            j = to + down * BK + ((x >> 2) ^ (down >> SHIFT & MASK)) * 4 + (x & 3)
            if whole:
                cp_async16(s, nonneg(j), A, nonneg(i + p * DOWN_A * K))
            else:
                copy_part(s, nonneg(j), A, nonneg(i + p * DOWN_A * K), width if row0 + down < M and k0 + x < K else 0)
        r, x = t // ACROSS_B, t % ACROSS_B * width
        i = (k0 + r) * N + col0 + x
        for p in range(TURNS_B if width == 4 else (BK - 1 - r) // DOWN_B + 1):
            down = r + p * DOWN_B
            j = to + SA + down * BN + ((x >> 2) ^ 2 * (down & 3)) * 4 + (x & 3)
            if whole:
                cp_async16(s, nonneg(j), B, nonneg(i + p * DOWN_B * N))
            else:
                copy_part(s, nonneg(j), B, nonneg(i + p * DOWN_B * N), width if k0 + down < K and col0 + x < N else 0)

    @jit(device=True, forceinline=True)
    def read_a(s, stage, step, wm, i):
        """Return two floats, operand b of 8 rows, from the warp's row 8 i on, columns 8 step and on."""
        lane = nonneg(cuda.threadIdx.x) & 31
        g, q = lane >> 2, lane & 3
        row, turn = stage + (wm + 8 * i + g) * BK + q, g >> SHIFT & MASK
        return s[nonneg(row + (2 * step ^ turn) * 4)], s[nonneg(row + ((2 * step + 1) ^ turn) * 4)]

    @jit(device=True, forceinline=True)
    def matrix_a(s, stage, step, wm, i):
        """Return four numbers as bits: operands b of the warp's rows 16 i to 16 i + 7, and of the eight below."""
        lane = nonneg(cuda.threadIdx.x) & 31
        row, x = (lane & 7) + (lane >> 4) * 8, 2 * step + (lane >> 3 & 1)  # what this lane gives the address of
        return ldmatrix_x4(s, nonneg(stage + (wm + 16 * i + row) * BK + (x ^ (row >> SHIFT & MASK)) * 4))

    @jit(device=True, forceinline=True)
    def read_b(s, stage, step, wn, column):
        """Return four floats, operand a of 16 columns, from the warp's column 16 `column` on, rows 8 step and on."""
        lane = nonneg(cuda.threadIdx.x) & 31
        g, q = lane >> 2, lane & 3
        x = (g >> 1) ^ (2 * q) ^ (4 * (column & 1))  # of the eight groups of 32 columns
        i = stage + SA + (8 * step + q) * BN + wn + (column >> 1) * 32 + x * 4 + 2 * (g & 1)
        c0, c1 = ld2(s, nonneg(i))
        c2, c3 = ld2(s, nonneg(i + 4 * BN))
        return c0, c1, c2, c3

    @jit(device=True, forceinline=True)
    def write(C, acc, i, row, col):
        """Write acc[i] to acc[i + 3]: this lane's part of 8 rows from `row` on and 16 columns from `col` on."""
        lane = nonneg(cuda.threadIdx.x) & 31
        c = col + 2 * (lane >> 2)
        for h in range(2):
            r = row + 2 * (lane & 3) + h
            if width == 4:  # a pair of columns is inside or outside
                if whole or (r < C.shape[0] and c < C.shape[1]):
                    st2(C, nonneg(r * C.shape[1] + c), acc[i + h], acc[i + h + 2])
            elif r < C.shape[0]:
                if c < C.shape[1]:
                    C[r, c] = acc[i + h]
                if c + 1 < C.shape[1]:
                    C[r, c + 1] = acc[i + h + 2]

    return Pieces(place, bring, read_a, matrix_a, read_b, write)


def launch_tiles(make, tiles, A, B, C):
    """Launch the kernel make(tiles, width, whole) that suits the operands of C = A @ B.

    Raises
    ------
    TypeError, ValueError
        For operands that `check_gemm` refuses.
    DeviceError
        On a GPU whose tensor cores do not know TF32.

    Source: the course's own.
    """
    check_capability("tensor cores know TF32")
    A, B, C, M, N, K = check_gemm(A, B, C)
    wide = K % 4 == 0 and N % 4 == 0 and aligned(A, B, C)
    whole = wide and M % tiles.BM == 0 and N % tiles.BN == 0 and K % tiles.BK == 0 and K >= tiles.STAGES * tiles.BK
    kernel = make(tiles, 4 if wide else 1, whole)
    blocks = -(-M // tiles.BM) * -(-N // tiles.BN)
    kernel[blocks, tiles.threads, 0, tiles.shared_bytes](A, B, C)
