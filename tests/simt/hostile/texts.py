"""Texts that try to execute something, to hang, to take all memory, or to crash the interpreter."""

# ruff: noqa: E501  a try is one line

import textwrap
from dataclasses import dataclass

import numpy as np

from course_lib import simt

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32, int8\n"


@dataclass(frozen=True)
class Text:
    """A text, and what must come out: a KernelError on `line` (the one marked `# bad`) that says `says`."""

    text: str
    says: str = ""
    errors: tuple = ("KernelError",)
    grid: object = 1
    block: object = 32
    steps: int = 25_000

    @property
    def line(self):
        """The number of the line with the mark, or None."""
        lines = [i for i, line in enumerate(self.text.split("\n"), 1) if "# bad" in line]
        return lines[0] if lines else None

    def act(self):
        """Read the text and run what it has."""
        kernel = simt.read(self.text)
        arrays = [np.zeros(64, np.float32) for _ in kernel.parameters]
        simt.run(kernel, self.grid, self.block, arrays, steps=self.steps)


TRIES = {}


def attempt(name, text, says="", *, head=HEAD, **more):
    """Enter a whole text."""
    TRIES[name] = Text(head + textwrap.dedent(text).strip("\n"), says, **more)


def body(name, statements, says="", *, before="", **more):
    """Enter the statements of a kernel k(a, out); `i` is the thread's number."""
    statements = textwrap.indent(textwrap.dedent(statements).strip("\n"), "    ")
    attempt(name, f"{before}\ndef k(a, out):\n    i = cuda.grid(1)\n{statements}\n", says, **more)


def top(name, statements, says="", **more):
    """Enter statements that stand above a kernel that is correct."""
    attempt(name, f"{textwrap.dedent(statements)}\ndef k(a, out):\n    out[cuda.grid(1)] = 1\n", says, **more)


# ------------------------------------------------------------------------------- execute something, at the top level

