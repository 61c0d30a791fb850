"""The lessons' kernels can be timed as they stand there: the tool launches each of them once, small, without a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_case_of_the_committed_measurements_is_still_launched(tmp_path):
    out = tmp_path / "lessons.simt.json"
    command = [sys.executable, "tools/measure_lessons.py", "--tiny", "--out", out]
    environment = os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300)
    committed = _played(json.loads((ROOT / "results" / "lessons.h200.json").read_text("utf-8")))
    launched = _played(json.loads(out.read_text("utf-8")))
    done = {name for names in committed.values() for name in names} & UNMEASURED
    assert not done, f"{done} stand in results/lessons.h200.json now: take them out of UNMEASURED"
    launched = {case: [name for name in names if name not in UNMEASURED] for case, names in launched.items()}
    assert {case: launched.get(case) for case in committed if not case.startswith(SERIES)} == {
        case: names for case, names in committed.items() if not case.startswith(SERIES)
    }
    assert {"square_of_eight", "all five"} < set(launched["lesson 14's own kernels: one change each"])
    assert [case for case in launched if case.startswith(SERIES)] == ["FFT or direct, 1->6, 32 x 32"]


SERIES, ON_A_CARD = "FFT or direct", ("cuDNN", "FFT by cuFFT")
"""Cases of which the smoke test takes the first alone; players that need a card."""

UNMEASURED: set[str] = set()
"""Players that the committed measurements do not have yet."""


def _played(content):
    """{case: who plays}: "cuBLAS, 16" is cuBLAS at one of many sizes, of which the smoke test takes a few."""
    players = {r["case"]: dict.fromkeys(name.split(", ")[0] for name in r["timings"]) for r in content["rows"]}
    return {case: [name for name in names if name not in ON_A_CARD] for case, names in players.items()}


def test_only_some_cases_are_timed_and_the_others_stay_as_the_file_has_them(tmp_path):
    out = tmp_path / "lessons.simt.json"
    old = [{"case": case, "timings": {"old": {"median": 7.0}}} for case in ("coarsening", "of another tool")]
    out.write_text(json.dumps({"date": "2026-01-01", "rows": old}))
    command = [sys.executable, "tools/measure_lessons.py", "--tiny", "--only", "few long", "--out", out]
    environment = os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300)
    rows = {row["case"]: row for row in json.loads(out.read_text("utf-8"))["rows"]}
    assert set(rows) == {"few long sums", "coarsening", "of another tool"}
    assert [rows[r["case"]] for r in old] == [{"date": "2026-01-01"} | row for row in old]


def test_times_are_refused_where_there_is_no_gpu(tmp_path):
    command = [sys.executable, "tools/measure_lessons.py", "--out", tmp_path / "lessons.json"]
    environment = os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "there is none here" in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "lessons.json").exists()
