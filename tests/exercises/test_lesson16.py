"""Sheet 16: what its statements say of times and launches is what simulator and executor count; its broken lists."""

from pathlib import Path

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import read_sheet

from course_lib import streams
from course_lib.checks.exercises import lesson16_launches as launches
from course_lib.checks.exercises.lesson16 import STEP, TWO_BRANCHES
from course_lib.checks.registry import find
from course_lib.grading.keys import load_keys
from tests.setup.project import ROOT

NAMES = sheet_names(read_sheet(ROOT / "solutions" / "16_training_on_the_gpu.py"), "16_training_on_the_gpu")
KEYS = load_keys(Path(ROOT) / "solutions" / "keys", "16_training_on_the_gpu")


def broken(id):
    """The list of requests that students get to mend, as a function."""
    text = (ROOT / "solutions" / "16_training_on_the_gpu.py").read_text(encoding="utf-8")
    name = find(id).function
    body = text.partition(f"def {name}(")[2].partition("### BEGIN BROKEN\n")[2].partition("    ### END BROKEN")[0]
    argument = "batches" if "ahead" in name else "pieces"
    exec(f"def {name}({argument}):\n{body}", names := {})
    return names[name]


def test_the_example_of_16_1():
    per_image, turn = NAMES["time_per_image"]([10, 75], 20, 10, 50, 2)
    assert (per_image[0], turn) == (20, 75)
    assert 50 + 2 * 75 == 20 * 10 == 200


def test_the_example_of_16_2():
    assert NAMES["worth_pinning"](4_000_000, 8_000, 40_000, 2_000) == (600, 100, 5)
    assert 2_000 + 4 * 100 == 4 * 600 == 2_400


@pytest.mark.parametrize(("slots", "whole"), [(1, 5 * 22 + 8), (2, 30 + 4 * 12), (3, 30 + 4 * 12)])
def test_pieces_take_as_long_as_16_3_says(slots, whole):
    run = streams.simulate(streams.read_compute_write(10, 12, 8, slots=slots), NAMES["overlapped"](5, slots))
    assert run.end == whole
    assert not run.races


def test_16_3_takes_all_four_waits():
    waits = [request for request in NAMES["overlapped"](4, 2) if request[0] == "wait"]
    for one in {w[1].split()[0] + w[2]: w for w in waits}.values():
        without = [request for request in NAMES["overlapped"](4, 2) if request != one]
        assert launches.overlap_problem(without, 4, 2).kind == "a race", one


def test_the_slow_list_of_16_4_is_right_and_as_slow_as_one_stream():
    run = streams.simulate(streams.read_compute_write(10, 12, 8, slots=3), broken("16.4")(8))
    assert not run.races
    assert not run.wrong
    assert run.end == 8 * 30


def test_the_fast_list_of_16_5_trains_every_second_step_on_a_mixture():
    run = streams.simulate(streams.loading_ahead(6, 4, 20), broken("16.5")(8))
    assert run.end == 6 + 4 + 8 * 20
    assert [span.piece for span in run.wrong] == [1, 3, 5]  # the last of them has no batch behind it
    assert run.read["train", 3] == {3, 5}
    mended = streams.simulate(streams.loading_ahead(6, 4, 20), NAMES["loaded_ahead"](8))
    assert mended.end == run.end
    assert not mended.races


def test_16_5_is_right_without_the_look_at_the_loss_too():
    asked = [r for r in NAMES["loaded_ahead"](8) if not (r[0] == "wait" and len(r) == 2 and "trained" in r[1])]
    assert launches.ahead_problem(asked, 8) is None


def test_the_examples_of_16_6():
    trained_on = NAMES["trained_on"]
    assert trained_on([("new", 0), ("record",), ("overwrite", 1), ("replay",), ("replay",)]) == [0, 1, 1]
    assert trained_on([("new", 0), ("record",), ("new", 1), ("replay",), ("new", 2), ("replay",)]) == [0, 0, 0]


def test_the_step_of_16_7_has_17_operations_and_8_launches():
    assert len(STEP) == 17
    assert len(NAMES["fuse"](STEP, 8)) == len(find("16.7").expect(STEP, 8)) == 8
    assert NAMES["fuse"](STEP[:5], 2) == [["z1", "add b1", "relu"], ["z2", "add b2"]]
    assert launches.fusion_problem(find("16.7").expect(TWO_BRANCHES, 4), TWO_BRANCHES, 4) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "no list of launches"), ([["z1"], []], "an empty launch"), ([[3]], "an unknown operation"),
        ([["z1"], ["z1"]], "an operation that is done twice"),
        ([["relu"]], "an operation before what it needs"), ([["z1"], ["add b1"]], "an operation that is missing"),
        ([["z1", "relu"]], "an operation before what it needs"),
    ],
)  # fmt: skip
def test_launches_that_do_not_fit_are_told_why(value, kind):
    assert launches.fusion_problem(value, STEP[:5], 2).kind == kind


@pytest.mark.parametrize("value", [None, 3, "read", [1], [("read",)], [("read", 0, "a")] * 2, [("read", 99, "a")], {}])
def test_anything_for_a_list_of_requests_is_judged(value):
    assert launches.overlap_problem(value, 3, 2) is not None


def test_thousands_of_requests_are_not_played():
    found = launches.flow_problem([("wait", "e", "s")] * 5_000, 3)
    assert found.kind == "far too many requests"


def test_kernels_are_within_their_budgets_on_hidden_sizes_too():
    for id in ("16.8", "16.9"):
        for part in KEYS[id].parts:
            for case in part.cases(np.random.default_rng(0)):
                assert all(most >= 0 for most in find(id).budget(*case.args).values())
