"""Names that later cells give again, or take away: what an answer used is something else at the end."""

from __future__ import annotations

from unusual.books import Model, Shape, lines, shape

FIT = "def fit_line(x, y):\n    dx, dy = x - np.mean(x), y - np.mean(y)\n"


@shape
def a_constant_given_again() -> Shape:
    m = Model()
    first = "BIAS = 1\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + BIAS")
    return m.shape({"01.2": [first, m.check("01.2"), "BIAS = 100  # of another trial\n"]})


@shape
def helpers_of_the_same_name() -> Shape:
    m = Model()
    fit = "def centred(a):\n    return a - np.mean(a)\n\n" + FIT.replace(
        "x - np.mean(x), y - np.mean(y)", "centred(x), centred(y)"
    )
    fit += "    w = np.sum(dx * dy) / np.sum(dx * dx)\n    return w, np.mean(y) - w * np.mean(x)\n"
    margin = "def centred(z, y):\n    return np.where(y == 1, z, -z)\n\n" + m.text["01.3"].replace(
        "np.where(y == 1, z, -z)", "centred(z, y)"
    )
    return m.shape({"01.1": [fit, m.check("01.1")], "01.3": [margin, m.check("01.3")]})


@shape
def built_in_names_given_again() -> Shape:
    m = Model()
    fate = m.text["01.5"].replace("tuple(w)", "tuple(float(v) for v in list(w))")
    last = lines(
        "sum = 0", "for k in range(3):", "    sum += k", "list, float, tuple, int = [1], 2.5, (), 3", "len = None"
    )
    return m.shape({"01.5": [fate, m.check("01.5")]}, last=(last,))


@shape
def modules_given_again() -> Shape:
    return Model().shape(last=("import math as np\nnp.sqrt(2)", "np = None"))


@shape
def loop_variables_given_again() -> Shape:
    m = Model()
    body = "total = 0\nfor i in (0.5, 0.25, 1):\n    total += i\n"  # i is 1 here
    answer = body + m.text["01.2"].replace("x @ x + 1", "x @ x + i")
    return m.shape({"01.2": [answer, m.check("01.2"), "for i in range(7):\n    pass\ni, total"]})


@shape
def a_class_defined_again() -> Shape:
    m = Model()
    first = "class Rule:\n    def size(self, x, lr):\n        return lr * (x @ x + 1)\n\n\n"
    answer = first + m.text["01.2"].replace("lr * (x @ x + 1)", "Rule().size(x, lr)")
    later = "class Rule:\n    sizes = ()\n\nRule()"
    return m.shape({"01.2": [answer, m.check("01.2")]}, last=(later,))


@shape
def a_list_that_later_cells_empty() -> Shape:
    m = Model()
    answer = "parts = [1]\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + parts[0]")
    return m.shape({"01.2": [answer, m.check("01.2"), "parts.clear()\nparts.append(8)\nparts"]})


@shape
def a_dict_of_functions_that_later_cells_change() -> Shape:
    m = Model()
    answer = "steps = {'sign': lambda z, y: np.where(y == 1, z, -z)}\n" + m.text["01.3"].replace(
        "np.where(y == 1, z, -z)", "steps['sign'](z, y)"
    )
    return m.shape({"01.3": [answer, m.check("01.3")]}, last=("steps['sign'] = None\nsteps.update(a=1)",))


@shape
def a_function_of_numpy_replaced_later() -> Shape:
    last = "real = np.mean\nnp.mean = lambda a: 0.0\nnp.sum = np.where = None\nnp.mean([1, 2])"
    return Model().shape(last=(last,))


@shape
def a_helper_deleted_after_its_check() -> Shape:
    m = Model()
    answer = "def size_of(x, lr):\n    return lr * (x @ x + 1)\n\n" + m.text["01.2"].replace(
        "lr * (x @ x + 1)", "size_of(x, lr)"
    )
    return m.shape({"01.2": [answer, m.check("01.2"), "del size_of"]})


@shape
def answers_deleted_after_their_checks() -> Shape:
    m = Model()
    return m.shape({id: [m.text[id], m.check(id) + f"\ndel {f}"] for id, f in m.function.items()})


@shape
def an_answer_tried_in_another_form_after_its_check() -> Shape:
    m = Model()
    other = "def margin(x, y, w, how='slow'):\n    return how  # a trial, never checked\n"
    return m.shape({"01.3": [m.text["01.3"], m.check("01.3"), other]}, last=("fit_line = 'done'\nfate = None",))


@shape
def a_random_state_that_later_cells_use() -> Shape:
    m = Model()
    answer = "rng = np.random.default_rng(7)\nnoise = rng.normal()\n" + m.text["01.1"].replace(
        "    w = ", "    assert rng.bit_generator.state['state']['state'] == START\n    w = ", 1
    )
    start = "START = rng.bit_generator.state['state']['state']"
    return m.shape({"01.1": [answer, start, m.check("01.1"), "rng.normal(size=1000)\nnp.random.seed(3)"]})


@shape
def errors_of_numpy_raised_later() -> Shape:
    m = Model()
    answer = m.text["01.3"].replace("    z = ", "    np.array([1.0]) / np.array([0.0])\n    z = ", 1)
    later = lines("old = np.seterr(all='raise')", "import warnings", "warnings.simplefilter('error')")
    return m.shape({"01.3": [answer, m.check("01.3"), later]})


@shape
def a_cached_result_emptied_later() -> Shape:
    m = Model()
    answer = lines(
        "import functools",
        "@functools.lru_cache(maxsize=None)",
        "def bias():",
        "    return LIMIT",
        "LIMIT = 1",
        "bias()",
    )
    answer += m.text["01.2"].replace("x @ x + 1", "x @ x + bias()")
    return m.shape({"01.2": [answer, m.check("01.2"), "LIMIT = 50\nbias.cache_clear()\nbias()"]})


@shape
def exercises_in_another_order_with_a_name_in_common() -> Shape:
    m = Model()
    texts = {id: m.text[id].replace("np.hstack([x, np.ones((len(x), 1))])", "attach(x)") for id in m.text}
    first = "def attach(x):\n    return np.hstack([x, np.ones((len(x), 1))])\n"
    cells = [first, texts["01.5"], m.check("01.5"), texts["01.4"], m.check("01.4"), "def attach(x):\n    return x\n"]
    order = {"01.1": [*cells, m.text["01.1"], m.check("01.1")], "01.4": [], "01.5": []}
    return m.shape(order)
