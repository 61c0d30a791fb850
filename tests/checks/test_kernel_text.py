"""Kernels that are made by an alias, by a call of jit or by a function are read as if written with @gpu.jit."""

import linecache

import pytest
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks.judge import judge
from course_lib.checks.kernel_text import MOST_MADE, written_out
from course_lib.checks.kernels import run_here, run_kernel
from course_lib.checks.registry import find
from course_lib.grading.definitions import Definitions

ADD = find("11.1")
BODY = """
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
"""
INNER = BODY.replace("\n", "\n    ").rstrip() + "\n"
KERNEL = f"@gpu.jit\ndef my_add(a, b, c):{BODY}"
PLAIN = f"def my_add(a, b, c):{BODY}"


def times(factor, body=BODY):
    """The body with a factor that must be 1."""
    return body.replace("+ b[i]", f"+ {factor} * b[i]")


RIGHT = {
    "an alias": f"{KERNEL}guarded_add = my_add",
    "two aliases": f"{KERNEL}x = y = my_add\nguarded_add: object = x",
    "a pair": f"{KERNEL}guarded_add, N = my_add, 3",
    "jit called": f"{PLAIN}guarded_add = gpu.jit(my_add)",
    "jit called on its own name": f"def guarded_add(a, b, c):{BODY}guarded_add = gpu.jit(guarded_add)",
    "jit with an option": f"{PLAIN}guarded_add = gpu.jit(fastmath=True)(my_add)",
    "jit with a signature": f"{PLAIN}guarded_add = gpu.jit('void(float32[:], float32[:], float32[:])')(my_add)",
    "Numba's jit": f"{PLAIN}guarded_add = cuda.jit(my_add)",
    "an alias of jit": f"jit = gpu.jit\n{PLAIN}guarded_add = jit(my_add)",
    "an alias of jit as decorator": f"jit = gpu.jit\n@jit\ndef guarded_add(a, b, c):{BODY}",
    "the function of another kernel": f"{KERNEL}guarded_add = cuda.jit(my_add.py_func)",
    "the last of two": f"{KERNEL.replace('+ b', '- b')}{KERNEL}guarded_add = my_add",
    "a function around it": f"def make():\n    @gpu.jit\n    def k(a, b, c):{INNER}    return k\nguarded_add = make()",
    "a function with a constant": (
        f"def make():\n    one = float32(1)\n    @gpu.jit\n    def k(a, b, c):{times('one', INNER)}    return k\n"
        "guarded_add = make()"
    ),
    "names of its own that others have": (
        "one, k = 7, 8\ndef make(one, two=2, *, three=3):\n    '''Makes it.'''\n    two -= one\n"
        f"    def k(a, b, c):{times('(two * one + three - 3)', INNER)}    return gpu.jit(k)\nguarded_add = make(1)"
    ),
    "two kernels of one function": (
        f"def make(n):\n    @gpu.jit\n    def k(a, b, c):{times('n', INNER)}    return k\n"
        "other, guarded_add = make(5), make(1)\nanother = make(6)"
    ),
    "a function that returns two": (
        "def make(n):\n    @gpu.jit(device=True)\n    def plus(x, y):\n        return x + n * y\n"
        f"    @gpu.jit\n    def k(a, b, c):{INNER.replace('a[i] + b[i]', 'plus(a[i], b[i])')}    return plus, k\n"
        "p, guarded_add = make(1)"
    ),
    "a wrapper": f"def wrap(f):\n    return gpu.jit(f)\n{PLAIN}guarded_add = wrap(my_add)",
    "a wrapper as decorator": f"def wrap(f):\n    return gpu.jit(f)\n@wrap\ndef guarded_add(a, b, c):{BODY}",
    "a class around it": (
        f"class K:\n    @staticmethod\n    @gpu.jit\n    def add(a, b, c):{INNER}\nguarded_add = K.add"
    ),
    "a constant that is changed": f"ONE = 1\nONE *= 3\nONE -= 2\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}",
    "a constant by a function": (
        f"def half(n):\n    return n // 2\nONE = half(2)\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant of a loop": (
        f"ONE = 64\nwhile ONE > 1:\n    ONE //= 2\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant of a sum": (
        f"ONE = -2\nfor k in range(3):\n    ONE += k\n@gpu.jit\ndef guarded_add(a, b, c):{times('(ONE)')}"
    ),
    "a constant of a list": f"SIZES = [3, 2, 1]\nONE = SIZES[-1]\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}",
    "a constant of a dict": (
        f"S = dict()\nS = {{'a': 1}}\nONE = S['a']\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant of a test": (
        f"BIG = 3 > 4\nONE = 7 if BIG or not True else len('x')\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant of a branch": (
        "WIDTH = 64\nif WIDTH % 32 == 0:\n    ONE = 1\nelse:\n    ONE = 2\n"
        f"@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant by a recursive function": (
        "def steps(n):\n    return 0 if n == 1 else 1 + steps(n // 2)\nONE = steps(2)\n"
        f"@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "a constant of a comprehension": (
        f"ONE = sum([k for k in range(9) if k % 2])  - 15\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
    ),
    "all names of a module": (
        "from math import *\nfrom numba.cuda import *\n@jit\ndef guarded_add(a, b, c):"
        f"{times('sqrt(float32(1))').replace('cuda.grid', 'grid')}"
    ),
    "constants in pairs": f"[TWO, ONE] = (2, 1)\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}",
    "several on one line": f"ONE = 1; TWO = 2\n{KERNEL}x = ONE; guarded_add = my_add",
    "an alias of a device function": (
        "@gpu.jit(device=True)\ndef two(x, y):\n    return x + y\nplus = two\n"
        f"@gpu.jit\ndef guarded_add(a, b, c):{BODY.replace('a[i] + b[i]', 'plus(a[i], b[i])')}"
    ),
    "a device function by a call": (
        "def two(x, y):\n    return x + y\nplus = gpu.jit(device=True)(two)\n"
        f"@gpu.jit\ndef guarded_add(a, b, c):{BODY.replace('a[i] + b[i]', 'plus(a[i], b[i])')}"
    ),
    "a device function of a lambda": (
        "plus = cuda.jit(device=True)(lambda x, y: x + y)\n"
        f"@gpu.jit\ndef guarded_add(a, b, c):{BODY.replace('a[i] + b[i]', 'plus(a[i], b[i])')}"
    ),
}
UNREADABLE = (
    f"def make(n):\n    if n:\n        n = 2\n    @gpu.jit\n    def k(a, b, c):{INNER}    return k\n"
    "guarded_add = make(1)"
)


def says(outcome):
    """What is said of an outcome of the first case, "" where it is right."""
    finding = judge(ADD, ADD.cases[0], outcome)
    return finding.says if finding else ""


def live(text):
    """What the notebook's check says of the kernel that a cell defines."""
    names, file = {"__name__": "__main__", "gpu": gpu, "cuda": cuda, "float32": float32}, f"<cell {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    return says(run_here(ADD, names["guarded_add"], ADD.cases[0]))


@pytest.mark.parametrize("name", RIGHT)
def test_what_the_notebook_calls_right_is_right_for_the_grader(name):
    cells = ["from numba import cuda, float32\nfrom course_lib import gpu", RIGHT[name], 'check("11.1", guarded_add)',
             "ONE = one = n = 'named again'\ndef my_add():\n    return 3"]  # fmt: skip
    assert live(RIGHT[name]) == ""
    assert says(run_kernel(ADD, RIGHT[name], ADD.cases[0])) == ""
    assert says(run_kernel(ADD, Definitions(cells).answer(ADD), ADD.cases[0])) == ""


def test_what_cannot_be_read_is_refused_by_both_with_the_same_words():
    told = says(run_kernel(ADD, UNREADABLE, ADD.cases[0]))
    assert "guarded_add is made by make(...), and a kernel is read here, not made" in told
    assert live(UNREADABLE) == told


def test_a_kernel_that_a_running_function_defines_is_checked_as_before():
    @gpu.jit
    def guarded_add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    if ADD.cases:
        assert says(run_here(ADD, guarded_add, ADD.cases[0])) == ""


def test_a_text_with_nothing_to_write_out_stays_as_it_is():
    for text in (f"# a note\nN = 3; M = 4\n@gpu.jit\ndef guarded_add(a, b, c):{BODY}", "no Python (", "", "x += "):
        assert written_out(text, "guarded_add") == text
    assert written_out(None, "guarded_add") is None


def test_a_message_has_the_students_own_line():
    text = f"{PLAIN.replace('c.size', 'c.length')}guarded_add = gpu.jit(my_add)"
    assert "if i < c.length" in says(run_kernel(ADD, text, ADD.cases[0]))


def test_functions_that_make_functions_without_end_are_given_up():
    text = "def f0(g):\n    return g\n"
    text += "".join(f"def f{n}(g):\n    h = f{n - 1}(g)\n    return f{n - 1}(h)\n" for n in range(1, 40))
    text += f"{KERNEL}guarded_add = f39(my_add)\n"
    assert "is made by" in says(run_kernel(ADD, text, ADD.cases[0]))
    assert MOST_MADE < 100


def test_a_list_that_is_changed_out_of_sight_gives_no_wrong_constant():
    for change in ("SIZES.insert(0, 5)", "change(SIZES)", "SIZES[0] = 5", "def f():\n    SIZES.clear()\nf()"):
        text = f"SIZES = [1]\n{change}\nONE = SIZES[0]\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
        assert "KernelError" in says(run_kernel(ADD, text, ADD.cases[0]))
    for change in ("SIZES.insert(0, 5)", "SIZES[0] = 5"):
        text = f"SIZES = [1]\n{change}\nONE = SIZES[0]\n@gpu.jit\ndef guarded_add(a, b, c):{times('ONE')}"
        assert change in Definitions([text]).answer(ADD)


@pytest.mark.parametrize(
    "value",
    ["10 ** 10 ** 10", "1 << 10 ** 9", "'a' * 10 ** 9", "[0] * 10 ** 9", "sum(range(10 ** 12))", "f(9)",
     "[a for a in range(9999) for b in range(9999)]", "max([[0] * 9999] * 9999)", "(lambda: 3)()", "'%999999999d' % 3",
     "int('9' * 9999)", "().__class__", "__import__('os')", "[x := 9, x << 60][1] ** 60"],
)  # fmt: skip
def test_constants_cost_little_whatever_they_ask_for(value):
    text = f"def f(n):\n    while True:\n        n += 1\nONE = {value} if True else 1\n{KERNEL}guarded_add = my_add"
    assert says(run_kernel(ADD, text, ADD.cases[0])) == ""


def test_nothing_of_a_text_is_executed(tmp_path):
    canary = tmp_path / "canary"
    opens = f"open({str(canary)!r}, 'w')"
    text = f"def make(x):\n    y = {opens}\n    return y\nN = make({opens})\n{KERNEL}"
    assert says(run_kernel(ADD, f"{text}guarded_add = my_add", ADD.cases[0])) == ""
    assert not canary.exists()
