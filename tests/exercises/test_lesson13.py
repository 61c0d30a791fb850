"""What sheet 13 asks to be predicted is what the executor counts; its broken kernel; its sums in other orders."""

import itertools

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet, stub_of

from course_lib import reference, simt
from course_lib.checks import Case
from course_lib.checks.judge import judge
from course_lib.checks.kernels import IMPORTS, output, run_kernel
from course_lib.checks.registry import find
from tests.setup.project import ROOT

SHEET = read_sheet(ROOT / "solutions" / "13_reductions_and_fusion.py")
NAMES = sheet_names(SHEET, "13_reductions_and_fusion")

TREE = """
THREADS = {threads}

@gpu.jit
def tree(x, live, out):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    k, step = 0, {first}
    while {go_on}:
        cuda.syncthreads()
        if {adds}:
            part[t] += part[t + step]
            cuda.atomic.max(live, (k, t // 32), 1)
        k += 1
        step {next}
    if t == 0:
        out[0] = part[0]
"""
ADDITION = 13
"""The line that adds, in the text of a tree."""


def tree_of(threads, order):
    """The text of a tree in which each lane that adds marks its warp in the row of its step."""
    if order == "neighbours":
        return TREE.format(threads=threads, first=1, go_on="step < THREADS", adds="t % (2 * step) == 0", next="*= 2")
    return TREE.format(threads=threads, first=threads // 2, go_on="step > 0", adds="t < step", next="//= 2")


@pytest.mark.parametrize("order", ["neighbours", "halves"])
@pytest.mark.parametrize("threads", [2, 8, 32, 64, 256, 1024])
def test_live_warps_are_those_that_the_executor_sees_at_work(threads, order):
    x, live, out = np.arange(threads, dtype=np.float32), np.zeros((10, 32), np.int32), output(1)
    source = simt.read(tree_of(threads, order), "tree", names={}, imports=IMPORTS, skip=True)
    report = simt.run(source, 1, threads, (x, live, out), on_error="collect")
    assert report.hazards == []
    assert out.copy_to_host() == x.sum()
    steps = threads.bit_length() - 1
    right = live[:steps].sum(axis=1).tolist()
    assert find("13.1").expect(threads, order) == NAMES["live_warps"](threads, order) == right
    assert report.line(ADDITION).counters.shared_load_requests == 2 * sum(right)  # one for each of the two numbers


def test_256_numbers_keep_47_warps_at_work_as_neighbours_and_12_as_halves():
    assert sum(find("13.1").expect(256, "neighbours")) == 47
    assert sum(find("13.1").expect(256, "halves")) == 12


@pytest.mark.parametrize(("order", "divided"), [("neighbours", 4 * 5 + 2 + 1), ("halves", 5)])
@pytest.mark.parametrize(("size", "blocks", "guards"), [(128, 1, 0), (300, 3, 1), (65, 1, 1)])
def test_only_the_halves_keep_the_budget_of_divided_warps(order, divided, size, blocks, guards):
    exercise, case = find("13.3"), Case((np.ones(size, np.float32),))
    text = cells_of(SHEET, "exercise")["13.3"].source
    if order == "neighbours":
        for old, new in (("distance = WIDTH // 2", "distance = 1"), ("distance > 0", "distance < WIDTH"),
                         ("t < distance", "t % (2 * distance) == 0"), ("distance //= 2", "distance *= 2")):  # fmt: skip
            assert text.count(old) == 1
            text = text.replace(old, new)
    outcome = run_kernel(exercise, text, case)
    assert outcome.counters["divergent_branches"] == blocks * (divided + 1) + guards  # and one for the result
    finding = judge(exercise, case, outcome)
    if order == "halves":
        assert finding is None
    else:
        assert "divergent branches" in finding.says
        assert "threads of one warp go both ways at if t % (2 * distance) == 0" in finding.says


@pytest.mark.parametrize(("loop", "rounds"), [(True, 160), (False, 300)])
def test_rounds_of_atomic_additions_are_counted_by_lane(loop, rounds):
    each = "acc += x[i]" if loop else "cuda.atomic.add(total, 0, x[i])"
    text = f"""
@gpu.jit
def grid_sum(x, total):
    acc = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        {each}
    {"cuda.atomic.add(total, 0, acc)" if loop else ""}
"""
    case = find("13.2").cases[0]
    outcome = run_kernel(find("13.2"), text, case)
    assert outcome.counters["atomic_rounds"] == rounds
    assert "let one lane do it" in judge(find("13.2"), case, outcome).says


def test_the_kernel_to_repair_is_right_where_blocks_are_full_and_always_has_its_finding():
    exercise = find("13.4")
    broken = stub_of(cells_of(SHEET, "exercise")["13.4"], exercise)
    for size in (128, 256):
        x = np.random.default_rng(size).integers(1, 999, size).astype(np.float32)
        outcome = run_kernel(exercise, broken, Case((x,)))
        np.testing.assert_array_equal(outcome.value, x.reshape(-1, 128).max(axis=1))
        finding = judge(exercise, Case((x,)), outcome)
        assert finding.cause == "hazard"
        assert "thread 1 of block 0 does not come to this barrier" in finding.says
    mended = broken.replace("            cuda.syncthreads()\n", "").replace(
        "        if t % ", "        cuda.syncthreads()\n        if t % "
    )
    case = exercise.cases[1]
    assert "A thread without an element brought a 0" in judge(exercise, case, run_kernel(exercise, mended, case)).says


def test_the_loss_of_a_row_is_the_one_of_lesson_06():
    for case in find("13.6").cases:
        z, labels = case.args
        mean, _ = reference.softmax_cross_entropy_forward(z.astype(np.float64), labels)
        np.testing.assert_allclose(find("13.6").expect(z, labels).mean(dtype=np.float64), mean, rtol=1e-6)


def test_pooling_side_by_side_is_a_case_of_the_general_one():
    for case in find("13.7").cases[:2]:
        x, size, stride, pad = case.args
        assert (stride, pad) == (size, 0)
        y, (_, mask) = reference.max_pool_forward(x[None], size)
        for found, right in zip(find("13.7").expect(*case.args), (y[0], mask[0]), strict=True):
            np.testing.assert_array_equal(found, right)


def test_the_sum_in_words_is_0_in_four_orders_and_1_where_the_1_comes_last():
    large = np.float32(1e9)
    assert np.nextafter(large, np.float32(2e9)) - large == 64
    for order in itertools.permutations((large, np.float32(1), -large)):
        total = np.float32(0)
        for number in order:
            total += number
        assert total == (1 if order[-1] == 1 else 0), order
