"""The simulator held against measurements: made-up files whose truth is known, and the committed ones."""

import copy
import json
from pathlib import Path

import pytest

from course_lib.cluster import Cluster, calibrate, play_all_reduce, step
from course_lib.cluster.links import Costs, Curve, Link
from course_lib.cluster.workloads import Workload
from course_lib.lesson.measurements import by_round
from course_lib.parallel.buckets import BUCKET_BYTES, buckets_of
from tools import check_cluster

SIZES = [4, 1024, 60_000, 246_824, 407_080, 1 << 20, 1 << 24, 1 << 26]
RESULTS = Path(__file__).parents[2] / "results"
WIRE = Link("true", 3e-6, 4e9, Curve(((0, 0.0), (1 << 14, 5e-6), (1 << 26, 9e-3))),
            Curve(((0, 1e-6), (1 << 14, 7e-6), (1 << 26, 1.5e-2))))  # fmt: skip
COSTS = Costs(
    Curve(((0, 1e-7), (1 << 26, 3e-3))), Curve(((0, 1e-7), (1 << 26, 4e-3))), Curve(((0, 2e-7), (1 << 26, 5e-3)))
)  # fmt: skip
CALL, ALONE = 4e-6, 2e-3


def written(folder, name, parts, machine=None):
    content = {"bench": "parallel", "date": "2026-01-01", "machine": machine or {"cpu": "made up"}, "parts": parts}
    (folder / name).write_text(json.dumps(content))
    return folder / name


@pytest.fixture(scope="module")
def processors():
    """What a machine would have measured whose link and costs are known."""
    times = {
        "message": lambda b: WIRE.seconds(b),
        "exchange": lambda b: WIRE.seconds(b, both=True),
        "add": COSTS.add,
        "both add": COSTS.both_add,
        "fresh": COSTS.fresh,
    }
    rows = [{"kind": kind, "bytes": b, "seconds": 3 * f(b), "least": f(b), "rank": 0}
            for b in [0, *(4**k for k in range(1, 14))] for kind, f in times.items()]  # fmt: skip
    cluster = Cluster(2, 2, inside=WIRE)

    def summed(by, nbytes):
        return CALL + play_all_reduce(cluster, nbytes, by, costs=COSTS).seconds

    sums = [{"by": by, "ranks": 2, "bytes": b, "least": summed(by, b), "seconds": 1.0, "rank": 0}
            for b in SIZES for by in ("ring", "tree", "all_to_one")]  # fmt: skip
    sums.append({"by": "engine", "ranks": 2, "bytes": 4, "least": 1.0, "seconds": 1.0, "rank": 0})
    sums.append({"by": "ring", "ranks": 4, "bytes": 4, "least": 1.0, "seconds": 1.0, "rank": 0})
    net = calibrate._net("LeNet-5")[0]
    after = ALONE + sum(summed("ring", bucket.nbytes) for bucket in buckets_of(net))
    steps = [{"net": "LeNet-5", "batch": 64, "exchange": way, "ranks": 2, "bytes": 246_824, "least": s, "seconds": s,
              "rank": 0} for way, s in (("alone", ALONE), ("after", after), ("overlap", 2 * after))]  # fmt: skip
    return {"messages": rows, "sums": sums, "steps": steps}


@pytest.fixture(scope="module")
def cards():
    """What two cards would have measured: one wire, and steps that follow a line."""
    wire = Link("true", 4e-6, 330e9)
    pair = Cluster(2, 2, inside=wire)
    sums = [{"by": "engine", "ranks": 2, "bytes": b, "seconds": 9.9, "enqueued": 2 * wire.seconds(b / 2)}
            for b in (*SIZES, 1 << 30)]  # fmt: skip
    line = Curve(((0, 1e-4), (2048, 5e-4)))
    work = Workload("LeNet-5", calibrate._layers("LeNet-5"), line)
    steps = []
    for batch in (64, 256, 2048):
        two = step(pair, work, batch / 2, by="ring", bucket_bytes=BUCKET_BYTES).seconds
        row = {"net": "LeNet-5", "batch": batch, "bytes": 246_824, "record": True, "rank": 0}
        steps += [{**row, "ranks": 1, "seconds": line(batch)}, {**row, "ranks": 2, "seconds": two}]
    steps.append({**steps[0], "record": False, "seconds": 1.0})
    return {"card_sums": sums, "card_training": steps}


def test_the_truth_behind_made_up_processors_is_found(processors, tmp_path, capsys):
    file = written(tmp_path, "parallel.made.json", processors)
    found = calibrate.compare(calibrate.read(file))
    assert len(found) == 3 * len(SIZES) + 2
    assert found.pop().note == calibrate.OUTSIDE  # an overlap without a processor of its own
    assert [c.what for c in found if c.note == calibrate.USED] == ["sum by all_to_one", "sum by ring", "sum by tree"]
    for c in found:
        assert c.off == pytest.approx(0, abs=2e-3), c
    assert check_cluster.main([str(file)]) == 0
    printed = capsys.readouterr().out
    assert "sums: 21 of 21 within 25 %; the worst is off by 0 %" in printed
    assert "steps: 1 of 1 within 20 %" in printed


