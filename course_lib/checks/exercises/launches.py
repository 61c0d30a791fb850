"""Whether a launch fits an array of rows and columns: many do, so it is judged by what it must fulfil.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities" (the limits of blocks and grids).
"""

import numpy as np

from course_lib.checks.differences import Difference

WARP, MOST_THREADS, MOST_ALONG_Y, LARGEST = 32, 1024, 65_535, 2**31 - 1
"""Threads of a warp, most threads of a block, most blocks along y, and the largest number that a launch takes."""

FORM = "((blocks along x, blocks along y), (threads along x, threads along y))"


def launch_problem(value, rows, columns):
    """Return the first `Difference` of a launch from what the elements need, or None.

    Parameters
    ----------
    value : anything
        Right is ((grid x, grid y), (block x, block y)) in whole numbers.
    rows, columns : int >= 1
        Of the array; x counts columns.

    No errors, whatever the value is. Source: the course's own.
    """
    if (found := _form_problem(value)) is not None:
        return found
    (grid_x, grid_y), (block_x, block_y) = ([int(n) for n in pair] for pair in value)
    threads = block_x * block_y
    if threads > MOST_THREADS:
        detail = f"a block of {block_x} x {block_y} has {threads} threads; at most 1,024 are possible."
        return Difference("a block of more than 1,024 threads", detail)
    if threads % WARP:
        detail = f"a block of {block_x} x {block_y} has {threads} threads; whole warps are a multiple of 32."
        return Difference("a block that is not made of whole warps", detail)
    if grid_y > MOST_ALONG_Y:
        detail = f"the grid has {grid_y} blocks along y; a GPU takes at most 65,535 there."
        return Difference("a grid of more than 65,535 blocks along y", detail, " Make the blocks higher.")
    reach = grid_x * block_x, grid_y * block_y
    for axis, name, what, count in ((0, "x", "columns", columns), (1, "y", "rows", rows)):
        if reach[axis] < count:
            blocks, side = value[0][axis], value[1][axis]
            detail = f"{blocks} blocks of {side} threads along {name} reach {reach[axis]} of {count} {what}."
            turned = reach[0] >= rows and reach[1] >= columns
            hint = " x is the last axis: it counts columns." if turned else " Round the number of blocks up."
            return Difference(f"a launch that leaves {what} out", detail, hint)
    for axis, name, what, count in ((0, "x", "columns", columns), (1, "y", "rows", rows)):
        if (value[0][axis] - 1) * value[1][axis] >= count:
            blocks, side = value[0][axis], value[1][axis]
            detail = f"of {blocks} blocks of {side} threads along {name}, the last one has none of {count} {what}."
            return Difference("a launch with a block that has nothing to do", detail)
    return None


def _form_problem(value):
    """Return a `Difference` unless a value is two pairs of numbers that a launch takes."""
    pairs = value if isinstance(value, list | tuple) and len(value) == 2 else ()
    if not pairs or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        return Difference("no grid and block", f"the result must be {FORM}.", " Is there a return?" * (value is None))
    numbers = [n for pair in pairs for n in pair]
    if any(isinstance(n, float | np.floating) for n in numbers):
        return Difference("a fraction", "the result has a float; / makes one, // and math.ceil whole numbers.")
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in numbers):
        return Difference("something else than whole numbers", f"the result must be {FORM} in whole numbers.")
    if not all(1 <= n <= LARGEST for n in numbers):
        return Difference("a number that no launch takes", "each number must be from 1 to 2,147,483,647.")
    return None
