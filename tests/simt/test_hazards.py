"""Every mistake that students make is found, with its line, array and thread; correct kernels have no finding."""

import sys

import numpy as np
import pytest

from course_lib import simt
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


INDEX = [
    # kernel, grid, block, arguments, kind, array, thread, index
    (kernels.missing_guard, 2, 32, (ints(40), ints(40)), "out of bounds", "out", "thread 8 of block 1", 40),
    (kernels.missing_guard, 1, (4, 4), (ints(3), ints(3)), "out of bounds", "out", "thread (3, 0) of block 0", 3),
    (kernels.missing_guard_load, 2, 32, (ints(40), ints(40)), "out of bounds", "a", "thread 8 of block 1", 40),
    (kernels.guard_off_by_one, 2, 32, (ints(40), ints(40)), "out of bounds", "out", "thread 8 of block 1", 40),
    (kernels.loop_off_by_one, 1, 32, (ints(40), ints(20)), "out of bounds", "a", "thread 0 of block 0", 40),
    (kernels.left_neighbour, 2, 32, (ints(40), ints(40)), "negative index", "a", "thread 0 of block 0", -1),
    (
        kernels.transposed_out, (1, 2), (8, 8), (np.zeros((10, 4)), np.zeros((4, 10))),
        "out of bounds", "C", "thread (0, 4) of block (0, 0)", 4,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments", "kind", "array", "thread", "index"),
    INDEX,
    ids=lambda v: getattr(v, "__name__", None),
)
def test_index_outside_of_an_array_is_found(kernel, grid, block, arguments, kind, array, thread, index):
    hazard = one_finding(kernel, grid, block, arguments, only=False)
    assert (hazard.kind, hazard.array, hazard.details["index"]) == (kind, array, index)
    assert thread in hazard.message


RACES = [
    # kernel, grid, block, arguments, array, what the message says
    (kernels.reverse_no_barrier, 1, 64, (floats(64), floats(64)), "s", "thread 0 of block 0 reads"),
    (kernels.racy_counter, 2, 32, (ints(64) + 1, ints(1)), "out", "writes"),
    (kernels.racy_shared_counter, 1, 64, (ints(64), ints(1)), "s", "of block 0 writes"),
    (kernels.scan_in_place, 1, 64, (ints(64), ints(64)), "s", "of block 0 writes"),
    (kernels.stencil_in_place, 1, 64, (ints(64), ints(64)), "a", "of block 0 writes"),
    (kernels.stencil_in_place, 2, 32, (ints(64), ints(64)), "a", "writes"),
    (kernels.blocks_write_one_element, 2, 32, (ints(32), ints(32)), "out", "thread 0 of block 1 writes"),
    (kernels.threads_write_one_element, 1, 32, (ints(16), ints(16)), "out", "thread 1 of block 0 writes"),
    (kernels.reduction_no_barrier_in_loop, 1, 128, (ints(128), ints(1)), "s", "of block 0"),
    (kernels.warp_reduction_no_syncwarp, 1, 64, (ints(64), ints(2)), "s", "of block 0"),
    (kernels.syncwarp_across_warps, 1, 64, (ints(64), ints(64)), "s", "thread 0 of block 0 reads"),
]


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments", "array", "says"), RACES, ids=lambda v: getattr(v, "__name__", None)
)
def test_race_is_found(kernel, grid, block, arguments, array, says):
    hazard = one_finding(kernel, grid, block, arguments)
    assert (hazard.kind, hazard.array) == ("race", array)
    assert says in hazard.message


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


UNWRITTEN = [
    (kernels.shared_unwritten, (floats(64), floats(64)), "s", "thread 0 of block 0"),
    (kernels.local_unwritten, (floats(64), floats(64)), "m", "thread 0 of block 0"),
    (kernels.accumulator_unwritten, (floats(64), floats(64)), "s", "thread 0 of block 0"),
]


@pytest.mark.parametrize(
    ("kernel", "arguments", "array", "thread"), UNWRITTEN, ids=lambda v: getattr(v, "__name__", None)
)
def test_memory_that_nobody_wrote_is_found(kernel, arguments, array, thread):
    hazard = one_finding(kernel, 1, 64, arguments)
    assert (hazard.kind, hazard.array) == ("unwritten memory", array)
    assert thread in hazard.message


BARRIERS = [
    (kernels.barrier_in_branch, 1, 64, (floats(64), floats(64)), "thread 40 of block 0", "40 of 64"),
    (kernels.return_before_barrier, 2, 64, (floats(100), floats(100)), "thread 36 of block 1", "36 of 64"),
    (kernels.barrier_in_lane_loop, 1, 2, (floats(2), floats(2)), "thread 0 of block 0", "1 of 2"),
]


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments", "thread", "share"), BARRIERS, ids=lambda v: getattr(v, "__name__", None)
)
def test_barrier_that_not_all_threads_reach_is_found(kernel, grid, block, arguments, thread, share):
    hazard = one_finding(kernel, grid, block, arguments)
    assert hazard.kind == "barrier not reached"
    assert thread in hazard.message
    assert share in hazard.message


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


