"""Lesson 15: kernels right on ragged sizes, counts as the page says, times as it shows, and what follows from them."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu
from course_lib import reference as ops
from course_lib.checks import fft_tolerance
from course_lib.cuda.ladders.conv2d.forward import v03_im2col_gemm, v05_register_tiled
from course_lib.lesson import estimated, issued, measured, memory_ladder, registers
from course_lib.simt.estimate.devices import find_device


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def whole_numbers(seed, *shape):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def launched(kernel, grid, block, *arguments):
    """Run a kernel on host arrays; return what is in the last one."""
    given = [gpu.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[grid, block](*given)
    return gpu.to_host(given[-1])


RAGGED = [(1, 1, 1, 5, 5, 1), (2, 3, 4, 9, 12, 3), (1, 2, 5, 17, 6, 2), (3, 1, 2, 21, 19, 5)]
"""B, C, M, H, W, K: one pixel of output, no multiple of a tile, more tiles than one, more images than one."""


def layer_of(B, C, M, H, W, K):
    x, w = whole_numbers(1, B, C, H, W), whole_numbers(2, M, C, K, K)
    return x, w, ops.conv2d_forward(x, w)[0]


# ---------------------------------------------------------------------------------------------- the basic kernel


@pytest.mark.parametrize("sizes", RAGGED)
@pytest.mark.parametrize("tile", [4, 16])
def test_the_basic_kernel_is_right_at_any_size(lesson, sizes, tile):
    x, w, right = layer_of(*sizes)
    grid = lesson["grid_for"](right, tile)
    np.testing.assert_array_equal(
        launched(lesson["basic"], grid, (tile, tile), x, w, np.full_like(right, np.nan)), right
    )


def test_four_maps_of_8_by_8_make_four_by_four_blocks(lesson, shown):
    assert lesson["grid_for"](np.zeros((1, 4, 8, 8)), 4) == (4, 4, 1)
    assert "4 maps of 8 x 8, tiles of 4 x 4: (4, 4, 1)" in shown


def test_tiles_are_numbered_row_by_row_from_0_to_19(lesson):
    assert lesson["corner"] == {5 * i + j: (4 * i, 4 * j) for i in range(4) for j in range(5)}


def test_outputs_against_the_places_of_a_card(lesson, shown):
    card = find_device("H200")
    assert lesson["outputs"] == {"C1": 4704, "C3": 1600, "C5": 120}
    assert card.sms * card.threads_per_sm == 270_336
    assert ["C1", "4,704", "1.74%", "58"] in lines_of(shown)
    assert ["C3", "1,600", "0.59%", "169"] in lines_of(shown)
    assert ["C5", "120", "0.04%", "2,253"] in lines_of(shown)


def test_a_pixel_is_loaded_by_six_maps_and_up_to_25_windows(lesson, shown):
    assert lesson["plain"].arrays["x"].reuse == pytest.approx(6 * 25 * 784 / 1024)
    assert "loads of each pixel: 114.8 = 6 maps x 19.1 windows" in shown


def test_the_order_of_blocks_moves_the_bytes_from_memory_and_not_the_time(shown):
    found = measured("block order, conv 4->16 k7", card="h200")
    lecture, turned = (found.counters[order] for order in ("maps, tiles, images", "images, tiles, maps"))
    images = 10_000 * 4 * 40 * 40 * 4
    assert images == 256_000_000
    assert 1 <= lecture["memory_bytes_read"] / images < 1.02  # "read from memory once"
    assert 40 < turned["memory_bytes_read"] / lecture["memory_bytes_read"] < 46  # "43 times"
    times = [found.seconds[order] for order in ("maps, tiles, images", "tiles, maps, images", "images, tiles, maps")]
    assert max(times) < 1.03 * min(times)  # "time does not"
    tiles = [min(16 * i + 20 + 2, 40) - 16 * i for i in range(3)]
    assert (tiles, [-(-n // 8) for n in tiles], 40 * 40 // 8) == ([22, 22, 8], [3, 3, 1], 200)
    assert 16 * (3 + 3 + 1) * (22 + 22 + 8) == 5824
    assert pytest.approx(29, abs=0.2) == 5824 / 200  # sectors of rows, of three tiles
    assert turned["memory_bytes_read"] / memory_ladder("H200")[-1][-1] == pytest.approx(2.6e-3, abs=1e-4)
    assert f"{turned['memory_bytes_read'] / 1e6:,.0f}" in shown


def test_every_kernel_on_the_page_agrees_with_lesson_08(shown):
    assert "as lesson 08: False" not in shown
    assert shown.count("as lesson 08: True") == 6
    assert "rounded to whole numbers, is right: True" in shown


# ---------------------------------------------------------------------------------------------- tiles and halos


@pytest.mark.parametrize("sizes", RAGGED)
@pytest.mark.parametrize("tile", [4, 16])
def test_the_tiled_kernel_is_right_at_any_size_and_without_findings(lesson, sizes, tile):
    x, w, right = layer_of(*sizes)
    kernel, grid = lesson["tiled_for"](tile, w), lesson["grid_for"](right, tile)
    np.testing.assert_array_equal(launched(kernel, grid, (tile, tile), x, np.full_like(right, np.nan)), right)
    assert not gpu.simulate(kernel, grid, (tile, tile), x, right.copy()).hazards


def test_a_tile_loads_a_pixel_7_6_times(lesson, shown):
    loads = sum(min(32 - 16 * i, 20) * min(32 - 16 * j, 20) for i in range(2) for j in range(2))
    assert lesson["with_tile"].arrays["x"].reuse == pytest.approx(6 * loads / 1024)
    assert ["tiled", "324", "4,200", "4,200", "7.6"] in lines_of(shown)


def test_without_a_halo_only_the_seams_are_wrong(lesson):
    wrong = lesson["wrong"]
    seams = np.zeros((28, 28), bool)
    seams[12:16], seams[:, 12:16] = True, True
    assert all(np.array_equal(one, seams) for one in wrong[0])
    assert seams.sum() == 208


def test_without_a_halo_one_tile_passes_every_test(lesson):
    x, right = lesson["x"][:, :, :16, :16], ops.conv2d_forward(lesson["x"][:, :, :16, :16], lesson["MASKS"])[0]
    assert right.shape[2:] == (12, 12)
    kernel = lesson["without_halo"]
    np.testing.assert_array_equal(
        launched(kernel, lesson["grid_for"](right, 16), (16, 16), x.copy(), np.zeros_like(right)), right
    )


@pytest.mark.parametrize(
    ("layer", "tile", "formula", "replication"),
    [("C1", 4, 6.25, 19.1), ("C1", 14, 15.1, 19.1), ("C1", 28, 19.1, 19.1), ("C3", 10, 12.8, 12.8), ("C5", 1, 1, 1)],
)
def test_reuse_is_the_formula_and_the_report_and_for_a_whole_map_the_replication(
    lesson, shown, layer, tile, formula, replication
):
    C, H, K, _ = lesson["LAYERS"][layer]
    assert K**2 * tile**2 / (tile + K - 1) ** 2 == pytest.approx(formula, abs=0.05)
    assert ops.replication((1, C, H, H), K) == pytest.approx(replication, abs=0.05)
    row = next(line for line in lines_of(shown) if line[:2] == [layer, str(tile)])
    assert row[2] == row[3] == f"{K**2 * tile**2 / (tile + K - 1) ** 2:.1f}"
    assert row[4] == f"{replication:.1f}"


def test_masks_of_c5_do_not_fit_into_constant_memory(lesson):
    masks = np.ones((120, 16, 5, 5), np.float32)
    assert masks.nbytes == 192_000
    assert 65_536 // 4 // 400 == 40
    with pytest.raises(Exception, match=r"192,000 bytes; constant memory has 65,536"):
        gpu.simulate(
            lesson["tiled_for"](1, masks), (120, 1, 1), (1, 1),
            np.ones((1, 16, 5, 5), np.float32), np.zeros((1, 120, 1, 1), np.float32),
        )  # fmt: skip


# ---------------------------------------------------------------------------------------------- unrolling


@pytest.mark.parametrize("name", ["unroll_elements", "unroll_columns"])
@pytest.mark.parametrize("sizes", RAGGED)
def test_both_ways_to_unroll_write_the_matrix(lesson, name, sizes):
    B, C, _, H, W, K = sizes
    x = whole_numbers(3, B, C, H, W)
    cols = ops.im2col(x, K)
    threads = cols.size if name == "unroll_elements" else B * C * cols.shape[2]
    np.testing.assert_array_equal(launched(lesson[name], -(-threads // 64), 64, x, K, np.full_like(cols, np.nan)), cols)


def test_both_ways_to_unroll_touch_the_same_sectors_and_one_halves_the_instructions(lesson):
    one, other = lesson["elements"].total, lesson["columns"].total
    assert lesson["sectors"][0] == lesson["sectors"][1] == 5670
    assert other.instructions < 0.55 * one.instructions
    assert lesson["elements"].arrays["x"].reuse == lesson["columns"].arrays["x"].reuse == 25 * 784 / 1024


def test_the_detour_is_seven_times_everything_else(lesson, shown):
    assert (lesson["image_bytes"], lesson["output_bytes"], lesson["matrix_bytes"]) == (4096, 18_816, 78_400)
    assert 2 * 78_400 == 156_800
    assert pytest.approx(6.84, abs=0.01) == 156_800 / 22_912
    assert ["together", "22,912", "179,712"] in lines_of(shown)


def test_what_the_page_says_about_the_detours_time(lesson, shown):
    c1, steps = (measured(case, card="h200").seconds for case in
                 ("conv 1->6 k5 forward", "unrolling C1, then the product"))  # fmt: skip
    (*_, l2), (*_, dram) = memory_ladder("H200")[-2:]
    detour = 10_000 * 156_800 / dram
    assert 1e6 * detour == pytest.approx(371, abs=0.5)
    assert 3.5 < detour / c1["v06_specialised"] < 4.5  # "a quarter of the time", "four times the whole run"
    assert 1.8 < detour * dram / l2 / c1["v06_specialised"] < 2.3  # "still twice the last row"
    one, other = (f"{1e6 * steps[way]:,.0f}" for way in ("elements", "columns"))
    assert f"by the library's two kernels: {one} µs by elements, {other} µs by columns" in shown
    real, thought = c1["v03_im2col_gemm"], c1["v04_implicit_gemm"]
    assert 1.8 < real / thought < 2.3  # "twice as long as the kernel below it"
    both = steps["elements, then product"]
    assert f"A difference of {1e6 * (both - thought):,.0f}, and the detour's bytes are 371 of it at most." in shown
    for whole in (real, both):
        assert 6.5 < (whole - thought) / detour < 8  # "at most a seventh"
    like_for_like = steps["elements, then product"] / measured("unrolling C1", card="h200").seconds["implicit"]
    assert 1.45 < like_for_like < 1.55  # "twice becomes one and a half"
    assert f"real unrolling by elements takes {like_for_like:.1f} times as long" in shown
    assert pytest.approx(20e6, rel=0.01) == 256 * 78_400
    assert 10_000 * 25 * 784 == 196_000_000
    assert 10_000 * 25 * 784 * 4 == 784_000_000
    assert find_device("H200").l2_bytes == pytest.approx(60e6, rel=0.05)


def test_the_time_is_made_of_instructions_as_the_page_says(lesson, shown):
    found = issued("conv 1->6 k5 forward")
    unroll, multiply = found["v03_im2col_gemm"]
    (thought,), (by_hand,), generated = found["v04_implicit_gemm"], found["v05b_c1_layer"], found["v06_specialised"][-1]
    assert [round(k.of_a_warp) for k in (unroll, multiply, thought)] == [618, 334, 592]
    assert round(multiply.multiply_adds) == 32
    us = [round(1e6 * k.seconds("H200")) for k in (unroll, multiply, thought)]
    assert (us[0], us[2] - us[1], us[0] + us[1] - us[2]) == (3621, 967, 2654)
    assert "saves 3,621 µs of issuing in the unroller, and pays 967 more" in shown
    seconds = measured("conv 1->6 k5 forward", card="h200").seconds
    both = measured("unrolling C1, then the product", card="h200").seconds["elements, then product"]
    gap = 1e6 * (both - seconds["v04_implicit_gemm"])
    assert f"Together that is 2,654 µs by this estimate, where {gap:,.0f} were measured" in shown
    assert pytest.approx(gap, rel=0.15) == 2654  # "Index arithmetic takes most of this time"
    assert by_hand.multiply_adds / by_hand.of_a_warp == pytest.approx(0.25, abs=0.02)  # "a quarter"
    assert generated.multiply_adds > 0.5 * generated.of_a_warp  # "more than half"
    for number, (called, *_, issuing, memory, arithmetic, took) in enumerate(lesson["floors"]):
        assert issuing > max(memory, arithmetic), called  # "the largest of the three in all rows"
        if called == "tile":
            assert took > 1.5 * issuing  # "the exception"
        elif number < 6:
            assert 0.8 < took / issuing < 1.4, called  # "the measured time follows it"
            assert took > 2 * max(memory, arithmetic), called  # "far above the floors of memory and arithmetic"
    (basic,) = found["v01_basic"]  # an estimate, and no floor: "2,930, 8 % above the 2,703"
    assert [round(1e6 * s) for s in (basic.seconds("H200"), seconds["v01_basic"])] == [2930, 2703]
    assert basic.seconds("H200") / seconds["v01_basic"] == pytest.approx(1.08, abs=0.006)
    (thought,) = (row for row in lesson["floors"] if row[0] == "in thought")
    assert [round(thought[-2]), round(thought[-3])] == [120, 54]


def test_a_tile_gains_a_tenth_and_the_page_says_what_stands_in_its_way(shown):
    seconds, found = measured("conv 1->6 k5 forward", card="h200").seconds, issued("conv 1->6 k5 forward")
    assert 0.05 < 1 - seconds["v02_constant_masks"] / seconds["v01_basic"] < 0.15
    assert [round(found[k][0].of_a_warp) for k in ("v01_basic", "v02_constant_masks")] == [1596, 734]
    threads = registers("conv 1->6 k5 forward")
    assert (threads["v01_basic"], threads["v02_constant_masks"]) == (64, 86)
    assert ["basic", "1,596", "24", "64", "2,703"] in lines_of(shown)
    assert 65_536 // (64 * 256) == 2 * (65_536 // (88 * 256))  # registers come by eight: half as many blocks of a tile


def test_real_unrolling_done_well_is_told_as_it_was_measured(lesson, shown):
    ms = {k: 1e6 * v for k, v in measured("unrolling C1, then the product", card="h200").seconds.items()}
    better = ms["elements, then product"] - ms["columns, then product"]
    assert f"Columns instead of elements: {better:,.0f} µs less" in shown
    thought = measured("conv 1->6 k5 forward", card="h200").seconds["v04_implicit_gemm"]
    assert ["in", "thought", f"{1e6 * thought:,.0f}"] in lines_of(shown)  # the same timing as in the other tables
    assert better > 1500  # index arithmetic, as the page says
    assert ms["columns, then product"] < 0.9 * ms["in thought"]  # "done well, beats our kernel that unrolls in thought"
    assert 0.2 < 1 - ms["columns, then product"] / ms["in thought"] < 0.3  # "about a quarter less"
    assert "% less than unrolling in thought;" in shown
    rungs = {k: 1e6 * v for k, v in measured("conv 1->6 k5 forward", card="h200").seconds.items()}
    assert ms["columns, then product"] < rungs["v01_basic"]  # "does not lose against basic"
    assert ms["columns, then product"] > rungs["v05_register_tiled"]  # "loses against a product with registers"
    assert [round(ms[k], -1) for k in ("product alone", "in thought")] == [1380, 2580]
    assert round(ms["columns"]) == 472
    assert 5 < ms["columns"] / rungs["v06_specialised"] < 5.5  # "does the whole layer five times"
    with_registers = ms["product with registers alone"], ms["columns, then product with registers"]
    told = round(with_registers[0]), round(with_registers[1]), round(rungs["v05_register_tiled"])
    assert told == (886, 1359, 1136)  # "Alone it takes 886 µs; with the unroller, 1,359", "against 1,136"
    assert told[2] - told[0] == 250  # "Working out the pixels while loading adds 250"
    assert told[0] + 472 == pytest.approx(told[1], rel=0.005)  # "writing them down and reading them again: 472"
    assert ["registers", "472", "886", "1,359"] in [line[-4:] for line in lines_of(shown)]
    needed = 1e10 * (4 * 1024 + 78_400) / memory_ladder("H200")[-1][-1]
    assert needed == pytest.approx(195, abs=0.6)
    assert v03_im2col_gemm.UNROLLED // (25 * 784) == 816
    assert pytest.approx(64e6, rel=0.01) == 816 * 78_400  # "as many as fill 64 MB"
    assert f"816 images at a time, as many as fill 64 MB: {rungs['v03_im2col_gemm']:,.0f}" in shown
    assert ms["columns, then product, 256 images at a time"] > ms["columns, then product"]  # "L2 does not help it"
    assert "That way has 80 launches" in shown
    assert ms["product alone, 256 images at a time"] > ms["product alone"]
    assert ms["product alone"] < ms["columns, then product"] < ms["elements, then product"]
    assert (
        ms["columns, then product, 256 images at a time"]
        > 2e6 * (measured("conv 1->6 k5 forward", card="h200").seconds["v06_specialised"])
    )  # "No product, however good, can make up for that"
    wide = measured("unrolling 64 -> 64, then the product", card="h200").seconds
    share = [1 - took["product alone"] / took["columns, then product"] for took in (wide, ms)]
    assert share[0] < 0.5  # "a smaller part of the whole than that"
    assert 0 < share[1] - share[0] < 0.12  # "a smaller part here, though not by much"
    assert f"the unroller takes {share[0]:.0%} here, and {share[1]:.0%} on C1" in shown
    saved = [1 - took["columns, then product"] / took["in thought"] for took in (wide, ms)]
    assert abs(saved[0] - saved[1]) < 0.02  # "real unrolling saves as much as on C1"
    ahead = wide["columns, then product with registers"] / wide["in thought, with registers"]
    assert ahead > 1  # "A block with registers ... is ahead again"
    assert f"real unrolling takes {abs(1 - ahead):.0%} more than in thought" in shown
    assert v05_register_tiled.SHAPES[-1][0] == 64  # "covers all 64 maps"


def test_the_detour_and_the_arithmetic_of_a_wide_layer_are_equally_long():
    numbers = 64 * 64 * 9 * 56 * 56
    detour, arithmetic = 8 * numbers / memory_ladder("H200")[-1][-1], 128 * numbers / find_device("H200").float32_peak
    assert detour / arithmetic == pytest.approx(1, abs=0.1)  # "equally long here"
    c1 = 10_000 * 156_800 / memory_ladder("H200")[-1][-1] / (10_000 * 2 * 117_600 / find_device("H200").float32_peak)
    assert c1 == pytest.approx(10.5, abs=1)  # "ten times"


def test_a_full_batch_fills_the_card(shown):
    batches = measured("C1, batch by batch", card="h200").along("v05b_c1_layer")
    each = {B: seconds / B for B, seconds in batches.items()}
    enough = min(B for B in each if each[B] < 1.1 * min(each.values()))
    assert f"From {enough:,} images on" in shown
    assert [f"{enough:,}", f"{7 * enough:,}"] in [line[:2] for line in lines_of(shown)]
    assert -(-270_336 // (7 * 128)) == 302
    assert enough > 3 * 302  # "several fillings"
    assert each[1] > 10 * each[10_000]
    assert 120 * 256 * 8 < 270_336 <= 120 * 256 * 9  # "take every slot with nine images"


def test_five_of_six_kernels_move_the_image_and_its_outputs_only(lesson):
    on_c1, names = lesson["on_c1"], lesson["NAMES"]
    travels = {name: on_c1[name].travels for name in names}
    assert 7.6 < travels.pop("v03_im2col_gemm") / travels["v04_implicit_gemm"] < 8  # "nearly eight times"
    assert all(22_912 <= one < 25_500 for one in travels.values())  # "23 to 25 kB"
    assert on_c1["v04_implicit_gemm"].moves == {"input": 4096, "weights": 600, "output": 18_816}
    assert {k: on_c1["v03_im2col_gemm"].moves[k] for k in ("unrolled, written", "unrolled, read")} == {
        "unrolled, written": 78_400, "unrolled, read": 78_400,
    }  # fmt: skip


@pytest.mark.parametrize("sizes", RAGGED)
def test_the_implicit_product_is_right_at_any_size_and_without_findings(lesson, sizes):
    x, w, right = layer_of(*sizes)
    B, M, H_out, W_out = right.shape
    y = np.full((B, M, H_out * W_out), np.nan, np.float32)
    grid = -(-B * H_out * W_out // 16), -(-M // 16)
    given = (x, w.reshape(M, -1), w.shape[2], W_out, y)
    np.testing.assert_array_equal(launched(lesson["implicit"], grid, (16, 16), *given).reshape(right.shape), right)
    assert not gpu.simulate(lesson["implicit"], grid, (16, 16), *given).hazards


def test_in_thought_the_reuse_is_kept_and_for_real_it_has_become_copies(lesson, shown):
    assert lesson["in_thought"].arrays["x"].reuse == pytest.approx(25 * 784 / 1024)
    assert "loads of each pixel: 19.1, stores: 4,704" in shown
    given = lesson["x"], lesson["MASKS"], np.zeros(6, np.float32), np.zeros((1, 6, 28, 28), np.float32)
    _, product = gpu.simulate_launches(lesson["ladder"]["v03_im2col_gemm"], *given)
    assert product.arrays["cols"].reuse == 1


def test_the_product_does_3_4_times_the_arithmetic(lesson, shown):
    assert lesson["in_thought"].total.flops // 2 == 784 * 16 * 32 == 401_408
    assert "multiply-adds: 401,408 for 117,600 that are needed" in shown
    assert pytest.approx(3.4, abs=0.02) == 401_408 / 117_600


def test_register_tiles_halve_and_quarter_the_shared_loads(shown):
    assert ["unrolled", "in", "thought", "2.00", "1.99"] in lines_of(shown)
    assert ["in", "thought,", "with", "registers", "0.99", "0.50"] in lines_of(shown)


# ---------------------------------------------------------------------------------------------- one layer's kernel


@pytest.mark.parametrize(("name", "block"), [("c1_by_maps", 128), ("c1_by_pixels", (32, 6))])
def test_both_kernels_for_c1_are_right_for_every_image_of_a_batch(lesson, name, block):
    x = whole_numbers(4, 3, 1, 32, 32)
    right, _ = ops.conv2d_forward(x, lesson["MASKS"])
    np.testing.assert_array_equal(launched(lesson[name], (7, 3), block, x, np.full_like(right, np.nan)), right)
    assert not gpu.simulate(lesson[name], (7, 3), block, x, right.copy()).hazards


def test_the_c1_kernel_has_the_lectures_numbers(lesson, shown):
    report = lesson["by_maps"]
    assert report.grid[0] == 7
    assert report.block[0] == 128
    assert report.arrays["tile"].shape == (8, 32)
    assert report.arrays["y"].stores == 7 * 112 * 6
    assert "blocks: 7  threads: 128  tile: (8, 32)" in shown
    assert "threads that compute: 112  sums of each: 6" in shown
    assert "loads of a pixel: 1.75, uses of it in the tile: 10.9" in shown
    assert report.arrays["tile"].reuse == pytest.approx(25 * 112 / 256)


def test_coarsened_the_wrong_way_costs_weights_saves_pixels_and_wins(lesson, shown):
    maps, pixels = lesson["by_maps"].total, lesson["by_pixels"].total
    assert maps.constant_load_requests == 4 * pixels.constant_load_requests == 7 * 4 * 150
    assert 6 * maps.shared_load_requests == pixels.shared_load_requests
    assert maps.constant_load_wavefronts == maps.constant_load_requests  # all lanes want the same weight
    took = measured("two coarsenings of C1", card="h200").seconds  # kept in results/, not timed here
    assert took["c1_by_maps"] < 0.9 * took["c1_by_pixels"]
    assert ["c1_by_maps", "4,200", "700", f"{1e6 * took['c1_by_maps']:,.0f}"] in lines_of(shown)


# ---------------------------------------------------------------------------------------------- the one table


def test_the_table_shows_what_was_counted_predicted_and_measured(lesson, shown):
    c1, expected = measured("conv 1->6 k5 forward", card="h200"), estimated("conv 1->6 k5 forward", card="H200")
    ways = sorted(lesson["NAMES"] | lesson["BY_HAND"])
    assert len(lesson["short"]) == len(ways) == 7
    for called, name in zip(lesson["short"], ways, strict=True):
        k, guess, seconds = lesson["on_c1"][name], expected.get(name), lesson["taken"][name]
        times = [f"{1e6 * guess:,.0f}"] if guess else []
        times += [f"{1e6 * seconds:,.0f}", f"{c1.seconds['cuDNN'] / seconds:.2f}"]
        row = [
            f"{k.flops / 1e6:.2f}", f"{k.travels / 1e3:.0f}", f"{k.intensity:.1f}", f"{k.requests:,.0f}",
            f"{k.sectors:,.0f}", f"{k.reuse:.1f}",
        ]  # fmt: skip
        assert [*called.split(), *times, *row] in lines_of(shown), name
        assert not guess or 0.5 < guess / seconds < 2


def test_what_the_page_reads_from_the_table(lesson):
    on_c1, seconds = lesson["on_c1"], measured("conv 1->6 k5 forward", card="h200").seconds
    assert max(on_c1.values(), key=lambda k: k.sectors).name == "v01_basic"
    assert max(seconds[name] for name in lesson["NAMES"]) == seconds["v03_im2col_gemm"]  # basic is not the slowest
    assert on_c1["v01_basic"].sectors / on_c1["v02_constant_masks"].sectors == pytest.approx(14, abs=0.5)
    assert 0.8 < seconds["v02_constant_masks"] / seconds["v01_basic"] < 1  # "gains little"
    thought, registers = on_c1["v04_implicit_gemm"], on_c1["v05_register_tiled"]
    assert registers.flops / thought.flops == pytest.approx(0.577, abs=0.01)
    assert 2 < seconds["v04_implicit_gemm"] / seconds["v05_register_tiled"] < 2.6
    assert on_c1["v06_specialised"].reuse == 1
    assert on_c1["v03_im2col_gemm"].intensity == pytest.approx(4.5, abs=0.05)
    assert lesson["taken"]["v05b_c1_layer"] < 0.5 * seconds["cuDNN"]  # "less than half of the library's time"


# ---------------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("sizes", RAGGED)
def test_the_inputs_gradient_is_the_basic_kernel_on_a_framed_dy_and_turned_masks(lesson, sizes):
    x, w, right = layer_of(*sizes)
    dy, K = whole_numbers(5, *right.shape), w.shape[2]
    dx, _, _ = ops.conv2d_backward(dy, ops.conv2d_forward(x, w)[1])
    framed = np.pad(dy, ((0, 0), (0, 0), (K - 1, K - 1), (K - 1, K - 1)))
    turned = np.ascontiguousarray(w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    ours = launched(lesson["basic"], lesson["grid_for"](dx, 4), (4, 4), framed, turned, np.full_like(dx, np.nan))
    np.testing.assert_array_equal(ours, dx)


@pytest.mark.parametrize("sizes", RAGGED)
def test_the_masks_gradient_by_atomics_is_right(lesson, sizes):
    x, w, right = layer_of(*sizes)
    dy = whole_numbers(6, *right.shape)
    _, dw, _ = ops.conv2d_backward(dy, ops.conv2d_forward(x, w)[1])
    B, M, H_out, W_out = right.shape
    grid = -(-W_out // 8), -(-H_out // 4), B * M
    np.testing.assert_array_equal(launched(lesson["weights_by_atomics"], grid, (8, 4, 1), x, dy, np.zeros_like(dw)), dw)


def test_27_of_28_additions_wait(lesson, shown):
    assert lesson["atomics"].total.atomic_serialised == 113_400 == 117_600 * 27 // 28
    assert "additions: 117,600, that wait: 113,400" in shown


def test_what_the_page_says_about_four_ways_to_the_masks_gradient():
    ways = measured("conv 1->6 k5 dW", card="h200").seconds
    queued = measured("masks' gradient by atomics", card="h200").seconds["weights_by_atomics"]
    assert 0.75 < queued / ways["v01_basic"] < 1  # "nearly as long as 150 without"
    assert 85 < queued / ways["v02_block"] < 140  # "a hundredth of the time"
    assert 27 < ways["v02_block"] / ways["v06_specialised"] < 37  # "a thirtieth of that"
    assert 10_000 * 4704 == 47_040_000


# ---------------------------------------------------------------------------------------------- Fourier transforms


def test_by_multiplications_the_fft_wins_from_a_mask_of_5_on(lesson, shown):
    by_fft = lesson["by_fft"]
    assert by_fft(1, 32, 5, 6) == pytest.approx(83_968 / 4704)
    assert [K for K in range(1, 9) if by_fft(1, 32, K, 6) < K**2] == [5, 6, 7, 8]
    assert "C1 by FFT: 17.9 multiplications, direct 25; the FFT needs fewer from K = 5 on" in shown


def test_the_transforms_error_is_far_below_its_bound(lesson):
    x, masks, right = lesson["x"], lesson["MASKS"], lesson["right"]
    found, _ = ops.conv2d_fft_forward(x, masks)
    bound = fft_tolerance(np.linalg.norm(x) * np.linalg.norm(masks.reshape(6, -1), axis=1), points=32 * 32).max()
    assert np.abs(found - right).max() < bound / 10
    assert bound < 0.5  # so whole numbers come out right when rounded
    np.testing.assert_array_equal(np.rint(found), right)


@pytest.mark.parametrize(("side", "rival", "low", "high"), [
    (32, "reference", 11, 15), (128, "reference", 9, 11), (128, "fast", 15, 21), (32, "fast", 31, None),
])  # fmt: skip
def test_on_a_processor_the_ways_cross_where_the_page_says(side, rival, low, high):
    found = measured(f"FFT or direct, 1->6, {side} x {side}", card="xeon")
    fft, direct = found.along("transforms"), found.along(rival)
    assert all(fft[K] > direct[K] for K in fft if low >= K)
    assert high is None or all(fft[K] < direct[K] for K in (high, 21))


@pytest.mark.parametrize("side", [32, 128])
def test_on_a_card_the_ways_cross_where_the_page_says(side):
    found = measured(f"FFT or direct, 1->6, {side} x {side}", card="h200")
    fft, direct = found.along("FFT in tiles"), found.along("v05_register_tiled", "v06_specialised")
    assert direct[5] < fft[5]
    assert all(fft[K] < direct[K] for K in fft if K >= 9)
    assert fft[3] < direct[3]  # "at 3 x 3 as well"
    assert direct[3] > direct[5]
    assert max(K for K in fft if K in found.along("v06_specialised")) == 11
    assert all(fft[K] < found.along("cuDNN")[K] for K in fft)


@pytest.mark.parametrize(("tile", "multiplications"), [(2, 16), (4, 36)])
def test_winograd_takes_fewer_multiplications_and_more_roundings(lesson, shown, tile, multiplications):
    assert multiplications == (tile + 2) ** 2
    assert (4 * 9, 16 * 9) == (36, 144)
    error = lesson["winograd_errors"][f"Winograd, {tile} x {tile} outputs"]
    assert 0.6 < error < 1.4 if tile == 2 else 5 < error < 7
    assert f"about {error:.0f} (Winograd, {tile} x {tile} outputs)" in shown


def test_the_spectra_are_a_detour_as_well():
    assert 7 * 32 * 17 * 8 * 2 == 60_928
    together = 10_000 * (60_928 + 22_912) / memory_ladder("H200")[-1][-1]
    assert 1e6 * together == pytest.approx(198, abs=1)
    assert 0.4 < together / measured("conv 1->6 k5 forward", card="h200").seconds["cuDNN"] < 0.6  # "half"


def test_the_library_takes_transforms_for_four_layers_and_loses():
    better_when_told = []
    for case, algorithm in (
        ("1->6 k5", "FFT"), ("6->16 k5", "FFT"), ("1->4 k7", "FFT"), ("4->16 k7", "FFT"), ("64->64 k3", "implicit GEMM")
    ):  # fmt: skip
        found = measured(f"conv {case} forward", card="h200")
        took = found.seconds
        assert found.algorithm == algorithm
        library = min(took["cuDNN"], took["cuDNN FFT tiling"])
        better_when_told.append(took["cuDNN FFT tiling"] < 0.95 * took["cuDNN"])
        if algorithm == "FFT":
            assert 2 < library / took["v06_specialised"] < 9.9  # "by a factor of two to nine"
            assert took["v08_fft"] < 1.3 * took["v06_specialised"]  # "comes close to it there"
        else:
            assert 0.785 < took["cuDNN"] / took["v06_specialised"] < 0.795  # "0.79 of its speed"
            assert 0.45 < library / took["v06_specialised"] < 0.55  # "twice as fast as ours"
    assert sum(better_when_told) == 3  # "faster on three of the five layers"


def test_the_general_product_wins_over_the_general_direct_kernel_and_the_generated_one_over_both(shown):
    gains = []
    for case in ("1->6 k5", "6->16 k5", "1->4 k7", "4->16 k7", "64->64 k3"):
        took = measured(f"conv {case} forward", card="h200").seconds
        assert took["v01_basic"] > took["v05_register_tiled"] > took["v06_specialised"]
        gains.append(took["v01_basic"] / took["v05_register_tiled"])
        assert f"{1e6 * took['v06_specialised']:,.0f}" in shown
    assert 14 < max(gains) < 16  # "up to fifteenfold"


# ---------------------------------------------------------------------------------------------- answers on the page


def test_the_answers_below_are_true():
    assert pytest.approx(8.8, abs=0.05) == 222**2 * 9 / 224**2
    assert pytest.approx(10.6e6, rel=0.01) == 2 * 4 * 27 * 222**2
    assert pytest.approx(13.2e6, rel=0.01) == 4 * (3 * 224**2 + 64 * 222**2)
    arithmetic, detour = (
        2 * 27 * 64 * 222**2 / find_device("H200").float32_peak,
        2 * 4 * 27 * 222**2 / memory_ladder("H200")[-1][-1],
    )
    assert detour / arithmetic == pytest.approx(1, abs=0.1)  # "about as long again"
    card = find_device("H200")
    assert card.float32_peak / card.bandwidth / 1e9 == pytest.approx(14, abs=0.5)
    assert 9 * 64 / 100 == 5.76
    assert 784 * 150 == 117_600


def test_without_a_halo_and_a_mask_of_3_outputs_14_and_15_are_wrong(lesson):
    x, w = whole_numbers(7, 1, 1, 32, 32) + 10, np.ones((1, 1, 3, 3), np.float32)
    right, _ = ops.conv2d_forward(x, w)
    kernel = lesson["without_halo_for"](16, w)
    ours = launched(kernel, lesson["grid_for"](right, 16), (16, 16), x, np.zeros_like(right))
    rows = np.flatnonzero((ours != right)[0, 0].all(axis=1))
    assert rows.tolist() == [14, 15]
    assert not (ours != right)[0, 0, 16:, 16:].any()


@gpu.jit
def by_rows(x, w, y):
    """The second thing to try: `basic` with the tile's rows from blockDim.y."""
    tiles_in_a_row = (y.shape[3] + cuda.blockDim.x - 1) // cuda.blockDim.x
    m, n = cuda.blockIdx.x, cuda.blockIdx.z
    h = cuda.blockIdx.y // tiles_in_a_row * cuda.blockDim.y + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles_in_a_row * cuda.blockDim.x + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        total = float32(0)
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    total += x[n, c, h + p, v + q] * w[m, c, p, q]
        y[n, m, h, v] = total


def test_blocks_of_32_by_8_ask_for_fewer_sectors_and_requests(lesson):
    x, w, right = lesson["x"], lesson["MASKS"], lesson["right"]
    np.testing.assert_array_equal(launched(by_rows, (6, 4, 1), (32, 8), x, w, np.zeros_like(right)), right)
    rows, square = gpu.simulate(by_rows, (6, 4, 1), (32, 8), x, w, np.zeros_like(right)).total, lesson["plain"].total
    assert rows.global_load_requests == square.global_load_requests
    assert rows.global_load_sectors / square.global_load_sectors == pytest.approx(7 / 8, abs=0.02)
