"""`course bench gpu` times only what is right, goes on after what is not, and compares with rivals of the same run.

The SIMT executor stands in for the card, at tiny sizes, and a made-up timer for its clock.
"""

import json
import math
import re
import sys
import textwrap
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from course_lib import gpu
from course_lib.bench import write
from course_lib.bench.gpu import GpuReport, bench_gpu, chosen, merged, with_numpy
from course_lib.bench.gpu import promises as gpu_promises
from course_lib.bench.gpu import run as bench
from course_lib.bench.gpu.cases import CASES
from course_lib.bench.gpu.epoch import epochs, generated
from course_lib.bench.gpu.measure import GpuRow, measure
from course_lib.bench.gpu.players import kind, replayed
from course_lib.bench.gpu.process import in_processes
from course_lib.bench.gpu.promises import PROMISES, fastest, kept
from course_lib.bench.gpu.roof import roof_of
from course_lib.bench.gpu.table import tables
from course_lib.bench.gpu.text import markdown, player_rows, promise_rows, speed_text, time_text
from course_lib.bench.gpu.with_cudnn import NoRival
from course_lib.bench.gpu.with_torch import plain_name
from course_lib.bench.gpu.work import BF16, FFT, FLOAT32, TF32, Player, Work, allowed, evenly_right, judge
from course_lib.bench.rivals import SHAPES
from course_lib.bench.timing import Timing
from course_lib.cli import app
from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice
from tests.bench import gpu_ladder

pytestmark = pytest.mark.skipif(choice().device != SIMT, reason="tiny sizes, for the SIMT executor")


def timer(calls, rounds):
    """Give each player a millisecond more than the one before."""
    return {name: Timing(t := (1 + i) / 1000, t, t, rounds, 1) for i, name in enumerate(calls)}


def host_copy(x, y):
    def copy():
        y.numbers[...] = x.numbers

    return copy


@pytest.fixture(autouse=True)
def _copies(monkeypatch):
    monkeypatch.setattr(with_numpy, "copy_call", host_copy)


@pytest.fixture
def fake_gemm(monkeypatch):
    monkeypatch.setitem(sys.modules, "course_lib.cuda.ladders.gemm", gpu_ladder)


def test_only_what_is_right_is_timed_and_the_others_say_what_happened(fake_gemm):
    row = measure(CASES["gemm 1024"], with_numpy, timer, 3, small=True)
    assert list(row.timings) == ["v01_right"]
    assert row.errors["v01_right"][1] <= 1
    assert row.failures["v02_wrong"].startswith("wrong: relative error nan")
    assert row.failures["v03_fails"].startswith("HazardFound: ")
    assert row.refused == {"v04_refuses": "ValueError: A is too small."}
    assert "v04_refuses" not in row.failures
    assert (row.case, row.family, row.kinds) == ("gemm 1024", "gemm", {"v01_right": "readable"})
    assert row.flops == 2 * 37 * 41 * 29
    assert row.bytes == 4 * (37 * 29 + 29 * 41 + 37 * 41)


def test_rungs_below_the_least_one_of_a_size_are_left_out(fake_gemm):
    work = CASES["gemm 4096"].make(with_numpy, np.random.default_rng(0), M=5, N=5, K=5, least=3)
    assert list(work.ours) == ["v03_fails", "v04_refuses"]


def test_a_rung_for_one_layer_is_timed_with_that_layer_and_no_other():
    timed = {name for name, case in CASES.items() if "v05b_c1_layer" in case.work(with_numpy, small=True).ours}
    assert timed == {"conv 1->6 k5 forward"}


def test_a_case_that_cannot_be_made_is_a_failure_of_all(monkeypatch):
    monkeypatch.setitem(sys.modules, "course_lib.cuda.ladders.gemm", SimpleNamespace(LADDER=None))
    row = measure(CASES["gemm 1024"], with_numpy, timer, 1, small=True)
    assert "TypeError" in row.failures["all"]


def test_a_failing_timer_is_a_failure_of_the_timing(fake_gemm):
    def broken(calls, rounds):
        raise RuntimeError("no\nclock")

    row = measure(CASES["gemm 1024"], with_numpy, broken, 1, small=True)
    assert row.failures["timing"] == "RuntimeError: no clock"
    assert row.timings == {}


