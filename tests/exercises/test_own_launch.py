"""A launch that an answer gives is read, never run: what it may be, what is refused, and what no GPU takes."""

import linecache

import numpy as np
import project_teams
import pytest

from course_lib.checks.judge import Outcome, given_of, judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.own_launch import launch_here, launch_in_text
from course_lib.checks.registry import find
from course_lib.cuda.launch_checks import LaunchError
from course_lib.simt.texts import KernelError

RIGHT = {
    "numbers": ("def launch(B):\n    return (7, B), 128\n", ((7, 24, 1), (128, 1, 1))),
    "constants": ("T, N = 16, 4\ndef launch(B):\n    return (B + N - 1) // N, T * T\n", ((6, 1, 1), (256, 1, 1))),
    "statements": (
        "def launch(B):\n    blocks = 0\n    for i in range(B):\n        blocks += 2\n    if blocks > 40:\n"
        "        blocks = 40\n    return [blocks, 1], (32, 2)\n", ((40, 1, 1), (32, 2, 1))),
    "another function": ("def up(a, b):\n    return -(-a // b)\ndef launch(B):\n    return up(B, 5), 64\n",
                         ((5, 1, 1), (64, 1, 1))),
    "math": ("import math\ndef launch(B):\n    return math.ceil(B / 5), 64\n", ((5, 1, 1), (64, 1, 1))),
    "a lambda": ("launch = lambda B: (B, 64)\n", ((24, 1, 1), (64, 1, 1))),
    "a name of math": ("from math import ceil as up\ndef launch(B):\n    return up(B / 5), 64\n",
                       ((5, 1, 1), (64, 1, 1))),
    "math by another name": ("import math as m\ndef launch(B):\n    return m.ceil(B / 5), 64\n",
                             ((5, 1, 1), (64, 1, 1))),
    "math in the function": ("def launch(B):\n    import math\n    return math.ceil(B / 5), 64\n",
                             ((5, 1, 1), (64, 1, 1))),
    "NumPy's": ("import numpy as np\ndef launch(B):\n    return int(np.ceil(B / 5)), 64\n", ((5, 1, 1), (64, 1, 1))),
    "a print": ("def launch(B):\n    print(B)\n    return B, 64\n", ((24, 1, 1), (64, 1, 1))),
    "a list outside": ("SIZES = [7, 64]\ndef launch(B):\n    return (SIZES[0], B), SIZES[1]\n",
                       ((7, 24, 1), (64, 1, 1))),
    "the masks' shape": ("MASKS = np.ones((6, 1, 5, 5))\nM, _, K, _ = MASKS.shape\ndef launch(B):\n"
                         "    return (M, len(MASKS)), MASKS.shape[2] * K\n", ((6, 6, 1), (25, 1, 1))),
    "the last one": ("def launch(B):\n    return 1, 1\ndef launch(B):\n    return B, 2\n", ((24, 1, 1), (2, 1, 1))),
}  # fmt: skip

REFUSED = {
    "no function": ("x = 3\n", KernelError, "there is no function launch"),
    "no Python": ("def launch(B:\n", KernelError, "Python cannot read"),
    "a module": ("import os\ndef launch(B):\n    os.remove('x')\n    return B, 1\n", KernelError, "cannot be read"),
    "a file": ("def launch(B):\n    return len(open('/etc/passwd').read()), 1\n", KernelError, "cannot be read"),
    "a class": ("def launch(B):\n    return B.__class__, 1\n", KernelError, "cannot be read"),
    "no end": ("def launch(B):\n    while True:\n        B += 1\n    return B, 1\n", KernelError, "cannot be read"),
    "a huge number": ("def launch(B):\n    return 10 ** 10 ** 10, 1\n", KernelError, "cannot be read"),
    "one number": ("def launch(B):\n    return B\n", LaunchError, "it must return"),
    "nothing": ("def launch(B):\n    pass\n", LaunchError, "it must return"),
    "a fraction": ("def launch(B):\n    return B / 4, 128\n", LaunchError, "/ gives a float"),
    "NumPy's ceil alone": ("import numpy as np\ndef launch(B):\n    return np.ceil(B / 4), 64\n", LaunchError,
                           "a float"),
    "math that is another": ("from mine import math\ndef launch(B):\n    return math.ceil(B), 64\n", KernelError,
                             r"cannot be read at `return \(math.ceil\(B\), 64\)`"),
    "a ceil of one's own": ("from mine import ceil\ndef launch(B):\n    return ceil(B), 64\n", KernelError,
                            "cannot be read"),
    "more of math": ("import math\ndef launch(B):\n    return math.nextafter(B, 1), 64\n", KernelError,
                     "cannot be read"),
    "a large block": ("def launch(B):\n    return B, 2048\n", LaunchError, "at most 1,024"),
    "a high grid": ("def launch(B):\n    return (1, 70000), 128\n", LaunchError, "at most 65,535"),
    "no blocks": ("def launch(B):\n    return B // 100, 128\n", LaunchError, "must be >= 1"),
    "a text": ("def launch(B):\n    return 'B', 128\n", LaunchError, "whole numbers"),
    "four axes": ("def launch(B):\n    return (1, 1, 1, B), 128\n", LaunchError, "one to three"),
}


