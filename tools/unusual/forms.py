"""Forms that an answer may have, and places where its check may stand."""

from __future__ import annotations

from unusual.books import SETUP, Model, Shape, code, lines, renamed, shape, text, without_docstring, written


def indented(source: str, by: int = 4) -> str:
    return "".join(" " * by + line if line.strip() else line for line in source.splitlines(keepends=True))


# ---------------------------------------------------------------------------------------------- where the check stands


@shape
def a_helper_defined_between_answer_and_check() -> Shape:
    m = Model()
    answer = m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(x, lr)")
    return m.shape({"01.2": [answer, "def size_of(x, lr):\n    return lr * (x @ x + 1)\n", m.check("01.2")]})


@shape
def a_helper_in_the_check_cell() -> Shape:
    m = Model()
    answer = m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(x, lr)")
    checked = code(
        "def size_of(x, lr):\n    return lr * (x @ x + 1)\n\n" + m.check("01.2"),
        nbgrader={"grade": True, "grade_id": "check-01-2", "solution": False, "locked": True, "schema_version": 3},
    )
    return m.shape({"01.2": [answer, checked]}, last=("size_of = 3",))


@shape
def answer_and_check_in_one_cell() -> Shape:
    m = Model()
    return m.shape({id: [f"{m.text[id]}\n{m.check(id)}"] for id in m.text})


@shape
def all_in_one_cell() -> Shape:
    m = Model()
    whole = "\n".join([SETUP, *(f"{m.text[id]}\n{m.check(id)}\n" for id in m.text), "k = np = None"])
    return Shape(m.name, written([code(whole)]))


@shape
def all_checks_at_the_end_in_a_loop() -> Shape:
    m = Model()
    pairs = ", ".join(f'("{id}", {f})' for id, f in m.function.items())
    last = f"for id, f in [{pairs}]:\n    check(id, f)\n"
    return m.shape({id: [t] for id, t in m.text.items()}, last=(last,))


@shape
def checks_at_once_and_again_at_the_end_where_names_have_changed() -> Shape:
    m = Model()
    answer = "BIAS = 1\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + BIAS")
    last = "for id, f in {'01.1': fit_line, '01.2': corrections_needed}.items():\n    try:\n        check(id, f)\n"
    last += "    except AssertionError as error:\n        print(type(error).__name__)\n"
    return m.shape({"01.2": [answer, m.check("01.2"), "BIAS = 5"]}, last=(last,))


@shape
def a_check_that_fails_first_and_is_caught() -> Shape:
    m = Model()
    first = m.text["01.2"].replace("x @ x + 1", "x @ x + BIAS") + "BIAS = 9\n"
    tried = "try:\n    check('01.2', corrections_needed)\nexcept AssertionError as error:\n    print('no:', error)\n"
    return m.shape({"01.2": [first, tried, "BIAS = 1", m.check("01.2"), "del BIAS"]})


@shape
def a_wrong_answer_repaired_below_its_failing_check() -> Shape:
    m = Model()
    wrong = m.text["01.3"].replace("np.min", "np.max")
    failing = code(m.check("01.3"), tags=["raises-exception"])
    return m.shape({"01.3": [wrong, failing, text("Smallest, not largest."), m.text["01.3"], m.check("01.3")]})


@shape
def checks_under_other_names() -> Shape:
    m = Model()
    lines = [
        "from course_lib.checks import check as c\nc('01.1', fit_line)",
        "import course_lib.checks as checks\nchecks.check('01.2', corrections_needed)",
        "import course_lib\ncourse_lib.checks.check('01.3', margin)",
        "from course_lib.checks import *\ncheck(id='01.4', answer=train_with_pocket)",
        "from importlib import import_module\nimport_module('course_lib.checks').__dict__['check']('01.5', fate)",
    ]
    return m.shape({id: [t, line] for (id, t), line in zip(m.text.items(), lines, strict=True)})


@shape
def the_check_imported_from_its_own_module() -> Shape:
    m = Model()
    last = "from course_lib.checks.check import check as once_more, CheckFailed\nonce_more('01.1', fit_line)"
    return m.shape({"01.1": [m.text["01.1"], last]})


@shape
def checks_in_functions_loops_and_try() -> Shape:
    m = Model()
    in_function = "def test():\n    check('01.1', fit_line)\n\ntest()"
    in_try = "try:\n    check('01.2', corrections_needed)\nexcept Exception:\n    raise\nelse:\n    print('well')"
    in_loop = "for _ in range(5):\n    check('01.3', margin)"
    in_with = "import contextlib\nwith contextlib.suppress(ZeroDivisionError):\n    check('01.4', train_with_pocket)"
    in_if = "if __name__ == '__main__':\n    check('01.5', fate)"
    places = (in_function, in_try, in_loop, in_with, in_if)
    return m.shape({id: [t, place] for (id, t), place in zip(m.text.items(), places, strict=True)})