def test_outputs_are_full_of_nan_before_the_first_call():
    array = with_numpy.nan((3, 4))
    assert np.isnan(gpu.to_host(array)).all()
    x, y = gpu.to_device(np.ones((3, 4), np.float32)), array
    replayed(lambda: None, (x, y))
    error = judge((y,), (np.ones((3, 4)),), (np.ones((3, 4)),), 1, FLOAT32, with_numpy)
    assert math.isnan(error.share)
    assert not error.fits


def test_a_result_may_differ_by_rounding_and_not_by_more():
    exact = np.full(8, 100.0)
    for terms, kind_, factor, fits in [(16, FLOAT32, 0.99, True), (16, FLOAT32, 1.2, False), (16, TF32, 100, True)]:
        found = gpu.to_device((exact * (1 + factor * allowed(terms, FLOAT32))).astype(np.float32))
        assert judge((found,), (exact,), (exact,), terms, kind_, with_numpy).fits == fits
    assert allowed(16, FLOAT32) == 16 * 2.0**-24
    same = gpu.to_device(exact.astype(np.float32))
    assert judge((same,), (exact,), (exact,), 0, FLOAT32, with_numpy).share == 0
    other = gpu.to_device(np.nextafter(exact.astype(np.float32), np.float32(200)))
    assert not judge((other,), (exact,), (exact,), 0, FLOAT32, with_numpy).fits


def test_a_launch_is_recorded_without_running_and_done_again_by_each_call():
    A, B, C = (gpu.to_device(np.ones((4, 4), np.float32)) for _ in "ABC")
    call = replayed(lambda: gpu_ladder.RIGHT.launch(A, B, C), (C,))
    assert (gpu.to_host(C) == 1).all()
    (launch,) = call.launches
    assert (launch.grid, launch.block, launch.shared) == ((1, 1, 1), (16, 16, 1), 0)
    assert call()[0] is C
    assert (gpu.to_host(C) == 4).all()


def test_a_rung_is_readable_unless_it_uses_intrinsics_and_by_its_name_on_tensor_cores_or_by_transforms():
    assert kind(gpu_ladder.RIGHT) == "readable"
    named = {"v09_3xtf32": "3xTF32", "v10_tf32": "TF32", "v08_fft": "FFT"}
    for name, expected in named.items():
        assert kind(SimpleNamespace(name=name, launch=gpu_ladder.RIGHT.launch)) == expected


def test_every_promise_has_its_case_and_a_goal_above_its_floor():
    assert {promise.case for promise in PROMISES} <= CASES.keys()
    limits = [(promise.floor, promise.goal) for promise in PROMISES if promise.floor is not None]
    assert all(0 < floor < goal for floor, goal in limits)
    listed = [promise for promise in PROMISES if promise.floor is None]
    assert [(promise.player, promise.goal) for promise in listed] == [("v05b", None)]


def test_words_choose_families_and_cases_and_unknown_ones_are_refused():
    products = ["gemm 1024", "gemm 4096", "gemm 8192", "gemm bf16 4096", "gemm bf16 8192"]
    assert [c.name for c in chosen(["gemm"])[0]] == products
    assert [c.name for c in chosen(["gemm bf16"])[0]] == products[3:]
    assert [c.name for c in chosen(["conv 1->4", "reduce"])[0]] == [
        "conv 1->4 k7 forward", "conv 1->4 k7 dX", "conv 1->4 k7 dW", "reduce"
    ]  # fmt: skip
    assert len(chosen(["conv"])[0]) == 13
    assert chosen(["launch"]) == ([], ("launch",))
    assert chosen() == (list(CASES.values()), ("compile", "launch", "training", "epoch"))
    with pytest.raises(ValueError, match="nothing is called 'matmul'; there are conv dW"):
        chosen(["matmul"])


def test_without_a_gpu_the_command_says_what_runs_here():
    done = CliRunner().invoke(app, ["bench", "gpu"])
    assert done.exit_code == 1
    assert "course bench simt" in done.output


