"""NumPy's errors about an array where Python wants a single value, told with the line and with what works on arrays.

Source: the course's own; NumPy's documentation, "ndarray.__bool__" and `numpy.where`.
"""

import ast
import re

from course_lib.checks.shape_errors import shape_of

TRUTH = re.compile(r"truth value of an? (empty array|array)")
NUMBER = ("converted to Python scalars", "converted to a scalar index", "doesn't define __round__")
ELEMENT = re.compile(r"setting an array element with a sequence\.?$")
STATEMENT = re.compile(r"(if|elif|while|assert)\b")

WORDS = {ast.And: ("and", "&"), ast.Or: ("or", "|")}
WHOLE = {"max": "np.max", "min": "np.min", "any": "np.any", "all": "np.all", "bool": "np.any"}
"""Python's functions, and NumPy's for all elements of one array."""

PAIRS = {"max": "np.maximum", "min": "np.minimum"}
"""Python's functions of several values, and NumPy's that take them element by element."""

EACH = {"float": "{}.astype(float)", "int": "{}.astype(int)", "round": "np.round({})", "range": "range(len({}))"}
"""Python's functions of one number, and what does the same to each element."""


def single_value_error(error, origin):
    """Return sentences on an error that says: an array stands where one value is wanted; "" for other errors.

    Parameters
    ----------
    error : Exception
    origin : Origin or None
        The line of the answer, and what it computed.

    No errors. Source: the course's own.
    """
    text, node = str(error), origin and origin.expression
    if isinstance(error, ValueError) and (found := TRUTH.search(text)):
        if found[1] == "empty array":
            return "The array is empty, so it is neither True nor False. `len(x) == 0` asks whether an array is empty."
        return _truth(node, origin)
    if isinstance(error, TypeError) and any(part in text for part in NUMBER):
        return _number(node)
    if isinstance(error, ValueError) and ELEMENT.search(text):
        return "The place on the left takes one number, and the right side is an array or a list of several."
    return ""


def _truth(node, origin):
    if isinstance(node, ast.Call):
        return _called(node)
    if isinstance(node, ast.BoolOp):
        word, sign = WORDS[type(node.op)]
        joined = f" {sign} ".join(f"({ast.unparse(part)})" for part in node.values)
        return f"`{word}` wants a single True or False on each side. Element by element it is `{sign}`: `{joined}`."
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"`not` wants a single True or False. Element by element it is `~`: `~({ast.unparse(node.operand)})`."
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return f"A chain of comparisons works on single numbers only. For arrays: `{_links(node)}`."
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return "`in` compares with `==`, which gives an array here. `np.array_equal(a, b)` compares arrays as wholes."
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.List | ast.Tuple):
        return "Lists of arrays cannot be compared with `==`. `np.array_equal(a, b)` compares two arrays as wholes."
    return _branch(node, origin)


def _called(node):
    """Say what to write instead of Python's max(x, 0), max(matrix), any(matrix), sorted(arrays), places.index(x)."""
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    given = [ast.unparse(a) for a in node.args]
    if name in PAIRS and len(given) > 1 and not node.keywords:
        return (
            f"Python's `{name}` asks which of its values is the one, and arrays give no single answer. "
            f"`{PAIRS[name]}({', '.join(given[:2])})` takes them element by element."
        )
    if name in WHOLE and given:
        asks = f"`{WHOLE[name]}({given[0]})` takes all elements of an array"
        return f"Python's `{name}` wants a single True or False from each comparison. {asks}."
    return (
        f"`{name}` asks an array whether it is True, and an array has one answer for each element. "
        "`np.array_equal(a, b)` compares two arrays as wholes; `np.any` and `np.all` make one answer of many."
    )


def _links(node):
    """Return (0 < x) & (x < 1) for 0 < x < 1."""
    sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
    signs = [ast.unparse(ast.Compare(ast.Name("a"), [op], [ast.Name("b")]))[1:-1].strip() for op in node.ops]
    return " & ".join(f"({sides[k]} {sign} {sides[k + 1]})" for k, sign in enumerate(signs))


def _branch(node, origin):
    """Say what `np.where` and a mask do in place of an `if`, with the condition of the line."""
    test = getattr(node, "test", node)
    condition = ast.unparse(test) if isinstance(test, ast.expr) else ""
    found = STATEMENT.match(origin.code) if origin else None
    word = found[1] if found else "if"
    wants = f"`{word}` wants a single True or False"
    if not condition:
        return f"An array has one True or False for each element; {wants}. {_instead('condition', word)}"
    shape = shape_of(test, origin.names)
    size = f" of shape {shape}" if shape else ""
    joined = [f"`{one}` becomes `{sign}`" for one, sign in WORDS.values() if f" {one} " in origin.code]
    brackets = f" Between arrays {', '.join(joined)}, with each condition in brackets." if joined else ""
    said = f"`{condition}` is an array{size}, with one answer for each element; {wants}. {_instead(condition, word)}"
    return said + brackets


def _instead(condition, word):
    whole = f"If you mean all of them, write `np.all({condition})`; if one is enough, `np.any({condition})`."
    if word in ("while", "assert"):
        return whole
    return (
        f"To choose element by element, `np.where({condition}, a, b)` takes a where the condition is True and b "
        f"elsewhere; with a mask, `result[{condition}] = ...` sets only those elements. {whole}"
    )


def _number(node):
    if isinstance(node, ast.Call) and node.args:
        given, name = ast.unparse(node.args[0]), getattr(node.func, "id", getattr(node.func, "attr", ""))
        module = getattr(getattr(node.func, "value", None), "id", "")
        called = f"{module}.{name}" if module else name
        if module in ("math", "cmath"):
            other = f"`np.{name}({given})` works on each element."
        elif name in EACH:
            other = f"For each element: `{EACH[name].format(given)}`."
        else:
            other = "Is one of its elements meant, or a sum of them?"
        return f"`{called}` takes a single number, and `{given}` is an array. {other}"
    return "A single number is wanted here, and this is an array. Is one of its elements meant, or a sum of them?"
