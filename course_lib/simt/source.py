"""The text of a kernel: its syntax tree, its lines, and the objects its free names stand for.

Source: the course's own. A kernel's text is read, never run: `vocabulary` says which objects a name may stand for.
"""

import ast
import builtins
import inspect
import linecache
import os
import re
import sys
import textwrap
import types

import numba.cuda
from numba.core import utils
from numba.core.registry import CPUDispatcher

from course_lib.cuda.kernel import DeviceFunction, Kernel
from course_lib.cuda.tracebacks import OneLine
from course_lib.simt.signature_text import NotDeclared
from course_lib.simt.signatures import checked, declared_by, declared_of

MOST_DEPTH = 100
"""How deep expressions and statements may be nested; as many terms may be added in one expression."""

TIMED = "<timed exec>"
"""What IPython gives as the file of a cell that begins with %%time."""

MOST_WORDS = 800
"""Characters of a message: names and texts in it can be of any length."""

KERNEL_TYPES = (Kernel, DeviceFunction)
"""The course's own objects that hold a kernel, in their attribute `py_func`."""


class KernelError(OneLine):
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
        With the one of *args, `rest`, at the end, and then `captured`.
    rest : str or None
    captured : tuple of str
        Variables of the function around it that it reads; a call gives it their values.
    defaults : dict of str to object
        What a parameter is without an argument: an object, or in a text an expression.
    assigned : set of str
        Names that the function itself gives a value.
    lines : dict of int to str
        The text of each line.
    outside : dict of str to object
        Globals and closure variables.
    meanings : dict of str to object
        What the names from outside mean to a kernel, as far as they were looked up.
    signatures : tuple of Signature
        The types that a decorator declares, () where they are found at the launch.
    family : dict of tuple to Source
        The functions that a kernel calls, and those that they call, by the id of the function and its signatures.

    Raises
    ------
    KernelError
        If the function is none that a kernel can be.

    Source: the course's own.
    """

    def __init__(self, tree, lines, outside, family=None, *, defaults=None, captured=(), signatures=()):
        a = tree.args
        if a.kwarg or a.kwonlyargs:
            raise KernelError("a kernel has no **options and no parameters behind a *: Numba has neither.", tree.lineno)
        check_depth(tree)
        self.tree, self.lines, self.outside, self.meanings = tree, lines, outside, {}
        self.family, self.signatures = {} if family is None else family, signatures
        self.weights, self.inner, self.asking, self.meetings, self.values = {}, {}, {}, {}, {}
        self.literals, self.captures = {}, {}  # {Constant: its number}, {(name, node of a call): the Name that is read}
        self.name, self.parameters = tree.name, [p.arg for p in (*a.posonlyargs, *a.args)]
        self.rest = a.vararg.arg if a.vararg else None
        if self.rest:
            self.parameters.append(self.rest)
        plain = self.parameters[: -1 if self.rest else None]
        optional = plain[len(plain) - len(a.defaults) :]
        self.defaults = dict(zip(optional, a.defaults if defaults is None else defaults, strict=True))
        self.captured = tuple(captured)
        self.parameters += self.captured
        declared = {name for n in own_nodes(tree) if isinstance(n, ast.Global) for name in n.names}
        self.assigned = {*self.parameters, *_stored(tree)} - declared

    def weight(self, node):
        """Return how many steps of the budget a statement takes: one, and one more for each eight parts it has."""
        known = self.weights.get(id(node))
        if known is None:
            own = [getattr(node, part) for part in ("test", "iter") if hasattr(node, part)] or [node]
            known = self.weights[id(node)] = 1 + sum(1 for tree in own for _ in ast.walk(tree)) // 8
        return known

    def given(self, name):
        """Return the expressions that a variable is given, or None where it also gets its value in another way."""
        if name not in self.values:
            self.values[name] = self._given(name)
        return self.values[name]

    def _given(self, name):
        nodes = list(own_nodes(self.tree))
        times = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)
        values = [
            n.value for n in nodes if isinstance(n, ast.Assign)
            for target in n.targets if isinstance(target, ast.Name) and target.id == name
        ]  # fmt: skip
        return values if len(values) == times and len({ast.dump(v) for v in values}) == 1 else None

    def wraps(self, node, axis):
        """Return whether the array of a subscript is elsewhere indexed by a remainder on this axis: a ring is meant."""
        array = ast.dump(node.value) if isinstance(node, ast.Subscript) else ""
        for other in own_nodes(self.tree) if array else ():
            if isinstance(other, ast.Subscript) and ast.dump(other.value) == array:
                parts = other.slice.elts if isinstance(other.slice, ast.Tuple) else [other.slice]
                part = parts[axis] if axis < len(parts) else None
                if part is not None and any(isinstance(n, ast.Mod) for n in ast.walk(part)):
                    return True
        return False

    def of_inner(self, node):
        """Return the Source of a function that stands in this one: a def, or a lambda; one for a node."""
        if id(node) not in self.inner:
            tree = as_def(node)
            reads = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            own = {*(a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)), *_stored(tree)}
            lines = {n: text for n, text in self.lines.items() if tree.lineno <= n <= node.end_lineno}
            self.inner[id(node)] = source = Source(
                tree, lines, self.outside, self.family, captured=sorted((reads & self.assigned) - own)
            )
            source.meanings = self.meanings
        return self.inner[id(node)]


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def own_nodes(tree):
    """Yield the nodes of a function, without what stands in functions inside of it."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def _stored(tree):
    """Return the names that a function's own statements give a value."""
    nodes = list(own_nodes(tree))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}


