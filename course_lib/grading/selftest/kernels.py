"""Kernels' texts that are no kernels: they are read by the grader itself, so nothing in them may ever run there.

Source: the course's own.
"""

from fractions import Fraction

from course_lib.grading.selftest.kernel_sheet import KERNELS
from course_lib.grading.selftest.submission import Submission, book, code

SETUP = "import numpy as np\nfrom numba import cuda, float32\n\nfrom course_lib import gpu\n"
HEAD = "@gpu.jit\ndef add_one(a, out):\n    i = cuda.grid(1)\n"
RIGHT = f"{HEAD}    if i < a.shape[0]:\n        out[i] = a[i] + float32(1)\n"
TOUCH = "open('@OUTSIDE@/@TOKEN@-kernel', 'w')"
FULL, NONE = Fraction(2), Fraction(0)


def _kernel(name, tries, text, why="it is no kernel that the executor runs", fair=NONE):
    content = book([code(SETUP), code(text, "exercise-000-1")])
    return Submission(name, tries, fair, why, ((f"{KERNELS}.ipynb", content),), sheet=KERNELS)


def _body(name, tries, body, why="it is no kernel that the executor runs"):
    return _kernel(name, tries, HEAD + "".join(f"    {line}\n" for line in body.splitlines()), why)


WRITE = "\n    if i < a.shape[0]:\n        out[i] = a[i] + float32(1)\n"

SUBMISSIONS = (
    _body("kernel opens a file", "open(...) in a kernel", f"{TOUCH}\nout[i] = a[i] + float32(1)"),
    _body("kernel imports", "import os in a kernel", "import os\nout[i] = a[i] + float32(1)"),
    _body("kernel loops", "a kernel that never ends", "while True:\n    out[i] = a[i] + float32(1)"),
    _body("kernel counts", "a kernel of a trillion steps",
          "for j in range(1_000_000_000_000):\n    out[i] = a[i] + float32(1)"),
    _body("kernel recursion", "a kernel that calls itself", "add_one(a, out)"),
    _body("race", "all threads write to the same element, and one of them is right", "out[0] = a[0] + float32(1)\n"
          "if i < a.shape[0]:\n    out[i] = a[i] + float32(1)", "threads race for an element"),
    _body("outside", "writes beyond its array", "out[i] = a[i] + float32(1)", "it writes outside of its arrays"),
    _body("too much traffic", "reads each element many times",
          "if i < a.shape[0]:\n    s = float32(0)\n    for j in range(9):\n"
          "        s = a[i]\n    out[i] = s + float32(1)", "it costs more than the sheet allows"),
    _body("kernel's shared memory", "terabytes of shared memory",
          "s = cuda.shared.array((1 << 40,), float32)\nout[i] = a[i] + s[0]"),
    _body("class in a kernel", "attributes that lead to all classes", "x = ().__class__.__base__.__subclasses__()\n"
          "out[i] = a[i] + float32(1)"),
    _kernel("default value", "a default value that opens a file", f"@gpu.jit\ndef add_one(a, out, f={TOUCH}):\n"
            f"    i = cuda.grid(1){WRITE}"),
    _kernel("decorator", "a decorator that opens a file",
            f"@gpu.jit({TOUCH})\ndef add_one(a, out):\n    i = cuda.grid(1){WRITE}"),
    _kernel("annotation", "an annotation that opens a file",
            f"@gpu.jit\ndef add_one(a: {TOUCH}, out):\n    i = cuda.grid(1){WRITE}"),
    _kernel("huge constant", "a constant of 10 ** 10 ** 10", f"T = 10 ** 10 ** 10\n{HEAD}    out[i] = a[i] + T\n"),
    _kernel("doubling tuples", "a constant that doubles sixty times", "T = (1,)\n" + "T = T + T\n" * 60 + HEAD
            + "    out[i] = a[i] + T[0]\n"),
    _kernel("long kernel", "a kernel of 900,000 characters", HEAD + "    x = 1.0\n" * 75_000),
    _kernel("deep kernel", "an expression 20,000 deep", HEAD + f"    out[i] = a[i] + {'-' * 20_000}1\n"),
    _kernel("empty lines in a kernel", "200,000 empty lines and spaces", f"{' ' * 9_000}\n" + "\n" * 190_000 + RIGHT,
            "empty lines change nothing: the kernel is right", FULL),
    _kernel("odd text in a kernel", "halves of characters, zero bytes, form feeds", f"#\ud800\x0c\n{RIGHT}",
            "a comment is no part of it", FULL),
    _kernel("plain function", "a function instead of a kernel", "def add_one(a, out):\n    out[:] = a + 1\n"),
)  # fmt: skip
"""The submissions of this family."""

HONEST = _kernel("honest kernel", "answers the question", RIGHT, "the kernel is right", FULL)
"""What is handed in before and after them; it must always get full marks."""
