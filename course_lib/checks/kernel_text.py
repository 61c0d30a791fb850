"""Kernels that a text makes in other ways than with @gpu.jit above a def: written out as such, by reading alone.

guarded_add = my_add, guarded_add = gpu.jit(f), and guarded_add = make(16), where make defines a kernel and returns it,
become a def of that name; N *= 2 becomes N = N * 2. What is not understood stays as it is. Nothing is executed.
Constants beyond numbers and tuples, of a list, a loop or an own function, are computed by `small_values`.

Source: the course's own.
"""

import ast
import builtins
import copy
import re
import sys

from course_lib.checks.scopes import UNREADABLE, Scopes, is_global, names_given
from course_lib.checks.small_values import SmallValues, literal

MOST_MADE = 50
"""Functions that are written out."""

MOST_NODES = 20_000
"""Of the syntax of the functions that made them, together."""

MOST_CHARACTERS = 200_000
"""Of a text, before and after; what `simt.read` takes."""

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Pass)
"""What may stand in a function that makes kernels, before its return."""
STARS = ("math", "cmath", "numba", "numba.cuda", "numpy")
"""Modules whose names a kernel knows, also where all are imported."""

_FOREIGN = (ast.IfExp, ast.Compare, ast.BoolOp, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.Slice,
            ast.NamedExpr)  # fmt: skip
_KNOWN = {"int", "float", "bool", "complex", "abs", "min", "max"}
"""What the reader of kernels calls where there is no thread."""


def written_out(text, name):
    """Return a text in which functions made by aliases, calls of jit and functions around them stand as a def.

    Parameters
    ----------
    text : str
    name : str
        The kernel that is wanted.

    KernelError if it is made in a way that cannot be read; a text that Python cannot read is returned as it is.
    Source: the course's own.
    """
    if type(text) is not str or len(text) > MOST_CHARACTERS:
        return text
    try:
        scopes = Scopes(text)
    except UNREADABLE:
        return text
    writer = _Writer(text, scopes)
    try:
        for statement in scopes.tree.body:
            writer.take(statement)
    except UNREADABLE:
        return text
    if name in writer.unread:
        from course_lib.simt.texts import KernelError

        raise KernelError(unread(name, writer.unread[name]))
    return writer.result() if writer.changed else text


def unread(name, maker):
    """Return what to say of a kernel that is made in a way which cannot be read. No errors."""
    return (
        f"{name} is made by {maker}(...), and a kernel is read here, not made: {maker} may have parameters, "
        f"assignments, defs and one return at its end, nothing else. Or write {name} with @gpu.jit above its def."
    )


def is_readable(node):
    """Return whether a FunctionDef that makes kernels is one that `written_out` reads. No errors."""
    body = _body(node)
    a = node.args
    plain = not (node.decorator_list or a.vararg or a.kwarg)
    return bool(plain and body and isinstance(body[-1], ast.Return) and body[-1].value is not None
                and all(isinstance(part, _SIMPLE) for part in body[:-1]))  # fmt: skip


