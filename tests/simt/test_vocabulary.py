"""What is not in the vocabulary of a kernel is an error that names the line; what is in it has Python's value.

Nothing of a kernel's text is executed.
"""

import math
import os

import numpy as np
import pytest

from course_lib import simt
from tests.cases import all_of
from tests.simt.text import function

# The construct stands in line 4 of each kernel.
HEAD = """
    def kernel(a, out):
        i = cuda.grid(1)
        x = 1
        {}
        out[i] = x
"""
STATEMENTS = [
    "x = a.dtype(1)",
    "x = [k for k in range(3)]", "x = [1, 2, 3]", "x = {1: 2}", "x = {1, 2}", "x = {k: k for k in range(3)}",
    "x = sum(k for k in range(3))", "x = f'{i}'", "x = b'1'", "x = ...", "import os", "from os import path",
    "nonlocal_ = nonlocal_", "del x", "assert a", "raise", "print(a)", "print('x', end='')", "x = a + 'text'",
    "x = 'text' + 'text'", "x = 'text'[0]", "x = 'text'.upper()", "x = 't' in 'text'", "x = len('text')",
    "x = None + 1", "x = not None", "x = len(None)", "x = None.shape", "x = float32(None)", "x = x if i else None",
    "x = 1j < 2j", "x = 1j // 2", "x = 1j % 2", "x = 1j & 1", "x = ~1j", "x = int(1j)", "x = math.sqrt(1j)",
    "x = max(1j, 2j)", "x = a[1j]", "a[i] = 1j",
    "x, *y = 1, 2, 3", "a[:] = out", "a[:] = (1, 2)", "x = a.max()", "x = a.min()", "x = a.ravel()", "x = a.flatten()",
    "x = a.copy()", "x = a.astype(int32)", "x = a.cumsum()", "x = a.tolist()", "x = a.dot(a)", "x = a.sum(0)",
    "x = a.sum(axis=0)", "x = a.std(ddof=1)", "x = a.reshape(3, 2)[0, 0]", "x = a.fill()", "x = np.sum(a, 0)",
    "x = np.dot(a, a)", "x = np.ones_like(a)", "x = np.sqrt(4.0)", "x = np.max(a)", "x = a[True]",
    "x = cuda.shared.array(T + i, float32)", "x = round(1.5, 'a')",
    "x = all((1, 2))", "x = any((1, 2))", "x = sorted(a)", "x = reversed(a)", "x = map(a, a)", "x = filter(a, a)",
    "x = iter(a)", "x = next(a)", "x = list(a)", "x = tuple(a)", "x = set()", "x = dict()", "x = object()",
    "x = super()", "x = vars()", "x = dir(a)", "x = setattr(a, 'shape', 1)", "x = compile('1', '', 'eval')",
    "x = id(a)", "x = hash(1)", "x = chr(65)", "x = bin(3)", "x = int('3')", "x = isinstance(i, int)",
    "x = zip(a, i)", "x = zip(i)", "x = enumerate(i)", "x = enumerate(a, 0.5)", "x = (1, 2).count(1)",
    "x = (1, (2, 3))[i]", "x = a if i else 1",
    "x = (lambda v: v)()", "x = (lambda v: v)(1, 2)", "x = (lambda **v: 1)(v=2)", "x = (lambda *, v: 1)(v=2)",
    "raise ValueError(x)", "x = (y := 3)", "x = a.__class__", "x = a.ctypes", "x = a.tobytes()", "x = x.__class__",
    "x = x.bit_length()", "x = math.__dict__", "x = math.gamma_of", "x = cuda.current_context()",
    "x = cuda.to_device(a)", "x = np.random.rand()", "x = np.zeros(3)", "x = open('/etc/passwd')", "x = eval('1')",
    "x = exec('1')", "x = __import__('os')", "x = getattr(a, 'shape')", "x = globals()", "x = unknown",
    "x = unknown(3)",
    "x = max(*a)", "x = max(**a)", "x = x @ x", "x = a @ a", "x = x in 3", "x = a in (1, 2)", "x = x is x",
    "x = x not in cuda",
    "x, y = 3", "x, y = 1, 2, 3", "a.shape = 3", "x = a[0, 0]", "x = a[0.5]", "x = a['0']", "x = x[0]",
    "x = a + a", "x = -a",
    "x = not a", "x = a < a", "x = (1, 2) < 3", "x = (1, 2)[5]", "x = cuda.shared.array(i, float32)",
    "x = cuda.shared.array(4)", "x = cuda.shared.array(0, float32)", "x = cuda.shared.array(-4, float32)",
    "x = cuda.shared.array(4, 'float31')", "x = cuda.grid(4)", "x = cuda.grid(0)",
    "x = cuda.grid()", "x = cuda.grid(1, 2)", "x = cuda.grid(ndim=7)", "x = cuda.syncthreads(1)",
    "cuda.atomic.add(a, 0)",
    "cuda.atomic.add(x, 0, 1)", "x = math.sqrt()", "x = math.sqrt(1, 2)", "x = math.sqrt(a)", "x = float32(a)",
    "x = float32(1, 2)", "x = range('3')", "x = len(3)", "x = abs(1, 2)", "x = print(i)", "x = input()",
    "x = str(1)",
    "yield x", "x = yield", "x = await_ if x else await_", "return x", "return x, x",
    "x = cuda.threadIdx.w", "x = cuda.threadIdx[0]", "cuda.threadIdx.x = 3", "a[0] = a", "a[0] = (1, 2)",
    "out[i, i] = 1", "x = 1 << 100 << cuda",
    "x = kernel(a, out)", "x = type(a)", "x = object", "x = cuda.jit", "x = a[::0][0]",
    "x = a[1j:]", "x = a[:, :]", "out[:, :] = 1", "x = thing.system('ls')", "x = thing.unknown",
]  # fmt: skip
BLOCKS = [
    "with a:\n            pass", "try:\n            x = 2\n        except ValueError:\n            pass",
    "for k in i:\n            x = k", "for k in (1, 2.5):\n            x = k",
    "for k in (1, (2, 3)):\n            pass",
    "for k in 'text':\n            x = 2", "for k in None:\n            x = k",
    "for k in reversed(a):\n            x = k", "for k in zip(a, i):\n            pass",
    "for k, m in range(3):\n            x = k", "for k, m, n in enumerate(a):\n            x = k",
    "for k, m in a:\n            x = k", "for k in range():\n            x = k",
    "for k in range(1, 2, 3, 4):\n            x = k", "for k in range(1j):\n            x = k",
    "for k in range(0, 4, 0):\n            x = k", "for k in range(stop=3):\n            x = k",
    "for a[0, 0] in range(3):\n            x = 1", "for x.y in range(3):\n            x = 1",
    "class Inner:\n            pass",
    "match x:\n            case 1:\n                pass", "while a:\n            x = 2", "if a:\n            x = 2",
    "if 'text':\n            x = 2", "x = 3 if a else 4",
]  # fmt: skip


