"""What an answer may not use counts where its function reaches it, and nowhere else; check and grader say the same."""

import ast
import graphlib
import linecache
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from notebook_lib.sheets import read_sheet

import course_lib
from course_lib.checks import CheckFailed, check
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.live_text import live_text
from course_lib.checks.registry import SHEETS, find, sheet
from course_lib.checks.scopes import Scopes
from course_lib.cuda.ladders.conv2d import forward
from course_lib.grading.definitions import Definitions

SOLUTIONS = Path(__file__).parents[2] / "solutions"
BOOKS = {name: read_sheet(SOLUTIONS / f"{name}.py") for name in SHEETS}
WITHOUT = [(name, e) for name in SHEETS for e in sheet(name).exercises if e.kind != "text" and e.instead_of]
FIT = SimpleNamespace(id="01.1", function="fit_line", instead_of=("polyfit", "lstsq", "gradient", "solve"))

USES = {
    "a module's attribute": "def fit_line(x, y):\n    return np.polyfit(x, y, 1)",
    "a module in a module": "def fit_line(x, y):\n    return np.linalg.lstsq(x, y)[0]",
    "a module under another name": "import numpy.linalg as la\ndef fit_line(x, y):\n    return la.lstsq(x, y)[0]",
    "a name under another name": "from numpy import polyfit as p\ndef fit_line(x, y):\n    return p(x, y, 1)",
    "nothing but the name": "from numpy import polyfit as p\nfit_line = p",
    "an alias as the answer": "fit_line = np.polyfit",
    "an alias": "fit = np.polyfit\ndef fit_line(x, y):\n    return fit(x, y, 1)",
    "an alias of an alias, taken back": "a = np.polyfit\nb = a\na = None\ndef fit_line(x, y):\n    return b(x, y, 1)",
    "an alias of the module": "lib = np\ndef fit_line(x, y):\n    return lib.polyfit(x, y, 1)",
    "an alias of a part of it": "la = np.linalg\ndef fit_line(x, y):\n    return la.lstsq(x, y)",
    "a local import": "def fit_line(x, y):\n    import numpy as lib\n    return lib.polyfit(x, y, 1)",
    "a local import of the name": "def fit_line(x, y):\n    from numpy import polyfit as p\n    return p(x, y, 1)",
    "a local alias of the module": "def fit_line(x, y):\n    lib, n = np, 1\n    return lib.polyfit(x, y, n)",
    "a default": "def fit_line(x, y, fit=np.polyfit):\n    return fit(x, y, 1)",
    "the module as a default": "def fit_line(x, y, lib=np):\n    return lib.polyfit(x, y, 1)",
    "a helper": "def h(x, y):\n    return np.polyfit(x, y, 1)\ndef fit_line(x, y):\n    return h(x, y)",
    "a function in it": "def fit_line(x, y):\n    def g():\n        return np.polyfit(x, y, 1)\n    return g()",
    "a comprehension": "def fit_line(x, y):\n    return [np.polyfit(x, y, 1) for _ in range(1)][0]",
    "a lambda": "fit_line = lambda x, y: np.polyfit(x, y, 1)",
    "a partial": "import functools\nfit_line = functools.partial(np.polyfit, deg=1)",
    "a table": 'FITS = {"line": np.polyfit}\ndef fit_line(x, y):\n    return FITS["line"](x, y, 1)',
    "a table that is filled": 'FITS = {}\nFITS["a"] = np.polyfit\ndef fit_line(x, y):\n    return FITS["a"](x, y, 1)',
    "a list that is filled": "FITS = []\nFITS.append(np.polyfit)\ndef fit_line(x, y):\n    return FITS[0](x, y, 1)",
    "a function that returns it": "def make():\n    return np.polyfit\nfit_line = make()",
    "a closure": "def make(g):\n    def f(x, y):\n        return g(x, y, 1)\n    return f\nfit_line = make(np.polyfit)",
    "a decorator": "def d(f):\n    return lambda x, y: np.polyfit(x, y, 1)\n@d\ndef fit_line(x, y):\n    return 0",
    "a class of one's own": "class M:\n    def run(self, x, y):\n        return np.polyfit(x, y, 1)\n"
                            "def fit_line(x, y):\n    return M().run(x, y)",
    "an object of one's own": "class M:\n    @staticmethod\n    def run(x, y):\n        return np.polyfit(x, y, 1)\n"
                              "m = M()\ndef fit_line(x, y):\n    return m.run(x, y)",
    "all names": "from numpy import *\ndef fit_line(x, y):\n    return polyfit(x, y, 1)",
    "below an if": "if True:\n    def fit_line(x, y):\n        return np.polyfit(x, y, 1)",
}  # fmt: skip

