"""The text of a kernel: its syntax tree, its lines, and the objects its free names stand for.

Source: the course's own. A kernel's text is read, never run: `vocabulary` says which objects a name may stand for.
"""

import ast
import builtins
import inspect
import linecache
import os
import textwrap
import types

import numba.cuda

from course_lib.cuda.kernel import DeviceFunction, Kernel

MOST_DEPTH = 100
"""How deep expressions and statements may be nested; as many terms may be added in one expression."""

MOST_WORDS = 800
"""Characters of a message: names and texts in it can be of any length."""

KERNEL_TYPES = (Kernel, DeviceFunction)
"""The course's own objects that hold a kernel, in their attribute `py_func`."""


class KernelError(Exception):
    """A kernel that cannot be run as it stands; the message names the line and the fix. Source: the course's own."""

    def __init__(self, message, line=None):
        if len(message) > MOST_WORDS:
            message = f"{message[: MOST_WORDS // 2]} ... {message[-MOST_WORDS // 2 :]}"
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


class Source:
    """A function's tree, parameters, lines, and the objects its free names stand for.

    Attributes
    ----------
    name : str
    tree : ast.FunctionDef
        With line numbers of the file.
    parameters : list of str
    assigned : set of str
        Names that the function itself gives a value.
    lines : dict of int to str
        The text of each line.
    outside : dict of str to object
        Globals and closure variables.
    meanings : dict of str to object
        What the names from outside mean to a kernel, as far as they were looked up.
    family : dict of int to Source
        The functions that a kernel calls, and those that they call, by the id of the function.

    Raises
    ------
    KernelError
        If the function is none that a kernel can be.

    Source: the course's own.
    """

    def __init__(self, tree, lines, outside, family=None):
        a = tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.defaults:
            raise KernelError("a kernel takes plain parameters only: no *args, **options or defaults.", tree.lineno)
        check_depth(tree)
        self.tree, self.lines, self.outside, self.meanings = tree, lines, outside, {}
        self.family = {} if family is None else family
        self.weights = {}
        self.name, self.parameters = tree.name, [p.arg for p in (*a.posonlyargs, *a.args)]
        stored = (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.assigned = {*self.parameters, *stored}

    def weight(self, node):
        """Return how many steps of the budget a statement takes: one, and one more for each eight parts it has."""
        if id(node) not in self.weights:
            own = [getattr(node, part) for part in ("test", "iter") if hasattr(node, part)] or [node]
            self.weights[id(node)] = 1 + sum(1 for tree in own for _ in ast.walk(tree)) // 8
        return self.weights[id(node)]

    def is_constant(self, name):
        """Return whether a name stands for one number from the beginning: from outside, or set to a literal only."""
        if name not in self.assigned:
            return True
        nodes = list(ast.walk(self.tree))
        times = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)
        literal = any(
            isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant)
            and any(isinstance(target, ast.Name) and target.id == name for target in n.targets)
            for n in nodes
        )  # fmt: skip
        return literal and times == 1 and name not in self.parameters


def source_of(kernel, family=None):
    """Return the Source of a function, of an object that holds a kernel, or of a Source itself; one for a function.

    Raises
    ------
    KernelError
        If its text cannot be read, or is no function written with def.
    """
    if type(kernel) is Source:
        return kernel
    if is_kernel(kernel):
        kernel = kernel.py_func
    if type(kernel) is not types.FunctionType:
        raise KernelError(f"a kernel is a function written with def, and this is a {kind_name(kernel)}.")
    family = {} if family is None else family
    if id(kernel) in family:
        return family[id(kernel)]
    text, first = _lines_of(kernel.__code__), kernel.__code__.co_firstlineno
    if not text:
        raise KernelError(f"the source of {kernel.__name__} cannot be read; define it with def, in a file or a cell.")
    tree = parse(textwrap.dedent("".join(text)), first)
    if not tree or type(tree[0]) is not ast.FunctionDef:
        raise KernelError("a kernel is a function written with def.", first)
    outside = _names_outside(kernel)
    lines = {first + i: line.rstrip("\n") for i, line in enumerate(text)}
    family[id(kernel)] = source = Source(tree[0], lines, outside, family)
    return source


def _lines_of(code):
    """Return the lines of a function's source, [] if there are none; no module is asked where it comes from."""
    file = code.co_filename
    if file in linecache.cache or os.path.isfile(file):
        linecache.checkcache(file)
        lines = linecache.getlines(file)[code.co_firstlineno - 1 :]
        return inspect.getblock(lines) if lines else []
    return []


def parse(text, first=1):
    """Return the statements of a text whose first line has the number `first`.

    Raises
    ------
    KernelError
        If Python cannot read it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise KernelError(f"Python cannot read this: {error.msg}.", (error.lineno or 1) + first - 1) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise KernelError(f"Python cannot read this text: {str(error) or 'it is nested too deep'}.", first) from None
    ast.increment_lineno(tree, first - 1)
    return tree.body


def check_depth(tree):
    """Walk a tree level by level; KernelError where it is nested more than MOST_DEPTH deep."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            line = next((node.lineno for node in level if hasattr(node, "lineno")), None)
            raise KernelError(f"this is nested more than {MOST_DEPTH} deep; split it into several statements.", line)
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _names_outside(function):
    """Return {name: object} of the builtins, globals and closure variables that a function's text may mean."""
    code = function.__code__
    names = {name for each in _codes(code) for name in each.co_names}
    outside = {name: vars(builtins)[name] for name in names if name in vars(builtins)}
    outside |= {name: dict.__getitem__(function.__globals__, name) for name in names
                if dict.__contains__(function.__globals__, name)}  # fmt: skip
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            outside[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return outside


def _codes(code):
    found = [code]
    for each in found:
        found += [c for c in each.co_consts if type(c) is types.CodeType]
    return found


def is_kernel(value):
    """Return whether a value holds a kernel: one of the course's, or what Numba's `cuda.jit` makes of a function."""
    kind, dispatcher = type(value), getattr(numba.cuda, "dispatcher", None)
    numbas = getattr(dispatcher, "CUDADispatcher", None)
    return kind is numbas or any(kind is k for k in KERNEL_TYPES)


def kind_name(value):
    """Return the name of a value's class, without asking the value, which may be anybody's object."""
    return type.__dict__["__name__"].__get__(type(value))
