"""The statements of a notebook in the order in which a run-all comes to them, with what each gives and reads.

Blocks below if, try, with and loops are opened: their statements stand at the top level too. What only a run could
tell is guessed: a block of `if` counts unless constants make its test false, a loop's body counts once, and `except` is
thought of as before its `try`, since it is what seldom runs. A loop that sums up stays one statement.

Source: the course's own. The text is read with `ast` and never run.
"""

import ast
import warnings
from dataclasses import dataclass, field

from course_lib.checks.magics import without_magics
from course_lib.checks.scopes import UNREADABLE, Scopes, boxes_given, changed_by, gives, reads
from course_lib.checks.small_values import SmallValues, Unknown

MOST_DEEP = 60
"""Brackets in brackets and blocks in blocks of a cell; deeper ones are not read, as Python's parser is recursive."""

MOST_TEXT = 200_000
"""Characters of a cell that are read."""

MOST_STATEMENTS = 20_000
"""Of a notebook; what comes behind them is not read."""

WILD = {"exec", "eval", "__import__", "setattr"}
WILD_ATTRIBUTES = {"import_module", "modules", "run_cell", "ex", "run_path", "run_module", "user_ns", "user_global_ns",
                   "__dict__", "__globals__", "__code__", "__builtins__"}  # fmt: skip
TABLES, WRITES = {"globals", "locals", "vars"}, {"update", "setdefault", "__setitem__"}
"""By these a statement can give a value to names, or to others' names, that do not stand in it."""


@dataclass
class Statement:
    """A statement of the top level.

    Attributes
    ----------
    place : int
        Its number in the notebook, from 0.
    cell : int
        The number of its cell.
    node : ast.stmt
    lines : list of str
        Of the cell.
    gives : set of str
        Names that it gives a value.
    now, later : set of str
        Globals that it reads at once, and when a function in it is called.
    changes : set of str
        Names whose object it changes: x.a = 1, x[0] = 1, x.append(1) of a list.
    wild : bool
        Whether it can give any name a value, as exec does.
    star : bool
        Whether it imports all names of a module.

    Source: the course's own.
    """

    place: int
    cell: int
    node: ast.stmt
    lines: list
    gives: set = field(default_factory=set)
    now: set = field(default_factory=set)
    later: set = field(default_factory=set)
    changes: set = field(default_factory=set)
    wild: bool = False
    star: bool = False

    @property
    def text(self):
        """Its text, as it was written where it is a function or a class at the left margin; "" if it has none."""
        return text_of(self.lines, self.node)


@dataclass(frozen=True)
class Check:
    """A call check("01.1", answer): where it stands, the id, and what is checked (None in a loop over several)."""

    place: int
    id: str
    answer: ast.expr | None
    scopes: Scopes


class Statements:
    """All statements of a notebook, and its checks.

    Parameters
    ----------
    sources : sequence of str
        The text of each code cell, in order. What Python cannot read is left out.

    Attributes
    ----------
    all : list of Statement
    checks : list of Check
    ends : list of int
        The place behind the last statement of each cell.

    No errors. Source: the course's own.
    """

    def __init__(self, sources):
        self.all, self.checks, self.ends, self._later = [], [], [], {}
        self._values, self._boxes = SmallValues(), set()
        self._names = {"check"}
        for number, source in enumerate(sources):
            scopes, text = parsed(source) if len(self.all) < MOST_STATEMENTS else (None, "")
            lines = text.split("\n")
            for node in scopes.tree.body if scopes else ():
                self._take(node, number, lines, scopes)
            self.ends.append(len(self.all))

    def _take(self, node, cell, lines, scopes):
        begin, parts = len(self.all), []
        for part in opened([node], self._truth):
            walked = list(scopes.walk(part))
            statement = Statement(len(self.all), cell, part, lines)
            statement.gives, later = gives(walked)
            statement.now, statement.later = reads(walked)
            self._called(statement, walked, later)
            self.all.append(statement)
            self._learn(part, statement)
            self._note_checks(walked, statement.place, scopes)
            parts += walked
        if len(self.all) - begin > 1 or not isinstance(node, ast.Expr):
            self._note_loop(parts, begin, scopes)

    def _called(self, statement, walked, later):
        """Note what a function gives globals when it is called, and what a call at the top level so gives."""
        if isinstance(statement.node, ast.FunctionDef):
            self._later[statement.node.name] = later
        for part, _, depth in walked:
            if depth:
                continue
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                statement.gives = statement.gives | self._later.get(part.func.id, set())
            statement.changes |= {changed_by(part, self._boxes)} - {""}
            if isinstance(part, ast.ImportFrom) and part.names[0].name == "*":
                statement.star = True
        statement.wild = _is_wild([part for part, _, depth in walked if not depth])

    def _learn(self, node, statement):
        """Keep the values of constants, by which a test of an `if` can be told."""
        self._values.take(node, statement.gives)
        self._boxes = (self._boxes - statement.gives) | boxes_given(node)
        if isinstance(node, ast.ImportFrom):
            self._names |= {a.asname for a in node.names if a.name == "check" and a.asname}

    def _truth(self, test):
        """Return whether a test of constants is true or false, None where a run would be needed."""
        try:
            return bool(self._values.value(test))
        except Unknown:
            return None

    def _is_check(self, node):
        if not isinstance(node, ast.Call):
            return False
        name = node.func
        return (isinstance(name, ast.Name) and name.id in self._names) or (
            isinstance(name, ast.Attribute) and name.attr == "check"
        )

    def _note_checks(self, walked, place, scopes):
        for node, _, depth in walked:
            if depth or not self._is_check(node):
                continue
            options = {k.arg: k.value for k in node.keywords}
            id = node.args[0] if node.args else options.get("id")
            answer = node.args[1] if len(node.args) > 1 else options.get("answer")
            if isinstance(id, ast.Constant) and type(id.value) is str:
                self.checks.append(Check(place, id.value, answer, scopes))

    def _note_loop(self, parts, place, scopes):
        """Note the ids and answers of a loop such as: for id, f in [("01.1", fit_line), ...]: check(id, f)."""
        if not any(self._is_check(n) and n.args and not isinstance(n.args[0], ast.Constant) for n, _, _ in parts):
            return
        for node, _, depth in parts:
            rows = [node.elts] if isinstance(node, ast.Tuple | ast.List) else []
            rows = list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else rows
            for id, *answer in rows if not depth else ():
                if isinstance(id, ast.Constant) and type(id.value) is str and len(answer) == 1:
                    self.checks.append(Check(place, id.value, answer[0], scopes))