class _Writer:
    """The statements of a text, one by one, and the functions that their names stand for so far."""

    def __init__(self, text, scopes):
        self.lines, self.scopes = re.split("\r\n|\r|\n", text), scopes
        self.pieces, self.functions, self.classes, self.words, self.unread = [], {}, {}, {}, {}
        self.made, self.size, self.changed, self.values = 0, 0, False, SmallValues()
        walked = [each for node in scopes.tree.body for each in scopes.walk(node)]
        self.taken = {n.id for n, table, _ in walked if isinstance(n, ast.Name) and is_global(n.id, table)}
        self.open = self.taken - {n for part, table, _ in walked for n in names_given(part)} - set(dir(builtins))
        starts = [node.lineno for node in scopes.tree.body]
        self.shared = {line for node in scopes.tree.body for line in (node.lineno, node.end_lineno)
                       if starts.count(line) > 1 or (line != node.lineno and line in starts)}  # fmt: skip

    def result(self):
        text = "\n".join(self.pieces) + "\n"
        if len(text) > MOST_CHARACTERS:
            raise ValueError("the text is too long")
        return text

    def take(self, node):
        """Take in a statement."""
        if isinstance(node, ast.FunctionDef):
            self.values.take(node, {node.name})
            return self._define(node)
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if self._computed(node):
                return None
            value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            return self._put([ast.Name(node.target.id, ast.Store())], value, node)
        elif isinstance(node, ast.Assign):
            return self._put(node.targets, node.value, node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            return self._put([node.target], node.value, node)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return self._import_all(node)
        elif self._computed(node):  # a loop, a branch
            return None
        return self.pieces.append(self._text(node))

    def _import_all(self, node):
        """Take in `from math import *` as an import of the names that the text reads and has not."""
        module = sys.modules.get(node.module) if node.module in STARS and not node.level else None
        names = sorted(name for name in self.open if module and name in vars(module))
        self.changed = True
        self.pieces.append(f"from {node.module} import {', '.join(names)}" if names else "")

    def _computed(self, node):
        """Write the constants that a statement gives as their values; return whether they are known."""
        gives = _all_given(node)
        if not self.values.take(node, gives):
            return False
        found = {name: literal(value) for name, value in self.values.values.items() if name in gives}
        if not found or not all(found.values()):
            return False
        self.changed = True
        self.pieces += [f"{name} = {value}" for name, value in found.items()]
        for name in found:
            self.functions.pop(name, None)
        return True

    def _is_foreign(self, value):
        """Return whether an expression has what the reader of kernels does not compute: it knows numbers and tuples."""
        for part in ast.walk(value):
            if isinstance(part, ast.Name) and type(self.values.values.get(part.id)) in (str, list, dict, set):
                return True
            if isinstance(part, _FOREIGN) or (isinstance(part, ast.Constant) and type(part.value) is str):
                return True
            if isinstance(part, ast.Call) and _is_call(part) and part.func.id not in _KNOWN:
                return True
        return False

    def _define(self, node):
        """Take in a def; @wrap of the text's own is name = wrap(name), and @jit may be an alias of gpu.jit."""
        decorators = [self.words.get(d.id, d) if isinstance(d, ast.Name) else d for d in node.decorator_list]
        if decorators and isinstance(decorators[0], ast.Name) and decorators[0].id in self.functions:
            self._define(_decorated(node, node.decorator_list[1:]))
            call = ast.Call(decorators[0], [ast.Name(node.name, ast.Load())], [])
            return self._put([ast.Name(node.name, ast.Store())], call, node)
        self.changed = self.changed or decorators != node.decorator_list
        self.functions[node.name] = node = _decorated(node, decorators)
        return self.pieces.append(self._text(node))

    def _put(self, targets, value, node):
        """Give targets a value: functions as a def of their name, numbers as before."""
        if self._is_foreign(value) and self._computed(ast.Assign(targets, value)):
            return
        returned = self._returned(value)
        given = ast.Assign(targets, returned)
        self.values.take(given, _all_given(given))
        found = []
        for target in targets:
            for part, given in self._matched(target, returned):
                function = self._function(given) if isinstance(part, ast.Name) else None
                found.append((part, function, given))
                if isinstance(part, ast.Name):
                    self.functions.pop(part.id, None) if function is None else None
                    self.words.pop(part.id, None)
                    self.words |= {part.id: given} if _is_jit(given) else {}
                    self.unread.pop(part.id, None)
                    self.unread |= {part.id: given.func.id} if function is None and self._maker(given) else {}
        if any(function for _, function, _ in found):
            self.changed = True
            for target, function, given in found:
                if function is None:
                    self.pieces.append(_unparsed(ast.Assign([_tupled(target)], _tupled(given))))
                else:
                    self.functions[target.id] = function = _renamed(function, target.id)
                    self.pieces.append(self._text(function))
            return
        lists = any(map(_has_list, targets)) or (_has_list(returned) and all(isinstance(t, ast.Tuple) for t in targets))
        if returned is value and not isinstance(node, ast.AugAssign) and not lists:
            self.pieces.append(self._text(node))
            return
        self.changed = True
        form = _tupled if lists else copy.copy
        self.pieces.append(_unparsed(ast.Assign([form(t) for t in targets], form(returned))))

    def _matched(self, target, value):
        """Return (target, value) pair by pair where both are tuples or lists of one length."""
        kinds = ast.Tuple | ast.List
        value = self._returned(value)
        if isinstance(target, kinds) and isinstance(value, kinds) and len(target.elts) == len(value.elts):
            return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in self._matched(t, v)]
        return [(target, value)]

    def _maker(self, value):
        """Return the text's own function that an expression calls, None if it calls none."""
        maker = self.functions.get(value.func.id) if _is_call(value) else None
        return maker if maker is not None and not maker.decorator_list else None

    def _returned(self, value):
        """Return what a call of a function that makes kernels returns; its other statements are written down."""
        maker = self._maker(value)
        if maker is None or not is_readable(maker):
            return value
        self.made += 1
        inside = self._inside(maker, value) if self.made <= MOST_MADE else None
        if inside is None:
            return value
        *statements, last = inside
        for statement in statements:
            self.take(statement)
        return last.value

    def _inside(self, maker, call):
        """Return the statements of a function for a call: names of its own are new ones where others have them."""
        given = _arguments(maker.args, call)
        if given is None:
            return None
        walked = [(n, table) for n, table, depth in self.scopes.walk(maker) if depth]
        self.size += len(walked)
        if self.size > MOST_NODES:
            return None
        new = {name: self._new(name) for name in sorted(_own_names(maker, walked))}
        memo = {}
        body = copy.deepcopy(_body(maker), memo)
        for node, table in walked:
            copied, field = memo.get(id(node)), "name" if isinstance(node, ast.FunctionDef) else "id"
            name = getattr(node, field, None)
            if copied is not None and name in new and (_is_local if table is walked[0][1] else _is_free)(table, name):
                setattr(copied, field, new[name])
        first = [ast.Assign([ast.Name(new[name], ast.Store())], value) for name, value in given.items()]
        for node in (n for part in (*first, *body) for n in ast.walk(part) if isinstance(n, ast.stmt)):
            node.col_offset = -1  # it is no longer what stands in the lines
        return [*first, *body]

    def _new(self, name):
        """Return a name that nothing else in the text has."""
        new, number = name, 1
        while new in self.taken or new in self.functions:
            number += 1
            new = f"{name}_{number}"
        self.taken.add(new)
        return new

    def _function(self, value):
        """Return the FunctionDef that an expression stands for, with the decorators that a call is; None if none."""
        if isinstance(value, ast.Name):
            return self.functions.get(value.id)
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in self.classes:
            found = [n for n in self.classes[value.value.id].body if isinstance(n, ast.FunctionDef)]
            return next((_freed(n) for n in reversed(found) if n.name == value.attr), None)
        if isinstance(value, ast.Attribute) and value.attr == "py_func":
            held = self._function(value.value)
            return held and _decorated(held, [])
        if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
            inner = self._lambda(value.args[0]) or self._function(value.args[0])
            if inner and not inner.decorator_list and not (_is_call(value) and value.func.id in self.functions):
                word = value.func
                return _decorated(inner, [self.words.get(word.id, word) if isinstance(word, ast.Name) else word])
        return None

    @staticmethod
    def _lambda(value):
        if not isinstance(value, ast.Lambda):
            return None
        back = ast.copy_location(ast.Return(value.body), value)
        made = ast.FunctionDef("made", value.args, [back], [], None)
        made.type_params = []
        made = ast.copy_location(made, value)
        made.col_offset = -1
        return made

    def _text(self, node):
        """Return a statement's text as it was written, with the name and the decorators that it has now."""
        if isinstance(node, ast.FunctionDef):
            if node.col_offset != 0 or node.lineno in self.shared:
                return _unparsed(node)
            first, *rest = self.lines[node.lineno - 1 : node.end_lineno]
            first = re.sub(r"def\s+\w+", f"def {node.name}", first, count=1)
            return "\n".join([*(f"@{ast.unparse(d)}" for d in node.decorator_list), first, *rest])
        if node.col_offset != 0 or node.lineno in self.shared or node.end_lineno in self.shared:
            return _unparsed(node)
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])