def test_the_truth_behind_made_up_cards_is_found_at_sizes_between(cards, tmp_path, capsys):
    file = written(tmp_path, "parallel.h200x2.json", cards, {"gpu": "NVIDIA H200", "cpu": "x"})
    found = calibrate.compare(calibrate.read(file))
    sums = [c for c in found if c.what == "NCCL's sum"]
    assert [c.judged for c in sums] == [False, True] * 4 + [False]
    assert [c.what for c in found if c not in sums] == [f"LeNet-5, batch {b}" for b in (64, 256, 2048)]
    for c in found:
        assert c.off == pytest.approx(0, abs=1e-6), c
    assert check_cluster.main([str(file)]) == 0
    assert "parallel.h200x2.json: NVIDIA H200, 2026-01-01" in capsys.readouterr().out


def test_the_largest_sum_is_always_one_that_the_link_is_made_of(cards):
    sums = [c for c in calibrate.compare({"parts": {"card_sums": cards["card_sums"][:-1]}}) if c.what == "NCCL's sum"]
    assert [c.judged for c in sums] == [False, True] * 3 + [False, False]


@pytest.mark.parametrize(("part", "at", "kind"), [("card_sums", 1, "sums"), ("card_training", 1, "steps")])
def test_a_prediction_that_is_too_far_off_is_an_exit_status(cards, tmp_path, capsys, part, at, kind):
    wrong = copy.deepcopy(cards)
    row = wrong[part][at]
    for name in ("seconds", "enqueued"):
        row[name] = 1.5 * row.get(name, 1.0)
    assert check_cluster.main([str(written(tmp_path, "parallel.x.json", wrong))]) == 1
    printed = capsys.readouterr().out
    assert printed.count("TOO FAR") == 1
    assert f"{kind}: " in printed


def test_a_measurement_that_the_link_was_made_of_is_not_judged(cards, tmp_path):
    wrong = copy.deepcopy(cards)
    wrong["card_sums"][0]["enqueued"] *= 1.5  # the smallest: also the latency
    found = calibrate.compare({"parts": wrong})
    assert found[0].note == calibrate.USED
    assert found[0].off == pytest.approx(0)


def test_files_without_a_link_are_refused(tmp_path, capsys):
    file = written(tmp_path, "parallel.none.json", {"threads": [{"by": "ring"}]})
    assert check_cluster.main([str(file)]) == 1
    assert "parallel.none.json: the file has the parts threads; a link needs single messages" in capsys.readouterr().out
    with pytest.raises(ValueError, match="there is no row of kind 'exchange'"):
        calibrate.machine([{"kind": "message", "bytes": 4, "seconds": 1.0}])


def test_the_least_of_several_times_is_taken_and_of_rank_0_only():
    rows = [{"bytes": 4, "seconds": 3.0}, {"bytes": 4, "seconds": 2.0}, {"bytes": 4, "seconds": 1.0, "rank": 1}]
    assert calibrate.least(rows, "bytes") == {(4,): 2.0}


def test_a_round_is_predicted_by_its_own_messages(processors):
    """A machine that is twice as slow for a while, and once while only the sums are measured."""
    several = {name: [] for name in processors}
    for times in ({"messages": 1, "sums": 1, "steps": 1}, {"messages": 2, "sums": 2, "steps": 2},
                 {"messages": 1, "sums": 2, "steps": 1}, {"messages": 1, "sums": 1, "steps": 1}):  # fmt: skip
        for name, rows in processors.items():
            several[name] += [{**row, "least": times[name] * row["least"]} for row in rows]
    assert [len(some) for some in by_round(several["sums"])] == [len(processors["sums"])] * 4
    found = [c for c in calibrate.compare({"parts": several}) if c.judged]
    assert all(abs(c.off) < (2e-3 if c.what.startswith("sum") else 0.05) for c in found)
    slow = [{**row, "least": 2 * row["least"]} for row in several["messages"]]
    assert any(abs(c.off) > 0.4 for c in calibrate.compare({"parts": {**several, "messages": slow}}))


@pytest.mark.parametrize("file", sorted(RESULTS.glob("parallel.*.json")), ids=lambda f: f.name)
def test_committed_measurements_are_predicted(file):
    """Nine of ten; arrays that just fit into a cache, or just do not, may be further off."""
    judged = [c for c in calibrate.compare(calibrate.read(file)) if c.judged]
    far = [f"{c.what}, {c.bytes:,} bytes: {100 * c.off:+.0f} %" for c in judged if not c.good]
    assert judged
    assert len(far) <= len(judged) // 10, far