def _is_wild(nodes):
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    stored = any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in nodes)
    if names & WILD or attributes & WILD_ATTRIBUTES:
        return True
    return bool(names & TABLES) and (stored or bool(attributes & WRITES))


def parsed(source):
    """Return (Scopes of a cell, the text that they are of), (None, "") if Python cannot read it. No errors.

    Source: the course's own.
    """
    if len(source) > MOST_TEXT or _deep(source):
        return None, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in (source, None):
            try:
                text = without_magics(source) if text is None else text
                return Scopes(text), text
            except UNREADABLE:
                continue
    return None, ""


def opened(statements, truth=lambda test: None):
    """Yield statements, those with blocks as their parts; truth(test) says what is known of a test. No errors.

    Source: the course's own.
    """
    waiting = list(reversed(statements))
    while waiting:
        node = waiting.pop()
        blocks = _blocks(node, truth)
        if blocks is None:
            yield node
            continue
        waiting += reversed([part for block in blocks for part in block])


def _blocks(node, truth):
    """Return the parts of a statement, in the order of a run, None where it has none, or is a loop that sums up."""
    if isinstance(node, ast.For | ast.While) and _accumulates(node):
        return None
    if isinstance(node, ast.If | ast.While):
        known = truth(node.test)
        otherwise = [] if known and isinstance(node, ast.If) else node.orelse
        return [_head(node, node.test), [] if known is False else node.body, otherwise]
    if isinstance(node, ast.For | ast.AsyncFor):
        if not any(isinstance(n, ast.stmt) and not isinstance(n, ast.Pass) for n in node.body) and not node.orelse:
            return None
        head = type(node)(target=node.target, iter=node.iter, body=[_empty(node)], orelse=[], type_comment=None)
        return [[ast.copy_location(head, node)], node.body, node.orelse]
    if isinstance(node, ast.With | ast.AsyncWith):
        if all(isinstance(n, ast.Pass) for n in node.body):
            return None
        head = type(node)(items=node.items, body=[_empty(node)], type_comment=None)
        return [[ast.copy_location(head, node)], node.body]
    if isinstance(node, ast.Try | ast.TryStar):
        return [*(h.body for h in node.handlers), node.body, node.orelse, node.finalbody]
    if isinstance(node, ast.Match):
        return [_head(node, node.subject), *(case.body for case in node.cases)]
    return None


def _accumulates(loop):
    """Return whether a turn of a loop goes on with a name's value of the turn before."""
    for node in (n for part in loop.body for n in ast.walk(part)):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            return True
        if isinstance(node, ast.Assign):
            given = {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            if given & {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}:
                return True
    return False


def _head(node, expression):
    """Return the statement of a test that may give a name a value, by := ; nothing for others."""
    walrus = any(isinstance(part, ast.NamedExpr | ast.Call) for part in ast.walk(expression))
    return [ast.copy_location(ast.Expr(expression), node)] if walrus else []


def _empty(node):
    return ast.copy_location(ast.Pass(), node)


def _deep(source):
    """Return whether brackets or indents are nested deeper than a person writes them; also in texts and comments."""
    depth = most = 0
    for letter in source:
        if letter in "([{":
            depth += 1
            most = max(most, depth)
        elif letter in ")]}":
            depth = max(0, depth - 1)
    return most > MOST_DEEP


def first_line(node):
    """Return the number of a statement's first line, of its decorators' if it has some. No errors.

    Source: the course's own.
    """
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def text_of(lines, node):
    """Return a statement's text, as it was written where it is a def at the left margin; "" if it has none. No errors.

    Source: the course's own.
    """
    first = first_line(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.col_offset == 0:
        return "\n".join(lines[first - 1 : node.end_lineno]).rstrip()
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):  # Python writes out no whole number of more than 4,300 digits
        return ""
