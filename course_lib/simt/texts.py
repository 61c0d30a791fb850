"""A function's text: its lines, its syntax tree, and what can be said of it whatever its names mean.

Source: the course's own. A text is read once and kept: a kernel that is launched again, also with other arguments,
is not parsed again.
"""

import ast
import functools
import inspect
import linecache
import os
import re
import sys
import textwrap

from course_lib.cuda.tracebacks import OneLine

MOST_DEPTH = 100
"""How deep expressions and statements may be nested; as many terms may be added in one expression."""

MOST_WORDS = 800
"""Characters of a message: names and texts in it can be of any length."""

MOST_KEPT = 64
"""Texts that are kept."""

TIMED = "<timed exec>"
"""What IPython gives as the file of a cell that begins with %%time."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class KernelError(OneLine):
    """A kernel that cannot be run as it stands; the message names the line and the fix. Source: the course's own."""

    def __init__(self, message, line=None):
        if len(message) > MOST_WORDS:
            message = f"{message[: MOST_WORDS // 2]} ... {message[-MOST_WORDS // 2 :]}"
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


class Text:
    """A function's tree and lines; nobody changes them, so that what is found in them is found once.

    Attributes
    ----------
    tree : ast.FunctionDef
        With line numbers of the file.
    lines : dict of int to str
        The text of each line.
    nodes : tuple of ast.AST
        The function's own, without what stands in functions inside of it.
    stored : set of str
        Names that its own statements give a value.
    foreign : set of str
        Names that it declares with global.

    Raises
    ------
    KernelError
        If it is nested more than MOST_DEPTH deep.

    Source: the course's own.
    """

    def __init__(self, tree, lines):
        check_depth(tree)
        self.tree, self.lines, self.nodes = tree, lines, tuple(_own_nodes(tree))
        self.given_by, times = {}, {}  # {name: expressions}, {name: how often it gets a value}
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                times[node.id] = times.get(node.id, 0) + 1
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.given_by.setdefault(target.id, []).append(node.value)
        self.times = times
        self.stored = {*times, *(n.name for n in self.nodes if isinstance(n, ast.FunctionDef))}
        self.foreign = {name for n in self.nodes if isinstance(n, ast.Global) for name in n.names}
        self.weights, self.inner, self.values, self.parts = {}, {}, {}, {}

    def below(self, node):
        """Return a node and all below it, in functions inside of it too."""
        known = self.parts.get(id(node))
        if known is None:
            known = self.parts[id(node)] = tuple(ast.walk(node))
        return known

    def weight(self, node):
        """Return how many steps of the budget a statement takes: one, and one more for each eight parts it has."""
        known = self.weights.get(id(node))
        if known is None:
            own = [getattr(node, part) for part in ("test", "iter") if hasattr(node, part)] or [node]
            known = self.weights[id(node)] = 1 + sum(1 for tree in own for _ in ast.walk(tree)) // 8
        return known

    def given(self, name):
        """Return the expressions that a variable is given, or None where it also gets its value in another way."""
        if name not in self.values:
            values = self.given_by.get(name, [])
            plain = len(values) == self.times.get(name, 0) and len({ast.dump(v) for v in values}) == 1
            self.values[name] = values if plain else None
        return self.values[name]

    def wraps(self, node, axis):
        """Return whether the array of a subscript is elsewhere indexed by a remainder on this axis: a ring is meant."""
        array = ast.dump(node.value) if isinstance(node, ast.Subscript) else ""
        for other in self.nodes if array else ():
            if isinstance(other, ast.Subscript) and ast.dump(other.value) == array:
                parts = other.slice.elts if isinstance(other.slice, ast.Tuple) else [other.slice]
                part = parts[axis] if axis < len(parts) else None
                if part is not None and any(isinstance(n, ast.Mod) for n in ast.walk(part)):
                    return True
        return False

    def of_inner(self, node):
        """Return (Text of a function that stands in this one, a def or a lambda; names that it reads and has not)."""
        if id(node) not in self.inner:
            tree = as_def(node)
            lines = {n: text for n, text in self.lines.items() if tree.lineno <= n <= node.end_lineno}
            text, reads = Text(tree, lines), {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            own = {*(a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)), *text.stored}
            self.inner[id(node)] = text, reads - own
        return self.inner[id(node)]


