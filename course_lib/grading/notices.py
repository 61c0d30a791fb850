"""What an instructor should look at in an answer: never a lost point, and never in what a student sees.

Three kinds: ways to reach a name without writing it (exec, getattr, ...), other libraries that do what is asked, and
the course's own code. They are read from the answer's text; a notice proves nothing.

Source: the course's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from course_lib.checks.reached import Use, is_builtin, library_uses
from course_lib.checks.scopes import UNREADABLE
from course_lib.grading.copies import copied, runs

NOTE = (
    "Read the answer before you think anything of it. What is listed may be allowed, or have a good reason; no point "
    "was taken for it."
)

MOST_COPIES = 4
"""Functions of an answer that are named as copies."""

BUILTINS = {"exec", "eval", "compile", "getattr", "setattr", "delattr", "vars", "globals", "locals", "__import__",
            "__builtins__", "__loader__", "get_ipython"}  # fmt: skip
"""Python's own names by which others are reached."""

ATTRIBUTES = {"__dict__", "__globals__", "__builtins__", "__code__", "__closure__", "__getattribute__", "__getattr__",
              "__subclasses__", "__mro__", "__bases__", "__wrapped__", "__self__", "__func__", "__reduce__",
              "__import__", "modules", "_getframe", "f_globals", "f_locals", "f_back", "gi_frame", "tb_frame",
              "FunctionType", "CodeType", "user_ns", "run_cell", "attrgetter", "methodcaller", "import_module",
              "getsource", "expect"}  # fmt: skip
"""The same behind a dot, or imported."""

MODULES = {"importlib", "inspect", "ctypes", "builtins", "gc", "marshal", "pickle", "base64", "codecs", "zlib", "runpy",
           "pkgutil", "subprocess", "os", "socket", "urllib", "requests", "linecache", "code", "imp", "cffi", "dis",
           "tokenize", "ast", "copyreg", "shelve"}  # fmt: skip
"""Modules that an answer to these sheets has no use for, but a way around them has."""

OWN = ("course_lib.checks.", "course_lib.grading")
"""Parts of the course that judge answers."""

USUAL = {"numpy", "math", "cmath", "numba", "matplotlib", "course_lib", "random", "itertools", "functools", "operator",
         "collections", "time", "typing", "dataclasses", "abc", "copy", "heapq", "bisect", "fractions", "decimal",
         "string", "re", "warnings", "contextlib", "enum", "numbers", "textwrap", "pprint", "json", "IPython",
         "__future__"}  # fmt: skip
"""Modules from which an answer may take what it likes, as far as the exercise does not say otherwise."""

ALIKE = {
    "lstsq": {"polynomial", "Polynomial", "Chebyshev", "Legendre", "polyfit", "pinv", "curve_fit", "lsq_linear"},
    "solve": {"pinv", "tensorsolve", "lstsq", "inv"},
    "convolve": {"fft", "rfft", "ifft", "irfft", "polynomial"},
    "softmax": {"logsumexp", "log_softmax"},
    "conv2d_forward": {"convolve", "correlate", "convolve2d", "correlate2d"},
}  # fmt: skip
"""Names of NumPy and others that do what an exercise forbids another name for."""


def notices(exercise, text: str, scratch: str = "", given: frozenset[int] = frozenset()) -> list[str]:
    """Return what to look at in an answer, in sentences, [] if there is nothing.

    Parameters
    ----------
    exercise : Exercise
    text : str
        What `Definitions.answer` returns.
    scratch : str
        Other cells, if they are to be looked at too: only calls of exec and the like are searched there.
    given : frozenset of int
        `copies.runs` of what the sheet gives.

    No errors. Source: the course's own.
    """
    ways = _ways(text) or _ways(scratch)
    found = [f"uses {', '.join(ways)}"] if ways else []
    try:
        uses = sorted(library_uses(text, exercise.function), key=lambda use: use.path)
    except UNREADABLE:
        return found
    if foreign := [use.path for use in uses if _is_foreign(use)]:
        found.append(f"uses {', '.join(dict.fromkeys(foreign))}")
    alike = set().union(*(ALIKE.get(name, ()) for name in exercise.instead_of)) - set(exercise.instead_of)
    if near := [use.path for use in uses if alike & set(use.names)]:
        found.append(f"uses {', '.join(dict.fromkeys(near))}, where {_listed(exercise.instead_of)} may not be used")
    copies = [f"{share:.0%} of {name} is {place}" for name, place, share in copied(text, exercise.kind, given)]
    if len(copies) > MOST_COPIES:
        copies[MOST_COPIES - 1 :] = [f"and so are {len(copies) - MOST_COPIES + 1} more of its functions"]
    return found + copies


def given_runs(cells: Iterable[str]) -> frozenset[int]:
    """Return the `copies.runs` of a sheet's own cells. No errors. Source: the course's own."""
    return frozenset().union(*(runs(cell) for cell in cells))


def _ways(text: str) -> list[str]:
    """Return the names in a text by which others can be reached: in all of it, as it has no more than the answer."""
    try:
        tree = ast.parse(text)
    except UNREADABLE:
        return []
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found |= {node.id} & (BUILTINS - stored)
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & ATTRIBUTES
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if _is_odd(a.name)}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {f"{module}.{a.name}" for a in node.names if a.name in ATTRIBUTES}
            found |= {f"from {module} import *" for a in node.names if a.name == "*"}
            found |= {module} if _is_odd(module) else set()
    return sorted(found)


def _is_odd(module: str) -> bool:
    return module.partition(".")[0] in MODULES or module.startswith(OWN)


def _is_foreign(use: Use) -> bool:
    """Return whether a use is of a library that the sheets do not use; an unknown bare name is not told."""
    if is_builtin(use) or (not use.module and len(use.names) == 1):
        return False
    root = (use.module or use.names[0]).partition(".")[0]
    return root not in USUAL | MODULES


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
