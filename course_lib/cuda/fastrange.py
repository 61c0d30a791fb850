"""Make `for i in range(n)` in a kernel as cheap as a while loop.

Numba's range counts on only `if count > 0`, and the compiler turns that into a chain of selections that it cannot
unroll: 34 instructions a multiply-add where a while loop takes 8. Counting on in any case is as right, since nobody
looks at the numbers after the last turn, and gives the compiler a loop as it knows it.

This replaces private parts of numba-cuda, so it is done for versions that were tried, and left alone for others: then
kernels are right as before, and slower. Source: the course's own; LLVM, "Loop terminology" (induction variables).
"""

from course_lib.cuda.numba_cuda import COMPILER, HAS_PACKAGE, MLIR, SIMULATOR

TRIED = ("0.30.",)
"""Beginnings of the versions of numba-cuda that this was tried with."""

_state = {}


def install():
    """Replace how kernels count, once; return whether it is in effect. No errors. Source: the course's own."""
    if "installed" not in _state:
        _state["installed"] = applies() and _replace()
    return _state["installed"]


def applies():
    """Return whether this process's compiler is one of those that this was tried with. No errors."""
    if SIMULATOR or not HAS_PACKAGE or COMPILER == MLIR:
        return False
    import numba_cuda

    return numba_cuda.__version__.startswith(TRIED)


def _replace():
    from numba.cuda import cgutils, types
    from numba.cuda.core.imputils import RefType, iternext_impl
    from numba.cuda.cpython import rangeobj

    try:
        kinds = [
            (types.int32, types.range_iter32_type),
            (types.int64, types.range_iter64_type),
            (types.uint64, types.unsigned_range_iter64_type),
        ]
        registry = rangeobj.registry
        kept = [f for f in registry.functions if not (f[1] == "iternext" and f[2] in [(i,) for _, i in kinds])]
        if len(kept) == len(registry.functions):
            return False  # nothing to replace: another version after all
    except AttributeError:
        return False
    registry.functions = kept
    for number, iterator in kinds:
        registry.lower("iternext", iterator)(
            iternext_impl(RefType.BORROWED)(_next(cgutils.create_struct_proxy(iterator), number))
        )
    return True


def _next(proxy, number):
    """Return what `for` does at each turn: give the number, step on, count down."""

    def iternext(context, builder, signature, arguments, result):
        state = proxy(context, builder, arguments[0])
        count, value = builder.load(state.count), builder.load(state.iter)
        compare = builder.icmp_signed if number.signed else builder.icmp_unsigned
        result.set_valid(compare(">", count, context.get_constant(number, 0)))
        result.yield_(value)
        no_wrap = ["nsw"] if number.signed else []
        builder.store(builder.sub(count, context.get_constant(number, 1), flags=["nsw"]), state.count)
        builder.store(builder.add(value, state.step, flags=no_wrap), state.iter)

    return iternext
