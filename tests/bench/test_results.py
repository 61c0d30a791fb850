"""The measured files in results/ are whole, say where they come from, and name only its processor."""

import json
import re
from pathlib import Path

import pytest

from course_lib.bench.gpu.work import FFT, evenly_right

RESULTS = Path(__file__).parents[2] / "results"
FILES = [file for file in sorted(RESULTS.glob("*.json")) if file.name != "counts.json"]
"""All that was measured; counts.json has no time in it, and a test of its own (test_estimate_table)."""

FEW_ROUNDS = {
    "simt": 7,
    "gpu": 3,
    "lessons": 3,
    "steps": 3,
    "cache": 3,
    "fft": 5,
    "microbench": 3,
    "kernels": 3,
    "tensor_cores": 3,
}
"""Where 20 are too many: a launch in Numba's simulator takes seconds, and so do the lowest rungs on a GPU."""


ONCE = "until enough are right"
"""Trainings until they reach a share, once a seed: their spread is among the "runs"."""


def timings(content):
    """Every timing of a file: of its rows, or of the runs of microbenchmarks."""
    rows = content.get("rows", [])
    for row in [*(rows.values() if isinstance(rows, dict) else rows), *content.get("growth", [])]:
        if not row.get("case", "").startswith(ONCE):
            yield from (row["timings"] if "timings" in row else row["players"]).values()
    for part in content.get("runs", {}).values():
        yield from part.values()
    for row in (row for part in content.get("parts", {}).values() for row in part if "rounds" in row):
        yield {"median": row["seconds"], **row}


def test_there_are_measurements():
    assert [f for f in FILES if f.name.startswith("cpu.")]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_a_file_of_results_is_whole(file):
    text = file.read_text(encoding="utf-8")
    content = json.loads(text)
    assert file.name.startswith(content["bench"] + ".")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", content["date"])
    assert {"cpu", "versions"} <= content["machine"].keys()
    assert not re.search(r"[\"' ]/[a-z]|\\\\|[A-Z]:|https?:", text)
    # Medians alone, as the leaderboard has them, see tests/grading; gradients and accuracies, see tests/lessons; sums
    # and steps of ranks, see tests/cluster.
    if content["bench"] in ("project", "gradients", "training", "parallel"):
        return
    found = list(timings(content))
    assert found or content["bench"] == "hopper"  # whose times have a spread, see below
    for timing in found:
        assert 0 < timing["lower"] <= timing["median"] <= timing["upper"]
        assert timing["rounds"] >= FEW_ROUNDS.get(content["bench"], 20)


def test_what_is_timed_once_a_seed_has_three_seeds():
    rows = [row for file in FILES for row in json.loads(file.read_text(encoding="utf-8")).get("rows", [])
            if isinstance(row, dict) and row.get("case", "").startswith("until enough are right")]  # fmt: skip
    assert len(rows) == 4
    for row in rows:
        assert len({run["seed"] for run in row["runs"] if run["lr"] == row["best"]}) == 3


def test_parts_measured_on_a_card_have_nothing_wrong():
    files = [f for f in FILES if f.name.startswith(("hopper.", "tensor_cores."))]
    assert files
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        for row in (row for part in content["parts"].values() for row in part):
            assert row.get("right") is not False, row
            if "spread" in row and "seconds" in row:  # a rung, or its rival
                assert row["seconds"] > 0 <= row["spread"] < 10
                assert not row["said"]
                if row["rival"]:  # the library's BF16 products are rounded to BF16 in the end
                    assert 0 <= row["share"] <= 1


def test_on_a_gpu_nothing_is_timed_that_was_not_verified():
    for file in (f for f in FILES if f.name.startswith("gpu.")):
        content = json.loads(file.read_text(encoding="utf-8"))
        assert content["machine"]["driver"] != "unknown"
        for row in content["rows"]:
            for name in row["timings"].keys() - {"copy"}:
                relative, share = row["errors"][name]
                # A rival may err everywhere alike, as Fourier transforms do; ours may not.
                even = name in row["rivals"] or row["kinds"][name] == FFT
                near = even and evenly_right(relative, row["kinds"][name])
                assert 0 <= share <= 1 or near, f"{row['case']}, {name}: relative error {relative}"
                assert 0 <= relative < 0.1, f"{row['case']}, {name}"