def made_up(gpu_name="NVIDIA H200"):
    def t(seconds):
        return dict(median=seconds, lower=0.98 * seconds, upper=1.02 * seconds, rounds=20, calls=4)

    row = GpuRow(
        "gemm 4096", "gemm", "4096 x 4096 x 4096", 2.0 * 4096**3, 12.0 * 4096**2,
        timings={"v05_tile": t(4.0e-3), "v08_pipelined": t(2.9e-3), "v09_3xtf32": t(2.0e-3), "cuBLAS": t(2.75e-3)},
        errors={n: [1e-6, 0.1] for n in ("v05_tile", "v08_pipelined", "cuBLAS")} | {"v09_3xtf32": [2e-6, 0.1]},
        kinds={"v05_tile": "readable", "v08_pipelined": "float32", "v09_3xtf32": "3xTF32", "cuBLAS": "float32"},
        rivals=["cuBLAS"],
        rival={"readable": "cuBLAS", "float32": "cuBLAS", "3xTF32": "cuBLAS", "TF32": "cuBLAS TF32"},
        failures={"v10_tf32": "wrong: relative error nan, nan of the allowed"},
        rival_kernels={"cuBLAS": ["sgemm_128x64"], "cuDNN": []},
    )  # fmt: skip
    copy = GpuRow(
        "transpose", "memory", "8,192 x 8,192", 0.0, 8.0 * 8192**2,
        timings={"v04": t(1.4e-4), "copy": t(1.3e-4)}, errors={"v04": [0.0, 0.0]},
        kinds={"v04": "float32", "copy": "float32"}, rivals=["copy"], rival={"float32": "copy"},
    )  # fmt: skip
    compiled = [
        dict(case="gemm 4096", player="v08", kernel="_gemm_v08", first=2.5, cached=0.05, failure=""),
        dict(case="gemm 4096", player="v09", kernel="_gemm_v09", first=6.5, cached=0.2, failure=""),
    ]
    machine = dict(gpu=gpu_name, driver="580", cpu="some", versions={"numba-cuda": "0.30.4", "torch": "not installed"})
    launch = {"case": "launch", "kernel[grid, block](...)": [5e-6, 4e-6, 6e-6]}
    training = {"failures": {}, "LeNet-5, B = 64": {"one by one": [9e-4] * 3, "recorded": [1e-4] * 3}}
    lenet = {"nn.train": [0.2] * 3, "PyTorch": [0.9] * 3, "PyTorch, graph": [0.4] * 3}
    epoch = {"failures": {}, "LeNet-5, B = 64": lenet, "MLP": {"nn.train": [0.3] * 3, "PyTorch": [0.2] * 3}}
    return GpuReport(machine, 20, [row, copy], compiled, launch, training, epoch)


def test_a_promise_is_kept_by_the_fastest_of_the_kinds_that_count_and_by_its_error():
    found = {k.promise.work: k for k in kept(asdict(made_up()))}
    assert found["SGEMM"].ours == "v08_pipelined"
    assert found["SGEMM"].ratio == pytest.approx(2.75 / 2.9)
    assert found["SGEMM"].verdict == "floor"
    assert found["SGEMM without intrinsics"].ours == "v05_tile"
    assert found["SGEMM without intrinsics"].verdict == "goal"
    assert found["3xTF32 product"].ratio == pytest.approx(1.375)
    assert found["3xTF32 product"].error_ratio == pytest.approx(2)
    assert found["3xTF32 product"].verdict == "below"  # fast enough, not exact enough
    assert (found["TF32 product"].ours, found["TF32 product"].verdict) == ("", "-")
    assert found["bound by memory"].verdict == "goal"


