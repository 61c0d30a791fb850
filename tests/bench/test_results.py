"""The measured files in results/ are whole, say where they come from, and name only its processor."""

import json
import re
from pathlib import Path

import pytest

from course_lib.bench.gpu.work import FFT, evenly_right

RESULTS = Path(__file__).parents[2] / "results"
FILES = [file for file in sorted(RESULTS.glob("*.json")) if file.name != "counts.json"]
"""All that was measured; counts.json has no time in it, and a test of its own (test_estimate_table)."""

FEW_ROUNDS = {"simt": 7, "gpu": 3, "lessons": 3, "steps": 3, "cache": 3, "fft": 5, "microbench": 3, "kernels": 3}
"""Where 20 are too many: a launch in Numba's simulator takes seconds, and so do the lowest rungs on a GPU."""


def timings(content):
    """Every timing of a file: of its rows, or of the runs of microbenchmarks."""
    rows = content.get("rows", [])
    for row in [*(rows.values() if isinstance(rows, dict) else rows), *content.get("growth", [])]:
        yield from (row["timings"] if "timings" in row else row["players"]).values()
    for part in content.get("runs", {}).values():
        yield from part.values()


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
    # Medians alone, as the leaderboard has them, see tests/grading; gradients and accuracies, see tests/lessons.
    if content["bench"] in ("project", "gradients", "training"):
        return
    found = list(timings(content))
    assert found
    for timing in found:
        assert 0 < timing["lower"] <= timing["median"] <= timing["upper"]
        assert timing["rounds"] >= FEW_ROUNDS.get(content["bench"], 20)


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
