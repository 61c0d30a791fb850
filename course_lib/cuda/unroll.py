"""`unroll`: write one loop out as straight lines, and keep what was compiled for the next time.

    for k in unroll(BK):        # BK copies of the body, k a number in each
        acc += As[row, k] * Bs[k, col]

The body neither breaks off nor continues the loop, nor sets k, and nobody reads k after the loop.
Numba has no word for it, and the compiler behind it stops unrolling at bodies of about 64 multiply-adds. Here the loop
is expanded in the syntax tree before Numba sees it. The SIMT executor and Numba's simulator run the loop as it stands.

A kernel that is expanded, or kept on disk (`cache=True`), becomes a small file of its own in a folder of the user's
cache, with a name that depends on all that it was made from: its text, its constants, the functions it calls, the
compiler. So a changed constant is another file, and Numba's own cache beside it never serves stale code.

Source: the course's own; Numba's documentation, "Notes on Caching".
"""

import ast
import functools
import hashlib
import inspect
import linecache
import os
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

MOST_TURNS = 256
"""A loop of more turns than this is not written out."""

MOST_DAYS = 90
"""Kept kernels that are older go when a new one is kept."""

HOPPER = "course_lib.cuda.hopper"
"""The module of intrinsics that few kernels use: its text counts for those alone."""

RULES = "unroll takes one constant expression of numbers known before the launch, as in unroll(BK)"


def unroll(n):
    """Return range(n): what the loop means where nobody expands it. No errors. Source: the course's own."""
    return range(n)


class _Replace(ast.NodeTransformer):
    """Put a number where a name is read."""

    def __init__(self, name, number):
        self.name, self.number = name, number

    def visit_Name(self, node):
        reads = node.id == self.name and isinstance(node.ctx, ast.Load)
        return ast.copy_location(ast.Constant(self.number), node) if reads else node


class _Expand(ast.NodeTransformer):
    """Replace each `for NAME in unroll(N):` by N copies of its body."""

    def __init__(self, names, function):
        self.names, self.function = names, function

    def visit_For(self, node):
        call = node.iter
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and self.names.get(call.func.id)
        if named is not unroll:
            return self.generic_visit(node)
        if len(call.args) != 1 or call.keywords or not isinstance(node.target, ast.Name) or node.orelse:
            raise TypeError(f"{self.function}, line {node.lineno}: {RULES}, and one name before `in`.")
        self._check_body(node)
        lines = []
        for turn in range(self._turns(call.args[0], node)):
            for statement in node.body:
                copy = _Replace(node.target.id, turn).visit(ast.parse(ast.unparse(statement)).body[0])
                copy = self.visit(copy)
                lines.extend(copy if isinstance(copy, list) else [copy])
        return lines

    def _check_body(self, loop):
        """What would mean something else in straight lines is refused."""
        name = loop.target.id
        for node in _of_this_loop(loop.body):
            if isinstance(node, ast.Break | ast.Continue):
                word = type(node).__name__.lower()
                raise TypeError(
                    f"{self.function}, line {node.lineno}: {word} in a loop over unroll; there is no loop left to "
                    "leave. Use range, or an if."
                )
        for node in (n for statement in loop.body for n in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                raise TypeError(
                    f"{self.function}, line {node.lineno}: {name} is set in a loop over unroll, where it is a number. "
                    "Take another name."
                )

    def _turns(self, expression, node):
        try:
            turns = eval(compile(ast.Expression(expression), "<unroll>", "eval"), dict(self.names))
        except Exception as error:
            raise TypeError(f"{self.function}, line {node.lineno}: {RULES}; {error}.") from None
        if type(turns) is not int or not 0 < turns <= MOST_TURNS:
            raise ValueError(
                f"{self.function}, line {node.lineno}: unroll({ast.unparse(expression)}) is {turns!r} turns; it takes "
                f"1 to {MOST_TURNS}. Use range for a loop of more."
            )
        return turns


def _of_this_loop(statements):
    """Yield the statements that belong to a loop itself, not to loops or functions within it."""
    for statement in statements:
        yield statement
        if not isinstance(statement, ast.For | ast.While | ast.FunctionDef):
            for part in ("body", "orelse"):
                yield from _of_this_loop(getattr(statement, part, []))


def compiled_form(function, cache=False, options=()):
    """Return (the function that Numba gets, whether its `cache=True` can be used).

    A plain function that neither unrolls nor is to be kept comes back as it is. For numba-cuda-mlir the names in the
    text are bound to its own objects, and nothing is kept.

    Parameters
    ----------
    function : function
        A kernel or device function in Numba-CUDA's language.
    cache : bool
    options : dict
        Of `jit`: machine code for other launch bounds is other machine code.

    Raises
    ------
    TypeError, ValueError
        If it uses `unroll` in another way than `for k in unroll(CONSTANT):`.
    DeviceError
        If COURSE_COMPILER cannot be had, or does not know an intrinsic of the function.

    Source: the course's own.
    """
    from course_lib.cuda.numba_cuda import MLIR, choose_compiler

    names, bound = _names(function), None
    if choose_compiler() == MLIR:
        from course_lib.cuda.mlir_names import own_names

        bound, cache = own_names(names), False
    elif not cache and not any(value is unroll for value in names.values()):
        return function, False
    text = _expanded(function, names)
    file = _keep(function.__name__, text, _fingerprint(function, text, names, options)) if cache else None
    where = str(file) if file else f"<{function.__qualname__}, unrolled>"
    if file is None:
        linecache.cache[where] = (len(text), None, text.splitlines(True), where)
    scope = {**(bound or names), "__name__": function.__module__, "__builtins__": __builtins__}
    exec(compile(text, where, "exec"), scope)
    return scope[function.__name__], file is not None


def _names(function):
    """Return {name: object} of the globals and closure variables that the function reads, functions inside it too."""
    found = inspect.getclosurevars(function)
    inside = {name for code in _codes(function.__code__) for name in code.co_names}
    around = {name: value for name, value in function.__globals__.items() if name in inside}
    return {**around, **found.globals, **found.nonlocals}


def _codes(code):
    """Yield a code object and those of the functions, lambdas and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _codes(constant)


def _constants(function, names):
    """Return texts on what a function reads in other ways than by name: defaults, and numbers of modules."""
    words = {word for code in _codes(function.__code__) for word in code.co_names}
    modules = {name: value for name, value in names.items() if inspect.ismodule(value)}
    found = [f"{name}.{w}={vars(m)[w]!r}" for name, m in sorted(modules.items()) for w in sorted(words & vars(m).keys())
             if isinstance(vars(m)[w], bool | int | float | str)]  # fmt: skip
    return [f"defaults={function.__defaults__!r}, {function.__kwdefaults__!r}", *found]


def _expanded(function, names):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    definition.decorator_list = []
    tree = ast.fix_missing_locations(_Expand(names, function.__name__).visit(tree))
    return ast.unparse(tree) + "\n"


def _keep(name, text, fingerprint):
    """Write the text into the user's cache and return the file, None where nothing can be written."""
    file = cache_folder() / f"{name.strip('_')}_{fingerprint}.py"
    with suppress(OSError, UnicodeDecodeError):
        if file.read_text(encoding="utf-8") == text:  # one that was cut off is written again
            return file
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, file)  # at once, so that another process never reads half a file
        _forget_old(file.parent)
        return file
    return None