def as_def(node):
    """Return a function's tree as that of a def: a lambda is one whose body is a return."""
    if isinstance(node, ast.FunctionDef):
        return node
    back = ast.copy_location(ast.Return(node.body), node.body)
    tree = ast.FunctionDef("lambda", node.args, [back], [], None)
    tree.type_params = []
    return ast.copy_location(tree, node)


def source_of(kernel, family=None):
    """Return the Source of a function, of an object that holds a kernel, or of a Source itself; one for a function.

    Raises
    ------
    KernelError
        If its text cannot be read, or is no function written with def.
    """
    if type(kernel) is Source:
        return kernel
    signatures, device = (), True
    if is_kernel(kernel):
        signatures, device = declared_of(kernel), is_device(kernel)
        kernel = kernel.py_func
    if type(kernel) is not types.FunctionType:
        raise KernelError(f"a kernel is a function written with def, and this is a {kind_name(kernel)}.")
    family = {} if family is None else family
    if (id(kernel), signatures) in family:
        return family[id(kernel), signatures]
    if kernel.__name__ == "<lambda>":
        return _source_of_lambda(kernel, family, signatures or ())
    text, first = _lines_of(kernel.__code__), kernel.__code__.co_firstlineno
    if not text:
        raise KernelError(f"the source of {kernel.__name__} cannot be read; define it with def, in a file or a cell.")
    tree = parse(textwrap.dedent("".join(text)), first)
    if not tree or type(tree[0]) is not ast.FunctionDef:
        raise KernelError("a kernel is a function written with def.", first)
    outside, declared = _names_outside(kernel), signatures
    if signatures is None:
        declared = _declared_in(tree[0], kernel, device)
    lines = {first + i: line.rstrip("\n") for i, line in enumerate(text)}
    family[id(kernel), signatures] = source = Source(
        tree[0], lines, outside, family, defaults=kernel.__defaults__ or (), signatures=declared
    )
    return source


def _declared_in(tree, function, device):
    """Return the Signatures of the decorator in a function's text."""
    found = declared_by(tree, lambda node: _object_of(node, function))
    try:
        return found and checked(found, len(tree.args.posonlyargs) + len(tree.args.args), tree.name, device)
    except NotDeclared as error:
        raise KernelError(str(error), tree.decorator_list[0].lineno) from None


