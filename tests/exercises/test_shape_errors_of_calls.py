"""Shape errors where an operand is a call, a slice or an argument of einsum: told by letters and shapes."""

import ast

import numpy as np
import pytest

from course_lib.checks.einsum_errors import RULE
from course_lib.checks.message_shapes import inner_sizes, shapes_in
from course_lib.checks.origin import Origin, origin_of
from course_lib.checks.shape_errors import shape_error

X, W = np.arange(120.0).reshape(2, 3, 4, 5), np.ones((7, 3))


def cause(answer, *arguments):
    """Return what is said of the error that an answer raises."""
    try:
        answer(*arguments)
    except ValueError as error:
        return shape_error(error, origin_of(error), answer, arguments)
    raise AssertionError("the answer did not fail")


def swapped(x, w):
    return np.einsum("mc,nchv->nmhv", x, w)


def swapped_with_a_path(x, w):
    return np.einsum("mc,nchv->nmhv", x, w, optimize=True)


def letters_in_a_variable(x, w):
    letters = "mc, nchv -> nmhv"
    return np.einsum(letters, x, w)


def too_few_letters(x, w):
    return np.einsum("mc,nch->nmh", w, x)


def too_many_letters(x, w):
    return np.einsum("mcq,nchv->nmhv", w, x)


def summed_over_the_wrong_axis(x, w):
    return np.einsum("cm,nchv->nmhv", w, x)


def summed_over_the_wrong_axis_with_a_path(x, w):
    return np.einsum("cm,nchv->nmhv", w, x, optimize=True)


def a_letter_from_nowhere(x, w):
    return np.einsum("mc,nchv->nmhk", w, x)


def a_letter_from_nowhere_with_a_path(x, w):
    return np.einsum("mc,nchv->nmhk", w, x, optimize=True)


def twice_behind_the_arrow(x, w):
    return np.einsum("mc,nchv->nmmv", w, x)


def no_comma(x, w):
    return np.einsum("mcnchv->nmhv", w, x)


def a_digit(x, w):
    return np.einsum("m1,n1hv->nmhv", w, x)


def of_a_turned_array(x, w):
    return np.einsum("mc,nchv->nmhv", w.T, x)


def of_a_call(x, w):
    return np.einsum("mc,nchv->nmhv", w.reshape(21), x)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (swapped, 'x is (2, 3, 4, 5) and has 4 axes, but "mc" has 2 letters. Are the arrays swapped? '
                  '`np.einsum("mc,nchv->nmhv", w, x)` fits. Shapes of the arguments: x (2, 3, 4, 5), w (7, 3).'),
        (swapped_with_a_path, "Are the arrays swapped?"),
        (letters_in_a_variable, "Are the arrays swapped?"),
        (too_few_letters, 'x is (2, 3, 4, 5) and has 4 axes, but "nch" has 3 letters.'),
        (too_many_letters, 'w is (7, 3) and has 2 axes, but "mcq" has 3 letters.'),
        (summed_over_the_wrong_axis, "The letter c is an axis of size 7 in w and one of size 3 in x."),
        (summed_over_the_wrong_axis_with_a_path, "The letter c is an axis of size 7 in w and one of size 3 in x."),
        (a_letter_from_nowhere, "The letter k behind the arrow stands for no axis of the arrays before it."),
        (a_letter_from_nowhere_with_a_path, "The letter k behind the arrow stands for no axis"),
        (twice_behind_the_arrow, "The letter m stands twice behind the arrow;"),
        (no_comma, '"mcnchv" has letters for 1 array, and 2 are given.'),
        (a_digit, '"1" is no letter;'),
        (of_a_turned_array, "The letter c is an axis of size 7 in w.T and one of size 3 in x."),
        (of_a_call, RULE),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)  # fmt: skip
def test_what_einsum_complains_about_is_told_by_letters_and_shapes(answer, says):
    told = cause(answer, X, W)
    assert says in told
    assert told.endswith("Shapes of the arguments: x (2, 3, 4, 5), w (7, 3).")
    if answer not in (swapped, swapped_with_a_path, letters_in_a_variable):
        assert "swapped" not in told


def test_sizes_of_1_stretch_and_are_no_cause():
    def answer(x, w):
        return np.einsum("mc,nchv->nmhv", w, x[:, :1, 0])

    assert cause(answer, X, W).startswith(RULE)


def test_without_the_text_of_the_line_the_rule_of_einsum_is_told():
    names = {"np": np}
    exec(compile("def mix(x, w):\n    return np.einsum('mc,nchv->nmhv', x, w)", "<no file>", "exec"), names)
    assert cause(names["mix"], X, W) == f"{RULE} Shapes of the arguments: x (2, 3, 4, 5), w (7, 3)."


def rows_of(x):
    return x.reshape(6, 20)


def turned(w):
    return w.T


def call_times_call(x, w):
    return rows_of(x) @ turned(w)


def method_times_method(x, w):
    return x.reshape(-1, 20) @ w.ravel()


def call_times_name(x, w):
    return rows_of(x) @ w


def slice_times_slice(x, w):
    return x[0, 0] @ w[:4]


def matmul_of_calls(x, w):
    return np.matmul(rows_of(x), turned(w))


def dot_of_calls(x, w):
    return np.dot(rows_of(x), turned(w))


