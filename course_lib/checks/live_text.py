"""A text of an answer that a notebook holds as objects, in the form in which the grader reads it from the cells.

So `check` and the grader judge by one rule. Nothing of the answer is called, and where a source is not known, as for a
function that exec made, its name stands for nothing.

Source: the course's own.
"""

import ast
import functools
import inspect
import linecache
import sysconfig
import textwrap
import types
from pathlib import Path

import course_lib
from course_lib.checks.scopes import UNREADABLE, Scopes, reads

MOST_OBJECTS = 200
"""That are looked at: helpers, and what they use."""

_BOXES = (dict, list, tuple, set)
_LIBRARIES = (Path(course_lib.__file__).parent, Path(sysconfig.get_path("stdlib")))


def live_text(name, answer):
    """Return a text that gives `name` the answer, with the helpers, imports and aliases that it reaches. No errors.

    Parameters
    ----------
    name : str
        As the exercise calls it.
    answer : function, kernel, class or any other object

    Source: the course's own.
    """
    try:
        return _Writer().text(name, answer)
    except Exception:  # objects of a student's own may do anything
        return ""


class _Writer:
    """The pieces of a text, and the objects that have a name in it."""

    def __init__(self):
        self.pieces, self.named, self.count, self.home = [], {}, 0, None

    def text(self, name, answer):
        self.home = _home(answer)
        self._write(name, answer)
        return "\n\n".join(self.pieces) + "\n"

    def _write(self, name, value):
        """Give a name its object, once."""
        if name in self.named or len(self.named) >= MOST_OBJECTS:
            return
        self.named[name] = value = _function(value)
        kind = type(value)
        if kind is types.ModuleType:
            self.pieces.append(f"import {value.__name__} as {name}")
        elif kind is types.FunctionType and self._is_own(value):
            self._write_source(name, value, _source_of(value), [value])
        elif kind is type and self._is_own(value):
            functions = _methods(value)
            self._write_source(name, value, _source_of_class(value, functions), functions)
        elif kind in (types.FunctionType, types.BuiltinFunctionType, type) or _is_ufunc(value):
            self.pieces.append(_import(name, value))
        elif parts := _parts(value, self._is_own):
            names = [self._another(part) for part in parts]
            self.pieces.append(f"{name} = [{', '.join(names)}]")
        else:
            self.pieces.append(f"{name} = None")

    def _another(self, value):
        """Return a name for an object that has none of its own."""
        self.count += 1
        name = f"_part_{self.count}"
        self._write(name, value)
        return name

    def _write_source(self, name, value, source, functions):
        """Write what a source uses, and then itself under the name."""
        own, lambdas = None, ""
        try:
            scopes = Scopes(source)
            now, later = reads(each for node in scopes.tree.body for each in scopes.walk(node))
            names = now | later
            own = getattr(scopes.tree.body[0], "name", None)
            lambdas = "" if own else _lambda(scopes.tree)
        except (*UNREADABLE, IndexError):
            names = {n for function in functions for n in _names_of(function)}
        parts = []
        for function in functions:
            inside = _closure(function)
            for each in sorted(names - {own, name}):
                if each in inside or dict.__contains__(function.__globals__, each):
                    self._write(each, inside[each] if each in inside else function.__globals__[each])
                    parts += [] if own or lambdas else [each]
            parts += [self._another(v) for n, v in inside.items() if n not in names and _counts(v)]
        if own is not None:
            self.named.setdefault(own, value)
            self.pieces.append(source)
            parts += [own] if own != name or parts else []
        if lambdas:
            self.pieces.append(f"{name} = {lambdas}")
        if parts or not (own or lambdas):
            self.pieces.append(f"{name} = [{', '.join([*parts, *([name] if lambdas else [])])}]")

    def _is_own(self, value):
        """Return whether a function or class is the student's: of the notebook, or of the file that the answer is."""
        module = value.__module__
        return module == "__main__" or (self.home is not None and module == self.home)


def _home(answer):
    """Return the module in which an answer was defined, None where that is a library."""
    function = _function(answer)
    module = getattr(function, "__module__", None) if type(function) in (types.FunctionType, type) else None
    return module if type(module) is str and _written_here(function) else None


def _written_here(function):
    """Return whether a function or class is not one of Python's, of an installed package or of the course."""
    methods = [function] if type(function) is types.FunctionType else _methods(function)
    files = {Path(f.__code__.co_filename) for f in methods}
    return not any(file.is_relative_to(folder) or "site-packages" in file.parts
                   for file in files for folder in _LIBRARIES)  # fmt: skip


def _function(value):
    """Return the function that a kernel holds, or the value itself; nothing of the value is called."""
    try:
        held = vars(value).get("py_func")
    except TypeError:
        return value
    return held if type(held) is types.FunctionType else value


def _parts(value, own):
    """Return the functions, classes and modules that a partial, a method, a container or another object holds."""
    kind = type(value)
    if kind is functools.partial:
        return [value.func, *(v for v in (*value.args, *value.keywords.values()) if _counts(v))]
    if kind is types.MethodType:
        return [value.__func__, *_parts(value.__self__, own)]
    if kind in _BOXES:
        return [v for v in list(value.values() if kind is dict else value)[:MOST_OBJECTS] if _counts(v)]
    if type(kind) is not type or kind in (types.FunctionType, type, types.ModuleType):
        return []
    try:
        held = list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        held = []
    student = [kind] if own(kind) else []
    names = kind.__module__ == "types" or student or kind.__name__ in ("vectorize", "_lru_cache_wrapper")
    return [*student, *(v for v in held[:MOST_OBJECTS] if names and _counts(v))]


def _counts(value):
    return type(value) in (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType, type,
                           functools.partial) or _is_ufunc(value)  # fmt: skip


def _is_ufunc(value):
    return type(value).__name__ in ("ufunc", "_ArrayFunctionDispatcher") and type(value).__module__ == "numpy"


def _import(name, value):
    """Return the line that imports a library's function or class under a name."""
    module, own = getattr(value, "__module__", None) or "numpy", getattr(value, "__name__", "")
    if type(own) is not str or not own.isidentifier() or not all(p.isidentifier() for p in str(module).split(".")):
        return f"{name} = None"
    return f"from {module} import {own} as {name}"


def _names_of(function):
    """Return the names that a function's code may read from outside."""
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if type(c) is types.CodeType]
    return {*function.__code__.co_freevars, *(name for code in codes for name in code.co_names)}


def _closure(function):
    """Return {name: object} of the variables around a function that it reads."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return found


def _methods(kind):
    """Return the functions of a class, those of a staticmethod, classmethod or property too."""
    held = [getattr(f, "__func__", None) or getattr(f, "fget", None) or f for f in vars(kind).values()]
    return [f for f in held if type(f) is types.FunctionType]


def _source_of(function):
    """Return a function's source, "" where it is not known."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, SyntaxError, IndexError, ValueError):
        return ""


def _source_of_class(kind, functions):
    """Return the source of a class of a notebook, found by one of its functions: Python knows no file of its own."""
    for function in functions:
        lines = linecache.getlines(function.__code__.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except UNREADABLE:
            continue
        for node in ast.walk(tree):
            inside = isinstance(node, ast.ClassDef) and node.name == kind.__name__
            if inside and node.lineno <= function.__code__.co_firstlineno <= node.end_lineno:
                return textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
    return ""


def _lambda(tree):
    """Return the text of the lambda of a tree, "" if there is not exactly one."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return ast.unparse(found[0]) if len(found) == 1 else ""
