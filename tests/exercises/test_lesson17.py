"""What sheet 17 says is what the library and the executor do: formats, fragments, products, and the kernel's budget."""

from pathlib import Path

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet

from course_lib.checks import Case
from course_lib.checks.exercises.kernel_inputs import whole
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.registry import find
from course_lib.cuda.fragments import fragment
from course_lib.nn.pruning import compress
from course_lib.reference.formats import FORMATS, round_to
from course_lib.reference.systolic import systolic_product
from tests.setup.project import ROOT

SHEET = read_sheet(Path(ROOT) / "solutions" / "17_tensor_cores.py")
NAMES = sheet_names(SHEET, "17_tensor_cores")


def kernel():
    return cells_of(SHEET, "exercise")["17.8"].source


@pytest.mark.parametrize("name", ["fp16", "bf16", "e5m2"])
def test_limits_are_those_of_the_formats_with_infinities(name):
    form = FORMATS[name]
    found = NAMES["limits"](form.exponent_bits, form.fraction_bits)
    assert found == (form.largest, form.smallest_normal, form.smallest, form.step_at_one)


def test_rounding_by_bits_is_the_librarys_and_keeps_infinities():
    x = np.random.default_rng(0).integers(0, 0x7F800001, 100_000).astype(np.uint32).view(np.float32)
    for each in (x, -x):
        np.testing.assert_array_equal(NAMES["to_bf16"](each), round_to(each, "bf16"))
    np.testing.assert_array_equal(NAMES["to_bf16"](np.float32([1 + 2**-8, 1 + 3 * 2**-8, 257])), [1, 1 + 2**-6, 256])


def test_the_holder_turns_the_fragments_table_round():
    table = fragment("a", "bf16")
    for lane, register, half in np.ndindex(table.rows.shape):
        place = table.rows[lane, register, half], table.columns[lane, register, half]
        assert NAMES["holder"](*map(int, place)) == (lane, register, half)


def test_three_products_are_about_500_times_as_exact_as_one():
    rng = np.random.default_rng(1)
    A, B = (rng.standard_normal((200, 200)).astype(np.float32) for _ in "AB")
    exact = A.astype(np.float64) @ B
    one, three = (np.linalg.norm(C - exact) / np.linalg.norm(exact) for C in (
        round_to(A, "bf16") @ round_to(B, "bf16"), NAMES["three_products"](A, B)))  # fmt: skip
    assert 1 / 500 < one < 1 / 300
    assert 350 < one / three < 750


def test_a_loss_scale_falls_with_overflows_and_rises_again():
    w, scale, good = np.ones(2), 64.0, 0
    for gradient in ([np.inf, 0], [np.nan, 1], *[[scale, 0]] * 3):
        w, scale, good = NAMES["scaled_step"](w, np.array(gradient), scale, good, 0.5, 3)
    assert (scale, good) == (32.0, 0)
    np.testing.assert_allclose(w, [1 - 3 * 0.5 * 64 / 16, 1])


def test_what_is_pruned_can_be_compressed():
    w = np.random.default_rng(2).standard_normal((16, 6)).astype(np.float32)
    values, places = compress(NAMES["prune"](w))
    assert values.shape == places.shape == (8, 6)
    assert np.count_nonzero(values) == 48


def test_beats_of_the_sheet_make_the_product():
    A, B = (np.random.default_rng(s).integers(-9, 10, (3, 3)).astype(float) for s in (1, 2))
    moving, sums = np.zeros((3, 3)), np.zeros((3, 3))
    _, beats = systolic_product(A, B)
    for t, expected in enumerate(beats):
        entering = np.array([A[t - k, k] if 0 <= t - k < 3 else 0 for k in range(3)])
        moving, sums = NAMES["beat"](moving, sums, entering, B)
        np.testing.assert_array_equal(moving, expected.moving)
        np.testing.assert_array_equal(sums, expected.sums)


@pytest.mark.parametrize(("M", "K", "N"), [(16, 16, 8), (32, 48, 24)])
def test_the_kernel_loads_what_its_lanes_hold_and_nothing_else(M, K, N):
    case = Case((whole(M, M, K), whole(N, K, N)))
    outcome = run_kernel(find("17.8"), kernel(), case)
    np.testing.assert_array_equal(outcome.value, case.args[0] @ case.args[1])
    budget = find("17.8").budget(*case.args)
    assert outcome.counters["global_loads"] == budget["global_loads"] == M * K * N // 8 + K * N * M // 16
    assert judge(find("17.8"), case, outcome) is None


def test_a_kernel_that_imports_the_intrinsics_itself_counts_too():
    text = "from course_lib.cuda.intrinsics import mma_bf16 as multiply, to_bf16_pair as pair\n" + kernel()
    text = text.replace("mma_bf16(", "multiply(").replace("to_bf16_pair(", "pair(")
    case = find("17.8").cases[0]
    assert judge(find("17.8"), case, run_kernel(find("17.8"), text, case)) is None
