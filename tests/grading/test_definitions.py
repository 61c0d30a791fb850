"""An answer's source is found by its name, read and never run."""

import pytest

from course_lib.grading.definitions import Definitions, only_definitions, top_level


def test_the_last_definition_counts_with_all_that_it_uses():
    cells = ["import numpy as np\nA = 3\nB = 4", "def f(x):\n    return 0", "def helper(x):\n    return np.abs(x)",
             "@staticmethod\ndef f(x):  # a note\n    return helper(x) + A"]  # fmt: skip
    source = Definitions(cells).source("f")
    assert source == (
        "import numpy as np\n\nA = 3\n\ndef helper(x):\n    return np.abs(x)\n\n"
        "@staticmethod\ndef f(x):  # a note\n    return helper(x) + A\n"
    )


def test_a_name_that_is_not_there_has_no_source():
    assert Definitions(["x = 1", "def g(:"]).source("f") == ""


def test_a_function_below_an_if_and_one_of_lambda_are_definitions():
    assert "2 * x" in Definitions(["if True:\n    def f(x):\n        return 2 * x"]).source("f")
    assert "2 * x" in Definitions(["f = lambda x: 2 * x"]).source("f")


def test_a_cell_with_magics_is_read_without_them():
    assert Definitions(["%matplotlib inline\n!ls\ndef f(x):\n    return 1"]).has("f")
    assert Definitions(["%%time\ndef f(x):\n    return 1"]).source("f") == "def f(x):\n    return 1\n"


def test_a_form_feed_ends_no_line():
    assert Definitions(["# \x0c\u2028\ndef f(x):\n    return 1"]).source("f") == "def f(x):\n    return 1\n"


def test_a_number_that_python_does_not_write_out_takes_nothing_else_away():
    cell = f"x = 0x{'f' * 10_000}\ndef f(x):\n    return 1"
    assert Definitions([cell]).source("f") == "def f(x):\n    return 1\n"
    assert only_definitions(cell) == "def f(x):\n    return 1"


def test_only_definitions_leaves_out_what_a_cell_does():
    cell = "import os\nx = os.getpid()\ndef f():\n    return 1\nprint(f())\nwhile True:\n    pass\n"
    assert only_definitions(cell) == "import os\ndef f():\n    return 1"


@pytest.mark.parametrize(
    "source",
    ["-" * 100_000 + "1", "x=" + "1+" * 60_000 + "1", "f(" * 5000, "a" + ".b" * 60_000, "lambda:" * 30_000 + "1",
     "x = " + "1 if 2 else " * 20_000 + "3", "x = 1\x00", "f" + "()" * 50_000, "x" * 300_000, "elif"],
    ids=range(10),
)  # fmt: skip
def test_texts_that_no_person_writes_are_left_out(source):
    assert top_level(source) == []
    assert only_definitions(source) == ""
