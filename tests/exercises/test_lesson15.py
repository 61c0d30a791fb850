"""What sheet 15 says of launches, tiles, unrolling and C1 is what the executor counts and the library computes."""

import time

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet

from course_lib import reference
from course_lib.checks import Case, CheckFailed, check
from course_lib.checks.exercises.kernel_inputs import whole
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.registry import find
from course_lib.cuda.ladders.conv2d.forward import v05b_c1_layer as c1_kernel
from course_lib.grading.host import Task
from course_lib.grading.host_kernels import Kernels
from course_lib.grading.keys import load_keys
from course_lib.grading.limits import Limits
from course_lib.lesson import measured, memory_ladder
from tests.setup.project import ROOT

NAME = "15_convolution_kernels"
SHEET = read_sheet(ROOT / "solutions" / f"{NAME}.py")
CELLS = {id: cell.source for id, cell in cells_of(SHEET, "exercise").items()}
NAMES = sheet_names(SHEET, NAME)
KEYS = ROOT / "solutions" / "keys"


def run(id, *args):
    """The outcome of a model answer on these arguments."""
    return run_kernel(find(id), CELLS[id], Case(args))


# ------------------------------------------------------------------------------------------- 15.1, 15.2: the launch


@pytest.mark.parametrize(
    ("layer", "outputs", "threads"),
    [((6, 28, 28), 4704, 24 * 256), ((16, 10, 10), 1600, 16 * 256), ((120, 1, 1), 120, 120 * 256)],
)
def test_lenet5_has_ever_fewer_outputs_and_c5_one_for_256_threads(layer, outputs, threads):
    for basic_launch in (find("15.1").expect, NAMES["basic_launch"]):
        assert basic_launch(1, *layer, 16)[1:] == (outputs, threads)


def test_the_lectures_example_has_4_x_4_blocks():
    assert find("15.1").expect(1, 4, 8, 8, 4)[0] == (4, 4, 1)


@pytest.mark.parametrize("case", find("15.2").cases, ids=lambda c: c.note)
def test_the_basic_kernel_is_launched_as_15_1_counts(case):
    outcome = run("15.2", *case.args)
    ((grid, block, _),) = outcome.calls
    B, M, H_out, W_out = outcome.value.shape
    expected, outputs, threads = find("15.1").expect(B, M, H_out, W_out, 4)
    assert (grid, block) == (expected, (4, 4, 1))
    assert outputs == outcome.counters["global_stores"] == outcome.value.size
    assert threads == int(np.prod(grid)) * 16 >= outputs


# ------------------------------------------------------------------------------------------- 15.4: tile and masks


def test_a_full_tile_uses_each_pixel_as_often_as_the_formula_of_the_lecture_says():
    x, masks = whole(1, 2, 18, 26), whole(2, 3, 2, 3, 3)
    outcome = run("15.4", x, masks)
    products = outcome.value.size * 2 * 9
    T, K = 8, 3
    assert products / outcome.counters["global_loads"] == K**2 * T**2 / (T + K - 1) ** 2 == 5.76


def test_a_tile_without_its_halo_is_wrong_only_where_an_output_looks_beyond_it():
    exercise, case = find("15.4"), find("15.4").cases[1]
    (mutant,) = (m for m in load_keys(KEYS, NAME)["15.4"].mutants if m.name == "no halo")
    wrong = run_kernel(exercise, mutant.text, case).value != exercise.expect(*case.args)
    inside = np.zeros(wrong.shape, np.bool_)
    inside[:, :6, :6] = inside[:, :6, 8:14] = True  # of each 8 x 8 outputs, those that look at the tile alone
    assert not wrong[inside].any()
    assert wrong.any()


@pytest.mark.parametrize(("id", "name"), [("15.4", "MASKS"), ("15.7", "C1_MASKS")])
def test_the_sheets_masks_have_the_shape_of_every_case(id, name):
    shapes = {case.args[1].shape for case in find(id).cases}
    shapes |= {case.args[1].shape for part in load_keys(KEYS, NAME)[id].parts for case in part.cases(
        np.random.default_rng(0))}  # fmt: skip
    assert shapes == {NAMES[name].shape}


# ------------------------------------------------------------------------------------------- masks, in check and grader


