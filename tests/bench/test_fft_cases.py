"""Where transforms begin to pay is read from measured rows, and the tool that measures them on a CPU runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.bench.fft_cases import MASKS, by_mask, crossing, sweeps
from tests.setup.project import ROOT

TIMES = {"plain, 3": 1.0, "plain, 5": 3.0, "plain, 7": 9.0, "fast, 3": 0.5, "fast, 5": 2.0, "waves, 3": 2.0,
         "waves, 5": 2.5, "waves, 7": 2.6}  # fmt: skip


def test_a_crossing_is_the_mask_from_which_on_transforms_always_win():
    assert crossing(TIMES, ["waves"]) == 7
    assert crossing(TIMES, ["waves"], ["plain"]) == 5
    assert crossing(TIMES | {"waves, 7": 9.0}, ["waves"]) is None
    assert crossing(TIMES | {"waves, 3": 0.1}, ["waves"]) == 7  # it wins with 3 rows and loses with 5
    assert crossing({name: {"median": t} for name, t in TIMES.items()}, ["waves"]) == 7
    assert crossing({}, ["waves"]) is None
    assert by_mask(TIMES)["fast"] == {3: 0.5, 5: 2.0}


def test_sweeps_have_as_much_work_for_each_size_of_image():
    for device in ("cpu", "gpu"):
        found = sweeps(device)
        assert len({s.case for s in found}) == len(found) == 6
        assert len({s.B * s.side**2 for s in found}) == 1
        assert found[0].masks == list(MASKS)
        assert found[0].shapes(5)[1] == (6, 1, 5, 5)
    with pytest.raises(KeyError):
        sweeps("tpu")


@pytest.mark.slow
def test_the_tool_measures_and_writes_what_lessons_read(tmp_path):
    out = tmp_path / "fft.cpu.json"
    command = [sys.executable, "tools/measure_fft.py", "--tiny", "--out", out]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
                          timeout=300, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert row["case"] == sweeps("cpu")[0].case
    assert list(by_mask(row["timings"])) == ["reference", "fast", "transforms", "Winograd"]


def test_committed_measurements_have_every_sweep():
    files = sorted(Path(ROOT, "results").glob("fft.*.json"))
    for file in files:
        rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
        assert [r["case"] for r in rows] == [s.case for s in sweeps("cpu")]
        for row, sweep in zip(rows, sweeps("cpu"), strict=True):
            assert list(by_mask(row["timings"])["transforms"]) == sweep.masks
