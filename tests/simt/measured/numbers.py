"""Expressions on numbers at the edge (limits, halves, NaN, infinity), which a card and the executor must agree on.

`EXPRESSIONS` says for each expression which dtypes of a and b it is tried with; a kernel of one warp stores it into an
int64 and into a float64 array, so that both ways out of a type are seen. tools/measure_numbers.py runs them on a card.
"""

import numpy as np

EXPRESSIONS = {
    "int32(a)": "f4 f8",
    "int64(a)": "f4 f8",
    "uint32(a)": "f4 f8",
    "uint64(a)": "f4 f8",
    "int8(a)": "f4 f8",
    "uint8(a)": "f4",
    "int16(a)": "f4",
    "int(a)": "f4",
    "round(a)": "f4 f8",
    "float32(a)": "f8",
    "a // b": "f4 f8 i4 i8 u4",
    "a % b": "f4 f8 i4 i8 u4",
    "a / b": "i4 f4 f2",
    "a << b": "i4 i8 u4",
    "a >> b": "i4 i8 u4",
    "a ** 2": "f4",
    "a ** 3": "i4",
    "a ** b": "i8",
    "max(a, b)": "f4 i4",
    "min(a, b)": "f4",
    "abs(a)": "i4 f4",
    "-a": "u4",
    "~a": "i4 u4",
    "a and b": "i4",
    "a or b": "i4",
    "not a": "i4",
    "a if a > b else 0.5": "i4",
    "a < b": "f4 f2",
    "a == b": "f4",
    "a != b": "f4",
    "math.sqrt(a)": "f4",
    "math.floor(a)": "f4",
    "math.ceil(a)": "f4",
    "math.trunc(a)": "f4",
    "math.fabs(a)": "f4",
    "math.fmod(a, b)": "f4",
    "math.copysign(a, b)": "f4",
    "math.isnan(a)": "f4",
    "math.isinf(a)": "f4",
    "cuda.popc(a)": "i4 u8",
    "cuda.clz(a)": "i4 i8",
    "cuda.ffs(a)": "i4 i8",
    "cuda.brev(a)": "u4 u8 i4",
    "cuda.fma(a, a, b)": "f4",
    "cuda.cbrt(a)": "f4",
    "cuda.selp(a > b, a, b)": "f4 i4",
    "cuda.ballot_sync(0xffffffff, a > b)": "i4",
    "cuda.all_sync(0xffffffff, a < 100)": "i4",
    "cuda.any_sync(0xffffffff, a > 100)": "i4",
    "cuda.eq_sync(0xffffffff, a > 0)": "i4",
    "cuda.match_any_sync(0xffffffff, a)": "i4",
    "cuda.match_all_sync(0xffffffff, a)[0]": "i4",
    "cuda.match_all_sync(0xffffffff, b)[1]": "i4",
    "cuda.activemask()": "i4",
    "cuda.lanemask_lt()": "i4",
    "cuda.shfl_sync(0xffffffff, a, 35)": "i4",
    "cuda.shfl_up_sync(0xffffffff, a, 3)": "f4",
    "cuda.shfl_down_sync(0xffffffff, a, 5)": "i8",
    "cuda.shfl_xor_sync(0xffffffff, a, 9)": "f8",
    "cuda.shfl_sync(0xffffffff, a, b)": "i4",
    "a + b": "u8 f2 b1",
    "a * b": "i4 i2 f2",
    "a - b": "u1",
    "a + True": "i4",
    "a + 0.5": "f4",
    "a * 2": "f4",
    "a * 2.0": "f2",
    "float32(a) * b": "f2",
    "cuda.syncthreads_count(a > 0)": "i4",
    "cuda.syncthreads_and(a > -1000000000)": "i4",
    "cuda.syncthreads_or(a == 3)": "i4",
    "round(a, 1)": "f8",
    "pow(a, b)": "f8",
    "math.pow(a, 2)": "f4",
    "bool(a)": "f4",
    "a & b": "i4",
    "a ^ b": "u8",
    "a | b": "b1",
}
"""Expression -> dtypes of a and b."""

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 3e9, -3e9, 5e9, -5e9, 1e19, -1e19, 2e19, np.nan, np.inf, -np.inf,
    127.5, 128.0, 255.0, 256.0, -129.0, 300.0, 40000.0, 7.0, -7.0, 2147483647.0, 2147483648.0, 4294967296.0, 9.3e18,
]  # fmt: skip
FLOAT16_MOST = 6e4
RESULTS = ("i8", "f8")


def cases():
    """Return [(expression, dtype)]. A case's name is "expression|dtype"."""
    return [(expression, code) for expression, codes in EXPRESSIONS.items() for code in codes.split()]


def numbers(code):
    """Return 32 numbers a and 32 numbers b of a dtype; no b is zero, none of the whole ones is negative."""
    d = np.dtype(code)
    if d.kind == "b":
        return np.array([True, False] * 16), np.array([True, True, False, False] * 8)
    if d.kind == "f":
        a = SPECIAL
        if code == "f2":
            a = [min(max(x, -FLOAT16_MOST), FLOAT16_MOST) if np.isfinite(x) else x for x in a]
        return np.array(a, d), np.array([2.0, 3.0, -2.0, 0.5, -3.0, 7.0, 1.0, 4.0] * 4, d)
    i = np.iinfo(d)
    any_numbers = np.random.default_rng(1).integers(max(i.min, -(10**9)), min(i.max, 10**9), 16)
    high = [0, 0] if code == "u8" else [i.max, i.max - 1]  # uint64 was measured without its limit
    a = [0, 1, 2, 3, 7, 8, 100, *high, i.min, i.min + 1, 5, 6, 9, 33, 64, *map(int, any_numbers)]
    b = [1, 2, 3, 5, 7, 2, 4, 6] * 4
    if d.kind == "i":
        a[12:16], b[16:20] = [-7, -8, -1, -100], [3, 1, 2, 3]
    return np.array(a, d), np.array(b, d)


def text(expression):
    """Return the text of the kernel that stores an expression of a and b."""
    return (
        "def kernel(a_, b_, out):\n"
        "    i = cuda.threadIdx.x\n    a = a_[i]\n    b = b_[i]\n"
        f"    out[i] = {expression}\n"
    )  # fmt: skip