DOES_NOT = {
    "a scratch cell with the same names": "w, b = np.polyfit([1, 2], [3, 4], 1)\n"
                                          "def fit_line(x, y):\n    w = b = 0\n    return w, b",
    "data that it computed": "w = np.polyfit([1, 2], [3, 4], 1)\ndef fit_line(x, y):\n    return w",
    "a parameter": "def fit_line(x, polyfit=3):\n    return polyfit",
    "a function of that name": "def polyfit(x):\n    return x\ndef fit_line(x, y):\n    return polyfit(x)",
    "a method and an attribute": "class A:\n    gradient = 0\n    def solve(self):\n        return self.gradient\n"
                                 "def fit_line(x, y):\n    a = A()\n    a.gradient = 2\n"
                                 "    return a.solve() + a.gradient",
    "a parameter's attribute": "def fit_line(node, y):\n    return node.gradient + node.inner.solve()",
    "local names": "def fit_line(x, y):\n    for polyfit in x:\n        pass\n"
                   "    return [lstsq for lstsq in y], 'np.polyfit'",
    "an object that a library made": "rng = np.random.default_rng(0)\ndef fit_line(x, y):\n    return rng.gradient",
    "a scratch function": "def compare(x):\n    return np.polyfit(x, x, 1)\ndef fit_line(x, y):\n    return 1",
    "what is imported for another cell": "from numpy import polyfit\ndef fit_line(x, y):\n    return 1",
    "a comment and a docstring": "def fit_line(x, y):\n    'no np.polyfit'\n    return 1  # np.polyfit",
}  # fmt: skip


def live(text, name="fit_line"):
    """The text that the notebook's check makes of the objects of a cell."""
    names, file = {"__name__": "__main__", "np": np}, f"<cell of {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    return live_text(name, names[name])


@pytest.mark.parametrize("how", USES)
def test_what_the_function_reaches_counts_in_grader_cell_and_notebook(how):
    cell = USES[how]
    assert re.fullmatch(r"fit_line uses \w+, which is to be written here without it\.", forbidden_use(FIT, cell))
    assert forbidden_use(FIT, Definitions(["import numpy as np", cell, 'check("01.1", fit_line)']).answer(FIT))
    assert forbidden_use(FIT, live(cell))


@pytest.mark.parametrize("how", DOES_NOT)
def test_what_it_does_not_reach_does_not_count(how):
    cell = DOES_NOT[how]
    for text in (cell, Definitions(["import numpy as np", cell, 'check("01.1", fit_line)']).answer(FIT), live(cell)):
        assert forbidden_use(FIT, text) == ""


def answer_of(name, exercise):
    """The cells of a sheet up to an answer, with its solution."""
    book, cells = BOOKS[name], []
    for cell in book.cells:
        if cell.cell_type == "code":
            cells.append(cell.source)
        if cell.metadata.get("course", {}).get("id") == exercise.id and cell.cell_type == "code":
            break
    return cells


