"""Which arrays a kernel may write, read off its text: what a recorded graph must know to let launches overlap.

Two launches may run at the same time unless one of them writes what the other reads or writes. A parameter counts as
written if the kernel sets an element of it, or of a part of it (`row = out[i]`, then `row[j] = ...`), or hands it to
something that may. A device function is looked into; anything unknown is taken to write whatever it gets. So a mistake
costs time, and never a right result.

Source: the course's own.
"""

import ast
import builtins
import inspect
import textwrap

from course_lib.cuda import hopper

READERS = (
    "ld4", "ld2", "ldmatrix_x4", "nonneg", "float_bits", "bits_float", "to_tf32", "to_fp16_pair", "to_bf16_pair",
    "split_tf32", "chop_tf32", "mma_tf32", "mma_fp16", "mma_bf16", "rest_tf32", "shared_address", "tensor_map_fence",
    "mbarrier_wait",
)  # fmt: skip
"""Intrinsics that write nothing. Named one by one: a new one counts as writing until it stands here."""

WRITE_FIRST = (
    "st4", "st2", "cp_async16", "cp_async4", "cp_async16_part", "cp_async4_part", "mbarrier_init", "mbarrier_expect",
    "mbarrier_arrive", "mbarrier_arrive_at", "tma_load", "tma_load_to_all", *hopper.PRODUCTS,
)  # fmt: skip
"""Intrinsics that write their first argument, and only read the others: an array, or where it lies in shared memory.

What a copy by TMA reads is no argument of it, only a map: that a matrix is read, a launch says by having it among its
own arguments."""

HARMLESS = ("len", "min", "max", "abs", "range", "float", "int", "bool", "round", "zip", "enumerate", "pow", "divmod")
"""Built-in functions that write nothing."""

WARP_WORDS = (
    "shfl_sync", "shfl_xor_sync", "shfl_up_sync", "shfl_down_sync", "ballot_sync", "any_sync", "all_sync", "popc",
    "clz", "ffs", "brev", "fma", "selp", "syncthreads_and", "syncthreads_or", "syncthreads_count",
)  # fmt: skip
"""Functions of `numba.cuda` that take numbers."""

NUMBERS = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""Types that are called to convert a number."""

_ALL = object()


def written(kernel):
    """Return the positions of the parameters that a kernel or device function may write, a frozenset of ints.

    All of them, where its text cannot be had. No errors. Source: the course's own.
    """
    return _written(kernel, ())


def _written(jitted, within):
    found = jitted.__dict__.get("_written")
    if found is None:
        everything = frozenset(range(len(inspect.signature(jitted.py_func).parameters)))
        found = everything if jitted in within else _read_text(jitted, everything, (*within, jitted))
        if not within:  # a function that calls itself is known when the outermost call is
            jitted.__dict__["_written"] = found
    return found


def _read_text(jitted, everything, within):
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(jitted.py_func))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return everything
    body = [node for statement in tree.body for node in ast.walk(statement)]
    inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Global | ast.Nonlocal
    if any(isinstance(node, inner) for node in body):
        return everything
    function = _Function(body, _names(jitted.py_func), within)
    parameters = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
    if len(parameters) != len(everything):  # *arguments
        return everything
    return frozenset(i for i, name in enumerate(parameters) if function.may_write(name))


def _names(function):
    """Return what the names that a function uses from outside stand for."""
    closed = inspect.getclosurevars(function)
    return {**vars(builtins), **function.__globals__, **closed.nonlocals}


class _Function:
    """The statements and expressions of a body, as a flat list of nodes."""

    def __init__(self, body, names, within):
        self.names, self.within = names, within
        self.bound = [pair for node in body for pair in _bindings(node)]
        self.stores = [n.value for n in body if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)]
        self.stores += [n.value for n in body if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)]
        self.calls = [node for node in body if isinstance(node, ast.Call)]

    def may_write(self, parameter):
        """Return whether an element that is reached through a parameter may be set."""
        carriers, before = {parameter}, 0
        while len(carriers) > before:  # names that may stand for the array, or a part of it
            before = len(carriers)
            carriers |= {name for name, value in self.bound if _mentions(value, carriers)}
        if any(_mentions(store, carriers) and _root(store) in (None, *carriers) for store in self.stores):
            return True
        return any(self._call_writes(call, carriers) for call in self.calls)

    def _call_writes(self, call, carriers):
        named = [keyword.value for keyword in call.keywords]
        given = [i for i, argument in enumerate(call.args) if _mentions(argument, carriers)]
        if isinstance(call.func, ast.Attribute) and _root(call.func.value) in carriers:
            return True  # a method of the array
        if any(_mentions(argument, carriers) for argument in named):
            return True
        if not given:
            return False
        positions = _ALL if any(isinstance(a, ast.Starred) for a in call.args) else self._positions(call.func)
        return positions is _ALL or any(i in positions for i in given)

    def _positions(self, called):
        """Return the positions that a call writes, or _ALL."""
        if isinstance(called, ast.Attribute):
            return self._of_a_module(ast.unparse(called).split("."))
        if not isinstance(called, ast.Name):
            return _ALL
        name, value = called.id, self.names.get(called.id)
        if hasattr(value, "py_func"):
            return _written(value, self.within)
        if getattr(value, "__module__", "") == hopper.__name__:  # a kernel may choose one of several, by its size
            name = value.__name__
        if name in WRITE_FIRST:
            return (0,)
        return () if name in (*READERS, *NUMBERS) or (name in HARMLESS and value is vars(builtins)[name]) else _ALL

    @staticmethod
    def _of_a_module(words):
        if words[:2] == ["cuda", "atomic"]:
            return (0,)
        known = {"math": words[1:], "np": NUMBERS, "cuda": WARP_WORDS}.get(words[0], ())
        return () if len(words) == 2 and words[1] in known else _ALL


def _bindings(node):
    """Yield (name, the expression it is bound to) of one node."""
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        pairs = [(node.target, node.value)] if node.value is not None else []
    elif isinstance(node, ast.For | ast.comprehension):
        pairs = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem):
        pairs = [(node.optional_vars, node.context_expr)] if node.optional_vars is not None else []
    else:
        pairs = []
    for target, value in pairs:
        yield from ((n.id, value) for n in ast.walk(target) if isinstance(n, ast.Name) and _binds(n))


def _binds(name):
    return not isinstance(name.ctx, ast.Load)


def _mentions(expression, names):
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(expression))


def _root(expression):
    """Return the name at the beginning of a.b[c].d, or None."""
    while isinstance(expression, ast.Subscript | ast.Attribute | ast.Starred):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None
