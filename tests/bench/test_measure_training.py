"""The facts of "Making it train" hold, each with room for another machine's rounding; `tools/measure_training.py`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import nn
from tools import measure_training as tool

ROOT = Path(__file__).resolve().parents[2]


def on_test(**options):
    """Accuracy on the test digits after three epochs, one seed, in per cent."""
    return tool.digits_accuracy(0, **options)[1]


def test_weights_of_0_learn_nothing_and_weights_too_large_learn_badly():
    found = {sd: on_test(init=nn.init.normal(sd), momentum=0.9) for sd in (0, 0.05, 1, 5)}
    assert found[0] == 10
    assert found[0.05] > 90
    assert 70 < found[1] < 85
    assert found[5] < 60
    assert on_test(momentum=0.9) > 90  # He's


def test_xor_is_not_solved_from_weights_of_a_hundredth():
    solved = {scale: [tool.xor_solved(seed, scale) for seed in range(2)] for scale in (0.01, 1)}
    assert solved == {0.01: [False, False], 1: [True, True]}


def test_pixels_up_to_255_need_a_smaller_step():
    assert on_test(lr=0.01, momentum=0.9, prepare=tool.bytes_again) < 30
    assert on_test(lr=0.01, momentum=0.9, prepare=tool.one_scale) > 88


def test_adam_learns_at_a_rate_at_which_sgd_hardly_moves():
    assert on_test(lr=0.001, optimiser=nn.Adam) > 88
    assert on_test(lr=0.001) < 40


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_network_that_runs_away_is_no_number():
    x_is_large = {"prepare": lambda x: lambda x: 1e6 * x}
    assert np.isnan(on_test(lr=1e6, **x_is_large))


def test_a_part_that_there_is_not_is_named():
    done = subprocess.run(
        [sys.executable, "tools/measure_training.py", "colours"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no part 'colours'; there are scales, xor" in done.stderr


@pytest.mark.parametrize("part", ["xor"])
def test_a_part_prints_its_table(part, capsys, monkeypatch):
    monkeypatch.setattr(tool, "xor_solved", lambda seed, scale, standardise: scale == 1)
    tool.PARTS[part](range(2))
    assert capsys.readouterr().out.splitlines()[-1] == "N(0, 1^2), inputs -1, 1: 2 of 2"


def test_what_was_measured_is_written_with_its_day_and_versions(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tool, "xor_solved", lambda seed, scale, standardise: scale == 1)
    monkeypatch.setattr(tool, "digits_accuracy", lambda seed, **options: (90 + seed, 80 + seed))
    out = tmp_path / "training.json"
    monkeypatch.setattr(sys, "argv", ["measure_training.py", "scales", "xor", "--seeds", "2", "--out", str(out)])
    tool.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["numpy"] == np.__version__
    assert list(found["parts"]) == ["scales", "xor"]
    first = found["parts"]["scales"][0]
    assert first == {"name": "N(0, 0^2), momentum 0.9", "training": [90, 91], "test": [80, 81]}
    assert found["parts"]["xor"][2] == {"name": "N(0, 1^2), inputs 0, 1", "solved": 2, "of": 2}
    assert "test  80.5 (80.0 ... 81.0)" in capsys.readouterr().out
