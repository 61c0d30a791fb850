"""A failing check is a card: the call, got, expected, the likely cause and where to read, and no line of ours."""

import re

import numpy as np
import pytest

from course_lib.checks import Case, Cause, CheckFailed, Exercise, check
from course_lib.checks.calling import call_here
from course_lib.checks.card import card_of
from course_lib.checks.differences import Difference
from course_lib.checks.judge import judge
from course_lib.checks.registry import find
from course_lib.checks.showing import call_of, launch_of, result_of
from course_lib.checks.values import Named, Opaque, Seeded
from tests.setup.project import ROOT

X, W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
LARGE = np.arange(40.0).reshape(5, 8)


def exercise(expect, *args, causes=(), **more):
    """An exercise of lesson 02 with one case."""
    return Exercise(
        "02.3", "layer", "A layer", 2, "core", "products", "the course's own", 2, expect,
        (Case(args, "two samples"),), causes, **more,
    )  # fmt: skip


def card(of, answer, seconds=10.0):
    """The card of a wrong answer."""
    (case,) = of.cases
    return card_of(of, judge(of, case, call_here(answer, case, seconds)), folder=ROOT / "exercises")


def rows(made):
    """The rows of a card, label -> text, with the marks as the plain text has them."""
    return {row.label: row.text.replace("\ue000", ">").replace("\ue001", "<") for row in made.rows}


LAYER = exercise(lambda x, w: x @ w.T, X, W)


# ------------------------------------------------------------------------------------------- what a card says


def test_a_small_array_is_shown_in_full_with_the_first_difference_marked():
    def layer(x, w):
        out = x @ w.T
        out[1, 0] += 0.5
        return out

    made = rows(card(LAYER, layer))
    assert list(made) == ["Call", "Got", "Expected", "Where"]
    assert made["Call"].startswith(
        "# two samples\nlayer(\n    np.array([[1.0, 2.0, 3.0],\n              [4.0, 5.0, 6.0]]),\n"
    )
    assert made["Got"] == "[[4.0, 2.0],\n [>10.5<, 5.0]]"
    assert made["Expected"] == "[[4.0, 2.0],\n [>10.0<, 5.0]]"
    assert made["Where"] == "result[1, 0] is 10.5, expected 10; 1 of 4 numbers are wrong."


def test_the_call_that_is_shown_can_be_run_again():
    shown = rows(card(LAYER, lambda x, w: x @ w.T + 1))["Call"]
    again = eval(shown, {"np": np, "layer": lambda x, w: (x, w)})
    np.testing.assert_array_equal(again[0], X)
    np.testing.assert_array_equal(again[1], W)


def test_a_large_array_is_shown_by_shape_dtype_and_first_difference():
    def layer(x):
        out = 2 * x
        out[3, 1] += 1e-4
        return out

    made = rows(card(exercise(lambda x: 2 * x, LARGE), layer))
    assert made["Call"] == "# two samples\nlayer(<array (5, 8) of float64>)"
    assert made["Got"] == "array (5, 8) of float64; at [3, 1]: >50.0001<"
    assert made["Expected"] == "array (5, 8) of float64; at [3, 1]: >50.0<"


def test_two_numbers_that_differ_in_a_late_digit_look_different():
    assert result_of(1.00000000123, (), 1.0) == "1.0000000012300001"
    assert result_of(np.array([1.0, 2.0000001]), ((1,),), np.array([1.0, 2.0])) == "[1.0, \ue0002.0000001\ue001]"


def test_a_wrong_shape_is_told_with_both_shapes():
    made = rows(card(LAYER, lambda x, w: (x @ w.T)[0]))
    assert made["Where"] == "result has shape (2,), expected (2, 2)."
    assert (made["Got"], made["Expected"]) == ("[4.0, 2.0]", "[[4.0, 2.0],\n [10.0, 5.0]]")


