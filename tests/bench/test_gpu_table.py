"""The README's table of GPU measurements is that of results/, and the roofline shows what was measured."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from course_lib import figures
from course_lib.bench.gpu.roof import roof_of
from course_lib.figures.rooflines import roofline_plot
from tests.bench.test_bench_gpu import made_up, of_hopper, of_layers
from tools import gpu_table


def test_the_readme_has_the_table_of_the_results():
    text = gpu_table.README.read_text(encoding="utf-8")
    assert text == gpu_table.with_table(text, gpu_table.table()), "python tools/gpu_table.py"


def test_a_table_replaces_what_stands_between_the_marks_and_nothing_else():
    text = f"before\n{gpu_table.BEGIN}\nold\n{gpu_table.END}\nafter\n"
    once = gpu_table.with_table(text, "new")
    assert once == f"before\n{gpu_table.BEGIN}\n\nnew\n\n{gpu_table.END}\nafter\n"
    assert gpu_table.with_table(once, "new") == once
    with pytest.raises(SystemExit, match="needs one line"):
        gpu_table.with_table("no marks", "new")


def test_the_command_checks_and_writes(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text(f"{gpu_table.BEGIN}\n{gpu_table.END}\n")
    monkeypatch.setattr(gpu_table, "README", readme)
    monkeypatch.setattr(gpu_table, "results", lambda: [asdict(made_up()) | {"date": "2026-11-28"}])
    for arguments, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
        monkeypatch.setattr("sys.argv", ["gpu_table.py", *arguments])
        assert gpu_table.main() == status
    assert "| SGEMM: gemm 4096 |" in readme.read_text(encoding="utf-8")
    assert "run python tools/gpu_table.py" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["gpu_table.py", "--plot", str(tmp_path / "plots")])
    assert gpu_table.main() == 0
    assert (tmp_path / "plots" / "roofline.h200.png").stat().st_size > 1000


def test_a_new_run_is_compared_rung_by_rung_and_rivals_may_be_slower(capsys):
    old, new = asdict(made_up()) | {"date": "2026-11-28"}, asdict(made_up()) | {"date": "2026-11-29"}
    assert gpu_table.against(new, [old]) == 0
    timings = new["rows"][0]["timings"]
    timings["cuBLAS"]["median"] *= 2
    timings["v08_pipelined"]["median"] *= 1.04
    timings["v11_new"] = timings["v05_tile"]
    assert gpu_table.against(new, [old]) == 0
    said = capsys.readouterr().out
    assert "1.040" in said
    assert "2.000  rival" in said
    assert any(line.split()[-2:] == ["v11_new", "new"] for line in said.splitlines())
    timings["v08_pipelined"]["median"] *= 1.02
    assert gpu_table.against(new, [old]) == 1
    assert "1 of ours slower by more than 5%, or gone: gemm 4096, v08_pipelined" in capsys.readouterr().out


def test_a_rung_that_is_gone_counts_as_slower_and_an_unknown_card_is_refused(capsys):
    old, new = asdict(made_up()) | {"date": "2026-11-28"}, asdict(made_up()) | {"date": "2026-11-29"}
    del new["rows"][1]["timings"]["v04"]
    del new["rows"][0]["timings"]["cuBLAS"]
    assert gpu_table.against(new, [old]) == 1
    assert "or gone: transpose, v04" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="NVIDIA H100 was not measured before; there are NVIDIA H200"):
        gpu_table.against(asdict(made_up("NVIDIA H100")), [old])


def test_the_command_fails_where_the_new_run_is_slower(tmp_path, monkeypatch):
    new, file = asdict(made_up()) | {"date": "2026-11-29"}, tmp_path / "gpu.h200.json"
    monkeypatch.setattr(gpu_table, "results", lambda: [asdict(made_up()) | {"date": "2026-11-28"}])
    for factor, status in ((1.0, 0), (1.2, 1)):
        new["rows"][0]["timings"]["v05_tile"]["median"] *= factor
        file.write_text(json.dumps(new))
        monkeypatch.setattr("sys.argv", ["gpu_table.py", "--against", str(file)])
        assert gpu_table.main() == status


def test_the_roofline_has_the_cards_lines_and_a_point_for_each_kind():
    results = asdict(made_up()) | {"date": "2026-11-28"}
    fig = roofline_plot(results)
    (ax,) = fig.axes
    roof = roof_of("NVIDIA H200")
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], roof.peak / 1e12)
    np.testing.assert_allclose(ax.lines[1].get_ydata()[-1], roof.tensor_peak / 1e12)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["ours, readable", "ours, float32", "ours, 3xTF32", "cuBLAS and cuDNN"]
    point = ax.lines[3].get_xydata()[0]
    np.testing.assert_allclose(point, [2 * 4096**3 / (12 * 4096**2), 2 * 4096**3 / 2.9e-3 / 1e12])
    assert len(ax.lines) == 2 + 4  # the transposition does not compute
    picture = figures.picture(fig, alt="The roofline of a card with four points")
    assert picture.width <= 8.6 * 96
    assert len(picture.src) < 100_000


def test_transforms_have_a_mark_of_their_own():
    fig = roofline_plot(asdict(of_layers()) | {"date": "2026-11-28"})
    labels = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    assert labels == ["ours, readable", "ours, float32", "ours, FFT", "cuBLAS and cuDNN"]


def test_a_card_that_multiplied_bf16_numbers_has_their_ceiling_too():
    fig = roofline_plot(asdict(of_hopper()) | {"date": "2026-11-28"})
    (ax,) = fig.axes
    roof = roof_of("NVIDIA H200")
    np.testing.assert_allclose(ax.lines[2].get_ydata()[-1], 2 * roof.tensor_peak / 1e12)
    assert "BF16, tensor cores" in [text.get_text() for text in ax.texts]
    assert "ours, BF16" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_an_unknown_card_and_an_empty_run_are_refused():
    with pytest.raises(ValueError, match="not in the table of devices"):
        roofline_plot(asdict(made_up("Some card")))
    empty = asdict(made_up())
    empty["rows"] = []
    with pytest.raises(ValueError, match="rows that compute"):
        roofline_plot(empty)
