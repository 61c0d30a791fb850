"""A table of counters says of each launch what its report counts."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.lesson import counts
from tests.simt import kernels

A = np.ones((16, 16), np.float32)


@pytest.fixture(scope="module")
def reports():
    return [simt.run(k, 1, (16, 16), (A, A, A.copy())) for k in (kernels.product_naive, kernels.product_tiled)]


def test_a_row_for_each_launch_and_a_column_for_each_counter(reports):
    made = counts(*reports, sectors_loaded="global_load_sectors", each=lambda r: r.total.flops / 256)
    assert made.columns == ("kernel", "sectors loaded", "each")
    sectors = [f"{r.total.global_load_sectors:,}" for r in reports]
    assert [row[:2] for row in made.rows] == [("product_naive", sectors[0]), ("product_tiled", sectors[1])]


def test_nothing_to_show_is_an_error(reports):
    with pytest.raises(ValueError, match="0 reports and 1 columns"):
        counts(flops="flops")
    with pytest.raises(ValueError, match="2 reports and 0 columns"):
        counts(*reports)
    with pytest.raises(AttributeError, match="no_such_counter"):
        counts(*reports, x="no_such_counter")