SHAPES = {"MASKS": (6, 1, 5, 5)}


def in_a_notebook(text):
    """The names of a notebook whose cell the text is; Python knows the text, as it knows a cell's."""
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"__name__": "__main__", "np": np}
    exec(compile(text, file, "exec"), names)
    return names


@pytest.mark.parametrize(("text", "expected"), RIGHT.values(), ids=RIGHT)
def test_a_launch_is_computed_from_its_text_as_python_would(text, expected):
    assert launch_in_text(text, "launch", 24, SHAPES) == expected
    assert launch_here(in_a_notebook(text), "launch", 24, SHAPES) == expected


UNREAD = {
    "a list that grows": "def launch(B):\n    g = []\n    g.append(B)\n    return g[0], 64\n",
    "a counter": "COUNT = [0]\ndef launch(B):\n    COUNT[0] += 1\n    return B, COUNT[0]\n",
    "a helper that is not read": "def up(*n):\n    return -(-n[0] // n[1])\ndef launch(B):\n    return up(B, 5), 64\n",
    "an array": "def launch(B):\n    return int(np.prod([B, 2])), 64\n",
    "another module": "import os\ndef launch(B):\n    return B, len(os.sep)\n",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_what_the_grader_cannot_read_is_refused_in_the_notebook_already(text):
    for read in (lambda: launch_in_text(text, "launch", 24), lambda: launch_here(in_a_notebook(text), "launch", 24)):
        with pytest.raises(KernelError, match="cannot be read at `"):
            read()


def test_a_launch_has_to_be_one_for_as_many_images_as_times_are_predicted_for():
    exercise = find("project.10")
    text = project_teams.solutions()["project.10"]
    for launch, says in (("return (7, B), 128", ""), ("return (1, 7 * B), 128", "at most 65,535"),
                         ("n = 0\n    while n < B:\n        n += 1\n    return (7, n), 128", ""),
                         ("n = 0\n    while n < B * B:\n        n += 1\n    return (7, B), 128", "cannot be read")):
        cell = f"{text}\n\ndef c1_launch(B):\n    {launch}\n"
        outcome = run_kernel(exercise, cell, exercise.cases[0])
        assert says in outcome.error
        assert bool(says) == bool(outcome.error)


def test_an_array_that_was_made_of_the_masks_is_refused_with_what_to_read_instead():
    exercise = find("project.10")
    text = project_teams.solutions()["project.10"].replace("array_like(C1_MASKS)", "array_like(FLAT)")
    outcome = run_kernel(exercise, f"FLAT = C1_MASKS.reshape(6, 25)\n{text}", exercise.cases[0])
    assert "FLAT is nothing that a kernel can use" in outcome.error
    assert outcome.error.endswith("Read C1_MASKS itself in the kernel, such as c1_masks = cuda.const.array_like("
                                  "C1_MASKS).")  # fmt: skip


def test_a_call_shows_no_limit_of_the_time_as_an_argument():
    exercise = find("project.10")
    for case in exercise.cases:
        assert judge(exercise, case, Outcome(error="TypeError: no")).says.startswith(
            f"conv_c1(array {case.args[0].shape}; C1_MASKS = array (6, 1, 5, 5)) ("
        )
        assert all(isinstance(value, np.ndarray) for value in given_of(exercise, case))


@pytest.mark.parametrize(("text", "error", "says"), REFUSED.values(), ids=REFUSED)
def test_a_launch_that_does_more_or_that_no_gpu_takes_is_refused_with_the_reason(text, error, says):
    with pytest.raises(error, match=says):
        launch_in_text(text, "launch", 24)


def test_nothing_of_the_text_is_executed(tmp_path):
    touched = tmp_path / "touched"
    text = f"open({str(touched)!r}, 'w')\ndef launch(B, f=open({str(touched)!r}, 'w')):\n    return B, 32\n"
    with pytest.raises(KernelError):
        launch_in_text(text, "launch", 3)
    assert not touched.exists()
