"""A host's requests as a card plays them: times, order, races, and who reads what."""

import pytest

from course_lib.figures.pipelines import pipeline_requests
from course_lib.streams import RequestError, Stage, loading_ahead, read_compute_write, simulate, two_rows


def in_one_stream(pieces):
    return [(stage, k, "s") for k in range(pieces) for stage in ("read", "compute", "write")]


@pytest.mark.parametrize(("times", "pieces"), [((10, 10, 10), 8), ((3, 7, 5), 4), ((0, 1, 0), 2)])
def test_in_one_stream_everything_adds_up(times, pieces):
    run = simulate(read_compute_write(*times), in_one_stream(pieces))
    assert run.end == pieces * sum(times)
    assert not run.races
    assert not run.wrong


@pytest.mark.parametrize("times", [(10, 10, 10), (3, 17, 5), (12, 4, 9), (2, 2, 15)])
def test_in_three_streams_the_slowest_stage_sets_the_time(times):
    pieces = 8
    run = simulate(read_compute_write(*times, slots=3), pipeline_requests(pieces, 3))
    assert run.end == sum(times) + (pieces - 1) * max(times)
    assert not run.races
    assert not run.wrong
    assert max(run.busy.values()) == pytest.approx(pieces * max(times) / run.end)


def test_from_pageable_memory_nothing_overlaps():
    run = simulate(read_compute_write(10, 12, 8, pinned=False), pipeline_requests(6, 2))
    assert run.end == 6 * 30


def test_without_the_wait_before_a_place_is_used_again_pieces_are_mixed_up():
    run = simulate(read_compute_write(5, 20, 5), pipeline_requests(4, 2, waits=False))
    assert str(run.races[0]) == (
        "read 2 writes input[0], which compute 0 reads, and nothing says which of the two comes first"
    )
    assert run.read["compute", 0] == {0, 2}  # the next but one comes while it is computed on
    assert run.read["compute", 1] == {3}
    assert {s.piece for s in run.wrong if s.stage == "compute"} == {0, 1}


def test_a_race_is_one_even_where_times_keep_it_apart():
    lucky = read_compute_write(50, 5, 5)
    run = simulate(lucky, pipeline_requests(4, 2, waits=False))
    assert run.races
    assert not run.wrong


def test_a_wait_for_an_event_that_nobody_recorded_waits_for_nothing():
    requests = [("wait", "read 0", "computes"), ("read", 0, "reads"), ("record", "read 0", "reads"),
                ("compute", 0, "computes"), ("write", 0, "computes")]  # fmt: skip
    run = simulate(read_compute_write(), requests)
    assert run.idle_waits == ("read 0",)
    assert run.races[0].place == "input[0]"
    assert run.read["compute", 0] == {None, 0}  # it begins while the copy is under way
    assert "compute 0 reads input[0], which read 0 writes" in str(run.races[0])


def test_a_wait_means_the_record_before_it():
    requests = [("read", 0, "reads"), ("record", "e", "reads"), ("wait", "e", "computes"), ("read", 1, "reads"),
                ("record", "e", "reads"), ("compute", 0, "computes"), ("compute", 1, "computes")]  # fmt: skip
    races = simulate(read_compute_write(), requests).races
    assert [(r.first.name, r.second.name) for r in races] == [("read 1", "compute 1")]


def test_the_default_stream_waits_for_all_and_they_for_it():
    requests = [("read", 0, "a"), ("compute", 0, 0), ("write", 0, "b")]
    run = simulate(read_compute_write(), requests)
    assert run.end == 30
    assert not run.races


@pytest.mark.parametrize("wait", [("synchronize", "reads"), ("synchronize",), ("wait", "e")])
def test_what_the_host_has_waited_for_comes_before_all_that_it_asks_for_later(wait):
    requests = [("read", 0, "reads"), ("record", "e", "reads"), wait, ("compute", 0, "other"), ("synchronize",),
                ("write", 0, "third")]  # fmt: skip
    run = simulate(read_compute_write(), requests)
    assert run.end == 30
    assert not run.races
    assert run.spans[1].asked == 10