top("import os", "import os  # bad", "os cannot be imported")
top("import a dotted module", "import os.path as math  # bad", "os.path cannot be imported")
top("import several", "import math, subprocess  # bad", "subprocess cannot be imported")
top("from os import system", "from os import system as grid  # bad", "os.system cannot be imported")
top("star import", "from numba.cuda import *  # bad", "one by one")
top("relative import", "from . import canary  # bad", "canary cannot be imported")
top("import builtins", "import builtins  # bad", "builtins cannot be imported")
top("import a part of numba that is no word", "from numba.core import typing  # bad", "cannot be imported")
top("import a part of numpy that is no word", "from numpy import load  # bad", "numpy.load cannot be imported")
top("import the course", "from course_lib import simt  # bad", "cannot be imported")
top("import from __future__", "from __future__ import annotations  # bad", "cannot be imported")
top("__import__", "T = __import__('canary')  # bad", "__import__ is Python's own")
top("call at the top", "print('canary')  # bad", "a call cannot stand outside")
top("launch at the top", "k[1, 1](1)  # bad", "a call cannot stand outside")
top("call in a constant", "T = open('canary', 'w')  # bad", "open is Python's own")
top("eval in a constant", "T = eval('1')  # bad", "eval is Python's own")
top("file of numpy", "T = np.load('canary')  # bad", "np.load is not among the words")
top("mro", "T = cuda.__class__.__mro__  # bad", "cuda.__class__ is not among the words")
top("class of a number", "T = (1).__class__  # bad", "constants")
top("dict of math", "T = math.__dict__  # bad", "math.__dict__ is not among the words")
top("loader", "T = math.__loader__  # bad", "math.__loader__ is not among the words")
top("format string", "T = '{0.__class__}'.format(1)  # bad", "constants")
top("percent string", "T = '%1000000000d' % 1  # bad", "constants")
top("f-string", "T = f'{open(\"canary\")}'  # bad", "constants")
top("long string", "T = 'x' * 10**10  # bad", "constants")
top("walrus", "T = (U := 3)  # bad", "constants")
top("lambda", "T = lambda: open('canary')  # bad", "constants")
top("comprehension", "T = [open('canary') for _ in range(9)]  # bad", "constants")
top("generator", "T = (x for x in range(9))  # bad", "constants")
top("conditional", "T = 1 if open('canary') else 2  # bad", "constants")
top("and", "T = 1 and open('canary')  # bad", "constants")
top("star tuple", "T = (*range(10**9),)  # bad", "constants")
top("class body", "class A:  # bad\n    open('canary')", "class cannot stand")
top("metaclass", "class A(metaclass=print):  # bad\n    pass", "class cannot stand")
top("async", "async def f(x):  # bad\n    await x", "async def cannot stand")
top("try", "try:  # bad\n    import canary\nfinally:\n    pass", "try cannot stand")
top("with", "with open('canary', 'w') as f:  # bad\n    pass", "with cannot stand")
top("if", "if __name__ == '__main__':  # bad\n    open('canary')", "if cannot stand")
top("while", "while True:  # bad\n    pass", "while cannot stand")
top("for", "for x in range(10**18):  # bad\n    pass", "for cannot stand")
top("del", "del cuda  # bad", "del cannot stand")
top("assert", "assert open('canary')  # bad", "assert cannot stand")
top("raise", "raise SystemExit  # bad", "raise cannot stand")
top("match", "match 1:  # bad\n    case int():\n        pass", "match cannot stand")
top("attribute is set", "cuda.grid = 3  # bad", "a constant is given to a name")
top("item is set", "math.__dict__['pi'] = 3  # bad", "a constant is given to a name")
top("a name from __builtins__", "T = __builtins__  # bad", "__builtins__ has no value")
top("decorator", "@print  # bad\ndef f(x):\n    return x", "decorated with")
top("decorator called", "@open('canary', 'w')  # bad\ndef f(x):\n    return x", "decorated with")
top("decorator with a call inside", "@cuda.jit(device=open('canary', 'w'))  # bad\ndef f(x):\n    return x", "option")
top("decorator of numba with an attribute", "@cuda.jit.__class__  # bad\ndef f(x):\n    return x", "decorated with")
top(
    "decorator with a signature",
    "@cuda.jit('void(float32[:])', link=['canary.so'])  # bad\ndef f(x):\n    return x",
    "link is no option",
)
top(
    "signature with a call",
    "@cuda.jit(\"void(__import__('os').system('touch canary'))\")  # bad\ndef f(x):\n    return x",
    "no type",
)
top("signature that is code", "@cuda.jit(open('canary', 'w'))  # bad\ndef f(x):\n    return x", "no type|no signature")
top("decorator links a file", "@cuda.jit(link='canary.so')  # bad\ndef f(x):\n    return x", "link is no option")
top("default argument", "def f(x, y=open('canary', 'w')):  # bad\n    return x", "open is Python's own")
top("keyword default", "def f(x, *, y=open('canary', 'w')):  # bad\n    return x", "behind a")
top("default of a hidden size", "def f(x, y=10**10**10):  # bad\n    return x", "64 bits")
top("annotation of a parameter", "def f(x: open('canary', 'w')):  # bad\n    return x", "annotation")
top("annotation of a return", "def f(x) -> open('canary', 'w'):  # bad\n    return x", "annotation")
top("annotation of a constant", "T: open('canary', 'w') = 3  # bad", "annotation")
top("annotation with walrus", "def f(x: (cuda := 3)):  # bad\n    return x", "annotation")

# ------------------------------------------------------------------------------- execute something, in a kernel

body("kernel imports", "import canary  # bad", "import is not possible")
body("kernel imports from", "from os import *  # bad", "Python cannot read this|import is not possible")
body("kernel calls __import__", "out[i] = __import__('canary')  # bad", "__import__ is Python's own")
for name in (
    "exec", "eval", "compile", "open", "input", "breakpoint", "getattr", "setattr", "globals", "locals", "vars", "dir",
    "type", "object", "super", "memoryview", "exit", "help", "sorted", "str", "list", "isinstance", "iter",
):  # fmt: skip
    body(
        f"kernel calls {name}",
        f"out[i] = {name}('canary')  # bad",
        f"{name} is Python's own|{name} is not possible|{name} has no value",
    )
