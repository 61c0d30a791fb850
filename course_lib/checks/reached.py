"""What an answer reaches of libraries: through the free names of its function, of its helpers, and of aliases.

Never counted are local names, parameters, attributes of the answer's own objects, texts, and what a statement computes
once before the answer is called, such as w, b = np.polyfit(x, y, 1) in a cell that only compares. A text is read and
never run.

Source: the course's own.
"""

import ast
import builtins
from bisect import bisect_left
from dataclasses import dataclass

from course_lib.checks.scopes import Scopes, boxes_given, changed_by, gives, is_global

MOST_ALIASES = 20
"""Names in a row that stand for each other."""

_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True)
class Use:
    """A name of a library: the module that `from module import` names, "" for other imports; the names behind it.

    np.linalg.lstsq is ("", ("numpy", "linalg", "lstsq")). Where the text does not say what is imported, as in a cell
    alone, its own names stand there: ("", ("ops", "dense_forward")). Source: the course's own.
    """

    module: str
    names: tuple

    @property
    def path(self):
        """The name in full: "numpy.linalg.lstsq"."""
        return ".".join((*((self.module,) if self.module else ()), *self.names))


def library_uses(text, function):
    """Return the set of `Use` of what a function of a text reaches; of all of the text if it does not give the name.

    Parameters
    ----------
    text : str
        An answer's cell, or what `Definitions.answer` returns.
    function : str

    UNREADABLE of `checks.scopes` where Python cannot read the text. Source: the course's own.
    """
    return _Reader(text).uses(function)


class _Reader:
    """The statements of a text, and which of them are reached."""

    def __init__(self, text):
        self.scopes = Scopes(text)
        self.statements = [(node, list(self.scopes.walk(node))) for node in self.scopes.tree.body]
        self.givers, self.changers, self.found, self.seen, self.waiting = {}, {}, set(), set(), []
        boxes = set()
        for place, (_, walked) in enumerate(self.statements):
            now, later = gives(walked)
            for name in now | later:
                self.givers.setdefault(name, []).append(place)
            boxes |= boxes_given(self.statements[place][0])
            for part, _, depth in walked:  # fits["line"] = np.polyfit, fits.append(np.polyfit)
                if not depth and (changed := changed_by(part, boxes)):
                    self.changers.setdefault(changed, []).append(place)

    def uses(self, function):
        if function in self.givers:
            self._reach(function, None, True)
        else:
            self.waiting = [(place, True) for place in range(len(self.statements))]
        while self.waiting:
            place, called = self.waiting.pop()
            if (place, called) not in self.seen:
                self.seen.add((place, called))
                self._read(place, called)
        return self.found

    def _giver(self, name, before):
        """Return the place of the statement that gives a name its value, None if none does."""
        places = self.givers.get(name, [])
        earlier = bisect_left(places, before) if before is not None else len(places)
        return places[earlier - 1] if places else None  # the last one where none is earlier

    def _reach(self, name, before, called):
        """Note what a global stands for: a library's name, or a statement that is then reached too."""
        if use := self._meaning((name,), before):
            self.found.add(use)
        place = self._giver(name, before)
        if place is not None:
            self.waiting += [(place, called), *((p, called) for p in self.changers.get(name, ()))]

    def _meaning(self, names, before, most=MOST_ALIASES):
        """Return the Use that a chain of names stands for, None where it begins with a name of the answer's own."""
        place = self._giver(names[0], before)
        if place is None:
            return Use("", names)
        node = self.statements[place][0]
        if isinstance(node, ast.Import | ast.ImportFrom):
            return _imported(node, names)
        value = next((v for t, v in _pairs(node) if t == names[0]), None)
        chain = _chain(value) if most else ()
        return self._meaning((*chain, *names[1:]), place, most - 1) if chain and chain[0] != names[0] else None

    def _read(self, place, called):
        """Note what a statement reaches.

        What is computed once, at the top level or in a function that the top level calls, gives data: there a name
        counts only where it is passed on and not called. What stands in a function may be called by the answer.
        """
        node, walked = self.statements[place]
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.found |= {_imported(node, (n.asname or n.name.partition(".")[0],)) for n in node.names} - {None}
            return
        own = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        inside = 2 if own and not called else 1
        local = self._local_aliases(walked)
        parts = {id(n.value) for n, _, _ in walked if isinstance(n, ast.Attribute)}
        callees = {id(n.func) for n, _, _ in walked if isinstance(n, ast.Call)}
        for part, table, depth in walked:
            if isinstance(part, ast.Import | ast.ImportFrom):
                names = [(n.asname or n.name.partition(".")[0],) for n in part.names]
                self.found |= {_imported(part, name) for name in names} - {None}
                continue
            if id(part) in parts or not (chain := _chain(part)):
                continue
            before = None if depth else place
            runs = depth >= inside or id(part) not in callees
            if not is_global(chain[0], table):
                use = self._alias(chain, local)
                self.found |= {use} if use and runs else set()
            elif self._giver(chain[0], before) is None or self._meaning(chain, before):
                self.found |= {self._meaning(chain, before)} if runs else set()
            else:
                self._reach(chain[0], before, runs)

    def _local_aliases(self, walked):
        """Return {name: what it stands for} of local names: lib = np, import numpy as lib, a default lib=np."""
        found = {}
        for node, table, depth in walked:
            if isinstance(node, ast.Import | ast.ImportFrom) and depth:
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    found[name] = _imported(node, (name,))
            for name, value in _pairs(node):
                chain = _chain(value)
                if chain and is_global(chain[0], table):
                    found.setdefault(name, self._meaning(chain, None))
                elif chain:
                    found.setdefault(name, self._alias(chain, found))
        return found

    @staticmethod
    def _alias(chain, local):
        use = local.get(chain[0])
        return use and Use(use.module, (*use.names, *chain[1:]))


def _imported(node, names):
    """Return the Use of names of which an import gives the first."""
    for alias in node.names:
        if (alias.asname or alias.name.partition(".")[0]) == names[0]:
            if isinstance(node, ast.ImportFrom):
                return Use("." * node.level + (node.module or ""), (alias.name, *names[1:]))
            return Use("", (*(alias.name.split(".") if alias.asname else names[:1]), *names[1:]))
        if alias.name == "*" and isinstance(node, ast.ImportFrom):
            return Use(node.module or "", names)
    return None


def _chain(node):
    """Return ("np", "linalg", "lstsq") of names joined by dots that are read, () of anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return (node.id, *reversed(names))
    return ()


def _pairs(node):
    """Return (name, expression) of what a statement or a default gives names, pair by pair of a tuple."""
    if isinstance(node, ast.Assign):
        found = [pair for target in node.targets for pair in _matched(target, node.value)]
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        found = [(node.target, node.value)]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        a = node.args
        plain = [*a.posonlyargs, *a.args]
        optional = [*zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True),
                    *zip(a.kwonlyargs, a.kw_defaults, strict=True)]  # fmt: skip
        return [(p.arg, value) for p, value in optional if value is not None]
    else:
        return []
    return [(target.id, value) for target, value in found if isinstance(target, ast.Name)]


def _matched(target, value):
    kinds = ast.Tuple | ast.List
    if isinstance(target, kinds) and isinstance(value, kinds) and len(target.elts) == len(value.elts):
        return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in _matched(t, v)]
    return [(target, value)]


def is_builtin(use):
    """Return whether a Use is of Python's own names, such as dict.fromkeys. No errors. Source: the course's own."""
    return not use.module and use.names[0] in _BUILTINS
