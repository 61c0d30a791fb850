"""The measurements of lesson 16 can be made as they stand: each part runs once, small, without a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.streams import part_of_step
from tools.steps import epochs
from tools.steps.__main__ import PARTS, in_process, in_words

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "results" / "steps.h200.json"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    out = tmp_path_factory.mktemp("steps") / "steps.simt.json"
    command = [sys.executable, "-m", "tools.steps", "--tiny", "--out", out]
    environment = os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300)
    return json.loads(out.read_text("utf-8"))


def test_every_part_has_its_rows(measured):
    assert measured["failures"] == {}
    assert [row["case"] for row in measured["rows"]] == [
        "a launch", "one step of tiny", "steps of tiny by batch", "copies", "read, compute, write",
        "answers while training", "an epoch",
    ]  # fmt: skip


def test_each_launch_of_a_step_has_its_part_and_its_times(measured):
    step = next(row for row in measured["rows"] if row["case"] == "one step of tiny")
    assert len(step["launches"]) == len(next(iter(_row(measured, "steps of tiny by batch")["kernels"].values())))
    begins = [one["enqueued"][0] for one in step["launches"]]
    assert begins == sorted(begins)
    parts = [part_of_step(one["part"]) for one in step["launches"]]
    assert list(dict.fromkeys(parts)) == ["forward", "loss", "gradients to zero", "backward", "update"] or set(
        parts
    ) == {"forward", "loss", "gradients to zero", "backward", "update"}
    assert parts.count("update") == parts.count("gradients to zero") == 4
    assert all(one["seconds"] > 0 for one in step["launches"])


def test_an_epoch_is_trained_in_every_way_that_nn_train_has(measured):
    ways = list(_row(measured, "an epoch")["timings"])
    assert ways[:2] == ["nn.train on the processor", "nn.train on the card"]
    assert ways[-3:] == ["recorded, each batch in turn", "recorded, batches ahead", "feeding alone"]
    assert [way for way, *_ in epochs.trainings(8, 4)] == ways[:-3]


def test_a_part_that_takes_too_long_or_fails_is_named_and_ends(tmp_path, monkeypatch):
    failures = {}
    assert list(in_process("copies", True, 0.05, failures)) == []
    assert failures == {"copies": "ended after 0.05 s"}
    monkeypatch.setenv("COURSE_DEVICE", "nonsense")
    assert list(in_process("copies", True, 60, failures := {})) == []
    assert "nonsense" in failures["copies"]


def test_rows_are_told_in_words(measured):
    said = in_words(_row(measured, "one step of tiny"))
    assert "us  recorded" in said
    assert f"in {len(_row(measured, 'one step of tiny')['launches'])} kernels" in said


def test_the_committed_measurements_are_of_every_part():
    rows = json.loads(COMMITTED.read_text("utf-8"))["rows"]
    cases = {row["case"] for row in rows}
    assert cases >= {
        "a launch", "one step of LeNet-5", "one step of MLP 784-128-10", "steps of LeNet-5 by batch", "copies",
        "read, compute, write", "answers while training", "an epoch",
    }  # fmt: skip
    assert len(PARTS) == 6


def _row(measured, case):
    return next(row for row in measured["rows"] if row["case"] == case)
