"""A kernel that the executor took, as plain data from which another process can build it for a card.

A cell's text is more than its kernel: decorators, defaults and annotations are expressions that Python would run. Here
they are gone. What is left is the text of each function that the kernel reaches, and for each name that it reads from
outside a number, a tuple, an array, a word of the kernel language, or another of these functions. Nothing else can be
said in this form, so whoever builds from it runs nothing of the cell but the compiled kernel.

Source: the course's own.
"""

import ast
import base64
import copy
import linecache
import re

import numpy as np

from course_lib.simt.source import Source
from course_lib.simt.vocabulary import Cast, ConstantArray, DeviceFunction, Unusable, Word

ROOTS = ("cuda", "math", "cmath", "np", "numba", "libdevice", "intrinsic", "operator")
"""Where words begin; a word without a dot is a builtin such as range, or one of these."""

MOST_FUNCTIONS = 64


class NotForACard(ValueError):
    """A kernel has something that this form does not know; the message says what. Source: the course's own."""


def packed_kernel(source, arrays=()):
    """Return a kernel as JSON data: {"functions": [...]}, the kernel first.

    Parameters
    ----------
    source : simt.Source
        Of a kernel that was read from a text.
    arrays : mapping of str to array
        Names whose arrays the other process has of its own, such as the masks: only the name is written down.

    NotForACard if it has what has no such form. Source: the course's own.
    """
    functions, numbers = [], {}

    def number_of(each):
        if id(each) not in numbers:
            if len(functions) >= MOST_FUNCTIONS:
                raise NotForACard(f"it calls more than {MOST_FUNCTIONS} functions.")
            numbers[id(each)] = len(functions)
            functions.append(None)
            tree = _plain(each)
            read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - each.assigned
            held = {name: each.outside[name] for name in sorted(read & each.outside.keys())}
            names = {name: _meaning(name, value, number_of, dict(arrays)) for name, value in held.items()
                     if type(value) is not Unusable}  # fmt: skip
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            functions[numbers[id(each)]] = {"name": each.name, "text": text, "names": names}
        return numbers[id(each)]

    number_of(source)
    return {"functions": functions}


def _plain(source):
    """Return a function's tree without what Python runs when it meets a def."""
    tree = copy.deepcopy(source.tree)
    if tree.args.defaults or tree.args.vararg or tree.args.kwarg:
        raise NotForACard(f"{source.name} has a parameter with a default, or with a *.")
    tree.decorator_list, tree.returns = [], None
    for argument in (*tree.args.posonlyargs, *tree.args.args):
        argument.annotation = None
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            raise NotForACard(f"{source.name} annotates a variable.")
    return tree


def _meaning(name, value, number_of, arrays):
    """Return a list that says what a name stands for."""
    kind = type(value)
    if kind is Word:
        return ["word", value.path]
    if kind is Cast:
        return ["type", value.dtype.name]
    if kind is DeviceFunction:
        return ["function", number_of(value.source)]
    if kind is ConstantArray:
        value, kind = value.array, np.ndarray
    if kind is np.ndarray:
        if any(value is array for array in arrays.values()):
            return ["given", next(n for n, array in arrays.items() if value is array)]
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return ["array", value.dtype.str, list(value.shape), content]
    if kind in (bool, int, float):
        return ["number", kind.__name__, repr(value)]
    if isinstance(value, np.number | np.bool_):
        return ["number", value.dtype.name, repr(value.item())]
    if kind is tuple:
        return ["tuple", [_meaning(name, part, number_of, arrays) for part in value]]
    if isinstance(value, Source):
        return ["function", number_of(value)]
    raise NotForACard(f"{name} is a {kind.__name__}, which is not passed on to a card.")


def built_kernel(data, arrays, jit):
    """Return the kernel of what `packed_kernel` returned.

    Parameters
    ----------
    data : dict
    arrays : mapping of str to array
        What "given" names stand for.
    jit : callable
        jit(function) and jit(function, device=True), such as `gpu.jit`.

    ValueError or KeyError if the data is not in that form. Source: the course's own.
    """
    made = {}

    def build(number):
        if number in made:
            return made[number]
        one = data["functions"][number]
        names = {name: value_of(meaning) for name, meaning in one["names"].items() if name.isidentifier()}
        file = f"<kernel {number} of a text>"
        tree = ast.parse(one["text"])
        if len(tree.body) != 1 or type(tree.body[0]) is not ast.FunctionDef or not _runs_nothing(tree.body[0]):
            raise ValueError(f"function {number} is not one plain def.")
        linecache.cache[file] = (len(one["text"]), None, one["text"].splitlines(True), file)
        scope = {"__name__": "kernel_of_a_text", **names}
        exec(compile(tree, file, "exec"), scope)
        made[number] = jit(scope[one["name"]], device=number > 0)
        return made[number]

    def value_of(meaning):
        what, *rest = meaning
        if what == "word":
            return _word(rest[0])
        if what == "type":
            return _type(rest[0])
        if what == "function":
            return build(int(rest[0]))
        if what == "given":
            return arrays[rest[0]]
        if what == "array":
            return np.frombuffer(base64.b64decode(rest[2]), np.dtype(rest[0])).reshape(rest[1]).copy()
        if what == "number":
            number = ast.literal_eval(rest[1]) if rest[1] not in ("inf", "-inf", "nan") else float(rest[1])
            return {"bool": bool, "int": int, "float": float}.get(rest[0], np.dtype(rest[0]).type)(number)
        if what == "tuple":
            return tuple(map(value_of, rest[0]))
        raise ValueError(f"{what!r} is nothing that a name can stand for.")

    return build(0)


def _runs_nothing(node):
    """Return whether meeting a def runs no expression."""
    a = node.args
    annotated = any(isinstance(part, ast.arg) and part.annotation for part in ast.walk(a))  # those of * and ** too
    return not (node.decorator_list or node.returns or a.defaults or a.kw_defaults or annotated)


def _word(path):
    if not re.fullmatch(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", path):
        raise ValueError(f"{path!r} is no word.")
    from course_lib.simt.vocabulary import BUILTINS, MODULES

    first, *rest = path.split(".")
    if not rest and first in BUILTINS:
        return __builtins__[first] if isinstance(__builtins__, dict) else getattr(__builtins__, first)
    roots = {name: module for module, name in MODULES.items()}
    if first == "libdevice":
        from numba.cuda import libdevice as value
    elif first == "intrinsic":
        from course_lib.cuda import intrinsics as value
    elif first in roots and first in ROOTS:
        value = roots[first]
    else:
        raise ValueError(f"{path!r} is no word of a kernel.")
    for part in rest:
        value = getattr(value, part)
    return value


def _type(name):
    import numba

    return {"bool": numba.boolean}.get(name) or getattr(numba, name)
