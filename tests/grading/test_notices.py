"""What an instructor should look at is listed; what people honestly write is not; no point is lost by it."""

import base64
import csv
from pathlib import Path

import pytest
from notebook_lib.sheets import read_sheet

import course_lib
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.registry import SHEETS, find, sheet
from course_lib.grading.copies import copied, quick_tokens
from course_lib.grading.definitions import Definitions
from course_lib.grading.final import finish
from course_lib.grading.gradebook import given_cells
from course_lib.grading.look_at import look_rows, write_look_at
from course_lib.grading.notices import NOTE, given_runs, notices
from course_lib.grading.report import report
from course_lib.grading.submissions import Student
from course_lib.grading.summary import summary
from tests.setup.project import ROOT

FIT = find("01.1")
SETUP = "import numpy as np\nfrom course_lib.checks import check"
CHECK = 'check("01.1", fit_line)'
CALL = "def fit_line(x, y):\n    w, b = {}(x, y, 1)\n    return w, b"
PASTED = base64.b64encode(b"def fit(x, y):\n    return np.polyfit(x, y, 1)").decode()
BYPASSES = {
    "getattr": CALL.format('getattr(np, "poly" + "fit")'),
    "__dict__": CALL.format('np.__dict__["poly" + "fit"]'),
    "vars": CALL.format('vars(np)["poly" + "fit"]'),
    "importlib": "import importlib\n" + CALL.format('vars(importlib.import_module("numpy"))["polyfit"]'),
    "import_module alone": "from importlib import import_module\n" + CALL.format('import_module("numpy").polyfit'),
    "__import__": CALL.format('__import__("numpy").polyfit'),
    "attrgetter": "from operator import attrgetter\n" + CALL.format('attrgetter("poly" + "fit")(np)'),
    "methodcaller": "import operator\n" + CALL.format('(lambda *a: operator.methodcaller("poly" + "fit", *a)(np))'),
    "eval": CALL.format('eval("np.poly" + "fit")'),
    "exec": 'exec("from numpy import poly" + "fit as fit")\n' + CALL.format("fit"),
    "exec in the function": "def fit_line(x, y):\n    found = {}\n"
                            '    exec("r = np.polyfit(x, y, 1)", globals(), found)\n    return tuple(found["r"])',
    "exec of base64": f'import base64\nexec(base64.b64decode("{PASTED}"))\ndef fit_line(x, y):\n    return fit(x, y)',
    "exec defines the answer": f'import base64\nexec(base64.b64decode("{PASTED}"))\nexec("fit_line = fit")',
    "getsource and exec": "import inspect\nexec(inspect.getsource(np.polyfit).replace('polyfit', 'mine'))\n"
                          + CALL.format("mine"),
    "globals": 'globals()["fit_line"] = getattr(np, "poly" + "fit")\n' + CALL.format("fit"),
    "a decorator": "def instead(f):\n    return lambda x, y: tuple(np.polyfit(x, y, 1))\n"
                   "@instead\ndef fit_line(x, y):\n    return 0, 0",
    "a decorator by getattr": 'def instead(f):\n    return lambda x, y: tuple(getattr(np, "poly" + "fit")(x, y, 1))\n'
                              "@instead\ndef fit_line(x, y):\n    return 0, 0",
    "a loop of setattr": "class N:\n    pass\nfor name in dir(np):\n    setattr(N, name, getattr(np, name))\n"
                         + CALL.format("getattr(N, 'poly' + 'fit')"),
    "all names of a module": "from numpy import *\n" + CALL.format("polynomial.polynomial.Polynomial.fit"),
    "another class of NumPy": CALL.format("np.polynomial.Polynomial.fit"),
    "the standard library": "import statistics\n"
                            "def fit_line(x, y):\n    return tuple(statistics.linear_regression(x, y))",
    "another package": "from scipy import stats\ndef fit_line(x, y):\n    return stats.theilslopes(y, x)[:2]",
    "the modules that are loaded": "import sys\n" + CALL.format('sys.modules["numpy"].polyfit'),
    "the module replaced": "import sys\nsys.modules['copy'] = np\nimport copy\n" + CALL.format("copy.polyfit"),
    "ctypes": "import ctypes\n" + CALL.format("ctypes.cast(0, ctypes.py_object).value"),
    "compile": CALL.format('eval(compile("np.poly" + "fit", "", "eval"))'),
    "the code of another function": "def fit_line(x, y):\n    return 1\nfit_line.__code__ = other.__code__",
    "the check's own answers": "from course_lib.checks.registry import find\ndef fit_line(x, y):\n"
                               '    return find("01.1").expect(x, y)',
    "a class's relatives": "def fit_line(x, y):\n    return ().__class__.__mro__[1].__subclasses__()[3](x)",
}  # fmt: skip


def answer(*cells):
    """The text of the answer of a notebook with these cells."""
    return Definitions([SETUP, *cells, CHECK]).answer(FIT)


@pytest.mark.parametrize("name", BYPASSES)
def test_every_way_around_is_refused_or_listed(name):
    text = answer(BYPASSES[name])
    assert forbidden_use(FIT, text) or notices(FIT, text)


