"""What sheet 14 asks to be counted is what the executor counts; its broken layer; its tiles; its numbers in words."""

from pathlib import Path

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet, stub_of

from course_lib import simt
from course_lib.checks import Case
from course_lib.checks.exercises.kernel_inputs import whole
from course_lib.checks.exercises.lesson14_launches import tile_problem
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.kernels import IMPORTS, output, run_kernel
from course_lib.checks.registry import find
from course_lib.checks.values import Opaque
from course_lib.grading.keys import load_keys, parts_of
from tests.setup.project import ROOT

SHEET = read_sheet(ROOT / "solutions" / "14_matrix_multiplication.py")
NAMES = sheet_names(SHEET, "14_matrix_multiplication")
KEYS = load_keys(Path(ROOT) / "solutions" / "keys", "14_matrix_multiplication")


def solution(id):
    return cells_of(SHEET, "exercise")[id].source


def with_changes(text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def product_case(M, K, N):
    return Case((whole(M, M, K), whole(N, K, N)))


def transposed_case(M, K, N):
    return Case((whole(M, M, K), whole(N, N, K)))


def case_of(id, M, K, N):
    return (transposed_case if id == "14.3" else product_case)(M, K, N)


# ------------------------------------------------------------------------------------------- 14.1: loads

TILES = """
BM, BN = {BM}, {BN}

@gpu.jit
def tiles(A, B, C):
    As = cuda.shared.array(BM, float32)
    Bs = cuda.shared.array(BN, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        if tx == 0 and row < A.shape[0]:
            As[ty] = A[row, k]
        if ty == 0 and column < B.shape[1]:
            Bs[tx] = B[k, column]
        cuda.syncthreads()
        if row < C.shape[0] and column < C.shape[1]:
            acc += As[ty] * Bs[tx]
        cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = acc
"""


PLAIN = """
@gpu.jit
def plain_product(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, column]
        C[row, column] = acc
"""


def counted_loads(text, name, M, N, K, BM, BN):
    """The loads that a run of the kernel makes, which must be right."""
    (A, B), C = product_case(M, K, N).args, output((M, N))
    source = simt.read(text, name, names={}, imports=IMPORTS, skip=True)
    report = simt.run(source, (-(-N // BN), -(-M // BM)), (BN, BM), (A, B, C), on_error="collect")
    assert report.hazards == []
    np.testing.assert_array_equal(C.copy_to_host(), A @ B)
    return report.arrays["A"].loads + report.arrays["B"].loads


@pytest.mark.parametrize(
    "sizes", [(4, 4, 12, 2, 2), (4, 4, 12, 2, 4), (5, 5, 3, 4, 4), (7, 20, 9, 4, 8), (1, 3, 2, 8, 4)]
)
def test_loads_are_those_that_the_executor_counts_with_tiles_of_any_shape(sizes):
    tiled = counted_loads(TILES.format(BM=sizes[3], BN=sizes[4]), "tiles", *sizes)
    plain = counted_loads(PLAIN, "plain_product", *sizes)
    assert find("14.1").expect(*sizes) == NAMES["loads"](*sizes) == (plain, tiled)


def test_square_tiles_load_2n_cubed_by_t_and_the_lectures_tiles_reuse_2_and_2_and_2_and_4_times():
    assert find("14.1").expect(64, 64, 64, 16, 16) == (2 * 64**3, 2 * 64**3 // 16)
    M, N, K = 4, 4, 12
    for BM, BN in ((2, 2), (2, 4)):
        plain, tiled = find("14.1").expect(M, N, K, BM, BN)
        assert tiled == plain // 2 // BN + plain // 2 // BM  # an element of A serves BN columns, one of B BM rows


# ------------------------------------------------------------------------------------------- budgets of the ladder


@pytest.mark.parametrize(("axes", "sectors"), [("m, f", 4), ("f, m", 32)])
@pytest.mark.parametrize(("S", "F", "M"), [(8, 32, 32), (8, 64, 32), (3, 32, 96)])
def test_the_gradients_loads_cost_the_same_both_ways_and_its_stores_do_not(axes, sectors, S, F, M):
    text = with_changes(solution("14.2"), ("m, f = cuda.grid(2)", f"{axes} = cuda.grid(2)"))
    case = Case((whole(1, S, F), whole(2, S, M)))
    outcome = run_kernel(find("14.2"), text, case)
    np.testing.assert_array_equal(outcome.value, case.args[0].T @ case.args[1])
    assert outcome.counters["global_load_sectors"] == 5 * S * F * M // 32
    assert outcome.counters["global_store_sectors"] == sectors * F * M // 32
    found = judge(find("14.2"), case, outcome)
    assert (found is None) == (sectors == 4)
    assert found is None or found.cause == "over the budget of global store sectors"


@pytest.mark.parametrize(("width", "conflicts"), [(16, 16 * 8 * 7), (17, 8)])
def test_a_column_of_a_tile_lies_in_two_banks_and_with_padding_in_sixteen(width, conflicts):
    text = with_changes(solution("14.3"), ("(TILE, 17)", f"(TILE, {width})"))
    case = transposed_case(16, 16, 16)
    outcome = run_kernel(find("14.3"), text, case)
    assert outcome.counters["bank_conflicts"] == conflicts
    assert (judge(find("14.3"), case, outcome) is None) == (width == 17)


@pytest.mark.parametrize("size", ["TILE + 1", "TILE + 2"])
def test_a_sum_as_a_shape_is_told_to_be_made_a_constant(size):
    text = with_changes(solution("14.3"), ("(TILE, 17)", f"(TILE, {size})"))
    outcome = run_kernel(find("14.3"), text, transposed_case(16, 16, 16))
    assert f"make a new constant outside, such as SIZE = {size}, and use its name" in outcome.error
    named = with_changes(text, ("(TILE, " + size, "(TILE, SIZE"), ("TILE = 16\n", f"TILE = 16\nSIZE = {size}\n"))
    case = transposed_case(16, 16, 16)
    assert judge(find("14.3"), case, run_kernel(find("14.3"), named, case)) is None


@pytest.mark.parametrize("id", ["14.3", "14.4", "14.5", "14.6"])
def test_without_its_last_barrier_a_kernel_is_told_of_two_warps_first_and_of_no_atomics(id):
    text = with_changes(solution(id).replace("        cuda.syncthreads()\n    if", "    if").replace(
        "        cuda.syncthreads()\n    for i", "    for i"))  # fmt: skip
    assert text != solution(id)
    case = find(id).cases[0]
    outcome = run_kernel(find(id), text, case)
    first = outcome.found[0][1]
    assert first.array in ("Bs", "ws")
    assert not first.details["one_warp"]
    assert "Put cuda.syncthreads() between the two, where all threads come by." in outcome.hazards[0]
    assert not any("atomic" in says for says in outcome.hazards)


@pytest.mark.parametrize(("id", "requests", "multiplications"), [("14.3", 2, 1), ("14.5", 5, 4), ("14.6", 8, 16)])
def test_more_results_a_thread_need_fewer_requests_to_shared_memory(id, requests, multiplications):
    M, K, N = 32, 16, 64
    outcome = run_kernel(find(id), solution(id), case_of(id, M, K, N))
    assert outcome.counters["shared_load_requests"] * multiplications == requests * M * K * N // 32
    stores = 8 * M * K * N // 16**3  # one of each warp, of 17 numbers in a row
    assert outcome.counters["bank_conflicts"] == (stores if id == "14.3" else 0)


@pytest.mark.parametrize(("id", "BM", "BN"), [("14.3", 16, 16), ("14.5", 32, 32), ("14.6", 32, 32)])
def test_operations_for_a_byte_are_those_that_exercise_14_7_computes(id, BM, BN):
    M, K, N = 32, 16, 64
    loaded = run_kernel(find(id), solution(id), case_of(id, M, K, N)).counters["global_loads"]
    assert 2 * M * N * K / (4 * loaded) == BM * BN / (2 * (BM + BN))


def test_a_kernel_of_floats_in_a_float64_array_and_one_that_reads_again_are_told_where():
    case = find("14.5").cases[0]
    text = with_changes(solution("14.5"), ("acc = cuda.local.array(ROWS, float32)", "acc = cuda.local.array(ROWS, D)"))
    outcome = run_kernel(find("14.5"), "from numba import float64 as D\n" + text, case)
    assert "since acc is an array of float64. Give the array float32." in judge(find("14.5"), case, outcome).says
    text = with_changes(solution("14.5"), ("k] * b\n", "k] * Bs[k, tx]\n"))
    outcome = run_kernel(find("14.5"), text, case)
    line = text.splitlines().index("                acc[i] += As[ROWS * ty + i, k] * Bs[k, tx]") + 1
    assert (
        f"Line {line}: most of the requests to shared memory are made here" in judge(find("14.5"), case, outcome).says
    )


# ------------------------------------------------------------------------------------------- 14.4: the broken layer

RETURN = "    if row >= a.shape[0] or column >= a.shape[1]:\n        return\n"
BROKEN = stub_of(cells_of(SHEET, "exercise")["14.4"], find("14.4"))
BARRIER = (
    "            z += xs[ty, k] * ws[k, tx]\n",
    "            z += xs[ty, k] * ws[k, tx]\n        cuda.syncthreads()\n",
)
STAYS = (
    (RETURN, ""),
    ("z = b[column]", "z = b[column] if column < b.size else float32(0)"),
    ("= x[row, f + tx] if f", "= x[row, f + tx] if row < x.shape[0] and f"),
    ("= w[f + ty, column] if f", "= w[f + ty, column] if column < w.shape[1] and f"),
    ("    a[row, column] = max", "    if row < a.shape[0] and column < a.shape[1]:\n        a[row, column] = max"),
)
TURNS = ("range(cuda.gridDim.x)", "range((x.shape[1] + SIDE - 1) // SIDE)")


@pytest.mark.parametrize("n", [8, 16, 24, 64])
def test_the_broken_layer_has_the_right_numbers_on_square_matrices_and_always_its_finding(n):
    exercise, case = find("14.4"), Case((whole(1, n, n), whole(2, n, n), whole(3, n)))
    outcome = run_kernel(exercise, BROKEN, case)
    np.testing.assert_array_equal(outcome.value, exercise.expect(*case.args))
    finding = judge(exercise, case, outcome)
    if n > 8:  # one turn has no next one
        assert finding.cause == "hazard"
        assert "writes ws[" in finding.says
    else:
        assert finding is None


def test_the_faults_of_the_layer_show_one_after_the_other():
    exercise = find("14.4")

    def told(*changes):
        text = with_changes(BROKEN, *changes)
        return next((f.says for c in exercise.cases if (f := judge(exercise, c, run_kernel(exercise, text, c)))), "")

    assert "writes ws[" in told()
    assert "which nobody has written yet" in told(BARRIER)
    assert "on b, which has 21 elements" in told(BARRIER, (RETURN, ""))
    assert "The grid covers a and knows nothing of F" in told(BARRIER, *STAYS)
    assert told(BARRIER, *STAYS, TURNS) == ""


# ------------------------------------------------------------------------------------------- 14.7: tiles


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "no tile"),
        ((64, 64, 8, 4), "no tile"),
        (Opaque("Tile"), "no tile"),
        ("abcde", "no tile"),
        ((64.0, 64, 8, 4, 4), "a fraction"),
        ((np.float32(64), 64, 8, 4, 4), "a fraction"),
        ((True, 64, 8, 4, 4), "something else than whole numbers"),
        (("64", 64, 8, 4, 4), "something else than whole numbers"),
        ((0, 64, 8, 4, 4), "a size that no tile has"),
        ((64, 64, 8, -4, -4), "a size that no tile has"),
        ((10**5000, 64, 8, 4, 4), "a size that no tile has"),
        ((66, 64, 8, 4, 4), "a tile that the threads' parts do not fill"),
        ((64, 66, 8, 4, 4), "a tile that the threads' parts do not fill"),
        ((128, 64, 8, 4, 4), "another number of threads"),
        ((64, 64, 4, 4, 4), "rows that are not whole sectors"),
        ((1024, 4, 8, 4, 4), "rows that are not whole sectors"),
        ((64, 64, 104, 4, 4), "more shared memory than a block has"),
        ((256, 256, 8, 16, 16), "more registers than a thread has"),
        ((512, 8, 8, 4, 4), "too few operations for a byte"),
        ((256, 16, 8, 16, 1), "too few operations for a byte"),
        ((512, 128, 8, 256, 1), "more registers than a thread has"),
        ((128, 96, 8, 1, 48), "too few multiplications for a number"),
    ],
)
def test_a_tile_for_256_threads_that_does_not_fit_is_told_why(value, kind):
    found = tile_problem(value, 256, 16.0, 2.0)
    assert found.kind == kind
    exercise, case = find("14.7"), Case((256, 16.0, 2.0))
    assert found.detail in judge(exercise, case, Outcome(value)).says
    hidden = judge(exercise, case, Outcome(value), reveal=False).says
    assert kind in hidden
    assert "256" not in hidden


@pytest.mark.parametrize(
    "value",
    [(64, 64, 8, 4, 4), [np.int64(64), 64, 96, 4, 4], (64, 128, 16, 8, 4), (96, 96, 8, 6, 6), (128, 128, 48, 8, 8)],
)
def test_several_tiles_are_right_also_as_lists_and_in_numpys_numbers(value):
    assert judge(find("14.7"), Case((256, 16.0, 2.0)), Outcome(value)) is None


def test_threads_that_fit_alone_may_not_fit_together():
    assert tile_problem((128, 256, 8, 8, 8), 512, 16.0, 2.0) is None
    found = tile_problem((256, 256, 8, 16, 8), 512, 16.0, 2.0)
    assert found.kind == "more registers than a block has"
    assert found.detail == "512 threads of 176 registers need 90,112; there are 65,536."


CONDITIONS = {
    2: lambda BM, BN, TM, TN, threads, intensity, reuse: BN % 8 == 0,
    3: lambda BM, BN, TM, TN, threads, intensity, reuse: 4 * (BM + BN) * 8 <= 49_152,
    4: lambda BM, BN, TM, TN, threads, intensity, reuse: (r := TM * TN + TM + TN + 24) <= 255 and r * threads <= 65_536,
    5: lambda BM, BN, TM, TN, threads, intensity, reuse: 2 * intensity * (BM + BN) <= BM * BN,
    6: lambda BM, BN, TM, TN, threads, intensity, reuse: reuse * (TM + TN) <= TM * TN,
}


def searched(case, ignored, parts_down, tiles_down):
    """The first tile of a search through small parts first or large ones, wide tiles first or high ones."""
    threads = case[0]
    parts, powers = [1, 2, 4, 8, 16], [2**k for k in range(threads.bit_length())]
    for TM in parts[::-1] if parts_down else parts:
        for TN in parts[::-1] if parts_down else parts:
            for down in powers[::-1] if tiles_down else powers:
                BM, BN = TM * down, TN * (threads // down)
                if all(holds(BM, BN, TM, TN, *case) for k, holds in CONDITIONS.items() if k != ignored):
                    return BM, BN, 8, TM, TN
    return None


@pytest.mark.parametrize("ignored", CONDITIONS)
def test_a_public_case_of_14_7_refuses_a_search_that_ignores_a_condition(ignored):
    cases = [case.args for case in find("14.7").cases]
    ways = [(parts, tiles) for parts in (False, True) for tiles in (False, True)]
    assert all(tile_problem(searched(case, 0, *way), *case) is None for case in cases for way in ways)
    refused = {way for case in cases for way in ways if tile_problem(searched(case, ignored, *way), *case)}
    # A row that is no whole sector comes first only where high tiles do.
    assert refused >= ({(False, True)} if ignored == 2 else {(True, True)} if ignored == 3 else set(ways))


def test_every_case_has_a_tile_of_powers_of_two_and_the_answer_of_one_case_does_not_do_for_a_hidden_part():
    exercise = find("14.7")
    parts = parts_of(exercise, KEYS["14.7"])
    for _, _, _, cases in parts:
        for case in cases:
            tile = exercise.expect(*case.args)
            assert all(n & (n - 1) == 0 for n in tile)
            assert tile_problem(tile, *case.args) is None
            assert tile_problem(NAMES["choose_tile"](*case.args), *case.args) is None
            for _, hidden, _, others in parts:
                assert not hidden or any(tile_problem(tile, *other.args) for other in others)


# ------------------------------------------------------------------------------------------- 14.8 and 14.9


@pytest.mark.parametrize(("M", "K"), [(8, 128), (5, 96)])
def test_four_vectors_at_once_do_four_times_half_an_operation_for_each_byte_of_the_matrix(M, K):
    case = Case((whole(1, M, K), whole(2, 4, K)))
    outcome = run_kernel(find("14.8"), solution("14.8"), case)
    assert outcome.counters["global_loads"] == M * K + 4 * M * K
    assert outcome.counters["global_load_sectors"] == 5 * M * K // 8  # whole sectors, of A and of four vectors
    of_A = outcome.counters["global_loads"] - 4 * M * K
    assert 4 * 2 * M * K / (4 * of_A) == 4 * 0.5


def test_a_batch_of_30_does_15_operations_for_each_byte_of_weights_and_one_of_16_does_8():
    bytes_of_weights = 4 * 4096 * 4096
    assert bytes_of_weights == 64 * 2**20
    assert [2 * 4096 * 4096 * batch / bytes_of_weights for batch in (1, 16, 30)] == [0.5, 8, 15]
