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
    committed = json.loads((ROOT / "results" / "lessons.h200.json").read_text("utf-8"))["rows"]
    launched = json.loads(out.read_text("utf-8"))["rows"]
    assert [(r["case"], [*r["timings"]]) for r in launched] == [(r["case"], [*r["timings"]]) for r in committed]


def test_times_are_refused_where_there_is_no_gpu(tmp_path):
    command = [sys.executable, "tools/measure_lessons.py", "--out", tmp_path / "lessons.json"]
    environment = os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "there is none here" in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "lessons.json").exists()
