"""Numba's simulator, which is not the course's, runs the kernels too: the smallest of the same tests in a process."""

import os
import re
import subprocess
import sys
from pathlib import Path

from course_lib.cuda.ladders import gemm, reduce, transpose
from course_lib.cuda.ladders.conv2d import backward_data, forward
from course_lib.cuda.ladders.rung import rungs_for
from tests.cuda.op_cases import CASES, shuffles
from tests.gpu.devices import needs_numba

HERE = Path(__file__).parent
BACKWARD = "test_the_gradient_for_the_input_equals_the_reference_exactly_and_costs_the_formula"
LAYER = "(3, 2, 7, 9)-(5, 2, 3, 2)-(1, 1)-(0, 0)"
RUNGS = [  # ladder, test, ragged size
    (gemm, "test_gemm_ladder.py::test_product_of_any_size_equals_numpys_without_a_hazard", "7-13-9"),
    (transpose, "test_transpose_ladder.py::test_every_number_is_in_its_place", "7-13"),
    (reduce, "test_reduce_ladder.py::test_sum_of_whole_numbers_is_exact_for_any_count", "257"),
    (forward, "test_conv2d_forward.py::test_a_rung_equals_the_reference_exactly", LAYER),
    (backward_data, f"test_conv2d_backward.py::{BACKWARD}", LAYER),
]
WITHOUT_SHUFFLES = ("v01_basic", "v03_product", "v06_specialised")
"""Rungs of the gradient for the masks; the sums of v02, and of every bias, go through the lanes of a warp."""
OTHERS = [
    "test_gemm_tensor_cores.py::test_whole_numbers_are_multiplied_exactly_and_without_a_hazard_whatever_the_size",
    *(f"test_conv2d_backward.py::test_no_bias_has_no_gradient[{rung}]" for rung in WITHOUT_SHUFFLES),
    "test_activations.py::test_edges_are_the_references",
    "test_activations.py::test_backward_at_the_edges_is_the_references",
    "test_pooling.py::test_max_pooling_sends_gradients_to_the_winners",
    "test_pooling.py::test_average_pooling_shares_gradients",
    "test_optim.py::test_steps_in_powers_of_two_are_exact",
]
PASSED = 89
"""At least so many tests pass there."""


def smallest():
    """Return the node of one case of every operation: more than one number, and no shuffles if there is such a case."""
    found = {}
    for case in sorted(CASES, key=lambda c: (shuffles(c), c.arguments[0].size == 1)):
        found.setdefault(case.op, case)
    tests = {True: "test_small_whole_numbers_come_out_exactly", False: "test_other_functions_come_out_within_rounding"}
    return [f"test_ops_equal_reference.py::{tests[case.exact]}[{case}]" for case in found.values()]


def each_other(ladder):
    """Return every second rung for any size, from the highest that is exact down: a process of Numba's is slow."""
    return [r for r in rungs_for(ladder.LADDER) if r.exact][::-2]


@needs_numba
def test_the_same_tests_on_numbas_simulator():
    rungs = [f"{test}[{size}-{r.name}]" for ladder, test, size in RUNGS for r in each_other(ladder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
         *(str(HERE / node) for node in rungs + OTHERS + smallest())],
        env=os.environ | {"COURSE_DEVICE": "numba-simulator"}, cwd=HERE.parents[1], capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "Numba's simulator (no GPU)" in done.stdout  # the reason of what it skips
    skipped = re.findall(r"SKIPPED \[\d+\] \S+: (.*?);", done.stdout)
    assert {reason.split(",")[0] for reason in skipped} == {"needs lanes of a warp that work together"}
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= PASSED
