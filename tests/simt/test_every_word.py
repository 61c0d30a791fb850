"""Every word of a kernel's language and every construct of Python in it, each with a result from elsewhere."""

import ast
import cmath
import importlib
import math
import re
import statistics
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import cuda
from numba.cuda import random
from numba.np.numpy_support import as_dtype

from course_lib import simt
from course_lib.cuda import hopper, intrinsics
from course_lib.simt import type_names
from course_lib.simt.evaluate import Evaluator
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.library import FAST, FLOATS, HALVES
from course_lib.simt.numpy_words import OF_ONE, OF_TWO
from course_lib.simt.vector_words import DTYPES
from course_lib.simt.vector_words import NAMES as VECTORS
from course_lib.simt.vocabulary import NAMES, WAYS
from tests.cases import all_of
from tests.simt import test_complex, test_words_numbers
from tests.simt.text import function

LANES = np.arange(8)
X = np.array([0.25, 0.5, 0.75, 1.0, 0.125, 0.375, 0.9, 0.6])
"""x of each lane of one block, between 0 and 1, where all functions of mathematics have a value."""


def each(python):
    """Return the results of a function of one number, for x of each lane, computed by Python."""
    return [python(float(x)) for x in X]


def text_of(statements, threads):
    """Return the text of the kernel in which each lane runs statements that set r."""
    body = "\n".join("        " + line for line in statements.split("\n"))
    return f"""
    def kernel(xs, a, out):
        t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        i = b * {threads} + t
        x = xs[i % 8]
{body}
        out[i] = r
"""


def run(statements, *, grid=1, block=8, dtype=np.float64, out=None, **outside):
    """Run statements that set r, for the lanes of a launch; return r of each lane."""
    blocks, threads = (math.prod(v) if isinstance(v, tuple) else v for v in (grid, block))
    text = text_of(statements, threads)
    out = np.zeros(blocks * threads, dtype) if out is None else out
    simt.run(
        function(text, numba=numba, cmath=cmath, random=random, **outside),
        grid,
        block,
        (X, np.array([5, 7, 9], np.int32), out),
    )
    return out


# ------------------------------------------------------------------------------------ words that are called: one block

INT = "int32(t - 4)"  # -4 ... 3
SIGNED = list(range(-4, 4))


def popc(k):
    return (k & 0xFFFFFFFF).bit_count()


def bits(k):
    return f"{k & 0xFFFFFFFF:032b}"


def shared(dtype, first, act):
    """Return statements: a shared number begins as `first`, all 8 threads act on it one by one, and r is its end."""
    return (
        f"s = cuda.shared.array(1, {dtype})\nif t == 0:\n    s[0] = {dtype}({first})\ncuda.syncthreads()\n"
        f"{act}\ncuda.syncthreads()\nr = s[0]"
    )


