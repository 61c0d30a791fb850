"""The benchmark times rivals in turns, compares their results first, and writes down what it measured."""

import contextlib
import json
import re
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from course_lib import fast
from course_lib.bench import Timing, bench_cpu, interleave, rivals, tables, write
from course_lib.bench.report import Row
from course_lib.checks import Mismatch
from course_lib.cli import app


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setattr("course_lib.bench.cpu.has_torch", lambda: False)
    monkeypatch.setattr("course_lib.bench.rivals.has_torch", lambda: False)


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("course_lib.bench.cpu.has_torch", lambda: False)
        patch.setattr("course_lib.bench.cpu.STEP_BLOCK", 0)  # one call each
        patch.setattr("course_lib.bench.cpu.LAYER_BLOCK", 0)
        return bench_cpu(threads=1, batch=3, rounds=2)


def test_rivals_take_turns_and_each_round_begins_with_another_one():
    calls = []
    interleave({n: lambda n=n: calls.append(n) for n in "abc"}, rounds=3, block=0, pause=0)
    turns = calls[-18:]  # each turn: one call that is not counted, one that is
    assert turns == [n for order in ("abc", "bca", "cab") for n in order for _ in range(2)]


def test_a_time_is_the_time_of_one_call():
    timings = interleave({"slow": lambda: time.sleep(0.02), "idle": lambda: None}, rounds=3, block=0.05, pause=0)
    assert 0.02 <= timings["slow"].lower <= timings["slow"].median <= timings["slow"].upper
    assert timings["slow"].calls in (2, 3)
    assert timings["idle"].calls > 1000 * timings["slow"].calls
    assert timings["slow"].rounds == 3


def test_the_median_is_not_moved_by_one_slow_round(monkeypatch):
    blocks = iter([1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 400.0, 5.0])  # three to find the number of calls, five rounds
    monkeypatch.setattr("course_lib.bench.timing._block", lambda function, calls: next(blocks))
    timing = interleave({"a": lambda: None}, rounds=5, block=0, pause=0)["a"]
    assert (timing.median, timing.lower, timing.upper, timing.calls) == (5.0, 5.0, 5.0, 1)


def test_every_call_of_a_rival_is_made_in_its_context():
    inside, seen = [False], []

    @contextlib.contextmanager
    def context():
        inside[0] = True
        yield
        inside[0] = False

    rivals_ = {"a": lambda: seen.append(("a", inside[0])), "b": lambda: seen.append(("b", inside[0]))}
    interleave(rivals_, rounds=2, block=0, pause=0, around={"a": context})
    assert set(seen) == {("a", True), ("b", False)}


@pytest.mark.parametrize("options", [{"rounds": 0}, {"rounds": 1.5}, {"block": -1}, {"pause": -1}])
def test_odd_numbers_are_refused(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        interleave({"a": lambda: None}, **options)


def test_every_layer_is_timed_in_both_directions_for_every_rival(report):
    steps = [row for row in report.rows if row.part == "training step"]
    assert [row.network for row in steps] == ["LeNet-5", "MLP 784-128-10"]
    parts = [(row.network, row.part, row.direction) for row in report.rows if row not in steps]
    assert len(parts) == 2 * (12 + 3)
    assert len(set(parts)) == len(parts)
    assert ("LeNet-5", "4 Conv2d 6 -> 16, 5x5", "backward") in parts
    for row in report.rows:
        assert list(row.timings) == ["reference", "fast"]
        assert all(0 < t.lower <= t.median <= t.upper for t in row.timings.values())
    assert report.first_call_seconds > 0.5  # a whole set of kernels


def test_threads_are_given_back(monkeypatch, no_torch):
    monkeypatch.setattr("course_lib.bench.cpu._rows", lambda batch, rounds: [seen.append(fast.threads())])
    monkeypatch.setattr("course_lib.bench.cpu._first_call", lambda: 0.0)
    seen, before = [], fast.threads()
    bench_cpu(threads=before + 2, rounds=1)
    assert (seen, fast.threads()) == ([before + 2], before)


def test_a_rival_that_computes_something_else_is_not_timed(monkeypatch, no_torch):
    monkeypatch.setattr(fast, "relu_forward", lambda z: (1.1 * np.maximum(z, 0), z))
    with pytest.raises(Mismatch, match="fast's loss of LeNet-5"):
        bench_cpu(threads=1, batch=2, rounds=1)


def test_the_file_holds_what_was_measured_and_nothing_of_this_machine_but_its_processor(report, tmp_path):
    path = write(report, tmp_path / "results")
    assert re.fullmatch(r"cpu\.[a-z0-9-]+\.json", path.name)
    text = path.read_text()
    content = json.loads(text)
    assert content["bench"] == "cpu"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", content["date"])
    assert (content["threads"], content["batch"]) == (1, 3)
    assert content["machine"]["versions"]["numpy"] == np.__version__
    assert content["machine"]["cpu"] != "unknown"
    assert len(content["rows"]) == len(report.rows)
    assert content["rows"][0]["timings"]["fast"]["median"] == report.rows[0].timings["fast"].median
    assert not re.search(r"[\"' ]/[a-z]|\\\\|[A-Z]:", text)  # no path


def test_ratios_are_of_the_medians_and_missing_without_the_rival():
    slow, quick = Timing(0.003, 0.002, 0.004, 3, 1), Timing(0.001, 0.001, 0.001, 3, 1)
    row = Row("net", "training step", "", {"reference": slow, "fast": quick, "PyTorch": slow})
    assert (row.ratio("fast"), row.ratio("reference")) == (pytest.approx(1 / 3), 1)
    assert Row("net", "layer", "forward", {"fast": quick}).ratio("fast") is None
    columns = [c.header for c in tables([row])[0].columns]
    assert columns == ["", "", "reference", "fast", "PyTorch", "reference/PyTorch", "fast/PyTorch"]
    assert list(tables([row])[0].columns[2].cells) == ["3 ±33%"]
    assert list(tables([row])[0].columns[6].cells) == ["0.33"]


def test_the_command_shows_the_tables_and_says_what_is_missing(monkeypatch, tmp_path, report, no_torch):
    monkeypatch.setattr("course_lib.bench.bench_cpu", lambda **options: report)
    done = CliRunner().invoke(app, ["bench", "cpu", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "pip install '.[torch]'" in done.output
    assert "LeNet-5: ms per call" in done.output
    assert "4 Conv2d 6 -> 16, 5x5" in done.output
    assert "once per machine" in done.output
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["bench", "cpu", "--out", str(tmp_path / "file")])
    assert done.exit_code == 1
    assert "no file can be written to" in done.output
    assert "--out" in done.output


def test_pytorch_computes_the_same_loss_for_the_same_weights():
    pytest.importorskip("torch", reason="PyTorch, an optional extra (pip install .[torch]), is not here")
    for name in rivals.NETS:
        torch_rival, course = rivals.TorchRival(name, 5), rivals.CourseRival(name, "reference", 5)
        for _ in range(3):
            assert torch_rival.step() == pytest.approx(course.step(), rel=1e-4)
        for (_, forward, backward), (_, course_forward, _) in zip(torch_rival.layers(), course.layers(), strict=True):
            np.testing.assert_allclose(forward().detach().numpy(), course_forward(), rtol=1e-3, atol=1e-4)
            assert all(g is not None for g in backward())