@pytest.mark.slow
@pytest.mark.parametrize(("name", "exercise"), WITHOUT, ids=[e.id for _, e in WITHOUT])
def test_a_cell_that_compares_costs_nothing_and_a_real_use_does(name, exercise):
    *before, cell = answer_of(name, exercise)
    scopes = Scopes(cell)
    stored = {n.id for node in scopes.tree.body for n, _, depth in scopes.walk(node)
              if depth and isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
    check_cell = f'check("{exercise.id}", {exercise.function})'
    for word in exercise.instead_of:
        scratch = "\n".join(f"{local} = np.{word}(3)" for local in sorted(stored | {"result"}))
        for cells in ([*before, scratch, cell, check_cell], [*before, cell, check_cell, scratch],
                      [*before, f"{scratch}\n{cell}", check_cell]):  # fmt: skip
            assert forbidden_use(exercise, Definitions(cells).answer(exercise)) == ""
        says = f"{exercise.function} uses {word}, which is to be written here without it."
        inside = re.sub(rf"(?m)^(def {exercise.function}\(.*\):\n)", rf"\1    np.{word}(3)\n", cell)
        helper = f"def helper_of_it():\n    return np.{word}(3)"
        in_helper = re.sub(rf"(?m)^(def {exercise.function}\(.*\):\n)", r"\1    helper_of_it()\n", cell)
        assert inside != cell
        assert forbidden_use(exercise, Definitions([*before, inside, check_cell]).answer(exercise)) == says
        assert forbidden_use(exercise, Definitions([*before, helper, in_helper, check_cell]).answer(exercise)) == says


def test_check_says_what_the_grader_says():
    text = "import numpy as np\ndef fit_line(x, y):\n    w, b = np.polyfit(x, y, 1)\n    return float(w), float(b)\n"
    names, file = {"__name__": "__main__"}, "<cell of test_check_says>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    with pytest.raises(CheckFailed, match=r"01\.1: right, but fit_line uses polyfit, which is to be written here"):
        check("01.1", names["fit_line"])


@pytest.mark.parametrize(
    "source", ["def fit_line(x):\n    return np.mean(x)", "fit_line = lambda x: x", "class fit_line: pass"]
)
def test_an_answer_without_a_source_is_not_held_against_anybody(source):
    names = {"__name__": "__main__", "np": np}
    exec(source, names)
    assert forbidden_use(FIT, live_text("fit_line", names["fit_line"])) == ""


class Odd:
    """An object that answers nothing."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


def test_odd_objects_do_not_stop_a_check():
    for answer in (Odd(), None, 3, np.mean, len, [].append, type, Odd, np.random.default_rng(0), [lambda: 1]):
        assert forbidden_use(FIT, live_text("fit_line", answer)) == ""
    assert forbidden_use(FIT, live_text("fit_line", np.polyfit))
    assert forbidden_use(FIT, "no Python (") == ""


def test_what_may_not_be_used_exists_here_or_elsewhere():
    """A function that was renamed would be free to use: nobody would notice."""
    package = Path(course_lib.__file__).parent
    texts = [file.read_text("utf-8") for file in package.rglob("*.py")]
    ours = {name for text in texts for name in re.findall(r"(?:def|class) (\w+)", text)}
    elsewhere = [np, np.linalg, np.polynomial, graphlib, OTHERS]
    for _, exercise in WITHOUT:
        unknown = [name for name in exercise.instead_of if name not in ours]
        unknown = [name for name in unknown if not any(hasattr(module, name) for module in elsewhere)]
        assert unknown == [], f"{exercise.id} forbids {unknown}, which nobody has"


OTHERS = SimpleNamespace(
    **dict.fromkeys(("convolve2d", "correlate2d", "fftconvolve"), "scipy.signal"), linregress="scipy.stats",
    **dict.fromkeys(("convolve1d", "correlate1d"), "scipy.ndimage"), conv2d="torch.nn.functional", atomic="numba.cuda",
    **dict.fromkeys(("confusion_matrix", "mean_squared_error"), "sklearn.metrics"), graphlib="the module itself",
)  # fmt: skip
"""Names that the course's tests cannot look up, and where they are."""


def test_every_kernel_of_the_library_is_forbidden_in_the_project():
    kernels = {rung.launch.__name__ for rung in forward.LADDER}
    assert kernels <= set(find("project.10").instead_of)