body("kernel prints a file", "print(open('canary'))  # bad", "open is Python's own")
body("kernel prints without an end", "for j in range(10**9):\n    print('x' * 3)  # bad", "", errors=("KernelError",))
body("kernel prints to a file", "print('canary', file=open('canary', 'w'))  # bad", "open is Python's own")
body("kernel formats", "out[i] = '{0.__class__}'.format(a)  # bad", "")
body("kernel f-string", "out[i] = f'{a.__class__}'  # bad", "f-string")
for expression in (
    "cuda.__class__.__mro__", "math.__dict__", "np.load('canary')", "np.fromfile('canary')", "cuda.jit(k)", "(1).__class__",
    "a.__array_interface__", "a.base", "a.tofile('canary')", "a.data", "a.ctypes", "a.astype(float32)", "a.T",
    "k.__globals__", "k.__code__", "cuda.current_context()", "cuda.to_device(a)", "cuda.synchronize()", "np.lib.format",
    "a.shape.__class__", "float32.__class__", "cuda.threadIdx.__init__", "cuda.grid.__globals__", "math.sqrt.__self__",
    "cuda.shared.__class__", "a.dtype.type", "np.ctypeslib", "cuda.libdevice.__loader__", "cuda.simulator", "np.os.system",
    "int.from_bytes(a)", "float.fromhex(a)", "None.__class__", "(i,).count(1)", "True.__class__", "cuda.cudadrv.driver",
):  # fmt: skip
    body(f"kernel evaluates {expression}", f"out[i] = {expression}  # bad")
body("kernel sets an attribute", "a.shape = 3  # bad", "cannot be assigned")
body("kernel sets an attribute of a module", "cuda.grid = 3  # bad", "cannot be assigned")
body("kernel with walrus", "out[i] = (x := 3)  # bad", ":=")
body("kernel with a comprehension", "x = [open('canary') for _ in range(9)]  # bad", "list comprehension")
body("kernel with a set", "x = {1, 2}  # bad", "a set")
body("kernel with a dict", "x = {1: 2}  # bad", "a dict")
body("kernel with a dict comprehension", "x = {j: j for j in range(9)}  # bad")
body("kernel with a generator", "out[i] = max(j for j in range(10**18))  # bad", "a generator")
body("kernel with yield", "yield i  # bad", "yield")
body("kernel with yield from", "yield from range(10**18)  # bad", "yield|Yield")
body("kernel with lambda", "f = lambda: open('canary')\nout[i] = f()", "open is Python's own")
body("kernel with await", "await i  # bad")
body("kernel with a class", "class A:  # bad\n    open('canary')", "class")
body("kernel with a function", "def f(x=open('canary')):  # bad\n    return x", "open is Python's own")
body("kernel with a decorated function", "@open\ndef f(x):  # bad\n    return x", "no decorator")
body("function inside that calls itself", "def f(x):\n    return f(x)\nout[i] = f(1)", "calls itself|deep")
body("lambda that makes lambdas", "f = lambda g: g(g)\nout[i] = f(f)", "calls itself|deep")
body("kernel with async def", "async def f():  # bad\n    pass")
body("kernel with async for", "async for x in a:  # bad\n    pass")
body("kernel with global", "global cuda\ncuda = i  # bad", "cuda is a name from outside")
body("kernel with nonlocal", "nonlocal cuda  # bad", "nonlocal|Python cannot read")
body("kernel with del", "del i  # bad", "del")
body("kernel with assert", "assert open('canary')  # bad", "open is Python's own")
body(
    "assert with a call as its text", "assert i < 0, open('canary')  # bad", "AssertionError: ", errors=("HazardFound",)
)
body("kernel with raise", "raise SystemExit  # bad", "raises SystemExit", errors=("HazardFound",))
body("raise of a call", "raise ValueError(open('canary'))  # bad", "constants only")
body("raise of an expression", "raise (lambda: 1)()  # bad", "constants only")
body("raise of a long text", "raise ValueError('x' * 10**10)  # bad", "constants only")
body("kernel with try", "try:  # bad\n    x = 1\nfinally:\n    x = 2", "try")
body("kernel with except star", "try:  # bad\n    x = 1\nexcept* ValueError:\n    x = 2")
body("kernel with with", "with open('canary', 'w') as f:  # bad\n    pass", "with")
body("kernel with match", "match i:  # bad\n    case 1:\n        pass", "match")
body("kernel with is", "out[i] = i is i  # bad", "compares with None")
body("kernel with in", "out[i] = i in cuda  # bad", "looked for")
body("kernel with in of a long range", "out[i] = 1 if i in range(10**18) else 0  # bad", "come to an end")
body("kernel with matmul", "out[i] = a @ a  # bad", "not possible in a kernel")
body("kernel with star arguments", "out[i] = max(*a)  # bad", r"\*")
body("kernel multiplies a tuple", "x = (1, 2) * 10**10  # bad", "tuple")
body("kernel sums a long range", "out[i] = sum(range(10**18))  # bad", "come to an end")
body("kernel zips long ranges", "for x, y in zip(range(10**18), range(10**18)):  # bad\n    pass", "come to an end")
body("kernel goes over all indices", "for x, y in np.ndindex(10**9, 10**9):  # bad\n    pass", "come to an end")
body("kernel with star star", "out[i] = max(**a)  # bad", r"\*\*")
body("kernel with a star target", "x, *y = i, i, i  # bad")
body("kernel with an ellipsis", "out[..., ..., ...] = 1  # bad", "")
body("kernel with None", "out[i] = None  # bad", "")
body("kernel with bytes", "out[i] = b'canary'  # bad", "no number")
body("kernel keeps None", "x = cuda.syncthreads()  # bad", "returns nothing")
body("kernel subscripts a call", "out[i] = cuda.grid[1]  # bad", "no elements")
body("kernel launches", "k[1, 1](a, out)  # bad")
body("kernel iterates a number", "for x in i:  # bad\n    out[i] = x", "range")
body("kernel hides cuda", "cuda = i\nout[i] = cuda.grid(1)", "")
body("kernel uses __class__", "out[i] = __class__  # bad", "__class__ is not defined")
body("kernel uses __debug__", "out[i] = __debug__  # bad", "__debug__")
body("kernel uses __builtins__", "out[i] = __builtins__  # bad", "__builtins__ is not defined")
body("annotation in a kernel", "x: open('canary', 'w') = i\nout[i] = x[0]  # bad", "no elements")
body("homoglyph", "out[i] = сuda.grid(1)  # bad", "сuda is not defined")
body("name that becomes another", "out[i] = ｏｐｅｎ('canary')  # bad", "open is Python's own")
body("kernel subclass trick", "out[i] = ().__class__.__bases__[0].__subclasses__()  # bad", "")