def method_dot(x, w):
    return rows_of(x).dot(turned(w))


def in_a_list(x, w):
    return [rows_of(x) @ turned(w) for _ in range(2)]


def sum_of_calls(x, w):
    return rows_of(x) + turned(w)


def product_of_slices(x, w):
    return x[0, 0] * w[:4]


def compared_calls(x, w):
    return np.subtract(rows_of(x), w.copy())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (call_times_call, "The last size of rows_of(x) is 20, and the size that it meets in turned(w) is 3; in a "
                          "product they must be equal. Is one of them to be transposed (.T)?"),
        (method_times_method, "The last size of x.reshape(-1, 20) is 20, and the size that it meets in w.ravel() is "
                              "21; in a product"),
        (call_times_name, "The last size of rows_of(x) is 20, and the size that it meets in w is 7;"),
        (slice_times_slice, "The last size of x[0, 0] is 5, and the size that it meets in w[:4] is 4;"),
        (matmul_of_calls, "The last size of rows_of(x) is 20, and the size that it meets in turned(w) is 3;"),
        (in_a_list, "The last size of rows_of(x) is 20, and the size that it meets in turned(w) is 3;"),
        (dot_of_calls, "rows_of(x) is (6, 20) and turned(w) is (3, 7): the last size of rows_of(x) must equal"),
        (method_dot, "rows_of(x) is (6, 20) and turned(w) is (3, 7): the last size of rows_of(x) must equal"),
        (sum_of_calls, "rows_of(x) is (6, 20) and turned(w) is (3, 7): for `rows_of(x) + turned(w)` the sizes must be"),
        (product_of_slices, "x[0, 0] is (4, 5) and w[:4] is (4, 3): for `x[0, 0] * w[:4]` the sizes must be equal"),
        (compared_calls, "rows_of(x) is (6, 20) and w.copy() is (7, 3): for the call the sizes must be equal"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)  # fmt: skip
def test_a_product_or_sum_of_calls_and_slices_is_told_by_the_sizes_in_numpys_message(answer, says):
    told = cause(answer, X, W)
    assert told.startswith(says)
    assert told.endswith("Shapes of the arguments: x (2, 3, 4, 5), w (7, 3).")


def test_a_call_that_fits_when_it_is_turned_is_written_without_brackets_of_its_own():
    def answer(x, w):
        return np.dot(turned(w), turned(w))

    assert "`turned(w) @ turned(w).T` gives (3, 3), `turned(w).T @ turned(w)` gives (7, 7)" in cause(answer, X, W)


def told_of(text, expression, names):
    """Return what is said of a message of NumPy's, for an expression of which only some names are known."""
    origin = Origin(1, expression, "", ast.parse(expression, mode="eval").body, names)
    return shape_error(ValueError(text), origin, lambda x, w: None, (X, W))


@pytest.mark.parametrize(
    ("expression", "given"),
    [("f(x) + w", False), ("f(x) + g(w)", True), ("np.maximum(f(x), g(w))", True), ("np.interp(f(x), g(w))", False),
     ("h(f(x), g(w))", False)],
)  # fmt: skip
def test_shapes_in_a_message_are_given_to_operands_only_where_they_must_be_theirs(expression, given):
    """Not where a known shape is another, nor to arguments of a function that computes with others."""
    told = told_of("operands could not be broadcast together with shapes (9,8) (4,5) ", expression, {"w": W})
    assert ("(9, 8)" in told) == given
    assert told.endswith("Shapes of the arguments: x (2, 3, 4, 5), w (7, 3).")


def test_what_inner_says_is_not_taken_for_a_sum():
    def answer(x, w):
        return np.inner(rows_of(x), turned(w))

    assert "must be equal or 1" not in cause(answer, X, W)


def test_an_axis_behind_a_sum_stands_behind_its_brackets():
    def answer(x, w):
        s = w.sum(axis=1)
        return w - (s + 1)

    assert "`w - (s + 1)[:, None]`" in cause(answer, X, W)


def test_where_the_axis_is_named_in_the_line_it_can_be_kept_there():
    def answer(x, w):
        return w - (w.sum(axis=1) + 1)

    assert "keepdims=True keeps it there" in cause(answer, X, W)


def test_an_error_of_ones_own_about_shapes_is_not_explained():
    def answer(x, w):
        raise ValueError("f(x) and g(w) do not fit")

    assert cause(answer, X, W) == ""


def test_the_sizes_in_messages_are_those_of_numpy():
    for left, right in (((2, 3), (4, 5)), ((3,), (4, 5)), ((2, 3), (4,)), ((6, 2, 3), (4, 5)), ((6, 2, 3), (6, 4, 5))):
        with pytest.raises(ValueError) as raised:  # noqa: PT011  (the text is what is tested)
            np.ones(left) @ np.ones(right)
        assert inner_sizes(str(raised.value)) == (3, 4)
    for left, right in (((2, 3), (4, 5)), ((3,), (4, 5)), ((2, 3), (4,))):
        for operation in (np.dot, np.add):
            with pytest.raises(ValueError) as raised:  # noqa: PT011
                operation(np.ones(left), np.ones(right))
            assert shapes_in(str(raised.value)) == (left, right)
    assert inner_sizes("no message of NumPy's") is shapes_in("nor this") is None
