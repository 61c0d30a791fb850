"""Before unrolling is timed, each way of doing it is compared with another one, and a matrix with gaps is noticed."""

import pytest

from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice
from course_lib.simt.machine import HazardFound
from tools import convolution_cases

pytestmark = pytest.mark.skipif(choice().device != SIMT, reason="tiny sizes, for the SIMT executor")

LAYER = (3, 2, 6, 6), (4, 2, 3, 3), 1, 2
"""The last of the two chunks is half a chunk."""


def test_the_parts_of_a_layer_are_timed_whole_in_chunks_and_each_alone():
    assert list(convolution_cases.unrolled(*LAYER)) == [
        "in thought",
        "elements, then product",
        "columns, then product",
        "product alone",
        "columns, then product, 2 images at a time",
        "product alone, 2 images at a time",
        "elements",
        "columns",
    ]
    assert not [name for name in convolution_cases.unrolled(*LAYER[:3]) if "at a time" in name]


@pytest.mark.parametrize("kernel", ["_im2col", "_im2col_by_windows", "_rows_times_cols"])
def test_a_kernel_that_leaves_something_out_is_not_timed(kernel, monkeypatch):
    whole = getattr(convolution_cases, kernel)

    class Shorter:
        def __getitem__(self, configuration):
            grid, block = configuration
            fewer = (grid[0] - 1, *grid[1:]) if isinstance(grid, tuple) else grid - 1
            return whole[fewer, block] if (fewer[0] if isinstance(fewer, tuple) else fewer) else lambda *arguments: None

    monkeypatch.setattr(convolution_cases, kernel, Shorter())
    with pytest.raises((AssertionError, HazardFound), match=r"then product|nobody has written"):
        convolution_cases.unrolled(*LAYER)