def of_layers():
    """Return a made-up report of C1's row: H's kernel beside v06, and transforms beside cuDNN's, told to take them."""
    seconds = {"v05b_c1_layer": 2e-4, "v06_specialised": 1e-4, "v08_fft": 6e-4, "cuDNN": 4e-4, "cuDNN FFT tiling": 5e-4}
    kinds = dict(zip(seconds, ("readable", "float32", "FFT", "float32", "float32"), strict=True))
    report = made_up()
    report.rows = [
        GpuRow(
            "conv 1->6 k5 forward", "conv forward", "B = 10,000, 32 x 32", 1.4e10, 2.3e8, kinds=kinds,
            timings={n: dict(median=s, lower=s, upper=s, rounds=20, calls=4) for n, s in seconds.items()},
            errors={n: [1e-6, 0.1] for n in seconds}, rivals=["cuDNN", "cuDNN FFT tiling", "cuDNN FFT"],
            rival={"readable": "cuDNN", "float32": "cuDNN", "FFT": "cuDNN FFT tiling"},
            refused={"cuDNN FFT": "NoRival: cudnnGetConvolutionForwardWorkspaceSize answers 3000, NOT SUPPORTED."},
        )
    ]  # fmt: skip
    return report


def test_the_kernel_for_one_layer_is_listed_beside_the_fastest_and_transforms_beside_those_of_the_vendor():
    found = {k.promise.work: k for k in kept(asdict(of_layers()))}
    assert found["convolution"].ours == "v06_specialised"
    listed = found["the lecture's kernel for C1"]
    assert (listed.ours, listed.rival, listed.ratio, listed.verdict) == ("v05b_c1_layer", "cuDNN", 2, "listed")
    ours = found["convolution by FFT"]
    assert (ours.ours, ours.rival, ours.verdict) == ("v08_fft", "cuDNN FFT tiling", "floor")
    assert ours.ratio == pytest.approx(5 / 6)
    lines = markdown(asdict(of_layers()) | {"date": "2026-11-28"}).splitlines()
    c1 = "| the lecture's kernel for C1: conv 1→6 k5 forward |"
    assert any(c1 in x and x.endswith("|  |  | listed |") for x in lines)
    assert any("| convolution by FFT: conv 1→6 k5 forward |" in x and "| 0.83 | 0.67 | 1 | floor |" in x for x in lines)


def test_without_a_rival_nothing_is_promised():
    report = asdict(made_up())
    for row in report["rows"]:
        row["rival"] = {}
    assert {k.verdict for k in kept(report)} == {"-"}
    assert [cells[8] for cells in promise_rows(report)][:1] == ["-"]


def of_hopper():
    """Return a made-up report of a card with Hopper's rungs, TF32, 3xTF32 and BF16, and the seconds of each player."""
    seconds = {"v09_3xtf32": 1.8e-3, "v10_tf32": 6e-4, "v11_wgmma_tf32": 4.5e-4, "v12_tma_tf32": 4e-4,
               "v13_tma_3xtf32": 1.35e-3, "cuBLAS": 2.7e-3, "cuBLAS TF32": 3.4e-4}  # fmt: skip
    kinds = {n: "3xTF32" if "3xtf32" in n else "float32" if n == "cuBLAS" else "TF32" for n in seconds}
    half = {"half_tma": 2.2e-4, "cuBLAS BF16": 2e-4}

    def row(case, seconds, kinds, rival):
        return GpuRow(
            case, "gemm", "4096 x 4096 x 4096", 2.0 * 4096**3, 12.0 * 4096**2, kinds=kinds, rival=rival,
            timings={n: dict(median=s, lower=s, upper=s, rounds=20, calls=4) for n, s in seconds.items()},
            errors={n: [1e-6, 0.1] for n in seconds}, rivals=[n for n in seconds if "cuBLAS" in n],
        )  # fmt: skip

    report = made_up()
    report.machine["compute_capability"] = "9.0"
    report.rows = [
        row("gemm 4096", seconds, kinds, {"3xTF32": "cuBLAS", "TF32": "cuBLAS TF32"}),
        row("gemm bf16 4096", half, dict.fromkeys(half, BF16), {BF16: "cuBLAS BF16"}),
    ]
    return report


