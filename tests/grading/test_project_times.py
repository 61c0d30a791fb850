"""Predicted times of the free stage: in the order of a card, above the limits, no better for work that is shifted."""

import json

import pytest
from notebook_lib.kill import run_answer

from course_lib.checks.exercises.project_convolution_launches import C1_LIMITS, C3_LIMITS
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_kernel
from course_lib.checks.predicted import COUNTER
from course_lib.checks.registry import find
from tests.grading.dishonest_convolutions import C1, KEY, parts
from tests.setup.project import ROOT

EXERCISES, LIMITS = {"c1": "project.10", "c3": "project.11"}, {"c1": C1_LIMITS, "c3": C3_LIMITS}
RUNGS = {"basic": "v01_basic", "tiled": "v02_constant_masks", "joint": "v05_register_tiled"}
CASES = {"c1": "conv 1->6 k5 forward", "c3": "conv 6->16 k5 forward"}


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
def test_limits_lie_just_below_the_references_and_the_last_just_above(predicted, layer):
    for name, limit in LIMITS[layer].items():
        share = limit / predicted[layer][name]
        assert (1.0 < share < 1.1) if name == "specialised" else (0.9 < share < 1.0), name


@pytest.mark.parametrize("layer", EXERCISES)
def test_references_stand_in_the_order_in_which_a_card_ran_the_rungs_like_them(predicted, layer):
    bench = json.loads((ROOT / "results" / "gpu.h200.json").read_text())
    (row,) = [r for r in bench["rows"] if r["case"] == CASES[layer]]
    card = {name: row["timings"][rung]["median"] * 1e6 for name, rung in RUNGS.items()}
    times = {name: predicted[layer][name] for name in RUNGS}
    assert sorted(times, key=times.get) == sorted(card, key=card.get)
    assert all(1 < card[name] / times[name] < 6 for name in RUNGS)  # the least time: a card takes longer


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


def test_points_grow_with_each_limit_that_a_kernel_is_below():
    exercise, known = find("project.11"), parts("project.11")
    passed = [sum(r.weight for r in run_answer(exercise, known, KEY.REFERENCES["c3"][name], {}) if r.passed)
              for name in ("basic", "tiled", "joint", "specialised")]  # fmt: skip
    assert passed == [3, 4, 5, 7]