def test_transposed_is_said_only_where_the_numbers_are_the_transpose():
    three = exercise(lambda x: x.T, X)
    assert rows(card(three, lambda x: x.copy()))["Likely cause"] == "It looks transposed."
    assert "Likely cause" not in rows(card(three, lambda x: x + 1))


def test_the_right_values_in_another_order_are_told_so():
    pair = exercise(lambda x: (x.min(), x.max()), X)
    assert rows(card(pair, lambda x: (x.max(), x.min())))["Likely cause"] == (
        "These are the right values in another order."
    )
    assert "Likely cause" not in rows(card(pair, lambda x: (x.max(), x.max())))


def test_a_cause_is_named_only_where_value_and_kind_fit():
    count = exercise(
        lambda x: x.size, X, causes=(Cause("You forgot a row.", lambda x: x.size - 3), Cause("Wrong.", lambda x: 6))
    )
    assert rows(card(count, lambda x: x.size - 3))["Likely cause"] == "You forgot a row."
    of_another_kind = rows(card(count, lambda x: float(x.size - 3)))
    assert "Likely cause" not in of_another_kind
    assert of_another_kind["Where"] == "result is float64, expected whole numbers (int64)."
    # the right number as a float is no mistake that happens to give the right number here
    assert "Likely cause" not in rows(card(count, lambda x: float(x.size)))
    assert "Likely cause" not in rows(card(count, lambda x: x.size - 4))


def test_a_float_where_a_whole_number_is_due_is_not_said_to_lack_the_learning_rate():
    found = find("01.2")

    def corrections_needed(z, x, y, lr):
        n = 0
        while (z >= 0) != y:
            z, n = z + (2 * y - 1) * lr * (x @ x + 1), n + 1
        return float(n)

    says = [judge(found, case, call_here(corrections_needed, case)).says for case in found.cases]
    assert all("expected whole numbers" in said and "learning rate" not in said for said in says)


def test_an_argument_that_is_changed_is_told():
    made = rows(card(LAYER, lambda x, w: (x.fill(0), x @ w.T)[1]))
    assert made["Got"] == "argument 1 was changed in place"
    assert made["What to do"] == "Work on a copy."


def test_where_several_values_are_right_the_one_that_is_shown_is_an_example():
    def even(value, n):
        return None if value % 2 == 0 and value > n else Difference("an odd number", "it must be even.")

    several = exercise(lambda n: 2 * n, 3, requires=even)
    made = rows(card(several, lambda n: n + 4))
    assert (made["Got"], made["For example"]) == ("7", "6")
    assert "Expected" not in made
    assert rows(card(several, lambda n: n / 0))["For example"] == "6"
    assert judge(several, several.cases[0], call_here(lambda n: n + 5, several.cases[0], 10.0)) is None
    one = rows(card(exercise(lambda n: 2 * n, 3), lambda n: n + 4))
    assert one["Expected"] == "6"
    assert "For example" not in one


def test_a_stub_gets_a_kind_word_and_no_alarm():
    def layer(x, w):
        raise NotImplementedError("02.3")

    made = card(LAYER, layer)
    assert made.title == "02.3 A layer · not written yet"
    assert 'role="status"' in made._repr_mimebundle_()["text/html"]
    assert rows(made) == {"To do": "Roughly 2 lines are to be written in place of `raise NotImplementedError`."}


def test_a_card_leads_to_the_lesson():
    made = card(LAYER, lambda x, w: None)
    assert made.lesson.title.startswith("02 · ")
    assert made.lesson.href == "../notebooks/02_neurons_and_layers.ipynb"
    assert (ROOT / "exercises" / made.lesson.href).is_file()
    assert f'<a href="{made.lesson.href}">' in made._repr_mimebundle_()["text/html"]


def test_where_the_lesson_is_not_at_hand_it_is_named_without_a_link(tmp_path):
    (case,) = LAYER.cases
    made = card_of(LAYER, judge(LAYER, case, call_here(lambda x, w: None, case)), folder=tmp_path)
    assert (made.lesson.title, made.lesson.href) == ("lesson 02, neurons and layers", "")
    assert "<a " not in made._repr_mimebundle_()["text/html"]