# ------------------------------------------------------------------------------- texts that Python may not survive

attempt("null byte", "T = 1\x00\n", "null bytes")
attempt("surrogate", "T = '\ud800'\n", "surrogates")
attempt("surrogate in a name", "\udcff = 1\n", "surrogates")
attempt("encoding declaration", "# -*- coding: rot13 -*-\nvzcbeg bf  # bad\n", "Python cannot read this", head="")
attempt("encoding declaration utf-7", "# coding: utf-7\n+AGkAbQBwAG8AcgB0 os  # bad\n", "", head="")
attempt("line continuation", "T = 1 + \\\n__import__('canary')  # bad\n", "__import__")
attempt("form feed", "\x0cimport os  # bad\n", "os cannot be imported")
attempt("other line ends", "T = 1\rimport os", "line 5: os cannot be imported")
attempt("tabs and blanks", "def k(a):\n\tif a:\n        a[0] = 1\n", "Python cannot read this")
attempt(
    "type comment",
    "def k(a):  # type: (open('canary')) -> None\n    x = a.y  # type: ignore[open('canary')] # bad\n",
    "no y",
)
attempt("long line", f"T = {'1 + ' * 40_000}1\n", "")
attempt("too long text", "#" * 200_001, "at most 200,000")
attempt("no end", "def k(a):\n    x = '''", "Python cannot read this")
attempt("nothing", "", "has none")
attempt("parentheses", f"T = {'(' * 10_000}1{')' * 10_000}\n", "Python cannot read this")
attempt("unfinished brackets", "[" * 190_000, "Python cannot read this")
attempt("minus signs", f"T = {'-' * 190_000}1\n", "Python cannot read this")
attempt("not not", f"T = {'not ' * 45_000}1\n", "Python cannot read this")
attempt("powers", f"T = {'1**' * 60_000}1\n", "Python cannot read this")
attempt("conditionals", f"T = {'1 if 1 else ' * 15_000}1\n", "Python cannot read this")
attempt("lambdas", f"T = {'lambda:' * 25_000}1\n", "Python cannot read this")
attempt("attributes", f"T = math{'.a' * 90_000}\n", "Python cannot read this")
attempt("calls", f"T = math{'()' * 90_000}\n", "Python cannot read this")
attempt("f-strings", f"T = {'f{chr(39)}{' * 20_000}\n", "")
attempt("million terms", f"T = {'+1' * 90_000}\n", "Python cannot read this")
attempt("terms in a kernel", f"def k(a):\n    a[0] = 1{'+1' * 400}  # bad\n", "100 deep")
attempt("ors in a kernel", f"def k(a):\n    a[cuda.grid(1)] = 0{' or 0' * 30_000}\n    a.y = 1  # bad\n", "")
attempt(
    "elifs",
    "def k(a):\n    if a[0]:\n        pass\n" + "    elif a[0]:\n        pass\n" * 5_000,
    "Python cannot read this|deep",
)
attempt("ifs", "def k(a):\n" + "".join(f"{' ' * n}if a[0]:\n" for n in range(1, 400)), "Python cannot read this")
attempt(
    "ifs below each other", "def k(a):\n" + "    if a[0]:\n        a[0] = 1\n" * 5_000, "", errors=(None, "KernelError")
)
attempt("number of 100,000 digits", f"T = {'9' * 100_000}\n", "Python cannot read this")
attempt("hexadecimal number", f"T = 0x{'f' * 190_000}  # bad\n", "64 bits")
attempt("hexadecimal number in a kernel", f"def k(a):\n    a[0] = 0x{'f' * 190_000}  # bad\n", "64 bits")
attempt("float of many digits", f"T = {'9' * 190_000}.0\ndef k(a):\n    a[0] = T.x  # bad\n", "")
attempt("power tower", "T = 9 ** 9 ** 9  # bad\n", "64 bits")
attempt("power tower of names", "A = 10 ** 18\nB = A ** A  # bad\n", "64 bits")
attempt("shift", "T = 1 << 10 ** 9  # bad\n", "64 bits")
attempt("negative shift", "T = 1 << -1  # bad\n", "cannot be computed")
attempt("float overflow", "T = 10.0 ** 1000  # bad\n", "cannot be computed")
attempt("division by zero", "T = 1 / 0  # bad\n", "division by zero")
attempt("tuple repeated", "T = (1,) * 10 ** 12  # bad\n", "numbers only")
attempt("tuple doubled", "T = (1,)\n" + "T = T + T\n" * 60, "more than 1,000 parts")
attempt("tuple of tuples", "T = (1,)\n" + "T = (T, T)\n" * 60, "more than 1,000 parts")
attempt("tuple in a tuple", "T = (1,)\n" + "T = (T,)\n" * 9_000, "more than 1,000 parts")
attempt("huge tuple", f"T = ({'1,' * 90_000})  # bad\n", "more than 1,000 parts")
attempt("targets", f"{'T=' * 90_000}1\n", "none")
attempt("a thousand functions", "def k(a):\n    pass\ndef j(a):\n    pass\n" * 5_000, "say which kernel")
attempt("long name", f"T = {'x' * 190_000}  # bad\n", "has no value")

