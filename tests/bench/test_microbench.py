"""The microbenchmarks run as far as they can without a GPU, each once and as small as it can be."""

import json

import pytest

from tools.microbench import __main__ as microbench
from tools.microbench import judged


@pytest.mark.parametrize("name", ["launches", "stores", "streams", "strides", "tensor", "warps"])
def test_a_part_runs_small(tmp_path, name):
    out = tmp_path / "found.json"
    assert microbench.main(["--tiny", "--only", name, "--out", str(out)]) == 0
    runs = json.loads(out.read_text())["runs"][name]
    assert runs
    assert all(run["median"] > 0 and run["work"] > 0 and run["unit"] for run in runs.values())


def test_constants_are_not_measured_without_a_gpu(tmp_path, capsys):
    if microbench.choice().device == microbench.GPU:
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        microbench.main(["--out", str(tmp_path / "found.json")])
    assert "measured on a GPU" in capsys.readouterr().err


def test_judged_kernels_run_small_and_tell_their_launches(tmp_path):
    out = tmp_path / "found.json"
    assert judged.main(["--tiny", "--only", "transpose", "--out", str(out)]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert list(rows) == ["transpose", "transpose of odd sizes", "transpose 4096"]
    assert ["v05_ragged_rows" in row["players"] for row in rows.values()] == [False, True, False]
    kernel, grid, block, shared = rows["transpose"]["players"]["v01_naive"]["launches"][0]
    assert (kernel, grid, block, shared) == ("_transpose_v01", [4, 8, 1], [32, 32, 1], 0)


def test_large_launches_are_those_of_measured_kernels():
    from tests.simt.measured.kernels import CASES

    assert set(judged.LARGE) == set(CASES) - {"shared_bytes", "product_tiled_ragged", "grid_stride_unrolled"}
