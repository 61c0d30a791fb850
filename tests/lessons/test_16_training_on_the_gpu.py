"""Lesson 16: launches counted, times as the page tells them, overlap and races as it says."""

import numpy as np
import pytest

from course_lib import gpu, streams
from course_lib.figures.pipelines import pipeline_requests
from course_lib.lesson import measured, measured_training
from course_lib.streams import two_rows


@pytest.fixture(scope="module")
def steps():
    return measured("one step of LeNet-5", card="h200")


def test_the_page_shows_what_a_card_has_measured(steps):
    assert steps.card.startswith("NVIDIA"), "the file is a placeholder: run python -m tools.steps on a card"


# ---------------------------------------------------------------------------------------------- a step


def test_losses_of_processor_and_card_agree_within_rounding(lesson):
    np.testing.assert_allclose(lesson["on_card"], lesson["on_host"], rtol=1e-5)
    assert lesson["on_card"][1] < lesson["on_card"][0]


def test_a_step_has_as_many_launches_as_were_measured(lesson, steps, shown):
    assert len(lesson["noted"]) == len(steps.more["launches"])
    assert [one.kernel.__name__ for one in lesson["noted"]][:3] == [one["kernel"] for one in steps.more["launches"]][:3]
    assert f"all                      {len(lesson['noted'])}" in shown


def test_a_convolutions_backward_pass_takes_up_to_seven_launches(steps):
    backward = [one["part"] for one in steps.more["launches"] if "Conv2d" in one["part"] and "backward" in one["part"]]
    assert max(backward.count(part) for part in backward) == 7


def test_gradients_and_updates_take_ten_launches_each_and_most_launches_are_small(steps):
    parts = [streams.part_of_step(one["part"]) for one in steps.more["launches"]]
    assert parts.count("update") == parts.count("gradients to zero") == 10
    small = [one for one in steps.more["launches"] if np.prod(one["grid"]) <= 13]
    assert len(small) > len(parts) / 2


def test_renewed_gradients_spare_twenty_launches(lesson, shown):
    assert len(lesson["noted"]) - len(lesson["renewed"]) == 20
    assert f"{len(lesson['noted'])} with zero_grad, {len(lesson['renewed'])} with renew_grad" in shown


def test_the_host_is_only_partly_in_its_launches_and_the_card_waits(steps):
    spans = [one["enqueued"] for one in steps.more["launches"]]
    called = sum(end - begin for begin, end in spans)
    assert called < 0.7 * steps.seconds["host, enqueuing"]
    rows = two_rows([one["seconds"] for one in steps.more["launches"]], [end for _, end in spans])
    assert rows.busy < 0.1
    assert rows.end == pytest.approx(steps.seconds["one by one"], rel=0.25)  # the rule gives what was measured


def test_a_launch_costs_less_by_the_courses_way_and_next_to_nothing_in_a_graph(lesson):
    costs = measured("a launch", card="h200").seconds
    assert lesson["in_calls"] > 1.5 * costs["kernel[grid, block](...)"]  # "costs more than by itself"
    assert lesson["each_launch"] - lesson["in_calls"] > lesson["in_calls"]  # most of it is Python between the calls
    assert costs["a kernel of a graph"] < costs["kernel[grid, block](...)"] / 2
    assert costs["kernel[grid, block](...)"] < costs["Numba's own, configured"]


def test_recording_takes_away_most_of_a_step_of_a_small_network(steps):
    for name in ("LeNet-5", "MLP 784-128-10"):
        took = measured_training(f"{name}, B = 64", card="h200").seconds
        assert took["recorded"] < took["one by one"] / 10
        assert took["PyTorch, CUDA graph"] < took["PyTorch"] / 2
        assert took["recorded"] < took["PyTorch, compiled and CUDA graph"] < took["PyTorch, CUDA graph"]
        assert took["one by one"] > 2 * took["PyTorch"]  # "PyTorch asks more than twice as fast"
        assert took["PyTorch, CUDA graph"] / took["PyTorch"] < 1 / 6.9  # "a seventh of the time or less"
    other = measured_training("LeNet-5, B = 64", card="h200")
    assert other.seconds["one by one"] > 1.1 * steps.seconds["one by one"]  # "its host was slower"
    with pytest.raises(LookupError, match="no training steps of h200 are called 'AlexNet'; there are LeNet-5, B = 64"):
        measured_training("AlexNet", card="h200")