@all_of("statement", STATEMENTS + BLOCKS)
def test_construct_outside_of_the_vocabulary_is_refused_with_its_line(statement):
    kernel = function(HEAD.format(statement), thing=os, T=4)
    out = np.zeros(4)
    with pytest.raises(simt.KernelError) as raised:
        simt.run(kernel, 1, 4, (np.zeros(4), out))
    assert not isinstance(raised.value, simt.HazardFound)
    assert raised.value.line == 4
    np.testing.assert_array_equal(out, 0)


LATER = {
    "x = lambda: 1": "line 5: the function lambda cannot be stored in out", "x = 'text'": "line 5: the text 'text'",
    "x = None": "line 5: None cannot be stored", "x = 1j": "line 5: a complex128 cannot become a float64",
    "x = range(3)": "line 5: a range cannot be stored", "x = zip(a)": "line 5: a zip cannot be stored",
    "x = enumerate(a)": "line 5: an enumerate cannot", "x = a[::-1]": r"line 5: a\[::-1\], a part of a,",
    "x = a.reshape(2, 2)": r"line 5: a, an array \(2, 2\)", "x = a.T": "line 5: a, an array",
    "x = print": "line 5: print", "x = a.sum": "line 5: sum cannot be stored",
    "x = cuda.shared.array(4, 'float32')": "line 5: x, an array", "x = thing": "line 5: thing cannot be stored",
    "f = lambda: 1\n        x = f + 1": "line 5: the function lambda is no number",
    "global y\n        y = 3": "line 5: y is a name from outside",
    "global y\n        x = y": "line 5: y is not defined",
    "for k in enumerate(a):\n            x = k": "line 6: x: One variable cannot be an int64 on one path and a tuple",
    "for k in zip(a, out):\n            x = k": "line 6: x: One variable cannot be an int64 on one path and a tuple",
    "def inner():\n            return y": "line 5: y is not defined",
    "def inner(v):\n            yield v": "line 5: yield is not possible",
    "def inner(v):\n            nonlocal x\n            x = v": "line 5: nonlocal is not possible",
    "@cuda.jit\n        def inner(v):\n            return v": "line 5: inner, a function .* no decorator",
}  # fmt: skip
"""What may stand there, but is used wrongly in a line below; Numba names that line, or the function's, too."""