def test_hoppers_rungs_have_floors_of_their_own_and_other_cards_do_not():
    report = asdict(of_hopper())
    found = {k.promise.work: (k.ours, round(k.ratio, 2), k.verdict) for k in kept(report) if k.ratio}
    assert found["TF32 product on Hopper"] == ("v12_tma_tf32", 0.85, "floor")
    assert found["3xTF32 product on Hopper"] == ("v13_tma_3xtf32", 2.0, "floor")
    assert found["BF16 product"] == ("half_tma", 0.91, "goal")
    assert found["TF32 product"] == ("v12_tma_tf32", 0.85, "goal")
    report["rows"][0]["errors"]["v13_tma_3xtf32"] = [1.6e-6, 0.1]
    assert {k.promise.work: k.verdict for k in kept(report)}["3xTF32 product on Hopper"] == "below"
    for other in ("8.0", "10.0"):
        report["machine"]["compute_capability"] = other
        assert not [k for k in kept(report) if "Hopper" in k.promise.work or "BF16" in k.promise.work]


def test_sixteen_bits_are_for_hopper_and_are_exact_in_their_own_numbers(monkeypatch):
    sizes = dict(M=130, N=72, K=40)
    work = CASES["gemm bf16 4096"].make(with_numpy, np.random.default_rng(0), **sizes)
    with pytest.raises(ValueError, match=r"compute capability 9\.0"):
        work.makers["half_tma"]()
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (9, 0))
    player = work.makers["half_tma"]()
    assert [launch.kernel.__name__ for launch in player.calls[0].launches] == ["_gemm_half"]
    error = judge(player.calls[0](), work.exact(), work.exact(sizes=True), work.terms, player.kind, with_numpy)
    assert error.fits
    assert (work.flops, work.bytes) == (2 * 130 * 72 * 40, 2 * (130 * 40 + 40 * 72) + 4 * 130 * 72)
    assert not evenly_right(6e-3, BF16)
    assert evenly_right(4e-3, BF16)  # a rival's result is rounded to BF16


def test_a_kernels_name_loses_its_namespaces_and_arguments():
    assert plain_name("void DSE::vector_fft<0, 1, float>(int, float)") == "vector_fft"
    assert plain_name("sm80_xmma_fprop_implicit_gemm") == "sm80_xmma_fprop_implicit_gemm"


def test_texts_have_three_digits_and_the_unit_that_fits():
    assert (time_text(2.75e-3), time_text(4.567e-6)) == ("2.75 ms", "4.57 µs")
    assert speed_text(2.0 * 4096**3, 12 * 4096**2, 2.75e-3) == "50 TFLOP/s"
    assert speed_text(1000, 4000, 1e-9) == "4,000 GB/s"


def test_the_roof_is_the_lower_of_peak_and_bandwidth_and_tensor_cores_have_their_own():
    roof = roof_of("NVIDIA H200")
    assert roof.seconds(roof.peak, 1) == pytest.approx(1)
    assert roof.seconds(1, roof.bandwidth) == pytest.approx(1)
    assert roof.seconds(roof.peak, 1, TF32) < 0.2
    assert roof.seconds(roof.peak, 1, BF16) == pytest.approx(roof.seconds(roof.peak, 1, TF32) / 2)
    assert roof_of("NVIDIA RTX 4090").seconds(1, 1, TF32) is roof_of("NVIDIA RTX 4090").seconds(1, 1, BF16) is None
    assert roof_of("Some other card") is None
    assert player_rows(asdict(made_up("unknown")), asdict(made_up())["rows"][0])[0][4] == "-"


def test_tables_show_everybody_and_the_failures():
    first, *_, promises, compiled, launch, training, epoch = tables(asdict(made_up()))
    assert list(first.columns[0].cells) == [
        "v05_tile", "v08_pipelined", "v09_3xtf32", "cuBLAS"
    ]  # fmt: skip
    assert "v10_tf32 failed:[/] wrong: relative error nan" in first.caption
    assert "cuBLAS launches sgemm_128x64" in first.caption
    assert list(first.columns[1].cells)[3:] == ["rival"]
    assert list(first.columns[5].cells) == ["0.69", "0.95", "1.38", ""]
    assert promises.title == "floors and goals"
    assert list(compiled.columns[3].cells) == ["6.50 s", "2.50 s"]
    assert list(launch.columns[1].cells) == ["5 µs"]
    assert [list(c.cells) for c in training.columns] == [["LeNet-5, B = 64"], ["900 µs"], ["100 µs"]]
    assert [list(c.cells) for c in epoch.columns][1:] == [
        ["200 ms", "300 ms"], ["900 ms", "200 ms"], ["400 ms", "-"], ["0.50", "1.50"], ["0.7", ""], ["floor", ""]
    ]  # fmt: skip