@pytest.mark.parametrize("kernel", [kernels.too_much_shared, kernels.too_much_shared_in_two])
def test_more_than_48_kilobytes_of_shared_memory_are_refused(kernel):
    with pytest.raises(simt.KernelError, match=r"(50,176|49,408) bytes; at most 49,152") as raised:
        simt.run(kernel, 1, 64, (floats(64), floats(64)))
    assert raised.value.line == line_of(kernel)


def test_never_ending_loop_ends_with_its_line():
    with pytest.raises(simt.KernelError, match="does not come to an end") as raised:
        simt.run(kernels.endless, 1, 32, (ints(32), ints(32)), steps=500, on_error="collect")
    assert abs(raised.value.line - line_of(kernels.endless)) <= 1


@pytest.mark.parametrize("on_error", ["raise", "collect"])
def test_findings_of_one_kind_line_and_array_are_one_with_a_count(on_error):
    if on_error == "raise":
        with pytest.raises(simt.HazardFound):
            simt.run(kernels.loop_off_by_one, 1, 32, (ints(4), ints(4)))
    else:
        assert len(simt.run(kernels.loop_off_by_one, 1, 32, (ints(4), ints(4)), on_error=on_error).hazards) == 1


CORRECT = [
    # kernel, grid, block, a, size of out, what out must be (None: only that nothing is found)
    (kernels.in_place_elementwise, 3, 32, ints(70), 70, lambda a: a * 2 + 1),
    (kernels.shared_reverse, 1, 64, ints(64), 64, lambda a: a[::-1]),
    (kernels.shared_in_place_with_barriers, 1, 64, ints(64), 64, np.cumsum),
    (kernels.double_buffer_scan, 1, 64, ints(64), 64, np.cumsum),
    (kernels.tree_reduction, 3, 128, ints(300), 1, np.sum),
    (kernels.tree_reduction_partial_sums, 3, 128, ints(300), 3,
     lambda a: [a[k : k + 128].sum() for k in (0, 128, 256)]),
    (kernels.warp_reduction, 1, 64, ints(64), 2, lambda a: [a[:32].sum(), a[32:].sum()]),
    (kernels.atomic_counter, 3, 32, ints(80) % 3, 1, lambda a: (a > 0).sum()),
    (kernels.shared_histogram, 3, 64, ints(150) * 7, 8, lambda a: np.bincount(a % 8)),
    (kernels.all_read_one_table, 2, 32, ints(10), 40, lambda a: np.full(40, a.sum())),
    (kernels.disjoint_quads, 2, 32, ints(201), 201, lambda a: a),
    (kernels.stencil, 3, 32, ints(70), 70, lambda a: np.convolve(a, [1, 1, 1], "same")),
    (kernels.stencil_shared_halo, 2, 64, ints(100), 100, lambda a: np.convolve(a, [1, 1, 1], "same")),
    (kernels.handed_on_in_a_block, 2, 32, ints(64), 64, lambda a: np.r_[np.roll(a[:32], -1), np.roll(a[32:], -1)]),
    (kernels.return_of_whole_blocks, 4, 64, ints(64), 128, lambda a: np.r_[a[::-1], a[::-1]]),
    (kernels.barrier_in_uniform_loop, 3, 64, ints(64), 192, lambda a: np.r_[a[::-1], 2 * a[::-1], 3 * a[::-1]]),
    (kernels.one_writer_many_readers, 1, 64, ints(64), 192, lambda a: np.tile([0, 1, 2], 64)),
    (kernels.same_element_again, 2, 32, ints(64), 64, lambda a: 10 * a),
    (kernels.stride_loop, 2, 32, ints(333), 333, lambda a: 2 * a),
    (kernels.stride_while, 2, 32, ints(333), 333, lambda a: 2 * a),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "a", "size", "expected"), CORRECT, ids=lambda v: getattr(v, "__name__", None)
)
def test_correct_kernel_has_no_finding_and_the_right_result(kernel, grid, block, a, size, expected):
    out = np.zeros(size, np.int64)
    wanted = None if expected is None else np.atleast_1d(expected(a.astype(np.int64)))
    report = simt.run(kernel, grid, block, (a.copy(), out), on_error="collect")
    assert [str(h) for h in report.hazards] == []
    if wanted is not None:
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("batch", [32, 64, 10**6])
@pytest.mark.parametrize("kernel", [kernels.stencil_in_place, kernels.blocks_write_one_element, kernels.racy_counter])
def test_race_between_blocks_is_found_however_many_run_at_once(kernel, batch, monkeypatch):
    monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", batch)
    report = simt.run(kernel, 2, 32, (ints(64) + 1, ints(64)), on_error="collect")
    assert [h.kind for h in report.hazards] == ["race"]
