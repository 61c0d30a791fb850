"""A kernel from a text, as a grader gets it: the text is read and never run.

Source: the course's own. Only imports of the vocabulary, constants and functions may stand in it; the constants are
computed here, in `constants`, so that a text cannot ask for more work or memory than its length.
"""

import ast
import builtins
import re
import warnings

from course_lib.simt.constants import TYPES, constant
from course_lib.simt.functions import known
from course_lib.simt.signature_text import TYPES as NUMBERS_DECLARED
from course_lib.simt.signature_text import VOID, NotDeclared, of_decorator
from course_lib.simt.signatures import checked
from course_lib.simt.source import KernelError, Source, kind_name
from course_lib.simt.texts import Text, check_depth, parse
from course_lib.simt.vocabulary import (
    BUILTINS,
    NAMES,
    REFUSED,
    WAYS,
    DeviceFunction,
    Unusable,
    Word,
    from_outside,
    leading,
    pythons_own,
)  # fmt: skip

MOST_CHARACTERS = 200_000
"""The longest text: some 5,000 lines."""

ALLOWED = (
    "A kernel's text has imports of numba, numpy, math and gpu, constants such as T = 16, and functions written with "
    "def; launch the kernel elsewhere."
)
MODULES = {
    "math": "math", "cmath": "cmath", "operator": "operator", "numpy": "np", "numba": "numba", "numba.cuda": "cuda",
    "numba.types": "numba.types", "numba.core.types": "numba.types", "numba.cuda.types": "numba.types",
    "numba.cuda.libdevice": "libdevice", "numba.cuda.random": "cuda.random", "course_lib.gpu": "gpu",
}  # fmt: skip
MODULES["course_lib.cuda.intrinsics"] = MODULES["course_lib.cuda.hopper"] = "intrinsic"
JIT = ("cuda.jit", "gpu.jit")
NJIT = ("numba.njit", "numba.jit")
"""What makes a function that the host may call too; kernels call it as a device function."""
SIGNATURE_WORDS = tuple(f"numba.{name}" for name in (*NUMBERS_DECLARED, *VOID))
OPTIONS = ("device", "inline", "fastmath", "debug", "opt", "lineinfo", "max_registers", "cache")


