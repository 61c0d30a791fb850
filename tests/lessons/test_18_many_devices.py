"""Lesson 18: what it says of sums, times, batches and failures is what its code and results/ give."""

import json
import time

import numpy as np
import pytest

from course_lib import parallel
from course_lib.cluster import Cluster, all_reduce_seconds, compared, step
from course_lib.cluster.workloads import lenet5
from course_lib.figures import pipeline_stages
from course_lib.figures.bucket_rows import sent_when
from course_lib.figures.shared_steps import DEVICES, shared
from course_lib.lesson import alexnet, backward_layers, rank_steps
from course_lib.lesson.measurements import results_folder


def times(lesson, batch, link, by="ring"):
    link = next(one for one in lesson["LINKS"] if one.name == link)
    return {n: sum(shared(lesson["LENET"], batch, n, link, by)) for n in DEVICES}


def test_the_opening_is_true_of_the_figure(lesson):
    cable, fast = times(lesson, 4096, "0.125 GB/s"), times(lesson, 4096, "450 GB/s")
    assert min(cable, key=cable.get) == 1
    assert fast[64] > fast[4]
    assert min(times(lesson, 4096, "0.125 GB/s", "tree").values()) == cable[1]
    assert lesson["GRADIENTS"] == 246_824


def test_of_1024_images_four_devices_are_best(lesson):
    found = times(lesson, 1024, "450 GB/s")
    assert min(found, key=found.get) == 4
    assert round(found[1] / found[4], 1) == 1.8
    assert [round(1e3 * lesson["LENET"].seconds(n), 2) for n in (1024, 256)] == [0.30, 0.14]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 6, 9, 10])
def test_equal_parts_give_the_gradient_of_the_batch(lesson, ranks):
    rows = 90 // ranks

    def share(world):
        gradient = lesson["gradient_of"](slice(rows * world.rank, rows * world.rank + rows))
        world.all_reduce(gradient)
        return lesson["off_by"](gradient / world.size)

    assert max(parallel.run(share, ranks)) < 1e-6


def test_five_rows_count_twelve_times_as_much_as_sixty(lesson, printed):
    parts = np.diff(lesson["CUTS"])
    assert parts.tolist() == [5, 25, 60]
    assert parts[2] / parts[0] == 12
    assert 0.8 < lesson["wrong"] < 1.3, "as much as its own length"
    assert "weighted by rows, within rounding: True" in printed


def test_four_ranks_have_the_losses_of_one_and_equal_bits(lesson, printed):
    np.testing.assert_allclose(lesson["four"][0][0], lesson["alone"][0], rtol=1e-4)
    assert "the same bits on all four ranks: True" in printed
    assert lesson["alone"][0][-1] < lesson["alone"][0][0] / 2


def test_the_table_of_sums_is_what_the_text_says(lesson):
    counted = lesson["counted"]
    assert [sum(t.messages for t in counted[w]) for w in ("all_to_one", "tree", "ring")] == [14, 14, 112]
    busiest = [max(t.bytes for t in counted[w]) / 246_824 for w in ("all_to_one", "tree", "ring")]
    assert busiest == pytest.approx([7, 3, 1.75], abs=0.001)


def test_small_arrays_go_round_and_large_ones_stand_still(printed):
    assert "[3, 0, 1, 2]" in printed
    assert "deadlock, the ranks wait for each other: rank 0 waits (send of int64 (60000,) to rank 1);" in printed


@pytest.mark.parametrize("size", [3, 4, 5])
def test_try_it_one_rank_that_receives_first_breaks_the_circle(size):
    def hand_on(world):
        mine, theirs = np.full(3, world.rank), np.empty(3, int)
        right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
        if world.rank % 2:
            world.receive(theirs, left)
            world.send(mine, right)
        else:
            world.send(mine, right)
            world.receive(theirs, left)
        return int(theirs[0])

    assert parallel.run(hand_on, size, buffer=0) == [(r - 1) % size for r in range(size)]


def test_try_it_a_rank_that_sleeps_is_named_after_the_patience():
    def sleeps(world):
        if world.rank == 2:
            time.sleep(1.5)
        else:
            world.barrier()

    with pytest.raises(parallel.RankError, match=r"rank 2 sent nothing for 0\.2 s, and waits for nobody") as told:
        parallel.run(sleeps, 4, patience=0.2)
    assert told.value.rank == 2


