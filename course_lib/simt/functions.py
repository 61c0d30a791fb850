"""The functions a kernel may call, and what each does to all lanes at once.

Source: Numba's documentation, "CUDA Kernel API" and "Supported Python features in CUDA Python". Each entry of
FUNCTIONS takes the evaluator, the active lanes, the node of the call, and the values of its arguments.
"""

import ast

import numpy as np

from course_lib.simt.iteration import Enumerate, Indices, Zip, has_items, length_of, range_of
from course_lib.simt.literals import is_literal
from course_lib.simt.memory import View
from course_lib.simt.records import is_record
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import Cast, Word, leading, register, type_named

MOST_AXES = 8
ZERO = np.int64(0)
FUNCTIONS = {}


def function(path):
    """Enter the decorated function under its path."""

    def enter(act):
        FUNCTIONS[path] = act
        return act

    return enter


# --------------------------------------------------------------------------------------------- threads and arrays


@function("cuda.grid")
def _grid(e, mask, node, ndim):
    ndim = constant_between(ndim, 1, 3)
    lanes = e.lanes
    axes = [
        b.astype(np.int64) * size + t
        for b, size, t in zip(lanes.block_idx, lanes.block_dim, lanes.thread_idx, strict=True)
    ]
    return axes[0] if ndim == 1 else tuple(axes[:ndim])


@function("cuda.gridsize")
def _gridsize(e, mask, node, ndim):
    ndim = constant_between(ndim, 1, 3)
    sizes = tuple(np.int64(g * b) for g, b in zip(e.lanes.grid_dim, e.lanes.block_dim, strict=True))
    return sizes[0] if ndim == 1 else sizes[:ndim]


def constant_between(value, least, most):
    """Return a value that must be a whole number in a range, the same in all lanes, as int; else TypeError."""
    if not is_number(value) or np.ndim(value) or value.dtype.kind not in "iu" or not least <= value <= most:
        raise TypeError(f"it takes a constant whole number from {least} to {most}")
    return int(value)


def _array(space):
    def make(e, mask, node, shape, dtype, alignment=None):
        if e.typing:  # every line is visited once before a kernel runs
            _check_known(e, node, space)
        shape = shape if isinstance(shape, tuple) else (shape,)
        whole = all(is_number(s) and np.ndim(s) == 0 and s.dtype.kind in "iu" for s in shape)
        dtype = type_named(dtype) if type(dtype) is str else dtype
        if not whole or not isinstance(dtype, Cast):
            raise TypeError("it takes a shape of constant whole numbers and a dtype, such as ((16, 16), float32)")
        shape = tuple(int(s) for s in shape)
        if shape == (0,) and space == "shared":
            return e.machine.dynamic(dtype.dtype, node.lineno)
        if len(shape) > MOST_AXES:
            raise TypeError(f"its shape has {len(shape)} axes; at most {MOST_AXES} are possible")
        if any(s < 1 for s in shape):
            raise TypeError(f"its shape is {shape}; every size must be >= 1")
        view = e.machine.allocate(e, space, shape, dtype.dtype, node)
        if alignment is not None:
            view.memory.alignment = constant_between(alignment, 1, 256)
        return view

    return make


def _check_known(e, node, space):
    """A shape is known to the compiler (`literals`): Numba's rule."""
    given = node.args[0] if node.args else next(k.value for k in node.keywords if k.arg == "shape")
    for part in given.elts if isinstance(given, ast.Tuple) else [given]:
        if not is_literal(part, e.source, e.fixed):
            dynamic = "; or shared.array(0, ...) and the bytes in the launch" if space == "shared" else ""
            raise TypeError(
                f"the size of a {space} array must be known before the launch: a number, or a constant made outside of "
                f"the kernel, not {ast.unparse(part)}{_new_constant(part)}{dynamic}"
            )


FUNCTIONS["cuda.shared.array"], FUNCTIONS["cuda.local.array"] = _array("shared"), _array("local")


def _new_constant(part):
    """Return what to do where a size is computed from constants: T + 1 is no constant, a name for it is one."""
    if not isinstance(part, ast.BinOp) or any(isinstance(n, ast.Call | ast.Attribute) for n in ast.walk(part)):
        return ""
    return f"; make a new constant outside, such as SIZE = {ast.unparse(part)}, and use its name"


@function("cuda.const.array_like")
def _array_like(e, mask, node, ndarray):
    """Of an array that is none from outside Numba makes no copy: it is that array, and writing to it works."""
    if not isinstance(ndarray, View) or is_record(ndarray):
        raise TypeError("it takes an array, best one from outside of the kernel")
    return ndarray


@function("len")
def _len(e, mask, node, value):
    if not has_items(value) or isinstance(value, Zip | Enumerate | Indices):
        raise TypeError(f"{describe(value)} has no length")
    return length_of(value)


# --------------------------------------------------------------------------------------------- what a for goes over


@function("range")
def _range(e, mask, node, *bounds):
    return range_of(bounds, mask, e.lanes)


@function("zip")
def _zip(e, mask, node, *parts):
    _check_items(parts)
    return Zip(parts)


@function("enumerate")
def _enumerate(e, mask, node, part, start=ZERO):
    _check_items([part])
    if not is_number(start) or start.dtype.kind not in "iu":
        raise TypeError(f"{describe(start)} is no whole number to begin with")
    return Enumerate(part, cast(start, np.dtype(np.int64)))


def _check_items(parts):
    for part in parts:
        if not has_items(part):
            raise TypeError(f"{describe(part)} has no items")


# --------------------------------------------------------------------------------------------- barriers


@function("cuda.syncthreads")
def _syncthreads(e, mask, node):
    mask = e.waits_for_block(mask, node)
    if not mask.empty or e.typing:
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


def known(path):
    """Return whether a word's path is a function, or leads to one or to a name."""
    return path in FUNCTIONS or path in leading(FUNCTIONS)


register(FUNCTIONS)