# ------------------------------------------------------------------------------- hang

body("while True", "while True:  # bad\n    pass", "does not come to an end")
body("while True in a branch", "if i % 2:\n    while True:\n        out[i] = 1", "does not come to an end")
body(
    "while True in a divergent loop",
    "for j in range(i):\n    while j >= 0:  # bad\n        pass",
    "does not come to an end",
)
body("continue forever", "while True:  # bad\n    continue", "does not come to an end")
body("range of 10**18", "for j in range(10**18):  # bad\n    out[i] = j", "does not come to an end")
body("range backwards", "for j in range(0, -10**18, -1):  # bad\n    pass", "does not come to an end")
body("range with step 0", "for j in range(0, 10, i * 0):  # bad\n    pass", "never ends")
body("range that overflows", "for j in range(0, 2**63 - 1, 2**62):  # bad\n    pass", "does not come to an end")
body("range is a number", "for j in i(3):  # bad\n    pass")
body("range is a vector", "for j in a[i]:  # bad\n    pass")
body("break outside of a loop", "if i > 3:\n    break  # bad")
body("continue outside of a loop", "continue  # bad")
body("break after a loop", "for j in range(3):\n    pass\nelse:\n    break  # bad")
body(
    "many lines, arrays in a loop",
    "N = 8\n" + "x = i\n" * 4_000 + "while True:\n    s = cuda.local.array(N, int8)",
    "does not come to an end",
)
body(
    "tuples of many vectors",
    "\n".join(f"x{n} = (" + "i + 1, " * 60 + ")" for n in range(390)) + "\nout[i] = x0.y",
    "",
    grid=64,
    block=1024,
)
deep = "@cuda.jit(device=True)\ndef f(x, n):\n" + "".join(f"    x{n} = x + {n}\n" for n in range(900))
deep += "    if n < 0:\n        return 0\n    return f(x, n - 1) + x0\n"
body(
    "vectors in each of 16 calls",
    "out[i] = f(i, 14)",
    "",
    grid=64,
    block=1024,
    steps=300_000,
    before=deep,
    errors=("KernelError", "HazardFound"),
)
body(
    "tuples that live in a loop",
    "\n".join(f"x{n} = (" + "i + 1, " * 60 + ")" for n in range(390)) + "\nwhile i < 10**9:\n    x0 = x1",
    "",
    grid=64,
    block=1024,
    steps=300_000,
)
body("range per lane", "for j in range(i * 10**15):  # bad\n    pass", "does not come to an end")
body(
    "nested loops", "for j in range(10**6):\n    for l in range(10**6):  # bad\n        pass", "does not come to an end"
)
body("counter that wraps", "j = 1\nwhile j > 0:  # bad\n    j = j * 2 + 1\n    if j < 0:\n        j = 1", "")
body("spin lock", "while cuda.atomic.cas(cuda.shared.array(1, float32), 0, 0, 1) != 0:\n    pass", "")
body(
    "waits for another thread", "while a[0] == 0:  # bad\n    if i == 40:\n        a[0] = 1", "does not come to an end"
)
body("endless device function", "out[i] = f(a[i])", "does not come to an end", before="""
@cuda.jit(device=True)
def f(x):
    while True:
        x += 1
    return x
""")  # fmt: skip
body("fib(60)", "out[i] = f(60)", "", before="""
@cuda.jit(device=True)
def f(n):
    if n < 2:
        return n
    return f(n - 1) + f(n - 2)
""")  # fmt: skip
body("recursion that halves", "out[i] = f(10**9)", "", before="""
@cuda.jit(device=True)
def f(n):
    if n < 2:
        return 1
    return f(n // 10) + f(n // 10) + f(n // 10) + f(n // 10) + f(n // 10)
""", errors=("KernelError", None))  # fmt: skip
body("mutual recursion", "out[i] = f(i)", "", before="""
@cuda.jit(device=True)
def g(n):
    return f(n + 1)
@cuda.jit(device=True)
def f(n):
    return g(n - 1)
""")  # fmt: skip
body("recursion in which the type changes", "out[i] = f(i)", "", before="""
@cuda.jit(device=True)
def f(n):
    return f((n, n))
""")  # fmt: skip
body("recursion in which a tuple grows", "out[i] = f((i,))", "", before="""
@cuda.jit(device=True)
def f(t):
    if t[0] < 0:
        return 0
    return f(t + t)
""")  # fmt: skip
body("recursion of the kernel", "k(a, out)", "")
chain = "@cuda.jit(device=True)\ndef f0(x):\n    return x\n" + "".join(
    f"@cuda.jit(device=True)\ndef f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x)\n" for n in range(1, 40)
)
body("chain of device functions", "out[i] = f39(i)", "16 deep", before=chain)
body("calls that double", "out[i] = f14(i)", "", before=chain, steps=10_000)
wide = "@cuda.jit(device=True)\ndef f0(x):\n    return x\n" + "".join(
    f"@cuda.jit(device=True)\ndef f{n}(x):\n    return " + f"f{n - 1}(x) + " * 40 + f"f{n - 1}(x)\n"
    for n in range(1, 14)
)
body("calls that grow fortyfold", "out[i] = f13(i)", "", before=wide)
body("nested loops in which types change", "\n".join("    " * n + f"for j{n} in range(2):" for n in range(18)) + "\n" + "\n".join(
    "    " * 18 + f"x{n} = x{n + 1}" for n in range(25)), "", before="", errors=("KernelError",))  # fmt: skip
