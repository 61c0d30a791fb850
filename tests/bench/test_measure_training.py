"""The facts of "Making it train" hold, each with room for another machine's rounding; `tools/measure_training.py`."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import nn
from tools import measure_training as tool

ROOT = Path(__file__).resolve().parents[2]


def on_validation(**options):
    """Accuracy on the validation digits after three epochs, one seed, in per cent."""
    return tool.digits_accuracy(0, **options)[1]


def test_weights_of_0_learn_nothing_and_weights_too_large_learn_badly():
    found = {sd: on_validation(init=nn.init.normal(sd), momentum=0.9) for sd in (0, 0.05, 1, 5)}
    assert found[0] < 13
    assert found[0.05] > 87
    assert 65 < found[1] < 85
    assert found[5] < 65
    assert on_validation(momentum=0.9) > 86  # He's


def test_xor_is_not_solved_from_weights_of_a_hundredth():
    solved = {scale: [tool.xor_solved(seed, scale) for seed in range(2)] for scale in (0.01, 1)}
    assert solved == {0.01: [False, False], 1: [True, True]}


def test_pixels_up_to_255_need_a_smaller_step():
    assert on_validation(lr=0.01, momentum=0.9, prepare=tool.bytes_again) < 30
    assert on_validation(lr=0.01, momentum=0.9, prepare=tool.one_scale) > 87


def test_adam_learns_at_a_rate_at_which_sgd_hardly_moves():
    assert on_validation(lr=0.001, optimiser=nn.Adam) > 87
    assert on_validation(lr=0.001) < 40


def test_settings_are_compared_without_the_test_digits(monkeypatch):
    """The tool's digits have no test set in this test: whoever looks at it fails."""
    digits = tool.data.load_digits()
    without = SimpleNamespace(x_train=digits.x_train, y_train=digits.y_train)
    monkeypatch.setattr(tool.data, "load_digits", lambda: without)
    assert len(tool.digits_accuracy(0, train_rows=64, epochs=1)) == 2
    assert set(tool.one_curve(0, train_rows=64, epochs=1)) == {"training", "validation"}


def test_kept_within_3_is_standardising_and_a_limit():
    x = tool.data.load_digits().x_train[: tool.FIT]
    plain, kept = tool.standardised(x)(x), tool.kept_within_3(x)(x)
    assert plain.max() > 50
    assert abs(kept).max() == 3
    np.testing.assert_array_equal(kept[abs(plain) < 3], plain[abs(plain) < 3])


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_network_that_runs_away_is_no_number():
    x_is_large = {"prepare": lambda x: lambda x: 1e6 * x}
    assert np.isnan(on_validation(lr=1e6, **x_is_large))


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
    assert found["machine"]["versions"]["numpy"] == np.__version__
    assert list(found["parts"]) == ["scales", "xor"]
    first = found["parts"]["scales"][0]
    assert first == {"name": "N(0, 0^2), momentum 0.9", "training": [90, 91], "validation": [80, 81]}
    assert found["parts"]["xor"][2] == {"name": "N(0, 1^2), inputs 0, 1", "solved": 2, "of": 2}
    assert "validation  80.5 (80.0 ... 81.0)" in capsys.readouterr().out
