"""An array where a number is meant: the message names what was written, how many axes there are, and what to write."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.checks.kernels import IMPORTS

KERNEL = """
@gpu.jit
def kernel(v, z, x, w, many):
    i = cuda.grid(1)
    {}
"""


def refused(statement):
    """Return the message for a statement of a kernel with arrays of one, two, three, four and nine axes."""
    shapes = (8,), (3, 40), (2, 3, 5), (2, 3, 5, 7), (1,) * 9
    source = simt.read(KERNEL.format(statement), "kernel", names={}, imports=IMPORTS, skip=True)
    with pytest.raises(simt.KernelError) as raised:
        simt.run(source, 1, 2, [np.zeros(shape, np.float32) for shape in shapes])
    return str(raised.value).split(": ", 1)[1]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("y = z[i] + v[0]", "z[i] is a whole row (40,), since z has two axes; write z[row, column]."),
        ("y = v[0] / z[i + 1]", "z[i + 1] is a whole row (40,), since z has two axes; write z[row, column]."),
        ("v[i] += z[i]", "z[i] is a whole row (40,), since z has two axes; write z[row, column]."),
        ("z[i] += v[i]", "z[i] is a whole row (40,), since z has two axes; write z[row, column]."),
        ("y = -x[i, 1]", "x[i, 1] is a whole row (5,), since x has three axes; write x[i, j, k]."),
        ("y = x[i] * 2", "x[i] is a whole array (3, 5), since x has three axes; write x[i, j, k]."),
        ("y = x[i][1] * 2", "x[i][1] is a whole row (5,), since x has three axes; write x[i, j, k]."),
        ("y = w[i, 0, 1] * 2", "w[i, 0, 1] is a whole row (7,), since w has four axes; write w[i, j, k, m]."),
        ("y = w[i, 0] * 2", "w[i, 0] is a whole array (5, 7), since w has four axes; write w[i, j, k, m]."),
        ("y = w[i] * 2", "w[i] is a whole array (3, 5, 7), since w has four axes; write w[i, j, k, m]."),
        (
            "y = many[i] * 2",
            f"many[i] is a whole array {(1,) * 8}, since many has 9 axes; write many[...] with an index for each axis.",
        ),
    ],
)
def test_too_few_indices_make_a_row_and_the_message_says_how_many_there_must_be(statement, says):
    assert refused(statement) == says


def test_a_row_that_a_variable_holds_is_named_by_the_subscript_that_took_it():
    says = "z[{}] is a whole row (40,), since z has two axes; write z[row, column]."
    assert refused("row = z[i]\n    y = row * 2") == says.format("i")
    assert refused("row = z[0]\n    if i > 0:\n        row = z[1]\n    y = row * 2") == says.format("1")


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("if z[i] > 0:\n        v[i] = 1", "and an int64 cannot be compared."),
        ("if z[i]:\n        v[i] = 1", "is neither true nor false."),
        ("v[i] = z[i]", "cannot be stored in v."),
        ("y = float32(z[i])", "cannot become a float32."),
        ("y = math.exp(z[i])", "is no number."),
        ("y = max(z[i], float32(0))", "is none."),
        ("cuda.atomic.add(v, 0, z[i])", "is no number."),
    ],
)
def test_a_row_is_named_in_every_other_place_that_wants_a_number(statement, after):
    assert refused(statement).endswith(f"z[i], a whole row (40,) of z (write z[row, column]), {after}")


@pytest.mark.parametrize(
    ("statement", "what", "element"),
    [
        ("y = v + 1", "v, an array (8,) of float32,", "v[i]"),
        ("y = z + 1", "z, an array (3, 40) of float32,", "z[row, column]"),
        ("y = z[:, 0] + 1", "z[:, 0], a part of z,", "z[row, column]"),
        ("y = z[1:][0] + 1", "z[1:][0], a part of z,", "z[row, column]"),
        ("y = v[2:5] + 1", "v[2:5], a part of v,", "v[i]"),
        ("for row in z:\n        y = row + 1", "a part of z, an array (40,) of float32,", "z[row, column]"),
    ],
)
def test_whole_arrays_slices_and_items_are_told_what_an_element_of_them_is(statement, what, element):
    assert refused(statement) == f"{what} is no number that could be computed with. Take an element: {element}."


def test_a_row_that_is_taken_apart_is_not_told_to_be_a_number():
    says = "z[i], an array (40,) of float32, cannot be unpacked into 2 names: its length is 40, a ValueError in Numba."
    assert refused("p, q = z[i]") == says


def test_a_row_may_still_be_given_a_name_and_an_index():
    out, z = np.zeros(2, np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    text = "@gpu.jit\ndef kernel(z, out):\n    i = cuda.grid(1)\n    row = z[i]\n    out[i] = row[2] + z[i][1]\n"
    simt.run(simt.read(text, "kernel", names={}, imports=IMPORTS, skip=True), 1, 2, (z, out))
    np.testing.assert_array_equal(out, [3, 9])