loops = "x = 1\n" + "\n".join("    " * n + f"for j{n} in range(2):" for n in range(20)) + "\n" + "    " * 20
body("nested loops 20 deep", loops + "x += 0.5\nout[i] = x", "", steps=10_000)
body("tuple grows in a loop", "t = (1,)\nfor j in range(60):\n    t = t + t\nout[i] = t[0]", "")
body("tuple grows", "t = (1,)\n" + "t = t + t\n" * 60 + "out[i] = t[0]", "")
body("tuple of tuples in a kernel", "t = (1,)\n" + "t = (t, t)\n" * 60 + "if i > 3:\n    t = (t, t)\nout[i] = 1", "")
body("tuple of tuples in a loop", "t = (1,)\nfor j in range(60):\n    t = (t, t)\nout[i] = 1", "")
body("tuple of tuples given on", "t = (1,)\n" + "t = (t, t)\n" * 40 + "out[i] = f(t)", "", before="""
@cuda.jit(device=True)
def f(t):
    return 1
""")  # fmt: skip
body("one long comparison", "while " + "i <= " * 30_000 + "i + 1:\n    pass", "", grid=64, block=1024)
body("heavy statements in a loop", "x = i\nwhile True:\n    x = " + "a[i % 64] + " * 80 + "i", "", grid=64, block=1024)
body("gamma in a loop", "x = i + 0.5\nwhile True:\n    x = math.gamma(x % 7.0 + 0.5)", "", grid=64, block=1024)
body("exact fma in a loop", "x = 1.5 + i\nwhile True:\n    x = cuda.fma(x, 1.0000001, 1e-300)", "", grid=64, block=1024)

