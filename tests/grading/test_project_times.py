"""Predicted times of the free stage: in the order of a card, above the limits, no better for work that is shifted."""

import json
from itertools import pairwise

import pytest
from notebook_lib.kill import run_answer

from course_lib.checks.exercises.project_convolution_launches import C1_LIMITS, C3_LIMITS
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.predicted import COUNTER
from course_lib.checks.registry import find
from course_lib.lesson import measured
from tests.grading.dishonest_convolutions import C1, KEY, parts
from tests.setup.project import ROOT

EXERCISES, LIMITS = {"c1": "project.10", "c3": "project.11"}, {"c1": C1_LIMITS, "c3": C3_LIMITS}
MEASURED = json.loads((ROOT / "results" / "project.h200.json").read_text())["rows"]


def microseconds(id, text):
    """The predicted time of a right kernel."""
    exercise = find(id)
    case = exercise.cases[-1]
    outcome = run_kernel(exercise, text, case)
    finding = judge(exercise, case, outcome)
    assert finding is None or finding.cause.startswith("over the budget"), finding.says
    return outcome.counters[COUNTER]


@pytest.fixture(scope="module")
def predicted():
    return {layer: {name: microseconds(EXERCISES[layer], text) for name, text in texts.items()}
            for layer, texts in KEY.REFERENCES.items()}  # fmt: skip


@pytest.mark.parametrize("layer", EXERCISES)
def test_limits_begin_below_the_basic_kernel_end_above_the_special_one_and_lie_in_equal_steps(predicted, layer):
    limits = list(LIMITS[layer].values())
    assert 0.9 < limits[0] / predicted[layer]["basic"] < 1
    assert 1 < limits[-1] / predicted[layer]["specialised"] < 1.1
    steps = [a / b for a, b in pairwise(limits)]
    assert max(steps) < 1.05 * min(steps)


@pytest.mark.parametrize("layer", EXERCISES)
def test_reference_kernels_stand_in_the_order_in_which_a_card_ran_them(predicted, layer):
    card = {row["kernel"]: row["microseconds"] for row in MEASURED if row["layer"] == layer and row["microseconds"]}
    assert len(card) >= 3
    assert sorted(card, key=predicted[layer].get) == sorted(card, key=card.get)


def test_a_card_takes_as_many_times_as_long_as_the_sheet_and_the_guide_say(predicted):
    ratios = [row["microseconds"] / predicted[row["layer"]][row["kernel"]] for row in MEASURED if row["microseconds"]]
    said = "1.0 to 2.6 times too short"
    for place in ("solutions/project_convolution.py", "INSTRUCTORS.md", "course_lib/simt/estimate/by_classes.py"):
        assert said in " ".join((ROOT / place).read_text().replace("#", "").split()), place
    assert said == f"{min(ratios):.1f} to {max(ratios):.1f} times too short"


def test_every_reference_kernel_has_a_row_measured_or_with_the_reason_why_not():
    rows = {(row["layer"], row["kernel"]): row for row in MEASURED}
    assert set(rows) == {(layer, name) for layer, texts in KEY.REFERENCES.items() for name in texts}
    assert all(bool(row["microseconds"]) != bool(row["reason"]) for row in rows.values())


def test_the_same_kernel_has_the_same_time_each_time():
    found = {microseconds("project.10", C1 + "\n" * n) for n in range(2)}
    assert len(found) == 1


LAZY = C1.replace("    t, top, b = cuda.threadIdx.x, cuda.blockIdx.x * 4, cuda.blockIdx.y\n", """\
    t, b = cuda.threadIdx.x, cuda.blockIdx.y
    if cuda.blockIdx.x % SHARE != SHARE - 1:
        return
    first = cuda.blockIdx.x - SHARE + 1
""").replace("(7, B)", "(7 * SHARE, B)").replace("def c1_launch", "SHARE = 4\n\n\ndef c1_launch")
LAZY = LAZY.replace("    row, col = t // 32", "    top = first // SHARE * 4\n    row, col = t // 32")
"""Three of four blocks do nothing: those that are walked again are such blocks more often than not."""


def test_blocks_that_do_nothing_make_no_kernel_faster():
    assert microseconds("project.10", LAZY) >= microseconds("project.10", C1)


