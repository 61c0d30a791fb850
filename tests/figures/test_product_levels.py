"""What a block, a warp and a thread compute, drawn by the sizes of a rung; sizes that fit no launch are refused."""

import pytest

from course_lib import figures
from course_lib.cuda.ladders.gemm import v07_warp_tiles as warps
from tests.figures.pages import read_svg, svg_texts

RUNG = dict(block=(warps.BM, warps.BN), warp=(warps.WM, warps.WN), thread=(warps.TM, warps.TN))


def test_each_level_says_what_it_reads_and_computes():
    made = figures.tile_levels(**RUNG)
    texts = svg_texts(read_svg(made.src))
    assert [t for t in texts if t.startswith("a ") and t.endswith("results")] == [
        "a block: 128 × 128 results", "a warp: 64 × 32 results", "a thread: 8 × 8 results",
    ]  # fmt: skip
    assert [t for t in texts if t.startswith("for one k")] == [
        "for one k: 128 + 128 numbers", "for one k: 64 + 32 numbers", "for one k: 8 + 8 numbers",
    ]  # fmt: skip
    assert [t for t in texts if "multiply-adds" in t] == [
        "16,384 multiply-adds;", "2,048 multiply-adds;", "64 multiply-adds;",
    ]  # fmt: skip
    assert "a warp 64 × 32: 64 + 32 numbers from shared memory" in made.alt


def test_a_thread_of_the_rung_has_its_rows_and_columns_where_the_picture_has_them():
    assert (warps.HALF_M, warps.HALF_N) == (warps.WM // 2, warps.WN // 2)
    assert 32 * warps.TM * warps.TN == warps.WM * warps.WN
    assert warps.THREADS * warps.TM * warps.TN == warps.BM * warps.BN


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"block": (128, 100)}, ValueError, "warps of 64 x 32 do not fill a block of 128 x 100"),
        ({"thread": (8, 4)}, ValueError, "32 threads of 8 x 4 do not fill a warp of 64 x 32: 1024 results against"),
        ({"thread": (1, 64)}, ValueError, "sides must be even and divide each other"),
        ({"warp": 64}, TypeError, r"warp is 64; it must be \(rows, columns\) of a tile"),
        ({"block": (128, 0)}, ValueError, "columns of block"),
    ],
)  # fmt: skip
def test_sizes_that_fit_no_launch_are_refused(changed, error, message):
    with pytest.raises(error, match=message):
        figures.tile_levels(**RUNG | changed)