def _own_nodes(tree):
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def as_def(node):
    """Return a function's tree as that of a def: a lambda is one whose body is a return."""
    if isinstance(node, ast.FunctionDef):
        return node
    back = ast.copy_location(ast.Return(node.body), node.body)
    tree = ast.FunctionDef("lambda", node.args, [back], [], None)
    tree.type_params = []
    return ast.copy_location(tree, node)


# ------------------------------------------------------------------------------------------- where a text is found


def text_of(function):
    """Return the Text of a function that is written with def in a file or a cell, or is a lambda there.

    Raises
    ------
    KernelError
        If it cannot be read, or is no function written with def.
    """
    code = function.__code__
    if function.__name__ == "<lambda>":
        return _text_of_lambda(code)
    lines = _lines_of(code)
    if not lines:
        raise KernelError(f"the source of {function.__name__} cannot be read; define it with def, in a file or a cell.")
    return _text_of_def(lines, code.co_firstlineno)


@functools.lru_cache(MOST_KEPT)
def _text_of_def(lines, first):
    tree = parse(textwrap.dedent("".join(lines)), first)
    if not tree or type(tree[0]) is not ast.FunctionDef:
        raise KernelError("a kernel is a function written with def.", first)
    return Text(tree[0], {first + i: line.rstrip("\n") for i, line in enumerate(lines)})


def _lines_of(code):
    """Return the lines of a function's source, () if there are none; no module is asked where it comes from."""
    file = code.co_filename
    if file == TIMED:
        return _lines_of_timed(code)
    return _block(_file(file), code.co_firstlineno)


def _file(name):
    """Return the lines of a file or a cell, as it is now."""
    if name not in linecache.cache and not os.path.isfile(name):
        return ()
    linecache.checkcache(name)
    return tuple(linecache.getlines(name))


@functools.lru_cache(MOST_KEPT)
def _block(lines, first):
    """Return the lines of the block that begins with line `first`."""
    lines = lines[first - 1 :]
    return tuple(inspect.getblock(lines)) if lines else ()


def _lines_of_timed(code):
    """Return the lines of a function in a cell that begins with %%time: IPython keeps them in its history only."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    for cell in reversed(shell.history_manager.input_hist_raw if shell else []):
        magic, _, body = cell.partition("\n")
        if magic.split()[:1] == ["%%time"]:
            lines = _block(tuple(body.splitlines(keepends=True)), code.co_firstlineno)
            if any(re.match(rf"\s*def\s+{code.co_name}\b", line) for line in lines):
                return lines
    return ()


def _text_of_lambda(code):
    """Return the Text of a lambda: the one in its file that begins at the line and column of its code."""
    where = [p for p in code.co_positions() if p[0] is not None and p[2] is not None]
    body = max((p[0], p[2]) for p in where) if where else None  # inside of its body, whatever comes first
    text = body and _lambda_at(_file(code.co_filename), code.co_firstlineno, body)
    if not text:
        raise KernelError("the source of a lambda cannot be read; define the function with def, in a file or a cell.")
    return text


@functools.lru_cache(MOST_KEPT)
def _lambda_at(lines, first, body):
    found = []
    for node in (n for statement in parse("".join(lines)) for n in ast.walk(statement)):
        if isinstance(node, ast.Lambda) and node.lineno == first:
            begin, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
            if begin <= body <= end:
                found.append(node)
    if not found:
        return None
    tree = as_def(min(found, key=lambda n: (n.body.end_lineno - n.body.lineno, n.body.end_col_offset)))
    return Text(tree, {n: lines[n - 1].rstrip("\n") for n in range(tree.lineno, tree.end_lineno + 1)})


def parse(text, first=1):
    """Return the statements of a text whose first line has the number `first`.

    Raises
    ------
    KernelError
        If Python cannot read it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise KernelError(f"Python cannot read this: {error.msg}.", (error.lineno or 1) + first - 1) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise KernelError(f"Python cannot read this text: {str(error) or 'it is nested too deep'}.", first) from None
    ast.increment_lineno(tree, first - 1)
    return tree.body


def check_depth(tree):
    """Walk a tree level by level; KernelError where it is nested more than MOST_DEPTH deep."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            line = next((node.lineno for node in level if hasattr(node, "lineno")), None)
            raise KernelError(f"this is nested more than {MOST_DEPTH} deep; split it into several statements.", line)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
