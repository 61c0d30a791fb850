"""A launch that an answer gives is read, never run: what it may be, what is refused, and what no GPU takes."""

import pytest

from course_lib.checks.own_launch import launch_here, launch_in_text
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
    "a lambda": ("launch = lambda B: (B, 64)\n", None),
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
    "a large block": ("def launch(B):\n    return B, 2048\n", LaunchError, "at most 1,024"),
    "a high grid": ("def launch(B):\n    return (1, 70000), 128\n", LaunchError, "at most 65,535"),
    "no blocks": ("def launch(B):\n    return B // 100, 128\n", LaunchError, "must be >= 1"),
    "a text": ("def launch(B):\n    return 'B', 128\n", LaunchError, "whole numbers"),
    "four axes": ("def launch(B):\n    return (1, 1, 1, B), 128\n", LaunchError, "one to three"),
}


@pytest.mark.parametrize(("text", "expected"), RIGHT.values(), ids=RIGHT)
def test_a_launch_is_computed_from_its_text_as_python_would(text, expected):
    names = {}
    exec(text, names)
    assert launch_here(names, "launch", 24) == (expected or ((24, 1, 1), (64, 1, 1)))
    if expected:
        assert launch_in_text(text, "launch", 24) == expected
    else:
        with pytest.raises(KernelError, match="write def launch"):
            launch_in_text(text, "launch", 24)


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