@shape
def checks_in_threads() -> Shape:
    m = Model()
    thread = "import threading\nt = threading.Thread(target=check, args=('01.1', fit_line))\nt.start()\nt.join()"
    pool = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n"
    pool += "    pool.submit(check, '01.3', margin).result()"
    return m.shape({"01.1": [m.text["01.1"], thread], "01.3": [m.text["01.3"], pool]}, last=("margin = None",))


@shape
def the_check_wrapped_by_a_helper() -> Shape:
    m = Model()
    m.setup += lines(
        "def checked(id):", "    def wrap(f):", "        check(id, f)", "        return f", "    return wrap"
    )
    return m.shape({id: [f"@checked('{id}')\n{t}"] for id, t in m.text.items()})


@shape
def functions_of_other_names() -> Shape:
    m = Model()
    other = {id: renamed(m.text[id], **{f: f"my_{f}"}) for id, f in m.function.items()}
    return m.shape({id: [other[id], f"check('{id}', my_{f})"] for id, f in m.function.items()})


# ------------------------------------------------------------------------------------------------ forms of the answer


@shape
def lambdas_partials_and_methods() -> Shape:
    m = Model()
    margin = "margin = lambda x, y, w: np.min(np.where(y == 1, 1, -1) * (x @ w[:-1] + w[-1])) / np.linalg.norm(w[:-1])"
    partial = renamed(m.text["01.2"], corrections_needed="general").replace("lr):", "lr, bias):")
    partial = partial.replace("x @ x + 1", "x @ x + bias")
    partial += "\nimport functools\ncorrections_needed = functools.partial(general, bias=1)\n"
    method = "class Line:\n" + indented(m.text["01.1"].replace("(x, y)", "(self, x, y)", 1))
    method += "\nfit_line = Line().fit_line\n"
    called = "class Fate:\n" + indented(renamed(m.text["01.5"], fate="__call__").replace("(x, y,", "(self, x, y,", 1))
    called += "\nfate = Fate()\n"
    static = "class Pocket:\n    @staticmethod\n" + indented(m.text["01.4"])
    static += "\ntrain_with_pocket = Pocket.train_with_pocket\n"
    texts = {"01.1": method, "01.2": partial, "01.3": margin, "01.4": static, "01.5": called}
    return m.shape({id: [t, m.check(id)] for id, t in texts.items()}, last=("general = Line = Fate = Pocket = None",))


@shape
def functions_handed_straight_to_the_check() -> Shape:
    m = Model()
    line = "check('01.3', lambda x, y, w: min(np.where(y == 1, 1, -1) * (x @ w[:-1] + w[-1])) / np.linalg.norm(w[:-1]))"
    return m.shape({"01.3": [line]})


@shape
def decorators_and_closures() -> Shape:
    m = Model()
    timed = """import functools, time

def timed(f):
    @functools.wraps(f)
    def inner(*args):
        start = time.perf_counter()
        try:
            return f(*args)
        finally:
            spent.append(time.perf_counter() - start)
    return inner

spent = []
"""
    closure = "def maker(bias):\n" + indented(m.text["01.2"].replace("x @ x + 1", "x @ x + bias"))
    closure += "    return corrections_needed\n\ncorrections_needed = maker(bias=1)\n"
    last = ("f'{sum(spent):.0f} s'", "spent = None\ndel maker, timed")
    timed += f"\n@timed\n{m.text['01.1']}"
    return m.shape({"01.1": [timed, m.check("01.1")], "01.2": [closure, m.check("01.2")]}, last=last)


@shape
def generators_recursion_and_new_words() -> Shape:
    m = Model()
    recursive = """def smallest(values):
    match len(values):
        case 1:
            return values[0]
        case n if (half := n // 2):
            return min(smallest(values[:half]), smallest(values[half:]))

def margin(x, y, w):
    return smallest([*signed(x, y, w)]) / np.linalg.norm(w[:-1])
"""
    generated = """def signed(x, y, w):
    for row, label in zip(x, y, strict=True):
        z = row @ w[:-1] + w[-1]
        yield z if label == 1 else -z
"""
    return m.shape({"01.3": [generated, recursive, m.check("01.3"), "signed = smallest = print"]})


@shape
def a_vectorised_answer() -> Shape:
    m = Model()
    line = "sign = np.vectorize(lambda z, y: z if y == 1 else -z)\n" + m.text["01.3"].replace(
        "np.where(y == 1, z, -z)", "sign(z, y)"
    )
    return m.shape({"01.3": [line, m.check("01.3"), "sign = np.vectorize(lambda z, y: 0)"]})