def test_a_recorded_step_is_fed_by_overwriting(lesson):
    small, rows, answers = (lesson[name] for name in ("small", "rows", "answers"))
    np.testing.assert_array_equal(gpu.to_host(lesson["xs"]), rows[2])
    expected = small.forward(gpu.to_device(rows[2]))
    assert gpu.to_host(expected).shape == (8, 3)
    assert answers.shape == (3, 8)


def test_a_replay_reads_the_old_array_and_a_call_the_new_one(lesson, shown):
    assert "called again: [100. 100. 100.]" in shown
    assert "replayed:     [2. 2. 2.]" in shown
    np.testing.assert_array_equal(gpu.to_host(lesson["source"]), [50, 50, 50])


def test_predicted_kernels_are_those_that_were_measured(lesson):
    found = measured("one step of MLP 784-128-10", card="h200").more["launches"]
    assert [name for name, _ in lesson["predicted"]] == [one["kernel"] for one in found]
    said, took = sum(s for _, s in lesson["predicted"]), sum(one["seconds"] for one in found)
    assert 1.5 < said / took < 2.5  # "about twice"
    launches = len(found) * measured("a launch", card="h200").seconds["kernel[grid, block](...)"]
    assert launches > said > took  # "the verdict survives that"
    least = min(s for _, s in lesson["predicted"])
    near = [s for _, s in lesson["predicted"] if s < 1.4 * least]
    assert len(near) > len(lesson["predicted"]) / 2  # "what it says of an empty one"


# ---------------------------------------------------------------------------------------------- batches and copies


def test_an_image_costs_half_as_much_at_first_and_then_the_curve_flattens(lesson):
    recorded, single = lesson["recorded"], lesson["single"]
    assert recorded[4] < 1.3 * recorded[1]
    assert 2 * recorded[1024] < recorded[4096] < 3 * recorded[1024]  # "less than three times as long"
    assert 1.1 < recorded[256] / recorded[64] < 1.5
    assert single[1024] < 1.2 * single[1]  # "nearly to the right end"
    assert min(single.values()) > 2e-3  # "thousands of microseconds"
    assert single[4096] / 4096 > 1.2 * recorded[4096] / 4096
    assert 4096 // 64 == 64


def test_only_a_graph_is_cheap_enough_to_keep_the_card_busy(lesson):
    took = {B: sum(seconds) for B, seconds in lesson["kernels"].items()}
    may_cost = {B: took[B] / len(seconds) for B, seconds in lesson["kernels"].items()}
    alone, in_graph = (lesson["launch_costs"][way] for way in ("kernel[grid, block](...)", "a kernel of a graph"))
    assert [B for B, cost in may_cost.items() if alone < cost] == [4096]  # "Only one of 4,096 does"
    assert may_cost[1024] == pytest.approx(5e-6, rel=0.1)
    assert may_cost[64] / may_cost[1024] == pytest.approx(0.5, abs=0.05)
    assert all(in_graph < cost for cost in may_cost.values())


def test_inference_costs_less_than_half_a_step(lesson):
    assert all(lesson["forward"][B] < 0.5 * lesson["recorded"][B] for B in (1, 64, 1024, 4096))


def test_a_share_of_inference_is_larger_for_small_batches(lesson):
    share = {B: lesson["forward"][B] / lesson["recorded"][B] for B in (1, 64, 1024, 4096)}
    assert min(share[1], share[64]) > 0.4
    assert all(0.25 < share[B] < 0.36 for B in (1024, 4096))  # "about that third"


def test_small_copies_are_latency_and_large_ones_show_the_memory():
    copies = measured("copies", card="h200")
    pinned, pageable = (copies.along(f"to the device, {kind}") for kind in ("pinned", "pageable"))
    assert pinned[2**18] < 1.5 * pinned[2**12]
    assert pageable[2**26] > 1.5 * pinned[2**26]
    returns = {kind: copies.along(f"to the device, {kind}, returns") for kind in ("pinned", "pageable")}
    assert all(6e-6 < seconds < 16e-6 for seconds in returns["pinned"].values())  # "about ten microseconds"
    shown = [2**14, 2**18, 2**22, 2**26]
    assert all(returns["pageable"][size] > 0.6 * pageable[size] for size in shown)  # "held for most of the time"
    asking = measured("asking for a copy", card="h200").seconds
    assert 8 < asking["Numba's copy_to_device"] / asking["gpu.overwrite"] < 13  # "ten times"


