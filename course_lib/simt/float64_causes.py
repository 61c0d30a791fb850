"""Which numbers in a kernel's text make its arithmetic float64, and which sums begin with a whole one.

Source: Numba's documentation, "Numba types": a number with a point is float64, and so is what is computed with it.
"""

import ast
import textwrap


def float64_causes(lines, wanted, doubles=()):
    """Return ([(line, number as it is written)], [parameter]): what the wanted lines compute with that is float64.

    Parameters
    ----------
    lines : dict of int to str
        A function's text, by line number.
    wanted : collection of int
        The lines whose arithmetic is float64. What a variable of theirs is set to, in any line, counts too.
    doubles : collection of str
        Parameters that are float64 numbers.

    Returns
    -------
    list, list
        In the order of the text; empty where no such number is to be seen, or the text is not a whole function.

    Source: the course's own.
    """
    here, first = _nodes(lines), min(lines, default=0)
    names = {node.id for node, line in here if line in wanted and isinstance(node, ast.Name)}
    found, read = set(), set(names)
    for node, line in here:
        if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare) and line in wanted:
            found |= {_place(part, first) for part in ast.iter_child_nodes(node) if _is_number(part)}
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(t, ast.Name) and t.id in names for t in targets):
            found |= {_place(node.value, first)} if _is_number(node.value) else set()
            read |= {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
    return [(line, number) for line, _, number in sorted(found)], [name for name in doubles if name in read]


def whole_sums(lines, wanted):
    """Return [(line, name)] where a variable begins as a whole number that the wanted lines add float32 to.

    A call of sum in a wanted line begins with 0 by itself: its name is "sum". Parameters as those of `float64_causes`;
    empty where nothing of this kind is to be seen. Source: the course's own.
    """
    here, added, found = _nodes(lines), set(), []
    for node, line in here:
        target = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and len(node.targets) == 1:
            target = node.targets[0]
        if line in wanted and isinstance(target, ast.Name):
            added.add(target.id)
        if line in wanted and _calls(node, "sum") and len(node.args) == 1 and not node.keywords:
            found.append((line, "sum"))
    for node, line in here:
        if isinstance(node, ast.Assign) and (_is_whole(node.value) or _calls(node.value, "int")):
            found += [(line, t.id) for t in node.targets if isinstance(t, ast.Name) and t.id in added]
    return sorted(set(found))


def _nodes(lines):
    """Return [(node, its line)] of a function's text, [] where it cannot be read."""
    first = min(lines, default=0)
    text = [lines.get(n, "") for n in range(first, max(lines, default=-1) + 1)]
    try:
        tree = ast.parse(textwrap.dedent("\n".join(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [(node, node.lineno + first - 1) for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)]


def _calls(node, name):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_whole(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_number(node):
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is float


def _place(node, first):
    return node.lineno + first - 1, node.col_offset, ast.unparse(node)
