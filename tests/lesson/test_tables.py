"""A table is read by eyes, by screen readers and by nbval."""

import numpy as np
import pytest

from course_lib.lesson import table

ROWS = [("dense", 3_906_250_000, 0.5), ("shared", 25, 1 / 3)]
COLUMNS = ["layer", "weights", "share"]


def test_text_is_aligned_with_numbers_on_the_right_and_grouped():
    assert repr(table(ROWS, COLUMNS, caption="Two layers", formats={"share": ".1%"})) == (
        "Two layers\n"
        "layer         weights  share\n"
        "------  -------------  -----\n"
        "dense   3,906,250,000  50.0%\n"
        "shared             25  33.3%"
    )


def test_html_has_header_cells_and_a_frame_that_scrolls_by_keyboard():
    html = table(ROWS, COLUMNS, caption="Two <layers>").html
    assert html.count('<th scope="col"') == 3
    assert html.count("<td") == 6
    assert 'role="region" tabindex="0" aria-label="Two &lt;layers&gt;" style="overflow-x:auto"' in html
    assert html.count("text-align:right") == 4 + 2
    assert 'aria-label="Table: layer, weights, share"' in table(ROWS, COLUMNS).html


def test_a_folded_output_does_not_give_its_numbers_away():
    """JupyterLab writes the first line of a folded output beside the three dots."""
    assert table(ROWS, COLUMNS).html.splitlines()[0].endswith('style="overflow-x:auto">')


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (1234567, "1,234,567"),
        (np.int32(1234), "1,234"),
        (0.123456, "0.1235"),
        (np.float32(0.5), "0.5"),
        (np.array(7), "7"),
        (True, "yes"),
        (np.bool_(False), "no"),
        (None, ""),
        ((2, 3), "(2, 3)"),
        ("two\n words", "two words"),
    ],
)
def test_a_cell_is_told_by_its_kind(cell, told):
    assert table([[cell]], ["x"]).rows == ((told,),)


@pytest.mark.parametrize("given", [([["$Y$"]], ["x"]), ([[1]], ["$x$"])])
def test_a_formula_that_nobody_would_draw_is_refused(given):
    with pytest.raises(ValueError, match=r"has a \$ in '\$[Yx]\$'; its text is shown as it is"):
        table(*given)
    with pytest.raises(ValueError, match="has a"):
        table([[1]], ["x"], caption="of $x$")


def test_a_dict_of_columns_is_a_table_too():
    assert table({"n": [1, 2], "loss": [0.5, None]}).text == "n  loss\n-  ----\n1   0.5\n2"


def test_sides_follow_the_cells_unless_they_are_given():
    assert table([("a", 1, True, None)], list("abcd")).sides == "lrll"
    assert table([("a", 1)], ["a", "b"], align="rc").sides == "rc"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(rows=[(1, 2), (1,)], columns=["a", "b"]), "row 1 has 1 cells, there are 2 columns: a, b"),
        (dict(rows={"a": [1], "b": [1, 2]}), r"the columns have lengths \{'a': 1, 'b': 2\}"),
        (dict(rows=[(1, 2)]), "the table has no columns"),
        (dict(rows=[(1, 2)], columns=["a", "b"], align="r"), "align is 'r'"),
        (dict(rows=[(1, 2)], columns=["a", "b"], align="rx"), "align is 'rx'"),
        (dict(rows=[(1, 2)], columns=["a", "b"], formats={"c": ".2f"}), r"formats names \['c'\]; the columns are a, b"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        table(**arguments)