@pytest.mark.parametrize("statement", LATER)
def test_value_that_is_used_wrongly_is_refused_where_it_is_used(statement):
    call = (
        "\n        x = inner(i)" if "inner(v)" in statement else "\n        x = inner()" if "inner" in statement else ""
    )
    out = np.zeros(4)
    with pytest.raises(simt.KernelError, match="^" + LATER[statement]):
        simt.run(function(HEAD.format(statement + call), thing=os), 1, 4, (np.zeros(4), out))
    np.testing.assert_array_equal(out, 0)


A = np.array([1.0, 2, 3, 5])
I = np.arange(4)
ALLOWED = {
    "x = (lambda: 7)()": 7, "f = lambda v: v + i\n        x = f(2)": 2 + I, "x = (lambda v, w: v * w)(2, 3)": 6,
    "lambda: 1": 1, "x = 'text' == 'text'": 1, "x = 'text' != 'text'": 0,
    "w = None\n        x = 5 if w is None else 2": 5, "x = x is None": 0, "x = (1j * (2 + 1j)).real + i": I - 1,
    "global y\n        x = y + 1": 5, "assert x == 1\n        x = 8": 8, "assert x == 1, 'x is no 1'": 1,
    "if x == 2:\n            raise ValueError('x is 2')\n        x = 3": 3, "x = i in (1, 2)": [0, 1, 1, 0],
    "x = i not in (1, 2)": [1, 0, 0, 1], "x = i in a": [0, 1, 1, 1], "x = a is a": 1, "x = a is out": 0,
    "s = cuda.shared.array(4, 'float32')\n        s[i] = i / 3\n        x = s[i]": np.float32(I / 3),
    "r = range(1, 4)\n        for k in r:\n            x += k": 7, "x = len(range(3)) * 10 + len(range(9, 0, -2))": 35,
    "x = a.sum()": A.sum(), "x = a.mean() + i": A.mean() + I, "x = a.reshape(2, 2)[1, i % 2]": [3, 5, 3, 5],
    "x = a[::-1][i]": A[::-1], "x = a[1:][0] + a[i:].size": 2 + 4 - I, "x = a.T[i]": A,
    "x = max(*(1, i))": [1, 1, 2, 3],
    "x = round(1.25, i % 2)": [1, 1.2, 1, 1.2], "x = round(1.5, i)": [2, 1.5, 1.5, 1.5],
    "for k in a:\n            x += k": 12, "for k in (1, 2):\n            x += k * i": 1 + 3 * I,
    "for k in range(2.7):\n            x += k + 1": 4, "for k in range(0.5):\n            x = 9": 1,
    "for k, v in enumerate(a):\n            x += k * v": 1 + 2 + 6 + 15,
    "for k, v in enumerate(a, 1):\n            x += k * v": 1 + 1 + 4 + 9 + 20,
    "for u, v in zip(a, (3, 2, 1)):\n            x += u * v": 1 + 3 + 4 + 3,
    "def inner():\n            return 4\n        x = inner()": 4,
    "def inner(v, w=2):\n            return v * w + x\n        x = inner(i) + inner(i, 1)": 3 * I + 2,
    "x = thing.tau": np.pi * 2, "x = thing.sqrt(4.0)": 2,
}  # fmt: skip


@pytest.mark.parametrize("statement", ALLOWED)
def test_construct_of_the_vocabulary_has_the_value_that_python_gives_it(statement):
    out = np.zeros(4)
    simt.run(function(HEAD.format(statement), y=4, thing=math), 1, 4, (A.copy(), out))
    np.testing.assert_array_equal(out, np.broadcast_to(ALLOWED[statement], 4))


WRITES = {
    "out[:] = 7": [7, 7, 7, 7], "out[::2] = 7": [7, 0, 7, 0], "out[2:] = 7": [0, 0, 7, 7], "out[...] = 7": [7, 7, 7, 7],
    "out[:] = (1, 2, 3, 4)": [1, 2, 3, 4], "out.fill(7)": [7, 7, 7, 7], "out[::-1][0] = 7": [0, 0, 0, 7],
}  # fmt: skip


@pytest.mark.parametrize("statement", WRITES)
def test_slice_gets_one_number_or_the_parts_of_a_tuple(statement):
    out = np.zeros(4)
    simt.run(function(f"def kernel(out):\n    {statement}"), 1, 1, (out,))
    np.testing.assert_array_equal(out, WRITES[statement])


@pytest.mark.parametrize("parameters", ["a, **options", "a, *, out", "a, *rest, out", "a, *, out=None"])
def test_options_and_parameters_behind_a_star_are_refused_with_their_line(parameters):
    kernel = function(f"def kernel({parameters}):\n    pass")
    with pytest.raises(simt.KernelError, match="no parameters behind a") as raised:
        simt.run(kernel, 1, 4, (np.zeros(4), np.zeros(4)))
    assert raised.value.line == 1


