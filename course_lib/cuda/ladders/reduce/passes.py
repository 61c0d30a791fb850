"""What all rungs of the ladder share: the checks, and the passes of those that leave one sum a block.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.elementwise import flat
from course_lib.cuda.operands import operand


def check_reduce(x, out):
    """Return (x as (n,), out).

    Raises
    ------
    TypeError
        If one of them is not a float32 device array.
    ValueError
        If x is empty or has gaps, or out is not (1,).

    Source: the course's own.
    """
    return flat(operand("x", x)), operand("out", out, shape=(1,))


def passes(kernel, x, out, a_block, threads):
    """Launch kernel(x, sums) until one sum is left, in out; a block adds up `a_block` numbers. No errors of its own.

    Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (recursive kernel launches).
    """
    while True:
        blocks = -(-x.size // a_block)
        sums = out if blocks == 1 else gpu.empty(blocks, np.float32)
        kernel[blocks, threads](x, sums)
        if blocks == 1:
            return
        x = sums
