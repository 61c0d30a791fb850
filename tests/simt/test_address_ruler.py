"""The address ruler and the two walks count as the executor does, and as the known formulas say."""

import math

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.show.address_ruler import both_counts, linear
from course_lib.simt.show.walks import walk_counts
from tests.figures.pages import read_svg, svg_texts
from tests.simt import kernels, reports


@pytest.mark.parametrize("stride", range(34))
def test_sectors_and_wavefronts_follow_their_formulas_for_every_stride_and_offset(stride):
    for offset in range(33):
        for size in (1, 2, 4, 8):
            moved, turns = both_counts(linear(stride, offset, size))
            assert moved.sectors == len({(offset + stride * k) * size // 32 for k in range(32)})
            if size == 4:
                assert turns.wavefronts == (math.gcd(stride, 32) if stride else 1)
            if size == 8 and stride % 2:
                assert turns.wavefronts == 2


@pytest.mark.parametrize(("stride", "offset", "sectors"), [(1, 0, 4), (1, 1, 5), (8, 0, 32), (0, 5, 1), (2, 0, 8)])
def test_the_static_ruler_states_both_counts(stride, offset, sectors):
    made = simt.address_ruler(stride, offset)
    word = "sector" if sectors == 1 else "sectors"
    assert f"In global memory: {sectors} {word}, {32 * sectors:,} bytes moved" in made.static.alt
    assert any(t.startswith(f"{sectors} {word} of 32 bytes") for t in svg_texts(read_svg(made.static.src)))
    assert made.html == simt.address_ruler(stride, offset).html
    assert made.static.drawn[0] <= 400


@pytest.mark.parametrize(
    ("given", "error"),
    [((-1, 0, 4), ValueError), ((34, 0, 4), ValueError), ((1, 33, 4), ValueError), ((1, 0, 3), ValueError),
     ((1.5, 0, 4), TypeError)],
)  # fmt: skip
def test_what_does_not_fit_on_the_ruler_is_refused(given, error):
    with pytest.raises(error, match=r"must be|whole"):
        simt.address_ruler(*given)


def test_a_kernels_access_begins_where_it_was_recorded():
    report = reports.transpose()
    made = report.access_map(array="tile", way="load")
    assert made.data["way"] == "tile"
    assert (made.data["stride"], made.data["columns"]) == (32, 32)
    assert "take 32 wavefronts" in made.static.alt
    made = report.access_map(array="A")
    assert (made.data["way"], made.data["stride"], made.data["offset"]) == ("recorded", 1, 0)
    assert made.data["address"] == [4 * k for k in range(32)]


def test_a_padded_tile_gives_the_addresses_that_the_sliders_formula_gives():
    for kernel in (kernels.transpose_tile, kernels.transpose_padded):
        data = reports.transpose(kernel).access_map(array="tile", way="load").data
        where = [data["start"] + (r * data["columns"] + c) * data["itemsize"]
                 for r, c in zip(data["row"], data["column"], strict=True)]  # fmt: skip
        assert {(a - b) % 128 for a, b in zip(where, data["address"], strict=True)} == {0}


def test_an_access_with_two_rows_in_a_warp_keeps_its_own_addresses():
    report = reports.product()
    data = report.access_map(array="A").data
    assert len(set(data["address"])) == 2
    assert data["stride"] == 1


def test_an_access_that_is_not_there_is_refused_with_a_list():
    with pytest.raises(ValueError, match="There are: line"):
        reports.transpose().access_map(array="B")


@pytest.mark.parametrize(("size", "row", "column"), [(2, 2, 32), (4, 4, 32), (8, 8, 32)])
def test_a_row_is_moved_in_its_own_bytes_and_a_column_in_a_sector_for_each_element(size, row, column):
    assert walk_counts("row", size) == (row, 32 * size)
    assert walk_counts("column", size) == (column, 32 * size)
    assert f"{np.float64(column / row):.3g} times as many" in simt.walks(size).static.alt


def test_a_walk_of_other_elements_is_refused():
    with pytest.raises(ValueError, match="2, 4 or 8"):
        simt.walks(3)