def test_markdown_has_a_line_for_each_promise_and_for_compiling():
    lines = markdown(asdict(made_up()) | {"date": "2026-11-28"}).splitlines()
    assert lines[0].startswith("**NVIDIA H200**, driver 580, numba-cuda 0.30.4; 2026-11-28;")
    table = [line for line in lines if line.startswith("|")]
    steps = table.index("| network | one by one | recorded |")
    assert {line.count("|") for line in table[:steps]} == {13}
    assert table[steps + 2] == "| LeNet-5, B = 64 | 900 µs | 100 µs |"
    assert any("| SGEMM: gemm 4096 |" in line and "| 0.95 | 0.88 | 0.95 | floor |" in line for line in table)
    assert any("compiling any kernel, first" in line and line.endswith("| 5 s | 3 s | below |") for line in table)
    assert any("compiling any kernel, cached" in line and line.endswith("| 0.3 s | 0.1 s | floor |") for line in table)


def test_of_equally_fast_rungs_the_lowest_is_named():
    row = {"kinds": dict.fromkeys(("v05", "v06", "v07"), FLOAT32), "rivals": []}
    row["timings"] = {n: {"median": s} for n, s in (("v05", 3.0), ("v06", 1.002), ("v07", 1.0))}
    assert fastest(row, (FLOAT32,)) == "v06"
    assert fastest(row, (TF32,)) is None


def _row_of(ours, rivals, rival, exact, seconds):
    """Return the GpuRow of made-up work: arrays that players give back, and the seconds that they take."""
    work = Work(1, 1, 4, lambda sizes=False: (np.abs(exact) if sizes else exact,), ours, rivals, rival)
    case = SimpleNamespace(name="c", family="f", size="s", work=lambda backend, small: work)

    def clock(players, rounds):
        return {n: Timing(seconds[n], seconds[n], seconds[n], 1, 1) for n in players}

    return measure(case, with_numpy, clock, 1)


def _gives(array, kind_=FLOAT32):
    return lambda: Player((lambda: (gpu.to_device(np.asarray(array, np.float32)),),), kind_)


def test_a_rival_may_err_everywhere_alike_and_we_may_not():
    exact, off = np.array([1.0, 1e-4]), np.array([1.0, 1e-4 + 5e-7], np.float32)
    row = _row_of({"v01": _gives(off)}, {"cuDNN": _gives(off)()}, {}, exact, {"v01": 1.0, "cuDNN": 1.0})
    assert list(row.timings) == ["cuDNN"]
    assert list(row.failures) == ["v01"]


def test_of_several_rivals_the_fastest_counts_and_who_refuses_is_no_failure():
    def refuses():
        raise NoRival("cudnnGetConvolutionForwardWorkspaceSize answers 3000, NOT SUPPORTED.")

    exact, ours = np.ones(4), {"v08_fft": _gives(np.ones(4), FFT)}
    rivals = {"cuDNN FFT": _gives(np.ones(4)), "cuDNN FFT tiling": _gives(np.ones(4))}
    rival, seconds = {FFT: ("cuDNN FFT", "cuDNN FFT tiling")}, {"v08_fft": 3.0, "cuDNN FFT": 2.0, "cuDNN FFT tiling": 1}
    row = _row_of(ours, rivals, rival, exact, seconds)
    assert (row.rival, row.failures) == ({FFT: "cuDNN FFT tiling"}, {})
    row = _row_of(ours, rivals | {"cuDNN FFT tiling": refuses}, rival, exact, seconds)
    assert (row.rival, row.failures) == ({FFT: "cuDNN FFT"}, {})
    assert "answers 3000" in row.refused["cuDNN FFT tiling"]
    assert json.loads(json.dumps(asdict(row)))["rival"] == {FFT: "cuDNN FFT"}