MODULE_NAMES = types.ModuleType.__dict__["__dict__"].__get__
"""Returns a module's own dictionary: its __getattr__ is not asked."""


def is_module(value):
    """Return whether a value is a module; numba.types, once imported by this name, is one of a class of Numba's own."""
    return any(type(value) is kind for kind in (types.ModuleType, getattr(utils, "_RedirectSubpackage", None)))


def _object_of(node, function):
    """Return the object that a name stands for around a function, or a module's name behind a dot; else None."""
    if type(node) is ast.Attribute:
        owner = _object_of(node.value, function)
        return MODULE_NAMES(owner).get(node.attr) if is_module(owner) else None
    if type(node) is not ast.Name:
        return None
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == node.id:
            try:
                return cell.cell_contents
            except ValueError:  # not set yet
                return None
    names = function.__globals__
    return dict.__getitem__(names, node.id) if dict.__contains__(names, node.id) else None


def _source_of_lambda(function, family, signatures):
    """Return the Source of a lambda: the one in its file that begins at the line and column of its code."""
    code = function.__code__
    file, where = code.co_filename, [p for p in code.co_positions() if p[0] is not None and p[2] is not None]
    text = "".join(linecache.getlines(file)) if file in linecache.cache or os.path.isfile(file) else ""
    body = max((p[0], p[2]) for p in where) if where else None  # inside of its body, whatever comes first
    found = []
    for node in (n for statement in parse(text) for n in ast.walk(statement)) if text and body else ():
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            begin, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
            if begin <= body <= end:
                found.append(node)
    if not found:
        raise KernelError("the source of a lambda cannot be read; define the function with def, in a file or a cell.")
    tree = as_def(min(found, key=lambda n: (n.body.end_lineno - n.body.lineno, n.body.end_col_offset)))
    lines = {n: linecache.getline(file, n).rstrip("\n") for n in range(tree.lineno, tree.end_lineno + 1)}
    family[id(function), signatures] = source = Source(
        tree, lines, _names_outside(function), family, defaults=function.__defaults__ or (), signatures=signatures
    )
    return source


def _lines_of(code):
    """Return the lines of a function's source, [] if there are none; no module is asked where it comes from."""
    file = code.co_filename
    if file == TIMED:
        return _lines_of_timed(code)
    if file in linecache.cache or os.path.isfile(file):
        linecache.checkcache(file)
        return _block(linecache.getlines(file), code)
    return []


def _block(lines, code):
    lines = lines[code.co_firstlineno - 1 :]
    return inspect.getblock(lines) if lines else []


def _lines_of_timed(code):
    """Return the lines of a function in a cell that begins with %%time: IPython keeps them in its history only."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    for cell in reversed(shell.history_manager.input_hist_raw if shell else []):
        magic, _, body = cell.partition("\n")
        if magic.split()[:1] == ["%%time"]:
            lines = _block(body.splitlines(keepends=True), code)
            if any(re.match(rf"\s*def\s+{code.co_name}\b", line) for line in lines):
                return lines
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
    """Return whether a value holds a kernel: one of the course's, or what Numba's `cuda.jit` or `njit` makes of one."""
    kind, dispatcher = type(value), getattr(numba.cuda, "dispatcher", None)
    numbas = getattr(dispatcher, "CUDADispatcher", None)
    return kind is numbas or kind is CPUDispatcher or any(kind is k for k in KERNEL_TYPES)


def is_device(kernel):
    """Return whether a value that holds a kernel, for which `is_kernel` holds, is a device function to Numba."""
    options = vars(kernel).get("targetoptions")
    return type(options) is not dict or options.get("device") is not False


def kind_name(value):
    """Return the name of a value's class, without asking the value, which may be anybody's object."""
    return type.__dict__["__name__"].__get__(type(value))
