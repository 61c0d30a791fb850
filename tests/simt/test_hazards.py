"""What holds for findings of any kind: counts, batches of blocks, active threads. Kernels by mistake: `broken`."""

import sys

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu, simt
from tests.simt import kernels
from tests.simt.text import line_of


def one_finding(kernel, grid, block, arguments, mark="# bad", only=True):
    """Return the first (or only) finding of a run that collects: in the marked line, and raised where a run raises."""
    report = simt.run(kernel, grid, block, [a.copy() for a in arguments], on_error="collect")
    with pytest.raises(simt.HazardFound) as raised:
        simt.run(kernel, grid, block, arguments)
    found = report.hazards
    assert len(found) == 1 or (found and not only), "\n".join(map(str, found)) or "no finding"
    hazard = report.hazards[0]
    assert hazard.line == raised.value.line == line_of(kernel, mark)
    assert (raised.value.hazard.kind, raised.value.hazard.array) == (hazard.kind, hazard.array)
    assert hazard.fix
    return hazard


def ints(n):
    return np.arange(n, dtype=np.int32)


def floats(n):
    return np.arange(n, dtype=np.float32)


def test_barrier_does_not_order_blocks():
    report = simt.run(kernels.next_block_reads_halo, 2, 32, (ints(64), ints(64)), on_error="collect")
    assert [(h.kind, h.array, h.line) for h in report.hazards] == [
        ("race", "out", line_of(kernels.next_block_reads_halo))
    ]
    one_block = simt.run(kernels.next_block_reads_halo, 1, 64, (ints(64), ints(64)), on_error="collect")
    assert one_block.hazards == []


@pytest.mark.parametrize(
    ("array", "line", "writer"), [("As", "# bad: As", (15, 0, 0)), ("Bs", "# bad: Bs", (0, 15, 0))]
)
def test_missing_second_barrier_names_both_tiles_and_lines(array, line, writer):
    A = np.ones((32, 32), np.float32)
    kernel = kernels.product_no_second_barrier
    report = simt.run(kernel, (2, 2), (16, 16), (A, A, A.copy()), on_error="collect")
    (hazard,) = [h for h in report.hazards if h.array == array]
    assert (hazard.kind, hazard.line, hazard.count) == ("race", line_of(kernel, line), 15_360)
    assert hazard.details["other_line"] == line_of(kernel, "acc +=")
    assert hazard.details["other_thread"] == writer
    assert len(report.hazards) == 2


def test_missing_first_barrier_is_found_in_both_tiles():
    A = np.ones((32, 32), np.float32)
    kernel = kernels.product_no_first_barrier
    report = simt.run(kernel, (2, 2), (16, 16), (A, A, A.copy()), on_error="collect")
    assert {(h.kind, h.array, h.line) for h in report.hazards} == {
        ("race", "As", line_of(kernel)),
        ("race", "Bs", line_of(kernel)),
    }


@pytest.mark.parametrize("kernel", [kernels.whole_division_by_zero, kernels.remainder_by_zero])
def test_whole_number_divided_by_zero_is_found_only_in_active_threads(kernel):
    hazard = one_finding(kernel, 2, 32, (np.r_[ints(40) + 1, np.int32(0)][::-1].copy(), ints(41)))
    assert (hazard.kind, "thread 0 of block 0" in hazard.message) == ("division by zero", True)
    assert simt.run(kernel, 2, 32, (ints(40) + 1, ints(40))).hazards == []


@pytest.mark.parametrize(
    ("grid", "block", "says"),
    [
        (1, 2048, "2,048 threads"), (1, (64, 32), "2,048 threads"), (1, (8, 1, 65), "at most 64"),
        ((1, 65536), 32, "65,535"),
        (0, 32, ">= 1"), (1, 0, ">= 1"), (1, -1, ">= 1"), (1, 2.0, ">= 1"), ((1, 1, 1, 1), 32, ">= 1"),
        (1, True, ">= 1"),
    ],
)  # fmt: skip
def test_launch_that_no_gpu_takes_is_refused_with_the_limit(grid, block, says):
    with pytest.raises(simt.LaunchError, match=says):
        simt.run(kernels.in_place_elementwise, grid, block, (ints(4), ints(4)))


def test_1024_threads_are_possible():
    assert simt.run(kernels.in_place_elementwise, 1, 1024, (ints(4), ints(4))).hazards == []


@pytest.mark.parametrize("on_error", ["raise", "collect"])
def test_findings_of_one_kind_line_and_array_are_one_with_a_count(on_error):
    if on_error == "raise":
        with pytest.raises(simt.HazardFound):
            simt.run(kernels.loop_off_by_one, 1, 32, (ints(4), ints(4)))
    else:
        assert len(simt.run(kernels.loop_off_by_one, 1, 32, (ints(4), ints(4)), on_error=on_error).hazards) == 1


@pytest.mark.parametrize("batch", [32, 64, 10**6])
@pytest.mark.parametrize("kernel", [kernels.stencil_in_place, kernels.blocks_write_one_element, kernels.racy_counter])
def test_race_between_blocks_is_found_however_many_run_at_once(kernel, batch, monkeypatch):
    monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", batch)
    report = simt.run(kernel, 2, 32, (ints(64) + 1, ints(64)), on_error="collect")
    assert [h.kind for h in report.hazards] == ["race"]


@pytest.mark.parametrize("kernel", ["product_no_second_barrier", "product_no_first_barrier"])
def test_a_race_of_two_warps_comes_before_one_within_a_warp_and_is_not_told_of_syncwarp(kernel):
    A = np.ones((32, 32), np.float32)
    report = simt.run(getattr(kernels, kernel), (2, 2), (16, 16), (A, A, A.copy()), on_error="collect")
    assert [(h.array, h.details["one_warp"]) for h in report.hazards] == [("Bs", False), ("As", True)]
    assert ["syncwarp" in h.fix for h in report.hazards] == [False, True]


@gpu.jit
def adds_beside(x, total):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, float32)
    s[t] = x[t]
    cuda.syncthreads()
    s[t // 2] += x[t]
    total[t] = s[t]


@gpu.jit
def copies_beside(x, total):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, float32)
    s[t] = x[t]
    total[t] += s[63 - t]


@pytest.mark.parametrize(("kernel", "adds"), [(adds_beside, True), (copies_beside, False)])
def test_atomics_are_offered_only_where_a_line_adds_to_the_elements_that_race(kernel, adds):
    report = simt.run(kernel, 1, 64, (floats(64) + 1, floats(64)), on_error="collect")
    races = [h for h in report.hazards if h.kind == "race" and h.array == "s"]
    assert races
    assert any("cuda.atomic" in h.fix for h in races) == adds
