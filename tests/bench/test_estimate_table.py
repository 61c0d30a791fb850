"""The table of predictions says what the committed counts and times say, and how good the predictions are."""

import json
from types import SimpleNamespace

import pytest

from course_lib.simt.estimate import compiled, launch
from course_lib.simt.estimate.measured_rates import MEASURED
from tests.setup.project import ROOT
from tools import estimate_counts, estimate_table
from tools.microbench import rates

RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def rows():
    return estimate_table.rows("H200")


def test_the_table_is_the_same_each_time(rows):
    assert estimate_table.text(rows) == estimate_table.text(estimate_table.rows("H200"))


def test_the_rates_are_those_of_the_measurements():
    assert rates.measured() == MEASURED, "run: python -m tools.microbench.rates"


def test_every_measured_kernel_stands_in_the_table_with_a_time_or_a_reason(rows):
    measured = json.loads((RESULTS / "kernels.h200.json").read_text(encoding="utf-8"))["rows"]
    wanted = {(case, p) for case, row in measured.items() for p in row["players"]}
    assert {(r.case, r.player) for r in rows} == wanted


def test_the_transposes_and_the_sums_are_ranked_as_the_card_does(rows):
    ranks = estimate_table.taus(rows)
    assert (ranks["transpose"], ranks["reduce"], ranks["transpose 4096"]) == (1, 1, 1)


def test_the_predictions_are_as_good_as_they_are_said_to_be(rows):
    found = estimate_table.summary(rows)
    assert found["kernels"] >= 175
    assert found["error"] < 1.15
    assert found["within 2x"] >= 0.98
    assert found["within 4x"] >= 0.99
    ranks = estimate_table.taus(rows)
    assert {case for case, tau in ranks.items() if tau < 0.9} == {"conv 1->6 k5 forward", "conv 64->64 k3 forward"}
    assert min(ranks.values()) > 0.85
    assert len(ranks) >= 20


def test_kendalls_tau_is_that_of_its_definition():
    assert estimate_table.tau([1, 2, 3], [10, 20, 30]) == 1
    assert estimate_table.tau([3, 2, 1], [10, 20, 30]) == -1
    assert estimate_table.tau([1, 3, 2], [10, 20, 30]) == pytest.approx(1 / 3)
    assert estimate_table.tau([2, 1], [10, 10.4]) is None  # a tie


def test_kernels_that_are_made_for_a_size_are_compiled_each_though_they_share_their_name(monkeypatch):
    made = [SimpleNamespace(kernel=SimpleNamespace(__name__="_forward_v06"), arguments=()) for _ in range(2)]
    monkeypatch.setattr(estimate_counts, "KEPT", {})
    monkeypatch.setattr(compiled, "compiled", lambda launch, cc: launch.kernel)
    monkeypatch.setattr(launch, "counted", lambda launch, device, code: (None, code))
    assert [estimate_counts.facts(one) for one in (*made, made[0])] == [made[0].kernel, made[1].kernel, made[0].kernel]


def test_a_kernel_without_a_prediction_says_why(rows):
    without = [r for r in rows if r.predicted is None]
    assert without
    assert all(len(r.limit) > 20 for r in without)


def test_a_constant_of_no_card_comes_from_a_judged_kernel():
    measured = json.loads((RESULTS / "microbench.h200.json").read_text(encoding="utf-8"))
    judged = json.loads((RESULTS / "kernels.h200.json").read_text(encoding="utf-8"))["rows"]
    names = {launch[0] for row in judged.values() for p in row["players"].values() for launch in p["launches"]}
    own = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (ROOT / "tools" / "microbench").glob("*.py")
        if path.stem in measured["runs"]
    }
    assert set(own) == set(measured["runs"])
    assert not [name for name in names for text in own.values() if name.strip("_") + "(" in text]