def test_most_of_the_sum_hides_behind_the_backward_pass(lesson):
    layers = backward_layers()
    back = sum(one.seconds for one in layers)
    waits = {name: sent_when(layers, size, 50e-6, 1e9)[-1][2] - back for name, size in lesson["BUCKETS"].items()}
    assert 290e-6 < waits["all at the end"] < 310e-6
    assert waits["in buckets of 128 KiB"] / waits["all at the end"] < 0.25
    assert waits["each layer alone"] <= waits["in buckets of 128 KiB"], "each layer alone would do as well"
    slowest = {size: sent_when(layers, size, 50e-6, 0.1e9)[-1][2] - back for size in (1 << 30, 128 << 10)}
    assert [f"{1e3 * s:.1f}" for s in (slowest[1 << 30] - slowest[128 << 10], slowest[128 << 10])] == ["0.8", "1.7"]
    assert len(sent_when(layers, 1, 50e-6, 1e9)) == 5
    assert 0.1 < lesson["spent"] < 0.15, "an eighth"
    slow = sent_when(layers, 1, 50e-6, 0.1e9)
    assert slow[-1][2] - slow[0][1] > back, "on the slowest link the sums are longer than the pass"


def test_eight_images_take_as_long_as_64(lesson):
    assert lesson["gain"] == pytest.approx(1, abs=0.1)


def test_two_cores_gain_what_the_page_says(lesson):
    ms = lesson["ms"]
    one, half, both, _ = ms["MLP 784-128-10", 64]
    assert [f"{t:.2f}" for t in (one, half, both)] == ["0.29", "0.24", "0.33"]
    summed = next(c for c in compared("amd-epyc") if (c.what, c.bytes) == ("sum by ring", 407_080))
    assert f"{1e3 * summed.measured:.2f}" == "0.05"
    ranks = rank_steps("amd-epyc")
    assert round(ranks.gain("LeNet-5", 512, 2), 1) == 1.7
    with_overlap, without = (ranks.seconds["LeNet-5", 64, 2, way] for way in ("overlap", "after"))
    assert [f"{1e3 * s:.1f}" for s in (with_overlap, without)] == ["2.1", "1.7"], "hiding is slower here"
    assert ms["LeNet-5", 64][3] == pytest.approx(ms["LeNet-5", 64][2], rel=0.05), "as long as two processes"


def test_the_simulated_cluster_is_near_and_says_what_the_page_says(lesson, printed):
    assert len(lesson["sums"]) == 24
    assert lesson["near"] >= 22
    judged = [c for c in lesson["real"] if not c.what.startswith("sum")]
    assert all(c.off < 0 for c in judged), "a little too hopeful"
    assert "1.8 ms; the cards work for 6% of it" in printed
    assert {what: round(100 * share) for what, share in lesson["works"].items()} == {
        "links of a thousand times the rate": 6, "a thousandth of the gradients": 6, "links without latency": 98,
    }  # fmt: skip
    cluster, lenet, gpt, small = lesson["cluster"], lenet5(), lesson["gpt"], lesson["small"]
    summed = all_reduce_seconds(cluster, lenet.nbytes)
    assert f"{1e3 * summed:.1f}" == "1.7"
    assert all_reduce_seconds(cluster, lenet.nbytes / 1000) == pytest.approx(summed, rel=0.01), "as long"
    tree = summed - 240 * (cluster.between.latency + cluster.spine_latency)  # 14 messages between machines, not 254
    assert 0.4 < small.compute / (small.compute + tree) < 0.46, "two fifths"
    assert 2 * (cluster.per_host - 1) + 2 * (cluster.hosts - 1) == 14 + 254 == 268
    delays = all_reduce_seconds(cluster.with_links(rate=1e9), lenet.nbytes)
    assert summed == pytest.approx(delays, abs=5e-6), "the bytes need a few microseconds"
    assert 1.5 <= gpt.parameters / 1e9 < 1.6
    assert round(gpt.parameters / lenet.parameters / 1000) == 25
    assert [round(12 * n / 1e9) for n in (gpt.parameters, 100 * gpt.parameters)] == [19, 1866]
    assert round(gpt.nbytes / 1e9) == 6
    assert len(gpt.buckets()) == 49
    assert sum(all_reduce_seconds(cluster, nbytes) for nbytes, _ in gpt.buckets()) == pytest.approx(0.11, abs=0.005)
    by_texts = lesson["by_texts"].items()
    assert {texts: round(100 * one.efficiency) for texts, one in by_texts} == {1: 26, 2: 43, 4: 71, 8: 98}
    assert 0.7 < step(Cluster(2048), gpt, 8).efficiency < 0.8
    assert 0.25 < step(Cluster(8192), gpt, 8).efficiency < 0.3


def test_a_step_between_the_halves_of_a_ring_is_the_whole_step(lesson, printed):
    assert "the weights of one rank, within rounding: True" in printed
    assert "velocities that a rank keeps: [15427, 15426, 15427, 15426] of 61706" in printed
    assert "a rank sends 1.50 S a step, as before" in printed
    assert parallel.ring.traffic(0, 4, 61_706, 4).bytes / (4 * 61_706) == pytest.approx(1.5, abs=0.001)


