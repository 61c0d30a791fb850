"""The tool that compares tensor cores with the executor runs small without a GPU, and tells what fails."""

import json

import pytest

from tools import measure_tensor_cores as tool


def test_its_quick_parts_run_small_and_agree_with_themselves(tmp_path, capsys):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "bits", "pairs", "rounding", "--out", str(out)]) == 0
    found = json.loads(out.read_text())["parts"]
    assert {row["format"] for row in found["bits"]} == {"tf32", "fp16", "bf16"}
    assert all(row["equal"] == 1 and row["finite"] and row["of_bound"] <= 1 for row in found["bits"])
    assert all(row["equal"] is True for part in ("pairs", "rounding") for row in found[part])
    assert "cancelling" in capsys.readouterr().out


@pytest.mark.parametrize(("limit", "says"), [(0.0001, "not done after"), (None, "no part of that name")])
def test_a_part_that_hangs_or_fails_is_told(monkeypatch, capsys, limit, says):
    if limit:
        monkeypatch.setattr(tool, "LIMIT", limit)
    else:
        monkeypatch.setattr(tool, "_run", lambda name, tiny: (None, "no part of that name"))
    assert tool.main(["--tiny", "--only", "rates"]) == 1
    assert f"rates: FAILED: {says}" in capsys.readouterr().out


def test_without_a_gpu_nothing_is_measured(capsys):
    if tool.gpu.device_name().startswith("NVIDIA"):
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        tool.main([])
    assert "measured on a GPU" in capsys.readouterr().err
