"""The tool that times the newest convolution rungs runs small without a GPU, and tells what is wrong or fails."""

import json

import pytest

from course_lib.cuda.ladders.conv2d.forward import stream_plan, tap_plan, wgmma_plan
from tests.gpu.devices import needs_warps
from tools import measure_convolutions as tool

TUNED = {
    "v09_3xtf32": tap_plan, "v11_streamed": stream_plan, "v12_3xtf32_wgmma": wgmma_plan, "v11_3xtf32_wgmma": wgmma_plan,
}  # fmt: skip


@needs_warps
@pytest.mark.parametrize("name", tool.PARTS)
def test_every_part_verifies_all_of_its_players(name):
    part = tool.PARTS[name]
    row = tool.row_of(name, tiny=True, cuts=2)
    assert row["failures"] == row["refused"] == {}
    assert list(row["timings"]) == [*part.today, *(f"{part.rung} {cut}" for cut in part.cuts[:2])]
    assert all(error < 2e-6 and share < 1 for error, share in row["errors"].values())
    assert {row["kinds"][f"{part.rung} {cut}"] for cut in part.cuts[:2]} == (
        {"3xTF32"} if "3xtf32" in part.rung else {"readable"}
    )


@pytest.mark.parametrize("name", tool.PARTS)
def test_the_first_cut_is_the_one_that_is_taken_and_every_cut_fits_an_h200(name):
    part = tool.PARTS[name]
    shapes, stride, pad = tool.tensors(part, tiny=False)
    s = tool.sizes_of((0, *shapes["x"][1:]), shapes["w"], stride, pad)
    assert part.cuts[0] in TUNED[part.rung].TUNED.values()
    for cut in part.cuts:
        plan = part.plan(s, cut)
        assert plan.blocks * (plan.shared + 1024) <= 228 * 1024
        assert plan.blocks * plan.threads <= 2048


def row(**more):
    timed = {"v06": 2e-3, "v09_3xtf32 a": 1e-3, "v09_3xtf32 b": 5e-4, "v09_3xtf32 c": 4e-4, "cuDNN": 1e-3}
    return dict(
        case="conv", flops=1e9, floor=1.0, goal=1.5, failures={}, refused={},
        timings={name: {"median": seconds} for name, seconds in timed.items()},
        errors={name: [1.6e-6 if name.endswith("c") else 1e-6, 0.1] for name in timed},
        kinds={name: "3xTF32" if "3xtf32" in name else "float32" for name in timed},
    ) | more  # fmt: skip


def test_a_verdict_asks_for_speed_and_of_three_products_for_exactness(capsys):
    assert [v for *_, v in tool.verdicts(row())] == ["below", "floor", "goal", "not exact enough", "-"]
    tool.show(row(failures={"v09_3xtf32 d": "TimeoutError: no time was left"}))
    said = capsys.readouterr().out
    assert "v09_3xtf32 b                         0.5000 ms    2.0 TFLOP/s  speed, error x   2.00   1.00" in said
    assert "v09_3xtf32 d: TimeoutError" in said


def test_a_kernel_for_which_no_time_is_left_is_told_and_the_others_are_measured(monkeypatch):
    part = tool.PARTS["conv 1->6 k5 forward"]
    monkeypatch.setattr(tool, "COMPILING", -1)
    monkeypatch.setattr(tool, "_timer", lambda: tool._no_timer)
    monkeypatch.setattr(tool, "CONVOLUTIONS", tool.TINY)
    found = tool.row_of("conv 1->6 k5 forward", tiny=False, cuts=1)
    assert set(found["failures"]) == {*part.today, f"{part.rung} {part.cuts[0]}"}
    assert "the next run" in found["failures"]["v06_specialised"]


@pytest.mark.parametrize(("limit", "says"), [(0.0001, "not done after"), (None, "it hung")])
def test_a_part_that_hangs_or_fails_is_told(monkeypatch, capsys, limit, says):
    if limit:
        monkeypatch.setattr(tool, "LIMIT", limit)
    else:
        monkeypatch.setattr(tool, "_run", lambda name, tiny, cuts: (None, "it hung"))
    assert tool.main(["--tiny", "--only", "conv 1->6 k5 forward"]) == 1
    assert f"conv 1->6 k5 forward: FAILED: {says}" in capsys.readouterr().out


def test_a_part_is_a_process_and_its_row_is_in_the_file(tmp_path):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "conv 1->6 k5 forward", "--cuts", "1", "--out", str(out)]) == 0
    (found,) = json.loads(out.read_text())["rows"]
    assert list(found["timings"]) == ["v06_specialised", "v11_streamed (1, 2, 2)"]


def test_without_a_gpu_nothing_is_timed(capsys):
    if tool.gpu.device_name().startswith("NVIDIA"):
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        tool.main([])
    assert "timed on a GPU" in capsys.readouterr().err