def test_the_hosts_own_work_takes_the_hosts_time():
    job = loading_ahead(gather=6, copy=4, train=10)
    requests = [r for k in range(4) for r in (("gather", k), ("copy", k, "s"), ("train", k, "s"), ("synchronize", "s"))]
    assert simulate(job, requests).end == 80


def ahead(batches, *, skip=""):
    requests = []
    for k in range(batches):
        if k >= 2 and skip != "host":
            requests.append(("wait", f"copied {k - 2}"))
        requests.append(("gather", k))
        if k >= 2 and skip != "card":
            requests.append(("wait", f"trained {k - 2}", "copies"))
        requests += [("copy", k, "copies"), ("record", f"copied {k}", "copies")]
        if skip != "copied":
            requests.append(("wait", f"copied {k}", "steps"))
        requests += [("train", k, "steps"), ("record", f"trained {k}", "steps")]
    return requests


def test_loading_ahead_hides_all_but_the_first_batch():
    run = simulate(loading_ahead(gather=6, copy=4, train=10), ahead(8))
    assert run.end == 6 + 4 + 8 * 10
    assert not run.races
    assert not run.wrong


@pytest.mark.parametrize(("skip", "place"), [("host", "host[0]"), ("card", "batch[0]"), ("copied", "batch[0]")])
def test_each_wait_of_loading_ahead_is_needed(skip, place):
    races = simulate(loading_ahead(), ahead(6, skip=skip)).races
    assert place in {race.place for race in races}


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        (None, "None; they must be a list of tuples. Is there a return"),
        ("read", "they must be a list"),
        ([("read", 0, "a"), ("fetch", 1, "a")], "request 1 is .*begins with none of read, compute, write, record"),
        ([("read", 0)], "needs a stream"),
        ([("read", -1, "a")], "number of a piece"),
        ([("read", 0, "a"), ("read", 0, "a")], "read 0 once more"),
        ([("record", "e")], "an event and a stream"),
        ([("wait",)], "an event, and a stream unless"),
        ([()], "must be a tuple"),
        ([("record", ["e"], "a")], "named by texts or numbers"),
    ],
)
def test_what_no_host_can_ask_for_is_refused_with_the_request(requests, words):
    with pytest.raises(RequestError, match=words):
        simulate(read_compute_write(), requests)


def test_the_host_has_no_stream_for_its_own_work():
    with pytest.raises(RequestError, match="the host's own work and has no stream"):
        simulate(loading_ahead(), [("gather", 0, "s")])


def test_hundreds_of_pieces_are_played():
    run = simulate(read_compute_write(1, 1, 1, slots=3), pipeline_requests(200, 3))
    assert run.end == 3 + 199


@pytest.mark.parametrize("make", [
    lambda: Stage("x", "disk", 1), lambda: Stage("x", "in", -1), lambda: read_compute_write(slots=0),
    lambda: loading_ahead(slots=0),
])  # fmt: skip
def test_a_stage_needs_an_engine_and_a_time(make):
    with pytest.raises(ValueError, match=r"must be|needs room"):
        make()


def test_times_of_a_job_are_changed_by_name():
    assert read_compute_write().taking(compute=7).stage("compute").takes == 7
    with pytest.raises(LookupError, match="no stage 'gather'; the stages are read, compute, write"):
        read_compute_write().taking(gather=1)


def test_a_kernel_begins_when_it_is_enqueued_and_the_one_before_is_done():
    rows = two_rows([5, 1, 1], [2, 4, 10])
    assert rows.spans == ((2, 7), (7, 8), (10, 11))
    assert (rows.end, rows.waits) == (11, 2)
    assert rows.busy == pytest.approx(7 / 11)
    assert two_rows([1, 1], 3).enqueued == (3, 6)
    assert two_rows([], 3).busy == 0


@pytest.mark.parametrize(("seconds", "enqueued"), [([1], [1, 2]), ([-1], [1]), ([1, 1], [2, 1])])
def test_times_that_cannot_be_are_refused(seconds, enqueued):
    with pytest.raises(ValueError, match="times"):
        two_rows(seconds, enqueued)
