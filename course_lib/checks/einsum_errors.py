"""What `np.einsum` complains about, told with the letters and the shapes of the arrays.

Source: the course's own; NumPy's documentation, `numpy.einsum`.
"""

import ast

RULE = "In einsum each array needs one letter for each of its axes, and a letter stands for one size wherever it is."
SIGNS = ("einstein sum", "Einstein sum", "remapped shapes", "Size of label", "Output character")
"""How NumPy's errors about subscripts begin, with and without `optimize`."""


def is_einsum_error(text):
    """Return whether a message is one of `np.einsum`'s. No errors. Source: the course's own."""
    return any(sign in text for sign in SIGNS)


def einsum_error(node, held, shape_of):
    """Return a sentence on what does not fit in a call of einsum; the rule, where the call is not known.

    Parameters
    ----------
    node : ast.AST or None
        What was computed when the error happened.
    held : callable
        Of a node, the value that it holds, or None: for subscripts in a variable.
    shape_of : callable
        Of a node, its shape, or None.

    No errors. Source: the course's own.
    """
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return RULE
    first, *operands = node.args
    subscripts = first.value if isinstance(first, ast.Constant) else held(first)
    if not isinstance(subscripts, str) or "." in subscripts:
        return RULE
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms, shapes = given.split(","), [shape_of(operand) for operand in operands]
    names = [ast.unparse(operand) for operand in operands]
    if len(terms) != len(operands):
        return f'"{given}" has letters for {_count(len(terms), "array")}, and {len(operands)} are given.'
    odd = next((sign for sign in given.replace(",", "") + result if not sign.isalpha()), None)
    if odd is not None:
        return f'"{odd}" is no letter; axes are named by single letters, arrays separated by a comma.'
    if arrow and (said := _result(terms, result)):
        return said
    said = _operands(names, terms, shapes)
    if said and len(terms) == 2 and None not in shapes and not _operands(names, terms, shapes[::-1]):
        call = ast.unparse(node.func)
        said += f' Are the arrays swapped? `{call}("{given}{arrow}{result}", {names[1]}, {names[0]})` fits.'
    return said or RULE


def _result(terms, result):
    """Say which letter behind the arrow cannot stand there."""
    for letter in result:
        if letter not in "".join(terms):
            return f"The letter {letter} behind the arrow stands for no axis of the arrays before it."
        if result.count(letter) > 1:
            return f"The letter {letter} stands twice behind the arrow; each axis of the result has its own letter."
    return ""


def _operands(names, terms, shapes):
    """Say which array has another number of axes than letters, or which letter would have two sizes."""
    for name, term, shape in zip(names, terms, shapes, strict=True):
        if shape is not None and len(shape) != len(term):
            axes = _count(len(shape), "axis", "axes")
            return f'{name} is {shape} and has {axes}, but "{term}" has {_count(len(term), "letter")}.'
    sizes = {}
    for name, term, shape in zip(names, terms, shapes, strict=True):
        for letter, size in zip(term, shape or (), strict=False):
            other, before = sizes.get(letter, (name, size))
            if 1 not in (size, before) and size != before:
                return f"The letter {letter} is an axis of size {before} in {other} and one of size {size} in {name}."
            if letter not in sizes or before == 1:
                sizes[letter] = name, size
    return ""


def _count(number, one, many=None):
    return f"{number} {one if number == 1 else many or one + 's'}"
