"""A float32 number as the sum of two that tensor cores take as TF32: the first rounded, not cut.

Cut, the rest of a number has its sign, and products of two rests, which are left out, have the sign of the result: what
is lost adds up. Rounded, rests have either sign and are half as large, so that the lost products mostly cancel: with 64
input maps and masks of 3 x 3 the largest error falls from 5.4e-7 to 3.7e-7 of the largest result. It costs one addition
to the number's bits.

Source: H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
theoretical peak performance" (2022); NVIDIA, "PTX ISA", "cvt.rna".
"""

from course_lib.cuda.intrinsics import bits_float, float_bits
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import uint32


@jit(device=True, forceinline=True)
def two_parts(x):
    """Return (big, small) as bits: x rounded to 11 bits, halves away from zero, and x - big, exactly.

    An infinity gives NaN as `small`, and so does a number within 2^-12 of the largest float32, which is rounded to one.
    """
    big = uint32((float_bits(x) + uint32(0x1000)) & uint32(0xFFFFE000))
    return big, float_bits(x - bits_float(big))