def test_of_a_hidden_case_there_is_no_card():
    (case,) = LAYER.cases
    finding = judge(LAYER, case, call_here(lambda x, w: x, case), reveal=False)
    assert finding.facts is None
    with pytest.raises(ValueError, match="hidden case, which nobody may see"):
        card_of(LAYER, finding)


# ------------------------------------------------------------------------------------------- errors in an answer


def test_an_error_is_told_with_the_students_own_lines_only():
    def helper(x):
        return x / {}["nothing"]

    def layer(x, w):
        return helper(x)

    made = card(LAYER, layer)
    assert re.fullmatch(r"KeyError: 'nothing'\nin line \d+: `return x / \{\}\[\"nothing\"\]`", rows(made)["Got"])
    assert re.fullmatch(
        r"line \d+, in layer: return helper\(x\)\nline \d+, in helper: return x .*\nKeyError: 'nothing'", made.trace
    )
    page = made._repr_mimebundle_()["text/html"]
    assert page.count("<details") == 1
    assert "calling.py" not in page


def product(x, w):
    return x @ w


def product_by_dot(x, w):
    return np.dot(x, w)


def sum_of_both(x, w):
    return x + w.T


def in_place(x, w):
    x += w.T
    return x


def column(x, w):
    return x * x.sum(axis=1)


def whole_numbers(x, w):
    x = x.astype(int)
    x -= 0.5
    return x


def into_a_row(x, w):
    out = np.zeros(2)
    out[:] = x[0]
    return out


def rows_of_four(x, w):
    return x.reshape(-1, 4)


def four_numbers(x, w):
    return x.ravel().reshape(4)


def three_rows(x, w):
    return x.reshape(3, 3)


def side_by_side(x, w):
    return np.concatenate([x, w[:, :2]])


def below_turned(x, w):
    turned = w.T
    return np.concatenate([x, turned])


def left_to_right(x, w):
    return x.T @ w @ w.T * np.tanh(x)


def left_to_right_with_a_number(x, w):
    slope = w @ w.T
    return x.T @ w @ w.T * (2 - slope**2)


def left_to_right_divided(x, w):
    return x.T @ w / x[:, :1]


def left_to_right_of_three(x, w):
    ones = np.ones((2, 2))
    return w.T @ ones @ x @ w.T * -ones[:1].T


def products_on_both_sides(x, w):
    return x.T @ w * x


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (left_to_right, "x.T @ w @ w.T is (3, 2) and np.tanh(x) is (2, 3): for"),
        (left_to_right, "`(x.T @ w @ w.T) * np.tanh(x)`"),
        (left_to_right, "`(x.T @ w @ w.T).T * np.tanh(x)` would fit"),
        (left_to_right_with_a_number, "With brackets, `x.T @ ((w @ w.T) * (2 - slope ** 2))`"),
        (products_on_both_sides, "With brackets, `x.T @ (w * x)` fits and gives (3, 3)."),
    ],
)
def test_a_product_read_from_left_to_right_is_told_with_brackets_that_fit(answer, says):
    assert says in rows(card(LAYER, answer))["Likely cause"]