def _forget_old(folder):
    """Remove kernels that nobody made anew for long; the folder would only grow."""
    before = time.time() - MOST_DAYS * 24 * 3600
    for file in (*folder.glob("*.py"), *folder.glob("__pycache__/*.nb?")):
        with suppress(OSError):  # another process may have been first
            if file.stat().st_mtime < before:
                file.unlink()


def cache_folder():
    """Return the folder of kept kernels: COURSE_CACHE, or "course-lib/kernels" in the user's cache. No errors.

    Source: the XDG base directory specification; on Windows LOCALAPPDATA.
    """
    own = os.environ.get("COURSE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    return Path(base) / "course-lib" / "kernels" if base else Path.home() / ".cache" / "course-lib" / "kernels"


def fingerprint(function, options=()):
    """Return 16 hexadecimal digits that differ if anything differs that a kernel's machine code is made from.

    What a launch adds, the types of its arguments and the card, is not among it. Errors as `compiled_form`; parameters
    as there. Source: the course's own.
    """
    names = _names(function)
    return _fingerprint(function, _expanded(function, names), names, options)


def _fingerprint(function, text, names, options=(), above=()):
    """As `fingerprint`, with the function's text, its loops written out, and the names that it reads.

    `above` are the functions that are being described: one that names itself, or an attribute of its own name
    (`math.tanh` in `tanh`), ends there.
    """
    parts = [_toolchain(), text, *_constants(function, names)]
    parts += [f"{name}={_described(value, above)}" for name, value in sorted(names.items())]
    parts += [f"{name}={value!r}" for name, value in sorted(dict(options).items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _described(value, above=()):
    inner = getattr(value, "py_func", None)
    if inner is not None and inner not in above:  # a device function: its own text and constants
        names = _names(inner)
        return _fingerprint(inner, _expanded(inner, names), names, getattr(value, "made_from", ()), (*above, inner))
    if isinstance(value, tuple):
        return f"({', '.join(_described(part, above) for part in value)})"
    if isinstance(value, bool | int | float | str):
        return repr(value)
    if hasattr(value, "tobytes"):
        return f"{value.dtype.str}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    module = getattr(value, "__module__", "")
    return f"{module}.{getattr(value, '__name__', value)}{_hopper_text() if module == HOPPER else ''}"


@functools.cache
def _hopper_text():
    """Return a hash of the file with Hopper's intrinsics, for kernels that use them."""
    text = Path(__file__).with_name("hopper.py").read_bytes()
    return hashlib.sha256(text).hexdigest()


@functools.cache
def _toolchain():
    """Return what else machine code depends on: versions, and the files that write it."""
    import numba

    from course_lib.cuda import fastrange, intrinsics
    from course_lib.cuda.numba_cuda import COMPILER, HAS_PACKAGE

    version = __import__("numba_cuda").__version__ if HAS_PACKAGE else ""
    files = [Path(m.__file__).read_text(encoding="utf-8") for m in (fastrange, intrinsics)]
    counted = str(fastrange.install())
    return hashlib.sha256("\n".join([COMPILER, version, numba.__version__, counted, *files]).encode()).hexdigest()
