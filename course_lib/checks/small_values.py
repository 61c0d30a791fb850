"""The constants of a notebook, computed as Python would: numbers, texts, tuples, lists, dicts, loops and own functions.

A text is walked and never run: there is no name but its own and some built-in functions, no attribute, and a budget of
steps and sizes, so that it can neither reach nor cost anything.

Source: the course's own.
"""

import ast
import math
import operator

MOST_STEPS = 20_000
"""Of a statement at the top level, with all that it calls."""

MOST_TOGETHER, MOST_VALUES = 200_000, 500
"""Steps of all statements, and constants that are kept."""

MOST_LONG, MOST_DEEP = 10_000, 40
"""Parts of a text or a list; calls in calls, and brackets in brackets."""

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
           ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
           ast.RShift: operator.rshift, ast.BitOr: operator.or_, ast.BitAnd: operator.and_,
           ast.BitXor: operator.xor}  # fmt: skip
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
_COMPARE = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
            ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
            ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}  # fmt: skip
_FUNCTIONS = {"abs": abs, "bool": bool, "divmod": divmod, "float": float, "int": int, "len": len, "list": list,
              "max": max, "min": min, "range": range, "round": round, "sorted": sorted, "sum": sum, "tuple": tuple,
              "dict": dict, "enumerate": enumerate, "zip": zip, "reversed": reversed, "all": all,
              "any": any}  # fmt: skip
_MODULES = {
    "math": {n: getattr(math, n) for n in ("ceil", "floor", "sqrt", "log2", "gcd", "isqrt", "log", "exp")},
    "numpy": {"ceil": lambda x: float(math.ceil(x)), "floor": lambda x: float(math.floor(x))},
}
"""Module -> {name: function} of what a text may take from it, as math.ceil or by an import of its name."""

_BOXES = (tuple, list, dict, set)
_PLAIN = (bool, int, float, str, type(None))


class Unknown(Exception):
    """What is not a constant, or too much of one."""


class _Return(Exception):
    pass


class _Leave(Exception):
    pass


