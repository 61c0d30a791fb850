"""Lesson 16: launches counted, times as the page tells them, overlap and races as it says."""

import numpy as np
import pytest

from course_lib import gpu, streams
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


def test_a_launch_costs_less_by_the_courses_way_and_next_to_nothing_in_a_graph():
    costs = measured("a launch", card="h200").seconds
    assert costs["a kernel of a graph"] < costs["kernel[grid, block](...)"] / 2
    assert costs["kernel[grid, block](...)"] < costs["Numba's own, configured"]


def test_recording_takes_away_most_of_a_step_of_a_small_network():
    for name in ("LeNet-5", "MLP 784-128-10"):
        took = measured_training(f"{name}, B = 64", card="h200").seconds
        assert took["recorded"] < took["one by one"] / 10
        assert took["PyTorch, CUDA graph"] < took["PyTorch"] / 2
    with pytest.raises(LookupError, match="no training steps of h200 are called 'AlexNet'; there are LeNet-5, B = 64"):
        measured_training("AlexNet", card="h200")


def test_a_recorded_step_is_fed_by_overwriting(lesson):
    small, rows, answers = (lesson[name] for name in ("small", "rows", "answers"))
    np.testing.assert_array_equal(gpu.to_host(lesson["xs"]), rows[2])
    expected = small.forward(gpu.to_device(rows[2]))
    assert gpu.to_host(expected).shape == (8, 3)
    assert answers.shape == (3, 8)


def test_predicted_kernels_are_those_that_were_measured(lesson):
    found = measured("one step of MLP 784-128-10", card="h200").more["launches"]
    assert [name for name, _ in lesson["predicted"]] == [one["kernel"] for one in found]
    said, took = sum(s for _, s in lesson["predicted"]), sum(one["seconds"] for one in found)
    assert 0.4 < said / took < 2.5
    least = min(s for _, s in lesson["predicted"])
    near = [s for _, s in lesson["predicted"] if s < 1.4 * least]
    assert len(near) > len(lesson["predicted"]) / 2  # "what it says of an empty one"


# ---------------------------------------------------------------------------------------------- batches and copies


def test_an_image_costs_half_as_much_at_first_and_then_the_curve_flattens(lesson):
    recorded, single = lesson["recorded"], lesson["single"]
    assert recorded[4] < 1.3 * recorded[1]
    assert recorded[4096] > 2.5 * recorded[1024]
    assert single[4096] / 4096 > 1.2 * recorded[4096] / 4096
    assert 4096 // 64 == 64


def test_only_a_graph_is_cheap_enough_to_keep_the_card_busy(lesson):
    took = {B: sum(seconds) for B, seconds in lesson["kernels"].items()}
    may_cost = {B: took[B] / len(seconds) for B, seconds in lesson["kernels"].items()}
    alone, in_graph = (lesson["launch_costs"][way] for way in ("kernel[grid, block](...)", "a kernel of a graph"))
    assert all(alone > cost for cost in may_cost.values())
    assert alone == pytest.approx(may_cost[4096], rel=0.15)  # "come level"
    assert may_cost[1024] == pytest.approx(5e-6, rel=0.1)
    assert may_cost[64] / may_cost[1024] == pytest.approx(0.5, abs=0.05)
    assert all(in_graph < cost for cost in may_cost.values())


def test_inference_costs_less_than_half_a_step(lesson):
    assert all(lesson["forward"][B] < 0.5 * lesson["recorded"][B] for B in (1, 64, 1024, 4096))


def test_small_copies_are_latency_and_large_ones_show_the_memory():
    copies = measured("copies", card="h200")
    pinned, pageable = (copies.along(f"to the device, {kind}") for kind in ("pinned", "pageable"))
    assert pinned[2**16] < 2 * pinned[2**12]
    assert pageable[2**26] > 1.5 * pinned[2**26]
    returns = {kind: copies.along(f"to the device, {kind}, returns") for kind in ("pinned", "pageable")}
    assert returns["pinned"][2**26] < pinned[2**26] / 5
    assert returns["pageable"][2**26] > 0.8 * pageable[2**26]


# ---------------------------------------------------------------------------------------------- streams


def test_three_streams_end_with_the_right_numbers(lesson):
    np.testing.assert_array_equal(lesson["back"], lesson["host"] ** 2)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_pages_own_pipeline_is_right_with_any_number_of_slots(lesson, slots):
    host = np.arange(4 * 256, dtype=np.float32).reshape(4, 256)
    back = np.full_like(host, np.nan)
    lesson["in_three_streams"](host, back, slots)
    np.testing.assert_array_equal(back, host * host)


def test_three_streams_were_faster_than_one_and_pageable_memory_undoes_it():
    job = measured("read, compute, write", card="h200")
    assert job.seconds["three streams"] < 0.75 * job.seconds["one stream"]
    assert job.seconds["three streams, pageable"] > job.seconds["three streams"]
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


# ---------------------------------------------------------------------------------------------- serving, experiments


def test_an_answer_waits_longest_behind_the_training_and_least_with_priority():
    serving = measured("answers while training", card="h200").more
    median = {way: p["50"] for way, p in serving["percentiles"].items()}
    assert median["in the training's stream"] > median["in a stream of its own"] >= median["in one that goes first"]
    assert serving["ahead"] == 3  # "three steps always in the queue"


def test_recording_changes_how_many_experiments_fit_into_a_day(lesson):
    epoch = measured("an epoch", card="h200").seconds
    assert epoch["recorded, batches ahead"] < epoch["nn.train on the card"] / 10
    assert epoch["recorded, batches ahead"] == pytest.approx(epoch["recorded, each batch in turn"], rel=0.1)
    assert 0.8 < epoch["feeding alone"] / epoch["recorded, batches ahead"] < 1  # "nearly as long"
    assert epoch["nn.train on the card, recorded"] < epoch["feeding alone"]
    before, after = (lesson["EPOCHS"] * epoch[way] / 60 for way in ("nn.train on the card", "recorded, batches ahead"))
    assert before > 1  # "a coffee break"
    assert after < 0.4  # "a few breaths"


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