# ---------------------------------------------------------------------------------------------- streams


def test_three_streams_end_with_the_right_numbers(lesson):
    np.testing.assert_array_equal(lesson["back"], lesson["host"] ** 2)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_pages_own_pipeline_is_right_with_any_number_of_slots(lesson, slots):
    host = np.arange(4 * 256, dtype=np.float32).reshape(4, 256)
    back = np.full_like(host, np.nan)
    lesson["in_three_streams"](host, back, slots)
    np.testing.assert_array_equal(back, host * host)


def test_three_streams_were_faster_than_one_and_pageable_memory_undoes_it(lesson):
    job = measured("read, compute, write", card="h200")
    assert job.seconds["three streams"] < 0.75 * job.seconds["one stream"]
    assert job.seconds["three streams, pageable"] > 3 * job.seconds["one stream"]  # "several times"
    assert 0.65 < 8 * lesson["one_by_one"] / job.seconds["three streams, pageable"] < 1  # "most of that time"
    assert 0.85 < lesson["by_rule"] / job.seconds["three streams"] < 1  # "explains most of it"
    assert job.seconds["only compute"] > 0.7 * job.seconds["only read"]  # "about as long as a piece is read"
    spans = job.more["spans"]["three streams"]
    read = {piece: end for stage, piece, _, end in spans if stage == "read"}
    assert all(begin >= 0.999 * read[piece] for stage, piece, begin, _ in spans if stage == "compute")


def test_without_its_wait_loading_ahead_mixes_batches_and_quick_steps_hide_it(lesson):
    job, load_ahead = lesson["JOB"], lesson["load_ahead"]
    run = streams.simulate(job, load_ahead(6, waits=False))
    assert run.wrong
    assert all(span.stage == "train" and max(run.read["train", span.piece]) > span.piece for span in run.wrong)
    assert not lesson["quick"].wrong
    assert lesson["quick"].races
    mended = streams.simulate(job, load_ahead(6))
    assert not mended.races
    assert mended.end == run.end == 6 + 4 + 6 * 20  # "after the first batch the card never waits"
    looked = streams.simulate(job, lesson["looking"](6))
    assert not looked.wrong
    assert looked.end == 6 * 30  # "nothing overlaps any more"


def test_training_in_the_default_stream_needs_no_waits_and_overlaps_only_the_gathering(lesson):
    run = streams.simulate(lesson["JOB"], lesson["in_default"])
    assert run.end == 150
    without = [one for one in lesson["in_default"] if one[0] != "wait" or len(one) == 2]
    assert not streams.simulate(lesson["JOB"], without).races


@pytest.mark.parametrize("pieces", [1, 8, 50])
def test_n_pieces_take_n_and_two_turns(pieces):
    run = streams.simulate(streams.read_compute_write(10, 10, 10, slots=3), pipeline_requests(pieces, 3))
    assert run.end == 10 * (pieces + 2)


# ---------------------------------------------------------------------------------------------- serving, experiments


def test_an_answer_waits_longest_behind_the_training_and_priority_spares_it_hardly_anything():
    serving = measured("answers while training", card="h200").more
    median = {way: p["50"] for way, p in serving["percentiles"].items()}
    ways = "nothing else runs", "in a stream of its own", "in one that goes first"
    alone, own, first = (median[way] for way in ways)
    assert median["in the training's stream"] > own >= first > 3 * alone
    assert own - first < 0.2 * (own - alone)  # "hardly any"
    assert median["recorded with priority, in one that goes first"] > 0.95 * first  # "does no better"
    assert serving["ahead"] == 3  # "three steps always in the queue"


