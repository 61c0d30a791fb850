"""An answer's source is found by its name, read and never run."""

import sys
from types import SimpleNamespace

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


def test_what_a_script_defines_right_below_a_function_belongs_to_it():
    cells = ["def f(x):\n    return h(x)", "def h(x):\n    return K", "K = 2", "def g(B):\n    return B, 1"]
    one = exercise()
    one.launcher = "g"
    assert "def h(x)" in Definitions(cells[:2]).answer(exercise())
    assert "K = 2" in Definitions(cells).answer(exercise())
    assert "def g(B)" in Definitions([cells[0], cells[3]]).answer(one)


# ------------------------------------------------------------------------------------------ what later cells name again


def exercise(id="01.1", function="f"):
    return SimpleNamespace(id=id, function=function)


CELL = "def f(x):\n    return {uses}\n"
CHECK = 'check("01.1", f)'
POSITIONS = {
    "a constant named again later": (["K = 1", CELL.format(uses="K"), CHECK, "K = 2"], "K = 1", "K = 2"),
    "a constant named again before the check": (["K = 1", CELL.format(uses="K"), "K = 2", CHECK], "K = 2", "K = 1"),
    "a constant of the check's own cell": (["K = 1", CELL.format(uses="K"), f"K = 2\n{CHECK}"], "K = 2", "K = 1"),
    "without a check its own cell counts": ([f"K = 1\n{CELL.format(uses='K')}\nK = 2", "K = 3"], "K = 2", "K = 3"),
    "nothing before the check": ([CELL.format(uses="K"), CHECK, "K = 3", "K = 4"], "K = 3", "K = 4"),
    "a helper named again later": (
        ["def h(x):\n    return 1", CELL.format(uses="h(x)"), CHECK, "def h(x):\n    return 2"], "return 1", "return 2",
    ),
    "a helper's constant": (
        ["K = 1\ndef h(x):\n    return K", CELL.format(uses="h(x)"), CHECK, "K = 2"], "K = 1", "K = 2",
    ),
    "a helper's constant as of the check": (
        ["K = 1\ndef h(x):\n    return K", CELL.format(uses="h(x)"), "K = 2", CHECK], "K = 2", "K = 1",
    ),
    "a constant computed at once": (["K = 1\nL = K + 1\nK = 5", CELL.format(uses="L"), CHECK], "K = 1", "K = 5"),
    "a default is computed at once": (["K = 1\ndef f(x, k=K):\n    return k\nK = 2", CHECK], "K = 1", "K = 2"),
    "a decorator is called at once": (
        ["def d(g):\n    return g\n@d\ndef f(x):\n    return x\ndef d(g):\n    return None", CHECK], "return g", "None",
    ),
    "a loop's variable": (["k = 1", CELL.format(uses="k"), CHECK, "for k in range(5):\n    pass"], "k = 1", "for"),
    "a built-in name taken later": ([CELL.format(uses="k_of(x)"), "def k_of(x):\n    return 1", CHECK, "k_of = 0"],
                                    "return 1", "k_of = 0"),
    "an import under another name": (["import math as m", CELL.format(uses="m.pi"), CHECK, "m = 3"], "import", "m = 3"),
    "several targets": (["A, (B, *C) = 1, (2, 3)", CELL.format(uses="C"), CHECK, "C = 0"], "A, (B, *C)", "C = 0"),
    "an augmented assignment": (["K = 1\nK += 6", CELL.format(uses="K"), CHECK, "K -= 8"], "K = 1\n\nK += 6", "8"),
    "a function that sets a global": (
        ["def setup():\n    global K\n    K = 9", "setup()", CELL.format(uses="K"), CHECK, "K = 0"], "setup()", "K = 0",
    ),
    "an object that is changed": (["D = {}", "D[1] = 2", CELL.format(uses="D"), CHECK, "D[1] = 3"], "D[1] = 2", "= 3"),
    "a test that is plainly false": (["if False:\n    K = 1\nelse:\n    K = 2", CELL.format(uses="K")], "2", "K = 1"),
    "a test of a constant": (
        ["BIG = False\nif BIG:\n    K = 1\nelse:\n    K = 2", CELL.format(uses="K")], "K = 2", "K = 1",
    ),
    "an import that may be missing": (
        ["try:\n    import fast as m\nexcept ImportError:\n    m = None", CELL.format(uses="m")], "import fast", "#",
    ),
    "a walrus": (["print(K := 3)", CELL.format(uses="K"), CHECK, "K = 5"], "(K := 3)", "K = 5"),
    "a check in a try": (["K = 1", CELL.format(uses="K"), f"try:\n    {CHECK}\nexcept Exception:\n    pass", "K = 2"],
                         "K = 1", "K = 2"),
    "a check of another name": (["from course_lib.checks import check as c", "K = 1", CELL.format(uses="K"),
                                 'c("01.1", f)', "K = 2"], "K = 1", "K = 2"),
    "checks in a loop": (["K = 1", CELL.format(uses="K"), 'for i, g in [("01.1", f)]:\n    check(i, g)', "K = 2"],
                         "K = 1", "K = 2"),
    "the first check behind the last definition": (
        ["K = 1", CELL.format(uses="K"), CHECK, "K = 2", CHECK], "K = 1", "K = 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", POSITIONS)
def test_a_name_means_what_it_means_at_the_check(name):
    cells, there, absent = POSITIONS[name]
    text = Definitions(cells).answer(exercise())
    assert there in text
    assert absent not in text


@pytest.mark.parametrize(
    "body",
    ["K = x\n    return K", "return [K for K in x]", "return (lambda K: K)(x)",
     "for K in x:\n        pass\n    return x", "return x.K + x.a.K()", "return (K := x)",
     "try:\n        pass\n    except ValueError as K:\n        pass",
     "import a as K\n    return K", "def K():\n        pass\n    return K", "return 'K'",
     "with x as K:\n        return K"],
)  # fmt: skip
def test_local_names_attributes_and_texts_are_nobody_elses(body):
    assert "scratch" not in Definitions(["K = scratch()", f"def f(x):\n    {body}\n", CHECK]).answer(exercise())


def test_parameters_are_nobody_elses():
    cells = ["K = L = M = N = scratch()", "def f(K, *L, M=0, **N):\n    return K, L, M, N", CHECK]
    assert "scratch" not in Definitions(cells).answer(exercise())


def test_a_name_that_a_function_declares_global_is_read_from_outside():
    assert "K = 1" in Definitions(["K = 1", "def f(x):\n    global K\n    K += 1\n    return K"]).answer(exercise())


def test_where_the_functions_own_name_is_reused_the_checked_function_counts():
    first = CELL.format(uses="'first'")
    for later in ("f = f(3)", "f = 0.5", "for f in range(3):\n    pass", "w, f = 1, 2"):
        assert "first" in Definitions([first, CHECK, later]).answer(exercise())
    for later in (CELL.format(uses="'second'"), "f = lambda x: 'second'"):
        assert "second" in Definitions([first, CHECK, later]).answer(exercise())


def test_where_a_check_is_given_another_name_that_is_the_answer():
    cells = ["K = 1", "def mine(x):\n    return K", 'check("01.1", mine)', "K = 2"]
    text = Definitions(cells).answer(exercise())
    assert text == "K = 1\n\ndef mine(x):\n    return K\n\nf = mine\n"
    assert Definitions(['check("01.1", lambda x: x)']).answer(exercise()) == "f = lambda x: x\n"


def test_what_can_give_any_name_belongs_to_every_answer():
    cells = ["exec(pasted)", "import math", "def f(x):\n    return x", CHECK, "import sys\nsys.modules['a'] = 3"]
    text = Definitions(cells).answer(exercise())
    assert ("exec(pasted)" in text, "sys.modules" in text, "import math" in text) == (True, True, False)
    assert "exec" in Definitions(["exec(pasted)", CHECK]).answer(exercise())
    assert "re.compile" not in Definitions(["import re\np = re.compile('a')", CELL.format(uses="x")]).answer(exercise())


def test_a_star_import_is_there_where_a_name_has_no_other_home():
    assert "import *" in Definitions(["from math import *", CELL.format(uses="sqrt(x)")]).answer(exercise())
    assert "import *" not in Definitions(["from math import *", CELL.format(uses="abs(x)")]).answer(exercise())


def test_the_cells_of_an_answer_and_of_its_check():
    cells = ["import math", CELL.format(uses="x"), "K = 3", CHECK, CHECK]
    assert Definitions(cells).where(exercise()) == (1, 3)
    assert Definitions(cells[:2]).where(exercise()) == (1, None)
    assert Definitions([]).where(exercise()) == (None, None)
    assert Definitions(["x = 1"]).answer(exercise()) == ""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="older versions have no type parameters")
def test_type_parameters_are_nobody_elses():
    assert "scratch" not in Definitions(["T = scratch()", "def f[T](x: T):\n    return T(x)"]).answer(exercise())


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    ["\n".join(f"x{i} = {i}" for i in range(9_000)), "while True: x = 1\n" * 4_000, "x = x\n" * 9_000,
     "def h(n): return h(n - 1) + h(n - 1)\n" + "x = h(30)\n" * 2_000,
     "x = [0] * 9999\n" + "y = [x] * 9999\nz = sum([x] * 9999, [])\n" * 500],
    ids=range(5),
)  # fmt: skip
def test_cells_that_ask_for_more_than_a_machine_has_are_read(cell):
    assert "return K" in Definitions([cell, "K = 1\n" + CELL.format(uses="K"), CHECK]).answer(exercise())
