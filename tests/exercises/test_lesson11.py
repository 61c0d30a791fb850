"""What sheet 11 asks for is what the executor does: launches, passes of divided warps, tiles; and its broken kernel."""

import numpy as np
import pytest
from notebook_lib.sheets import cells_of, read_sheet, stub_of

from course_lib import simt
from course_lib.checks import Case
from course_lib.checks.exercises.launches import launch_problem
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.kernels import IMPORTS, output, run_kernel
from course_lib.checks.registry import find
from course_lib.checks.values import Opaque
from tests.setup.project import ROOT

WHO = """
@gpu.jit
def who(hits, blocks):
    column, row = cuda.grid(2)
    if row < hits.shape[0] and column < hits.shape[1]:
        cuda.atomic.add(hits, (row, column), 1)
        cuda.atomic.max(blocks, (cuda.blockIdx.y, cuda.blockIdx.x), 1)
"""

BRANCH = """
@gpu.jit
def branch(takes, y):
    i = cuda.grid(1)
    if takes[i]:
        y[i] = 1
    else:
        y[i] = 2
"""


def run(text, name, grid, block, arguments):
    """Return the executor's report of a launch."""
    source = simt.read(text, name, names={}, imports=IMPORTS, skip=True)
    return simt.run(source, grid, block, arguments, on_error="collect")


# ------------------------------------------------------------------------------------------- 11.4: launches


def works(grid, block, rows, columns):
    """Whether every element has one thread and every block has work, as the executor runs it."""
    hits, blocks = np.zeros((rows, columns), np.int32), np.zeros(grid[::-1], np.int32)
    run(WHO, "who", grid, block, (hits, blocks))
    return bool((hits == 1).all() and blocks.all())


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (9, 40), (40, 9), (32, 64)])
def test_a_launch_is_called_right_if_each_element_has_a_thread_and_each_block_work(rows, columns):
    seen = set()
    for block in ((32, 1), (16, 4), (8, 8), (4, 16), (1, 32)):
        right = -(-columns // block[0]), -(-rows // block[1])
        for grid in {right, right[::-1], (right[0] + 1, right[1]), (right[0], right[1] + 1), (1, 1)}:
            verdict = launch_problem((grid, block), rows, columns) is None
            assert verdict == works(grid, block, rows, columns), (grid, block)
            seen.add(verdict)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "no grid and block"),
        (((2, 3), 32), "no grid and block"),
        (((2, 3), (32, 8), (1, 1)), "no grid and block"),
        (Opaque("Launch"), "no grid and block"),
        ("ab", "no grid and block"),
        (((2.0, 3), (32, 8)), "a fraction"),
        (((True, 3), (32, 8)), "something else than whole numbers"),
        ((("2", 3), (32, 8)), "something else than whole numbers"),
        (((0, 3), (32, 8)), "a number that no launch takes"),
        (((10**5000, 3), (32, 8)), "a number that no launch takes"),
        (((2, 3), (64, 32)), "a block of more than 1,024 threads"),
        (((2, 3), (20, 20)), "a block that is not made of whole warps"),
        (((2, 70_000), (32, 1)), "a grid of more than 65,535 blocks along y"),
        (((3, 2), (32, 8)), "a launch that leaves rows out"),
        (((1, 3), (32, 8)), "a launch that leaves columns out"),
        (((3, 3), (32, 8)), "a launch with a block that has nothing to do"),
        (((2, 4), (32, 8)), "a launch with a block that has nothing to do"),
    ],
)
def test_a_launch_that_does_not_fit_20_rows_and_40_columns_is_told_why(value, kind):
    found = launch_problem(value, 20, 40)
    assert found.kind == kind
    exercise, case = find("11.4"), Case((20, 40))
    assert found.detail in judge(exercise, case, Outcome(value)).says
    hidden = judge(exercise, case, Outcome(value), reveal=False).says
    assert kind in hidden
    assert "20" not in hidden


def test_several_launches_are_right_also_as_lists_and_in_numpys_numbers():
    for value in (((2, 3), (32, 8)), [[np.int64(5), 5], (8, 4)], ((1, 2), (64, 16)), ((1, 20), (64, 1))):
        assert judge(find("11.4"), Case((20, 40)), Outcome(value)) is None


def test_the_right_value_of_every_case_fulfils_what_is_required():
    exercise = find("11.4")
    for case in exercise.cases:
        assert judge(exercise, case, Outcome(exercise.expect(*case.args))) is None


# ------------------------------------------------------------------------------------------- 11.6: passes


def test_passes_and_idle_slots_are_those_that_the_executor_counts():
    rng = np.random.default_rng(11)
    divided = 0
    for threads in (1, 31, 32, 33, 64, 100, 256, 1000):
        for takes in (rng.integers(0, 2, threads) == 1, np.arange(threads) // 32 % 2 == 0, np.arange(threads) < 40):
            report = run(BRANCH, "branch", 1, threads, (takes, output(threads)))
            branch, one, two = (report.line(number).counters for number in (5, 6, 8))
            passes = one.instructions + two.instructions
            assert find("11.6").expect(takes) == (passes, 32 * passes - one.lanes - two.lanes)
            divided += branch.divergent_branches
    assert divided > 10


# ------------------------------------------------------------------------------------------- 11.5: the broken kernel

CELLS = cells_of(read_sheet(ROOT / "solutions" / "11_gpu_programming_model.py"), "exercise")
BROKEN = stub_of(CELLS["11.5"], find("11.5"))


@pytest.mark.parametrize("side", [16, 32, 48])
def test_the_broken_kernel_is_right_on_square_images_of_whole_blocks_and_only_there(side):
    exercise = find("11.5")
    image = np.arange(side * side, dtype=np.float32).reshape(side, side)
    outcome = run_kernel(exercise, BROKEN, Case((image, np.float32(2))))
    assert outcome.hazards == ()
    np.testing.assert_array_equal(outcome.value, 2 * image)
    for rows, columns in ((side, side + 1), (side + 1, side)):
        case = Case((np.ones((rows, columns), np.float32), np.float32(2)))
        finding = judge(exercise, case, run_kernel(exercise, BROKEN, case))
        assert finding is not None
        assert "over the budget" not in finding.cause


# ------------------------------------------------------------------------------------------- 11.7: tiles


def test_the_lectures_example_has_four_tiles_a_map_numbered_row_by_row():
    y = find("11.7").expect(4, 8, 8)
    np.testing.assert_array_equal(y[3, ::4, ::4] // 16, [[0, 1], [2, 3]])
    np.testing.assert_array_equal(y[0, :4, :4], np.arange(16).reshape(4, 4))
    m, h, w = np.indices((2, 5, 11))
    np.testing.assert_array_equal(find("11.7").expect(2, 5, 11), 16 * (h // 4 * 3 + w // 4) + h % 4 * 4 + w % 4 + 0 * m)