class SmallValues:
    """The values of names that are plain constants so far, and the functions that compute them.

    Parameters
    ----------
    shapes : mapping of str to tuple, optional
        Of arrays that a text may ask for theirs: len(C1_MASKS), C1_MASKS.shape[0].

    `at` is the statement that was walked last, after a failure the one that is not understood.

    Source: the course's own.
    """

    def __init__(self, shapes=None):
        self.values, self.functions = {"__name__": "__main__"}, {}
        self.shapes, self.at = dict(shapes or {}), None
        self._steps, self._calls, self._left = 0, 0, MOST_TOGETHER
        self._imported = {"math": "math", "np": "numpy"}

    def take(self, node, gives):
        """Take in a statement of the top level that gives these names a value; return whether it is understood.

        Names that it gives are unknown from there on where it is not. No errors. Source: the course's own.
        """
        names, self._steps = dict(self.values), min(MOST_STEPS, self._left)
        begun = self._steps
        for name in gives:
            self._imported.pop(name, None)
        try:
            if len(names) > MOST_VALUES:
                raise Unknown
            self._statement(node, names)
        except (Unknown, _Leave, _Return, ArithmeticError, ValueError, TypeError, LookupError, RecursionError,
                MemoryError):  # fmt: skip
            self._forget(node, gives)
            return False
        finally:
            self._left -= begun - self._steps
        self.values = names
        kept = {getattr(node, "name", None), *(gives if _is_lambda(node) else ())}
        for name in gives - kept:
            self.functions.pop(name, None)
        return True

    def _forget(self, node, gives):
        """Drop what a statement that is not understood may give or change: a list, where it names it or calls."""
        for name in gives:
            self.values.pop(name, None)
            self.functions.pop(name, None)
        boxes = [name for name, value in self.values.items() if type(value) in (list, dict, set)]
        parts = list(ast.walk(node)) if boxes else []
        calls = any(isinstance(part, ast.Call) for part in parts)
        named = {part.id for part in parts if isinstance(part, ast.Name)}
        for name in boxes:
            if calls or name in named:
                del self.values[name]

    def value(self, node, most=MOST_STEPS):
        """Return the value of an expression, raising Unknown where it is no constant or takes more than `most` steps.

        Source: the course's own.
        """
        self._steps = begun = min(most, self._left)
        self.at = None
        try:
            return self._value(node, dict(self.values))
        except (_Leave, _Return, ArithmeticError, ValueError, TypeError, LookupError, RecursionError, MemoryError):
            raise Unknown from None
        finally:
            self._left -= begun - self._steps

    def _block(self, nodes, names):
        for node in nodes:
            self._statement(node, names)

    def _statement(self, node, names):
        self._step()
        self.at, kind = node, type(node)
        if kind is ast.FunctionDef:
            if self._calls or node.decorator_list:
                raise Unknown
            names.pop(node.name, None)
            self.functions[node.name] = node
        elif kind in (ast.Import, ast.ImportFrom):
            self._import(node, names)
        elif _is_lambda(node):
            if self._calls:
                raise Unknown
            names.pop(node.targets[0].id, None)
            body = [ast.copy_location(ast.Return(node.value.body), node)]
            self.functions[node.targets[0].id] = ast.FunctionDef(node.targets[0].id, node.value.args, body, [])
        elif kind is ast.Assign:
            value = self._value(node.value, names)
            for target in node.targets:
                self._give(target, value, names)
        elif kind is ast.AnnAssign:
            if node.value is not None:
                self._give(node.target, self._value(node.value, names), names)
        elif kind is ast.AugAssign and isinstance(node.target, ast.Name):
            left = self._value(ast.Name(node.target.id, ast.Load()), names)
            names[node.target.id] = self._binary(type(node.op), left, self._value(node.value, names))
        elif kind is ast.If:
            self._block(node.body if self._value(node.test, names) else node.orelse, names)
        elif kind is ast.While:
            self._loop(node, names, iter(lambda: bool(self._value(node.test, names)), False))
        elif kind is ast.For:
            self._loop(node, names, self._parts(node.iter, names))
        elif kind is ast.Return:
            error = _Return()
            error.value = None if node.value is None else self._value(node.value, names)
            raise error
        elif kind in (ast.Break, ast.Continue):
            error = _Leave()
            error.ends = kind is ast.Break
            raise error
        elif kind is ast.Expr and _is_named_call(node.value, "print") and "print" not in names:
            for part in node.value.args:
                self._value(part, names)
        elif kind is ast.Expr:
            self._value(node.value, names)
        elif kind not in (ast.Pass, ast.Assert):
            raise Unknown

    def _import(self, node, names):
        """Take in what an import gives: a module of `_MODULES`, or functions of one; in a function for all."""
        module = getattr(node, "module", "")
        for each in node.names:
            path = f"{module}.{each.name}" if module else each.name
            first, _, function = path.partition(".")
            if first not in _MODULES or (module and function not in _MODULES[first]) or getattr(node, "level", 0):
                raise Unknown
            names.pop(each.asname or each.name, None)
            self._imported[each.asname or each.name] = path

    def _loop(self, node, names, turns):
        for turn in turns:
            self._step()
            if isinstance(node, ast.For):
                self._give(node.target, turn, names)
            try:
                self._block(node.body, names)
            except _Leave as leave:
                if leave.ends:
                    return
        self._block(node.orelse, names)

    def _give(self, target, value, names):
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and type(value) in (tuple, list, range):
            star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
            value = list(value)
            if star is not None:
                behind = len(target.elts) - star - 1
                value[star : len(value) - behind] = [value[star : len(value) - behind]]
            if len(value) != len(target.elts):
                raise Unknown
            for part, item in zip(target.elts, value, strict=True):
                self._give(part.value if isinstance(part, ast.Starred) else part, item, names)
        else:
            raise Unknown

    def _value(self, node, names):
        self._step()
        kind = type(node)
        if kind is ast.Constant and type(node.value) in _PLAIN:
            return self._fitting(node.value)
        if kind is ast.Name:
            if node.id not in names:
                raise Unknown
            return names[node.id]
        if kind in (ast.Tuple, ast.List, ast.Set):
            parts = [self._value(part, names) for part in node.elts]
            return self._fitting(tuple(parts) if kind is ast.Tuple else parts if kind is ast.List else set(parts))
        if kind is ast.Dict and None not in node.keys:
            pairs = zip(node.keys, node.values, strict=True)
            return self._fitting({self._value(k, names): self._value(v, names) for k, v in pairs})
        if kind is ast.UnaryOp:
            return _UNARY[type(node.op)](self._value(node.operand, names))
        if kind is ast.BinOp and type(node.op) in _BINARY:
            return self._binary(type(node.op), self._value(node.left, names), self._value(node.right, names))
        if kind is ast.BoolOp:
            for part in node.values:
                value = self._value(part, names)
                if bool(value) is isinstance(node.op, ast.Or):
                    break
            return value
        if kind is ast.Compare:
            return self._compare(node, names)
        if kind is ast.IfExp:
            return self._value(node.body if self._value(node.test, names) else node.orelse, names)
        if kind is ast.Subscript:
            return self._value(node.value, names)[self._index(node.slice, names)]
        if kind is ast.Attribute and node.attr == "shape" and (shape := self._shape(node.value, names)):
            return shape
        if kind is ast.NamedExpr:
            names[node.target.id] = value = self._value(node.value, names)
            return value
        if kind in (ast.ListComp, ast.GeneratorExp, ast.SetComp) and len(node.generators) == 1:
            return self._comprehension(node, names)
        if kind is ast.Call:
            return self._call(node, names)
        raise Unknown

    def _shape(self, node, names):
        """Return the shape of an array that a name stands for, None of anything else."""
        known = isinstance(node, ast.Name) and node.id not in names
        return self.shapes.get(node.id) if known else None

    def _compare(self, node, names):
        left = self._value(node.left, names)
        for sign, right in zip(node.ops, node.comparators, strict=True):
            right = self._value(right, names)
            if not _COMPARE[type(sign)](left, right):
                return False
            left = right
        return True

    def _index(self, node, names):
        if not isinstance(node, ast.Slice):
            return self._value(node, names)
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self._value(part, names) for part in parts))

    def _comprehension(self, node, names):
        (turns,), inside, found = node.generators, dict(names), []
        for turn in self._parts(turns.iter, names):
            self._step()
            self._give(turns.target, turn, inside)
            if all(self._value(test, inside) for test in turns.ifs):
                found.append(self._value(node.elt, inside))
        return self._fitting(set(found) if isinstance(node, ast.SetComp) else found)

    def _parts(self, node, names):
        value = self._value(node, names)
        if type(value) not in (tuple, list, range, str, dict, set):
            raise Unknown
        return list(value)

    def _call(self, node, names):
        if _is_named_call(node, "len") and len(node.args) == 1 and (shape := self._shape(node.args[0], names)):
            return shape[0]
        given = [self._value(a, names) for a in node.args]
        options = {k.arg: self._value(k.value, names) for k in node.keywords}
        if function := self._of_a_module(node.func, names):
            return self._fitting(function(*given, **options))
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.functions and name not in names:
            return self._own(self.functions[name], given, options)
        if name not in _FUNCTIONS or name in names or options:
            raise Unknown
        if name == "range" and len(range(*given)) > MOST_LONG:
            raise Unknown
        if name == "sum" and any(type(part) not in (bool, int, float) for value in given for part in _flat(value)):
            raise Unknown
        found = _FUNCTIONS[name](*given)
        return self._fitting(list(found) if type(found) in (enumerate, zip, type(reversed([]))) else found)

    def _of_a_module(self, node, names):
        """Return the function of math or numpy that an expression names, None if it names none."""
        owner = node.value if isinstance(node, ast.Attribute) else node
        if not isinstance(owner, ast.Name) or owner.id in names or owner.id in self.functions:
            return None
        path = self._imported.get(owner.id, "")
        if owner is not node:
            path = f"{path}.{node.attr}"
        module, _, name = path.partition(".")
        return _MODULES.get(module, {}).get(name)

    def _own(self, function, given, options):
        """Call a function of the text's own: in it are its parameters, and what the text has outside."""
        a = function.args
        plain = [p.arg for p in (*a.posonlyargs, *a.args)]
        if a.vararg or a.kwarg or a.kwonlyargs or len(given) > len(plain) or self._calls >= MOST_DEEP:
            raise Unknown
        self._steps -= len(self.values) // 10
        inside = dict(self.values)
        inside |= {n: self._value(v, self.values) for n, v in zip(plain[len(plain) - len(a.defaults) :], a.defaults,
                                                                  strict=True)}  # fmt: skip
        inside |= dict(zip(plain, given, strict=False)) | options
        if not inside.keys() >= set(plain) or options.keys() - set(plain):
            raise Unknown
        self._calls += 1
        try:
            self._block(function.body, inside)
        except _Return as back:
            return back.value
        finally:
            self._calls -= 1
        return None

    def _binary(self, kind, left, right):
        if kind in (ast.Pow, ast.LShift) and (type(right) is not int or abs(right) > 64) and type(left) is int:
            raise Unknown
        if kind is ast.Mult and (hasattr(left, "__len__") or hasattr(right, "__len__")):
            times, parts = (left, right) if type(left) is int else (right, left)
            if type(times) is not int or not hasattr(parts, "__len__") or times * len(parts) > MOST_LONG:
                raise Unknown
        if kind is ast.Mod and type(left) is str:
            raise Unknown
        return self._fitting(_BINARY[kind](left, right))

    def _fitting(self, value):
        """Return a value that is small enough, with all that is in it."""
        if type(value) is int and not -(2**63) <= value < 2**64:
            raise Unknown
        if type(value) in (str, range) and len(value) > MOST_LONG:
            raise Unknown
        if type(value) in _BOXES:
            waiting, count = [value], 0
            while waiting:
                box = waiting.pop()
                count += 1 + len(box)
                if count > MOST_LONG:
                    raise Unknown
                waiting += [part for part in (box.values() if type(box) is dict else box) if type(part) in _BOXES]
            self._steps -= count // 8
        return value

    def _step(self):
        self._steps -= 1
        if self._steps < 0:
            raise Unknown


def _is_lambda(node):
    """Return whether a statement gives one name a lambda."""
    plain = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return plain and isinstance(node.value, ast.Lambda)


def _is_named_call(node, name):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _flat(value):
    return value if type(value) in (*_BOXES, range) else (value,)


def literal(value):
    """Return the text of a number, or of a tuple of them; "" of anything else. No errors.

    Source: the course's own.
    """
    if type(value) is tuple:
        parts = [literal(part) for part in value]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})" if all(parts) else ""
    if type(value) in (bool, int) or (type(value) is float and math.isfinite(value)):
        return repr(value)
    return ""
