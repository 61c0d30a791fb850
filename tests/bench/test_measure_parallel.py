"""`tools/measure_parallel.py`: what it measures is what it says, and a part that fails costs no other."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import nn, parallel
from course_lib.cuda import device
from course_lib.cuda.choice import GPU
from course_lib.lesson.measurements import by_round
from course_lib.parallel.launch import find_mpiexec
from course_lib.parallel.traffic import Traffic
from tests.gpu.devices import DEVICE
from tests.parallel.nccl_model import run_on_model
from tools import measure_parallel as tool

ROOT = Path(__file__).resolve().parents[2]
MPI = importlib.util.find_spec("mpi4py") is not None and find_mpiexec() is not None


@pytest.fixture(autouse=True)
def small(monkeypatch):
    nets = {name: (lambda ops: nn.models.mlp((784, 4, 10), rng=np.random.default_rng(0), ops=ops), (784,))
            for name in tool.NETS}  # fmt: skip
    monkeypatch.setattr(tool, "NETS", nets)


def test_sums_are_timed_in_every_way_with_their_traffic():
    rows = parallel.run(lambda world: list(tool.sums(world, smoke=True)), 2)[0]
    assert [(r["by"], r["bytes"]) for r in rows] == [
        (by, size) for size in tool.SIZES[:4:3] for by in parallel.world.WAYS
    ]
    for row in rows:
        assert row["seconds"] >= row["least"] > 0
        expected = parallel.world.WAYS[row["by"]].traffic(0, 2, row["bytes"] // 4, 4)
        assert Traffic(row["messages"], row["sent"]) == expected


def test_messages_are_timed_by_kind_and_size():
    rows = parallel.run(lambda world: list(tool.messages(world, smoke=True)), 2)
    assert [(r["kind"], r["bytes"]) for r in rows[0]] == [
        (kind, size) for size in tool.MESSAGES[:8:7] for kind in ("message", "add", "fresh", "exchange", "both add")
    ]
    assert all(row["seconds"] >= row["least"] > 0 for row in rows[0] + rows[1])


def test_large_arrays_are_timed_in_turns():
    done = []
    calls = {kind: (lambda k=kind: done.append(k)) for kind in ("a", "b")}
    found = parallel.run(lambda world: tool.timed_in_turns(world, calls, 4, True), 1)[0]
    assert done == ["a", "b"]
    assert found.keys() == calls.keys()


def test_more_measurements_join_those_of_the_same_machine(tmp_path):
    file, about = tmp_path / "parallel.x.json", {"machine": {"cpu": "a"}, "failed": [], "load": [1, 2]}
    assert tool.joined(file, about, {"sums": [1]}) == (about, {"sums": [1]})
    file.write_text(json.dumps({**about, "parts": {"sums": [1], "steps": [2]}}))
    joint, parts = tool.joined(file, {**about, "load": [3, 4]}, {"sums": [5], "messages": [6]})
    assert parts == {"sums": [1, 5], "steps": [2], "messages": [6]}
    assert joint["load"] == [1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"parallel.x.json is of \{'cpu': 'a'\}, this is \{'cpu': 'b'\}"):
        tool.joined(file, {**about, "machine": {"cpu": "b"}}, {})


def test_the_most_ranks_limit_the_plan():
    assert {ranks for _, ranks, _ in tool.plan(False, 2, most=2)} == {1, 2}
    assert {ranks for _, ranks, _ in tool.plan(False, 2)} == {1, 2, 4}
    assert {ranks for _, ranks, _ in tool.plan(True, 2)} == {1, 2}


def test_steps_are_cut_among_the_ranks():
    rows = parallel.run(lambda world: list(tool.steps(world, smoke=True)), 3)
    assert [r["rows"] for r in (rows[0][0], rows[1][0], rows[2][0])] == [21, 21, 22]
    assert {r["exchange"] for r in rows[0]} == {"overlap", "after", "alone"}


def test_one_process_makes_the_same_steps_with_all_cores():
    rows = tool.cores(smoke=True)
    assert {(r["ranks"], r["exchange"]) for r in rows} == {(1, "none")}
    assert [(r["net"], r["rows"]) for r in rows] == [(name, b) for name in list(tool.NETS)[:2] for b in (64, 512)]


def test_training_says_whether_ranks_agree():
    rows = [row for n in (1, 2) for part in parallel.run(lambda w: list(tool.training(w, True)), n) for row in part]
    lines = list(tool.verdicts(rows))
    assert len(lines) == 2
    assert all("2 ranks: equal bits on all ranks; losses off by" in line for line in lines)
    rows[-1]["bits"] = "another"
    assert "OTHER BITS on some ranks" in list(tool.verdicts(rows))[-1]


@pytest.mark.skipif(DEVICE == GPU, reason="ranks as threads would share one card")
def test_the_parts_for_cards_run_on_the_model(monkeypatch):
    monkeypatch.setattr(device, "take_card", lambda number: None)
    sums, _ = run_on_model(lambda world: list(tool.card_sums(world, smoke=True)), 2)
    assert {row["by"] for row in sums[0]} == {"engine", *parallel.world.WAYS}
    assert all(row["bus"] > 0 for row in sums[0])
    rows = []
    for ranks in (1, 2):
        for record in (True, False):
            parts, _ = run_on_model(
                lambda w, r=record: list(tool.card_training(w, True, "LeNet-5", 4, 4, r)), ranks
            )  # fmt: skip
            rows += [row for part in parts for row in part]
    lines = list(tool.verdicts(rows))
    assert len(lines) == 2
    assert all("equal bits on all ranks" in line for line in lines)


def test_a_row_is_a_short_line():
    row = {"ranks": 2, "rank": 0, "by": "ring", "bytes": 4096, "seconds": 1.5e-4, "bus": 2.5e9, "loss": [2.0, 1.25]}
    assert tool.shown(row) == "ranks 2  by ring  bytes 4,096  seconds 150.0 us  bus 2.50 GB/s  loss 1.25"


@pytest.mark.skipif(not MPI, reason="no mpi4py or no mpiexec: pip install -e '.[mpi]'")
def test_a_run_writes_what_it_measured_and_what_failed(tmp_path):
    out = tmp_path / "parallel.json"
    command = [sys.executable, "tools/measure_parallel.py", "--smoke", "--out", str(out)]
    command += ["--only", "turns", "--only", "sums"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert (found["smoke"], found["failed"]) == (True, [])
    assert {row["ranks"] for row in found["parts"]["sums"]} == {2, 4}
    assert {row["kind"] for row in found["parts"]["messages"]} == {"message", "exchange", "add", "both add", "fresh"}
    assert len(by_round(found["parts"]["messages"])) == 2
    assert {row["by"] for row in found["parts"]["sums"]} == {*parallel.world.WAYS, "engine"}
    rows, problem = tool.run_part("card_sums", 2, True, {}, 60)  # there is no card here, or no CuPy
    assert (rows, "there is no GPU" in problem or "CuPy" in problem) == ([], True)
