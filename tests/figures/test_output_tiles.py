"""Tiles are numbered by a kernel's own arithmetic, which must give each output to one block; seams are found."""

import numpy as np
import pytest

from course_lib import figures
from tests.figures.pages import read_svg, svg_texts


def numbers(made):
    return [t for t in svg_texts(read_svg(made.src)) if t.isdigit()]


def test_tiles_are_numbered_along_the_rows_as_in_the_lecture():
    made = figures.tile_numbers(20, 16, 4)
    assert numbers(made) == [str(k) for k in range(20)]
    assert made.alt.startswith("5 rows of 4 tiles cover the outputs (20, 16): blockIdx.y = 0 to 19.")
    assert "W_grid = 4, y = 4·row + column" in made.alt
    assert "Hatched" not in made.alt


def test_tiles_that_stand_out_are_hatched_and_said():
    made = figures.tile_numbers(18, 14, 4)
    assert len(numbers(made)) == 20
    assert "Hatched threads have no output." in made.alt


def test_another_order_is_drawn_where_its_arithmetic_says():
    down = figures.tile_numbers(8, 12, 4, where=lambda y: (y % 2 * 4, y // 2 * 4))
    assert down.src != figures.tile_numbers(8, 12, 4).src
    assert "The numbers run along the rows" not in down.alt


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (lambda y: (y // 2 * 4, y % 2 * 4), r"no block does output \(0, 8\)"),
        (lambda y: (0, y % 3 * 4), r"blocks 0 and 3 both do output \(0, 0\)"),
        (lambda y: (y // 3 * 4, y % 3 * 4 - 4), r"column of where\(0\)"),
        ({0: (0, 0)}.get, r"where\(1\) is None; it must be \(row, column\)"),
    ],
)
def test_wrong_arithmetic_is_refused_with_the_output_and_the_blocks(where, message):
    with pytest.raises(ValueError, match=message):
        figures.tile_numbers(8, 12, 4, where=where)


@pytest.mark.parametrize(("sizes", "message"), [((0, 4, 4), "H_out"), ((65, 64, 4), "at most 4,096 are drawn")])
def test_sizes_that_cannot_be_drawn_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        figures.tile_numbers(*sizes)


def broken(n=28, tile=8, lost=2):
    """Return (y, right): right but for the last `lost` rows and columns of each tile."""
    right = np.arange(n * n, dtype=float).reshape(n, n)
    seam = np.arange(n) % tile >= tile - lost
    return np.where(seam[:, None] | seam, right + 1, right), right


@pytest.mark.parametrize("lost", [1, 2, 4])
def test_the_seams_of_missing_halos_are_found_with_their_width(lost):
    y, right = broken(lost=lost)
    said = figures.error_image(y, right, 8).alt
    wrong = int((y != right).sum())
    assert said.startswith(f"{wrong} of 784 outputs (28, 28) are wrong")
    assert ("the last row or column" if lost == 1 else f"the last {lost} rows or columns") in said


def test_errors_everywhere_and_nowhere_are_told_apart_and_nan_is_wrong():
    y, right = broken(8, 4)
    assert "All 64 outputs" in figures.error_image(right, right, 4).alt
    assert "reach through whole tiles" in figures.error_image(right + 1, right, 4).alt
    y = right.copy()
    y[3, 3] = np.nan
    assert figures.error_image(y, right, 4).alt.startswith("1 of 64 outputs")


@pytest.mark.parametrize(
    ("y", "right", "message"),
    [
        (np.zeros((4, 4)), np.zeros((4, 5)), "both must be one map"),
        (np.zeros((0, 4)), np.zeros((0, 4)), "not empty"),
        (np.zeros((4, 4)), np.full((4, 4), np.nan), "right holds NaN"),
    ],
)
def test_what_is_no_pair_of_maps_is_refused(y, right, message):
    with pytest.raises(ValueError, match=message):
        figures.error_image(y, right, 4)
