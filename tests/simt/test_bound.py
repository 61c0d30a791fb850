"""The predicted time equals what is computed by hand from the counts and the data sheet."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import simt
from course_lib.bench.simt_cases import CASES
from course_lib.simt.estimate.bound import duration, predict
from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.roofline import roofline

COUNTERS = (
    "instructions", "flops", "float64_flops", "float16_flops",
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "shared_load_requests", "shared_load_conflicts", "shared_store_requests", "shared_store_conflicts",
)  # fmt: skip


def made_up(grid=(264,), block=(256,), shared_bytes=0, arrays=(), **counts):
    """A report with these counts; one instruction unless said otherwise."""
    total = SimpleNamespace(**{name: counts.pop(name, 1 if name == "instructions" else 0) for name in COUNTERS})
    assert not counts
    uses = {
        name: SimpleNamespace(space=space, dtype=dtype, distinct_loaded=loaded, distinct_stored=stored)
        for name, space, dtype, loaded, stored in arrays
    }
    return SimpleNamespace(
        kernel="k", grid=grid, block=block, shared_bytes=shared_bytes, total=total, arrays=uses
    )  # fmt: skip


def vector_add(n, blocks, threads=256):
    """The counts of c[i] = a[i] + b[i] in float32, when n is a multiple of 32."""
    warps = n // 32
    return made_up(
        (blocks,), (threads,), instructions=10 * warps, flops=n,
        global_load_requests=2 * warps, global_load_sectors=8 * warps,
        global_store_requests=warps, global_store_sectors=4 * warps,
        arrays=[("a", "global", "float32", n, 0), ("b", "global", "float32", n, 0), ("c", "global", "float32", 0, n)],
    )  # fmt: skip


def test_adding_vectors_waits_for_memory():
    b = predict(vector_add(2**20, 4096), "H200")
    assert b.dram_bytes == 3 * 4 * 2**20 == b.sector_bytes
    assert b.limit == "DRAM"
    assert b.seconds == pytest.approx(12_582_912 / 4.8e12)  # 2.62 µs
    assert b.intensity == pytest.approx(1 / 12) == b.sector_intensity
    assert b.flops_per_second == pytest.approx(4.8e12 / 12)
    assert str(b).startswith("k on H200: at best 2.62 µs, an estimate. The limit is memory bandwidth: every element")
    assert "0.0833 FLOP/byte" in str(b)


def test_arithmetic_takes_its_share_of_the_peak():
    b = predict(made_up((132,), flops=2**30), "H200")
    assert b.times["float32 arithmetic"] == pytest.approx(2**30 / 66.90816e12)
    assert b.limit == "float32 arithmetic"
    assert (b.intensity, b.sector_intensity) == (np.inf, np.inf)
    assert "no byte" in str(b)


def test_float64_is_much_slower_than_float32_on_a_t4():
    b = predict(made_up((40,), flops=3 * 2**20, float64_flops=2**20, float16_flops=2**20), "T4")
    float32, float64, float16 = (b.times[f"{dtype} arithmetic"] for dtype in ("float32", "float64", "float16"))
    assert float64 / float32 == pytest.approx(32)
    assert float32 / float16 == pytest.approx(2)
    assert b.limit == "float64 arithmetic"


def test_four_blocks_keep_four_sms_busy():
    few, many = (predict(made_up((blocks,), flops=2**20), "H200") for blocks in (4, 132))
    assert (few.busy_sms, few.busiest) == (4, 1)
    assert few.seconds / many.seconds == pytest.approx(132 / 4)
    assert (
        "The grid has 4 blocks for 132 SMs: 4 SMs get work, the busiest one 1 block; an SM has room for 8 at a time."
        in str(few)
    )
    assert "1 block for 132 SMs: 1 SM gets work" in str(predict(made_up((1,)), "H200"))


def test_one_block_more_than_sms_makes_one_sm_work_twice():
    full, over = (predict(made_up((blocks,), flops=blocks * 2**20), "H200") for blocks in (132, 133))
    assert over.busiest == 2
    assert over.busy_sms == 66.5
    assert over.seconds == pytest.approx(2 * full.seconds)


def test_a_grid_of_three_axes_counts_all_its_blocks():
    b = predict(made_up((4, 3, 11), (8, 8, 2)), "H200")
    assert (b.blocks, b.busy_sms) == (132, 132)
    assert b.occupancy.threads == 128


def test_a_wavefront_of_shared_memory_takes_a_clock_of_its_sm():
    b = predict(
        made_up(
            (66,), (1024,), 4096, shared_load_requests=500, shared_load_conflicts=15_500, shared_store_requests=500
        ),
        "H200",
    )
    assert b.times["shared memory"] == pytest.approx(16_500 / 66 / 1.98e9)
    assert b.limit == "shared memory"
    assert "a bank conflict adds wavefronts" in str(b)
    assert b.occupancy.shared_bytes == 4096


def test_requests_and_sectors_of_global_memory_take_clocks_of_their_sm():
    broadcast = made_up((132,), global_load_requests=132_000, global_load_sectors=132_000)
    scattered = made_up((132,), global_load_requests=132_000, global_load_sectors=132_000 * 32)
    assert predict(broadcast, "H200").times["L1"] == pytest.approx(1000 / 1.98e9)
    assert predict(scattered, "H200").times["L1"] == pytest.approx(8000 / 1.98e9)


def test_the_l2_cache_is_shown_where_its_rate_is_known():
    report = made_up((108,), global_load_requests=1000, global_load_sectors=4000)
    b = predict(report, "A100")
    assert b.l2_seconds == pytest.approx(4000 * 32 / (5120 * 1.41e9))
    assert "If the L1 cache kept nothing, L2 would need 17.7 ns" in str(b)
    assert predict(report, "T4").l2_seconds is None
    assert "The L2 cache is left out: no source says how fast that of the T4 is." in str(predict(report, "T4"))


def test_four_schedulers_issue_four_instructions_in_a_clock():
    b = predict(made_up((132,), instructions=132 * 4 * 1000), "H200")
    assert b.times["instructions"] == pytest.approx(1000 / 1.98e9)
    assert b.limit == "instructions"


def test_what_must_move_is_each_distinct_element_in_whole_sectors():
    arrays = [
        ("x", "global", "float32", 9, 0),  # 36 bytes: two sectors
        ("y", "global", "float64", 4, 4),  # one sector in, one out
        ("tile", "shared", "float32", 1000, 1000),
        ("w", "constant", "float32", 10, 0),
    ]
    assert predict(made_up(arrays=arrays), "H200").dram_bytes == 64 + 32 + 32


def test_the_ridge_is_where_the_two_lines_meet():
    r = roofline("A100")
    assert r.ridge == pytest.approx(19.49184e12 / 2.039e12)  # 9.56 FLOP/byte
    np.testing.assert_allclose(r.attainable([0.1, r.ridge, 100]), [0.2039e12, r.peak, r.peak])
    assert r.attainable(1) == 2.039e12
    assert roofline("A100", "float64").peak == pytest.approx(9.74592e12)
    assert roofline(DEVICES["T4"], "float16").ridge == pytest.approx(16.2816e12 / 320e9)


def report_of(case, size, **options):
    launch = CASES[case].launch(size)
    return simt.run(launch.kernel, launch.grid, launch.block, launch.arguments, **options)


def test_a_real_report_of_a_tiled_product_meets_the_lectures_formulas():
    b = predict(report_of("tiled product", 64), "H200")
    assert b.flops == 2 * 64**3
    assert b.dram_bytes == 3 * 64**2 * 4
    assert b.sector_bytes == (2 * 64**3 / 16 + 64**2) * 4  # each element of A and B is loaded 64 / 16 times
    # A row of As is one word for a half of a warp, two rows are two words of different banks: a wavefront each
    wavefronts = 2 * 64**3 / 32 + 2 * 64**3 / 16 / 32
    assert b.times["shared memory"] == pytest.approx(wavefronts / 16 / 1.98e9)
    assert (b.limit, b.blocks) == ("shared memory", 16)
    assert b.occupancy.shared_bytes == 2 * 16 * 16 * 4
    assert "a compiler that merges neighbouring loads needs less." in str(b)


def test_the_tiled_product_asks_for_less_than_the_naive_one_and_both_must_move_as_much():
    naive, tiled = (predict(report_of(f"{kind} product", 64), "H200") for kind in ("naive", "tiled"))
    assert naive.intensity == tiled.intensity
    assert naive.sector_intensity < tiled.sector_intensity < tiled.intensity


def test_bank_conflicts_slow_the_transpose_down():
    tile, padded = (predict(report_of(f"transpose, {kind}", 64), "H200") for kind in ("tile", "padded"))
    assert tile.limit == "shared memory"
    assert tile.times["shared memory"] / padded.times["shared memory"] == (1 + 32) / 2


def test_a_real_report_without_counters_is_refused():
    with pytest.raises(ValueError, match="product_tiled has no counters; run it with counters=True"):
        predict(report_of("tiled product", 16, counters=False), "H200")


def test_a_launch_that_cannot_be_predicted_is_refused():
    with pytest.raises(ValueError, match="k has no counters; run it with counters=True"):
        predict(made_up(instructions=0), "H200")
    with pytest.raises(ValueError, match="'K80' is not in the table"):
        predict(made_up(), "K80")
    with pytest.raises(ValueError, match="T4 gives a block at most 65,536"):
        predict(made_up(shared_bytes=70_000), "T4")
    with pytest.raises(ValueError, match="dtype is 'int32'; it must be one of float32, float64, float16"):
        roofline("H200", "int32")


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0312, "31.2 ms"), (4.56e-6, "4.56 µs"), (1.7e-8, "17 ns"), (0, "0 ns")]
)
def test_a_duration_has_a_unit_that_can_be_read(seconds, text):
    assert duration(seconds) == text
