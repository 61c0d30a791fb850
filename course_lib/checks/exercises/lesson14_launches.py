"""How the kernels of lesson 14 are launched to be judged, and what a tile must fulfil; no right value is computed here.

Students get this module.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.differences import Difference
from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

TILE, SIDE = 16, 8
"""Sides of a block, and of its tile of C, where a thread has one result: of the product, and of the layer to mend."""

WIDE, DEEP = 32, 8
"""Sides of a tile of C where a thread has several results; numbers along K in a turn."""

WARP, WARPS = 32, 4
"""Threads of a warp; warps of a block, each with a row, in the product with four vectors."""

SHARED, REGISTERS, OF_A_BLOCK, OTHERS = 49_152, 255, 65_536, 24
"""Bytes of shared memory of a block, most registers of a thread and of a block, and those of a thread that hold
neither sums nor what is multiplied."""

FORM = "BM, BN, BK, TM, TN"


def gradient(kernel, X, dZ):
    """Launch a kernel and return (F, M) results, by blocks of 32 x 8 that cover max(F, M) along both axes.

    Errors as the kernel's. Source: the course's own.
    """
    dW = output((X.shape[1], dZ.shape[1]))
    kernel[(up(max(dW.shape), 32), up(max(dW.shape), 8)), (32, 8)](X, dZ, dW)
    return dW


def tiled(kernel, A, B):
    """Launch a kernel and return (M, N) results, by a block a tile of 16 x 16.

    Errors as the kernel's. Source: the course's own.
    """
    return _by_tiles(kernel, (A, B), A.shape[0], B.shape[0], TILE, (TILE, TILE))


def layer(kernel, x, w, b):
    """Launch a kernel and return (N, M) results, by a block a tile of 8 x 8.

    Errors as the kernel's. Source: the course's own.
    """
    return _by_tiles(kernel, (x, w, b), x.shape[0], w.shape[1], SIDE, (SIDE, SIDE))


def four_rows(kernel, A, B):
    """Launch a kernel and return (M, N) results, by a block of 32 x 8 threads a tile of 32 x 32.

    Errors as the kernel's. Source: the course's own.
    """
    return _by_tiles(kernel, (A, B), A.shape[0], B.shape[1], WIDE, (WIDE, 8))


def sixteen(kernel, A, B):
    """Launch a kernel and return (M, N) results, by a block of 8 x 8 threads a tile of 32 x 32.

    Errors as the kernel's. Source: the course's own.
    """
    return _by_tiles(kernel, (A, B), A.shape[0], B.shape[1], WIDE, (SIDE, SIDE))


def _by_tiles(kernel, inputs, rows, columns, tile, block):
    out = output((rows, columns))
    kernel[(up(columns, tile), up(rows, tile)), block](*inputs, out)
    return out


def four_vectors(kernel, A, X):
    """Launch a kernel and return (4, M) results, by blocks of four warps, one a row of A.

    Errors as the kernel's. Source: the course's own.
    """
    Y = output((X.shape[0], A.shape[0]))
    kernel[up(A.shape[0], WARPS), WARPS * WARP](A, X, Y)
    return Y


def tile_problem(value, threads, intensity, reuse):
    """Return the first `Difference` of a tile from what exercise 14.7 asks for, or None.

    Parameters
    ----------
    value : anything
        Right is (BM, BN, BK, TM, TN) in whole numbers.
    threads : int
        Of the block.
    intensity, reuse : float
        Operations for each byte loaded from global memory, multiplications for each number read from shared memory.

    No errors, whatever the value is. Source: the course's own.
    """
    if (found := _form_problem(value)) is not None:
        return found
    BM, BN, BK, TM, TN = map(int, value)
    for name, tile, part, each in (("BM", BM, "TM", TM), ("BN", BN, "TN", TN)):
        if tile % each:
            detail = f"{part} = {each} does not divide {name} = {tile}."
            return Difference("a tile that the threads' parts do not fill", detail)
    if (found := BM // TM * (BN // TN)) != threads:
        detail = f"{BM // TM} x {BN // TN} threads, BM / TM times BN / TN, are {found}; there are to be {threads}."
        return Difference("another number of threads", detail)
    for name, size in (("BK", BK), ("BN", BN)):
        if size % 8:
            return Difference("rows that are not whole sectors", f"{name} = {size} is no multiple of 8.")
    if (taken := 4 * (BM + BN) * BK) > SHARED:
        detail = f"tiles of {BM} x {BK} and {BK} x {BN} take {taken:,} bytes; a block has {SHARED:,}."
        return Difference("more shared memory than a block has", detail, " Walk along K in shorter turns.")
    registers = TM * TN + TM + TN + OTHERS
    if registers > REGISTERS:
        detail = f"{TM} x {TN} results need {registers} registers; a thread has at most {REGISTERS}."
        return Difference("more registers than a thread has", detail)
    if registers * threads > OF_A_BLOCK:
        detail = f"{threads} threads of {registers} registers need {registers * threads:,}; there are {OF_A_BLOCK:,}."
        return Difference("more registers than a block has", detail)
    if (found := BM * BN / (2 * (BM + BN))) < intensity:
        detail = f"a tile of {BM} x {BN} gives {found:.2f} operations for a byte; at least {intensity:g} are wanted."
        return Difference("too few operations for a byte", detail, " Larger or squarer tiles give more.")
    if (found := TM * TN / (TM + TN)) < reuse:
        detail = f"{TM} x {TN} results give {found:.2f} multiplications for a number; at least {reuse:g} are wanted."
        return Difference("too few multiplications for a number", detail, " Larger or squarer parts give more.")
    return None


def _form_problem(value):
    """Return a `Difference` unless a value is five whole numbers from 1 on."""
    if not isinstance(value, list | tuple) or len(value) != 5:
        return Difference("no tile", f"the result must be {FORM}.", " Is there a return?" * (value is None))
    if any(isinstance(n, float | np.floating) for n in value):
        return Difference("a fraction", "the result has a float; / makes one, // a whole number.")
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in value):
        return Difference("something else than whole numbers", f"the result must be {FORM} in whole numbers.")
    if not all(1 <= n <= 2**31 - 1 for n in value):
        return Difference("a size that no tile has", "each number must be from 1 to 2,147,483,647.")
    return None