def test_transforms_of_ours_may_err_everywhere_alike_but_not_by_much():
    exact = np.array([1.0, 1e-4])
    for off, right in ((5e-7, True), (5e-5, False)):
        row = _row_of({"v08_fft": _gives([exact[0], exact[1] + off], FFT)}, {}, {}, exact, {"v08_fft": 1.0})
        assert ("v08_fft" in row.timings) == right


def test_the_file_is_named_by_the_card_and_holds_no_path(tmp_path):
    path = write(made_up(), tmp_path, "gpu")
    assert path.name == "gpu.h200.json"
    content = json.loads(path.read_text())
    assert (content["bench"], content["rows"][0]["case"]) == ("gpu", "gemm 4096")
    assert not re.search(r"[\"' ]/[a-z]|\\\\|[A-Z]:", path.read_text())


def test_a_part_is_added_to_what_the_same_machine_measured_before(tmp_path):
    path = write(made_up(), tmp_path, "gpu")
    part = made_up()
    part.rows, part.compile, part.launch = [GpuRow("reduce", "memory", "n", date="2026-12-31")], [], {}
    both = merged(part, path)
    assert [row.case for row in both.rows] == ["gemm 4096", "transpose", "reduce"]
    written = json.loads(path.read_text())["date"]
    assert [row.date for row in both.rows] == [written, written, "2026-12-31"]
    assert (len(both.compile), len(part.compile)) == (2, 0)
    other = made_up("NVIDIA H100")
    other.rows = []
    assert merged(other, path).rows == []
    assert merged(made_up(), tmp_path / "none.json").rows == made_up().rows
    path.write_text('{"bench": "gpu", "rows": [')  # cut off: there is nothing to be added to
    assert merged(part, path).rows == part.rows


def test_a_process_that_dies_costs_one_case_and_the_rest_goes_on(tmp_path):
    worker = tmp_path / "worker.py"
    worker.write_text(
        textwrap.dedent("""
        import json, sys
        print("a line that is no answer")
        for name in sys.argv[3:]:
            if name == "dies":
                print("it broke", file=sys.stderr)
                sys.exit(7)
            print(json.dumps({"case": name}), flush=True)
            if name == "spoils":
                sys.exit(3)
        """)
    )
    names = ["a", "dies", "spoils", "b"]
    found = list(in_processes("measure", names, {}, command=(sys.executable, str(worker))))
    assert [f["case"] for f in found] == names
    assert found[1]["failures"] == {"all": "the process ended with 7: it broke"}
    assert GpuRow(**found[1]).timings == {}
    assert all("failures" not in f for f in (found[0], found[2], found[3]))


def test_an_epoch_is_timed_as_nn_train_runs_it(monkeypatch):
    monkeypatch.setattr("course_lib.bench.gpu.epoch._rivals", dict)
    found = epochs("MLP 784-128-10, B = 64", rounds=2, count=6)
    assert found["failures"] == {}
    assert len(found["nn.train"]) == 3
    monkeypatch.setattr("course_lib.bench.gpu.epoch._rivals", lambda: {"other": lambda *a: ([9.0] * 3, [1, 1, 1])})
    found = epochs("MLP 784-128-10, B = 64", rounds=2, count=6)
    assert "other" not in found
    assert "mean losses of other" in found["failures"]["other"]


def test_digits_for_an_epoch_are_real_ones_of_the_networks_shape():
    for name, shape in SHAPES.items():
        x, labels = generated(name, 40)
        assert x.shape == (40, *shape)
        assert (x.dtype, x.min(), len(set(labels.tolist())) > 5) == (np.float32, 0, True)
        assert 0.5 < x.max() <= 1


