"""The tool that times OpenCL runs small on any device, keeps parts that are not measured, and tells what fails."""

import json
import shutil

import pytest

from course_lib.opencl.devices import NoDevice, pick
from tools import measure_opencl as tool


@pytest.fixture
def any_device():
    try:
        return pick()
    except NoDevice as error:
        pytest.skip(str(error))


def test_its_parts_run_small_and_are_compared_with_the_reference(any_device, tmp_path):
    out = tmp_path / "opencl.json"
    assert tool.main(["--tiny", "--only", "relu", "product", "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert [row["case"] for row in found["rows"]] == ["OpenCL ReLU", "OpenCL product"]
    assert found["device"]["name"] == any_device.name
    assert {"OpenCL", "NumPy", "fast"} == set(found["rows"][0]["timings"])
    assert tool.main(["--tiny", "--only", "queues", "--out", str(out)]) == 0
    again = json.loads(out.read_text())
    assert [row["case"] for row in again["rows"]] == ["OpenCL ReLU", "OpenCL product"]
    assert set(again["timelines"]) >= {"in order"}
    for name in ("in order", "two queues"):
        assert [bar["label"] for bar in again["timelines"][name]] == ["A1", "A2", "B1", "B2"]


def test_transposes_are_told_by_their_least_and_leftovers_are_counted(any_device, tmp_path):
    if any_device.kind == "simulator":
        pytest.skip("a simulator takes minutes for the transposes")
    out = tmp_path / "opencl.json"
    assert tool.main(["--tiny", "--only", "transposes", "leftovers", "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert list(found["transposes"]) == ["64", "96"]
    for times in found["transposes"].values():
        assert {"copy, 8", "naive, 16", "padded, 32"} <= set(times)
        assert min(times.values()) > 0
    assert 0 <= found["leftovers"]["right"] <= found["leftovers"]["runs"] == 3


def test_wide_instructions_are_counted_where_pocl_leaves_a_library_to_read(any_device, tmp_path):
    if "pocl" not in any_device.version.lower() or not shutil.which("objdump"):
        pytest.skip("only PoCL leaves what it compiled, and objdump reads it")
    out = tmp_path / "opencl.json"
    assert tool.main(["--tiny", "--only", "vectors", "--out", str(out)]) == 0
    wide = json.loads(out.read_text())["wide"]
    assert set(wide) == {"4", "256"}
    assert wide["4"] <= wide["256"]


def test_a_batch_that_is_shared_comes_out_right(any_device, tmp_path):
    if any_device.kind == "simulator":
        pytest.skip("a simulator takes a minute for the convolutions")
    out = tmp_path / "opencl.json"
    assert tool.main(["--tiny", "--only", "share", "--out", str(out)]) == 0
    shares = json.loads(out.read_text())["shares"]
    assert set(shares) == {"NumPy", "fast"}
    for job in shares.values():
        assert 0 < job["best"] < 1
        assert [s for s, _ in job["curve"]][-1] == 1


@pytest.mark.parametrize(("limit", "says"), [(0.0001, "not done after"), (None, "exit status 1")])
def test_a_part_that_hangs_or_fails_is_told_and_the_file_is_written(
    any_device, monkeypatch, capsys, tmp_path, limit, says
):
    if limit:
        monkeypatch.setattr(tool, "LIMIT", limit)
    else:
        monkeypatch.setattr(tool, "_run", lambda name, tiny: (None, "exit status 1"))
    out = tmp_path / "opencl.json"
    assert tool.main(["--tiny", "--only", "relu", "--out", str(out)]) == 1
    assert f"relu: FAILED: {says}" in capsys.readouterr().out
    assert json.loads(out.read_text())["rows"] == []


def test_without_a_device_nothing_is_measured(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COURSE_OPENCL", "off")
    with pytest.raises(SystemExit):
        tool.main(["--out", str(tmp_path / "opencl.json")])
    assert "COURSE_OPENCL=off hides them" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_result_that_is_wrong_stops_the_tool():
    with pytest.raises(SystemExit, match="naive computes something else"):
        tool.same("naive", 1.0 + 1e-3 * tool.np.eye(2), tool.np.ones((2, 2)), 1e-6)