def test_running_blocks_are_a_part_of_the_reason_at_most():
    card = {way: p["card"] for way, p in measured("answers while training", card="h200").more["parts"].items()}
    forward = [launch for launch in measured("one step of LeNet-5", card="h200").more["launches"]
               if streams.part_of_step(launch["part"]) == "forward"]  # fmt: skip
    longer = card["in a stream of its own"]["forward pass"] - card["nothing else runs"]["forward pass"]
    kernels = measured("steps of LeNet-5 by batch", card="h200").more["kernels"]["1024"]
    assert card["in a stream of its own"]["forward pass"] > 8 * card["nothing else runs"]["forward pass"]
    assert (len(forward), round(1e6 * longer / len(forward))) == (14, 29)
    assert (round(1e6 * np.mean(kernels)), round(1e6 * max(kernels))) == (5, 56)
    assert sum(s * s for s in kernels) / sum(kernels) / 2 < longer / len(forward) / 2  # a wait from anywhere in them


def test_an_epoch_ahead_is_hardly_longer_than_training_alone_and_thirty_experiments_shorter_than_one(lesson):
    epoch = measured("an epoch", card="h200").seconds
    ahead, alone = epoch["recorded, batches ahead"], epoch["training alone"]
    assert 1 < epoch["nn.train on the processor"] / epoch["nn.train on the card"] < 2
    assert lesson["EXPERIMENTS"] * ahead < epoch["nn.train on the card"]
    assert ahead < 1.1 * alone  # "hardly longer"
    assert 1.1 * ahead < epoch["recorded, each batch in turn"] < alone + epoch["feeding alone"]  # "a part of it"
    assert 0.4 < epoch["feeding alone"] / alone < 0.6  # "half as long"
    assert 0.95 < epoch["digits stay on the card"] / ahead < 1.05  # "saves no more"
    assert round(60_000 * 32 * 32 * 4 / 1e6) == 246


def test_the_cheapest_image_is_not_the_quickest_training(lesson):
    middle, until, runs = lesson["middle"], lesson["until"], lesson["runs"]
    seconds = {B: s for B, (_, s) in middle.items()}
    assert max(seconds, key=seconds.get) == 4096
    assert max(seconds[256], seconds[1024]) < seconds[64]
    assert middle[4096][0] > 10 * middle[64][0]  # "more than ten times as many epochs"
    assert all(len(each) == 3 for each in runs.values())
    least = {B: [run["reached"]["0.97"][1] for run in runs[B]] for B in (256, 1024)}
    assert min(least[256]) < max(least[1024])  # "changes with the seed"
    assert min(least[1024]) < max(least[256])
    [twice] = [run for run in until[4096].more["runs"] if run["lr"] == 2 * until[4096].more["best"]]
    assert "0.97" not in twice["reached"]  # "twice the best one never arrived"
    assert max(run["last"][1] for B in runs for run in runs[B]) < 1
    cost = {B: lesson["recorded"][B] / B for B in (64, 4096)}
    assert 0.08 < cost[4096] / cost[64] < 0.13  # "about a tenth"


def test_answers_of_check_yourself():
    slow, fast = two_rows([7.5] * 40, 10), two_rows([2.5] * 40, 10)
    assert slow.end == pytest.approx(400 + 7.5)
    assert fast.end == pytest.approx(400 + 2.5)
    assert 40 * 1.5 == 60 < 100
    late = [("wait", "e", "steps"), ("gather", 0), ("copy", 0, "copies"), ("record", "e", "copies"),
            ("train", 0, "steps")]  # fmt: skip
    run = streams.simulate(streams.loading_ahead(), late)
    assert run.races
    assert run.idle_waits == ("e",)


def test_the_model_errs_most_where_the_page_says(lesson):
    said = np.array([seconds for _, seconds in lesson["predicted"]])
    found = np.array([one["seconds"] for one in measured("one step of MLP 784-128-10", card="h200").more["launches"]])
    assert 1.8 < said.sum() / found.sum() < 2.2  # "about twice"
    forward = lesson["in_part"]["forward"]
    assert len(forward) == 3
    assert (said - found)[forward].sum() > 0.5 * (said - found).sum()  # "more than half of the excess"


def test_small_copies_and_the_stages_of_the_job_take_what_the_page_says():
    pinned = measured("copies", card="h200").along("to the device, pinned")
    assert (round(1e6 * pinned[2**12]), round(1e6 * pinned[2**18])) == (15, 21)
    job = measured("read, compute, write", card="h200").seconds
    assert job["only compute"] / job["only read"] == pytest.approx(0.75, abs=0.05)  # "about three quarters"