def _body(node):
    """Return the statements of a function without its docstring."""
    text = node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    return node.body[1:] if text else node.body


def _is_call(value):
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def _is_jit(value):
    """Return whether an expression is gpu.jit, or gpu.jit with options, which a decorator's alias stands for."""
    if isinstance(value, ast.Call):
        value = value.func if all(isinstance(a, ast.Constant) for a in value.args) else None
    return isinstance(value, ast.Attribute) and value.attr in ("jit", "njit")


def _arguments(parameters, call):
    """Return {parameter: expression} of a call, None if it does not fit."""
    plain = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    optional = dict(zip(plain[len(plain) - len(parameters.defaults) :], parameters.defaults, strict=True))
    named = [a.arg for a in parameters.kwonlyargs]
    optional |= {n: v for n, v in zip(named, parameters.kw_defaults, strict=True) if v is not None}
    options = {k.arg: k.value for k in call.keywords}
    if len(call.args) > len(plain) or any(isinstance(a, ast.Starred) for a in call.args) or None in options:
        return None
    given = optional | dict(zip(plain, call.args, strict=False)) | options
    return given if given.keys() == {*plain, *named} else None


def _all_given(node):
    """Return all names that a statement and what stands in it give a value, in whatever scope."""
    return {name for part in ast.walk(node) for name in names_given(part)}


def _has_list(node):
    return isinstance(node, ast.List) or (isinstance(node, ast.Tuple) and any(map(_has_list, node.elts)))


def _tupled(node):
    """Return an expression with tuples for the lists in it: the reader of kernels knows tuples."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.Tuple([_tupled(part) for part in node.elts], node.ctx)
    return node


def _own_names(maker, walked):
    """Return the names of a function's own: its parameters, and what it gives a value."""
    parameters = {a.arg for a in (*maker.args.posonlyargs, *maker.args.args, *maker.args.kwonlyargs)}
    given = {name for node, table in walked if table is walked[0][1] for name in names_given(node)}
    return parameters | {name for name in given if _is_local(walked[0][1], name)}


def _is_local(table, name):
    try:
        symbol = table.lookup(name)
    except KeyError:
        return False
    return symbol.is_local() or symbol.is_parameter()


def _is_free(table, name):
    try:
        return table.lookup(name).is_free()
    except KeyError:
        return False


def _renamed(node, name):
    node = copy.copy(node)
    node.name = name
    return node


def _decorated(node, decorators):
    node = copy.copy(node)
    node.decorator_list = decorators
    return node


def _freed(node):
    """Return a function of a class as one of its own, without @staticmethod."""
    kept = [d for d in node.decorator_list if not (isinstance(d, ast.Name) and d.id == "staticmethod")]
    node = _decorated(node, kept)
    node.col_offset = -1
    return node


def _unparsed(node):
    return ast.unparse(ast.fix_missing_locations(node))
