"""Which names of a text are free: read from its globals, at once or when one of its functions is called.

Python's own `symtable` decides, so parameters, local names, comprehensions, `global` and := mean what they mean to
Python. The text is read and never run.

Source: Python's documentation, "Naming and binding" and "symtable".
"""

import ast
import symtable

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TABLES = {ast.Lambda: "lambda", ast.ListComp: "listcomp", ast.SetComp: "setcomp", ast.DictComp: "dictcomp",
           ast.GeneratorExp: "genexpr"}  # fmt: skip
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `Scopes` raises for a text that Python cannot read."""


class Scopes:
    """The scopes of a text.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    tree : ast.Module

    UNREADABLE where Python cannot read the text. Source: the course's own.
    """

    def __init__(self, text):
        self.tree, self._inner = ast.parse(text), {}
        self._module = symtable.symtable(text, "text", "exec")
        self._children = {}

    def walk(self, node):
        """Yield (node, table, depth) of a statement of the top level and of all below it, in the text's order.

        The table is the scope that a name there belongs to, the depth the number of functions around it. Annotations
        are left out: nothing is computed with them. Statements are walked in their order the first time. No errors.
        Source: the course's own.
        """
        return self._walk(node, self._module, 0)

    def _walk(self, node, table, depth):
        waiting = [(node, table, depth)]
        while waiting:  # no recursion: a long sum is a deep tree
            node, table, depth = waiting.pop()
            yield node, table, depth
            waiting += reversed([*self._below(node, table, depth)])

    def _below(self, node, table, depth):
        if isinstance(node, FUNCTIONS):
            for part in (*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults):
                if part is not None:
                    yield part, table, depth
            inner = self._table(node, table)
            for part in node.body if isinstance(node.body, list) else [node.body]:
                yield part, inner, depth + 1
        elif isinstance(node, ast.ClassDef):
            for part in (*node.decorator_list, *node.bases, *node.keywords):
                yield part, table, depth
            inner = self._table(node, table)
            for part in node.body:
                yield part, inner, depth
        elif type(node) in _TABLES:  # of a comprehension the first iterable is computed outside of it
            inner = self._table(node, table)
            first = node.generators[0]
            yield first.iter, table, depth
            for part in ast.iter_child_nodes(node):
                if part is not first:
                    yield part, inner, depth
            for part in (first.target, *first.ifs):
                yield part, inner, depth
        elif isinstance(node, ast.AnnAssign):
            for part in (node.target, node.value):
                if part is not None:
                    yield part, table, depth
        else:
            for part in ast.iter_child_nodes(node):
                yield part, table, depth

    def _table(self, node, table):
        """Return the table of a node that has a scope of its own; found once, in the text's order."""
        if id(node) not in self._inner:
            key = (_TABLES.get(type(node)) or node.name, node.lineno)
            found = self._of(table).get(key)
            self._inner[id(node)] = found.pop(0) if found else table
        return self._inner[id(node)]

    def _of(self, table):
        """Return {(name, line): tables} of the scopes in a scope; those of type parameters are passed through."""
        if table.get_id() not in self._children:
            found, waiting = {}, list(table.get_children())
            while waiting:
                child = waiting.pop(0)
                if child.get_type() in ("function", "class"):
                    found.setdefault((child.get_name(), child.get_lineno()), []).append(child)
                else:
                    waiting = [*child.get_children(), *waiting]
            self._children[table.get_id()] = found
        return self._children[table.get_id()]


def is_global(name, table):
    """Return whether a name means a global where a scope has it. No errors. Source: the course's own."""
    if table.get_type() == "module":
        return True
    try:
        return table.lookup(name).is_global()
    except KeyError:  # a class gives its private names other ones
        return False


def reads(walked):
    """Return (globals that are read at once, globals that are read when a function is called), from `Scopes.walk`.

    No errors. Source: the course's own.
    """
    now, later = set(), set()
    for node, table, depth in walked:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            node = node.target
        elif not (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)):
            continue
        if is_global(node.id, table):
            (later if depth else now).add(node.id)
    return now, later


def gives(walked):
    """Return (globals that are given a value at once, globals that a function gives one when it is called).

    No errors. Source: the course's own.
    """
    now, later = set(), set()
    for node, table, depth in walked:
        for name in names_given(node):
            if is_global(name, table):
                (later if depth else now).add(name)
    return now - {"*"}, later - {"*"}


def names_given(node):
    """Return the names that a node itself gives a value, in whatever scope it stands. No errors.

    Source: Python's documentation, "Binding of names".
    """
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def root_of(node):
    """Return the Name that a chain of attributes, subscripts and stars begins with, or None. No errors.

    Source: the course's own.
    """
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node if isinstance(node, ast.Name) else None


_BOXES = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def boxes_given(node):
    """Return the names to which a statement gives a list, dict or set that is written down there. No errors.

    Source: the course's own.
    """
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "dict", "set")
    if not made and not isinstance(value, _BOXES):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def changed_by(node, boxes):
    """Return the name whose object a part of a statement changes: x.a = 1, x[0] = 1, x.append(1) of a box; else "".

    No errors. Source: the course's own.
    """
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        root = root_of(node)
        return root.id if root else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.value.id if node.func.value.id in boxes else ""
    return ""