@shape
def threads_that_live_on() -> Shape:
    m = Model()
    pool = lines(
        "from concurrent.futures import ThreadPoolExecutor", "SIGN = {0: -1, 1: 1}",
        "pool = ThreadPoolExecutor(2)", "list(pool.map(abs, [-1, 2]))",
    )  # fmt: skip
    in_threads = "np.array(list(pool.map(lambda a: SIGN[int(a[1])] * a[0], zip(z, y))))"
    answer = m.text["01.3"].replace("np.where(y == 1, z, -z)", in_threads)
    later = "SIGN = None\nimport threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
    return m.shape({"01.3": [pool + answer, m.check("01.3"), later]})


@shape
def processes_in_an_answer() -> Shape:
    m = Model()
    answer = m.text["01.1"].replace("np.mean(x), y", "mean_elsewhere(x), y")
    helper = lines(
        "from multiprocessing import get_context", "def mean_elsewhere(a):",
        "    with get_context('fork').Pool(2) as pool:",
        "        return float(np.mean(pool.map(float, list(a))))",
    )  # fmt: skip
    return m.shape({"01.1": [helper + answer, m.check("01.1"), "get_context = None"]})


@shape
def compiled_answers() -> Shape:
    m = Model()
    loop = """import numba
from numba import njit

@njit
def heights(x, w):
    z = np.empty(len(x))
    for i in range(len(x)):
        z[i] = w[-1]
        for j in range(x.shape[1]):
            z[i] += x[i, j] * w[j]
    return z

"""
    margin = loop + m.text["01.3"].replace("x @ w[:-1] + w[-1]", "heights(x, w)")
    cached = "@njit(cache=True)\ndef size_of(xx, lr):\n    return lr * (xx + 1)\n\n"
    needed = cached + m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(float(x @ x), lr)")
    parallel = """@njit(parallel=True)
def total(a):
    s = 0.0
    for i in numba.prange(len(a)):
        s += a[i]
    return s

"""
    fit = parallel + m.text["01.1"].replace("np.sum(dx * dx)", "total(dx * dx)")
    first = ["import numba\nfrom numba import njit", fit, "total(np.ones(1000))", m.check("01.1")]
    texts = {"01.1": first, "01.2": [needed, m.check("01.2")], "01.3": [margin, m.check("01.3")]}
    return m.shape(texts, last=("njit = heights = size_of = total = None",))


@shape
def the_fast_library_in_an_answer() -> Shape:
    m = Model("07_convolution")
    answer = """from course_lib import fast

def multiply(a, b):
    y, _ = fast.conv1d_forward(a[None, None], b[None, None, ::-1], pad=len(b) - 1)
    return y[0, 0]
"""
    used = lines(
        "fast.set_threads(2)",
        "z, _ = fast.conv2d_forward(np.ones((64, 4, 32, 32)), np.ones((8, 4, 3, 3)), np.zeros(8))",
        "z.sum()",
    )
    maps = """def panorama(x, w):
    ring = np.concatenate([x, x[:, :, : w.shape[2] - 1]], axis=2)
    z, _ = fast.dense_forward(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))
    y = np.zeros((x.shape[1] - w.shape[1] + 1, x.shape[2]))
    for h, v in np.ndindex(y.shape):
        y[h, v] = z[0, 0] * np.sum(ring[:, h : h + w.shape[1], v : v + w.shape[2]] * w)
    return y
"""
    setup = "from course_lib import reference as ops"
    changes = {"07.1": [setup, m.text["07.1"], m.check("07.1")], "07.7": [answer, used, m.check("07.7")]}
    return m.shape(changes | {"07.4": ["from course_lib import fast\n" + maps, m.check("07.4")]})


@shape
def annotations_from_the_future() -> Shape:
    m = Model()
    answer = m.text["01.2"].replace("(z, x, y, lr)", "(z: Score, x: Samples, y: Label, lr: Rate) -> Count")
    return m.shape({"01.2": [answer, m.check("01.2")]}, first=("from __future__ import annotations",))


@shape
def names_of_other_alphabets() -> Shape:
    m = Model()
    answer = renamed(m.text["01.1"], dx="Δx", dy="Δy", w="β₁".replace("₁", "1"), b="ширина")
    return m.shape({"01.1": [answer + "\nπ = 'größe ∑ 💡'\nprint(π)", m.check("01.1")]})


@shape
def tabs_form_feeds_and_odd_line_ends() -> Shape:
    m = Model()
    tabs = without_docstring(m.text["01.1"]).replace("    ", "\t")
    windows = m.text["01.2"].replace("\n", "\r\n")
    feeds = "# -*- coding: utf-8 -*-\n\x0c\n" + m.text["01.3"] + "\x0c\n# the end"
    mac = m.text["01.4"] + "\n\n\n   \n"
    texts = {"01.1": tabs, "01.2": windows, "01.3": feeds, "01.4": mac}
    return m.shape({id: [t, m.check(id)] for id, t in texts.items()})


@shape
def answers_made_by_exec() -> Shape:
    m = Model()
    made = f"source = {without_docstring(m.text['01.2'])!r}\nexec(source)\n"
    return m.shape({"01.2": [made, m.check("01.2")]}, last=("source = None",))