def kernel_of(id, tmp_path, text):
    """A kernel as a notebook has it: below the sheet's first cell, with its source in a file."""
    setup = next(cell.source for cell in SHEET.cells if cell.cell_type == "code")
    file = tmp_path / "sheet.py"
    file.write_text(f"{setup}\n{text}\n")
    names = {"__name__": "__main__"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names[find(id).function]


@pytest.mark.parametrize("id", ["15.4", "15.7"])
def test_the_check_in_a_notebook_exchanges_the_masks(id, tmp_path, capsys):
    check(id, kernel_of(id, tmp_path, CELLS[id]))
    assert "right in all 2 public cases" in capsys.readouterr().out


@pytest.mark.parametrize(("id", "name"), [("15.4", "MASKS"), ("15.7", "C1_MASKS")])
def test_the_check_in_a_notebook_refuses_weights_that_are_counted_as_1(id, name, tmp_path):
    text = next(m.text for m in load_keys(KEYS, NAME)[id].mutants if m.name == "weights of 1")
    with pytest.raises(CheckFailed, match=f"reads no {name}"):
        check(id, kernel_of(id, tmp_path, text))


def test_the_graders_process_exchanges_the_masks_in_public_and_hidden_cases():
    exercise, key = find("15.4"), load_keys(KEYS, NAME)["15.4"]
    setup = next(cell.source for cell in SHEET.cells if cell.cell_type == "code")
    missing = next(m.text for m in key.mutants if m.name == "weights of 1")
    kernels = Kernels(Task("ann", NAME, (), keys=str(KEYS), limits=Limits()), time.monotonic() + 120)
    try:
        results, fault = kernels.run(exercise, key, f"{setup}\n{CELLS['15.4']}")
        assert ([r.passed for r in results], fault) == ([True] * 3, "")
        results, fault = kernels.run(exercise, key, f"{setup}\n{missing}")
        assert ([r.passed for r in results], fault) == ([False] * 3, "")
        assert all("conv_constant reads no MASKS" in r.says for r in results)
    finally:
        kernels.close()


# ------------------------------------------------------------------------------------------- 15.5, 15.6: unrolling

ONE_BY_ONE = """
@gpu.jit
def unroll(x, K, cols):
    W_out = x.shape[2] - K + 1
    for k in range(cuda.grid(1), cols.shape[0], cuda.gridsize(1)):
        for pixel in range(cols.shape[1]):
            cols[k, pixel] = x[k // (K * K), pixel // W_out + k // K % K, pixel % W_out + k % K]
"""


@pytest.mark.parametrize("case", find("15.5").cases, ids=lambda c: c.note)
def test_a_matrix_stored_one_by_one_costs_a_sector_for_each_element(case):
    outcome = run_kernel(find("15.5"), ONE_BY_ONE, case)
    assert outcome.counters["global_store_sectors"] == outcome.value.size
    assert "global store sectors" in judge(find("15.5"), case, outcome).says
    assert run("15.5", *case.args).counters["global_store_sectors"] == -(-outcome.value.size // 8)


@pytest.mark.parametrize("case", find("15.6").cases, ids=lambda c: c.note)
def test_the_implicit_product_writes_nothing_but_its_outputs(case):
    outcome = run("15.6", *case.args)
    assert outcome.counters["global_stores"] == outcome.value.size
    x, rows, K = case.args
    y, _ = reference.conv2d_forward(x[None], rows.reshape(len(rows), len(x), K, K))
    np.testing.assert_array_equal(outcome.value, y[0])


# ------------------------------------------------------------------------------------------- 15.7: C1


def test_the_kernel_of_c1_costs_what_the_librarys_own_does():
    x, masks = whole(1, 2, 32, 32), whole(2, 6, 5, 5)
    outcome = run("15.7", x, masks)
    ((grid, block, _),) = outcome.calls
    assert (grid, block) == ((c1_kernel.BLOCKS, 2, 1), (c1_kernel.THREADS, 1, 1))
    blocks = c1_kernel.BLOCKS * 2
    assert outcome.counters["global_loads"] == 256 * blocks
    assert outcome.counters["shared_loads"] == 25 * c1_kernel.COMPUTING * blocks
    assert outcome.counters["global_stores"] == 6 * c1_kernel.COMPUTING * blocks == outcome.value.size


# ------------------------------------------------------------------------------------------- 15.8, 15.9


@pytest.mark.parametrize("case", find("15.8").cases, ids=lambda c: c.note)
def test_the_gathered_gradient_is_the_one_of_the_reference(case):
    dy, w = case.args
    K = w.shape[2]
    x = np.zeros((1, w.shape[1], dy.shape[1] + K - 1, dy.shape[2] + K - 1), np.float32)
    dx, _, _ = reference.conv2d_backward(dy[None], reference.conv2d_forward(x, w)[1])
    np.testing.assert_array_equal(find("15.8").expect(dy, w), dx[0])


def test_the_unrolled_matrix_of_c1_has_19_times_the_elements_of_its_input():
    cols = reference.im2col(np.zeros((1, 1, 32, 32)), 5)[0]
    assert cols.shape == (25, 784)
    assert (cols.size, 32 * 32, round(cols.size / 32**2, 1)) == (19_600, 1_024, 19.1)


def test_the_times_of_15_9_are_those_that_were_measured_and_its_sums_follow():
    text = " ".join((ROOT / "solutions" / f"{NAME}.py").read_text(encoding="utf-8").replace("\n# ", " ").split())
    rungs, steps = (measured(case, card="h200").seconds for case in
                    ("conv 1->6 k5 forward", "unrolling C1, then the product"))  # fmt: skip
    elements, columns = (1e6 * steps[f"{way}, then product"] for way in ("elements", "columns"))
    for said in (
        f"{1e6 * rungs['v01_basic']:,.0f} µs with the basic kernel; {elements:,.0f} µs really unrolled with a thread "
        f"for each element of the matrix, then multiplied; {columns:,.0f} µs with a thread for each column, then "
        "multiplied; "
        f"{1e6 * rungs['v04_implicit_gemm']:,.0f} µs unrolled in thought; and {1e6 * rungs['v06_specialised']:.0f} µs "
        "with a kernel that was generated for this layer",
        f"where do the {round(elements) - round(columns):,} µs between them come from",
    ):
        assert said in text
    memory = memory_ladder("H200")[-1][-1]
    assert f"at {memory / 1e12:.1f} TB/s about 370 µs for 10,000 images" in text
    assert 365 < 1e10 * 2 * 4 * 19_600 / memory < 375
    assert elements > 1e6 * rungs["v01_basic"] > 1e6 * rungs["v04_implicit_gemm"] > columns
