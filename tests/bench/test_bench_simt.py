"""The executor and Numba's simulator compute the same, and are timed in turns, each by its own clock."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from course_lib import simt
from course_lib.bench import Timing, interleave, write
from course_lib.bench import simt as bench
from course_lib.bench.simt import BARE, EVERYTHING, SIMULATOR, UNCOUNTED, SimtReport, SimtRow, bench_simt, simt_tables
from course_lib.bench.simt_cases import CASES, TILED
from course_lib.bench.simulator import Simulator, answer
from course_lib.checks import Mismatch
from course_lib.cli import app

SMALL = {
    "vector add": 100, "axpy, grid-stride": 600, "naive product": 17, TILED: 16, "transpose, tile": 32,
    "transpose, padded": 32, "block sums": 130, "histogram, atomics": 200, "softmax": 1, "max pooling": 6,
    "convolution 5x5": 7, "stencil": 130,
}  # fmt: skip

# What each kernel should compute, from the arrays before the launch; the last array is the result.
EXPECTED = {
    "vector add": lambda a, b, c: a + b,
    "axpy, grid-stride": lambda alpha, x, y: y + alpha * x,
    "naive product": lambda A, B, C: A @ B,
    TILED: lambda A, B, C: A @ B,
    "transpose, tile": lambda A, B: A.T,
    "transpose, padded": lambda A, B: A.T,
    "block sums": lambda x, s: [x[i : i + 128].sum() for i in range(0, len(x), 128)],
    "histogram, atomics": lambda x, c: np.bincount(x, minlength=16),
    "softmax": lambda x, y: np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1)[:, None],
    "max pooling": lambda x, y: x.reshape(*y.shape[:3], 2, y.shape[3], 2).max((3, 5)),
    "convolution 5x5": lambda x, w, y: np.einsum(
        "bchwpq,mcpq->bmhw", np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3)), w
    ),
    "stencil": lambda x, y: np.convolve(x, [1, 2, 1], "same"),
}


@pytest.fixture(scope="module")
def simulator():
    with Simulator() as running:
        yield running


@pytest.fixture(scope="module")
def report():
    return bench_simt(kernels=("vector add", TILED), sizes=SMALL, growth=(16, 32), rounds=2)


def test_there_are_twelve_kernels():
    assert len(CASES) == 12
    assert SMALL.keys() == CASES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", CASES)
def test_the_executor_computes_what_the_kernel_says_and_finds_nothing_wrong(name):
    case = CASES[name]
    launch = case.launch(SMALL[name])
    expected = EXPECTED[name](*(np.copy(a) for a in launch.arguments))
    report = simt.run(launch.kernel, launch.grid, launch.block, launch.arguments, on_error="collect")
    assert report.hazards == []
    np.testing.assert_allclose(launch.results()[0], expected, rtol=2 * case.rtol, atol=0)


@pytest.mark.parametrize("name", ["histogram, atomics", "softmax", "block sums"])
def test_the_simulator_computes_the_same_in_its_own_process(name, simulator):
    case = CASES[name]
    launch = case.launch(SMALL[name])
    (found,) = simulator.results(case, SMALL[name])
    simt.run(launch.kernel, launch.grid, launch.block, launch.arguments)
    assert found.dtype == launch.results()[0].dtype
    np.testing.assert_allclose(found, launch.results()[0], rtol=case.rtol, atol=0)


def test_the_simulator_times_its_launches_itself(simulator):
    rival = simulator.rival(CASES["vector add"], 100)
    assert min(rival.seconds(1), rival.seconds(2)) > 0
    assert rival() is None


def test_every_launch_makes_the_same_arrays():
    for case in CASES.values():
        one, two = case.launch(SMALL[case.name]), case.launch(SMALL[case.name])
        for a, b in zip(one.arguments, two.arguments, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_simulator_that_ends_is_an_error_that_says_how_to_see_why():
    with Simulator() as broken:
        broken.process.kill()
        broken.process.wait()
        with pytest.raises(RuntimeError, match=r"ended while it ran 'vector add'.*NUMBA_ENABLE_CUDASIM=1"):
            broken.results(CASES["vector add"], 100)
    with pytest.raises(KeyError):
        answer({"case": "no such", "size": 1})


def test_a_run_has_all_rivals_in_its_rows_and_the_executor_alone_in_the_growth(report):
    assert [(row.kernel, row.size, row.shape, row.threads) for row in report.rows] == [
        ("vector add", 100, "100 elements", 128),
        (TILED, 16, "16 x 16", 256),
    ]
    for row in report.rows:
        assert list(row.timings) == [EVERYTHING, UNCOUNTED, BARE, SIMULATOR]
        assert row.ratio(EVERYTHING) == row.timings[SIMULATOR].median / row.timings[EVERYTHING].median
        assert (row.timings[SIMULATOR].calls, row.timings[SIMULATOR].rounds) == (1, 2)
    assert [(row.size, list(row.timings), row.ratio(EVERYTHING)) for row in report.growth] == [
        (16, [EVERYTHING, UNCOUNTED, BARE], None),
        (32, [EVERYTHING, UNCOUNTED, BARE], None),
    ]
    assert report.promises() == []  # other sizes than those of the promises


def test_the_file_holds_what_was_measured(report, tmp_path):
    path = write(report, tmp_path, "simt")
    assert re.fullmatch(r"simt\.[a-z0-9-]+\.json", path.name)
    content = json.loads(path.read_text())
    assert content["bench"] == "simt"
    assert {"python", "course-lib", "numpy", "numba"} == content["machine"]["versions"].keys()
    assert content["rows"][1]["timings"][SIMULATOR]["median"] == report.rows[1].timings[SIMULATOR].median
    assert [row["size"] for row in content["growth"]] == [16, 32]


def test_another_result_than_the_simulators_is_not_timed(monkeypatch, simulator):
    def wrong(*arguments, **options):
        arguments[3][-1][...] = 7

    monkeypatch.setattr(bench.simt, "run", wrong)
    with pytest.raises(Mismatch, match="vector add by the executor"):
        bench._row(CASES["vector add"], 100, 1, simulator)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": ["matmul"]}, "no kernel is called 'matmul'; there are vector add, .*stencil"),
        ({"rounds": 0}, "rounds is 0"),
    ],
)
def test_unknown_kernels_and_odd_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bench_simt(**options)


def timing(seconds):
    return Timing(seconds, seconds, seconds, 7, 1)


def made_up(executor, large):
    row = SimtRow(
        TILED,
        64,
        "64 x 64",
        4096,
        {EVERYTHING: timing(executor), UNCOUNTED: timing(0.01), BARE: timing(0.005), SIMULATOR: timing(5)},
    )
    growth = [
        SimtRow(
            TILED, n, f"{n} x {n}", n * n, {EVERYTHING: timing(large), UNCOUNTED: timing(0.01), BARE: timing(0.005)}
        )
        for n in (64, 128)
    ]
    return SimtReport({"cpu": "some", "versions": {"numba": "1"}}, 7, [row], growth)


def test_promises_are_compared_with_what_was_measured():
    assert made_up(0.02, 0.1).promises() == [
        ("tiled product of 64: 250 times as fast as the simulator, at least 200", True),
        ("tiled product of 128: 0.100 s, at most 0.15 s", True),
    ]
    assert [kept for _, kept in made_up(0.03, 0.2).promises()] == [False, False]


def test_tables_show_times_ratios_and_the_time_for_each_product():
    rivals, growth = simt_tables(made_up(0.02, 2.097152))
    assert [list(column.cells) for column in rivals.columns][3:] == [
        ["20 ±0%"], ["10 ±0%"], ["5 ±0%"], ["5,000 ±0%"], ["250x"]
    ]  # fmt: skip
    assert list(growth.columns[4].cells) == ["8000.0", "1000.0"]
    assert list(growth.columns[5].cells) == ["209.7x, 419.4x"] * 2


def test_the_command_shows_tables_and_promises_and_writes_the_file(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "bench_simt", lambda **options: made_up(0.02, 0.2))
    done = CliRunner().invoke(app, ["bench", "simt", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "kept: tiled product of 64: 250 times" in done.output
    assert "not kept: tiled product of 128: 0.200 s" in done.output
    assert (tmp_path / "out" / "simt.some.json").exists()


def test_the_command_names_the_kernels_when_one_is_unknown():
    done = CliRunner().invoke(app, ["bench", "simt", "--kernel", "matmul"])
    assert done.exit_code == 1
    assert "no kernel is called 'matmul'" in done.output


def test_a_slow_rival_is_called_once_in_each_round_and_a_rival_may_time_itself():
    class Clocked:
        def __init__(self):
            self.calls = []

        def __call__(self):
            raise AssertionError("a slow rival has no call that is not counted")

        def seconds(self, calls):
            self.calls.append(calls)
            return 3.0

    clocked = Clocked()
    timings = interleave({"slow": clocked, "quick": lambda: None}, rounds=3, block=0.01, pause=0, slow={"slow"})
    assert clocked.calls == [1, 1, 1]
    assert timings["slow"].median == 3.0
    assert timings["quick"].calls > 1
