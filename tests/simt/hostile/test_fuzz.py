"""Real kernels with pieces of their text or tree deleted, doubled or swapped: a result or an error, no crash."""

import ast
import contextlib
import copy
import importlib
import inspect
import io
import random
import textwrap
import tokenize

import numpy as np
import pytest

from course_lib import simt
from tests.simt import kernels
from tests.simt.measured import cases

SEED, TRIES, STEPS = 20_261, 1_200, 400
ALLOWED = (simt.KernelError, simt.LaunchError, TypeError)
for _name in ("access", "convolutions", "elementwise", "merged", "products", "reductions"):
    importlib.import_module(f"tests.simt.measured.kernels.{_name}")

HEAD = """import math
import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64
"""


def originals():
    """Return (text, grid, block, function that makes arguments) of all kernels to start from, in a fixed order."""
    found = {}
    for name, value in vars(kernels).items():
        if inspect.isfunction(value) and value.__module__ == kernels.__name__:
            count = len(inspect.signature(value).parameters)
            found[name] = (text_of(value), 1, 64, lambda count=count: [np.arange(64) % 7 for _ in range(count)])
    for name, case in cases.LAUNCHES.items():
        if is_small(case):
            found[name] = (text_of(case.kernel), case.grid, case.block, lambda case=case: list(case.arguments()[0]))
    return [found[name] for name in sorted(found)]


def is_small(case):
    """Whether a launch has few threads, and all that it uses can stand in a text."""
    arrays = any(isinstance(value, np.ndarray) for value in inspect.getclosurevars(case.kernel).globals.values())
    return np.prod(case.grid) * np.prod(case.block) <= 4096 and not arrays


def text_of(kernel):
    """Return a kernel's def, below the constants and device functions that it uses."""
    used = inspect.getclosurevars(kernel).globals
    numbers = [f"{name} = {value!r}\n" for name, value in used.items() if isinstance(value, int | float | tuple)]
    devices = [
        f"@cuda.jit(device=True)\n{_definition(value.py_func)}" for value in used.values() if hasattr(value, "py_func")
    ]
    return "".join((HEAD, *numbers, *devices)), _definition(kernel)


def _definition(function):
    text = textwrap.dedent(inspect.getsource(getattr(function, "py_func", function)))
    return text[text.index("def ") :]


def mutate_tokens(rng, text):
    """Return a text with one to three tokens deleted, doubled, swapped or taken from elsewhere."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    places = [i for i, t in enumerate(tokens) if t.string.strip() and t.start[0] > 1]
    for _ in range(rng.choice((1, 1, 2))):
        i, j = rng.choice(places), rng.choice(places)
        a, b = tokens[i], tokens[j]
        way = rng.choice(("delete", "double", "swap", "copy"))
        if way == "delete":
            tokens[i] = a._replace(string="")
        elif way == "double":
            tokens[i] = a._replace(string=f"{a.string} {a.string}")
        elif way == "swap":
            tokens[i], tokens[j] = a._replace(string=b.string), b._replace(string=a.string)
        else:
            tokens[i] = a._replace(string=b.string)
    return _joined(text, tokens)


def _joined(text, tokens):
    lines = text.splitlines(keepends=True)
    out, row, column = [], 1, 0
    for t in tokens:
        while row < t.start[0]:
            out.append(lines[row - 1][column:])
            row, column = row + 1, 0
        out.append(lines[row - 1][column : t.start[1]] if row <= len(lines) else "")
        out.append(t.string)
        row, column = t.end
    return "".join(out)


def mutate_tree(rng, text):
    """Return a text whose tree has one to three nodes deleted, doubled or swapped."""
    tree = ast.parse(text)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.4:
            _mutate_statements(rng, tree.body[0])
        else:
            _mutate_expressions(rng, tree.body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def _mutate_statements(rng, function):
    bodies = [
        getattr(n, f) for n in ast.walk(function) for f in ("body", "orelse") if isinstance(getattr(n, f, None), list)
    ]
    bodies = [b for b in bodies if b]
    one, other = rng.choice(bodies), rng.choice(bodies)
    i, j = rng.randrange(len(one)), rng.randrange(len(other))
    way = rng.choice(("delete", "double", "swap", "move"))
    if way == "delete":
        one[i] = ast.Pass()
    elif way == "double":
        one.insert(i, copy.deepcopy(one[i]))
    elif way == "swap":
        one[i], other[j] = copy.deepcopy(other[j]), copy.deepcopy(one[i])
    else:
        other.insert(j, copy.deepcopy(one[i]))


def _mutate_expressions(rng, function):
    places = [
        (node, field)
        for node in ast.walk(function)
        for field, value in ast.iter_fields(node)
        if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store)
    ]
    (node, field), (other, its_field) = rng.choice(places), rng.choice(places)
    a, b = copy.deepcopy(getattr(node, field)), copy.deepcopy(getattr(other, its_field))
    way = rng.choice(("replace", "swap", "add", "call", "index", "constant", "tuple"))
    new = {
        "replace": b, "swap": b, "add": ast.BinOp(a, rng.choice((ast.Add, ast.Pow, ast.LShift, ast.Mod))(), b),
        "call": ast.Call(b, [a], []), "index": ast.Subscript(a, b, ast.Load()),
        "constant": ast.Constant(rng.choice((0, -1, 2**40, 2**63, 1.5, True, None, "x"))),
        "tuple": ast.Tuple([a, b], ast.Load()),
    }[way]  # fmt: skip
    setattr(node, field, new)
    if way == "swap":
        setattr(other, its_field, a)


def change_arguments(rng, arguments):
    """Return arguments, sometimes with one that does not fit."""
    if arguments and rng.random() < 0.2:
        other = np.ones(rng.choice(((0,), (7,), (3, 3), ())), rng.choice((np.float32, np.int32, np.uint8, np.float16)))
        other = rng.choice((other, 3, 2.5, 0, -1, other[::-1] if other.ndim else True))
        arguments[rng.randrange(len(arguments))] = other
    return arguments


@pytest.mark.parametrize("part", range(4))
def test_mutated_kernel_gets_a_result_or_an_error_that_names_the_line(part):
    rng, starts = random.Random(SEED + part), originals()
    outcomes = dict.fromkeys(("KernelError", "HazardFound", "a result"), 0)
    for number in range(TRIES // 4):
        (head, text), *launch = rng.choice(starts)
        mutated = text
        while mutated == text:
            with contextlib.suppress(tokenize.TokenError, IndentationError, ValueError, IndexError):
                mutated = rng.choice((mutate_tokens, mutate_tree, mutate_tree))(rng, text)
        outcome = attempt(rng, head + mutated, *launch, f"part {part}, number {number}")
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert min(outcomes.values()) >= 5, outcomes


def attempt(rng, text, grid, block, make, where):
    """Run a text; return the name of what came out, and fail with the text if that is not allowed."""
    try:
        kernel = simt.read(text)
        arguments = change_arguments(rng, make())
        simt.run(kernel, grid, block, arguments, steps=STEPS, on_error=rng.choice(("raise", "collect")))
    except ALLOWED as error:
        named = not isinstance(error, simt.KernelError) or error.line or "say which kernel" in str(error)
        if not named or not str(error):
            pytest.fail(f"{where}: no line or no message: {error}\n{text}")
        return type(error).__name__
    except Exception as error:
        pytest.fail(f"{where}: {type(error).__name__}: {error}\n{text}")
    return "a result"
