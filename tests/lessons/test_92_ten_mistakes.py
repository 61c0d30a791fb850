"""Page 92: each mistake gets its finding, does to the result what the page says, and its repair gets none."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import simt

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SCRIPT = (NOTEBOOKS / "92_ten_mistakes.py").read_text(encoding="utf-8")
TILES = (16, 16)


# kernel, grid, block, input, shape of the output, what comes out if it is right, kind of the first finding
WRONG = {
    1: ("no_guard", 4, 256, "flat", 784, lambda x: 1 - x, "out of bounds"),
    2: ("negative", (1, 1), TILES, "digit", (28, 28), lambda x: 1 - x, "never written"),
    3: ("swapped", (4, 2), TILES, "pair", (28, 56), lambda x: 1 - x, "never written"),
    4: ("doubled", (2, 2), TILES, "digit", (28, 28), lambda x: 1 - x, "float64"),
    5: ("count", 4, 256, "flat", None, lambda x: [(x > 0).sum()], "race"),
    6: ("mirror", 28, 56, "pair", (28, 56), lambda x: x[:, ::-1], "race"),
    7: ("mirror_inside", 28, 64, "pair", (28, 56), lambda x: x[:, ::-1], "barrier not reached"),
    8: ("running_sum", 1, 64, "ones", 64, np.cumsum, "race"),
    9: ("column_ink", 2, 32, "pair", 56, lambda x: x.sum(axis=0), "unwritten memory"),
    10: ("transpose", 1, (32, 32), "framed", (32, 32), lambda x: x.T, "bank conflicts"),
}
RIGHT = {
    1: ("guarded", 4, 256), 2: ("negative", (2, 2), TILES), 3: ("negative", (4, 2), TILES),
    4: ("negative", (2, 2), TILES), 5: ("count_all", 4, 256), 6: ("mirror_waiting", 28, 56),
    7: ("mirror_outside", 28, 64), 8: ("running_sum_twice", 1, 64), 9: ("column_ink_once", 2, 32),
    10: ("transpose_padded", 1, (32, 32)),
}  # fmt: skip
RIGHT_BY_LUCK = {1, 4, 6, 7, 8, 10}


def launch(lesson, number, kernel, grid, block):
    """Run a kernel on the input of a mistake; return its report, and whether the result is right."""
    *_, given, shape, wanted, _ = WRONG[number]
    x = lesson[given]
    out = np.zeros(1, np.int32) if shape is None else simt.empty(shape)
    report = simt.run(lesson[kernel], grid, block, (x, out), on_error="collect")
    made = out if shape is None else out.numbers
    return report, np.allclose(made, wanted(x), rtol=1e-5)


@pytest.mark.parametrize("number", WRONG)
def test_each_mistake_has_its_finding(lesson, shown, number):
    kernel, grid, block, *_, kind = WRONG[number]
    report, right = launch(lesson, number, kernel, grid, block)
    first = [*report.hazards, *report.advice][0]
    assert first.kind == kind
    assert right == (number in RIGHT_BY_LUCK)
    said = re.sub(r"\bline \d+\b", "line", f"{first.message} ")  # lines are counted from a cell's top there
    assert said in re.sub(r"\bline \d+\b", "line", shown)


@pytest.mark.parametrize("number", RIGHT)
def test_each_repair_is_right_and_has_no_finding(lesson, number):
    report, right = launch(lesson, number, *RIGHT[number])
    assert right
    assert not report.hazards + report.advice


def test_the_page_counts_those_that_were_right_by_luck(shown):
    assert "Six of the ten gave the right result" in SCRIPT
    assert len(RIGHT_BY_LUCK) == 6
    assert shown.count("No hazards, no advice.") == len(RIGHT)


def test_every_mistake_ends_with_how_to_recognise_it():
    parts = re.split(r"(?m)^# ## (?=\d+\. )", SCRIPT)[1:]
    assert [int(part.split(".")[0]) for part in parts] == list(WRONG)
    assert all(part.count("**How to recognise it:**") == 1 for part in parts)


def test_the_symptoms_name_all_ten():
    table = SCRIPT[SCRIPT.index("# | what you see") : SCRIPT.index("# A **launch**")]
    assert {int(n) for n in re.findall(r"(?:\| |, )(\d+) ", table)} == set(WRONG)


def test_no_kernel_of_the_page_is_launched():
    assert not re.search(r"\w\[[^\]]+\]\(", re.sub(r"`[^`]*`", "", SCRIPT.split("# %%", 1)[1]))
    assert "gpu.simulate(" not in SCRIPT.replace("`gpu.simulate(...", "")


def test_swapped_axes_are_right_on_a_square_and_cut_off_at_column_32(lesson):
    np.testing.assert_array_equal(lesson["square"].numbers, 1 - lesson["digit"])
    written = ~np.isnan(lesson["wide"].numbers)
    np.testing.assert_array_equal(np.flatnonzero(written.all(axis=0)), np.arange(2 * 16))
    assert not written[:, 32:].any()
    assert [h.kind for h in lesson["reports"]["28 x 28"].advice] == ["uncoalesced"] * 2
    assert all("use 25% of the bytes" in h.message for h in lesson["reports"]["28 x 28"].advice)


def test_one_block_of_16_leaves_528_pixels(lesson):
    out = simt.empty((28, 28))
    simt.run(lesson["negative"], (1, 1), TILES, (lesson["digit"], out), on_error="collect")
    assert np.isnan(out.numbers).sum() == 28 * 28 - 16 * 16 == 528


def test_an_early_warp_leaves_24_columns_of_the_mirror(lesson, shown):
    empty = np.isnan(lesson["unlucky"]).all(axis=0)
    np.testing.assert_array_equal(np.flatnonzero(empty), np.arange(56 - 32))
    np.testing.assert_array_equal(lesson["unlucky"][:, 24:], lesson["pair"][:, ::-1][:, 24:])
    assert "its left 24 columns empty" in shown


def test_an_early_warp_spoils_a_scan_and_leaves_its_total(lesson, shown):
    s = [1] * 64
    for d in (1, 2, 4, 8, 16, 32):
        for first in (0, 32):
            old = list(s)  # a warp reads, then writes
            for t in range(max(first, d), first + 32):
                s[t] = old[t] + old[t - d]
    np.testing.assert_array_equal(lesson["early"], s)
    assert (s[:32], s[32], s[63]) == (list(range(1, 33)), 49, 64)
    assert "it jumps from 32 to 49 at the 33rd number, reaches 64 at the 48th" in shown


def test_the_count_of_ink_is_107_and_one_is_left(lesson, shown):
    assert (lesson["flat"] > 0).sum() == 107
    assert "this time: 1\n" in shown
    assert "107 pixels" in shown


def test_the_notebook_shows_no_error():
    notebook = nbformat.read(NOTEBOOKS / "92_ten_mistakes.ipynb", as_version=4)
    assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"]