# ------------------------------------------------------------------------------- take all memory

body("shared array of 10**12", "s = cuda.shared.array(1_000_000_000_000, float32)  # bad", "bytes")
body("local array of 10**12", "s = cuda.local.array(1_000_000_000_000, float32)  # bad", "bytes")
body(
    "shared array with a size that overflows",
    "s = cuda.shared.array((N, N), float32)  # bad",
    "bytes",
    before="N = 2 ** 32",
)
body("local array with a negative size", "s = cuda.local.array(-1, float32)  # bad", "must be")
body("array with 1,000 axes", f"s = cuda.local.array(({'1,' * 1_000}), float32)\ns[0] = 1", "")
body("array with a size per lane", "s = cuda.local.array(i + 1, float32)  # bad", "must be known before the launch")
body("many local arrays", "\n".join(f"s{n} = cuda.local.array(100000, int8)" for n in range(20)), "bytes")
body(
    "large local array, full grid",
    "s = cuda.local.array(524288, int8)\ns[0] = 1\nout[0] = s[1]",
    "",
    grid=64,
    block=1024,
    errors=("KernelError", "HazardFound"),
)
body(
    "shared array, many blocks",
    "s = cuda.shared.array(49152, int8)\ns[0] = 1\nout[0] = s[1]",
    "",
    grid=65_536,
    block=1,
    errors=("KernelError", "HazardFound"),
)
body("shared arrays per call", "out[i] = f(8)", "", before="""
@cuda.jit(device=True)
def f(n):
    s = cuda.local.array(500000, int8)
    s[0] = 1
    if n == 0:
        return 1
    return f(n - 1)
""")  # fmt: skip
body("many variables", "\n".join(f"x{n} = i + {n}" for n in range(9_000)) + "\nout[i] = x0.y", "", grid=64, block=1024)
body("many variables in a tuple", "t = (" + "i + 1, " * 20_000 + ")\nout[i] = t.y", "", grid=64, block=1024)
body("giant slice", "x = a[0:10**18]\nout[i] = x[10**17]  # bad", "uses index", errors=("HazardFound",))
body("giant step", "x = a[::10**18]\nout[i] = x[1]  # bad", "uses index", errors=("HazardFound",))
body("slice of a huge stretch", "x = a[: 2**62]\nout[i] = x[2**61]  # bad", "uses index", errors=("HazardFound",))
body("step of 0", "x = a[::0]  # bad\nout[i] = x[0]", "other than 0")
body("array is written to a slice", "out[:] = a  # bad", "cannot be given to a part of out")
body("index that overflows", "out[2**63 - 1] = 1  # bad", "uses index", errors=("HazardFound",))
body("index that overflows backwards", "out[-2**63] = 1  # bad", "uses index", errors=("HazardFound",))
body("unsigned index", "out[18446744073709551615] = 1  # bad", "", errors=("HazardFound",))
body("index with a float", "out[i * 0.5] = 1  # bad", "no index")
body(
    "accesses in 1,000 lines",
    "\n".join("out[i] = a[i] + a[i] + a[i] + a[i]" for _ in range(4_000)) + "\nout.y = 1",
    "",
    block=1024,
)

# ------------------------------------------------------------------------------- numbers that a library may not take