def read(text, name=None, *, names=None, kept=None, imports=(), skip=False, numbers=None):
    """Return the `Source` of a kernel in a text. Nothing of the text is executed.

    Parameters
    ----------
    text : str
        At most 200,000 characters. At its top level: a docstring, imports of the vocabulary under any name, constants,
        and functions, with @gpu.jit, @cuda.jit or neither.
    name : str, optional
        The kernel's name; needed if there are several functions that are no device functions.
    names : mapping of str to number, optional
        Constants that the text may use without having them.
    kept : mapping of str to array, optional
        As `names`, arrays too; what the text itself gives such a name is passed over.
    imports : sequence of str
        Imports that the text may do without, such as "import math".
    skip : bool
        Pass over what else stands at the top level, as in a cell of a notebook: launches, prints, other functions. The
        names that it gives a value are then nothing that the kernel can use.
    numbers : sequence of int, optional
        By which number each line of the text is told, such as that of its cell; from 1 on unless given.

    Raises
    ------
    KernelError
        For everything else, with its line; and if there is no such kernel.

    Source: the course's own.
    """
    if type(text) is not str:
        raise KernelError(f"a kernel's text is a str, and this is a {kind_name(text)}.")
    if len(text) > MOST_CHARACTERS:
        raise KernelError(f"the text has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statements = parse(text)
    module = _Module(re.split("\r\n|\r|\n", text), kept or {})
    for line in imports:
        module.take(parse(line)[0], False)
    module.names |= {n: value for n, value in (names or {}).items() if n not in module.names.kept}
    for number, statement in enumerate(_one_by_one(statements)):
        if numbers is not None:
            module.shift = numbers[statement.lineno - 1] - statement.lineno
            ast.increment_lineno(statement, module.shift)
        try:
            module.take(statement, number == 0)
        except KernelError as error:
            if not skip or (isinstance(statement, ast.FunctionDef) and statement.name == name):
                raise
            module.pass_over(statement, error)
    return module.kernel(name)


def _one_by_one(statements):
    """Yield statements; an import of several names as several imports, so that one can be passed over alone."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                one = ast.Import([alias])
                if isinstance(statement, ast.ImportFrom):
                    one = ast.ImportFrom(statement.module, [alias], statement.level)
                yield ast.copy_location(one, statement)
        else:
            yield statement


class _Names(dict):
    """{name: meaning}, in which some names keep theirs."""

    def __init__(self, names, kept):
        super().__init__(names | kept)
        self.kept = kept

    def __setitem__(self, name, meaning):
        if name not in self.kept:
            super().__setitem__(name, meaning)


class _Module:
    """The names that a text has given a meaning so far, and its functions."""

    def __init__(self, lines, kept):
        self.lines, self.sources, self.devices, self.meanings = lines, {}, set(), {}
        self.shift = 0  # from the number of a line to the one by which it is told
        own = {name: Word(name) for name in BUILTINS}
        others = {name: pythons_own(name) for name in dir(builtins)}
        others |= {name: from_outside(getattr(builtins, name), name, {}) for name in REFUSED}
        self.names = _Names(others | own, kept)

    def take(self, node, first):
        """Take in one statement of the top level."""
        check_depth(node)
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._import(alias, node)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self._import_from(alias, node)
        elif isinstance(node, ast.FunctionDef):
            self._function(node)
        elif isinstance(node, ast.Assign):
            value = constant(node.value, self.names)
            for target in node.targets:
                self._assign(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _check_annotation(node.annotation)
            self._assign(node.target, constant(node.value, self.names))
        elif not (first and isinstance(node, ast.Expr) and _is_text(node.value)):
            raise KernelError(f"{_construct(node)} cannot stand outside of a function here. {ALLOWED}", node.lineno)

    def pass_over(self, node, error):
        """Leave out a statement of the top level: the names that it gives a value are unusable from there on."""
        message, names = str(error).removeprefix(f"line {error.line}: "), set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
            elif isinstance(part, ast.alias):
                names.add(part.asname or part.name.partition(".")[0])
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(part.name)
        for name in names - {"*"}:
            self.sources.pop(name, None)
            self.names[name] = Unusable(f"{name} is nothing that a kernel can use: {message}")

    def _import(self, alias, node):
        path = MODULES.get(alias.name)
        if path is None or (alias.name.startswith("course_lib") and not alias.asname):
            raise _no_import(alias.name, node)
        if alias.asname:
            self.names[alias.asname] = Word(path)
        else:  # import numba.cuda gives the name numba
            first = alias.name.partition(".")[0]
            self.names[first] = Word(MODULES[first])

    def _import_from(self, alias, node):
        module = node.module or ""
        full, path = f"{module}.{alias.name}", MODULES.get(module)
        if node.level or alias.name == "*":
            raise _no_import(f"{'.' * node.level}{full}", node)
        if full in MODULES:
            meaning = Word(MODULES[full])
        elif path and (
            f"{path}.{alias.name}" in JIT + NJIT or _exists(f"{path}.{alias.name}") or full in SIGNATURE_WORDS
        ):
            meaning = Word(f"{path}.{alias.name}")
        else:
            raise _no_import(full, node)
        self.names[alias.asname or alias.name] = meaning

    def _assign(self, target, value):
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
            for part, item in zip(target.elts, value, strict=True):
                self._assign(part, item)
        else:
            raise KernelError(f"a constant is given to a name, such as T = 16. {ALLOWED}", target.lineno)

    def _function(self, node):
        if getattr(node, "type_params", None):
            raise KernelError("a kernel has no type parameters.", node.lineno)
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        for annotation in (*(a.annotation for a in arguments), node.returns):
            if annotation is not None:
                _check_annotation(annotation)
        decorated, device = False, False
        for decorator in node.decorator_list:
            decorated, device = True, self._is_device(decorator) or device
        first = min((node.lineno, *(d.lineno for d in node.decorator_list)))
        lines = {n: self.lines[n - 1 - self.shift] for n in range(first, node.end_lineno + 1)}
        defaults = [constant(default, self.names) for default in node.args.defaults]
        signatures = self._signatures(node, device)
        source = Source(Text(node, lines), self.names, defaults=defaults, signatures=signatures)
        source.meanings = self.meanings
        self.sources[node.name] = source
        (self.devices.add if device else self.devices.discard)(node.name)
        self.names[node.name] = (
            DeviceFunction(source) if decorated else
            Unusable(f"{node.name} is a Python function; decorate it with @gpu.jit(device=True) to call it here.")
        )  # fmt: skip

    def _is_device(self, node):
        """Return whether a decorator makes a device function; KernelError if it is none of the allowed ones."""
        call = node if isinstance(node, ast.Call) else None
        path = self._path(call.func if call else node)
        if path in NJIT and not (call and len(call.args) > 1):
            return True
        if path not in JIT or (call and len(call.args) > 1):
            raise KernelError(
                "a function here is decorated with @gpu.jit, @cuda.jit or @gpu.jit(device=True), with or without a "
                "signature, and nothing else.",
                node.lineno,
            )
        device = False
        for option in call.keywords if call else ():
            if option.arg not in OPTIONS or not isinstance(option.value, ast.Constant):
                raise KernelError(
                    f"{option.arg or '**'} is no option that a decorator can have here; device=True is one.",
                    node.lineno,
                )
            device = option.value.value is True if option.arg == "device" else device
        return device

    def _signatures(self, node, device):
        """Return the Signatures that the decorators of a function declare; KernelError if they are none."""
        found, count = (), len(node.args.posonlyargs) + len(node.args.args)
        for decorator in (d for d in node.decorator_list if isinstance(d, ast.Call) and d.args):
            try:
                read = checked(of_decorator(decorator.args[0], self._type_name), count, node.name, device)
            except NotDeclared as error:
                raise KernelError(str(error), decorator.args[0].lineno) from None
            found += () if self._path(decorator.func) in NJIT else read  # njit's are for the host
        return found

    def _type_name(self, node):
        """Return the name of a Numba type that a name, or names with dots, stand for; None if it is none."""
        path = self._path(node) or ""
        return path.rpartition(".")[2] if path.startswith(("numba.", "cuda.types.")) else None

    def _path(self, node):
        """Return the path of the word that a name, or names with dots, stand for; None if it is none."""
        if isinstance(node, ast.Attribute):
            owner = self._path(node.value)
            path = f"{owner}.{node.attr}"
            return WAYS.get(path, path) if owner else None
        meaning = self.names.get(node.id) if isinstance(node, ast.Name) else None
        return meaning.path if type(meaning) is Word else None

    def kernel(self, name):
        """Return the Source of the kernel called `name`, or of the only one; else KernelError."""
        found = [n for n in self.sources if n not in self.devices]
        listed = f"The text has {', '.join(found[:20])}." if found else "The text has none."
        if name is None and len(found) != 1:
            raise KernelError(f"say which kernel, with read(text, name). {listed}")
        if name is None:
            name = found[0]
        if name not in found:
            other = " as a device function only" if name in self.devices else ""
            raise KernelError(f"there is no kernel {name}{other}. {listed}")
        if type(self.names.get(name)) not in (DeviceFunction, Unusable) or name not in self.sources:
            raise KernelError(f"{name} is given another value after its def.")
        self.meanings |= {n: meaning for n, meaning in self.names.items() if type(meaning) is Unusable}
        return self.sources[name]


def _exists(path):
    return path in NAMES or known(path) or path in leading(NAMES) or path in TYPES


def _no_import(what, node):
    if what.endswith("*"):
        return KernelError(f"from {what[:-2]} import * is not possible here; import names one by one.", node.lineno)
    return KernelError(
        f"{what} cannot be imported here; a kernel uses math, numpy, numba, numba.cuda and gpu (from course_lib "
        "import gpu), and of these what exists in a kernel.", node.lineno,
    )  # fmt: skip


def _check_annotation(node):
    """An annotation is never looked at; still it must not look like something to be executed."""
    plain = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple, ast.BinOp, ast.BitOr, ast.Load)
    for part in ast.walk(node):
        if not isinstance(part, plain):
            raise KernelError("an annotation is the name of a type; it cannot compute anything.", node.lineno)


def _is_text(node):
    return isinstance(node, ast.Constant) and type(node.value) is str


def _construct(node):
    """How a message calls a statement."""
    if isinstance(node, ast.Expr):
        node = node.value
        if isinstance(node, ast.Call):
            return "a call"
        return "an expression" if not isinstance(node, ast.NamedExpr) else ":="
    return {
        "ClassDef": "class", "AsyncFunctionDef": "async def", "AugAssign": "an assignment such as +=", "AnnAssign":
        "a name without a value", "AsyncFor": "async for", "AsyncWith": "async with", "Delete": "del",
        "TypeAlias": "type", "TryStar": "try", "Global": "global", "Nonlocal": "nonlocal",
    }.get(type(node).__name__, type(node).__name__.lower())  # fmt: skip