@pytest.mark.parametrize("answer", [left_to_right, left_to_right_divided, left_to_right_of_three, sum_of_both])
def test_brackets_are_offered_only_where_they_fit(answer):
    made = rows(card(LAYER, answer)).get("Likely cause", "")
    assert "With brackets" not in made


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (rows_of_four, "6 numbers do not make whole rows: 6 is no multiple of 4. Shapes of the arguments: x (2, 3)"),
        (four_numbers, "6 numbers are not the 4 that fill the shape (4,). Shapes of"),
        (three_rows, "6 numbers do not fill the shape (3, 3), which takes 9, nor a number of such. Shapes of"),
        (side_by_side, "Shapes of the arguments: x (2, 3), w (2, 3)."),
        (below_turned, "Is one of the arrays to be transposed (.T)? Shapes of the arguments: x (2, 3), w (2, 3)."),
        (product, "x is (2, 3) and w is (2, 3): the last size of x must equal the first one of w. Is one of them "
                  "transposed? `x @ w.T` gives (2, 2), `x.T @ w` gives (3, 3). "
                  "Shapes of the arguments: x (2, 3), w (2, 3)."),
        (product_by_dot, "`x @ w.T` gives (2, 2)"),
        (sum_of_both, "x is (2, 3) and w.T is (3, 2): for `x + w.T` the sizes must be equal or 1, counted from the "
                      "last axis. Is one of them transposed? `x + w` or `x.T + w.T` would fit."),
        (in_place, "Is one of them transposed? `x + w` or `x.T + w.T` would fit."),
        (column, "x is (2, 3) and x.sum(axis=1) is (2,): for `x * x.sum(axis=1)` the sizes must be equal or 1"),
        (column, "keepdims=True keeps it there, with length 1. Shapes of the arguments: x (2, 3), w (2, 3)."),
        (whole_numbers, "An array of whole numbers cannot take fractions in place."),
        (into_a_row, "The values and the place that they are to fill have different shapes."),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)  # fmt: skip
def test_numpys_errors_about_shapes_are_told_with_the_shapes_and_what_would_fit(answer, says):
    cause = rows(card(LAYER, answer))["Likely cause"]
    assert says in cause
    if answer in (rows_of_four, four_numbers, three_rows, side_by_side):
        assert ".T" not in cause


def by_number(x, layers):
    for i in range(len(layers)):
        x = x @ layers[i]
    return x


def the_last(x, layers):
    return x @ layers[-1]


def turned_back(x, layers):
    return x @ layers[0].T @ layers[1]


def bias_through_all(x, layers):
    b = layers[0][0]
    W = layers[1] @ layers[0]
    return b @ W


LAYERS = [np.array([[2.0, 3.0, 1.0]]), np.array([[-1.0], [4.0]])]
LIST = "Shapes of the arguments: x (2, 3), layers [(1, 3), (2, 1)]."


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (by_number, "x is (2, 3) and layers[i] is (1, 3): the last size of x must equal the first one of layers[i]. "
                    f"Is one of them transposed? `x @ layers[i].T` gives (2, 1). {LIST}"),
        (the_last, "x is (2, 3) and layers[-1] is (2, 1): the last size of x must equal the first one of layers[-1]. "
                   "Is one of them transposed? `x.T @ layers[-1]` gives (3, 1)."),
        (turned_back, "x @ layers[0].T is (2, 1) and layers[1] is (2, 1)"),
        (bias_through_all, "b is (3,) and W is (2, 3): the last size of b must equal the first one of W. Is one of "
                           "them transposed? `b @ W.T` gives (2,)."),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)  # fmt: skip
def test_arrays_in_lists_are_told_with_their_shapes_too(answer, says):
    layer = exercise(lambda x, layers: x @ layers[0].T @ layers[1].T, X, LAYERS)
    assert says in rows(card(layer, answer))["Likely cause"]


def test_arrays_that_fit_in_no_way_are_not_called_transposed():
    layer = exercise(lambda x, w: np.zeros(2), np.ones(4), W)
    cause = rows(card(layer, product))["Likely cause"]
    assert "x is (4,) and w is (2, 3)" in cause
    assert "No transposition makes them fit" in cause


def test_where_the_line_is_not_known_the_rule_of_a_product_and_all_shapes_are_told():
    """As in the grader, to which an answer comes without its file."""
    names = {}
    exec(compile("def layer(x, layers):\n    return x @ layers[0]", "<no file>", "exec"), names)
    layer = exercise(lambda x, layers: x @ layers[0].T, X, LAYERS)
    assert rows(card(layer, names["layer"]))["Likely cause"] == (
        "In a product the last size of the left array must equal the first one of the right. "
        f"Is one of them to be transposed (.T)? {LIST}"
    )