for expression in (
    "-True", "-(i > 3)", "~(i > 3)", "+True", "(1, 2)[math.nan]", "a.shape[math.inf]", "max(a[i], np.float16(1))",
    "min(np.float16(1), i)", "np.float16(1) ** i", "round(np.float16(1))", "math.sqrt(np.float16(1))", "abs(i > 3)",
    "math.gamma(0.0)", "math.gamma(-1.0)", "math.gamma(1e300)", "math.lgamma(0.0)", "math.erf(1e400)", "math.sqrt(-1.0)",
    "math.log(0.0)", "math.fmod(1.0, 0.0)", "math.exp(1e9)", "math.pow(0.0, -1.0)", "math.hypot(1e308, 1e308)",
    "1 << 64", "1 << -1", "1 >> 100", "1 // 0", "1 % 0", "1.0 // 0.0", "1.0 % 0.0", "2 ** 100", "(-2**63) // -1", "0 ** -1",
    "2 ** -1", "(-8.0) ** 0.5", "round(1.5, 10**9)", "round(1.5, -30)", "round(15, -30)", "round(1e400)", "int(1e400)",
    "int(-1e400)", "np.int8(1e9)", "float32(10**18)", "abs(-2**63)", "min()", "min(1)", "min(())", "max((1,), (2,))",
    "cuda.popc(1.5)", "cuda.clz(True)", "cuda.ffs(int8(3))", "cuda.brev(np.uint8(3))", "cuda.fma(1, 2, 3)",
    "cuda.fma(1e308, 1e308, -1e400)", "cuda.fma(5e-324, 5e-324, 1.0)", "cuda.selp(1, 2)", "cuda.selp((1,), 2, 3)",
    "cuda.grid(0)", "cuda.grid(4)", "cuda.grid(1.0)", "cuda.grid(i)", "cuda.grid()", "cuda.grid(ndim=1)", "cuda.grid(x=1)",
    "cuda.shfl_sync(0xffffffff, a[i], 10**18)", "cuda.shfl_sync(-1, a[i], -2**63)", "cuda.shfl_sync(0, a[i], 0)",
    "cuda.shfl_up_sync(-1, a[i], -2**63)", "cuda.shfl_xor_sync(-1, a[i], 2**62)", "cuda.ballot_sync(10**18, i)",
    "cuda.ballot_sync(1.5, i)", "cuda.match_any_sync(-1, True)", "cuda.atomic.add(a, 10**18, 1)",
    "cuda.atomic.add(a, (), 1)", "cuda.atomic.add(a, (0, 0), 1)", "cuda.atomic.add(a, 0, (1,))", "cuda.atomic.add(i, 0, 1)",
    "cuda.atomic.cas(a, 0, 1, 2)", "cuda.nanosleep(10**18)", "len(i)", "len(a[0:3])", "len()", "bool((1,))", "int((1,))",
    "a[()]", "a[a]", "a[(0,)]", "a[0, 0]", "a[0][0]", "()[0]", "(1, 2)[5]", "(1, 2)[i]", "(1, 2)[0.5]", "(1, 2)[10**18]",
    "(1, 2)[18446744073709551615]", "a[True]", "a[0:3:0]", "a[0.5:]", "a + a", "-a", "not a", "(1, 2) < (1, 3)", "a == a", "a and 1",
    "() + ()", "float32", "cuda", "cuda.threadIdx", "math.sqrt", "float32(a)", "float32((1,))", "float32()", "float32(1, 2)",
    "-float32", "float32 + 1", "float32[0]", "float32 < 1", "1 if cuda else 2", "pow(2, 3, 5)", "pow(2, -1)", "abs(())",
    "cuda.local.array(4)", "cuda.local.array(4, 4)", "cuda.local.array((), float32)", "cuda.local.array(0, float32)",
    "cuda.shared.array(0, float32)", "cuda.const.array_like(a)", "cuda.const.array_like((1,))", "cuda.cg.this_grid()",
    "cuda.cg.this_grid().x", "cuda.syncwarp(1, 2, 3)", "range(3)", "range", "len(range(10**18))", "~1.5", "1.5 | 2",
    "a.shape[10**18]", "a.shape[-2]", "a.dtype(3)", "a.dtype(a)", "a.size(3)", "k", "k(1)", "out[i]()", "i()", "i[0]",
):  # fmt: skip
    body(
        f"number {expression}",
        f"out[i] = {expression}\nout[i] = i.never  # end",
        "",
        errors=("KernelError", "HazardFound"),
    )
