"""The functions a kernel may call, and what each does to all lanes at once.

Source: Numba's documentation, "CUDA Kernel API" and "Supported Python features in CUDA Python". Each entry of
FUNCTIONS takes the evaluator, the active lanes, the node of the call, and the values of its arguments.
"""

import ast
import math

import numpy as np
from numba import cuda

from course_lib.simt import types
from course_lib.simt.memory import View
from course_lib.simt.values import apply, cast, describe, is_number
from course_lib.simt.vocabulary import Cast, Word, register

MOST_AXES = 8
FUNCTIONS = {"range": None}  # a range stands in a for only


def function(path):
    """Enter the decorated function under its path."""

    def enter(act):
        FUNCTIONS[path] = act
        return act

    return enter


# --------------------------------------------------------------------------------------------- threads and arrays


@function("cuda.grid")
def _grid(e, mask, node, ndim):
    ndim = _constant(ndim, 1, 3)
    lanes = e.lanes
    axes = [
        b.astype(np.int64) * size + t
        for b, size, t in zip(lanes.block_idx, lanes.block_dim, lanes.thread_idx, strict=True)
    ]
    return axes[0] if ndim == 1 else tuple(axes[:ndim])


@function("cuda.gridsize")
def _gridsize(e, mask, node, ndim):
    ndim = _constant(ndim, 1, 3)
    sizes = tuple(np.int64(g * b) for g, b in zip(e.lanes.grid_dim, e.lanes.block_dim, strict=True))
    return sizes[0] if ndim == 1 else sizes[:ndim]


def _constant(value, least, most):
    if not is_number(value) or np.ndim(value) or value.dtype.kind not in "iu" or not least <= value <= most:
        raise TypeError(f"it takes a constant whole number from {least} to {most}")
    return int(value)


def _array(space):
    def make(e, mask, node, shape, dtype, alignment=None):
        if e.typing:  # every line is visited once before a kernel runs
            _check_known(e, node, space)
        shape = shape if isinstance(shape, tuple) else (shape,)
        whole = all(is_number(s) and np.ndim(s) == 0 and s.dtype.kind in "iu" for s in shape)
        if not whole or not isinstance(dtype, Cast):
            raise TypeError("it takes a shape of constant whole numbers and a dtype, such as ((16, 16), float32)")
        shape = tuple(int(s) for s in shape)
        if shape == (0,) and space == "shared":
            return e.machine.dynamic(dtype.dtype, node.lineno)
        if len(shape) > MOST_AXES:
            raise TypeError(f"its shape has {len(shape)} axes; at most {MOST_AXES} are possible")
        if any(s < 1 for s in shape):
            raise TypeError(f"its shape is {shape}; every size must be >= 1")
        return e.machine.allocate(e, space, shape, dtype.dtype, node)

    return make


def _check_known(e, node, space):
    """A shape is written as numbers, or as names that stand for numbers before the launch: Numba's rule."""
    given = node.args[0] if node.args else next(k.value for k in node.keywords if k.arg == "shape")
    for part in given.elts if isinstance(given, ast.Tuple) else [given]:
        if not (isinstance(part, ast.Constant) or (isinstance(part, ast.Name) and e.source.is_constant(part.id))):
            dynamic = "; or shared.array(0, ...) and the bytes in the launch" if space == "shared" else ""
            raise TypeError(
                f"the size of a {space} array must be known before the launch: a number, or a constant made outside of "
                f"the kernel, not {ast.unparse(part)}{dynamic}"
            )


FUNCTIONS["cuda.shared.array"], FUNCTIONS["cuda.local.array"] = _array("shared"), _array("local")


@function("cuda.const.array_like")
def _array_like(e, mask, node, array):
    if not isinstance(array, View) or array.memory.space != "constant":
        raise TypeError("it takes an array from outside of the kernel")
    return array


@function("len")
def _len(e, mask, node, value):
    if isinstance(value, View) and value.ndim:
        return np.int64(value.shape[0])
    if isinstance(value, tuple):
        return np.int64(len(value))
    raise TypeError(f"{describe(value)} has no length")


@function("print")
def _print(e, mask, node, *values):
    """See `Expressions._of_Call`, which refuses it before it looks at what is printed."""


# --------------------------------------------------------------------------------------------- barriers


@function("cuda.syncthreads")
def _syncthreads(e, mask, node):
    e.machine.barrier(mask, node.lineno)


def _counting_barrier(combine):
    def act(e, mask, node, predicate):
        if not is_number(predicate) or predicate.dtype.kind not in "iu":
            raise TypeError(f"{describe(predicate)} is no whole number; use int32({ast.unparse(node.args[0])})")
        e.machine.barrier(mask, node.lineno)
        true = np.broadcast_to(predicate != 0, e.lanes.count)[mask.index]
        block = e.lanes.block[mask.index]
        yes = np.bincount(block[true], minlength=e.lanes.blocks)
        there = np.bincount(block, minlength=e.lanes.blocks)
        return combine(yes, there).astype(np.int32)[e.lanes.block]

    return act


FUNCTIONS["cuda.syncthreads_count"] = _counting_barrier(lambda yes, there: yes)
FUNCTIONS["cuda.syncthreads_and"] = _counting_barrier(lambda yes, there: yes == there)
FUNCTIONS["cuda.syncthreads_or"] = _counting_barrier(lambda yes, there: yes > 0)


@function("cuda.threadfence")
def _threadfence(e, mask, node):
    e.machine.fence(mask)


