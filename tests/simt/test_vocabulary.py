"""What is not in the vocabulary of a kernel is an error that names the line; nothing of a kernel's text is executed."""

import numpy as np
import pytest

from course_lib import simt
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
    "x = [k for k in range(3)]", "x = [1, 2, 3]", "x = {1: 2}", "x = {1, 2}", "x = {k: k for k in range(3)}",
    "x = sum(k for k in range(3))", "x = lambda: 1", "x = (lambda: 1)()", "x = 'text'", "x = f'{i}'", "x = b'1'",
    "x = None",
    "x = ...", "x = 1j", "import os", "from os import path", "global y", "nonlocal_ = nonlocal_", "del x",
    "assert x == 1",
    "raise ValueError(x)", "x = (y := 3)", "x = a.__class__", "x = a.ctypes", "x = a.tobytes()", "x = x.__class__",
    "x = x.bit_length()", "x = math.__dict__", "x = math.gamma_of", "x = cuda.current_context()",
    "x = cuda.to_device(a)", "x = np.random.rand()", "x = np.zeros(3)", "x = open('/etc/passwd')", "x = eval('1')",
    "x = exec('1')", "x = __import__('os')", "x = getattr(a, 'shape')", "x = globals()", "x = unknown",
    "x = unknown(3)",
    "x = max(*a)", "x = max(**a)", "x = x @ x", "x = a @ a", "x = x in (1, 2)", "x = x is None", "x = x not in (1, 2)",
    "x, y = 3", "x, y = 1, 2, 3", "a.shape = 3", "x = a[0, 0]", "x = a[0.5]", "x = a['0']", "x = x[0]",
    "x = a + a", "x = -a",
    "x = not a", "x = a < a", "x = (1, 2) < 3", "x = (1, 2)[5]", "x = cuda.shared.array(i, float32)",
    "x = cuda.shared.array(4)", "x = cuda.shared.array(0, float32)", "x = cuda.shared.array(-4, float32)",
    "x = cuda.shared.array(4, 'float32')", "x = cuda.grid(4)", "x = cuda.grid(0)",
    "x = cuda.grid()", "x = cuda.grid(1, 2)", "x = cuda.grid(ndim=7)", "x = cuda.syncthreads(1)",
    "cuda.atomic.add(a, 0)",
    "cuda.atomic.add(x, 0, 1)", "x = math.sqrt()", "x = math.sqrt(1, 2)", "x = math.sqrt(a)", "x = float32(a)",
    "x = float32(1, 2)", "x = range(3)", "x = len(3)", "x = abs(1, 2)", "x = print(i)", "x = input()",
    "x = str(1)",
    "yield x", "x = yield", "x = await_ if x else await_", "return x", "return x, x", "x = a.sum()",
    "x = a.reshape(2, 2)",
    "x = cuda.threadIdx.w", "x = cuda.threadIdx[0]", "cuda.threadIdx.x = 3", "a[0] = a", "a[0] = (1, 2)",
    "out[i, i] = 1", "x = 1 << 100 << cuda",
    "x = kernel(a, out)", "x = type(a)", "x = object", "x = cuda.jit", "x = a[::-1]", "out[:] = 1",
    "out[::2] = 1",
]  # fmt: skip
BLOCKS = [
    "with a:\n            pass", "try:\n            x = 2\n        except ValueError:\n            pass",
    "for k in a:\n            x = k", "for k in (1, 2):\n            x = k", "for k in [1, 2]:\n            x = k",
    "for k, m in range(3):\n            x = k", "for k in range():\n            x = k",
    "for k in range(1, 2, 3, 4):\n            x = k", "for k in range(0.5):\n            x = k",
    "for k in range(0, 4, 0):\n            x = k", "for k in range(stop=3):\n            x = k",
    "for k in enumerate(a):\n            x = k", "for a[0] in range(3):\n            x = 1",
    "def inner():\n            return 1", "class Inner:\n            pass",
    "match x:\n            case 1:\n                pass", "while a:\n            x = 2", "if a:\n            x = 2",
    "if 'text':\n            x = 2", "x = 3 if a else 4",
]  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS + BLOCKS)
def test_construct_outside_of_the_vocabulary_is_refused_with_its_line(statement):
    kernel = function(HEAD.format(statement))
    out = np.zeros(4)
    with pytest.raises(simt.KernelError) as raised:
        simt.run(kernel, 1, 4, (np.zeros(4), out))
    assert raised.value.line == 4
    np.testing.assert_array_equal(out, 0)


@pytest.mark.parametrize(
    "parameters", ["a, *rest", "a, **options", "a, out=None", "a, *, out", "*a"],
)  # fmt: skip
def test_parameters_other_than_plain_ones_are_refused_with_their_line(parameters):
    kernel = function(f"def kernel({parameters}):\n    pass")
    with pytest.raises(simt.KernelError, match="plain parameters") as raised:
        simt.run(kernel, 1, 4, (np.zeros(4), np.zeros(4)))
    assert raised.value.line == 1


@pytest.mark.parametrize(
    "text", ["async def kernel(a, out):\n    pass", "kernel = lambda a, out: None", "class kernel:\n    pass"]
)
def test_only_a_def_is_a_kernel(text):
    with pytest.raises((simt.KernelError, TypeError)):
        simt.run(function(text), 1, 4, (np.zeros(4), np.zeros(4)))


def test_error_names_the_construct():
    for statement, word in (
        ("x = [k for k in range(3)]", "a list comprehension"), ("import os", "import"), ("x = f'{i}'", "an f-string"),
        ("x = lambda: 1", "lambda"), ("x = 'text'", "'text'"), ("x = unknown(3)", "unknown"), ("x = x is None", "is"),
        ("x = open('/etc/passwd')", "open"), ("x = a.ctypes", "ctypes"), ("x = cuda.to_device(a)", "cuda.to_device"),
    ):  # fmt: skip
        with pytest.raises(simt.KernelError, match=word):
            simt.run(function(HEAD.format(statement)), 1, 4, (np.zeros(4), np.zeros(4)))


OUTSIDE = {
    "a string": "text", "a list": [1, 2], "a dict": {1: 2}, "a function": lambda x: x,
    "an object": object(),
    "a module": __import__("os"), "a tuple with a string": (1, "2"), "a complex number": 1j,
    "a class": dict,
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


@pytest.mark.parametrize("argument", ["text", None, [1, 2], {"a": 1}, 1j, object(), 2**70])
def test_argument_that_a_kernel_cannot_take_is_refused(argument):
    with pytest.raises(TypeError):
        simt.run(function(HEAD.format("pass")), 1, 4, (argument, np.zeros(4)))


@pytest.mark.parametrize("arguments", [(), (np.zeros(4),), (np.zeros(4),) * 3])
def test_number_of_arguments_must_fit(arguments):
    with pytest.raises(TypeError, match=rf"takes 2 arguments \(a, out\) and got {len(arguments)}"):
        simt.run(function(HEAD.format("pass")), 1, 4, arguments)