PARAMETERS = {
    "a, *rest": ("rest[0][i] = a[i] + len(rest) * rest[1]", lambda out: (A, out, 3), A + 6),
    "*a": ("a[1][i] = a[0][i] + len(a)", lambda out: (A, out), A + 2),
    "out, a=None": ("out[i] = 7 if a is None else a[i]", lambda out: (out,), 7),
    "out, a=None, /": ("out[i] = 7 if a is None else a[i]", lambda out: (out, A), A),
    "out, a=3, b=4": ("out[i] = a + 10 * b", lambda out: (out, 5), 45),
    "out, a": ("out[i] = 7 if a is None else 8", lambda out: (out, None), 7),
    "out, z": ("out[i] = (z * z).real", lambda out: (out, 2j), -4),
}


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_parameters_get_what_a_call_of_python_would_give_them(parameters):
    statement, arguments, expected = PARAMETERS[parameters]
    out = np.zeros(4)
    simt.run(function(f"def kernel({parameters}):\n    i = cuda.grid(1)\n    {statement}"), 1, 4, arguments(out))
    np.testing.assert_array_equal(out, np.broadcast_to(expected, 4))


@pytest.mark.parametrize("text", ["async def kernel(a, out):\n    pass", "class kernel:\n    pass"])
def test_only_a_function_is_a_kernel(text):
    with pytest.raises((simt.KernelError, TypeError)):
        simt.run(function(text), 1, 4, (np.zeros(4), np.zeros(4)))


def test_a_lambda_cannot_write_and_can_be_launched():
    out = np.ones(4)
    simt.run(function("kernel = lambda a, out: None"), 1, 4, (np.zeros(4), out))
    np.testing.assert_array_equal(out, 1)


def test_error_names_the_construct():
    for statement, word in (
        ("x = [k for k in range(3)]", "a list comprehension"), ("import os", "import"), ("x = f'{i}'", "an f-string"),
        ("x = (y := 3)", ":="), ("x = unknown(3)", "unknown"), ("x = x is x", "is compares with None"),
        ("x = {1}", "a set"), ("x = {1: 2}", "a dict"), ("x = [1]", "a list"), ("del x", "del"), ("yield x", "yield"),
        ("with a:\n            pass", "with"), ("x = sum(k for k in a)", "a generator"),
        ("x, *y = 1, 2", r"\* cannot be assigned to"),
        ("x = open('/etc/passwd')", "open is Python's own"), ("x = type(a)", "type is Python's own"),
        ("x = a.ctypes", "ctypes"), ("x = cuda.to_device(a)", "cuda.to_device"),
    ):  # fmt: skip
        with pytest.raises(simt.KernelError, match=word):
            simt.run(function(HEAD.format(statement)), 1, 4, (np.zeros(4), np.zeros(4)))


OUTSIDE = {
    "a string": "text", "a list": [1, 2], "a dict": {1: 2}, "a function": lambda x: x,
    "an object": object(),
    "a tuple with a string": (1, "2"), "a tuple with a list": (1, [2]), "a class": dict, "bytes": b"1", "a set": {1},
    "a large number": 2**70, "an array of objects": np.array([None]), "a generator": (k for k in ()),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_thing_from_outside_that_a_kernel_cannot_use_is_refused_with_its_line(name):
    kernel = function(HEAD.format("x = thing"), thing=OUTSIDE[name])
    with pytest.raises(simt.KernelError, match="thing") as raised:
        simt.run(kernel, 1, 4, (np.zeros(4), np.zeros(4)))
    assert raised.value.line == 4


def test_thing_from_outside_that_is_not_used_does_not_matter():
    out = np.zeros(4)
    simt.run(function(HEAD.format("pass"), thing="text"), 1, 4, (np.zeros(4), out))
    np.testing.assert_array_equal(out, 1)


@pytest.mark.parametrize("argument", ["text", [1, 2], {"a": 1}, object(), 2**70, b"1", range(3), (1, "2"), max])
def test_argument_that_a_kernel_cannot_take_is_refused(argument):
    with pytest.raises(TypeError):
        simt.run(function(HEAD.format("pass")), 1, 4, (argument, np.zeros(4)))


@pytest.mark.parametrize("arguments", [(), (np.zeros(4),), (np.zeros(4),) * 3])
def test_number_of_arguments_must_fit(arguments):
    with pytest.raises(TypeError, match=rf"takes 2 arguments \(a, out\) and got {len(arguments)}"):
        simt.run(function(HEAD.format("pass")), 1, 4, arguments)