@function("cuda.threadfence_block")
def _fence(e, mask, node):
    """A fence orders a thread's own accesses for others; lock-step has that order anyway."""


@function("cuda.nanosleep")
def _nanosleep(e, mask, node, ns):
    """Waiting changes nothing here."""


FUNCTIONS["cuda.threadfence_system"] = _threadfence


@function("cuda.cg.this_grid")
def _this_grid(e, mask, node):
    e.machine.cooperative = True
    return Word("cuda.cg.this_grid()")


@function("cuda.cg.this_grid().sync")
def _grid_sync(e, mask, node):
    e.machine.grid_barrier(mask, node.lineno)
    return np.int32(0)


# --------------------------------------------------------------------------------------------- numbers


def math_function(what, numpy_function, flops=1):
    """Return the entry for a function of numbers that Numba knows as `what` and NumPy as `numpy_function`."""

    def compute(e, mask, node, *values):
        for value in values:
            if not is_number(value):
                raise TypeError(f"{describe(value)} is no number")
        result = apply(what, numpy_function, *values)
        if numpy_function is fused and result.dtype == np.float64:
            e.machine.budget -= mask.count // 3  # lane by lane in Python
        e.machine.count(node.lineno, mask, result.dtype, 0 if what in NO_ARITHMETIC else flops)
        return result

    return compute


NO_ARITHMETIC = (
    abs, math.fabs, math.floor, math.ceil, math.trunc, math.copysign, math.isnan, math.isinf, math.isfinite,
)  # fmt: skip
"""They look at bits, or cut them off; nobody counts them as floating-point operations, nor minimum and maximum."""


def fused(a, b, c):
    """Return a * b + c with one rounding, for vectors of one dtype."""
    if a.dtype == np.float64:
        return np.vectorize(_exact_fma, otypes=[np.float64])(a, b, c)
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def _exact_fma(a, b, c):
    """Multiply and add with one rounding; the product of two float64 numbers fits into a fraction of whole numbers."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = (float(v).as_integer_ratio() for v in (a, b, c))
    try:
        return (an * bn * cd + cn * ad * bd) / (ad * bd * cd)
    except OverflowError:
        return a * b + c


def _conversion(what):
    def convert(e, mask, node, value):
        if not is_number(value):
            raise TypeError(f"{describe(value)} is no number")
        return cast(value, types.signature(what, value.dtype)[0])

    return convert


@function("bool")
def _bool(e, mask, node, value):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is neither true nor false")
    return value != 0


@function("round")
def _round(e, mask, node, value, digits=None):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is no number")
    if digits is None:
        return cast(np.rint(value), types.signature(round, value.dtype)[0])
    digits = _constant(digits, -30, 30)
    return cast(np.round(value, digits), types.signature(round, value.dtype, np.dtype(np.int64))[0])


@function("cuda.selp")
def _selp(e, mask, node, condition, yes, no):
    if not all(map(is_number, (condition, yes, no))):
        raise TypeError("it takes a condition and two numbers")
    dtype = types.unify(yes.dtype, no.dtype)
    return np.where(condition != 0, cast(yes, dtype), cast(no, dtype))[()]


def _extreme(what, numpy_function):
    def compute(e, mask, node, *values):
        values = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        if len(values) < 2 or not all(map(is_number, values)):
            raise TypeError("it takes at least two numbers")
        result = values[0]
        for value in values[1:]:
            dtype = types.signature(what, result.dtype, value.dtype)[0]
            result = numpy_function(cast(result, dtype), cast(value, dtype))
            e.machine.count(node.lineno, mask)
        return result

    return compute


def _bits_of(value):
    return np.asarray(value).view(f"uint{8 * value.dtype.itemsize}")


def _popc(x):
    return np.bitwise_count(_bits_of(x))[()]


def _clz(x):
    x, width = _bits_of(x), 8 * x.dtype.itemsize
    zeros = np.full(x.shape, width, np.int64)
    for k in range(width):  # the highest bit that is set wins: it comes last
        zeros = np.where((x >> x.dtype.type(k)) & x.dtype.type(1), width - 1 - k, zeros)
    return zeros


def _ffs(x):
    bits = _bits_of(x)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, 8 * x.dtype.itemsize - _clz(lowest))


def _brev(x):
    bits, width = _bits_of(x), 8 * x.dtype.itemsize
    out = np.zeros_like(bits)
    for k in range(width):
        out |= ((bits >> bits.dtype.type(k)) & bits.dtype.type(1)) << bits.dtype.type(width - 1 - k)
    return out


FUNCTIONS |= {
    "int": _conversion(int),
    "float": _conversion(float),
    "min": _extreme(min, np.fmin),
    "max": _extreme(max, np.fmax),
    "abs": math_function(abs, np.abs),
    "cuda.fma": math_function(cuda.fma, fused, flops=2),
    "cuda.cbrt": math_function(cuda.cbrt, np.cbrt),
    "cuda.popc": math_function(cuda.popc, _popc),
    "cuda.clz": math_function(cuda.clz, _clz),
    "cuda.ffs": math_function(cuda.ffs, _ffs),
    "cuda.brev": math_function(cuda.brev, _brev),
    **{f"math.{f.__name__}": math_function(f, numpy_function) for f, numpy_function in types.MATH.items()},
}


@function("pow")
def _pow(e, mask, node, base, exponent):
    return e.power(base, exponent, mask, node)


def known(path):
    """Return whether a word's path is a function, or leads to one or to a name."""
    return path in FUNCTIONS or any(p.startswith(f"{path}.") for p in FUNCTIONS)


register(FUNCTIONS)
