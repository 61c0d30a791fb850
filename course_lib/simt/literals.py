"""Which expressions a compiler knows before the launch: shapes of arrays, branches that are never compiled.

Source: Numba's documentation, "CUDA Kernel API" (shared and local arrays have constant shapes) and "Notes on literal
types". Python itself computes 8 * 8 while it reads a text; Numba knows names from outside of the kernel, variables that
are only ever given such a value, and parameters that are given one at a call.
"""

import ast


def is_folded(node):
    """Return whether Python's compiler makes a number of an expression: constants and arithmetic with them."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_folded(node.operand)
    return isinstance(node, ast.BinOp) and is_folded(node.left) and is_folded(node.right)


def is_literal(node, source, fixed=frozenset(), seen=()):
    """Return whether Numba knows the value of an expression before the launch.

    Parameters
    ----------
    node : ast.expr
    source : Source
        Of the function in which it stands.
    fixed : set of str
        Parameters that are given such a value at this call.
    """
    if is_folded(node):
        return True
    if isinstance(node, ast.Name):
        if node.id not in source.assigned or node.id in fixed:
            return True
        given = None if node.id in source.parameters or node.id in seen else source.text.given(node.id)
        return bool(given) and all(is_literal(g, source, fixed, (*seen, node.id)) for g in given)
    if isinstance(node, ast.Tuple):
        return all(is_literal(part, source, fixed, seen) for part in node.elts)
    if isinstance(node, ast.Subscript):
        return is_literal(node.value, source, fixed, seen) and is_folded(node.slice)
    if isinstance(node, ast.Attribute):
        return is_from_outside(node.value, source)
    return False


def is_from_outside(node, source):
    """Return whether an expression has nothing to do with threads: constants, names from outside, and their sums."""
    if isinstance(node, ast.Name):
        return node.id not in source.assigned
    if isinstance(node, ast.Attribute):
        return is_from_outside(node.value, source)
    if isinstance(node, ast.UnaryOp):
        return is_from_outside(node.operand, source)
    if isinstance(node, ast.BinOp):
        return is_from_outside(node.left, source) and is_from_outside(node.right, source)
    return isinstance(node, ast.Constant)