def test_a_run_asks_its_processes_and_gathers_rows_compiling_and_launching(monkeypatch, tmp_path):
    def processes(what, names, environment, rounds=1):
        assert environment.keys() == {"COURSE_CACHE", "NUMBA_CACHE_DIR"}
        for name in names:
            if what == "launch":
                yield {"case": name, "kernel[grid, block](...)": [1e-6, 1e-6, 1e-6]}
            elif what in ("training", "epoch"):
                yield {"case": name, "recorded": [1e-4] * 3, "failures": {"PyTorch": "out of memory"}}
            elif what == "measure":
                yield asdict(GpuRow(name, "gemm", "n", failures={"v01": "wrong"}))
            elif name == "gemm 4096":
                yield {"case": name, "failures": {"all": "it died"}}
            else:
                yield {"case": name, "kernels": [["v01", "_gemm", 1.5, "", True]]}

    monkeypatch.setattr(bench, "in_processes", processes)
    monkeypatch.setattr("course_lib.bench.gpu.compile.in_processes", processes)
    monkeypatch.setattr(bench, "choice", lambda: SimpleNamespace(device="gpu"))
    said = []
    report = bench_gpu(only=["gemm", "compile", "launch", "training", "epoch"], rounds=2, on_row=said.append)
    products = ["gemm 1024", "gemm 4096", "gemm 8192", "gemm bf16 4096", "gemm bf16 8192"]
    assert [row.case for row in report.rows] == products
    assert [(c["case"], c["first"], c["cached"], c["failure"]) for c in report.compile] == [
        (name, 0.0, 0.0, "it died") if name == "gemm 4096" else (name, 1.5, 1.5, "") for name in products
    ]
    assert report.launch["case"] == "launch"
    assert report.training["MLP 784-128-10, B = 256"] == {"recorded": [1e-4] * 3}
    assert ("training", "LeNet-5, B = 64, PyTorch", "out of memory") in report.failures
    assert ("epoch", "LeNet-5, B = 256, PyTorch", "out of memory") in report.failures
    assert len(report.failures) == 14
    assert said[:7] == ["compiled", "loaded", *(f"{name}: v01" for name in products)]
    nets = [f"{net}, B = {n}: PyTorch" for net in ("LeNet-5", "MLP 784-128-10") for n in (64, 256)]
    assert said[7:] == [f"{what}, {net}" for what in ("training", "epoch") for net in nets]
    assert "gpu" in report.machine
    monkeypatch.setattr("course_lib.bench.gpu.bench_gpu", lambda **options: report)
    done = CliRunner().invoke(app, ["bench", "gpu", "--out", str(tmp_path)])
    assert done.exit_code == 1  # there were failures
    assert "failed: gemm bf16 8192, v01: wrong" in done.output


@pytest.mark.parametrize("options", [{"rounds": 0}, {"jobs": 1.5}])
def test_odd_numbers_are_refused(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        bench_gpu(**options)


TINY = {
    "forward": dict(B=2, C=2, H=6, W=5, M=3, K=3, stride=1, pad=1),
    "dX": dict(B=2, C=2, H=6, W=5, M=3, K=3, stride=1, pad=0),
    "dW": dict(B=2, C=2, H=6, W=5, M=3, K=3, stride=1, pad=0),
}


@pytest.mark.parametrize("direction", TINY)
def test_exact_convolutions_have_the_outputs_sizes_and_flops(direction, monkeypatch):
    ladders = {"forward": "forward", "dX": "backward_data", "dW": "backward_weights"}
    monkeypatch.setitem(sys.modules, f"course_lib.cuda.ladders.conv2d.{ladders[direction]}", SimpleNamespace(LADDER=()))
    work = CASES[f"conv 1->4 k7 {direction}"].make(with_numpy, np.random.default_rng(0), **TINY[direction])
    shapes = [a.shape for a in work.exact()]
    pad = TINY[direction]["pad"]
    rows, columns = 4 + 2 * pad, 3 + 2 * pad
    expected = {"forward": [(2, 3, rows, columns)], "dX": [(2, 2, 6, 5)], "dW": [(3, 2, 3, 3), (3,)]}
    assert shapes == expected[direction]
    assert work.flops == 2 * 2 * 3 * rows * columns * 2 * 9
    for exact, size in zip(work.exact(), work.exact(sizes=True), strict=True):
        assert (np.abs(exact) <= size + 1e-12).all()
    assert isinstance(work, Work)
    assert gpu_promises.fastest(dict(kinds={}, rivals=[], timings={}), ("float32",)) is None
    assert Player((len,)).kind == FLOAT32
