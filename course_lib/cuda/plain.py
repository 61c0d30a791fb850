"""The intrinsics as plain Python: what they do to one thread, for Numba's simulator and for reading.

Source: NVIDIA, "PTX ISA". What a whole warp does together (`mma_tf32` and its kin, `ldmatrix_x4`) cannot be said of one
thread; the SIMT executor has those.
"""

import numpy as np

from course_lib.reference.formats import pack_pairs


def _flat(array):
    return array.reshape(-1)


def ld4(array, i):
    """Return four float32 from flat index i on. Source: PTX ISA, "ld"."""
    flat = _flat(array)
    return flat[i], flat[i + 1], flat[i + 2], flat[i + 3]


def ld2(array, i):
    """Return two float32 from flat index i on. Source: PTX ISA, "ld"."""
    flat = _flat(array)
    return flat[i], flat[i + 1]


def st4(array, i, a, b, c, d):
    """Write four float32 from flat index i on. Source: PTX ISA, "st"."""
    flat = _flat(array)
    flat[i], flat[i + 1], flat[i + 2], flat[i + 3] = a, b, c, d


def st2(array, i, a, b):
    """Write two float32 from flat index i on. Source: PTX ISA, "st"."""
    flat = _flat(array)
    flat[i], flat[i + 1] = a, b


def nonneg(i):
    """Return i, which must be >= 0, else ValueError. Source: LLVM, "llvm.assume"."""
    if i < 0:
        raise ValueError(f"nonneg got {i}; it promises that its argument is never negative.")
    return i


def cp_async16_part(shared, i, array, j, n):
    """Copy n <= 4 float32 and fill up with zeros, at once. Source: PTX ISA, "cp.async"."""
    to, source = _flat(shared), _flat(array)
    for k in range(4):
        to[i + k] = source[j + k] if k < n else np.float32(0)


def cp_async4_part(shared, i, array, j, n):
    """Copy n <= 1 float32, or write a zero, at once. Source: PTX ISA, "cp.async"."""
    _flat(shared)[i] = _flat(array)[j] if n else np.float32(0)


def cp_async16(shared, i, array, j):
    """Copy four float32, at once. Source: PTX ISA, "cp.async"."""
    cp_async16_part(shared, i, array, j, 4)


def cp_async4(shared, i, array, j):
    """Copy one float32, at once. Source: PTX ISA, "cp.async"."""
    cp_async4_part(shared, i, array, j, 1)


def cp_async_commit():
    """Do nothing: copies are done at once here. Source: PTX ISA, "cp.async.commit_group"."""


cp_async_wait0 = cp_async_wait1 = cp_async_wait2 = cp_async_wait3 = cp_async_commit


def float_bits(x):
    """Return the 32 bits of x as uint32. Source: PTX ISA, "mov"."""
    return np.float32(x).view(np.uint32)


def bits_float(u):
    """Return the float32 with the bits of u (...), uint32. Source: PTX ISA, "mov"."""
    return np.asarray(u, np.uint32).view(np.float32)[()]


def to_tf32(x):
    """Return x (...) rounded to TF32, halves away from zero, as bits in uint32. Source: PTX ISA, "cvt.rna"."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    finite = np.isfinite(x)
    return np.where(finite, (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000), bits)[()]


def split_tf32(x):
    """Return (big, small), bits of two TF32 numbers whose sum is nearly x (...). Source: PTX ISA, "cvt.rna"."""
    big = to_tf32(x)
    return big, to_tf32(np.asarray(x, np.float32) - big.view(np.float32))


def chop_tf32(x):
    """Return (big, small), bits: x, float32 (...), cut to TF32, and the rest. Source: PTX ISA, "and"."""
    x = np.asarray(x, np.float32)
    big = (x.view(np.uint32) & np.uint32(0xFFFFE000))[()]
    return big, (x - big.view(np.float32)).view(np.uint32)[()]


def to_fp16_pair(low, high):
    """Return two numbers (...) rounded to FP16, halves to even, in one uint32, `low` low. Source: PTX ISA, "cvt"."""
    return pack_pairs(low, high, "fp16")[()]


def to_bf16_pair(low, high):
    """Return two numbers (...) rounded to BF16, halves to even, in one uint32, `low` low. Source: PTX ISA, "cvt"."""
    return pack_pairs(low, high, "bf16")[()]


def ldmatrix_x4(shared, i):
    """Raise NotImplementedError: a whole warp does this. Source: PTX ISA, "ldmatrix"."""
    raise NotImplementedError("ldmatrix_x4 is done by a whole warp; Numba's simulator runs one thread at a time.")


def mma_tf32(a, b, c):
    """Raise NotImplementedError: a whole warp does this. Source: PTX ISA, "mma"."""
    raise NotImplementedError("mma_tf32 is done by a whole warp; Numba's simulator runs one thread at a time.")


def mma_fp16(a, b, c):
    """Raise NotImplementedError: a whole warp does this. Source: PTX ISA, "mma"."""
    raise NotImplementedError("mma_fp16 is done by a whole warp; Numba's simulator runs one thread at a time.")


def mma_bf16(a, b, c):
    """Raise NotImplementedError: a whole warp does this. Source: PTX ISA, "mma"."""
    raise NotImplementedError("mma_bf16 is done by a whole warp; Numba's simulator runs one thread at a time.")


__all__ = [
    "bits_float", "chop_tf32", "cp_async4", "cp_async4_part", "cp_async16", "cp_async16_part", "cp_async_commit",
    "cp_async_wait0", "cp_async_wait1", "cp_async_wait2", "cp_async_wait3", "float_bits", "ld2", "ld4",
    "ldmatrix_x4", "mma_bf16", "mma_fp16", "mma_tf32", "nonneg", "split_tf32", "st2", "st4", "to_bf16_pair",
    "to_fp16_pair", "to_tf32",
]  # fmt: skip