def test_an_error_that_is_not_about_shapes_gets_no_cause():
    def layer(x, w):
        raise ValueError("a matrix of mine")

    assert "Likely cause" not in rows(card(LAYER, layer))


# ------------------------------------------------------------------------------------------- how values are shown


def test_a_call_is_written_as_a_student_would_write_it():
    assert call_of("f", (np.array([1, 2]), 3, "a", Named("numpy.sin"), Seeded(4), None)) == (
        "f(np.array([1, 2]), 3, 'a', np.sin, np.random.default_rng(4), None)"
    )
    assert call_of("f", (np.array([0.1, np.nan], np.float32),)) == "f(np.array([0.1, np.nan], np.float32))"
    assert call_of("f", (np.zeros((0, 3)),)) == "f(np.zeros((0, 3)))"
    assert call_of("f", ([np.array([True])], {"a": (1,)})) == "f([np.array([True])], {'a': (1,)})"


def test_of_a_long_list_the_part_around_the_difference_is_shown():
    value = list(range(100))
    shown = result_of(value, (57,), value)
    assert "\ue00057\ue001" in shown
    assert shown.startswith("[... from [47]: 47, ")
    assert shown.endswith("66, ... 100 in all]")


ODD = (Opaque("generator"), 10**5000, "x" * 9999, {}, (), [], np.array(3), 1 + 2j, float("nan"))


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_whatever_comes_back_is_shown_in_a_few_hundred_characters(value):
    assert 0 < len(result_of(value)) < 500


def test_a_launch_is_shown_with_its_inputs_above():
    a = np.array([1, 2], np.float32)
    assert launch_of("add", (2, 1, 1), (8, 4, 1), {"a": a, "n": 2}) == (
        "a = np.array([1.0, 2.0], np.float32)\nn = 2\nadd[2, (8, 4)](a, n)"
    )


def test_texts_of_an_answer_cannot_break_the_page():
    made = card(exercise(lambda x: "a", 1), lambda x: "<script>alert(1)</script>")
    assert "<script" not in made._repr_mimebundle_()["text/html"]


# ------------------------------------------------------------------------------------------- in a notebook


def ipython(monkeypatch):
    """A shell in this process, and what it displays."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shown = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, *_, **__: shown.append(data))
    return shell, shown


def test_in_a_notebook_the_card_is_displayed_and_the_exception_is_one_line(monkeypatch):
    shell, shown = ipython(monkeypatch)
    try:
        with pytest.raises(CheckFailed, match=r"^01\.1: fit_line\(") as raised:
            check("01.1", lambda x, y: (0, 0))
        (data,) = shown
        assert data["text/html"].startswith('<section class="course-check" role="alert"')
        assert data["text/plain"].startswith("01.1 The line of least squares · not right yet\n  Call ")
        assert raised.value._render_traceback_() == ["CheckFailed: 01.1 is not right yet; the card above says more."]
    finally:
        type(shell).clear_instance()


def test_outside_of_a_notebook_the_exception_says_it_all():
    with pytest.raises(CheckFailed, match=r"^01\.1: fit_line\(.*expected") as raised:
        check("01.1", lambda x, y: (0, 0))
    assert raised.value._render_traceback_() == [f"CheckFailed: {raised.value}"]


def test_a_right_answer_gets_one_line(capsys):
    def fit_line(x, y):
        w = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
        return w, y.mean() - w * x.mean()

    check("01.1", fit_line)
    assert capsys.readouterr().out.count("\n") == 1


def test_an_answer_that_uses_what_it_should_write_is_told_at_once():
    def sizes(size, layers):
        from course_lib import reference as ops

        found = []
        for layer in layers:
            size = ops.output_size(size, *layer)
            found.append(size)
        return found

    with pytest.raises(CheckFailed, match=r"^07\.1: right, but sizes uses output_size, which is to be written here"):
        check("07.1", sizes)
