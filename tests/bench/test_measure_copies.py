"""The tool that times transposes and pooling's gradients runs small without a GPU, and tells what is wrong or fails."""

import json

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.transpose import v05_ragged_rows
from course_lib.cuda.numba_cuda import cuda
from tools import measure_copies as tool


def test_its_parts_run_small_and_everything_is_right(tmp_path, capsys):
    out = tmp_path / "found.json"
    assert tool.main(["--tiny", "--only", "transpose_odd", "transpose_aligned", "average_55", "--out", str(out)]) == 0
    odd, aligned, average = json.loads(out.read_text())["rows"]
    assert len(odd["timings"]) == len(tool.TILES) + 2  # the kernel of before, and the copy
    assert [name for name in aligned["timings"] if name.endswith(", now")] == ["v04, four by four, now"]
    assert len(average["timings"]) == len(tool.CUTS) + 2  # a thread a pixel, and the copy
    assert (odd["bytes"], average["bytes"]) == (8 * 131 * 67, 4 * (4 * 55**2 + 4 * 27**2))
    assert "tiles of 64 x 64, cut 8, 512 threads, now" in capsys.readouterr().out


def test_what_the_library_takes_is_among_the_ways():
    assert tool.TILE in tool.TILES
    assert tool.TAKEN in tool.CUTS


def test_a_transpose_with_numbers_elsewhere_is_not_timed(monkeypatch):
    right = v05_ragged_rows.in_tiles

    def broken(x, y, down, width, threads, cut):
        if cut != 16:  # leaves y as it is, full of NaN
            right(x, y, down, width, threads, cut)

    monkeypatch.setattr(v05_ragged_rows, "in_tiles", broken)
    row = tool.transpose("odd", 13, 21, tiny=True)
    assert row["failures"] == {"tiles of 64 x 64, cut 16, 512 threads": "wrong: some numbers are elsewhere"}
    assert "tiles of 64 x 64, cut 16, 512 threads" not in row["timings"]


@pytest.mark.parametrize(("changed", "says"), [
    ({"_pool_backward": lambda d: 2 * d}, "it is not the reference's"),
    ({}, ""),
])  # fmt: skip
def test_a_gradient_is_compared_with_the_reference(monkeypatch, changed, says):
    for name, change in changed.items():
        whole = getattr(tool.reference, f"max{name}")
        monkeypatch.setattr(tool.reference, f"max{name}", lambda dy, c, w=whole, f=change: f(w(dy, c)))
    row = tool.gradient("max", "max", (1, 1, 9, 9), 3, 2, 0, tiny=True)
    assert set(row["failures"].values()) == ({f"wrong: {says}"} if says else set())
    assert len(row["timings"]) == (1 if says else len(tool.CUTS) + 2)


UP = np.float32(1 + 2.0**-23)


@gpu.jit
def _nudge(dx):
    if cuda.threadIdx.x == 0:
        dx[0] *= UP


def test_other_bits_than_those_of_a_thread_a_pixel_are_told(monkeypatch):
    whole = tool.pool_overlapping.average_bands

    class Nudged:
        """Launches the kernel, and then moves a pixel by the last bit."""

        def __init__(self, *window):
            self.kernel = whole(*window)

        def __getitem__(self, launch):
            return lambda *arguments: (self.kernel[launch](*arguments), _nudge[1, 1](arguments[-1]))

    monkeypatch.setattr(tool.pool_overlapping, "average_bands", Nudged)
    row = tool.gradient("average", "average", (1, 1, 9, 9), 3, 2, 0, tiny=True)
    assert set(row["failures"].values()) == {"wrong: other bits than those of a thread a pixel"}
    assert "before: a thread a pixel" in row["timings"]


@pytest.mark.parametrize(("limit", "says"), [(0.0001, "not done after"), (None, "no part of that name")])
def test_a_part_that_hangs_or_fails_is_told(monkeypatch, capsys, limit, says):
    if limit:
        monkeypatch.setattr(tool, "LIMIT", limit)
    else:
        monkeypatch.setattr(tool, "_run", lambda name, tiny: (None, "no part of that name"))
    assert tool.main(["--tiny", "--only", "max_27"]) == 1
    assert f"max_27: FAILED: {says}" in capsys.readouterr().out


def test_without_a_gpu_nothing_is_measured(capsys):
    if gpu.device_name().startswith("NVIDIA"):
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        tool.main([])
    assert "timed on a GPU" in capsys.readouterr().err