def test_an_extra_sum_of_one_rank_makes_all_later_ones_wrong():
    def work(world):
        array, found = np.zeros(1), []
        for k in range(4 if world.rank == 0 else 3):
            array[:] = 100 if world.rank == 0 and k == 0 else k + (world.rank > 0)
            world.all_reduce(array)
            found.append(float(array[0]))
            sums[world.rank] = found

    sums = {}
    with pytest.raises(parallel.RankError):
        parallel.run(work, 4)
    assert sums[1] == [103, 7, 11], "instead of 4, 8, 12, and without any error"


def test_both_orders_of_a_pipeline_wait_equally_long_and_one_remembers_less():
    first, second = (pipeline_stages.timeline(4, 8, order) for order in ("gpipe", "1f1b"))
    assert first.seconds == second.seconds
    assert (first.kept[0], max(second.kept)) == (8, 4)


def test_the_rate_that_grows_with_the_batch_comes_nearest_and_ends_somewhere(lesson):
    losses = lesson["losses"]
    assert round(lesson["small_batch"], 1) == 0.2
    assert round(lesson["large_batch"], 1) == 0.6
    assert lesson["small_batch"] < losses["0.8, 8 times as large"] < losses["0.28, √8 times as large"]
    assert losses["0.0125, an eighth"] > lesson["large_batch"]
    for loss in lesson["too_far"].values():
        assert 1.8 < loss < 3.5, "about where it began"


def test_limits_and_stragglers_are_as_told(lesson):
    fast = lesson["times_as_fast"]
    assert [round(fast(0.02, n)) for n in (100, 1000)] == [34, 48]
    assert fast(0.02, 1e9) == pytest.approx(50)
    for n, found in lesson["spread"].items():
        assert found == pytest.approx(10 + sum(1 / k for k in range(1, n + 1)), abs=0.15)


def test_a_training_that_lost_a_rank_ends_with_the_same_bits(lesson, printed):
    assert "the bits of the training that nothing happened to: True" in printed
    assert lesson["kept"].is_file()
    for loss, weights in lesson["again"]:
        assert loss == lesson["four"][0][0]
        np.testing.assert_array_equal(weights, lesson["four"][0][1])


def test_what_crosses_in_two_streams(lesson, printed):
    assert "244 MB against 31 MB" in printed
    layers = alexnet()
    dense = sum(layer.parameters for layer in layers[5:])
    assert dense / sum(layer.parameters for layer in layers) == pytest.approx(0.96, abs=0.005)
    assert lesson["data_parallel"] / (lesson["two_streams"] / 128) == pytest.approx(1000, rel=0.05)
    assert "both ranks have the whole layer: True" in printed
    assert "both ranks have the result of one: True" in printed
    all_cross = sum(before.maps * before.side**2 // 2 for before in layers[:-1])
    assert round(128 * 2 * 4 * all_cross / 1e6) == 133


def test_bubbles_of_the_page_and_of_check_yourself(lesson):
    idle = lesson["idle"]
    assert [round(100 * idle(8, m)) for m in (8, 56)] == [47, 11]
    longer, shorter = (len(lesson["pipeline"](8, m)[0]) / m for m in (8, 56))  # steps a micro-batch, of equal work
    assert shorter / longer == pytest.approx(0.6)
    assert idle(4, 4) == pytest.approx(3 / 7)


def test_unequal_devices_share_by_speed(lesson, printed):
    rows = json.loads((results_folder() / "cpu.amd-epyc.json").read_text(encoding="utf-8"))["rows"]
    both = next(row["timings"] for row in rows if (row["network"], row["part"]) == ("LeNet-5", "training step"))
    assert [round(1e3 * both[name]["median"], 1) for name in ("fast", "reference")] == [1.8, 5.9]
    assert round(1e3 * rank_steps("amd-epyc").seconds["LeNet-5", 64, 1, "alone"], 1) == 2.4
    assert "64 rows of 90 for the faster one" in printed
    assert round(lesson["best_share"](2.4, 5.9).seconds, 1) == 1.7
    assert lesson["best_share"](1, 10).seconds == pytest.approx(10 / 11), "less than a tenth is gained"


def test_trials_run_once(lesson, printed):
    assert "8 results, of which 2 were run now: [(0.1, 16), (0.1, 64)]" in printed
    assert lesson["more"][:4] == lesson["found"][:4]


def test_sixteen_ranks_of_check_yourself():
    for n, messages, size, total in ((16, 30, 6.25, 187.5), (32, 62, 3.125, 193.75)):
        sent = parallel.ring.traffic(0, n, 100_000_000 // 4, 4)
        assert (sent.messages, 100 / n) == (messages, size)
        assert sent.bytes / 1e6 == pytest.approx(total)
