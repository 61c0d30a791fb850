"""`clock`: a multiprocessor's own count of clocks, read within a kernel. It is the same for all warps of a block.

Numba has no word for it. What lies between two readings is counted in clocks, at whatever speed the card runs: it needs
no event, and no guess at a frequency. The SIMT executor has no clock; there it is always 0.

Source: NVIDIA, "PTX ISA", "Special Registers: %clock64".
"""

import numpy as np

from course_lib.cuda.numba_cuda import SIMULATOR, intrinsic, types
from course_lib.simt.library import twin

if SIMULATOR:

    def clock():
        """Return 0: Numba's simulator has no clock. No errors."""
        return 0
else:
    from course_lib.cuda.intrinsics import BYTES8, _asm

    @intrinsic
    def clock(typing):
        def generate(context, builder, signature, arguments):
            return _asm(builder, BYTES8, [], "mov.u64 $0, %clock64;", "=l,~{memory}")

        return types.int64(), generate


@twin(clock, "clock")
def _no_clock(e, mask, node):
    return np.zeros(e.lanes.count, np.int64)
