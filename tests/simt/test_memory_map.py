"""Memory maps draw what was touched and moved, and say it in words that follow from the numbers."""

import numpy as np
import pytest

from course_lib.figures.picture import MAX_BYTES
from course_lib.simt.show.map_numbers import GlobalAccess, SharedAccess, label
from course_lib.simt.show.map_sheet import IN_VAIN, TOUCHED, pick
from course_lib.simt.show.memory_map import choose, memory_map, memory_maps
from tests.figures.pages import HOSTILE, read_html, read_svg, svg_texts
from tests.simt import kernels, reports
from tests.simt.reports import access, report_with

t = np.arange(32)
COALESCED = access("A", (128, 128), 5 * 128 + 32 + t)
COLUMN = access("A", (128, 128), 128 * t + 3)
BROADCAST = access("A", (128, 128), np.zeros(32) + 5)
TWO_ROWS = access("A", (128, 128), np.repeat([0, 128], 16) + 5)
MISALIGNED = access("x", (1000,), t + 1)
STRIDE_2 = access("x", (1000,), 2 * t)
IMAGES = access("x", (4, 3, 28, 28), 28 * 28 * 4 + 28 * (t // 8) + t % 8 + 2)
FORTRAN = access("A", (64, 64), 64 * t, strides=(4, 256))
DOUBLES = access("x", (1000,), t, itemsize=8)
BYTES = access("x", (1000,), t, itemsize=1)
SMALL = access("w", (5,), t % 5)
EVERY_GLOBAL = {
    "coalesced": (COALESCED, 4, 1.0), "column": (COLUMN, 32, 0.125), "broadcast": (BROADCAST, 1, 0.125),
    "two rows": (TWO_ROWS, 2, 0.125), "misaligned": (MISALIGNED, 5, 0.8), "stride 2": (STRIDE_2, 8, 0.5),
    "images": (IMAGES, 8, 0.5), "fortran": (FORTRAN, 4, 1.0), "float64": (DOUBLES, 8, 1.0), "int8": (BYTES, 1, 1.0),
    "small": (SMALL, 1, 0.625),
}  # fmt: skip


def tile(width, element, **options):
    return access("tile", (32, width), element, space="shared", **options)


EVERY_SHARED = {
    "column": (tile(32, 32 * t), 32), "padded column": (tile(33, 33 * t), 1), "row": (tile(32, 64 + t), 1),
    "broadcast": (tile(32, 0 * t + 7), 1), "stride 2": (tile(32, 2 * t), 2), "float64": (tile(32, t, itemsize=8), 2),
    "float64 column": (tile(32, 32 * t, itemsize=8), 32), "float16": (tile(32, t, itemsize=2), 1),
}  # fmt: skip


def picture_of(one, **options):
    return memory_map(report_with(one), **options)


def texts(picture):
    return svg_texts(read_svg(picture.src))


@pytest.mark.parametrize("name", EVERY_GLOBAL)
def test_sectors_and_their_use_are_those_of_the_addresses(name):
    one, sectors, share = EVERY_GLOBAL[name]
    n = GlobalAccess(one, 0)
    assert (n.sectors, n.share) == (sectors, share)
    assert len(n.touched) == sectors
    first = "1 sector" if sectors == 1 else f"{sectors} sectors"
    assert f"in {first} of 32 bytes: {100 * share:g} % of what is moved is used." in n.finding
    assert f"What is moved: {first}, {32 * sectors:,} bytes" in texts(picture_of(one))


@pytest.mark.parametrize("name", EVERY_SHARED)
def test_wavefronts_and_words_are_those_of_the_banks(name):
    one, wavefronts = EVERY_SHARED[name]
    n = SharedAccess(one, 0)
    assert n.wavefronts == wavefronts
    assert n.conflicts == wavefronts - n.groups
    assert ("no bank conflict" in n.finding) == (n.conflicts == 0)
    drawn = texts(picture_of(one))
    assert "words wanted" in drawn
    assert drawn.count("bank") == 1
    assert ("a bank must give several words" in drawn) == (n.conflicts > 0)


@pytest.mark.parametrize("one", [v[0] for v in (*EVERY_GLOBAL.values(), *EVERY_SHARED.values())])
def test_a_map_is_small_has_the_same_bytes_every_time_and_states_its_finding(one):
    picture = picture_of(one)
    assert len(picture.src) < MAX_BYTES / 2
    assert picture == picture_of(one)
    assert f"{one.array} {one.shape}" in picture.alt
    assert "of warp 0" in picture.alt
    assert picture.caption.startswith(f"Line {one.line} loads from {one.array}. 32 threads")
    assert picture.width <= 760


def cells(picture, fill):
    """Return how many boxes of a colour a map has, those of the legend left out."""
    paths = read_svg(picture.src).iter("{http://www.w3.org/2000/svg}path")
    return sum(path.get("d").count("M") for path in paths if path.get("fill") == fill)


def test_every_lane_is_written_into_the_element_it_touches_and_into_its_sector():
    drawn = texts(picture_of(COALESCED))
    for lane in range(32):
        assert drawn.count(str(lane)) >= 2, lane
    assert {"[5, :]", "[5, 32]", "[5, 40]", "[5, 48]", "[5, 56]"} <= set(drawn)
    assert "moved, but no lane of the warp uses it" not in drawn


def test_a_column_shows_seven_of_eight_cells_moved_in_vain():
    picture = picture_of(COLUMN)
    assert cells(picture, TOUCHED) == 9 + 32  # nine rows of the array are drawn, and all sectors
    assert cells(picture, IN_VAIN) == 7 * (9 + 32)
    assert "4 sectors would hold them." in picture.caption


def test_a_misaligned_warp_needs_one_sector_more():
    picture = picture_of(MISALIGNED)
    assert "5 sectors" in picture.alt
    assert "4 sectors would hold them." in picture.alt
    assert {"from 0", "from 32"} <= set(texts(picture))


def test_threads_that_want_one_element_stand_in_one_cell():
    drawn = texts(picture_of(TWO_ROWS))
    assert drawn.count("0–15") == drawn.count("16–31") == 2
    assert "What several threads want, up to 16 of them, is moved once." in picture_of(TWO_ROWS).alt
    assert "7×" in texts(picture_of(SMALL))


def test_an_array_with_four_axes_names_its_rows_by_their_index():
    assert {"[1, 1, 0, :]", "[1, 1, 3, :]", "[1, 1, 0, 0]"} <= set(texts(picture_of(IMAGES)))


def test_where_neighbours_in_a_row_are_none_in_memory_only_the_sectors_show_what_is_moved():
    n = GlobalAccess(FORTRAN, 0)
    assert n.base is None
    assert "a sector of 32 bytes begins" not in texts(picture_of(FORTRAN))
    assert "Nothing is moved in vain." in n.finding


def test_a_column_of_an_unpadded_tile_is_one_bank_and_a_padded_one_is_a_diagonal():
    bad, good = picture_of(tile(32, 32 * t)), picture_of(tile(33, 33 * t))
    assert "32 words, 32 of them in bank 0" in bad.alt
    assert "31 bank conflicts" in bad.alt
    assert "1 wavefront, no bank conflict" in good.alt
    assert texts(bad).count("32") == 1 + texts(bad).count("word 32") - 1  # the number of words, bank 32 does not exist
    assert "a row of the array begins" in texts(good)
    np.testing.assert_array_equal(SharedAccess(tile(32, 32 * t), 0).wanted, np.eye(1, 32)[0] * 32)
    np.testing.assert_array_equal(SharedAccess(tile(33, 33 * t), 0).wanted, np.ones(32))


def test_lanes_that_share_a_word_are_named_beside_it():
    drawn = texts(picture_of(tile(32, np.repeat([0, 16], 16))))
    assert {"lanes 0–15", "lanes 16–31", "×"} <= set(drawn)


def test_a_guarded_warp_has_only_its_active_threads():
    picture = picture_of(access("x", (40,), t[:8] + 32, thread=t[:8]))
    assert "8 threads of warp 0 touch 8 elements in 1 sector" in picture.alt


def test_another_warp_of_the_block_can_be_chosen():
    one = access("x", (128,), np.arange(128))
    picture = picture_of(one, warp=2)
    assert "32 threads of warp 2" in picture.alt
    assert "[64]" in texts(picture)
    with pytest.raises(ValueError, match=r"warp is 4; 4 warps of the block take part in line 7: 0 to 3"):
        picture_of(one, warp=4)


def test_a_line_an_array_or_a_way_chooses_the_access_and_the_worst_global_load_is_the_default():
    accesses = [
        access("A", (64, 64), t, line=3), access("B", (64, 64), 64 * t, line=3),
        access("C", (64, 64), t, line=5, way="store"),
        tile(32, t, line=4),
    ]  # fmt: skip
    report = report_with(*accesses)
    assert choose(report).array == "B"
    assert choose(report, line=3, array="A") is accesses[0]
    assert choose(report, way="store") is accesses[2]
    assert choose(report, line=4).space == "shared"
    assert memory_map(report, line=5).caption.startswith("Line 5 stores to C.")
    with pytest.raises(ValueError, match=r"fits line 9\. There are: line 3 load A; line 3 load B; line 5 store C"):
        choose(report, line=9)
    with pytest.raises(ValueError, match="It has none at all"):
        choose(report_with())


def test_a_kernel_without_global_loads_shows_what_it_has():
    store, shared = access("C", (64,), t, way="store"), tile(32, t)
    assert choose(report_with(shared, store)) is store
    assert choose(report_with(shared)) is shared


def test_the_stepper_has_a_frame_of_one_size_for_each_access_and_rests_on_the_worst():
    report = report_with(COALESCED, access("B", (128, 128), 128 * t, line=9), tile(33, 33 * t))
    walk = memory_maps(report)
    assert len(walk.frames) == 3
    assert walk.static == 1
    assert len({(f.width, f.height) for f in walk.frames}) == 1
    assert memory_maps(report_with(COALESCED)).caption.startswith("Line 7 loads from A")


def test_a_stepper_of_very_many_accesses_is_cut_and_keeps_the_worst():
    many = [tile(33, 33 * t, line=n) for n in range(20)]
    walk = memory_maps(report_with(*many, access("B", (128, 128), 128 * t, line=30)))
    assert 5 < len(walk.frames) < 20
    assert walk.title.endswith(f", {len(walk.frames)} of 21")
    assert "B" in walk.frames[walk.static].alt.split()[3]
    assert len(walk.html) < 400_000


def test_maps_of_real_reports_agree_with_their_counters():
    report = reports.transpose()
    load, store = (choose(report, array=name) for name in "AC")
    for access_, counted in ((load, report.total.global_load_sectors), (store, report.total.global_store_sectors)):
        assert 16 * sum(GlobalAccess(access_, warp).sectors for warp in range(32)) == counted  # 16 blocks alike
    tile_load = choose(report, array="tile", way="load")
    assert 16 * sum(SharedAccess(tile_load, w).conflicts for w in range(32)) == report.total.shared_load_conflicts
    assert "31 bank conflicts" in memory_map(report, array="tile", way="load").alt
    padded = memory_map(reports.transpose(kernels.transpose_padded), array="tile", way="load")
    assert "no bank conflict" in padded.alt


def test_the_naive_product_shows_that_half_a_warp_wants_one_element():
    picture = reports.product().memory_map()
    assert picture.alt.startswith("Memory map of A (64, 64), line ")
    assert (
        "32 threads of warp 0 touch 2 elements in 2 sectors of 32 bytes: 12.5 % of what is moved is used."
        in picture.alt
    )


def test_hostile_names_and_source_lines_stay_text():
    picture = memory_map(report_with(access(HOSTILE, (64,), t), text=HOSTILE))
    assert read_html(picture.html)[0] == ["figure", "img", "figcaption"]
    assert {e.tag.rpartition("}")[2] for e in read_svg(picture.src).iter()} <= {
        "svg", "title", "desc", "rect", "text", "path", "line", "tspan",
    }  # fmt: skip


def test_a_label_names_one_lane_neighbours_or_how_many():
    assert label([7]) == "7"
    assert label([4, 5, 6]) == "4–6"
    assert label([0, 2, 4]) == "3×"


def test_rows_are_left_out_where_there_are_too_many_and_never_for_one_alone():
    assert pick([0, 1, 2], 3, 9) == [0, 1, 2]
    assert pick([0, 2], 3, 9) == [0, 1, 2]
    assert pick([5], 100, 9) == [None, 5, 6, None]
    assert pick(list(range(32)), 32, 5) == [0, 1, 2, None, 30, 31]


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 1000])
@pytest.mark.parametrize("stride", [1, 3, 32, 33])
def test_any_stride_and_size_can_be_drawn(n, stride):
    for space in ("global", "shared"):
        for itemsize in (1, 2, 4, 8):
            element = np.arange(min(n, 1024)) * stride
            one = access("x", (n * stride,), element, itemsize=itemsize, space=space)
            read_svg(memory_map(report_with(one)).src)
