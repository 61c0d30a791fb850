"""Lesson 14: products of any size, counted rung by rung as the page says, and bounded and measured as it shows."""

import json

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.ladders import gemm
from course_lib.figures.product_tiles import product_tile
from course_lib.lesson import measured, memory_ladder, microbench, registers
from course_lib.lesson.measurements import results_folder

RUNG = {rung.number: rung for rung in gemm.LADDER}
SMALL, LARGE = (measured(f"gemm {n}", card="h200") for n in (1024, 4096))
OWN = measured("lesson 14's own kernels", card="h200")
PEAK = simt.roofline("H200").peak


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def matrices(M, N, K, seed=0):
    rng = np.random.default_rng(seed)
    A, B = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    return A, B, np.full((M, N), np.nan, np.float32)


def run(kernel, grid, block, *arrays):
    """Run a kernel in the executor, in place; return its report."""
    return simt.run(kernel, grid, block, list(arrays))


# name on the page -> (rung, how it is launched for M x N results), for sizes that are multiples of its tile
PAGE = {
    "naive": (1, lambda M, N: ((M // 32, N // 8), (32, 8))),
    "coalesced": (2, lambda M, N: ((N // 32, M // 8), (32, 8))),
    "tiled": (3, lambda M, N: ((N // 32, M // 32), (32, 32))),
    "column_of_eight": (4, lambda M, N: ((N // 64, M // 64), 512)),
    "square_of_eight": (5, lambda M, N: ((N // 128, M // 128), 256)),
}


@pytest.mark.parametrize(("M", "N", "K"), [(128, 128, 128), (256, 128, 64), (128, 256, 32)])
@pytest.mark.parametrize("name", PAGE)
def test_each_kernel_of_the_page_is_right_and_counts_what_its_rung_counts(lesson, name, M, N, K):
    rung, launch = PAGE[name]
    kernel = lesson[name](32) if name == "tiled" else lesson[name]
    A, B, C = matrices(M, N, K)
    report = run(kernel, *launch(M, N), A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert not report.hazards
    promised = RUNG[rung].traffic(M, N, K)
    assert {counter: getattr(report.total, counter) for counter in promised} == promised


def test_no_bank_is_asked_twice_by_the_last_kernel_of_the_page(lesson):
    report = lesson["reports"][5].total
    assert (report.shared_load_conflicts, report.shared_store_conflicts) == (0, 0)


def test_the_layers_of_lenet_are_products_with_all_its_multiplications(lesson, shown):
    assert sum(lesson["multiplications"].values()) == 416_520
    assert ["all", "layers", "416,520"] in lines_of(shown)


def test_a_large_product_is_bound_by_arithmetic(lesson, shown):
    assert ["reading", "A", "and", "B", "and", "writing", "C,", "once", "0.04"] in lines_of(shown)
    assert ["2", "N³", "operations", "in", "float32", "2.05"] in lines_of(shown)
    assert LARGE.flops / LARGE.bytes > 20 * simt.roofline("H200").ridge


@pytest.mark.parametrize(("words", "expected"), [(np.zeros(32, int), 1), (np.arange(32), 1), (1024 * np.arange(32), 32),
                                                 (16 * np.arange(32), 16), (33 * np.arange(32), 1)])  # fmt: skip
def test_a_request_takes_as_many_wavefronts_as_its_fullest_bank_has_words(lesson, words, expected):
    assert lesson["in_banks"](words) == expected


def test_banks_and_not_lines_decide_how_long_a_request_to_l1_takes():
    strides, device = microbench("strides", card="h200"), simt.roofline("H200").device
    apart = {
        (place, n): device.sms * device.clock * 1e9 / strides[f"{place} loads, lanes {n} words apart"].rate
        for place in ("L1", "shared")
        for n in (32, 33)
    }
    assert {key: round(clocks) for key, clocks in apart.items() if key[0] == "L1"} == {("L1", 32): 33, ("L1", 33): 9}
    assert round(apart["shared", 32]) == 33
    assert apart["shared", 33] < 3


def test_exchanged_indices_take_33_wavefronts_or_2_and_cost_12_times_the_time(lesson, shown):
    naive, coalesced = (lesson["reports"][k].total for k in (1, 2))
    pairs = 128**3 // 32
    assert (naive.global_load_sectors, coalesced.global_load_sectors) == (33 * pairs, 5 * pairs)
    assert lesson["waves"] == {1: 33, 2: 2}
    assert round(SMALL.seconds["v01_naive"] / SMALL.seconds["v02_coalesced"]) == 12
    assert round(OWN.seconds["naive"] / OWN.seconds["coalesced"]) == 6
    assert round(lesson["clocks"] / 1e9) == 261
    assert (round(lesson["allowed"](33) / lesson["allowed"](2) * 33), 33 / 2, round(33 / 5, 1)) == (2, 16.5, 6.6)
    assert ["naive", "33", "33", "0.51", "0.48", "0.50"] in lines_of(shown)
    assert ["coalesced", "5", "2", "8.36", "5.69", "3.01"] in lines_of(shown)


@pytest.mark.parametrize("case", ["gemm 1024", "gemm 4096", "lesson 14's own kernels"])
def test_nothing_measured_exceeds_the_one_roof_of_l1_and_shared_memory(lesson, case):
    found = measured(case, card="h200")
    waves = {"naive": 33, "coalesced": 2, "tiled": 2, "column": 9 / 8, "square": 1 / 4, "register_tile_1d": 9 / 8}
    speeds = {w: 2 * int(found.size.replace(",", "").split()[0]) ** 3 / s for n, s in found.seconds.items()
              for w in waves if n.endswith(w) or n.startswith(w)}  # fmt: skip
    assert speeds
    for name, speed in speeds.items():
        assert speed < lesson["allowed"](waves[name])
    assert lesson["allowed"](1 / 4) == pytest.approx(PEAK)
    assert max(lesson["delivers"][place] for place in lesson["near"].values()) < 128 * lesson["clocks"]


def test_the_plain_kernel_asks_for_two_n_cubed_numbers(lesson, shown):
    assert lesson["asked"](lesson["reports"][2]) == 2 * 128**3
    assert "4,194,304 asked for; 2 N³ = 4,194,304; there are 32,768" in shown
    assert lesson["intensity"](1) == lesson["intensity"](2) == 0.25


@pytest.mark.parametrize(("n", "T"), [(128, 4), (128, 8), (128, 16), (128, 32), (96, 16), (96, 32)])
def test_tiles_divide_what_is_asked_for_by_their_side(lesson, n, T):
    A, B, C = matrices(n, n, n)
    report = run(lesson["tiled"](T), (n // T, n // T), (T, T), A, B, C)
    assert lesson["asked"](report) == 2 * n**3 // T
    assert 2 * n**3 / (4 * lesson["asked"](report)) == T / 4


def test_the_page_shows_what_tiles_ask_for(shown):
    for T in (4, 8, 16, 32):
        found = f"{2 * 128**3 // T:,}"
        assert [str(T), found, found, f"{T // 4}"] in lines_of(shown)


@pytest.mark.parametrize(("n", "T", "pairs"), [(32, 16, 15_360), (32, 32, 0), (48, 16, 9 * 2 * 256 * 15), (16, 16, 0)])
def test_without_the_second_barrier_each_element_is_overwritten_beside_its_other_readers(lesson, n, T, pairs):
    kernel = lesson["one_barrier"]
    if T != 16:
        kernel = with_one_barrier(T)
    A, B, C = matrices(n, n, n)
    report = simt.run(kernel, (n // T, n // T), (T, T), [A, B, C], on_error="collect")
    assert {h.array: h.count for h in report.hazards} == ({"As": pairs, "Bs": pairs} if pairs else {})
    assert {h.kind for h in report.hazards} <= {"race"}
    one_warp = {h.array: h.details["one_warp"] for h in report.hazards}
    assert one_warp == ({"Bs": False, "As": True} if pairs else {})  # a warp has two whole rows of a tile
    assert list(one_warp)[:1] == ["Bs"] * bool(pairs)
    np.testing.assert_array_equal(C, A @ B)


def with_one_barrier(T):
    from numba import cuda, float32

    @gpu.jit
    def kernel(A, B, C):
        As = cuda.shared.array((T, T), float32)
        Bs = cuda.shared.array((T, T), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        acc = float32(0)
        for start in range(0, A.shape[1], T):
            As[ty, tx] = A[row, start + tx]
            Bs[ty, tx] = B[start + ty, col]
            cuda.syncthreads()
            for k in range(T):
                acc += As[ty, k] * Bs[k, tx]
        C[row, col] = acc

    return kernel


def test_the_page_finds_30720_races_and_the_right_numbers(lesson, shown):
    assert lesson["pairs"] == 30_720 == 2 * 4 * 256 * 15
    assert "right: True; pairs of threads that race: 30,720" in shown


@pytest.mark.parametrize(("M", "N", "K"), [(1, 1, 1), (7, 13, 9), (17, 5, 33), (16, 32, 48), (31, 17, 2)])
def test_guards_and_zeros_make_any_size_right(lesson, M, N, K):
    A, B, C = matrices(M, N, K, seed=M)
    report = run(lesson["guarded"], (-(-N // 16), -(-M // 16)), (16, 16), A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert not report.hazards


def test_without_guards_17_is_the_smallest_wrong_size(lesson):
    def matrices_of(m):
        return *matrices(m, m, m)[:2], np.zeros((m, m), np.float32)

    how = {"make": matrices_of, "expected": np.matmul, "launch": lambda m: ((-(-m // 16), -(-m // 16)), (16, 16))}
    sizes = [16, 17, 31, 32]
    assert gpu.try_sizes(lesson["tiled"](16), sizes, **how).smallest == 17
    assert gpu.try_sizes(lesson["guarded"], sizes, **how).smallest is None


def test_shared_tiles_ask_for_32_times_less_and_are_1_4_or_2_7_times_faster(lesson):
    coalesced, tiles = (lesson["reports"][k].total for k in (2, 3))
    assert coalesced.global_load_requests == 32 * tiles.global_load_requests
    assert round(SMALL.seconds["v02_coalesced"] / SMALL.seconds["v03_smem_tiled"], 1) == 1.4
    assert round(OWN.seconds["coalesced"] / OWN.seconds["tiled"], 1) == 2.7
    assert round(SMALL.flops / SMALL.seconds["v02_coalesced"] / 1e12, 1) == 5.7  # as the question says
    most = lesson["allowed"](2)
    assert round(most / 1e12, 1) == 8.4
    assert round(128 * lesson["clocks"] / 1e12, 1) == 33.5
    shares = {name: [round(speed / most, 2) for speed in both] for name, both in lesson["speeds"].items()}
    assert {name: shares[name] for name in ("coalesced", "tiles")} == {"coalesced": [0.68, 0.36], "tiles": [0.94, 0.97]}
    assert round(SMALL.seconds["cuBLAS"] / SMALL.seconds["v03_smem_tiled"], 1) == 0.2  # "a fifth"
    assert round(OWN.seconds["tiled"] / OWN.seconds["cuBLAS"]) == 6  # "a sixth"


@pytest.mark.parametrize(
    ("rung", "name", "wavefronts", "allowed", "slots"),
    [
        (3, "tiled", 2, 1 / 8, 1 / 3),
        (4, "column_of_eight", 9 / 8, 2 / 9, 8 / 17),
        (5, "square_of_eight", 1 / 4, 1, 0.8),
    ],
)
def test_no_kernel_of_the_page_exceeds_either_of_the_two_roofs(lesson, shown, rung, name, wavefronts, allowed, slots):
    report = lesson["reports"][rung]
    assert lesson["wavefronts"](report) == wavefronts
    assert lesson["slots"](report) == pytest.approx(slots)
    code = lesson["in_code"]("lesson 14's own kernels")[name]
    reached = LARGE.flops / OWN.seconds[name] / PEAK
    assert reached < min(allowed, code)
    assert code < slots or rung < 5  # the compiler found a few wide reads
    share = OWN.seconds["cuBLAS"] / OWN.seconds[name]
    numbers = [f"{100 * x:.1f}%" for x in (allowed, slots, code, reached, share)]
    assert numbers in [line[-5:] for line in lines_of(shown)]


@pytest.mark.parametrize("k", range(3, 9))
def test_no_rung_of_the_ladder_exceeds_its_issue_slots(lesson, k):
    assert LARGE.flops / LARGE.seconds[RUNG[k].name] / PEAK < lesson["in_code"]("gemm 4096")[RUNG[k].name]


def test_wide_reads_raise_the_slots_from_80_to_94_percent(lesson):
    assert (64 / 80, round(64 / 68, 2)) == (0.8, 0.94)
    assert lesson["slots"](lesson["reports"][6]) == pytest.approx(64 / 68)
    assert lesson["reports"][6].total.shared_load_conflicts == 0  # "read wide, they do not"


def test_machine_code_is_as_the_prose_says(lesson):
    code, ladder = (lesson["in_code"](case) for case in ("lesson 14's own kernels", "gemm 4096"))
    assert round(code["square_of_eight"], 2) == 0.59
    counts = json.loads((results_folder() / "counts.json").read_text("utf-8"))
    made = counts["lesson 14's own kernels"]["square_of_eight"][0]["instructions"]
    assert made["integer"] > 0.5 * (made["all"] - made["fma"])  # "most of them whole-number arithmetic"
    assert 0.75 < ladder[RUNG[5].name] < 0.8
    assert ladder[RUNG[4].name] < code["column_of_eight"]
    assert OWN.seconds["column_of_eight"] < LARGE.seconds[RUNG[4].name]
    page, need = registers("lesson 14's own kernels")["column_of_eight"], registers("gemm 4096")[RUNG[4].name]
    warps = [simt.occupancy("H200", 512, lesson["reports"][4].shared_bytes, count).warps for count in (page, need)]
    assert warps[0] > warps[1]  # "fewer warps"
    shares = [ladder[RUNG[k].name] for k in (3, 4, 5, 6, 8)]
    assert shares == sorted(shares)


CHANGES = "As transposed", "columns in fours", "loop written out", "unsigned indices", "two blocks"


@pytest.mark.parametrize("change", [*CHANGES, "all five"])
@pytest.mark.parametrize(("M", "N", "K"), [(128, 128, 128), (256, 128, 64)])
def test_each_change_of_the_square_leaves_the_product_right(lesson, change, M, N, K):
    A, B, C = matrices(M, N, K)
    report = run(lesson["changed_square"](change), (N // 128, M // 128), 256, A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert not report.hazards
    assert report.total.shared_load_requests * 4 == report.total.flops / 64  # read singly, to the executor
    collide = change in ("columns in fours", "all five")  # "read singly, columns side by side collide"
    assert lesson["wavefronts"](report) == (3 / 8 if collide else 1 / 4)


def test_the_changes_are_shown_as_the_compiler_counted_them(lesson, shown):
    assert lesson["CHANGES"] == CHANGES
    code = lesson["in_code"]("lesson 14's own kernels: one change each")
    assert list(code) == ["square_of_eight", *CHANGES, "all five"]
    for name, share in code.items():
        assert [*name.split(), f"{100 * share:.1f}%"] in [line[:-4] for line in lines_of(shown)]
    assert max(code, key=code.get) == "all five"
    assert max(CHANGES, key=code.get) == "loop written out"  # "alone saves most"
    assert round(code["all five"], 2) == 0.85 > lesson["in_code"]("gemm 4096")[RUNG[5].name]


def test_what_each_change_of_the_square_is_worth_is_told_as_it_was_measured(lesson, shown):
    took = measured("lesson 14's own kernels: one change each", card="h200").seconds
    saved = {name: 1 - took[name] / took["square_of_eight"] for name in (*CHANGES, "all five")}
    for name, share in saved.items():
        line = [*name.split(), f"{1e6 * took[name]:,.0f}", f"{-share:+.1%}"]
        assert line in [shown_line[: len(name.split())] + shown_line[-2:] for shown_line in lines_of(shown)]
    assert max(CHANGES, key=saved.get) == "loop written out"
    assert round(saved["loop written out"], 2) == 0.18
    assert all(0.115 < saved[name] < 0.135 for name in ("As transposed", "columns in fours", "two blocks"))
    assert round(saved["unsigned indices"], 3) == -0.015  # "alone cost 1.5 %"
    single = 1 - np.prod([1 - saved[name] for name in CHANGES])
    assert (round(saved["all five"], 2), round(single, 2)) == (0.48, 0.44)
    clocks = took["square_of_eight"] * PEAK / LARGE.flops * 2048  # of a tile, as in the test below
    assert round(clocks * saved["two blocks"], -1) == 760


def test_rung_5_reaches_32_or_57_percent_of_the_peak():
    assert round(LARGE.flops / OWN.seconds["square_of_eight"] / PEAK, 2) == 0.32
    assert round(LARGE.flops / LARGE.seconds[RUNG[5].name] / PEAK, 2) == 0.57


def test_a_tile_of_the_square_takes_2900_clocks_that_its_instructions_do_not_explain(lesson):
    own = measured("lesson 14's own kernels", card="h200")
    took = LARGE.flops / own.seconds["square_of_eight"] / lesson["roof"].peak
    clocks = 16 * 64 * 8 / 4  # steps x multiply-adds x warps, four in a clock
    in_code = lesson["in_code"]("lesson 14's own kernels")["square_of_eight"]
    assert (clocks, round(clocks / in_code, -1), round(clocks / took, -1)) == (2048, 3470, 6370)
    assert clocks / took - clocks / in_code == pytest.approx(2900, abs=30)
    held = simt.occupancy("H200", 256, lesson["reports"][5].shared_bytes, registers(own.case)["square_of_eight"])
    assert held.blocks == 1  # "alone on its multiprocessor"
    four = lesson["reports"][4]
    allowed = 1 / (4 * lesson["wavefronts"](four))
    reached = LARGE.flops / own.seconds["column_of_eight"] / lesson["roof"].peak
    assert reached / allowed == pytest.approx(0.85, abs=0.006)


def test_blocks_explain_the_small_layer_but_for_rung_8(lesson):
    dense = measured("product 128 x 128 x 784", card="h200").seconds
    expected = {k: lesson["as_fast_as_before"](k) for k in lesson["TILE"]}
    assert [round(1e6 * seconds) for seconds in expected.values()] == [28, 80, 89, 87, 88, 34]
    for k in range(3, 8):
        assert 1 < dense[RUNG[k].name] / expected[k] < 1.25  # "to within a quarter"
    assert dense[RUNG[8].name] / expected[8] == pytest.approx(3, abs=0.1)  # "three times as long"
    eight = simt.occupancy("H200", 64, lesson["reports"][8].shared_bytes, registers("gemm 4096")[RUNG[8].name])
    assert (eight.blocks, eight.warps) == (4, 8)  # "four of its blocks"


def test_the_pages_own_kernels_are_those_that_were_measured(lesson):
    assert list(OWN.seconds) == ["naive", "coalesced", "tiled", "column_of_eight", "square_of_eight", "cuBLAS"]
    assert {k: lesson["took"][k] for k in (1, 2)} == {1: OWN.seconds["naive"], 2: OWN.seconds["coalesced"]}


def test_registers_feed_64_multiply_adds_from_16_reads(lesson):
    used = lesson["reports"][5].arrays
    assert (used["As"].loads + used["Bs"].loads) * 64 == 16 * 128**3


def test_small_layer_reuses_as_the_lecture_says(lesson, shown):
    assert lesson["reuse"] == {"2 × 2": (2, 2), "2 × 4": (2, 4)}
    assert ["2", "×", "4", "2", "4"] in lines_of(shown)


@pytest.mark.parametrize("cols", [2, 4])
def test_the_small_layer_is_right(lesson, cols):
    F, X, Y = matrices(2, 4, 12)
    run(lesson["tile_of"](2, cols), (4 // cols, 1), (cols, 2), F, X, Y)
    np.testing.assert_array_equal(Y, F @ X)


def test_the_upper_rungs_count_as_told(lesson):
    five, six, seven, eight = (lesson["reports"][k].total for k in (5, 6, 7, 8))
    for counter in ("global_load_requests", "shared_load_requests"):
        assert getattr(five, counter) == 4 * getattr(six, counter)  # "a quarter of the requests"
    assert five.shared_load_wavefronts == six.shared_load_wavefronts
    told = ("global_load_requests", "global_load_sectors", "shared_load_requests", "shared_load_wavefronts", "barriers")
    assert all(getattr(six, name) == getattr(seven, name) for name in told)  # "counts equal"
    assert lesson["asked"](lesson["reports"][8]) == 1.5 * lesson["asked"](lesson["reports"][7])
    assert eight.barriers < seven.barriers
    assert 0.74 < eight.shared_load_wavefronts / seven.shared_load_wavefronts < 0.76  # "a quarter fewer"


def test_a_warp_of_rung_6_needs_144_numbers_and_one_of_rung_7_96_for_as_many_results(lesson):
    wide, warps = gemm.v06_vectorised, gemm.v07_warp_tiles
    lanes, four = range(32), range(4)
    rows = {t // wide.THREADS_N * 4 + i + h for t in lanes for i in four for h in (0, wide.HALF_M)}
    cols = {t % wide.THREADS_N * 4 + i + h for t in lanes for i in four for h in (0, wide.HALF_N)}
    assert (len(rows), len(cols), warps.WM, warps.WN) == (16, 128, 64, 32)
    assert (len(rows) + len(cols), warps.WM + warps.WN) == (144, 96)
    assert len(rows) * len(cols) == warps.WM * warps.WN


def test_rung_8_is_launched_as_its_launcher_does(lesson):
    if RUNG[8].least_cc > compute_capability():
        pytest.skip("rung 8 needs compute capability 8.0")
    A, B, C = (lesson[name] for name in "ABC")
    (ours,) = gpu.simulate_launches(RUNG[8].launch, A, B, C)
    page = lesson["reports"][8]
    assert (ours.grid, ours.block, ours.shared_bytes) == (page.grid, page.block, page.shared_bytes)
    assert ours.total == page.total


def test_the_climb_passes_the_ridge_with_rung_4_and_steps_back_with_rung_8(lesson):
    intensity = [lesson["intensity"](k) for k in range(1, 9)]
    assert intensity[:7] == [0.25, 0.25, 8, 16, 32, 32, 32]
    assert intensity[7] == pytest.approx(64 / 3)
    ridge = simt.roofline("H200").ridge
    assert intensity[2] < ridge < min(intensity[3:])


def test_rungs_6_and_7_hardly_gain_and_rung_8_is_30_percent_faster():
    five, six, seven, eight = (LARGE.seconds[RUNG[k].name] for k in (5, 6, 7, 8))
    assert max(five, six, seven) < 1.02 * min(five, six, seven)
    assert round(six / eight, 1) == round(seven / eight, 1) == 1.3  # "30 % faster than either"
    assert "LDS.128" in RUNG[5].widths  # "the compiler had found wide accesses"


def test_above_the_slope_lies_only_rung_2(lesson):
    roof = simt.roofline("H200")
    speed = {k: LARGE.flops / lesson["took"][k] for k in range(1, 9)}
    assert [k for k in speed if speed[k] > roof.bandwidth * lesson["intensity"](k)] == [2]


def test_rung_8_is_as_fast_as_the_library_and_leaves_a_quarter_of_the_peak():
    share = LARGE.flops / LARGE.seconds["v08_pipelined"] / PEAK
    assert 0.72 < share < 0.78
    assert 0.95 < LARGE.seconds["cuBLAS"] / LARGE.seconds["v08_pipelined"] < 1.05
    assert 0.7 < LARGE.seconds["cuBLAS"] / LARGE.seconds["v05_register_tile_2d"] < 0.8  # "three quarters"


def test_the_fullest_rung_is_the_slowest_and_the_emptiest_the_fastest(shown):
    need, held, shape = registers("gemm 4096"), {}, {3: (1024, 8192), 8: (64, 25088)}
    for k, (threads, shared) in shape.items():
        held[k] = simt.occupancy("H200", threads, shared, need[RUNG[k].name]).share
    assert held == {3: 1.0, 8: 0.125}
    times = [LARGE.seconds[RUNG[k].name] for k in range(3, 9)]
    assert (max(times), min(times)) == (times[0], times[-1])
    assert ["8", "pipelined", str(need["v08_pipelined"]), "8", "12.5%", "91.3%", "74.7%", "103%"] in lines_of(shown)


def test_with_1024_rows_the_top_rung_is_the_slowest_of_its_kind():
    times = {k: round(1e6 * SMALL.seconds[RUNG[k].name]) for k in (5, 6, 7, 8)}
    assert (max(times, key=times.get), times[8]) == (8, 148)
    rest = [times[k] for k in (5, 6, 7)]
    assert (min(rest), max(rest)) == (122, 127)


def test_with_1024_rows_all_rungs_keep_256_schedulers_busy_and_rung_8_with_one_warp_each(lesson):
    for k, (blocks, warps) in {5: (64, 8), 6: (64, 8), 7: (64, 8), 8: (128, 2)}.items():
        assert lesson["blocks"](k, 1024, 1024) == blocks < 132
        assert int(np.prod(lesson["reports"][k].block)) == 32 * warps
        assert blocks * min(4, warps) == 256
        assert blocks * warps // 256 == (1 if k == 8 else 2)
    assert 4 * simt.roofline("H200").device.sms == 528
    eight = simt.occupancy("H200", 64, lesson["reports"][8].shared_bytes, registers("gemm 4096")[RUNG[8].name])
    assert eight.warps // 4 == 2


def test_on_a_small_layer_small_tiles_win(lesson):
    times = measured("product 128 x 128 x 784", card="h200").seconds
    rungs = [times[RUNG[k].name] for k in range(3, 9)]
    assert min(rungs) == rungs[0]
    assert round(times["v08_pipelined"] / times["v03_smem_tiled"]) == 3
    assert 6 < LARGE.seconds["v03_smem_tiled"] / LARGE.seconds["v08_pipelined"] < 7
    assert times["cuBLAS"] < min(rungs)
    assert [lesson["blocks"](k, 128, 128) for k in (3, 4, 5, 8)] == [16, 4, 1, 2]
    assert times["v04_register_tile_1d"] == pytest.approx(times["v05_register_tile_2d"], rel=0.1)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (120, 400), (7, 33), (9, 64)])
def test_a_matrix_times_a_vector_is_right_at_any_size(lesson, rows, cols):
    rng = np.random.default_rng(rows)
    W, x = rng.integers(-4, 5, (rows, cols)).astype(np.float32), rng.integers(-4, 5, cols).astype(np.float32)
    y = np.full(rows, np.nan, np.float32)
    report = run(lesson["matrix_vector"], -(-rows // 8), 256, W, x, y)
    np.testing.assert_array_equal(y, W @ x)
    assert not report.hazards
    assert report.arrays["W"].reuse == 1


def test_a_vector_allows_half_an_operation_a_byte(lesson, shown):
    assert lesson["per_byte"] == 0.5
    assert "FLOP for each byte: 0.5" in shown
    assert 0.5 * simt.roofline("H200").bandwidth / PEAK < 0.04


def test_batches_make_a_column_cheap():
    took = {
        int(name.split(", ")[1]): s
        for name, s in measured("matrix times batch", card="h200").seconds.items()
        if name.startswith("cuBLAS")
    }
    assert took[16] < 2 * took[1]
    assert round(took[1] / (took[16] / 16)) in (8, 9, 10)  # "about a ninth"
    each = {b: s / b for b, s in took.items() if b != 4}  # which the page leaves out
    assert list(each.values()) == sorted(each.values(), reverse=True)
    assert each[256] < 1.15 * each[4096]  # "every further column costs the same"
    batch = measured("matrix times batch", card="h200").seconds
    bandwidth = {name: 4 * 4096**2 / s / 1e12 for name, s in batch.items()}
    assert [round(bandwidth[name], 1) for name in ("matrix_vector, 1", "cuBLAS, 1")] == [2.1, 2.9]
    limit = {name: rate for name, _, _, rate in memory_ladder("H200")}["DRAM"]
    assert round(limit / 1e12, 1) == 4.2
    assert round(2 * simt.roofline("H200").ridge) == 28


def test_two_answers_of_check_yourself():
    assert 2 * 64 * 256 / (4 * (64 + 256)) == 25.6
    assert 1 / (4 * (4 + 4) / (4 * 4)) == 0.5
    assert round(16 / (8 + 16), 2) == 0.67


def test_the_choice_that_try_it_asks_for_is_in_the_picture_on_top():
    tiles = product_tile(4096, 4096, 4096, BM=128, BN=128, BK=16, TM=8, TN=8, device="H200")
    assert (tiles.intensity, tiles.held.blocks) == (32, 2)
    larger = product_tile(4096, 4096, 4096, BM=256, BN=256, BK=16, TM=16, TN=16, device="H200")
    assert larger.refused[0] == "registers"


def test_columns_side_by_side_meet_in_four_banks(lesson):
    banks = [8 * tx % 32 for tx in range(16)]
    most = max(banks.count(bank) for bank in banks)
    assert (len(set(banks)), most) == (4, 4)
    assert 1 / (4 * (8 * most + 8) / 64) == pytest.approx(0.4)
