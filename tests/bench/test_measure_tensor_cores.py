"""The tool that compares tensor cores with the executor runs small without a GPU, and tells what fails."""

import json

import numpy as np
import pytest

from course_lib import gpu
from course_lib.lesson.tensor_sums import operands, order_of
from tests.bench.test_bench_gpu import pytestmark as on_the_executor
from tools import measure_tensor_cores as tool
from tools.tensor_cores import instructions, sums
from tools.tensor_cores.sums import DEPTH

pytestmark = on_the_executor


def test_its_quick_parts_run_small_and_agree_with_themselves(tmp_path, capsys):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "bits", "pairs", "rounding", "--out", str(out)]) == 0
    found = json.loads(out.read_text())["parts"]
    assert {row["format"] for row in found["bits"]} == {"tf32", "fp16", "bf16"}
    assert all(row["equal"] == 1 and row["finite"] and row["of_bound"] <= 1 for row in found["bits"])
    assert all(row["equal"] is True for part in ("pairs", "rounding") for row in found[part])
    assert "cancelling" in capsys.readouterr().out


def test_sums_on_the_executor_are_the_models_bit_for_bit(tmp_path):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "sums", "cuts", "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["failures"] == {}
    rows = found["parts"]["sums"]
    assert {(row["format"], row["parts"], row["way"]) for row in rows} == {
        (name, parts, way) for name, parts in sums.SPLITS for way in sums.REMEDIES
    }
    assert all(row["equal"] == 1 and row["error"] == row["model"] for row in rows)
    probes = [row for row in found["parts"]["cuts"] if row["probe"] == "addends"]
    assert {row["instruction"] for row in probes} == {"mma m16n8k16", "wgmma m64n64k8", "wgmma m64n64k16"}
    assert all(row["steps"] == np.floor(row["exact"]) for row in probes)  # the executor cuts once


def test_the_devices_sums_take_every_part_in_the_models_order():
    A, B = operands(64, 16)
    B = np.ascontiguousarray(B[:, :8])
    assert order_of(2) == [(0, 1), (1, 0), (0, 0)]
    for name, parts in (("tf32", 1), ("bf16", 2)):
        found = sums.on_the_device(A, B, name, parts, flush=32, apart=True)
        exact = A.astype(np.float64) @ B
        assert np.abs(found - exact).max() < {1: 2e-2, 2: 1e-3}[parts]


def test_instructions_are_verified_and_a_wrong_sum_or_a_failed_launch_is_told(tmp_path):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "mma", "wgmma", "library", "fp8_sums", "--out", str(out)]) == 0
    found = json.loads(out.read_text())["parts"]
    assert all(row["right"] for part in ("mma", "wgmma") for row in found[part])
    assert {row["format"] for row in found["mma"]} == set(DEPTH)
    assert {row["format"] for row in found["wgmma"]} == {"bf16", "tf32"}

    row = instructions._row(lambda: (np.ones(2), np.array([100, 300])), "m", "bf16", False, 2, 8, 10, 4000, 2)
    assert (row["right"], row["said"]) == (False, "sums are 1 to 1, not 2")
    assert (row["clocks"], row["fma_a_clock"], row["fma_a_clock_and_core"], row["spread"]) == (20, 400, 100, 1)

    def refused():
        raise RuntimeError("no such instruction")

    row = instructions._row(refused, "m", "bf16", True, 1, 1, 10, 4000, 2)
    assert (row["right"], row["said"]) == (False, "RuntimeError: no such instruction")
    assert "clocks" not in row


def test_operands_in_shared_memory_have_the_formats_bits():
    assert instructions.filled("tf32", 1.5).tolist() == [1.5]
    bits = {kind: instructions.filled(kind, 1, -2).view(np.uint32).tolist() for kind in ("fp16", "bf16")}
    assert bits == {"fp16": [0x3C003C00, 0xC000C000], "bf16": [0x3F803F80, 0xC000C000]}


def test_a_product_by_four_warps_has_the_same_sum_everywhere():
    x = np.append(instructions.filled("bf16", 1, 1), np.float32(0)).astype(np.float32)
    y, clocks = gpu.to_device(np.zeros(128, np.float32)), gpu.to_device(np.zeros((1, 4, 2), np.int64))
    instructions.wgmma_kernel("bf16", 64, True, 128)[1, 128, 0, instructions.ALONE](gpu.to_device(x), 1, y, clocks)
    assert (gpu.to_host(y) == 16).all()


def test_a_part_that_hangs_is_told_and_what_it_found_is_kept(monkeypatch, capsys):
    monkeypatch.setattr(tool, "LIMIT", 0.0001)
    assert tool.main(["--tiny", "--only", "cuts"]) == 1
    assert "cuts, 0 s: FAILED: not done after 0.0001 s" in capsys.readouterr().out


def test_a_part_that_fails_is_told(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(tool, "_run", lambda name, tiny: ([{"n": 1, "share": 0.123456}], "no part of that name"))
    assert tool.main(["--tiny", "--only", "mma", "--out", str(tmp_path / "f.json")]) == 1
    found = json.loads((tmp_path / "f.json").read_text())
    assert found["failures"] == {"mma": "no part of that name"}
    assert found["parts"] == {"mma": [{"n": 1, "share": 0.123456}]}
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["mma, 0 s: FAILED: no part of that name", "  n   share", "  1  0.1235"]


def test_without_a_gpu_nothing_is_measured(capsys):
    if tool.gpu.device_name().startswith("NVIDIA"):
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        tool.main([])
    assert "measured on a GPU" in capsys.readouterr().err
