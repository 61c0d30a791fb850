"""The measured files in results/ are whole, say where they come from, and name only its processor."""

import json
import re
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "results").glob("*.json"))

FEW_ROUNDS = {"simt": 7}
"""Where 20 are too many: a launch in Numba's simulator takes seconds."""


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
    for row in content["rows"] + content.get("growth", []):
        for timing in row["timings"].values():
            assert 0 < timing["lower"] <= timing["median"] <= timing["upper"]
            assert timing["rounds"] >= FEW_ROUNDS.get(content["bench"], 20)