def test_more_registers_for_nothing_make_no_kernel_faster():
    padded = C1.replace("    for m in range(6):\n        acc[m] = float32(0)\n", """\
    more = cuda.local.array(200, float32)
    more[0] = float32(0)
    for m in range(6):
        acc[m] = more[0]
""", 1)
    assert microseconds("project.10", padded) >= microseconds("project.10", C1)


def test_work_that_is_done_twice_costs_more():
    twice = C1.replace("        for p in range(5):\n", "        for p in range(5):\n            for q in range(5):\n"
                       "                acc[0] += tile[h + p, v + q] * float32(0)\n", 1)  # fmt: skip
    assert microseconds("project.10", twice) > microseconds("project.10", C1)


def test_a_division_by_a_size_of_the_launch_costs_more_than_one_by_a_number_of_the_text():
    by_number = C1.replace("acc[m] += pixel", "acc[m] += tile[h + (p * 28 + t) // 28 - t // 28, v + q]")
    by_size = by_number.replace("// 28 - t // 28", "// y.shape[3] - t // y.shape[3]")
    assert microseconds("project.10", by_size) > microseconds("project.10", by_number) > microseconds("project.10", C1)


POINTS = {"c1": [3, 3, 3, 7], "c3": [3, 3, 4, 7]}


@pytest.mark.parametrize("layer", EXERCISES)
def test_points_grow_with_each_limit_that_a_kernel_is_below(predicted, layer):
    kernels = "basic", "tiled", "joint", "specialised"
    below = [sum(predicted[layer][name] <= limit for limit in LIMITS[layer].values()) for name in kernels]
    assert [3 + limits for limits in below] == POINTS[layer]


def test_a_special_kernel_has_all_points_and_a_basic_one_those_of_a_right_one():
    exercise, known = find("project.10"), parts("project.10")
    passed = [sum(r.weight for r in run_answer(exercise, known, KEY.REFERENCES["c1"][name], {}) if r.passed)
              for name in ("basic", "specialised")]  # fmt: skip
    assert passed == [POINTS["c1"][0], POINTS["c1"][3]]


def words(place):
    """A text without comment marks and with single spaces."""
    return " ".join((ROOT / place).read_text(encoding="utf-8").replace("\n# ", " ").split())


@pytest.mark.parametrize("layer", EXERCISES)
def test_the_sheet_and_the_guide_name_the_marks_that_the_grader_takes(layer):
    limits = list(LIMITS[layer].values())
    factor = (limits[0] / limits[-1]) ** (1 / (len(limits) - 1))
    row = " | ".join((f"| {layer.upper()}", *map(str, limits), f"{factor:.1f} |"))
    assert row in words("solutions/project_convolution.py")
    *first, last = map(str, limits)
    assert f"{', '.join(first)} and {last}" in words("INSTRUCTORS.md")


def test_the_sheets_times_are_those_that_were_measured():
    own = {(row["layer"], row["kernel"]): f"{row['microseconds']:,.0f}" for row in MEASURED}
    c1, c3 = ({name: f"{1e6 * s:,.0f}" for name, s in measured(f"conv {case} forward", card="h200").seconds.items()}
              for case in ("1->6 k5", "6->16 k5"))  # fmt: skip
    columns = f"{1e6 * measured('unrolling C1, then the product', card='h200').seconds['columns, then product']:,.0f}"
    for said in (
        f"it takes {own['c1', 'basic']} µs on C1 and {own['c3', 'basic']} on C3, where the lesson's takes "
        f"{c1['v01_basic']} and {c3['v01_basic']}",
        f"slower on both layers ({own['c1', 'tiled']} and {own['c3', 'tiled']} µs)",
        f"slower on C1 ({own['c1', 'joint']} µs), though in the lesson both gain",
        f"| C1 | {c1['v01_basic']} | {c1['v03_im2col_gemm']} | {columns} |",
        f"| C3 | {c3['v01_basic']} | {c3['v03_im2col_gemm']} | not measured |",
        f"takes {c3['v03_im2col_gemm']} µs on an H200 when it is unrolled by elements, "
        f"and {c3['v04_implicit_gemm']} in thought",
        f"C1 takes {columns} µs unrolled by columns, and {c1['v04_implicit_gemm']} in thought",
    ):
        assert said in words("solutions/project_convolution.py"), said
    guide = f"takes {own['c1', 'basic']} µs on C1, where lesson 15's takes {c1['v01_basic']}"
    assert guide in words("INSTRUCTORS.md")
