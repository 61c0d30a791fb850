"""The measurements of lesson 16 can be made as they stand: each part runs once, small, without a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu
from course_lib.streams import part_of_step
from tools.steps import epochs, until
from tools.steps.__main__ import PARTS, in_process, in_words
from tools.steps.on_card import OnCard
from tools.steps.step import Step, images, network

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "results" / "steps.h200.json"
PLACE = {"cwd": ROOT, "env": os.environ | {"COURSE_DEVICE": "simt", "PYTHONPATH": str(ROOT)}, "timeout": 300}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """All parts in one process: to start one for each, as the tool does, takes longer than they do."""
    words = "from tools.steps.__main__ import PARTS, say; [say(part, tiny=True) for part in PARTS]"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True, **PLACE)
    found = {row["case"]: row for row in map(json.loads, done.stdout.splitlines())}  # a row again: with more in it
    return {"rows": list(found.values())}


def test_the_tool_starts_a_process_for_a_part_and_writes_what_it_found(tmp_path):
    out = tmp_path / "steps.simt.json"
    command = [sys.executable, "-m", "tools.steps", "--tiny", "--only", "copies", "--out", out]
    subprocess.run(command, capture_output=True, check=True, **PLACE)
    written = json.loads(out.read_text("utf-8"))
    assert written["failures"] == {}
    assert [row["case"] for row in written["rows"]] == ["copies", "asking for a copy"]


def test_every_part_has_its_rows(measured):
    assert [row["case"] for row in measured["rows"]] == [
        "a launch", "one step of tiny", "steps of tiny by batch", "copies", "asking for a copy",
        "read, compute, write", "answers while training", "an epoch",
        "until enough are right, B = 2",
    ]  # fmt: skip


def test_each_launch_of_a_step_has_its_part_and_its_times(measured):
    step = next(row for row in measured["rows"] if row["case"] == "one step of tiny")
    assert len(step["launches"]) == len(next(iter(_row(measured, "steps of tiny by batch")["kernels"].values())))
    begins = [one["enqueued"][0] for one in step["launches"]]
    assert begins == sorted(begins)
    parts = [part_of_step(one["part"]) for one in step["launches"]]
    assert set(parts) == {"forward", "loss", "gradients to zero", "backward", "update"}
    assert parts.count("update") == parts.count("gradients to zero") == 4
    assert all(one["seconds"] > 0 for one in step["launches"])


def test_an_epoch_is_trained_in_every_way_that_nn_train_has(measured):
    ways = list(_row(measured, "an epoch")["timings"])
    assert ways[:2] == ["nn.train on the processor", "nn.train on the card"]
    by_hand = ["recorded, each batch in turn", "recorded, batches ahead", "feeding alone", "training alone",
               "digits stay on the card"]  # fmt: skip
    assert ways[-5:] == by_hand
    assert [way for way, *_ in epochs.trainings(8, 4)] == ways[:-5]


def test_an_answer_has_its_parts_by_both_clocks(measured):
    row = _row(measured, "answers while training")
    for parts in row["parts"].values():
        assert list(parts["host"]) == ["copy in", "graph", "copy out", "wait"]
        assert list(parts["card"]) == ["copy in", "forward pass", "copy out"]
        assert min(*parts["host"].values(), *parts["card"].values()) >= 0


def test_digits_that_stay_on_the_card_train_on_the_same_batches():
    """Each row once an epoch, in the order that was given: the weights are those of a step that is fed."""
    x, labels = images("tiny", 7)
    order = np.random.default_rng(0).permutation(7)
    stay, fed = (Step(network("tiny"), x[:2], labels[:2], 0.1) for _ in "12")
    card = OnCard(stay, gpu.to_device(x), gpu.to_device(labels))
    gpu.record(fed)  # as the other: a recording trains once
    for k, (there, here) in enumerate(zip(stay.params, fed.params, strict=True)):
        gpu.overwrite(there, gpu.to_host(here))
        gpu.overwrite(stay.velocities[k], gpu.to_host(fed.velocities[k]))
    card.begin(order)
    for k in range(card.batches):
        card.graph()
        gpu.overwrite(fed.x, x[order[2 * k : 2 * k + 2]])
        gpu.overwrite(fed.labels, labels[order[2 * k : 2 * k + 2]])
        fed()
    assert card.batches == 3
    for there, here in zip(stay.params, fed.params, strict=True):
        np.testing.assert_array_equal(gpu.to_host(there), gpu.to_host(here))


def test_training_until_enough_are_right_keeps_the_best_rate_and_gives_it_more_seeds(measured):
    row = _row(measured, "until enough are right, B = 2")
    assert [(run["lr"], run["seed"]) for run in row["runs"][:2]] == [(0.01, 0), (0.02, 0)]
    assert [run["seed"] for run in row["runs"][2:]] == [1, 2]
    assert {run["lr"] for run in row["runs"][2:]} == {until.best(row["runs"][:2])["lr"]}
    assert all(0 <= run["last"][2] <= 1 for run in row["runs"])


def test_the_best_run_has_reached_the_most_and_of_those_is_the_quickest():
    slow, quick = ({"reached": {"0.95": [1, 1.0], "0.96": [2, seconds]}} for seconds in (3.0, 2.0))
    assert until.best([{"reached": {}}, slow, quick, {"reached": {"0.95": [1, 0.1]}}]) is quick


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
    assert len(PARTS) == 7


def _row(measured, case):
    return next(row for row in measured["rows"] if row["case"] == case)