def test_ways_that_no_rule_can_refuse_are_named():
    assert notices(FIT, answer(BYPASSES["getattr"])) == ["uses getattr"]
    assert notices(FIT, answer(BYPASSES["exec of base64"])) == ["uses base64, exec"]
    assert notices(FIT, answer(BYPASSES["the standard library"])) == ["uses statistics.linear_regression"]
    (says,) = notices(FIT, answer(BYPASSES["another class of NumPy"]))
    assert says.startswith("uses numpy.polynomial.Polynomial.fit, where linear_regression_fit, lstsq, polyfit or")


def test_what_is_done_in_other_cells_is_listed_with_them_only():
    text = answer("def fit_line(x, y):\n    return 1, 2")
    assert notices(FIT, text) == []
    assert notices(FIT, text, scratch="exec('x = 1')") == ["uses exec"]
    assert notices(FIT, answer("print(getattr(np, 'pi'))", "def fit_line(x, y):\n    return 1, 2")) == []


@pytest.mark.parametrize(
    "text",
    ["import re\np = re.compile('a')\ndef fit_line(x, y):\n    return p.match(x)",
     "import math, itertools\ndef fit_line(x, y):\n    return math.fsum(itertools.chain(x, y)), dict.fromkeys(x)",
     "class Node:\n    def compile(self):\n        return self\ndef fit_line(x, y):\n    return Node().compile()",
     "def fit_line(x, y):\n    '''Uses no eval and no getattr.'''\n    return x",
     "def vars(x):\n    return x\ndef fit_line(x, y):\n    return vars(x)",
     "def fit_line(x, y):\n    dx, dy = x - np.mean(x), y - np.mean(y)\n    w = np.sum(dx * dy) / np.sum(dx * dx)\n"
     "    return w, np.mean(y) - w * np.mean(x)"],
    ids=range(6),
)  # fmt: skip
def test_honest_answers_are_not_listed(text):
    assert notices(FIT, answer(text)) == []


@pytest.mark.parametrize("name", SHEETS)
def test_no_model_answer_is_listed(name):
    cells = [cell.source for cell in read_sheet(ROOT / "solutions" / f"{name}.py").cells if cell.cell_type == "code"]
    definitions, given = Definitions(cells), given_runs(given_cells(ROOT / "exercises" / f"{name}.ipynb"))
    for exercise in (e for e in sheet(name).exercises if e.kind != "text"):
        text = definitions.answer(exercise)
        assert exercise.function in text
        assert notices(exercise, text, given=given) == []
        assert forbidden_use(exercise, text) == ""


PACKAGE = Path(course_lib.__file__).parent


@pytest.mark.parametrize(
    ("file", "function", "kind"),
    [("reference/conv2d_loops.py", "conv2d_forward_loops", "function"),
     ("cuda/ladders/gemm/v03_smem_tiled.py", "_gemm_v03", "kernel"),
     ("cuda/ladders/reduce/v02_sequential.py", "_reduce_v02", "kernel")],
)  # fmt: skip
def test_a_copy_of_the_courses_code_is_found_under_other_names_and_numbers(file, function, kind):
    text = (PACKAGE / file).read_text(encoding="utf-8")
    renamed = text.replace(f"def {function}", "def mine").replace("acc", "total").replace("TILE", "T")
    renamed = renamed.replace("\n\n\n", "\n\n\n# my own work\n")
    found = {name: (place, share) for name, place, share in copied(renamed, kind)}
    assert found["mine"] == (f"course_lib/{file}: {function}", pytest.approx(1))
    assert copied(text, kind, given_runs([text])) == []


def test_tokens_are_the_same_however_a_text_is_laid_out():
    one = quick_tokens("def f(x, n=3):\n    '''Text.'''\n    return x.sum(axis=0) + np.exp(-x)  # note")
    other = quick_tokens(
        'def g(\n    values, k=0.5,\n):\n\n    """Another\n    text."""\n    return values.sum(axis=1) + np.exp(-y)\n'
    )
    assert [t for t in one if t != ","] == [t for t in other if t != ","]
    assert "sum" in one


def result(student, found):
    question = {"id": "01.1", "title": "A line", "kind": "function", "points": "1", "of": 1, "seconds": 0.1,
                "parts": [], "lost": []}  # fmt: skip
    made = {"student": student, "sheet": "01_perceptron", "status": "graded", "says": "", "level": "A", "key": "",
            "versions": {}, "seconds": 0.1, "output_bytes": 0, "boxes": 1, "notes": [], "points": "1", "of": 1,
            "questions": [question], "files": [], "answers": {}}  # fmt: skip
    return {**finish(made), "notices": found}


def test_the_instructors_tables_have_them_and_the_students_report_has_not(tmp_path):
    says = "85% of <b> is course_lib/reference/x.py: fit"
    students = {"ann": Student("ann", "Ann Lee"), "ben": Student("ben", "Ben")}
    ann = result("ann", [{"question": "01.1", "says": says}, {"question": "01.2", "says": says}])
    results = [ann, result("ben", [])]
    assert look_rows(results, students) == [["ann", "Ann Lee", "01.1, 01.2", says]]
    page = summary(results, students, ["01_perceptron"])
    assert "To look at" in page
    assert "85% of &lt;b&gt; is course_lib/reference/x.py: fit" in page
    assert "course_lib/reference/x.py" not in report(students["ann"], [ann])
    path = write_look_at(tmp_path, results, students)
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0] == ["student", "name", "question", "says"]
    assert rows[1][:3] == ["ann", "Ann Lee", "01.1, 01.2"]
    assert rows[-1] == [NOTE]
    assert write_look_at(tmp_path, results[1:], students) is None
    assert not path.exists()