WORDS = {
    "cuda.grid": ("r = cuda.grid(1)", LANES),
    "cuda.gridsize": ("r = cuda.gridsize(1)", [8] * 8),
    "cuda.shared.array": ("s = cuda.shared.array(8, float32)\ns[7 - t] = t\ncuda.syncthreads()\nr = s[t]", LANES[::-1]),
    "cuda.local.array": ("v = cuda.local.array((2, 2), int32)\nv[1, 0] = t\nr = v[1, 0] + 1", LANES + 1),
    "cuda.const.array_like": ("c = cuda.const.array_like(TABLE)\nr = c[t % 3]", [10, 20, 30, 10, 20, 30, 10, 20]),
    "range": ("r = 0\nfor k in range(t):\n    r += k", LANES * (LANES - 1) // 2),
    "len": ("r = len(a) * 10 + len((1, 2))", [32] * 8),
    "bool": ("r = bool(t % 3)", (LANES % 3 != 0).astype(float)),
    "int": ("r = int(x * 10)", each(lambda x: int(x * 10))),
    "float": ("r = float(t) / 2", LANES / 2),
    "abs": (f"r = abs({INT})", [abs(k) for k in SIGNED]),
    "min": ("r = min(t, 3, 5)", np.minimum(LANES, 3)),
    "max": ("r = max(2, t, 3)", np.maximum(LANES, 3)),
    "round": ("r = round(x * 10)", each(lambda x: round(x * 10))),
    "pow": ("r = pow(t, 2)", LANES**2),
    "divmod": (f"q, p = divmod({INT}, 3)\nr = q * 10 + p", [k // 3 * 10 + k % 3 for k in SIGNED]),
    "sum": ("r = sum((t, 2, t))", 2 * LANES + 2),
    "cuda.selp": ("r = cuda.selp(t % 2, 5, t)", [0, 5, 2, 5, 4, 5, 6, 5]),
    "cuda.fma": ("r = cuda.fma(1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0) * 2.0**60", [-1] * 8),
    "cuda.cbrt": ("r = cuda.cbrt(x)", each(lambda x: math.exp(math.log(x) / 3))),
    "cuda.popc": (f"r = cuda.popc({INT})", [popc(k) for k in SIGNED]),
    "cuda.clz": (f"r = cuda.clz({INT})", [len(bits(k)) - len(bits(k).lstrip("0")) for k in SIGNED]),
    "cuda.ffs": (f"r = cuda.ffs({INT})", [32 - bits(k).rfind("1") if k else 0 for k in SIGNED]),
    "cuda.brev": ("r = cuda.brev(uint32(t))", [int(bits(k)[::-1], 2) for k in range(8)]),
    # barriers, fences, waiting
    "cuda.syncthreads": ("s = cuda.shared.array(8, int32)\ns[t] = t\ncuda.syncthreads()\nr = s[t ^ 1]", LANES ^ 1),
    "cuda.syncthreads_count": ("r = cuda.syncthreads_count(t % 3)", [5] * 8),
    "cuda.syncthreads_and": ("r = cuda.syncthreads_and(t) * 2 + cuda.syncthreads_and(t + 1)", [1] * 8),
    "cuda.syncthreads_or": ("r = cuda.syncthreads_or(t) * 2 + cuda.syncthreads_or(t * 0)", [2] * 8),
    "cuda.threadfence": ("cuda.threadfence()\nr = t", LANES),
    "cuda.threadfence_block": ("cuda.threadfence_block()\nr = t", LANES),
    "cuda.threadfence_system": ("cuda.threadfence_system()\nr = t", LANES),
    "cuda.nanosleep": ("cuda.nanosleep(100)\nr = t", LANES),
    "cuda.cg.this_grid": ("g = cuda.cg.this_grid()\ng.sync()\nr = t", LANES),
    "cuda.cg.this_grid().sync": ("r = t + cuda.cg.this_grid().sync()", LANES),
    # a warp; only 8 lanes are there
    "cuda.syncwarp": ("s = cuda.shared.array(8, int32)\ns[t] = t\ncuda.syncwarp()\nr = s[7 - t]", LANES[::-1]),
    "cuda.shfl_sync": ("r = cuda.shfl_sync(255, t * t, t // 2)", (LANES // 2) ** 2),
    "cuda.shfl_up_sync": ("r = cuda.shfl_up_sync(255, t * t, 3)", [0, 1, 4, 0, 1, 4, 9, 16]),
    "cuda.shfl_down_sync": (
        "r = cuda.shfl_down_sync(0xffffffff, t * t, 2)", [*(np.arange(2, 32) ** 2), 30**2, 31**2],
    ),
    "cuda.shfl_xor_sync": ("r = cuda.shfl_xor_sync(255, t, 5)", LANES ^ 5),
    "cuda.ballot_sync": ("r = cuda.ballot_sync(255, t % 3 == 1)", [0b10010010] * 8),
    "cuda.all_sync": ("r = cuda.all_sync(255, t < 8) * 2 + cuda.all_sync(255, t > 0)", [2] * 8),
    "cuda.any_sync": ("r = cuda.any_sync(255, t > 6) * 2 + cuda.any_sync(255, t > 7)", [2] * 8),
    "cuda.eq_sync": (
        "r = cuda.eq_sync(255, t < 8) * 4 + cuda.eq_sync(255, t > 8) * 2 + cuda.eq_sync(255, t > 0)", [6] * 8,
    ),
    "cuda.match_any_sync": (
        "r = cuda.match_any_sync(255, t % 3)", [[0b01001001, 0b10010010, 0b00100100][k % 3] for k in LANES],
    ),
    "cuda.match_all_sync": (
        "m, p = cuda.match_all_sync(255, t % 3)\nn, q = cuda.match_all_sync(255, t // 8)\nr = n * 4 + q * 2 + p + m",
        [255 * 4 + 2] * 8,
    ),
    "cuda.activemask": ("r = 0\nif t % 2:\n    r = cuda.activemask()", [0, 0b10101010] * 4),
    "cuda.lanemask_lt": ("r = cuda.lanemask_lt()", 2**LANES - 1),
    # one after the other in the order of the threads: 8 of them, t = 0 ... 7
    "cuda.atomic.add": (shared("int32", 10, "cuda.atomic.add(s, 0, t)"), [38] * 8),
    "cuda.atomic.sub": (shared("int32", 10, "cuda.atomic.sub(s, 0, t)"), [-18] * 8),
    "cuda.atomic.max": (shared("float32", 3, "cuda.atomic.max(s, 0, t)"), [7] * 8),
    "cuda.atomic.min": (shared("float32", 3, "cuda.atomic.min(s, 0, t - 2)"), [-2] * 8),
    "cuda.atomic.nanmax": (shared("float32", "math.nan", "cuda.atomic.nanmax(s, 0, t)"), [7] * 8),
    "cuda.atomic.nanmin": (shared("float32", "math.nan", "cuda.atomic.nanmin(s, 0, t + 1)"), [1] * 8),
    "cuda.atomic.exch": (shared("int32", 3, "o = cuda.atomic.exch(s, 0, t)"), [7] * 8),
    "cuda.atomic.and_": (shared("uint32", 255, "cuda.atomic.and_(s, 0, ~(1 << t) | 8)"), [8] * 8),
    "cuda.atomic.or_": (shared("uint32", 256, "cuda.atomic.or_(s, 0, 1 << t)"), [511] * 8),
    "cuda.atomic.xor": (shared("uint32", 0b1100, "cuda.atomic.xor(s, 0, t)"), [0b1100] * 8),  # 0 ^ 1 ^ ... ^ 7 is 0
    "cuda.atomic.inc": (shared("uint32", 0, "cuda.atomic.inc(s, 0, uint32(4))"), [3] * 8),  # 0 1 2 3 4 0 1 2 3
    "cuda.atomic.dec": (shared("uint32", 2, "cuda.atomic.dec(s, 0, uint32(4))"), [4] * 8),  # 2 1 0 4 3 2 1 0 4
    "cuda.atomic.cas": (shared("int32", 3, "o = cuda.atomic.cas(s, 0, t, t + 2)"), [9] * 8),  # 3 -> 5 -> 7 -> 9
    "cuda.atomic.compare_and_swap": (
        shared("int32", 6, "o = cuda.atomic.compare_and_swap(s, t, 1 - t)"), [-5] * 8,  # 6 -> -5
    ),
}  # fmt: skip

BY_PYTHON = {
    "sqrt": math.sqrt, "exp": math.exp, "expm1": math.expm1, "log": math.log, "log2": math.log2, "log10": math.log10,
    "log1p": math.log1p, "sin": math.sin, "cos": math.cos, "tan": math.tan, "tanh": math.tanh, "sinh": math.sinh,
    "cosh": math.cosh, "asin": math.asin, "acos": math.acos, "atan": math.atan, "erf": math.erf, "erfc": math.erfc,
    "asinh": math.asinh, "atanh": lambda x: math.log((1 + x) / (1 - x)) / 2 if x < 1 else math.inf,
    "exp2": lambda x: 2.0**x, "gamma": math.gamma, "lgamma": math.lgamma, "degrees": lambda x: 180 * x / math.pi,
    "radians": lambda x: math.pi * x / 180,
}  # fmt: skip
"""x between 0 and 1, where each has a value; erf also by the normal distribution, below."""
WORDS |= {f"math.{name}": (f"r = math.{name}(x)", each(python)) for name, python in BY_PYTHON.items()}
Y = "(x * 5 - 2.5)"  # -1.25 0 1.25 2.5 -1.875 -0.625 2 0.5


def of_y(python):
    return each(lambda x: python(x * 5 - 2.5))


WORDS |= {
    "math.floor": (f"r = math.floor({Y})", of_y(lambda y: y // 1)),
    "math.ceil": (f"r = math.ceil({Y})", of_y(lambda y: -(-y // 1))),
    "math.trunc": (f"r = math.trunc({Y})", of_y(int)),
    "math.fabs": (f"r = math.fabs({Y})", of_y(abs)),
    "math.atan2": (f"r = math.atan2({Y}, x - 0.5)", each(lambda x: math.atan2(x * 5 - 2.5, x - 0.5))),
    "math.pow": ("r = math.pow(x, 3.0)", each(lambda x: x * x * x)),
    "math.hypot": (f"r = math.hypot({Y}, x)", each(lambda x: math.sqrt((x * 5 - 2.5) ** 2 + x * x))),
    "math.fmod": (f"r = math.fmod({Y}, 0.5)", of_y(lambda y: y - 0.5 * int(y / 0.5))),
    "math.copysign": (f"r = math.copysign(3.0, {Y})", of_y(lambda y: 3.0 if y >= 0 else -3.0)),
    "math.acosh": ("r = math.acosh(x + 1)", each(lambda x: math.acosh(x + 1))),
    "math.frexp": (
        f"p, q = math.frexp({Y})\nr = p * 100 + q",
        of_y(lambda y: math.frexp(y)[0] * 100 + math.frexp(y)[1]),
    ),
    "math.ldexp": ("r = math.ldexp(x, t)", X * 2.0**LANES),
    "math.modf": (f"p, q = math.modf({Y})\nr = p * 100 + q", of_y(lambda y: math.modf(y)[0] * 100 + math.modf(y)[1])),
    "math.remainder": (f"r = math.remainder({Y}, 1.0)", of_y(lambda y: y - round(y))),
    "math.nextafter": ("r = (math.nextafter(x, 2.0) - x) * 2.0**60", each(lambda x: math.ulp(x) * 2.0**60)),
    "math.isnan": ("r = math.isnan(x) + math.isnan(x - math.nan) * 2", [2] * 8),
    "math.isinf": ("r = math.isinf(x) + math.isinf(-x / 0) * 2 + math.isinf(math.nan) * 4", [2] * 8),
    "math.isfinite": ("r = math.isfinite(x) + math.isfinite(x / 0) * 2 + math.isfinite(math.nan) * 4", [1] * 8),
}
V = "v = cuda.local.array(4, float64)\nv[0], v[1], v[2], v[3] = t, 2, 7, 1\n"
"""Words of arrays are called of a, which is 5, 7, 9, and of v, which each lane has: t, 2, 7, 1."""
OF_V = np.stack([LANES, LANES * 0 + 2, LANES * 0 + 7, LANES * 0 + 1], 1).astype(float)
WORDS |= {
    f"{owner}.{name}": (f"{V}r = {f'v.{name}()' if owner == 'array' else f'np.{name}(v)'}", python(OF_V))
    for owner in ("array", "np")
    for name, python in {
        "sum": lambda v: v.sum(1), "prod": lambda v: v.prod(1), "mean": lambda v: v.mean(1), "var": lambda v: v.var(1),
        "std": lambda v: v.std(1), "argmax": lambda v: v.argmax(1), "argmin": lambda v: v.argmin(1),
        "any": lambda v: v.any(1), "all": lambda v: v.all(1),
    }.items()
}  # fmt: skip
WORDS |= {
    "array.fill": (f"{V}v[1:3].fill(t)\nr = v[0] + 10 * v[1] + 100 * v[2] + 1000 * v[3]", 111 * LANES + 1000),
    "array.reshape": (f"{V}w = v.reshape(2, 2)\nr = w[0, 0] + 10 * w[0, 1] + 100 * w[1, 0]", LANES + 720),
    "array.transpose": ("m = cuda.local.array((2, 3), int32)\nm[1, 2] = t\nr = m.transpose()[2, 1]", LANES),
    "array.item": ("r = a[1:2].item() + t", LANES + 7),
    "array.view": (f"{V}r = v.view(uint64)[1] >> 52", [0x400] * 8),  # 2.0 has the exponent 1023 + 1
    "np.ndindex": (
        "r = 0\nfor p, q in np.ndindex(2, 3):\n    r = r * 10 + p * q + t", [111111 * t + 12 for t in range(8)],
    ),
    "np.ndenumerate": ("r = t\nfor (k,), x in np.ndenumerate(a):\n    r += k * x", LANES + 7 + 18),
    "zip": ("r = 0\nfor p, q in zip(a, (t, 2)):\n    r += p * q", 5 * LANES + 14),
    "enumerate": ("r = t\nfor k, v in enumerate(a, 2):\n    r += k * v", LANES + 10 + 21 + 36),
    "print": ("print('lane', t, x)\nr = t", LANES),
    "cuda.random.rotl": ("r = random.rotl(uint64(1 << (63 - t)), uint32(3))", 2.0 ** ((66 - LANES) % 64)),
    "cuda.random.uint64_to_unit_float32": ("r = random.uint64_to_unit_float32(uint64(t) << 61)", LANES / 8),
    "cuda.random.uint64_to_unit_float64": ("r = random.uint64_to_unit_float64(uint64(t) << 61)", LANES / 8),
}  # fmt: skip

HERE = Path(__file__).parent
IN_KERNELS = (
    "cluster_sync", "cluster_rank", "mbarriers_ready", "mbarrier_arrive_at", "tensor_map_fence", "tma_load_to_all",
    "shared_to_async", "wgmma_fence", "wgmma_commit", "wgmma_wait0", "wgmma_wait1", "rest_tf32",
)  # fmt: skip
ELSEWHERE = {
    "libdevice.": {
        f"libdevice.{name}" for name in (*test_words_numbers.ALL, *FLOATS, *(f"{n}f" for n in FLOATS), *FAST)
    },
    "cuda.fp16.": {f"cuda.fp16.{name}" for name in HALVES},
    "intrinsic.": {f"intrinsic.{n}" for n in (*IN_KERNELS, *hopper.PRODUCTS, *hopper.REGISTERS)},
    "operator.": {*test_words_numbers.OF_TWO},
    "cmath.": {f"cmath.{name}" for name in test_complex.OF_CMATH},
    "np.": {f"np.{name}" for name in (*OF_ONE, *OF_TWO)},
    "cuda.": {f"cuda.{name}{n}" for name in (*(f"{d}x" for d in DTYPES), *VECTORS) for n in "1234"},
}
"""The tables over which tests of values in other files go; the kernels of test_hopper.py have Hopper's words."""
NAMED = {
    "number.": "test_words_arrays.py test_complex.py test_records.py", "complex": "test_complex.py",
    "cmath.": "test_complex.py",
    "np.": "test_words_numpy.py test_words_arrays.py test_complex.py", "operator.": "test_words_numbers.py",
    "cuda.random.": "test_words_random.py",
    "intrinsic.": "../cuda/test_intrinsics.py ../cuda/test_hopper.py test_every_word.py",
}  # fmt: skip
"""Files in which words are called one by one, by the beginning of the word."""


def ours():
    """Return the words of the course; a measurement in tools/ that is imported may have entered one of its own."""
    return [path for path, act in FUNCTIONS.items() if act.__module__.startswith("course_lib.")]


def test_every_word_has_a_test_of_its_value():
    assert {path.partition(".")[0] for path in ours()} == {path.partition(".")[0] for path in FUNCTIONS}
    for path in ours():
        tables = [table for start, table in ELSEWHERE.items() if path.startswith(start)]
        files = [HERE / file for start, names in NAMED.items() if path.startswith(start) for file in names.split()]
        called = re.compile(rf"\b{path.rpartition('.')[2]}\b")
        assert (
            path in WORDS
            or any(path in table for table in tables)
            or any(called.search(file.read_text(encoding="utf-8")) for file in files)
        ), path


def test_table_of_words_has_words_only():
    assert set(WORDS) <= set(FUNCTIONS)


@pytest.mark.parametrize("word", WORDS)
def test_word_gives_what_it_means(word):
    statements, expected = WORDS[word]
    got = run(statements, block=len(expected), TABLE=np.array([10, 20, 30]))
    # Python's math and NumPy may differ in the last bits: 50 units of 2^-52 at most, near 0 as near 1.
    np.testing.assert_allclose(got, np.array(expected, np.float64), rtol=1e-14, atol=1e-15)


def test_groups_of_copies_that_are_waited_for_are_there():
    kernel = function("""
        def kernel(x, out):
            s = cuda.shared.array(40, float32)
            t = cuda.threadIdx.x
            for k in range(5):
                cp_async4(s, k * 8 + t, x, k * 8 + 7 - t)
                cp_async_commit()
            cp_async_wait3()
            out[t] = s[8 + t]
            cp_async_wait2()
            out[8 + t] = s[16 + t]
    """, **{name: getattr(intrinsics, name) for name in intrinsics.__all__})  # fmt: skip
    x, out = np.arange(40, dtype=np.float32), np.zeros(16, np.float32)
    assert simt.run(kernel, 1, 8, (x, out)).hazards == []
    np.testing.assert_array_equal(out, [*x[15:7:-1], *x[23:15:-1]])


def test_erf_is_the_normal_distributions():
    got = run("r = math.erf(x)")
    np.testing.assert_allclose(got, [2 * statistics.NormalDist().cdf(x * 2**0.5) - 1 for x in X], rtol=1e-13)


def test_grid_and_gridsize_of_two_and_three_axes():
    # 2 x 3 blocks of 3 x 2 threads: a grid of 6 x 6.
    got = run("p, q = cuda.grid(2)\nm, n = cuda.gridsize(2)\nr = p + 10 * q + 100 * m + 1000 * n", grid=(2, 3),
              block=(3, 2))  # fmt: skip
    place = [(bx * 3 + tx) + 10 * (by * 2 + ty) for by in range(3) for bx in range(2) for ty in range(2)
             for tx in range(3)]  # fmt: skip
    np.testing.assert_array_equal(got, np.array(place) + 6600)
    got = run("p, q, s = cuda.grid(3)\nm, n, o = cuda.gridsize(3)\nr = p + 10 * q + 100 * s + 1000 * (m + n * o)",
              grid=(1, 2, 2), block=(2, 1, 2))  # fmt: skip
    place = [tx + 10 * by + 100 * (bz * 2 + tz) for bz in range(2) for by in range(2) for tz in range(2)
             for tx in range(2)]  # fmt: skip
    np.testing.assert_array_equal(got, np.array(place) + 1000 * (2 + 2 * 4))


OLD = [
    ("add", "int32", 10, "t + 1", np.cumsum([10, 1, 2, 3, 4, 5, 6, 7])),
    ("sub", "int32", 10, "1", 10 - LANES),
    ("max", "int32", 3, "t", [3, 3, 3, 3, 3, 4, 5, 6]),
    ("exch", "int32", 9, "t", [9, *range(7)]),
    ("inc", "uint32", 3, "uint32(4)", [3, 4, 0, 1, 2, 3, 4, 0]),
    ("dec", "uint32", 1, "uint32(2)", [1, 0, 2, 1, 0, 2, 1, 0]),
    ("dec", "uint32", 9, "uint32(2)", [9, 2, 1, 0, 2, 1, 0, 2]),
    ("inc", "uint32", 9, "uint32(4)", [9, 0, 1, 2, 3, 4, 0, 1]),
    ("or_", "uint32", 1, "1 << t", [1, *(2 ** LANES[1:] - 1)]),
    ("min", "int32", 3, "4 - t", [3, 3, 3, 2, 1, 0, -1, -2]),
    ("cas", "int32", 3, "t, t + 1", [3, 3, 3, 3, 4, 5, 6, 7]),
]


@pytest.mark.parametrize(("word", "dtype", "first", "value", "expected"), OLD)
def test_atomic_returns_the_number_from_before(word, dtype, first, value, expected):
    got = run(shared(dtype, first, f"old = cuda.atomic.{word}(s, 0, {value})") + "\nr = old")
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("name", "expected"), [("max", 7), ("nanmax", 7), ("min", 0), ("nanmin", 0)])
def test_atomic_extreme_passes_over_a_nan_that_a_lane_brings(name, expected):
    got = run(shared("float32", 3, f"cuda.atomic.{name}(s, 0, math.nan if t == 4 else float(t))"))
    assert got[0] == expected


# --------------------------------------------------------------------------------------------- names of numbers

BLOCK, GRID = (2, 3, 2), (3, 2, 2)
AXES = {
    f"cuda.{word}.{axis}": [
        {"threadIdx": t, "blockIdx": b, "blockDim": BLOCK, "gridDim": GRID}[word]["xyz".index(axis)]
        for b in [(x, y, z) for z in range(2) for y in range(2) for x in range(3)]
        for t in [(x, y, z) for z in range(2) for y in range(3) for x in range(2)]
    ]
    for word in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    for axis in "xyz"
}
AXES |= {"cuda.laneid": list(range(12)) * 12, "cuda.warpsize": [32] * 144}
CONSTANTS = {
    "math.pi": 3.141592653589793, "math.e": 2.718281828459045, "math.inf": np.inf, "math.nan": np.nan,
    "math.tau": 6.283185307179586, "np.pi": 3.141592653589793, "np.e": 2.718281828459045, "np.inf": np.inf,
    "np.nan": np.nan, "np.euler_gamma": 0.5772156649015329,
}  # fmt: skip
CONSTANTS |= {f"cmath.{name}": getattr(cmath, name) for name in ("pi", "e", "inf", "nan", "tau")}
CASTS = [path for path in type_names.NAMES if type_names.NAMES[path].kind != "c"]
"""test_complex.py has those of complex numbers."""


def test_table_of_names_is_complete():
    complex_ones = {
        path for path in NAMES if path.endswith(("infj", "nanj")) or path in set(type_names.NAMES) - {*CASTS}
    }
    complex_ones |= {path for path in NAMES if path.startswith("cuda.random.")}  # test_words_random.py
    assert set(NAMES) == {*AXES, *CONSTANTS, *CASTS, *complex_ones, *WAYS}
    for module in ("np", "numba", "cuda", "numba.types"):
        for name in ("int8", "uint8", "int32", "uint64", "float32", "float64", "intp"):
            assert f"{module}.{name}" in CASTS


@pytest.mark.parametrize("name", AXES)
def test_name_of_an_index_gives_its_number(name):
    np.testing.assert_array_equal(run(f"r = {name}", grid=GRID, block=BLOCK), AXES[name])


@pytest.mark.parametrize("name", CONSTANTS)
def test_name_of_a_constant_gives_its_number(name):
    np.testing.assert_array_equal(run(f"r = {name}"), [CONSTANTS[name]] * 8)


@all_of("name", CASTS)
def test_name_of_a_type_converts_as_numpy_and_makes_arrays_of_its_size(name):
    module, _, word = name.rpartition(".")
    dtype = np.dtype(getattr(np, word)) if module == "np" else as_dtype(getattr(numba.types, word))
    kernel = function(f"""
        def kernel(out):
            s = cuda.shared.array(16, {name})
            i = cuda.grid(1)
            s[i] = {name}(i * 30)
            out[i] = s[i]
    """, numba=numba)  # fmt: skip
    out = np.zeros(8)
    report = simt.run(kernel, 1, 8, (out,))
    np.testing.assert_array_equal(out, (LANES * 30).astype(dtype).astype(float))
    assert report.shared_bytes == 16 * dtype.itemsize
    assert report.arrays["s"].dtype == str(dtype)


def test_cuda_is_found_by_way_of_numba():
    np.testing.assert_array_equal(run("r = numba.cuda.threadIdx.x + numba.cuda.grid(1)"), LANES * 2)


def test_numbas_types_are_known_after_an_import_of_their_old_name():
    types = importlib.import_module("numba.types")  # a module of a class of Numba's own
    np.testing.assert_array_equal(
        run("r = types.int8(t + 127) + numba.types.f4(0.5)", types=types)[:2], [127.5, -127.5]
    )


WAYS_USED = {
    "numba.cuda": ("numba.cuda.grid(1)", LANES), "cuda.libdevice": ("cuda.libdevice.sqrt(x)", np.sqrt(X)),
    "numba.core.types": ("numba.core.types.int32(x * 100)", (X * 100).astype(np.int32)),
}  # fmt: skip


def test_module_is_found_by_every_way_to_it_in_functions_and_in_texts():
    assert set(WAYS_USED) == set(WAYS)
    more = {
        "numba.cuda.libdevice": ("numba.cuda.libdevice.sqrt(x)", np.sqrt(X)),
        "cuda.types": ("cuda.types.int32(x * 100)", (X * 100).astype(np.int32)),
        "cuda.fp16": ("cuda.fp16.hadd(float16(x), float16(x))", 2 * X.astype(np.float16)),
        "cuda.random": ("cuda.random.uint64_to_unit_float64(uint64(i) << 61)", LANES / 8),
    }
    for expression, want in (WAYS_USED | more).values():
        np.testing.assert_array_equal(run(f"r = {expression}", float16=np.float16), want)
        out = np.zeros(8)
        text = simt.read(f"""import numba
from numba import cuda, uint64
from numpy import float16
def kernel(xs, out):
    i = cuda.grid(1)
    x = xs[i]
    out[i] = {expression}
""")
        simt.run(text, 1, 8, (X, out))
        np.testing.assert_array_equal(out, want)


def test_way_to_a_module_has_a_name_of_its_own_in_a_text():
    source = simt.read("from numba import cuda\nown = cuda.libdevice\ndef kernel(out):\n    d = cuda.libdevice\n"
                       "    out[0] = own.sqrt(9.0) + d.sqrt(16.0)\n")  # fmt: skip
    out = np.zeros(1)
    simt.run(source, 1, 1, (out,))
    assert out[0] == 7


@pytest.mark.parametrize(
    "value", [cuda.threadIdx, cuda.grid, math.sqrt, np.float32, numba.int16, math, range, 3, (1, 2)]
)
def test_thing_of_the_vocabulary_is_known_under_any_name(value):
    use = {
        cuda.threadIdx: "thing.x", cuda.grid: "thing(1)", math.sqrt: "thing(4.0) * t / 2", np.float32: "thing(t)",
        numba.int16: "thing(t)", math: "thing.floor(t + 0.5)", 3: "thing - 3 + t", (1, 2): "thing[1] - 2 + t",
    }  # fmt: skip
    if value is range:
        np.testing.assert_array_equal(run("r = 0\nfor k in thing(t):\n    r += 1", thing=range), LANES)
    else:
        np.testing.assert_array_equal(run(f"r = {use[value]}", thing=value), LANES)


# ----------------------------------------------------------------------------------------- operators and constructs

I = np.arange(-4, 4)
P = LANES + 1
OPERATORS = {
    "Add": ("k + p", I + P), "Sub": ("k - p", I - P), "Mult": ("k * p", I * P), "Div": ("k / p", I / P),
    "FloorDiv": ("k // p", [int(a) // int(b) for a, b in zip(I, P, strict=True)]),
    "Mod": ("k % p", [int(a) % int(b) for a, b in zip(I, P, strict=True)]), "Pow": ("k ** t", I**LANES),
    "LShift": ("k << t", I * 2**LANES), "RShift": ("k >> 1", I // 2),
    "BitAnd": ("k & 6", [int(k) & 6 for k in I]), "BitOr": ("k | 6", [int(k) | 6 for k in I]),
    "BitXor": ("k ^ 6", [int(k) ^ 6 for k in I]),
    "Lt": ("k < 1", I < 1), "LtE": ("k <= 1", I <= 1), "Gt": ("k > 1", I > 1), "GtE": ("k >= 1", I >= 1),
    "Eq": ("k == 1", I == 1), "NotEq": ("k != 1", I != 1),
    "USub": ("-k", -I), "UAdd": ("+k", I), "Invert": ("~k", -I - 1), "Not": ("not k", I == 0),
    "And": ("k and p", [a and b for a, b in zip(I.tolist(), P.tolist(), strict=True)]),
    "Or": ("k or p", [a or b for a, b in zip(I.tolist(), P.tolist(), strict=True)]),
    "floats: FloorDiv": ("(k + 0.5) // 2", (I + 0.5) // 2), "floats: Mod": ("(k + 0.5) % -2", (I + 0.5) % -2),
    "floats: Pow": ("(k + 0.5) ** 2", (I + 0.5) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
def test_operator_gives_what_python_gives(operator):
    expression, expected = OPERATORS[operator]
    got = run(f"k, p = t - 4, t + 1\nr = {expression}")
    np.testing.assert_array_equal(got, np.asarray(expected, np.float64))
    if "Not" not in operator.replace("NotEq", "") and operator not in ("And", "Or"):
        name = operator.rpartition(" ")[2]
        nodes = {type(n).__name__ for n in ast.walk(ast.parse(expression))}
        assert name in nodes


CONSTRUCTS = {
    "Pass": ("pass\nr = t", LANES),
    "Expr": ('"a text"\n(1, 2)\nr = t', LANES),
    "Assign": ("r = q = t + 1\nr += q", 2 * P),
    "AnnAssign": ("q: int\nr: float = t\n", LANES),
    "AugAssign": ("r = 1\nr += t\nr *= 2\nr -= 1\nr //= 2", ((LANES + 1) * 2 - 1) // 2),
    "If": ("if t < 2:\n    r = 1\nelif t < 4:\n    r = 2\nelse:\n    r = 3", [1, 1, 2, 2, 3, 3, 3, 3]),
    "For": ("r = 0\nfor k in range(t, 0, -2):\n    r += k", [sum(range(t, 0, -2)) for t in range(8)]),
    "While": ("r, n = 0, t\nwhile n > 0:\n    n //= 2\n    r += 1", [t.bit_length() for t in range(8)]),
    "Break": ("r = 0\nfor k in range(9):\n    if k == t:\n        break\n    r += 2", LANES * 2),
    "Continue": ("r = 0\nfor k in range(8):\n    if k == t:\n        continue\n    r += k", 28 - LANES),
    "Return": ("r = t\nif t == 3:\n    return", [0, 1, 2, 0, 4, 5, 6, 7]),
    "Constant": ("r = True + 2 + 0.5", [3.5] * 8),
    "Name": ("r = OUTSIDE", [4] * 8),
    "Attribute": ("r = a.shape[0] + a.size * 10 + a.ndim * 100 + a.dtype.type(1.9) * 1000", [1133] * 8),
    "Tuple": ("p, (q, u) = t, (1, 2)\nr = (p, q, u)[2] + ((p,) + (q, u))[0]", LANES + 2),
    "BinOp": ("r = t + 1", P),
    "UnaryOp": ("r = -t", -LANES),
    "Compare": ("r = 1 < t <= 3 != 2", [0, 0, 1, 1, 0, 0, 0, 0]),
    "BoolOp": ("r = (t > 1 and t < 4) or t == 6", [0, 0, 1, 1, 0, 0, 1, 0]),
    "IfExp": ("r = 1 if t % 2 else 2", [2, 1] * 4),
    "Subscript": ("v = cuda.local.array((2, 4), int32)\nv[1, 3] = t\nw = v[1]\nr = w[3] + v[1, 2:][1]", LANES * 2),
    "Call": ("r = twice(t)", LANES * 2),
    "Slice": (
        "v = cuda.local.array(4, int32)\nv[:] = 5\nv[1:3] = t, 2\nr = v[::-1][2] + v[2:][0] * 10 + v[-1]",
        LANES + 25,
    ),
    "Lambda": ("f = lambda v, w=3: v * w + t\nr = f(2) + f(1, w=1)", 2 * LANES + 7),
    "FunctionDef": (
        "def f(v, w=2):\n    if v > 3:\n        return 10 * v\n    return v + w + t\nr = f(t)",
        [t * 10 if t > 3 else 2 * t + 2 for t in range(8)],
    ),
    "Global": ("global OUTSIDE\nr = OUTSIDE + t", LANES + 4),
    "Assert": ("assert t < 8, 'eight lanes'\nr = t", LANES),
    "Raise": ("if t > 7:\n    raise ValueError('eight lanes')\nr = t", LANES),
}


@cuda.jit(device=True)
def _twice(x):
    if x > 100:
        return 0
    return x + x


def test_table_of_constructs_is_complete():
    names = {c.__name__ for c in vars(ast).values() if isinstance(c, type) and issubclass(c, ast.AST)}
    handled = {name[4:] for name in dir(Evaluator) if name.startswith(("_do_", "_of_"))} & names
    assert handled == set(CONSTRUCTS)


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_construct_does_what_python_does(construct):
    statements, expected = CONSTRUCTS[construct]
    tree = ast.walk(ast.parse("def f():\n" + "\n".join("    " + s for s in statements.split("\n"))))
    assert construct in {type(n).__name__ for n in tree}
    np.testing.assert_array_equal(run(statements, OUTSIDE=4, twice=_twice), expected)


STATEMENTS_OUTSIDE = {
    "AsyncFunctionDef": "async def f():\n    pass",
    "ClassDef": "class C:\n    pass",
    "Delete": "del x",
    "TypeAlias": "type Q = int",
    "AsyncFor": "async for k in x:\n    pass",
    "With": "with x:\n    pass",
    "AsyncWith": "async with x:\n    pass",
    "Match": "match x:\n    case 1:\n        pass",
    "Try": "try:\n    pass\nfinally:\n    pass",
    "TryStar": "try:\n    pass\nexcept* OSError:\n    pass",
    "Import": "import os",
    "ImportFrom": "from os import path",
    "Nonlocal": "nonlocal other",
}
EXPRESSIONS_OUTSIDE = {
    "NamedExpr": "(y := 3)", "Dict": "{1: 2}", "Set": "{1}", "ListComp": "[1 for k in x]",
    "SetComp": "{1 for k in x}", "DictComp": "{1: 2 for k in x}", "GeneratorExp": "(1 for k in x)", "Await": "await x",
    "Yield": "(yield)", "YieldFrom": "(yield from x)", "FormattedValue": "f'{x}'", "JoinedStr": "f'a'",
    "Starred": "max(*x)", "List": "[1]", "TemplateStr": "t'a'", "Interpolation": "t'{x}'",
}  # fmt: skip


def _constructs(base):
    return {
        c.__name__ for c in vars(ast).values()
        if isinstance(c, type) and issubclass(c, base) and c is not base and c.__name__ not in ("Num", "Str", "Bytes",
        "NameConstant", "Ellipsis")
    }  # fmt: skip


def test_every_construct_of_python_is_in_one_of_the_tables():
    known = set(CONSTRUCTS) | set(STATEMENTS_OUTSIDE) | set(EXPRESSIONS_OUTSIDE)
    assert _constructs(ast.stmt) | _constructs(ast.expr) <= known


@pytest.mark.parametrize("name", [n for n in (*STATEMENTS_OUTSIDE, *EXPRESSIONS_OUTSIDE) if hasattr(ast, n)])
def test_construct_outside_of_the_language_is_an_error_with_its_line(name):
    statement = STATEMENTS_OUTSIDE.get(name) or f"y = {EXPRESSIONS_OUTSIDE[name]}"
    text = "def kernel(a):\n    x = 1\n" + "\n".join("    " + s for s in statement.split("\n"))
    with pytest.raises(simt.KernelError) as raised:
        simt.run(simt.read(text), 1, 1, (np.zeros(2),))
    assert raised.value.line == 3


WRONG = {
    "FunctionDef": ("@other\ndef f():\n    pass", 4), "FunctionDef: yield": ("def f():\n    yield x\ny = f()", 4),
    "FunctionDef: itself": ("def f(v):\n    return f(v)\ny = f(1)", 3), "Lambda": ("y = (lambda **v: 1)(w=2)", 3),
    "Lambda: walrus": ("y = (lambda: (z := 1))()", 3), "Slice": ("y = a[1j:]", 3), "Slice: array": ("a[:] = a", 3),
    "Slice: step": ("y = a[::0][0]", 3), "Global": ("global other\nother = 3", 4), "Assert": ("assert a", 3),
    "Assert: walrus": ("assert (y := 0)", 3), "Raise": ("raise x", 3),
    "Raise: call": ("raise other()", 3),
    "Raise: from": ("raise ValueError from x", 3), "Raise: nothing": ("raise", 3), "Call": ("y = max(**a)", 3),
    "For": ("for k in x:\n    pass", 3), "For: types": ("for k in (1, 0.5):\n    pass", 3),
    "Tuple": ("y, *z = 1, 2", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_construct_of_the_language_that_is_used_wrongly_is_an_error_with_its_line(name):
    statement, line = WRONG[name]
    text = "def kernel(a):\n    x = 1\n" + "\n".join("    " + s for s in statement.split("\n"))
    with pytest.raises(simt.KernelError) as raised:
        simt.run(simt.read(text), 1, 1, (np.zeros(2),))
    assert not isinstance(raised.value, simt.HazardFound)
    assert raised.value.line == line
